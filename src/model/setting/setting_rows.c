/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all settings and their defaults. CONFIG-01 to CONFIG-17. */
#include "model/assignment.h"
#include "model/driver_list.h"
#include "model/setting/setting.h"

static const char *const FORMAT[] = {"auto", "text", "json", "journal"};
const struct names LOG_FORMAT_NAMES = NAMES_OF(FORMAT);
static const char *const LEVEL[] = {"debug", "info", "warning", "error"};
const struct names LOG_LEVEL_NAMES = NAMES_OF(LEVEL);
static const char *const LANDING[LANDINGS] = {"pr", "merge", "branch", "rebase", "squash", "none"};
const struct names LANDING_NAMES = NAMES_OF(LANDING);
static const char *const SANDBOX[SANDBOX_MODES] = {"prefer", "require", "off"};
static const struct names SANDBOX_NAMES = NAMES_OF(SANDBOX);
static const char *const PROFILE[PROFILES] = {"sandboxed", "ask"};
static const struct names PROFILE_NAMES = NAMES_OF(PROFILE);
static const char *const NETWORK[NETWORK_KINDS] = {"all", "model", "loopback", "none"};
static const struct names NETWORK_NAMES = NAMES_OF(NETWORK);
static const char *const CHECK_NETWORK[CHECK_NETWORK_KINDS] = {"agent", "all", "model", "loopback",
                                                               "none"};
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

enum { P = SETTING_POLICY, START = SETTING_AT_START, OWN = SETTING_OWN };

