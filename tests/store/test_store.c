/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a store lists, finds, counts and shows what was written into it. On each available engine. */
#include "store/shop.h"

#include <sqlite3.h>
#include <unistd.h>

/* ---- many goals, and the test's own account of them ---- */

enum { GOALS = 400, PAGE = 7 };
static const char *const WORDS[] = {"parser", "café",  "Straße", "build",
                                    "東京",   "retry", "foo-bar"};
static const char *const TAGS_USED[] = {"infra", "ui", "später", "x"};
static const int64_t BEGAN = 1794713191000000;

struct wares {
    struct ware of[GOALS];
};

/* Not in order of creation, and several at the same time. */
static int64_t ended_at(enum goal_status status, struct chance *chance) {
    return status >= GOAL_COMPLETED ? BEGAN + 1 + chance_below(chance, 50) : 0;
}

/* Many goals share a microsecond, more share a millisecond, and ids are not ordered by age. */
static void ware_make(struct ware *ware, struct chance *chance) {
    struct goal *goal = &ware->goal;
    *ware = (struct ware){.goal = {.owner = SHOP_HOST, .fence = 1, .version = 1}};
    chance_fill(chance, goal->id.bytes, sizeof goal->id.bytes);
    goal->times.created_at = goal->times.updated_at = BEGAN + chance_below(chance, 40) * 250;
    goal->status = (enum goal_status)chance_below(chance, GOAL_STATUSES);
    goal->times.ended_at = ended_at(goal->status, chance);
    goal->quarantined = chance_in(chance, 7);
    goal->priority = (enum priority)chance_below(chance, PRIORITIES);
    goal->progress.percent = chance_below(chance, 101);
    goal->due_at = TIME_NEVER;
    size_t len = 0;
    for (uint32_t i = 0; i < count_of(WORDS); i++)
        if (chance_in(chance, 3))
            len += (size_t)snprintf(ware->title + len, sizeof ware->title - len, "%s ", WORDS[i]);
    for (uint32_t i = 0; i < count_of(TAGS_USED); i++)
        if (chance_in(chance, 3))
            ware->tags[ware->tag_count++] = str_of(TAGS_USED[i]);
}

static int by_id(const void *a, const void *b) {
    const struct ware *left = a, *right = b;
    return id_compare(left->goal.id, right->goal.id);
}

static const struct tags *tags_of(const struct ware *ware, struct arena *arena) {
    struct tags *tags = arena_new(arena, struct tags, 1);
    tags->tags = (struct texts){ware->tags, ware->tag_count};
    return tags;
}

static void wares_write(struct shop *shop, struct wares *wares, struct chance *chance) {
    for (uint32_t i = 0; i < GOALS; i++)
        ware_make(&wares->of[i], chance);
    qsort(wares->of, GOALS, sizeof *wares->of, by_id);
    struct goal_commit *commits = arena_new(&shop->arena, struct goal_commit, GOALS);
    for (uint32_t i = 0; i < GOALS; i++) {
        struct ware *ware = &wares->of[i];
        struct record *record = ware_record(ware, RECORD_GOAL_CREATED, &shop->arena);
        commits[i] = ware_commit(ware, &shop->arena);
        commits[i].view_changed = true;
        commits[i].title = str_of(ware->title);
        commits[i].tags = tags_of(ware, &shop->arena);
        commits[i].records = record;
        commits[i].record_count = 1;
    }
    for (uint32_t i = 0; i < GOALS; i += 100)
        shop_commit(shop, commits + i, 100);
}

