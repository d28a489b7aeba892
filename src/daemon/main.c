/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops the daemon. The only file that connects the modules. */
#include "admin/maintain.h"
#include "base/bytes.h"
#include "base/seam.h"
#include "base/sha256.h"
#include "daemon/options.h"
#include "drivers/driver.h"
#include "engine/answer_cache.h"
#include "engine/call.h"
#include "engine/examiner.h"
#include "engine/follow.h"
#include "engine/policy_text.h"
#include "engine/reload.h"
#include "engine/retain.h"
#include "engine/spool.h"
#include "engine/status_files.h"
#include "engine/store_open.h"
#include "engine/token.h"
#include "http/http_server.h"
#include "http/mcp_session.h"
#include "ledger/host_claim.h"
#include "model/store_address.h"
#include "runs/check/try_checks.h"
#include "runs/executor.h"
#include "runs/run_table.h"
#include "runs/try_agents.h"
#include "store/migrate.h"
#include "store/sqlite/sqlite.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/pool.h"
#include "sys/redaction.h"
#include "sys/service_manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SWEEP_SOON_MS = 20, /* until calls with a short timeout are checked again */
    SLOW_THREADS = 4,   /* for slow operations; one per goal at a time */
    SLOW_WAITING =
        64 /* slow operations that may wait; the callers of further ones are told to try again */
};

struct daemon {
    struct options options;
    struct ledger_thread ledger_thread;
    struct lookups lookups, run_lookups;
    struct executor executor;
    struct daemon_context context;
    uv_loop_t loop;
    uv_signal_t on_int, on_term, on_hup;
    uv_timer_t sweep, sweep_soon;
    uv_async_t asked; /* wakes the loop from other threads, for one of: */
    atomic_bool stop_wanted, reopen_wanted, sweep_soon_wanted;
    pthread_t checkpoints;
    bool checkpointing;
    atomic_bool ending;
    struct retainer retainer;
    struct examiner examiner;
    struct instance_lock lock;
    struct host_identity identity; /* only in a shared store */
    struct registration registration;
    struct heartbeat heartbeat;
    struct spool *spool;
    char runs_socket[PATH_MAX]; /* of the HTTP server for agent runs; empty: none */
};

/* ---- checkpoints of the write-ahead log, outside the ledger thread ---- */

/* Without checkpoints the log would grow forever: the thread retries the open every second and logs the failure once. */
static struct store *checkpoints_open(struct daemon *daemon, bool *warned) {
    char error[512] = "no file can be opened";
    struct store *store = seam("checkpoint-open")
                              ? NULL
                              : store_open(str_of(daemon->options.store), error, sizeof error);
    if (!store && !*warned)
        log_error(
            "the store cannot be opened for checkpoints; its write-ahead log grows until that works: %s",
            error);
    if (store && *warned)
        log_info("the store can be opened for checkpoints again");
    *warned = !store;
    return store;
}

static void *checkpoints_run(void *with) {
    struct daemon *daemon = with;
    struct store *store = NULL;
    bool warned = false;
    while (!atomic_load(&daemon->ending)) {
        store = store ? store : checkpoints_open(daemon, &warned);
        if (store)
            sqlite_checkpoint(store);
        for (int i = 0; i < 10 && !atomic_load(&daemon->ending); i++)
            usleep(100000);
    }
    store_close(store);
    return NULL;
}

/* ---- connecting the modules ---- */

static void act_given(void *with, struct act *act) {
    struct daemon *daemon = with;
    executor_take(&daemon->executor, act);
}

static void wrote_given(void *with) {
    struct daemon *daemon = with;
    follow_wrote(daemon->context.follow);
}

static void stop_now(struct daemon *daemon) {
    notify_stopping();
    uv_stop(&daemon->loop);
}

static void stop_asked(uv_signal_t *signal, int number) {
    log_info("stopping on signal %d", number);
    stop_now(signal->data);
}

/* G-26, G-28: a new file begins if the old one was moved away. */
static void log_reopen(struct daemon *daemon) {
    const struct settings *settings = context_settings(&daemon->context);
    daemon->options.log.least = (enum log_level)settings->log.level;
    context_settings_drop(settings);
    if (!log_open(&daemon->options.log))
        log_error("the log %s cannot be reopened: %s; logging continues to the old file",
                  daemon->options.log.file, strerror(errno));
}

