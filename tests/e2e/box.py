#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a hostile agent confined to its own work? The real daemon, real holds and sandboxes, and a hostile program.

box.py [hostile|alone|crowd|slow|cut|required|unboxed|unchecked|scope|again|home|share|orphan|limits|defaults|hooks|leftovers|confined] …

hostile: every attempt of attack/attack.py, by a program that knows all paths, pids and tokens; one line for each. alone: the same
interfaces without any sandbox. crowd: as many connections as one run can get. slow: requests that do not end. cut: an agent without a network.
required: no sandbox, no run. unboxed: checks that are configured without a sandbox. unchecked: checks that need a sandbox which cannot be
created. scope: tools of Overseer that were denied. again: a run that begins again gets what the first run got. home: links that an agent
leaves in its HOME. share: files of the operator in an agent's HOME. orphan: processes that are left behind. limits: an agent that uses as
much of the machine as it can. defaults: limits without any setting. hooks: the hooks of the repository. confined: the limit on processes,
for a user other than root.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import proof
import secrets  # tests/e2e/secrets.py
from world import BUILD, OVERSEER, OVERSEERD, Broken, Client, Daemon, Unreachable, folder_make, wait_until

HERE = Path(__file__).resolve().parent
SECRET = "sk-operator-0123456789abcdef"
MEMORY_MIB = 1024
LEAST = 20  # attempts
RUN_CONNECTIONS = 64  # of one run at one socket
HOLD = BUILD / "overseer-hold"
ENDED_WITHIN = 20  # seconds from the end of a goal to the end of its agents; the daemon first asks them to end, and waits 5 s


def check(holds, what):
    if not holds:
        raise Broken(what)


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}).stdout.strip()


class Fixture:
    """A daemon with a repository and one agent, which is a program of this test."""

    def __init__(self, folder, program, sandbox=None, path=None, daemon=OVERSEERD, **agent):
        self.folder, self.operator, self.repo, self.attack = folder, folder / "operator", folder / "repo", folder / "attack"
        for place in (self.operator, self.repo, self.attack):
            place.mkdir()
        shutil.copy(program, self.attack / "program.py")
        shutil.copy(HERE / "attack/mcp_ask.py", self.attack)
        (self.operator / ".ssh").mkdir()
        (self.operator / ".ssh" / "id_secret").write_text(SECRET)
        git(self.repo, "init", "-q", "-b", "main")
        git(self.repo, "config", "user.name", "somebody")
        git(self.repo, "config", "user.email", "somebody@localhost")
        (self.repo / "README").write_text("begun\n")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-q", "-m", "begin")
        git(self.repo, "checkout", "-q", "--detach")
        self.begin = git(self.repo, "rev-parse", "main")
        self.config = folder / "overseer.toml"
        self.config.write_text(self.configuration({"sees": [str(self.attack)], **(sandbox or {})}, agent))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", program=daemon, options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(self.config), "HOME": str(self.operator),
                                          "OPERATOR_KEY": SECRET, **({"PATH": path} if path else {})})
        self.daemon.start()
        self.daemon.wait_joined()
        self.state = self.daemon.socket.with_suffix(".state")
        self.client = Client(self.daemon.socket)

    def configuration(self, sandbox, agent):
        rows = {"supervision": {"enabled": True, "tick_every": "1s", "idle_after": "60s", "min_resend_interval": "0s",
                                "backoff.base": "1s", "backoff.max": "5s"},
                "repo": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
                "verify": {"command": "sh ./check.sh"}, "landing": {"how": "rebase"}, "sandbox": sandbox}
        rows["plans"] = {"agents": agent.pop("plans", [])}
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
                       for name, row in rows.items())
        agent = {"id": "coder", "driver": "command", "program": "/usr/bin/python3", "args": [str(self.attack / "program.py")],
                 **agent}
        return text + "[[agents]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in agent.items())

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:  # the daemon closes a connection that was idle for long
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        check(error is None, f"{method}: {error}")
        return result

    def goal(self):
        return self.do("goal.create", title="a task for an agent")["goalId"]

    def plan(self, goal, text):
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": text}])

    def records(self, goal, kind):
        return self.do("events.list", goal=goal, type=kind)["events"]

    def assignment(self, goal):
        found = self.do("assignment.list", goal=goal)["assignments"]
        return found[0] if found else {}

    def wait(self, what, question, within=40):
        return wait_until(what, lambda: self.daemon.alive() and question(), within, 0.1)

    def tree(self, goal):
        found = list(self.state.glob(f"work/worktrees/{goal.removeprefix('goal_')}-*/tree"))
        return found[0] if found else None

    def run(self, goal):
        """The folder of the goal's run, once the run has begun."""
        for path in self.state.glob("runs/*/run.json"):
            if json.loads(path.read_text())["goal"] == goal.removeprefix("goal_") and (path.parent / "hold.sock").exists():
                return path.parent
        return None

    def log(self):
        return self.daemon.log.read_text(errors="replace")

    def nothing_left(self):
        return not list(left_below(self))

    def close(self):
        """Checks that cancelled goals leave no hold and no agent; ends any process that is left, and then the test fails."""
        for goal in self.do("goal.list")["goals"]:
            self.client.call("goal.cancel", {"goal": goal["goalId"], "reason": "the test is over"})
        try:
            wait_until("all goals are cancelled, and nobody is left of them", self.nothing_left, ENDED_WITHIN, 0.2)
        except Broken as error:
            raise Broken(f"{error}: {self.left_end()}") from error
        finally:
            self.client.close()
            self.daemon.stop()
        check(self.nothing_left(), f"after the daemon somebody is left: {self.left_end()}")

    def left_end(self):
        left = list(left_below(self))
        for pid, _ in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return left


def left_below(fixture):
    """(pid, command line) of holds, agents and their children. The command line of an agent names its program, which is in a folder of its own."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = os.readlink(path / "cwd")
        except OSError:
            continue
        if place.startswith(str(fixture.state)) or str(fixture.attack) in words:
            yield int(path.name), words[:200]


def holds_below(folder):
    """(pid, folder of its run) of the holds that work below `folder`."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            place = os.readlink(path / "cwd")
            if place.startswith(str(folder)) and os.readlink(path / "exe").endswith("/overseer-hold"):
                yield int(path.name), place
        except OSError:
            pass


