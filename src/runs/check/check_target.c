/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a target fails its own check, so that its failure is not sent to an agent. Once for each tip and way to
 * check, when a candidate has failed; a change of the verdict is reported to the workspace. */
#include "base/bytes.h"
#include "base/memory.h"
#include "model/repository.h"
#include "runs/check/check.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/file_replace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FAILED_MOST = 64, HEX = 64, VERDICT_MOST = LIMIT_OUTPUT + 1024 };
static const int64_t FAILURE_BELIEVED = MINUTES(15);

/* ---- the stored verdict ---- */

static char *folder_of(const struct work_place *place, struct arena *arena) {
    return arena_cstr(arena, arena_format(arena, "%.*s/targets", STR_ARG(place->context.state)));
}

static char *name_of_file(const struct work_place *place, struct arena *arena) {
    return arena_cstr(arena, arena_format(arena, "%016llx", (unsigned long long)place->repository));
}

bool target_verdict_read(const struct work_place *place, struct arena *arena,
                         struct target_verdict *ret) {
    char *text = arena_new(arena, char, VERDICT_MOST), commit[HEX + 1], digest[HEX + 1],
         since[HEX + 1];
    char *path = arena_cstr(
        arena, arena_format(arena, "%s/%s", folder_of(place, arena), name_of_file(place, arena)));
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, VERDICT_MOST - 1, file) : 0;
    struct stat about = {0};
    unsigned stage;
    int64_t exit, since_at;
    int end = 0;
    if (file) {
        fstat(fileno(file), &about);
        fclose(file);
    }
    text[length] = 0;
    if (sscanf(text, "%64s %64s %u %" SCNd64 " %64s %" SCNd64 "\n%n", commit, digest, &stage, &exit,
               since, &since_at, &end) != 6 ||
        end == 0 || stage > TRIAL_COMMAND)
        return false;
    *ret = (struct target_verdict){.commit = arena_copy(arena, str_of(commit)),
                                   .stage = (enum trial_stage)stage,
                                   .exit = exit,
                                   .since = arena_copy(arena, str_of(since)),
                                   .since_at = since_at,
                                   .at = (int64_t)about.st_mtime * 1000000,
                                   .text = {text + end, length - (size_t)end}};
    return strlen(digest) == HEX && hex_read(digest, ret->digest.bytes, sizeof ret->digest.bytes);
}

static bool verdict_write(const struct work_place *place, const struct target_verdict *verdict,
                          struct arena *arena) {
    char digest[HEX + 1] = "";
    char *folder = folder_of(place, arena);
    hex_write(digest, verdict->digest.bytes, sizeof verdict->digest.bytes);
    struct str text = arena_format(arena, "%.*s %.64s %u %" PRId64 " %.*s %" PRId64 "\n%.*s",
                                   STR_ARG(verdict->commit), digest, verdict->stage, verdict->exit,
                                   STR_ARG(verdict->since), verdict->since_at,
                                   STR_ARG(str_cut_utf8(verdict->text, LIMIT_OUTPUT)));
    mkdir(folder, 0700);
    return file_replace(folder, name_of_file(place, arena), text.at, text.len, true);
}

static struct str fails_text(const struct work_place *place, const struct target_verdict *verdict,
                             struct arena *arena) {
    return arena_format(arena, "%.*s fails its own %s since %.12s",
                        STR_ARG(str_cut_utf8(place->branch, LIMIT_NAME)),
                        verdict->stage == TRIAL_SETUP ? "set-up (verify.setup)" : "check",
                        verdict->since.at);
}

/* ---- telling the workspace ---- */

static struct str repository_title(struct run_table *runs, uint64_t repository,
                                   struct arena *arena) {
    const struct settings *settings = context_settings(runs->context);
    struct repo_setting repo = {0};
    bool known = settings_repository(settings, repository, &repo);
    struct str name = known ? arena_copy(arena, str_cut_utf8(repo.name, LIMIT_AGENT)) : STR("");
    context_settings_drop(settings);
    return name;
}

/* The same change is the same signal, also after a restart. */
static void change_tell(struct run_table *runs, const struct work_place *place,
                        const struct target_verdict *verdict, struct arena *arena) {
    struct ledger_thread *ledger = runs->executor->ledger_thread;
    char trouble[LIMIT_WHY];
    uint32_t host = ledger_thread_view(ledger, trouble).host;
    bool passes = verdict->exit == 0;
    struct signal signal = {
        .kind = SIGNAL_TARGET_CHECKED,
        .source = id_derive(STR("target"),
                            arena_format(arena, "%016llx %.*s %" PRId64 " %d",
                                         (unsigned long long)place->repository,
                                         STR_ARG(verdict->since), verdict->since_at, passes)),
        .once.keyed = 1,
        .goal = workspace_id(ledger_policy(ledger->ledger), place->repository, host),
        .at = clock_wall(),
        .sender.actor = STR("overseer"),
        .sender.by = WHO_OVERSEER,
        .admission = host,
        .describe.repository = place->repository,
        .describe.title = repository_title(runs, place->repository, arena),
        .to = passes ? TARGET_PASSES : TARGET_FAILS,
        .reason = passes ? STR("") : fails_text(place, verdict, arena),
        .text = passes ? STR("") : verdict->text};
    struct input *input = input_make(&signal, NULL);
    if (!input || !queue_put(&ledger->queue, input))
        input_free(input);
}

