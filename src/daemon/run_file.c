/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a run's folder, so that it is gone on with after a restart? run.json says what it is, drive.state how far
 * it was read and what its driver knew then. */
#include "daemon/clock.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/run.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- what it is ---- */

static json_t *texts_json(const struct str *list, uint32_t count) {
    json_t *json = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(json, json_stringn(list[i].at, list[i].len));
    return json;
}

static const struct str *texts_of(const json_t *json, struct arena *arena, uint32_t *ret_count) {
    size_t count = json_array_size(json);
    struct str *list = arena_new(arena, struct str, count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = arena_copy(arena, str_of(json_string_value(json_array_get(json, i))));
    *ret_count = (uint32_t)count;
    return list;
}

/* ASSIGN-19, SCOPE-04: what it began with, whatever the settings say by now. */
static void scope_take(struct running *run, const json_t *json) {
    struct drive_spec *spec = &run->spec;
    const json_t *allow = json_object_get(json, "allow"), *deny = json_object_get(json, "deny");
    const char *model = json_string_value(json_object_get(json, "model"));
    const char *thinking = json_string_value(json_object_get(json, "thinking"));
    if (!json_is_array(deny))
        return;
    spec->model = model ? arena_copy(&run->arena, str_of(model)) : spec->model;
    spec->thinking = thinking ? arena_copy(&run->arena, str_of(thinking)) : spec->thinking;
    spec->allow_given = json_is_array(allow);
    spec->allow = texts_of(allow, &run->arena, &spec->allow_count);
    spec->deny = texts_of(deny, &run->arena, &spec->deny_count);
}

bool run_file_write(const struct running *run) {
    char goal[ID_TEXT + 1];
    id_format(run->goal, goal);
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "goal", goal, "number",
                  (int)run->number, "charge", (int)run->charge, "node", run->node, "agent",
                  run->agent, "driver", run->driver->name, "session", run->session, "cwd", run->cwd,
                  "token", run->token, "fence", (json_int_t)run->fence);
    const struct drive_spec *spec = &run->spec;
    if (spec->allow_given)
        json_object_set_new(json, "allow", texts_json(spec->allow, spec->allow_count));
    json_object_set_new(json, "deny", texts_json(spec->deny, spec->deny_count));
    json_object_set_new(json, "model", json_stringn(spec->model.at, spec->model.len));
    json_object_set_new(json, "thinking", json_stringn(spec->thinking.at, spec->thinking.len));
    json_object_set_new(json, "group", json_string(run->group));
    json_object_set_new(json, "limits", json_string(run->limits));
    json_object_set_new(json, "orphanAfter", json_integer((json_int_t)run->orphan_after));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    bool kept = text && file_replace(run->dir, "run.json", text, strlen(text), true);
    free(text);
    json_decref(json);
    return kept;
}

void run_file_close(const struct running *run) {
    char from[RUN_PATH + 16], to[RUN_PATH + 16];
    snprintf(from, sizeof from, "%s/run.json", run->dir);
    snprintf(to, sizeof to, "%s/run.over", run->dir);
    if (rename(from, to) != 0 && errno != ENOENT)
        log_warning("%s cannot be put away: %s", from, strerror(errno));
}

static void text_take(char *to, size_t size, const json_t *json, const char *name) {
    const char *text = json_string_value(json_object_get(json, name));
    snprintf(to, size, "%s", text ? text : "");
}

