/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a workspace about hosts that its runs were denied. */
#pragma once

#include "core/deciding.h"

/* host_denied.c: the questions of a workspace are called after its repository. Called where a record follows. */
void workspace_subject_put(struct deciding *);

void host_access_record(struct deciding *, enum record_type type, const struct host_access *row,
                        const char *rule, const char *to);

/* Adds the row for every task of the repository. */
void host_access_decide(struct deciding *, const struct host_access *of,
                        enum host_decision decision);

/* A person has answered, or the question was withdrawn or has expired: all rows about it are decided, or gone. */
void host_access_answered(struct deciding *, const struct question *question);
