/* SPDX-License-Identifier: Apache-2.0 */
/* Implements an in-memory disk for SQLite, including its behaviour at a power cut. */
#include "lib/memvfs.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTOR_SIZE = 512, PATH_SIZE = 512, FAULT_KINDS = MEMDISK_DIE + 1 };

/* the Julian day of 1970-01-01, in milliseconds */
static const int64_t UNIX_EPOCH = 210866760000000;

struct bytes {
    unsigned char *data;
    size_t size, capacity;
};

/* A change to a file since its last sync. The written bytes are concatenated in `payload`. */
struct change {
    bool truncates; /* truncates to the size in `offset` */
    size_t offset, size;
};

/* The wal-index. Each handle maps it at its own address, because SQLite still writes there when it closes a connection
 * that was killed in a transaction; handle_die() replaces the mapping with a copy. */
struct shared_memory {
    int descriptor; /* valid while there are users */
    int users;
    size_t size;
};

struct handle;

struct memfile {
    struct memfile *next; /* newer files come before older ones */
    struct memdisk *disk;
    char *name;   /* NULL for a temporary file */
    bool linked;  /* the name refers to this file now */
    bool durable; /* the name refers to this file after a power cut, if nothing unsynced is kept */
    struct bytes now, synced;
    struct bytes payload;
    struct change *changes; /* applied to `synced` they give `now` */
    size_t change_count, change_capacity;
    struct handle *handles;
    struct shared_memory shared;
};

struct handle {
    sqlite3_file base; /* must be first */
    struct memfile *file;
    struct handle *next;
    const char *names
        [3]; /* of a main database: pointers to the names of the database, the journal and the wal */
    int owner;
    bool dead;
    int lock;
    bool joined; /* counted as a user of the shared memory */
    unsigned slots_shared, slots_exclusive;
    void **regions;
    int region_count;
    size_t region_size;
};

struct memdisk {
    sqlite3_vfs vfs;
    char name[40];
    struct memfile *files;
    struct memfile *copies; /* of the last backup; no handle refers to them */
    uint64_t random;
    int64_t clock;
    int owner;
    bool lies;
    uint64_t counts[FAULT_KINDS];
    uint64_t due[FAULT_KINDS]; /* the count at which the fault happens; 0: never */
};

/* memory */

static void *memory_resize(void *old, size_t size) {
    void *memory = realloc(old, size);
    if (!memory)
        abort();
    return memory;
}

