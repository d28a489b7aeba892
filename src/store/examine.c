/* SPDX-License-Identifier: Apache-2.0 */
/* Examines whether a store is intact: the checks that both engines share. */
#include "store/examine.h"

#include "store/sqlite/sqlite.h"

#include <stdarg.h>
#include <stdio.h>

const char *const EXAMINE_NAMES[EXAMINE_VERDICTS] = {"sound", "damaged", "not a store", "newer",
                                                     "away"};

/* ---- findings ---- */

void examine_found(struct examination *it, const char *table, const char *key, const char *format,
                   ...) {
    if (it->verdict == EXAMINE_SOUND)
        it->verdict = EXAMINE_DAMAGED;
    if (it->found++ >= LIMIT_FINDINGS)
        return;
    struct finding *finding = &it->findings[it->found - 1];
    snprintf(finding->table, sizeof finding->table, "%s", table);
    snprintf(finding->key, sizeof finding->key, "%s", key);
    va_list args;
    va_start(args, format);
    vsnprintf(finding->what, sizeof finding->what, format, args);
    va_end(args);
    for (char *at = finding->what; (at = strchr(at, '\n'));)
        *at = ' ';
    if (it->why[0] == 0)
        snprintf(it->why, sizeof it->why, "%s%s%s: %s", finding->table, key[0] ? " " : "",
                 finding->key, finding->what);
}

static void examine_found_goal(struct examination *it, const char *table, struct id goal,
                               const char *what) {
    char key[ID_TEXT + 1];
    id_format(goal, key);
    examine_found(it, table, key, "%s", what);
}

void examine_verdict_set(struct examination *it, enum examine_verdict verdict, const char *format,
                         ...) {
    it->verdict = verdict;
    va_list args;
    va_start(args, format);
    vsnprintf(it->why, sizeof it->why, format, args);
    va_end(args);
}

/* ---- one goal against its records ---- */

void audit_begin(struct audit *audit, struct id goal) {
    *audit = (struct audit){.goal = goal, .bodies = true};
}

static void audit_break(struct audit *audit, uint64_t seq, const char *what) {
    if (audit->broken)
        return;
    audit->broken = what;
    audit->broken_at = seq;
}

static struct audit_effect *effect_find(struct audit *audit, uint32_t n) {
    for (uint32_t i = 0; i < audit->open_count; i++)
        if (audit->open[i].n == n)
            return &audit->open[i];
    return NULL;
}

static bool effect_open(struct audit *audit, uint32_t n, struct str rule) {
    if (audit->open_count == LIMIT_OPEN_EFFECTS || effect_find(audit, n))
        return false;
    audit->open[audit->open_count++] =
        (struct audit_effect){.n = n, .command = str_equal(rule, STR("command.run"))};
    return true;
}

static bool effect_claim(struct audit *audit, uint32_t n) {
    struct audit_effect *effect = effect_find(audit, n);
    if (!effect || effect->claimed)
        return false;
    return effect->claimed = true;
}

/* The effect's host knows that it never began. */
static bool effect_return(struct audit *audit, uint32_t n) {
    struct audit_effect *effect = effect_find(audit, n);
    if (!effect || !effect->claimed)
        return false;
    effect->claimed = false;
    return true;
}

static bool effect_close(struct audit *audit, uint32_t n) {
    struct audit_effect *effect = effect_find(audit, n);
    if (!effect)
        return false;
    *effect = audit->open[--audit->open_count];
    return true;
}

/* A command whose outcome is unknown stays open until a person releases it. */
static bool effect_doubt(struct audit *audit, uint32_t n) {
    struct audit_effect *effect = effect_find(audit, n);
    return effect && (effect->command || effect_close(audit, n));
}

