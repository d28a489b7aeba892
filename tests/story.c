/* SPDX-License-Identifier: Apache-2.0 */
/* Checks guarantees that are written as stories. Real core, ledger and store; pretend executor, clients and clock. Each
 * line of a .story file is one sentence; every story runs on the model, on SQLite and, if OVERSEER_TEST_PG
 * names one, on PostgreSQL. After each sentence everything runs until it comes to rest, without time passing.
 *
 *     story FILE…
 *     story            lists the sentences */
#include "story.h"

#include "lib/proof.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

void fails(struct story *story, const char *format, ...) {
    if (story->failure[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(story->failure, sizeof story->failure, format, args);
    va_end(args);
}

/* ---- running to rest ---- */

static bool loses_now(struct story *story, const struct atom *atom) {
    struct fleet_host *host = &story->fleet->hosts[atom->host];
    return story->losing == atom->host + 1 && host->session &&
           (host->session->request->verb == STORE_COMMIT ||
            host->session->request->verb == STORE_ORDER);
}

static void lose(struct story *story, const struct atom *atom) {
    struct fleet *fleet = story->fleet;
    struct session *session = fleet->hosts[atom->host].session;
    story->losing = 0;
    while (story->how == LOST_COMMITTED && !session->done)
        fleet_do(fleet,
                 &(struct atom){.kind = ATOM_STATEMENT, .host = atom->host, .session = session});
    if (story->how == LOST_NOT)
        fleet_do(fleet,
                 &(struct atom){.kind = ATOM_ROLLBACK, .host = atom->host, .session = session});
    else
        fleet_do(fleet, &(struct atom){.kind = ATOM_LOSE, .host = atom->host});
    if (story->dying)
        fleet_do(fleet, &(struct atom){.kind = ATOM_CRASH, .host = atom->host});
    story->dying = false;
}

static bool atom_runs(struct story *story, const struct atom *atom) {
    const struct fleet_host *host = &story->fleet->hosts[atom->host];
    if (host->frozen && atom->kind != ATOM_STATEMENT)
        return false;
    switch (atom->kind) {
    case ATOM_STATEMENT: return !(atom->session->ghost && story->how == LOST_LATER);
    case ATOM_TURN:
    case ATOM_OUTCOME:
    case ATOM_SENSE: return true;
    case ATOM_CHECK:
    case ATOM_ACT: return !story->executor_idle;
    default: return false;
    }
}

static void run_to_rest(struct story *story) {
    struct fleet *fleet = story->fleet;
    for (int i = 0; i < 3000 && !fleet->violation[0]; i++) {
        struct atom atoms[FLEET_ATOMS];
        uint32_t count = fleet_atoms(fleet, atoms), running = 0;
        for (uint32_t k = 0; k < count; k++)
            if (atom_runs(story, &atoms[k]))
                atoms[running++] = atoms[k];
        if (running == 0)
            break;
        const struct atom *atom = &atoms[(uint32_t)i % running];
        if (atom->kind == ATOM_STATEMENT && loses_now(story, atom))
            lose(story, atom);
        else
            fleet_do(fleet, atom);
    }
}

void settle(struct story *story) {
    run_to_rest(story);
    fleet_check(story->fleet);
    if (story->fleet->violation[0])
        fails(story, "%s", story->fleet->violation);
}

void pass_time(struct story *story, int64_t until) {
    while (story->fleet->clock < until && !story->failure[0]) {
        int64_t left = until - story->fleet->clock;
        story->fleet->clock += left < story->fleet->tick ? left : story->fleet->tick;
        run_to_rest(story);
    }
    settle(story);
}

/* Hosts detect lost answers, and late commits arrive after all. */
static void lost_settle(struct story *story) {
    enum lost how = story->how;
    pass_time(story, story->fleet->clock + story->fleet->tick);
    if (story->losing)
        fails(story, "there was no commit of which the answer could be lost");
    story->how = LOST_COMMITTED;
    settle(story);
    story->how = how;
}

static void all_crash(struct story *story) {
    struct fleet *fleet = story->fleet;
    for (uint32_t i = 0; i < fleet->host_count; i++) {
        if (fleet->hosts[i].up)
            fleet_do(fleet, &(struct atom){.kind = ATOM_CRASH, .host = i});
        fleet_do(fleet, &(struct atom){.kind = ATOM_RESTART, .host = i});
    }
    settle(story);
}

/* ---- words ---- */

struct named *goal_of(struct story *story, const char *name) {
    for (uint32_t i = 0; i < story->goal_count; i++)
        if (strcmp(story->goals[i].name, name) == 0)
            return &story->goals[i];
    must(story->goal_count < MAX_GOALS);
    struct named *named = &story->goals[story->goal_count++];
    snprintf(named->name, sizeof named->name, "%s", name);
    named->goal = id_derive(STR("story"), str_of(name));
    return named;
}

uint32_t number_of(struct story *story, const char *word) {
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    if (end == word || *end)
        fails(story, "\"%s\" is no number", word);
    return (uint32_t)number;
}

uint32_t host_of(struct story *story, const char *word) {
    uint32_t host = number_of(story, word);
    if (host == 0 || host > story->fleet->host_count) {
        fails(story, "there is no host %s", word);
        return 0;
    }
    return host - 1;
}

bool host_runs(struct story *story, uint32_t host) {
    if (!story->fleet->hosts[host].up)
        fails(story, "host %u does not run", host + 1);
    return story->fleet->hosts[host].up;
}

void ask_again(struct story *story, const struct named *named, uint32_t host) {
    if (!host_runs(story, host))
        return;
    if (story->always_losing)
        story->losing = host + 1;
    story->fleet->asked[named->asked].answered = false;
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_ASK, .host = host, .arg = named->asked});
}

