/* SPDX-License-Identifier: Apache-2.0 */
/* Lands a candidate on a branch.
 *
 *   look where the branch is ─▶ record what is about to land ─▶ push exactly that, if the branch is still there
 *
 * A host that took over the landing does not have the candidate. It checks whether the branch has it, and pushes nothing.
 *
 * Nothing is built here: exactly the commit that was checked and shown is pushed. If the branch has moved, a new candidate is
 * needed. When landing is repeated after a crash, the commit is found on the branch: nothing lands twice. A branch that is
 * checked out anywhere is not moved; the other side makes the final decision on that. */
#include "git/git_state.h"

#include "base/planted.h"
#include "base/seam.h"

#include <stdio.h>

struct lane {
    const struct git_landing *landing;
    struct str where; /* path or URL */
    struct str ref;   /* in that repository */
    struct str seen;  /* our ref that records where it was */
    struct str at;    /* its commit; empty: the branch does not exist */
    bool own;         /* a branch of ours */
};

static bool text_has(struct str text, const char *words) {
    return text.len && memmem(text.at, text.len, words, strlen(words));
}

/* ---- where it lands ---- */

static void hex_short(struct str text, char ret[17]) {
    struct hash hash = sha256(text);
    for (int i = 0; i < 8; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash.bytes[i]);
}

/* Identifies where something lands; a branch that is named after its task is the same however it lands there. */
static void place_name(struct git_call *call, const struct lane *lane, const struct git_run *run,
                       char ret[17]) {
    struct str where =
        arena_format(call->arena, "%.*s %.*s", STR_ARG(lane->where), STR_ARG(lane->ref));
    if (!lane->own || !run->branch.len)
        where = arena_format(call->arena, "%.*s %d", STR_ARG(where), (int)lane->landing->how);
    hex_short(where, ret);
}

/* Names our ref for a commit that is about to land, by what lands and where. */
static struct str intent_name(struct git_call *call, const struct lane *lane,
                              const struct git_run *run, struct str commit) {
    char place[17];
    place_name(call, lane, run, place);
    struct str key = arena_format(call->arena, "%.*s-%s", STR_ARG(commit), place);
    return git_ref(call, GIT_REF_LANDING, run->run, key);
}

static bool lane_find(struct git_call *call, const struct git_repo *repo, const struct git_run *run,
                      struct lane *lane) {
    const struct git_landing *landing = lane->landing;
    lane->own = landing->how == GIT_AS_BRANCH || landing->how == GIT_AS_PULL_REQUEST;
    lane->where = landing->how == GIT_AS_PULL_REQUEST ? repo->remote : repo->source;
    if (!lane->where.len)
        return git_fail(call, GIT_REFUSED, "no remote is configured for a pull request");
    lane->ref = lane->own ? git_branch(call, run)
                          : arena_format(call->arena, "refs/heads/%.*s", STR_ARG(landing->target));
    lane->seen = git_ref(call, GIT_REF_TARGET, run->run, STR(""));
    call->local = git_source_is_path(lane->where);
    if (git_try(call, GIT_CHECK_NAME, GIT_ARGS(lane->ref)) > 0)
        git_fail(call, GIT_REFUSED, "\"%.*s\" cannot be a branch", STR_ARG(lane->ref));
    return git_well(call);
}

/* False if the branch is checked out: moving it would make the files of that checkout differ from its branch. */
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

/* ---- landing ---- */

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
    if (!git_do(call, GIT_RESOLVE_PUBLISHED, GIT_ARGS(name)))
        return false;
    lane->at = git_line(call);
    return true;
}

/* 1: it is. A commit that this clone does not have is not below. */
static int is_below(struct git_call *call, struct str commit, struct str of) {
    int status = git_try(call, GIT_CONTAINS, GIT_ARGS(commit, of));
    return status < 0 ? -1 : status == 0;
}

