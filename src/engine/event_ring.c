/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/event_ring.h"

#include "ops/place.h"

#include <stdio.h>
#include <stdlib.h>

static struct ringed *ringed_make(const struct logged *row, const char *data) {
    static const char FORM[] = "id: %s\nevent: %s\ndata: %s\n\n";
    char place[PLACE_TEXT];
    const char *type = row->record.type < RECORD_TYPES ? RECORDS[row->record.type].name : "unknown";
    place_format(&row->place, place);
    int len = snprintf(NULL, 0, FORM, place, type, data);
    struct ringed *event = malloc(sizeof *event + (size_t)len + 1);
    if (!event)
        return NULL;
    *event = (struct ringed){.place = row->place,
                             .goal = row->goal,
                             .type = row->record.type,
                             .at = row->record.at,
                             .len = (size_t)len};
    snprintf(event->text, (size_t)len + 1, FORM, place, type, data);
    return event;
}

struct ringed *ringed_new(const struct logged *row) {
    json_t *json = event_json(row);
    char *data = json ? json_dumps(json, JSON_COMPACT) : NULL;
    struct ringed *event = data ? ringed_make(row, data) : NULL;
    json_decref(json);
    free(data);
    return event;
}

static struct ringed **slot(struct ring *ring, uint64_t number) {
    return &ring->at[number % LIMIT_RING];
}

static void drop_oldest(struct ring *ring) {
    struct ringed **oldest = slot(ring, ring->first++);
    ring->bytes -= (*oldest)->len;
    ring->base = (*oldest)->place;
    free(*oldest);
    *oldest = NULL;
}

void ring_clear(struct ring *ring) {
    while (ring->first < ring->next)
        drop_oldest(ring);
    ring->known = false;
}

void ring_begin(struct ring *ring, struct cursor from) {
    ring_clear(ring);
    ring->base = ring->tail = from;
}

void ring_add(struct ring *ring, struct ringed *event) {
    while (ring->first < ring->next &&
           (ring->next - ring->first == LIMIT_RING || ring->bytes + event->len > LIMIT_RING_BYTES))
        drop_oldest(ring);
    *slot(ring, ring->next++) = event;
    ring->bytes += event->len;
}

const struct ringed *ring_event(const struct ring *ring, uint64_t number) {
    must(number >= ring->first);
    return number < ring->next ? ring->at[number % LIMIT_RING] : NULL;
}

bool ring_find(const struct ring *ring, const struct cursor *place, uint64_t *ret_number) {
    if (!ring->known || place->era != ring->base.era || place_is_before(place, &ring->base))
        return false;
    uint64_t low = ring->first, high = ring->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (place_is_before(place, &ring->at[middle % LIMIT_RING]->place))
            high = middle;
        else
            low = middle + 1;
    }
    *ret_number = low;
    return true;
}
