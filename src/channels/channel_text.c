/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the notice texts that several services share. */
#include "channels/channel_state.h"

#include <stdio.h>

void text_goal(const struct notice *notice, char text[5 + ID_TEXT + 1]) {
    memcpy(text, "goal_", 5);
    id_format(notice->goal, text + 5);
}

static bool has_goal(const struct notice *notice) {
    static const struct id NONE = {{0}};
    return !id_equal(notice->goal, NONE);
}

/* ESCALATE-06: the level is in the title. */
void text_title(struct words *words, enum markup markup, const struct notice *notice, size_t most) {
    size_t from = words->len;
    if (notice->question.len > 0)
        words_format(words, "%.*s ", STR_ARG(str_cut(notice->question, LIMIT_NODE_ID)));
    words_format(words, "%s%s: ", name_of(&ALARM_NAMES, notice->alarm),
                 notice->kind == NOTICE_ALERT      ? ""
                 : notice->kind == NOTICE_QUESTION ? " question"
                 : notice->kind == NOTICE_APPROVAL ? " approval"
                 : notice->kind == NOTICE_RESOLVED ? ", resolved"
                                                   : " test");
    size_t used = words->len - from;
    words_escape_line(words, markup, notice->title, most > used ? most - used : 0);
}

static void fact(struct words *words, enum markup markup, const char *name, struct str value,
                 const char *line_end) {
    if (value.len == 0)
        return;
    words_format(words, "%s: ", name);
    words_escape_line(words, markup, value, LIMIT_TITLE);
    words_add(words, str_of(line_end));
}

/* Goal, task, node and iteration, one per line. */
void text_facts(struct words *words, enum markup markup, const struct notice *notice,
                const char *line_end) {
    char goal[5 + ID_TEXT + 1], number[16];
    text_goal(notice, goal);
    if (has_goal(notice))
        words_format(words, "goal: %s%s", goal, line_end);
    fact(words, markup, "task", notice->task, line_end);
    fact(words, markup, "node", notice->node, line_end);
    snprintf(number, sizeof number, "%u", notice->iteration);
    if (notice->iteration > 0)
        fact(words, markup, "iteration", str_of(number), line_end);
    snprintf(number, sizeof number, "%u", notice->attempt.times);
    if (notice->attempt.times > 0)
        fact(words, markup, "sent before, times", str_of(number), line_end);
}

/* ESCALATE-14: the possible answers, how to give one, and what happens without one. */
void text_question(struct words *words, enum markup markup, const struct notice *notice,
                   const char *before) {
    char at[TIME_TEXT + 1];
    for (uint32_t i = 0; i < notice->answers.options.count; i++) {
        words_format(words, "%s%c) ", before, (char)('a' + i % 26));
        words_escape_line(words, markup, notice->answers.options.at[i], LIMIT_CHOICE * 2);
        words_add(words, STR("\n"));
    }
    if (notice->question.len > 0 && notice->kind == NOTICE_QUESTION)
        words_format(words, "%sAnswer with: overseer answer %.*s %s\n", before,
                     STR_ARG(notice->question), notice->answers.options.count > 0 ? "a" : "\"…\"");
    if (notice->question.len > 0 && notice->kind == NOTICE_APPROVAL)
        words_format(words, "%sAnswer with: overseer approve %.*s, or overseer reject %.*s\n",
                     before, STR_ARG(notice->question), STR_ARG(notice->question));
    if (notice->answers.expires_at == 0)
        return;
    time_format(notice->answers.expires_at, at);
    words_format(words, "%sWithout an answer by %s: ", before, at);
    words_escape_line(words, markup,
                      notice->answers.fallback.len > 0 ? notice->answers.fallback
                                                       : STR("it stays as it is"),
                      LIMIT_CHOICE * 2);
    words_add(words, STR("\n"));
}

/* ---- an issue: ESCALATE-08 ---- */

static void line(struct words *words, const char *name, struct str value) {
    words_format(words, "- %s: ", name);
    words_escape_line(words, MARKUP_MARKDOWN, value.len > 0 ? value : STR("none"),
                      LIMIT_NOTICE_TEXT);
    words_add(words, STR("\n"));
}

static void number_line(struct words *words, const char *name, uint32_t number) {
    words_format(words, "- %s: %u\n", name, number);
}

