/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of the PostgreSQL driver, shared by postgres*.c only. */
#pragma once

#include "store/instance.h"
#include "store/migrate.h"
#include "store/postgres/postgres.h"

#include <libpq-fe.h>

enum pg_sql {
    PG_BEGIN,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_BEGIN_READ,
    PG_MARK_SHARED,
    PG_JOIN_SEEN,
    PG_JOIN_BACK,
    PG_JOIN,
    PG_BEAT,
    PG_HOSTS_ALL,
    PG_POLL,
    PG_LEVEL_LOCK,
    PG_LEVEL_RAISE,
    PG_TAKE,
    PG_ADOPT_LOCK,
    PG_ADOPT_PAGE,
    PG_ADOPT_ONLY,
    PG_ADOPT_INBOX,
    PG_ADOPT_GONE,
    PG_OWNED,
    PG_OWNED_EFFECTS,
    PG_OWNED_ONLY,
    PG_GOALS,
    PG_EFFECTS,
    PG_SEEN,
    PG_MARKS,
    PG_BATCH,
    PG_NUMBERS,
    PG_COMMIT_LEAN, /* existing goals and their records only */
    PG_COMMIT_FULL,
    PG_COMMIT_VIEWS,
    PG_COMMIT_TAGS,
    PG_ADD, /* one for each table, see pg_add() */
    PG_ADD_LAST = PG_ADD + TABLE_PART - 1,
    PG_ORDER_TURN,
    PG_ORDER_LOCK,
    PG_ORDER_HELD,
    PG_ORDER_HEAD,
    PG_ORDER_RECORD,
    PG_ORDER_TEXT,
    PG_ORDER_POLICY,
    PG_ORDER_STOP,
    PG_ORDER_RESUME,
    PG_RESOLVE,
    PG_FORWARD,
    PG_SHOW_TITLE,
    PG_SHOW_TAGS,
    PG_SHOW_ASIDE,
    PG_SHOW_RECORDS,
    PG_HISTORY,
    PG_FIND_INSTRUCTION,
    PG_SHOW_TEXTS,
    PG_BRIEF_VIEWS,
    PG_BRIEF_ASIDE,
    PG_BRIEF_RECORDS,
    PG_BRIEF_TEXTS,
    PG_LIST_ALL,
    PG_LIST_DISPLAY_STATES,
    PG_LIST_TAG,
    PG_SEARCH_ALL,
    PG_SEARCH_DISPLAY_STATES,
    PG_SEARCH_TAG,
    PG_ENDED,
    PG_ENDED_COUNT,
    PG_ASKING,
    PG_ASKING_COUNT,
    PG_TALLY,
    PG_NAMED,
    PG_NUMBERED,
    PG_FOLLOW_MARK,
    PG_FOLLOW_OLDEST,
    PG_FOLLOW_NEWEST,
    PG_FOLLOW_HEADS,
    PG_FOLLOW_GOAL,
    PG_OF_PART, /* from here on: one for each kind of part */
    PG_PARTS = PG_OF_PART,
    PG_COMMIT_PARTS = PG_PARTS + PARTS,
    PG_SHOW_PARTS = PG_COMMIT_PARTS + PARTS,
    PG_FIND = PG_SHOW_PARTS + PARTS,
    PG_SQL_COUNT = PG_FIND + PARTS
};

/* Adds rows of a table whose rows commits add: an array for each column, in the order of STORED; only rows of goals that
 * this transaction has written, and a row with the same key stays. */
static inline enum pg_sql pg_add(enum store_table table) {
    must(table < TABLE_PART && STORED[table].added);
    return (enum pg_sql)(PG_ADD + (uint32_t)table);
}

enum { PG_MAX_PARAMS = 64, PG_MAX_RESULTS = 32 };

/* The application name of our sessions. Sessions of version 1 were called just "overseer"; a migration identifies them
 * by that. */
#define PG_APPLICATION "overseer 2"

