/* SPDX-License-Identifier: Apache-2.0 */
/* How do things stand? The first thing that people ask in the morning. CLI-01, API-01
 *
 * Several answers, one after the other: how many goals have which face, a page of those that are at work, done and
 * paused, then what waits for a person. Nothing is counted. */
#include "ops/all.h"
#include "ops/asking.h"
#include "ops/json.h"
#include "ops/place.h"

static const struct field PARAMS[] = {
    PARAM("since", FIELD_TEXT, since, 40, 0,
          "what was done since this time, or 90s, 15m, 2h, 3d ago; 24h if not said"),
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many of each, at most 100; 20 if not said"),
};

static const struct op_member MEMBERS[] = {
    {"at", MEMBER_TIME, true, "when it was asked"},
    {"since", MEMBER_TIME, true, "what is done is shown from then on"},
    {"tally", MEMBER_OBJECT, true, "how many goals are in each state"},
    {"needsYou", MEMBER_LIST, true, "as inbox.list shows them, oldest first"},
    {"failed", MEMBER_LIST, true, "those of them whose command failed"},
    {"working", MEMBER_LIST, true,
     "goals that are being worked on; agents says by whom, and how it goes with them"},
    {"done", MEMBER_LIST, true,
     "goals that were done since then, the newest first; proof says what that rests on, landed where it is"},
    {"paused", MEMBER_LIST, true, "goals that are paused"},
    {"lostHosts", MEMBER_LIST, true,
     "hosts that are lost while tasks of the goals shown wait for their agents to be frozen: host, tasks, since, until"},
    {"waits", MEMBER_LIST, true,
     "what this host waits for: what, since, goalId if it is for a goal, running or not yet begun"},
    {"daemon", MEMBER_OBJECT, true,
     "version, host, epoch, era, joined, safeMode, stopped, trouble, startedAt, store; clockStep (seconds, at) if the clock stepped within a day"},
};

/* The lists, in the order in which they are asked for. */
static const struct {
    enum face face;
    const char *name;
} LISTS[] = {{FACE_WORKING, "working"}, {FACE_DONE, "done"}, {FACE_PAUSED, "paused"}};

struct gathering {
    int64_t since;
    uint32_t limit, asked;
    uint32_t looked; /* of those that are done, and of those at work, looked into so far */
    struct id at;
    struct asking asking;
};

static bool request(struct op_call *call, struct store_request *ret_request) {
    struct gathering *it = arena_new(&call->arena, struct gathering, 1);
    call->own = it;
    it->limit =
        call->args.limit && call->args.limit <= ASKING_SHOWN ? call->args.limit : ASKING_DEFAULT;
    it->since = call->at - MINUTES(1440);
    if (call->args.since.len > 0 && !since_parse(call->args.since, call->at, &it->since))
        op_refuse(call, ERROR_INVALID, "\"since\" is not a time, nor such as 2h.");
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
    for (uint32_t face = 0; face < FACES; face++)
        json_object_set_new(tally, name_of(&FACE_NAMES, face), json_integer(answer->tally[face]));
    call->result = json_pack("{s:o, s:o, s:o, s:[], s:[], s:[], s:[], s:[], s:[]}", "at",
                             time_json(call->at), "since", time_json(it->since), "tally", tally,
                             "needsYou", "failed", "working", "done", "paused", "lostHosts");
}

static void list_take(struct op_call *call, const struct store_answer *answer) {
    const struct gathering *it = call->own;
    uint32_t list = it->asked - 1;
    json_t *goals = json_object_get(call->result, LISTS[list].name);
    for (uint32_t i = 0; i < answer->view_count && json_array_size(goals) < it->limit; i++)
        if (LISTS[list].face != FACE_DONE || answer->views[i].updated_at >= it->since)
            json_array_append_new(goals, goal_view_json(&answer->views[i]));
}

static void list_ask(const struct gathering *it, struct store_request *request) {
    enum face face = LISTS[it->asked].face;
    *request = (struct store_request){.verb = STORE_LIST,
                                      .limit = face == FACE_DONE ? LIMIT_LIST_PAGE : it->limit};
    request->filter.by_face = true;
    request->filter.face = face;
}

/* Those that are done, then those at work. */
static json_t *goal_at(const struct op_call *call, uint32_t n, bool *ret_done) {
    const json_t *done = json_object_get(call->result, "done");
    *ret_done = n < json_array_size(done);
    return *ret_done ? json_array_get(done, n)
                     : json_array_get(json_object_get(call->result, "working"),
                                      n - json_array_size(done));
}

/* Promise 3: what each of those that are done rests on, where it is, and what it cost. */
static void proof_take(struct op_call *call, const struct store_answer *answer, json_t *goal) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    proof_put(goal, loaded, &answer->shown, &call->arena);
    json_object_set_new(goal, "cost", json_integer((json_int_t)loaded->goal.cost));
    json_object_set_new(goal, "tokens", json_integer((json_int_t)loaded->goal.tokens));
}

