/* SPDX-License-Identifier: Apache-2.0 */
/* Does the promise hold, told as a story? Real core, ledger and store; pretend hands, clients and clock. Each
 * line of a .story file is one sentence; every story runs on the model, on SQLite and, where OVERSEER_TEST_PG
 * names one, on PostgreSQL. After each sentence everything runs until it comes to rest, without time passing.
 *
 *     story FILE…
 */
#include "lib/fleet.h"
#include "lib/proof.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MAX_WORDS = 32, MAX_GOALS = 16, MAX_LINE = 512 };

struct named {
    char name[16];
    struct id goal;
    uint32_t asked; /* the last thing asked about it */
};

struct story {
    const char *file;
    int line;
    char title[256], proves[256];
    struct fleet *fleet;
    struct named goals[MAX_GOALS];
    uint32_t goal_count, keys;
    int64_t begin;
    bool hands_idle;
    uint32_t losing; /* host index + 1 whose next commit loses its answer */
    enum { LOSE_COMMITTED, LOSE_NOT, LOSE_LATER } how;
    char failure[512];
};

static void fails(struct story *story, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fails(struct story *story, const char *format, ...) {
    if (story->failure[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(story->failure, sizeof story->failure, format, args);
    va_end(args);
}

/* ---- letting things run ---- */

static bool loses_now(struct story *story, const struct atom *atom) {
    struct fleet_host *host = &story->fleet->hosts[atom->host];
    return story->losing == atom->host + 1 && host->session &&
           host->session->request->verb == STORE_COMMIT;
}

/* The answer of this commit is lost, and the server has finished it, never begun it, or finishes it later. */
static void lose(struct story *story, const struct atom *atom) {
    struct fleet *fleet = story->fleet;
    struct session *session = fleet->hosts[atom->host].session;
    story->losing = 0;
    while (story->how == LOSE_COMMITTED && !session->done)
        fleet_do(fleet,
                 &(struct atom){.kind = ATOM_STATEMENT, .host = atom->host, .session = session});
    if (story->how == LOSE_NOT)
        fleet_do(fleet,
                 &(struct atom){.kind = ATOM_ROLLBACK, .host = atom->host, .session = session});
    else
        fleet_do(fleet, &(struct atom){.kind = ATOM_LOSE, .host = atom->host});
}

static bool atom_runs(struct story *story, const struct atom *atom) {
    const struct fleet_host *host = &story->fleet->hosts[atom->host];
    if (host->frozen && atom->kind != ATOM_STATEMENT)
        return false;
    switch (atom->kind) {
    case ATOM_STATEMENT: return !(atom->session->ghost && story->how == LOSE_LATER);
    case ATOM_TURN:
    case ATOM_OUTCOME: return true;
    case ATOM_CHECK:
    case ATOM_ACT: return !story->hands_idle;
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

static void settle(struct story *story) {
    run_to_rest(story);
    fleet_check(story->fleet);
    if (story->fleet->violation[0])
        fails(story, "%s", story->fleet->violation);
}

static void pass_time(struct story *story, int64_t until) {
    while (story->fleet->clock < until && !story->failure[0]) {
        int64_t left = until - story->fleet->clock;
        story->fleet->clock += left < story->fleet->tick ? left : story->fleet->tick;
        run_to_rest(story);
    }
    settle(story);
}

/* ---- words ---- */

static int64_t duration_of(struct story *story, const char *word) {
    char *end;
    double number = strtod(word, &end);
    switch (*end) {
    case 's': return (int64_t)(number * 1e6);
    case 'm': return (int64_t)(number * 60e6);
    case 'h': return (int64_t)(number * 3600e6);
    default: fails(story, "\"%s\" is no duration", word); return 0;
    }
}

static struct named *goal_of(struct story *story, const char *name) {
    for (uint32_t i = 0; i < story->goal_count; i++)
        if (strcmp(story->goals[i].name, name) == 0)
            return &story->goals[i];
    must(story->goal_count < MAX_GOALS);
    struct named *named = &story->goals[story->goal_count++];
    snprintf(named->name, sizeof named->name, "%s", name);
    named->goal = id_derive(STR("story"), str_of(name));
    return named;
}

static uint32_t host_of(struct story *story, const char *word) {
    uint32_t host = (uint32_t)strtoul(word, NULL, 10);
    if (host == 0 || host > story->fleet->host_count) {
        fails(story, "there is no host %s", word);
        return 0;
    }
    return host - 1;
}

static void ask_again(struct story *story, const struct named *named, uint32_t host) {
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_ASK, .host = host, .arg = named->asked});
}

/* ---- sentences ---- */

typedef void sentence(struct story *story, char **said);

static void goal_at(struct story *story, const char *name, const char *host, bool command) {
    struct named *named = goal_of(story, name);
    named->asked = fleet_ask(story->fleet, (struct asked){.kind = SIGNAL_GOAL_CREATE,
                                                          .goal = named->goal,
                                                          .source = named->goal,
                                                          .with_command = command,
                                                          .keyed = true});
    ask_again(story, named, host_of(story, host));
}

static void s_goal(struct story *story, char **said) {
    goal_at(story, said[0], "1", false);
}
static void s_goal_command(struct story *story, char **said) {
    goal_at(story, said[0], "1", true);
}
static void s_goal_command_at(struct story *story, char **said) {
    goal_at(story, said[0], said[1], true);
}
static void s_asked_again(struct story *story, char **said) {
    ask_again(story, goal_of(story, said[0]), host_of(story, said[1]));
}
static void s_report(struct story *story, char **said) {
    struct named *named = goal_of(story, said[1]);
    char *text = strdup(said[2]);
    named->asked = fleet_ask(story->fleet,
                             (struct asked){.kind = SIGNAL_GOAL_REPORT,
                                            .goal = named->goal,
                                            .source = id_derive(STR("story report"), str_of(text)),
                                            .keyed = true,
                                            .text = text});
    ask_again(story, named, host_of(story, said[0]));
}
static void s_create_and_report(struct story *story, char **said) {
    struct named *named = goal_of(story, said[0]);
    goal_at(story, said[0], "1", false);
    named->asked =
        fleet_ask(story->fleet, (struct asked){.kind = SIGNAL_GOAL_REPORT,
                                               .goal = named->goal,
                                               .source = id_derive(STR("story"), STR("at once"))});
    ask_again(story, named, 0);
}
static void s_hands_idle(struct story *story, char **said) {
    (void)said;
    story->hands_idle = true;
}
static void s_hands_work(struct story *story, char **said) {
    (void)said;
    story->hands_idle = false;
}
static void s_commands_end(struct story *story, char **said) {
    story->fleet->next_exit = strtol(said[0], NULL, 10);
}
static void s_crash(struct story *story, char **said) {
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_CRASH, .host = host_of(story, said[0])});
}
static void s_start(struct story *story, char **said) {
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_RESTART, .host = host_of(story, said[0])});
}
static void s_freeze(struct story *story, char **said) {
    story->fleet->hosts[host_of(story, said[0])].frozen = true;
}
static void s_thaw(struct story *story, char **said) {
    story->fleet->hosts[host_of(story, said[0])].frozen = false;
}
static void s_check_then_freeze(struct story *story, char **said) {
    uint32_t host = host_of(story, said[0]);
    if (!story->fleet->hosts[host].acts)
        fails(story, "host %s has nothing in its hands", said[0]);
    else
        fleet_do(story->fleet, &(struct atom){.kind = ATOM_CHECK, .host = host});
    story->fleet->hosts[host].frozen = true;
    story->hands_idle = false;
}
static void s_lose(struct story *story, char **said) {
    story->losing = host_of(story, said[0]) + 1;
    story->how = strcmp(said[1], "committed") == 0 ? LOSE_COMMITTED
                 : strcmp(said[1], "later") == 0   ? LOSE_LATER
                                                   : LOSE_NOT;
}
static void s_ghosts_go_on(struct story *story, char **said) {
    (void)said;
    story->how = LOSE_COMMITTED;
}
static void s_wait(struct story *story, char **said) {
    pass_time(story, story->fleet->clock + duration_of(story, said[0]));
}
static void s_by_hand(struct story *story, char **said) {
    (void)said;
    fleet_do(story->fleet, &(struct atom){.kind = ATOM_MEDDLE});
}

