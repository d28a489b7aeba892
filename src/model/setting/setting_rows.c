/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all settings and their defaults. CONFIG-01 to CONFIG-17. */
#include "model/assignment.h"
#include "model/setting/setting.h"

static const char *const FORMAT[] = {"auto", "text", "json", "journal"};
const struct names LOG_FORMAT_NAMES = NAMES_OF(FORMAT);
static const char *const LEVEL[] = {"debug", "info", "warning", "error"};
const struct names LOG_LEVEL_NAMES = NAMES_OF(LEVEL);
static const char *const LANDING[LANDINGS] = {"pr", "merge", "branch", "rebase", "squash", "none"};
const struct names LANDING_NAMES = NAMES_OF(LANDING);
static const char *const SANDBOX[SANDBOX_MODES] = {"prefer", "require", "off"};
static const struct names SANDBOX_NAMES = NAMES_OF(SANDBOX);
static const char *const NETWORK[NETWORK_KINDS] = {"all", "loopback", "none"};
static const struct names NETWORK_NAMES = NAMES_OF(NETWORK);
static const char *const CHECK_NETWORK[CHECK_NETWORK_KINDS] = {"agent", "all", "loopback", "none"};
static const struct names CHECK_NETWORK_NAMES = NAMES_OF(CHECK_NETWORK);
static const char *const TRACKER[] = {"gitea", "github",
                                      "gitlab"}; /* in the order of enum channel_kind */
static const struct names TRACKER_NAMES = NAMES_OF(TRACKER);
static const char *const ORIGIN[ORIGINS] = {"default", "file", "environment", "flag"};
const struct names ORIGIN_NAMES = NAMES_OF(ORIGIN);

#define AT(member) offsetof(struct settings, member)
#define TEXT(name, member, fallback, flags, aliases, text) \
    { name, SETTING_TEXT, AT(member), fallback, 0, LIMIT_SETTING, NULL, flags, aliases, text, NULL }
#define LIST(name, member, fallback, flags, aliases, text) \
    { name, SETTING_TEXTS, AT(member), fallback, 0, LIMIT_LINES, NULL, flags, aliases, text, NULL }
#define FLAG(name, member, fallback, flags, aliases, text) \
    { name, SETTING_FLAG, AT(member), fallback, 0, 0, NULL, flags, aliases, text, NULL }
#define NUMBER(name, member, fallback, least, most, flags, aliases, text) \
    { name, SETTING_NUMBER, AT(member), fallback, least, most, NULL, flags, aliases, text, NULL }
#define REAL(name, member, fallback, least, most, flags, aliases, text) \
    { name, SETTING_REAL, AT(member), fallback, least, most, NULL, flags, aliases, text, NULL }
#define SPAN(name, member, fallback, least, most, flags, aliases, text) \
    { \
        name, SETTING_SPAN, AT(member), fallback, (double)(least), (double)(most), NULL, flags, \
            aliases, text, NULL \
    }
#define CHOICE(name, member, fallback, names, flags, aliases, text) \
    { name, SETTING_CHOICE, AT(member), fallback, 0, 0, &names, flags, aliases, text, NULL }

#define CHECKED(name, member, flags, aliases, wrong, text) \
    { name, SETTING_TEXT, AT(member), "", 0, LIMIT_SETTING, NULL, flags, aliases, text, wrong }

#define HOURS(n) MINUTES((n)*60)
#define DAYS(n) HOURS((n)*24)

/* A row of deciding.h. */
#define DECIDES_FLAG(name, member, fallback, least, most, text) \
    FLAG(name, member, fallback, P, "", text)
#define DECIDES_NUMBER(name, member, fallback, least, most, text) \
    NUMBER(name, member, fallback, least, most, P, "", text)
#define DECIDES_SPAN(name, member, fallback, least, most, text) \
    SPAN(name, member, fallback, least, most, P, "", text)
#define DECIDES(part, section, kind, key, member, number, fallback, least, most, text) \
    DECIDES_##kind(#section "." #key, section.key, fallback, least, most, text)

enum { P = SETTING_POLICY, START = SETTING_AT_START };

