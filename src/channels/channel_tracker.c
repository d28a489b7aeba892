/* SPDX-License-Identifier: Apache-2.0 */
/* Reports a notice to an issue tracker, once. Gitea (and Forgejo), GitHub, GitLab.
 *
 *   look for our mark ──found──────────────────────────────────▶ done
 *     │ (only after a try whose outcome is unknown)
 *     ▼
 *   is the earlier issue open? ──yes──▶ comment ──resolved──▶ close ──▶ done
 *     │ (only if there is one)
 *     ▼
 *   labels (Gitea wants their numbers) ──▶ create ──▶ done
 *
 * Each step ends the send or makes the next request. Read-only steps may be repeated freely. */
#include "base/memory.h"
#include "channels/channel_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { ISSUE_TITLE = 250 }; /* of 255 */

/* Each forge's names. `%R` is the repository, `%N` the issue's number. */
static const struct forge {
    const char *base, *path_end; /* default address; path to append to an address without one */
    const char *issues, *issue, *comments;
    const char *number, *body, *text; /* members: an issue's number and body; a comment's body */
    const char *issues_since,
        *comments_since; /* queries for new entries, newest first where supported */
    const char *page_size;
    const char *token_header, *token_before;
    const char *close_method, *close_body;
} FORGES[] = {
    [CHANNEL_GITEA] = {NULL, "/api/v1", "/repos/%R/issues", "/repos/%R/issues/%N",
                       "/repos/%R/issues/%N/comments", "number", "body", "body",
                       "?state=all&type=issues&since=", "?since=", "limit", "Authorization",
                       "token ", "PATCH", "{\"state\":\"closed\"}"},
    [CHANNEL_GITHUB] = {"https://api.github.com", "", "/repos/%R/issues", "/repos/%R/issues/%N",
                        "/repos/%R/issues/%N/comments", "number", "body", "body",
                        "?state=all&sort=created&direction=desc&since=", "?since=", "per_page",
                        "Authorization", "Bearer ", "PATCH",
                        "{\"state\":\"closed\",\"state_reason\":\"completed\"}"},
    [CHANNEL_GITLAB] = {"https://gitlab.com", "/api/v4", "/projects/%R/issues",
                        "/projects/%R/issues/%N", "/projects/%R/issues/%N/notes", "iid",
                        "description", "body",
                        "?scope=all&order_by=created_at&sort=desc&updated_after=",
                        "?order_by=created_at&sort=desc", "per_page", "PRIVATE-TOKEN", "", "PUT",
                        "{\"state_event\":\"close\"}"},
};

static const struct forge *forge_of(const struct channel_send *send) {
    return &FORGES[send->kind];
}

/* ---- requests ---- */

static void repo_add(struct channel_send *send, struct words *url) {
    const struct words *repo = &send->tracker->repo;
    if (send->kind == CHANNEL_GITLAB) { /* one path component, with its slashes escaped */
        words_url(url, words_str(repo));
        return;
    }
    size_t from = 0;
    for (size_t i = 0; i <= repo->len; i++)
        if (i == repo->len || repo->at[i] == '/') {
            words_add(url, from ? STR("/") : STR(""));
            words_url(url, (struct str){repo->at + from, i - from});
            from = i + 1;
        }
}

void forge_address_add(struct channel_send *send, const char *path) {
    struct words *url = &send->http.url;
    const struct words *repo = &send->tracker->repo;
    for (; *path; path++) {
        if (path[0] == '%' && path[1] == 'R')
            repo_add(send, url);
        else if (path[0] == '%' && path[1] == 'N')
            words_url(url, words_str(&send->tracker->earlier));
        else if (path[0] == '%' && path[1] == 'H')
            words_url(url, words_str(&send->tracker->head));
        else if (path[0] == '%' && path[1] == 'O')
            words_url(url, (struct str){repo->at, strcspn(words_cstr(repo), "/")});
        else
            words_add(url, (struct str){path, 1});
        path += path[0] == '%';
    }
}

