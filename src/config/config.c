/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a file, the environment and flags into settings. CONFIG-12: each layer overrides the one before. */
#include "config/config.h"

#include "base/memory.h"
#include "config/plain.h"
#include "config/toml.h"
#include "model/assignment.h"
#include "model/secret/secret.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_ROOM = 64 }; /* larger than the row count of any list */

struct loading {
    const struct config_source *source;
    struct config_report *report;
    struct settings *settings;
    struct str text;     /* contents of the file */
    char file[PATH_MAX]; /* its name; empty: no file */
    struct {
        char *entries; /* entries collected so far */
        uint32_t count;
        uint32_t lines[LIMIT_LINES][LIST_ROOM]; /* line of each setting of each entry */
    } lists[SETTING_LISTS];
    struct toml_doc *doc;
};

__attribute__((format(printf, 2, 3))) static void problem(struct loading *loading,
                                                          const char *format, ...) {
    struct config_report *report = loading->report;
    if (report->count < CONFIG_PROBLEMS) {
        va_list rest;
        va_start(rest, format);
        vsnprintf(report->problems[report->count], sizeof report->problems[0], format, rest);
        va_end(rest);
    }
    report->count++;
}

/* ---- the file ---- */

static bool readable(const char *path) {
    return access(path, F_OK) == 0;
}

bool config_find(char *path, size_t size) {
    const char *named = getenv("OVERSEER_CONFIG"), *config = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    if (named && *named)
        return snprintf(path, size, "%s", named) < (int)size;
    if (config && *config)
        snprintf(path, size, "%s/overseer/overseer.toml", config);
    else if (home && *home)
        snprintf(path, size, "%s/.config/overseer/overseer.toml", home);
    else
        path[0] = 0;
    if (path[0] && readable(path))
        return true;
    static const char OF_THE_MACHINE[] = "/etc/overseer/overseer.toml";
    if (size < sizeof OF_THE_MACHINE)
        return false;
    memcpy(path, OF_THE_MACHINE, sizeof OF_THE_MACHINE);
    return readable(path);
}

static bool file_read(struct loading *loading) {
    FILE *file = fopen(loading->file, "re");
    char *room = memory_new(LIMIT_CONFIG + 1);
    size_t len = file ? fread(room, 1, LIMIT_CONFIG + 1, file) : 0;
    if (!file || ferror(file))
        problem(loading, "%s: the file cannot be read: %s", loading->file, strerror(errno));
    else if (len > LIMIT_CONFIG)
        problem(loading, "%s: the file is longer than %d bytes", loading->file, LIMIT_CONFIG);
    else
        loading->text = arena_copy(&loading->settings->source.arena, (struct str){room, len});
    free(room);
    if (file)
        fclose(file);
    return loading->report->count == 0;
}

/* ---- one value of the file ---- */

static bool given_from(const struct toml_value *value, struct given *ret) {
    *ret = (struct given){.text = value->text,
                          .number = value->number,
                          .real = value->real,
                          .flag = value->flag,
                          .texts = {value->texts, value->text_count}};
    switch (value->type) {
    case TOML_TEXT: ret->type = SETTING_TEXT; return true;
    case TOML_NUMBER: ret->type = SETTING_NUMBER; return true;
    case TOML_REAL: ret->type = SETTING_REAL; return true;
    case TOML_FLAG: ret->type = SETTING_FLAG; return true;
    case TOML_TEXTS: ret->type = SETTING_TEXTS; return true;
    default: ret->type = SETTING_CHOICE; return false; /* no setting accepts a value of this type */
    }
}

static struct str section_of(struct str path) {
    size_t len = path.len;
    while (len > 0 && path.at[len - 1] != '.')
        len--;
    return str_cut(path, len);
}

