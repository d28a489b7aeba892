/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts a session that Overseer did not start. The session is only observed: nothing is ever written to it. */
#include "cli/adopt/adopt.h"

#include "base/memory.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run.h"
#include "cli/task.h"
#include "model/assignment.h"

#include <stdlib.h>
#include <unistd.h>

enum { GROWS_WITHIN = 60 }; /* seconds: a session that wrote since then is still growing */

static const char *home_of(const struct typed *typed) {
    const char *given = typed_text(typed, "home"), *own = getenv("HOME");
    return given ? given : own ? own : "/";
}

/* ---- listing the sessions ---- */

/* One word for the session's state, as far as it is visible from outside. */
static const char *session_doing(const struct session *session) {
    bool grows = clock_now() / 1000000 - session->changed_at < GROWS_WITHIN;
    if (session->process.pid == 0)
        return grows ? "no process seen" : "ended";
    if (strcmp(session->state, "waiting") == 0)
        return "waits for you";
    if (session->state[0])
        return strcmp(session->state, "busy") == 0 ? "working" : "idle";
    return grows ? "working" : "silent";
}

static const char *folder_short(const char *folder, char text[PATH_MAX]) {
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    bool below = length > 1 && strncmp(folder, home, length) == 0 &&
                 (folder[length] == '/' || folder[length] == 0);
    snprintf(text, PATH_MAX, "%s%s", below ? "~" : "", below ? folder + length : folder);
    return text;
}

static json_t *session_json(const struct session *session) {
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:b, s:I}", "session", session->name, "program",
                  session->program, "folder", session->folder, "state", session_doing(session),
                  "pid", (int)session->process.pid, "alive", session->process.pid != 0, "changedAt",
                  (json_int_t)session->changed_at);
    if (session->id[0])
        json_object_set_new(json, "sessionId", json_string(session->id));
    if (session->pane[0])
        json_object_set_new(json, "pane", json_string(session->pane));
    return json;
}

