/* SPDX-License-Identifier: Apache-2.0 */
/* Searches all orders of events for one in which something is lost or done twice. Two hosts, one goal, one effect: every
 * interleaving of statements, acts, answers, losses, crashes and take-overs within a budget, each state
 * visited once. A violation is printed as the story that leads to it.
 *
 *     explore [--world effect|report|run|lane|back] [--ticks N] [--backs N] [--faults N] [--crashes N] [--meddles N] [--states N] [--rest N]
 *
 * World `effect`: a client requests one goal with one effect from one host and then from the other. World `report`:
 * the goal exists; a client reports on it once, without a key. World `run` (P10): an agent works on the goal's only task on host 1, and
 * reports at any time that it is done; either host may fall silent, crash and return. Requests to the store are not split there.
 * World `lane` (decision 11): each host has a goal whose only task passed its checks and waits for the slot of one landing lane, which a person
 * releases. The lane is built, checked and pushed to as in world `run`; a person pushes to the target (--meddles).
 * World `back` (P13): as `effect`, and the store goes back by one to three commits (--backs); requests are not split. */
#include "lib/fleet.h"
#include "lib/proof.h"
#include "lib/snapshot.h"

#include "base/planted.h"
#include "model/repository.h"

#include <getopt.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_DEPTH = 400 };

struct allowance {
    uint32_t ticks, faults, crashes, meddles;
    uint64_t states;
    uint64_t rest; /* one in this many states is run until it is at rest */
    bool report, run, lane, back;
    uint32_t backs;
};

struct explorer {
    struct allowance budget;
    struct fleet *fleet;
    uint32_t path[MAX_DEPTH]; /* the atom chosen at each depth */
    uint32_t depth;
    struct snapshot states[MAX_DEPTH]; /* the world at each depth */
    uint32_t ticks_at[MAX_DEPTH];
    uint64_t *visited; /* open addressing; 0: free */
    size_t visited_cap;
    uint64_t visited_count, transitions, quiet, deepest;
    uint32_t ticks_used;
    bool violated, cut;
};

/* ---- the set of visited states ---- */

static bool visited_add(struct explorer *e, uint64_t digest) {
    if (digest == 0)
        digest = 1;
    if ((e->visited_count + 1) * 2 > e->visited_cap) {
        size_t cap = e->visited_cap ? e->visited_cap * 2 : 1 << 16;
        uint64_t *grown = outside_calloc(cap, sizeof *grown);
        must(grown != NULL);
        for (size_t i = 0; i < e->visited_cap; i++)
            if (e->visited[i]) {
                size_t k = e->visited[i] & (cap - 1);
                while (grown[k])
                    k = (k + 1) & (cap - 1);
                grown[k] = e->visited[i];
            }
        outside_free(e->visited);
        e->visited = grown;
        e->visited_cap = cap;
    }
    size_t k = digest & (e->visited_cap - 1);
    while (e->visited[k] && e->visited[k] != digest)
        k = (k + 1) & (e->visited_cap - 1);
    if (e->visited[k])
        return false;
    e->visited[k] = digest;
    e->visited_count++;
    return true;
}

/* ---- the explored world ---- */

/* Runs until both hosts are up, have joined and have read the store. */
static void world_settle(struct explorer *e) {
    for (int i = 0; i < 200; i++) {
        struct atom atoms[FLEET_ATOMS];
        uint32_t count = fleet_atoms(e->fleet, atoms);
        for (uint32_t k = 0; k < count; k++)
            if (atoms[k].kind == ATOM_TURN || atoms[k].kind == ATOM_STATEMENT) {
                fleet_do(e->fleet, &atoms[k]);
                break;
            }
    }
}

/* ---- world `run` ---- */

static const int64_t RUN_TICK = SECONDS(3); /* one lease, and the time that a successor waits */

