/* SPDX-License-Identifier: Apache-2.0 */
/* How does work that was pushed become a pull request, once? Gitea (and Forgejo), GitHub, GitLab.
 *
 *   look for one of that branch ──open or merged──────────────────────▶ done
 *     │                          └─closed, and it was this landing────▶ refused: a person has closed it
 *     ▼
 *   create ──there is one already──▶ look once more
 *     └────▶ done
 *
 * The branch is the key: a forge has one open request of it at most, and each try looks before it makes anything. So a
 * try whose answer was lost is simply made again. */
#include "ports/channel_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { PULL_TITLE = 250 }; /* of 255 */
static const struct str TITLE_BEFORE =
    STR("Overseer: "); /* "Draft:" and "WIP:" mean something at the beginning */

/* What each forge calls things. `%R` is the repository, `%O` its owner, `%H` the branch. */
static const struct pulls {
    const char *path, *look; /* look: without a page */
    const char *body;        /* its words: in what is asked for as in what is told */
    const char *head, *base; /* branches, in what is asked for */
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

static const struct pulls *pulls_of(const struct saying *saying) {
    return &PULLS[saying->kind];
}

/* ---- what a forge tells of one ---- */

static bool text_is(const json_t *object, const char *member, struct str text) {
    const char *value = json_string_value(json_object_get(object, member));
    return value && str_equal(str_of(value), text);
}

static bool number_is_same(const json_t *one, const json_t *other) {
    return json_integer_value(one) > 0 && json_integer_value(one) == json_integer_value(other);
}

/* Of our branch, and not of one that has the same name in somebody's copy of the repository. */
static bool pull_is_ours(const struct saying *saying, const json_t *pull) {
    struct str branch = words_str(&saying->tracker->head);
    const json_t *head = json_object_get(pull, "head"), *base = json_object_get(pull, "base");
    if (saying->kind == CHANNEL_GITLAB)
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

static void look(struct saying *saying);

static void end_with(struct saying *saying, enum said said) {
    saying_end(saying, said, "%s", "");
}

/* The forge says that there is one: somebody was faster, or an answer was lost. */
static bool is_there_already(const struct http_answer *answer) {
    static const char WORDS[] = "already exists";
    bool said = answer->body.len > 0 &&
                memmem(answer->body.at, answer->body.len, WORDS, sizeof WORDS - 1) != NULL;
    return answer->status == 409 || (answer->status == 422 && said);
}

static void created(struct saying *saying, const struct http_answer *answer) {
    enum said said = http_verdict(answer);
    json_t *pull = said == SAID_DONE ? forge_json(answer) : NULL;
    bool kept = said == SAID_DONE && forge_keep(saying, pull, pulls_of(saying)->number);
    json_decref(pull);
    if (kept)
        end_with(saying, SAID_DONE);
    else if (said == SAID_DONE)
        saying_end(saying, SAID_UNKNOWN, "%s answered %ld without a pull request that can be read",
                   saying->service, answer->status);
    else if (is_there_already(answer) && !saying->tracker->looked_twice) {
        saying->tracker->looked_twice = true;
        saying->tracker->page = 1;
        look(saying);
    } else
        saying_end_by_answer(saying, said, answer);
}

static void create(struct saying *saying) {
    const struct pulls *pulls = pulls_of(saying);
    const struct tracker *tracker = saying->tracker;
    struct words *body = &saying->http.body;
    forge_address(saying, pulls->path, "");
    words_clear(body);
    out_begin(body, NULL, '{');
    out_text(body, "title", words_str(&tracker->title));
    out_text(body, pulls->body, words_str(&tracker->body));
    out_text(body, pulls->head, words_str(&tracker->head));
    out_text(body, pulls->base, words_str(&tracker->onto));
    out_end(body, '}');
    forge_ask(saying, "POST", created);
}

/* ---- looking ---- */

/* A request that a person closed is their answer to this landing. One of an earlier commit is not: that goes on. */
static bool is_answered(struct saying *saying, const json_t *pull) {
    enum pull_state state = pull_state(pull);
    if (!pull_is_ours(saying, pull))
        return false;
    if (state == PULL_CLOSED && !forge_has_mark(saying, pull, pulls_of(saying)->body))
        return false;
    if (!forge_keep(saying, pull, pulls_of(saying)->number))
        return false;
    if (state == PULL_CLOSED)
        saying_end(saying, SAID_REFUSED,
                   "the pull request %s was closed by somebody without being merged: open it there "
                   "again, or reject the work here",
                   words_cstr(&saying->url));
    else
        end_with(saying, SAID_DONE);
    return true;
}

/* An open one counts before all others, wherever it stands in the list. */
static bool list_answers(struct saying *saying, const json_t *list) {
    size_t place;
    json_t *pull;
    json_array_foreach(list, place, pull) if (pull_state(pull) == PULL_OPEN &&
                                              is_answered(saying, pull)) return true;
    json_array_foreach(list, place, pull) if (is_answered(saying, pull)) return true;
    return false;
}

static void looked(struct saying *saying, const struct http_answer *answer) {
    struct tracker *tracker = saying->tracker;
    enum said said = http_verdict_of_look(answer);
    json_t *list = said == SAID_DONE ? forge_json(answer) : NULL;
    bool more = json_array_size(list) == LIMIT_LOOK_PAGE && tracker->page < LIMIT_LOOK_PAGES;
    if (said != SAID_DONE) /* nothing is made by somebody who cannot see what there is */
        saying_end_by_answer(saying, said, answer);
    else if (!json_is_array(list))
        saying_end(saying, SAID_LATER, "%s answered %ld without a list of pull requests",
                   saying->service, answer->status);
    else if (!list_answers(saying, list)) {
        tracker->page++;
        if (more)
            look(saying);
        else if (tracker->looked_twice)
            saying_end(saying, SAID_REFUSED,
                       "%s says that there is a pull request of %s, and does not show it",
                       saying->service, words_cstr(&tracker->head));
        else
            create(saying);
    }
    json_decref(list);
}

static void look(struct saying *saying) {
    char page[48];
    snprintf(page, sizeof page, "=%d&page=%u", LIMIT_LOOK_PAGE, saying->tracker->page);
    forge_address(saying, pulls_of(saying)->path, "");
    forge_address_add(saying, pulls_of(saying)->look);
    words_add(&saying->http.url, str_of(page));
    forge_ask(saying, "GET", looked);
}

/* ---- beginning ---- */

static void fact(struct words *body, const char *name, struct str value) {
    if (value.len == 0)
        return;
    words_format(body, "- %s: ", name);
    words_escape_line(body, MARKUP_PULL, value, LIMIT_TITLE);
    words_add(body, STR("\n"));
}

/* What agents and people wrote is text there: nobody is called, nothing is closed, nothing is hidden. */
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

static bool pull_fill(struct saying *saying, const struct channel *channel,
                      const struct pull *pull) {
    struct tracker *tracker = saying->tracker;
    tracker->page = 1;
    forge_begin(saying, channel);
    words_add(&tracker->head, pull->head);
    words_add(&tracker->onto, pull->base);
    words_add(&tracker->title, TITLE_BEFORE);
    words_escape_line(&tracker->title, MARKUP_TITLE, pull->title, PULL_TITLE - tracker->title.len);
    body_write(&tracker->body, pull);
    words_format(&tracker->marker, "<!-- overseer-landing %.*s -->", STR_ARG(pull->commit));
    words_format(&tracker->body, "\n%s\n", words_cstr(&tracker->marker));
    return !(tracker->base.failed || tracker->repo.failed || tracker->head.failed ||
             tracker->onto.failed || tracker->title.failed || tracker->body.failed ||
             tracker->marker.failed);
}

void pull_begin(struct saying *saying, const struct channel *channel, const struct pull *pull) {
    saying->tracker = calloc(1, sizeof *saying->tracker);
    if (!saying->tracker || !pull_fill(saying, channel, pull))
        saying_end(saying, SAID_LATER, "there is no memory for a pull request");
    else if (token_read(saying, channel->token_path, &saying->token))
        look(saying);
}
