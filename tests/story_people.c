/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about people: what they are asked, what they answer, and what is sent to them. */
#include "story.h"

#include "model/admission.h"
#include "model/repository.h"

#include <stdlib.h>

/* ---- goals with work for agents ---- */

/* "goal g1 with task T1, assigned to auto-1"; a task followed by `*` has to leave a report, one followed by `!` has to
 * report its end. The reaction to a failure comes after that: T1*retry_once. */
static const struct artifact REPORT = {.path = {"report.json", 11}, .json = 1, .min_bytes = 2};

static struct node_text contract_of(struct story *story, struct str *id) {
    struct node_text text = {.artifacts = {&REPORT, 0}};
    uint32_t then = ON_FAILURE_MEND;
    size_t length = 0;
    while (length < id->len && id->at[length] != '*' && id->at[length] != '!')
        length++;
    struct str rest = {id->at + length, id->len - length};
    id->len = length;
    for (; rest.len > 0 && (rest.at[0] == '*' || rest.at[0] == '!'); rest.at++, rest.len--)
        if (rest.at[0] == '*')
            text.artifacts.count = 1;
        else
            text.require_report = 1;
    if (rest.len > 0 && !names_find(&ON_FAILURE_NAMES, rest, &then))
        fails(story, "unknown words: \"%.*s\"", STR_ARG(rest));
    text.on_failure = (enum on_failure)then;
    return text;
}

static void goal_with(struct story *story, const char *name, const char *task, const char *agent) {
    static const struct str CRITERION = {"it can be checked", 17};
    struct named *named = goal_of(story, name);
    struct arena *arena = &story->arena;
    uint32_t host = host_of(story, story->args.host);
    if (agent)
        agent_hire(story, agent);
    settle(story);
    ask_for(
        story, named,
        (struct asked){
            .kind = SIGNAL_GOAL_CREATE, .goal = named->goal, .source = named->goal, .keyed = true},
        host);
    settle(story);
    struct str id = arena_copy(arena, str_of(task));
    struct node_text words = contract_of(story, &id);
    words.name = id;
    words.agent = agent ? arena_copy(arena, str_of(agent)) : (struct str){0};
    words.criteria = (struct texts){&CRITERION, 1};
    struct plan_row *rows = arena_new(arena, struct plan_row, 2);
    rows[0] = (struct plan_row){.id = STR("P1"),
                                .text = {.name = STR("P1"), .criteria = {&CRITERION, 1}}};
    rows[1] = (struct plan_row){.id = id, .parent = STR("P1"), .tier = TIER_TASK, .text = words};
    struct plan_text text = {{rows, 2}};
    struct op *op = arena_new(arena, struct op, 1);
    op->signal = (struct signal){.kind = SIGNAL_PLAN_APPLY,
                                 .goal = named->goal,
                                 .source = id_derive(STR("story plan"), str_of(name)),
                                 .sender.by = WHO_HUMAN,
                                 .sender.actor = STR("ada"),
                                 .body = shape_encode(&PLAN_TEXT, &text, arena)};
    ask_for(story, named,
            (struct asked){.kind = SIGNAL_PLAN_APPLY,
                           .goal = named->goal,
                           .source = op->signal.source,
                           .keyed = true,
                           .op = op},
            host);
}
static void s_goal_with(struct story *story, char **args) {
    goal_with(story, args[0], args[1], args[2]);
}
static void s_goal_task(struct story *story, char **args) {
    goal_with(story, args[0], args[1], NULL);
}

/* ---- questions ---- */

/* A goal by its name; "desk 1": the questions of the admission of host 1. */
static bool look_at(struct story *story, const char *name, struct seen *seen) {
    if (strncmp(name, "desk ", 5) != 0)
        return look(story, name, seen);
    struct named *named = goal_of(story, name);
    named->goal = admission_id(number_of(story, name + 5));
    return look(story, name, seen);
}

