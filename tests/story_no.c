/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what must not happen over a span of time. Reads the records in the store, which say what was decided, and when.
 *
 *     expect no stall, nudge or stop of g1                 since the story began
 *     expect no nudge of g1 before 15m                     from the beginning of the story until then
 *     expect no question from 10m to 40m                   of any goal
 *     expect no stall of g1 until 40h                      from now on; time passes
 *
 * An act is one of ACTS, or the type of a record (assignment.stalled). Times count from the beginning of the story. A span
 * does not contain its end. */
#include "story.h"

static const struct named_act {
    const char *name;
    enum record_type type;
    const char *to;   /* required value in its evidence; NULL: any */
    const char *text; /* the same */
} ACTS[] = {
    {"stall", RECORD_ASSIGNMENT_STALLED, NULL, NULL},
    {"look", RECORD_EFFECT_DECIDED, "look", NULL},
    {"nudge", RECORD_ASSIGNMENT_DISPATCHED, NULL, "nudge"},
    {"resend", RECORD_LADDER_CLIMBED, "resend_last", NULL},
    {"replan", RECORD_LADDER_CLIMBED, "replan", NULL},
    {"reassignment", RECORD_LADDER_CLIMBED, "reassign", NULL},
    {"start", RECORD_EFFECT_DECIDED, "spawn", NULL},
    {"send", RECORD_EFFECT_DECIDED, "send", NULL},
    {"stop", RECORD_EFFECT_DECIDED, "stop", NULL},
    {"check", RECORD_EFFECT_DECIDED, "check", NULL},
    {"landing", RECORD_EFFECT_DECIDED, "land", NULL},
    {"question", RECORD_QUESTION_ASKED, NULL, NULL},
    {"message", RECORD_EFFECT_DECIDED, "say", NULL},
    {"doubt", RECORD_EFFECT_UNCONFIRMED, NULL, NULL},
    {"quarantine", RECORD_GOAL_QUARANTINED, NULL, NULL},
};

struct unwanted { /* what must not happen */
    struct named_act acts[MAX_WORDS];
    uint32_t count;
    const char *goal; /* NULL: any */
    int64_t from, to;
};

static bool act_read(struct story *story, const char *word, struct named_act *ret) {
    uint32_t type;
    for (size_t i = 0; i < count_of(ACTS); i++)
        if (strcmp(ACTS[i].name, word) == 0) {
            *ret = ACTS[i];
            return true;
        }
    if (names_find(&RECORD_NAMES, str_of(word), &type) && type != RECORD_NONE) {
        *ret = (struct named_act){.name = word, .type = (enum record_type)type};
        return true;
    }
    fails(story, "there is no act called %s", word);
    return false;
}

static bool ends_acts(const char *word) {
    return strcmp(word, "of") == 0 || strcmp(word, "from") == 0 || strcmp(word, "until") == 0 ||
           strcmp(word, "before") == 0;
}

/* Returns how many words it has taken. */
static int acts_read(struct story *story, char **words, int count, struct unwanted *ret) {
    int i = 0;
    for (; i < count && !ends_acts(words[i]); i++)
        if (strcmp(words[i], "or") != 0 && strcmp(words[i], "and") != 0 &&
            act_read(story, words[i], &ret->acts[ret->count]))
            ret->count++;
    return i;
}

static bool span_read(struct story *story, char **words, int count, struct unwanted *ret) {
    bool between = count == 4 && strcmp(words[0], "from") == 0 && strcmp(words[2], "to") == 0;
    bool before = count == 2 && strcmp(words[0], "before") == 0;
    bool until = count == 2 && strcmp(words[0], "until") == 0;
    ret->from = story->begin;
    ret->to = story->fleet->clock + 1; /* decisions of this instant count */
    if (between)
        ret->from = story->begin + time_of(story, words[1]);
    if (until)
        ret->from = story->fleet->clock + 1;
    if (between || before || until)
        ret->to = story->begin + time_of(story, words[between ? 3 : 1]);
    if (ret->from >= ret->to)
        fails(story, "that span of time is empty: nothing can happen in it");
    return between || before || until || count == 0;
}

static bool is_act(const struct named_act *act, const struct record *record) {
    struct evidence evidence = evidence_of(record);
    return record->type == act->type && (!act->to || str_equal(evidence.to, str_of(act->to))) &&
           (!act->text || str_equal(evidence.text, str_of(act->text)));
}

static void record_check(struct story *story, const struct unwanted *unwanted,
                         const struct record *record) {
    int64_t seconds = (record->at - story->begin) / SECONDS(1);
    if (record->at < unwanted->from || record->at >= unwanted->to)
        return;
    for (uint32_t i = 0; i < unwanted->count; i++)
        if (is_act(&unwanted->acts[i], record))
            fails(story, "there was a %s at %lldm%02llds", unwanted->acts[i].name,
                  (long long)seconds / 60, (long long)seconds % 60);
}

static void unwanted_look(struct story *story, const struct unwanted *unwanted) {
    struct arena arena = {0};
    struct dump dump = {0};
    story->fleet->backend->dump(story->fleet->backend, &dump, &arena);
    struct id goal = unwanted->goal ? goal_of(story, unwanted->goal)->goal : (struct id){{0}};
    if (unwanted->goal && !dump_goal(&dump, goal))
        fails(story, "%s is not in the store", unwanted->goal);
    for (uint32_t i = 0; i < dump.record_count; i++)
        if (!unwanted->goal || id_equal(dump.records[i].goal, goal))
            record_check(story, unwanted, &dump.records[i].record);
    arena_free(&arena);
}

bool no_clause(struct story *story, char **words, int count) {
    struct unwanted unwanted = {0};
    if (count < 3 || strcmp(words[0], "expect") != 0 || strcmp(words[1], "no") != 0)
        return false;
    int at = 2 + acts_read(story, words + 2, count - 2, &unwanted);
    if (at + 1 < count && strcmp(words[at], "of") == 0) {
        unwanted.goal = words[at + 1];
        at += 2;
    }
    if (!span_read(story, words + at, count - at, &unwanted) || unwanted.count == 0)
        fails(story, "expect no ACT[, ACT …] [of GOAL] [before T | until T | from T to T]");
    if (!story->failure[0] && unwanted.to > story->fleet->clock + 1)
        pass_time(story, unwanted.to);
    if (!story->failure[0])
        unwanted_look(story, &unwanted);
    return true;
}

bool any_act(struct story *story) {
    struct arena arena = {0};
    struct dump dump = {0};
    bool any = false;
    story->fleet->backend->dump(story->fleet->backend, &dump, &arena);
    for (uint32_t i = 0; i < dump.record_count && !any; i++) {
        const struct record *record = &dump.records[i].record;
        any = record->type == RECORD_EFFECT_DECIDED &&
              !str_equal(evidence_of(record).to, str_of(EFFECTS[EFFECT_TELL].name));
    }
    arena_free(&arena);
    return any;
}
