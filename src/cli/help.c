/* SPDX-License-Identifier: Apache-2.0 */
/* What can be typed? All of it follows from the table of operations. */
#include "cli/help.h"

#include <stdio.h>

struct spelling {
    const char *noun, *verb;
    int noun_length;
};

static struct spelling spelled(const struct op *op) {
    const char *dot = strchr(op->name, '.');
    return (struct spelling){op->name, dot + 1, (int)(dot - op->name)};
}

static bool is_shown(const struct field *field) {
    return !(field->flags & FIELD_HIDDEN);
}

/* ---- for the terminal ---- */

void help_print(void) {
    printf("usage: overseer NOUN VERB … [--json] [--socket PATH]\n"
           "       overseer help NOUN VERB\n\n");
    for (size_t i = 0; i < OP_COUNT; i++) {
        struct spelling name = spelled(OPS[i]);
        printf("  %.*s %-*s  %s\n", name.noun_length, name.noun, 14 - name.noun_length, name.verb,
               OPS[i]->summary);
    }
    printf(
        "\n  --json prints the answer as JSON. The daemon is found by --socket, OVERSEER_SOCKET, or in the"
        " state folder.\n"
        "  Exit status: 0 done, 2 not valid, 3 not found, 4 conflict, 5 set aside, 6 try again, 7 no daemon,\n"
        "  8 safe mode, 9 not allowed.\n");
}

static void params_print(const struct field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_shown(&fields[i]))
            printf("  --%-20s %s%s\n", fields[i].name, fields[i].text,
                   fields[i].type == FIELD_TEXTS  ? " (may be given several times)"
                   : fields[i].type == FIELD_ROWS ? " (JSON, or @FILE)"
                                                  : "");
}

void help_print_op(const struct op *op) {
    struct spelling name = spelled(op);
    printf("overseer %.*s %s", name.noun_length, name.noun, name.verb);
    for (size_t i = 0; i < op->positional; i++)
        printf(" %s", op->params[i].name);
    printf(" …\n%s\n\n", op->summary);
    params_print(op->params, op->param_count);
    if (op->words)
        params_print(op->words->fields, op->words->count);
    printf("\n%s\n", op->help);
}

/* ---- the manual page ---- */

/* A dash that people type, a backslash that is meant, a line that does not begin with a dot. */
static void roff(const char *text) {
    for (const char *at = text; *at; at++) {
        if (at == text && (*at == '.' || *at == '\''))
            printf("\\&");
        if (*at == '-' || *at == '\\')
            printf(*at == '-' ? "\\-" : "\\e");
        else if (*at == '\n')
            printf("\n.br\n");
        else
            putchar(*at);
    }
}

static void man_params(const struct field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_shown(&fields[i])) {
            printf(".RS\n.TP\n.BI \\-\\-%s \" %s\"\n", fields[i].name,
                   fields[i].type == FIELD_ROWS ? "JSON|@FILE" : "VALUE");
            roff(fields[i].text);
            printf("%s.\n.RE\n", fields[i].flags & FIELD_REQUIRED ? " (required)" : "");
        }
}

static void man_op(const struct op *op) {
    struct spelling name = spelled(op);
    printf(".SS %.*s %s\n", name.noun_length, name.noun, name.verb);
    roff(op->summary);
    printf("\n");
    man_params(op->params, op->param_count);
    if (op->words)
        man_params(op->words->fields, op->words->count);
    printf(".PP\n");
    roff(op->help);
    printf("\n");
}

void help_print_man(void) {
    printf(
        ".\\\" SPDX-License-Identifier: Apache-2.0\n"
        ".\\\" Made by `overseer help --man`.\n"
        ".TH OVERSEER 1 \"\" \"Overseer\" \"Overseer\"\n"
        ".SH NAME\noverseer \\- hand goals to the supervisor and see what came of them\n"
        ".SH SYNOPSIS\n.B overseer\n\\fINOUN VERB\\fR … [\\fB\\-\\-json\\fR] [\\fB\\-\\-socket\\fR \\fIPATH\\fR]\n"
        ".br\n.B overseer help\n[\\fINOUN VERB\\fR]\n.br\n.B overseer version\n"
        ".SH DESCRIPTION\nWhat is written is durable when the command returns. Words that an operation takes"
        " without a flag come in the order of its first options. Data goes to standard output, everything else"
        " to standard error.\n"
        ".SH OPERATIONS\n");
    for (size_t i = 0; i < OP_COUNT; i++)
        man_op(OPS[i]);
    printf(
        ".SH OPTIONS\n.TP\n.B \\-\\-json\nPrint the answer as JSON.\n"
        ".TP\n.BI \\-\\-socket \" PATH\"\nWhere the daemon listens. Environment: OVERSEER_SOCKET.\n"
        ".SH EXIT STATUS\n0 done, 2 not valid, 3 not found, 4 conflict, 5 set aside, 6 try again, 7 no daemon,"
        " 8 safe mode, 9 not allowed.\n"
        ".SH EXAMPLE\n.nf\noverseer goal create \"tidy the changelog\" \\-\\-command \"make changelog\"\n.fi\n"
        ".SH SEE ALSO\n.BR overseerd (8)\n");
}