static const struct question *question_open(struct seen *seen, uint32_t which) {
    const struct question *open = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < seen->live.questions.count; i++)
        if (seen->live.questions.at[i].state == QUESTION_OPEN && (++count == which || which == 0))
            open = &seen->live.questions.at[i];
    return open;
}

static bool question_says(struct seen *seen, const struct question *question, const char *words) {
    struct question_text text = {0};
    const struct dump_text *kept = dump_text(&seen->dump, seen->goal->id, &question->text);
    if (!kept || !shape_decode_in(&QUESTION_TEXT, kept->body, &seen->arena, &text))
        return false;
    return strstr(arena_cstr(&seen->arena, text.title), words) ||
           strstr(arena_cstr(&seen->arena, text.text), words);
}

static void e_question(struct story *story, char **args) {
    struct seen seen;
    bool found = false;
    if (!look_at(story, args[0], &seen))
        return;
    for (uint32_t i = 0; i < seen.live.questions.count; i++)
        found = found || (seen.live.questions.at[i].state == QUESTION_OPEN &&
                          question_says(&seen, &seen.live.questions.at[i], args[1]));
    if (!found)
        fails(story, "%s does not ask that; %u questions are there", args[0],
              seen.live.questions.count);
    look_away(&seen);
}
static void questions_are(struct story *story, const char *name, uint32_t wanted) {
    struct seen seen;
    uint32_t open = 0;
    if (!look_at(story, name, &seen))
        return;
    for (uint32_t i = 0; i < seen.live.questions.count; i++)
        open += seen.live.questions.at[i].state == QUESTION_OPEN;
    if (open != wanted)
        fails(story, "%s asks %u questions", name, open);
    look_away(&seen);
}
static void e_questions(struct story *story, char **args) {
    questions_are(story, args[0], number_of(story, args[1]));
}
static void e_no_question(struct story *story, char **args) {
    questions_are(story, args[0], 0);
}
static void e_question_has(struct story *story, char **args) {
    struct seen seen;
    const struct field *field = NULL;
    if (!look_at(story, args[0], &seen))
        return;
    const struct question *question = question_open(&seen, 0);
    for (size_t i = 0; i < QUESTION.count; i++)
        if (strcmp(QUESTION.fields[i].name, args[1]) == 0)
            field = &QUESTION.fields[i];
    const char *is = question && field
                         ? arena_cstr(&seen.arena, field_text(field, question, &seen.arena))
                         : "not there";
    if (strcmp(is, args[2]) != 0)
        fails(story, "%s is %s", args[1], is);
    look_away(&seen);
}

/* ---- answers ---- */

static void question_signal(struct story *story, const char *name, uint32_t which,
                            struct signal signal) {
    struct seen seen;
    if (!look_at(story, name, &seen))
        return;
    const struct question *question = question_open(&seen, which);
    if (!question && signal.kind == SIGNAL_QUESTION_MOVE && seen.live.questions.count > 0)
        question = &seen.live.questions.at[seen.live.questions.count - 1];
    if (!question)
        fails(story, "%s asks nothing", name);
    else {
        struct op *op = arena_new(&story->arena, struct op, 1);
        struct named *named = goal_of(story, name);
        signal.goal = seen.goal->id;
        signal.about.question = question->n + 1;
        signal.sender.by = story->args.by;
        signal.sender.actor = story->args.actor;
        signal.reason = story->args.reason;
        signal.source =
            id_derive(STR("story answer"), arena_format(&story->arena, "%u", story->asked++));
        *op = (struct op){.signal = signal, .may_idle = true};
        op->expect = signal.sender.by == WHO_AGENT ? ERROR_UNAUTHORIZED : ERROR_NONE;
        ask_for(story, named,
                (struct asked){.kind = signal.kind,
                               .goal = signal.goal,
                               .source = signal.source,
                               .keyed = true,
                               .op = op},
                host_of(story, story->args.host));
    }
    look_away(&seen);
}