/* Reports a setting whose part is not built. False: the path is not such a setting. */
static bool absent(struct loading *loading, const struct setting_list *list, struct str path,
                   const char *place, const char *remedy) {
    const struct setting *row = setting_absent(list, path);
    if (row && !loading->source->recorded)
        problem(loading,
                "%s: %s%s%s is not available in this version: %s is not implemented yet; %s", place,
                list ? list->name : "", list ? "." : "", row->name, row->text, remedy);
    return row != NULL;
}

static bool absent_in_file(struct loading *loading, const struct setting_list *list,
                           struct str path, const struct toml_value *value) {
    char place[PATH_MAX + 32];
    snprintf(place, sizeof place, "%s:%u:%u", loading->file, value->line, value->column);
    return absent(loading, list, path, place, "remove the line");
}

/* Within the same section, the suggestion shows only the last word of the name. */
static void unknown(struct loading *loading, const struct toml_value *value, struct str path,
                    const char *near) {
    struct str section = section_of(path);
    struct str key = {path.at + section.len, path.len - section.len};
    if (near && strncmp(near, section.at, section.len) == 0 && !strchr(near + section.len, '.'))
        near += section.len;
    if (near)
        problem(loading, "%s:%u:%u: unknown setting \"%.*s\"; did you mean \"%s\"?", loading->file,
                value->line, value->column, STR_ARG(str_cut(key, 80)), near);
    else
        problem(loading, "%s:%u:%u: unknown setting \"%.*s\"", loading->file, value->line,
                value->column, STR_ARG(str_cut(path, 120)));
}

/* G-09: reports a pattern that cannot work immediately, with its place. */
static bool pattern_is_right(struct loading *loading, const struct setting *row,
                             const struct given *given, const char *place) {
    uint32_t before = loading->report->count, column = 0;
    for (uint32_t i = 0; row->flags & SETTING_PATTERN && i < given->texts.count; i++) {
        const char *wrong = secret_pattern_broken(given->texts.at[i], &column);
        if (wrong)
            problem(loading, "%s: the pattern %.*s is not valid at column %u: %s", place,
                    STR_ARG(str_cut(given->texts.at[i], 100)), column, wrong);
        else if (given->texts.count > LIMIT_SECRET_CUSTOM)
            problem(loading, "%s: there are more than %d patterns", place, LIMIT_SECRET_CUSTOM);
    }
    return loading->report->count == before;
}

/* True: it is written under its own name, not under that of an older file. */
static bool path_ends_with(struct str path, struct str name) {
    return path.len >= name.len &&
           str_equal((struct str){path.at + path.len - name.len, name.len}, name);
}

/* Stores one value where its row says; `line` is the line that set it before, 0: none. */
static void put(struct loading *loading, void *base, struct setting_found found,
                const struct toml_value *value, uint32_t *line) {
    char why[200], place[PATH_MAX + 32];
    struct given given;
    const char *name = found.row->name;
    snprintf(place, sizeof place, "%s:%u:%u", loading->file, value->line, value->column);
    given_from(value, &given);
    given.older = !path_ends_with(value->path, str_of(name));
    if (*line > 0)
        problem(loading, "%s: \"%s\" is set twice: line %u has set it already", place, name, *line);
    else if (!setting_put(base, found.row, &given, found.unit, &loading->settings->source.arena,
                          why, sizeof why))
        problem(loading, "%s: \"%.*s\" %s", place, STR_ARG(str_cut(value->path, 80)), why);
    else if (pattern_is_right(loading, found.row, &given, place))
        *line = value->line;
}

static void put_plain(struct loading *loading, const struct toml_value *value) {
    struct setting_found found = setting_find(value->path);
    if (!found.row) {
        if (!absent_in_file(loading, NULL, value->path, value))
            unknown(loading, value, value->path, setting_nearest(value->path));
        return;
    }
    struct origin_place *origin = &loading->settings->source.origins[setting_place(found.row)];
    uint32_t line = origin->origin == ORIGIN_FILE ? origin->line : 0;
    put(loading, loading->settings, found, value, &line);
    if (line > 0)
        *origin = (struct origin_place){ORIGIN_FILE, line};
}

