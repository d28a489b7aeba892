/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every known secret is redacted, and nothing else. The examples are in tests/golden/secrets.txt and
 * innocent.txt; both describe their format at the top. */
#include "unit.h"

#include "model/secret/key_block.h"
#include "model/secret/secret.h"
#include "model/secret/secret_shapes.h"

#include <time.h>

enum { EXAMPLES_MAX = 512, NEEDLE = 6, MEGABYTE = 1 << 20 };

#define BREAKER "\xC2\xA6"     /* ¦ marks the middle of each secret */
#define NEWLINE "\xE2\x90\xA4" /* ␤ */

struct example {
    char name[LIMIT_SECRET_NAME + 1];
    struct str text;   /* as a sender would write it */
    struct str needle; /* the middle of the secret, which must be gone */
};

static struct {
    struct arena arena, scratch;
    const struct secret_rules *rules;
    struct example secret[EXAMPLES_MAX], innocent[EXAMPLES_MAX];
    uint32_t secrets, innocents;
} world;

/* ---- the corpus ---- */

static FILE *file_open(const char *name) {
    const char *tests = getenv("OVERSEER_TESTS");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", tests ? tests : "tests", name);
    FILE *file = fopen(path, "r");
    check(file != NULL, "%s cannot be read; OVERSEER_TESTS names the folder of the tests", path);
    return file;
}

/* Replaces ␤ with a newline, removes the breaker, and returns the breaker's place. */
static size_t example_decode(const char *from, char *to) {
    size_t middle = 0, len = 0;
    while (*from) {
        if (strncmp(from, NEWLINE, 3) == 0) {
            to[len++] = '\n';
            from += 3;
        } else if (strncmp(from, BREAKER, 2) == 0) {
            middle = len;
            from += 2;
        } else {
            to[len++] = *from++;
        }
    }
    to[len] = 0;
    return middle;
}

static void example_read(char *line, bool has_name, struct example *ret) {
    char *text = line;
    if (has_name) {
        text = strchr(line, '\t');
        check(text && text - line <= LIMIT_SECRET_NAME, "no name: %s", line);
        *text++ = 0;
        strcpy(ret->name, line);
    }
    char decoded[4096];
    size_t middle = example_decode(text, decoded);
    ret->text = arena_copy(&world.arena, str_of(decoded));
    check(!has_name || (middle > 2 && middle + 1 < ret->text.len), "no %s in %s", BREAKER, text);
    if (has_name)
        ret->needle = str_cut((struct str){ret->text.at + middle - NEEDLE / 2, NEEDLE},
                              ret->text.len - middle + NEEDLE / 2);
}

static uint32_t corpus_read(const char *name, bool has_names, struct example *examples) {
    FILE *file = file_open(name);
    static char line[8192];
    uint32_t count = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#')
            continue;
        assert_true(count < EXAMPLES_MAX);
        example_read(line, has_names, &examples[count++]);
    }
    fclose(file);
    return count;
}

static int world_open(void **state) {
    (void)state;
    world.rules = secret_rules_new(NULL, 0, &world.arena);
    world.secrets = corpus_read("golden/secrets.txt", true, world.secret);
    world.innocents = corpus_read("golden/innocent.txt", false, world.innocent);
    return 0;
}

static int world_close(void **state) {
    (void)state;
    arena_free(&world.arena);
    arena_free(&world.scratch);
    return 0;
}

/* ---- invariants ---- */

static bool has(struct str text, struct str part) {
    return memmem(text.at, text.len, part.at, part.len) != NULL;
}

static uint32_t marks_count(struct str text) {
    uint32_t count = 0;
    for (size_t at = 0; at < text.len; at++)
        count += secret_mark_at(text, at) > 0;
    return count;
}

/* Redacts a copy of the text in its own allocation, so that the sanitizer sees any access past its end. The result is
 * in the scratch arena. */
