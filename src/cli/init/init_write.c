/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a repository into the settings. Into settings that have others it is added: lines at the end of the file, which is
 * otherwise left as it is. */
#include "cli/init/init.h"

#include "base/memory.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- texts of the file ---- */

void toml_text(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04X", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

static void list_write(FILE *file, const struct str *list, uint32_t count) {
    char text[LIMIT_LINE + 1];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.*s", STR_ARG(list[i]));
        fprintf(file, "%s", i ? ", " : "");
        toml_text(file, text);
    }
}

void judged_write(FILE *file, const char *note, const char *key, const struct judged_list *list) {
    if (!list->is_written)
        return;
    fprintf(file, "# %s\n%s = [", note, key);
    list_write(file, list->at, list->count);
    fprintf(file, "]\n");
}

/* A forge has pull requests; a folder has branches. */
bool remote_is_forge(const struct init *init) {
    return strstr(init->remote, "://") || (strchr(init->remote, '@') && strchr(init->remote, ':'));
}

bool folder_is(struct str path, const char *folder) {
    char text[PATH_MAX], real[PATH_MAX];
    snprintf(text, sizeof text, "%.*s", STR_ARG(path));
    return str_equal(path, str_of(folder)) || (realpath(text, real) && strcmp(real, folder) == 0);
}

/* ---- its name ---- */

static bool name_is_taken(const struct settings *old, const char *name) {
    bool taken = strcmp(name, "none") == 0 || /* the word stands for no repository */
                 str_equal(settings_first_repository(old).name, str_of(name));
    for (uint32_t i = 0; i < old->lists.repo_count; i++)
        taken = taken || str_equal(old->lists.repos[i].name, str_of(name));
    return taken;
}

/* The last part of its path, in plain characters; with a number if another one is called that. */
static void name_make(struct init *init, const struct settings *old) {
    enum { ROOM = 8 }; /* for the number */
    char plain[LIMIT_AGENT + 1 - ROOM];
    const char *last = strrchr(init->folder, '/');
    snprintf(plain, sizeof plain, "%s", last && last[1] ? last + 1 : "repository");
    for (char *at = plain; *at; at++)
        if (!repository_name_has(*at))
            *at = '-';
    snprintf(init->name, sizeof init->name, "%s", plain);
    for (unsigned n = 2; name_is_taken(old, init->name); n++)
        snprintf(init->name, sizeof init->name, "%s-%u", plain, n);
}

bool repository_settle(struct typed *typed, struct init *init, const struct settings *old) {
    for (uint32_t i = 0; i < old->lists.repo_count; i++)
        if (folder_is(old->lists.repos[i].path, init->folder)) {
            trouble_make(&typed->trouble, ERROR_CONFLICT, "%.300s is in the settings, named %.*s.",
                         init->folder, STR_ARG(old->lists.repos[i].name));
            trouble_next(&typed->trouble, "Edit its entry in %.600s.", init->file);
            return false;
        }
    bool others = old->repo.path.len > 0 || old->lists.repo_count > 0;
    if (others && !folder_is(old->repo.path, init->folder))
        name_make(init, old);
    return true;
}

/* ---- its lines ---- */

void author_write(FILE *file, const struct init *init, const char *key) {
    if (!*init->author)
        return;
    fprintf(file, "# Author of the commits of agents.\n%s = ", key);
    toml_text(file, init->author);
    fprintf(file, "\n");
}

void setup_write(FILE *file, const struct init *init, const char *key) {
    if (!init->setup[0])
        return;
    fprintf(
        file,
        "# Prepares a clean checkout; what it downloads is kept from the target only.\n%s = ", key);
    toml_text(file, init->setup);
    fprintf(file, "\n");
}

