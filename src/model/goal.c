/* SPDX-License-Identifier: Apache-2.0 */
/* Goals: their fields, views and invariants. */
#include "model/goal.h"

#include "model/effect.h"

#include <stdio.h>

#define TEXT(name, number, member, cap, text) \
    { name, FIELD_TEXT, number, FIELD_OF(goal_text, member), cap, 0, NULL, text, 0, NULL }
#define LIST(name, number, member, cap, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(goal_text, member), cap, 0, NULL, text, LIMIT_LINES, \
            NULL \
    }

static const struct field HOT[] = {
    {"status", FIELD_ENUM, 1, FIELD_OF(goal, status), 0, 0, &GOAL_STATUS_NAMES, "its status", 0,
     NULL},
    {"need", FIELD_ENUM, 2, FIELD_OF(goal, need), 0, 0, &NEED_NAMES, "what it needs from a person",
     0, NULL},
    {"createdAt", FIELD_TIME, 3, FIELD_OF(goal, times.created_at), 0, 0, NULL,
     "time of its creation", 0, NULL},
    {"updatedAt", FIELD_TIME, 4, FIELD_OF(goal, times.updated_at), 0, 0, NULL,
     "time of its last change", 0, NULL},
    {"reports", FIELD_U32, 5, FIELD_OF(goal, progress.reports), 0, 0, NULL,
     "number of progress reports accepted", 0, NULL},
    {"effectsMade", FIELD_U32, 6, FIELD_OF(goal, effects.made), 0, 0, NULL,
     "number of effects decided so far", 0, NULL},
    {"lastExit", FIELD_INT, 7, FIELD_OF(goal, progress.last_exit), 0, 0, NULL,
     "exit status of its newest command that ended", 0, NULL},
    {"priority", FIELD_ENUM, 8, FIELD_OF(goal, priority), 0, 0, &PRIORITY_NAMES, "its priority", 0,
     NULL},
    {"textHash", FIELD_HASH, 9, FIELD_OF(goal, text), 0, FIELD_HIDDEN, NULL,
     "hash of its definition", 0, NULL},
    {"planVersion", FIELD_UINT, 10, FIELD_OF(goal, plan.version), 0, 0, NULL,
     "version of its plan, from 1; 0: no plan yet", 0, NULL},
    {"nodesMade", FIELD_U32, 11, FIELD_OF(goal, plan.nodes_made), 0, FIELD_HIDDEN, NULL,
     "number of nodes made so far, retired ones included", 0, NULL},
    {"percent", FIELD_U32, 12, FIELD_OF(goal, progress.percent), 0, 0, NULL,
     "percent of its plan that is done", 0, NULL},
    {"proposalHash", FIELD_HASH, 13, FIELD_OF(goal, plan.proposal), 0, FIELD_HIDDEN, NULL,
     "hash of a proposed plan that waits for a person", 0, NULL},
    {"proposalBase", FIELD_UINT, 14, FIELD_OF(goal, plan.proposal_base), 0, FIELD_HIDDEN, NULL,
     "plan version that the proposal was made for", 0, NULL},
    {"review", FIELD_FLAG, 15, FIELD_OF(goal, plan.review), 0, 0, NULL,
     "whether a review of the plan was requested", 0, NULL},
    {"endedAt", FIELD_TIME, 16, FIELD_OF(goal, times.ended_at), 0, 0, NULL,
     "time at which it was completed or cancelled", 0, NULL},
    {"era", FIELD_UINT, 17, FIELD_OF(goal, era), 0, FIELD_HIDDEN, NULL,
     "era of the store at the last decision about it", 0, NULL},
    {"working", FIELD_U32, 18, FIELD_OF(goal, progress.working), 0, 0, NULL,
     "number of leaves of its plan that are in progress", 0, NULL},
    {"partsMade", FIELD_U32, 19, FIELD_OF(goal, parts_made), 0, FIELD_HIDDEN, NULL,
     "number of parts (assignments, runs …) made so far", 0, NULL},
    {"shown", FIELD_U32, 20, FIELD_OF(goal, shown), 0, FIELD_HIDDEN, NULL,
     "display state + 1 in its list row; 0: no row yet", 0, NULL},
    {"succeeded", FIELD_FLAG, 21, FIELD_OF(goal, progress.succeeded), 0, FIELD_HIDDEN, NULL,
     "whether its newest command ended with exit status 0", 0, NULL},
    {"reopened", FIELD_FLAG, 22, FIELD_OF(goal, plan.reopened), 0, FIELD_HIDDEN, NULL,
     "whether it was reopened and nothing in its plan has moved since", 0, NULL},
    {"desk", FIELD_U32, 23, FIELD_OF(goal, kind.admission), 0, FIELD_HIDDEN, NULL,
     "the host whose admission this is; 0: an ordinary goal", 0, NULL},
    {"questions", FIELD_U32, 24, FIELD_OF(goal, people.questions), 0, 0, NULL,
     "number of open questions to people", 0, NULL},
    {"said", FIELD_U32, 25, FIELD_OF(goal, people.notices), 0, FIELD_HIDDEN, NULL,
     "number of messages to people in the hour that began at saidSince", 0, NULL},
    {"saidSince", FIELD_TIME, 26, FIELD_OF(goal, people.notices_since), 0, FIELD_HIDDEN, NULL,
     "start of the hour in which messages to people are counted", 0, NULL},
    {"wantsAt", FIELD_TIME, 27, FIELD_OF(goal, times.wants_at), 0, FIELD_HIDDEN, NULL,
     "earliest time at which its assignments and questions need a step", 0, NULL},
    {"paceNext", FIELD_TIME, 28, FIELD_OF(goal, pace.next), 0, FIELD_HIDDEN, NULL,
     "admission: time from which no earlier action counts for the rate limit", 0, NULL},
    {"paceSince", FIELD_TIME, 29, FIELD_OF(goal, pace.since), 0, FIELD_HIDDEN, NULL,
     "admission: start of the minute in which disruptive actions are counted", 0, NULL},
    {"paceStruck", FIELD_U32, 30, FIELD_OF(goal, pace.struck), 0, FIELD_HIDDEN, NULL,
     "admission: number of disruptive actions in that minute", 0, NULL},
    {"paceSuspended", FIELD_FLAG, 31, FIELD_OF(goal, pace.suspended), 0, FIELD_HIDDEN, NULL,
     "whether admission is suspended; workspace: whether a person holds the lane", 0, NULL},
    {"originHash", FIELD_HASH, 32, FIELD_OF(goal, origin), 0, FIELD_HIDDEN, NULL,
     "hash of the channel that it came from; zero: the operator's", 0, NULL},
    {"paceReleased", FIELD_TIME, 33, FIELD_OF(goal, pace.released_at), 0, FIELD_HIDDEN, NULL,
     "admission: time until which a person allowed the requested disruptive actions", 0, NULL},
    {"paceAlone", FIELD_TIME, 37, FIELD_OF(goal, pace.alone_at), 0, FIELD_HIDDEN, NULL,
     "admission: time until which a person rejected the requested disruptive actions", 0, NULL},
    {"cost", FIELD_UINT, 34, FIELD_OF(goal, spent.cost), 0, 0, NULL,
     "cost so far, in millionths of the currency", 0, NULL},
    {"tokens", FIELD_UINT, 35, FIELD_OF(goal, spent.tokens), 0, 0, NULL, "tokens used so far", 0,
     NULL},
    {"starts", FIELD_UINT, 36, FIELD_OF(goal, spent.starts), 0, 0, NULL,
     "number of times that work was started", 0, NULL},
    {"workspace", FIELD_FLAG, 38, FIELD_OF(goal, kind.workspace), 0, FIELD_HIDDEN, NULL,
     "whether it is a workspace", 0, NULL},
    {"repository", FIELD_UINT, 39, FIELD_OF(goal, repository), 0, FIELD_HIDDEN, NULL,
     "key of the repository that its work is in; 0: that of [repo], or none", 0, NULL},
    {"number", FIELD_UINT, 40, FIELD_OF(goal, kind.number), 0, FIELD_HIDDEN, NULL,
     "number of its name for people; 0: none yet", 0, NULL},
    {"subject", FIELD_NAME, 41, FIELD_OF(goal, kind.subject), LIMIT_SUBJECT, FIELD_HIDDEN, NULL,
     "its first title, for its branches and commits", 0, NULL},
    {"batch", FIELD_UINT, 42, FIELD_OF(goal, kind.batch.key), 0, FIELD_HIDDEN, NULL,
     "key of the task batch that it belongs to; 0: none", 0, NULL},
    {"batchUntil", FIELD_TIME, 43, FIELD_OF(goal, kind.batch.until), 0, FIELD_HIDDEN, NULL,
     "end of that batch when the goal was created; 0: none", 0, NULL},
    {"quotaMark", FIELD_U32, 44, FIELD_OF(goal, kind.quota_mark), 0, 0, NULL,
     "percent of a quota window from which its work does not begin; 0: none", 0, NULL},
    {"clock", FIELD_INT, 60, FIELD_OF(goal, clock.steps), 0, FIELD_HIDDEN, NULL,
     "sum of the clock steps by which its times are corrected, in microseconds", 0, NULL},
    {"clockId", FIELD_U32, 61, FIELD_OF(goal, clock.id), 0, FIELD_HIDDEN, NULL,
     "id of that sum; 0: none", 0, NULL},
#ifdef OVERSEER_TOMORROW
    {"tomorrow", FIELD_U32, 100, FIELD_OF(goal, progress.tomorrow), 0, FIELD_HIDDEN, NULL,
     "for tests: reports counted since the whole fleet knows this field", 0, NULL},
#endif
};