const struct setting SETTINGS[] = {

    FLAG(
        "supervision.enabled", supervision.enabled, "false", P, "",
        "start agents, nudge and recover by itself. Until then Overseer observes, keeps plans and does what people ask for"),
    SPAN("supervision.tick_every", supervision.tick_every, "2m", SECONDS(1), HOURS(1), P, "",
         "between two looks at all work in hand; one to five minutes make sense"),
    SPAN("supervision.idle_after", supervision.idle_after, "15m", SECONDS(1), DAYS(7), P, "",
         "without a sign of progress, until work counts as stalled"),
    NUMBER("supervision.max_retries", supervision.max_retries, "2", 0, 100, P, "",
           "nudges and restarts of one piece of work before a person is asked. See CHOOSING"),
    SPAN("supervision.min_resend_interval", supervision.min_resend_interval, "5m", 0, DAYS(1), P,
         "", "between two messages to the same agent about the same work"),
    SPAN("supervision.backoff.base", supervision.backoff_base, "2m", MILLISECONDS(100), DAYS(1), P,
         "backoff.base", "before the first retry; it doubles with each"),
    SPAN("supervision.backoff.max", supervision.backoff_max, "30m", MILLISECONDS(100), DAYS(7), P,
         "backoff.max", "and is never longer than this"),
    SPAN("supervision.act_within", supervision.act_within, "1h", MILLISECONDS(100), DAYS(365), P,
         "", "until a command that has not ended counts as unconfirmed"),
    DECIDING_LIVENESS(DECIDES, NEXT_ROW),
    CHOICE("supervision.first_rung", supervision.first_rung, "nudge", RUNG_NAMES, P, "",
           "what is tried first for stalled work"),
    NUMBER("supervision.max_attempts", supervision.max_attempts, "12", 1, 1000, P, "",
           "messages about one piece of work, to all agents together, before a person is asked"),
    DECIDING_RECOVERY(DECIDES, NEXT_ROW),
    FLAG("supervision.allow_reassign", supervision.allow_reassign, "true", P, "",
         "stalled work may be given to another agent"),
    FLAG("supervision.verify_by_person", supervision.verify_by_person, "false", P, "",
         "what an agent calls done waits for a person"),
    DECIDING_DISPATCH(DECIDES, NEXT_ROW),
    DECIDING_PACE(DECIDES, NEXT_ROW),

    SPAN(
        "budget.quota_guess", budget.quota_guess, "15m", SECONDS(1), DAYS(1), P, "",
        "how long an account rests that is at its limit and did not say until when; it doubles each time"),
    NUMBER("budget.share", budget.share, "100", 1, 100, P, "",
           "percent of each budget that is this host's; those of all hosts together should be 100"),

    FLAG("people.notify_below", people.notify_below, "false", P, "",
         "tell people of little things too"),
    SPAN("people.say_again", people.say_again, "30m", MINUTES(1), DAYS(7), P, "",
         "an unanswered question is said again after this; then the pause doubles"),
    SPAN("people.say_again_most", people.say_again_most, "8h", MINUTES(1), DAYS(30), P, "",
         "and is never longer than this"),
    NUMBER("people.say_most", people.say_most, "6", 0, 1000, P, "",
           "times that one question is said; 0: until it is answered"),
    CHECKED(
        "people.quiet_hours", people.quiet_hours, P, "", hours_wrong,
        "only emergencies are said then: \"22:00-07:00\" in UTC, or with an offset, \"22:00-07:00 +02:00\"; empty: none"),
    DECIDING_PEOPLE(DECIDES, NEXT_ROW),
    TEXT("planner.model", planner.model, "", P, "", "which model makes plans; empty: none"),

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
    NUMBER(
        "fleet.host", fleet.host, "0", 0, 2147483646, START, "host",
        "this host's number in a shared store (PostgreSQL); 0: the one that it had before, or the "
        "lowest free one. A number belongs to the machine and state folder that claimed it"),
    TEXT("fleet.name", fleet.name, "", START, "",
         "what people call this host; empty: the name of the machine"),
    SPAN("fleet.lease", fleet.lease, "10s", MILLISECONDS(100), DAYS(365), START, "lease",
         "how long a silent host keeps its goals (PostgreSQL)"),
    SPAN("fleet.orphan_after", fleet.orphan_after, "15m", SECONDS(1), DAYS(30), P, "",
         "when the lease of a host has ended, its agents are frozen after this time; other hosts "
         "wait for that before they start its tasks again (PostgreSQL)"),

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
    NUMBER(
        "log.most", log.most, "64", 0, 1e6, START, "",
        "megabytes of log.file: then it is moved to FILE.1, whose lines are dropped, and a new one is begun; 0: any"),
    CHOICE("log.level", log.level, "info", LOG_LEVEL_NAMES, 0, "",
           "the least important that is written"),
    LIST(
        "secrets.redact", secrets.redact, "", START | SETTING_PATTERN, "redact",
        "patterns of secrets of your own, taken out of everything that is kept (docs/redaction.md)"),
    SPAN("retention.bodies", retention.bodies, "30d", DAYS(1), DAYS(36500), START, "retain_bodies",
         "how long the evidence of closed goals is kept, in whole days"),
    SPAN("retention.records", retention.records, "180d", DAYS(1), DAYS(36500), START,
         "retain_records", "how long records are kept, in whole days; milestones stay"),

    TEXT("defaults.model", defaults.model, "", P, "auto.model", "model of agents that name none"),
    FLAG("defaults.skip_permissions", defaults.skip_permissions, "false", P,
         "auto.skip_permissions", "agents do not ask before they use a tool"),
    LIST("defaults.allowed_tools", defaults.allowed_tools, "", P, "auto.allowed_tools",
         "tools that agents may use without asking"),
    TEXT(
        "repo.path", repo.path, "", P, "",
        "the repository that work is done in: a folder of this host, or an address that git knows; empty: work has none"),
    TEXT("repo.setup", repo.setup, "", P, "",
         "run once in each new worktree. Only the operator can set it"),
    TEXT(
        "repo.on_worktree_ready", repo.on_worktree_ready, "", 0, "on_worktree_ready",
        "run after that, held as checks are: it finds OVERSEER_WORKTREE, OVERSEER_WORKER, OVERSEER_SESSION and OVERSEER_PORT. It fails: no agent begins there. Only the operator can set it"),
    NUMBER("repo.ports", repo.ports, "0", 0, 1000, 0, "",
           "ports in a row for each worktree, of which OVERSEER_PORT is the first; 0: none"),
    NUMBER("repo.port_first", repo.port_first, "21000", 1024, 65535, 0, "",
           "where those blocks begin"),
    SPAN(
        "repo.keep", repo.keep, "7d", 0, DAYS(3650), 0, "",
        "how long worktrees, homes and logs of work that is over stay; what is in no commit is salvaged first. When the disk is short they go at once; 0s: they stay"),
    NUMBER(
        "repo.disk_least", repo.disk_least, "1024", 0, 1e9, 0, "",
        "megabytes that stay free: below that no work begins, and the run that grows most is frozen until a person answers"),
    NUMBER(
        "repo.run_disk_most", repo.run_disk_most, "20480", 0, 1e9, 0, "",
        "megabytes that one run may have in its worktree, its home and its output; with more it is frozen, and a person is asked; 0: any"),
    TEXT("repo.default_branch", repo.default_branch, "main", P, "",
         "the branch that work lands on"),

    FLAG("escalation.auto_escalate", escalation.auto_escalate, "true", P,
         "auto_escalate overseer.auto_escalate",
         "tell a person of every pause and abort; otherwise only of an abort"),
    FLAG("escalation.desktop", escalation.desktop, "true", 0, "escalation.enable_notifications",
         "notes on the desktop"),
    CHOICE("escalation.tracker.kind", escalation.tracker_kind, "gitea", TRACKER_NAMES, 0, "",
           "what speaks there; gitea is also Forgejo"),
    TEXT("escalation.tracker.url", escalation.tracker_url, "", 0, "escalation.gitea_url",
         "address of an issue tracker's API"),
    TEXT("escalation.tracker.repo", escalation.tracker_repo, "", 0, "escalation.repo",
         "OWNER/REPOSITORY there"),
    TEXT("escalation.tracker.token_path", escalation.tracker_token_path, "", SETTING_PATH,
         "escalation.gitea_token_path", "file with a token for it"),
    TEXT("escalation.webhook_url", escalation.webhook_url, "", SETTING_HIDDEN, "",
         "called with JSON about every alert"),

    TEXT(
        "verify.command", verify.command, "", P, "verify",
        "checks work on its exact commit, in a clean checkout, after the artifacts that its node names; empty: only those are checked, and work without them stays unverified"),
    SPAN("verify.within", verify.within, "30m", SECONDS(1), DAYS(1), P, "",
         "how long the checks may take, artifacts and command together"),
    NUMBER("verify.rounds", verify.rounds, "3", 0, 100, P, "",
           "how often work may fail its checks, or not fit, before a person is asked"),
    LIST(
        "verify.protect", verify.protect,
        "test/,tests/,spec/,__tests__/,*_test.*,*.test.*,*_spec.*,*.spec.*,test_*", 0, "",
        "tests: folders (ending in /), names or paths of files. Work that changes or deletes one is checked with the target's version of it, too; if it passes only with its own, a person is asked"),
    LIST(
        "verify.rules", verify.rules,
        ".github/,.gitlab/,.gitlab-ci.yml,.circleci/,.gitea/,.forgejo/,.woodpecker/,Jenkinsfile", 0,
        "",
        "CI: the same. Work that changes one of these, or a script that verify.command runs, lands only if a person agrees"),
    CHOICE(
        "verify.network", verify.network, "agent", CHECK_NETWORK_NAMES, 0, "",
        "what verify.command, repo.setup and repo.on_worktree_ready reach: agent (what the agent reaches whose work it is), all, loopback or none; other than all needs bubblewrap"),
    CHOICE(
        "landing.how", landing.how, "pr", LANDING_NAMES, P, "land",
        "pr: a pull request at landing.forge, and without one a branch; merge, rebase: its commits on top of the target; squash: one commit there; branch: only a branch; none: it stays in its worktree"),
    TEXT(
        "landing.forge", landing.forge, "", 0, "",
        "pr: the channel of kind gitea, github or gitlab where it is opened; its token has to be allowed to"),
    TEXT(
        "landing.remote", landing.remote, "", 0, "",
        "pr: the repository there, as git knows it, that the branch is pushed to; empty: repo.path"),
    NUMBER(
        "landing.rechecks", landing.rechecks, "5", 0, 100, P, "",
        "how often work is built and checked again because its target moved before it landed; then a person is asked"),
    FLAG(
        "landing.hooks", landing.hooks, "false", 0, "",
        "a landing into a repository on this machine runs the hooks that it has (pre-receive, update, post-receive and so on)"),

    CHOICE(
        "sandbox.mode", sandbox.mode, "prefer", SANDBOX_NAMES, 0, "sandbox",
        "what holds a run: prefer takes the best that the machine has, require starts none without bubblewrap, off holds none"),
    LIST(
        "sandbox.sees", sandbox.sees, "", 0, "",
        "files and folders of your HOME, or of another hidden place, that runs may read, such as ~/.rustup"),
    LIST("sandbox.writes", sandbox.writes, "", 0, "",
         "files and folders that runs may write beside their worktree and their HOME"),
    NUMBER(
        "sandbox.memory", sandbox.memory, "16384", 0, 1e9, 0, "",
        "megabytes of memory for a run, of each process where no control group holds it; 0: no limit"),
    NUMBER("sandbox.cpu", sandbox.cpu, "0", 0, 1e6, 0, "",
           "percent of one processor for a run, where a control group holds it; 0: no limit"),
    SPAN("sandbox.cpu_time", sandbox.cpu_time, "0s", 0, DAYS(30), 0, "",
         "processor time for each process of a run; 0s: no limit"),
    NUMBER("sandbox.file_size", sandbox.file_size, "16384", 0, 1e9, 0, "",
           "megabytes of each file that a run or a check writes; 0: no limit"),
    NUMBER("sandbox.processes", sandbox.processes, "4096", 0, 1e6, 0, "",
           "processes of a run at once, where a control group or bubblewrap holds it; 0: no limit"),
    TEXT(
        "sandbox.cgroup", sandbox.cgroup, "", START, "",
        "control group (cgroup v2) in which those of runs are made; empty: the one that is delegated to the daemon"),
    FLAG(
        "sandbox.checks", sandbox.checks, "true", 0, "",
        "repo.setup, repo.on_worktree_ready and verify.command run what agents wrote, so they are held as they are"),
    FLAG("sandbox.freeze", sandbox.freeze, "true", 0, "",
         "an agent stands still while its worktree is measured, so that one state of it is"),
};
const size_t SETTING_COUNT = count_of(SETTINGS);
_Static_assert(count_of(SETTINGS) <= SETTING_ROOM, "an origin for each");

