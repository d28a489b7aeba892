/* SPDX-License-Identifier: Apache-2.0 */
/* State of a goal while it is built from a plain document. Shared by import_plain*.c only. */
#pragma once

#include "model/decision.h"
#include "model/secret/redact.h"
#include "ops/portable/import_state.h"

struct plain_goal {
    struct goal goal;
    union {
        struct live live;
        struct plan plan;
    };
    bool exists;
    int64_t at; /* time of everything after its creation */
    uint32_t steps;
    uint64_t seq;
    struct hash head;
    struct str title;
    struct texts tags;
    struct record *records;
    struct text_row *texts;
    struct part_change *parts; /* all but nodes */
    uint32_t record_count, record_cap, text_count, text_cap, part_count, part_cap;
};

struct plain {
    struct plain_goal **goals;
    uint32_t count, cap;
    struct map by_id;
    struct policy policy;
    const struct secret_rules *secrets;
    uint64_t era, events;
};

bool plain_work(struct import *import, struct plain_goal *goal, struct signal signal);

/* Warns about members that are not used. */
void plain_unknown(struct import *import, const json_t *object,
                   bool (*known)(const char *name, const struct shape *of), const struct shape *of);

/* import_plain_plan.c: the plan of an item, with the statuses of its nodes. */
bool plain_plan(struct import *import, struct plain_goal *goal, const json_t *item);
