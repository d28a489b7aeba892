/* SPDX-License-Identifier: Apache-2.0 */
/* Measures query times among a million goals. */
#pragma once

#include "bench/bench.h"
#include "store/rows.h"

/* ---- the goals: each is generated from its number alone, identically on every engine ---- */

enum {
    QUERY_WORDS = 5000, /* in titles, by Zipf */
    QUERY_TAGS = 200,   /* likewise */
    QUERY_TITLE_WORDS = 9,
    QUERY_GOAL_TAGS = 4,
    QUERY_NODES = 12, /* in a plan; one goal in ten has one */
    QUERY_TEXTS = QUERY_NODES + 1,
    QUERY_ENDED =
        500, /* ended after the newest was created, in a different order from their creation */
};

struct crowd { /* the first of `count` goals is the oldest */
    uint32_t count;
    double words[QUERY_WORDS], tags[QUERY_TAGS]; /* cumulative frequencies */
};

struct member {
    struct goal goal;
    struct record record;
    struct goal_view view;
    struct str hot; /* sealed */
    struct str tags[QUERY_GOAL_TAGS];
    uint32_t tag_count;
    struct part_change nodes[QUERY_NODES]; /* sealed */
    uint32_t node_count;
    struct text_row texts[QUERY_TEXTS];
    uint32_t text_count;
};

/* When the first of QUERY_ENDED ended: all other goals ended earlier. */
int64_t crowd_ended_since(const struct crowd *crowd);
uint32_t crowd_ended_count(const struct crowd *crowd);

void crowd_make(struct crowd *crowd, uint32_t count);
void crowd_word(uint32_t rank, char word[24]); /* 0 is the most frequent */
void crowd_tag(uint32_t rank, char tag[24]);
uint32_t crowd_rank(const double *sums, uint32_t count, uint64_t *random);

/* Everything that is stored of one goal; what it points to is allocated from the arena. */
void crowd_member(const struct crowd *crowd, uint32_t i, struct member *ret, struct arena *arena);

/* Writes the goals into a store whose tables exist, as fast as the engine accepts them. */
void fill_sqlite(const struct crowd *crowd, const char *path);
void fill_postgres(const struct crowd *crowd, const char *uri);

/* ---- the queries ---- */

struct asking {
    const struct crowd *crowd;
    const char *engine;
    struct store *store;
    struct arena arena; /* of one query */
    struct store_request request;
    struct store_answer answer;
    uint64_t random;
    uint32_t queries;
    bool missed; /* a measurement exceeds the limit */
};

void questions_run(struct asking *asking);
