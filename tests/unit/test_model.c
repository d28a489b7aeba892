/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the stored bytes, the tables and the invariants of the model types. */
#include "chain.h"

#include "lib/proof.h"
#include "model/channel_list.h"
#include "model/decision.h"
#include "model/update.h"
#include "model/verification.h"

/* ---- the field codec, on a shape with every type ---- */

enum { TEXT_CAP = 8, BYTES_CAP = 300 };

struct every {
    int64_t number, when;
    uint64_t large;
    uint32_t small;
    enum need choice;
    struct id id;
    struct hash hash;
    struct str text, bytes;
    uint32_t unstored;
};

static const struct field EVERY_FIELD[] = {
    {"number", FIELD_INT, 1, FIELD_OF(every, number), 0, 0, NULL, "", 0, NULL},
    {"when", FIELD_TIME, 2, FIELD_OF(every, when), 0, 0, NULL, "", 0, NULL},
    {"large", FIELD_UINT, 3, FIELD_OF(every, large), 0, 0, NULL, "", 0, NULL},
    {"small", FIELD_U32, 4, FIELD_OF(every, small), 0, 0, NULL, "", 0, NULL},
    {"choice", FIELD_ENUM, 5, FIELD_OF(every, choice), 0, 0, &NEED_NAMES, "", 0, NULL},
    {"id", FIELD_ID, 6, FIELD_OF(every, id), 0, 0, NULL, "", 0, NULL},
    {"hash", FIELD_HASH, 7, FIELD_OF(every, hash), 0, 0, NULL, "", 0, NULL},
    {"text", FIELD_TEXT, 8, FIELD_OF(every, text), TEXT_CAP, 0, NULL, "", 0, NULL},
    {"bytes", FIELD_BYTES, 200, FIELD_OF(every, bytes), BYTES_CAP, 0, NULL, "", 0, NULL},
    {"unstored", FIELD_U32, 0, FIELD_OF(every, unstored), 0, 0, NULL, "", 0, NULL},
};
static const struct shape EVERY = SHAPE("every", 3, EVERY_FIELD);

#define ID_HEX "101112131415161718191a1b1c1d1e1f"
#define HASH_HEX ID_HEX ID_HEX

static struct id id_example(void) {
    struct id id;
    for (int i = 0; i < 16; i++)
        id.bytes[i] = (uint8_t)(0x10 + i);
    return id;
}

static bool every_same(const struct every *a, const struct every *b) {
    return a->number == b->number && a->when == b->when && a->large == b->large &&
           a->small == b->small && a->choice == b->choice && id_equal(a->id, b->id) &&
           hash_equal(&a->hash, &b->hash) && str_equal(a->text, b->text) &&
           str_equal(a->bytes, b->bytes) && a->unstored == b->unstored;
}

/* It encodes to these bytes, and these bytes decode to it. */
static void every_is(struct every every, const char *hex) {
    struct arena arena = {0};
    assert_string_equal(hex_of(shape_encode(&EVERY, &every, &arena)), hex);
    struct str bytes = hex_bytes(hex);
    struct every back = {0};
    check(shape_decode(&EVERY, bytes, &back), "%s", hex);
    every.unstored = 0;
    check(every_same(&every, &back), "%s", hex);
    bytes_free(bytes);
    arena_free(&arena);
}

static void test_fields_of_every_type_have_their_bytes(void **state) {
    (void)state;
    struct hash hash;
    memcpy(hash.bytes, id_example().bytes, 16);
    memcpy(hash.bytes + 16, id_example().bytes, 16);
    every_is((struct every){.number = -1}, "030201");
    every_is((struct every){.number = INT64_MAX}, "0302feffffffffffffffff01");
    every_is((struct every){.number = INT64_MIN}, "0302ffffffffffffffffff01");
    every_is((struct every){.when = 64}, "03048001");
    every_is((struct every){.when = INT64_MIN}, "0304ffffffffffffffffff01");
    every_is((struct every){.large = UINT64_MAX}, "0306ffffffffffffffffff01");
    every_is((struct every){.small = UINT32_MAX}, "0308ffffffff0f");
    every_is((struct every){.choice = NEED_UNCONFIRMED}, "030a02");
    every_is((struct every){.id = id_example()}, "030d10" ID_HEX);
    every_is((struct every){.hash = hash}, "030f20" HASH_HEX);
    every_is((struct every){.text = STR("abcdefgh")}, "0311086162636465666768");
    every_is((struct every){.bytes = STR("\xFF\0\x80")}, "03910303ff0080");
    every_is((struct every){.number = 1, .small = 5, .text = STR("\xC3\xA4"), .bytes = STR("z")},
             "03020208051102c3a49103017a");
}

static void test_fields_that_are_zero_are_left_out(void **state) {
    (void)state;
    every_is((struct every){0}, "03");
    every_is((struct every){.unstored = 77}, "03");
    every_is((struct every){.text = STR("")}, "03");
    every_is((struct every){.large = 1, .unstored = 77}, "030601");
}

static bool every_decodes(const char *hex, struct every *ret) {
    struct str bytes = hex_bytes(hex);
    bool decoded = shape_decode(&EVERY, bytes, ret);
    bytes_free(bytes);
    return decoded;
}

static void test_fields_of_a_newer_build_are_skipped(void **state) {
    (void)state;
    static const char *const ROWS[] = {
        "030805",                       /* nothing unknown */
        "031280010805",                 /* unknown field 9, a number, before the known one */
        "0308051207",                   /* and after it */
        "0313036162630805",             /* unknown field 9, a byte run */
        "03130200000805",               /* a byte run that is not valid text */
        "03feffffffffffffffff01010805", /* the largest field number */
        "03ffffffffffffffffff01000805", /* the same, with an empty byte run */
        "fe0805",                       /* a newer version */
        "010805",                       /* an older one */
        "0308070805",                   /* given twice: the last one wins */
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct every every = {0};
        check(every_decodes(ROWS[i], &every), "%s", ROWS[i]);
        check(every_same(&every, &(struct every){.small = 5}), "%s", ROWS[i]);
    }
}

static void test_fields_refuse_what_is_not_theirs(void **state) {
    (void)state;
    static const struct {
        const char *hex, *why;
    } ROWS[] = {
        {"", "nothing at all"},
        {"00", "version 0"},
        {"000805", "version 0 with a field"},
        {"030001", "number 0"},
        {"030100", "number 0 with a run"},
        {"0303020000", "a run for a number"},
        {"03050100", "a run for a time"},
        {"03070100", "a run for a large number"},
        {"03090100", "a run for a small number"},
        {"030b0101", "a run for a choice"},
        {"030c05", "a number for an id"},
        {"030e05", "a number for a hash"},
        {"031005", "a number for a text"},
        {"03900305", "a number for bytes"},
        {"03088080808010", "a small number of 33 bits"},
        {"0308ffffffffffffffffff01", "a small number of 64 bits"},
        {"030a03", "a choice past its table"},
        {"030a8080808010", "a choice that is 0 in 32 bits"},
        {"030d0f101112131415161718191a1b1c1d1e", "an id of 15 bytes"},
        {"030d11" ID_HEX "20", "an id of 17 bytes"},
        {"030d00", "an id of none"},
        {"030f1f" ID_HEX "101112131415161718191a1b1c1d1e", "a hash of 31 bytes"},
        {"030f10" ID_HEX, "a hash of 16 bytes"},
        {"031109616263646566676869", "a text over its cap"},
        {"031101ff", "a text that is not UTF-8"},
        {"03110100", "a text with NUL"},
        {"031103eda080", "a text with a surrogate"},
        {"031102c3", "a text that is cut"},
        {"0308", "a tag without a value"},
        {"030880", "half a value"},
        {"0388", "half a tag"},
        {"03880005", "a tag that is not the shortest"},
        {"03088500", "a value that is not the shortest"},
        {"0312", "an unknown number without a value"},
        {"03130200", "an unknown run that is cut"},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct every every = {0};
        check(!every_decodes(ROWS[i].hex, &every), "%s: %s", ROWS[i].why, ROWS[i].hex);
    }
}

static void test_bytes_end_at_their_cap(void **state) {
    (void)state;
    struct arena arena = {0};
    char *filled = memset(arena_new(&arena, char, BYTES_CAP + 1), 0xFE, BYTES_CAP + 1);
    struct every every = {.bytes = {filled, BYTES_CAP}}, back = {0};
    assert_true(shape_decode(&EVERY, shape_encode(&EVERY, &every, &arena), &back));
    assert_true(every_same(&every, &back));
    every.bytes.len++;
    assert_false(shape_decode(&EVERY, shape_encode(&EVERY, &every, &arena), &back));
    arena_free(&arena);
}

static void test_every_cut_of_an_encoding_is_refused_or_a_prefix(void **state) {
    (void)state;
    struct arena arena = {0};
    struct every full = {.number = -7, .large = 1u << 20, .id = id_example(), .text = STR("abc")};
    struct str whole = shape_encode(&EVERY, &full, &arena);
    assert_string_equal(hex_of(whole), "03020d068080400d10" ID_HEX "1103616263");
    for (size_t len = 0; len < whole.len; len++) {
        char *exact = malloc(len + 1);
        assert_non_null(exact);
        memcpy(exact, whole.at, len);
        struct every back = {0};
        bool at_a_border = len == 1 || len == 3 || len == 7 || len == 25;
        check(shape_decode(&EVERY, (struct str){exact, len}, &back) == at_a_border, "%zu bytes",
              len);
        free(exact);
    }
    arena_free(&arena);
}

/* ---- the golden corpus ---- */

union thing {
    struct signal signal;
    struct effect effect;
    struct goal goal;
    struct evidence evidence;
    struct goal_text goal_text;
    struct node node;
    struct node_text node_text;
    struct plan_text plan_text;
    struct tags tags;
    struct assignment_row assignment_row;
    struct dispatch dispatch;
    struct handoff handoff;
    struct run_row run;
    struct assignment assignment;
    struct beginning beginning;
    struct observation observation;
    struct observations observations;
    struct sample sample;
    struct samples samples;
    struct question question;
    struct question_text question_text;
    struct agent_message agent_message;
    struct agent_message_text agent_message_text;
    struct permit permit;
    struct account account;
    struct budget budget;
    struct host_access host_access;
    struct task_batch task_batch;
    struct policy policy;
    struct update update;
    struct progress progress;
    struct verification verification;
    struct notice notice;
};

/* For a shape, or for a signal, which has its own kind. */
struct coding {
    const struct shape *shape;
};

static const struct coding OF_SIGNAL = {NULL};
static const struct coding OF_EFFECT = {&EFFECTS[EFFECT_COMMAND].shape};
static const struct coding OF_SPAWN = {&EFFECTS[EFFECT_SPAWN].shape};
static const struct coding OF_SEND = {&EFFECTS[EFFECT_SEND].shape};
static const struct coding OF_LOOK = {&EFFECTS[EFFECT_LOOK].shape};
static const struct coding OF_STOP = {&EFFECTS[EFFECT_STOP].shape};
static const struct coding OF_CHECK = {&EFFECTS[EFFECT_CHECK].shape};
static const struct coding OF_LAND = {&EFFECTS[EFFECT_LAND].shape};
static const struct coding OF_THAW = {&EFFECTS[EFFECT_THAW].shape};
static const struct coding OF_TELL = {&EFFECTS[EFFECT_TELL].shape};
static const struct coding OF_SAY = {&EFFECTS[EFFECT_SAY].shape};
static const struct coding OF_HOT = {&GOAL_HOT};
static const struct coding OF_EVIDENCE = {&EVIDENCE};
static const struct coding OF_GOAL_TEXT = {&GOAL_TEXT};
static const struct coding OF_NODE = {&NODE};
static const struct coding OF_NODE_TEXT = {&NODE_TEXT};
static const struct coding OF_PLAN_TEXT = {&PLAN_TEXT};
static const struct coding OF_TAGS = {&TAGS};
static const struct coding OF_ASSIGNMENT_ROW = {&ASSIGNMENT_ROW};
static const struct coding OF_DISPATCH = {&DISPATCH};
static const struct coding OF_HANDOFF = {&HANDOFF};
static const struct coding OF_RUN = {&RUN_ROW};
static const struct coding OF_ASSIGNMENT = {&ASSIGNMENT};
static const struct coding OF_BEGINNING = {&BEGINNING};
static const struct coding OF_OBSERVATION = {&OBSERVATION};
static const struct coding OF_OBSERVATIONS = {&OBSERVATIONS};
static const struct coding OF_SAMPLE = {&SAMPLE};
static const struct coding OF_SAMPLES = {&SAMPLES};
static const struct coding OF_QUESTION = {&QUESTION};
static const struct coding OF_QUESTION_TEXT = {&QUESTION_TEXT};
static const struct coding OF_AGENT_MESSAGE = {&AGENT_MESSAGE};
static const struct coding OF_AGENT_MESSAGE_TEXT = {&AGENT_MESSAGE_TEXT};
static const struct coding OF_PERMIT = {&PERMIT};
static const struct coding OF_ACCOUNT = {&ACCOUNT};
static const struct coding OF_BUDGET = {&BUDGET};
static const struct coding OF_HOST_ACCESS = {&HOST_ACCESS};
static const struct coding OF_TASK_BATCH = {&TASK_BATCH};
static const struct coding OF_POLICY = {&POLICY};
static const struct coding OF_UPDATE = {&UPDATE};
static const struct coding OF_PROGRESS = {&PROGRESS};
static const struct coding OF_VERIFICATION = {&VERIFICATION};
static const struct coding OF_NOTICE = {&NOTICE};
static const struct coding *const CODINGS[] = {&OF_SIGNAL,
                                               &OF_EFFECT,
                                               &OF_SPAWN,
                                               &OF_SEND,
                                               &OF_LOOK,
                                               &OF_STOP,
                                               &OF_CHECK,
                                               &OF_LAND,
                                               &OF_THAW,
                                               &OF_TELL,
                                               &OF_SAY,
                                               &OF_HOT,
                                               &OF_EVIDENCE,
                                               &OF_GOAL_TEXT,
                                               &OF_NODE,
                                               &OF_NODE_TEXT,
                                               &OF_PLAN_TEXT,
                                               &OF_TAGS,
                                               &OF_ASSIGNMENT_ROW,
                                               &OF_DISPATCH,
                                               &OF_HANDOFF,
                                               &OF_RUN,
                                               &OF_ASSIGNMENT,
                                               &OF_OBSERVATION,
                                               &OF_OBSERVATIONS,
                                               &OF_QUESTION,
                                               &OF_QUESTION_TEXT,
                                               &OF_AGENT_MESSAGE,
                                               &OF_AGENT_MESSAGE_TEXT,
                                               &OF_PERMIT,
                                               &OF_ACCOUNT,
                                               &OF_BUDGET,
                                               &OF_HOST_ACCESS,
                                               &OF_TASK_BATCH,
                                               &OF_POLICY,
                                               &OF_UPDATE,
                                               &OF_NOTICE,
                                               &OF_BEGINNING,
                                               &OF_PROGRESS,
                                               &OF_VERIFICATION,
                                               &OF_SAMPLE,
                                               &OF_SAMPLES};

static struct str thing_encode(const struct coding *coding, const union thing *thing,
                               struct arena *arena) {
    return coding->shape ? shape_encode(coding->shape, thing, arena)
                         : signal_encode(&thing->signal, arena);
}

static bool thing_decode(const struct coding *coding, struct str bytes, struct arena *arena,
                         union thing *ret) {
    return coding->shape ? shape_decode_in(coding->shape, bytes, arena, ret)
                         : signal_decode(bytes, &ret->signal);
}

/* ---- comparing two values by the table of fields, without encoding them ---- */

static bool shape_same(const struct shape *shape, const void *a, const void *b);

static bool texts_same(const struct texts *a, const struct texts *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = str_equal(a->at[i], b->at[i]);
    return same;
}

static bool rows_same(const struct shape *of, const struct rows *a, const struct rows *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same =
            shape_same(of, (const char *)a->at + i * of->size, (const char *)b->at + i * of->size);
    return same;
}

static bool u32s_same(const struct field *field, const void *a, const void *b) {
    const uint32_t *count = (const uint32_t *)((const char *)a - field->offset + field->cap);
    const uint32_t *other = (const uint32_t *)((const char *)b - field->offset + field->cap);
    return *count == *other && memcmp(a, b, *count * sizeof *count) == 0;
}

static bool field_same(const struct field *field, const void *a, const void *b) {
    switch (field->type) {
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: return memcmp(a, b, 8) == 0;
    case FIELD_U32:
    case FIELD_ENUM:
    case FIELD_FLAG: return memcmp(a, b, 4) == 0;
    case FIELD_ID: return memcmp(a, b, sizeof(struct id)) == 0;
    case FIELD_HASH: return memcmp(a, b, sizeof(struct hash)) == 0;
    case FIELD_NAME: return strcmp(a, b) == 0;
    case FIELD_U32S: return u32s_same(field, a, b);
    case FIELD_TEXTS: return texts_same(a, b);
    case FIELD_ROWS: return rows_same(field->of, a, b);
    default: return str_equal(*(const struct str *)a, *(const struct str *)b);
    }
}

static bool shape_same(const struct shape *shape, const void *a, const void *b) {
    for (size_t i = 0; i < shape->count; i++) {
        size_t offset = shape->fields[i].offset;
        if (!field_same(&shape->fields[i], (const char *)a + offset, (const char *)b + offset))
            return false;
    }
    return true;
}

static bool signal_words_same(const struct signal *a, const struct signal *b) {
    return str_equal(a->sender.actor, b->sender.actor) &&
           str_equal(a->sender.trace, b->sender.trace) &&
           str_equal(a->describe.title, b->describe.title) &&
           str_equal(a->describe.command, b->describe.command) && str_equal(a->text, b->text) &&
           str_equal(a->body, b->body) && str_equal(a->describe.tags, b->describe.tags) &&
           str_equal(a->work.node, b->work.node) && str_equal(a->reason, b->reason);
}

static bool signal_same(const struct signal *a, const struct signal *b) {
    return a->kind == b->kind && id_equal(a->source, b->source) && id_equal(a->goal, b->goal) &&
           id_equal(a->once.key, b->once.key) && id_equal(a->once.before, b->once.before) &&
           a->at == b->at && a->once.keyed == b->once.keyed && a->sender.by == b->sender.by &&
           a->effect == b->effect && a->host == b->host && a->exit == b->exit &&
           hash_equal(&a->describe.base, &b->describe.base) && a->plan.why == b->plan.why &&
           a->work.blocked == b->work.blocked && a->describe.priority == b->describe.priority &&
           a->describe.repository == b->describe.repository && a->to == b->to &&
           a->work.override == b->work.override && a->plan.expected == b->plan.expected &&
           a->about.assignment == b->about.assignment && a->about.question == b->about.question &&
           a->admission == b->admission && a->until == b->until && a->spent.cost == b->spent.cost &&
           a->spent.tokens == b->spent.tokens && signal_words_same(a, b);
}

static bool thing_same(const struct coding *coding, const union thing *a, const union thing *b) {
    return coding->shape ? shape_same(coding->shape, a, b) : signal_same(&a->signal, &b->signal);
}

#define AT 1794701782123456
#define SOURCE_BYTES \
    { \
        { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } \
    }
#define GOAL_BYTES \
    { \
        { 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } \
    }
#define SIGNAL_SAMPLE(k, ...) \
    { \
        .signal = { \
            .kind = (k), \
            .source = SOURCE_BYTES, \
            .goal = GOAL_BYTES, \
            .at = AT, \
            .once.keyed = 1, \
            .sender.actor = STR("agnes"), \
            __VA_ARGS__ \
        } \
    }

#define HASH_BYTES \
    { \
        { 0xA0, 0xA1, 0xA2, 0xA3 } \
    }
#define EVERY_SIGNAL(k, ...) \
    SIGNAL_SAMPLE(k, .sender.by = WHO_OVERSEER, .sender.trace = STR("trace-7"), __VA_ARGS__)
#define SIGNAL_MINIMAL(k) \
    { \
        .signal = {.kind = (k) } \
    }

static const struct str LINES[] = {{"it is seen", 10}, {"and he\xC3\xA4rd", 10}};
static const struct risk_row RISK_ROWS[] = {{{"rain", 4}, {"wet", 3}, {"a roof", 6}},
                                            {{"wind", 4}, {"cold", 4}, {"a coat", 6}}};
