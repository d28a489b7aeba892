/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a whole fleet that supervises its agents. */
#include "lib/vigil.h"
#include "model/repository.h"

#include <stdarg.h>
#include <stdlib.h>

enum { TASKS = 8 };

static const int64_t HOUR = MINUTES(60), DAY = MINUTES(1440);

static void violated(struct vigil *vigil, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void violated(struct vigil *vigil, const char *format, ...) {
    if (vigil->fleet->violation[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(vigil->fleet->violation, sizeof vigil->fleet->violation, format, args);
    va_end(args);
}

static bool chance(struct vigil *vigil, uint32_t per_mille) {
    return dice_chance(&vigil->dice, per_mille);
}

/* ---- goals ---- */

static struct id source_of(struct vigil *vigil, const char *what, uint32_t n) {
    return id_derive(str_of(what), arena_format(&vigil->arena, "%u", n));
}

/* Some seeds have three repositories, the others one. */
static uint64_t repository_of(const struct vigil *vigil, uint32_t n) {
    const struct policy *policy = &vigil->fleet->policy;
    uint32_t count = policy->repositories.count;
    return n % (count + 1) == 0 ? 0 : policy->repositories.at[n % (count + 1) - 1].key;
}

static void goal_ask(struct vigil *vigil, uint32_t n) {
    struct id id = vigil->goals[n] = source_of(vigil, "vigil goal", n);
    uint64_t repository = repository_of(vigil, n);
    cast_place(vigil->fleet->cast, id, repository);
    fleet_tell(vigil->fleet, &(struct signal){.kind = SIGNAL_GOAL_CREATE,
                                              .goal = id,
                                              .source = id,
                                              .at = vigil->fleet->clock,
                                              .once.keyed = 1,
                                              .sender.by = WHO_HUMAN,
                                              .sender.actor = STR("ada"),
                                              .describe.title = STR("a goal"),
                                              .describe.repository = repository});
}

static void plan_ask(struct vigil *vigil, uint32_t n) {
    static const struct str CRITERION = {"it works", 8}, FIRST = {"T1", 2};
    struct plan_row rows[TASKS + 1] = {
        {.id = STR("P1"), .text = {.name = STR("all"), .criteria = {&CRITERION, 1}}}};
    for (uint32_t i = 1; i <= TASKS; i++)
        rows[i] = (struct plan_row){.id = arena_format(&vigil->arena, "T%u", i),
                                    .parent = STR("P1"),
                                    .tier = TIER_TASK,
                                    .text = {.name = STR("a piece"), .criteria = {&CRITERION, 1}}};
    rows[TASKS].depends_on = (struct texts){&FIRST, 1};
    struct plan_text text = {{rows, TASKS + 1}};
    fleet_tell(vigil->fleet,
               &(struct signal){.kind = SIGNAL_PLAN_APPLY,
                                .goal = vigil->goals[n],
                                .source = source_of(vigil, "vigil plan", n),
                                .at = vigil->fleet->clock,
                                .once.keyed = 1,
                                .sender.by = WHO_HUMAN,
                                .sender.actor = STR("ada"),
                                .body = shape_encode(&PLAN_TEXT, &text, &vigil->arena)});
}

/* ---- the simulated person ---- */

static bool is_answered(const struct vigil *vigil, struct id source) {
    for (uint32_t i = 0; i < vigil->answered_count; i++)
        if (id_equal(vigil->answered[i], source))
            return true;
    return false;
}

static uint32_t option_for(struct vigil *vigil, struct id goal, const struct question *question) {
    if (strncmp(question->cause, "done.", 5) == 0)
        return cast_is_done(vigil->fleet->cast, goal, question->cause + 5) ? 1 : 2;
    if (question->options == 0)
        return 0;
    return chance(vigil, 850) ? 1 : 1 + dice_pick(&vigil->dice, question->options);
}

static void question_answer(struct vigil *vigil, struct id goal, const struct question *question) {
    char text[ID_TEXT + 1];
    id_format(goal, text);
    struct id source =
        id_derive(STR("vigil answer"), arena_format(&vigil->arena, "%s %u", text, question->n));
    if (question->state != QUESTION_OPEN || question->of != OF_PERSON ||
        is_answered(vigil, source) || vigil->answered_count == count_of(vigil->answered))
        return;
    vigil->answered[vigil->answered_count++] = source;
    bool alert = question->kind == QUESTION_ALERT; /* an alert has no answer */
    uint32_t option = alert ? QUESTION_SEEN : option_for(vigil, goal, question);
    fleet_tell(vigil->fleet,
               &(struct signal){.kind = alert ? SIGNAL_QUESTION_MOVE : SIGNAL_QUESTION_ANSWER,
                                .goal = goal,
                                .source = source,
                                .at = vigil->fleet->clock,
                                .once.keyed = 1,
                                .sender.by = WHO_HUMAN,
                                .sender.actor = STR("ada"),
                                .about.question = question->n + 1,
                                .to = option,
                                .text = option ? (struct str){0} : STR("the first one")});
    vigil->counts.answers++;
}

static const struct assignment *assignment_of(const struct live *live,
                                              const struct player *player) {
    const struct assignment *assignment = assignments_find(&live->assignments, player->assignment);
    return assignment && assignment->run == player->n ? assignment : NULL;
}

/* Counts how long the agent has been ill in total without a question to a person. The time that a person takes to
 * answer is not counted. */
static void unasked_count(struct player *player, bool asked, int64_t now) {
    int64_t since = player->ill_since > player->checked_at ? player->ill_since : player->checked_at;
    if (player->ill_since == 0 || player->ill_since > player->checked_at)
        player->unasked = 0;
    if (player->ill_since && !asked)
        player->unasked += now - since;
    player->checked_at = now;
}

/* No agent may stay ill for hours while its goal has no question to a person. */
static void players_check(struct vigil *vigil, struct id goal, const struct live *live) {
    struct cast *cast = vigil->fleet->cast;
    for (uint32_t i = 0; i < cast->run_count; i++) {
        struct player *player = &cast->runs[i];
        const struct assignment *assignment =
            id_equal(player->goal, goal) ? assignment_of(live, player) : NULL;
        if (assignment)
            unasked_count(player, live->questions.count > 0, vigil->fleet->clock);
        if (assignment && player->ill_since && !player->stopped && live->questions.count == 0 &&
            player->unasked > 12 * HOUR)
            violated(vigil, "%s (%s, A_%u %s) is ill for twelve hours and nobody is asked",
                     player->node, PRETEND[player->agent.kind].name, assignment->n,
                     ASSIGNMENT_STATUS[assignment->status].name);
    }
    for (uint32_t i = 0; i < live->plan.count; i++)
        if (live->plan.nodes[i].attempts > vigil->fleet->policy.recovery.max_attempts)
            violated(vigil, "%s was sent something %u times", live->plan.nodes[i].id,
                     live->plan.nodes[i].attempts);
}

/* The person reads everything and answers some of it. */
static void person_comes(struct vigil *vigil, uint32_t per_mille) {
    struct arena arena = {0};
    struct dump *dump = &vigil->fleet->view;
    fleet_look(vigil->fleet);
    for (uint32_t g = 0; g < dump->goal_count; g++) {
        struct goal goal;
        struct live live;
        if (dump->goals[g].aside || !dump_live(dump, &dump->goals[g], &arena, &goal, &live))
            continue;
        players_check(vigil, goal.id, &live);
        for (uint32_t i = 0; i < live.questions.count; i++)
            if (chance(vigil, per_mille))
                question_answer(vigil, goal.id, &live.questions.at[i]);
    }
    arena_free(&arena);
}

/* ---- events ---- */

static const uint32_t WEIGHTS[ATOM_KINDS] = {
    [ATOM_TURN] = 1000,   [ATOM_STATEMENT] = 1000, [ATOM_CHECK] = 600, [ATOM_ACT] = 600,
    [ATOM_OUTCOME] = 500, [ATOM_SENSE] = 500,      [ATOM_LOSE] = 4,    [ATOM_FAIL] = 4,
    [ATOM_ROLLBACK] = 2,  [ATOM_STUCK] = 2,        [ATOM_CRASH] = 1,   [ATOM_RESTART] = 50,
};

static uint32_t weight_of(const struct vigil *vigil, const struct atom *atom) {
    bool stuck = atom->kind == ATOM_ROLLBACK && atom->session->stuck;
    if (stuck)
        return 200;
    if (atom->kind >= ATOM_LOSE && atom->kind <= ATOM_CRASH &&
        (vigil->calm || (vigil->swarm >> atom->kind & 1)))
        return 0;
    return WEIGHTS[atom->kind];
}

/* False: no host can move until some time has passed. */
static bool atom_do(struct vigil *vigil) {
    struct atom atoms[FLEET_ATOMS];
    uint32_t count = fleet_atoms(vigil->fleet, atoms), total = 0, going = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t weight = weight_of(vigil, &atoms[i]);
        total += weight;
        going += atoms[i].kind < ATOM_LOSE || atoms[i].kind == ATOM_RESTART ||
                         atoms[i].kind == ATOM_ROLLBACK
                     ? weight
                     : 0;
    }
    if (going == 0)
        return false;
    uint32_t at = dice_pick(&vigil->dice, total), i = 0;
    for (; at >= weight_of(vigil, &atoms[i]); i++)
        at -= weight_of(vigil, &atoms[i]);
    fleet_do(vigil->fleet, &atoms[i]);
    vigil->counts.atoms++;
    return true;
}

/* Advances the clock to the next time at which a host or an agent has something to do. */
static void time_pass(struct vigil *vigil) {
    struct fleet *fleet = vigil->fleet;
    int64_t next = cast_next(fleet->cast);
    for (uint32_t i = 0; i < fleet->host_count; i++) {
        struct fleet_host *host = &fleet->hosts[i];
        struct instant now = {fleet->clock, fleet->clock, host->pulse, 0};
        int64_t wakes = host->up ? ledger_wakes_at(host->ledger, now) : fleet->clock + fleet->tick;
        next = wakes < next ? wakes : next;
    }
    fleet->clock =
        next > fleet->clock && next < fleet->clock + DAY ? next : fleet->clock + SECONDS(1);
}

static void now_and_then(struct vigil *vigil) {
    if (vigil->counts.atoms % 2048 == 2047)
        fleet_check(vigil->fleet);
    if (vigil->counts.atoms % 512 == 511)
        person_comes(vigil, vigil->calm ? 800 : 300);
    if (!vigil->calm && dice_pick(&vigil->dice, 8000) == 0) {
        fleet_sleep(vigil->fleet, MINUTES(5 + dice_pick(&vigil->dice, 240)));
        vigil->counts.sleeps++;
    }
}

static void run_until(struct vigil *vigil, int64_t until) {
    while (vigil->fleet->clock < until && !vigil->fleet->violation[0]) {
        if (!atom_do(vigil))
            time_pass(vigil);
        now_and_then(vigil);
    }
}

/* ---- finishing ---- */

/* The first unfinished node, for which the goal waits. */
static const struct node *node_left(const struct plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++)
        if (!plan->nodes[i].retired && !plan_has_children(plan, &plan->nodes[i]) &&
            plan->nodes[i].status < NODE_DONE)
            return &plan->nodes[i];
    return NULL;
}

static void goal_judge(struct vigil *vigil, const struct goal *goal, const struct live *live) {
    bool over = !goal_is_open(goal);
    vigil->counts.done += goal->status == GOAL_COMPLETED;
    vigil->counts.cancelled += goal->status == GOAL_CANCELLED;
    bool asked = live->questions.count > 0 || goal_needs_person(goal);
    vigil->counts.asked += !over && asked;
    const struct node *left = node_left(&live->plan);
    if (!over && !asked)
        violated(
            vigil,
            "a goal is %s, and nobody is asked: %u percent, %u assignments %s; %s is %s, sent %u times",
            GOAL_STATUS[goal->status].name, goal->progress.percent, live->assignments.count,
            live->assignments.count ? ASSIGNMENT_STATUS[live->assignments.at[0].status].name : "",
            left ? left->id : "nothing", left ? NODE_STATUS[left->status].name : "left",
            left ? left->attempts : 0);
}

static void goals_judge(struct vigil *vigil) {
    struct arena arena = {0};
    struct dump *dump = &vigil->fleet->view;
    fleet_look(vigil->fleet);
    for (uint32_t i = 0; i < vigil->goal_count; i++) {
        const struct dump_goal *row = dump_goal(dump, vigil->goals[i]);
        struct goal goal;
        struct live live;
        if (!row || !dump_live(dump, row, &arena, &goal, &live))
            violated(vigil, "a goal is lost");
        else
            goal_judge(vigil, &goal, &live);
    }
    arena_free(&arena);
}

/* ---- lanes ---- */

/* The goal that a record of a lane is about, by its number here; UINT32_MAX: none of them. */
static uint32_t waiting_goal(const struct vigil *vigil, const struct record *record) {
    struct evidence evidence = {0};
    char goal[ID_TEXT + 1];
    if (record->type != RECORD_LANE_WAITS || !shape_decode(&EVIDENCE, record->body, &evidence))
        return UINT32_MAX;
    for (uint32_t n = 0; n < vigil->goal_count; n++) {
        id_format(vigil->goals[n], goal);
        if (str_begins(evidence.text, str_of(goal)))
            return n;
    }
    return UINT32_MAX;
}

/* The work of two repositories never waits in one lane. */
static void lanes_judge(struct vigil *vigil) {
    struct {
        struct id lane;
        uint64_t repository;
    } seen[16];
    uint32_t count = 0, at;
    const struct dump *dump = &vigil->fleet->view;
    for (uint32_t i = 0; i < dump->record_count; i++) {
        uint32_t n = waiting_goal(vigil, &dump->records[i].record);
        if (n == UINT32_MAX)
            continue;
        for (at = 0; at < count && !id_equal(seen[at].lane, dump->records[i].goal); at++)
            ;
        if (at == count && count < count_of(seen)) {
            seen[count].lane = dump->records[i].goal;
            seen[count++].repository = repository_of(vigil, n);
        }
        if (at == count_of(seen) || seen[at].repository != repository_of(vigil, n))
            violated(vigil, "work of two repositories waits in one lane");
        vigil->counts.waits++;
    }
}

void vigil_run(struct vigil *vigil) {
    struct fleet *fleet = vigil->fleet;
    int64_t begin = fleet->clock;
    vigil->calm = true;
    for (uint32_t i = 0; i < vigil->goal_count; i++)
        goal_ask(vigil, i);
    run_until(vigil, begin + MINUTES(30));
    for (uint32_t i = 0; i < vigil->goal_count; i++)
        plan_ask(vigil, i);
    vigil->calm = false;
    run_until(vigil, vigil->until);
    vigil->calm = true;
    run_until(vigil, vigil->until + 4 * DAY);
    if (!fleet->violation[0])
        goals_judge(vigil);
    if (!fleet->violation[0])
        lanes_judge(vigil);
    if (!fleet->violation[0])
        fleet_check(fleet);
    if (fleet->cast->violation[0])
        violated(vigil, "%s", fleet->cast->violation);
    for (uint32_t i = 0; i < fleet->host_count; i++)
        vigil->counts.commits +=
            fleet->hosts[i].up ? ledger_view(fleet->hosts[i].ledger).commits : 0;
    vigil->counts.goals = vigil->goal_count;
}

uint64_t vigil_digest(struct vigil *vigil) {
    uint64_t digest = 0xCBF29CE484222325u;
    fleet_look(vigil->fleet);
    const struct dump *dump = &vigil->fleet->view;
    for (uint32_t i = 0; i < dump->record_count; i++) {
        uint64_t word;
        memcpy(&word, dump->records[i].record.hash.bytes, sizeof word);
        digest = (digest ^ word) * 0x100000001B3u;
    }
    return digest;
}

/* ---- setup ---- */

/* Each has checks and landings of its own, and perhaps a lane for each host. */
static void repositories_make(struct vigil *vigil, struct policy *policy, uint64_t seed) {
    static const struct str NAMES[] = {STR("core"), STR("web")};
    if (seed % 4 < 2)
        return;
    policy->landing.workspace = 1;
    for (uint32_t i = 0; i < count_of(vigil->repositories); i++)
        vigil->repositories[i] = (struct policy_repository){
            .key = repository_key(NAMES[i]),
            .checks = {.configured = i == seed % 2, .rounds = 2, .within = MINUTES(20)},
            .landing = {.automatic = i == seed % 3,
                        .workspace = 2 + i,
                        .workspace_local = seed % 5 == 0,
                        .rechecks = 3}};
    policy->repositories.at = vigil->repositories;
    policy->repositories.count = count_of(vigil->repositories);
}

struct vigil *vigil_create(struct backend *backend, uint64_t seed, uint32_t agents, uint32_t days) {
    struct vigil *vigil = calloc(1, sizeof *vigil);
    must(vigil != NULL);
    vigil->dice.state = seed * 0x2545F4914F6CDD1Du + 3;
    uint32_t hosts = 1 + dice_pick(&vigil->dice, 2);
    vigil->fleet = fleet_create(backend, hosts, MINUTES(20), MINUTES(5));
    vigil->goal_count = agents / 2;
    must(vigil->goal_count <= count_of(vigil->goals));
    vigil->until = vigil->fleet->clock + days * DAY;
    vigil->swarm = dice_next(&vigil->dice);
    struct policy policy = policy_default();
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(vigil->agents[i].id, sizeof vigil->agents[i].id, "auto-%u", i + 1);
        snprintf(vigil->agents[i].account, sizeof vigil->agents[i].account, "account-%u", i);
    }
    policy.dispatch.agents = vigil->agents;
    policy.dispatch.agent_count = 2;
    policy.dispatch.most_at_once = agents;
    policy.dispatch.most_per_goal = 2;
    policy.checks.by_person = seed % 2;
    policy.checks.configured = seed % 3 == 0;
    policy.landing.automatic = seed % 6 < 4;
    repositories_make(vigil, &policy, seed);
    vigil->fleet->careful = 64;
    fleet_policy(vigil->fleet, policy_seal(policy));
    fleet_agents(vigil->fleet, dice_next(&vigil->dice));
    vigil->fleet->cast->reports = cast_reports(seed);
    if (hosts > 1)
        fleet_hosts_matter(vigil->fleet);
    vigil->fleet->cast->faults = 20;
    vigil->fleet->cast->blind = 10;
    return vigil;
}

void vigil_free(struct vigil *vigil) {
    fleet_free(vigil->fleet);
    arena_free(&vigil->arena);
    free(vigil);
}
