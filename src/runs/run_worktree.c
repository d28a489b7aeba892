/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the worktree of an assignment, checks the work in it and lands it. Git verbs and artifact checks run on a
 * worker, the operator's own command on the loop. The work of an assignment has one worktree, whichever run works on
 * it. */
#include "base/memory.h"
#include "base/planted.h"
#include "model/verification.h"
#include "runs/check/check.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

/* ---- checks ---- */

struct working {
    uv_work_t work;
    struct git_job job;
    struct run_table *runs;
    struct act *act;
    struct arena arena;
    struct work_place place;
    struct git_answer answer;
    struct git_measure measure;
    struct str snapshot; /* of the worktree; the candidate is built from it */
    struct git_candidate candidate;
    struct str commit; /* that is checked: the candidate; if nothing lands, the snapshot */
    struct judged_files files;
    enum judged judged;
    bool restored; /* the second check: with the target's version of its tests */
    struct git_landed landed;
    struct git_salvage salvaged;
    struct str checkout;
    struct contract contract;
    struct rows checks; /* struct check_made: of its artifacts */
    struct str wrong;   /* with the artifacts */
    bool commanded;     /* the operator's command was run as well */
    int64_t begun_at;   /* start of the checks themselves */
    enum checked verdict;
    int64_t exit; /* of the operator's command */
    struct candidate_check check;
    struct target_check target;
    char name[ID_TEXT + 1];
};

static void working_free(struct working *it) {
    it->runs->under_way--;
    if (it->check.trial.runs)
        candidate_free(&it->check);
    free(it->act);
    arena_free(&it->arena);
    free(it);
}

static void working_end(struct working *it, struct signal outcome) {
    executor_report(it->runs->executor, it->act, outcome);
    working_free(it);
}

/* What was left in a worktree is preserved wherever its repository is; it is checked and landed only as the settings say. */
static bool place_serves(const struct working *it) {
    bool judges = it->act->effect.kind == EFFECT_CHECK || it->act->effect.kind == EFFECT_LAND;
    return !judges || !it->place.moved;
}

static struct working *working_begin(struct run_table *runs, struct act *act) {
    struct working *it = memory_new(sizeof *it);
    *it = (struct working){.runs = runs, .act = act, .work.data = it};
    id_format(effect_id(act->effect.goal, act->effect.n), it->name);
    runs->under_way++;
    if (work_place(runs, wanted_by(&act->effect), &it->arena, &it->place) && place_serves(it))
        return it;
    runs->under_way--;
    executor_report(runs->executor, act,
                    (struct signal){.text = place_missing_text(&it->place, &it->arena)});
    arena_free(&it->arena);
    free(it);
    free(act);
    return NULL;
}

static void checkout_remove(uv_work_t *work) {
    struct working *it = work->data;
    check_box_clear(it->checkout, &it->arena);
    git_checkout_remove(&it->place.context, str_of(it->name), &it->arena);
}

/* VERIFY-14: lists each check. The command's output is stored beside it. */
static struct str verification_of(struct working *it) {
    uint32_t count = it->checks.count;
    bool passed = it->verdict == CHECKED_PASSED;
    struct check_made *checks = arena_new(&it->arena, struct check_made, count + 1);
    if (count > 0)
        memcpy(checks, it->checks.at, count * sizeof *checks);
    if (it->commanded)
        checks[count++] = (struct check_made){
            .type = CHECK_COMMAND,
            .target =
                it->check.trial.stage == TRIAL_SETUP ? STR("verify.setup") : STR("verify.command"),
            .passed = passed,
            .reason = passed ? STR("")
                      : it->exit == -2
                          ? STR("it took too long")
                          : arena_format(&it->arena, "it ended with status %d", (int)it->exit)};
    struct verification made = {.checks = {checks, count},
                                .commit = it->commit,
                                .onto = it->candidate.onto,
                                .snapshot = it->snapshot,
                                .digest = it->place.digest,
                                .change = it->candidate.change,
                                .judged = it->judged};
    return shape_encode(&VERIFICATION, &made, &it->arena);
}

