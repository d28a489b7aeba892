/* SPDX-License-Identifier: Apache-2.0 */
/* Authenticates each HTTP request and decides whether it may proceed, before any byte of its body is read. G-03, G-04. */
#pragma once

#include "http/http_request.h"

/* Fills request->caller and request->origin. Returns ERROR_NONE, or the reason for the refusal. */
enum error http_authenticate(struct http_request *request, const char *method, char *why,
                             size_t why_size);
