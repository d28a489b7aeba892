/* SPDX-License-Identifier: Apache-2.0 */
/* How is one operation carried out, whichever door it came through?
 *
 *     parse ──▶ allowed? ──▶ [ look up ] ──▶ write: the ledger ──▶ done
 *                                 └──▶ read: the result ──────────▶ done
 *
 * A call belongs to whoever started it until `done`; done comes exactly once, from any thread, and also where the
 * caller's patience ends first (ERROR_STORE_AWAY). API-10: nothing here knows HTTP. */
#pragma once

#include "daemon/house.h"
#include "ops/op.h"

struct call;

/* False: it was answered at once, `done` will not come. `params` is borrowed until the call is freed. */
struct call *call_new(struct house *house, const struct caller *caller); /* NULL: no memory */
bool call_start(struct call *call, struct str method, const json_t *params,
                void (*done)(void *with), void *with);

/* Once it is answered. */
enum error call_error(const struct call *call);
const char *call_why(const struct call *call); /* what is wrong with what; may be empty */
json_t *call_result(struct call *call); /* a new reference; NULL: there is an error, or no memory */
bool call_is_pending(
    const struct call *call); /* the write was kept for another host, or spooled: 202 */
const struct op *call_op(const struct call *call); /* NULL: there is no such operation */

void call_release(struct call *call); /* may be before it is answered: nobody is told then */

/* How many calls of each operation, in the order of OPS, by what came of them. */
struct call_count {
    atomic_uint_least64_t by_class[CLASS_HARD + 1]; /* enum error_class */
};
const struct call_count *call_counts(void);
void call_was_cached(const struct op *op); /* one was answered without a call */

/* From the ledger's thread; takes the input over. */
void call_written(struct input *input);
/* Now and then: whoever waited too long is told. True: somebody is in a hurry, and it has to be done again soon. */
bool calls_sweep(struct house *house);
/* Before the doors are closed: whoever still waits is told, and nobody can begin to wait any more. */
void calls_end(struct house *house);
