/* SPDX-License-Identifier: Apache-2.0 */
/* Prints overseer-api(7): every operation, its parameters and its result, and every error, from their tables. */
#include "cli/help.h"

#include "model/error.h"
#include "ops/schema.h"
#include "ops/tool.h"

#include <string.h>

static const char *const TYPE[] = {
    [FIELD_INT] = "number",
    [FIELD_TIME] = "time",
    [FIELD_UINT] = "number",
    [FIELD_U32] = "number",
    [FIELD_ENUM] = "choice",
    [FIELD_ID] = "id",
    [FIELD_HASH] = "hash",
    [FIELD_TEXT] = "text",
    [FIELD_BYTES] = "bytes",
    [FIELD_NAME] = "text",
    [FIELD_FLAG] = "true or false",
    [FIELD_U32S] = "numbers",
    [FIELD_TEXTS] = "list of strings",
    [FIELD_ROWS] = "list of objects",
};

static void choices(const struct names *names) {
    for (uint32_t i = 0; i < names->count; i++) {
        printf("%s", i ? ", " : ": ");
        man_text(name_of(names, i));
    }
}

static void param(const struct field *field) {
    if (field->flags & FIELD_HIDDEN)
        return;
    printf(".TP\n.B ");
    man_text(field->name);
    printf("\n");
    man_text(TYPE[field->type]);
    if (field->names)
        choices(field->names);
    if (field->most && (field->type == FIELD_TEXTS || field->type == FIELD_ROWS))
        printf(", at most %u", field->most);
    if (field->cap && (field->type == FIELD_TEXT || field->type == FIELD_TEXTS))
        printf(field->flags & FIELD_CUT ? ", truncated at %u bytes" : ", at most %u bytes",
               field->cap);
    printf("%s; ", field->flags & FIELD_REQUIRED ? "; required" : "");
    man_text(field->text);
    printf(".\n");
}

static void member(void *with, const char *name, enum member_type type, bool always,
                   const char *text) {
    (void)with;
    printf(".TP\n.B ");
    man_text(name);
    printf("\n%s%s; ", name_of(&MEMBER_NAMES, type), always ? "" : ", optional");
    man_text(text);
    printf(".\n");
}

static void roles(const struct op *op) {
    const char *before = "";
    for (uint32_t role = ROLE_HUMAN; role < ROLES; role++)
        if (op->may & 1u << role) {
            printf("%s%s", before, name_of(&ROLE_NAMES, role));
            before = ", ";
        }
}

static void operation(const struct op *op) {
    char tool[TOOL_NAME];
    tool_name(op, tool);
    printf(".SS ");
    man_text(op->name);
    printf("\n");
    man_text(op->summary);
    if (op->also)
        printf(" Also called \\fB%s\\fR.", op->also);
    printf("\n.br\nFor: ");
    roles(op);
    printf(". Tool: ");
    man_text(tool);
    if (tool_also(op)) {
        printf(", ");
        man_text(tool_also(op));
    }
    printf("%s.%s\n.PP\n", op->for_agents ? ", shown to agents" : "",
           op->answer != ANSWER_COMMITTED
               ? " Spooled on this host's disk while the database is away."
               : "");
    printf(op->param_count || op->words ? "Parameters:\n.RS 4\n" : "No parameters.\n");
    for (size_t i = 0; i < op->param_count; i++)
        param(&op->params[i]);
    for (size_t i = 0; op->words && i < op->words->count; i++)
        param(&op->words->fields[i]);
    printf("%s.PP\nResult:\n.RS 4\n", op->param_count || op->words ? ".RE\n" : "");
    members_each(op, member, NULL);
    printf(".RE\n");
}

static int wire_code(enum error error) {
    return error == ERROR_NOT_JSON         ? -32700
           : error == ERROR_UNKNOWN_METHOD ? -32601
           : error == ERROR_INVALID        ? -32602
                                           : -32000 - (int)error;
}

