/* SPDX-License-Identifier: Apache-2.0 */
/* Stores in a run's folder what is needed to resume it after a restart. run.json says what the run is, drive.state how
 * far its output was read and the driver's state at that point. */
#include "base/memory.h"
#include "drivers/drive.h"
#include "engine/status_files.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/file_replace.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what the run is ---- */

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

/* ASSIGN-19, SCOPE-04: takes what the run started with, whatever the settings say now. */
static void scope_take(struct run *run, const json_t *json) {
    struct drive_spec *spec = &run->spec;
    const json_t *allow = json_object_get(json, "allow"), *deny = json_object_get(json, "deny");
    const char *model = json_string_value(json_object_get(json, "model"));
    const char *thinking = json_string_value(json_object_get(json, "thinking"));
    spec->person = !json_is_false(json_object_get(json, "asks"));
    if (!json_is_array(deny))
        return;
    spec->model = model ? arena_copy(&run->arena, str_of(model)) : spec->model;
    spec->thinking = thinking ? arena_copy(&run->arena, str_of(thinking)) : spec->thinking;
    spec->allow_given = json_is_array(allow);
    spec->allow = texts_of(allow, &run->arena, &spec->allow_count);
    spec->deny = texts_of(deny, &run->arena, &spec->deny_count);
}

bool run_file_write(const struct run *run) {
    char goal[ID_TEXT + 1];
    id_format(run->goal, goal);
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "goal", goal, "number",
                  (int)run->number, "charge", (int)run->assignment, "node", run->node, "agent",
                  run->agent, "driver", run->driver->name, "session", run->session, "cwd", run->cwd,
                  "token", run->token, "fence", (json_int_t)run->fence);
    const struct drive_spec *spec = &run->spec;
    if (spec->allow_given)
        json_object_set_new(json, "allow", texts_json(spec->allow, spec->allow_count));
    json_object_set_new(json, "deny", texts_json(spec->deny, spec->deny_count));
    json_object_set_new(json, "model", json_stringn(spec->model.at, spec->model.len));
    json_object_set_new(json, "thinking", json_stringn(spec->thinking.at, spec->thinking.len));
    json_object_set_new(json, "asks", json_boolean(spec->person));
    json_object_set_new(json, "group", json_string(run->group));
    json_object_set_new(json, "limits", json_string(run->limits));
    json_object_set_new(json, "orphanAfter", json_integer((json_int_t)run->orphan_after));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    bool kept = text && file_replace(run->dir, "run.json", text, strlen(text), true);
    free(text);
    json_decref(json);
    return kept;
}

void run_file_close(const struct run *run) {
    char from[RUN_PATH + 16], to[RUN_PATH + 16];
    snprintf(from, sizeof from, "%s/run.json", run->dir);
    snprintf(to, sizeof to, "%s/run.over", run->dir);
    if (rename(from, to) != 0 && errno != ENOENT)
        log_run(LEVEL_WARNING, run, "%s cannot be renamed: %s", from, strerror(errno));
    else if (!run_output_drop(run->dir))
        log_run(LEVEL_WARNING, run, "raw output in %s cannot be removed: %s", run->dir,
                strerror(errno));
}

static void text_take(char *to, size_t size, const json_t *json, const char *name) {
    const char *text = json_string_value(json_object_get(json, name));
    snprintf(to, size, "%s", text ? text : "");
}

static struct run *run_of_json(struct run_table *runs, struct id id, const json_t *json) {
    struct effect effect = {.assignment =
                                (uint32_t)json_integer_value(json_object_get(json, "charge"))};
    const char *goal = json_string_value(json_object_get(json, "goal"));
    const char *driver = json_string_value(json_object_get(json, "driver"));
    const struct driver *known = driver ? driver_named(str_of(driver)) : NULL;
    if (!goal || !id_parse(str_of(goal), &effect.goal) || !known)
        return NULL;
    struct run *run = run_make(runs, &effect, id);
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
    run->state = memory_new(known->size);
    return run;
}

struct run *run_file_read(struct run_table *runs, const char *name) {
    char path[RUN_PATH + 300];
    struct id id;
    struct str why = STR("");
    snprintf(path, sizeof path, "%s/runs/%.200s/run.json", runs->state, name);
    json_t *json = id_parse(str_of(name), &id) ? json_load_file(path, 0, NULL) : NULL;
    if (!json)
        return NULL;
    struct run *run = run_of_json(runs, id, json);
    if (run) {
        if (!run_prepare(run,
                         &why)) /* it is already running: it can be resumed even if this fails */
            log_run(LEVEL_WARNING, run, "agent %s keeps the settings that it started with: %.*s",
                    run->agent, STR_ARG(why));
        run->known = run->spec.quirk.len > 0;
        scope_take(run, json);
        run_token_lend(run);
    }
    json_decref(json);
    return run;
}

