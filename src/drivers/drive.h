/* SPDX-License-Identifier: Apache-2.0 */
/* Code that all drivers share: lines out of a stream, events into a list, and the state of a turn. */
#pragma once

#include "drivers/driver.h"

#include <jansson.h>

/* ---- saved state ---- */

/* Rows of the structs that several drivers have in their states. A number is never reused for another member. */
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

/* Plain data; it holds no bytes of the incomplete line. */
struct drive_lines {
    uint64_t begin; /* start of the incomplete line */
    uint64_t seen;  /* no line feed up to here */
};

/* The next complete line, without its line end. `bytes` start at `offset`, at or before the incomplete line. */
bool drive_line(struct drive_lines *lines, struct str bytes, uint64_t offset, struct str *ret_line);
bool drive_line_is_too_long(const struct drive_lines *lines);

/* ---- state of a turn, for every driver ---- */

enum { DRIVE_TOOL_NAME = 64 }; /* bytes of a tool's name that are kept while its call is open */

struct drive_words { /* the newest text; FIELD_FILLED */
    uint32_t len;
    char at[DRIVE_WORDS];
};

void drive_words_add(struct drive_words *words, struct str text);

struct drive_tool {
    uint64_t key; /* hash of its id */
    int64_t since;
    char name[DRIVE_TOOL_NAME];
    bool named; /* the agent itself gave the name: it is not a title */
};

struct drive_turn {
    struct id dispatch; /* the newest */
    bool open, accepted, interrupted;
    uint32_t tool_count;
    struct drive_tool tools[DRIVE_TOOLS];
    int64_t active_at, chatter_at, limited_until, asked_at, stop_by;
    uint64_t tokens, cost;
    uint32_t context;
    uint32_t ends; /* turns that have ended */
    struct drive_words words;
};

/* A prompt is sent: clears the state of the previous turn. */
void turn_begin(struct drive_turn *turn, struct id dispatch, int64_t now);

/* The first sign that the prompt arrived produces a receipt. */
void turn_accept(struct drive_turn *turn, uint64_t offset, struct drive_out *out);

void turn_words(struct drive_turn *turn, struct str text, int64_t now, uint64_t offset,
                struct drive_out *out);
void turn_chatter(struct drive_turn *turn, int64_t now, uint64_t offset, struct drive_out *out);
void turn_tool_begin(struct drive_turn *turn, struct str id, struct str name, int64_t now,
                     uint64_t offset, struct drive_out *out);
void turn_tool_end(struct drive_turn *turn, struct str id, int64_t now, uint64_t offset,
                   struct drive_out *out);
/* The name with which an open call began; empty: not known. */
struct str turn_tool_name(const struct drive_turn *turn, struct str id);
void turn_tool_is_named(struct drive_turn *turn, struct str id);
bool turn_tool_named(const struct drive_turn *turn, struct str id);
void turn_usage(struct drive_turn *turn, uint64_t offset, struct drive_out *out);
struct str turn_text(const struct drive_turn *turn);

/* End the turn, in one of three ways; open tool calls end with it. An error that mentions a limit counts as a limit:
 * FAIL-19. */
void turn_end(struct drive_turn *turn, enum drive_reason reason, uint64_t offset,
              struct drive_out *out);
void turn_fail(struct drive_turn *turn, struct str why, int64_t now, uint64_t offset,
               struct drive_out *out);
void turn_limit(struct drive_turn *turn, struct str why, int64_t until, uint64_t offset,
                struct drive_out *out);

void turn_see(const struct drive_turn *turn, struct observation *ret);

/* Whether a dispatch of this process arrived. TRISTATE_YES: sent and answered; TRISTATE_UNKNOWN: sent and not answered
 * yet, or never sent (only the newest one is known). */
enum tristate turn_delivered(const struct drive_turn *turn, struct id dispatch);

/* ---- limits ---- */

/* FAIL-19: true if the text says that an account is at its limit. ret_until: until when; 0: not given. */
bool drive_limit_read(struct str text, int64_t now, int64_t *ret_until);

bool drive_has(struct str text, const char *part); /* ignores case */

/* ---- output ---- */

struct drive_event *drive_event_add(struct drive_out *out, enum drive_kind kind, uint64_t offset);
void drive_say(struct drive_out *out, struct str bytes);
void drive_say_json(struct drive_out *out, json_t *json); /* one line; takes the reference */

/* Call when all output has been added. An agent that asks for more than can be answered at once violates the protocol:
 * it is reported as broken, and nothing is sent to it. */
void drive_resume_set(struct drive_out *out, uint64_t offset);
void drive_break(struct drive_out *out, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* drive_tagged(): the prompt with the line that names its dispatch. drive_tag_next(): the next dispatch id in a text
 * with such lines. */
struct str drive_tagged(struct id dispatch, struct str text, struct arena *arena);
bool drive_tag_next(struct str *rest, struct id *ret_dispatch);

/* Makes every text of the events valid: bytes that are not UTF-8 become U+FFFD. */
void drive_mend(struct drive_out *out);

/* ---- JSON ---- */

/* Bytes that are not UTF-8 are read as U+FFFD: a bad byte costs its character, not the line. */
json_t *drive_json(struct str line); /* NULL: not an object */
json_t *drive_json_str(struct str text);

/* The newest of many similar lines. The returned JSON is valid until the next call; the lines must live as long as this
 * struct. */
struct drive_alike {
    struct str line;
    json_t *frame, *words;
    size_t front, back; /* bytes before and after the text */
};
const json_t *drive_json_alike(struct drive_alike *alike, struct str line, const char *path);
void drive_alike_free(struct drive_alike *alike);

json_t *drive_json_at(const json_t *json, const char *path); /* "a.b.c"; NULL: not there */
struct str drive_json_text(const json_t *json);              /* empty: not a string */
uint64_t drive_json_count(const json_t *json);               /* 0: not a number, or negative */
struct str drive_json_dump(const json_t *json, struct arena *arena, size_t most);

/* ---- launch ---- */

void launch_arg(struct drive_launch *launch, struct str arg);
bool launch_names(const struct drive_launch *launch,
                  struct str name); /* true: a variable of this name was added */
void launch_env(struct drive_launch *launch, struct str name, struct str value);
void launch_file(struct drive_launch *launch, struct str path, struct str text);

/* Adds the program and the operator's own arguments and variables. */
void launch_begin(const struct drive_spec *spec, struct drive_launch *launch);

/* True: everything that was added fits and can be passed to a program. Only then may a launch be returned. */
bool launch_is_whole(const struct drive_launch *launch, struct str *ret_why);

/* Replaces {home} {cwd} {model} {base_url} {thinking} in a table's text. False: one of them is empty. */
bool launch_fill(const struct drive_spec *spec, const char *text, struct arena *arena,
                 struct str *ret);

/* True: everything in it is text, because it ends up in JSON. */
bool launch_is_text(const struct drive_spec *spec);

/* Copies a text into a field of a state; false: it does not fit. */
bool drive_keep(char *to, size_t size, struct str text);
