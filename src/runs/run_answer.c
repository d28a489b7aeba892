/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to an answer what only the host of a run knows: its log (work.log) and its changes (work.diff). */
#include "ledger/input.h"
#include "ops/all.h"
#include "ops/assignment.h"
#include "ops/json.h"
#include "runs/check/check.h"
#include "runs/run.h"
#include "sys/pool.h"
#include "sys/redaction.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 48 << 10,
    DIFF_MOST = 256 << 10,
    DIFF_SECONDS = 15,    /* less than a caller waits, so that the caller gets the reason */
    DIFF_LOCK_SECONDS = 5 /* of those, waiting for another job in the worktree */
};

/* Accepts only an id of ours, so that the path cannot leave the folder. */
static bool run_named(const struct op_call *call, char path[RUN_PATH + 64]) {
    const char *run = json_string_value(json_object_get(call->result, "runId"));
    struct id id;
    if (!run || !id_parse(str_of(run), &id))
        return false;
    snprintf(path, RUN_PATH + 64, "%s", run);
    return true;
}

/* ---- its log ---- */

/* "AT OFFSET KIND words" */
static void line_add(json_t *lines, struct str line) {
    char *end;
    char at[TIME_TEXT + 1];
    int64_t when = strtoll(line.at, &end, 10);
    strtoull(end, &end, 10);
    if (end > line.at + line.len) /* the caller asked from the middle of a line */
        return;
    struct str rest = {end, (size_t)(line.at + line.len - end)};
    const char *space = rest.len > 1 ? memchr(rest.at + 1, ' ', rest.len - 1) : NULL;
    if (!space)
        return;
    time_format(when, at);
    json_array_append_new(lines, json_pack("{s:s, s:s%, s:s%}", "at", at, "kind", rest.at + 1,
                                           (size_t)(space - rest.at - 1), "text", space + 1,
                                           (size_t)(rest.at + rest.len - space - 1)));
}

/* Takes complete lines only; the next page begins where they end. */
static size_t lines_take(json_t *lines, struct str page) {
    size_t used = 0;
    for (const char *end; (end = memchr(page.at + used, '\n', page.len - used));
         used = (size_t)(end + 1 - page.at))
        line_add(lines, (struct str){page.at + used, (size_t)(end - page.at) - used});
    return used;
}

/* The newest page begins with a complete line. */
static uint64_t page_begin(const struct op_call *call, int fd, uint64_t size) {
    char text[RUN_WORDS * 4];
    uint64_t from = size > PAGE ? size - PAGE : 0;
    if (!call->args.last || from == 0)
        return call->args.last ? 0 : call->args.from;
    ssize_t length = pread(fd, text, sizeof text, (off_t)from);
    const char *end = length > 0 ? memchr(text, '\n', (size_t)length) : NULL;
    return end ? from + (uint64_t)(end + 1 - text) : from;
}

static void page_add(struct op_call *call, int fd, uint64_t size) {
    char *text = arena_take(&call->arena, PAGE + 1, 1);
    uint64_t from = page_begin(call, fd, size);
    ssize_t length = from < size ? pread(fd, text, PAGE, (off_t)from) : 0;
    struct str page = {text, length > 0 ? (size_t)length : 0};
    text[page.len] = 0;
    uint64_t next = from + lines_take(json_object_get(call->result, "lines"), page);
    json_object_set_new(call->result, "next", json_integer((json_int_t)next));
    json_object_set_new(call->result, "more", json_boolean(next > from && next < size));
}

/* The same path as run_make() gives its home. */
static void terminal_path(const struct run_table *runs, const struct op_call *call, char *path,
                          size_t size) {
    char goal[ID_TEXT + 1];
    const char *assignment = json_string_value(json_object_get(call->result, "assignmentId"));
    id_format(call->args.goal_id, goal);
    path[0] = 0;
    if (assignment)
        snprintf(path, size, "%s/homes/%s.%s/tmux", runs->state, goal, assignment);
}

static void log_finish(struct run_table *runs, struct op_call *call) {
    char run[RUN_PATH + 64], path[2 * RUN_PATH + 128];
    struct stat about;
    if (!run_named(call, run))
        return;
    snprintf(path, sizeof path, "%s/runs/%s/said.log", runs->state, run);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &about) == 0)
        page_add(call, fd, (uint64_t)about.st_size);
    if (fd >= 0)
        close(fd);
    terminal_path(runs, call, path, sizeof path);
    if (*path && stat(path, &about) == 0 && S_ISSOCK(about.st_mode))
        json_object_set_new(call->result, "terminal", json_string(path));
}

/* ---- its changes ---- */

/* JSON accepts only UTF-8: every invalid byte is shown as one replacement character. */
static json_t *text_json(struct str text, struct arena *arena) {
    static const struct str REPLACEMENT = STR("\xef\xbf\xbd");
    struct writer writer = {.arena = arena};
    for (size_t at = 0; at < text.len;) {
        size_t length = str_character((struct str){text.at + at, text.len - at});
        write_raw(&writer, length ? (struct str){text.at + at, length} : REPLACEMENT);
        at += length ? length : 1;
    }
    return json_stringn(writer.at ? writer.at : "", writer.len);
}

struct diff_shown {
    struct str base, commit, text;
    uint32_t files;
    uint64_t insertions, deletions;
    bool cut;
};

