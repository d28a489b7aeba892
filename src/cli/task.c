/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about one task: show its work, send it a message, land it, send it back, start it again. */
#include "cli/task.h"

#include "cli/adopt/attach.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/run.h"
#include "cli/shown.h"
#include "model/assignment.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { AGAIN_MS = 500 };

/* ---- finding the task ---- */

bool task_is_node(const char *what) {
    uint64_t number;
    if (task_name_parse(str_of(what), &number)) /* also t7 */
        return true;
    return (*what == 'T' || *what == 'S' || *what == 'P') && isdigit((unsigned char)what[1]) &&
           strlen(what) < 16 && strspn(what + 1, "0123456789.") == strlen(what + 1);
}

/* Is it the whole id of a goal, or a long enough beginning of one? */
static bool is_goal(const char *what) {
    const char *plain = strncmp(what, "goal_", 5) == 0 ? what + 5 : what;
    size_t length = strlen(plain);
    return length >= 8 && length <= ID_TEXT &&
           strspn(plain, "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz") == length;
}

static bool is_question(const char *what) {
    struct question_name name;
    return question_name_parse(str_of(what), &name);
}

bool task_find(struct typed *typed, const char *what, struct task_meant *ret) {
    json_t *why = typed_ask(typed, "why.show", json_pack("{s:s, s:i}", "of", what, "limit", 1));
    if (!why)
        return false;
    snprintf(ret->goal, sizeof ret->goal, "%s", text_of(why, "goalId"));
    snprintf(ret->node, sizeof ret->node, "%s", text_of(why, "node"));
    snprintf(ret->title, sizeof ret->title, "%s", text_of(why, "title"));
    snprintf(ret->state, sizeof ret->state, "%s", text_of(why, "state"));
    json_decref(why);
    return true;
}

/* Replaces the typed value of this parameter by the whole id of the goal. */
bool task_goal_settle(struct typed *typed, const char *name) {
    struct task_meant task;
    const char *what = typed_text(typed, name);
    if (!what || !task_is_node(what))
        return true;
    if (!task_find(typed, what, &task))
        return false;
    return json_object_set_new(typed->params, name, json_string(task.goal)) == 0;
}

int diff_run(struct typed *typed) {
    return task_goal_settle(typed, "goal") ? op_run(typed)
                                           : trouble_tell(&typed->trouble, typed->as_json);
}

/* ---- what the agent says ---- */

static void page_show(const struct typed *typed, const json_t *page) {
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(page, "lines"), i, line) {
        if (typed->as_json) {
            json_dumpf(line, stdout, JSON_COMPACT);
            printf("\n");
        } else
            print_work_line(line);
    }
    fflush(stdout);
}

/* Begins with the newest page; a new attempt is shown from its beginning. */
static int follow(struct typed *typed) {
    char run[64] = "";
    long long from = 0;
    for (bool first = true;; first = false) {
        json_t *params =
            json_pack("{s:s, s:I}", "goal", typed_text(typed, "goal"), "from", (json_int_t)from);
        if (first)
            json_object_set_new(params, "last", json_true());
        json_t *page = typed_ask(typed, "work.log", params);
        if (!page)
            return trouble_tell(&typed->trouble, typed->as_json);
        bool another = !first && strcmp(run, text_of(page, "runId")) != 0;
        snprintf(run, sizeof run, "%s", text_of(page, "runId"));
        if (!another)
            page_show(typed, page);
        bool over = flag_of(page, "over") && !flag_of(page, "more") && !another;
        from = another ? 0 : number_of(page, "next");
        bool more = flag_of(page, "more") || another;
        json_decref(page);
        if (over || ferror(stdout))
            return 0;
        if (!more)
            usleep(AGAIN_MS * 1000);
    }
}

int logs_run(struct typed *typed) {
    bool follows = typed_flag(typed, "follow");
    if (!typed_text(typed, "goal"))
        return op_run(typed);
    if (!task_goal_settle(typed, "goal"))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (follows)
        return follow(typed);
    if (!json_object_get(typed->params, "from"))
        json_object_set_new(typed->params, "last", json_true());
    return op_run(typed);
}