static void errors(void) {
    printf(
        ".SH ERRORS\n"
        "An error has the JSON\\-RPC error number, a sentence, and in \\fBdata\\fR the stable \\fBcode\\fR, the exit status of the command line and the class: expected (change the request), transient (repeat it later) or hard (a person must look).\n");
    for (enum error error = ERROR_NONE + 1; error < ERROR_COUNT; error++) {
        const struct error_row *row = &ERRORS[error];
        printf(".TP\n.B %s\n%s, number %d, HTTP status %d, exit status %d. ", row->code,
               ERROR_CLASS[row->class], wire_code(error), row->http_status, row->exit_status);
        man_text(row->sentence);
        printf("\n");
    }
}

static const char INTRODUCTION[] =
    ".SH NAME\n"
    "overseer\\-api \\- operations of overseerd for programs and agents\n"
    ".SH DESCRIPTION\n"
    "Three interfaces use one table of operations: the command line, JSON\\-RPC and MCP. They take the same parameters and give the same results and errors.\n"
    ".PP\n"
    "The daemon speaks HTTP on a Unix socket, where the caller is the user of the connecting process, and on TCP if \\fBserver.listen\\fR is set, where every request needs \\fBAuthorization: Bearer\\fR with a token from \\fBoverseer token create\\fR. A token that is sent on the Unix socket is used there, too.\n"
    ".TP\n"
    ".B POST /rpc\n"
    "One JSON\\-RPC 2.0 request. Methods are the names below, with or without \\(lqoverseer.\\(rq before them.\n"
    ".TP\n"
    ".B GET /events\n"
    "A stream of events: see\n"
    ".BR overseer\\-events (7).\n"
    ".TP\n"
    ".B POST /mcp\n"
    "The Model Context Protocol, for agents: see below.\n"
    ".TP\n"
    ".B GET /metrics\n"
    "Metrics for Prometheus.\n"
    ".TP\n"
    ".B GET /healthz, GET /readyz\n"
    "Whether the daemon is alive, and whether it can work. These need no token.\n"
    ".PP\n"
    "Every answer has the header \\fBOverseer\\-Api\\fR: a number that is raised when something is removed or changes its meaning. Members may be added to results at any time. \\fBapi.describe\\fR gives all of this page as JSON Schema.\n"
    ".PP\n"
    "A write is durable when its response arrives. Every write takes a \\fBkey\\fR: a request that is repeated with the same key is applied once and gets the same response. A client that got no response can therefore send the request again. A goal is named by T and its number, by its id, or by any unique prefix of that.\n"
    ".PP\n"
    "Roles: \\fBhuman\\fR is a person; \\fBoverseer\\fR is a helper of the supervisor; \\fBrun\\fR is one run of an agent, which may use only its own goal, and need not name it; \\fBreader\\fR may read and changes nothing.\n";

static const char AGENTS[] =
    ".SH MCP\n"
    "Streamable HTTP at \\fB/mcp\\fR; for agents that use standard input and output, \\fBoverseer mcp\\fR relays messages. Revisions 2025\\-11\\-25 and 2025\\-06\\-18. Every operation is a tool: its name with _ for the dot. A run's token lists the tools for agents, other tokens list every tool that their role may call. Results come as text and as structured content; an error is a result with \\fBisError\\fR whose text begins with the code.\n";

int man_api_print(void) {
    printf(".\\\" SPDX-License-Identifier: Apache-2.0\n"
           ".\\\" Made by `overseer help --man api.7`; do not edit.\n"
           ".TH OVERSEER\\-API 7 \"\" \"Overseer\" \"Overseer\"\n%s.SH OPERATIONS\n",
           INTRODUCTION);
    for (size_t i = 0; i < OP_COUNT; i++)
        operation(OPS[i]);
    errors();
    printf("%s.SH SEE ALSO\n.BR overseer (1),\n.BR overseerd (8),\n.BR overseer\\-events (7)\n",
           AGENTS);
    return 0;
}
