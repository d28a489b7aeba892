/* SPDX-License-Identifier: Apache-2.0 */
/* How is the daemon started, and how does it end? The only place that joins the rooms. */
#include "daemon/clock.h"
#include "daemon/door.h"
#include "daemon/hands.h"
#include "daemon/log.h"
#include "daemon/maintain.h"
#include "daemon/opening.h"
#include "daemon/retain.h"
#include "model/secret.h"
#include "store/sqlite.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
    char store[PATH_MAX + 16], socket[PATH_MAX];
    long host;
    int64_t lease, act_within;
    bool approve_plans;
    const char *plan_agents;
    struct str patterns[32]; /* custom secrets */
    uint32_t pattern_count;
    struct retain_rules retain;
};

struct daemon {
    struct options options;
    struct keeper keeper;
    struct lookups lookups;
    struct hands hands;
    struct door *door;
    uv_loop_t loop;
    uv_signal_t on_int, on_term;
    uv_timer_t sweep;
    pthread_t checkpoints;
    bool checkpointing;
    atomic_bool ending;
    struct retainer retainer;
    struct instance_lock lock;
};

static const char USAGE[] =
    "usage: overseerd [options]\n"
    "  --store WHERE     sqlite:PATH (default, in the state folder), or postgresql://…\n"
    "  --socket PATH     where the command line finds the daemon\n"
    "  --host N          this host's number in a shared store (PostgreSQL; default 1)\n"
    "  --lease SECONDS   how long a silent host keeps its goals (PostgreSQL; default 10)\n"
    "  --act-within SECONDS  how long a command may take (default 3600)\n"
    "  --approve-plans       what the overseer plans waits for a person\n"
    "  --plan-agents NAMES   agents that may apply plans themselves, separated by spaces\n"
    "  --redact PATTERN      a secret of your own; may be given several times (docs/redaction.md)\n"
    "  --retain-bodies DAYS  how long the evidence of closed goals is kept (default 30)\n"
    "  --retain-records DAYS  how long records are kept; milestones stay (default 180)\n"
    "  --maintain VERB   look after the store: examine, verify-log, rebuild, accept-empty, backup, restore,\n"
    "                    retain, export, import, forget; without a VERB, what each of them takes\n"
    "  --version, --help\n"
    "Environment: OVERSEER_STORE and OVERSEER_SOCKET stand for the first two.\n";

/* ---- options ---- */

static void state_folder(char *to, size_t size) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state)
        snprintf(to, size, "%s/overseer", state);
    else
        snprintf(to, size, "%s/.local/state/overseer", home && *home ? home : "/var/lib");
}

static void folder_make(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static void options_default(struct options *options) {
    char folder[PATH_MAX - 32];
    state_folder(folder, sizeof folder);
    const char *store = getenv("OVERSEER_STORE"), *socket = getenv("OVERSEER_SOCKET");
    if (!store || !socket)
        folder_make(folder);
    snprintf(options->store, sizeof options->store, store ? "%s" : "sqlite:%s/overseer.db",
             store ? store : folder);
    snprintf(options->socket, sizeof options->socket, socket ? "%s" : "%s/overseer.sock",
             socket ? socket : folder);
    options->host = 1;
    options->lease = SECONDS(10);
    options->act_within = SECONDS(3600);
    options->retain = RETAIN_DEFAULT;
}

static bool seconds_parse(const char *text, int64_t *ret_micros) {
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || seconds < 0.1 || seconds > 86400 * 365)
        return false;
    *ret_micros = (int64_t)(seconds * 1e6);
    return true;
}

static bool days_parse(const char *text, int32_t *ret_days) {
    char *end;
    long days = strtol(text, &end, 10);
    if (end == text || *end || days < 1 || days > 36500)
        return false;
    *ret_days = (int32_t)days;
    return true;
}

/* G-09: a custom pattern that cannot work is said at once, with its place. */
static bool pattern_take(struct options *options, const char *value) {
    uint32_t column = 0;
    const char *wrong = secret_pattern_broken(str_of(value), &column);
    if (wrong)
        fprintf(stderr, "overseerd: the pattern %s is wrong at column %u: %s.\n", value, column,
                wrong);
    if (wrong || options->pattern_count == count_of(options->patterns))
        return false;
    options->patterns[options->pattern_count++] = str_of(value);
    return true;
}