static void reload_asked(uv_signal_t *signal, int number) {
    (void)number;
    struct daemon *daemon = signal->data;
    char why[512];
    notify_reloading();
    json_decref(context_settings_reload(&daemon->context, STR("operator"), why, sizeof why));
    log_reopen(daemon);
    notify_ready("supervising");
}

static void sweep_soon_due(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    if (calls_sweep(&daemon->context))
        uv_timer_start(timer, sweep_soon_due, SWEEP_SOON_MS, 0);
}

/* Handles a request that came through an interface: settings that were reloaded, sweep soon or stop. */
static void context_asked(uv_async_t *async) {
    struct daemon *daemon = async->data;
    if (atomic_exchange(&daemon->reopen_wanted, false))
        log_reopen(daemon);
    if (atomic_exchange(&daemon->sweep_soon_wanted, false) &&
        !uv_is_active((uv_handle_t *)&daemon->sweep_soon))
        uv_timer_start(&daemon->sweep_soon, sweep_soon_due, SWEEP_SOON_MS, 0);
    if (atomic_exchange(&daemon->stop_wanted, false)) {
        log_info("stopping on request");
        stop_now(daemon);
    }
}

static void context_sweep_soon(struct daemon_context *context) {
    struct daemon *daemon = context->with;
    atomic_store(&daemon->sweep_soon_wanted, true);
    uv_async_send(&daemon->asked);
}

static void context_reloaded(struct daemon_context *context) {
    struct daemon *daemon = context->with;
    atomic_store(&daemon->reopen_wanted, true);
    uv_async_send(&daemon->asked);
}

static void context_stop(struct daemon_context *context) {
    struct daemon *daemon = context->with;
    atomic_store(&daemon->stop_wanted, true);
    uv_async_send(&daemon->asked);
}

static void http_server_each(struct daemon *daemon, void (*one)(struct http_server *server)) {
    for (int kind = 0; kind < HTTP_SERVERS; kind++)
        if (daemon->context.servers[kind])
            one(daemon->context.servers[kind]);
}

static void sweep_due(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    calls_sweep(&daemon->context);
    http_server_each(daemon, http_server_sweep);
    clock_keep();
}

static struct ledger *ledger_of(const struct options *options, const char *addr,
                                struct agents *agents, struct act_log *acts) {
    uint64_t instance;
    random_bytes(&instance, sizeof instance);
    int64_t lease = options_is_sqlite(options) ? 0 : options->lease;
    struct policy_kept *kept = policy_of_settings(options->settings);
    if (!kept)
        return NULL;
    struct ledger_config config = {.host = options_is_sqlite(options) ? 1 : (uint32_t)options->host,
                                   .instance = instance >> 1,
                                   .lease = lease,
                                   .beat_every = lease / 4,
                                   .poll_every = lease == 0                ? SECONDS(1)
                                                 : lease / 8 < SECONDS(10) ? lease / 8
                                                                           : SECONDS(10),
                                   .retry_every = MILLISECONDS(100),
                                   .clock_id = clock_id(),
                                   .clock_doubt = clock_is_in_doubt(),
                                   .policy = kept->policy,
                                   .policy_text = kept->text,
                                   .build = STR("overseerd " OVERSEER_VERSION),
                                   .addr = str_of(addr),
                                   .acts = acts,
                                   .see = agents_see,
                                   .see_with = agents};
    struct ledger *ledger = ledger_create(&config);
    free(kept);
    return ledger;
}

/* In a shared store, only this host may use its number. */
static bool host_find(struct daemon *daemon, char *error, size_t error_size) {
    struct options *options = &daemon->options;
    if (options_is_sqlite(options)) {
        options->host = 1;
        return true;
    }
    if (!host_identity_make(options->folder, options->settings->fleet.name, &daemon->identity,
                            error, error_size))
        return false;
    uint32_t had = host_recall(options->folder, str_of(options->store));
    options->host = host_choose(daemon->ledger_thread.store, str_of(daemon->identity.addr),
                                (uint32_t)options->host, had, options->lease, error, error_size);
    if (options->host > 0)
        host_remember(options->folder, str_of(options->store), (uint32_t)options->host);
    return options->host > 0;
}

