/* SPDX-License-Identifier: Apache-2.0 */
/* What do all drivers share? Lines out of a stream, events into a list, and what is kept of a turn. */
#pragma once

#include "ports/driver.h"

#include <jansson.h>

/* ---- saved state ---- */

/* Rows of the structs that several drivers have in their states. A number is never given to another member. */
extern const struct shape DRIVE_LINES_SHAPE, DRIVE_TURN_SHAPE, DRIVE_NUMBER_SHAPE, DRIVE_ID_SHAPE;

#define STATE_ROW(kind, struct_type, member, n) \
    { .name = #member, .type = (kind), .number = (n), .offset = FIELD_OF(struct_type, member) }
#define STATE_CHARS(struct_type, member, n) \
    { \
        .name = #member, .type = FIELD_CHARS, .number = (n), \
        .offset = FIELD_OF(struct_type, member), .cap = sizeof((struct struct_type *)0)->member \
    }
#define STATE_ENUM(struct_type, member, n, values) \
    { \
        .name = #member, .type = FIELD_U32, .number = (n), \
        .offset = FIELD_OF(struct_type, member), .most = (values) \
    }
#define STATE_FILLED(struct_type, member, n) /* {uint32_t len; char at[]} */ \
    { \
        .name = #member, .type = FIELD_FILLED, .number = (n), \
        .offset = FIELD_OF(struct_type, member), .cap = sizeof((struct struct_type *)0)->member.at \
    }
#define STATE_PART(struct_type, member, n, part) \
    { \
        .name = #member, .type = FIELD_PLACES, .number = (n), \
        .offset = FIELD_OF(struct_type, member), .most = 1, .of = &(part) \
    }
#define STATE_LIST(struct_type, member, n, part) \
    { \
        .name = #member, .type = FIELD_PLACES, .number = (n), \
        .offset = FIELD_OF(struct_type, member), .of = &(part), \
        .most = count_of(((struct struct_type *)0)->member) \
    }

/* ---- lines ---- */

/* Plain data, without a byte of the line that is not whole yet. */
struct drive_lines {
    uint64_t begin; /* of the line that is not whole yet */
    uint64_t seen;  /* up to here there is no line feed */
};

/* The next whole line, without its end. `bytes` begin at `offset`, at or before the line that is not whole. */
bool drive_line(struct drive_lines *lines, struct str bytes, uint64_t offset, struct str *ret_line);
bool drive_line_is_too_long(const struct drive_lines *lines);

/* ---- what is kept of a turn, whoever drives ---- */

enum { DRIVE_TOOL_NAME = 64 }; /* bytes of a tool's name that are kept while it is open */

struct drive_words { /* the newest of them; FIELD_FILLED */
    uint32_t len;
    char at[DRIVE_WORDS];
};

void drive_words_add(struct drive_words *words, struct str text);

struct drive_tool {
    uint64_t key; /* of its id */
    int64_t since;
    char name[DRIVE_TOOL_NAME];
    bool named; /* by the agent itself: it is no title */
};

struct drive_turn {
    struct id dispatch; /* the newest */
    bool open, accepted, interrupted;
    uint32_t tool_count;
    struct drive_tool tools[DRIVE_TOOLS];
    int64_t active_at, chatter_at, limited_until, asked_at, stop_by;
    uint64_t tokens, cost;
    uint32_t context;
    uint32_t ends; /* turns that are over */
    struct drive_words words;
};

/* A prompt goes out: nothing of the turn before is left. */
void turn_begin(struct drive_turn *turn, struct id dispatch, int64_t now);

/* The first sign that it arrived gives a receipt. */
void turn_accept(struct drive_turn *turn, uint64_t offset, struct drive_out *out);

void turn_words(struct drive_turn *turn, struct str text, int64_t now, uint64_t offset,
                struct drive_out *out);
void turn_chatter(struct drive_turn *turn, int64_t now, uint64_t offset, struct drive_out *out);
void turn_tool_begin(struct drive_turn *turn, struct str id, struct str name, int64_t now,
                     uint64_t offset, struct drive_out *out);
void turn_tool_end(struct drive_turn *turn, struct str id, int64_t now, uint64_t offset,
                   struct drive_out *out);
/* What an open call was begun as; empty: not known. */
struct str turn_tool_name(const struct drive_turn *turn, struct str id);
void turn_tool_is_named(struct drive_turn *turn, struct str id);
bool turn_tool_named(const struct drive_turn *turn, struct str id);
void turn_usage(struct drive_turn *turn, uint64_t offset, struct drive_out *out);
struct str turn_said(const struct drive_turn *turn);

/* It is over. One of the three, and the calls of tools that were open end with it. An error that speaks of a limit is
 * one: FAIL-19. */
void turn_end(struct drive_turn *turn, enum drive_reason reason, uint64_t offset,
              struct drive_out *out);
void turn_fail(struct drive_turn *turn, struct str why, int64_t now, uint64_t offset,
               struct drive_out *out);
void turn_limit(struct drive_turn *turn, struct str why, int64_t until, uint64_t offset,
                struct drive_out *out);

void turn_see(const struct drive_turn *turn, struct sighting *ret);

/* Of a dispatch in this process: sent and answered, sent and not yet, never sent. */
enum sure turn_delivered(const struct drive_turn *turn, struct id dispatch);

/* ---- limits ---- */

/* FAIL-19: do these words speak of an account that is at its limit? Until when; 0: they do not say. */
bool drive_limit_read(struct str text, int64_t now, int64_t *ret_until);

bool drive_has(struct str text, const char *part); /* whatever the case of its letters */

/* ---- out ---- */

struct drive_event *drive_event_add(struct drive_out *out, enum drive_kind kind, uint64_t offset);
void drive_say(struct drive_out *out, struct str bytes);
void drive_say_json(struct drive_out *out, json_t *json); /* one line; takes the reference */

/* Everything is said. Whoever asks for more than can be answered at once does not speak as agreed: it is broken off, and
 * gets nothing. */
void drive_said(struct drive_out *out, uint64_t offset);
void drive_break(struct drive_out *out, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The prompt with the line that names its dispatch; and the ids in a text that has such lines. */
struct str drive_tagged(struct id dispatch, struct str text, struct arena *arena);
bool drive_tag_next(struct str *rest, struct id *ret_dispatch);

/* An id as agents want theirs: a UUID of version 4. */
enum { DRIVE_UUID = 36 };
void drive_uuid(struct id id, char text[DRIVE_UUID + 1]);

/* Makes text of everything that an event says: what is no UTF-8 becomes U+FFFD. */
void drive_mend(struct drive_out *out);

/* ---- JSON ---- */

/* Bytes that are no UTF-8 count as U+FFFD: a bad byte costs its character and not the line. */
json_t *drive_json(struct str line); /* NULL: it is no object */
json_t *drive_json_str(struct str text);

/* The newest line of many that are alike. What is returned stands until the next one; the lines stand as long as this. */
struct drive_alike {
    struct str line;
    json_t *frame, *words;
    size_t front, back; /* bytes before and behind the words */
};
const json_t *drive_json_alike(struct drive_alike *alike, struct str line, const char *path);
void drive_alike_free(struct drive_alike *alike);

json_t *drive_json_at(const json_t *json, const char *path); /* "a.b.c"; NULL: not there */
struct str drive_json_text(const json_t *json);              /* empty: not a text */
uint64_t drive_json_count(const json_t *json);               /* 0: not a number, or below 0 */
struct str drive_json_dump(const json_t *json, struct arena *arena, size_t most);

/* ---- launch ---- */

void launch_arg(struct drive_launch *launch, struct str arg);
bool launch_names(const struct drive_launch *launch, struct str name); /* a variable, so far */
void launch_env(struct drive_launch *launch, struct str name, struct str value);
void launch_file(struct drive_launch *launch, struct str path, struct str text);

/* The program, the operator's own arguments and variables. */
void launch_begin(const struct drive_spec *spec, struct drive_launch *launch);

/* Everything that was added is there, and can be handed to a program: a launch is given back only then. */
bool launch_is_whole(const struct drive_launch *launch, struct str *ret_why);

/* {home} {cwd} {model} {base_url} {thinking} in a text of a table. False: one of them is empty. */
bool launch_fill(const struct drive_spec *spec, const char *text, struct arena *arena,
                 struct str *ret);

/* Everything in it is text: it ends up in JSON. */
bool launch_is_text(const struct drive_spec *spec);

/* Copies into a field of a state; false: it does not fit. */
bool drive_keep(char *to, size_t size, struct str text);