static bool option_take(struct options *options, int option, const char *value) {
    switch (option) {
    case 's':
        return snprintf(options->store, sizeof options->store, "%s", value) <
               (int)sizeof options->store;
    case 'k':
        return snprintf(options->socket, sizeof options->socket, "%s", value) <
               (int)sizeof options->socket;
    case 'h':
        options->host = strtol(value, NULL, 10);
        return options->host > 0 && options->host < INT_MAX;
    case 'l': return seconds_parse(value, &options->lease);
    case 'a': return seconds_parse(value, &options->act_within);
    case 'p': options->approve_plans = true; return true;
    case 'P': options->plan_agents = value; return strlen(value) <= 256;
    case 'x': return pattern_take(options, value);
    case 'B': return days_parse(value, &options->retain.bodies_days);
    case 'R': return days_parse(value, &options->retain.records_days);
    default: return false;
    }
}

/* -1: go on; otherwise exit with it. */
static int options_parse(struct options *options, int argc, char **argv) {
    static const struct option LONG[] = {{"store", required_argument, NULL, 's'},
                                         {"socket", required_argument, NULL, 'k'},
                                         {"host", required_argument, NULL, 'h'},
                                         {"lease", required_argument, NULL, 'l'},
                                         {"retain-bodies", required_argument, NULL, 'B'},
                                         {"approve-plans", no_argument, NULL, 'p'},
                                         {"plan-agents", required_argument, NULL, 'P'},
                                         {"redact", required_argument, NULL, 'x'},
                                         {"retain-records", required_argument, NULL, 'R'},
                                         {"act-within", required_argument, NULL, 'a'},
                                         {"version", no_argument, NULL, 'v'},
                                         {"help", no_argument, NULL, '?' + 1},
                                         {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        if (option == 'v' || option == '?' + 1) {
            fputs(option == 'v' ? "overseerd " OVERSEER_VERSION "\n" : USAGE, stdout);
            return 0;
        }
        if (option == '?' || !option_take(options, option, optarg)) {
            fprintf(stderr, "overseerd: %s is not right here.\n%s", argv[optind - 1], USAGE);
            return 2;
        }
    }
    return -1;
}

static bool is_sqlite(const struct options *options) {
    return strncmp(options->store, "sqlite:", 7) == 0;
}

/* ---- checkpoints of the write-ahead log, off the ledger's thread ---- */

static void *checkpoints_run(void *with) {
    struct daemon *daemon = with;
    char error[512];
    struct store *store = store_open(str_of(daemon->options.store), error, sizeof error);
    while (store && !atomic_load(&daemon->ending)) {
        sqlite_checkpoint(store);
        for (int i = 0; i < 10 && !atomic_load(&daemon->ending); i++)
            usleep(100000);
    }
    store_close(store);
    return NULL;
}

/* ---- joining the rooms ---- */

static void answer_given(void *with, struct input *input) {
    struct daemon *daemon = with;
    door_answer(daemon->door, input);
}

static void act_given(void *with, struct act *act) {
    struct daemon *daemon = with;
    hands_take(&daemon->hands, act);
}

static void stop_asked(uv_signal_t *signal, int number) {
    struct daemon *daemon = signal->data;
    log_info("stopping on signal %d", number);
    uv_stop(&daemon->loop);
}

static void sweep_due(uv_timer_t *timer) {
    struct daemon *daemon = timer->data;
    door_sweep(daemon->door);
}

static struct ledger *ledger_of(const struct options *options) {
    uint64_t instance;
    random_bytes(&instance, sizeof instance);
    int64_t lease = is_sqlite(options) ? 0 : options->lease;
    struct ledger_config config = {
        .host = is_sqlite(options) ? 1 : (uint32_t)options->host,
        .instance = instance >> 1,
        .lease = lease,
        .beat_every = lease / 4,
        .poll_every = lease ? lease / 8 : SECONDS(1),
        .retry_every = MILLISECONDS(100),
        .policy = policy_seal((struct policy){.act_within = options->act_within,
                                              .approve_plans = options->approve_plans,
                                              .plan_agents = str_of(options->plan_agents)}),
        .build = STR("overseerd " OVERSEER_VERSION),
        .addr = STR("")};
    return ledger_create(&config);
}

/* STORE-05, STORE-10: in safe mode there is no ledger, so nothing can be claimed, carried out or written. */
static bool stores_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    struct keeper *keeper = &daemon->keeper;
    struct opening opening = {options->store, (uint32_t)options->host,
                              is_sqlite(options) ? &daemon->lock : NULL, &keeper->safe};
    if (!opening_examine(&opening, error, error_size))
        return false;
    struct store *reading = opening_reader(&opening, error, error_size);
    if (!reading || !lookups_start(&daemon->lookups, reading))
        return false;
    if (safe_is_on(&keeper->safe))
        return true;
    keeper->store = store_open(str_of(options->store), error, error_size);
    keeper->ledger = keeper->store ? ledger_of(options) : NULL;
    return keeper->ledger && (!opening.lock || instance_lock_opened(opening.lock));
}

