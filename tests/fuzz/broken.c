/* SPDX-License-Identifier: Apache-2.0 */
/* A promise that is broken under the fuzzer: which one, and then the end, for it to keep what led there. */
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    fprintf(stderr, "%s:%d: %s\n", file, line, promise);
    abort();
}

_Noreturn void memory_exhausted(void) {
    fprintf(stderr, "no memory\n");
    abort();
}