static void checkout_removed(uv_work_t *work, int status) {
    struct working *it = work->data;
    (void)status;
    working_end(it, (struct signal){.to = it->verdict,
                                    .exit = it->exit,
                                    .outcome.reference = it->commit,
                                    .body = verification_of(it),
                                    .text = it->answer.why});
}

static void check_end(struct working *it, enum checked verdict, struct str text) {
    it->verdict = verdict;
    it->answer.why = arena_copy(&it->arena, text);
    uv_queue_work(it->runs->loop, &it->work, checkout_remove, checkout_removed);
}

/* The work passes. Prepares the check whether it also passes with the target's tests. */
static void restored_check(uv_work_t *work) {
    struct working *it = work->data;
    struct str commit = STR("");
    check_box_clear(it->checkout, &it->arena); /* what the candidate left in its HOME */
    it->answer = git_candidate_restore(&it->place.context, &it->place.repo, &it->place.run,
                                       it->commit, it->candidate.onto, it->files.tests,
                                       it->files.test_count, &it->arena, &commit);
    if (it->answer.result == GIT_DONE && commit.len > 0)
        it->answer = git_checkout_make(&it->place.context, &it->place.repo, str_of(it->name),
                                       commit, &it->arena, &it->checkout);
    it->restored = commit.len > 0;
}

static void restored_prepared(uv_work_t *work, int status) {
    struct working *it = work->data;
    if (status != 0 || it->answer.result != GIT_DONE)
        check_end(it, CHECKED_NOTHING, it->answer.why);
    else if (it->restored)
        candidate_again(&it->check);
    else
        check_end(it, CHECKED_PASSED, STR(""));
}

static void restored_checked(struct working *it, int64_t exit, struct str tail) {
    it->exit = 0; /* the commit that would land has passed */
    if (exit == -1) {
        check_end(it, CHECKED_NOTHING, tail);
        return;
    }
    it->judged = exit == 0 ? it->judged : JUDGED_TESTS;
    check_end(
        it, CHECKED_PASSED,
        exit == 0
            ? tail
            : arena_format(
                  &it->arena,
                  "It passes with its own version of %u tests, but not with the target's version of them:\n"
                  "%.*s",
                  it->files.test_count, STR_ARG(tail)));
}

/* VERIFY-15: a failure that the target has as well is not the agent's. */
static void target_known(struct target_check *target) {
    struct working *it = target->with;
    if (target->to_blame)
        check_end(it, CHECKED_TARGET, target->text);
    else
        check_end(it, CHECKED_FAILED, it->check.trial.text);
}

static void target_fill(struct working *it) {
    it->target = (struct target_check){.runs = it->runs,
                                       .effect = &it->act->effect,
                                       .place = &it->place,
                                       .arena = &it->arena,
                                       .onto = it->candidate.onto.len ? it->candidate.onto
                                                                      : it->place.run.base,
                                       .candidate = it->commit,
                                       .name = arena_format(&it->arena, "%s-target", it->name),
                                       .ended = target_known,
                                       .with = it};
}

/* On the loop: the operator's commands have ended. */
static void checked(struct candidate_check *check) {
    struct working *it = check->with;
    int64_t exit = check->trial.exit;
    struct str tail = check->trial.text;
    if (it->restored) {
        restored_checked(it, exit, tail);
        return;
    }
    if (exit == 0 && it->files.test_count > 0) {
        it->commanded = true;
        uv_queue_work(it->runs->loop, &it->work, restored_check, restored_prepared);
        return;
    }
    it->exit = exit;
    it->commanded = exit != -1;
    if (exit == 0 || exit == -1) { /* -1: it could not be started: not the fault of the work */
        check_end(it, exit == 0 ? CHECKED_PASSED : CHECKED_NOTHING, tail);
        return;
    }
    it->target.stage = it->check.trial.stage;
    it->target.cache = it->check.trial.cache;
    target_check_begin(&it->target);
}

