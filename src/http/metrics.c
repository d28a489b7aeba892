/* SPDX-License-Identifier: Apache-2.0 */
#include "http/metrics.h"

#include "engine/follow.h"
#include "engine/spool.h"
#include "engine/token.h"
#include "http/http_server.h"
#include "ops/api.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

struct telling_view { /* input of every row */
    struct daemon_context *context;
    struct ledger_view ledger;
    char trouble[LIMIT_WHY];
    const json_t *tally, *accounts; /* NULL: the store did not answer */
    FILE *to;
};

/* ---- single numbers ---- */

static double number_commits(const struct telling_view *view) {
    return (double)view->ledger.commits;
}
static double number_turns(const struct telling_view *view) {
    return (double)view->ledger.turns;
}
static double number_conflicts(const struct telling_view *view) {
    return (double)view->ledger.conflicts;
}
static double number_quarantined(const struct telling_view *view) {
    return (double)view->ledger.quarantined;
}
static double number_takeovers(const struct telling_view *view) {
    return (double)view->ledger.takeovers;
}
static double number_deposed(const struct telling_view *view) {
    return (double)view->ledger.deposed;
}
static double number_waiting(const struct telling_view *view) {
    return view->ledger.waiting;
}
static double number_claims(const struct telling_view *view) {
    return view->ledger.claims;
}
static double number_acting(const struct telling_view *view) {
    return view->ledger.acting;
}
static double number_joined(const struct telling_view *view) {
    return view->ledger.joined && !safe_is_on(&view->context->ledger_thread->safe);
}
static double number_trouble(const struct telling_view *view) {
    return view->trouble[0] != 0;
}
static double number_safe(const struct telling_view *view) {
    return safe_is_on(&view->context->ledger_thread->safe);
}
static double number_stopped(const struct telling_view *view) {
    return view->ledger.mark.stopped;
}
static double number_tokens(const struct telling_view *view) {
    return tokens_count(view->context->tokens);
}
static double number_spool(const struct telling_view *view) {
    return view->context->spool ? (double)spool_bytes(view->context->spool) : 0;
}
static double number_followers(const struct telling_view *view) {
    return view->context->follow ? follow_count(view->context->follow) : 0;
}
static double number_started(const struct telling_view *view) {
    return (double)view->context->started_at / 1e6;
}

/* ---- families of samples ---- */

static void samples_build(const struct telling_view *view, const char *name) {
    fprintf(view->to, "%s{version=\"%s\",api=\"%s\"} 1\n", name, OVERSEER_VERSION, API_VERSION);
}

static void samples_calls(const struct telling_view *view, const char *name) {
    const struct call_count *counts = call_counts();
    for (size_t i = 0; i < OP_COUNT && i < LIMIT_OPS; i++)
        for (uint32_t class = CLASS_NONE; class <= CLASS_HARD; class ++) {
            uint64_t count = atomic_load(&counts[i].by_class[class]);
            if (count > 0)
                fprintf(view->to, "%s{operation=\"%s\",outcome=\"%s\"} %llu\n", name, OPS[i]->name,
                        class ? ERROR_CLASS[class] : "ok", (unsigned long long)count);
        }
}

static void samples_records(const struct telling_view *view, const char *name) {
    for (uint32_t type = 0; type < RECORD_TYPES; type++) {
        uint64_t count = atomic_load(&view->context->ledger_thread->records[type]);
        if (count > 0)
            fprintf(view->to, "%s{type=\"%s\"} %llu\n", name, name_of(&RECORD_NAMES, type),
                    (unsigned long long)count);
    }
}

static const char *const HTTP_SERVER_NAMES[HTTP_SERVERS] = {"unix", "tcp", "runs"};

