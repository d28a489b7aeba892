/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a run and sends texts to it. A start needs a worktree, the text, and the process that holds the agent; each
 * step returns to the loop before the next one. If a step fails before the process exists, the text was certainly not
 * delivered. */
#include "base/memory.h"
#include "ops/tool.h"
#include "runs/compose.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

/* ---- the steps of a start ---- */

struct starting {
    struct loop_task task;
    uv_work_t work;
    struct git_job job;
    struct run_table *runs;
    struct id run;
    uint32_t n; /* of the effect that sends */
    struct arena arena;
    struct work_place place;
    struct git_answer answer;
    struct git_tree tree;
    struct ready_wanted ready;
    bool has_place;
    char *text, *node, *start;
    size_t text_length, node_length, start_length;
    char why[256];
};

static void starting_free(struct starting *it) {
    free(it->text);
    free(it->node);
    free(it->start);
    arena_free(&it->arena);
    free(it);
}

/* No byte reached the agent. */
static void start_failed(struct starting *it, struct run *run, struct str why) {
    if (run) {
        log_run(LEVEL_WARNING, run, "agent %s does not start: %.*s", run->agent, STR_ARG(why));
        run_end_keep(run, why);
        run_sending_ended(run, DELIVERY_ERROR, why);
        if (run->stop)
            run_report(run, &run->stop, (struct signal){0});
        run_limits_end(run);
        run_file_close(run); /* a run that never started is not resumed */
        run_free(run);
    }
    starting_free(it);
}

static void stands(void *with, bool stood, struct str why) {
    struct starting *it = with;
    struct run *run = map_get(&it->runs->all, it->run);
    if (!run || it->runs->stopping) {
        starting_free(it);
        return;
    }
    if (!stood) {
        start_failed(it, run, why);
        return;
    }
    run->starting = false;
    if (!run_open(run, 0))
        log_run(LEVEL_ERROR, run, "the hold of agent %s cannot be reached", run->agent);
    run_due(run);
    struct act *stop = run->stop;
    run->stop = NULL;
    if (stop) /* the stop has waited for the hold */
        run_stop(run, stop);
    starting_free(it);
}

static bool folders_make(struct run *run) {
    static const char *const ABOVE[] = {"runs", "homes"};
    char path[RUN_PATH + 8];
    for (size_t i = 0; i < count_of(ABOVE); i++) {
        snprintf(path, sizeof path, "%s/%s", run->runs->state, ABOVE[i]);
        mkdir(path, 0700);
    }
    bool made = (mkdir(run->dir, 0700) == 0 || errno == EEXIST) &&
                (mkdir(run->home, 0700) == 0 || errno == EEXIST);
    return made && (run->cwd[0] || (snprintf(run->cwd, sizeof run->cwd, "%s/work", run->dir) > 0 &&
                                    (mkdir(run->cwd, 0700) == 0 || errno == EEXIST)));
}

const char *const *run_environment(const struct run *run, const struct drive_launch *launch,
                                   struct arena *arena) {
    const char **env =
        arena_new(arena, const char *, launch->env_count + 9 + PROXY_VARIABLES + RUN_TOOLS);
    const char *path = getenv("PATH");
    struct str program = run->spec.program, volta = sandbox_volta_home(program, arena);
    const char *slash = program.len ? memrchr(program.at, '/', program.len) : NULL;
    uint32_t count = 0;
    /* the program's folder comes last: npm's programs look there for their node */
    env[count++] =
        arena_cstr(arena, arena_format(arena, "PATH=%s:%.*s", path ? path : "/usr/bin:/bin",
                                       slash ? (int)(slash - program.at) : 0, program.at));
    if (volta.len > 0)
        env[count++] = arena_cstr(arena, arena_format(arena, "VOLTA_HOME=%.*s", STR_ARG(volta)));
    env[count++] = arena_cstr(arena, arena_format(arena, "HOME=%s", run->home));
    env[count++] = "LANG=C.UTF-8";
    env[count++] = "TERM=xterm-256color";
    if (run->box == SANDBOX_LANDLOCK) /* it has no /tmp */
        env[count++] = arena_cstr(arena, arena_format(arena, "TMPDIR=%s/tmp", run->home));
    if (run->port) {
        env[count++] = arena_cstr(arena, arena_format(arena, "OVERSEER_PORT=%u", run->port));
        env[count++] = arena_cstr(arena, arena_format(arena, "OVERSEER_PORTS=%u", run->port_count));
    }
    const struct settings *settings = context_settings(run->runs->context);
    count += tools_environment(settings, arena, &env[count]);
    context_settings_drop(settings);
    const struct str *proxy = proxy_environment(run->proxy_port, arena);
    for (uint32_t i = 0; i < PROXY_VARIABLES && run->proxy_port; i++)
        env[count++] = arena_cstr(arena, proxy[i]);
    for (uint32_t i = 0; i < launch->env_count; i++)
        env[count++] =
            arena_cstr(arena, arena_format(arena, "%.*s=%.*s", STR_ARG(launch->env[i].name),
                                           STR_ARG(launch->env[i].value)));
    return env;
}

