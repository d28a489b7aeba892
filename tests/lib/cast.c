/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the agents. */
#include "lib/cast.h"

#include "base/planted.h"

#include "model/verification.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void violated(struct cast *cast, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void violated(struct cast *cast, const char *format, ...) {
    if (cast->violation[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(cast->violation, sizeof cast->violation, format, args);
    va_end(args);
}

void cast_counts_add(struct cast_counts *to, const struct cast_counts *from) {
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++)
        sums[i] += more[i];
}

struct cast *cast_create(uint64_t seed, const struct policy *policy) {
    struct cast *cast = calloc(1, sizeof *cast);
    must(cast != NULL);
    cast->dice.state = seed;
    cast->policy = policy;
    for (uint32_t kind = 0; kind < PRETENDS; kind++)
        cast->weights[kind] = kind == PRETEND_WORKS ? 40 : kind == PRETEND_PUPPET ? 0 : 4;
    return cast;
}

bool cast_reports(uint64_t seed) {
    return seed % 8 == 0 || seed % 8 == 6;
}

void cast_free(struct cast *cast) {
    free(cast->runs);
    free(cast->works);
    free(cast->verdicts);
    free(cast->notes);
    free(cast);
}

/* ---- looking up runs ---- */

struct player *cast_run(const struct cast *cast, struct id goal, uint32_t n) {
    for (uint32_t i = cast->run_count; i-- > 0;)
        if (cast->runs[i].n == n && id_equal(cast->runs[i].goal, goal))
            return &cast->runs[i];
    return NULL;
}

struct player *cast_newest(const struct cast *cast, struct id goal, uint32_t assignment) {
    for (uint32_t i = cast->run_count; i-- > 0;)
        if (cast->runs[i].assignment == assignment && id_equal(cast->runs[i].goal, goal))
            return &cast->runs[i];
    return NULL;
}

struct player *cast_named(const struct cast *cast, const char *name, uint32_t back) {
    for (uint32_t i = cast->run_count; i-- > 0;)
        if (strcmp(cast->runs[i].name, name) == 0 && back-- == 0)
            return &cast->runs[i];
    return NULL;
}

static void *grown(void *rows, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return rows;
    *cap = *cap ? *cap * 2 : 64;
    rows = realloc(rows, *cap * size);
    must(rows != NULL);
    return rows;
}

static struct player *run_add(struct cast *cast) {
    cast->runs = grown(cast->runs, cast->run_count, &cast->run_cap, sizeof *cast->runs);
    struct player *run = &cast->runs[cast->run_count++];
    *run = (struct player){0};
    return run;
}

static struct work *work_of(const struct cast *cast, struct id goal, const char *node) {
    for (uint32_t i = cast->work_count; i-- > 0;)
        if (id_equal(cast->works[i].goal, goal) && strcmp(cast->works[i].node, node) == 0)
            return &cast->works[i];
    return NULL;
}

/* Work done by one run is available to the next run. */
static void work_keep(struct cast *cast, const struct player *run) {
    struct work *work = work_of(cast, run->goal, run->node);
    if (!work) {
        cast->works = grown(cast->works, cast->work_count, &cast->work_cap, sizeof *cast->works);
        work = &cast->works[cast->work_count++];
        *work = (struct work){.goal = run->goal};
        memcpy(work->node, run->node, sizeof work->node);
    }
    work->stretches = run->agent.stretches;
    if (run->agent.worked > work->worked)
        work->worked = run->agent.worked;
}

bool cast_is_done(const struct cast *cast, struct id goal, const char *node) {
    const struct work *work = work_of(cast, goal, node);
    return work && work->worked >= work->stretches;
}

static int64_t account_until(const struct cast *cast, const char *name) {
    for (uint32_t i = 0; i < CAST_ACCOUNTS; i++)
        if (strcmp(cast->accounts[i].name, name) == 0)
            return cast->accounts[i].until;
    return 0;
}

