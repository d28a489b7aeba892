/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a decision down: refusals, texts, and the rows that changed. */
#include "core/deciding.h"

/* ---- lists that grow in the arena ---- */

void *list_grown(struct arena *arena, const void *from, size_t size, uint32_t count,
                 uint32_t *cap) {
    if (count < *cap)
        return (void *)(uintptr_t)from;
    *cap = *cap ? *cap * 2 : 4;
    void *to = arena_take(arena, size * *cap, alignof(max_align_t));
    if (count > 0)
        memcpy(to, from, size * count);
    return to;
}

void decide_refuse_because(struct deciding *d, enum error error, struct str why) {
    d->decision->verdict = VERDICT_REFUSE;
    d->decision->error = error;
    d->decision->why = why;
}

void decide_refuse(struct deciding *d, enum error error) {
    decide_refuse_because(d, error, (struct str){0});
}

/* PLAN-23: the overseer, a person, or an agent that the operator named may change plans. */
bool decide_may_plan(struct deciding *d) {
    if (d->signal->sender.by != WHO_AGENT ||
        str_has_word(d->policy->plans.agents, d->signal->sender.actor))
        return true;
    decide_refuse(d, ERROR_UNAUTHORIZED);
    return false;
}

struct hash decide_text(struct deciding *d, struct str body) {
    struct decision *decision = d->decision;
    struct text_row row = {sha256(body), body};
    for (uint32_t i = 0; i < decision->text_count; i++)
        if (memcmp(&decision->texts[i].hash, &row.hash, sizeof row.hash) == 0)
            return row.hash;
    decision->texts = list_grown(d->out, decision->texts, sizeof *decision->texts,
                                 decision->text_count, &decision->text_cap);
    decision->texts[decision->text_count++] = row;
    return row.hash;
}

void decide_part(struct deciding *d, struct part_change change) {
    struct decision *decision = d->decision;
    decision->parts = list_grown(d->out, decision->parts, sizeof *decision->parts,
                                 decision->part_count, &decision->part_cap);
    decision->parts[decision->part_count++] = change;
}

/* ---- live rows ---- */

void live_edit(struct deciding *d, enum part_kind kind, uint32_t more) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    size_t size = PART[kind].shape->size;
    if (d->touched[kind] && d->room[kind] >= rows->count + more)
        return;
    uint32_t room = rows->count + (more > 0 ? more + 8 : 0);
    void *at = arena_take(d->out, size * (room ? room : 1), alignof(max_align_t));
    bool *touched = arena_new(d->out, bool, room ? room : 1);
    if (rows->count > 0)
        memcpy(at, rows->at, size * rows->count);
    if (d->touched[kind] && rows->count > 0)
        memcpy(touched, d->touched[kind], rows->count * sizeof *touched);
    rows->at = at;
    d->touched[kind] = touched;
    d->room[kind] = room;
}

static uint32_t row_place(struct deciding *d, enum part_kind kind, const void *row) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    size_t place = (size_t)((const char *)row - (const char *)rows->at) / PART[kind].shape->size;
    must(place < rows->count);
    return (uint32_t)place;
}

void live_touch(struct deciding *d, enum part_kind kind, const void *row) {
    must(d->touched[kind] != NULL);
    d->touched[kind][row_place(d, kind, row)] = true;
}

void *live_add(struct deciding *d, enum part_kind kind, uint32_t n) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    live_edit(d, kind, 1);
    must(rows->count < PART[kind].most);
    char *row = (char *)rows->at + PART[kind].shape->size * rows->count;
    memset(row, 0, PART[kind].shape->size);
    d->touched[kind][rows->count++] = true;
    *(uint32_t *)(void *)row = n;
    return row;
}

void live_remove(struct deciding *d, enum part_kind kind, const void *row) {
    struct live_rows *rows = live_rows(&d->decision->live, kind);
    uint32_t place = row_place(d, kind, row), after = rows->count - place - 1;
    size_t size = PART[kind].shape->size;
    char *at = (char *)rows->at + size * place;
    decide_part(d, (struct part_change){.kind = kind, .gone = true, .n = *(const uint32_t *)row});
    memmove(at, at + size, size * after);
    memmove(d->touched[kind] + place, d->touched[kind] + place + 1, after);
    rows->count--;
}