void ask_for(struct story *story, struct named *named, struct asked asked, uint32_t host) {
    if (story->fleet->asked_count == FLEET_ASKED) {
        fails(story, "a story asks for at most %d things", FLEET_ASKED);
        return;
    }
    named->before = named->asked;
    named->asked = fleet_ask(story->fleet, asked);
    ask_again(story, named, host);
}

/* ---- reading ---- */

/* A number may have a # before it: #2. */
static bool is_comment(const char *at) {
    return *at == '#' && !isdigit((unsigned char)at[1]);
}

static int words_of(char *line, char **words) {
    int count = 0;
    for (char *at = line; *at && count < MAX_WORDS;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || is_comment(at))
            break;
        bool quoted = *at == '"';
        words[count++] = at += quoted;
        while (*at && (quoted ? *at != '"' : !isspace((unsigned char)*at)))
            at++;
        if (!quoted && at > words[count - 1] + 1 && at[-1] == ',')
            at[-1] = 0; /* a comma has no meaning */
        if (*at)
            *at++ = 0;
    }
    return count;
}

static bool pattern_takes(const char *pattern, char **words, int count, char **args) {
    char copy[128];
    char *parts[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", pattern);
    if (words_of(copy, parts) != count)
        return false;
    for (int i = 0, taken = 0; i < count; i++) {
        if (strcmp(parts[i], "$") == 0)
            args[taken++] = words[i];
        else if (strcmp(parts[i], words[i]) != 0)
            return false;
    }
    return true;
}

/* ---- clauses ---- */

static void c_because(struct story *story, char *word) {
    story->args.reason = arena_copy(&story->arena, str_of(word));
}
static void c_evidence(struct story *story, char *word) {
    story->args.evidence = arena_copy(&story->arena, str_of(word));
}
static void c_version(struct story *story, char *word) {
    story->args.versioned = true;
    story->args.version = number_of(story, word);
}
static void c_overseer(struct story *story, char *word) {
    (void)word;
    story->args.by = WHO_OVERSEER;
    story->args.actor = STR("overseer");
}
static void c_agent(struct story *story, char *word) {
    story->args.by = WHO_AGENT;
    story->args.actor = arena_copy(&story->arena, str_of(word));
}
static void c_host(struct story *story, char *word) {
    story->args.host = arena_cstr(&story->arena, str_of(word));
}

static const struct clause_row {
    const char *pattern;
    void (*take)(struct story *story, char *word);
} CLAUSES[] = {
    {"because $", c_because},        {"with evidence $", c_evidence}, {"from version $", c_version},
    {"by the overseer", c_overseer}, {"by agent $", c_agent},         {"at host $", c_host},
};

/* Returns how many words the last clause takes; 0: there is none. */
static int clause_take(struct story *story, char **words, int count) {
    char *args[MAX_WORDS];
    for (int from = count - 1; from > 0; from--)
        for (size_t i = 0; i < count_of(CLAUSES); i++)
            if (pattern_takes(CLAUSES[i].pattern, words + from, count - from, args)) {
                CLAUSES[i].take(story, args[0]);
                return count - from;
            }
    return 0;
}

/* ---- sentences ---- */

static const struct sentences *const ALL[] = {&STORY_FLEET, &STORY_GOAL,   &STORY_SEEN,
                                              &STORY_ROWS,  &STORY_AGENTS, &STORY_PEOPLE};

static void sentences_print(void) {
    printf("story \"title\" proves ROWS\nfleet N hosts, lease Ns\n");
    for (size_t k = 0; k < count_of(ALL); k++)
        for (size_t i = 0; i < ALL[k]->count; i++)
            printf("%s%s\n", ALL[k]->rows[i].pattern,
                   ALL[k]->rows[i].kind == SENTENCE_ASKS ? " …" : "");
    printf("expect no ACT[, ACT …] [of GOAL] [before T | until T | from T to T]\n");
    printf("expect … shows ROW.CLAUSE[, ROW.CLAUSE …]\n");
    printf(
        "\nEvery $ is a word, or a text in quotes; \"at MM:SS\" may stand before a sentence. Where … stands:\n");
    for (size_t i = 0; i < count_of(CLAUSES); i++)
        printf("    … %s\n", CLAUSES[i].pattern);
}

static const struct sentence_row *sentence_find(char **words, int count, char **args) {
    for (size_t k = 0; k < count_of(ALL); k++)
        for (size_t i = 0; i < ALL[k]->count; i++)
            if (pattern_takes(ALL[k]->rows[i].pattern, words, count, args))
                return &ALL[k]->rows[i];
    return NULL;
}

static void sentence_settle(struct story *story, const struct sentence_row *row) {
    settle(story);
    bool frozen = false;
    for (uint32_t i = 0; i < story->fleet->host_count; i++)
        frozen = frozen || story->fleet->hosts[i].frozen;
    if (row->kind != SENTENCE_ASKS || frozen)
        return;
    if (story->always_losing)
        lost_settle(story);
    if (story->always_crashing)
        all_crash(story);
}

static void sentence_carry_out(struct story *story, char **words, int count) {
    char *args[MAX_WORDS] = {0};
    const struct sentence_row *row = sentence_find(words, count, args);
    bool clauses = false;
    if (no_clause(story, words, count))
        return;
    if (policy_clause(story, words, count)) {
        settle(story);
        return;
    }
    story->args = (struct clauses){.by = WHO_HUMAN, .actor = STR("ada"), .host = "1"};
    for (int taken; !row && (taken = clause_take(story, words, count)) > 0; clauses = true)
        row = sentence_find(words, count -= taken, args);
    if (!row || (clauses && row->kind != SENTENCE_ASKS)) {
        fails(story, "no sentence of the stories reads like this");
        return;
    }
    row->run(story, args);
    if (row->kind != SENTENCE_LOOKS && !story->failure[0])
        sentence_settle(story, row);
}

/* The index of "shows" in an expectation, or count. */
static int shows_find(char **words, int count) {
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], "shows") == 0 && strchr(words[i + 1], '-'))
            return i;
    return count;
}