static void account_limit(struct cast *cast, const char *name, int64_t until) {
    for (uint32_t i = 0; i < CAST_ACCOUNTS; i++)
        if (cast->accounts[i].name[0] == 0 || strcmp(cast->accounts[i].name, name) == 0) {
            memcpy(cast->accounts[i].name, name, sizeof cast->accounts[i].name);
            cast->accounts[i].until = until;
            return;
        }
}

static struct pretend_world world_of(const struct cast *cast, const struct player *run) {
    return (struct pretend_world){.limited_until = account_until(cast, run->account),
                                  .faults = cast->faults,
                                  .fault = cast->fault};
}

/* ---- the truth, and violations of it ---- */

static void run_note(struct cast *cast, struct player *run, int64_t now) {
    bool ill = !run->stopped && !pretend_is_well(&run->agent, now);
    if (!ill) {
        run->ill_since = 0;
        run->helped = false;
    } else if (run->ill_since == 0) {
        run->ill_since = now;
        run->helped = false;
        cast->counts.stalls++;
    }
    if (run->agent.doubled > 0)
        violated(cast, "a run of %s heard one dispatch twice", run->node);
    work_keep(cast, run);
}

static bool is_wanted(const struct cast *cast, const struct player *run) {
    return !cast->wanted || cast->wanted(cast->with, run->goal, run->node);
}

bool cast_is_frozen(const struct cast *cast, const struct player *run, int64_t now) {
    return cast->hosts_matter && now >= run->renewed_until + run->first.orphan_after;
}

static bool runs_now(const struct cast *cast, const struct player *run, int64_t now) {
    return !run->stopped && run->agent.state != PRETEND_GONE && !cast_is_frozen(cast, run, now);
}

void cast_judge(struct cast *cast, int64_t now) {
    for (uint32_t i = 0; cast->hosts_matter && i < cast->run_count; i++)
        for (uint32_t k = i + 1; k < cast->run_count; k++) {
            const struct player *one = &cast->runs[i], *two = &cast->runs[k];
            if (one->host != two->host && id_equal(one->goal, two->goal) &&
                strcmp(one->node, two->node) == 0 && runs_now(cast, one, now) &&
                runs_now(cast, two, now))
                violated(cast, "%s has two live runs: %u on host %u and %u on host %u", one->node,
                         one->n, one->host, two->n, two->host);
        }
}

/* A healthy agent must not be replaced. */
static void replace_judge(struct cast *cast, const struct player *run, int64_t now) {
    for (uint32_t i = 0; i + 1 < cast->run_count; i++) {
        const struct player *other = &cast->runs[i];
        if (other->stopped || other->agent.state == PRETEND_GONE ||
            (cast->hosts_matter && other->host != run->host) || /* cast_judge() checks those */
            !id_equal(other->goal, run->goal) || strcmp(other->node, run->node) != 0)
            continue;
        if (pretend_is_well(&other->agent, now) && !other->agent.says_done)
            violated(cast, "a healthy agent (%s, %s) on %s was replaced",
                     PRETEND[other->agent.kind].name,
                     name_of(&PRETEND_STATE_NAMES, other->agent.state), run->node);
    }
}

static void send_judge(struct cast *cast, const struct player *run, enum wording words,
                       int64_t now) {
    bool well = pretend_is_well(&run->agent, now);
    if (words == WORDS_NUDGE) {
        cast->counts.nudges++;
        cast->counts.vain += well;
        if (well && getenv("CAST_TOLD"))
            printf(
                "in vain: %s A_%u is %s, worked %u of %u, since %.1f minutes, %s, tool %u, pace %.1f\n",
                run->node, run->assignment, name_of(&PRETEND_STATE_NAMES, run->agent.state),
                run->agent.worked, run->agent.stretches,
                (double)(now - run->agent.stretch_since) / 60e6, PRETEND[run->agent.kind].name,
                run->agent.tool, (double)run->agent.pace / 60e6);
    }
    bool task = words == WORDS_TASK || words == WORDS_AGAIN;
    if (task && run->agent.state == PRETEND_BUSY)
        violated(cast, "a healthy agent (%s) on %s was interrupted with %s",
                 PRETEND[run->agent.kind].name, run->node, name_of(&WORDS_NAMES, words));
}