/* In a shared store, the goals of this host are known only once its number is. */
static bool goals_examine(struct daemon *daemon, struct opening *opening, char *error,
                          size_t error_size) {
    bool known = opening->host == (uint32_t)daemon->options.host;
    opening->host = (uint32_t)daemon->options.host;
    if (known || opening->lock)
        return true;
    return opening_examine(opening, error, error_size);
}

/* P14. 0: not known. */
static uint64_t boot_number(void) {
    char boot[BOOT_ID + 1];
    boot_id(boot);
    struct hash hash = sha256(str_of(boot));
    return boot[0] ? le_get((const char *)hash.bytes, 8) : 0;
}

static bool acts_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    bool syncs =
        !options_is_sqlite(options); /* a SQLite store is on this machine and stops with it */
    daemon->ledger_thread.acts =
        act_log_open(options->folder, syncs, boot_number(), error, error_size);
    return daemon->ledger_thread.acts != NULL;
}

/* STORE-05, STORE-10: in safe mode there is no ledger, so nothing can be claimed, executed or written. */
static bool stores_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    struct ledger_thread *ledger_thread = &daemon->ledger_thread;
    struct opening opening = {options->store, (uint32_t)options->host,
                              options_is_sqlite(options) ? &daemon->lock : NULL,
                              &ledger_thread->safe};
    if (!opening_examine(&opening, error, error_size))
        return false;
    struct store *reading = opening_reader(&opening, error, error_size);
    if (!reading || !lookups_start(&daemon->lookups, reading))
        return false;
    struct store *for_runs = opening_reader(&opening, error, error_size);
    if (!for_runs || !lookups_start(&daemon->run_lookups, for_runs))
        return false;
    if (safe_is_on(&ledger_thread->safe))
        return true;
    ledger_thread->store = store_open(str_of(options->store), error, error_size);
    if (!ledger_thread->store || !host_find(daemon, error, error_size))
        return false;
    if (!goals_examine(daemon, &opening, error, error_size))
        return false;
    if (safe_is_on(&ledger_thread->safe))
        return true;
    if (!acts_open(daemon, error, error_size))
        return false;
    ledger_thread->ledger =
        ledger_of(options, daemon->identity.addr, &daemon->executor.agents, ledger_thread->acts);
    return ledger_thread->ledger &&
           (!opening.lock || instance_lock_opened(opening.lock, error, error_size));
}

/* Called before any client can see the daemon and ask it to stop. */
static void signals_start(struct daemon *daemon) {
    uv_loop_init(&daemon->loop);
    uv_signal_init(&daemon->loop, &daemon->on_int);
    uv_signal_init(&daemon->loop, &daemon->on_term);
    uv_signal_init(&daemon->loop, &daemon->on_hup);
    uv_async_init(&daemon->loop, &daemon->asked, context_asked);
    uv_timer_init(&daemon->loop, &daemon->sweep_soon);
    daemon->sweep_soon.data = daemon;
    daemon->on_int.data = daemon->on_term.data = daemon;
    daemon->on_hup.data = daemon->asked.data = daemon;
    uv_signal_start(&daemon->on_hup, reload_asked, SIGHUP);
    uv_signal_start(&daemon->on_int, stop_asked, SIGINT);
    uv_signal_start(&daemon->on_term, stop_asked, SIGTERM);
}

/* Opens what belongs to this host alone, and to one daemon at a time. */
static bool host_files_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    daemon->registration =
        (struct registration){.folder = options->folder,
                              .socket = options->socket,
                              .log_file = options->log.file ? options->log.file : ""};
    int folder = open(options->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, error_size, "The folder %.512s %s. Use another one with --state.",
                 options->folder,
                 errno == EWOULDBLOCK ? "belongs to a daemon that is running" : strerror(errno));
        return false;
    }
    daemon->spool = spool_open(options->folder, &daemon->ledger_thread, error, error_size);
    if (!daemon->spool)
        return false;
    if (registration_write(&daemon->registration))
        return true;
    snprintf(error, error_size,
             "The folder %.512s cannot be written: %s. Use another one with --state.",
             options->folder, strerror(errno));
    return false;
}

/* The socket is in a folder of its own: a run's sandbox shows nothing else of the daemon's files, and the folder stays
 * when the socket is recreated. A failure affects only agents: none is started then. */