/* C-78: only for commits that a person merges. */
static struct str trailers(struct working *it) {
    const struct effect *effect = &it->act->effect;
    bool merged_by_person = it->place.how == GIT_AS_BRANCH || it->place.how == GIT_AS_PULL_REQUEST;
    if (!it->place.attributes || !merged_by_person || !effect->candidate.branch.len)
        return STR("");
    struct str agent = effect->agent, task = branch_name_task(effect->candidate.branch);
    return arena_format(&it->arena,
                        "Overseer-Task: %.*s\nCo-authored" /* split: no such line in this file */
                        "-by: %.*s <%.*s@overseer.invalid>\n",
                        STR_ARG(task), STR_ARG(agent), STR_ARG(agent));
}

/* C-81: builds the landing commit itself, on the target's tip. */
static void candidate_build(struct working *it) {
    struct git_work work = {.snapshot = it->snapshot,
                            .conflict_shown = it->act->effect.candidate.conflict,
                            .target = it->place.branch,
                            .how = it->place.how,
                            .subject = it->act->effect.candidate.subject,
                            .trailers = trailers(it)};
    it->commit = it->snapshot;
    if (!it->place.lands)
        return;
    it->answer = git_candidate_make(&it->place.context, &it->place.repo, &it->place.run, &work,
                                    &it->arena, &it->candidate);
    it->commit = it->candidate.commit;
    if (it->answer.result != GIT_DONE)
        return;
    it->files = judged_files(&it->place, it->candidate.files, it->candidate.file_count, &it->arena);
    it->judged = it->files.rules ? JUDGED_RULES : JUDGED_NONE;
}

static void check_place(uv_work_t *work) {
    struct working *it = work->data;
    struct git_tree tree;
    it->answer = work_place_make(&it->place, &it->arena, &tree);
}

static void check_measure(uv_work_t *work) { /* while its agent is frozen */
    struct working *it = work->data;
    it->answer = git_tree_measure(&it->place.context, &it->place.repo, &it->place.run, &it->arena,
                                  &it->measure);
    if (it->answer.result == GIT_DONE && it->measure.file_count > 0)
        it->snapshot = it->measure.snapshot;
}

static void check_prepare(uv_work_t *work) {
    struct working *it = work->data;
    if (it->snapshot.len > 0)
        candidate_build(it);
    if (it->answer.result == GIT_DONE && it->commit.len > 0)
        it->answer = git_checkout_make(&it->place.context, &it->place.repo, str_of(it->name),
                                       it->commit, &it->arena, &it->checkout);
    it->begun_at = clock_boot();
    if (it->checkout.len > 0 && it->answer.result == GIT_DONE &&
        !contract_hold(&it->contract, it->checkout, it->place.within, &it->arena, &it->checks,
                       &it->wrong))
        it->answer = (struct git_answer){GIT_FAILED, it->wrong};
}

/* Setup and command get the time that is left for all checks together: VERIFY-15. */
static void command_check(struct working *it) {
    target_fill(it);
    if (target_still_fails(&it->target)) {
        check_end(it, CHECKED_TARGET, it->target.text);
        return;
    }
    it->check = (struct candidate_check){.trial = {.runs = it->runs,
                                                   .effect = &it->act->effect,
                                                   .place = &it->place,
                                                   .arena = &it->arena,
                                                   .checkout = it->checkout,
                                                   .until = it->begun_at + it->place.within},
                                         .onto = it->target.onto,
                                         .name = it->target.name,
                                         .ended = checked,
                                         .with = it};
    candidate_begin(&it->check);
}

/* The commit is in the clone that the worktree belongs to. */
static struct str conflicts_text(struct working *it) {
    struct writer writer = {.arena = &it->arena};
    struct str onto = it->candidate.onto;
    write_raw(&writer,
              arena_format(&it->arena,
                           "It conflicts with commit %.*s of %.*s, which is in your repository "
                           "(git merge %.*s), in %u files:\n",
                           STR_ARG(onto), STR_ARG(str_cut_utf8(it->place.branch, LIMIT_NAME)),
                           STR_ARG(onto), it->candidate.conflict_count));
    for (uint32_t i = 0; i < it->candidate.conflict_count; i++) {
        struct str name = it->candidate.conflicts[i];
        if (writer.len + name.len + 1 >
            LIMIT_OUTPUT) /* of a longer text only the end would be kept */
            break;
        write_raw(&writer, name);
        write_byte(&writer, '\n');
    }
    return (struct str){writer.at, writer.len};
}

