#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one PostgreSQL, with agents at work: tests that no task has two live runs and that no report counts for another attempt.

hosts.py [--times N] [--only NAME] [--planted PROGRAM]

The test kills one host, freezes it (SIGSTOP) or cuts it off from the database, N times each. The host returns before or after the other host
has started its tasks again. The agents are programs that record each moment at which they run, and that ignore SIGTERM. --planted: a daemon
without one of the defences; the test then has to find the fault that this defence prevents.
"""
import argparse
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import proof
from world import BUILD, OVERSEER, OVERSEERD, SUPERVISION, Broken, Client, Daemon, Unreachable, folder_make, goal_text, store_make, under_postgres, wait_until

LEASE, ORPHAN = 2, 2
TASKS = 2
MODES = ("kill", "freeze", "cut")

AGENT = """import json, os, re, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
here = Path(sys.argv[1])
beats = open(here / f"{goal}.{os.getpid()}", "a")
done = here / f"{goal}.done"
while not (done.exists() and done.read_text() in ("any", str(os.getpid()))):
    beats.write(f"{time.monotonic()}\\n")
    beats.flush()
    time.sleep(0.01)
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": f"by {os.getpid()}",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""


class Proxy:
    """The connection of one host to the database. The test can cut it: then it passes no data and reports no error."""

    def __init__(self, folder, target):
        folder.mkdir()
        os.chmod(folder, 0o755)
        self.folder, self.target, self.open = folder, target, True
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        os.chmod(folder / ".s.PGSQL.5432", 0o777)
        self.listener.listen(64)
        self.lock, self.pairs = threading.Lock(), []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.pairs.append(here)
            threading.Thread(target=self.forward, args=(here,), daemon=True).start()

    def forward(self, here):
        there = socket.socket(socket.AF_UNIX)
        try:
            while not self.open:
                time.sleep(0.05)
            there.connect(self.target)
            while True:
                readable, _, _ = select.select([here, there], [], [], 0.2)
                while readable and not self.open:  # data waits until the connection is open again
                    time.sleep(0.02)
                for one in readable:
                    data = one.recv(65536)
                    if not data:
                        return
                    (there if one is here else here).sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            here.close()
            there.close()
            with self.lock:
                if here in self.pairs:
                    self.pairs.remove(here)

    def cut(self, off):
        self.open = not off


class Pair:
    def __init__(self, name, program=OVERSEERD):
        self.folder = folder_make(f"hosts-{name}")
        self.store = store_make("postgres", self.folder, f"hosts_{name}")
        self.live = self.folder / "live"
        self.live.mkdir()
        script = self.folder / "agent.py"
        script.write_text(AGENT)
        config = self.folder / "overseer.toml"
        config.write_text(SUPERVISION + f"""[fleet]
orphan_after = "{ORPHAN}s"
[caps]
blast_least = 100
[escalation]
desktop = false
[sandbox]
mode = "off"
[[agents]]
id = "coder"
driver = "command"
program = "/usr/bin/python3"
args = ["{script}", "{self.live}"]
""")
        self.proxies = [Proxy(self.folder / f"pg{i}", str(Path(os.environ["PGHOST"]) / ".s.PGSQL.5432")) for i in range(2)]
        self.daemons = [Daemon(self.folder, self.store.uri.replace(os.environ["PGHOST"], str(self.proxies[i].folder)), f"host{i}", program,
                               ["--lease", str(LEASE)], {"OVERSEER_CONFIG": str(config), "HOME": str(self.folder)}) for i in range(2)]
        self.numbers = []
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined(30)
            self.numbers.append(daemon.health()["host"])

    def do(self, index, method, **params):
        for _ in range(50):
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
        goal = self.do(index, "goal.create", title="a task for an agent")["goalId"]
        self.do(index, "plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"], "objective": "Make it."}])
        return goal

    def runs(self, goal):
        """Returns [(first moment, last moment, pid)], ordered by the first moment."""
        out = []
        for path in self.live.glob(f"{goal}.[0-9]*"):
            beats = [float(line) for line in path.read_text().split("\n")[:-1]]
            if beats:
                out.append((beats[0], beats[-1], int(path.suffix[1:])))
        return sorted(out)

    def owned_by(self, index, goals):
        rows = self.store.read("goal", f"owner = {self.numbers[index]}")
        return {goal_text(row["goal_id"]) for row in rows} >= set(goals)

    def is_live(self, goal, count):
        runs = self.runs(goal)
        return len(runs) >= count and time.monotonic() - runs[-1][1] < 0.5

    def away(self, index, mode):
        if mode == "kill":
            self.daemons[index].kill()
        elif mode == "freeze":
            self.daemons[index].signal(signal.SIGSTOP)
        else:
            self.proxies[index].cut(True)

    def back(self, index, mode):
        if mode == "kill":
            self.daemons[index].start()
        elif mode == "freeze":
            self.daemons[index].signal(signal.SIGCONT)
        else:
            self.proxies[index].cut(False)
        self.daemons[index].wait_joined(30)

    def close(self):
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                os.kill(daemon.pid, signal.SIGCONT)
                daemon.process.kill()
                daemon.process.wait()
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in found:  # holds and agents that this test has started
            if str(self.folder) in line and ("overseer-hold" in line or "agent.py" in line):
                try:
                    os.kill(int(line.split()[0]), signal.SIGKILL)
                except ProcessLookupError:
                    pass


