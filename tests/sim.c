/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a fleet keeps its guarantees when everything goes wrong at random. Three hosts, twenty goals, hundreds of
 * atoms chosen by a seed: clients who plan, work, pause and cancel; crashes, lost connections, ghosts, frozen
 * hosts, power cuts, a store that is restored to an earlier time; then everything is left to run, and every
 * guarantee must hold. A seed always produces the same story.
 *
 *     sim [--seed N] [--runs N] [--steps N] [--jobs N] [--backend model|sqlite|postgres|mixed] [--story]
 *     sim --agents N [--days N] [--twice] …    the same with agents who work, and days instead of steps */
#include "lib/fleet.h"
#include "lib/memvfs.h"
#include "lib/proof.h"
#include "lib/vigil.h"

#include "base/planted.h"

#include <getopt.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOALS = 20, MAX_JOBS = 64 };

struct course {
    uint64_t seed, runs;
    uint32_t steps, jobs;
    const char *backend;
    bool story, twice;
    uint32_t agents, days; /* agents: 0: none */
};

struct sim {
    struct fleet *fleet;
    struct arena arena; /* memory of the clients' operations */
    struct gen gen;
    bool on_disk;
    bool backed_up;
    uint64_t power_cuts, deaths;
};

static uint32_t pick(struct sim *sim, uint32_t count) {
    return dice_pick(&sim->gen.dice, count);
}

static bool chance(struct sim *sim, uint32_t per_mille) {
    return dice_chance(&sim->gen.dice, per_mille);
}

/* ---- clients ---- */

static void op_ask(struct sim *sim, struct op op) {
    if (sim->fleet->asked_count == FLEET_ASKED)
        return;
    struct op *kept = arena_new(&sim->arena, struct op, 1);
    *kept = op;
    fleet_ask(sim->fleet, (struct asked){.kind = op.signal.kind,
                                         .goal = op.signal.goal,
                                         .source = op.signal.source,
                                         .keyed = chance(sim, 500),
                                         .op = kept});
}

/* Makes an operation on one of the goals, based on what was last seen of it: the goal may have changed since. */
static void goal_ask(struct sim *sim) {
    struct id goal = sim->fleet->asked[pick(sim, GOALS)].goal;
    if (chance(sim, 200))
        fleet_look(sim->fleet);
    for (int i = 0; i < 5 && !dump_goal(&sim->fleet->view, goal); i++)
        goal = sim->fleet->asked[pick(sim, GOALS)].goal;
    struct knowledge known = fleet_known(sim->fleet, goal, &sim->arena);
    op_ask(sim, gen_op(&sim->gen, &known, &sim->arena));
}

/* Sends a request that is not acknowledged, once; with a key perhaps again, to another host. */
static void client_moves(struct sim *sim) {
    struct fleet *fleet = sim->fleet;
    if (chance(sim, 600))
        goal_ask(sim);
    uint32_t newest = fleet->asked_count > GOALS && chance(sim, 600)
                          ? fleet->asked_count - 1
                          : pick(sim, fleet->asked_count);
    struct asked *asked = &fleet->asked[newest];
    uint32_t host = pick(sim, fleet->host_count);
    if (asked->acknowledged || asked->gone || (asked->sent > 0 && !asked->keyed) ||
        asked->sent > 3 || !fleet->hosts[host].up)
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
    while (sim->fleet->sessions) { /* nothing of their work reached the disk */
        struct session *session = sim->fleet->sessions;
        session->ghost = true;
        fleet_do(sim->fleet, &(struct atom){.kind = ATOM_ROLLBACK, .session = session});
    }
    sqlite_backend_power_cut(sim->fleet->backend);
    for (uint32_t i = 0; i < sim->fleet->host_count; i++)
        fleet_machine_off(sim->fleet, i);
    sim->power_cuts++;
}

/* The process dies in the middle of its transaction, at a random disk operation. */
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

/* Faults of one kind come in swarms: each seed switches some kinds off entirely. */
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

