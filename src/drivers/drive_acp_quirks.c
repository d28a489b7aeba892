/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the differences between agents that speak the Agent Client Protocol, as observed at the version beside each
 * name. */
#include "drivers/drive_acp.h"

static const char *const CLAUDE_TOOLS[] = {"Agent",
                                           "AskUserQuestion",
                                           "Bash",
                                           "BashOutput",
                                           "Edit",
                                           "ExitPlanMode",
                                           "Glob",
                                           "Grep",
                                           "KillShell",
                                           "LSP",
                                           "ListMcpResourcesTool",
                                           "MultiEdit",
                                           "NotebookEdit",
                                           "Read",
                                           "ReadMcpResourceTool",
                                           "Skill",
                                           "SlashCommand",
                                           "Task",
                                           "TaskOutput",
                                           "TaskStop",
                                           "TodoWrite",
                                           "ToolSearch",
                                           "WebFetch",
                                           "WebSearch",
                                           "Write",
                                           "mcp__",
                                           NULL};
/* Its permission "edit" covers edit, write and patch: none of them can be allowed alone. */
static const char *const OPENCODE_TOOLS[] = {
    "bash", "edit",     "glob",      "grep",     "list",      "read",      "skill",
    "task", "todoread", "todowrite", "webfetch", "websearch", "overseer_", NULL};
static const char *const GEMINI_TOOLS[] = {"list_directory",
                                           "read_file",
                                           "read_many_files",
                                           "write_file",
                                           "replace",
                                           "glob",
                                           "search_file_content",
                                           "grep_search",
                                           "run_shell_command",
                                           "web_fetch",
                                           "google_web_search",
                                           "save_memory",
                                           "write_todos",
                                           "mcp_",
                                           NULL};
/* The pattern offers all of them, but only those that are named are let through. */
static const char *const GEMINI_OWN[] = {"mcp_overseer_*",
                                         "mcp_overseer_overseer_update",
                                         "mcp_overseer_agent_update",
                                         "mcp_overseer_agent_complete",
                                         "mcp_overseer_agent_status",
                                         "mcp_overseer_agent_progress",
                                         "mcp_overseer_report_progress",
                                         "mcp_overseer_report_completion",
                                         "mcp_overseer_goal_report",
                                         "mcp_overseer_handoff_add",
                                         "mcp_overseer_request_orchestrator",
                                         "mcp_overseer_request_send",
                                         NULL};
static const char *const QWEN_TOOLS[] = {
    "list_directory", "read_file",  "read_many_files", "write_file",
    "edit",           "glob",       "grep_search",     "run_shell_command",
    "web_fetch",      "web_search", "save_memory",     "todo_write",
    "task",           "skill",      "agent",           "exit_plan_mode",
    "mcp__",          NULL};

#define OPENCODE_PROVIDER \
    "\"model\":\"overseer/{model}\",\"small_model\":\"overseer/{model}\",\"autoupdate\":false,\"share\":\"disabled\"," \
    "\"provider\":{\"overseer\":{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"overseer\"," \
    "\"options\":{\"baseURL\":\"{base_url}/v1\",\"apiKey\":\"{env:OPENAI_API_KEY}\"}," \
    "\"models\":{\"{model}\":{\"name\":\"{model}\",\"limit\":{\"context\":200000,\"output\":8192}}}}}"

