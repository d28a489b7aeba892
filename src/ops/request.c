/* SPDX-License-Identifier: Apache-2.0 */
/* What every operation needs: names, ids of goals, whether a parameter was given, and a refusal in words. */
#include "ops/op.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const MODE[MODES] = {"apply", "draft"};
const struct names MODE_NAMES = NAMES_OF(MODE);

static const char *const ROLE[ROLES] = {"nobody", "human", "overseer", "run", "reader"};
const struct names ROLE_NAMES = NAMES_OF(ROLE);

const struct op_member OP_WRITTEN[] = {
    {"goalId", MEMBER_TEXT, true, "the goal"},
    {"name", MEMBER_TEXT, false, "its name, such as T7"},
    {"version", MEMBER_NUMBER, false, "version of the goal, afterwards"},
    {"seq", MEMBER_NUMBER, false, "of the newest record"},
    {"forwarded", MEMBER_FLAG, false, "stored for the host that owns the goal, which applies it"},
    {"spooled", MEMBER_FLAG, false, "spooled on this host's disk until the database is back"},
};
const size_t OP_WRITTEN_COUNT = count_of(OP_WRITTEN);

void goal_id_format(struct id id, char text[GOAL_ID_TEXT + 1]) {
    memcpy(text, "goal_", 5);
    id_format(id, text + 5);
}

void goal_name_or_id(const struct goal *goal, char text[GOAL_ID_TEXT + 1]) {
    char name[TASK_NAME];
    task_name_format(goal->kind.number, name);
    if (name[0])
        snprintf(text, GOAL_ID_TEXT + 1, "%s", name);
    else
        goal_id_format(goal->id, text);
}

void goal_name_put(json_t *to, uint64_t number) {
    char name[TASK_NAME];
    task_name_format(number, name);
    if (name[0])
        json_object_set_new(to, "name", json_string(name));
}

bool goal_id_parse(struct str text, struct id *ret_id) {
    if (text.len > 5 && memcmp(text.at, "goal_", 5) == 0)
        text = (struct str){text.at + 5, text.len - 5};
    return id_parse(text, ret_id);
}

bool goal_id_range(struct str text, struct id *ret_first, struct id *ret_last) {
    char first[ID_TEXT], last[ID_TEXT];
    if (text.len > 5 && memcmp(text.at, "goal_", 5) == 0)
        text = (struct str){text.at + 5, text.len - 5};
    if (text.len < LIMIT_PREFIX || text.len > ID_TEXT)
        return false;
    memset(first, '0', sizeof first);
    memset(last, 'Z', sizeof last);
    memcpy(first, text.at, text.len);
    memcpy(last, text.at, text.len);
    return id_parse((struct str){first, sizeof first}, ret_first) &&
           id_parse((struct str){last, sizeof last}, ret_last);
}

bool op_refuse(struct op_call *call, enum error error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(call->why, sizeof call->why, format, args);
    va_end(args);
    call->error = error;
    return false;
}

bool op_given(const json_t *params, const char *name) {
    const json_t *value = json_object_get(params, name);
    return value && !json_is_null(value);
}
