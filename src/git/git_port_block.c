/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns network ports to runs.
 *
 * Each run gets a block of ports, so that two runs that start the same server do not collide. STATE/ports/FIRST names
 * the run that holds the block. */
#include "git/git_state.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

static struct str block_path(struct git_call *call, uint32_t port) {
    return git_path(call, "ports", arena_format(call->arena, "%05u", port), "");
}

static bool port_is_free(uint32_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool free = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return free;
}

static bool block_is_free(uint32_t first, uint16_t count) {
    for (uint32_t port = first; port < first + count; port++)
        if (!port_is_free(port))
            return false;
    return true;
}

/* Prefers the block that the run already holds over a free one. 0: neither exists. */
static uint32_t block_find(struct git_call *call, struct str run, uint32_t first, uint16_t count,
                           bool *ret_held) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < GIT_BLOCKS && first + (i + 1) * count <= 65536; i++) {
        struct str holder;
        uint32_t port = first + i * count;
        bool taken = git_file_read(call, block_path(call, port), GIT_NAME, &holder);
        if (taken && str_equal(holder, run)) {
            *ret_held = true;
            return port;
        }
        if (!taken && !open && block_is_free(port, count))
            open = port;
    }
    return open;
}

static bool ports_open(struct git_call *call, struct str run) {
    return git_name_check(call, run) && git_folder_make(call, call->context->state) &&
           git_lock(call, STR("ports")) &&
           git_folder_make(call,
                           arena_format(call->arena, "%.*s/ports", STR_ARG(call->context->state)));
}

struct git_answer git_ports_hold(const struct git_context *context, struct str run,
                                 uint16_t first_port, uint16_t count, struct arena *arena,
                                 uint16_t *ret_port) {
    struct git_call call;
    must(first_port > 0 && count > 0);
    git_begin(&call, context, arena);
    if (ports_open(&call, run)) {
        bool held = false;
        uint32_t port = block_find(&call, run, first_port, count, &held);
        if (!port)
            git_fail(&call, GIT_REFUSED, "every block of ports is in use");
        else if (held || git_file_write(&call, block_path(&call, port), run))
            *ret_port = (uint16_t)port;
    }
    return git_end(&call);
}

static void blocks_free(struct git_call *call, struct str run) {
    struct str folder = arena_format(call->arena, "%.*s/ports", STR_ARG(call->context->state));
    DIR *stream = opendir(arena_cstr(call->arena, folder));
    if (!stream) {
        git_fail_errno(call, "cannot read", folder);
        return;
    }
    for (struct dirent *entry; git_well(call) && (entry = readdir(stream));) {
        struct str holder, path = git_path(call, "ports", str_of(entry->d_name), "");
        if (git_file_read(call, path, GIT_NAME, &holder) && str_equal(holder, run))
            git_folder_remove(call, path);
    }
    closedir(stream);
}

struct git_answer git_ports_free(const struct git_context *context, struct str run,
                                 struct arena *arena) {
    struct git_call call;
    git_begin(&call, context, arena);
    if (ports_open(&call, run))
        blocks_free(&call, run);
    return git_end(&call);
}
