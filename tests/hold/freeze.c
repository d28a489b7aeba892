/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes a hold with the daemon's client. freeze FOLDER FENCE WORD …: each word is `freeze=REASON=MILLISECONDS` or
 * `thaw=REASON`. Prints one line for each word: the word, the verdict (or `refused`: it was not sent), the number, and
 * the reasons that the status then shows. The first word is sent before the hold's version is known. */
#include "drivers/hold_client.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    char **words;
    struct held *held;
    char verdict[32];
    bool done;
} client;

static void word_say(void) {
    unsigned reason = 0, expires_ms = 0;
    bool freeze = strncmp(*client.words, "freeze=", 7) == 0;
    if (sscanf(*client.words, freeze ? "freeze=%u=%u" : "thaw=%u", &reason, &expires_ms) < 1)
        exit(2);
    if (freeze ? held_freeze(client.held, reason, expires_ms) : held_thaw(client.held, reason))
        return;
    snprintf(client.verdict, sizeof client.verdict, "refused 0");
    if (!held_look(client.held))
        exit(1);
}

static void answer_comes(void *with, enum hold_kind to, enum hold_verdict verdict,
                         uint64_t number) {
    (void)with;
    if (to == HOLD_HELLO && verdict != HOLD_DONE)
        exit(1);
    if (to == HOLD_HELLO)
        return;
    if (to != HOLD_FREEZE_FOR && to != HOLD_THAW_FOR)
        exit(1);
    snprintf(client.verdict, sizeof client.verdict, "%u %llu", verdict, (unsigned long long)number);
    if (!held_look(client.held))
        exit(1);
}

/* A status also arrives unasked, before the answer: only the one after the answer counts. */
static void status_comes(void *with, const struct hold_status *status) {
    (void)with;
    if (!client.verdict[0])
        return;
    printf("%s %s %u\n", *client.words, client.verdict, status_freeze_reasons(status));
    client.verdict[0] = 0;
    if (*++client.words)
        word_say();
    else {
        client.done = true;
        held_close(client.held);
    }
}

static void hold_lost(void *with, int code) {
    (void)with;
    fprintf(stderr, "freeze: %s\n", uv_strerror(code));
    exit(1);
}

int main(int argc, char **argv) {
    static const struct held_callbacks CALLBACKS = {
        .answer = answer_comes, .status = status_comes, .lost = hold_lost};
    uv_loop_t loop;
    if (argc < 4)
        return 2;
    uv_loop_init(&loop);
    client.words = argv + 3;
    client.held = held_open(&loop, argv[1], strtoull(argv[2], NULL, 10), &CALLBACKS, NULL);
    word_say();
    uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop) != 0 || !client.done;
}