/* Uses a code fence that is longer than any run of backticks in the text. */
static void fenced(struct words *words, struct str text) {
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.at[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        words_add(words, STR("`"));
    words_add(words, STR("json\n"));
    words_escape(words, MARKUP_NONE, text, LIMIT_PROSE);
    words_add(words, STR("\n"));
    for (size_t i = 0; i <= longest; i++)
        words_add(words, STR("`"));
    words_add(words, STR("\n"));
}

static void issue_head(struct words *words, const struct notice *notice) {
    char goal[5 + ID_TEXT + 1], at[TIME_TEXT + 1];
    text_goal(notice, goal);
    time_format(notice->at, at);
    line(words, "Loop", has_goal(notice) ? str_of(goal) : STR(""));
    line(words, "Task", notice->task);
    if (notice->node.len > 0)
        line(words, "Node", notice->node);
    if (notice->assignment.len > 0)
        line(words, "Assignment", notice->assignment);
    number_line(words, "Iteration", notice->iteration);
    line(words, "Time", str_of(at));
    if (notice->attempt.times > 0)
        number_line(words, "Sent before, times", notice->attempt.times);
    if (notice->url.len > 0)
        line(words, "More", notice->url);
}

static void issue_words(struct words *words, const struct notice *notice) {
    words_add(words, STR("\n### Issue\n\n"));
    words_escape(words, MARKUP_MARKDOWN, notice->text.len > 0 ? notice->text : notice->title,
                 2 * LIMIT_PROSE);
    words_add(words, STR("\n"));
    if (notice->reason.len > 0) {
        words_add(words, STR("\n"));
        line(words, "Reason", notice->reason);
    }
    if (notice->question.len == 0 && notice->answers.options.count == 0)
        return;
    words_format(words, "\n### Question %.*s\n\n", STR_ARG(notice->question));
    text_question(words, MARKUP_MARKDOWN, notice, "- ");
}

static void issue_findings(struct words *words, const struct notice *notice) {
    words_add(words, STR("\n### Detection\n\n"));
    line(words, "Type", notice->detection.type);
    line(words, "Severity", notice->detection.severity);
    line(words, "Message", notice->detection.message);
    words_add(words, STR("\n### Evidence\n\n"));
    fenced(words, notice->evidence.len > 0 ? notice->evidence : STR("{}"));
    words_add(words, STR("\n### Recommendations\n\n"));
    for (uint32_t i = 0; i < notice->recommendations.count; i++) {
        words_format(words, "%u. ", i + 1);
        words_escape_line(words, MARKUP_MARKDOWN, notice->recommendations.at[i], LIMIT_LINE);
        words_add(words, STR("\n"));
    }
    if (notice->recommendations.count == 0)
        words_add(words, STR("none\n"));
    words_add(words, STR("\n### Intervention\n\n"));
    line(words, "Level", notice->intervention.level);
    line(words, "Reason", notice->intervention.reason);
}

void text_issue(struct words *words, const struct notice *notice) {
    issue_head(words, notice);
    issue_words(words, notice);
    if (notice->kind == NOTICE_RESOLVED)
        return;
    issue_findings(words, notice);
    words_add(words, STR("\n### Required actions\n\n"
                         "- [ ] Review the state\n"
                         "- [ ] Decide whether to continue or to abort\n"
                         "- [ ] Give guidance\n"));
}

/* ---- JSON: ESCALATE-11 ---- */

static void json_texts(struct words *words, const char *name, const struct texts *texts) {
    out_begin(words, name, '[');
    for (uint32_t i = 0; i < texts->count; i++)
        out_text(words, NULL, texts->at[i]);
    out_end(words, ']');
}

static void json_context(struct words *words, const struct notice *notice) {
    char goal[5 + ID_TEXT + 1];
    text_goal(notice, goal);
    out_begin(words, "context", '{');
    out_text(words, "loopId", has_goal(notice) ? str_of(goal) : STR(""));
    out_text(words, "taskDescription", notice->task);
    out_number(words, "iterationNumber", notice->iteration);
    out_text(words, "reason", notice->reason);
    out_begin(words, "detection", '{');
    out_text(words, "type", notice->detection.type);
    out_text(words, "severity", notice->detection.severity);
    out_text(words, "message", notice->detection.message);
    out_end(words, '}');
    out_begin(words, "intervention", '{');
    out_text(words, "level", notice->intervention.level);
    out_text(words, "reason", notice->intervention.reason);
    out_end(words, '}');
    out_text(words, "nodeId", notice->node);
    out_text(words, "assignmentId", notice->assignment);
    out_text(words, "rule", notice->rule);
    out_end(words, '}');
}

static void json_question(struct words *words, const struct notice *notice) {
    if (notice->question.len == 0)
        return;
    out_begin(words, "question", '{');
    out_text(words, "id", notice->question);
    json_texts(words, "options", &notice->answers.options);
    out_text(words, "fallback", notice->answers.fallback);
    if (notice->answers.expires_at > 0)
        out_time(words, "expiresAt", notice->answers.expires_at);
    out_end(words, '}');
}

/* Evidence that is not JSON becomes a JSON string. */
static void json_evidence(struct words *words, struct str evidence) {
    json_t *read = json_loadb(evidence.at ? evidence.at : "", evidence.len,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (read)
        out_raw(words, "evidence", evidence);
    else
        out_text(words, "evidence", evidence);
    json_decref(read);
}

void text_json(struct words *words, const struct notice *notice) {
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    out_begin(words, NULL, '{');
    out_text(words, "id", str_of(id));
    out_text(words, "kind", str_of(name_of(&NOTICE_KIND_NAMES, notice->kind)));
    out_text(words, "level", str_of(name_of(&ALARM_NAMES, notice->alarm)));
    out_time(words, "timestamp", notice->at);
    out_text(words, "title", notice->title);
    out_text(words, "text", notice->text);
    out_text(words, "cause", notice->cause);
    out_number(words, "times", notice->attempt.times);
    json_context(words, notice);
    json_question(words, notice);
    if (notice->evidence.len > 0)
        json_evidence(words, notice->evidence);
    json_texts(words, "recommendations", &notice->recommendations);
    out_begin(words, "origin", '{');
    out_text(words, "channel", notice->origin.channel);
    out_text(words, "to", notice->origin.to);
    out_text(words, "thread", notice->origin.thread);
    out_text(words, "account", notice->origin.account);
    out_end(words, '}');
    out_text(words, "url", notice->url);
    out_end(words, '}');
}