/* ---- expectations: what the store shows, not what the ledger believes ---- */

struct seen {
    struct arena arena;
    struct dump dump;
    const struct dump_goal *goal;
    struct goal whole;
};

static bool look(struct story *story, const char *name, struct seen *seen) {
    *seen = (struct seen){0};
    story->fleet->backend->dump(story->fleet->backend, &seen->dump, &seen->arena);
    seen->goal = dump_goal(&seen->dump, goal_of(story, name)->goal);
    if (!seen->goal) {
        fails(story, "%s is not in the store", name);
        arena_free(&seen->arena);
        return false;
    }
    shape_decode(&GOAL_HOT, seen->goal->hot, &seen->whole);
    seen->whole.quarantined = seen->goal->aside;
    for (uint32_t i = 0; i < seen->dump.effect_count; i++)
        if (id_equal(seen->dump.effects[i].goal, seen->goal->id))
            seen->whole.open[seen->whole.open_count++] = seen->dump.effects[i].slot;
    return true;
}

static void e_is(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, said[0], &seen))
        return;
    const char *face = FACE_NAMES.name[goal_face(&seen.whole)];
    if (strcmp(face, said[1]) != 0)
        fails(story, "%s is \"%s\", not \"%s\"", said[0], face, said[1]);
    arena_free(&seen.arena);
}
static void e_needs(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, said[0], &seen))
        return;
    const char *need = NEED_NAMES.name[seen.whole.need];
    if (strcmp(need, said[1]) != 0)
        fails(story, "%s needs \"%s\", not \"%s\"", said[0], need, said[1]);
    arena_free(&seen.arena);
}
static void e_owned(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, said[0], &seen))
        return;
    if (seen.goal->owner != host_of(story, said[1]) + 1)
        fails(story, "%s is owned by host %u", said[0], seen.goal->owner);
    arena_free(&seen.arena);
}
static void e_records(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, said[0], &seen))
        return;
    char all[MAX_LINE] = "";
    for (uint32_t i = 0; i < seen.dump.record_count; i++)
        if (id_equal(seen.dump.records[i].goal, seen.goal->id))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] ? " " : "",
                     RECORD_NAMES.name[seen.dump.records[i].record.type]);
    if (strcmp(all, said[1]) != 0)
        fails(story, "the records of %s are: %s", said[0], all);
    arena_free(&seen.arena);
}
static uint32_t acted_times(struct story *story, const char *name) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < story->fleet->acted_count; i++)
        if (id_equal(story->fleet->acted[i].goal, goal_of(story, name)->goal))
            times += story->fleet->acted[i].times;
    return times;
}
static void e_acted(struct story *story, char **said) {
    if (acted_times(story, said[0]) != strtoul(said[1], NULL, 10))
        fails(story, "the command of %s was run %u times", said[0], acted_times(story, said[0]));
}
static void e_answer(struct story *story, char **said) {
    const struct asked *asked = &story->fleet->asked[goal_of(story, said[0])->asked];
    const char *code = !asked->answered   ? "nothing"
                       : asked->forwarded ? "forwarded"
                                          : ERRORS[asked->error].code;
    if (strcmp(code, said[1]) != 0)
        fails(story, "the answer about %s is %s", said[0], code);
}
static void e_reports(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, said[0], &seen))
        return;
    if (seen.whole.reports != strtoul(said[1], NULL, 10))
        fails(story, "%s has %u reports", said[0], seen.whole.reports);
    arena_free(&seen.arena);
}