struct pg_store {
    struct store store;
    char *uri;
    PGconn *connection;
    int32_t days_until;                /* partitions exist for the days before this one */
    struct arena scratch;              /* used while opening, page by page */
    PGresult *results[PG_MAX_RESULTS]; /* of the current pipeline; kept here so that none leaks */
    int result_count;
    bool
        at_work; /* still set at the next request: the last request was abandoned with its pipeline half sent */
    struct instance_state instance;
    uint32_t
        uncounted; /* rows that may still be forwarded before the waiting ones are counted again */
    bool several;  /* the URI names more than one host */
    int too_long;  /* consecutive requests that the server cancelled because something was locked */
    int64_t answer_ms; /* timeout of a statement outside of a pipeline */
    bool newer; /* the store is not for this build, or cannot be used over this connection: */
    char why[LIMIT_WHY]; /* the reason, as a sentence */
};

/* The parameters of one statement, in binary. */
struct pg_params {
    struct arena *arena;
    int count;
    const char *values[PG_MAX_PARAMS];
    int lengths[PG_MAX_PARAMS], formats[PG_MAX_PARAMS];
};

/* An array parameter under construction. */
struct pg_array {
    struct writer writer;
    enum field_type type;
    uint32_t count;
};

/* One request in progress: its statements are queued and sent as one pipeline, and their results kept. */
struct pg_run {
    struct pg_store *store;
    struct store_answer *answer;
    struct arena *arena;
    bool failed;
    bool
        useless; /* the connection must be replaced: its node takes no writes (any more), or did not answer */
    int sent;
    int syncs; /* midway syncs that are still to be answered */
};

extern const char *const PG_SETTINGS; /* for every session */

/* Types of the leading parameters: i int8, u uuid, t text, a int8[], v uuid[]. sql_expand() replaces the words in
 * braces in the SQL, so that what follows from GOAL_VIEW and PART is not written twice. */
struct pg_statement {
    const char *types;
    const char *sql;
};
extern const struct pg_statement PG_STATEMENTS[PG_SQL_COUNT];
const char *sql_expand(const char *sql, enum part_kind part, struct arena *arena);
const char *pg_text(enum pg_sql sql,
                    struct arena *arena); /* expanded; NULL: there is no such statement */

/* postgres_connect.c. The URI's own settings win; by default a connection must take writes, and each host is tried for
 * 3 s. NULL: `ret` says why. */
struct pg_trouble {
    char why[LIMIT_WHY];
    bool for_good; /* a retry does not help */
};
/* One of several hosts in the URI; empty members: as the URI says. */
struct pg_place {
    char host[256], address[64], port[16];
};
PGconn *pg_link_start(const char *uri, const char *application, const struct pg_place *place);
PGconn *pg_link_make(const char *uri, const char *application, const struct pg_place *place,
                     bool any);

/* postgres_nodes.c */
struct pg_link {
    PGconn *connection; /* NULL: see `why` */
    int pid;            /* process id of the server process; 0: it did not answer */
    int64_t timeline;   /* 0: the node is read-only */
    char why[LIMIT_WHY];
};
/* `ret_place` is the chosen node. */
bool pg_names_several(const char *uri);
void pg_link_find(const char *uri, const char *application, struct pg_link *ret,
                  struct pg_place *ret_place);
PGconn *pg_connect(const char *uri, const char *application, struct pg_trouble *ret);
int64_t pg_now_ms(void);
bool pg_wait_readable(PGconn *connection, int64_t within_ms); /* false: timed out */
/* The result of a statement that was `sent`; NULL: no answer in time, and the connection is no longer usable. */
PGresult *pg_await(PGconn *connection, int sent, int64_t within_ms);
bool pg_succeeded(const PGresult *result);
void pg_trouble(PGconn *connection, char *why,
                size_t size); /* why there was no result, in one line */

/* postgres_schema.c: creates or migrates the tables, on a connection that is not in pipeline mode. False: store->newer
 * is set, or the connection has the error. */
bool schema_ensure(struct pg_store *store);
bool pg_execute(struct pg_store *store, const char *sql);
struct store_mark pg_mark(const PGresult *result, int row);