const struct shape GOAL_HOT = SHAPE("goal", 1, HOT);

static const struct field RISK_FIELDS[] = {
    {"risk", FIELD_TEXT, 1, FIELD_OF(risk_row, risk), LIMIT_LINE, FIELD_REQUIRED, NULL,
     "what may go wrong", 0, NULL},
    {"impact", FIELD_TEXT, 2, FIELD_OF(risk_row, impact), LIMIT_LINE, FIELD_REQUIRED, NULL,
     "the impact if it goes wrong", 0, NULL},
    {"mitigation", FIELD_TEXT, 3, FIELD_OF(risk_row, mitigation), LIMIT_LINE, FIELD_REQUIRED, NULL,
     "how the risk is mitigated", 0, NULL},
};
const struct shape RISK_ROW = SHAPE_OF(risk_row, "risk", 1, RISK_FIELDS);

static const struct field TEXT_FIELDS[] = {
    TEXT("problemStatement", 1, problem, LIMIT_PROSE, "the problem to solve"),
    LIST("successCriteria", 2, success_criteria, LIMIT_LINE, "how to tell that it is solved"),
    LIST("nonGoals", 3, non_goals, LIMIT_LINE, "what is out of scope"),
    TEXT("sourceSessionKey", 4, source_session, LIMIT_NAME, "the session it came from"),
    TEXT("originChannel", 5, channel, LIMIT_NAME, "the channel for answers to its author"),
    TEXT("originTo", 6, to, LIMIT_NAME, "the recipient on that channel"),
    TEXT("originThread", 7, thread, LIMIT_NAME, "the thread on that channel"),
    TEXT("originAccount", 8, account, LIMIT_NAME, "the account on that channel"),
    TEXT("owner", 9, owner, LIMIT_NAME, "a person to ask; never a credential"),
    LIST("stakeholders", 10, stakeholders, LIMIT_NAME, "other people who are affected"),
    {"repoContextSnapshot", FIELD_TEXT, 11, FIELD_OF(goal_text, repo_snapshot), LIMIT_SNAPSHOT,
     FIELD_CUT, NULL, "summary of the repository's state at that time", 0, NULL},
    LIST("constraints", 12, constraints, LIMIT_LINE, "constraints"),
    LIST("assumptions", 13, assumptions, LIMIT_LINE, "assumptions"),
    {"risks", FIELD_ROWS, 14, FIELD_OF(goal_text, risks), 0, 0, NULL, "what may go wrong",
     LIMIT_LINES, &RISK_ROW},
};
const struct shape GOAL_TEXT = SHAPE_OF(goal_text, "goal_text", 1, TEXT_FIELDS);

