/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rows in the pages of a file without using its trees. Format: sqlite.org/fileformat2.html.
 *
 * The trees of a damaged file may have lost their roots and branches. Their leaves still hold rows, and the shape of a
 * row tells which table it belongs to. Nothing here is trusted: the code that uses the rows verifies them. Every length
 * is checked against the page, and every chain is bounded. */
#include "base/memory.h"
#include "store/sqlite/sqlite_mend_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_COLUMNS = 16,
    MOST_TABLES = 32,
    MOST_PAYLOAD = LIMIT_SIGNAL_BODY + 4096,
    INDEX_BRANCH = 2, /* types of pages that hold rows */
    INDEX_LEAF = 10,
    TABLE_LEAF = 13,
};

struct kind { /* a kind of row: one of our tables */
    char name[32];
    int count;
    char types[MOST_COLUMNS]; /* I, B, T */
    bool may_be_null[MOST_COLUMNS];
    const struct stored_column *stored[MOST_COLUMNS];
    int numbered; /* the column that is the row number; -1: none */
    sqlite3_stmt *put;
};

struct value {
    char type; /* I, B, T, N */
    int64_t number;
    struct str bytes;
};

struct walk {
    const uint8_t *file;
    size_t size, page, usable;
    uint8_t *payload;
    struct kind kinds[MOST_TABLES];
    int kind_count;
};

/* ---- the kinds of rows ---- */

static void kind_columns(sqlite3 *db, struct kind *kind) {
    sqlite3_stmt *rows = NULL;
    enum store_table table;
    bool known = table_named(kind->name, &table);
    int keys = 0;
    sqlite3_prepare_v2(db, "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)", -1,
                       &rows, NULL);
    sqlite3_bind_text(rows, 1, kind->name, -1, SQLITE_STATIC);
    while (sqlite3_step(rows) == SQLITE_ROW && kind->count < MOST_COLUMNS) {
        int i = kind->count++;
        kind->stored[i] =
            known ? table_column(table, (const char *)sqlite3_column_text(rows, 0)) : NULL;
        kind->types[i] = ((const char *)sqlite3_column_text(rows, 1))[0];
        kind->may_be_null[i] = sqlite3_column_int(rows, 2) == 0 && sqlite3_column_int(rows, 3) == 0;
        if (sqlite3_column_int(rows, 3) > 0) {
            keys++;
            kind->numbered = i;
        }
    }
    sqlite3_finalize(rows);
    if (keys != 1 || kind->types[kind->numbered] != 'I')
        kind->numbered = -1;
}

static bool kinds_read(struct walk *walk, sqlite3 *db) {
    sqlite3_stmt *tables = NULL;
    char sql[256];
    sqlite3_prepare_v2(db, SQLITE_TABLE_NAMES, -1, &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW && walk->kind_count < MOST_TABLES) {
        struct kind *kind = &walk->kinds[walk->kind_count];
        *kind = (struct kind){.numbered = -1};
        snprintf(kind->name, sizeof kind->name, "%s", sqlite3_column_text(tables, 0));
        kind_columns(db, kind);
        int length = snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO \"%s\" VALUES (", kind->name);
        for (int i = 0; i < kind->count; i++)
            length += snprintf(sql + length, sizeof sql - (size_t)length, "%s?", i ? ", " : "");
        snprintf(sql + length, sizeof sql - (size_t)length, ")");
        if (sqlite3_prepare_v2(db, sql, -1, &kind->put, NULL) == SQLITE_OK)
            walk->kind_count++;
    }
    sqlite3_finalize(tables);
    return walk->kind_count > 0;
}

/* All kinds of parts look alike: the check of the body tells which kind it is. */
static bool part_is(const struct kind *kind, const struct value *values) {
    for (uint32_t part = 0; part < PARTS; part++) {
        struct str body = values[3].bytes;
        struct id goal;
        if (strcmp(kind->name, PART[part].table) != 0)
            continue;
        memcpy(&goal, values[0].bytes.at, sizeof goal);
        return row_unseal(ROW_PART + part, goal, (uint32_t)values[1].number, &body);
    }
    return true;
}