static struct signal plan_signal(struct id goal, struct arena *arena) {
    static const struct str CRITERION = {"it is done", 10};
    struct plan_row rows[] = {{.id = STR("P1"),
                               .tier = TIER_PHASE,
                               .text = {.name = STR("all of it"), .criteria = {&CRITERION, 1}}},
                              {.id = STR("T1"),
                               .parent = STR("P1"),
                               .tier = TIER_TASK,
                               .text = {.name = STR("make it"), .criteria = {&CRITERION, 1}}}};
    struct plan_text text = {{rows, count_of(rows)}};
    return (struct signal){.kind = SIGNAL_PLAN_APPLY,
                           .goal = goal,
                           .source = id_derive(STR("explore"), STR("plan")),
                           .once.keyed = 1,
                           .sender.actor = STR("client"),
                           .sender.by = WHO_HUMAN,
                           .body = shape_encode(&PLAN_TEXT, &text, arena)};
}

/* Does everything that is possible on host 1, without faults, until its agent works. Host 2 keeps its heartbeat. */
static void run_settle(struct explorer *e) {
    for (int i = 0; i < 4000; i++) {
        struct atom atoms[FLEET_ATOMS];
        uint32_t count = fleet_atoms(e->fleet, atoms), k = 0;
        while (k < count && (atoms[k].kind > ATOM_SENSE || atoms[k].kind == ATOM_ASK ||
                             (atoms[k].host != 0 && atoms[k].kind != ATOM_TURN &&
                              atoms[k].kind != ATOM_STATEMENT)))
            k++;
        if (k == count)
            return;
        fleet_do(e->fleet, &atoms[k]);
    }
}

static struct policy run_policy(void) {
    static struct policy_agent agent = {.id = "coder", .account = "coder"};
    struct policy policy = policy_default();
    policy.dispatch.agents = &agent;
    policy.dispatch.agent_count = 1;
    policy.recovery.orphan_after = SECONDS(1);
    policy.liveness.tick_every = SECONDS(1);
    policy.recovery.backoff_base = policy.recovery.backoff_max = SECONDS(1);
    policy.recovery.min_resend = 0;
    return policy;
}

static void run_fleet(struct explorer *e, struct policy policy) {
    e->fleet = fleet_create(model_backend(), 2, RUN_TICK, RUN_TICK);
    fleet_policy(e->fleet, policy_seal(policy));
    fleet_agents(e->fleet, 1);
    memset(e->fleet->cast->weights, 0, sizeof e->fleet->cast->weights);
    e->fleet->cast->weights[PRETEND_PUPPET] = 1;
    fleet_hosts_matter(e->fleet);
    world_settle(e);
}

static void goal_make(struct explorer *e, struct id goal, uint32_t host) {
    uint32_t asked = fleet_ask(
        e->fleet,
        (struct asked){.kind = SIGNAL_GOAL_CREATE, .goal = goal, .source = goal, .keyed = true});
    fleet_do(e->fleet, &(struct atom){.kind = ATOM_ASK, .host = host, .arg = asked});
}

static void run_begin(struct explorer *e) {
    struct id goal = id_derive(STR("explore"), STR("goal"));
    struct arena arena = {0};
    run_fleet(e, run_policy());
    e->fleet->one_assignment = true;
    goal_make(e, goal, 0);
    run_settle(e);
    struct signal plan = plan_signal(goal, &arena);
    fleet_tell(e->fleet, &plan);
    run_settle(e);
    must(e->fleet->cast->run_count == 1 && e->fleet->cast->runs[0].host == 1);
    struct signal done =
        cast_says(e->fleet->cast, &e->fleet->cast->runs[0], REPLY_DONE, e->fleet->clock, &arena);
    fleet_tell(e->fleet, &done);
    arena_free(&arena);
}

/* ---- world `lane` ---- */

enum { LANE_ROUNDS = 12 };

/* Lets both hosts do everything that is possible, without faults; time passes `ticks` times. */
static void lane_settle(struct explorer *e, uint32_t ticks) {
    for (int i = 0; i < 4000; i++) {
        struct atom atoms[FLEET_ATOMS];
        uint32_t count = fleet_atoms(e->fleet, atoms), k = 0;
        while (k < count && (atoms[k].kind > ATOM_SENSE || atoms[k].kind == ATOM_ASK))
            k++;
        if (k < count)
            fleet_do(e->fleet, &atoms[k]);
        else if (ticks-- > 0)
            fleet_do(e->fleet, &(struct atom){.kind = ATOM_TIME});
        else
            return;
    }
}

