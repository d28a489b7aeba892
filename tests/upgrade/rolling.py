#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators can upgrade a fleet host by host while it works, and downgrade a host as long as one host is still old.

rolling.py [--seconds N] [--seed N]: three daemons of this build run on one PostgreSQL, while clients create goals, report and run commands.
The test replaces each daemon by the next build (overseerd-tomorrow: one more column, one more field, a higher level), and downgrades one of
them in between. STORE-18: the level rises when the last host supports it, not before; from then on the store refuses the old build.
At the end the test checks that every acknowledged write is stored completely and exactly once."""
import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from load import Load  # noqa: E402
from verify import CHECK, HOT, Verification, decode  # noqa: E402
from world import (BUILD, OVERSEERD, STARTED, TOP, Broken, Daemon, folder_make, store_make, under_postgres,  # noqa: E402
                   wait_until)

TOMORROW = BUILD / "tests" / "upgrade" / "overseerd-tomorrow"
TABLES, LEVEL = 10, 10  # of this build: the version of the tables, and the level of the messages between hosts
HOSTS = 3
LEASE = 2
NAMES = {**HOT, 100: "tomorrow"}
SENTENCE = "by a newer "


def proven(rows, name):
    path = os.environ.get("OVERSEER_PROOFS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{row}\tupgrade\t{name}\n" for row in rows)


def daemon_of(folder, store, host, program, name=None):
    return Daemon(folder, store.uri, name or f"host{host}", program, ["--host", str(host), "--lease", str(LEASE)])


class Fleet:
    def __init__(self, options):
        self.options = options
        self.folder = folder_make("rolling")
        self.store = store_make("postgres", self.folder, "rolling")
        self.acts = self.folder / "acts"
        self.acts.touch()
        self.daemons = [daemon_of(self.folder, self.store, host, OVERSEERD) for host in range(1, HOSTS + 1)]
        self.load = Load([daemon.socket for daemon in self.daemons], self.acts, options.seed, writers=6, timeout=3,
                         rest=0.02, prefix="r")
        self.moves = []

    def level(self):
        (version, level), = self.store.run("SELECT version, level FROM store")
        return int(version), int(level)

    def expect(self, version, level):
        if self.level() != (version, level):
            raise Broken(f"after {self.moves[-1:] or 'the start'} the store is at {self.level()}, not at {(version, level)}")

    def work(self):
        """Lets the clients work for a while. The number of acknowledged writes must grow."""
        before = self.load.acked
        time.sleep(self.options.seconds)
        self.load.check()
        if self.load.acked <= before:
            raise Broken("nothing was acknowledged")

    def replace(self, host, program, kill=False):
        old = self.daemons[host - 1]
        old.kill() if kill else old.stop()
        fresh = daemon_of(self.folder, self.store, host, program)
        fresh.start()
        fresh.wait_joined()
        self.daemons[host - 1] = fresh
        self.moves.append(f"host {host} {'killed' if kill else 'stopped'} and started as {program.name}")

    def hots(self):
        return {row["goal_id"]: decode(row["hot"][:-CHECK], NAMES) for row in self.store.read("goal")}

    def nothing_of_tomorrow(self):
        early = [goal for goal, hot in self.hots().items() if hot["tomorrow"]]
        if early:
            raise Broken(f"{len(early)} goals have the new field, and a host does not know it")

    def refuse_today(self, host, name):
        """A daemon of the old build does not join: it exits with SENTENCE in its log, or keeps running without a ledger."""
        hosts = self.store.run(f"SELECT host_id, epoch, instance FROM host WHERE speaks < {LEVEL} OR host_id > 3")
        late = daemon_of(self.folder, self.store, host, OVERSEERD, name)
        late.start()

        def refused():
            return late.process.poll() is not None or SENTENCE in late.log_tail()
        wait_until("today's build is refused", refused, 15)
        time.sleep(0.5)
        if SENTENCE not in late.log_tail():
            raise Broken(f"it does not say why: {late.log_tail()}")
        if late.process.poll() is None:
            if late.health().get("joined"):
                raise Broken("today's build has joined a store of tomorrow")
            late.process.terminate()
            late.process.wait(15)
        elif late.process.returncode <= 0:
            raise Broken(f"it ended with {late.process.returncode}: {late.log_tail()}")
        STARTED.remove(late.process)
        if hosts != self.store.run(f"SELECT host_id, epoch, instance FROM host WHERE speaks < {LEVEL} OR host_id > 3"):
            raise Broken("today's build has written to a store of tomorrow")

    def field_is_kept(self):
        """After the level has risen, every host counts each report in the new field too."""
        self.load.rest_begin()
        time.sleep(LEASE)  # until every host has read the new level
        before = self.hots()
        self.load.rest_end()
        self.work()
        self.replace(1, TOMORROW, kill=True)
        self.work()
        self.load.end()
        wait_until("every effect has ended or is unconfirmed", lambda: self.store.count("effect WHERE state < 2") == 0
                   and self.store.count("inbox") == 0, 40, 0.1)
        counted = 0
        for goal, hot in self.hots().items():
            was = before.get(goal, {"tomorrow": 0, "reports": 0})
            if hot["tomorrow"] - was["tomorrow"] != hot["reports"] - was["reports"]:
                raise Broken(f"the new field went from {was['tomorrow']} to {hot['tomorrow']}, reports from"
                             f" {was['reports']} to {hot['reports']}")
            counted += hot["tomorrow"]
        if not counted:
            raise Broken("the new field was never written")
        return counted

    def tally_is_right(self):
        return self.store.run(
            "SELECT (SELECT coalesce(sum(n), 0) FROM tally t WHERE t.face = f) - (SELECT count(*) FROM goal_view v"
            " WHERE v.face = f) FROM generate_series(0, 9) f") == [["0"]] * 10

    def run(self):
        for daemon in self.daemons:  # all at once: one of them creates the tables
            daemon.start()
        for daemon in self.daemons:
            daemon.wait_joined()
        self.load.start()
        self.work()
        self.expect(TABLES, LEVEL)
        self.replace(1, TOMORROW)
        self.work()
        self.expect(TABLES + 1, LEVEL)
        self.replace(1, OVERSEERD)  # the downgrade
        self.work()
        self.expect(TABLES + 1, LEVEL)
        self.replace(1, TOMORROW)
        self.work()
        self.replace(2, TOMORROW, kill=True)
        self.work()
        self.expect(TABLES + 1, LEVEL)
        self.nothing_of_tomorrow()
        self.replace(3, TOMORROW)
        wait_until("the level is raised", lambda: self.level() == (TABLES + 1, LEVEL + 1), 15, 0.1)
        self.work()
        self.refuse_today(4, "late")
        counted = self.field_is_kept()
        self.daemons[2].stop()
        self.refuse_today(3, "back")
        for daemon in self.daemons[:2]:
            daemon.stop()
        verification = Verification(self.store, self.load, self.acts)
        findings = verification.run()
        if not self.tally_is_right():
            findings.add("half-applied", "the tally is not the count of faces")
        for daemon in self.daemons:
            for line in daemon.promises_broken():
                findings.add("broken promise", line)
        return findings, f"{verification.summary()}; {len(self.moves)} hosts replaced, {counted} reports in the new field"


def migrate_at_once():
    """Three daemons of the next build start on a store of the first version: one of them migrates it, and all of them join."""
    folder = folder_make("migrate")
    store = store_make("postgres", folder, "migrate")
    fixture = TOP / "tests" / "fixtures" / "store-1.postgres.sql"
    subprocess.run([f"{store.bin}/psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", store.name, "-f", str(fixture)], check=True,
                   stdout=subprocess.DEVNULL)
    daemons = [daemon_of(folder, store, host, TOMORROW) for host in (1, 2, 3)]
    threads = [threading.Thread(target=daemon.start) for daemon in daemons]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for daemon in daemons:
        daemon.wait_joined()
    wait_until("the level is raised", lambda: store.run("SELECT version, level FROM store") == [[str(TABLES + 1), str(LEVEL + 1)]], 15, 0.1)
    if store.count("goal") != 6 or store.count("goal_view") != 6:
        raise Broken("goals were lost on the way")
    wait_until("what ran when the first version was killed is unconfirmed",
               lambda: store.count("effect WHERE state = 2") == 1, 15, 0.1)
    for daemon in daemons:
        daemon.stop()
        if daemon.promises_broken():
            raise Broken(daemon.promises_broken()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2, help="of work between two steps")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    under_postgres([os.path.abspath(__file__), *sys.argv[1:]])
    since = time.monotonic()
    try:
        migrate_at_once()
        findings, summary = Fleet(options).run()
    except Broken as error:
        print(f"BROKEN rolling: {error}")
        return 1
    print(f"{'BROKEN' if findings else 'ok'} rolling: {summary}, {time.monotonic() - since:.0f} s", flush=True)
    for line in findings.lines:
        print("   ", line)
    if not findings:
        proven(["STORE-04", "STORE-18"], "rolling")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
