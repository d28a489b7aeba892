/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the core keeps its guarantees for a month. Fifty agents who work, stall, lie, loop, die and come back, a daemon
 * that is restarted, a machine that sleeps, a person who answers when there is time. Everything by seed: the same seed twice
 * writes the same records.
 *
 *     watchful [--seed N] [--runs N] [--days N] [--goals N] [--jobs N] [--twice] [--story] */
#include "lib/alone.h"
#include "lib/proof.h"

#include <getopt.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 64 };

struct course {
    uint64_t seed, runs;
    uint32_t days, goals, jobs;
    bool twice, story;
};

struct totals {
    uint64_t seeds, violations, differing, over;
    struct alone_counts alone;
    struct cast_counts cast;
};

static uint64_t sum_of(uint64_t *to, const uint64_t *from, size_t size) {
    for (size_t i = 0; i < size / sizeof *to; i++)
        to[i] += from[i];
    return 0;
}

static struct alone *run_alone(const struct course *course, uint64_t seed) {
    struct alone *alone = alone_create(seed, course->goals, course->days);
    alone->story = course->story ? stdout : NULL;
    while (alone_move(alone))
        ;
    alone_finish(alone);
    return alone;
}

static bool run_one(const struct course *course, uint64_t seed, struct totals *totals) {
    struct alone *alone = run_alone(course, seed);
    bool ok = alone->violation[0] == 0;
    if (!ok)
        printf("seed %llu: %s\n", (unsigned long long)seed, alone->violation);
    if (course->twice) {
        struct alone *again = run_alone(course, seed);
        if (again->digest != alone->digest) {
            printf("seed %llu writes other records when it is played again\n",
                   (unsigned long long)seed);
            totals->differing++;
            ok = false;
        }
        alone_free(again);
    }
    fflush(stdout);
    totals->seeds++;
    totals->violations += !ok;
    uint64_t most = totals->alone.most_actions;
    sum_of((uint64_t *)&totals->alone, (const uint64_t *)&alone->counts, sizeof alone->counts);
    sum_of((uint64_t *)&totals->cast, (const uint64_t *)&alone->cast->counts,
           sizeof alone->cast->counts);
    totals->alone.most_actions =
        alone->counts.most_actions > most ? alone->counts.most_actions : most;
    alone_free(alone);
    return ok;
}

static struct totals run_share(const struct course *course, uint32_t job) {
    struct totals totals = {0};
    for (uint64_t i = 0; i < course->runs; i++)
        if (i % course->jobs == job && !run_one(course, course->seed + i, &totals) &&
            totals.violations >= 10)
            break;
    return totals;
}

static void totals_add(struct totals *to, const struct totals *from) {
    uint64_t most = to->alone.most_actions;
    sum_of((uint64_t *)to, (const uint64_t *)from, sizeof *to);
    to->alone.most_actions = from->alone.most_actions > most ? from->alone.most_actions : most;
}

/* Each job is a process: a run that crashes is a violation, and does not end the others. */
static struct totals run_jobs(const struct course *course) {
    struct totals totals = {0};
    int ends[MAX_JOBS];
    for (uint32_t job = 0; job < course->jobs; job++) {
        int pair[2];
        must(pipe(pair) == 0);
        fflush(NULL);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            struct totals mine = run_share(course, job);
            exit(write(pair[1], &mine, sizeof mine) == sizeof mine ? 0 : 2);
        }
        close(pair[1]);
        ends[job] = pair[0];
    }
    for (uint32_t job = 0; job < course->jobs; job++) {
        struct totals share = {0};
        if (read(ends[job], &share, sizeof share) != sizeof share)
            share = (struct totals){.violations = 1};
        close(ends[job]);
        totals_add(&totals, &share);
    }
    while (wait(NULL) > 0)
        ;
    return totals;
}

static bool options_read(struct course *course, int argc, char **argv) {
    static const struct option LONG[] = {
        {"seed", required_argument, NULL, 's'}, {"runs", required_argument, NULL, 'r'},
        {"days", required_argument, NULL, 'd'}, {"goals", required_argument, NULL, 'g'},
        {"jobs", required_argument, NULL, 'j'}, {"twice", no_argument, NULL, 't'},
        {"story", no_argument, NULL, 'y'},      {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 's': course->seed = strtoull(optarg, NULL, 10); break;
        case 'r': course->runs = strtoull(optarg, NULL, 10); break;
        case 'd': course->days = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'g': course->goals = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'j': course->jobs = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 't': course->twice = true; break;
        case 'y': course->story = true; break;
        default: return false;
        }
    return course->jobs <= MAX_JOBS && course->goals > 0 && course->goals <= ALONE_GOALS;
}

static void totals_print(const struct totals *totals, double seconds) {
    const struct alone_counts *a = &totals->alone;
    const struct cast_counts *c = &totals->cast;
    double years = (double)a->agent_minutes / (365.25 * 1440);
    uint64_t signals = a->signals + c->samples;
    printf("%llu seeds: %llu goals begun, %llu done, %llu cancelled, %llu still open at the end\n",
           (unsigned long long)totals->seeds, (unsigned long long)a->goals,
           (unsigned long long)a->done, (unsigned long long)a->cancelled,
           (unsigned long long)a->left);
    printf(
        "%llu runs, %llu sends, %llu nudges (%llu in vain), %llu looks, %llu stops, %llu stalls, "
        "%llu deaths, %llu ghosts, %llu doubtful deliveries\n",
        (unsigned long long)c->spawns, (unsigned long long)c->sends, (unsigned long long)c->nudges,
        (unsigned long long)c->vain, (unsigned long long)c->looks, (unsigned long long)c->stops,
        (unsigned long long)c->stalls, (unsigned long long)c->deaths, (unsigned long long)c->ghosts,
        (unsigned long long)c->doubts);
    printf(
        "%llu questions, %llu answers, %llu restarts, %llu sleeps, at most %llu actions in a minute, "
        "%llu lies believed where nobody checks\n",
        (unsigned long long)a->questions, (unsigned long long)a->answers,
        (unsigned long long)a->restarts, (unsigned long long)a->sleeps,
        (unsigned long long)a->most_actions, (unsigned long long)a->lies);
    printf("%llu signals (%llu samples), %llu steps, %llu decisions; %.1f signals an agent-day\n",
           (unsigned long long)signals, (unsigned long long)c->samples,
           (unsigned long long)a->steps, (unsigned long long)a->decisions,
           (double)signals * 1440 / (double)(a->agent_minutes ? a->agent_minutes : 1));
    printf("%.2f agent-years in %.1f s: %.0f agent-years an hour, %.0f signals a second\n", years,
           seconds, years * 3600 / seconds, (double)signals / seconds);
    printf("%llu violations\n", (unsigned long long)totals->violations);
}

int main(int argc, char **argv) {
    struct course course = {.seed = 1, .runs = 10, .days = 30, .goals = 12, .jobs = 2};
    if (!options_read(&course, argc, argv))
        return 2;
    if (course.story || course.jobs == 0)
        course.jobs = 1;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    struct totals totals = run_jobs(&course);
    clock_gettime(CLOCK_MONOTONIC, &end);
    totals_print(&totals,
                 (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    if (totals.cast.vain * 200 > totals.cast.nudges) {
        printf("nudges are less than 99.5 percent precise\n");
        return 1;
    }
    if (totals.violations > 0 || totals.seeds == 0)
        return 1;
    proof_passed("watchful", "a month of fifty agents, by seed", "TICK-20 TICK-26 RECOVER-08");
    return 0;
}