static struct http_server *runs_server_open(struct daemon_context *context, char path[PATH_MAX]) {
    char error[512] = "";
    char *slash = strrchr(path, '/');
    *slash = 0;
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    struct http_server_rules runs = {.socket = path};
    struct http_server *server =
        made ? http_server_open(context, HTTP_SERVER_RUNS, &runs, error, sizeof error) : NULL;
    if (!server) {
        log_error("the socket for runs cannot be opened, so no agent is started. %s",
                  made ? error : strerror(errno));
        *path = 0;
    }
    return server;
}

/* Opens everything that answers a call, then the HTTP servers in front of it. */
static bool context_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    struct daemon_context *context = &daemon->context;
    context->ledger_thread = &daemon->ledger_thread;
    context->lookups = &daemon->lookups;
    context->run_lookups = &daemon->run_lookups;
    context->spool = daemon->spool;
    context->config = &options->source;
    context_settings_set(context, options->settings);
    context->started_at = clock_wall();
    context->with = daemon;
    context->reloaded = context_reloaded;
    context->stop = context_stop;
    context->sweep_soon = context_sweep_soon;
    context->policy_read = policy_of_text;
    context->slow = pool_start(SLOW_THREADS, 1, SLOW_WAITING);
    if (!context->slow)
        return false;
    context->tokens = tokens_open(options->folder, error, error_size);
    context->sessions = sessions_new();
    context->follow = follow_new(options->store);
    if (!context->tokens || !context->follow)
        return false;
    struct http_server_rules people = {.socket = options->socket, .fd = notify_socket(true)};
    context->servers[HTTP_SERVER_UNIX] =
        http_server_open(context, HTTP_SERVER_UNIX, &people, error, error_size);
    if (!context->servers[HTTP_SERVER_UNIX])
        return false;
    context->servers[HTTP_SERVER_RUNS] = runs_server_open(context, daemon->runs_socket);
    const struct settings *settings = options->settings;
    struct http_server_rules network = {.listen = settings->server.listen,
                                        .fd = notify_socket(false),
                                        .hosts = settings->server.hosts,
                                        .origins = settings->server.origins,
                                        .tls_cert = settings->server.tls_cert,
                                        .tls_key = settings->server.tls_key,
                                        .insecure = settings->server.insecure};
    if (network.listen.len == 0 && network.fd < 0)
        return true;
    context->servers[HTTP_SERVER_TCP] =
        http_server_open(context, HTTP_SERVER_TCP, &network, error, error_size);
    const struct http_server *tcp = context->servers[HTTP_SERVER_TCP];
    if (tcp && network.tls_cert.len == 0)
        snprintf(context->mcp_url, sizeof context->mcp_url, "http://%s:%u/mcp",
                 http_server_host(tcp), http_server_port(tcp));
    return tcp;
}

static void context_close(struct daemon *daemon) {
    calls_end(&daemon->context);
    spool_end(
        daemon->spool); /* unwritten calls are safe in the spool, and their callers are told so, */
    follow_end(daemon->context.follow); /* and no follower may sleep when the servers are closed */
    http_server_each(daemon, http_server_halt);
    http_server_each(daemon, http_server_close);
    follow_free(daemon->context.follow);
    sessions_free(daemon->context.sessions);
    tokens_close(daemon->context.tokens);
}

static bool daemon_open(struct daemon *daemon, char *error, size_t error_size) {
    clock_open(daemon->options.folder);
    if (!stores_open(daemon, error, error_size))
        return false;
    daemon->ledger_thread.ports =
        (struct ledger_thread_ports){call_written, act_given, daemon, wrote_given};
    daemon->ledger_thread.pulse = &daemon->executor.pulse;
    ledger_thread_prepare(&daemon->ledger_thread);
    signals_start(daemon);
    if (!host_files_open(daemon, error, error_size))
        return false;
    executor_start(&daemon->executor, &daemon->loop, &daemon->ledger_thread, &daemon->context);
    snprintf(daemon->runs_socket, sizeof daemon->runs_socket, "%.*s/door/sock", PATH_MAX - 16,
             daemon->options.folder);
    if (!context_open(daemon, error, error_size))
        return false;
    struct runs_places places = {.state = daemon->options.folder,
                                 .socket = daemon->runs_socket,
                                 .hidden = {daemon->options.socket, daemon->options.store,
                                            daemon->context.settings->source.file.at}};
    daemon->executor.agents.real =
        runs_start(&daemon->loop, &daemon->executor, &daemon->context, &places);
    daemon->context.runs = daemon->executor.agents.real;
    daemon->context.finish = run_finish;
    daemon->context.waits = runs_wait;
    daemon->context.logins = runs_logins;
    daemon->context.stop_first = runs_stop_first;
    runs_find(daemon->executor.agents.real);
    return ledger_thread_start(&daemon->ledger_thread);
}

