/* SPDX-License-Identifier: Apache-2.0 */
/* Does a fleet keep its promises when everything goes wrong at random? Three hosts, twenty goals, hundreds of
 * atoms chosen by a seed: crashes, lost connections, ghosts, frozen hosts, power cuts; then everything is left
 * to run, and all that was promised must be so. A seed always tells the same story.
 *
 *     sim [--seed N] [--runs N] [--steps N] [--backend model|sqlite|postgres|mixed] [--story]
 */
#include "lib/fleet.h"
#include "lib/memvfs.h"
#include "lib/proof.h"

#include "base/planted.h"

#include <getopt.h>
#include <stdlib.h>
#include <time.h>

enum { GOALS = 20 };

struct plan {
    uint64_t seed, runs;
    uint32_t steps;
    const char *backend;
    bool story;
};

struct sim {
    struct fleet *fleet;
    uint64_t random;
    bool on_disk;
    uint64_t power_cuts, deaths;
};

static uint64_t next_random(struct sim *sim) {
    uint64_t z = (sim->random += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t pick(struct sim *sim, uint32_t count) {
    return (uint32_t)(next_random(sim) % count);
}

static bool chance(struct sim *sim, uint32_t per_mille) {
    return pick(sim, 1000) < per_mille;
}

static struct id random_id(struct sim *sim) {
    struct id id;
    uint64_t high = next_random(sim), low = next_random(sim);
    memcpy(id.bytes, &high, 8);
    memcpy(id.bytes + 8, &low, 8);
    return id;
}

/* ---- clients ---- */

static void goal_ask(struct sim *sim) {
    struct id goal = random_id(sim);
    fleet_ask(sim->fleet, (struct asked){.kind = SIGNAL_GOAL_CREATE,
                                         .goal = goal,
                                         .source = goal,
                                         .with_command = chance(sim, 700),
                                         .keyed = chance(sim, 700)});
}

static void report_ask(struct sim *sim) {
    uint32_t of = pick(sim, GOALS);
    if (sim->fleet->asked_count < FLEET_ASKED)
        fleet_ask(sim->fleet, (struct asked){.kind = SIGNAL_GOAL_REPORT,
                                             .goal = sim->fleet->asked[of].goal,
                                             .source = random_id(sim),
                                             .keyed = chance(sim, 700)});
}

/* Ask something that is not acknowledged, once; with a key perhaps again, at another host. */
static void client_moves(struct sim *sim) {
    struct fleet *fleet = sim->fleet;
    if (chance(sim, 300))
        report_ask(sim);
    struct asked *asked = &fleet->asked[pick(sim, fleet->asked_count)];
    uint32_t host = pick(sim, fleet->host_count);
    if (asked->acknowledged || (asked->sent > 0 && !asked->keyed) || asked->sent > 3 ||
        !fleet->hosts[host].up)
        return;
    if (asked->kind == SIGNAL_GOAL_REPORT && !fleet->asked[0].acknowledged && chance(sim, 500))
        return;
    fleet_do(fleet, &(struct atom){
                        .kind = ATOM_ASK, .host = host, .arg = (uint32_t)(asked - fleet->asked)});
}

/* ---- the disk ---- */

static void crash(struct sim *sim, uint32_t host) {
    fleet_do(sim->fleet, &(struct atom){.kind = ATOM_CRASH, .host = host});
}

static void power_cut(struct sim *sim) {
    for (uint32_t i = 0; i < sim->fleet->host_count; i++)
        if (sim->fleet->hosts[i].up)
            crash(sim, i);
    while (sim->fleet->sessions) { /* nothing of them reached the disk */
        struct session *session = sim->fleet->sessions;
        session->ghost = true;
        fleet_do(sim->fleet, &(struct atom){.kind = ATOM_ROLLBACK, .session = session});
    }
    sqlite_backend_power_cut(sim->fleet->backend);
    sim->power_cuts++;
}

/* The process dies in the middle of its transaction, at some operation of the disk. */
static void die_in_statement(struct sim *sim, const struct atom *atom) {
    struct memdisk *disk = sqlite_backend_disk(sim->fleet->backend);
    memdisk_fail(disk, MEMDISK_DIE, 1 + pick(sim, 12));
    uint32_t host = atom->host;
    bool ghost = atom->session->ghost;
    fleet_do(sim->fleet, atom);
    bool died = !memdisk_armed(disk, MEMDISK_DIE);
    memdisk_fail(disk, MEMDISK_NONE, 0);
    if (died && !ghost && sim->fleet->hosts[host].up)
        crash(sim, host);
    else if (died)
        sim->fleet->backend->host_died(sim->fleet->backend, 0);
    sim->deaths += died;
    if (died && chance(sim, 300))
        power_cut(sim);
}

static void disk_fault(struct sim *sim, const struct atom *atom) {
    static const enum memdisk_fault KINDS[] = {MEMDISK_WRITE, MEMDISK_FULL, MEMDISK_SYNC};
    struct memdisk *disk = sqlite_backend_disk(sim->fleet->backend);
    memdisk_fail(disk, KINDS[pick(sim, 3)], 1 + pick(sim, 6));
    fleet_do(sim->fleet, atom);
    memdisk_fail(disk, MEMDISK_NONE, 0);
}

/* ---- one run ---- */

static const uint32_t WEIGHTS[ATOM_KINDS] = {
    [ATOM_TURN] = 100,   [ATOM_STATEMENT] = 100, [ATOM_CHECK] = 60, [ATOM_ACT] = 60,
    [ATOM_OUTCOME] = 50, [ATOM_TIME] = 25,       [ATOM_LOSE] = 6,   [ATOM_FAIL] = 4,
    [ATOM_ROLLBACK] = 4, [ATOM_STUCK] = 4,       [ATOM_CRASH] = 1,  [ATOM_RESTART] = 25,
};

/* Faults of one kind come in swarms: a seed switches some of them off altogether. */
static uint32_t weight_of(const struct sim *sim, const struct atom *atom, uint64_t swarm) {
    const struct fleet *fleet = sim->fleet;
    if (fleet->hosts[atom->host].frozen && atom->kind != ATOM_TIME &&
        atom->kind != ATOM_STATEMENT && atom->kind != ATOM_ROLLBACK)
        return 0;
    if (atom->kind == ATOM_ROLLBACK && atom->session->stuck)
        return 20;
    if (atom->kind == ATOM_STATEMENT && atom->session->ghost && (swarm & 8))
        return 2; /* slow ghosts are the dangerous ones */
    if (atom->kind >= ATOM_LOSE && atom->kind < ATOM_CRASH && (swarm >> atom->kind & 1))
        return 0;
    return WEIGHTS[atom->kind];
}

static const struct atom *atom_pick(struct sim *sim, const struct atom *atoms, uint32_t count,
                                    uint64_t swarm) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += weight_of(sim, &atoms[i], swarm);
    if (total == 0)
        return &atoms[count - 1]; /* time */
    uint32_t at = pick(sim, total);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t weight = weight_of(sim, &atoms[i], swarm);
        if (at < weight)
            return &atoms[i];
        at -= weight;
    }
    return &atoms[count - 1];
}