/* Makes a backup now and then, and occasionally restores it. */
static void back_up_some(struct sim *sim, uint64_t swarm) {
    if (!sim->fleet->backend->back_up || !(swarm & 16))
        return;
    if (!sim->backed_up || chance(sim, 200)) {
        fleet_back_up(sim->fleet);
        sim->backed_up = true;
    } else if (chance(sim, 300))
        fleet_restore(sim->fleet);
}

static void freeze_some(struct sim *sim) {
    struct fleet_host *host = &sim->fleet->hosts[pick(sim, sim->fleet->host_count)];
    host->frozen = !host->frozen && chance(sim, 400);
}

static void one_step(struct sim *sim, uint64_t swarm) {
    struct atom atoms[FLEET_ATOMS];
    if (chance(sim, 200))
        client_moves(sim);
    if (chance(sim, 15))
        freeze_some(sim);
    if (chance(sim, 12))
        back_up_some(sim, swarm);
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

static struct backend *backend_for(const struct course *course, uint64_t seed) {
    const char *name = course->backend;
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
    if (sim->fleet->crashes == 0 && sim->fleet->restores == 0 && !sim->fleet->violation[0])
        crash(sim, pick(sim, sim->fleet->host_count)); /* at least one, in every run */
    for (uint32_t i = 0; i < sim->fleet->host_count; i++)
        sim->fleet->hosts[i].frozen = false;
}

struct totals {
    uint64_t seeds, steps, crashes, faults, power_cuts, deaths, restores, acts, asked, acknowledged,
        refused, violations;
    uint64_t agent_days, goals, done, cancelled, left, commits, answers, sleeps, waits;
    struct cast_counts cast;
};

/* Half of the fleets require approval of plans, half of them let an agent plan. */
static struct sim sim_make(const struct course *course, uint64_t seed) {
    struct sim sim = {.gen = {.dice = {seed * 0x2545F4914F6CDD1Du + 1}, .max_nodes = 12}};
    sim.fleet = fleet_create(backend_for(course, seed), FLEET_HOSTS, 4000, 1000);
    sim.on_disk = strcmp(sim.fleet->backend->name, "sqlite") == 0;
    sim.fleet->story = course->story ? stdout : NULL;
    sim.gen.approve_plans = chance(&sim, 500);
    sim.gen.plan_agent = chance(&sim, 500) ? STR("ci") : (struct str){0};
    fleet_policy(sim.fleet, policy_seal((struct policy){.act_within = sim.fleet->lease * 50,
                                                        .plans.approve = sim.gen.approve_plans,
                                                        .plans.agents = sim.gen.plan_agent}));
    for (int i = 0; i < GOALS; i++)
        op_ask(&sim, gen_create(&sim.gen, &sim.arena));
    return sim;
}

static void totals_add(struct totals *totals, const struct sim *sim) {
    const struct fleet *fleet = sim->fleet;
    totals->seeds++;
    totals->steps += fleet->steps;
    totals->crashes += fleet->crashes;
    totals->faults += fleet->faults;
    totals->restores += fleet->restores;
    totals->power_cuts += sim->power_cuts;
    totals->deaths += sim->deaths;
    totals->violations += fleet->violation[0] != 0;
    for (uint32_t i = 0; i < fleet->acted_count; i++)
        totals->acts += fleet->acted[i].times;
    for (uint32_t i = 0; i < fleet->asked_count; i++) {
        totals->asked += fleet->asked[i].sent > 0;
        totals->acknowledged += fleet->asked[i].acknowledged;
        totals->refused += fleet->asked[i].refused > 0;
    }
}

static bool run_one(const struct course *course, uint64_t seed, struct totals *totals) {
    struct sim sim = sim_make(course, seed);
    uint64_t swarm = dice_next(&sim.gen.dice);
    run_atoms(&sim, course->steps, swarm);
    if (!sim.fleet->violation[0])
        fleet_heal(sim.fleet);
    bool ok = sim.fleet->violation[0] == 0;
    if (!ok)
        printf("seed %llu on %s: %s\n", (unsigned long long)seed, sim.fleet->backend->name,
               sim.fleet->violation);
    fflush(stdout);
    totals_add(totals, &sim);
    fleet_free(sim.fleet);
    arena_free(&sim.arena);
    return ok;
}

/* ---- one run with agents ---- */

static uint64_t vigil_play(const struct course *course, uint64_t seed, struct totals *totals) {
    struct vigil *vigil =
        vigil_create(backend_for(course, seed), seed, course->agents, course->days);
    vigil->fleet->story = course->story ? stdout : NULL;
    vigil_run(vigil);
    bool ok = vigil->fleet->violation[0] == 0;
    uint64_t digest = vigil_digest(vigil);
    if (!ok)
        printf("seed %llu on %s: %s\n", (unsigned long long)seed, vigil->fleet->backend->name,
               vigil->fleet->violation);
    fflush(stdout);
    const struct vigil_counts *counts = &vigil->counts;
    totals->seeds++;
    totals->steps += vigil->fleet->steps;
    totals->crashes += vigil->fleet->crashes;
    totals->faults += vigil->fleet->faults;
    totals->violations += !ok;
    totals->agent_days += (uint64_t)course->agents * course->days;
    totals->goals += counts->goals;
    totals->done += counts->done;
    totals->cancelled += counts->cancelled;
    totals->left += counts->asked;
    totals->commits += counts->commits;
    totals->answers += counts->answers;
    totals->sleeps += counts->sleeps;
    totals->waits += counts->waits;
    cast_counts_add(&totals->cast, &vigil->fleet->cast->counts);
    vigil_free(vigil);
    return digest;
}

static bool run_vigil(const struct course *course, uint64_t seed, struct totals *totals) {
    uint64_t before = totals->violations, first = vigil_play(course, seed, totals);
    if (course->twice && vigil_play(course, seed, totals) != first) {
        printf("seed %llu writes other records when it is played again\n",
               (unsigned long long)seed);
        totals->violations++;
    }
    return totals->violations == before;
}

/* ---- many runs ---- */

/* Seeds are assigned to jobs in pairs, so that each job runs both engines. */
static bool run_seed(const struct course *course, uint64_t seed, struct totals *totals) {
    return course->agents ? run_vigil(course, seed, totals) : run_one(course, seed, totals);
}

static struct totals run_share(const struct course *course, uint32_t job) {
    struct totals totals = {0};
    for (uint64_t seed = course->seed; seed < course->seed + course->runs; seed++)
        if (seed / 2 % course->jobs == job && !run_seed(course, seed, &totals) &&
            (PLANTED != PLANTED_NONE || totals.violations >= 10))
            break;
    return totals;
}

static void share_add(struct totals *to, const struct totals *from) {
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++)
        sums[i] += more[i];
}