/* ---- [[agents]] and other lists ---- */

static bool begins_below(struct str path, const char *before, struct str *ret_rest) {
    size_t len = strlen(before);
    if (path.len <= len || memcmp(path.at, before, len) != 0 || path.at[len] != '.')
        return false;
    *ret_rest = (struct str){path.at + len + 1, path.len - len - 1};
    return true;
}

/* agents.list[] is the older name of agents[]. */
static const struct setting_list *list_named(struct str path) {
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++)
        if (str_equal(path, str_of(list->name)) || str_equal(path, str_of(list->older)))
            return list;
    return NULL;
}

static const struct setting_list *list_above(struct str path, struct str *ret_rest) {
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++)
        if (begins_below(path, list->older, ret_rest) || begins_below(path, list->name, ret_rest))
            return list;
    return NULL;
}

static char *entry_at(struct loading *loading, const struct setting_list *list, uint32_t place) {
    return loading->lists[list - SETTING_LIST].entries + place * list->size;
}

static struct str entry_id(struct loading *loading, const struct setting_list *list,
                           uint32_t place) {
    return *(const struct str *)(const void *)entry_at(loading, list, place);
}

static void entry_begin(struct loading *loading, const struct toml_value *value,
                        const struct setting_list *list) {
    uint32_t *count = &loading->lists[list - SETTING_LIST].count;
    if (*count == list->most) {
        problem(loading, "%s:%u:%u: there are more than %u %s", loading->file, value->line,
                value->column, list->most, list->name);
        return;
    }
    list_entry_default(list, entry_at(loading, list, (*count)++), &loading->settings->source.arena);
}

static void entry_put(struct loading *loading, const struct toml_value *value,
                      const struct setting_list *list, struct str rest) {
    uint32_t count = loading->lists[list - SETTING_LIST].count;
    struct setting_found found = list_setting_find(list, rest);
    if (count == 0)
        problem(loading, "%s:%u:%u: %s are a list: write [[%s]]", loading->file, value->line,
                value->column, list->name, list->name);
    else if (!found.row && !absent_in_file(loading, list, rest, value))
        unknown(loading, value, rest, list_setting_nearest(list, rest));
    else if (found.row)
        put(loading, entry_at(loading, list, count - 1), found, value,
            &loading->lists[list - SETTING_LIST].lines[count - 1][found.row - list->rows]);
}

static void entries_check(struct loading *loading, const struct setting_list *list) {
    uint32_t count = loading->lists[list - SETTING_LIST].count;
    for (uint32_t i = 0; i < count; i++) {
        struct str id = entry_id(loading, list, i);
        if (id.len == 0)
            problem(loading, "%s: %s %u has no \"%s\"", loading->file, list->one, i + 1,
                    list->rows[0].name);
        if (list == &SETTING_LIST[LIST_AGENTS] && agent_is_adopted(id))
            problem(loading,
                    "%s: agent %u is called \"%.*s\": names with \":\" are reserved for adopted "
                    "sessions; choose another name",
                    loading->file, i + 1, STR_ARG(str_cut(id, 80)));
        for (uint32_t j = 0; j < i && id.len > 0 && !list->repeats; j++)
            if (str_equal(id, entry_id(loading, list, j)))
                problem(loading, "%s: two %s have the %s \"%.*s\"", loading->file, list->name,
                        list->rows[0].name, STR_ARG(str_cut(id, 80)));
    }
}

