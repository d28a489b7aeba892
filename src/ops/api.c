/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/api.h"

#include "model/error.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/schema.h"
#include "ops/view.h"

static const char *const KIND[] = {
    [OP_WRITES] = "writes", [OP_READS] = "reads", [OP_LOCAL] = "tells"};

static json_t *roles_json(const struct op *op) {
    json_t *list = json_array();
    for (uint32_t role = ROLE_HUMAN; role < ROLES; role++)
        if (op->may & 1u << role)
            json_array_append_new(list, json_string(name_of(&ROLE_NAMES, role)));
    return list;
}

static json_t *operation_json(const struct op *op) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "name", op->name, "summary",
                     op->summary, "help", op->help ? op->help : "", "kind", KIND[op->kind],
                     "answer", op->answer == ANSWER_COMMITTED ? "committed" : "spooled",
                     "forAgents", (int)op->for_agents, "roles", roles_json(op), "params",
                     schema_params(op, ROLE_HUMAN), "result", schema_result(op));
}

static json_t *errors_json(void) {
    json_t *list = json_array();
    for (enum error error = ERROR_NONE + 1; error < ERROR_COUNT; error++) {
        const struct error_row *row = &ERRORS[error];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i, s:i, s:s}", "code", row->code, "sentence",
                                        row->sentence, "exit", row->exit_status, "http",
                                        row->http_status, "class", ERROR_CLASS[row->class]));
    }
    return list;
}

void api_describe(struct op_call *call) {
    json_ran_short();
    json_t *operations = json_array();
    for (size_t i = 0; i < OP_COUNT; i++)
        json_array_append_new(operations, operation_json(OPS[i]));
    call->result = view_checked(call, json_pack("{s:s, s:s, s:o, s:o}", "api", API_VERSION,
                                                "version", OVERSEER_VERSION, "operations",
                                                operations, "errors", errors_json()));
}

static const struct op_member MEMBERS[] = {
    {"api", MEMBER_TEXT, true,
     "raised when something is removed or changes its meaning; also in the header Overseer-Api"},
    {"version", MEMBER_TEXT, true, "version of the daemon"},
    {"operations", MEMBER_LIST, true,
     "name, summary, help, kind, answer, forAgents, roles, params and result as JSON Schema"},
    {"errors", MEMBER_LIST, true, "code, sentence, exit, http, class"},
};

const struct op OP_API_DESCRIBE = {
    .name = "api.describe",
    .summary = "Describe every operation with its parameters, result and roles, and every error.",
    .help = "Example: overseer api describe --json",
    .kind = OP_LOCAL,
    .may = MAY_ALL,
    OP_MEMBERS(MEMBERS),
};
