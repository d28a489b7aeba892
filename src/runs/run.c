/* SPDX-License-Identifier: Apache-2.0 */
/* One run: made, freed, due, reported. */
#include "base/memory.h"
#include "runs/run_table.h"

#include "runs/run.h"
#include "sys/clock.h"

/* ---- a run ---- */

struct run *run_make(struct run_table *runs, const struct effect *effect, struct id id) {
    char name[ID_TEXT + 1];
    struct run *run = memory_new(sizeof *run);
    id_format(id, name);
    *run = (struct run){.runs = runs,
                        .id = id,
                        .goal = effect->goal,
                        .assignment = effect->assignment,
                        .repository = effect->repository};
    snprintf(run->node, sizeof run->node, "%.*s", STR_ARG(effect->node));
    snprintf(run->agent, sizeof run->agent, "%.*s", STR_ARG(effect->agent));
    int length = snprintf(run->dir, sizeof run->dir, "%s/runs/%s", runs->state, name);
    id_format(run->goal,
              name); /* the home is kept for the agent's next run, with what it remembers */
    int home = snprintf(run->home, sizeof run->home, "%s/homes/%s.A_%u", runs->state, name,
                        run->assignment);
    if (length >= (int)sizeof run->dir - 64 || home >= (int)sizeof run->home - 64) {
        free(run);
        return NULL;
    }
    pthread_mutex_lock(&runs->lock);
    if (!map_put(&runs->all, id, run))
        memory_exhausted();
    pthread_mutex_unlock(&runs->lock);
    host_lists_wake(runs);
    return run;
}

void run_free(struct run *run) {
    struct run_table *runs = run->runs;
    pthread_mutex_lock(&runs->lock);
    map_remove(&runs->all, run->id);
    pthread_mutex_unlock(&runs->lock);
    due_remove(&runs->due, run->id);
    if (run->token[0])
        tokens_take_back(runs->context->tokens, str_of(run->token));
    run_denials_end(run);
    if (run->held)
        held_close(run->held);
    drive_input_free(&run->input);
    outbox_clear(run);
    arena_free(&run->arena);
    free(run->sending);
    free(run->look);
    free(run->stop);
    free(run->text);
    arena_free(&run->saved_arena);
    free(run->state);
    free(run);
}

void run_report(struct run *run, struct act **act, struct signal outcome) {
    struct act *ended = *act;
    *act = NULL;
    executor_report(run->runs->executor, ended, outcome);
    free(ended);
}

/* SCOPE-08: whether its tool scope is enforced. */
const char *run_scope(const struct run *run) {
    bool scoped = run->spec.allow_given || run->spec.deny_count > 0;
    return !scoped ? "none" : run->scope_enforced ? "enforced" : "advisory";
}

/* ASSIGN-13: reports what is known about the delivery. */
void run_sending_ended(struct run *run, enum delivery delivery, struct str why) {
    struct arena arena = {0};
    struct signal ended = {.to = delivery, .text = why};
    if (!run->sending)
        return;
    if (delivery == DELIVERY_ACCEPTED) /* ASSIGN-16 */
        ended.outcome.reference = arena_format(&arena, "agent:%s:%s", run->agent, run->session);
    ended.outcome.sandbox = str_of(sandbox_name(run->box));
    ended.outcome.scope = str_of(run_scope(run));
    ended.outcome.limits = str_of(run->limits);
    if (run->sending->effect.kind == EFFECT_SPAWN)
        ended.body = run_beginning(run, &arena);
    free(run->text);
    run->text = NULL;
    run_report(run, &run->sending, ended);
    arena_free(&arena);
}

void observation_to_wall(struct observation *observation) {
    int64_t *const times[] = {&observation->at, &observation->active_at, &observation->tool_since,
                              &observation->chatter_at};
    for (size_t i = 0; i < count_of(times); i++)
        *times[i] = clock_steady_to_wall(*times[i]);
}

/* ---- start and stop ---- */

/* All our programs are in one folder. */
void sibling_program(const char *name, char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    const char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    snprintf(path + folder, size - folder, "%s", name);
}