/* Before anybody can see that we are here, and ask us to go. */
static void signals_start(struct daemon *daemon) {
    uv_loop_init(&daemon->loop);
    uv_signal_init(&daemon->loop, &daemon->on_int);
    uv_signal_init(&daemon->loop, &daemon->on_term);
    daemon->on_int.data = daemon->on_term.data = daemon;
    uv_signal_start(&daemon->on_int, stop_asked, SIGINT);
    uv_signal_start(&daemon->on_term, stop_asked, SIGTERM);
}

static bool daemon_open(struct daemon *daemon, char *error, size_t error_size) {
    const struct options *options = &daemon->options;
    if (!stores_open(daemon, error, error_size))
        return false;
    daemon->keeper.ports = (struct keeper_ports){answer_given, act_given, daemon};
    daemon->keeper.pulse = &daemon->hands.pulse;
    keeper_prepare(&daemon->keeper);
    signals_start(daemon);
    hands_start(&daemon->hands, &daemon->loop, &daemon->keeper);
    daemon->door = door_open(options->socket, &daemon->keeper, &daemon->lookups, error, error_size);
    return daemon->door && keeper_start(&daemon->keeper);
}

static void daemon_run(struct daemon *daemon) {
    uv_timer_init(&daemon->loop, &daemon->sweep);
    daemon->sweep.data = daemon;
    uv_timer_start(&daemon->sweep, sweep_due, 1000, 1000);
    if (is_sqlite(&daemon->options) && daemon->keeper.store)
        daemon->checkpointing =
            pthread_create(&daemon->checkpoints, NULL, checkpoints_run, daemon) == 0;
    daemon->retainer.rules = daemon->options.retain;
    if (daemon->keeper.store &&
        !retainer_start(&daemon->retainer, daemon->options.store, &daemon->keeper.safe))
        log_warning("there is no thread for retention: nothing is let go of until the next start");
    log_info("overseerd %s listens on %s, store %s", OVERSEER_VERSION, daemon->options.socket,
             is_sqlite(&daemon->options) ? daemon->options.store : "postgresql");
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
}

/* In order: nobody new, what waits is committed and answered, then everything is put away. */
static void daemon_end(struct daemon *daemon) {
    door_shut(daemon->door);
    lookups_stop(&daemon->lookups); /* what has to be read before it is written is read, */
    keeper_stop(&daemon->keeper);   /* and what waits is written */
    door_close(daemon->door);
    retainer_stop(&daemon->retainer);
    atomic_store(&daemon->ending, true);
    if (daemon->checkpointing)
        pthread_join(daemon->checkpoints, NULL);
    hands_stop(&daemon->hands);
    uv_close((uv_handle_t *)&daemon->on_int, NULL);
    uv_close((uv_handle_t *)&daemon->on_term, NULL);
    uv_close((uv_handle_t *)&daemon->sweep, NULL);
    for (int i = 0; i < 50 && uv_run(&daemon->loop, UV_RUN_NOWAIT); i++)
        usleep(1000);
    hands_end(&daemon->hands);
    queue_end(&daemon->keeper.queue);
    ledger_free(daemon->keeper.ledger);
    store_close(daemon->keeper.store);
    store_close(daemon->lookups.store);
    if (is_sqlite(&daemon->options) && !safe_is_on(&daemon->keeper.safe))
        instance_lock_closed(&daemon->lock);
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
    for (size_t i = 0; i < sizeof child.bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", child.bytes[i]);
    setenv("OVERSEER_INSTANCE", text, 1);
    unsetenv("OVERSEER_STORE");
}

int main(int argc, char **argv) {
    static struct daemon daemon;
    char error[1024] = "There is no memory to start.";
    options_default(&daemon.options);
    store_belongs_to(getenv("OVERSEER_INSTANCE"));
    if (maintain_is_asked(argc, argv))
        return maintain_main(argc, argv, daemon.options.store);
    int code = options_parse(&daemon.options, argc, argv);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    children_told(&daemon.options);
    if (!input_redacts(daemon.options.patterns, daemon.options.pattern_count))
        return 1;
    bool locked = !is_sqlite(&daemon.options) ||
                  instance_lock_take(&daemon.lock, daemon.options.store + strlen("sqlite:"), error,
                                     sizeof error);
    if (!locked || !daemon_open(&daemon, error, sizeof error)) {
        log_error("%s", error);
        return 1;
    }
    daemon_run(&daemon);
    daemon_end(&daemon);
    return 0;
}
