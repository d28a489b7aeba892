#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that all interfaces give the same answers: calls each operation of the table through the command line, /rpc and /mcp.

interfaces.py [--engine sqlite|postgres] [--only WORD] [--slow MS]: the table comes from `api.describe`, so the test covers each
operation that is added. An operation without an example of a valid call in EXAMPLES is called with the goal and node that it asks for;
if it requires anything else, the test fails until it has an example. The test calls each operation with
valid, missing, empty, wrong-typed, over-long, unknown and unauthorised parameters. The interfaces have to agree on the result
and on the error code, a refused call must not change anything, and every result has to match its declaration. With --slow
every commit begins that many milliseconds late: reports go to the spool, and everything else stays the same.
"""
import argparse
import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback

import proof
from world import BUILD, OVERSEER, OVERSEERD, OVERSEERD_SEAMS, STARTED, Client, Daemon, UnixConnection, folder_make, port_free, store_make, under_postgres, wait_until

NODES = [{"id": "P1", "tier": "phase"}, {"id": "T1.1", "tier": "task", "parentId": "P1"},
         {"id": "S1.1.1", "tier": "subtask", "parentId": "T1.1"}, {"id": "S1.1.2", "tier": "subtask", "parentId": "T1.1"}]
PLAN = [{**node, "name": node["id"], "acceptanceCriteria": ["it can be seen"]} for node in NODES]
CI = "actor:test:ci"  # a run that the operator allows to plan
ROLES = ("human", "overseer", "run", "reader")
PROTOCOL = "2025-11-25"


class Differs(Exception):
    """The interfaces do not agree, or an answer does not match its declaration."""


# ---- the interfaces ----

class Rpc:
    name = "rpc"

    def __init__(self, fixture):
        self.fixture = fixture

    def call(self, operation, params, role="human"):
        """Returns (error code or None, result or None)."""
        body = json.dumps({"jsonrpc": "2.0", "id": "x", "method": "overseer." + operation["name"], "params": params})
        answer = self.fixture.post("/rpc", body, role)[1]
        if "error" in answer:
            self.said = answer["error"]["message"]
            return answer["error"]["data"]["code"], None
        return None, answer["result"]


class Mcp:
    name = "mcp"

    def __init__(self, fixture):
        self.fixture, self.sessions = fixture, {}

    def send(self, role, method, params, session=None):
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": PROTOCOL} if session else {}
        return self.fixture.post("/mcp", body, role, headers)

    def session(self, role):
        if role not in self.sessions:
            hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}}
            status, answer, headers = self.send(role, "initialize", hello)
            assert status == 200, answer
            self.sessions[role] = headers["Mcp-Session-Id"]
        return self.sessions[role]

    def tools(self, role):
        return {tool["name"]: tool for tool in self.send(role, "tools/list", {}, self.session(role))[1]["result"]["tools"]}

    def call(self, operation, params, role="human"):
        name = operation["name"].replace(".", "_")
        answer = self.send(role, "tools/call", {"name": name, "arguments": params}, self.session(role))[1]
        if "error" in answer:
            raise Differs(f"{name}: a tool's own trouble is no error of the protocol: {answer}")
        result = answer["result"]
        if result["isError"]:
            code = result["_meta"]["overseer/error"]["code"]
            named, self.said = result["content"][0]["text"].split(": ", 1)
            assert named == code, result
            return code, None
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"], result
        return None, result["structuredContent"]


class Cli:
    """The command line. It passes every value as text, so a text cannot have a wrong type."""
    name = "cli"

    def __init__(self, fixture):
        self.fixture = fixture

    def words(self, operation, params):
        properties = operation["params"]["properties"]
        for name, value in params.items():
            row = properties.get(name, {"type": "string"})
            if isinstance(value, dict):
                for key, one in value.items():
                    yield from (f"--{name}", f"{key}={one}")
            elif row["type"] == "array" and row["items"]["type"] == "string":
                for one in value if isinstance(value, list) else [value]:
                    yield from (f"--{name}", str(one))
            elif row["type"] == "boolean" and value is True:
                yield f"--{name}"
            elif isinstance(value, str):
                yield from (f"--{name}", value)
            else:
                yield from (f"--{name}", json.dumps(value))

    def call(self, operation, params, role="human"):
        words = [str(OVERSEER), *operation["name"].split("."), *self.words(operation, params), "--json", "--yes"]
        words += ["--socket", str(self.fixture.daemon.socket)]
        if role != "human":
            words += ["--url", f"http://127.0.0.1:{self.fixture.port}", "--token", self.fixture.tokens[role]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.fixture.folder)})
        if done.returncode == 0:
            return None, json.loads(done.stdout)
        error = json.loads(done.stderr)
        error = error.get("error", error)
        wanted = self.fixture.exits.get(error["code"])
        if done.returncode != wanted:
            raise Differs(f"{' '.join(words[1:])[:200]}: exit {done.returncode} with {error['code']}, which is {wanted}")
        assert done.stdout == "", done.stdout
        self.said = error["message"]
        return error["code"], None


# ---- one daemon ----

class Fixture:
    def __init__(self, engine, slow=0):
        self.folder, self.slow = folder_make("doors"), slow
        self.store = store_make(engine, self.folder, "doors")
        self.port = port_free()
        self.settings = self.folder / "overseer.toml"
        self.settings.write_text("")
        seams = self.folder / "seams"
        seams.write_text(f"slow commit {slow}\n" if slow else "")
        self.daemon = Daemon(self.folder, self.store.uri, program=OVERSEERD_SEAMS if slow else OVERSEERD,
                             environment={"OVERSEER_CONFIG": str(self.settings), "OVERSEER_SEAM_FILE": str(seams)}, options=["--lease", "2", "--set", "escalation.auto_escalate=false", "--approve-plans", "--plan-agents", CI,
                                                                        "--listen", f"127.0.0.1:{self.port}"])
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)
        self.count = itertools.count(1)
        self.tokens = {}
        table = self.do("api.describe")
        self.table = {operation["name"]: operation for operation in table["operations"]}
        self.exits = {error["code"]: error["exit"] for error in table["errors"]}
        self.interfaces = [Rpc(self), Mcp(self), Cli(self)]
        self.mcp = self.interfaces[1]
        self.own, self.foreign = self.goal(), self.goal()
        for role in ROLES[1:]:
            bound = {"goal": self.own, "run": "R_1"} if role == "run" else {}
            self.tokens[role] = self.do("token.create", role=role, actor=f"actor:test:{role}", **bound)["token"]
        self.tokens["ci"] = self.do("token.create", role="run", actor=CI, goal=self.own, run="R_2")["token"]

    def post(self, path, body, role, headers=None):
        """Returns (status, JSON, headers). The role human uses the Unix socket, every other role a token over TCP."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})}
        if role == "human":
            connection = UnixConnection(self.daemon.socket, 30)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            headers["Authorization"] = f"Bearer {self.tokens[role]}"
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text else None, response.headers

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        assert not error, f"{method} {params}: {error}"
        return result

    def goal(self, **params):
        goal = self.do("goal.create", title=f"goal {next(self.count)}", **params)["goalId"]
        self.do("plan.apply", goal=goal, nodes=PLAN)
        return goal

    def version(self, goal):
        return self.do("goal.show", goal=goal)["version"]

    def rested(self, goal):
        """Returns the goal's version once it no longer changes by itself: a started agent reports its start a few commits later."""
        if self.do("assignment.list", goal=goal)["assignments"]:
            quiet = 0.3 + 6 * self.slow / 1000
            seen = [self.version(goal), time.monotonic()]

            def quiet_for_long():
                if self.version(goal) != seen[0]:
                    seen[:] = [self.version(goal), time.monotonic()]
                return time.monotonic() - seen[1] > quiet
            wait_until("its agent is at rest", quiet_for_long, 30)
        return self.version(goal)


