/* SPDX-License-Identifier: Apache-2.0 */
/* All settings of an operator. One row for each setting; the file, the environment, the flags, their checks, `config
 * show` and the manual follow from it.
 *
 * A value is stored where its row says, in struct settings, together with its origin: each layer overrides the one
 * before (default, file, environment, flag). */
#pragma once

#include "base/time.h"
#include "model/field.h"
#include "model/limits.h"
#include "model/notice.h"
#include "model/setting/deciding.h"

enum landing { LAND_PR, LAND_MERGE, LAND_BRANCH, LAND_REBASE, LAND_SQUASH, LAND_NOT, LANDINGS };

extern const struct names LANDING_NAMES;
extern const struct names LOG_FORMAT_NAMES, LOG_LEVEL_NAMES; /* in the order of sys/log.h */

/* ---- the values ---- */

enum origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG, ORIGINS };
extern const struct names ORIGIN_NAMES;

struct origin_place {
    enum origin origin;
    uint32_t line; /* in the file */
};

enum { SETTING_ROOM = 160 }; /* larger than the number of rows */

enum sandbox_mode { SANDBOX_PREFER, SANDBOX_REQUIRE, SANDBOX_OFF, SANDBOX_MODES };
/* What an agent may do without asking: everything inside its sandbox, or nothing that is not in its list. */
enum agent_profile { PROFILE_SANDBOXED, PROFILE_ASK, PROFILES };
enum agent_network { NETWORK_ALL, NETWORK_MODEL, NETWORK_LOOPBACK, NETWORK_NONE, NETWORK_KINDS };
/* Network of set-up, hook and check: that of the agent they run for, or one of the above. */
enum { CHECK_NETWORK_AGENT, CHECK_NETWORK_KINDS = NETWORK_KINDS + 1 };

struct agent_reserve {
    int64_t tokens;
    struct str money;
};

struct agent_pretend { /* how a pretend agent behaves, */
    struct str behaviour;
    int64_t pace, stretches; /* how fast its time runs, and how much work there is */
};

struct agent_token { /* its own token: the variable, the file */
    struct str env, file;
};

struct agent_limits { /* of a run; 0: as in sandbox */
    int64_t memory, cpu, processes;
};

struct agent_setting { /* CONFIG-17 */
    struct str id, model;
    struct texts tools;
    struct str role, account,
        team; /* its role, the account whose quota it uses, the team that pays */
    int64_t most;
    struct agent_reserve reserve; /* for one attempt */
    bool dedupes;
    struct str driver; /* what starts it */
    struct agent_pretend pretend;
    struct str program, kind, base_url, thinking;
    struct texts args, deny, keys; /* keys: environment variables that it needs */
    struct texts share;            /* files of the operator's HOME that are visible in its own */
    struct agent_token token;
    struct str login_home; /* its login is copied from there; empty: from the operator's HOME */
    uint32_t profile;      /* enum agent_profile */
    bool mcp_http;
    uint32_t network; /* enum agent_network */
    struct agent_limits limits;
};

struct budget_setting {
    struct str scope, most;
    int64_t window;
};

struct verify_setting {
    struct str command, setup;
    struct texts keys; /* variables of the daemon that checks get */
    int64_t within, rounds;
    struct texts protect, rules;
    uint32_t network; /* CHECK_NETWORK_AGENT, or enum agent_network + 1 */
};

struct landing_setting {
    uint32_t how;      /* enum landing */
    struct str forge;  /* channel on which pull requests are opened; empty: none are */
    struct str remote; /* where their branches are pushed; empty: the repository's path */
    int64_t rechecks;
    bool hooks;        /* a landing runs the hooks of a local repository */
    struct str author; /* "Name <address>" of commits; empty: Overseer */
    bool attribution;  /* commits that Overseer writes for people to merge name task and agent */
};

/* A repository: an entry of [[repos]], or what [repo], [verify] and [landing] say. */
struct repo_setting {
    struct str name, path, default_branch, setup, on_worktree_ready;
    struct texts hosts; /* that its runs may reach, besides their model's */
    struct verify_setting verify;
    struct landing_setting landing;
};

