/* SPDX-License-Identifier: Apache-2.0 */
/* Prints shell completions: for three shells, from one list of commands. */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/print/print.h"

#include <ctype.h>
#include <string.h>

/* ---- building blocks ---- */

/* Prints the text in single quotes. */
static void quoted(const char *text) {
    putchar('\'');
    for (const char *at = text; *at; at++)
        *at == '\'' ? (void)printf("'\\''") : (void)putchar(*at);
    putchar('\'');
}

/* The words that may come first, or after a noun; each once. */
static void words_print(const char *noun) {
    for (size_t i = 0; !noun && noun_at(i); i++)
        printf("%s ", noun_at(i)->name);
    for (size_t i = 0; i < command_count(); i++) {
        const char *words = command_at(i)->words, *space = strchr(words, ' ');
        if (noun && command_has_noun(command_at(i), noun))
            printf("%s ", space + 1);
        else if (!noun && !space)
            printf("%s ", words);
    }
}

static void flags_print(const struct command *command) {
    char name[FLAG_NAME];
    for (size_t i = command_positional(command); command_flag(command, i); i++)
        printf("--%s ", flag_shown(command_flag(command, i), name));
}

/* Prints one word for each value: "needs you" is also accepted as needs-you. */
static void values_print(const struct field *flag) {
    for (uint32_t i = 0; i < flag->names->count; i++) {
        for (const char *at = name_of(flag->names, i); *at; at++)
            putchar(*at == ' ' ? '-' : *at);
        putchar(' ');
    }
}

static bool is_goal(const struct field *flag) {
    return strcmp(flag->name, "goal") == 0 || strcmp(flag->name, "of") == 0;
}

/* A question: named by itself, Q7.1, or by its task, T7. */
static bool is_question(const struct field *flag) {
    return strcmp(flag->name, "question") == 0;
}

/* Can completion offer values for this flag? */
static bool has_values(const struct field *flag) {
    return flag->type == FIELD_ENUM || is_goal(flag) || is_question(flag);
}

/* `before` is how the shell begins to insert what a command prints: "$" or nothing. */
static void value_print(const struct field *flag, const char *before) {
    if (flag->type == FIELD_ENUM)
        values_print(flag);
    else
        printf("%s(overseer completion %s 2>/dev/null)", before,
               is_question(flag) ? "questions" : "goals");
}

/* T7 T8: such a command takes several names, if it takes nothing else. */
static bool takes_several(const struct command *command) {
    const struct field *first = command_flag(command, 0);
    return command_positional(command) == 1 && (is_goal(first) || is_question(first));
}

/* ---- bash and zsh: three cases, distinguished by what was typed ---- */

/* The possible values of the flag before the cursor. */
static void value_cases(void) {
    char name[FLAG_NAME];
    for (size_t i = 0; i < command_count(); i++) {
        const struct command *command = command_at(i);
        for (size_t at = command_positional(command); command_flag(command, at); at++) {
            const struct field *flag = command_flag(command, at);
            if (!has_values(flag))
                continue;
            printf("    '%s --%s') offer=\"", command->words, flag_shown(flag, name));
            value_print(flag, "$");
            printf("\" ;;\n");
        }
    }
}

/* The possible next words after a complete command: its flags, and the first word that it takes. */
static void command_cases(void) {
    for (size_t i = 0; i < command_count(); i++) {
        const struct command *command = command_at(i);
        printf("    '%s') flags=\"", command->words);
        flags_print(command);
        printf("$all\"");
        const struct field *first =
            command_positional(command) > 0 ? command_flag(command, 0) : NULL;
        if (first && has_values(first)) {
            printf("; [ \"$count\" -%s %d ] && offer=\"", takes_several(command) ? "ge" : "eq",
                   strchr(command->words, ' ') ? 2 : 1);
            value_print(first, "$");
            printf("\"");
        }
        printf(" ;;\n");
    }
}

static void noun_cases(void) {
    for (size_t i = 0; noun_at(i); i++) {
        printf("    '%s') offer=\"", noun_at(i)->name);
        words_print(noun_at(i)->name);
        printf("\" ;;\n");
    }
}

static void body_print(void) {
    printf("  local all=\"");
    for (size_t i = 0; i < GLOBAL_COUNT; i++)
        printf("%s--%s", i ? " " : "", GLOBALS[i].name);
    printf("\" offer=\"\"; local flags=\"$all\"\n"
           "  case \"$two $before\" in\n");
    value_cases();
    printf("    *) case \"$one $before\" in\n");
    value_cases();
    printf("  esac ;;\n  esac\n"
           "  if [ -z \"$offer\" ] && [ \"$count\" = 0 ]; then offer=\"");
    words_print(NULL);
    printf("\"\n  elif [ -z \"$offer\" ]; then\n"
           "  case \"$two\" in\n");
    command_cases();
    printf("    *) case \"$one\" in\n");
    command_cases();
    printf("  *) [ \"$count\" = 1 ] && case \"$one\" in\n");
    noun_cases();
    printf("  esac ;;\n  esac ;;\n  esac\n"
           "  case \"$now\" in -*) offer=\"$flags\" ;; esac\n  fi\n");
}

static int bash_print(void) {
    printf("# bash completion of overseer; made by `overseer completion bash`\n"
           "_overseer() {\n"
           "  local i count=0 one=\"\" two=\"\" before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  local now=${COMP_WORDS[COMP_CWORD]}\n"
           "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "    case ${COMP_WORDS[i]} in -*) continue ;; esac\n"
           "    count=$((count + 1))\n"
           "    [ $count = 1 ] && one=${COMP_WORDS[i]}\n"
           "    [ $count = 2 ] && two=\"$one ${COMP_WORDS[i]}\"\n"
           "  done\n");
    body_print();
    printf("  COMPREPLY=($(compgen -W \"$offer\" -- \"$now\"))\n"
           "}\n"
           "complete -o default -F _overseer overseer\n");
    return 0;
}

