/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on batches: tasks that are handed over together, such as the list for a night. docs/decisions/0021. */
#include "model/live.h"

#include "ops/account/account.h"
#include "ops/all.h"
#include "ops/goal/task_row.h"
#include "ops/json.h"
#include "ops/repository.h"
#include "ops/view.h"

#include <stdio.h>

#define TAG_PREFIX "batch:"

struct batch_call {
    struct id admission;
    struct task_batch batch; /* what is to be stored */
    uint64_t repository;
    json_t *shown; /* batch.show: the row as JSON, while its tasks are read */
};

/* ---- parameters ---- */

#define PARAM_NAME(flags) \
    PARAM("name", FIELD_TEXT, name, LIMIT_BATCH_NAME, flags, \
          "its name: letters, digits, dots, slashes, - and _")
#define PARAM_JOBS \
    PARAM("jobs", FIELD_U32, jobs, 0, 0, \
          "tasks of it that work at once; 0: as many as there is room for")
#define PARAM_UNTIL \
    PARAM("until", FIELD_TEXT, until, 40, 0, \
          "no task of it is started from then on: a time, or how long: 90m, 8h")

static bool name_is_fit(struct op_call *call) {
    struct str name = call->args.name;
    bool fit = name.len > 0 && name.len <= LIMIT_BATCH_NAME;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        fit = fit && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '.' || c == '/' || c == '-' || c == '_');
    }
    return fit ||
           op_refuse(call, ERROR_INVALID,
                     "\"name\" may have letters, digits, dots, slashes, - and _; at most %d.",
                     LIMIT_BATCH_NAME);
}

static bool until_read(struct op_call *call, int64_t *ret) {
    int64_t span;
    *ret = 0;
    if (call->args.until.len == 0 || time_parse(call->args.until, ret))
        return true;
    if (!span_parse(call->args.until, &span))
        return op_refuse(call, ERROR_INVALID, "\"until\" must be a time or a duration such as 8h.");
    *ret = time_after(call->at, span);
    return true;
}

static bool own_make(struct op_call *call) {
    struct batch_call *own = arena_new(&call->arena, struct batch_call, 1);
    call->own = own;
    own->admission = admission_id(call->facts ? call->facts->host : 0);
    own->batch.most = call->args.jobs;
    if (!name_is_fit(call) || !until_read(call, &own->batch.until))
        return false;
    snprintf(own->batch.name, sizeof own->batch.name, "%.*s", STR_ARG(call->args.name));
    return true;
}

static uint32_t bounds_given(const struct op_call *call) {
    return (op_given(call->params, "jobs") ? BATCH_MOST : 0u) |
           (op_given(call->params, "until") ? BATCH_UNTIL : 0u);
}

/* ---- making ---- */

static void batch_signal(struct op_call *call, uint32_t changes, struct signal *ret) {
    const struct batch_call *own = call->own;
    ret->kind = SIGNAL_BATCH_SET;
    ret->goal = own->admission;
    ret->admission = call->facts->host;
    ret->body = shape_encode(&TASK_BATCH, &own->batch, &call->arena);
    ret->to = changes;
    ret->reason = call->args.reason;
}

/* Checks the arguments, once, and reads the batch as it stands. */
static bool create_request(struct op_call *call, struct store_request *ret) {
    struct batch_call *own = own_make(call) ? call->own : NULL;
    if (!own || !repository_take(call, &own->repository))
        return false;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->admission, .id_count = 1, .limit = 1};
    return true;
}

/* Tasks that are added without an end have that of their batch. */
static int64_t create_until(const struct op_call *call, const struct store_answer *answer) {
    const struct batch_call *own = call->own;
    const struct task_batch *batch =
        answer && answer->loaded[0].exists
            ? task_batches_find(&answer->loaded[0].live.task_batches,
                                task_batch_key(str_of(own->batch.name)))
            : NULL;
    if (op_given(call->params, "until") || !batch || batch->until <= call->at)
        return own->batch.until;
    return batch->until;
}

static uint32_t create_signals(const struct op_call *call) {
    return 1 + call->args.tasks.count;
}

static bool create_signal(struct op_call *call, const struct store_answer *answer,
                          struct signal *ret) {
    const struct batch_call *own = call->own;
    if (call->nth == 0) {
        batch_signal(call, BATCH_MAKE | bounds_given(call), ret);
        return true;
    }
    const struct task_row *tasks = call->args.tasks.at;
    struct str tag = arena_format(&call->arena, TAG_PREFIX "%s", own->batch.name);
    struct tags tags = {{&tag, 1}};
    if (!quota_is_kept(call, answer, tasks[call->nth - 1].agent))
        return false;
    task_signal(call, &tasks[call->nth - 1], ret);
    ret->describe.repository = own->repository;
    ret->describe.tags = shape_encode(&TAGS, &tags, &call->arena);
    ret->describe.batch =
        (struct goal_batch){task_batch_key(str_of(own->batch.name)), create_until(call, answer)};
    return true;
}