/* A stopping daemon reports nothing: the effect still has to be carried out. */
static bool was_cancelled(struct working *it, int status) {
    if (status == UV_ECANCELED)
        working_free(it);
    else if (status != 0)
        it->answer = (struct git_answer){GIT_BUSY, STR("the queue for network operations is full")};
    return status == UV_ECANCELED;
}

/* The machine is short of something: the work is checked later, without asking a person. */
static bool is_for_later(const struct working *it) {
    return it->answer.result == GIT_NO_SPACE || it->answer.result == GIT_BUSY;
}

static void check_prepared(uv_work_t *work, int status) {
    struct working *it = work->data;
    if (was_cancelled(it, status))
        return;
    if (status == 0 && it->answer.result == GIT_CONFLICT) {
        working_end(it, (struct signal){.to = CHECKED_CONFLICT,
                                        .outcome.reference = it->candidate.conflict,
                                        .text = conflicts_text(it)});
        return;
    }
    if (status != 0 || it->answer.result != GIT_DONE) {
        working_end(it, (struct signal){.to = is_for_later(it) ? CHECKED_TARGET : CHECKED_NOTHING,
                                        .text = it->answer.why});
        return;
    }
    if (it->commit.len == 0) {
        working_end(it, (struct signal){.to = CHECKED_UNCHANGED,
                                        .outcome.reference = it->snapshot,
                                        .text = it->snapshot.len
                                                    ? STR("The target already contains all of it.")
                                                    : STR("Nothing has changed in the worktree.")});
        return;
    }
    if (it->wrong.len > 0)
        check_end(it, CHECKED_FAILED, it->wrong);
    else if (it->place.command.len == 0)
        check_end(it, CHECKED_PASSED,
                  it->checks.count ? STR("Every artifact exists and is valid.")
                                   : STR("It says done, and no artifact is required."));
    else
        command_check(it);
}

static void git_go(struct working *it, struct str where, const char *what, uv_work_cb carry,
                   uv_after_work_cb done) {
    if (!git_source_is_path(where))
        it->place.context.total_us = NET_MOST;
    git_queue(&it->job, &it->work,
              &(struct git_wanted){it->runs, it->act->effect.goal, where, what}, carry, done);
}

/* What lands is built on the target's tip, which has to be fetched from here first. */
static struct str check_asks(struct working *it) {
    if (it->place.how == GIT_AS_PULL_REQUEST && it->place.repo.remote.len > 0)
        return it->place.repo.remote;
    return it->place.repo.source;
}

static void check_build(struct working *it) {
    git_go(it, it->place.lands ? check_asks(it) : STR("/"), "fetch from", check_prepare,
           check_prepared);
}

static void check_measured(uv_work_t *work, int status) {
    struct working *it = work->data;
    still_end(it->runs, &it->act->effect);
    if (status != 0 || it->answer.result != GIT_DONE)
        check_prepared(work, status);
    else
        check_build(it);
}

static void check_still(void *with) {
    struct working *it = with;
    uv_queue_work(it->runs->loop, &it->work, check_measure, check_measured);
}

/* Rebuilding a candidate measures nothing: it is built from the earlier snapshot of the work. */
static void check_placed(uv_work_t *work, int status) {
    struct working *it = work->data;
    it->snapshot = it->act->effect.candidate.snapshot;
    if (status != 0 || it->answer.result != GIT_DONE)
        check_prepared(work, status);
    else if (it->snapshot.len > 0)
        check_build(it);
    else
        still_begin(it->runs, &it->act->effect, check_still, it);
}

