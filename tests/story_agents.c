/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about agents: what they do, and what is done to them. Agents are puppets: each does what a sentence says,
 * and shows that to observers. A sentence names an agent by its name; if several runs had that name, the newest is
 * meant. */
#include "story.h"

#include "core/people/words.h"
#include "runs/words/agent_words.h"

#include <stdlib.h>

/* ---- finding an agent ---- */

static struct player *player_of(struct story *story, const char *name, uint32_t back) {
    struct player *player = story->fleet->cast ? cast_named(story->fleet->cast, name, back) : NULL;
    if (!player)
        fails(story, "%s does not work", name);
    return player;
}

uint64_t acts_of(const struct story *story) {
    const struct cast *cast = story->fleet->cast;
    return cast ? cast->counts.spawns + cast->counts.sends + cast->counts.stops + cast->counts.says
                : 0;
}

/* The agent shows something that is by itself a reason for a decision. */
static void shows(struct story *story, struct player *player, struct pretend_event event) {
    struct fleet *fleet = story->fleet;
    struct signal signal = cast_shows(fleet->cast, player, event, fleet->clock, &fleet->cast_arena);
    fleet_tell(fleet, &signal);
}

static void is(struct player *player, enum pretend_state state, int64_t now) {
    player->agent.state = state;
    player->agent.tool = 0;
    player->agent.chatter_since = 0;
    player->agent.stretch_since = now;
    player->agent.stretch_until = TIME_NEVER;
}

/* ---- what agents do ---- */

static void s_works(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    is(player, PRETEND_BUSY, story->fleet->clock);
    player->agent.active_at = story->fleet->clock;
    player->agent.pace = MINUTES(1);
}
static void s_silent(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    if (player->agent.state == PRETEND_BUSY)
        player->agent.active_at = story->fleet->clock;
    is(player, PRETEND_IDLE, story->fleet->clock);
}
static void s_hangs(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        is(player, PRETEND_STUCK, story->fleet->clock);
}
static void s_opens_tool(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    is(player, PRETEND_BUSY, story->fleet->clock);
    player->agent.active_at = story->fleet->clock;
    player->agent.tool = 1;
}
static void s_chatters(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    is(player, PRETEND_IDLE, story->fleet->clock);
    player->agent.chatter_since = story->fleet->clock;
}
static void s_gone(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        is(player, PRETEND_GONE, story->fleet->clock);
}
static void s_dies(struct story *story, char **args) {
    s_gone(story, args);
    if (!story->failure[0])
        shows(story, player_of(story, args[0], 0),
              (struct pretend_event){.event = AGENT_EXITED, .exit = 139});
}
/* With its exit status and what it wrote to standard error, as the daemon words them. */
static void s_dies_saying(struct story *story, char **args) {
    s_gone(story, args);
    if (story->failure[0])
        return;
    struct fleet *fleet = story->fleet;
    struct signal signal = cast_shows(fleet->cast, player_of(story, args[0], 0),
                                      (struct pretend_event){.event = AGENT_EXITED, .exit = 1},
                                      fleet->clock, &fleet->cast_arena);
    signal.reason = str_of(args[1]);
    fleet_tell(fleet, &signal);
}
static void s_ends(struct story *story, char **args) {
    s_gone(story, args);
    if (!story->failure[0])
        shows(story, player_of(story, args[0], 0), (struct pretend_event){.event = AGENT_EXITED});
}
static void s_fails(struct story *story, char **args) {
    s_silent(story, args);
    if (!story->failure[0])
        shows(story, player_of(story, args[0], 0), (struct pretend_event){.event = AGENT_FAILED});
}
static void s_ends_turn(struct story *story, char **args) {
    s_silent(story, args);
    if (!story->failure[0])
        shows(story, player_of(story, args[0], 0), (struct pretend_event){.event = AGENT_ENDED});
}
static void limited(struct story *story, const char *name, int64_t until) {
    struct player *player = player_of(story, name, 0);
    if (!player)
        return;
    is(player, PRETEND_RESTING, story->fleet->clock);
    player->agent.limited_until = until ? until : TIME_NEVER;
    player->agent.kind = until ? PRETEND_PUPPET : PRETEND_LIMITED_OPEN;
    shows(story, player, (struct pretend_event){.event = AGENT_LIMITED, .limited_until = until});
    player->agent.kind = PRETEND_PUPPET;
}
static void s_limited(struct story *story, char **args) {
    limited(story, args[0], 0);
}
static void s_limited_for(struct story *story, char **args) {
    limited(story, args[0], story->fleet->clock + duration_of(story, args[1]));
}
static void s_dialog_unseen(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        is(player, PRETEND_WAITING, story->fleet->clock);
}
static void s_dialog(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    is(player, PRETEND_WAITING, story->fleet->clock);
    shows(story, player, (struct pretend_event){.event = AGENT_ASKS});
}
static void s_attached(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        shows(story, player, (struct pretend_event){.event = AGENT_ATTACHED});
}
static void s_detached(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        shows(story, player, (struct pretend_event){.event = AGENT_DETACHED});
}
static void s_window(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        player->agent.context = number_of(story, args[1]) * 100;
}
static void s_spends(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    player->agent.tokens += number_of(story, args[1]) / 3;
    shows(story, player, (struct pretend_event){.event = AGENT_SEEN});
}
static void s_blind_all(struct story *story, char **args) {
    (void)args;
    if (!story->fleet->cast)
        puppets(story);
    story->fleet->cast->blind = 1000;
}
static void s_blind(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        player->blind = true;
}
static void s_unsampled(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        player->unsampled = true;
}
static void s_seen_again(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        player->blind = player->unsampled = false;
}