/* A number selects an option, everything else is a text. */
static struct signal answer_of(struct story *story, const char *word) {
    char *end;
    unsigned long option = strtoul(word, &end, 10);
    struct signal answer = {.kind = SIGNAL_QUESTION_ANSWER};
    if (*word && !*end)
        answer.to = (uint32_t)option;
    else
        answer.text = arena_copy(&story->arena, str_of(word));
    return answer;
}
static void s_answers(struct story *story, char **args) {
    question_signal(story, args[0], 0, answer_of(story, args[1]));
}
static void s_answers_which(struct story *story, char **args) {
    uint32_t which = number_of(story, args[0] + (args[0][0] == 'Q'));
    question_signal(story, args[1], which, answer_of(story, args[2]));
}
static void moved(struct story *story, const char *name, enum question_move move, int64_t until) {
    question_signal(story, name, 0,
                    (struct signal){.kind = SIGNAL_QUESTION_MOVE, .to = move, .until = until});
}
static void s_sees(struct story *story, char **args) {
    moved(story, args[0], QUESTION_SEEN, 0);
}
static void s_puts_off(struct story *story, char **args) {
    moved(story, args[0], QUESTION_SNOOZE, story->fleet->clock + duration_of(story, args[1]));
}
static void s_takes_back(struct story *story, char **args) {
    moved(story, args[0], QUESTION_UNDO, 0);
}
static void s_withdraws(struct story *story, char **args) {
    moved(story, args[0], QUESTION_WITHDRAW, 0);
}

/* ---- an agent asks ---- */

static void agent_asks(struct story *story, const char *name, const char *words, enum asked_of of) {
    struct fleet *fleet = story->fleet;
    struct player *player = fleet->cast ? cast_named(fleet->cast, name, 0) : NULL;
    if (!player) {
        fails(story, "%s does not work", name);
        return;
    }
    struct question_text text = {.title = str_of(words), .text = str_of(words)};
    struct signal signal = {
        .kind = SIGNAL_AGENT_ASK,
        .goal = player->goal,
        .source =
            id_derive(STR("story request"), arena_format(&story->arena, "ask %u", story->words++)),
        .at = fleet->clock,
        .once.keyed = 1,
        .sender.by = WHO_AGENT,
        .sender.actor = str_of(player->name),
        .about.assignment = player->assignment + 1,
        .to = of,
        .body = shape_encode(&QUESTION_TEXT, &text, &fleet->cast_arena)};
    fleet_tell(fleet, &signal);
}
static void s_asks_person(struct story *story, char **args) {
    agent_asks(story, args[0], args[1], OF_PERSON);
}
static void s_asks_parent(struct story *story, char **args) {
    agent_asks(story, args[0], args[1], OF_PARENT);
}

/* ---- messages from people, and questions that an agent withdraws ---- */

static struct player *player_at_work(struct story *story, const char *name) {
    struct fleet *fleet = story->fleet;
    struct player *player = fleet->cast ? cast_named(fleet->cast, name, 0) : NULL;
    if (!player)
        fails(story, "%s does not work", name);
    return player;
}

static void about_tell(struct story *story, const struct player *player, struct signal signal) {
    signal.goal = player->goal;
    signal.source =
        id_derive(STR("story words"), arena_format(&story->arena, "words %u", story->words++));
    signal.at = story->fleet->clock;
    signal.once.keyed = 1;
    fleet_tell(story->fleet, &signal);
}

static void s_tells(struct story *story, char **args) {
    struct player *player = player_at_work(story, args[0]);
    struct arena *arena = &story->fleet->cast_arena;
    struct agent_message_text text = {.subject = str_of(args[1])};
    if (player)
        about_tell(story, player,
                   (struct signal){.kind = SIGNAL_MAIL_SEND,
                                   .sender.by = WHO_HUMAN,
                                   .sender.actor = STR("ada"),
                                   .to = AGENT_MESSAGE_INSTRUCTION,
                                   .text = arena_copy(arena, str_of(player->name)),
                                   .body = shape_encode(&AGENT_MESSAGE_TEXT, &text, arena)});
}

