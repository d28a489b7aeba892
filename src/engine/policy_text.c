/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/policy_text.h"

#include "config/config.h"
#include "engine/reload.h"
#include "sys/crash_guard.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the text as a settings file ---- */

/* "agents.2.id = …" is the second entry of [[agents]]. NULL: the line belongs to no list. */
static const struct setting_list *list_of(struct str line, size_t *ret_number, size_t *ret_used) {
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++) {
        size_t at = strlen(list->name), number = 0;
        if (line.len <= at + 2 || memcmp(line.at, list->name, at) != 0 || line.at[at] != '.')
            continue;
        for (at++; at < line.len && line.at[at] >= '0' && line.at[at] <= '9'; at++)
            number = number * 10 + (size_t)(line.at[at] - '0');
        if (number == 0 || at >= line.len || line.at[at] != '.')
            continue;
        *ret_number = number;
        *ret_used = at + 1;
        return list;
    }
    return NULL;
}

static struct str as_file(struct str text, struct arena *arena) {
    struct writer writer = {.arena = arena};
    const struct setting_list *open = NULL;
    size_t entry = 0;
    while (text.len > 0) {
        struct str line = str_line_take(&text);
        size_t number = 0, used = 0;
        const struct setting_list *list = list_of(line, &number, &used);
        if (list && (list != open || number != entry))
            write_raw(&writer, arena_format(arena, "[[%s]]\n", list->name));
        open = list;
        entry = number;
        write_raw(&writer, (struct str){line.at + used, line.len - used});
        write_byte(&writer, '\n');
    }
    return (struct str){writer.at, writer.len};
}

/* ---- hypothetical settings ---- */

static uint32_t flags_read(const struct texts *set, struct config_flag *flags, struct arena *arena,
                           char *why, size_t why_size) {
    for (uint32_t i = 0; set && i < set->count && i < CONFIG_FLAGS; i++) {
        char *name = arena_cstr(arena, set->at[i]), *value = strchr(name, '=');
        if (!value) {
            snprintf(why, why_size, "\"%.64s\" is not name=value", name);
            return UINT32_MAX;
        }
        *value = 0;
        flags[i] = (struct config_flag){.name = name, .value = value + 1, .shown = name};
    }
    return set ? set->count : 0;
}

/* ---- the form that decisions read ---- */

struct copying {
    const struct policy *from;
    struct arena *arena;
    struct policy *to;
    bool whole;
};

static void copying_run(void *with) {
    struct copying *copying = with;
    struct str encoded = shape_encode(&POLICY, copying->from, copying->arena);
    copying->whole = shape_decode_in(&POLICY, encoded, copying->arena, copying->to);
    copying->to->hash = copying->from->hash;
}

static bool settings_take(struct settings *settings, struct arena *arena, struct policy *ret) {
    struct policy_kept *kept = policy_of_settings(settings);
    struct crash_guard_report report;
    config_free(settings);
    if (!kept)
        return false;
    *ret = (struct policy){0};
    struct copying copying = {.from = &kept->policy, .arena = arena, .to = ret};
    bool done =
        crash_guard_run(copying_run, &copying, &report) == CRASH_GUARD_WHOLE && copying.whole;
    free(kept);
    return done;
}

bool policy_of_text(struct str text, const struct texts *set, struct arena *arena,
                    struct policy *ret, char *why, size_t why_size) {
    struct config_flag *flags = arena_new(arena, struct config_flag, CONFIG_FLAGS);
    struct config_report *problems = arena_new(arena, struct config_report, 1);
    uint32_t count = flags_read(set, flags, arena, why, why_size);
    if (count > CONFIG_FLAGS)
        return false;
    struct config_source source = {.ignore_file = true,
                                   .ignore_environment = true,
                                   .recorded = true,
                                   .flags = flags,
                                   .flag_count = count};
    struct settings *settings =
        config_load_text(as_file(text, arena), "the policy", &source, problems);
    if (settings && settings_take(settings, arena, ret))
        return true;
    snprintf(why, why_size, "%s", settings ? "out of memory" : problems->problems[0]);
    return false;
}