static int zsh_print(void) {
    printf("#compdef overseer\n"
           "# zsh completion of overseer; made by `overseer completion zsh`\n"
           "_overseer() {\n"
           "  local i count=0 one=\"\" two=\"\" before=${words[CURRENT-1]}\n"
           "  local now=${words[CURRENT]}\n"
           "  for ((i = 2; i < CURRENT; i++)); do\n"
           "    case ${words[i]} in -*) continue ;; esac\n"
           "    count=$((count + 1))\n"
           "    [ $count = 1 ] && one=${words[i]}\n"
           "    [ $count = 2 ] && two=\"$one ${words[i]}\"\n"
           "  done\n");
    body_print();
    printf(
        "  if [ -n \"$offer\" ]; then compadd -- ${(z)offer}; else _files; fi\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _overseer ]; then _overseer \"$@\"; else compdef _overseer overseer; fi\n");
    return 0;
}

/* ---- fish: one line for each word and flag ---- */

static void fish_word(const char *noun, const char *word, const char *text) {
    printf("complete -c overseer -n '__overseer_typed%s%s' -a %s -d ", noun ? " " : "",
           noun ? noun : "", word);
    quoted(text);
    printf("\n");
}

static void fish_flag(const struct command *command, const struct field *flag) {
    char name[FLAG_NAME];
    printf("complete -c overseer -n '__overseer_begins %s' -l %s%s", command->words,
           flag_shown(flag, name), flag->type == FIELD_FLAG ? "" : " -r");
    if (has_values(flag)) {
        printf(" -f -a '");
        value_print(flag, "");
        printf("'");
    }
    printf(" -d ");
    quoted(flag->text ? flag->text : "");
    printf("\n");
}

static void fish_command(const struct command *command) {
    const char *space = strchr(command->words, ' ');
    char noun[48];
    snprintf(noun, sizeof noun, "%.*s", space ? (int)(space - command->words) : 0, command->words);
    fish_word(space ? noun : NULL, space ? space + 1 : command->words, command_summary(command));
    for (size_t i = 0; command_flag(command, i); i++)
        if (i >= command_positional(command))
            fish_flag(command, command_flag(command, i));
        else if (i == 0 && has_values(command_flag(command, 0))) {
            printf("complete -c overseer -n '__overseer_%s %s' -a '",
                   takes_several(command) ? "begins" : "typed", command->words);
            value_print(command_flag(command, 0), "");
            printf("'\n");
        }
}

static int fish_print(void) {
    printf(
        "# fish completion of overseer; made by `overseer completion fish`\n"
        "function __overseer_plain\n"
        "    for word in (commandline -opc)[2..-1]\n"
        "        string match -q -- '-*' $word; or echo $word\n"
        "    end\n"
        "end\n"
        "function __overseer_typed\n"
        "    set -l plain (__overseer_plain)\n"
        "    test \"$plain\" = \"$argv\"\n"
        "end\n"
        "function __overseer_begins\n"
        "    set -l plain (__overseer_plain)\n"
        "    test (count $plain) -ge (count $argv); and test \"$plain[1..\"(count $argv)\"]\" = \"$argv\"\n"
        "end\n"
        "complete -c overseer -f\n");
    for (size_t i = 0; noun_at(i); i++)
        fish_word(NULL, noun_at(i)->name, noun_at(i)->summary);
    for (size_t i = 0; i < command_count(); i++)
        fish_command(command_at(i));
    for (size_t i = 0; i < GLOBAL_COUNT; i++) {
        printf("complete -c overseer -l %s%s -d ", GLOBALS[i].name,
               GLOBALS[i].type == FIELD_FLAG ? "" : " -r");
        quoted(GLOBALS[i].text);
        printf("\n");
    }
    return 0;
}

/* ---- ids, while the daemon runs ---- */

static int goals_print(struct typed *typed) {
    json_t *result = typed_ask(typed, "goal.list", json_pack("{s:i}", "limit", 100));
    const json_t *goals = json_object_get(result, "goals");
    size_t i, length = ids_length(goals);
    json_t *goal;
    char id[ID_TEXT + 1];
    json_array_foreach(goals, i, goal) printf("%s\n", name_or_id(goal, length, id));
    json_decref(result);
    return result ? 0 : typed->trouble.exit;
}

/* Q7.1 is a question of T7, and T7 names it as long as it has no other. */
static int questions_print(struct typed *typed) {
    json_t *result = typed_ask(typed, "inbox.list", json_object());
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(result, "items"), i, item) {
        const char *name = text_of(item, "questionId");
        printf("%s\n", name);
        if (name[0] == 'Q' && isdigit((unsigned char)name[1]))
            printf("T%.*s\n", (int)strcspn(name + 1, "."), name + 1);
    }
    json_decref(result);
    return result ? 0 : typed->trouble.exit;
}

int completion_run(struct typed *typed) {
    const char *shell = typed_text(typed, "shell");
    if (!shell) {
        trouble_make(&typed->trouble, ERROR_INVALID, "Which shell: bash, zsh or fish?");
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    return strcmp(shell, "bash") == 0    ? bash_print()
           : strcmp(shell, "zsh") == 0   ? zsh_print()
           : strcmp(shell, "fish") == 0  ? fish_print()
           : strcmp(shell, "goals") == 0 ? goals_print(typed)
                                         : questions_print(typed);
}
