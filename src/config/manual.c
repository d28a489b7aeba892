/* SPDX-License-Identifier: Apache-2.0 */
/* Generates overseer.toml(5) from the rows and the texts around them. */
#include "config/config.h"

#include <stdio.h>

static const char BEFORE[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".\\\" Made by `overseerd --man-settings`; do not edit.\n"
    ".TH OVERSEER.TOML 5 \"\" \"overseer " OVERSEER_VERSION "\" \"File formats\"\n"
    ".SH NAME\n"
    "overseer.toml \\- settings of Overseer\n"
    ".SH SYNOPSIS\n"
    ".nf\n"
    "$XDG_CONFIG_HOME/overseer/overseer.toml\n"
    "/etc/overseer/overseer.toml\n"
    ".fi\n"
    ".SH DESCRIPTION\n"
    "One TOML file has all settings. All of them are optional. The first of these files that exists is read:\n"
    "the one that \\fB\\-\\-config\\fR names, the one that \\fBOVERSEER_CONFIG\\fR names, that of the user,\n"
    "that of the machine.\n"
    ".PP\n"
    "Each source overrides the ones before it: defaults, the file, the environment, flags of\n"
    ".BR overseerd (8).\n"
    "The variable of a setting is its name in capitals, with the prefix OVERSEER_ and _ for each dot:\n"
    "\\fBserver.listen\\fR is \\fBOVERSEER_SERVER_LISTEN\\fR. Lists are separated by commas there, or have one entry per line.\n"
    "The flag for any setting is \\fB\\-\\-set\\fR \\fIname\\fR=\\fIvalue\\fR.\n"
    ".PP\n"
    "Durations are strings with a unit: \"500ms\", \"90s\", \"15m\", \"1h30m\", \"30d\". A name that ends in\n"
    "_secs or Ms takes a plain number instead. tickEvery and tick_every are the same name, and the sections of\n"
    "older files ([auto], [defaults], [repo], [overseer], thresholds) are accepted.\n"
    ".PP\n"
    "\\fBoverseer config check\\fR \\fIfile\\fR reports each mistake in a file with its line and column.\n"
    "\\fBoverseer config show \\-\\-origin\\fR shows the current values and the source of each.\n"
    "\\fBoverseer config reload\\fR, or SIGHUP, reads the file again. The whole file is checked first; a file with a mistake\n"
    "changes nothing. Settings that are marked \\(lqat start\\(rq take effect at the next start.\n"
    ".PP\n"
    "Settings that decisions depend on are marked \\(lqpolicy\\(rq. Every record has a hash of all of\n"
    "them; the text for each hash is kept, and each change makes a record.\n"
    ".SH SETTINGS\n";

static const char CHOOSING[] =
    ".SH CHOOSING\n"
    "Choose stricter settings (fewer retries and restarts, smaller caps and budgets, \\fBverify.command\\fR, \\fBplans.approve\\fR)\n"
    "where errors are costly, where the budget is small, where runs are unattended, in CI, and for regulated work. Overseer then\n"
    "stops more work early and asks people more often.\n"
    ".PP\n"
    "Choose looser settings for exploration, for long tasks, where waste is tolerated, where a person is watching, and where\n"
    "quality may fluctuate on the way. Overseer then asks people less often, and more work may be wasted.\n";

static const char ALLOWING[] =
    ".SH ALLOWING AGENTS\n"
    "\\fBpolicy.allow_agents\\fR and \\fBpolicy.allow_cross_agent\\fR say which agents Overseer may supervise. They do not\n"
    "control which agents may send messages to each other. By default Overseer supervises one agent and the agents that this one starts.\n"
    "Other agents need both: the flag, and an entry in the list.\n"
    ".PP\n"
    "A broad list is a risk. With \\fB[\"*\"]\\fR every agent on the host can be prompted, stopped and given work, including those\n"
    "that people run for themselves; a goal written by another person reaches all of them; and text that one agent reads can\n"
    "become an instruction to the next. List the agents that you need.\n"
    ".PP\n"
    "Commands (\\fBverify.command\\fR, \\fBrepo.setup\\fR and others) come only from this file, the\n"
    "environment and flags: never from a model or from a request of an agent.\n";

static const char AFTER[] = ".SH EXAMPLE\n"
                            ".nf\n"
                            "[supervision]\n"
                            "tick_every = \"1m\"\n"
                            "\n"
                            "[verify]\n"
                            "command = \"make check\"\n"
                            "\n"
                            "[[agents]]\n"
                            "id = \"coder\"\n"
                            "role = \"coder\"\n"
                            "\n"
                            "[[channels]]\n"
                            "id = \"issues\"\n"
                            "kind = \"github\"\n"
                            "repo = \"example/project\"\n"
                            "token_path = \"~/.config/overseer/github.token\"\n"
                            ".fi\n"
                            ".SH SEE ALSO\n"
                            ".BR overseer (1),\n"
                            ".BR overseerd (8)\n";

/* Escapes text for troff, which interprets a backslash and a leading dot; a hyphen in a value has to stay a hyphen. */
static void put(const char *text) {
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_range(const struct setting *row) {
    char least[SPAN_TEXT], most[SPAN_TEXT];
    switch (row->type) {
    case SETTING_NUMBER:
    case SETTING_REAL: printf("number from %.10g to %.10g", row->least, row->most); break;
    case SETTING_FLAG: fputs("true or false", stdout); break;
    case SETTING_SPAN:
        span_format((int64_t)row->least, least);
        span_format((int64_t)row->most, most);
        printf("duration from %s to %s", least, most);
        break;
    case SETTING_CHOICE:
        for (uint32_t i = 0; i < row->names->count; i++) {
            fputs(i ? ", " : "", stdout);
            put(name_of(row->names, i));
        }
        break;
    case SETTING_TEXTS: fputs("list of strings", stdout); break;
    case SETTING_TEXT: fputs("text", stdout); break;
    }
}

static void put_row(const void *defaults, const struct setting *row, struct arena *arena) {
    puts(".TP");
    fputs(".B ", stdout);
    put(row->name);
    printf("\n(");
    put_range(row);
    fputs("; default ", stdout);
    put(arena_cstr(arena, setting_show(defaults, row, arena)));
    fputs(row->flags & SETTING_POLICY ? "; policy" : "", stdout);
    fputs(row->flags & SETTING_AT_START ? "; at start" : "", stdout);
    fputs(row->flags & SETTING_HIDDEN ? "; never shown" : "", stdout);
    puts(")");
    puts(".br");
    putchar(row->text[0] >= 'a' && row->text[0] <= 'z' ? row->text[0] - 'a' + 'A' : row->text[0]);
    put(row->text + 1);
    puts(".");
}

/* Lists the settings that are refused, so that readers do not search for them. */
static void put_absent(void) {
    puts(
        ".SH NOT AVAILABLE IN THIS VERSION\n"
        "This version does not implement these settings yet. A file, variable or flag that sets one is refused, with the line to remove:");
    for (size_t i = 0; i < SETTING_ABSENT_COUNT; i++) {
        put(SETTING_ABSENT[i].name);
        puts(",");
    }
    for (size_t i = 0; i < AGENT_ABSENT_COUNT; i++) {
        fputs("agents.", stdout);
        put(AGENT_ABSENT[i].name);
        puts(i + 1 < AGENT_ABSENT_COUNT ? "," : ".");
    }
}

static void put_list(const struct setting_list *list, struct arena *arena) {
    void *entry = arena_take(arena, list->size, alignof(max_align_t));
    list_entry_default(list, entry, arena);
    fputs(".SH ", stdout);
    for (const char *c = list->name; *c; c++)
        putchar(*c - 'a' + 'A');
    printf("\nEach [[%s]] is one %s:\n", list->name, list->one);
    for (size_t i = 0; i < list->count; i++)
        put_row(entry, &list->rows[i], arena);
}

void config_manual(void) {
    struct arena arena = {0};
    struct settings *settings = arena_new(&arena, struct settings, 1);
    settings_default(settings);
    fputs(BEFORE, stdout);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        put_row(settings, &SETTINGS[i], &arena);
    for (size_t i = 0; i < SETTING_LISTS; i++)
        put_list(&SETTING_LIST[i], &arena);
    fputs(CHOOSING, stdout);
    fputs(ALLOWING, stdout);
    put_absent();
    fputs(AFTER, stdout);
    arena_free(&settings->source.arena);
    arena_free(&arena);
}
