/* SPDX-License-Identifier: Apache-2.0 */
/* How do the tables of an older build become those of this one? */
#include "store/migrate.h"

#include <stdio.h>

int sqlite_from_1(struct sqlite_store *store);
bool postgres_from_1(struct pg_store *store);
int sqlite_from_3(struct sqlite_store *store);
bool postgres_from_3(struct pg_store *store);

const struct migration MIGRATIONS[] = {
    {.to = 2,
     .what = "plans, lists and search; each row carries a check",
     .whole = true,
     .sqlite_run = sqlite_from_1,
     .postgres_run = postgres_from_1},
    {.to = 3,
     .what = "orders to the whole fleet: stopped, and which policy a host has recorded",
     .sqlite = "ALTER TABLE store ADD stopped TEXT; ALTER TABLE host ADD policy BLOB",
     .postgres = "ALTER TABLE store ADD stopped text; ALTER TABLE host ADD policy bytea"},
    {.to = 4,
     .what = "assignments while they are open, questions, messages; what a host may begin",
     .sqlite_run = sqlite_from_3,
     .postgres_run = postgres_from_3},
#ifdef OVERSEER_TOMORROW
    {.to = 5, .what = "of the tests", .postgres = "ALTER TABLE goal ADD tomorrow int"},
#endif
};
const uint32_t MIGRATION_COUNT = count_of(MIGRATIONS);

bool schema_is_ours(struct schema_mark mark, char *why, size_t why_size) {
    uint32_t known = SCHEMA_VERSION, level = SCHEMA_LEVEL;
    if (mark.version > known && mark.oldest > known) {
        snprintf(
            why, why_size,
            "This store was written by a newer Overseer (tables %u; this build knows %u). Update "
            "this build; nothing was changed.",
            mark.version, known);
        return false;
    }
    return schema_may_join(mark.level, level, why, why_size);
}

bool schema_may_join(uint32_t level, uint32_t speaks, char *why, size_t why_size) {
    if (level <= speaks)
        return true;
    snprintf(
        why, why_size,
        "This store is written by a newer Overseer (level %u; this build speaks %u). Update this "
        "build; nothing was changed.",
        level, speaks);
    return false;
}
