/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/spool.h"

#include "base/memory.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* One entry of the file: its length, the first bytes of its SHA-256, an encoded signal. */
enum { CHECK = 8, HEAD = 4 + CHECK, DRAIN_AT_ONCE = 128, KEPT_FILES = 100 };
static const int64_t LOOK_EVERY = SECONDS(1);

struct waiting { /* an entry to be appended */
    struct waiting *next;
    void (*done)(void *with, bool safe);
    void *with;
    struct str entry; /* stored behind this struct in the same block */
};

struct spool {
    const char *folder;
    struct ledger_thread *ledger_thread;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct waiting *first, **last;
    uint64_t head, tail; /* file offsets: answered by the ledger up to head, synced up to tail */
    uint64_t taken;      /* bytes on the way to the file */
    uint32_t under_way;  /* sent to the ledger and not yet answered */
    bool again;          /* one of them has to be sent again */
    bool moved;          /* the last hand-over made progress */
    bool stopping;
};

/* ---- entries ---- */

static void head_make(char head[HEAD], struct str body) {
    uint32_t length = (uint32_t)body.len;
    struct hash hash = sha256(body);
    for (int i = 0; i < 4; i++)
        head[i] = (char)(length >> 8 * i);
    memcpy(head + 4, hash.bytes, CHECK);
}

static uint32_t head_length(const char head[HEAD]) {
    uint32_t length = 0;
    for (int i = 0; i < 4; i++)
        length |= (uint32_t)(unsigned char)head[i] << 8 * i;
    return length;
}

/* The body of the entry at `at`, from the arena. Empty: there is no complete entry. */
static struct str entry_read(const struct spool *spool, uint64_t at, uint64_t end,
                             struct arena *arena) {
    char head[HEAD], should[HEAD];
    if (end - at < HEAD || pread(spool->fd, head, HEAD, (off_t)at) != HEAD)
        return (struct str){0};
    uint32_t length = head_length(head);
    if (length == 0 || length > LIMIT_SIGNAL_BODY || length > end - at - HEAD)
        return (struct str){0};
    char *body = arena_take(arena, length, 1);
    if (pread(spool->fd, body, length, (off_t)(at + HEAD)) != (ssize_t)length)
        return (struct str){0};
    head_make(should, (struct str){body, length});
    return memcmp(head, should, HEAD) == 0 ? (struct str){body, length} : (struct str){0};
}

