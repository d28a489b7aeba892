/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about the fleet: hosts, executor, time and faults. */
#include "story.h"

#include <stdlib.h>

int64_t duration_of(struct story *story, const char *word) {
    char *end;
    double number = strtod(word, &end);
    switch (*end) {
    case 's': return (int64_t)(number * 1e6);
    case 'm': return (int64_t)(number * 60e6);
    case 'h': return (int64_t)(number * 3600e6);
    default: fails(story, "\"%s\" is no duration", word); return 0;
    }
}

/* ---- executor ---- */

static void s_executor_idle(struct story *story, char **args) {
    (void)args;
    story->executor_idle = true;
}
static void s_executor_work(struct story *story, char **args) {
    (void)args;
    story->executor_idle = false;
}
static void s_commands_end(struct story *story, char **args) {
    story->fleet->next_exit = strtol(args[0], NULL, 10);
}
static void s_check_then_freeze(struct story *story, char **args) {
    uint32_t host = host_of(story, args[0]);
    if (!story->fleet->hosts[host].acts)
        fails(story, "host %s has nothing in its hands", args[0]);
    else
        fleet_do(story->fleet, &(struct atom){.kind = ATOM_CHECK, .host = host});
    story->fleet->hosts[host].frozen = true;
    story->executor_idle = false;
}

/* ---- hosts ---- */

static void s_crash(struct story *story, char **args) {
    uint32_t host = host_of(story, args[0]);
    if (host_runs(story, host))
        fleet_do(story->fleet, &(struct atom){.kind = ATOM_CRASH, .host = host});
}

static void s_machine_off(struct story *story, char **args) {
    s_crash(story, args);
    fleet_machine_off(story->fleet, host_of(story, args[0]));
}

static void s_start(struct story *story, char **args) {
    uint32_t host = host_of(story, args[0]);
    if (story->fleet->hosts[host].up)
        fails(story, "host %s runs already", args[0]);
    else
        fleet_do(story->fleet, &(struct atom){.kind = ATOM_RESTART, .host = host});
}
static void s_freeze(struct story *story, char **args) {
    story->fleet->hosts[host_of(story, args[0])].frozen = true;
}
static void s_thaw(struct story *story, char **args) {
    story->fleet->hosts[host_of(story, args[0])].frozen = false;
}
static void s_always_crash(struct story *story, char **args) {
    (void)args;
    story->always_crashing = true;
}

/* ---- orders to the whole fleet ---- */

static void order_say(struct story *story, const char *host, enum signal_kind kind) {
    struct signal signal = {.kind = kind,
                            .goal = SYSTEM_GOAL,
                            .at = story->fleet->clock,
                            .sender.actor = STR("human:1"),
                            .sender.by = WHO_HUMAN,
                            .reason = STR("the operator wants it")};
    struct input *input = input_make(&signal, NULL);
    must(input && ledger_offer(story->fleet->hosts[host_of(story, host)].ledger, input));
}
static void s_stop(struct story *story, char **args) {
    order_say(story, args[0], SIGNAL_FLEET_STOP);
}
static void s_resume(struct story *story, char **args) {
    order_say(story, args[0], SIGNAL_FLEET_RESUME);
}
static void e_stopped(struct story *story, char **args) {
    bool wanted = strcmp(args[0], "stopped") == 0;
    fleet_look(story->fleet);
    if (story->fleet->view.marks->stopped != wanted)
        fails(story, "the fleet is not %s", args[0]);
}

/* The chain of the store's own records, as a list of types; the chain has to hold as well. */
static void e_orders(struct story *story, char **args) {
    char words[1024] = "";
    struct hash head = {0};
    uint64_t seq = 0;
    fleet_look(story->fleet);
    const struct dump *dump = &story->fleet->view;
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, SYSTEM_GOAL, &from);
    for (uint32_t i = from; i < to; i++) {
        struct record record = dump->records[i].record;
        struct hash hash = record.hash;
        record_seal(&record, SYSTEM_GOAL, seq++, &head);
        if (!hash_equal(&hash, &record.hash))
            fails(story, "record %u of the store itself breaks its chain", i - from + 1);
        head = hash;
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i > from ? " " : "",
                 RECORDS[record.type].name);
    }
    if (strcmp(words, args[0]) != 0)
        fails(story, "the orders are \"%s\"", words);
}

