#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""This tree's daemon takes over a store and active runs of an earlier tree's daemon.

before.py [--engine sqlite|postgres] [--commit PREFIX] [--planted NAME]: for each tree of trees.txt the test builds and starts its daemon, with
agents in mid-turn, with an open question, in their check and ready to land. Then the test kills that daemon. This tree's daemon starts on the
same store and state folder. Every task lands once, from the run that began it; the operator can answer the open questions; `why` still shows
the earlier records. This tree also imports and verifies an export and a backup of the earlier tree. Exit status 77: the commit is not in this
clone, nothing was tested.

--planted: the test plants a fault after the kill and has to find it (exit status 0 if it does); all: each fault, one after the other.
"""
import argparse
import os
import signal
import sqlite3
import sys
import time

from at_work import (Holds, all_is_told, all_land, begin_all, expect, export_is_taken, nothing_is_doubled, site_end, site_make,
                     what_was_asked_is_answered)
from earlier import SKIPPED, NoHistory, programs_build, trees

import proof
from care import state_of
from world import OVERSEERD, Broken, under_postgres


# ---- faults that the test has to find ----

def plant_state(site, _):
    """Replaces the saved driver state with bytes that no build can read."""
    for path in state_of(site).glob("runs/*/drive.state"):
        path.write_bytes(b"of another build" * 20)


def plant_record(site, goals):
    """Deletes one record that the earlier daemon wrote."""
    raw = bytes.fromhex(f"{sum('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.index(c) << 5 * (25 - n) for n, c in enumerate(goals['landed'][5:])):032x}")
    with sqlite3.connect(site.store.path) as store:
        kept = store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'record'").fetchall()
        for name, _ in kept:
            store.execute(f"DROP TRIGGER {name}")
        expect(store.execute("DELETE FROM record WHERE goal_id = ? AND seq = 5", (raw,)).rowcount == 1, "nothing was taken out")
        for _, sql in kept:
            store.execute(sql)


def plant_held(site, _):
    """Kills the holds, so that the daemon has to start the work again."""
    for pid in Holds(site.folder).pids():
        os.kill(pid, signal.SIGKILL)


PLANTED = {"state": plant_state, "record": plant_record, "held": plant_held}


# ---- the complete test ----

def take_over(options, programs):
    site = site_make(options.engine, programs)
    holds = Holds(site.folder)
    try:
        holds.start()
        goals = begin_all(site)
        before = {at: (site.events(goal), site.why(goal)) for at, goal in goals.items()}
        site.daemon.kill()
        export_is_taken(site, programs, options.engine)
        if options.planted:
            PLANTED[options.planted](site, goals)
        site.daemon.command[0] = str(OVERSEERD)
        since = time.monotonic()
        site.begin()
        what_was_asked_is_answered(site, goals)
        all_land(site, goals)
        took = time.monotonic() - since
        holds.end()
        nothing_is_doubled(site, goals, holds)
        all_is_told(site, goals, before)
        names = [site.do("goal.show", goal=goal).get("name") for at, goal in goals.items() if at != "landed"]  # that one changes no more
        expect(all(names) and len(set(names)) == len(names), f"names after the take-over: {names}")
        expect(not site.daemon.promises_broken(), site.daemon.promises_broken()[:1])
        return f"{len(goals)} tasks landed, {len(goals) - 1} of them {took:.0f} s after the take-over, one run each"
    finally:
        holds.end()
        site_end(site, holds)


def found(options, programs):
    """Plants each fault and checks that the test finds it."""
    lines = []
    for name in PLANTED if options.planted == "all" else [options.planted]:
        try:
            take_over(argparse.Namespace(engine="sqlite", planted=name), programs)
        except Broken as error:
            lines.append(f"planted {name} is found ({str(error)[:60]}…)")
        else:
            raise Broken(f"planted {name} is NOT found")
    return ", ".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--commit", default="")
    parser.add_argument("--planted", choices=[*PLANTED, "all"])
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
    for commit, what in trees():
        if not commit.startswith(options.commit):
            continue
        try:
            programs, took = programs_build(commit)
            since = time.monotonic()
            told = (found if options.planted else take_over)(options, programs)
        except NoHistory as error:
            print(f"skipped before: {error}")
            return SKIPPED
        except Broken as error:
            print(f"BROKEN before: {commit[:12]} on {options.engine}: {error}")
            return 1
        print(f"ok before: {commit[:12]} ({what}) on {options.engine}: built in {took:.0f} s, {told}, {time.monotonic() - since:.0f} s", flush=True)
    if not options.planted:
        proof.passed("upgrade", f"before {options.engine}", "STORE-04 STORE-18")
    return 0


if __name__ == "__main__":
    sys.exit(main())