void forge_address(struct channel_send *send, const char *path, const char *query) {
    words_clear(&send->http.url);
    words_add(&send->http.url, words_str(&send->tracker->base));
    forge_address_add(send, path);
    words_add(&send->http.url, str_of(query));
}

void forge_ask(struct channel_send *send, const char *method, http_answered *answered) {
    const struct forge *forge = forge_of(send);
    struct words token = {0};
    words_add(&token, str_of(forge->token_before));
    words_add(&token, words_str(&send->token));
    struct http_header headers[] = {{forge->token_header, words_str(&token)},
                                    {"Accept", send->kind == CHANNEL_GITHUB
                                                   ? STR("application/vnd.github+json")
                                                   : STR("application/json")},
                                    {"X-GitHub-Api-Version", STR("2022-11-28")}};
    http_ask(send, method, headers, send->kind == CHANNEL_GITHUB ? 3 : 2, answered);
    words_free(&token);
}

json_t *forge_json(const struct http_answer *answer) {
    return answer->whole && answer->body.len > 0
               ? json_loadb(answer->body.at, answer->body.len, 0, NULL)
               : NULL;
}

/* ESCALATE-12: keeps the issue's number and address. False: the answer has none. */
bool forge_keep(struct channel_send *send, const json_t *issue, const char *number_name) {
    json_int_t number = json_integer_value(json_object_get(issue, number_name));
    const char *url = json_string_value(json_object_get(issue, "html_url"));
    const char *gitlab = json_string_value(json_object_get(issue, "web_url"));
    if (number <= 0)
        return false;
    words_clear(&send->reference);
    words_clear(&send->url);
    words_format(&send->reference, "%lld", (long long)number);
    words_escape_line(&send->url, MARKUP_NONE, str_of(url ? url : gitlab ? gitlab : ""), LIMIT_URL);
    return true;
}

static bool issue_keep(struct channel_send *send, const json_t *issue) {
    return forge_keep(send, issue, forge_of(send)->number);
}

static void end_done(struct channel_send *send) {
    channel_send_end(send, SEND_DONE, "%s", "");
}

/* ---- closing ---- */

static void closed(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict(answer);
    bool gone = answer->status == 404 || answer->status == 410;
    channel_send_end_by_answer(send, gone ? SEND_DONE : result, answer);
}

static void issue_close(struct channel_send *send) {
    const struct forge *forge = forge_of(send);
    forge_address(send, forge->issue, "");
    words_clear(&send->http.body);
    words_add(&send->http.body, str_of(forge->close_body));
    forge_ask(send, forge->close_method, closed);
}

static void comment_is_there(struct channel_send *send) {
    if (send->tracker->resolved)
        issue_close(send);
    else
        end_done(send);
}

/* ---- creating ---- */

/* If the forge accepted the issue but its number cannot be read, the next try looks for it. */
static void created(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict(answer);
    json_t *issue = result == SEND_DONE ? forge_json(answer) : NULL;
    bool kept = result == SEND_DONE && issue_keep(send, issue);
    json_decref(issue);
    if (result == SEND_DONE && !kept)
        channel_send_end(send, SEND_UNKNOWN,
                         "%s answered %ld without an issue that can be read%s%s", send->service,
                         answer->status, answer->whole ? "" : ": ",
                         answer->whole ? "" : answer->why);
    else
        channel_send_end_by_answer(send, result, answer);
}

static void labels_put(struct channel_send *send, struct words *body) {
    const struct tracker *tracker = send->tracker;
    if (send->kind == CHANNEL_GITLAB) {
        struct words list = {0};
        for (uint32_t i = 0; i < tracker->label_count; i++) {
            words_add(&list, i ? STR(",") : STR(""));
            words_add(&list, words_str(&tracker->label_names[i]));
        }
        out_text(body, "labels", words_str(&list));
        words_free(&list);
        return;
    }
    out_begin(body, "labels", '[');
    for (uint32_t i = 0; i < tracker->label_count; i++)
        if (send->kind == CHANNEL_GITHUB)
            out_text(body, NULL, words_str(&tracker->label_names[i]));
        else if (tracker->label_ids[i] > 0)
            out_number(body, NULL, tracker->label_ids[i]);
    out_end(body, ']');
}

