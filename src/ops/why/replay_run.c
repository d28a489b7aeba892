/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that repeat the decisions about a goal, with the same or with other settings, and compare them with the
 * records. G-29. */
#include "model/setting/setting.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"
#include "ops/why/replaying.h"

enum { DIFFERENCES = 100 }; /* listed; the rest is only counted */

static const struct field REPLAYS[] = {PARAM_GOAL(FIELD_REQUIRED)};

static const struct field WHAT_IF[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    {"set", FIELD_TEXTS, 0, FIELD_OF(op_args, set), LIMIT_SETTING, FIELD_REQUIRED, NULL,
     "a changed setting, such as supervision.idle_after=30m; may be repeated", 32, NULL},
};

static void differs(void *with, const struct replay_difference *difference) {
    struct op_call *call = with;
    json_t *list = json_object_get(call->result, "differences");
    if (json_array_size(list) < DIFFERENCES)
        json_array_append_new(list, difference_json(difference));
}

/* Each has to be a setting that decisions depend on; its value is checked together with the policies that it would
 * change. */
static bool set_is_known(struct op_call *call) {
    const struct texts *set = &call->args.set;
    for (uint32_t i = 0; i < set->count; i++) {
        const char *end = memchr(set->at[i].at, '=', set->at[i].len);
        struct str name = {set->at[i].at, end ? (size_t)(end - set->at[i].at) : 0};
        const struct setting *row = name.len > 0 ? setting_find(name).row : NULL;
        if (!row)
            return op_refuse(call, ERROR_INVALID,
                             "\"%.*s\" must be a setting and its value: NAME=VALUE.",
                             STR_ARG(str_cut_utf8(set->at[i], 64)));
        if (!(row->flags & SETTING_POLICY))
            return op_refuse(call, ERROR_INVALID, "No decision depends on %s.", row->name);
    }
    return set->count > 0 ||
           op_refuse(
               call, ERROR_INVALID,
               "\"set\" is missing: give a changed setting, such as supervision.idle_after=30m.");
}

static bool request(struct op_call *call, struct store_request *ret) {
    bool what_if = call->op == &OP_REPLAY_COMPARE;
    struct replaying *it =
        replaying_new(call, call->args.goal_id, what_if ? &call->args.set : NULL);
    it->replay.differs = differs;
    it->replay.with = call;
    call->own = it;
    if (what_if && !set_is_known(call))
        return false;
    replaying_ask(it, ret);
    return true;
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret) {
    struct replaying *it = call->own;
    if (!call->result) {
        json_ran_short();
        call->result = json_pack("{s:[]}", "differences");
    }
    return replaying_next(it, answer, ret);
}

static const char *verdict_text(const struct replaying *it, enum replayed verdict) {
    static const char *const TEXT[REPLAYEDS] = {
        [REPLAYED_SAME] = "Every decision is the same.",
        [REPLAYED_DIFFERS] = "A decision differs: see the difference.",
        [REPLAYED_CUT] =
            "Earlier records are no longer kept: the state that they led to is unknown.",
        [REPLAYED_NO_INPUT] =
            "The inputs are no longer kept, or were decided by a build that did not keep them.",
        [REPLAYED_OTHER_CORE] = "Other rules decided: this build cannot run them.",
    };
    return verdict == REPLAYED_NO_POLICY ? it->trouble : TEXT[verdict];
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    struct replaying *it = call->own;
    enum replayed verdict = replay_conclude(&it->replay);
    char goal[GOAL_ID_TEXT + 1];
    json_t *json = call->result;
    (void)answer;
    if (it->replay.records == 0 && verdict == REPLAYED_SAME) {
        op_refuse(call, ERROR_NOT_FOUND, "%s", "");
        return NULL;
    }
    if (it->set_is_wrong) {
        op_refuse(call, ERROR_INVALID, "%.200s.", it->trouble);
        return NULL;
    }
    call->result = NULL;
    goal_id_format(it->goal, goal);
    json_object_set_new(json, "goalId", json_string(goal));
    json_object_set_new(json, "verdict", json_string(name_of(&REPLAYED_NAMES, verdict)));
    json_object_set_new(json, "sentence", json_string(verdict_text(it, verdict)));
    json_object_set_new(json, "records", json_integer((json_int_t)it->replay.records));
    json_object_set_new(json, "decisions", json_integer((json_int_t)it->replay.decisions));
    json_object_set_new(json, "differenceCount", json_integer((json_int_t)it->replay.differences));
    return view_checked(call, json);
}

static void close(struct op_call *call) {
    replaying_end(call->own);
}

static const struct op_member MEMBERS[] = {
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"verdict", MEMBER_TEXT, true, "same, differs, cut, no input, no policy or other rules"},
    {"sentence", MEMBER_TEXT, true, "the verdict in words"},
    {"records", MEMBER_NUMBER, true, "number of records that are the same"},
    {"decisions", MEMBER_NUMBER, true, "number of decisions that were made again"},
    {"differenceCount", MEMBER_NUMBER, true, "number of records"},
    {"differences", MEMBER_LIST, true,
     "record, at, signal, decided, instead; or lookedAt: it would have been checked before that; at most 100"},
};

const struct op OP_REPLAY_RUN = {
    .name = "replay.run",
    .summary = "Make every decision about a goal again, and compare it with the record.",
    .help =
        "Nothing is changed. The records contain the inputs; the same rules and settings must lead to the same decisions.\n"
        "Example: overseer replay 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(REPLAYS),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
    .close = close,
};

const struct op OP_REPLAY_COMPARE = {
    .name = "replay.compare",
    .summary = "Show which decisions about a goal would differ under other settings.",
    .help =
        "Each decision is made again from the recorded state; the consequences of a difference are not simulated. Nothing is changed.\n"
        "Example: overseer what-if 01JC7Q4T9Z --set supervision.idle_after=30m",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(WHAT_IF),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
    .close = close,
};