/* Stores a verdict, and reports it if the state has changed. `since` stays while it fails. */
static void verdict_keep(struct run_table *runs, const struct work_place *place,
                         struct target_verdict *verdict, struct arena *arena) {
    struct target_verdict was;
    bool known = target_verdict_read(place, arena, &was), failed = known && was.exit != 0;
    bool fails = verdict->exit != 0;
    verdict->digest = place->digest;
    verdict->since = fails && failed ? was.since : verdict->commit;
    verdict->since_at = fails && failed ? was.since_at : clock_wall();
    if (!verdict_write(place, verdict, arena))
        return; /* it is found again */
    if (fails)
        change_tell(runs, place, verdict, arena);
    else if (failed) {
        struct target_verdict over = *verdict;
        over.since = was.since;
        over.since_at = was.since_at;
        change_tell(runs, place, &over, arena);
    }
}

void target_landed(struct run_table *runs, const struct work_place *place, struct str commit,
                   struct arena *arena) {
    struct target_verdict verdict = {.commit = commit, .stage = TRIAL_COMMAND};
    if (place->command.len > 0)
        verdict_keep(runs, place, &verdict, arena);
}

/* ---- candidates that have failed ---- */

struct failed_checks {
    uint32_t next;
    struct hash at[FAILED_MOST]; /* of commit and way to check */
};

static struct hash failed_hash(const struct target_check *check) {
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, check->candidate.at, check->candidate.len);
    sha256_add(&sha, check->place->digest.bytes, sizeof check->place->digest.bytes);
    return sha256_end(&sha);
}

static bool has_failed(const struct target_check *check) {
    const struct failed_checks *failed = check->runs->failed;
    struct hash hash = failed_hash(check);
    for (uint32_t i = 0; failed && i < FAILED_MOST; i++)
        if (hash_equal(&failed->at[i], &hash))
            return true;
    return false;
}

static void failed_add(struct target_check *check) {
    struct run_table *runs = check->runs;
    if (!runs->failed) {
        runs->failed = memory_new(sizeof *runs->failed);
        *runs->failed = (struct failed_checks){0};
    }
    if (!has_failed(check))
        runs->failed->at[runs->failed->next++ % FAILED_MOST] = failed_hash(check);
}

void failed_checks_free(struct run_table *runs) {
    free(runs->failed);
    runs->failed = NULL;
}

/* ---- checking the target ---- */

/* What made the target fail may be gone although its commit is the same: a host that was denied, a registry that was away, a
 * program that was missing. So a failure is believed for a while only. */
static bool is_believed(const struct target_verdict *verdict) {
    return verdict->exit == 0 || clock_wall() - verdict->at < FAILURE_BELIEVED;
}

static bool verdict_find(struct target_check *check, struct target_verdict *ret) {
    return target_verdict_read(check->place, check->arena, ret) &&
           str_equal(ret->commit, check->onto) && hash_equal(&ret->digest, &check->place->digest) &&
           is_believed(ret);
}

/* A target whose command fails says nothing about a candidate whose setup fails. */
static void blame(struct target_check *check, const struct target_verdict *verdict) {
    check->to_blame = verdict->exit != 0 && verdict->stage <= check->stage;
    if (!check->to_blame)
        return;
    failed_add(check);
    check->text = arena_format(check->arena, "%.*s\n%.*s",
                               STR_ARG(fails_text(check->place, verdict, check->arena)),
                               STR_ARG(verdict->text));
}

bool target_still_fails(struct target_check *check) {
    struct target_verdict verdict;
    if (!has_failed(check) || !verdict_find(check, &verdict))
        return false;
    check->stage = TRIAL_COMMAND;
    blame(check, &verdict);
    return check->to_blame;
}

static void target_checked(struct target_trial *target) {
    struct target_check *check = target->with;
    struct trial *trial = &target->trial;
    struct target_verdict verdict = {
        .commit = check->onto, .stage = trial->stage, .exit = trial->exit, .text = trial->text};
    if (trial->exit == -1) {
        check->to_blame = true;
        check->text = arena_format(check->arena, "%.*s cannot be checked now\n%.*s",
                                   STR_ARG(str_cut_utf8(check->place->branch, LIMIT_NAME)),
                                   STR_ARG(trial->text));
    } else {
        verdict_keep(check->runs, check->place, &verdict, check->arena);
        blame(check, &verdict);
    }
    check->ended(check);
}

/* A set-up that fails may fail for the network's sake: then the target is tried now, whatever is known of it. */
void target_check_begin(struct target_check *check) {
    struct target_verdict verdict;
    bool passed_once = verdict_find(check, &verdict);
    if (passed_once && (verdict.exit != 0 || check->stage == TRIAL_COMMAND)) {
        blame(check, &verdict);
        check->ended(check);
        return;
    }
    check->target = (struct target_trial){.trial = {.runs = check->runs,
                                                    .effect = check->effect,
                                                    .place = check->place,
                                                    .arena = check->arena,
                                                    .cache = check->cache},
                                          .name = check->name,
                                          .commit = check->onto,
                                          .ended = target_checked,
                                          .with = check};
    target_begin(&check->target);
}