static bool kind_fits(const struct kind *kind, const struct value *values, int count,
                      bool numbered) {
    if (kind->count != count || (kind->numbered >= 0) != numbered)
        return false;
    for (int i = 0; i < count; i++) {
        if (values[i].type == 'N' && kind->may_be_null[i])
            continue;
        if (values[i].type != kind->types[i])
            return false;
        if (values[i].type == 'B' && sqlite_length_wrong(kind->stored[i], (int)values[i].bytes.len))
            return false;
    }
    return part_is(kind, values);
}

static void row_put(struct kind *kind, const struct value *values) {
    for (int i = 0; i < kind->count; i++) {
        const struct value *value = &values[i];
        int length = (int)value->bytes.len;
        switch (value->type) {
        case 'I': sqlite3_bind_int64(kind->put, i + 1, value->number); break;
        case 'T':
            sqlite3_bind_text(kind->put, i + 1, value->bytes.at, length, SQLITE_STATIC);
            break;
        case 'B':
            sqlite3_bind_blob(kind->put, i + 1, value->bytes.at, length, SQLITE_STATIC);
            break;
        default: sqlite3_bind_null(kind->put, i + 1);
        }
    }
    sqlite3_step(kind->put);
    sqlite3_reset(kind->put);
}

/* ---- a row ---- */

/* SQLite's varint: up to nine bytes, most significant group first. Returns the bytes used; 0: past the end. */
static size_t varint(const uint8_t *at, size_t room, uint64_t *ret) {
    uint64_t value = 0;
    for (size_t i = 0; i < 9 && i < room; i++) {
        if (i == 8) {
            *ret = value << 8 | at[i];
            return 9;
        }
        value = value << 7 | (at[i] & 127);
        if (at[i] < 128) {
            *ret = value;
            return i + 1;
        }
    }
    return 0;
}