/* Changes half of the goals: the status, the title, the tags, or nothing that lists show. */
static void wares_move(struct shop *shop, struct wares *wares, struct chance *chance) {
    for (uint32_t i = 0; i < GOALS; i++) {
        struct ware *ware = &wares->of[i], before = *ware;
        if (chance_in(chance, 2))
            continue;
        uint32_t what = chance_below(chance, 4);
        ware->goal.version++;
        ware->goal.times.updated_at += 5;
        if (what == 0) {
            ware->goal.status = (enum goal_status)chance_below(chance, GOAL_STATUSES);
            ware->goal.times.ended_at = ended_at(ware->goal.status, chance);
        }
        if (what == 1)
            snprintf(ware->title, sizeof ware->title, "%s renamed",
                     WORDS[chance_below(chance, count_of(WORDS))]);
        if (what == 2) {
            ware->tag_count = 1;
            ware->tags[0] = str_of(TAGS_USED[chance_below(chance, count_of(TAGS_USED))]);
        }
        struct goal_commit commit = ware_commit(ware, &shop->arena);
        commit.view_changed = what < 3;
        if (what == 1)
            commit.title = str_of(ware->title);
        if (what == 2)
            commit.tags = tags_of(ware, &shop->arena);
        if (what == 3) /* not part of the view: lists must not show it */
            ware->goal.times.updated_at = before.goal.times.updated_at;
        shop_commit(shop, &commit, 1);
    }
}

/* ---- lists ---- */

static bool ware_has_tag(const struct ware *ware, struct str tag) {
    for (uint32_t i = 0; i < ware->tag_count; i++)
        if (str_equal(ware->tags[i], tag))
            return true;
    return tag.len == 0;
}

/* The words are lower case and without accents, as composed above. */
static bool ware_has_word(const struct ware *ware, const char *word) {
    return strstr(ware->title, word);
}

struct searched {
    const char *search;
    const char *all[3]; /* words that a matching title contains */
};
static const struct searched SEARCHES[] = {
    {"", {NULL}},
    {"parser", {"parser"}},
    {"PARSER  build", {"parser", "build"}},
    {"strasse", {"no title has this"}},
    {"straße", {"Straße"}},
    {"東京", {"東京"}},
    {"foo-bar", {"foo-bar"}},
    {"nothing", {"no title has this"}},
    {"\"AND* (build", {"no title has this"}},
    {"- build \"", {"build"}},
};

static bool ware_fits(const struct ware *ware, const struct list_filter *filter,
                      const struct searched *searched) {
    if (filter->by_display_state && goal_display_state(&ware->goal) != filter->display_state)
        return false;
    if (filter->by_status && ware->goal.status != filter->status)
        return false;
    for (size_t i = 0; i < count_of(searched->all) && searched->all[i]; i++)
        if (!ware_has_word(ware, searched->all[i]))
            return false;
    return ware_has_tag(ware, filter->tag);
}

static int newest_first(const void *a, const void *b) {
    const struct ware *left = *(const struct ware *const *)a,
                      *right = *(const struct ware *const *)b;
    if (left->goal.times.created_at != right->goal.times.created_at)
        return left->goal.times.created_at < right->goal.times.created_at ? 1 : -1;
    return id_compare(right->goal.id, left->goal.id);
}

static uint32_t wares_fitting(const struct wares *wares, const struct list_filter *filter,
                              const struct searched *searched, const struct ware **ret) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < GOALS; i++)
        if (ware_fits(&wares->of[i], filter, searched))
            ret[count++] = &wares->of[i];
    qsort(ret, count, sizeof(struct ware *), newest_first);
    return count;
}

static void view_check(const struct goal_view *view, const struct ware *ware) {
    const struct goal *goal = &ware->goal;
    check(id_equal(view->id, goal->id), "another goal");
    check(view->status == goal->status && view->display_state == goal_display_state(goal),
          "status or face");
    check(view->priority == goal->priority && view->percent == goal->progress.percent,
          "priority, percent");
    check(view->created_at == goal->times.created_at && view->updated_at == goal->times.updated_at,
          "times");
    check(str_equal(view->title, str_of(ware->title)), "title %.*s", STR_ARG(view->title));
}

