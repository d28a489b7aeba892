/* SPDX-License-Identifier: Apache-2.0 */
/* How is the daemon started, and how does it end? The only place that joins the rooms. */
#include "base/bytes.h"
#include "base/seam.h"
#include "base/sha256.h"
#include "daemon/answer_cache.h"
#include "daemon/call.h"
#include "daemon/clock.h"
#include "daemon/door.h"
#include "daemon/examiner.h"
#include "daemon/files.h"
#include "daemon/follow.h"
#include "daemon/hands.h"
#include "daemon/host_claim.h"
#include "daemon/log.h"
#include "daemon/maintain.h"
#include "daemon/mcp_session.h"
#include "daemon/notify.h"
#include "daemon/opening.h"
#include "daemon/options.h"
#include "daemon/policy_text.h"
#include "daemon/pool.h"
#include "daemon/reload.h"
#include "daemon/retain.h"
#include "daemon/runs.h"
#include "daemon/spool.h"
#include "daemon/token.h"
#include "daemon/try_agents.h"
#include "ports/driver.h"
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HURRY_MS = 20,    /* until those in a hurry are looked after again */
    SLOW_THREADS = 4, /* for operations that take long; one of each goal at a time */
    SLOW_WAITING = 64 /* of them that may wait; more are told to try again */
};

struct daemon {
    struct options options;
    struct keeper keeper;
    struct lookups lookups, run_lookups;
    struct hands hands;
    struct house house;
    uv_loop_t loop;
    uv_signal_t on_int, on_term, on_hup;
    uv_timer_t sweep, hurry;
    uv_async_t asked; /* from other threads: */
    atomic_bool stop_wanted, reload_wanted, hurry_wanted;
    pthread_t checkpoints;
    bool checkpointing;
    atomic_bool ending;
    struct retainer retainer;
    struct examiner examiner;
    struct instance_lock lock;
    struct host_identity identity; /* in a shared store */
    struct registration registration;
    struct heartbeat heartbeat;
    struct spool *spool;
    char runs_socket[PATH_MAX]; /* of the door for runs of agents; empty: there is none */
};

/* ---- checkpoints of the write-ahead log, off the ledger's thread ---- */

/* Without it the log would grow for ever: it is tried again each second, and said once. */
static struct store *checkpoints_open(struct daemon *daemon, bool *said) {
    char error[512] = "no file can be opened";
    struct store *store = seam("checkpoint-open")
                              ? NULL
                              : store_open(str_of(daemon->options.store), error, sizeof error);
    if (!store && !*said)
        log_error("the store cannot be opened for checkpoints, its log grows until it can: %s",
                  error);
    if (store && *said)
        log_info("the store is open for checkpoints again");
    *said = !store;
    return store;
}

static void *checkpoints_run(void *with) {
    struct daemon *daemon = with;
    struct store *store = NULL;
    bool said = false;
    while (!atomic_load(&daemon->ending)) {
        store = store ? store : checkpoints_open(daemon, &said);
        if (store)
            sqlite_checkpoint(store);
        for (int i = 0; i < 10 && !atomic_load(&daemon->ending); i++)
            usleep(100000);
    }
    store_close(store);
    return NULL;
}

/* ---- joining the rooms ---- */

static void answer_given(void *with, struct input *input) {
    (void)with;
    if (input->done)
        input->done(input);
    else
        call_written(input);
}

static void act_given(void *with, struct act *act) {
    struct daemon *daemon = with;
    hands_take(&daemon->hands, act);
}

static void wrote_given(void *with) {
    struct daemon *daemon = with;
    follow_wrote(daemon->house.follow);
}

static void stop_now(struct daemon *daemon) {
    notify_stopping();
    uv_stop(&daemon->loop);
}

static void stop_asked(uv_signal_t *signal, int number) {
    log_info("stopping on signal %d", number);
    stop_now(signal->data);
}

