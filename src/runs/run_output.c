/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the log of a run for people: RUNDIR/said.log, with one line per event: the time, the offset in its output, the
 * kind, and the text without secrets (STORE-14). Output that is read again after a restart is not logged again. */
#include "base/bytes.h"
#include "model/secret/key_block.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/redaction.h"

enum {
    TAIL = 4 * RUN_WORDS,
    FILE_MOST = 32 << 20,
    LAST_MOST = 400,
    READ_MOST =
        1 << 16, /* bytes of one event: secrets are removed before it is cut to its length */
    CUT_BEFORE =
        256, /* a long line is cut this far before its end, so that what follows a name stays with it */
    CUT_TRIES = 8,
};

static void log_path(const struct run *run, char path[RUN_PATH + 16]) {
    snprintf(path, RUN_PATH + 16, "%s/said.log", run->dir);
}

static size_t tail_read(const char *path, char text[TAIL], uint64_t *ret_size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t length = fd >= 0 ? pread(fd, text, TAIL, size > TAIL ? size - TAIL : 0) : 0;
    if (fd >= 0)
        close(fd);
    *ret_size = size > 0 ? (uint64_t)size : 0;
    return length > 0 ? (size_t)length : 0;
}

/* The largest offset in the last lines of the file. */
static uint64_t log_offset(const char *path, uint64_t *ret_size) {
    char text[TAIL + 1];
    unsigned long long at, offset, most = 0;
    size_t length = tail_read(path, text, ret_size);
    text[length] = 0;
    char *first = length == TAIL ? strchr(text, '\n')
                                 : text; /* an incomplete first line is an agent's text */
    for (char *line = first; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (sscanf(line, "%llu %llu ", &at, &offset) == 2 && offset > most)
            most = offset;
    return most;
}

/* Lines that are not in the file yet: one write for all lines of one piece of output. */
struct lines {
    struct writer writer;
    bool all; /* includes lines whose offset is not after the newest line of the file */
};

/* Replaces invalid UTF-8 by '?' and unprintable characters by spaces. */
static struct str line_text(struct str text, struct arena *arena) {
    char *at = arena_cstr(arena, text);
    bytes_mend(at, text.len);
    struct str clean = redacted(str_cut_utf8((struct str){at, text.len}, READ_MOST), arena);
    clean = str_cut_utf8(clean, 3 * RUN_WORDS);
    char *line = arena_cstr(arena, clean);
    for (size_t i = 0; i < clean.len; i++)
        line[i] = (unsigned char)line[i] < 0x20 ? ' ' : line[i];
    return (struct str){line, clean.len};
}

/* After a crash, output that is already in the file is read again, but not logged again. */
static void line_add(struct lines *lines, const struct run *run, uint64_t offset, const char *kind,
                     struct str text) {
    struct arena *arena = lines->writer.arena;
    bool logged = run->log_offset > 0 && offset <= run->log_offset;
    if (logged && !lines->all)
        return;
    char head[80];
    int length = snprintf(head, sizeof head, "%lld %llu %s ", (long long)clock_wall(),
                          (unsigned long long)offset, kind);
    must(length > 0 && (size_t)length < sizeof head);
    write_raw(&lines->writer, (struct str){head, (size_t)length});
    write_raw(&lines->writer, line_text(text, arena));
    write_raw(&lines->writer, STR("\n"));
}

/* The lines are made before the file is opened: the crash guard may abandon the code that makes them. */
static void lines_write(const struct lines *lines, struct run *run) {
    char path[RUN_PATH + 16];
    if (lines->writer.len == 0 || run->log_size >= FILE_MOST)
        return;
    log_path(run, path);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t put = fd >= 0 ? write(fd, lines->writer.at, lines->writer.len) : 0;
    run->log_size += put > 0 ? (uint64_t)put : 0; /* on failure, people miss these lines */
    if (fd >= 0)
        close(fd);
}

static size_t lines_in(struct str text) {
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    return count;
}

static struct str joined(struct str a, struct str b, struct arena *arena) {
    char *to = arena_new(arena, char, a.len + b.len + 1);
    memcpy(to, a.at, a.len);
    memcpy(to + a.len, b.at, b.len);
    return (struct str){to, a.len + b.len};
}

/* Some secrets are recognised only together with the lines before them. If the line is part of a secret that began
 * there, both have become one mark. */
static struct str line_redacted(struct run *run, struct str line, struct arena *arena) {
    struct str before = {run->lines_before.at, run->lines_before.len};
    struct str both = joined(before, line, arena);
    struct str clean = redacted(both, arena);
    if (key_block_line(&run->in_key, line))
        return STR(SECRET_MARK "private-key]");
    if (clean.at == both.at)
        return line;
    if (lines_in(clean) < lines_in(redacted(before, arena)))
        return STR(SECRET_MARK "lines]");
    const char *end = memrchr(clean.at, '\n', clean.len);
    size_t from = end ? (size_t)(end + 1 - clean.at) : 0;
    return (struct str){clean.at + from, clean.len - from};
}

static void line_remember(struct run *run, struct str line) {
    struct run_lines *before = &run->lines_before;
    enum { PART = sizeof before->at / 2 - 1 };
    if (line.len > PART)
        line = (struct str){line.at + line.len - PART, PART};
    while (before->len + line.len + 1 > sizeof before->at) {
        char *end = memchr(before->at, '\n', before->len);
        uint32_t first = (uint32_t)(end + 1 - before->at);
        before->len -= first;
        memmove(before->at, end + 1, before->len);
    }
    memcpy(before->at + before->len, line.at, line.len);
    before->at[before->len + line.len] = '\n';
    before->len += (uint32_t)line.len + 1;
}

static void words_put(struct lines *lines, struct run *run, size_t count) {
    struct str line = {run->words, count};
    if (count > 0)
        line_add(lines, run, run->word_offset, "said",
                 line_redacted(run, line, lines->writer.arena));
    line_remember(run, line);
    run->word_count -= count;
    memmove(run->words, run->words + count, run->word_count);
}

static void words_flush(struct lines *lines, struct run *run) {
    if (run->word_count > 0)
        words_put(lines, run, run->word_count);
    run->skips_word = false;
}

static bool cut_splits_secret(struct str words, size_t at, struct arena *arena) {
    struct str whole = redacted(words, arena), first = redacted((struct str){words.at, at}, arena),
               rest = redacted((struct str){words.at + at, words.len - at}, arena);
    return whole.len != first.len + rest.len || memcmp(whole.at, first.at, first.len) != 0 ||
           memcmp(whole.at + first.len, rest.at, rest.len) != 0;
}

/* Half a secret is not recognised, so a long line is cut where no secret is. If a word does not fit and contains a
 * secret, its rest is left out. */
static void words_cut(struct lines *lines, struct run *run) {
    struct arena *arena = lines->writer.arena;
    struct str words = {run->words, run->word_count};
    unsigned tries = 0;
    for (size_t at = words.len - CUT_BEFORE; at > 0 && tries < CUT_TRIES; at--)
        if (words.at[at] == ' ' && ++tries && !cut_splits_secret(words, at, arena)) {
            words_put(lines, run, at);
            return;
        }
    run->skips_word = redacted(words, arena).at != words.at;
    words_put(lines, run, words.len);
}

static void word_add(struct lines *lines, struct run *run, char c) {
    bool begins = ((unsigned char)c & 0xc0) != 0x80; /* of a character */
    if (run->word_count >= RUN_WORDS - 4 && begins)
        words_cut(lines, run);
    if (c == ' ')
        run->skips_word = false;
    if (!run->skips_word && run->word_count < RUN_WORDS)
        run->words[run->word_count++] = c;
}

/* A line has the offset after its last byte: exact for raw output; for a frame, the end of the frame. So the same line
 * has the same offset however the output is split into pieces. */
static void words_add(struct lines *lines, struct run *run, const struct drive_event *event) {
    struct str text = event->text;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t behind = event->raw ? event->offset - (text.len - i - 1) : event->offset;
        bool over = text.at[i] == '\n';
        if (over || !event->raw)
            run->word_offset = behind;
        if (over)
            words_flush(lines, run);
        else
            word_add(lines, run, text.at[i]);
        run->word_offset = behind;
    }
}

