/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map from ids to pointers: open addressing, linear probing, at most three quarters full. */
#pragma once

#include "base/id.h"

struct map_slot {
    struct id key;
    void *value; /* NULL: free */
};

struct map {
    struct map_slot *slots;
    size_t count, cap; /* cap is zero or a power of two */
};

/* False: no memory; the map is unchanged. The value must not be NULL. */
bool map_put(struct map *map, struct id key, void *value);
void *map_get(const struct map *map, struct id key);
void *map_remove(struct map *map, struct id key); /* the removed value, or NULL */
void map_free(struct map *map);
