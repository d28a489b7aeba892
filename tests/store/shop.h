/* SPDX-License-Identifier: Apache-2.0 */
/* Writes goals for the tests of the store, without a ledger. */
#pragma once

#include "store/rows.h"
#include "unit/unit.h"

enum { SHOP_HOST = 1 };

/* One host connected to a store. */
struct shop {
    struct store *store;
    struct arena arena; /* of the current request */
    struct store_request request;
    struct store_answer answer;
    uint64_t batch;
};

void shop_open(struct shop *shop, const char *where); /* also joins */
void shop_close(struct shop *shop);
void shop_ask(struct shop *shop,
              enum store_verb verb); /* performs shop->request; it must succeed */

/* A goal as the test knows it. */
struct ware {
    struct goal goal;
    char title[64];
    struct str tags[4];
    uint32_t tag_count;
};

/* The commit that writes the goal as it is. The test modifies it, then commits it. */
struct goal_commit ware_commit(const struct ware *ware, struct arena *arena);
void shop_commit(struct shop *shop, struct goal_commit *commits,
                 uint32_t count); /* all must be ok */

/* Makes the next record of the goal and advances the goal by it. */
struct record *ware_record(struct ware *ware, enum record_type type, struct arena *arena);
