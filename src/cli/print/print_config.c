/* SPDX-License-Identifier: Apache-2.0 */
/* Prints settings and tokens. */
#include "cli/print/print.h"

#include <stdlib.h>

static void value_cell(struct table *table, const json_t *value) {
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    table_cell(table, TINT_NONE, "%s", text ? text : value ? json_string_value(value) : "");
    free(text);
}

void print_settings(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {
        {.title = "setting"}, {.title = "value", .bends = true}, {.title = "from", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    size_t i;
    json_t *setting;
    (void)typed;
    json_array_foreach(json_object_get(result, "settings"), i, setting) {
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(setting, "name"));
        value_cell(&table, json_object_get(setting, "value"));
        table_cell(&table, TINT_DIM, "%s", text_of(setting, "origin"));
    }
    table_print(&table);
}

void print_tokens(const struct typed *typed, const json_t *result) {
    static const struct column COLUMNS[] = {
        {.title = "id"},      {.title = "role"},    {.title = "actor", .bends = true},
        {.title = "created"}, {.title = "expires"}, {.title = "note", .bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    size_t i;
    json_t *token;
    char at[CLOCK_TEXT];
    (void)typed;
    json_array_foreach(json_object_get(result, "tokens"), i, token) {
        int64_t expires = time_of(token, "expiresAt");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", text_of(token, "tokenId"));
        table_cell(&table, TINT_NONE, "%s", text_of(token, "role"));
        table_cell(&table, TINT_NONE, "%s", text_of(token, "actor"));
        table_cell(&table, TINT_DIM, "%s",
                   clock_format(time_of(token, "createdAt"), clock_now(), at));
        table_cell(&table, TINT_DIM, "%s",
                   expires ? clock_format(expires, clock_now(), at) : "never");
        table_cell(&table, TINT_NONE, "%s", text_of(token, "note"));
    }
    table_print(&table);
    if (json_array_size(json_object_get(result, "tokens")) == 0)
        hint("There are no tokens. Make one with: overseer token create …");
}
