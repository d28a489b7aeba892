/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the demo on one screen: which agent does what, and what Overseer did about it. */
#include "cli/demo/demo.h"

#include <stdlib.h>

static const struct {
    const char *name;
    enum tint tint;
} STATE[DEMO_STATES] = {
    [DEMO_QUEUED] = {"queued", TINT_DIM},    [DEMO_WORKING] = {"working", TINT_BUSY},
    [DEMO_STALLED] = {"stalled", TINT_WARN}, [DEMO_CHECKING] = {"checking", TINT_BUSY},
    [DEMO_NEEDS] = {"needs you", TINT_WARN}, [DEMO_DONE] = {"done", TINT_GOOD},
};

/* ---- applying an event ---- */

static void line_add(struct demo *demo, const json_t *event, uint32_t task, enum tint tint,
                     const char *text) {
    if (demo->line_count == DEMO_LINES)
        return;
    struct demo_line *line = &demo->lines[demo->line_count++];
    *line =
        (struct demo_line){.after = time_of(event, "at") - demo->began, .task = task, .tint = tint};
    snprintf(line->text, sizeof line->text, "%s", text);
}

static void stalled_take(struct demo *demo, struct demo_task *task, const json_t *event,
                         uint32_t n) {
    bool died = strcmp(text_of(event, "rule"), "agent.silent") != 0;
    char text[DEMO_LINE];
    task->state = DEMO_STALLED;
    if (task->warned)
        return;
    task->warned = true;
    snprintf(text, sizeof text, died ? "%s: its process is gone" : "%s stopped making progress",
             task->agent);
    line_add(demo, event, n, TINT_WARN, text);
}

/* Applies what was sent to the agent, and why. */
static void dispatched_take(struct demo *demo, struct demo_task *task, const json_t *event,
                            uint32_t n) {
    const char *words = text_of(event, "text");
    char text[DEMO_LINE] = "";
    if (strcmp(words, "nudge") == 0) {
        snprintf(text, sizeof text, "nudged %s (%u)", task->agent, ++task->nudges);
    } else if (strcmp(words, "again") == 0) {
        task->restarts++;
        snprintf(text, sizeof text, "started %s again, with what was done so far", task->agent);
    } else if (strcmp(words, "failed") == 0) {
        snprintf(text, sizeof text, "told %s what fails, and to continue", task->agent);
    } else if (task->moves > 0)
        snprintf(text, sizeof text, "gave the task to %s instead", task->agent);
    else
        snprintf(text, sizeof text, "%s starts", task->agent);
    if (strcmp(words, "nudge") != 0) {
        task->state = DEMO_WORKING;
        task->warned = false;
    }
    line_add(demo, event, n, TINT_BUSY, text);
}

static void checked_take(struct demo *demo, struct demo_task *task, const json_t *event,
                         uint32_t n) {
    bool passed = strcmp(text_of(event, "to"), "passed") == 0;
    char text[DEMO_LINE];
    task->caught += !passed;
    task->state = passed ? DEMO_CHECKING : DEMO_WORKING;
    snprintf(text, sizeof text,
             passed ? "%s says done, and the checks pass" : "%s says done. It is not: %s",
             task->agent, text_of(event, "text"));
    line_add(demo, event, n, passed ? TINT_NONE : TINT_BAD, text);
}

static void active_take(struct demo *demo, struct demo_task *task, const json_t *event,
                        uint32_t n) {
    char text[DEMO_LINE];
    if (task->state == DEMO_STALLED && task->nudges > 0) {
        snprintf(text, sizeof text, "%s continues", task->agent);
        line_add(demo, event, n, TINT_GOOD, text);
        task->warned = false;
    }
    task->state = DEMO_WORKING;
}

static void landed_take(struct demo *demo, struct demo_task *task, const json_t *event,
                        uint32_t n) {
    task->state = DEMO_DONE;
    line_add(demo, event, n, TINT_GOOD, "landed: done, verified");
}

static void asked_take(struct demo *demo, struct demo_task *task, const json_t *event, uint32_t n) {
    task->state = DEMO_NEEDS;
    line_add(demo, event, n, TINT_WARN, "a person is asked what to do");
}

static void queued_take(struct demo *demo, struct demo_task *task, const json_t *event,
                        uint32_t n) {
    (void)demo, (void)n;
    task->moves += *task->agent != 0;
    task->state = DEMO_QUEUED;
    snprintf(task->agent, sizeof task->agent, "%s", text_of(event, "text"));
}

