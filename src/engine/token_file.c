/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/token_file.h"

#include "base/time.h"
#include "engine/status_files.h"
#include "ops/assignment.h"
#include "sys/file_replace.h"
#include "sys/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LINE_MOST = 4096 };

void token_id(const struct token *token, char text[TOKEN_ID + 1]) {
    memcpy(text, "tok_", 4);
    hex_write(text + 4, token->hash.bytes, 8);
}

static json_t *time_json(int64_t at) {
    char text[TIME_TEXT + 1];
    if (at == TIME_NEVER)
        return json_null();
    time_format(at, text);
    return json_string(text);
}

json_t *token_json(const struct token *token) {
    char id[TOKEN_ID + 1], goal[GOAL_ID_TEXT + 1];
    const struct caller *caller = &token->caller;
    token_id(token, id);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s}", "tokenId", id, "role",
                             name_of(&ROLE_NAMES, caller->role), "actor", caller->actor, "note",
                             token->note, "createdBy", token->by);
    if (caller->role == ROLE_RUN) {
        goal_id_format(caller->goal, goal);
        json_object_set_new(json, "goalId", json_string(goal));
        json_object_set_new(json, "runId", json_string(caller->run));
        if (caller->assignment)
            json_object_set_new(json, "assignmentId", json_sprintf("A_%u", caller->assignment - 1));
    }
    json_object_set_new(json, "createdAt", time_json(token->created_at));
    json_object_set_new(json, "expiresAt", time_json(token->expires_at));
    return json;
}

/* ---- writing ---- */

static json_t *line_json(const struct token *token) {
    char hash[2 * sizeof token->hash.bytes + 1];
    hex_write(hash, token->hash.bytes, sizeof token->hash.bytes);
    json_t *json = token_json(token);
    json_object_set_new(json, "sha256", json_string(hash));
    return json;
}

bool token_file_write(const char *folder, const struct token *const *tokens, uint32_t count) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    bool ok = file;
    for (uint32_t i = 0; ok && i < count; i++) {
        json_t *json = line_json(tokens[i]);
        ok = json && json_dumpf(json, file, JSON_COMPACT) == 0 && fputc('\n', file) != EOF;
        json_decref(json);
    }
    if (file)
        ok = fclose(file) == 0 && ok;
    ok = ok && file_replace(folder, "tokens", text, length, true);
    free(text);
    return ok;
}

/* ---- reading ---- */

static bool text_read(const json_t *json, const char *name, char *to, size_t size) {
    const char *text = json_string_value(json_object_get(json, name));
    return text && snprintf(to, size, "%s", text) < (int)size;
}

static bool time_read(const json_t *json, const char *name, int64_t *ret) {
    const json_t *value = json_object_get(json, name);
    *ret = TIME_NEVER;
    return json_is_null(value) || time_parse(str_of(json_string_value(value)), ret);
}

static bool hash_read(const json_t *json, struct hash *ret) {
    const char *text = json_string_value(json_object_get(json, "sha256"));
    if (!text || strlen(text) != 2 * sizeof ret->bytes)
        return false;
    for (size_t i = 0; i < sizeof ret->bytes; i++)
        if (sscanf(text + 2 * i, "%2hhx", &ret->bytes[i]) != 1)
            return false;
    return true;
}

static bool assignment_read(const json_t *json, uint32_t *ret) {
    uint32_t n;
    if (!assignment_parse(str_of(json_string_value(json)), &n))
        return false;
    *ret = n + 1;
    return true;
}

static bool token_read(const json_t *json, struct token *ret) {
    struct caller *caller = &ret->caller;
    uint32_t role = ROLE_NOBODY;
    *ret = (struct token){0};
    if (!hash_read(json, &ret->hash) ||
        !names_find(&ROLE_NAMES, str_of(json_string_value(json_object_get(json, "role"))), &role) ||
        role == ROLE_NOBODY || !text_read(json, "actor", caller->actor, sizeof caller->actor) ||
        !text_read(json, "note", ret->note, sizeof ret->note) ||
        !text_read(json, "createdBy", ret->by, sizeof ret->by) ||
        !time_read(json, "createdAt", &ret->created_at) ||
        !time_read(json, "expiresAt", &ret->expires_at))
        return false;
    caller->role = (enum role)role;
    const json_t *assignment = json_object_get(json, "assignmentId");
    if (assignment && !assignment_read(assignment, &caller->assignment))
        return false;
    return role != ROLE_RUN ||
           (text_read(json, "runId", caller->run, sizeof caller->run) &&
            goal_id_parse(str_of(json_string_value(json_object_get(json, "goalId"))),
                          &caller->goal));
}

static bool lines_read(FILE *file, bool (*taken)(void *with, const struct token *token),
                       void *with) {
    char line[LINE_MOST];
    while (fgets(line, sizeof line, file)) {
        struct token token;
        json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        bool ok = json && token_read(json, &token) && taken(with, &token);
        json_decref(json);
        if (!ok)
            return false;
    }
    return !ferror(file);
}

static bool set_aside(const char *path, char *error, size_t error_size) {
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%.*s.damaged", (int)sizeof aside - 16, path);
    if (rename(path, aside) != 0) {
        snprintf(error, error_size, "The token file %s is damaged and cannot be renamed: %s.", path,
                 strerror(errno));
        return false;
    }
    log_error("the token file is damaged and was renamed to %s; tokens after the damage are no "
              "longer valid",
              aside);
    return true;
}

bool token_file_read(const char *folder, bool (*taken)(void *with, const struct token *token),
                     void *with, char *error, size_t error_size) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/tokens", folder) >= (int)sizeof path) {
        snprintf(error, error_size, "The path of the state folder is too long.");
        return false;
    }
    FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT)
        return true;
    if (!file) {
        snprintf(error, error_size, "The file %s cannot be read: %s.", path, strerror(errno));
        return false;
    }
    fchmod(fileno(file), 0600);
    bool whole = lines_read(file, taken, with);
    fclose(file);
    return whole || set_aside(path, error, error_size);
}
