/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which commit of a task this user was last shown, so that `land` lands that one and no other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SHOWN_COMMIT = 65 };

void shown_remember(const char *goal, const char *commit);
bool shown_recall(const char *goal, char ret_commit[SHOWN_COMMIT]); /* false: none was shown */
