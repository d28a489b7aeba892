/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the reports of Claude Code 2.1.325 and Codex 0.166.0. What they leave out stays unknown. */
#include "drivers/quota_read.h"

#include "drivers/drive.h"

enum { ALL = 10000, LINE_MOST = 65536 };
#define TIME_MOST 100000000000 /* seconds; a later time is no reset */

static uint32_t share_put(double share) { /* of 1 */
    if (!(share >= 0))
        return 0;
    return share >= 1 ? ALL + 1 : (uint32_t)(share * ALL + 0.5) + 1;
}

static int64_t reset_put(const json_t *seconds) {
    uint64_t at = drive_json_count(seconds);
    return at < TIME_MOST ? (int64_t)at * 1000000 : 0;
}

/* ---- Claude Code ---- */

static const struct {
    const char *type, *kind;
} CLAUDE_KINDS[] = {{"five_hour", "5h"},
                    {"seven_day", "7d"},
                    {"seven_day_opus", "7d-opus"},
                    {"seven_day_sonnet", "7d-sonnet"},
                    {"seven_day_overage_included", "7d-included"}};

/* A type of a newer build keeps its own name, if that is one word. Use of paid credits is no window. */
static struct str claude_kind(struct str type) {
    for (size_t i = 0; i < count_of(CLAUDE_KINDS); i++)
        if (str_equal(type, str_of(CLAUDE_KINDS[i].type)))
            return str_of(CLAUDE_KINDS[i].kind);
    bool word = type.len > 0 && type.len <= LIMIT_QUOTA_KIND && !str_equal(type, STR("overage"));
    for (size_t i = 0; i < type.len && word; i++)
        word = (type.at[i] >= 'a' && type.at[i] <= 'z') ||
               (type.at[i] >= '0' && type.at[i] <= '9') || type.at[i] == '_';
    return word ? type : (struct str){"", 0};
}

static enum quota_status claude_status(const json_t *status) {
    static const char *const NAMES[QUOTA_STATUSES] = {"", "allowed", "allowed_warning", "rejected"};
    for (uint32_t i = QUOTA_ALLOWED; i < QUOTA_STATUSES; i++)
        if (str_equal(drive_json_text(status), str_of(NAMES[i])))
            return (enum quota_status)i;
    return QUOTA_UNKNOWN;
}

static void claude_window(struct str type, const json_t *of, struct quota *ret) {
    struct str kind = claude_kind(type);
    const json_t *used = json_object_get(of, "utilization");
    struct quota_window *window = kind.len > 0 ? quota_window_at(ret, kind) : NULL;
    if (!window)
        return;
    enum quota_status status = claude_status(json_object_get(of, "status"));
    int64_t resets_at = reset_put(json_object_get(of, "resetsAt"));
    window->used = json_is_number(used) ? share_put(json_number_value(used)) : window->used;
    window->resets_at = resets_at ? resets_at : window->resets_at;
    window->status = status ? status : window->status;
}

/* `unifiedWindows` has every window; the members beside it are about the one that matters most. */
void quota_read_claude(const json_t *info, struct quota *ret) {
    const char *type;
    json_t *window;
    const json_t *uses = json_object_get(info, "isUsingOverage"),
                 *in_use = json_object_get(info, "overageInUse");
    *ret = (struct quota){.overage = OVERAGE_NOT_SEEN};
    json_object_foreach(json_object_get(info, "unifiedWindows"), type, window)
        claude_window(str_of(type), window, ret);
    claude_window(drive_json_text(json_object_get(info, "rateLimitType")), info, ret);
    if (json_is_true(uses) || json_is_true(in_use)) {
        ret->overage = OVERAGE_YES;
        ret->overage_until = reset_put(json_object_get(info, "resetsAt"));
    } else if (json_is_false(uses) || json_is_false(in_use))
        ret->overage = OVERAGE_NO;
}

/* ---- Codex ---- */

static struct str codex_kind(uint64_t minutes, char text[LIMIT_QUOTA_KIND + 1]) {
    int len = 0;
    if (minutes == 0 || minutes > 525600)
        return (struct str){"", 0};
    if (minutes % 1440 == 0)
        len = snprintf(text, LIMIT_QUOTA_KIND + 1, "%ud", (unsigned)(minutes / 1440));
    else if (minutes % 60 == 0)
        len = snprintf(text, LIMIT_QUOTA_KIND + 1, "%uh", (unsigned)(minutes / 60));
    else
        len = snprintf(text, LIMIT_QUOTA_KIND + 1, "%um", (unsigned)minutes);
    return (struct str){text, (size_t)len};
}

/* True: this window is used up. */
static bool codex_window(const json_t *of, struct quota *ret) {
    char text[LIMIT_QUOTA_KIND + 1];
    const json_t *used = json_object_get(of, "used_percent");
    struct str kind = codex_kind(drive_json_count(json_object_get(of, "window_minutes")), text);
    struct quota_window *window = kind.len > 0 ? quota_window_at(ret, kind) : NULL;
    if (!window)
        return false;
    window->used = json_is_number(used) ? share_put(json_number_value(used) / 100) : 0;
    window->resets_at = reset_put(json_object_get(of, "resets_at"));
    return window->used > ALL;
}

/* Codex does not say whether credits are in use. An answer after a window was used up, on an account with credits, is
 * the first sign that it has. */
static void codex_limits(const json_t *limits, struct quota *ret) {
    const json_t *credits = json_object_get(limits, "credits");
    bool first = codex_window(json_object_get(limits, "primary"), ret),
         second = codex_window(json_object_get(limits, "secondary"), ret);
    if (json_is_true(json_object_get(credits, "has_credits")) && (first || second)) {
        ret->overage = OVERAGE_YES;
        ret->overage_until =
            reset_put(drive_json_at(limits, first ? "primary.resets_at" : "secondary.resets_at"));
    } else
        ret->overage = OVERAGE_NO;
}

static bool codex_line(struct str line, struct quota *ret) {
    json_t *frame =
        line.len <= LINE_MOST && drive_has(line, "rate_limits") ? drive_json(line) : NULL;
    const json_t *limits = drive_json_at(frame, "payload.rate_limits");
    bool its =
        str_equal(drive_json_text(drive_json_at(frame, "payload.type")), STR("token_count")) &&
        json_is_object(limits);
    struct quota read = {.overage = OVERAGE_NOT_SEEN};
    if (its)
        codex_limits(limits, &read);
    json_decref(frame);
    its = its && read.windows[0].kind[0];
    if (its)
        *ret = read;
    return its;
}

bool quota_read_codex(struct str lines, struct quota *ret) {
    for (size_t end = lines.len, at = lines.len; end > 0; end = at) {
        at = end - 1;
        while (at > 0 && lines.at[at - 1] != '\n')
            at--;
        if (codex_line((struct str){lines.at + at, end - at}, ret))
            return true;
    }
    return false;
}
