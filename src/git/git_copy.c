/* SPDX-License-Identifier: Apache-2.0 */
/* Copies one file of an agent's worktree into a private folder of ours. Bytes of a worktree reach git in no other way. */
#include "git/git_walk.h"

#include "base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

/* If the kernel lacks openat2 or a filter blocks it, walks the path name by name, also without following links. */
int git_open_beneath(int folder, struct str path, int flags) {
    char text[GIT_PATH_MOST + 1];
    if (path.len == 0 || path.len > GIT_PATH_MOST || memchr(path.at, 0, path.len)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(text, path.at, path.len);
    text[path.len] = 0;
    (void)seam("git-open");
    if (seam("git-follow")) /* defence disabled: a test shows that this would be noticed */
        return openat(folder, text, (flags & ~(O_NOFOLLOW | O_PATH)) | O_CLOEXEC);
    int added = flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct open_how how = {.flags = (unsigned)(flags | added),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    int fd = (int)syscall(SYS_openat2, folder, text, &how, sizeof how);
    if (fd < 0 && errno == ENOSYS)
        fd = git_open_below(folder, path, flags | added, false);
    return fd;
}

/* ---- the private folder ---- */

bool git_copy_folder(struct git_walk *walk, struct str path) {
    char *text = arena_cstr(walk->call->arena, path);
    if (mkdirat(walk->copy, text, 0700) == 0 || errno == EEXIST)
        return true;
    for (char *at = strchr(text, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdirat(walk->copy, text, 0700) < 0 && errno != EEXIST)
            return git_fail_errno(walk->call, "mkdir", path);
        *at = '/';
    }
    if (mkdirat(walk->copy, text, 0700) < 0 && errno != EEXIST)
        return git_fail_errno(walk->call, "mkdir", path);
    return true;
}

static bool parent_make(struct git_walk *walk, struct str path) {
    const char *slash = memrchr(path.at, '/', path.len);
    return !slash || git_copy_folder(walk, (struct str){path.at, (size_t)(slash - path.at)});
}

/* ---- files ---- */

static enum git_copied fault(struct git_walk *walk, const char *what, struct str path) {
    git_fail_errno(walk->call, what, path);
    return GIT_COPY_FAILED;
}

/* Copies at most GIT_FILE_BYTES: a file that grows beyond that while it is read is left out. */
static enum git_copied bytes_copy(struct git_walk *walk, int from, int to, struct str path) {
    static _Thread_local char chunk[CHUNK];
    uint64_t left = GIT_FILE_BYTES;
    for (;;) {
        ssize_t length = read(from, chunk, sizeof chunk);
        if (length < 0 && errno == EINTR)
            continue;
        if (length == 0)
            return GIT_COPIED;
        if (length < 0 || (uint64_t)length > left)
            return GIT_COPY_ODD;
        left -= (uint64_t)length;
        for (ssize_t done = 0, put; done < length; done += put)
            if ((put = write(to, chunk + done, (size_t)(length - done))) < 0)
                return fault(walk, "cannot copy", path);
    }
}

static enum git_copied file_copy(struct git_walk *walk, struct str path, int from,
                                 const struct git_stat *seen) {
    char *text = arena_cstr(walk->call->arena, path);
    if (!parent_make(walk, path))
        return GIT_COPY_FAILED;
    (void)unlinkat(walk->copy, text, 0);
    int to = openat(walk->copy, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    seen->mode == GIT_MODE_PROGRAM ? 0700 : 0600);
    if (to < 0)
        return fault(walk, "cannot copy to", path);
    enum git_copied copied = bytes_copy(walk, from, to, path);
    if (close(to) < 0 && copied == GIT_COPIED)
        copied = fault(walk, "cannot copy", path);
    if (copied != GIT_COPIED)
        (void)unlinkat(walk->copy, text, 0);
    return copied;
}

static enum git_copied link_copy(struct git_walk *walk, struct str path, int from) {
    char target[PATH_MAX], *text = arena_cstr(walk->call->arena, path);
    ssize_t length = readlinkat(from, "", target, sizeof target);
    if (length <= 0 || length == (ssize_t)sizeof target)
        return GIT_COPY_ODD;
    target[length] = 0;
    if (!parent_make(walk, path))
        return GIT_COPY_FAILED;
    (void)unlinkat(walk->copy, text, 0);
    return symlinkat(target, walk->copy, text) == 0 ? GIT_COPIED
                                                    : fault(walk, "cannot copy to", path);
}

static enum git_copied opened_copy(struct git_walk *walk, struct str path, int fd, bool link,
                                   struct git_stat *ret) {
    struct stat about;
    if (fstat(fd, &about) < 0 || (uint64_t)about.st_dev != walk->device)
        return GIT_COPY_ODD;
    *ret = git_stat_of(&about);
    if (!ret->mode || !ret->fits || link != (ret->mode == GIT_MODE_LINK))
        return GIT_COPY_ODD;
    return link ? link_copy(walk, path, fd) : file_copy(walk, path, fd, ret);
}

/* ret: in: as the walk saw it; out: as seen on its descriptor. */
enum git_copied git_copy(struct git_walk *walk, struct str path, struct git_stat *ret) {
    bool link = ret->mode == GIT_MODE_LINK;
    int fd = git_open_beneath(walk->root, path, link ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT                                         ? GIT_COPY_GONE
               : errno == EMFILE || errno == ENFILE || errno == ENOMEM ? fault(walk, "open", path)
                                                                       : GIT_COPY_ODD;
    enum git_copied copied = opened_copy(walk, path, fd, link, ret);
    close(fd);
    return copied;
}