/* ---- what agents report ---- */

static void says(struct story *story, struct player *player, struct update update, enum who by) {
    struct fleet *fleet = story->fleet;
    if (!player)
        return;
    struct signal signal =
        cast_says(fleet->cast, player, REPLY_PROGRESS, fleet->clock, &fleet->cast_arena);
    update.node = str_of(player->node);
    signal.body = shape_encode(&UPDATE, &update, &fleet->cast_arena);
    signal.sender.by = by;
    signal.until = story->until;
    signal.sender.actor = str_of(player->name);
    player->agent.active_at = fleet->clock;
    player->agent.fingerprint++;
    fleet_tell(fleet, &signal);
}
static void s_reports(struct story *story, char **args) {
    says(story, player_of(story, args[0], 0),
         (struct update){.status = STR("in_progress"), .summary = str_of(args[1])}, WHO_AGENT);
}
/* TICK-12: the agent promises when it will report again. */
static void s_reports_until(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    story->until = story->fleet->clock + duration_of(story, args[2]);
    says(story, player, (struct update){.status = STR("in_progress"), .summary = str_of(args[1])},
         WHO_AGENT);
    story->until = 0;
}
/* PROGRESS-01: the agent reports its progress. Without a body: in an unreadable form; without an assignment: for no
 * work. */