static void diff_put(struct op_call *call, const struct diff_shown *shown) {
    struct str clean = redacted(shown->text, &call->arena);
    json_t *rest = json_pack(
        "{s:s%, s:s%, s:i, s:I, s:I, s:b, s:o}", "base", shown->base.at, shown->base.len, "commit",
        shown->commit.at, shown->commit.len, "files", (int)shown->files, "insertions",
        (json_int_t)shown->insertions, "deletions", (json_int_t)shown->deletions, "cut", shown->cut,
        "diff", text_json(clean, &call->arena));
    json_object_update(call->result, rest);
    json_decref(rest);
}

/* Shows the commit that waits to land against its target, and whether the worktree has changed since. */
static struct git_answer candidate_show(struct op_call *call, const struct work_place *place,
                                        const struct diff_candidate *waits) {
    struct git_candidate candidate;
    struct diff_shown shown = {.base = waits->onto, .commit = waits->commit};
    struct git_answer answer =
        git_candidate_diff(&place->context, &place->repo, &place->run, waits->commit, waits->onto,
                           DIFF_MOST, &call->arena, &candidate, &shown.text, &shown.cut);
    if (answer.result != GIT_DONE)
        return answer;
    shown.files = candidate.file_count;
    shown.insertions = candidate.insertions;
    shown.deletions = candidate.deletions;
    diff_put(call, &shown);
    json_t *added = json_object_get(call->result, "added");
    for (uint32_t i = 0; i < candidate.added_count; i++) {
        json_t *one = json_pack("{s:s%}", "commit", candidate.added[i].commit.at,
                                candidate.added[i].commit.len);
        json_object_set_new(
            one, "subject",
            text_json(redacted(candidate.added[i].subject, &call->arena), &call->arena));
        json_array_append_new(added, one);
    }
    bool same = true;
    struct git_answer looked = git_tree_is_at(&place->context, &place->repo, &place->run,
                                              waits->snapshot, &call->arena, &same);
    json_object_set_new(call->result, "waits", json_true());
    json_object_set_new(call->result, "moved", json_boolean(looked.result == GIT_DONE && !same));
    return answer;
}

static struct git_answer worktree_show(struct op_call *call, const struct work_place *place) {
    struct git_measure measure;
    struct diff_shown shown = {.base = place->run.base};
    struct git_answer answer = git_tree_diff(&place->context, &place->repo, &place->run, DIFF_MOST,
                                             &call->arena, &measure, &shown.text, &shown.cut);
    if (answer.result != GIT_DONE)
        return answer;
    shown.commit = measure.snapshot;
    shown.files = measure.file_count;
    shown.insertions = measure.insertions;
    shown.deletions = measure.deletions;
    diff_put(call, &shown);
    return answer;
}

/* Computes the diff for the assignment `n` of the call's goal. Runs git, so call it on a pool thread only. */
static struct git_answer diff_compute(struct run_table *runs, struct op_call *call, uint32_t n) {
    struct work_place place;
    if (!work_place(runs, (struct work_wanted){.goal = call->args.goal_id, .assignment = n},
                    &call->arena, &place) ||
        place.run.base.len == 0)
        return (struct git_answer){0};
    place.context.total_us = DIFF_SECONDS * SECONDS(1);
    place.context.wait_us = DIFF_LOCK_SECONDS * SECONDS(1);
    place.context.ends = pool_is_stopping(runs->context->slow);
    return call->own ? candidate_show(call, &place, call->own) : worktree_show(call, &place);
}

static void diff_finish(struct run_table *runs, struct op_call *call) {
    const char *name = json_string_value(json_object_get(call->result, "assignmentId"));
    uint32_t n;
    if (!name || !assignment_parse(str_of(name), &n))
        return;
    struct git_answer answer = diff_compute(runs, call, n);
    if (answer.result != GIT_DONE) {
        json_decref(call->result);
        call->result = NULL;
        op_refuse(call, ERROR_BUSY, "Its changes cannot be read now: %.*s.",
                  STR_ARG(str_cut(answer.why, 160)));
    }
}

/* What the check said about the tip of each target when it was checked last. */
static void targets_finish(struct run_table *runs, struct op_call *call) {
    const struct op_repositories *all = call->repositories;
    json_t *list = json_array();
    for (uint32_t i = 0; all && i < all->count; i++) {
        struct work_place place = {.repository = all->at[i].key,
                                   .context.state =
                                       arena_format(&call->arena, "%s/work", runs->state)};
        struct target_verdict verdict;
        if (!target_verdict_read(&place, &call->arena, &verdict))
            continue;
        json_t *one =
            json_pack("{s:s, s:s, s:b}", "repository", all->at[i].name, "commit",
                      arena_cstr(&call->arena, verdict.commit), "passes", verdict.exit == 0);
        if (verdict.exit != 0)
            json_object_set_new(one, "since", json_string(arena_cstr(&call->arena, verdict.since)));
        json_array_append_new(list, one);
    }
    json_object_set_new(call->result, "targets", list);
}

void run_finish(struct daemon_context *context, struct op_call *call) {
    if (!context->runs)
        return;
    if (call->op == &OP_STATUS_SHOW && call->result)
        targets_finish(context->runs, call);
    if (call->op == &OP_WORK_LOG)
        log_finish(context->runs, call);
    if (call->op == &OP_WORK_DIFF)
        diff_finish(context->runs, call);
}
