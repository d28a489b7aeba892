/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every decision is the same when it is made again from its records. The core alone, with the pretend agents of
 * tests/lib/cast.h, by seed. Each record of each goal and admission is passed to a replay as it is written; a second replay
 * determines what another policy would have decided.
 *
 *     replayed [--seed N] [--goals N]    until that many goals have been replayed
 *
 * The linker wraps step(): the test sees each decision without any change to the tested code. */
#include "core/replay.h"
#include "lib/alone.h"
#include "lib/proof.h"

#include <getopt.h>
#include <stdlib.h>

enum { DAYS = 4, GOALS = 8, SEATS = 4096 };

struct neighbour { /* one aggregate */
    struct id goal;
    struct replay same, other;
    bool broken;
};

static struct neighbour *neighbour[SEATS];
static uint32_t neighbour_count;
static bool replaying;
static struct policy in_force, otherwise;
static struct newest { /* texts of the newest decision */
    const struct text_row *at;
    uint32_t count;
} newest;

static struct { uint64_t goals, decisions, records, failed, differ, differences, quiet; } total;

/* ---- sources of a replay ---- */

static bool policy_find(void *with, const struct hash *hash, const struct policy **ret) {
    (void)with;
    *ret = &in_force;
    return hash_equal(hash, &in_force.hash);
}

static bool text_find(void *with, const struct hash *hash, struct str *ret) {
    (void)with;
    for (uint32_t i = 0; i < newest.count; i++)
        if (hash_equal(&newest.at[i].hash, hash)) {
            *ret = newest.at[i].body;
            return true;
        }
    return false;
}

static struct neighbour *watched_of(struct id goal) {
    for (uint32_t i = 0; i < neighbour_count; i++)
        if (id_equal(neighbour[i]->goal, goal))
            return neighbour[i];
    must(neighbour_count < SEATS);
    struct neighbour *new = calloc(1, sizeof *new);
    must(new != NULL);
    new->goal = goal;
    new->same.from = new->other.from = (struct replay_sources){policy_find, text_find, NULL};
    replay_begin(&new->same, goal);
    replay_begin(&new->other, goal);
    new->other.other = &otherwise;
    neighbour[neighbour_count++] = new;
    return new;
}

static void tell(const struct neighbour *it, const struct record *record) {
    char id[ID_TEXT + 1];
    id_format(it->goal, id);
    printf("goal %s, record %llu (%s): %s\n", id, (unsigned long long)record->seq,
           RECORDS[record->type].name, name_of(&REPLAYED_NAMES, it->same.verdict));
}

static void decision_replay(const struct decision *decision) {
    struct neighbour *it = watched_of(decision->goal.id);
    newest = (struct newest){decision->texts, decision->text_count};
    for (uint32_t i = 0; i < decision->record_count && !it->broken; i++) {
        it->broken = !replay_take(&it->same, &decision->records[i]) ||
                     !replay_take(&it->other, &decision->records[i]);
        if (it->broken)
            tell(it, &decision->records[i]);
    }
}

struct decision __real_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out);
struct decision __wrap_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out);
struct decision __wrap_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out) {
    struct decision decision = __real_step(world, signal, policy, out);
    if (!replaying && decision.verdict == VERDICT_CHANGE) {
        replaying = true;
        in_force = otherwise = *policy;
        otherwise.liveness.idle_after *= 3;
        otherwise.recovery.max_retries++;
        decision_replay(&decision);
        replaying = false;
    }
    return decision;
}

/* ---- runs ---- */

static void watched_count_up(struct neighbour *it) {
    bool same = !it->broken && replay_conclude(&it->same) == REPLAYED_SAME;
    total.goals++;
    total.failed += !same;
    total.decisions += it->same.decisions;
    total.records += it->same.records;
    total.differ += it->same.differences;
    total.differences += it->other.differences;
    total.quiet += it->other.differences == 0;
    replay_end(&it->same);
    replay_end(&it->other);
    free(it);
}

static void run(uint64_t seed) {
    struct alone *alone = alone_create(seed, GOALS, DAYS);
    while (alone_move(alone))
        ;
    if (replaying) /* a replay broke an invariant, and the crash guard around the run took over */
        printf("seed %llu: %s\n", (unsigned long long)seed, alone->violation);
    total.failed += replaying;
    replaying = false;
    for (uint32_t i = 0; i < neighbour_count; i++)
        watched_count_up(neighbour[i]);
    neighbour_count = 0;
    alone_free(alone);
}

int main(int argc, char **argv) {
    static const struct option LONG[] = {
        {"seed", required_argument, NULL, 's'}, {"goals", required_argument, NULL, 'g'}, {0}};
    uint64_t seed = 1, goals = 1000;
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 's': seed = strtoull(optarg, NULL, 10); break;
        case 'g': goals = strtoull(optarg, NULL, 10); break;
        default: return 2;
        }
    for (; total.goals < goals; seed++)
        run(seed);
    printf("%llu goals and desks replayed, %llu decisions, %llu records: %llu differ\n",
           (unsigned long long)total.goals, (unsigned long long)total.decisions,
           (unsigned long long)total.records, (unsigned long long)total.failed);
    printf("with another policy %llu one-step differences; %llu without any\n",
           (unsigned long long)total.differences, (unsigned long long)total.quiet);
    if (total.failed > 0 || total.differ > 0 || total.differences == 0)
        return 1;
    proof_passed("replayed", "recorded goals give the same decisions again", "TICK-28 EVENT-05");
    return 0;
}
