/* SPDX-License-Identifier: Apache-2.0 */
/* Which requirement rows did a test that passed prove? Written to the file named by OVERSEER_PROOFS, one
 * line each: row, runner, test. tools/trace joins them with docs/requirements.md. */
#pragma once

/* rows: separated by spaces. Call it only after everything in the test has held. */
void proof_passed(const char *runner, const char *test, const char *rows);