static void stop_judge(struct cast *cast, const struct player *run, int64_t now) {
    if (pretend_is_well(&run->agent, now) && !run->agent.says_done && is_wanted(cast, run))
        violated(cast, "a healthy agent (%s, %s) on %s was stopped", PRETEND[run->agent.kind].name,
                 name_of(&PRETEND_STATE_NAMES, run->agent.state), run->node);
}

/* ---- effects ---- */

static enum pretend_kind kind_pick(struct cast *cast) {
    uint32_t total = 0;
    if (cast->shows_next) {
        cast->shows_next = false;
        return cast->next;
    }
    for (uint32_t i = 0; i < PRETENDS; i++)
        total += cast->weights[i];
    uint32_t at = dice_pick(&cast->dice, total), kind = 0;
    while (at >= cast->weights[kind])
        at -= cast->weights[kind++];
    return (enum pretend_kind)kind;
}

static void name_take(char *to, size_t size, struct str from) {
    struct str cut = str_cut(from, size - 1);
    if (cut.len > 0)
        memcpy(to, cut.at, cut.len);
}

/* RECOVER-10: a dispatch keeps its id when it is resent. */
static uint32_t dispatch_of(const struct effect *effect) {
    return effect->dispatch ? effect->dispatch : effect->n + 1;
}

static void run_begin(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now) {
    uint32_t n = dispatch_of(effect);
    enum pretend_kind kind = kind_pick(cast);
    if (cast_run(cast, effect->goal, n))
        violated(cast, "run %u was started twice", n);
    struct player *run = run_add(cast);
    run->goal = effect->goal;
    run->n = n;
    run->assignment = effect->assignment;
    run->host = host;
    name_take(run->node, sizeof run->node, effect->node);
    name_take(run->account, sizeof run->account, effect->account);
    name_take(run->name, sizeof run->name, effect->agent);
    run->heard[effect->words]++;
    run->first = run->last = *effect;
    replace_judge(cast, run, now);
    pretend_start(&run->agent, kind, dice_next(&cast->dice), n, now);
    const struct work *work = work_of(cast, run->goal, run->node);
    if (work && work->worked < work->stretches) {
        run->agent.stretches = work->stretches;
        run->agent.worked = work->worked;
    }
    run_note(cast, run, now);
}

static enum delivery spawn(struct cast *cast, const struct effect *effect, uint32_t host,
                           int64_t now) {
    enum pretend_fault fault = cast->fault;
    if (dice_chance(&cast->dice, cast->faults))
        fault = (enum pretend_fault)(FAULT_REFUSED + dice_pick(&cast->dice, 3));
    cast->fault = FAULT_NONE;
    cast->counts.spawns++;
    cast->counts.doubts += fault > 0;
    if (fault == FAULT_REFUSED)
        return DELIVERY_ERROR;
    if (fault != FAULT_SWALLOWED)
        run_begin(cast, effect, host, now);
    enum delivery receipt = cast->at_once ? DELIVERY_OK : DELIVERY_ACCEPTED;
    cast->at_once = false;
    return fault == FAULT_NONE ? receipt : DELIVERY_TIMEOUT;
}

/* The run that an effect addresses; NULL if this host does not have it. */
static struct player *run_meant(struct cast *cast, const struct effect *effect, uint32_t host) {
    struct player *run = cast_run(cast, effect->goal, effect->run);
    return run && cast->hosts_matter && run->host != host ? NULL : run;
}

static enum delivery send(struct cast *cast, const struct effect *effect, uint32_t host,
                          int64_t now) {
    struct player *run = run_meant(cast, effect, host);
    cast->counts.sends++;
    if (!run)
        return DELIVERY_ERROR;
    struct pretend_world world = world_of(cast, run);
    send_judge(cast, run, (enum wording)effect->words, now);
    enum delivery delivery =
        pretend_send(&run->agent, &world, dispatch_of(effect), (enum wording)effect->words, now);
    cast->fault = FAULT_NONE;
    cast->counts.doubts += delivery != DELIVERY_ACCEPTED;
    run->heard[effect->words]++;
    run->last = *effect;
    run_note(cast, run, now);
    run->helped = true;
    return delivery;
}