# ---- valid calls ----
# Each example gets a fixture and a goal with a plan that no other example uses, prepares the goal, and returns the parameters.

EXAMPLES = {}


def example(*names):
    def add(function):
        for name in names:
            EXAMPLES[name] = function
        return function
    return add


@example("goal.list", "goal.tally", "token.list", "api.describe", "status.show", "inbox.list", "events.list", "config.show",
         "config.reload", "tick.run", "tick.wake", "fleet.resume")
def nothing(fixture, goal):
    return {}


@example("goal.show", "goal.pause", "goal.cancel", "plan.show", "plan.history", "plan.insights", "plan.recommend",
         "plan.review")
def the_goal(fixture, goal):
    return {"goal": goal}


@example("why.show")
def why(fixture, goal):
    return {"of": goal}


@example("goal.create")
def create(fixture, goal):
    return {"title": "one more", "priority": "high", "tags": ["a", "b"], "successCriteria": ["it is there"]}


@example("goal.update")
def update(fixture, goal):
    return {"goal": goal, "title": "another title", "priority": "urgent"}


@example("goal.report")
def report(fixture, goal):
    return {"goal": goal, "text": "half of it"}


@example("goal.complete")
def complete(fixture, goal):
    return {"goal": goal, "reason": "seen"}


@example("goal.resume")
def resume(fixture, goal):
    fixture.do("goal.pause", goal=goal)
    return {"goal": goal}


@example("goal.reopen")
def reopen(fixture, goal):
    fixture.do("goal.complete", goal=goal, reason="seen")
    return {"goal": goal, "reason": "it came back"}


@example("goal.archive")
def archive(fixture, goal):
    fixture.do("goal.cancel", goal=goal)
    return {"goal": goal}


@example("goal.release")
def release(fixture, goal):
    failed = fixture.do("goal.create", title="will fail", command="exit 3")["goalId"]
    wait_until("the command has failed", lambda: fixture.do("goal.show", goal=failed)["state"] == "needs you", 15)
    return {"goal": failed, "reason": "known"}


@example("plan.apply")
def apply(fixture, goal):
    return {"goal": goal, "nodes": PLAN[:3], "version": 1}


@example("plan.reject")
def reject(fixture, goal):
    fixture.do("plan.review", goal=goal)
    return {"goal": goal}


@example("plan.approve")
def approve(fixture, goal):
    code, _ = fixture.interfaces[0].call(fixture.table["plan.apply"], {"goal": goal, "nodes": PLAN[:3], "version": 1}, "overseer")
    assert code is None, code
    return {"goal": goal}