static struct signal lane_signal(const struct policy *policy, uint32_t hold) {
    return (struct signal){.kind = SIGNAL_LANE_HOLD,
                           .goal = workspace_id(policy, 0, 1),
                           .source = id_derive(STR("explore"), hold ? STR("hold") : STR("release")),
                           .once.keyed = 1,
                           .admission = 1,
                           .to = hold,
                           .sender.actor = STR("client"),
                           .sender.by = WHO_HUMAN,
                           .reason = STR("until both wait")};
}

static void lane_goal(struct explorer *e, uint32_t host) {
    struct arena arena = {0};
    struct id goal = id_derive(STR("explore"), host == 0 ? STR("first") : STR("second"));
    goal_make(e, goal, host);
    lane_settle(e, 0);
    struct signal plan = plan_signal(goal, &arena);
    plan.source = id_derive(STR("explore plan"), host == 0 ? STR("first") : STR("second"));
    fleet_tell(e->fleet, &plan);
    lane_settle(e, LANE_ROUNDS);
    must(e->fleet->cast->run_count == host + 1 && e->fleet->cast->runs[host].host == host + 1);
    arena_free(&arena);
}

static void lane_begin(struct explorer *e) {
    struct policy policy = run_policy();
    policy.checks.configured = policy.landing.automatic = 1;
    policy.landing.workspace = 1;
    policy.checks.by_person = 0;
    run_fleet(e, policy);
    e->fleet->one_lane = true;
    e->fleet->cast->pushes_when_asked = e->fleet->cast->lands_once = true;
    e->fleet->cast->checked = CHECKED_PASSED + 1;
    e->fleet->cast->blind = e->fleet->cast->faults = 0;
    cast_push(e->fleet->cast); /* commit 1 */
    struct signal hold = lane_signal(&policy, 1), release = lane_signal(&policy, 0);
    fleet_tell(e->fleet, &hold);
    lane_settle(e, 1);
    lane_goal(e, 0);
    lane_goal(e, 1);
    must(e->fleet->cast->verdict_count == 2);
    fleet_tell(e->fleet, &release);
}

static void world_begin(struct explorer *e) {
    if (e->budget.run) {
        (e->budget.lane ? lane_begin : run_begin)(e);
        e->fleet->steps = 0;
        e->ticks_used = 0;
        return;
    }
    struct id goal = id_derive(STR("explore"), STR("goal")),
              report = id_derive(STR("explore"), STR("report"));
    e->fleet = fleet_create(model_backend(), 2, 1000, 1000);
    if (e->budget.back)
        fleet_may_go_back(e->fleet);
    world_settle(e);
    fleet_ask(e->fleet, (struct asked){.kind = SIGNAL_GOAL_CREATE,
                                       .goal = goal,
                                       .source = goal,
                                       .with_command = !e->budget.report,
                                       .keyed = true});
    if (e->budget.report) {
        fleet_do(e->fleet, &(struct atom){.kind = ATOM_ASK});
        world_settle(e);
        fleet_ask(e->fleet,
                  (struct asked){.kind = SIGNAL_GOAL_REPORT, .goal = goal, .source = report});
    }
    e->fleet->steps = 0;
    e->ticks_used = 0;
}

static bool atom_allowed(const struct explorer *e, const struct atom *atom) {
    const struct fleet *fleet = e->fleet;
    switch (atom->kind) {
    case ATOM_TIME: return e->ticks_used < e->budget.ticks;
    case ATOM_LOSE:
    case ATOM_FAIL:
    case ATOM_STUCK: return fleet->faults < e->budget.faults;
    case ATOM_ROLLBACK:
        return atom->session->stuck || atom->session->ghost || fleet->faults < e->budget.faults;
    case ATOM_CRASH: return fleet->crashes < e->budget.crashes;
    case ATOM_PUSH:
    case ATOM_MEDDLE: return fleet->meddled < e->budget.meddles;
    default: return true;
    }
}

/* A turn touches only its own host, so once no more time can pass it commutes with everything that other hosts and
 * their sessions do: if a turn is possible, only that host's own atoms are tried first. No relevant state is missed;
 * the omitted orders lead to the same states. */
