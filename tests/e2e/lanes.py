#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the landing lane of two hosts on one PostgreSQL and one remote repository: the test kills, freezes or cuts off the host that has the slot.

lanes.py [--times N] [--only NAME] [--moment NAME] [--seed N] [--planted PROGRAM] [--expect WORDS]

Each trial has three tasks on two hosts. At a chosen moment of a slot (granted, the target is fetched, the check runs, the push arrives, the push
is complete and its answer is not yet there) the test kills the host that has the slot, stops it with SIGSTOP (the daemon, or all of its processes),
or cuts it off from PostgreSQL. The host returns early or late. The remote carries out a push of a lost host at once, seconds later, or never.

The test then reads the repository, the log that the operator's check writes, and the records. --planted: a daemon without one of the defences; the
test then has to report a finding, and with --expect a finding that contains these words.
"""
import argparse
import http.server
import json
import os
import random
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from datetime import datetime
from pathlib import Path

import proof
from blocks import certificate_make
from hosts import Proxy, beside_its_hold
from pulls import git
from world import OVERSEERD, SUPERVISION, Broken, Client, Daemon, Unreachable, folder_make, store_make, under_postgres, wait_until

LEASE, ORPHAN = 2, 1
GOES_ON = LEASE + 8  # seconds from the loss of the holder until the lane grants the slot to the next one
MODES = ("kill", "freeze", "cut")
MOMENTS = ("granted", "fetch", "check", "push", "pushed")
TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")

# Each run makes another change to the file of its goal, so that the test can see a second landing of one goal.
AGENT = r'''import json, os, re, sys
goal = re.search("goal_[0-9A-Z]{26}", sys.stdin.read()).group(0)
open(goal, "a").write(f"by {os.getpid()}\n")
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": [goal]}}}) + "\n```")
'''

# The operator's check. It logs the commit on which it began and passed.
CHECK = """commit=$(git rev-parse HEAD) || exit 3
[ -z "$(git status --porcelain)" ] || exit 4
echo "begin $commit" >>{log}
sleep 0.4
echo "passed $commit" >>{log}
"""


class Fate:
    """How the remote treats a push."""

    def __init__(self, delay=0, carried_out=True, answered=True):
        self.delay, self.carried_out, self.answered = delay, carried_out, answered


class Remote:
    """The https repository that both hosts land in. It calls `seen` for each request, and can delay a push."""

    def __init__(self, folder, certificate):
        self.bare = folder / "app.git"
        self.seen = lambda moment: None
        git(folder, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(self.bare, "config", "http.receivepack", "true")
        git(self.bare, "config", "core.logAllRefUpdates", "true")
        self.person = folder / "person"
        git(folder, "clone", "-q", str(self.bare), str(self.person))
        for key, value in (("user.name", "a person"), ("user.email", "person@localhost")):
            git(self.person, "config", key, value)
        self.push_by_person("begin")
        self.serve(certificate)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/app.git"

    def push_by_person(self, name):
        """A person pushes to the target without the lane."""
        for _ in range(20):
            (self.person / f"person-{name}").write_text(name + "\n")
            git(self.person, "add", "-A")
            git(self.person, "commit", "-q", "-m", f"a person: {name}")
            if subprocess.run(["git", "-C", self.person, "push", "-q", "origin", "HEAD:main"], capture_output=True, check=False).returncode == 0:
                return
            git(self.person, "fetch", "-q")
            git(self.person, "reset", "-q", "--hard", "origin/main")
        raise Broken("a person cannot push")

    def tip(self):
        return git(self.bare, "rev-parse", "main")

    def backend(self, handler, body):
        path, _, query = handler.path.partition("?")
        return subprocess.run(["git", "http-backend"], input=body, capture_output=True, check=False, env={
            **os.environ, "GIT_PROJECT_ROOT": str(self.bare.parent), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command, "CONTENT_TYPE": handler.headers.get("Content-Type", ""), "REMOTE_USER": "x",
            "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", "")}).stdout

    def push(self, handler, body):
        """Returns None if the remote has to drop the connection."""
        fate = self.seen("push") or Fate()
        if not fate.carried_out:
            return None
        time.sleep(fate.delay)
        out = self.backend(handler, body)
        self.seen("pushed")
        return out if fate.answered else None

    def serve(self, certificate):
        remote = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                if "upload-pack" in self.path:
                    remote.seen("fetch")
                self.answer(remote.backend(self, b""))

            def do_POST(self):
                if self.headers.get("Transfer-Encoding") == "chunked":
                    body = b""
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                pushes = self.path.endswith("git-receive-pack") and len(body) > 4
                self.answer(remote.push(self, body) if pushes else remote.backend(self, body))

            def answer(self, out):
                if out is None:
                    self.close_connection = True
                    return
                head, _, rest = out.partition(b"\r\n\r\n")
                self.send_response(200)
                for line in head.decode().splitlines():
                    name, _, value = line.partition(": ")
                    if name != "Status":
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                try:
                    self.wfile.write(rest)
                except OSError:
                    pass  # the host that asked is dead

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def descendants(pid):
    """Returns all descendants of this process, except those that have to outlive a daemon (holds and their children)."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
            parents.setdefault(int(text.rsplit(")", 1)[1].split()[1]), []).append((int(path.parent.name), text))
        except OSError:
            pass
    out, left = [], [pid]
    while left:
        for child, text in parents.get(left.pop(), []):
            if "(overseer-hold" not in text:
                out.append(child)
                left.append(child)
    return out


