/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the tokens with which programs authenticate; a person creates each token. G-03. */
#include "ops/all.h"

static const struct op_member MADE[] = {
    {"tokenId", MEMBER_TEXT, true, "its id, for list, revoke and rotate"},
    {"token", MEMBER_TEXT, false, "the token itself, shown this once"},
    {"role", MEMBER_TEXT, true, "human, overseer, run or reader"},
    {"actor", MEMBER_TEXT, true, "the actor of requests with it"},
    {"goalId", MEMBER_TEXT, false, "for role run: the only goal that it may name"},
    {"runId", MEMBER_TEXT, false, "for role run: the run"},
    {"assignmentId", MEMBER_TEXT, false, "for role run: its assignment"},
    {"note", MEMBER_TEXT, true, "a note about its purpose"},
    {"createdBy", MEMBER_TEXT, true, "who created it"},
    {"createdAt", MEMBER_TIME, true, "when it was created"},
    {"expiresAt", MEMBER_TIME, true, "when it expires"},
};

static const struct field CREATE[] = {
    PARAM_ENUM("role", role, &ROLE_NAMES, FIELD_REQUIRED, "human, overseer, run or reader"),
    PARAM("actor", FIELD_TEXT, actor, LIMIT_ACTOR, 0,
          "the actor of requests with it, such as actor:agent:coder-1; default: yourself"),
    PARAM("goal", FIELD_TEXT, goal, 64, 0, "for role run: the only goal that it may name"),
    PARAM("run", FIELD_TEXT, run, LIMIT_NAME, 0, "for role run: the run's id"),
    PARAM("assignment", FIELD_TEXT, assignment, LIMIT_TAG, 0,
          "for role run: its assignment, such as A_3"),
    PARAM("expires", FIELD_TEXT, expires, 40, 0,
          "a duration such as 12h, a time, or never; default: 30d"),
    PARAM("note", FIELD_TEXT, note, LIMIT_NAME, 0, "a note about its purpose"),
};

const struct op OP_TOKEN_CREATE = {
    .name = "token.create",
    .summary = "Create a token for requests over TCP, or one that binds an agent to its run.",
    .help =
        "The token is shown once and stored only as a hash. A token is valid only on the host that created it.\n"
        "Example: overseer token create --role reader --note dashboard --expires 90d",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(CREATE),
    OP_MEMBERS(MADE),
};

static const struct field LIST[] = {
    PARAM("after", FIELD_TEXT, after, 64, 0, "the `next` of the previous page"),
};

static const struct op_member LISTED[] = {
    {"tokens", MEMBER_LIST, true, "oldest first, without the tokens themselves"},
    {"next", MEMBER_TEXT, false, "there are more: pass this as `after`"},
};

const struct op OP_TOKEN_LIST = {
    .name = "token.list",
    .summary = "List this host's tokens: their actor, creator and expiry.",
    .help = "Example: overseer token list",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(LIST),
    OP_MEMBERS(LISTED),
};

static const struct field ONE[] = {
    PARAM("tokenId", FIELD_TEXT, token, 64, FIELD_REQUIRED, "the token, as in token.list"),
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
    .summary =
        "Replace a token with a new one for the same actor; the old one becomes invalid at once.",
    .help = "Example: overseer token rotate tok_0123456789abcdef",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_PARAMS(ONE),
    .positional = 1,
    OP_MEMBERS(MADE),
};