static const struct acp_quirk QUIRKS[] = {
    {.name =
         "opencode", /* 1.18.33; retries an error for 75 s and waits out a limit, both silently */
     .args = {"acp"},
     .env = {{"OPENCODE_DISABLE_AUTOUPDATE", "1"},
             {"OPENCODE_DISABLE_MODELS_FETCH", "1"},
             {"OPENCODE_DISABLE_LSP_DOWNLOAD", "1"},
             {"OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"}},
     .files = {{".config/opencode/opencode.json", "{" OPENCODE_PROVIDER "}"}},
     .usage = ACP_USAGE_RESULT,
     .scope = ACP_SCOPE_OPENCODE,
     .tools = OPENCODE_TOOLS,
     .history = ".local/share/opencode"},
    {.name = "codex-acp",                                     /* 2.6.0 */
     .env = {{"CODEX_HOME", "{home}/.codex"}, {"TZ", "UTC"}}, /* it reports limits as clock times */
     .files =
         {{".codex/config.toml",
           "model = \"{model}\"\nmodel_provider = \"overseer\"\ncheck_for_update_on_startup = false\n"
           "[analytics]\nenabled = false\n"
           "[model_providers.overseer]\nname = \"overseer\"\nbase_url = \"{base_url}/v1\"\n"
           "wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
           "request_max_retries = 2\nstream_max_retries = 2\n"
           "[projects.\"{cwd}\"]\ntrust_level = \"trusted\"\n"}},
     .mode_ask = "read-only",
     .mode_free = "agent-full-access",
     .env_ask = {"INITIAL_AGENT_MODE", "read-only"},
     .env_free = {"INITIAL_AGENT_MODE", "agent-full-access"},
     .usage = ACP_USAGE_RESULT,
     .noise = "Warning: Model metadata",
     .failed_path = "_meta.codex.threadStatus.type",
     .failed_value = "systemError",
     .failed_without_usage = true,
     .begun = "_meta.codex.threadStatus.type",
     .history = ".codex/sessions"},
    {.name = "gemini", /* 0.61.0; does not exit when its input ends */
     .args = {"--acp", "--model={model}"},
     .env = {{"GOOGLE_GEMINI_BASE_URL", "{base_url}"},
             {"GEMINI_CLI_TRUST_WORKSPACE", "true"},
             {"GEMINI_TELEMETRY_ENABLED", "false"}},
     .files =
         {{".gemini/settings.json",
           "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},"
           "\"general\":{\"disableAutoUpdate\":true,\"maxAttempts\":3},\"privacy\":{\"usageStatisticsEnabled\":false}"}},
     .mode_ask = "default",
     .mode_free = "yolo",
     .usage = ACP_USAGE_QUOTA,
     .scope = ACP_SCOPE_SETTINGS,
     .tools = GEMINI_TOOLS,
     .own_tools = GEMINI_OWN,
     .name_before = "__call",
     .load_next_minute = true,
     .replays_late = true,
     .forgets = true,
     .history = ".gemini/tmp"},
    {.name = "goose", /* 1.52.0; waits out a limit silently */
     .args = {"acp", "--with-builtin", "developer"},
     .env = {{"GOOSE_DISABLE_KEYRING", "1"},
             {"GOOSE_TELEMETRY_ENABLED", "false"},
             {"GOOSE_MODEL", "{model}"},
             {"OPENAI_HOST", "{base_url}"}},
     .mode_ask = "approve",
     .mode_free = "auto",
     .env_ask = {"GOOSE_MODE", "approve"},
     .env_free = {"GOOSE_MODE", "auto"},
     .usage = ACP_USAGE_STEPS,
     .failed_words = {"Ran into this error"},
     .begun = "_meta.goose.activeRunId",
     .history = ".local/share/goose"},
    {.name =
         "qwen", /* 0.24.4; retries an error for 100 s and waits out a limit, both silently; reaches tools over HTTP
                  * only after its first request */
     .args = {"--acp", "--auth-type", "openai"},
     .env = {{"OPENAI_BASE_URL", "{base_url}/v1"},
             {"OPENAI_MODEL", "{model}"},
             {"QWEN_TELEMETRY_ENABLED", "false"}},
     .files =
         {{".qwen/settings.json",
           "{\"general\":{\"disableAutoUpdate\":true},\"privacy\":{\"usageStatisticsEnabled\":false},"
           "\"memory\":{\"enableManagedAutoMemory\":false,\"enableManagedAutoDream\":false}"}},
     .mode_ask = "default",
     .mode_free = "yolo",
     .usage = ACP_USAGE_CHUNK,
     .scope = ACP_SCOPE_SETTINGS,
     .scope_leaks = true,
     .tools = QWEN_TOOLS,
     .veto = "switch",
     .history = ".qwen"},
    {.name = "claude-agent-acp", /* 0.99.0; does not say when a limit ends */
     .env = {{"ANTHROPIC_BASE_URL", "{base_url}"},
             {"ANTHROPIC_MODEL", "{model}"},
             {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
             {"CLAUDE_CODE_MAX_RETRIES", "4"},
             {"DISABLE_AUTOUPDATER", "1"},
             {"DISABLE_TELEMETRY", "1"},
             {"DISABLE_ERROR_REPORTING", "1"},
             {"IS_SANDBOX", "1"}},
     .mode_ask = "default",
     .mode_free = "bypassPermissions",
     .usage = ACP_USAGE_RESULT,
     .scope = ACP_SCOPE_CLAUDE,
     .tools = CLAUDE_TOOLS,
     .history = ".claude/projects"},
};

const struct acp_quirk *acp_quirk_named(struct str name) {
    for (size_t i = 0; i < count_of(QUIRKS); i++)
        if (str_equal(str_of(QUIRKS[i].name), name))
            return &QUIRKS[i];
    return NULL;
}

const struct acp_quirk *acp_quirk_at(uint32_t row) {
    must(row < count_of(QUIRKS));
    return &QUIRKS[row];
}

uint32_t acp_quirk_row(const struct acp_quirk *quirk) {
    return (uint32_t)(quirk - QUIRKS);
}