static struct str look(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now,
                       struct arena *arena) {
    struct player *run = run_meant(cast, effect, host);
    struct observation seen = {
        .assignment = effect->assignment, .dispatch = effect->dispatch, .at = now};
    cast->counts.looks++;
    if (dice_chance(&cast->dice, cast->blind) || (run && run->blind))
        return (struct str){0};
    if (run)
        pretend_look(&run->agent, effect->dispatch, effect->sample, now, &seen);
    else { /* it was never started */
        seen.process = seen.turn = TRISTATE_NO;
        seen.delivered = TRISTATE_NO;
    }
    return shape_encode(&OBSERVATION, &seen, arena);
}

static void stop(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now) {
    struct player *run = run_meant(cast, effect, host);
    cast->counts.stops++;
    if (!run || run->stopped)
        return;
    stop_judge(cast, run, now);
    pretend_stop(&run->agent, now);
    run->stopped = true;
    run_note(cast, run, now);
}

/* A channel accepts a message to a person, or rejects it. */
static uint32_t say(struct cast *cast, const struct effect *effect, int64_t now,
                    struct arena *arena) {
    struct notice notice = {0};
    must(shape_decode_in(&NOTICE, effect->body, arena, &notice));
    cast->counts.says++;
    cast->notes = grown(cast->notes, cast->note_count, &cast->note_cap, sizeof *cast->notes);
    struct note *note = &cast->notes[cast->note_count++];
    *note = (struct note){.goal = notice.goal,
                          .kind = notice.kind,
                          .alarm = notice.alarm,
                          .times = notice.attempt.times,
                          .at = now};
    name_take(note->channel, sizeof note->channel, notice.channel);
    return cast->heard;
}

/* The checks know the truth. Sometimes they cannot be run. */
static uint32_t check(struct cast *cast, const struct effect *effect, uint32_t host) {
    char node[LIMIT_NODE_ID + 1] = "";
    const struct player *run = cast_newest(cast, effect->goal, effect->assignment);
    name_take(node, sizeof node, effect->node);
    if (cast->hosts_matter && run && run->host != host)
        return CHECKED_NOTHING; /* the work is not in the clone of this host */
    if (cast->checked)
        return cast->checked - 1;
    if (dice_chance(&cast->dice, cast->blind))
        return CHECKED_NOTHING;
    if (cast_is_done(cast, effect->goal, node))
        return CHECKED_PASSED;
    return dice_chance(&cast->dice, 500) ? CHECKED_FAILED : CHECKED_UNCHANGED;
}

/* ---- the target branch ---- */

enum { PUSHES = 30 }; /* per thousand checks and landings: those during which a person pushes */

static uint32_t *tip_of(struct cast *cast, uint64_t repository) {
    for (uint32_t i = 0; i < cast->target_count; i++)
        if (cast->targets[i].repository == repository)
            return &cast->targets[i].tip;
    must(cast->target_count < CAST_REPOSITORIES);
    struct cast_target *target = &cast->targets[cast->target_count++];
    *target = (struct cast_target){.repository = repository};
    return &target->tip;
}

static void target_push(struct cast *cast, uint64_t repository) {
    *tip_of(cast, repository) = ++cast->commits;
}

void cast_push(struct cast *cast) {
    target_push(cast, 0);
}

static void people_push(struct cast *cast, uint64_t repository) {
    if (!cast->pushes_when_asked && dice_chance(&cast->dice, PUSHES))
        target_push(cast, repository);
}

void cast_place(struct cast *cast, struct id goal, uint64_t repository) {
    must(cast->place_count < CAST_PLACES);
    cast->places[cast->place_count++] = (struct cast_place){goal, repository};
}