/* Checks page by page that the list is exactly what matches, in order, and that `more` is correct. */
static uint32_t list_check(struct shop *shop, const struct wares *wares, struct list_filter filter,
                           const struct searched *searched) {
    const struct ware *fitting[GOALS];
    uint32_t count = wares_fitting(wares, &filter, searched, fitting), seen = 0;
    do {
        arena_reset(&shop->arena);
        shop->request.filter = filter;
        shop->request.limit = PAGE;
        shop_ask(shop, STORE_LIST);
        uint32_t left = count - seen, page = left < PAGE ? left : PAGE;
        check(shop->answer.view_count == page, "\"%s\" tag %.*s: %u rows on a page, expected %u",
              searched->search, STR_ARG(filter.tag), shop->answer.view_count, page);
        check(shop->answer.more == (left > PAGE), "more");
        for (uint32_t i = 0; i < page; i++)
            view_check(&shop->answer.views[i], fitting[seen + i]);
        seen += page;
        if (page > 0) {
            filter.before = fitting[seen - 1]->goal.times.created_at;
            filter.before_id = fitting[seen - 1]->goal.id;
        }
    } while (shop->answer.more);
    return count;
}

static uint64_t lists_check(struct shop *shop, const struct wares *wares) {
    uint64_t found = 0;
    for (int display_state = -1; display_state < DISPLAY_STATES; display_state++)
        for (int status = -1; status < GOAL_STATUSES; status++)
            for (size_t tag = 0; tag <= count_of(TAGS_USED); tag++)
                for (size_t s = 0; s < count_of(SEARCHES); s++) {
                    struct list_filter filter = {.by_display_state = display_state >= 0,
                                                 .by_status = status >= 0};
                    filter.display_state =
                        (enum display_state)(display_state < 0 ? 0 : display_state);
                    filter.status = (enum goal_status)(status < 0 ? 0 : status);
                    filter.tag = str_of(tag < count_of(TAGS_USED) ? TAGS_USED[tag] : "");
                    filter.search = str_of(SEARCHES[s].search);
                    found += list_check(shop, wares, filter, &SEARCHES[s]);
                }
    return found;
}

/* ---- recently ended goals ---- */

static int newest_end_first(const void *a, const void *b) {
    const struct goal *left = &(*(const struct ware *const *)a)->goal,
                      *right = &(*(const struct ware *const *)b)->goal;
    if (left->times.ended_at != right->times.ended_at)
        return left->times.ended_at < right->times.ended_at ? 1 : -1;
    return id_compare(right->id, left->id);
}

/* All are counted, and the latest ends are shown, in order. */
static uint32_t ended_check(struct shop *shop, const struct wares *wares, int64_t since) {
    const struct ware *ended[GOALS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < GOALS; i++)
        if (goal_display_state(&wares->of[i].goal) == DISPLAY_DONE &&
            wares->of[i].goal.times.ended_at >= since)
            ended[count++] = &wares->of[i];
    qsort(ended, count, sizeof *ended, newest_end_first);
    arena_reset(&shop->arena);
    shop->request.filter = (struct list_filter){.ended_since = since};
    shop->request.limit = PAGE;
    shop_ask(shop, STORE_LIST);
    uint32_t page = count < PAGE ? count : PAGE;
    check(shop->answer.list_count == count && shop->answer.view_count == page,
          "%lld ended, %u shown, expected %u and %u", (long long)shop->answer.list_count,
          shop->answer.view_count, count, page);
    for (uint32_t i = 0; i < page; i++)
        check(id_equal(shop->answer.views[i].id, ended[i]->goal.id) &&
                  shop->answer.views[i].ended_at == ended[i]->goal.times.ended_at,
              "since %lld: another goal at %u", (long long)(since - BEGAN), i);
    return count;
}

static void ends_check(struct shop *shop, const struct wares *wares) {
    uint32_t found = 0;
    for (int64_t since = BEGAN - 1; since < BEGAN + 55; since++)
        found += ended_check(shop, wares, since);
    check(found > GOALS, "hardly anything ended");
}