/* 1: the commit is on the branch. */
static int has_landed(struct git_call *call, const struct lane *lane, int here) {
    const struct git_landing *landing = lane->landing;
    if (!lane->at.len || (!here && str_equal(landing->commit, landing->onto)) ||
        (!here && planted(LANDING_UNREAD)))
        return 0;
    int landed = is_below(call, landing->commit, lane->at);
    return landed > 0 && !here ? is_below(call, landing->onto, landing->commit) : landed;
}

/* A branch of ours is replaced only if this run put its current commit there. */
static bool own_may_move(struct git_call *call, const struct lane *lane,
                         const struct git_run *run) {
    if (!lane->at.len)
        return true;
    int status = git_try(call, GIT_RESOLVE, GIT_ARGS(intent_name(call, lane, run, lane->at)));
    if (status > 0)
        git_fail(call, GIT_REFUSED, "%.*s has commits that this run did not put there",
                 STR_ARG(lane->ref));
    return status == 0;
}

static bool may_move(struct git_call *call, const struct lane *lane, const struct git_run *run) {
    if (lane->own)
        return own_may_move(call, lane, run);
    return str_equal(lane->at, lane->landing->onto) || seam("planted any target") ||
           planted(LAND_WITHOUT_SWAP) ||
           git_fail(call, GIT_MOVED, "%.*s is at %.*s, not at %.*s", STR_ARG(lane->ref),
                    STR_ARG(lane->at), STR_ARG(lane->landing->onto));
}

/* Once the branch has moved, no host may push this candidate any more. */
static bool may_land(struct git_call *call, const struct lane *lane, const struct git_run *run,
                     int here) {
    const struct git_landing *landing = lane->landing;
    if (landing->look)
        return git_fail(call, GIT_MOVED, "%.*s is not on %.*s", STR_ARG(landing->commit),
                        STR_ARG(lane->ref));
    if (!here && !lane->own && lane->at.len && !str_equal(lane->at, landing->onto))
        return git_fail(call, GIT_MOVED, "%.*s is at %.*s, not at %.*s", STR_ARG(lane->ref),
                        STR_ARG(lane->at), STR_ARG(landing->onto));
    return git_candidate_check(call, run, landing->commit, landing->onto) &&
           may_move(call, lane, run);
}

/* A connection may break after the push arrived; git then pushes again by itself and finds that the branch has moved.
 * So the branch itself is checked. */
static bool push_was_taken(struct git_call *call, struct lane *lane) {
    struct str out = call->out, err = call->err;
    bool taken = branch_look(call, lane) && has_landed(call, lane, 1) > 0;
    call->out = out;
    call->err = err;
    return taken;
}

/* Reports why the other side did not accept the push. */
static bool push_fail(struct git_call *call, const struct lane *lane) {
    static const char *const MOVED[] = {"(stale info)",
                                        "(fetch first)",
                                        "(non-fast-forward)",
                                        "(failed to update ref)",
                                        "(incorrect old value",
                                        "cannot lock ref",
                                        "(reference already exists)",
                                        "(failed to lock"};
    for (size_t i = 0; i < count_of(MOVED); i++)
        if (text_has(call->out, MOVED[i])) {
            bool locked = text_has(call->err, ".lock': File exists");
            return git_fail(call, locked ? GIT_LOCKED : GIT_MOVED, "%.*s moved: %.*s",
                            STR_ARG(lane->ref), STR_ARG(call->err));
        }
    const char *why = call->out.len ? memmem(call->out.at, call->out.len, "\n!\t", 3) : NULL;
    if (why) {
        struct str line = {why + 3, (size_t)(call->out.at + call->out.len - why) - 3};
        line.len = strcspn(arena_cstr(call->arena, line), "\n");
        return git_fail(call, GIT_REFUSED, "%.*s: %.*s", STR_ARG(lane->where), STR_ARG(line));
    }
    return git_fail_command(call, GIT_PUSH_IF);
}

static bool lane_push(struct git_call *call, struct lane *lane, const struct git_run *run) {
    struct str commit = lane->landing->commit;
    if (!git_do(call, GIT_SET_REF, GIT_ARGS(intent_name(call, lane, run, commit), commit)))
        return false;
    int status = git_try(call, GIT_PUSH_IF, GIT_ARGS(lane->ref, lane->at, lane->where, commit));
    return status == 0 || (status > 0 && (push_was_taken(call, lane) ||
                                          (git_well(call) && push_fail(call, lane))));
}