static json_t *create_joined(struct op_call *call, json_t *written) {
    const struct batch_call *own = call->own;
    json_array_remove(written, 0);
    json_t *json = json_pack("{s:s, s:i, s:o}", "batch", own->batch.name, "jobs",
                             (int)own->batch.most, "tasks", written);
    json_object_set_new(json, "until", json_of_time(own->batch.until));
    return json;
}

static const struct field CREATE[] = {
    PARAM_NAME(FIELD_REQUIRED),
    {"tasks", FIELD_ROWS, 0, FIELD_OF(op_args, tasks), 0, FIELD_REQUIRED, NULL,
     "the tasks: text, title, agent, acceptanceCriteria, toolsAllow, toolsDeny, priority",
     LIMIT_BATCH_TASKS, &TASK_ROW},
    PARAM_JOBS,
    PARAM_UNTIL,
    PARAM_QUOTA,
    PARAM_REPO,
    PARAM_KEY,
    PARAM_TRACE,
};

static const struct op_member CREATED[] = {
    {"batch", MEMBER_TEXT, true, "its name"},
    {"jobs", MEMBER_NUMBER, true, "tasks that work at once; 0: no cap"},
    {"until", MEMBER_TIME, true, "no task of it is started from then on"},
    {"tasks", MEMBER_LIST, true, "in the order of the request: goalId, name, version, seq"},
};

const struct op OP_BATCH_CREATE = {
    .name = "batch.create",
    .summary = "Hand over several tasks as a batch, or add tasks to one.",
    .help =
        "Everything is stored when the command returns: the terminal may close. A batch that exists gets the tasks in "
        "addition, and new bounds if jobs or until are given; one that has ended begins again. Repeating the request with the same key adds "
        "nothing twice. `overseer run -f FILE` does the same with the list items of a file.\n"
        "Example: overseer batch create tonight --jobs 8 --until 8h --tasks @tasks.json",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(CREATE),
    .positional = 1,
    OP_MEMBERS(CREATED),
    .wants_facts = true,
    .wants_repositories = true,
    .request = create_request,
    .signals = create_signals,
    .signal = create_signal,
    .joined = create_joined,
};

/* ---- changing ---- */

static bool change_request(struct op_call *call, struct store_request *ret) {
    (void)ret;
    own_make(call);
    return false;
}

static bool change_signal(struct op_call *call, const struct store_answer *answer,
                          struct signal *ret) {
    (void)answer;
    uint32_t changes = bounds_given(call);
    if (changes == 0)
        return op_refuse(call, ERROR_INVALID, "Nothing is to be changed: give jobs or until.");
    batch_signal(call, changes, ret);
    return true;
}

static const struct field CHANGE[] = {
    PARAM_NAME(FIELD_REQUIRED), PARAM_JOBS, PARAM_UNTIL, PARAM_REASON(0), PARAM_KEY, PARAM_TRACE,
};

const struct op OP_BATCH_CHANGE = {
    .name = "batch.change",
    .summary = "Change how many tasks of a batch work at once, or until when they are started.",
    .help =
        "Tasks that have been started are not touched. A later end continues a batch that has ended.\n"
        "Example: overseer batch change tonight --jobs 4 --until 2h",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(CHANGE),
    .positional = 1,
    .wants_facts = true,
    .request = change_request,
    .signal = change_signal,
};

static bool hold_signal(struct op_call *call, const struct store_answer *answer,
                        struct signal *ret) {
    (void)answer;
    struct batch_call *own = call->own;
    own->batch.held = call->op->to;
    batch_signal(call, BATCH_HELD, ret);
    return true;
}

static const struct field HOLD[] = {PARAM_NAME(FIELD_REQUIRED), PARAM_REASON(0), PARAM_KEY,
                                    PARAM_TRACE};

const struct op OP_BATCH_HOLD = {
    .name = "batch.hold",
    .summary = "Start no more tasks of a batch; those at work finish.",
    .help = "Example: overseer batch hold tonight",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(HOLD),
    .positional = 1,
    .to = 1,
    .wants_facts = true,
    .request = change_request,
    .signal = hold_signal,
};

const struct op OP_BATCH_RELEASE = {
    .name = "batch.release",
    .summary = "Start tasks of a batch again that was held.",
    .help = "Example: overseer batch release tonight",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(HOLD),
    .positional = 1,
    .to = 0,
    .wants_facts = true,
    .request = change_request,
    .signal = hold_signal,
};

/* ---- showing ---- */

static uint32_t permits_count(const struct live *live, uint64_t batch, enum permit_state state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < live->permits.count; i++)
        count += live->permits.at[i].batch == batch && live->permits.at[i].state == state;
    return count;
}

static const char *batch_state(const struct task_batch *batch, int64_t now) {
    bool over = batch->ended || (batch->until > 0 && batch->until <= now);
    return over ? "ended" : batch->held ? "held" : "open";
}

