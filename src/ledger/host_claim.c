/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/host_claim.h"

#include <stdio.h>

static struct str word(struct str addr, int which) {
    for (; which > 0; which--) {
        const char *space = addr.len ? memchr(addr.at, ' ', addr.len) : NULL;
        if (!space)
            return (struct str){0};
        addr = (struct str){space + 1, addr.len - (size_t)(space + 1 - addr.at)};
    }
    const char *space = addr.len ? memchr(addr.at, ' ', addr.len) : NULL;
    return (struct str){addr.at, space ? (size_t)(space - addr.at) : addr.len};
}

bool host_is_same(struct str addr, struct str other) {
    return word(addr, 1).len > 0 && str_equal(word(addr, 1), word(other, 1));
}

struct str host_name(struct str addr) {
    return word(addr, 0);
}

/* After a crash on this machine, the daemon may start at once: the lock of the state folder keeps a second daemon out.
 * After a boot it may be a copy of the whole machine, and the row of an older build says nothing: in both cases the row
 * has to be silent first. A daemon that was deposed by a live one under the same number stays out. */
enum claim host_claim(const struct host_row *row, struct str addr, uint64_t instance, bool first) {
    bool live = row->state == HOST_LIVE && row->instance != instance;
    if (word(row->addr, 1).len > 0 && !host_is_same(row->addr, addr))
        return CLAIM_REFUSED;
    if (!live)
        return CLAIM_FREE;
    bool same_boot = host_is_same(row->addr, addr) && str_equal(word(row->addr, 2), word(addr, 2));
    return first && same_boot ? CLAIM_FREE : CLAIM_SILENT;
}

void host_claim_explain(const struct host_row *row, bool refused, char *to, size_t size) {
    struct str name = host_name(row->addr);
    if (refused && name.len > 0)
        snprintf(to, size,
                 "Number %u is claimed by host %.*s with another state folder. Start this one with "
                 "another number or none: overseer up --host N",
                 row->host, STR_ARG(name));
    else
        snprintf(to, size,
                 "Number %u is used by another running daemon. Stop that one, or start this one "
                 "with another number or none: overseer up --host N",
                 row->host);
}
