/* SPDX-License-Identifier: Apache-2.0 */
/* Finds sums by key and agents by name, for an admission that counts its permits. */
#include "core/admission/admission.h"

uint64_t amount_add(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

struct sums sums_make(uint32_t count, struct arena *arena) {
    uint32_t cap = 8;
    while (cap < 2 * count)
        cap *= 2;
    return (struct sums){arena_new(arena, struct sum, cap), cap - 1};
}

static struct sum *sum_at(const struct sums *sums, uint64_t key) {
    uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & sums->mask;
    while (sums->at[at].key != 0 && sums->at[at].key != key)
        at = (at + 1) & sums->mask;
    return &sums->at[at];
}

uint64_t sums_get(const struct sums *sums, uint64_t key) {
    return sum_at(sums, key)->value;
}

void sums_add(struct sums *sums, uint64_t key, uint64_t value) {
    struct sum *sum = sum_at(sums, key);
    sum->key = key;
    sum->value = amount_add(sum->value, value);
}

void sums_raise(struct sums *sums, uint64_t key, uint64_t value) {
    struct sum *sum = sum_at(sums, key);
    sum->key = key;
    sum->value = value > sum->value ? value : sum->value;
}

/* Two goals with the same key would wait for each other's reservations, but spend no more than they may. */
uint64_t goal_key(struct id goal) {
    return id_hash(goal) | 1;
}

uint32_t name_hash(const char *name) {
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash ^ (hash >> 15);
}

uint32_t view_place(const struct admission_view *view, const char *agent) {
    uint8_t at = (uint8_t)name_hash(agent);
    for (; view->place_of[at]; at++)
        if (name_same(view->d->policy->dispatch.agents[view->place_of[at] - 1].id, agent))
            return view->place_of[at] - 1u;
    return NOBODY;
}
