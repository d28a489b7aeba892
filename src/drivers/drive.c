/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/drive.h"
#include "base/memory.h"
#include "base/seam.h"

/* ---- lines ---- */

bool drive_line(struct drive_lines *lines, struct str bytes, uint64_t offset,
                struct str *ret_line) {
    must(offset <= lines->begin);
    uint64_t end = offset + bytes.len;
    if (end <= lines->begin)
        return false;
    uint64_t from = lines->seen > lines->begin ? lines->seen : lines->begin;
    if (from >= end)
        return false;
    const char *at = bytes.at + (from - offset);
    const char *feed = memchr(at, '\n', (size_t)(end - from));
    if (!feed) {
        lines->seen = end;
        return false;
    }
    const char *begin = bytes.at + (lines->begin - offset);
    size_t len = (size_t)(feed - begin);
    lines->begin = lines->seen = offset + (uint64_t)(feed - bytes.at) + 1;
    *ret_line = (struct str){begin, len > 0 && begin[len - 1] == '\r' ? len - 1 : len};
    return true;
}

bool drive_line_is_too_long(const struct drive_lines *lines) {
    return lines->seen > lines->begin && lines->seen - lines->begin > DRIVE_FRAME;
}

/* ---- feeding input ---- */

static void input_drop(struct drive_input *input, uint64_t below) {
    must(below >= input->offset);
    buffer_drop(&input->bytes, (size_t)(below - input->offset));
    input->offset = below;
}

void drive_input(struct drive_input *input, const struct driver *driver, void *state,
                 struct str bytes, uint64_t offset, int64_t now, struct drive_out *out) {
    struct buffer *kept = &input->bytes;
    if (kept->len == 0)
        input->offset = driver->resume_at(state);
    uint64_t end = drive_input_end(input);
    must(offset <= end);
    if (offset + bytes.len <= end)
        return;
    size_t known = (size_t)(end - offset);
    if (!buffer_add(kept, bytes.at + known, bytes.len - known))
        memory_exhausted();
    driver->feed(state, buffer_str(kept), input->offset, now, out);
    input_drop(input, driver->resume_at(state));
}

void drive_input_free(struct drive_input *input) {
    buffer_free(&input->bytes);
    *input = (struct drive_input){0};
}

/* ---- output ---- */

struct drive_event *drive_event_add(struct drive_out *out, enum drive_kind kind, uint64_t offset) {
    if (out->event_count == out->event_room) {
        uint32_t room = out->event_room ? out->event_room * 2 : 8;
        struct drive_event *events = arena_new(out->arena, struct drive_event, room);
        if (out->event_count > 0)
            memcpy(events, out->events, out->event_count * sizeof *events);
        out->events = events;
        out->event_room = room;
    }
    struct drive_event *event = &out->events[out->event_count++];
    *event = (struct drive_event){.kind = kind, .offset = offset};
    return event;
}

/* The buffer doubles, so output added in many small pieces is copied twice at most. */
static char *say_room(struct drive_out *out, size_t more) {
    char *at = (char *)(uintptr_t)out->bytes.at;
    if (out->bytes.len + more < out->room)
        return at;
    size_t room = out->room ? out->room : 64;
    while (room <= out->bytes.len + more)
        room *= 2;
    char *all = arena_new(out->arena, char, room);
    if (out->bytes.len > 0)
        memcpy(all, at, out->bytes.len);
    out->room = room;
    return all;
}

void drive_say(struct drive_out *out, struct str bytes) {
    if (out->most > 0 && bytes.len > out->most - out->bytes.len)
        out->too_much = true;
    if (out->too_much)
        return;
    char *all = say_room(out, bytes.len);
    if (bytes.len > 0)
        memcpy(all + out->bytes.len, bytes.at, bytes.len);
    out->bytes = (struct str){all, out->bytes.len + bytes.len};
}

void drive_resume_set(struct drive_out *out, uint64_t offset) {
    if (!out->too_much)
        return;
    out->bytes = (struct str){0};
    out->room = 0;
    drive_break(out, offset, "it has more open permission requests than can be answered at once");
}

static int piece_say(const char *piece, size_t size, void *with) {
    drive_say(with, (struct str){piece, size});
    return 0;
}

void drive_say_json(struct drive_out *out, json_t *json) {
    int code = json ? json_dump_callback(json, piece_say, out, JSON_COMPACT) : -1;
    json_decref(json);
    if (code != 0)
        memory_exhausted();
    drive_say(out, STR("\n"));
}

/* ---- text ---- */

