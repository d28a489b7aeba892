/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/reload.h"

#include "base/memory.h"
#include "config/config.h"
#include "engine/answer_cache.h"
#include "sys/crash_guard.h"
#include "sys/log.h"
#include "sys/redaction.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t holding =
    PTHREAD_MUTEX_INITIALIZER; /* guards the holder counts of settings */
static pthread_mutex_t reloading = PTHREAD_MUTEX_INITIALIZER; /* one reload at a time */

/* ---- holder counts ---- */

static void held(const struct settings *settings, bool more) {
    struct settings *counted = (struct settings *)(uintptr_t)settings;
    pthread_mutex_lock(&holding);
    counted->source.holders += more ? 1 : UINT32_MAX;
    bool last = counted->source.holders == 0;
    pthread_mutex_unlock(&holding);
    if (last)
        config_free(counted);
}

const struct settings *context_settings(struct daemon_context *context) {
    pthread_mutex_lock(&holding);
    struct settings *settings = (struct settings *)(uintptr_t)context->settings;
    settings->source.holders++;
    pthread_mutex_unlock(&holding);
    return settings;
}

void context_settings_drop(const struct settings *settings) {
    held(settings, false);
}

void context_settings_set(struct daemon_context *context, struct settings *settings) {
    pthread_mutex_lock(&holding);
    const struct settings *before = context->settings;
    settings->source.holders++;
    context->settings = settings;
    pthread_mutex_unlock(&holding);
    if (before)
        held(before, false);
}

/* ---- the policy ---- */

struct making {
    const struct settings *settings;
    struct arena arena;
    struct policy_kept *kept;
};

/* STORE-14: a command may contain a secret. */
static void making_run(void *with) {
    struct making *making = with;
    const struct settings *settings = making->settings;
    struct str text = redacted(settings_policy(settings, &making->arena), &making->arena);
    struct policy policy = settings_to_policy(settings, &making->arena);
    policy.hash = sha256(text);
    making->kept = policy_keep(&policy, text);
}

struct policy_kept *policy_of_settings(const struct settings *settings) {
    struct making making = {.settings = settings};
    struct crash_guard_report report;
    crash_guard_run(making_run, &making, &report);
    arena_free(&making.arena);
    return making.kept;
}

/* ---- changes ---- */

struct replacing {
    const struct settings *before;
    struct settings *after;
    struct arena arena; /* for `words` */
    struct writer words;
    json_t *changes;
};

static json_t *json_text(struct str text) {
    return json_stringn(text.at, text.len);
}

/* Settings that only a start reads keep their old value until then, and each reload reports them again. */
static void change_note(struct replacing *r, const struct setting *row) {
    bool now = !(row->flags & SETTING_AT_START);
    struct str from = setting_show(r->before, row, &r->arena),
               to = setting_show(r->after, row, &r->arena);
    json_array_append_new(r->changes, json_pack("{s:s, s:o, s:o, s:b}", "name", row->name, "from",
                                                json_text(from), "to", json_text(to), "now", now));
    struct str line = arena_format(&r->arena, "%s%s: %.*s -> %.*s%s", r->words.len ? "; " : "",
                                   row->name, STR_ARG(str_cut(from, 120)),
                                   STR_ARG(str_cut(to, 120)), now ? "" : " (at the next start)");
    write_raw(&r->words, line);
    if (now)
        return;
    setting_copy(r->after, r->before, row, &r->after->source.arena);
    r->after->source.origins[setting_place(row)] = r->before->source.origins[setting_place(row)];
}

static bool list_differs(const struct settings *a, const struct settings *b,
                         const struct setting_list *list) {
    bool same = list_count(a, list) == list_count(b, list);
    for (uint32_t i = 0; same && i < list_count(a, list); i++)
        for (size_t k = 0; same && k < list->count; k++)
            same = setting_equal(list_entry(a, list, i), list_entry(b, list, i), &list->rows[k]);
    return !same;
}

static void list_note(struct replacing *r, const struct setting_list *list) {
    if (!list_differs(r->before, r->after, list))
        return;
    json_array_append_new(r->changes, json_pack("{s:s, s:i, s:i, s:b}", "name", list->name, "from",
                                                (int)list_count(r->before, list), "to",
                                                (int)list_count(r->after, list), "now", true));
    write_raw(&r->words, arena_format(&r->arena, "%s%s", r->words.len ? "; " : "", list->name));
}

static void replacing_run(void *with) {
    struct replacing *r = with;
    r->words.arena = &r->arena;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (!setting_equal(r->before, r->after, &SETTINGS[i]))
            change_note(r, &SETTINGS[i]);
    for (size_t i = 0; i < SETTING_LISTS; i++)
        list_note(r, &SETTING_LIST[i]);
}

/* ---- reloading ---- */

static struct settings *load_again(struct daemon_context *context, char *why, size_t why_size) {
    struct config_report *report = memory_new(sizeof *report);
    struct settings *settings = config_load(context->config, report);
    if (!settings)
        snprintf(why, why_size, "%s", report->problems[0]);
    for (uint32_t i = 0; !settings && i < report->count && i < CONFIG_PROBLEMS; i++)
        log_error("the settings were not reloaded: %s", report->problems[i]);
    if (report->count > 1) {
        size_t used = strlen(why);
        snprintf(why + used, why_size - used, " (and %u more)", report->count - 1);
    }
    free(report);
    return settings;
}

