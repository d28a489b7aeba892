/* SPDX-License-Identifier: Apache-2.0 */
/* Who is it, and may they come in? Asked for each request, before a byte of its body is read. G-03, G-04. */
#pragma once

#include "daemon/visit.h"

/* Fills visit->caller and visit->origin. ERROR_NONE, or why not. */
enum error admit(struct visit *visit, const char *method, char *why, size_t why_size);