static void s_agent_withdraws(struct story *story, char **args) {
    enum { FIRST_PARTS = 12 };
    struct player *player = player_at_work(story, args[0]);
    for (uint32_t n = 1; player && n < FIRST_PARTS; n++)
        about_tell(story, player,
                   (struct signal){.kind = SIGNAL_QUESTION_MOVE,
                                   .sender.by = WHO_AGENT,
                                   .sender.actor = str_of(player->name),
                                   .about.assignment = player->assignment + 1,
                                   .to = QUESTION_WITHDRAW,
                                   .about.question = n});
}

/* A person requests another attempt: RECOVER-11. */
static void s_retry(struct story *story, char **args) {
    struct named *named = goal_of(story, args[1]);
    struct op *op = arena_new(&story->arena, struct op, 1);
    op->signal = (struct signal){
        .kind = SIGNAL_WORK_RETRY,
        .goal = named->goal,
        .source = id_derive(STR("story retry"), arena_format(&story->arena, "%u", story->asked++)),
        .sender.by = story->args.by,
        .sender.actor = story->args.actor,
        .reason = story->args.reason,
        .work.node = arena_copy(&story->arena, str_of(args[0]))};
    op->expect = story->args.by == WHO_AGENT ? ERROR_UNAUTHORIZED : ERROR_NONE;
    op->wrong = op->expect != ERROR_NONE;
    ask_for(story, named,
            (struct asked){.kind = SIGNAL_WORK_RETRY,
                           .goal = named->goal,
                           .source = op->signal.source,
                           .keyed = true,
                           .op = op},
            host_of(story, story->args.host));
}

/* ---- messages ---- */

static void s_channels_fail(struct story *story, char **args) {
    (void)args;
    if (!story->fleet->cast)
        puppets(story);
    story->fleet->cast->heard = HEARD_LATER;
}
static void s_channels_work(struct story *story, char **args) {
    (void)args;
    story->fleet->cast->heard = HEARD_YES;
}
static void e_messages(struct story *story, char **args) {
    const struct cast *cast = story->fleet->cast;
    uint32_t count = 0;
    for (uint32_t i = 0; cast && i < cast->note_count; i++)
        count += strcmp(cast->notes[i].channel, args[0]) == 0;
    if (count != number_of(story, args[1]))
        fails(story, "channel %s was given %u messages", args[0], count);
}
static void e_messages_most(struct story *story, char **args) {
    const struct cast *cast = story->fleet->cast;
    uint32_t count = cast ? cast->note_count : 0;
    if (count > number_of(story, args[0]))
        fails(story, "%u messages were sent", count);
}
static void s_admission_released(struct story *story, char **args) {
    struct fleet *fleet = story->fleet;
    uint32_t host = number_of(story, args[0]);
    struct signal signal = {
        .kind = SIGNAL_ADMISSION_RELEASE,
        .goal = admission_id(host),
        .source = id_derive(STR("story desk"), arena_format(&story->arena, "%u", story->words++)),
        .at = fleet->clock,
        .once.keyed = 1,
        .sender.by = WHO_HUMAN,
        .sender.actor = STR("ada"),
        .admission = host};
    fleet_tell(fleet, &signal);
}