static void check_go(struct working *it) {
    bool local = work_place_is_local(&it->place, &it->arena);
    git_go(it, local ? STR("/") : check_asks(it), "fetch from", check_place, check_placed);
}

static void contract_is_known(void *with, struct contract contract) {
    struct working *it = with;
    it->contract = contract;
    if (it->runs->stopping)
        working_free(it); /* the effect still has to be carried out */
    else if (contract.why.len > 0)
        working_end(it, (struct signal){.to = CHECKED_NOTHING, .text = contract.why});
    else
        check_go(it);
}

static void check(struct run_table *runs, struct act *act) {
    struct working *it = working_begin(runs, act);
    if (it && hash_is_zero(&it->act->effect.text))
        check_go(it);
    else if (it && !contract_read(runs, it->act->effect.goal, it->act->effect.text, &it->arena,
                                  contract_is_known, it))
        working_free(it);
}

void work_check(struct run_table *runs, struct act *act) {
    with_hosts(runs, act, check);
}

/* ---- salvage ---- */

static void salvage(uv_work_t *work) {
    struct working *it = work->data;
    if (it->place.port_count > 0)
        git_ports_free(&it->place.context, it->place.run.run, &it->arena);
    it->answer = git_tree_salvage(&it->place.context, &it->place.repo, &it->place.run, &it->arena,
                                  &it->salvaged);
}

/* P10: another host owns the goal; tells it where the work is. */
static void stranded_tell(struct working *it) {
    const struct effect *effect = &it->act->effect;
    struct observation seen = {
        .assignment = effect->assignment, .event = AGENT_STRANDED, .at = clock_wall()};
    struct signal signal = {
        .kind = SIGNAL_AGENT_SEEN,
        .source = id_derive(STR("stranded"), str_of(it->name)),
        .once.keyed = 1,
        .goal = effect->goal,
        .at = seen.at,
        .sender.actor = STR("overseer"),
        .sender.by = WHO_OVERSEER,
        .about.assignment = effect->assignment + 1,
        .about.run = effect->run,
        .body = shape_encode(&OBSERVATION, &seen, &it->arena),
        .reason = arena_format(
            &it->arena, "its work is stranded on host %u: %.*s in the clone of that host",
            ledger_host(it->runs->executor->ledger_thread->ledger),
            STR_ARG(it->salvaged.ref.len ? it->salvaged.ref : STR("its worktree")))};
    struct input *input = input_make(&signal, NULL);
    if (!input || !queue_put(&it->runs->executor->ledger_thread->queue, input))
        input_free(input);
}

static void salvage_done(uv_work_t *work, int status) {
    struct working *it = work->data;
    if (status != 0 || it->answer.result != GIT_DONE)
        log_effect(LEVEL_WARNING, &it->act->effect,
                   "work was not salvaged and stays only in its worktree: %.*s",
                   STR_ARG(it->answer.why));
    else
        salvage_send(it->runs);
    if (it->act->stranded)
        stranded_tell(it);
    working_end(it, (struct signal){.exit = it->exit, .text = it->salvaged.ref});
}

/* A run is over: preserves what it left in its worktree under a ref before anything else can happen to it. */
void work_salvage(struct run_table *runs, struct act *act, int64_t exit) {
    struct arena arena = {0};
    struct work_place place;
    bool there = !runs->stopping && work_place(runs, wanted_by(&act->effect), &arena, &place) &&
                 place.run.base.len > 0;
    arena_free(&arena);
    struct working *it = there ? working_begin(runs, act) : NULL;
    if (!it) {
        if (!there) {
            executor_report(runs->executor, act, (struct signal){.exit = exit});
            free(act);
        }
        return;
    }
    it->exit = exit;
    uv_queue_work(runs->loop, &it->work, salvage, salvage_done);
}

/* ---- landing ---- */

/* A verdict counts only for the commit that was checked, and only while work is checked in the same way. */
static bool verdict_holds(const struct working *it) {
    const struct effect *effect = &it->act->effect;
    bool same =
        hash_equal(&effect->candidate.digest, &it->place.digest) || planted(VERDICT_FOR_ANY_CHECK);
    return effect->candidate.onto.len > 0 && same;
}

