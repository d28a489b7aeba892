/* SPDX-License-Identifier: Apache-2.0 */
/* Carries signals to the ledger thread, through one bounded queue. */
#pragma once

#include "ledger/input.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct input_list inputs;
    bool stopping;
};

void queue_start(struct queue *queue);
void queue_end(struct queue *queue);

/* False: too many inputs wait, or the ledger thread answers no more; the caller keeps the input. Outcomes and agents'
 * reports always find room: their number is bounded by the released acts and by the runs. */
bool queue_put(struct queue *queue, struct input *input);

/* Takes all inputs; waits until boot time `until` for one. */
struct input_list queue_take_all(struct queue *queue, int64_t until, bool *ret_stopping);

void queue_stop(struct queue *queue);
