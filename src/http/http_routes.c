/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes: one row for each path and method. */
#include "http/http_server.h"

#include "http/events.h"
#include "http/health.h"
#include "http/mcp.h"
#include "http/metrics.h"
#include "http/rpc.h"

const struct route ROUTES[] = {
    {"POST", "/rpc", MAY_ALL, rpc_begin, rpc_answered, NULL},
    {"GET", "/events", MAY_ALL, events_begin, events_answered, events_forget},
    {"POST", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"DELETE", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/metrics", MAY_LOOK, metrics_begin, metrics_answered, metrics_forget},
    {"GET", "/healthz", 0, healthz_begin, NULL, NULL},
    {"GET", "/readyz", 0, readyz_begin, NULL, NULL},
};
const size_t ROUTE_COUNT = count_of(ROUTES);
