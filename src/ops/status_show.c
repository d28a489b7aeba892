/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that shows the overall status: what people ask first in the morning. CLI-01, API-01
 *
 * It takes several answers of the store in sequence: the number of goals in each display state; a page each of goals at
 * work, of goals that ended since the given time, newest end first, and of paused goals; then the details of each of
 * them, several at a time; then what waits for a person. Only ends since a time are counted, along their index. */
#include "ops/account/account.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/place.h"
#include "ops/question/asking.h"
#include "ops/repository.h"
#include "store/rows.h"

#include <stdlib.h>

static const struct field PARAMS[] = {
    PARAM("since", FIELD_TEXT, since, 40, 0,
          "show what was done since this time, or 90s, 15m, 2h, 3d ago; default: 24h"),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many of each, at most 100; default: 20"),
};

static const struct op_member MEMBERS[] = {
    {"at", MEMBER_TIME, true, "when the request was answered"},
    {"since", MEMBER_TIME, true, "start of the period for goals that are done"},
    {"tally", MEMBER_OBJECT, true, "how many goals are in each state"},
    {"needsYou", MEMBER_LIST, true, "entries as in inbox.list, oldest first"},
    {"failed", MEMBER_LIST, true, "the entries whose command failed"},
    {"working", MEMBER_LIST, true,
     "goals that are being worked on; `agents` has their agents and the state of each"},
    {"done", MEMBER_LIST, true,
     "goals that were done in the period, newest first; `proof` is the evidence, `landed` the place"},
    {"doneCount", MEMBER_NUMBER, true, "how many were done in the period, in total"},
    {"paused", MEMBER_LIST, true, "goals that are paused"},
    {"lostHosts", MEMBER_LIST, true,
     "lost hosts whose agents must be frozen before tasks of the shown goals start elsewhere: host, tasks, since, until"},
    {"waits", MEMBER_LIST, true,
     "operations that this host waits for: what, since, goalId if it is for a goal, running or not yet started"},
    {"accounts", MEMBER_LIST, true,
     "accounts of agents, as account.list gives them, without logins"},
    {"targets", MEMBER_LIST, false,
     "for each repository whose target was checked: repository, commit, passes; since: the first commit that failed"},
    {"storeWarning", MEMBER_TEXT, false,
     "risks of the store's configuration that could lose acknowledged writes"},
    {"daemon", MEMBER_OBJECT, true,
     "version, host, epoch, era, joined, safeMode, stopped, trouble, startedAt, store; clockStep (seconds, at) if the clock stepped within a day"},
};

/* The lists, in the order in which they are requested. */
static const struct {
    enum display_state display_state;
    const char *name;
} LISTS[] = {{DISPLAY_WORKING, "working"}, {DISPLAY_DONE, "done"}, {DISPLAY_PAUSED, "paused"}};

/* The lists with details, and the type of record that these need. */
static const struct {
    const char *name;
    enum record_type type;
    bool done;
} BRIEFS[] = {{"done", RECORD_GOAL_COMPLETED, true}, {"working", RECORD_ASSIGNMENT_STALLED, false}};

static const char UNGUARDED[] =
    "commits wait for no standby (synchronous_standby_names is empty): a failover can lose acknowledged writes";

struct gathering {
    int64_t since;
    uint32_t limit, asked;
    uint32_t list, first;        /* in BRIEFS: the goals requested last */
    struct id page[LIMIT_BRIEF]; /* in key order */
    uint32_t page_count;
    bool accounts; /* they were requested last */
    struct id admission;
    bool asks;
    struct asking asking;
};

