/* SPDX-License-Identifier: Apache-2.0 */
#include "model/error.h"

const char *const ERROR_CLASS[CLASS_HARD + 1] = {
    [CLASS_NONE] = "none",
    [CLASS_EXPECTED] = "expected",
    [CLASS_TRANSIENT] = "transient",
    [CLASS_HARD] = "hard",
};

const struct error_row ERRORS[ERROR_COUNT] = {
    [ERROR_NONE] = {"OK", "Done.", 0, 200, CLASS_NONE},
    [ERROR_INVALID] = {"E_INVALID",
                       "The request is not valid. Correct the named part and send it again.", 2,
                       400, CLASS_EXPECTED},
    [ERROR_NOT_FOUND] = {"E_NOT_FOUND", "Not found. `overseer goal list` shows all goals.", 3, 404,
                         CLASS_EXPECTED},
    [ERROR_CONFLICT] =
        {"E_CONFLICT",
         "The request conflicts with the current state. Read it again before you decide.", 4, 409,
         CLASS_EXPECTED},
    [ERROR_QUARANTINED] =
        {"E_QUARANTINED",
         "The goal is quarantined because a decision about it failed an internal check; the request was not applied. `overseer goal show` gives the reason.",
         5, 409, CLASS_HARD},
    [ERROR_REFUSED_BY_STORE] =
        {"E_REFUSED_BY_STORE",
         "The database refused this row, so nothing was stored. Change the named text and send it again.",
         2, 422, CLASS_EXPECTED},
    [ERROR_BUSY] = {"E_BUSY", "The write queue is full. Nothing was stored; try again shortly.", 6,
                    503, CLASS_TRANSIENT},
    [ERROR_STORE_AWAY] =
        {"E_STORE_AWAY",
         "The database does not answer, so it is unknown whether the request was stored. Repeat the request with the same key once the database is back.",
         6, 503, CLASS_TRANSIENT},
    [ERROR_NO_MEMORY] = {"E_NO_MEMORY", "Out of memory. Nothing was stored; try again shortly.", 6,
                         503, CLASS_TRANSIENT},
    [ERROR_STOPPING] =
        {"E_STOPPING",
         "The daemon is stopping. Repeat the request with the same key when it is back.", 6, 503,
         CLASS_TRANSIENT},
    [ERROR_UNKNOWN_METHOD] = {"E_UNKNOWN_METHOD",
                              "Unknown operation. `overseer help` lists all operations.", 2, 404,
                              CLASS_EXPECTED},
    [ERROR_UNAUTHORIZED] =
        {"E_UNAUTHORIZED",
         "Only the overseer or a person may do this. An agent can ask for it with a report or a review.",
         9, 403, CLASS_EXPECTED},
    [ERROR_INVALID_PLAN] =
        {"E_INVALID_PLAN",
         "The plan is not valid, and nothing was changed. Correct the named part and send it again.",
         2, 422, CLASS_EXPECTED},
    [ERROR_SAFE_MODE] =
        {"E_SAFE_MODE",
         "The daemon is in safe mode: it writes and starts nothing until an operator decides. To replace a damaged store, use `overseerd --maintain rebuild`, `overseerd --maintain restore FILE` or `overseerd --maintain accept-empty`.",
         8, 503, CLASS_HARD},
    [ERROR_UNAUTHENTICATED] =
        {"E_UNAUTHENTICATED",
         "Authentication required. Make a token with `overseer token create` and send it as "
         "\"Authorization: Bearer …\".",
         9, 401, CLASS_EXPECTED},
    [ERROR_TOO_LARGE] = {"E_TOO_LARGE", "The request is too large. Send less at once.", 2, 413,
                         CLASS_EXPECTED},
    [ERROR_AMBIGUOUS] =
        {"E_AMBIGUOUS",
         "The id is ambiguous: several goals have that prefix. Give more characters of the id.", 2,
         409, CLASS_EXPECTED},
    [ERROR_SPOOL_FULL] =
        {"E_SPOOL_FULL",
         "The database does not answer and the spool is full. Nothing was stored; try again later.",
         6, 503, CLASS_TRANSIENT},
    [ERROR_NOT_JSON] = {"E_NOT_JSON", "The request body is not JSON. Correct it and send it again.",
                        2, 400, CLASS_EXPECTED},
    [ERROR_INTERNAL] =
        {"E_INTERNAL",
         "An internal check of the daemon failed. Nothing was stored; the daemon's log has the details. `overseer doctor` shows where the log is.",
         1, 500, CLASS_HARD},
    [ERROR_NO_DAEMON] =
        {"E_NO_DAEMON",
         "No daemon answers. Start one with `overseer up`, or give its socket with --socket.", 7,
         503, CLASS_TRANSIENT},
    [ERROR_LIMITED] =
        {"E_LIMITED",
         "The limit for open requests of this kind is reached, and nothing was stored. Send it again once one of them is answered.",
         6, 429, CLASS_EXPECTED},
};
