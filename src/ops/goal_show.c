/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a goal, and why is it as it is? */
#include "ops/json.h"
#include "ops/op.h"

static const struct field PARAMS[] = {
    {"goal", FIELD_TEXT, 0, FIELD_OF(op_args, goal), 64, FIELD_REQUIRED, NULL, "the goal's id"},
};

static void request(const struct op_args *args, struct store_request *ret_request) {
    ret_request->verb = STORE_SHOW;
    ret_request->ids = &args->goal_id;
    ret_request->id_count = 1;
    ret_request->limit = LIMIT_SHOWN_RECORDS;
}

static json_t *effect_json(const struct effect_slot *slot) {
    return json_pack("{s:i, s:s, s:s, s:i}", "n", (int)slot->n, "kind",
                     EFFECTS[slot->kind % EFFECT_KINDS].name, "state",
                     EFFECT_STATE[slot->state].name, "host", (int)slot->run_host);
}

static json_t *record_json(const struct record *record) {
    char at[TIME_TEXT + 1];
    time_format(record->at, at);
    const char *type = record->type < RECORD_TYPES ? RECORD_NAMES.name[record->type] : "unknown";
    json_t *json =
        json_pack("{s:I, s:s, s:s}", "seq", (json_int_t)record->seq, "at", at, "type", type);
    struct evidence evidence = {0};
    if (json && shape_decode(&EVIDENCE, record->body, &evidence))
        json_put_fields(json, EVIDENCE.fields, EVIDENCE.count, &evidence);
    return json;
}

static json_t *goal_json(const struct goal *goal, const struct goal_shown *shown) {
    char id[GOAL_ID_TEXT + 1];
    goal_id_format(goal->id, id);
    json_t *json = json_pack("{s:s, s:s%, s:s, s:I, s:I, s:i, s:I}", "goalId", id, "title",
                             shown->title.at ? shown->title.at : "", shown->title.len, "state",
                             FACE_NAMES.name[goal_face(goal)], "version", (json_int_t)goal->version,
                             "seq", (json_int_t)goal->seq, "owner", (int)goal->owner, "fence",
                             (json_int_t)goal->fence);
    if (json)
        json_put_fields(json, GOAL_HOT.fields, GOAL_HOT.count, goal);
    return json;
}

static json_t *result(const struct store_answer *answer, enum error *ret_error) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    const struct goal_shown *shown = &answer->shown;
    *ret_error = loaded->exists ? ERROR_NONE : ERROR_NOT_FOUND;
    if (!loaded->exists)
        return NULL;
    json_ran_short();
    json_t *json = goal_json(&loaded->goal, shown);
    json_t *effects = json_array(), *records = json_array();
    for (uint32_t i = 0; i < loaded->goal.open_count; i++)
        json_array_append_new(effects, effect_json(&loaded->goal.open[i]));
    for (uint32_t i = 0; i < shown->record_count; i++)
        json_array_append_new(records, record_json(&shown->records[i]));
    json_object_set_new(json, "effects", effects);
    json_object_set_new(json, "records", records);
    if (shown->why_aside.len > 0)
        json_object_set_new(json, "quarantined",
                            json_stringn(shown->why_aside.at, shown->why_aside.len));
    if (json && !json_ran_short())
        return json;
    json_decref(json); /* a part of it may be missing */
    *ret_error = ERROR_NO_MEMORY;
    return NULL;
}

const struct op OP_GOAL_SHOW = {
    .name = "goal.show",
    .summary = "Show a goal, what is being done for it, and the records that say why.",
    .help = "Example: overseer goal show GOAL",
    .kind = OP_READS,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .positional = 1,
    .request = request,
    .result = result,
};
