/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines about runs, in one form: the members goal, task and run say which run, the text says which agent. OBSERVE-02.
 *
 * Code in this module logs only through these three; `tools/tidy logs` refuses anything else. */
#pragma once

#include "model/effect.h"
#include "sys/log.h"

/* About one run. `about`: a struct with goal, node and id, such as a struct run. */
#define log_run(level, about, ...) \
    log_line(level, __FILE__, \
             &(struct log_about){ \
                 .goal = (about)->goal, .task = str_of((about)->node), .run = (about)->id}, \
             __VA_ARGS__)

/* Task and run of an effect. An effect of a goal without an agent, such as a command, has neither. */
static inline struct log_about effect_about(const struct effect *effect) {
    uint32_t number = effect->run                    ? effect->run
                      : effect->kind != EFFECT_SPAWN ? 0
                      : effect->dispatch             ? effect->dispatch
                                                     : effect->n + 1;
    struct log_about about = {.goal = effect->goal, .effect = effect->n + 1, .task = effect->node};
    if (number)
        about.run = effect_id(effect->goal, number - 1);
    return about;
}

#define log_effect(level, effect, ...) \
    do { \
        struct log_about about_effect = effect_about(effect); \
        log_line(level, __FILE__, &about_effect, __VA_ARGS__); \
    } while (0)

/* About this host, its folders or all of its runs. Not in a function that knows which run it is about. */
#define log_host(level, ...) log_line(level, __FILE__, NULL, __VA_ARGS__)
