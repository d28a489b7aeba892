/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/words/agent_completion.h"

#include "core/people/words.h"
#include "ops/agent_report.h"
#include "ops/json.h"
#include "runs/words/fence.h"

#include <strings.h>

/* ---- finding the report ---- */

static bool is_line(struct str line, const char *text) {
    struct str at = str_trimmed(line);
    return at.len == strlen(text) && strncasecmp(at.at, text, at.len) == 0;
}

/* The last report counts: each later one replaces *ret. */
static bool report_find(struct str reply, struct str *ret) {
    struct fence fence = {0};
    const char *begins = NULL;
    bool inside = false, found = false;
    while (reply.len > 0) {
        struct str line = str_line_take(&reply);
        if (inside) {
            inside = !fence_closes(&fence, line);
        } else if (fence_read(line, &fence)) {
            inside = true;
            begins = NULL;
        } else if (is_line(line, WORDS_REPORT_BEGINS)) {
            begins = reply.at;
        } else if (begins && is_line(line, WORDS_REPORT_ENDS)) {
            *ret = (struct str){begins, (size_t)(line.at - begins)};
            found = true;
            begins = NULL;
        }
    }
    return found;
}

/* ---- parsing it ---- */

enum section {
    SECTION_OTHER,
    SECTION_STATUS,
    SECTION_CONFIDENCE,
    SECTION_SUMMARY,
    SECTION_ARTIFACTS,
    SECTION_BLOCKERS,
    SECTION_WARNINGS,
    SECTION_COUNT
};
static const char *const SECTION_NAME[SECTION_COUNT] = {
    "", "status", "confidence", "summary", "artifacts", "blockers", "warnings"};

struct reading {
    struct arena *arena;
    enum section section;
    bool broken; /* found a word other than the agreed ones */
    uint32_t completion, confidence;
    struct writer summary;
    struct str blockers[LIMIT_LINES], warnings[LIMIT_LINES];
    struct artifact_claim artifacts[LIMIT_LINES];
    uint32_t blocker_count, warning_count, artifact_count;
};

static enum section section_named(struct str line, struct str *ret_rest) {
    for (enum section section = SECTION_STATUS; section < SECTION_COUNT; section++) {
        size_t len = strlen(SECTION_NAME[section]);
        if (line.len > len && line.at[len] == ':' &&
            strncasecmp(line.at, SECTION_NAME[section], len) == 0) {
            *ret_rest = str_trimmed((struct str){line.at + len + 1, line.len - len - 1});
            return section;
        }
    }
    return SECTION_OTHER;
}

static void word_take(struct reading *r, const struct names *names, struct str word,
                      uint32_t *ret) {
    for (uint32_t i = 0; i < names->count; i++)
        if (is_line(word, name_of(names, i))) {
            *ret = i + 1;
            return;
        }
    r->broken = true;
}

static struct artifact_claim artifact_of(struct str text) {
    const char *colon = memmem(text.at, text.len, ": ", 2);
    size_t len = colon ? (size_t)(colon - text.at) : text.len;
    struct str rest = {text.at + len, text.len - len};
    if (colon)
        rest = str_trimmed((struct str){rest.at + 1, rest.len - 1});
    return (struct artifact_claim){str_cut_utf8((struct str){text.at, len}, LIMIT_NAME),
                                   str_cut_utf8(rest, LIMIT_LINE)};
}

static void entry_take(struct reading *r, struct str text) {
    struct str cut = str_cut_utf8(text, LIMIT_LINE);
    if (r->section == SECTION_ARTIFACTS && r->artifact_count < LIMIT_LINES)
        r->artifacts[r->artifact_count++] = artifact_of(text);
    if (r->section == SECTION_BLOCKERS && r->blocker_count < LIMIT_LINES)
        r->blockers[r->blocker_count++] = cut;
    if (r->section == SECTION_WARNINGS && r->warning_count < LIMIT_LINES)
        r->warnings[r->warning_count++] = cut;
}

static void summary_add(struct reading *r, struct str text) {
    if (r->summary.len > 0)
        write_byte(&r->summary, '\n');
    write_raw(&r->summary, text);
}

static void line_read(struct reading *r, struct str line) {
    struct str rest = {0};
    enum section section = section_named(line, &rest);
    if (section != SECTION_OTHER)
        r->section = section;
    else
        rest = line;
    bool entry = rest.len > 2 && rest.at[0] == '-' && rest.at[1] == ' ';
    if (rest.len == 0)
        return;
    if (r->section == SECTION_SUMMARY)
        summary_add(r, rest);
    else if (section == SECTION_STATUS)
        word_take(r, &COMPLETION_NAMES, rest, &r->completion);
    else if (section == SECTION_CONFIDENCE)
        word_take(r, &CONFIDENCE_NAMES, rest, &r->confidence);
    else if (entry && !words_is_placeholder((struct str){rest.at + 2, rest.len - 2}))
        entry_take(r, str_trimmed((struct str){rest.at + 2, rest.len - 2}));
}

/* The results live in the same arena as the update. */
static void report_take(struct reading *r, bool beside, struct update *update) {
    if (!beside) {
        *update = (struct update){
            .summary = str_cut_utf8((struct str){r->summary.at, r->summary.len}, LIMIT_PROSE)};
        update->blockers = (struct texts){r->blockers, r->blocker_count};
    }
    update->completion = r->completion ? r->completion : COMPLETION_COMPLETE + 1;
    update->confidence = r->confidence;
    update->artifacts = (struct rows){r->artifacts, r->artifact_count};
    update->warnings = (struct texts){r->warnings, r->warning_count};
    if (!beside)
        completion_follow(update, r->arena);
}

bool completion_read(struct str reply, bool beside, struct arena *arena, struct update *update) {
    struct str report;
    if (!report_find(reply, &report) || !str_is_text(report))
        return false;
    struct reading *r = arena_new(arena, struct reading, 1);
    *r = (struct reading){.arena = arena, .summary.arena = arena};
    while (report.len > 0)
        line_read(r, str_trimmed(str_line_take(&report)));
    if (r->broken || r->summary.len == 0)
        return false;
    report_take(r, beside, update);
    return true;
}

/* ---- what follows ---- */
