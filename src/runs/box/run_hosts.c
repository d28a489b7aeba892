/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that a run with network = model may reach: those of its model, and those of its repository. */
#include "base/host_rule.h"
#include "model/setting/model_hosts.h"
#include "runs/run.h"

#include <stdlib.h>
#include <string.h>

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

/* False: it is no URL, and `ret_why` says whose. */
static bool url_add(struct hosts *hosts, struct str url, const char *whose, struct arena *arena,
                    struct str *ret_why) {
    char entry[HOST_ENTRY];
    bool read = host_of_url(url, entry);
    if (read)
        host_add(hosts, arena_copy(arena, str_of(entry)));
    else
        *ret_why = arena_format(arena, "%s is no URL of a host that it may reach", whose);
    return read;
}

/* The address of its model may be in the environment, as a variable that it gets. */
static bool key_add(struct hosts *hosts, struct str key, struct arena *arena, struct str *ret_why) {
    const struct str end = STR("_BASE_URL");
    const char *name = arena_cstr(arena, key);
    bool is_address = key.len > end.len && strcmp(name + key.len - end.len, end.at) == 0;
    const char *value = is_address ? getenv(name) : NULL;
    return !value || !*value || url_add(hosts, str_of(value), name, arena, ret_why);
}

static bool model_add(struct hosts *hosts, const struct agent_setting *agent, struct arena *arena,
                      struct str *ret_why) {
    const struct model_hosts *usual = model_hosts(agent->kind.len ? agent->kind : agent->id);
    bool good = true;
    if (agent->base_url.len)
        good = url_add(hosts, agent->base_url, "base_url", arena, ret_why);
    for (size_t i = 0; i < MODEL_HOSTS && usual && !agent->base_url.len && usual->hosts[i]; i++)
        host_add(hosts, str_of(usual->hosts[i]));
    for (uint32_t i = 0; i < agent->keys.count && good; i++) {
        const char *url = key_url(agent, agent->keys.at[i], arena);
        good = key_add(hosts, agent->keys.at[i], arena, ret_why) &&
               (!url || key_add(hosts, str_of(url), arena, ret_why));
    }
    return good;
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
    if (agent && !model_add(&hosts, agent, arena, ret_why))
        return false;
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
