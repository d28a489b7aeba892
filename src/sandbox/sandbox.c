/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a run's sandbox: the arguments for bubblewrap and the rules for the confiner behind it. */
#include "sandbox/sandbox.h"

#include "base/host_rule.h"

#include "base/bytes.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const KIND[SANDBOX_KINDS] = {"none", "landlock", "bwrap", "bwrap+landlock"};

const char *sandbox_name(enum sandbox_kind kind) {
    return KIND[kind];
}

/* ---- paths ---- */

bool sandbox_is_hidden(const struct sandbox_spec *spec, struct str path) {
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        if (path_is_below(path, spec->hidden.at[i]))
            return true;
    return false;
}

static int path_order(const void *a, const void *b) {
    const struct str *one = a, *other = b;
    return one->len < other->len ? -1 : one->len > other->len;
}

void sandbox_paths_sort(struct sandbox_paths *paths) {
    qsort(paths->at, paths->count, sizeof *paths->at, path_order);
}

/* ---- links ---- */

static void link_add(struct sandbox_links *links, struct str place, struct str target, bool last) {
    for (uint32_t i = 0; i < links->count; i++)
        if (str_equal(links->at[i].place, place))
            return;
    if (links->count == SANDBOX_LINKS)
        links->too_many = true;
    else
        links->at[links->count++] = (struct sandbox_link){place, target, last};
}

/* The target of a link, followed by the rest of the path. False: not a link. */
static bool link_read(struct str place, struct str rest, struct arena *arena,
                      struct str *ret_target, struct str *ret_rest) {
    char target[4096];
    ssize_t length = readlink(arena_cstr(arena, place), target, sizeof target);
    if (length <= 0 || (size_t)length == sizeof target)
        return false;
    *ret_target = arena_copy(arena, (struct str){target, (size_t)length});
    *ret_rest = arena_format(arena, "%.*s/%.*s", STR_ARG(*ret_target), STR_ARG(rest));
    return true;
}

static struct str component_take(struct str *rest) {
    while (rest->len > 0 && rest->at[0] == '/')
        *rest = (struct str){rest->at + 1, rest->len - 1};
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    struct str name = {rest->at, slash ? (size_t)(slash - rest->at) : rest->len};
    *rest = (struct str){name.at + name.len, rest->len - name.len};
    return name;
}

bool sandbox_follow(struct str path, struct arena *arena, struct sandbox_links *links,
                    struct str *ret_real) {
    enum { HOPS = 40 }; /* as in the kernel */
    struct str at = {0}, rest = path, target;
    struct stat about;
    int hops = 0;
    for (struct str name; (name = component_take(&rest)).len > 0;) {
        if (str_equal(name, STR(".")))
            continue;
        if (str_equal(name, STR(".."))) {
            at = path_folder(at);
            continue;
        }
        struct str place = arena_format(arena, "%.*s/%.*s", STR_ARG(at), STR_ARG(name)),
                   behind = rest;
        bool last = component_take(&behind).len == 0;
        if (lstat(arena_cstr(arena, place), &about) != 0 && !last)
            return false;
        if (!link_read(place, rest, arena, &target, &rest)) {
            at = place;
            continue;
        }
        link_add(links, place, target, last);
        at = target.at[0] == '/' ? (struct str){0} : at;
        if (++hops > HOPS)
            return false;
    }
    *ret_real = at.len ? at : STR("/");
    return true;
}

/* ---- arguments ---- */

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

/* A folder becomes empty; a file becomes /dev/null. A path that does not exist cannot be seen anyway. */
static bool hidden_add(struct sandbox_made *made, struct str path, struct arena *arena) {
    struct stat about;
    if (stat(arena_cstr(arena, path), &about) != 0)
        return true;
    return S_ISDIR(about.st_mode)
               ? words_add(made, "--perms", STR("0700"), STR("--tmpfs")) && word_add(made, path)
               : words_add(made, "--ro-bind", STR("/dev/null"), path);
}

/* True: a hidden place that is writable nevertheless, because the operator says so. */
static bool is_written(const struct sandbox_spec *spec, struct str path) {
    return str_is_among(path, spec->scratch.at, spec->scratch.count) ||
           str_is_among(path, spec->writes.at, spec->writes.count);
}

static bool is_home(const struct sandbox_spec *spec, struct str path) {
    return spec->home.at.len > 0 && str_equal(path, spec->home.at);
}

static bool is_folder(struct str path, struct arena *arena) {
    struct stat about;
    return stat(arena_cstr(arena, path), &about) == 0 && S_ISDIR(about.st_mode);
}

/* The proxy is outside, and ends with what it is started with. */
static bool proxy_add(const struct sandbox_spec *spec, struct sandbox_made *made) {
    return word_add(made, spec->confiner) &&
           words_add(made, "--proxy", spec->proxy.file, STR("--"));
}

