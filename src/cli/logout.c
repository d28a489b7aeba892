/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/logout.h"

#include "base/memory.h"
#include "cli/child.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_TEXT = 4096 };

enum service service_of_groups(const char *text) {
    /* The group of systemd's own hierarchy: "0::/…", or "1:name=systemd:/…" where it has another. */
    const char *at = strstr(text, ":name=systemd:/");
    if (!at)
        at = strstr(text, "0::/");
    char path[GROUPS_TEXT];
    snprintf(path, sizeof path, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    if (strstr(path, "/session-") && strstr(path, ".scope"))
        return SERVICE_SESSION;
    if (strstr(path, "/user@") && strstr(path, ".service/"))
        return strstr(path, "/overseerd.service") ? SERVICE_USER : SERVICE_TERMINAL;
    return strstr(path, "/system.slice/") ? SERVICE_SYSTEM : SERVICE_NONE;
}

enum service service_of_process(pid_t pid) {
    char path[64], text[GROUPS_TEXT];
    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return service_of_groups(text);
}

const char *service_restart_command(enum service service) {
    switch (service) {
    case SERVICE_USER: return "systemctl --user restart overseerd";
    case SERVICE_SYSTEM: return "as root: systemctl restart overseerd@ACCOUNT";
    default: return "overseer down, then: overseer up";
    }
}

bool logout_is_known(void) {
    return access("/run/systemd/system", F_OK) == 0;
}

bool logout_lingers(void) {
    char path[128];
    const struct passwd *user = getpwuid(geteuid());
    snprintf(path, sizeof path, "/var/lib/systemd/linger/%.64s", user ? user->pw_name : "");
    return user && access(path, F_OK) == 0;
}

bool logout_ends_sessions(void) {
    char path[PATH_MAX];
    char *words[] = {path,
                     (char *)"get-property",
                     (char *)"org.freedesktop.login1",
                     (char *)"/org/freedesktop/login1",
                     (char *)"org.freedesktop.login1.Manager",
                     (char *)"KillUserProcesses",
                     NULL};
    struct trouble trouble;
    if (!program_find("busctl", path))
        return true;
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    bool ends = !child_run(child, &trouble) || child->status != 0 ||
                strncmp(child->output, "b false", strlen("b false")) != 0;
    free(child);
    return ends;
}

bool program_was_replaced(pid_t pid) {
    static const char DELETED[] = " (deleted)";
    char path[64], program[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    return length > (ssize_t)sizeof DELETED &&
           strcmp(program + length - (sizeof DELETED - 1), DELETED) == 0;
}
