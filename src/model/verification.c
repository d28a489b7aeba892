/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of the checks: their rows. */
#include "model/verification.h"

static const char *const VERIFIED[VERIFIEDS] = {"skipped", "passed", "failed"};
static const char *const TYPE[CHECK_TYPES] = {"artifact", "completion_report", "command"};
static const char *const JUDGED[JUDGEDS] = {"none", "tests edited", "check rules edited"};
const struct names JUDGED_NAMES = NAMES_OF(JUDGED);
const struct names VERIFIED_NAMES = NAMES_OF(VERIFIED);
const struct names CHECK_TYPE_NAMES = NAMES_OF(TYPE);

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }

static const struct field CHECK_FIELDS[] = {
    F("type", FIELD_ENUM, 1, check_made, type, 0, &CHECK_TYPE_NAMES,
      "artifact, completion_report or command"),
    F("target", FIELD_TEXT, 2, check_made, target, LIMIT_LINE, NULL,
      "the path that was checked, or the command that was run"),
    F("passed", FIELD_FLAG, 3, check_made, passed, 0, NULL, "whether the check passed"),
    F("reason", FIELD_TEXT, 4, check_made, reason, LIMIT_LINE, NULL,
      "why it failed; empty: it passed"),
};
const struct shape CHECK_MADE = SHAPE_OF(check_made, "check_made", 1, CHECK_FIELDS);

static const struct field FIELDS[] = {
    F("status", FIELD_ENUM, 1, verification, status, 0, &VERIFIED_NAMES,
      "passed, failed or skipped"),
    F("verifiedAt", FIELD_TIME, 2, verification, at, 0, NULL, "time of the verification"),
    {"checks", FIELD_ROWS, 3, FIELD_OF(verification, checks), 0, 0, NULL, "the checks, one by one",
     LIMIT_ARTIFACTS + 2, &CHECK_MADE},
    F("commit", FIELD_TEXT, 4, verification, commit, LIMIT_COMMIT, NULL,
      "the candidate commit that was checked"),
    F("onto", FIELD_TEXT, 5, verification, onto, LIMIT_COMMIT, NULL,
      "tip of the target that the candidate was built on; empty: nothing lands"),
    F("snapshot", FIELD_TEXT, 6, verification, snapshot, LIMIT_COMMIT, NULL,
      "snapshot that the candidate was built from"),
    F("digest", FIELD_HASH, 7, verification, digest, 0, NULL,
      "hash of the command, setup, protected paths and sandbox"),
    F("judged", FIELD_ENUM, 8, verification, judged, 0, &JUDGED_NAMES,
      "what the change did to judged files"),
    F("change", FIELD_HASH, 9, verification, change, 0, NULL,
      "hash of the candidate's change as shown to a person"),
};
const struct shape VERIFICATION = SHAPE_OF(verification, "verification", 1, FIELDS);