static int list_json(const struct sessions *sessions) {
    json_t *list = json_array();
    for (size_t i = 0; i < sessions->count; i++)
        json_array_append_new(list, session_json(&sessions->at[i]));
    json_t *all = json_pack("{s:o}", "sessions", list);
    json_dumpf(all, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(all);
    return 0;
}

static void session_row(struct table *table, const struct session *session) {
    char age[AGE_TEXT], folder[PATH_MAX];
    const char *doing = session_doing(session);
    table_row(table);
    table_cell(table, TINT_BOLD, "%s", session->name);
    table_cell(table, TINT_NONE, "%s", session->program);
    table_cell(table, strcmp(doing, "working") == 0 ? TINT_BUSY : TINT_NONE, "%s", doing);
    table_cell(table, TINT_DIM, "%s",
               session->changed_at ? age_format(clock_now() / 1000000 - session->changed_at, age)
                                   : "");
    table_cell(table, TINT_DIM, "%s", folder_short(session->folder, folder));
}

static int list_say(const struct typed *typed, const struct sessions *sessions) {
    static const struct column COLUMNS[] = {{.title = "session"},
                                            {.title = "program"},
                                            {.title = "state"},
                                            {.title = "last sign", .right = true},
                                            {.title = "folder", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    if (typed->as_json)
        return list_json(sessions);
    if (sessions->count == 0) {
        printf("No agent session was found: none in a pane of your default tmux server, and no "
               "Claude Code session that was used in the last day.\n");
        return 0;
    }
    for (size_t i = 0; i < sessions->count; i++)
        session_row(&table, &sessions->at[i]);
    table_print(&table);
    hint("To watch one without touching it: overseer adopt %s", sessions->at[0].name);
    return 0;
}

/* ---- adopting one session ---- */

static bool session_trouble(struct typed *typed, const char *what) {
    trouble_make(&typed->trouble, ERROR_NOT_FOUND, "No single agent session matches %.60s.", what);
    trouble_next(&typed->trouble, "`overseer adopt` lists the sessions.");
    return false;
}

/* A session that has ended cannot be adopted. */
static bool session_fits(struct typed *typed, const struct session *session, const char *what) {
    if (!session)
        return session_trouble(typed, what);
    if (session->process.pid)
        return true;
    trouble_make(&typed->trouble, ERROR_CONFLICT,
                 "The session %s has ended: it has no process that could be watched.",
                 session->name);
    trouble_next(&typed->trouble, "To continue it: claude --resume %s", session->id);
    return false;
}

/* The daemon observes the session on its own machine. */
static bool daemon_is_here(struct typed *typed) {
    if (!typed->at.url)
        return true;
    trouble_make(&typed->trouble, ERROR_CONFLICT,
                 "Only a daemon on this machine can watch a local session.");
    trouble_next(&typed->trouble, "Remove --url, and unset OVERSEER_URL.");
    return false;
}

/* A session is adopted for one task only. */
static bool is_new(struct typed *typed, const struct session *session) {
    json_t *list = typed_ask(typed, "assignment.list", json_object()), *row;
    bool watched = false;
    size_t i;
    json_array_foreach(json_object_get(list, "assignments"), i, row) {
        if (watched || strcmp(text_of(row, "agentId"), session->name) != 0)
            continue;
        watched = true;
        trouble_make(&typed->trouble, ERROR_CONFLICT, "%s is watched already, as %s.",
                     session->name, text_of(row, "workNodeId"));
        trouble_next(&typed->trouble, "See: overseer why %s", text_of(row, "workNodeId"));
    }
    bool is = list && !watched;
    json_decref(list);
    return is;
}

static int lines_run(const struct typed *typed, const struct session *session, const char *what) {
    char why[256];
    if (session && session->process.pid)
        return session_follow(home_of(typed), session);
    snprintf(why, sizeof why,
             session ? "%.60s has ended" : "there is no session %.60s on this machine", what);
    return session_unseen(why);
}

static void adopted_say(const struct typed *typed, const struct session *session, const char *task,
                        const char *goal, const char *title) {
    if (typed->as_json) {
        json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "task", task, "goalId", goal, "title",
                                 title, "session", session_json(session));
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(json);
        return;
    }
    printf("%-5s %s\n", task, title);
    hint("Overseer only watches it: it never writes to it and never stops it.\n"
         "Look:   overseer logs -f %s, overseer agents, overseer why %s\n"
         "Release: overseer adopt --release %s",
         task, task, task);
}

static int adopt(struct typed *typed, const struct session *session) {
    char title[PATH_MAX + 128], folder[PATH_MAX], text[256], goal[64], task[TASK_NAME];
    const char *given = typed_text(typed, "title");
    snprintf(title, sizeof title, "%s in %s", session->program,
             folder_short(session->folder, folder));
    snprintf(text, sizeof text,
             "Watch %s. Overseer did not start this session and never touches it.", session->name);
    if (typed->dry_run) {
        char what[400];
        snprintf(what, sizeof what, "watch %.150s: %.200s", session->name, given ? given : title);
        return typed_would(typed, what);
    }
    if (!daemon_is_here(typed))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (!daemon_ensure(typed))
        return EXIT_TROUBLE;
    struct task_new new = {.title = given ? given : title,
                           .text = text,
                           .agent = session->name,
                           .criterion = "a person says so",
                           .repo = "none"};
    if (!is_new(typed, session) || !task_make(typed, &new, goal, task))
        return trouble_tell(&typed->trouble, typed->as_json);
    adopted_say(typed, session, task, goal, given ? given : title);
    return 0;
}

/* ---- releasing ---- */

/* Releases adopted sessions only, so that a typing error cannot end other work. */
static bool is_adopted(struct typed *typed, const struct task_meant *task) {
    json_t *log =
        typed_ask(typed, "work.log", json_pack("{s:s, s:b}", "goal", task->goal, "last", 1));
    bool watched = log && agent_is_adopted(str_of(text_of(log, "agentId")));
    if (log && !watched) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "%.60s is not an adopted session.",
                     task->node[0] ? task->node : task->goal);
        trouble_next(&typed->trouble, "To end work that Overseer started: overseer goal cancel");
    }
    json_decref(log);
    return watched;
}

static int release(struct typed *typed, const char *what) {
    struct task_meant task;
    if (!task_find(typed, what, &task) || !is_adopted(typed, &task))
        return trouble_tell(&typed->trouble, typed->as_json);
    json_t *result = typed_ask(
        typed, "goal.cancel",
        json_pack("{s:s, s:s}", "goal", task.goal, "reason", "it is not watched any more"));
    if (!result)
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->as_json) {
        json_dumpf(result, stdout, JSON_INDENT(2));
        printf("\n");
    } else
        printf("%s is not watched any more. The session itself was not touched.\n", what);
    json_decref(result);
    return 0;
}

int adopt_run(struct typed *typed) {
    const char *what = typed_text(typed, "session"), *let_go = typed_text(typed, "release");
    if (let_go)
        return release(typed, let_go);
    struct sessions *sessions = memory_new(sizeof *sessions);
    sessions_find(home_of(typed), sessions);
    const struct session *session = what ? session_called(sessions, what) : NULL;
    int status;
    if (!what)
        status = list_say(typed, sessions);
    else if (typed_flag(typed, "lines"))
        status = lines_run(typed, session, what);
    else if (!session_fits(typed, session, what))
        status = trouble_tell(&typed->trouble, typed->as_json);
    else
        status = adopt(typed, session);
    free(sessions);
    return status;
}