static void progress_tell(struct story *story, struct player *player, struct str body,
                          uint32_t assignment) {
    struct fleet *fleet = story->fleet;
    struct signal signal =
        cast_says(fleet->cast, player, REPLY_PROGRESS, fleet->clock, &fleet->cast_arena);
    signal.kind = SIGNAL_AGENT_PROGRESS;
    signal.body = body.len ? body : STR("\x01\xff");
    signal.about.assignment = assignment;
    signal.sender.by = WHO_AGENT;
    signal.sender.actor = str_of(player->name);
    fleet_tell(fleet, &signal);
}
static struct str progress_body(struct story *story, struct progress progress) {
    return shape_encode(&PROGRESS, &progress, &story->fleet->cast_arena);
}
static void s_progress(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    struct progress progress = {.phase = str_of(args[2]), .percent = number_of(story, args[1]) + 1};
    if (player)
        progress_tell(story, player, progress_body(story, progress), player->assignment + 1);
}
static void s_counts(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    struct str counted[] = {str_of(args[2]), str_of(args[3])};
    struct progress progress = {.phase = str_of(args[1]), .metrics = {counted, 2}};
    if (player)
        progress_tell(story, player, progress_body(story, progress), player->assignment + 1);
}
static void s_progress_broken(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    if (player)
        progress_tell(story, player, (struct str){0}, player->assignment + 1);
}
static void s_progress_of_none(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    struct progress progress = {.phase = STR("something")};
    if (player)
        progress_tell(story, player, progress_body(story, progress), 0);
}
static void s_progress_over(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    struct progress progress = {.phase = STR("something")};
    if (player)
        progress_tell(story, player, progress_body(story, progress), player->assignment + 1001);
}
static void s_progress_often(struct story *story, char **args) {
    int64_t apart = duration_of(story, args[3]), until = story->begin + time_of(story, args[4]);
    while (story->fleet->clock + apart <= until && !story->failure[0]) {
        pass_time(story, story->fleet->clock + apart);
        s_progress(story, args);
    }
}
static void s_summary(struct story *story, char **args) {
    says(story, player_of(story, args[0], 0), (struct update){.summary = str_of(args[1])},
         WHO_AGENT);
}
static void s_status(struct story *story, char **args) {
    says(story, player_of(story, args[0], 0),
         (struct update){.status = str_of(args[1]), .summary = STR("where it stands")}, WHO_AGENT);
}
static void done(struct story *story, struct player *player, const char *commit) {
    struct str evidence = str_of(commit);
    if (player)
        player->agent.says_done = 1;
    says(story, player,
         (struct update){.status = STR("done"),
                         .summary = STR("it works"),
                         .commits = {&evidence, commit != NULL}},
         WHO_AGENT);
}
static void s_done(struct story *story, char **args) {
    done(story, player_of(story, args[0], 0), args[1]);
}
static void s_reports_end(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 0);
    struct str evidence = str_of(args[1]);
    if (player)
        player->agent.says_done = 1;
    says(story, player,
         (struct update){.status = STR("done"),
                         .summary = STR("it works"),
                         .commits = {&evidence, 1},
                         .completion = COMPLETION_COMPLETE + 1,
                         .by_tool = 1},
         WHO_AGENT);
}
static void s_reports_part(struct story *story, char **args) {
    says(story, player_of(story, args[0], 0),
         (struct update){.status = STR("in_progress"),
                         .summary = STR("a part of it works"),
                         .completion = COMPLETION_PARTIAL + 1,
                         .by_tool = 1},
         WHO_AGENT);
}
static void s_done_bare(struct story *story, char **args) {
    done(story, player_of(story, args[0], 0), NULL);
}
static void s_old_done(struct story *story, char **args) {
    done(story, player_of(story, args[0], 1), args[1]);
}
static void s_old_reports(struct story *story, char **args) {
    says(story, player_of(story, args[0], 1),
         (struct update){.status = STR("in_progress"), .summary = str_of(args[1])}, WHO_AGENT);
}
static void s_old_dies(struct story *story, char **args) {
    struct player *player = player_of(story, args[0], 1);
    if (player)
        shows(story, player, (struct pretend_event){.event = AGENT_EXITED, .exit = 137});
}
/* H7: the host has frozen the run, without asking for permission. */
static void braked_for(struct story *story, struct player *player, enum braking braking) {
    struct fleet *fleet = story->fleet;
    if (!player)
        return;
    struct signal signal =
        cast_says(fleet->cast, player, REPLY_PROGRESS, fleet->clock, &fleet->cast_arena);
    signal.kind = SIGNAL_RUN_BRAKED;
    signal.body = STR("");
    signal.sender.by = WHO_OVERSEER;
    signal.sender.actor = STR("overseer");
    signal.reason = STR("the disk is nearly full");
    signal.text = STR("Free space, then let it go on.");
    signal.to = braking;
    signal.until = braking == BRAKING_DISK ? 0 : fleet->clock + MINUTES(60);
    fleet_tell(fleet, &signal);
}
static void braked(struct story *story, struct player *player) {
    braked_for(story, player, BRAKING_DISK);
}
static void s_overage_frozen(struct story *story, char **args) {
    braked_for(story, player_of(story, args[0], 0), BRAKING_OVERAGE);
}
static void s_overage_over(struct story *story, char **args) {
    braked_for(story, player_of(story, args[0], 0), BRAKING_OVERAGE_OVER);
}
static void s_overage_ends(struct story *story, char **args) {
    braked_for(story, player_of(story, args[0], 0), BRAKING_OVERAGE_ENDS);
}
static void s_braked(struct story *story, char **args) {
    braked(story, player_of(story, args[0], 0));
}
static void s_old_braked(struct story *story, char **args) {
    braked(story, player_of(story, args[0], 1));
}
static void s_blocked(struct story *story, char **args) {
    struct str blocker = str_of(args[1]);
    says(story, player_of(story, args[0], 0),
         (struct update){.status = STR("in_progress"),
                         .summary = STR("it cannot go on"),
                         .blockers = {&blocker, 1}},
         WHO_AGENT);
}