#undef AT
#define AT(member) offsetof(struct agent_setting, member)
static const struct setting AGENT_SETTINGS[] = {
    TEXT("id", id, "", P, "", "its name; each one once"),
    TEXT("model", model, "", P, "", "its model; empty: defaults.model"),
    LIST("tools", tools, "", P, "", "tools that it may use; none: defaults.allowed_tools"),
    TEXT("role", role, "", P, "", "what it is for: coder, reviewer, fixer"),
    TEXT("account", account, "", P, "",
         "whose quota with a provider it uses; empty: one of its own"),
    TEXT("team", team, "", P, "", "who pays for it"),
    NUMBER("most", most, "0", 0, LIMIT_PERMITS, P, "", "of it at once on one host; 0: no cap"),
    CHECKED(
        "reserve", reserve, P, "", money_wrong,
        "what one attempt may cost, such as \"$2.50\": reserved in the budgets before it begins"),
    NUMBER("reserve_tokens", reserve_tokens, "0", 0, 1e15, P, "", "the same in tokens"),
    FLAG("dedupes", dedupes, "false", P, "", "it drops a message that it has seen before"),
    TEXT(
        "driver", driver, "", 0, "",
        "how it is driven: acp, claude, tmux, openclaw, command (a program of yours: docs/agents.md), or pretend; empty: as its kind usually is"),
    TEXT(
        "kind", kind, "", P, "",
        "which program it is: claude, codex, opencode, gemini, goose, qwen, openclaw; empty: as its name says"),
    TEXT("program", program, "", P, "", "its program; empty: the one of that name in PATH"),
    LIST("args", args, "", P, "", "arguments in front of those that the driver adds"),
    TEXT("base_url", base_url, "", P, "",
         "where its model is, of openclaw its gateway; empty: its own choice"),
    TEXT("thinking", thinking, "", P, "", "how hard it thinks, in the agent's own words"),
    LIST("deny", deny, "", P, "", "tools that it may not use, in the agent's own names"),
    FLAG("asks", asks, "true", P, "",
         "it asks before it uses a tool that it was not allowed by name; a person answers"),
    FLAG(
        "mcp_http", mcp_http, "false", 0, "",
        "it reaches Overseer's tools over HTTP at server.listen, and not through a program of ours"),
    LIST(
        "keys", keys, "", 0, "",
        "variables of the daemon's environment that it needs, such as ANTHROPIC_API_KEY; no other reaches it"),
    LIST(
        "share", share, "", 0, "",
        "files of the operator's HOME that it finds in its own: a copy, without refresh tokens; a folder is read only, and none with a login in it; none: the login of its kind"),
    TEXT(
        "token_file", token_file, "", SETTING_PATH, "",
        "file with a long-lived token for its runs, mode 0600; they get no copy of your login then"),
    TEXT(
        "token_env", token_env, "", 0, "",
        "variable in which it takes that token; empty: as its kind has it, such as CLAUDE_CODE_OAUTH_TOKEN"),
    CHOICE(
        "network", network, "all", NETWORK_NAMES, 0, "",
        "what its runs reach: all, loopback (one of their own, with nobody else on it) or none; other than all needs bubblewrap"),
    NUMBER("memory", memory, "0", 0, 1e9, 0, "",
           "megabytes of memory for a run of it; 0: sandbox.memory"),
    NUMBER("cpu", cpu, "0", 0, 1e6, 0, "",
           "percent of one processor for a run of it; 0: sandbox.cpu"),
    NUMBER("processes", processes, "0", 0, 1e6, 0, "",
           "processes of a run of it at once; 0: sandbox.processes"),
    TEXT("behaviour", behaviour, "works", 0, "", "of a pretend agent: how it behaves"),
    NUMBER("pace", pace, "1", 1, 100000, 0, "",
           "of a pretend agent: how many times as fast its time goes"),
    NUMBER("stretches", stretches, "0", 0, 1000, 0, "",
           "of a pretend agent: how much there is to do; 0: as it comes"),
};