static json_t *batch_json(const struct op_call *call, const struct live *live,
                          const struct task_batch *batch) {
    json_t *json = json_pack("{s:s, s:s, s:i, s:i, s:i}", "batch", batch->name, "state",
                             batch_state(batch, call->at), "jobs", (int)batch->most, "working",
                             (int)permits_count(live, batch->key, PERMIT_GRANTED), "waiting",
                             (int)permits_count(live, batch->key, PERMIT_WAITING));
    json_object_set_new(json, "until", json_of_time(batch->until));
    json_object_set_new(json, "madeAt", json_of_time(batch->made_at));
    return json;
}

static bool list_request(struct op_call *call, struct store_request *ret) {
    struct batch_call *own = arena_new(&call->arena, struct batch_call, 1);
    call->own = own;
    own->admission = admission_id(call->facts ? call->facts->host : 0);
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->admission, .id_count = 1, .limit = 1};
    return true;
}

static json_t *list_result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    json_ran_short();
    if (loaded->exists && !view_is_whole(call, answer))
        return NULL;
    json_t *list = json_array();
    for (uint32_t i = 0; i < loaded->live.task_batches.count; i++)
        json_array_append_new(list,
                              batch_json(call, &loaded->live, &loaded->live.task_batches.at[i]));
    return view_checked(call, json_pack("{s:o}", "batches", list));
}

static const struct op_member LISTED[] = {
    {"batches", MEMBER_LIST, true,
     "batch (its name), state (open, held, ended), jobs, working, waiting (to be started), until, madeAt"},
};

const struct op OP_BATCH_LIST = {
    .name = "batch.list",
    .summary = "List the batches of tasks that this host knows.",
    .help = "Example: overseer batch list",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_MEMBERS(LISTED),
    .wants_facts = true,
    .request = list_request,
    .result = list_result,
};

static bool show_batch_request(struct op_call *call, struct store_request *ret) {
    if (!own_make(call))
        return false;
    struct batch_call *own = call->own;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->admission, .id_count = 1, .limit = 1};
    return true;
}

static bool show_next(struct op_call *call, const struct store_answer *answer,
                      struct store_request *ret) {
    struct batch_call *own = call->own;
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (call->asked > 0)
        return false;
    const struct task_batch *batch =
        task_batches_find(&loaded->live.task_batches, task_batch_key(str_of(own->batch.name)));
    if (!loaded->exists || !batch)
        return op_refuse(call, ERROR_NOT_FOUND, "No batch is called %s.", own->batch.name);
    own->shown = batch_json(call, &loaded->live, batch);
    ret->verb = STORE_LIST;
    ret->limit = LIMIT_LIST_PAGE;
    ret->filter.tag = arena_format(&call->arena, TAG_PREFIX "%s", own->batch.name);
    return true;
}

static json_t *show_result(struct op_call *call, const struct store_answer *answer) {
    struct batch_call *own = call->own;
    json_t *tasks = json_array(), *json = own->shown;
    own->shown = NULL;
    json_ran_short();
    for (uint32_t i = answer->view_count; i-- > 0;) { /* the oldest first: the order of the list */
        json_t *task = goal_view_json(&answer->views[i]);
        repository_put(call, task, (uint64_t)answer->views[i].repository);
        json_array_append_new(tasks, task);
    }
    json_object_set_new(json, "tasks", tasks);
    json_object_set_new(json, "more", json_boolean(answer->more));
    return view_checked(call, json);
}

static void show_close(struct op_call *call) {
    struct batch_call *own = call->own;
    if (own)
        json_decref(own->shown);
}

static const struct field SHOW[] = {PARAM_NAME(FIELD_REQUIRED)};

static const struct op_member SHOWN[] = {
    {"batch", MEMBER_TEXT, true, "its name"},
    {"state", MEMBER_TEXT, true, "open, held or ended"},
    {"jobs", MEMBER_NUMBER, true, "tasks that work at once; 0: no cap"},
    {"working", MEMBER_NUMBER, true, "tasks that have a place"},
    {"waiting", MEMBER_NUMBER, true, "tasks that wait for one"},
    {"until", MEMBER_TIME, true, "no task of it is started from then on"},
    {"madeAt", MEMBER_TIME, true, "when it was made"},
    {"tasks", MEMBER_LIST, true,
     "the newest 200, in the order of their creation: goalId, name, title, state, status, percent, repo …"},
    {"more", MEMBER_FLAG, true, "it has more tasks: see goal.list with its tag"},
};

const struct op OP_BATCH_SHOW = {
    .name = "batch.show",
    .summary = "Show a batch and the state of its tasks.",
    .help = "Example: overseer batch show tonight",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(SHOW),
    .positional = 1,
    OP_MEMBERS(SHOWN),
    .wants_facts = true,
    .wants_repositories = true,
    .request = show_batch_request,
    .next = show_next,
    .result = show_result,
    .close = show_close,
};
