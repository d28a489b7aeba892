/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that runs were denied: reports them, and lets runs reach what a person has allowed since. docs/decisions/0018.
 *
 *   proxy of a run ──▶ RUN/denied ──▶ host.denied ──▶ workspace of the repository ──▶ question
 *   proxy of a run ◀── RUN/allowed ◀── rows of that workspace ◀── answer
 *
 * The rows are read before each start and each check, and every few seconds for the runs at work. Everything here is on
 * the loop's thread, except what a lookup does with its answer. */
#include "base/host_rule.h"
#include "base/memory.h"
#include "engine/lookup.h"
#include "model/repository.h"
#include "runs/run.h"
#include "sys/clock.h"
#include "sys/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOOK_MS = 5000,
    DENIALS_MOST = 32, /* hosts of one run that are reported: an agent chooses how many it tries */
    READ_MOST = 65536  /* bytes of `denied` at a time */
};

struct denial {
    char host[LIMIT_HOST_ENTRY + 1];
    uint64_t tries, reported; /* so far; and when it was reported */
};

struct run_denials {
    bool placed; /* the repository of the run is known */
    bool asking; /* its goal is being read */
    uint64_t read;
    uint32_t count;
    struct denial at[DENIALS_MOST];
    bool written;       /* `allowed` is what its file has */
    struct str allowed; /* text of its file */
};

struct host_list {
    uint64_t repository;
    struct host_access *rows;
    uint32_t count;
    bool asking;
};

struct host_lists {
    uv_timer_t timer;
    uint32_t count;
    struct host_list at[LIMIT_REPOSITORIES + 1];
};

static uint32_t this_host(const struct run_table *runs) {
    char trouble[LIMIT_WHY];
    return ledger_thread_view(runs->executor->ledger_thread, trouble).host;
}

/* ---- the rows of a workspace ---- */

static struct host_list *list_find(struct run_table *runs, uint64_t repository) {
    struct host_lists *lists = runs->host_lists;
    if (!lists) /* agents are only tried */
        return NULL;
    for (uint32_t i = 0; i < lists->count; i++)
        if (lists->at[i].repository == repository)
            return &lists->at[i];
    if (lists->count == count_of(lists->at)) /* repositories that left the settings */
        return NULL;
    struct host_list *list = &lists->at[lists->count++];
    *list = (struct host_list){.repository = repository};
    return list;
}

struct str allowed_hosts(struct run_table *runs, uint64_t repository, struct id goal, bool is_check,
                         struct arena *arena) {
    const struct host_list *list = list_find(runs, repository);
    struct writer text = {.arena = arena};
    for (uint32_t i = 0; list && i < list->count; i++)
        if (host_access_allows(&list->rows[i], goal, is_check)) {
            write_raw(&text, str_of(list->rows[i].host));
            write_byte(&text, '\n');
        }
    return (struct str){text.at, text.len};
}

struct rows_ask {
    struct loop_task task;
    struct lookup lookup;
    struct run_table *runs;
    uint64_t repository;
    struct id workspace;
    struct host_access *rows; /* NULL: they could not be read */
    uint32_t count;
    struct act *act; /* continues with them; NULL: none */
    runs_carrier *go;
};

static void allowed_renew(struct run_table *runs, uint64_t repository);

static void rows_home(struct loop_task *task) {
    struct rows_ask *it = (struct rows_ask *)(void *)task;
    struct run_table *runs = it->runs;
    struct host_list *list = list_find(runs, it->repository);
    runs->under_way--;
    if (list)
        list->asking = false;
    if (list && it->rows) {
        free(list->rows);
        list->rows = it->rows;
        list->count = it->count;
    } else
        free(it->rows);
    if (!runs->stopping && list && list->rows)
        allowed_renew(runs, it->repository);
    if (it->act && runs->stopping)
        free(it->act); /* the effect still has to be carried out */
    else if (it->act)
        it->go(runs, it->act);
    free(it);
}

/* On the lookups' thread. */
static void rows_read(struct lookup *lookup, const struct store_answer *answer) {
    struct rows_ask *it = (struct rows_ask *)((char *)lookup - offsetof(struct rows_ask, lookup));
    if (answer->outcome == STORE_DONE) {
        const struct goal_loaded *loaded = &answer->loaded[0];
        it->count = loaded->exists ? loaded->live.host_accesses.count : 0;
        it->rows = memory_new((it->count + 1) * sizeof *it->rows);
        if (it->count > 0)
            memcpy(it->rows, loaded->live.host_accesses.at, it->count * sizeof *it->rows);
    }
    loop_post(it->runs, &it->task);
}