/* One array for each column of goal_view, and a function that appends a row to them. */
struct pg_array *view_arrays(struct arena *arena);
void view_put(struct pg_array *arrays, const struct goal_view *view);

void param_int(struct pg_params *params, int64_t value);
void param_id(struct pg_params *params, struct id id);
void param_text(struct pg_params *params, struct str text);
void param_array(struct pg_params *params, struct pg_array *array); /* closes the array */

struct pg_array array_open(struct arena *arena, enum field_type type);
void array_int(struct pg_array *array, int64_t value);
void array_bool(struct pg_array *array, bool value);
void array_bytes(struct pg_array *array, const void *at, size_t len);
void array_null(struct pg_array *array);
void param_ids(struct pg_params *params, const struct id *ids, uint32_t count);

void pg_answer_refused(struct pg_run *run, const char *text);
void pg_send(struct pg_run *run, enum pg_sql sql, const struct pg_params *params);
/* Sends a statement that is not prepared, for a plan that depends on values written in the SQL. */
void pg_send_text(struct pg_run *run, const char *sql, const struct pg_params *params);
void pg_results_clear(struct pg_store *store);
bool pg_receive(struct pg_run *run); /* false: the answer has the error */

/* True for data_corrupted and index_corrupted. internal_error is not included: two sessions that alter a table at the
 * same time get it too. */
bool postgres_says_damaged(const PGresult *result);

int64_t pg_int(const PGresult *result, int row, int column);
struct id pg_id(const PGresult *result, int row, int column);
struct hash pg_hash(const PGresult *result, int row, int column);
struct str pg_bytes(const PGresult *result, int row, int column, struct arena *arena);
bool pg_is_null(const PGresult *result, int row, int column);
struct effect_slot pg_slot(const PGresult *result, int row, int column);
struct effect_entry pg_entry(struct id goal, struct effect_slot slot, struct str sealed);

/* Request goals with their effects and live parts, and read them from the results starting at `next`. */
void pg_send_goals(struct pg_run *run, const struct store_request *request);
PGresult **pg_take_goals(struct pg_run *run, const struct store_request *request, PGresult **next);

/* postgres_read.c, postgres_show.c, postgres_write.c: one function for each verb */
void postgres_load(struct pg_run *, const struct store_request *);
void postgres_poll(struct pg_run *, const struct store_request *);
void postgres_hosts(struct pg_run *, const struct store_request *);
void postgres_owned(struct pg_run *, const struct store_request *);
void postgres_show(struct pg_run *, const struct store_request *);
void postgres_list(struct pg_run *, const struct store_request *);
void postgres_find(struct pg_run *, const struct store_request *);
void postgres_tally(struct pg_run *, const struct store_request *);
void postgres_order(struct pg_run *, const struct store_request *); /* postgres_order.c */
void postgres_named(struct pg_run *, const struct store_request *);
void postgres_numbers(struct pg_run *, const struct store_request *);
void postgres_history(struct pg_run *, const struct store_request *);
void postgres_brief(struct pg_run *, const struct store_request *);
void postgres_follow(struct pg_run *, const struct store_request *); /* postgres_follow.c */
void postgres_join(struct pg_run *, const struct store_request *);
void postgres_beat(struct pg_run *, const struct store_request *);
void postgres_take(struct pg_run *, const struct store_request *);
void postgres_adopt(struct pg_run *, const struct store_request *);
void postgres_resolve(struct pg_run *, const struct store_request *);
void postgres_forward(struct pg_run *, const struct store_request *);
void postgres_commit(struct pg_run *, const struct store_request *);

PGresult *pg_ask_text(struct pg_store *store,
                      const char *sql);      /* without parameters, and waits for the answer */
bool pg_tables_make(struct pg_store *store); /* those that do not exist yet */
bool pg_tables_add(struct pg_store *store,
                   uint32_t version); /* those that STORED has since a later version */
uint32_t pg_type_oid(enum field_type type);
void pg_answer_error(struct pg_run *run, enum store_outcome outcome, const char *text);
