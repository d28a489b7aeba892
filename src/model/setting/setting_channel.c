/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the list of channels to people: the declared ones, and those from the older settings. */
#include "model/channel_list.h"
#include "model/setting/setting.h"

const struct channel *settings_channel(const struct settings *settings, struct str id) {
    for (uint32_t i = 0; i < settings->lists.channel_count; i++)
        if (str_equal(settings->lists.channels[i].id, id))
            return &settings->lists.channels[i];
    return NULL;
}

static bool is_declared(const struct settings *settings, struct str id) {
    return settings_channel(settings, id) != NULL;
}

static struct channel channel_make(struct settings *settings, struct str id, uint32_t kind) {
    struct channel channel = {0};
    list_entry_default(&SETTING_LIST[LIST_CHANNELS], &channel, &settings->source.arena);
    channel.id = id;
    channel.kind = kind;
    return channel;
}

static uint32_t desktop_make(struct settings *settings, struct channel *to) {
    struct str id = STR("desktop");
    if (!settings->escalation.desktop || is_declared(settings, id))
        return 0;
    *to = channel_make(settings, id, CHANNEL_DESKTOP);
    return 1;
}

static uint32_t tracker_make(struct settings *settings, struct channel *to) {
    struct str id = STR("tracker");
    if (settings->escalation.tracker_repo.len == 0 || is_declared(settings, id))
        return 0;
    *to = channel_make(settings, id, CHANNEL_GITEA + settings->escalation.tracker_kind);
    to->url = settings->escalation.tracker_url;
    to->repo = settings->escalation.tracker_repo;
    to->token_path = settings->escalation.tracker_token_path;
    return 1;
}

static uint32_t webhook_make(struct settings *settings, struct channel *to) {
    struct str id = STR("webhook");
    if (settings->escalation.webhook_url.len == 0 || is_declared(settings, id))
        return 0;
    *to = channel_make(settings, id, CHANNEL_WEBHOOK);
    to->url = settings->escalation.webhook_url;
    return 1;
}

void settings_channels(struct settings *settings) {
    struct channel *all =
        arena_new(&settings->source.arena, struct channel, settings->lists.channel_count + 3);
    uint32_t count = desktop_make(settings, all);
    count += tracker_make(settings, &all[count]);
    count += webhook_make(settings, &all[count]);
    for (uint32_t i = 0; i < settings->lists.channel_count; i++)
        all[count + i] = settings->lists.channels[i];
    settings->lists.channels = all;
    settings->lists.channel_count += count;
}
