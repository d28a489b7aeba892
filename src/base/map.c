/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/must.h"

#include <stdlib.h>

static size_t slot_of(const struct map *map, struct id key) {
    size_t i = id_hash(key) & (map->cap - 1);
    while (map->slots[i].value && !id_equal(map->slots[i].key, key))
        i = (i + 1) & (map->cap - 1);
    return i;
}

static bool grow(struct map *map) {
    struct map bigger = {.cap = map->cap ? map->cap * 2 : 16};
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].value)
            bigger.slots[slot_of(&bigger, map->slots[i].key)] = map->slots[i];
    bigger.count = map->count;
    free(map->slots);
    *map = bigger;
    return true;
}

bool map_put(struct map *map, struct id key, void *value) {
    must(value != NULL);
    if ((map->count + 1) * 4 > map->cap * 3 && !grow(map))
        return false;
    struct map_slot *slot = &map->slots[slot_of(map, key)];
    map->count += slot->value == NULL;
    *slot = (struct map_slot){key, value};
    return true;
}

void *map_get(const struct map *map, struct id key) {
    return map->cap ? map->slots[slot_of(map, key)].value : NULL;
}

/* Closes the gap: entries that probed past the freed slot move back into it. */
void *map_remove(struct map *map, struct id key) {
    if (map->cap == 0)
        return NULL;
    size_t gap = slot_of(map, key);
    void *value = map->slots[gap].value;
    if (!value)
        return NULL;
    for (size_t i = (gap + 1) & (map->cap - 1); map->slots[i].value; i = (i + 1) & (map->cap - 1)) {
        size_t home = id_hash(map->slots[i].key) & (map->cap - 1);
        if (((i - home) & (map->cap - 1)) >= ((i - gap) & (map->cap - 1))) {
            map->slots[gap] = map->slots[i];
            gap = i;
        }
    }
    map->slots[gap].value = NULL;
    map->count--;
    return value;
}

void map_free(struct map *map) {
    free(map->slots);
    *map = (struct map){0};
}