const struct setting SETTINGS[] = {

    FLAG(
        "supervision.enabled", supervision.enabled, "false", P, "",
        "whether Overseer starts, nudges and recovers agents automatically. If false, it observes, keeps plans and acts only on request"),
    SPAN("supervision.tick_every", supervision.tick_every, "2m", SECONDS(1), HOURS(1), P, "",
         "interval between two checks of all open work; one to five minutes are reasonable"),
    SPAN("supervision.idle_after", supervision.idle_after, "15m", SECONDS(1), DAYS(7), P, "",
         "time without progress after which work counts as stalled"),
    NUMBER("supervision.max_retries", supervision.max_retries, "2", 0, 100, P, "",
           "nudges and restarts of one task before a person is asked. See CHOOSING"),
    SPAN("supervision.min_resend_interval", supervision.min_resend_interval, "5m", 0, DAYS(1), P,
         "", "minimum time between two messages to one agent about the same task"),
    SPAN("supervision.backoff.base", supervision.backoff_base, "2m", MILLISECONDS(100), DAYS(1), P,
         "backoff.base", "delay before the first retry; it doubles with each retry"),
    SPAN("supervision.backoff.max", supervision.backoff_max, "30m", MILLISECONDS(100), DAYS(7), P,
         "backoff.max", "longest delay between two retries"),
    SPAN("supervision.act_within", supervision.act_within, "1h", MILLISECONDS(100), DAYS(365), P,
         "", "time after which a command that has not ended counts as unconfirmed"),
    DECIDING_LIVENESS(DECIDES, NEXT_ROW),
    CHOICE("supervision.first_rung", supervision.first_rung, "nudge", RUNG_NAMES, P, "",
           "the first recovery step for stalled work"),
    NUMBER("supervision.max_attempts", supervision.max_attempts, "12", 1, 1000, P, "",
           "messages about one task, to all agents together, before a person is asked"),
    DECIDING_RECOVERY(DECIDES, NEXT_ROW),
    FLAG("supervision.allow_reassign", supervision.allow_reassign, "true", P, "",
         "whether stalled work may be reassigned to another agent"),
    FLAG("supervision.verify_by_person", supervision.verify_by_person, "false", P, "",
         "whether work that an agent reports as done waits for a person's approval"),
    DECIDING_DISPATCH(DECIDES, NEXT_ROW),
    DECIDING_PACE(DECIDES, NEXT_ROW),

    SPAN(
        "budget.quota_guess", budget.quota_guess, "15m", SECONDS(1), DAYS(1), P, "",
        "how long an account at its limit is paused if its provider gives no reset time; it doubles each time"),
    NUMBER("budget.share", budget.share, "100", 1, 100, P, "",
           "percent of each budget that this host may use; all hosts together should have 100"),

    FLAG("people.notify_below", people.notify_below, "false", P, "",
         "whether people are also notified of minor events"),
    SPAN("people.say_again", people.say_again, "30m", MINUTES(1), DAYS(7), P, "",
         "time after which an unanswered question is sent again; it doubles each time"),
    SPAN("people.say_again_most", people.say_again_most, "8h", MINUTES(1), DAYS(30), P, "",
         "longest delay between two retries"),
    NUMBER("people.say_most", people.say_most, "6", 0, 1000, P, "",
           "how often one question is sent; 0: until it is answered"),
    CHECKED(
        "people.quiet_hours", people.quiet_hours, P, "", hours_wrong,
        "quiet hours, in which only emergencies are sent: \"22:00-07:00\" in UTC, or with an offset, \"22:00-07:00 +02:00\"; empty: none"),
    DECIDING_PEOPLE(DECIDES, NEXT_ROW),
    TEXT("planner.model", planner.model, "", P, "", "which model makes plans; empty: none"),

    LIST("policy.allow_agents", policy.allow_agents, "main", P, "",
         "agents that may be supervised; [\"*\"] means all of them. See ALLOWING AGENTS"),
    FLAG(
        "policy.allow_cross_agent", policy.allow_cross_agent, "false", P, "",
        "whether agents other than the goal's own may be supervised, if policy.allow_agents lists them"),
    FLAG("plans.approve", plans.approve, "false", P, "approve_plans",
         "whether plans made by Overseer wait for a person's approval"),
    LIST("plans.agents", plans.agents, "", P, "plan_agents",
         "agents that may apply plans without approval"),

    TEXT("storage.dir", storage.dir, "", START | SETTING_PATH, "",
         "the state folder; empty: $XDG_STATE_HOME/overseer"),
    TEXT("storage.store", storage.store, "", START, "store",
         "sqlite:PATH or postgresql://USER@HOST/DATABASE; empty: sqlite:DIR/overseer.db"),
    NUMBER(
        "fleet.host", fleet.host, "0", 0, 2147483646, START, "host",
        "this host's number in a shared store (PostgreSQL); 0: the one that it had before, or the "
        "lowest free one. A number belongs to the machine and state folder that claimed it"),
    TEXT("fleet.name", fleet.name, "", START, "",
         "the display name of this host; empty: the machine's host name"),
    SPAN("fleet.lease", fleet.lease, "10s", MILLISECONDS(100), DAYS(365), START, "lease",
         "lease: how long a host that does not answer keeps its goals (PostgreSQL)"),
    SPAN(
        "fleet.orphan_after", fleet.orphan_after, "15m", SECONDS(1), DAYS(30), P, "",
        "how long after the end of a host's lease its agents are frozen; other hosts start its tasks again only after that (PostgreSQL)"),

    TEXT("server.socket", server.socket, "", START | SETTING_PATH, "socket",
         "the Unix socket that the daemon listens on; empty: DIR/overseer.sock"),
    TEXT(
        "server.listen", server.listen, "", START, "",
        "ADDRESS:PORT of an additional TCP listener, for clients with a token; empty: only the Unix socket"),
    LIST(
        "server.hosts", server.hosts, "", START, "",
        "additional host names that are accepted in the Host header, besides the address itself and localhost"),
    LIST("server.origins", server.origins, "", START, "",
         "web origins that may send requests (CORS), such as https://overseer.example"),
    TEXT("server.tls_cert", server.tls_cert, "", START | SETTING_PATH, "",
         "file with the certificate chain for server.listen"),
    TEXT("server.tls_key", server.tls_key, "", START | SETTING_PATH, "",
         "file with its private key"),
    FLAG(
        "server.insecure", server.insecure, "false", START, "",
        "allow listening on other addresses than loopback without TLS, for use behind a TLS proxy"),

    CHOICE(
        "log.format", log.format, "auto", LOG_FORMAT_NAMES, START, "",
        "text for people, json with one object per line, journal for systemd; auto: chosen by the destination"),
    TEXT("log.file", log.file, "", START | SETTING_PATH, "",
         "log file instead of standard error; it is reopened at a reload"),
    NUMBER("log.most", log.most, "64", 0, 1e6, START, "",
           "megabytes at which log.file is rotated to FILE.1, which is overwritten; 0: never"),
    CHOICE("log.level", log.level, "info", LOG_LEVEL_NAMES, 0, "",
           "the lowest level that is logged"),
    LIST(
        "secrets.redact", secrets.redact, "", START | SETTING_PATTERN, "redact",
        "additional patterns of secrets, which are redacted in everything that is stored (docs/redaction.md)"),
    SPAN("retention.bodies", retention.bodies, "30d", DAYS(1), DAYS(36500), START, "retain_bodies",
         "how long the evidence of closed goals is kept, in whole days"),
    SPAN("retention.records", retention.records, "180d", DAYS(1), DAYS(36500), START,
         "retain_records", "how long records are kept, in whole days; milestones stay"),

    TEXT("defaults.model", defaults.model, "", P, "auto.model", "model of agents that set none"),
    FLAG(
        "defaults.skip_permissions", defaults.skip_permissions, "false", P, "auto.skip_permissions",
        "whether agents use tools without asking for permission, whatever their profile and sandbox"),
    LIST("defaults.allowed_tools", defaults.allowed_tools, "", P, "auto.allowed_tools",
         "tools that agents may use without asking"),
    TEXT(
        "repo.path", repo.path, "", P, "",
        "the repository that agents work in: a folder on this host or a URL that git accepts; empty: none"),
    TEXT("repo.setup", repo.setup, "", P, "",
         "command that runs once in each new worktree. Only the operator can set it"),
    TEXT(
        "repo.on_worktree_ready", repo.on_worktree_ready, "", 0, "on_worktree_ready",
        "command that runs after repo.setup, in the same sandbox as checks, with OVERSEER_WORKTREE, OVERSEER_WORKER, OVERSEER_SESSION and OVERSEER_PORT set. If it fails, no agent starts there. Only the operator can set it"),
    NUMBER(
        "repo.ports", repo.ports, "0", 0, 1000, 0, "",
        "number of consecutive ports for each worktree; OVERSEER_PORT is the first one; 0: none"),
    NUMBER("repo.port_first", repo.port_first, "21000", 1024, 65535, 0, "",
           "the first port of the first block"),
    SPAN(
        "repo.keep", repo.keep, "7d", 0, DAYS(3650), 0, "",
        "how long worktrees, homes and logs of finished work are kept; uncommitted files are salvaged first. When disk space is low they are removed at once; 0s: they are kept"),
    NUMBER(
        "repo.disk_least", repo.disk_least, "1024", 0, 1e9, 0, "",
        "megabytes of disk space that must stay free: below that no work starts, and the run that grows most is frozen until a person answers"),
    NUMBER(
        "repo.run_disk_most", repo.run_disk_most, "20480", 0, 1e9, 0, "",
        "megabytes that one run may use in its worktree, its home and its output; above that it is frozen, and a person is asked; 0: no limit"),
    NUMBER("repo.check_caches", repo.check_caches, "4096", 0, 1e9, 0, "",
           "megabytes that the caches of verify.setup may use together; the oldest are removed "
           "first; 0: none is kept"),
    TEXT("repo.default_branch", repo.default_branch, "main", P, "",
         "the branch that work lands on"),
    LIST(
        "repo.hosts", repo.hosts, "", 0, "",
        "for network = model: hosts that runs and checks may reach besides the model's, such as registry.npmjs.org, *.example.org:443 or 127.0.0.1:8080; without a port: 443"),

    FLAG("escalation.auto_escalate", escalation.auto_escalate, "true", P,
         "auto_escalate overseer.auto_escalate",
         "whether a person is notified of every pause and abort; if false, only of an abort"),
    FLAG("escalation.desktop", escalation.desktop, "true", 0, "escalation.enable_notifications",
         "whether desktop notifications are shown"),
    CHOICE("escalation.tracker.kind", escalation.tracker_kind, "gitea", TRACKER_NAMES, 0, "",
           "kind of issue tracker; gitea also means Forgejo"),
    TEXT("escalation.tracker.url", escalation.tracker_url, "", 0, "escalation.gitea_url",
         "URL of the issue tracker's API"),
    TEXT("escalation.tracker.repo", escalation.tracker_repo, "", 0, "escalation.repo",
         "OWNER/REPOSITORY there"),
    TEXT("escalation.tracker.token_path", escalation.tracker_token_path, "", SETTING_PATH,
         "escalation.gitea_token_path", "file with the token for that API"),
    TEXT("escalation.webhook_url", escalation.webhook_url, "", SETTING_HIDDEN, "",
         "URL of a webhook that gets every alert as JSON"),

    TEXT(
        "verify.command", verify.command, "", P, "verify",
        "command that checks the exact commit in a clean checkout, after the artifacts that the node names; empty: only artifacts are checked, and work without artifacts stays unverified"),
    TEXT("verify.setup", verify.setup, "", P, "",
         "command that prepares a clean checkout for verify.command, such as npm ci, in the same "
         "sandbox. What it leaves in HOME on the target's commit is a cache for later checks"),
    LIST(
        "verify.keys", verify.keys, "", 0, "",
        "variables of the daemon's environment that verify.setup and verify.command get, such as the login of a test "
        "database; they get no others, and runs do not get these"),
    SPAN("verify.within", verify.within, "30m", SECONDS(1), DAYS(1), P, "",
         "how long the checks may take: artifacts, setup and command together"),
    NUMBER("verify.rounds", verify.rounds, "3", 0, 100, P, "",
           "how often work may fail its checks or conflict before a person is asked"),
    LIST(
        "verify.protect", verify.protect,
        "test/,tests/,spec/,__tests__/,*_test.*,*.test.*,*_spec.*,*.spec.*,test_*", 0, "",
        "tests: folders (ending in /), names or paths of files. Work that changes or deletes one is checked with the target's version of it, too; if it passes only with its own, a person is asked"),
    LIST(
        "verify.rules", verify.rules,
        ".github/,.gitlab/,.gitlab-ci.yml,.circleci/,.gitea/,.forgejo/,.woodpecker/,Jenkinsfile", 0,
        "",
        "CI files, in the same form. Work that changes one of these, or a script that verify.command runs, lands only with a person's approval"),
    CHOICE(
        "verify.network", verify.network, "agent", CHECK_NETWORK_NAMES, 0, "",
        "network access of verify.command, verify.setup, repo.setup and repo.on_worktree_ready: agent (the same as the agent that did the work), all, model (the hosts of repo.hosts), loopback or none; all values except all need bubblewrap"),
    CHOICE(
        "landing.how", landing.how, "pr", LANDING_NAMES, P, "land",
        "how accepted work lands. pr: a pull request at landing.forge, or a branch if no forge is set; merge, rebase: its commits on top of the target; squash: one commit on top of the target; branch: only a branch; none: it stays in its worktree"),
    TEXT(
        "landing.forge", landing.forge, "", 0, "",
        "for pr: the channel of kind gitea, github or gitlab that opens the pull request; its token needs that permission"),
    TEXT("landing.remote", landing.remote, "", 0, "",
         "for pr: the git URL of the repository that the branch is pushed to; empty: repo.path"),
    NUMBER(
        "landing.rechecks", landing.rechecks, "5", 0, 100, P, "",
        "how often work is rebuilt and checked again because its target moved before it landed; after that a person is asked"),
    FLAG(
        "landing.hooks", landing.hooks, "false", 0, "",
        "whether landing into a repository on this machine runs its hooks (pre-receive, update, post-receive and so on)"),
    CHECKED(
        "landing.author", landing.author, 0, "author", author_wrong,
        "author of the commits of agents, as \"Name <address>\"; overseer init writes that of git; empty: Overseer"),
    FLAG(
        "landing.attribution", landing.attribution, "true", 0, "",
        "for pr and branch: whether a commit that Overseer writes names task and agent in its last lines; commits of the agent itself are left as they are"),

    CHOICE(
        "sandbox.mode", sandbox.mode, "prefer", SANDBOX_NAMES, 0, "sandbox",
        "sandbox of a run: prefer uses the best one that the machine has, require starts no run without bubblewrap, off uses none"),
    LIST(
        "sandbox.sees", sandbox.sees, "", 0, "",
        "files and folders in your HOME, or in another folder that the sandbox hides, that runs may read, such as ~/.rustup"),
    LIST("sandbox.writes", sandbox.writes, "", 0, "",
         "files and folders that runs may write besides their worktree and their HOME"),
    NUMBER("sandbox.memory", sandbox.memory, "16384", 0, 1e9, 0, "",
           "megabytes of memory for a run; without a control group, for each process; 0: no limit"),
    NUMBER("sandbox.cpu", sandbox.cpu, "0", 0, 1e6, 0, "",
           "percent of one processor for a run; needs a control group; 0: no limit"),
    SPAN("sandbox.cpu_time", sandbox.cpu_time, "0s", 0, DAYS(30), 0, "",
         "CPU time for each process of a run; 0s: no limit"),
    NUMBER("sandbox.file_size", sandbox.file_size, "16384", 0, 1e9, 0, "",
           "largest size in megabytes of a file that a run or a check writes; 0: no limit"),
    NUMBER("sandbox.processes", sandbox.processes, "4096", 0, 1e6, 0, "",
           "processes of a run at the same time; needs a control group or bubblewrap; 0: no limit"),
    TEXT(
        "sandbox.cgroup", sandbox.cgroup, "", START, "",
        "control group (cgroup v2) below which the control groups of runs are created; empty: the one that is delegated to the daemon"),
    FLAG(
        "sandbox.checks", sandbox.checks, "true", 0, "",
        "whether repo.setup, repo.on_worktree_ready, verify.setup and verify.command run in the same sandbox as agents, because they execute code that agents wrote"),
    FLAG(
        "sandbox.tools", sandbox.tools, "true", 0, "",
        "whether runs and checks see the toolchains of your HOME, read-only: ~/.rustup, ~/.nvm, ~/.pyenv and the others "
        "that docs/sandbox.md lists; never a login"),
    FLAG(
        "sandbox.freeze", sandbox.freeze, "true", 0, "",
        "whether an agent is paused while its worktree is measured, so that the measurement shows one consistent state"),
};
const size_t SETTING_COUNT = count_of(SETTINGS);
_Static_assert(count_of(SETTINGS) <= SETTING_ROOM, "an origin for each");

