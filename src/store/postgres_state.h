/* SPDX-License-Identifier: Apache-2.0 */
/* What does the PostgreSQL driver keep? Shared by postgres*.c only. */
#pragma once

#include "store/instance.h"
#include "store/migrate.h"
#include "store/postgres.h"

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
    PG_COMMIT_LEAN, /* goals that exist, and their records */
    PG_COMMIT_FULL,
    PG_COMMIT_VIEWS,
    PG_COMMIT_TAGS,
    PG_COMMIT_TEXTS,
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
    PG_LIST_FACES,
    PG_LIST_TAG,
    PG_SEARCH_ALL,
    PG_SEARCH_FACES,
    PG_SEARCH_TAG,
    PG_ENDED,
    PG_ENDED_COUNT,
    PG_ASKING,
    PG_ASKING_COUNT,
    PG_TALLY,
    PG_NAMED,
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

enum { PG_MAX_PARAMS = 64, PG_MAX_RESULTS = 32 };

/* What sessions are called in the server. Those of the first version were called just "overseer": a
 * migration tells them by that. */
#define PG_APPLICATION "overseer 2"

struct pg_store {
    struct store store;
    char *uri;
    PGconn *connection;
    int32_t days_until;   /* partitions exist for the days before this one */
    struct arena scratch; /* for opening, page by page */
    PGresult
        *results[PG_MAX_RESULTS]; /* of the pipeline in hand; kept here so that none can leak */
    int result_count;
    bool
        at_work; /* still set at the next request: the last one was abandoned, its pipeline half sent */
    struct instance_watch instance;
    uint32_t uncounted;  /* rows that may be forwarded before what waits is counted again */
    bool several;        /* the URI names more than one host */
    int too_long;        /* requests in a row that the server gave up, because something was held */
    int64_t answer_ms;   /* how long a statement outside of a pipeline may take */
    bool newer;          /* the store is not for this build, or not to be reached this way: */
    char why[LIMIT_WHY]; /* in a sentence */
};

/* The parameters of one statement, in binary. */
struct pg_params {
    struct arena *arena;
    int count;
    const char *values[PG_MAX_PARAMS];
    int lengths[PG_MAX_PARAMS], formats[PG_MAX_PARAMS];
};

/* An array parameter while it is being built. */
struct pg_array {
    struct writer writer;
    enum field_type type;
    uint32_t count;
};

/* One request on its way: statements are queued, sent as one pipeline, and their results kept. */
struct pg_run {
    struct pg_store *store;
    struct store_answer *answer;
    struct arena *arena;
    bool failed;
    bool useless; /* the connection: its node takes no writes (any more), or was silent */
    int sent;
    int syncs; /* midway, still to be answered */
};

extern const char *const PG_SETTINGS; /* of every session */

/* Types of the leading parameters: i int8, u uuid, t text, a int8[], v uuid[]. The SQL has words in braces,
 * which sql_expand() replaces: what follows from GOAL_VIEW and PART is not written twice. */
struct pg_statement {
    const char *types;
    const char *sql;
};
extern const struct pg_statement PG_STATEMENTS[PG_SQL_COUNT];
const char *sql_expand(const char *sql, enum part_kind part, struct arena *arena);

/* postgres_connect.c. The URI names everything that it wants to; else a connection is for writing, and is tried for 3 s at each
 * host. NULL: `ret` says why. */
struct pg_trouble {
    char why[LIMIT_WHY];
    bool for_good; /* trying again does not help */
};
/* One of several hosts that the URI names; empty members: as the URI says. */
struct pg_place {
    char host[256], address[64], port[16];
};
PGconn *pg_link_start(const char *uri, const char *application, const struct pg_place *place);
PGconn *pg_link_make(const char *uri, const char *application, const struct pg_place *place,
                     bool any);

/* postgres_nodes.c */
struct pg_link {
    PGconn *connection; /* NULL: why */
    int pid;            /* of the server's process; 0: it did not answer */
    int64_t timeline;   /* 0: it is read-only */
    char why[LIMIT_WHY];
};
/* `ret_place` is the node that was chosen. */
bool pg_names_several(const char *uri);
void pg_link_find(const char *uri, const char *application, struct pg_link *ret,
                  struct pg_place *ret_place);
PGconn *pg_connect(const char *uri, const char *application, struct pg_trouble *ret);
int64_t pg_now_ms(void);
bool pg_wait_readable(PGconn *connection, int64_t within_ms); /* false: nothing came in time */
/* What came of a statement that was `sent`; NULL: nothing in time, and the connection is of no more use. */
PGresult *pg_await(PGconn *connection, int sent, int64_t within_ms);
bool pg_succeeded(const PGresult *result);
void pg_trouble(PGconn *connection, char *why, size_t size); /* why nothing came, in one line */

/* postgres_schema.c: the tables made or brought up to date, on a connection that is not in a pipeline.
 * False: store->newer, or the connection says why. */
bool schema_ensure(struct pg_store *store);
bool pg_execute(struct pg_store *store, const char *sql);
struct store_mark pg_mark(const PGresult *result, int row);

/* One array for each column of goal_view, and a row into them. */
struct pg_array *view_arrays(struct arena *arena);
void view_put(struct pg_array *arrays, const struct goal_view *view);

void param_int(struct pg_params *params, int64_t value);
void param_id(struct pg_params *params, struct id id);
void param_text(struct pg_params *params, struct str text);
void param_array(struct pg_params *params, struct pg_array *array); /* closes it */

struct pg_array array_open(struct arena *arena, enum field_type type);
void array_int(struct pg_array *array, int64_t value);
void array_bool(struct pg_array *array, bool value);
void array_bytes(struct pg_array *array, const void *at, size_t len);
void array_null(struct pg_array *array);
void param_ids(struct pg_params *params, const struct id *ids, uint32_t count);

void pg_answer_refused(struct pg_run *run, const char *text);
void pg_send(struct pg_run *run, enum pg_sql sql, const struct pg_params *params);
/* A statement that is not prepared: where the plan depends on what is written in it. */
void pg_send_text(struct pg_run *run, const char *sql, const struct pg_params *params);
bool pg_receive(struct pg_run *run); /* false: the answer says why */

/* data_corrupted, index_corrupted. internal_error is not one of them: two who alter a table at once get it too. */
bool postgres_says_damaged(const PGresult *result);

int64_t pg_int(const PGresult *result, int row, int column);
struct id pg_id(const PGresult *result, int row, int column);
struct str pg_bytes(const PGresult *result, int row, int column, struct arena *arena);
bool pg_is_null(const PGresult *result, int row, int column);
struct effect_slot pg_slot(const PGresult *result, int row, int column);
struct effect_entry pg_entry(struct id goal, struct effect_slot slot, struct str sealed);

/* Goals, their effects and their live parts: asked for, and taken from the results from `next` on. */
void pg_send_goals(struct pg_run *run, const struct store_request *request);
PGresult **pg_take_goals(struct pg_run *run, const struct store_request *request, PGresult **next);

/* postgres_read.c, postgres_show.c, postgres_write.c: one for each verb */
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
