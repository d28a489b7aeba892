/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of a repository that decide whether work is right. The defaults of verify.protect and verify.rules
 * cover the usual ones; those that this repository has besides are added. An agent that can edit such a file unnoticed
 * edits its own judge. */
#include "cli/init/init_protected.h"

#include "cli/child.h"
#include "config/protected_path.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Tests, the data they compare with, and the files that tell tests and linters what to complain about. Build files are
 * not listed: most work changes them, and could not be built without its change. */
static const char *const PROTECT[] = {
    /* test folders */
    "t/", "Test/", "Tests/", "specs/", "testing/", "testsuite/", "testdata/", "e2e/",
    "integration-tests/", "features/", "cypress/", "playwright/", "__snapshots__/",
    /* test files */
    "*Test.java", "*Tests.java", "*IT.java", "*Test.kt", "*Spec.scala", "*Test.scala", "*Test.cs",
    "*Tests.cs", "*Test.php", "*Tests.swift", "*_tests.*", "*-test.*", "*-spec.*", "*.bats",
    "*.feature", "*.snap", "conftest.py",
    /* files that test programs read */
    "package.json", "composer.json", "deno.json", "bunfig.toml", ".npmrc", "pyproject.toml",
    "setup.cfg", "tox.ini", "pytest.ini", "noxfile.py", ".coveragerc", "jest.config.*",
    "vitest.config.*", "playwright.config.*", "cypress.config.*", "karma.conf.*", ".mocharc.*",
    "phpunit.xml*", ".rspec", "codecov.yml", ".codecov.yml",
    /* files that linters read */
    ".eslintrc*", "eslint.config.*", "biome.json", ".stylelintrc*", "tslint.json", "tsconfig.json",
    ".flake8", ".pylintrc", "ruff.toml", ".ruff.toml", "mypy.ini", ".golangci.*", ".rubocop.yml",
    ".clang-tidy", ".shellcheckrc", "phpstan.neon*", "psalm.xml", "detekt.yml", "checkstyle.xml",
    ".swiftlint.yml", ".credo.exs", "clippy.toml", ".clippy.toml", ".pre-commit-config.yaml"};

/* CI of other services, and hooks that run checks. */
static const char *const RULES[] = {".ci/",
                                    "ci/",
                                    ".travis.yml",
                                    ".cirrus.yml",
                                    ".appveyor.yml",
                                    "appveyor.yml",
                                    "azure-pipelines.yml",
                                    ".azure-pipelines/",
                                    "bitbucket-pipelines.yml",
                                    ".drone.yml",
                                    ".buildkite/",
                                    ".teamcity/",
                                    ".semaphore/",
                                    ".builds/",
                                    ".build.yml",
                                    "buildspec.yml",
                                    "cloudbuild.yaml",
                                    "Jenkinsfile.*",
                                    ".husky/",
                                    "lefthook.yml",
                                    "CODEOWNERS"};

/* ---- the default ---- */

static void fallback_take(struct judged_list *list, const char *name, struct arena *arena) {
    const char *at = setting_find(str_of(name)).row->fallback;
    list->count = 0;
    for (size_t length; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        must(list->count < LIMIT_LINES);
        list->at[list->count++] = arena_copy(arena, (struct str){at, length});
    }
}

static bool is_same(const struct judged_list *list, const struct texts *texts) {
    bool same = list->count == texts->count;
    for (uint32_t i = 0; same && i < texts->count; i++)
        same = str_equal(list->at[i], texts->at[i]);
    return same;
}

static void list_keep(struct judged_list *list, const char *name, const struct texts *old,
                      struct arena *arena) {
    fallback_take(list, name, arena);
    if (is_same(list, old))
        return;
    for (list->count = 0; list->count < old->count && list->count < LIMIT_LINES; list->count++)
        list->at[list->count] = arena_copy(arena, old->at[list->count]);
    list->is_written = true;
}

void judged_keep(struct judged *judged, const struct settings *old, struct arena *arena) {
    list_keep(&judged->protect, "verify.protect", &old->verify.protect, arena);
    list_keep(&judged->rules, "verify.rules", &old->verify.rules, arena);
}

/* ---- files in the repository ---- */

static void path_look(struct judged_list *list, const char *const *known, size_t count,
                      struct str path, struct arena *scratch) {
    if (list->is_written || judged_matches_any(list->at, list->count, path, scratch))
        return;
    for (size_t i = 0; i < count && list->count < LIMIT_LINES; i++)
        if (judged_matches(str_of(known[i]), path, scratch)) {
            list->at[list->count++] = str_of(known[i]);
            list->besides[list->beside_count++] = str_of(known[i]);
            return;
        }
}

static pid_t files_list(const char *folder, FILE **ret) {
    char git[PATH_MAX];
    char *words[] = {git,          (char *)"-C", (char *)(uintptr_t)folder, (char *)"ls-files",
                     (char *)"-z", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid = -1;
    if (!program_find("git", git) || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, git, &actions, NULL, words, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *ret = pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (!*ret)
        close(ends[0]);
    return pid;
}

static void files_look(struct judged *judged, FILE *list) {
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getdelim(&line, &room, 0, list)) > 1;) {
        struct arena scratch = {0};
        struct str path = {line, (size_t)length - 1};
        path_look(&judged->rules, RULES, count_of(RULES), path, &scratch);
        if (!judged_matches_any(judged->rules.at, judged->rules.count, path, &scratch))
            path_look(&judged->protect, PROTECT, count_of(PROTECT), path, &scratch);
        arena_free(&scratch);
    }
    free(line);
}

void judged_find(struct judged *judged, const char *folder, struct arena *arena) {
    FILE *list = NULL;
    if (!judged->protect.is_written)
        fallback_take(&judged->protect, "verify.protect", arena);
    if (!judged->rules.is_written)
        fallback_take(&judged->rules, "verify.rules", arena);
    pid_t pid = files_list(folder, &list);
    if (list) {
        files_look(judged, list);
        fclose(list);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
    judged->protect.is_written = judged->protect.is_written || judged->protect.beside_count > 0;
    judged->rules.is_written = judged->rules.is_written || judged->rules.beside_count > 0;
}
