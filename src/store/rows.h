/* SPDX-License-Identifier: Apache-2.0 */
/* What do both drivers make of the rows they read? */
#pragma once

#include "store/store.h"

enum { SCHEMA_VERSION = 1 };

/* Complete a loaded goal from its encoded hot part. Says in `whole` whether that could be decoded. */
void loaded_hot(struct goal_loaded *loaded, struct str hot);

/* Add an open effect to a goal; effects come in order of n. */
void loaded_effect(struct goal_loaded *loaded, struct effect_slot slot);

/* Index of an id among sorted ones, or -1. */
int64_t id_place(const struct id *ids, uint32_t count, struct id id);
