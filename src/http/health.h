/* SPDX-License-Identifier: Apache-2.0 */
/* Reports whether the daemon is alive and ready. G-26. */
#pragma once

#include "http/http_request.h"

/* 200 while the ledger thread turns, even without its store; 503 when it hangs, and in safe mode. */
enum MHD_Result healthz_begin(struct http_request *request);
/* 200 when a write would be accepted: the host has joined, the store answers, the daemon is not stopping. */
enum MHD_Result readyz_begin(struct http_request *request);
