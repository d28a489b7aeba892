/* SPDX-License-Identifier: Apache-2.0 */
/* The list of kinds of channels. The line of a kind here is all that it needs beside its file in channels/, which defines the
 * function that begins a send. */
#pragma once

/* What a channel of a kind needs in the settings, and what is owed to it. */
enum {
    NEEDS_URL = 1,
    NEEDS_REPO = 2,
    NEEDS_TOKEN = 4,
    NEEDS_COMMAND = 8,
    NEEDS_ADDRESS = 16, /* a url, or a file with it */
    NEEDS_TO = 32,
    WANTS_END = 64 /* what it has opened has to be closed, or at least notified */
};

/* CHANNEL(number, constant, name in the settings, sort, NEEDS_… and WANTS_END, name for people, function).
 * Numbers are stored: never change or reuse one; a new kind has the next. */
#define CHANNEL_LIST(CHANNEL) \
    CHANNEL(0, DESKTOP, "desktop", SORT_DESKTOP, 0, "the desktop", desktop_begin) \
    CHANNEL(1, GITEA, "gitea", SORT_TRACKER, NEEDS_URL | NEEDS_REPO | NEEDS_TOKEN | WANTS_END, \
            "Gitea", tracker_begin) /* also Forgejo */ \
    CHANNEL(2, GITHUB, "github", SORT_TRACKER, NEEDS_REPO | NEEDS_TOKEN | WANTS_END, "GitHub", \
            tracker_begin) \
    CHANNEL(3, GITLAB, "gitlab", SORT_TRACKER, NEEDS_REPO | NEEDS_TOKEN | WANTS_END, "GitLab", \
            tracker_begin) \
    CHANNEL(4, WEBHOOK, "webhook", SORT_HOOK, NEEDS_URL, "the webhook", webhook_begin) \
    CHANNEL(5, SLACK, "slack", SORT_HOOK, NEEDS_ADDRESS, "Slack", slack_begin) \
    CHANNEL(6, DISCORD, "discord", SORT_HOOK, NEEDS_ADDRESS, "Discord", discord_begin) \
    CHANNEL(7, PAGERDUTY, "pagerduty", SORT_HOOK, NEEDS_TOKEN | WANTS_END, "PagerDuty", \
            pagerduty_begin) \
    CHANNEL(8, NTFY, "ntfy", SORT_HOOK, NEEDS_URL | NEEDS_TO, "ntfy", ntfy_begin) \
    CHANNEL(9, COMMAND, "command", SORT_HOOK, NEEDS_COMMAND, "the command", command_begin)

#define CHANNEL_NUMBERED(number, constant, ...) CHANNEL_##constant = (number),
#define CHANNEL_COUNTED(...) +1
enum channel_kind {
    CHANNEL_LIST(CHANNEL_NUMBERED) CHANNEL_KINDS = 0 CHANNEL_LIST(CHANNEL_COUNTED)
};
#undef CHANNEL_NUMBERED
#undef CHANNEL_COUNTED