@example("work.add")
def add(fixture, goal):
    return {"goal": goal, "tier": "subtask", "parentId": "T1.1", "name": "more", "acceptanceCriteria": ["seen"]}


@example("work.start", "work.cancel")
def node(fixture, goal):
    return {"node": "S1.1.1", "goal": goal}


@example("work.block", "work.done")
def node_with_reason(fixture, goal):
    return {"node": "S1.1.1", "goal": goal, "reason": "seen"}


@example("work.unblock")
def unblock(fixture, goal):
    fixture.do("work.block", node="S1.1.1", goal=goal, reason="wait")
    return {"node": "S1.1.1", "goal": goal}


@example("work.override")
def override(fixture, goal):
    return {"node": "S1.1.1", "goal": goal, "status": "done", "reason": "seen"}


@example("work.follow")
def follow(fixture, goal):
    fixture.do("work.override", node="T1.1", goal=goal, status="blocked", reason="hold")
    return {"node": "T1.1", "goal": goal}


@example("work.update")
def move(fixture, goal):
    return {"node": "S1.1.1", "goal": goal, "status": "in_progress"}


@example("run.update")
def run(fixture, goal):
    return {"goal": goal, "runId": "R_1", "status": "running"}


@example("token.create")
def token(fixture, goal):
    return {"role": "run", "goal": goal, "run": "R_9", "actor": "actor:agent:x", "note": "a test"}


@example("token.revoke", "token.rotate")
def made_token(fixture, goal):
    return {"tokenId": fixture.do("token.create", role="reader")["tokenId"]}


@example("fleet.stop")
def stop(fixture, goal):
    return {"reason": "a test"}


OPTIONS = {"title": "Drop the column?", "options": ["drop", "keep"]}


@example("question.ask")
def ask(fixture, goal):
    return {"goal": goal, **OPTIONS, "default": "b", "expires": "8h", "level": "critical", "who": "anna bert"}


@example("question.show", "question.ack", "question.withdraw")
def question(fixture, goal):
    fixture.do("question.ask", goal=goal, **OPTIONS)
    return {"question": "Q0", "goal": goal}


@example("question.answer")
def answer(fixture, goal):
    return {**question(fixture, goal), "answer": "b", "text": "until the release"}


@example("question.snooze")
def snooze(fixture, goal):
    return {**question(fixture, goal), "until": "2h"}


@example("question.undo")
def undo(fixture, goal):
    asked = question(fixture, goal)
    fixture.do("question.answer", answer="a", **asked)
    return asked


@example("question.approve", "question.reject")
def approval(fixture, goal):
    fixture.do("question.ask", goal=goal, title="Ship it?", kind="approve")
    return {"question": "Q0", "goal": goal, "reason": "seen"}


@example("mail.send")
def mail(fixture, goal):
    return {"to": "overseer", "subject": "tokens", "body": "they are done", "kind": "alert", "ack_required": True, "goal": goal}


@example("mail.ack")
def mail_ack(fixture, goal):
    fixture.do("mail.send", **mail(fixture, goal))
    return {"message": "M_0", "goal": goal}


@example("mail.inbox", "request.list")
def of_goal(fixture, goal):
    return {"goal": goal}


@example("assignment.list", "handoff.list", "replay.run", "work.log", "work.diff")
def one_goal(fixture, goal):
    return {"goal": goal}


AGENTS = """[supervision]
enabled = true
[[agents]]
id = "auto-1"
driver = "pretend"
behaviour = "silent"
"""


def settle(fixture, text):
    fixture.settings.write_text(text)
    fixture.do("config.reload")


def staffed(fixture, goal):
    """Waits until an agent has an assignment of this goal; other goals get no agent."""
    if fixture.do("assignment.list", goal=goal)["assignments"]:
        return
    settle(fixture, AGENTS)
    fixture.do("goal.report", goal=goal, text="who works on it?")
    wait_until("an agent was told", lambda: any(one["delivery"] == "accepted" for one in
                                                fixture.do("assignment.list", goal=goal)["assignments"]), 20)
    settle(fixture, "")


@example("assignment.show", "agent.status")
def assigned(fixture, goal):
    staffed(fixture, goal)
    return {"goal": goal, "assignment": fixture.do("assignment.list", goal=goal)["assignments"][0]["assignmentId"]}


@example("desk.release")
def site(fixture, goal):
    staffed(fixture, fixture.own)
    return {"reason": "the network was down", "host": 1}


@example("lane.show")
def lane(fixture, goal):
    return {}


@example("lane.hold", "lane.release")
def lane_held(fixture, goal):
    return {"reason": "release freeze"}


@example("network.allow", "network.checks", "network.deny")
def host_named(fixture, goal):
    return {"host": "api.example.org"}


@example("network.forget")
def host_decided(fixture, goal):
    fixture.do("network.allow", host="forget.example.org")
    return {"host": "forget.example.org"}


@example("task.run")
def a_task(fixture, goal):
    return {"text": "Write down what the parser does."}


@example("batch.create")
def a_batch(fixture, goal):
    return {"name": "tonight", "jobs": 2, "until": "2099-01-01T07:00:00Z", "tasks": [{"text": "the first"}, {"text": "the second", "agent": "none"}]}


