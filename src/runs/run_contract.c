/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which artifacts a node has to produce, and checks them. The contract is read by the hash that the effect names:
 * later changes of the plan apply only to the next check. */
#include "base/memory.h"
#include "model/verification.h"
#include "ops/view.h"
#include "runs/artifact/artifact.h"
#include "runs/run.h"
#include "sys/crash_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { TARGET_MOST = 160, REASON_MOST = 240 }; /* bytes, so that a line fits among others */
static const int64_t WITHIN = SECONDS(30);     /* VERIFY-02 */

/* ---- reading the contract ---- */

struct contracting {
    struct loop_task task;
    struct lookup lookup;
    struct run_table *runs;
    struct id goal;
    struct hash text;
    struct arena *arena;
    const struct store_answer *answer; /* only while it is decoded */
    struct contract contract;
    contract_came *done;
    void *with;
};

/* Decoded texts point into the encoded bytes, so the bytes are copied first. */
static void contract_decode(void *with) {
    struct contracting *it = with;
    struct str body = arena_copy(it->arena, shown_text(&it->answer->shown, &it->text));
    struct node_text words = {0};
    if (body.len == 0 || !shape_decode_in(&NODE_TEXT, body, it->arena, &words))
        it->contract.why = STR("its list of artifacts is no longer stored");
    it->contract.artifacts = words.artifacts;
    it->contract.within = words.check_within ? MILLISECONDS((int64_t)words.check_within) : WITHIN;
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct contracting *it =
        (struct contracting *)((char *)lookup - offsetof(struct contracting, lookup));
    struct crash_guard_report report;
    it->answer = answer;
    if (answer->outcome != STORE_DONE)
        it->contract.why = STR("its list of artifacts could not be read from the store");
    else if (crash_guard_run(contract_decode, it, &report) != CRASH_GUARD_WHOLE)
        it->contract.why = STR("out of memory for its list of artifacts");
    it->answer = NULL;
    loop_post(it->runs, &it->task);
}

static void came_home(struct loop_task *task) {
    struct contracting *it = (struct contracting *)(void *)task;
    it->done(it->with, it->contract);
    free(it);
}

bool contract_read(struct run_table *runs, struct id goal, struct hash text, struct arena *arena,
                   contract_came *done, void *with) {
    struct contracting *it = memory_new(sizeof *it);
    *it = (struct contracting){.task.go = came_home,
                               .lookup.done = looked_up,
                               .runs = runs,
                               .goal = goal,
                               .text = text,
                               .arena = arena,
                               .done = done,
                               .with = with};
    it->lookup.request = (struct store_request){.verb = STORE_SHOW,
                                                .ids = &it->goal,
                                                .id_count = 1,
                                                .limit = 1,
                                                .texts = &it->text,
                                                .text_count = 1};
    if (lookups_ask(runs->context->lookups, &it->lookup))
        return true;
    free(it);
    return false;
}

/* ---- checking the artifacts ---- */

static struct str check_line(const struct check_made *check, struct arena *arena) {
    return arena_format(arena, "%.*s: %.*s\n", STR_ARG(str_cut_utf8(check->target, TARGET_MOST)),
                        STR_ARG(check->reason));
}

/* Lines that do not fit into the stored verdict are only counted. */
static struct str checks_text(const struct check_made *checks, uint32_t count,
                              struct arena *arena) {
    struct writer to = {.arena = arena};
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct str line = check_line(&checks[i], arena);
        if (checks[i].passed)
            continue;
        if (left > 0 || to.len + line.len > LIMIT_OUTPUT - 64)
            left++;
        else
            write_raw(&to, line);
    }
    if (left > 0)
        write_raw(&to, arena_format(arena, "%u more did not pass.\n", left));
    return (struct str){to.at, to.len};
}

static struct check_made check_made(int folder, const struct artifact *artifact, int64_t until,
                                    struct arena *arena) {
    struct artifact_check check = artifact_check(folder, artifact, until, arena);
    return (struct check_made){.type = CHECK_ARTIFACT,
                               .target = check.target,
                               .passed = check.passed,
                               .reason = str_cut_utf8(check.reason, REASON_MOST)};
}

bool contract_hold(const struct contract *contract, struct str checkout, int64_t within,
                   struct arena *arena, struct rows *ret_checks, struct str *ret_wrong) {
    const struct artifact *artifacts = contract->artifacts.at;
    uint32_t count = contract->artifacts.count;
    int64_t until = artifact_clock() + (contract->within < within ? contract->within : within);
    *ret_wrong = (struct str){0};
    if (count == 0)
        return true;
    int folder = open(arena_cstr(arena, checkout), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        *ret_wrong = arena_format(arena, "the clean checkout: %s", strerror(errno));
        return false;
    }
    struct check_made *checks = arena_new(arena, struct check_made, count);
    for (uint32_t i = 0; i < count; i++)
        checks[i] = check_made(folder, &artifacts[i], until, arena);
    close(folder);
    *ret_checks = (struct rows){checks, count};
    *ret_wrong = checks_text(checks, count, arena);
    return true;
}