/* All goals that need a person are counted, and each is shown once. */
static void asking_check(struct shop *shop, const struct wares *wares) {
    uint32_t count = 0, found = 0;
    shop->request.filter = (struct list_filter){.asking = true};
    shop->request.limit = GOALS;
    shop_ask(shop, STORE_LIST);
    for (uint32_t i = 0; i < GOALS; i++) {
        uint32_t times = 0;
        for (uint32_t k = 0; k < shop->answer.view_count; k++)
            times += id_equal(shop->answer.views[k].id, wares->of[i].goal.id);
        bool asks = goal_display_state(&wares->of[i].goal) == DISPLAY_NEEDS_YOU;
        check(times == asks, "goal %u is shown %u times", i, times);
        count += asks;
        found += times;
    }
    check(count > 0 && shop->answer.list_count == count && shop->answer.view_count == found,
          "%lld need a person, expected %u", (long long)shop->answer.list_count, count);
}

static void tally_check(struct shop *shop, const struct wares *wares) {
    int64_t expected[DISPLAY_STATES] = {0};
    for (uint32_t i = 0; i < GOALS; i++)
        expected[goal_display_state(&wares->of[i].goal)]++;
    shop_ask(shop, STORE_TALLY);
    for (size_t display_state = 0; display_state < DISPLAY_STATES; display_state++)
        check(shop->answer.tally[display_state] == expected[display_state],
              "face %zu: %lld, expected %lld", display_state,
              (long long)shop->answer.tally[display_state], (long long)expected[display_state]);
}

/* ---- engines ---- */

static const char *engines[2];
static size_t engine_count;

/* An empty store on the engine. */
static const char *place_new(const char *engine) {
    static char where[256];
    if (!store_address_file(engine))
        return engine;
    for (const char *const *suffix = (const char *const[]){"", "-wal", "-shm", NULL}; *suffix;
         suffix++) {
        snprintf(where, sizeof where, "%s%s", engine + 7, *suffix);
        unlink(where);
    }
    return engine;
}

static void lists_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < engine_count; i++) {
        struct shop shop;
        struct chance chance = {.state = 42};
        struct wares *wares = calloc(1, sizeof *wares);
        assert_non_null(wares);
        shop_open(&shop, place_new(engines[i]));
        wares_write(&shop, wares, &chance);
        tally_check(&shop, wares);
        check(lists_check(&shop, wares) > 10000, "hardly anything was found");
        ends_check(&shop, wares);
        asking_check(&shop, wares);
        wares_move(&shop, wares, &chance);
        tally_check(&shop, wares);
        check(lists_check(&shop, wares) > 5000, "hardly anything was found");
        ends_check(&shop, wares);
        asking_check(&shop, wares);
        shop_close(&shop);
        free(wares);
    }
}

/* ---- one goal ---- */

static struct part_change part_of(enum part_kind kind, struct id goal, uint32_t n, const char *name,
                                  const char *body, struct arena *arena) {
    struct part_change part = {.kind = kind, .n = n, .name = str_of(name)};
    part.body = row_seal(ROW_PART + kind, goal, n, str_of(body), arena);
    return part;
}

static struct part_change node_of(struct id goal, uint32_t n, const char *name, const char *text,
                                  struct arena *arena) {
    struct node node = {.n = n, .text = sha256(str_of(text))};
    snprintf(node.id, sizeof node.id, "%s", name);
    struct part_change part = {.kind = PART_NODE, .n = n, .name = str_of(name)};
    part.body = row_seal(ROW_PART + PART_NODE, goal, n, shape_encode(&NODE, &node, arena), arena);
    return part;
}

static struct text_row text_of(const char *text) {
    return (struct text_row){sha256(str_of(text)), str_of(text)};
}

static struct ware ware_one(void) {
    struct ware ware = {.title = "one goal"};
    ware.goal = (struct goal){.id = {{9, 9}},
                              .owner = SHOP_HOST,
                              .fence = 1,
                              .version = 1,
                              .due_at = TIME_NEVER,
                              .times.created_at = BEGAN,
                              .times.updated_at = BEGAN,
                              .plan.nodes_made = 2,
                              .text = sha256(STR("what is wanted"))};
    return ware;
}