static const char *const *arguments(const struct sandbox_made *box,
                                    const struct drive_launch *launch, struct arena *arena) {
    const char **argv = arena_new(arena, const char *, box->argc + launch->argc + 1);
    for (uint32_t i = 0; i < box->argc; i++)
        argv[i] = arena_cstr(arena, box->argv[i]);
    for (uint32_t i = 0; i < launch->argc; i++)
        argv[box->argc + i] = arena_cstr(arena, launch->argv[i]);
    return argv;
}

/* Reads the token when a run starts; it is stored nowhere. */
bool run_token_take(struct run *run, struct str *ret_why) {
    const struct settings *settings = context_settings(run->runs->context);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    struct drive_var *vars = (struct drive_var *)(uintptr_t)run->spec.env;
    bool wanted = agent && agent->token.file.len > 0 && !run->driver->watches;
    bool taken = !wanted || token_get(agent, run_login_kind(run), &run->arena,
                                      &vars[run->spec.env_count], ret_why);
    run->spec.env_count += wanted && taken;
    context_settings_drop(settings);
    return taken;
}

static void launch(struct starting *it, struct run *run) {
    struct drive_launch launch = {0};
    struct str why = STR("its folder cannot be created");
    struct arena *arena = &it->arena;
    run_token_lend(run);
    bool made = folders_make(run) && run_token_take(run, &why);
    run->spec.cwd = str_of(run->cwd);
    run->spec.ask = run->spec.person || run->spec.allow_given || run->spec.deny_count > 0;
    if (!made || !run->driver->launch(&run->spec, arena, &launch, &why)) {
        start_failed(it, run, why);
        return;
    }
    if (!home_fill(run, &launch, arena) || !run_file_write(run)) {
        start_failed(it, run, STR("its files cannot be written"));
        return;
    }
    home_share(run, &launch, arena); /* files that the driver wrote itself take precedence */
    struct sandbox_made *box = arena_new(arena, struct sandbox_made, 1);
    if (!run_box(run, arena, box, &why)) {
        start_failed(it, run, why);
        return;
    }
    uint64_t orphan_at;
    if (!run_lease_until(run, &orphan_at)) {
        start_failed(it, run, STR("this host has lost its lease"));
        return;
    }
    run->scope_enforced = launch.scope_enforced;
    if (!run->driver->watches)
        run_box_tell(run);
    struct held_spec spec = {.program = run->runs->hold,
                             .dir = run->dir,
                             .cwd = run->cwd,
                             .cgroup = run->group[0] ? run->group : NULL,
                             .argv = arguments(box, &launch, arena),
                             .env = run_environment(run, &launch, arena),
                             .columns = launch.pty ? launch.columns : 0,
                             .rows = launch.pty ? launch.rows : 0,
                             .cap = RUN_OUTPUT_CAP,
                             .orphan_at_ms = orphan_at,
                             .wrapped = run->box >= SANDBOX_BWRAP};
    run->starting = true;
    held_start(run->runs->loop, &spec, stands, it);
}

