/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a program needs to see in order to start. Installers put a link into a folder of PATH and the program
 * elsewhere below HOME, which is hidden. So each link is followed, and the files beside the program are made visible
 * with it. */
#include "sandbox/sandbox.h"

#include "base/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH = 5,    /* nesting of interpreters and of scripts that start another program */
    BEGIN = 4096, /* bytes of a script that are read */
    NAMED = 8,    /* programs that one script may name */
};

/* ---- paths ---- */

static bool holds_hidden(const struct sandbox_spec *spec, struct str folder) {
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        if (path_is_below(spec->hidden.at[i], folder))
            return true;
    return false;
}

static struct str below(struct str folder, const char *name, struct arena *arena) {
    return arena_format(arena, "%.*s/%s", STR_ARG(folder), name);
}

static bool exists(struct str path, struct arena *arena) {
    return access(arena_cstr(arena, path), F_OK) == 0;
}

/* Makes a path visible if it, or a link that leads to it, is hidden. A folder that contains something hidden, such as
 * HOME, is not made visible. */
static void sees_add(struct sandbox_spec *spec, struct str path, struct arena *arena) {
    struct sandbox_links links = {0};
    struct str real;
    if (!sandbox_follow(path, arena, &links, &real) || !exists(real, arena) ||
        holds_hidden(spec, real))
        return;
    bool hidden = sandbox_is_hidden(spec, real);
    for (uint32_t i = 0; i < links.count; i++)
        hidden = hidden || sandbox_is_hidden(spec, links.at[i].place);
    if (hidden)
        sandbox_path_add(&spec->sees, arena_copy(arena, path));
}

/* ---- files beside a program ---- */

static void libraries_add(struct sandbox_spec *spec, struct str folder, struct arena *arena) {
    static const char *const LIBRARIES[] = {"lib", "lib64", "libexec"};
    if (!str_equal(path_name(folder), STR("bin")))
        return;
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++)
        sees_add(spec, below(path_folder(folder), LIBRARIES[i], arena), arena);
}

/* Adds its packages, its virtual environment, the folder of its version, or the libraries beside its bin. */
static void beside_add(struct sandbox_spec *spec, struct str path, struct arena *arena) {
    struct str folder = path_folder(path), above = path_folder(folder);
    const char *packages = memmem(path.at, path.len, "/node_modules/", 14);
    sees_add(spec, path, arena);
    if (packages)
        sees_add(spec, (struct str){path.at, (size_t)(packages - path.at) + 13}, arena);
    else if (exists(below(above, "pyvenv.cfg", arena), arena))
        sees_add(spec, above, arena);
    else if (str_equal(path_name(above), STR("versions")))
        sees_add(spec, folder, arena);
    else
        libraries_add(spec, folder, arena);
}

struct str sandbox_volta_home(struct str program, struct arena *arena) {
    struct sandbox_links links = {0};
    struct str real;
    if (!sandbox_follow(program, arena, &links, &real) ||
        !str_equal(path_name(real), STR("volta-shim")))
        return (struct str){0};
    for (uint32_t i = 0; i < links.count; i++) {
        struct str home = path_folder(path_folder(links.at[i].place));
        if (exists(below(home, "tools/image", arena), arena))
            return arena_copy(arena, home);
    }
    return (struct str){0};
}

/* ---- interpreters and scripts that start it ---- */

static void program_add(struct sandbox_spec *spec, struct str program, int depth,
                        struct arena *arena);

