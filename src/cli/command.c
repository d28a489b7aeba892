/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the commands: the rows here, and every operation by its name. */
#include "cli/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const GROUP_NAMES[GROUPS] = {"Begin", "Look", "Work", "Keep", "More"};

#define FLAG(name, type, flags, text) \
    { name, type, 0, 0, 0, flags, NULL, text, 0, NULL }
#define SWITCH(name, text) FLAG(name, FIELD_FLAG, 0, text)
#define TEXT(name, text) FLAG(name, FIELD_TEXT, 0, text)
#define FLAGS(rows) .flags = rows, .flag_count = count_of(rows)

/* ---- flags of every command ---- */

#define GLOBAL(name, type, member, text) \
    { name, type, 0, offsetof(struct typed, member), 0, 0, NULL, text, 0, NULL }
const struct field GLOBALS[] = {
    GLOBAL("json", FIELD_FLAG, as_json, "print the answer, and errors too, as JSON"),
    GLOBAL("yes", FIELD_FLAG, yes, "do not ask for confirmation"),
    GLOBAL("dry-run", FIELD_FLAG, dry_run, "show what would be sent or run, and do nothing"),
    GLOBAL("watch", FIELD_FLAG, watch, "refresh every two seconds, until Ctrl-C"),
    GLOBAL("socket", FIELD_TEXT, at.socket, "the daemon's socket (OVERSEER_SOCKET)"),
    GLOBAL("url", FIELD_TEXT, at.url,
           "URL of a daemon on another machine, such as https://host:7443 (OVERSEER_URL)"),
    GLOBAL("token", FIELD_TEXT, at.token,
           "token for --url; @FILE reads it from a file (OVERSEER_TOKEN)"),
    GLOBAL("help", FIELD_FLAG, help, "show help for this command"),
};
const size_t GLOBAL_COUNT = count_of(GLOBALS);

/* ---- nouns ---- */

static const struct noun NOUNS[] = {
    {"goal", GROUP_WORK, "goals and their state"},
    {"plan", GROUP_MORE, "phases, tasks and subtasks of a goal"},
    {"work", GROUP_MORE, "single tasks of a plan"},
    {"handoff", GROUP_MORE, "handoffs to the next agent or person"},
    {"question", GROUP_MORE, "questions to people, in full"},
    {"request", GROUP_MORE, "requests of agents to the agent that assigned their work"},
    {"mail", GROUP_MORE, "messages between agents and people that work on one goal"},
    {"account", GROUP_MORE, "accounts of agents: logins, quota windows, paid usage"},
    {"budget", GROUP_MORE, "budgets and spending"},
    {"config", GROUP_MORE, "settings, and checks of a settings file"},
    {"token", GROUP_MORE, "access tokens and their roles"},
    {"admin", GROUP_MORE, "maintenance of the store and the daemon"},
    {"run", GROUP_MORE, "runs of agents, one attempt each"},
    {"assignment", GROUP_MORE, "assignments of tasks to agents, in full"},
    {"agent", GROUP_MORE, "reports of an agent about its own work"},
    {"desk", GROUP_MORE, "admission of work on a host"},
    {"lane", GROUP_MORE, "the landing lane"},
    {"network", GROUP_MORE, "hosts that runs were denied"},
    {"task", GROUP_MORE, "tasks as programs hand them over"},
    {"batch", GROUP_MORE, "tasks that were handed over together"},
    {"api", GROUP_MORE, "operations and errors of the API"},
    {"tick", GROUP_MORE, "run a supervision check now"},
    {"fleet", GROUP_MORE, "all hosts of the fleet"},
    {"daemon", GROUP_MORE, "the daemon itself"},
};
static const struct noun OTHER = {"", GROUP_MORE, ""};

const struct noun *noun_find(const char *name) {
    for (size_t i = 0; noun_at(i); i++)
        if (strcmp(noun_at(i)->name, name) == 0)
            return noun_at(i);
    return NULL;
}

