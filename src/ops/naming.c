/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/naming.h"

#include "ops/json.h"
#include "ops/view.h"
#include "store/rows.h"

static bool id_of(const json_t *entry, struct id *ret) {
    const char *id = json_string_value(json_object_get(entry, "goalId"));
    return id && goal_id_parse(str_of(id), ret);
}

static uint32_t once_each(struct id *ids, uint32_t count) {
    uint32_t kept = 0;
    ids_sort(ids, count);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || !id_equal(ids[i], ids[kept - 1]))
            ids[kept++] = ids[i];
    return kept;
}

static void goals_gather(struct naming *it, struct op_call *call) {
    size_t most = 0, i;
    json_t *entry;
    for (const char *const *list = it->lists; *list; list++)
        most += json_array_size(json_object_get(call->result, *list));
    it->goals = arena_new(&call->arena, struct id, most + 1);
    for (const char *const *list = it->lists; *list; list++)
        json_array_foreach(json_object_get(call->result, *list), i, entry) it->count +=
            id_of(entry, &it->goals[it->count]);
    it->count = once_each(it->goals, it->count);
}

static void page_take(struct naming *it, struct op_call *call, const struct store_answer *answer) {
    size_t i;
    json_t *entry;
    for (const char *const *list = it->lists; *list; list++)
        json_array_foreach(json_object_get(call->result, *list), i, entry) {
            struct id id;
            int64_t place = id_of(entry, &id) ? id_place(it->goals + it->named, it->page, id) : -1;
            if (place < 0 || !answer->loaded[place].exists)
                continue;
            struct str title = answer->briefs[place].title;
            goal_name_put(entry, answer->loaded[place].goal.kind.number);
            json_object_set_new(entry, "title", json_stringn(title.at ? title.at : "", title.len));
        }
}

bool naming_next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    struct naming *it = call->own;
    if (call->result)
        page_take(it, call, answer);
    else {
        json_ran_short();
        if (answer->loaded[0].exists && !view_is_whole(call, answer))
            return false;
        call->result = it->make(call, &answer->loaded[0]);
        goals_gather(it, call);
    }
    it->named += it->page;
    uint32_t left = it->count - it->named;
    it->page = left < LIMIT_BRIEF ? left : LIMIT_BRIEF;
    *ret_request = (struct store_request){.verb = STORE_BRIEF,
                                          .ids = it->goals + it->named,
                                          .id_count = it->page,
                                          .limit = 1,
                                          .first_type = RECORD_GOAL_CREATED,
                                          .last_type = RECORD_GOAL_CREATED};
    return it->page > 0;
}

json_t *naming_result(struct op_call *call, const struct store_answer *answer) {
    (void)answer;
    json_t *json = call->result;
    call->result = NULL;
    return json || call->error == ERROR_NONE ? view_checked(call, json) : NULL;
}
