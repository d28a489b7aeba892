/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agent of a run in the settings, and its driver. */
#include "ops/tool.h"
#include "runs/run.h"

/* ---- what a run is started with ---- */

const struct agent_setting *run_agent(const struct settings *settings, struct str id) {
    for (uint32_t i = 0; i < settings->lists.agent_count; i++)
        if (str_equal(settings->lists.agents[i].id, id))
            return &settings->lists.agents[i];
    return NULL;
}

struct str run_agent_kind(const struct agent_setting *agent) {
    return agent->kind.len ? agent->kind : agent->id;
}

const struct driver *run_driver(const struct agent_setting *agent) {
    return agent->driver.len ? driver_named(agent->driver) : driver_usual(run_agent_kind(agent));
}