struct sentence_row {
    const char *pattern; /* words; $ takes one, or a text in quotes */
    sentence *run;
    bool looks; /* an expectation: nothing has to settle */
};

static const struct sentence_row SENTENCES[] = {
    {"goal $", s_goal, false},
    {"goal $ with command", s_goal_command, false},
    {"goal $ with command at host $", s_goal_command_at, false},
    {"$ is asked for again at host $", s_asked_again, false},
    {"host $ hears of $ that $", s_report, false},
    {"goal $ and a report on it in one batch", s_create_and_report, false},
    {"hands are idle", s_hands_idle, false},
    {"hands work", s_hands_work, false},
    {"commands end with $", s_commands_end, false},
    {"crash host $", s_crash, false},
    {"start host $", s_start, false},
    {"freeze host $", s_freeze, false},
    {"thaw host $", s_thaw, false},
    {"host $ is allowed to act and freezes", s_check_then_freeze, false},
    {"host $ loses the answer of its next commit, which is $", s_lose, false},
    {"ghosts go on", s_ghosts_go_on, false},
    {"wait $", s_wait, false},
    {"somebody changes the goal by hand", s_by_hand, false},
    {"expect $ is $", e_is, true},
    {"expect $ needs $", e_needs, true},
    {"expect $ owned by host $", e_owned, true},
    {"expect the records of $ to be $", e_records, true},
    {"expect the command of $ was run $ times", e_acted, true},
    {"expect the answer about $ is $", e_answer, true},
    {"expect $ has $ reports", e_reports, true},
};

