/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, moves and removes folders so that a crash in between does no harm and no link leads outside. */
#include "git/git_state.h"

#include "base/seam.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 512 }; /* of nested folders */

static const char *text_of(struct git_call *call, struct str path) {
    return arena_cstr(call->arena, path);
}

bool git_exists(struct git_call *call, struct str path) {
    struct stat seen;
    return lstat(text_of(call, path), &seen) == 0;
}

bool git_folder_make(struct git_call *call, struct str path) {
    if (!git_well(call))
        return false;
    char *text = arena_cstr(call->arena, path);
    for (char *at = text + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            if (mkdir(text, 0700) < 0 && errno != EEXIST)
                return git_fail_errno(call, "mkdir", path);
            *at = '/';
        }
    if (mkdir(text, 0700) < 0 && errno != EEXIST)
        return git_fail_errno(call, "mkdir", path);
    return true;
}

static int folder_clear(int folder, int depth);

static int entry_remove(int folder, const char *name, int depth) {
    if (unlinkat(folder, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM && errno != EACCES)
        return -1;
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0 && errno == EACCES && fchmodat(folder, name, 0700, 0) == 0)
        inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return -1;
    (void)fchmod(inner, 0700); /* an agent may have removed its permissions */
    if (folder_clear(inner, depth + 1) < 0)
        return -1;
    return unlinkat(folder, name, AT_REMOVEDIR);
}

/* Takes ownership of the descriptor. */
static int folder_clear(int folder, int depth) {
    DIR *stream = depth < DEPTH ? fdopendir(folder) : NULL;
    if (!stream) {
        close(folder);
        errno = depth < DEPTH ? errno : ELOOP;
        return -1;
    }
    int code = 0;
    for (struct dirent *entry; code == 0 && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            code = entry_remove(dirfd(stream), entry->d_name, depth);
    int kept = errno;
    closedir(stream);
    errno = kept;
    return code;
}

bool folder_remove(const char *path) {
    return entry_remove(AT_FDCWD, path, 0) == 0;
}

bool git_folder_remove(struct git_call *call, struct str path) {
    if (!git_well(call))
        return false;
    if (!git_exists(call, path))
        return true;
    (void)seam("git-step");
    if (!folder_remove(text_of(call, path)) && errno != ENOENT)
        return git_fail_errno(call, "cannot remove", path);
    return true;
}

static bool file_fill(struct git_call *call, struct str path, struct str text, bool sync) {
    int fd = open(text_of(call, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return git_fail_errno(call, "cannot write", path);
    size_t done = 0;
    while (done < text.len) {
        ssize_t length = write(fd, text.at + done, text.len - done);
        if (length < 0 && errno != EINTR) {
            git_fail_errno(call, "cannot write", path);
            close(fd);
            return false;
        }
        done += length > 0 ? (size_t)length : 0;
    }
    bool safe = !sync || fsync(fd) == 0;
    if (close(fd) < 0 || !safe)
        return git_fail_errno(call, "cannot write", path);
    return true;
}

bool git_file_write(struct git_call *call, struct str path, struct str text) {
    if (!git_well(call))
        return false;
    (void)seam("git-step");
    /* The name contains the thread id: several verbs of one daemon may write the same file at once. */
    struct str new = arena_format(call->arena, "%.*s.new-%ld", STR_ARG(path), (long)gettid());
    return file_fill(call, new, text, true) && git_move(call, new, path);
}

bool git_scratch_write(struct git_call *call, struct str path, struct str text) {
    if (!git_well(call))
        return false;
    (void)seam("git-step");
    return file_fill(call, path, text, false);
}

bool git_file_read(struct git_call *call, struct str path, size_t cap, struct str *ret) {
    int fd = open(text_of(call, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat seen;
    if (fd < 0)
        return false;
    if (fstat(fd, &seen) < 0 || !S_ISREG(seen.st_mode) || (size_t)seen.st_size > cap) {
        close(fd);
        return false;
    }
    size_t room = (size_t)seen.st_size, done = 0;
    char *text = arena_new(call->arena, char, room + 1);
    for (ssize_t length; done < room && (length = read(fd, text + done, room - done)) > 0;)
        done += (size_t)length;
    close(fd);
    *ret = (struct str){text, done};
    return true;
}

bool git_move(struct git_call *call, struct str from, struct str to) {
    if (!git_well(call))
        return false;
    (void)seam("git-step");
    if (rename(text_of(call, from), text_of(call, to)) < 0)
        return git_fail_errno(call, "cannot move to", to);
    return true;
}

int git_open_below(int folder, struct str path, int flags, bool make) {
    char name[256];
    int at = dup(folder);
    while (at >= 0 && path.len) {
        size_t length = 0;
        while (length < path.len && path.at[length] != '/')
            length++;
        bool last = length == path.len;
        if (length == 0 || length >= sizeof name || (length == 1 && path.at[0] == '.') ||
            (length == 2 && path.at[0] == '.' && path.at[1] == '.')) {
            close(at);
            errno = EINVAL;
            return -1;
        }
        memcpy(name, path.at, length);
        name[length] = 0;
        path = last ? (struct str){NULL, 0}
                    : (struct str){path.at + length + 1, path.len - length - 1};
        if (!last && make && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
            flags |= 0; /* the open below reports the error */
        int next = openat(at, name,
                          (last ? flags : O_RDONLY | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC, 0600);
        int kept = errno;
        close(at);
        errno = kept;
        at = next;
    }
    return at;
}