/* A reply as the agent wrote it: ' stands for a quotation mark, ~~~ for a fence, | for a new line. */
static struct str reply_of(struct story *story, const char *text) {
    char *reply = arena_cstr(&story->arena, str_of(text));
    for (char *at = reply; *at; at++)
        *at = *at == '\'' ? '"' : *at == '|' ? '\n' : *at == '~' ? '`' : *at;
    return str_of(reply);
}
static void replies(struct story *story, const char *name, struct str reply, enum who by,
                    bool triggered) {
    struct player *player = player_of(story, name, 0);
    struct fleet *fleet = story->fleet;
    struct signal signal = {0};
    if (!player)
        return;
    player->agent.fingerprint++;
    if (!update_signal(reply, by, player->goal, triggered ? player->assignment + 1 : 0,
                       &fleet->cast_arena, &signal))
        return;
    signal.source =
        id_derive(STR("story reply"), arena_format(&fleet->cast_arena, "%u", story->words++));
    signal.once.keyed = 1;
    signal.at = fleet->clock;
    signal.sender.actor = str_of(player->name);
    fleet_tell(fleet, &signal);
}
static void s_replies(struct story *story, char **args) {
    replies(story, args[0], reply_of(story, args[1]), WHO_AGENT, true);
}
static void s_replies_unasked(struct story *story, char **args) {
    replies(story, args[0], reply_of(story, args[1]), WHO_AGENT, false);
}
static void s_other_replies(struct story *story, char **args) {
    replies(story, args[0], reply_of(story, args[1]), WHO_OVERSEER, true);
}

/* The exact text that is sent to an agent. */
static struct str words_to(struct story *story, const struct player *player,
                           const struct effect *effect, struct arena *arena) {
    struct dump dump;
    struct node_text task = {0};
    struct handoff handoff = {0};
    story->fleet->backend->dump(story->fleet->backend, &dump, arena);
    const struct dump_text *text = dump_text(&dump, player->goal, &effect->text),
                           *handoff_body = dump_text(&dump, player->goal, &effect->handoff),
                           *args = dump_text(&dump, player->goal, &effect->outgoing);
    bool has_task = text && shape_decode_in(&NODE_TEXT, text->body, arena, &task);
    bool has_handoff =
        handoff_body && shape_decode_in(&HANDOFF, handoff_body->body, arena, &handoff);
    return words_write((enum wording)effect->words,
                       &(struct words_about){.goal = player->goal,
                                             .node = str_of(player->node),
                                             .task = has_task ? &task : NULL,
                                             .handoff = has_handoff ? &handoff : NULL,
                                             .outgoing = args ? args->body : (struct str){0}},
                       arena);
}
static void s_echoes(struct story *story, char **args) {
    struct arena arena = {0};
    struct player *player = player_of(story, args[0], 0);
    if (player)
        replies(story, args[0], words_to(story, player, &player->last, &arena), WHO_AGENT, true);
    arena_free(&arena);
}
static void e_words(struct story *story, char **args) {
    struct arena arena = {0};
    struct player *player = player_of(story, args[0], 0);
    if (!player)
        return;
    char *words = arena_cstr(&arena, words_to(story, player, &player->last, &arena));
    char *first = arena_cstr(&arena, words_to(story, player, &player->first, &arena));
    if (!strstr(words, args[1]) && !strstr(first, args[1]))
        fails(story, "%s was told: %.300s", args[0], words);
    arena_free(&arena);
}