/* G-26, G-28: a log that was moved away begins anew. */
static void reload_now(struct daemon *daemon) {
    notify_reloading();
    char why[512];
    json_decref(house_settings_reload(&daemon->house, STR("operator"), why, sizeof why));
    const struct settings *settings = house_settings(&daemon->house);
    daemon->options.log.least = (enum log_level)settings->log.level;
    house_settings_drop(settings);
    if (!log_open(&daemon->options.log))
        log_error("the log %s cannot be opened anew: %s; the old one goes on",
                  daemon->options.log.file, strerror(errno));
    notify_ready("supervising");
}

static void reload_asked(uv_signal_t *signal, int number) {
    (void)number;
    reload_now(signal->data);
}

static void hurry_due(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    if (calls_sweep(&daemon->house))
        uv_timer_start(timer, hurry_due, HURRY_MS, 0);
}

/* Somebody asked through a door. */
static void house_asked(uv_async_t *async) {
    struct daemon *daemon = async->data;
    if (atomic_exchange(&daemon->reload_wanted, false))
        reload_now(daemon);
    if (atomic_exchange(&daemon->hurry_wanted, false) &&
        !uv_is_active((uv_handle_t *)&daemon->hurry))
        uv_timer_start(&daemon->hurry, hurry_due, HURRY_MS, 0);
    if (atomic_exchange(&daemon->stop_wanted, false)) {
        log_info("stopping as asked");
        stop_now(daemon);
    }
}

static void house_hurry(struct house *house) {
    struct daemon *daemon = house->with;
    atomic_store(&daemon->hurry_wanted, true);
    uv_async_send(&daemon->asked);
}

static void house_reload(struct house *house) {
    struct daemon *daemon = house->with;
    atomic_store(&daemon->reload_wanted, true);
    uv_async_send(&daemon->asked);
}

static void house_stop(struct house *house) {
    struct daemon *daemon = house->with;
    atomic_store(&daemon->stop_wanted, true);
    uv_async_send(&daemon->asked);
}

static void doors_each(struct daemon *daemon, void (*one)(struct door *door)) {
    for (int kind = 0; kind < DOORS; kind++)
        if (daemon->house.doors[kind])
            one(daemon->house.doors[kind]);
}

static void sweep_due(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    calls_sweep(&daemon->house);
    doors_each(daemon, door_sweep);
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

/* The number of this host in a shared store belongs to it alone. */
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
    options->host = host_choose(daemon->keeper.store, str_of(daemon->identity.addr),
                                (uint32_t)options->host, had, options->lease, error, error_size);
    if (options->host > 0)
        host_remember(options->folder, str_of(options->store), (uint32_t)options->host);
    return options->host > 0;
}

/* In a shared store the goals of this host are known once its number is. */
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
    bool syncs = !options_is_sqlite(options); /* that store is on this machine, and stops with it */
    daemon->keeper.acts = act_log_open(options->folder, syncs, boot_number(), error, error_size);
    return daemon->keeper.acts != NULL;
}

/* STORE-05, STORE-10: in safe mode there is no ledger, so nothing can be claimed, carried out or written. */
static bool stores_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    struct keeper *keeper = &daemon->keeper;
    struct opening opening = {options->store, (uint32_t)options->host,
                              options_is_sqlite(options) ? &daemon->lock : NULL, &keeper->safe};
    if (!opening_examine(&opening, error, error_size))
        return false;
    struct store *reading = opening_reader(&opening, error, error_size);
    if (!reading || !lookups_start(&daemon->lookups, reading))
        return false;
    struct store *for_runs = opening_reader(&opening, error, error_size);
    if (!for_runs || !lookups_start(&daemon->run_lookups, for_runs))
        return false;
    if (safe_is_on(&keeper->safe))
        return true;
    keeper->store = store_open(str_of(options->store), error, error_size);
    if (!keeper->store || !host_find(daemon, error, error_size))
        return false;
    if (!goals_examine(daemon, &opening, error, error_size))
        return false;
    if (safe_is_on(&keeper->safe))
        return true;
    if (!acts_open(daemon, error, error_size))
        return false;
    keeper->ledger = ledger_of(options, daemon->identity.addr, &daemon->hands.agents, keeper->acts);
    return keeper->ledger &&
           (!opening.lock || instance_lock_opened(opening.lock, error, error_size));
}

