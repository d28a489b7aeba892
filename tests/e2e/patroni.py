#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three PostgreSQL nodes under Patroni, two daemons with agents at work, a write load: tests that a fault of the cluster loses nothing that was
acknowledged, that nothing is done twice, that no daemon exits, and how long the daemons acknowledge nothing.

patroni.py [--faults N] [--lose N] [--kinds A,B] [--seed N]

--faults: synchronous replication; the faults are those of KINDS, in turn. One daemon names the three nodes, the other one the pgbouncer at
each of them. --lose: asynchronous replication; the primary continues without its standbys, and the test kills it. Its last commits are lost.
"""
import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter, defaultdict
from datetime import datetime

import goes_back
import proof
from cluster import Cluster, ClusterStore
from load import Load
from verify import Verification
from world import SUPERVISION, Broken, Client, Daemon, Unreachable, folder_make, goal_text, wait_until

SILENCE = 20   # most seconds without an acknowledgement
AGENTS = 2     # number of agents at work for each daemon

# The agent records each moment at which it runs, works for a while, and reports.
AGENT = """import json, os, random, re, sys, time
from pathlib import Path
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
with open(Path(sys.argv[1]) / f"{goal}.{os.getpid()}", "a") as beats:
    end = time.monotonic() + 1 + random.random() * 3
    while time.monotonic() < end:
        beats.write(f"{time.monotonic()}\\n")
        beats.flush()
        time.sleep(0.05)
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": f"by {os.getpid()}",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""