/* ---- lost answers ---- */

static enum lost lost_of(struct story *story, const char *word) {
    static const char *const HOW[] = {"committed", "not", "later"};
    for (uint32_t i = 0; i < count_of(HOW); i++)
        if (strcmp(HOW[i], word) == 0)
            return (enum lost)i;
    fails(story, "a commit is committed, not, or later; not \"%s\"", word);
    return LOST_NOT;
}
static void s_lose(struct story *story, char **args) {
    story->losing = host_of(story, args[0]) + 1;
    story->how = lost_of(story, args[1]);
}
static void s_die(struct story *story, char **args) {
    s_lose(story, args);
    story->dying = true;
}
static void s_always_lose(struct story *story, char **args) {
    story->always_losing = true;
    story->how = lost_of(story, args[0]);
}
static void s_ghosts_go_on(struct story *story, char **args) {
    (void)args;
    story->how = LOST_COMMITTED;
}

/* ---- the world ---- */

static void s_wait(struct story *story, char **args) {
    pass_time(story, story->fleet->clock + duration_of(story, args[0]));
}
static void s_by_hand(struct story *story, char **args) {
    (void)args;
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_MEDDLE});
}
static void s_back_up(struct story *story, char **args) {
    (void)args;
    fleet_back_up(story->fleet);
}
static void s_restore(struct story *story, char **args) {
    (void)args;
    fleet_restore(story->fleet);
}
static void s_approval(struct story *story, char **args) {
    struct policy policy = story->fleet->policy;
    (void)args;
    policy.plans.approve = 1;
    fleet_policy(story->fleet, policy_seal(policy));
}
static void s_agent_plans(struct story *story, char **args) {
    struct policy policy = story->fleet->policy;
    policy.plans.agents = arena_copy(&story->arena, str_of(args[0]));
    fleet_policy(story->fleet, policy_seal(policy));
}

static const struct sentence_row ROWS[] = {
    {"hands are idle", s_executor_idle, SENTENCE_HAPPENS},
    {"hands work", s_executor_work, SENTENCE_HAPPENS},
    {"commands end with $", s_commands_end, SENTENCE_HAPPENS},
    {"host $ is allowed to act and freezes", s_check_then_freeze, SENTENCE_HAPPENS},
    {"crash host $", s_crash, SENTENCE_HAPPENS},
    {"the machine of host $ goes off", s_machine_off, SENTENCE_HAPPENS},
    {"start host $", s_start, SENTENCE_HAPPENS},
    {"freeze host $", s_freeze, SENTENCE_HAPPENS},
    {"thaw host $", s_thaw, SENTENCE_HAPPENS},
    {"everybody crashes and starts again after each request", s_always_crash, SENTENCE_HAPPENS},
    {"host $ loses the answer of its next commit, which is $", s_lose, SENTENCE_HAPPENS},
    {"host $ crashes in its next commit, which is $", s_die, SENTENCE_HAPPENS},
    {"the answer of each first commit is lost, which is $", s_always_lose, SENTENCE_HAPPENS},
    {"ghosts go on", s_ghosts_go_on, SENTENCE_HAPPENS},
    {"wait $", s_wait, SENTENCE_HAPPENS},
    {"a person changes the goal by hand", s_by_hand, SENTENCE_HAPPENS},
    {"the store is backed up", s_back_up, SENTENCE_HAPPENS},
    {"the store is put back", s_restore, SENTENCE_HAPPENS},
    {"plans need approval", s_approval, SENTENCE_HAPPENS},
    {"agent $ may plan", s_agent_plans, SENTENCE_HAPPENS},
    {"host $ is told to stop the fleet", s_stop, SENTENCE_HAPPENS},
    {"host $ is told to resume the fleet", s_resume, SENTENCE_HAPPENS},
    {"expect the fleet is $", e_stopped, SENTENCE_LOOKS},
    {"expect the orders to be $", e_orders, SENTENCE_LOOKS},
};
const struct sentences STORY_FLEET = {ROWS, count_of(ROWS)};
