/* SPDX-License-Identifier: Apache-2.0 */
/* Quota windows: what an agent program reports about the limits of its account. What is missing is unknown, never zero. */
#pragma once

#include "model/field.h"
#include "model/limits.h"

enum quota_status { QUOTA_UNKNOWN, QUOTA_ALLOWED, QUOTA_WARNING, QUOTA_REJECTED, QUOTA_STATUSES };

/* Is the account's paid extra usage in use? */
enum overage_seen { OVERAGE_NOT_SEEN, OVERAGE_NO, OVERAGE_YES, OVERAGE_SEEN_COUNT };

struct quota_window {
    char kind[LIMIT_QUOTA_KIND + 1]; /* 5h, 7d, or a name of the provider's */
    uint32_t used;                   /* per 10,000, plus 1; 0: unknown */
    int64_t resets_at;               /* 0: unknown */
    enum quota_status status;
};

/* One report about one account. */
struct quota {
    char account[LIMIT_AGENT + 1]; /* a driver does not know it */
    struct quota_window windows[LIMIT_QUOTA_WINDOWS];
    enum overage_seen overage;
    int64_t overage_until; /* when the included usage begins again; 0: unknown */
    uint32_t in_flight;    /* runs of the account with an open turn when it was reported */
};

extern const struct shape QUOTA;
extern const struct names QUOTA_STATUS_NAMES;

/* The window of this kind, or an unused place; NULL: there is no room. */
struct quota_window *quota_window_at(struct quota *quota, struct str kind);
/* Does the report say anything? */
bool quota_is_empty(const struct quota *quota);
/* Length of a window by its kind, such as 5h or 7d-opus; 0: unknown. */
int64_t quota_length(const char *kind);