def hold_of(run):
    for pid, _ in holds_below(run):
        return pid
    raise Broken(f"nobody holds {run}")


IN_CHECKS = """#!/bin/sh
# What the operator's checks run was written by the agent.
for path in {paths}; do
    if cat "$path" >/dev/null 2>&1; then echo "reached: $path"; fi
    if echo x 2>/dev/null >>"$path"; then echo "reached: wrote $path"; fi
done
echo x 2>/dev/null >{outside}
cat /proc/[0-9]*/environ 2>/dev/null | grep -q {secret} && echo "reached: environment"
exit 1
"""


def knowledge(fixture, goal, other, token, abstract):
    run = fixture.run(other)
    outside = fixture.folder / "outside"
    script = IN_CHECKS.format(paths=" ".join(map(str, (fixture.config, fixture.folder / "store.db", fixture.state / "tokens",
                                                       fixture.operator / ".ssh/id_secret", fixture.repo / "README"))),
                              outside=outside, secret=SECRET)
    return {"goal": goal, "other_goal": other, "socket": str(fixture.daemon.socket), "door": str(fixture.state / "door/sock"),
            "state": str(fixture.state), "store": str(fixture.folder / "store.db"), "config": str(fixture.config),
            "other_run": str(run), "other_token": (run / "token").read_text(), "other_tree": str(fixture.tree(other)),
            "other_hold_pid": hold_of(run), "person_token": token, "operator": str(fixture.operator),
            "secret_file": str(fixture.operator / ".ssh/id_secret"), "secret": SECRET, "daemon_pid": fixture.daemon.pid,
            "repo": str(fixture.repo), "abstract": abstract, "memory": MEMORY_MIB << 20, "in_checks": script}


def attempts_of(fixture, goal):
    path = fixture.wait("the hostile agent is through", lambda: (tree := fixture.tree(goal)) and (tree / "attempts.json").exists()
                      and tree / "attempts.json", 60)
    text = fixture.wait("they are written", path.read_text, 10)  # the file exists before it has its text
    return json.loads(text)


def listen_abstract(name):
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + name)
    server.listen(8)
    return server


def all_untouched(fixture):
    check(git(fixture.repo, "rev-parse", "main") == fixture.begin, "the default branch was moved")
    check((fixture.repo / "README").read_text() == "begun\n", "the operator's checkout was changed")
    check("an agent was here" not in fixture.config.read_text(), "the configuration was changed")
    check(not (fixture.operator / ".bashrc").exists(), "the operator's HOME was written")
    check(not (fixture.folder / "outside").exists(), "a check wrote outside of its checkout")
    check(not Path("/usr/bin/overseer-was-here").exists(), "the system was written")


def hostile(folder):
    """Every attempt is stopped, and each prints a line."""
    fixture = Fixture(folder, HERE / "attack/attack.py", sandbox={"mode": "require", "memory": MEMORY_MIB})
    abstract = f"overseer-test-{os.getpid()}"
    server = listen_abstract(abstract)
    try:
        other, goal = fixture.goal(), fixture.goal()
        fixture.plan(other, "Be quiet.")
        fixture.wait("the other run stands", lambda: fixture.run(other) and (fixture.run(other) / "token").exists())
        token = fixture.do("token.create", role="human", actor="somebody")["token"]
        (fixture.attack / "know.json").write_text(json.dumps(knowledge(fixture, goal, other, token, abstract)))
        fixture.plan(goal, "Do harm.")
        came = attempts_of(fixture, goal)
        for name, (verdict, how) in came.items():
            print(f"{verdict:8} {name}: {how[:150]}", flush=True)
        reached = {name: how for name, (verdict, how) in came.items() if verdict != "stopped"}
        check(not reached, f"it got through: {json.dumps(reached, indent=1)}")
        check(len(came) >= LEAST, f"only {len(came)} attempts were made")
        checked = fixture.wait("what it wrote was checked", lambda: fixture.records(goal, "work.checked"), 20)
        check("reached" not in json.dumps(checked), f"the checks got through: {checked}")
        shown = fixture.assignment(goal)
        check(shown["sandbox"] == "bwrap+landlock", f"assignment.list says {shown.get('sandbox')!r}")
        accepted = fixture.records(goal, "dispatch.accepted")
        check("bwrap+landlock" in json.dumps(accepted), f"the record does not say what holds it: {accepted}")
        for words in ("sandbox: bwrap+landlock", "refused at the socket for runs: A token is missing", "This token belongs to another run", "was refused token.create", "This run sends requests too often",
                      "socket is for runs of agents only", "unknown, revoked or has expired"):
            check(words in fixture.log(), f"the log does not say: {words}")
        all_untouched(fixture)
        check(fixture.run(other) and fixture.daemon.alive(), "the other run was harmed")
        print(f"ok: {len(came)} attempts, and the checks: all stopped")
    finally:
        server.close()
        fixture.close()
    proof.passed("e2e", "box.hostile", "SCOPE-04")


def alone(folder):
    """The daemon does not accept an agent without a sandbox as a person: it recognises every process below a hold."""
    fixture = Fixture(folder, HERE / "attack/alone.py", sandbox={"mode": "off"})
    try:
        goal = fixture.goal()
        (fixture.attack / "know.json").write_text(json.dumps({"socket": str(fixture.daemon.socket), "state": str(fixture.state), "goal": goal}))
        fixture.plan(goal, "Come in as a person.")
        path = fixture.wait("it has tried", lambda: (tree := fixture.tree(goal)) and (tree / "answer.json").exists() and tree / "answer.json")
        answer = json.loads(path.read_text())
        check(len(answer) == 4 and all(one["status"] in (401, 403) for one in answer), f"it came in: {answer}")
        check([one["status"] for one in answer[:2]] == [403, 403], f"it is not called a run: {answer}")
        check("was refused at the socket for people" in fixture.log(), "the log does not say so")
        check(fixture.assignment(goal)["sandbox"] in ("", "none"), "it is called held")
        print("ok: a run without a sandbox is not taken for a person")
    finally:
        fixture.close()
    proof.passed("e2e", "box.alone", "")