static void lists_take(struct loading *loading) {
    struct settings *settings = loading->settings;
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++)
        entries_check(loading, list);
    settings->lists.agents = (const void *)loading->lists[LIST_AGENTS].entries;
    settings->lists.agent_count = loading->lists[LIST_AGENTS].count;
    settings->lists.channels = (const void *)loading->lists[LIST_CHANNELS].entries;
    settings->lists.channel_count = loading->lists[LIST_CHANNELS].count;
    settings->lists.budgets = (const void *)loading->lists[LIST_BUDGETS].entries;
    settings->lists.budget_count = loading->lists[LIST_BUDGETS].count;
    settings->lists.prices = (const void *)loading->lists[LIST_PRICES].entries;
    settings->lists.price_count = loading->lists[LIST_PRICES].count;
    settings->lists.repos = (const void *)loading->lists[LIST_REPOS].entries;
    settings->lists.repo_count = loading->lists[LIST_REPOS].count;
    settings->lists.accounts = (const void *)loading->lists[LIST_ACCOUNTS].entries;
    settings->lists.account_count = loading->lists[LIST_ACCOUNTS].count;
}

static void lists_begin(struct loading *loading) {
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++) {
        must(list->count <= LIST_ROOM && list->most <= LIMIT_LINES);
        loading->lists[list - SETTING_LIST].entries = arena_take(
            &loading->settings->source.arena, list->size * list->most, alignof(max_align_t));
    }
}

/* ---- the document ---- */

static void table_check(struct loading *loading, const struct toml_value *value) {
    struct str rest;
    if (list_named(value->path) || list_above(value->path, &rest) ||
        setting_section_exists(value->path))
        return;
    struct str near = setting_section_nearest(value->path);
    problem(loading, "%s:%u:%u: unknown section [%.*s]%s%.*s%s", loading->file, value->line,
            value->column, STR_ARG(str_cut(value->path, 120)), near.len ? "; did you mean [" : "",
            STR_ARG(near), near.len ? "]?" : "");
}

/* Settings in an unknown section are not reported again. */
static bool in_unknown_section(struct str path) {
    struct str section = section_of(path);
    return section.len > 0 && !setting_section_exists(str_cut(section, section.len - 1));
}

static void value_take(struct loading *loading, const struct toml_value *value) {
    struct str rest;
    const struct setting_list *named = list_named(value->path),
                              *above = list_above(value->path, &rest);
    if (value->type == TOML_ENTRY && named)
        entry_begin(loading, value, named);
    else if (value->type == TOML_ENTRY)
        problem(loading, "%s:%u:%u: unknown list [[%.*s]]", loading->file, value->line,
                value->column, STR_ARG(str_cut(value->path, 120)));
    else if (value->type == TOML_TABLE)
        table_check(loading, value);
    else if (above)
        entry_put(loading, value, above, rest);
    else if (setting_find(value->path).row || !in_unknown_section(value->path))
        put_plain(loading, value);
}

static void document_take(struct loading *loading) {
    for (uint32_t i = 0; loading->doc && i < toml_count(loading->doc); i++)
        value_take(loading, toml_at(loading->doc, i));
    lists_take(loading);
}

static void document_parse(struct loading *loading) {
    struct toml_error error = {0};
    if (loading->file[0] == 0)
        return;
    const char *broken = plain_broken(loading->text, &error.line, &error.column);
    if (!broken)
        loading->doc = toml_read(loading->text, &error);
    if (!loading->doc)
        problem(loading, "%s:%u:%u: %s", loading->file, error.line, error.column,
                broken ? broken : error.why);
}

/* ---- the other layers ---- */

static void put_layer(struct loading *loading, const struct setting *row, struct str text,
                      enum span_unit unit, enum origin origin, const char *shown) {
    struct settings *settings = loading->settings;
    char why[200];
    if (!setting_put_text(settings, row, text, unit, &settings->source.arena, why, sizeof why)) {
        problem(loading, "%s %s", shown, why);
        return;
    }
    struct given given = {.type = SETTING_TEXTS};
    if (row->type == SETTING_TEXTS)
        given.texts = *(const struct texts *)(const void *)((const char *)settings + row->offset);
    if (pattern_is_right(loading, row, &given, shown))
        settings->source.origins[setting_place(row)] = (struct origin_place){origin, 0};
}