static const struct str REPLACEMENT = {"\xEF\xBF\xBD", 3}; /* U+FFFD */

/* Copies whole characters, and every other byte as U+FFFD. Returns the length in bytes; `to` may be NULL. */
static size_t text_mend(struct str text, bool nul, char *to) {
    size_t length = 0;
    for (size_t i = 0; i < text.len;) {
        size_t whole = str_character((struct str){text.at + i, text.len - i});
        if (nul && text.at[i] == 0)
            whole = 1;
        struct str piece = whole ? (struct str){text.at + i, whole} : REPLACEMENT;
        if (to)
            memcpy(to + length, piece.at, piece.len);
        length += piece.len;
        i += whole ? whole : 1;
    }
    return length;
}

static void text_make(struct str *text, struct arena *arena) {
    if (str_is_text(*text))
        return;
    char *mended = arena_new(arena, char, text_mend(*text, false, NULL) + 1);
    *text = (struct str){mended, text_mend(*text, false, mended)};
}

void drive_mend(struct drive_out *out) {
    for (uint32_t i = 0; i < out->event_count; i++) {
        if (!out->events[i].raw)
            text_make(&out->events[i].text, out->arena);
        text_make(&out->events[i].detail, out->arena);
        text_make(&out->events[i].session, out->arena);
        text_make(&out->events[i].ask, out->arena);
    }
}

void drive_break(struct drive_out *out, uint64_t offset, const char *format, ...) {
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    drive_event_add(out, DRIVE_BROKEN, offset)->text =
        arena_copy(out->arena, str_cut_utf8(str_of(why), sizeof why));
}

struct str drive_tagged(struct id dispatch, struct str text, struct arena *arena) {
    char id[ID_TEXT + 1];
    id_format(dispatch, id);
    return arena_format(arena, "%.*s\n\n" DRIVE_TAG "%s)", STR_ARG(text), id);
}

bool drive_tag_next(struct str *rest, struct id *ret_dispatch) {
    const struct str tag = STR(DRIVE_TAG);
    while (rest->len > tag.len + ID_TEXT) {
        const char *at = memmem(rest->at, rest->len, tag.at, tag.len);
        if (!at || (size_t)(rest->at + rest->len - at) < tag.len + ID_TEXT)
            return false;
        const char *id = at + tag.len;
        *rest = (struct str){id, (size_t)(rest->at + rest->len - id)};
        if (id_parse((struct str){id, ID_TEXT}, ret_dispatch))
            return true;
    }
    return false;
}

/* ---- JSON ---- */

/* Uses the same kind of memory as jansson (drive_memory.c). */
static struct str text_mended(struct str text, json_malloc_t take) {
    size_t length = text_mend(text, true, NULL);
    char *mended = take(length + 1);
    if (!mended)
        memory_exhausted();
    return (struct str){mended, text_mend(text, true, mended)};
}

static bool is_well_formed(struct str text) {
    return text_mend(text, true, NULL) == text.len;
}

static json_t *json_with(struct str text, json_t *(*make)(struct str text)) {
    json_malloc_t take;
    json_free_t give;
    json_t *json = make(text);
    if (json || is_well_formed(text))
        return json;
    json_get_alloc_funcs(&take, &give);
    struct str mended = text_mended(text, take);
    json = make(mended);
    give((char *)(uintptr_t)mended.at);
    return json;
}

static json_t *json_parsed(struct str line) {
    return json_loadb(line.at, line.len, JSON_ALLOW_NUL, NULL);
}

static json_t *json_text(struct str text) {
    return json_stringn(text.at ? text.at : "", text.len);
}

json_t *drive_json(struct str line) {
    json_t *json = json_with(line, json_parsed);
    must(!seam("drive-json")); /* a fault test breaks an invariant here, while a tree exists */
    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}

json_t *drive_json_str(struct str text) {
    return json_with(text, json_text);
}

json_t *drive_json_at(const json_t *json, const char *path) {
    char name[64];
    while (json && *path) {
        size_t len = strcspn(path, ".");
        must(len < sizeof name);
        memcpy(name, path, len);
        name[len] = 0;
        json = json_object_get(json, name);
        path += len + (path[len] == '.');
    }
    return (json_t *)(uintptr_t)json;
}

struct str drive_json_text(const json_t *json) {
    if (!json_is_string(json))
        return (struct str){"", 0};
    return (struct str){json_string_value(json), json_string_length(json)};
}

uint64_t drive_json_count(const json_t *json) {
    double value = json_number_value(json);
    return value >= 1 && value < 1e18 ? (uint64_t)value : 0;
}