/* For most kinds the name is enough. */
static const struct {
    enum drive_kind kind;
    const char *name;
} KINDS[] = {{DRIVE_TOOL_BEGUN, "tool"},
             {DRIVE_ASKS_FOR, "asks"},
             {DRIVE_FAILED, "failed"},
             {DRIVE_LIMITED, "failed"},
             {DRIVE_BROKEN, "failed"}};

static void event_keep(struct lines *lines, struct run *run, const struct drive_event *event) {
    struct arena *arena = lines->writer.arena;
    struct str text = event->text;
    if (event->kind == DRIVE_PROGRESS) {
        words_add(lines, run, event);
        return;
    }
    for (size_t i = 0; i < count_of(KINDS); i++)
        if (KINDS[i].kind == event->kind) {
            run->word_offset = event->offset; /* earlier words are logged with this offset, too */
            words_flush(lines, run);
            if (event->kind == DRIVE_BROKEN)
                text = run_broken_words(run, event, arena);
            if (event->detail.len > 0)
                text = arena_format(arena, "%.*s: %.*s", STR_ARG(text), STR_ARG(event->detail));
            line_add(lines, run, event->offset, KINDS[i].name, text);
        }
    if (event->kind != DRIVE_ENDED)
        return;
    run->word_offset = event->offset;
    words_flush(lines, run);
    line_add(lines, run, event->offset, "ended",
             event->reason == DRIVE_TURN_CUT ? STR("its turn was cut off")
                                             : STR("its turn is over"));
}