#undef AT
#define AT(member) offsetof(struct agent_setting, member)
#define DRIVER_TEXT(constant, name, remark) name remark ", "
static const struct setting AGENT_SETTINGS[] = {
    TEXT("id", id, "", P, "", "its name; it must be unique"),
    TEXT("model", model, "", P, "", "its model; empty: defaults.model"),
    LIST("tools", tools, "", P, "", "tools that it may use; empty: defaults.allowed_tools"),
    TEXT("role", role, "", P, "", "its role: coder, reviewer, fixer"),
    TEXT("account", account, "", P, "",
         "the provider account whose quota it uses; empty: an account of its own"),
    TEXT("team", team, "", P, "", "the team that its cost is charged to"),
    NUMBER("most", most, "0", 0, LIMIT_PERMITS, P, "",
           "sessions of this agent at the same time on one host; 0: no cap"),
    CHECKED(
        "reserve", reserve.money, P, "", money_wrong,
        "what one attempt may cost, such as \"$2.50\"; this amount is reserved in the budgets before it starts"),
    NUMBER("reserve_tokens", reserve.tokens, "0", 0, 1e15, P, "",
           "tokens that one attempt may use, reserved in the same way"),
    FLAG("dedupes", dedupes, "false", P, "",
         "whether the agent ignores a message that it has already received"),
    TEXT("driver", driver, "", 0, "",
         "the driver: " DRIVER_LIST(DRIVER_TEXT) "or empty: the usual driver of its kind"),
    TEXT(
        "kind", kind, "", P, "",
        "the kind of agent program: claude, codex, opencode, gemini, goose, qwen, openclaw; empty: the same as its id"),
    TEXT("program", program, "", P, "",
         "path of its program; empty: the program of that kind in PATH"),
    LIST("args", args, "", P, "", "arguments in front of those that the driver adds"),
    TEXT("base_url", base_url, "", P, "",
         "URL of its model provider, for openclaw of its gateway; empty: the program's default"),
    TEXT("thinking", thinking, "", P, "", "reasoning effort, in the agent's own terms"),
    LIST("deny", deny, "", P, "", "tools that it may not use, in the agent's own names"),
    CHOICE(
        "profile", profile, "sandboxed", PROFILE_NAMES, P | SETTING_WAS_FLAG, "asks",
        "sandboxed: it uses tools without asking, if its sandbox is bubblewrap; without that it asks. ask: a person answers before it uses a tool that is not in its list"),
    FLAG(
        "mcp_http", mcp_http, "false", 0, "",
        "whether it uses Overseer's tools over HTTP at server.listen instead of through `overseer mcp`"),
    LIST(
        "keys", keys, "", 0, "",
        "variables of the daemon's environment that it gets, such as ANTHROPIC_API_KEY, and with such a key the address that it is for (ANTHROPIC_BASE_URL), unless base_url is set; it gets no others"),
    LIST(
        "share", share, "", 0, "",
        "files of the operator's HOME that are copied into its HOME, without refresh tokens; folders are mounted read-only and must not contain a login; empty: the login file of its kind"),
    TEXT(
        "token_file", token.file, "", SETTING_PATH, "",
        "file with a long-lived token for its runs, mode 0600; with it, runs get no copy of your login"),
    TEXT(
        "token_env", token.env, "", 0, "",
        "environment variable for that token; empty: the usual one of its kind, such as CLAUDE_CODE_OAUTH_TOKEN"),
    TEXT(
        "login_home", login_home, "", SETTING_PATH, "",
        "folder with a login of Overseer's own, such as overseer account add makes for codex; its runs get a copy of that instead of yours, without refresh tokens"),
    CHOICE(
        "network", network, "all", NETWORK_NAMES, 0, "",
        "network access of its runs: all, model (the hosts of its model provider and those of repo.hosts, through a proxy), loopback (a private one for each run) or none; all values except all need bubblewrap"),
    NUMBER("memory", limits.memory, "0", 0, 1e9, 0, "",
           "megabytes of memory for each of its runs; 0: sandbox.memory"),
    NUMBER("cpu", limits.cpu, "0", 0, 1e6, 0, "",
           "percent of one processor for each of its runs; 0: sandbox.cpu"),
    NUMBER("processes", limits.processes, "0", 0, 1e6, 0, "",
           "processes at the same time in each of its runs; 0: sandbox.processes"),
    TEXT("behaviour", pretend.behaviour, "works", 0, "", "for driver pretend: how it behaves"),
    NUMBER("pace", pretend.pace, "1", 1, 100000, 0, "",
           "for driver pretend: how many times faster than real time it works"),
    NUMBER("stretches", pretend.stretches, "0", 0, 1000, 0, "",
           "for driver pretend: how many steps its work has; 0: the default of its behaviour"),
};