static void bytes_resize(struct bytes *bytes, size_t size) {
    if (size > bytes->capacity) {
        bytes->capacity = size + size / 2 + 64;
        bytes->data = memory_resize(bytes->data, bytes->capacity);
    }
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void bytes_write(struct bytes *bytes, size_t offset, const void *data, size_t size) {
    if (!size)
        return;
    if (offset + size > bytes->size)
        bytes_resize(bytes, offset + size);
    memcpy(bytes->data + offset, data, size);
}

static void bytes_copy(struct bytes *to, const struct bytes *from) {
    bytes_resize(to, from->size);
    bytes_write(to, 0, from->data, from->size);
}

/* randomness and faults */

static uint64_t disk_random(struct memdisk *disk) {
    uint64_t z = disk->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool disk_coin(struct memdisk *disk) {
    return disk_random(disk) >> 63;
}

static bool disk_fault(struct memdisk *disk, enum memdisk_fault kind) {
    if (++disk->counts[kind] != disk->due[kind])
        return false;
    disk->due[kind] = 0;
    return true;
}

/* Counts an operation that changes the disk. Even after an error it may have taken effect. */
static int disk_admit(struct memdisk *disk, int owner, enum memdisk_fault kind, int error) {
    int result = disk_fault(disk, kind) ? error : SQLITE_OK;
    if (disk_fault(disk, MEMDISK_DIE)) {
        memdisk_kill(disk, owner);
        result = SQLITE_IOERR;
    }
    return result;
}

/* files: content */

static void file_log(struct memfile *file, struct change change, const void *data) {
    if (!file->name)
        return;
    if (file->change_count == file->change_capacity) {
        file->change_capacity = file->change_capacity * 2 + 16;
        file->changes = memory_resize(file->changes, file->change_capacity * sizeof change);
    }
    file->changes[file->change_count++] = change;
    bytes_write(&file->payload, file->payload.size, data, change.size);
}

static void file_write(struct memfile *file, size_t offset, const void *data, size_t size) {
    file_log(file, (struct change){.offset = offset, .size = size}, data);
    bytes_write(&file->now, offset, data, size);
}

static void file_truncate(struct memfile *file, size_t size) {
    file_log(file, (struct change){.truncates = true, .offset = size}, NULL);
    bytes_resize(&file->now, size);
}

/* The part of a write that falls into its first sector. */
static size_t sector_share(size_t offset, size_t size) {
    size_t room = SECTOR_SIZE - offset % SECTOR_SIZE;
    return size < room ? size : room;
}

static void file_write_torn(struct memfile *file, size_t offset, const unsigned char *data,
                            size_t size) {
    while (size) {
        size_t share = sector_share(offset, size);
        if (disk_coin(file->disk))
            file_write(file, offset, data, share);
        offset += share;
        data += share;
        size -= share;
    }
}

static void file_forget_changes(struct memfile *file) {
    file->change_count = 0;
    file->payload.size = 0;
}

static void file_sync_content(struct memfile *file) {
    const unsigned char *data = file->payload.data;
    for (size_t i = 0; i < file->change_count; i++) {
        struct change *change = &file->changes[i];
        if (change->truncates)
            bytes_resize(&file->synced, change->offset);
        else
            bytes_write(&file->synced, change->offset, data, change->size);
        data = change->size ? data + change->size : data;
    }
    file_forget_changes(file);
}

static void change_tear(struct change change, const unsigned char *data, struct memfile *file) {
    while (change.size) {
        size_t share = sector_share(change.offset, change.size);
        if (disk_coin(file->disk))
            bytes_write(&file->synced, change.offset, data, share);
        change.offset += share;
        change.size -= share;
        data += share;
    }
}

static void change_cut(struct change change, const unsigned char *data, struct memfile *file) {
    enum { LOST, KEPT, TORN, FATES };
    uint64_t fate = disk_random(file->disk) % FATES;
    if (fate == LOST)
        return;
    if (change.truncates)
        bytes_resize(&file->synced, change.offset);
    else if (fate == KEPT)
        bytes_write(&file->synced, change.offset, data, change.size);
    else
        change_tear(change, data, file);
}

static void file_cut(struct memfile *file) {
    if (file->change_count == 0)
        return;
    const unsigned char *data = file->payload.data;
    for (size_t i = 0; i < file->change_count; i++) {
        change_cut(file->changes[i], data, file);
        data = file->changes[i].size ? data + file->changes[i].size : data;
    }
    file_forget_changes(file);
    bytes_copy(&file->now, &file->synced);
}

/* files: names */

static struct memfile *file_find(struct memdisk *disk, const char *name) {
    for (struct memfile *file = disk->files; file; file = file->next)
        if (file->linked && strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

static struct memfile *file_create(struct memdisk *disk, const char *name) {
    struct memfile *file = memory_resize(NULL, sizeof *file);
    *file = (struct memfile){.disk = disk, .next = disk->files, .linked = name != NULL};
    if (name) {
        size_t size = strlen(name) + 1;
        file->name = memcpy(memory_resize(NULL, size), name, size);
    }
    disk->files = file;
    return file;
}

static void file_free(struct memfile *file) {
    assert(!file->handles && !file->shared.users);
    free(file->name);
    free(file->now.data);
    free(file->synced.data);
    free(file->payload.data);
    free(file->changes);
    free(file);
}

/* Frees files that neither a name nor a handle refers to. */
static void disk_sweep(struct memdisk *disk) {
    struct memfile **link = &disk->files;
    while (*link) {
        struct memfile *file = *link;
        if (file->linked || file->durable || file->handles) {
            link = &file->next;
            continue;
        }
        *link = file->next;
        file_free(file);
    }
}

static void directory_sync(struct memdisk *disk) {
    for (struct memfile *file = disk->files; file; file = file->next)
        file->durable = file->linked;
    disk_sweep(disk);
}

/* Like SQLite's own Unix VFS: the first sync of a new file also syncs its directory. */
static void file_sync(struct memfile *file) {
    if (file->disk->lies)
        return;
    file_sync_content(file);
    if (file->linked && !file->durable)
        directory_sync(file->disk);
}

/* Did a newer file with the same name survive the power cut? */
static bool file_replaced(const struct memfile *file) {
    for (struct memfile *newer = file->disk->files; newer != file; newer = newer->next)
        if (newer->linked && strcmp(newer->name, file->name) == 0)
            return true;
    return false;
}

static void directory_cut(struct memdisk *disk) {
    for (struct memfile *file = disk->files; file; file = file->next) {
        if (file->linked != file->durable)
            file->linked = disk_coin(disk);
        file->linked = file->linked && !file_replaced(file);
        file->durable = file->linked;
    }
}

/* handles: opening, closing and dying */

static struct handle *handle_of(sqlite3_file *base) {
    return (struct handle *)base;
}

static void handle_leave(struct handle *handle) {
    handle->slots_shared = handle->slots_exclusive = 0;
    if (!handle->joined)
        return;
    handle->joined = false;
    struct shared_memory *shared = &handle->file->shared;
    if (--shared->users == 0)
        close(shared->descriptor);
}

/* Replaces shared memory with a copy at the same address. */
static void region_detach(void *region, size_t size) {
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        abort();
    memcpy(copy, region, size);
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, region) != region)
        abort();
}

static void handle_die(struct handle *handle) {
    if (handle->dead)
        return;
    handle->dead = true;
    handle->lock = SQLITE_LOCK_NONE;
    for (int i = 0; i < handle->region_count; i++)
        if (handle->regions[i])
            region_detach(handle->regions[i], handle->region_size);
    handle_leave(handle);
}

static int handle_shm_unmap(sqlite3_file *base, int delete) {
    (void)delete; /* the memory never outlives its users */
    struct handle *handle = handle_of(base);
    for (int i = 0; i < handle->region_count; i++)
        if (handle->regions[i])
            munmap(handle->regions[i], handle->region_size);
    free(handle->regions);
    handle->regions = NULL;
    handle->region_count = 0;
    handle_leave(handle);
    return SQLITE_OK;
}

static int handle_close(sqlite3_file *base) {
    struct handle *handle = handle_of(base);
    handle_shm_unmap(base, 0);
    struct handle **link = &handle->file->handles;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    disk_sweep(handle->file->disk);
    return SQLITE_OK;
}

/* handles: content */

static int handle_read(sqlite3_file *base, void *data, int size, sqlite3_int64 offset) {
    struct handle *handle = handle_of(base);
    struct bytes *now = &handle->file->now;
    if (handle->dead)
        return SQLITE_IOERR;
    if (handle->file->name && disk_fault(handle->file->disk, MEMDISK_READ))
        return SQLITE_IOERR_READ;
    size_t from = (size_t)offset, wanted = (size_t)size;
    size_t there = from < now->size ? now->size - from : 0;
    size_t given = there < wanted ? there : wanted;
    if (given)
        memcpy(data, now->data + from, given);
    memset((unsigned char *)data + given, 0, wanted - given);
    return given == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int handle_admit_write(struct handle *handle) {
    struct memdisk *disk = handle->file->disk;
    if (!handle->file->name)
        return SQLITE_OK;
    bool full = disk_fault(disk, MEMDISK_FULL);
    int result = disk_admit(disk, handle->owner, MEMDISK_WRITE, SQLITE_IOERR_WRITE);
    return full && result == SQLITE_OK ? SQLITE_FULL : result;
}

static int handle_write(sqlite3_file *base, const void *data, int size, sqlite3_int64 offset) {
    struct handle *handle = handle_of(base);
    if (handle->dead)
        return SQLITE_IOERR;
    int result = handle_admit_write(handle);
    if (result == SQLITE_OK)
        file_write(handle->file, (size_t)offset, data, (size_t)size);
    else
        file_write_torn(handle->file, (size_t)offset, data, (size_t)size);
    return result;
}

static int handle_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct handle *handle = handle_of(base);
    struct memdisk *disk = handle->file->disk;
    if (handle->dead)
        return SQLITE_IOERR;
    int result = SQLITE_OK;
    if (handle->file->name)
        result = disk_admit(disk, handle->owner, MEMDISK_WRITE, SQLITE_IOERR_TRUNCATE);
    if (result == SQLITE_OK || disk_coin(disk))
        file_truncate(handle->file, (size_t)size);
    return result;
}

static int handle_sync(sqlite3_file *base, int flags) {
    (void)flags;
    struct handle *handle = handle_of(base);
    struct memdisk *disk = handle->file->disk;
    if (handle->dead)
        return SQLITE_IOERR;
    if (!handle->file->name)
        return SQLITE_OK;
    int result = disk_admit(disk, handle->owner, MEMDISK_SYNC, SQLITE_IOERR_FSYNC);
    /* a process that dies in a sync does not know whether it took effect */
    if (result == SQLITE_OK || (handle->dead && disk_coin(disk)))
        file_sync(handle->file);
    return result;
}

static int handle_size(sqlite3_file *base, sqlite3_int64 *size) {
    struct handle *handle = handle_of(base);
    *size = (sqlite3_int64)handle->file->now.size;
    return handle->dead ? SQLITE_IOERR : SQLITE_OK;
}

static int handle_control(sqlite3_file *base, int operation, void *argument) {
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int handle_sector_size(sqlite3_file *base) {
    (void)base;
    return SECTOR_SIZE;
}

static int handle_characteristics(sqlite3_file *base) {
    (void)base;
    return 0;
}

/* handles: file locks */

/* The strongest lock that another handle holds. */
static int handle_rival(const struct handle *handle) {
    int lock = SQLITE_LOCK_NONE;
    for (struct handle *other = handle->file->handles; other; other = other->next)
        if (other != handle && other->lock > lock)
            lock = other->lock;
    return lock;
}

static int handle_lock(sqlite3_file *base, int lock) {
    struct handle *handle = handle_of(base);
    if (handle->dead)
        return SQLITE_IOERR;
    if (handle->lock >= lock)
        return SQLITE_OK;
    int rival = handle_rival(handle);
    if (rival >= SQLITE_LOCK_PENDING)
        return SQLITE_BUSY;
    if (lock > SQLITE_LOCK_SHARED && rival >= SQLITE_LOCK_RESERVED)
        return SQLITE_BUSY;
    if (lock == SQLITE_LOCK_EXCLUSIVE && rival >= SQLITE_LOCK_SHARED) {
        handle->lock = SQLITE_LOCK_PENDING; /* keeps new readers out */
        return SQLITE_BUSY;
    }
    handle->lock = lock;
    return SQLITE_OK;
}

static int handle_unlock(sqlite3_file *base, int lock) {
    struct handle *handle = handle_of(base);
    if (handle->lock > lock)
        handle->lock = lock;
    return SQLITE_OK;
}

static int handle_check_reserved(sqlite3_file *base, int *reserved) {
    struct handle *handle = handle_of(base);
    int rival = handle_rival(handle);
    *reserved = (rival > handle->lock ? rival : handle->lock) >= SQLITE_LOCK_RESERVED;
    return handle->dead ? SQLITE_IOERR : SQLITE_OK;
}

/* handles: shared memory */

static void handle_join(struct handle *handle) {
    struct shared_memory *shared = &handle->file->shared;
    if (handle->joined)
        return;
    handle->joined = true;
    if (shared->users++ > 0)
        return;
    shared->size = 0;
    shared->descriptor = memfd_create("memdisk", MFD_CLOEXEC);
    if (shared->descriptor < 0)
        abort();
}

static void shared_extend(struct shared_memory *shared, size_t size) {
    if (shared->size >= size)
        return;
    if (ftruncate(shared->descriptor, (off_t)size) != 0)
        abort();
    shared->size = size;
}

static void handle_map(struct handle *handle, int region) {
    if (region >= handle->region_count) {
        size_t count = (size_t)region + 1, old = (size_t)handle->region_count;
        handle->regions = memory_resize(handle->regions, count * sizeof *handle->regions);
        memset(handle->regions + old, 0, (count - old) * sizeof *handle->regions);
        handle->region_count = region + 1;
    }
    if (handle->regions[region])
        return;
    off_t offset = (off_t)region * (off_t)handle->region_size;
    void *memory = mmap(NULL, handle->region_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                        handle->file->shared.descriptor, offset);
    if (memory == MAP_FAILED)
        abort();
    handle->regions[region] = memory;
}

static int handle_shm_map(sqlite3_file *base, int region, int size, int extend,
                          void volatile **map) {
    struct handle *handle = handle_of(base);
    *map = NULL;
    if (handle->dead)
        return SQLITE_IOERR;
    assert(size % sysconf(_SC_PAGESIZE) == 0);
    handle_join(handle);
    handle->region_size = (size_t)size;
    size_t end = ((size_t)region + 1) * handle->region_size;
    if (extend)
        shared_extend(&handle->file->shared, end);
    if (handle->file->shared.size < end)
        return SQLITE_OK;
    handle_map(handle, region);
    *map = handle->regions[region];
    return SQLITE_OK;
}

static bool handle_slots_taken(const struct handle *handle, unsigned slots, bool exclusive) {
    for (struct handle *other = handle->file->handles; other; other = other->next) {
        unsigned taken = other->slots_exclusive | (exclusive ? other->slots_shared : 0);
        if (other != handle && (taken & slots))
            return true;
    }
    return false;
}

static int handle_shm_lock(sqlite3_file *base, int first, int count, int flags) {
    struct handle *handle = handle_of(base);
    unsigned slots = ((1u << count) - 1) << first;
    bool exclusive = flags & SQLITE_SHM_EXCLUSIVE;
    if (flags & SQLITE_SHM_UNLOCK) {
        handle->slots_shared &= ~slots;
        handle->slots_exclusive &= ~slots;
        return SQLITE_OK;
    }
    if (handle->dead)
        return SQLITE_IOERR;
    if (handle_slots_taken(handle, slots, exclusive))
        return SQLITE_BUSY;
    *(exclusive ? &handle->slots_exclusive : &handle->slots_shared) |= slots;
    return SQLITE_OK;
}

static void handle_shm_barrier(sqlite3_file *base) {
    (void)base;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 2,
    .xClose = handle_close,
    .xRead = handle_read,
    .xWrite = handle_write,
    .xTruncate = handle_truncate,
    .xSync = handle_sync,
    .xFileSize = handle_size,
    .xLock = handle_lock,
    .xUnlock = handle_unlock,
    .xCheckReservedLock = handle_check_reserved,
    .xFileControl = handle_control,
    .xSectorSize = handle_sector_size,
    .xDeviceCharacteristics = handle_characteristics,
    .xShmMap = handle_shm_map,
    .xShmLock = handle_shm_lock,
    .xShmBarrier = handle_shm_barrier,
    .xShmUnmap = handle_shm_unmap,
};

/* the file system */

static bool handle_named(const struct handle *handle, const char *name) {
    const char *const *names = handle->names;
    return name && (names[0] == name || names[1] == name || names[2] == name);
}

/* Finds the connection that makes this call. SQLite passes the very pointers that belong to the connection's main
 * database, also when it opens the journal or the wal much later. */
static struct handle *disk_asker(struct memdisk *disk, const char *name) {
    for (struct memfile *file = disk->files; file; file = file->next)
        for (struct handle *handle = file->handles; handle; handle = handle->next)
            if (handle_named(handle, name))
                return handle;
    return NULL;
}

static int disk_owner_of(const struct memdisk *disk, const struct handle *asker) {
    return asker ? asker->owner : disk->owner;
}

static int file_obtain(struct memdisk *disk, const char *name, int flags, int owner,
                       struct memfile **file) {
    *file = name ? file_find(disk, name) : NULL;
    if (*file)
        return flags & SQLITE_OPEN_EXCLUSIVE ? SQLITE_CANTOPEN : SQLITE_OK;
    if (!(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    bool died = name && disk_fault(disk, MEMDISK_DIE);
    if (died)
        memdisk_kill(disk, owner);
    if (!died || disk_coin(disk))
        *file = file_create(disk, name);
    return died ? SQLITE_IOERR : SQLITE_OK;
}

static void handle_open(struct handle *handle, struct memfile *file, const char *name, int flags) {
    *handle = (struct handle){.base.pMethods = &METHODS, .file = file, .next = file->handles};
    file->handles = handle;
    if (flags & SQLITE_OPEN_MAIN_DB) {
        handle->names[0] = name;
        handle->names[1] = sqlite3_filename_journal(name);
        handle->names[2] = sqlite3_filename_wal(name);
    }
}

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *granted) {
    struct memdisk *disk = vfs->pAppData;
    struct handle *asker = disk_asker(disk, name);
    int owner = disk_owner_of(disk, asker);
    struct memfile *file;
    base->pMethods = NULL;
    if (asker && asker->dead)
        return SQLITE_IOERR;
    if (flags & SQLITE_OPEN_DELETEONCLOSE)
        name = NULL;
    int result = file_obtain(disk, name, flags, owner, &file);
    if (result != SQLITE_OK)
        return result;
    handle_open(handle_of(base), file, name, flags);
    handle_of(base)->owner = owner;
    if (granted)
        *granted = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync_directory) {
    struct memdisk *disk = vfs->pAppData;
    struct handle *asker = disk_asker(disk, name);
    struct memfile *file = file_find(disk, name);
    if (asker && asker->dead)
        return SQLITE_IOERR;
    if (!file)
        return SQLITE_IOERR_DELETE_NOENT;
    int owner = disk_owner_of(disk, asker);
    int result = disk_admit(disk, owner, MEMDISK_WRITE, SQLITE_IOERR_DELETE);
    if (result == SQLITE_OK || disk_coin(disk))
        file->linked = false;
    if (result == SQLITE_OK && sync_directory && !disk->lies)
        directory_sync(disk);
    disk_sweep(disk);
    return result;
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
    struct memdisk *disk = vfs->pAppData;
    struct handle *asker = disk_asker(disk, name);
    struct memfile *file = file_find(disk, name);
    /* SQLite's own Unix VFS also treats an empty file as missing */
    *answer = file && (flags != SQLITE_ACCESS_EXISTS || file->now.size > 0);
    return asker && asker->dead ? SQLITE_IOERR : SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *name, int size, char *path) {
    (void)vfs;
    int length = snprintf(path, (size_t)size, "%s", name);
    return length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int disk_randomness(sqlite3_vfs *vfs, int size, char *bytes) {
    for (int i = 0; i < size; i++)
        bytes[i] = (char)(disk_random(vfs->pAppData) >> 56);
    return size;
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int disk_time_exact(sqlite3_vfs *vfs, sqlite3_int64 *julian_milliseconds) {
    const struct memdisk *disk = vfs->pAppData;
    *julian_milliseconds = UNIX_EPOCH + disk->clock;
    return SQLITE_OK;
}

static int disk_time(sqlite3_vfs *vfs, double *julian_day) {
    const struct memdisk *disk = vfs->pAppData;
    *julian_day = (double)(UNIX_EPOCH + disk->clock) / 86400000.0;
    return SQLITE_OK;
}

static int disk_last_error(sqlite3_vfs *vfs, int size, char *text) {
    (void)vfs, (void)size, (void)text;
    return 0;
}

static const sqlite3_vfs FILE_SYSTEM = {
    .iVersion = 2,
    .szOsFile = sizeof(struct handle),
    .mxPathname = PATH_SIZE,
    .xOpen = disk_open,
    .xDelete = disk_delete,
    .xAccess = disk_access,
    .xFullPathname = disk_full_path,
    .xRandomness = disk_randomness,
    .xSleep = disk_sleep,
    .xCurrentTime = disk_time,
    .xGetLastError = disk_last_error,
    .xCurrentTimeInt64 = disk_time_exact,
};

/* the interface for tests */

struct memdisk *memdisk_create(uint64_t seed) {
    struct memdisk *disk = memory_resize(NULL, sizeof *disk);
    *disk = (struct memdisk){.vfs = FILE_SYSTEM, .random = seed};
    snprintf(disk->name, sizeof disk->name, "memdisk-%p", (void *)disk);
    disk->vfs.zName = disk->name;
    disk->vfs.pAppData = disk;
    if (sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK)
        abort();
    return disk;
}

const char *memdisk_vfs(const struct memdisk *disk) {
    return disk->name;
}

static void files_free(struct memfile **files) {
    while (*files) {
        struct memfile *file = *files;
        *files = file->next;
        file_free(file);
    }
}

void memdisk_free(struct memdisk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    files_free(&disk->files);
    files_free(&disk->copies);
    free(disk);
}

static struct memfile *files_copy(struct memdisk *disk, const struct memfile *from) {
    struct memfile *kept = disk->files;
    disk->files = NULL;
    for (; from; from = from->next) {
        if (!from->name || !from->linked)
            continue;
        struct memfile *file = file_create(disk, from->name);
        bytes_copy(&file->now, &from->now);
        bytes_copy(&file->synced, &from->now);
        file->durable = true;
    }
    struct memfile *copies = disk->files;
    disk->files = kept;
    return copies;
}

void memdisk_back_up(struct memdisk *disk) {
    files_free(&disk->copies);
    disk->copies = files_copy(disk, disk->files);
}

void memdisk_restore(struct memdisk *disk) {
    files_free(&disk->files);
    disk->files = files_copy(disk, disk->copies);
}

void memdisk_clock(struct memdisk *disk, int64_t unix_milliseconds) {
    disk->clock = unix_milliseconds;
}

void memdisk_power_cut(struct memdisk *disk) {
    for (struct memfile *file = disk->files; file; file = file->next)
        for (struct handle *handle = file->handles; handle; handle = handle->next)
            handle_die(handle);
    directory_cut(disk);
    disk_sweep(disk);
    for (struct memfile *file = disk->files; file; file = file->next)
        file_cut(file);
}

void memdisk_owner(struct memdisk *disk, int owner) {
    disk->owner = owner;
}

void memdisk_kill(struct memdisk *disk, int owner) {
    for (struct memfile *file = disk->files; file; file = file->next)
        for (struct handle *handle = file->handles; handle; handle = handle->next)
            if (handle->owner == owner && file->name)
                handle_die(handle);
}

void memdisk_fail(struct memdisk *disk, enum memdisk_fault kind, uint64_t nth) {
    if (kind == MEMDISK_NONE)
        memset(disk->due, 0, sizeof disk->due);
    else
        disk->due[kind] = nth ? disk->counts[kind] + nth : 0;
}

bool memdisk_armed(const struct memdisk *disk, enum memdisk_fault kind) {
    return disk->due[kind] != 0;
}

uint64_t memdisk_count(const struct memdisk *disk, enum memdisk_fault kind) {
    return disk->counts[kind];
}

void memdisk_lies(struct memdisk *disk, bool lies) {
    disk->lies = lies;
}
