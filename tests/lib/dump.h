/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps the whole content of a store, read independently of the code under test.
 *
 * Each list of the dump is one table of the store, declared once as a row of DUMP_TABLES: its columns determine the
 * query for the real engines, the order, and the comparison. */
#pragma once

#include "store/rows.h"

struct dump_goal {
    struct id id;
    uint32_t owner;
    uint64_t fence, version, seq;
    struct hash head;
    int64_t due_at;
    bool open, aside;
    struct str hot; /* sealed */
};

struct dump_record {
    struct id goal;
    struct record record; /* body_hash is set only if the body was dropped */
};

struct dump_milestone { /* replaces dropped records */
    struct id goal;
    uint64_t from_seq, to_seq, n;
    int64_t at;
    struct hash last_hash;
    struct str body;
};

struct dump_effect {
    struct id goal;
    struct effect_slot slot;
    struct str body; /* sealed */
};

struct dump_part {
    struct id goal;
    enum part_kind kind;
    uint32_t n;
    struct str name, body; /* sealed */
};

struct dump_text {
    struct id goal;
    struct hash hash;
    struct str body;
};

struct dump_tag {
    struct id goal;
    struct str tag;
    enum display_state display_state;
    int64_t created_at;
};

struct dump_aside {
    struct id goal, source;
    int64_t at;
    struct str why, body;
};

struct dump_inbox {
    struct id source, goal;
    uint32_t to_host;
    struct str body;
};

struct dump_host {
    struct host_row row;
    uint64_t instance;
    uint32_t speaks;
    struct hash policy;
    struct number_block numbers;
};

struct dump_numbered { /* of the store: numbers that hosts have taken */
    uint64_t to, era;
};

struct dump_tally {
    uint32_t host;
    enum display_state display_state;
    int64_t n;
};

struct dump {                 /* each list ordered by its key; lists with a goal ordered by goal */
    struct store_mark *marks; /* the single row of the store's own table */
    struct dump_numbered *numbered; /* the same row */
    struct dump_host *hosts;
    struct dump_goal *goals;
    struct goal_view *views;
    struct dump_tag *tags;
    struct dump_part *parts;
    struct dump_text *texts;
    struct dump_effect *effects;
    struct dump_record *records;
    struct dump_milestone *milestones;
    struct source_key *seen;
    struct dump_aside *asides;
    struct dump_inbox *inbox;
    struct dump_tally *tallies;
    const struct evidence *evidence; /* of each record, once decoded; NULL: not yet */
    uint32_t mark_count, numbered_count, host_count, goal_count, view_count, tag_count, part_count,
        text_count, effect_count, record_count, milestone_count, seen_count, aside_count,
        inbox_count, tally_count;
};

/* ---- the tables ---- */

enum column_type { COLUMN_INT, COLUMN_U32, COLUMN_BOOL, COLUMN_ID, COLUMN_HASH, COLUMN_BYTES };

struct dump_column {
    const char *name; /* in SQL: a column, or an expression */
    enum column_type type;
    size_t offset;
    bool own; /* each store generates its own value: not compared */
};

struct dump_table {
    const char *name;   /* in SQL; NULL: one table per kind of part */
    size_t rows, count; /* offsets in struct dump */
    size_t size;        /* of one row */
    const struct dump_column *columns;
    uint32_t column_count, keys; /* the first `keys` columns are the key */
};

enum dump_list {
    DUMP_MARKS,
    DUMP_NUMBERED,
    DUMP_HOSTS,
    DUMP_GOALS,
    DUMP_VIEWS,
    DUMP_TAGS,
    DUMP_PARTS,
    DUMP_TEXTS,
    DUMP_EFFECTS,
    DUMP_RECORDS,
    DUMP_MILESTONES,
    DUMP_SEEN,
    DUMP_ASIDES,
    DUMP_INBOX,
    DUMP_TALLIES,
    DUMP_TABLE_COUNT
};
extern const struct dump_table DUMP_TABLES[DUMP_TABLE_COUNT];

void **dump_rows(const struct dump_table *table, const struct dump *dump);
uint32_t *dump_count(const struct dump_table *table, const struct dump *dump);

/* The first column in which two rows differ, or NULL. */
const struct dump_column *rows_differ(const struct dump_table *table, const void *a, const void *b);

/* Sorts every list. The code that fills a dump calls it last. */
void dump_sort(struct dump *dump);

/* Copies the lists; what their rows point to is shared. */
void dump_copy(struct dump *to, const struct dump *from, struct arena *arena);
void dump_copy_bytes(struct dump *dump, struct arena *arena); /* afterwards it shares nothing */

/* ---- looking things up ---- */

const struct dump_goal *dump_goal(const struct dump *dump, struct id id);
const struct goal_view *dump_view(const struct dump *dump, struct id id);
const struct dump_text *dump_text(const struct dump *dump, struct id goal, const struct hash *hash);

/* The rows of one goal in a list whose rows begin with the goal's id: [ret_from, the result). */
#define DUMP_RANGE(list, count, goal, ret_from) \
    dump_range((list), (count), sizeof *(list), (goal), (ret_from))
uint32_t dump_range(const void *rows, uint32_t count, size_t size, struct id goal,
                    uint32_t *ret_from);

struct evidence evidence_of(const struct record *record);

/* Decodes the evidence of every record at once, for callers that read it often. */
void dump_read(struct dump *dump, struct arena *arena);

/* How many signals with this source were applied to a goal, however many records each of them wrote? */
uint32_t dump_applied(const struct dump *dump, struct id goal, struct id source);

/* Does a record say that the owner refused the forwarded signal? */
bool dump_refused(const struct dump *dump, struct id goal, struct id source);

/* The life of an effect according to its records. */
struct dump_life {
    uint32_t n;
    uint32_t decided, claimed, ended, unconfirmed, withdrawn, returned;
    uint32_t restored; /* in doubt because the store was restored: it may have been claimed since */
    uint32_t kind;     /* according to its first record */
};
uint32_t effect_kind_of(struct str rule); /* `rule`: the rule that decided it */
struct dump_life dump_life(const struct dump *dump, struct id goal, uint32_t n);

/* Builds a whole goal with its rows from the store's rows. False: a seal or an encoding is invalid. */
bool dump_live(const struct dump *dump, const struct dump_goal *row, struct arena *arena,
               struct goal *ret_goal, struct live *ret_live);

/* The same, with the plan only. */
bool dump_whole(const struct dump *dump, const struct dump_goal *row, struct arena *arena,
                struct goal *ret_goal, struct plan *ret_plan);

/* ---- checking: check.c ---- */

/* The first contradiction in the store, as text from the arena, or NULL. It checks chains, sequence numbers, effects,
 * statuses and plan versions against records, texts against their hashes, views, tags and tallies against goals, and
 * goals and plans against their own invariants. */
const char *world_check(const struct dump *dump, struct arena *arena);