def mcp_greeted(fixture, token):
    connection = http.client.HTTPConnection("overseer", timeout=5)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(5)
    connection.sock.connect(str(fixture.state / "door/sock"))
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
                       {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


def crowd(folder):
    """A run that opens as many connections as it can keeps no other run and no person from connecting."""
    fixture = Fixture(folder, HERE / "attack/crowd.py", sandbox={"mode": "off"})
    try:
        goal, other = fixture.goal(), fixture.goal()
        token = fixture.do("token.create", role="run", actor="actor:agent:other", goal=other, run="R_1")["token"]
        (fixture.attack / "know.json").write_text(json.dumps({"socket": str(fixture.daemon.socket), "door": str(fixture.state / "door/sock")}))
        fixture.plan(goal, "Come in as a crowd.")
        tree = fixture.wait("there is a crowd", lambda: (tree := fixture.tree(goal)) and (tree / "crowd.json").exists() and tree)
        slowest, count = 0.0, 0
        while not (tree / "crowded.json").exists():
            begin = time.monotonic()
            try:
                status = mcp_greeted(fixture, token)
                person = Client(fixture.daemon.socket, 5)
                check(person.call("goal.list", {})[2] is None and status == 200, f"answered {status}")
                person.close()
            except (OSError, Unreachable) as error:
                raise Broken(f"kept out by {json.loads((tree / 'crowd.json').read_text())}: {error}") from error
            slowest, count = max(slowest, time.monotonic() - begin), count + 1
            time.sleep(0.25)  # the rate of each run is limited, too
        crowded = json.loads((tree / "crowded.json").read_text())
        check(crowded["tried"] >= 2000 and count >= 20, f"{crowded}, {count} answers")
        check(max(crowded["open"]) <= RUN_CONNECTIONS, f"one run has {crowded['open']} connections at a door")
        print(f"ok: {crowded['tried']} connections of one run, {count} answers for others, the slowest {slowest:.2f} s")
    finally:
        fixture.close()
    proof.passed("e2e", "box.crowd", "")


def slow(folder):
    """The daemon breaks off a request that is not complete within 10 s, however slowly its bytes still arrive; also the second request of a
    connection."""
    fixture = Fixture(folder, HERE / "attack/done.py", sandbox={"mode": "off"})
    try:
        token = fixture.do("token.create", role="run", actor="actor:agent:other", goal=fixture.goal(), run="R_1")["token"]
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        head = f"POST /mcp HTTP/1.1\r\nHost: overseer\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n" \
               "Content-Type: application/json\r\nContent-Length: "
        for first in (False, True):
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(0.5)
            sock.connect(str(fixture.state / "door/sock"))
            if first:
                sock.sendall(f"{head}{len(body)}\r\n\r\n{body}".encode())
                check(sock.recv(4096).startswith(b"HTTP/1.1 4"), "a session is asked for")
            begin = time.monotonic()
            sock.sendall(f"{head}4000\r\n\r\n".encode())
            with suppress(OSError):
                while time.monotonic() - begin < 20:
                    sock.sendall(b" ")
                    with suppress(TimeoutError):
                        if sock.recv(1) == b"":
                            break
            spent = time.monotonic() - begin
            check(9 <= spent < 13, f"broken off after {spent:.1f} s")
            sock.close()
        print("ok: a request that does not end is broken off after 10 s")
    finally:
        fixture.close()
    proof.passed("e2e", "box.slow", "")


def cut(folder):
    """With network = "none" an agent cannot even reach the loopback of the machine."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(4)
        fixture = Fixture(folder, HERE / "attack/cut.py", network="none")
        try:
            goal = fixture.goal()
            (fixture.attack / "know.json").write_text(json.dumps({"port": server.getsockname()[1]}))
            fixture.plan(goal, "Reach out.")
            path = fixture.wait("it has tried", lambda: (tree := fixture.tree(goal)) and (tree / "answer.json").exists() and tree / "answer.json")
            answer = json.loads(path.read_text())
            check(answer and all(said != "connected" for said in answer.values()), f"it reached out: {answer}")
            print(f"ok: no network: {answer}")
        finally:
            fixture.close()


def without_bubblewrap(folder):
    """A PATH without bubblewrap."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("git", "sh", "env", "python3"):
        (tools / name).symlink_to(shutil.which(name))
    return str(tools)


def required(folder):
    """With sandbox.mode = "require" and no bubblewrap, the daemon starts no run and says why."""
    fixture = Fixture(folder, HERE / "attack/alone.py", sandbox={"mode": "require"}, path=without_bubblewrap(folder))
    try:
        goal = fixture.goal()
        fixture.plan(goal, "Begin.")
        fixture.wait("it is said why", lambda: "sandbox.mode is require, and bubblewrap is not installed" in fixture.log())
        check(not list(fixture.state.glob("runs/*/hold.sock")), "a run was started")
        print("ok: nothing begins without the sandbox that was asked for")
    finally:
        fixture.close()


def checked(fixture, before=None):
    """Lets an agent finish one task; returns the record of its checks."""
    goal = fixture.goal()
    fixture.plan(goal, "Be done.")
    fixture.wait("its run has begun", lambda: fixture.run(goal))
    if before:
        before()
    (fixture.attack / "go").write_text("")
    return fixture.wait("it was checked", lambda: fixture.records(goal, "work.checked"))[0]


def unboxed(folder):
    """With sandbox.checks = false, sandbox.mode = "require" applies to runs only: the daemon runs the checks without a sandbox."""
    fixture = Fixture(folder, HERE / "attack/done.py", sandbox={"mode": "require", "checks": False})
    try:
        record = checked(fixture)
        check(record["to"] == "passed", f"its checks: {record}")
        print("ok: checks that are to have no sandbox are carried out")
    finally:
        fixture.close()


def unchecked(folder):
    """A check whose sandbox cannot be created is no verdict on the work: the daemon tells a person why, and does not tell the agent that its work is
    wrong."""
    fixture = Fixture(folder, HERE / "attack/done.py", sandbox={"mode": "off"}, path=without_bubblewrap(folder))

    def require():
        fixture.config.write_text(fixture.config.read_text().replace('mode = "off"', 'mode = "require"'))
        fixture.do("config.reload")

    try:
        record = checked(fixture, require)
        check(record["to"] == "not checked", f"its checks: {record}")
        check("sandbox.mode is require, and bubblewrap is not installed" in record["text"], f"it does not say why: {record}")
        print("ok: a check that cannot be held is not carried out, and not called failed")
    finally:
        fixture.close()


ORPHANED_AFTER = (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds from a plan to the end of its goal
HOLD_TAKES = 0.4  # seconds until a hold is ready, so that some goals end before


def slow_holds(folder):
    """A daemon whose holds start slowly."""
    place = folder / "programs"
    place.mkdir()
    shutil.copy(OVERSEERD, place / "overseerd")
    (place / "overseer").symlink_to(OVERSEER)
    (place / "overseer-hold").write_text(f'#!/bin/sh\nsleep {HOLD_TAKES}\nexec {HOLD} "$@"\n')
    (place / "overseer-hold").chmod(0o755)
    return place / "overseerd"


def orphan(folder):
    """A cancelled goal leaves no process: whenever it is cancelled, after a daemon that stopped while its agents continued, and with an agent that
    does not want to end."""
    fixture = Fixture(folder, HERE / "attack/orphan.py", sandbox={"mode": "off"}, daemon=slow_holds(folder))
    try:
        with subprocess.Popen(["sleep", "60"], cwd=fixture.state) as planted:
            check(not fixture.nothing_left(), "this test would see nobody")
            planted.kill()
        goal = fixture.goal()
        fixture.plan(goal, "Stay.")
        fixture.wait("both of them stand", lambda: (tree := fixture.tree(goal)) and len(list(tree.glob("stands-*"))) == 2)
        fixture.client.close()
        fixture.daemon.stop()
        check(len(list(holds_below(fixture.state))) == 1, "an agent does not outlive the daemon")
        fixture.daemon.start()
        fixture.daemon.wait_joined()
        fixture.client = Client(fixture.daemon.socket)
        for after in ORPHANED_AFTER:
            other = fixture.goal()
            fixture.plan(other, "Stay.")
            time.sleep(after)
            fixture.do("goal.cancel", goal=other, reason="not any more")
        check(fixture.run(goal) and not fixture.nothing_left(), "whoever was not cancelled is gone")
    finally:
        fixture.close()
    print("ok: nobody is left of a goal that is cancelled")


def denied(answer):
    return "error" in answer or answer["result"].get("isError")


def scope(folder):
    """SCOPE-05: a denied tool is in no list and cannot be called, by either of its names. SCOPE-04: not even after a restart of the daemon with
    settings that allow it."""
    fixture = Fixture(folder, HERE / "attack/scope.py", driver="claude", kind="claude", deny=["mcp__overseer__report_progress", "Bash"])
    try:
        goal = fixture.goal()
        (fixture.attack / "know.json").write_text(json.dumps({"state": str(fixture.state), "door": str(fixture.state / "door/sock")}))
        fixture.plan(goal, "Report.")
        for number in (1, 2):
            path = fixture.wait("it has asked", lambda: (tree := fixture.tree(goal)) and (tree / f"answer{number}.json").exists()
                              and tree / f"answer{number}.json")
            answer = json.loads(path.read_text())
            check(answer["tools"] and not {"report_progress", "agent_progress"} & set(answer["tools"]), f"it is listed: {answer['tools']}")
            check(denied(answer["report_progress"]) and denied(answer["agent_progress"]), f"it can be called: {answer}")
            check(not denied(answer["agent_status"]), f"what was not denied is refused: {answer['agent_status']}")
            if number == 1:
                fixture.client.close()
                fixture.daemon.kill()
                fixture.config.write_text(fixture.config.read_text().replace('"mcp__overseer__report_progress", ', ""))
                fixture.daemon.start()
                fixture.daemon.wait_joined()
                fixture.client = Client(fixture.daemon.socket)
                (fixture.tree(goal) / "again").write_text("")
        check("not in the scope of this run" in fixture.log(), "the log does not say so")
        print("ok: what is denied is in no list, cannot be called, and stays denied")
    finally:
        fixture.close()
    proof.passed("e2e", "box.scope", "SCOPE-02 SCOPE-04 SCOPE-05 TEST-10")


def same(started):
    """The part of a run's start that must be the same each time; the session and the run's own files are left out."""
    words, kept = started["arguments"], []
    for i, word in enumerate(words):
        if word not in ("--session-id", "--resume", "--mcp-config") and words[i - 1] not in ("--session-id", "--resume", "--mcp-config"):
            kept.append(word)
    return {"arguments": kept, "tools": started["tools"]}


def task_of(prompt):
    """The text of the task, without what went wrong before and without how to reply."""
    check("Task:" in prompt and "Begin again." in prompt, f"no task in {prompt!r}")
    return prompt[prompt.index("Task:"):prompt.index("```json")].split("\n\n")[0].split("\nWhen ")[0].rstrip()


def node(name, **more):
    return {"id": name, "parentId": "P1", "tier": "task", "name": f"the work {name}", "acceptanceCriteria": ["it is done"], **more}


PHASE = {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]}


class Again:
    """Consecutive runs of one node, and what each was started with."""

    def __init__(self, fixture, out):
        self.fixture, self.out = fixture, out

    def started(self, number):
        path = self.out / f"start-{number}.json"
        self.fixture.wait(f"run {number} has begun", path.exists, 60)
        return json.loads(path.read_text())

    def repeated(self, number, how):
        """Checks that this run was started like the first."""
        first, later = self.started(1), self.started(number)
        check(same(later) == same(first), f"{how}: {json.dumps(same(later))}, first: {json.dumps(same(first))}")
        check(task_of(later["prompt"]) == task_of(first["prompt"]), f"{how}: it is told {later['prompt']!r}, first {first['prompt']!r}")
        print(f"ok: the same {how}", flush=True)

    def die(self, number):
        (self.out / f"die-{number}").write_text("")


CHANGED = [('model = "first"', 'model = "second"'), ('thinking = "high"', 'thinking = "low"'),
           ('tools = ["Read", "Edit", "Bash"]', 'tools = ["Read", "Edit", "Bash", "Write"]'), ('deny = ["WebFetch"]', 'deny = []')]


def settings_change(fixture):
    text = fixture.config.read_text()
    for old, new in CHANGED:
        check(old in text, f"no {old} in the settings")
        text = text.replace(old, new)
    fixture.config.write_text(text)


def first_is_right(fixture, goal, first):
    words = first["arguments"]
    check(words[words.index("--tools") + 1] == "Read,Edit", f"SCOPE-01: its tools are {words}")
    denied = words[words.index("--disallowedTools") + 1].split(",")
    check(denied == ["WebFetch", "Bash", "mcp__overseer__report_progress"], f"SCOPE-02: denied are {denied}")
    check("report_progress" not in first["tools"] and "agent_status" in first["tools"], f"SCOPE-05: ours are {first['tools']}")
    check("--model" in words and words[words.index("--model") + 1] == "first", f"its model: {words}")
    begun = fixture.wait("it is kept", lambda: fixture.do("assignment.show", goal=goal, assignment=fixture.assignment(goal)["assignmentId"])["startedWith"])
    for name, value in {"agentId": "coder", "model": "first", "thinking": "high", "label": "T1", "toolsAllow": ["Read", "Edit"],
                        "toolsDeny": denied}.items():
        check(begun[name] == value, f"ASSIGN-19: {name} is {begun[name]!r}")
    check(begun["timeout"] > 0 and begun["textHash"], f"ASSIGN-19: {begun}")
    return begun


def plans_are_narrow(fixture, goal, out):
    """SCOPE-07: a run cannot give away tools that it does not have, and a node that it plans has no more tools than the run."""
    wide = json.loads((out / "plan-wide.json").read_text())
    check(denied(wide) and "names Bash, which this run may not use itself" in json.dumps(wide), f"SCOPE-07: it gave more: {wide}")
    given = json.loads((out / "plan-silent.json").read_text())
    check(not denied(given), f"it could not plan: {given}")
    child = next(one for one in fixture.do("plan.show", goal=goal)["phases"][0]["tasks"] if one["id"] == "T2")
    check(child["toolsAllow"] == ["Read", "Edit"] and {"WebFetch", "Bash"} <= set(child["toolsDeny"]), f"SCOPE-07: its child has {child}")
    print("ok: what a run plans for others has no more than it has itself")


def widened(fixture, out):
    """SCOPE-03: a node that names a tool which its agent does not have starts no run."""
    before, goal = len(list(out.glob("start-*"))), fixture.goal()
    fixture.do("plan.apply", goal=goal, nodes=[PHASE, node("T1", toolsAllow=["Read", "NotebookEdit"])])
    fixture.wait("it is said why", lambda: "a node can only narrow what its agent has" in fixture.log())
    said = fixture.wait("and on the record", lambda: [one for one in fixture.do("events.list", goal=goal)["events"]
                                                    if "names NotebookEdit, which coder does not have" in json.dumps(one)])
    check(said and len(list(out.glob("start-*"))) == before, "SCOPE-03: a run was started")
    print("ok: a node that asks for more than its agent has does not begin")


def typed(fixture):
    """SCOPE-01: a person names the tools together with the task."""
    done = subprocess.run([str(OVERSEER), "run", "look around", "--agent", "coder", "--allow", "Read", "--deny", "Bash", "--deny", "Edit",
                           "--json", "--socket", str(fixture.daemon.socket)], cwd=fixture.repo, capture_output=True, text=True, check=False,
                          env={**os.environ, "OVERSEER_CONFIG": str(fixture.config), "HOME": str(fixture.operator)})
    check(done.returncode == 0, f"overseer run: {done.stdout} {done.stderr}")
    goal = next(one["goalId"] for one in fixture.do("goal.list")["goals"] if one["title"] == "look around")
    task = fixture.do("plan.show", goal=goal)["phases"][0]["tasks"][0]
    check(task["toolsAllow"] == ["Read"] and task["toolsDeny"] == ["Bash", "Edit"], f"overseer run --allow: {task}")
    print("ok: overseer run --allow Read --deny Bash")


def again(folder):
    """ASSIGN-19, SCOPE-06: a run that begins again gets exactly what the first run got, although the settings have changed: after the death of the
    agent, after the death of the daemon, and when a person wants it once more."""
    out = folder / "out"
    out.mkdir()
    fixture = Fixture(folder, HERE / "attack/again.py", sandbox={"writes": [str(out)]}, driver="claude", kind="claude", model="first",
                  thinking="high", tools=["Read", "Edit", "Bash"], deny=["WebFetch"], plans=["agent:coder"])
    try:
        goal, runs = fixture.goal(), Again(fixture, out)
        work = node("T1", toolsAllow=["Read", "Edit"], toolsDeny=["Bash", "mcp__overseer__report_progress", "WebFetch"], objective="Begin again.")
        later = {"dependsOn": ["T1"]}
        plans = {"wide": [PHASE, work, node("T2", toolsAllow=["Read", "Bash"], **later)], "silent": [PHASE, work, node("T2", **later)]}
        (fixture.attack / "know.json").write_text(json.dumps({"state": str(fixture.state), "door": str(fixture.state / "door/sock"),
                                                            "out": str(out), "plans": plans}))
        fixture.do("plan.apply", goal=goal, nodes=[PHASE, work])
        begun = first_is_right(fixture, goal, runs.started(1))
        plans_are_narrow(fixture, goal, out)
        settings_change(fixture)
        fixture.do("config.reload")
        runs.die(1)
        runs.repeated(2, "after its death, with other settings")
        fixture.client.close()
        fixture.daemon.kill()
        fixture.daemon.start()
        fixture.daemon.wait_joined()
        fixture.client = Client(fixture.daemon.socket)
        runs.die(2)
        runs.repeated(3, "after the daemon's death and its own")
        fixture.do("work.retry", goal=goal, node="T1", reason="once more, please")
        runs.repeated(4, "when a person wants it once more")
        shown = fixture.do("assignment.show", goal=goal, assignment=fixture.assignment(goal)["assignmentId"])
        check(shown["startedWith"] == begun, f"{shown['startedWith']} is not {begun}")
        widened(fixture, out)
        typed(fixture)
    finally:
        fixture.close()
    proof.passed("e2e", "box.again", "TEST-12 ASSIGN-19 SCOPE-01 SCOPE-02 SCOPE-03 SCOPE-06 SCOPE-07")


def home(folder):
    """The daemon writes its files into an agent's HOME, whatever links the agent has left there."""
    fixture = Fixture(folder, HERE / "attack/home.py", driver="acp", kind="opencode", base_url="http://127.0.0.1:9/v1", model="x")
    target = fixture.operator / "planted"
    target.mkdir()
    try:
        goal = fixture.goal()
        (fixture.attack / "know.json").write_text(json.dumps({"target": str(target)}))
        fixture.plan(goal, "Plant.")
        fixture.wait("the link is found by the next run", lambda: "in its HOME as something other than a folder" in fixture.log())
        time.sleep(0.5)
        check(not list(target.iterdir()), f"the daemon wrote to {list(target.iterdir())}")
        print("ok: a link in its HOME leads the daemon nowhere")
    finally:
        fixture.close()


CODEX = {"OPENAI_API_KEY": None, "tokens": {"id_token": "an-id", "access_token": "an-access", "refresh_token": "person-refresh", "account_id": "a"},
         "last_refresh": "2026-11-01T00:00:00Z"}
OWN = {".codex/auth.json": json.dumps(CODEX), ".tool/oauth.json": json.dumps({"name": "x", "deep": [{"refreshToken": "person-refresh"}]}),
       ".gemini/oauth_creds.json": "no JSON, person-refresh", ".qwen/oauth_creds.json": json.dumps({"access_token": "a", "refresh_token": "person-refresh"})}


def shared(folder, files, **agent):
    """What an agent could do with these files of the operator."""
    folder.mkdir()
    fixture = Fixture(folder, HERE / "attack/share.py", sandbox={"mode": "require"}, driver="acp", **agent)
    try:
        for name in files:
            (fixture.operator / name).parent.mkdir(parents=True, exist_ok=True)
            (fixture.operator / name).write_text(OWN.get(name, "begun\n"))
        (fixture.attack / "know.json").write_text(json.dumps({"files": files, "operator": str(fixture.operator)}))
        goal = fixture.goal()
        fixture.plan(goal, "Write to them.")
        path = fixture.wait("it has tried", lambda: (tree := fixture.tree(goal)) and (tree / "answer.json").exists() and tree / "answer.json")
        check("person-refresh" not in path.read_text(), f"a run has read a refresh token: {path.read_text()}")
        check(not [one for one in fixture.state.glob("homes/**/*") if one.is_symlink() and not one.resolve().is_dir()], "a file of the operator's is linked")
        return json.loads(path.read_text()), {name: (fixture.operator / name).read_text() for name in files}
    finally:
        fixture.close()


def share(folder):
    """An agent gets copies of files, and logins without what renews them; it can read a shared folder unless the folder contains a login."""
    goose = [".config/goose/config.yaml", ".config/goose/secrets.yaml"]
    answer, left = shared(folder / "kind", goose, kind="goose")
    for name in goose:
        check(left[name] == "begun\n", f"the operator's {name} is {left[name]!r}")
        check(answer[name]["own"].startswith("begun\nan agent"), f"it has no copy of {name} to write: {answer[name]}")
    login, settings, inside, other, broken, whole = (".codex/auth.json", ".codex/other.toml", ".tools/settings", ".tool/oauth.json",
                                                     ".gemini/oauth_creds.json", ".qwen/oauth_creds.json")
    answer, left = shared(folder / "named", [login, settings, inside, other, broken, whole], kind="goose",
                          share=[login, settings, ".tools", other, broken, ".qwen", ".", "./.qwen", ".qwen/"])
    check(left == {name: OWN.get(name, "begun\n") for name in left}, f"the operator's are {left}")
    check(all(answer[name]["before"] == "begun\n" for name in (settings, inside)), f"it does not see them: {answer}")
    check("an agent was here" in answer[settings]["own"] and "Read-only" in answer[inside]["own"], f"its own are {answer}")
    kept = {**CODEX, "tokens": {**CODEX["tokens"], "refresh_token": ""}}
    check(json.loads(answer[login]["before"]) == kept, f"its login is {answer[login]}")
    check(json.loads(answer[other]["before"]) == {"name": "x", "deep": [{"refreshToken": ""}]}, f"it has {answer[other]}")
    check("No such file" in answer[broken]["before"] and "No such file" in answer[whole]["before"], f"it has what it may not: {answer}")
    print("ok: it writes nothing of what it shares with the operator, and nothing that it has renews a login")


LIMITS = {"memory": 192, "cpu": 40, "processes": 24}  # MiB, percent, at once
EASY = 64 << 20  # bytes that a process without limits can certainly get


def doctor(fixture):
    """What `overseer doctor` says about limits."""
    out = subprocess.run([str(OVERSEER), "doctor", "--json", "--socket", str(fixture.daemon.socket)], capture_output=True, text=True,
                         env={**os.environ, "OVERSEER_CONFIG": str(fixture.config)}, check=False).stdout
    return next(row for row in json.loads(out)["checks"] if row["check"] == "limits")


def not_shown(what, why):
    print(f"not shown here: {what}: {why}", flush=True)


def memory_is_bounded(answer, how):
    eaten, most = answer["memory"], LIMITS["memory"] << 20
    check(0 < eaten["bytes"] < most, f"it took {eaten['bytes']} of {most} bytes")
    check(eaten["refused"] or eaten["status"] == -signal.SIGKILL, f"nothing stopped it: {eaten}")
    print(f"ok: memory ({how}): stopped at {eaten['bytes'] >> 20} of {LIMITS['memory']} MiB, {'refused' if eaten['refused'] else 'killed'}")


def others_are_well(fixture, other):
    check(fixture.daemon.alive() and fixture.run(other), "the daemon or another run was harmed")
    check(len(bytearray(b"x" * (LIMITS["memory"] << 20) + b"x" * EASY)) > LIMITS["memory"] << 20, "whoever is not limited lacks memory")


def limits(folder):
    """G-22: a run has limits on memory, processor and processes, by a control group where the daemon may create one; the assignment, the record and
    doctor name each limit that is enforced by less, or not at all."""
    fixture = Fixture(folder, HERE / "attack/limits.py", sandbox=dict(LIMITS))
    try:
        other, goal = fixture.goal(), fixture.goal()
        know = {"memory": LIMITS["memory"] << 20, "processes": LIMITS["processes"]}
        (fixture.attack / "know.json").write_text(json.dumps(know))
        fixture.plan(other, "Be quiet.")
        fixture.wait("the other run stands", lambda: fixture.run(other))
        fixture.plan(goal, "Take all of it.")
        path = fixture.wait("it has tried", lambda: (tree := fixture.tree(goal)) and (tree / "answer.json").exists() and tree / "answer.json", 90)
        answer = json.loads(path.read_text())
        shown = fixture.wait("what it may use is shown", lambda: fixture.assignment(goal).get("limits"))
        how = {part.split()[0]: part[part.index("(") + 1:-1] for part in shown.split(", ")}
        check(set(how) == set(LIMITS), f"assignment.list says {shown!r}")
        check(shown in json.dumps(fixture.records(goal, "dispatch.accepted")), "the record does not say what it may use")
        check(f"limits: {shown}" in fixture.log(), "the log does not say what it may use")
        said = doctor(fixture)
        check(all(word in said["text"] for word in how.values()), f"doctor says {said}, the assignment {shown}")
        check((said["verdict"] == "good") == (set(how.values()) == {"cgroup"}), f"doctor is content with {said}")
        memory_is_bounded(answer, how["memory"])
        others_are_well(fixture, other)
        if how["cpu"] == "cgroup":
            check(answer["cpu"] < 1.25 * LIMITS["cpu"] / 100, f"it used {answer['cpu']:.2f} of a processor")
            print(f"ok: cpu: {answer['cpu']:.2f} of a processor")
        else:
            not_shown("cpu", said["text"])
        if how["processes"] != "not held":
            check(answer["processes"] <= LIMITS["processes"], f"it began {answer['processes']} processes")
            print(f"ok: processes: {answer['processes']} of {LIMITS['processes']}")
        else:
            not_shown("processes", said["text"])
        if how["memory"] == "cgroup":
            ran_out(fixture, know)
        else:
            not_shown("an agent that the kernel ends for its memory", said["text"])
    finally:
        fixture.close()
    if set(how.values()) == {"cgroup"}:  # the other ways enforce only a part of it
        proof.passed("e2e", "box.limits", "G-22")


def defaults(folder):
    """Without any setting a run has limits, and the kernel ends it before the daemon when memory runs out."""
    for mode in ("prefer", "off"):
        (folder / mode).mkdir()
        fixture = Fixture(folder / mode, HERE / "attack/defaults.py", sandbox={"mode": mode})
        try:
            goal = fixture.goal()
            fixture.plan(goal, "Say what you have.")
            path = fixture.wait("it has said it", lambda: (tree := fixture.tree(goal)) and (tree / "answer.json").exists() and tree / "answer.json")
            have = json.loads(path.read_text())
            ours = int(Path(f"/proc/{fixture.daemon.pid}/oom_score_adj").read_text())
            check(have["oom"] == min(1000, ours + 500), f"its score is {have['oom']}, ours {ours}")
            check(0 < have["RLIMIT_FSIZE"] <= 16384 << 20, f"its files may have {have['RLIMIT_FSIZE']} bytes")
            shown = fixture.wait("what it may use is shown", lambda: fixture.assignment(goal).get("limits"))
            check("memory 16384 MiB (" in shown and "processes 4096 (" in shown, f"its limits are {shown!r}")
            if "memory 16384 MiB (each process)" in shown:
                check(0 < have["RLIMIT_DATA"] <= 16384 << 20, f"its processes may have {have['RLIMIT_DATA']} bytes")
            line = next(json.loads(line) for line in fixture.log().splitlines() if "agent coder starts; sandbox:" in line)
            check(line.get("task") == "T1" and line.get("goal") == goal and len(line.get("run", "")) == 26, f"a line about a run says {line}")
            about = [json.loads(line) for line in fixture.log().splitlines() if re.search(r'"text":"[^"]*\bagents? coder\b', line)]
            check(about and all(line.get("task") == "T1" and len(line.get("run", "")) == 26 for line in about), f"a line about an agent without task or run: {about}")
            said = doctor(fixture)
            check((said["verdict"] == "good") == ("each process" not in shown and "not held" not in shown), f"doctor says {said}, the run {shown}")
        finally:
            fixture.close()
    print(f"ok: limits by default: {shown}, files {have['RLIMIT_FSIZE'] >> 20} MiB, score {have['oom']}")
    proof.passed("e2e", "box.defaults", "")


def leftovers(folder):
    """An agent prints every kind of secret; after the end of its run, none of them is stored as it was printed."""
    told = secrets.corpus(1)
    fixture = Fixture(folder, HERE / "attack/secrets.py", sandbox={"mode": "off"})
    try:
        (fixture.attack / "printed").write_text(json.dumps([text for _, text, _ in told]))
        goal = fixture.goal()
        fixture.plan(goal, "Print them.")
        fixture.wait("it has landed", lambda: git(fixture.repo, "rev-parse", "main") != fixture.begin, 60)
        fixture.do("goal.cancel", goal=goal, reason="it is over") if fixture.do("goal.show", goal=goal)["status"] != "completed" else None
        fixture.wait("its run is over", lambda: list(fixture.state.glob("runs/*/run.over")), 40)
        over = next(iter(fixture.state.glob("runs/*/run.over"))).parent
        check((over / "said.log").stat().st_size > 1000, "what people read is gone")
    finally:
        fixture.close()
    kept = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("printed", "program.py")]
    found = secrets.search(kept, [needle for _, _, needle in told])
    check(not found, f"{len(found)} of {len(told)} are kept: {dict(list(found.items())[:3])}")
    print(f"ok: {len(told)} secrets of {len({shape for shape, _, _ in told})} kinds were printed; {len(kept)} files have none of them")
    proof.passed("e2e", "box.leftovers", "")