static void log_know(struct run *run) {
    char path[RUN_PATH + 16];
    if (run->log_known)
        return;
    log_path(run, path);
    run->log_offset = log_offset(path, &run->log_size);
    run->log_known = true;
}

void run_words_keep(struct run *run, const struct drive_out *out) {
    struct lines lines = {.writer.arena = out->arena};
    log_know(run);
    for (uint32_t i = 0; i < out->event_count; i++)
        event_keep(&lines, run, &out->events[i]);
    lines_write(&lines, run);
}

void run_log_sent(struct run *run, struct str text) {
    struct arena arena = {0};
    struct lines lines = {.writer.arena = &arena, .all = true};
    log_know(run);
    struct str first = text;
    const char *end = memchr(text.at, '\n', text.len);
    if (end)
        first.len = (size_t)(end - text.at);
    words_flush(&lines, run);
    line_add(&lines, run, run->word_offset, "told", first);
    lines_write(&lines, run);
    arena_free(&arena);
}

/* ---- how it ended ---- */

/* The length of an escape sequence of a terminal. */
static size_t escape_length(struct str text) {
    size_t len = 2;
    if (text.len > 1 && text.at[1] == '[')
        while (len < text.len && !(text.at[len] >= 0x40 && text.at[len] <= 0x7e))
            len++;
    else if (text.len > 1 && text.at[1] == ']')
        while (len < text.len && text.at[len] != '\a' && text.at[len] != '\n' &&
               !(text.at[len] == '\\' && text.at[len - 1] == 27))
            len++;
    else
        len = 1;
    return len < text.len ? len + 1 : text.len;
}

/* Keeps lines of text, and removes everything that moves a cursor. */
static struct str words_clean(struct str text, struct arena *arena) {
    char *at = arena_new(arena, char, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == 27)
            i += escape_length((struct str){text.at + i, text.len - i}) - 1;
        else if (c == '\n' || c == '\r')
            at[len++] = '\n';
        else if (c == '\t' || (c >= 0x20 && c != 0x7f))
            at[len++] = c == '\t' ? ' ' : (char)c;
    }
    bytes_mend(at, len);
    return (struct str){at, len};
}

/* Compilers and interpreters say what is wrong in one line, with more text before and after it. */
static bool line_explains(struct str line, struct arena *arena) {
    static const char *const SIGNS[] = {"error",  "fatal", "panic",     "denied",
                                        "cannot", "can't", "not found", "no such"};
    char *text = arena_cstr(arena, line);
    for (size_t i = 0; i < count_of(SIGNS); i++)
        if (strcasestr(text, SIGNS[i]))
            return true;
    return false;
}

static bool line_is_empty(struct str line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.at[i] != ' ')
            return false;
    return true;
}

/* The last explanatory line; if there is none, the last line. */
static struct str line_choose(struct str text, struct arena *arena) {
    struct str rest = text, last = {0}, best = {0};
    while (rest.len > 0) {
        struct str line = str_line_take(&rest);
        if (line_is_empty(line))
            continue;
        last = line;
        if (line_explains(line, arena))
            best = line;
    }
    return best.len ? best : last;
}

