/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a notice with a single HTTP request: signed webhook, Slack, Discord, PagerDuty and ntfy, as their public
 * documentation describes. */
#include "channels/channel_state.h"

#include "base/sha256.h"

#include <stdio.h>

/* Each service's limits, in characters. We count bytes, and there are never fewer bytes than characters. */
enum {
    SLACK_HEADER = 150,
    SLACK_SECTION = 3000,
    SLACK_TEXT = 4000,
    DISCORD_CONTENT = 2000,
    DISCORD_TITLE = 256,
    DISCORD_DESCRIPTION = 3500, /* of 4096: a whole embed may have 6000 */
    DISCORD_FIELD = 1024,
    PAGERDUTY_SUMMARY = 1024,
    NTFY_TITLE = 250,
    NTFY_MESSAGE = 3900, /* of 4096 bytes: longer ones become a file */
};

/* ---- shared by these services ---- */

/* For the services here, the HTTP status alone says that they accepted the notice. */
static void hook_answered(struct channel_send *send, const struct http_answer *answer) {
    channel_send_end_by_answer(send, http_verdict(answer), answer);
}

/* Like hook_answered(), but keeps the answer's id, if there is one. */
static void message_answered(struct channel_send *send, const struct http_answer *answer) {
    json_t *json = answer->whole && answer->body.len > 0
                       ? json_loadb(answer->body.at, answer->body.len, 0, NULL)
                       : NULL;
    const char *id = json_string_value(json_object_get(json, "id"));
    if (id && http_verdict(answer) == SEND_DONE)
        words_escape_line(&send->reference, MARKUP_NONE, str_of(id), LIMIT_REFERENCE);
    json_decref(json);
    hook_answered(send, answer);
}

/* The address comes from the settings, or from a file if it is kept there as a secret. */
static bool address_take(struct channel_send *send, const struct channel *channel) {
    struct channel found = *channel;
    if (channel->url.len > 0) {
        words_add(&send->http.url, channel->url);
        words_add(&send->token, channel->url);
        return true;
    }
    if (!token_read(send, channel->token_path, &send->http.url))
        return false;
    found.url = words_str(&send->http.url);
    words_add(&send->token, found.url);
    if (channel_broken(&found))
        channel_send_end(send, SEND_REFUSED, "the channel %s", channel_broken(&found));
    return !channel_broken(&found);
}

/* ---- webhooks: ESCALATE-11 ---- */

static struct hash hmac(struct str key, struct str text) {
    uint8_t block[64] = {0}, inner_key[64], outer_key[64];
    struct sha256 sha;
    struct hash inner, short_key = sha256(key);
    if (key.len > sizeof block)
        memcpy(block, short_key.bytes, sizeof short_key.bytes);
    else if (key.len > 0)
        memcpy(block, key.at, key.len);
    for (size_t i = 0; i < sizeof block; i++) {
        inner_key[i] = block[i] ^ 0x36;
        outer_key[i] = block[i] ^ 0x5c;
    }
    sha256_begin(&sha);
    sha256_add(&sha, inner_key, sizeof inner_key);
    sha256_add(&sha, text.at, text.len);
    inner = sha256_end(&sha);
    sha256_begin(&sha);
    sha256_add(&sha, outer_key, sizeof outer_key);
    sha256_add(&sha, inner.bytes, sizeof inner.bytes);
    explicit_bzero(block, sizeof block);
    explicit_bzero(inner_key, sizeof inner_key);
    explicit_bzero(outer_key, sizeof outer_key);
    return sha256_end(&sha);
}

/* Signs the time and the body, so that an old request cannot be replayed as a new one. */
static void signature_make(const struct words *secret, const char *at, const struct words *body,
                           struct words *to) {
    struct words text = {0};
    words_format(&text, "%s.", at);
    words_add(&text, words_str(body));
    struct hash hash = hmac(words_str(secret), words_str(&text));
    words_add(to, STR("sha256="));
    for (size_t i = 0; i < sizeof hash.bytes; i++)
        words_format(to, "%02x", hash.bytes[i]);
    words_free(&text);
}

static void webhook_ask(struct channel_send *send, const struct words *secret, const char *id) {
    struct words signature = {0}, bearer = {0};
    struct http_header headers[6];
    char at[24];
    size_t count = 0;
    snprintf(at, sizeof at, "%lld", (long long)(channel_send_now(send) / 1000000));
    headers[count++] = (struct http_header){"X-Overseer-Id", str_of(id)};
    headers[count++] = (struct http_header){"Idempotency-Key", str_of(id)};
    headers[count++] = (struct http_header){"X-Overseer-Timestamp", str_of(at)};
    if (secret->len > 0) {
        signature_make(secret, at, &send->http.body, &signature);
        headers[count++] = (struct http_header){"X-Overseer-Signature", words_str(&signature)};
    }
    if (send->token.len > 0) {
        words_format(&bearer, "Bearer ");
        words_add(&bearer, words_str(&send->token));
        headers[count++] = (struct http_header){"Authorization", words_str(&bearer)};
    }
    http_ask(send, "POST", headers, count, hook_answered);
    words_free(&signature);
    words_free(&bearer);
}