/* Also makes the parts of /proc read-only that concern the whole machine: root may write there in any namespace. */
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
    bool fits =
        (spec->network != SANDBOX_LISTED || proxy_add(spec, made)) && word_add(made, spec->bwrap);
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

/* The same paths with links resolved: bubblewrap cannot mount on a link, nor look through one that does not exist yet. */
struct shown {
    struct sandbox_paths sees, writes;
    struct sandbox_links links;
};

static void real_add(const struct sandbox_paths *paths, struct arena *arena,
                     struct sandbox_links *links, struct sandbox_paths *ret) {
    struct str real;
    for (uint32_t i = 0; i < paths->count; i++)
        sandbox_path_add(ret,
                         sandbox_follow(paths->at[i], arena, links, &real) ? real : paths->at[i]);
    sandbox_paths_sort(ret);
}

static struct shown *shown_make(const struct sandbox_spec *spec, struct arena *arena) {
    struct shown *shown = arena_new(arena, struct shown, 1);
    *shown = (struct shown){0};
    real_add(&spec->sees, arena, &shown->links, &shown->sees);
    real_add(&spec->writes, arena, &shown->links, &shown->writes);
    return shown;
}

/* True: one of the first `count` paths contains it already. */
static bool is_below_any(const struct sandbox_paths *paths, uint32_t count, struct str path) {
    for (uint32_t i = 0; i < count; i++)
        if (path_is_below(path, paths->at[i]))
            return true;
    return false;
}

/* ---- a home that an earlier program had ---- */

/* The path below the folder that is shown as HOME; empty: it is not below. */
static struct str home_below(const struct sandbox_spec *spec, struct str path) {
    size_t length = spec->home.at.len;
    bool below = path_is_below(path, spec->home.at) && path.len > length + 1;
    return below ? (struct str){path.at + length + 1, path.len - length - 1} : (struct str){0};
}

/* Removes a link, or a file where a folder has to be, on the way to `below`. What follows a link would be made elsewhere:
 * bubblewrap makes missing mount points before it has left this machine's file system. */
static void home_way_clear(const struct sandbox_spec *spec, struct str below, struct arena *arena) {
    for (size_t at = 0; at < below.len; at++) {
        while (at < below.len && below.at[at] != '/')
            at++;
        struct stat about;
        const char *step = arena_cstr(
            arena, arena_format(arena, "%.*s/%.*s", STR_ARG(spec->home.folder), (int)at, below.at));
        bool last = at == below.len;
        if (lstat(step, &about) != 0)
            return;
        if (S_ISDIR(about.st_mode) || (last && !S_ISLNK(about.st_mode)))
            continue;
        unlink(step);
        return;
    }
}

