/* SPDX-License-Identifier: Apache-2.0 */
/* Posts a task to the loop from another thread. */
#include "runs/run_table.h"

#include "runs/run.h"

/* ---- tasks posted to the loop ---- */

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
