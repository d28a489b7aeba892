/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/input.h"

#include "model/secret/redact.h"
#include "sys/crash_guard.h"
#include "sys/redaction.h"

#include <stdlib.h>

struct making {
    const struct signal *signal;
    struct arena arena;
    struct input *input;
};

static void making_run(void *with) {
    struct making *making = with;
    struct signal clean = signal_redact(redaction_rules(), making->signal, &making->arena);
    making->input = malloc(sizeof *making->input + signal_text_size(&clean));
    if (!making->input)
        return;
    *making->input = (struct input){0};
    signal_copy(&making->input->signal, &clean, (char *)(making->input + 1));
}

struct input *input_make(const struct signal *signal, void *waiter) {
    struct making making = {.signal = signal};
    struct crash_guard_report report;
    crash_guard_run(making_run, &making, &report); /* without memory there is no input */
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

/* The body is copied behind the act, and decoded there. If it cannot be decoded, the kind is NONE. */
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
    act->class = EFFECTS[kind < EFFECT_KINDS ? kind : EFFECT_NONE].class;
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