/* P8, as recorded in the log: decided, claimed, ended. An effect is claimed again only after it was returned. */
static bool effect_follow(struct audit *audit, enum record_type type, uint32_t n, struct str rule) {
    switch (type) {
    case RECORD_EFFECT_DECIDED: return effect_open(audit, n, rule);
    case RECORD_EFFECT_UNCONFIRMED: return effect_doubt(audit, n);
    case RECORD_EFFECT_CLAIMED: return effect_claim(audit, n);
    case RECORD_EFFECT_RETURNED: return effect_return(audit, n);
    case RECORD_EFFECT_ENDED:
    case RECORD_EFFECT_WITHDRAWN: return effect_close(audit, n);
    default: return true;
    }
}

static void title_follow(struct audit *audit, struct str title) {
    if (title.len == 0 || title.len > sizeof audit->title)
        return;
    memcpy(audit->title, title.at, title.len);
    audit->title_length = title.len;
}

static void body_follow(struct audit *audit, const struct record *record) {
    struct evidence evidence = {0};
    if (!shape_decode(&EVIDENCE, record->body, &evidence))
        audit_break(audit, record->seq, "its body cannot be read");
    else if (audit->bodies && evidence.effect > 0 &&
             !effect_follow(audit, record->type, evidence.effect - 1, evidence.rule))
        audit_break(audit, record->seq, "an effect has an impossible state transition");
    else if (str_equal(evidence.rule, STR("goal.create")) ||
             str_equal(evidence.rule, STR("goal.update")))
        title_follow(audit, evidence.text);
}

/* EVENT-07, G-25: each hash covers the one before it. */
void audit_record(struct audit *audit, const struct audit_row *row) {
    struct record record = row->record;
    uint64_t seq = record.seq;
    audit->records++;
    if (audit->broken)
        return;
    if (seq != audit->seq + 1) {
        audit_break(audit, audit->seq + 1, "a record is missing");
        return;
    }
    if (row->has_body)
        record.body_hash = sha256(record.body);
    record.hash = record_hash(&record, audit->goal, &audit->head);
    if (!hash_equal(&record.hash, &row->stored)) {
        audit_break(audit, seq, "the chain of hashes is broken");
        return;
    }
    audit->seq = seq;
    audit->head = record.hash;
    audit->bodies = audit->bodies && row->has_body;
    if (audit->visitor)
        audit->visitor->record(audit->visitor->with, audit->goal, seq, &record.hash);
    if (record.type == RECORD_GOAL_QUARANTINED || record.type == RECORD_GOAL_RELEASED)
        audit->quarantined = record.type == RECORD_GOAL_QUARANTINED;
    if (row->has_body)
        body_follow(audit, &record);
}

void audit_milestone(struct audit *audit, uint64_t from, uint64_t to, const struct hash *last) {
    audit->milestones++;
    audit->bodies = false;
    if (audit->broken)
        return;
    if (from != audit->seq + 1 || to < from) {
        audit_break(audit, audit->seq + 1, "a milestone does not follow the record before it");
        return;
    }
    audit->seq = to;
    audit->head = *last;
    if (audit->visitor)
        audit->visitor->record(audit->visitor->with, audit->goal, to, last);
}

/* A ready effect was never claimed, or was returned; a running one was claimed. An unconfirmed effect is never executed
 * automatically, so it only needs to have been decided. */
static const char *slot_wrong(const struct audit *audit, const struct effect_slot *slot) {
    for (uint32_t i = 0; i < audit->open_count; i++)
        if (audit->open[i].n == slot->n) {
            if (slot->state == EFFECT_READY && audit->open[i].claimed)
                return "an effect is marked as ready, but was claimed before";
            if (slot->state == EFFECT_RUNNING && !audit->open[i].claimed)
                return "an effect is marked as running, but was never claimed";
            return NULL;
        }
    return "an effect is open, but was never decided or has ended";
}

