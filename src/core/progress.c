/* SPDX-License-Identifier: Apache-2.0 */
/* Handles progress reports of agents, and decides which are kept. PROGRESS-03 to -05, -09. They prove only that the
 * agent is alive. */
#include "core/assignment.h"
#include "core/liveness.h"
#include "core/rules.h"
#include "model/update.h"

enum { HISTORY_MOST = 100, HISTORY_DENSE = 20 };
static const int64_t APART = SECONDS(30);

/* A run has a bounded history, so its entries are further apart the longer it lasts: the hundredth comes after more
 * than a day. A report between two entries is visible until a newer one comes. */
static bool is_for_history(const struct assignment *assignment, int64_t at) {
    uint32_t kept = assignment->progress.kept;
    int64_t eighths = kept > HISTORY_DENSE ? 8 + (int64_t)(kept - HISTORY_DENSE) : 8;
    int64_t apart = APART * eighths * eighths / 64;
    return kept == 0 ||
           (kept < HISTORY_MOST && time_after(assignment->progress.kept_at, apart) <= at);
}

static struct str progress_text(struct deciding *d, const struct progress *progress) {
    struct writer writer = {.arena = d->out};
    write_raw(&writer, progress->phase);
    for (uint32_t i = 0; i < progress->metrics.count; i++) {
        write_raw(&writer, i ? STR(", ") : STR(" ("));
        write_raw(&writer, progress->metrics.at[i]);
    }
    write_raw(&writer, progress->metrics.count ? STR(")") : STR(""));
    return str_cut_utf8((struct str){writer.at, writer.len}, LIMIT_LINE);
}

static void history_add(struct deciding *d, struct assignment *assignment,
                        const struct progress *progress) {
    assignment->progress.kept++;
    assignment->progress.kept_at = d->signal->at;
    struct str percent =
        progress->percent ? arena_format(d->out, "%u %%", progress->percent - 1) : STR("");
    decide_record(
        d, RECORD_AGENT_PROGRESS,
        assignment_evidence(
            d, assignment,
            (struct evidence){.rule = STR("progress.said"),
                              .to = percent,
                              .from = str_of(name_of(&PROGRESS_LEVEL_NAMES, progress->level)),
                              .text = progress_text(d, progress)}));
}

/* A report between two entries of the history is a sample, unless something else changed that affects decisions. */
static void between_note(struct deciding *d, struct assignment *assignment) {
    if (d->decision->verdict == VERDICT_CHANGE) /* the run is alive again, for example */
        return;
    if (assignment_is_sampled(d, assignment))
        assignment_sample(d, assignment);
    else
        decide_record(
            d, RECORD_AGENT_SEEN,
            assignment_evidence(d, assignment, (struct evidence){.rule = STR("progress.said")}));
}

static bool progress_read(struct deciding *d, struct progress *ret) {
    uint32_t entry;
    return shape_decode_in(&PROGRESS, d->signal->body, d->out, ret) &&
           !fields_broken(PROGRESS.fields, PROGRESS.count, ret, &entry) && ret->percent <= 101;
}

void rule_progress(struct deciding *d) {
    struct progress progress = {0};
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *assignment = assignment_at_hand(d);
    int64_t next =
        assignment && assignment->progress.at ? time_after(assignment->progress.at, APART) : 0;
    if (!progress_read(d, &progress))
        decide_refuse_because(d, ERROR_INVALID, STR("a field is missing, too long or not text"));
    else if (!assignment)
        decide_refuse_because(
            d, ERROR_NOT_FOUND,
            d->signal->about.assignment
                ? STR("that assignment is over")
                : STR("the caller has no assignment; use goal.report for free text"));
    else if (d->signal->at < next)
        decide_refuse_because(
            d, ERROR_LIMITED,
            arena_format(
                d->out,
                "only one progress report in 30 seconds is stored; send the next one in %lld s",
                (long long)((next - d->signal->at) / SECONDS(1) + 1)));
    else {
        life_note(d, assignment);
        assignment->progress.reported_last = 0;
        name_put(assignment->progress.phase, sizeof assignment->progress.phase,
                 str_cut_utf8(progress.phase, LIMIT_PHASE));
        assignment->progress.percent = progress.percent;
        assignment->progress.at = d->signal->at;
        if (is_for_history(assignment, d->signal->at))
            history_add(d, assignment, &progress);
        else
            between_note(d, assignment);
    }
}