static void http_server_sample(const struct telling_view *view, const char *name, int number) {
    for (int i = 0; i < HTTP_SERVERS; i++) {
        if (!view->context->servers[i])
            continue;
        struct http_server_view server = http_server_view(view->context->servers[i]);
        uint64_t numbers[] = {server.connections, server.unauthenticated, server.came,
                              server.sent_away};
        fprintf(view->to, "%s{door=\"%s\"} %llu\n", name, HTTP_SERVER_NAMES[i],
                (unsigned long long)numbers[number]);
    }
}

static void samples_connections(const struct telling_view *view, const char *name) {
    http_server_sample(view, name, 0);
}
static void samples_unauthenticated(const struct telling_view *view, const char *name) {
    http_server_sample(view, name, 1);
}
static void samples_sent_away(const struct telling_view *view, const char *name) {
    http_server_sample(view, name, 3);
}

static void samples_goals(const struct telling_view *view, const char *name) {
    for (uint32_t display_state = 0; view->tally && display_state < DISPLAY_STATES;
         display_state++) {
        const char *state = name_of(&DISPLAY_STATE_NAMES, display_state);
        fprintf(view->to, "%s{state=\"%s\"} %lld\n", name, state,
                (long long)json_integer_value(json_object_get(view->tally, state)));
    }
}

/* What is unknown has no sample. */
static void samples_quota(const struct telling_view *view, const char *name) {
    size_t i, k;
    json_t *account, *window;
    json_array_foreach((json_t *)(uintptr_t)view->accounts, i, account) {
        json_array_foreach(json_object_get(account, "windows"), k, window) {
            const json_t *used = json_object_get(window, "used");
            if (json_is_real(used))
                fprintf(view->to, "%s{account=\"%s\",window=\"%s\"} %.4f\n", name,
                        json_string_value(json_object_get(account, "account")),
                        json_string_value(json_object_get(window, "window")),
                        json_real_value(used));
        }
    }
}

/* ---- table of metrics ---- */

struct metric {
    const char *name, *type, *help;
    double (*number)(const struct telling_view *view);
    void (*samples)(const struct telling_view *view, const char *name);
};

static void samples_late(const struct telling_view *view, const char *name) {
    const struct lateness *late = &view->ledger.late;
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= LATE_BOUNDS; i++) {
        sum += late->count[i];
        if (i < LATE_BOUNDS)
            fprintf(view->to, "%s_bucket{le=\"%g\"} %llu\n", name, (double)LATE_BOUND[i] / 1e6,
                    (unsigned long long)sum);
        else
            fprintf(view->to, "%s_bucket{le=\"+Inf\"} %llu\n", name, (unsigned long long)sum);
    }
    fprintf(view->to, "%s_sum %.6f\n%s_count %llu\n", name, (double)late->sum / 1e6, name,
            (unsigned long long)sum);
}