static void place_check(struct cast *cast, const struct effect *effect) {
    uint64_t repository = 0;
    for (uint32_t i = 0; i < cast->place_count; i++)
        if (id_equal(cast->places[i].goal, effect->goal))
            repository = cast->places[i].repository;
    if (effect->repository != repository)
        violated(cast, "effect %u works in repository %llx, and its goal is of %llx", effect->n,
                 (unsigned long long)effect->repository, (unsigned long long)repository);
}

static void verdict_note(struct cast *cast, struct cast_verdict verdict) {
    if (cast->verdict_count == cast->verdict_cap) {
        cast->verdict_cap = cast->verdict_cap ? 2 * cast->verdict_cap : 64;
        cast->verdicts = realloc(cast->verdicts, cast->verdict_cap * sizeof *cast->verdicts);
        must(cast->verdicts != NULL);
    }
    cast->verdicts[cast->verdict_count++] = verdict;
}

static uint32_t commit_read(struct str text) {
    uint32_t number = 0;
    for (size_t i = 0; i < text.len; i++)
        number = number * 10 + (uint32_t)(text.at[i] - '0');
    return number;
}

/* Builds a candidate on the tip; each call makes a new one. */
static void candidate_say(struct cast *cast, struct signal *ended, const struct effect *effect,
                          uint32_t host, struct arena *arena) {
    uint32_t commit = ++cast->commits, onto = *tip_of(cast, effect->repository);
    struct id goal = ended->goal;
    bool other = cast->differs ||
                 (!cast->landed && !cast->pushes_when_asked && dice_chance(&cast->dice, 100));
    uint32_t looks = other ? commit : 0;
    struct verification made = {
        .change = sha256(arena_format(arena, "%02x%02x %u", goal.bytes[14], goal.bytes[15], looks)),
        .onto = arena_format(arena, "%040u", onto),
        .snapshot = arena_format(arena, "%040u", commit)};
    ended->outcome.reference = arena_format(arena, "%040u", commit);
    ended->body = shape_encode(&VERIFICATION, &made, arena);
    if (ended->to == CHECKED_PASSED)
        verdict_note(cast, (struct cast_verdict){.commit = commit,
                                                 .onto = onto,
                                                 .host = host,
                                                 .goal = goal,
                                                 .repository = effect->repository});
    people_push(cast, effect->repository);
}

static struct cast_verdict *verdict_find(struct cast *cast, uint32_t commit, uint32_t onto) {
    for (uint32_t i = 0; i < cast->verdict_count; i++)
        if (cast->verdicts[i].commit == commit && cast->verdicts[i].onto == onto)
            return &cast->verdicts[i];
    return NULL;
}

/* Moves the target branch to the candidate. */
static void target_move(struct cast *cast, struct cast_verdict *verdict) {
    for (uint32_t i = 0; cast->lands_once && i < cast->verdict_count; i++)
        if (cast->verdicts[i].landed && id_equal(cast->verdicts[i].goal, verdict->goal))
            violated(cast, "a goal lands twice: commit %u and commit %u", cast->verdicts[i].commit,
                     verdict->commit);
    uint32_t *tip = tip_of(cast, verdict->repository);
    if (*tip != verdict->onto)
        violated(cast, "commit %u lands on %u, and passed on %u", verdict->commit, *tip,
                 verdict->onto);
    *tip = verdict->commit;
    verdict->landed = true;
}

/* DESIGN 6: a candidate lands only on the tip on which it was checked. A host that does not have the candidate only
 * looks at the target. */
static uint32_t push(struct cast *cast, const struct effect *effect, uint32_t host) {
    uint32_t commit = commit_read(effect->candidate.commit),
             onto = commit_read(effect->candidate.onto);
    struct cast_verdict *verdict = verdict_find(cast, commit, onto);
    if (!verdict) {
        violated(cast, "commit %u is to land on %u, and did not pass there", commit, onto);
        return LANDED_NOT;
    }
    if (verdict->landed)
        return LANDED_YES; /* already landed; its outcome was lost in a crash */
    if (verdict->repository != effect->repository)
        violated(cast, "commit %u lands in another repository than it was checked in", commit);
    if (*tip_of(cast, effect->repository) != onto && !planted(LAND_WITHOUT_SWAP))
        return LANDED_MOVED;
    if (cast->hosts_matter && host != verdict->host)
        return LANDED_REFUSED;
    target_move(cast, verdict);
    return LANDED_YES;
}

