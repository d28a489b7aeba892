/* SPDX-License-Identifier: Apache-2.0 */
/* Records which functions a thread enters and leaves, for walks.py; linked into programs built with
 * -finstrument-functions.
 *
 * TRACE_DIR/on holds a number that walks.py writes: 0 is off. Each thread keeps its call stack all the time. While the
 * number is set, it also writes TRACE_DIR/<number>.<pid>.<tid>: a head, its stack so far, and then one row per call and
 * return. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 512, ROWS = 4 << 20 };
enum kind { KIND_BEFORE = 1, KIND_ENTER, KIND_LEAVE };

struct row {
    uint64_t at, kind, function, site; /* site: of the call */
};

struct head {
    uint64_t base; /* where the program is loaded */
    uint64_t count;
    uint64_t lost; /* rows without room */
};

struct thread {
    struct {
        void *function, *site;
    } stack[DEPTH];
    uint32_t depth, number; /* number: of the recording that `head` belongs to */
    struct head *head;
    struct row *rows;
};

extern const char __executable_start;
static _Atomic uint32_t *on; /* NULL: nothing is ever recorded */
static __thread struct thread self;
static __thread int busy;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static void child_begin(void) { /* with rows of its own, not in those of its parent */
    self.head = NULL;
    self.number = 0;
}

__attribute__((constructor)) static void begin(void) {
    int fd = open(TRACE_DIR "/on", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof *on, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return;
    pthread_atfork(NULL, NULL, child_begin);
    on = at;
}

static void put(enum kind kind, void *function, void *site) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (self.head->count == ROWS) {
        self.head->lost++;
        return;
    }
    self.rows[self.head->count++] =
        (struct row){(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, kind,
                     (uintptr_t)function, (uintptr_t)site};
}

static void open_rows(uint32_t number) {
    char path[512];
    size_t size = sizeof(struct head) + ROWS * sizeof(struct row);
    snprintf(path, sizeof path, "%s/%u.%d.%ld", TRACE_DIR, number, (int)getpid(),
             syscall(SYS_gettid));
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size))
        abort();
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        abort();
    self.head = at;
    self.rows = (struct row *)(self.head + 1);
    self.number = number;
    self.head->base = (uintptr_t)&__executable_start;
    for (uint32_t i = 0; i < self.depth && i < DEPTH; i++)
        put(KIND_BEFORE, self.stack[i].function, self.stack[i].site);
}

static void note(enum kind kind, void *function, void *site) {
    uint32_t number = on ? atomic_load_explicit(on, memory_order_acquire) : 0;
    if (number == 0 || busy)
        return;
    busy = 1;
    if (number != self.number)
        open_rows(number);
    put(kind, function, site);
    busy = 0;
}

void __cyg_profile_func_enter(void *function, void *site) {
    note(KIND_ENTER, function, site);
    if (self.depth < DEPTH) {
        self.stack[self.depth].function = function;
        self.stack[self.depth].site = site;
    }
    self.depth++;
}

void __cyg_profile_func_exit(void *function, void *site) {
    note(KIND_LEAVE, function, site);
    if (self.depth > 0)
        self.depth--;
}