void hosts_write(FILE *file, const struct init *init) {
    const struct hosts_found *hosts = &init->hosts;
    if (hosts->taken.count > 0) {
        fprintf(
            file,
            "# Registries: what checks, and runs with network = \"model\", reach besides the model.\nhosts = [");
        list_write(file, hosts->taken.at, hosts->taken.count);
        fprintf(file, "]\n");
    }
    if (hosts->offered.count > 0) {
        fprintf(file, "# Lock files name these, too. Add to hosts what you trust:\n# ");
        list_write(file, hosts->offered.at, hosts->offered.count);
        fprintf(file, "\n");
    }
}

void repository_show(FILE *file, const struct init *init) {
    fprintf(file, "\n[[repos]]\nname = \"%s\"\npath = ", init->name);
    toml_text(file, init->folder);
    fprintf(file, "\ndefault_branch = ");
    toml_text(file, *init->branch ? init->branch : "main");
    fprintf(file, "\n");
    hosts_write(file, init);
    fprintf(
        file,
        "# Work counts as verified once this succeeds on the exact commit, in a clean checkout.\n");
    setup_write(file, init, "verify.setup");
    fprintf(file, "%sverify.command = ", *init->command ? "" : "# ");
    toml_text(file, *init->command ? init->command : "make check");
    fprintf(file, "\n");
    judged_write(file, "Tests, and files that tests and linters read.", "verify.protect",
                 &init->judged.protect);
    judged_write(file, "CI: work that changes one of these waits for your approval.",
                 "verify.rules", &init->judged.rules);
    fprintf(file, "landing.how = \"%s\"\n", remote_is_forge(init) ? "pr" : "branch");
    author_write(file, init, "landing.author");
}

/* ---- the file ---- */

static bool content_copy(FILE *from, FILE *to) {
    char part[4096];
    int last = '\n';
    for (size_t length; (length = fread(part, 1, sizeof part, from)) > 0;) {
        if (fwrite(part, 1, length, to) != length)
            return false;
        last = part[length - 1];
    }
    if (last != '\n')
        fputc('\n', to);
    return !ferror(from);
}

/* False: errno says why. */
static bool copy_write(const char *real, const char *copy, const struct init *init) {
    struct stat stat;
    FILE *from = fopen(real, "re");
    int opened = from && fstat(fileno(from), &stat) == 0
                     ? open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, stat.st_mode & 0777)
                     : -1;
    FILE *to = opened >= 0 ? fdopen(opened, "w") : NULL;
    bool written = to && content_copy(from, to);
    if (written)
        repository_show(to, init);
    written = written && fflush(to) == 0 && fsync(opened) == 0;
    if (from)
        fclose(from);
    return to && fclose(to) == 0 && written;
}

/* Settings that a daemon would refuse are not put into place. */
static bool copy_is_valid(struct typed *typed, const char *copy) {
    struct config_source source = {.file = copy};
    struct config_report *report = memory_new(sizeof *report);
    struct settings *settings = config_load(&source, report);
    if (settings)
        config_free(settings);
    else {
        trouble_make(&typed->trouble, ERROR_INVALID, "%.400s", report->problems[0]);
        trouble_next(&typed->trouble, "Nothing was changed. Correct the settings, and try again.");
    }
    free(report);
    return settings != NULL;
}

/* Copies the file, adds the lines, and puts the copy into its place: it is never half written. */
bool repository_append(struct typed *typed, const struct init *init) {
    char real[PATH_MAX], copy[PATH_MAX + 16];
    bool found = realpath(init->file, real) != NULL;
    snprintf(copy, sizeof copy, "%s.new", found ? real : "");
    bool written = found && copy_write(real, copy, init);
    bool valid = written && copy_is_valid(typed, copy);
    if (valid && rename(copy, real) == 0)
        return true;
    int error = errno;
    if (found)
        unlink(copy);
    return (!written || valid) &&
           trouble_make(&typed->trouble, ERROR_REFUSED_BY_STORE, "%.900s cannot be written: %s.",
                        init->file, strerror(error));
}