/* Each job is a process: a run that crashes is a violation, and does not end the others. */
static struct totals run_jobs(const struct course *course) {
    struct totals totals = {0};
    int ends[MAX_JOBS];
    for (uint32_t job = 0; job < course->jobs; job++) {
        int pair[2];
        must(pipe(pair) == 0);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            struct totals mine = run_share(course, job);
            _exit(write(pair[1], &mine, sizeof mine) == sizeof mine ? 0 : 2);
        }
        close(pair[1]);
        ends[job] = pair[0];
    }
    for (uint32_t job = 0; job < course->jobs; job++) {
        struct totals share = {0};
        if (read(ends[job], &share, sizeof share) != sizeof share)
            share = (struct totals){.violations = 1};
        close(ends[job]);
        share_add(&totals, &share);
    }
    while (wait(NULL) > 0)
        ;
    return totals;
}

static bool options_read(struct course *course, int argc, char **argv) {
    static const struct option LONG[] = {
        {"seed", required_argument, NULL, 's'},   {"runs", required_argument, NULL, 'r'},
        {"steps", required_argument, NULL, 't'},  {"backend", required_argument, NULL, 'b'},
        {"jobs", required_argument, NULL, 'j'},   {"story", no_argument, NULL, 'y'},
        {"agents", required_argument, NULL, 'a'}, {"days", required_argument, NULL, 'd'},
        {"twice", no_argument, NULL, 'w'},        {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 's': course->seed = strtoull(optarg, NULL, 10); break;
        case 'r': course->runs = strtoull(optarg, NULL, 10); break;
        case 't': course->steps = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'j': course->jobs = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'b': course->backend = optarg; break;
        case 'y': course->story = true; break;
        case 'a': course->agents = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'd': course->days = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'w': course->twice = true; break;
        default: return false;
        }
    return course->jobs <= MAX_JOBS;
}

/* One database serves one run at a time; a planted bug is found by the first seed that shows it. */
static uint32_t jobs_of(const struct course *course) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (course->story || PLANTED != PLANTED_NONE || strcmp(course->backend, "postgres") == 0)
        return 1;
    if (course->jobs > 0)
        return course->jobs;
    return processors < 1 ? 1 : processors > MAX_JOBS ? MAX_JOBS : (uint32_t)processors;
}

