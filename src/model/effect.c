/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done outside, and what is promised about it? */
#include "model/effect.h"

static const struct field COMMAND[] = {
    {"command", FIELD_TEXT, 1, FIELD_OF(effect, command), LIMIT_COMMAND, 0, NULL, "for /bin/sh -c",
     0, NULL},
    {"within", FIELD_INT, 2, FIELD_OF(effect, within), 0, 0, NULL, "microseconds it may take", 0,
     NULL},
};

const struct effect_row EFFECTS[EFFECT_KINDS] = {
    [EFFECT_NONE] = {"none", PROMISE_AT_MOST_ONCE, {0}},
    [EFFECT_COMMAND] = {"command", PROMISE_AT_MOST_ONCE, SHAPE("effect.command", 1, COMMAND)},
};

struct id effect_id(struct id goal, uint32_t n) {
    uint8_t key[sizeof goal.bytes + 4];
    memcpy(key, goal.bytes, sizeof goal.bytes);
    for (int i = 0; i < 4; i++)
        key[sizeof goal.bytes + (size_t)i] = (uint8_t)(n >> (8 * i));
    return id_derive(STR("effect"), (struct str){(const char *)key, sizeof key});
}

struct str effect_encode(const struct effect *effect, struct arena *arena) {
    return shape_encode(&EFFECTS[effect->kind].shape, effect, arena);
}

bool effect_decode(enum effect_kind kind, struct str body, struct effect *ret_effect) {
    return kind > EFFECT_NONE && kind < EFFECT_KINDS &&
           shape_decode(&EFFECTS[kind].shape, body, ret_effect);
}