@example("batch.show", "batch.hold", "batch.release")
def a_batch_that_exists(fixture, goal):
    fixture.do("batch.create", name="later", tasks=[{"text": "the only one"}])
    return {"name": "later"}


@example("batch.change")
def another_bound(fixture, goal):
    return {**a_batch_that_exists(fixture, goal), "jobs": 3}


@example("budget.show", "desk.show")
def this_host(fixture, goal):
    return {"host": 1}


@example("handoff.add")
def handoff(fixture, goal):
    return {"goal": goal, "summary": "tokens work", "node": "S1.1.1", "nextActions": ["write the mail", "test it"], "commits": ["3fa2"]}


@example("handoff.show")
def handoff_made(fixture, goal):
    fixture.do("handoff.add", **handoff(fixture, goal))
    return {"goal": goal, "handoff": "C_0"}


@example("replay.compare")
def what_if(fixture, goal):
    return {"goal": goal, "set": ["supervision.idle_after=30m", "plans.approve=false"]}


@example("work.retry")
def retry(fixture, goal):
    return {"node": "S1.1.1", "goal": goal, "reason": "the key is there now"}


@example("agent.update")
def say_update(fixture, goal):
    return {"goal": goal, "workNodeId": "S1.1.1", "status": "in_progress", "summary": "half of it", "next": "the rest", "testsRun": ["all"]}


@example("agent.complete")
def say_complete(fixture, goal):
    return {"goal": goal, "summary": "all of it", "status": "partial", "commits": ["3fa2"]}


@example("agent.progress")
def say_progress(fixture, goal):
    return {**assigned(fixture, goal), "phase": "converting", "percentComplete": 40, "metrics": {"files": 12, "of": "thirty"}}


@example("request.send")
def request(fixture, goal):
    return {**assigned(fixture, goal), "title": "Which of the two?", "options": ["v1", "v2"], "of": "parent"}


@example("request.respond")
def respond(fixture, goal):
    fixture.do("request.send", **request(fixture, goal))
    question = fixture.do("request.list", goal=goal)["requests"][0]["questionId"]
    return {"question": question, "goal": goal, "text": "the second one"}


def example_of(operation):
    """Returns the function of its example; None: it has none, and requires more than every goal of the fixture has."""
    known = {"goal", "node", "reason"}
    required = operation["params"]["required"]
    if operation["name"] in EXAMPLES or not known.issuperset(required):
        return EXAMPLES.get(operation["name"])
    return lambda fixture, goal: {name: value for name, value in node_with_reason(fixture, goal).items() if name in required}


# The test calls it at the end, because it ends the daemon.
LAST = "daemon.stop"
AFTERWARDS = {"fleet.stop": "fleet.resume"}
COUNTED_ON = {**{f"batch.{verb}": "version seq" for verb in ("change", "hold", "release")}, "network.allow": "version seq", "network.checks": "version seq", "network.deny": "version seq", "network.forget": "version seq",
              "fleet.stop": "seq", "fleet.resume": "seq",  # they act on the one fleet, not on a goal of their own
              "request.send": "version seq", "agent.progress": "version seq", "request.respond": "version seq"}  # an agent works on that goal meanwhile


# ---- comparing ----