static uint32_t atoms_reduce(const struct explorer *e, struct atom *atoms, uint32_t count) {
    uint32_t turns = count;
    for (uint32_t i = 0; i < count && turns == count; i++)
        if (atoms[i].kind == ATOM_TURN)
            turns = i;
    if (turns == count || e->ticks_used < e->budget.ticks)
        return count;
    uint32_t host = atoms[turns].host, kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (atoms[i].host == host && atoms[i].kind != ATOM_STATEMENT &&
            (atoms[i].kind != ATOM_ROLLBACK || atoms[i].session == e->fleet->hosts[host].session))
            atoms[kept++] = atoms[i];
    return kept;
}

/* Statements are not interleaved: the other worlds cover that. Host 2 is never slow: time passes only when it has
 * nothing to do. Host 1 may do anything at any time, or nothing. A host acts on its agents and learns the results
 * before its next turn. */
static uint32_t run_atoms(struct atom *atoms, uint32_t count) {
    bool busy[2] = {false, false}, turns = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool acts = atoms[i].kind == ATOM_CHECK || atoms[i].kind == ATOM_OUTCOME;
        busy[atoms[i].host] =
            busy[atoms[i].host] || acts ||
            (atoms[i].host == 1 && (atoms[i].kind == ATOM_ACT || atoms[i].kind == ATOM_SENSE));
        turns = turns || (atoms[i].kind == ATOM_TURN && atoms[i].host == 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        enum atom_kind kind = atoms[i].kind;
        bool other = kind == ATOM_STATEMENT || kind == ATOM_LOSE || kind == ATOM_STUCK ||
                     kind == ATOM_ROLLBACK || kind == ATOM_FAIL || kind == ATOM_MEDDLE ||
                     (kind == ATOM_CRASH && atoms[i].host == 1) ||
                     (kind == ATOM_TURN && busy[atoms[i].host]) ||
                     (kind == ATOM_TIME && (turns || busy[1]));
        if (!other)
            atoms[kept++] = atoms[i];
    }
    return kept;
}

/* World `back`: the other worlds cover what happens inside a request. */
static uint32_t back_atoms(struct explorer *e, struct atom *atoms, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (atoms[i].kind != ATOM_STATEMENT && atoms[i].kind != ATOM_STUCK &&
            atoms[i].kind != ATOM_ROLLBACK && atoms[i].kind != ATOM_MEDDLE &&
            atoms[i].kind != ATOM_FAIL)
            atoms[kept++] = atoms[i];
    for (uint32_t n = 1; n <= 3 && e->fleet->backs < e->budget.backs; n++)
        atoms[kept++] = (struct atom){.kind = ATOM_BACK, .arg = n};
    return kept;
}

static void statements_run(struct explorer *e, uint32_t host) {
    struct session *session = e->fleet->hosts[host].session;
    while (session && !session->done)
        fleet_do(e->fleet,
                 &(struct atom){.kind = ATOM_STATEMENT, .host = host, .session = session});
}

/* Host 1 continues until only acting and sensing are left: those are separate atoms. */
static bool run_one_more(struct explorer *e, uint32_t host) {
    const struct fleet_host *at = &e->fleet->hosts[host];
    bool leased = e->fleet->clock < ledger_lease(at->ledger).until;
    struct atom atoms[FLEET_ATOMS];
    uint32_t count = fleet_atoms(e->fleet, atoms);
    for (uint32_t i = 0; i < count; i++) {
        bool goes_on = atoms[i].kind == ATOM_TURN || atoms[i].kind == ATOM_OUTCOME ||
                       (atoms[i].kind == ATOM_CHECK && leased);
        if (atoms[i].host != host || !goes_on)
            continue;
        fleet_do(e->fleet, &atoms[i]);
        statements_run(e, host);
        return true;
    }
    return false;
}

static void run_goes_on(struct explorer *e, uint32_t host) {
    for (int i = 0; host == 0 && i < 100 && run_one_more(e, host); i++)
        ;
}

/* In world `lane`, whenever host 2 does anything, it does everything that it can: only the state of host 1 at that
 * moment matters. */
static bool lane_one_more(struct explorer *e) {
    struct atom atoms[FLEET_ATOMS];
    uint32_t count = fleet_atoms(e->fleet, atoms);
    for (uint32_t i = 0; i < count; i++)
        if (atoms[i].host == 1 && atoms[i].kind <= ATOM_SENSE && atoms[i].kind != ATOM_STATEMENT) {
            fleet_do(e->fleet, &atoms[i]);
            statements_run(e, 1);
            return true;
        }
    return false;
}