#undef AT
#define AT(member) offsetof(struct channel, member)
static const struct setting CHANNEL_SETTINGS[] = {
    TEXT("id", id, "", P, "", "its name; each one once"),
    CHOICE("kind", kind, "webhook", CHANNEL_KIND_NAMES, P, "type", "which service it speaks to"),
    TEXT(
        "url", url, "", SETTING_HIDDEN, "",
        "address of the service's API, or of the hook itself; github, gitlab and pagerduty have one of their own"),
    TEXT("repo", repo, "", 0, "", "tracker: OWNER/REPOSITORY"),
    TEXT("to", to, "", 0, "", "tracker: the account that issues are assigned to; ntfy: the topic"),
    TEXT("command", command, "", 0, "",
         "command: run by /bin/sh with the notice as JSON on its standard input"),
    TEXT(
        "token_path", token_path, "", SETTING_PATH, "",
        "file with the token, read each time; slack and discord: with the address, which is the secret there"),
    TEXT("secret_path", secret_path, "", SETTING_PATH, "",
         "webhook: file with the secret that bodies are signed with"),
    TEXT("ca_path", ca_path, "", SETTING_PATH, "",
         "file with certificates to trust instead of the system's"),
    TEXT("proxy", proxy, "", SETTING_HIDDEN, "",
         "address of a proxy; empty: none, whatever the environment says"),
    LIST("labels", labels, "", 0, "", "tracker: labels beside overseer, the level and automated"),
    CHOICE(
        "least", least, "usual", LEAST_NAMES, P, "level",
        "the least urgent that it is told of; usual: desktop all, trackers critical, the others emergency"),
    FLAG("quiet", quiet, "true", P, "", "quiet hours count here"),
    LIST(
        "origins", origins, "", P, "",
        "contexts whose goals it may hear of beside its own and those of this machine; [\"*\"] means all"),
    FLAG("insecure", insecure, "false", 0, "", "plain HTTP, also beyond this machine"),
    SPAN("within", within, "20s", MILLISECONDS(100), MINUTES(5), 0, "timeout",
         "how long one try may take"),
};