/* Tries the setting's own name first, then the older ones: OVERSEER_STORE. */
static const char *environment_of(const struct setting *row, char shown[SETTING_ENV]) {
    setting_env(row->name, shown);
    const char *value = getenv(shown);
    const char *alias = row->aliases;
    while (!value && *alias) {
        char name[SETTING_ENV - 16];
        size_t len = strcspn(alias, " ");
        if (len < sizeof name) {
            memcpy(name, alias, len);
            name[len] = 0;
            setting_env(name, shown);
            value = getenv(shown);
        }
        alias += len + (alias[len] == ' ');
    }
    return value;
}

static void environment_take(struct loading *loading) {
    for (size_t i = 0; i < SETTING_COUNT && !loading->source->ignore_environment; i++) {
        char shown[SETTING_ENV];
        const char *value = environment_of(&SETTINGS[i], shown);
        if (value && *value)
            put_layer(loading, &SETTINGS[i], str_of(value), UNIT_WRITTEN, ORIGIN_ENVIRONMENT,
                      shown);
    }
    for (size_t i = 0; i < SETTING_ABSENT_COUNT && !loading->source->ignore_environment; i++) {
        char shown[SETTING_ENV];
        const char *value = environment_of(&SETTING_ABSENT[i], shown);
        if (value && *value)
            absent(loading, NULL, str_of(SETTING_ABSENT[i].name), shown, "unset it");
    }
}

/* All flags for one list are its entries, so the first of them collects the others. */
static void flag_take(struct loading *loading, uint32_t place) {
    const struct config_flag *flags = loading->source->flags, *flag = &flags[place];
    struct setting_found found = setting_find(str_of(flag->name));
    if (!found.row && absent(loading, NULL, str_of(flag->name), flag->shown, "remove the flag"))
        return;
    if (!found.row) {
        const char *near = setting_nearest(str_of(flag->name));
        problem(loading, "%s: unknown setting \"%.80s\"%s%s%s", flag->shown, flag->name,
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        return;
    }
    const struct setting *row = found.row;
    struct str text = str_of(flag->value);
    if (row->type == SETTING_TEXTS &&
        flag->whole) /* a text with a line break is not split at commas */
        text = arena_format(&loading->settings->source.arena, "%s\n", flag->value);
    for (uint32_t i = 0; row->type == SETTING_TEXTS && i < loading->source->flag_count; i++)
        if (i != place && setting_find(str_of(flags[i].name)).row == row) {
            if (i < place)
                return; /* the first flag has collected them all */
            text = arena_format(&loading->settings->source.arena, "%.*s\n%s", STR_ARG(text),
                                flags[i].value);
        }
    enum span_unit unit = flag->unit != UNIT_WRITTEN ? flag->unit : found.unit;
    put_layer(loading, row, text, unit, ORIGIN_FLAG, flag->shown);
}

static void flags_take(struct loading *loading) {
    for (uint32_t i = 0; i < loading->source->flag_count; i++)
        flag_take(loading, i);
}

/* ---- completing ---- */

static struct str state_folder(struct arena *arena) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state)
        return arena_format(arena, "%s/overseer", state);
    return arena_format(arena, "%s/.local/state/overseer", home && *home ? home : "/var/lib");
}

/* Expands ~/ to the home folder in all paths of one struct. */
static void home_expand(void *base, const struct setting *rows, size_t count, const char *home,
                        struct arena *arena) {
    for (size_t i = 0; i < count; i++) {
        struct str *path = (struct str *)(void *)((char *)base + rows[i].offset);
        if (rows[i].flags & SETTING_PATH && path->len > 1 && memcmp(path->at, "~/", 2) == 0)
            *path = arena_format(arena, "%s%s", home, path->at + 1);
    }
}