static bool is_configured(struct run_table *runs, uint64_t repository) {
    const struct settings *settings = context_settings(runs->context);
    struct repo_setting repo = {0};
    bool found = settings_repository(settings, repository, &repo);
    context_settings_drop(settings);
    return found;
}

static bool rows_ask(struct run_table *runs, uint64_t repository, struct act *act,
                     runs_carrier *go) {
    const struct ledger_thread *ledger = runs->executor->ledger_thread;
    if (!ledger->ledger || !is_configured(runs, repository))
        return false;
    struct rows_ask *it = memory_new(sizeof *it);
    *it = (struct rows_ask){
        .task.go = rows_home,
        .lookup.done = rows_read,
        .runs = runs,
        .repository = repository,
        .workspace = workspace_id(ledger_policy(ledger->ledger), repository, this_host(runs)),
        .act = act,
        .go = go};
    it->lookup.request = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->workspace, .id_count = 1, .limit = 1};
    if (!lookups_ask(runs->context->lookups, &it->lookup)) {
        free(it);
        return false;
    }
    runs->under_way++;
    return true;
}

/* Is there an agent that a list of hosts concerns? */
static bool lists_are_used(struct run_table *runs) {
    const struct settings *settings = context_settings(runs->context);
    bool used = false;
    for (uint32_t i = 0; i < settings->lists.agent_count; i++)
        used |= settings->lists.agents[i].network == NETWORK_MODEL;
    context_settings_drop(settings);
    return used;
}

void with_hosts(struct run_table *runs, struct act *act, runs_carrier *go) {
    if (!lists_are_used(runs) || !rows_ask(runs, act->effect.repository, act, go))
        go(runs, act);
}

/* ---- what a run may reach by now ---- */

static void allowed_write(struct run *run) {
    struct arena arena = {0};
    struct run_denials *its = run->denials;
    struct str text = allowed_hosts(run->runs, run->repository, run->goal, false, &arena);
    if ((!its->written || !str_equal(text, its->allowed)) &&
        file_replace(run->dir, "allowed", text.len ? text.at : "", text.len, false)) {
        free((char *)(uintptr_t)its->allowed.at);
        its->allowed = (struct str){text.len ? memory_text(text.at, text.len) : NULL, text.len};
        its->written = true;
    }
    arena_free(&arena);
}

static void allowed_renew(struct run_table *runs, uint64_t repository) {
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct run *run = runs->all.slots[i].value;
        if (run && run->denials && run->denials->placed && run->repository == repository)
            allowed_write(run);
    }
}

/* ---- reporting denials ---- */

struct goal_ask {
    struct loop_task task;
    struct lookup lookup;
    struct run_table *runs;
    struct id run, goal;
    bool known;
    uint64_t number, repository;
    uint32_t count;
    struct denial at[DENIALS_MOST];
};

struct reporting {
    struct loop_answer answer;
    struct id run;
    char host[LIMIT_HOST_ENTRY + 1];
};

/* Reports this host once more with the next look, if the run is still there. */
static void report_again(struct run_table *runs, struct id id, const char *host) {
    struct run *run = map_get(&runs->all, id);
    for (uint32_t i = 0; run && run->denials && i < run->denials->count; i++)
        if (strcmp(run->denials->at[i].host, host) == 0)
            run->denials->at[i].reported = 0;
}

static void denial_reported(struct loop_task *task) {
    struct reporting *it = (struct reporting *)(void *)task;
    enum error error = it->answer.input->error;
    it->answer.runs->under_way--;
    if (ERRORS[error].class == CLASS_TRANSIENT || error == ERROR_SAFE_MODE ||
        error == ERROR_CONFLICT)
        report_again(it->answer.runs, it->run, it->host);
    input_free(it->answer.input);
    free(it);
}

