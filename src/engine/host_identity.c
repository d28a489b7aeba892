/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the identity of this host and chooses its number. */
#include "ledger/host_claim.h"

#include "base/sha256.h"
#include "engine/status_files.h"
#include "sys/clock.h"
#include "sys/file_replace.h"
#include "sys/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY = 32, AGAIN_MS = 500 };

/* ---- identity ---- */

static size_t file_read(const char *path, char *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, to, size);
    if (fd >= 0)
        close(fd);
    return length > 0 ? (size_t)length : 0;
}

static void machine_add(struct sha256 *sha) {
    static const char *const FILES[] = {"/etc/machine-id", "/var/lib/dbus/machine-id",
                                        "/etc/hostname"};
    char text[128];
    size_t length = 0;
    for (size_t i = 0; i < count_of(FILES) && length == 0; i++)
        length = file_read(FILES[i], text, sizeof text);
    sha256_add(sha, text, length);
}

/* The key is as old as the folder. A copy of the key is another file, so its inode number counts, too. */
static bool key_add(struct sha256 *sha, const char *folder, char *error, size_t error_size) {
    char path[PATH_MAX], key[KEY] = {0};
    struct stat at;
    snprintf(path, sizeof path, "%.*s/host.key", PATH_MAX - 16, folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ssize_t length = fd < 0 ? -1 : read(fd, key, sizeof key);
    if (length == 0) {
        random_bytes(key, sizeof key);
        length = write(fd, key, sizeof key) == KEY && fsync(fd) == 0 ? KEY : -1;
    }
    bool known = length == KEY && fstat(fd, &at) == 0;
    if (!known)
        snprintf(error, error_size, "%.512s cannot be read or written: %s.", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (known) {
        uint64_t place = at.st_ino;
        sha256_add(sha, key, sizeof key);
        sha256_add(sha, &place, sizeof place);
    }
    return known;
}

static void name_fill(char to[65], struct str name) {
    char own[65] = "";
    if (name.len == 0 && gethostname(own, sizeof own - 1) == 0)
        name = str_of(own);
    snprintf(to, 65, "%.*s", STR_ARG(str_cut(name, 64)));
    for (char *at = to; *at; at++)
        if (*at <= ' ' || *at > '~')
            *at = '-';
    if (!*to)
        snprintf(to, 65, "host");
}

bool host_identity_make(const char *folder, struct str name, struct host_identity *ret, char *error,
                        size_t error_size) {
    char boot[BOOT_ID + 1], shown[65], machine[33], booted[17];
    struct sha256 sha;
    sha256_begin(&sha);
    machine_add(&sha);
    if (!key_add(&sha, folder, error, error_size))
        return false;
    struct hash hash = sha256_end(&sha);
    boot_id(boot);
    struct hash boot_hash = sha256(str_of(boot));
    hex_write(machine, hash.bytes, 16);
    hex_write(booted, boot_hash.bytes, 8);
    name_fill(shown, name);
    snprintf(ret->addr, sizeof ret->addr, "%s %s %s", shown, machine, booted);
    return true;
}

/* ---- choosing a number ---- */

struct choosing {
    struct store *store;
    struct str addr;
    int64_t lease;
    struct arena arena;
    struct store_answer answer;
};

static bool hosts_ask(struct choosing *it) {
    struct store_request request = {.verb = STORE_HOSTS, .limit = LIMIT_HOSTS};
    arena_reset(&it->arena);
    it->answer = (struct store_answer){0};
    store_perform(it->store, &request, &it->answer, &it->arena);
    return it->answer.outcome == STORE_DONE;
}

static void hosts_read(struct choosing *it) {
    bool warned = false;
    do {
        if (hosts_ask(it))
            return;
        if (!warned)
            log_warning("the store does not answer, so this host has no number yet: %.*s",
                        STR_ARG(it->answer.error));
        warned = true;
        usleep(AGAIN_MS * 1000);
    } while (true);
}

static const struct host_row *row_of(const struct choosing *it, uint32_t host) {
    for (uint32_t i = 0; i < it->answer.host_count; i++)
        if (it->answer.hosts[i].host == host)
            return &it->answer.hosts[i];
    return NULL;
}

/* True: the host does not beat for a lease, or another host takes it over before that. */
static bool stays_silent(struct choosing *it, uint32_t host) {
    const struct host_row *row = row_of(it, host);
    uint64_t beat = row->beat;
    int64_t until = clock_boot() + it->lease + it->lease / 4;
    while (clock_boot() < until) {
        usleep((useconds_t)(it->lease / 8 < 1000000 ? it->lease / 8 : 1000000));
        hosts_read(it);
        row = row_of(it, host);
        if (row && row->beat != beat)
            return false;
        if (!row || host_claim(row, it->addr, 0, true) != CLAIM_SILENT)
            break;
    }
    return !row || host_claim(row, it->addr, 0, true) != CLAIM_REFUSED;
}

static bool may_have(struct choosing *it, uint32_t host) {
    const struct host_row *row = row_of(it, host);
    enum claim claim = row ? host_claim(row, it->addr, 0, true) : CLAIM_FREE;
    return claim == CLAIM_FREE || (claim == CLAIM_SILENT && stays_silent(it, host));
}

static uint32_t number_find(struct choosing *it) {
    for (uint32_t i = 0; i < it->answer.host_count; i++)
        if (host_is_same(it->answer.hosts[i].addr, it->addr))
            return it->answer.hosts[i].host;
    for (uint32_t host = 1; host < LIMIT_HOSTS; host++)
        if (may_have(it, host))
            return host;
    return 0;
}

/* ---- the previous number ---- */

static void number_line(struct str store, uint32_t host, char *to, size_t size) {
    char hex[17];
    struct hash hash = sha256(store);
    hex_write(hex, hash.bytes, 8);
    snprintf(to, size, "%s %u\n", hex, host);
}

uint32_t host_recall(const char *folder, struct str store) {
    char path[PATH_MAX], text[64] = "", line[64];
    snprintf(path, sizeof path, "%.*s/host.number", PATH_MAX - 16, folder);
    unsigned host = 0;
    if (file_read(path, text, sizeof text - 1) == 0 || sscanf(text, "%*16s %u", &host) != 1)
        return 0;
    number_line(store, host, line, sizeof line);
    return host < LIMIT_HOSTS && strcmp(line, text) == 0 ? host : 0;
}

void host_remember(const char *folder, struct str store, uint32_t host) {
    char line[64];
    number_line(store, host, line, sizeof line);
    if (host_recall(folder, store) != host &&
        !file_replace(folder, "host.number", line, strlen(line), true))
        log_warning("the number of this host cannot be stored in %s: %s", folder, strerror(errno));
}

uint32_t host_choose(struct store *store, struct str addr, uint32_t wanted, uint32_t had,
                     int64_t lease, char *error, size_t error_size) {
    struct choosing it = {.store = store, .addr = addr, .lease = lease};
    if (!hosts_ask(&it)) {
        if (had && (wanted == 0 ||
                    wanted == had)) { /* the join claims the number once the store answers */
            arena_free(&it.arena);
            return had;
        }
        hosts_read(&it);
    }
    uint32_t host = wanted ? wanted : number_find(&it);
    const struct host_row *row = row_of(&it, host);
    struct host_row seen = row ? *row : (struct host_row){.host = host};
    char name[HOST_ADDR];
    snprintf(name, sizeof name, "%.*s", STR_ARG(seen.addr));
    seen.addr = str_of(name);
    if (host == 0)
        snprintf(error, error_size, "There is no free number for this host in the store.");
    else if (!may_have(&it, host)) {
        host_claim_explain(&seen, host_claim(&seen, addr, 0, true) == CLAIM_REFUSED, error,
                           error_size);
        host = 0;
    }
    arena_free(&it.arena);
    return host;
}
