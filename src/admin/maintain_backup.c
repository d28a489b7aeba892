/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs backup, restore and retain: an operator makes a backup, restores one, and deletes old data. */
#include "admin/maintain.h"
#include "store/backup.h"
#include "store/retain.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

static struct backup backup_of(const struct maintain *maintain) {
    return (struct backup){
        .where = str_of(maintain->store), .at = clock_wall(), .build = OVERSEER_VERSION};
}

static void note_print(const char *verb, const char *file, const struct backup_note *note) {
    char taken[TIME_TEXT + 1];
    time_format(note->at, taken);
    printf("%s: %s: %llu goals, %llu records, %llu rows in all; taken %s from %s, era %llu\n", verb,
           file, (unsigned long long)note->goals, (unsigned long long)note->records,
           (unsigned long long)note->rows, taken, note->source, (unsigned long long)note->era);
}

int maintain_backup(struct maintain *maintain) {
    struct backup backup = backup_of(maintain);
    struct backup_note note;
    const char *check = maintain_option(maintain, "verify");
    const char *file = check ? check : maintain->word_count == 1 ? maintain->words[0] : NULL;
    if (!file) {
        fprintf(stderr, "overseerd: backup needs one FILE, or --verify FILE.\n");
        return MAINTAIN_USAGE;
    }
    bool good = check ? backup_verify(&backup, file, &note)
                      : backup_make(&backup, file, maintain_option(maintain, "force"), &note);
    if (!good) {
        printf("backup: %s\n", backup.error);
        return check ? MAINTAIN_DAMAGE : MAINTAIN_FAILED;
    }
    note_print(check ? "backup: complete" : "backup", file, &note);
    return MAINTAIN_DONE;
}

static bool seconds_read(const struct maintain *maintain, int64_t *ret_us) {
    const char *text = maintain_option(maintain, "lease");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 10;
    if (text && (end == text || (*end && strcmp(end, "s") != 0) || seconds < 0.1 || seconds > 3600))
        return false;
    *ret_us = (int64_t)(seconds * 1.5e6);
    return true;
}

int maintain_restore(struct maintain *maintain) {
    struct backup backup = backup_of(maintain);
    static struct restore restore;
    restore.replace = maintain_option(maintain, "replace");
    if (maintain->word_count != 1 || !seconds_read(maintain, &restore.silent_us)) {
        fprintf(stderr, "overseerd: restore needs one FILE; --lease takes seconds.\n");
        return MAINTAIN_USAGE;
    }
    if (!backup_restore(&backup, maintain->words[0], &restore)) {
        printf("restore: %s\n", backup.error);
        if (restore.aside[0])
            printf("restore: the old store is at %s\n", restore.aside);
        return MAINTAIN_FAILED;
    }
    if (maintain->lock)
        instance_lock_closed(maintain->lock);
    printf("restore: %s was restored; era %llu begins. Effects that were ready or running "
           "in the backup are unconfirmed now: check each before you repeat it.\n",
           maintain->words[0], (unsigned long long)restore.era);
    if (restore.aside[0])
        printf("restore: the old store is at %s\n", restore.aside);
    return MAINTAIN_DONE;
}

/* ---- retention ---- */

static bool days_read(const struct maintain *maintain, const char *name, int32_t *days) {
    const char *text = maintain_option(maintain, name);
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : *days;
    if (text && (end == text || *end || value < 1 || value > 36500))
        return false;
    *days = (int32_t)value;
    return true;
}

static void retained_print(const struct retain_report *it) {
    printf(
        "retain: %llu bodies and %llu records dropped, %llu kept, %llu more milestones; %llu sources,"
        " %llu texts, %llu days; %llu steps, the longest %.1f ms\n",
        (unsigned long long)it->bodies, (unsigned long long)it->records,
        (unsigned long long)it->kept, (unsigned long long)it->milestones,
        (unsigned long long)it->seen, (unsigned long long)it->texts, (unsigned long long)it->days,
        (unsigned long long)it->steps, (double)it->longest_us / 1000);
}

int maintain_retain(struct maintain *maintain) {
    struct retain_rules rules = RETAIN_DEFAULT;
    int64_t now = clock_wall();
    char error[LIMIT_WHY];
    const char *when = maintain_option(maintain, "now");
    if ((when && !time_parse(str_of(when), &now)) ||
        !days_read(maintain, "retain-bodies", &rules.bodies_days) ||
        !days_read(maintain, "retain-records", &rules.records_days)) {
        fprintf(
            stderr,
            "overseerd: --now must be a time such as 2026-11-15T00:00:00Z, and days must be 1 to 36500.\n");
        return MAINTAIN_USAGE;
    }
    struct retain *retain = retain_open(str_of(maintain->store), true, error, sizeof error);
    if (!retain) {
        printf("retain: %s\n", error);
        return MAINTAIN_FAILED;
    }
    retain_begin(retain, &rules, now, true);
    while (retain_step(retain)) {
    }
    const char *failed = retain_failed(retain);
    if (failed)
        printf("retain: %s\n", failed);
    retained_print(retain_report(retain));
    int code = failed ? MAINTAIN_FAILED : MAINTAIN_DONE;
    retain_close(retain);
    if (maintain->lock)
        instance_lock_closed(maintain->lock);
    return code;
}
