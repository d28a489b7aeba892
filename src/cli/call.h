/* SPDX-License-Identifier: Apache-2.0 */
/* How does the command line speak to the daemon? */
#pragma once

#include <jansson.h>

/* Calls a method over the Unix socket. The result, or NULL: then `error` says what happened and what to do
 * next, and ret_exit is the exit status for it. */
json_t *daemon_call(const char *socket, const char *method, json_t *params, char *error,
                    unsigned long error_size, int *ret_exit);
