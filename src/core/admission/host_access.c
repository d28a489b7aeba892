/* SPDX-License-Identifier: Apache-2.0 */
/* Applies what a person decided about a host that runs of a repository were denied. host_denied.c asks. */
#include "core/admission/host_access.h"
#include "model/cause.h"

void host_access_record(struct deciding *d, enum record_type type, const struct host_access *row,
                        const char *rule, const char *to) {
    char name[TASK_NAME];
    task_name_format(row->number, name);
    decide_record(d, type,
                  (struct evidence){.rule = str_of(rule),
                                    .text = arena_format(d->out, "%s", row->host),
                                    .to = str_of(to),
                                    .from = arena_format(d->out, "%s", name),
                                    .reason = d->signal->reason,
                                    .count = row->tries});
}

static const enum host_decision DECIDED[] = {[NETWORK_DENY] = HOST_DENIED,
                                             [NETWORK_TASKS] = HOST_ALLOWED,
                                             [NETWORK_CHECKS] = HOST_CHECKS,
                                             [NETWORK_ALWAYS] = HOST_ALLOWED};

/* A row of a task that is decided: it stays if the decision is for these tasks, and goes if another row takes its place,
 * or if nothing was decided. */
static void row_decide(struct deciding *d, struct host_access *row, uint32_t option) {
    if (option == NETWORK_TASKS) {
        row->decision = DECIDED[option];
        row->question = 0;
        row->at = d->signal->at;
        live_touch(d, PART_HOST_ACCESS, row);
    }
    if (option == NETWORK_TASKS || option == 0)
        host_access_record(d, RECORD_HOST_DECIDED, row,
                           option ? "network.decided" : "network.undecided",
                           option ? name_of(&HOST_DECISION_NAMES, row->decision) : "undecided");
    if (option != NETWORK_TASKS)
        live_remove(d, PART_HOST_ACCESS, row);
}

/* For the repository: one row stands for those of its tasks. */
void host_access_decide(struct deciding *d, const struct host_access *of,
                        enum host_decision decision) {
    struct host_access *row = live_add(d, PART_HOST_ACCESS, d->decision->goal.parts_made++);
    memcpy(row->host, of->host, sizeof row->host);
    row->tries = of->tries;
    row->decision = decision;
    row->at = d->signal->at;
    host_access_record(d, RECORD_HOST_DECIDED, row, "network.decided",
                       name_of(&HOST_DECISION_NAMES, decision));
}

/* Without an option (the question was withdrawn, or answered in words only) nothing is decided: the next denial asks
 * again. */
void host_access_answered(struct deciding *d, const struct question *question) {
    const struct host_accesses *rows = &d->decision->live.host_accesses;
    uint32_t option = question->answer.option;
    struct host_access of = {0};
    live_edit(d, PART_HOST_ACCESS, 1);
    for (uint32_t i = rows->count; i-- > 0;)
        if (rows->at[i].question == question->n + 1) {
            uint64_t tries = of.tries > rows->at[i].tries ? of.tries : rows->at[i].tries;
            of = rows->at[i];
            of.tries = tries;
            row_decide(d, &rows->at[i], option);
        }
    if (option && option != NETWORK_TASKS && of.host[0])
        host_access_decide(d, &of, DECIDED[option]);
}
