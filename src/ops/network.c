/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show which hosts runs of a repository were denied, and decide about one. docs/decisions/0018. */
#include "base/host_rule.h"
#include "model/repository.h"

#include "ops/all.h"
#include "ops/json.h"
#include "ops/repository.h"
#include "ops/view.h"

#include <stdio.h>

struct network_call {
    struct id workspace;
    uint64_t repository;
};

static bool request(struct op_call *call, struct store_request *ret) {
    struct network_call *own = arena_new(&call->arena, struct network_call, 1);
    if (!repository_take(call, &own->repository))
        return false;
    if (own->repository == REPOSITORY_NONE)
        return op_refuse(call, ERROR_INVALID, "Hosts belong to a repository: name one with repo.");
    own->workspace = repository_workspace(call, own->repository);
    call->own = own;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->workspace, .id_count = 1, .limit = 1};
    return true;
}

static json_t *access_json(const struct goal *workspace, const struct host_access *access) {
    char name[TASK_NAME], question[QUESTION_NAME], at[TIME_TEXT + 1];
    task_name_format(access->number, name);
    time_format(access->at, at);
    json_t *json = json_pack("{s:s, s:s, s:I, s:s}", "host", access->host, "decision",
                             name_of(&HOST_DECISION_NAMES, access->decision), "tries",
                             (json_int_t)access->tries, "at", at);
    json_put_text(json, "name", str_of(name));
    if (access->question) {
        question_name_format(workspace, access->question - 1, question);
        json_put_text(json, "questionId", str_of(question));
    }
    return json;
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (loaded->exists && !view_is_whole(call, answer))
        return NULL;
    json_ran_short();
    json_t *list = json_array();
    for (uint32_t i = 0; i < loaded->live.host_accesses.count; i++)
        json_array_append_new(list, access_json(&loaded->goal, &loaded->live.host_accesses.at[i]));
    return view_checked(call, json_pack("{s:o}", "hosts", list));
}

static const struct field LIST[] = {PARAM_REPO};

static const struct op_member MEMBERS[] = {
    {"hosts", MEMBER_LIST, true,
     "host (with its port), decision (asked, denied, allowed, checks), name (the task; absent: every task), tries, at, "
     "questionId"},
};

const struct op OP_NETWORK_LIST = {
    .name = "network.list",
    .summary =
        "List the hosts that runs of a repository were denied, and what was decided about them.",
    .help = "Hosts that the settings list (repo.hosts) are not here: see `overseer config show`.\n"
            "Example: overseer network list",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(LIST),
    OP_MEMBERS(MEMBERS),
    .wants_facts = true,
    .wants_repositories = true,
    .request = request,
    .result = result,
};

static const struct field ORDER[] = {
    PARAM("host", FIELD_TEXT, text, LIMIT_HOST_ENTRY, FIELD_REQUIRED,
          "the host, such as api.example.org, or with another port than 443: api.example.org:8443"),
    PARAM_REPO,
    PARAM_REASON(0),
    PARAM_KEY,
    PARAM_TRACE,
};

static struct str repository_name(const struct op_call *call, uint64_t key) {
    for (uint32_t i = 0; i < call->repositories->count; i++)
        if (call->repositories->at[i].key == key)
            return str_of(call->repositories->at[i].name);
    return STR("");
}

static bool order_signal(struct op_call *call, const struct store_answer *answer,
                         struct signal *ret) {
    (void)answer;
    const struct network_call *own = call->own;
    struct host_access access = {0};
    struct host_rule rule;
    bool read = host_rule_parse(call->args.text, &rule);
    snprintf(access.host, sizeof access.host, "%s:%u", read ? rule.host : "", read ? rule.port : 0);
    if (!read || rule.below || !host_entry_is_plain(str_of(access.host)))
        return op_refuse(call, ERROR_INVALID,
                         "\"%.*s\" is not one host. Patterns, IPv6 addresses and addresses of this "
                         "machine belong in repo.hosts.",
                         STR_ARG(str_cut_utf8(call->args.text, 80)));
    ret->kind = SIGNAL_HOST_DENIED;
    ret->goal = own->workspace;
    ret->describe.repository = own->repository;
    ret->describe.title = repository_name(call, own->repository);
    ret->admission = call->facts ? call->facts->host : 0;
    ret->body = shape_encode(&HOST_ACCESS, &access, &call->arena);
    ret->to = call->op->to;
    ret->reason = call->args.reason;
    return true;
}

#define ORDER_OP(verb, order, words, details) \
    { \
        .name = "network." verb, .summary = words, .help = details, .kind = OP_WRITES, \
        .may = MAY_HUMAN, OP_PARAMS(ORDER), .positional = 1, .to = order, .wants_facts = true, \
        .wants_repositories = true, .request = request, .signal = order_signal \
    }

const struct op OP_NETWORK_ALLOW = ORDER_OP(
    "allow", HOST_ALLOW, "Allow a host for the runs and checks of a repository.",
    "Runs at work reach it within a few seconds. It counts beside repo.hosts of the settings.\n"
    "Example: overseer network allow api.example.org --dry-run");
const struct op OP_NETWORK_CHECKS =
    ORDER_OP("checks", HOST_ALLOW_CHECKS,
             "Allow a host for set-up and checks of a repository, and not for its agents.",
             "Example: overseer network checks api.example.org --dry-run");
const struct op OP_NETWORK_DENY =
    ORDER_OP("deny", HOST_DENY, "Deny a host for a repository: it is not asked about again.",
             "Hosts of the settings (repo.hosts) stay allowed.\n"
             "Example: overseer network deny api.example.org --dry-run");
const struct op OP_NETWORK_FORGET = ORDER_OP(
    "forget", HOST_FORGET,
    "Forget what was decided about a host: the next run that is denied it asks again.",
    "Runs that may reach it lose it within a few seconds; connections that are open stay.\n"
    "Example: overseer network forget api.example.org --dry-run");
