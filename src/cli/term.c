/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term.h"

#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { WRAP_MOST = 100 };

static bool paged; /* standard output is a pipe to a pager: a person still reads it */
static pid_t pager;

void term_start(void) {
    setlocale(LC_CTYPE, "C.UTF-8"); /* for wcwidth(); the output is always UTF-8 */
    signal(SIGPIPE, SIG_DFL);
}

bool term_is(FILE *file) {
    return (file == stdout && paged) || isatty(fileno(file));
}

static struct winsize size_now(void) {
    struct winsize size = {0};
    if (ioctl(paged ? STDERR_FILENO : STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    return size;
}

size_t term_width(void) {
    const char *columns = getenv("COLUMNS");
    size_t asked = columns ? strtoul(columns, NULL, 10) : 0, seen = size_now().ws_col;
    if (!term_is(stdout))
        return 0;
    return seen ? seen : asked ? asked : 80;
}

size_t term_height(void) {
    size_t seen = size_now().ws_row;
    return !term_is(stdout) ? 0 : seen ? seen : 24;
}

bool term_can_ask(void) {
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- colour ---- */

static bool coloured(FILE *file) {
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return term_is(file) && !(no && *no) && !(kind && strcmp(kind, "dumb") == 0);
}

void tint_on(FILE *file, enum tint tint) {
    static const char *const CODES[TINTS] = {"", "2", "1", "32", "31", "33", "36"};
    if (tint != TINT_NONE && coloured(file))
        fprintf(file, "\033[%sm", CODES[tint]);
}

void tint_off(FILE *file, enum tint tint) {
    if (tint != TINT_NONE && coloured(file))
        fprintf(file, "\033[0m");
}

/* ---- text ---- */

/* The next character: its bytes, and how many columns it takes. A control character takes one, as a blank. */
static size_t character_read(struct str text, size_t at, size_t *ret_width, bool *ret_steers) {
    mbstate_t state = {0};
    wchar_t letter = 0;
    size_t used = mbrtowc(&letter, text.at + at, text.len - at, &state);
    if (used == 0 || used == (size_t)-1 || used == (size_t)-2)
        used = 1, letter = 0;
    int width = wcwidth(letter);
    bool turns = (letter >= 0x202A && letter <= 0x202E) || (letter >= 0x2066 && letter <= 0x2069);
    *ret_steers = width < 0 || turns || letter == 0;
    *ret_width = *ret_steers ? 1 : (size_t)width;
    return used;
}

size_t text_width(struct str text) {
    size_t columns = 0, width;
    bool steers;
    for (size_t at = 0; at < text.len; columns += width)
        at += character_read(text, at, &width, &steers);
    return columns;
}

void text_print(FILE *file, struct str text, size_t width, size_t pad) {
    size_t columns = 0, wide;
    bool steers, cut = width > 0 && text_width(text) > width;
    for (size_t at = 0; at < text.len;) {
        size_t used = character_read(text, at, &wide, &steers);
        if (cut && columns + wide > width - 1) {
            fputs("…", file);
            columns++;
            break;
        }
        if (steers)
            fputc(' ', file);
        else
            fwrite(text.at + at, 1, used, file);
        columns += wide;
        at += used;
    }
    for (; columns < pad; columns++)
        fputc(' ', file);
}

static size_t width_now(void) {
    size_t width = term_width();
    return width > 40 && width < WRAP_MOST ? width : WRAP_MOST;
}

static size_t line_break(FILE *file, size_t indent) {
    fprintf(file, "\n%*s", (int)indent, "");
    return indent;
}

/* Prints words up to the edge; the next line begins at `indent`. */
void text_wrap(FILE *file, const char *text, size_t column, size_t indent) {
    size_t width = width_now();
    bool fresh = true; /* nothing is printed on this line yet */
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " \n"), wide = text_width((struct str){at, length});
        if (!fresh && column + 1 + wide > width)
            column = line_break(file, indent);
        else if (!fresh)
            column += fprintf(file, " ") > 0;
        text_print(file, (struct str){at, length}, 0, 0);
        column += wide;
        at += length;
        fresh = *at == '\n';
        if (fresh)
            column = line_break(file, indent);
        at += *at != 0;
    }
    fputc('\n', file);
}

/* ---- times ---- */

const char *age_format(int64_t seconds, char text[AGE_TEXT]) {
    long long s = seconds < 0 ? 0 : seconds;
    if (s < 60)
        snprintf(text, AGE_TEXT, "%llds", s);
    else if (s < 3600)
        snprintf(text, AGE_TEXT, "%lldm", s / 60);
    else if (s < 86400)
        snprintf(text, AGE_TEXT, "%lldh%02lld", s / 3600, s / 60 % 60);
    else
        snprintf(text, AGE_TEXT, "%lldd", s / 86400);
    return text;
}

const char *clock_format(int64_t at_us, int64_t now_us, char text[CLOCK_TEXT]) {
    time_t at = (time_t)(at_us / 1000000), now = (time_t)(now_us / 1000000);
    struct tm local, today;
    localtime_r(&at, &local);
    localtime_r(&now, &today);
    bool same_day = local.tm_yday == today.tm_yday && local.tm_year == today.tm_year;
    bool near = at <= now && now - at < 6 * 86400;
    strftime(text, CLOCK_TEXT, same_day ? "%H:%M" : near ? "%a %H:%M" : "%Y-%m-%d", &local);
    return text;
}

/* ---- hints and questions ---- */

void hint(const char *format, ...) {
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    fflush(stdout);
    va_start(args, format);
    tint_on(stderr, TINT_DIM);
    vfprintf(stderr, format, args);
    tint_off(stderr, TINT_DIM);
    va_end(args);
    fputc('\n', stderr);
}

bool person_accepts(const char *question) {
    char answer[16];
    if (!term_can_ask())
        return false;
    fprintf(stderr, "%s? [Y/n] ", question);
    return fgets(answer, sizeof answer, stdin) && strchr("\nyY", answer[0]);
}

bool person_agrees(const char *question) {
    char answer[16];
    if (!term_can_ask())
        return false;
    fprintf(stderr, "%s. Continue? [y/N] ", question);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

void lines_say(const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        text_print(stdout, (struct str){text, length}, 0, 0);
        printf("\n");
        text += length + (text[length] == '\n');
    }
}

/* ---- the pager ---- */

void pager_start(void) {
    const char *program = getenv("PAGER");
    int pipes[2];
    if (!program || !*program || strcmp(program, "cat") == 0 || !isatty(STDOUT_FILENO) ||
        pipe(pipes) != 0)
        return;
    fflush(stdout);
    pager = fork();
    if (pager == 0) {
        setenv("LESS", "FRX",
               0); /* less: quit at once if it fits on one screen, and keep colours */
        dup2(pipes[0], STDIN_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execl("/bin/sh", "sh", "-c", program, (char *)NULL);
        _exit(127);
    }
    if (pager > 0) {
        dup2(pipes[1], STDOUT_FILENO);
        paged = true;
        signal(SIGPIPE, SIG_IGN); /* a user who quits the pager has seen enough */
    }
    close(pipes[0]);
    close(pipes[1]);
}

void pager_end(void) {
    if (!paged)
        return;
    fflush(stdout);
    close(STDOUT_FILENO);
    waitpid(pager, NULL, 0);
    paged = false;
}
