/* SPDX-License-Identifier: Apache-2.0 */
/* Exports metrics for monitoring: GET /metrics, in the Prometheus text format. OBSERVE-07. */
#pragma once

#include "http/http_request.h"

enum MHD_Result metrics_begin(struct http_request *request);
enum MHD_Result metrics_answered(struct http_request *request);
void metrics_forget(struct http_request *request);