static const struct {
    const char *type;
    void (*take)(struct demo *demo, struct demo_task *task, const json_t *event, uint32_t n);
} TAKES[] = {
    {"assignment.queued", queued_take}, {"assignment.dispatched", dispatched_take},
    {"assignment.active", active_take}, {"assignment.stalled", stalled_take},
    {"assignment.blocked", asked_take}, {"work.checked", checked_take},
    {"work.landed", landed_take},
};

void demo_take(struct demo *demo, const json_t *event) {
    const char *type = text_of(event, "type"), *node = text_of(event, "node");
    uint32_t n = *node == 'T' ? (uint32_t)strtoul(node + 1, NULL, 10) : 0;
    if (strcmp(type, "goal.completed") == 0)
        demo->over = true;
    for (size_t i = 0; n > 0 && n <= DEMO_TASKS && i < count_of(TAKES); i++)
        if (strcmp(TAKES[i].type, type) == 0)
            TAKES[i].take(demo, &demo->tasks[n - 1], event, n);
}

/* ---- the tasks ---- */

/* Summarises what Overseer did about the task. */
static void helped(const struct demo_task *task, char *text, size_t size) {
    const struct {
        uint32_t count;
        const char *words;
    } HELP[] = {{task->nudges, "nudged"},
                {task->restarts, "restarted"},
                {task->caught, "caught lying"},
                {task->moves, "reassigned"}};
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count_of(HELP); i++) {
        if (HELP[i].count == 0 || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", HELP[i].words);
        if (HELP[i].count > 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, " %u times", HELP[i].count);
    }
}

static void tasks_print(const struct demo *demo) {
    static const struct column COLUMNS[] = {{.title = "task"},
                                            {.title = "", .bends = true, .least = 22},
                                            {.title = "agent", .least = 6},
                                            {.title = "state", .least = 9},
                                            {.title = "what Overseer did", .least = 24}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    for (uint32_t i = 0; i < DEMO_TASKS; i++) {
        const struct demo_task *task = &demo->tasks[i];
        char text[80];
        helped(task, text, sizeof text);
        table_row(&table);
        table_cell(&table, TINT_BOLD, "T%u", i + 1);
        table_cell(&table, TINT_NONE, "%s", DEMO[i].task);
        table_cell(&table, TINT_NONE, "%s", task->agent);
        table_cell(&table, STATE[task->state].tint, "%s%s", STATE[task->state].name,
                   task->state == DEMO_DONE ? " ✓" : "");
        table_cell(&table, TINT_DIM, "%s", text);
    }
    table_print(&table);
}

/* ---- what happened ---- */

static void line_print(const struct demo_line *line, size_t width) {
    int64_t seconds = line->after > 0 ? line->after / SECONDS(1) : 0;
    printf("  %lld:%02lld  T%u  ", (long long)seconds / 60, (long long)seconds % 60, line->task);
    tint_on(stdout, line->tint);
    text_print(stdout, str_of(line->text), width > 14 ? width - 13 : 0, 0);
    tint_off(stdout, line->tint);
    printf("\n");
}

static void head_print(const struct demo *demo) {
    long long seconds = (clock_now() - demo->began) / SECONDS(1);
    tint_on(stdout, TINT_BOLD);
    printf("overseer demo");
    tint_off(stdout, TINT_BOLD);
    printf("   %lld:%02lld   six pretend agents, %d times as fast as real ones\n", seconds / 60,
           seconds % 60, DEMO_PACE);
    tint_on(stdout, TINT_DIM);
    printf("one stalls, one loops, one lies, one dies; no key, no network\n\n");
    tint_off(stdout, TINT_DIM);
}

void demo_draw(const struct demo *demo) {
    size_t height = term_height(), above = DEMO_TASKS + 6 + (demo->over ? DEMO_LAST_WORDS : 0);
    size_t room = height > above + 3 ? height - above : 3;
    uint32_t first = demo->line_count > room ? demo->line_count - (uint32_t)room : 0;
    printf("\033[H\033[J");
    head_print(demo);
    tasks_print(demo);
    printf("\n");
    for (uint32_t i = first; i < demo->line_count; i++)
        line_print(&demo->lines[i], term_width());
    fflush(stdout);
}

void demo_say(struct demo *demo) {
    for (; demo->printed < demo->line_count; demo->printed++)
        line_print(&demo->lines[demo->printed], 0);
    fflush(stdout);
}

void demo_tell(const struct demo *demo) {
    printf("\n");
    tasks_print(demo);
}
