/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the manual pages: the same rows as help, as roff; tools/tidy keeps the files current. */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

/* Escapes dashes and backslashes, so that they stay literal, and lines that begin with a dot. */
void man_text(const char *text) {
    bool fresh = true;
    for (const char *at = text; *at; at++) {
        if (fresh && (*at == '.' || *at == '\''))
            printf("\\&");
        fresh = *at == '\n';
        if (*at == '-' || *at == '\\')
            printf(*at == '-' ? "\\-" : "\\e");
        else
            putchar(*at);
    }
}

/* Prints sentences as a paragraph, and each example set off. */
static void help_text(const char *help) {
    for (const char *at = help; *at;) {
        int length = (int)strcspn(at, "\n");
        char line[1024];
        bool example = strncmp(at, "Example: ", 9) == 0;
        snprintf(line, sizeof line, "%.*s", example ? length - 9 : length, example ? at + 9 : at);
        printf(example ? ".PP\nExample:\n.PP\n.RS 4\n.nf\n" : at == help ? ".PP\n" : ".br\n");
        man_text(line);
        printf(example ? "\n.fi\n.RE\n" : "\n");
        at += length + (at[length] == '\n');
    }
}

static void flag_man(const struct command *command, const struct field *flag, bool positional) {
    const char *brief = flag_short(command, flag->name);
    char name[FLAG_NAME], value[VALUE_TEXT];
    flag_shown(flag, name);
    flag_value_shown(flag, positional, value);
    printf(".TP\n");
    if (positional)
        printf(".I ");
    else {
        if (brief)
            printf("\\fB\\%s\\fR, ", brief);
        printf("\\fB\\-\\-");
        man_text(name);
        printf("\\fR%s\\fI", *value ? " " : "");
    }
    man_text(value);
    printf(positional ? "\n" : "\\fR\n");
    man_text(flag->text ? flag->text : "");
    printf("%s%s.\n", flag->flags & FIELD_REQUIRED ? " (required)" : "",
           flag->type == FIELD_TEXTS ? " (may be repeated)" : "");
}

static void command_man(const struct command *command) {
    char value[VALUE_TEXT];
    size_t positional = command_positional(command);
    printf(".SS overseer ");
    man_text(command->words);
    for (size_t i = 0; i < positional; i++) {
        printf(" ");
        man_text(flag_value_shown(command_flag(command, i), true, value));
    }
    printf("\n");
    man_text(command_summary(command));
    printf("\n");
    for (size_t i = 0; command_flag(command, i); i++)
        flag_man(command, command_flag(command, i), i < positional);
    help_text(command_help(command));
}

static void exits_man(void) {
    printf(".SH EXIT STATUS\n");
    for (int i = 0; i < EXIT_STATUSES; i++)
        if (exit_meaning(i))
            printf(".TP\n.B %d\n%s.\n", i, exit_meaning(i));
}

static void title_man(const char *name) {
    printf(".\\\" SPDX-License-Identifier: Apache-2.0\n"
           ".\\\" Made by `overseer help --man`; do not edit.\n.TH ");
    for (const char *at = name; *at; at++)
        *at == '-' ? (void)printf("\\-") : (void)putchar(toupper((unsigned char)*at));
    printf(" 1 \"\" \"Overseer\" \"Overseer\"\n");
}

/* ---- overseer-NOUN(1) ---- */

static int noun_man(const struct noun *noun) {
    char name[64];
    snprintf(name, sizeof name, "overseer-%s", noun->name);
    title_man(name);
    printf(".SH NAME\n");
    man_text(name);
    printf(" \\- %s\n.SH SYNOPSIS\n", *noun->summary ? noun->summary : noun->name);
    const char *between = "";
    for (size_t i = 0; i < command_count(); i++)
        if (command_has_noun(command_at(i), noun->name)) {
            printf("%s.B overseer ", between);
            man_text(command_at(i)->words);
            printf("\n");
            between = ".br\n";
        }
    printf(".SH COMMANDS\n");
    for (size_t i = 0; i < command_count(); i++)
        if (command_has_noun(command_at(i), noun->name))
            command_man(command_at(i));
    printf(".SH SEE ALSO\n.BR overseer (1)\nfor the options that every command has, and for exit "
           "statuses.\n");
    return 0;
}

/* ---- overseer(1) ---- */

static void front_man(void) {
    title_man("overseer");
    printf(
        ".SH NAME\n"
        "overseer \\- give goals to the supervisor and see the results\n"
        ".SH SYNOPSIS\n"
        ".B overseer\n"
        "\\fICOMMAND\\fR … [\\fB\\-\\-json\\fR] [\\fB\\-\\-socket\\fR \\fIPATH\\fR]\n"
        ".br\n"
        ".B overseer help\n"
        "[\\fICOMMAND\\fR]\n"
        ".SH DESCRIPTION\n"
        "Writes are durable when the command returns. Positional arguments come in the order shown. Data goes to standard output, everything else to standard error. A goal is named by T and its number, by its id, or by any unique prefix of that; a command takes several names such as T7 T8.\n"
        ".PP\n"
        "Colours are used only on a terminal, and not with NO_COLOR. Confirmations are asked only on a terminal; elsewhere a destructive command is refused without \\fB\\-\\-yes\\fR. With \\fB\\-\\-json\\fR an error is one line on standard error: {\"error\": {\"code\", \"message\", \"exit\"}}.\n"
        ".SH COMMANDS\n");
    for (enum group group = 0; group < GROUPS; group++)
        for (size_t i = 0; i < command_count(); i++)
            if (command_at(i)->group == group && !strchr(command_at(i)->words, ' '))
                command_man(command_at(i));
}

static void nouns_man(void) {
    printf(".SH MORE COMMANDS\n");
    for (size_t i = 0; noun_at(i); i++)
        printf(".TP\n.BR overseer\\-%s (1)\n%s.\n", noun_at(i)->name,
               *noun_at(i)->summary ? noun_at(i)->summary : noun_at(i)->name);
    printf(".SH OPTIONS\nEvery command has these.\n");
    for (size_t i = 0; i < GLOBAL_COUNT; i++)
        flag_man(NULL, &GLOBALS[i], false);
}

int man_print(const char *noun) {
    const struct noun *row = noun ? noun_find(noun) : NULL;
    if (noun && strcmp(noun, "api.7") == 0)
        return man_api_print();
    if (noun && strcmp(noun, "events.7") == 0)
        return man_events_print();
    if (row)
        return noun_man(row);
    if (noun) {
        fprintf(stderr, "overseer: there is no manual page for %s.\n", noun);
        return EXIT_USAGE;
    }
    front_man();
    nouns_man();
    exits_man();
    printf(
        ".SH ENVIRONMENT\n"
        ".TP\n.B OVERSEER_SOCKET\nThe daemon's socket. Default: overseer.sock in the state folder "
        "($XDG_STATE_HOME/overseer, or ~/.local/state/overseer).\n"
        ".TP\n.B OVERSEER_URL, OVERSEER_TOKEN\nURL of a daemon on another machine, and the token for it.\n"
        ".TP\n.B NO_COLOR\nNo colours.\n"
        ".TP\n.B PAGER\nProgram that shows long output on a terminal.\n"
        ".SH FILES\n.TP\n.I ~/.config/overseer/overseer.toml\nSettings; overseer init writes them.\n"
        ".SH SEE ALSO\n.BR overseerd (8),\n.BR overseer.toml (5),\n.BR overseer\\-events (7),\n"
        ".BR overseer\\-api (7)\n");
    return 0;
}
