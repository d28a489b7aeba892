/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an agent may use a tool. Tools that are allowed or denied by name are answered at once, our own tools
 * are always allowed, and so is every other one in a sandboxed run without lists. The rest is put before a person: one
 * question at a time, in the order of arrival. */
#include "runs/run.h"

/* SCOPE-02: the prefixes that agents give to tools of the server that every run has. */
static bool tool_is_ours(struct str tool) {
    static const char *const HEADS[] = {"mcp__overseer__", "mcp_overseer_", "overseer__",
                                        "overseer_"};
    for (size_t i = 0; i < count_of(HEADS); i++)
        if (str_begins(tool, str_of(HEADS[i])))
            return true;
    return false;
}

/* A question of the agent to its user, in the form of a tool. */
static bool tool_asks_user(struct str tool) {
    return str_equal(tool, STR("AskUserQuestion"));
}

/* Without a person, every tool gets an answer. If there are lists, a tool that gives no name is not allowed. */
static enum drive_answer answer_alone(const struct drive_spec *spec,
                                      const struct drive_event *event) {
    bool unlisted = !spec->allow_given && (event->named || spec->deny_count == 0);
    return unlisted && !(event->named && tool_asks_user(event->text)) ? DRIVE_ALLOW : DRIVE_REJECT;
}

/* Only a name that the agent itself gave is compared with the lists: a title is derived from what it wants to do. */
bool ask_by_policy(const struct drive_spec *spec, const struct drive_event *event,
                   enum drive_answer *ret) {
    bool denied = event->named && str_is_among(event->text, spec->deny, spec->deny_count);
    bool listed = event->named && (tool_is_ours(event->text) ||
                                   str_is_among(event->text, spec->allow, spec->allow_count));
    if (denied || listed)
        *ret = denied ? DRIVE_REJECT : DRIVE_ALLOW;
    else if (event->tool && !spec->person)
        *ret = answer_alone(spec, event);
    else
        return false;
    return true;
}

/* ---- requests that wait for a person ---- */

/* false: the list is full. */
bool asks_add(struct run_asks *asks, const struct drive_event *event) {
    if (asks->count == count_of(asks->at) || event->ask.len >= sizeof asks->at[0].id)
        return false;
    struct run_ask *ask = &asks->at[asks->count++];
    struct str detail = str_cut_utf8(event->detail, RUN_ASK_TEXT / 2);
    *ask = (struct run_ask){.offset = event->offset};
    snprintf(ask->id, sizeof ask->id, "%.*s", STR_ARG(event->ask));
    snprintf(ask->text, sizeof ask->text, "It wants to use %.*s: %.*s",
             STR_ARG(str_cut_utf8(event->text, RUN_ASK_TEXT / 4)), STR_ARG(detail));
    return true;
}

const struct run_ask *asks_first(const struct run_asks *asks) {
    return asks->count ? &asks->at[0] : NULL;
}

void asks_drop_first(struct run_asks *asks) {
    must(asks->count > 0);
    asks->count--;
    memmove(&asks->at[0], &asks->at[1], asks->count * sizeof asks->at[0]);
}

/* ---- sending a text ---- */

/* The turn that asks for permission would have to end first, and it ends only after the answer, unless it is
 * interrupted. */
bool run_waits_for_yes(const struct run *run) {
    const struct effect *effect = &run->sending->effect;
    bool breaks = effect->words == WORDS_NUDGE || effect->words == WORDS_AGAIN;
    return run->asks.count > 0 && effect->permits == PERMISSION_NONE && !breaks;
}