LOOKS_LIKE = [
    (re.compile(r"goal_[0-9A-HJKMNP-TV-Z]{26}"), "GOAL"), (re.compile(r"\b[TQ]\d+\b"), "NAME"), (re.compile(r"\bovs_[\w-]{20,}"), "TOKEN"),
    (re.compile(r"\btok_\w+"), "TOKEN"), (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ID"), (re.compile(r"\b[0-9a-f]{32,64}\b"), "HASH"), (re.compile(r"goal \d+"), "goal N"),
]
MOVES = {"records", "events", "tokens", "lines", "effects", "phases", "plan"}  # compared only where nothing is written between the calls


def alike(value, strict):
    """Replaces ids, times and other varying parts, so that the same call on another goal gives an equal value."""
    if isinstance(value, dict):
        return {name: alike(one, strict) for name, one in value.items() if strict or name not in MOVES}
    if isinstance(value, list):
        return [alike(one, strict) for one in value]
    if isinstance(value, str):
        for pattern, word in LOOKS_LIKE:
            value = pattern.sub(word, value)
    return value


TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def is_of(value, kind):
    if kind in ("number", "integer"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def as_declared(operation, result):
    """Checks that the result has only declared members, has all required members, and that their types match."""
    schema = operation["result"]
    for name, value in result.items():
        row = schema["properties"].get(name)
        if row is None:
            raise Differs(f"{operation['name']}: \"{name}\" came and is not declared")
        kinds = row.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(is_of(value, kind) for kind in kinds):
            raise Differs(f"{operation['name']}: \"{name}\" is {value!r:.80}, declared as {kinds}")
    for name in schema["required"]:
        if name not in result:
            raise Differs(f"{operation['name']}: \"{name}\" always comes, and did not")


# ---- parameters that are not valid ----

def wrong_type(row):
    """Returns (value, whether the command line can express it)."""
    if row.get("enum") or row.get("format"):
        return "no such thing", True
    if row["type"] == "integer":
        return "many", True
    if row["type"] == "boolean":
        return "perhaps", False  # on the command line it is a flag without a value
    if row["type"] == "array":
        return (7, False) if row["items"]["type"] == "string" else ("nodes", True)
    return 7, False


def over_long(row):
    if row["type"] == "string" and "maxLength" in row:
        yield "x" * (row["maxLength"] + 1)
    if row["type"] == "array" and row["items"]["type"] == "string":
        yield ["x"] * (row["maxItems"] + 1)
        yield ["x" * (row["items"]["maxLength"] + 1)]
    if row["type"] == "array" and row["items"]["type"] == "object":
        yield [{}] * (row["maxItems"] + 1)


def bad_params(operation, good):
    """Yields (what is wrong, parameters, whether the command line can express it)."""
    schema = operation["params"]
    for name in schema["required"]:
        yield f"no {name}", {key: value for key, value in good.items() if key != name}, True
        if schema["properties"][name]["type"] == "string":
            yield f"empty {name}", {**good, name: ""}, True
    for name, row in schema["properties"].items():
        value, typed = wrong_type(row)
        yield f"wrong type of {name}", {**good, name: value}, typed
        for value in over_long(row):
            yield f"over-long {name}", {**good, name: value}, True
    yield "an unknown parameter", {**good, "nonsense": "1"}, True


# ---- calls of all operations ----

class Walk:
    def __init__(self, fixture):
        self.fixture, self.calls = fixture, 0

    def ask(self, interface, operation, params, role="human"):
        self.calls += 1
        return interface.call(operation, params, role)

    def each_interface(self, operation, params, role, interfaces=None):
        return {interface.name: self.ask(interface, operation, params, role) for interface in interfaces or self.fixture.interfaces}

    def agree(self, operation, what, answers, wanted=None):
        codes = {name: code for name, (code, _) in answers.items()}
        if len(set(codes.values())) != 1 or (wanted and set(codes.values()) != {wanted}):
            raise Differs(f"{operation['name']}, {what}: {codes}" + (f", wanted {wanted}" if wanted else ""))
        said = {interface.name: interface.said for interface in self.fixture.interfaces if interface.name in answers} if wanted else {}
        if said and said["rpc"] != said["mcp"]:
            raise Differs(f"{operation['name']}, {what}: {said}")

    def valid(self, operation):
        name, answers = operation["name"], {}
        for interface in self.fixture.interfaces:
            params = example_of(operation)(self.fixture, self.fixture.goal())
            answers[interface.name] = self.ask(interface, operation, params)
            if answers[interface.name][0] is None:
                as_declared(operation, answers[interface.name][1])
            if name in AFTERWARDS:
                self.fixture.do(AFTERWARDS[name])
        self.agree(operation, "valid", answers)
        if any(code for code, _ in answers.values()):
            raise Differs(f"{name}: the example is refused: {answers}")
        for _, result in answers.values():
            for counted in COUNTED_ON.get(name, "").split():
                result.pop(counted, None)
        first, *rest = [alike(result, False) for _, result in answers.values()]
        for other in rest:
            if operation["kind"] != "reads" and other != first:
                raise Differs(f"{name}: {first} and {other}")

    def same_reading(self, operation):
        """Checks that all interfaces return equal results if nothing is written between the calls."""
        params = example_of(operation)(self.fixture, self.fixture.own)
        answers = self.each_interface(operation, params, "human")
        first, *rest = [alike(result, True) for _, result in answers.values()]
        for other in rest:
            if other != first:
                raise Differs(f"{operation['name']}: {json.dumps(first)[:400]} and {json.dumps(other)[:400]}")

    def invalid(self, operation):
        goal = self.fixture.goal()
        good = (example_of(operation) or the_goal)(self.fixture, goal)
        good = {name: value for name, value in good.items() if name in operation["params"]["properties"]}
        before = self.fixture.rested(goal)
        for what, params, typed in bad_params(operation, good):
            interfaces = self.fixture.interfaces if typed else self.fixture.interfaces[:2]
            self.agree(operation, what, self.each_interface(operation, params, "human", interfaces), "E_INVALID")
        if self.fixture.version(goal) != before:
            raise Differs(f"{operation['name']}: what was refused has changed the goal")

    def unauthorised(self, operation):
        params = {"goal": self.fixture.own} if "goal" in operation["params"]["properties"] else {}
        for name in operation["params"]["required"]:
            row = operation["params"]["properties"][name]
            params.setdefault(name, {"nodes": PLAN, "tasks": [{"text": "x"}]}.get(name) or row.get("enum", ["x"])[-1])
        for role in ROLES[1:]:
            if role not in operation["roles"]:
                self.agree(operation, f"as {role}", self.each_interface(operation, params, role), "E_UNAUTHORIZED")
        if "run" in operation["roles"] and "goal" in params:
            self.agree(operation, "a run, and another's goal",
                       self.each_interface(operation, {**params, "goal": self.fixture.foreign}, "run"), "E_UNAUTHORIZED")

    def listed(self, operation):
        """The tool list of an agent has the operations for agents; the list of any other role has what that role may call."""
        tool = operation["name"].replace(".", "_")
        for role in ROLES:
            tools = self.tools[role]
            wanted = role in operation["roles"] and (role != "run" or operation["forAgents"])
            if (tool in tools) != wanted:
                raise Differs(f"{tool}: listed for {role} {tool in tools}, wanted {wanted}")
            if tool in tools and role == "human" and tools[tool]["inputSchema"] != operation["params"]:
                raise Differs(f"{tool}: another schema than that of api.describe")

    def run(self, only):
        self.tools = {role: self.fixture.mcp.tools(role) for role in ROLES}
        failed = 0
        for name, operation in self.fixture.table.items():
            if only not in name:
                continue
            steps = [self.listed, self.invalid, self.unauthorised]
            if name != LAST:
                if not example_of(operation):
                    print(f"FAILED {name}: there is no example of a valid call; add one to EXAMPLES")
                    failed += 1
                    continue
                steps += [self.valid] + ([self.same_reading] if operation["kind"] == "reads" else [])
            for step in steps:
                try:
                    step(operation)
                except Differs as error:
                    failed += 1
                    print(f"FAILED {step.__name__}: {error}")
                except Exception:
                    failed += 1
                    print(f"FAILED {step.__name__}: {name}")
                    traceback.print_exc(limit=4)
        return failed


# ---- what a run can reach ----

def a_run_reaches_only_its_own(fixture):
    """POLICY-03: a run reaches no other goal by omitting the goal, by the id of a node, or by why.show."""
    foreign = fixture.do("goal.create", title="somebody else's")["goalId"]
    fixture.do("plan.apply", goal=foreign, nodes=[{**PLAN[0], "id": "PX"}, {**PLAN[1], "id": "TX", "parentId": "PX"}])
    before = fixture.version(foreign)
    for interface in fixture.interfaces:
        table = fixture.table
        code, result = interface.call(table["goal.show"], {}, "run")
        assert code is None and result["goalId"] == fixture.own, (interface.name, code)
        code, result = interface.call(table["goal.report"], {"text": "half"}, "run")
        assert code is None and result["goalId"] == fixture.own, (interface.name, code)
        for name, params in (("goal.show", {"goal": foreign}), ("why.show", {"of": foreign}), ("events.list", {"goal": foreign}),
                             ("goal.list", {}), ("work.done", {"node": "TX", "reason": "x"})):
            code, _ = interface.call(table[name], params, "run")
            assert code == "E_UNAUTHORIZED", (interface.name, name, code)
        for name in ("work.start", "work.block"):
            code, _ = interface.call(table[name], {"node": "TX", "reason": "x"}, "run")
            assert code in ("E_UNAUTHORIZED", "E_NOT_FOUND"), (interface.name, name, code)
            code, _ = interface.call(table[name], {"node": "TX", "reason": "x"}, "ci")
            assert code == "E_NOT_FOUND", (interface.name, name, code)
        code, result = interface.call(table["events.list"], {}, "run")
        assert code is None and {event.get("goalId") for event in result["events"]} <= {fixture.own}, (interface.name, code)
    assert fixture.version(foreign) == before


# POLICY-03 to POLICY-05: which role may call which operation, written by hand and not read from the table. All other operations are for people
# and the overseer.
RUNS_MAY = """agent.complete agent.progress agent.status agent.update handoff.add handoff.list handoff.show api.describe events.list goal.report goal.show mail.ack mail.inbox mail.send plan.apply plan.history plan.insights
    plan.recommend plan.review plan.show question.withdraw request.list request.respond request.send work.block
    work.start""".split()  # the policy says which runs may call the writing operations of plan.* and work.*
READERS_MAY = """account.list batch.list batch.show agent.status assignment.list assignment.show budget.show desk.show lane.show network.list handoff.list handoff.show replay.compare replay.run api.describe events.list goal.list goal.show goal.tally inbox.list mail.inbox plan.history plan.insights
    plan.recommend plan.show question.show request.list status.show why.show work.diff work.log""".split()
PEOPLE_ALONE_MAY = """desk.release lane.hold lane.release network.allow network.checks network.deny network.forget work.retry config.reload config.show daemon.stop goal.complete goal.release goal.reopen plan.approve plan.reject question.ack
    question.answer question.approve question.reject question.snooze question.undo token.create token.list
    token.revoke token.rotate""".split()


def roles_are_as_agreed(fixture):
    for name, operation in fixture.table.items():
        wanted = {"human"} | ({"overseer"} if name not in PEOPLE_ALONE_MAY else set())
        wanted |= ({"run"} if name in RUNS_MAY else set()) | ({"reader"} if name in READERS_MAY else set())
        assert set(operation["roles"]) == wanted, (name, operation["roles"])
        assert "reader" not in operation["roles"] or operation["kind"] != "writes", name


def a_run_does_not_plan(fixture):
    """POLICY-04, POLICY-05, PLAN-28: the overseer applies plans, and work agents request a review."""
    table, plan = fixture.table, {"goal": fixture.own, "nodes": PLAN, "version": 1}
    before = fixture.do("plan.show", goal=fixture.own)["version"]
    for interface in fixture.interfaces:
        assert interface.call(table["plan.apply"], plan, "run")[0] == "E_UNAUTHORIZED", interface.name
        assert interface.call(table["plan.review"], {}, "run")[0] is None, interface.name
        goal = fixture.goal()
        for name, params in (("plan.apply", {"goal": goal, "nodes": PLAN, "mode": "draft", "version": 1}), ("plan.insights", {"goal": goal}),
                             ("plan.apply", {"goal": goal, "nodes": PLAN[:3], "version": 1}), ("plan.recommend", {"goal": goal}),
                             ("work.add", {"goal": goal, "tier": "phase", "name": "P9", "acceptanceCriteria": ["seen"]}),
                             ("work.start", {"goal": goal, "node": "S1.1.1"}),
                             ("work.done", {"goal": goal, "node": "S1.1.1", "reason": "x", "evidence": "commit 1"}),
                             ("plan.show", {"goal": goal}), ("goal.list", {})):
            code, result = interface.call(table[name], params, "overseer")
            assert code is None, (interface.name, name, code)
        actors = {one["actor"] for one in fixture.do("goal.show", goal=goal)["records"]}
        assert "actor:test:overseer" in actors, actors
    assert fixture.do("plan.show", goal=fixture.own)["version"] == before


def the_four_codes_of_plans(fixture):
    """API-05: every interface returns the same four error codes. API-03: a transition that the table does not have is refused."""
    goal, missing = fixture.goal(), "goal_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
    table = fixture.table
    for interface in fixture.interfaces:
        bad = [{**PLAN[0], "dependsOn": ["P1"]}]
        assert interface.call(table["plan.apply"], {"goal": goal, "nodes": bad, "version": 1})[0] == "E_INVALID_PLAN", interface.name
        assert interface.call(table["plan.apply"], {"goal": goal, "nodes": PLAN, "version": 9})[0] == "E_CONFLICT", interface.name
        assert interface.call(table["plan.apply"], {"goal": missing, "nodes": PLAN})[0] == "E_NOT_FOUND", interface.name
        assert interface.call(table["plan.apply"], {"goal": fixture.own, "nodes": PLAN}, "run")[0] == "E_UNAUTHORIZED", interface.name
        assert interface.call(table["work.update"], {"goal": goal, "node": "T1.1", "status": "in_progress"})[0] == "E_CONFLICT"
    assert fixture.do("plan.show", goal=goal)["version"] == 1


def methods_have_the_names_that_were_asked_for(fixture):
    """API-01 to API-04: methods work with the prefix "overseer." and without it."""
    def ask(method, **params):
        _, result, error = fixture.client.call(method, params)
        assert not error, (method, error)
        return result
    goal = ask("overseer.goal.create", title="by its full name")["goalId"]
    ask("overseer.goal.update", goal=goal, priority="low")
    ask("overseer.goal.pause", goal=goal)
    ask("overseer.goal.resume", goal=goal)
    ask("plan.apply", goal=goal, nodes=PLAN)
    ask("overseer.work.update", goal=goal, node="S1.1.1", status="in_progress")
    _, _, error = fixture.client.call("overseer.work.update", {"goal": goal, "node": "T1.1", "status": "cancelled", "version": 9})
    assert error["data"]["code"] == "E_CONFLICT", error
    assert ask("overseer.status")["tally"] == ask("status.show")["tally"]
    ask("overseer.tick")
    ask("overseer.wake")
    types = [one["type"] for one in fixture.do("goal.show", goal=goal)["records"]]
    for kind in ("goal.created", "goal.updated", "goal.paused", "goal.resumed"):
        assert types.count(kind) == 1, (kind, types)


def one_key_is_one_write_at_any_interface(fixture):
    goals, seqs = set(), []
    for interface in fixture.interfaces + fixture.interfaces:
        goals.add(interface.call(fixture.table["goal.create"], {"title": "once", "key": "doors-1"})[1]["goalId"])
    assert len(goals) == 1, goals
    goal = goals.pop()
    for interface in fixture.interfaces + fixture.interfaces:
        seqs.append(interface.call(fixture.table["goal.report"], {"goal": goal, "text": "once", "key": "doors-2"})[1]["seq"])
    assert len(set(seqs)) == 1, seqs
    assert [one["type"] for one in fixture.do("goal.show", goal=goal)["records"]].count("goal.reported") == 1


def a_key_is_one_request_of_one_caller(fixture):
    """The same key with another body is a conflict at every interface, whichever interface was used first; the same key of another caller is
    another key."""
    create, report, table = fixture.table["goal.create"], fixture.table["goal.report"], fixture.table
    for n, interface in enumerate(fixture.interfaces):
        key = f"one-{n}"
        goal = interface.call(create, {"title": "staging", "key": key})[1]["goalId"]
        assert interface.call(report, {"goal": goal, "text": "half", "key": key})[0] is None, interface.name
        for other in fixture.interfaces:
            assert other.call(create, {"title": "production", "key": key})[0] == "E_CONFLICT", (interface.name, other.name)
            assert other.call(create, {"title": "staging", "tags": ["x"], "key": key})[0] == "E_CONFLICT", (interface.name, other.name)
            assert other.call(create, {"title": "staging", "key": key})[1]["goalId"] == goal, (interface.name, other.name)
            assert other.call(report, {"goal": goal, "text": "whole", "key": key})[0] == "E_CONFLICT", (interface.name, other.name)
            assert other.call(report, {"goal": goal[:-3], "text": "half", "key": key})[0] is None, (interface.name, other.name)
        theirs = interface.call(create, {"title": "staging", "key": key}, "overseer")
        assert theirs[0] is None and theirs[1]["goalId"] != goal, (interface.name, theirs)
        assert interface.call(report, {"goal": goal, "text": "of another", "key": key}, "overseer")[0] is None, interface.name
        said = [one for one in fixture.do("goal.show", goal=goal)["records"] if one["type"] == "goal.reported"]
        assert len(said) == 2, said
        assert interface.call(table["goal.update"], {"goal": goal, "priority": "low", "key": key})[0] is None, interface.name
        assert interface.call(table["goal.update"], {"goal": goal, "priority": "high", "key": key})[0] == "E_CONFLICT", interface.name
        assert fixture.do("goal.show", goal=goal)["priority"] == "low"


def a_key_at_once_is_one_request(fixture):
    """Of thirty simultaneous requests with one key and two bodies, the daemon applies one body and refuses the other one each time."""
    answers = []

    def go(title):
        answers.append((title, fixture.interfaces[0].call(fixture.table["goal.create"], {"title": title, "key": "at-once"})))
    threads = [threading.Thread(target=go, args=(("one", "two")[i % 2],)) for i in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    goals = {result["goalId"] for _, (code, result) in answers if code is None}
    assert len(answers) == 30 and len(goals) == 1, goals
    title = fixture.do("goal.show", goal=goals.pop())["title"]
    for asked, (code, _) in answers:
        assert code == (None if asked == title else "E_CONFLICT"), (title, asked, code)


def the_beginning_of_an_id_is_enough(fixture):
    goal = fixture.goal()
    for interface in fixture.interfaces:
        show = fixture.table["goal.show"]
        for begin in (goal[:-4], goal[5:-4], goal[5:-4].lower()):
            code, result = interface.call(show, {"goal": begin})
            assert code is None and result["goalId"] == goal, (interface.name, begin, code)
        for begin, wanted in ((goal[:9], "E_AMBIGUOUS"), ("goal_7ZZZZ", "E_NOT_FOUND"), ("01", "E_INVALID"), ("not an id", "E_INVALID")):
            assert interface.call(show, {"goal": begin})[0] == wanted, (interface.name, begin)
        assert interface.call(show, {"goal": fixture.own[:-3]}, "run")[0] is None, interface.name
        assert interface.call(show, {"goal": goal[:-3]}, "run")[0] == "E_UNAUTHORIZED", interface.name


def the_daemon_stops_through_each_interface(fixture):
    for interface in fixture.interfaces:
        code, result = interface.call(fixture.table[LAST], {})
        assert code is None, (interface.name, code)
        as_declared(fixture.table[LAST], result)
        assert fixture.daemon.process.wait(15) == 0, interface.name
        STARTED.remove(fixture.daemon.process)
        fixture.daemon.start()
        fixture.daemon.wait_joined()
        fixture.client.close()
        fixture.mcp.sessions.clear()


def no_interface_opens_the_store(fixture):
    """API-12: the command line, /mcp and /rpc are linked to no function of a database."""
    objects = [*BUILD.glob("overseer.p/src_cli_*.o"), *BUILD.glob("overseerd.p/src_daemon_mcp*.o"), *BUILD.glob("overseerd.p/src_daemon_rpc*.o")]
    assert len(objects) > 10, objects
    for one in objects:
        wanted = subprocess.run(["nm", "-u", str(one)], capture_output=True, text=True, check=True).stdout.split()
        reached = [name for name in wanted if re.match(r"sqlite3?_|PQ|store_|postgres", name)]
        assert not reached, (one.name, reached)


CHECKS = [(no_interface_opens_the_store, ""), (roles_are_as_agreed, "POLICY-04 POLICY-05"), (a_run_reaches_only_its_own, "POLICY-03"), (a_run_does_not_plan, "POLICY-04 POLICY-05 PLAN-28 PLAN-23"),
          (the_four_codes_of_plans, "API-03 API-05 PLAN-23 PLAN-24 PLAN-25 PLAN-26"),
          (methods_have_the_names_that_were_asked_for, "API-01 API-02 API-03 API-04"),
          (one_key_is_one_write_at_any_interface, ""), (a_key_is_one_request_of_one_caller, ""), (a_key_at_once_is_one_request, ""),
          (the_beginning_of_an_id_is_enough, ""),
          (the_daemon_stops_through_each_interface, "")]
WALKED = "API-02 API-03 API-05 POLICY-04 POLICY-05"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--only", default="")
    parser.add_argument("--slow", type=int, default=0, metavar="MS", help="every commit begins so much later")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    fixture = Fixture(options.engine, options.slow)
    walk = Walk(fixture)
    failed, passed = walk.run(options.only), 0
    if not failed and not options.only:
        passed = len(fixture.table)
        proof.passed("e2e", f"doors [{options.engine}]", WALKED)
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        try:
            function(fixture)
            passed += 1
            proof.passed("e2e", f"{function.__name__} [{options.engine}]", rows)
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=4)
    fixture.client.close()
    fixture.daemon.stop()
    broken = fixture.daemon.promises_broken()
    print("\n".join(broken[:5]), end="")
    print(f"{walk.calls} calls through three doors, {len(fixture.table)} operations on {options.engine}")
    print(f"{passed} passed, {failed + len(broken)} failed")
    return 1 if failed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