static void freeze_some(struct sim *sim) {
    struct fleet_host *host = &sim->fleet->hosts[pick(sim, sim->fleet->host_count)];
    host->frozen = !host->frozen && chance(sim, 400);
}

static void one_step(struct sim *sim, uint64_t swarm) {
    struct atom atoms[FLEET_ATOMS];
    if (chance(sim, 80))
        client_moves(sim);
    if (chance(sim, 15))
        freeze_some(sim);
    if (chance(sim, 10) && (swarm & 4))
        fleet_do(sim->fleet, &(struct atom){.kind = ATOM_MEDDLE, .arg = pick(sim, GOALS)});
    uint32_t count = fleet_atoms(sim->fleet, atoms);
    struct atom atom = *atom_pick(sim, atoms, count, swarm);
    bool statement = atom.kind == ATOM_STATEMENT && sim->on_disk;
    if (statement && chance(sim, 8) && (swarm & 1))
        die_in_statement(sim, &atom);
    else if (statement && chance(sim, 10) && (swarm & 2))
        disk_fault(sim, &atom);
    else if (sim->on_disk && chance(sim, 2) && (swarm & 1))
        power_cut(sim);
    else
        fleet_do(sim->fleet, &atom);
}

static struct backend *backend_for(const struct plan *plan, uint64_t seed) {
    const char *name = plan->backend;
    if (strcmp(name, "mixed") == 0)
        name = seed % 2 ? "sqlite" : "model";
    if (strcmp(name, "postgres") == 0)
        return postgres_backend(getenv("OVERSEER_TEST_PG"));
    return strcmp(name, "sqlite") == 0 ? sqlite_backend(seed) : model_backend();
}

