/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request_key.h"

#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct str id_bytes(const struct id *id) {
    return (struct str){(const char *)id->bytes, sizeof id->bytes};
}

/* What the request asks for. Left out: the goal, which can be written in several ways and is part of the key, and the
 * trace, which belongs to one try. */
static char *body_text(const json_t *params) {
    static const char *const APART[] = {"key", "goal", "traceId"};
    json_t *body = json_copy((json_t *)(uintptr_t)params), *value;
    const char *name;
    void *next;
    if (json_object_size(body) != json_object_size(params)) { /* a member had no memory */
        json_decref(body);
        return NULL;
    }
    for (size_t i = 0; i < count_of(APART); i++)
        json_object_del(body, APART[i]);
    json_object_foreach_safe(body, next, name, value) {
        if (json_is_null(value))
            json_object_del(body, name);
    }
    char *text = body ? json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(body);
    return text;
}

/* Earlier builds used neither caller nor body, except that runs had keys of their own. */
static struct id source_before(const struct op_call *call, struct id goal, struct id of_key,
                               struct id of_caller) {
    if (call->caller->role == ROLE_RUN)
        of_key = id_derive(id_bytes(&of_caller), id_bytes(&of_key));
    return id_derive(id_bytes(&goal), id_bytes(&of_key));
}

/* The user that the daemon runs as is one caller, whatever its uid on a host. */
static struct id caller_id(const struct caller *caller) {
    char self[32];
    snprintf(self, sizeof self, "human:%u", (unsigned)geteuid());
    const char *actor = strcmp(caller->actor, self) == 0 ? "human" : caller->actor;
    return id_derive(str_of(actor), str_of(caller->run));
}

bool key_name(struct signal *signal, const struct op_call *call, bool given) {
    struct id of_key = id_derive(str_of(call->op->name), call->args.key);
    struct id of_run = id_derive(str_of(call->caller->actor), str_of(call->caller->run));
    struct id of_caller = caller_id(call->caller);
    struct id of_both = id_derive(id_bytes(&of_caller), id_bytes(&of_key));
    struct id key = id_derive(STR("key"), id_bytes(&signal->goal));
    key = id_derive(id_bytes(&key), id_bytes(&of_both));
    char *body = body_text(call->params);
    if (!body)
        return false;
    signal->once.keyed = 1;
    signal->source = id_derive(id_bytes(&key), str_of(body));
    free(body);
    if (given) { /* a key that was made for this call is used by no other */
        signal->once.key = key;
        signal->once.before = source_before(call, signal->goal, of_key, of_run);
    }
    if (signal->kind == SIGNAL_GOAL_CREATE)
        signal->goal = key;
    return true;
}

void key_random(struct signal *signal) {
    uint8_t random[10];
    random_bytes(random, sizeof random);
    signal->source = id_make(signal->at / 1000, random);
    signal->once.keyed = 0;
    if (signal->kind == SIGNAL_GOAL_CREATE)
        signal->goal = signal->source;
}
