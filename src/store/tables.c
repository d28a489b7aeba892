/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tables: one row for each table of a store. */
#include "store/tables.h"

#include "model/effect.h"
#include "model/goal.h"
#include "model/record.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define COLUMN(name, type) \
    { name, STORED_##type, 0, 0, 0 }
#define RANGE(name, type, least, most) \
    { name, STORED_##type, 0, least, most }
#define FLAGGED(name, type, flags) \
    { name, STORED_##type, flags, 0, 0 }

#define PART_TABLE \
    .key = "goal_id, n", .by_goal = "goal_id, n", .by_name = "name, goal_id, n", \
    .body = BODY_PART, \
    .columns = { \
        COLUMN("goal_id", ID), \
        COLUMN("n", INT), \
        COLUMN("name", TEXT), \
        COLUMN("body", BYTES), \
    }

const struct stored_table STORED[STORE_TABLES] = {
    [TABLE_STORE] = {.name = "store",
                     .key = "one",
                     .salvage = SALVAGE_MADE,
                     .columns = {COLUMN("one", INT),
                                 COLUMN("version", INT),
                                 COLUMN("oldest", INT),
                                 RANGE("level", INT, 1, INT_MAX),
                                 RANGE("era", LONG, 0, INT64_MAX),
                                 COLUMN("instance", ID),
                                 FLAGGED("safe", TEXT, STORED_NULL),
                                 {"tx", STORED_LONG, STORED_SQLITE, 0, INT64_MAX},
                                 {"retaining", STORED_INT, STORED_SQLITE, 0, 1},
                                 FLAGGED("stopped", TEXT, STORED_NULL),
                                 RANGE("numbered", LONG, 0, INT64_MAX),
                                 RANGE("numbered_era", LONG, 0, INT64_MAX)}},
    [TABLE_HOST] =
        {.name = "host",
         .key = "host_id",
         .collection = "hosts",
         .collection_text = "hosts that used the store",
         .columns = {RANGE("host_id", INT, 1, INT_MAX), COLUMN("instance", LONG),
                     RANGE("epoch", LONG, 1, INT64_MAX), RANGE("beat", LONG, 0, INT64_MAX),
                     RANGE("batch", LONG, 0, INT64_MAX), RANGE("state", INT, 0, HOST_STATES - 1),
                     COLUMN("build", TEXT), COLUMN("addr", TEXT), COLUMN("speaks", INT),
                     FLAGGED("policy", HASH, STORED_NULL), RANGE("number_next", LONG, 0, INT64_MAX),
                     RANGE("number_end", LONG, 0, INT64_MAX),
                     RANGE("number_era", LONG, -1, INT64_MAX)}},
    [TABLE_GOAL] = {.name = "goal",
                    .key = "goal_id",
                    .by_goal = "goal_id",
                    .forget = FORGET_NOTHING,
                    .columns = {COLUMN("goal_id", ID), RANGE("owner", INT, 1, INT_MAX),
                                RANGE("fence", LONG, 1, INT64_MAX),
                                RANGE("version", LONG, 1, INT64_MAX),
                                RANGE("seq", LONG, 1, INT64_MAX), COLUMN("head", HASH),
                                COLUMN("due_at", LONG), RANGE("open", FLAG, 0, 1),
                                RANGE("aside", FLAG, 0, 1), COLUMN("hot", BYTES)}},
    [TABLE_GOAL_VIEW] =
        {.name = "goal_view",
         .key = "goal_id",
         .by_goal = "goal_id",
         .forget = FORGET_WORDS,
         .forget_sql = "UPDATE goal_view SET title = '' WHERE goal_id = %s",
         .salvage = SALVAGE_FOUND_BY_GOAL,
         .columns = {FLAGGED("row", LONG, STORED_SQLITE), COLUMN("goal_id", ID),
                     RANGE("status", INT, 0, GOAL_STATUSES - 1),
                     RANGE("face", INT, 0, DISPLAY_STATES - 1), COLUMN("priority", INT),
                     COLUMN("percent", INT), COLUMN("created_at", LONG), COLUMN("updated_at", LONG),
                     COLUMN("title", TEXT), FLAGGED("words", WORDS, STORED_POSTGRES),
                     COLUMN("ended_at", LONG), COLUMN("asked_at", LONG), COLUMN("repository", LONG),
                     RANGE("number", LONG, 0, INT64_MAX)}},
    [TABLE_GOAL_TAG] = {.name = "goal_tag",
                        .key = "goal_id, tag",
                        .by_goal = "goal_id, tag",
                        .columns = {COLUMN("tag", TEXT), COLUMN("face", INT),
                                    COLUMN("created_at", LONG), COLUMN("goal_id", ID)}},
    [TABLE_TEXT] =
        {.name = "text",
         .key = "goal_id, hash",
         .by_goal = "goal_id, hash",
         .collection = "texts",
         .collection_text =
             "texts that no goal and no node contains: earlier versions, proposals, long evidence",
         .body = BODY_HASHED,
         .added = true,
         .columns = {COLUMN("goal_id", ID), COLUMN("hash", HASH), COLUMN("body", BYTES)}},
    [TABLE_EFFECT] = {.name = "effect",
                      .key = "goal_id, n",
                      .by_goal = "goal_id, n",
                      .forget = FORGET_NOTHING,
                      .body = BODY_EFFECT,
                      .columns = {COLUMN("goal_id", ID), RANGE("n", INT, 0, UINT32_MAX),
                                  RANGE("run_host", INT, 0, INT_MAX),
                                  RANGE("state", INT, 0, EFFECT_ENDED - 1),
                                  RANGE("kind", INT, EFFECT_NONE + 1, EFFECT_KINDS - 1),
                                  COLUMN("until", LONG), COLUMN("body", BYTES)}},
    [TABLE_INBOX] = {.name = "inbox",
                     .key = "source",
                     .by_goal = "goal_id, source",
                     .collection = "inbox",
                     .collection_text = "signals that wait for the owner of their goal",
                     .forget = FORGET_NOTHING,
                     .columns = {COLUMN("source", ID), COLUMN("to_host", INT),
                                 COLUMN("goal_id", ID), COLUMN("body", BYTES)}},
    /* A body's hash must be stored before the body is deleted. */
    [TABLE_RECORD] = {.name = "record",
                      .key = "day, tx, n",
                      .by_goal = "goal_id, seq",
                      .forget = FORGET_WORDS,
                      .forget_sql = "UPDATE record SET body_hash = sha256(body), body = NULL"
                                    " WHERE body IS NOT NULL AND goal_id = %s",
                      .salvage = SALVAGE_FOUND_BY_GOAL,
                      .columns = {COLUMN("day", INT), COLUMN("tx", LONG),
                                  RANGE("n", INT, 0, INT_MAX), COLUMN("goal_id", ID),
                                  RANGE("seq", LONG, 1, INT64_MAX), COLUMN("at", LONG),
                                  RANGE("type", INT, RECORD_NONE + 1, RECORD_TYPES - 1),
                                  COLUMN("core", INT), COLUMN("policy", HASH), COLUMN("hash", HASH),
                                  FLAGGED("body_hash", HASH, STORED_NULL),
                                  FLAGGED("body", BYTES, STORED_NULL)}},
    [TABLE_MILESTONE] = {.name = "milestone",
                         .key = "goal_id, from_seq",
                         .by_goal = "goal_id, from_seq",
                         .collection = "milestones",
                         .collection_text = "milestones that replace removed records",
                         .forget = FORGET_NOTHING,
                         .columns = {COLUMN("goal_id", ID), COLUMN("from_seq", LONG),
                                     COLUMN("to_seq", LONG), COLUMN("n", LONG), COLUMN("at", LONG),
                                     COLUMN("last_hash", HASH),
                                     FLAGGED("body", BYTES, STORED_NULL_SQLITE)}},
    [TABLE_SEEN] = {.name = "seen",
                    .key = "goal_id, source",
                    .by_goal = "goal_id, source",
                    .collection = "seen",
                    .collection_text = "sources that were applied, so that none is applied twice",
                    .forget = FORGET_NOTHING,
                    .columns = {COLUMN("goal_id", ID), COLUMN("source", ID), COLUMN("at", LONG)}},
    [TABLE_ASIDE] = {.name = "aside",
                     .key = "goal_id, source",
                     .by_goal = "goal_id, source",
                     .collection = "aside",
                     .collection_text = "signals kept while their goal is quarantined",
                     .columns = {COLUMN("goal_id", ID), COLUMN("source", ID), COLUMN("at", LONG),
                                 COLUMN("why", TEXT), COLUMN("body", BYTES)}},
    [TABLE_TALLY] = {.name = "tally",
                     .key = "host_id, face",
                     .salvage = SALVAGE_MADE,
                     .columns = {COLUMN("host_id", INT), COLUMN("face", INT), COLUMN("n", LONG)}},
    /* Nodes stay, as numbers and ids: their content was in texts. */
    [TABLE_PART + PART_NODE] = {.forget = FORGET_NOTHING, PART_TABLE},
    [TABLE_PART + PART_NODE + 1 ... STORE_TABLES - 1] = {PART_TABLE},
};

const char *table_name(enum store_table table) {
    must(table < STORE_TABLES);
    return table < TABLE_PART ? STORED[table].name : PART[table - TABLE_PART].table;
}

const char *table_order(enum store_table table, enum walk_order order) {
    const struct stored_table *row = &STORED[table];
    return order == WALK_BY_KEY ? row->key : order == WALK_BY_GOAL ? row->by_goal : row->by_name;
}

bool table_named(const char *name, enum store_table *ret) {
    for (enum store_table table = 0; table < STORE_TABLES; table++)
        if (strcmp(table_name(table), name) == 0) {
            *ret = table;
            return true;
        }
    return false;
}

const struct stored_column *table_column(enum store_table table, const char *column) {
    for (const struct stored_column *at = STORED[table].columns; at->name; at++)
        if (strcmp(at->name, column) == 0)
            return at;
    return NULL;
}

const char *table_columns(enum store_table table, const char *form,
                          const char *const types[STORED_TYPES], char *text, size_t size) {
    size_t used = 0;
    unsigned number = 0;
    for (const struct stored_column *at = STORED[table].columns; at->name; at++) {
        if (at->flags & (STORED_SQLITE | STORED_POSTGRES))
            continue;
        if (number++ > 0)
            used += (size_t)snprintf(text + used, size - used, ", ");
        for (const char *c = form; *c && used < size; c++)
            if (*c == '#')
                used += (size_t)snprintf(text + used, size - used, "%u", number);
            else if (*c == '@')
                used += (size_t)snprintf(text + used, size - used, "%s", at->name);
            else if (*c == '%')
                used += (size_t)snprintf(text + used, size - used, "%s", types[at->type]);
            else
                text[used++] = *c;
        must(used < size);
    }
    text[used] = 0;
    return text;
}

const char *table_create(enum store_table table, const char *const types[STORED_TYPES],
                         const char *end, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "CREATE TABLE %s (", table_name(table));
    for (const struct stored_column *at = STORED[table].columns; at->name && used < size; at++)
        used += (size_t)snprintf(text + used, size - used, "%s %s%s, ", at->name, types[at->type],
                                 at->flags & STORED_NULL ? "" : " NOT NULL");
    used += used < size ? (size_t)snprintf(text + used, size - used, "PRIMARY KEY (%s))%s",
                                           STORED[table].key, end)
                        : 0;
    must(used < size);
    return text;
}