static void shows_keep(struct story *story, char **rows, int count) {
    must(story->shown_count < MAX_SHOWN);
    struct shown *shown = &story->shown[story->shown_count++];
    *shown = (struct shown){.line = story->line};
    for (int i = 0; i < count; i++) {
        size_t length = strlen(shown->rows);
        must(length + strlen(rows[i]) + 2 < sizeof shown->rows);
        snprintf(shown->rows + length, sizeof shown->rows - length, "%s%s", i ? " " : "", rows[i]);
    }
}

static void sentence_run(struct story *story, char **words, int count) {
    int end = shows_find(words, count);
    if (end < count && strcmp(words[0], "expect") != 0) {
        fails(story, "only an expectation shows something");
        return;
    }
    sentence_carry_out(story, words, end);
    if (end < count)
        shows_keep(story, words + end + 1, count - end - 1);
}

/* "at 00:15 …": minutes and seconds since the story began; or "at 8h25m …". */
int64_t time_of(struct story *story, const char *word) {
    int minutes = 0, seconds = 0;
    int64_t span = 0;
    if (span_parse(str_of(word), &span))
        return span;
    if (sscanf(word, "%d:%d", &minutes, &seconds) != 2)
        fails(story, "\"%s\" is no time", word);
    return SECONDS(minutes * 60 + seconds);
}

/* Several sentences may share a line, with a semicolon between them. */
static void line_run(struct story *story, char *line) {
    char *words[MAX_WORDS];
    char *rest = NULL;
    bool quoted = false;
    for (char *at = line; *at && !rest && (quoted || !is_comment(at)); at++) {
        quoted = quoted != (*at == '"');
        if (*at == ';' && !quoted) {
            *at = 0;
            rest = at + 1;
        }
    }
    int count = words_of(line, words);
    bool timed = count > 2 && strcmp(words[0], "at") == 0;
    story->acts_before = acts_of(story);
    if (timed)
        pass_time(story, story->begin + time_of(story, words[1]));
    if (count > 0 && !story->failure[0])
        sentence_run(story, words + 2 * timed, count - 2 * timed);
    if (rest && !story->failure[0])
        line_run(story, rest);
}

/* ---- one story ---- */

