/* SPDX-License-Identifier: Apache-2.0 */
/* How is a run's sandbox put into words, for bubblewrap and for the confiner behind it? */
#include "ports/sandbox.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const KIND[SANDBOX_KINDS] = {"none", "landlock", "bwrap", "bwrap+landlock"};

const char *sandbox_name(enum sandbox_kind kind) {
    return KIND[kind];
}

/* ---- paths ---- */

static bool path_is_below(struct str path, struct str folder) {
    return str_begins(path, folder) &&
           (path.len == folder.len || folder.len == 1 || path.at[folder.len] == '/');
}

static bool is_hidden(const struct sandbox_spec *spec, struct str path) {
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        if (path_is_below(path, spec->hidden.at[i]))
            return true;
    return false;
}

void sandbox_path_add(struct sandbox_paths *paths, struct str path) {
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    if (path.len == 0 || path.at[0] != '/' || memchr(path.at, '\n', path.len))
        return;
    for (uint32_t i = 0; i < paths->count; i++)
        if (str_equal(paths->at[i], path))
            return;
    if (paths->count == SANDBOX_PATHS)
        paths->too_many = true;
    else
        paths->at[paths->count++] = path;
}

static int path_order(const void *a, const void *b) {
    const struct str *one = a, *other = b;
    return one->len < other->len ? -1 : one->len > other->len;
}

void sandbox_paths_sort(struct sandbox_paths *paths) {
    qsort(paths->at, paths->count, sizeof *paths->at, path_order);
}

static void sees_add(struct sandbox_spec *spec, struct str path, struct arena *arena) {
    char *at = arena_cstr(arena, path), real[4096];
    if (realpath(at, real) && (is_hidden(spec, path) || is_hidden(spec, str_of(real))))
        sandbox_path_add(&spec->sees, str_of(at));
}

static void library_add(struct sandbox_spec *spec, struct str folder, struct arena *arena) {
    if (folder.len > 4 && memcmp(folder.at + folder.len - 4, "/bin", 4) == 0)
        sees_add(spec, arena_format(arena, "%.*s/lib", (int)folder.len - 4, folder.at), arena);
}

/* What stands beside a program: its packages, or the library folder beside its bin. */
static void beside_add(struct sandbox_spec *spec, struct str path, struct arena *arena) {
    const char *packages = memmem(path.at, path.len, "/node_modules/", 14);
    if (packages) {
        sees_add(spec, (struct str){path.at, (size_t)(packages - path.at) + 13}, arena);
        return;
    }
    sees_add(spec, path, arena);
    const char *slash = memrchr(path.at, '/', path.len);
    library_add(spec, (struct str){path.at, slash ? (size_t)(slash - path.at) : 0}, arena);
}

void sandbox_sees_program(struct sandbox_spec *spec, struct str program, struct arena *arena) {
    char real[4096];
    if (program.len == 0 || program.at[0] != '/')
        return;
    beside_add(spec, program, arena);
    if (realpath(arena_cstr(arena, program), real))
        beside_add(spec, arena_copy(arena, str_of(real)), arena);
}

void sandbox_sees_path(struct sandbox_spec *spec, const char *path, struct arena *arena) {
    while (path && *path) {
        size_t length = strcspn(path, ":");
        struct str folder = arena_copy(arena, (struct str){path, length});
        if (folder.len > 1) {
            sees_add(spec, folder, arena);
            library_add(spec, folder, arena);
        }
        path += length + (path[length] == ':');
    }
}

/* ---- words ---- */

static bool word_add(struct sandbox_made *made, struct str word) {
    if (made->argc == SANDBOX_WORDS)
        return false;
    made->argv[made->argc++] = word;
    return true;
}

static bool words_add(struct sandbox_made *made, const char *first, struct str second,
                      struct str third) {
    return word_add(made, str_of(first)) && (second.len == 0 || word_add(made, second)) &&
           (third.len == 0 || word_add(made, third));
}

/* A folder becomes empty; a file becomes nothing. What is not there cannot be seen. */
static bool hidden_add(struct sandbox_made *made, struct str path, struct arena *arena) {
    struct stat about;
    if (stat(arena_cstr(arena, path), &about) != 0)
        return true;
    return S_ISDIR(about.st_mode)
               ? words_add(made, "--perms", STR("0700"), STR("--tmpfs")) && word_add(made, path)
               : words_add(made, "--ro-bind", STR("/dev/null"), path);
}

static bool is_among(const struct sandbox_paths *paths, struct str path) {
    for (uint32_t i = 0; i < paths->count; i++)
        if (str_equal(paths->at[i], path))
            return true;
    return false;
}

/* A place that was hidden and is written all the same, because the operator says so. */
static bool is_written(const struct sandbox_spec *spec, struct str path) {
    return is_among(&spec->scratch, path) || is_among(&spec->writes, path);
}

static bool is_folder(struct str path, struct arena *arena) {
    struct stat about;
    return stat(arena_cstr(arena, path), &about) == 0 && S_ISDIR(about.st_mode);
}

