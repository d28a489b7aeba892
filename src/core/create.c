/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what a new goal becomes. */
#include "core/effect.h"
#include "core/goal.h"
#include "core/plan/node.h"
#include "core/rules.h"

/* A goal that needs no repository can do without the field that says so. */
static bool repository_set(struct deciding *d) {
    uint64_t key = d->signal->describe.repository;
    bool known = d->world->level >= LEVEL_REPOSITORIES;
    if (known)
        d->decision->goal.repository = key;
    if (known || key == 0 || key == REPOSITORY_NONE)
        return true;
    decide_refuse_because(d, ERROR_CONFLICT,
                          STR("a host of this fleet runs an older version that knows one "
                              "repository only; update it first"));
    return false;
}

static bool batch_set(struct deciding *d) {
    bool known = d->world->level >= LEVEL_TASK_BATCHES;
    if (known)
        d->decision->goal.kind.batch = d->signal->describe.batch;
    if (known || d->signal->describe.batch.key == 0)
        return true;
    decide_refuse_because(d, ERROR_CONFLICT,
                          STR("a host of this fleet runs an older version that knows no batches; "
                              "update it first"));
    return false;
}

/* The first line of the title: it becomes the first line of commits. */
static void subject_put(struct goal *goal, struct str title) {
    struct str line = {title.at, 0};
    while (line.len < title.len && title.at[line.len] != '\n' && title.at[line.len] != '\r')
        line.len++;
    name_put(goal->kind.subject, sizeof goal->kind.subject, str_cut_utf8(line, LIMIT_SUBJECT));
    for (char *at = goal->kind.subject; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
}

/* GOAL-01, GOAL-02, EVENT-03: a goal begins active, with one record that says who asked for what. A goal that already
 * exists was requested with the same key (its id derives from the key): the answer is the goal as it stands. */
void rule_create(struct deciding *d) {
    const struct signal *signal = d->signal;
    if (d->world->goal) {
        if (!signal->once.keyed)
            decide_refuse(d, ERROR_CONFLICT);
        return;
    }
    struct goal *goal = &d->decision->goal;
    if (!repository_set(d) || !batch_set(d))
        return;
    goal->id = signal->goal;
    goal->owner = signal->host;
    goal->fence = 1;
    goal->status = GOAL_ACTIVE;
    goal->times.created_at = signal->at;
    goal->priority = signal->describe.priority;
    if (d->world->level >= LEVEL_TASK_BATCHES) /* an older host would lose it */
        goal->kind.quota_mark =
            signal->describe.quota_mark <= 100 ? signal->describe.quota_mark : 100;
    goal->era = d->world->era;
    goal->effects.made = (uint32_t)(d->world->era % LIMIT_ERAS) * LIMIT_ERA_GAP; /* see era.c */
    if (!goal_words(d) || !goal_tags(d))
        return;
    d->decision->title = str_cut_utf8(signal->describe.title, LIMIT_TITLE);
    subject_put(goal, d->decision->title);
    decide_record(d, RECORD_GOAL_CREATED,
                  (struct evidence){
                      .rule = STR("goal.create"), .more = goal->text, .text = d->decision->title});
    if (signal->describe.task.len > 0)
        plan_of_task(d);
    if (signal->describe.command.len > 0)
        effect_make(
            d, (struct effect){.kind = EFFECT_COMMAND,
                               .command = str_cut_utf8(signal->describe.command, LIMIT_COMMAND),
                               .within = d->policy->act_within});
}