/* Before anybody can see that we are here, and ask us to go. */
static void signals_start(struct daemon *daemon) {
    uv_loop_init(&daemon->loop);
    uv_signal_init(&daemon->loop, &daemon->on_int);
    uv_signal_init(&daemon->loop, &daemon->on_term);
    uv_signal_init(&daemon->loop, &daemon->on_hup);
    uv_async_init(&daemon->loop, &daemon->asked, house_asked);
    uv_timer_init(&daemon->loop, &daemon->hurry);
    daemon->hurry.data = daemon;
    daemon->on_int.data = daemon->on_term.data = daemon;
    daemon->on_hup.data = daemon->asked.data = daemon;
    uv_signal_start(&daemon->on_hup, reload_asked, SIGHUP);
    uv_signal_start(&daemon->on_int, stop_asked, SIGINT);
    uv_signal_start(&daemon->on_term, stop_asked, SIGTERM);
}

/* What belongs to this host alone, and to one daemon at a time. */
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
    daemon->spool = spool_open(options->folder, &daemon->keeper, error, error_size);
    if (!daemon->spool)
        return false;
    if (registration_write(&daemon->registration))
        return true;
    snprintf(error, error_size,
             "The folder %.512s cannot be written: %s. Use another one with --state.",
             options->folder, strerror(errno));
    return false;
}

/* In a folder of its own: that is all of ours that a run's sandbox shows it, and it stays when the socket is made anew.
 * Without it nobody loses but agents, who are not started then. */
static struct door *runs_door_open(struct house *house, char path[PATH_MAX]) {
    char error[512] = "";
    char *slash = strrchr(path, '/');
    *slash = 0;
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    struct door_rules runs = {.socket = path};
    struct door *door = made ? door_open(house, DOOR_RUNS, &runs, error, sizeof error) : NULL;
    if (!door) {
        log_error("there is no door for runs of agents, so none is started. %s",
                  made ? error : strerror(errno));
        *path = 0;
    }
    return door;
}

/* Everything that answers a call, and then the doors to it. */
static bool house_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    struct house *house = &daemon->house;
    house->keeper = &daemon->keeper;
    house->lookups = &daemon->lookups;
    house->run_lookups = &daemon->run_lookups;
    house->spool = daemon->spool;
    house->config = &options->source;
    house_settings_set(house, options->settings);
    house->started_at = clock_wall();
    house->with = daemon;
    house->reload = house_reload;
    house->stop = house_stop;
    house->hurry = house_hurry;
    house->policy_read = policy_of_text;
    house->slow = pool_start(SLOW_THREADS, 1, SLOW_WAITING);
    if (!house->slow)
        return false;
    house->tokens = tokens_open(options->folder, error, error_size);
    house->sessions = sessions_new();
    house->follow = follow_new(options->store);
    if (!house->tokens || !house->sessions || !house->follow)
        return false;
    struct door_rules people = {.socket = options->socket, .fd = notify_socket(true)};
    house->doors[DOOR_UNIX] = door_open(house, DOOR_UNIX, &people, error, error_size);
    if (!house->doors[DOOR_UNIX])
        return false;
    house->doors[DOOR_RUNS] = runs_door_open(house, daemon->runs_socket);
    const struct settings *settings = options->settings;
    struct door_rules network = {.listen = settings->server.listen,
                                 .fd = notify_socket(false),
                                 .hosts = settings->server.hosts,
                                 .origins = settings->server.origins,
                                 .tls_cert = settings->server.tls_cert,
                                 .tls_key = settings->server.tls_key,
                                 .insecure = settings->server.insecure};
    if (network.listen.len == 0 && network.fd < 0)
        return true;
    house->doors[DOOR_TCP] = door_open(house, DOOR_TCP, &network, error, error_size);
    return house->doors[DOOR_TCP];
}

static void house_close(struct daemon *daemon) {
    calls_end(&daemon->house);
    spool_end(daemon->spool);         /* what could not be written is safe, and said to be, */
    follow_end(daemon->house.follow); /* and nobody may sleep when the doors are closed */
    doors_each(daemon, door_halt);
    doors_each(daemon, door_close);
    follow_free(daemon->house.follow);
    sessions_free(daemon->house.sessions);
    tokens_close(daemon->house.tokens);
}

