/* SPDX-License-Identifier: Apache-2.0 */
/* Where can a test reach in? At named seams, which exist only in builds made for the fault tests
 * (-DOVERSEER_SEAMS). In every other build they are nothing at all. */
#pragma once

#include <stdbool.h>

#ifdef OVERSEER_SEAMS
/* The test may stop the process here. True: what comes next is to fail. */
bool seam(const char *name);
#else
#define seam(name) false
#endif