/* The same total of the same run is the same signal, also after a restart. */
static struct signal denial_signal(const struct goal_ask *it, const struct denial *denial,
                                   struct str name, struct arena *arena) {
    const struct ledger *ledger = it->runs->executor->ledger_thread->ledger;
    uint32_t host = this_host(it->runs);
    struct host_access access = {.goal = it->goal, .number = it->number, .tries = denial->tries};
    memcpy(access.host, denial->host, sizeof access.host);
    return (struct signal){
        .kind = SIGNAL_HOST_DENIED,
        .source = id_derive(
            (struct str){(const char *)it->run.bytes, sizeof it->run.bytes},
            arena_format(arena, "denied %s %llu", denial->host, (unsigned long long)denial->tries)),
        .once.keyed = 1,
        .goal = workspace_id(ledger_policy(ledger), it->repository, host),
        .at = clock_wall(),
        .sender.actor = STR("overseer"),
        .sender.by = WHO_OVERSEER,
        .admission = host,
        .describe.repository = it->repository,
        .describe.title = name,
        .body = shape_encode(&HOST_ACCESS, &access, arena)};
}

static void denial_report(struct goal_ask *it, const struct denial *denial, struct str name,
                          struct arena *arena) {
    struct signal signal = denial_signal(it, denial, name, arena);
    struct reporting *reporting = memory_new(sizeof *reporting);
    struct input *input = input_make(&signal, reporting);
    if (!input)
        memory_exhausted();
    *reporting =
        (struct reporting){.answer = {{NULL, denial_reported}, it->runs, input}, .run = it->run};
    memcpy(reporting->host, denial->host, sizeof reporting->host);
    input->done = loop_answer_post;
    input->must_fit = true;
    it->runs->under_way++;
    if (!queue_put(&it->runs->executor->ledger_thread->queue, input)) {
        it->runs->under_way--;
        input_free(input);
        free(reporting);
    }
}

static void goal_home(struct loop_task *task) {
    struct goal_ask *it = (struct goal_ask *)(void *)task;
    struct run_table *runs = it->runs;
    struct run *run = map_get(&runs->all, it->run);
    struct arena arena = {0};
    runs->under_way--;
    if (run && run->denials) {
        run->denials->asking = false;
        run->denials->placed |= it->known;
        run->repository = it->known ? it->repository : run->repository;
    }
    const struct settings *settings = context_settings(runs->context);
    struct repo_setting repo = {0};
    bool asks =
        it->known && !runs->stopping &&
        settings_repository(settings, it->repository, &repo); /* otherwise no one is asked */
    struct str name = asks ? arena_copy(&arena, str_cut_utf8(repo.name, LIMIT_AGENT)) : STR("");
    context_settings_drop(settings);
    for (uint32_t i = 0; i < it->count && !it->known; i++)
        report_again(runs, it->run, it->at[i].host);
    for (uint32_t i = 0; i < it->count && asks; i++)
        denial_report(it, &it->at[i], name, &arena);
    arena_free(&arena);
    free(it);
}

/* On the lookups' thread. */
static void goal_read(struct lookup *lookup, const struct store_answer *answer) {
    struct goal_ask *it = (struct goal_ask *)((char *)lookup - offsetof(struct goal_ask, lookup));
    it->known = answer->outcome == STORE_DONE && answer->loaded[0].exists;
    if (it->known) {
        it->number = answer->loaded[0].goal.kind.number;
        it->repository = answer->loaded[0].goal.repository;
    }
    loop_post(it->runs, &it->task);
}

/* Reports what is new: the first try, and each time the number of tries has doubled; at the end all of it. False: there
 * was nothing to ask for. */
static bool denials_report(struct run_table *runs, struct id run, struct id goal,
                           struct run_denials *its, bool all) {
    struct goal_ask *it = memory_new(sizeof *it);
    *it = (struct goal_ask){
        .task.go = goal_home, .lookup.done = goal_read, .runs = runs, .run = run, .goal = goal};
    for (uint32_t i = 0; i < its->count; i++) {
        struct denial *denial = &its->at[i];
        if (denial->tries > denial->reported && (all || denial->tries >= 2 * denial->reported)) {
            it->at[it->count++] = *denial;
            denial->reported = denial->tries;
        }
    }
    it->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &it->goal, .id_count = 1, .limit = 1};
    bool needed = it->count > 0 || !its->placed;
    if (!needed || !lookups_ask(runs->context->lookups, &it->lookup)) {
        free(it);
        return false;
    }
    runs->under_way++;
    return true;
}

