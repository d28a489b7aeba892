/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of the SQLite driver, shared by sqlite*.c only. */
#pragma once

#include "store/instance.h"
#include "store/rows.h"
#include "store/sqlite/sqlite.h"

#include <sqlite3.h>

enum sql {
    SQL_BEGIN,
    SQL_BEGIN_READ,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_NEXT_TX,
    SQL_MARK,
    SQL_LEVEL,
    SQL_JOIN,
    SQL_NUMBERS,
    SQL_NUMBERS_HIGHEST,
    SQL_NUMBERS_TAKEN,
    SQL_NUMBERS_HOST,
    SQL_BEAT,
    SQL_HOSTS,
    SQL_HOSTS_ALL,
    SQL_INBOX,
    SQL_TAKE,
    SQL_ADOPT_GUARD,
    SQL_ADOPT_PAGE,
    SQL_ADOPT_GOAL,
    SQL_ADOPT_EFFECTS,
    SQL_ADOPT_INBOX,
    SQL_ADOPT_GONE,
    SQL_OWNED,
    SQL_OWNED_ONLY,
    SQL_EFFECTS,
    SQL_GOAL,
    SQL_SEEN,
    SQL_RECORD_AT,
    SQL_BATCH,
    SQL_GOAL_MOVE,
    SQL_GOAL_UPDATE,
    SQL_GOAL_INSERT,
    SQL_VIEW_INSERT,
    SQL_VIEW_MOVE,
    SQL_VIEW_UPDATE,
    SQL_VIEW_DISPLAY_STATE,
    SQL_VIEW_TITLE,
    SQL_VIEW_NUMBER,
    SQL_TAG_CLEAR,
    SQL_TAG_INSERT,
    SQL_TAG_DISPLAY_STATE,
    SQL_TALLY_ADD,
    SQL_ADD, /* one for each table, see sql_add() */
    SQL_ADD_LAST = SQL_ADD + TABLE_PART - 1,
    SQL_RECORD_INSERT,
    SQL_EFFECT_PUT,
    SQL_EFFECT_MOVE,
    SQL_EFFECT_END,
    SQL_INBOX_DONE,
    SQL_SEEN_INSERT,
    SQL_ASIDE_INSERT,
    SQL_ORDER_HELD,
    SQL_ORDER_HEAD,
    SQL_ORDER_POLICY,
    SQL_ORDER_STOP,
    SQL_RESOLVE,
    SQL_FORWARD,
    SQL_SHOW_TITLE,
    SQL_SHOW_TAGS,
    SQL_SHOW_TEXT,
    SQL_SHOW_ASIDE,
    SQL_SHOW_RECORDS,
    SQL_HISTORY,
    SQL_FIND_INSTRUCTION,
    SQL_LIST_ALL,
    SQL_LIST_DISPLAY_STATE,
    SQL_LIST_TAG,
    SQL_LIST_SEARCH,
    SQL_ENDED,
    SQL_ENDED_COUNT,
    SQL_ASKING,
    SQL_ASKING_COUNT,
    SQL_TALLY,
    SQL_NAMED,
    SQL_NUMBERED,
    SQL_FOLLOW_MARK,
    SQL_FOLLOW_DAYS,
    SQL_FOLLOW_HEAD,
    SQL_FOLLOW_DAY,
    SQL_FOLLOW_GOAL,
    SQL_FOLLOW_OLDEST,
    SQL_OF_PARTS, /* from here on one for each kind of part */
    SQL_PART_LOAD = SQL_OF_PARTS,
    SQL_PART_SHOW = SQL_PART_LOAD + PARTS,
    SQL_PART_MOVE = SQL_PART_SHOW + PARTS,
    SQL_PART_PUT = SQL_PART_MOVE + PARTS,
    SQL_PART_GONE = SQL_PART_PUT + PARTS,
    SQL_PART_FIND = SQL_PART_GONE + PARTS,
    SQL_COUNT = SQL_PART_FIND + PARTS
};

static inline enum sql sql_of_part(enum sql first, uint32_t kind) {
    must(kind < PARTS);
    return (enum sql)((uint32_t)first + kind);
}

/* Adds a row of a table whose rows commits add: all columns, in the order of STORED; a row with the same key stays. */
static inline enum sql sql_add(enum store_table table) {
    must(table < TABLE_PART && STORED[table].added);
    return (enum sql)(SQL_ADD + (uint32_t)table);
}

struct sqlite_store {
    struct store store;
    char *path, *vfs;
    int busy_ms;
    bool inline_checkpoints, read_only, keeps_log;
    struct instance_state instance;
    bool broken; /* the connection cannot be trusted: open a new one first */
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    struct arena scratch; /* for migrations */
    char why[LIMIT_WHY];  /* why the store or the host is refused, in our own words */
};