static uint32_t land(struct cast *cast, const struct effect *effect, uint32_t host) {
    uint32_t next = cast->landed_next ? cast->landed_next : cast->landed;
    cast->landed_next = 0;
    if (next)
        return next - 1;
    people_push(cast, effect->repository);
    if (!dice_chance(&cast->dice, cast->faults))
        return push(cast, effect, host);
    uint32_t fault = dice_pick(&cast->dice, LANDING_COUNT);
    return fault == LANDED_YES ? push(cast, effect, host) : fault;
}

struct signal cast_carry(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now,
                         struct arena *arena) {
    struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                           .source = effect_id(effect->goal, effect->n),
                           .goal = effect->goal,
                           .effect = effect->n,
                           .at = now,
                           .sender.actor = STR("overseer"),
                           .sender.by = WHO_OVERSEER};
    if (effect->kind != EFFECT_SAY && effect->kind != EFFECT_COMMAND && effect->kind != EFFECT_TELL)
        place_check(cast, effect);
    switch (effect->kind) {
    case EFFECT_SPAWN:
        ended.to = spawn(cast, effect, host, now);
        ended.outcome.reference =
            arena_format(arena, "agent:%.*s:%u", STR_ARG(effect->agent), effect->n);
        break;
    case EFFECT_SEND: ended.to = send(cast, effect, host, now); break;
    case EFFECT_LOOK: ended.body = look(cast, effect, host, now, arena); break;
    case EFFECT_STOP: stop(cast, effect, host, now); break;
    case EFFECT_SAY: ended.to = say(cast, effect, now, arena); break;
    case EFFECT_CHECK:
        ended.to = check(cast, effect, host);
        candidate_say(cast, &ended, effect, host, arena);
        break;
    case EFFECT_LAND: ended.to = land(cast, effect, host); break;
    default: break;
    }
    return ended;
}

/* ---- spontaneous events ---- */

/* PROGRESS-09: a working agent reports its progress every few minutes of a stretch. */
static int64_t report_next(const struct cast *cast, const struct player *run) {
    static const int64_t EVERY = SECONDS(430);
    const struct pretend *agent = &run->agent;
    int64_t last =
        run->reported_at > agent->stretch_since ? run->reported_at : agent->stretch_since;
    bool works = cast->reports && agent->kind == PRETEND_WORKS && agent->state == PRETEND_BUSY &&
                 !run->stopped && !agent->tool;
    return works && last + EVERY < agent->stretch_until ? last + EVERY : TIME_NEVER;
}

int64_t cast_next(struct cast *cast) {
    int64_t next = TIME_NEVER;
    cast->alive = 0;
    for (uint32_t i = 0; i < cast->run_count; i++) {
        const struct pretend *agent = &cast->runs[i].agent;
        cast->alive += agent->state != PRETEND_GONE;
        if (pretend_next(agent) < next &&
            !cast_is_frozen(cast, &cast->runs[i], pretend_next(agent)))
            next = pretend_next(agent);
        if (report_next(cast, &cast->runs[i]) < next)
            next = report_next(cast, &cast->runs[i]);
    }
    return next;
}

static struct id source_of(struct player *run, struct arena *arena) {
    char id[ID_TEXT + 1];
    id_format(run->goal, id);
    return id_derive(STR("run"), arena_format(arena, "%s %u %u", id, run->n, run->shown++));
}

