/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store for retention, on either engine. */
#include "store/retain_state.h"

struct retain *retain_open(struct str where, bool alone, char *error, size_t error_size) {
    struct retain *retain = NULL;
    struct store *store = store_open(where, error, error_size);
    bool sqlite = where.len > 7 && memcmp(where.at, "sqlite:", 7) == 0;
    if (!store)
        return NULL;
    bool opened = sqlite ? sqlite_retain_open(&retain, where.at + 7, alone, error, error_size)
                         : postgres_retain_open(&retain, where.at, error, error_size);
    if (!opened) {
        store_close(store);
        return NULL;
    }
    retain->store = store;
    retain->alone = alone;
    retain->phase = RETAIN_OVER;
    return retain;
}
