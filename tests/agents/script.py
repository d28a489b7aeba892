# SPDX-License-Identifier: Apache-2.0
"""The language of the scripts: what the scripted model answers next.

The prompt contains a script between <<< and >>>. ;; separates steps, and each step is one answer of the model.
&& separates the parts of one answer. The verbs are the rows of VERBS.

    <<<think 2 && say looking && run ls ;; call *report_progress {"text":"half"} ;; say done && finish 1200 80>>>

The last script in a message counts, because clients join texts. The step is the number of answers since that message, so
the model remembers nothing between requests except for limits and errors that pass.
"""
import hashlib
import json
import re
from collections import namedtuple

Turn = namedtuple("Turn", "role text step")  # role: user, assistant, tool; step: read from a call's id, or None
Tool = namedtuple("Tool", "name kind namespace schema")  # name: with its namespace; kind: function or custom
Part = namedtuple("Part", "verb values")
Plan = namedtuple("Plan", "key step parts why")  # why: prompt, match, turn, side, end, none

VERBS = {  # verb: (pattern of its arguments, their types)
    "say": (r"(.*)", (str,)),
    "drip": (r"([\d.]+)\s+(.*)", (float, str)),           # the text, spread over so many seconds
    "flood": (r"(\d+)", (int,)),                          # so many small pieces, as fast as possible
    "block": (r"(\{.*\})", (json.loads,)),                # text on lines of its own, between fences
    "call": (r"(\S+)\s+(\{.*\})", (str, json.loads)),     # *NAME: the offered tool whose name ends with NAME
    "run": (r"(.+)", (str,)),                             # a command, with the shell tool that is offered
    "ask": (r"(.+)", (str,)),                             # like run, but outside of the sandbox, if the tool has an argument for that
    "write": (r"(\S+)\s+(.*)", (str, str)),               # a file, with the writing tool, else with the shell
    "think": (r"([\d.]+)", (float,)),                     # seconds of silence
    "error": (r"(\d{3})(?:\s+x(\d+))?(?:\s+(final))?", (int, int, bool)),  # xN: for the first N requests of this step, then
                                                          # the next part; final: tells the client not to try again
    "limit": (r"([\d.]+)", (float,)),                     # 429 until so many seconds after the first request, then the next part
    "hang": (r"(?:x(\d+))?", (int,)),                     # nothing more until the client goes away; xN: as with error
    "drop": (r"", ()),                                    # resets the connection
    "cut": (r"", ()),                                     # ends because the tokens are used up
    "refuse": (r"", ()),                                  # ends with a refusal
    "head": (r"(\{.*\})", (json.loads,)),                 # headers of the answer; a value such as "+3600": seconds from now, as UNIX time
    "finish": (r"(\d+)\s+(\d+)(?:\s+(\d+))?", (int, int, int)),  # usage: input tokens, output tokens, cached input tokens
}
A_VERB = r"(?:%s)\b" % "|".join(VERBS)
SCRIPT = re.compile(r"<<<\s*(%s.*?)>>>" % A_VERB, re.S)  # a verb is required: others use <<< for their own purposes
STEP_ENDS = re.compile(r"\s*;;\s*(?=%s)" % A_VERB)
PART_ENDS = re.compile(r"\s*&&\s*(?=%s)" % A_VERB)
CALL_ID = re.compile(r"_at(\d+)x[0-9a-f]+$")

SHELL_TOOLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "exec", "local_shell")
WRITE_TOOLS = ("Write", "write", "write_file")
SHELL_WORDS = ("command", "cmd")
WRITE_WORDS = (("file_path", "filePath", "path", "absolute_path"), ("content", "file_text", "text"))


class ScriptError(ValueError):
    """The script cannot be parsed. The test that wrote it gets HTTP 400."""


# ---- reading ----

def part_read(text):
    verb, rest = re.match(r"\s*(\w*)\s*(.*?)\s*$", text, re.S).groups()
    form, kinds = VERBS.get(verb, ("(?!)", ()))
    match = re.fullmatch(form, rest, re.S)
    if not match:
        raise ScriptError(f"cannot read: {text.strip()[:120]}")
    try:
        return Part(verb, [kind(value) if value is not None else None for kind, value in zip(kinds, match.groups())])
    except ValueError as error:
        raise ScriptError(f"{text.strip()[:120]}: {error}") from error


def step_read(text):
    return [part_read(part) for part in PART_ENDS.split(text.strip())]


def script_read(text):
    return [step for step in STEP_ENDS.split(text.strip()) if step.strip()]