static void homes_expand(struct loading *loading) {
    const char *home = getenv("HOME");
    struct arena *arena = &loading->settings->source.arena;
    if (!home)
        return;
    home_expand(loading->settings, SETTINGS, SETTING_COUNT, home, arena);
    for (const struct setting_list *list = SETTING_LIST; list < SETTING_LIST + SETTING_LISTS;
         list++)
        for (uint32_t i = 0; i < loading->lists[list - SETTING_LIST].count; i++)
            home_expand(entry_at(loading, list, i), list->rows, list->count, home, arena);
}

/* Puts the state folder beside a socket that was set explicitly, so that several daemons of one person do not share it. */
static struct str beside_socket(struct str socket, struct str usual, struct arena *arena) {
    static const struct str END = STR(".sock");
    if (socket.len > usual.len && memcmp(socket.at, usual.at, usual.len) == 0)
        return usual;
    if (socket.len > END.len && memcmp(socket.at + socket.len - END.len, END.at, END.len) == 0)
        socket.len -= END.len;
    return arena_format(arena, "%.*s.state", STR_ARG(socket));
}

static void paths_resolve(struct settings *settings) {
    struct arena *arena = &settings->source.arena;
    struct str dir = settings->storage.dir;
    if (dir.len == 0)
        settings->storage.dir = state_folder(arena);
    if (settings->storage.store.len == 0)
        settings->storage.store =
            arena_format(arena, "sqlite:%s/overseer.db", settings->storage.dir.at);
    if (settings->server.socket.len == 0)
        settings->server.socket = arena_format(arena, "%s/overseer.sock", settings->storage.dir.at);
    else if (dir.len == 0)
        settings->storage.dir =
            beside_socket(settings->server.socket, settings->storage.dir, arena);
}

static void forge_check(struct loading *loading, struct str name) {
    const struct channel *forge = settings_channel(loading->settings, name);
    if (name.len > 0 && (!forge || channel_sort(forge->kind) != SORT_TRACKER))
        problem(loading,
                "%s%slanding.forge is \"%.*s\", but no channel of kind gitea, github or gitlab "
                "has that name: add one under [[channels]]",
                loading->file, loading->file[0] ? ": " : "", STR_ARG(str_cut(name, 80)));
}

static bool name_is_plain(struct str name) {
    for (size_t i = 0; i < name.len; i++)
        if (!repository_name_has(name.at[i]))
            return false;
    return name.len <= LIMIT_AGENT;
}

/* Its lane, its clone and what was sent of it belong to the path. */
static bool path_is_taken(const struct settings *settings, const struct repo_setting *entry) {
    for (const struct repo_setting *other = settings->lists.repos; other < entry; other++)
        if (str_equal(other->path, entry->path))
            return true;
    return false;
}

static void repository_check(struct loading *loading, const struct repo_setting *entry) {
    struct repo_setting first = settings_first_repository(loading->settings);
    const char *wrong = NULL;
    if (!name_is_plain(entry->name))
        wrong = "has a name with other characters than letters, digits, dots, hyphens and "
                "underscores, or of more than 63";
    else if (str_equal(entry->name, STR("none")))
        wrong = "cannot be called that: the word stands for no repository";
    else if (entry->path.len == 0)
        wrong = "has no \"path\"";
    else if (first.path.len > 0 && str_equal(first.name, entry->name))
        wrong = "has the same name as the folder of repo.path: give it another one";
    else if (str_equal(first.path, entry->path))
        wrong = "is repo.path, too: remove one of the two";
    else if (path_is_taken(loading->settings, entry))
        wrong = "has the same path as another one: remove one of the two";
    if (wrong)
        problem(loading, "%s: the repository \"%.*s\" %s", loading->file,
                STR_ARG(str_cut(entry->name, 80)), wrong);
    forge_check(loading, entry->landing.forge);
}

