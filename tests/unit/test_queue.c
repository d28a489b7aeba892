/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which inputs the ledger's queue still accepts when it is full. */
#include "unit.h"

#include "engine/queue.h"
#include "model/limits.h"

static struct queue queue;

static bool put(void *waiter, bool must_fit) {
    struct input *input =
        input_make(&(struct signal){.kind = SIGNAL_GOAL_REPORT, .text = STR("x")}, waiter);
    assert_non_null(input);
    input->must_fit = must_fit;
    bool taken = queue_put(&queue, input);
    if (!taken)
        input_free(input);
    return taken;
}

/* A caller that can ask again gets "busy". A report of an agent cannot be repeated, nor can an outcome: those are
 * accepted. */
static void who_cannot_come_back_is_taken(void **state) {
    (void)state;
    bool stopping;
    int waiter;
    queue_start(&queue);
    for (uint32_t i = 0; i < LIMIT_QUEUE_SIGNALS; i++)
        assert_true(put(&waiter, false));
    assert_false(put(&waiter, false));
    assert_true(put(&waiter, true));
    assert_true(put(NULL, false));
    struct input_list all = queue_take_all(&queue, 0, &stopping);
    assert_int_equal(all.count, LIMIT_QUEUE_SIGNALS + 2);
    input_free_all(&all);
    queue_end(&queue);
}

/* After the stop no answers come: an input with a waiter is refused, so its caller keeps it and knows that. */
static void after_the_end(void **state) {
    (void)state;
    int waiter;
    queue_start(&queue);
    queue_stop(&queue);
    assert_false(put(&waiter, false));
    assert_false(put(&waiter, true));
    assert_true(put(NULL, false));
    queue_end(&queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_cannot_come_back_is_taken),
                                       cmocka_unit_test(after_the_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
