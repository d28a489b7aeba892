/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps parts of an older file when the settings are written anew. */
#pragma once

#include "cli/command.h"

/* A section of the old file that is kept; id: of an agent, else empty. */
typedef void kept_block(void *with, const char *id, const char *text);
void init_keep(const char *path, kept_block *each, void *with);
bool init_has_agent(const char *path, const char *id); /* id: NULL: any agent */