static void run_atoms(struct sim *sim, uint32_t steps, uint64_t swarm) {
    for (uint32_t i = 0; i < steps && !sim->fleet->violation[0]; i++) {
        one_step(sim, swarm);
        if (i % 64 == 63)
            fleet_check(sim->fleet);
    }
    if (sim->fleet->crashes == 0 && !sim->fleet->violation[0])
        crash(sim, pick(sim, sim->fleet->host_count)); /* at least one, in every run */
    for (uint32_t i = 0; i < sim->fleet->host_count; i++)
        sim->fleet->hosts[i].frozen = false;
}

struct totals {
    uint64_t steps, crashes, faults, power_cuts, deaths, acts, acknowledged, takeovers, violations;
};

static bool run_one(const struct plan *plan, uint64_t seed, struct totals *totals) {
    struct sim sim = {.random = seed * 0x2545F4914F6CDD1Du + 1};
    sim.fleet = fleet_create(backend_for(plan, seed), FLEET_HOSTS, 4000, 1000);
    sim.on_disk = strcmp(sim.fleet->backend->name, "sqlite") == 0;
    sim.fleet->story = plan->story ? stdout : NULL;
    uint64_t swarm = next_random(&sim);
    for (int i = 0; i < GOALS; i++)
        goal_ask(&sim);
    run_atoms(&sim, plan->steps, swarm);
    if (!sim.fleet->violation[0])
        fleet_heal(sim.fleet);
    bool ok = sim.fleet->violation[0] == 0;
    if (!ok)
        printf("seed %llu on %s: %s\n", (unsigned long long)seed, sim.fleet->backend->name,
               sim.fleet->violation);
    totals->steps += sim.fleet->steps;
    totals->crashes += sim.fleet->crashes;
    totals->faults += sim.fleet->faults;
    totals->power_cuts += sim.power_cuts;
    totals->deaths += sim.deaths;
    totals->violations += !ok;
    for (uint32_t i = 0; i < sim.fleet->acted_count; i++)
        totals->acts += sim.fleet->acted[i].times;
    for (uint32_t i = 0; i < sim.fleet->asked_count; i++)
        totals->acknowledged += sim.fleet->asked[i].acknowledged;
    fleet_free(sim.fleet);
    return ok;
}

static bool options_read(struct plan *plan, int argc, char **argv) {
    static const struct option LONG[] = {
        {"seed", required_argument, NULL, 's'},  {"runs", required_argument, NULL, 'r'},
        {"steps", required_argument, NULL, 't'}, {"backend", required_argument, NULL, 'b'},
        {"story", no_argument, NULL, 'y'},       {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 's': plan->seed = strtoull(optarg, NULL, 10); break;
        case 'r': plan->runs = strtoull(optarg, NULL, 10); break;
        case 't': plan->steps = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'b': plan->backend = optarg; break;
        case 'y': plan->story = true; break;
        default: return false;
        }
    return true;
}

int main(int argc, char **argv) {
    struct plan plan = {.seed = 1, .runs = 100, .steps = 500, .backend = "mixed"};
    struct totals t = {0};
    if (!options_read(&plan, argc, argv))
        return 2;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint64_t seed = plan.seed;
    for (; seed < plan.seed + plan.runs; seed++)
        if (!run_one(&plan, seed, &t) && (PLANTED != PLANTED_NONE || t.violations >= 10))
            break;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf(
        "sim %s: %llu seeds, %llu steps, %llu crashes, %llu power cuts, %llu deaths in a transaction, %llu faults,"
        " %llu acts, %llu acknowledged, %.1f s, %llu violations\n",
        plan.backend, (unsigned long long)(seed - plan.seed), (unsigned long long)t.steps,
        (unsigned long long)t.crashes, (unsigned long long)t.power_cuts,
        (unsigned long long)t.deaths, (unsigned long long)t.faults, (unsigned long long)t.acts,
        (unsigned long long)t.acknowledged,
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
        (unsigned long long)t.violations);
    if (t.violations == 0 && PLANTED == PLANTED_NONE && plan.runs >= 100)
        proof_passed("sim", plan.backend, "STORE-02 STORE-06 ASSIGN-14 EVENT-04");
    return t.violations ? 1 : 0;
}
