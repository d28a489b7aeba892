/* SPDX-License-Identifier: Apache-2.0 */
/* Which artifacts has a node to leave, and which of them are not as they have to be? Its words are read by the hash that the
 * effect names: what the plan says meanwhile is for the next time. */
#include "daemon/guard.h"
#include "daemon/run.h"
#include "model/verification.h"
#include "ops/view.h"
#include "ports/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { TARGET_MOST = 160, REASON_MOST = 240 }; /* bytes of a line that fits among others */
static const int64_t WITHIN = SECONDS(30);     /* VERIFY-02 */

/* ---- reading it ---- */

struct contracting {
    struct errand errand;
    struct lookup lookup;
    struct runs *runs;
    struct id goal;
    struct hash text;
    struct arena *arena;
    const struct store_answer *answer; /* only while it is decoded */
    struct contract contract;
    contract_came *done;
    void *with;
};

/* Texts of a shape point into its bytes: so those are copied first. */
static void contract_decode(void *with) {
    struct contracting *it = with;
    struct str body = arena_copy(it->arena, shown_text(&it->answer->shown, &it->text));
    struct node_text words = {0};
    if (body.len == 0 || !shape_decode_in(&NODE_TEXT, body, it->arena, &words))
        it->contract.why = STR("what it had to leave is not kept any more");
    it->contract.artifacts = words.artifacts;
    it->contract.within = words.check_within ? MILLISECONDS((int64_t)words.check_within) : WITHIN;
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct contracting *it =
        (struct contracting *)((char *)lookup - offsetof(struct contracting, lookup));
    struct guard_report report;
    it->answer = answer;
    if (answer->outcome != STORE_DONE)
        it->contract.why = STR("what it had to leave could not be read from the store");
    else if (guard_run(contract_decode, it, &report) != GUARD_WHOLE)
        it->contract.why = STR("there was no memory for what it had to leave");
    it->answer = NULL;
    errand_home(it->runs, &it->errand);
}

static void came_home(struct errand *errand) {
    struct contracting *it = (struct contracting *)(void *)errand;
    it->done(it->with, it->contract);
    free(it);
}

bool contract_read(struct runs *runs, struct id goal, struct hash text, struct arena *arena,
                   contract_came *done, void *with) {
    struct contracting *it = calloc(1, sizeof *it);
    if (!it)
        return false;
    *it = (struct contracting){.errand.go = came_home,
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
    if (lookups_ask(runs->house->lookups, &it->lookup))
        return true;
    free(it);
    return false;
}

/* ---- holding what was made against it ---- */

static struct str check_line(const struct check_made *check, struct arena *arena) {
    return arena_format(arena, "%.*s: %.*s\n", STR_ARG(str_cut_utf8(check->target, TARGET_MOST)),
                        STR_ARG(check->reason));
}

/* What does not fit into what is kept of a verdict is counted. */
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
