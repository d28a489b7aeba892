/* SPDX-License-Identifier: Apache-2.0 */
/* What travels to the ledger and back? */
#include "daemon/input.h"

#include <stdlib.h>

struct input *input_make(const struct signal *signal, void *waiter) {
    struct input *input = malloc(sizeof *input + signal_text_size(signal));
    if (!input)
        return NULL;
    *input = (struct input){.waiter = waiter};
    signal_copy(&input->signal, signal, (char *)(input + 1));
    return input;
}

void input_free(struct input *input) {
    if (!input)
        return;
    free(input->act);
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