def judge(pair, goals, findings):
    for goal in goals:
        runs = pair.runs(goal)
        for older, newer in zip(runs, runs[1:]):
            if older[1] >= newer[0]:
                findings.append(f"two live runs: {goal}: process {older[2]} ran for {older[1] - newer[0]:.2f} s beside {newer[2]}")
        taken = [one for one in pair.do(0, "events.list", goal=goal, type="update.taken")["events"] if one.get("to") == "done"]
        for one in taken:
            said = int(re.search(r"by (\d+)", json.dumps(one)).group(1))
            if said != runs[-1][2]:
                findings.append(f"a report of another attempt counted: {goal}: of process {said}, and {runs[-1][2]} works on it")


def told(pair, victim, other):
    """Checks that status and inbox show the lost host, the number of tasks that wait, and until when they wait."""
    lost = pair.numbers[victim]

    def shown():
        return [one for one in pair.do(other, "status.show")["lostHosts"] if one["host"] == lost and one["tasks"] == TASKS]  # taken over one by one
    [row] = wait_until(f"status shows the lost host and its {TASKS} tasks", shown, LEASE + 4, 0.1)
    assert row["since"] < row["until"], row
    line = subprocess.run([str(OVERSEER), "--socket", str(pair.daemons[other].socket), "status"], capture_output=True, text=True, check=True,
                          env={**os.environ, "HOME": str(pair.folder)}).stdout
    assert re.search(f"HOST {lost} is lost since .*: {TASKS} tasks wait until .* before they start elsewhere", line), line
    wait_until("it is in the inbox", lambda: any(f"Host {lost} is lost" == one["question"] for one in pair.do(other, "inbox.list")["items"]), 10)


def trial(pair, number, mode, chance, findings, stats):
    victim, other = number % 2, 1 - number % 2
    says_done, returns_early = chance.random() < 0.4, chance.random() < 0.5
    looks = number == 0 and mode == "kill"
    if looks:
        says_done = returns_early = False
    goals = [pair.goal(victim) for _ in range(TASKS)]
    for goal in goals:
        wait_until("its agent works", lambda goal=goal: pair.is_live(goal, 1), 30, 0.05)
    time.sleep(chance.random())
    pair.away(victim, mode)
    if says_done:
        for goal in goals:
            (pair.live / f"{goal}.done").write_text(str(pair.runs(goal)[0][2]))
    if looks:
        told(pair, victim, other)
    if returns_early:  # but after the take-over: a host that returns before the take-over remains the owner
        until = time.monotonic() + LEASE + 0.5 + chance.random() * (ORPHAN + 2)
        wait_until("the other host has taken over", lambda: pair.owned_by(other, goals), 30, 0.05)
        time.sleep(max(0, until - time.monotonic()))
        pair.back(victim, mode)
    for goal in goals:
        wait_until(f"the other host has started it again ({mode}, early {returns_early}, done {says_done})",
                   lambda goal=goal: pair.is_live(goal, 2), 60, 0.05)
    if not returns_early:
        time.sleep(chance.random() * 2)
        pair.back(victim, mode)
    time.sleep(1 + chance.random())
    if looks:
        wait_until("the alert is gone", lambda: not pair.do(other, "inbox.list")["items"], 10)
    for goal in goals:
        (pair.live / f"{goal}.done").write_text("any")
    for goal in goals:
        wait_until("it is done", lambda goal=goal: pair.do(other, "goal.show", goal=goal)["status"] == "completed", 60, 0.1)
    judge(pair, goals, findings)
    stats["runs"] = stats.get("runs", 0) + sum(len(pair.runs(goal)) for goal in goals)
    stats["stale"] = stats.get("stale", 0) + sum(len(pair.do(other, "events.list", goal=goal, type="update.held")["events"]) for goal in goals)


