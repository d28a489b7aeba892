/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what a run starts with. The first run gets what the settings say, narrowed by its node; each later one gets
 * exactly what the first had, whatever the settings say by then. ASSIGN-19, SCOPE-01 to SCOPE-03, SCOPE-06. */
#include "runs/run.h"
#include "sys/clock.h"

/* ---- lists of tools ---- */

/* "Bash" covers "Bash(git log)". */
static bool tool_covers(struct str tool, struct str other) {
    return str_equal(tool, other) ||
           (str_begins(other, tool) && other.len > tool.len && other.at[tool.len] == '(');
}

static bool list_covers(const struct str *list, uint32_t count, struct str tool) {
    for (uint32_t i = 0; i < count; i++)
        if (tool_covers(list[i], tool))
            return true;
    return false;
}

/* SCOPE-03: the node names a tool that its agent does not have. */
static bool is_wider(const struct run *run, struct str tool, struct str *ret_why,
                     struct arena *arena) {
    const struct drive_spec *spec = &run->spec;
    bool denied = list_covers(spec->deny, spec->deny_count, tool);
    bool missing = spec->allow_given && !list_covers(spec->allow, spec->allow_count, tool);
    if (denied || missing)
        *ret_why =
            arena_format(arena,
                         "toolsAllow of %s names %.*s, which %s %s: a node can only narrow "
                         "what its agent has. Change the node, or [[agents]] %s",
                         run->node, STR_ARG(tool), run->agent,
                         denied ? "may not use" : "does not have", denied ? "deny" : "tools");
    return denied || missing;
}

static void deny_add(struct run *run, const struct texts *more) {
    struct drive_spec *spec = &run->spec;
    struct str *list = arena_new(&run->arena, struct str, spec->deny_count + more->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->deny_count; i++)
        list[count++] = spec->deny[i];
    for (uint32_t i = 0; i < more->count; i++)
        if (!list_covers(list, count, more->at[i]))
            list[count++] = more->at[i];
    spec->deny = list;
    spec->deny_count = count;
}

/* SCOPE-02: the agent's tools, restricted to those that are allowed, without those that are denied. */
static bool scope_narrow(struct run *run, const struct node_text *node, struct str *ret_why) {
    struct drive_spec *spec = &run->spec;
    for (uint32_t i = 0; i < node->allow.count; i++)
        if (is_wider(run, node->allow.at[i], ret_why, &run->arena))
            return false;
    if (node->allow.count > 0) {
        spec->allow = node->allow.at;
        spec->allow_count = node->allow.count;
        spec->allow_given = true;
    }
    deny_add(run, &node->deny);
    return true;
}

/* ---- later runs ---- */

static void begin_again(struct run *run, const struct beginning *begun) {
    struct drive_spec *spec = &run->spec;
    spec->model = begun->model;
    spec->thinking = begun->thinking;
    spec->allow = begun->allow.at;
    spec->allow_count = begun->allow.count;
    spec->allow_given = begun->listed;
    spec->deny = begun->deny.at;
    spec->deny_count = begun->deny.count;
    run->sending_until = clock_steady() + begun->within;
    run->within = begun->within;
}

/* Another agent, or work that was changed since, does not count as a later run of the same work. */
static bool is_the_same(const struct run *run, const struct beginning *begun) {
    return str_equal(begun->agent, str_of(run->agent)) &&
           hash_equal(&begun->text, &run->sending->effect.text);
}

bool run_begin_as(struct run *run, struct str node, struct str start, struct str *ret_why) {
    struct beginning begun = {0};
    struct node_text text = {0};
    start = arena_copy(&run->arena, start);
    node = arena_copy(&run->arena, node);
    if (start.len > 0 && shape_decode_in(&BEGINNING, start, &run->arena, &begun) &&
        is_the_same(run, &begun)) {
        begin_again(run, &begun);
        return true;
    }
    run->within = run->sending->effect.within;
    if (node.len == 0)
        return true;
    if (shape_decode_in(&NODE_TEXT, node, &run->arena, &text))
        return scope_narrow(run, &text, ret_why);
    *ret_why = STR("the text of its node cannot be read");
    return false;
}

struct str run_beginning(const struct run *run, struct arena *arena) {
    const struct drive_spec *spec = &run->spec;
    struct beginning begun = {.agent = str_of(run->agent),
                              .model = spec->model,
                              .thinking = spec->thinking,
                              .label = str_of(run->node),
                              .text = run->sending->effect.text,
                              .within = run->within,
                              .listed = spec->allow_given,
                              .allow = {spec->allow, spec->allow_count},
                              .deny = {spec->deny, spec->deny_count}};
    return shape_encode(&BEGINNING, &begun, arena);
}