/* ---- delivery of messages ---- */

static void fault_next(struct story *story, enum pretend_fault fault) {
    if (!story->fleet->cast)
        puppets(story);
    story->fleet->cast->fault = fault;
}
static void s_checks(struct story *story, char **args) {
    uint32_t verdict;
    if (!names_find(&CHECKED_NAMES, str_of(args[0]), &verdict))
        fails(story, "checks do not say \"%s\"", args[0]);
    story->fleet->cast->checked = verdict + 1;
}

static void s_landing(struct story *story, char **args) {
    uint32_t verdict;
    if (!names_find(&LANDED_NAMES, str_of(args[0]), &verdict))
        fails(story, "a landing does not end with \"%s\"", args[0]);
    story->fleet->cast->landed = verdict + 1;
}

static void s_landing_next(struct story *story, char **args) {
    s_landing(story, args);
    story->fleet->cast->landed_next = story->fleet->cast->landed;
    story->fleet->cast->landed = LANDED_YES + 1;
}

static void s_differs(struct story *story, char **args) {
    (void)args;
    story->fleet->cast->differs = true;
}

static void s_swallowed(struct story *story, char **args) {
    (void)args;
    fault_next(story, FAULT_SWALLOWED);
}
static void s_receipt(struct story *story, char **args) {
    (void)args;
    fault_next(story, FAULT_RECEIPT);
}
static void s_at_once(struct story *story, char **args) {
    (void)args;
    fault_next(story, FAULT_NONE);
    story->fleet->cast->at_once = true;
}
static void s_refused(struct story *story, char **args) {
    (void)args;
    fault_next(story, FAULT_REFUSED);
}

/* ---- the world ---- */

static void s_sleep(struct story *story, char **args) {
    fleet_sleep(story->fleet, duration_of(story, args[0]));
}
static void s_leap(struct story *story, char **args) {
    story->fleet->clock += duration_of(story, args[0]);
    for (uint32_t i = 0; i < story->fleet->host_count; i++)
        story->fleet->hosts[i].since = story->fleet->clock;
}
/* Only the wall clock moves: a span of one hour still takes one hour. */
static void s_step_ahead(struct story *story, char **args) {
    fleet_step(story->fleet, duration_of(story, args[0]));
}
static void s_step_back(struct story *story, char **args) {
    fleet_step(story->fleet, -duration_of(story, args[0]));
}
static void s_agent_crash(struct story *story, char **args) {
    (void)args;
    for (uint32_t i = 0; i < story->fleet->host_count; i++) {
        if (story->fleet->hosts[i].up)
            fleet_do(story->fleet, &(struct atom){.kind = ATOM_CRASH, .host = i});
        fleet_do(story->fleet, &(struct atom){.kind = ATOM_RESTART, .host = i});
    }
}

/* ---- expectations ---- */

static void compare(struct story *story, const char *what, const char *is, const char *wanted) {
    if (strcmp(is, wanted) != 0)
        fails(story, "%s is \"%s\", not \"%s\"", what, is, wanted);
}

/* The open assignment of a node, or NULL. */
static const struct assignment *assignment_of(struct seen *seen, const char *node) {
    const struct node *found = plan_find(&seen->plan, str_of(node));
    return found ? assignments_of_node(&seen->live.assignments, found->n) : NULL;
}

/* The newest row that people see of a closed assignment. */
static bool assignment_row_of(struct seen *seen, const char *node, struct assignment_row *ret) {
    uint32_t from, to = DUMP_RANGE(seen->dump.parts, seen->dump.part_count, seen->goal->id, &from);
    bool found = false;
    for (uint32_t i = from; i < to; i++) {
        struct str body = seen->dump.parts[i].body;
        struct assignment_row row = {0};
        if (seen->dump.parts[i].kind != PART_ASSIGNMENT_ROW ||
            !row_unseal(ROW_PART + PART_ASSIGNMENT_ROW, seen->goal->id, seen->dump.parts[i].n,
                        &body) ||
            !shape_decode_in(&ASSIGNMENT_ROW, body, &seen->arena, &row) ||
            !str_equal(row.node, str_of(node)))
            continue;
        *ret = row;
        found = true;
    }
    return found;
}

