/* SPDX-License-Identifier: Apache-2.0 */
/* Plays agents with behaviour that a hold has to handle. One word selects the behaviour:
 *
 *     agent pour BYTES HEARD     writes the pattern to its output, and each line of its input to the file HEARD
 *     agent deaf                 ignores SIGTERM and reads nothing
 *     agent brood FILE           starts children: one ignores SIGTERM, one is a grandchild whose parent is gone, in a session of its
 *                                own, and three generations below one another; their pids go into FILE; then it waits
 *     agent nurse FILE           ignores SIGTERM, starts one child, and waits for its end
 *     agent bomb FILE            starts children that start children as fast as they can */
#include "pattern.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void lines_hear(const char *file) {
    char bytes[4096];
    int to = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (ssize_t got; (got = read(0, bytes, sizeof bytes)) > 0;)
        if (write(to, bytes, (size_t)got) != got)
            abort();
}

static int flood(uint64_t total, const char *heard) {
    static char bytes[32768];
    pid_t ear = fork();
    if (ear == 0) {
        close(1);
        lines_hear(heard);
        _exit(0);
    }
    for (uint64_t at = 0; at < total;) {
        size_t size = total - at < sizeof bytes ? (size_t)(total - at) : sizeof bytes;
        for (size_t i = 0; i < size; i++)
            bytes[i] = pattern_at(at + i);
        ssize_t put = write(1, bytes, size);
        if (put < 0)
            return 1;
        at += (uint64_t)put;
    }
    close(1);
    waitpid(ear, NULL, 0);
    return 7;
}

static void name_note(const char *file, const char *what) {
    FILE *to = fopen(file, "a");
    fprintf(to, "%s %d\n", what, (int)getpid());
    fclose(to);
}

/* Generations of children below one another, each in its own session. */
static void deep(const char *file) {
    char what[] = "deep3";
    for (; what[4] > '0'; what[4]--) {
        signal(SIGTERM, SIG_IGN);
        setsid();
        name_note(file, what);
        if (what[4] == '1' || fork() > 0)
            for (;;)
                pause();
    }
}

static void brood(const char *file) {
    if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        name_note(file, "deaf");
        for (;;)
            pause();
    }
    pid_t between = fork();
    if (between == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            name_note(file, "twice");
            for (;;)
                pause();
        }
        _exit(0);
    }
    waitpid(between, NULL, 0);
    if (fork() == 0)
        deep(file);
    name_note(file, "agent");
}

/* Bounded, because a failing test must not take down the machine: 12,000 processes in total, 8 at a time, for three
 * seconds or more. Processes that are not reaped count, too. Each process forks the next one and exits; in every other
 * chain the next one also leaves the session. */
static void bomb(const char *file) {
    name_note(file, "agent");
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            for (int lives = 0; lives < 1500; lives++) {
                if (fork() > 0)
                    _exit(0);
                if (i % 2)
                    setsid();
                usleep(2000);
            }
            _exit(0);
        }
}

static void nurse(const char *file) {
    signal(SIGTERM, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        name_note(file, "child");
        for (;;)
            pause();
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "pour"))
        return flood(strtoull(argv[2], NULL, 10), argv[3]);
    if (argc == 3 && !strcmp(argv[1], "brood"))
        brood(argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "nurse"))
        nurse(argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "bomb"))
        bomb(argv[2]);
    else if (argc == 2 && !strcmp(argv[1], "deaf"))
        signal(SIGTERM, SIG_IGN);
    else
        return 2;
    for (;;)
        pause();
}