static void one_write(struct shop *shop, struct ware *ware) {
    struct arena *arena = &shop->arena;
    struct id id = ware->goal.id;
    struct part_change parts[] = {
        node_of(id, 0, "S1", "first", arena), node_of(id, 1, "S1.1", "second", arena),
        part_of(PART_ASSIGNMENT_ROW, id, 0, "A_1", "an assignment", arena),
        part_of(PART_RUN, id, 0, "R_1", "a run", arena),
        part_of(PART_RUN, id, 1, "R_2", "another", arena)};
    struct text_row texts[] = {text_of("what is wanted"), text_of("first"), text_of("second"),
                               text_of("no longer named")};
    struct goal_commit commit = ware_commit(ware, arena);
    commit.view_changed = true;
    commit.title = str_of(ware->title);
    commit.parts = parts;
    commit.part_count = count_of(parts);
    commit.texts = texts;
    commit.text_count = count_of(texts);
    shop_commit(shop, &commit, 1);
}

static void one_move(struct shop *shop, struct ware *ware) {
    struct id id = ware->goal.id;
    struct part_change parts[] = {node_of(id, 1, "S1.1", "third", &shop->arena),
                                  part_of(PART_RUN, id, 0, "R_1", "a run, ended", &shop->arena),
                                  {.kind = PART_RUN, .n = 1, .gone = true}};
    struct text_row texts[] = {text_of("third"), text_of("first")};
    ware->goal.version++;
    struct goal_commit commit = ware_commit(ware, &shop->arena);
    commit.parts = parts;
    commit.part_count = count_of(parts);
    commit.texts = texts;
    commit.text_count = count_of(texts);
    shop_commit(shop, &commit, 1);
}

static void shown_texts(const struct goal_shown *shown, const char *const *text, uint32_t count) {
    check(shown->text_count == count, "%u texts, expected %u", shown->text_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct text_row *row = &shown->texts[i];
        bool known = false;
        for (uint32_t k = 0; k < count; k++)
            known = known || str_equal(row->body, str_of(text[k]));
        struct hash hash = sha256(row->body);
        check(known && hash_equal(&hash, &row->hash), "%.*s", STR_ARG(row->body));
        check(i == 0 || memcmp(&row[-1].hash, &row->hash, sizeof row->hash) < 0, "out of order");
    }
}

static void shown_part(const struct part_shown *part, enum part_kind kind, uint32_t n,
                       const char *name, const char *body) {
    check(part->kind == kind && part->n == n, "another part");
    check(str_equal(part->name, str_of(name)), "%.*s", STR_ARG(part->name));
    check(str_equal(part->body, str_of(body)), "%.*s", STR_ARG(part->body));
}

static void one_is_shown(void **state) {
    (void)state;
    for (size_t i = 0; i < engine_count; i++) {
        struct shop shop;
        struct ware ware = ware_one();
        shop_open(&shop, place_new(engines[i]));
        one_write(&shop, &ware);
        one_move(&shop, &ware);
        shop.request.ids = &ware.goal.id;
        shop.request.id_count = 1;
        shop_ask(&shop, STORE_SHOW);
        const struct goal_loaded *loaded = &shop.answer.loaded[0];
        const struct goal_shown *shown = &shop.answer.shown;
        check(loaded->exists && loaded->whole && loaded->plan.count == 2, "not whole");
        check(strcmp(loaded->plan.nodes[1].id, "S1.1") == 0, "nodes");
        check(str_equal(shown->title, STR("one goal")), "title");
        shown_texts(shown, (const char *const[]){"what is wanted", "first", "third"}, 3);
        check(shown->part_count == 2, "%u parts", shown->part_count);
        shown_part(&shown->parts[0], PART_ASSIGNMENT_ROW, 0, "A_1", "an assignment");
        shown_part(&shown->parts[1], PART_RUN, 0, "R_1", "a run, ended");
        shop.request.part = PART_NODE;
        shop.request.name = STR("S1.1");
        shop_ask(&shop, STORE_FIND);
        check(shop.answer.found_count == 1 && id_equal(shop.answer.found[0], ware.goal.id),
              "found");
        shop.request.name = STR("S1.2");
        shop_ask(&shop, STORE_FIND);
        check(shop.answer.found_count == 0, "found what is not there");
        shop_close(&shop);
    }
}