#undef AT
#define AT(member) offsetof(struct channel, member)
static const struct setting CHANNEL_SETTINGS[] = {
    TEXT("id", id, "", P, "", "its name; it must be unique"),
    CHOICE("kind", kind, "webhook", CHANNEL_KIND_NAMES, P, "type", "the kind of service"),
    TEXT(
        "url", url, "", SETTING_HIDDEN, "",
        "URL of the service's API, or of the webhook; github, gitlab and pagerduty have a default"),
    TEXT("repo", repo, "", 0, "", "for trackers: OWNER/REPOSITORY"),
    TEXT("to", to, "", 0, "",
         "for trackers: the account that issues are assigned to; for ntfy: the topic"),
    TEXT("command", command, "", 0, "",
         "for command: the command, which /bin/sh runs with the notice as JSON on standard input"),
    TEXT(
        "token_path", token_path, "", SETTING_PATH, "",
        "file with the token, read for each message; for slack and discord: file with the webhook URL, which is secret there"),
    TEXT("secret_path", secret_path, "", SETTING_PATH, "",
         "for webhook: file with the secret that signs request bodies"),
    TEXT("ca_path", ca_path, "", SETTING_PATH, "",
         "file with certificates to trust instead of the system's"),
    TEXT("proxy", proxy, "", SETTING_HIDDEN, "",
         "URL of a proxy; empty: none; proxy variables of the environment are ignored"),
    LIST("labels", labels, "", 0, "",
         "for trackers: labels besides overseer, the level and automated"),
    CHOICE(
        "least", least, "usual", LEAST_NAMES, P, "level",
        "the lowest level that is sent to it; usual: desktop all, trackers critical, the others emergency"),
    FLAG("quiet", quiet, "true", P, "", "whether it obeys quiet hours"),
    LIST(
        "origins", origins, "", P, "",
        "other contexts whose goals are reported to it, besides its own and those of this machine; [\"*\"] means all"),
    FLAG("insecure", insecure, "false", 0, "", "allow plain HTTP to other machines"),
    SPAN("within", within, "20s", MILLISECONDS(100), MINUTES(5), 0, "timeout",
         "timeout of one attempt"),
};

