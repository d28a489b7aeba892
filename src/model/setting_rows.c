/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings are there, and what are they until somebody sets them? CONFIG-01 to CONFIG-17. */
#include "model/setting.h"

static const char *const PRESET[PRESETS] = {"none", "high-stakes", "exploratory", "ci"};
const struct names PRESET_NAMES = NAMES_OF(PRESET);
static const char *const FORMAT[] = {"auto", "text", "json", "journal"};
const struct names LOG_FORMAT_NAMES = NAMES_OF(FORMAT);
static const char *const LEVEL[] = {"debug", "info", "warning", "error"};
const struct names LOG_LEVEL_NAMES = NAMES_OF(LEVEL);
static const char *const LANDING[LANDINGS] = {"pr", "merge", "branch"};
const struct names LANDING_NAMES = NAMES_OF(LANDING);
static const char *const TIER[COST_TIERS] = {"unknown", "free", "cheap", "medium", "expensive"};
const struct names COST_TIER_NAMES = NAMES_OF(TIER);
static const char *const ORIGIN[ORIGINS] = {"default", "preset", "file", "environment", "flag"};
const struct names ORIGIN_NAMES = NAMES_OF(ORIGIN);

#define AT(member) offsetof(struct settings, member)
#define TEXT(name, member, fallback, flags, aliases, text) \
    { name, SETTING_TEXT, AT(member), fallback, 0, LIMIT_SETTING, NULL, flags, aliases, text }
#define LIST(name, member, fallback, flags, aliases, text) \
    { name, SETTING_TEXTS, AT(member), fallback, 0, LIMIT_LINES, NULL, flags, aliases, text }
#define FLAG(name, member, fallback, flags, aliases, text) \
    { name, SETTING_FLAG, AT(member), fallback, 0, 0, NULL, flags, aliases, text }
#define NUMBER(name, member, fallback, least, most, flags, aliases, text) \
    { name, SETTING_NUMBER, AT(member), fallback, least, most, NULL, flags, aliases, text }
#define REAL(name, member, fallback, least, most, flags, aliases, text) \
    { name, SETTING_REAL, AT(member), fallback, least, most, NULL, flags, aliases, text }
#define SPAN(name, member, fallback, least, most, flags, aliases, text) \
    { \
        name, SETTING_SPAN, AT(member), fallback, (double)(least), (double)(most), NULL, flags, \
            aliases, text \
    }
#define CHOICE(name, member, fallback, names, flags, aliases, text) \
    { name, SETTING_CHOICE, AT(member), fallback, 0, 0, &names, flags, aliases, text }

#define HOURS(n) MINUTES((n)*60)
#define DAYS(n) HOURS((n)*24)

enum { P = SETTING_POLICY, START = SETTING_AT_START };