void webhook_begin(struct channel_send *send, const struct channel *channel,
                   const struct notice *notice) {
    struct words secret = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    words_add(&send->http.url, channel->url);
    text_json(&send->http.body, notice);
    bool right = channel->secret_path.len == 0 || token_read(send, channel->secret_path, &secret);
    if (right && channel->token_path.len > 0)
        right = token_read(send, channel->token_path, &send->token);
    if (right)
        webhook_ask(send, &secret, id);
    words_free(&secret);
}

/* ---- Slack: incoming webhooks ---- */

/* The whole notice as one text, for a service with markup. */
static void whole_text(struct words *to, enum markup markup, const struct notice *notice,
                       size_t most) {
    struct words question = {0};
    text_question(&question, markup, notice, "");
    size_t kept = question.len < most / 2 ? question.len : most / 2;
    words_escape(to, markup, notice->text.len > 0 ? notice->text : notice->reason, most - kept - 2);
    if (question.len > 0 && question.len <= most / 2) {
        words_add(to, STR("\n\n"));
        words_add(to, words_str(&question));
    }
    words_free(&question);
}

static void slack_block(struct words *body, const char *kind, const char *text_kind,
                        const struct words *text) {
    out_begin(body, NULL, '{');
    out_text(body, "type", str_of(kind));
    out_begin(body, "text", '{');
    out_text(body, "type", str_of(text_kind));
    out_text(body, "text", words_str(text));
    if (strcmp(text_kind, "mrkdwn") == 0)
        out_flag(body, "verbatim", true); /* names and links in it stay plain text */
    out_end(body, '}');
    out_end(body, '}');
}

void slack_begin(struct channel_send *send, const struct channel *channel,
                 const struct notice *notice) {
    struct words *body = &send->http.body, title = {0}, head = {0}, text = {0}, facts = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    if (!address_take(send, channel))
        return;
    text_title(&title, MARKUP_ENTITIES, notice, SLACK_TEXT);
    text_title(&head, MARKUP_NONE, notice, SLACK_HEADER);
    whole_text(&text, MARKUP_ENTITIES, notice, SLACK_SECTION);
    text_facts(&facts, MARKUP_ENTITIES, notice, "\n");
    words_format(&facts, "notice %s", id);
    out_begin(body, NULL, '{');
    out_text(body, "text", words_str(&title));
    out_begin(body, "blocks", '[');
    slack_block(body, "header", "plain_text", &head);
    if (text.len > 0)
        slack_block(body, "section", "mrkdwn", &text);
    slack_block(body, "section", "mrkdwn", &facts);
    out_end(body, ']');
    out_flag(body, "unfurl_links", false);
    out_end(body, '}');
    http_ask(send, "POST", NULL, 0, hook_answered);
    words_free(&title);
    words_free(&head);
    words_free(&text);
    words_free(&facts);
}

/* ---- Discord: execute webhook ---- */

static void discord_embed(struct words *body, const struct notice *notice, const char *id) {
    static const int64_t COLOUR[ALARMS] = {0x3498DB, 0xF1C40F, 0xE67E22, 0xE74C3C};
    struct words title = {0}, text = {0}, facts = {0};
    words_escape_line(&title, MARKUP_MARKDOWN, notice->title, DISCORD_TITLE);
    whole_text(&text, MARKUP_MARKDOWN, notice, DISCORD_DESCRIPTION);
    text_facts(&facts, MARKUP_NONE, notice, ", ");
    out_begin(body, NULL, '{');
    out_text(body, "title", words_str(&title));
    out_text(body, "description", words_str(&text));
    out_number(body, "color", COLOUR[notice->alarm]);
    out_time(body, "timestamp", notice->at);
    out_begin(body, "footer", '{');
    words_format(&facts, "notice %s", id);
    out_text(body, "text", str_cut_utf8(words_str(&facts), DISCORD_FIELD));
    out_end(body, '}');
    if (notice->url.len > 0)
        out_text(body, "url", notice->url);
    out_end(body, '}');
    words_free(&title);
    words_free(&text);
    words_free(&facts);
}

void discord_begin(struct channel_send *send, const struct channel *channel,
                   const struct notice *notice) {
    struct words *body = &send->http.body, content = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    if (!address_take(send, channel))
        return;
    bool has_query = send->http.url.len > 0 && strchr(send->http.url.at, '?');
    words_format(&send->http.url, "%cwait=true", has_query ? '&' : '?');
    text_title(&content, MARKUP_MARKDOWN, notice, DISCORD_CONTENT);
    out_begin(body, NULL, '{');
    out_text(body, "username", STR("Overseer"));
    out_text(body, "content", words_str(&content));
    out_begin(body, "embeds", '[');
    discord_embed(body, notice, id);
    out_end(body, ']');
    out_begin(body, "allowed_mentions", '{'); /* an agent's text cannot mention anyone */
    out_begin(body, "parse", '[');
    out_end(body, ']');
    out_end(body, '}');
    out_end(body, '}');
    http_ask(send, "POST", NULL, 0, message_answered);
    words_free(&content);
}