/* Explains why there is only text. */
static void attach_hint(const char *agent) {
    if (str_begins(str_of(agent), STR(ADOPTED_PANE)))
        hint("It is an adopted session in your own terminal. To go there: tmux attach -t '%s'\n"
             "Its output follows; Ctrl-C leaves.",
             agent + strlen(ADOPTED_PANE));
    else if (agent_is_adopted(str_of(agent)))
        hint("It is an adopted session in your own terminal. Its output follows; Ctrl-C leaves.");
    else
        hint(
            "It has no terminal; its output follows. `overseer tell` sends it a message; Ctrl-C leaves.");
}

/* Attaches to the agent's terminal; if it has none, follows its text. */
int attach_run(struct typed *typed) {
    char tmux[PATH_MAX], bwrap[PATH_MAX], terminal[PATH_MAX], agent[LIMIT_AGENT + 1];
    if (!typed_text(typed, "goal"))
        return op_run(typed);
    if (!task_goal_settle(typed, "goal"))
        return trouble_tell(&typed->trouble, typed->as_json);
    json_t *page = typed_ask(typed, "work.log",
                             json_pack("{s:s, s:b}", "goal", typed_text(typed, "goal"), "last", 1));
    if (!page)
        return trouble_tell(&typed->trouble, typed->as_json);
    snprintf(terminal, sizeof terminal, "%s", text_of(page, "terminal"));
    snprintf(agent, sizeof agent, "%s", text_of(page, "agentId"));
    json_decref(page);
    if (!*agent) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "No agent works on it yet.");
        trouble_next(&typed->trouble, "See: overseer why %s", typed_text(typed, "goal"));
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    if (!*terminal || typed->at.url || !isatty(STDIN_FILENO) || !program_find("tmux", tmux)) {
        if (!typed->as_json)
            attach_hint(agent);
        return follow(typed);
    }
    if (program_find("bwrap", bwrap)) {
        int status = attach_boxed(bwrap, tmux, terminal);
        if (status >= 0)
            return status;
    } else {
        unsetenv("TMUX");
        execl(tmux, "tmux", "-S", terminal, "attach-session", (char *)NULL);
    }
    trouble_make(&typed->trouble, ERROR_INTERNAL, "tmux cannot be started.");
    return trouble_tell(&typed->trouble, typed->as_json);
}

/* ---- what is sent to the agent ---- */

/* The open question of this kind about that goal; NULL: there is none. The caller releases it. */
static json_t *question_of(struct typed *typed, const struct task_meant *task, const char *kind) {
    json_t *inbox = typed_ask(typed, "inbox.list", json_pack("{s:i}", "limit", 100)), *item,
           *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(inbox, "items"), i, item) {
        bool same =
            strcmp(text_of(item, "goalId"), task->goal) == 0 && *text_of(item, "questionId");
        if (same && !found && (!kind || strcmp(text_of(item, "kind"), kind) == 0))
            found = json_incref(item);
    }
    json_decref(inbox);
    return found;
}

static int sent_print(const struct typed *typed, const json_t *result, const char *format,
                      const char *whom) {
    if (typed->as_json) {
        json_dumpf(result, stdout, JSON_INDENT(2));
        printf("\n");
    } else
        printf(format, whom);
    return 0;
}

static json_t *agent_message_make(const struct task_meant *task, const char *to, const char *text) {
    struct str words = str_of(text), subject = str_cut_utf8(words, LIMIT_NAME / 2);
    bool fits = subject.len == words.len && !strchr(text, '\n');
    subject.len = fits                                ? subject.len
                  : strcspn(text, "\n") < subject.len ? strcspn(text, "\n")
                                                      : subject.len;
    json_t *letter = json_pack("{s:s, s:s, s:s%, s:s}", "goal", task->goal, "to", to, "subject",
                               subject.at, subject.len, "kind", "instruction");
    if (!fits)
        json_object_set_new(letter, "body", json_string(text));
    return letter;
}