static void daemon_run(struct daemon *daemon) {
    uv_timer_init(&daemon->loop, &daemon->sweep);
    daemon->sweep.data = daemon;
    uv_timer_start(&daemon->sweep, sweep_due, 1000, 1000);
    uint32_t process;
    random_bytes(&process, sizeof process);
    answer_cache_enable(options_is_sqlite(&daemon->options) && daemon->ledger_thread.store,
                        process);
    if (options_is_sqlite(&daemon->options) && daemon->ledger_thread.store)
        daemon->checkpointing =
            pthread_create(&daemon->checkpoints, NULL, checkpoints_run, daemon) == 0;
    daemon->retainer.rules = daemon->options.retain;
    if (daemon->ledger_thread.store &&
        !retainer_start(&daemon->retainer, daemon->options.store, &daemon->ledger_thread.safe))
        log_warning("the retention thread cannot be started: retention is off until restart");
    if (daemon->ledger_thread.store && daemon->lock.unchanged &&
        !examiner_start(&daemon->examiner, daemon->options.store, &daemon->ledger_thread))
        log_warning(
            "the thread that examines the store cannot be started: the next start examines it");
    log_info("overseerd %s listens on %s, store %s", OVERSEER_VERSION, daemon->options.socket,
             options_is_sqlite(&daemon->options) ? daemon->options.store : "postgresql");
    daemon->heartbeat = (struct heartbeat){.registration = &daemon->registration,
                                           .ledger_thread = &daemon->ledger_thread,
                                           .pulse = &daemon->executor.pulse};
    if (!heartbeat_start(&daemon->heartbeat))
        log_warning("the heartbeat thread cannot be started: a watchdog will restart this daemon");
    notify_ready(safe_is_on(&daemon->ledger_thread.safe) ? "in safe mode: nothing is written"
                                                         : "supervising");
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
}

/* Any error of the store is a reason to examine all of it at the next start. */
static void lock_end(struct daemon *daemon) {
    if (daemon->ledger_thread.store_failed || atomic_load(&daemon->examiner.failed))
        instance_lock_closed(&daemon->lock);
    else
        instance_lock_ended(&daemon->lock);
}

/* In this order: accept nothing new, commit and answer what waits, then release everything. */
static void daemon_end(struct daemon *daemon) {
    http_server_each(daemon, http_server_shut);
    lookups_stop(&daemon->run_lookups);
    pool_stop(daemon->context.slow);            /* no slow operation is answered any more; */
    lookups_stop(&daemon->lookups);             /* what must be read before a write is read, */
    ledger_thread_stop(&daemon->ledger_thread); /* and pending writes are committed */
    context_close(daemon);
    spool_free(daemon->spool);
    retainer_stop(&daemon->retainer);
    examiner_stop(&daemon->examiner);
    atomic_store(&daemon->ending, true);
    if (daemon->checkpointing)
        pthread_join(daemon->checkpoints, NULL);
    executor_stop(&daemon->executor);
    uv_close((uv_handle_t *)&daemon->on_int, NULL);
    uv_close((uv_handle_t *)&daemon->on_term, NULL);
    uv_close((uv_handle_t *)&daemon->on_hup, NULL);
    uv_close((uv_handle_t *)&daemon->asked, NULL);
    uv_close((uv_handle_t *)&daemon->sweep, NULL);
    uv_close((uv_handle_t *)&daemon->sweep_soon, NULL);
    for (int i = 0; i < 50 && uv_run(&daemon->loop, UV_RUN_NOWAIT); i++)
        usleep(1000);
    executor_end(&daemon->executor);
    queue_end(&daemon->ledger_thread.queue);
    ledger_free(daemon->ledger_thread.ledger);
    act_log_free(daemon->ledger_thread.acts);
    store_close(daemon->ledger_thread.store);
    store_close(daemon->lookups.store);
    store_close(daemon->run_lookups.store);
    if (options_is_sqlite(&daemon->options) && !safe_is_on(&daemon->ledger_thread.safe))
        lock_end(daemon);
    heartbeat_stop(&daemon->heartbeat);
    registration_remove(&daemon->registration);
    if (uv_loop_close(&daemon->loop) == 0)
        log_info("stopped");
    else
        log_info("stopped; running commands continue, and their outcome will be unconfirmed");
}

