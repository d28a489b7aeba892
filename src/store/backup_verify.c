/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies a backup: its digest, its tables and its chains of records. */
#include "store/backup_state.h"

#include "store/examine.h"

/* ---- verifying ---- */

static bool engine_check(struct backup *backup, sqlite3 *db) {
    sqlite3_stmt *row = NULL;
    const char *text = NULL;
    bool good = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &row, NULL) == SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW &&
                (text = (const char *)sqlite3_column_text(row, 0)) && strcmp(text, "ok") == 0;
    if (!good)
        backup_failed(backup, "The backup is damaged: %s.", text ? text : sqlite3_errmsg(db));
    sqlite3_finalize(row);
    return good;
}

static void chain_ignore(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void chain_judge(void *with, const struct audit *audit, const char *wrong) {
    struct backup *backup = with;
    char id[ID_TEXT + 1];
    id_format(audit->goal, id);
    if (wrong && !backup->error[0])
        backup_failed(backup, "The backup is damaged: goal_%s at record %llu: %s.", id,
                      (unsigned long long)audit->broken_at, wrong);
}

static bool chains_check(struct backup *backup, const char *file) {
    struct log_visitor visitor = {backup, chain_ignore, chain_judge};
    struct log_report report = {0};
    backup->error[0] = 0;
    sqlite_verify_log(file, &visitor, &report);
    if (report.failed)
        return backup_failed(backup, "The backup cannot be read: %s.", report.why);
    return report.broken == 0 && !backup->error[0];
}

bool backup_verify(struct backup *backup, const char *file, struct backup_note *ret) {
    sqlite3 *db = NULL;
    struct backup_note found = {0};
    *ret = (struct backup_note){0};
    bool good = sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ||
                backup_failed(backup, "%s cannot be read: %s.", file, sqlite3_errmsg(db));
    good = good && backup_note_read(backup, db, ret) && engine_check(backup, db) &&
           backup_digest(backup, db, &found);
    if (good && (found.rows != ret->rows || !hash_equal(&found.digest, &ret->digest)))
        good =
            backup_failed(backup, "The backup is damaged: its rows do not match their checksum.");
    ret->goals = found.goals;
    ret->records = found.records;
    sqlite3_close(db);
    return good && chains_check(backup, file);
}