/* The first lines: story "title" proves ROWS, then fleet N hosts, lease D. */
static bool head_read(struct story *story, FILE *file, uint32_t *hosts, int64_t *lease) {
    char line[MAX_LINE], *words[MAX_WORDS];
    while (story->title[0] == 0 && fgets(line, sizeof line, file)) {
        story->line++;
        int count = words_of(line, words);
        if (count == 0)
            continue;
        if (count < 2 || strcmp(words[0], "story") != 0)
            return false;
        snprintf(story->title, sizeof story->title, "%s", words[1]);
        for (int i = 3; i < count; i++)
            snprintf(story->proves + strlen(story->proves),
                     sizeof story->proves - strlen(story->proves), "%s%s", i > 3 ? " " : "",
                     words[i]);
    }
    if (!fgets(line, sizeof line, file) || words_of(line, words) != 5 ||
        strcmp(words[0], "fleet") != 0)
        return false;
    story->line++;
    *hosts = (uint32_t)strtoul(words[1], NULL, 10);
    *lease = duration_of(story, words[4]);
    return *hosts > 0 && *lease > 0;
}

static void story_proves(const struct story *story, const char *backend) {
    char name[320];
    snprintf(name, sizeof name, "%s [%s]", story->title, backend);
    printf("ok     %s\n", name);
    proof_passed("story", name, story->proves);
    for (int i = 0; i < story->shown_count; i++) {
        snprintf(name, sizeof name, "%s, line %d [%s]", story->title, story->shown[i].line,
                 backend);
        proof_passed("story", name, story->shown[i].rows);
    }
}

static void story_tell(struct story *story, FILE *file, struct backend *backend) {
    bool expects = false, forbids = false;
    settle(story);
    for (char line[MAX_LINE]; !story->failure[0] && fgets(line, sizeof line, file);) {
        story->line++;
        expects = expects || strstr(line, "expect ");
        forbids = forbids || strstr(line, "expect no ");
        line_run(story, line);
    }
    if (!expects)
        fails(story, "a story that expects nothing cannot fail");
    if (!forbids && !story->failure[0] && any_act(story))
        fails(story, "a rule acts in this story, and it does not say what must not happen");
    if (story->failure[0]) {
        printf("FAILED %s:%d on %s: %s\n", story->file, story->line, backend->name, story->failure);
        return;
    }
    story_proves(story, backend->name);
}

static bool story_run(const char *path, struct backend *backend) {
    static struct story story;
    story = (struct story){.file = path};
    FILE *file = fopen(path, "r");
    uint32_t hosts = 0;
    int64_t lease = 0;
    if (!file || !head_read(&story, file, &hosts, &lease)) {
        printf(
            "FAILED %s:%d: a story begins with: story \"title\" proves …; fleet N hosts, lease D\n",
            path, story.line);
        backend->free(backend);
        return false;
    }
    story.fleet = fleet_create(backend, hosts, lease, lease / 4);
    story.fleet->story = getenv("STORY_TOLD") ? stdout : NULL;
    story.begin = story.fleet->clock;
    story_tell(&story, file, backend);
    fclose(file);
    fleet_free(story.fleet);
    arena_free(&story.arena);
    backup_forget();
    return story.failure[0] == 0;
}

static const char *const ENGINES[] = {"model", "sqlite", "postgres"};

/* NULL: there is no server to connect to. */
static struct backend *engine_make(const char *name, const char *server) {
    if (strcmp(name, "model") == 0)
        return model_backend();
    if (strcmp(name, "sqlite") == 0)
        return sqlite_backend(1);
    return server ? postgres_backend(server) : NULL;
}

/* Runs a story on every available engine, or only on the named one; counts passes and failures. */
static void story_on(const char *path, const char *only, const char *server, int counts[2]) {
    for (size_t k = 0; k < count_of(ENGINES); k++) {
        struct backend *backend =
            !only || strcmp(only, ENGINES[k]) == 0 ? engine_make(ENGINES[k], server) : NULL;
        if (!backend)
            continue;
        backup_teach(backend, server);
        counts[story_run(path, backend) ? 0 : 1]++;
    }
}

/* story [--on ENGINE] FILE… */
int main(int argc, char **argv) {
    int counts[2] = {0};
    const char *server = getenv("OVERSEER_TEST_PG");
    const char *only = argc > 2 && strcmp(argv[1], "--on") == 0 ? argv[2] : NULL;
    if (argc == 1) {
        sentences_print();
        return 2;
    }
    for (int i = only ? 3 : 1; i < argc; i++)
        story_on(argv[i], only, server, counts);
    if (!server && !only)
        printf("(not on PostgreSQL: OVERSEER_TEST_PG names none)\n");
    printf("%d passed, %d failed\n", counts[0], counts[1]);
    return counts[1] > 0 || counts[0] == 0;
}
