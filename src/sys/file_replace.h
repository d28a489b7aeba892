/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a file as a whole: a reader sees the old content or the new one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `sync`: the file is on the disk when this returns. */
bool file_replace(const char *folder, const char *name, const char *text, size_t length, bool sync);