static const struct plan_row PLAN_ROWS[] = {
    {.id = {"P1", 2}, .text = {.name = {"phase", 5}, .criteria = {LINES, 1}}},
    {.id = {"T1.1", 4},
     .parent = {"P1", 2},
     .tier = TIER_TASK,
     .depends_on = {LINES, 2},
     .text = {.name = {"task", 4},
              .objective = {"to see", 6},
              .outcome = {"seen", 4},
              .criteria = {LINES, 2},
              .definition_of_done = {"all of it", 9},
              .agent = {"auto-1", 6},
              .agent_type = {"coder", 5},
              .tools = {LINES, 1},
              .effort = {"2h", 2},
              .risk = RISK_HIGH,
              .scope_paths = {LINES, 1}}},
};

/* The last one has every field. */
static const struct check_made CHECKS_MADE[] = {
    {.type = CHECK_ARTIFACT, .target = {"made", 4}, .passed = 1},
    {.type = CHECK_COMMAND, .target = {"make check", 10}, .passed = 1, .reason = {"why", 3}}};
static const struct artifact_claim CLAIMS[] = {{{"docs/a.md", 9}, {"how it works", 12}}};

/* The last one has every field. */
static const struct artifact ARTIFACTS[] = {
    {.path = {"made", 4}},
    {.path = {"out/report.json", 15},
     .json = 1,
     .min_items = 3,
     .keys = {LINES, 2},
     .min_bytes = 300},
};

static const struct plan_row PLAN_ROWS_SCOPED[] = {
    {.id = {"T1.1", 4},
     .parent = {"P1", 2},
     .tier = TIER_TASK,
     .depends_on = {LINES, 2},
     .text = {.name = {"task", 4},
              .objective = {"to see", 6},
              .outcome = {"seen", 4},
              .criteria = {LINES, 2},
              .definition_of_done = {"all of it", 9},
              .agent = {"auto-1", 6},
              .agent_type = {"coder", 5},
              .tools = {LINES, 1},
              .effort = {"2h", 2},
              .risk = RISK_HIGH,
              .scope_paths = {LINES, 1},
              .allow = {LINES, 2},
              .deny = {LINES, 1}}},
};

static const struct plan_row PLAN_ROWS_BOUND[] = {
    {.id = {"T1.1", 4},
     .parent = {"P1", 2},
     .tier = TIER_TASK,
     .depends_on = {LINES, 2},
     .text = {.name = {"task", 4},
              .objective = {"to see", 6},
              .outcome = {"seen", 4},
              .criteria = {LINES, 2},
              .definition_of_done = {"all of it", 9},
              .agent = {"auto-1", 6},
              .agent_type = {"coder", 5},
              .tools = {LINES, 1},
              .effort = {"2h", 2},
              .risk = RISK_HIGH,
              .scope_paths = {LINES, 1},
              .allow = {LINES, 2},
              .deny = {LINES, 1},
              .artifacts = {ARTIFACTS, 2},
              .completion_report = 1,
              .progress_reporting = 1}},
};

static const struct plan_row PLAN_ROWS_CHECKED[] = {
    {.id = {"T1.1", 4},
     .parent = {"P1", 2},
     .tier = TIER_TASK,
     .depends_on = {LINES, 2},
     .text = {.name = {"task", 4},
              .objective = {"to see", 6},
              .outcome = {"seen", 4},
              .criteria = {LINES, 2},
              .definition_of_done = {"all of it", 9},
              .agent = {"auto-1", 6},
              .agent_type = {"coder", 5},
              .tools = {LINES, 1},
              .effort = {"2h", 2},
              .risk = RISK_HIGH,
              .scope_paths = {LINES, 1},
              .allow = {LINES, 2},
              .deny = {LINES, 1},
              .artifacts = {ARTIFACTS, 2},
              .completion_report = 1,
              .progress_reporting = 1,
              .require_report = 1,
              .on_failure = ON_FAILURE_RETRY,
              .check_within = 5000}},
};

static const struct plan_row PLAN_ROWS_ANSWERED[] = {
    {.id = {"T1.1", 4},
     .parent = {"P1", 2},
     .tier = TIER_TASK,
     .depends_on = {LINES, 2},
     .text = {.name = {"task", 4},
              .objective = {"to see", 6},
              .outcome = {"seen", 4},
              .criteria = {LINES, 2},
              .definition_of_done = {"all of it", 9},
              .agent = {"auto-1", 6},
              .agent_type = {"coder", 5},
              .tools = {LINES, 1},
              .effort = {"2h", 2},
              .risk = RISK_HIGH,
              .scope_paths = {LINES, 1},
              .allow = {LINES, 2},
              .deny = {LINES, 1},
              .artifacts = {ARTIFACTS, 2},
              .completion_report = 1,
              .progress_reporting = 1,
              .require_report = 1,
              .on_failure = ON_FAILURE_RETRY,
              .check_within = 5000,
              .wants = WANTS_ANSWER}},
};

#define OBSERVATION_SAMPLE(...) \
    { \
        .assignment = 1, .event = AGENT_LIMITED, .at = AT, .process = TRISTATE_YES, \
        .turn = TRISTATE_NO, .delivered = TRISTATE_YES, .active_at = AT + 1, .tool_since = AT + 2, \
        .chatter_at = AT + 3, .limited_until = AT + 4, .fingerprint = UINT64_MAX, .tokens = 5, \
        .cost = 6, .context = 70, .sampled = SAMPLED_WAITS_FOR_PERSON, .dispatch = 8, .exit = -9, \
        __VA_ARGS__ \
    }
static const struct observation OBSERVATION_ROWS[] = {{.assignment = 4},
                                                      OBSERVATION_SAMPLE(.heard = 7)};
static const struct observation OBSERVATION_BEFORE[] = {{.assignment = 4},
                                                        OBSERVATION_SAMPLE(.heard = 0)};

static const struct policy_agent POLICY_AGENTS[] = {{.id = "auto-2"},
                                                    {.id = "auto-1",
                                                     .role = "coder",
                                                     .account = "ours",
                                                     .model = "large",
                                                     .team = "one",
                                                     .most = 2,
                                                     .reserve = 3,
                                                     .reserve_tokens = 4,
                                                     .dedupes = 1,
                                                     .price = 5}};
static const struct policy_budget POLICY_BUDGETS[] = {
    {.scope = "agent/auto-1", .unit = UNIT_STARTS, .most = 300, .window = 86400000000}};
static const struct policy_channel POLICY_CHANNELS[] = {
    {.id = "desk"},
    {.id = "pager", .kind = CHANNEL_PAGERDUTY, .least = 3, .quiet = 1, .origins = "chat mail"}};

/* One row for each label of a file. The first version wrote `full` and `minimal`; of the labels that begin with
 * `every`, the last has all current fields, and the others have the fields of an earlier version; `before` uses an
 * order that is still read but no longer written. */
#define SAMPLE_ROW \
    { \
        .assignment = 3, .updated_at = AT, .last_activity_at = AT + 1, .progress_at = AT + 2, \
        .phase = STR("reading"), .percent = 41 \
    }
static const struct sample SAMPLE_ROWS[] = {{.assignment = 1}, SAMPLE_ROW};

static const struct policy_account POLICY_ACCOUNTS[] = {{"ours", 80, 1}};

static const struct policy_repository REPOSITORIES[] = {
    {1ull << 41,
     {.by_person = 1, .configured = 1, .rounds = 4, .within = 50},
     {.automatic = 1, .workspace = 1ull << 42, .workspace_local = 1, .rechecks = 6}}};

static const struct golden {
    const char *name, *label;
    const struct coding *coding;
    union thing thing;
} GOLDEN[] = {
    {"signal.goal.create", "full", &OF_SIGNAL,
     SIGNAL_SAMPLE(SIGNAL_GOAL_CREATE,
                   .describe.title = STR("Gr\xC3\xBC\xC3\x9F"
                                         "e ordnen"),
                   .describe.command = STR("make check && echo \"ok\"\n"))},
    {"signal.goal.create", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_CREATE)},
    {"signal.goal.create", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_CREATE, .describe.title = STR("title"),
                  .describe.command = STR("make"), .body = STR("\x01\x03\x01p"),
                  .describe.tags = STR("\x01\x03\x02\x01t"), .describe.priority = PRIORITY_URGENT,
                  .host = 7)},
    {"signal.goal.create", "every.repository", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_CREATE, .describe.title = STR("title"),
                  .describe.command = STR("make"), .body = STR("\x01\x03\x01p"),
                  .describe.tags = STR("\x01\x03\x02\x01t"), .describe.priority = PRIORITY_URGENT,
                  .host = 7, .describe.repository = 1ull << 41)},
    {"signal.goal.create", "every.batch", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_CREATE, .describe.title = STR("title"),
                  .describe.command = STR("make"), .body = STR("\x01\x03\x01p"),
                  .describe.tags = STR("\x01\x03\x02\x01t"), .describe.priority = PRIORITY_URGENT,
                  .host = 7, .describe.repository = 1ull << 41, .describe.task = STR("\x01\x01"),
                  .describe.batch = {1ull << 40, AT})},
    {"signal.goal.create", "every.mark", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_CREATE, .describe.title = STR("title"),
                  .describe.command = STR("make"), .body = STR("\x01\x03\x01p"),
                  .describe.tags = STR("\x01\x03\x02\x01t"), .describe.priority = PRIORITY_URGENT,
                  .host = 7, .describe.repository = 1ull << 41, .describe.task = STR("\x01\x01"),
                  .describe.batch = {1ull << 40, AT}, .describe.quota_mark = 80)},
    {"signal.goal.report", "full", &OF_SIGNAL,
     SIGNAL_SAMPLE(SIGNAL_GOAL_REPORT, .text = STR("half of it \xF0\x9F\x92\xA9"))},
    {"signal.goal.report", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_REPORT)},
    {"signal.goal.report", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_REPORT, .text = STR("half"))},
    {"signal.goal.report", "every, with its key", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_REPORT, .text = STR("half"), .once.key = {{0xB0, 0xB1}},
                  .once.before = {{0xC0, 0xC1}})},
    {"signal.goal.report", "every, with a number", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_REPORT, .text = STR("half"), .once.key = {{0xB0, 0xB1}},
                  .once.before = {{0xC0, 0xC1}}, .number = 7)},
    {"signal.goal.due", "full", &OF_SIGNAL, SIGNAL_SAMPLE(SIGNAL_GOAL_DUE, .exit = 0)},
    {"signal.goal.due", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_DUE)},
    {"signal.goal.due", "every", &OF_SIGNAL, EVERY_SIGNAL(SIGNAL_GOAL_DUE, .exit = 0)},
    {"signal.goal.due", "every.2", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_DUE, .body = STR("\x01\x04\x02"))},
    {"signal.effect.claim", "full", &OF_SIGNAL,
     SIGNAL_SAMPLE(SIGNAL_EFFECT_CLAIM, .effect = 300, .host = UINT32_MAX)},
    {"signal.effect.claim", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_EFFECT_CLAIM)},
    {"signal.effect.claim", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_CLAIM, .effect = 3, .host = 7)},
    {"signal.effect.ended", "full", &OF_SIGNAL,
     SIGNAL_SAMPLE(SIGNAL_EFFECT_ENDED, .effect = 2, .exit = -1, .text = STR("not found\n"))},
    {"signal.effect.ended", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_EFFECT_ENDED)},
    {"signal.effect.ended", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_ENDED, .effect = 3, .exit = 9, .text = STR("tail"))},
    {"signal.effect.ended", "every.2", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_ENDED, .effect = 3, .exit = 9, .text = STR("tail"),
                  .to = DELIVERY_TIMEOUT, .body = STR("\x01\x02\x01"), .until = AT + 7,
                  .outcome.reference = STR("agent:auto-1:main"))},
    {"signal.effect.ended", "every.3", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_ENDED, .effect = 3, .exit = 9, .text = STR("tail"),
                  .to = DELIVERY_TIMEOUT, .body = STR("\x01\x02\x01"), .until = AT + 7,
                  .outcome.reference = STR("agent:auto-1:main"),
                  .outcome.sandbox = STR("bwrap+landlock"), .outcome.scope = STR("enforced"))},
    {"signal.effect.ended", "every.4", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_ENDED, .effect = 3, .exit = 9, .text = STR("tail"),
                  .to = DELIVERY_TIMEOUT, .body = STR("\x01\x02\x01"), .until = AT + 7,
                  .outcome.reference = STR("agent:auto-1:main"),
                  .outcome.sandbox = STR("bwrap+landlock"), .outcome.scope = STR("enforced"),
                  .outcome.limits = STR("memory 512 MiB (cgroup)"))},
    {"signal.effect.lost", "full", &OF_SIGNAL, SIGNAL_SAMPLE(SIGNAL_EFFECT_LOST, .effect = 127)},
    {"signal.effect.lost", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_EFFECT_LOST)},
    {"signal.effect.lost", "every", &OF_SIGNAL, EVERY_SIGNAL(SIGNAL_EFFECT_LOST, .effect = 3)},
    {"signal.effect.lost", "every.2", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_EFFECT_LOST, .effect = 3, .host = 7)},
    {"signal.goal.update", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_UPDATE, .to = 1, .describe.title = STR("new"),
                  .body = STR("\x01\x03\x01p"), .describe.tags = STR("\x01"),
                  .describe.priority = PRIORITY_LOW, .describe.base = HASH_BYTES,
                  .reason = STR("less urgent"))},
    {"signal.goal.update", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_UPDATE)},
    {"signal.goal.move", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_MOVE, .to = GOAL_CANCELLED, .reason = STR("not wanted"))},
    {"signal.goal.move", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_MOVE)},
#define PLAN_SAMPLE(k) \
    EVERY_SIGNAL(k, .body = STR("\x01\x03\x00"), .plan.expected = 300, \
                 .plan.why = REASON_GUARD_VIOLATION, .reason = STR("again"), \
                 .work.node = STR("T1.1"))
    {"signal.plan.apply", "every", &OF_SIGNAL, PLAN_SAMPLE(SIGNAL_PLAN_APPLY)},
    {"signal.plan.apply", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PLAN_APPLY)},
    {"signal.plan.review", "every", &OF_SIGNAL, PLAN_SAMPLE(SIGNAL_PLAN_REVIEW)},
    {"signal.plan.review", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PLAN_REVIEW)},
    {"signal.plan.approve", "every", &OF_SIGNAL, PLAN_SAMPLE(SIGNAL_PLAN_APPROVE)},
    {"signal.plan.approve", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PLAN_APPROVE)},
    {"signal.plan.reject", "every", &OF_SIGNAL, PLAN_SAMPLE(SIGNAL_PLAN_REJECT)},
    {"signal.plan.reject", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PLAN_REJECT)},
    {"signal.work.add", "every", &OF_SIGNAL, PLAN_SAMPLE(SIGNAL_WORK_ADD)},
    {"signal.work.add", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_WORK_ADD)},
#define WORK_SAMPLE(k) \
    EVERY_SIGNAL(k, .work.node = STR("S1.1.1"), .to = NODE_BLOCKED, .reason = STR("needs a key"), \
                 .text = STR("commit 1a2b"), .work.override = 1, \
                 .work.blocked = BLOCKED_BY_CREDENTIAL, .plan.expected = 4)
    {"signal.work.move", "every", &OF_SIGNAL, WORK_SAMPLE(SIGNAL_WORK_MOVE)},
    {"signal.work.move", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_WORK_MOVE)},
    {"signal.work.follow", "every", &OF_SIGNAL, WORK_SAMPLE(SIGNAL_WORK_FOLLOW)},
    {"signal.work.follow", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_WORK_FOLLOW)},
    {"signal.goal.release", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_GOAL_RELEASE, .to = GOAL_ARCHIVED, .reason = STR("it had been done"))},
    {"signal.goal.release", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_GOAL_RELEASE)},
    {"signal.part.put", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_PART_PUT, .to = PART_RUN, .body = STR("\x01\x03\x03R_1"), .effect = 2,
                  .plan.expected = 9)},
    {"signal.part.put", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PART_PUT)},
    {"signal.policy.change", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_POLICY_CHANGE, .text = STR("stuck.same_error_count: 3 -> 2"),
                  .reason = STR("the night is long"))},
    {"signal.policy.change", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_POLICY_CHANGE)},
    {"signal.fleet.stop", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_FLEET_STOP, .text = STR("everything"), .reason = STR("the bill"))},
    {"signal.fleet.stop", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_FLEET_STOP)},
    {"signal.fleet.resume", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_FLEET_RESUME, .text = STR("everything"), .reason = STR("it is paid"))},
    {"signal.fleet.resume", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_FLEET_RESUME)},
#define AGENT_SAMPLE(k) \
    EVERY_SIGNAL(k, .about.assignment = 3, .body = STR("\x01\x02\x01"), \
                 .work.node = STR("S1.1.1"), .reason = STR("it said so"), .to = 1, \
                 .until = AT + 8)
#define ASK_SAMPLE(k) \
    EVERY_SIGNAL(k, .about.question = 2, .to = 3, .text = STR("the second"), .until = AT + 9, \
                 .reason = STR("it is late"), .about.assignment = 4, .body = STR("\x01\x03\x01p"), \
                 .work.node = STR("T1.1"))
#define AGENT_OF_RUN(k) \
    EVERY_SIGNAL(k, .about.assignment = 3, .body = STR("\x01\x02\x01"), \
                 .work.node = STR("S1.1.1"), .reason = STR("it said so"), .to = 1, \
                 .until = AT + 8, .about.run = 12)
#define ASK_OF_RUN(k) \
    EVERY_SIGNAL(k, .about.question = 2, .to = 3, .text = STR("the second"), .until = AT + 9, \
                 .reason = STR("it is late"), .about.assignment = 4, .body = STR("\x01\x03\x01p"), \
                 .work.node = STR("T1.1"), .about.run = 12, .commit = STR("9fceb02d"))
