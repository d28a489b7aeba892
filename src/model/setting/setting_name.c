/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the setting for a name, and the one that was probably meant. */
#include "model/setting/setting.h"

enum { NAME_ROOM = 96 };

struct name {
    char text[NAME_ROOM];
    size_t len; /* 0: too long for a name */
};

/* tickEvery, tick-every and tick_every are the same name. */
static struct name name_plain(struct str path) {
    struct name name = {.len = 0};
    for (size_t i = 0; i < path.len; i++) {
        char c = path.at[i];
        bool upper = c >= 'A' && c <= 'Z';
        bool begins = i > 0 && path.at[i - 1] >= 'a' && path.at[i - 1] <= 'z';
        if (name.len + 2 >= NAME_ROOM)
            return (struct name){.len = 0};
        if (upper && begins)
            name.text[name.len++] = '_';
        name.text[name.len++] = upper ? (char)(c - 'A' + 'a') : c == '-' ? '_' : c;
    }
    return name;
}

static struct str name_str(const struct name *name) {
    return (struct str){name->text, name->len};
}

static bool begins_with(struct str text, struct str with) {
    return text.len >= with.len && memcmp(text.at, with.at, with.len) == 0;
}

static bool ends_with(struct str text, struct str with) {
    return text.len > with.len && memcmp(text.at + text.len - with.len, with.at, with.len) == 0;
}

/* The next word of a list separated by spaces; empty: there is none. */
static struct str word_next(struct str *list) {
    while (list->len > 0 && list->at[0] == ' ')
        *list = (struct str){list->at + 1, list->len - 1};
    size_t len = 0;
    while (len < list->len && list->at[len] != ' ')
        len++;
    struct str word = str_cut(*list, len);
    *list = (struct str){list->at + len, list->len - len};
    return word;
}

static bool row_is_called(const struct setting *row, struct str name) {
    if (str_equal(str_of(row->name), name))
        return true;
    struct str aliases = str_of(row->aliases);
    for (struct str word; (word = word_next(&aliases)).len > 0;)
        if (str_equal(word, name))
            return true;
    return false;
}

struct table {
    const struct setting *rows;
    size_t count;
};

static const struct setting *row_called(struct table table, struct str name) {
    for (size_t i = 0; i < table.count; i++)
        if (row_is_called(&table.rows[i], name))
            return &table.rows[i];
    return NULL;
}

/* CONFIG-06 to CONFIG-08: the names of our sections in older files. */
static const struct {
    struct str theirs, ours;
} SECTIONS[] = {
    {{"", 0}, {"", 0}},
    {{"", 0}, {"supervision.", 12}},
    {{"overseer.", 9}, {"watch.", 6}},
    {{"overseer.", 9}, {"supervision.", 12}},
    {{"overseer.", 9}, {"", 0}},
    {{"detectors.", 10}, {"", 0}},
    {{"thresholds.", 11}, {"", 0}},
    {{"detector_options.thresholds.", 28}, {"", 0}},
    {{"overseer.detector_options.thresholds.", 37}, {"", 0}},
    {{"escalation_options.", 19}, {"escalation.", 11}},
    {{"overseer.escalation_options.", 28}, {"escalation.", 11}},
};

static const struct setting *row_in_sections(struct table table, struct str name) {
    for (size_t i = 0; i < count_of(SECTIONS); i++) {
        struct str theirs = SECTIONS[i].theirs, ours = SECTIONS[i].ours;
        struct name full = {.len = ours.len + name.len - theirs.len};
        if (!begins_with(name, theirs) || full.len >= NAME_ROOM)
            continue;
        memcpy(full.text, ours.at, ours.len);
        memcpy(full.text + ours.len, name.at + theirs.len, name.len - theirs.len);
        const struct setting *row = row_called(table, name_str(&full));
        if (row)
            return row;
    }
    return NULL;
}

static const struct {
    struct str end;
    enum span_unit unit;
} UNITS[] = {{{"_ms", 3}, UNIT_MS},
             {{"_secs", 5}, UNIT_SECONDS},
             {{"_seconds", 8}, UNIT_SECONDS},
             {{"_days", 5}, UNIT_DAYS}};

static struct setting_found find(struct table table, struct str path) {
    struct name plain = name_plain(path);
    struct str name = name_str(&plain);
    struct setting_found found = {row_in_sections(table, name), UNIT_WRITTEN};
    for (size_t i = 0; i < count_of(UNITS) && !found.row; i++) {
        if (!ends_with(name, UNITS[i].end))
            continue;
        const struct setting *row =
            row_in_sections(table, str_cut(name, name.len - UNITS[i].end.len));
        if (row && row->type == SETTING_SPAN)
            found = (struct setting_found){row, UNITS[i].unit};
    }
    return found;
}

