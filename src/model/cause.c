/* SPDX-License-Identifier: Apache-2.0 */
/* The table of causes. */
#include "model/cause.h"

static const struct str STALLED[] = {STR("try again"), STR("give it to another agent"),
                                     STR("stop working on it")};
static const struct str ADOPTED[] = {STR("go on watching it"), STR("it is done"),
                                     STR("stop watching it")};
static const struct str DONE[] = {STR("accept it"), STR("it is not done")};
static const struct str NO_AGENT[] = {STR("look again")};
static const struct str STOPPED[] = {STR("try again"), STR("stop working on it")};
static const struct str DISK[] = {STR("go on: there is room again"),
                                  STR("end this run and begin again"), STR("give it up")};
static const struct str PERMISSION[] = {STR("allow it once"), STR("do not allow it")};
static const struct str BLAST[] = {STR("go on"), STR("leave these agents alone")};

static const struct str NETWORK[] = {STR("stay with no"), STR("allow it for these tasks"),
                                     STR("allow it for set-up and checks of this repository"),
                                     STR("allow it for this repository")};

static const struct str OVERAGE[] = {STR("wait until the included usage begins again"),
                                     STR("allow paid usage of this account until then"),
                                     STR("end these tasks")};
static const struct str TARGET[] = {STR("go on waiting until it passes")};

#define OPTIONS(of) \
    { (of), count_of(of) }

static const struct cause_row {
    const char *prefix; /* stored */
    struct texts options;
} ROWS[CAUSES] = {
    [CAUSE_OTHER] = {"", {0}},
    [CAUSE_STALLED] = {"stalled.", OPTIONS(STALLED)},
    [CAUSE_LANDING] = {"landing.", OPTIONS(STALLED)},
    [CAUSE_DONE] = {"done.", OPTIONS(DONE)},
    [CAUSE_BLOCKED] = {"blocked.", {0}},
    [CAUSE_START] = {"start.", {0}},
    [CAUSE_NO_AGENT] = {"nobody.", OPTIONS(NO_AGENT)},
    [CAUSE_DENIED] = {"denied.", OPTIONS(STOPPED)},
    [CAUSE_FAILED] = {"failed.", OPTIONS(STOPPED)},
    [CAUSE_DISK] = {"disk.", OPTIONS(DISK)},
    [CAUSE_PERMISSION] = {"asks.", OPTIONS(PERMISSION)},
    [CAUSE_AGENT] = {"agent.", {0}},
    [CAUSE_BLAST] = {"desk.blast", OPTIONS(BLAST)},
    [CAUSE_BUDGET] = {"desk.budget.", {0}},
    [CAUSE_HOST_LOST] = {"host.lost.", {0}},
    [CAUSE_NETWORK] = {"network.", OPTIONS(NETWORK)},
    [CAUSE_OVERAGE] = {"desk.overage.", OPTIONS(OVERAGE)},
    [CAUSE_TARGET] = {"target", OPTIONS(TARGET)},
};

/* A prefix without a dot at its end is the whole cause. */
static bool row_fits(const struct cause_row *row, struct str text) {
    struct str prefix = str_of(row->prefix);
    return prefix.at[prefix.len - 1] == '.' ? str_begins(text, prefix) : str_equal(text, prefix);
}

enum cause cause_of(const struct question *question) {
    struct str text = str_of(question->cause);
    for (enum cause cause = CAUSE_OTHER + 1; cause < CAUSES; cause++)
        if (row_fits(&ROWS[cause], text))
            return cause;
    return CAUSE_OTHER;
}

bool cause_is(const struct question *question, enum cause cause) {
    return cause_of(question) == cause;
}

const char *cause_name(const struct question *question) {
    return question->cause + strlen(ROWS[cause_of(question)].prefix);
}

struct str cause_text(enum cause cause, const char *name, struct arena *arena) {
    return arena_format(arena, "%s%s", ROWS[cause].prefix, name);
}

struct texts cause_options(enum cause cause) {
    return ROWS[cause].options;
}

struct texts adopted_options(void) {
    return (struct texts)OPTIONS(ADOPTED);
}