#define ADMISSION_SAMPLE(k) \
    EVERY_SIGNAL(k, .about.assignment = 5, .body = STR("\x01\x02\x07"), .admission = 6, \
                 .until = AT + 10, .spent.cost = 1ull << 40, .spent.tokens = 300, .to = 1, \
                 .reason = STR("used up"))
    {"signal.agent.seen", "every", &OF_SIGNAL, AGENT_SAMPLE(SIGNAL_AGENT_SEEN)},
    {"signal.agent.seen", "every.host", &OF_SIGNAL, AGENT_OF_RUN(SIGNAL_AGENT_SEEN)},
    {"signal.agent.seen", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_AGENT_SEEN)},
    {"signal.agent.update", "every", &OF_SIGNAL, AGENT_SAMPLE(SIGNAL_AGENT_UPDATE)},
    {"signal.agent.update", "every.host", &OF_SIGNAL, AGENT_OF_RUN(SIGNAL_AGENT_UPDATE)},
    {"signal.agent.update", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_AGENT_UPDATE)},
    {"signal.agent.progress", "every", &OF_SIGNAL, AGENT_SAMPLE(SIGNAL_AGENT_PROGRESS)},
    {"signal.agent.progress", "every.host", &OF_SIGNAL, AGENT_OF_RUN(SIGNAL_AGENT_PROGRESS)},
    {"signal.agent.progress", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_AGENT_PROGRESS)},
    {"signal.run.braked", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_RUN_BRAKED, .about.assignment = 3, .effect = 9,
                  .reason = STR("the disk is nearly full"), .text = STR("12 MiB free"))},
    {"signal.run.braked", "every.overage", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_RUN_BRAKED, .about.assignment = 3, .effect = 9,
                  .reason = STR("the disk is nearly full"), .text = STR("12 MiB free"),
                  .to = BRAKING_OVERAGE, .until = AT + 3)},
    {"signal.run.braked", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_RUN_BRAKED)},
    {"signal.host.denied", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_HOST_DENIED, .body = STR("\x01\x02\x07"), .admission = 2,
                  .describe.repository = 77, .describe.title = STR("core"), .to = 1,
                  .reason = STR("it may be asked again"))},
    {"signal.host.denied", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_HOST_DENIED)},
    {"signal.batch.set", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_BATCH_SET, .body = STR("\x01\x02\x07"), .admission = 2, .to = 3,
                  .reason = STR("it is late"))},
    {"signal.batch.set", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_BATCH_SET)},
    {"signal.target.checked", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_TARGET_CHECKED, .admission = 2, .describe.repository = 77,
                  .describe.title = STR("core"), .to = 2,
                  .reason = STR("main fails its own check since 0123456789ab"),
                  .text = STR("1 test failed"))},
    {"signal.target.checked", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_TARGET_CHECKED)},
    {"signal.clock.stepped", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_CLOCK_STEPPED, .stepped = -3)},
    {"signal.clock.stepped", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_CLOCK_STEPPED)},
    {"signal.agent.ask", "every", &OF_SIGNAL, AGENT_SAMPLE(SIGNAL_AGENT_ASK)},
    {"signal.agent.ask", "every.host", &OF_SIGNAL, AGENT_OF_RUN(SIGNAL_AGENT_ASK)},
    {"signal.agent.ask", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_AGENT_ASK)},
    {"signal.question.ask", "every", &OF_SIGNAL, ASK_SAMPLE(SIGNAL_QUESTION_ASK)},
    {"signal.question.ask", "every.host", &OF_SIGNAL, ASK_OF_RUN(SIGNAL_QUESTION_ASK)},
    {"signal.question.ask", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_QUESTION_ASK)},
    {"signal.question.answer", "every", &OF_SIGNAL, ASK_SAMPLE(SIGNAL_QUESTION_ANSWER)},
    {"signal.question.answer", "every.host", &OF_SIGNAL, ASK_OF_RUN(SIGNAL_QUESTION_ANSWER)},
    {"signal.question.answer", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_QUESTION_ANSWER)},
    {"signal.question.move", "every", &OF_SIGNAL, ASK_SAMPLE(SIGNAL_QUESTION_MOVE)},
    {"signal.question.move", "every.host", &OF_SIGNAL, ASK_OF_RUN(SIGNAL_QUESTION_MOVE)},
    {"signal.question.move", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_QUESTION_MOVE)},
    {"signal.permit.ask", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_PERMIT_ASK)},
    {"signal.permit.ask", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PERMIT_ASK)},
    {"signal.permit.settle", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_PERMIT_SETTLE)},
    {"signal.permit.settle", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PERMIT_SETTLE)},
    {"signal.permit.granted", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_PERMIT_GRANTED)},
    {"signal.permit.granted", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PERMIT_GRANTED)},
    {"signal.permit.denied", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_PERMIT_DENIED)},
    {"signal.permit.denied", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_PERMIT_DENIED)},
    {"signal.account.limited", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_ACCOUNT_LIMITED)},
    {"signal.account.limited", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_ACCOUNT_LIMITED)},
    {"signal.account.seen", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_ACCOUNT_SEEN)},
    {"signal.account.seen", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_ACCOUNT_SEEN)},
    {"signal.desk.release", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_ADMISSION_RELEASE)},
    {"signal.desk.release", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_ADMISSION_RELEASE)},
    {"signal.mail.send", "every", &OF_SIGNAL, ASK_SAMPLE(SIGNAL_MAIL_SEND)},
    {"signal.mail.send", "every.host", &OF_SIGNAL, ASK_OF_RUN(SIGNAL_MAIL_SEND)},
    {"signal.mail.send", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_MAIL_SEND)},
    {"signal.mail.ack", "every", &OF_SIGNAL, ASK_SAMPLE(SIGNAL_MAIL_ACK)},
    {"signal.mail.ack", "every.host", &OF_SIGNAL, ASK_OF_RUN(SIGNAL_MAIL_ACK)},
    {"signal.mail.ack", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_MAIL_ACK)},
    {"signal.handoff", "every", &OF_SIGNAL, AGENT_SAMPLE(SIGNAL_HANDOFF)},
    {"signal.handoff", "every.host", &OF_SIGNAL, AGENT_OF_RUN(SIGNAL_HANDOFF)},
    {"signal.handoff", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_HANDOFF)},
    {"signal.work.retry", "every", &OF_SIGNAL, WORK_SAMPLE(SIGNAL_WORK_RETRY)},
    {"signal.work.retry", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_WORK_RETRY)},
    {"signal.host.lost", "every", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_HOST_LOST, .to = 7, .admission = 6, .returned = 1)},
    {"signal.host.lost", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_HOST_LOST)},
    {"signal.lane.ask", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_LANE_ASK)},
    {"signal.lane.ask", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_LANE_ASK)},
    {"signal.lane.granted", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_LANE_GRANTED)},
    {"signal.lane.granted", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_LANE_GRANTED)},
    {"signal.lane.return", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_LANE_RETURN)},
    {"signal.lane.return", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_LANE_RETURN)},
    {"signal.lane.hold", "every", &OF_SIGNAL, ADMISSION_SAMPLE(SIGNAL_LANE_HOLD)},
    {"signal.lane.hold", "every.repository", &OF_SIGNAL,
     EVERY_SIGNAL(SIGNAL_LANE_HOLD, .about.assignment = 5, .body = STR("\x01\x02\x07"),
                  .admission = 6, .until = AT + 10, .spent.cost = 1ull << 40, .spent.tokens = 300,
                  .to = 1, .reason = STR("used up"), .describe.repository = 1ull << 41)},
    {"signal.lane.hold", "minimal", &OF_SIGNAL, SIGNAL_MINIMAL(SIGNAL_LANE_HOLD)},
    {"effect.command",
     "full",
     &OF_EFFECT,
     {.effect = {.command = STR("make check"), .within = 1800000000}}},
    {"effect.command", "minimal", &OF_EFFECT, {.effect = {.within = 0}}},
    {"effect.command", "every", &OF_EFFECT, {.effect = {.command = STR("make"), .within = 5}}},
#define AGENT_EFFECT(w, ...) \
    { \
        .effect = { \
            .within = 5, \
            .assignment = 6, \
            .agent = STR("auto-1"), \
            .session = STR("agent:auto-1:main"), \
            .model = STR("large"), \
            .account = STR("ours"), \
            .run = 7, \
            .dispatch = 300, \
            .sample = 20, \
            .text = HASH_BYTES, \
            .handoff = HASH_BYTES, \
            .outgoing = HASH_BYTES, \
            .words = (w), \
            .node = STR("S1.1.1"), \
            __VA_ARGS__ \
        } \
    }
#define AGENT_EFFECT_HOST \
    .start = HASH_BYTES, .permits = 1, .orphan_after = 900000000, \
    .candidate.onto = STR("77d02b1"), .candidate.snapshot = STR("a41c09e"), \
    .candidate.conflict = STR("5ca1ab1e"), .candidate.digest = HASH_BYTES
    {"effect.spawn", "before", &OF_SPAWN, AGENT_EFFECT(WORDS_TASK, .candidate.commit = {0})},
    {"effect.spawn", "every", &OF_SPAWN,
     AGENT_EFFECT(WORDS_TASK, .candidate.commit = STR("9fceb02d"))},
    {"effect.spawn", "every.2", &OF_SPAWN,
     AGENT_EFFECT(WORDS_TASK, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.spawn", "every.host", &OF_SPAWN,
     AGENT_EFFECT(WORDS_TASK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.spawn", "every.repository", &OF_SPAWN,
     AGENT_EFFECT(WORDS_TASK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.spawn", "every.branch", &OF_SPAWN,
     AGENT_EFFECT(WORDS_TASK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.spawn", "minimal", &OF_SPAWN, {.effect = {.within = 0}}},
    {"effect.send", "before", &OF_SEND, AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = {0})},
    {"effect.send", "every", &OF_SEND,
     AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = STR("9fceb02d"))},
    {"effect.send", "every.2", &OF_SEND,
     AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.send", "every.host", &OF_SEND,
     AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.send", "every.repository", &OF_SEND,
     AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.send", "every.branch", &OF_SEND,
     AGENT_EFFECT(WORDS_AGAIN, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.send", "minimal", &OF_SEND, {.effect = {.within = 0}}},
    {"effect.look", "before", &OF_LOOK, AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = {0})},
    {"effect.look", "every", &OF_LOOK,
     AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = STR("9fceb02d"))},
    {"effect.look", "every.2", &OF_LOOK,
     AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.look", "every.host", &OF_LOOK,
     AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.look", "every.repository", &OF_LOOK,
     AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.look", "every.branch", &OF_LOOK,
     AGENT_EFFECT(WORDS_NUDGE, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.look", "minimal", &OF_LOOK, {.effect = {.within = 0}}},
    {"effect.stop", "before", &OF_STOP, AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = {0})},
    {"effect.stop", "every", &OF_STOP,
     AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = STR("9fceb02d"))},
    {"effect.stop", "every.2", &OF_STOP,
     AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.stop", "every.host", &OF_STOP,
     AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.stop", "every.repository", &OF_STOP,
     AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.stop", "every.branch", &OF_STOP,
     AGENT_EFFECT(WORDS_HANDOVER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.stop", "minimal", &OF_STOP, {.effect = {.within = 0}}},
    {"effect.check", "every", &OF_CHECK,
     AGENT_EFFECT(WORDS_BLOCK, .candidate.commit = STR("9fceb02d"))},
    {"effect.check", "every.2", &OF_CHECK,
     AGENT_EFFECT(WORDS_BLOCK, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.check", "every.host", &OF_CHECK,
     AGENT_EFFECT(WORDS_BLOCK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.check", "every.repository", &OF_CHECK,
     AGENT_EFFECT(WORDS_BLOCK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.check", "every.branch", &OF_CHECK,
     AGENT_EFFECT(WORDS_BLOCK, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.check", "minimal", &OF_CHECK, {.effect = {.within = 0}}},
    {"effect.land", "every", &OF_LAND,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"))},
    {"effect.land", "every.2", &OF_LAND,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), .start = HASH_BYTES,
                  .permits = 1)},
    {"effect.land", "every.host", &OF_LAND,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.land", "every.repository", &OF_LAND,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.land", "every.branch", &OF_LAND,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.land", "minimal", &OF_LAND, {.effect = {.within = 0}}},
    {"effect.thaw", "every", &OF_THAW,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST)},
    {"effect.thaw", "every.repository", &OF_THAW,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41)},
    {"effect.thaw", "every.branch", &OF_THAW,
     AGENT_EFFECT(WORDS_ANSWER, .candidate.commit = STR("9fceb02d"), AGENT_EFFECT_HOST,
                  .repository = 1ull << 41, .candidate.branch = STR("T19-fix-login"),
                  .candidate.subject = STR("Fix login"))},
    {"effect.thaw", "minimal", &OF_THAW, {.effect = {.within = 0}}},
    {"effect.tell", "every", &OF_TELL, {.effect = {.to = GOAL_BYTES, .body = STR("\x01\x1b")}}},
    {"effect.tell", "minimal", &OF_TELL, {.effect = {.within = 0}}},
    {"effect.say",
     "every",
     &OF_SAY,
     {.effect = {.within = 600000000, .body = STR("\x01\x08\x02")}}},
    {"effect.say", "minimal", &OF_SAY, {.effect = {.within = 0}}},
    {"goal.hot",
     "full",
     &OF_HOT,
     {.goal = {.status = GOAL_COMPLETED,
               .need = NEED_FAILED,
               .times.created_at = AT,
               .times.updated_at = AT + 5,
               .progress.reports = 300,
               .effects.made = 128,
               .progress.last_exit = -9}}},
    {"goal.hot", "minimal", &OF_HOT, {.goal = {.progress.reports = 0}}},
    {"goal.hot",
     "every",
     &OF_HOT,
     {.goal = {.status = GOAL_ARCHIVED,
               .need = NEED_UNCONFIRMED,
               .times.created_at = AT,
               .times.updated_at = AT + 5,
               .progress.reports = 1,
               .effects.made = 2,
               .progress.last_exit = 3,
               .priority = PRIORITY_HIGH,
               .text = HASH_BYTES,
               .plan.version = 4,
               .plan.nodes_made = 5,
               .progress.percent = 66,
               .plan.proposal = HASH_BYTES,
               .plan.proposal_base = 6,
               .plan.review = 1,
               .times.ended_at = AT + 6,
               .era = 7,
               .progress.working = 8,
               .parts_made = 9,
               .shown = 10,
               .progress.succeeded = 1,
               .plan.reopened = 1}}},
    {"goal.hot",
     "every.2",
     &OF_HOT,
     {.goal = {.status = GOAL_ARCHIVED,
               .need = NEED_UNCONFIRMED,
               .times.created_at = AT,
               .times.updated_at = AT + 5,
               .progress.reports = 1,
               .effects.made = 2,
               .progress.last_exit = 3,
               .priority = PRIORITY_HIGH,
               .text = HASH_BYTES,
               .plan.version = 4,
               .plan.nodes_made = 5,
               .progress.percent = 66,
               .plan.proposal = HASH_BYTES,
               .plan.proposal_base = 6,
               .plan.review = 1,
               .times.ended_at = AT + 6,
               .era = 7,
               .progress.working = 8,
               .parts_made = 9,
               .shown = 10,
               .progress.succeeded = 1,
               .plan.reopened = 1,
               .kind.admission = 11,
               .people.questions = 12,
               .people.notices = 13,
               .people.notices_since = AT + 7,
               .times.wants_at = AT + 8,
               .pace = {.next = AT + 9,
                        .since = AT + 10,
                        .struck = 14,
                        .suspended = 1,
                        .released_at = AT + 11,
                        .alone_at = AT + 12},
               .origin = HASH_BYTES,
               .spent.cost = 15,
               .spent.tokens = 16,
               .spent.starts = 17}}},
#define HOT_SAMPLE(...) \
    { \
        .goal = { \
            .status = GOAL_ARCHIVED, \
            .need = NEED_UNCONFIRMED, \
            .times.created_at = AT, \
            .times.updated_at = AT + 5, \
            .progress.reports = 1, \
            .effects.made = 2, \
            .progress.last_exit = 3, \
            .priority = PRIORITY_HIGH, \
            .text = HASH_BYTES, \
            .plan.version = 4, \
            .plan.nodes_made = 5, \
            .progress.percent = 66, \
            .plan.proposal = HASH_BYTES, \
            .plan.proposal_base = 6, \
            .plan.review = 1, \
            .times.ended_at = AT + 6, \
            .era = 7, \
            .progress.working = 8, \
            .parts_made = 9, \
            .shown = 10, \
            .progress.succeeded = 1, \
            .plan.reopened = 1, \
            .kind.admission = 11, \
            .people.questions = 12, \
            .people.notices = 13, \
            .people.notices_since = AT + 7, \
            .times.wants_at = AT + 8, \
            .pace = {.next = AT + 9, \
                     .since = AT + 10, \
                     .struck = 14, \
                     .suspended = 1, \
                     .released_at = AT + 11, \
                     .alone_at = AT + 12}, \
            .origin = HASH_BYTES, \
            .spent.cost = 15, \
            .spent.tokens = 16, \
            .spent.starts = 17, \
            .clock.steps = -3, \
            .clock.id = 18, \
            .kind.workspace = 1, \
            __VA_ARGS__ \
        } \
    }
    {"goal.hot", "every.3", &OF_HOT, HOT_SAMPLE(.repository = 0)},
    {"goal.hot", "every.repository", &OF_HOT, HOT_SAMPLE(.repository = 1ull << 41)},
    {"goal.hot", "every.number", &OF_HOT, HOT_SAMPLE(.repository = 1ull << 41, .kind.number = 7)},
    {"goal.hot", "every.subject", &OF_HOT,
     HOT_SAMPLE(.repository = 1ull << 41, .kind.number = 7, .kind.subject = "Fix login")},
    {"goal.hot", "every.batch", &OF_HOT,
     HOT_SAMPLE(.repository = 1ull << 41, .kind.number = 7, .kind.subject = "Fix login",
                .kind.batch = {1ull << 40, AT})},
    {"goal.hot", "every.mark", &OF_HOT,
     HOT_SAMPLE(.repository = 1ull << 41, .kind.number = 7, .kind.subject = "Fix login",
                .kind.batch = {1ull << 40, AT}, .kind.quota_mark = 80)},
    {"evidence",
     "full",
     &OF_EVIDENCE,
     {.evidence = {.rule = STR("effect.outcome"),
                   .signal = SIGNAL_EFFECT_ENDED,
                   .source = SOURCE_BYTES,
                   .actor = STR("agnes"),
                   .effect = 1,
                   .host = 7,
                   .fence = 1ull << 40,
                   .exit = -1,
                   .threshold = 1800000000,
                   .text = STR("said: \xC3\xBC")}}},
    {"evidence", "minimal", &OF_EVIDENCE, {.evidence = {.exit = 0}}},
    {"evidence",
     "every",
     &OF_EVIDENCE,
     {.evidence = {.rule = STR("work.block"),
                   .signal = SIGNAL_WORK_MOVE,
                   .source = SOURCE_BYTES,
                   .actor = STR("agnes"),
                   .effect = 1,
                   .host = 2,
                   .fence = 3,
                   .exit = 4,
                   .threshold = 5,
                   .text = STR("text"),
                   .node = STR("S1.1.1"),
                   .from = STR("queued"),
                   .to = STR("blocked"),
                   .reason = STR("needs a key"),
                   .by = WHO_HUMAN,
                   .override = 1,
                   .plan.version = 6,
                   .plan.why = REASON_REPLAN,
                   .more = HASH_BYTES,
                   .trace = STR("trace-7"),
                   .blocked = BLOCKED_BY_PERSON,
                   .assignment = STR("A_1")}}},
    {"evidence",
     "every.2",
     &OF_EVIDENCE,
     {.evidence = {.rule = STR("work.block"),
                   .signal = SIGNAL_WORK_MOVE,
                   .source = SOURCE_BYTES,
                   .actor = STR("agnes"),
                   .effect = 1,
                   .host = 2,
                   .fence = 3,
                   .exit = 4,
                   .threshold = 5,
                   .text = STR("text"),
                   .node = STR("S1.1.1"),
                   .from = STR("queued"),
                   .to = STR("blocked"),
                   .reason = STR("needs a key"),
                   .by = WHO_HUMAN,
                   .override = 1,
                   .plan.version = 6,
                   .plan.why = REASON_REPLAN,
                   .more = HASH_BYTES,
                   .trace = STR("trace-7"),
                   .blocked = BLOCKED_BY_PERSON,
                   .assignment = STR("A_1"),
                   .replay.owner = 8,
                   .replay.input = STR("\x01\x03"),
                   .replay.input_apart = HASH_BYTES,
                   .question = STR("Q_1"),
                   .until = AT,
                   .count = 9,
                   .replay.era = 10,
                   .replay.level = 4}}},
    {"evidence",
     "every.sampled",
     &OF_EVIDENCE,
     {.evidence = {.rule = STR("work.block"),
                   .signal = SIGNAL_WORK_MOVE,
                   .source = SOURCE_BYTES,
                   .actor = STR("agnes"),
                   .effect = 1,
                   .host = 2,
                   .fence = 3,
                   .exit = 4,
                   .threshold = 5,
                   .text = STR("text"),
                   .node = STR("S1.1.1"),
                   .from = STR("queued"),
                   .to = STR("blocked"),
                   .reason = STR("needs a key"),
                   .by = WHO_HUMAN,
                   .override = 1,
                   .plan.version = 6,
                   .plan.why = REASON_REPLAN,
                   .more = HASH_BYTES,
                   .trace = STR("trace-7"),
                   .blocked = BLOCKED_BY_PERSON,
                   .assignment = STR("A_1"),
                   .replay.owner = 8,
                   .replay.input = STR("\x01\x03"),
                   .replay.input_apart = HASH_BYTES,
                   .question = STR("Q_1"),
                   .until = AT,
                   .count = 9,
                   .replay.era = 10,
                   .replay.level = 4,
                   .replay.samples = STR("\x01\x03"),
                   .replay.samples_apart = HASH_BYTES}}},
    {"goal_text",
     "every",
     &OF_GOAL_TEXT,
     {.goal_text = {.problem = STR("nobody sees it"),
                    .success_criteria = {LINES, 2},
                    .non_goals = {LINES, 1},
                    .source_session = STR("main"),
                    .channel = STR("chat"),
                    .to = STR("room 7"),
                    .thread = STR("t1"),
                    .account = STR("a1"),
                    .owner = STR("agnes"),
                    .stakeholders = {LINES, 1},
                    .repo_snapshot = STR("one branch"),
                    .constraints = {LINES, 1},
                    .assumptions = {LINES, 2},
                    .risks = {RISK_ROWS, 2}}}},
    {"goal_text", "minimal", &OF_GOAL_TEXT, {.goal_text = {.owner = {0}}}},
    {"node",
     "every",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3}}},
    {"node",
     "every.2",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5}}},
    {"node",
     "every.3",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5,
               .start = HASH_BYTES}}},
    {"node",
     "every.4",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5,
               .start = HASH_BYTES,
               .contract.given = 1,
               .result.completion = 1,
               .result.confidence = 2,
               .result.report = HASH_BYTES,
               .result.proof = PROOF_LANDED,
               .result.landed = HASH_BYTES}}},
    {"node",
     "every.5",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5,
               .start = HASH_BYTES,
               .contract.given = 1,
               .result.completion = 1,
               .result.confidence = 2,
               .result.report = HASH_BYTES,
               .result.proof = PROOF_LANDED,
               .result.landed = HASH_BYTES,
               .contract.on_failure = ON_FAILURE_ESCALATE,
               .contract.wants_report = 1,
               .result.verdict = HASH_BYTES}}},
    {"node",
     "every.host",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5,
               .start = HASH_BYTES,
               .contract.given = 1,
               .result.completion = 1,
               .result.confidence = 2,
               .result.report = HASH_BYTES,
               .result.proof = PROOF_LANDED,
               .result.landed = HASH_BYTES,
               .contract.on_failure = ON_FAILURE_ESCALATE,
               .contract.wants_report = 1,
               .result.verdict = HASH_BYTES,
               .run.effect = 3,
               .run.host = 2,
               .run.orphan_after = 900000000,
               .run.alone_at = AT + 11,
               .run.lost = 3}}},
    {"node",
     "every.answer",
     &OF_NODE,
     {.node = {.id = "S1.1.1",
               .parent = 2,
               .tier = TIER_SUBTASK,
               .status = NODE_BLOCKED,
               .place = 3,
               .pinned = 1,
               .retired = 1,
               .blocked = BLOCKED_BY_FAILURE,
               .effort = 90,
               .times.created_at = AT,
               .times.updated_at = AT + 1,
               .times.started_at = AT + 2,
               .times.ended_at = AT + 3,
               .times.queued_at = AT + 4,
               .text = HASH_BYTES,
               .why = HASH_BYTES,
               .depends = {0, 1, 300},
               .depend_count = 3,
               .agent = "auto-1",
               .role = "coder",
               .attempts = 5,
               .start = HASH_BYTES,
               .contract.given = 1,
               .result.completion = 1,
               .result.confidence = 2,
               .result.report = HASH_BYTES,
               .result.proof = PROOF_LANDED,
               .result.landed = HASH_BYTES,
               .contract.on_failure = ON_FAILURE_ESCALATE,
               .contract.wants_report = 1,
               .result.verdict = HASH_BYTES,
               .run.effect = 3,
               .run.host = 2,
               .run.orphan_after = 900000000,
               .run.alone_at = AT + 11,
               .run.lost = 3,
               .contract.answer = 1,
               .result.answer = HASH_BYTES}}},
    {"node", "minimal", &OF_NODE, {.node = {.n = 0}}},
    {"node_text",
     "every",
     &OF_NODE_TEXT,
     {.node_text = {.name = {"task", 4},
                    .objective = {"to see", 6},
                    .outcome = {"seen", 4},
                    .criteria = {LINES, 2},
                    .definition_of_done = {"all of it", 9},
                    .agent = {"auto-1", 6},
                    .agent_type = {"coder", 5},
                    .tools = {LINES, 1},
                    .effort = {"2h", 2},
                    .risk = RISK_HIGH,
                    .scope_paths = {LINES, 1}}}},
    {"node_text",
     "every.2",
     &OF_NODE_TEXT,
     {.node_text = {.name = {"task", 4},
                    .objective = {"to see", 6},
                    .outcome = {"seen", 4},
                    .criteria = {LINES, 2},
                    .definition_of_done = {"all of it", 9},
                    .agent = {"auto-1", 6},
                    .agent_type = {"coder", 5},
                    .tools = {LINES, 1},
                    .effort = {"2h", 2},
                    .risk = RISK_HIGH,
                    .scope_paths = {LINES, 1},
                    .allow = {LINES, 2},
                    .deny = {LINES, 1}}}},
    {"node_text",
     "every.3",
     &OF_NODE_TEXT,
     {.node_text = {.name = {"task", 4},
                    .objective = {"to see", 6},
                    .outcome = {"seen", 4},
                    .criteria = {LINES, 2},
                    .definition_of_done = {"all of it", 9},
                    .agent = {"auto-1", 6},
                    .agent_type = {"coder", 5},
                    .tools = {LINES, 1},
                    .effort = {"2h", 2},
                    .risk = RISK_HIGH,
                    .scope_paths = {LINES, 1},
                    .allow = {LINES, 2},
                    .deny = {LINES, 1},
                    .artifacts = {ARTIFACTS, 2},
                    .completion_report = 1,
                    .progress_reporting = 1}}},
    {"node_text",
     "every.4",
     &OF_NODE_TEXT,
     {.node_text = {.name = {"task", 4},
                    .objective = {"to see", 6},
                    .outcome = {"seen", 4},
                    .criteria = {LINES, 2},
                    .definition_of_done = {"all of it", 9},
                    .agent = {"auto-1", 6},
                    .agent_type = {"coder", 5},
                    .tools = {LINES, 1},
                    .effort = {"2h", 2},
                    .risk = RISK_HIGH,
                    .scope_paths = {LINES, 1},
                    .allow = {LINES, 2},
                    .deny = {LINES, 1},
                    .artifacts = {ARTIFACTS, 2},
                    .completion_report = 1,
                    .progress_reporting = 1,
                    .require_report = 1,
                    .on_failure = ON_FAILURE_FAIL,
                    .check_within = 5000}}},
    {"node_text",
     "every.5",
     &OF_NODE_TEXT,
     {.node_text = {.name = {"task", 4},
                    .objective = {"to see", 6},
                    .outcome = {"seen", 4},
                    .criteria = {LINES, 2},
                    .definition_of_done = {"all of it", 9},
                    .agent = {"auto-1", 6},
                    .agent_type = {"coder", 5},
                    .tools = {LINES, 1},
                    .effort = {"2h", 2},
                    .risk = RISK_HIGH,
                    .scope_paths = {LINES, 1},
                    .allow = {LINES, 2},
                    .deny = {LINES, 1},
                    .artifacts = {ARTIFACTS, 2},
                    .completion_report = 1,
                    .progress_reporting = 1,
                    .require_report = 1,
                    .on_failure = ON_FAILURE_FAIL,
                    .check_within = 5000,
                    .wants = WANTS_ANSWER}}},
    {"node_text", "minimal", &OF_NODE_TEXT, {.node_text = {.risk = 0}}},
    {"plan", "every", &OF_PLAN_TEXT, {.plan_text = {{PLAN_ROWS, 2}}}},
    {"plan", "every.2", &OF_PLAN_TEXT, {.plan_text = {{PLAN_ROWS_SCOPED, 1}}}},
    {"plan", "every.3", &OF_PLAN_TEXT, {.plan_text = {{PLAN_ROWS_BOUND, 1}}}},
    {"plan", "every.4", &OF_PLAN_TEXT, {.plan_text = {{PLAN_ROWS_CHECKED, 1}}}},
    {"plan", "every.5", &OF_PLAN_TEXT, {.plan_text = {{PLAN_ROWS_ANSWERED, 1}}}},
    {"plan", "minimal", &OF_PLAN_TEXT, {.plan_text = {{NULL, 0}}}},
    {"tags", "every", &OF_TAGS, {.tags = {{LINES, 2}}}},
    {"tags", "minimal", &OF_TAGS, {.tags = {{NULL, 0}}}},
    {"assignment",
     "every",
     &OF_ASSIGNMENT_ROW,
     {.assignment_row = {.id = STR("A_1"),
                         .node = STR("S1.1.1"),
                         .agent = STR("auto-1"),
                         .session = STR("main"),
                         .status = STR("active"),
                         .instruction = STR("do it"),
                         .instruction_hash = STR("ab12"),
                         .run = STR("R_1"),
                         .recovery = STR("nudge"),
                         .blocked_reason = STR("needs a key"),
                         .created_at = AT,
                         .updated_at = AT + 1,
                         .last_dispatch_at = AT + 2,
                         .last_activity_at = AT + 3,
                         .expected_next_at = AT + 4,
                         .idle_after = 900000000,
                         .last_retry_at = AT + 5,
                         .backoff_until = AT + 6,
                         .retries = 2}}},
    {"assignment", "minimal", &OF_ASSIGNMENT_ROW, {.assignment_row = {.retries = 0}}},
    {"dispatch",
     "every",
     &OF_DISPATCH,
     {.dispatch = {.id = STR("D_1"),
                   .at = AT,
                   .assignment = STR("A_1"),
                   .mode = STR("prompt"),
                   .target = STR("auto-1"),
                   .instruction_hash = STR("ab12"),
                   .result = STR("accepted"),
                   .run = STR("R_1"),
                   .notes = STR("first")}}},
    {"dispatch",
     "before",
     &OF_DISPATCH,
     {.dispatch = {.id = STR("D_1"),
                   .at = AT,
                   .assignment = STR("A_1"),
                   .mode = STR("prompt"),
                   .target = STR("auto-1"),
                   .instruction_hash = STR("ab12"),
                   .result = STR("accepted"),
                   .run = STR("R_1"),
                   .notes = STR("first")}}},
    {"dispatch", "minimal", &OF_DISPATCH, {.dispatch = {.at = 0}}},
    {"crystallization",
     "every",
     &OF_HANDOFF,
     {.handoff = {.id = STR("C_1"),
                  .node = STR("S1.1.1"),
                  .summary = STR("what happened"),
                  .state = STR("what there is"),
                  .decisions = {LINES, 1},
                  .next_actions = {LINES, 2},
                  .open_questions = {LINES, 1},
                  .blockers = {LINES, 1},
                  .files = {LINES, 1},
                  .commands = {LINES, 1},
                  .tests = {LINES, 1},
                  .commits = {LINES, 1},
                  .refs = {LINES, 1},
                  .prs = {LINES, 1},
                  .issues = {LINES, 1},
                  .session = STR("main"),
                  .session_id = STR("s-7"),
                  .at = AT}}},
    {"crystallization",
     "before",
     &OF_HANDOFF,
     {.handoff = {.id = STR("C_1"),
                  .node = STR("S1.1.1"),
                  .summary = STR("what happened"),
                  .state = STR("what there is"),
                  .decisions = {LINES, 1},
                  .next_actions = {LINES, 2},
                  .open_questions = {LINES, 1},
                  .blockers = {LINES, 1},
                  .files = {LINES, 1},
                  .commands = {LINES, 1},
                  .tests = {LINES, 1},
                  .commits = {LINES, 1},
                  .refs = {LINES, 1},
                  .session = STR("main"),
                  .session_id = STR("s-7"),
                  .at = AT}}},
    {"crystallization", "minimal", &OF_HANDOFF, {.handoff = {.at = 0}}},
    {"run",
     "every",
     &OF_RUN,
     {.run = {.id = STR("R_1"),
              .assignment = STR("A_1"),
              .node = STR("S1.1.1"),
              .agent = STR("auto-1"),
              .session = STR("main"),
              .status = STR("ended"),
              .verification = STR("passed"),
              .started_at = AT,
              .ended_at = AT + 1,
              .exit = -1}}},
    {"run", "minimal", &OF_RUN, {.run = {.exit = 0}}},
