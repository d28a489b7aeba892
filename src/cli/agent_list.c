/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agent programs on this machine: those in PATH. The row of each determines its driver. */
#include "cli/agent_list.h"

#include "cli/child.h"

#include <stdio.h>
#include <string.h>

/* In the order in which one is proposed. If two rows have the same name, the first whose program is in PATH counts. */
const struct agent_known AGENTS_KNOWN[] = {
    {"claude",
     "claude",
     "claude",
     "",
     "Claude Code",
     {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"},
     "ANTHROPIC_BASE_URL"},
    {"codex", "codex-acp", "codex-acp", "", "Codex", {"OPENAI_API_KEY"}, "OPENAI_BASE_URL"},
    {"codex",
     "codex",
     "codex",
     "tmux",
     "Codex, in its terminal",
     {"OPENAI_API_KEY"},
     "OPENAI_BASE_URL"},
    {"opencode",
     "opencode",
     "opencode",
     "",
     "opencode",
     {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"},
     NULL},
    {"gemini",
     "gemini",
     "gemini",
     "",
     "Gemini CLI",
     {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
     "GOOGLE_GEMINI_BASE_URL"},
    {"goose", "goose", "goose", "", "goose", {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, NULL},
    {"qwen", "qwen", "qwen", "", "Qwen Code", {"OPENAI_API_KEY"}, "OPENAI_BASE_URL"},
    {"claude-acp",
     "claude-agent-acp",
     "claude-agent-acp",
     "",
     "Claude Code, over ACP",
     {"ANTHROPIC_API_KEY"},
     "ANTHROPIC_BASE_URL"},
};
const size_t AGENTS_KNOWN_COUNT = sizeof AGENTS_KNOWN / sizeof *AGENTS_KNOWN;

static bool is_second(const struct agent_known *agent) {
    char path[PATH_MAX];
    for (const struct agent_known *at = AGENTS_KNOWN; at < agent; at++)
        if (strcmp(at->name, agent->name) == 0 && program_find(at->program, path))
            return true;
    return false;
}

bool agent_program(const struct agent_known *agent, char path[PATH_MAX]) {
    return !is_second(agent) && program_find(agent->program, path);
}

bool agent_first(char name[AGENT_NAME]) {
    char path[PATH_MAX];
    for (size_t i = 0; i < AGENTS_KNOWN_COUNT; i++)
        if (agent_program(&AGENTS_KNOWN[i], path)) {
            snprintf(name, AGENT_NAME, "%s", AGENTS_KNOWN[i].name);
            return true;
        }
    return false;
}
