/* SPDX-License-Identifier: Apache-2.0 */
/* How does the code say that one of its own promises is broken? */
#pragma once

/* must() stays on in release builds. The two handlers are supplied by whoever links base: the
 * daemon's guard turns them into a quarantined goal or a refused request, a test into a failure. */
_Noreturn void must_failed(const char *file, int line, const char *promise);
_Noreturn void memory_exhausted(void);

#define must(promise) ((promise) ? (void)0 : must_failed(__FILE__, __LINE__, #promise))

#define count_of(array) (sizeof(array) / sizeof((array)[0]))
