/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/print.h"

#include "cli/command.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- members of answers ---- */

const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

long long number_of(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

bool flag_of(const json_t *object, const char *name) {
    return json_is_true(json_object_get(object, name));
}

int64_t time_of(const json_t *object, const char *name) {
    int64_t at = 0;
    return time_parse(str_of(text_of(object, name)), &at) ? at : 0;
}

const char *age_of(const json_t *object, const char *name, char text[AGE_TEXT]) {
    int64_t at = time_of(object, name);
    text[0] = 0;
    return at ? age_format((clock_now() - at) / 1000000, text) : text;
}

enum tint state_tint(const char *state) {
    static const struct {
        const char *state;
        enum tint tint;
    } TINTED[] = {
        {"done", TINT_GOOD},        {"completed", TINT_GOOD}, {"needs you", TINT_WARN},
        {"blocked", TINT_WARN},     {"failed", TINT_BAD},     {"working", TINT_BUSY},
        {"in_progress", TINT_BUSY}, {"paused", TINT_DIM},     {"cancelled", TINT_DIM},
        {"archived", TINT_DIM},     {"todo", TINT_DIM},
    };
    for (size_t i = 0; i < count_of(TINTED); i++)
        if (strcmp(TINTED[i].state, state) == 0)
            return TINTED[i].tint;
    return TINT_NONE;
}

/* ---- ids ---- */

enum { SHORTEST_ID = 10 };

static const char *id_plain(const char *id) {
    return strncmp(id, "goal_", 5) == 0 ? id + 5 : id;
}

static size_t same_beginning(const char *a, const char *b) {
    size_t length = 0;
    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

size_t ids_length(const json_t *rows) {
    size_t count = json_array_size(rows), length = SHORTEST_ID;
    for (size_t i = 0; i < count; i++)
        for (size_t other = 0; other < i; other++) {
            const char *a = id_plain(text_of(json_array_get(rows, i), "goalId"));
            const char *b = id_plain(text_of(json_array_get(rows, other), "goalId"));
            size_t same = same_beginning(a, b);
            if (strcmp(a, b) != 0 && same >= length)
                length = same + 1;
        }
    return length < ID_TEXT ? length : ID_TEXT;
}

const char *id_short(const char *id, size_t length, char text[ID_TEXT + 1]) {
    snprintf(text, ID_TEXT + 1, "%.*s", (int)(length < ID_TEXT ? length : ID_TEXT), id_plain(id));
    return text;
}

const char *name_or_id(const json_t *item, size_t length, char text[ID_TEXT + 1]) {
    const char *name = text_of(item, "name");
    if (!*name)
        return id_short(text_of(item, "goalId"), length, text);
    snprintf(text, ID_TEXT + 1, "%s", name);
    return text;
}

void command_say(const char *command, size_t length) {
    for (const char *at = command, *id; *at; at = id + 5 + ID_TEXT) {
        char text[ID_TEXT + 1];
        id = strstr(at, "goal_");
        if (!id || strlen(id) < 5 + ID_TEXT) {
            text_say(stdout, at);
            return;
        }
        text_print(stdout, (struct str){at, (size_t)(id - at)}, 0, 0);
        text_say(stdout, id_short(id, length, text));
    }
}

void state_say(const char *state) {
    printf(strncmp(state, "needs", 5) == 0 ? " " : " is ");
    tint_on(stdout, state_tint(state));
    text_say(stdout, state);
    tint_off(stdout, state_tint(state));
}

/* ---- printers ---- */

/* Prints only the id on standard output, so that a script can use it; the rest goes to standard error. */
static void print_written(const struct typed *typed, const json_t *result) {
    const char *id = text_of(result, "goalId"), *verb = typed->command->words;
    char text[ID_TEXT + 1];
    text_say(stdout, id);
    printf("\n");
    if (flag_of(result, "forwarded"))
        fprintf(stderr, "Stored for the host that owns this goal, which applies it.\n");
    if (flag_of(result, "spooled"))
        fprintf(
            stderr,
            "The database does not answer. The request is stored on disk here and applied later.\n");
    if (strcmp(verb, "goal create") == 0)
        hint("Next: overseer goal show %s", name_or_id(result, SHORTEST_ID, text));
}

/* Any other result: name and value, one line each. */
static void print_members(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{0}, {.bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = 2};
    const char *name;
    json_t *value;
    (void)typed;
    json_object_foreach((json_t *)(uintptr_t)result, name, value) {
        char *text =
            json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        table_row(&table);
        table_cell(&table, TINT_DIM, "%s", name);
        table_cell(&table, TINT_NONE, "%s", text ? text : json_string_value(value));
        free(text);
    }
    table_print(&table);
}

static void print_tally(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {{0}, {.right = true}};
    struct table table = {.columns = COLUMNS, .column_count = 2};
    const char *name;
    json_t *value;
    (void)typed;
    json_object_foreach((json_t *)(uintptr_t)result, name, value) {
        table_row(&table);
        table_cell(&table, state_tint(name), "%s", name);
        table_cell(&table, TINT_NONE, "%lld", (long long)json_integer_value(value));
    }
    table_print(&table);
}

static void print_stopped(const struct typed *typed, const json_t *result) {
    (void)typed, (void)result;
    printf("Stopped: nothing new starts; running work may finish, and everything is kept.\n"
           "To continue: overseer resume\n");
}

static void print_resumed(const struct typed *typed, const json_t *result) {
    (void)typed, (void)result;
    printf("Resumed.\n");
    hint("Next: overseer status");
}

/* If standard output is not a terminal, prints the token and nothing else, so that a script can store it in a variable. */
static void print_token(const struct typed *typed, const json_t *result) {
    if (!isatty(STDOUT_FILENO)) {
        printf("%s\n", text_of(result, "token"));
        return;
    }
    print_members(typed, result);
    hint("The token is shown only once. Its user sets it as OVERSEER_TOKEN.");
}

static const struct {
    const char *op;
    void (*print)(const struct typed *typed, const json_t *result);
} DISPLAY_STATES_OF[] = {
    {"status.show", print_status},    {"inbox.list", print_inbox},
    {"why.show", print_why},          {"events.list", print_events},
    {"goal.show", print_goal},        {"goal.list", print_goals},
    {"goal.tally", print_tally},      {"plan.show", print_plan},
    {"plan.history", print_history},  {"plan.insights", print_insights},
    {"plan.recommend", print_picks},  {"config.show", print_settings},
    {"token.list", print_tokens},     {"token.create", print_token},
    {"token.rotate", print_token},    {"fleet.stop", print_stopped},
    {"fleet.resume", print_resumed},  {"assignment.list", print_agents},
    {"handoff.list", print_handoffs}, {"handoff.show", print_handoff},
    {"budget.show", print_budgets},   {"desk.show", print_admission},
    {"lane.show", print_lane},        {"replay.run", print_replay},
    {"replay.compare", print_replay}, {"work.log", print_log},
    {"work.diff", print_diff},        {"network.list", print_network},
    {"account.list", print_accounts},
};

void print_result(const struct typed *typed, const json_t *result) {
    const struct op *op = typed->command->op;
    for (size_t i = 0; i < count_of(DISPLAY_STATES_OF); i++)
        if (strcmp(DISPLAY_STATES_OF[i].op, op->name) == 0) {
            DISPLAY_STATES_OF[i].print(typed, result);
            return;
        }
    if (op->kind == OP_WRITES && *text_of(result, "goalId") && json_object_size(result) <= 4)
        print_written(typed, result);
    else
        print_members(typed, result);
}

void fact_print(const char *name, const char *text) {
    if (!*text)
        return;
    printf("%s: ", name);
    text_say(stdout, text);
    printf("\n");
}

/* ---- repositories ---- */

bool repos_differ(const json_t *items) {
    const char *first = NULL;
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) {
        if (first && strcmp(first, text_of(item, "repo")) != 0)
            return true;
        first = text_of(item, "repo");
    }
    return false;
}

const char *repo_before(const json_t *item, bool differ, char room[REPO_TEXT]) {
    const char *repo = text_of(item, "repo");
    bool shown = differ && *repo;
    snprintf(room, REPO_TEXT, "%.64s%s", shown ? repo : "", shown ? ": " : "");
    return room;
}
