/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and prints a plan as one line of text. */
#include "story.h"

#include <ctype.h>

/* ---- reading ---- */

enum { MAX_ROWS = 96 };

struct reading {
    struct story *story;
    const char *at;
    struct plan_row *rows;
    uint32_t count;
};

/* An id may be invalid on purpose: only characters that have a meaning here end it. */
static struct str word_read(struct reading *r) {
    const char *from = r->at;
    while (*r->at && !isspace((unsigned char)*r->at) && !strchr("(<+!~)", *r->at))
        r->at++;
    return (struct str){from, (size_t)(r->at - from)};
}

/* A node that comes again with `~` after it has other texts than before. */
static struct node_text words_for(struct story *story, struct str id, bool unchecked,
                                  bool changed) {
    struct str *criteria = arena_new(&story->arena, struct str, 1);
    criteria[0] = arena_format(&story->arena, "%.*s can be checked", STR_ARG(id));
    return (struct node_text){.name = arena_format(&story->arena, "work on %.*s", STR_ARG(id)),
                              .objective = changed ? STR("another") : STR("as it was"),
                              .criteria = {criteria, unchecked ? 0 : 1}};
}

static void links_read(struct reading *r, struct plan_row *row) {
    struct str *on = arena_new(&r->story->arena, struct str, LIMIT_DEPENDS + 1);
    uint32_t count = 0;
    while ((*r->at == '<' || *r->at == '+') && count <= LIMIT_DEPENDS) {
        r->at++;
        on[count++] = word_read(r);
    }
    row->depends_on = (struct texts){on, count};
}

static bool row_read(struct reading *r, struct str parent, enum tier tier) {
    if (r->count == MAX_ROWS || tier >= TIERS)
        return false;
    struct plan_row *row = &r->rows[r->count++];
    struct str id = word_read(r);
    bool unchecked = *r->at == '!', changed = *r->at == '~';
    r->at += unchecked || changed;
    *row = (struct plan_row){.id = id, .parent = parent, .tier = tier};
    row->text = words_for(r->story, id, unchecked, changed);
    links_read(r, row);
    return id.len > 0;
}

static bool rows_read(struct reading *r, struct str parent, enum tier tier) {
    for (;;) {
        while (isspace((unsigned char)*r->at))
            r->at++;
        if (*r->at == 0 || *r->at == ')')
            return true;
        uint32_t row = r->count;
        if (!row_read(r, parent, tier))
            return false;
        if (*r->at != '(')
            continue;
        r->at++;
        if (!rows_read(r, r->rows[row].id, tier + 1) || *r->at++ != ')')
            return false;
    }
}

static struct reading reading_of(struct story *story, const char *text) {
    return (struct reading){
        .story = story, .at = text, .rows = arena_new(&story->arena, struct plan_row, MAX_ROWS)};
}

static struct str rows_encode(struct reading *r) {
    struct plan_text text = {{r->rows, r->count}};
    return shape_encode(&PLAN_TEXT, &text, &r->story->arena);
}

struct str plan_of(struct story *story, const char *text) {
    struct reading r = reading_of(story, arena_cstr(&story->arena, str_of(text)));
    if (!rows_read(&r, (struct str){0}, TIER_PHASE) || *r.at) {
        fails(story, "\"%s\" is no plan", text);
        return (struct str){0};
    }
    return rows_encode(&r);
}

struct str node_of(struct story *story, const char *text, const char *parent, enum tier tier) {
    struct reading r = reading_of(story, arena_cstr(&story->arena, str_of(text)));
    struct str above = parent ? arena_copy(&story->arena, str_of(parent)) : (struct str){0};
    if (!row_read(&r, above, tier) || *r.at) {
        fails(story, "\"%s\" is no node", text);
        return (struct str){0};
    }
    if (str_equal(r.rows[0].id, STR("-")))
        r.rows[0].id = (struct str){0};
    return rows_encode(&r);
}

/* ---- printing ---- */

static const struct node *next_below(const struct plan *plan, const struct node *above,
                                     const struct node *after) {
    const struct node *next = NULL;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        bool later = !after || node->place > after->place;
        if (!node->retired && node->parent == (above ? above->n + 1 : 0) && later &&
            (!next || node->place < next->place))
            next = node;
    }
    return next;
}

static void tell_below(const struct plan *plan, const struct node *above, struct writer *out) {
    for (const struct node *node = NULL; (node = next_below(plan, above, node));) {
        if (out->len > 0)
            write_raw(out, STR(", "));
        write_raw(out, node_id(node));
        write_raw(out, STR(" "));
        write_raw(out, str_of(NODE_STATUS[node->status].name));
        tell_below(plan, node, out);
    }
}

struct str plan_text(const struct plan *plan, struct arena *arena) {
    struct writer out = {.arena = arena};
    tell_below(plan, NULL, &out);
    return out.len ? (struct str){out.at, out.len} : STR("nothing");
}
