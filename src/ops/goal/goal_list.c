/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that list goals page by page, newest first, and report their number per display state without counting. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/repository.h"
#include "ops/view.h"

#include <stdio.h>

static const struct field PARAMS[] = {
    PARAM_ENUM("status", goal_status, &GOAL_STATUS_NAMES, 0,
               "active, paused, completed, cancelled or archived"),
    PARAM_ENUM("state", display_state, &DISPLAY_STATE_NAMES, 0, "the display state"),
    PARAM("tag", FIELD_TEXT, tag, LIMIT_TAG, 0, "only goals with this tag"),
    PARAM("search", FIELD_TEXT, search, LIMIT_SEARCH, 0, "words that must all be in the title"),
    PARAM("after", FIELD_TEXT, after, 64, 0, "the `next` of the previous page"),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many, at most 200; default: 50"),
};

/* A position in the list: creation time and id of the last goal. */
static bool after_parse(struct str text, struct list_filter *filter) {
    long long at;
    int used = 0;
    char plain[65];
    snprintf(plain, sizeof plain, "%.*s", STR_ARG(str_cut(text, 64)));
    return sscanf(plain, "%lld.%n", &at, &used) == 1 && used > 0 &&
           id_parse(str_of(plain + used), &filter->before_id) && ((filter->before = at) > 0);
}

static bool has_word(struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
            return true;
    }
    return false;
}

static bool request(struct op_call *call, struct store_request *ret_request) {
    const struct op_args *args = &call->args;
    struct list_filter *filter = &ret_request->filter;
    ret_request->verb = STORE_LIST;
    ret_request->limit = args->limit && args->limit <= LIMIT_LIST_PAGE ? args->limit : 50;
    filter->by_status = op_given(call->params, "status");
    filter->by_display_state = op_given(call->params, "state");
    filter->status = args->goal_status;
    filter->display_state = args->display_state;
    filter->tag = args->tag;
    filter->search = args->search;
    if (args->search.len > 0 && !has_word(args->search))
        op_refuse(call, ERROR_INVALID, "\"search\" must contain a word.");
    if (args->after.len > 0 && !after_parse(args->after, filter))
        op_refuse(call, ERROR_INVALID, "\"after\" must be the `next` of a previous page.");
    return true;
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    json_t *goals = json_array(), *json = json_object();
    for (uint32_t i = 0; i < answer->view_count; i++) {
        json_t *goal = goal_view_json(&answer->views[i]);
        repository_put(call, goal, (uint64_t)answer->views[i].repository);
        json_array_append_new(goals, goal);
    }
    json_object_set_new(json, "goals", goals);
    if (answer->more && answer->view_count > 0) {
        const struct goal_view *last = &answer->views[answer->view_count - 1];
        char next[64], id[ID_TEXT + 1];
        id_format(last->id, id);
        snprintf(next, sizeof next, "%lld.%s", (long long)last->created_at, id);
        json_object_set_new(json, "next", json_string(next));
    }
    if (!json_ran_short())
        return json;
    json_decref(json);
    call->error = ERROR_NO_MEMORY;
    return NULL;
}

static const struct op_member MEMBERS[] = {
    {"goals", MEMBER_LIST, true,
     "goalId, name, title, state, status, priority, percent, createdAt, updatedAt, repo"},
    {"next", MEMBER_TEXT, false, "there are more: pass this as `after`"},
};

const struct op OP_GOAL_LIST = {
    .name = "goal.list",
    .summary = "List goals, newest first: by status, state, tag or words of the title.",
    .help = "Example: overseer goal list --state \"needs you\"",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(MEMBERS),
    .wants_repositories = true,
    .request = request,
    .result = result,
};

static bool tally_request(struct op_call *call, struct store_request *ret_request) {
    (void)call;
    ret_request->verb = STORE_TALLY;
    return true;
}

static json_t *tally_result(struct op_call *call, const struct store_answer *answer) {
    (void)call;
    json_t *json = json_object();
    for (uint32_t display_state = 0; display_state < DISPLAY_STATES; display_state++)
        json_object_set_new(json, name_of(&DISPLAY_STATE_NAMES, display_state),
                            json_integer(answer->tally[display_state]));
    return json;
}

static const struct op_member TALLY[DISPLAY_STATES] = {
    {"queued", MEMBER_NUMBER, true, "goals"},    {"working", MEMBER_NUMBER, true, "goals"},
    {"needs you", MEMBER_NUMBER, true, "goals"}, {"done", MEMBER_NUMBER, true, "goals"},
    {"paused", MEMBER_NUMBER, true, "goals"},    {"cancelled", MEMBER_NUMBER, true, "goals"},
    {"archived", MEMBER_NUMBER, true, "goals"},
};

const struct op OP_GOAL_TALLY = {
    .name = "goal.tally",
    .summary = "Count the goals in each state: queued, working, needs you, done …",
    .help = "Example: overseer goal tally",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_MEMBERS(TALLY),
    .request = tally_request,
    .result = tally_result,
};