struct account_setting {
    struct str name;
    int64_t mark;
    bool extra_usage;
};

struct price_setting { /* money for a million tokens */
    struct str model, in, out;
};

struct settings {
    struct {
        bool enabled; /* CONFIG-01 */
        int64_t tick_every, idle_after, min_resend_interval, backoff_base, backoff_max;
        int64_t max_retries;
        int64_t act_within;
        int64_t max_attempts;
        DECIDING_LIVENESS(DECIDING_SETTING, NEXT_STATEMENT);
        DECIDING_RECOVERY(DECIDING_SETTING, NEXT_STATEMENT);
        uint32_t first_rung; /* enum rung */
        bool allow_reassign, verify_by_person;
    } supervision;
    struct {
        DECIDING_DISPATCH(DECIDING_SETTING, NEXT_STATEMENT);
        DECIDING_PACE(DECIDING_SETTING, NEXT_STATEMENT);
    } caps;
    struct {
        int64_t quota_guess, share;
    } budget;
    struct {
        bool notify_below;
        int64_t say_again, say_again_most, say_most;
        struct str quiet_hours;
        DECIDING_PEOPLE(DECIDING_SETTING, NEXT_STATEMENT);
    } people;
    struct {
        struct str model;
    } planner;
    struct {
        struct texts allow_agents; /* POLICY-01; "*" alone: all */
        bool allow_cross_agent;
    } policy;
    struct {
        bool approve;        /* PLAN-33 */
        struct texts agents; /* PLAN-23 */
    } plans;
    struct {
        struct str dir, store;
    } storage;
    struct {
        int64_t host, lease, orphan_after;
        struct str name;
    } fleet;
    struct {
        struct str socket, listen, tls_cert, tls_key;
        struct texts hosts, origins;
        bool insecure;
    } server;
    struct {
        uint32_t format, level;
        struct str file;
        int64_t most;
    } log;
    struct {
        struct texts redact;
    } secrets;
    struct {
        int64_t bodies, records;
    } retention;
    struct {
        struct str model;
        bool skip_permissions;
        struct texts allowed_tools;
    } defaults;
    struct {
        struct str default_branch, path, setup, on_worktree_ready;
        struct texts hosts;
        int64_t disk_least, run_disk_most, check_caches, ports, port_first, keep;
    } repo;
    struct {
        bool auto_escalate, desktop;
        uint32_t tracker_kind; /* CHANNEL_GITEA and the kinds after it, minus CHANNEL_GITEA */
        struct str tracker_url, tracker_repo, tracker_token_path, webhook_url;
    } escalation;
    struct verify_setting verify;   /* of repo.path, and where an entry of [[repos]] has none */
    struct landing_setting landing; /* the same */
    struct {                        /* what a run can reach */
        uint32_t mode;              /* enum sandbox_mode */
        struct texts sees, writes;
        int64_t memory, cpu, cpu_time, processes,
            file_size; /* in this order: MiB, percent of a processor, per process, at once, MiB */
        struct str cgroup;
        bool checks, freeze, tools;
    } sandbox;
    struct { /* [[agents]], [[channels]] … */
        const struct agent_setting *agents;
        uint32_t agent_count;
        const struct channel *channels; /* those from escalation.*, then [[channels]] */
        uint32_t channel_count;
        const struct budget_setting *budgets;
        uint32_t budget_count;
        const struct price_setting *prices;
        uint32_t price_count;
        const struct repo_setting *repos;
        uint32_t repo_count;
        const struct account_setting *accounts;
        uint32_t account_count;
    } lists;
    struct {                                       /* where they come from, and who uses them */
        struct str file;                           /* empty: no file */
        struct origin_place origins[SETTING_ROOM]; /* by the row's position in SETTINGS */
        struct arena arena;                        /* for their texts */
        uint32_t holders; /* see engine/reload.h: freed when the last one releases it */
    } source;
};

/* ---- the rows ---- */

