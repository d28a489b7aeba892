/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as JSON-RPC writes them. */
#include "http/rpc.h"

int rpc_code(enum error error) {
    switch (error) {
    case ERROR_NOT_JSON: return RPC_PARSE_ERROR;
    case ERROR_UNKNOWN_METHOD: return RPC_UNKNOWN_METHOD;
    case ERROR_INVALID: return RPC_INVALID_PARAMS;
    default: return RPC_OURS - (int)error;
    }
}

json_t *rpc_error(json_t *id, int code, enum error error, const char *why) {
    const struct error_row *row = &ERRORS[error];
    char message[1280];
    struct str text = str_cut_utf8(str_of(why), 512);
    while (text.len > 0 && !str_is_text(text))
        text.len--; /* it was cut inside a character */
    snprintf(message, sizeof message, "%.*s%s%s", STR_ARG(text), text.len ? " " : "",
             row->sentence);
    return json_pack("{s:s, s:o, s:{s:i, s:s, s:{s:s, s:i, s:s}}}", "jsonrpc", "2.0", "id",
                     id ? json_incref(id) : json_null(), "error", "code", code, "message", message,
                     "data", "code", row->code, "exit", row->exit_status, "class",
                     ERROR_CLASS[row->class]);
}
