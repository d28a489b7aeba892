/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the repository that a request names, and shows the one of a goal. */
#pragma once

#include "ops/op.h"

#define PARAM_REPO \
    PARAM( \
        "repo", FIELD_TEXT, repo, LIMIT_AGENT, 0, \
        "name of the repository; without it: that of [repo], or the only one. none: the goal needs none")

/* The key of the repository that the call names. False: there is no such one, and the call is refused. */
bool repository_take(struct op_call *call, uint64_t *ret_key);

/* The workspace of a repository, as this host names it. The call wants facts. */
struct id repository_workspace(const struct op_call *call, uint64_t key);

/* The workspace of the repository with this name. False: there is no such repository. */
bool repository_find_workspace(const struct op_call *call, struct str name, struct id *ret);

/* Puts the name of a goal's repository as "repo"; nothing, if it has none or one that is not in the settings any more. */
void repository_put(const struct op_call *call, json_t *to, uint64_t key);