static bool request(struct op_call *call, struct store_request *ret_request) {
    struct gathering *it = arena_new(&call->arena, struct gathering, 1);
    call->own = it;
    it->limit =
        call->args.limit && call->args.limit <= ASKING_SHOWN ? call->args.limit : ASKING_DEFAULT;
    it->since = call->at - MINUTES(1440);
    if (call->args.since.len > 0 && !since_parse(call->args.since, call->at, &it->since))
        op_refuse(call, ERROR_INVALID, "\"since\" must be a time or a duration such as 2h.");
    if (it->since == 0)
        it->since = 1; /* 0 would mean any end time */
    ret_request->verb = STORE_TALLY;
    return true;
}

static json_t *time_json(int64_t at) {
    char text[TIME_TEXT + 1];
    time_format(at, text);
    return json_string(text);
}

static void begin(struct op_call *call, const struct store_answer *answer) {
    const struct gathering *it = call->own;
    json_t *tally = json_object();
    json_ran_short();
    for (uint32_t display_state = 0; display_state < DISPLAY_STATES; display_state++)
        json_object_set_new(tally, name_of(&DISPLAY_STATE_NAMES, display_state),
                            json_integer(answer->tally[display_state]));
    call->result = json_pack("{s:o, s:o, s:o, s:[], s:[], s:[], s:[], s:[], s:[]}", "at",
                             time_json(call->at), "since", time_json(it->since), "tally", tally,
                             "needsYou", "failed", "working", "done", "paused", "lostHosts");
    if (answer->unguarded)
        json_object_set_new(call->result, "storeWarning", json_string(UNGUARDED));
}

static void list_take(struct op_call *call, const struct store_answer *answer) {
    const struct gathering *it = call->own;
    uint32_t list = it->asked - 1;
    bool done = LISTS[list].display_state == DISPLAY_DONE;
    json_t *goals = json_object_get(call->result, LISTS[list].name);
    for (uint32_t i = 0; i < answer->view_count && json_array_size(goals) < it->limit; i++) {
        json_t *goal = goal_view_json(&answer->views[i]);
        repository_put(call, goal, (uint64_t)answer->views[i].repository);
        if (done)
            json_object_set_new(goal, "endedAt", time_json(answer->views[i].ended_at));
        json_array_append_new(goals, goal);
    }
    if (done)
        json_object_set_new(call->result, "doneCount", json_integer(answer->list_count));
}

static void list_ask(const struct gathering *it, struct store_request *request) {
    enum display_state display_state = LISTS[it->asked].display_state;
    *request = (struct store_request){.verb = STORE_LIST, .limit = it->limit};
    request->filter.by_display_state = true;
    request->filter.display_state = display_state;
    if (display_state == DISPLAY_DONE)
        request->filter.ended_since = it->since;
}

/* Promise 3: what the status done of each goal is based on, where the work landed, and what it cost. */
static void proof_take(struct op_call *call, const struct goal_loaded *loaded,
                       const struct goal_shown *shown, json_t *goal) {
    proof_put(goal, loaded, shown, &call->arena);
    json_object_set_new(goal, "cost", json_integer((json_int_t)loaded->goal.spent.cost));
    json_object_set_new(goal, "tokens", json_integer((json_int_t)loaded->goal.spent.tokens));
}

/* The last output of its process before it ended; empty: it stalled for another reason. */
static struct str end_text(const struct goal_shown *shown) {
    static const struct str ENDS[] = {
        {"agent.exited", 12}, {"agent.failed", 12}, {"dispatch.failed", 15}};
    struct evidence evidence;
    record_newest(shown, RECORD_ASSIGNMENT_STALLED, (struct str){0}, &evidence);
    for (size_t i = 0; i < count_of(ENDS); i++)
        if (str_equal(evidence.rule, ENDS[i]))
            return str_cut_utf8(evidence.text, LIMIT_NAME);
    return (struct str){0};
}