static struct running *run_of_json(struct runs *runs, struct id id, const json_t *json) {
    struct effect effect = {.charge =
                                (uint32_t)json_integer_value(json_object_get(json, "charge"))};
    const char *goal = json_string_value(json_object_get(json, "goal"));
    const char *driver = json_string_value(json_object_get(json, "driver"));
    const struct driver *known = driver ? driver_named(str_of(driver)) : NULL;
    if (!goal || !id_parse(str_of(goal), &effect.goal) || !known)
        return NULL;
    struct running *run = run_make(runs, &effect, id);
    if (!run)
        return NULL;
    text_take(run->node, sizeof run->node, json, "node");
    text_take(run->agent, sizeof run->agent, json, "agent");
    text_take(run->session, sizeof run->session, json, "session");
    text_take(run->cwd, sizeof run->cwd, json, "cwd");
    text_take(run->token, sizeof run->token, json, "token");
    text_take(run->group, sizeof run->group, json, "group");
    text_take(run->limits, sizeof run->limits, json, "limits");
    run->number = (uint32_t)json_integer_value(json_object_get(json, "number"));
    run->fence = (uint64_t)json_integer_value(json_object_get(json, "fence"));
    run->orphan_after = json_integer_value(json_object_get(json, "orphanAfter"));
    run->driver = known;
    run->state = calloc(1, known->size);
    return run;
}

struct running *run_file_read(struct runs *runs, const char *name) {
    char path[RUN_PATH + 300];
    struct id id;
    struct str why = STR("");
    snprintf(path, sizeof path, "%s/runs/%.200s/run.json", runs->state, name);
    json_t *json = id_parse(str_of(name), &id) ? json_load_file(path, 0, NULL) : NULL;
    if (!json)
        return NULL;
    struct running *run = run_of_json(runs, id, json);
    if (run && !run->state) {
        run_free(run);
        run = NULL;
    }
    if (run) {
        if (!run_prepare(run, &why)) /* it runs: nothing has to be found to go on with it */
            log_warning("the run %s of %s goes on as it began: %.*s", name, run->agent,
                        STR_ARG(why));
        run->known = run->spec.quirk.len > 0;
        scope_take(run, json);
        run_token_lend(run);
    }
    json_decref(json);
    return run;
}

/* ---- how far it was read ---- */

struct saved_head {
    uint32_t magic, size;
    uint64_t offset;
    uint32_t writes, begun;
    struct id dispatch;
    uint32_t dispatch_n, exited;
    int64_t exit;
    struct run_asks asks;
};
enum { SAVED_MAGIC = 0x4f565332 };

/* Behind the driver's state: u32 magic, 16 bytes id of the newest answer, u8 broken, u32 length of why, why; then the outbox.
 * A file of the previous build ends with the driver's state. Little-endian. */
enum { TAIL_MAGIC = 0x4f565431, TAIL_HEAD = 4 + sizeof(struct id) + 1 + 4 };

static size_t tail_size(const struct running *run) {
    return TAIL_HEAD + strlen(run->broken_why) + outbox_size(run);
}

static char *tail_put(const struct running *run, char *to) {
    size_t why = strlen(run->broken_why);
    to = number_put32(to, TAIL_MAGIC);
    memcpy(to, run->answered.bytes, sizeof run->answered.bytes);
    to[sizeof run->answered.bytes] = run->broken;
    to = number_put32(to + sizeof run->answered.bytes + 1, (uint32_t)why);
    memcpy(to, run->broken_why, why);
    return outbox_put(run, to + why);
}

static bool tail_take(struct running *run, struct str bytes) {
    if (bytes.len == 0)
        return true;
    if (bytes.len < TAIL_HEAD || number_get32(bytes.at) != TAIL_MAGIC)
        return false;
    const char *at = bytes.at + 4;
    memcpy(run->answered.bytes, at, sizeof run->answered.bytes);
    run->broken = at[sizeof run->answered.bytes] != 0;
    size_t why = number_get32(at + sizeof run->answered.bytes + 1);
    struct str rest = {bytes.at + TAIL_HEAD, bytes.len - TAIL_HEAD};
    if (why > rest.len || why >= sizeof run->broken_why)
        return false;
    memcpy(run->broken_why, rest.at, why);
    return outbox_load(run, (struct str){rest.at + why, rest.len - why});
}

static void saved_write(struct running *run) {
    const struct saved_head *head = run->saved;
    run->save_pending = !file_replace(run->dir, "drive.state", run->saved, run->saved_size, false);
    if (run->save_pending) {
        log_error("the state of a run of %s cannot be written, and is tried again: %s", run->agent,
                  strerror(errno));
        run->save_at = clock_steady() + SECONDS(1);
        run_due(run);
        return;
    }
    if (run->held) {
        held_ack(run->held, head->offset);
        if (run->ended && run->stop && !held_collect(run->held))
            log_warning("the hold of a run of %s cannot be collected", run->agent);
    } /* a hold is collected when all that it said is safe, not before */
    outbox_saved(run, run->saved_serial);
}

