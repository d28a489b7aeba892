/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/repository.h"

#include "model/repository.h"

static struct str names_of(struct op_call *call) {
    struct writer text = {.arena = &call->arena};
    for (uint32_t i = 0; i < call->repositories->count; i++) {
        write_raw(&text, i > 0 ? STR(", ") : STR(""));
        write_raw(&text, str_of(call->repositories->at[i].name));
    }
    return (struct str){text.at, text.len};
}

/* Without a name: that of [repo], or the only one. */
static bool is_meant(const struct op_repositories *all, uint32_t i, struct str name) {
    if (name.len > 0)
        return str_equal(str_of(all->at[i].name), name);
    return all->count == 1 || all->at[i].key == 0;
}

bool repository_take(struct op_call *call, uint64_t *ret_key) {
    const struct op_repositories *all = call->repositories;
    struct str name = call->args.repo;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_meant(all, i, name)) {
            *ret_key = all->at[i].key;
            return true;
        }
    bool none = str_equal(name, STR("none"));
    *ret_key = none ? REPOSITORY_NONE : 0;
    if (none || (all->count == 0 && name.len == 0))
        return true;
    if (all->count == 0)
        return op_refuse(call, ERROR_INVALID,
                         "The settings name no repository. Run overseer init in its folder.");
    return op_refuse(call, ERROR_INVALID,
                     name.len > 0 ? "No repository is called \"%.*s\". There are: %.*s."
                                  : "There are several repositories%.*s. Name one with repo: %.*s.",
                     STR_ARG(name), STR_ARG(str_cut(names_of(call), 160)));
}

void repository_put(const struct op_call *call, json_t *to, uint64_t key) {
    must(call->repositories != NULL); /* the operation wants them */
    for (uint32_t i = 0; i < call->repositories->count; i++)
        if (call->repositories->at[i].key == key)
            json_object_set_new(to, "repo", json_string(call->repositories->at[i].name));
}

struct id repository_workspace(const struct op_call *call, uint64_t key) {
    return workspace_id(call->policy, key, call->facts ? call->facts->host : 0);
}

bool repository_find_workspace(const struct op_call *call, struct str name, struct id *ret) {
    for (uint32_t i = 0; i < call->repositories->count; i++) {
        char text[LIMIT_SUBJECT + 1];
        workspace_name(str_of(call->repositories->at[i].name), text);
        if (str_equal(str_of(text), name)) {
            *ret = repository_workspace(call, call->repositories->at[i].key);
            return true;
        }
    }
    return false;
}
