/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which commit of a task this user was last shown: a small file, one line "GOAL COMMIT" for each task. */
#include "cli/shown.h"

#include "cli/place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_MOST = 256, SHOWN_LINE = 128 };

static bool folder_name(char ret[PATH_MAX]) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (state && *state == '/')
        length = snprintf(ret, PATH_MAX, "%s/overseer", state);
    else if (home && *home == '/')
        length = snprintf(ret, PATH_MAX, "%s/.local/state/overseer", home);
    return length > 0 && length < PATH_MAX - 16;
}

static bool line_is_of(const char *line, const char *goal) {
    size_t length = strlen(goal);
    return strncmp(line, goal, length) == 0 && line[length] == ' ';
}

/* The lines of other tasks, oldest first; at most the newest SHOWN_MOST - 1. */
static unsigned others_read(const char *path, const char *goal, char lines[][SHOWN_LINE]) {
    FILE *file = fopen(path, "re");
    unsigned count = 0;
    while (file && fgets(lines[count], SHOWN_LINE, file)) {
        if (!strchr(lines[count], '\n') || line_is_of(lines[count], goal))
            continue;
        if (++count == SHOWN_MOST - 1)
            memmove(lines[0], lines[1], (size_t)--count * SHOWN_LINE);
    }
    if (file)
        fclose(file);
    return count;
}

/* Losing the file only costs one more question, so write errors are not reported. */
void shown_remember(const char *goal, const char *commit) {
    static char lines[SHOWN_MOST][SHOWN_LINE];
    char folder[PATH_MAX], path[PATH_MAX + 8], fresh[PATH_MAX + 16];
    if (!*goal || !*commit || strlen(goal) + strlen(commit) + 3 > SHOWN_LINE ||
        !folder_name(folder))
        return;
    place_make(folder);
    snprintf(path, sizeof path, "%s/shown", folder);
    snprintf(fresh, sizeof fresh, "%s/shown.%d", folder, (int)getpid());
    unsigned count = others_read(path, goal, lines);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return;
    for (unsigned i = 0; i < count; i++)
        fputs(lines[i], file);
    fprintf(file, "%s %s\n", goal, commit);
    if (fclose(file) != 0 || rename(fresh, path) != 0)
        unlink(fresh);
}

bool shown_recall(const char *goal, char ret_commit[SHOWN_COMMIT]) {
    char folder[PATH_MAX], path[PATH_MAX + 8], line[SHOWN_LINE];
    bool found = false;
    if (!folder_name(folder))
        return false;
    snprintf(path, sizeof path, "%s/shown", folder);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (line_is_of(line, goal)) {
            line[strcspn(line, "\n")] = 0;
            snprintf(ret_commit, SHOWN_COMMIT, "%s", line + strlen(goal) + 1);
            found = true;
        }
    if (file)
        fclose(file);
    return found;
}
