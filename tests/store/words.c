/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the content of a store as text. */
#include "store/words.h"

#include "store/rows.h"
#include "unit/unit.h"

void words_text(FILE *out, struct str text) {
    fputc('"', out);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\n')
            fputs("\\n", out);
        else
            fputc(text.at[i], out);
    fputc('"', out);
}

static void hex_print(FILE *out, struct str bytes, size_t most) {
    for (size_t i = 0; i < bytes.len && i < most; i++)
        fprintf(out, "%02x", (unsigned)(unsigned char)bytes.at[i]);
    if (bytes.len > most)
        fprintf(out, "…(%zu)", bytes.len);
}

static void time_print(FILE *out, int64_t at) {
    char text[TIME_TEXT + 1];
    time_format(at, text);
    fputs(at == TIME_NEVER ? "never" : text, out);
}

static void id_print(FILE *out, struct id id) {
    char text[ID_TEXT + 1];
    id_format(id, text);
    fputs(text, out);
}

static void field_print(FILE *out, const struct field *field, const void *at) {
    switch (field->type) {
    case FIELD_INT: fprintf(out, "%lld", (long long)*(const int64_t *)at); break;
    case FIELD_UINT: fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at); break;
    case FIELD_TIME: time_print(out, *(const int64_t *)at); break;
    case FIELD_ENUM: fputs(name_of(field->names, *(const uint32_t *)at), out); break;
    case FIELD_ID: id_print(out, *(const struct id *)at); break;
    case FIELD_HASH: hex_print(out, (struct str){at, 32}, 8); break;
    case FIELD_NAME: fputs(at, out); break;
    case FIELD_TEXT: words_text(out, *(const struct str *)at); break;
    case FIELD_BYTES: hex_print(out, *(const struct str *)at, 32); break;
    case FIELD_U32:
    case FIELD_FLAG: fprintf(out, "%u", *(const uint32_t *)at); break;
    default: fputs("…", out); break;
    }
}

static bool field_is_zero(const struct field *field, const void *from) {
    static const char NOTHING[32];
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: return ((const struct str *)from)->len == 0;
    case FIELD_ID: return memcmp(from, NOTHING, 16) == 0;
    case FIELD_HASH: return memcmp(from, NOTHING, 32) == 0;
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_TIME: return *(const int64_t *)from == 0;
    case FIELD_NAME: return *(const char *)from == 0;
    default: return *(const uint32_t *)from == 0;
    }
}

void words_print(FILE *out, const struct shape *shape, const void *from) {
    const char *space = "";
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        const void *at = (const char *)from + field->offset;
        if (field_is_zero(field, at))
            continue;
        fprintf(out, "%s%s=", space, field->name);
        field_print(out, field, at);
        space = " ";
    }
}

/* ---- columns ---- */

struct known {
    const char *table, *column; /* table NULL: any */
    const struct names *names;  /* NULL: a time */
};
static const struct names HOST_STATES_NAMED = NAMES_OF(HOST_STATE);
static const struct known KNOWN[] = {
    {"host", "state", &HOST_STATES_NAMED},
    {"effect", "state", &EFFECT_STATE_NAMES},
    {NULL, "face", &DISPLAY_STATE_NAMES},
    {"goal_view", "status", &GOAL_STATUS_NAMES},
    {NULL, "priority", &PRIORITY_NAMES},
    {"record", "type", &RECORD_NAMES},
    {NULL, "at", NULL},
    {NULL, "created_at", NULL},
    {NULL, "updated_at", NULL},
    {NULL, "due_at", NULL},
    {NULL, "until", NULL},
};

void words_int(FILE *out, const char *table, const char *column, int64_t value) {
    for (size_t i = 0; i < count_of(KNOWN); i++) {
        const struct known *known = &KNOWN[i];
        if ((known->table && strcmp(known->table, table) != 0) ||
            strcmp(known->column, column) != 0)
            continue;
        if (!known->names)
            time_print(out, value);
        else if (value >= 0 && value < known->names->count)
            fputs(name_of(known->names, (uint32_t)value), out);
        else
            fprintf(out, "?%lld", (long long)value);
        return;
    }
    fprintf(out, "%lld", (long long)value);
}