struct signal cast_shows(struct cast *cast, struct player *run, struct pretend_event event,
                         int64_t now, struct arena *arena) {
    struct observation seen = {.assignment = run->assignment};
    pretend_look(&run->agent, 0, 0, now, &seen);
    seen.event = event.event;
    seen.limited_until = event.limited_until;
    seen.exit = event.exit;
    seen.dispatch = event.event == AGENT_ACCEPTED ? event.dispatch : run->n;
    seen.heard = event.dispatch;
    cast->counts.events++;
    return (struct signal){.kind = SIGNAL_AGENT_SEEN,
                           .source = source_of(run, arena),
                           .goal = run->goal,
                           .at = now,
                           .once.keyed = 1,
                           .sender.actor = STR("overseer"),
                           .sender.by = WHO_OVERSEER,
                           .about.assignment = run->assignment + 1,
                           .about.run = run->n,
                           .body = shape_encode(&OBSERVATION, &seen, arena)};
}

static struct update update_of(enum pretend_reply reply) {
    static const struct str FILE_TOUCHED = {"src/parse.c", 11}, COMMIT = {"1a2b3c4", 7},
                            BLOCKER = {"which of the two formats is wanted?", 35};
    struct update update = {.status = STR("in_progress"),
                            .summary = STR("half of the parser is written"),
                            .next = STR("write the other half"),
                            .files = {&FILE_TOUCHED, 1}};
    if (reply == REPLY_DONE) {
        update.status = STR("done");
        update.summary = STR("the parser works");
        update.next = (struct str){0};
        update.commits = (struct texts){&COMMIT, 1};
    }
    if (reply == REPLY_BLOCKED) {
        update.status = STR("blocked");
        update.blockers = (struct texts){&BLOCKER, 1};
    }
    return update;
}

struct signal cast_says(struct cast *cast, struct player *run, enum pretend_reply reply,
                        int64_t now, struct arena *arena) {
    struct update update = update_of(reply);
    update.node = arena_copy(arena, str_of(run->node));
    cast->counts.events++;
    return (struct signal){.kind = SIGNAL_AGENT_UPDATE,
                           .source = source_of(run, arena),
                           .goal = run->goal,
                           .at = now,
                           .once.keyed = 1,
                           .sender.actor = STR("agent"),
                           .sender.by = WHO_AGENT,
                           .about.assignment = run->assignment + 1,
                           .about.run = run->n,
                           .effect = run->n,
                           .to = 1,
                           .body = shape_encode(&UPDATE, &update, arena)};
}

static struct signal progress_signal(struct cast *cast, struct player *run, int64_t now,
                                     struct arena *arena) {
    struct progress progress = {.phase = STR("writing"), .percent = 1 + run->shown % 101};
    struct signal signal = cast_says(cast, run, REPLY_PROGRESS, now, arena);
    run->reported_at = now;
    signal.kind = SIGNAL_AGENT_PROGRESS;
    signal.body = shape_encode(&PROGRESS, &progress, arena);
    return signal;
}

static struct player *run_that_reports(const struct cast *cast, int64_t now) {
    for (uint32_t i = 0; cast->reports && i < cast->run_count; i++)
        if (report_next(cast, &cast->runs[i]) <= now)
            return &cast->runs[i];
    return NULL;
}

struct signal cast_strand(struct cast *cast, struct player *run, int64_t now, struct arena *arena) {
    pretend_stop(&run->agent, now);
    run->stopped = true;
    run_note(cast, run, now);
    return cast_shows(cast, run, (struct pretend_event){.event = AGENT_EXITED}, now, arena);
}

static struct player *run_next(const struct cast *cast, int64_t now) {
    struct player *next = NULL;
    for (uint32_t i = 0; i < cast->run_count; i++)
        if (!cast_is_frozen(cast, &cast->runs[i], now) &&
            pretend_next(&cast->runs[i].agent) <= now &&
            (!next || pretend_next(&cast->runs[i].agent) < pretend_next(&next->agent)))
            next = &cast->runs[i];
    return next;
}

