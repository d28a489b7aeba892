/* SPDX-License-Identifier: Apache-2.0 */
/* Measures query times. query STORE [--goals N] [--queries N] [--filled]
 *
 * Fills an empty store, unless --filled says that it is already filled. Exits with 1 when a p99 exceeds the limit. */
#include "query/query.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static struct store *open_store(const char *where) {
    char error[512];
    struct store *store = store_open(str_of(where), error, sizeof error);
    if (!store)
        bench_fail("query", error);
    return store;
}

/* The driver creates its tables; for PostgreSQL at the first request. */
static void fill(const struct crowd *crowd, const char *where) {
    struct arena arena = {0};
    struct store_answer answer;
    struct store_request request = {.verb = STORE_TALLY};
    struct store *store = open_store(where);
    store_perform(store, &request, &answer, &arena);
    if (answer.outcome != STORE_DONE)
        bench_fail("query", answer.error.at);
    store_close(store);
    arena_free(&arena);
    double begin = bench_seconds();
    if (store_address_file(where))
        fill_sqlite(crowd, where + 7);
#ifdef QUERY_POSTGRES
    else
        fill_postgres(crowd, where);
#endif
    fprintf(stderr, "query: %u goals in %.0f s\n", crowd->count, bench_seconds() - begin);
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {{"goals", required_argument, NULL, 'g'},
                                            {"queries", required_argument, NULL, 'q'},
                                            {"filled", no_argument, NULL, 'f'},
                                            {0}};
    static struct crowd crowd;
    uint32_t goals = 1000000;
    struct asking asking = {.crowd = &crowd, .queries = 2000, .random = 1};
    bool filled = false;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        if (option == 'g')
            goals = (uint32_t)atoi(optarg);
        else if (option == 'q')
            asking.queries = (uint32_t)atoi(optarg);
        else if (option == 'f')
            filled = true;
        else
            return 2;
    if (optind != argc - 1 || goals == 0 || asking.queries == 0)
        bench_fail("query", "query STORE [--goals N] [--queries N] [--filled]");
    const char *where = argv[optind];
    crowd_make(&crowd, goals);
    if (!filled)
        fill(&crowd, where);
    asking.engine = store_address_file(where) ? "sqlite" : "postgres";
    asking.store = open_store(where);
    questions_run(&asking);
    store_close(asking.store);
    arena_free(&asking.arena);
    return asking.missed;
}
