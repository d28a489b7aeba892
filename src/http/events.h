/* SPDX-License-Identifier: Apache-2.0 */
/* Streams events to clients as they happen. GET /events: server-sent events. API-11, EVENT-07
 *
 *     ?after=ERA.TX.N | now    or the header Last-Event-ID; without either, from now on
 *     ?goal=ID  ?type=plan.*,goal.created  ?since=2h
 *
 * A connection sleeps between events. Once it has caught up, it is first sent a comment with its place in the log: from
 * there on it misses nothing. */
#pragma once

#include "http/http_request.h"

enum MHD_Result events_begin(struct http_request *request);
enum MHD_Result events_answered(
    struct http_request *request); /* the goal whose id begins with the given prefix is known */
void events_forget(struct http_request *request);