static const struct field VIEW[] = {
    {"goal_id", FIELD_ID, 1, FIELD_OF(goal_view, id), 0, 0, NULL, "id of the goal", 0, NULL},
    {"status", FIELD_ENUM, 2, FIELD_OF(goal_view, status), 0, 0, &GOAL_STATUS_NAMES, "its status",
     0, NULL},
    {"face", FIELD_ENUM, 3, FIELD_OF(goal_view, display_state), 0, 0, &DISPLAY_STATE_NAMES,
     "its display state", 0, NULL},
    {"priority", FIELD_ENUM, 4, FIELD_OF(goal_view, priority), 0, 0, &PRIORITY_NAMES,
     "its priority", 0, NULL},
    {"percent", FIELD_U32, 5, FIELD_OF(goal_view, percent), 0, 0, NULL,
     "percent of its plan that is done", 0, NULL},
    {"created_at", FIELD_TIME, 6, FIELD_OF(goal_view, created_at), 0, 0, NULL,
     "time of its creation", 0, NULL},
    {"updated_at", FIELD_TIME, 7, FIELD_OF(goal_view, updated_at), 0, 0, NULL,
     "time of the last change of this row", 0, NULL},
    {"title", FIELD_TEXT, 8, FIELD_OF(goal_view, title), LIMIT_TITLE, 0, NULL,
     "one line that says what is wanted", 0, NULL},
    {"ended_at", FIELD_TIME, 9, FIELD_OF(goal_view, ended_at), 0, 0, NULL,
     "time at which it was done or cancelled", 0, NULL},
    {"repository", FIELD_INT, 10, FIELD_OF(goal_view, repository), 0, 0, NULL,
     "key of the repository that its work is in; 0: that of [repo], or none", 0, NULL},
    {"number", FIELD_INT, 11, FIELD_OF(goal_view, number), 0, 0, NULL,
     "number of its name for people; 0: none", 0, NULL},
};
const struct shape GOAL_VIEW = SHAPE_OF(goal_view, "goal_view", 1, VIEW);