def halves(folder):
    """The daemon restarts while an agent has printed half of a secret: nothing of the other half is stored."""
    key = [text for shape, text, _ in secrets.corpus(1) if shape == "private-key" and text.startswith("-----BEGIN RSA")][0].split("\n")
    middle = key[2][20:44]
    printed = [["\n".join(key[:2]) + "\n", "\n".join(f"{n}: {line}" for n, line in enumerate(key[2:], 3))],
               ["machine api.example.org\n  login bob\n", "  password swordfish"],
               ["text " * 203 + "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzEXAMPLEKEY"]]
    needles = [middle, "swordfish", "K7MDENG"]
    fixture = Fixture(folder, HERE / "attack/halves.py", sandbox={"mode": "off"})
    try:
        (fixture.attack / "printed").write_text(json.dumps(printed))
        goal = fixture.goal()
        fixture.plan(goal, "Print them.")
        said = lambda: b"".join(path.read_bytes() for path in fixture.state.glob("runs/*/out.log"))  # noqa: E731
        for i, (first, _) in enumerate(printed):
            fixture.wait("it is in the middle", lambda i=i: (fixture.attack / f"half{i}").exists(), 30)
            fixture.wait("its words are here", lambda first=first: first.encode()[-20:] in said(), 10)
            time.sleep(1)
            fixture.daemon.stop()
            fixture.daemon.start()
            fixture.daemon.wait_joined()
            (fixture.attack / f"rest{i}").touch()
        fixture.wait("it has landed", lambda: git(fixture.repo, "rev-parse", "main") != fixture.begin, 60)
        told = b"".join(path.read_bytes() for path in fixture.state.glob("runs/*/said.log")).decode()
        check("machine api.example.org" in told and told.count("[redacted:") >= 3, f"what people read is gone: {told[-400:]}")
        found = [needle for needle in needles if needle in told]
        check(not found, f"{found} of {needles} are kept")
    finally:
        fixture.close()
    print("ok: secrets that were printed half before a restart and half after it are not kept")
    proof.passed("e2e", "box.halves", "")


