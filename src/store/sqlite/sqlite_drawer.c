/* SPDX-License-Identifier: Apache-2.0 */
/* The drawer of a goal: the part of the row ids that goals of one age share. */
#include "store/migrate.h"
#include "store/sqlite/sqlite_state.h"

int64_t sqlite_drawer(int64_t created_at) {
    static const int64_t LAST = ((int64_t)1 << (63 - DRAWER_BITS)) - 1;
    int64_t drawer = created_at < 0 ? 0 : created_at / 1000;
    return (drawer < LAST ? drawer : LAST) << DRAWER_BITS;
}
