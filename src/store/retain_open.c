/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store for retention, on either engine. */
#include "store/retain_state.h"

struct retain *retain_open(struct str where, bool alone, char *error, size_t error_size) {
    struct retain *retain = NULL;
    struct store *store = store_open(where, error, error_size);
    const char *path = store_address_file(where.at);
    if (!store)
        return NULL;
    bool opened = path ? sqlite_retain_open(&retain, path, alone, error, error_size)
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
