/* SPDX-License-Identifier: Apache-2.0 */
/* The table of migrations: one row for each version of the tables. */
#include "store/migrate.h"

/* 3 is DISPLAY_DONE. Goals that were already done get the time of their last change. The trigger serves builds and
 * exports that do not know the column. No other index may contain a column that changes while a goal is being worked
 * on: its updates would then no longer stay within their page. */
#define POSTGRES_5 \
    "ALTER TABLE goal_view ADD IF NOT EXISTS ended_at bigint NOT NULL DEFAULT 0;" \
    "UPDATE goal_view SET ended_at = updated_at WHERE face = 3 AND ended_at = 0;" \
    "CREATE INDEX goal_view_ended ON goal_view (ended_at, goal_id) WHERE face = 3;" \
    "CREATE FUNCTION goal_view_ends() RETURNS trigger LANGUAGE plpgsql AS" \
    " $$ BEGIN NEW.ended_at := NEW.updated_at; RETURN NEW; END $$;" \
    "CREATE TRIGGER goal_view_ends BEFORE INSERT OR UPDATE ON goal_view FOR EACH ROW" \
    " WHEN (NEW.face = 3 AND NEW.ended_at = 0) EXECUTE FUNCTION goal_view_ends()"

/* 2 is DISPLAY_NEEDS_YOU. Only the triggers write the column: when a goal begins to need a person, whichever build
 * writes that change. An import carries its value along. */
#define POSTGRES_6 \
    "ALTER TABLE goal_view ADD IF NOT EXISTS asked_at bigint NOT NULL DEFAULT 0;" \
    "UPDATE goal_view SET asked_at = updated_at WHERE face = 2;" \
    "CREATE INDEX goal_view_asking ON goal_view (asked_at, goal_id) WHERE face = 2;" \
    "CREATE FUNCTION goal_view_asks() RETURNS trigger LANGUAGE plpgsql AS" \
    " $$ BEGIN NEW.asked_at := NEW.updated_at; RETURN NEW; END $$;" \
    "CREATE TRIGGER goal_view_asks_new BEFORE INSERT ON goal_view FOR EACH ROW" \
    " WHEN (NEW.face = 2 AND NEW.asked_at = 0) EXECUTE FUNCTION goal_view_asks();" \
    "CREATE TRIGGER goal_view_asks BEFORE UPDATE ON goal_view FOR EACH ROW" \
    " WHEN (NEW.face = 2 AND OLD.face <> 2) EXECUTE FUNCTION goal_view_asks()"

_Static_assert(DISPLAY_DONE == 3, "3 above");
_Static_assert(DISPLAY_NEEDS_YOU == 2, "2 above");

/* `overseer run` had counted the goals to name a task: no such name is given again. */
#define NUMBERS_8(type, absent) \
    "ALTER TABLE goal_view ADD " absent "number " type " NOT NULL DEFAULT 0;" \
    "CREATE UNIQUE INDEX " absent "goal_view_number ON goal_view (number) WHERE number > 0;" \
    "ALTER TABLE store ADD numbered " type " NOT NULL DEFAULT 0;" \
    "ALTER TABLE store ADD numbered_era " type " NOT NULL DEFAULT 0;" \
    "UPDATE store SET numbered = (SELECT count(*) FROM goal_view);" \
    "ALTER TABLE host ADD number_next " type " NOT NULL DEFAULT 0;" \
    "ALTER TABLE host ADD number_end " type " NOT NULL DEFAULT 0;" \
    "ALTER TABLE host ADD number_era " type " NOT NULL DEFAULT -1"

int sqlite_from_1(struct sqlite_store *store);
bool postgres_from_1(struct pg_store *store);
int sqlite_from_3(struct sqlite_store *store);
bool postgres_from_3(struct pg_store *store);
int sqlite_from_4(struct sqlite_store *store);
int sqlite_from_5(struct sqlite_store *store);
int sqlite_from_8(struct sqlite_store *store);
bool postgres_from_8(struct pg_store *store);
int sqlite_from_9(struct sqlite_store *store);
bool postgres_from_9(struct pg_store *store);

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
    {.to = 5,
     .what = "goals that are done, by the time when they ended",
     .sqlite_run = sqlite_from_4,
     .postgres = POSTGRES_5},
    {.to = 6,
     .what = "goals that need a person, by the time since when they do",
     .sqlite_run = sqlite_from_5,
     .postgres = POSTGRES_6},
    {.to = 7,
     .what = "goals, by their repository",
     .sqlite = "ALTER TABLE goal_view ADD repository INTEGER NOT NULL DEFAULT 0",
     .postgres = "ALTER TABLE goal_view ADD IF NOT EXISTS repository bigint NOT NULL DEFAULT 0"},
    {.to = 8,
     .what = "numbers for the names of goals",
     .sqlite = NUMBERS_8("INTEGER", ""),
     .postgres = NUMBERS_8("bigint", "IF NOT EXISTS ")},
    {.to = 9,
     .what = "hosts that runs of a repository were denied, and what was decided about them",
     .sqlite_run = sqlite_from_8,
     .postgres_run = postgres_from_8},
    {.to = 10,
     .what = "batches of tasks",
     .sqlite_run = sqlite_from_9,
     .postgres_run = postgres_from_9},
#ifdef OVERSEER_TOMORROW
    {.to = SCHEMA_VERSION, .what = "of the tests", .postgres = "ALTER TABLE goal ADD tomorrow int"},
#endif
};
const uint32_t MIGRATION_COUNT = count_of(MIGRATIONS);
