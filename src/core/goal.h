/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules do with a goal. */
#pragma once

#include "core/deciding.h"

/* The only function that changes its status. */
void goal_move(struct deciding *, enum goal_status to);
void goal_settle(struct deciding *); /* completes the goal if it is done */

/* update.c: the text and tags that come with a goal. False: refused. */
bool goal_words(struct deciding *);
bool goal_tags(struct deciding *);

/* Begins the aggregate that a first signal creates: a host's admission, or a workspace. */
void aggregate_begin(struct deciding *);
