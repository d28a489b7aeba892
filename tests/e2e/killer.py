#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which promises hold when processes die, stop and lose their database.

  killer.py kill --engine sqlite|postgres --kills N   the daemon is killed at any moment, N times
  killer.py pg-restart --times N                      PostgreSQL crashes or restarts under a daemon that stays
  killer.py sigstop --times N --pairs P               one of two daemons is stopped; the other takes over
  killer.py db-away --engine sqlite|postgres          the store goes away and comes back
  killer.py poison --engine sqlite|postgres           one goal cannot be decided or stored; the others go on

Each verb starts what it needs, prints its findings in one line, and exits with 1 if a promise was broken. It writes the requirement
rows that it has proven to the file that OVERSEER_PROOFS names. OVERSEER_BUILD names the folder with the programs; OVERSEER_KEEP=1
keeps the store and the logs.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

import away
import pair
import poison
from load import Load
from verify import Verification
from world import (OVERSEERD, Broken, Client, Daemon, Unreachable, folder_make, goal_text, store_make, under_postgres,
                   wait_until)

WRITERS = 16  # the number that STORE-06 requires; one of them uses the command line


def proven(rows, name, engine=None):
    path = os.environ.get("OVERSEER_PROOFS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            for row in rows:
                file.write(f"{row}\te2e\t{name}{f' [{engine}]' if engine else ''}\n")


def report(what, findings, summary, since):
    print(f"{'ok' if not findings else 'BROKEN'} {what}: {summary}, {time.monotonic() - since:.0f} s", flush=True)
    for line in findings.lines:
        print("   ", line)
    return not findings


def quiet(daemon, store, within=40):
    """Waits until no effect is ready or running, and the inbox and the spool are empty."""
    daemon.wait_joined(also_well=True)
    try:
        wait_until("every effect has ended or is unconfirmed", lambda: daemon.alive() and store.count(
            "effect WHERE state < 2") == 0 and store.count("inbox") == 0 and daemon.spooled() == 0, within, 0.1)
    except Broken as error:
        children = subprocess.run(["ps", "--ppid", str(daemon.pid), "-o", "pid=,stat=,args="], capture_output=True, text=True)
        open_effects = [goal_text(row["goal_id"]) for row in store.read("effect", "state < 2")]
        raise Broken(f"{error}; open: {open_effects}; health: {daemon.health()}; children: {children.stdout.split()}") from error


def verified(daemons, store, load, acts):
    verification = Verification(store, load, acts)
    findings = verification.run()
    for daemon in daemons:
        for line in daemon.promises_broken():
            findings.add("broken promise", line)
    return verification, findings


# ---- kill ----

def lock_of_the_living(daemon, folder, store):
    """STORE-07: while one daemon runs, a second daemon on the same file exits and does not disturb the first one."""
    second = Daemon(folder, store.uri, "second")
    second.start()
    if second.process.wait(10) != 1 or "in use by another daemon" not in second.log_tail():
        raise Broken(f"a second daemon on the same store: {second.process.returncode}, {second.log_tail()}")
    daemon.alive()
    text = (store.path.parent / (store.path.name + ".lock")).read_text()
    if f'"pid": {daemon.pid}' not in text or '"createdAt"' not in text:
        raise Broken(f"the lock says {text!r}, the daemon is {daemon.pid}")


def wait_at_work(daemon, load):
    """Waits until the daemon acknowledges a new write."""
    acked = load.acked
    try:
        wait_until("the daemon writes", lambda: load.acked > acked or load.check(), 20, 0.001)
    except Broken as error:
        asked = Client(daemon.socket, 5)
        try:
            answer = asked.call("goal.create", {"title": "is anybody there?"})
        except Unreachable as trouble:
            answer = trouble
        raise Broken(f"{error}; health: {daemon.health()}; a write of ours: {answer}; {daemon.log_tail()}") from error


def kill(options):
    since = time.monotonic()
    folder = folder_make("kill")
    store = store_make(options.engine, folder, "kill")
    acts = folder / "acts"
    chance = random.Random(options.seed)
    daemon = Daemon(folder, store.uri)
    load = Load([daemon.socket], acts, options.seed, writers=WRITERS, clis=1, rest=options.rest)
    daemon.start()
    daemon.wait_joined()
    load.start()
    began = time.monotonic()
    for i in range(options.kills):
        if i % 2:  # half of the kills come soon after a start, half while the daemon writes
            wait_at_work(daemon, load)
        time.sleep(chance.random() * 0.15)
        load.check()
        if options.engine == "sqlite" and i % 50 == 25:
            lock_of_the_living(daemon, folder, store)
        daemon.kill()
        daemon.start()
        daemon.wait_joined()
    written = time.monotonic() - began
    load.end()
    quiet(daemon, store)
    daemon.stop()
    verification, findings = verified([daemon], store, load, acts)
    if verification.stats["silent"] > max(3, options.kills / 3):  # P14; without it, the number is more than half of the kills
        findings.add("asked in vain", f"{verification.stats['silent']} commands are unconfirmed that never began, after {options.kills} kills")
    ok = report(f"kill {options.engine}", findings, f"{options.kills} kills, {verification.summary()}", since)
    if ok and options.kills >= 50:
        proven(["STORE-02", "EVENT-04"], "what was acknowledged survives kill -9, once and whole", options.engine)
        if written >= 60:
            proven(["STORE-06"], "16 writers by socket and command line lose no update", options.engine)
        if options.engine == "sqlite":
            proven(["STORE-07.a", "STORE-07.b"], "the lock of a dead daemon is taken over, that of a living one is not", options.engine)
    return ok


# ---- pg-restart ----

def pg_restart(options):
    since = time.monotonic()
    folder = folder_make("restart")
    store = store_make("postgres", folder, "restart")
    acts = folder / "acts"
    chance = random.Random(options.seed)
    daemon = Daemon(folder, store.uri)
    load = Load([daemon.socket], acts, options.seed, writers=WRITERS, clis=1, rest=options.rest)
    daemon.start()
    daemon.wait_joined()
    pid = daemon.pid
    load.start()
    for i in range(options.times):
        time.sleep(chance.random() * 1.5)
        store.server_stop("immediate" if i % 2 == 0 else "fast")
        time.sleep(chance.random() * 0.5)
        store.server_start()
        if chance.random() < 0.7:  # otherwise the next stop may come while the daemon still recovers
            daemon.wait_joined(also_well=True)
        load.check()
    load.end()
    quiet(daemon, store)
    if daemon.pid != pid:
        raise Broken("the daemon is not the same any more")
    daemon.stop()
    verification, findings = verified([daemon], store, load, acts)
    ok = report("pg-restart", findings,
                f"{options.times} restarts, half of them crashes, one daemon process, {verification.summary()}", since)
    if ok:
        proven(["EVENT-04"], "a crashing PostgreSQL loses and doubles nothing that was acknowledged", "postgres")
    return ok


# ---- the command line ----

def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)

    def verb(name, run, *, postgres=False, both=False):
        sub = verbs.add_parser(name)
        sub.add_argument("--seed", type=int, default=int(time.time()))
        sub.add_argument("--rest", type=float, default=0.012, help="seconds between two writes of a client, on average")
        if both:
            sub.add_argument("--engine", choices=("sqlite", "postgres"), required=True)
        sub.set_defaults(run=run, engine="postgres" if postgres else None)
        return sub
    verb("kill", kill, both=True).add_argument("--kills", type=int, default=60)
    verb("pg-restart", pg_restart, postgres=True).add_argument("--times", type=int, default=4)
    sub = verb("sigstop", pair.sigstop, postgres=True)
    sub.add_argument("--times", type=int, default=8)
    sub.add_argument("--pairs", type=int, default=2, help="pairs of daemons at once, each with its own database")
    verb("db-away", away.db_away, both=True).add_argument("--seconds", type=float, default=10)
    verb("poison", poison.poison, both=True)
    return parser.parse_args()


def main():
    options = arguments()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    if not OVERSEERD.exists():
        sys.exit(f"There is no {OVERSEERD}: build it first, or name the folder with OVERSEER_BUILD.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes that this test started are ended
    try:
        return 0 if options.run(options) else 1
    except Broken as error:
        print(f"BROKEN {options.verb} {options.engine}: {error} (seed {options.seed})", flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