def history(pair):
    """Prints the events of the newest goal, to help find the cause of a failure."""
    try:
        goal = pair.do(1, "goal.list")["goals"][0]["goalId"]
        for one in pair.do(1, "events.list", goal=goal)["events"][-40:]:
            print("    ", json.dumps({key: one[key] for key in one if key in ("at", "type", "rule", "to", "from", "reason", "text", "until", "effect")}))
    except (AssertionError, Broken, KeyError, IndexError) as error:
        print(f"    its history cannot be shown: {error}")


def series(mode, times, program, findings, problems, stats):
    pair, number = None, 0
    try:
        pair = Pair(mode, program)
        chance = random.Random(f"{mode} {times}")
        for number in range(times):
            trial(pair, number, mode, chance, findings, stats)
            stats[mode] = stats.get(mode, 0) + 1
    except Exception as error:  # a thread must report its failure
        problems.append(f"{mode} {number + 1}: {type(error).__name__}: {error}")
        traceback.print_exc(limit=3)
        if pair:
            history(pair)
    finally:
        if pair:
            pair.close()


def beside_its_hold(program):
    """Copies the program and overseer-hold into one folder, because a daemon looks for overseer-hold in its own folder."""
    folder = folder_make("hosts-planted")
    shutil.copy(program, folder / "overseerd")
    shutil.copy(BUILD / "overseer-hold", folder / "overseer-hold")
    return folder / "overseerd"


def losses(options):
    findings, problems, stats = [], [], {}
    program = beside_its_hold(options.planted) if options.planted else OVERSEERD
    begin = time.monotonic()
    threads = [threading.Thread(target=series, args=(mode, options.times, program, findings, problems, stats), daemon=True)
               for mode in MODES if options.only in mode]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    two = sum("two live runs" in line for line in findings)
    print(f"{'BROKEN' if findings or problems else 'ok'} host losses: " + ", ".join(f"{stats.get(mode, 0)} {mode}" for mode in MODES)
          + f" of {options.times} each, {stats.get('runs', 0)} runs, {two} tasks with two live runs,"
          f" {len(findings) - two} reports credited to another attempt, {stats.get('stale', 0)} reports refused as stale,"
          f" {time.monotonic() - begin:.0f} s", flush=True)
    for line in findings + problems:
        print("   ", line)
    if options.planted:
        return bool(findings)
    return not findings and not problems


# ---- host numbers ----

CLAIMS = []


def claim(function):
    CLAIMS.append(function)
    return function


class Numbered:
    """Daemons on one store, each with its own state folder."""

    def __init__(self, name):
        self.folder = folder_make(f"claim-{name}")
        self.store = store_make("postgres", self.folder, f"claim_{name}")
        self.daemons = []

    def start(self, name, *options, lease=LEASE):
        daemon = Daemon(self.folder, self.store.uri, name, OVERSEERD, ["--lease", str(lease), *options], {"HOME": str(self.folder)})
        self.daemons.append(daemon)
        daemon.start()
        return daemon

    def number(self, daemon, within=15):
        daemon.wait_joined(within)
        return daemon.health()["host"]

    def refused(self, daemon):
        wait_until("the daemon is refused", lambda: daemon.process.poll() is not None, 15)
        return daemon.log.read_text()

    def epochs(self):
        return self.store.run("SELECT host_id, epoch FROM host ORDER BY host_id")

    def close(self):
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()


@claim
def each_has_a_number_of_its_own(at):
    """Two daemons without a configured number get different numbers, and each gets its own number again at once after a crash."""
    lease = 20
    one = at.start("one", lease=lease)
    assert at.number(one) == 1
    two = at.start("two", lease=lease)
    assert at.number(two) == 2
    for daemon, number in ((one, 1), (two, 2)):
        daemon.kill()
        daemon.start()
        begin = time.monotonic()
        assert at.number(daemon) == number
        assert time.monotonic() - begin < lease, "it waited for its own lease"
    time.sleep(3)
    assert [int(epoch) for _, epoch in at.epochs()] == [2, 2], f"somebody was deposed: {at.epochs()}"


@claim
def a_claimed_number_is_refused(at):
    """A daemon cannot start with a number that another host has claimed, also when that host does not run. The reason names the owner and the
    remedy; another number works."""
    one = at.start("one", "--host", "7")
    assert at.number(one) == 7
    said = at.refused(at.start("two", "--host", "7"))
    assert "Number 7 is claimed by host" in said and "--host" in said, said
    one.kill()
    time.sleep(LEASE + 1)
    assert "Number 7 is claimed by host" in at.refused(at.start("three", "--host", "7"))
    named = at.start("four", "--host", "build-farm")
    assert at.number(named) == 1
    assert at.store.run("SELECT addr FROM host WHERE host_id = 1")[0][0].startswith("build-farm ")


