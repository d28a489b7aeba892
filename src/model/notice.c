/* SPDX-License-Identifier: Apache-2.0 */
#include "model/notice.h"

#include "model/channel_list.h"

static const char *const ALARM[ALARMS] = {"info", "warning", "critical", "emergency"};
const struct names ALARM_NAMES = NAMES_OF(ALARM);
static const char *const LEAST[] = {"usual", "info", "warning", "critical", "emergency"};
const struct names LEAST_NAMES = NAMES_OF(LEAST);
static const char *const KIND[NOTICE_KINDS] = {"alert", "question", "approval", "resolved", "test"};
const struct names NOTICE_KIND_NAMES = NAMES_OF(KIND);

#define F(name, type, number, member, cap, text) \
    { name, type, number, FIELD_OF(notice, member), cap, 0, NULL, text, 0, NULL }
#define T(name, number, member, cap, text) \
    { name, FIELD_TEXT, number, FIELD_OF(notice, member), cap, FIELD_CUT, NULL, text, 0, NULL }
#define E(name, number, member, names, text) \
    { name, FIELD_ENUM, number, FIELD_OF(notice, member), 0, 0, names, text, 0, NULL }
#define L(name, number, member, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(notice, member), LIMIT_CHOICE, FIELD_CUT, NULL, text, \
            LIMIT_CHOICES, NULL \
    }

static const struct field FIELDS[] = {
    F("id", FIELD_ID, 1, id, 0, "id of this message, the same in all attempts"),
    F("goal", FIELD_ID, 2, goal, 0, "id of the goal"),
    F("channel", FIELD_TEXT, 3, channel, LIMIT_AGENT, "configured channel that sends it"),
    E("alarm", 4, alarm, &ALARM_NAMES, "how urgent it is"),
    E("kind", 5, kind, &NOTICE_KIND_NAMES, "kind of notice"),
    F("question", FIELD_TEXT, 6, question, LIMIT_QUESTION_NAME, "short id of a question"),
    F("cause", FIELD_TEXT, 7, cause, LIMIT_CAUSE,
      "de-duplication key: the same cause is the same problem"),
    T("title", 8, title, LIMIT_TITLE, "title, in one line"),
    T("text", 9, text, LIMIT_NOTICE_TEXT, "full text"),
    T("task", 10, task, LIMIT_TITLE, "what is being worked on"),
    L("options", 11, answers.options, "answers to choose from"),
    F("fallback", FIELD_TEXT, 12, answers.fallback, LIMIT_CHOICE,
      "answer that counts if none is given"),
    F("expiresAt", FIELD_TIME, 13, answers.expires_at, 0,
      "time at which the fallback counts; 0: never"),
    F("node", FIELD_TEXT, 14, node, LIMIT_NODE_ID, "id of the node"),
    F("assignmentId", FIELD_TEXT, 15, assignment, LIMIT_TAG, "id of the assignment"),
    F("iteration", FIELD_U32, 16, iteration, 0, "number of the iteration"),
    F("rule", FIELD_TEXT, 17, rule, LIMIT_TAG, "the rule that decided"),
    T("reason", 18, reason, LIMIT_REASON, "the reason"),
    F("detectionType", FIELD_TEXT, 19, detection.type, LIMIT_TAG, "what was detected"),
    F("detectionSeverity", FIELD_TEXT, 20, detection.severity, LIMIT_TAG,
      "severity of what was detected"),
    T("detectionMessage", 21, detection.message, LIMIT_REASON, "what was detected, in words"),
    F("evidence", FIELD_TEXT, 22, evidence, LIMIT_RECORD_BODY, "evidence, as JSON"),
    L("recommendations", 23, recommendations, "recommended actions"),
    F("interventionLevel", FIELD_TEXT, 24, intervention.level, LIMIT_TAG,
      "level of the intervention"),
    T("interventionReason", 25, intervention.reason, LIMIT_REASON, "reason for the intervention"),
    F("at", FIELD_TIME, 26, at, 0, "time of the notice"),
    F("times", FIELD_U32, 27, attempt.times, 0, "how often this cause was reported before"),
    F("earlier", FIELD_TEXT, 28, attempt.earlier, LIMIT_REFERENCE,
      "reference of an earlier message on this channel that is still open"),
    F("unsure", FIELD_FLAG, 29, attempt.unsure, 0,
      "whether an earlier attempt has an unknown outcome"),
    F("originChannel", FIELD_TEXT, 30, origin.channel, LIMIT_TAG,
      "channel that the goal came from"),
    F("originTo", FIELD_TEXT, 31, origin.to, LIMIT_NAME, "recipient on that channel"),
    F("originThread", FIELD_TEXT, 32, origin.thread, LIMIT_KEY, "thread on that channel"),
    F("originAccount", FIELD_TEXT, 33, origin.account, LIMIT_KEY, "account on that channel"),
    F("url", FIELD_TEXT, 34, url, LIMIT_URL, "URL where a person can read more"),
};
const struct shape NOTICE = SHAPE_OF(notice, "notice", 1, FIELDS);