static const char *effects_wrong(const struct audit *audit, const struct goal *goal) {
    if (!audit->bodies)
        return NULL; /* the log is no longer complete, so it proves nothing */
    if (goal->effects.open_count < audit->open_count)
        return "an effect that was decided is missing";
    for (uint32_t i = 0; i < goal->effects.open_count; i++) {
        const char *wrong = slot_wrong(audit, &goal->effects.open[i]);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* A quarantined goal keeps its bytes as evidence: only its chain is checked. */
/* The first error found in a loaded goal, or NULL. */
static const char *audit_goal(const struct audit *audit, const struct goal_loaded *loaded) {
    const struct goal *goal = &loaded->goal;
    if (audit->broken)
        return audit->broken;
    if (!loaded->exists)
        return "its row is missing";
    if (goal->records.seq != audit->seq)
        return goal->records.seq > audit->seq ? "its last records are missing"
                                              : "it is older than its records";
    if (!hash_equal(&goal->records.head, &audit->head))
        return "its head is not the end of its chain";
    if (goal->quarantined != audit->quarantined && audit->milestones == 0)
        return "its quarantine mark contradicts its records";
    if (goal->quarantined)
        return NULL;
    if (!loaded->whole)
        return "its row cannot be read";
    const char *wrong = goal_broken(goal);
    return wrong ? wrong : effects_wrong(audit, goal);
}

/* ---- pages of goals ---- */

struct page {
    struct audit_source *source;
    struct arena arena;
    struct id ids[AUDIT_PAGE];
    uint32_t count;
    struct goal_loaded *loaded; /* one for each id */
    char trouble[160];
    bool damaged; /* true: the data is damaged; false: it could not be reached */
};

static bool page_failed(struct page *page) {
    page->damaged = page->source->trouble(page->source, page->trouble, sizeof page->trouble);
    return false;
}

/* Load goals the way the ledger does. */
static struct goal_loaded *goals_load(struct page *page, const struct id *ids, uint32_t count) {
    struct store_request request = {.verb = STORE_LOAD, .ids = ids, .id_count = count};
    struct store_answer answer;
    store_perform(page->source->store, &request, &answer, &page->arena);
    if (answer.outcome == STORE_DONE)
        return answer.loaded;
    snprintf(page->trouble, sizeof page->trouble, "%.*s", STR_ARG(answer.error));
    page->damaged = answer.damaged;
    return NULL;
}

static bool page_load(struct page *page) {
    arena_reset(&page->arena);
    page->loaded = page->count > 0 ? goals_load(page, page->ids, page->count) : NULL;
    return page->count == 0 || page->loaded;
}

static bool page_next(struct page *page, bool busy) {
    struct id after = page->count > 0 ? page->ids[page->count - 1] : (struct id){0};
    return page->source->goals(page->source, after, busy, page->ids, &page->count)
               ? page_load(page)
               : page_failed(page);
}

static bool page_next_chains(struct page *page) {
    struct id after = page->count > 0 ? page->ids[page->count - 1] : (struct id){0};
    return page->source->chains(page->source, after, page->ids, &page->count) ? page_load(page)
                                                                              : page_failed(page);
}

static const char *goal_wrong(struct audit_source *source, const struct audit *audit,
                              const struct goal_loaded *loaded) {
    const char *wrong = audit_goal(audit, loaded);
    if (wrong || !loaded->whole || loaded->goal.quarantined || !source->columns)
        return wrong;
    return source->columns(source, &loaded->goal, audit);
}

/* ---- all goals ---- */

struct each {
    audit_judge *judge;
    void *with;
};

/* True if the goal was not written between the two reads. */
static bool goal_stood(const struct goal_loaded *before, const struct goal_loaded *after) {
    return before->exists == after->exists && before->goal.version == after->goal.version &&
           before->goal.records.seq == after->goal.records.seq;
}

enum { LOOKS = 16 };

/* Next to a running ledger, or in a store that several hosts share, a goal may change while it is examined. So an
 * apparent error counts only if the goal did not change meanwhile. A goal that changes at every attempt is not judged
 * here: the ledger that writes to it has loaded and checked it. */
static bool goal_examine(struct page *page, uint32_t place, struct examination *it,
                         const struct each *each) {
    const char *wrong = NULL;
    const struct goal_loaded *loaded = NULL;
    struct audit audit;
    bool stood = false;
    for (int look = 0; look < LOOKS && !stood; look++) {
        const struct goal_loaded *before = look == 0 ? &page->loaded[place] : loaded;
        audit_begin(&audit, page->ids[place]);
        if (!page->source->records(page->source, page->ids[place], &audit))
            return page_failed(page);
        wrong = goal_wrong(page->source, &audit, before);
        loaded = wrong ? goals_load(page, &page->ids[place], 1) : before;
        if (!loaded)
            return false;
        stood = goal_stood(before, loaded);
    }
    if (!stood)
        wrong = NULL;
    it->goals++;
    it->records += audit.records;
    it->effects += loaded->goal.effects.open_count;
    each->judge(each->with, &audit, &loaded->goal, wrong);
    return true;
}

static bool page_examine(struct page *page, bool busy, struct examination *it,
                         const struct each *each) {
    bool going = page_next(page, busy);
    for (uint32_t i = 0; going && i < page->count; i++)
        going = goal_examine(page, i, it, each);
    return going;
}

bool audit_each(struct audit_source *source, bool busy, struct examination *it, audit_judge *judge,
                void *with) {
    struct page page = {.source = source};
    struct each each = {judge, with};
    bool read;
    while ((read = page_examine(&page, busy, it, &each)) && page.count > 0) {
    }
    if (!read && page.damaged)
        examine_found(it, "goal", "", "%s", page.trouble);
    else if (!read && it->verdict == EXAMINE_SOUND)
        examine_verdict_set(it, EXAMINE_AWAY, "%s", page.trouble);
    arena_free(&page.arena);
    return read;
}

static void goal_report(void *with, const struct audit *audit, const struct goal *goal,
                        const char *wrong) {
    (void)goal;
    if (wrong)
        examine_found_goal(with, "goal", audit->goal, wrong);
}

void examine_goals(struct audit_source *source, bool busy, struct examination *it) {
    audit_each(source, busy, it, goal_report, it);
}

/* ---- the log alone ---- */

static const char *chain_wrong(const struct audit *audit, const struct goal_loaded *loaded) {
    if (audit->broken || id_equal(audit->goal, SYSTEM_GOAL))
        return audit->broken;
    if (!loaded->exists)
        return "its goal is missing";
    if (loaded->goal.records.seq != audit->seq ||
        !hash_equal(&loaded->goal.records.head, &audit->head))
        return "the head of its goal is not the end of the chain";
    return NULL;
}

static bool page_verify(struct page *page, const struct log_visitor *visitor,
                        struct log_report *ret) {
    for (uint32_t i = 0; i < page->count; i++) {
        struct audit audit;
        audit_begin(&audit, page->ids[i]);
        audit.visitor = visitor;
        if (!page->source->records(page->source, page->ids[i], &audit))
            return page_failed(page);
        const char *wrong = chain_wrong(&audit, &page->loaded[i]);
        ret->goals += !id_equal(audit.goal, SYSTEM_GOAL); /* the store's own chain is not a goal */
        ret->records += audit.records;
        ret->broken += wrong != NULL;
        visitor->chain(visitor->with, &audit, wrong);
    }
    return true;
}

void audit_chains(struct audit_source *source, const struct log_visitor *visitor,
                  struct log_report *ret) {
    struct page page = {.source = source};
    bool read;
    while ((read = page_next_chains(&page)) && page.count > 0 &&
           (read = page_verify(&page, visitor, ret))) {
    }
    ret->failed = !read;
    if (!read)
        snprintf(ret->why, sizeof ret->why, "%s", page.trouble);
    arena_free(&page.arena);
}