bool goal_is_open(const struct goal *goal) {
    return goal->status == GOAL_ACTIVE || goal->status == GOAL_PAUSED ||
           goal->effects.open_count > 0;
}

bool goal_needs_person(const struct goal *goal) {
    return goal->quarantined || goal->need != NEED_NOTHING || goal->people.questions > 0 ||
           goal->plan.review || !hash_is_zero(&goal->plan.proposal);
}

struct id goal_plan_id(const struct goal *goal) {
    return id_derive(STR("plan"),
                     (struct str){(const char *)goal->id.bytes, sizeof goal->id.bytes});
}

struct effect_slot *goal_effect(struct goal *goal, uint32_t n) {
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (goal->effects.open[i].n == n)
            return &goal->effects.open[i];
    return NULL;
}

/* A claimed effect has to end; so does one that is carried out without a claim. */
int64_t effect_deadline(const struct effect_slot *slot) {
    bool counts = slot->state == EFFECT_RUNNING || (slot->state == EFFECT_READY && slot->until > 0);
    return counts ? slot->until : TIME_NEVER;
}

int64_t goal_due(const struct goal *goal) {
    int64_t due = TIME_NEVER;
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (effect_deadline(&goal->effects.open[i]) < due)
            due = effect_deadline(&goal->effects.open[i]);
    return goal->times.wants_at && goal->times.wants_at < due ? goal->times.wants_at : due;
}

/* ESCALATE-07: a message that is being delivered does not keep work from being done. */
uint32_t goal_works(const struct goal *goal) {
    uint32_t works = 0;
    for (uint32_t i = 0; i < goal->effects.open_count; i++) {
        enum effect_class class = EFFECTS[goal->effects.open[i].kind].class;
        works += class != EFFECT_CLASS_PEOPLE && class != EFFECT_CLASS_INSIDE;
    }
    return works;
}

bool goal_has_effect(const struct goal *goal, enum effect_state state) {
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (goal->effects.open[i].state == state)
            return true;
    return false;
}

