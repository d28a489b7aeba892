/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include "base/memory.h"
#include "model/store_address.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- flags ---- */

struct flag_row {
    const char *flag, *takes; /* NULL: the flag takes no value and stands for `fixed` */
    const char *setting, *fixed;
    enum span_unit unit; /* of a plain number */
    bool whole;          /* each value is one list entry */
    const char *text;
};

static const struct flag_row FLAGS[] = {
    {"store", "WHERE", "storage.store", NULL, UNIT_WRITTEN, false,
     "sqlite:PATH (default, in the state folder), or postgresql://…"},
    {"socket", "PATH", "server.socket", NULL, UNIT_WRITTEN, false, "the Unix socket of the daemon"},
    {"listen", "ADDRESS:PORT", "server.listen", NULL, UNIT_WRITTEN, false,
     "also listen on TCP, for clients with a token"},
    {"state", "FOLDER", "storage.dir", NULL, UNIT_WRITTEN, false,
     "state folder of this host: registration, heartbeat, spool, tokens"},
    {"log-file", "PATH", "log.file", NULL, UNIT_WRITTEN, false,
     "log file instead of standard error"},
    {"log-format", "FORMAT", "log.format", NULL, UNIT_WRITTEN, false,
     "auto, text, json or journal"},
    {"host", "N|NAME", "fleet.host", NULL, UNIT_WRITTEN, false,
     "this host's number or name in a shared store (PostgreSQL; default: a free number)"},
    {"lease", "SECONDS", "fleet.lease", NULL, UNIT_SECONDS, false,
     "lease: how long a host that does not answer keeps its goals (PostgreSQL; default 10)"},
    {"act-within", "SECONDS", "supervision.act_within", NULL, UNIT_SECONDS, false,
     "how long a command may take (default 3600)"},
    {"approve-plans", NULL, "plans.approve", "true", UNIT_WRITTEN, false,
     "plans made by Overseer wait for a person's approval"},
    {"plan-agents", "NAMES", "plans.agents", NULL, UNIT_WRITTEN, false,
     "agents that may apply plans without approval, separated by commas or spaces"},
    {"redact", "PATTERN", "secrets.redact", NULL, UNIT_WRITTEN, true,
     "an additional pattern of secrets; may be repeated (docs/redaction.md)"},
    {"retain-bodies", "DAYS", "retention.bodies", NULL, UNIT_DAYS, false,
     "how long the evidence of closed goals is kept (default 30)"},
    {"retain-records", "DAYS", "retention.records", NULL, UNIT_DAYS, false,
     "how long records are kept; milestones stay (default 180)"},
};

enum { FLAG_CONFIG = 256, FLAG_SET, FLAG_MANUAL, FLAG_VERSION, FLAG_HELP };
_Static_assert(count_of(FLAGS) < FLAG_CONFIG, "numbers below are rows");

static void usage(FILE *to) {
    fputs("usage: overseerd [options]\n"
          "  --config FILE                   settings; see overseer.toml(5)\n"
          "  --set NAME=VALUE                one setting\n",
          to);
    for (size_t i = 0; i < count_of(FLAGS); i++) {
        int used = fprintf(to, "  --%s %s", FLAGS[i].flag, FLAGS[i].takes ? FLAGS[i].takes : "");
        fprintf(to, "%*s%s\n", used < 33 ? 34 - used : 1, "", FLAGS[i].text);
    }
    fputs(
        "  --maintain VERB                 maintain the store: examine, verify-log, rebuild, accept-empty,\n"
        "                                  backup, restore, retain, export, import, forget; without a VERB, the\n"
        "                                  arguments of each\n"
        "  --try-agents PID [options]      start each agent in its sandbox with --version, with the environment of\n"
        "                                  that process (0: of this one); for `overseer doctor`\n"
        "  --man-settings                  print overseer.toml(5)\n"
        "  --version, --help\n"
        "Environment: OVERSEER_CONFIG, and a variable for each setting: OVERSEER_SERVER_LISTEN. OVERSEER_STORE and\n"
        "OVERSEER_SOCKET set --store and --socket.\n",
        to);
}

static void options_of(struct option list[count_of(FLAGS) + 6]) {
    static const struct option REST[] = {{"config", required_argument, NULL, FLAG_CONFIG},
                                         {"set", required_argument, NULL, FLAG_SET},
                                         {"man-settings", no_argument, NULL, FLAG_MANUAL},
                                         {"version", no_argument, NULL, FLAG_VERSION},
                                         {"help", no_argument, NULL, FLAG_HELP},
                                         {0}};
    for (size_t i = 0; i < count_of(FLAGS); i++)
        list[i] = (struct option){FLAGS[i].flag, FLAGS[i].takes ? required_argument : no_argument,
                                  NULL, (int)i};
    memcpy(list + count_of(FLAGS), REST, sizeof REST);
}

/* Safe, because names of agents contain no spaces. */
static const char *spaces_to_commas(const char *value) {
    char *copy = memory_text(value, strlen(value));
    for (char *at = copy; *at; at++)
        if (*at == ' ')
            *at = ',';
    return copy;
}

static bool flag_add(struct options *options, struct config_flag flag) {
    if (options->source.flag_count == CONFIG_FLAGS || !flag.name || !flag.value)
        return false;
    options->flags[options->source.flag_count++] = flag;
    return true;
}

