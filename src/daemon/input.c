/* SPDX-License-Identifier: Apache-2.0 */
/* What travels to the ledger and back? */
#include "daemon/input.h"

#include "daemon/guard.h"
#include "model/redact.h"

#include <stdlib.h>

/* ---- secrets ---- */

static struct arena rules_arena;
static const struct secret_rules *rules;

static const struct secret_rules *rules_now(void) {
    if (!rules)
        rules = secret_rules_new(NULL, 0, &rules_arena);
    return rules;
}

struct custom {
    const struct str *at;
    uint32_t count;
};

static void custom_build(void *with) {
    const struct custom *custom = with;
    rules = secret_rules_new(custom->at, custom->count, &rules_arena);
}

bool input_redacts(const struct str *custom, uint32_t count) {
    struct guard_report report;
    if (rules && count == 0)
        return true;
    return guard_run(custom_build, &(struct custom){custom, count}, &report) == GUARD_WHOLE;
}

struct str input_redacted(struct str text, struct arena *arena) {
    return secret_redact(rules_now(), text, arena);
}

struct searching {
    struct str text;
    bool found;
};

static void searching_run(void *with) {
    struct searching *searching = with;
    searching->found = secret_find(rules_now(), searching->text);
}

bool input_has_secret(struct str text) {
    struct searching searching = {.text = text};
    struct guard_report report;
    return guard_run(searching_run, &searching, &report) != GUARD_WHOLE || searching.found;
}

struct making {
    const struct signal *signal;
    struct arena arena;
    struct input *input;
};

static void making_run(void *with) {
    struct making *making = with;
    struct signal clean = signal_redact(rules_now(), making->signal, &making->arena);
    making->input = malloc(sizeof *making->input + signal_text_size(&clean));
    if (!making->input)
        return;
    *making->input = (struct input){0};
    signal_copy(&making->input->signal, &clean, (char *)(making->input + 1));
}

struct input *input_make(const struct signal *signal, void *waiter) {
    struct making making = {.signal = signal};
    struct guard_report report;
    guard_run(making_run, &making, &report); /* without memory there is no input */
    arena_free(&making.arena);
    if (making.input)
        making.input->waiter = waiter;
    return making.input;
}

void input_free(struct input *input) {
    if (!input)
        return;
    free(input->act);
    free(input->policy);
    free(input);
}

/* The body is copied behind the act, and decoded there. One that cannot be decoded keeps kind NONE. */
struct act *act_make(struct id goal, uint32_t n, uint32_t kind, struct str body) {
    struct act *act = malloc(sizeof *act + body.len);
    if (!act)
        return NULL;
    char *room = (char *)(act + 1);
    if (body.len > 0)
        memcpy(room, body.at, body.len);
    *act = (struct act){.effect = {.kind = (enum effect_kind)kind, .goal = goal, .n = n}};
    if (!effect_decode((enum effect_kind)kind, (struct str){room, body.len}, &act->effect))
        act->effect.kind = EFFECT_NONE;
    act->lane = EFFECTS[kind < EFFECT_KINDS ? kind : EFFECT_NONE].lane;
    return act;
}

void input_push(struct input_list *list, struct input *input) {
    input->next = NULL;
    if (list->last)
        list->last->next = input;
    else
        list->first = input;
    list->last = input;
    list->count++;
}

struct input *input_pop(struct input_list *list) {
    struct input *input = list->first;
    if (!input)
        return NULL;
    list->first = input->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    input->next = NULL;
    return input;
}

void input_free_all(struct input_list *list) {
    for (struct input *input; (input = input_pop(list));)
        input_free(input);
}
