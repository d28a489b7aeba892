/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/token.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "engine/status_files.h"
#include "engine/token_file.h"
#include "ops/assignment.h"
#include "ops/json.h"
#include "sys/clock.h"
#include "sys/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t LASTS = SECONDS(30 * 86400); /* unless the request says otherwise */

struct tokens {
    char *folder;
    pthread_mutex_t lock;
    struct map by_hash; /* key: the first half of the hash */
    struct token **all; /* oldest first */
    struct map lent;    /* tokens of runs: the same key, struct token */
    uint32_t count;
};

/* ---- finding ---- */

static struct id token_key(const struct hash *hash) {
    struct id key;
    memcpy(key.bytes, hash->bytes, sizeof key.bytes);
    return key;
}

/* Takes the same time wherever the hashes differ. */
static bool hash_is(const struct hash *a, const struct hash *b) {
    unsigned differ = 0;
    for (size_t i = 0; i < sizeof a->bytes; i++)
        differ |= (unsigned)(a->bytes[i] ^ b->bytes[i]);
    return differ == 0;
}

bool tokens_find(struct tokens *tokens, struct str text, int64_t now, struct caller *ret) {
    if (text.len != TOKEN_TEXT)
        return false;
    struct hash hash = sha256(text);
    return tokens_know(tokens, &hash, now, ret);
}

bool tokens_know(struct tokens *tokens, const struct hash *hash, int64_t now, struct caller *ret) {
    if (!tokens)
        return false;
    pthread_mutex_lock(&tokens->lock);
    const struct token *token = map_get(&tokens->by_hash, token_key(hash));
    token = token ? token : map_get(&tokens->lent, token_key(hash));
    bool found = token && hash_is(&token->hash, hash) && now < token->expires_at;
    if (found)
        *ret = token->caller;
    pthread_mutex_unlock(&tokens->lock);
    return found;
}

uint32_t tokens_count(struct tokens *tokens) {
    if (!tokens)
        return 0;
    pthread_mutex_lock(&tokens->lock);
    uint32_t count = tokens->count;
    pthread_mutex_unlock(&tokens->lock);
    return count;
}

/* ---- storing ---- */

static bool token_keep(struct tokens *tokens, const struct token *from) {
    struct token *token = malloc(sizeof *token);
    if (!token || tokens->count == LIMIT_TOKENS) {
        free(token);
        return false;
    }
    *token = *from;
    if (!map_put(&tokens->by_hash, token_key(&token->hash), token)) {
        free(token);
        return false;
    }
    tokens->all[tokens->count++] = token;
    return true;
}

static void token_drop(struct tokens *tokens, uint32_t place) {
    struct token *token = tokens->all[place];
    map_remove(&tokens->by_hash, token_key(&token->hash));
    free(token);
    tokens->count--;
    memmove(tokens->all + place, tokens->all + place + 1,
            (tokens->count - place) * sizeof *tokens->all);
}

static void expired_drop(struct tokens *tokens, int64_t now) {
    for (uint32_t i = tokens->count; i-- > 0;)
        if (tokens->all[i]->expires_at <= now)
            token_drop(tokens, i);
}

static bool tokens_save(struct tokens *tokens) {
    return token_file_write(tokens->folder, (const struct token *const *)tokens->all,
                            tokens->count);
}

static bool taken(void *with, const struct token *token) {
    return token_keep(with, token);
}

struct tokens *tokens_open(const char *folder, char *error, size_t error_size) {
    struct tokens *tokens = memory_new(sizeof *tokens);
    pthread_mutex_init(&tokens->lock, NULL);
    tokens->folder = memory_text(folder, strlen(folder));
    tokens->all = memory_new(LIMIT_TOKENS * sizeof *tokens->all);
    if (token_file_read(folder, taken, tokens, error, error_size))
        return tokens;
    tokens_close(tokens);
    return NULL;
}

void tokens_close(struct tokens *tokens) {
    if (!tokens)
        return;
    while (tokens->count > 0)
        token_drop(tokens, tokens->count - 1);
    for (size_t i = 0; i < tokens->lent.cap; i++)
        free(tokens->lent.slots[i].value);
    map_free(&tokens->lent);
    map_free(&tokens->by_hash);
    pthread_mutex_destroy(&tokens->lock);
    free(tokens->all);
    free(tokens->folder);
    free(tokens);
}

/* ---- making a token ---- */

static void token_write(char text[TOKEN_TEXT + 1]) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t random[43];
    random_bytes(random, sizeof random);
    memcpy(text, "ovs_", 4);
    for (size_t i = 0; i < sizeof random; i++)
        text[4 + i] = DIGITS[random[i] & 63];
    text[TOKEN_TEXT] = 0;
}

