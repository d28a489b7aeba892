/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line and runs the command. */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/place.h"
#include "cli/term.h"

#include <curl/curl.h>

int version_run(struct typed *typed) {
    if (typed->as_json)
        printf("{\"version\": \"%s\"}\n", OVERSEER_VERSION);
    else
        printf("overseer " OVERSEER_VERSION "\n");
    return 0;
}

/* A noun alone is half a command: prints its verbs and fails. */
static int half_tell(struct typed *typed) {
    if (typed->as_json) {
        trouble_make(&typed->trouble, ERROR_INVALID, "A verb is missing after `%s`.", typed->noun);
        return trouble_tell(&typed->trouble, true);
    }
    help_noun(stderr, typed->noun);
    return EXIT_USAGE;
}

/* Once for each name, also if one of them fails. */
static int run_each(struct typed *typed) {
    const char *flag = command_flag(typed->command, 0)->name;
    json_t *names = json_pack("[O]", json_object_get(typed->params, flag)), *name;
    json_t *params = json_deep_copy(typed->params);
    int status = 0;
    size_t i;
    json_array_extend(names, typed->also);
    json_array_foreach(names, i, name) {
        json_decref(typed->params);
        typed->params = json_deep_copy(params);
        typed->trouble = (struct trouble){0};
        json_object_set(typed->params, flag, name);
        printf("%s:\n", json_string_value(name));
        fflush(stdout);
        int ended = typed->command->run(typed);
        status = status ? status : ended;
    }
    json_decref(names);
    json_decref(params);
    return status;
}

static int run(struct typed *typed) {
    if (typed->help)
        return help_for(typed);
    if (typed->command && json_array_size(typed->also) > 0 && typed->as_json) {
        trouble_make(&typed->trouble, ERROR_INVALID, "With --json a command takes one name.");
        trouble_next(&typed->trouble, "Run it once for each.");
        return trouble_tell(&typed->trouble, true);
    }
    if (typed->command && json_array_size(typed->also) > 0)
        return run_each(typed);
    if (typed->command)
        return typed->command->run(typed);
    if (typed->noun)
        return half_tell(typed);
    return help_front();
}

int main(int argc, char **argv) {
    struct typed typed;
    term_start();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    static char *version[] = {"version"};
    bool asks_version = argc == 2 && strcmp(argv[1], "--version") == 0;
    bool well =
        asks_version ? typed_read(&typed, 1, version) : typed_read(&typed, argc - 1, argv + 1);
    if (well)
        place_find(&typed);
    int status =
        well && typed_load(&typed) ? run(&typed) : trouble_tell(&typed.trouble, typed.as_json);
    typed_free(&typed);
    if (fflush(stdout) != 0 && status == 0)
        status = EXIT_TROUBLE;
    curl_global_cleanup();
    return status;
}
