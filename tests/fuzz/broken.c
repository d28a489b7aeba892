/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a broken invariant under the fuzzer: prints it and aborts, so that the fuzzer keeps the input that led there. */
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
