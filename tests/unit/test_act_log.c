/* SPDX-License-Identifier: Apache-2.0 */
/* P14: tests when the notes of an earlier process prove that an act was not begun. */
#include "ledger_turns.h"

#include "ledger/act_log.h"
#include "model/effect.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 8, BOOT = 7, EPOCH = 3, BATCH = 40 };

static struct id id_of(uint8_t n) {
    struct id id = {{0}};
    id.bytes[0] = n;
    return id;
}

static struct act_row command_of(uint8_t goal, uint32_t n) {
    return (struct act_row){.goal = id_of(goal), .n = n, .kind = EFFECT_COMMAND, .batch = BATCH};
}

static bool note(struct act_log *log, uint8_t goal) {
    struct act_row row = command_of(goal, 0);
    return act_log_note(log, &row, true) && act_log_start(log, row.goal, row.n);
}

static bool had(struct act_log *log, uint8_t goal) {
    struct act_row row = command_of(goal, 0);
    return act_log_had(log, &row);
}

static void confirm(struct act_log *log) {
    act_log_confirm(log, &(struct act_head){.instance = id_of(1), .epoch = EPOCH, .batch = BATCH});
}

/* The log of a process that has settled everything of earlier processes, and ended. */
static struct act_log *left(void) {
    struct act_log *log = act_log_make(ROWS);
    assert_non_null(log);
    assert_true(act_log_begin(log, BOOT));
    confirm(log);
    act_log_settle(log);
    return log;
}

static bool whole(struct act_log *log) {
    return act_log_begin(log, BOOT) && act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH);
}

static void notes_count_for_the_next_process(void **state) {
    (void)state;
    struct act_log *log = left();
    assert_true(note(log, 5));
    assert_true(whole(log));
    assert_true(had(log, 5));
    assert_false(had(log, 6));
    assert_true(act_log_is_whole(log, id_of(1), EPOCH + 1,
                                 BATCH + 1)); /* the answer to the last batch was lost */
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH + 2));
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH - 1));
    assert_false(
        act_log_is_whole(log, id_of(1), EPOCH + 2, BATCH)); /* another process ran in between */
    assert_false(act_log_is_whole(log, id_of(1), EPOCH, BATCH));
    assert_false(act_log_is_whole(log, id_of(2), EPOCH + 1, BATCH)); /* another store */
    assert_true(act_log_begin(log, BOOT + 1));
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH));
    assert_true(act_log_begin(log, 0));
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH));
    act_log_free(log);
}

/* A process that could not rely on its notes, and ends before it has settled everything of earlier processes, leaves no
 * notes to rely on. */
static void doubt_lasts_until_it_is_settled(void **state) {
    (void)state;
    struct act_log *log = left();
    assert_true(act_log_begin(log, BOOT + 1));
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 1, BATCH));
    act_log_doubt(log);
    act_log_confirm(log,
                    &(struct act_head){.instance = id_of(1), .epoch = EPOCH + 1, .batch = BATCH});
    assert_true(act_log_begin(log, BOOT + 1));
    assert_false(act_log_is_whole(log, id_of(1), EPOCH + 2, BATCH));
    act_log_settle(log);
    assert_true(act_log_begin(log, BOOT + 1));
    assert_true(act_log_is_whole(log, id_of(1), EPOCH + 2, BATCH));
    act_log_free(log);
}

/* Until everything of earlier processes is settled, a note may be missing. */
static void nothing_counts_before_it_is_settled(void **state) {
    (void)state;
    struct act_log *log = act_log_make(ROWS);
    assert_true(act_log_begin(log, BOOT));
    confirm(log);
    assert_false(whole(log));
    act_log_free(log);
}

static void a_note_that_is_needed_is_not_lost_silently(void **state) {
    (void)state;
    struct act_log *log = left();
    for (uint8_t i = 0; i < ROWS; i++)
        assert_true(note(log, i));
    assert_true(whole(log));
    confirm(log);
    act_log_settle(log);
    for (uint8_t i = 0; i < ROWS; i++) { /* the earlier rows are settled */
        assert_true(note(log, (uint8_t)(50 + i)));
        act_log_end(log, id_of((uint8_t)(50 + i)), 0);
    }
    assert_true(note(log, 70)); /* replaces a row that has ended */
    assert_true(act_log_head(log)->whole);
    for (uint8_t i = 0; i < ROWS; i++)
        assert_true(note(log, (uint8_t)(80 + i)));
    assert_false(act_log_head(log)->whole); /* 70 is still running, and its row is gone */
    act_log_settle(log);
    assert_false(whole(log));
    act_log_free(log);
}

/* Rows of the earlier process stay known until this process ends, however much is noted since. */
static void rows_of_before_stay_known(void **state) {
    (void)state;
    struct act_log *log = left();
    assert_true(note(log, 5));
    assert_true(whole(log));
    for (uint8_t i = 0; i < 3 * ROWS; i++)
        assert_true(note(log, (uint8_t)(50 + i)));
    assert_true(had(log, 5));
    act_log_free(log);
}

