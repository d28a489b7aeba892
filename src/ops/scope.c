/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the tools that a run may pass on to others. SCOPE-07: an agent that works for a run gets no tool that the run
 * does not have. */
#include "ops/scope.h"

/* ---- lists, one entry per line ---- */

static bool lines_write(char to[LIMIT_SCOPED + 1], const struct str *list, uint32_t count) {
    size_t used = 0;
    to[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (used + list[i].len + 1 > LIMIT_SCOPED || memchr(list[i].at, '\n', list[i].len))
            return false;
        memcpy(to + used, list[i].at, list[i].len);
        used += list[i].len;
        to[used++] = '\n';
        to[used] = 0;
    }
    return true;
}

static struct texts lines_read(const char *lines, struct arena *arena) {
    struct str *list = arena_new(arena, struct str, LIMIT_SCOPED / 2 + 1);
    uint32_t count = 0;
    for (; *lines; lines += strcspn(lines, "\n") + 1)
        list[count++] = arena_copy(arena, (struct str){lines, strcspn(lines, "\n")});
    return (struct texts){list, count};
}

void scope_keep(const struct tool_scope *scope, struct caller *run) {
    run->tools.listed = scope->listed;
    run->tools.too_long = !lines_write(run->tools.allow, scope->allow, scope->allow_count);
    if (!lines_write(run->tools.deny, scope->deny, scope->deny_count))
        run->tools.too_long = true;
}

/* ---- a plan ---- */

static bool is_given(const struct caller *caller, const struct texts *allow,
                     const struct texts *deny, struct str tool) {
    return !str_is_among(tool, deny->at, deny->count) &&
           (!caller->tools.listed || str_is_among(tool, allow->at, allow->count));
}

static struct texts both(const struct texts *one, const struct texts *other, struct arena *arena) {
    struct str *list = arena_new(arena, struct str, one->count + other->count + 1);
    struct texts all = {list, 0};
    for (uint32_t i = 0; i < one->count; i++)
        list[all.count++] = one->at[i];
    for (uint32_t i = 0; i < other->count; i++)
        if (!str_is_among(other->at[i], one->at, one->count))
            list[all.count++] = other->at[i];
    return all;
}

static bool row_inherit(struct op_call *call, struct plan_row *row, const struct texts *allow,
                        const struct texts *deny) {
    struct node_text *text = &row->text;
    for (uint32_t i = 0; i < text->allow.count; i++)
        if (!is_given(call->caller, allow, deny, text->allow.at[i]))
            return op_refuse(
                call, ERROR_UNAUTHORIZED,
                "toolsAllow of %.*s names %.*s, which this run may not use itself, so it cannot "
                "allow it to others. Remove that tool, or let a person plan the node.",
                STR_ARG(row->id), STR_ARG(text->allow.at[i]));
    if (call->caller->tools.listed && text->allow.count == 0)
        text->allow = *allow;
    text->deny = both(&text->deny, deny, &call->arena);
    if (text->deny.count > LIMIT_LINES)
        return op_refuse(call, ERROR_INVALID_PLAN,
                         "toolsDeny of %.*s has more than %d tools, with those that this run may "
                         "not use itself.",
                         STR_ARG(row->id), LIMIT_LINES);
    return true;
}

bool scope_inherit(struct op_call *call, struct plan_text *plan) {
    const struct caller *caller = call->caller;
    if (caller->role != ROLE_RUN ||
        (!caller->tools.listed && !caller->tools.deny[0] && !caller->tools.too_long))
        return true;
    if (caller->tools.too_long)
        return op_refuse(
            call, ERROR_UNAUTHORIZED,
            "The tool list of this run is too long to be passed on. Let a person plan the "
            "node, or shorten [[agents]] tools.");
    struct texts allow = lines_read(caller->tools.allow, &call->arena);
    struct texts deny = lines_read(caller->tools.deny, &call->arena);
    struct plan_row *rows = arena_new(&call->arena, struct plan_row, plan->rows.count + 1);
    memcpy(rows, plan->rows.at, plan->rows.count * sizeof *rows);
    for (uint32_t i = 0; i < plan->rows.count; i++)
        if (!row_inherit(call, &rows[i], &allow, &deny))
            return false;
    plan->rows.at = rows;
    return true;
}