/* The text is composed: starts the process. */
static void composed_home(struct loop_task *task) {
    struct starting *it = (struct starting *)(void *)task;
    struct run *run = map_get(&it->runs->all, it->run);
    it->runs->under_way--;
    if (!run || it->runs->stopping) {
        starting_free(it);
        return;
    }
    if (!it->text) {
        start_failed(it, run, str_of(it->why));
        return;
    }
    run->state = memory_new(run->driver->size);
    struct str why;
    if (!run_begin_as(run, (struct str){it->node, it->node_length},
                      (struct str){it->start, it->start_length}, &why)) {
        start_failed(it, run, why);
        return;
    }
    run->text = it->text;
    run->text_length = it->text_length;
    it->text = NULL;
    launch(it, run);
}

static char *bytes_keep(struct str bytes, size_t *ret_length) {
    *ret_length = bytes.len;
    return bytes.len ? memory_text(bytes.at, bytes.len) : NULL;
}

/* On the lookups' thread. */
static void words_made(void *with, const struct composition *made) {
    struct starting *it = with;
    it->text = bytes_keep(made->text, &it->text_length);
    it->node = bytes_keep(made->node, &it->node_length);
    it->start = bytes_keep(made->start, &it->start_length);
    snprintf(it->why, sizeof it->why, "%.*s", STR_ARG(made->why));
    loop_post(it->runs, &it->task);
}

static void words_ask(struct starting *it, struct run *run) {
    it->task.go = composed_home;
    it->runs->under_way++;
    compose(it->runs->context->lookups, &run->sending->effect, run->session[0] == 0, words_made,
            it);
}

static void place_is_ready(void *with, struct str why) {
    struct starting *it = with;
    struct run *run = map_get(&it->runs->all, it->run);
    struct act *stop = run ? run->stop : NULL;
    if (run)
        run->readying = NULL;
    if (!run || it->runs->stopping)
        starting_free(it);
    else if (stop) { /* the stop has waited until nothing runs there */
        run->stop = NULL;
        starting_free(it);
        run_stop(run, stop);
    } else if (why.len > 0)
        start_failed(it, run, why);
    else
        words_ask(it, run);
}

static void place_prepare(struct starting *it, struct run *run) {
    char session[ID_TEXT + 1];
    id_format(run->id, session);
    it->ready = (struct ready_wanted){.place = &it->place,
                                      .tree = it->tree.path,
                                      .worker = arena_copy(&it->arena, str_of(run->agent)),
                                      .session = arena_copy(&it->arena, str_of(session)),
                                      .node = arena_cstr(&it->arena, str_of(run->node)),
                                      .goal = run->goal,
                                      .id = run->id,
                                      .dispatch_n = run->dispatch_n,
                                      .fence = run->fence};
    run->readying = ready_make(it->runs, &it->ready, &it->arena, place_is_ready, it);
}

static void place_make(uv_work_t *work) { /* on a worker */
    struct starting *it = work->data;
    struct work_place *place = &it->place;
    it->answer = work_place_make(place, &it->arena, &it->tree);
    if (it->answer.result == GIT_DONE && place->port_count > 0)
        it->answer = git_ports_hold(&place->context, place->run.run, place->port_first,
                                    place->port_count, &it->arena, &place->port);
}

static void place_made(uv_work_t *work, int status) {
    struct starting *it = work->data;
    struct run *run = map_get(&it->runs->all, it->run);
    it->runs->under_way--;
    if (!run || status == UV_ECANCELED) {
        starting_free(it);
        return;
    }
    if (status != 0)
        it->answer = (struct git_answer){GIT_BUSY, STR("the queue for network operations is full")};
    if (it->answer.result != GIT_DONE) {
        start_failed(it, run,
                     arena_format(&it->arena, "its worktree cannot be created: %.*s",
                                  STR_ARG(it->answer.why)));
        return;
    }
    snprintf(run->cwd, sizeof run->cwd, "%.*s", STR_ARG(it->tree.path));
    snprintf(run->objects, sizeof run->objects, "%.*s/objects", STR_ARG(it->place.clone));
    run->port = it->place.port;
    run->port_count = it->place.port_count;
    if (it->place.ready)
        words_ask(it, run);
    else
        place_prepare(it, run);
}

static uint32_t dispatch_of(const struct effect *effect) {
    return effect->dispatch ? effect->dispatch : effect->n + 1;
}

