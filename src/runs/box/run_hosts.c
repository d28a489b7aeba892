/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that a run with network = model may reach: those of its model, and those of its repository. */
#include "base/host_rule.h"
#include "runs/run.h"

#include <strings.h>

/* Where the programs send their requests, unless base_url says otherwise. None of them for telemetry or updates. */
static const struct {
    const char *kind;
    const char *hosts[5];
} MODELS[] = {
    {"claude", {"api.anthropic.com"}},
    {"codex", {"api.openai.com", "chatgpt.com"}},
    {"gemini", {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com"}},
    {"qwen", {"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "portal.qwen.ai"}},
    {"opencode", {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"}},
    {"goose", {"api.anthropic.com", "api.openai.com"}},
};

struct hosts {
    struct str *at;
    uint32_t count;
    bool too_many;
};

static void host_add(struct hosts *hosts, struct str host) {
    hosts->too_many = hosts->count == SANDBOX_HOSTS;
    if (!hosts->too_many)
        hosts->at[hosts->count++] = host;
}

/* "https://HOST[:PORT]/…" as an entry of the list, without a name and password in front of the host. */
static struct str host_of_url(struct str url, struct arena *arena) {
    char *text = arena_cstr(arena, url), *host = strstr(text, "://");
    if (!host)
        return url;
    bool plain = strncasecmp(text, "http:", 5) == 0 || strncasecmp(text, "ws:", 3) == 0;
    host += 3;
    host[strcspn(host, "/?#")] = 0;
    char *user = strrchr(host, '@');
    host = user ? user + 1 : host;
    const char *bracket = strchr(host, ']');
    bool has_port = strchr(bracket ? bracket : host, ':') != NULL;
    bool here = strncasecmp(host, "localhost", 9) == 0 && (host[9] == 0 || host[9] == ':');
    return arena_format(arena, "%s%s%s", here ? "127.0.0.1" : "", here ? host + 9 : host,
                        has_port ? ""
                        : plain  ? ":80"
                                 : ":443");
}

static void model_add(struct hosts *hosts, const struct agent_setting *agent, struct arena *arena) {
    struct str kind = agent->kind.len ? agent->kind : agent->id;
    if (agent->base_url.len)
        host_add(hosts, host_of_url(agent->base_url, arena));
    for (size_t i = 0; i < count_of(MODELS) && !agent->base_url.len; i++)
        for (size_t n = 0; str_equal(kind, str_of(MODELS[i].kind)) && MODELS[i].hosts[n]; n++)
            host_add(hosts, str_of(MODELS[i].hosts[n]));
}

/* A port that no listed address of the loopback has. */
static uint32_t port_choose(const struct hosts *hosts) {
    uint32_t port = 3128;
    for (uint32_t i = 0; i < hosts->count; i++) {
        struct host_rule rule;
        if (host_rule_parse(hosts->at[i], &rule) && rule.port == port) {
            port++;
            i = UINT32_MAX; /* all of them once more */
        }
    }
    return port;
}

bool run_hosts(const struct settings *settings, const struct agent_setting *agent,
               uint64_t repository, struct arena *arena, struct sandbox_proxy *ret,
               struct str *ret_why) {
    struct hosts hosts = {.at = arena_new(arena, struct str, SANDBOX_HOSTS)};
    struct repo_setting repo = {0};
    struct host_rule rule;
    if (agent)
        model_add(&hosts, agent, arena);
    if (settings_repository(settings, repository, &repo))
        for (uint32_t i = 0; i < repo.hosts.count; i++)
            host_add(&hosts, arena_copy(arena, repo.hosts.at[i]));
    for (uint32_t i = 0; i < hosts.count; i++)
        if (!host_rule_parse(hosts.at[i], &rule)) {
            *ret_why = arena_format(arena,
                                    "\"%.*s\" is no host that it may reach: see repo.hosts in "
                                    "overseer.toml(5)",
                                    STR_ARG(str_cut_utf8(hosts.at[i], 80)));
            return false;
        }
    if (hosts.too_many) {
        *ret_why = arena_format(arena, "repo.hosts has more than %d hosts", SANDBOX_HOSTS);
        return false;
    }
    ret->hosts = hosts.at;
    ret->host_count = hosts.count;
    ret->port = port_choose(&hosts);
    return true;
}
