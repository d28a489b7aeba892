/* SPDX-License-Identifier: Apache-2.0 */
/* What do the files of the channel port share? One saying is one message under way on one channel. */
#pragma once

#include "ports/channel.h"

#include <curl/curl.h>
#include <jansson.h>

/* ---- texts that grow: see channel_words.c. Without memory they stay failed; check once, at the end. ---- */

struct words {
    char *at; /* ends in NUL; NULL: nothing was ever added */
    size_t len, cap;
    bool failed;
};

static inline struct str words_str(const struct words *words) {
    return (struct str){words->at, words->len};
}

static inline const char *words_cstr(const struct words *words) {
    return words->at ? words->at : "";
}

void words_add(struct words *words, struct str text);
void words_format(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void words_clear(struct words *words); /* overwritten: they may have been secret */
void words_free(struct words *words);

/* How a text of somebody else's becomes harmless in the words of a service. */
enum markup {
    MARKUP_NONE,     /* plain text */
    MARKUP_ENTITIES, /* & < >: Slack, notes on the desktop */
    MARKUP_MARKDOWN, /* issues and Discord: no formatting, no mentions, no commands of the forge */
    MARKUP_PULL,     /* the same in a pull request: nothing is closed when it is merged */
    MARKUP_TITLE,    /* of a pull request: plain, but names and numbers lead nowhere */
    MARKUPS
};

/* At most `most` bytes of it; what is cut ends in "…". Control characters and those that turn the direction of writing are
 * left out. */
void words_escape(struct words *words, enum markup markup, struct str text, size_t most);
void words_escape_line(struct words *words, enum markup markup, struct str text, size_t most);

/* As a part of a path or a query of an address. */
void words_url(struct words *words, struct str text);

/* JSON: a member of the object that is open, or an entry of the list if the name is NULL. */
void out_text(struct words *words, const char *name, struct str text);
void out_number(struct words *words, const char *name, int64_t number);
void out_flag(struct words *words, const char *name, bool flag);
void out_time(struct words *words, const char *name, int64_t at);
void out_raw(struct words *words, const char *name, struct str json);
void out_begin(struct words *words, const char *name, char bracket);
void out_end(struct words *words, char bracket);

/* ---- HTTP: see channel_http.c ---- */

struct http_answer {
    bool sent;   /* the other side may have seen the request */
    bool whole;  /* the answer came to its end, and was not too long */
    long status; /* 0: there was none */
    struct str body;
    int64_t again_at;
    const char *why; /* why there is none, or not all of it */
};

struct saying;
typedef void http_answered(struct saying *saying, const struct http_answer *answer);

struct http {
    CURL *easy; /* NULL: nothing is asked now */
    struct curl_slist *headers;
    struct words url, body, answer;
    size_t header_bytes, most; /* of the answer */
    bool too_long;
    int64_t wait;     /* Retry-After and its like, microseconds; -1: none */
    int64_t reset_at; /* when a rate limit begins anew; 0: not said */
    bool used_up;     /* X-RateLimit-Remaining: 0 */
    http_answered *answered;
    char error[CURL_ERROR_SIZE];
};

struct http_header {
    const char *name;
    struct str value;
};

/* Ask saying->http.url, with saying->http.body unless the method is GET. `answered` is called from the loop, once, unless
 * the saying ends before. */
void http_ask(struct saying *saying, const char *method, const struct http_header *headers,
              size_t count, http_answered *answered);
void http_cancel(struct saying *saying);

/* What follows from an answer to something that was to be done once. */
enum said http_verdict(const struct http_answer *answer);
/* The same for a look: it cannot have done anything. */
enum said http_verdict_of_look(const struct http_answer *answer);
void saying_end_by_answer(struct saying *saying, enum said said, const struct http_answer *answer);

/* ---- programs: see channel_program.c ---- */

struct program;
void program_cancel(struct saying *saying);

/* ---- a message under way ---- */

struct tracker { /* see channel_tracker.c, channel_pull.c */
    struct words base, repo, to, title, body, marker;
    struct words head, onto; /* of a pull request: branches */
    struct words earlier;    /* number of the issue that is continued; empty: none */
    struct words label_names[LIMIT_LINES + 3];
    uint32_t label_count, label_next;
    int64_t label_ids[LIMIT_LINES + 3];
    int64_t since;
    unsigned page;
    bool resolved, looked_twice;
};

struct saying {
    struct channels *channels;
    struct saying *next, *before; /* of those under way, or of those that have ended */
    enum channel_kind kind;
    const char *service; /* for people */
    uint64_t deadline;   /* of the loop's clock, milliseconds */
    struct words token, ca_path, proxy;
    struct http http;
    struct tracker *tracker;
    struct program *program;
    channel_said *done;
    void *with;
    bool ended;
    enum said said;
    int64_t again_at;
    struct words reference, url, why;
};

/* Where each kind begins. It asks, or ends the saying at once. */
typedef void channel_begin(struct saying *saying, const struct channel *channel,
                           const struct notice *notice);
channel_begin desktop_begin, command_begin, tracker_begin, webhook_begin, slack_begin,
    discord_begin, pagerduty_begin, ntfy_begin;

void pull_begin(struct saying *saying, const struct channel *channel, const struct pull *pull);

/* ---- how a forge is asked: see channel_tracker.c ---- */

/* In a path, `%R` is the repository, `%O` its owner, `%N` the earlier issue, `%H` the branch. */
void forge_begin(struct saying *saying, const struct channel *channel); /* where it is */
void forge_address(struct saying *saying, const char *path, const char *query);
void forge_address_add(struct saying *saying, const char *path);
void forge_ask(struct saying *saying, const char *method, http_answered *answered);
json_t *forge_json(const struct http_answer *answer); /* NULL: it has none */
bool forge_keep(struct saying *saying, const json_t *issue, const char *number_name);
bool forge_has_mark(const struct saying *saying, const json_t *entry, const char *member);

/* It is over: it is told when the loop comes around. */
void saying_end(struct saying *saying, enum said said, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t saying_left_ms(const struct saying *saying);
int64_t saying_now(const struct saying *saying);

/* ESCALATE-10: read when it is needed. False: the saying has ended with the reason. */
bool token_read(struct saying *saying, struct str path, struct words *to);

struct channels_http; /* the half of channels that channel_http.c owns */
struct channels_http *channels_http_start(uv_loop_t *loop);
void channels_http_stop(struct channels_http *http, void (*closed)(void *with), void *with);
struct channels_http *saying_http(const struct saying *saying);
uv_loop_t *saying_loop(const struct saying *saying);

/* ---- texts that several services share: see channel_text.c ---- */

void text_title(struct words *words, enum markup markup, const struct notice *notice, size_t most);
void text_facts(struct words *words, enum markup markup, const struct notice *notice,
                const char *line_end);
void text_question(struct words *words, enum markup markup, const struct notice *notice,
                   const char *before);
void text_issue(struct words *words, const struct notice *notice);
void text_json(struct words *words, const struct notice *notice); /* ESCALATE-11 */
void text_goal(const struct notice *notice, char text[5 + ID_TEXT + 1]);