HOOK = "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n"


def check_of(fixture, name):
    out = subprocess.run([str(OVERSEER), "doctor", "--json", "--socket", str(fixture.daemon.socket)], capture_output=True, text=True,
                         env={**os.environ, "OVERSEER_CONFIG": str(fixture.config)}, check=False).stdout
    return next(row for row in json.loads(out)["checks"] if row["check"] == name)


def hooks(folder):
    """A landing runs the hooks of the repository if landing.hooks says so; otherwise doctor says that they are not run."""
    for runs in (False, True):
        place = folder / str(runs)
        place.mkdir()
        fixture = Fixture(place, HERE / "attack/defaults.py")
        try:
            if runs:
                fixture.config.write_text(fixture.config.read_text().replace("[landing]\n", "[landing]\nhooks = true\n"))
                fixture.do("config.reload")
            (fixture.repo / ".git/hooks/pre-receive").write_text(HOOK)
            (fixture.repo / ".git/hooks/pre-receive").chmod(0o755)
            said = check_of(fixture, "hooks")
            check(said["verdict"] == ("good" if runs else "look") and "pre-receive" in said["text"], f"doctor says {said}")
            goal = fixture.goal()
            fixture.plan(goal, "Land.")
            if runs:
                fixture.wait("the hook's refusal is said", lambda: "pre-receive hook declined" in json.dumps(fixture.do("events.list", goal=goal)), 60)
                check(git(fixture.repo, "rev-parse", "main") == fixture.begin, "it landed past the hook")
            else:
                fixture.wait("it landed", lambda: git(fixture.repo, "rev-parse", "main") != fixture.begin, 60)
        finally:
            fixture.close()
    print("ok: the hooks of a repository are run by landings if they are to be, and doctor says if they are not")
    proof.passed("e2e", "box.hooks", "")


