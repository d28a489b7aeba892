/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the log page by page in commit order, for clients that poll; GET /events is for clients that want events at
 * once. API-11 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/place.h"
#include "ops/view.h"

enum { EVENTS_DEFAULT = 100, EVENTS_ROUNDS = 20 };

static const struct field PARAMS[] = {
    PARAM(
        "after", FIELD_TEXT, after, PLACE_TEXT - 1, 0,
        "the id of the last event seen, the `next` of a page, or `now`; default: from the oldest event that is kept"),
    PARAM_GOAL(0),
    PARAM("type", FIELD_TEXT, type, LIMIT_SEARCH, 0, "only these: goal.created, plan.*, …"),
    PARAM("since", FIELD_TEXT, since, 40, 0, "not before this time, or 90s, 15m, 2h, 3d ago"),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many, at most 500; default: 100"),
};

static const struct op_member MEMBERS[] = {
    {"events", MEMBER_LIST, true,
     "in the order of commits: id, goalId, type, at, seq and the evidence"},
    {"next", MEMBER_TEXT, true, "the `after` of the next page"},
    {"more", MEMBER_FLAG, true, "there are more events already"},
    {"gone", MEMBER_FLAG, true,
     "the events after `after` are no longer kept, or the store was restored: `next` is now"},
};

struct listing {
    uint32_t limit, rounds;
    bool types[RECORD_TYPES];
    struct store_request request; /* for the first page */
};

static bool is_set(struct id id) {
    static const struct id NONE;
    return !id_equal(id, NONE);
}

static bool request(struct op_call *call, struct store_request *ret_request) {
    const struct op_args *args = &call->args;
    struct listing *listing = arena_new(&call->arena, struct listing, 1);
    struct store_request *ask = &listing->request;
    call->own = listing;
    listing->limit = args->limit && args->limit <= LIMIT_EVENTS_PAGE ? args->limit : EVENTS_DEFAULT;
    *ask = (struct store_request){.verb = STORE_FOLLOW, .limit = listing->limit};
    if (!place_parse(args->after, &ask->cursor))
        op_refuse(call, ERROR_INVALID, "\"after\" is not the id of an event.");
    if (args->type.len > 0 && !types_parse(args->type, listing->types))
        op_refuse(call, ERROR_INVALID, "There is no event type \"%.*s\".", STR_ARG(args->type));
    if (args->since.len > 0 && !since_parse(args->since, call->at, &ask->since))
        op_refuse(call, ERROR_INVALID, "\"since\" must be a time or a duration such as 2h.");
    ask->types = args->type.len > 0 ? listing->types : NULL;
    ask->ids = &call->args.goal_id;
    ask->id_count = is_set(args->goal_id);
    *ret_request = *ask;
    return true;
}

static void events_add(json_t *events, const struct store_answer *answer) {
    for (uint32_t i = 0; i < answer->log_count; i++)
        json_array_append_new(events, event_json(&answer->log[i]));
}

static json_t *events_of(struct op_call *call) {
    if (!call->result) {
        json_ran_short();
        call->result = json_pack("{s:[]}", "events");
    }
    return json_object_get(call->result, "events");
}

/* If the filter matches few records, a page of the store may contain none: read a few more pages. */
static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    struct listing *listing = call->own;
    json_t *events = events_of(call);
    uint32_t had = (uint32_t)json_array_size(events);
    if (!answer->more || had + answer->log_count >= listing->limit ||
        ++listing->rounds == EVENTS_ROUNDS)
        return false;
    events_add(events, answer);
    *ret_request = listing->request;
    ret_request->limit = listing->limit - had - answer->log_count;
    ret_request->cursor = answer->reached;
    return true;
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    char place[PLACE_TEXT];
    json_t *json = json_incref(call->result);
    events_add(events_of(call), answer);
    place_format(&answer->reached, place);
    json_object_set_new(json, "next", json_string(place));
    json_object_set_new(json, "more", json_boolean(answer->more));
    json_object_set_new(json, "gone", json_boolean(answer->gone));
    json_decref(call->result);
    call->result = NULL;
    return view_checked(call, json);
}

const struct op OP_EVENTS_LIST = {
    .name = "events.list",
    .also = "events",
    .summary = "List events in the order in which they were stored.",
    .help = "Every decision has a record with its rule, its evidence and its actor.\n"
            "Example: overseer events --since 2h\n"
            "Example: overseer events --type 'goal.created,plan.*' --limit 20",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
};
