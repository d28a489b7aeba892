#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wall clock of a real daemon steps at random moments, by a second up to a year, forward and back.

clock.py [--steps N] [--seed N] [--retention]: nothing begins more than 12 s late, nothing times out early, no record is dropped, and
`overseer why` and `overseer status` name the step. tests/lib/clock_shim.c steps the clock. --retention takes three minutes more: retention
does not run while the clock is ahead, and runs after a calm day.
"""
import argparse
import mmap
import os
import random
import struct
import subprocess
import sys
import time
import traceback

import proof
from world import OVERSEER, OVERSEERD, TOP, Broken, Client, Daemon, Sqlite, folder_make, wait_until

SHIM = TOP / "build" / "tests" / "e2e" / "clock_shim.so"
LATE = 12
SETTINGS = """[supervision]
enabled = true
idle_after = "1h"
act_within = "40s"
[caps]
at_once = 0
[policy]
allow_agents = ["*"]
allow_cross_agent = true
[escalation]
desktop = false
[[agents]]
id = "auto-1"
driver = "pretend"
behaviour = "silent"
[[agents]]
id = "auto-2"
driver = "pretend"
behaviour = "works"
pace = 50
"""


def expect(promise, text):
    if not promise:
        raise Broken(text)


class Clock:
    """The offsets of the daemon's clocks."""

    def __init__(self, folder):
        self.path = folder / "clock-offsets"
        self.path.write_bytes(struct.pack("<qq", 0, 0))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 16)
        self.wall = self.suspend = 0

    def step(self, seconds):
        self.wall += round(seconds * 1e6)
        self.map[0:8] = struct.pack("<q", self.wall)

    def sleep(self, seconds):
        self.suspend += round(seconds * 1e6)
        self.map[8:16] = struct.pack("<q", self.suspend)


class World:
    def __init__(self, extra=""):
        self.folder = folder_make("clock")
        self.clock = Clock(self.folder)
        self.store = Sqlite(self.folder)
        config = self.folder / "overseer.toml"
        config.write_text(SETTINGS + extra)
        self.environment = {"OVERSEER_CONFIG": str(config), "LD_PRELOAD": str(SHIM), "OVERSEER_CLOCK_SHIM": str(self.clock.path)}
        self.daemon = Daemon(self.folder, self.store.uri, environment=self.environment)
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)
        self.made = 0

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        expect(error is None, f"{method} {params}: {error}")
        return result

    def records(self, goal, kind=None):
        return [one for one in self.do("goal.show", goal=goal)["records"] if kind in (None, one["type"])]

    def command(self, text):
        self.made += 1
        return self.do("goal.create", title=f"command {self.made}", command=text)["goalId"]

    def work(self, agent):
        self.made += 1
        goal = self.do("goal.create", title=f"work {self.made}")["goalId"]
        nodes = [{"id": "P1", "tier": "phase", "name": "P1", "acceptanceCriteria": ["seen"]},
                 {"id": "T1", "tier": "task", "parentId": "P1", "name": "T1", "acceptanceCriteria": ["seen"], "suggestedAgentId": agent}]
        self.do("plan.apply", goal=goal, nodes=nodes)
        return goal

    def typed(self, *words):
        done = subprocess.run([str(OVERSEER), *words, "--socket", str(self.daemon.socket)], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False)
        return done.stdout + done.stderr

    def restart(self, meanwhile):
        self.client.close()
        self.daemon.kill()
        meanwhile()
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def begins(self, goal, what):
        """The seconds until the goal's effect begins."""
        began = time.monotonic()
        wait_until(f"{what} begins after a step", lambda: self.records(goal, "effect.claimed"), LATE, every=0.1, bound=True)
        return time.monotonic() - began

    def complete(self):
        """Checks that every record that was ever made is in the store."""
        kept, made = self.store.count("record WHERE goal_id IN (SELECT goal_id FROM goal)"), self.store.run("SELECT sum(seq) FROM goal")[0][0]
        expect(kept == made, f"{made} records were made, {kept} are there")


def step_any(dice):
    """A step between a second and a year, small as often as large."""
    return dice.choice((-1, 1)) * min(365 * 86400, 10 ** dice.uniform(0, 7.5))


def stepped(record):
    return float(record["text"].split()[0])


def steps(count, seed):
    dice = random.Random(seed)
    world = World()
    standing = world.work("auto-1")
    wait_until("the quiet agent was started", lambda: world.records(standing, "assignment.dispatched"), 20)
    running, late = [], []
    for n in range(count):
        time.sleep(dice.uniform(0, 1.5))
        by = step_any(dice)
        running.append(world.command("sleep 9; echo done"))
        time.sleep(dice.uniform(0, 0.7))
        if n % 5 == 4:
            world.restart(lambda by=by: world.clock.step(by))
            running = []  # the commands of the killed daemon are unconfirmed, as they should be
        else:
            world.clock.step(by)
        late.append(world.begins(world.command("echo begun"), "a command"))
        late.append(world.begins(world.work(dice.choice(("auto-1", "auto-2"))), "an agent"))
        wait_until(f"the step by {by:.1f} s is on record", lambda by=by: any(abs(stepped(one) - by) < 1.5 for one in world.records(standing, "clock.stepped")),
                   LATE, bound=True)
        expect("the clock stepped by" in world.typed("why", standing), "why does not name the step")
        expect("the clock stepped by" in world.typed("status"), "status does not name the step")
        world.complete()
    for goal in running:
        wait_until("a command that was running has ended",
                   lambda goal=goal: world.records(goal, "goal.completed") or world.records(goal, "effect.unconfirmed"), 60)
        lost = world.records(goal, "effect.unconfirmed")
        expect(not lost, f"a command of nine seconds timed out at forty: {lost}")
    expect(not world.records(standing, "assignment.stalled"), "the quiet agent was called stalled long before its hour")
    world.complete()
    expect(not world.daemon.promises_broken(), world.daemon.promises_broken())
    world.client.close()
    world.daemon.stop()
    check = subprocess.run([str(OVERSEERD), "--store", world.store.uri, "--maintain", "verify-log"], capture_output=True, text=True, timeout=60, check=False)
    expect(check.returncode == 0, check.stdout + check.stderr)
    print(f"clock: {count} steps, {len(late)} begun, the latest after {max(late):.1f} s")


def retention():
    world = World('[retention]\nbodies = "1d"\nrecords = "2d"\n')
    for n in range(5):
        goal = world.command("echo over")
        wait_until("it is over", lambda: world.records(goal, "goal.completed"), 20)
    world.clock.step(200 * 86400)
    time.sleep(75)  # a retention pass begins a minute after the start
    world.complete()
    before = world.store.count("record WHERE body IS NULL")
    expect(before == 0, f"{before} bodies are gone")
    world.clock.sleep(25 * 3600)  # a calm day passes
    wait_until("after a calm day retention runs", lambda: world.store.count("record WHERE body IS NULL") > 0, 130, every=1)
    world.client.close()
    world.daemon.stop()
    print("clock: no retention after a leap, and again after a calm day")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--retention", action="store_true")
    arguments = parser.parse_args()
    try:
        steps(arguments.steps, arguments.seed)
        proof.passed("clock", "steps", "TICK-11")
        if arguments.retention:
            retention()
            proof.passed("clock", "retention", "")
    except (Broken, AssertionError):
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
