/* SPDX-License-Identifier: Apache-2.0 */
/* Sends salvaged work to the remote.
 *
 * Our clone has the work first and preserves it. Sending is a separate verb that holds no lock of any run: it records
 * what was sent as refs of ours, so that the next call, also by the next daemon, sends exactly what is missing. */
#include "git/git_state.h"

enum { SEND_BATCH = 64 }; /* refs in one push */

struct unsent {
    struct str ref, commit, sent; /* sent: our ref that records the sending */
};

/* "COMMIT REF" lines. False: the call has failed. */
static bool refs_list(struct git_call *call, enum git_ref below, struct str *ret) {
    if (!git_do(call, GIT_LIST_REFS, GIT_ARGS(git_ref(call, below, STR(""), STR("")))))
        return false;
    *ret = call->out;
    return true;
}

static struct str line_take(struct str *left) {
    const char *end = left->len ? memchr(left->at, '\n', left->len) : NULL;
    struct str line = {left->at, end ? (size_t)(end - left->at) : left->len};
    size_t used = end ? line.len + 1 : line.len;
    *left = (struct str){left->at + used, left->len - used};
    return line;
}

static bool has_line(struct str lines, struct str line) {
    while (lines.len)
        if (str_equal(line_take(&lines), line))
            return true;
    return false;
}

/* Takes the next refs that the remote does not have, at most SEND_BATCH; removes the examined ones from `left`. */
static unsigned unsent_take(struct git_call *call, struct str *left, struct str sent,
                            struct unsent *ret) {
    size_t before = git_ref(call, GIT_REF_SALVAGE, STR(""), STR("")).len;
    unsigned count = 0;
    while (left->len && count < SEND_BATCH) {
        struct str line = line_take(left);
        if (line.len < 42 + before)
            continue;
        struct unsent one = {.commit = {line.at, 40}, .ref = {line.at + 41, line.len - 41}};
        struct str run = {one.ref.at + before, one.ref.len - before};
        one.sent = git_ref(call, GIT_REF_SENT, run, STR(""));
        struct str known =
            arena_format(call->arena, "%.*s %.*s", STR_ARG(one.commit), STR_ARG(one.sent));
        if (!has_line(sent, known))
            ret[count++] = one;
    }
    return count;
}

/* A line of push --porcelain: a flag, a tab, FROM:TO, a tab, the result. '!' is a refusal. */
static bool was_taken(struct git_call *call, struct str out, const struct unsent *one) {
    struct str what =
        arena_format(call->arena, "%.*s:%.*s\t", STR_ARG(one->commit), STR_ARG(one->ref));
    while (out.len) {
        struct str line = line_take(&out);
        if (line.len > 2 && line.at[0] != '!' && line.at[1] == '\t' &&
            str_begins((struct str){line.at + 2, line.len - 2}, what))
            return true;
    }
    return false;
}

/* Records the refs that the remote accepted, even if it refused others. */
static bool batch_note(struct git_call *call, const struct unsent *batch, unsigned count,
                       int status, struct git_sent *ret) {
    struct str out = call->out, complaint = call->err;
    for (unsigned i = 0; i < count; i++) {
        if (status != 0 && !was_taken(call, out, &batch[i])) {
            ret->left++;
            ret->why = complaint;
        } else if (git_do(call, GIT_SET_REF, GIT_ARGS(batch[i].sent, batch[i].commit)))
            ret->sent++;
        else
            return false;
    }
    return true;
}

static bool batch_send(struct git_call *call, const struct git_repo *repo,
                       const struct unsent *batch, unsigned count, struct git_sent *ret) {
    struct str args[1 + SEND_BATCH] = {repo->remote};
    for (unsigned i = 0; i < count; i++)
        args[1 + i] = arena_format(call->arena, "+%.*s:%.*s", STR_ARG(batch[i].commit),
                                   STR_ARG(batch[i].ref));
    int status = git_try(call, GIT_PUSH_SALVAGE, args, 1 + count);
    return status >= 0 && batch_note(call, batch, count, status, ret);
}

struct git_answer git_salvage_send(const struct git_context *context, const struct git_repo *repo,
                                   struct arena *arena, struct git_sent *ret) {
    struct git_call call;
    struct git_sent sent = {0};
    struct str salvaged, known;
    struct unsent batch[SEND_BATCH];
    git_begin(&call, context, arena);
    call.local = git_source_is_path(repo->remote);
    if (repo->remote.len && git_repo_open(&call, repo) &&
        refs_list(&call, GIT_REF_SALVAGE, &salvaged) && refs_list(&call, GIT_REF_SENT, &known)) {
        bool reached = false;
        for (unsigned count; (count = unsent_take(&call, &salvaged, known, batch));) {
            reached = reached || git_remote_reach(&call, repo->remote);
            if (!reached || !batch_send(&call, repo, batch, count, &sent))
                break;
        }
    }
    *ret = sent;
    return git_end(&call);
}