/* Bytes that cannot be read are kept beside the spool for a person, in the first free spool.kept.N. */
static bool bytes_keep(const struct spool *spool, struct str bytes, const char *why) {
    char path[PATH_MAX];
    int fd = -1;
    for (int i = 0; i < KEPT_FILES && fd < 0; i++) {
        snprintf(path, sizeof path, "%s/spool.kept.%d", spool->folder, i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    bool kept = fd >= 0 && write(fd, bytes.at, bytes.len) == (ssize_t)bytes.len && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    log_about(LEVEL_WARNING, &(struct log_about){.incident = true}, "%s: %zu bytes %s %s", why,
              bytes.len, kept ? "are kept in" : "could not be kept in", path);
    return kept;
}

/* ---- appending ---- */

static bool append(struct spool *spool, const struct waiting *waiting, uint64_t *at) {
    for (; waiting; waiting = waiting->next) {
        struct str entry = waiting->entry;
        if (pwrite(spool->fd, entry.at, entry.len, (off_t)*at) != (ssize_t)entry.len)
            return false;
        *at += entry.len;
    }
    return fdatasync(spool->fd) == 0;
}

/* Appends everything that has arrived, with one sync. */
static void append_all(struct spool *spool) {
    pthread_mutex_lock(&spool->lock);
    struct waiting *waiting = spool->first;
    spool->first = NULL;
    spool->last = &spool->first;
    uint64_t at = spool->tail;
    pthread_mutex_unlock(&spool->lock);
    if (!waiting)
        return;
    bool safe = append(spool, waiting, &at);
    if (!safe)
        log_about(LEVEL_ERROR, &(struct log_about){.incident = true},
                  "the spool cannot be written: %s; reports are refused", strerror(errno));
    pthread_mutex_lock(&spool->lock);
    for (struct waiting *one = waiting; one; one = one->next)
        spool->taken -= one->entry.len;
    if (safe)
        spool->tail = at;
    else if (ftruncate(spool->fd, (off_t)spool->tail) != 0)
        log_error("a partial write to the spool cannot be undone: %s", strerror(errno));
    pthread_mutex_unlock(&spool->lock);
    while (waiting) {
        struct waiting *next = waiting->next;
        waiting->done(waiting->with, safe);
        free(waiting);
        waiting = next;
    }
}

struct encoding {
    const struct signal *signal;
    struct arena arena;
    struct waiting *made;
};

static void encode(void *with) {
    struct encoding *encoding = with;
    struct signal keyed = *encoding->signal;
    keyed.once.keyed = 1;
    struct input *clean =
        input_make(&keyed, NULL); /* STORE-14: nothing that contains a secret is kept */
    struct str body = clean ? signal_encode(&clean->signal, &encoding->arena) : (struct str){0};
    input_free(clean);
    struct waiting *waiting = body.len > 0 ? malloc(sizeof *waiting + HEAD + body.len) : NULL;
    if (!waiting)
        return;
    char *entry = (char *)(waiting + 1);
    head_make(entry, body);
    memcpy(entry + HEAD, body.at, body.len);
    *waiting = (struct waiting){.entry = {entry, HEAD + body.len}};
    encoding->made = waiting;
}

bool spool_put(struct spool *spool, const struct signal *signal,
               void (*done)(void *with, bool safe), void *with) {
    struct encoding encoding = {.signal = signal};
    struct crash_guard_report report;
    crash_guard_run(encode, &encoding, &report);
    arena_free(&encoding.arena);
    struct waiting *waiting = encoding.made;
    if (!waiting)
        return false;
    waiting->done = done;
    waiting->with = with;
    pthread_mutex_lock(&spool->lock);
    bool room = !spool->stopping && spool->tail + spool->taken + waiting->entry.len <= LIMIT_SPOOL;
    if (room) {
        spool->taken += waiting->entry.len;
        *spool->last = waiting;
        spool->last = &waiting->next;
        pthread_cond_signal(&spool->changed);
    }
    pthread_mutex_unlock(&spool->lock);
    if (!room)
        free(waiting);
    return room;
}

/* ---- hand-over to the ledger ---- */

/* A report that the ledger will never take is kept beside the spool, where a person finds it. */
static bool refused_keep(struct spool *spool, const struct input *input) {
    char path[PATH_MAX], goal[ID_TEXT + 1];
    snprintf(path, sizeof path, "%s/spool.refused", spool->folder);
    id_format(input->signal.goal, goal);
    FILE *file = fopen(path, "ae");
    bool kept = file &&
                fprintf(file, "%s goal_%s %.*s: %.*s\n", ERRORS[input->error].code, goal,
                        STR_ARG(input->signal.sender.actor), STR_ARG(input->signal.text)) > 0 &&
                fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file)
        kept = fclose(file) == 0 && kept;
    log_about(LEVEL_WARNING, &(struct log_about){.goal = input->signal.goal, .incident = true},
              "a spooled report was refused (%s); it %s spool.refused", ERRORS[input->error].code,
              kept ? "is kept in" : "cannot be written to");
    return kept;
}

/* Of progress reports only one in so many seconds is kept: one that came too soon is no loss. */
static bool is_too_soon(const struct input *input) {
    return input->error == ERROR_LIMITED && input->signal.kind == SIGNAL_AGENT_PROGRESS;
}

/* On the ledger thread. */
static void handed_over(struct input *input) {
    struct spool *spool = input->waiter;
    bool again = ERRORS[input->error].class == CLASS_TRANSIENT || input->error == ERROR_SAFE_MODE;
    if (input->error && !again && !is_too_soon(input))
        again = !refused_keep(spool, input);
    pthread_mutex_lock(&spool->lock);
    spool->again = spool->again || again;
    spool->under_way--;
    pthread_cond_signal(&spool->changed);
    pthread_mutex_unlock(&spool->lock);
    input_free(input);
}

static bool hand_over(struct spool *spool, struct str body) {
    struct signal signal = {0};
    if (!signal_decode(body, &signal)) {
        return bytes_keep(spool, body, "a spooled report has a kind that this build does not know");
    }
    struct input *input = input_make(&signal, spool);
    if (!input)
        return false;
    input->done = handed_over;
    input->taken = true;
    pthread_mutex_lock(&spool->lock);
    spool->under_way++;
    pthread_mutex_unlock(&spool->lock);
    if (queue_put(&spool->ledger_thread->queue, input))
        return true;
    pthread_mutex_lock(&spool->lock);
    spool->under_way--;
    pthread_mutex_unlock(&spool->lock);
    input_free(input);
    return false;
}

/* A store that hangs answers nothing for a while: reports that arrive meanwhile must not wait for it. */
static void answers_await(struct spool *spool) {
    pthread_mutex_lock(&spool->lock);
    while (spool->under_way > 0) {
        struct timespec end = clock_slice(SECONDS(1));
        if (!spool->first)
            pthread_cond_timedwait(&spool->changed, &spool->lock, &end);
        pthread_mutex_unlock(&spool->lock);
        append_all(spool);
        pthread_mutex_lock(&spool->lock);
    }
    pthread_mutex_unlock(&spool->lock);
}

/* Everything up to here has been answered; once that is all of it, the file starts again at offset 0. */
static void let_go(struct spool *spool, uint64_t up_to) {
    pthread_mutex_lock(&spool->lock);
    spool->head = up_to;
    spool->moved = true;
    bool empty = spool->head == spool->tail && !spool->first;
    if (empty && ftruncate(spool->fd, 0) == 0)
        spool->head = spool->tail = 0;
    pthread_mutex_unlock(&spool->lock);
    if (empty)
        log_info("all spooled reports have reached the store");
}

struct draining {
    struct spool *spool;
    struct arena arena;
};

/* A few entries at a time; all of them are sent again if one could not be taken just now. */
static void drain(void *with) {
    struct draining *draining = with;
    struct spool *spool = draining->spool;
    uint64_t at = spool->head;
    bool whole = true;
    spool->again = false;
    for (int i = 0; i < DRAIN_AT_ONCE && at < spool->tail && whole; i++) {
        struct str body = entry_read(spool, at, spool->tail, &draining->arena);
        must(body.len > 0); /* it was complete when it was written, or when the file was opened */
        whole = hand_over(spool, body);
        at += whole ? HEAD + body.len : 0;
    }
    answers_await(spool);
    if (!spool->again && at > spool->head)
        let_go(spool, at);
}

static void drain_guarded(struct spool *spool) {
    struct draining draining = {.spool = spool};
    struct crash_guard_report report;
    if (crash_guard_run(drain, &draining, &report) == CRASH_GUARD_BROKEN)
        log_about(LEVEL_ERROR, &(struct log_about){.incident = true},
                  "the spool cannot be read back: %s", report.why);
    answers_await(spool);
    arena_free(&draining.arena);
}

/* ---- the thread ---- */

bool spool_is_wanted(struct spool *spool) {
    char trouble[LIMIT_WHY];
    struct ledger_view view = ledger_thread_view(spool->ledger_thread, trouble);
    return trouble[0] != 0 || !view.joined;
}

/* Waits until there is something to do. False: it is time to end. */
static bool spool_waits(struct spool *spool) {
    pthread_mutex_lock(&spool->lock);
    bool rest = spool->head < spool->tail;
    if (!spool->first && !spool->stopping) {
        struct timespec end = clock_slice(LOOK_EVERY);
        if (!rest)
            pthread_cond_wait(&spool->changed, &spool->lock);
        else if (!spool->moved)
            pthread_cond_timedwait(&spool->changed, &spool->lock, &end);
    }
    spool->moved = false;
    bool ends = spool->stopping && !spool->first;
    pthread_mutex_unlock(&spool->lock);
    return !ends;
}

static void *spool_run(void *with) {
    struct spool *spool = with;
    do {
        append_all(spool);
        if (spool->head < spool->tail && !spool_is_wanted(spool) &&
            !safe_is_on(&spool->ledger_thread->safe))
            drain_guarded(spool);
    } while (spool_waits(spool));
    return NULL;
}

/* ---- opening ---- */

/* Finds the end of the complete entries. What follows was being written when the machine went down, and was never
 * answered; or the disk lost something: so it is kept. False: it cannot be kept, and nothing may be cut off. */
static bool tail_find(struct spool *spool, uint64_t size, struct arena *arena) {
    uint64_t at = 0;
    for (struct str body; at < size; at += HEAD + body.len) {
        arena_reset(arena);
        body = entry_read(spool, at, size, arena);
        if (body.len == 0)
            break;
    }
    spool->tail = at;
    if (at == size)
        return true;
    arena_reset(arena);
    char *rest = arena_take(arena, size - at, 1);
    return pread(spool->fd, rest, size - at, (off_t)at) == (ssize_t)(size - at) &&
           bytes_keep(spool, (struct str){rest, size - at}, "the end of the spool is damaged") &&
           ftruncate(spool->fd, (off_t)at) == 0;
}

static bool file_open(struct spool *spool) {
    char path[PATH_MAX];
    struct stat about;
    struct arena arena = {0};
    snprintf(path, sizeof path, "%s/spool", spool->folder);
    spool->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = spool->fd >= 0 && fstat(spool->fd, &about) == 0 &&
                tail_find(spool, (uint64_t)about.st_size, &arena);
    arena_free(&arena);
    return good;
}

struct spool *spool_open(const char *folder, struct ledger_thread *ledger_thread, char *error,
                         size_t error_size) {
    struct spool *spool = memory_new(sizeof *spool);
    *spool = (struct spool){.folder = folder, .ledger_thread = ledger_thread, .fd = -1};
    spool->last = &spool->first;
    pthread_mutex_init(&spool->lock, NULL);
    clock_condition(&spool->changed);
    if (file_open(spool) && pthread_create(&spool->thread, NULL, spool_run, spool) == 0)
        return spool;
    snprintf(error, error_size,
             "The spool in %s cannot be opened: %s. Check the owner of the folder.", folder,
             strerror(errno));
    if (spool->fd >= 0)
        close(spool->fd);
    free(spool);
    return NULL;
}

void spool_end(struct spool *spool) {
    if (!spool)
        return;
    pthread_mutex_lock(&spool->lock);
    spool->stopping = true;
    pthread_cond_signal(&spool->changed);
    pthread_mutex_unlock(&spool->lock);
    pthread_join(spool->thread, NULL);
}

void spool_free(struct spool *spool) {
    if (!spool)
        return;
    pthread_cond_destroy(&spool->changed);
    pthread_mutex_destroy(&spool->lock);
    close(spool->fd);
    free(spool);
}

uint64_t spool_bytes(struct spool *spool) {
    pthread_mutex_lock(&spool->lock);
    uint64_t bytes = spool->tail - spool->head + spool->taken;
    pthread_mutex_unlock(&spool->lock);
    return bytes;
}