/* ---- several goals at once ---- */

static bool shown_alike(const struct goal_shown *left, const struct goal_shown *right) {
    bool same = str_equal(left->title, right->title) &&
                str_equal(left->why_aside, right->why_aside) &&
                left->record_count == right->record_count && left->text_count == right->text_count;
    for (uint32_t i = 0; same && i < left->record_count; i++)
        same = left->records[i].seq == right->records[i].seq &&
               hash_equal(&left->records[i].hash, &right->records[i].hash) &&
               str_equal(left->records[i].body, right->records[i].body);
    for (uint32_t i = 0; same && i < left->text_count; i++)
        same = hash_equal(&left->texts[i].hash, &right->texts[i].hash) &&
               str_equal(left->texts[i].body, right->texts[i].body);
    return same;
}

/* Writes goals with some history; the test asks for one more that does not exist. */
static void some_write(struct shop *shop, struct ware *wares, uint32_t count) {
    struct arena *arena = &shop->arena;
    for (uint32_t i = 0; i < count; i++) {
        struct ware *ware = &wares[i];
        struct aside_row aside = {{{7, (uint8_t)i}}, 5, STR("it broke a promise"), STR("a signal")};
        *ware = ware_one();
        ware->goal.id.bytes[2] = (uint8_t)(i + 1);
        ware->goal.quarantined = i == 2;
        snprintf(ware->title, sizeof ware->title, "goal %u", i);
        one_write(shop, ware);
        for (uint32_t n = 0; n < i + 1; n++) {
            struct goal_commit commit;
            struct record *record =
                ware_record(ware, n % 2 ? RECORD_GOAL_REPORTED : RECORD_GOAL_COMPLETED, arena);
            ware->goal.version++;
            commit = ware_commit(ware, arena);
            commit.records = record;
            commit.record_count = 1;
            commit.aside = &aside;
            commit.aside_count = n == 0 && i == 2;
            shop_commit(shop, &commit, 1);
        }
    }
}

static void several_are_shown_as_one_is(void **state) {
    (void)state;
    enum { SEVERAL = 5 };
    for (size_t i = 0; i < engine_count; i++) {
        struct shop shop;
        struct ware wares[SEVERAL];
        struct id ids[SEVERAL + 1] = {{{0}}};
        struct arena arena = {0};
        shop_open(&shop, place_new(engines[i]));
        some_write(&shop, wares, SEVERAL);
        for (uint32_t n = 0; n < SEVERAL; n++)
            ids[n] = wares[n].goal.id;
        memset(&ids[SEVERAL], 0xee, sizeof ids[SEVERAL]);
        struct store_request several = {.verb = STORE_BRIEF,
                                        .ids = ids,
                                        .id_count = SEVERAL + 1,
                                        .limit = 2,
                                        .first_type = RECORD_GOAL_COMPLETED,
                                        .last_type = RECORD_GOAL_COMPLETED};
        struct store_answer answer;
        store_perform(shop.store, &several, &answer, &arena);
        check(answer.outcome == STORE_DONE, "%.*s", STR_ARG(answer.error));
        for (uint32_t n = 0; n <= SEVERAL; n++) {
            shop.request = several;
            shop.request.ids = &ids[n];
            shop.request.id_count = 1;
            shop_ask(&shop, STORE_SHOW);
            check(answer.loaded[n].exists == shop.answer.loaded[0].exists &&
                      answer.loaded[n].exists == (n < SEVERAL) &&
                      answer.loaded[n].plan.count == shop.answer.loaded[0].plan.count,
                  "goal %u is loaded otherwise", n);
            check(shown_alike(&answer.briefs[n], &shop.answer.shown), "goal %u looks otherwise", n);
        }
        check(answer.briefs[0].record_count == 1 && answer.briefs[4].record_count == 2, "records");
        check(answer.briefs[2].why_aside.len > 0 && !answer.briefs[1].why_aside.len, "why aside");
        check(answer.briefs[3].text_count == 3, "texts");
        arena_free(&arena);
        shop_close(&shop);
    }
}

