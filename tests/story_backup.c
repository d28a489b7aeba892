/* SPDX-License-Identifier: Apache-2.0 */
/* Backs up and restores a PostgreSQL database in a story, table by table: no host is connected meanwhile. */
#include "story.h"

#include <libpq-fe.h>

#define EACH_TABLE \
    "DO $$ DECLARE t text; c text; BEGIN FOR t, c IN SELECT relname, string_agg(quote_ident(attname), ', ')" \
    " FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped" \
    " AND attgenerated = '' WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')" \
    " AND NOT relispartition GROUP BY relname LOOP "
#define END_TABLE " END LOOP; END $$;"

static const char BACK_UP[] =
    "DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept;" EACH_TABLE
    "EXECUTE format('CREATE TABLE kept.%I AS TABLE public.%I', t, t);" END_TABLE;

/* Another restore begins another era again. */
static const char RESTORE[] = EACH_TABLE
    "EXECUTE format('TRUNCATE public.%I', t);"
    "EXECUTE format('INSERT INTO public.%I (%s) SELECT %s FROM kept.%I', t, c, c, t);" END_TABLE
    "UPDATE kept.store SET era = era + 1; UPDATE public.store SET era = era + 1;";

static const char *server;
static bool kept;

static void perform(const char *sql) {
    PGconn *connection = PQconnectdb(server);
    PQclear(PQexec(connection, "SET client_min_messages = warning"));
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fprintf(stderr, "%s", PQerrorMessage(connection));
    must(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(connection);
}

static void back_up(struct backend *backend) {
    (void)backend;
    kept = true;
    perform(BACK_UP);
}

static void restore(struct backend *backend) {
    (void)backend;
    must(kept);
    perform(RESTORE);
}

void backup_teach(struct backend *backend, const char *uri) {
    if (backend->back_up)
        return;
    server = uri;
    kept = false;
    backend->back_up = back_up;
    backend->restore = restore;
}

void backup_forget(void) {
    if (kept)
        perform("DROP SCHEMA IF EXISTS kept CASCADE");
    kept = false;
}
