/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every operation does what it guarantees, over a million operations. One ledger on a real engine, a few hundred
 * goals, random operations. The test knows the expected answer before it sends an operation; the answer must
 * match what the store says afterwards, read from outside: after each round all goals that were touched, every ten
 * thousand operations all goals, in the end everything from the first record on.
 *
 *     property --engine sqlite|postgres [--ops N] [--seed N] [--path FILE] */
#include "lib/check.h"
#include "lib/gen.h"
#include "lib/proof.h"

#include "ledger/ledger.h"
#include "lib/backend.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SLOTS = 300,
    ROUND = 200,
    LIFE = 120,
    MANY_NODES = 120,
    TAIL = 40,
    CHECK_EVERY = 10000,
    DEEP_EVERY = 200000
};

struct operation { /* one operation, for the report of a failure */
    enum signal_kind kind;
    enum who by;
    uint32_t to, override;
    uint64_t expected;
    char node[LIMIT_NODE_ID + 1];
    enum error expect, answer;
};

struct slot {
    struct id goal;
    struct arena past;  /* memory of the replay */
    struct arena state; /* memory of the known state */
    struct replay replay;
    struct knowledge known;
    bool touched, asking, answered;
    struct op op; /* the operation in progress */
    enum error answer;
    uint32_t ops, acts;
    enum priority priority; /* as tracked by slot_shadow() */
    char title[64];
    struct operation tail[TAIL];
};

struct property {
    const char *engine, *path;
    uint64_t seed, wanted, done, accepted, refused, idle, goals, acts, records;
    struct gen gen;
    struct backend *backend;
    struct store *store;
    struct ledger *ledger;
    struct arena ops, answers, look;
    int64_t clock;
    uint64_t pulse;
    struct slot slots[SLOTS];
    struct id *over; /* goals that receive no more operations */
    uint64_t *over_seq;
    uint32_t over_count, over_cap;
    struct act *acting;
};

/* ---- failing ---- */

static void tail_print(const struct slot *slot) {
    uint32_t count = slot->ops < TAIL ? slot->ops : TAIL;
    printf("its last %u operations of %u, oldest first:\n", count, slot->ops);
    for (uint32_t i = slot->ops - count; i < slot->ops; i++) {
        const struct operation *operation = &slot->tail[i % TAIL];
        printf("  %-14s by %-8s node %-10s to %u%s, expects version %llu: %s (%s was due)\n",
               SIGNALS[operation->kind].name, name_of(&WHO_NAMES, operation->by), operation->node,
               operation->to, operation->override ? " (override)" : "",
               (unsigned long long)operation->expected, ERRORS[operation->answer].code,
               ERRORS[operation->expect].code);
    }
}

static _Noreturn void fail(const struct property *p, const struct slot *slot, const char *what) {
    char id[ID_TEXT + 1] = "";
    if (slot)
        id_format(slot->goal, id);
    printf("property %s: seed %llu, after %llu operations, goal %s: %s\n", p->engine,
           (unsigned long long)p->seed, (unsigned long long)p->done, id, what);
    if (slot)
        tail_print(slot);
    if (strcmp(p->engine, "sqlite") == 0)
        printf("the store is kept: %s\n", p->path);
    exit(1);
}

/* ---- sending operations ---- */

static void tell(struct slot *slot) {
    const struct signal *signal = &slot->op.signal;
    struct operation *operation = &slot->tail[slot->ops++ % TAIL];
    *operation = (struct operation){.kind = signal->kind,
                                    .by = signal->sender.by,
                                    .to = signal->to,
                                    .override = signal->work.override,
                                    .expected = signal->plan.expected,
                                    .expect = slot->op.expect};
    snprintf(operation->node, sizeof operation->node, "%.*s", STR_ARG(signal->work.node));
}

static void slot_begin(struct property *p, struct slot *slot) {
    if (slot->known.exists) {
        if (p->over_count == p->over_cap) {
            p->over_cap = p->over_cap ? p->over_cap * 2 : 1024;
            p->over = realloc(p->over, p->over_cap * sizeof *p->over);
            p->over_seq = realloc(p->over_seq, p->over_cap * sizeof *p->over_seq);
            must(p->over && p->over_seq);
        }
        p->over_seq[p->over_count] = slot->replay.seq;
        p->over[p->over_count++] = slot->goal;
    }
    arena_reset(&slot->past);
    arena_reset(&slot->state);
    slot->op = gen_create(&p->gen, &p->ops);
    slot->goal = slot->op.signal.goal;
    slot->known = (struct knowledge){.goal = {.id = slot->goal}};
    slot->replay = (struct replay){.goal = slot->goal, .arena = &slot->past};
    slot->ops = slot->acts = 0;
    p->goals++;
}