/* What a broken driver has read is not read again. */
static uint64_t saved_offset(const struct running *run) {
    if (run->ended)
        return run->end;
    return run->broken ? run->pour.offset + run->pour.len : run->driver->resume_at(run->state);
}

static bool saved_room(struct running *run) {
    size_t size = sizeof(struct saved_head) + run->driver->size + tail_size(run);
    char *saved = realloc(run->saved, size);
    if (saved) {
        run->saved = saved;
        run->saved_size = size;
    }
    return saved != NULL;
}

static void saved_fill(struct running *run) {
    struct saved_head head = {.magic = SAVED_MAGIC,
                              .size = (uint32_t)run->driver->size,
                              .offset = saved_offset(run),
                              .writes = run->writes,
                              .begun = run->begun,
                              .dispatch = run->dispatch,
                              .dispatch_n = run->dispatch_n,
                              .exited = run->exited,
                              .exit = run->exit,
                              .asks = run->asks};
    memcpy(run->saved, &head, sizeof head);
    memcpy((char *)run->saved + sizeof head, run->state, run->driver->size);
    tail_put(run, (char *)run->saved + sizeof head + run->driver->size);
    run->saved_serial = run->outbox.made;
    run->saved_needs = run->offered;
    run->save_pending = true;
}

/* What only moved the offset on is read again after a crash, to the same end: a file for each word would cost more than the
 * word. */
bool run_save_soon(struct running *run) {
    int64_t now = clock_steady(), at = run->saved_at + MILLISECONDS(RUN_SAVE_MS);
    if (now >= at) {
        run_save(run);
        return true;
    }
    if (run->save_at == 0)
        run->save_at = at;
    return false;
}

/* One state waits at a time: what comes meanwhile is saved with the next. */
void run_save(struct running *run) {
    if (run->save_pending && run->kept >= run->saved_needs)
        saved_write(run);
    if (run->save_pending || run->unsaid || !run->begun)
        return;
    if (!saved_room(run)) {
        run->save_at = clock_steady() + SECONDS(1);
        run_due(run);
        return;
    }
    run->saved_at = clock_steady();
    run->save_at = 0;
    saved_fill(run);
    if (run->kept >= run->saved_needs)
        saved_write(run);
}

/* What stands behind the driver's state; the whole file has at most what an outbox may have, and a little. */
static bool tail_read(struct running *run, int fd) {
    size_t most = (size_t)RUN_OUTBOX_BYTES + (64 << 10), length = 0;
    char *bytes = malloc(most);
    ssize_t got = bytes ? 1 : -1;
    while (got > 0 && length < most) {
        got = read(fd, bytes + length, most - length);
        length += got > 0 ? (size_t)got : 0;
    }
    bool whole = got == 0 && tail_take(run, (struct str){bytes, length});
    free(bytes);
    return whole;
}

/* No state: it is read from the beginning, as a run that has not begun. */
bool run_load(struct running *run, uint64_t *ret_offset) {
    char path[RUN_PATH + 16];
    struct saved_head head;
    *ret_offset = 0;
    snprintf(path, sizeof path, "%s/drive.state", run->dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool whole = read(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                 head.magic == SAVED_MAGIC && head.size == run->driver->size &&
                 read(fd, run->state, run->driver->size) == (ssize_t)run->driver->size &&
                 tail_read(run, fd);
    close(fd);
    if (!whole) {
        outbox_clear(run);
        return false;
    }
    *ret_offset = run->pour.offset = head.offset;
    run->writes = head.writes;
    run->begun = head.begun;
    run->dispatch = head.dispatch;
    run->dispatch_n = head.dispatch_n;
    run->exit = head.exit;
    run->asks = head.asks;
    return !run->broken;
}