/* The folder may be of an earlier program in the same sandbox, which no longer runs: a check's set-up, or an earlier run. */
static void home_clear(const struct sandbox_spec *spec, const struct shown *shown,
                       struct arena *arena) {
    const struct sandbox_paths *lists[] = {&shown->sees, &shown->writes, &spec->hidden};
    for (size_t k = 0; k < count_of(lists); k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            home_way_clear(spec, home_below(spec, lists[k]->at[i]), arena);
    for (uint32_t i = 0; i < shown->links.count; i++)
        home_way_clear(spec, home_below(spec, shown->links.at[i].place), arena);
}

static bool links_make(const struct sandbox_spec *spec, const struct shown *shown,
                       struct sandbox_made *made) {
    bool fits = true;
    for (uint32_t i = 0; i < shown->links.count; i++) {
        const struct sandbox_link *link = &shown->links.at[i];
        if (sandbox_is_hidden(spec, link->place) &&
            !is_below_any(&shown->sees, shown->sees.count, link->place) &&
            !is_below_any(&shown->writes, shown->writes.count, link->place))
            fits = fits && words_add(made, "--symlink", link->target, link->place);
    }
    return fits;
}

/* The order matters: hide a place, put there what may be seen in it, then allow no more changes. */
static bool wrap_add(const struct sandbox_spec *spec, const struct shown *shown,
                     struct arena *arena, struct sandbox_made *made) {
    static const struct str NONE;
    const struct sandbox_paths *sees = &shown->sees, *writes = &shown->writes;
    bool fits = system_add(spec, made);
    for (uint32_t i = 0; i < spec->hidden.count; i++)
        fits = fits && (is_home(spec, spec->hidden.at[i])
                            ? words_add(made, "--bind", spec->home.folder, spec->home.at)
                            : hidden_add(made, spec->hidden.at[i], arena));
    for (uint32_t i = 0; i < sees->count; i++)
        if (!is_below_any(sees, i, sees->at[i]))
            fits = fits && words_add(made, "--ro-bind-try", sees->at[i], sees->at[i]);
    fits = fits && links_make(spec, shown, made);
    for (uint32_t i = 0; i < writes->count; i++)
        fits = fits && words_add(made, "--bind-try", writes->at[i], writes->at[i]);
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

/* Behind bubblewrap the visible files are right already, and Landlock is the second barrier against writing. */
static void landlock_add(const struct sandbox_spec *spec, const struct shown *shown,
                         struct arena *arena, struct writer *writer) {
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
    for (uint32_t i = 0; i < shown->sees.count; i++)
        rule_add(writer, "sees", shown->sees.at[i]);
    for (uint32_t i = 0; i < shown->writes.count; i++)
        rule_add(writer, "writes", shown->writes.at[i]);
    for (uint32_t i = 0; i < spec->scratch.count && behind; i++)
        rule_add(writer, "writes", spec->scratch.at[i]);
    rule_add(writer, "writes", STR("/dev"));
}

/* An address of the machine's loopback that is listed is reached at the same address inside; once, however often it is
 * listed. */
static void tunnels_add(const struct sandbox_spec *spec, struct arena *arena,
                        struct writer *writer) {
    struct str made[SANDBOX_TUNNELS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->proxy.host_count && count < SANDBOX_TUNNELS; i++) {
        struct host_rule rule;
        if (!host_rule_parse(spec->proxy.hosts[i], &rule) || !host_rule_is_loopback(&rule))
            continue;
        struct str tunnel = arena_format(arena, "%s %u", rule.host, rule.port);
        if (str_is_among(tunnel, made, count))
            continue;
        made[count++] = tunnel;
        rule_add(writer, "tunnel", tunnel);
    }
}

static struct str proxy_text(const struct sandbox_spec *spec, struct arena *arena) {
    struct writer writer = {.arena = arena};
    rule_add(&writer, "listen", spec->proxy.folder);
    rule_add(&writer, "denied", spec->proxy.denied);
    if (spec->proxy.allowed.len > 0)
        rule_add(&writer, "allowed", spec->proxy.allowed);
    for (uint32_t i = 0; i < spec->proxy.host_count; i++)
        rule_add(&writer, "allow", spec->proxy.hosts[i]);
    return (struct str){writer.at, writer.len};
}

bool sandbox_make(const struct sandbox_spec *spec, struct arena *arena, struct sandbox_made *ret) {
    struct writer writer = {.arena = arena};
    const struct shown *shown = shown_make(spec, arena);
    bool fits = !spec->sees.too_many && !spec->writes.too_many && !spec->hidden.too_many &&
                !shown->links.too_many;
    *ret = (struct sandbox_made){.argc = 0};
    if (spec->kind >= SANDBOX_BWRAP)
        fits = fits && wrap_add(spec, shown, arena, ret);
    if (spec->kind >= SANDBOX_BWRAP && spec->home.folder.len > 0)
        home_clear(spec, shown, arena);
    if (spec->kind == SANDBOX_LANDLOCK || spec->kind == SANDBOX_BOTH)
        landlock_add(spec, shown, arena, &writer);
    number_add(&writer, "memory", spec->memory, arena);
    number_add(&writer, "cpu", spec->cpu, arena);
    number_add(&writer, "files", spec->files, arena);
    number_add(&writer, "processes", spec->processes, arena);
    number_add(&writer, "file_size", spec->file_size, arena);
    if (spec->network == SANDBOX_LISTED) {
        rule_add(&writer, "forward",
                 arena_format(arena, "%u %.*s", spec->proxy.port, STR_ARG(spec->proxy.folder)));
        tunnels_add(spec, arena, &writer);
        ret->proxy = proxy_text(spec, arena);
    }
    fits = fits &&
           words_add(ret, arena_cstr(arena, spec->confiner), STR("--confine"), spec->rules) &&
           word_add(ret, STR("--"));
    ret->rules = (struct str){writer.at, writer.len};
    return fits;
}

/* ---- sandbox for a program that reads what an agent wrote ---- */

bool sandbox_reader_make(struct str bwrap, struct sandbox_made *ret) {
    static const char *const ALWAYS[] = {
        "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--dev", "/dev", "--proc",
        "/proc"};
    static const struct str PROGRAMS[] = {
        STR("/usr"),      STR("/bin"), STR("/lib"), STR("/lib64"), STR("/etc/ld.so.cache"),
        STR("/nix/store")};
    *ret = (struct sandbox_made){.argc = 0};
    bool fits = word_add(ret, bwrap);
    for (size_t i = 0; i < sizeof ALWAYS / sizeof *ALWAYS; i++)
        fits = fits && word_add(ret, str_of(ALWAYS[i]));
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
        fits = fits && words_add(ret, "--ro-bind-try", PROGRAMS[i], PROGRAMS[i]);
    return fits && words_add(ret, "--ro-bind", STR("$tree"), STR("$tree")) &&
           words_add(ret, "--ro-bind", STR("$objects"), STR("$objects")) &&
           words_add(ret, "--chdir", STR("/"), STR("--"));
}
