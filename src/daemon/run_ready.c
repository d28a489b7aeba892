/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be done in a new worktree before an agent begins there? AUTO-25.
 *
 *   a block of ports ──▶ repo.setup ──▶ repo.on_worktree_ready ──▶ it is ready
 *
 * Who fails is told, and the run does not begin; the next try does it all again. A worktree that is not ready has a mark,
 * from before it was made until all of this went well: so no agent has been there yet. */
#include "daemon/run.h"
#include "ports/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct readying {
    struct runs *runs;
    const struct ready_wanted *wanted;
    struct arena *arena;
    struct str objects;
    ready_made *done;
    void *with;
};

static void readying_end(struct readying *it, struct str why) {
    ready_made *done = it->done;
    void *with = it->with;
    it->runs->under_way--;
    free(it);
    done(with, why);
}

static struct str ended_text(struct readying *it, const char *setting, int64_t exit,
                             struct str tail) {
    return arena_format(it->arena,
                        "%s ended with status %lld, so no agent begins in %.*s. Mend it, or take "
                        "it out of the settings, and try again. It said: %.*s",
                        setting, (long long)exit, STR_ARG(it->wanted->tree),
                        STR_ARG(str_cut_utf8(tail, LIMIT_LINE)));
}

/* What it may know. */
static struct str words_with(struct readying *it, struct str command) {
    const struct ready_wanted *wanted = it->wanted;
    return arena_format(it->arena,
                        "export OVERSEER_WORKTREE='%.*s' OVERSEER_WORKER='%.*s' "
                        "OVERSEER_SESSION='%.*s'%.*s\ncd '%.*s' && { %.*s\n}",
                        STR_ARG(wanted->tree), STR_ARG(wanted->worker), STR_ARG(wanted->session),
                        STR_ARG(ports_words(wanted->place, it->arena)), STR_ARG(wanted->tree),
                        STR_ARG(command));
}

static void command_begin(struct readying *it, struct str command, command_ended *ended) {
    struct effect effect = {.kind = EFFECT_COMMAND,
                            .goal = it->wanted->goal,
                            .n = it->wanted->dispatch_n,
                            .within = it->wanted->place->within,
                            .command = command};
    command_run(it->runs->loop, &effect, it->wanted->fence, ended, it);
}

/* ---- the hook ---- */

static void hook_ended(void *with, int64_t exit, struct str tail) {
    struct readying *it = with;
    unlink(arena_cstr(it->arena, arena_format(it->arena, "%.*s.rules", STR_ARG(it->wanted->tree))));
    if (exit == 0)
        work_place_ready(it->wanted->place, it->arena);
    readying_end(it, exit == 0 ? STR("") : ended_text(it, "repo.on_worktree_ready", exit, tail));
}

/* Held as checks are, with the worktree to write in and nothing of the daemon's environment. */
static void hook_begin(struct readying *it) {
    struct str words;
    if (it->wanted->place->hook.len == 0)
        hook_ended(it, 0, STR(""));
    else if (check_box(it->runs, it->wanted->tree, it->objects,
                       words_with(it, it->wanted->place->hook), it->arena, &words))
        command_begin(it, words, hook_ended);
    else
        readying_end(it, words);
}

/* ---- the set-up ---- */

static void setup_ended(void *with, int64_t exit, struct str tail) {
    struct readying *it = with;
    if (exit == 0)
        hook_begin(it);
    else
        readying_end(it, ended_text(it, "repo.setup", exit, tail));
}

void ready_make(struct runs *runs, const struct ready_wanted *wanted, struct arena *arena,
                ready_made *done, void *with) {
    struct readying *it = calloc(1, sizeof *it);
    if (!it) {
        done(with, STR("there is no memory"));
        return;
    }
    *it = (struct readying){.runs = runs,
                            .wanted = wanted,
                            .arena = arena,
                            .objects =
                                arena_format(arena, "%.*s/objects", STR_ARG(wanted->place->clone)),
                            .done = done,
                            .with = with};
    runs->under_way++;
    if (wanted->place->setup.len == 0)
        setup_ended(it, 0, STR(""));
    else
        command_begin(it, words_with(it, wanted->place->setup), setup_ended);
}
