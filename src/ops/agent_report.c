/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/agent_report.h"

#include "core/people/words.h"
#include "ops/json.h"

/* Placeholders copied from our own example must not be taken for the agent's report. */
static void texts_drop(struct texts *texts, struct arena *arena) {
    struct str *kept = arena_new(arena, struct str, texts->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < texts->count; i++)
        if (!words_is_placeholder(texts->at[i]))
            kept[count++] = texts->at[i];
    *texts = (struct texts){kept, count};
}

static bool says_anything(const struct update *update) {
    return update->status.len + update->summary.len + update->next.len > 0 ||
           update->blockers.count + update->files.count + update->tests.count +
                   update->commits.count >
               0;
}

bool update_clean(struct update *update, struct arena *arena) {
    struct str *texts[] = {&update->status, &update->summary, &update->next};
    struct texts *lists[] = {&update->blockers, &update->files, &update->tests, &update->commits};
    for (size_t i = 0; i < count_of(texts); i++)
        if (words_is_placeholder(*texts[i]))
            *texts[i] = (struct str){0};
    for (size_t i = 0; i < count_of(lists); i++)
        texts_drop(lists[i], arena);
    return says_anything(update);
}

void completion_follow(struct update *update, struct arena *arena) {
    static const struct str STATUS[COMPLETIONS] = {
        [COMPLETION_COMPLETE] = {"done", 4},
        [COMPLETION_PARTIAL] = {"in_progress", 11},
        [COMPLETION_FAILED] = {"blocked", 7},
    };
    const struct artifact_claim *artifacts = update->artifacts.at;
    update->status = STATUS[update->completion - 1];
    if (update->files.count > 0)
        return;
    struct str *files = arena_new(arena, struct str, update->artifacts.count);
    for (uint32_t i = 0; i < update->artifacts.count; i++)
        files[i] = artifacts[i].path;
    update->files = (struct texts){files, update->artifacts.count};
}

json_t *completion_json(const struct update *update) {
    if (update->completion == 0 || update->completion > COMPLETIONS ||
        update->confidence > CONFIDENCES)
        return json_null();
    static const char *const LEFT_OUT[] = {"goalId", "workNodeId", "status", "next", NULL};
    json_t *json = json_object();
    json_put_fields(json, UPDATE.fields, UPDATE.count, update);
    for (const char *const *name = LEFT_OUT; *name; name++)
        json_object_del(json, *name);
    json_object_set_new(json, "status",
                        json_string(name_of(&COMPLETION_NAMES, update->completion - 1)));
    if (update->confidence)
        json_object_set_new(json, "confidence",
                            json_string(name_of(&CONFIDENCE_NAMES, update->confidence - 1)));
    struct field artifacts = {.type = FIELD_ROWS, .of = &ARTIFACT_CLAIM},
                 warnings = {.type = FIELD_TEXTS};
    json_object_set_new(json, "artifacts", json_of(&artifacts, &update->artifacts));
    json_object_set_new(json, "warnings", json_of(&warnings, &update->warnings));
    return json;
}
