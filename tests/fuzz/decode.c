/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the decoders with any bytes. What decodes must encode to something that decodes to the same. */
#include "model/effect.h"
#include "model/record.h"

static void round_trip(const struct shape *shape, struct str bytes, void *first, void *second) {
    struct arena arena = {0};
    if (shape_decode(shape, bytes, first)) {
        struct str again = shape_encode(shape, first, &arena);
        must(shape_decode(shape, again, second));
        struct str third = shape_encode(shape, second, &arena);
        must(str_equal(again, third));
    }
    arena_free(&arena);
}

static void signal_trip(struct str bytes) {
    struct arena arena = {0};
    struct signal signal, again;
    if (signal_decode(bytes, &signal)) {
        struct str encoded = signal_encode(&signal, &arena);
        must(signal_decode(encoded, &again));
        must(str_equal(encoded, signal_encode(&again, &arena)));
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str bytes = {(const char *)data, size};
    signal_trip(bytes);
    struct effect effect[2] = {{0}};
    round_trip(&EFFECTS[EFFECT_COMMAND].shape, bytes, &effect[0], &effect[1]);
    struct evidence evidence[2] = {{0}};
    round_trip(&EVIDENCE, bytes, &evidence[0], &evidence[1]);
    struct goal goal[2] = {{0}};
    round_trip(&GOAL_HOT, bytes, &goal[0], &goal[1]);
    struct id id;
    (void)(size == ID_TEXT && id_parse(bytes, &id));
    return 0;
}
