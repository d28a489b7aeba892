/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 40 }; /* longer words get no suggestion */

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* How many letters must be added, removed, changed or swapped? */
static unsigned distance(const char *a, const char *b) {
    size_t wide = strlen(b), high = strlen(a);
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t x = 0; x <= wide; x++)
        last[x] = (unsigned)x;
    for (size_t y = 1; y <= high; y++) {
        now[0] = (unsigned)y;
        for (size_t x = 1; x <= wide; x++) {
            bool same = tolower((unsigned char)a[y - 1]) == tolower((unsigned char)b[x - 1]);
            now[x] = least(last[x - 1] + !same, least(last[x], now[x - 1]) + 1);
            if (y > 1 && x > 1 && a[y - 1] == b[x - 2] && a[y - 2] == b[x - 1])
                now[x] = least(now[x], before[x - 2] + 1);
        }
        unsigned *spare = before;
        before = last, last = now, now = spare;
    }
    return last[wide];
}

void nearest_offer(struct nearest *nearest, const char *name) {
    size_t length = strlen(nearest->typed);
    if (length == 0 || length > LONGEST || strlen(name) > LONGEST)
        return;
    unsigned far = distance(nearest->typed, name);
    if (length >= 3 && strncmp(name, nearest->typed, length) == 0)
        far = 1; /* the typed word is the beginning of the name */
    unsigned enough = length <= 4 ? 1 : length <= 7 ? 2 : 3;
    if (far <= enough && (!nearest->name || far < nearest->distance)) {
        nearest->name = name;
        nearest->distance = far;
    }
}

static const char *character_next(const char *at) {
    while (*at == '-' || *at == '_' || *at == ' ')
        at++;
    return at;
}

bool name_is(const char *typed, const char *name) {
    for (;; typed++, name++) {
        typed = character_next(typed), name = character_next(name);
        if (tolower((unsigned char)*typed) != tolower((unsigned char)*name))
            return false;
        if (!*typed)
            return true;
    }
}