class ScriptFile:
    """Sections [match REGEX] and [in turn], with one step per line. # begins a comment."""

    def __init__(self, text=""):
        self.rules, self.in_turn, steps = [], [], None
        for line in text.splitlines():
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("[match ") and line.endswith("]"):
                steps = []
                self.rules.append((re.compile(line[7:-1], re.S), steps))
            elif line == "[in turn]":
                steps = self.in_turn
            elif steps is None:
                raise ScriptError(f"a step before any section: {line}")
            else:
                step_read(line)
                steps.append(line)


# ---- finding the current step ----

def steps_since(turns, at):
    """The number of answers after turns[at]. Calls carry their step in their id; texts are counted, adjacent ones as one."""
    step, before = 0, None
    for turn in turns[at + 1:]:
        if turn.role == "assistant":
            if turn.step is not None:
                step = max(step, turn.step + 1)
            elif before != "assistant":
                step += 1
        before = turn.role
    return step


def script_find(turns, file):
    """(why, index of the turn, steps) of the newest message that has a script, else of the newest message that a rule matches."""
    users = [(at, turn.text) for at, turn in enumerate(turns) if turn.role == "user"]
    for at, text in reversed(users):
        found = SCRIPT.findall(text)
        if found:
            return "prompt", at, script_read(found[-1])
    for at, text in reversed(users):
        for form, steps in file.rules:
            if form.search(text):
                return "match", at, steps
    return None


def plan_make(turns, file, take_turn):
    """The plan of the next answer. take_turn() returns the next step of [in turn], or None."""
    found = script_find(turns, file)
    if found:
        why, at, steps = found
        step = steps_since(turns, at)
        key = hashlib.sha256("\0".join(steps).encode()).hexdigest()[:12]
        if step < len(steps):
            return Plan(key, step, step_read(steps[step]), why)
        return Plan(key, step, [Part("say", ["(nothing more)"])], "end")
    line = take_turn()
    if line:
        return Plan("turn", 0, step_read(line), "turn")
    return Plan("none", 0, [Part("say", ["OK."])], "none")


def call_id(step, nonce):
    return f"_at{step}x{nonce}"


def call_step(text):
    match = CALL_ID.search(text or "")
    return int(match.group(1)) if match else None


# ---- choosing tools by their purpose ----

def tool_named(tools, name):
    """The tool with that name. *NAME is the first tool with that name in any namespace or with any prefix."""
    if not name.startswith("*"):
        return next((tool for tool in tools if tool.name == name), None)
    want = re.compile(r"(^|[^A-Za-z0-9]|_)%s$" % re.escape(name[1:]))
    return next((tool for tool in tools if want.search(tool.name)), None)


def tool_any(tools, names):
    for name in names:
        for tool in tools:
            if tool.name == name or tool.name.endswith("__" + name):
                return tool
    return None


def filled(tool, values):
    """The values, and a default for each other member that the tool's schema requires."""
    empty = {"string": "scripted", "boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}
    known = tool.schema.get("properties", {})
    for name in tool.schema.get("required", []):
        form = known.get(name, {})
        kind = str(form.get("type", "string")).lower()
        values.setdefault(name, form["enum"][0] if form.get("enum") else empty.get(kind, "scripted"))
    return values


def member(tool, names):
    known = tool.schema.get("properties", {})
    return next((name for name in names if name in known), names[0])


def call_for_shell(tools, command, outside=False):
    tool = tool_any(tools, SHELL_TOOLS)
    if not tool:
        raise ScriptError(f"run: no shell tool is offered among {[tool.name for tool in tools]}")
    name = member(tool, SHELL_WORDS)
    is_list = str(tool.schema.get("properties", {}).get(name, {}).get("type", "")).lower() == "array"
    values = {name: ["bash", "-c", command] if is_list else command}
    if outside and "sandbox_permissions" in tool.schema.get("properties", {}):
        values.update(sandbox_permissions="require_escalated", justification="scripted")
    return tool.name, filled(tool, values)


def call_for_write(tools, path, text):
    tool = tool_any(tools, WRITE_TOOLS)
    if not tool:
        quoted = "'" + text.replace("'", "'\\''") + "'"
        return call_for_shell(tools, f"printf '%s\\n' {quoted} > {path}")
    return tool.name, filled(tool, {member(tool, WRITE_WORDS[0]): path, member(tool, WRITE_WORDS[1]): text + "\n"})


def call_make(part, tools):
    """(name of the tool, its arguments) of a part that calls one. The model also calls a tool that is not offered:
    a test may want to see whether the agent refuses it."""
    if part.verb in ("run", "ask"):
        return call_for_shell(tools, *part.values, outside=part.verb == "ask")
    if part.verb == "write":
        return call_for_write(tools, *part.values)
    name, values = part.values
    tool = tool_named(tools, name)
    if not tool and name.startswith("*"):
        raise ScriptError(f"call: no tool {name} among {[tool.name for tool in tools]}")
    return (tool.name if tool else name), values
