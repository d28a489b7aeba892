/* SPDX-License-Identifier: Apache-2.0 */
/* Creates one pull request for work that was pushed. Gitea (and Forgejo), GitHub, GitLab.
 *
 *   look for one of that branch ──open or merged──────────────────────▶ done
 *     │                          └─closed, and it was this landing────▶ refused: a person has closed it
 *     ▼
 *   create ──there is one already──▶ look once more
 *     └────▶ done
 *
 * The branch is the key: a forge has at most one open pull request for it, and each try looks before it creates one. So a
 * try whose answer was lost is simply repeated. */
#include "base/memory.h"
#include "channels/channel_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { PULL_TITLE = 250 }; /* of 255 */
static const struct str TITLE_BEFORE =
    STR("Overseer: "); /* forges interpret "Draft:" and "WIP:" at the start of a title */

/* Each forge's names. `%R` is the repository, `%O` its owner, `%H` the branch. */
static const struct pulls {
    const char *path, *look; /* look: query, to which page size and page number are appended */
    const char *body;        /* member with its text, in requests and in answers */
    const char *head, *base; /* branches, in requests */
    const char *number;
} PULLS[] = {
    [CHANNEL_GITEA] = {"/repos/%R/pulls", "?state=all&sort=recentupdate&limit", "body", "head",
                       "base", "number"},
    [CHANNEL_GITHUB] = {"/repos/%R/pulls",
                        "?state=all&head=%O:%H&sort=created&direction=desc&per_page", "body",
                        "head", "base", "number"},
    [CHANNEL_GITLAB] = {"/projects/%R/merge_requests",
                        "?state=all&source_branch=%H&order_by=created_at&sort=desc&per_page",
                        "description", "source_branch", "target_branch", "iid"},
};

static const struct pulls *pulls_of(const struct channel_send *send) {
    return &PULLS[send->kind];
}

/* ---- reading a forge's pull request ---- */

static bool text_is(const json_t *object, const char *member, struct str text) {
    const char *value = json_string_value(json_object_get(object, member));
    return value && str_equal(str_of(value), text);
}

static bool number_is_same(const json_t *one, const json_t *other) {
    return json_integer_value(one) > 0 && json_integer_value(one) == json_integer_value(other);
}

/* True: it is for our branch, not for a branch with the same name in a fork of the repository. */
static bool pull_is_ours(const struct channel_send *send, const json_t *pull) {
    struct str branch = words_str(&send->tracker->head);
    const json_t *head = json_object_get(pull, "head"), *base = json_object_get(pull, "base");
    if (send->kind == CHANNEL_GITLAB)
        return text_is(pull, "source_branch", branch) &&
               number_is_same(json_object_get(pull, "source_project_id"),
                              json_object_get(pull, "target_project_id"));
    return text_is(head, "ref", branch) &&
           number_is_same(json_object_get(json_object_get(head, "repo"), "id"),
                          json_object_get(json_object_get(base, "repo"), "id"));
}

enum pull_state { PULL_OPEN, PULL_MERGED, PULL_CLOSED };

static enum pull_state pull_state(const json_t *pull) {
    bool closed = text_is(pull, "state", STR("closed"));
    bool merged = text_is(pull, "state", STR("merged")) ||
                  json_is_true(json_object_get(pull, "merged")) ||
                  json_is_string(json_object_get(pull, "merged_at"));
    return merged ? PULL_MERGED : closed ? PULL_CLOSED : PULL_OPEN;
}

/* ---- creating ---- */

static void look(struct channel_send *send);

static void end_with(struct channel_send *send, enum send_result result) {
    channel_send_end(send, result, "%s", "");
}

/* The forge says that there is one already: it was created meanwhile, or an answer was lost. */
static bool is_there_already(const struct http_answer *answer) {
    static const char WORDS[] = "already exists";
    bool result = answer->body.len > 0 &&
                  memmem(answer->body.at, answer->body.len, WORDS, sizeof WORDS - 1) != NULL;
    return answer->status == 409 || (answer->status == 422 && result);
}

static void created(struct channel_send *send, const struct http_answer *answer) {
    enum send_result result = http_verdict(answer);
    json_t *pull = result == SEND_DONE ? forge_json(answer) : NULL;
    bool kept = result == SEND_DONE && forge_keep(send, pull, pulls_of(send)->number);
    json_decref(pull);
    if (kept)
        end_with(send, SEND_DONE);
    else if (result == SEND_DONE)
        channel_send_end(send, SEND_UNKNOWN,
                         "%s answered %ld without a pull request that can be read", send->service,
                         answer->status);
    else if (is_there_already(answer) && !send->tracker->looked_twice) {
        send->tracker->looked_twice = true;
        send->tracker->page = 1;
        look(send);
    } else
        channel_send_end_by_answer(send, result, answer);
}