static void sending_set(struct run *run, struct act *act) {
    run->sending = act;
    run->dispatch_n = dispatch_of(&act->effect);
    run->dispatch = effect_id(act->effect.goal, run->dispatch_n - 1);
    run->fence = act->fence;
    run->spoken = run->answers = run->interrupted = false;
    run->sending_until =
        clock_steady() + act->effect.within -
        act->effect.within /
            30; /* so that a text that was not sent is reported before the effect becomes doubtful */
}

/* ASSIGN-16: agent:NAME:SESSION. A session of another agent is not used. */
static void session_take(struct run *run, struct str key) {
    char begin[LIMIT_AGENT + 16];
    int length = snprintf(begin, sizeof begin, "agent:%s:", run->agent);
    if (str_begins(key, (struct str){begin, (size_t)length}))
        snprintf(run->session, sizeof run->session, "%.*s", (int)(key.len - (size_t)length),
                 key.at + length);
}

static void spawn_refuse(struct run_table *runs, struct act *act, struct str why) {
    executor_report(runs->executor, act, (struct signal){.to = DELIVERY_ERROR, .text = why});
    free(act);
}

static void spawn(struct run_table *runs, struct act *act) {
    struct id id = effect_id(act->effect.goal, dispatch_of(&act->effect) - 1);
    struct str why = STR("the path of its folder is too long");
    bool never = recent_has(&runs->never, id), there = map_get(&runs->all, id);
    struct run *run = !never && !there ? run_make(runs, &act->effect, id) : NULL;
    if (!run) {
        spawn_refuse(runs, act,
                     never   ? STR("it was stopped before it started")
                     : there ? STR("it has already started")
                             : why);
        return;
    }
    struct starting *it = memory_new(sizeof *it);
    *it = (struct starting){.runs = runs, .run = id, .work.data = it};
    run->number = dispatch_of(&act->effect);
    run->placed = true;
    run_lease_take(run, &act->effect);
    sending_set(run, act);
    session_take(run, act->effect.session);
    if (!runs->socket[0])
        why = STR("the socket for runs is not open; the log says why");
    if (!runs->socket[0] || !run_prepare(run, &why)) {
        start_failed(it, run, why);
        return;
    }
    it->has_place =
        !run->driver->watches && work_place(runs, wanted_by(&act->effect), &it->arena, &it->place);
    if (!it->has_place && !run->driver->watches && it->place.missing) {
        start_failed(it, run, place_missing_text(&it->place, &it->arena));
        return;
    }
    if (!it->has_place) {
        words_ask(it, run);
        return;
    }
    runs->under_way++;
    bool local = work_place_is_local(&it->place, &it->arena);
    if (!local && !git_source_is_path(it->place.repo.source))
        it->place.context.total_us = NET_MOST;
    git_queue(&it->job, &it->work,
              &(struct git_wanted){runs, run->goal, local ? STR("/") : it->place.repo.source,
                                   "fetch from"},
              place_make, place_made);
}

void run_spawn(struct run_table *runs, struct act *act) {
    with_hosts(runs, act, spawn);
}

static void send_home(struct loop_task *task) {
    struct starting *it = (struct starting *)(void *)task;
    struct run *run = map_get(&it->runs->all, it->run);
    it->runs->under_way--;
    if (run && run->sending && run->sending->effect.n == it->n && !it->runs->stopping) {
        run->answers = run->sending->effect.permits != PERMISSION_NONE && run->asks.count > 0;
        run->text = it->text;
        run->text_length = it->text_length;
        it->text = NULL;
        if (run_waits_for_yes(run))
            run_sending_ended(run, DELIVERY_ERROR, STR(RUN_WAITS_FOR_YES));
        else if (run->text)
            run_pump(run);
        else
            run_sending_ended(run, DELIVERY_ERROR, str_of(it->why));
        run_due(run);
    }
    starting_free(it);
}

void run_send(struct run *run, struct act *act) {
    if (run->sending || run->exited) {
        spawn_refuse(run->runs, act,
                     run->exited ? STR("its process has ended")
                                 : STR("another message is being sent to it"));
        return;
    }
    struct starting *it = memory_new(sizeof *it);
    *it = (struct starting){
        .runs = run->runs, .run = run->id, .n = act->effect.n, .task.go = send_home};
    sending_set(run, act);
    run->runs->under_way++;
    compose(run->runs->context->lookups, &act->effect, false, words_made, it);
}