#undef AT
#define AT(member) offsetof(struct budget_setting, member)
static const struct setting BUDGET_SETTINGS[] = {
    CHECKED(
        "scope", scope, P, "", scope_wrong,
        "scope: fleet, day, goal, or agent, team, account, model, each with or without a name, such as team/web"),
    CHECKED("most", most, P, "", amount_wrong,
            "the limit: \"$400\", \"5M tokens\", \"200 starts\""),
    SPAN(
        "window", window, "0s", 0, DAYS(3650), P, "",
        "the window, such as \"5h\", \"1d\", \"7d\"; 0s: no window, for scope day one day. A window begins at midnight UTC or at the full hour"),
};

#undef AT
#define AT(member) offsetof(struct price_setting, member)
static const struct setting PRICE_SETTINGS[] = {
    TEXT("model", model, "", P, "", "name of the model"),
    CHECKED("in", in, P, "input", money_wrong, "price of a million input tokens"),
    CHECKED("out", out, P, "output", money_wrong, "price of a million output tokens"),
};

/* A row without a value in the file has that of [repo], [verify] or [landing], unless it is OWN: repository_inherit(). Its
 * default and its range are those of the setting that it inherits: test_setting.c. */
#undef AT
#define AT(member) offsetof(struct repo_setting, member)
static const struct setting REPO_SETTINGS[] = {
    TEXT("name", name, "", P | OWN, "", "its name, as in overseer run --repo NAME"),
    TEXT("path", path, "", P | OWN, "", "a folder on this host or a URL that git accepts"),
    TEXT("default_branch", default_branch, "main", P, "branch",
         "the branch that work lands on; without it: as repo.default_branch says"),
    LIST("hosts", hosts, "", 0, "",
         "repo.hosts for this repository; without it: as repo.hosts says"),
    TEXT("setup", setup, "", P | OWN, "", "repo.setup for this repository"),
    TEXT("on_worktree_ready", on_worktree_ready, "", OWN, "",
         "repo.on_worktree_ready for this repository"),
    TEXT("verify.command", verify.command, "", P | OWN, "verify",
         "verify.command for this repository"),
    TEXT("verify.setup", verify.setup, "", P | OWN, "", "verify.setup for this repository"),
    LIST("verify.keys", verify.keys, "", OWN, "", "verify.keys for this repository"),
    SPAN("verify.within", verify.within, "30m", SECONDS(1), DAYS(1), P, "",
         "verify.within for this repository; without it: as verify.within says"),
    NUMBER("verify.rounds", verify.rounds, "3", 0, 100, P, "",
           "verify.rounds for this repository; without it: as verify.rounds says"),
    LIST("verify.protect", verify.protect, "", 0, "",
         "verify.protect for this repository; without it: as verify.protect says"),
    LIST("verify.rules", verify.rules, "", 0, "",
         "verify.rules for this repository; without it: as verify.rules says"),
    CHOICE("verify.network", verify.network, "agent", CHECK_NETWORK_NAMES, 0, "",
           "verify.network for this repository; without it: as verify.network says"),
    CHOICE("landing.how", landing.how, "pr", LANDING_NAMES, P, "land",
           "landing.how for this repository; without it: as landing.how says"),
    TEXT("landing.forge", landing.forge, "", OWN, "", "landing.forge for this repository"),
    TEXT("landing.remote", landing.remote, "", OWN, "", "landing.remote for this repository"),
    NUMBER("landing.rechecks", landing.rechecks, "5", 0, 100, P, "",
           "landing.rechecks for this repository; without it: as landing.rechecks says"),
    FLAG("landing.hooks", landing.hooks, "false", 0, "",
         "landing.hooks for this repository; without it: as landing.hooks says"),
    CHECKED("landing.author", landing.author, 0, "author", author_wrong,
            "landing.author for this repository; without it: as landing.author says"),
    FLAG("landing.attribution", landing.attribution, "true", 0, "",
         "landing.attribution for this repository; without it: as landing.attribution says"),
};