static struct str begin_read(struct str path, struct arena *arena) {
    char *text = arena_new(arena, char, BEGIN);
    struct stat about;
    int fd = open(arena_cstr(arena, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool file = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t length = file ? read(fd, text, BEGIN) : 0;
    if (fd >= 0)
        close(fd);
    return (struct str){text, length > 0 ? (size_t)length : 0};
}

static struct str word_take(struct str *line) {
    size_t from = 0, to;
    while (from < line->len && (line->at[from] == ' ' || line->at[from] == '\t'))
        from++;
    for (to = from; to < line->len && line->at[to] != ' ' && line->at[to] != '\t';)
        to++;
    struct str word = {line->at + from, to - from};
    *line = (struct str){line->at + to, line->len - to};
    return word;
}

/* Searches as execvp() would: in PATH, and beside the program, whose folder is the last of the run's PATH. */
static void named_add(struct sandbox_spec *spec, struct str name, struct str program, int depth,
                      struct arena *arena) {
    struct str path =
        arena_format(arena, "%.*s:%.*s", STR_ARG(spec->path), STR_ARG(path_folder(program)));
    while (path.len > 0 && name.len > 0) {
        const char *colon = memchr(path.at, ':', path.len);
        struct str folder = {path.at, colon ? (size_t)(colon - path.at) : path.len};
        struct str at = arena_format(arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
        path = (struct str){path.at + folder.len + !!colon, path.len - folder.len - !!colon};
        if (folder.len > 0 && folder.at[0] == '/' && access(arena_cstr(arena, at), X_OK) == 0) {
            program_add(spec, at, depth, arena);
            return;
        }
    }
}

static void interpreter_add(struct sandbox_spec *spec, struct str line, struct str program,
                            int depth, struct arena *arena) {
    struct str word = word_take(&line);
    program_add(spec, word, depth, arena);
    if (!str_equal(path_name(word), STR("env")))
        return;
    do
        word = word_take(&line); /* options and variables come before the name */
    while (word.len > 0 && (word.at[0] == '-' || memchr(word.at, '=', word.len)));
    if (word.len > 0 && word.at[0] != '/')
        named_add(spec, word, program, depth, arena);
    else
        program_add(spec, word, depth, arena);
}

static bool is_program(struct str path, struct arena *arena) {
    struct stat about;
    char *at = arena_cstr(arena, path);
    return stat(at, &about) == 0 && S_ISREG(about.st_mode) && access(at, X_OK) == 0;
}

/* A short shell script in front of the real program, as in uv, pip and Claude Code's local installation: adds the
 * programs that it names with their full path. */
static void script_add(struct sandbox_spec *spec, struct str text, int depth, struct arena *arena) {
    static const char END[] = " \t\n\r\"'`;&|()<>$*?";
    uint32_t named = 0;
    for (size_t i = 1; i < text.len && named < NAMED; i++) {
        if (text.at[i] != '/' || !strchr(END, text.at[i - 1]))
            continue;
        size_t from = i;
        while (i < text.len && !(text.at[i] == 0 || strchr(END, text.at[i])))
            i++;
        struct str path = arena_copy(arena, (struct str){text.at + from, i - from});
        if (i < text.len && is_program(path, arena)) {
            program_add(spec, path, depth, arena);
            named++;
        }
    }
}

static bool is_shell(struct str line) {
    static const char *const SHELLS[] = {"sh", "bash", "dash", "zsh"};
    struct str name = path_name(word_take(&line));
    if (str_equal(name, STR("env")))
        name = word_take(&line);
    for (size_t i = 0; i < sizeof SHELLS / sizeof *SHELLS; i++)
        if (str_equal(name, str_of(SHELLS[i])))
            return true;
    return false;
}

static void program_add(struct sandbox_spec *spec, struct str program, int depth,
                        struct arena *arena) {
    struct sandbox_links links = {0};
    struct str real;
    if (depth == DEPTH || program.len == 0 || program.at[0] != '/' ||
        !sandbox_follow(program, arena, &links, &real))
        return;
    for (uint32_t i = 0; i < links.count; i++)
        if (links.at[i].last)
            beside_add(spec, links.at[i].place, arena);
    sees_add(spec, program, arena);
    beside_add(spec, real, arena);
    sees_add(spec, sandbox_volta_home(program, arena), arena);
    struct str text = begin_read(real, arena),
               rest = {text.at + 2, text.len > 2 ? text.len - 2 : 0};
    if (!str_begins(text, STR("#!")))
        return;
    struct str line = str_line_take(&rest);
    interpreter_add(spec, line, program, depth + 1, arena);
    if (is_shell(line))
        script_add(spec, rest, depth + 1, arena);
}

void sandbox_sees_program(struct sandbox_spec *spec, struct str program, struct arena *arena) {
    program_add(spec, program, 0, arena);
}

void sandbox_sees_path(struct sandbox_spec *spec, const char *path, struct arena *arena) {
    spec->path = arena_copy(arena, str_of(path ? path : ""));
    while (path && *path) {
        size_t length = strcspn(path, ":");
        struct str folder = arena_copy(arena, (struct str){path, length});
        if (folder.len > 1 && folder.at[0] == '/') {
            sees_add(spec, folder, arena);
            libraries_add(spec, folder, arena);
        }
        path += length + (path[length] == ':');
    }
}
