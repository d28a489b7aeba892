/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the query plans that SQLite chooses for our statements with the expected ones. A changed plan has to be
 * reviewed by a person. No statistics are gathered in production, so a plan does not depend on what is stored. */
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_state.h"
#include "store/words.h"
#include "unit/unit.h"

/* Plans of these lists must never read a whole table, nor sort what was read. */
static const enum sql LISTS[] = {SQL_LIST_ALL,
                                 SQL_LIST_DISPLAY_STATE,
                                 SQL_LIST_TAG,
                                 SQL_LIST_SEARCH,
                                 SQL_PART_FIND,
                                 SQL_OWNED,
                                 SQL_SHOW_RECORDS,
                                 SQL_HISTORY,
                                 SQL_FIND_INSTRUCTION,
                                 SQL_NAMED,
                                 SQL_FOLLOW_HEAD,
                                 SQL_FOLLOW_DAY,
                                 SQL_FOLLOW_GOAL,
                                 SQL_FOLLOW_OLDEST,
                                 SQL_ENDED,
                                 SQL_ENDED_COUNT,
                                 SQL_ASKING};

static void plan_print(FILE *out, sqlite3 *db, enum sql sql) {
    char text[SQL_TEXT], explain[SQL_TEXT + 32];
    sqlite3_stmt *rows;
    snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sqlite_text(sql, text));
    int code = sqlite3_prepare_v2(db, explain, -1, &rows, NULL);
    check(code == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(db));
    fprintf(out, "%s\n", text);
    while (sqlite3_step(rows) == SQLITE_ROW)
        fprintf(out, "    %s\n", sqlite3_column_text(rows, 3));
    sqlite3_finalize(rows);
}

static struct sqlite_store *small_store(void) {
    char error[512] = "";
    struct sqlite_options options = {.path = ":memory:"};
    struct store *store = sqlite_open(&options, error, sizeof error);
    check(store, "%s", error);
    return (struct sqlite_store *)store;
}

/* One statement of each family: parts are alike, and so are tables whose rows commits add. */
static bool has_plan(enum sql sql) {
    if (sql >= SQL_ADD && sql <= SQL_ADD_LAST)
        return sql == sql_add(TABLE_TEXT);
    return sql < SQL_OF_PARTS || (sql - SQL_OF_PARTS) % PARTS == 0;
}

static void plans_are_known(void **state) {
    (void)state;
    struct sqlite_store *store = small_store();
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    for (enum sql sql = SQL_NEXT_TX; sql < SQL_COUNT; sql++)
        if (has_plan(sql))
            plan_print(out, store->db, sql);
    fclose(out);
    golden_check("query-plans.sqlite.txt", (struct str){text, len});
    free(text);
    store_close(&store->store);
}

static void lists_run_along_indexes(void **state) {
    (void)state;
    struct sqlite_store *store = small_store();
    for (size_t i = 0; i < count_of(LISTS); i++) {
        char *text;
        size_t len;
        FILE *out = open_memstream(&text, &len);
        plan_print(out, store->db, LISTS[i]);
        fclose(out);
        const char *scan = strstr(text, "    SCAN "),
                   *fts = strstr(text, "    SCAN f VIRTUAL TABLE INDEX");
        check(!strstr(text, "USE TEMP B-TREE"), "sorted: %s", text);
        check(!scan || scan == fts, "everything is read: %s", text);
        free(text);
    }
    store_close(&store->store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_known),
        cmocka_unit_test(lists_run_along_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