/* ---- how far it was read ---- */

static const struct field ASK_ROWS[] = {
    STATE_ROW(FIELD_UINT, run_ask, offset, 1),
    STATE_CHARS(run_ask, id, 2),
    STATE_CHARS(run_ask, text, 3),
};
static const struct shape ASK = SHAPE_OF(run_ask, "ask", 1, ASK_ROWS);

struct saved_words { /* FIELD_FILLED */
    uint32_t len;
    char at[RUN_WORDS];
};

/* drive.state, stored in slots (slots.c). */
struct saved {
    uint64_t offset; /* from which its output is read again */
    uint32_t writes, dispatch_n, ask_count;
    bool begun, broken;
    struct id dispatch, answered;
    int64_t exit;
    struct run_ask asks[DRIVE_ASKS];
    char broken_why[RUN_BROKEN_WHY];
    struct saved_words words; /* of the incomplete line */
    uint64_t word_offset;
    bool in_key, skips_word;
    struct run_lines lines_before;
    struct str quirk; /* row in the driver's table: which program the agent is */
    struct str state; /* of the driver, encoded by its own shape */
    struct str outbox;
};

#define SAVED_BYTES(member_, n, most_) \
    { \
        .name = #member_, .type = FIELD_BYTES, .number = (n), .offset = FIELD_OF(saved, member_), \
        .cap = (most_) \
    }
static const struct field SAVED_ROWS[] = {
    STATE_ROW(FIELD_UINT, saved, offset, 1),
    STATE_ROW(FIELD_U32, saved, writes, 2),
    STATE_ROW(FIELD_U32, saved, dispatch_n, 3),
    STATE_ENUM(saved, ask_count, 4, DRIVE_ASKS + 1),
    STATE_ROW(FIELD_BOOL, saved, begun, 5),
    STATE_ROW(FIELD_BOOL, saved, broken, 6),
    STATE_ROW(FIELD_ID, saved, dispatch, 7),
    STATE_ROW(FIELD_ID, saved, answered, 8),
    STATE_ROW(FIELD_INT, saved, exit, 9),
    STATE_LIST(saved, asks, 10, ASK),
    STATE_CHARS(saved, broken_why, 11),
    STATE_FILLED(saved, words, 12),
    STATE_ROW(FIELD_UINT, saved, word_offset, 13),
    SAVED_BYTES(quirk, 14, 256),
    SAVED_BYTES(state, 15, 1 << 20),
    SAVED_BYTES(outbox, 16, 8 << 20),
    STATE_ROW(FIELD_BOOL, saved, in_key, 17),
    STATE_ROW(FIELD_BOOL, saved, skips_word, 18),
    STATE_FILLED(saved, lines_before, 19),
};
static const struct shape SAVED = SHAPE_OF(saved, "run", 1, SAVED_ROWS);
#define SAVED_FILE "drive.state"

static void saved_write(struct run *run) {
    run->save_pending = !slots_write(&run->slots, run->dir, SAVED_FILE, run->saved);
    if (run->save_pending) {
        log_run(LEVEL_ERROR, run, "the state of agent %s cannot be written: %s; trying again",
                run->agent, strerror(errno));
        run->save_at = clock_steady() + SECONDS(1);
        run_due(run);
        return;
    }
    run->saved_upto = run->saved_offset;
    arena_free(&run->saved_arena);
    if (run->held) {
        held_ack(run->held, run->saved_offset);
        if (run->ended && run->stop && !held_collect(run->held))
            log_run(LEVEL_WARNING, run, "the hold of agent %s cannot be collected", run->agent);
    } /* a hold is collected only when all of its output is durable */
    outbox_saved(run, run->saved_serial);
}

/* Output that a broken driver has read is not read again. */
static uint64_t read_again_at(const struct run *run) {
    if (run->ended)
        return run->end;
    return run->broken ? drive_input_end(&run->input) : run->driver->resume_at(run->state);
}

static struct str outbox_bytes(const struct run *run, struct arena *arena) {
    if (run->outbox.count == 0)
        return STR("");
    char *at = arena_new(arena, char, outbox_size(run));
    outbox_put(run, at);
    return (struct str){at, outbox_size(run)};
}