static void create(struct channel_send *send) {
    const struct pulls *pulls = pulls_of(send);
    const struct tracker *tracker = send->tracker;
    struct words *body = &send->http.body;
    forge_address(send, pulls->path, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "title", words_str(&tracker->title));
    out_text(body, pulls->body, words_str(&tracker->body));
    out_text(body, pulls->head, words_str(&tracker->head));
    out_text(body, pulls->base, words_str(&tracker->onto));
    out_end(body, '}');
    forge_ask(send, "POST", created);
}

/* ---- looking ---- */

/* A pull request for this landing that a person closed or merged is their answer to it. One for another commit is not, and is
 * skipped: the branch may have had the same name before. */
static bool is_answered(struct channel_send *send, const json_t *pull) {
    enum pull_state state = pull_state(pull);
    if (!pull_is_ours(send, pull))
        return false;
    if (state != PULL_OPEN && !forge_has_mark(send, pull, pulls_of(send)->body))
        return false;
    if (!forge_keep(send, pull, pulls_of(send)->number))
        return false;
    if (state == PULL_CLOSED)
        channel_send_end(
            send, SEND_REFUSED,
            "the pull request %s was closed without being merged: reopen it there, or reject "
            "the work here",
            words_cstr(&send->url));
    else
        end_with(send, SEND_DONE);
    return true;
}

/* An open one takes precedence over all others, wherever it is in the list. */
static bool list_answers(struct channel_send *send, const json_t *list) {
    size_t place;
    json_t *pull;
    json_array_foreach(list, place, pull) if (pull_state(pull) == PULL_OPEN &&
                                              is_answered(send, pull)) return true;
    json_array_foreach(list, place, pull) if (is_answered(send, pull)) return true;
    return false;
}

static void looked(struct channel_send *send, const struct http_answer *answer) {
    struct tracker *tracker = send->tracker;
    enum send_result result = http_verdict_of_look(answer);
    json_t *list = result == SEND_DONE ? forge_json(answer) : NULL;
    bool more = json_array_size(list) == LIMIT_LOOK_PAGE && tracker->page < LIMIT_LOOK_PAGES;
    if (result != SEND_DONE) /* create nothing without knowing what exists */
        channel_send_end_by_answer(send, result, answer);
    else if (!json_is_array(list))
        channel_send_end(send, SEND_LATER, "%s answered %ld without a list of pull requests",
                         send->service, answer->status);
    else if (!list_answers(send, list)) {
        tracker->page++;
        if (more)
            look(send);
        else if (tracker->looked_twice)
            channel_send_end(send, SEND_REFUSED,
                             "%s reports that a pull request of %s exists, but does not list it",
                             send->service, words_cstr(&tracker->head));
        else
            create(send);
    }
    json_decref(list);
}

static void look(struct channel_send *send) {
    char page[48];
    snprintf(page, sizeof page, "=%d&page=%u", LIMIT_LOOK_PAGE, send->tracker->page);
    forge_address(send, pulls_of(send)->path, "");
    forge_address_add(send, pulls_of(send)->look);
    words_add(&send->http.url, str_of(page));
    forge_ask(send, "GET", looked);
}

/* ---- starting ---- */

static void fact(struct words *body, const char *name, struct str value) {
    if (value.len == 0)
        return;
    words_format(body, "- %s: ", name);
    words_escape_line(body, MARKUP_PULL, value, LIMIT_TITLE);
    words_add(body, STR("\n"));
}

/* Text by agents and people stays plain text there: it cannot mention anyone, close anything or hide anything. */
static void body_write(struct words *body, const struct pull *pull) {
    fact(body, "Goal", pull->goal);
    fact(body, "Node", pull->node);
    fact(body, "Commit", pull->commit);
    fact(body, "Checked on exactly that commit with", pull->checked_by);
    if (pull->text.len > 0) {
        words_add(body, STR("\n### What was asked for\n\n"));
        words_escape(body, MARKUP_PULL, pull->text, 2 * LIMIT_PROSE);
        words_add(body, STR("\n"));
    }
}

static void pull_fill(struct channel_send *send, const struct channel *channel,
                      const struct pull *pull) {
    struct tracker *tracker = send->tracker;
    tracker->page = 1;
    forge_begin(send, channel);
    words_add(&tracker->head, pull->head);
    words_add(&tracker->onto, pull->base);
    words_add(&tracker->title, TITLE_BEFORE);
    words_escape_line(&tracker->title, MARKUP_TITLE, pull->title, PULL_TITLE - tracker->title.len);
    body_write(&tracker->body, pull);
    words_format(&tracker->marker, "<!-- overseer-landing %.*s -->", STR_ARG(pull->commit));
    words_format(&tracker->body, "\n%s\n", words_cstr(&tracker->marker));
}

void pull_begin(struct channel_send *send, const struct channel *channel, const struct pull *pull) {
    send->tracker = memory_new(sizeof *send->tracker);
    pull_fill(send, channel, pull);
    if (token_read(send, channel->token_path, &send->token))
        look(send);
}