/* The agents of the goal with their status: an agent that stalls is not shown as working. */
static void agents_take(const struct goal_loaded *loaded, const struct goal_shown *shown,
                        json_t *goal, struct arena *arena) {
    const struct assignments *assignments = &loaded->live.assignments;
    bool stalled = false;
    struct writer text = {.arena = arena};
    for (uint32_t i = 0; i < assignments->count && text.len < LIMIT_NAME; i++)
        write_raw(&text,
                  arena_format(arena, "%s%s %s", i ? ", " : "", assignments->at[i].agent,
                               name_of(&ASSIGNMENT_STATUS_NAMES, assignments->at[i].status)));
    for (uint32_t i = 0; i < assignments->count; i++)
        stalled = stalled || assignments->at[i].status == ASSIGNMENT_STALLED;
    struct str end = stalled ? end_text(shown) : (struct str){0};
    if (end.len > 0)
        write_raw(&text, arena_format(arena, ": %.*s", STR_ARG(end)));
    json_object_set_new(goal, "agents", json_stringn(text.at ? text.at : "", text.len));
}

/* P10: tasks that wait until the agents of a lost host are certainly frozen, host by host. */
static void lost_take(struct op_call *call, const struct goal_loaded *loaded) {
    json_t *hosts = json_object_get(call->result, "lostHosts");
    for (uint32_t i = 0; i < loaded->live.plan.count; i++) {
        const struct node *node = &loaded->live.plan.nodes[i];
        if (node->run.alone_at <= call->at || node_is_over(node) || node->retired)
            continue;
        json_t *row = NULL, *found;
        size_t k;
        json_array_foreach(hosts, k, found) {
            if (json_integer_value(json_object_get(found, "host")) == (json_int_t)node->run.host)
                row = found;
        }
        if (!row) {
            row = json_pack("{s:i, s:i, s:o}", "host", (int)node->run.host, "tasks", 0, "since",
                            time_json(node->run.alone_at - node->run.orphan_after));
            json_array_append_new(hosts, row);
        }
        json_t *tasks = json_object_get(row, "tasks");
        json_integer_set(tasks, json_integer_value(tasks) + 1);
        json_object_set_new(row, "until", time_json(node->run.alone_at));
    }
}

static void brief_take(struct op_call *call, const struct goal_loaded *loaded,
                       const struct goal_shown *shown, bool done, json_t *goal) {
    if (!loaded->exists || !loaded->whole)
        return;
    if (done) {
        proof_take(call, loaded, shown, goal);
    } else {
        lost_take(call, loaded);
        agents_take(loaded, shown, goal, &call->arena);
    }
}

static bool id_at(const json_t *goals, uint32_t n, struct id *ret) {
    const char *id = json_string_value(json_object_get(json_array_get(goals, n), "goalId"));
    return id && goal_id_parse(str_of(id), ret);
}

static void page_take(struct op_call *call, const struct store_answer *answer) {
    const struct gathering *it = call->own;
    const json_t *goals = json_object_get(call->result, BRIEFS[it->list].name);
    for (uint32_t n = it->first; n < it->first + it->page_count; n++) {
        struct id id;
        int64_t place = id_at(goals, n, &id) ? id_place(it->page, it->page_count, id) : -1;
        if (place >= 0)
            brief_take(call, &answer->loaded[place], &answer->briefs[place], BRIEFS[it->list].done,
                       json_array_get(goals, n));
    }
}

/* The next goals of a list, or the first ones of the next list. */
static bool page_ask(struct op_call *call, struct store_request *request) {
    struct gathering *it = call->own;
    it->first += it->page_count;
    it->page_count = 0;
    for (; it->list < count_of(BRIEFS); it->list++, it->first = 0) {
        const json_t *goals = json_object_get(call->result, BRIEFS[it->list].name);
        while (it->page_count < LIMIT_BRIEF &&
               id_at(goals, it->first + it->page_count, &it->page[it->page_count]))
            it->page_count++;
        if (it->page_count == 0)
            continue;
        ids_sort(it->page, it->page_count);
        *request = (struct store_request){.verb = STORE_BRIEF,
                                          .ids = it->page,
                                          .id_count = it->page_count,
                                          .limit = 1,
                                          .first_type = BRIEFS[it->list].type,
                                          .last_type = BRIEFS[it->list].type};
        return true;
    }
    return false;
}

