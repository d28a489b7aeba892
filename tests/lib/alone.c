/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the core alone for a simulated month. */
#include "lib/alone.h"

#include "sys/crash_guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOST = 1, TASKS = 9, AT_ONCE = 50 };

static const int64_t HOUR = MINUTES(60), DAY = MINUTES(1440);

static void violated(struct alone *alone, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void violated(struct alone *alone, const char *format, ...) {
    if (alone->violation[0])
        return;
    int at = snprintf(alone->violation, sizeof alone->violation,
                      "day %.3f: ", (double)(alone->now - alone->begin) / (double)DAY);
    va_list args;
    va_start(args, format);
    vsnprintf(alone->violation + at, sizeof alone->violation - (size_t)at, format, args);
    va_end(args);
}

/* ---- the queue ---- */

static bool item_before(const struct item *a, const struct item *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static int item_compare(const void *a, const void *b) {
    return item_before(a, b) ? -1 : 1;
}

static void item_push(struct alone *alone, struct item item) {
    if (alone->heap_count == alone->heap_cap) {
        alone->heap_cap = alone->heap_cap ? alone->heap_cap * 2 : 256;
        alone->heap = realloc(alone->heap, alone->heap_cap * sizeof *alone->heap);
        must(alone->heap != NULL);
    }
    item.order = alone->order++;
    uint32_t at = alone->heap_count++;
    while (at > 0 && item_before(&item, &alone->heap[(at - 1) / 2])) {
        alone->heap[at] = alone->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    alone->heap[at] = item;
}

static struct item item_pop(struct alone *alone) {
    struct item top = alone->heap[0], last = alone->heap[--alone->heap_count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < alone->heap_count; at = child) {
        if (child + 1 < alone->heap_count &&
            item_before(&alone->heap[child + 1], &alone->heap[child]))
            child++;
        if (!item_before(&alone->heap[child], &last))
            break;
        alone->heap[at] = alone->heap[child];
    }
    alone->heap[at] = last;
    return top;
}

static void item_free(struct item *item) {
    free(item->signal);
    free(item->effect);
}

static void signal_push(struct alone *alone, int64_t at, const struct signal *signal) {
    struct signal *copy = malloc(sizeof *copy + signal_text_size(signal));
    must(copy != NULL);
    signal_copy(copy, signal, (char *)(copy + 1));
    item_push(alone,
              (struct item){.at = at, .kind = ITEM_SIGNAL, .life = alone->life, .signal = copy});
}

static void effect_push(struct alone *alone, int64_t at, enum item_kind kind, struct id goal,
                        uint32_t n, enum effect_kind effect_kind, struct str body) {
    struct effect *effect = malloc(sizeof *effect + body.len);
    must(effect != NULL);
    char *room = (char *)(effect + 1);
    if (body.len > 0)
        memcpy(room, body.at, body.len);
    *effect = (struct effect){.kind = effect_kind, .goal = goal, .n = n};
    must(effect_decode(effect_kind, (struct str){room, body.len}, effect));
    item_push(alone, (struct item){.at = at, .kind = kind, .life = alone->life, .effect = effect});
}

/* ---- aggregates ---- */

static struct seat *seat_of(struct alone *alone, struct id id) {
    for (uint32_t i = 0; i <= alone->goal_count; i++)
        if (alone->seats[i].used && id_equal(alone->seats[i].goal.id, id))
            return &alone->seats[i];
    return NULL;
}

static void seat_keep(struct seat *seat, const struct decision *decision) {
    size_t size = live_size(&decision->live);
    struct live live = {0};
    if (size > seat->room_size) {
        seat->room_size = size * 2;
        void *room = malloc(seat->room_size);
        must(room != NULL);
        live_pack(&live, &decision->live, room);
        free(seat->room);
        seat->room = room;
    } else { /* unchanged rows are already in seat->room: pack through a copy */
        char *copy = malloc(size + 1);
        must(copy != NULL);
        struct live through = {0};
        live_pack(&through, &decision->live, copy);
        live_pack(&live, &through, seat->room);
        free(copy);
    }
    seat->live = live;
    seat->goal = decision->goal;
    seat->used = true;
    seat->due = decision->goal.due_at;
}

/* ---- one step ---- */

struct stepping {
    struct alone *alone;
    const struct world *world;
    const struct signal *signal;
};

static void step_call(void *with) {
    struct stepping *s = with;
    s->alone->did = step(s->world, s->signal, &s->alone->policy, &s->alone->out);
}

static uint32_t goal_number(struct id id) {
    uint32_t number;
    memcpy(&number, id.bytes, sizeof number);
    return number % 1000000;
}

static void story_tell(struct alone *alone, const struct signal *signal) {
    const struct decision *did = &alone->did;
    fprintf(alone->story, "%9.3fh g%u %s", (double)(alone->now - alone->begin) / (double)HOUR,
            goal_number(did->goal.id), SIGNALS[signal->kind].name);
    for (uint32_t i = 0; i < did->record_count; i++) {
        struct evidence evidence = {0};
        shape_decode(&EVIDENCE, did->records[i].body, &evidence);
        fprintf(alone->story, " | %s:%.*s%s%.*s%s%.*s", RECORDS[did->records[i].type].name,
                STR_ARG(evidence.rule), evidence.assignment.len ? " " : "",
                STR_ARG(evidence.assignment), evidence.reason.len ? " because " : "",
                STR_ARG(evidence.reason));
    }
    if (did->verdict == VERDICT_REFUSE)
        fprintf(alone->story, " REFUSED %s %.*s", ERRORS[did->error].code, STR_ARG(did->why));
    fputc('\n', alone->story);
}

static void records_digest(struct alone *alone) {
    const struct decision *did = &alone->did;
    for (uint32_t i = 0; i < did->record_count; i++) {
        uint64_t word;
        memcpy(&word, did->records[i].hash.bytes, sizeof word);
        alone->digest = (alone->digest ^ word) * 0x100000001B3u;
    }
}

static void decision_check(struct alone *alone, struct seat *seat);

/* Queues the decided effects. At-most-once effects are claimed first. */
static void effects_take(struct alone *alone) {
    const struct decision *did = &alone->did;
    for (uint32_t i = 0; i < did->effect_count; i++) {
        const struct effect_change *change = &did->effects[i];
        enum effect_kind kind = (enum effect_kind)change->slot.kind;
        if (change->op != EFFECT_OP_MAKE)
            continue;
        bool once = EFFECTS[kind].promise == PROMISE_AT_MOST_ONCE;
        effect_push(alone, alone->now, once ? ITEM_CLAIM : ITEM_ACT, did->goal.id, change->slot.n,
                    kind, change->body);
    }
}

static enum verdict decide(struct alone *alone, struct seat *seat, struct signal *signal) {
    struct world world = {
        .goal = seat->used ? &seat->goal : NULL, .live = &seat->live, .level = LEVEL_SUPERVISION};
    struct stepping s = {alone, &world, signal};
    struct crash_guard_report report;
    alone->counts.steps++;
    arena_reset(&alone->out);
    if (crash_guard_run(step_call, &s, &report) != CRASH_GUARD_WHOLE) {
        violated(alone, "%s breaks a promise: %s", SIGNALS[signal->kind].name, report.why);
        return VERDICT_REFUSE;
    }
    if (alone->story && (alone->did.verdict != VERDICT_NOTHING || signal->kind != SIGNAL_GOAL_DUE))
        story_tell(alone, signal);
    if (alone->did.verdict == VERDICT_NOTHING && signal->kind == SIGNAL_GOAL_DUE)
        seat->due = alone->did.due_at ? alone->did.due_at : seat->goal.due_at;
    if (alone->did.verdict == VERDICT_SAMPLE)
        seat_keep(seat, &alone->did);
    if (alone->did.verdict != VERDICT_CHANGE)
        return alone->did.verdict;
    alone->counts.decisions++;
    records_digest(alone);
    if (seat->goal.status == GOAL_PAUSED && alone->did.goal.status == GOAL_ACTIVE)
        seat->resumed = alone->now;
    seat_keep(seat, &alone->did);
    effects_take(alone);
    decision_check(alone, seat);
    return VERDICT_CHANGE;
}

static struct id source_next(struct alone *alone) {
    struct id id = {{0}};
    uint64_t n = ++alone->sources;
    memcpy(id.bytes, &n, sizeof n);
    id.bytes[15] = 7;
    return id;
}

static struct signal signal_by(struct alone *alone, enum signal_kind kind, struct id goal,
                               enum who by) {
    return (struct signal){.kind = kind,
                           .goal = goal,
                           .source = source_next(alone),
                           .at = alone->now,
                           .sender.by = by,
                           .sender.actor = by == WHO_HUMAN ? STR("ada") : STR("overseer")};
}

/* ---- checking the guarantees ---- */

static void actions_count(struct alone *alone, uint32_t kind) {
    int64_t minute = alone->now / MINUTES(1);
    if (kind != EFFECT_SPAWN && kind != EFFECT_SEND)
        return;
    if (minute != alone->minute)
        alone->actions = 0;
    alone->minute = minute;
    alone->actions++;
    alone->counts.actions++;
    if (alone->actions > alone->policy.pace.actions_per_minute)
        violated(alone, "%u actions in a minute", alone->actions);
    if (alone->actions > alone->counts.most_actions)
        alone->counts.most_actions = alone->actions;
}

/* Checks the messages to people about one goal, per hour as its policy counts. */
static void says_count(struct alone *alone, struct seat *seat) {
    if (alone->policy.people.messages_per_hour &&
        seat->goal.people.notices > alone->policy.people.messages_per_hour)
        violated(alone, "a goal says %u things in an hour", seat->goal.people.notices);
}

/* The supervisor knows that it does not work, or an action on it is in progress. */
static bool assignment_is_supervised(const struct assignment *assignment) {
    bool works =
        assignment->status == ASSIGNMENT_ACTIVE || assignment->status == ASSIGNMENT_DISPATCHED;
    return !works || assignment->delivery.effect || assignment->wait.question ||
           assignment->wait.on;
}

static void assignments_check(struct alone *alone, struct seat *seat) {
    for (uint32_t i = 0; i < seat->live.assignments.count; i++) {
        const struct assignment *assignment = &seat->live.assignments.at[i];
        const struct node *node = plan_node(&seat->live.plan, assignment->node);
        if (assignment_is_supervised(assignment))
            cast_help(alone->cast, seat->goal.id, assignment->n, alone->now);
        const struct question *question =
            assignment->wait.question
                ? questions_find(&seat->live.questions, assignment->wait.question - 1)
                : NULL;
        int64_t since =
            assignment->updated_at > seat->resumed ? assignment->updated_at : seat->resumed;
        bool is_looked_at = assignment->wait.answered &&
                            (assignment->delivery.effect || seat->goal.status != GOAL_ACTIVE ||
                             alone->now - since <= 2 * alone->policy.liveness.tick_every);
        if (assignment->status == ASSIGNMENT_BLOCKED && assignment->wait.on != WAITS_FOR_QUOTA &&
            assignment->wait.on != WAITS_FOR_BACKOFF && assignment->wait.on != WAITS_FOR_PERMIT &&
            !is_looked_at && (!question || question->state == QUESTION_OVER))
            violated(alone, "A_%u on %s is blocked, waits for %s, and nobody is asked",
                     assignment->n, node->id, name_of(&WAITING_NAMES, assignment->wait.on));
        if (node->attempts > alone->policy.recovery.max_attempts)
            violated(alone, "%s was sent something %u times", node->id, node->attempts);
    }
}

/* Promise 3: where a person or checks verify the work, it is recorded as done only if it really is done. */
static void done_check(struct alone *alone, struct seat *seat) {
    const struct decision *did = &alone->did;
    for (uint32_t i = 0; i < did->record_count; i++) {
        struct evidence evidence = {0};
        char node[LIMIT_NODE_ID + 1] = "";
        if (did->records[i].type != RECORD_ASSIGNMENT_DONE)
            continue;
        must(shape_decode(&EVIDENCE, did->records[i].body, &evidence));
        memcpy(node, evidence.node.at, evidence.node.len);
        if (cast_is_done(alone->cast, seat->goal.id, node))
            continue;
        alone->counts.lies++;
        if (alone->policy.checks.by_person || alone->policy.checks.configured)
            violated(alone, "%s was called done and is not", node);
    }
}

/* After a grant, spent and reserved together never exceed the budget. */
static void budgets_check(struct alone *alone, const struct seat *seat) {
    bool granted = false;
    for (uint32_t i = 0; i < alone->did.record_count; i++)
        granted = granted || alone->did.records[i].type == RECORD_PERMIT_GRANTED;
    for (uint32_t i = 0; granted && i < seat->live.budgets.count; i++) {
        const struct budget *budget = &seat->live.budgets.at[i];
        const struct policy_budget *row = NULL;
        for (uint32_t k = 0; k < alone->policy.spending.budget_count; k++)
            if (strcmp(alone->policy.spending.budgets[k].scope, budget->scope) == 0 &&
                alone->policy.spending.budgets[k].unit == budget->unit)
                row = &alone->policy.spending.budgets[k];
        if (row && budget->reserved > 0 && budget->spent + budget->reserved > row->most)
            violated(alone, "%s: %llu spent and %llu reserved of %llu", budget->scope,
                     (unsigned long long)budget->spent, (unsigned long long)budget->reserved,
                     (unsigned long long)row->most);
    }
}

static void person_reads(struct alone *alone, struct seat *seat);

static void decision_check(struct alone *alone, struct seat *seat) {
    const struct decision *did = &alone->did;
    for (uint32_t i = 0; i < did->effect_count; i++)
        if (did->effects[i].op == EFFECT_OP_MAKE)
            actions_count(alone, did->effects[i].slot.kind);
    says_count(alone, seat);
    if (seat->goal.kind.admission)
        budgets_check(alone, seat);
    assignments_check(alone, seat);
    done_check(alone, seat);
    person_reads(alone, seat);
    if (alone->cast->violation[0])
        violated(alone, "%s", alone->cast->violation);
}

/* The state of a goal as text. */
static const char *seat_text(struct alone *alone, const struct seat *seat) {
    struct str text =
        arena_format(&alone->talk, "%u percent, due in %.0f s,", seat->goal.progress.percent,
                     (double)(seat->due - alone->now) / 1e6);
    for (uint32_t i = 0; i < seat->live.assignments.count; i++) {
        const struct assignment *assignment = &seat->live.assignments.at[i];
        text = arena_format(&alone->talk, "%.*s A_%u %s waits for %s", STR_ARG(text), assignment->n,
                            ASSIGNMENT_STATUS[assignment->status].name,
                            name_of(&WAITING_NAMES, assignment->wait.on));
    }
    for (uint32_t i = 0; i < seat->live.plan.count; i++)
        text = arena_format(&alone->talk, "%.*s %s %s", STR_ARG(text), seat->live.plan.nodes[i].id,
                            NODE_STATUS[seat->live.plan.nodes[i].status].name);
    return arena_cstr(&alone->talk, text);
}

/* No run stays ill without help for longer than the policy allows, and none is ill for two days without a question to a
 * person. */
static void runs_check(struct alone *alone) {
    for (uint32_t i = 0; i < alone->cast->run_count; i++) {
        const struct player *run = &alone->cast->runs[i];
        struct seat *seat = seat_of(alone, run->goal);
        if (!seat || seat->goal.status != GOAL_ACTIVE || run->ill_since == 0 || run->stopped)
            continue;
        const struct assignment *assignment =
            assignments_find(&seat->live.assignments, run->assignment);
        if (!assignment || assignment->run != run->n)
            continue;
        int64_t since = alone->since > seat->resumed ? alone->since : seat->resumed;
        int64_t limit = cast_limit(alone->cast, run, since);
        if (limit < alone->now - MINUTES(1) && !assignment_is_supervised(assignment))
            violated(alone, "g%u %s (%s, %s, A_%u %s) is ill for %.0f minutes and nothing was done",
                     goal_number(run->goal), run->node, PRETEND[run->agent.kind].name,
                     name_of(&PRETEND_STATE_NAMES, run->agent.state), assignment->n,
                     ASSIGNMENT_STATUS[assignment->status].name,
                     (double)(alone->now - run->ill_since) / 60e6);
        if (alone->now - run->ill_since > 2 * DAY && seat->live.questions.count == 0)
            violated(alone, "g%u %s (%s, A_%u) is ill for two days and nobody is asked: %s",
                     goal_number(run->goal), run->node, PRETEND[run->agent.kind].name,
                     assignment->n, seat_text(alone, seat));
    }
}

static void goals_check(struct alone *alone) {
    for (uint32_t i = 1; i <= alone->goal_count; i++) {
        const struct seat *seat = &alone->seats[i];
        if (seat->used && goal_is_open(&seat->goal) && alone->now - seat->began > 12 * DAY &&
            seat->live.questions.count == 0 && !goal_needs_person(&seat->goal))
            violated(alone, "g%u goes on for twelve days, and nobody is asked: %s",
                     goal_number(seat->goal.id), seat_text(alone, seat));
    }
}

/* ---- the simulated person ---- */

static bool question_is_for_person(const struct question *question) {
    return question->of == OF_PERSON && question->state == QUESTION_OPEN;
}

/* The person answers every new question eventually, most of them the same day. */
static void person_reads(struct alone *alone, struct seat *seat) {
    for (uint32_t i = 0; i < seat->live.questions.count; i++) {
        const struct question *question = &seat->live.questions.at[i];
        if (!question_is_for_person(question) || question->n + 1 <= seat->asked)
            continue;
        seat->asked = question->n + 1;
        alone->counts.questions++;
        int64_t minutes = 1 + dice_pick(&alone->dice, dice_chance(&alone->dice, 300) ? 900 : 90);
        struct signal answer = signal_by(alone, SIGNAL_QUESTION_ANSWER, seat->goal.id, WHO_HUMAN);
        answer.about.question = question->n + 1;
        signal_push(alone, alone->now + MINUTES(minutes), &answer);
    }
}

/* When asked whether work is done, the person looks at the truth and answers accordingly. */
static uint32_t option_for(struct alone *alone, const struct seat *seat,
                           const struct question *question) {
    if (strncmp(question->cause, "done.", 5) == 0)
        return cast_is_done(alone->cast, seat->goal.id, question->cause + 5) ? 1 : 2;
    if (question->options == 0)
        return 0;
    if (seat->goal.kind.admission)
        return 1;
    return dice_chance(&alone->dice, 850) ? 1 : 1 + dice_pick(&alone->dice, question->options);
}

static void person_answers(struct alone *alone, struct seat *seat, struct signal *signal) {
    const struct question *question =
        questions_find(&seat->live.questions, signal->about.question - 1);
    if (!question || !question_is_for_person(question))
        return;
    signal->at = alone->now;
    if (question->kind == QUESTION_ALERT) { /* an alert has no answer */
        signal->kind = SIGNAL_QUESTION_MOVE;
        signal->to = QUESTION_SEEN;
    } else
        signal->to = option_for(alone, seat, question);
    if (signal->to == 0 && question->kind != QUESTION_ALERT)
        signal->text = STR("the first one, please");
    alone->counts.answers++;
    if (decide(alone, seat, signal) == VERDICT_REFUSE)
        violated(alone, "an answer to \"%s\" was refused: %s %.*s", question->cause,
                 ERRORS[alone->did.error].code, STR_ARG(alone->did.why));
}

/* ---- creating and replacing goals ---- */

static struct str plan_make(struct alone *alone) {
    static const struct str CRITERION = {"it works", 8};
    struct plan_row rows[TASKS + 1];
    struct str *after = arena_new(&alone->talk, struct str, TASKS + 1);
    rows[0] = (struct plan_row){.id = STR("P1"),
                                .text = {.name = STR("all of it"), .criteria = {&CRITERION, 1}}};
    for (uint32_t i = 1; i <= TASKS; i++) {
        after[i] = arena_format(&alone->talk, "T%u", 1 + dice_pick(&alone->dice, i));
        rows[i] =
            (struct plan_row){.id = arena_format(&alone->talk, "T%u", i),
                              .parent = STR("P1"),
                              .tier = TIER_TASK,
                              .text = {.name = STR("a piece of it"), .criteria = {&CRITERION, 1}}};
        if (i > 6) /* the last tasks depend on an earlier one */
            rows[i].depends_on = (struct texts){&after[i - 1], 1};
    }
    struct plan_text text = {{rows, TASKS + 1}};
    return shape_encode(&PLAN_TEXT, &text, &alone->talk);
}

/* Once a goal is over, none of its runs may be left behind. */
static void orphans_check(struct alone *alone, const struct seat *seat) {
    for (uint32_t i = 0; i < alone->cast->run_count; i++) {
        const struct player *run = &alone->cast->runs[i];
        if (id_equal(run->goal, seat->goal.id) && !run->stopped && run->agent.state != PRETEND_GONE)
            violated(alone, "a run (%s, %s) of %s is left behind", PRETEND[run->agent.kind].name,
                     name_of(&PRETEND_STATE_NAMES, run->agent.state), run->node);
    }
    cast_forget(alone->cast, seat->goal.id);
}

static void goal_begin(struct alone *alone, struct seat *seat) {
    struct id id = source_next(alone);
    if (seat->used)
        orphans_check(alone, seat);
    seat->used = false;
    seat->asked = 0;
    seat->live = (struct live){0};
    seat->began = alone->now;
    id.bytes[15] = 9;
    struct signal create = signal_by(alone, SIGNAL_GOAL_CREATE, id, WHO_HUMAN);
    create.describe.title = STR("a goal");
    create.host = HOST;
    decide(alone, seat, &create);
    struct signal plan = signal_by(alone, SIGNAL_PLAN_APPLY, id, WHO_HUMAN);
    plan.body = plan_make(alone);
    if (!alone->violation[0] && decide(alone, seat, &plan) != VERDICT_CHANGE)
        violated(alone, "the plan was refused: %.*s", STR_ARG(alone->did.why));
    alone->counts.goals++;
}

/* A finished goal is replaced by a new one once its effects and assignments are settled. */
static void goal_renew(struct alone *alone, struct seat *seat) {
    if (goal_is_open(&seat->goal) || seat->goal.effects.open_count > 0 ||
        seat->live.assignments.count > 0 || alone->now + 4 * DAY > alone->until)
        return;
    alone->counts.done += seat->goal.status == GOAL_COMPLETED;
    alone->counts.cancelled += seat->goal.status == GOAL_CANCELLED;
    goal_begin(alone, seat);
}

/* ---- events ---- */

static void signal_deliver(struct alone *alone, struct signal *signal) {
    struct seat *seat = seat_of(alone, signal->goal);
    bool admission = id_equal(signal->goal, admission_id(HOST));
    if (!seat && admission)
        seat = &alone->seats[0];
    if (!seat)
        return; /* a late signal for a goal that is over */
    alone->counts.signals++;
    if (signal->kind == SIGNAL_QUESTION_ANSWER)
        person_answers(alone, seat, signal);
    else
        decide(alone, seat, signal);
}

static void claim(struct alone *alone, struct item *item) {
    struct seat *seat = seat_of(alone, item->effect->goal);
    if (!seat || !goal_effect(&seat->goal, item->effect->n)) {
        item_free(item);
        return;
    }
    struct signal signal = signal_by(alone, SIGNAL_EFFECT_CLAIM, item->effect->goal, WHO_OVERSEER);
    signal.effect = item->effect->n;
    signal.host = HOST;
    decide(alone, seat, &signal);
    const struct effect_slot *slot = goal_effect(&seat->goal, item->effect->n);
    if (!slot) {
        item_free(item);
        return;
    }
    bool claimed = slot->state == EFFECT_RUNNING;
    item->kind = claimed ? ITEM_ACT : ITEM_CLAIM;
    item->at = alone->now + (claimed ? SECONDS(dice_pick(&alone->dice, 3)) : MINUTES(5));
    item_push(alone, *item);
}

static void tell(struct alone *alone, const struct effect *effect) {
    struct signal text;
    must(signal_decode(effect->body, &text));
    text.at = alone->now;
    signal_deliver(alone, &text);
}

static bool is_wanted(void *with, struct id goal, const char *node) {
    struct alone *alone = with;
    const struct seat *seat = seat_of(alone, goal);
    const struct node *found = seat ? plan_find(&seat->live.plan, str_of(node)) : NULL;
    return seat && seat->goal.status == GOAL_ACTIVE && found && !found->retired &&
           !node_is_over(found);
}

static void act(struct alone *alone, struct item *item) {
    struct effect *effect = item->effect;
    struct seat *seat = seat_of(alone, effect->goal);
    if (seat && goal_effect(&seat->goal, effect->n)) {
        struct signal ended = cast_carry(alone->cast, effect, HOST, alone->now, &alone->talk);
        if (effect->kind == EFFECT_TELL)
            tell(alone, effect);
        int64_t after = effect->kind == EFFECT_TELL ? 0 : SECONDS(1 + dice_pick(&alone->dice, 4));
        if (after == 0) {
            ended.at = alone->now;
            signal_deliver(alone, &ended);
        } else {
            ended.at = alone->now + after;
            signal_push(alone, alone->now + after, &ended);
        }
    }
    item_free(item);
}

/* After a restart the process that claimed an at-most-once effect is gone, so the effect is reported as lost.
 * Repeatable effects survive. */
static bool item_survives(struct alone *alone, struct item *item) {
    if (item->life == alone->life)
        return true;
    if (item->kind == ITEM_ACT && EFFECTS[item->effect->kind].promise == PROMISE_AT_MOST_ONCE) {
        struct signal lost = signal_by(alone, SIGNAL_EFFECT_LOST, item->effect->goal, WHO_OVERSEER);
        lost.effect = item->effect->n;
        signal_deliver(alone, &lost);
        return false;
    }
    if (item->kind == ITEM_SIGNAL && item->signal->kind == SIGNAL_EFFECT_ENDED) {
        const struct seat *seat = seat_of(alone, item->signal->goal);
        const struct effect_slot *slot =
            seat ? goal_effect((struct goal *)(uintptr_t)&seat->goal, item->signal->effect) : NULL;
        if (!slot || EFFECTS[slot->kind].promise == PROMISE_REPEAT)
            return true;
        struct signal lost = signal_by(alone, SIGNAL_EFFECT_LOST, item->signal->goal, WHO_OVERSEER);
        lost.effect = item->signal->effect;
        signal_deliver(alone, &lost);
        return false;
    }
    return true;
}

static void item_run(struct alone *alone) {
    struct item item = item_pop(alone);
    alone->now = item.at > alone->now ? item.at : alone->now;
    if (!item_survives(alone, &item)) {
        item_free(&item);
        return;
    }
    if (item.kind == ITEM_CLAIM)
        claim(alone, &item);
    else if (item.kind == ITEM_ACT)
        act(alone, &item);
    else {
        item.signal->at = alone->now;
        signal_deliver(alone, item.signal);
        item_free(&item);
    }
}

static void agents_run(struct alone *alone) {
    struct signal signals[CAST_SIGNALS];
    uint32_t count = cast_happens(alone->cast, alone->now, signals, &alone->talk);
    for (uint32_t i = 0; i < count; i++)
        signal_deliver(alone, &signals[i]);
}

static void due_run(struct alone *alone, struct seat *seat) {
    struct signal due = signal_by(alone, SIGNAL_GOAL_DUE, seat->goal.id, WHO_OVERSEER);
    if (seat->live.assignments.count > 0)
        due.body = cast_see(alone->cast, seat->goal.id, &seat->live.assignments, HOST, alone->since,
                            alone->now, &alone->talk);
    int64_t before = seat->due;
    alone->counts.signals++;
    if (decide(alone, seat, &due) == VERDICT_CHANGE && seat->due <= alone->now &&
        seat->due == before)
        seat->due = alone->now + SECONDS(1);
    if (seat->due <=
        alone->now) /* a sweep has a minimum interval, whatever due time a goal asks for */
        seat->due = alone->now + SECONDS(5);
}

/* People keep answering while the machine sleeps; it receives the answers afterwards. */
static void sleep_for(struct alone *alone, int64_t span) {
    struct item *items = alone->heap;
    uint32_t count = alone->heap_count;
    cast_sleep(alone->cast, alone->now, alone->now + span);
    alone->now += span;
    alone->since = alone->now;
    alone->counts.sleeps++;
    alone->heap = NULL;
    alone->heap_count = alone->heap_cap = 0;
    qsort(items, count, sizeof *items, item_compare);
    for (uint32_t i = 0; i < count; i++) {
        bool answer =
            items[i].kind == ITEM_SIGNAL && items[i].signal->kind == SIGNAL_QUESTION_ANSWER;
        items[i].at += answer ? 0 : span;
        if (items[i].at < alone->now)
            items[i].at = alone->now;
        item_push(alone, items[i]);
    }
    free(items);
}

/* A person pauses a goal and resumes it later, or cancels it. */
static void change_mind(struct alone *alone) {
    struct seat *seat = &alone->seats[1 + dice_pick(&alone->dice, alone->goal_count)];
    if (seat->goal.status != GOAL_ACTIVE)
        return;
    bool cancels = dice_chance(&alone->dice, 200);
    struct signal move = signal_by(alone, SIGNAL_GOAL_MOVE, seat->goal.id, WHO_HUMAN);
    move.to = cancels ? GOAL_CANCELLED : GOAL_PAUSED;
    move.reason = STR("I changed my mind");
    decide(alone, seat, &move);
    if (cancels)
        return;
    struct signal resume = signal_by(alone, SIGNAL_GOAL_MOVE, seat->goal.id, WHO_HUMAN);
    resume.to = GOAL_ACTIVE;
    signal_push(alone, alone->now + MINUTES(5 + dice_pick(&alone->dice, 600)), &resume);
}

/* The daemon restarts, or the machine sleeps and the clock leaps. */
static void disturb(struct alone *alone) {
    alone->since = alone->now;
    if (dice_chance(&alone->dice, 500)) {
        alone->life++;
        alone->counts.restarts++;
        cast_host_dies(alone->cast, HOST, alone->now);
        return;
    }
    sleep_for(alone, MINUTES(10 + dice_pick(&alone->dice, 600)));
}

static void rounds(struct alone *alone) {
    runs_check(alone);
    goals_check(alone);
    for (uint32_t i = 1; i <= alone->goal_count && !alone->violation[0]; i++)
        goal_renew(alone, &alone->seats[i]);
}

bool alone_move(struct alone *alone) {
    struct seat *next = &alone->seats[0];
    int64_t due = TIME_NEVER, agents = cast_next(alone->cast),
            item = alone->heap_count ? alone->heap[0].at : TIME_NEVER;
    for (uint32_t i = 0; i <= alone->goal_count; i++)
        if (alone->seats[i].used && alone->seats[i].due < due) {
            next = &alone->seats[i];
            due = next->due;
        }
    int64_t at = item < agents ? item : agents;
    at = at < due ? at : due;
    if (at >= alone->until || alone->violation[0])
        return false;
    arena_reset(&alone->talk);
    if (at > alone->now) {
        alone->busy += (uint64_t)(at - alone->now) * alone->cast->alive;
        alone->now = at;
    }
    uint32_t whim = dice_pick(&alone->dice, 20000);
    if (whim == 0)
        disturb(alone);
    else if (whim < 4)
        change_mind(alone);
    else if (item <= agents && item <= due)
        item_run(alone);
    else if (agents <= due)
        agents_run(alone);
    else
        due_run(alone, next);
    if (alone->counts.steps % 64 == 0)
        rounds(alone);
    return !alone->violation[0];
}

void alone_finish(struct alone *alone) {
    alone->counts.agent_minutes = alone->busy / 60000000u;
    runs_check(alone);
    goals_check(alone);
    for (uint32_t i = 1; i <= alone->goal_count; i++) {
        const struct seat *seat = &alone->seats[i];
        alone->counts.done += seat->goal.status == GOAL_COMPLETED;
        alone->counts.cancelled += seat->goal.status == GOAL_CANCELLED;
        alone->counts.left += goal_is_open(&seat->goal);
    }
    if (alone->cast->counts.vain * 50 >
        alone->cast->counts.nudges + 200) /* the limit over all runs: watchful.c */
        violated(alone, "%llu of %llu nudges went to somebody who was well",
                 (unsigned long long)alone->cast->counts.vain,
                 (unsigned long long)alone->cast->counts.nudges);
}

/* ---- setup ---- */

static void policy_make(struct alone *alone, uint64_t seed) {
    static const char *const IDS[] = {"auto-1", "auto-2", "auto-3", "auto-4"};
    struct policy_agent *agents = arena_new(&alone->shared, struct policy_agent, count_of(IDS));
    struct policy policy = policy_default();
    for (uint32_t i = 0; i < count_of(IDS); i++) {
        snprintf(agents[i].id, sizeof agents[i].id, "%s", IDS[i]);
        snprintf(agents[i].account, sizeof agents[i].account, "account-%u", i / 2);
        agents[i].reserve = 1000000;
    }
    struct policy_budget *budgets = arena_new(&alone->shared, struct policy_budget, 1);
    *budgets = (struct policy_budget){"fleet", UNIT_MONEY, 40000000, DAY};
    policy.spending.budgets = budgets;
    policy.spending.budget_count = seed % 5 == 0;
    policy.dispatch.agents = agents;
    policy.dispatch.agent_count = count_of(IDS);
    policy.dispatch.most_at_once = AT_ONCE;
    policy.dispatch.most_per_goal = 6;
    policy.liveness.tick_every = seed % 4 ? MINUTES(5) : MINUTES(2);
    policy.checks.by_person = seed % 2;
    policy.checks.configured = seed % 3 == 0;
    policy.landing.automatic = seed % 6 < 4;
    alone->policy = policy_seal(policy);
}

struct alone *alone_create(uint64_t seed, uint32_t goals, uint32_t days) {
    struct alone *alone = calloc(1, sizeof *alone);
    must(alone != NULL && goals <= ALONE_GOALS);
    alone->dice.state = seed * 0x2545F4914F6CDD1Du + 1;
    alone->now = alone->begin = alone->since = SECONDS(1794701782);
    alone->until = alone->begin + days * DAY;
    alone->goal_count = goals;
    policy_make(alone, seed);
    alone->cast = cast_create(dice_next(&alone->dice), &alone->policy);
    alone->cast->reports = cast_reports(seed);
    alone->cast->wanted = is_wanted;
    alone->cast->with = alone;
    alone->cast->faults = 20;
    alone->cast->blind = 10;
    for (uint32_t i = 0; i <= goals; i++)
        alone->seats[i].due = TIME_NEVER;
    for (uint32_t i = 1; i <= goals && !alone->violation[0]; i++) {
        arena_reset(&alone->talk);
        goal_begin(alone, &alone->seats[i]);
    }
    return alone;
}

void alone_free(struct alone *alone) {
    for (uint32_t i = 0; i < alone->heap_count; i++)
        item_free(&alone->heap[i]);
    for (uint32_t i = 0; i <= ALONE_GOALS; i++)
        free(alone->seats[i].room);
    free(alone->heap);
    cast_free(alone->cast);
    arena_free(&alone->talk);
    arena_free(&alone->out);
    arena_free(&alone->shared);
    free(alone);
}