/* STORE-21: commands that we run learn neither the location nor the instance name of the store. They get a name that
 * matches no store of ours: they can create stores of their own, but cannot write to this one. The name is the same
 * after each start. */
static void children_notify(const struct options *options) {
    struct id child = id_derive(STR("children of"), str_of(options->store));
    char text[2 * sizeof child.bytes + 1];
    hex_write(text, child.bytes, sizeof child.bytes);
    setenv("OVERSEER_INSTANCE", text, 1);
    unsetenv("OVERSEER_STORE");
}

/* The usual soft limit of 1,024 is too low for one HTTP server with all its connections. The limit is raised no further
 * than needed, because commands that we run inherit it. A hold gives its agent the usual limit (hold/child.c). */
static void files_allow(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LIMIT_FILES)
        return;
    limit.rlim_cur = limit.rlim_max < LIMIT_FILES ? limit.rlim_max : LIMIT_FILES;
    unsigned long long most = limit.rlim_cur, beside = LIMIT_FILES_BESIDE;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || most < LIMIT_FILES)
        log_warning("at most %llu files can be open (ulimit -Hn): enough for %llu runs at once",
                    most, most > beside ? most - beside : 0);
}

/* The first word is the process whose environment is used; 0: our own. */
static int try_main(struct options *options, int argc, char **argv) {
    if (strcmp(argv[0], "0") != 0 && !environment_take(argv[0]))
        fprintf(stderr, "overseerd: the environment of process %s cannot be read.\n", argv[0]);
    int code = options_parse(options, argc, argv);
    if (code >= 0)
        return code;
    const struct texts *redact = &options->settings->secrets.redact;
    return redaction_init(redact->at, redact->count)
               ? try_agents(options->settings, options->socket, options->folder)
               : 1;
}

/* The first word is the repository. */
static int try_checks_main(struct options *options, int argc, char **argv) {
    int code = options_parse(options, argc, argv);
    if (code >= 0)
        return code;
    const struct texts *redact = &options->settings->secrets.redact;
    return redaction_init(redact->at, redact->count)
               ? try_checks(options->settings, options->socket, options->folder, argv[0])
               : 1;
}

int main(int argc, char **argv) {
    static struct daemon daemon;
    char error[1024] = "Out of memory at startup.";
    options_default(&daemon.options);
    store_belongs_to(getenv("OVERSEER_INSTANCE"));
    drive_memory_begin();
    if (maintain_is_asked(argc, argv))
        return maintain_main(argc, argv, daemon.options.store);
    if (argc > 2 && strcmp(argv[1], "--try-agents") == 0)
        return try_main(&daemon.options, argc - 2, argv + 2);
    if (argc > 2 && strcmp(argv[1], "--try-checks") == 0)
        return try_checks_main(&daemon.options, argc - 2, argv + 2);
    int code = options_parse(&daemon.options, argc, argv);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    options_settle(&daemon.options);
    notify_start();
    if (!log_open(&daemon.options.log)) {
        fprintf(stderr, "overseerd: the log %s cannot be opened: %s.\n", daemon.options.log.file,
                strerror(errno));
        return 1;
    }
    files_allow();
    children_notify(&daemon.options);
    if (!redaction_init(daemon.options.settings->secrets.redact.at,
                        daemon.options.settings->secrets.redact.count))
        return 1;
    bool locked = !options_is_sqlite(&daemon.options) ||
                  (instance_lock_take(&daemon.lock, store_address_file(daemon.options.store),
                                      SCHEMA_VERSION, error, sizeof error) &&
                   instance_lock_is_only_name(&daemon.lock, error, sizeof error));
    if (!locked || !daemon_open(&daemon, error, sizeof error)) {
        log_error("%s", error);
        return 1;
    }
    daemon_run(&daemon);
    daemon_end(&daemon);
    return 0;
}