void tokens_lend(struct tokens *tokens, const struct caller *caller, char text[TOKEN_TEXT + 1]) {
    if (text[0] == 0)
        token_write(text);
    struct token *token = memory_new(sizeof *token);
    *token =
        (struct token){.hash = sha256(str_of(text)), .caller = *caller, .expires_at = TIME_NEVER};
    pthread_mutex_lock(&tokens->lock);
    free(map_remove(&tokens->lent, token_key(&token->hash)));
    if (!map_put(&tokens->lent, token_key(&token->hash), token))
        memory_exhausted();
    pthread_mutex_unlock(&tokens->lock);
}

bool tokens_of_run(struct tokens *tokens, const char *run, struct caller *ret) {
    bool found = false;
    pthread_mutex_lock(&tokens->lock);
    for (size_t i = 0; i < tokens->lent.cap && !found; i++) {
        const struct token *token = tokens->lent.slots[i].value;
        found = token && strcmp(token->caller.run, run) == 0;
        if (found)
            *ret = token->caller;
    }
    pthread_mutex_unlock(&tokens->lock);
    return found;
}

void tokens_take_back(struct tokens *tokens, struct str text) {
    struct hash hash = sha256(text);
    pthread_mutex_lock(&tokens->lock);
    free(map_remove(&tokens->lent, token_key(&hash)));
    pthread_mutex_unlock(&tokens->lock);
}

static bool expiry_read(struct op_call *call, int64_t *ret) {
    struct str text = call->args.expires;
    int64_t span = LASTS;
    if (str_equal(text, STR("never"))) {
        *ret = TIME_NEVER;
        return true;
    }
    if (text.len > 0 && time_parse(text, ret))
        return *ret > call->at ? true
                               : op_refuse(call, ERROR_INVALID, "\"expires\" is in the past.");
    if (text.len > 0 && (!span_parse(text, &span) || span <= 0))
        return op_refuse(call, ERROR_INVALID,
                         "\"expires\" must be a duration such as 12h or 30d, a time, or never.");
    *ret = time_after(call->at, span);
    return true;
}

static bool bound_as_it_must(struct op_call *call) {
    const struct op_args *args = &call->args;
    bool of_run = args->role == ROLE_RUN;
    if (args->role == ROLE_NOBODY)
        return op_refuse(call, ERROR_INVALID, "\"role\" must be human, overseer, run or reader.");
    if (of_run && (args->goal.len == 0 || args->run.len == 0 || args->actor.len == 0))
        return op_refuse(call, ERROR_INVALID,
                         "A token for a run needs \"goal\", \"run\" and \"actor\".");
    if (!of_run && (args->goal.len > 0 || args->run.len > 0 || args->assignment.len > 0))
        return op_refuse(call, ERROR_INVALID,
                         "\"goal\", \"run\" and \"assignment\" are only for the role run.");
    return true;
}

static void text_set(char *to, size_t size, struct str from) {
    snprintf(to, size, "%.*s", STR_ARG(from));
}

static bool token_fill(struct op_call *call, struct token *ret) {
    const struct op_args *args = &call->args;
    *ret = (struct token){.caller.role = args->role, .created_at = call->at};
    if (!bound_as_it_must(call) || !expiry_read(call, &ret->expires_at))
        return false;
    if (args->role == ROLE_RUN)
        ret->caller.goal = args->goal_id;
    if (!assignment_named(call, &ret->caller.assignment))
        return false;
    text_set(ret->caller.run, sizeof ret->caller.run, args->run);
    text_set(ret->caller.actor, sizeof ret->caller.actor,
             args->actor.len > 0 ? args->actor : str_of(call->caller->actor));
    text_set(ret->note, sizeof ret->note, args->note);
    text_set(ret->by, sizeof ret->by, str_of(call->caller->actor));
    return true;
}

/* ---- the operations ---- */

static void result_put(struct op_call *call, const struct token *token, const char *text) {
    json_ran_short();
    json_t *json = token_json(token);
    if (text)
        json_object_set_new(json, "token", json_string(text));
    if (json && !json_ran_short()) {
        call->result = json;
        return;
    }
    json_decref(json);
    op_refuse(call, ERROR_NO_MEMORY, "%s", "");
}

static bool not_kept(struct op_call *call) {
    return op_refuse(call, ERROR_INTERNAL, "The token file cannot be written: %s.",
                     strerror(errno));
}

/* Under the lock. A change that is not on the disk does not count. */
static bool token_add(struct tokens *tokens, struct op_call *call, const struct token *token) {
    expired_drop(tokens, call->at);
    if (tokens->count == LIMIT_TOKENS)
        return op_refuse(call, ERROR_BUSY, "The limit of %d tokens is reached; revoke some.",
                         LIMIT_TOKENS);
    if (!token_keep(tokens, token))
        return op_refuse(call, ERROR_NO_MEMORY, "%s", "");
    if (tokens_save(tokens))
        return true;
    token_drop(tokens, tokens->count - 1);
    return not_kept(call);
}