/* Only a changed policy is an order: its record precedes the first decision under it. */
static void policy_send(struct daemon_context *context, struct settings *settings, struct str actor,
                        struct str words, char text[65]) {
    struct policy_kept *kept = policy_of_settings(settings);
    if (!kept)
        return;
    struct hash hash = kept->policy.hash;
    hex_write(text, hash.bytes, sizeof hash.bytes);
    static struct hash sent; /* hash of the last policy sent: it may still wait for the store */
    static bool was_sent;
    const struct ledger *ledger = context->ledger_thread->ledger;
    bool same = !ledger || hash_equal(&hash, was_sent ? &sent : &ledger_policy(ledger)->hash);
    struct input *input = same ? NULL : order_policy_input(kept, actor, words);
    if (same)
        free(kept);
    if (input && queue_put(&context->ledger_thread->queue, input)) {
        sent = hash;
        was_sent = true;
    } else
        input_free(input);
}

static json_t *reload(struct daemon_context *context, struct str actor, char *why,
                      size_t why_size) {
    struct replacing r = {.after = load_again(context, why, why_size)};
    struct crash_guard_report report;
    char hash[65] = "";
    if (!r.after)
        return NULL;
    r.before = context_settings(context);
    r.changes = json_array();
    json_t *result = NULL;
    if (r.changes && crash_guard_run(replacing_run, &r, &report) == CRASH_GUARD_WHOLE) {
        struct str words = {r.words.at, r.words.len};
        policy_send(context, r.after, actor, words, hash);
        log_info("settings reloaded by %.*s: %.*s", STR_ARG(actor),
                 STR_ARG(words.len ? words : STR("no changes")));
        result = json_pack("{s:o, s:s, s:O}", "file", json_text(r.after->source.file), "policy",
                           hash, "changed", r.changes);
        context_settings_set(context, r.after);
        answer_cache_all_changed(); /* answers name repositories as the settings do */
    } else {
        snprintf(why, why_size, "out of memory while reloading the settings");
        config_free(r.after);
    }
    json_decref(r.changes);
    context_settings_drop(r.before);
    arena_free(&r.arena);
    return result;
}

json_t *context_settings_reload(struct daemon_context *context, struct str actor, char *why,
                                size_t why_size) {
    pthread_mutex_lock(&reloading);
    json_t *result = reload(context, actor, why, why_size);
    pthread_mutex_unlock(&reloading);
    return result;
}

void config_reload_answer(struct daemon_context *context, struct op_call *call) {
    call->result =
        context_settings_reload(context, str_of(call->caller->actor), call->why, sizeof call->why);
    if (!call->result)
        call->error = ERROR_INVALID;
    else
        context->reloaded(context);
}

/* ---- showing ---- */

static json_t *shown(const struct settings *settings, const struct setting *row,
                     struct arena *arena) {
    return json_pack("{s:s, s:o, s:s, s:b, s:b}", "name", row->name, "value",
                     json_text(setting_show(settings, row, arena)), "default", row->fallback,
                     "policy", row->flags & SETTING_POLICY, "atStart",
                     row->flags & SETTING_AT_START);
}

static void origin_show(json_t *json, const struct settings *settings, const struct setting *row) {
    const struct origin_place *origin = &settings->source.origins[setting_place(row)];
    json_object_set_new(json, "origin", json_string(name_of(&ORIGIN_NAMES, origin->origin)));
    if (origin->origin == ORIGIN_FILE)
        json_object_set_new(json, "line", json_integer(origin->line));
}

static json_t *list_shown(const struct settings *settings, const struct setting_list *list,
                          struct arena *arena) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < list_count(settings, list); i++) {
        json_t *json = json_object();
        for (size_t k = 0; k < list->count; k++)
            json_object_set_new(
                json, list->rows[k].name,
                json_text(setting_show(list_entry(settings, list, i), &list->rows[k], arena)));
        json_array_append_new(all, json);
    }
    return all;
}

struct showing {
    const struct settings *settings;
    struct str only;
    bool origin;
    struct arena arena;
    json_t *rows, *lists[SETTING_LISTS];
};

static bool is_wanted(struct str only, const char *name) {
    return only.len == 0 || (strlen(name) >= only.len && memcmp(name, only.at, only.len) == 0);
}

static void showing_run(void *with) {
    struct showing *s = with;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (is_wanted(s->only, SETTINGS[i].name)) {
            json_t *row = shown(s->settings, &SETTINGS[i], &s->arena);
            if (s->origin)
                origin_show(row, s->settings, &SETTINGS[i]);
            json_array_append_new(s->rows, row);
        }
    for (size_t i = 0; i < SETTING_LISTS; i++)
        s->lists[i] = is_wanted(s->only, SETTING_LIST[i].name)
                          ? list_shown(s->settings, &SETTING_LIST[i], &s->arena)
                          : json_array();
}

void config_show_answer(struct daemon_context *context, struct op_call *call) {
    struct showing s = {.settings = context_settings(context),
                        .only = call->args.search,
                        .origin = call->args.origin,
                        .rows = json_array()};
    struct crash_guard_report report;
    if (s.rows && crash_guard_run(showing_run, &s, &report) == CRASH_GUARD_WHOLE)
        call->result = json_pack("{s:o, s:O, s:O, s:O, s:O, s:O, s:O, s:O}", "file",
                                 json_text(s.settings->source.file), "settings", s.rows, "agents",
                                 s.lists[LIST_AGENTS], "channels", s.lists[LIST_CHANNELS],
                                 "budgets", s.lists[LIST_BUDGETS], "prices", s.lists[LIST_PRICES],
                                 "repos", s.lists[LIST_REPOS], "accounts", s.lists[LIST_ACCOUNTS]);
    if (!call->result)
        call->error = ERROR_NO_MEMORY;
    json_decref(s.rows);
    for (size_t i = 0; i < SETTING_LISTS; i++)
        json_decref(s.lists[i]);
    arena_free(&s.arena);
    context_settings_drop(s.settings);
}
