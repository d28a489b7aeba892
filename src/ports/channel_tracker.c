/* SPDX-License-Identifier: Apache-2.0 */
/* How does an issue tracker hear of it, once? Gitea (and Forgejo), GitHub, GitLab.
 *
 *   look for our mark ──found──────────────────────────────────▶ done
 *     │ (only after a try whose outcome is unknown)
 *     ▼
 *   is the earlier issue open? ──yes──▶ comment ──resolved──▶ close ──▶ done
 *     │ (only if there is one)
 *     ▼
 *   labels (Gitea wants their numbers) ──▶ create ──▶ done
 *
 * Each step ends the saying or asks for the next. Steps that only look may be repeated freely. */
#include "ports/channel_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { ISSUE_TITLE = 250 }; /* of 255 */

/* What each forge calls things. `%R` is the repository, `%N` the issue's number. */
static const struct forge {
    const char *base, *path_end; /* address of its own; what an address without a path lacks */
    const char *issues, *issue, *comments;
    const char *number, *body, *text; /* members: an issue's number and body; a comment's body */
    const char *issues_since, *comments_since; /* queries for what is new, newest first if it can */
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

static const struct forge *forge_of(const struct saying *saying) {
    return &FORGES[saying->kind];
}

/* ---- asking ---- */

static void repo_add(struct saying *saying, struct words *url) {
    const struct words *repo = &saying->tracker->repo;
    if (saying->kind == CHANNEL_GITLAB) { /* one part of the path, with its slashes hidden */
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

void forge_address_add(struct saying *saying, const char *path) {
    struct words *url = &saying->http.url;
    const struct words *repo = &saying->tracker->repo;
    for (; *path; path++) {
        if (path[0] == '%' && path[1] == 'R')
            repo_add(saying, url);
        else if (path[0] == '%' && path[1] == 'N')
            words_url(url, words_str(&saying->tracker->earlier));
        else if (path[0] == '%' && path[1] == 'H')
            words_url(url, words_str(&saying->tracker->head));
        else if (path[0] == '%' && path[1] == 'O')
            words_url(url, (struct str){repo->at, strcspn(words_cstr(repo), "/")});
        else
            words_add(url, (struct str){path, 1});
        path += path[0] == '%';
    }
}

void forge_address(struct saying *saying, const char *path, const char *query) {
    words_clear(&saying->http.url);
    words_add(&saying->http.url, words_str(&saying->tracker->base));
    forge_address_add(saying, path);
    words_add(&saying->http.url, str_of(query));
}

void forge_ask(struct saying *saying, const char *method, http_answered *answered) {
    const struct forge *forge = forge_of(saying);
    struct words token = {0};
    words_add(&token, str_of(forge->token_before));
    words_add(&token, words_str(&saying->token));
    struct http_header headers[] = {{forge->token_header, words_str(&token)},
                                    {"Accept", saying->kind == CHANNEL_GITHUB
                                                   ? STR("application/vnd.github+json")
                                                   : STR("application/json")},
                                    {"X-GitHub-Api-Version", STR("2022-11-28")}};
    saying->http.url.failed = saying->http.url.failed || token.failed;
    http_ask(saying, method, headers, saying->kind == CHANNEL_GITHUB ? 3 : 2, answered);
    words_free(&token);
}

json_t *forge_json(const struct http_answer *answer) {
    return answer->whole && answer->body.len > 0
               ? json_loadb(answer->body.at, answer->body.len, 0, NULL)
               : NULL;
}

/* ESCALATE-12: the issue's number and address. False: the answer has none. */
bool forge_keep(struct saying *saying, const json_t *issue, const char *number_name) {
    json_int_t number = json_integer_value(json_object_get(issue, number_name));
    const char *url = json_string_value(json_object_get(issue, "html_url"));
    const char *gitlab = json_string_value(json_object_get(issue, "web_url"));
    if (number <= 0)
        return false;
    words_clear(&saying->reference);
    words_clear(&saying->url);
    words_format(&saying->reference, "%lld", (long long)number);
    words_escape_line(&saying->url, MARKUP_NONE,
                      str_of(url      ? url
                             : gitlab ? gitlab
                                      : ""),
                      LIMIT_URL);
    return !saying->reference.failed && !saying->url.failed;
}

static bool issue_keep(struct saying *saying, const json_t *issue) {
    return forge_keep(saying, issue, forge_of(saying)->number);
}

static void end_done(struct saying *saying) {
    saying_end(saying, SAID_DONE, "%s", "");
}

/* ---- closing ---- */

static void closed(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict(answer);
    bool gone = answer->status == 404 || answer->status == 410;
    saying_end_by_answer(saying, gone ? SAID_DONE : said, answer);
}

static void issue_close(struct saying *saying) {
    const struct forge *forge = forge_of(saying);
    forge_address(saying, forge->issue, "");
    words_clear(&saying->http.body);
    words_add(&saying->http.body, str_of(forge->close_body));
    forge_ask(saying, forge->close_method, closed);
}

static void comment_is_there(struct saying *saying) {
    if (saying->tracker->resolved)
        issue_close(saying);
    else
        end_done(saying);
}

/* ---- creating ---- */

/* Taken, but nobody can say as which number: the next try looks for it. */
static void created(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict(answer);
    json_t *issue = said == SAID_DONE ? forge_json(answer) : NULL;
    bool kept = said == SAID_DONE && issue_keep(saying, issue);
    json_decref(issue);
    if (said == SAID_DONE && !kept)
        saying_end(saying, SAID_UNKNOWN, "%s answered %ld without an issue that can be read%s%s",
                   saying->service, answer->status, answer->whole ? "" : ": ",
                   answer->whole ? "" : answer->why);
    else
        saying_end_by_answer(saying, said, answer);
}

static void labels_put(struct saying *saying, struct words *body) {
    const struct tracker *tracker = saying->tracker;
    if (saying->kind == CHANNEL_GITLAB) {
        struct words list = {0};
        for (uint32_t i = 0; i < tracker->label_count; i++) {
            words_add(&list, i ? STR(",") : STR(""));
            words_add(&list, words_str(&tracker->label_names[i]));
        }
        out_text(body, "labels", words_str(&list));
        body->failed = body->failed || list.failed;
        words_free(&list);
        return;
    }
    out_begin(body, "labels", '[');
    for (uint32_t i = 0; i < tracker->label_count; i++)
        if (saying->kind == CHANNEL_GITHUB)
            out_text(body, NULL, words_str(&tracker->label_names[i]));
        else if (tracker->label_ids[i] > 0)
            out_number(body, NULL, tracker->label_ids[i]);
    out_end(body, ']');
}

static void assignee_put(struct saying *saying, struct words *body) {
    const struct words *to = &saying->tracker->to;
    if (to->len == 0)
        return;
    if (saying->kind == CHANNEL_GITLAB) {
        out_begin(body, "assignee_ids", '[');
        out_number(body, NULL, strtoll(words_cstr(to), NULL, 10));
    } else {
        out_begin(body, "assignees", '[');
        out_text(body, NULL, words_str(to));
    }
    out_end(body, ']');
}

static void issue_create(struct saying *saying) {
    const struct forge *forge = forge_of(saying);
    struct words *body = &saying->http.body;
    forge_address(saying, forge->issues, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "title", words_str(&saying->tracker->title));
    out_text(body, forge->body, words_str(&saying->tracker->body));
    labels_put(saying, body);
    assignee_put(saying, body);
    out_end(body, '}');
    forge_ask(saying, "POST", created);
}

/* ---- Gitea's labels: ESCALATE-09 ---- */

static void label_next(struct saying *saying);

/* An issue without its label is better than none. */
static void label_created(struct saying *saying, const struct http_answer *answer) {
    struct tracker *tracker = saying->tracker;
    json_t *label = http_verdict(answer) == SAID_DONE ? forge_json(answer) : NULL;
    tracker->label_ids[tracker->label_next++] = json_integer_value(json_object_get(label, "id"));
    json_decref(label);
    label_next(saying);
}

static void label_create(struct saying *saying) {
    struct tracker *tracker = saying->tracker;
    struct words *body = &saying->http.body;
    forge_address(saying, "/repos/%R/labels", "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "name", words_str(&tracker->label_names[tracker->label_next]));
    out_text(body, "color", STR("#b60205"));
    out_end(body, '}');
    forge_ask(saying, "POST", label_created);
}

static void label_next(struct saying *saying) {
    struct tracker *tracker = saying->tracker;
    while (tracker->label_next < tracker->label_count &&
           tracker->label_ids[tracker->label_next] > 0)
        tracker->label_next++;
    if (tracker->label_next < tracker->label_count)
        label_create(saying);
    else
        issue_create(saying);
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

static void labels_read(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict_of_look(answer);
    json_t *labels = said == SAID_DONE ? forge_json(answer) : NULL;
    if (said == SAID_LATER) {
        saying_end_by_answer(saying, said, answer);
        return;
    }
    labels_note(saying->tracker, labels);
    if (said == SAID_DONE && json_is_array(labels))
        label_next(saying);
    else
        issue_create(saying);
    json_decref(labels);
}

static void issue_new(struct saying *saying) {
    if (saying->kind != CHANNEL_GITEA) {
        issue_create(saying);
        return;
    }
    forge_address(saying, "/repos/%R/labels", "?limit=50");
    forge_ask(saying, "GET", labels_read);
}

/* ---- commenting: ESCALATE-15 ---- */

/* An issue that was locked or moved meanwhile takes no comment: then what is said is new. */
static void commented(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict(answer);
    if (said == SAID_DONE)
        comment_is_there(saying);
    else if (said == SAID_REFUSED && answer->status != 401 && !saying->tracker->resolved)
        issue_new(saying);
    else
        saying_end_by_answer(saying, said, answer);
}

static void comment_create(struct saying *saying) {
    struct words *body = &saying->http.body;
    forge_address(saying, forge_of(saying)->comments, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "body", words_str(&saying->tracker->body));
    out_end(body, '}');
    forge_ask(saying, "POST", commented);
}

/* Closed by somebody, or gone: what is said now is new. */
static void earlier_read(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict_of_look(answer);
    bool gone = answer->status == 404 || answer->status == 410;
    if (said != SAID_DONE && !gone) {
        saying_end_by_answer(saying, said, answer);
        return;
    }
    json_t *issue = said == SAID_DONE ? forge_json(answer) : NULL;
    const char *state = json_string_value(json_object_get(issue, "state"));
    bool open = state && strcmp(state, "closed") != 0;
    if (open)
        issue_keep(saying, issue);
    json_decref(issue);
    if (open)
        comment_create(saying);
    else if (saying->tracker->resolved)
        end_done(saying);
    else
        issue_new(saying);
}

static void proceed(struct saying *saying) {
    if (saying->tracker->earlier.len > 0) {
        forge_address(saying, forge_of(saying)->issue, "");
        forge_ask(saying, "GET", earlier_read);
    } else if (saying->tracker->resolved) {
        end_done(saying); /* nothing is open there */
    } else {
        issue_new(saying);
    }
}

/* ---- looking for what an earlier try may have left ---- */

/* Only at the very end: what stands before may be anybody's words. */
bool forge_has_mark(const struct saying *saying, const json_t *entry, const char *member) {
    const char *text = json_string_value(json_object_get(entry, member));
    struct str whole = str_of(text), mark = words_str(&saying->tracker->marker);
    while (whole.len > 0 && strchr(" \r\n", whole.at[whole.len - 1]))
        whole.len--;
    return whole.len >= mark.len && memcmp(whole.at + whole.len - mark.len, mark.at, mark.len) == 0;
}

typedef bool mark_seen(struct saying *saying, const json_t *entry);

static bool issue_is_ours(struct saying *saying, const json_t *issue) {
    return forge_has_mark(saying, issue, forge_of(saying)->body) && issue_keep(saying, issue);
}

static bool comment_is_ours(struct saying *saying, const json_t *comment) {
    return forge_has_mark(saying, comment, forge_of(saying)->text);
}

static bool list_has(struct saying *saying, const struct http_answer *answer, mark_seen *is_ours,
                     bool *ret_more) {
    json_t *list = forge_json(answer), *entry;
    size_t place;
    bool found = false;
    json_array_foreach(list, place, entry) found = found || is_ours(saying, entry);
    *ret_more =
        json_array_size(list) == LIMIT_LOOK_PAGE && ++saying->tracker->page <= LIMIT_LOOK_PAGES;
    json_decref(list);
    return found;
}

/* A look that cannot be made does not keep the message from being said: at least once comes first. */
static bool look_failed(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict_of_look(answer);
    if (said == SAID_LATER && !saying->http.too_long)
        saying_end_by_answer(saying, said, answer);
    else if (said != SAID_DONE)
        proceed(saying);
    return said != SAID_DONE;
}

/* Since a little before the message was first tried: clocks differ. */
static void look(struct saying *saying, const char *path, const char *query, bool has_since,
                 http_answered *answered) {
    const struct tracker *tracker = saying->tracker;
    char since[TIME_TEXT + 1] = "", whole[240];
    if (has_since) {
        time_format(tracker->since, since);
        memcpy(since + strlen("2026-11-15T00:16:22"), "Z", 2); /* not all of them take a fraction */
    }
    snprintf(whole, sizeof whole, "%s%s&%s=%d&page=%u", query, since, forge_of(saying)->page_size,
             LIMIT_LOOK_PAGE, tracker->page);
    forge_address(saying, path, whole);
    forge_ask(saying, "GET", answered);
}

static void issues_seen(struct saying *saying, const struct http_answer *answer);

static void look_at_issues(struct saying *saying) {
    look(saying, forge_of(saying)->issues, forge_of(saying)->issues_since, true, issues_seen);
}

static void issues_seen(struct saying *saying, const struct http_answer *answer) {
    bool more;
    if (look_failed(saying, answer))
        return;
    if (list_has(saying, answer, issue_is_ours, &more))
        end_done(saying);
    else if (more)
        look_at_issues(saying);
    else
        proceed(saying);
}

static void comments_seen(struct saying *saying, const struct http_answer *answer);

static void look_at_comments(struct saying *saying) {
    look(saying, forge_of(saying)->comments, forge_of(saying)->comments_since,
         saying->kind != CHANNEL_GITLAB, comments_seen);
}

static void comments_seen(struct saying *saying, const struct http_answer *answer) {
    bool more;
    if (look_failed(saying, answer))
        return;
    if (list_has(saying, answer, comment_is_ours, &more)) {
        words_add(&saying->reference, words_str(&saying->tracker->earlier));
        comment_is_there(saying);
    } else if (more) {
        look_at_comments(saying);
    } else {
        saying->tracker->page = 1;
        look_at_issues(saying);
    }
}

/* ---- beginning ---- */

void forge_begin(struct saying *saying, const struct channel *channel) {
    const struct forge *forge = forge_of(saying);
    struct str url = channel->url.len > 0 ? channel->url : str_of(forge->base);
    while (url.len > 0 && url.at[url.len - 1] == '/')
        url.len--;
    words_add(&saying->tracker->base, url);
    if (!strstr(words_cstr(&saying->tracker->base), "/api/"))
        words_add(&saying->tracker->base, str_of(forge->path_end));
    words_add(&saying->tracker->repo, channel->repo);
}

/* The earlier issue may be named by its number or by its address. */
static void earlier_take(struct tracker *tracker, struct str earlier) {
    size_t from = earlier.len;
    while (from > 0 && earlier.at[from - 1] >= '0' && earlier.at[from - 1] <= '9')
        from--;
    words_add(&tracker->earlier, (struct str){earlier.at + from, earlier.len - from});
}

/* ESCALATE-09: a label of the product's, the level, and that nobody wrote it by hand. */
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

static bool tracker_fill(struct saying *saying, const struct channel *channel,
                         const struct notice *notice) {
    struct tracker *tracker = saying->tracker;
    char id[ID_TEXT + 1];
    id_format(notice->id, id);
    tracker->since = notice->at - MINUTES(60);
    tracker->page = 1;
    tracker->resolved = notice->kind == NOTICE_RESOLVED;
    forge_begin(saying, channel);
    words_add(&tracker->to, channel->to);
    earlier_take(tracker, notice->earlier);
    labels_take(tracker, channel, notice);
    words_format(&tracker->marker, "<!-- overseer-notice %s -->", id);
    text_title(&tracker->title, MARKUP_NONE, notice, ISSUE_TITLE);
    text_issue(&tracker->body, notice);
    words_format(&tracker->body, "\n%s\n", words_cstr(&tracker->marker));
    bool failed = tracker->base.failed || tracker->repo.failed || tracker->to.failed ||
                  tracker->earlier.failed || tracker->marker.failed || tracker->title.failed ||
                  tracker->body.failed;
    for (uint32_t i = 0; i < tracker->label_count; i++)
        failed = failed || tracker->label_names[i].failed;
    return !failed;
}

void tracker_begin(struct saying *saying, const struct channel *channel,
                   const struct notice *notice) {
    saying->tracker = calloc(1, sizeof *saying->tracker);
    if (!saying->tracker || !tracker_fill(saying, channel, notice)) {
        saying_end(saying, SAID_LATER, "there is no memory for an issue");
        return;
    }
    if (!token_read(saying, channel->token_path, &saying->token))
        return;
    if (!notice->unsure)
        proceed(saying);
    else if (saying->tracker->earlier.len > 0)
        look_at_comments(saying);
    else
        look_at_issues(saying);
}
