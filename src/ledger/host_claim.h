/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies this host, and decides whether it may use the number that it wants. PROTOCOL P2.
 *
 * The row of a host in a shared store names the machine and the state folder that claimed its number, as three words: a
 * name for people, a hash of the machine and the folder, and a hash of the machine's boot. */
#pragma once

#include "store/store.h"

enum { HOST_ADDR = 160 };

struct host_identity {
    char addr[HOST_ADDR]; /* the three words */
};

/* Makes a key in the folder if there is none. False with an error. */
bool host_identity_make(const char *folder, struct str name, struct host_identity *ret, char *error,
                        size_t error_size);

enum claim {
    CLAIM_FREE,    /* it may join now */
    CLAIM_SILENT,  /* it may join once the row has not moved for a lease */
    CLAIM_REFUSED, /* the number belongs to another machine or state folder */
};

/* `first`: this process has not joined yet. */
enum claim host_claim(const struct host_row *row, struct str addr, uint64_t instance, bool first);

/* Says why the number is refused, and what to do. */
void host_claim_explain(const struct host_row *row, bool refused, char *to, size_t size);

/* The same machine and state folder, whatever the boot. */
bool host_is_same(struct str addr, struct str other);
struct str
host_name(struct str addr); /* empty: the row is of an older build, which gives no name */

/* The number that this state folder had in this store; 0: none is known. */
uint32_t host_recall(const char *folder, struct str store);
void host_remember(const char *folder, struct str store, uint32_t host);

/* Chooses the number: the wanted one; with 0, the one that this machine had before, or the lowest free one. Waits for a
 * lease if the row of an older build may still be in use. While the store is away, it is the number that the state
 * folder `had`; without one, this waits for the store. 0: refused, with an error. */
uint32_t host_choose(struct store *store, struct str addr, uint32_t wanted, uint32_t had,
                     int64_t lease, char *error, size_t error_size);
