/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out one operation, whichever interface it came through.
 *
 *     parse ──▶ allowed? ──▶ [ look up ] ──▶ write: the ledger ──▶ done
 *                                 └──▶ read: the result ──────────▶ done
 *
 * A call belongs to the caller that started it until `done`; `done` is called exactly once, from any thread, and also
 * if the call times out first (ERROR_STORE_AWAY). API-10: nothing here knows HTTP. */
#pragma once

#include "engine/context.h"
#include "ops/op.h"

struct call;

/* call_start(): false: it was answered at once, `done` will not be called. `params` is borrowed until the call is
 * freed. */
struct call *call_new(struct daemon_context *context,
                      const struct caller *caller); /* NULL: no memory */
bool call_start(struct call *call, struct str method, const json_t *params,
                void (*done)(void *with), void *with);

/* Once the call is answered. */
enum error call_error(const struct call *call);
const char *call_why(const struct call *call); /* explanation of the error; may be empty */
json_t *call_result(struct call *call);        /* a new reference; NULL: an error, or no memory */
bool call_is_pending(
    const struct call *call); /* the write is stored for another host, or spooled: 202 */
const struct op *call_op(const struct call *call); /* NULL: there is no such operation */

void call_release(struct call *call); /* allowed before it is answered: then `done` is not called */

/* The number of calls of each operation, in the order of OPS, by outcome. */
struct call_count {
    atomic_uint_least64_t by_class[CLASS_HARD + 1]; /* enum error_class */
};
const struct call_count *call_counts(void);
void call_was_cached(const struct op *op); /* counts a call that was answered from the cache */

/* Called on the ledger thread; takes ownership of the input. */
void call_written(struct input *input);
/* Called periodically: answers the calls that have timed out. True: calls with a short timeout wait, so it must be
 * called again soon. */
bool calls_sweep(struct daemon_context *context);
/* Called before the HTTP servers are closed: answers every call that still waits; no call can begin to wait any more. */
void calls_end(struct daemon_context *context);
