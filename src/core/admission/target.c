/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about a repository whose target fails its own check: once for the repository, however many tasks wait for that.
 * docs/decisions/0020. */
#include "core/admission/host_access.h"
#include "core/admission/permit.h"
#include "core/people/question.h"
#include "core/rules.h"

static void target_ask(struct deciding *d) {
    struct str what = d->signal->reason;
    workspace_subject_put(d);
    struct asking asking = {
        .kind = QUESTION_DECIDE,
        .of = OF_PERSON,
        .alarm = ALARM_WARNING,
        .cause = cause_text(CAUSE_TARGET, "", d->out),
        .text = {.title = what,
                 .text =
                     arena_format(d->out,
                                  "Work that fails its check waits until the target passes, and "
                                  "is not sent back to its agent. %.*s",
                                  STR_ARG(str_cut_utf8(d->signal->text, LIMIT_OUTPUT))),
                 .options = cause_options(CAUSE_TARGET),
                 .rule = STR("target.fails"),
                 .reason = what}};
    question_ask(d, asking);
}

static bool is_asked(const struct deciding *d, struct str cause) {
    return questions_about(&d->decision->live.questions, cause) != NULL;
}

/* The sender reports each change once: an answered question is not asked again while the same failure goes on. */
void rule_target_checked(struct deciding *d) {
    struct str cause = cause_text(CAUSE_TARGET, "", d->out);
    if (d->signal->to == TARGET_UNKNOWN || d->signal->to >= TARGET_STATES) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (d->world->level < LEVEL_HOST_ACCESS)
        return;
    if (d->signal->to == TARGET_PASSES) {
        if (d->world->goal && d->decision->goal.kind.workspace && is_asked(d, cause))
            question_settle(d, cause, STR("target.passes"));
        return;
    }
    if (!workspace_open(d, d->signal->describe.repository))
        decide_refuse(d, ERROR_INVALID);
    else if (!is_asked(d, cause))
        target_ask(d);
}