def ran_out(fixture, know):
    """The daemon gives the true cause of the agent's end: it ran out of memory."""
    (fixture.attack / "know.json").write_text(json.dumps({**know, "explode": True}))
    goal = fixture.goal()
    fixture.plan(goal, "Take all of it yourself.")
    fixture.wait("its end is called what it was", lambda: "used more memory than its limit" in
               json.dumps(fixture.do("events.list", goal=goal)["events"]), 60)
    print("ok: an agent that the kernel ended for its memory is called so")


FORKS = """
import os, signal, time
began = []
try:
    for _ in range({most}):
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
        began.append(pid)
except OSError:
    pass
for pid in began:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
print(len(began))
"""


def confined(folder):
    """The limit on processes of a run where no control group counts them. It does not stop root, so the test runs as another user."""
    bwrap, setpriv = shutil.which("bwrap"), shutil.which("setpriv")
    if not bwrap or (os.geteuid() == 0 and not setpriv):
        not_shown("processes, counted by the kernel for each user", "bubblewrap or setpriv is not there")
        return
    rules = folder / "rules"
    rules.write_text(f"processes {LIMITS['processes']}\n")
    folder.chmod(0o755)
    somebody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*somebody, bwrap, "--unshare-user-try", "--unshare-pid", "--cap-drop", "ALL", "--ro-bind", "/", "/",
                           "--dev", "/dev", "--proc", "/proc", "--", str(HOLD), "--confine", str(rules), "--", "/usr/bin/python3",
                           "-c", FORKS.format(most=3 * LIMITS["processes"])], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 1 and "bwrap:" in done.stderr:
        not_shown("processes, counted by the kernel for each user", done.stderr.strip())
        return
    check(done.returncode == 0 and 0 < int(done.stdout) < LIMITS["processes"], f"it began {done.stdout}: {done.stderr}")
    print(f"ok: processes (rlimit): {done.stdout.strip()} of {LIMITS['processes']}")


TESTS = {"hostile": hostile, "alone": alone, "crowd": crowd, "slow": slow, "cut": cut, "required": required, "unboxed": unboxed, "unchecked": unchecked, "scope": scope,
         "again": again, "home": home, "share": share, "orphan": orphan, "limits": limits, "defaults": defaults,
         "hooks": hooks, "leftovers": leftovers, "halves": halves, "confined": confined}


def main():
    failed = 0
    for name in sys.argv[1:] or TESTS:
        begin = time.monotonic()
        try:
            TESTS[name](folder_make(f"box-{name}"))
        except Broken as error:
            failed = 1
            print(f"failed: {name}: {error}", flush=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    sys.exit(failed)


main()
