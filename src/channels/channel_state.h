/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the channel module. A send is one message in progress on one channel. */
#pragma once

#include "channels/channel.h"
#include "model/channel_list.h"

#include <curl/curl.h>
#include <jansson.h>

/* ---- growing texts: see channel_words.c ---- */

struct words {
    char *at; /* NUL-terminated; NULL: nothing was ever added */
    size_t len, cap;
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
void words_clear(struct words *words); /* overwrites the text: it may be secret */
void words_free(struct words *words);

/* How foreign text is made harmless in a service's markup. */
enum markup {
    MARKUP_NONE,     /* plain text */
    MARKUP_ENTITIES, /* & < >: Slack, desktop notifications */
    MARKUP_MARKDOWN, /* issues and Discord: no formatting, no mentions, no commands of the forge */
    MARKUP_PULL,     /* the same in a pull request: merging it closes nothing */
    MARKUP_TITLE,    /* title of a pull request: plain, but names and numbers do not become links */
    MARKUPS
};

/* Adds at most `most` bytes of it; text that is cut ends in "…". Control characters and characters that change the
 * writing direction are left out. */
void words_escape(struct words *words, enum markup markup, struct str text, size_t most);
void words_escape_line(struct words *words, enum markup markup, struct str text, size_t most);

/* Escapes the text as part of a URL's path or query. */
void words_url(struct words *words, struct str text);

/* JSON: adds a member to the open object, or an entry to the open list if the name is NULL. */
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
    bool whole;  /* the answer is complete and was not too long */
    long status; /* 0: no answer */
    struct str body;
    int64_t again_at;
    const char *why; /* why there is no answer, or only a part of it */
};

struct channel_send;
typedef void http_answered(struct channel_send *send, const struct http_answer *answer);

struct http {
    CURL *easy; /* NULL: no request in progress */
    struct curl_slist *headers;
    struct words url, body, answer;
    size_t header_bytes, most; /* of the answer */
    bool too_long;
    int64_t wait;     /* Retry-After and similar headers, microseconds; -1: none */
    int64_t reset_at; /* when the rate limit resets; 0: not given */
    bool used_up;     /* X-RateLimit-Remaining: 0 */
    http_answered *answered;
    char error[CURL_ERROR_SIZE];
};

struct http_header {
    const char *name;
    struct str value;
};

/* Sends a request to send->http.url, with send->http.body unless the method is GET. `answered` is called from the loop,
 * once, unless the send ends before. */
void http_ask(struct channel_send *send, const char *method, const struct http_header *headers,
              size_t count, http_answered *answered);
void http_cancel(struct channel_send *send);

/* The send result for the answer to a request that must take effect only once. */
enum send_result http_verdict(const struct http_answer *answer);
/* The same for a read-only request, which cannot have changed anything. */
enum send_result http_verdict_of_look(const struct http_answer *answer);
void channel_send_end_by_answer(struct channel_send *send, enum send_result result,
                                const struct http_answer *answer);

/* ---- programs: see channel_program.c ---- */

struct program;
void program_cancel(struct channel_send *send);

/* ---- a message in progress ---- */

struct tracker { /* see channel_tracker.c, channel_pull.c */
    struct words base, repo, to, title, body, marker;
    struct words head, onto; /* branches of a pull request */
    struct words earlier;    /* number of the earlier issue to continue; empty: none */
    struct words label_names[LIMIT_LINES + 3];
    uint32_t label_count, label_next;
    int64_t label_ids[LIMIT_LINES + 3];
    int64_t since;
    unsigned page;
    bool resolved, looked_twice;
};

struct channel_send {
    struct channels *channels;
    struct channel_send *next, *before; /* list of those in progress, or of those that have ended */
    enum channel_kind kind;
    const char *service; /* for people */
    uint64_t deadline;   /* loop clock, milliseconds */
    struct words token, ca_path, proxy;
    struct http http;
    struct tracker *tracker;
    struct program *program;
    channel_sent *done;
    void *with;
    bool ended;
    enum send_result result;
    int64_t again_at;
    struct words reference, url, why;
};

/* Starts a send of one kind: makes a request, or ends the send at once. */
typedef void channel_begin(struct channel_send *send, const struct channel *channel,
                           const struct notice *notice);
#define CHANNEL_DECLARED(number, constant, name, sort, needs, shown, begin) channel_begin begin;
CHANNEL_LIST(CHANNEL_DECLARED)
#undef CHANNEL_DECLARED

void pull_begin(struct channel_send *send, const struct channel *channel, const struct pull *pull);

/* ---- requests to a forge: see channel_tracker.c ---- */

/* In a path, `%R` is the repository, `%O` its owner, `%N` the earlier issue, `%H` the branch. */
void forge_begin(struct channel_send *send,
                 const struct channel *channel); /* sets its address and repository */
void forge_address(struct channel_send *send, const char *path, const char *query);
void forge_address_add(struct channel_send *send, const char *path);
void forge_ask(struct channel_send *send, const char *method, http_answered *answered);
json_t *forge_json(const struct http_answer *answer); /* NULL: the answer has no JSON */
bool forge_keep(struct channel_send *send, const json_t *issue, const char *number_name);
bool forge_has_mark(const struct channel_send *send, const json_t *entry, const char *member);

struct channels {
    uv_loop_t *loop;
    int64_t (*now)(void);
    struct channels_http *http;
    uv_timer_t teller;                   /* reports ended sends when the loop comes around */
    struct channel_send *busy, *endings; /* endings: oldest first */
    unsigned count;                      /* sends in both lists */
    unsigned handles;                    /* still open; the last one to close frees this */
    bool stopping;
};

void channel_sends_report(struct channels *channels); /* calls back for each send that has ended */
/* Ends the send; the outcome is reported when the loop comes around. */
void channel_send_end(struct channel_send *send, enum send_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t channel_send_left_ms(const struct channel_send *send);
int64_t channel_send_now(const struct channel_send *send);

/* ESCALATE-10: reads a token when it is needed. False: the send has ended with the reason. */
bool token_read(struct channel_send *send, struct str path, struct words *to);

struct channels_http; /* the part of channels that channel_http.c owns */
struct channels_http *channels_http_start(uv_loop_t *loop);
void channels_http_stop(struct channels_http *http, void (*closed)(void *with), void *with);
struct channels_http *channel_send_http(const struct channel_send *send);
uv_loop_t *channel_send_loop(const struct channel_send *send);

/* ---- texts that several services share: see channel_text.c ---- */

void text_title(struct words *words, enum markup markup, const struct notice *notice, size_t most);
void text_facts(struct words *words, enum markup markup, const struct notice *notice,
                const char *line_end);
void text_question(struct words *words, enum markup markup, const struct notice *notice,
                   const char *before);
void text_issue(struct words *words, const struct notice *notice);
void text_json(struct words *words, const struct notice *notice); /* ESCALATE-11 */
void text_goal(const struct notice *notice, char text[5 + ID_TEXT + 1]);
