/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which files have not changed since the last measurement of a worktree. A file of ours records what each was
 * and what git made of it. If that file is lost, damaged or of another version, every file is read again. */
#include "git/git_walk.h"

#include "base/bytes.h"

#include <stdlib.h>

enum { VERSION = 1, HASH_BYTES = 32 };
static const struct str MAGIC = STR("overseer worktree\n");

static int found_order(const void *a, const void *b) {
    const struct git_found *one = a, *other = b;
    size_t shorter = one->path.len < other->path.len ? one->path.len : other->path.len;
    int order = memcmp(one->path.at, other->path.at, shorter);
    return order ? order : (one->path.len > other->path.len) - (one->path.len < other->path.len);
}

const struct git_found *git_seen_find(const struct git_seen *seen, struct str path) {
    struct git_found wanted = {.path = path};
    return seen->files.count
               ? bsearch(&wanted, seen->files.at, seen->files.count, sizeof wanted, found_order)
               : NULL;
}

/* A file that was changed after it was examined has a ctime that is not older than the measurement. */
bool git_seen_same(const struct git_seen *seen, const struct git_found *before,
                   const struct git_stat *now) {
    const struct git_stat *was = &before->stat;
    return was->device == now->device && was->inode == now->inode && was->size == now->size &&
           was->mode == now->mode && was->changed_ns == now->changed_ns &&
           was->modified_ns == now->modified_ns && now->changed_ns < seen->begun_ns;
}

/* ---- encoding ---- */

static void found_write(struct writer *writer, const struct git_found *found) {
    write_run(writer, found->path);
    write_run(writer, found->hash);
    write_run(writer, str_equal(found->was, found->hash) ? STR("=") : found->was);
    write_varint(writer, found->stat.device);
    write_varint(writer, found->stat.inode);
    write_varint(writer, found->stat.size);
    write_varint(writer, zigzag(found->stat.changed_ns));
    write_varint(writer, zigzag(found->stat.modified_ns));
    write_varint(writer, found->stat.mode);
}

static void found_read(struct reader *reader, struct git_found *ret) {
    ret->path = read_run(reader);
    ret->hash = read_run(reader);
    ret->was = read_run(reader);
    if (str_equal(ret->was, STR("=")))
        ret->was = ret->hash;
    ret->stat.device = read_varint(reader);
    ret->stat.inode = read_varint(reader);
    ret->stat.size = read_varint(reader);
    ret->stat.changed_ns = unzigzag(read_varint(reader));
    ret->stat.modified_ns = unzigzag(read_varint(reader));
    ret->stat.mode = (uint32_t)read_varint(reader);
    ret->stat.fits = true;
}

static bool body_read(struct git_call *call, struct reader *reader, struct git_seen *ret) {
    if (read_varint(reader) != VERSION)
        return false;
    ret->begun_ns = unzigzag(read_varint(reader));
    struct str attributes = read_run(reader), history = read_run(reader);
    uint64_t count = read_varint(reader);
    if (reader->failed || attributes.len != HASH_BYTES || history.len != HASH_BYTES ||
        count > reader->rest.len)
        return false;
    memcpy(ret->attributes.bytes, attributes.at, HASH_BYTES);
    memcpy(ret->history.bytes, history.at, HASH_BYTES);
    ret->files.at = arena_new(call->arena, struct git_found, count + 1);
    for (ret->files.count = 0; ret->files.count < count && !reader->failed; ret->files.count++)
        found_read(reader, &ret->files.at[ret->files.count]);
    return !reader->failed;
}

/* If nothing can be read, the result is as if nothing had been measured. */
void git_seen_read(struct git_call *call, struct str path, struct git_seen *ret) {
    struct str text;
    *ret = (struct git_seen){0};
    if (!git_file_read(call, path, GIT_SEEN_BYTES, &text) || text.len < MAGIC.len + HASH_BYTES ||
        !str_begins(text, MAGIC))
        return;
    struct str body = {text.at + MAGIC.len, text.len - MAGIC.len - HASH_BYTES};
    struct hash sum = sha256(body);
    struct git_seen read = {0};
    struct reader reader = {.rest = body};
    if (memcmp(sum.bytes, body.at + body.len, HASH_BYTES) == 0 && body_read(call, &reader, &read))
        *ret = read;
}

bool git_seen_write(struct git_call *call, struct str path, struct git_seen *seen) {
    struct writer writer = {.arena = call->arena};
    qsort(seen->files.at, seen->files.count, sizeof *seen->files.at, found_order);
    write_raw(&writer, MAGIC);
    write_varint(&writer, VERSION);
    write_varint(&writer, zigzag(seen->begun_ns));
    write_run(&writer, (struct str){(const char *)seen->attributes.bytes, HASH_BYTES});
    write_run(&writer, (struct str){(const char *)seen->history.bytes, HASH_BYTES});
    write_varint(&writer, seen->files.count);
    for (uint32_t i = 0; i < seen->files.count; i++)
        found_write(&writer, &seen->files.at[i]);
    struct hash sum = sha256((struct str){writer.at + MAGIC.len, writer.len - MAGIC.len});
    write_raw(&writer, (struct str){(const char *)sum.bytes, HASH_BYTES});
    return git_file_write(call, path, (struct str){writer.at, writer.len});
}