/* The state of a broken driver may be inconsistent. */
static void saved_fill(struct run *run) {
    struct arena *arena = &run->saved_arena;
    bool settled = run->spec.quirk.len > 0;
    arena_free(arena);
    struct saved *saved = arena_new(arena, struct saved, 1);
    *saved = (struct saved){
        .offset = read_again_at(run),
        .writes = run->writes,
        .dispatch_n = run->dispatch_n,
        .ask_count = run->asks.count,
        .begun = run->begun,
        .broken = run->broken,
        .dispatch = run->dispatch,
        .answered = run->answered,
        .exit = run->exit,
        .words.len = (uint32_t)run->word_count,
        .word_offset = run->word_offset,
        .in_key = run->in_key,
        .skips_word = run->skips_word,
        .lines_before = run->lines_before,
        .quirk = settled ? run->spec.quirk : run->quirk_saved,
        .state = run->broken ? STR("") : shape_encode(run->driver->shape, run->state, arena),
        .outbox = outbox_bytes(run, arena),
    };
    memcpy(saved->asks, run->asks.at, run->asks.count * sizeof saved->asks[0]);
    memcpy(saved->broken_why, run->broken_why, sizeof saved->broken_why);
    memcpy(saved->words.at, run->words, run->word_count);
    run->saved = shape_encode(&SAVED, saved, arena);
    run->saved_offset = saved->offset;
    run->saved_serial = run->outbox.made;
    run->saved_needs = run->offered;
    run->save_pending = true;
}

/* Output that decided nothing is read again after a crash, with the same result: saving a file for each word would cost
 * more than reading it again. */
void run_save_soon(struct run *run) {
    int64_t now = clock_steady(), at = run->saved_at + SECONDS(RUN_SAVE_SECONDS);
    bool much = read_again_at(run) >= run->saved_upto + RUN_SAVE_BYTES;
    if (now >= at || (much && !run->save_pending))
        run_save(run);
    else if (run->save_at == 0)
        run->save_at = at;
}

/* Only one state waits to be written: later changes are saved with the next one. */
void run_save(struct run *run) {
    if (run->save_pending && run->kept >= run->saved_needs)
        saved_write(run);
    if (run->save_pending || run->report_lost || !run->begun)
        return;
    run->saved_at = clock_steady();
    run->save_at = 0;
    saved_fill(run);
    if (run->kept >= run->saved_needs)
        saved_write(run);
}

/* ---- files of version 2: the bytes of two structs, and behind them the outbox ----
 * u32 magic, 16 bytes id of the newest answer, u8 broken, u32 length of why, why; then the outbox. A file of the build before that
 * ends with the driver's state. Little-endian. */

struct raw_head {
    uint32_t magic, size;
    uint64_t offset;
    uint32_t writes, begun;
    struct id dispatch;
    uint32_t dispatch_n, exited;
    int64_t exit;
    struct run_asks asks;
};
enum { RAW_MAGIC = 0x4f565332, TAIL_MAGIC = 0x4f565431, TAIL_HEAD = 4 + sizeof(struct id) + 1 + 4 };

static bool raw_tail(struct str bytes, struct saved *saved) {
    if (bytes.len == 0)
        return true;
    if (bytes.len < TAIL_HEAD || le_get(bytes.at, 4) != TAIL_MAGIC)
        return false;
    const char *at = bytes.at + 4;
    memcpy(saved->answered.bytes, at, sizeof saved->answered.bytes);
    saved->broken = at[sizeof saved->answered.bytes] != 0;
    size_t why = le_get(at + sizeof saved->answered.bytes + 1, 4);
    struct str rest = {bytes.at + TAIL_HEAD, bytes.len - TAIL_HEAD};
    if (why > rest.len || why >= sizeof saved->broken_why)
        return false;
    memcpy(saved->broken_why, rest.at, why);
    saved->outbox = (struct str){rest.at + why, rest.len - why};
    return true;
}

static bool raw_decode(struct run *run, struct str bytes, struct saved *saved) {
    struct raw_head head;
    size_t size = run->driver->raw_size;
    if (bytes.len < sizeof head + size || size > run->driver->size)
        return false;
    memcpy(&head, bytes.at, sizeof head);
    if (head.magic != RAW_MAGIC || head.size != size || head.asks.count > DRIVE_ASKS)
        return false;
    *saved = (struct saved){.offset = head.offset,
                            .writes = head.writes,
                            .dispatch_n = head.dispatch_n,
                            .ask_count = head.asks.count,
                            .begun = head.begun != 0,
                            .dispatch = head.dispatch,
                            .exit = head.exit};
    memcpy(saved->asks, head.asks.at, sizeof saved->asks);
    memcpy(run->state, bytes.at + sizeof head, size);
    return raw_tail((struct str){bytes.at + sizeof head + size, bytes.len - sizeof head - size},
                    saved);
}

/* ---- reading ---- */

static bool saved_decode(struct run *run, struct str bytes, struct arena *arena,
                         struct saved *saved) {
    const struct driver *driver = run->driver;
    if (!shape_decode_in(&SAVED, bytes, arena, saved) || saved->words.len > RUN_WORDS)
        return false;
    if (saved->broken)
        return true;
    run->quirk_saved = arena_copy(&run->arena, saved->quirk);
    struct str quirk = run->spec.quirk.len > 0 ? run->spec.quirk : run->quirk_saved;
    return shape_decode_in(driver->shape, saved->state, arena, run->state) &&
           (!driver->quirk_set || !saved->begun || driver->quirk_set(run->state, quirk));
}