struct setting_found setting_find(struct str path) {
    return find((struct table){SETTINGS, SETTING_COUNT}, path);
}

struct setting_found list_setting_find(const struct setting_list *list, struct str path) {
    return find((struct table){list->rows, list->count}, path);
}

const struct setting *setting_absent(const struct setting_list *list, struct str path) {
    if (!list)
        return find((struct table){SETTING_ABSENT, SETTING_ABSENT_COUNT}, path).row;
    if (list == &SETTING_LIST[LIST_AGENTS])
        return find((struct table){AGENT_ABSENT, AGENT_ABSENT_COUNT}, path).row;
    return NULL;
}

/* Is the name below this path? */
static bool name_is_below(struct str name, struct str path) {
    return name.len > path.len && begins_with(name, path) && name.at[path.len] == '.';
}

static bool section_of_some(struct table table, struct str name) {
    for (size_t i = 0; i < table.count; i++) {
        struct str aliases = str_of(table.rows[i].aliases);
        if (name_is_below(str_of(table.rows[i].name), name))
            return true;
        for (struct str word; (word = word_next(&aliases)).len > 0;)
            if (name_is_below(word, name))
                return true;
    }
    return false;
}

bool setting_section_exists(struct str path) {
    struct name plain = name_plain(path);
    struct str name = name_str(&plain);
    if (section_of_some((struct table){SETTINGS, SETTING_COUNT}, name) ||
        section_of_some((struct table){SETTING_ABSENT, SETTING_ABSENT_COUNT}, name))
        return true;
    for (size_t i = 0; i < count_of(SECTIONS); i++) {
        struct str theirs = SECTIONS[i].theirs;
        if (theirs.len > 0 &&
            (name_is_below(theirs, name) ||
             (begins_with(name, theirs) &&
              setting_section_exists((struct str){name.at + theirs.len, name.len - theirs.len}))))
            return true;
    }
    return false;
}

/* ---- suggestions ---- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance: letters that are wrong, missing, superfluous or swapped. */
static size_t distance(struct str a, struct str b) {
    size_t rows[3][NAME_ROOM + 1];
    if (a.len > NAME_ROOM || b.len > NAME_ROOM)
        return NAME_ROOM;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.at[i - 1] == b.at[j - 1];
            now[j] = least(before[j - 1] + !same, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1])
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

static struct str last_word(struct str name) {
    size_t from = name.len;
    while (from > 0 && name.at[from - 1] != '.')
        from--;
    return (struct str){name.at + from, name.len - from};
}

/* Compares the whole name or its last word, so that a setting in the wrong section is still found. */
static size_t name_distance(struct str meant, struct str row) {
    struct str word = last_word(meant), row_word = last_word(row);
    size_t whole = distance(meant, row), alone = distance(word, row_word) + 1;
    return least(whole, alone);
}

static const char *nearest(struct table table, struct str path) {
    struct name plain = name_plain(path);
    struct str name = name_str(&plain);
    size_t best = last_word(name).len / 3 + 1;
    const char *found = NULL;
    for (size_t i = 0; i < table.count && name.len > 0; i++) {
        size_t away = name_distance(name, str_of(table.rows[i].name));
        if (away < best || (away == best && !found && away <= 3)) {
            best = away;
            found = table.rows[i].name;
        }
    }
    return found;
}

const char *setting_nearest(struct str path) {
    return nearest((struct table){SETTINGS, SETTING_COUNT}, path);
}

const char *list_setting_nearest(const struct setting_list *list, struct str path) {
    return nearest((struct table){list->rows, list->count}, path);
}

struct str setting_section_nearest(struct str path) {
    struct name plain = name_plain(path);
    struct str name = name_str(&plain), found = {0};
    size_t best = name.len / 3 + 1;
    for (size_t i = 0; i < SETTING_COUNT && name.len > 0; i++) {
        struct str row = str_of(SETTINGS[i].name), word = last_word(row);
        struct str section = str_cut(row, row.len > word.len ? row.len - word.len - 1 : 0);
        size_t away = section.len ? distance(name, section) : best;
        if (away < best) {
            best = away;
            found = section;
        }
    }
    return found;
}

void setting_env(const char *name, char text[SETTING_ENV]) {
    static const struct str OURS = STR("OVERSEER_");
    size_t len = OURS.len;
    must(len + strlen(name) < SETTING_ENV);
    memcpy(text, OURS.at, OURS.len);
    for (; *name; name++)
        text[len++] = *name == '.'                   ? '_'
                      : *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A')
                                                     : *name;
    text[len] = 0;
}