/* A goal that is over, or has lived long enough, is replaced by a new one. */
static bool slot_is_over(struct property *p, const struct slot *slot) {
    const struct goal *goal = &slot->known.goal;
    if (!slot->known.exists || slot->ops > LIFE || goal->plan.nodes_made > MANY_NODES)
        return true;
    return goal->status >= GOAL_COMPLETED &&
           dice_chance(&p->gen.dice, goal->status == GOAL_ARCHIVED ? 500 : 100);
}

static void slot_ask(struct property *p, struct slot *slot) {
    if (slot_is_over(p, slot))
        slot_begin(p, slot);
    else
        slot->op = gen_op(&p->gen, &slot->known, &p->ops);
    slot->op.signal.at = p->clock;
    slot->asking = slot->touched = true;
    slot->answered = false;
    tell(slot);
    struct input *input = input_make(&slot->op.signal, slot);
    must(input != NULL && ledger_offer(p->ledger, input));
}

/* ---- running ---- */

static void answers_take(struct property *p) {
    for (struct input *input; (input = ledger_take_answered(p->ledger));) {
        struct slot *slot = input->waiter;
        slot->answered = true;
        slot->answer = input->error;
        slot->tail[(slot->ops - 1) % TAIL].answer = input->error;
        bool stale = slot->op.signal.kind ==
                         SIGNAL_PLAN_APPROVE && /* the proposal was made for another tree */
                     input->error == ERROR_INVALID_PLAN &&
                     slot->op.expect == ERROR_NONE;
        if (input->error != slot->op.expect && !stale) {
            char what[256];
            snprintf(what, sizeof what, "%s was answered with %s, not %s: %s",
                     SIGNALS[slot->op.signal.kind].name, ERRORS[input->error].code,
                     ERRORS[slot->op.expect].code, input->why);
            fail(p, slot, what);
        }
        input_free(input);
    }
}

static struct slot *slot_of(struct property *p, struct id goal) {
    for (uint32_t i = 0; i < SLOTS; i++)
        if (id_equal(p->slots[i].goal, goal))
            return &p->slots[i];
    return NULL;
}

/* A command of a goal is run at most once; most of them succeed. */
static void acts_do(struct property *p) {
    for (struct act *act; (act = ledger_take_act(p->ledger));) {
        struct slot *slot = slot_of(p, act->effect.goal);
        if (!slot || ledger_may_act(p->ledger, act, p->clock) != ACT_NOW)
            fail(p, slot, "an act of a goal that nobody asks about, or without permission");
        if (++slot->acts > 1)
            fail(p, slot, "its command was run twice");
        slot->touched = true;
        struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                               .source = effect_id(act->effect.goal, act->effect.n),
                               .goal = act->effect.goal,
                               .effect = act->effect.n,
                               .at = p->clock,
                               .exit = dice_chance(&p->gen.dice, 150),
                               .sender.actor = STR("overseer"),
                               .sender.by = WHO_OVERSEER};
        struct input *input = input_make(&ended, NULL);
        must(input && ledger_offer(p->ledger, input));
        p->acts++;
        free(act);
    }
}

static void run_to_rest(struct property *p) {
    struct store_answer answer;
    const struct store_answer *got = NULL;
    for (;;) {
        struct instant now = {p->clock, p->clock, ++p->pulse, 0};
        const struct store_request *request = ledger_turn(p->ledger, got, now);
        answers_take(p);
        acts_do(p);
        got = NULL;
        if (request) {
            arena_reset(&p->answers);
            answer = (struct store_answer){0};
            store_perform(p->store, request, &answer, &p->answers);
            if (answer.outcome != STORE_DONE) {
                char what[256];
                snprintf(what, sizeof what, "the store answers %s with: %.*s",
                         STORE_VERB_NAMES[request->verb], STR_ARG(str_cut(answer.error, 160)));
                fail(p, NULL, what);
            }
            got = &answer;
        } else if (ledger_wakes_at(p->ledger, now) > p->clock)
            return;
    }
}

/* ---- judging ---- */

static void slot_learn(struct property *p, struct slot *slot, const struct dump *dump) {
    const struct dump_goal *row = dump_goal(dump, slot->goal);
    arena_reset(&slot->state);
    slot->known = (struct knowledge){.goal = {.id = slot->goal}};
    if (!row || row->aside)
        fail(p, slot, row ? "it was set aside" : "it is not there");
    slot->known.exists = dump_whole(dump, row, &slot->state, &slot->known.goal, &slot->known.plan);
    const struct dump_text *text = dump_text(dump, slot->goal, &slot->known.goal.plan.proposal);
    if (text)
        slot->known.proposal = arena_copy(&slot->state, text->body);
}