#define ASSIGNMENT_SAMPLE(...) \
    { \
        .assignment = { \
            .n = 1, \
            .node = 2, \
            .status = ASSIGNMENT_BLOCKED, \
            .agent = "auto-1", \
            .session = "agent:auto-1:main", \
            .account = "ours", \
            .run = 3, \
            .ended = 1, \
            .delivery.handoff = HASH_BYTES, \
            .outgoing.text = HASH_BYTES, \
            .delivery.instruction = HASH_BYTES, \
            .delivery.words = WORDS_ANSWER, \
            .delivery.dispatch = 4, \
            .delivery.result = DELIVERY_TIMEOUT, \
            .delivery.effect = 5, \
            .recovery.first = RUNG_RESEND, \
            .recovery.rung = RUNG_ASK, \
            .recovery.retries = 6, \
            .delivery.attempts = 7, \
            .recovery.restarts = 8, \
            .recovery.asked = 1, \
            .recovery.restart_since = AT, \
            .created_at = AT + 1, \
            .updated_at = AT + 2, \
            .delivery.last_at = AT + 3, \
            .liveness.last_activity_at = AT + 4, \
            .liveness.expected_next_at = AT + 5, \
            .liveness.idle_after = 900000000, \
            .recovery.last_retry_at = AT + 6, \
            .recovery.backoff_until = AT + 7, \
            .wait.until = AT + 8, \
            .wait.on = WAITS_FOR_RETRY, \
            .wait.question = 9, \
            .liveness.attached = 1, \
            .liveness.fingerprint = UINT64_MAX, \
            .liveness.context = 85, \
            .usage.tokens = 10, \
            .usage.cost = 11, \
            .usage.run_tokens = 12, \
            .usage.run_cost = 13, \
            .permit.host = 14, \
            .permit.turn = 15, \
            .delivery.newest_handoff = 16, \
            .wait.reason = "needs a key", \
            .recovery.allowed = 1, \
            .liveness.looked_at = AT + 9, \
            .liveness.unseen = 17, \
            .recovery.moves = 18, \
            .recovery.handover = 1, \
            .usage.settled_cost = 19, \
            .usage.settled_tokens = 20, \
            .parent = 21, \
            .requests.count = 3, \
            .requests.at = {0, 1, 300}, \
            __VA_ARGS__ \
        } \
    }
    {"charge", "before", &OF_ASSIGNMENT, ASSIGNMENT_SAMPLE(.liveness.observed_since = 0)},
    {"charge", "listened", &OF_ASSIGNMENT, ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9)},
    {"charge", "answered", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9, .wait.answered = 2,
                       .outgoing.next = WORDS_HANDOVER)},
    {"charge", "every", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9, .wait.answered = 2,
                       .outgoing.next = WORDS_HANDOVER, .check.commit = "9fceb02d",
                       .check.rounds = 2, .outgoing.message = HASH_BYTES,
                       .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced")},
    {"charge", "every.2", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9, .wait.answered = 2,
                       .outgoing.next = WORDS_HANDOVER, .check.commit = "9fceb02d",
                       .check.rounds = 2, .outgoing.message = HASH_BYTES,
                       .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
                       .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
                       .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
                       .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
                       .progress.confidence = 2, .progress.report = HASH_BYTES,
                       .outgoing.permits = 1)},
    {"charge", "every.3", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9, .wait.answered = 2,
                       .outgoing.next = WORDS_HANDOVER, .check.commit = "9fceb02d",
                       .check.rounds = 2, .outgoing.message = HASH_BYTES,
                       .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
                       .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
                       .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
                       .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
                       .progress.confidence = 2, .progress.report = HASH_BYTES,
                       .outgoing.permits = 1, .progress.reported_last = 1,
                       .check.contract = HASH_BYTES, .check.verdict = HASH_BYTES,
                       .check.retried_at = AT + 12, .check.retry_of = 7,
                       .outgoing.undelivered = WORDS_ANSWER, .check.on_failure = ON_FAILURE_RETRY,
                       .check.wants_report = 1)},
    {"charge", "every.sampled", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(.liveness.observed_since = AT + 9, .wait.answered = 2,
                       .outgoing.next = WORDS_HANDOVER, .check.commit = "9fceb02d",
                       .check.rounds = 2, .outgoing.message = HASH_BYTES,
                       .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
                       .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
                       .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
                       .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
                       .progress.confidence = 2, .progress.report = HASH_BYTES,
                       .outgoing.permits = 1, .progress.reported_last = 1,
                       .check.contract = HASH_BYTES, .check.verdict = HASH_BYTES,
                       .check.retried_at = AT + 12, .check.retry_of = 7,
                       .outgoing.undelivered = WORDS_ANSWER, .check.on_failure = ON_FAILURE_RETRY,
                       .check.wants_report = 1, .progress.sampled = 1, .check.onto = "77d02b1",
                       .check.snapshot = "a41c09e", .check.conflict = "5ca1ab1e",
                       .check.digest = HASH_BYTES, .check.change = HASH_BYTES, .check.judged = 1,
                       .check.recheck = 1, .check.rechecks = 2, .check.approved = 1,
                       .slot.state = SLOT_HELD, .slot.turn = 9, .slot.host = 3)},
    {"charge", "every.host", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(
             .liveness.observed_since = AT + 9, .wait.answered = 2, .outgoing.next = WORDS_HANDOVER,
             .check.commit = "9fceb02d", .check.rounds = 2, .outgoing.message = HASH_BYTES,
             .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
             .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
             .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
             .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
             .progress.confidence = 2, .progress.report = HASH_BYTES, .outgoing.permits = 1,
             .progress.reported_last = 1, .check.contract = HASH_BYTES, .check.verdict = HASH_BYTES,
             .check.retried_at = AT + 12, .check.retry_of = 7, .outgoing.undelivered = WORDS_ANSWER,
             .check.on_failure = ON_FAILURE_RETRY, .check.wants_report = 1, .progress.sampled = 1,
             .check.onto = "77d02b1", .check.snapshot = "a41c09e", .check.conflict = "5ca1ab1e",
             .check.digest = HASH_BYTES, .check.change = HASH_BYTES, .check.judged = 1,
             .check.recheck = 1, .check.rechecks = 2, .check.approved = 1, .slot.state = SLOT_HELD,
             .slot.turn = 9, .slot.host = 3, .setup.work_host = 4)},
    {"charge", "every.workspace", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(
             .liveness.observed_since = AT + 9, .wait.answered = 2, .outgoing.next = WORDS_HANDOVER,
             .check.commit = "9fceb02d", .check.rounds = 2, .outgoing.message = HASH_BYTES,
             .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
             .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
             .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
             .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
             .progress.confidence = 2, .progress.report = HASH_BYTES, .outgoing.permits = 1,
             .progress.reported_last = 1, .check.contract = HASH_BYTES, .check.verdict = HASH_BYTES,
             .check.retried_at = AT + 12, .check.retry_of = 7, .outgoing.undelivered = WORDS_ANSWER,
             .check.on_failure = ON_FAILURE_RETRY, .check.wants_report = 1, .progress.sampled = 1,
             .check.onto = "77d02b1", .check.snapshot = "a41c09e", .check.conflict = "5ca1ab1e",
             .check.digest = HASH_BYTES, .check.change = HASH_BYTES, .check.judged = 1,
             .check.recheck = 1, .check.rechecks = 2, .check.approved = 1, .slot.state = SLOT_HELD,
             .slot.turn = 9, .slot.host = 3, .setup.work_host = 4, .slot.workspace = GOAL_BYTES)},
    {"charge", "every.branch", &OF_ASSIGNMENT,
     ASSIGNMENT_SAMPLE(
             .liveness.observed_since = AT + 9, .wait.answered = 2, .outgoing.next = WORDS_HANDOVER,
             .check.commit = "9fceb02d", .check.rounds = 2, .outgoing.message = HASH_BYTES,
             .setup.sandbox = "bwrap+landlock", .setup.scope = "enforced",
             .setup.start = HASH_BYTES, .setup.limits = "memory 512 MiB (cgroup)",
             .progress.phase = "reading", .progress.percent = 41, .progress.at = AT + 10,
             .progress.kept = 22, .progress.kept_at = AT + 11, .progress.completion = 1,
             .progress.confidence = 2, .progress.report = HASH_BYTES, .outgoing.permits = 1,
             .progress.reported_last = 1, .check.contract = HASH_BYTES, .check.verdict = HASH_BYTES,
             .check.retried_at = AT + 12, .check.retry_of = 7, .outgoing.undelivered = WORDS_ANSWER,
             .check.on_failure = ON_FAILURE_RETRY, .check.wants_report = 1, .progress.sampled = 1,
             .check.onto = "77d02b1", .check.snapshot = "a41c09e", .check.conflict = "5ca1ab1e",
             .check.digest = HASH_BYTES, .check.change = HASH_BYTES, .check.judged = 1,
             .check.recheck = 1, .check.rechecks = 2, .check.approved = 1, .slot.state = SLOT_HELD,
             .slot.turn = 9, .slot.host = 3, .setup.work_host = 4, .slot.workspace = GOAL_BYTES,
             .setup.branch = "T19-fix-login")},
    {"sample", "every", &OF_SAMPLE, {.sample = SAMPLE_ROW}},
    {"sample", "minimal", &OF_SAMPLE, {.sample = {.assignment = 0}}},
    {"samples", "every", &OF_SAMPLES, {.samples = {{SAMPLE_ROWS, 2}}}},
    {"samples", "minimal", &OF_SAMPLES, {.samples = {{NULL, 0}}}},
    {"beginning",
     "every",
     &OF_BEGINNING,
     {.beginning = {.agent = STR("auto-1"),
                    .model = STR("large"),
                    .thinking = STR("high"),
                    .label = STR("S1.1.1"),
                    .text = HASH_BYTES,
                    .within = 5,
                    .listed = 1,
                    .allow = {LINES, 2},
                    .deny = {LINES, 1}}}},
    {"beginning", "minimal", &OF_BEGINNING, {.beginning = {.within = 0}}},
    {"charge", "minimal", &OF_ASSIGNMENT, {.assignment = {.n = 0}}},
    {"sighting", "before", &OF_OBSERVATION, {.observation = OBSERVATION_SAMPLE(.heard = 0)}},
    {"sighting", "every", &OF_OBSERVATION, {.observation = OBSERVATION_SAMPLE(.heard = 7)}},
    {"sighting", "minimal", &OF_OBSERVATION, {.observation = {.assignment = 0}}},
    {"sightings", "before", &OF_OBSERVATIONS, {.observations = {{OBSERVATION_BEFORE, 2}, AT + 5}}},
    {"sightings", "every", &OF_OBSERVATIONS, {.observations = {{OBSERVATION_ROWS, 2}, AT + 5}}},
    {"sightings", "minimal", &OF_OBSERVATIONS, {.observations = {{NULL, 0}, 0}}},
    {"question",
     "every",
     &OF_QUESTION,
     {.question = {.n = 1,
                   .kind = QUESTION_REQUEST,
                   .state = QUESTION_OVER,
                   .of = OF_OVERSEER,
                   .alarm = ALARM_EMERGENCY,
                   .cause = "stalled/A_1",
                   .node = 2,
                   .assignment = 3,
                   .parent = 4,
                   .text = HASH_BYTES,
                   .options = 5,
                   .fallback.option = 6,
                   .asked_at = AT,
                   .expires_at = AT + 1,
                   .applies_at = AT + 2,
                   .snoozed_until = AT + 3,
                   .acknowledged = 1,
                   .answer.option = 7,
                   .answer.text = HASH_BYTES,
                   .fallback.text = HASH_BYTES,
                   .holds = 1,
                   .who = "agnes bert",
                   .sending.next_at = AT + 4,
                   .sending.rounds = 8,
                   .sending.channels = 2,
                   .sending.keys = {UINT32_MAX, 9},
                   .sending.failures = {0, 10},
                   .sending.again = {11, 300},
                   .sending.arrived = {12, 0},
                   .sending.effects = {13, 14},
                   .sending.began = {15, 16},
                   .sending.unsure = {0, 1},
                   .sending.references = {"#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7"}}}},
    {"question", "minimal", &OF_QUESTION, {.question = {.n = 0}}},
    {"question_text",
     "every",
     &OF_QUESTION_TEXT,
     {.question_text = {.title = STR("go on?"),
                        .text = STR("nobody knows"),
                        .options = {LINES, 2},
                        .rule = STR("ladder.ask"),
                        .reason = STR("no progress"),
                        .evidence = STR("{}"),
                        .who = STR("agnes"),
                        .detection = STR("stalled"),
                        .severity = STR("high"),
                        .intervention = STR("pause"),
                        .recommendations = {LINES, 1},
                        .iteration = 300,
                        .level = STR("critical")}}},
    {"question_text", "minimal", &OF_QUESTION_TEXT, {.question_text = {.iteration = 0}}},
    {"letter",
     "before",
     &OF_AGENT_MESSAGE,
     {.agent_message = {.n = 1,
                        .kind = AGENT_MESSAGE_ALERT,
                        .to = 2,
                        .recipient = "auto-1",
                        .sender = "agnes",
                        .ack_required = 1,
                        .at = AT,
                        .text = HASH_BYTES}}},
    {"letter",
     "every",
     &OF_AGENT_MESSAGE,
     {.agent_message = {.n = 1,
                        .kind = AGENT_MESSAGE_ALERT,
                        .to = 2,
                        .recipient = "auto-1",
                        .sender = "agnes",
                        .ack_required = 1,
                        .at = AT,
                        .text = HASH_BYTES,
                        .outgoing = HASH_BYTES}}},
    {"letter",
     "every.2",
     &OF_AGENT_MESSAGE,
     {.agent_message = {.n = 1,
                        .kind = AGENT_MESSAGE_ALERT,
                        .to = 2,
                        .recipient = "auto-1",
                        .sender = "agnes",
                        .ack_required = 1,
                        .at = AT,
                        .text = HASH_BYTES,
                        .outgoing = HASH_BYTES,
                        .words = WORDS_ANSWER}}},
    {"letter", "minimal", &OF_AGENT_MESSAGE, {.agent_message = {.n = 0}}},
    {"letter_text",
     "every",
     &OF_AGENT_MESSAGE_TEXT,
     {.agent_message_text = {.subject = STR("the key"), .body = STR("it is\nhere")}}},
    {"letter_text", "minimal", &OF_AGENT_MESSAGE_TEXT, {.agent_message_text = {.body = {0}}}},
    {"permit",
     "every",
     &OF_PERMIT,
     {.permit = {.n = 1,
                 .goal = GOAL_BYTES,
                 .assignment = 2,
                 .turn = 3,
                 .state = PERMIT_GRANTED,
                 .wants = PERMIT_DISRUPTIVE,
                 .granted = PERMIT_BEGIN,
                 .again = 1,
                 .stopped = 1,
                 .agent = "auto-1",
                 .repository = UINT64_MAX,
                 .score = 4,
                 .asked_at = AT,
                 .wanted_at = AT + 1,
                 .granted_at = AT + 2,
                 .reserved = 5,
                 .tokens = 6,
                 .settled_cost = 7,
                 .settled_tokens = 8,
                 .goal_cost = 9,
                 .goal_tokens = 10,
                 .goal_starts = 11}}},
    {"permit",
     "every.batch",
     &OF_PERMIT,
     {.permit = {.n = 1,
                 .goal = GOAL_BYTES,
                 .assignment = 2,
                 .turn = 3,
                 .state = PERMIT_GRANTED,
                 .wants = PERMIT_DISRUPTIVE,
                 .granted = PERMIT_BEGIN,
                 .again = 1,
                 .stopped = 1,
                 .agent = "auto-1",
                 .repository = UINT64_MAX,
                 .score = 4,
                 .asked_at = AT,
                 .wanted_at = AT + 1,
                 .granted_at = AT + 2,
                 .reserved = 5,
                 .tokens = 6,
                 .settled_cost = 7,
                 .settled_tokens = 8,
                 .goal_cost = 9,
                 .goal_tokens = 10,
                 .goal_starts = 11,
                 .batch = 1ull << 40,
                 .batch_until = AT + 3}}},
    {"permit",
     "every.mark",
     &OF_PERMIT,
     {.permit = {.n = 1,
                 .goal = GOAL_BYTES,
                 .assignment = 2,
                 .turn = 3,
                 .state = PERMIT_GRANTED,
                 .wants = PERMIT_DISRUPTIVE,
                 .granted = PERMIT_BEGIN,
                 .again = 1,
                 .stopped = 1,
                 .agent = "auto-1",
                 .repository = UINT64_MAX,
                 .score = 4,
                 .asked_at = AT,
                 .wanted_at = AT + 1,
                 .granted_at = AT + 2,
                 .reserved = 5,
                 .tokens = 6,
                 .settled_cost = 7,
                 .settled_tokens = 8,
                 .goal_cost = 9,
                 .goal_tokens = 10,
                 .goal_starts = 11,
                 .batch = 1ull << 40,
                 .batch_until = AT + 3,
                 .mark = 80}}},
    {"permit", "minimal", &OF_PERMIT, {.permit = {.n = 0}}},
    {"account",
     "every",
     &OF_ACCOUNT,
     {.account = {.n = 1,
                  .name = "ours",
                  .limited_until = AT,
                  .guessed = 1,
                  .tried = 2,
                  .probe = 3,
                  .probe_until = AT + 1}}},
    {"account",
     "every.window",
     &OF_ACCOUNT,
     {.account = {.n = 1,
                  .name = "ours",
                  .limited_until = AT,
                  .guessed = 1,
                  .tried = 2,
                  .probe = 3,
                  .probe_until = AT + 1,
                  .window = "7d-opus",
                  .used = 6201,
                  .resets_at = AT + 2,
                  .seen_at = AT + 3,
                  .status = QUOTA_WARNING,
                  .overage = OVERAGE_WAITS,
                  .overage_at = AT + 4,
                  .overage_until = AT + 5,
                  .in_flight = 3}}},
    {"account", "minimal", &OF_ACCOUNT, {.account = {.n = 0}}},
    {"budget",
     "every",
     &OF_BUDGET,
     {.budget = {.n = 1,
                 .scope = "team/one",
                 .unit = UNIT_TOKENS,
                 .window = 3600000000,
                 .since = AT,
                 .spent = 2,
                 .reserved = 3,
                 .warned = 1}}},
    {"budget", "minimal", &OF_BUDGET, {.budget = {.n = 0}}},
    {"hostAccess",
     "every",
     &OF_HOST_ACCESS,
     {.host_access = {.n = 1,
                      .host = "api.example.org:443",
                      .goal = {{9, 1}},
                      .number = 7,
                      .decision = HOST_CHECKS,
                      .question = 2,
                      .tries = 9,
                      .at = AT}}},
    {"hostAccess", "minimal", &OF_HOST_ACCESS, {.host_access = {.n = 0}}},
    {"taskBatch",
     "every",
     &OF_TASK_BATCH,
     {.task_batch = {.n = 1,
                     .name = "web/tonight",
                     .most = 8,
                     .until = AT,
                     .held = 1,
                     .ended = 1,
                     .made_at = AT + 1,
                     .key = 1ull << 40}}},
    {"taskBatch", "minimal", &OF_TASK_BATCH, {.task_batch = {.n = 0}}},
