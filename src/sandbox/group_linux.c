/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where we may create control groups, and limits them. It tries instead of guessing: an existing file system may
 * belong to another owner, and a controller may be missing. */
#include "sandbox/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CPU_PERIOD_US = 100000, EVENTS_TEXT = 1024 };

static const struct {
    const char *controller, *file, *name;
} LIMIT[GROUP_LIMITS] = {[GROUP_MEMORY] = {"+memory", "memory.max", "memory"},
                         [GROUP_CPU] = {"+cpu", "cpu.max", "cpu"},
                         [GROUP_PROCESSES] = {"+pids", "pids.max", "pids"}};

/* ---- files ---- */

static bool path_join(char to[GROUP_PATH], const char *folder, const char *name) {
    if ((size_t)snprintf(to, GROUP_PATH, "%s/%s", folder, name) < GROUP_PATH)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool file_write(const char *group, const char *name, const char *text) {
    char path[GROUP_PATH];
    int fd = path_join(path, group, name) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    bool written = write(fd, text, strlen(text)) >= 0;
    int code = errno;
    close(fd);
    errno = code;
    return written;
}

static bool file_may_be_written(const char *group, const char *name) {
    char path[GROUP_PATH];
    return path_join(path, group, name) && access(path, W_OK) == 0;
}

/* ---- a group ---- */

static bool limit_put(const char *path, enum group_limit limit, uint64_t most) {
    char text[64];
    unsigned long long number = most;
    if (limit == GROUP_CPU)
        snprintf(text, sizeof text, "%llu %d", number * (CPU_PERIOD_US / 100), CPU_PERIOD_US);
    else
        snprintf(text, sizeof text, "%llu", number);
    bool put = file_write(path, LIMIT[limit].file, text);
    if (put && limit == GROUP_MEMORY) /* swapped-out memory is used memory too */
        (void)file_write(path, "memory.swap.max", "0");
    return put;
}

bool group_make(const char *path, const uint64_t limits[GROUP_LIMITS]) {
    bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    for (enum group_limit limit = 0; limit < GROUP_LIMITS; limit++)
        made = made && (limits[limit] == 0 || limit_put(path, limit, limits[limit]));
    int code = errno;
    if (!made)
        rmdir(path);
    errno = code;
    return made;
}

bool group_ran_out(const char *path) {
    char events[GROUP_PATH], text[EVENTS_TEXT];
    int fd = path_join(events, path, "memory.events") ? open(events, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *kills = strstr(text, "oom_kill ");
    return kills && strtoull(kills + strlen("oom_kill "), NULL, 10) > 0;
}

void group_end(const char *path) {
    (void)file_write(path, "cgroup.kill", "1");
    for (int i = 0; i < 50 && rmdir(path) != 0 && errno == EBUSY; i++)
        usleep(1000); /* killed processes need a moment to exit */
}

/* ---- where ---- */

/* Where the one hierarchy of cgroup v2 is mounted. */
static bool mount_find(char ret[GROUP_PATH]) {
    char line[4096], root[GROUP_PATH];
    FILE *file = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, " - cgroup2 ") &&
                sscanf(line, "%*s %*s %*s %1023s %1023s", root, ret) == 2 && !strcmp(root, "/");
    if (file)
        fclose(file);
    return found;
}

static bool own_find(char mount[GROUP_PATH], char ret[GROUP_PATH]) {
    char line[4096];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        found = !strncmp(line, "0::/", 4) &&
                (size_t)snprintf(ret, GROUP_PATH, "%s%s", mount,
                                 strcmp(line, "0::/") ? line + 3 : "") < GROUP_PATH;
    }
    if (file)
        fclose(file);
    return found;
}

/* systemd marks each group that it delegates. */
static bool is_delegated(const char *path) {
    char value[8];
    ssize_t user = getxattr(path, "user.delegate", value, sizeof value);
    if (user != 1)
        user = getxattr(path, "trusted.delegate", value, sizeof value);
    return user == 1 && value[0] == '1';
}

/* Only the root group has processes beside groups with controllers, and no cgroup.type. */
static bool is_root(const char *path) {
    char type[GROUP_PATH];
    return path_join(type, path, "cgroup.type") && access(type, F_OK) != 0;
}

static bool daemon_step_aside(const char *own) {
    char below[GROUP_PATH];
    return path_join(below, own, "daemon") && (mkdir(below, 0755) == 0 || errno == EEXIST) &&
           file_write(below, "cgroup.procs", "0");
}

/* DelegateSubgroup= may have put us below it already; otherwise we move the daemon into a subgroup ourselves. */
static bool parent_find(const char *given, struct group_place *ret) {
    char mount[GROUP_PATH], own[GROUP_PATH];
    if (given && *given) {
        snprintf(ret->parent, sizeof ret->parent, "%s", given);
        return true;
    }
    if (!mount_find(mount) || !own_find(mount, own)) {
        snprintf(ret->why, sizeof ret->why, "there is no cgroup v2 here");
        return false;
    }
    snprintf(ret->parent, sizeof ret->parent, "%s", own);
    char *slash = strrchr(ret->parent, '/');
    *slash = 0;
    if (strlen(ret->parent) > strlen(mount) && is_delegated(ret->parent))
        return true;
    *slash = '/';
    if (is_root(own) || (is_delegated(own) && daemon_step_aside(own)))
        return true;
    ret->parent[0] = 0;
    snprintf(ret->why, sizeof ret->why, "the daemon's control group is not delegated to it");
    return false;
}

static void missing_say(struct group_place *place) {
    size_t used = 0;
    for (enum group_limit limit = 0; limit < GROUP_LIMITS; limit++)
        if (!place->can[limit])
            used += (size_t)snprintf(place->why + used, sizeof place->why - used, "%s%s",
                                     used ? ", " : "the control group has no controller ",
                                     LIMIT[limit].name);
}

void group_probe(const char *given, struct group_place *ret) {
    char name[32], trial[GROUP_PATH];
    bool any = false;
    *ret = (struct group_place){.parent = ""};
    if (!parent_find(given, ret))
        return;
    for (enum group_limit limit = 0; limit < GROUP_LIMITS; limit++)
        (void)file_write(ret->parent, "cgroup.subtree_control", LIMIT[limit].controller);
    snprintf(name, sizeof name, "overseer-trial-%d", (int)getpid());
    if (!path_join(trial, ret->parent, name) || mkdir(trial, 0755) != 0) {
        snprintf(ret->why, sizeof ret->why, "no control group can be created: %s", strerror(errno));
        ret->parent[0] = 0;
        return;
    }
    for (enum group_limit limit = 0; limit < GROUP_LIMITS; limit++)
        any |= ret->can[limit] = file_may_be_written(trial, LIMIT[limit].file);
    rmdir(trial);
    missing_say(ret);
    if (!any)
        ret->parent[0] = 0;
}
