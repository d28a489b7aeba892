/* SPDX-License-Identifier: Apache-2.0 */
/* How do signals reach the ledger's thread? */
#include "daemon/queue.h"

#include "daemon/clock.h"

#include <time.h>

void queue_start(struct queue *queue) {
    *queue = (struct queue){0};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void queue_end(struct queue *queue) {
    input_free_all(&queue->inputs);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

bool queue_put(struct queue *queue, struct input *input) {
    pthread_mutex_lock(&queue->lock);
    bool taken = !input->waiter || (queue->inputs.count < LIMIT_QUEUE_SIGNALS && !queue->stopping);
    if (taken)
        input_push(&queue->inputs, input);
    if (taken && queue->inputs.count == 1)
        pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

/* The condition waits on the monotonic clock, in slices short enough not to mind a suspend. */
static struct timespec slice_end(int64_t micros) {
    int64_t slice = micros < SECONDS(1) ? micros : SECONDS(1);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t nanos = end.tv_nsec + slice * 1000;
    end.tv_sec += nanos / 1000000000;
    end.tv_nsec = nanos % 1000000000;
    return end;
}

struct input_list queue_take_all(struct queue *queue, int64_t until, bool *ret_stopping) {
    pthread_mutex_lock(&queue->lock);
    for (int64_t left;
         !queue->inputs.first && !queue->stopping && (left = until - clock_boot()) > 0;) {
        struct timespec end = slice_end(left);
        pthread_cond_timedwait(&queue->changed, &queue->lock, &end);
    }
    struct input_list all = queue->inputs;
    queue->inputs = (struct input_list){0};
    *ret_stopping = queue->stopping;
    pthread_mutex_unlock(&queue->lock);
    return all;
}

void queue_stop(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}