#define POLICY_SAMPLE(...) \
    { \
        .policy = { \
            .act_within = 1, \
            .plans.approve = 2, \
            .plans.agents = STR("auto-1 auto-2"), \
            .dispatch.agents = POLICY_AGENTS, \
            .dispatch.agent_count = 2, \
            .dispatch.most_at_once = 3, \
            .dispatch.most_per_goal = 4, \
            .dispatch.most_per_model = 5, \
            .dispatch.most_per_repository = 6, \
            .dispatch.most_per_account = 7, \
            .dispatch.most_per_team = 8, \
            .recovery.allow_reassign = 9, \
            .checks.by_person = 10, \
            .dispatch.allow_agents = STR("*"), \
            .liveness.tick_every = 11, \
            .liveness.idle_after = 12, \
            .liveness.idle_in_tool = 13, \
            .liveness.chatter_most = 14, \
            .liveness.turn_most = 15, \
            .liveness.context_most = 16, \
            .recovery.first_rung = RUNG_REASSIGN, \
            .recovery.max_retries = 17, \
            .recovery.max_attempts = 18, \
            .recovery.backoff_base = 19, \
            .recovery.backoff_max = 20, \
            .recovery.min_resend = 21, \
            .recovery.planner = 22, \
            .recovery.max_restarts = 23, \
            .recovery.restart_window = 24, \
            .pace.actions_per_minute = 25, \
            .pace.blast_share = 26, \
            .pace.blast_least = 27, \
            .spending.budgets = POLICY_BUDGETS, \
            .spending.budget_count = 1, \
            .spending.quota_guess = 28, \
            .people.channels = POLICY_CHANNELS, \
            .people.channel_count = 2, \
            .people.auto_escalate = 29, \
            .people.notify_below = 30, \
            .people.say_again = 31, \
            .people.say_again_most = 32, \
            .people.say_most = 33, \
            .people.quiet_from = 34, \
            .people.quiet_to = 35, \
            .people.expires_after = 36, \
            .people.undo_for = 37, \
            .people.request_raise = 38, \
            .people.messages_per_hour = 39, \
            __VA_ARGS__ \
        } \
    }
    {"policy", "before", &OF_POLICY, POLICY_SAMPLE(.checks.configured = 0)},
    {"policy", "every", &OF_POLICY,
     POLICY_SAMPLE(.checks.configured = 1, .landing.automatic = 1, .checks.rounds = 3,
                   .checks.within = 46)},
    {"policy", "every.host", &OF_POLICY,
     POLICY_SAMPLE(.checks.configured = 1, .landing.automatic = 1, .checks.rounds = 3,
                   .checks.within = 46, .recovery.orphan_after = 47,
                   .landing.workspace = 1ull << 40, .landing.workspace_local = 1,
                   .landing.rechecks = 5)},
    {"policy", "every.repository", &OF_POLICY,
     POLICY_SAMPLE(.checks.configured = 1, .landing.automatic = 1, .checks.rounds = 3,
                   .checks.within = 46, .recovery.orphan_after = 47,
                   .landing.workspace = 1ull << 40, .landing.workspace_local = 1,
                   .landing.rechecks = 5, .repositories = {REPOSITORIES, 1})},
    {"policy", "every.accounts", &OF_POLICY,
     POLICY_SAMPLE(.checks.configured = 1, .landing.automatic = 1, .checks.rounds = 3,
                   .checks.within = 46, .recovery.orphan_after = 47,
                   .landing.workspace = 1ull << 40, .landing.workspace_local = 1,
                   .landing.rechecks = 5, .repositories = {REPOSITORIES, 1},
                   .spending.accounts = POLICY_ACCOUNTS, .spending.account_count = 1)},
    {"policy", "minimal", &OF_POLICY, {.policy = {.act_within = 0}}},
    {"update",
     "every",
     &OF_UPDATE,
     {.update = {.goal = STR("G_1"),
                 .node = STR("S1.1.1"),
                 .status = STR("done"),
                 .summary = STR("it is seen"),
                 .next = STR("the next one"),
                 .blockers = {LINES, 1},
                 .files = {LINES, 2},
                 .tests = {LINES, 1},
                 .commits = {LINES, 1}}}},
    {"update",
     "every.2",
     &OF_UPDATE,
     {.update = {.goal = STR("G_1"),
                 .node = STR("S1.1.1"),
                 .status = STR("done"),
                 .summary = STR("it is seen"),
                 .next = STR("the next one"),
                 .blockers = {LINES, 1},
                 .files = {LINES, 2},
                 .tests = {LINES, 1},
                 .commits = {LINES, 1},
                 .completion = 1,
                 .confidence = 2,
                 .artifacts = {CLAIMS, 1},
                 .warnings = {LINES, 1}}}},
    {"update",
     "every.3",
     &OF_UPDATE,
     {.update = {.goal = STR("G_1"),
                 .node = STR("S1.1.1"),
                 .status = STR("done"),
                 .summary = STR("it is seen"),
                 .next = STR("the next one"),
                 .blockers = {LINES, 1},
                 .files = {LINES, 2},
                 .tests = {LINES, 1},
                 .commits = {LINES, 1},
                 .completion = 1,
                 .confidence = 2,
                 .artifacts = {CLAIMS, 1},
                 .warnings = {LINES, 1},
                 .by_tool = 1}}},
    {"update", "minimal", &OF_UPDATE, {.update = {.next = {0}}}},
    {"progress",
     "every",
     &OF_PROGRESS,
     {.progress = {.phase = STR("reading"),
                   .percent = 41,
                   .level = PROGRESS_DETAIL,
                   .metrics = {LINES, 2}}}},
    {"progress", "minimal", &OF_PROGRESS, {.progress = {.percent = 0}}},
    {"verification",
     "every",
     &OF_VERIFICATION,
     {.verification = {.status = VERIFIED_FAILED, .at = AT, .checks = {CHECKS_MADE, 2}}}},
    {"verification",
     "every.candidate",
     &OF_VERIFICATION,
     {.verification = {.status = VERIFIED_FAILED,
                       .at = AT,
                       .checks = {CHECKS_MADE, 2},
                       .commit = STR("9fceb02d"),
                       .onto = STR("77d02b1"),
                       .snapshot = STR("a41c09e"),
                       .digest = HASH_BYTES,
                       .judged = JUDGED_RULES,
                       .change = HASH_BYTES}}},
    {"verification", "minimal", &OF_VERIFICATION, {.verification = {.at = 0}}},
    {"notice",
     "every",
     &OF_NOTICE,
     {.notice = {.id = SOURCE_BYTES,
                 .goal = GOAL_BYTES,
                 .channel = STR("pager"),
                 .alarm = ALARM_CRITICAL,
                 .kind = NOTICE_APPROVAL,
                 .question = STR("Q1"),
                 .cause = STR("stalled/A_1"),
                 .title = STR("go on?"),
                 .text = STR("nobody knows"),
                 .task = STR("to see"),
                 .answers.options = {LINES, 2},
                 .answers.fallback = STR("no"),
                 .answers.expires_at = AT,
                 .node = STR("S1.1.1"),
                 .assignment = STR("A_1"),
                 .iteration = 1,
                 .rule = STR("ladder.ask"),
                 .reason = STR("no progress"),
                 .detection.type = STR("stalled"),
                 .detection.severity = STR("high"),
                 .detection.message = STR("nothing moves"),
                 .evidence = STR("{}"),
                 .recommendations = {LINES, 1},
                 .intervention.level = STR("pause"),
                 .intervention.reason = STR("to be safe"),
                 .at = AT + 1,
                 .attempt.times = 2,
                 .attempt.earlier = STR("#7"),
                 .attempt.unsure = 1,
                 .origin = {STR("chat"), STR("room 7"), STR("t1"), STR("a1")},
                 .url = STR("https://example.org/q/1")}}},
    {"notice", "minimal", &OF_NOTICE, {.notice = {.attempt.times = 0}}},
};

/* Joins the hexadecimal lines after a label; the bytes are in their own allocation. */
static struct str golden_read(const char *name, const char *label) {
    const char *tests = getenv("OVERSEER_TESTS");
    char path[512], line[256], hex[4096] = "";
    snprintf(path, sizeof path, "%s/golden/%s.hex", tests ? tests : "tests", name);
    FILE *file = fopen(path, "r");
    check(file != NULL, "%s cannot be read; OVERSEER_TESTS names the folder of the tests", path);
    bool inside = false, found = false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strspn(line, "0123456789abcdef") != strlen(line)) {
            inside = strcmp(line, label) == 0;
            found = found || inside;
        } else if (inside) {
            strncat(hex, line, sizeof hex - strlen(hex) - 1);
        }
    }
    fclose(file);
    check(found, "%s has no %s", path, label);
    return hex_bytes(hex);
}

static void golden_holds(const struct golden *golden) {
    struct arena arena = {0};
    struct str bytes = golden_read(golden->name, golden->label);
    const char *stored = hex_of(bytes),
               *encoded = hex_of(thing_encode(golden->coding, &golden->thing, &arena));
    bool before = strcmp(golden->label, "before") == 0;
    check(before || strcmp(stored, encoded) == 0, "%s, %s:\n  %s\n  %s", golden->name,
          golden->label, stored, encoded);
    union thing back;
    memset(&back, 0, sizeof back);
    check(thing_decode(golden->coding, bytes, &arena, &back), "%s, %s", golden->name,
          golden->label);
    check(thing_same(golden->coding, &golden->thing, &back), "%s, %s decoded to something else",
          golden->name, golden->label);
    bytes_free(bytes);
    arena_free(&arena);
}

/* A duplicate number makes the second field unreadable; a duplicate member is stored twice. */
static void fields_are_once(const char *name, const struct shape *shape,
                            const struct shape *beside) {
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        for (size_t k = 0; k < i; k++) {
            const struct field *other = &shape->fields[k];
            check(field->number == 0 || other->number != field->number, "%s: %s and %s have %u",
                  name, other->name, field->name, field->number);
            check(other->offset != field->offset, "%s: %s and %s are the same member", name,
                  other->name, field->name);
            check(strcmp(other->name, field->name) != 0, "%s: %s twice", name, field->name);
        }
        for (size_t k = 0; beside && k < beside->count; k++)
            check(beside->fields[k].number != field->number &&
                      beside->fields[k].offset != field->offset,
                  "%s: %s is common", name, field->name);
        if (field->of)
            fields_are_once(field->of->name, field->of, NULL);
    }
}

static void test_signals_give_each_number_once(void **state) {
    (void)state;
    for (size_t kind = 1; kind < SIGNAL_KINDS; kind++) {
        const struct shape own = {.fields = SIGNALS[kind].fields, .count = SIGNALS[kind].count};
        fields_are_once(SIGNALS[kind].name, &own, &SIGNAL_COMMON);
    }
}

static void test_shapes_give_each_number_once(void **state) {
    (void)state;
    static const struct shape *const MORE[] = {&SIGNAL_COMMON, &GOAL_VIEW, &RISK_ROW, &PLAN_ROW};
    for (size_t i = 1; i < count_of(CODINGS); i++)
        fields_are_once(CODINGS[i]->shape->name, CODINGS[i]->shape, NULL);
    for (size_t i = 0; i < count_of(MORE); i++)
        fields_are_once(MORE[i]->name, MORE[i], NULL);
    for (uint32_t kind = 0; kind < PARTS; kind++)
        fields_are_once(PART[kind].table, PART[kind].shape, NULL);
    for (uint32_t kind = EFFECT_NONE + 1; kind < EFFECT_KINDS; kind++)
        fields_are_once(EFFECTS[kind].name, &EFFECTS[kind].shape, NULL);
}

