/* SPDX-License-Identifier: Apache-2.0 */
#include "store/instance.h"

#include <stdio.h>

static struct {
    bool given, valid;
    struct id id;
} belongs;

static int hex_digit(char c) {
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c ? strchr(DIGITS, c) : NULL;
    return at ? (int)(at - DIGITS) : -1;
}

void store_belongs_to(const char *instance) {
    belongs.given = instance && *instance;
    belongs.valid = belongs.given && strlen(instance) == 2 * sizeof belongs.id.bytes;
    for (size_t i = 0; belongs.valid && i < sizeof belongs.id.bytes; i++) {
        int high = hex_digit(instance[2 * i]), low = hex_digit(instance[2 * i + 1]);
        belongs.valid = high >= 0 && low >= 0;
        belongs.id.bytes[i] = (uint8_t)(high * 16 + low);
    }
}

enum instance_verdict instance_hold(struct instance_state *watch, struct id stored, bool fresh,
                                    char *why, size_t why_size) {
    char is[33];
    if (!watch->set && belongs.given && belongs.valid)
        *watch = (struct instance_state){true, belongs.id};
    bool other = watch->set ? !id_equal(watch->id, stored) : belongs.given;
    if (!other) {
        *watch = (struct instance_state){true, stored};
        return INSTANCE_OURS;
    }
    if (fresh && watch->set)
        return INSTANCE_NEW;
    hex_write(is, stored.bytes, sizeof stored.bytes);
    snprintf(why, why_size,
             "This store is instance %s, and this process belongs to another one "
             "(OVERSEER_INSTANCE). Give the right store with --store; nothing was changed.",
             is);
    return INSTANCE_OTHER;
}
