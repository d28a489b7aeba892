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
    GLOBAL("yes", FIELD_FLAG, yes, "do not ask first"),
    GLOBAL("dry-run", FIELD_FLAG, dry_run, "only show what would be sent or run"),
    GLOBAL("watch", FIELD_FLAG, watch, "look again every two seconds, until Ctrl-C"),
    GLOBAL("socket", FIELD_TEXT, at.socket, "where the daemon listens (OVERSEER_SOCKET)"),
    GLOBAL("url", FIELD_TEXT, at.url,
           "a daemon elsewhere, such as https://host:7443 (OVERSEER_URL)"),
    GLOBAL("token", FIELD_TEXT, at.token,
           "who you are, there; @FILE: it stands in a file (OVERSEER_TOKEN)"),
    GLOBAL("help", FIELD_FLAG, help, "say what this command does"),
};
const size_t GLOBAL_COUNT = count_of(GLOBALS);

/* ---- nouns ---- */

static const struct noun NOUNS[] = {
    {"goal", GROUP_WORK, "what is wanted, and where it stands"},
    {"plan", GROUP_MORE, "phases, tasks and subtasks of a goal"},
    {"work", GROUP_MORE, "single tasks of a plan"},
    {"handoff", GROUP_MORE, "what was written down for the next agent or person"},
    {"question", GROUP_MORE, "what people are asked, in full"},
    {"request", GROUP_MORE, "what agents ask the agent that gave them their work"},
    {"mail", GROUP_MORE, "messages between those who work on one goal"},
    {"budget", GROUP_MORE, "what may be spent, and what was"},
    {"config", GROUP_MORE, "settings: which hold, whether a file is right"},
    {"token", GROUP_MORE, "who else may come in, and as what"},
    {"admin", GROUP_MORE, "the store and the daemon from the inside"},
    {"run", GROUP_MORE, "single attempts of agents"},
    {"assignment", GROUP_MORE, "who works on which task, in full"},
    {"agent", GROUP_MORE, "what an agent says about its own work"},
    {"desk", GROUP_MORE, "what a host may begin now"},
    {"lane", GROUP_MORE, "what lands next"},
    {"api", GROUP_MORE, "what programs can ask for"},
    {"tick", GROUP_MORE, "let the supervisor look around"},
    {"fleet", GROUP_MORE, "all hosts at once"},
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
    TEXT("test-command", "what has to succeed before work counts as verified"),
    TEXT("folder", "the repository; here, if not said"),
    TEXT("file", "where the settings are written; the file that is read, if not said"),
};
static const struct field UP[] = {
    TEXT("config", "a file of settings"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
    TEXT("host", "this host's number or name in a shared store; a free number, if not said"),
    TEXT("listen", "an address for other machines too"),
};
static const struct field BEGIN[] = {
    TEXT("task", "what is to be done"),
    TEXT("agent", "which agent does it; without it, one that is free"),
    {"allow", FIELD_TEXTS, 0, 0, LIMIT_NAME, 0, NULL,
     "the only tools for it, of those that the agent has, in the agent's own names", LIMIT_LINES,
     NULL},
    {"deny", FIELD_TEXTS, 0, 0, LIMIT_NAME, 0, NULL, "tools that it may not use", LIMIT_LINES,
     NULL},
    TEXT("file", "a checklist in Markdown: each open line is a task"),
    FLAG("jobs", FIELD_UINT, 0, "so many at once; the next begins when one is done or needs you"),
    TEXT("until", "nothing new begins after this time, such as 07:00"),
};
static const struct field ADOPT[] = {
    TEXT("session", "which, such as %3, or the id of a session of Claude Code; all, if not said"),
    TEXT("title", "what people call it; program and folder, if not said"),
    TEXT("release", "let go of this one, such as T7; the session goes on untouched"),
    TEXT("home", "whose sessions: a home folder; yours, if not said"),
    SWITCH("lines", "only say what is seen of it, as lines of JSON; the daemon watches it so"),
};
static const struct field TELL[] = {
    FLAG("task", FIELD_TEXT, FIELD_REQUIRED, "which, such as T7, or its goal"),
    FLAG("text", FIELD_TEXT, FIELD_REQUIRED, "what it is to hear"),
};
static const struct field EVENTS[] = {
    SWITCH("follow", "go on, and show what happens from then on"),
};
static const struct field GATEWAY[] = {
    FLAG("address", FIELD_TEXT, FIELD_REQUIRED,
         "such as ws://127.0.0.1:18789; only on this machine"),
    TEXT("token-file",
         "where the gateway's token stands; if not said, it is in OPENCLAW_GATEWAY_TOKEN"),
};
static const struct field ANSWER[] = {
    SWITCH("same", "answer every question that asks the same in the same way, up to 100 of them"),
};
static const struct field RELEASE[] = {
    SWITCH("same", "release every goal that waits for the same reason, up to 100 of them"),
};
static const struct field TICK[] = {
    SWITCH("now", "do not wait until it is due; it never waits"),
};
static const struct field CHECK[] = {
    TEXT("file", "the file; where it is looked for, if not said"),
};
static const struct field DOCTOR[] = {
    SWITCH("rebuild", "make a new store from what can be read of a damaged one"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
    TEXT("config", "a file of settings"),
};
static const struct field BACKUP[] = {
    TEXT("file", "where the backup goes"),
    SWITCH("force", "also over a file that is there"),
    TEXT("verify", "only say whether this file is a whole backup"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field RESTORE[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "the backup"),
    SWITCH("replace", "also where the store is another one than the backup's"),
    TEXT("lease", "how long other hosts are waited for, in seconds"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field EXPORT[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "where it goes; - is standard output"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field IMPORT[] = {
    FLAG("file", FIELD_TEXT, FIELD_REQUIRED, "the document"),
    SWITCH("move", "the old place is shut for good: effects stay as they were"),
    SWITCH("adopt", "open goals of other hosts become this host's"),
    TEXT("host", "this host's number"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field VERIFY[] = {
    TEXT("heads", "write the end of each chain into this file"),
    TEXT("against", "and compare with such a file"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field RETAIN[] = {
    TEXT("now", "pretend that it is this time"),
    TEXT("retain-bodies", "days that the evidence of closed goals is kept"),
    TEXT("retain-records", "days that records are kept"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field FORGET[] = {
    FLAG("goal", FIELD_TEXT, FIELD_REQUIRED, "the goal's id, whole"),
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const struct field STORE[] = {
    TEXT("store", "sqlite:PATH, or postgresql://…"),
};
static const char *const SHELL[] = {"bash", "zsh", "fish", "goals"};
static const struct names SHELLS = NAMES_OF(SHELL);
static const struct field COMPLETION[] = {
    {"shell", FIELD_ENUM, 0, 0, 0, FIELD_REQUIRED, &SHELLS, "bash, zsh or fish", 0, NULL},
};
static const struct field HELP[] = {
    {"words", FIELD_TEXTS, 0, 0, 0, 0, NULL, "a command, or the first word of several", 8, NULL},
    SWITCH("man", "as a manual page"),
    SWITCH("all", "every command, a line each"),
};

static const struct command LOCAL[] = {
    {.words = "demo",
     .group = GROUP_BEGIN,
     .summary = "Show in two minutes what Overseer does: agents that stall, loop, lie and die.",
     .help =
         "The agents only pretend; everything else is real, in a folder of its own that is gone afterwards. "
         "No key and no network is needed.\n"
         "Example: overseer demo",
     .run = demo_run},
    {.words = "init",
     .group = GROUP_BEGIN,
     .summary = "Find agents, test command, judged files and remote; write settings.",
     .help =
         "Work counts as verified once the test command succeeds on the exact commit, in a clean checkout. "
         "Without one it stays unverified. Tests, CI and what they read decide what counts as good: what this "
         "repository has of them besides the usual is added to verify.protect and verify.rules. Everything is shown "
         "before it is written; nothing is written into the repository.\n"
         "Example: overseer init --yes\n"
         "Example: overseer init --test-command \"make check\"",
     FLAGS(INIT),
     .run = init_run},
    {.words = "run",
     .group = GROUP_BEGIN,
     .summary = "Have a task done by an agent, in the repository that you are in.",
     .help =
         "A goal with one task is made and an agent is started for it, in a worktree of its own. The daemon is "
         "started if none runs. With --jobs or --until this stays until the last task of the file has begun.\n"
         "Example: overseer run \"fix the failing test\" --dry-run\n"
         "Example: overseer run \"what does this do?\" --deny Bash --deny Edit --dry-run\n"
         "Example: overseer run -f tasks.md -j 8 --until 07:00 --dry-run",
     FLAGS(BEGIN),
     .positional = 1,
     .run = run_run},
    {.words = "adopt",
     .group = GROUP_MORE,
     .summary = "Watch a session of an agent that you started yourself. It is never touched.",
     .help =
         "Without a session: those that are on this machine, in panes of your default tmux server and of Claude Code. "
         "`overseer adopt %3` watches one of them: a goal with one task is made for it, and the daemon looks at its "
         "process, its transcript and its screen. Nothing is ever written to it; it is never stopped, nudged or replaced. "
         "When it falls silent or ends, you are asked. `overseer adopt --release T7` lets go of it.\n"
         "Example: overseer adopt",
     FLAGS(ADOPT),
     .positional = 1,
     .run = adopt_run},
    {.words = "up",
     .group = GROUP_BEGIN,
     .summary = "Start the daemon in the background, unless it runs already.",
     .help =
         "It goes on when you log out; `overseer down` stops it.\n"
         "Several hosts share one PostgreSQL store. Each host claims a number of its own there:\n"
         "the one that it had before, a free one, or the one that --host says. A number that\n"
         "another machine or state folder has claimed is refused.\n"
         "Example: overseer up",
     FLAGS(UP),
     .run = up_run},
    {.words = "down",
     .group = GROUP_BEGIN,
     .summary = "Stop the daemon. What was accepted is kept, and goes on after the next `up`.",
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
     .summary = "Look over an agent's shoulder: its terminal, or else its words as they come.",
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
     .help = "Example: overseer answer Q1 b\n"
             "Example: overseer answer Q1 keep --text \"until the release\"\n"
             "Example: overseer answer Q1 b --same",
     FLAGS(ANSWER),
     .run = answer_run},
    {.words = "approve", .group = GROUP_MORE, .of = "question.approve", .run = decide_run},
    {.words = "land",
     .group = GROUP_WORK,
     .of = "question.approve",
     .summary = "Accept what an agent has done and what passed its checks: it lands.",
     .help =
         "What lands is the commit that `overseer diff` showed you; if another one waits by now, nothing lands and you are asked "
         "to look again.\n"
         "Example: overseer land T7",
     .run = decide_run},
    {.words = "reject",
     .group = GROUP_WORK,
     .of = "question.reject",
     .summary = "Send back what an agent calls done, and say why: it goes on.",
     .run = decide_run},
    {.words = "retry", .group = GROUP_WORK, .of = "work.retry", .run = retry_run},
    {.words = "replay", .group = GROUP_MORE, .of = "replay.run"},
    {.words = "what-if", .group = GROUP_MORE, .of = "replay.compare"},
    {.words = "tick", .group = GROUP_MORE, .of = "tick.run", FLAGS(TICK)},
    {.words = "config check",
     .group = GROUP_MORE,
     .summary = "Say whether a file of settings is right: every mistake with its line and column.",
     .help = "No daemon is needed.\n"
             "Example: overseer config check overseer.toml",
     FLAGS(CHECK),
     .positional = 1,
     .run = config_check_run},
    {.words = "mcp",
     .group = GROUP_MORE,
     .summary = "Speak MCP on standard input and output, for programs that start their tools so.",
     .help = "Give an agent a token of its own in OVERSEER_TOKEN (`overseer token create`).\n"
             "Example: overseer mcp </dev/null",
     .run = mcp_run},
    {.words = "gateway",
     .group = GROUP_MORE,
     .summary =
         "Carry lines of JSON to an OpenClaw gateway and back. Agents of that kind are run through it.",
     .help =
         "Each line is one message. What breaks is opened again, and said in a line of type \"bridge\".\n"
         "Example: overseer gateway ws://127.0.0.1:18789 </dev/null",
     FLAGS(GATEWAY),
     .positional = 1,
     .run = gateway_run},
    {.words = "events", .group = GROUP_MORE, .of = "events.list", FLAGS(EVENTS), .run = events_run},
    {.words = "plan draft",
     .group = GROUP_MORE,
     .of = "plan.apply",
     .summary = "Say what a plan would change. Nothing is stored.",
     .help = "Example: overseer plan draft 01JC7Q4T9Z --nodes @plan.json --version 1",
     .preset = "mode",
     .preset_value = "draft"},
    {.words = "stop", .group = GROUP_WORK, .of = "fleet.stop"},
    {.words = "resume", .group = GROUP_WORK, .of = "fleet.resume"},
    {.words = "doctor",
     .group = GROUP_KEEP,
     .summary = "Look whether everything is in order: settings, store, daemon, disk, tools.",
     .help =
         "Each line is good, bad, or worth a look, and says what to do. Exit status 1: something is bad.\n"
         "Example: overseer doctor\n"
         "Example: overseer doctor --rebuild --yes",
     FLAGS(DOCTOR),
     .run = doctor_run},
    {.words = "backup",
     .group = GROUP_KEEP,
     .summary = "Write the store into one file, while the daemon goes on.",
     .help = "Example: overseer backup overnight.db",
     .does = "backup",
     FLAGS(BACKUP),
     .positional = 1,
     .run = maintain_run},
    {.words = "restore",
     .group = GROUP_MORE,
     .summary = "Put a backup in the place of the store, which is set aside.",
     .help =
         "The daemon has to be down. What may have been carried out since the backup is unconfirmed afterwards, "
         "and never repeated by itself.\n"
         "Example: overseer restore overnight.db --yes",
     .asks = "The store is set aside, and the backup takes its place",
     .does = "restore",
     FLAGS(RESTORE),
     .positional = 1,
     .run = maintain_run},
    {.words = "export",
     .group = GROUP_MORE,
     .summary = "Write everything into one readable JSON document.",
     .help = "Example: overseer export everything.json",
     .does = "export",
     FLAGS(EXPORT),
     .positional = 1,
     .run = maintain_run},
    {.words = "import",
     .group = GROUP_MORE,
     .summary = "Fill an empty store from an export, a list of goals, or tasks in Markdown.",
     .help = "The daemon has to be down.\n"
             "Example: overseer import tasks.md --store sqlite:new.db",
     .does = "import",
     FLAGS(IMPORT),
     .positional = 1,
     .run = maintain_run},
    {.words = "verify-log",
     .group = GROUP_MORE,
     .summary = "Follow every chain of records from its beginning: is the log whole?",
     .help = "The daemon has to be down.\n"
             "Example: overseer verify-log --heads heads.txt",
     .does = "verify-log",
     FLAGS(VERIFY),
     .run = maintain_run},
    {.words = "admin health",
     .group = GROUP_MORE,
     .summary = "Show what the daemon says about itself: host, epoch, store, what waits.",
     .help = "Example: overseer admin health",
     .does = "/healthz",
     .run = get_run},
    {.words = "admin metrics",
     .group = GROUP_MORE,
     .summary = "Show the counters, as Prometheus reads them.",
     .help = "Example: overseer admin metrics",
     .does = "/metrics",
     .run = get_run},
    {.words = "admin examine",
     .group = GROUP_MORE,
     .summary = "Say whether the store is whole. Nothing is changed.",
     .help = "The daemon has to be down.\nExample: overseer admin examine",
     .does = "examine",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin rebuild",
     .group = GROUP_MORE,
     .summary = "Make a new store from what can be read of a damaged one, and leave safe mode.",
     .help = "The daemon has to be down.\nExample: overseer admin rebuild --yes",
     .asks = "A new store takes the place of the damaged one, which is kept beside it",
     .does = "rebuild",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin accept-empty",
     .group = GROUP_MORE,
     .summary = "Leave safe mode without what was in the damaged store.",
     .help = "The damaged store stays where it is.\nExample: overseer admin accept-empty --yes",
     .asks = "Overseer begins anew with an empty store",
     .does = "accept-empty",
     FLAGS(STORE),
     .run = maintain_run},
    {.words = "admin retain",
     .group = GROUP_MORE,
     .summary = "Let go of what is older than it is kept. The daemon does the same by itself.",
     .help = "The daemon has to be down.\nExample: overseer admin retain --yes",
     .asks = "Records and evidence that are older than they are kept are dropped",
     .does = "retain",
     FLAGS(RETAIN),
     .run = maintain_run},
    {.words = "admin forget",
     .group = GROUP_MORE,
     .summary = "Take the words of a closed goal away; its id, its counts and its hashes stay.",
     .help = "The daemon has to be down.\n"
             "Example: overseer admin forget goal_01JB5D3X0M2K8W3R6VYHNC7Q4T --yes",
     .asks = "The words of this goal are gone for good",
     .does = "forget",
     FLAGS(FORGET),
     .positional = 1,
     .run = maintain_run},
    {.words = "completion",
     .group = GROUP_MORE,
     .summary = "Print what makes the Tab key know these commands, for bash, zsh or fish.",
     .help = "Example: source <(overseer completion bash)",
     FLAGS(COMPLETION),
     .positional = 1,
     .run = completion_run},
    {.words = "help",
     .group = GROUP_MORE,
     .summary = "Say what a command does and what it takes.",
     .help = "Example: overseer help goal create",
     FLAGS(HELP),
     .positional = 1,
     .run = help_run},
    {.words = "version",
     .group = GROUP_MORE,
     .summary = "Say which version this is.",
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

const char *command_help(const struct command *command) {
    return command->help ? command->help : command->op->help;
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
