/* SPDX-License-Identifier: Apache-2.0 */
/* Connects an agent that speaks MCP over standard input and output to the daemon. Each message, one line, is passed on
 * to /mcp, and its answer comes back as a line. The daemon may restart meanwhile: the bridge introduces the client to
 * it again. Nothing but messages is written to standard output. */
#include "base/buffer.h"
#include "base/memory.h"
#include "cli/command.h"
#include "model/limits.h"
#include "ops/json.h"
#include "ops/tool.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 60, RETRY_FOR_MS = 30000, LATER_MS = 250 };

struct reply {
    CURLcode code;
    long status;
    struct buffer body;
};

struct bridge {
    CURL *curl; /* one persistent connection */
    const struct daemon_address *at;
    char url[2048];
    char session[128]; /* of the daemon that runs now; empty: none */
    char revision[32]; /* negotiated protocol revision */
    json_t
        *introduced; /* the client's initialize, kept for a daemon that does not know the client */
};

/* ---- HTTP ---- */

static size_t body_take(char *data, size_t size, size_t count, void *with) {
    struct reply *reply = with;
    return buffer_add(&reply->body, data, count * size) ? count * size : 0;
}

static size_t header_take(char *data, size_t size, size_t count, void *with) {
    static const char NAME[] = "mcp-session-id:";
    struct bridge *bridge = with;
    size_t length = size * count, skip = sizeof NAME - 1;
    if (length <= skip || strncasecmp(data, NAME, skip) != 0)
        return length;
    while (skip < length && data[skip] == ' ')
        skip++;
    while (length > skip && (data[length - 1] == '\r' || data[length - 1] == '\n'))
        length--;
    snprintf(bridge->session, sizeof bridge->session, "%.*s", (int)(length - skip), data + skip);
    return size * count;
}

static struct curl_slist *headers(const struct bridge *bridge) {
    char line[4300];
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    list = curl_slist_append(list, "Accept: application/json, text/event-stream");
    if (bridge->at->token) {
        snprintf(line, sizeof line, "Authorization: Bearer %s", bridge->at->token);
        list = curl_slist_append(list, line);
    }
    if (bridge->session[0]) {
        snprintf(line, sizeof line, "Mcp-Session-Id: %s", bridge->session);
        list = curl_slist_append(list, line);
    }
    if (bridge->revision[0]) {
        snprintf(line, sizeof line, "MCP-Protocol-Version: %s", bridge->revision);
        list = curl_slist_append(list, line);
    }
    return list;
}

static struct reply http(struct bridge *bridge, const char *verb, const char *body) {
    struct reply reply = {0};
    struct curl_slist *list = headers(bridge);
    CURL *curl = bridge->curl;
    curl_easy_reset(curl); /* keeps the connection open */
    if (!bridge->at->url)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, bridge->at->socket);
    curl_easy_setopt(curl, CURLOPT_URL, bridge->url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, verb);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_take);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, bridge);
    reply.code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_slist_free_all(list);
    return reply;
}

static void reply_free(struct reply *reply) {
    buffer_free(&reply->body);
    *reply = (struct reply){0};
}

/* ---- a daemon that stops and restarts ---- */

/* No daemon was reachable, so none received the message. */
static bool is_away(const struct reply *reply) {
    return reply->code == CURLE_COULDNT_CONNECT || reply->code == CURLE_COULDNT_RESOLVE_HOST;
}

static bool is_lost(const struct reply *reply) {
    return reply->code != CURLE_OK && !is_away(reply);
}

static void revision_learn(struct bridge *bridge, const struct reply *reply) {
    json_t *json = json_loadb(reply->body.at ? reply->body.at : "", reply->body.len, 0, NULL);
    const char *given =
        json_string_value(json_object_get(json_object_get(json, "result"), "protocolVersion"));
    snprintf(bridge->revision, sizeof bridge->revision, "%s", given ? given : "");
    json_decref(json);
}