/* What a program of host 1 reports about its account. */
static void account_reports(struct story *story, struct quota quota) {
    struct fleet *fleet = story->fleet;
    struct signal signal = {
        .kind = SIGNAL_ACCOUNT_SEEN,
        .goal = admission_id(1),
        .source = id_derive(STR("story quota"), arena_format(&story->arena, "%u", story->words++)),
        .at = fleet->clock,
        .once.keyed = 1,
        .sender.by = WHO_OVERSEER,
        .sender.actor = STR("overseer"),
        .admission = 1,
        .body = shape_encode(&QUOTA, &quota, &story->arena)};
    fleet_tell(fleet, &signal);
}
static void s_quota(struct story *story, char **args) {
    struct quota quota = {.overage = OVERAGE_NO};
    name_put(quota.account, sizeof quota.account, str_of(args[0]));
    name_put(quota.windows[0].kind, sizeof quota.windows[0].kind, str_of(args[1]));
    quota.windows[0].used = number_of(story, args[2]) * 100 + 1;
    quota.windows[0].resets_at = story->fleet->clock + duration_of(story, args[3]);
    account_reports(story, quota);
}
static void s_paid(struct story *story, char **args) {
    struct quota quota = {.overage = OVERAGE_YES, .in_flight = 1};
    name_put(quota.account, sizeof quota.account, str_of(args[0]));
    quota.overage_until = story->fleet->clock + duration_of(story, args[1]);
    account_reports(story, quota);
}

static void lane_hold(struct story *story, const char *host, bool hold) {
    struct fleet *fleet = story->fleet;
    uint32_t number = number_of(story, host);
    struct signal signal = {
        .kind = SIGNAL_LANE_HOLD,
        .goal = workspace_id(&fleet->policy, 0, number),
        .source = id_derive(STR("story lane"), arena_format(&story->arena, "%u", story->words++)),
        .at = fleet->clock,
        .once.keyed = 1,
        .sender.by = WHO_HUMAN,
        .sender.actor = STR("ada"),
        .to = hold,
        .admission = number};
    fleet_tell(fleet, &signal);
}
static void s_lane_held(struct story *story, char **args) {
    lane_hold(story, args[0], true);
}
static void s_lane_released(struct story *story, char **args) {
    lane_hold(story, args[0], false);
}

static const struct sentence_row ROWS[] = {
    {"goal $ with task $ assigned to $", s_goal_with, SENTENCE_ASKS},
    {"goal $ with task $", s_goal_task, SENTENCE_ASKS},
    {"$ of $ is wanted once more", s_retry, SENTENCE_ASKS},
    {"the person tells $ $", s_tells, SENTENCE_HAPPENS},
    {"$ withdraws every question", s_agent_withdraws, SENTENCE_HAPPENS},
    {"the person answers $ with $", s_answers, SENTENCE_ASKS},
    {"the person answers $ of $ with $", s_answers_which, SENTENCE_ASKS},
    {"the person has seen what $ asks", s_sees, SENTENCE_ASKS},
    {"the person puts $ off for $", s_puts_off, SENTENCE_ASKS},
    {"the person takes the answer to $ back", s_takes_back, SENTENCE_ASKS},
    {"the person withdraws what $ asks", s_withdraws, SENTENCE_ASKS},
    {"$ asks a person $", s_asks_person, SENTENCE_HAPPENS},
    {"$ asks its parent $", s_asks_parent, SENTENCE_HAPPENS},
    {"channels fail", s_channels_fail, SENTENCE_HAPPENS},
    {"channels work", s_channels_work, SENTENCE_HAPPENS},
    {"the desk of host $ is released", s_admission_released, SENTENCE_HAPPENS},
    {"the account $ reports its $ window at $ percent for $", s_quota, SENTENCE_HAPPENS},
    {"the account $ reports paid usage for $", s_paid, SENTENCE_HAPPENS},
    {"the lane of host $ is held", s_lane_held, SENTENCE_HAPPENS},
    {"the lane of host $ goes on", s_lane_released, SENTENCE_HAPPENS},
    {"expect question $ $", e_question, SENTENCE_LOOKS},
    {"expect $ asks $ questions", e_questions, SENTENCE_LOOKS},
    {"expect $ asks nothing", e_no_question, SENTENCE_LOOKS},
    {"expect the question of $ has $ $", e_question_has, SENTENCE_LOOKS},
    {"expect channel $ was given $ messages", e_messages, SENTENCE_LOOKS},
    {"expect at most $ messages", e_messages_most, SENTENCE_LOOKS},
};
const struct sentences STORY_PEOPLE = {ROWS, count_of(ROWS)};