uint32_t cast_happens(struct cast *cast, int64_t now, struct signal signals[CAST_SIGNALS],
                      struct arena *arena) {
    struct pretend_event event;
    uint32_t count = 0;
    struct player *run = run_that_reports(cast, now);
    if (run) {
        signals[0] = progress_signal(cast, run, now, arena);
        return 1;
    }
    if (!(run = run_next(cast, now)))
        return 0;
    struct pretend_world world = world_of(cast, run);
    bool shown = pretend_happens(&run->agent, &world, now, &event);
    run_note(cast, run, now);
    if (run->agent.state == PRETEND_RESTING)
        account_limit(cast, run->account, run->agent.limited_until);
    if (!shown)
        return 0;
    cast->counts.ghosts += run->stopped;
    cast->counts.deaths += event.event == AGENT_EXITED;
    if (event.reply != REPLY_NONE)
        signals[count++] = cast_says(cast, run, event.reply, now, arena);
    signals[count++] = cast_shows(cast, run, event, now, arena);
    return count;
}

/* ---- observing ---- */

struct str cast_see(struct cast *cast, struct id goal, const struct assignments *assignments,
                    uint32_t host, int64_t since, int64_t now, struct arena *arena) {
    struct observation *rows = arena_new(arena, struct observation, assignments->count + 1);
    struct observations all = {.rows = {rows, 0}, .since = since};
    for (uint32_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->at[i];
        const struct player *run = assignment->run ? cast_run(cast, goal, assignment->run) : NULL;
        if (!run || (cast->hosts_matter && run->host != host))
            continue;
        struct observation *row = &rows[all.rows.count++];
        *row = (struct observation){.assignment = assignment->n};
        pretend_look(&run->agent, 0, 0, now, row);
        if (dice_chance(&cast->dice, cast->blind) || run->blind || run->unsampled)
            *row = (struct observation){.assignment = assignment->n, .at = now};
        cast->counts.samples++;
    }
    cast->counts.listings += all.rows.count > 0;
    return shape_encode(&OBSERVATIONS, &all, arena);
}

void cast_host_dies(struct cast *cast, uint32_t host, int64_t now) {
    for (uint32_t i = 0; i < cast->run_count; i++)
        if (cast->runs[i].host == host) {
            pretend_host_dies(&cast->runs[i].agent, now);
            run_note(cast, &cast->runs[i], now);
        }
}

void cast_sleep(struct cast *cast, int64_t from, int64_t until) {
    for (uint32_t i = 0; i < cast->run_count; i++) {
        struct player *run = &cast->runs[i];
        pretend_sleep(&run->agent, from, until);
        if (run->ill_since)
            run->ill_since = until;
    }
}

void cast_forget(struct cast *cast, struct id goal) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cast->run_count; i++)
        if (!id_equal(cast->runs[i].goal, goal))
            cast->runs[kept++] = cast->runs[i];
    cast->run_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < cast->work_count; i++)
        if (!id_equal(cast->works[i].goal, goal))
            cast->works[kept++] = cast->works[i];
    cast->work_count = kept;
}

void cast_help(struct cast *cast, struct id goal, uint32_t assignment, int64_t now) {
    struct player *run = cast_newest(cast, goal, assignment);
    (void)now;
    if (run && run->ill_since)
        run->helped = true;
}

/* TICK-11: the limit that applies to the visible state of the run. */
int64_t cast_limit(const struct cast *cast, const struct player *run, int64_t since) {
    const struct policy *policy = cast->policy;
    const struct pretend *agent = &run->agent;
    int64_t limit = policy->liveness.idle_after;
    if (run->ill_since == 0 || run->helped || run->stopped)
        return TIME_NEVER;
    if (agent->state == PRETEND_STUCK && agent->tool)
        limit = policy->liveness.idle_in_tool;
    else if (agent->state == PRETEND_STUCK)
        limit =
            policy->liveness.turn_most > policy->liveness.idle_after + policy->liveness.chatter_most
                ? policy->liveness.turn_most
                : policy->liveness.idle_after + policy->liveness.chatter_most;
    return (run->ill_since > since ? run->ill_since : since) + limit + policy->liveness.tick_every;
}
