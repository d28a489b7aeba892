/* SPDX-License-Identifier: Apache-2.0 */
/* How is it said by one request? A signed webhook, Slack, Discord, PagerDuty and ntfy, as their public descriptions ask. */
#include "ports/channel_state.h"

#include "base/sha256.h"

#include <stdio.h>

/* Each service's own bounds, in characters; we count bytes, which are never fewer. */
enum {
    SLACK_HEADER = 150,
    SLACK_SECTION = 3000,
    SLACK_TEXT = 4000,
    DISCORD_CONTENT = 2000,
    DISCORD_TITLE = 256,
    DISCORD_DESCRIPTION = 3500, /* of 4096: all of an embed together may have 6000 */
    DISCORD_FIELD = 1024,
    PAGERDUTY_SUMMARY = 1024,
    NTFY_TITLE = 250,
    NTFY_MESSAGE = 3900, /* of 4096 bytes: longer ones become a file */
};

/* ---- what they share ---- */

/* The services that matter here say with the status alone that they have taken it. */
static void hook_answered(struct saying *saying, const struct http_answer *answer) {
    saying_end_by_answer(saying, http_verdict(answer), answer);
}

/* As hook_answered(); the answer's id is kept, if it has one. */
static void message_answered(struct saying *saying, const struct http_answer *answer) {
    json_t *json = answer->whole && answer->body.len > 0
                       ? json_loadb(answer->body.at, answer->body.len, 0, NULL)
                       : NULL;
    const char *id = json_string_value(json_object_get(json, "id"));
    if (id && http_verdict(answer) == SAID_DONE)
        words_escape_line(&saying->reference, MARKUP_NONE, str_of(id), LIMIT_REFERENCE);
    json_decref(json);
    hook_answered(saying, answer);
}

/* The address: from the settings, or from the file that it is kept in because it is a secret. */
static bool address_take(struct saying *saying, const struct channel *channel) {
    struct channel found = *channel;
    if (channel->url.len > 0) {
        words_add(&saying->http.url, channel->url);
        words_add(&saying->token, channel->url);
        return true;
    }
    if (!token_read(saying, channel->token_path, &saying->http.url))
        return false;
    found.url = words_str(&saying->http.url);
    words_add(&saying->token, found.url);
    if (channel_broken(&found))
        saying_end(saying, SAID_REFUSED, "the channel %s", channel_broken(&found));
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

/* Over the time and the body, so that an old request cannot be shown again as a new one. */
static void signature_make(const struct words *secret, const char *at, const struct words *body,
                           struct words *to) {
    struct words text = {0};
    words_format(&text, "%s.", at);
    words_add(&text, words_str(body));
    struct hash hash = hmac(words_str(secret), words_str(&text));
    words_add(to, STR("sha256="));
    for (size_t i = 0; i < sizeof hash.bytes; i++)
        words_format(to, "%02x", hash.bytes[i]);
    to->failed = to->failed || text.failed;
    words_free(&text);
}

static void webhook_ask(struct saying *saying, const struct words *secret, const char *id) {
    struct words signature = {0}, bearer = {0};
    struct http_header headers[6];
    char at[24];
    size_t count = 0;
    snprintf(at, sizeof at, "%lld", (long long)(saying_now(saying) / 1000000));
    headers[count++] = (struct http_header){"X-Overseer-Id", str_of(id)};
    headers[count++] = (struct http_header){"Idempotency-Key", str_of(id)};
    headers[count++] = (struct http_header){"X-Overseer-Timestamp", str_of(at)};
    if (secret->len > 0) {
        signature_make(secret, at, &saying->http.body, &signature);
        headers[count++] = (struct http_header){"X-Overseer-Signature", words_str(&signature)};
    }
    if (saying->token.len > 0) {
        words_format(&bearer, "Bearer ");
        words_add(&bearer, words_str(&saying->token));
        headers[count++] = (struct http_header){"Authorization", words_str(&bearer)};
    }
    if (signature.failed || bearer.failed)
        saying_end(saying, SAID_LATER, "there is no memory for a signature");
    else
        http_ask(saying, "POST", headers, count, hook_answered);
    words_free(&signature);
    words_free(&bearer);
}

void webhook_begin(struct saying *saying, const struct channel *channel,
                   const struct notice *notice) {
    struct words secret = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    words_add(&saying->http.url, channel->url);
    text_json(&saying->http.body, notice);
    bool right = channel->secret_path.len == 0 || token_read(saying, channel->secret_path, &secret);
    if (right && channel->token_path.len > 0)
        right = token_read(saying, channel->token_path, &saying->token);
    if (right)
        webhook_ask(saying, &secret, id);
    words_free(&secret);
}

/* ---- Slack: incoming webhooks ---- */

/* The notice in full, as one text of a service with markup. */
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
    to->failed = to->failed || question.failed;
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
        out_flag(body, "verbatim", true); /* names and links in it stay words */
    out_end(body, '}');
    out_end(body, '}');
}