enum setting_type {
    SETTING_TEXT,   /* struct str */
    SETTING_NUMBER, /* int64_t */
    SETTING_REAL,   /* double */
    SETTING_FLAG,   /* bool */
    SETTING_SPAN,   /* int64_t, microseconds; written as "15m" */
    SETTING_CHOICE, /* uint32_t, with names */
    SETTING_TEXTS   /* struct texts */
};

enum {
    SETTING_POLICY =
        1, /* decisions depend on it: part of the policy, whose hash is on every record */
    SETTING_AT_START = 2, /* a reload does not change it */
    SETTING_HIDDEN = 4,   /* never shown */
    SETTING_PATH = 8,     /* a leading ~/ is the home folder */
    SETTING_PATTERN = 16, /* of a secret: see secret.h */
    SETTING_OWN = 32,     /* of one repository alone: an entry of [[repos]] does not inherit it */
    SETTING_WAS_FLAG =
        64 /* a choice; older files have false for its first value, true for its second */
};

struct setting {
    const char *name; /* section.key, as in the file */
    enum setting_type type;
    size_t offset;
    const char *fallback; /* the default, written as in the environment */
    double least, most;   /* of a number; of a span in microseconds */
    const struct names *names;
    int flags;
    const char *aliases; /* other names, separated by spaces; see setting_find() for the rest */
    const char *text;    /* for the manual */
    const char *(*wrong)(
        struct str
            text); /* for a text: what it has to be, if it is not valid; NULL: any text is valid */
};

extern const struct setting SETTINGS[];
extern const size_t SETTING_COUNT;
/* Settings that are refused, because nothing would read them; `text` names the part that is not built yet:
 * setting_absent.c */
extern const struct setting SETTING_ABSENT[], AGENT_ABSENT[];
extern const size_t SETTING_ABSENT_COUNT, AGENT_ABSENT_COUNT;

/* Lists of tables: [[agents]], [[channels]], [[budgets]], [[prices]], [[repos]], [[accounts]]. The offsets of their rows are relative to one
 * entry. */
enum {
    LIST_AGENTS,
    LIST_CHANNELS,
    LIST_BUDGETS,
    LIST_PRICES,
    LIST_REPOS,
    LIST_ACCOUNTS,
    SETTING_LISTS
};
struct setting_list {
    const char *name, *older; /* name in the file; name in older files */
    const char *one;          /* name of one entry, for people */
    const struct setting *rows;
    size_t count;
    size_t at, number; /* offsets of its entries and their count in struct settings */
    size_t size;       /* of one entry; its id comes first */
    uint32_t most;
    bool repeats; /* several entries may share the first setting, which otherwise names them */
};
extern const struct setting_list SETTING_LIST[SETTING_LISTS];

static inline uint32_t list_count(const struct settings *settings,
                                  const struct setting_list *list) {
    return *(const uint32_t *)(const void *)((const char *)settings + list->number);
}

static inline const void *list_entry(const struct settings *settings,
                                     const struct setting_list *list, uint32_t place) {
    must(place < list_count(settings, list));
    const char *entries = *(const char *const *)(const void *)((const char *)settings + list->at);
    return entries + place * list->size;
}

/* ---- names ---- */

/* A duration's key may end in _secs or Ms, and its value is then a plain number: CONFIG-05. */
enum span_unit { UNIT_WRITTEN, UNIT_MS, UNIT_SECONDS, UNIT_DAYS };

struct setting_found {
    const struct setting *row; /* NULL: not found */
    enum span_unit unit;
};

/* Finds a setting by its name, also in camelCase, and by its name in the older files of CONFIG-06 to CONFIG-08. */
struct setting_found setting_find(struct str path);
struct setting_found list_setting_find(const struct setting_list *list, struct str path);
bool setting_section_exists(struct str path);
/* A setting that is refused because its part is not built yet; list NULL: a setting outside of lists. NULL: it is not
 * such a setting. */
const struct setting *setting_absent(const struct setting_list *list, struct str path);

/* The name that was probably meant; NULL: none is close. */
const char *setting_nearest(struct str path);
struct str setting_section_nearest(struct str path); /* empty: none is close */
const char *list_setting_nearest(const struct setting_list *list, struct str path);

