/* SPDX-License-Identifier: Apache-2.0 */
#include "store/instance.h"

#include <stdio.h>

static struct {
    bool given, valid;
    struct id id;
} belongs;

void store_belongs_to(const char *instance) {
    belongs.given = instance && *instance;
    belongs.valid = belongs.given && strlen(instance) == 2 * sizeof belongs.id.bytes &&
                    hex_read(instance, belongs.id.bytes, sizeof belongs.id.bytes);
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
