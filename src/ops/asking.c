/* SPDX-License-Identifier: Apache-2.0 */
/* Which goals wait for a person, the one that has waited longest first? */
#include "ops/asking.h"

#include "ops/question_view.h"

#include <stdlib.h>

static void list_ask(struct store_request *request) {
    *request = (struct store_request){.verb = STORE_LIST, .limit = LIMIT_LIST_PAGE};
    request->filter.by_face = true;
    request->filter.face = FACE_NEEDS_YOU;
}

static void host_add(struct asking *asking, uint32_t host) {
    for (uint32_t i = 0; i < asking->host_count; i++)
        if (asking->hosts[i] == host)
            return;
    if (asking->host_count < ASKING_HOSTS && host)
        asking->hosts[asking->host_count++] = host;
}

void asking_begin(struct asking *asking, uint32_t limit, struct op_call *call,
                  struct store_request *ret_request) {
    *asking = (struct asking){.goals = arena_new(&call->arena, struct waiting_goal, ASKING_MOST),
                              .limit = limit < ASKING_SHOWN ? limit : ASKING_SHOWN};
    if (call->facts)
        host_add(asking, call->facts->host);
    list_ask(ret_request);
}

static int longest_first(const void *a, const void *b) {
    const struct waiting_goal *left = a, *right = b;
    if (left->since != right->since)
        return left->since < right->since ? -1 : 1;
    return id_compare(left->id, right->id);
}

static void page_take(struct asking *asking, const struct store_answer *answer) {
    uint32_t room = ASKING_MOST - asking->count;
    uint32_t count = answer->view_count < room ? answer->view_count : room;
    for (uint32_t i = 0; i < count; i++)
        asking->goals[asking->count++] =
            (struct waiting_goal){answer->views[i].id, answer->views[i].updated_at};
    asking->more = answer->more || count < answer->view_count;
}

/* After the goals: the desks of their owners, and of this host. */
static bool desk_ask(struct asking *asking, struct store_request *request) {
    if (asking->host_shown == asking->host_count)
        return false;
    asking->desk = desk_id(asking->hosts[asking->host_shown++]);
    *request =
        (struct store_request){.verb = STORE_SHOW, .ids = &asking->desk, .id_count = 1, .limit = 1};
    return true;
}

static bool show_ask(struct asking *asking, struct store_request *request) {
    if (asking->shown == asking->count || asking->shown == asking->limit)
        return desk_ask(asking, request);
    *request = (struct store_request){.verb = STORE_SHOW,
                                      .ids = &asking->goals[asking->shown].id,
                                      .id_count = 1,
                                      .limit = LIMIT_LIST_PAGE,
                                      .first_type = RECORD_GOAL_COMPLETED}; /* but for reports */
    asking->shown++;
    return true;
}

bool asking_next(struct asking *asking, json_t *items, const struct store_answer *answer,
                 struct store_request *ret_request) {
    if (asking->listed) {
        json_t *item = asks_json(&answer->loaded[0], &answer->shown);
        if (item) /* it may have been answered since the list was read */
            json_array_append_new(items, item);
        questions_append(items, &answer->loaded[0], &answer->shown);
        if (answer->loaded[0].exists && !answer->loaded[0].goal.desk)
            host_add(asking, answer->loaded[0].goal.owner);
        return show_ask(asking, ret_request);
    }
    page_take(asking, answer);
    if (asking->more && asking->count < ASKING_MOST) {
        const struct goal_view *last = &answer->views[answer->view_count - 1];
        list_ask(ret_request);
        ret_request->filter.before = last->created_at;
        ret_request->filter.before_id = last->id;
        return true;
    }
    asking->listed = true;
    if (asking->count > 0)
        qsort(asking->goals, asking->count, sizeof *asking->goals, longest_first);
    return show_ask(asking, ret_request);
}

static const char *since_of(const json_t *item) {
    const char *since = json_string_value(json_object_get(item, "since"));
    return since ? since : "";
}

/* Few, and nearly in order. */
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