static void test_names_of_tasks_and_questions(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "",    "T",      "T0",   "T07",  "T7.1",   "T7 ",     "7",        "Q",
        "Q7.", "Q7.x",   "QH.1", "QH1",  "Q0.1",   "QH0.1",   "Q_x",      "X7",
        "T-7", "Q7.3.1", "Q-",   "Q-.1", "Q-core", "Q-core.", "Q-core.x", "T99999999999999999999"};
    static const struct {
        const char *text;
        struct question_name is;
    } QUESTIONS[] = {{"Q7.3", {.number = 7, .n = 3}},
                     {"q7.0", {.number = 7, .n = 0}},
                     {"QH1.3", {.host = 1, .n = 3}},
                     {"Q3", {.n = 3}},
                     {"Q_3", {.n = 3}},
                     {"Q0", {.n = 0}},
                     {"qh12.4", {.host = 12, .n = 4}},
                     {"Q-core.3", {.repository = STR("core"), .n = 3}},
                     {"q-my.site.12", {.repository = STR("my.site"), .n = 12}},
                     {"Q-7.0", {.repository = STR("7"), .n = 0}}};
    struct question_name question;
    char text[QUESTION_NAME], name[TASK_NAME];
    uint64_t number;
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(!task_name_parse(str_of(WRONG[i]), &number) &&
                  !question_name_parse(str_of(WRONG[i]), &question),
              "\"%s\" is a name", WRONG[i]);
    for (size_t i = 0; i < count_of(QUESTIONS); i++)
        check(question_name_parse(str_of(QUESTIONS[i].text), &question) &&
                  question.number == QUESTIONS[i].is.number &&
                  question.host == QUESTIONS[i].is.host && question.n == QUESTIONS[i].is.n &&
                  str_equal(question.repository, QUESTIONS[i].is.repository),
              "%s", QUESTIONS[i].text);
    assert_true(task_name_parse(STR("t19"), &number) && number == 19);
    task_name_format(19, name);
    assert_string_equal(name, "T19");
    task_name_format(0, name);
    assert_string_equal(name, "");
    question_name_format(&(struct goal){.kind.number = 7}, 3, text);
    assert_string_equal(text, "Q7.3");
    question_name_format(&(struct goal){.kind.admission = 2}, 3, text);
    assert_string_equal(text, "QH2.3");
    question_name_format(&(struct goal){.kind = {.admission = 2, .workspace = 1}}, 3, text);
    assert_string_equal(text, "Q3");
    question_name_format(
        &(struct goal){.kind = {.admission = 2, .workspace = 1, .subject = "core"}}, 3, text);
    assert_string_equal(text, "Q-core.3");
}

static void test_branches_are_named_after_their_task(void **state) {
    (void)state;
    static const struct {
        const char *title, *node, *branch;
        uint64_t number;
    } CASES[] = {
        {"Fix the Login!", "", "T19-fix-the-login", 19},
        {"fix login", "S1.2", "T19-fix-login.S1.2", 19},
        {"fix", "poetry.lock", "T19-fix.poetry-lock", 19},
        {"fix", ".x", "T19-fix.-x", 19},
        {"fix", "a..b", "T19-fix.a--b", 19},
        {"fix", "S1.", "T19-fix.S1-", 19},
        {"fix", "1.2.3", "T19-fix.1.2.3", 19},
        {"  --  a..b/c @{1}~^:?*[\\ .lock", "", "T7-a-b-c-1-lock", 7},
        {"\xC3\x9C"
         "bersetze den Text",
         "", "T7-bersetze-den-text", 7},
        {"\xE4\xB8\xAD\xE6\x96\x87", "", "T7", 7},
        {"...", "", "T7", 7},
        {"split the parser of the configuration into two parts that", "",
         "T7-split-the-parser-of-the-configuration-into-two", 7},
        {"a123456789012345678901234567890123456789012345678901234567890", "",
         "T7-a123456789012345678901234567890123456789012345", 7},
        {"fix login", "", "", 0},
        {"", "", "", 7},
    };
    for (size_t i = 0; i < count_of(CASES); i++) {
        struct goal goal = {.kind.number = CASES[i].number};
        char branch[LIMIT_BRANCH + 1];
        name_put(goal.kind.subject, sizeof goal.kind.subject, str_of(CASES[i].title));
        branch_name_format(&goal, str_of(CASES[i].node), branch);
        check(strcmp(branch, CASES[i].branch) == 0, "\"%s\" is \"%s\"", CASES[i].title, branch);
    }
}

/* Fields that this build does not know stay; the one that is named goes, and nothing else. */
static void test_one_field_is_removed(void **state) {
    (void)state;
    struct arena arena = {0};
    struct goal with = {.kind = {.number = 7, .subject = "Fix login"}, .priority = PRIORITY_HIGH},
                without = {.kind.number = 7, .priority = PRIORITY_HIGH};
    static const char LATER[] = "\xF1\x7E\x03new"; /* field 8120 */
    struct str bytes = shape_encode(&GOAL_HOT, &with, &arena), left,
               want = shape_encode(&GOAL_HOT, &without, &arena);
    bytes = arena_format(&arena, "%.*s%s", STR_ARG(bytes), LATER);
    want = arena_format(&arena, "%.*s%s", STR_ARG(want), LATER);
    assert_true(shape_without(&GOAL_HOT, bytes, "subject", &arena, &left));
    assert_true(str_equal(left, want));
    assert_true(shape_without(&GOAL_HOT, left, "subject", &arena, &left) && str_equal(left, want));
    bytes.len--;
    assert_false(shape_without(&GOAL_HOT, bytes, "subject", &arena, &left));
    arena_free(&arena);
}

static void test_golden_bytes_are_written_and_read(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(GOLDEN); i++)
        golden_holds(&GOLDEN[i]);
}

/* Counts the fields in the bytes, so that a new field without a golden value is noticed. */
static size_t fields_in(struct str bytes, size_t head) {
    struct reader reader = {.rest = {bytes.at + head, bytes.len - head}};
    size_t count = 0;
    for (; reader.rest.len > 0; count++)
        if (read_varint(&reader) & 1)
            read_run(&reader);
        else
            read_varint(&reader);
    return count;
}

static size_t fields_declared(const struct shape *shape) {
    size_t count = 0;
    for (size_t i = 0; i < shape->count; i++)
        count += shape->fields[i].number != 0;
    return count;
}

/* A report also has the key, the older source and the number, which were added later and are common to all signals. */
static size_t fields_expected(const struct golden *golden) {
    enum signal_kind kind = golden->thing.signal.kind;
    if (golden->coding == &OF_SIGNAL)
        return SIGNAL_COMMON.count + SIGNALS[kind].count - (kind == SIGNAL_GOAL_REPORT ? 0 : 3);
    return fields_declared(golden->coding->shape);
}

/* The last golden value of its kind whose label begins with "every". */
static const struct golden *golden_every(const struct coding *coding, uint32_t kind) {
    const struct golden *last = NULL;
    for (size_t i = 0; i < count_of(GOLDEN); i++)
        if (GOLDEN[i].coding == coding && strncmp(GOLDEN[i].label, "every", 5) == 0 &&
            (coding != &OF_SIGNAL || GOLDEN[i].thing.signal.kind == kind))
            last = &GOLDEN[i];
    return last;
}

static bool golden_has(const char *name, const char *label) {
    for (size_t i = 0; i < count_of(GOLDEN); i++)
        if (strcmp(GOLDEN[i].name, name) == 0 && strcmp(GOLDEN[i].label, label) == 0)
            return true;
    return false;
}

/* The last row of a list has every field of its own shape. */
static void golden_rows_are_filled(const struct golden *golden, struct arena *arena) {
    for (size_t i = 0; golden->coding->shape && i < golden->coding->shape->count; i++) {
        const struct field *field = &golden->coding->shape->fields[i];
        if (field->type != FIELD_ROWS)
            continue;
        const struct rows *rows =
            (const void *)((const char *)&golden->thing + field->offset); /* at least one */
        const char *row = (const char *)rows->at + (rows->count - 1) * field->of->size;
        size_t count = fields_in(shape_encode(field->of, row, arena), 1);
        check(count == fields_declared(field->of), "%s of %s has %zu fields of %zu", field->name,
              golden->name, count, fields_declared(field->of));
    }
}

static void golden_is_whole(const struct golden *golden) {
    struct arena arena = {0};
    struct str bytes = golden_read(golden->name, golden->label);
    size_t count = fields_in(bytes, golden->coding == &OF_SIGNAL ? 2 : 1);
    bytes_free(bytes);
    check(count == fields_expected(golden), "%s has %zu fields of %zu", golden->name, count,
          fields_expected(golden));
    golden_rows_are_filled(golden, &arena);
    check(golden_has(golden->name, "minimal"), "%s has no minimal", golden->name);
    arena_free(&arena);
}

static bool shape_has_example(const struct shape *shape) {
    for (size_t i = 1; i < count_of(CODINGS); i++)
        if (CODINGS[i]->shape == shape)
            return true;
    return false;
}

static void test_golden_covers_every_kind_and_every_field(void **state) {
    (void)state;
    for (uint32_t kind = SIGNAL_NONE + 1; kind < SIGNAL_KINDS; kind++) {
        const struct golden *golden = golden_every(&OF_SIGNAL, kind);
        check(golden != NULL, "signal %u has no example", kind);
        golden_is_whole(golden);
        assert_string_equal(golden->name + strlen("signal."), SIGNALS[kind].name);
        assert_string_equal(SIGNALS[kind].name, name_of(&SIGNAL_NAMES, kind));
    }
    for (size_t i = 1; i < count_of(CODINGS); i++) {
        const struct golden *golden = golden_every(CODINGS[i], 0);
        check(golden != NULL, "%s has no example", CODINGS[i]->shape->name);
        golden_is_whole(golden);
    }
    for (uint32_t kind = 0; kind < PARTS; kind++)
        check(shape_has_example(PART[kind].shape), "part %s has no example", PART[kind].table);
    for (uint32_t kind = EFFECT_NONE + 1; kind < EFFECT_KINDS; kind++) {
        check(shape_has_example(&EFFECTS[kind].shape), "effect %s has none", EFFECTS[kind].name);
        assert_string_equal(EFFECTS[kind].shape.name + strlen("effect."), EFFECTS[kind].name);
    }
    assert_int_equal(SIGNAL_NAMES.count, SIGNAL_KINDS);
}

static void test_signals_refuse_what_is_none(void **state) {
    (void)state;
    assert_int_equal(SIGNAL_KINDS, 0x31); /* the first invalid kind */
    static const char *const NO[] = {"",       "01",     "00",     "0100",     "0001",      "0131",
                                     "018001", "018000", "01ffff", "01012004", "0103240161"};
    for (size_t i = 0; i < count_of(NO); i++) {
        struct signal signal;
        struct str bytes = hex_bytes(NO[i]);
        bool decoded = signal_decode(bytes, &signal);
        bytes_free(bytes);
        check(!decoded, "%s", NO[i]);
    }
}

/* The fields of one kind are unknown numbers to another. */
static void test_signals_take_no_field_of_another_kind(void **state) {
    (void)state;
    struct signal signal;
    memset(&signal, 0xFF, sizeof signal);
    struct str bytes = hex_bytes("010620053c073d0161");
    assert_true(signal_decode(bytes, &signal));
    struct signal expected = {.kind = SIGNAL_EFFECT_LOST, .effect = 5};
    assert_true(signal_same(&expected, &signal));
    bytes_free(bytes);
}

static void test_signals_end_at_their_limits(void **state) {
    (void)state;
    struct arena arena = {0};
    char *long_text = memset(arena_new(&arena, char, LIMIT_SIGNAL_BODY), 'x', LIMIT_SIGNAL_BODY);
    struct signal back;
    for (size_t more = 0; more <= 1; more++) {
        const struct signal rows[] = {
            {.kind = SIGNAL_GOAL_CREATE, .describe.title = {long_text, LIMIT_TITLE + more}},
            {.kind = SIGNAL_GOAL_CREATE, .describe.command = {long_text, LIMIT_COMMAND + more}},
            {.kind = SIGNAL_GOAL_REPORT, .text = {long_text, LIMIT_REPORT + more}},
            {.kind = SIGNAL_GOAL_MOVE, .reason = {long_text, LIMIT_REASON + more}},
            {.kind = SIGNAL_WORK_MOVE, .work.node = {long_text, LIMIT_NODE_ID + more}},
            {.kind = SIGNAL_PLAN_APPLY, .body = {long_text, LIMIT_BODY + more}},
            {.kind = SIGNAL_GOAL_DUE, .body = {long_text, LIMIT_BODY + more}},
            {.kind = SIGNAL_EFFECT_ENDED, .outcome.reference = {long_text, LIMIT_SESSION + more}},
            {.kind = SIGNAL_AGENT_UPDATE, .work.node = {long_text, LIMIT_NODE_ID + more}},
            {.kind = SIGNAL_AGENT_ASK, .body = {long_text, LIMIT_BODY + more}},
            {.kind = SIGNAL_QUESTION_ANSWER, .text = {long_text, LIMIT_REPORT + more}},
            {.kind = SIGNAL_PERMIT_DENIED, .reason = {long_text, LIMIT_REASON + more}},
            {.kind = SIGNAL_GOAL_DUE, .sender.trace = {long_text, LIMIT_KEY + more}},
            {.kind = SIGNAL_GOAL_DUE, .sender.actor = {long_text, LIMIT_ACTOR + more}},
        };
        for (size_t i = 0; i < count_of(rows); i++)
            check(signal_decode(signal_encode(&rows[i], &arena), &back) == (more == 0),
                  "row %zu, %zu past its cap", i, more);
        struct signal output = {.kind = SIGNAL_EFFECT_ENDED,
                                .text = {long_text, LIMIT_OUTPUT + more}};
        assert_true(signal_decode(
            signal_encode(&output, &arena),
            &back)); /* accepted: the end of the output is kept when it is cut later */
    }
    struct writer writer = {.arena = &arena};
    write_raw(&writer, STR("\x01\x03\xFF\x01")); /* a byte run of the unknown field 127 */
    write_run(&writer, (struct str){long_text, LIMIT_SIGNAL_BODY - 7});
    assert_int_equal(writer.len, LIMIT_SIGNAL_BODY);
    assert_true(signal_decode((struct str){writer.at, writer.len}, &back));
    write_raw(&writer, STR("\x06\x02"));
    assert_false(signal_decode((struct str){writer.at, writer.len}, &back));
    arena_free(&arena);
}

/* ---- arbitrary bytes ---- */

enum { STRANGE = 200000, STRANGE_MAX = 1200 };

static bool text_is_kept(struct str text, size_t cap, struct str bytes) {
    bool inside = text.at >= bytes.at && text.at + text.len <= bytes.at + bytes.len;
    return text.len == 0 || (text.len <= cap && inside);
}

static bool shape_is_kept(const struct shape *shape, const void *from, struct str bytes);

static bool field_is_kept(const struct field *field, const void *at, struct str bytes) {
    const struct texts *texts = at;
    const struct rows *rows = at;
    bool kept = true, cut_later = field->flags & (FIELD_CUT | FIELD_TAIL);
    switch (field->type) {
    case FIELD_ENUM: return *(const uint32_t *)at < field->names->count;
    case FIELD_FLAG: return *(const uint32_t *)at <= 1;
    case FIELD_BYTES: return text_is_kept(*(const struct str *)at, field->cap, bytes);
    case FIELD_TEXT:
        return text_is_kept(*(const struct str *)at, cut_later ? bytes.len : field->cap, bytes) &&
               str_is_text(*(const struct str *)at);
    case FIELD_NAME: return strnlen(at, field->cap + 1) <= field->cap && str_is_text(str_of(at));
    case FIELD_TEXTS:
        for (uint32_t i = 0; kept && i < texts->count; i++)
            kept = text_is_kept(texts->at[i], field->cap, bytes) && str_is_text(texts->at[i]);
        return kept && texts->count <= field->most;
    case FIELD_ROWS:
        for (uint32_t i = 0; kept && i < rows->count; i++)
            kept = shape_is_kept(field->of, (const char *)rows->at + i * field->of->size, bytes);
        return kept && rows->count <= field->most;
    default: return true;
    }
}

static bool shape_is_kept(const struct shape *shape, const void *from, struct str bytes) {
    for (size_t i = 0; i < shape->count; i++)
        if (!field_is_kept(&shape->fields[i], (const char *)from + shape->fields[i].offset, bytes))
            return false;
    return true;
}

static bool thing_is_kept(const struct coding *coding, const union thing *thing, struct str bytes) {
    const struct signal *signal = &thing->signal;
    if (coding->shape)
        return shape_is_kept(coding->shape, thing, bytes);
    const struct shape own = {.fields = SIGNALS[signal->kind].fields,
                              .count = SIGNALS[signal->kind].count};
    return signal->kind > SIGNAL_NONE && signal->kind < SIGNAL_KINDS && signal->sender.by < WHOS &&
           text_is_kept(signal->sender.actor, LIMIT_ACTOR, bytes) &&
           text_is_kept(signal->sender.trace, LIMIT_KEY, bytes) &&
           shape_is_kept(&own, signal, bytes);
}

/* Lists that share one count: where one was written, all are. */
static bool shape_shares_counts(const struct shape *shape) {
    for (size_t i = 0; shape && i < shape->count; i++)
        for (size_t k = 0; k < i; k++)
            if (shape->fields[i].type == FIELD_U32S && shape->fields[k].type == FIELD_U32S &&
                shape->fields[i].cap == shape->fields[k].cap)
                return true;
    return false;
}

/* An accepted value is valid, and its own encoding decodes to the same value. */
static bool strange_decodes(const struct coding *coding, struct str bytes, struct arena *arena) {
    union thing thing, again;
    memset(&thing, 0, sizeof thing);
    memset(&again, 0, sizeof again);
    if (!thing_decode(coding, bytes, arena, &thing))
        return false;
    check(thing_is_kept(coding, &thing, bytes), "%s", hex_of(bytes));
    struct str encoded = thing_encode(coding, &thing, arena);
    check(encoded.len <= bytes.len || shape_shares_counts(coding->shape), "%s became longer",
          hex_of(bytes));
    check(thing_decode(coding, encoded, arena, &again) && thing_same(coding, &thing, &again), "%s",
          hex_of(bytes));
    return true;
}

static size_t mutate(char *bytes, size_t len, struct chance *chance) {
    size_t at = len ? chance_below(chance, (uint32_t)len) : 0;
    switch (chance_below(chance, 6)) {
    case 0: return at; /* truncated */
    case 1:            /* one more byte */
        memmove(bytes + at + 1, bytes + at, len - at);
        bytes[at] = (char)chance_next(chance);
        return len + 1;
    case 2: /* one less */
        if (len > 0)
            memmove(bytes + at, bytes + at + 1, len - at - 1);
        return len - (len > 0);
    case 3: /* a part repeated at the end */
        if (len - at > 40)
            return len;
        memmove(bytes + len, bytes + at, len - at);
        return len + (len - at);
    case 4: bytes[at] = (char)(bytes[at] ^ (1 << chance_below(chance, 8))); return len + (len == 0);
    default: bytes[at] = (char)chance_next(chance); return len + (len == 0);
    }
}

static size_t strange_make(char *bytes, const struct str *golden, int round,
                           struct chance *chance) {
    if (round % 4 == 0) {
        size_t len = chance_below(chance, 60);
        chance_fill(chance, bytes, len + 2);
        bytes[0] = chance_in(chance, 2) ? 1 : bytes[0];
        bytes[1] = chance_in(chance, 2) ? (char)chance_below(chance, SIGNAL_KINDS + 1) : bytes[1];
        return len;
    }
    struct str from = golden[chance_below(chance, count_of(GOLDEN))];
    size_t len = from.len;
    memcpy(bytes, from.at, len);
    for (uint32_t i = 0, count = 1 + chance_below(chance, 4); i < count; i++)
        len = mutate(bytes, len, chance);
    return len;
}

static void test_strange_bytes_never_do_harm(void **state) {
    (void)state;
    struct chance chance = {77};
    struct arena arena = {0};
    struct str golden[count_of(GOLDEN)];
    for (size_t i = 0; i < count_of(GOLDEN); i++)
        golden[i] = golden_read(GOLDEN[i].name, GOLDEN[i].label);
    int decoded = 0;
    for (int round = 0; round < STRANGE; round++) {
        char bytes[STRANGE_MAX];
        size_t len = strange_make(bytes, golden, round, &chance);
        char *exact = malloc(len + (len == 0));
        assert_non_null(exact);
        memcpy(exact, bytes, len);
        for (size_t c = 0; c < count_of(CODINGS); c++)
            decoded += strange_decodes(CODINGS[c], (struct str){exact, len}, &arena);
        free(exact);
        arena_reset(&arena);
    }
    int most = STRANGE * (int)count_of(CODINGS);
    assert_true(decoded > most / 100 && decoded < most / 2); /* some of both */
    for (size_t i = 0; i < count_of(GOLDEN); i++)
        bytes_free(golden[i]);
    arena_free(&arena);
}

