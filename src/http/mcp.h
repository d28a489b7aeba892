/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the Model Context Protocol over HTTP to agents: POST, GET and DELETE /mcp. */
#pragma once

#include "http/http_request.h"

enum MHD_Result mcp_begin(struct http_request *request);
enum MHD_Result mcp_answered(struct http_request *request);
void mcp_forget(struct http_request *request);