static bool daemon_open(struct daemon *daemon, char *error, size_t error_size) {
    clock_open(daemon->options.folder);
    if (!stores_open(daemon, error, error_size))
        return false;
    daemon->keeper.ports = (struct keeper_ports){answer_given, act_given, daemon, wrote_given};
    daemon->keeper.pulse = &daemon->hands.pulse;
    keeper_prepare(&daemon->keeper);
    signals_start(daemon);
    if (!host_files_open(daemon, error, error_size))
        return false;
    hands_start(&daemon->hands, &daemon->loop, &daemon->keeper, &daemon->house);
    snprintf(daemon->runs_socket, sizeof daemon->runs_socket, "%.*s/door/sock", PATH_MAX - 16,
             daemon->options.folder);
    if (!house_open(daemon, error, error_size))
        return false;
    struct runs_places places = {
        .state = daemon->options.folder,
        .socket = daemon->runs_socket,
        .hidden = {daemon->options.socket, daemon->options.store, daemon->house.settings->file.at}};
    daemon->hands.agents.real = runs_start(&daemon->loop, &daemon->hands, &daemon->house, &places);
    if (!daemon->hands.agents.real)
        return false;
    daemon->house.runs = daemon->hands.agents.real;
    daemon->house.finish = run_finish;
    daemon->house.waits = runs_wait;
    daemon->house.stop_first = runs_stop_first;
    runs_find(daemon->hands.agents.real);
    return keeper_start(&daemon->keeper);
}

static void daemon_run(struct daemon *daemon) {
    uv_timer_init(&daemon->loop, &daemon->sweep);
    daemon->sweep.data = daemon;
    uv_timer_start(&daemon->sweep, sweep_due, 1000, 1000);
    uint32_t process;
    random_bytes(&process, sizeof process);
    answer_cache_enable(options_is_sqlite(&daemon->options) && daemon->keeper.store, process);
    if (options_is_sqlite(&daemon->options) && daemon->keeper.store)
        daemon->checkpointing =
            pthread_create(&daemon->checkpoints, NULL, checkpoints_run, daemon) == 0;
    daemon->retainer.rules = daemon->options.retain;
    if (daemon->keeper.store &&
        !retainer_start(&daemon->retainer, daemon->options.store, &daemon->keeper.safe))
        log_warning("there is no thread for retention: nothing is let go of until the next start");
    if (daemon->keeper.store && daemon->lock.unchanged &&
        !examiner_start(&daemon->examiner, daemon->options.store, &daemon->keeper))
        log_warning("there is no thread to examine the store: the next start does it");
    log_info("overseerd %s listens on %s, store %s", OVERSEER_VERSION, daemon->options.socket,
             options_is_sqlite(&daemon->options) ? daemon->options.store : "postgresql");
    daemon->heartbeat = (struct heartbeat){.registration = &daemon->registration,
                                           .keeper = &daemon->keeper,
                                           .pulse = &daemon->hands.pulse};
    if (!heartbeat_start(&daemon->heartbeat))
        log_warning(
            "there is no thread for the heartbeat: whoever guards this daemon will call it dead");
    notify_ready(safe_is_on(&daemon->keeper.safe) ? "in safe mode: nothing is written"
                                                  : "supervising");
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
}

/* An error of the store, whatever it was, is a reason to examine all of it at the next start. */
static void lock_end(struct daemon *daemon) {
    if (daemon->keeper.store_failed || atomic_load(&daemon->examiner.failed))
        instance_lock_closed(&daemon->lock);
    else
        instance_lock_ended(&daemon->lock);
}