static void lane_goes_on(struct explorer *e, const struct atom *atom) {
    if (atom->host == 1 && atom->kind <= ATOM_SENSE)
        for (int i = 0; i < 200 && !e->fleet->violation[0] && lane_one_more(e); i++)
            ;
}

/* The client sends its request to host 1 once; with a key, also to host 2 if no answer came. In world `back` the client
 * repeats it to host 1: another host cannot know about a goal that the store has lost. */
static uint32_t world_atoms(struct explorer *e, struct atom atoms[FLEET_ATOMS]) {
    uint32_t count = fleet_atoms(e->fleet, atoms), kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (atom_allowed(e, &atoms[i]))
            atoms[kept++] = atoms[i];
    if (e->budget.lane && e->fleet->meddled < e->budget.meddles)
        atoms[kept++] = (struct atom){.kind = ATOM_PUSH};
    if (e->budget.run)
        return run_atoms(atoms, kept);
    uint32_t last = e->fleet->asked_count - 1;
    const struct asked *asked = &e->fleet->asked[last];
    uint32_t host = e->budget.back ? 0 : asked->sent;
    bool again = !asked->answered || e->fleet->backs > 0;
    if (asked->sent < 1u + asked->keyed && again && e->fleet->hosts[host].up)
        atoms[kept++] = (struct atom){.kind = ATOM_ASK, .host = host, .arg = last};
    if (e->budget.back)
        return back_atoms(e, atoms, kept);
    return atoms_reduce(e, atoms, kept);
}

static void world_do(struct explorer *e, const struct atom *atom) {
    e->ticks_used += atom->kind == ATOM_TIME;
    fleet_do(e->fleet, atom);
    if (e->budget.run && atom->kind == ATOM_TURN) {
        statements_run(e, atom->host);
        run_goes_on(e, atom->host);
    }
    if (e->budget.back && atom->kind == ATOM_TURN)
        statements_run(e, atom->host);
    if (e->budget.lane)
        lane_goes_on(e, atom);
}

static uint64_t world_digest(struct explorer *e) {
    uint64_t digest = fleet_digest(e->fleet);
    return (digest ^ e->ticks_used * 0x9E3779B97F4A7C15u) + e->fleet->faults * 31u +
           e->fleet->crashes * 1009u + e->fleet->meddled * 65537u + e->fleet->backs * 524287u;
}

static void world_replay(struct explorer *e, uint32_t depth, FILE *story) {
    world_begin(e);
    e->fleet->story = story;
    for (uint32_t i = 0; i < depth; i++) {
        struct atom atoms[FLEET_ATOMS];
        world_atoms(e, atoms);
        world_do(e, &atoms[e->path[i]]);
    }
}

/* ---- the search ---- */

static void story_print(struct explorer *e, bool healed) {
    char violation[sizeof e->fleet->violation];
    memcpy(violation, e->fleet->violation, sizeof violation);
    printf("\nA violation after %u atoms: %s\nThe story:\n", e->depth, violation);
    fflush(stdout);
    world_replay(e, e->depth, stdout);
    if (healed) {
        e->fleet->story = NULL;
        if (fleet_heal(e->fleet) && e->budget.lane)
            fleet_check_lane(e->fleet);
        printf("      … then everything is left to run, without faults.\nVIOLATION: %s\n",
               e->fleet->violation);
    }
}

/* Checks a state that is seen for the first time: nothing may be wrong in it. If only faults are left to happen,
 * letting everything run must bring the fleet to rest with every guarantee kept. */
static bool state_judge(struct explorer *e) {
    if (!fleet_check(e->fleet)) {
        story_print(e, false);
        e->violated = true;
        return false;
    }
    return true;
}

static bool state_is_last(const struct explorer *e) {
    return e->ticks_used == e->budget.ticks;
}

/* Healing changes the world, so the world is restored afterwards. Done only when all ticks are used, and for one state
 * in 64: the others differ from it in what is in flight. */
static bool state_heals(struct explorer *e, uint64_t digest) {
    if (!state_is_last(e) || digest % e->budget.rest != 0)
        return true;
    e->quiet++;
    if (fleet_heal(e->fleet) && (!e->budget.lane || fleet_check_lane(e->fleet))) {
        snapshot_restore(&e->states[e->depth]);
        return true;
    }
    story_print(e, true);
    e->violated = true;
    return false;
}

