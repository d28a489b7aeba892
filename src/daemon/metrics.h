/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what has happened, for whoever draws curves? GET /metrics, in the text form of Prometheus. OBSERVE-07. */
#pragma once

#include "daemon/visit.h"

enum MHD_Result metrics_begin(struct visit *visit);
enum MHD_Result metrics_answered(struct visit *visit);