/* ---- reading ---- */

static int words_of(char *line, char **words) {
    int count = 0;
    for (char *at = line; *at && count < MAX_WORDS;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || *at == '#')
            break;
        bool quoted = *at == '"';
        words[count++] = at += quoted;
        while (*at && (quoted ? *at != '"' : !isspace((unsigned char)*at)))
            at++;
        if (*at)
            *at++ = 0;
    }
    return count;
}

static bool pattern_takes(const char *pattern, char **words, int count, char **said) {
    char copy[128];
    char *parts[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", pattern);
    if (words_of(copy, parts) != count)
        return false;
    for (int i = 0, taken = 0; i < count; i++) {
        if (strcmp(parts[i], "$") == 0)
            said[taken++] = words[i];
        else if (strcmp(parts[i], words[i]) != 0)
            return false;
    }
    return true;
}

static void sentence_run(struct story *story, char **words, int count) {
    char *said[MAX_WORDS];
    for (size_t i = 0; i < count_of(SENTENCES); i++)
        if (pattern_takes(SENTENCES[i].pattern, words, count, said)) {
            SENTENCES[i].run(story, said);
            if (!SENTENCES[i].looks)
                settle(story);
            return;
        }
    fails(story, "nobody understands this sentence");
}

/* "at 00:15 …": minutes and seconds since the story began. */
static void line_run(struct story *story, char *line) {
    char *words[MAX_WORDS];
    int count = words_of(line, words);
    if (count == 0)
        return;
    if (count > 2 && strcmp(words[0], "at") == 0) {
        int minutes = 0, seconds = 0;
        if (sscanf(words[1], "%d:%d", &minutes, &seconds) != 2)
            fails(story, "\"%s\" is no time", words[1]);
        pass_time(story, story->begin + SECONDS(minutes * 60 + seconds));
        sentence_run(story, words + 2, count - 2);
        return;
    }
    sentence_run(story, words, count);
}

/* The first lines: story "title" proves ROWS, then fleet N hosts, lease D, act-within D. */
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
    return true;
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
    story.fleet->may_quarantine = true;
    story.begin = story.fleet->clock;
    settle(&story);
    for (char line[MAX_LINE]; !story.failure[0] && fgets(line, sizeof line, file);) {
        story.line++;
        line_run(&story, line);
    }
    fclose(file);
    if (story.failure[0])
        printf("FAILED %s:%d on %s: %s\n", path, story.line, backend->name, story.failure);
    else {
        char name[320];
        snprintf(name, sizeof name, "%s [%s]", story.title, backend->name);
        printf("ok     %s\n", name);
        proof_passed("story", name, story.proves);
    }
    bool ok = story.failure[0] == 0;
    for (uint32_t i = 0; i < story.fleet->asked_count; i++)
        free((char *)(uintptr_t)story.fleet->asked[i].text);
    fleet_free(story.fleet);
    return ok;
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    const char *server = getenv("OVERSEER_TEST_PG");
    for (int i = 1; i < argc; i++) {
        struct backend *backends[] = {model_backend(), sqlite_backend(1),
                                      server ? postgres_backend(server) : NULL};
        for (size_t k = 0; k < count_of(backends); k++)
            if (backends[k]) {
                bool ok = story_run(argv[i], backends[k]);
                passed += ok;
                failed += !ok;
            }
    }
    if (!server)
        printf("(not on PostgreSQL: OVERSEER_TEST_PG names none)\n");
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