/* The name of its environment variable: OVERSEER_SERVER_LISTEN. */
enum { SETTING_ENV = 80 };
void setting_env(const char *name, char text[SETTING_ENV]);

/* ---- storing values ---- */

struct given { /* a value as written */
    enum setting_type type;
    struct str text;
    int64_t number;
    double real;
    bool flag;
    bool older; /* under another name than that of the row */
    struct texts texts;
};

/* `base` is struct settings, or an entry of a list. False: `why` says what is wrong with the value, as the second half
 * of a sentence ("has to be …"). */
bool setting_put(void *base, const struct setting *row, const struct given *given,
                 enum span_unit unit, struct arena *arena, char *why, size_t why_size);

/* The same from one text, as in the environment and flags. Lists: one entry per line, or separated by commas. */
bool setting_put_text(void *base, const struct setting *row, struct str text, enum span_unit unit,
                      struct arena *arena, char *why, size_t why_size);

/* Sets all defaults. */
void settings_default(struct settings *settings);
void list_entry_default(const struct setting_list *list, void *entry, struct arena *arena);

/* ESCALATE-10: turns escalation.* into channels like the others, named desktop, tracker or webhook, unless one of that
 * name is declared. */
void settings_channels(struct settings *settings);
const struct channel *settings_channel(const struct settings *settings,
                                       struct str id); /* NULL: no channel has that name */

/* The repository of [repo], named after its folder; its path is empty: there is none. */
struct repo_setting settings_first_repository(const struct settings *settings);
/* By its key (repository_key(); 0: [repo]). False: there is none. Texts are those of the settings. */
bool settings_repository(const struct settings *settings, uint64_t key, struct repo_setting *ret);
/* Gives an entry of [[repos]] the value of [repo], [verify] or [landing] for a row that it does not have. */
void repository_inherit(const struct settings *settings, struct repo_setting *entry,
                        const struct setting *row, struct arena *arena);
/* The setting whose value a row of [[repos]] inherits; NULL: it inherits none. */
const struct setting *repository_inherits(const struct setting *row);
/* May the name of a repository contain this character? */
bool repository_name_has(char character);

/* The first contradiction between settings, as a sentence, or NULL. */
const char *settings_broken(const struct settings *settings);

/* ---- amounts, scopes, hours and authors ---- */

/* "$400", "$2.50", "5M tokens", "200 starts"; money in millionths. An empty text is no amount. */
bool amount_parse(struct str text, uint32_t *ret_unit, uint64_t *ret_amount);
uint64_t money_of(struct str text); /* 0: not money */
const char *amount_wrong(struct str text);
const char *money_wrong(struct str text);
const char *scope_wrong(struct str text);

/* "Ana Diaz <ana@example.org>", as git accepts it. */
bool author_parse(struct str text, struct str *ret_name, struct str *ret_address);
const char *author_wrong(struct str text);

/* "22:00-07:00", in UTC, or with an offset: "22:00-07:00 +02:00"; microseconds after midnight UTC. */
bool hours_parse(struct str text, int64_t *ret_from, int64_t *ret_to);
const char *hours_wrong(struct str text);

/* The policy that decisions see, without the hash. Texts and rows come from the arena. */
struct policy;
struct policy settings_to_policy(const struct settings *settings, struct arena *arena);

/* ---- showing values ---- */

/* The value as it would be written in the file. */
struct str setting_show(const void *base, const struct setting *row, struct arena *arena);
bool setting_equal(const void *a, const void *b, const struct setting *row);
void setting_copy(void *to, const void *from, const struct setting *row, struct arena *arena);
/* The same between two rows of one type. */
void setting_give(void *to, const struct setting *row, const void *from,
                  const struct setting *from_row, struct arena *arena);

static inline size_t setting_place(const struct setting *row) {
    must(row >= SETTINGS);
    return (size_t)(row - SETTINGS);
}

/* The policy as text: a line `name = value` for each setting that is part of it, in the order of the rows. */
struct str settings_policy(const struct settings *settings, struct arena *arena);
