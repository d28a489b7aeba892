/* SPDX-License-Identifier: Apache-2.0 */
/* How does one hear of what happens, as it happens? GET /events: server-sent events. API-11, EVENT-07
 *
 *     ?after=ERA.TX.N | now    or the header Last-Event-ID; without either, from now on
 *     ?goal=ID  ?type=plan.*,goal.created  ?since=2h
 *
 * A connection sleeps between events. What it is sent first, once it has caught up, is a comment with its place: from
 * there on nothing is missed. */
#pragma once

#include "daemon/visit.h"

enum MHD_Result events_begin(struct visit *visit);
enum MHD_Result events_answered(struct visit *visit); /* which goal begins like that */
void events_forget(struct visit *visit);