/* An accepted operation left a record, a refused one left none. */
static void slot_records(struct property *p, struct slot *slot, const struct dump *dump) {
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, slot->goal, &from), mine = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct record *record = &dump->records[i].record;
        const char *broken = replay_record(&slot->replay, record);
        if (broken)
            fail(p, slot, broken);
        mine += slot->asking && id_equal(evidence_of(record).source, slot->op.signal.source);
    }
    p->records += to - from;
    if (!slot->asking)
        return;
    if (slot->answer != ERROR_NONE && mine > 0)
        fail(p, slot, "what was refused left a record");
    if (slot->answer == ERROR_NONE && mine == 0 && !slot->op.may_idle)
        fail(p, slot, "what was accepted left no record");
    p->idle += slot->answer == ERROR_NONE && mine == 0;
}

/* The store has exactly the values that were last set. */
static void slot_shadow(struct property *p, struct slot *slot, const struct dump *dump) {
    const struct signal *signal = &slot->op.signal;
    const struct goal_view *view = dump_view(dump, slot->goal);
    bool says = slot->asking && slot->answer == ERROR_NONE &&
                (signal->kind == SIGNAL_GOAL_CREATE || signal->kind == SIGNAL_GOAL_UPDATE);
    if (says)
        slot->priority = signal->describe.priority;
    if (says && signal->describe.title.len > 0)
        snprintf(slot->title, sizeof slot->title, "%.*s", STR_ARG(signal->describe.title));
    if (slot->known.goal.priority != slot->priority || !str_equal(view->title, str_of(slot->title)))
        fail(p, slot, "its title or priority is not what was said last");
    if (!says || signal->describe.tags.len == 0)
        return;
    struct tags tags = {0};
    must(shape_decode_in(&TAGS, signal->describe.tags, &p->look, &tags));
    uint32_t from, to = DUMP_RANGE(dump->tags, dump->tag_count, slot->goal, &from);
    for (uint32_t i = 0; i < tags.tags.count; i++) {
        bool there = false;
        for (uint32_t k = from; k < to; k++)
            there = there || str_equal(dump->tags[k].tag, tags.tags.at[i]);
        if (!there)
            fail(p, slot, "a tag that was accepted is not there");
    }
}

static void slot_judge(struct property *p, struct slot *slot, const struct dump *dump) {
    slot_records(p, slot, dump);
    slot_learn(p, slot, dump);
    const struct dump_goal *row = dump_goal(dump, slot->goal);
    const char *broken = goal_check(dump, row, &slot->replay, &p->look);
    if (broken)
        fail(p, slot, broken);
    slot_shadow(p, slot, dump);
    if (slot->asking && !slot->answered)
        fail(p, slot, "nobody answered");
    p->accepted += slot->asking && slot->answer == ERROR_NONE;
    p->refused += slot->asking && slot->answer != ERROR_NONE;
    slot->asking = slot->touched = false;
}