static struct str redact_with(const struct secret_rules *rules, struct str text) {
    char *block = malloc(text.len + (text.len == 0));
    assert_non_null(block);
    if (text.len)
        memcpy(block, text.at, text.len);
    struct str own = {block, text.len};
    struct str out = secret_redact(rules, own, &world.scratch);
    bool same = out.at == own.at;
    assert_int_equal(secret_find(rules, own), !same);
    struct str kept = arena_copy(&world.scratch, out);
    free(block);
    check(!secret_find(rules, kept), "again: %.*s", STR_ARG(kept));
    check(secret_redact(rules, kept, &world.scratch).at == kept.at, "%.*s", STR_ARG(kept));
    uint32_t marks = marks_count(kept);
    check(kept.len <= text.len + 32 * (size_t)marks, "%.*s", STR_ARG(kept));
    check(same == str_equal(kept, text), "%.*s", STR_ARG(kept));
    return kept;
}

static struct str redact(struct str text) {
    return redact_with(world.rules, text);
}

/* ---- the table of secret shapes ---- */

static bool name_is_first(uint32_t row) {
    for (uint32_t i = 0; i < row; i++)
        if (strcmp(SECRET_SHAPES[i].name, SECRET_SHAPES[row].name) == 0)
            return false;
    return true;
}

