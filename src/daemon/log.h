/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon tell the operator? One JSON object a line, on standard error. */
#pragma once

void log_line(const char *level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_info(...) log_line("info", __VA_ARGS__)
#define log_warning(...) log_line("warning", __VA_ARGS__)
#define log_error(...) log_line("error", __VA_ARGS__)
