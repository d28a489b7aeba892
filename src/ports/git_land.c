/* SPDX-License-Identifier: Apache-2.0 */
/* How does verified work get onto a branch?
 *
 *   look where the branch is ─▶ put the work on top ─▶ write down what is about to land ─▶ push, if it is still there
 *            ▲                                                                                  │ moved
 *            └──────────────────────────────────────────────────────────────────────────────────┘ at most GIT_TRIES times
 *
 * Whoever asks again after a crash finds what was written down, and whether it is on the branch: nothing lands twice. A
 * branch that is checked out anywhere is not moved; the other side has the last word on that. */
#include "ports/git_state.h"

#include <stdio.h>
#include <unistd.h>

enum { PAUSE_US = 20000 };

struct lane {
    const struct git_landing *landing;
    struct str where;  /* path or URL */
    struct str ref;    /* there */
    struct str seen;   /* ours: where it was */
    struct str intent; /* ours: what is about to land */
    struct str at;     /* commit; empty: there is none */
    struct str next;   /* what has to be there; empty: nothing new */
    bool own;          /* a branch of ours */
};

static bool text_has(struct str text, const char *words) {
    return text.len && memmem(text.at, text.len, words, strlen(words));
}

/* ---- where ---- */

static void hex_short(struct str text, char ret[17]) {
    struct hash hash = sha256(text);
    for (int i = 0; i < 8; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash.bytes[i]);
}

/* Named by what lands, where and how: asked for the same again, it is the same landing. */
static struct str intent_name(struct git_call *call, const struct lane *lane,
                              const struct git_run *run) {
    char place[17];
    hex_short(arena_format(call->arena, "%.*s %.*s %d", STR_ARG(lane->where), STR_ARG(lane->ref),
                           (int)lane->landing->how),
              place);
    struct str key = arena_format(call->arena, "%.*s-%s", STR_ARG(lane->landing->commit), place);
    return git_ref(call, GIT_REF_LANDING, run->run, key);
}

static bool lane_find(struct git_call *call, const struct git_repo *repo, const struct git_run *run,
                      struct lane *lane) {
    const struct git_landing *landing = lane->landing;
    lane->own = landing->how == GIT_AS_BRANCH || landing->how == GIT_AS_PULL_REQUEST;
    lane->where = landing->how == GIT_AS_PULL_REQUEST ? repo->remote : repo->source;
    if (!lane->where.len)
        return git_fail(call, GIT_REFUSED, "there is no remote for a pull request");
    if (!git_is_commit_name(landing->commit))
        return git_fail(call, GIT_REFUSED, "what lands is named by its whole commit id");
    lane->ref = lane->own ? git_ref(call, GIT_REF_BRANCH, run->goal, run->run)
                          : arena_format(call->arena, "refs/heads/%.*s", STR_ARG(landing->target));
    lane->seen = git_ref(call, GIT_REF_TARGET, run->run, STR(""));
    lane->intent = intent_name(call, lane, run);
    call->local = git_source_is_path(lane->where);
    if (git_try(call, GIT_CHECK_NAME, GIT_ARGS(lane->ref)) > 0)
        git_fail(call, GIT_REFUSED, "\"%.*s\" cannot be a branch", STR_ARG(landing->target));
    return git_well(call);
}

static bool commit_check(struct git_call *call, struct str commit) {
    int status = git_try(call, GIT_RESOLVE,
                         GIT_ARGS(arena_format(call->arena, "%.*s^{commit}", STR_ARG(commit))));
    if (status > 0)
        git_fail(call, GIT_REFUSED, "our clone does not have commit %.*s", STR_ARG(commit));
    return status == 0;
}

/* Somebody stands on it: their files would not be what their branch says. */
static bool branch_is_free(struct git_call *call, const struct lane *lane) {
    if (!call->local)
        return true;
    if (!git_do(call, GIT_WORKTREES, GIT_ARGS(lane->where)))
        return false;
    struct str wanted = arena_format(call->arena, "branch %.*s", STR_ARG(lane->ref));
    for (struct str left = call->out; left.len;) {
        struct str field = {left.at, strnlen(left.at, left.len)};
        if (str_equal(field, wanted))
            return git_fail(call, GIT_REFUSED, "%.*s is checked out in %.*s", STR_ARG(lane->ref),
                            STR_ARG(lane->where));
        size_t used = field.len < left.len ? field.len + 1 : field.len;
        left = (struct str){left.at + used, left.len - used};
    }
    return true;
}

/* ---- one try ---- */

static bool branch_look(struct git_call *call, struct lane *lane) {
    struct str spec =
        arena_format(call->arena, "+%.*s:%.*s", STR_ARG(lane->ref), STR_ARG(lane->seen));
    int status = git_try(call, GIT_FETCH_TARGET, GIT_ARGS(lane->where, spec));
    lane->at = STR("");
    if (status > 0 && text_has(call->err, "couldn't find remote ref"))
        return lane->own || git_fail(call, GIT_REFUSED, "there is no branch %.*s in %.*s",
                                     STR_ARG(lane->landing->target), STR_ARG(lane->where));
    if (status != 0)
        return status > 0 && git_fail_command(call, GIT_FETCH_TARGET);
    struct str name = arena_format(call->arena, "%.*s^{commit}", STR_ARG(lane->seen));
    if (!git_do(call, GIT_RESOLVE, GIT_ARGS(name)))
        return false;
    lane->at = git_line(call);
    return true;
}

