/* SPDX-License-Identifier: Apache-2.0 */
/* Puts rows of goal_view into arrays of parameters. */
#include "store/postgres/postgres_state.h"

/* ---- committing: rows that belong to the goals, one statement for each table ---- */

struct pg_array *view_arrays(struct arena *arena) {
    struct pg_array *arrays = arena_new(arena, struct pg_array, GOAL_VIEW.count);
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        enum field_type type = GOAL_VIEW.fields[i].type;
        arrays[i] = array_open(arena, type == FIELD_ID || type == FIELD_TEXT ? type : FIELD_INT);
    }
    return arrays;
}

void view_put(struct pg_array *arrays, const struct goal_view *view) {
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        const void *at = (const char *)view + field->offset;
        switch (field->type) {
        case FIELD_ID: array_bytes(&arrays[i], at, sizeof(struct id)); break;
        case FIELD_TEXT: {
            const struct str *text = at;
            array_bytes(&arrays[i], text->at, text->len);
            break;
        }
        case FIELD_ENUM:
        case FIELD_U32:
        case FIELD_FLAG: array_int(&arrays[i], *(const uint32_t *)at); break;
        default: array_int(&arrays[i], *(const int64_t *)at);
        }
    }
}
