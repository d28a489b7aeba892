/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that hands over one task: a goal with a plan of this one task, in one step. */
#include "ops/account/account.h"
#include "ops/all.h"
#include "ops/goal/task_row.h"
#include "ops/repository.h"
#include "ops/scope.h"

enum { TITLE_MOST = 120 };

static const struct field TASK_FIELDS[] = {
    {"text", FIELD_TEXT, 1, FIELD_OF(task_row, text), LIMIT_PROSE, FIELD_REQUIRED, NULL,
     "what should be done, in words for the agent", 0, NULL},
    {"title", FIELD_TEXT, 2, FIELD_OF(task_row, title), LIMIT_TITLE, 0, NULL,
     "one line for lists, branch and commit; default: the first line of the text", 0, NULL},
    {"agent", FIELD_TEXT, 3, FIELD_OF(task_row, agent), LIMIT_AGENT, 0, NULL,
     "the agent that does it; default: any that is free", 0, NULL},
    {"acceptanceCriteria", FIELD_TEXTS, 4, FIELD_OF(task_row, criteria), LIMIT_LINE, 0, NULL,
     "how to tell that it is done", LIMIT_LINES, NULL},
    {"toolsAllow", FIELD_TEXTS, 5, FIELD_OF(task_row, allow), LIMIT_NAME, 0, NULL,
     "the only tools of its agent that it may use", LIMIT_LINES, NULL},
    {"toolsDeny", FIELD_TEXTS, 6, FIELD_OF(task_row, deny), LIMIT_NAME, 0, NULL,
     "tools that it may not use", LIMIT_LINES, NULL},
    {"priority", FIELD_ENUM, 7, FIELD_OF(task_row, priority), 0, 0, &PRIORITY_NAMES,
     "low, normal, high or urgent", 0, NULL},
    {"wants", FIELD_ENUM, 8, FIELD_OF(task_row, wants), 0, 0, &WANTS_NAMES,
     "change, or answer: nothing lands, and nothing is verified", 0, NULL},
};
const struct shape TASK_ROW = SHAPE_OF(task_row, "task_row", 1, TASK_FIELDS);

static struct str title_of(const struct task_row *task) {
    struct str line = task->title.len > 0 ? task->title : task->text;
    const char *end = memchr(line.at, '\n', line.len);
    if (end)
        line.len = (size_t)(end - line.at);
    return str_cut_utf8(line, task->title.len > 0 ? LIMIT_TITLE : TITLE_MOST);
}

void task_signal(struct op_call *call, const struct task_row *task, struct signal *ret) {
    static const char *const DEFAULT[] = {
        [WANTS_CHANGE] = "it is done as asked, and the checks of the repository pass",
        [WANTS_ANSWER] = "the question is answered"};
    struct str criterion = str_of(DEFAULT[task->wants]);
    struct str title = title_of(task);
    struct plan_row row = {.text = {.name = str_cut_utf8(title, LIMIT_NAME),
                                    .objective = task->text,
                                    .criteria = task->criteria,
                                    .agent = task->agent,
                                    .wants = task->wants,
                                    .allow = task->allow,
                                    .deny = task->deny}};
    if (row.text.criteria.count == 0)
        row.text.criteria = (struct texts){&criterion, 1};
    struct plan_text plan = {{&row, 1}};
    ret->kind = SIGNAL_GOAL_CREATE;
    ret->describe.title = title;
    ret->describe.priority = task->priority;
    ret->describe.quota_mark = call->args.quota;
    ret->describe.task = shape_encode(&PLAN_TEXT, &plan, &call->arena);
}

static const struct field PARAMS[] = {PARAM_QUOTA, PARAM_REPO, PARAM_KEY, PARAM_TRACE};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    task_signal(call, &call->args.task, ret);
    return quota_is_kept(call, answer, call->args.task.agent) &&
           repository_take(call, &ret->describe.repository);
}

const struct op OP_TASK_RUN = {
    .name = "task.run",
    .summary = "Hand over one task: an agent starts it as soon as there is room.",
    .help =
        "The task is stored as a whole when the command returns, and is called by the name in the answer, such as T7. "
        "`overseer run` does the same, and starts the daemon if it is not running.\n"
        "Example: overseer task run --text \"fix the failing test\" --agent none --dry-run",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .words = &TASK_ROW,
    .words_offset = offsetof(struct op_args, task),
    .wants_facts = true,
    .wants_repositories = true,
    .request = quota_request,
    .signal = signal,
};
