#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does anything grow while runs begin and end? churn.py [--engine E] [--runs N] [--hours H] [--at-once K] [--leak WHAT]

A real daemon whose clock runs faster (tests/lib/clock_shim.c) executes N short runs of a program in H hours of its time: most of them end
well, some are cancelled while they work, some die. After a tenth of them and at the end, when no run works any more, the test counts open
files, memory, threads, processes, and the content of the state folder. All of it must be back at its level; memory may grow only by the goals
that the ledger keeps warm. Then retention runs as of 400 days later, and the test counts, table by table, what closed goals leave in the
store: KEPT says what may stay.

--leak files, folders, memory: a daemon that leaks these (tests/lib/churn_shim.c); rows: without retention. The test passes when the leak is found.
"""
import argparse
import os
import struct
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import proof
from clock import SHIM, Clock
from world import MANY_COMMANDS, OVERSEERD, Broken, Client, Daemon, folder_make, store_make, under_postgres, wait_until

CHURN_SHIM = SHIM.with_name("churn_shim.so")
WARM = 0.1  # share of all runs before the test reads the level
MEMORY_SPARE = 512  # KiB
WARM_GOAL = 3  # KiB: the ledger keeps closed goals in memory until it has LIMIT_WARM_GOALS or LIMIT_WARM_BYTES of them
COUNT_SPARE = 8
LEAKS = {"files": "open files:", "folders": "state folder:", "memory": "memory:", "rows": "record:"}  # leak: what the failure has to name

AGENT = r"""#!/bin/sh
told=$(cat)
goal=$(printf '%s\n' "$told" | grep -o 'goal_[0-9A-Z]*' | head -n 1)
echo "working on it"
case $told in
*"that hangs"*) exec sleep 1000 ;;
*"that dies"*) exit 3 ;;
esac
printf 'Made it.\n```json\n{"overseerUpdate": {"goalId": "%s", "workNodeId": "T1", "status": "done", "summary": "made", "evidence": {"filesTouched": ["made"]}}}\n```\n' "$goal"
"""

SETTINGS = """[supervision]
enabled = true
tick_every = "5m"
idle_after = "1d"
act_within = "1d"
backoff.base = "1d"
backoff.max = "1d"
verify_by_person = false
[repo]
keep = "10s"
""" + MANY_COMMANDS

# Rows that a closed goal with one task leaves for ever; tables that are not named end empty, or belong to the host.
KEPT = {"goal": 1, "goal_view": 1, "node": 2, "assignment": 1, "dispatch": 1, "crystallization": 1, "text": 3, "record": 7, "milestone": 3}
OF_THE_HOST = {"store", "host", "tally"}


class Faster(threading.Thread):
    """Advances the daemon's clock by `rate` seconds for each real second, in steps that are too small to be a leap."""

    def __init__(self, clock):
        super().__init__(daemon=True)
        self.clock, self.rate, self.over = clock, 0, False

    def run(self):
        at = time.monotonic()
        while not self.over:
            time.sleep(0.01)
            since, at = at, time.monotonic()
            self.clock.sleep(self.rate * (at - since))


def kind_of(number):
    return "that hangs" if number % 10 == 3 else "that dies" if number % 10 == 7 else "that is done"