class Away(Exception):
    """The request was for the lost host."""


class Hosts:
    """Two daemons, each with its own connection to PostgreSQL, and one remote."""

    def __init__(self, name, program, certificate):
        self.folder = folder_make(f"lanes-{name}")
        self.store = store_make("postgres", self.folder, f"lanes_{name}")
        self.remote = Remote(self.folder, certificate)
        (self.folder / "agent.py").write_text(AGENT)
        self.checked = self.folder / "checked"
        self.checked.touch()
        (self.folder / "check.sh").write_text(CHECK.replace("{log}", str(self.checked)))
        config = self.folder / "overseer.toml"
        config.write_text(SUPERVISION + f"""[fleet]
orphan_after = "{ORPHAN}s"
[caps]
blast_least = 100
[escalation]
desktop = false
[sandbox]
mode = "off"
[repo]
path = "{self.remote.url}"
default_branch = "main"
disk_least = 1
[verify]
command = "sh {self.folder}/check.sh"
rounds = 0
[landing]
how = "rebase"
rechecks = 5
[[agents]]
id = "coder"
driver = "command"
program = "/usr/bin/python3"
args = ["{self.folder}/agent.py"]
""")
        self.proxies = [Proxy(self.folder / f"pg{i}", str(Path(os.environ["PGHOST"]) / ".s.PGSQL.5432")) for i in range(2)]
        self.daemons = [Daemon(self.folder, self.store.uri.replace(os.environ["PGHOST"], str(self.proxies[i].folder)), f"host{i}", program,
                               ["--lease", str(LEASE)], {"OVERSEER_CONFIG": str(config), "HOME": str(self.folder)}) for i in range(2)]
        self.stopped, self.hosts_of, self.lost = [], {}, None
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined(30)

    # requests

    def do(self, index, method, **params):
        for _ in range(50):
            if index == self.lost:
                raise Away(method)
            try:
                client = Client(self.daemons[index].socket, 5)
                _, result, error = client.call(method, params)
                client.close()
                if error and error.get("data", {}).get("code") in ("E_BUSY", "E_STORE_AWAY"):
                    raise Unreachable(str(error))
                assert error is None, f"{method}: {error}"
                return result
            except Unreachable:
                time.sleep(0.2)
        raise Broken(f"{method} is not answered")

    def goal(self, index):
        goal = self.do(index, "goal.create", title="a change")["goalId"]
        self.hosts_of[goal] = index
        self.do(index, "plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"], "objective": "Make it."}])
        return goal

    def events(self, index, kind, **more):
        out, after = [], ""
        while True:
            page = self.do(index, "events.list", type=kind, limit=500, **more, **({"after": after} if after else {}))
            out += page["events"]
            if not page["more"]:
                return out
            after = page["next"]

    def holder(self, index):
        """Returns the goal that has the slot."""
        return next((entry["goalId"] for entry in self.do(index, "lane.show")["lane"] if entry["slot"]), None)

    def waiting(self, index):
        return [entry["goalId"] for entry in self.do(index, "lane.show")["lane"]]

    def question(self, index, goal):
        return next((item for item in self.do(index, "inbox.list")["items"] if item.get("goalId") == goal and item.get("state") == "open"), None)

    def is_over(self, index, goal):
        return self.do(index, "goal.show", goal=goal)["status"] == "completed" or self.question(index, goal)

    # losses

    def away(self, index, mode, whole):
        self.lost = index
        if mode == "kill":
            self.daemons[index].kill()
        elif mode == "freeze":
            self.daemons[index].signal(signal.SIGSTOP)
            self.stopped = descendants(self.daemons[index].pid) if whole else []
            for pid in self.stopped:
                self.send(pid, signal.SIGSTOP)
        else:
            self.proxies[index].cut(True)

    @staticmethod
    def send(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def back(self, index, mode):
        if mode == "kill":
            self.daemons[index].start()
        elif mode == "freeze":
            for pid in self.stopped:
                self.send(pid, signal.SIGCONT)
            self.daemons[index].signal(signal.SIGCONT)
        else:
            self.proxies[index].cut(False)
        self.daemons[index].wait_joined(30)
        self.lost = None

    def close(self):
        for pid in self.stopped:
            self.send(pid, signal.SIGCONT)
        for daemon in self.daemons:
            if daemon.process and daemon.process.poll() is None:
                os.kill(daemon.pid, signal.SIGCONT)
                daemon.process.kill()
                daemon.process.wait()
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in found:  # holds and agents that this test has started
            if str(self.folder) in line and ("overseer-hold" in line or "agent.py" in line):
                self.send(int(line.split()[0]), signal.SIGKILL)
        self.remote.server.shutdown()


class Strike:
    """The loss of the host that has the slot, at a chosen moment of that slot."""

    def __init__(self, hosts, mode, chance, moment):
        self.hosts, self.mode, self.chance = hosts, mode, chance
        self.moment, self.skip = moment or chance.choice(MOMENTS), chance.choice((0, 0, 1))
        self.whole = chance.random() < 0.5
        self.fate = chance.choice((Fate(), Fate(), Fate(LEASE + 4), Fate(carried_out=False)))  # for the push of the lost host
        self.cut_short = chance.random() < 0.3  # the answer to another push is lost
        self.pause = chance.random() * 0.3
        self.lock, self.struck, self.over = threading.Lock(), threading.Event(), False
        self.victim = self.goal = self.problem = None
        self.at = 0.0

    def seen(self, moment):
        """Called by the threads of the server and of the test. Returns the fate of that push; None: the remote carries it out."""
        with self.lock:
            if moment == self.moment and not self.struck.is_set() and not self.over and self.strike():
                return self.fate if moment == "push" else None
            if moment == "push" and self.cut_short:
                self.cut_short = False
                return Fate(answered=False)
        return None

    def strike(self):
        try:
            goal = self.hosts.holder(0)
        except (AssertionError, Broken) as error:
            self.problem = str(error)
            return False
        if goal is None:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.moment in ("check", "granted"):
            time.sleep(self.pause)
        self.goal, self.victim = goal, self.hosts.hosts_of[goal]
        self.hosts.away(self.victim, self.mode, self.whole)
        self.at = time.monotonic()
        self.struck.set()
        return True

    def __str__(self):
        return f"{self.mode} at {self.moment}, push after {self.fate.delay} s, host {self.victim}"


# ---- verdicts ----

def when(event):
    return datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp()


def passed_on(hosts):
    return {line.split()[1] for line in hosts.checked.read_text().splitlines() if line.startswith("passed ")}


def judge_history(hosts, findings):
    """Checks that the history is linear, that each commit was checked, and that each goal landed at most once; returns the commits of each goal."""
    bare, passed, commits = hosts.remote.bare, passed_on(hosts), {}
    if merges := git(bare, "rev-list", "--min-parents=2", "main").split():
        findings.append(f"the history is not linear: {merges}")
    for commit in git(bare, "rev-list", "--reverse", "main").split():
        files = git(bare, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", commit).split()
        goals = [name for name in files if name.startswith("goal_")]
        for goal in goals:
            commits.setdefault(goal, []).append(commit)
        if goals and commit not in passed:
            findings.append(f"a commit landed unchecked: {commit} of {goals}")
    for goal, landed in commits.items():
        if len(landed) > 1:
            findings.append(f"a goal landed twice: {goal}: {landed}")
    for line in git(bare, "reflog", "show", "--format=%H", "main").split():
        if subprocess.run(["git", "-C", bare, "merge-base", "--is-ancestor", line, "main"], check=False).returncode != 0:
            findings.append(f"the target lost a commit: {line}")
    return commits


def arrived_late(hosts, index, goal, commit):
    """True if the daemon asked a person because a host was lost while it landed the goal, and the push of that host arrived afterwards."""
    asked = [event for event in hosts.events(index, "question.asked", goal=goal) if "lost while it landed" in json.dumps(event)]
    return asked and when(asked[-1]) - 1 < landed_at(hosts)[commit]


def judge_goals(hosts, index, goals, commits, findings, stats):
    """Checks that every goal has landed or has an open question, and that a landing is recorded if and only if it is in the history."""
    for goal in goals:
        landed = hosts.events(index, "work.landed", goal=goal)
        question = hosts.question(index, goal)
        if landed and goal not in commits:
            findings.append(f"recorded as landed and not in the history: {goal}")
        if len(landed) > 1:
            findings.append(f"recorded as landed twice: {goal}")
        if not landed and not question:
            findings.append(f"a change is lost: {goal} is over, has not landed, and no person is asked")
        if not landed and goal in commits and not arrived_late(hosts, index, goal, commits[goal][0]):
            findings.append(f"in the history and recorded as not landed: {goal}: {json.dumps(question)[:300]}")
        stats["landed" if landed else "people"] += 1
        if question:
            stats["asked: " + str(question.get("reason") or question.get("question"))[:90]] += 1


def judge_order(hosts, index, findings):
    """Checks that the lane grants the slot to one goal at a time, in the order of requests; returns the times at which each goal had it."""
    waiting, holder, spans = [], None, {}
    for event in hosts.events(index, "lane.*"):
        found = re.match(r"([0-9A-Z]{26}) ", event.get("text") or "")
        goal = "goal_" + found[1] if found else None
        if event["type"] == "lane.waits":
            waiting = [one for one in waiting if one != goal] + [goal]
            if holder == goal:
                spans[goal][-1][1], holder = when(event), None
        elif event["type"] == "lane.granted":
            if holder:
                findings.append(f"two have the slot: {goal} is granted it while {holder} has it")
            if not waiting or waiting[0] != goal:
                findings.append(f"out of turn: {goal} is granted the slot, and {waiting[:1]} asked first")
            waiting, holder = [one for one in waiting if one != goal], goal
            spans.setdefault(goal, []).append([when(event), float("inf")])
        elif event["type"] in ("lane.returned", "lane.revoked"):
            waiting = [one for one in waiting if one != goal]
            if holder == goal:
                spans[goal][-1][1], holder = when(event), None
    return spans


def landed_at(hosts):
    """Returns the time at which the target moved to each commit."""
    out = {}
    for line in git(hosts.remote.bare, "reflog", "show", "--date=raw", "--format=%H %gd", "main").splitlines():
        found = re.match(r"([0-9a-f]{40}) .*\{(\d+) ", line)
        out[found[1]] = int(found[2])
    return out


def judge_turns(spans, times, commits, lost, findings):
    """Checks that a goal had the slot when it landed; only a lost host may land late, and only by compare-and-swap. The reflog has whole seconds."""
    for goal, landed in commits.items():
        at = times.get(landed[0])
        if goal in lost or at is None:
            continue
        if not any(begin - 1 <= at <= end + 1 for begin, end in spans.get(goal, [])):
            findings.append(f"landed without the slot: {goal}")


# ---- a trial ----

def tasks(hosts, chance, held):
    if held:
        hosts.do(0, "lane.hold", reason="until all of them wait")
    first = chance.randrange(2)
    order = [first, 1 - first, chance.randrange(2)]
    goals = [hosts.goal(index) for index in order]
    if held:
        wait_until("all of them wait", lambda: len(hosts.waiting(0)) == len(goals), 60, 0.05)
    return goals


def watch_checks(hosts, strike):
    """Reports the moment `check` when the check begins, and the moment `granted` when a goal has the slot."""
    begun = hosts.checked.read_text().count("begin")
    while not strike.struck.is_set() and not strike.over:
        now = hosts.checked.read_text().count("begin")
        if now > begun:
            begun = now
            strike.seen("check")
        if strike.moment == "granted":
            strike.seen("granted")
        time.sleep(0.01)


def goes_on(hosts, strike, other, stats):
    """Checks that the lane continues without the lost holder in bounded time."""
    def moved():
        return hosts.holder(other) != strike.goal
    wait_until(f"the lane goes on ({strike})", moved, GOES_ON, 0.05)
    took = time.monotonic() - strike.at
    stats["longest"] = max(stats["longest"], took)


def trial(hosts, number, mode, moment, chance, findings, stats):
    strike, held = Strike(hosts, mode, chance, moment), chance.random() < 0.75
    goals = tasks(hosts, chance, held)
    if chance.random() < 0.4:
        hosts.remote.push_by_person(f"{mode}-{number}")
    hosts.remote.seen = strike.seen
    watching = threading.Thread(target=watch_checks, args=(hosts, strike), daemon=True)
    watching.start()
    if held:
        hosts.do(0, "lane.release")
    try:
        def begun():
            try:
                return strike.struck.is_set() or all(hosts.is_over(0, goal) for goal in goals)
            except Away:
                return False
        wait_until(f"the holder is lost ({strike})", begun, 60, 0.05)
        if strike.struck.is_set():
            stats["lost at " + strike.moment] += 1
            other, early = 1 - strike.victim, chance.random() < 0.3
            if early:
                time.sleep(chance.random() * (LEASE + 1))
            else:
                goes_on(hosts, strike, other, stats)
                time.sleep(chance.random() * 4)
            hosts.back(strike.victim, mode)
        else:
            other = 0
        for goal in goals:
            wait_until(f"it has landed, or a person is asked ({strike})", lambda goal=goal: hosts.is_over(other, goal), 90, 0.1)
    finally:
        with strike.lock:
            strike.over = True
    watching.join()
    time.sleep(strike.fate.delay if strike.moment == "push" else 0.2)  # wait until a late push has arrived
    commits = judge_history(hosts, findings)
    judge_goals(hosts, other, goals, commits, findings, stats)
    lost = {goal for goal in hosts.hosts_of if strike.victim is not None and hosts.hosts_of[goal] == strike.victim}
    judge_turns(judge_order(hosts, other, findings), landed_at(hosts), {goal: commits[goal] for goal in goals if goal in commits}, lost, findings)
    if hosts.waiting(other):
        wait_until("the lane is empty", lambda: not hosts.waiting(other), 20, 0.1)
    for goal in goals:
        if hosts.do(other, "goal.show", goal=goal)["status"] != "completed":
            hosts.do(other, "goal.cancel", goal=goal, reason="the trial is over")
    return strike.struck.is_set()


def history(hosts, goals):
    """Prints the events of the goals and of the lane, to help find the cause of a failure."""
    try:
        for goal in goals:
            print(f"  {goal} of host {hosts.hosts_of[goal]}")
            for one in hosts.do(0, "events.list", goal=goal, limit=500)["events"][-60:]:
                print("    ", json.dumps({key: one[key] for key in one if key in ("at", "type", "rule", "to", "from", "reason", "text", "until", "effect", "host")}))
        print("  the lane")
        for one in hosts.events(0, "lane.*")[-20:]:
            print("    ", json.dumps({key: one[key] for key in one if key in ("at", "type", "rule", "text", "reason")}))
    except (AssertionError, Broken, KeyError, IndexError) as error:
        print(f"    the history cannot be shown: {error}")


OUTPUT = threading.Lock()


def series(mode, options, program, certificate, findings, stats):
    hosts, number, done = None, 0, 0
    try:
        hosts = Hosts(mode, program, certificate)
        chance = random.Random(f"{mode} {options.seed}")
        while done < options.times and number < 2 * options.times + 4 and not (findings and options.planted):
            own, before = [], set(hosts.hosts_of)
            number += 1
            done += trial(hosts, number, mode, options.moment, chance, own, stats)
            stats[mode] = done
            if own:
                findings += [f"{mode} {number}: {line}" for line in own]
                with OUTPUT:
                    print("\n".join(f"{mode} {number}: {line}" for line in own), flush=True)
                    if not options.planted:
                        history(hosts, [goal for goal in hosts.hosts_of if goal not in before])
                return
        if done < options.times and not options.planted:
            findings.append(f"{mode}: only {done} of {options.times} losses came about")
    except Exception as error:  # a thread must report its failure
        findings.append(f"{mode} {number}: {type(error).__name__}: {error}")
        with OUTPUT:
            traceback.print_exc(limit=4)
            if hosts and not options.planted:
                history(hosts, list(hosts.hosts_of)[-3:])
    finally:
        if hosts:
            hosts.close()


def trusted():
    """Makes a certificate that git trusts only in the mount namespace of this process."""
    folder = folder_make("lanes-certificate")
    os.chmod(folder, 0o755)
    certificate_make(folder)
    (folder / "all.pem").write_bytes((TRUSTED.read_bytes() if TRUSTED.exists() else b"") + (folder / "cert.pem").read_bytes())
    subprocess.run(["mount", "--bind", folder / "all.pem", TRUSTED], check=True)
    return folder


def in_namespace():
    if os.environ.get("OVERSEER_NAMESPACE") != "1":
        os.environ["OVERSEER_NAMESPACE"] = "1"
        how = "-m" if os.getuid() == 0 else "-rm"
        os.execvp("unshare", ["unshare", how, "--propagation", "private", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moment", default="", choices=("", *MOMENTS))
    parser.add_argument("--planted")
    parser.add_argument("--expect", default="")
    options = parser.parse_args()
    under_postgres([sys.executable, *sys.argv])
    in_namespace()
    certificate = trusted()
    findings, stats = [], Counter()
    program = beside_its_hold(options.planted) if options.planted else OVERSEERD
    begin = time.monotonic()
    threads = [threading.Thread(target=series, args=(mode, options, program, certificate, findings, stats), daemon=True)
               for mode in MODES if options.only in mode]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{'BROKEN' if findings else 'ok'} lanes: " + ", ".join(f"{stats[mode]} {mode}" for mode in MODES) + f" of {options.times} each; "
          + ", ".join(f"{stats['lost at ' + moment]} at {moment}" for moment in MOMENTS)
          + f"; {stats['landed']} landed, {stats['people']} with a person; the lane went on after at most {stats['longest']:.1f} s;"
          f" {time.monotonic() - begin:.0f} s", flush=True)
    for key in sorted(stats):
        if key.startswith("asked: "):
            print(f"    {stats[key]} {key}")
    for line in findings:
        print("   ", line)
    if options.planted:
        return 0 if any(options.expect in line for line in findings) else 1
    if not findings and not options.only:
        proof.passed("e2e", "lanes", "VERIFY-22 AUTO-20")
    print(f"lanes: {'FAILED' if findings else 'passed'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