static void a_command_is_noted_once(void **state) {
    (void)state;
    struct act_log *log = left();
    struct act_row again = command_of(5, 9), send = {.goal = id_of(5), .n = 4, .kind = EFFECT_SEND};
    assert_true(note(log, 5));
    assert_false(note(log, 5));
    assert_false(
        act_log_note(log, &again, true)); /* the goal already has one, whatever its number */
    assert_true(act_log_note(log, &send, true));
    assert_false(act_log_note(log, &send, true));
    assert_true(act_log_note(log, &send, false));
    act_log_free(log);
}

/* Reads the notes from the file, as after a SIGKILL. */
static void notes_are_left(bool syncs) {
    char folder[] = "/tmp/overseer-acts-XXXXXX", path[64], error[256];
    assert_non_null(mkdtemp(folder));
    struct act_log *log = act_log_open(folder, syncs, BOOT, error, sizeof error);
    assert_non_null(log);
    confirm(log);
    act_log_settle(log);
    assert_true(act_log_is_due(log));
    assert_true(act_log_write(log));
    assert_false(act_log_is_due(log));
    assert_true(note(log, 5));
    struct act_row noted = command_of(6, 0);
    assert_true(act_log_note(log, &noted, true));
    assert_true(act_log_sync(log));
    struct act_log *next = act_log_open(folder, syncs, BOOT, error, sizeof error);
    assert_non_null(next);
    assert_true(act_log_is_whole(next, id_of(1), EPOCH + 1, BATCH));
    assert_true(had(next, 5));
    assert_int_equal(
        had(next, 6),
        !syncs); /* noted and not begun: distinguished only where these are two writes */
    assert_int_equal(note(next, 6), syncs);
    act_log_free(next);
    next = act_log_open(folder, syncs, BOOT + 1, error,
                        sizeof error); /* after a reboot, a note of what was begun may be lost */
    assert_true(had(next, 5) && had(next, 6));
    act_log_free(log);
    act_log_free(next);
    snprintf(path, sizeof path, "%s/acts", folder);
    unlink(path);
    rmdir(folder);
}

static void a_process_that_was_killed_left_its_notes(void **state) {
    (void)state;
    notes_are_left(false);
    notes_are_left(true);
}

/* A process that is killed right after its join has written the epoch of it. A beat alone is not urgent. */
static void an_epoch_is_written_at_once(void **state) {
    (void)state;
    struct act_log *log = left();
    struct act_head head = {.instance = id_of(1), .epoch = EPOCH, .batch = BATCH, .beat = 1};
    assert_true(act_log_write(log));
    act_log_confirm(log, &head);
    assert_false(act_log_is_due(log));
    head.epoch++;
    act_log_confirm(log, &head);
    assert_true(act_log_is_due(log));
    assert_true(act_log_write(log));
    act_log_doubt(log);
    assert_true(act_log_is_due(log));
    assert_true(act_log_write(log));
    act_log_settle(log);
    assert_true(act_log_is_due(log));
    act_log_free(log);
}

/* Takes turns until the store was asked `requests` times, and always has a report to write. */
static void turn_under_load(struct ledger *ledger, struct store *store, int64_t *clock,
                            uint32_t requests) {
    struct store_answer answer;
    struct arena arena = {0};
    const struct store_request *request = NULL;
    for (uint32_t i = 0, asked = 0; asked < requests; i++) {
        struct instant now = {*clock, *clock, (uint64_t)*clock, 0};
        struct id source = id_of(9);
        memcpy(source.bytes + 8, &i, sizeof i);
        offer(ledger, *clock,
              (struct signal){.kind = SIGNAL_GOAL_REPORT,
                              .goal = id_of(8),
                              .source = source,
                              .text = STR("goes on")});
        *clock += MILLISECONDS(1);
        request = ledger_turn(ledger, request ? &answer : NULL, now);
        asked += request != NULL;
        arena_reset(&arena);
        if (request)
            store_perform(store, request, &answer, &arena);
    }
    arena_free(&arena);
}

/* A host that always has something to do still completes its notes. */
static void notes_settle_under_load(void **state) {
    (void)state;
    char error[256];
    int64_t clock = SECONDS(1700000000);
    struct store *store = store_open(STR("sqlite::memory:"), error, sizeof error);
    check(store != NULL, "%s", error);
    struct act_log *log = act_log_make(ROWS);
    assert_true(act_log_begin(log, BOOT));
    struct ledger *ledger = ledger_with_acts(log);
    turn_under_load(ledger, store, &clock, 20);
    assert_true(act_log_head(log)->whole);
    ledger_free(ledger);
    act_log_free(log);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_count_for_the_next_process),
        cmocka_unit_test(doubt_lasts_until_it_is_settled),
        cmocka_unit_test(nothing_counts_before_it_is_settled),
        cmocka_unit_test(a_note_that_is_needed_is_not_lost_silently),
        cmocka_unit_test(rows_of_before_stay_known),
        cmocka_unit_test(a_command_is_noted_once),
        cmocka_unit_test(a_process_that_was_killed_left_its_notes),
        cmocka_unit_test(an_epoch_is_written_at_once),
        cmocka_unit_test(notes_settle_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