static void agents_print(const struct course *course, const struct totals *t, double seconds) {
    const struct cast_counts *c = &t->cast;
    printf(
        "sim %s with agents: %llu seeds, %llu agent-days, %llu goals: %llu done, %llu cancelled, "
        "%llu with a person; %llu commits, %llu crashes, %llu faults, %llu sleeps, %llu answers, %llu waits in a lane\n",
        course->backend, (unsigned long long)t->seeds, (unsigned long long)t->agent_days,
        (unsigned long long)t->goals, (unsigned long long)t->done, (unsigned long long)t->cancelled,
        (unsigned long long)t->left, (unsigned long long)t->commits, (unsigned long long)t->crashes,
        (unsigned long long)t->faults, (unsigned long long)t->sleeps,
        (unsigned long long)t->answers, (unsigned long long)t->waits);
    printf(
        "%llu runs, %llu sends, %llu nudges (%llu in vain), %llu looks, %llu stops, %llu stalls, "
        "%llu doubtful deliveries, %llu ghosts, %.1f s, %llu violations\n",
        (unsigned long long)c->spawns, (unsigned long long)c->sends, (unsigned long long)c->nudges,
        (unsigned long long)c->vain, (unsigned long long)c->looks, (unsigned long long)c->stops,
        (unsigned long long)c->stalls, (unsigned long long)c->doubts, (unsigned long long)c->ghosts,
        seconds, (unsigned long long)t->violations);
}

static void steps_print(const struct course *course, const struct totals *t, double seconds) {
    printf(
        "sim %s: %llu seeds, %llu steps, %llu crashes, %llu power cuts, %llu deaths in a transaction,"
        " %llu faults, %llu restores, %llu acts, %llu asked, %llu acknowledged, %llu refused, %.1f s,"
        " %llu violations\n",
        course->backend, (unsigned long long)t->seeds, (unsigned long long)t->steps,
        (unsigned long long)t->crashes, (unsigned long long)t->power_cuts,
        (unsigned long long)t->deaths, (unsigned long long)t->faults,
        (unsigned long long)t->restores, (unsigned long long)t->acts, (unsigned long long)t->asked,
        (unsigned long long)t->acknowledged, (unsigned long long)t->refused, seconds,
        (unsigned long long)t->violations);
}

int main(int argc, char **argv) {
    struct course course = {.seed = 1, .runs = 100, .steps = 600, .backend = "mixed", .days = 2};
    if (!options_read(&course, argc, argv))
        return 2;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    course.jobs = jobs_of(&course);
    struct totals t = course.jobs > 1 ? run_jobs(&course) : run_share(&course, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    (course.agents ? agents_print : steps_print)(&course, &t, seconds);
    bool passed = t.violations == 0 && PLANTED == PLANTED_NONE && t.seeds >= course.runs;
    if (passed && t.seeds >= 100 && !course.agents)
        proof_passed("sim", course.backend, "STORE-02 STORE-06 EVENT-04 PLAN-17 PLAN-25");
    if (passed && course.agents)
        proof_passed("sim with agents", course.backend,
                     "TEST-03 TICK-16 TICK-17 TICK-26 RECOVER-08 RECOVER-10");
    return t.violations ? 1 : 0;
}
