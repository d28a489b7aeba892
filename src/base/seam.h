/* SPDX-License-Identifier: Apache-2.0 */
/* Named seams at which fault tests can intervene. They exist only in builds for the fault tests (-DOVERSEER_SEAMS); in
 * every other build they expand to nothing. */
#pragma once

#include <stdbool.h>

#ifdef OVERSEER_SEAMS
/* The test may stop the process here. True: the next operation is to fail. */
bool seam(const char *name);
#else
#define seam(name) false
#endif