static bool set_take(struct options *options, const char *given) {
    const char *sign = strchr(given, '=');
    char *name = sign ? memory_text(given, (size_t)(sign - given)) : NULL;
    return flag_add(options, (struct config_flag){
                                 .name = name, .value = sign ? sign + 1 : NULL, .shown = "--set"});
}

static bool flag_take(struct options *options, int number, const char *value) {
    static char shown[count_of(FLAGS)][32];
    const struct flag_row *row = &FLAGS[number];
    snprintf(shown[number], sizeof shown[number], "--%s", row->flag);
    if (strcmp(row->flag, "plan-agents") == 0)
        value = spaces_to_commas(value);
    if (strcmp(row->flag, "host") == 0 && value[strspn(value, "0123456789")] != 0)
        return flag_add(
            options, (struct config_flag){.name = "fleet.name", .value = value, .shown = "--host"});
    return flag_add(options, (struct config_flag){row->setting, value ? value : row->fixed,
                                                  shown[number], row->unit, row->whole});
}

/* -1: continue. */
static int flags_parse(struct options *options, int argc, char **argv) {
    struct option list[count_of(FLAGS) + 6];
    options_of(list);
    for (int option; (option = getopt_long(argc, argv, "", list, NULL)) != -1;) {
        bool taken = true;
        switch (option) {
        case FLAG_VERSION: puts("overseerd " OVERSEER_VERSION); return 0;
        case FLAG_HELP: usage(stdout); return 0;
        case FLAG_MANUAL: config_manual(); return 0;
        case FLAG_CONFIG: options->source.file = optarg; break;
        case FLAG_SET: taken = set_take(options, optarg); break;
        default: taken = option < (int)count_of(FLAGS) && flag_take(options, option, optarg);
        }
        if (option == '?' || !taken) {
            fprintf(stderr, "overseerd: %s is not a valid argument.\n", argv[optind - 1]);
            usage(stderr);
            return 2;
        }
    }
    return -1;
}

/* ---- values that the start needs ---- */

static void folder_make(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* If no store was named, the daemon creates the folder of the default one. */
static void store_folder_make(const struct options *options) {
    const struct setting *row = setting_find(STR("storage.store")).row;
    char path[sizeof options->store];
    if (options->settings->source.origins[setting_place(row)].origin != ORIGIN_DEFAULT)
        return;
    snprintf(path, sizeof path, "%s", store_address_file(options->store));
    *strrchr(path, '/') = 0;
    folder_make(path);
}

static bool text_fill(char *to, size_t size, struct str text) {
    return snprintf(to, size, "%.*s", STR_ARG(text)) < (int)size;
}

static int32_t days_of(int64_t span) {
    return (int32_t)(span / SECONDS(86400));
}

static bool options_fill(struct options *options) {
    const struct settings *settings = options->settings;
    _Static_assert(LOG_FORMATS == 4 && LEVELS == 4, "as LOG_FORMAT_NAMES and LOG_LEVEL_NAMES");
    options->log = (struct log_options){
        (enum log_format)settings->log.format, (enum log_level)settings->log.level,
        settings->log.file.len ? options->log_file : NULL, (uint64_t)settings->log.most << 20};
    options->host = (long)settings->fleet.host;
    options->lease = settings->fleet.lease;
    options->retain = RETAIN_DEFAULT;
    options->retain.bodies_days = days_of(settings->retention.bodies);
    options->retain.records_days = days_of(settings->retention.records);
    return text_fill(options->log_file, sizeof options->log_file, settings->log.file) &&
           text_fill(options->store, sizeof options->store, settings->storage.store) &&
           text_fill(options->socket, sizeof options->socket, settings->server.socket) &&
           text_fill(options->folder, sizeof options->folder, settings->storage.dir);
}

void options_default(struct options *options) {
    struct config_report *report = memory_new(sizeof *report);
    options->source = (struct config_source){.flags = options->flags};
    options->settings = config_load(&options->source, report);
    if (!options->settings) /* a broken file must not prevent the repair of a store */
        options->settings = config_load(&(struct config_source){.ignore_file = true}, report);
    if (options->settings && options_fill(options))
        store_folder_make(options);
    free(report);
}

static void problems_print(const struct config_report *report) {
    for (uint32_t i = 0; i < report->count && i < CONFIG_PROBLEMS; i++)
        fprintf(stderr, "overseerd: %s\n", report->problems[i]);
    if (report->count > CONFIG_PROBLEMS)
        fprintf(stderr, "overseerd: and %u more\n", report->count - CONFIG_PROBLEMS);
}

int options_parse(struct options *options, int argc, char **argv) {
    int code = flags_parse(options, argc, argv);
    if (code >= 0)
        return code;
    struct config_report *report = memory_new(sizeof *report);
    config_free(options->settings);
    options->settings = config_load(&options->source, report);
    if (!options->settings)
        problems_print(report);
    free(report);
    if (options->settings && options_fill(options))
        return -1;
    fputs("overseerd: nothing was started. `overseer config check` checks the settings file.\n",
          stderr);
    return 2;
}

bool options_is_sqlite(const struct options *options) {
    return store_address_file(options->store) != NULL;
}

void options_settle(struct options *options) {
    store_folder_make(options);
    folder_make(options->folder);
}