static void test_every_row_is_whole(void **state) {
    (void)state;
    uint32_t names = 0;
    for (uint32_t i = 0; i < SECRET_SHAPE_COUNT; i++) {
        const struct secret_shape *shape = &SECRET_SHAPES[i];
        uint32_t column = 0;
        const char *wrong = secret_pattern_broken(str_of(shape->pattern), &column);
        check(wrong == NULL, "%s, column %u: %s", shape->name, column, wrong);
        size_t len = strlen(shape->name);
        check(len > 0 && len <= LIMIT_SECRET_NAME, "%s", shape->name);
        check(strspn(shape->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len, "%s",
              shape->name);
        check((shape->text != NULL) == name_is_first(i), "%s has one text, on its first row",
              shape->name);
        names += name_is_first(i);
    }
    assert_true(names >= 60);
    assert_true(SECRET_SHAPE_COUNT + LIMIT_SECRET_CUSTOM <= LIMIT_SECRET_SHAPES);
}

static void test_every_row_is_in_the_documentation(void **state) {
    (void)state;
    FILE *file = file_open("../docs/redaction.md");
    static char page[65536];
    size_t len = fread(page, 1, sizeof page, file);
    fclose(file);
    assert_true(len < sizeof page);
    uint32_t shown = 0, rows = 0;
    for (uint32_t i = 0; i < SECRET_SHAPE_COUNT; i++) {
        if (!SECRET_SHAPES[i].text)
            continue;
        char row[512];
        snprintf(row, sizeof row, "\n| `%s` | %s |\n", SECRET_SHAPES[i].name,
                 SECRET_SHAPES[i].text);
        check(has((struct str){page, len}, str_of(row)), "docs/redaction.md has no row%s", row);
        shown++;
    }
    for (const char *at = page; (at = strstr(at, "\n| `")) != NULL; at++)
        rows++;
    check(rows == shown, "docs/redaction.md has %u rows, there are %u", rows, shown);
}

/* ---- examples ---- */

static void test_every_secret_is_taken_out(void **state) {
    (void)state;
    assert_true(world.secrets >= 110);
    for (uint32_t i = 0; i < world.secrets; i++) {
        const struct example *example = &world.secret[i];
        struct str out = redact(example->text);
        char mark[64];
        snprintf(mark, sizeof mark, SECRET_MARK "%s]", example->name);
        check(has(out, str_of(mark)), "%s: %.*s", example->name, STR_ARG(out));
        check(!has(out, example->needle), "%s: %.*s", example->name, STR_ARG(out));
        check(marks_count(out) == 1, "%s: %.*s", example->name, STR_ARG(out));
        arena_reset(&world.scratch);
    }
}

static void test_every_name_has_an_example(void **state) {
    (void)state;
    for (uint32_t i = 0; i < SECRET_SHAPE_COUNT; i++) {
        bool found = false;
        for (uint32_t j = 0; j < world.secrets; j++)
            found = found || strcmp(world.secret[j].name, SECRET_SHAPES[i].name) == 0;
        check(found, "%s", SECRET_SHAPES[i].name);
    }
}

static void test_innocent_lines_stay_as_they_are(void **state) {
    (void)state;
    assert_true(world.innocents >= 150);
    for (uint32_t i = 0; i < world.innocents; i++) {
        struct str text = world.innocent[i].text, out = redact(text);
        check(str_equal(out, text), "%.*s\nbecame %.*s", STR_ARG(text), STR_ARG(out));
        arena_reset(&world.scratch);
    }
}

static void test_innocent_text_is_not_copied(void **state) {
    (void)state;
    struct str text = STR("needs OPENAI_API_KEY: set it in ~/.config/overseer/env");
    struct arena none = {0};
    struct str out = secret_redact(world.rules, text, &none);
    assert_ptr_equal(out.at, text.at);
    assert_int_equal(out.len, text.len);
    assert_null(none.chunk);
    assert_int_equal(secret_redact(world.rules, (struct str){NULL, 0}, &none).len, 0);
}

/* The text around a secret is unchanged. */
static void test_the_rest_of_the_text_stays(void **state) {
    (void)state;
    static const struct {
        const char *text, *after;
    } ROWS[] = {
        {"call +49 151 23456789 now", "call [redacted:phone] now"},
        {"DB_PASSWORD=swordfish cargo test", "DB_PASSWORD=[redacted:password] cargo test"},
        {"{\"user\": \"bob\", \"password\": \"swordfish\", \"n\": 1}",
         "{\"user\": \"bob\", \"password\": \"[redacted:password]\", \"n\": 1}"},
        {"postgres://app:s3cr3t@db:5432/prod?x=1",
         "postgres://app:[redacted:url-password]@db:5432/prod?x=1"},
        {"Cookie: sid=1; t=2\nHost: example.org", "Cookie: [redacted:cookie]\nHost: example.org"},
        {"curl -H 'Authorization: Bearer abc1234' https://example.org",
         "curl -H 'Authorization: Bearer [redacted:authorization]' https://example.org"},
        {"token=abcd1234efgh, then more.", "token=[redacted:secret], then more."},
        {"the token is token=abcd1234efgh.", "the token is token=[redacted:secret]."},
        {"a -----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nb",
         "a [redacted:private-key]\nb"},
        {"phone 555-234-5678, 2 times, or (555) 234-5678.",
         "phone [redacted:phone], 2 times, or [redacted:phone]."},
        {"https://u:one@a https://u:two@b",
         "https://u:[redacted:url-password]@a https://u:[redacted:url-password]@b"},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct str out = redact(str_of(ROWS[i].text));
        check(str_equal(out, str_of(ROWS[i].after)), "%.*s", STR_ARG(out));
    }
    arena_reset(&world.scratch);
}

/* ---- examples at any position ---- */

static struct str join(struct str a, struct str b, struct str c) {
    char *out = arena_new(&world.scratch, char, a.len + b.len + c.len + 1);
    memcpy(out, a.at, a.len);
    memcpy(out + a.len, b.at, b.len);
    memcpy(out + a.len + b.len, c.at, c.len);
    return (struct str){out, a.len + b.len + c.len};
}

static struct str json_escape(struct str text) {
    char *out = arena_new(&world.scratch, char, 2 * text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        char escaped = c == '\n' ? 'n' : c == '\t' ? 't' : c == '"' || c == '\\' ? c : 0;
        if (escaped)
            out[len++] = '\\';
        out[len++] = escaped ? escaped : c;
    }
    return (struct str){out, len};
}

static void is_gone(const struct example *example, struct str text, struct str needle) {
    struct str out = redact(text);
    check(!has(out, needle), "%s: %.*s\nbecame %.*s", example->name, STR_ARG(text), STR_ARG(out));
}

static void test_a_secret_is_found_wherever_it_stands(void **state) {
    (void)state;
    static const struct {
        const char *before, *after;
    } ROWS[] = {
        {"The log says: ", ""},
        {"", " was in the output"},
        {"1. ", "\n2. done"},
        {"\"", "\""},
        {"'", "'"},
        {"`", "`"},
        {"(", ")"},
        {"run echo '", "' | tee out.txt"},
        {"run echo \"", "\" && exit 1"},
        {"+ ", "\n- old line"},
        {"Gr\xC3\xBC\xC3\x9F"
         "e: ",
         " \xE2\x9C\x93"},
        {"value=", ""},
        {"a\n\n", "\n\nb"},
        {"> ", "\r\n"},
        {"[2024-01-15 10:00:00,123] INFO ", " (12 ms)"},
    };
    for (uint32_t i = 0; i < world.secrets; i++) {
        const struct example *example = &world.secret[i];
        for (size_t j = 0; j < count_of(ROWS); j++)
            is_gone(example, join(str_of(ROWS[j].before), example->text, str_of(ROWS[j].after)),
                    example->needle);
        arena_reset(&world.scratch);
    }
}

static void test_a_secret_is_found_within_json(void **state) {
    (void)state;
    for (uint32_t i = 0; i < world.secrets; i++) {
        const struct example *example = &world.secret[i];
        struct str once = json_escape(example->text), needle = json_escape(example->needle);
        is_gone(example, join(STR("{\"output\": \""), once, STR("\", \"exit\": 0}")), needle);
        is_gone(example, join(STR("[\""), once, STR("\"]")), needle);
        is_gone(example, join(STR("{\"title\":\""), once, STR("\"}")), needle);
        arena_reset(&world.scratch);
    }
}

static struct str random_text(struct chance *chance, size_t most) {
    static const char AGENT_MESSAGES[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "      \n\t.,;:()!?#&*";
    size_t len = chance_below(chance, (uint32_t)most);
    char *out = arena_new(&world.scratch, char, len + 2);
    for (size_t i = 0; i < len; i++)
        out[i] = AGENT_MESSAGES[chance_below(chance, sizeof AGENT_MESSAGES - 1)];
    out[0] = out[len] = ' ';
    if (len > 2) /* digits next to a number would make it another number */
        out[1] = out[len - 1] = ',';
    return (struct str){out, len + 1};
}

static void test_a_secret_is_found_within_random_text(void **state) {
    (void)state;
    struct chance chance = {41};
    for (uint32_t i = 0; i < 20 * world.secrets; i++) {
        const struct example *example = &world.secret[i % world.secrets];
        struct str before = random_text(&chance, 300), after = random_text(&chance, 300);
        is_gone(example, join(before, example->text, after), example->needle);
        arena_reset(&world.scratch);
    }
}

static void test_secrets_beside_each_other_are_all_found(void **state) {
    (void)state;
    struct chance chance = {43};
    for (uint32_t i = 0; i < 4000; i++) {
        const struct example *one = &world.secret[chance_below(&chance, world.secrets)];
        const struct example *two = &world.secret[chance_below(&chance, world.secrets)];
        struct str text = join(one->text, STR("\n"), two->text), out = redact(text);
        check(!has(out, one->needle) && !has(out, two->needle), "%.*s\nbecame %.*s", STR_ARG(text),
              STR_ARG(out));
        arena_reset(&world.scratch);
    }
}

/* ---- robustness ---- */

static void test_every_cut_of_an_example_does_no_harm(void **state) {
    (void)state;
    for (uint32_t i = 0; i < world.secrets; i++) {
        struct str text = world.secret[i].text;
        for (size_t cut = 0; cut <= text.len; cut++) {
            redact((struct str){text.at, cut});
            redact((struct str){text.at + cut, text.len - cut});
            arena_reset(&world.scratch);
        }
    }
}

/* Concatenates pieces of examples, of redaction marks and of random bytes. */
static struct str random_bytes(struct chance *chance) {
    struct str out = {"", 0};
    for (uint32_t pieces = 1 + chance_below(chance, 8); pieces; pieces--) {
        struct str piece = world.secret[chance_below(chance, world.secrets)].text;
        if (chance_in(chance, 3)) {
            char *bytes = arena_new(&world.scratch, char, 40);
            chance_fill(chance, bytes, 40);
            piece = (struct str){bytes, 40};
        } else if (chance_in(chance, 4)) {
            piece = STR("[redacted:phone][redacted:]");
        }
        size_t from = chance_below(chance, (uint32_t)piece.len);
        size_t len = 1 + chance_below(chance, (uint32_t)(piece.len - from));
        out = join(out, (struct str){piece.at + from, len},
                   chance_in(chance, 3) ? STR(" ") : STR(""));
    }
    return out;
}

static void test_strange_bytes_do_no_harm(void **state) {
    (void)state;
    struct chance chance = {47};
    for (uint32_t i = 0; i < 20000; i++) {
        redact(random_bytes(&chance));
        arena_reset(&world.scratch);
    }
}

static struct str repeated(const char *part, size_t size) {
    char *out = arena_new(&world.scratch, char, size);
    size_t len = strlen(part);
    for (size_t i = 0; i < size; i++)
        out[i] = part[i % len];
    return (struct str){out, size};
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of(struct str text) {
    double from = seconds_now();
    secret_redact(world.rules, text, &world.scratch);
    return seconds_now() - from;
}

/* A search that restarts at each position would need hours for some of these. */
static void test_time_grows_with_the_text_and_not_faster(void **state) {
    (void)state;
    static const char *const PARTS[] = {
        "a",
        "eyJ",
        "eyJ-",
        "eyJaaaaaaaa.eyJ",
        "+1",
        "+1 ",
        "+1 2",
        "token=",
        "token=a ",
        "password=$",
        "token = ",
        "password=",
        "password: \"",
        "://a:",
        "://",
        "Cookie: a",
        "cookie:a=",
        "[redacted:",
        "[redacted:a]",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END",
        "a-----END PRIVATE KEY-----",
        "SG.aaaaaaaaaaaaaaaa.",
        "login a password ",
        "machine a login ",
        "\tTRUE\t/",
        "0123456789",
        "555-",
        "(555) ",
        "sk-",
        "sk-ant-",
        "AKIA",
        "ghp_",
        "hvs.",
        ":AA",
        "$6$",
        "authorization: ",
        "authorization: bearer ",
        "PuTTY-User-Key-File-2: ",
        " -u a -p",
        "8Q~",
        "aaaaaaaa.atlasv1.",
        "{\"auth\":\"",
        "aws_secret=",
        "AccountKey=",
        "*:*:",
        ":5432:a:b:",
        "1/1",
        "MTE4",
        "06 ",
        "TOKEN=A_",
        "bearer ",
        "-us1 ",
        "\\t",
    };
    for (size_t i = 0; i < count_of(PARTS); i++) {
        struct str text = repeated(PARTS[i], i < 5 ? MEGABYTE : MEGABYTE / 4);
        double took = seconds_of(text);
        for (int again = 0; took >= 1 && again < 3; again++) /* the machine may have been busy */
            took = seconds_of(text);
        check(took < 1, "%s: %.2f s", PARTS[i], took);
        arena_reset(&world.scratch);
    }
}

/* ---- the operator's patterns ---- */

static void test_custom_patterns_are_redacted_by_their_number(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text, *after;
    } ROWS[] = {
        {"|corp-[0-9]{4}|", "corp-1234 xcorp-1234 corp-12345",
         "[redacted:custom-1] xcorp-1234 corp-12345"},
        {"~badge: <[a-z]{2,4}>", "BADGE: abcdef", "BADGE: [redacted:custom-1]ef"},
        {"staff(er)? [0-9]{2,}", "staff 12 staffer 345 staff 1",
         "[redacted:custom-1] [redacted:custom-1] staff 1"},
        {"begin*(end)", "begin a end b begin c", "[redacted:custom-1] b [redacted:custom-1]"},
        {"[a-f]{<3}-code", "xabc-code ab-code", "x[redacted:custom-1] ab-code"},
        {"(one|two|)three", "onethree twothree three",
         "[redacted:custom-1] [redacted:custom-1] [redacted:custom-1]"},
        {"a\\[b\\]\\n", "a[b]\n a[b]", "[redacted:custom-1] a[b]"},
        {"codes?:<[^\\s]{1,}>", "code:x codes:y z",
         "code:[redacted:custom-1] codes:[redacted:custom-1] z"},
        {"colou?r-[x-z-]{2,3}", "color-x-z colour-zz", "[redacted:custom-1] [redacted:custom-1]"},
        {"abcd|", "abcdabcdabcd abcd", "abcdabcd[redacted:custom-1] [redacted:custom-1]"},
        {"|abcd", "abcdabcdabcd", "[redacted:custom-1][redacted:custom-1][redacted:custom-1]"},
        {"redacted", "[redacted:phone] redacted", "[redacted:phone] [redacted:custom-1]"},
        {"[[]redacted:", "[redacted:phone] [redacted:x", "[redacted:phone] [redacted:custom-1]x"},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct str pattern = str_of(ROWS[i].pattern);
        uint32_t column;
        const char *wrong = secret_pattern_broken(pattern, &column);
        check(wrong == NULL, "%s: %s", ROWS[i].pattern, wrong);
        const struct secret_rules *rules = secret_rules_new(&pattern, 1, &world.scratch);
        struct str out = redact_with(rules, str_of(ROWS[i].text));
        check(str_equal(out, str_of(ROWS[i].after)), "%s: %.*s", ROWS[i].pattern, STR_ARG(out));
        arena_reset(&world.scratch);
    }
}

static void test_a_broken_pattern_is_explained(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *wrong;
        uint32_t column;
    } ROWS[] = {
        {"", "empty", 0},
        {"~", "empty", 1},
        {"abc", "four literal characters", 3},
        {"abc?d", "four literal characters", 5},
        {"[a-z]{4,}", "four literal characters", 9},
        {"*(end)", "four literal characters", 6},
        {"abcd[a-z", "never closed", 8},
        {"abcd[]x", "empty", 7},
        {"abcd[z-a]", "backwards", 9},
        {"abcd{3,2}", "backwards", 9},
        {"abcd{0}", "backwards or 0", 7},
        {"abcd{3", "never closed", 6},
        {"abcd{x}", "number", 6},
        {"abcd{4097}", "4096", 10},
        {"?abcd", "nothing before it", 1},
        {"{2}abcd", "nothing before it", 1},
        {"abcd)", "no bracket is open", 5},
        {"abcd]", "no bracket is open", 5},
        {"abcd(x", "never closed", 6},
        {"abcd(x){2}", "cannot have a count", 8},
        {"abcd(1|2|3|4|5|6|7|8|9|0|1|2|3|4|5|6|7|8|9|0|1|2|3|4|5|6|7|8|9|0|1|2|3)",
         "32 alternatives", 71},
        {"abcd(\\n)", "plain text", 8},
        {"abcd*", "\\*", 5},
        {"abcd*()", "that ends it", 7},
        {"abcd\\", "escapes nothing", 5},
        {"abcd\\d", "followed by n, r, t", 6},
        {"foo|bars", "at the beginning, at the end", 8},
        {"abcd<x", "never closed", 6},
        {"abcd>x", "one < and one >", 6},
        {"abcd<x><y>", "one < and one >", 10},
        {"abcd[0-9]{<2}", "first piece", 13},
        {"[0-9]{<2}<abcd>", "remove the <", 15},
        {"abcd[a]{65}[b]{65}[c]{65}[d]{65}[e]{65}", "long repetitions", 39},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        uint32_t column = 77;
        const char *wrong = secret_pattern_broken(str_of(ROWS[i].pattern), &column);
        check(wrong && strstr(wrong, ROWS[i].wrong), "%s: %s", ROWS[i].pattern,
              wrong ? wrong : "whole");
        check(column == ROWS[i].column, "%s: column %u", ROWS[i].pattern, column);
    }
}

static void test_a_pattern_ends_at_its_limits(void **state) {
    (void)state;
    char pattern[LIMIT_SECRET_PATTERN + 1];
    memset(pattern, 'x', sizeof pattern);
    uint32_t column;
    assert_null(secret_pattern_broken((struct str){pattern, LIMIT_SECRET_PATTERN}, &column));
    assert_non_null(
        secret_pattern_broken((struct str){pattern, LIMIT_SECRET_PATTERN + 1}, &column));
    for (size_t i = 1; i < sizeof pattern; i += 2)
        pattern[i] = '?';
    memcpy(pattern, "abcd", 4);
    size_t most = 4 + 2 * (LIMIT_SECRET_PIECES - 1);
    assert_null(secret_pattern_broken((struct str){pattern, most}, &column));
    assert_non_null(secret_pattern_broken((struct str){pattern, most + 2}, &column));
    assert_null(secret_pattern_broken(STR("abc[a-z]{4096}"), &column));
}

struct many {
    struct str pattern[LIMIT_SECRET_CUSTOM + 1];
    uint32_t count;
    const struct secret_rules *rules;
};

static void many_call(void *with) {
    struct many *many = with;
    many->rules = secret_rules_new(many->pattern, many->count, &world.scratch);
}

static void test_custom_patterns_end_at_their_limit(void **state) {
    (void)state;
    struct many many = {.count = LIMIT_SECRET_CUSTOM};
    for (uint32_t i = 0; i <= LIMIT_SECRET_CUSTOM;
         i++) /* each with as many long repetitions as allowed */
        many.pattern[i] =
            arena_format(&world.arena, "corp%u-[a]{1,65}[b]{1,65}[c]{1,65}[d]{1,65}", i);
    struct crash_guard_report report;
    assert_int_equal(crash_guard_run(many_call, &many, &report), CRASH_GUARD_WHOLE);
    struct str out = redact_with(many.rules, STR("corp31-abcd corp32-abcd"));
    assert_true(str_equal(out, STR("[redacted:custom-32] corp32-abcd")));
    many.count++;
    assert_int_equal(crash_guard_run(many_call, &many, &report), CRASH_GUARD_BROKEN);
    many.count = 1;
    many.pattern[0] = STR("(");
    assert_int_equal(crash_guard_run(many_call, &many, &report), CRASH_GUARD_BROKEN);
    arena_reset(&world.scratch);
}

/* 'K': a line of the key, which is not kept. */
static void check_lines(const char *const *lines, const char *expected) {
    bool open = false;
    for (size_t i = 0; lines[i]; i++)
        if (key_block_line(&open, str_of(lines[i])) != (expected[i] == 'K'))
            fail_msg("line %zu: %s", i, lines[i]);
}

static void test_a_key_is_known_line_by_line(void **state) {
    (void)state;
    check_lines(
        (const char *const[]){"see -----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "",
                              "  12\t5Qzpp8sbnAUPokwjWmalC0lAZIy4BT",
                              "+rdJHmGVQbuStKP3DANtYffvaq0eQv5dy",
                              "Nr==", "-----END RSA PRIVATE KEY-----", "Now it is done.", NULL},
        "-KKKKKK-");
    check_lines((const char *const[]){"PuTTY-User-Key-File-3: ssh-ed25519", "Encryption: none",
                                      "Private-Lines: 1", "AAAAIDwpJmnPGWrnkhnSHs9m",
                                      "Private-MAC: 0f0f", "over", NULL},
                "-KKKK-");
    check_lines(
        (const char *const[]){"7mpz8tWrDZErI8w5q4mcMHdUJxVHJXJ0x1rkmKjXJ9sZMAyskN07uhvY",
                              "052b4ef00a4be4ee3b3d4a0c6f2f6f1d052b4ef00a4be4ee3b3d4a0c6f2f6f1d",
                              NULL},
        "K-");
    check_lines((const char *const[]){"it has a -----BEGIN PRIVATE KEY----- in it",
                                      "we do not read it", "5Qzpp8sbnAUPokwjWmalC0lAZIy4BT", NULL},
                "---");
    check_lines((const char *const[]){"-----BEGIN CERTIFICATE-----",
                                      "5Qzpp8sbnAUPokwjWmalC0lAZIy4BT", "-----END CERTIFICATE-----",
                                      NULL},
                "---");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_is_known_line_by_line),
        cmocka_unit_test(test_every_row_is_whole),
        cmocka_unit_test(test_every_row_is_in_the_documentation),
        cmocka_unit_test(test_every_secret_is_taken_out),
        cmocka_unit_test(test_every_name_has_an_example),
        cmocka_unit_test(test_innocent_lines_stay_as_they_are),
        cmocka_unit_test(test_innocent_text_is_not_copied),
        cmocka_unit_test(test_the_rest_of_the_text_stays),
        cmocka_unit_test(test_a_secret_is_found_wherever_it_stands),
        cmocka_unit_test(test_a_secret_is_found_within_json),
        cmocka_unit_test(test_a_secret_is_found_within_random_text),
        cmocka_unit_test(test_secrets_beside_each_other_are_all_found),
        cmocka_unit_test(test_every_cut_of_an_example_does_no_harm),
        cmocka_unit_test(test_strange_bytes_do_no_harm),
        cmocka_unit_test(test_time_grows_with_the_text_and_not_faster),
        cmocka_unit_test(test_custom_patterns_are_redacted_by_their_number),
        cmocka_unit_test(test_a_broken_pattern_is_explained),
        cmocka_unit_test(test_a_pattern_ends_at_its_limits),
        cmocka_unit_test(test_custom_patterns_end_at_their_limit),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