/* What its process said before it ended; empty: it stalls for another reason. */
static struct str end_told(const struct goal_shown *shown) {
    static const struct str ENDS[] = {
        {"agent.exited", 12}, {"agent.failed", 12}, {"dispatch.failed", 15}};
    struct evidence evidence;
    record_newest(shown, RECORD_CHARGE_STALLED, (struct str){0}, &evidence);
    for (size_t i = 0; i < count_of(ENDS); i++)
        if (str_equal(evidence.rule, ENDS[i]))
            return str_cut_utf8(evidence.text, LIMIT_NAME);
    return (struct str){0};
}

/* Who works on it, and does it? An agent that stalls is not one that works. */
static void agents_take(const struct goal_loaded *loaded, const struct goal_shown *shown,
                        json_t *goal, struct arena *arena) {
    const struct charges *charges = &loaded->live.charges;
    bool stalled = false;
    struct writer text = {.arena = arena};
    for (uint32_t i = 0; i < charges->count && text.len < LIMIT_NAME; i++)
        write_raw(&text, arena_format(arena, "%s%s %s", i ? ", " : "", charges->at[i].agent,
                                      name_of(&CHARGE_STATUS_NAMES, charges->at[i].status)));
    for (uint32_t i = 0; i < charges->count; i++)
        stalled = stalled || charges->at[i].status == CHARGE_STALLED;
    struct str end = stalled ? end_told(shown) : (struct str){0};
    if (end.len > 0)
        write_raw(&text, arena_format(arena, ": %.*s", STR_ARG(end)));
    json_object_set_new(goal, "agents", json_stringn(text.at ? text.at : "", text.len));
}

/* P10: what waits until the agents of a lost host are certainly frozen, host by host. */
static void lost_take(struct op_call *call, const struct goal_loaded *loaded) {
    json_t *hosts = json_object_get(call->result, "lostHosts");
    for (uint32_t i = 0; i < loaded->live.plan.count; i++) {
        const struct node *node = &loaded->live.plan.nodes[i];
        if (node->alone_at <= call->at || node_is_over(node) || node->retired)
            continue;
        json_t *row = NULL, *found;
        size_t k;
        json_array_foreach(hosts, k, found) {
            if (json_integer_value(json_object_get(found, "host")) == (json_int_t)node->run_host)
                row = found;
        }
        if (!row) {
            row = json_pack("{s:i, s:i, s:o}", "host", (int)node->run_host, "tasks", 0, "since",
                            time_json(node->alone_at - node->orphan_after));
            json_array_append_new(hosts, row);
        }
        json_t *tasks = json_object_get(row, "tasks");
        json_integer_set(tasks, json_integer_value(tasks) + 1);
        json_object_set_new(row, "until", time_json(node->alone_at));
    }
}

static void look_take(struct op_call *call, const struct store_answer *answer) {
    const struct gathering *it = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    bool done;
    json_t *goal = goal_at(call, it->looked - 1, &done);
    if (!loaded->exists || !loaded->whole)
        return;
    if (!done)
        lost_take(call, loaded);
    if (done)
        proof_take(call, answer, goal);
    else
        agents_take(loaded, &answer->shown, goal, &call->arena);
}

static bool look_ask(struct op_call *call, struct store_request *request) {
    struct gathering *it = call->own;
    bool done;
    const json_t *goal = goal_at(call, it->looked, &done);
    const char *id = json_string_value(json_object_get(goal, "goalId"));
    if (!id || !goal_id_parse(str_of(id), &it->at))
        return false;
    it->looked++;
    enum record_type type = done ? RECORD_GOAL_COMPLETED : RECORD_CHARGE_STALLED;
    *request = (struct store_request){.verb = STORE_SHOW,
                                      .ids = &it->at,
                                      .id_count = 1,
                                      .limit = 1,
                                      .first_type = type,
                                      .last_type = type};
    return true;
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    struct gathering *it = call->own;
    if (!call->result)
        begin(call, answer);
    else if (it->looked > 0 && it->asked == count_of(LISTS))
        look_take(call, answer);
    else if (it->asked <= count_of(LISTS))
        list_take(call, answer);
    if (it->asked < count_of(LISTS)) {
        list_ask(it, ret_request);
        it->asked++;
        return true;
    }
    if (it->asked == count_of(LISTS) && look_ask(call, ret_request))
        return true;
    if (it->asked++ == count_of(LISTS)) {
        asking_begin(&it->asking, it->limit, call, ret_request);
        return true;
    }
    return asking_next(&it->asking, json_object_get(call->result, "needsYou"), answer, ret_request);
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

/* H6: a remote that does not answer is no mystery. */
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
    .summary = "Show how things stand: what needs you, what failed, what is at work, what is done.",
    .help = "Example: overseer status\n"
            "Example: overseer status --since 8h",
    .kind = OP_READS,
    .may = MAY_LOOK,
    .wants_facts = true,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .members = MEMBERS,
    .member_count = count_of(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
};
