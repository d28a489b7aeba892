/* SPDX-License-Identifier: Apache-2.0 */
/* How do the tests of the store write goals, without a ledger? */
#pragma once

#include "store/rows.h"
#include "unit/unit.h"

enum { SHOP_HOST = 1 };

/* One host at a store. */
struct shop {
    struct store *store;
    struct arena arena; /* of what is asked now */
    struct store_request request;
    struct store_answer answer;
    uint64_t batch;
};

void shop_open(struct shop *shop, const char *where); /* and join */
void shop_close(struct shop *shop);
void shop_ask(struct shop *shop, enum store_verb verb); /* with shop->request; it must be done */

/* A goal as the test knows it. */
struct ware {
    struct goal goal;
    char title[64];
    struct str tags[4];
    uint32_t tag_count;
};

/* What would be said of it anew. Changed by the test, then committed. */
struct goal_commit ware_commit(const struct ware *ware, struct arena *arena);
void shop_commit(struct shop *shop, struct goal_commit *commits,
                 uint32_t count); /* all must be ok */

/* The next record of the goal, which moves on by it. */
struct record *ware_record(struct ware *ware, enum record_type type, struct arena *arena);