static struct str others_join(struct str text, struct str chosen, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (struct str rest = text; rest.len > 0;) {
        struct str line = str_line_take(&rest);
        if (line.at == chosen.at || line_is_empty(line))
            continue;
        write_raw(&writer, writer.len ? STR(" / ") : STR(""));
        write_raw(&writer, line);
    }
    size_t over = writer.len > LAST_MOST ? writer.len - LAST_MOST : 0;
    while (over > 0 && over < writer.len && ((unsigned char)writer.at[over] & 0xc0) == 0x80)
        over++;
    return (struct str){writer.at + over, writer.len - over};
}

/* Removes secrets while lines are complete: half a key is not recognised. */
static struct str errors_read(const struct run *run, struct arena *arena) {
    char path[RUN_PATH + 16], text[TAIL];
    snprintf(path, sizeof path, "%s/err.log", run->dir);
    uint64_t size;
    struct str end = {text, tail_read(path, text, &size)};
    if (end.len == TAIL)
        str_line_take(&end);
    return redacted(words_clean(end, arena), arena);
}

struct str words_explain(struct str output, struct arena *arena) {
    return line_choose(redacted(words_clean(output, arena), arena), arena);
}

struct str words_first(struct str output, struct arena *arena) {
    struct str text = redacted(words_clean(output, arena), arena), line = {0};
    while (text.len > 0 && line_is_empty(line))
        line = str_line_take(&text);
    return line;
}

/* Reads the last output before this byte. If a program has a terminal, its errors are there, too. */
static struct str output_read(const struct run *run, uint64_t end, struct arena *arena) {
    char text[TAIL];
    uint64_t from = end > TAIL ? end - TAIL : 0;
    struct str output = {text, held_left(run->dir, from, text, (size_t)(end - from))};
    struct writer writer = {.arena = arena};
    if (from > 0)
        str_line_take(&output);
    if (run->driver->shown)
        return redacted(words_clean(run->driver->shown(output, arena), arena), arena);
    while (output.len > 0) {
        struct str line = str_line_take(&output);
        if (line.len == 0 || line.at[0] == '{')
            continue;
        write_raw(&writer, line);
        write_byte(&writer, '\n');
    }
    return redacted(words_clean((struct str){writer.at, writer.len}, arena), arena);
}

struct str run_broken_words(const struct run *run, const struct drive_event *event,
                            struct arena *arena) {
    uint64_t end = drive_input_end(&run->input);
    struct str line =
        line_choose(output_read(run, end > event->offset ? end : event->offset, arena), arena);
    if (line.len == 0)
        return event->text;
    return arena_format(arena, "%.*s: %.*s", STR_ARG(event->text),
                        STR_ARG(str_cut_utf8(line, LAST_MOST)));
}

struct str run_last_words(const struct run *run, struct arena *arena) {
    struct str text = errors_read(run, arena), line = line_choose(text, arena);
    if (line.len == 0) {
        text = output_read(run, run->end, arena);
        line = line_choose(text, arena);
    }
    struct str others = others_join(text, line, arena);
    if (line.len == 0)
        return arena_format(arena, "it exited with status %lld and wrote nothing to standard error",
                            (long long)run->exit);
    return arena_format(arena, "it exited with status %lld: %.*s%s%.*s", (long long)run->exit,
                        STR_ARG(str_cut_utf8(line, LAST_MOST)), others.len ? " / also: " : "",
                        STR_ARG(others));
}

void run_end_keep(struct run *run, struct str why) {
    struct arena arena = {0};
    uint64_t offset = run->end + 1; /* after all of its output */
    if (why.len == 0)
        return;
    struct lines lines = {.writer.arena = &arena};
    log_know(run);
    mkdir(run->dir, 0700); /* a run that never started has no folder */
    run->word_offset = run->word_count > 0 ? offset : run->word_offset;
    words_flush(&lines, run);
    line_add(&lines, run, offset, "failed", why);
    lines_write(&lines, run);
    run->log_offset = offset;
    arena_free(&arena);
}

/* An agent's raw output is not kept when its run is over; said.log has its words without secrets. */
bool run_output_drop(const char *folder) {
    static const char *const RAW[] = {"out.log", "err.log", "drive."}; /* prefixes */
    int failed = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        for (size_t i = 0; i < count_of(RAW); i++)
            if (strncmp(entry->d_name, RAW[i], strlen(RAW[i])) == 0 &&
                unlinkat(dirfd(stream), entry->d_name, 0) != 0)
                failed = errno;
    if (stream)
        closedir(stream);
    errno = failed;
    return failed == 0;
}