/* "HOST PORT", as the proxy wrote it. A line with more was denied for another reason than the list. */
static void denial_add(struct run_denials *its, struct str line) {
    char text[HOST_NAME + 16], host[HOST_NAME + 1], entry[LIMIT_HOST_ENTRY + 1];
    unsigned port;
    int end = 0;
    snprintf(text, sizeof text, "%.*s", STR_ARG(line));
    if (sscanf(text, "%253s %5u%n", host, &port, &end) != 2 || text[end])
        return;
    snprintf(entry, sizeof entry, "%s:%u", host, port);
    if (!host_entry_is_plain(str_of(entry)))
        return;
    for (uint32_t i = 0; i < its->count; i++)
        if (strcmp(its->at[i].host, entry) == 0) {
            its->at[i].tries++;
            return;
        }
    if (its->count == DENIALS_MOST)
        return;
    struct denial *denial = &its->at[its->count++];
    *denial = (struct denial){.tries = 1};
    memcpy(denial->host, entry, sizeof denial->host);
}

static void denied_read(const char *path, struct run_denials *its) {
    struct arena arena = {0};
    char *bytes = arena_new(&arena, char, READ_MOST);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t length = fd < 0 ? 0 : pread(fd, bytes, READ_MOST, (off_t)its->read);
    size_t from = 0;
    for (size_t i = 0; length > 0 && i < (size_t)length; i++)
        if (bytes[i] == '\n') {
            denial_add(its, (struct str){bytes + from, i - from});
            from = i + 1;
        }
    its->read += from;
    if (fd >= 0)
        close(fd);
    arena_free(&arena);
}

void check_denials(struct run_table *runs, struct id goal, uint32_t effect, struct str place) {
    if (!runs->executor) /* a check is only tried */
        return;
    struct run_denials *its = memory_new(sizeof *its);
    struct arena arena = {0};
    *its = (struct run_denials){.placed = true};
    denied_read(arena_cstr(&arena, arena_format(&arena, "%.*s.denied", STR_ARG(place))), its);
    denials_report(runs, effect_id(goal, effect), goal, its, true);
    arena_free(&arena);
    free(its);
}

/* ---- all runs, every few seconds ---- */

/* NULL: the run has no proxy, or has not begun. */
static struct run_denials *denials_of(struct run *run) {
    char path[RUN_PATH + 8];
    struct stat about;
    if (run->denials || run->unproxied || !run->begun)
        return run->denials;
    snprintf(path, sizeof path, "%s/proxy", run->dir);
    run->unproxied = stat(path, &about) != 0;
    if (!run->unproxied) {
        run->denials = memory_new(sizeof *run->denials);
        *run->denials = (struct run_denials){.placed = run->placed};
    }
    return run->denials;
}

static void run_look_at_denials(struct run *run, bool all) {
    if (!denials_of(run) || (run->denials->asking && !all) || this_host(run->runs) == 0)
        return;
    char path[RUN_PATH + 8];
    snprintf(path, sizeof path, "%s/denied", run->dir);
    denied_read(path, run->denials);
    run->denials->asking = denials_report(run->runs, run->id, run->goal, run->denials, all);
    struct host_list *list = run->denials->placed ? list_find(run->runs, run->repository) : NULL;
    if (list && !list->asking)
        list->asking = rows_ask(run->runs, run->repository, NULL, NULL);
}

static void looks_due(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct run *run = runs->all.slots[i].value;
        if (run && !run->ended)
            run_look_at_denials(run, false);
    }
    if (runs->all.count == 0)
        uv_timer_stop(timer);
}

void host_lists_wake(struct run_table *runs) {
    uv_timer_t *timer = &runs->host_lists->timer;
    if (!uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, looks_due, LOOK_MS, LOOK_MS);
}

void run_denials_end(struct run *run) {
    if (!run->runs->stopping)
        run_look_at_denials(run, true);
    if (run->denials)
        free((char *)(uintptr_t)run->denials->allowed.at);
    free(run->denials);
    run->denials = NULL;
}

void host_lists_start(struct run_table *runs) {
    struct host_lists *lists = memory_new(sizeof *lists);
    *lists = (struct host_lists){0};
    runs->host_lists = lists;
    uv_timer_init(runs->loop, &lists->timer);
    lists->timer.data = runs;
}

void host_lists_stop(struct run_table *runs) {
    uv_close((uv_handle_t *)&runs->host_lists->timer, NULL);
}

void host_lists_free(struct run_table *runs) {
    for (uint32_t i = 0; i < runs->host_lists->count; i++)
        free(runs->host_lists->at[i].rows);
    free(runs->host_lists);
}