#undef AT
#define AT(member) offsetof(struct account_setting, member)
static const struct setting ACCOUNT_SETTINGS[] = {
    TEXT("name", name, "", P, "", "its name, as agents have it in account"),
    NUMBER("quota", mark, "0", 0, 100, P, "",
           "percent of a quota window from which no work begins with this account; work that has "
           "begun may finish; 0: no such limit"),
    FLAG("extra_usage", extra_usage, "false", P, "",
         "whether paid extra usage may be used; without it, its runs are frozen at the first sign "
         "of it, and a person is asked"),
};

#define ENTRIES(list) offsetof(struct settings, list)
const struct setting_list SETTING_LIST[SETTING_LISTS] = {
    [LIST_AGENTS] = {"agents", "agents.list", "agent", AGENT_SETTINGS, count_of(AGENT_SETTINGS),
                     ENTRIES(lists.agents), ENTRIES(lists.agent_count),
                     sizeof(struct agent_setting), LIMIT_POLICY_AGENTS, false},
    [LIST_CHANNELS] = {"channels", "channels.list", "channel", CHANNEL_SETTINGS,
                       count_of(CHANNEL_SETTINGS), ENTRIES(lists.channels),
                       ENTRIES(lists.channel_count), sizeof(struct channel), LIMIT_CHANNELS, false},
    [LIST_BUDGETS] = {"budgets", "budgets.list", "budget", BUDGET_SETTINGS,
                      count_of(BUDGET_SETTINGS), ENTRIES(lists.budgets),
                      ENTRIES(lists.budget_count), sizeof(struct budget_setting),
                      LIMIT_POLICY_BUDGETS, true},
    [LIST_PRICES] = {"prices", "prices.list", "price", PRICE_SETTINGS, count_of(PRICE_SETTINGS),
                     ENTRIES(lists.prices), ENTRIES(lists.price_count),
                     sizeof(struct price_setting), LIMIT_PRICES, false},
    [LIST_REPOS] = {"repos", "repos.list", "repository", REPO_SETTINGS, count_of(REPO_SETTINGS),
                    ENTRIES(lists.repos), ENTRIES(lists.repo_count), sizeof(struct repo_setting),
                    LIMIT_REPOSITORIES, false},
    [LIST_ACCOUNTS] = {"accounts", "accounts.list", "account", ACCOUNT_SETTINGS,
                       count_of(ACCOUNT_SETTINGS), ENTRIES(lists.accounts),
                       ENTRIES(lists.account_count), sizeof(struct account_setting), LIMIT_ACCOUNTS,
                       false},
};
_Static_assert(offsetof(struct agent_setting, id) == 0 && offsetof(struct channel, id) == 0 &&
                   offsetof(struct budget_setting, scope) == 0 &&
                   offsetof(struct price_setting, model) == 0 &&
                   offsetof(struct repo_setting, name) == 0 &&
                   offsetof(struct account_setting, name) == 0,
               "the name of an entry comes first");
