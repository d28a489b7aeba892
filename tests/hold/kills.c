/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every byte is seen once and in order, and every word is sent once, wherever the reader is killed.
 *
 *     kills HOLD AGENT FOLDER KILLS BYTES SEED
 *
 * A reader is a process with the daemon's own client (drivers/hold_client.h). Its committed state is in memory that outlives it, as
 * the daemon's is in the store: the offset after the last byte that it took, and how many words it has receipts for. It dies by
 * SIGKILL at a random byte: before it commits, after it commits, after it acknowledges; or from outside at any moment. */
#include "drivers/hold_client.h"
#include "lib/proof.h"
#include "pattern.h"
#include "unit/unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum place { BEFORE_COMMIT, AFTER_COMMIT, AFTER_ACK, FROM_OUTSIDE, PLACES };

static struct committed { volatile uint64_t offset, words, ended, exit, wrong; } * committed;

static struct {
    const char *folder;
    uint64_t die_at; /* offset; UINT64_MAX: lives until the end */
    enum place place;
    bool speaks, asks_first;
    uv_loop_t loop;
    struct held *held;
} reader;

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "kills: %s at offset %llu\n", what, (unsigned long long)committed->offset);
    committed->wrong++;
    _exit(1);
}

static struct id word_id(uint64_t n) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    return id_derive(STR("word"), str_of(text));
}

static void word_say(void) {
    char text[32];
    int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)committed->words);
    if (!held_write(reader.held, word_id(committed->words), (struct str){text, (size_t)length}))
        wrong("it cannot be sent");
}

static void reader_dies(enum place here) {
    if (reader.place == here)
        kill(getpid(), SIGKILL);
}

static void data_comes(void *with, uint64_t offset, struct str bytes) {
    (void)with;
    if (offset != committed->offset)
        wrong("a gap or a repetition");
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.at[i] != pattern_at(offset + i))
            wrong("another byte");
    bool dies = offset + bytes.len > reader.die_at;
    uint64_t to = dies ? reader.die_at : offset + bytes.len;
    if (dies)
        reader_dies(BEFORE_COMMIT);
    committed->offset = to;
    if (dies)
        reader_dies(AFTER_COMMIT);
    held_ack(reader.held, to);
    if (dies)
        reader_dies(AFTER_ACK); /* the acknowledgement is in the socket: a write is tried at once */
    while (dies)
        pause(); /* killed from outside soon; until then it takes nothing */
}

static void receipt_comes(void *with, struct id id, enum hold_written written) {
    (void)with;
    if (!id_equal(id, word_id(committed->words)))
        wrong("a receipt for something else");
    if (written == HOLD_UNKNOWN || written == HOLD_QUEUED)
        word_say();
    else if (written == HOLD_WRITTEN || written == HOLD_ALREADY)
        committed->words++;
    else
        wrong("a word that was not written");
}

static void end_comes(void *with, uint64_t offset) {
    (void)with;
    if (offset != committed->offset)
        wrong("an end elsewhere");
    if (!held_collect(reader.held))
        wrong("it cannot be sent");
}

static void answer_comes(void *with, enum hold_kind to, enum hold_verdict verdict,
                         uint64_t number) {
    (void)with;
    if (verdict != HOLD_DONE)
        wrong("a refusal");
    if (to == HOLD_COLLECT) {
        committed->exit = number;
        committed->ended = 1;
        _exit(0);
    }
}

static void hold_lost(void *with, int code) {
    (void)with;
    fprintf(stderr, "kills: %s\n", uv_strerror(code));
    wrong("the hold is lost");
}

static const struct held_callbacks CALLBACKS = {.answer = answer_comes,
                                                .data = data_comes,
                                                .receipt = receipt_comes,
                                                .end = end_comes,
                                                .lost = hold_lost};

_Noreturn static void reader_live(uint64_t fence) {
    uv_loop_init(&reader.loop);
    reader.held = held_open(&reader.loop, reader.folder, fence, &CALLBACKS, NULL);
    if (!held_attach(reader.held, committed->offset))
        wrong("it cannot be sent");
    if (reader.speaks && reader.asks_first) {
        if (!held_wrote(reader.held, word_id(committed->words)))
            wrong("it cannot be sent");
    } else if (reader.speaks)
        word_say();
    if (reader.die_at == UINT64_MAX && !held_close_input(reader.held))
        wrong("it cannot be sent");
    uv_run(&reader.loop, UV_RUN_DEFAULT);
    wrong("nothing more to do");
}