static void assignee_put(struct channel_send *send, struct words *body) {
    const struct words *to = &send->tracker->to;
    if (to->len == 0)
        return;
    if (send->kind == CHANNEL_GITLAB) {
        out_begin(body, "assignee_ids", '[');
        out_number(body, NULL, strtoll(words_cstr(to), NULL, 10));
    } else {
        out_begin(body, "assignees", '[');
        out_text(body, NULL, words_str(to));
    }
    out_end(body, ']');
}

static void issue_create(struct channel_send *send) {
    const struct forge *forge = forge_of(send);
    struct words *body = &send->http.body;
    forge_address(send, forge->issues, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "title", words_str(&send->tracker->title));
    out_text(body, forge->body, words_str(&send->tracker->body));
    labels_put(send, body);
    assignee_put(send, body);
    out_end(body, '}');
    forge_ask(send, "POST", created);
}

/* ---- Gitea's labels: ESCALATE-09 ---- */

static void label_next(struct channel_send *send);

/* An issue without its label is better than no issue. */
static void label_created(struct channel_send *send, const struct http_answer *answer) {
    struct tracker *tracker = send->tracker;
    json_t *label = http_verdict(answer) == SEND_DONE ? forge_json(answer) : NULL;
    tracker->label_ids[tracker->label_next++] = json_integer_value(json_object_get(label, "id"));
    json_decref(label);
    label_next(send);
}