struct str drive_json_dump(const json_t *json, struct arena *arena, size_t most) {
    struct drive_out all = {.arena = arena, .bytes = {"", 0}};
    if (!json || json_dump_callback(json, piece_say, &all, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
        return (struct str){"", 0};
    return all.bytes.len > most ? arena_copy(arena, str_cut_utf8(all.bytes, most)) : all.bytes;
}

/* ---- launch ---- */

void launch_arg(struct drive_launch *launch, struct str arg) {
    if (launch->argc == count_of(launch->argv))
        launch->too_many = true;
    else
        launch->argv[launch->argc++] = arg;
}

bool launch_names(const struct drive_launch *launch, struct str name) {
    for (uint32_t i = 0; i < launch->env_count; i++)
        if (str_equal(launch->env[i].name, name))
            return true;
    return false;
}

void launch_env(struct drive_launch *launch, struct str name, struct str value) {
    if (launch_names(launch, name))
        return; /* the operator's value takes precedence */
    if (launch->env_count == count_of(launch->env))
        launch->too_many = true;
    else
        launch->env[launch->env_count++] = (struct drive_var){name, value};
}

void launch_file(struct drive_launch *launch, struct str path, struct str text) {
    must(launch->file_count < count_of(launch->files));
    launch->files[launch->file_count++] = (struct drive_file){path, text};
}

void launch_begin(const struct drive_spec *spec, struct drive_launch *launch) {
    launch_arg(launch, spec->program);
    for (uint32_t i = 0; i < spec->arg_count; i++)
        launch_arg(launch, spec->args[i]);
    for (uint32_t i = 0; i < spec->env_count; i++)
        launch_env(launch, spec->env[i].name, spec->env[i].value);
}

bool launch_is_whole(const struct drive_launch *launch, struct str *ret_why) {
    bool too_long = false;
    for (uint32_t i = 0; i < launch->argc; i++)
        too_long = too_long || launch->argv[i].len > DRIVE_STRING;
    for (uint32_t i = 0; i < launch->env_count; i++)
        too_long =
            too_long || launch->env[i].name.len + 1 + launch->env[i].value.len > DRIVE_STRING;
    if (launch->too_many)
        *ret_why = STR("it has too many args or keys; see [[agents]] in the configuration");
    else if (too_long)
        *ret_why = STR("an arg, a key or a list of tools is longer than the system takes: 128 KiB");
    return !launch->too_many && !too_long;
}

bool launch_fill(const struct drive_spec *spec, const char *text, struct arena *arena,
                 struct str *ret) {
    const struct {
        const char *name;
        struct str value;
    } PLACES[] = {{"{home}", spec->home},
                  {"{cwd}", spec->cwd},
                  {"{model}", spec->model},
                  {"{thinking}", spec->thinking},
                  {"{base_url}", spec->base_url}};
    struct drive_out filled = {.arena = arena};
    while (*text) {
        size_t plain = *text == '{' ? 1 : strcspn(text, "{");
        for (size_t i = 0; *text == '{' && i < count_of(PLACES); i++)
            if (strncmp(text, PLACES[i].name, strlen(PLACES[i].name)) == 0) {
                if (PLACES[i].value.len == 0)
                    return false;
                drive_say(&filled, PLACES[i].value);
                text += strlen(PLACES[i].name);
                plain = 0;
                break;
            }
        drive_say(&filled, (struct str){text, plain});
        text += plain;
    }
    *ret = filled.bytes;
    return true;
}

bool launch_is_text(const struct drive_spec *spec) {
    bool is = str_is_text(spec->program) && str_is_text(spec->cwd) && str_is_text(spec->home) &&
              str_is_text(spec->session) && str_is_text(spec->mcp.url) &&
              str_is_text(spec->mcp.token) && str_is_text(spec->model);
    for (uint32_t i = 0; i < spec->mcp.argc; i++)
        is = is && str_is_text(spec->mcp.argv[i]);
    for (uint32_t i = 0; i < spec->allow_count; i++)
        is = is && str_is_text(spec->allow[i]);
    for (uint32_t i = 0; i < spec->deny_count; i++)
        is = is && str_is_text(spec->deny[i]);
    return is;
}

bool drive_keep(char *to, size_t size, struct str text) {
    if (text.len >= size || memchr(text.at ? text.at : "", 0, text.len))
        return false;
    memset(to, 0, size);
    if (text.len > 0)
        memcpy(to, text.at, text.len);
    return true;
}