/* Free text is not a choice: a question with options is answered with one of them, by `overseer answer`. */
static json_t *open_question_of(struct typed *typed, const struct task_meant *task) {
    json_t *question = question_of(typed, task, "decide");
    if (json_array_size(json_object_get(question, "options")) == 0)
        return question;
    json_decref(question);
    return NULL;
}

/* Answers a question that the agent asked; otherwise the agent gets the message as soon as it accepts input. */
static json_t *message_send(struct typed *typed, const struct task_meant *task, const char *text,
                            char *whom, size_t size) {
    json_t *question = open_question_of(typed, task), *result = NULL;
    if (question) {
        snprintf(whom, size, "%s", text_of(question, "questionId"));
        result = typed_ask(
            typed, "question.answer",
            json_pack("{s:s, s:s, s:s}", "question", whom, "goal", task->goal, "answer", text));
        json_decref(question);
        return result;
    }
    json_t *log =
        typed_ask(typed, "work.log", json_pack("{s:s, s:b}", "goal", task->goal, "last", 1));
    snprintf(whom, size, "%s", text_of(log, "agentId"));
    if (log && agent_is_adopted(str_of(whom))) {
        trouble_make(&typed->trouble, ERROR_CONFLICT,
                     "It is an adopted session: Overseer sends it no messages.");
        trouble_next(&typed->trouble, "Type the message in its own terminal.");
    } else if (log && (!*whom || flag_of(log, "over")))
        trouble_make(&typed->trouble, ERROR_CONFLICT, "No agent works on it now.");
    else if (log)
        result = typed_ask(typed, "mail.send",
                           agent_message_make(task, text_of(log, "assignmentId"), text));
    json_decref(log);
    return result;
}

static bool words_given(struct typed *typed, const char *what, const char *text) {
    if (what && text && *text)
        return true;
    trouble_make(&typed->trouble, ERROR_INVALID, "An argument is missing: %s.",
                 what ? "the message" : "the task, such as T7");
    trouble_next(&typed->trouble, "`overseer help %s` shows its arguments.", typed->command->words);
    return false;
}

int tell_run(struct typed *typed) {
    const char *what = typed_text(typed, "task"), *text = typed_text(typed, "text");
    struct task_meant task;
    char whom[64] = "";
    if (!words_given(typed, what, text) || !task_find(typed, what, &task))
        return trouble_tell(&typed->trouble, typed->as_json);
    json_t *result = message_send(typed, &task, text, whom, sizeof whom);
    if (!result)
        return trouble_tell(&typed->trouble, typed->as_json);
    sent_print(typed, result,
               is_question(whom) ? "%s is answered.\n" : "The message to %s is accepted.\n", whom);
    json_decref(result);
    return 0;
}

/* ---- what happens to the task ---- */

/* An approval names its commit: the one that `diff` showed here, or, if it showed none, the one that waits now. */
static void commit_name(struct typed *typed, const char *goal, const char *waits) {
    char shown[SHOWN_COMMIT];
    if (!*waits || typed_text(typed, "commit"))
        return;
    bool seen = shown_recall(goal, shown);
    json_object_set_new(typed->params, "commit", json_string(seen ? shown : waits));
    if (!seen)
        fprintf(stderr, "Commit %.12s lands; you have not seen it with `overseer diff` here.\n",
                waits);
}

/* Finds the question about this task that waits for a yes or no; any question if no kind is given. */
static bool asked_settle(struct typed *typed, const char *kind) {
    const char *what = typed_text(typed, "question");
    struct task_meant task;
    if (!what || typed_text(typed, "goal") || !(task_is_node(what) || is_goal(what)))
        return true; /* a question, or a word that is not known here */
    if (!task_find(typed, what, &task))
        return false;
    json_t *question = question_of(typed, &task, kind);
    if (!question) {
        bool done = strcmp(task.state, "done") == 0;
        trouble_make(&typed->trouble, ERROR_CONFLICT, "It does not wait for your %s: it is %s.",
                     kind ? "yes or no" : "answer", task.state);
        trouble_next(&typed->trouble,
                     done ? "It has landed: overseer why %s" : "See: overseer why %s", what);
        return false;
    }
    json_object_set_new(typed->params, "goal", json_string(task.goal));
    json_object_set_new(typed->params, "question", json_string(text_of(question, "questionId")));
    if (kind && strcmp(typed->command->op->name, "question.approve") == 0)
        commit_name(typed, task.goal, text_of(question, "commit"));
    json_decref(question);
    return true;
}