/* ---- SQLite changed from outside ---- */

static void tamper(const char *engine, const char *sql, int expected) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(engine + 7, &db), SQLITE_OK);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    check(code == expected, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void effect_write(struct shop *shop, struct ware *ware) {
    struct effect_change change = {.op = EFFECT_OP_MAKE, .slot = {.n = 0, .kind = EFFECT_COMMAND}};
    change.body = STR("a body");
    change.sealed = row_seal(ROW_EFFECT, ware->goal.id, 0, change.body, &shop->arena);
    ware->goal.effects.open[ware->goal.effects.open_count++] = change.slot;
    ware->goal.effects.made = 1;
    struct goal_commit commit = ware_commit(ware, &shop->arena);
    commit.view_changed = true;
    commit.title = str_of(ware->title);
    commit.effects = &change;
    commit.effect_count = 1;
    commit.records = ware_record(ware, RECORD_GOAL_CREATED, &shop->arena);
    commit.record_count = 1;
    shop_commit(shop, &commit, 1);
}

static void owned_check(struct shop *shop, const struct ware *ware, bool damaged) {
    struct id strange = {{1}}, only[] = {strange, ware->goal.id};
    shop->request.only = only;
    shop->request.only_count = 2;
    shop_ask(shop, STORE_OWNED);
    check(shop->answer.owned_count == 1 && shop->answer.effect_count == 1, "owned");
    const struct effect_entry *entry = &shop->answer.effects[0];
    check(entry->damaged == damaged, "damaged: %d", entry->damaged);
    check(str_equal(entry->body, damaged ? (struct str){0} : STR("a body")), "body");
    shop->request.ids = &ware->goal.id;
    shop->request.id_count = 1;
    shop_ask(shop, STORE_LOAD);
    check(shop->answer.loaded[0].whole == !damaged, "whole");
}

static void damage_is_seen(void **state) {
    (void)state;
    struct shop shop;
    struct ware ware = ware_one();
    ware.goal.plan.nodes_made = 0;
    shop_open(&shop, place_new(engines[0]));
    effect_write(&shop, &ware);
    owned_check(&shop, &ware, false);
    tamper(engines[0], "UPDATE effect SET body = replace(body, 'a', 'b')", SQLITE_OK);
    owned_check(&shop, &ware, true);
    shop_close(&shop);
}

static void records_stay(void **state) {
    (void)state;
    struct shop shop;
    struct ware ware = ware_one();
    shop_open(&shop, place_new(engines[0]));
    effect_write(&shop, &ware);
    tamper(engines[0], "UPDATE record SET body = NULL", SQLITE_CONSTRAINT);
    tamper(engines[0], "DELETE FROM record", SQLITE_CONSTRAINT);
    tamper(engines[0],
           "BEGIN; UPDATE store SET retaining = 1; UPDATE record SET body = NULL;"
           " UPDATE store SET retaining = 0; COMMIT",
           SQLITE_OK);
    tamper(engines[0], "DELETE FROM record", SQLITE_CONSTRAINT);
    shop_close(&shop);
    proof_passed("store", "records_stay [sqlite]", "EVENT-01");
}

/* ---- the store's own row ---- */

static void level_follows(void **state) {
    (void)state;
    struct shop shop;
    shop_open(&shop, place_new(engines[0]));
    struct store_mark mark = shop.answer.mark;
    check(mark.version == SCHEMA_VERSION && mark.level == SCHEMA_LEVEL && !mark.safe, "mark");
    check(!id_equal(mark.instance, (struct id){0}), "no instance");
    shop_ask(&shop, STORE_POLL);
    check(id_equal(shop.answer.mark.instance, mark.instance), "another instance");
    tamper(engines[0],
           "UPDATE store SET safe = 'damaged', era = 3, level = 1; UPDATE host SET speaks = 1",
           SQLITE_OK);
    shop_ask(&shop, STORE_POLL);
    check(shop.answer.mark.safe && shop.answer.mark.era == 3, "mark");
    shop_ask(&shop, STORE_BEAT);
    shop_ask(&shop, STORE_POLL);
    check(shop.answer.mark.level == 1, "level %u", shop.answer.mark.level);
    tamper(engines[0], "UPDATE host SET speaks = 2", SQLITE_OK);
    shop_ask(&shop, STORE_BEAT);
    shop_ask(&shop, STORE_POLL);
    check(shop.answer.mark.level == 2, "level %u", shop.answer.mark.level);
    shop.request.verb = STORE_JOIN;
    shop.request.speaks = 1;
    store_perform(shop.store, &shop.request, &shop.answer, &shop.arena);
    check(shop.answer.outcome == STORE_REFUSED, "an old host was let in");
    check(strstr(shop.answer.error.at, "newer version of Overseer"), "%s", shop.answer.error.at);
    shop_close(&shop);
}

/* STORE-18: tables to which a newer build has added columns are written and read as before. */
static void columns_of_tomorrow(void **state) {
    (void)state;
    struct shop shop;
    shop_open(&shop, place_new(engines[0]));
    shop_close(&shop);
    for (enum store_table table = 0; table < STORE_TABLES; table++) {
        char sql[96];
        snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN tomorrow INTEGER", table_name(table));
        tamper(engines[0], sql, SQLITE_OK);
    }
    tamper(engines[0], "UPDATE store SET version = version + 1", SQLITE_OK);
    struct ware ware = ware_one(), other = ware_one();
    other.goal.id.bytes[0]++;
    other.tags[other.tag_count++] = STR("infra");
    shop_open(&shop, engines[0]);
    one_write(&shop, &ware);
    one_move(&shop, &ware);
    effect_write(&shop, &other);
    struct goal_commit commit = ware_commit(&other, &shop.arena);
    struct aside_row aside = {.source = {{3}}, .why = STR("why"), .body = STR("body")};
    commit.goal.version++;
    commit.expected = 1;
    commit.view_changed = true;
    commit.tags = tags_of(&other, &shop.arena);
    commit.seen = &aside.source;
    commit.seen_count = 1;
    commit.aside = &aside;
    commit.aside_count = 1;
    shop_commit(&shop, &commit, 1);
    struct inbox_row row = {.source = {{4}}, .goal = other.goal.id, .body = STR("a signal")};
    shop.request.rows = &row;
    shop.request.row_count = 1;
    shop_ask(&shop, STORE_FORWARD);
    shop_ask(&shop, STORE_POLL);
    check(shop.answer.inbox_count == 1, "inbox");
    check(shop.answer.mark.version == SCHEMA_VERSION + 1, "version %u", shop.answer.mark.version);
    shop.request.filter = (struct list_filter){.tag = STR("infra")};
    shop_ask(&shop, STORE_LIST);
    check(shop.answer.view_count == 1, "%u goals", shop.answer.view_count);
    shop_close(&shop);
    proof_passed("store", "columns_of_tomorrow [sqlite]", "STORE-18");
}

int main(void) {
    static char file[64];
    snprintf(file, sizeof file, "sqlite:/tmp/overseer-store-%d.db", (int)getpid());
    engines[engine_count++] = file;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_fit),
        cmocka_unit_test(one_is_shown),
        cmocka_unit_test(several_are_shown_as_one_is),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(records_stay),
        cmocka_unit_test(level_follows),
        cmocka_unit_test(columns_of_tomorrow),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_new(file);
    return failed;
}