PLAN = [{"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
        {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"], "objective": "Make it."}]


class TimedLoad(Load):
    """Records for each daemon when it last acknowledged a write that is in the store, and the longest time without an acknowledgement."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.last, self.longest = {}, Counter()

    def watch(self):
        """Starts the measurement now."""
        self.last = {path: time.monotonic() for path in self.sockets}
        self.longest = Counter()

    def heard(self, path):
        now = time.monotonic()
        if path in self.last:
            self.longest[path] = max(self.longest[path], now - self.last[path])
            self.last[path] = now

    def silence(self):
        for path in self.sockets:
            self.longest[path] = max(self.longest[path], time.monotonic() - self.last[path])
        return [round(self.longest[path], 1) for path in self.sockets]


class Probe(threading.Thread):
    """A writer that uses only one daemon: the test measures the times of its acknowledgements."""

    def __init__(self, load, path):
        super().__init__(daemon=True)
        self.load, self.path = load, path

    def run(self):
        client, n = Client(self.path, 3), 0
        while not self.load.ending.is_set():
            try:
                status, _, _ = client.call("goal.create", {"title": "a probe", "key": f"probe-{self.path.name}-{n}"})
                if status == 200:
                    self.load.heard(self.path)
                    n += 1
            except Unreachable:
                pass
            time.sleep(0.1)
        client.close()


class Agents(threading.Thread):
    """Creates tasks for agents at one daemon, one after another, and remembers those that were acknowledged."""

    def __init__(self, name, daemon, ending, lossy):
        super().__init__(daemon=True)
        self.name, self.daemon_, self.ending, self.lossy, self.made, self.problem = name, daemon, ending, lossy, [], None

    def ask(self, method, **params):
        while True:
            client = Client(self.daemon_.socket, 5)
            try:
                _, result, error = client.call(method, params)
                if result is not None:
                    return result
                if error["data"]["class"] != "transient" and error["data"]["code"] != "E_CONFLICT":
                    if self.lossy:
                        return None  # the goal is lost
                    raise Broken(f"{method}: {error}")
            except Unreachable:
                pass
            finally:
                client.close()
            if self.ending.is_set():
                return None
            time.sleep(0.2)

    def run(self):
        n = 0
        try:
            while not self.ending.is_set():
                n += 1
                goal = self.ask("goal.create", title="a task for an agent", key=f"{self.name}-{n}")
                if not goal or not self.ask("plan.apply", goal=goal["goalId"], nodes=PLAN, key=f"{self.name}-{n}-plan"):
                    continue
                self.made.append(goal["goalId"])
                while not self.ending.is_set():
                    shown = self.ask("goal.show", goal=goal["goalId"])
                    if not shown or shown["status"] != "active":
                        break
                    time.sleep(0.5)
        except Exception as error:  # a thread must report its failure
            self.problem = f"{self.name}: {type(error).__name__}: {error}"


class World:
    def __init__(self, synchronous, seed):
        self.chance = random.Random(seed)
        self.cluster = Cluster(synchronous)
        self.cluster.start()
        self.store = ClusterStore(self.cluster)
        self.folder = folder_make("patroni")
        self.live, self.acts = self.folder / "live", self.folder / "acts"
        self.live.mkdir()
        self.acts.touch()
        self.settings_write()
        self.daemons = [Daemon(self.folder, self.cluster.url(pooled), name, options=["--host", str(i)],
                               environment={"OVERSEER_CONFIG": str(self.folder / "overseer.toml"), "HOME": str(self.folder)})
                        for i, (name, pooled) in enumerate((("direct", False), ("pooled", True)), 1)]
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined(30)
        self.ending = threading.Event()
        self.agents = [Agents(f"{daemon.socket.stem}{i}", daemon, self.ending, not synchronous) for daemon in self.daemons for i in range(AGENTS)]
        self.findings = []

    def settings_write(self):
        script = self.folder / "agent.py"
        script.write_text(AGENT)
        (self.folder / "overseer.toml").write_text(SUPERVISION + f"""[caps]
blast_least = 100
actions_per_minute = 100000
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

    def runs(self):
        """Returns {goal: [(first moment, last moment, pid)]}, ordered by the first moment."""
        out = defaultdict(list)
        for path in self.live.glob("goal_*"):
            beats = [float(line) for line in path.read_text().split("\n")[:-1]]
            if beats:
                out[path.stem].append((beats[0], beats[-1], int(path.suffix[1:])))
        return {goal: sorted(runs) for goal, runs in out.items()}

    def agents_judge(self):
        """Reports two simultaneous runs of one task, and problems of the agent threads; returns the number of runs."""
        count = 0
        for goal, runs in self.runs().items():
            count += len(runs)
            for older, newer in zip(runs, runs[1:]):
                if older[1] >= newer[0]:
                    self.findings.append(f"two live runs of {goal}")
        for agents in self.agents:
            if agents.problem:
                self.findings.append(agents.problem)
        return count

    def daemons_judge(self):
        for daemon in self.daemons:
            if daemon.process.poll() is not None:
                self.findings.append(f"{daemon.socket.stem} ended with {daemon.process.returncode}: {daemon.log_tail()}")
            self.findings.extend(daemon.promises_broken()[:3])

    def end(self):
        self.ending.set()
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()
        found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in found:  # the holds and agents of this test
            if str(self.folder) in line and ("overseer-hold" in line or "agent.py" in line):
                try:
                    os.kill(int(line.split()[0]), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.cluster.end()


# ---- faults ----

KINDS = {}


def fault(function):
    KINDS[function.__name__.replace("_", "-")] = function
    return function


def leader_other(world, old):
    return wait_until("another node is the primary", lambda: world.cluster.leader(old), 60, 0.2)


@fault
def killed(world):
    old = world.cluster.leader()
    old.kill()
    leader_other(world, old)
    old.start()


@fault
def switchover(world):
    old, new = world.cluster.leader(), world.cluster.synchronous_standby()
    status, text = old.ask_rest("/switchover", {"leader": old.name, "candidate": new.name})
    if status != 200:
        raise Broken(f"switchover: {status} {text}")
    leader_other(world, old)


@fault
def frozen(world):
    old = world.cluster.leader()
    old.signal(signal.SIGSTOP)
    leader_other(world, old)
    time.sleep(world.chance.random() * 4)
    old.signal(signal.SIGCONT)


@fault
def pooler_killed(world):
    for node in world.cluster.nodes:
        node.pool_kill()
    time.sleep(1 + world.chance.random() * 4)
    for node in world.cluster.nodes:
        node.pool_start()


@fault
def cut_off(world):
    old = world.cluster.leader()
    world.cluster.cut(old)
    leader_other(world, old)
    time.sleep(world.chance.random() * 4)
    world.cluster.cut(old, False)


@fault
def standby_stopped(world):
    standby = world.cluster.synchronous_standby()
    standby.kill()
    time.sleep(3 + world.chance.random() * 5)
    standby.start()


@fault
def etcd_down(world):
    world.cluster.etcd.kill()
    time.sleep(2 + world.chance.random() * 6)
    world.cluster.etcd.start()


@fault
def server_killed(world):
    """Patroni keeps running and starts the server again, or lets another node take over."""
    world.cluster.leader().kill_server()
    time.sleep(1)


class Chains(Verification):
    """Checks only the chains of the goals with agents."""

    def __init__(self, store, load, acts, others):
        super().__init__(store, load, acts)
        self.sites |= others


def others_of(world, store):
    """Returns the goals that the load did not create."""
    ours = {op.goal for op in world.load.ops}
    return {row["goal_id"] for row in store.read("goal")} - ours


def faults_run(options):
    begun = time.monotonic()
    world = World(True, options.seed)
    kinds = [kind for kind in KINDS if not options.kinds or kind in options.kinds.split(",")]
    load = world.load = TimedLoad([daemon.socket for daemon in world.daemons], world.acts, options.seed, writers=4, timeout=4, rest=0.1)
    print(f"   cluster, daemons: {time.monotonic() - begun:.0f} s", flush=True)
    done, longest = Counter(), 0
    try:
        load.start()
        for thread in [*world.agents, *(Probe(load, daemon.socket) for daemon in world.daemons)]:
            thread.start()
        time.sleep(3)
        for number in range(options.faults):
            kind = kinds[number % len(kinds)]
            silence, took = one_fault(world, kind)
            longest = max(longest, *silence)
            done[kind] += 1
            late = max(silence) > SILENCE
            print(f"   {'LATE' if late else 'ok'} {number + 1} {kind}: without acknowledgement {silence} s, whole after {took:.0f} s", flush=True)
            if late:
                world.findings.append(f"{number + 1} {kind}: {silence} s without an acknowledgement")
            if world.findings:
                break
    except Exception as error:
        world.findings.append(f"{type(error).__name__}: {error}")
        trouble_show(world, error)
    try:
        summary = faults_judge(world)  # also if the cluster is not whole: the store has to contain what was acknowledged so far
    except Exception as error:
        world.findings.append(f"{type(error).__name__}: {error}")
        summary = "not judged"
    finally:
        world.end()
    print(f"{'BROKEN' if world.findings else 'ok'} patroni: {sum(done.values())} faults ({', '.join(f'{n} {kind}' for kind, n in done.items())}),"
          f" {len(world.cluster.made_anew)} nodes made anew,"
          f" longest without acknowledgement {longest} s; {summary} ({time.monotonic() - begun:.0f} s)", flush=True)
    for line in world.findings[:20]:
        print("   ", line)
    return not world.findings


def one_fault(world, kind):
    cluster, load = world.cluster, world.load
    load.watch()
    begun = time.monotonic()
    KINDS[kind](world)
    cluster.wait_whole(f"the cluster is whole again after {kind}")
    took = time.monotonic() - begun
    mark = dict(load.last)
    wait_until(f"each daemon acknowledges again after {kind}", lambda: all(load.last[path] > mark[path] for path in mark), 60, 0.1)
    silence = load.silence()
    world.daemons_judge()
    load.check()
    time.sleep(1 + world.chance.random())
    return silence, took


def faults_judge(world):
    world.load.end()
    world.ending.set()
    time.sleep(6)
    store = world.store
    wait_until("every effect of the load has ended or is unconfirmed", lambda: int(store.count("inbox")) == 0, 60, 0.3)
    others = others_of(world, store)
    verification = Chains(store, world.load, world.acts, others)
    made = {goal for agents in world.agents for goal in agents.made}
    missing = made - {goal_text(raw) for raw in others}
    if missing:
        world.findings.append(f"{len(missing)} goals of agents are lost: {sorted(missing)[:3]}")
    world.findings += verification.run().lines
    runs = world.agents_judge()
    world.daemons_judge()
    return f"{verification.summary()}; {len(made)} tasks of agents, {runs} runs"


def trouble_show(world, error):
    if not isinstance(error, Broken):
        traceback.print_exc()
    print(world.cluster.said())
    print(f"    made anew: {world.cluster.made_anew}")
    for daemon in world.daemons:
        print(f"    {daemon.socket.stem}: {daemon.log_tail(8)}")


# ---- lost commits ----

MISSING = re.compile(r"batches (\d+) to (\d+) of this host are missing, with the records of (\d+) effects")


class Commands(goes_back.Load):
    """A load whose commands record when they run."""
    COMMAND = "echo $OVERSEER_EFFECT {key} $(date +%s.%N) >> {acts}; sleep 0.3"


def acts_of(world):
    """Returns [(effect, key, moment)]."""
    lines = [line.split() for line in world.acts.read_text().split("\n")[:-1]]
    return [(line[0], line[1], float(line[2])) for line in lines]


def notices_of(daemon):
    """Returns [(moment, batches, effects)]: what the daemon's log reports as missing."""
    out = []
    for line in daemon.log.read_text().splitlines():
        found = MISSING.search(line)
        if found:
            at = datetime.fromisoformat(json.loads(line)["at"].replace("Z", "+00:00")).timestamp()
            out.append((at, int(found.group(2)) - int(found.group(1)) + 1, int(found.group(3))))
    return out


def era_of(world):
    return int(world.store.run("SELECT era FROM store")[0][0])


def one_loss(world, sums):
    """The primary continues alone, both daemons act on commits that only this primary has, and the test kills it."""
    cluster, counts = world.cluster, [len(notices_of(daemon)) for daemon in world.daemons]
    era, old = era_of(world), cluster.leader()
    cluster.tell_relay("hold", old.for_peers)
    before = Counter(key.split("-")[0] for _, key, _ in acts_of(world))

    def acted():
        now = Counter(key.split("-")[0] for _, key, _ in acts_of(world))
        return all(now[load.name] >= before[load.name] + 3 for load in world.loads)
    wait_until("both daemons act on what will be lost", acted, 30, 0.02)
    time.sleep(world.chance.random())
    old.kill()
    gone = time.time()
    cluster.tell_relay("drop", old.for_peers)
    cluster.tell_relay("pass", old.for_peers)
    leader_other(world, old)
    old.start()
    cluster.wait_whole("the cluster is whole again")
    wait_until("each daemon says what is missing",
               lambda: all(len(notices_of(daemon)) > count for daemon, count in zip(world.daemons, counts)), 40, 0.1)
    time.sleep(2)
    for daemon, count, load in zip(world.daemons, counts, world.loads):
        loss_judge(world, daemon, load, notices_of(daemon)[count:], gone, sums)
    twice_judge(world)
    if era_of(world) <= era:
        world.findings.append(f"the era is still {era}")
    world.daemons_judge()


def loss_judge(world, daemon, load, notices, gone, sums):
    """Checks that the daemon noticed the loss before its next act: an effect claimed on the old primary may still begin within a second."""
    noticed = notices[0][0]
    early = [key for _, key, at in acts_of(world) if key.split("-")[0] == load.name and gone + 1 < at < noticed]
    if early:
        world.findings.append(f"{daemon.socket.stem} acted {len(early)} times before it noticed: {early[:3]}")
    batches, effects = sum(one[1] for one in notices), sum(one[2] for one in notices)
    sums.update(batches=batches, effects=effects)
    if not batches or not effects:
        world.findings.append(f"{daemon.socket.stem} named {batches} batches and {effects} effects")


def twice_judge(world):
    acts = Counter(key for _, key, _ in acts_of(world))
    twice = [key for key, count in acts.items() if count > 1]
    if twice:
        world.findings.append(f"{len(twice)} commands were run twice: {twice[:5]}")
    return len(acts), len(twice)


def losses_judge(world):
    for load in world.loads:
        load.ending.set()
        load.join(20)
    world.ending.set()
    time.sleep(6)
    acts, twice = twice_judge(world)
    aside = world.store.count("aside")
    if aside:
        world.findings.append(f"{aside} goals were set aside")
    runs = world.agents_judge()
    return f"{acts} commands, {twice} of them twice; {sum(len(a.made) for a in world.agents)} tasks of agents, {runs} runs"


def losses_run(options):
    begun, done, sums, summary = time.monotonic(), 0, Counter(), ""
    world = World(False, options.seed)
    world.loads = [Commands(f"h{i}", daemon, world.acts) for i, daemon in enumerate(world.daemons, 1)]
    try:
        for thread in [*world.loads, *world.agents]:
            thread.start()
        for number in range(options.lose):
            time.sleep(2)
            started = time.monotonic()
            one_loss(world, sums)
            if world.findings:
                break
            done += 1
            print(f"   ok {number + 1} commits lost, so far {dict(sums)} ({time.monotonic() - started:.0f} s)", flush=True)
    except Exception as error:
        world.findings.append(f"{type(error).__name__}: {error}")
        trouble_show(world, error)
    try:
        summary = losses_judge(world)
    except Exception as error:
        world.findings.append(f"{type(error).__name__}: {error}")
    finally:
        world.end()
    print(f"{'BROKEN' if world.findings else 'ok'} patroni: commits lost {done} times, noticed each time before the next act, {sums['batches']} batches and"
          f" {sums['effects']} effects named; {summary} ({time.monotonic() - begun:.0f} s)", flush=True)
    for line in world.findings[:20]:
        print("   ", line)
    return not world.findings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=3)
    parser.add_argument("--lose", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes that this test started
    well = True
    if options.faults:
        well = faults_run(options)
    if options.lose:
        well = losses_run(options) and well
    if well and options.faults and options.lose and not options.kinds:
        proof.passed("e2e", "patroni", "STORE-04 STORE-06")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