/* Of /proc what concerns the whole machine: root may write there in any namespace. */
static bool system_add(const struct sandbox_spec *spec, struct sandbox_made *made) {
    static const struct str NONE;
    static const struct str MACHINE[] = {
        {"/proc/sys", 9}, {"/proc/irq", 9}, {"/proc/bus", 9}, {"/proc/sysrq-trigger", 19}};
    static const char *const ALWAYS[] = {"--unshare-user-try",
                                         "--unshare-pid",
                                         "--unshare-ipc",
                                         "--unshare-cgroup-try",
                                         "--die-with-parent",
                                         "--cap-drop",
                                         "ALL"};
    bool fits = word_add(made, spec->bwrap);
    for (size_t i = 0; i < sizeof ALWAYS / sizeof *ALWAYS; i++)
        fits = fits && word_add(made, str_of(ALWAYS[i]));
    fits = fits && (spec->network == SANDBOX_ALL || words_add(made, "--unshare-net", NONE, NONE)) &&
           words_add(made, "--ro-bind", STR("/"), STR("/")) &&
           words_add(made, "--dev", STR("/dev"), NONE) &&
           words_add(made, "--proc", STR("/proc"), NONE);
    for (size_t i = 0; i < sizeof MACHINE / sizeof *MACHINE; i++)
        fits = fits && words_add(made, "--ro-bind-try", MACHINE[i], MACHINE[i]);
    return fits;
}

/* In this order: a place is hidden, what may be seen in it is put there, and then nothing more. */
static bool wrap_add(const struct sandbox_spec *spec, struct arena *arena,
                     struct sandbox_made *made) {
    static const struct str NONE;
    bool fits = system_add(spec, made);
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        fits = fits && hidden_add(made, spec->hidden.at[i], arena);
    for (uint32_t i = 0; i < spec->sees.count; i++)
        fits = fits && words_add(made, "--ro-bind-try", spec->sees.at[i], spec->sees.at[i]);
    for (uint32_t i = 0; i < spec->writes.count; i++)
        fits = fits && words_add(made, "--bind-try", spec->writes.at[i], spec->writes.at[i]);
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        if (!is_written(spec, spec->hidden.at[i]) && is_folder(spec->hidden.at[i], arena))
            fits = fits && words_add(made, "--remount-ro", spec->hidden.at[i], NONE);
    return fits && words_add(made, "--chdir", spec->cwd, STR("--"));
}

/* ---- rules for the confiner ---- */

static void rule_add(struct writer *writer, const char *word, struct str value) {
    write_raw(writer, str_of(word));
    write_byte(writer, ' ');
    write_raw(writer, value);
    write_byte(writer, '\n');
}

static void number_add(struct writer *writer, const char *word, uint64_t number,
                       struct arena *arena) {
    if (number > 0)
        rule_add(writer, word, arena_format(arena, "%llu", (unsigned long long)number));
}

/* Behind bubblewrap what can be seen is right already, and Landlock is the second lock on writing. */
static void landlock_add(const struct sandbox_spec *spec, struct arena *arena,
                         struct writer *writer) {
    struct sandbox_paths *sees = arena_new(arena, struct sandbox_paths, 1);
    bool behind = spec->kind == SANDBOX_BOTH;
    *sees = (struct sandbox_paths){.count = 0};
    rule_add(writer, "landlock", spec->network == SANDBOX_OFFLINE ? STR("offline") : STR("yes"));
    if (behind)
        sandbox_path_add(sees, STR("/"));
    else
        sandbox_around(&spec->hidden, arena, sees);
    for (uint32_t i = 0; i < sees->count; i++)
        rule_add(writer, "sees", sees->at[i]);
    for (uint32_t i = 0; i < spec->sees.count; i++)
        rule_add(writer, "sees", spec->sees.at[i]);
    for (uint32_t i = 0; i < spec->writes.count; i++)
        rule_add(writer, "writes", spec->writes.at[i]);
    for (uint32_t i = 0; i < spec->scratch.count && behind; i++)
        rule_add(writer, "writes", spec->scratch.at[i]);
    rule_add(writer, "writes", STR("/dev"));
}

bool sandbox_make(const struct sandbox_spec *spec, struct arena *arena, struct sandbox_made *ret) {
    struct writer writer = {.arena = arena};
    bool fits = !spec->sees.too_many && !spec->writes.too_many && !spec->hidden.too_many;
    *ret = (struct sandbox_made){.argc = 0};
    if (spec->kind >= SANDBOX_BWRAP)
        fits = fits && wrap_add(spec, arena, ret);
    if (spec->kind == SANDBOX_LANDLOCK || spec->kind == SANDBOX_BOTH)
        landlock_add(spec, arena, &writer);
    number_add(&writer, "memory", spec->memory, arena);
    number_add(&writer, "cpu", spec->cpu, arena);
    number_add(&writer, "files", spec->files, arena);
    number_add(&writer, "processes", spec->processes, arena);
    fits = fits &&
           words_add(ret, arena_cstr(arena, spec->confiner), STR("--confine"), spec->rules) &&
           word_add(ret, STR("--"));
    ret->rules = (struct str){writer.at, writer.len};
    return fits;
}
