/* SPDX-License-Identifier: Apache-2.0 */
/* Tests who is notified of what, and that a notice survives storing and loading. ESCALATE-01, ESCALATE-03. */
#include "unit.h"

#include "model/channel_list.h"
#include "model/setting/setting.h"

/* ---- levels ---- */

static void test_levels(void **state) {
    (void)state;
    static const char *const WANT[] = {"info", "warning", "critical", "emergency"};
    assert_int_equal(ALARM_NAMES.count, count_of(WANT));
    for (uint32_t i = 0; i < ALARMS; i++)
        assert_string_equal(name_of(&ALARM_NAMES, i), WANT[i]);
    check(ALARM_INFO < ALARM_WARNING && ALARM_WARNING < ALARM_CRITICAL &&
              ALARM_CRITICAL < ALARM_EMERGENCY,
          "they are compared");
    proof_passed("unit", "notice: levels", "ESCALATE-01");
}

/* ESCALATE-03 literally: i and w go to the desktop, c also to a tracker, e to all channels. */
static void test_levels_reach_channels(void **state) {
    (void)state;
    static const struct {
        enum channel_kind kind;
        const char *reached;
    } ROWS[] = {{CHANNEL_DESKTOP, "iwce"}, {CHANNEL_GITEA, "ce"},    {CHANNEL_GITHUB, "ce"},
                {CHANNEL_GITLAB, "ce"},    {CHANNEL_WEBHOOK, "e"},   {CHANNEL_SLACK, "e"},
                {CHANNEL_DISCORD, "e"},    {CHANNEL_PAGERDUTY, "e"}, {CHANNEL_NTFY, "e"},
                {CHANNEL_COMMAND, "e"}};
    for (size_t i = 0; i < count_of(ROWS); i++)
        assert_int_equal(ROWS[i].kind, i); /* the numbers are stored */
    for (size_t i = 0; i < count_of(ROWS); i++)
        for (uint32_t alarm = 0; alarm < ALARMS; alarm++)
            check(alarm_reaches(alarm, ROWS[i].kind) ==
                      (strchr(ROWS[i].reached, *name_of(&ALARM_NAMES, alarm)) != NULL),
                  "%s, %s", name_of(&CHANNEL_KIND_NAMES, ROWS[i].kind),
                  name_of(&ALARM_NAMES, alarm));
    proof_passed("unit", "notice: channels per level", "ESCALATE-03");
}

/* ---- the encoding ---- */

static struct str filled(struct arena *arena, size_t cap) {
    char *text = arena_take(arena, cap, 1);
    memset(text, 'x', cap);
    return (struct str){text, cap};
}

static void field_fill(const struct field *field, void *at, struct arena *arena) {
    struct str *list;
    switch (field->type) {
    case FIELD_ID: memset(at, 0xFF, sizeof(struct id)); break;
    case FIELD_U32: *(uint32_t *)at = UINT32_MAX; break;
    case FIELD_FLAG: *(uint32_t *)at = 1; break;
    case FIELD_ENUM: *(uint32_t *)at = field->names->count - 1; break;
    case FIELD_TIME: *(int64_t *)at = INT64_MAX; break;
    case FIELD_TEXT: *(struct str *)at = filled(arena, field->cap); break;
    case FIELD_TEXTS:
        list = arena_new(arena, struct str, field->most);
        for (uint32_t i = 0; i < field->most; i++)
            list[i] = filled(arena, field->cap);
        *(struct texts *)at = (struct texts){list, field->most};
        break;
    default: fail_msg("%s has a type that this test does not know", field->name);
    }
}

static struct notice *longest(struct arena *arena) {
    struct notice *notice = arena_new(arena, struct notice, 1);
    for (size_t i = 0; i < NOTICE.count; i++)
        field_fill(&NOTICE.fields[i], (char *)notice + NOTICE.fields[i].offset, arena);
    return notice;
}

static void test_the_longest_fits_and_comes_back(void **state) {
    (void)state;
    struct arena arena = {0};
    struct notice *notice = longest(&arena), *back = arena_new(&arena, struct notice, 1);
    uint32_t row;
    check(!fields_broken(NOTICE.fields, NOTICE.count, notice, &row), "its caps hold");
    struct str bytes = shape_encode(&NOTICE, notice, &arena);
    check(bytes.len <= LIMIT_NOTICE, "%zu bytes", bytes.len);
    check(bytes.len > LIMIT_NOTICE / 2, "%zu bytes: is everything in it?", bytes.len);
    assert_true(shape_decode_in(&NOTICE, bytes, &arena, back));
    struct str again = shape_encode(&NOTICE, back, &arena);
    assert_true(str_equal(bytes, again));
    assert_int_equal(back->origin.account.len, LIMIT_KEY);
    assert_int_equal(back->recommendations.count, LIMIT_CHOICES);
    arena_free(&arena);
}

/* Stored bytes: never change them, only add to them. */
static void test_golden(void **state) {
    (void)state;
    static const char GOLDEN[] = "0108020a010d0251310f0a7374616c6c65642f543720033a01410139";
    struct arena arena = {0};
    struct notice notice = {.alarm = ALARM_CRITICAL,
                            .kind = NOTICE_QUESTION,
                            .question = STR("Q1"),
                            .cause = STR("stalled/T7"),
                            .iteration = 3,
                            .attempt.unsure = 1,
                            .origin.thread = STR("9")};
    const char *hex = hex_of(shape_encode(&NOTICE, &notice, &arena));
    check(strcmp(hex, GOLDEN) == 0, "%s", hex);
    arena_free(&arena);
}

