/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of settings files. Accepted settings are printed, read again, and are then the same. */
#include "config/config.h"

static struct str shown(const struct settings *settings, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct str text = setting_show(settings, &SETTINGS[i], arena);
        if (!(SETTINGS[i].flags & SETTING_HIDDEN))
            write_raw(&writer, arena_format(arena, "%s = %.*s\n", SETTINGS[i].name, STR_ARG(text)));
    }
    return (struct str){writer.at, writer.len};
}

static void holds(const struct settings *settings) {
    static struct config_report report;
    static const struct config_source ALONE = {.ignore_environment = true};
    struct arena arena = {0};
    struct settings *again = config_load_text(shown(settings, &arena), "again", &ALONE, &report);
    must(again);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        must(SETTINGS[i].flags & SETTING_HIDDEN || setting_equal(settings, again, &SETTINGS[i]));
    must(settings_policy(settings, &arena).len <= LIMIT_POLICY);
    config_free(again);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct config_report report;
    static const struct config_source ALONE = {.ignore_environment = true};
    struct settings *settings =
        config_load_text((struct str){(const char *)data, size}, "fuzz.toml", &ALONE, &report);
    must((settings != NULL) == (report.count == 0));
    for (uint32_t i = 0; i < report.count && i < CONFIG_PROBLEMS; i++)
        must(report.problems[i][0] != 0);
    if (settings)
        holds(settings);
    config_free(settings);
    return 0;
}