/* Texts and lists at their caps, plus 16 bytes for each field's tag, length or number. */
_Static_assert(2 * LIMIT_TITLE + LIMIT_NOTICE_TEXT + 2 * LIMIT_CHOICES * (LIMIT_CHOICE + 2) +
                       LIMIT_CHOICE + LIMIT_CAUSE + LIMIT_RECORD_BODY + 3 * LIMIT_REASON +
                       LIMIT_NAME + LIMIT_REFERENCE + 2 * LIMIT_KEY + 7 * LIMIT_TAG +
                       2 * LIMIT_NODE_ID + LIMIT_URL + 18 * (int)count_of(FIELDS) <=
                   LIMIT_NOTICE,
               "a notice fits into an effect");

/* ---- channels ---- */

#define CHANNEL_ROW(number, constant, name, sort, needs, ...) [number] = {name, sort, needs},
static const struct channel_row {
    const char *name;
    enum channel_sort sort;
    int needs;
} CHANNELS[CHANNEL_KINDS] = {CHANNEL_LIST(CHANNEL_ROW)};
const struct names CHANNEL_KIND_NAMES = NAMES_OF(CHANNELS);

enum channel_sort channel_sort(uint32_t kind) {
    must(kind < CHANNEL_KINDS);
    return CHANNELS[kind].sort;
}

bool channel_wants_end(uint32_t kind) {
    must(kind < CHANNEL_KINDS);
    return CHANNELS[kind].needs & WANTS_END;
}

bool alarm_reaches(enum alarm alarm, uint32_t kind) {
    static const enum alarm FROM[] = {[SORT_DESKTOP] = ALARM_INFO,
                                      [SORT_TRACKER] = ALARM_CRITICAL,
                                      [SORT_HOOK] = ALARM_EMERGENCY};
    return alarm >= FROM[channel_sort(kind)];
}

static bool begins(struct str text, struct str with) {
    return text.len > with.len && memcmp(text.at, with.at, with.len) == 0;
}

static struct str after(struct str text, size_t len) {
    return (struct str){text.at + len, text.len - len};
}

/* The host of a URL without user info; empty: there is none. */
static struct str url_host(struct str rest) {
    size_t len = 0;
    bool bracket = rest.len > 0 && rest.at[0] == '[';
    while (len < rest.len && !strchr(bracket ? "]/?#@" : ":/?#@", rest.at[len]))
        len++;
    return len < rest.len && rest.at[len] == '@' ? STR("") : str_cut(rest, len + bracket);
}

static bool host_is_here(struct str host) {
    return str_equal(host, STR("localhost")) || str_equal(host, STR("127.0.0.1")) ||
           str_equal(host, STR("[::1]"));
}

/* Tokens and questions must not be readable in transit: plain HTTP is allowed only to this machine, or where the
 * operator insists. */
static const char *url_broken(const struct channel *channel) {
    struct str url = channel->url, https = STR("https://"), http = STR("http://");
    if (begins(url, https))
        return url_host(after(url, https.len)).len > 0 ? NULL : "has a \"url\" without a host";
    if (!begins(url, http) || url_host(after(url, http.len)).len == 0)
        return "has a \"url\" that is not an http or https URL";
    if (channel->insecure || host_is_here(url_host(after(url, http.len))))
        return NULL;
    return "has a \"url\" without TLS: https://, or \"insecure = true\"";
}

const char *channel_broken(const struct channel *channel) {
    int needs = CHANNELS[channel->kind].needs;
    if (channel->id.len == 0 || channel->id.len > LIMIT_AGENT)
        return "must have an \"id\" of at most 63 bytes";
    if (needs & NEEDS_URL && channel->url.len == 0)
        return "needs \"url\"";
    if (channel->url.len > 0 && url_broken(channel))
        return url_broken(channel);
    if (needs & NEEDS_REPO && channel->repo.len == 0)
        return "needs \"repo\"";
    if (needs & NEEDS_TOKEN && channel->token_path.len == 0)
        return "needs \"token_path\"";
    if (needs & NEEDS_ADDRESS && channel->url.len == 0 && channel->token_path.len == 0)
        return "needs \"url\", or \"token_path\", a file that contains the URL";
    if (needs & NEEDS_TO && channel->to.len == 0)
        return "needs \"to\", the topic";
    if (needs & NEEDS_COMMAND && channel->command.len == 0)
        return "needs \"command\"";
    return NULL;
}