/* ---- PagerDuty: Events API v2 ---- */

/* G-23: the same cause in the same goal is the same incident, so that a resolve finds it. */
static void pagerduty_key(struct words *to, const struct notice *notice) {
    char goal[5 + ID_TEXT + 1];
    text_goal(notice, goal);
    words_format(to, "overseer/%s/", goal);
    words_escape_line(to, MARKUP_NONE, notice->cause, LIMIT_CAUSE);
}

static void pagerduty_payload(struct words *body, const struct notice *notice) {
    static const char *const SEVERITY[ALARMS] = {"info", "warning", "error", "critical"};
    struct words summary = {0}, source = {0};
    char goal[5 + ID_TEXT + 1];
    text_goal(notice, goal);
    text_title(&summary, MARKUP_NONE, notice, PAGERDUTY_SUMMARY);
    words_format(&source, "overseer/%s", goal);
    out_begin(body, "payload", '{');
    out_text(body, "summary", words_str(&summary));
    out_text(body, "source", words_str(&source));
    out_text(body, "severity", str_of(SEVERITY[notice->alarm]));
    out_time(body, "timestamp", notice->at);
    if (notice->node.len > 0)
        out_text(body, "component", notice->node);
    out_text(body, "class", notice->rule.len > 0 ? notice->rule : STR("overseer"));
    out_raw(body, "custom_details", STR(""));
    text_json(body, notice);
    out_end(body, '}');
    words_free(&summary);
    words_free(&source);
}

static void pagerduty_links(struct words *body, const struct notice *notice) {
    out_text(body, "client", STR("Overseer"));
    if (notice->url.len == 0)
        return;
    out_text(body, "client_url", notice->url);
    out_begin(body, "links", '[');
    out_begin(body, NULL, '{');
    out_text(body, "href", notice->url);
    out_text(body, "text", STR("Overseer"));
    out_end(body, '}');
    out_end(body, ']');
}

void pagerduty_begin(struct channel_send *send, const struct channel *channel,
                     const struct notice *notice) {
    struct words *body = &send->http.body;
    bool resolves = notice->kind == NOTICE_RESOLVED;
    if (!token_read(send, channel->token_path, &send->token))
        return;
    words_add(&send->http.url,
              channel->url.len > 0 ? channel->url : STR("https://events.pagerduty.com/v2/enqueue"));
    pagerduty_key(&send->reference, notice);
    out_begin(body, NULL, '{');
    out_text(body, "routing_key", words_str(&send->token));
    out_text(body, "event_action", resolves ? STR("resolve") : STR("trigger"));
    out_text(body, "dedup_key", words_str(&send->reference));
    if (!resolves) {
        pagerduty_payload(body, notice);
        pagerduty_links(body, notice);
    }
    out_end(body, '}');
    http_ask(send, "POST", NULL, 0, hook_answered);
}

/* ---- ntfy: publish as JSON ---- */

/* A notice sent again with the same sequence_id replaces the first one, if the server supports that (2.16). */
static void ntfy_body(struct words *body, const struct channel *channel,
                      const struct notice *notice) {
    static const int64_t PRIORITY[ALARMS] = {2, 3, 4, 5};
    static const char *const TAG[ALARMS] = {"information_source", "warning", "warning",
                                            "rotating_light"};
    struct words title = {0}, text = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    text_title(&title, MARKUP_NONE, notice, NTFY_TITLE);
    whole_text(&text, MARKUP_NONE, notice, NTFY_MESSAGE - 600);
    words_add(&text, STR("\n"));
    text_facts(&text, MARKUP_NONE, notice, "\n");
    out_begin(body, NULL, '{');
    out_text(body, "topic", channel->to);
    out_text(body, "title", words_str(&title));
    out_text(body, "message", str_cut_utf8(words_str(&text), NTFY_MESSAGE));
    out_number(body, "priority", PRIORITY[notice->alarm]);
    out_begin(body, "tags", '[');
    out_text(body, NULL, str_of(TAG[notice->alarm]));
    out_end(body, ']');
    out_text(body, "sequence_id", str_of(id));
    if (notice->url.len > 0)
        out_text(body, "click", notice->url);
    out_end(body, '}');
    words_free(&title);
    words_free(&text);
}

void ntfy_begin(struct channel_send *send, const struct channel *channel,
                const struct notice *notice) {
    struct words bearer = {0};
    words_add(&send->http.url, channel->url);
    if (channel->token_path.len > 0 && !token_read(send, channel->token_path, &send->token))
        return;
    ntfy_body(&send->http.body, channel, notice);
    words_format(&bearer, "Bearer ");
    words_add(&bearer, words_str(&send->token));
    struct http_header header = {"Authorization", words_str(&bearer)};
    http_ask(send, "POST", &header, send->token.len > 0, message_answered);
    words_free(&bearer);
}
