/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a settings file. */
#include "config/config.h"
#include "base/memory.h"

#include "cli/command.h"

#include <stdlib.h>

/* The same for programs: every mistake as a text in JSON. */
static int check_json(const char *file) {
    char found[PATH_MAX];
    struct config_source source = {.file = file, .ignore_environment = true};
    struct config_report *report = memory_new(sizeof *report);
    if (!file && config_find(found, sizeof found))
        source.file = found;
    struct settings *settings = source.file ? config_load(&source, report) : NULL;
    json_t *problems = json_array();
    for (uint32_t i = 0; i < report->count && i < CONFIG_PROBLEMS; i++)
        json_array_append_new(problems, json_string(report->problems[i]));
    bool right = settings || !source.file;
    json_t *json =
        json_pack("{s:b, s:s?, s:o}", "ok", right, "file", source.file, "problems", problems);
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
    config_free(settings);
    free(report);
    return right ? 0 : EXIT_USAGE;
}

int config_check_run(struct typed *typed) {
    const char *file = typed_text(typed, "file");
    return typed->as_json ? check_json(file) : config_check_main(file);
}