/* ---- a branch of ours whose name is taken ---- */

/* Another store that uses the same repository may have a T19 of its own; an earlier attempt at this task may have landed. */
static struct str own_name(struct git_call *call, const struct git_run *run) {
    char hex[17];
    hex_short(run->run, hex);
    return arena_format(call->arena, "%.*s-%.4s", STR_ARG(git_branch(call, run)), hex);
}

/* 1: this run has landed something there, or was about to. */
static int has_landed_there(struct git_call *call, const struct lane *lane,
                            const struct git_run *run) {
    char place[17];
    struct str below = git_ref(call, GIT_REF_LANDING, run->run, STR(""));
    place_name(call, lane, run, place);
    if (!git_do(call, GIT_LIST_REFS, GIT_ARGS(below)))
        return -1;
    for (struct str left = call->out; left.len;) {
        struct str line = str_line_take(&left);
        if (line.len > 17 && line.at[line.len - 17] == '-' &&
            !memcmp(line.at + line.len - 16, place, 16))
            return 1;
    }
    return 0;
}

/* 1: another run has that name, or this one has begun under its other name, or only a look at both names can tell. A
 * branch of this run that has commits of others is not taken: own_may_move() refuses. */
static int name_is_taken(struct git_call *call, const struct lane *lane, const struct git_run *run,
                         int here) {
    struct lane other = *lane;
    int landed = has_landed(call, lane, here);
    if (landed != 0)
        return landed < 0 ? -1 : 0;
    other.ref = own_name(call, run);
    int begun = here ? has_landed_there(call, &other, run) : 1;
    if (seam("planted name unread"))
        begun = 0;
    if (begun != 0 || !lane->at.len)
        return begun;
    int ours = has_landed_there(call, lane, run);
    return ours < 0 ? -1 : !ours;
}

static bool lane_look(struct git_call *call, struct lane *lane, const struct git_run *run,
                      int here) {
    if (!branch_look(call, lane))
        return false;
    int taken = lane->own && run->branch.len ? name_is_taken(call, lane, run, here) : 0;
    if (taken <= 0)
        return taken == 0;
    lane->ref = own_name(call, run);
    return branch_look(call, lane);
}

static void lane_go(struct git_call *call, struct lane *lane, const struct git_run *run,
                    struct git_landed *ret) {
    int here = git_candidate_is_here(call, run, lane->landing->commit);
    if (here < 0 || !lane_look(call, lane, run, here))
        return;
    int landed = has_landed(call, lane, here);
    ret->onto = lane->at;
    ret->was_there = landed > 0;
    if (landed > 0 || (landed == 0 && branch_is_free(call, lane) &&
                       may_land(call, lane, run, here) && lane_push(call, lane, run)))
        ret->commit = lane->landing->commit;
}

/* This lock serializes our own landings; the compare-and-swap protects against everyone else. */
static bool lane_enter(struct git_call *call, const struct lane *lane) {
    char text[17];
    hex_short(arena_format(call->arena, "%.*s %.*s", STR_ARG(lane->where), STR_ARG(lane->ref)),
              text);
    return git_lock(call, arena_format(call->arena, "lane-%s", text));
}

/* Does not hold the run's lock: a slow remote does not delay other work on the run. */
struct git_answer git_land(const struct git_context *context, const struct git_repo *repo,
                           const struct git_run *run, const struct git_landing *landing,
                           struct arena *arena, struct git_landed *ret) {
    struct git_call call;
    struct lane lane = {.landing = landing};
    struct git_landed landed = {0};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_target(&call, run->run) &&
        git_repo_open(&call, repo) && lane_find(&call, repo, run, &lane) &&
        lane_enter(&call, &lane))
        lane_go(&call, &lane, run, &landed);
    landed.ref = call.answer.result == GIT_REFUSED && !lane.own ? git_branch(&call, run) : lane.ref;
    *ret = landed;
    return git_end(&call);
}