static void reader_draw(struct chance *chance, uint64_t per_life) {
    reader.place = chance_below(chance, PLACES);
    reader.die_at = committed->offset + chance_below(chance, (uint32_t)(2 * per_life));
    reader.speaks = chance_in(chance, 3);
    reader.asks_first = chance_in(chance, 2);
}

/* One life of a reader, until its death. */
static void life_run(struct chance *chance, uint64_t fence) {
    pid_t pid = fork();
    if (pid == 0)
        reader_live(fence);
    if (reader.place == FROM_OUTSIDE) {
        usleep(chance_below(chance, 3000));
        kill(pid, SIGKILL);
    }
    waitpid(pid, NULL, 0);
}

static pid_t hold_pid;

static void hold_started(void *with, bool stands, struct str why) {
    (void)with;
    char text[1024];
    snprintf(text, sizeof text, "%.*s", STR_ARG(why));
    if (!stands || sscanf(text, "hold %d", &hold_pid) != 1)
        wrong(text);
}

static void hold_refused(void *with, bool stands, struct str why) {
    (void)with;
    if (stands || !str_begins(why, STR("failed: another hold uses this folder")))
        wrong("a second start");
}

extern char **environ;

static void hold_start(char **argv) {
    char heard[4096];
    uv_loop_t loop;
    snprintf(heard, sizeof heard, "%s/heard", argv[3]);
    const char *agent[] = {argv[2], "pour", argv[5], heard, NULL};
    struct held_spec spec = {.program = argv[1],
                             .dir = argv[3],
                             .cwd = "/",
                             .argv = agent,
                             .env = (const char *const *)environ,
                             .cap = 256 << 10,
                             .orphan_at_ms = 0};
    uv_loop_init(&loop);
    held_start(&loop, &spec, hold_started, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    if (hold_pid == 0)
        wrong("nobody said whether the hold stands");
    held_start(&loop, &spec, hold_refused, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

/* Each word arrived once, in order. */
static bool heard_is_right(const char *folder, uint64_t words) {
    char path[4096];
    snprintf(path, sizeof path, "%s/heard", folder);
    FILE *file = fopen(path, "r");
    unsigned long long n;
    uint64_t count = 0;
    while (file && fscanf(file, "%llu", &n) == 1)
        if (n != count++)
            return false;
    if (file)
        fclose(file);
    return count == words || count == words + 1; /* the last one may lack its receipt */
}

int main(int argc, char **argv) {
    if (argc != 7)
        return 2;
    uint64_t kills = strtoull(argv[4], NULL, 10), bytes = strtoull(argv[5], NULL, 10);
    struct chance chance = {strtoull(argv[6], NULL, 10) * 2 + 1};
    committed =
        mmap(NULL, sizeof *committed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reader.folder = argv[3];
    hold_start(argv);
    for (uint64_t i = 0; i < kills && !committed->wrong && !committed->ended; i++) {
        reader_draw(&chance, bytes / (kills + kills / 10 + 1));
        life_run(&chance, 1 + i / 16);
    }
    uint64_t before = committed->offset;
    reader.place = PLACES;
    reader.die_at = UINT64_MAX;
    reader.speaks = false;
    if (!committed->wrong)
        life_run(&chance, 1 + kills);
    bool right = !committed->wrong && committed->ended && committed->offset == bytes &&
                 committed->exit == 7 && heard_is_right(argv[3], committed->words);
    printf("kills: %llu kills over %llu of %llu bytes, %llu words: %s\n", (unsigned long long)kills,
           (unsigned long long)before, (unsigned long long)bytes,
           (unsigned long long)committed->words,
           right ? "each byte and each word once, in order" : "FAILED");
    if (right && kills >= 100)
        proof_passed("hold", "every byte and every word once over kills", "ASSIGN-14.b");
    if (!right && hold_pid > 0 && !committed->ended)
        kill(hold_pid, SIGTERM); /* still running: it ends only on request */
    return !right;
}
