/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/status_files.h"

#include "sys/clock.h"
#include "sys/file_replace.h"
#include "sys/service_manager.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t BEAT_EVERY = SECONDS(5);
static const int64_t HANGS_AFTER =
    SECONDS(30); /* without a turn: the watchdog is no longer notified */

/* ---- registration ---- */

/* A path may contain any character but NUL. */
static size_t path_put(char *to, size_t size, const char *path) {
    size_t n = 0;
    for (; *path && n + 7 < size; path++)
        if (*path == '"' || *path == '\\' || (unsigned char)*path < 0x20)
            n += (size_t)snprintf(to + n, size - n, "\\u%04x", (unsigned char)*path);
        else
            to[n++] = *path;
    to[n] = 0;
    return n;
}

/* The start time of this process, in ticks since boot. The field follows the process name, which may contain any
 * character. */
static uint64_t ticks_began(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

bool registration_write(struct registration *registration) {
    char text[2 * PATH_MAX + 512], log_file[PATH_MAX], socket[PATH_MAX], boot[BOOT_ID + 1];
    struct id instance;
    random_bytes(instance.bytes, sizeof instance.bytes);
    id_format_uuid(instance, registration->instance);
    boot_id(boot);
    path_put(log_file, sizeof log_file, registration->log_file);
    path_put(socket, sizeof socket, registration->socket);
    int length =
        snprintf(text, sizeof text,
                 "{\"pid\": %ld, \"start_time_unix\": %lld, \"instance_id\": \"%s\","
                 " \"log_file\": \"%s\", \"socket\": \"%s\", \"boot_id\": \"%s\","
                 " \"start_ticks\": %llu, \"version\": \"%s\"}\n",
                 (long)getpid(), (long long)(clock_wall() / SECONDS(1)), registration->instance,
                 log_file, socket, boot, (unsigned long long)ticks_began(), OVERSEER_VERSION);
    return file_replace(registration->folder, "daemon.json", text, (size_t)length, true);
}

void registration_remove(const struct registration *registration) {
    char path[PATH_MAX];
    static const char *const NAMES[] = {"daemon.json", "auto.heartbeat"};
    for (size_t i = 0; i < count_of(NAMES); i++)
        if (snprintf(path, sizeof path, "%s/%s", registration->folder, NAMES[i]) < (int)sizeof path)
            unlink(path);
}

/* ---- heartbeat ---- */

struct round { /* progress of one loop */
    uint64_t count;
    int64_t moved_at; /* boot clock: when the count was first seen */
};

static void round_look(struct round *round, uint64_t count) {
    if (round->moved_at == 0 || count != round->count)
        *round = (struct round){count, clock_boot()};
}

static void beat_write(const struct heartbeat *heartbeat, const struct round *turns,
                       const struct round *pulse) {
    char text[512];
    int64_t now = clock_boot(), wall = clock_wall();
    int length = snprintf(
        text, sizeof text,
        "{\"timestamp_unix\": %lld, \"instance_id\": \"%s\", \"cycle\": %llu, \"cycle_at_unix\": %lld,"
        " \"io_cycle\": %llu, \"io_cycle_at_unix\": %lld, \"safe_mode\": %s}\n",
        (long long)(wall / SECONDS(1)), heartbeat->registration->instance,
        (unsigned long long)turns->count,
        (long long)((wall - (now - turns->moved_at)) / SECONDS(1)),
        (unsigned long long)pulse->count,
        (long long)((wall - (now - pulse->moved_at)) / SECONDS(1)),
        safe_is_on(&heartbeat->ledger_thread->safe) ? "true" : "false");
    file_replace(heartbeat->registration->folder, "auto.heartbeat", text, (size_t)length, false);
}

static bool goes_round(const struct heartbeat *heartbeat, const struct round *turns,
                       const struct round *pulse) {
    int64_t now = clock_boot();
    bool turning =
        now - turns->moved_at < HANGS_AFTER || safe_is_on(&heartbeat->ledger_thread->safe);
    return turning && now - pulse->moved_at < HANGS_AFTER;
}

/* False: it is time to end. */
static bool heartbeat_waits(struct heartbeat *heartbeat, int64_t until) {
    pthread_mutex_lock(&heartbeat->lock);
    for (int64_t left; !heartbeat->stopping && (left = until - clock_boot()) > 0;) {
        struct timespec end = clock_slice(left);
        pthread_cond_timedwait(&heartbeat->changed, &heartbeat->lock, &end);
    }
    bool stopping = heartbeat->stopping;
    pthread_mutex_unlock(&heartbeat->lock);
    return !stopping;
}

static void *heartbeat_run(void *with) {
    struct heartbeat *heartbeat = with;
    struct round turns = {0}, pulse = {0};
    int64_t watchdog = notify_watchdog_every() / 2;
    int64_t every = watchdog > 0 && watchdog < BEAT_EVERY ? watchdog : BEAT_EVERY, written_at = 0;
    do {
        round_look(&turns, atomic_load(&heartbeat->ledger_thread->cycles));
        round_look(&pulse, atomic_load(heartbeat->pulse));
        if (clock_boot() - written_at >= BEAT_EVERY - MILLISECONDS(100)) {
            written_at = clock_boot();
            beat_write(heartbeat, &turns, &pulse);
        }
        if (goes_round(heartbeat, &turns, &pulse))
            notify_alive();
    } while (heartbeat_waits(heartbeat, clock_boot() + every));
    return NULL;
}

bool heartbeat_start(struct heartbeat *heartbeat) {
    pthread_mutex_init(&heartbeat->lock, NULL);
    clock_condition(&heartbeat->changed);
    heartbeat->started = pthread_create(&heartbeat->thread, NULL, heartbeat_run, heartbeat) == 0;
    return heartbeat->started;
}

void heartbeat_stop(struct heartbeat *heartbeat) {
    if (!heartbeat->started)
        return;
    pthread_mutex_lock(&heartbeat->lock);
    heartbeat->stopping = true;
    pthread_cond_signal(&heartbeat->changed);
    pthread_mutex_unlock(&heartbeat->lock);
    pthread_join(heartbeat->thread, NULL);
}