static void saved_take(struct run *run, const struct saved *saved) {
    run->input.offset = run->saved_upto = saved->offset;
    run->writes = saved->writes;
    run->begun = saved->begun;
    run->dispatch = saved->dispatch;
    run->dispatch_n = saved->dispatch_n;
    run->exit = saved->exit;
    run->answered = saved->answered;
    run->broken = saved->broken;
    memcpy(run->broken_why, saved->broken_why, sizeof run->broken_why);
    memcpy(run->asks.at, saved->asks, sizeof run->asks.at);
    run->asks.count = saved->ask_count;
    memcpy(run->words, saved->words.at, saved->words.len);
    run->word_count = saved->words.len;
    run->word_offset = saved->word_offset;
    run->in_key = saved->in_key;
    run->skips_word = saved->skips_word;
    run->lines_before = saved->lines_before;
}

static bool state_load(struct run *run, struct arena *arena) {
    struct str bytes;
    struct saved *saved = arena_new(arena, struct saved, 1);
    enum slots_found found = slots_read(&run->slots, run->dir, SAVED_FILE, arena, &bytes);
    if (found == SLOTS_NONE) /* read from the beginning, like a run that has not started */
        return true;
    bool known = found == SLOTS_WHOLE ? saved_decode(run, bytes, arena, saved)
                                      : raw_decode(run, bytes, saved);
    if (!known || (saved->outbox.len > 0 && !outbox_load(run, saved->outbox))) {
        outbox_clear(run);
        return false;
    }
    saved_take(run, saved);
    return !run->broken;
}

bool run_load(struct run *run, uint64_t *ret_offset) {
    struct arena arena = {0};
    bool known = state_load(run, &arena);
    *ret_offset = run->input.offset;
    arena_free(&arena);
    return known;
}

/* ---- signals that have to be durable before the state that follows them is saved ---- */

struct kept { /* a signal on its way; posted back to the loop when it is durable */
    struct loop_answer answer;
    struct id run;
};

static void kept_home(struct loop_task *task) {
    struct kept *kept = (struct kept *)(void *)task;
    struct run_table *runs = kept->answer.runs;
    struct input *input = kept->answer.input;
    struct run *run = map_get(&runs->all, kept->run);
    bool lost = ERRORS[input->error].class == CLASS_TRANSIENT || input->error == ERROR_SAFE_MODE;
    bool again = lost && input->error != ERROR_SAFE_MODE && !runs->stopping;
    input->error = again ? ERROR_NONE : input->error;
    if (again && queue_put(&runs->executor->ledger_thread->queue, input))
        return;
    if (run &&
        lost) { /* the hold still has that output: a state that includes it must not be saved */
        run->report_lost = true;
        run->save_pending = false;
    } else if (run) {
        run->kept++;
        run_save(run);
        run_seen_keep(run);
    }
    input_free(input);
    free(kept);
}

struct id run_write_name(const struct run *run, struct str name) {
    return id_derive((struct str){(const char *)run->id.bytes, sizeof run->id.bytes}, name);
}

static void signal_fill(const struct run *run, struct signal *signal, uint64_t offset,
                        struct str what) {
    char name[96];
    snprintf(name, sizeof name, "%.*s %llu", STR_ARG(str_cut(what, 64)),
             (unsigned long long)offset);
    signal->source = run_write_name(run, str_of(name));
    signal->once.keyed = 1;
    signal->goal = signal->admission ? admission_id(signal->admission) : run->goal;
    signal->at = clock_wall();
    signal->sender.actor = STR("overseer");
    signal->sender.by = WHO_OVERSEER;
    signal->about.assignment = run->assignment + 1;
    signal->about.run = run->number;
}

/* A signal that cannot be kept is read again after a restart: until then the state is not saved any more. */
void run_offer(struct run *run, struct signal *signal, uint64_t offset, struct str what) {
    struct kept *kept = calloc(1, sizeof *kept);
    signal_fill(run, signal, offset, what);
    struct input *input = kept ? input_make(signal, kept) : NULL;
    if (input) {
        *kept = (struct kept){{{NULL, kept_home}, run->runs, input}, run->id};
        input->done = loop_answer_post;
        input->must_fit = true;
        run->offered++;
        if (queue_put(&run->runs->executor->ledger_thread->queue, input))
            return;
        run->offered--;
    }
    input_free(input);
    free(kept);
    run->report_lost = true;
    log_run(LEVEL_ERROR, run,
            "out of memory for output of agent %s; it is read again after a restart", run->agent);
}
