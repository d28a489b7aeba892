/* SPDX-License-Identifier: Apache-2.0 */
/* Examines a store and verifies its log, on either engine. */
#include "store/examine.h"

void store_examine(struct str where, const struct examine_options *options,
                   struct examination *ret) {
    *ret = (struct examination){.verdict = EXAMINE_SOUND};
    const char *path = store_address_file(where.at);
    if (path)
        sqlite_examine(path, options, ret);
    else
        postgres_examine(where.at, options, ret);
}

void store_verify_log(struct str where, const struct log_visitor *visitor, struct log_report *ret) {
    *ret = (struct log_report){0};
    const char *path = store_address_file(where.at);
    if (path)
        sqlite_verify_log(path, visitor, ret);
    else
        postgres_verify_log(where.at, visitor, ret);
}