static void label_create(struct channel_send *send) {
    struct tracker *tracker = send->tracker;
    struct words *body = &send->http.body;
    forge_address(send, "/repos/%R/labels", "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "name", words_str(&tracker->label_names[tracker->label_next]));
    out_text(body, "color", STR("#b60205"));
    out_end(body, '}');
    forge_ask(send, "POST", label_created);
}

static void label_next(struct channel_send *send) {
    struct tracker *tracker = send->tracker;
    while (tracker->label_next < tracker->label_count &&
           tracker->label_ids[tracker->label_next] > 0)
        tracker->label_next++;
    if (tracker->label_next < tracker->label_count)
        label_create(send);
    else
        issue_create(send);
}

static void labels_note(struct tracker *tracker, const json_t *labels) {
    size_t place;
    json_t *label;
    json_array_foreach(labels, place, label) {
        struct str name = str_of(json_string_value(json_object_get(label, "name")));
        for (uint32_t i = 0; i < tracker->label_count; i++)
            if (name.at && str_equal(name, words_str(&tracker->label_names[i])))
                tracker->label_ids[i] = json_integer_value(json_object_get(label, "id"));
    }
}

static void labels_read(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict_of_look(answer);
    json_t *labels = result == SEND_DONE ? forge_json(answer) : NULL;
    if (result == SEND_LATER) {
        channel_send_end_by_answer(send, result, answer);
        return;
    }
    labels_note(send->tracker, labels);
    if (result == SEND_DONE && json_is_array(labels))
        label_next(send);
    else
        issue_create(send);
    json_decref(labels);
}

static void issue_new(struct channel_send *send) {
    if (send->kind != CHANNEL_GITEA) {
        issue_create(send);
        return;
    }
    forge_address(send, "/repos/%R/labels", "?limit=50");
    forge_ask(send, "GET", labels_read);
}

/* ---- commenting: ESCALATE-15 ---- */

/* An issue that was locked or moved meanwhile takes no comment: then a new issue is created. */
static void commented(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict(answer);
    if (result == SEND_DONE)
        comment_is_there(send);
    else if (result == SEND_REFUSED && answer->status != 401 && !send->tracker->resolved)
        issue_new(send);
    else
        channel_send_end_by_answer(send, result, answer);
}

static void comment_create(struct channel_send *send) {
    struct words *body = &send->http.body;
    forge_address(send, forge_of(send)->comments, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "body", words_str(&send->tracker->body));
    out_end(body, '}');
    forge_ask(send, "POST", commented);
}

/* If the earlier issue was closed or is gone, a new one is created. */
static void earlier_read(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict_of_look(answer);
    bool gone = answer->status == 404 || answer->status == 410;
    if (result != SEND_DONE && !gone) {
        channel_send_end_by_answer(send, result, answer);
        return;
    }
    json_t *issue = result == SEND_DONE ? forge_json(answer) : NULL;
    const char *state = json_string_value(json_object_get(issue, "state"));
    bool open = state && strcmp(state, "closed") != 0;
    if (open)
        issue_keep(send, issue);
    json_decref(issue);
    if (open)
        comment_create(send);
    else if (send->tracker->resolved)
        end_done(send);
    else
        issue_new(send);
}

static void proceed(struct channel_send *send) {
    if (send->tracker->earlier.len > 0) {
        forge_address(send, forge_of(send)->issue, "");
        forge_ask(send, "GET", earlier_read);
    } else if (send->tracker->resolved) {
        end_done(send); /* no issue is open there */
    } else {
        issue_new(send);
    }
}

/* ---- looking for the result of an earlier try ---- */

/* The mark counts only at the very end: the text before it may come from anyone. */
bool forge_has_mark(const struct channel_send *send, const json_t *entry, const char *member) {
    const char *text = json_string_value(json_object_get(entry, member));
    struct str whole = str_of(text), mark = words_str(&send->tracker->marker);
    while (whole.len > 0 && strchr(" \r\n", whole.at[whole.len - 1]))
        whole.len--;
    return whole.len >= mark.len && memcmp(whole.at + whole.len - mark.len, mark.at, mark.len) == 0;
}

typedef bool mark_seen(struct channel_send *send, const json_t *entry);

static bool issue_is_ours(struct channel_send *send, const json_t *issue) {
    return forge_has_mark(send, issue, forge_of(send)->body) && issue_keep(send, issue);
}

static bool comment_is_ours(struct channel_send *send, const json_t *comment) {
    return forge_has_mark(send, comment, forge_of(send)->text);
}

static bool list_has(struct channel_send *send, const struct http_answer *answer,
                     mark_seen *is_ours, bool *ret_more) {
    json_t *list = forge_json(answer), *entry;
    size_t place;
    bool found = false;
    json_array_foreach(list, place, entry) found = found || is_ours(send, entry);
    *ret_more =
        json_array_size(list) == LIMIT_LOOK_PAGE && ++send->tracker->page <= LIMIT_LOOK_PAGES;
    json_decref(list);
    return found;
}

/* If the look is not possible, the message is sent anyway: delivering it at least once has priority. */
static bool look_failed(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict_of_look(answer);
    if (result == SEND_LATER && !send->http.too_long)
        channel_send_end_by_answer(send, result, answer);
    else if (result != SEND_DONE)
        proceed(send);
    return result != SEND_DONE;
}

/* Looks from a little before the first try of the message: clocks differ. */
static void look(struct channel_send *send, const char *path, const char *query, bool has_since,
                 http_answered *answered) {
    const struct tracker *tracker = send->tracker;
    char since[TIME_TEXT + 1] = "", whole[240];
    if (has_since) {
        time_format(tracker->since, since);
        memcpy(since + strlen("2026-11-15T00:16:22"), "Z",
               2); /* not every forge accepts a fraction */
    }
    snprintf(whole, sizeof whole, "%s%s&%s=%d&page=%u", query, since, forge_of(send)->page_size,
             LIMIT_LOOK_PAGE, tracker->page);
    forge_address(send, path, whole);
    forge_ask(send, "GET", answered);
}

static void issues_seen(struct channel_send *send, const struct http_answer *answer);

static void look_at_issues(struct channel_send *send) {
    look(send, forge_of(send)->issues, forge_of(send)->issues_since, true, issues_seen);
}

static void issues_seen(struct channel_send *send, const struct http_answer *answer) {
    bool more;
    if (look_failed(send, answer))
        return;
    if (list_has(send, answer, issue_is_ours, &more))
        end_done(send);
    else if (more)
        look_at_issues(send);
    else
        proceed(send);
}

static void comments_seen(struct channel_send *send, const struct http_answer *answer);

static void look_at_comments(struct channel_send *send) {
    look(send, forge_of(send)->comments, forge_of(send)->comments_since,
         send->kind != CHANNEL_GITLAB, comments_seen);
}

static void comments_seen(struct channel_send *send, const struct http_answer *answer) {
    bool more;
    if (look_failed(send, answer))
        return;
    if (list_has(send, answer, comment_is_ours, &more)) {
        words_add(&send->reference, words_str(&send->tracker->earlier));
        comment_is_there(send);
    } else if (more) {
        look_at_comments(send);
    } else {
        send->tracker->page = 1;
        look_at_issues(send);
    }
}

/* ---- starting ---- */

void forge_begin(struct channel_send *send, const struct channel *channel) {
    const struct forge *forge = forge_of(send);
    struct str url = channel->url.len > 0 ? channel->url : str_of(forge->base);
    while (url.len > 0 && url.at[url.len - 1] == '/')
        url.len--;
    words_add(&send->tracker->base, url);
    if (!strstr(words_cstr(&send->tracker->base), "/api/"))
        words_add(&send->tracker->base, str_of(forge->path_end));
    words_add(&send->tracker->repo, channel->repo);
}

/* The earlier issue may be named by its number or by its address. */
static void earlier_take(struct tracker *tracker, struct str earlier) {
    size_t from = earlier.len;
    while (from > 0 && earlier.at[from - 1] >= '0' && earlier.at[from - 1] <= '9')
        from--;
    words_add(&tracker->earlier, (struct str){earlier.at + from, earlier.len - from});
}

/* ESCALATE-09: the product's label, the level, and "automated". */
static void labels_take(struct tracker *tracker, const struct channel *channel,
                        const struct notice *notice) {
    struct words *names = tracker->label_names;
    words_add(&names[0], STR("overseer"));
    words_add(&names[1], str_of(name_of(&ALARM_NAMES, notice->alarm)));
    words_add(&names[2], STR("automated"));
    tracker->label_count = 3;
    for (uint32_t i = 0; i < channel->labels.count && i < LIMIT_LINES; i++)
        words_add(&names[tracker->label_count++], channel->labels.at[i]);
}

static void tracker_fill(struct channel_send *send, const struct channel *channel,
                         const struct notice *notice) {
    struct tracker *tracker = send->tracker;
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    tracker->since = notice->at - MINUTES(60);
    tracker->page = 1;
    tracker->resolved = notice->kind == NOTICE_RESOLVED;
    forge_begin(send, channel);
    words_add(&tracker->to, channel->to);
    earlier_take(tracker, notice->attempt.earlier);
    labels_take(tracker, channel, notice);
    words_format(&tracker->marker, "<!-- overseer-notice %s -->", id);
    text_title(&tracker->title, MARKUP_NONE, notice, ISSUE_TITLE);
    text_issue(&tracker->body, notice);
    words_format(&tracker->body, "\n%s\n", words_cstr(&tracker->marker));
}

void tracker_begin(struct channel_send *send, const struct channel *channel,
                   const struct notice *notice) {
    send->tracker = memory_new(sizeof *send->tracker);
    tracker_fill(send, channel, notice);
    if (!token_read(send, channel->token_path, &send->token))
        return;
    if (!notice->attempt.unsure)
        proceed(send);
    else if (send->tracker->earlier.len > 0)
        look_at_comments(send);
    else
        look_at_issues(send);
}