static const struct metric METRICS[] = {
    {"overseer_build_info", "gauge", "Version of the daemon; always 1.", NULL, samples_build},
    {"overseer_start_time_seconds", "gauge", "When the daemon started, in seconds since 1970.",
     number_started, NULL},
    {"overseer_joined", "gauge", "1: this host has joined its store.", number_joined, NULL},
    {"overseer_store_trouble", "gauge", "1: the store reports an error or does not answer.",
     number_trouble, NULL},
    {"overseer_safe_mode", "gauge", "1: safe mode; nothing is written until an operator decides.",
     number_safe, NULL},
    {"overseer_stopped", "gauge", "1: an operator stopped the fleet.", number_stopped, NULL},
    {"overseer_ledger_turns_total", "counter", "Cycles of the ledger.", number_turns, NULL},
    {"overseer_ledger_commits_total", "counter", "Committed batches.", number_commits, NULL},
    {"overseer_ledger_conflicts_total", "counter",
     "Decisions that were repeated because the goal had changed.", number_conflicts, NULL},
    {"overseer_ledger_waiting", "gauge", "Signals that wait for the ledger.", number_waiting, NULL},
    {"overseer_ledger_claims", "gauge", "Effects that are ready and wait for a claim.",
     number_claims, NULL},
    {"overseer_effects_acting", "gauge", "Effects that are being carried out.", number_acting,
     NULL},
    {"overseer_due_late_seconds", "histogram",
     "Delay between the due time of a goal and its decision, in seconds.", NULL, samples_late},
    {"overseer_goals_quarantined_total", "counter", "Goals that are quarantined.",
     number_quarantined, NULL},
    {"overseer_takeovers_total", "counter", "Hosts without a lease whose goals were taken over.",
     number_takeovers, NULL},
    {"overseer_deposed_total", "counter", "Times that another host took over from this one.",
     number_deposed, NULL},
    {"overseer_records_total", "counter", "Decisions that this host committed, by record type.",
     NULL, samples_records},
    {"overseer_goals", "gauge", "Goals by display state.", NULL, samples_goals},
    {"overseer_quota_used_ratio", "gauge",
     "Used part of a quota window of an account, from 0 to 1, as its agents reported it.", NULL,
     samples_quota},
    {"overseer_calls_total", "counter", "Calls of operations, by outcome.", NULL, samples_calls},
    {"overseer_connections", "gauge", "Open connections of each HTTP server.", NULL,
     samples_connections},
    {"overseer_strangers", "gauge", "Connections that are not authenticated.", NULL,
     samples_unauthenticated},
    {"overseer_strangers_sent_away_total", "counter",
     "Connections closed because they were idle too long or over the limit.", NULL,
     samples_sent_away},
    {"overseer_followers", "gauge", "Clients that follow events.", number_followers, NULL},
    {"overseer_tokens", "gauge", "Tokens of this host.", number_tokens, NULL},
    {"overseer_spool_bytes", "gauge", "Bytes of spooled reports that wait for the store.",
     number_spool, NULL},
};

static void metric_write(const struct telling_view *view, const struct metric *metric) {
    fprintf(view->to, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
            metric->type);
    if (metric->samples)
        metric->samples(view, metric->name);
    else
        fprintf(view->to, "%s %.17g\n", metric->name, metric->number(view));
}

void metrics_forget(struct http_request *request) {
    json_decref(request->own);
    request->own = NULL;
}

static enum MHD_Result metrics_reply(struct http_request *request, const json_t *accounts) {
    char *text = NULL;
    size_t length = 0;
    struct telling_view view = {.context = request->context, .to = open_memstream(&text, &length)};
    if (!view.to)
        return http_reply_error(request, ERROR_NO_MEMORY, "");
    view.ledger = ledger_thread_view(request->context->ledger_thread, view.trouble);
    view.tally = request->own;
    view.accounts = accounts;
    for (size_t i = 0; i < count_of(METRICS); i++)
        metric_write(&view, &METRICS[i]);
    bool whole = !ferror(view.to);
    whole = fclose(view.to) == 0 && whole;
    enum MHD_Result result =
        whole ? http_reply(request, 200, "text/plain; version=0.0.4; charset=utf-8",
                           (struct str){text, length}, NULL)
              : http_reply_error(request, ERROR_NO_MEMORY, "");
    free(text);
    return result;
}

enum MHD_Result metrics_answered(struct http_request *request) {
    json_t *answer = request->call ? call_result(request->call) : NULL;
    if (!request->own && answer) {
        request->own = answer;
        return http_request_ask(request, STR("account.list"), NULL);
    }
    enum MHD_Result result = metrics_reply(request, json_object_get(answer, "accounts"));
    json_decref(answer);
    return result;
}

/* The number of goals and the quota windows come from the store, one after the other; without the store all other metrics
 * are still reported. */
enum MHD_Result metrics_begin(struct http_request *request) {
    char trouble[LIMIT_WHY];
    struct ledger_view view = ledger_thread_view(request->context->ledger_thread, trouble);
    if (trouble[0] || !view.joined)
        return metrics_reply(request, NULL);
    return http_request_ask(request, STR("goal.tally"), NULL);
}