/* The daemon was restarted: sends it the client's initialize again. */
static bool introduce_again(struct bridge *bridge) {
    static const char INITIALIZED[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    char *text = bridge->introduced ? json_dumps(bridge->introduced, JSON_COMPACT) : NULL;
    if (!text)
        return false;
    bridge->session[0] = bridge->revision[0] = 0;
    struct reply reply = http(bridge, "POST", text);
    bool known = reply.code == CURLE_OK && reply.status == 200 && bridge->session[0];
    if (known)
        revision_learn(bridge, &reply);
    reply_free(&reply);
    free(text);
    if (known) {
        reply = http(bridge, "POST", INITIALIZED);
        reply_free(&reply);
    }
    return known;
}

/* `again`: the message may be sent twice. Waits while the daemon is away; introduces the client again to a daemon that
 * does not know it. */
static struct reply deliver(struct bridge *bridge, const char *text, bool again) {
    bool introduced = false;
    for (int waited = 0;; waited += LATER_MS) {
        struct reply reply = http(bridge, "POST", text);
        bool forgotten = reply.code == CURLE_OK && reply.status == 404 && bridge->session[0];
        if (forgotten && !introduced && introduce_again(bridge)) {
            introduced = true;
            reply_free(&reply);
            continue;
        }
        bool may = is_away(&reply) || (is_lost(&reply) && again);
        if (!may || waited >= RETRY_FOR_MS)
            return reply;
        reply_free(&reply);
        usleep(LATER_MS * 1000);
    }
}

/* ---- messages ---- */

static const char *method_of(const json_t *message) {
    const char *method = json_string_value(json_object_get(message, "method"));
    return method ? method : "";
}

static const struct op *op_of(const json_t *message) {
    const json_t *name = json_object_get(json_object_get(message, "params"), "name");
    if (strcmp(method_of(message), "tools/call") != 0 || !json_is_string(name))
        return NULL;
    return tool_find((struct str){json_string_value(name), json_string_length(name)});
}

/* Gives a key to a write without one: if its answer is lost, it can be sent again and is done once. */
static void key_add(json_t *message, const struct op *op) {
    json_t *params = json_object_get(message, "params");
    json_t *arguments = json_object_get(params, "arguments");
    uint8_t random[16];
    char key[2 * sizeof random + 1];
    if (!json_field_named(op->params, op->param_count, "key") || op->kind != OP_WRITES ||
        (arguments && !json_is_object(arguments)) || op_given(arguments, "key") ||
        getrandom(random, sizeof random, 0) != sizeof random)
        return;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(key + 2 * i, 3, "%02x", random[i]);
    if (!arguments && json_object_set_new(params, "arguments", arguments = json_object()))
        return;
    json_object_set_new(arguments, "key", json_string(key));
}

static void line_write(json_t *message) {
    char *text = json_dumps(message, JSON_COMPACT);
    if (text)
        printf("%s\n", text);
    fflush(stdout);
    free(text);
}

static void error_write(const json_t *id, enum error error, const char *what) {
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", what, *what ? " " : "", ERRORS[error].sentence);
    json_t *json =
        json_pack("{s:s, s:O?, s:{s:i, s:s, s:{s:s}}}", "jsonrpc", "2.0", "id", id, "error", "code",
                  -32000 - (int)error, "message", text, "data", "code", ERRORS[error].code);
    line_write(json);
    json_decref(json);
}

/* Every answer carries the id of its request, even if the HTTP server did not get as far as reading it. */
static void reply_write(const json_t *id, const struct reply *reply) {
    json_t *json = json_loadb(reply->body.at ? reply->body.at : "", reply->body.len, 0, NULL);
    if (!json_is_object(json))
        error_write(id, ERROR_INTERNAL, "The answer could not be read.");
    else {
        if (id && !op_given(json, "id"))
            json_object_set(json, "id", (json_t *)(uintptr_t)id);
        line_write(json);
    }
    json_decref(json);
}

static void message_hand_on(struct bridge *bridge, json_t *message, const char *line) {
    const json_t *id = json_object_get(message, "id");
    const struct op *op = op_of(message);
    bool introduces = strcmp(method_of(message), "initialize") == 0;
    if (op)
        key_add(message, op);
    char *text = message ? json_dumps(message, JSON_COMPACT) : memory_text(line, strlen(line));
    if (introduces) {
        json_decref(bridge->introduced);
        bridge->introduced = json_incref(message);
        bridge->session[0] = bridge->revision[0] = 0;
    }
    struct reply reply = deliver(bridge, text ? text : "", !op || op->kind != OP_LOCAL);
    if (introduces && reply.code == CURLE_OK)
        revision_learn(bridge, &reply);
    bool expected = id || !message;
    if (reply.code == CURLE_OK && reply.body.len > 0 && expected)
        reply_write(id, &reply);
    else if (reply.code != CURLE_OK && expected)
        error_write(id, is_away(&reply) ? ERROR_NO_DAEMON : ERROR_STORE_AWAY, "");
    reply_free(&reply);
    free(text);
}

/* ---- lines ---- */

/* False: there are no more lines. A line that is too long is skipped and reported by ret_too_long. */
static bool line_read(char *line, size_t size, bool *ret_too_long) {
    *ret_too_long = false;
    if (!fgets(line, (int)size, stdin))
        return false;
    size_t length = strlen(line);
    if (length + 1 < size || line[length - 1] == '\n')
        return true;
    *ret_too_long = true;
    for (int c = getc(stdin); c != EOF && c != '\n';)
        c = getc(stdin);
    return true;
}

static void line_hand_on(struct bridge *bridge, const char *line) {
    if (line[strspn(line, " \t\r\n")] == 0)
        return;
    json_t *message = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    message_hand_on(bridge, message, line);
    json_decref(message);
}

static int bridge_run(struct typed *typed) {
    static char line[LIMIT_HTTP_BODY + 2];
    struct bridge bridge = {.curl = curl_easy_init(), .at = &typed->at};
    bool too_long;
    const char *url = typed->at.url ? typed->at.url : "http://overseer";
    size_t length = strlen(url);
    snprintf(bridge.url, sizeof bridge.url, "%.*s/mcp",
             (int)(length > 0 && url[length - 1] == '/' ? length - 1 : length), url);
    if (!bridge.curl)
        memory_exhausted();
    while (line_read(line, sizeof line, &too_long)) {
        if (too_long)
            error_write(NULL, ERROR_TOO_LARGE, "");
        else
            line_hand_on(&bridge, line);
    }
    if (bridge.session[0]) {
        struct reply reply = http(&bridge, "DELETE", "");
        reply_free(&reply);
    }
    json_decref(bridge.introduced);
    curl_easy_cleanup(bridge.curl);
    return 0;
}

/* ---- the environment ---- */

enum { WORDS_MOST = 64, WORDS_ROOM = 65536, KEPT_MOST = 64 };

/* The environment that an agent gives us may contain its keys, which we must not keep. */
static bool variable_is_ours(const char *variable) {
    static const char *const OURS[] = {
        "PATH=", "HOME=", "LANG=", "LC_ALL=", "TZ=", "XDG_", "OVERSEER_"};
    for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
        if (strncmp(variable, OURS[i], strlen(OURS[i])) == 0)
            return true;
    return false;
}

static bool words_read(char *room, char *words[WORDS_MOST + 1]) {
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(room, 1, WORDS_ROOM - 1, file) : 0, count = 0;
    if (file)
        fclose(file);
    room[length] = 0;
    for (size_t at = 0; at < length && count < WORDS_MOST; at += strlen(room + at) + 1)
        words[count++] = room + at;
    words[count] = NULL;
    return count > 0 && length < WORDS_ROOM - 1;
}

/* Executes this program again with an environment that contains no keys, so that they cannot be found through /proc
 * either. */
static void keys_shed(void) {
    static char room[WORDS_ROOM];
    char *words[WORDS_MOST + 1], *kept[KEPT_MOST + 1];
    size_t count = 0, all = 0;
    for (; environ[all]; all++)
        if (variable_is_ours(environ[all]) && count < KEPT_MOST)
            kept[count++] = environ[all];
    kept[count] = NULL;
    if (count < all && words_read(room, words))
        execve("/proc/self/exe", words, kept);
}

int mcp_run(struct typed *typed) {
    keys_shed();
    return bridge_run(typed);
}
