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

/* The default driver of a kind of agent. */
const struct driver *run_driver(const struct agent_setting *agent) {
    static const struct {
        const char *kind, *driver;
    } USUAL[] = {{"claude", "claude"}, {"command", "command"}, {"openclaw", "openclaw"}};
    for (size_t i = 0; i < count_of(USUAL) && agent->driver.len == 0; i++)
        if (str_equal(run_agent_kind(agent), str_of(USUAL[i].kind)))
            return driver_named(str_of(USUAL[i].driver));
    return driver_named(agent->driver.len ? agent->driver : STR("acp"));
}
