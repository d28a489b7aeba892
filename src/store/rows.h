/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, encodes and decodes rows, for both drivers. */
#pragma once

#include "store/store.h"
#include "store/tables.h"

/* Every encoded body in goal, effect and the part tables ends with a four-byte check of the bytes that were written
 * there, so a damaged row is detected before anything is done because of it. */
enum row_table { ROW_GOAL, ROW_EFFECT, ROW_PART /* + kind */ };
enum { ROW_CHECK = 4 };
struct str row_seal(uint32_t table, struct id goal, uint32_t n, struct str body,
                    struct arena *arena);
bool row_unseal(uint32_t table, struct id goal, uint32_t n, struct str *body);

/* Complete a loaded goal from its encoded hot part. Sets `whole` to whether it could be decoded. */
void loaded_hot(struct goal_loaded *loaded, struct str sealed);

/* Add an open effect to a goal; effects come in order of n. */
void loaded_effect(struct goal_loaded *loaded, struct effect_slot slot);

/* Add a part of a live kind to a goal; they come in order of n. */
void loaded_part(struct goal_loaded *loaded, enum part_kind kind, uint32_t n, struct str sealed,
                 struct arena *arena);

/* True if a loaded goal may have rows of this kind. Only admission aggregates have permits, accounts and budgets. */
bool loaded_has(const struct goal_loaded *loaded, enum part_kind kind);

/* True: the order would change nothing. `policy`: the one that this host last recorded. */
bool order_is_in_force(const struct store_order *order, const struct hash *policy, bool stopped);

/* The hashes of all texts that a goal and its live rows name now, and those of `more`: each once, sorted. */
struct text_names {
    struct hash *at;
    uint32_t count;
};
struct text_names loaded_names(const struct goal_loaded *loaded, const struct hash *more,
                               uint32_t count, struct arena *arena);

/* The same for records: the signals that are stored separately. */
struct text_names records_name(const struct record *records, uint32_t count, struct arena *arena);

/* The row of goal_view that this commit results in. */
struct goal_view view_of(const struct goal_commit *commit);

/* A row of goal_view as it may be shown: a goal with an unknown enum value is shown as needing a person. */
struct goal_view view_shown(struct goal_view view);

/* Index of an id among sorted ones, or -1. */
void ids_sort(struct id *ids, uint32_t count); /* in key order */
int64_t id_place(const struct id *ids, uint32_t count, struct id id);
