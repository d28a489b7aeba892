#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what becomes of hosts that runs were denied: one question for equal denials, four answers, and nothing waits.

denials.py [--only NAME]: the daemon, real sandboxes and proxies, and servers on an address of this machine. The servers are the judge
of what was reached.
"""
import json
import re
import subprocess
import sys
import time

import proof
from care import fixture_make, main
from landing import BUILD, landed
from network import Server, own_address
from pulls import git

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


# Tries every server; then those of WAITS once a second, until each is reached (or denied: UNTIL) or the time is over.
AGENT = r'''import json, re, socket, sys, time
prompt = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", prompt).group(0)
waits = json.loads(re.search(r"WAITS(\[.*?\])", prompt).group(1))
tag = re.search(r"TAG(\w+)", prompt).group(1)
until = re.search(r"UNTIL(\w+)", prompt).group(1)


def get(port, when):
    with socket.create_connection(("127.0.0.1", 3128), timeout=10) as it:
        it.sendall(f"CONNECT {OWN}:{port} HTTP/1.1\r\n\r\n".encode())
        answer = it.recv(400)
        if b" 200 " not in answer.split(b"\r\n")[0]:
            return answer.split(b"\r\n\r\n", 1)[-1].decode()
        it.sendall(f"GET /{tag}-{when} HTTP/1.0\r\n\r\n".encode())
        return it.recv(200).decode()


told = {port: get(port, "first") for port in PORTS}
end = time.monotonic() + 90
for port in waits:
    while until not in get(port, "later") and time.monotonic() < end:
        time.sleep(1)
last = {port: get(port, "last") for port in PORTS}
open(f"told-{tag}.json", "w").write(json.dumps([told, last]))
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["told"]}}}) + "\n```")
'''

# Tells by the files which tasks it checks.
CHECK = r'''python3 - <<'END'
import glob, re, socket
tags = "-".join(sorted(re.search(r"told-(\w+)", name).group(1) for name in glob.glob("told-*.json")))
for port in PORTS:
    with socket.create_connection(("127.0.0.1", 3128), timeout=10) as it:
        it.sendall(f"CONNECT OWN:{port} HTTP/1.1\r\n\r\n".encode())
        if b" 200 " in it.recv(400).split(b"\r\n")[0]:
            it.sendall(f"GET /check-{tags} HTTP/1.0\r\n\r\n".encode())
            it.recv(200)
END
'''


class World:
    def __init__(self, name, count, check=True, setup=False):
        self.own = own_address()
        assert not self.own.startswith("127."), "this machine has no address besides its loopback"
        self.servers = [Server(address=(self.own, 0)) for _ in range(count)]
        self.ports = [server.port for server in self.servers]
        command = CHECK.replace("PORTS", json.dumps(self.ports)).replace("OWN", self.own) if check else "true"
        command_setup = f"curl -s -p -x http://127.0.0.1:3128 http://{self.own}:{self.ports[0]}/setup; true" if setup else ""
        self.fixture = fixture_make(f"denials-{name}", landing={"how": "rebase"}, verify={"command": command}, repo={"setup": command_setup},
                                    agent={"network": "model"}, people={"undo_for": "0s"})
        self.fixture.program.write_text(f"PORTS = {self.ports}\nOWN = {self.own!r}\n" + AGENT)
        git(self.fixture.repo, "checkout", "-q", "--detach")

    def host(self, place):
        return f"{self.own}:{self.ports[place]}"

    def task(self, tag, waits=(), until="reached"):
        """Begins a task; `waits`: places of the servers that its agent tries until it reaches them, or is denied them."""
        ports = [self.ports[place] for place in waits]
        goal = self.fixture.do("goal.create", title=f"the task {tag}")["goalId"]
        self.fixture.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"],
             "objective": f"TAG{tag} UNTIL{until} WAITS{json.dumps(ports)}"}])
        return goal

    def questions(self):
        """Returns the open questions about hosts, by host."""
        items = self.fixture.do("inbox.list")["items"]
        return {item["host"]: item for item in items if item.get("host")}

    def asked(self, count, names=1):
        return self.fixture.wait(f"{count} hosts of {names} tasks are asked about", lambda: (
            lambda found: found if len(found) == count and all(len(item["tasks"]) == names for item in found.values()) else None)(self.questions()))

    def reached(self, pattern):
        """Returns which servers have seen a request for such a path, by their places."""
        return [place for place, server in enumerate(self.servers) if any(re.match(f"GET /{pattern} ", text) for text in server.seen)]


def cli(fixture, *words):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(fixture.folder), "OVERSEER_SOCKET": str(fixture.daemon.socket)}
    return subprocess.run([str(BUILD / "overseer"), *words], env=env, capture_output=True, text=True, timeout=60)


@check
def each_answer_allows_what_it_says():
    """Two tasks are denied four hosts: four questions, each with both tasks. After no, these tasks, checks and repository: a run at
    work, its check, and a later task with its check reach what they may. The daemon is killed in between."""
    world = World("answers", 4)
    fixture = world.fixture
    try:
        other = world.task("other")
        first = world.task("first", waits=[1, 3])
        found = world.asked(4, names=2)
        names = sorted(goal["name"] for goal in fixture.do("goal.list")["goals"])
        assert all(sorted(item["tasks"]) == names and item["tries"] >= 1 for item in found.values()), (names, found)
        assert all(item["title"] == "nothing waits for it" and len(item["options"]) == 4 for item in found.values()), found
        fixture.daemon.kill()
        fixture.begin()
        assert sorted(world.questions()) == sorted(found), "the questions did not outlive the daemon"
        for place, letter in enumerate("abcd"):
            item = found[world.host(place)]
            assert re.fullmatch(r"Q-[\w.-]+\.\d+", item["questionId"]), item
            done = cli(fixture, "answer", item["questionId"], letter)
            assert done.returncode == 0, done.stdout + done.stderr
        landed(fixture, other)
        landed(fixture, first)
        assert world.reached("first-.*") == [1, 3], world.reached("first-.*")
        assert world.reached("check-first(-other)?") == [1, 2, 3], world.reached("check-first(-other)?")
        later = world.task("later")
        landed(fixture, later)
        assert world.reached("later-.*") == [3], world.reached("later-.*")
        assert world.reached("check-.*later.*") == [2, 3], world.reached("check-.*later.*")
        again = world.asked(1)
        assert list(again) == [world.host(1)], "only what was allowed for the two tasks is asked again"
        shown = cli(fixture, "network", "list").stdout
        assert all(word in shown for word in ("denied", "allowed", "checks", "asked", "every task")), shown
        proof.passed("e2e", "network.denials", "")
    finally:
        fixture.close()


@check
def set_up_is_reported_too():
    """What set-up was denied is asked about; allowed for set-up and checks, the next set-up reaches it, and its agent does not."""
    world = World("setup", 1, check=False, setup=True)
    fixture = world.fixture
    try:
        landed(fixture, world.task("first"))
        [item] = world.asked(1).values()
        assert cli(fixture, "answer", item["questionId"], "c").returncode == 0
        fixture.wait("it is allowed", lambda: fixture.do("network.list")["hosts"][0]["decision"] == "checks")
        landed(fixture, world.task("second"))
        assert world.reached("setup") == [0] and world.reached("second-.*") == [], world.servers[0].seen
    finally:
        fixture.close()


@check
def a_run_at_work_loses_it():
    """A host that is forgotten right after a run began is lost for that run, too."""
    world = World("loses", 2, check=False)
    fixture = world.fixture
    try:
        for place in (0, 1):
            assert cli(fixture, "network", "allow", world.host(place)).returncode == 0
        goal = world.task("first", waits=[1], until="denied")
        fixture.wait("it has reached both", lambda: world.reached("first-first") == [0, 1])
        assert cli(fixture, "network", "forget", world.host(1)).returncode == 0
        landed(fixture, goal)
        told = json.loads(git(fixture.repo, "show", "main:told-first.json"))[1]
        assert "reached" in told[str(world.ports[0])] and "denied" in told[str(world.ports[1])], told
    finally:
        fixture.close()


@check
def a_decision_is_forgotten():
    """A host that was allowed for the repository is forgotten: the next task is denied it, and asks."""
    world = World("forget", 1, check=False)
    fixture = world.fixture
    try:
        first = world.task("first")
        [item] = world.asked(1).values()
        landed(fixture, first)
        assert cli(fixture, "answer", item["questionId"], "d").returncode == 0
        fixture.wait("it is allowed", lambda: fixture.do("network.list")["hosts"][0]["decision"] == "allowed")
        done = cli(fixture, "network", "forget", world.host(0))
        assert done.returncode == 0, done.stdout + done.stderr
        assert fixture.do("network.list")["hosts"] == []
        second = world.task("second")
        world.asked(1)
        landed(fixture, second)
        assert world.servers[0].seen == [], world.servers[0].seen
        assert cli(fixture, "network", "forget", "nobody.example.org").returncode != 0
    finally:
        fixture.close()


FLOOD = r'''import json, re, socket, sys
goal = re.search("goal_[0-9A-Z]{26}", sys.stdin.read()).group(0)
names = ["*.com", "127.0.0.1", "[::1]", "a b", "localhost", "2130706433", "0x7f000001", "127.1", "0.0.0.0", "169.254.169.254",
         "[::ffff:127.0.0.1]"] + [f"h{i}.example.org" for i in range(200)]
for name in names:
    with socket.create_connection(("127.0.0.1", 3128), timeout=10) as it:
        it.sendall(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
        it.recv(400)
open("told", "w").write("tried")
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["told"]}}}) + "\n```")
'''


@check
def a_flood_is_bounded():
    """An agent that tries 200 hosts and some that are none: eight questions, all about one host each, and its work lands."""
    world = World("flood", 1, check=False)
    fixture = world.fixture
    try:
        fixture.program.write_text(FLOOD)
        goal = fixture.goal()
        landed(fixture, goal)
        found = fixture.wait("eight questions", lambda: (lambda items: items if len(items) >= 8 else None)(world.questions()))
        time.sleep(6)
        assert len(world.questions()) == 8, world.questions()
        assert all(re.fullmatch(r"h\d+\.example\.org:443", host) for host in found), list(found)
    finally:
        fixture.close()


if __name__ == "__main__":
    sys.exit(main("denials", CHECKS))