/* What an entry of [[repos]] does not say is as in [repo], [verify] and [landing], which flags and environment may set. */
static void repositories_take(struct loading *loading) {
    const struct setting_list *list = &SETTING_LIST[LIST_REPOS];
    forge_check(loading, loading->settings->landing.forge);
    for (uint32_t i = 0; i < loading->lists[LIST_REPOS].count; i++) {
        struct repo_setting *entry = (void *)entry_at(loading, list, i);
        for (size_t k = 0; k < list->count; k++)
            if (loading->lists[LIST_REPOS].lines[i][k] == 0)
                repository_inherit(loading->settings, entry, &list->rows[k],
                                   &loading->settings->source.arena);
        repository_check(loading, entry);
    }
}

/* Checks each channel by itself: what it needs depends on its kind. */
static void channels_take(struct loading *loading) {
    struct settings *settings = loading->settings;
    settings_channels(settings);
    for (uint32_t i = 0; i < settings->lists.channel_count; i++) {
        const struct channel *channel = &settings->lists.channels[i];
        const char *wrong = channel->id.len > 0 ? channel_broken(channel) : NULL;
        if (wrong)
            problem(loading, "%s%sthe channel \"%.*s\" (%s) %s", loading->file,
                    loading->file[0] ? ": " : "", STR_ARG(str_cut(channel->id, 80)),
                    name_of(&CHANNEL_KIND_NAMES, channel->kind), wrong);
    }
    if (settings->lists.channel_count > LIMIT_CHANNELS)
        problem(loading, "%s%sthere are more than %d channels, including those of escalation.*",
                loading->file, loading->file[0] ? ": " : "", LIMIT_CHANNELS);
}

static void whole_check(struct loading *loading) {
    if (loading->report->count > 0)
        return;
    const char *wrong = settings_broken(loading->settings);
    if (wrong)
        problem(loading, "%s%s%s", loading->file, loading->file[0] ? ": " : "", wrong);
    if (settings_policy(loading->settings, &loading->settings->source.arena).len > LIMIT_POLICY)
        problem(loading,
                "%s: the settings that decisions depend on are longer than %d bytes in total",
                loading->file, LIMIT_POLICY);
}

/* ---- loading everything ---- */

static struct settings *load(struct loading *loading) {
    struct settings *settings = loading->settings;
    lists_begin(loading);
    settings->source.file = str_of(arena_cstr(&settings->source.arena, str_of(loading->file)));
    settings_default(settings);
    document_parse(loading);
    document_take(loading);
    toml_free(loading->doc);
    environment_take(loading);
    flags_take(loading);
    homes_expand(loading);
    paths_resolve(settings);
    channels_take(loading);
    repositories_take(loading);
    whole_check(loading);
    if (loading->report->count == 0)
        return settings;
    config_free(settings);
    return NULL;
}

static struct loading *loading_new(const struct config_source *source,
                                   struct config_report *report) {
    struct loading *loading = memory_new(sizeof *loading);
    report->count = 0;
    loading->source = source;
    loading->report = report;
    loading->settings = memory_new(sizeof *loading->settings);
    return loading;
}

struct settings *config_load_text(struct str text, const char *name,
                                  const struct config_source *source,
                                  struct config_report *report) {
    struct loading *loading = loading_new(source, report);
    loading->text = text;
    snprintf(loading->file, sizeof loading->file, "%s", name);
    struct settings *settings = load(loading);
    free(loading);
    return settings;
}

struct settings *config_load(const struct config_source *source, struct config_report *report) {
    struct loading *loading = loading_new(source, report);
    if (source->file)
        snprintf(loading->file, sizeof loading->file, "%s", source->file);
    else if (source->ignore_file || !config_find(loading->file, sizeof loading->file))
        loading->file[0] = 0;
    struct settings *settings = loading->settings;
    if (loading->file[0] && !file_read(loading)) {
        config_free(settings);
        settings = NULL;
    } else {
        settings = load(loading);
    }
    free(loading);
    return settings;
}

void config_free(struct settings *settings) {
    if (!settings)
        return;
    arena_free(&settings->source.arena);
    free(settings);
}