static void assignment_is(struct story *story, const char *goal, const char *node,
                          const char *status) {
    struct seen seen;
    struct assignment_row row = {0};
    if (!look(story, goal, &seen))
        return;
    const struct assignment *assignment = assignment_of(&seen, node);
    const char *is = assignment ? ASSIGNMENT_STATUS[assignment->status].name
                     : assignment_row_of(&seen, node, &row) ? arena_cstr(&seen.arena, row.status)
                                                            : "not assigned";
    compare(story, "the assignment", is, status);
    look_away(&seen);
}
static void e_assignment(struct story *story, char **args) {
    assignment_is(story, story->goals[0].name, args[0], args[1]);
}
static void e_assignment_in(struct story *story, char **args) {
    assignment_is(story, args[1], args[0], args[2]);
}
static void assignment_has(struct story *story, const char *goal, const char *node,
                           const char *name, const char *value) {
    struct seen seen;
    if (!look(story, goal, &seen))
        return;
    const struct assignment *assignment = assignment_of(&seen, node);
    const struct field *field = NULL;
    for (size_t i = 0; i < ASSIGNMENT.count; i++)
        if (strcmp(ASSIGNMENT.fields[i].name, name) == 0)
            field = &ASSIGNMENT.fields[i];
    if (!assignment || !field)
        fails(story, "%s has no open assignment with a %s", node, name);
    else
        compare(story, name, arena_cstr(&seen.arena, field_text(field, assignment, &seen.arena)),
                value);
    look_away(&seen);
}
static void e_has(struct story *story, char **args) {
    assignment_has(story, story->goals[0].name, args[0], args[1], args[2]);
}
static void e_has_in(struct story *story, char **args) {
    assignment_has(story, args[1], args[0], args[2], args[3]);
}
static void e_waits(struct story *story, char **args) {
    assignment_has(story, story->goals[0].name, args[0], "waiting", args[1]);
}
static void e_works_on(struct story *story, char **args) {
    assignment_has(story, story->goals[0].name, args[1], "agentId", args[0]);
}

static uint32_t heard_of(const struct story *story, const char *name, uint32_t words) {
    const struct cast *cast = story->fleet->cast;
    uint32_t count = 0;
    for (uint32_t i = 0; cast && i < cast->run_count; i++)
        if (strcmp(cast->runs[i].name, name) == 0)
            count += cast->runs[i].heard[words];
    return count;
}
static void heard_is(struct story *story, const char *name, const char *words, uint32_t wanted) {
    uint32_t which = WORDS_NONE;
    if (!names_find(&WORDS_NAMES, str_of(words), &which))
        fails(story, "no agent is told \"%s\"", words);
    else if (heard_of(story, name, which) != wanted)
        fails(story, "%s was sent %s %u times", name, words, heard_of(story, name, which));
}
static void e_nudge(struct story *story, char **args) {
    heard_is(story, args[0], "nudge", number_of(story, args[1] + (args[1][0] == '#')));
}
static void e_heard(struct story *story, char **args) {
    heard_is(story, args[0], args[1], number_of(story, args[2]));
}
static void e_started(struct story *story, char **args) {
    const struct cast *cast = story->fleet->cast;
    uint32_t count = 0;
    for (uint32_t i = 0; cast && i < cast->run_count; i++)
        count += strcmp(cast->runs[i].name, args[0]) == 0;
    if (count != number_of(story, args[1]))
        fails(story, "%s was started %u times", args[0], count);
}
static void e_stopped(struct story *story, char **args) {
    const struct cast *cast = story->fleet->cast;
    uint32_t count = 0;
    for (uint32_t i = 0; cast && i < cast->run_count; i++)
        count += strcmp(cast->runs[i].name, args[0]) == 0 && cast->runs[i].stopped;
    if (count != number_of(story, args[1]))
        fails(story, "%s was stopped %u times", args[0], count);
}
static void e_nothing(struct story *story, char **args) {
    (void)args;
    if (acts_of(story) != story->acts_before)
        fails(story, "%llu things were done",
              (unsigned long long)(acts_of(story) - story->acts_before));
}
static void e_looks(struct story *story, char **args) {
    uint64_t looks = story->fleet->cast ? story->fleet->cast->counts.looks : 0;
    if (looks > number_of(story, args[0]))
        fails(story, "%llu looks were made", (unsigned long long)looks);
}
/* TICK-04: one listing covers all agents of a goal. */
static void e_listings(struct story *story, char **args) {
    const struct cast_counts *counts = &story->fleet->cast->counts;
    if (counts->listings > number_of(story, args[0]) || counts->listings == 0 ||
        counts->samples != counts->listings * number_of(story, args[1]))
        fails(story, "there were %llu listings, of %llu agents",
              (unsigned long long)counts->listings, (unsigned long long)counts->samples);
}
static void e_parts(struct story *story, char **args) {
    struct seen seen;
    uint32_t count = 0, kind = 0;
    if (!look(story, args[0], &seen))
        return;
    while (kind < PARTS && strcmp(PART[kind].table, args[2]) != 0)
        kind++;
    uint32_t from, to = DUMP_RANGE(seen.dump.parts, seen.dump.part_count, seen.goal->id, &from);
    for (uint32_t i = from; i < to; i++)
        count += seen.dump.parts[i].kind == kind;
    if (kind == PARTS || count != number_of(story, args[1]))
        fails(story, "%s has %u rows of %s", args[0], count, args[2]);
    look_away(&seen);
}

