/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/why/differ.h"

#include "model/setting/setting.h"
#include "ops/why/explain.h"

#include <stdio.h>

/* The setting supervision.backoff.base is the field backoff_base of a policy. */
static bool is_named(const char *setting, const char *field) {
    char text[80];
    size_t length = strlen(setting), wanted = strlen(field);
    if (length >= sizeof text || length < wanted)
        return false;
    for (size_t i = 0; i <= length; i++)
        text[i] = setting[i] == '.' ? '_' : setting[i];
    for (const char *at = text; (at = strstr(at, field)); at++)
        if (at > text && at[-1] == '_' && (at[wanted] == 0 || at[wanted] == '_'))
            return true;
    return false;
}

/* Fields of a policy are named like their settings, without the section. */
static const char *setting_of(const struct field *field) {
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if ((SETTINGS[i].flags & SETTING_POLICY) && is_named(SETTINGS[i].name, field->name))
            return SETTINGS[i].name;
    return field->name;
}

static int64_t value_get(const struct field *field, const struct policy *policy) {
    const char *at = (const char *)policy + field->offset;
    if (field->type == FIELD_INT)
        return *(const int64_t *)(const void *)at;
    return field->type == FIELD_U32 ? *(const uint32_t *)(const void *)at : 0;
}

static bool value_set(const struct field *field, struct policy *policy, int64_t value) {
    char *at = (char *)policy + field->offset;
    if (field->type == FIELD_INT)
        *(int64_t *)(void *)at = value;
    else if (value <= UINT32_MAX)
        *(uint32_t *)(void *)at = (uint32_t)value;
    return field->type == FIELD_INT || value <= UINT32_MAX;
}

static void value_tell(const struct field *field, int64_t value, char text[SPAN_TEXT]) {
    if (field->type == FIELD_INT)
        span_format(value, text);
    else
        snprintf(text, SPAN_TEXT, "%lld", (long long)value);
}

/* Describes the first record that says more than that an effect was executed. */
static void instead_tell(const struct decision *would, char text[EXPLAIN_TEXT]) {
    snprintf(text, EXPLAIN_TEXT, "no decision would have been made");
    for (uint32_t i = 0; i < would->record_count; i++) {
        struct evidence evidence;
        if (!record_evidence(&would->records[i], &evidence) ||
            record_is_inside(&would->records[i], &evidence))
            continue;
        record_tell(&would->records[i], &evidence, text);
        return;
    }
}

static json_t *differ_json(const struct field *field, int64_t was, int64_t value,
                           const struct decision *would) {
    char from[SPAN_TEXT], to[SPAN_TEXT], instead[EXPLAIN_TEXT];
    value_tell(field, was, from);
    value_tell(field, value, to);
    instead_tell(would, instead);
    return json_pack("{s:s, s:s, s:s, s:s}", "setting", setting_of(field), "was", from, "value", to,
                     "instead", instead);
}

static void field_try(json_t *list, struct replay *replay, const struct field *field) {
    static const int64_t TIMES[] = {2, 10};
    int64_t was = value_get(field, replay->policy);
    const struct decision *would;
    for (size_t i = 0; i < count_of(TIMES) && was <= INT64_MAX / TIMES[i]; i++) {
        struct policy policy = *replay->policy;
        if (!value_set(field, &policy, was * TIMES[i]) ||
            !replay_would_differ(replay, &policy, &would))
            continue;
        json_array_append_new(list, differ_json(field, was, was * TIMES[i], would));
        return;
    }
}

/* Is the value one of the limits that the decision names? */
static bool is_compared(const struct decision *decision, int64_t value) {
    for (uint32_t i = 0; value > 0 && i < decision->record_count; i++) {
        struct evidence evidence;
        if (record_evidence(&decision->records[i], &evidence) && evidence.threshold == value)
            return true;
    }
    return false;
}

void differ_put(json_t *json, struct replaying *replaying) {
    struct replay *replay = &replaying->replay;
    json_t *list = json_array();
    if (replay_conclude(replay) == REPLAYED_SAME && replay->records >= replaying->until)
        for (size_t i = 0; i < POLICY.count; i++)
            if (is_compared(&replay->decision, value_get(&POLICY.fields[i], replay->policy)))
                field_try(list, replay, &POLICY.fields[i]);
    if (json_array_size(list) > 0)
        json_object_set(json, "wouldDiffer", list);
    json_decref(list);
}