static bool accounts_ask(struct op_call *call, struct store_request *ret_request) {
    struct gathering *it = call->own;
    it->accounts = true;
    it->admission = admission_id(call->facts ? call->facts->host : 0);
    *ret_request = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->admission, .id_count = 1, .limit = 1};
    return true;
}

static void accounts_take(struct op_call *call, const struct store_answer *answer) {
    struct gathering *it = call->own;
    it->accounts = false;
    json_object_set_new(call->result, "accounts", accounts_shown(call, &answer->loaded[0].live));
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    struct gathering *it = call->own;
    if (it->asks)
        return asking_next(&it->asking, json_object_get(call->result, "needsYou"), answer,
                           ret_request);
    if (!call->result) {
        begin(call, answer);
        return accounts_ask(call, ret_request);
    }
    if (it->accounts)
        accounts_take(call, answer);
    else if (it->page_count > 0)
        page_take(call, answer);
    else
        list_take(call, answer);
    if (it->asked < count_of(LISTS)) {
        list_ask(it, ret_request);
        it->asked++;
        return true;
    }
    if (page_ask(call, ret_request))
        return true;
    it->asks = true;
    asking_begin(&it->asking, it->limit, call, ret_request);
    return true;
}

static json_t *daemon_json(const struct op_facts *facts) {
    json_t *step = NULL;
    if (facts->clock_step_at > 0)
        step = json_pack("{s:f, s:o}", "seconds", (double)facts->clock_step_by / 1e6, "at",
                         time_json(facts->clock_step_at));
    return json_pack("{s:s, s:i, s:I, s:I, s:b, s:b, s:b, s:s, s:o, s:s, s:o*}", "version",
                     OVERSEER_VERSION, "host", (int)facts->host, "epoch", (json_int_t)facts->epoch,
                     "era", (json_int_t)facts->era, "joined", facts->joined, "safeMode",
                     facts->safe, "stopped", facts->stopped, "trouble", facts->trouble, "startedAt",
                     time_json(facts->started_at), "store", facts->engine, "clockStep", step);
}

/* H6: shows that a remote does not answer, and what waits for it. */
static json_t *waits_json(const struct op_facts *facts) {
    json_t *list = json_array();
    for (unsigned i = 0; facts && i < facts->wait_count; i++) {
        const struct op_wait *wait = &facts->waits[i];
        char goal[GOAL_ID_TEXT + 1];
        json_t *one = json_pack("{s:s, s:o, s:b}", "what", wait->what, "since",
                                time_json(wait->since), "running", wait->running);
        goal_id_format(wait->goal, goal);
        if (!id_equal(wait->goal, (struct id){0}))
            json_object_set_new(one, "goalId", json_string(goal));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    (void)answer;
    size_t i;
    json_t *json = call->result, *item, *waiting = json_object_get(json, "needsYou"),
           *failed = json_object_get(json, "failed");
    call->result = NULL;
    asking_sort(waiting);
    json_array_foreach(waiting, i, item) {
        const char *kind = json_string_value(json_object_get(item, "kind"));
        if (kind && strcmp(kind, name_of(&ASKS_NAMES, ASKS_FAILED)) == 0)
            json_array_append(failed, item);
    }
    json_object_set_new(json, "waits", waits_json(call->facts));
    if (call->facts)
        json_object_set_new(json, "daemon", daemon_json(call->facts));
    return view_checked(call, json);
}

const struct op OP_STATUS_SHOW = {
    .name = "status.show",
    .also = "status",
    .summary =
        "Show the current state: what needs you, what failed, what is working, what is done.",
    .help = "Example: overseer status\n"
            "Example: overseer status --since 8h",
    .kind = OP_READS,
    .may = MAY_LOOK,
    .wants_facts = true,
    .wants_repositories = true,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
};
