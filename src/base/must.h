/* SPDX-License-Identifier: Apache-2.0 */
/* Defines must(), which checks the code's own invariants. */
#pragma once

/* must() stays on in release builds. The program that links base supplies the two handlers: the daemon's guard turns
 * them into a quarantined goal or a refused request, a test turns them into a failure. */
_Noreturn void must_failed(const char *file, int line, const char *promise);
_Noreturn void memory_exhausted(void);

#define must(promise) ((promise) ? (void)0 : must_failed(__FILE__, __LINE__, #promise))

#define count_of(array) (sizeof(array) / sizeof((array)[0]))