static const struct sentence_row ROWS[] = {
    {"$ works", s_works, SENTENCE_HAPPENS},
    {"$ is silent", s_silent, SENTENCE_HAPPENS},
    {"$ hangs in its turn", s_hangs, SENTENCE_HAPPENS},
    {"$ opens a tool", s_opens_tool, SENTENCE_HAPPENS},
    {"$ closes its tool", s_works, SENTENCE_HAPPENS},
    {"$ chatters", s_chatters, SENTENCE_HAPPENS},
    {"$ dies", s_dies, SENTENCE_HAPPENS},
    {"$ dies saying $", s_dies_saying, SENTENCE_HAPPENS},
    {"$ dies unseen", s_gone, SENTENCE_HAPPENS},
    {"$ ends by itself", s_ends, SENTENCE_HAPPENS},
    {"$ fails", s_fails, SENTENCE_HAPPENS},
    {"$ ends its turn", s_ends_turn, SENTENCE_HAPPENS},
    {"$ is at its limit", s_limited, SENTENCE_HAPPENS},
    {"$ is at its limit for $", s_limited_for, SENTENCE_HAPPENS},
    {"$ shows a dialog", s_dialog, SENTENCE_HAPPENS},
    {"$ shows a dialog that no hook reports", s_dialog_unseen, SENTENCE_HAPPENS},
    {"a person attaches to $", s_attached, SENTENCE_HAPPENS},
    {"the person leaves $", s_detached, SENTENCE_HAPPENS},
    {"the window of $ is $ percent full", s_window, SENTENCE_HAPPENS},
    {"$ spends $", s_spends, SENTENCE_HAPPENS},
    {"no agent can be observed", s_blind_all, SENTENCE_HAPPENS},
    {"$ cannot be observed", s_blind, SENTENCE_HAPPENS},
    {"$ is observed only by a look", s_unsampled, SENTENCE_HAPPENS},
    {"$ can be seen", s_seen_again, SENTENCE_HAPPENS},
    {"$ reports $", s_reports, SENTENCE_HAPPENS},
    {"$ reports $ and will be heard of in $", s_reports_until, SENTENCE_HAPPENS},
    {"$ says only that $", s_summary, SENTENCE_HAPPENS},
    {"$ is $ percent through $", s_progress, SENTENCE_HAPPENS},
    {"$ is at $ and counts $ and $", s_counts, SENTENCE_HAPPENS},
    {"$ says how far it is in a form that cannot be read", s_progress_broken, SENTENCE_HAPPENS},
    {"$ says how far the work of no assignment is", s_progress_of_none, SENTENCE_HAPPENS},
    {"$ says how far work is that is over", s_progress_over, SENTENCE_HAPPENS},
    {"$ is $ percent through $ every $ until $", s_progress_often, SENTENCE_HAPPENS},
    {"$ says status $", s_status, SENTENCE_HAPPENS},
    {"$ says done with commit $", s_done, SENTENCE_HAPPENS},
    {"$ says done without evidence", s_done_bare, SENTENCE_HAPPENS},
    {"$ reports its end with commit $", s_reports_end, SENTENCE_HAPPENS},
    {"$ reports that a part is done", s_reports_part, SENTENCE_HAPPENS},
    {"$ says that $ is in the way", s_blocked, SENTENCE_HAPPENS},
    {"the run of $ before says done with commit $", s_old_done, SENTENCE_HAPPENS},
    {"the run of $ before reports $", s_old_reports, SENTENCE_HAPPENS},
    {"the run of $ before dies", s_old_dies, SENTENCE_HAPPENS},
    {"the host freezes $", s_braked, SENTENCE_HAPPENS},
    {"the host freezes the run of $ before", s_old_braked, SENTENCE_HAPPENS},
    {"the host freezes $ for paid usage", s_overage_frozen, SENTENCE_HAPPENS},
    {"the host lets $ go on after paid usage", s_overage_over, SENTENCE_HAPPENS},
    {"the host ends $ for paid usage", s_overage_ends, SENTENCE_HAPPENS},
    {"$ replies $", s_replies, SENTENCE_HAPPENS},
    {"$ replies unasked $", s_replies_unasked, SENTENCE_HAPPENS},
    {"another sender writes to $ $", s_other_replies, SENTENCE_HAPPENS},
    {"$ sends back what it was told", s_echoes, SENTENCE_HAPPENS},
    {"the next words are typed and not sent off", s_swallowed, SENTENCE_HAPPENS},
    {"the receipt of the next words is lost", s_receipt, SENTENCE_HAPPENS},
    {"the next words cannot be delivered", s_refused, SENTENCE_HAPPENS},
    {"the next run ends its turn before its receipt", s_at_once, SENTENCE_HAPPENS},
    {"checks say $", s_checks, SENTENCE_HAPPENS},
    {"landing says $", s_landing, SENTENCE_HAPPENS},
    {"the next landing says $", s_landing_next, SENTENCE_HAPPENS},
    {"each candidate looks different", s_differs, SENTENCE_HAPPENS},
    {"sleep $", s_sleep, SENTENCE_HAPPENS},
    {"the clock leaps by $", s_leap, SENTENCE_HAPPENS},
    {"the clock steps ahead by $", s_step_ahead, SENTENCE_HAPPENS},
    {"the clock steps back by $", s_step_back, SENTENCE_HAPPENS},
    {"crash", s_agent_crash, SENTENCE_HAPPENS},
    {"expect assignment of $ $", e_assignment, SENTENCE_LOOKS},
    {"expect assignment of $ in $ $", e_assignment_in, SENTENCE_LOOKS},
    {"expect assignment of $ has $ $", e_has, SENTENCE_LOOKS},
    {"expect assignment of $ in $ has $ $", e_has_in, SENTENCE_LOOKS},
    {"expect assignment of $ waits for $", e_waits, SENTENCE_LOOKS},
    {"expect $ works on $", e_works_on, SENTENCE_LOOKS},
    {"expect nudge $ $", e_nudge, SENTENCE_LOOKS},
    {"expect $ was sent $ $ times", e_heard, SENTENCE_LOOKS},
    {"expect $ was started $ times", e_started, SENTENCE_LOOKS},
    {"expect $ was stopped $ times", e_stopped, SENTENCE_LOOKS},
    {"expect $ was told $", e_words, SENTENCE_LOOKS},
    {"expect at most $ looks", e_looks, SENTENCE_LOOKS},
    {"expect at most $ listings of $ agents each", e_listings, SENTENCE_LOOKS},
    {"expect $ has $ rows of $", e_parts, SENTENCE_LOOKS},
    {"expect nothing", e_nothing, SENTENCE_LOOKS},
};
const struct sentences STORY_AGENTS = {ROWS, count_of(ROWS)};
