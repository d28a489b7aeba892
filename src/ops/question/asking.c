/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/question/asking.h"

#include "ops/question/question_view.h"
#include "ops/repository.h"
#include "store/rows.h"

static void host_add(struct asking *asking, uint32_t host) {
    for (uint32_t i = 0; i < asking->host_count; i++)
        if (asking->hosts[i] == host)
            return;
    if (asking->host_count < ASKING_HOSTS && host)
        asking->hosts[asking->host_count++] = host;
}

void asking_begin(struct asking *asking, uint32_t limit, struct op_call *call,
                  struct store_request *ret_request) {
    *asking = (struct asking){.call = call, .limit = limit < ASKING_SHOWN ? limit : ASKING_SHOWN};
    if (call->facts)
        host_add(asking, call->facts->host);
    *ret_request = (struct store_request){.verb = STORE_LIST, .limit = asking->limit};
    ret_request->filter.asking = true;
}

static void list_take(struct asking *asking, const struct store_answer *answer) {
    while (asking->listed < answer->view_count && asking->listed < asking->limit) {
        asking->goals[asking->listed] = answer->views[asking->listed].id;
        asking->listed++;
    }
    asking->count = answer->list_count;
    asking->began = true;
}

static bool page_ask(struct asking *asking, struct store_request brief,
                     struct store_request *request) {
    if (asking->page_count == 0)
        return false;
    ids_sort(asking->page, asking->page_count);
    *request = brief;
    request->verb = STORE_BRIEF;
    request->ids = asking->page;
    request->id_count = asking->page_count;
    return true;
}

/* Two repositories may share a workspace. */
static void system_add(struct asking *asking, struct id id) {
    for (uint32_t i = 0; i < asking->system_count; i++)
        if (id_equal(asking->systems[i], id))
            return;
    asking->systems[asking->system_count++] = id;
}

/* After the goals: the workspaces of the repositories, and the admissions of this host and of the goals' owners. */
static bool systems_ask(struct asking *asking, struct store_request *request) {
    const struct op_repositories *repositories = asking->call->repositories;
    for (uint32_t i = 0; i < asking->host_count && asking->system_shown == 0; i++)
        system_add(asking, admission_id(asking->hosts[i]));
    for (uint32_t i = 0; i < repositories->count && asking->system_shown == 0; i++)
        system_add(asking, repository_workspace(asking->call, repositories->at[i].key));
    asking->page_first = asking->system_shown;
    while (asking->system_shown < asking->system_count && asking->page_count < LIMIT_BRIEF)
        asking->page[asking->page_count++] = asking->systems[asking->system_shown++];
    return page_ask(asking, (struct store_request){.limit = 1}, request);
}

static bool show_ask(struct asking *asking, struct store_request *request) {
    asking->page_count = 0;
    if (asking->shown == asking->listed)
        return systems_ask(asking, request);
    asking->page_first = asking->shown;
    while (asking->shown < asking->listed && asking->page_count < LIMIT_BRIEF)
        asking->page[asking->page_count++] = asking->goals[asking->shown++];
    return page_ask(
        asking,
        (struct store_request){.limit = LIMIT_LIST_PAGE,
                               .first_type = RECORD_GOAL_COMPLETED}, /* without reports */
        request);
}

static void brief_take(struct asking *asking, json_t *items, const struct goal_loaded *loaded,
                       const struct goal_shown *shown) {
    size_t first = json_array_size(items);
    json_t *item = asks_json(loaded, shown);
    if (item) /* it may have been answered since the list was read */
        json_array_append_new(items, item);
    questions_append(items, loaded, shown);
    for (size_t i = first; i < json_array_size(items) && !loaded->goal.kind.admission; i++)
        repository_put(asking->call, json_array_get(items, i), loaded->goal.repository);
    if (loaded->exists && !loaded->goal.kind.admission)
        host_add(asking, loaded->goal.owner);
}

/* In the order of the list. */
static void page_show(struct asking *asking, json_t *items, const struct store_answer *answer) {
    bool systems = asking->system_shown > 0;
    for (uint32_t i = 0; i < asking->page_count; i++) {
        uint32_t n = asking->page_first + i;
        struct id id = systems ? asking->systems[n] : asking->goals[n];
        int64_t place = id_place(asking->page, asking->page_count, id);
        must(place >= 0);
        brief_take(asking, items, &answer->loaded[place], &answer->briefs[place]);
    }
}

bool asking_next(struct asking *asking, json_t *items, const struct store_answer *answer,
                 struct store_request *ret_request) {
    if (asking->began)
        page_show(asking, items, answer);
    else
        list_take(asking, answer);
    return show_ask(asking, ret_request);
}

static const char *since_of(const json_t *item) {
    const char *since = json_string_value(json_object_get(item, "since"));
    return since ? since : "";
}

/* Insertion sort: the items are few and nearly sorted. */
void asking_sort(json_t *items) {
    for (size_t i = 1; i < json_array_size(items); i++)
        for (size_t k = i; k > 0; k--) {
            json_t *left = json_array_get(items, k - 1), *right = json_array_get(items, k);
            if (strcmp(since_of(left), since_of(right)) <= 0)
                break;
            json_incref(left);
            json_array_set(items, k - 1, right);
            json_array_set_new(items, k, left);
        }
}