void token_create_answer(struct daemon_context *context, struct op_call *call) {
    struct tokens *tokens = context->tokens;
    struct token token;
    char text[TOKEN_TEXT + 1], id[TOKEN_ID + 1];
    if (!token_fill(call, &token))
        return;
    token_write(text);
    token.hash = sha256(str_of(text));
    pthread_mutex_lock(&tokens->lock);
    bool kept = token_add(tokens, call, &token);
    pthread_mutex_unlock(&tokens->lock);
    if (!kept)
        return;
    token_id(&token, id);
    log_info("token %s for %s (%s) was created by %s", id, token.caller.actor,
             name_of(&ROLE_NAMES, token.caller.role), token.by);
    result_put(call, &token, text);
}

static bool place_find(struct tokens *tokens, struct op_call *call, uint32_t *ret) {
    char id[TOKEN_ID + 1];
    for (uint32_t i = 0; i < tokens->count; i++) {
        token_id(tokens->all[i], id);
        if (str_equal(str_of(id), call->args.token)) {
            *ret = i;
            return true;
        }
    }
    return op_refuse(call, ERROR_NOT_FOUND, "There is no token with that id.");
}

/* Removes the token at `place`, and adds `in_its_place` if there is one. */
static bool token_replace(struct tokens *tokens, struct op_call *call, uint32_t place,
                          const struct token *in_its_place) {
    struct token *gone = tokens->all[place];
    memmove(tokens->all + place, tokens->all + place + 1,
            (tokens->count - place - 1) * sizeof *tokens->all);
    tokens->count--; /* first: at the limit, only the removed token makes room for the new one */
    if (in_its_place && !token_keep(tokens, in_its_place)) {
        tokens->all[tokens->count++] = gone;
        return op_refuse(call, ERROR_NO_MEMORY, "%s", "");
    }
    bool saved = tokens_save(tokens);
    if (saved)
        map_remove(&tokens->by_hash, token_key(&gone->hash));
    if (saved)
        free(gone);
    else {
        if (in_its_place)
            token_drop(tokens, tokens->count - 1);
        tokens->all[tokens->count++] = gone;
        not_kept(call);
    }
    return saved;
}

void token_revoke_answer(struct daemon_context *context, struct op_call *call) {
    struct tokens *tokens = context->tokens;
    struct token token;
    uint32_t place;
    char id[TOKEN_ID + 1];
    pthread_mutex_lock(&tokens->lock);
    bool done = place_find(tokens, call, &place);
    if (done) {
        token = *tokens->all[place];
        done = token_replace(tokens, call, place, NULL);
    }
    pthread_mutex_unlock(&tokens->lock);
    if (!done)
        return;
    token_id(&token, id);
    log_info("token %s was revoked by %s", id, call->caller->actor);
    result_put(call, &token, NULL);
}

void token_rotate_answer(struct daemon_context *context, struct op_call *call) {
    struct tokens *tokens = context->tokens;
    struct token token;
    uint32_t place;
    char text[TOKEN_TEXT + 1], id[TOKEN_ID + 1];
    token_write(text);
    pthread_mutex_lock(&tokens->lock);
    bool done = place_find(tokens, call, &place);
    if (done) {
        token = *tokens->all[place];
        int64_t lasts =
            token.expires_at == TIME_NEVER ? TIME_NEVER : token.expires_at - token.created_at;
        token.hash = sha256(str_of(text));
        token.created_at = call->at;
        token.expires_at = time_after(call->at, lasts);
        text_set(token.by, sizeof token.by, str_of(call->caller->actor));
        done = token_replace(tokens, call, place, &token);
    }
    pthread_mutex_unlock(&tokens->lock);
    if (!done)
        return;
    token_id(&token, id);
    log_info("token %.*s was replaced with %s by %s", STR_ARG(call->args.token), id,
             call->caller->actor);
    result_put(call, &token, text);
}

/* Oldest first; a page begins after the id `after`. */
static uint32_t page_start(struct tokens *tokens, struct str after) {
    char id[TOKEN_ID + 1];
    for (uint32_t i = 0; after.len > 0 && i < tokens->count; i++) {
        token_id(tokens->all[i], id);
        if (str_equal(str_of(id), after))
            return i + 1;
    }
    return 0;
}

void token_list_answer(struct daemon_context *context, struct op_call *call) {
    struct tokens *tokens = context->tokens;
    json_t *list = json_array();
    char next[TOKEN_ID + 1] = "";
    json_ran_short();
    pthread_mutex_lock(&tokens->lock);
    uint32_t first = page_start(tokens, call->args.after), count = tokens->count;
    for (uint32_t i = first; i < count && i < first + LIMIT_LIST_PAGE; i++)
        json_array_append_new(list, token_json(tokens->all[i]));
    if (first + LIMIT_LIST_PAGE < count)
        token_id(tokens->all[first + LIMIT_LIST_PAGE - 1], next);
    pthread_mutex_unlock(&tokens->lock);
    json_t *json = json_pack("{s:o}", "tokens", list);
    if (next[0])
        json_object_set_new(json, "next", json_string(next));
    call->result = json_ran_short() ? NULL : json;
    if (call->result)
        return;
    json_decref(json);
    op_refuse(call, ERROR_NO_MEMORY, "%s", "");
}