union known_struct {
    struct goal goal;
    struct effect effect;
    struct evidence evidence;
};

static void encoded_print(FILE *out, const struct shape *shape, struct str bytes) {
    union known_struct of;
    memset(&of, 0, sizeof of);
    if (!shape_decode(shape, bytes, &of)) {
        fputs("undecodable ", out);
        hex_print(out, bytes, 64);
        return;
    }
    fputc('{', out);
    words_print(out, shape, &of);
    fputc('}', out);
}

static void sealed_print(FILE *out, uint32_t table, const struct shape *shape, struct id goal,
                         uint32_t n, struct str bytes) {
    fputs(row_unseal(table, goal, n, &bytes) ? "sealed " : "unsealed ", out);
    encoded_print(out, shape, bytes);
}

void words_bytes(FILE *out, const char *table, const char *column, struct id goal, uint32_t n,
                 struct str bytes) {
    struct id id;
    if (strcmp(column, "hot") == 0)
        sealed_print(out, ROW_GOAL, &GOAL_HOT, goal, 0, bytes);
    else if (strcmp(table, "effect") == 0 && strcmp(column, "body") == 0)
        sealed_print(out, ROW_EFFECT, &EFFECTS[EFFECT_COMMAND].shape, goal, n, bytes);
    else if (strcmp(table, "record") == 0 && strcmp(column, "body") == 0)
        encoded_print(out, &EVIDENCE, bytes);
    else if (strcmp(table, "store") == 0)
        fprintf(out, "%zu bytes", bytes.len);
    else if (bytes.len == sizeof id.bytes)
        id_print(out, *(struct id *)memcpy(&id, bytes.at, sizeof id));
    else
        hex_print(out, bytes, 32);
}

/* ---- golden files ---- */

void golden_check(const char *name, struct str text) {
    const char *tests = getenv("OVERSEER_TESTS"), *mode = getenv("OVERSEER_GOLDEN");
    static char path[512], golden[1 << 20];
    snprintf(path, sizeof path, "%s/golden/%s", tests ? tests : "tests", name);
    bool write = mode && strcmp(mode, "write") == 0;
    FILE *file = fopen(path, write ? "w" : "r");
    check(file, "%s is not there", path);
    if (write) {
        fwrite(text.at, 1, text.len, file);
        fclose(file);
        return;
    }
    struct str expected = {golden, fread(golden, 1, sizeof golden, file)};
    fclose(file);
    size_t at = 0, line = 1;
    while (at < text.len && at < expected.len && text.at[at] == golden[at])
        line += text.at[at++] == '\n';
    check(str_equal(text, expected), "%s differs in line %zu; is now:\n%.*s", path, line,
          STR_ARG(text));
}

/* ---- schemas ---- */

static uint32_t lines_in(const char *text) {
    uint32_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

void schema_check(const char *live, bool postgres) {
    static const char *const TYPES[2][STORED_TYPES] = {
        {"INTEGER", "INTEGER", "INTEGER", "TEXT", "BLOB", "BLOB", "BLOB", ""},
        {"integer", "bigint", "boolean", "text", "bytea", "uuid", "bytea", "tsvector"}};
    uint32_t count = 0, other = postgres ? STORED_SQLITE : STORED_POSTGRES;
    uint32_t null = STORED_NULL | (postgres ? 0 : STORED_NULL_SQLITE);
    char line[160];
    for (enum store_table table = 0; table < STORE_TABLES; table++)
        for (const struct stored_column *at = STORED[table].columns; at->name; at++) {
            if (at->flags & other)
                continue;
            snprintf(line, sizeof line, "\n%s.%s %s%s\n", table_name(table), at->name,
                     TYPES[postgres][at->type], at->flags & null ? " null" : "");
            check(strstr(live, line), "STORED has%sbut the tables are:%s", line, live);
            count++;
        }
    check(count + 1 == lines_in(live), "STORED has %u columns, the tables %u:%s", count,
          lines_in(live) - 1, live);
}