/* Looks for the commit on the branch even if its verdict no longer holds: it may have landed before this host, or
 * another one, was lost. */
static void land(uv_work_t *work) {
    struct working *it = work->data;
    struct git_landing landing = {.commit = it->act->effect.candidate.commit,
                                  .onto = it->act->effect.candidate.onto,
                                  .target = it->place.branch,
                                  .how = it->place.how,
                                  .look = !verdict_holds(it)};
    struct git_clone clone;
    if (it->place.run.base.len == 0)
        it->place.run.base = landing.onto; /* the work is on another host */
    if (git_clone_find(&it->place.context, &it->place.repo, &it->arena).len == 0)
        it->answer = git_clone_ensure(&it->place.context, &it->place.repo, it->place.branch,
                                      &it->arena, &clone);
    if (it->answer.result == GIT_DONE)
        it->answer = git_land(&it->place.context, &it->place.repo, &it->place.run, &landing,
                              &it->arena, &it->landed);
}

static struct str landed_text(struct working *it) {
    return str_cut(arena_format(&it->arena, "%.*s on %.*s", STR_ARG(str_cut(it->landed.commit, 12)),
                                STR_ARG(it->landed.ref)),
                   LIMIT_SESSION);
}

/* A push is not a landing: the pull request has to be open, so that it can be merged. */
static void pull_ended(void *with, enum pulled pulled, struct str text) {
    struct working *it = with;
    if (pulled == PULL_LEFT)
        working_free(it);
    else
        working_end(it, (struct signal){.to = pulled == PULL_OPENED ? LANDED_YES : LANDED_PUSHED,
                                        .outcome.reference = landed_text(it),
                                        .text = text});
}

static void pull_begin(struct working *it) {
    static const struct str HEADS = STR("refs/heads/");
    const struct effect *effect = &it->act->effect;
    must(str_begins(it->landed.ref, HEADS));
    struct pull pull = {.head = {it->landed.ref.at + HEADS.len, it->landed.ref.len - HEADS.len},
                        .base = it->place.branch,
                        .commit = it->landed.commit,
                        .goal = arena_format(&it->arena, "goal_%.*s", STR_ARG(it->place.run.goal)),
                        .node = effect->node,
                        .checked_by = it->place.command};
    pull_open(it->runs, effect, &pull, it->place.forge, pull_ended, it);
}

static void landed(uv_work_t *work, int status) {
    static const enum landed CAME[GIT_RESULTS] = {
        [GIT_DONE] = LANDED_YES, [GIT_MOVED] = LANDED_MOVED, [GIT_REFUSED] = LANDED_REFUSED};
    struct working *it = work->data;
    if (was_cancelled(it, status))
        return;
    enum git_result result = status == 0 ? it->answer.result : GIT_FAILED;
    struct signal outcome = {.to = CAME[result], .text = it->answer.why};
    if (result == GIT_MOVED && !verdict_holds(it))
        outcome = (struct signal){.to = LANDED_RECHECK,
                                  .text = STR("How work is checked has changed since it was "
                                              "checked.")};
    if (result == GIT_DONE && it->place.how == GIT_AS_PULL_REQUEST) {
        pull_begin(it);
        return;
    }
    bool on_target = it->place.how != GIT_AS_BRANCH && it->place.how != GIT_AS_PULL_REQUEST;
    if (result == GIT_DONE && on_target && verdict_holds(it))
        target_landed(it->runs, &it->place, it->landed.commit, &it->arena);
    if (result == GIT_DONE)
        outcome.outcome.reference = landed_text(it);
    working_end(it, outcome);
}

void work_land(struct run_table *runs, struct act *act) {
    struct working *it = working_begin(runs, act);
    if (it)
        git_go(it,
               it->place.how == GIT_AS_PULL_REQUEST ? it->place.repo.remote : it->place.repo.source,
               "landing in", land, landed);
}
