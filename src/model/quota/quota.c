/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a quota report. */
#include "model/quota/quota.h"

#include "base/time.h"

static const char *const STATUS[QUOTA_STATUSES] = {"unknown", "allowed", "warning", "rejected"};
const struct names QUOTA_STATUS_NAMES = NAMES_OF(STATUS);

#define F(text, kind, n, of, member, most) \
    { (text), (kind), (n), FIELD_OF(of, member), (most), 0, NULL, NULL, 0, NULL }

static const struct field WINDOW_FIELDS[] = {
    F("kind", FIELD_NAME, 1, quota_window, kind, LIMIT_QUOTA_KIND),
    F("used", FIELD_U32, 2, quota_window, used, 0),
    F("resetsAt", FIELD_TIME, 3, quota_window, resets_at, 0),
    {.name = "status",
     .type = FIELD_U32,
     .number = 4,
     .offset = FIELD_OF(quota_window, status),
     .most = QUOTA_STATUSES},
};
static const struct shape WINDOW = SHAPE_OF(quota_window, "quotaWindow", 1, WINDOW_FIELDS);

static const struct field QUOTA_FIELDS[] = {
    F("account", FIELD_NAME, 1, quota, account, LIMIT_AGENT),
    {.name = "windows",
     .type = FIELD_PLACES,
     .number = 2,
     .offset = FIELD_OF(quota, windows),
     .most = LIMIT_QUOTA_WINDOWS,
     .of = &WINDOW},
    {.name = "overage",
     .type = FIELD_U32,
     .number = 3,
     .offset = FIELD_OF(quota, overage),
     .most = OVERAGE_SEEN_COUNT},
    F("overageUntil", FIELD_TIME, 4, quota, overage_until, 0),
    F("inFlight", FIELD_U32, 5, quota, in_flight, 0),
};
const struct shape QUOTA = SHAPE_OF(quota, "quota", 1, QUOTA_FIELDS);

struct quota_window *quota_window_at(struct quota *quota, struct str kind) {
    for (uint32_t i = 0; i < LIMIT_QUOTA_WINDOWS; i++) {
        struct quota_window *window = &quota->windows[i];
        if (window->kind[0] && !str_equal(str_of(window->kind), kind))
            continue;
        if (!window->kind[0] && (kind.len == 0 || kind.len > LIMIT_QUOTA_KIND))
            return NULL;
        if (!window->kind[0])
            memcpy(window->kind, kind.at, kind.len);
        return window;
    }
    return NULL;
}

bool quota_is_empty(const struct quota *quota) {
    return !quota->windows[0].kind[0] && quota->overage == OVERAGE_NOT_SEEN;
}

int64_t quota_length(const char *kind) {
    int64_t count = 0;
    for (; *kind >= '0' && *kind <= '9' && count < 10000; kind++)
        count = 10 * count + (*kind - '0');
    if (kind[0] == 0 || (kind[1] && kind[1] != '-'))
        return 0;
    return *kind == 'd'   ? count * SECONDS(86400)
           : *kind == 'h' ? count * SECONDS(3600)
           : *kind == 'm' ? count * MINUTES(1)
                          : 0;
}
