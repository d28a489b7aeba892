/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the tokens with which programs authenticate; a person creates each token. G-03. */
#include "ops/all.h"

static const struct op_member MADE[] = {
    {"tokenId", MEMBER_TEXT, true, "what it is called: list, revoke and rotate take it"},
    {"token", MEMBER_TEXT, false, "the token itself, shown this once"},
    {"role", MEMBER_TEXT, true, "human, overseer, run or reader"},
    {"actor", MEMBER_TEXT, true, "who acts with it"},
    {"goalId", MEMBER_TEXT, false, "of a run: its goal, and no other"},
    {"runId", MEMBER_TEXT, false, "of a run"},
    {"assignmentId", MEMBER_TEXT, false, "of a run: what it works on"},
    {"note", MEMBER_TEXT, true, "what it is for"},
    {"createdBy", MEMBER_TEXT, true, "who made it"},
    {"createdAt", MEMBER_TIME, true, "when it was made"},
    {"expiresAt", MEMBER_TIME, true, "until when it is taken"},
};

static const struct field CREATE[] = {
    PARAM_ENUM("role", role, &ROLE_NAMES, FIELD_REQUIRED, "human, overseer, run or reader"),
    PARAM("actor", FIELD_TEXT, actor, LIMIT_ACTOR, 0,
          "who acts with it, such as actor:agent:coder-1; yourself if not said"),
    PARAM("goal", FIELD_TEXT, goal, 64, 0, "role run: the only goal that it may name"),
    PARAM("run", FIELD_TEXT, run, LIMIT_NAME, 0, "role run: the run's id"),
    PARAM("assignment", FIELD_TEXT, assignment, LIMIT_TAG, 0,
          "role run: what it works on, such as A_3"),
    PARAM("expires", FIELD_TEXT, expires, 40, 0,
          "a span such as 12h, a time, or never; 30d if not said"),
    PARAM("note", FIELD_TEXT, note, LIMIT_NAME, 0, "what it is for"),
};

const struct op OP_TOKEN_CREATE = {
    .name = "token.create",
    .summary = "Make a token for requests over TCP, or one that binds an agent to its run.",
    .help = "It is shown once and kept only as a hash. Tokens belong to the host that made them.\n"
            "Example: overseer token create --role reader --note dashboard --expires 90d",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(CREATE),
    OP_MEMBERS(MADE),
};

static const struct field LIST[] = {
    PARAM("after", FIELD_TEXT, after, 64, 0, "the `next` of the page before"),
};

static const struct op_member LISTED[] = {
    {"tokens", MEMBER_LIST, true, "oldest first, without the tokens themselves"},
    {"next", MEMBER_TEXT, false, "there are more: give it as `after`"},
};

const struct op OP_TOKEN_LIST = {
    .name = "token.list",
    .summary = "List this host's tokens: for whom, by whom, until when.",
    .help = "Example: overseer token list",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(LIST),
    OP_MEMBERS(LISTED),
};

static const struct field ONE[] = {
    PARAM("tokenId", FIELD_TEXT, token, 64, FIELD_REQUIRED, "as token list shows it"),
};

const struct op OP_TOKEN_REVOKE = {
    .name = "token.revoke",
    .summary = "Revoke a token: it is refused from the next request on.",
    .help = "Example: overseer token revoke tok_0123456789abcdef --yes",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(ONE),
    .positional = 1,
    .asks_first = true,
    OP_MEMBERS(MADE),
};

const struct op OP_TOKEN_ROTATE = {
    .name = "token.rotate",
    .summary = "Replace a token by a new one for the same actor; the old one dies at once.",
    .help = "Example: overseer token rotate tok_0123456789abcdef",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(ONE),
    .positional = 1,
    OP_MEMBERS(MADE),
};
