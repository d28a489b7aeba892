/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/place.h"

#include "base/memory.h"
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLOCK_SLACK_SECONDS = 3, START_SECONDS = 120 };

static void text_take(char *to, size_t size, struct str text) {
    snprintf(to, size, "%.*s", STR_ARG(text));
}

/* A broken settings file must not prevent the user from asking what is wrong with it. */
static struct settings *settings_load(const struct config_source *source) {
    struct config_report *report = memory_new(sizeof *report);
    struct config_source without = *source;
    without.ignore_file = true;
    struct settings *settings = config_load(source, report);
    if (!settings)
        settings = config_load(&without, report);
    free(report);
    return settings;
}

void place_find(struct typed *typed) {
    struct config_flag flags[2];
    uint32_t count = 0;
    const char *store = typed_text(typed, "store");
    if (typed->socket_given)
        flags[count++] = (struct config_flag){
            .name = "server.socket", .value = typed->at.socket, .shown = "--socket"};
    if (store)
        flags[count++] =
            (struct config_flag){.name = "storage.store", .value = store, .shown = "--store"};
    struct config_source source = {
        .file = typed_text(typed, "config"), .flags = flags, .flag_count = count};
    struct settings *settings = settings_load(&source);
    if (!settings)
        return;
    text_take(typed->at.folder, sizeof typed->at.folder, settings->storage.dir);
    text_take(typed->at.store, sizeof typed->at.store, settings->storage.store);
    if (!typed->socket_given)
        text_take(typed->at.socket, sizeof typed->at.socket, settings->server.socket);
    config_free(settings);
}

void place_make(const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* Start time of a process, in ticks since boot; 0: there is no such process. */
static unsigned long long began_at(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *at = strrchr(text, ')'); /* the name may contain anything */
    unsigned long long ticks = 0;
    if (at && sscanf(at + 2,
                     "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                     "%*d %*d %llu",
                     &ticks) != 1)
        return 0;
    return ticks;
}

/* Boot time of the machine, in seconds; 0: not found. */
static unsigned long long machine_began(void) {
    char line[256];
    unsigned long long seconds = 0;
    FILE *file = fopen("/proc/stat", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "btime %llu", &seconds) != 1)
        continue;
    if (file)
        fclose(file);
    return seconds;
}

static bool is_this_boot(const char *boot_given) {
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool is =
        file && fscanf(file, "%63s", boot) == 1 && boot_given && strcmp(boot_given, boot) == 0;
    if (file)
        fclose(file);
    return is;
}

/* The pid alone may have been reused by another process. Ticks since boot do not change with the clock. A daemon that
 * did not record them must have started just before it registered, or it is another process. */
static bool is_the_one(const json_t *json, pid_t pid) {
    const json_t *ticks_given = json_object_get(json, "start_ticks");
    if (ticks_given)
        return (unsigned long long)json_integer_value(ticks_given) == began_at(pid) &&
               is_this_boot(json_string_value(json_object_get(json, "boot_id")));
    long long registered = json_integer_value(json_object_get(json, "start_time_unix"));
    unsigned long long ticks = began_at(pid);
    long long began =
        (long long)(machine_began() + ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
    return ticks > 0 && registered - began >= -CLOCK_SLACK_SECONDS &&
           registered - began <= START_SECONDS;
}

static bool process_take(const json_t *json, struct registered *ret) {
    ret->pid = (pid_t)json_integer_value(json_object_get(json, "pid"));
    if (ret->pid <= 0)
        return false;
    ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
    if (ret->pidfd >= 0 && is_the_one(json, ret->pid))
        return true;
    if (ret->pidfd >= 0)
        close(ret->pidfd);
    return false;
}

bool registered_read(const struct daemon_address *at, struct registered *ret) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/daemon.json", at->folder);
    json_t *json = json_load_file(path, 0, NULL);
    const char *log = json_string_value(json_object_get(json, "log_file"));
    *ret = (struct registered){.pidfd = -1};
    snprintf(ret->log, sizeof ret->log, "%s", log ? log : "");
    bool there = json && process_take(json, ret);
    json_decref(json);
    return there;
}