/* Depth-first search. The world at each depth is kept, so backtracking is a copy. */
static void search(struct explorer *e) {
    static uint32_t next[MAX_DEPTH]; /* the next atom to try at each depth */
    visited_add(e, world_digest(e));
    snapshot_take(&e->states[0]);
    bool moved = false; /* the world no longer matches e->depth */
    while (!e->violated && !e->cut) {
        if (moved) {
            snapshot_restore(&e->states[e->depth]);
            e->ticks_used = e->ticks_at[e->depth];
        }
        struct atom atoms[FLEET_ATOMS];
        moved = false;
        if (next[e->depth] >= world_atoms(e, atoms)) {
            if (e->depth == 0)
                return;
            e->depth--;
            moved = true;
            continue;
        }
        uint32_t choice = next[e->depth]++;
        e->path[e->depth] = choice;
        world_do(e, &atoms[choice]);
        e->transitions++;
        uint64_t digest = world_digest(e);
        moved = true;
        if (!e->fleet->violation[0] && !visited_add(e, digest))
            continue;
        must(++e->depth < MAX_DEPTH);
        next[e->depth] = 0;
        e->ticks_at[e->depth] = e->ticks_used;
        snapshot_take(&e->states[e->depth]);
        moved = false;
        e->deepest = e->depth > e->deepest ? e->depth : e->deepest;
        if (!state_judge(e) || !state_heals(e, digest))
            return;
        e->cut = e->budget.states && e->visited_count >= e->budget.states;
    }
}

/* The first signal of a process builds the tables of secrets, which are large and permanent. */
static void tables_make(void) {
    snapshot_leave_out(true);
    input_free(input_make(&(struct signal){.kind = SIGNAL_GOAL_REPORT, .text = STR("a")}, NULL));
    snapshot_leave_out(false);
}

int main(int argc, char **argv) {
    static struct explorer e = {
        .budget = {.ticks = 3, .faults = 1, .crashes = 1, .backs = 1, .rest = 64}};
    static const struct option LONG[] = {{"ticks", required_argument, NULL, 't'},
                                         {"faults", required_argument, NULL, 'f'},
                                         {"crashes", required_argument, NULL, 'c'},
                                         {"meddles", required_argument, NULL, 'm'},
                                         {"world", required_argument, NULL, 'w'},
                                         {"states", required_argument, NULL, 's'},
                                         {"backs", required_argument, NULL, 'b'},
                                         {"rest", required_argument, NULL, 'r'},
                                         {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        uint64_t value = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (option) {
        case 't': e.budget.ticks = (uint32_t)value; break;
        case 'f': e.budget.faults = (uint32_t)value; break;
        case 'c': e.budget.crashes = (uint32_t)value; break;
        case 'm': e.budget.meddles = (uint32_t)value; break;
        case 'w':
            e.budget.report = strcmp(optarg, "report") == 0;
            e.budget.lane = strcmp(optarg, "lane") == 0;
            e.budget.back = strcmp(optarg, "back") == 0;
            e.budget.run = e.budget.lane || strcmp(optarg, "run") == 0;
            break;
        case 's': e.budget.states = value; break;
        case 'r': e.budget.rest = value ? value : 1; break;
        case 'b': e.budget.backs = (uint32_t)value; break;
        default: return 2;
        }
    }
    clock_t begin = clock();
    tables_make();
    world_begin(&e);
    search(&e);
    printf(
        "explore: %llu states, %llu transitions, deepest %llu, %llu brought to rest, %.1f s%s, %d violations\n",
        (unsigned long long)e.visited_count, (unsigned long long)e.transitions,
        (unsigned long long)e.deepest, (unsigned long long)e.quiet,
        (double)(clock() - begin) / CLOCKS_PER_SEC, e.cut ? " (cut: not all were visited)" : "",
        e.violated);
    if (!e.violated && !e.cut && PLANTED == PLANTED_NONE)
        proof_passed("explore", "two hosts, one goal, one effect: every interleaving", "STORE-06");
    fleet_free(e.fleet);
    outside_free(e.visited);
    return e.violated ? 1 : 0;
}