@claim
def a_copied_state_folder_is_refused(at):
    """A daemon cannot start with a copied state folder, on the same machine or on another one (with another /etc/machine-id)."""
    one = at.start("one", "--host", "1")
    at.number(one)
    for name in ("two", "three"):
        shutil.copytree(at.folder / "one.state", at.folder / f"{name}.state", ignore=shutil.ignore_patterns("sock"))
    assert "Number 1 is claimed" in at.refused(at.start("two", "--host", "1"))
    apart = ["unshare", "-m" if os.getuid() == 0 else "-rm"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        print("    (another machine is not tried: no namespaces)")
        return
    one.kill()
    other = at.folder / "machine-id"
    other.write_text("0123456789abcdef0123456789abcdef\n")
    shutil.rmtree(at.folder / "three.state")
    moved = at.folder / "one.state"
    moved.rename(at.folder / "three.state")  # the same files, as on a cloned disk
    three = Daemon(at.folder, at.store.uri, "three", OVERSEERD, ["--lease", str(LEASE), "--host", "1"], {"HOME": str(at.folder)})
    three.command = [*apart, "sh", "-c", f'mount --bind {other} /etc/machine-id && exec "$0" "$@"', *three.command]
    at.daemons.append(three)
    three.start()
    assert "Number 1 is claimed" in at.refused(three)


@claim
def a_row_of_an_older_build_is_taken_over(at):
    """The row of an older build names no owner: the first daemon that asks gets it, once the row has had no heartbeat for a lease."""
    one = at.start("one")
    at.number(one)
    one.kill()
    at.store.run("UPDATE host SET addr = ''")
    ending = threading.Event()

    def beats():
        while not ending.wait(0.2):
            at.store.run("UPDATE host SET beat = beat + 1 WHERE addr = ''")
    beating = threading.Thread(target=beats, daemon=True)
    beating.start()
    said = at.refused(at.start("two", "--host", "1"))
    assert "is used by another running daemon" in said, said
    assert at.number(at.start("three")) == 2, "a number in use was given away"
    ending.set()
    beating.join()
    begin = time.monotonic()
    assert at.number(at.start("four", "--host", "1")) == 1
    assert time.monotonic() - begin >= LEASE - 0.5, "it did not wait for the lease"


@claim
def two_daemons_under_one_number_do_not_fight(at):
    """Two daemons whose folders share one key cannot be distinguished at the start. The daemon that lost the row stays out and reports that; the
    daemons do not depose each other repeatedly. The first daemon joins again when the other one has ended."""
    one = at.start("one")
    at.number(one)
    (at.folder / "two.state").mkdir()
    os.link(at.folder / "one.state" / "host.key", at.folder / "two.state" / "host.key")
    two = at.start("two")
    at.number(two)
    wait_until("the first one knows", lambda: not one.health().get("joined"), 10)
    wait_until("it says why", lambda: "another running daemon" in one.health().get("trouble", ""), 10)
    before = at.epochs()
    time.sleep(3 * LEASE)
    assert at.epochs() == before, f"they fight: {before} {at.epochs()}"
    assert two.health()["joined"] and not one.health()["joined"]
    shown = subprocess.run([str(OVERSEER), "--socket", str(one.socket), "status"], capture_output=True, text=True, check=False,
                           env={**os.environ, "HOME": str(at.folder)})
    assert "another running daemon" in shown.stdout + shown.stderr, shown
    examined = subprocess.run([str(OVERSEER), "--socket", str(one.socket), "doctor"], capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": str(at.folder), "OVERSEER_CONFIG": "/dev/null"})
    assert "another running daemon" in examined.stdout + examined.stderr, examined
    two.kill()
    assert at.number(one, 20) == 1


def claims(options):
    good = True
    for function in CLAIMS:
        if options.only not in function.__name__:
            continue
        at, begin = Numbered(function.__name__[:12]), time.monotonic()
        try:
            function(at)
            print(f"ok {function.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        except (Exception, Broken):  # the other tests still run
            good = False
            print(f"FAILED {function.__name__}", flush=True)
            traceback.print_exc(limit=4)
        finally:
            at.close()
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--planted")
    options = parser.parse_args()
    under_postgres([sys.executable, *sys.argv])
    good = options.planted or claims(options)
    if any(options.only in mode for mode in MODES):
        good = losses(options) and good
    if good and not options.planted and not options.only:
        proof.passed("e2e", "hosts", "TICK-17 RECOVER-12")
    print(f"hosts: {'passed' if good else 'FAILED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