/* ---- sqlite_sql.c ---- */

enum { SQL_TEXT = 2048 };

/* The text of a statement with its @ words replaced: the columns of goal_view, the table of a kind of part. */
const char *sqlite_text(enum sql sql, char text[SQL_TEXT]);
const char *sqlite_complete(const char *form, const char *part, char text[SQL_TEXT]);

/* ---- sqlite_schema.c ---- */

/* Refuse, create or migrate the tables. Returns an SQLite code; `why` may say more. */
int sqlite_schema_look(
    struct sqlite_store
        *store); /* only checks whether this build may use the store; changes nothing */
int sqlite_schema(struct sqlite_store *store);
int sqlite_tables_make(struct sqlite_store *store); /* those that do not exist yet */
int sqlite_parts_stand_in(
    struct sqlite_store *store); /* empty tables, for a store that is only read */
int sqlite_tables_add(struct sqlite_store *store,
                      uint32_t version);       /* those that STORED has since a later version */
int sqlite_from_1(struct sqlite_store *store); /* a row of MIGRATIONS */

/* The position of a goal in goal_view (`row`): goals created in the same millisecond share a drawer, and drawers are in
 * order of creation. So a scan along `row` is nearly in list order, without a separate index. */
enum { DRAWER_BITS = 21 };
int64_t sqlite_drawer(int64_t created_at); /* the lowest `row` in the drawer */

/* One statement in execution: bind in order, run, read columns in order, end. Errors stay in `code`. */
struct sqlite_run {
    struct sqlite_store *store;
    int code;
    sqlite3_stmt *statement;
    int place;
};

void run_begin(struct sqlite_run *run, enum sql sql);
void run_int(struct sqlite_run *run, int64_t value);
void run_blob(struct sqlite_run *run, const void *at, size_t len);
void run_id(struct sqlite_run *run, struct id id);
void run_id_at(struct sqlite_run *run,
               const struct id *id); /* the id must stay in place until the statement has run */
void run_text(struct sqlite_run *run, struct str text);
void run_null(struct sqlite_run *run);
bool run_row(struct sqlite_run *run); /* false: no more rows, or an error */
int64_t row_int(struct sqlite_run *run);
struct id row_id(struct sqlite_run *run);
struct hash row_hash(struct sqlite_run *run);
struct str row_bytes(struct sqlite_run *run, struct arena *arena);
void run_end(struct sqlite_run *run);

/* Run a statement without rows; true if it changed something. */
bool run_change(struct sqlite_run *run);

/* One function for each verb, run inside its transaction. */
typedef void sqlite_verb(struct sqlite_run *run, const struct store_request *request,
                         struct store_answer *answer, struct arena *arena);
sqlite_verb sqlite_load, sqlite_poll, sqlite_hosts, sqlite_owned; /* sqlite_read.c */
sqlite_verb sqlite_show, sqlite_list, sqlite_find, sqlite_tally;  /* sqlite_show.c, sqlite_list.c */
sqlite_verb sqlite_named;                                         /* sqlite_list.c */
sqlite_verb sqlite_history, sqlite_brief;                         /* sqlite_show.c */
sqlite_verb sqlite_follow;                                        /* sqlite_follow.c */
sqlite_verb sqlite_join, sqlite_beat, sqlite_take, sqlite_adopt;  /* sqlite_write.c */
sqlite_verb sqlite_resolve, sqlite_forward, sqlite_numbers;
sqlite_verb sqlite_commit; /* sqlite_commit.c */
sqlite_verb sqlite_order;  /* sqlite_order.c */

/* sqlite_commit.c: write one row of the log, or one separately stored text. */
int64_t sqlite_next_tx(struct sqlite_run *run);
void sqlite_record_put(struct sqlite_run *run, const struct id *goal, const struct record *record,
                       int64_t tx, uint32_t n);
void sqlite_text_put(struct sqlite_run *run, const struct id *goal, const struct text_row *text);

void sqlite_load_goal(struct sqlite_run *run, struct id id, struct goal_loaded *loaded,
                      struct arena *arena);
void sqlite_effects_of(struct sqlite_run *run, struct store_answer *answer, struct arena *arena);
void sqlite_read_mark(struct sqlite_run *run, struct store_answer *answer);

/* Bind a row of goal_view by the fields of GOAL_VIEW: parameters that the statement does not have are skipped; columns
 * are in the order of the fields. Texts must stay in place until the statement has run. */
void run_view(struct sqlite_run *run, const struct goal_view *view);