/* In order: nobody new, what waits is committed and answered, then everything is put away. */
static void daemon_end(struct daemon *daemon) {
    doors_each(daemon, door_shut);
    lookups_stop(&daemon->run_lookups);
    pool_stop(daemon->house.slow);  /* nobody answers any more; */
    lookups_stop(&daemon->lookups); /* what has to be read before it is written is read, */
    keeper_stop(&daemon->keeper);   /* and what waits is written */
    house_close(daemon);
    spool_free(daemon->spool);
    retainer_stop(&daemon->retainer);
    examiner_stop(&daemon->examiner);
    atomic_store(&daemon->ending, true);
    if (daemon->checkpointing)
        pthread_join(daemon->checkpoints, NULL);
    hands_stop(&daemon->hands);
    uv_close((uv_handle_t *)&daemon->on_int, NULL);
    uv_close((uv_handle_t *)&daemon->on_term, NULL);
    uv_close((uv_handle_t *)&daemon->on_hup, NULL);
    uv_close((uv_handle_t *)&daemon->asked, NULL);
    uv_close((uv_handle_t *)&daemon->sweep, NULL);
    uv_close((uv_handle_t *)&daemon->hurry, NULL);
    for (int i = 0; i < 50 && uv_run(&daemon->loop, UV_RUN_NOWAIT); i++)
        usleep(1000);
    hands_end(&daemon->hands);
    queue_end(&daemon->keeper.queue);
    ledger_free(daemon->keeper.ledger);
    act_log_free(daemon->keeper.acts);
    store_close(daemon->keeper.store);
    store_close(daemon->lookups.store);
    store_close(daemon->run_lookups.store);
    if (options_is_sqlite(&daemon->options) && !safe_is_on(&daemon->keeper.safe))
        lock_end(daemon);
    heartbeat_stop(&daemon->heartbeat);
    registration_remove(&daemon->registration);
    if (uv_loop_close(&daemon->loop) == 0)
        log_info("stopped");
    else
        log_info("stopped; commands that still run go on, their outcome will be unconfirmed");
}

/* STORE-21: commands that we run are told neither where the store is nor its name, but one that fits no store of
 * ours: they can make stores of their own, and not write to this one. The same name after each start. */
static void children_told(const struct options *options) {
    struct id child = id_derive(STR("children of"), str_of(options->store));
    char text[2 * sizeof child.bytes + 1];
    hex_write(text, child.bytes, sizeof child.bytes);
    setenv("OVERSEER_INSTANCE", text, 1);
    unsetenv("OVERSEER_STORE");
}

/* The usual soft limit of 1,024 would be less than one full door. No more than needed: commands that we run inherit it. A hold gives its
 * agent the limit that is usual (hold/child.c). */
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

/* The first word is the process whose environment counts; 0: our own. */
static int try_main(struct options *options, int argc, char **argv) {
    if (strcmp(argv[0], "0") != 0 && !environment_take(argv[0]))
        fprintf(stderr, "overseerd: the environment of process %s cannot be read.\n", argv[0]);
    int code = options_parse(options, argc, argv);
    if (code >= 0)
        return code;
    const struct texts *redact = &options->settings->secrets.redact;
    return input_redacts(redact->at, redact->count) ? try_agents(options) : 1;
}

int main(int argc, char **argv) {
    static struct daemon daemon;
    char error[1024] = "There is no memory to start.";
    options_default(&daemon.options);
    store_belongs_to(getenv("OVERSEER_INSTANCE"));
    drive_memory_begin();
    if (maintain_is_asked(argc, argv))
        return maintain_main(argc, argv, daemon.options.store);
    if (argc > 2 && strcmp(argv[1], "--try-agents") == 0)
        return try_main(&daemon.options, argc - 2, argv + 2);
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
    children_told(&daemon.options);
    if (!input_redacts(daemon.options.settings->secrets.redact.at,
                       daemon.options.settings->secrets.redact.count))
        return 1;
    bool locked = !options_is_sqlite(&daemon.options) ||
                  (instance_lock_take(&daemon.lock, daemon.options.store + strlen("sqlite:"), error,
                                      sizeof error) &&
                   instance_lock_is_only_name(&daemon.lock, error, sizeof error));
    if (!locked || !daemon_open(&daemon, error, sizeof error)) {
        log_error("%s", error);
        return 1;
    }
    daemon_run(&daemon);
    daemon_end(&daemon);
    return 0;
}