bool command_has_noun(const struct command *command, const char *noun) {
    size_t length = strlen(noun);
    return strncmp(command->words, noun, length) == 0 && command->words[length] == ' ';
}

/* ---- commands that are not operations, or have a shorter name than their operation ---- */

static const struct field INIT[] = {
    TEXT("test-command", "command that must succeed before work counts as verified"),
    SWITCH("no-try", "do not try the commands on the commit that the target is at"),
    TEXT("folder", "the repository; default: the current folder"),
    TEXT("file", "where the settings are written; default: the file that the daemon reads"),
};
static const struct field UP[] = {
    TEXT("config", "a settings file"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
    TEXT("host", "this host's number or name in a shared store; default: a free number"),
    TEXT("listen", "ADDRESS:PORT that other machines can reach, too"),
};
static const struct field BEGIN[] = {
    TEXT("task", "the task"),
    TEXT("agent", "the agent that does it; default: one that is free"),
    {"allow", FIELD_TEXTS, 0, 0, LIMIT_NAME, 0, NULL,
     "the only tools that it may use, in the agent's own names", LIMIT_LINES, NULL},
    {"deny", FIELD_TEXTS, 0, 0, LIMIT_NAME, 0, NULL, "tools that it may not use", LIMIT_LINES,
     NULL},
    TEXT("file", "a Markdown checklist: each open item is a task"),
    FLAG(
        "jobs", FIELD_UINT, 0,
        "how many tasks of the file work at the same time; the next starts when one is done or needs you"),
    TEXT("repo", "the repository to work in; without it: the one of the current folder"),
    TEXT("until", "no task of the file starts after this time, such as 07:00"),
    TEXT("batch", "name of the batch; default: the name of the file"),
    TEXT("quota",
         "no task begins while a quota window of its account is used up to this mark, such as 80%"),
    SWITCH("answer", "an answer is wanted, not a change: nothing lands, and nothing is verified"),
};
static const struct field ACCOUNT_ADD[] = {
    FLAG("name", FIELD_TEXT, FIELD_REQUIRED, "the name of the account"),
    FLAG("agent", FIELD_TEXT, FIELD_REQUIRED, "the agent of the settings that uses it"),
    SWITCH("token-stdin", "read a long-lived token from standard input instead"),
    TEXT("file", "the settings; default: the file that the daemon reads"),
};
static const struct field ADOPT[] = {
    TEXT(
        "session",
        "the session: a tmux pane such as %3, or the id of a Claude Code session; default: list all"),
    TEXT("title", "its display name; default: program and folder"),
    TEXT("release", "stop watching this one, such as T7; the session continues"),
    TEXT("home", "home folder whose sessions are listed; default: yours"),
    SWITCH("lines", "print what is observed, as lines of JSON; the daemon uses this"),
};
static const struct field TELL[] = {
    FLAG("task", FIELD_TEXT, FIELD_REQUIRED, "the task, such as T7, or its goal"),
    FLAG("text", FIELD_TEXT, FIELD_REQUIRED, "the message"),
};
static const struct field EVENTS[] = {
    SWITCH("follow", "keep following new output"),
};
static const struct field GATEWAY[] = {
    FLAG("address", FIELD_TEXT, FIELD_REQUIRED,
         "URL of a gateway on this machine, such as ws://127.0.0.1:18789"),
    TEXT("token-file",
         "file with the gateway's token; default: the variable OPENCLAW_GATEWAY_TOKEN"),
};
static const struct field ANSWER[] = {
    SWITCH("same", "give the same answer to every identical question, up to 100"),
};
static const struct field RELEASE[] = {
    SWITCH("same", "release every goal that waits for the same reason, up to 100"),
};
static const struct field TICK[] = {
    SWITCH("now", "accepted for compatibility; the check always runs at once"),
};
static const struct field CHECK[] = {
    TEXT("file", "the file; default: the file that the daemon reads"),
};
static const struct field DOCTOR[] = {
    SWITCH("rebuild", "make a new store from the readable parts of a damaged one"),
    SWITCH("live", "have one agent of each account work for one turn, after asking"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
    TEXT("config", "a settings file"),
};
static const struct field BACKUP[] = {
    TEXT("file", "the backup file to write"),
    SWITCH("force", "overwrite an existing file"),
    TEXT("verify", "only check that this file is a complete backup"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field RESTORE[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "the backup file"),
    SWITCH("replace", "even if the backup is of another store"),
    TEXT("lease", "how long to wait for other hosts, in seconds"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field EXPORT[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "the file to write; - is standard output"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field IMPORT[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "the document"),
    SWITCH("move", "the old store is out of use for good: effects keep their state"),
    SWITCH("adopt", "take over the open goals of other hosts"),
    TEXT("host", "this host's number"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field VERIFY[] = {
    TEXT("heads", "write the head of each chain to this file"),
    TEXT("against", "compare the chains with such a file"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field RETAIN[] = {
    TEXT("now", "use this time as the current time"),
    TEXT("retain-bodies", "days for which the evidence of closed goals is kept"),
    TEXT("retain-records", "days for which records are kept"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field FORGET[] = {
    FLAG("goal", FIELD_TEXT, FIELD_REQUIRED, "the goal's full id"),
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const struct field STORE[] = {
    TEXT("store", "the store: sqlite:PATH, or postgresql://…"),
};
static const char *const SHELL[] = {"bash", "zsh", "fish", "goals", "questions"};
static const struct names SHELLS = NAMES_OF(SHELL);
static const struct field COMPLETION[] = {
    {"shell", FIELD_ENUM, 0, 0, 0, FIELD_REQUIRED, &SHELLS, "bash, zsh or fish", 0, NULL},
};
static const struct field HELP[] = {
    {"words", FIELD_TEXTS, 0, 0, 0, 0, NULL, "a command, or the first word of a group", 8, NULL},
    SWITCH("man", "as a manual page"),
    SWITCH("all", "all commands, one per line"),
};

static const struct command LOCAL[] = {
    {.words = "demo",
     .group = GROUP_BEGIN,
     .summary = "Demonstrate Overseer in two minutes: simulated agents stall, loop, lie and die.",
     .help =
         "The agents are simulated; everything else is real, in a temporary folder that is removed afterwards. It needs no API key and no network.\n"
         "Example: overseer demo",
     .run = demo_run},
    {.words = "init",
     .group = GROUP_BEGIN,
     .summary = "Find agents, test command, judged files, registries and remote; write settings.",
     .help =
         "Work counts as verified once the test command succeeds on the exact commit, in a clean checkout. Without one it stays unverified. A command that prepares the checkout (verify.setup) is found from lock files. Both are tried on the commit that the target is at, in the sandbox of checks, for at most ten minutes: init says when the target itself fails. Tests, CI files and the files that they read decide what counts as verified: those of this repository that the defaults do not cover are added to verify.protect and verify.rules. Registries that the repository uses are added to its hosts; those that only a lock file names are shown, and you decide. Agents that the settings already have are left as they are; others get network = model where bubblewrap works: they reach their model and these hosts. Everything is shown before it is written; nothing is written into the repository.\n"
         "Example: overseer init --yes\n"
         "Example: overseer init --test-command \"make check\"",
     FLAGS(INIT),
     .run = init_run},
    {.words = "run",
     .group = GROUP_BEGIN,
     .summary = "Give a task to an agent, in the current repository.",
     .help =
         "This hands the task over to the daemon, which starts an agent for it in a separate worktree. It starts the daemon if none is running. The tasks of a file are a batch: the daemon starts them, so the terminal may be closed. The same file can be given again after lines were added: lines whose task is still open are not handed over twice. `overseer batch show` and `batch change` look at a batch and change it.\n"
         "Example: overseer run \"fix the failing test\" --dry-run\n"
         "Example: overseer run \"what does this do?\" --deny Bash --deny Edit --dry-run\n"
         "Example: overseer run --answer \"how does the parser recover?\" --dry-run\n"
         "Example: overseer run -f tasks.md -j 8 --until 07:00 --dry-run",
     FLAGS(BEGIN),
     .positional = 1,
     .run = run_run},
    {.words = "adopt",
     .group = GROUP_MORE,
     .summary = "Watch an agent session that you started yourself. Overseer never touches it.",
     .help =
         "Without a session it lists those on this machine: panes of your default tmux server and sessions of Claude Code. `overseer adopt %3` watches one of them: it creates a goal with one task, and the daemon observes the process, the transcript and the screen. Overseer never writes to the session and never stops, nudges or replaces it. When the session falls silent or ends, you are asked. `overseer adopt --release T7` stops watching it.\n"
         "Example: overseer adopt",
     FLAGS(ADOPT),
     .positional = 1,
     .run = adopt_run},
    {.words = "up",
     .group = GROUP_BEGIN,
     .summary = "Start the daemon in the background, unless it runs already.",
     .help = "It keeps running when you log out; `overseer down` stops it.\n"
             "Several hosts share one PostgreSQL store. Each host claims a number in it:\n"
             "its previous number, a free one, or the one that --host gives. A number that\n"
             "another machine or state folder has claimed is refused.\n"
             "Example: overseer up",
     FLAGS(UP),
     .run = up_run},
    {.words = "down",
     .group = GROUP_BEGIN,
     .summary = "Stop the daemon. Accepted work is kept and continues after the next `up`.",
     .help = "Example: overseer down",
     .run = down_run},
    {.words = "status", .group = GROUP_LOOK, .of = "status.show"},
    {.words = "inbox", .group = GROUP_LOOK, .of = "inbox.list"},
    {.words = "why", .group = GROUP_LOOK, .of = "why.show"},
    {.words = "agents", .group = GROUP_LOOK, .of = "assignment.list"},
    {.words = "logs", .group = GROUP_LOOK, .of = "work.log", FLAGS(EVENTS), .run = logs_run},
    {.words = "attach",
     .group = GROUP_WORK,
     .of = "work.log",
     .summary = "Attach to an agent's terminal: if it has none, its output is shown.",
     .help = "Example: overseer attach T7",
     .run = attach_run},
    {.words = "tell",
     .group = GROUP_WORK,
     .summary = "Send a message to the agent of a task; it also answers the agent's open question.",
     .help = "Example: overseer tell T7 \"use the new parser\"",
     FLAGS(TELL),
     .positional = 2,
     .run = tell_run},
    {.words = "diff", .group = GROUP_WORK, .of = "work.diff", .run = diff_run},
    {.words = "answer",
     .group = GROUP_MORE,
     .of = "question.answer",
     .help = "Example: overseer answer Q7.1 b\n"
             "Example: overseer answer Q7.1 keep --text \"until the release\"\n"
             "Example: overseer answer Q7.1 b --same",
     FLAGS(ANSWER),
     .run = answer_run},
    {.words = "approve", .group = GROUP_MORE, .of = "question.approve", .run = decide_run},
    {.words = "land",
     .group = GROUP_WORK,
     .of = "question.approve",
     .summary = "Accept work that passed its checks: it lands.",
     .help =
         "This lands the commit that `overseer diff` showed you; if another commit waits by now, nothing lands and you are asked to look again.\n"
         "Example: overseer land T7",
     .run = decide_run},
    {.words = "reject",
     .group = GROUP_WORK,
     .of = "question.reject",
     .summary = "Reject work that an agent reported as done, with a reason: the agent continues.",
     .run = decide_run},
    {.words = "retry", .group = GROUP_WORK, .of = "work.retry", .run = retry_run},
    {.words = "cancel",
     .group = GROUP_WORK,
     .of = "goal.cancel",
     .summary = "Cancel a task for good: its agent is stopped, and what it made is kept.",
     .help = "The work of its agent stays in git: `overseer why T7` names the ref.\n"
             "Example: overseer cancel T7 --reason \"not wanted any more\" --yes"},
    {.words = "replay", .group = GROUP_MORE, .of = "replay.run"},
    {.words = "what-if", .group = GROUP_MORE, .of = "replay.compare"},
    {.words = "tick", .group = GROUP_MORE, .of = "tick.run", FLAGS(TICK)},
    {.words = "account add",
     .group = GROUP_MORE,
     .summary = "Make a login of Overseer's own for an agent: its runs get no copy of yours.",
     .help =
         "For Claude Code it runs `claude setup-token`, for Codex `codex login`, each with a HOME of its own in the state folder; with --token-stdin it takes a token or an API key. The lines for the settings are shown and added when you agree; what you wrote there is never rewritten.\n"
         "Example: overseer account add work --agent auto-1 --token-stdin --dry-run </dev/null",
     FLAGS(ACCOUNT_ADD),
     .positional = 1,
     .run = account_add_run},
    {.words = "config check",
     .group = GROUP_MORE,
     .summary = "Check a settings file: report every mistake with its line and column.",
     .help = "No daemon is needed.\n"
             "Example: overseer config check overseer.toml",
     FLAGS(CHECK),
     .positional = 1,
     .run = config_check_run},
    {.words = "mcp",
     .group = GROUP_MORE,
     .summary =
         "Speak MCP on standard input and output, for programs that start MCP servers as child processes.",
     .help = "Give an agent a token of its own in OVERSEER_TOKEN (`overseer token create`).\n"
             "Example: overseer mcp </dev/null",
     .run = mcp_run},
    {.words = "gateway",
     .group = GROUP_MORE,
     .summary =
         "Relay lines of JSON between standard input and output and an OpenClaw gateway. The driver openclaw uses this.",
     .help =
         "Each line is one message. A lost connection is reopened and reported in a line of type \"bridge\".\n"
         "Example: overseer gateway ws://127.0.0.1:18789 </dev/null",
     FLAGS(GATEWAY),
     .positional = 1,
     .run = gateway_run},
    {.words = "events", .group = GROUP_MORE, .of = "events.list", FLAGS(EVENTS), .run = events_run},
    {.words = "plan draft",
     .group = GROUP_MORE,
     .of = "plan.apply",
     .summary = "Show what a plan would change. Nothing is stored.",
     .help = "Example: overseer plan draft 01JC7Q4T9Z --nodes @plan.json --version 1",
     .preset = "mode",
     .preset_value = "draft"},
    {.words = "stop", .group = GROUP_WORK, .of = "fleet.stop"},
    {.words = "resume", .group = GROUP_WORK, .of = "fleet.resume"},
    {.words = "doctor",
     .group = GROUP_KEEP,
     .summary = "Check the installation: settings, store, daemon, disk, tools.",
     .help =
         "Each line is good, bad, or a warning, and says what to do. Exit status 1: something is bad.\n"
         "Example: overseer doctor\n"
         "Example: overseer doctor --live --dry-run\n"
         "Example: overseer doctor --rebuild --yes",
     FLAGS(DOCTOR),
     .run = doctor_run},
    {.words = "backup",
     .group = GROUP_MORE,
     .summary = "Write a backup of the store to one file: the daemon keeps running.",
     .help = "Example: overseer backup overnight.db",
     .does = "backup",
     FLAGS(BACKUP),
     .positional = 1,
     .run = maintain_run},
    {.words = "restore",
     .group = GROUP_MORE,
     .summary = "Replace the store with a backup; the old store is renamed and kept.",
     .help =
         "The daemon must be down. Effects that may have been carried out since the backup are unconfirmed afterwards and are never repeated automatically.\n"
         "Example: overseer restore overnight.db --yes",
     .asks = "The store is renamed, and the backup replaces it",
     .does = "restore",
     FLAGS(RESTORE),
     .positional = 1,
     .run = maintain_run},
    {.words = "export",
     .group = GROUP_MORE,
     .summary = "Export the whole store as one readable JSON document.",
     .help = "Example: overseer export everything.json",
     .does = "export",
     FLAGS(EXPORT),
     .positional = 1,
     .run = maintain_run},
    {.words = "import",
     .group = GROUP_MORE,
     .summary = "Fill an empty store from an export, a list of goals, or tasks in Markdown.",
     .help = "The daemon must be down.\n"
             "Example: overseer import tasks.md --store sqlite:new.db",
     .does = "import",
     FLAGS(IMPORT),
     .positional = 1,
     .run = maintain_run},
    {.words = "verify-log",
     .group = GROUP_MORE,
     .summary = "Verify every chain of records from its beginning.",
     .help = "The daemon must be down.\n"
             "Example: overseer verify-log --heads heads.txt",
     .does = "verify-log",
     FLAGS(VERIFY),
     .run = maintain_run},
    {.words = "admin health",
     .group = GROUP_MORE,
     .summary = "Show the daemon's health: host, epoch, store, queues.",
     .help = "Example: overseer admin health",
     .does = "/healthz",
     .run = get_run},
    {.words = "admin metrics",
     .group = GROUP_MORE,
     .summary = "Show the metrics in the format of Prometheus.",
     .help = "Example: overseer admin metrics",
     .does = "/metrics",
     .run = get_run},
    {.words = "admin examine",
     .group = GROUP_MORE,
     .summary = "Check the store for damage. Nothing is changed.",
     .help = "The daemon must be down.\nExample: overseer admin examine",
     .does = "examine",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin rebuild",
     .group = GROUP_MORE,
     .summary = "Make a new store from the readable parts of a damaged one, and leave safe mode.",
     .help = "The daemon must be down.\nExample: overseer admin rebuild --yes",
     .asks = "A new store replaces the damaged one, which is kept beside it",
     .does = "rebuild",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin accept-empty",
     .group = GROUP_MORE,
     .summary = "Leave safe mode with an empty store, without the contents of the damaged one.",
     .help = "The damaged store stays where it is.\nExample: overseer admin accept-empty --yes",
     .asks = "Overseer starts over with an empty store",
     .does = "accept-empty",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin retain",
     .group = GROUP_MORE,
     .summary =
         "Remove records and evidence that are past their retention time. The daemon also does this automatically.",
     .help = "The daemon must be down.\nExample: overseer admin retain --yes",
     .asks = "Records and evidence past their retention time are removed",
     .does = "retain",
     FLAGS(RETAIN),
     .run = maintain_run},
    {.words = "admin forget",
     .group = GROUP_MORE,
     .summary = "Erase the text of a closed goal; its id, counts and hashes stay.",
     .help = "The daemon must be down.\n"
             "Example: overseer admin forget goal_01JB5D3X0M2K8W3R6VYHNC7Q4T --yes",
     .asks = "The text of this goal is erased for good",
     .does = "forget",
     FLAGS(FORGET),
     .positional = 1,
     .run = maintain_run},
    {.words = "completion",
     .group = GROUP_MORE,
     .summary = "Print a completion script for bash, zsh or fish.",
     .help = "Example: source <(overseer completion bash)",
     FLAGS(COMPLETION),
     .positional = 1,
     .run = completion_run},
    {.words = "help",
     .group = GROUP_MORE,
     .summary = "Show help for a command.",
     .help = "Example: overseer help goal create",
     FLAGS(HELP),
     .positional = 1,
     .run = help_run},
    {.words = "version",
     .group = GROUP_MORE,
     .summary = "Show the version.",
     .help = "Example: overseer version",
     .run = version_run},
};

/* ---- all commands ---- */

enum { MOST = 160, MOST_NOUNS = 24 };
static struct command all[MOST];
static char spelled[MOST][48];
static size_t all_count;
static const struct noun *nouns[MOST_NOUNS];
static struct noun unnamed[MOST_NOUNS];
static size_t noun_count;

static void noun_note(const char *words, char *name) {
    const char *space = strchr(words, ' ');
    if (!space)
        return;
    snprintf(name, 48, "%.*s", (int)(space - words), words);
    for (size_t i = 0; i < noun_count; i++)
        if (strcmp(nouns[i]->name, name) == 0)
            return;
    must(noun_count < MOST_NOUNS);
    const struct noun *noun = NULL;
    for (size_t i = 0; i < count_of(NOUNS); i++)
        if (strcmp(NOUNS[i].name, name) == 0)
            noun = &NOUNS[i];
    if (!noun) {
        unnamed[noun_count] = OTHER;
        unnamed[noun_count].name = name;
        noun = &unnamed[noun_count];
    }
    nouns[noun_count++] = noun;
}

static bool is_taken(const struct op *op) {
    for (size_t i = 0; i < all_count; i++)
        if (all[i].op == op && !all[i].preset)
            return true;
    return false;
}

static enum group group_of(const char *words) {
    for (size_t i = 0; i < count_of(NOUNS); i++)
        if (strncmp(words, NOUNS[i].name, strcspn(words, " ")) == 0)
            return NOUNS[i].group;
    return GROUP_MORE;
}

/* Operations for which the command line does more; they are listed among the others of their noun. */
static const struct command RICHER[] = {
    {.of = "goal.release",
     .help = "Example: overseer goal release 39FCW6H04A --reason \"it had been done\"\n"
             "Example: overseer goal release 39FCW6H04A --reason \"looked at all of them\" --same",
     FLAGS(RELEASE),
     .run = release_run},
};

static struct command richer(struct command command) {
    for (size_t i = 0; i < count_of(RICHER); i++)
        if (strcmp(RICHER[i].of, command.of) == 0) {
            command.help = RICHER[i].help;
            command.flags = RICHER[i].flags;
            command.flag_count = RICHER[i].flag_count;
            command.run = RICHER[i].run;
        }
    return command;
}

static void op_add(const struct op *op) {
    char *words = spelled[all_count];
    snprintf(words, sizeof spelled[0], "%s", op->also ? op->also : op->name);
    char *dot = strchr(words, '.');
    if (dot)
        *dot = ' ';
    all[all_count++] = richer((struct command){
        .words = words, .group = group_of(words), .of = op->name, .op = op, .run = op_run});
}

static void all_make(void) {
    static char names[MOST][48];
    for (size_t i = 0; i < count_of(LOCAL); i++) {
        struct command command = LOCAL[i];
        command.op = command.of ? op_find(str_of(command.of)) : NULL;
        if (command.of && !command.op)
            continue; /* this build has no such operation */
        command.run = command.run ? command.run : op_run;
        all[all_count++] = command;
    }
    for (size_t i = 0; i < OP_COUNT; i++) {
        must(all_count < MOST);
        if (!is_taken(OPS[i]))
            op_add(OPS[i]);
    }
    for (size_t i = 0; i < all_count; i++)
        noun_note(all[i].words, names[i]);
}

size_t command_count(void) {
    if (all_count == 0)
        all_make();
    return all_count;
}

const struct command *command_at(size_t i) {
    must(i < command_count());
    return &all[i];
}

const struct noun *noun_at(size_t i) {
    return command_count() > 0 && i < noun_count ? nouns[i] : NULL;
}

/* How many of the typed words belong to this command? 0: they do not match. */
static int words_match(const char *words, int count, char *const *typed) {
    int used = 0;
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        if (used >= count || strlen(typed[used]) != length || memcmp(typed[used], at, length) != 0)
            return 0;
        used++;
        at += length + (at[length] == ' ');
    }
    return used;
}

/* `status show` is `status`: the operation's own name works too. */
static const struct command *by_full_name(char *const *words, const struct command *otherwise,
                                          int *ret_used) {
    char name[64];
    snprintf(name, sizeof name, "%.30s.%.30s", words[0], words[1]);
    const struct op *op = op_find(str_of(name));
    for (size_t i = 0; op && i < command_count(); i++)
        if (all[i].op == op && !all[i].preset) {
            *ret_used = 2;
            return &all[i];
        }
    return otherwise;
}

const struct command *command_find(int count, char *const *words, int *ret_used) {
    const struct command *found = NULL;
    *ret_used = 0;
    for (size_t i = 0; i < command_count(); i++) {
        int used = words_match(all[i].words, count, words);
        if (used > *ret_used) {
            *ret_used = used;
            found = &all[i];
        }
    }
    return *ret_used < 2 && count > 1 ? by_full_name(words, found, ret_used) : found;
}

/* ---- flags and texts of a command ---- */

static const struct field *shown_at(const struct field *fields, size_t count, size_t *left) {
    for (size_t i = 0; i < count; i++)
        if (!(fields[i].flags & FIELD_HIDDEN) && (*left)-- == 0)
            return &fields[i];
    return NULL;
}

const struct field *command_flag(const struct command *command, size_t i) {
    const struct op *op = command->op;
    const struct field *found = op ? shown_at(op->params, op->param_count, &i) : NULL;
    if (!found && op && op->words)
        found = shown_at(op->words->fields, op->words->count, &i);
    return found ? found : shown_at(command->flags, command->flag_count, &i);
}

size_t command_positional(const struct command *command) {
    return command->op ? command->op->positional : command->positional;
}

const char *command_summary(const struct command *command) {
    return command->summary ? command->summary : command->op->summary;
}

enum { HELP_TEXT = 4096 };

/* Appends text[0, length) to a text that ends within `size`. */
static size_t text_append(char *to, size_t size, size_t used, const char *text, size_t length) {
    if (used + length >= size)
        length = size - used - 1;
    memcpy(to + used, text, length);
    to[used + length] = 0;
    return used + length;
}

/* The next place where a text names the command itself, not one whose name only begins so. */
static const char *command_mentioned(const char *text, const char *of) {
    for (const char *at = strstr(text, of); at; at = strstr(at + 1, of))
        if (!isalnum((unsigned char)at[strlen(of)]))
            return at;
    return NULL;
}

/* A command that is another name of an operation (logs: work.log) has its help, with examples under its own name. */
const char *command_help(const struct command *command) {
    static char text[HELP_TEXT];
    char of[64], own[64];
    if (command->help || !command->op->help)
        return command->help ? command->help : "";
    snprintf(of, sizeof of, "overseer %.50s", command->op->name);
    snprintf(own, sizeof own, "overseer %.50s", command->words);
    for (char *dot = strchr(of, '.'); dot; dot = strchr(dot, '.'))
        *dot = ' ';
    size_t used = 0;
    const char *at = command->op->help;
    for (const char *found; (found = command_mentioned(at, of)); at = found + strlen(of)) {
        used = text_append(text, sizeof text, used, at, (size_t)(found - at));
        used = text_append(text, sizeof text, used, own, strlen(own));
    }
    text_append(text, sizeof text, used, at, strlen(at));
    return text;
}

const char *flag_shown(const struct field *flag, char text[FLAG_NAME]) {
    size_t used = 0;
    for (const char *at = flag->name; *at && used + 3 < FLAG_NAME; at++) {
        if (isupper((unsigned char)*at))
            text[used++] = '-';
        text[used++] = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
    }
    text[used] = 0;
    return text;
}
