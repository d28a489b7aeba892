/* SPDX-License-Identifier: Apache-2.0 */
#include "model/artifact.h"

#define F(name, type, number, member, cap, flags, text) \
    { name, type, number, FIELD_OF(artifact, member), cap, flags, NULL, text, 0, NULL }

static const struct field FIELDS[] = {
    F("path", FIELD_TEXT, 1, path, LIMIT_LINE, FIELD_REQUIRED,
      "path of a regular file, relative to the top of the worktree"),
    F("json", FIELD_FLAG, 2, json, 0, 0, "whether it must be valid JSON"),
    F("minItems", FIELD_U32, 3, min_items, 0, 0,
      "minimum number of items; the file must be a list; needs json"),
    {"requiredKeys", FIELD_TEXTS, 4, FIELD_OF(artifact, keys), LIMIT_NAME, 0, NULL,
     "keys of each item; the file must be a list of objects; needs json", LIMIT_ARTIFACT_KEYS,
     NULL},
    F("minBytes", FIELD_UINT, 5, min_bytes, 0, 0, "minimum size, in bytes"),
};
const struct shape ARTIFACT = SHAPE_OF(artifact, "artifact", 1, FIELDS);

/* Takes the first step off a path and returns it; *path keeps the rest. */
static struct str step_take(struct str *path) {
    size_t len = 0;
    while (len < path->len && path->at[len] != '/')
        len++;
    struct str step = {path->at, len};
    size_t used = len + (len < path->len);
    *path = (struct str){path->at + used, path->len - used};
    return step;
}

static const char *path_broken(struct str path) {
    if (path.len == 0)
        return "an artifact has no path; give a file relative to the top of the worktree";
    if (path.at[0] == '/')
        return "an artifact's path is absolute; give it relative to the top of the worktree, because only the clean checkout is checked";
    if (path.at[path.len - 1] == '/')
        return "an artifact's path ends with a slash; name a file";
    for (bool first = true; path.len > 0; first = false) {
        struct str step = step_take(&path);
        if (str_equal(step, STR("..")))
            return "an artifact's path contains ..; give it relative to the top of the worktree, because only the clean checkout is checked";
        if (step.len == 0 || str_equal(step, STR(".")))
            return "an artifact's path has an empty component or a . component; remove it";
        if (first && str_equal(step, STR(".git")))
            return "an artifact's path is in .git, which is not part of the work; name a file of the worktree";
    }
    return NULL;
}

const char *artifact_broken(const struct artifact *artifact) {
    if (!artifact->json && (artifact->min_items > 0 || artifact->keys.count > 0))
        return "an artifact has minItems or requiredKeys without json; add \"json\": true";
    return path_broken(artifact->path);
}

struct str artifact_text(const struct artifact *artifact, struct arena *arena) {
    struct writer to = {.arena = arena};
    write_raw(&to, artifact->path);
    if (artifact->min_bytes > 0)
        write_raw(&to, arena_format(arena, ", at least %llu bytes",
                                    (unsigned long long)artifact->min_bytes));
    if (artifact->json)
        write_raw(&to, STR(", valid JSON"));
    if (artifact->min_items > 0)
        write_raw(&to, arena_format(arena, ", a list of at least %u items", artifact->min_items));
    for (uint32_t i = 0; i < artifact->keys.count; i++) {
        write_raw(&to, i ? STR(", ") : STR(", a list of objects with the keys: "));
        write_raw(&to, artifact->keys.at[i]);
    }
    return (struct str){to.at, to.len};
}
