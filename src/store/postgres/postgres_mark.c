/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the mark of a store. */
#include "store/postgres/postgres_state.h"

struct store_mark pg_mark(const PGresult *result, int row) {
    return (struct store_mark){.version = (uint32_t)pg_int(result, row, 0),
                               .oldest = (uint32_t)pg_int(result, row, 1),
                               .level = (uint32_t)pg_int(result, row, 2),
                               .era = (uint64_t)pg_int(result, row, 3),
                               .instance = pg_id(result, row, 4),
                               .safe = pg_int(result, row, 5),
                               .stopped = pg_int(result, row, 6),
                               .timeline = (uint64_t)pg_int(result, row, 7)};
}
