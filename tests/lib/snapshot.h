/* SPDX-License-Identifier: Apache-2.0 */
/* How does one go back to an earlier state of a whole world? All memory of the code under test comes from one
 * region (the linker wraps malloc for it), so a copy of that region is the state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct snapshot {
    void *copy;
    size_t size, cap;
};

void snapshot_take(struct snapshot *snapshot);
void snapshot_restore(const struct snapshot *snapshot);

/* What is allocated from here on is made once and never changes: it need not go back. */
void snapshot_leave_out(bool leave_out);

/* Memory outside of the region, for what must survive going back. */
void *outside_calloc(size_t count, size_t size);
void outside_free(void *memory);
