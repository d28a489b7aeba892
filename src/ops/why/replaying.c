/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/why/replaying.h"

#include "ops/why/explain.h"

#include <stdio.h>

enum { PAGE = 200 };

/* ---- sources of the replay ---- */

static struct replaying_policy *known_find(struct replaying *it, const struct hash *hash) {
    for (uint32_t i = 0; i < it->known_count; i++)
        if (hash_equal(&it->known[i]->hash, hash))
            return it->known[i];
    return NULL;
}

static bool policy_find(void *with, const struct hash *hash, const struct policy **ret) {
    struct replaying *it = with;
    struct replaying_policy *known = known_find(it, hash);
    if (known) {
        *ret = &known->was;
        it->replay.other = it->set ? &known->would : NULL;
        return true;
    }
    it->wanted = *hash;
    return false;
}

static bool text_find(void *with, const struct hash *hash, struct str *ret) {
    const struct replaying *it = with;
    *ret = shown_text(it->page, hash);
    return ret->len > 0;
}

struct replaying *replaying_new(struct op_call *call, struct id goal, const struct texts *set) {
    struct replaying *it = arena_new(&call->arena, struct replaying, 1);
    it->call = call;
    it->goal = goal;
    it->set = set;
    it->replay.from = (struct replay_sources){policy_find, text_find, it};
    replay_begin(&it->replay, goal);
    return it;
}

void replaying_end(struct replaying *it) {
    replay_end(&it->replay);
}

/* ---- policies ---- */

static void policy_ask(struct replaying *it, struct store_request *ret) {
    *ret = (struct store_request){.verb = STORE_SHOW,
                                  .ids = &SYSTEM_GOAL,
                                  .id_count = 1,
                                  .limit = 1,
                                  .texts = &it->wanted,
                                  .text_count = 1};
}

static bool policy_read(struct replaying *it, struct str text, const struct texts *set,
                        struct policy *ret) {
    struct op_call *call = it->call;
    return call->policy_read &&
           call->policy_read(text, set, &call->arena, ret, it->trouble, sizeof it->trouble);
}

/* The policy in force is available whether its text was kept or not. */
static bool policy_take(struct replaying *it, struct str text) {
    struct op_call *call = it->call;
    struct replaying_policy *known = arena_new(&call->arena, struct replaying_policy, 1);
    bool at_hand = hash_equal(&call->policy->hash, &it->wanted);
    snprintf(it->trouble, sizeof it->trouble, "the policy of that time is no longer kept");
    if (it->known_count == REPLAYING_POLICIES || (!at_hand && text.len == 0) ||
        (it->set && text.len == 0))
        return false;
    known->hash = it->wanted;
    if (at_hand)
        known->was = *call->policy;
    else if (!policy_read(it, text, NULL, &known->was))
        return false;
    known->was.hash = it->wanted;
    if (it->set && !policy_read(it, text, it->set, &known->would)) {
        it->set_is_wrong = true;
        return false;
    }
    it->known[it->known_count++] = known;
    it->wanted = (struct hash){0};
    it->trouble[0] = 0;
    return true;
}

/* ---- pages ---- */

void replaying_ask(struct replaying *it, struct store_request *ret) {
    *ret = (struct store_request){.verb = STORE_HISTORY,
                                  .ids = &it->goal,
                                  .id_count = 1,
                                  .limit = PAGE,
                                  .after_seq = it->replay.records};
}

/* The last wanted record is complete once its whole decision has been compared. */
static bool is_enough(const struct replaying *it) {
    const struct replay *replay = &it->replay;
    return it->until > 0 && replay->records >= it->until &&
           replay->compared == replay->decision.record_count;
}

static bool page_take(struct replaying *it, const struct store_answer *answer,
                      struct store_request *ret) {
    it->page = &answer->shown;
    for (uint32_t i = 0; i < answer->shown.record_count && !is_enough(it); i++)
        if (!replay_take(&it->replay, &answer->shown.records[i])) {
            if (it->replay.verdict != REPLAYED_NO_POLICY)
                return false;
            policy_ask(it, ret);
            return true;
        }
    if (is_enough(it) || !answer->more)
        return false;
    replaying_ask(it, ret);
    return true;
}

bool replaying_next(struct replaying *it, const struct store_answer *answer,
                    struct store_request *ret) {
    if (hash_is_zero(&it->wanted))
        return page_take(it, answer, ret);
    if (!policy_take(it, shown_text(&answer->shown, &it->wanted)))
        return false;
    replaying_ask(it, ret);
    return true;
}

/* ---- differences ---- */

static json_t *records_json(const struct decision *decision) {
    json_t *list = json_array();
    for (uint32_t i = 0; decision && i < decision->record_count && i < LIMIT_SHOWN_RECORDS; i++)
        json_array_append_new(list, record_line(&decision->records[i]));
    return list;
}

json_t *difference_json(const struct replay_difference *difference) {
    char at[TIME_TEXT + 1];
    time_format(difference->record->at, at);
    json_t *json = json_pack("{s:I, s:s}", "record", (json_int_t)difference->record->seq, "at", at);
    if (difference->due) {
        time_format(difference->due, at);
        json_object_set_new(json, "lookedAt", json_string(at));
        return json;
    }
    json_object_set_new(json, "signal",
                        json_string(name_of(&SIGNAL_NAMES, difference->signal->kind)));
    bool alone =
        difference->was == difference->would; /* a record that differs from what was recorded */
    json_t *was = alone ? json_array() : records_json(difference->was);
    if (alone)
        json_array_append_new(was, record_line(difference->record));
    json_object_set_new(json, "decided", was);
    json_object_set_new(json, "instead", records_json(difference->would));
    return json;
}
