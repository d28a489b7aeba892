/* SPDX-License-Identifier: Apache-2.0 */
/* Records which requirement rows a passed test proves: written to the file named by OVERSEER_PROOFS, one line each:
 * row, runner, test. tools/trace joins them with docs/requirements.md. */
#pragma once

/* rows: separated by spaces. Call it only after every assertion of the test has passed. */
void proof_passed(const char *runner, const char *test, const char *rows);
