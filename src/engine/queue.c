/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue.h"

#include "sys/clock.h"

void queue_start(struct queue *queue) {
    *queue = (struct queue){0};
    pthread_mutex_init(&queue->lock, NULL);
    clock_condition(&queue->changed);
}

void queue_end(struct queue *queue) {
    input_free_all(&queue->inputs);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

bool queue_put(struct queue *queue, struct input *input) {
    pthread_mutex_lock(&queue->lock);
    bool room = input->must_fit || queue->inputs.count < LIMIT_QUEUE_SIGNALS;
    bool taken = !input->waiter || (room && !queue->stopping);
    if (taken)
        input_push(&queue->inputs, input);
    if (taken && queue->inputs.count == 1)
        pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

struct input_list queue_take_all(struct queue *queue, int64_t until, bool *ret_stopping) {
    pthread_mutex_lock(&queue->lock);
    for (int64_t left;
         !queue->inputs.first && !queue->stopping && (left = until - clock_boot()) > 0;) {
        struct timespec end = clock_slice(left);
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