/* ---- details of signals, effects, policies and names ---- */

static void test_a_copied_signal_stands_by_itself(void **state) {
    (void)state;
    char actor[] = "agnes", title[] = "title", command[] = "command", text[] = "text";
    struct signal from = {.kind = SIGNAL_GOAL_CREATE,
                          .at = 5,
                          .sender.actor = str_of(actor),
                          .describe.title = str_of(title),
                          .describe.command = str_of(command),
                          .text = str_of(text)};
    assert_int_equal(signal_text_size(&from), 5 + 5 + 7 + 4);
    char *room = malloc(signal_text_size(&from));
    struct signal to;
    signal_copy(&to, &from, room);
    assert_true(signal_same(&from, &to));
    memset(actor, 'x', 5);
    memset(title, 'x', 5);
    memset(command, 'x', 7);
    memset(text, 'x', 4);
    assert_true(str_equal(to.sender.actor, STR("agnes")));
    assert_true(str_equal(to.describe.title, STR("title")));
    assert_true(str_equal(to.describe.command, STR("command")));
    assert_true(str_equal(to.text, STR("text")));
    free(room);
    struct signal bare = {.kind = SIGNAL_GOAL_DUE};
    assert_int_equal(signal_text_size(&bare), 0);
    signal_copy(&to, &bare, actor);
    assert_int_equal(signal_text_size(&to), 0);
}

/* A text that signal_copy() does not know would still point to the sender's memory. */
static void fields_are_copied(const char *kind, const struct field *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct signal from = {.kind = SIGNAL_GOAL_CREATE}, to;
        char room[4];
        if (fields[i].type != FIELD_TEXT && fields[i].type != FIELD_BYTES)
            continue;
        *(struct str *)((char *)&from + fields[i].offset) = STR("text");
        check(signal_text_size(&from) == sizeof room, "%s %s has no size", kind, fields[i].name);
        signal_copy(&to, &from, room);
        check(((struct str *)((char *)&to + fields[i].offset))->at == room, "%s %s is not copied",
              kind, fields[i].name);
    }
}

static void test_a_copied_signal_has_all_its_texts(void **state) {
    (void)state;
    fields_are_copied("common", SIGNAL_COMMON.fields, SIGNAL_COMMON.count);
    for (uint32_t kind = SIGNAL_NONE + 1; kind < SIGNAL_KINDS; kind++)
        fields_are_copied(SIGNALS[kind].name, SIGNALS[kind].fields, SIGNALS[kind].count);
}

static void test_an_effect_has_one_id_for_ever(void **state) {
    (void)state;
    struct id goal = GOAL_BYTES, other = SOURCE_BYTES;
    struct id first = effect_id(goal, 0), later = effect_id(goal, 258);
    assert_string_equal(hex_of((struct str){(char *)first.bytes, 16}),
                        "63fd7e7fff85eb3fb38f486ceca0397d");
    assert_string_equal(hex_of((struct str){(char *)later.bytes, 16}),
                        "0fc3816d4fb29cf583e820b2648373f8");
    assert_false(id_equal(first, effect_id(other, 0)));
}

static void test_an_effect_of_no_kind_decodes_to_nothing(void **state) {
    (void)state;
    struct effect effect = {.n = 9};
    assert_false(effect_decode(EFFECT_NONE, STR("\x01"), &effect));
    assert_false(effect_decode(EFFECT_KINDS, STR("\x01"), &effect));
    for (uint32_t kind = EFFECT_NONE + 1; kind < EFFECT_KINDS; kind++)
        assert_true(effect_decode((enum effect_kind)kind, STR("\x01"), &effect));
    assert_int_equal(effect.n, 9);
}

/* Old decisions name their policy by this hash: the hashed bytes must never change. */
static void test_a_policy_is_named_by_its_hash(void **state) {
    (void)state;
    struct policy bare = policy_seal((struct policy){.act_within = 1800000000});
    assert_string_equal(hex_of(hash_str(&bare.hash)),
                        "f5c1f7e293aff31b898ac1c7db9294be298c849b046e0b549d460b18c170189a");
    struct policy every = policy_seal(golden_every(&OF_POLICY, 0)->thing.policy);
    struct str bytes = golden_read("policy", golden_every(&OF_POLICY, 0)->label);
    struct hash stored = sha256(bytes);
    bytes_free(bytes);
    assert_true(hash_equal(&every.hash, &stored));
    struct policy policy = policy_of(1800000000), other = policy_of(1800000001);
    assert_int_equal(policy.act_within, 1800000000);
    assert_false(hash_equal(&policy.hash, &other.hash));
    struct policy again = policy_seal(policy);
    assert_true(hash_equal(&policy.hash, &again.hash));
}

static void test_every_field_of_a_policy_counts(void **state) {
    (void)state;
    struct policy every = policy_seal(golden_every(&OF_POLICY, 0)->thing.policy);
    for (size_t i = 0; i < POLICY.count; i++) {
        const struct field *field = &POLICY.fields[i];
        size_t size = field->type == FIELD_TEXT   ? sizeof(struct str)
                      : field->type == FIELD_ROWS ? sizeof(void *) + sizeof(uint32_t)
                      : field->type == FIELD_INT || field->type == FIELD_UINT ? sizeof(int64_t)
                                                                              : sizeof(uint32_t);
        struct policy other = every;
        memset((char *)&other + field->offset, 0, size);
        other = policy_seal(other);
        check(!hash_equal(&every.hash, &other.hash), "%s does not count", field->name);
    }
}