/* Damaged bytes are refused, or decode to another notice that encodes and decodes to itself. */
static void test_damaged_bytes(void **state) {
    (void)state;
    struct chance chance = {.state = 7};
    struct arena arena = {0}, scratch = {0};
    struct str whole = shape_encode(&NOTICE, longest(&arena), &arena);
    unsigned taken = 0;
    for (int round = 0; round < 5000; round++) {
        size_t len = chance_in(&chance, 3) ? chance_below(&chance, (uint32_t)whole.len) : whole.len;
        char *bytes = malloc(len + 1);
        assert_non_null(bytes);
        memcpy(bytes, whole.at, len);
        for (uint32_t i = chance_below(&chance, 4); i > 0 && len > 0; i--)
            bytes[chance_below(&chance, (uint32_t)len)] ^= (char)(1u << chance_below(&chance, 8));
        struct notice *first = arena_new(&scratch, struct notice, 1),
                      *second = arena_new(&scratch, struct notice, 1);
        if (shape_decode_in(&NOTICE, (struct str){bytes, len}, &scratch, first)) {
            struct str again = shape_encode(&NOTICE, first, &scratch);
            assert_true(shape_decode_in(&NOTICE, again, &scratch, second));
            assert_true(str_equal(again, shape_encode(&NOTICE, second, &scratch)));
            taken++;
        }
        free(bytes);
        arena_reset(&scratch);
    }
    check(taken > 100 && taken < 4900, "%u of 5000 were taken", taken);
    arena_free(&arena);
    arena_free(&scratch);
}

static void test_numbers_are_given_once(void **state) {
    (void)state;
    for (size_t i = 0; i < NOTICE.count; i++)
        for (size_t k = 0; k < i; k++)
            check(NOTICE.fields[i].number != NOTICE.fields[k].number &&
                      NOTICE.fields[i].offset != NOTICE.fields[k].offset,
                  "%s and %s", NOTICE.fields[i].name, NOTICE.fields[k].name);
}

/* ---- configured channels ---- */

static void test_what_a_channel_needs(void **state) {
    (void)state;
    static const struct {
        struct channel channel;
        const char *wrong; /* NULL: valid */
    } ROWS[] = {
        {{.kind = CHANNEL_DESKTOP}, NULL},
        {{.kind = CHANNEL_WEBHOOK}, "needs \"url\""},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("https://a.example/x")}, NULL},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://a.example/x")}, "TLS"},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://a.example/x"), .insecure = true}, NULL},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://localhost:8080/x")}, NULL},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://[::1]:8080/x")}, NULL},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://[::2]:8080/x")}, "TLS"},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("http://localhost@a.example/")},
         "not an http or https URL"},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("https://")}, "not an http or https URL"},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("https:///x")}, "without a host"},
        {{.kind = CHANNEL_WEBHOOK, .url = STR("file:///etc/passwd")}, "not an http or https URL"},
        {{.kind = CHANNEL_GITEA, .url = STR("https://g")}, "needs \"repo\""},
        {{.kind = CHANNEL_GITHUB, .repo = STR("a/b")}, "needs \"token_path\""},
        {{.kind = CHANNEL_GITHUB, .repo = STR("a/b"), .token_path = STR("/t")}, NULL},
        {{.kind = CHANNEL_SLACK}, "needs \"url\", or"},
        {{.kind = CHANNEL_SLACK, .token_path = STR("/t")}, NULL},
        {{.kind = CHANNEL_NTFY, .url = STR("https://n")}, "needs \"to\""},
        {{.kind = CHANNEL_COMMAND}, "needs \"command\""},
        {{.kind = CHANNEL_PAGERDUTY}, "needs \"token_path\""},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct channel channel = ROWS[i].channel;
        channel.id = STR("c");
        const char *wrong = channel_broken(&channel);
        check(ROWS[i].wrong ? wrong && strstr(wrong, ROWS[i].wrong) : !wrong, "row %zu: %s", i,
              wrong ? wrong : "nothing is wrong");
    }
    struct channel nameless = {.kind = CHANNEL_DESKTOP};
    check(channel_broken(&nameless), "it has no name");
}

/* ESCALATE-10: the older settings define channels, unless a channel of that name is declared. */
static void test_older_settings_are_channels(void **state) {
    (void)state;
    struct settings *settings = calloc(1, sizeof *settings);
    assert_non_null(settings);
    settings_default(settings);
    struct channel declared = {.id = STR("webhook"), .kind = CHANNEL_SLACK};
    settings->lists.channels = &declared;
    settings->lists.channel_count = 1;
    settings->escalation.tracker_repo = STR("a/b");
    settings->escalation.tracker_kind = CHANNEL_GITLAB - CHANNEL_GITEA;
    settings->escalation.webhook_url = STR("https://h");
    settings_channels(settings);
    static const struct {
        const char *id;
        enum channel_kind kind;
    } WANT[] = {
        {"desktop", CHANNEL_DESKTOP}, {"tracker", CHANNEL_GITLAB}, {"webhook", CHANNEL_SLACK}};
    assert_int_equal(settings->lists.channel_count, count_of(WANT));
    for (uint32_t i = 0; i < count_of(WANT); i++) {
        check(str_equal(settings->lists.channels[i].id, str_of(WANT[i].id)), "%u", i);
        assert_int_equal(settings->lists.channels[i].kind, WANT[i].kind);
    }
    check(settings->lists.channels[0].quiet && settings->lists.channels[0].within == SECONDS(20),
          "defaults");
    arena_free(&settings->source.arena);
    free(settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_reach_channels),
        cmocka_unit_test(test_the_longest_fits_and_comes_back),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_numbers_are_given_once),
        cmocka_unit_test(test_what_a_channel_needs),
        cmocka_unit_test(test_older_settings_are_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
