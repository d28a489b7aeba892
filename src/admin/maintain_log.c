/* SPDX-License-Identifier: Apache-2.0 */
/* The verb verify-log: checks offline that the log is unaltered, also against chain heads that were saved earlier.
 * G-25. */
#include "admin/maintain.h"
#include "base/memory.h"
#include "store/examine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_BREAKS = 20, HEAD_LINE = 160 };

struct head { /* the end of a chain when it was saved */
    struct id goal;
    uint64_t seq;
    struct hash hash;
};

struct verification {
    FILE *heads;         /* file to write to, or NULL */
    struct head *before; /* sorted by goal, or NULL */
    size_t before_count, next;
    bool met; /* the record that before[next] names has been seen */
    uint64_t kept, covered, broken;
};

/* ---- chain heads as lines of text ---- */

static void head_write(FILE *file, const struct audit *audit) {
    char id[ID_TEXT + 1];
    id_format(audit->goal, id);
    fprintf(file, "goal_%s %llu ", id, (unsigned long long)audit->seq);
    for (size_t i = 0; i < sizeof audit->head.bytes; i++)
        fprintf(file, "%02x", audit->head.bytes[i]);
    fputc('\n', file);
}

static bool head_read(const char *line, struct head *ret) {
    char id[32], hash[65];
    unsigned long long seq;
    if (sscanf(line, "goal_%31s %llu %64s", id, &seq, hash) != 3 || strlen(hash) != 64 ||
        !id_parse(str_of(id), &ret->goal))
        return false;
    ret->seq = seq;
    for (size_t i = 0; i < sizeof ret->hash.bytes; i++) {
        unsigned byte;
        if (sscanf(hash + 2 * i, "%2x", &byte) != 1)
            return false;
        ret->hash.bytes[i] = (uint8_t)byte;
    }
    return true;
}

static bool head_add(struct verification *v, size_t *cap, struct head head) {
    if (v->before_count > 0 && id_compare(v->before[v->before_count - 1].goal, head.goal) >= 0)
        return false;
    if (v->before_count == *cap) {
        *cap = *cap * 2 + 1024;
        v->before = memory_grow(v->before, *cap * sizeof *v->before);
    }
    v->before[v->before_count++] = head;
    return true;
}

static bool heads_read(struct verification *v, const char *path) {
    FILE *file = fopen(path, "re");
    char line[HEAD_LINE];
    size_t cap = 0;
    bool good = file;
    while (good && fgets(line, sizeof line, file)) {
        struct head head;
        good = head_read(line, &head) && head_add(v, &cap, head);
    }
    if (!file)
        printf("verify-log: %s cannot be read: %s\n", path, strerror(errno));
    else if (!good)
        printf("verify-log: %s is not a sorted list of heads: line %zu is not valid\n", path,
               v->before_count + 1);
    if (file)
        fclose(file);
    return good;
}

/* ---- chain by chain ---- */

static void break_print(struct verification *v, struct id goal, uint64_t seq, const char *what) {
    char id[ID_TEXT + 1];
    id_format(goal, id);
    if (v->broken++ < SHOWN_BREAKS)
        printf("verify-log: goal_%s at record %llu: %s\n", id, (unsigned long long)seq, what);
}

static void record_met(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    struct verification *v = with;
    const struct head *head = v->next < v->before_count ? &v->before[v->next] : NULL;
    if (!head || !id_equal(head->goal, goal) || head->seq != seq)
        return;
    v->met = true;
    if (!hash_equal(&head->hash, hash))
        break_print(v, goal, seq, "it was altered after its head was written");
}

/* Reports chains that existed earlier and no longer exist. */
static void gone_until(struct verification *v, const struct id *goal) {
    while (v->next < v->before_count && (!goal || id_compare(v->before[v->next].goal, *goal) < 0)) {
        break_print(v, v->before[v->next].goal, v->before[v->next].seq,
                    "the whole chain was removed after its head was written");
        v->next++;
    }
}

static void before_compare(struct verification *v, const struct audit *audit) {
    gone_until(v, &audit->goal);
    const struct head *head = v->next < v->before_count ? &v->before[v->next] : NULL;
    if (!head || !id_equal(head->goal, audit->goal))
        return;
    if (v->met)
        v->kept++;
    else if (head->seq <= audit->seq && audit->milestones > 0)
        v->covered++;
    else if (!audit->broken)
        break_print(v, head->goal, head->seq, "it was removed after its head was written");
    v->met = false;
    v->next++;
}

static void chain_done(void *with, const struct audit *audit, const char *wrong) {
    struct verification *v = with;
    if (wrong)
        break_print(v, audit->goal, audit->broken ? audit->broken_at : audit->seq, wrong);
    if (v->heads)
        head_write(v->heads, audit);
    if (v->before)
        before_compare(v, audit);
}

/* ---- the verb ---- */

static int verification_print(struct verification *v, const struct log_report *report) {
    if (report->failed) {
        printf("verify-log: the log cannot be read to its end: %s\n", report->why);
        return MAINTAIN_FAILED;
    }
    if (v->broken > SHOWN_BREAKS)
        printf("verify-log: and %llu more\n", (unsigned long long)(v->broken - SHOWN_BREAKS));
    if (v->before)
        printf("verify-log: %llu of %zu heads are unchanged%s\n", (unsigned long long)v->kept,
               v->before_count, v->covered ? "; the others were removed by retention" : "");
    if (v->broken > 0)
        printf("verify-log: %llu records of %llu goals, %llu breaks\n",
               (unsigned long long)report->records, (unsigned long long)report->goals,
               (unsigned long long)v->broken);
    else
        printf("verify-log: %llu records of %llu goals, all chains intact\n",
               (unsigned long long)report->records, (unsigned long long)report->goals);
    return v->broken > 0 ? MAINTAIN_DAMAGE : MAINTAIN_DONE;
}

int maintain_verify_log(struct maintain *maintain) {
    struct verification v = {0};
    struct log_report report;
    struct log_visitor visitor = {&v, record_met, chain_done};
    const char *heads = maintain_option(maintain, "heads"),
               *against = maintain_option(maintain, "against");
    if (against && !heads_read(&v, against)) {
        free(v.before);
        return MAINTAIN_USAGE;
    }
    if (heads && !(v.heads = fopen(heads, "we"))) {
        printf("verify-log: %s cannot be written: %s\n", heads, strerror(errno));
        free(v.before);
        return MAINTAIN_FAILED;
    }
    store_verify_log(str_of(maintain->store), &visitor, &report);
    if (v.before && !report.failed)
        gone_until(&v, NULL);
    int code = verification_print(&v, &report);
    if (v.heads && fclose(v.heads) != 0)
        code = MAINTAIN_FAILED;
    free(v.before);
    return code;
}