/* An approval is not carried out at once: tells the user why nothing happens yet. */
static void undo_say(struct typed *typed) {
    json_t *shown = typed_ask(typed, "config.show", json_object());
    const char *within = setting_of(shown, "people.undo_for");
    size_t quotes = *within == '"';
    fprintf(stderr,
            "It takes effect in %.*s; until then you can undo it: overseer undo %s --goal %s\n",
            (int)strcspn(within + quotes, "\""), within + quotes, typed_text(typed, "question"),
            typed_text(typed, "goal"));
    json_decref(shown);
}

int decide_run(struct typed *typed) {
    const char *what = typed_text(typed, "question");
    bool by_task = what && (task_is_node(what) || is_goal(what));
    if (!asked_settle(typed, "approve"))
        return trouble_tell(&typed->trouble, typed->as_json);
    int status = op_run(typed);
    if (status == 0 && by_task && !typed->as_json && !typed->dry_run)
        undo_say(typed);
    return status;
}

int answer_run(struct typed *typed) {
    if (!asked_settle(typed, NULL))
        return trouble_tell(&typed->trouble, typed->as_json);
    return typed_flag(typed, "same") ? alike_run(typed) : op_run(typed);
}

int release_run(struct typed *typed) {
    return typed_flag(typed, "same") ? alike_run(typed) : op_run(typed);
}

/* Work that is done would be paid for once more. */
static bool again_is_agreed(struct typed *typed, const struct task_meant *task) {
    char question[320];
    snprintf(question, sizeof question,
             "\"%.200s\" is done. An agent would do it once more, at its cost. Start it again",
             task->title);
    if (typed->yes || (term_can_ask() && person_agrees(question)))
        return true;
    trouble_make(&typed->trouble, ERROR_CONFLICT, "\"%.200s\" is done: nothing was started.",
                 task->title);
    trouble_next(&typed->trouble,
                 "To have it done once more: --yes. To ask for a change: overseer run");
    return false;
}

/* A done goal is reopened first, if the person confirms it. */
static bool reopened(struct typed *typed, const struct task_meant *task) {
    const char *reason = typed_text(typed, "reason");
    if (strcmp(task->state, "done") != 0 || typed->dry_run)
        return true;
    if (!again_is_agreed(typed, task))
        return false;
    json_t *result = typed_ask(typed, "goal.reopen",
                               json_pack("{s:s, s:s}", "goal", task->goal, "reason",
                                         reason ? reason : "to be done once more"));
    json_decref(result);
    return result != NULL;
}

/* A goal means the task in it that was tried last. */
int retry_run(struct typed *typed) {
    const char *what = typed_text(typed, "node");
    struct task_meant task;
    if (!what || typed_text(typed, "goal") || (task_is_node(what) && strchr(what, '.')) ||
        !(task_is_node(what) || is_goal(what)))
        return op_run(typed); /* the task is named in full, or is one of several in a plan */
    if (!task_find(typed, what, &task))
        return trouble_tell(&typed->trouble, typed->as_json);
    json_t *log =
        typed_ask(typed, "work.log", json_pack("{s:s, s:b}", "goal", task.goal, "last", 1));
    if (log && !*text_of(log, "workNodeId"))
        trouble_make(&typed->trouble, ERROR_CONFLICT, "It has no attempt yet.");
    bool found = log && *text_of(log, "workNodeId") && reopened(typed, &task);
    if (found) {
        json_object_set_new(typed->params, "goal", json_string(task.goal));
        json_object_set_new(typed->params, "node", json_string(text_of(log, "workNodeId")));
    }
    json_decref(log);
    return found ? op_run(typed) : trouble_tell(&typed->trouble, typed->as_json);
}
