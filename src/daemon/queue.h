/* SPDX-License-Identifier: Apache-2.0 */
/* How do signals reach the ledger's thread? Through one bounded queue. */
#pragma once

#include "daemon/input.h"

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct input_list inputs;
    bool stopping;
};

void queue_start(struct queue *queue);
void queue_end(struct queue *queue);

/* False: too much waits, or nobody will answer any more; the caller keeps the input. Outcomes and what agents say always find
 * room: their number is bounded by the acts that were let go, and by the runs. */
bool queue_put(struct queue *queue, struct input *input);

/* Everything there is; waits until boot time `until` for something. */
struct input_list queue_take_all(struct queue *queue, int64_t until, bool *ret_stopping);

void queue_stop(struct queue *queue);
