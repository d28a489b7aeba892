/* SPDX-License-Identifier: Apache-2.0 */
/* Posts tasks to the loop from other threads, and runs them there. */
#include "runs/run.h"

/* From any thread. */
void loop_post(struct run_table *runs, struct loop_task *task) {
    pthread_mutex_lock(&runs->lock);
    struct loop_task **end = &runs->posted;
    while (*end)
        end = &(*end)->next;
    task->next = NULL;
    *end = task;
    if (!runs->stopping)
        uv_async_send(&runs->heard);
    pthread_mutex_unlock(&runs->lock);
}

void loop_answer_post(struct input *input) {
    struct loop_answer *answer = input->waiter;
    loop_post(answer->runs, &answer->task);
}

void loop_tasks_run(struct run_table *runs) {
    pthread_mutex_lock(&runs->lock);
    struct loop_task *task = runs->posted;
    runs->posted = NULL;
    pthread_mutex_unlock(&runs->lock);
    while (task) {
        struct loop_task *next = task->next;
        task->go(task);
        task = next;
    }
}

void loop_tasks_came(uv_async_t *async) {
    loop_tasks_run(async->data);
}
