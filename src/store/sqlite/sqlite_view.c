/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the row of goal_view that a goal has, and finds its place in the indexes. */
#include "store/sqlite/sqlite_state.h"

/* ---- a row of goal_view ---- */

static void run_field(struct sqlite_run *run, const struct field *field, const void *from) {
    switch (field->type) {
    case FIELD_ID: run_id(run, *(const struct id *)from); break;
    case FIELD_TEXT: run_text(run, *(const struct str *)from); break;
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: run_int(run, *(const int64_t *)from); break;
    default: run_int(run, *(const uint32_t *)from); break;
    }
}

void run_view(struct sqlite_run *run, const struct goal_view *view) {
    for (size_t i = 0; i < GOAL_VIEW.count && !run->code; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        char mark[LIMIT_NODE_ID + 1] = ":";
        must(strlen(field->name) < sizeof mark - 1);
        strcpy(mark + 1, field->name);
        run->place = sqlite3_bind_parameter_index(run->statement, mark) - 1;
        if (run->place >= 0)
            run_field(run, field, (const char *)view + field->offset);
    }
}

int64_t sqlite_drawer(int64_t created_at) {
    static const int64_t LAST = ((int64_t)1 << (63 - DRAWER_BITS)) - 1;
    int64_t drawer = created_at < 0 ? 0 : created_at / 1000;
    return (drawer < LAST ? drawer : LAST) << DRAWER_BITS;
}