const struct setting SETTINGS[] = {
    CHOICE(
        "preset", preset, "none", PRESET_NAMES, P, "",
        "thresholds to begin with: high-stakes, exploratory or ci. What the file sets itself wins. See CHOOSING"),

    FLAG(
        "supervision.enabled", supervision.enabled, "false", P, "",
        "start agents, nudge and recover by itself. Until then Overseer observes, keeps plans and does what people ask for"),
    SPAN("supervision.tick_every", supervision.tick_every, "2m", SECONDS(1), HOURS(1), P, "",
         "between two looks at all work in hand; one to five minutes make sense"),
    SPAN("supervision.idle_after", supervision.idle_after, "15m", SECONDS(1), DAYS(7), P, "",
         "without a sign of progress, until work counts as stalled"),
    NUMBER("supervision.max_retries", supervision.max_retries, "2", 0, 100, P, "",
           "nudges and restarts of one piece of work before a person is asked"),
    SPAN("supervision.min_resend_interval", supervision.min_resend_interval, "5m", 0, DAYS(1), P,
         "", "between two messages to the same agent about the same work"),
    SPAN("supervision.backoff.base", supervision.backoff_base, "2m", MILLISECONDS(100), DAYS(1), P,
         "backoff.base", "before the first retry; it doubles with each"),
    SPAN("supervision.backoff.max", supervision.backoff_max, "30m", MILLISECONDS(100), DAYS(7), P,
         "backoff.max", "and is never longer than this"),
    SPAN("supervision.act_within", supervision.act_within, "1h", MILLISECONDS(100), DAYS(365), P,
         "", "until a command that has not ended counts as unconfirmed"),
    SPAN("supervision.patrol_interval", supervision.patrol_interval, "1m", SECONDS(1), HOURS(1), P,
         "auto.patrol_interval defaults.patrol_interval",
         "between two looks at the sessions of automatic workers"),

    TEXT("planner.model", planner.model, "", P, "", "which model makes plans; empty: none"),
    NUMBER("planner.max_plan_phases", planner.max_plan_phases, "5", 1, LIMIT_PLANNED_PHASES, P, "",
           "phases in one plan of the planner's"),
    NUMBER("planner.max_tasks_per_phase", planner.max_tasks_per_phase, "7", 1, LIMIT_PLANNED_TASKS,
           P, "", "tasks in one of its phases"),
    NUMBER("planner.max_subtasks_per_task", planner.max_subtasks_per_task, "7", 1,
           LIMIT_PLANNED_SUBTASKS, P, "", "subtasks in one of its tasks"),
    NUMBER("planner.max_repair_attempts", planner.max_repair_attempts, "2", 0, 10, P, "",
           "times that a plan which breaks the rules is sent back to it"),

    LIST("policy.allow_agents", policy.allow_agents, "main", P, "",
         "agents that may be supervised; [\"*\"] means all of them. See ALLOWING AGENTS"),
    FLAG("policy.allow_cross_agent", policy.allow_cross_agent, "false", P, "",
         "supervise agents beyond the goal's own, if they are allowed above"),
    FLAG("plans.approve", plans.approve, "false", P, "approve_plans",
         "what the overseer plans waits for a person"),
    LIST("plans.agents", plans.agents, "", P, "plan_agents",
         "agents that may apply plans themselves"),

    TEXT("storage.dir", storage.dir, "", START | SETTING_PATH, "",
         "the folder of everything that Overseer keeps; empty: $XDG_STATE_HOME/overseer"),
    TEXT("storage.store", storage.store, "", START, "store",
         "sqlite:PATH or postgresql://USER@HOST/DATABASE; empty: sqlite:DIR/overseer.db"),
    NUMBER("fleet.host", fleet.host, "1", 1, 2147483646, START, "host",
           "this host's number in a shared store (PostgreSQL)"),
    SPAN("fleet.lease", fleet.lease, "10s", MILLISECONDS(100), DAYS(365), START, "lease",
         "how long a silent host keeps its goals (PostgreSQL)"),

    TEXT("server.socket", server.socket, "", START | SETTING_PATH, "socket",
         "where the command line finds the daemon; empty: DIR/overseer.sock"),
    TEXT("server.listen", server.listen, "", START, "",
         "ADDRESS:PORT to listen on as well, for callers with a token; empty: only the socket"),
    LIST("server.hosts", server.hosts, "", START, "",
         "names that callers may know this server by, beside the address itself and localhost"),
    LIST("server.origins", server.origins, "", START, "",
         "origins of web pages that may call, such as https://overseer.example"),
    TEXT("server.tls_cert", server.tls_cert, "", START | SETTING_PATH, "",
         "file with the certificate chain for server.listen"),
    TEXT("server.tls_key", server.tls_key, "", START | SETTING_PATH, "",
         "file with its private key"),
    FLAG("server.insecure", server.insecure, "false", START, "",
         "listen beyond this machine without TLS all the same, behind a proxy that has it"),

    CHOICE(
        "log.format", log.format, "auto", LOG_FORMAT_NAMES, START, "",
        "text for people, json with one object in a line, journal for systemd; auto: what fits where it goes"),
    TEXT("log.file", log.file, "", START | SETTING_PATH, "",
         "written to instead of standard error, and opened anew at a reload"),
    CHOICE("log.level", log.level, "info", LOG_LEVEL_NAMES, 0, "",
           "the least important that is written"),
    LIST(
        "secrets.redact", secrets.redact, "", START | SETTING_PATTERN, "redact",
        "patterns of secrets of your own, taken out of everything that is kept (docs/redaction.md)"),
    SPAN("retention.bodies", retention.bodies, "30d", DAYS(1), DAYS(36500), START, "retain_bodies",
         "how long the evidence of closed goals is kept, in whole days"),
    SPAN("retention.records", retention.records, "180d", DAYS(1), DAYS(36500), START,
         "retain_records", "how long records are kept, in whole days; milestones stay"),

    FLAG("auto.enabled", automatic.enabled, "false", P, "",
         "take tasks from the pool by itself (overseer up --auto)"),
    TEXT("auto.task_pool_command", automatic.task_pool_command, "", P, "",
         "prints the next task; nothing: there is none now. Only the operator can set it"),
    NUMBER("auto.concurrency", automatic.concurrency, "1", 1, 1024, P, "",
           "automatic workers at once"),
    TEXT("auto.post_accept_command", automatic.post_accept_command, "", P, "",
         "run after work has landed; it fails: nothing more lands. Only the operator can set it"),
    TEXT("defaults.model", defaults.model, "", P, "auto.model", "model of agents that name none"),
    FLAG("defaults.skip_permissions", defaults.skip_permissions, "false", P,
         "auto.skip_permissions", "agents do not ask before they use a tool"),
    LIST("defaults.allowed_tools", defaults.allowed_tools, "", P, "auto.allowed_tools",
         "tools that agents may use without asking"),
    TEXT("repo.default_branch", repo.default_branch, "main", P, "",
         "the branch that work lands on"),

    TEXT(
        "watch.remediation_prompt", watch.remediation_prompt, "", 0, "",
        "what to tell the agent that mends a daemon which does not come up; the second level needs it"),
    SPAN("watch.heartbeat_timeout", watch.heartbeat_timeout, "30s", SECONDS(1), DAYS(1), 0, "",
         "without a heartbeat, until the daemon counts as gone"),
    SPAN("watch.stall_timeout", watch.stall_timeout, "1h", SECONDS(1), DAYS(30), 0, "",
         "without a task that ends, until it counts as stalled"),
    SPAN("watch.restart_cooldown", watch.restart_cooldown, "60s", SECONDS(1), DAYS(1), 0, "",
         "how long it has to be well until a restart no longer counts as part of a spiral"),

    NUMBER("stuck.same_error_count", stuck.same_error_count, "3", 1, 1000, P, "",
           "the same error this often: stuck"),
    NUMBER("stuck.no_progress_iterations", stuck.no_progress_iterations, "5", 1, 1000, P, "",
           "iterations without progress: stuck"),
    NUMBER("oscillation.undo_redo_cycles", oscillation.undo_redo_cycles, "2", 1, 1000, P, "",
           "times that a change was undone and done again: oscillating"),
    REAL("oscillation.file_churn_threshold", oscillation.file_churn_threshold, "0.8", 0, 1, P, "",
         "share of changed files that went back to what they were: oscillating"),
    REAL("deviation.objective_similarity", deviation.objective_similarity, "0.5", 0, 1, P, "",
         "below this likeness to the objective: deviating"),
    REAL("deviation.scope_creep_ratio", deviation.scope_creep_ratio, "1.5", 1, 100, P, "",
         "work in proportion to what was planned: creeping"),
    REAL("resource.cost_multiplier", resource.cost_multiplier, "2.0", 1, 100, P, "",
         "cost in proportion to the budget: burning"),
    REAL("resource.iteration_multiplier", resource.iteration_multiplier, "2.0", 1, 100, P, "",
         "iterations in proportion to those expected: burning"),
    FLAG("regression.test_pass_to_fail", regression.test_pass_to_fail, "true", P, "",
         "a test that passed and fails now is a regression"),
    REAL("regression.coverage_drop_percent", regression.coverage_drop_percent, "10", 0, 100, P, "",
         "coverage lost, in percent: a regression"),
    FLAG("regression.abort", regression.abort, "false", P, "", "any regression ends the attempt"),

    FLAG("escalation.auto_escalate", escalation.auto_escalate, "true", P,
         "auto_escalate overseer.auto_escalate",
         "tell a person of every pause and abort; otherwise only of an abort"),
    FLAG("escalation.desktop", escalation.desktop, "true", 0, "escalation.enable_notifications",
         "notes on the desktop"),
    TEXT("escalation.tracker.url", escalation.tracker_url, "", 0, "escalation.gitea_url",
         "address of an issue tracker's API"),
    TEXT("escalation.tracker.repo", escalation.tracker_repo, "", 0, "escalation.repo",
         "OWNER/REPOSITORY there"),
    TEXT("escalation.tracker.token_path", escalation.tracker_token_path, "", SETTING_PATH,
         "escalation.gitea_token_path", "file with a token for it"),
    TEXT("escalation.webhook_url", escalation.webhook_url, "", SETTING_HIDDEN, "",
         "called with JSON about every alert"),

    TEXT("verify.command", verify.command, "", P, "verify",
         "checks work on its exact commit, in a clean checkout; empty: work stays unverified"),
    CHOICE(
        "landing.how", landing.how, "pr", LANDING_NAMES, P, "land",
        "pr: a pull request where the remote is a forge, a branch otherwise; merge: fast-forward; branch: only a branch"),
    FLAG("landing.strip_attribution", landing.strip_attribution, "false", P, "strip_attribution",
         "take lines that name an agent as author out of commit messages"),
};
const size_t SETTING_COUNT = count_of(SETTINGS);
_Static_assert(count_of(SETTINGS) <= SETTING_ROOM, "an origin for each");

