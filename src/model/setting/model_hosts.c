/* SPDX-License-Identifier: Apache-2.0 */
#include "model/setting/model_hosts.h"

#include "base/must.h"

/* Unless base_url says otherwise. None of them is for telemetry or updates. */
static const struct model_hosts ROWS[] = {
    {"claude claude-agent-acp", true, {"api.anthropic.com"}},
    {"codex codex-acp", true, {"api.openai.com", "chatgpt.com"}},
    {"gemini", true, {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com"}},
    {"qwen", true, {"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "portal.qwen.ai"}},
    {"opencode", false, {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"}},
    {"goose", false, {"api.anthropic.com", "api.openai.com"}},
};

const struct model_hosts *model_hosts(struct str kind) {
    for (size_t i = 0; i < count_of(ROWS); i++)
        if (str_has_word(str_of(ROWS[i].kinds), kind))
            return &ROWS[i];
    return NULL;
}