class World:
    def __init__(self, engine, leak):
        self.folder = folder_make("churn")
        script = self.folder / "agent.sh"
        script.write_text(AGENT)
        script.chmod(0o755)
        config = self.folder / "overseer.toml"
        config.write_text(SETTINGS.replace("{script}", str(script)))
        self.clock = Clock(self.folder)
        self.store = store_make(engine, self.folder, "churn")
        self.memory = self.folder / "memory-in-use"
        self.memory.write_bytes(bytes(8))
        environment = {"OVERSEER_CONFIG": str(config), "OVERSEER_CLOCK_SHIM": str(self.clock.path), "OVERSEER_MEMORY_IN_USE": str(self.memory),
                       "LD_PRELOAD": f"{SHIM}:{CHURN_SHIM}", "OVERSEER_LEAK": leak or ""}
        self.daemon = Daemon(self.folder, self.store.uri, environment=environment)
        self.daemon.start()
        self.daemon.wait_joined()
        self.state = self.daemon.socket.with_suffix(".state")
        self.faster = Faster(self.clock)
        self.faster.start()
        self.database = self.store.connect()
        self.made, self.cancel = 0, []

    def number(self, sql):
        rows = self.database.execute(sql).fetchall() if self.store.engine == "sqlite" else self.database.ask(sql)
        return int(rows[0][0])

    def do(self, method, **params):
        """Calls over a connection of its own, as the command line does."""
        client = Client(self.daemon.socket)
        for _ in range(400):
            _, result, error = client.call(method, params)
            if error is None:
                client.close()
                return result
            if error["data"]["class"] != "transient":
                raise Broken(f"{method} {params}: {error}")
            time.sleep(0.05)
        raise Broken(f"{method} is never answered")

    def work(self):
        self.made += 1
        kind = kind_of(self.made)
        goal = self.do("goal.create", title=f"work {self.made} {kind}", key=f"g{self.made}")["goalId"]
        self.do("plan.apply", goal=goal, key=f"p{self.made}", nodes=[
            {"id": "P1", "tier": "phase", "name": "P1", "acceptanceCriteria": ["seen"]},
            {"id": "T1", "tier": "task", "parentId": "P1", "name": f"T1 {kind}", "acceptanceCriteria": ["seen"], "suggestedAgentId": "coder"}])
        if kind != "that is done":
            self.cancel.append((time.monotonic() + 1.5, goal))

    def cancel_due(self):
        while self.cancel and self.cancel[0][0] <= time.monotonic():
            self.do("goal.cancel", goal=self.cancel.pop(0)[1], reason="not wanted any more")

    def open_goals(self):
        """The number of open goals, without the host's own goal, which is in no list."""
        return self.number("SELECT count(*) FROM goal g WHERE g.open AND EXISTS (SELECT 1 FROM goal_view v WHERE v.goal_id = g.goal_id)")

    def tables(self):
        if self.store.engine == "sqlite":
            found = self.store.run("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goal_fts%'")
        else:
            found = self.store.run("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
                                   " AND relnamespace = 'public'::regnamespace")
        return [row[0] for row in found]

    def rows(self):
        return {name: self.store.count(name) for name in self.tables()}

    def level(self):
        pid = self.daemon.pid
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        places = [Path(top) / name for top, folders, files in os.walk(self.state) for name in folders + files]
        return {"open files": len(os.listdir(f"/proc/{pid}/fd")), "in use KiB": struct.unpack("<q", self.memory.read_bytes())[0] >> 10,
                "resident KiB": resident,
                "threads": len(os.listdir(f"/proc/{pid}/task")),
                "children": len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()),
                "holds": holds_count(self.state),
                "files": len(places),
                "state KiB": sum(place.lstat().st_blocks // 2 for place in places if place.name != "ballast" and not place.is_dir())}

    def is_clean(self):
        return not any((self.state / name).exists() and os.listdir(self.state / name) for name in ("runs", "homes"))

    def quiet(self, must_clean):
        def over():
            self.cancel_due()
            return self.open_goals() == 0
        wait_until("every goal is over", over, 60, 0.1)
        try:
            wait_until("the folders of runs are gone", self.is_clean, 60 if must_clean else 3, 0.2)
        except Broken:
            if must_clean:
                raise
        time.sleep(2)  # time for the daemon to notice closed connections and to give back arenas


def holds_count(state):
    found = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            found += (place / "comm").read_text().strip() == "overseer-hold" and str(state) in os.readlink(place / "cwd")
        except OSError:
            continue
    return found


def churn(world, runs, at_once):
    for _ in range(runs):
        while world.open_goals() >= at_once:
            world.cancel_due()
            time.sleep(0.01)
        world.work()


def judge_level(before, after, runs):
    wrong = []
    for name in ("open files", "threads", "children", "holds", "files"):
        if after[name] > before[name] + COUNT_SPARE:
            wrong.append(f"{name}: {before[name]} before {runs} runs, {after[name]} after them")
    if after["in use KiB"] > before["in use KiB"] + WARM_GOAL * runs + MEMORY_SPARE:
        wrong.append(f"memory: {before['in use KiB']} KiB before {runs} runs, {after['in use KiB']} after them")
    if after["state KiB"] > before["state KiB"] + 256:
        wrong.append(f"state folder: {before['state KiB']} KiB before {runs} runs, {after['state KiB']} after them")
    if wrong:
        raise Broken("; ".join(wrong))


def retain(world):
    later = time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(time.time() + world.clock.suspend / 1e6 + 400 * 86400))
    done = subprocess.run([str(OVERSEERD), "--store", world.store.uri, "--maintain", "retain", "--now", later], capture_output=True, text=True,
                          timeout=600, check=False)
    print(done.stdout.strip(), flush=True)
    if done.returncode:
        raise Broken(f"retain: {done.stdout}{done.stderr}")


