/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/redaction.h"

#include "model/secret/redact.h"
#include "sys/crash_guard.h"

static struct arena rules_arena;
static const struct secret_rules *rules;

const struct secret_rules *redaction_rules(void) {
    if (!rules)
        rules = secret_rules_new(NULL, 0, &rules_arena);
    return rules;
}

struct custom {
    const struct str *at;
    uint32_t count;
};

static void custom_build(void *with) {
    const struct custom *custom = with;
    rules = secret_rules_new(custom->at, custom->count, &rules_arena);
}

bool redaction_init(const struct str *custom, uint32_t count) {
    struct crash_guard_report report;
    if (rules && count == 0)
        return true;
    return crash_guard_run(custom_build, &(struct custom){custom, count}, &report) ==
           CRASH_GUARD_WHOLE;
}

struct str redacted(struct str text, struct arena *arena) {
    return secret_redact(redaction_rules(), text, arena);
}

struct searching {
    struct str text;
    bool found;
};

static void searching_run(void *with) {
    struct searching *searching = with;
    searching->found = secret_find(redaction_rules(), searching->text);
}

bool text_has_secret(struct str text) {
    struct searching searching = {.text = text};
    struct crash_guard_report report;
    return crash_guard_run(searching_run, &searching, &report) != CRASH_GUARD_WHOLE ||
           searching.found;
}
