/* SPDX-License-Identifier: Apache-2.0 */
/* Shows events and follows them, also across a restart of the daemon. */
#include "cli/command.h"
#include "cli/print/print.h"

#include <curl/curl.h>
#include <unistd.h>

enum { AGAIN_SECONDS = 1, SHOWN_ID = 10 };

struct watching {
    struct typed *typed;
    char last[128]; /* position of the newest event: following resumes from there */
    bool heard;     /* the daemon has answered once */
};

static bool event_show(void *with, const struct sent *sent) {
    struct watching *watching = with;
    if (sent->id)
        snprintf(watching->last, sizeof watching->last, "%s", sent->id);
    if (!watching->heard && !watching->typed->as_json)
        hint("Following events; Ctrl-C ends.");
    watching->heard = true;
    if (sent->event && strcmp(sent->event, "gone") == 0) {
        fprintf(stderr, "Earlier events are no longer kept; following from now.\n");
        return true;
    }
    if (!sent->data)
        return true;
    json_t *event = json_loads(sent->data, 0, NULL);
    if (watching->typed->as_json)
        printf("%s\n", sent->data);
    else if (event)
        print_event(event, SHOWN_ID);
    json_decref(event);
    return fflush(stdout) == 0; /* false: the reader of our output is gone */
}

/* Adds ?name=value for every parameter that was given. */
static void path_make(const struct typed *typed, char *path, size_t size) {
    const char *name;
    json_t *value;
    size_t used = (size_t)snprintf(path, size, "/events");
    bool begun = json_object_get(typed->params, "after") || json_object_get(typed->params, "since");
    if (!begun)
        used += (size_t)snprintf(path + used, size - used, "?after=now");
    json_object_foreach(typed->params, name, value) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        const char *text = json_is_integer(value) ? number : json_string_value(value);
        char *escaped = text ? curl_easy_escape(NULL, text, 0) : NULL;
        if (escaped && used < size)
            used += (size_t)snprintf(path + used, size - used, "%c%s=%s",
                                     strchr(path, '?') ? '&' : '?', name, escaped);
        curl_free(escaped);
    }
}

static int follow(struct typed *typed) {
    struct watching watching = {.typed = typed};
    char path[2048];
    path_make(typed, path, sizeof path);
    for (bool warned = false;;) {
        bool well =
            daemon_follow(&typed->at, path, watching.last, event_show, &watching, &typed->trouble);
        if (ferror(stdout))
            return 0;
        if (!well && (!watching.heard || typed->trouble.error != ERROR_NO_DAEMON))
            return trouble_tell(&typed->trouble, typed->as_json);
        if (!warned && !typed->as_json)
            fprintf(stderr, "The daemon does not answer; following continues when it is back.\n");
        warned = !well;
        sleep(AGAIN_SECONDS);
    }
}

int events_run(struct typed *typed) {
    bool follows = typed_flag(typed, "follow");
    json_object_del(typed->params, "follow");
    return follows ? follow(typed) : op_run(typed);
}