def judge_rows(rows, goals):
    wrong = [f"{name}: {rows[name]} rows of {goals} closed goals, {KEPT.get(name, 0)} each may stay" for name in rows
             if name not in OF_THE_HOST and rows[name] > KEPT.get(name, 0) * goals + COUNT_SPARE]
    if wrong:
        raise Broken("; ".join(wrong))


def bytes_print(world, goals):
    """Prints what tables and indexes of SQLite use, without the free space in their pages."""
    total = 0
    for name, used in world.store.run("SELECT name, sum(pgsize - unused) FROM dbstat GROUP BY name ORDER BY 2 DESC"):
        total += used
        if used > 2 * goals:
            print(f"churn: {name}: {used / goals:.0f} bytes a closed goal", flush=True)
    print(f"churn: {total / goals:.0f} bytes a closed goal in all", flush=True)


def play(options, world):
    world.faster.rate = options.rate
    first = max(20, int(options.runs * WARM))
    must_clean = options.leak != "folders"
    churn(world, first, options.at_once)
    world.quiet(must_clean)
    before = world.level()
    churn(world, options.runs - first, options.at_once)
    while world.clock.suspend < options.hours * 3600e6:
        time.sleep(0.1)
    world.quiet(must_clean)
    after = world.level()
    world.faster.over = True
    print(f"churn: {options.runs} runs in {world.clock.suspend / 3600e6:.1f} h of its time\n  before {before}\n  after  {after}", flush=True)
    judge_level(before, after, options.runs - first)
    if world.daemon.promises_broken():
        raise Broken(world.daemon.promises_broken()[0])
    world.daemon.stop(60)
    world.database.close()
    print("churn: rows before retention", world.rows(), flush=True)
    if options.leak != "rows":
        retain(world)
    rows = world.rows()
    print("churn: rows after retention ", rows, flush=True)
    judge_rows(rows, options.runs)
    if options.engine == "sqlite":
        bytes_print(world, options.runs)


def run(options):
    world = World(options.engine, options.leak if options.leak != "rows" else None)
    try:
        play(options, world)
    finally:
        world.faster.over = True
        if world.daemon.process.poll() is None:
            world.daemon.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--leak", choices=tuple(LEAKS))
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([os.path.abspath(__file__), *sys.argv[1:]])
    try:
        run(options)
        broken = None
    except Broken as error:
        broken = error
        if not options.leak:
            traceback.print_exc()
    passed = not broken
    if options.leak:
        passed = LEAKS[options.leak] in str(broken)
        print(f"churn: the leak of {options.leak} was {'found' if passed else 'NOT found'}: {broken}")
    if passed:
        proof.passed("e2e", "churn", "")
    print(f"churn: {int(passed)} passed, {int(not passed)} failed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
