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
                       "The request is not valid. Correct what is named and send it again.", 2, 400,
                       CLASS_EXPECTED},
    [ERROR_NOT_FOUND] =
        {"E_NOT_FOUND",
         "There is nothing of that name. `overseer goal list` shows the goals that there are.", 3,
         404, CLASS_EXPECTED},
    [ERROR_CONFLICT] = {"E_CONFLICT",
                        "That does not fit what is there now. Read it again before you decide.", 4,
                        409, CLASS_EXPECTED},
    [ERROR_QUARANTINED] =
        {"E_QUARANTINED",
         "The goal is set aside because a decision about it broke a promise; this was "
         "not applied. See the reason with `overseer goal show`.",
         5, 409, CLASS_HARD},
    [ERROR_REFUSED_BY_STORE] =
        {"E_REFUSED_BY_STORE",
         "The database refused this row, so nothing was stored. Change the text "
         "that is named and send it again.",
         2, 422, CLASS_EXPECTED},
    [ERROR_BUSY] = {"E_BUSY",
                    "Too much is waiting to be written. Nothing was stored; try again shortly.", 6,
                    503, CLASS_TRANSIENT},
    [ERROR_STORE_AWAY] =
        {"E_STORE_AWAY",
         "The database does not answer, so it is not known whether this was stored. "
         "Repeat the request with the same key once it is back.",
         6, 503, CLASS_TRANSIENT},
    [ERROR_NO_MEMORY] = {"E_NO_MEMORY",
                         "There was no memory left. Nothing was stored; try again shortly.", 6, 503,
                         CLASS_TRANSIENT},
    [ERROR_STOPPING] =
        {"E_STOPPING",
         "The daemon is stopping. Repeat the request with the same key when it is back.", 6, 503,
         CLASS_TRANSIENT},
    [ERROR_UNKNOWN_METHOD] = {"E_UNKNOWN_METHOD",
                              "There is no such operation. `overseer help` lists them.", 2, 404,
                              CLASS_EXPECTED},
    [ERROR_UNAUTHORIZED] =
        {"E_UNAUTHORIZED",
         "Only the overseer or a person may do this. An agent can ask for it with a report or a review.",
         9, 403, CLASS_EXPECTED},
    [ERROR_INVALID_PLAN] =
        {"E_INVALID_PLAN",
         "The plan cannot be used, and nothing was changed. Correct what is named and send it again.",
         2, 422, CLASS_EXPECTED},
    [ERROR_SAFE_MODE] =
        {"E_SAFE_MODE",
         "In safe mode nothing is written or started until an operator decides. A damaged store is left "
         "behind with `overseerd --maintain rebuild`, `overseerd --maintain restore FILE` or "
         "`overseerd --maintain accept-empty`.",
         8, 503, CLASS_HARD},
    [ERROR_UNAUTHENTICATED] =
        {"E_UNAUTHENTICATED",
         "Authentication required. Make a token with `overseer token create` and send it as "
         "\"Authorization: Bearer …\".",
         9, 401, CLASS_EXPECTED},
    [ERROR_TOO_LARGE] = {"E_TOO_LARGE", "The request is too large. Send less at once.", 2, 413,
                         CLASS_EXPECTED},
    [ERROR_AMBIGUOUS] = {"E_AMBIGUOUS",
                         "Several goals begin like that. Give more characters of the id.", 2, 409,
                         CLASS_EXPECTED},
    [ERROR_SPOOL_FULL] =
        {"E_SPOOL_FULL",
         "The database does not answer and the spool is full. Nothing was stored; try again later.",
         6, 503, CLASS_TRANSIENT},
    [ERROR_NOT_JSON] = {"E_NOT_JSON", "What came is not JSON. Correct it and send it again.", 2,
                        400, CLASS_EXPECTED},
    [ERROR_INTERNAL] =
        {"E_INTERNAL",
         "The daemon broke one of its own promises over this. Nothing was stored; the place is in its log. "
         "`overseer doctor` says where that is.",
         1, 500, CLASS_HARD},
    [ERROR_NO_DAEMON] = {"E_NO_DAEMON",
                         "No daemon answers. Start one with `overseer up`, or say where it listens "
                         "with --socket.",
                         7, 503, CLASS_TRANSIENT},
    [ERROR_LIMITED] =
        {"E_LIMITED",
         "Too much of this was asked for, and nothing was stored. Send it again once something of it is "
         "answered.",
         6, 429, CLASS_EXPECTED},
};