static void test_names_are_found_whole(void **state) {
    (void)state;
    uint32_t value = 99;
    for (uint32_t i = 0; i < RECORD_NAMES.count; i++) {
        assert_true(names_find(&RECORD_NAMES, str_of(name_of(&RECORD_NAMES, i)), &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(RECORD_NAMES.count, RECORD_TYPES);
    value = 99;
    assert_false(names_find(&GOAL_STATUS_NAMES, STR("done"), &value));
    assert_false(names_find(&GOAL_STATUS_NAMES, STR("activ"), &value));
    assert_false(names_find(&GOAL_STATUS_NAMES, STR("activee"), &value));
    assert_false(names_find(&GOAL_STATUS_NAMES, STR(""), &value));
    static const char *const GAP[] = {"a", NULL, "c"};
    const struct names with_gap = NAMES_OF(GAP);
    assert_false(names_find(&with_gap, STR("b"), &value));
    assert_int_equal(value, 99);
    assert_true(names_find(&with_gap, STR("c"), &value));
    assert_int_equal(value, 2);
}

/* ---- status machines, written out by hand: a column for each possible next state ---- */

struct machine_row {
    const char *name, *next;
};

static const struct machine_row GOALS[GOAL_STATUSES] = {
    /* to: active paused completed cancelled archived */
    [GOAL_ACTIVE] = {"active", "-xxx-"},       [GOAL_PAUSED] = {"paused", "x--x-"},
    [GOAL_COMPLETED] = {"completed", "x---x"}, [GOAL_CANCELLED] = {"cancelled", "----x"},
    [GOAL_ARCHIVED] = {"archived", "-----"},
};

static const struct machine_row EFFECT_ROWS[EFFECT_STATES] = {
    /* to: ready running unconfirmed ended */
    [EFFECT_READY] = {"ready", "-xxx"},
    [EFFECT_RUNNING] = {"running", "x-xx"},
    [EFFECT_UNCONFIRMED] = {"unconfirmed", "---x"},
    [EFFECT_ENDED] = {"ended", "----"},
};

static const struct machine_row HOSTS[HOST_STATES] = {
    /* to: live lost gone */
    [HOST_LIVE] = {"live", "xx-"},
    [HOST_LOST] = {"lost", "x-x"},
    [HOST_GONE] = {"gone", "x--"},
};

/* PLAN-08: transitions by work; and G-16: transitions by the status of the children. */
static const struct machine_row NODES[NODE_STATUSES] = {
    /* to: todo queued in_progress blocked done cancelled */
    [NODE_TODO] = {"todo", "-x----"},
    [NODE_QUEUED] = {"queued", "--xx-x"},
    [NODE_IN_PROGRESS] = {"in_progress", "---xxx"},
    [NODE_BLOCKED] = {"blocked", "-x---x"},
    [NODE_DONE] = {"done", "------"},
    [NODE_CANCELLED] = {"cancelled", "------"},
};

/* ASSIGN-04, ASSIGN-05. */
static const struct machine_row ASSIGNMENTS[ASSIGNMENT_STATUSES] = {
    /* to: queued dispatched active stalled blocked done cancelled */
    [ASSIGNMENT_QUEUED] = {"queued", "-x----x"},
    [ASSIGNMENT_DISPATCHED] = {"dispatched", "--xxxxx"},
    [ASSIGNMENT_ACTIVE] = {"active", "---xxxx"},
    [ASSIGNMENT_STALLED] = {"stalled", "--x-xxx"},
    [ASSIGNMENT_BLOCKED] = {"blocked", "x-x--xx"},
    [ASSIGNMENT_DONE] = {"done", "-------"},
    [ASSIGNMENT_CANCELLED] = {"cancelled", "-------"},
};

static const char *const ROLLUPS[NODE_STATUSES] = {"xxxxxx", "xxxxxx", "xxxxxx",
                                                   "xxxxxx", "xxxx-x", "------"};

static void machine_is(const struct status_row *rows, const struct machine_row *expected,
                       uint32_t count) {
    for (uint32_t from = 0; from < count; from++) {
        assert_string_equal(rows[from].name, expected[from].name);
        assert_int_equal(strlen(expected[from].next), count);
        assert_int_equal(rows[from].next >> count, 0);
        for (uint32_t to = 0; to < count; to++)
            check((rows[from].next >> to & 1) == (expected[from].next[to] == 'x'), "%s to %s",
                  expected[from].name, expected[to].name);
    }
}

static void test_states_follow_each_other_as_drawn(void **state) {
    (void)state;
    machine_is(GOAL_STATUS, GOALS, GOAL_STATUSES);
    machine_is(EFFECT_STATE, EFFECT_ROWS, EFFECT_STATES);
    machine_is(HOST_STATE, HOSTS, HOST_STATES);
    machine_is(NODE_STATUS, NODES, NODE_STATUSES);
    machine_is(ASSIGNMENT_STATUS, ASSIGNMENTS, ASSIGNMENT_STATUSES);
    for (uint32_t from = 0; from < ASSIGNMENT_STATUSES; from++)
        for (uint32_t to = 0; to < ASSIGNMENT_STATUSES; to++)
            check(assignment_status_may_become(from, to) == (ASSIGNMENTS[from].next[to] == 'x'),
                  "%s to %s", ASSIGNMENTS[from].name, ASSIGNMENTS[to].name);
    proof_passed("unit", "all 49 pairs of assignment statuses", "ASSIGN-05");
    for (uint32_t from = 0; from < NODE_STATUSES; from++)
        for (uint32_t to = 0; to < NODE_STATUSES; to++) {
            check(node_status_may_become(from, to) == (NODES[from].next[to] == 'x'), "%s to %s",
                  NODES[from].name, NODES[to].name);
            check(node_status_may_roll_to(from, to) == (ROLLUPS[from][to] == 'x'), "%s rolls to %s",
                  NODES[from].name, NODES[to].name);
        }
    for (uint32_t from = 0; from < GOAL_STATUSES; from++)
        for (uint32_t to = 0; to < GOAL_STATUSES; to++)
            check(goal_status_may_become(from, to) == (GOALS[from].next[to] == 'x'), "%s to %s",
                  GOALS[from].name, GOALS[to].name);
    for (uint32_t from = 0; from < EFFECT_STATES; from++)
        for (uint32_t to = 0; to < EFFECT_STATES; to++)
            check(effect_state_may_become(from, to) == (EFFECT_ROWS[from].next[to] == 'x'),
                  "%s to %s", EFFECT_ROWS[from].name, EFFECT_ROWS[to].name);
}

static void test_states_have_one_name_everywhere(void **state) {
    (void)state;
    assert_int_equal(GOAL_STATUS_NAMES.count, GOAL_STATUSES);
    for (uint32_t i = 0; i < GOAL_STATUSES; i++)
        assert_string_equal(name_of(&GOAL_STATUS_NAMES, i), GOAL_STATUS[i].name);
    assert_int_equal(EFFECT_STATE_NAMES.count, EFFECT_STATES);
    for (uint32_t i = 0; i < EFFECT_STATES; i++)
        assert_string_equal(name_of(&EFFECT_STATE_NAMES, i), EFFECT_STATE[i].name);
    assert_int_equal(NEED_NAMES.count, NEEDS);
    assert_int_equal(DISPLAY_STATE_NAMES.count, DISPLAY_STATES);
    assert_string_equal(name_of(&DISPLAY_STATE_NAMES, DISPLAY_NEEDS_YOU), "needs you");
    assert_string_equal(name_of(&NEED_NAMES, NEED_UNCONFIRMED), "unconfirmed");
}

static void names_are(const struct names *names, const char *const *expected, uint32_t count) {
    uint32_t value;
    assert_int_equal(names->count, count);
    for (uint32_t i = 0; i < count; i++)
        check(names_find(names, str_of(expected[i]), &value) && value == i, "%s", expected[i]);
    assert_false(names_find(names, STR("running"), &value));
    assert_false(names_find(names, STR(""), &value));
}

/* ASSIGN-04, ASSIGN-13: exactly these words. */
static void test_words_of_assignments(void **state) {
    (void)state;
    static const char *const STATUSES[] = {"queued",  "dispatched", "active",   "stalled",
                                           "blocked", "done",       "cancelled"};
    static const char *const RESULTS[] = {"none", "accepted", "ok", "timeout", "error"};
    struct arena arena = {0};
    struct assignment wrong = {.n = 1, .status = ASSIGNMENT_STATUSES}, back;
    names_are(&ASSIGNMENT_STATUS_NAMES, STATUSES, count_of(STATUSES));
    assert_false(shape_decode(&ASSIGNMENT, shape_encode(&ASSIGNMENT, &wrong, &arena), &back));
    proof_passed("unit", "an assignment has one of seven statuses", "ASSIGN-04");
    names_are(&DELIVERY_NAMES, RESULTS, count_of(RESULTS));
    wrong = (struct assignment){.n = 1, .delivery.result = DELIVERIES};
    assert_false(shape_decode(&ASSIGNMENT, shape_encode(&ASSIGNMENT, &wrong, &arena), &back));
    proof_passed("unit", "a dispatch has one of four results, or none yet", "ASSIGN-13.a");
    arena_free(&arena);
}

/* Each value has a name, and no two values share one. */
static void test_names_are_whole_and_differ(void **state) {
    (void)state;
    static const struct {
        const struct names *names;
        uint32_t count;
    } ROWS[] = {
        {&SIGNAL_NAMES, SIGNAL_KINDS},
        {&RECORD_NAMES, RECORD_TYPES},
        {&WORDS_NAMES, WORDINGS},
        {&ASSIGNMENT_STATUS_NAMES, ASSIGNMENT_STATUSES},
        {&RUNG_NAMES, RUNGS},
        {&DELIVERY_NAMES, DELIVERIES},
        {&TRISTATE_NAMES, TRISTATE_COUNT},
        {&WAITING_NAMES, WAIT_COUNT},
        {&AGENT_EVENT_NAMES, AGENT_EVENTS},
        {&SAMPLED_NAMES, SAMPLEDS},
        {&QUESTION_KIND_NAMES, QUESTION_KINDS},
        {&QUESTION_STATE_NAMES, QUESTION_STATES},
        {&ASKED_OF_NAMES, ASKED_OFS},
        {&HEARD_NAMES, HEARINGS},
        {&INTERVENTION_NAMES, INTERVENTIONS},
        {&AGENT_MESSAGE_KIND_NAMES, AGENT_MESSAGE_KINDS},
        {&PERMIT_STATE_NAMES, PERMIT_STATES},
        {&PERMIT_KIND_NAMES, PERMIT_KINDS},
        {&BUDGET_UNIT_NAMES, BUDGET_UNITS},
        {&OVERAGE_NAMES, OVERAGE_STATES},
        {&QUOTA_STATUS_NAMES, QUOTA_STATUSES},
        {&ALARM_NAMES, ALARMS},
        {&NOTICE_KIND_NAMES, NOTICE_KINDS},
        {&CHANNEL_KIND_NAMES, CHANNEL_KINDS},
        {&LEAST_NAMES, ALARMS + 1},
    };
    for (size_t row = 0; row < count_of(ROWS); row++) {
        assert_int_equal(ROWS[row].names->count, ROWS[row].count);
        for (uint32_t i = 0; i < ROWS[row].count; i++) {
            const char *name = name_of(ROWS[row].names, i);
            check(name && *name, "row %zu, value %u has no name", row, i);
            for (uint32_t k = 0; k < i; k++)
                check(strcmp(name, name_of(ROWS[row].names, k)) != 0, "%s twice", name);
        }
    }
}

/* ---- errors ---- */

/* The sentence says what to do, or where to look. */
static bool says_what_to_do(const char *sentence) {
    static const char *const DO[] = {
        "Correct ",   "Read it again", "gives the reason", "Change ", "try again", "Repeat ",
        "`overseer ", "`overseerd ",   "can ask for it",   "Send ",   "Give "};
    for (size_t i = 0; i < count_of(DO); i++)
        if (strstr(sentence, DO[i]))
            return true;
    return false;
}

static void error_is_whole(const struct error_row *row) {
    check(strncmp(row->code, "E_", 2) == 0, "%s", row->code);
    check(strspn(row->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(row->code), "%s", row->code);
    check(row->sentence[strlen(row->sentence) - 1] == '.', "%s", row->code);
    const char *first_end = strpbrk(row->sentence, ".:");
    check(first_end[1] == ' ', "%s says only what happened", row->code);
    check(says_what_to_do(first_end), "%s does not say what to do next", row->code);
    check(row->exit_status > 0 && row->exit_status < 64, "%s", row->code);
    switch (row->class) {
    case CLASS_EXPECTED: check(row->http_status / 100 == 4, "%s", row->code); break;
    case CLASS_TRANSIENT: check(row->http_status == 503, "%s", row->code); break;
    case CLASS_HARD: check(row->http_status >= 400, "%s", row->code); break;
    default: check(false, "%s has no class", row->code);
    }
}

static void test_errors_say_what_happened_and_what_to_do_next(void **state) {
    (void)state;
    assert_string_equal(ERRORS[ERROR_NONE].code, "OK");
    assert_int_equal(ERRORS[ERROR_NONE].exit_status, 0);
    assert_int_equal(ERRORS[ERROR_NONE].http_status, 200);
    for (int i = 0; i < ERROR_COUNT; i++) {
        check(ERRORS[i].code != NULL && ERRORS[i].sentence != NULL, "error %d has no row", i);
        if (i != ERROR_NONE)
            error_is_whole(&ERRORS[i]);
        for (int j = 0; j < i; j++)
            check(strcmp(ERRORS[i].code, ERRORS[j].code) != 0, "%s twice", ERRORS[i].code);
    }
}

/* Callers compare codes, and scripts compare exit statuses: these must never change. */
static void test_error_codes_on_the_wire_are_stable(void **state) {
    (void)state;
    static const struct {
        enum error error;
        const char *code;
        int exit_status, http_status;
    } ROWS[] = {
        {ERROR_INVALID, "E_INVALID", 2, 400},
        {ERROR_NOT_FOUND, "E_NOT_FOUND", 3, 404},
        {ERROR_CONFLICT, "E_CONFLICT", 4, 409},
        {ERROR_QUARANTINED, "E_QUARANTINED", 5, 409},
        {ERROR_REFUSED_BY_STORE, "E_REFUSED_BY_STORE", 2, 422},
        {ERROR_BUSY, "E_BUSY", 6, 503},
        {ERROR_STORE_AWAY, "E_STORE_AWAY", 6, 503},
        {ERROR_NO_MEMORY, "E_NO_MEMORY", 6, 503},
        {ERROR_STOPPING, "E_STOPPING", 6, 503},
        {ERROR_UNKNOWN_METHOD, "E_UNKNOWN_METHOD", 2, 404},
        {ERROR_UNAUTHORIZED, "E_UNAUTHORIZED", 9, 403},
        {ERROR_INVALID_PLAN, "E_INVALID_PLAN", 2, 422},
        {ERROR_SAFE_MODE, "E_SAFE_MODE", 8, 503},
        {ERROR_UNAUTHENTICATED, "E_UNAUTHENTICATED", 9, 401},
        {ERROR_TOO_LARGE, "E_TOO_LARGE", 2, 413},
        {ERROR_AMBIGUOUS, "E_AMBIGUOUS", 2, 409},
        {ERROR_SPOOL_FULL, "E_SPOOL_FULL", 6, 503},
        {ERROR_NOT_JSON, "E_NOT_JSON", 2, 400},
        {ERROR_INTERNAL, "E_INTERNAL", 1, 500},
        {ERROR_NO_DAEMON, "E_NO_DAEMON", 7, 503},
        {ERROR_LIMITED, "E_LIMITED", 6, 429},
    };
    assert_int_equal(count_of(ROWS), ERROR_COUNT - 1);
    for (size_t i = 0; i < count_of(ROWS); i++) {
        const struct error_row *row = &ERRORS[ROWS[i].error];
        assert_string_equal(row->code, ROWS[i].code);
        assert_int_equal(row->exit_status, ROWS[i].exit_status);
        assert_int_equal(row->http_status, ROWS[i].http_status);
    }
}

/* ---- invariants of a goal ---- */

static struct goal goal_whole(void) {
    return (struct goal){
        .version = 4,
        .records.seq = 6,
        .due_at = 700,
        .effects.made = 5,
        .effects.open =
            {{.n = 1, .kind = EFFECT_COMMAND, .state = EFFECT_RUNNING, .run_host = 2, .until = 900},
             {.n = 2, .kind = EFFECT_COMMAND, .state = EFFECT_READY},
             {.n = 4, .kind = EFFECT_COMMAND, .state = EFFECT_UNCONFIRMED, .run_host = 3}},
        .effects.open_count = 3,
    };
}

static void breaks(const char *promise, struct goal goal) {
    const char *broken = goal_broken(&goal);
    check(broken && strcmp(broken, promise) == 0, "%s, not %s", promise,
          broken ? broken : "nothing");
}

#define BREAKS(promise, ...) \
    do { \
        struct goal goal = goal_whole(); \
        __VA_ARGS__; \
        breaks(promise, goal); \
    } while (0)

static void test_a_goal_says_which_promise_is_broken(void **state) {
    (void)state;
    BREAKS("a goal without a version or a record", goal.version = 0);
    BREAKS("a goal without a version or a record", goal.records.seq = 0);
    BREAKS("a status out of its table", goal.status = GOAL_STATUSES);
    BREAKS("a status out of its table", goal.need = NEEDS);
    BREAKS("too many open effects", goal.effects.open_count = LIMIT_OPEN_EFFECTS + 1);
    BREAKS("completed with something open", goal.status = GOAL_COMPLETED);
    BREAKS("completed with something open", goal.status = GOAL_COMPLETED;
           goal.effects.open_count = 0; goal.need = NEED_FAILED);
    BREAKS("a status out of its table", goal.priority = PRIORITIES);
    BREAKS("ended without an end, or an end without having ended", goal.times.ended_at = 5);
    BREAKS("ended without an end, or an end without having ended", goal.status = GOAL_CANCELLED);
    BREAKS("progress of a plan that there is not", goal.progress.percent = 1);
    BREAKS("progress of a plan that there is not", goal.plan.nodes_made = 1);
    BREAKS("progress of a plan that there is not", goal.plan.version = 1;
           goal.progress.percent = 101);
    BREAKS("too many nodes", goal.plan.version = 1; goal.plan.nodes_made = LIMIT_NODES + 1);
    BREAKS("due later than its earliest deadline", goal.due_at = 901);
    BREAKS("due later than its earliest deadline", goal.due_at = TIME_NEVER);
    BREAKS("due later than its earliest deadline", goal.times.wants_at = 699);
    BREAKS("due later than its earliest deadline", goal.effects.open[1].until = 699);
    BREAKS("an open effect has ended", goal.effects.open[1].state = EFFECT_ENDED);
    BREAKS("an open effect has ended", goal.effects.open[2].state = EFFECT_STATES);
    BREAKS("an effect was never made", goal.effects.made = 4);
    BREAKS("effects are out of order", goal.effects.open[1].n = 0);
    BREAKS("effects are out of order", goal.effects.open[1].n = 1);
    BREAKS("an effect is claimed by nobody, or ready and claimed",
           goal.effects.open[1].run_host = 1);
    BREAKS("an effect is claimed by nobody, or ready and claimed",
           goal.effects.open[0].run_host = 0);
    BREAKS("an effect is claimed by nobody, or ready and claimed",
           goal.effects.open[2].run_host = 0);
}

static void assignment_breaks(const char *promise, const struct assignment *assignment) {
    struct node node = {.n = 3};
    struct question question = {.n = 5};
    struct live live = {.plan = {&node, 1}, .questions = {&question, 1}};
    const char *broken = assignment_broken(assignment, &live);
    if (!promise)
        check(!broken, "%s", broken);
    else
        check(broken && strcmp(broken, promise) == 0, "%s, not %s", promise,
              broken ? broken : "nothing");
}

#define ASSIGNMENT_BREAKS(promise, ...) \
    do { \
        struct assignment assignment = {.node = 3, .agent = "auto-1", .wait.question = 6}; \
        __VA_ARGS__; \
        assignment_breaks(promise, &assignment); \
    } while (0)

static void test_an_assignment_says_which_promise_is_broken(void **state) {
    (void)state;
    ASSIGNMENT_BREAKS(NULL, (void)0);
    ASSIGNMENT_BREAKS("an assignment that is over is still live",
                      assignment.status = ASSIGNMENT_DONE);
    ASSIGNMENT_BREAKS("an assignment without a node", assignment.node = 4);
    ASSIGNMENT_BREAKS("an assignment was sent to nobody", assignment.status = ASSIGNMENT_ACTIVE;
                      assignment.agent[0] = 0);
    ASSIGNMENT_BREAKS("an assignment was sent something of no known kind",
                      assignment.delivery.words = WORDINGS);
    ASSIGNMENT_BREAKS("a dispatch that was never made has an outcome",
                      assignment.delivery.result = DELIVERY_OK);
    ASSIGNMENT_BREAKS("an assignment is to be sent something of no known kind",
                      assignment.outgoing.next = WORDINGS);
    ASSIGNMENT_BREAKS("a message that its agent has not received is gone",
                      assignment.outgoing.undelivered = WORDS_ANSWER);
    ASSIGNMENT_BREAKS("more was settled than used", assignment.usage.settled_cost = 1);
    ASSIGNMENT_BREAKS("a run used more than its assignment", assignment.usage.run_tokens = 1);
    ASSIGNMENT_BREAKS("an assignment stands on no rung of the ladder",
                      assignment.recovery.rung = RUNGS);
    ASSIGNMENT_BREAKS("an assignment stands below its first rung",
                      assignment.recovery.first = RUNG_ASK);
    ASSIGNMENT_BREAKS("a blocked assignment does not say why",
                      assignment.status = ASSIGNMENT_BLOCKED);
    ASSIGNMENT_BREAKS("an assignment waits for a question that there is not",
                      assignment.wait.question = 7);
    ASSIGNMENT_BREAKS("an assignment waits for nothing known", assignment.wait.on = WAIT_COUNT);
    ASSIGNMENT_BREAKS("the slot of an assignment is in no known state",
                      assignment.slot.state = SLOT_STATES);
    ASSIGNMENT_BREAKS("an assignment without a slot has asked for one", assignment.slot.host = 1);
    ASSIGNMENT_BREAKS("a candidate is approved or checked that there is not",
                      assignment.check.approved = 1);
    ASSIGNMENT_BREAKS("more than all of it is done", assignment.progress.percent = 102);
}

static void test_a_whole_goal_breaks_nothing(void **state) {
    (void)state;
    struct goal goal = goal_whole();
    assert_null(goal_broken(&goal));
    goal.due_at = 900; /* exactly in time */
    assert_null(goal_broken(&goal));
    goal.due_at = 0; /* too early is allowed */
    assert_null(goal_broken(&goal));
    goal.need = NEED_UNCONFIRMED;
    assert_null(goal_broken(&goal));
    struct goal done = {.version = 1,
                        .records.seq = 1,
                        .due_at = TIME_NEVER,
                        .status = GOAL_COMPLETED,
                        .times.ended_at = 5};
    assert_null(goal_broken(&done));
    done.effects.open[0] = (struct effect_slot){.n = 0, .kind = EFFECT_SAY}; /* ESCALATE-07 */
    done.effects.open[1] = (struct effect_slot){.n = 1, .kind = EFFECT_TELL};
    done.effects.open_count = done.effects.made = 2;
    assert_null(goal_broken(&done));
    done.effects.open[1].kind = EFFECT_LOOK;
    assert_string_equal(goal_broken(&done), "completed with something open");
    struct goal full = {.version = 1,
                        .records.seq = 1,
                        .effects.made = LIMIT_OPEN_EFFECTS,
                        .effects.open_count = LIMIT_OPEN_EFFECTS};
    for (uint32_t i = 0; i < LIMIT_OPEN_EFFECTS; i++)
        full.effects.open[i].n = i;
    assert_null(goal_broken(&full));
}

static void test_a_goal_finds_its_effects_and_its_deadline(void **state) {
    (void)state;
    struct goal goal = goal_whole();
    assert_ptr_equal(goal_effect(&goal, 1), &goal.effects.open[0]);
    assert_ptr_equal(goal_effect(&goal, 4), &goal.effects.open[2]);
    assert_null(goal_effect(&goal, 0));
    assert_null(goal_effect(&goal, 3));
    assert_true(goal_due(&goal) == 900);
    goal.effects.open[1] =
        (struct effect_slot){.n = 2, .state = EFFECT_RUNNING, .run_host = 2, .until = 800};
    assert_true(goal_due(&goal) == 800);
    goal.effects.open_count = 1;
    assert_true(goal_due(&goal) == 900);
    assert_null(goal_effect(&goal, 4));
    goal.effects.open[0].state = EFFECT_UNCONFIRMED;
    assert_true(goal_due(&goal) == TIME_NEVER);
    goal.effects.open[0] = (struct effect_slot){.n = 1, .kind = EFFECT_LOOK, .until = 850};
    assert_true(goal_due(&goal) == 850); /* an effect without a claim has a deadline too */
    goal.times.wants_at = 840;
    assert_true(goal_due(&goal) == 840);
    goal.times.wants_at = 860;
    assert_true(goal_due(&goal) == 850);
}

static void test_a_goal_shows_one_word_to_people(void **state) {
    (void)state;
    static const struct {
        enum goal_status status;
        enum need need;
        bool quarantined;
        uint32_t open;
        enum effect_state effect;
        enum display_state display_state;
        bool is_open;
    } ROWS[] = {
        {GOAL_ACTIVE, NEED_NOTHING, false, 0, 0, DISPLAY_QUEUED, true},
        {GOAL_ACTIVE, NEED_NOTHING, false, 1, EFFECT_READY, DISPLAY_QUEUED, true},
        {GOAL_ACTIVE, NEED_NOTHING, false, 1, EFFECT_RUNNING, DISPLAY_WORKING, true},
        {GOAL_ACTIVE, NEED_UNCONFIRMED, false, 1, EFFECT_UNCONFIRMED, DISPLAY_NEEDS_YOU, true},
        {GOAL_ACTIVE, NEED_FAILED, false, 0, 0, DISPLAY_NEEDS_YOU, true},
        {GOAL_ACTIVE, NEED_FAILED, false, 1, EFFECT_RUNNING, DISPLAY_NEEDS_YOU, true},
        {GOAL_ACTIVE, NEED_NOTHING, true, 1, EFFECT_RUNNING, DISPLAY_NEEDS_YOU, true},
        {GOAL_COMPLETED, NEED_NOTHING, false, 0, 0, DISPLAY_DONE, false},
        {GOAL_COMPLETED, NEED_NOTHING, true, 0, 0, DISPLAY_NEEDS_YOU, false},
        {GOAL_PAUSED, NEED_NOTHING, false, 0, 0, DISPLAY_PAUSED, true},
        {GOAL_PAUSED, NEED_FAILED, false, 0, 0, DISPLAY_NEEDS_YOU, true},
        {GOAL_CANCELLED, NEED_FAILED, false, 0, 0, DISPLAY_CANCELLED, false},
        {GOAL_ARCHIVED, NEED_NOTHING, false, 0, 0, DISPLAY_ARCHIVED, false},
        {GOAL_ARCHIVED, NEED_NOTHING, true, 0, 0, DISPLAY_NEEDS_YOU, false},
        {GOAL_PAUSED, NEED_NOTHING, false, 1, EFFECT_RUNNING, DISPLAY_WORKING, true},
        {GOAL_CANCELLED, NEED_NOTHING, false, 1, EFFECT_RUNNING, DISPLAY_WORKING, true},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct goal goal = {.status = ROWS[i].status,
                            .need = ROWS[i].need,
                            .quarantined = ROWS[i].quarantined,
                            .effects.open_count = ROWS[i].open,
                            .effects.open = {{.state = ROWS[i].effect}}};
        check(goal_display_state(&goal) == ROWS[i].display_state, "row %zu shows %s", i,
              name_of(&DISPLAY_STATE_NAMES, goal_display_state(&goal)));
        check(goal_is_open(&goal) == ROWS[i].is_open, "row %zu", i);
    }
    struct goal working = {.progress.working = 1}, asked = {.plan.review = 1},
                proposed = {.plan.proposal = {{1}}};
    assert_int_equal(goal_display_state(&working), DISPLAY_WORKING);
    assert_int_equal(goal_display_state(&asked), DISPLAY_NEEDS_YOU);
    assert_int_equal(goal_display_state(&proposed), DISPLAY_NEEDS_YOU);
    struct goal questioned = {.people.questions = 1};
    assert_int_equal(goal_display_state(&questioned), DISPLAY_NEEDS_YOU);
    struct goal ended = {.status = GOAL_CANCELLED};
    assert_false(goal_is_open(&ended));
    ended.status = GOAL_ARCHIVED;
    assert_false(goal_is_open(&ended));
}

/* ---- the chain of records ---- */

static struct record record_example(void) {
    struct record record = {.type = RECORD_EFFECT_ENDED, .at = AT, .core = 1, .body = STR("body")};
    memset(record.policy.bytes, 0xBB, sizeof record.policy.bytes);
    return record;
}

static void test_a_record_is_sealed_with_everything_before_it(void **state) {
    (void)state;
    struct id goal = GOAL_BYTES;
    struct hash head;
    memset(head.bytes, 0xAA, sizeof head.bytes);
    struct record record = record_example();
    record_seal(&record, goal, 9, &head);
    assert_int_equal(record.seq, 10);
    assert_string_equal(hex_of(hash_str(&record.body_hash)),
                        "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5");
    assert_string_equal(hex_of(hash_str(&record.hash)),
                        "80021d415b2d563c97185d944b8c31c1b3fb28d4780ebef88d43e8da6a4b8c69");
    struct hash none = {{0}};
    struct record first = {
        .type = RECORD_GOAL_CREATED, .at = -1, .core = 1, .policy = record.policy};
    record_seal(&first, goal, 0, &none);
    assert_int_equal(first.seq, 1);
    assert_string_equal(hex_of(hash_str(&first.hash)),
                        "03ad5fe48b1882b0ca8bc4e28b5a5d3ccaf4d695d8a1646b6027210d1305c335");
}

struct link {
    struct record record;
    struct id goal;
    uint64_t last_seq;
    struct hash head;
};

static struct hash link_hash(struct link link) {
    record_seal(&link.record, link.goal, link.last_seq, &link.head);
    return link.record.hash;
}

#define CHANGED(...) \
    do { \
        struct link link = whole; \
        __VA_ARGS__; \
        struct hash hash = link_hash(link); \
        check(!hash_equal(&hash, &sealed), "not covered: " #__VA_ARGS__); \
    } while (0)

static void test_a_changed_record_breaks_the_chain(void **state) {
    (void)state;
    const struct link whole = {record_example(), GOAL_BYTES, 9, {{7}}};
    const struct hash sealed = link_hash(whole);
    struct hash again = link_hash(whole);
    assert_true(hash_equal(&sealed, &again));
    CHANGED(link.record.type = RECORD_EFFECT_CLAIMED);
    CHANGED(link.record.at++);
    CHANGED(link.record.at = -link.record.at);
    CHANGED(link.record.core++);
    CHANGED(link.record.policy.bytes[0] ^= 1);
    CHANGED(link.record.policy.bytes[31] ^= 1);
    CHANGED(link.record.body = STR("Body"));
    CHANGED(link.record.body = STR("bod"));
    CHANGED(link.record.body = STR(""));
    CHANGED(link.last_seq++);
    CHANGED(link.last_seq += 1ull << 40);
    CHANGED(link.head.bytes[0] ^= 1);
    CHANGED(link.head.bytes[31] ^= 1);
    CHANGED(link.goal.bytes[0] ^= 1);
    CHANGED(link.goal.bytes[15] ^= 1);
}

/* Only the columns are hashed: the chain still verifies after a body has been dropped. */
static void test_a_chain_verifies_without_its_bodies(void **state) {
    (void)state;
    struct id goal = GOAL_BYTES;
    struct record records[5];
    struct hash head = {{0}};
    for (uint64_t i = 0; i < count_of(records); i++) {
        records[i] = record_example();
        records[i].at += (int64_t)i;
        record_seal(&records[i], goal, i, &head);
        head = records[i].hash;
        records[i].body = (struct str){0};
    }
    struct hash before = {{0}};
    for (size_t i = 0; i < count_of(records); i++) {
        assert_int_equal(records[i].seq, i + 1);
        struct hash hash = hash_of_columns(&records[i], goal, before);
        assert_true(hash_equal(&hash, &records[i].hash));
        struct record changed = records[i];
        changed.body_hash.bytes[5] ^= 4;
        hash = hash_of_columns(&changed, goal, before);
        assert_false(hash_equal(&hash, &records[i].hash));
        before = records[i].hash;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_every_type_have_their_bytes),
        cmocka_unit_test(test_fields_that_are_zero_are_left_out),
        cmocka_unit_test(test_fields_of_a_newer_build_are_skipped),
        cmocka_unit_test(test_fields_refuse_what_is_not_theirs),
        cmocka_unit_test(test_bytes_end_at_their_cap),
        cmocka_unit_test(test_every_cut_of_an_encoding_is_refused_or_a_prefix),
        cmocka_unit_test(test_signals_give_each_number_once),
        cmocka_unit_test(test_shapes_give_each_number_once),
        cmocka_unit_test(test_names_of_tasks_and_questions),
        cmocka_unit_test(test_branches_are_named_after_their_task),
        cmocka_unit_test(test_one_field_is_removed),
        cmocka_unit_test(test_golden_bytes_are_written_and_read),
        cmocka_unit_test(test_golden_covers_every_kind_and_every_field),
        cmocka_unit_test(test_signals_refuse_what_is_none),
        cmocka_unit_test(test_signals_take_no_field_of_another_kind),
        cmocka_unit_test(test_signals_end_at_their_limits),
        cmocka_unit_test(test_strange_bytes_never_do_harm),
        cmocka_unit_test(test_a_copied_signal_stands_by_itself),
        cmocka_unit_test(test_a_copied_signal_has_all_its_texts),
        cmocka_unit_test(test_an_effect_has_one_id_for_ever),
        cmocka_unit_test(test_an_effect_of_no_kind_decodes_to_nothing),
        cmocka_unit_test(test_a_policy_is_named_by_its_hash),
        cmocka_unit_test(test_every_field_of_a_policy_counts),
        cmocka_unit_test(test_names_are_found_whole),
        cmocka_unit_test(test_states_follow_each_other_as_drawn),
        cmocka_unit_test(test_states_have_one_name_everywhere),
        cmocka_unit_test(test_words_of_assignments),
        cmocka_unit_test(test_names_are_whole_and_differ),
        cmocka_unit_test(test_errors_say_what_happened_and_what_to_do_next),
        cmocka_unit_test(test_error_codes_on_the_wire_are_stable),
        cmocka_unit_test(test_a_goal_says_which_promise_is_broken),
        cmocka_unit_test(test_an_assignment_says_which_promise_is_broken),
        cmocka_unit_test(test_a_whole_goal_breaks_nothing),
        cmocka_unit_test(test_a_goal_finds_its_effects_and_its_deadline),
        cmocka_unit_test(test_a_goal_shows_one_word_to_people),
        cmocka_unit_test(test_a_record_is_sealed_with_everything_before_it),
        cmocka_unit_test(test_a_changed_record_breaks_the_chain),
        cmocka_unit_test(test_a_chain_verifies_without_its_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
