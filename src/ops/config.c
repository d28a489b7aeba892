/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show and reload the settings. The daemon answers them itself: see engine/reload.c. */
#include "ops/all.h"

static const struct field SHOW[] = {
    PARAM("name", FIELD_TEXT, search, LIMIT_SEARCH, 0, "only settings with this prefix"),
    PARAM("origin", FIELD_FLAG, origin, 0, 0, "show the source of each value"),
};

static const struct op_member SHOWN[] = {
    {"file", MEMBER_TEXT, true, "the file that was read; empty: there is none"},
    {"settings", MEMBER_LIST, true,
     "name, value, default and whether it is policy; origin and line if asked"},
    {"agents", MEMBER_LIST, true, "the agents that are declared"},
    {"channels", MEMBER_LIST, true, "the channels to people"},
    {"budgets", MEMBER_LIST, true, "what may be spent"},
    {"prices", MEMBER_LIST, true, "what models cost"},
    {"repos", MEMBER_LIST, true, "repositories, besides that of [repo]"},
    {"accounts", MEMBER_LIST, true, "what is allowed with accounts"},
};

const struct op OP_CONFIG_SHOW = {
    .name = "config.show",
    .summary = "Show the current settings, each as it would be written in the file.",
    .help =
        "Each source overrides the ones before it: default, file, environment, flag. See overseer.toml(5).\n"
        "Example: overseer config show --origin",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN, /* the address of a store may contain a password */
    OP_PARAMS(SHOW),
    .positional = 1,
    OP_MEMBERS(SHOWN),
};

static const struct op_member RELOADED[] = {
    {"file", MEMBER_TEXT, true, "the file that was read; empty: there is none"},
    {"policy", MEMBER_TEXT, true, "hash of the settings that decisions depend on"},
    {"changed", MEMBER_LIST, true,
     "name, from, to, and whether the change is effective now or at the next start"},
};

/* POLICY-09: settings contain commands, so only a person may reload them. */
const struct op OP_CONFIG_RELOAD = {
    .name = "config.reload",
    .summary = "Reload the settings. A file with a mistake changes nothing.",
    .help =
        "The whole file is checked first. A change of a setting that decisions depend on is recorded.\n"
        "Example: overseer config reload",
    .kind = OP_LOCAL,
    .may = MAY_HUMAN,
    OP_MEMBERS(RELOADED),
};