#undef AT
#define AT(member) offsetof(struct budget_setting, member)
static const struct setting BUDGET_SETTINGS[] = {
    CHECKED(
        "scope", scope, P, "", scope_wrong,
        "whom it counts: fleet, day, goal, or agent, team, account, model, each with or without a name, such as team/web"),
    CHECKED("most", most, P, "", amount_wrong,
            "how much there is: \"$400\", \"5M tokens\", \"200 starts\""),
    SPAN(
        "window", window, "0s", 0, DAYS(3650), P, "",
        "in which time, such as \"5h\", \"1d\", \"7d\"; 0s: for ever, of a day one day. It begins anew at midnight UTC or the full hour"),
};

#undef AT
#define AT(member) offsetof(struct price_setting, member)
static const struct setting PRICE_SETTINGS[] = {
    TEXT("model", model, "", P, "", "which model"),
    CHECKED("in", in, P, "input", money_wrong, "money for a million tokens that it reads"),
    CHECKED("out", out, P, "output", money_wrong, "money for a million tokens that it writes"),
};

#define ENTRIES(list) offsetof(struct settings, list)
const struct setting_list SETTING_LIST[SETTING_LISTS] = {
    [LIST_AGENTS] = {"agents", "agents.list", "agent", AGENT_SETTINGS, count_of(AGENT_SETTINGS),
                     ENTRIES(agents), ENTRIES(agent_count), sizeof(struct agent_setting),
                     LIMIT_POLICY_AGENTS, false},
    [LIST_CHANNELS] = {"channels", "channels.list", "channel", CHANNEL_SETTINGS,
                       count_of(CHANNEL_SETTINGS), ENTRIES(channels), ENTRIES(channel_count),
                       sizeof(struct channel), LIMIT_CHANNELS, false},
    [LIST_BUDGETS] = {"budgets", "budgets.list", "budget", BUDGET_SETTINGS,
                      count_of(BUDGET_SETTINGS), ENTRIES(budgets), ENTRIES(budget_count),
                      sizeof(struct budget_setting), LIMIT_POLICY_BUDGETS, true},
    [LIST_PRICES] = {"prices", "prices.list", "price", PRICE_SETTINGS, count_of(PRICE_SETTINGS),
                     ENTRIES(prices), ENTRIES(price_count), sizeof(struct price_setting),
                     LIMIT_PRICES, false},
};
_Static_assert(offsetof(struct agent_setting, id) == 0 && offsetof(struct channel, id) == 0 &&
                   offsetof(struct budget_setting, scope) == 0 &&
                   offsetof(struct price_setting, model) == 0,
               "the name of an entry comes first");