#undef AT
#define AT(member) offsetof(struct agent_setting, member)
const struct setting AGENT_SETTINGS[] = {
    TEXT("id", id, "", P, "", "its name; each one once"),
    TEXT("model", model, "", P, "", "its model; empty: defaults.model"),
    TEXT("description", description, "", 0, "", "what it is good for, in a line"),
    LIST("capabilities", capabilities, "", P, "capabilities.tags", "words that work can ask for"),
    CHOICE("cost_tier", cost_tier, "unknown", COST_TIER_NAMES, P, "capabilities.cost_tier",
           "free, cheap, medium or expensive"),
    SPAN("typical_latency", typical_latency, "0s", 0, DAYS(1), P, "capabilities.typical_latency",
         "how long an answer usually takes"),
    TEXT("notes", notes, "", 0, "capabilities.notes", "what else there is to know"),
    LIST("tools", tools, "", P, "", "tools that it may use; none: defaults.allowed_tools"),
    NUMBER("max_children", max_children, "0", 0, 1000, P,
           "max_children_per_agent subagents.max_children_per_agent",
           "agents that it may start itself"),
};
const size_t AGENT_SETTING_COUNT = count_of(AGENT_SETTINGS);

const struct preset_row PRESET_ROWS[] = {
    {PRESET_HIGH_STAKES, "stuck.same_error_count", "2"},
    {PRESET_HIGH_STAKES, "stuck.no_progress_iterations", "3"},
    {PRESET_HIGH_STAKES, "resource.cost_multiplier", "1.5"},
    {PRESET_HIGH_STAKES, "resource.iteration_multiplier", "1.5"},
    {PRESET_HIGH_STAKES, "regression.coverage_drop_percent", "5"},
    {PRESET_HIGH_STAKES, "escalation.auto_escalate", "true"},
    {PRESET_EXPLORATORY, "stuck.same_error_count", "5"},
    {PRESET_EXPLORATORY, "stuck.no_progress_iterations", "8"},
    {PRESET_EXPLORATORY, "resource.cost_multiplier", "3.0"},
    {PRESET_EXPLORATORY, "resource.iteration_multiplier", "3.0"},
    {PRESET_EXPLORATORY, "deviation.objective_similarity", "0.3"},
    {PRESET_EXPLORATORY, "escalation.auto_escalate", "false"},
    {PRESET_CI, "stuck.same_error_count", "3"},
    {PRESET_CI, "stuck.no_progress_iterations", "3"},
    {PRESET_CI, "regression.coverage_drop_percent", "1"},
    {PRESET_CI, "regression.abort", "true"},
    {PRESET_CI, "escalation.auto_escalate", "true"},
};
const size_t PRESET_ROW_COUNT = count_of(PRESET_ROWS);