/* 1: what was written down is on the branch. */
static int has_landed(struct git_call *call, const struct lane *lane, struct str *ret_commit) {
    if (!lane->at.len || git_try(call, GIT_RESOLVE, GIT_ARGS(lane->intent)) != 0)
        return git_well(call) ? 0 : -1;
    *ret_commit = git_line(call);
    int status = git_try(call, GIT_CONTAINS, GIT_ARGS(*ret_commit, lane->at));
    return status < 0 ? -1 : status == 0;
}

/* A branch of ours goes on only from what we put there. */
static bool own_next(struct git_call *call, struct lane *lane) {
    struct str commit = lane->landing->commit;
    lane->next = str_equal(lane->at, commit) ? STR("") : commit;
    if (!lane->at.len || !lane->next.len)
        return true;
    int status = git_try(call, GIT_CONTAINS, GIT_ARGS(lane->at, commit));
    if (status > 0)
        git_fail(call, GIT_REFUSED, "%.*s was changed by somebody else", STR_ARG(lane->ref));
    return status == 0;
}

enum pushed { PUSHED, PUSH_MOVED, PUSH_OVER };

/* Why the other side did not take it. */
static enum pushed push_read(struct git_call *call, const struct lane *lane, int status) {
    static const char *const MOVED[] = {"(stale info)",
                                        "(fetch first)",
                                        "(non-fast-forward)",
                                        "(failed to update ref)",
                                        "(incorrect old value",
                                        "cannot lock ref",
                                        "(reference already exists)",
                                        "(failed to lock"};
    if (status == 0)
        return PUSHED;
    if (status < 0)
        return PUSH_OVER;
    for (size_t i = 0; i < count_of(MOVED); i++)
        if (text_has(call->out, MOVED[i]))
            return PUSH_MOVED;
    const char *why = call->out.len ? memmem(call->out.at, call->out.len, "\n!\t", 3) : NULL;
    if (why) {
        struct str line = {why + 3, (size_t)(call->out.at + call->out.len - why) - 3};
        line.len = strcspn(arena_cstr(call->arena, line), "\n");
        git_fail(call, GIT_REFUSED, "%.*s: %.*s", STR_ARG(lane->where), STR_ARG(line));
    }
    git_fail_command(call, GIT_PUSH_IF);
    return PUSH_OVER;
}

static enum pushed lane_push(struct git_call *call, const struct lane *lane) {
    if (!git_do(call, GIT_SET_REF, GIT_ARGS(lane->intent, lane->next)))
        return PUSH_OVER;
    int status = git_try(call, GIT_PUSH_IF, GIT_ARGS(lane->ref, lane->at, lane->where, lane->next));
    return push_read(call, lane, status);
}

/* True: it is over, well or not. */
static bool lane_try(struct git_call *call, struct lane *lane, struct git_landed *ret) {
    struct str before = {0};
    if (!branch_is_free(call, lane) || !branch_look(call, lane))
        return true;
    int landed = has_landed(call, lane, &before);
    if (landed) {
        ret->was_there = true;
        ret->commit = before;
        return true;
    }
    ret->onto = lane->at;
    bool known = lane->own ? own_next(call, lane)
                           : git_replay(call, lane->landing, lane->at, ret, &lane->next);
    if (!known)
        return true;
    if (!lane->next.len) {
        ret->was_there = true;
        ret->commit = lane->own ? lane->landing->commit : lane->at;
        return true;
    }
    enum pushed pushed = lane_push(call, lane);
    if (pushed == PUSHED)
        ret->commit = lane->next;
    return pushed != PUSH_MOVED;
}

static void lane_go(struct git_call *call, struct lane *lane, struct git_landed *ret) {
    for (ret->tries = 1; !lane_try(call, lane, ret); ret->tries++) {
        if (ret->tries < GIT_TRIES) {
            usleep(PAUSE_US * ret->tries);
            continue;
        }
        bool locked = text_has(call->err, ".lock': File exists");
        git_fail(call, locked ? GIT_LOCKED : GIT_MOVED, "%.*s moved %d times: %.*s",
                 STR_ARG(lane->ref), GIT_TRIES, STR_ARG(call->err));
        return;
    }
}

/* Ours go one after another; the compare-and-swap is for everybody else. */
static bool lane_enter(struct git_call *call, const struct lane *lane) {
    char text[17];
    hex_short(arena_format(call->arena, "%.*s %.*s", STR_ARG(lane->where), STR_ARG(lane->ref)),
              text);
    return git_lock(call, arena_format(call->arena, "lane-%s", text));
}

struct git_answer git_land(const struct git_house *house, const struct git_repo *repo,
                           const struct git_run *run, const struct git_landing *landing,
                           struct arena *arena, struct git_landed *ret) {
    struct git_call call;
    struct lane lane = {.landing = landing};
    struct git_landed landed = {0};
    git_begin(&call, house, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        lane_find(&call, repo, run, &lane) && lane_enter(&call, &lane) &&
        commit_check(&call, landing->commit))
        lane_go(&call, &lane, &landed);
    landed.ref = call.answer.result == GIT_REFUSED && !lane.own
                     ? git_ref(&call, GIT_REF_BRANCH, run->goal, run->run)
                     : lane.ref;
    *ret = landed;
    return git_end(&call);
}