/* The need for a person comes first, then work in progress, then the status. */
enum display_state goal_display_state(const struct goal *goal) {
    bool over = goal->status == GOAL_CANCELLED || goal->status == GOAL_ARCHIVED;
    if (goal->quarantined || (!over && goal_needs_person(goal)))
        return DISPLAY_NEEDS_YOU;
    if (goal_has_effect(goal, EFFECT_RUNNING))
        return DISPLAY_WORKING;
    switch (goal->status) {
    case GOAL_ACTIVE: return goal->progress.working > 0 ? DISPLAY_WORKING : DISPLAY_QUEUED;
    case GOAL_PAUSED: return DISPLAY_PAUSED;
    case GOAL_CANCELLED: return DISPLAY_CANCELLED;
    case GOAL_ARCHIVED: return DISPLAY_ARCHIVED;
    default: return DISPLAY_DONE;
    }
}

static const char *effects_broken(const struct goal *goal) {
    for (uint32_t i = 0; i < goal->effects.open_count; i++) {
        const struct effect_slot *slot = &goal->effects.open[i];
        if (slot->state >= EFFECT_ENDED)
            return "an open effect has ended";
        if (slot->n >= goal->effects.made)
            return "an effect was never made";
        if (i > 0 && slot->n <= goal->effects.open[i - 1].n)
            return "effects are out of order";
        if ((slot->state == EFFECT_READY) != (slot->run_host == 0))
            return "an effect is claimed by nobody, or ready and claimed";
    }
    return NULL;
}

const char *goal_broken(const struct goal *goal) {
    if (goal->version == 0 || goal->records.seq == 0)
        return "a goal without a version or a record";
    if (goal->status >= GOAL_STATUSES || goal->need >= NEEDS || goal->priority >= PRIORITIES)
        return "a status out of its table";
    if (goal->effects.open_count > LIMIT_OPEN_EFFECTS)
        return "too many open effects";
    if (goal->status == GOAL_COMPLETED && (goal_works(goal) > 0 || goal->need != NEED_NOTHING))
        return "completed with something open";
    if ((goal->times.ended_at != 0) != (goal->status >= GOAL_COMPLETED))
        return "ended without an end, or an end without having ended";
    if (goal->progress.percent > 100 ||
        (goal->plan.version == 0 && (goal->progress.percent > 0 || goal->plan.nodes_made > 0)))
        return "progress of a plan that there is not";
    if (goal->plan.nodes_made > LIMIT_NODES)
        return "too many nodes";
    if (!goal->quarantined && goal->due_at > goal_due(goal))
        return "due later than its earliest deadline";
    return effects_broken(goal);
}

/* ---- names that people type: goals and questions ---- */

/* Reads a number without leading zeros at text[*at], at most `most`. */
static bool number_read(struct str text, size_t *at, uint64_t most, uint64_t *ret) {
    size_t begin = *at;
    uint64_t value = 0;
    for (; *at < text.len && text.at[*at] >= '0' && text.at[*at] <= '9'; ++*at) {
        value = value * 10 + (uint64_t)(text.at[*at] - '0');
        if (value > most)
            return false;
    }
    *ret = value;
    return *at > begin && (text.at[begin] != '0' || *at == begin + 1);
}

static bool char_is(struct str text, size_t at, char upper) {
    return at < text.len && (text.at[at] == upper || text.at[at] == upper + ('a' - 'A'));
}

#define NUMBER_MOST ((uint64_t)INT64_MAX / 100)

void task_name_format(uint64_t number, char text[TASK_NAME]) {
    text[0] = 0;
    if (number > 0)
        snprintf(text, TASK_NAME, "T%llu", (unsigned long long)number);
}

bool task_name_parse(struct str text, uint64_t *ret_number) {
    size_t at = 1;
    return char_is(text, 0, 'T') && number_read(text, &at, NUMBER_MOST, ret_number) &&
           at == text.len && *ret_number > 0;
}

void question_name_format(const struct goal *goal, uint32_t n, char text[QUESTION_NAME]) {
    if (goal->kind.admission && !goal->kind.workspace)
        snprintf(text, QUESTION_NAME, "QH%u.%u", goal->kind.admission, n);
    else if (goal->kind.workspace && goal->kind.subject[0])
        snprintf(text, QUESTION_NAME, "Q-%s.%u", goal->kind.subject, n);
    else if (goal->kind.number > 0)
        snprintf(text, QUESTION_NAME, "Q%llu.%u", (unsigned long long)goal->kind.number, n);
    else
        snprintf(text, QUESTION_NAME, "Q%u", n);
}

