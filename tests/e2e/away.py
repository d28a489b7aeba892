# SPDX-License-Identifier: Apache-2.0
"""What does a daemon do while its store is unavailable? It stays up, reports the outage, and resumes where it was."""
import random
import subprocess
import sys
import threading
import time

from load import Http, Load, Op
from verify import Verification
from world import Broken, Client, Daemon, Unreachable, folder_make, goal_text, store_make, wait_until

HOLD = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE')\n" \
       "print('held', flush=True); sys.stdin.read()"
BACK_WITHIN = 6


class Outage:
    """An outage of the store: PostgreSQL is stopped; a SQLite file cannot become unavailable, so another process holds its lock."""

    def __init__(self, store):
        self.store = store

    def __enter__(self):
        if self.store.engine == "postgres":
            self.store.server_stop("fast")
            return
        self.holder = subprocess.Popen([sys.executable, "-c", HOLD, str(self.store.path)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        for _ in range(50):
            if self.holder.stdout.readline() == "held\n":
                return
        raise Broken("the lock cannot be had")

    def __exit__(self, *_):
        if self.store.engine == "postgres":
            self.store.server_start()
        else:
            self.holder.stdin.close()
            self.holder.wait(10)


class Asker(threading.Thread):
    """Sends one request just after the store became unavailable, and waits long for the answer."""

    def __init__(self, socket, op):
        super().__init__(daemon=True)
        self.client, self.op, self.took, self.answer = Client(socket, 60), op, None, None

    def run(self):
        since = time.monotonic()
        try:
            self.answer = self.client.call(self.op.kind, self.op.params())
        except Unreachable as error:
            self.answer = 0, None, {"message": str(error), "data": {"code": "no answer"}}
        self.took = time.monotonic() - since
        self.client.close()


def look_around(daemon, engine, goal, seconds):
    """Checks what the daemon reports, again and again, during the outage."""
    troubled = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        since = time.monotonic()
        daemon.alive()
        health = daemon.health(timeout=3)
        if not health or time.monotonic() - since > 2:
            raise Broken("the daemon does not say how it is while its store is away")
        troubled += not health["ok"] and bool(health["trouble"])
        if engine == "postgres":
            client = Client(daemon.socket, 15)
            status, _, error = client.call("goal.show", {"goal": goal_text(goal)})
            client.close()
            if status != 503 or error["data"]["code"] != "E_STORE_AWAY" or "PostgreSQL" not in error["message"]:
                raise Broken(f"goal.show without a database: {status} {error}")
        time.sleep(0.5)
    if not troubled:
        raise Broken(f"the store was away for {seconds:g} s, and the daemon never said so")


def db_away(options):
    since = time.monotonic()
    folder = folder_make("away")
    store = store_make(options.engine, folder, "away")
    acts = folder / "acts"
    daemon = Daemon(folder, store.uri)
    load = Load([daemon.socket], acts, options.seed, writers=8, clis=1, rest=options.rest)
    daemon.start()
    daemon.wait_joined()
    pid = daemon.pid
    load.start()
    wait_until("some goals are there", lambda: len(load.goals) > 20, 20)
    with Outage(store):
        asked = [Op("goal.report", f"away{i}", goal=load.goals[i], text=f"while it was away, {i}") for i in range(5)]
        askers = [Asker(daemon.socket, op) for op in asked]
        for asker in askers:
            asker.start()
        look_around(daemon, options.engine, load.goals[0], options.seconds)
    back = time.monotonic()
    daemon.wait_joined(within=BACK_WITHIN, also_well=True)
    after = Op("goal.report", "afterwards", goal=load.goals[0], text="it is back")
    load.settle(Http([daemon.socket], 30), after, random.Random(options.seed))
    recovered = time.monotonic() - back
    if recovered > BACK_WITHIN:
        raise Broken(f"the first write after the outage took {recovered:.1f} s")
    for asker in askers:
        asker.join(40)
        status, result, error = asker.answer or (0, None, {"message": "", "data": {"code": "no answer"}})
        if error and (error["data"]["code"] != "E_STORE_AWAY" or "same key" not in error["message"]):
            raise Broken(f"a write during the outage was answered with {status} {error}")
        asker.op.take(status, result, error)
    load.ops += [*asked, after]
    waited = sum(op.acked for op in asked)
    for op in asked:  # a write that was answered with an error is sent again, and must then be stored once
        load.settle(Http([daemon.socket], 30), op, random.Random(options.seed))
    time.sleep(1)
    load.end()
    daemon.wait_joined(also_well=True)
    wait_until("every effect has ended or is unconfirmed", lambda: store.count("effect WHERE state < 2") == 0, 40, 0.1)
    if daemon.pid != pid:
        raise Broken("the daemon is not the same any more")
    daemon.stop()
    verification = Verification(store, load, acts)
    findings = verification.run()
    for line in daemon.promises_broken():
        findings.add("broken promise", line)
    print(f"{'BROKEN' if findings else 'ok'} db-away {options.engine}: away for {options.seconds:g} s, first write"
          f" {recovered:.2f} s after it came back, {waited} of 5 writes waited and {5 - waited} were told to repeat,"
          f" {verification.summary()}, {time.monotonic() - since:.0f} s", flush=True)
    for line in findings.lines:
        print("   ", line)
    return not findings
