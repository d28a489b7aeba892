# SPDX-License-Identifier: Apache-2.0
"""What each agent program needs in order to run against the scripted model without asking a person.

One row for each way of running a program. {url} is the model's, {home}, {cwd} and {prompt} are the run's; {run} stands
for the words of `tools/agents path`. `speaks` says how the program gets the prompt: "arg" and "stdin" for one turn, "acp" for the
Agent Client Protocol over stdin and stdout. `mode` is set in each new ACP session. `task` writes a file, as a step of the
model's script, with a tool that this way of running allows or asks about. `tool`: the row also configures an MCP server,
{python} {tool} {notes}; over ACP, session/new names it.
"""
import json
from collections import namedtuple

TASK = "write {made} {text}"
Program = namedtuple("Program", "name installed speaks argv env files mode task tool", defaults=("", TASK, True))

MODEL = "scripted"
KEY = "dummy-key-000000000000000000000000"

CLAUDE_ENV = {
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_API_KEY": KEY,
    "ENABLE_TOOL_SEARCH": "false",  # else MCP tools are not offered until it has searched for them
    "IS_SANDBOX": "1",  # else it refuses to skip permissions for root
}
CODEX_ENV = {"CODEX_HOME": "{home}/.codex", "SCRIPTED_KEY": KEY}
CODEX_FILES = {".codex/config.toml": """
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[projects."{cwd}"]
trust_level = "trusted"
"""}
CODEX_TOOL = """
[mcp_servers.overseer]
command = "{python}"
args = ["{tool}", "{notes}"]
default_tools_approval_mode = "approve"
"""
OPENCODE_ENV = {"SCRIPTED_KEY": KEY}
OPENCODE_FILES = {".config/opencode/opencode.json": json.dumps({
    "model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": False, "share": "disabled",
    "provider": {"scripted": {
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": {"baseURL": "{url}/v1", "apiKey": KEY},
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}}}},
})}
GEMINI_ENV = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
GEMINI_FILES = {".gemini/settings.json": json.dumps({
    "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False}})}
GOOSE_ENV = {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": MODEL, "OPENAI_HOST": "{url}",
             "OPENAI_API_KEY": KEY}
QWEN_ENV = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": MODEL}
QWEN_FILES = {".qwen/settings.json": json.dumps({
    "security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False}, "telemetry": {"enabled": False},
    "tools": {"toolSearch": {"enabled": False}}})}  # else MCP tools are not offered, but called through one tool
OPENCLAW_ENV = {"OPENCLAW_STATE_DIR": "{home}/.openclaw", "OPENCLAW_CONFIG_PATH": "{home}/.openclaw/openclaw.json",
                "OPENCLAW_SKIP_CHANNELS": "1"}
OPENCLAW_FILES = {".openclaw/openclaw.json": json.dumps({
    "gateway": {"mode": "local", "bind": "loopback", "port": 18789, "auth": {"mode": "token", "token": KEY}},
    "logging": {"file": "{home}/.openclaw/log.jsonl"},
    "tools": {"toolSearch": False},  # else MCP tools are not offered until it has searched for them
    "mcp": {"servers": {"overseer": {"command": "{python}", "args": ["{tool}", "{notes}"], "enabled": True}}},
    "models": {"providers": {"scripted": {
        "baseUrl": "{url}/v1", "apiKey": KEY, "api": "openai-completions",
        "models": [{"id": MODEL, "name": MODEL, "input": ["text"], "contextWindow": 200000, "maxTokens": 8000,
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "reasoning": False}]}}},
    "agents": {"defaults": {"workspace": "{cwd}", "model": {"primary": "scripted/scripted"}, "skipBootstrap": True}},
})}

SERVER = {"command": "{python}", "args": ["{tool}", "{notes}"]}


def with_server(files, member, server):
    """The same JSON file, which now names the MCP server `overseer` in that member."""
    (name, text), = files.items()
    return {name: json.dumps({**json.loads(text), member: {"overseer": server}})}


PROGRAMS = [
    Program("claude", "claude", "arg",
            "{run} -p {prompt} --output-format stream-json --verbose --permission-mode acceptEdits"
            " --mcp-config {home}/mcp.json --strict-mcp-config --allowedTools mcp__overseer__report", CLAUDE_ENV,
            with_server({"mcp.json": "{}"}, "mcpServers", SERVER)),
    Program("claude-acp", "claude-agent-acp", "acp", "{run}", CLAUDE_ENV, {}, "default"),
    Program("codex", "codex", "arg",
            "{run} exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox {prompt}",
            CODEX_ENV, {".codex/config.toml": CODEX_FILES[".codex/config.toml"] + CODEX_TOOL}),
    Program("codex-acp", "codex-acp", "acp", "{run}", dict(CODEX_ENV, INITIAL_AGENT_MODE="read-only"), CODEX_FILES,
            task="ask echo {text} > {made}"),
    Program("opencode", "opencode", "stdin", "{run} run --format json", OPENCODE_ENV,
            with_server(OPENCODE_FILES, "mcp", {"type": "local", "command": ["{python}", "{tool}", "{notes}"], "enabled": True})),
    Program("opencode-acp", "opencode", "acp", "{run} acp", OPENCODE_ENV, OPENCODE_FILES),
    Program("gemini", "gemini", "arg", "{run} -p {prompt} -m gemini-2.5-flash --yolo -o stream-json",
            GEMINI_ENV, with_server(GEMINI_FILES, "mcpServers", dict(SERVER, trust=True))),
    Program("gemini-acp", "gemini", "acp", "{run} --acp -m gemini-2.5-flash", GEMINI_ENV, GEMINI_FILES),
    Program("goose", "goose", "arg",
            "{run} run --no-session --with-builtin developer --output-format stream-json -t {prompt}"
            " --with-extension {python}+{tool}+{notes}",
            dict(GOOSE_ENV, GOOSE_MODE="auto"), {}),
    Program("goose-acp", "goose", "acp", "{run} acp --with-builtin developer", dict(GOOSE_ENV, GOOSE_MODE="approve"), {}),
    Program("qwen", "qwen", "arg", "{run} --auth-type openai -p {prompt} --yolo -o stream-json", QWEN_ENV,
            with_server(QWEN_FILES, "mcpServers", dict(SERVER, trust=True))),
    Program("qwen-acp", "qwen", "acp", "{run} --acp --auth-type openai", QWEN_ENV, QWEN_FILES, "default"),
    Program("openclaw", "openclaw", "arg", "{run} agent --local --session-id bare --json --message {prompt}",
            OPENCLAW_ENV, OPENCLAW_FILES),
]
BY_NAME = {program.name: program for program in PROGRAMS}


def fill(text, values):
    for name, value in values.items():
        text = text.replace("{%s}" % name, value)
    return text


def argv_of(program, run, values):
    """The words to run; `run` are those of the installed program. {prompt} stays one word; + stands for a space within a word."""
    words = []
    for word in program.argv.split():
        words += run if word == "{run}" else [fill(word.replace("+", " "), values)]
    return words


def env_of(program, values):
    return {name: fill(value, values) for name, value in program.env.items()}


def files_write(program, home, values):
    for name, text in program.files.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(fill(text, values), encoding="utf-8")
        place.chmod(0o600)