void workspace_name(struct str repository, char text[LIMIT_SUBJECT + 1]) {
    struct str name = str_cut_utf8(repository, LIMIT_AGENT);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        text[len++] = plain ? c : '-';
    }
    text[len] = 0;
}

static bool ordinal_read(struct str text, size_t at, struct question_name *ret) {
    uint64_t n;
    bool read = number_read(text, &at, UINT32_MAX, &n) && at == text.len;
    ret->n = read ? (uint32_t)n : 0;
    return read;
}

/* Q-NAME.n: the name of a repository may contain dots. */
static bool repository_question_read(struct str text, struct question_name *ret) {
    size_t dot = text.len;
    while (dot > 2 && text.at[dot - 1] != '.')
        dot--;
    if (dot <= 3 || !ordinal_read(text, dot, ret))
        return false;
    ret->repository = (struct str){text.at + 2, dot - 3};
    return true;
}

bool question_name_parse(struct str text, struct question_name *ret) {
    uint64_t first = 0;
    bool of_host = char_is(text, 1, 'H');
    size_t at = of_host ? 2 : 1;
    *ret = (struct question_name){0};
    if (!char_is(text, 0, 'Q'))
        return false;
    if (text.len > 1 && text.at[1] == '-')
        return repository_question_read(text, ret);
    if (!of_host && at < text.len && text.at[at] == '_')
        return ordinal_read(text, at + 1, ret);
    if (!number_read(text, &at, of_host ? UINT32_MAX : NUMBER_MOST, &first))
        return false;
    if (at == text.len && !of_host)
        return ordinal_read(text, 1, ret);
    if (at == text.len || text.at[at] != '.' || first == 0)
        return false;
    ret->host = of_host ? (uint32_t)first : 0;
    ret->number = of_host ? 0 : first;
    return ordinal_read(text, at + 1, ret);
}

/* ---- names of branches ---- */

enum { SLUG = 48 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A letter or digit as it is in a branch; 0: it separates words. */
static char slug_char(char c) {
    if (c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    return (c >= 'a' && c <= 'z') || is_digit(c) ? c : 0;
}

/* "Fix the Login!" becomes "-fix-the-login". What has no room is left out, by whole words. */
static void slug_format(struct str text, char slug[SLUG]) {
    size_t used = 0, whole = 0;
    bool in_word = false;
    for (size_t i = 0; i <= text.len; i++) {
        char c = i < text.len ? slug_char(text.at[i]) : 0;
        if (!c)
            whole = used;
        if (c && used + (in_word ? 1 : 2) >= SLUG)
            break;
        if (c && !in_word)
            slug[used++] = '-';
        if (c)
            slug[used++] = c;
        in_word = c;
    }
    slug[whole ? whole : used] = 0;
}

/* ".S1.2". A dot stays only between digits: git has rules about others, and about ".lock". */
static void node_put(struct str node, char *to) {
    *to = 0;
    if (node.len == 0)
        return;
    *to++ = '.';
    for (size_t i = 0; i < node.len; i++) {
        bool inside =
            i > 0 && i + 1 < node.len && is_digit(node.at[i - 1]) && is_digit(node.at[i + 1]);
        *to++ = node.at[i] == '.' && !inside ? '-' : node.at[i];
    }
    *to = 0;
}

enum { NUMBER_DIGITS = 20 };
_Static_assert(1 + NUMBER_DIGITS + SLUG + 1 + LIMIT_NODE_ID <= LIMIT_BRANCH, "the longest name");

void branch_name_format(const struct goal *goal, struct str node, char text[LIMIT_BRANCH + 1]) {
    char slug[SLUG];
    text[0] = 0;
    if (goal->kind.number == 0 || !goal->kind.subject[0])
        return;
    slug_format(str_of(goal->kind.subject), slug);
    int used =
        snprintf(text, LIMIT_BRANCH + 1, "T%llu%s", (unsigned long long)goal->kind.number, slug);
    node_put(node, text + used);
}

struct str branch_name_task(struct str branch) {
    size_t len = 0;
    while (len < branch.len && branch.at[len] != '-' && branch.at[len] != '.')
        len++;
    return (struct str){branch.at, len};
}
