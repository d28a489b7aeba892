/* SPDX-License-Identifier: Apache-2.0 */
/* How do agents get in? POST, GET and DELETE /mcp: the Model Context Protocol over HTTP. */
#pragma once

#include "daemon/visit.h"

enum MHD_Result mcp_begin(struct visit *visit);
enum MHD_Result mcp_answered(struct visit *visit);
void mcp_forget(struct visit *visit);