static int64_t number_at(const uint8_t *at, size_t length) {
    uint64_t value = length > 0 && at[0] & 128 ? UINT64_MAX : 0;
    for (size_t i = 0; i < length; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

/* Reads the value of one serial type. False: it extends past the row, or is of a type that we do not store. */
static bool value_read(uint64_t serial, const uint8_t **at, const uint8_t *end, struct value *ret) {
    static const uint8_t WIDTH[] = {0, 1, 2, 3, 4, 6, 8};
    size_t room = (size_t)(end - *at), length = 0;
    if (serial < count_of(WIDTH))
        length = WIDTH[serial];
    else if (serial >= 12)
        length = (size_t)((serial - 12) / 2);
    if (serial == 7 || serial == 10 || serial == 11 || length > room)
        return false;
    *ret = (struct value){.type = 'I', .bytes = {(const char *)*at, length}};
    if (serial == 0)
        ret->type = 'N';
    else if (serial >= 12)
        ret->type = serial % 2 ? 'T' : 'B';
    else
        ret->number = serial < 8 ? number_at(*at, length) : (int64_t)serial - 8;
    *at += length;
    return true;
}

static int row_read(const uint8_t *row, size_t size, struct value values[MOST_COLUMNS]) {
    uint64_t head, serial;
    size_t place = varint(row, size, &head);
    if (place == 0 || head > size || head < place)
        return 0;
    const uint8_t *at = row + head;
    int count = 0;
    while (place < head) {
        size_t used = varint(row + place, (size_t)head - place, &serial);
        if (used == 0 || count == MOST_COLUMNS ||
            !value_read(serial, &at, row + size, &values[count++]))
            return 0;
        place += used;
    }
    return count;
}

static void row_meet(struct walk *walk, const uint8_t *row, size_t size, const uint64_t *number) {
    struct value values[MOST_COLUMNS];
    int count = row_read(row, size, values);
    for (int i = 0; count > 0 && i < walk->kind_count; i++) {
        struct kind *kind = &walk->kinds[i];
        if (number && kind->numbered >= 0 && kind->numbered < count)
            values[kind->numbered] = (struct value){.type = 'I', .number = (int64_t)*number};
        if (kind_fits(kind, values, count, number != NULL))
            row_put(kind, values);
    }
}

/* ---- a page ---- */

static uint32_t big(const uint8_t *at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* A payload that does not fit on the page continues in a chain of other pages. */
static bool payload_gather(struct walk *walk, const uint8_t *at, size_t local, size_t total) {
    size_t done = local;
    uint64_t next = big(at + local, 4);
    memcpy(walk->payload, at, local);
    while (done < total) {
        size_t piece = total - done < walk->usable - 4 ? total - done : walk->usable - 4;
        if (next < 2 || next * walk->page > walk->size)
            return false;
        const uint8_t *page = walk->file + (next - 1) * walk->page;
        memcpy(walk->payload + done, page + 4, piece);
        done += piece;
        next = big(page, 4);
    }
    return true;
}

static void cell_meet(struct walk *walk, const uint8_t *page, size_t at, int type) {
    uint64_t total = 0, number = 0;
    size_t used = type == INDEX_BRANCH ? 4 : 0, got;
    if (at + used >= walk->usable)
        return;
    at += used;
    used = varint(page + at, walk->usable - at, &total);
    got = type == TABLE_LEAF && used ? varint(page + at + used, walk->usable - at - used, &number)
                                     : 1;
    if (used == 0 || got == 0 || total > MOST_PAYLOAD)
        return;
    at += used + (type == TABLE_LEAF ? got : 0);
    size_t least = (walk->usable - 12) * 32 / 255 - 23;
    size_t most = type == TABLE_LEAF ? walk->usable - 35 : (walk->usable - 12) * 64 / 255 - 23;
    size_t size = (size_t)total, local = size;
    if (size > most) {
        local = least + (size - least) % (walk->usable - 4);
        local = local <= most ? local : least;
    }
    if (at + local + (local < size ? 4 : 0) > walk->usable)
        return;
    if (local == size)
        row_meet(walk, page + at, size, type == TABLE_LEAF ? &number : NULL);
    else if (payload_gather(walk, page + at, local, size))
        row_meet(walk, walk->payload, size, type == TABLE_LEAF ? &number : NULL);
}

static void page_meet(struct walk *walk, size_t place) {
    const uint8_t *page = walk->file + place;
    size_t head = place == 0 ? 100 : 0;
    int type = page[head];
    if (type != INDEX_BRANCH && type != INDEX_LEAF && type != TABLE_LEAF)
        return;
    size_t pointers = head + (type == INDEX_BRANCH ? 12 : 8), cells = big(page + head + 3, 2);
    for (size_t i = 0; i < cells && pointers + 2 * i + 2 <= walk->usable; i++)
        cell_meet(walk, page, big(page + pointers + 2 * i, 2), type);
}

/* ---- the file ---- */

static void walk_run(struct walk *walk, sqlite3 *into) {
    uint32_t page = big(walk->file + 16, 2);
    walk->page = page == 1 ? 65536 : page;
    if (walk->page < 512 || (walk->page & (walk->page - 1)) || walk->file[20] > 64)
        walk->page = 4096;
    walk->usable = walk->page - (walk->file[20] > 64 ? 0 : walk->file[20]);
    walk->payload = memory_grow(NULL, MOST_PAYLOAD);
    if (kinds_read(walk, into))
        for (size_t place = 0; place + walk->page <= walk->size; place += walk->page)
            page_meet(walk, place);
    for (int i = 0; i < walk->kind_count; i++)
        sqlite3_finalize(walk->kinds[i].put);
    free(walk->payload);
}

bool mend_walk_pages(const char *path, sqlite3 *into) {
    struct walk walk = {0};
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool opened = fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= 512;
    if (opened) {
        walk.size = (size_t)info.st_size;
        void *file = mmap(NULL, walk.size, PROT_READ, MAP_PRIVATE, fd, 0);
        opened = file != MAP_FAILED;
        if (opened) {
            walk.file = file;
            walk_run(&walk, into);
            munmap(file, walk.size);
        }
    }
    if (fd >= 0)
        close(fd);
    return opened;
}
