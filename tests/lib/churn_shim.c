/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the memory in use by a daemon. Preloaded into it, this counts allocated and not yet freed bytes, in the file
 * that OVERSEER_MEMORY_IN_USE names. SQLite's allocations are not counted: its page caches grow with the store up to a
 * limit of their own.
 *
 * It can also leak what OVERSEER_LEAK names, to prove that tests/e2e/churn.py notices: every eighth socket stays open
 * (`files`), folders of runs stay (`folders`), every fourth allocation of 2,000 bytes or more is kept (`memory`). Other
 * programs are not affected. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE = 2000, SOCKET_EACH = 8, MEMORY_EACH = 4 };

/* glibc's own functions, which need no look-up */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *at);

static _Atomic int64_t nowhere, *in_use = &nowhere;
static uintptr_t sqlite_from, sqlite_to;
static bool leak_files, leak_folders, leak_memory;
static int (*real_close)(int);
static int (*real_rename)(const char *, const char *);
static atomic_uint closed, freed;

static int object_seen(struct dl_phdr_info *info, size_t size, void *with) {
    (void)size;
    (void)with;
    for (int i = 0; strstr(info->dlpi_name, "libsqlite3") && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        sqlite_from = info->dlpi_addr + part->p_vaddr;
        sqlite_to = sqlite_from + part->p_memsz;
    }
    return 0;
}

static void count_begin(const char *path) {
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *in_use, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        in_use = at;
    if (fd >= 0)
        close(fd);
}

__attribute__((constructor)) static void shim_begin(void) {
    const char *what = getenv("OVERSEER_LEAK");
    if (strcmp(program_invocation_short_name, "overseerd") != 0)
        return;
    dl_iterate_phdr(object_seen, NULL);
    count_begin(getenv("OVERSEER_MEMORY_IN_USE"));
    leak_files = what && strcmp(what, "files") == 0;
    leak_folders = what && strcmp(what, "folders") == 0;
    leak_memory = what && strcmp(what, "memory") == 0;
}

/* ---- memory ---- */

static bool is_sqlite(const void *caller) {
    return (uintptr_t)caller >= sqlite_from && (uintptr_t)caller < sqlite_to;
}

static void *count(void *at, const void *caller) {
    if (at && !is_sqlite(caller))
        atomic_fetch_add(in_use, (int64_t)malloc_usable_size(at));
    return at;
}

static void discount(void *at, const void *caller) {
    if (at && !is_sqlite(caller))
        atomic_fetch_sub(in_use, (int64_t)malloc_usable_size(at));
}

void *malloc(size_t size) {
    return count(__libc_malloc(size), __builtin_return_address(0));
}

void *calloc(size_t each, size_t size) {
    return count(__libc_calloc(each, size), __builtin_return_address(0));
}

void *realloc(void *at, size_t size) {
    discount(at, __builtin_return_address(0));
    return count(__libc_realloc(at, size), __builtin_return_address(0));
}

void *memalign(size_t align, size_t size) {
    return count(__libc_memalign(align, size), __builtin_return_address(0));
}

void *aligned_alloc(size_t align, size_t size) {
    return count(__libc_memalign(align, size), __builtin_return_address(0));
}

int posix_memalign(void **ret, size_t align, size_t size) {
    void *at = count(__libc_memalign(align, size), __builtin_return_address(0));
    if (at)
        *ret = at;
    return at ? 0 : ENOMEM;
}

void free(void *at) {
    if (leak_memory && at && !is_sqlite(__builtin_return_address(0)) &&
        malloc_usable_size(at) >= LARGE && atomic_fetch_add(&freed, 1) % MEMORY_EACH == 0)
        return;
    discount(at, __builtin_return_address(0));
    __libc_free(at);
}

/* ---- leaks ---- */

int close(int fd) {
    struct stat info;
    if (!real_close)
        real_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
    if (leak_files && fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) &&
        atomic_fetch_add(&closed, 1) % SOCKET_EACH == 0)
        return 0;
    return real_close(fd);
}

int rename(const char *from, const char *to) {
    if (!real_rename)
        real_rename = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return leak_folders && strstr(to, "/.gone-") ? 0 : real_rename(from, to);
}