static void touched_judge(struct property *p) {
    struct record_mark marks[SLOTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (p->slots[i].touched)
            marks[count++] =
                (struct record_mark){.goal = p->slots[i].goal, .seq = p->slots[i].replay.seq};
    struct dump dump;
    arena_reset(&p->look);
    real_dump_some(p->backend, marks, count, &dump, &p->look);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (p->slots[i].touched)
            slot_judge(p, &p->slots[i], &dump);
}

/* Goals that receive no more operations are unchanged; the counts match what is stored. */
static void rest_judge(struct property *p) {
    struct dump dump;
    real_dump_rest(p->backend, &dump, &p->look);
    for (uint32_t i = 0; i < p->over_count; i++) {
        const struct dump_goal *row = dump_goal(&dump, p->over[i]);
        if (!row || row->seq != p->over_seq[i])
            fail(p, NULL, "a goal that nobody asks about has changed, or is gone");
    }
    const char *broken = rest_check(&dump, &p->look);
    if (broken)
        fail(p, NULL, broken);
}

static void all_judge(struct property *p) {
    for (uint32_t i = 0; i < SLOTS; i++)
        p->slots[i].touched = p->slots[i].known.exists;
    touched_judge(p);
    rest_judge(p);
}

static void everything_judge(struct property *p) {
    struct dump dump;
    struct arena arena = {0};
    p->backend->dump(p->backend, &dump, &arena);
    const char *broken = world_check(&dump, &arena);
    if (broken)
        fail(p, NULL, broken);
    if (dump.goal_count != p->goals || dump.record_count != p->records)
        fail(p, NULL, "there are more or fewer goals or records than were made");
    arena_free(&arena);
}

/* ---- the run ---- */

static void round_run(struct property *p) {
    uint32_t first = dice_pick(&p->gen.dice, SLOTS), count = 0;
    arena_reset(&p->ops);
    p->clock += MILLISECONDS(7);
    for (uint32_t i = 0; i < SLOTS && count < ROUND && p->done < p->wanted; i++)
        if (dice_chance(&p->gen.dice, 800)) {
            slot_ask(p, &p->slots[(first + i) % SLOTS]);
            count++;
            p->done++;
        }
    run_to_rest(p);
    touched_judge(p);
}

static void begin(struct property *p) {
    p->gen = (struct gen){.dice = {p->seed * 0x9E6C63D0876A9A47u + 7},
                          .max_nodes = 24,
                          .approve_plans = p->seed & 1,
                          .plan_agent = STR("ci")};
    p->clock = SECONDS(1790000000);
    p->backend = strcmp(p->engine, "postgres") == 0 ? postgres_backend(getenv("OVERSEER_TEST_PG"))
                                                    : sqlite_file_backend(p->path);
    p->store = real_backend_store(p->backend);
    must(p->store != NULL);
    struct ledger_config config = {
        .host = 1,
        .instance = p->seed + 1,
        .beat_every = SECONDS(1),
        .poll_every = SECONDS(3600),
        .retry_every = SECONDS(1),
        .policy = policy_seal((struct policy){.act_within = MINUTES(600),
                                              .plans.approve = p->gen.approve_plans,
                                              .plans.agents = p->gen.plan_agent}),
        .build = STR("property"),
        .addr = STR("")};
    p->ledger = ledger_create(&config);
    must(p->ledger != NULL);
}

static void run(struct property *p) {
    uint64_t checked = 0, deep = 0;
    while (p->done < p->wanted) {
        round_run(p);
        if (p->done - checked >= CHECK_EVERY) {
            all_judge(p);
            checked = p->done;
        }
        if (p->done - deep >= DEEP_EVERY) {
            everything_judge(p);
            deep = p->done;
            printf("property %s: %llu operations so far\n", p->engine, (unsigned long long)p->done);
            fflush(stdout);
        }
    }
    all_judge(p);
    everything_judge(p);
}

static void end(struct property *p) {
    ledger_free(p->ledger);
    p->backend->free(p->backend);
    for (uint32_t i = 0; i < SLOTS; i++) {
        arena_free(&p->slots[i].past);
        arena_free(&p->slots[i].state);
    }
    arena_free(&p->ops);
    arena_free(&p->answers);
    arena_free(&p->look);
    free(p->over);
    free(p->over_seq);
}

static bool options_read(struct property *p, int argc, char **argv) {
    static const struct option LONG[] = {{"engine", required_argument, NULL, 'e'},
                                         {"ops", required_argument, NULL, 'o'},
                                         {"seed", required_argument, NULL, 's'},
                                         {"path", required_argument, NULL, 'p'},
                                         {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 'e': p->engine = optarg; break;
        case 'o': p->wanted = strtoull(optarg, NULL, 10); break;
        case 's': p->seed = strtoull(optarg, NULL, 10); break;
        case 'p': p->path = optarg; break;
        default: return false;
        }
    bool postgres = strcmp(p->engine, "postgres") == 0;
    return (postgres && getenv("OVERSEER_TEST_PG")) || strcmp(p->engine, "sqlite") == 0;
}

static void remove_all(const char *path) {
    static const char *const ENDS[] = {"", "-wal", "-shm"};
    char name[4096];
    for (size_t i = 0; i < count_of(ENDS); i++) {
        snprintf(name, sizeof name, "%s%s", path, ENDS[i]);
        unlink(name);
    }
}

int main(int argc, char **argv) {
    static struct property p = {.engine = "sqlite", .seed = 1, .wanted = 20000};
    char made[64];
    snprintf(made, sizeof made, "/dev/shm/overseer-property-%d.db", (int)getpid());
    p.path = made;
    if (!options_read(&p, argc, argv)) {
        fprintf(stderr, "property: --engine sqlite, or postgres under tests/lib/with-postgres.\n");
        return 2;
    }
    struct timespec from, to;
    remove_all(p.path);
    begin(&p);
    clock_gettime(CLOCK_MONOTONIC, &from);
    run(&p);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double took = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    printf(
        "property %s: %llu operations on %llu goals, %llu accepted (%llu with nothing to decide), %llu"
        " refused, %llu commands, %llu records, %.0f operations/s, 0 violations\n",
        p.engine, (unsigned long long)p.done, (unsigned long long)p.goals,
        (unsigned long long)p.accepted, (unsigned long long)p.idle, (unsigned long long)p.refused,
        (unsigned long long)p.acts, (unsigned long long)p.records, (double)p.done / took);
    end(&p);
    remove_all(p.path);
    if (p.wanted >= 10000)
        proof_passed("property", p.engine,
                     "PLAN-08 PLAN-09 PLAN-17 PLAN-23 PLAN-24 PLAN-25 EVENT-04 STORE-20");
    return 0;
}