void slack_begin(struct saying *saying, const struct channel *channel,
                 const struct notice *notice) {
    struct words *body = &saying->http.body, title = {0}, head = {0}, text = {0}, facts = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    if (!address_take(saying, channel))
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
    body->failed = body->failed || title.failed || head.failed || text.failed || facts.failed;
    http_ask(saying, "POST", NULL, 0, hook_answered);
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
    body->failed = body->failed || title.failed || text.failed || facts.failed;
    words_free(&title);
    words_free(&text);
    words_free(&facts);
}

void discord_begin(struct saying *saying, const struct channel *channel,
                   const struct notice *notice) {
    struct words *body = &saying->http.body, content = {0};
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    if (!address_take(saying, channel))
        return;
    bool has_query = saying->http.url.len > 0 && strchr(saying->http.url.at, '?');
    words_format(&saying->http.url, "%cwait=true", has_query ? '&' : '?');
    text_title(&content, MARKUP_MARKDOWN, notice, DISCORD_CONTENT);
    out_begin(body, NULL, '{');
    out_text(body, "username", STR("Overseer"));
    out_text(body, "content", words_str(&content));
    out_begin(body, "embeds", '[');
    discord_embed(body, notice, id);
    out_end(body, ']');
    out_begin(body, "allowed_mentions", '{'); /* nobody is called by a text of an agent's */
    out_begin(body, "parse", '[');
    out_end(body, ']');
    out_end(body, '}');
    out_end(body, '}');
    body->failed = body->failed || content.failed;
    http_ask(saying, "POST", NULL, 0, message_answered);
    words_free(&content);
}

/* ---- PagerDuty: Events API v2 ---- */

/* G-23: the same cause of the same goal is the same incident, and a resolve finds it. */
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
    body->failed = body->failed || summary.failed || source.failed;
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

void pagerduty_begin(struct saying *saying, const struct channel *channel,
                     const struct notice *notice) {
    struct words *body = &saying->http.body;
    bool resolves = notice->kind == NOTICE_RESOLVED;
    if (!token_read(saying, channel->token_path, &saying->token))
        return;
    words_add(&saying->http.url,
              channel->url.len > 0 ? channel->url : STR("https://events.pagerduty.com/v2/enqueue"));
    pagerduty_key(&saying->reference, notice);
    out_begin(body, NULL, '{');
    out_text(body, "routing_key", words_str(&saying->token));
    out_text(body, "event_action", resolves ? STR("resolve") : STR("trigger"));
    out_text(body, "dedup_key", words_str(&saying->reference));
    if (!resolves) {
        pagerduty_payload(body, notice);
        pagerduty_links(body, notice);
    }
    out_end(body, '}');
    body->failed = body->failed || saying->reference.failed;
    http_ask(saying, "POST", NULL, 0, hook_answered);
}

/* ---- ntfy: publish as JSON ---- */

/* What is sent again under the same sequence_id takes the place of the first, where the server knows that (2.16). */
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
    body->failed = body->failed || title.failed || text.failed;
    words_free(&title);
    words_free(&text);
}

void ntfy_begin(struct saying *saying, const struct channel *channel, const struct notice *notice) {
    struct words bearer = {0};
    words_add(&saying->http.url, channel->url);
    if (channel->token_path.len > 0 && !token_read(saying, channel->token_path, &saying->token))
        return;
    ntfy_body(&saying->http.body, channel, notice);
    words_format(&bearer, "Bearer ");
    words_add(&bearer, words_str(&saying->token));
    saying->http.body.failed = saying->http.body.failed || bearer.failed;
    struct http_header header = {"Authorization", words_str(&bearer)};
    http_ask(saying, "POST", &header, saying->token.len > 0, message_answered);
    words_free(&bearer);
}
