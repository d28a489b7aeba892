/* SPDX-License-Identifier: Apache-2.0 */
/* Where agent programs send their requests. */
#pragma once

#include "base/str.h"

enum { MODEL_HOSTS = 4 };

struct model_hosts {
    const char *kinds; /* of agents, separated by spaces */
    bool fixed; /* false: the operator chooses the provider, and these are only the usual ones */
    const char *hosts[MODEL_HOSTS];
};

const struct model_hosts *model_hosts(struct str kind); /* NULL: none are known */
