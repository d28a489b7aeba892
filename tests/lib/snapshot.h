/* SPDX-License-Identifier: Apache-2.0 */
/* Restores an earlier state of the whole program under test. All memory of the code under test comes from one region
 * (the linker wraps malloc for it), so a copy of that region is the state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct snapshot {
    void *copy;
    size_t size, cap;
};

void snapshot_take(struct snapshot *snapshot);
void snapshot_restore(const struct snapshot *snapshot);

/* Allocations from here on are initialised once and never change: they need not be restored. */
void snapshot_leave_out(bool leave_out);

/* Memory outside the region, for data that must survive a restore. */
void *outside_calloc(size_t count, size_t size);
void outside_free(void *memory);
