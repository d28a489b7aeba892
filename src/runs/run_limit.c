/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how much of the machine a run may use. A control group limits the whole run where one can be created;
 * otherwise each process is limited, as far as possible. The run always records which of them applies. */
#include "engine/status_files.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/file_replace.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum how { BY_GROUP, BY_PROCESS, BY_NOBODY, HOWS };
static const char *const HOW[HOWS] = {"cgroup", "each process", "not held"};
static const char *const COUNTED[HOWS] = {"cgroup", "rlimit", "not held"};

/* The process limit does not stop root, and outside of a user namespace it would also count the operator's processes. */
static enum how limit_how(const struct run_table *runs, enum group_limit limit,
                          enum sandbox_kind box) {
    if (runs->groups.can[limit])
        return BY_GROUP;
    if (limit == GROUP_MEMORY)
        return BY_PROCESS;
    return limit == GROUP_PROCESSES && box >= SANDBOX_BWRAP && geteuid() != 0 ? BY_PROCESS
                                                                              : BY_NOBODY;
}

/* ---- what the machine supports ---- */

static bool is_asked_for(const struct settings *settings) {
    bool asked = settings->sandbox.memory || settings->sandbox.cpu || settings->sandbox.processes;
    for (uint32_t i = 0; i < settings->lists.agent_count && !asked; i++)
        asked = settings->lists.agents[i].limits.memory || settings->lists.agents[i].limits.cpu ||
                settings->lists.agents[i].limits.processes;
    return asked;
}

/* overseer doctor reads this file: another process may be able to do more or less than this one. */
static void groups_tell(const struct run_table *runs) {
    char text[512];
    int length = snprintf(text, sizeof text, "memory: %s; cpu: %s; processes: %s%s%s\n",
                          HOW[limit_how(runs, GROUP_MEMORY, runs->can)],
                          HOW[limit_how(runs, GROUP_CPU, runs->can)],
                          COUNTED[limit_how(runs, GROUP_PROCESSES, runs->can)],
                          runs->groups.why[0] ? "; " : "", runs->groups.why);
    file_replace(runs->state, "limits", text, (size_t)length, false);
    if (runs->groups.why[0])
        log_host(LEVEL_INFO, "some limits of runs are not enforced by a control group: %.*s",
                 length - 1, text);
}

/* Probes once, and only if limits are configured: it creates a group to see whether that works. */
void run_limits_probe(struct run_table *runs, const struct settings *settings) {
    char given[GROUP_PATH], old[RUN_PATH + 8];
    if (runs->groups_probed)
        return;
    if (!is_asked_for(settings)) {
        snprintf(old, sizeof old, "%s/limits", runs->state);
        unlink(old); /* left by an earlier daemon */
        return;
    }
    runs->groups_probed = true;
    snprintf(given, sizeof given, "%.*s", STR_ARG(settings->sandbox.cgroup));
    group_probe(given, &runs->groups);
    groups_tell(runs);
}

/* ---- a run ---- */

static uint64_t either(int64_t own, int64_t of_all) {
    return (uint64_t)(own ? own : of_all);
}

static void limits_ask(const struct settings *settings, const struct agent_setting *agent,
                       uint64_t ret[GROUP_LIMITS]) {
    static const struct agent_setting NONE;
    agent = agent ? agent : &NONE;
    ret[GROUP_MEMORY] = either(agent->limits.memory, settings->sandbox.memory) << 20;
    ret[GROUP_CPU] = either(agent->limits.cpu, settings->sandbox.cpu);
    ret[GROUP_PROCESSES] = either(agent->limits.processes, settings->sandbox.processes);
}

static void limit_say(struct run *run, enum group_limit limit, uint64_t most, enum how how) {
    static const char *const FORM[GROUP_LIMITS] = {"%smemory %llu MiB (%s)", "%scpu %llu%% (%s)",
                                                   "%sprocesses %llu (%s)"};
    size_t used = strlen(run->limits);
    unsigned long long number = limit == GROUP_MEMORY ? most >> 20 : most;
    const char *by = limit == GROUP_PROCESSES ? COUNTED[how] : HOW[how];
    snprintf(run->limits + used, sizeof run->limits - used, FORM[limit], used ? ", " : "", number,
             by);
}

static bool group_give(struct run *run, const uint64_t limits[GROUP_LIMITS], struct arena *arena,
                       struct str *ret_why) {
    char name[ID_TEXT + 1];
    id_format(run->id, name);
    size_t length = (size_t)snprintf(run->group, sizeof run->group, "%s/run-%s",
                                     run->runs->groups.parent, name);
    if (length < sizeof run->group && group_make(run->group, limits))
        return true;
    *ret_why = arena_format(arena, "its control group cannot be created (%s): see sandbox.cgroup",
                            strerror(errno));
    run->group[0] = 0;
    return false;
}

bool run_limits(struct run *run, const struct settings *settings, const struct agent_setting *agent,
                struct sandbox_spec *spec, struct arena *arena, struct str *ret_why) {
    uint64_t asked[GROUP_LIMITS], by_group[GROUP_LIMITS] = {0};
    bool any = false;
    run_limits_probe(run->runs, settings);
    limits_ask(settings, agent, asked);
    run->limits[0] = 0;
    spec->memory = spec->processes = 0;
    for (enum group_limit limit = 0; limit < GROUP_LIMITS; limit++) {
        enum how how = limit_how(run->runs, limit, spec->kind);
        if (asked[limit] == 0)
            continue;
        limit_say(run, limit, asked[limit], how);
        if (how == BY_GROUP)
            any = (by_group[limit] = asked[limit]) > 0;
        else if (how == BY_PROCESS)
            *(limit == GROUP_MEMORY ? &spec->memory : &spec->processes) = asked[limit];
    }
    return !any || group_give(run, by_group, arena, ret_why);
}

/* ---- its end ---- */

/* Detects a kill that this daemon did not request, in a group that ran out of memory. */
struct str run_limit_hit(const struct run *run, struct arena *arena) {
    bool killed = run->exit == 128 + SIGKILL && !run->stop;
    if (!killed || !run->group[0] || !group_ran_out(run->group))
        return STR("");
    return arena_format(arena,
                        "the kernel killed it: it used more memory than its limit (%s); see "
                        "sandbox.memory and [[agents]] memory",
                        run->limits);
}

void run_limits_end(struct run *run) {
    if (run->group[0])
        group_end(run->group);
}
