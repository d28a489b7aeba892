/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a settings file without a daemon. */
#include "base/memory.h"
#include "config/config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int config_check_main(const char *file) {
    char found[PATH_MAX];
    struct config_source source = {.file = file, .ignore_environment = true};
    struct config_report *report = memory_new(sizeof *report);
    if (!file && config_find(found, sizeof found))
        source.file = found;
    struct settings *settings = source.file ? config_load(&source, report) : NULL;
    if (!source.file)
        puts(
            "There is no settings file: all settings have their defaults. `overseer config show` lists them.");
    for (uint32_t i = 0; i < report->count && i < CONFIG_PROBLEMS; i++)
        puts(report->problems[i]);
    if (report->count > CONFIG_PROBLEMS)
        printf("and %u more\n", report->count - CONFIG_PROBLEMS);
    if (settings)
        printf("%s is valid.\n", source.file);
    int code = settings || !source.file ? 0 : 2;
    config_free(settings);
    free(report);
    return code;
}
