/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program with fewer rights than its starter has. `overseer-hold --confine FILE -- PROGRAM` restricts itself
 * as the file says (Landlock, limits), and becomes the program. It runs inside bubblewrap and not around it: a process
 * under Landlock may not mount anything.
 *
 * A line of the file is a keyword and its value; an unknown keyword aborts everything, so that no restriction is left
 * out. */
#include "hold/hold.h"
#include "hold/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Values that newer kernels know and older headers do not name. */
enum {
    FS_TRUNCATE = 1 << 14,   /* 3 */
    FS_IOCTL = 1 << 15,      /* 5 */
    NET_TCP = 3,             /* 4: bind and connect */
    SCOPE_ABSTRACT = 1 << 0, /* 6: abstract Unix sockets of others */
    SCOPE_SIGNAL = 1 << 1,   /* 6: processes of others */
    FS_SEES =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    FS_OF_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                  LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL,
    FS_FIRST = (1 << 13) - 1, /* rights that the first version knows */
};

enum { LINE = 4200, EXIT_UNCONFINED = 126 };

struct ruled { /* as the kernel reads it; it accepts a shorter one too */
    uint64_t fs, net, scoped;
};

struct confining {
    int rules;  /* -1: no Landlock here */
    long level; /* version of Landlock */
    uint64_t fs;
    bool landlock;
    struct forwarding forwarding;
};

static uint64_t fs_of(long level) {
    return FS_FIRST | (level >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (level >= 3 ? FS_TRUNCATE : 0) |
           (level >= 5 ? FS_IOCTL : 0);
}

static size_t ruled_size(long level) {
    return level >= 6 ? 24 : level >= 4 ? 16 : 8;
}

/* ---- keywords ---- */

static int path_allow(struct confining *it, const char *path, uint64_t access) {
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC), code = 0;
    if (fd < 0 || fstat(fd, &about))
        code = errno == ENOENT ? 0 : errno; /* a path that does not exist needs no permission */
    else {
        struct landlock_path_beneath_attr rule = {
            .allowed_access = access & it->fs & (S_ISDIR(about.st_mode) ? ~0ull : FS_OF_FILES),
            .parent_fd = fd};
        if (syscall(SYS_landlock_add_rule, it->rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
            code = errno;
    }
    if (fd >= 0)
        close(fd);
    return code;
}

static int word_sees(struct confining *it, const char *path) {
    return it->rules < 0 ? 0 : path_allow(it, path, FS_SEES);
}

static int word_writes(struct confining *it, const char *path) {
    return it->rules < 0 ? 0 : path_allow(it, path, ~0ull);
}

static int limit_set(int what, const char *value) {
    char *end;
    errno = 0;
    unsigned long long most = strtoull(value, &end, 10);
    struct rlimit now;
    if (errno || *end || end == value || getrlimit((__rlimit_resource_t)what, &now))
        return EINVAL;
    if (now.rlim_max < most) /* never more than the present limit */
        most = now.rlim_max;
    now.rlim_cur = now.rlim_max = most;
    return setrlimit((__rlimit_resource_t)what, &now) ? errno : 0;
}

static int word_memory(struct confining *it, const char *value) {
    (void)it;
    return limit_set(RLIMIT_DATA, value);
}

static int word_cpu(struct confining *it, const char *value) {
    (void)it;
    return limit_set(RLIMIT_CPU, value);
}

static int word_processes(struct confining *it, const char *value) {
    (void)it;
    return limit_set(RLIMIT_NPROC, value);
}

static int word_file_size(struct confining *it, const char *value) {
    (void)it;
    return limit_set(RLIMIT_FSIZE, value);
}

static int word_files(struct confining *it, const char *value) {
    (void)it;
    return limit_set(RLIMIT_NOFILE, value);
}

/* Must come first: `landlock yes`, or `landlock offline`, which forbids all TCP. */
static int word_landlock(struct confining *it, const char *value) {
    it->level = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    it->landlock = true;
    if (it->level < 1)
        return ENOSYS;
    it->fs = fs_of(it->level);
    struct ruled ruled = {it->fs, !strcmp(value, "offline") ? NET_TCP : 0,
                          SCOPE_ABSTRACT | SCOPE_SIGNAL};
    it->rules = (int)syscall(SYS_landlock_create_ruleset, &ruled, ruled_size(it->level), 0);
    return it->rules < 0 ? errno : 0;
}

static bool port_take(const char **at, char end, uint32_t *ret) {
    char *rest;
    unsigned long port = strtoul(*at, &rest, 10);
    *ret = (uint32_t)port;
    *at = rest + 1;
    return port > 0 && port <= UINT16_MAX && *rest == end;
}

/* PORT FOLDER: started once everything else is in force. */
static int word_forward(struct confining *it, const char *value) {
    struct forwarding *forwarding = &it->forwarding;
    if (!port_take(&value, ' ', &forwarding->proxy_port) ||
        strlen(value) >= sizeof forwarding->folder)
        return EINVAL;
    strcpy(forwarding->folder, value);
    return 0;
}

/* ADDRESS PORT */
static int word_tunnel(struct confining *it, const char *value) {
    struct forwarding *forwarding = &it->forwarding;
    size_t length = strcspn(value, " ");
    if (forwarding->tunnel_count == PROXY_TUNNELS || !value[length] ||
        length >= sizeof forwarding->tunnels[0].address)
        return EINVAL;
    struct forward_tunnel *tunnel = &forwarding->tunnels[forwarding->tunnel_count++];
    memcpy(tunnel->address, value, length);
    value += length + 1;
    return port_take(&value, 0, &tunnel->port) ? 0 : EINVAL;
}

static const struct {
    const char *word;
    int (*take)(struct confining *it, const char *value);
} WORDS[] = {{"landlock", word_landlock},
             {"sees", word_sees},
             {"writes", word_writes},
             {"memory", word_memory},
             {"cpu", word_cpu},
             {"files", word_files},
             {"processes", word_processes},
             {"file_size", word_file_size},
             {"forward", word_forward},
             {"tunnel", word_tunnel}};

/* ---- the file ---- */

static int line_take(struct confining *it, char *line) {
    char *space = strchr(line, ' ');
    line[strcspn(line, "\n")] = 0;
    if (!space)
        return EINVAL;
    *space = 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(WORDS[i].word, line))
            return WORDS[i].take(it, space + 1);
    return EINVAL;
}

static int file_take(struct confining *it, const char *path) {
    char line[LINE];
    FILE *file = fopen(path, "re");
    int code = file ? 0 : errno;
    while (!code && fgets(line, sizeof line, file))
        code = line_take(it, line);
    if (file)
        fclose(file);
    return code;
}

/* Permanent, also for everything that it starts. */
static int confine(const char *path) {
    static struct confining it = {.rules = -1};
    int code = file_take(&it, path);
    if (!code && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        code = errno;
    if (!code && it.landlock && syscall(SYS_landlock_restrict_self, it.rules, 0))
        code = errno;
    if (it.rules >= 0)
        close(it.rules);
    if (!code && it.forwarding.proxy_port)
        code = forward_start(&it.forwarding);
    return code;
}

int confine_main(const char *file, char **argv) {
    int code = confine(file);
    if (!code) {
        signals_reset();
        execvp(argv[0], argv);
        code = errno;
    }
    fprintf(stderr, "overseer-hold: %s is not started: %s\n", argv[0], strerror(code));
    return EXIT_UNCONFINED;
}
