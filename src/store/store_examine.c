/* SPDX-License-Identifier: Apache-2.0 */
/* Examines a store and verifies its log, on either engine. */
#include "store/examine.h"

/* ---- entry points for both engines ---- */

static bool is_sqlite(struct str where) {
    return where.len > 7 && memcmp(where.at, "sqlite:", 7) == 0;
}

void store_examine(struct str where, const struct examine_options *options,
                   struct examination *ret) {
    *ret = (struct examination){.verdict = EXAMINE_SOUND};
    if (is_sqlite(where))
        sqlite_examine(where.at + 7, options, ret);
    else
        postgres_examine(where.at, options, ret);
}

void store_verify_log(struct str where, const struct log_visitor *visitor, struct log_report *ret) {
    *ret = (struct log_report){0};
    if (is_sqlite(where))
        sqlite_verify_log(where.at + 7, visitor, ret);
    else
        postgres_verify_log(where.at, visitor, ret);
}
