#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks when the daemon goes into safe mode, what it does there, and which processes may write to a store.

  safe.py sqlite|postgres        every story on that engine; with PostgreSQL run it under tests/lib/with-postgres

OVERSEER_BUILD names the folder with the programs; OVERSEER_KEEP=1 leaves the stores in place.
"""
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from proof import passed  # noqa: E402
from world import (OVERSEERD, STARTED, TOP, Broken, Client, Daemon, folder_make, store_make, under_postgres,  # noqa: E402
                   wait_until)

STORE_CORRUPT, STORE_REBUILT, POLICY_CHANGED = 32, 34, 38  # types of records
ACT = 'echo "$OVERSEER_EFFECT" >> "$ACTS"'
WRITES = (("goal.create", {"title": "x", "command": ACT}), ("goal.report", {"text": "x"}), ("goal.pause", {}),
          ("goal.cancel", {}), ("plan.review", {}))


class World:
    """A folder, a store in it, and a daemon that uses it."""

    def __init__(self, engine, name):
        self.folder = folder_make(f"safe-{name}")
        self.store = store_make(engine, self.folder, f"safe_{name}")
        self.acts = self.folder / "acts"
        self.acts.touch()
        self.environment = {"ACTS": str(self.acts)}
        self.daemon = Daemon(self.folder, self.store.uri, environment=self.environment)

    def start(self):
        self.daemon.start()

        def settled():
            self.daemon.alive()
            health = self.daemon.health()
            return health if health and (health["safeMode"] or health["joined"]) else None
        return wait_until("the daemon says how it is", settled, 90)  # the number of a silent host is taken over only after its lease

    def call(self, method, **params):
        client = Client(self.daemon.socket, 15)
        status, result, error = client.call(method, params)
        client.close()
        return status, result, error

    def create(self, n, command=None):
        _, result, error = self.call("goal.create", title=f"goal {n}", key=f"k{n}", **({"command": command} if command else {}))
        insist(result, f"goal.create: {error}")
        return result["goalId"]

    def fill(self, goals=20):
        insist(not self.start()["safeMode"], "a new store is in safe mode")
        self.goals = [self.create(n, ACT if n % 2 else None) for n in range(goals)]
        wait_until("the commands ran", lambda: len(self.acts.read_text().split()) == goals // 2, 20)
        wait_until("and were recorded", lambda: self.store.count("effect") == 0, 20)

    def maintain(self, *words, environment=None):
        return subprocess.run([str(OVERSEERD), "--maintain", *words, "--store", self.store.uri], capture_output=True,
                              text=True, timeout=120, check=False, env={**os.environ, **(environment or {})})

    def check_safe(self, names=""):
        """The matrix of STORE-10: the daemon answers reads, refuses all writes, and runs nothing."""
        before = self.acts.read_text()
        health = self.daemon.health()
        insist(health["safeMode"] and not health["ok"] and not health["joined"], f"health: {health}")
        insist(names in health["trouble"], f"health does not say why: {health['trouble']}")
        for method, params in WRITES:
            status, _, error = self.call(method, **({} if "title" in params else {"goal": self.goals[0]}), **params)
            insist(error and error["data"]["code"] == "E_SAFE_MODE" and status == 503, f"{method}: {status} {error}")
        for method, params in (("goal.show", {"goal": self.goals[0]}), ("goal.list", {}), ("goal.tally", {})):
            status, result, error = self.call(method, **params)
            insist(result is not None or error["data"]["code"] in ("E_STORE_AWAY", "E_NOT_FOUND"), f"{method}: {status} {error}")
        time.sleep(0.3)
        insist(self.acts.read_text() == before, "something was dispatched in safe mode")

    def stop(self):
        self.daemon.stop()
        insist(not self.daemon.promises_broken(), f"in the log: {self.daemon.promises_broken()[:1]}")


def insist(holds, what):
    if not holds:
        raise Broken(what)


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


# ---- SQLite ----

def damaged_while_running(engine):
    """A page that is read later is damaged: the daemon goes into safe mode at once, and the next start sets the store aside."""
    world = World(engine, "running")
    world.fill(300)
    path = world.store.path
    time.sleep(1.5)  # time for checkpoints
    world.daemon.kill()
    insist(not world.start()["safeMode"], "safe mode after a kill")
    with open(path, "r+b") as file:  # not the first pages: those are in memory already
        size = path.stat().st_size
        for page in range(12, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)

    def noticed():
        for goal in world.goals[::7]:
            world.call("goal.show", goal=goal)
        return world.daemon.health()["safeMode"]
    wait_until("the damage is noticed", noticed, 20)
    world.check_safe("damaged")
    world.daemon.kill()
    insist(world.start()["safeMode"], "the next start is not in safe mode")
    insist(list(world.folder.glob("overseer.db.corrupt-*")), "nothing was set aside")
    world.check_safe("renamed to")
    world.stop()


def odd_values(engine):
    """The daemon finds numbers and bytes without a meaning, and showing them does not crash it."""
    world = World(engine, "odd")
    world.fill()
    world.goals.append(world.create("waits", f"{ACT}; exec sleep 3"))
    wait_until("it runs", lambda: world.store.count("effect WHERE state = 1") == 1, 20)
    world.daemon.kill()
    for sql in ("UPDATE store SET retaining = 1", "UPDATE effect SET state = 77, kind = 99",
                "UPDATE goal_view SET face = 77, status = 88, priority = 99, title = CAST(x'ff61fe' AS TEXT)",
                "UPDATE record SET type = 250 WHERE seq = 2", "UPDATE record SET body = x'01' || randomblob(300) WHERE seq = 3",
                "UPDATE goal SET hot = x'010299' WHERE seq = 1", "UPDATE goal SET head = x'01', aside = 7 WHERE seq > 1"):
        world.store.run(sql)
    insist(world.start()["safeMode"], "odd values are worked with")
    for goal in world.goals:
        for method in ("goal.show", "plan.show"):
            world.call(method, goal=goal)
    for params in ({}, {"search": "goal"}, {"status": "active"}):
        world.call("goal.list", **params)
    world.check_safe("renamed to")
    world.stop()


def newer(engine):
    """The daemon leaves a store of a newer build exactly as it is."""
    world = World(engine, "newer")
    world.fill()
    world.stop()
    if engine == "sqlite":
        world.store.run("ALTER TABLE goal ADD COLUMN later INTEGER")
        world.store.run("UPDATE store SET version = 99, oldest = 99")
        before = digest(world.store.path)
    else:
        world.store.run("UPDATE store SET version = 99, oldest = 99")
    insist(world.start()["safeMode"], "a newer store is worked on")
    world.check_safe("newer")
    world.stop()
    examined = world.maintain("examine")
    insist(examined.returncode == 4 and "newer" in examined.stdout, f"examine: {examined.returncode} {examined.stdout}")
    if engine == "sqlite":
        insist(digest(world.store.path) == before and not list(world.folder.glob("*corrupt*")), "the newer store was touched")
        rebuilt = world.maintain("rebuild")
        insist(rebuilt.returncode == 4, f"rebuild of a newer store: {rebuilt.returncode} {rebuilt.stdout}")
        insist(digest(world.store.path) == before, "rebuild touched the newer store")


def failed_migration(engine):
    """STORE-05: when the tables of an older build cannot be migrated, the API answers and the status says so."""
    world = World(engine, "migration")
    make, drop = {"sqlite": ("CREATE TABLE milestone (something TEXT)", "DROP TABLE milestone"),  # obstructs the migration
                  "postgres": ("CREATE FUNCTION public.goal_view_ends() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                               "DROP FUNCTION goal_view_ends")}[engine]
    if engine == "sqlite":
        connection = sqlite3.connect(world.store.path)
        connection.executescript((TOP / "tests/fixtures/store-1.sqlite.sql").read_text())
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(make)
        connection.commit()
        connection.close()
    else:
        world.store.run((TOP / "tests/fixtures/store-1.postgres.sql").read_text() + ";" + make)
    world.goals = ["goal_" + "0" * 26]
    insist(world.start()["safeMode"], "a store that could not be brought up to date is worked on")
    world.check_safe("could not be migrated")
    world.stop()
    insist(int(world.store.run("SELECT version FROM store")[0][0]) == 1, "half of a migration")
    world.store.run(drop)
    insist(not world.start()["safeMode"], "safe mode although the way is free")
    world.stop()


def unreadable(engine):
    """A daemon that is not root and may not read its store goes into safe mode and leaves the store alone."""
    if os.getuid() != 0:
        return
    world = World(engine, "unreadable")
    world.fill()
    world.stop()
    os.chmod(world.store.path, 0)
    state = world.daemon.socket.with_suffix(".state")
    for path in (world.folder, Path(f"{world.store.path}.lock"), world.acts, state, *state.iterdir()):
        os.chown(path, 65534, 65534)
    program = world.folder / "overseerd"  # where that user can run it
    shutil.copy(OVERSEERD, program)
    log = open(world.daemon.log, "ab")
    world.daemon.process = subprocess.Popen([str(program), *world.daemon.command[1:]], stderr=log, stdout=log, user=65534, group=65534,
                                            extra_groups=[])
    STARTED.append(world.daemon.process)
    wait_until("it answers", world.daemon.health, 20)
    world.check_safe("cannot be read")
    world.stop()
    insist(not list(world.folder.glob("*corrupt*")), "a store that cannot be read was set aside")


def accept_empty(engine):
    """Only a person can accept an empty store."""
    world = World(engine, "empty")
    world.fill()
    refused = world.maintain("accept-empty")
    insist(refused.returncode == 1 and "in use" in refused.stderr, f"beside a daemon: {refused.returncode} {refused.stderr}")
    world.stop()
    refused = world.maintain("accept-empty")
    insist(refused.returncode == 1 and "not in safe mode" in refused.stdout, f"{refused.returncode} {refused.stdout}")
    world.store.path.write_bytes(b"")
    for _ in range(2):
        insist(world.start()["safeMode"], "an empty file was taken for a store")
        world.check_safe()
        world.stop()
    done = world.maintain("accept-empty")
    insist(done.returncode == 0, f"accept-empty: {done.returncode} {done.stdout}")
    insist(not world.start()["safeMode"], "still in safe mode")
    world.create("afterwards", ACT)
    world.stop()
    aside = [path.name for path in world.folder.glob("overseer.db.corrupt-*") if path.name.endswith("Z")]
    insist(len(aside) == 1, f"set aside: {aside}")
    names = [row[0] for row in world.store.run("SELECT type FROM record WHERE goal_id = x'00000000000000000000000000000001'"
                                               " ORDER BY seq")]
    insist(names == [STORE_CORRUPT, STORE_REBUILT, POLICY_CHANGED], f"the log of the store: {names}")
    verified = world.maintain("verify-log")
    insist(verified.returncode == 0, verified.stdout)


# ---- PostgreSQL ----

def damaged_rows(engine):
    """The daemon finds a row that is not what was written before it claims anything; the operator of the server repairs it."""
    world = World(engine, "rows")
    world.fill()
    world.environment["ACTS"] = str(world.acts)
    goal = world.create("waits", f'{ACT}; sleep 600')
    world.goals.append(goal)
    wait_until("it runs", lambda: world.store.count("effect WHERE state = 1") == 1, 20)
    world.daemon.kill()
    until = world.store.run("SELECT until FROM effect")[0][0]
    world.store.run("UPDATE effect SET state = 0, run_host = 0")
    insist(world.start()["safeMode"], "a damaged effect was not found")
    world.check_safe("claimed before")
    world.stop()
    world.store.run(f"UPDATE effect SET state = 1, run_host = 1, until = {until}")
    insist(not world.start()["safeMode"], "safe mode although the row is mended")
    world.stop()


def class_xx(engine):
    """The server reports that the data that it reads is damaged."""
    world = World(engine, "xx")
    world.fill()
    world.store.run("CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS"
                    " 'BEGIN RAISE EXCEPTION ''invalid page in block 7'' USING ERRCODE = ''XX001''; END';"
                    "CREATE TRIGGER broken BEFORE INSERT ON goal FOR EACH ROW EXECUTE FUNCTION broken()")
    status, _, error = world.call("goal.create", title="x")
    insist(error and error["data"]["code"] == "E_SAFE_MODE", f"the write that met it: {status} {error}")
    world.check_safe("invalid page")
    world.stop()
    world.store.run("DROP TRIGGER broken ON goal")
    insist(not world.start()["safeMode"], "safe mode although the server is well")
    world.stop()


# ---- both engines ----

def log_verified(engine):
    """Chain heads that were written down earlier show what was removed or altered since."""
    world = World(engine, "log")
    world.fill()
    world.stop()
    heads = world.folder / "heads"
    done = world.maintain("verify-log", "--heads", str(heads))
    insist(done.returncode == 0 and "of 20 goals, all chains intact" in done.stdout, f"{done.returncode} {done.stdout}")
    lines = heads.read_text().splitlines()
    insist(len(lines) == 21 and lines == sorted(lines) and all(len(line.split()) == 3 for line in lines), f"heads: {lines[:2]}")
    insist(not world.start()["safeMode"], "safe mode")
    for goal in world.goals[:5]:
        world.call("goal.report", goal=goal, text="more")
    world.stop()
    done = world.maintain("verify-log", "--against", str(heads))
    insist(done.returncode == 0 and "21 of 21 heads" in done.stdout, f"against, after more: {done.stdout}")
    moved = lines[0].split()[:2] + ["0" * 64]
    (world.folder / "altered").write_text("\n".join([" ".join(moved), *lines[1:]]) + "\n")
    done = world.maintain("verify-log", "--against", str(world.folder / "altered"))
    insist(done.returncode == 3 and "altered after" in done.stdout, f"against an altered list: {done.stdout}")
    longer = lines[0].split()[0] + " 99 " + lines[0].split()[2]
    (world.folder / "longer").write_text("\n".join([longer, *lines[1:]]) + "\n")
    done = world.maintain("verify-log", "--against", str(world.folder / "longer"))
    insist(done.returncode == 3 and "removed after" in done.stdout, f"against a longer list: {done.stdout}")
    done = world.maintain("verify-log", "--against", str(world.acts))
    insist(done.returncode == 2, f"against something else: {done.returncode} {done.stdout}")


def instance(engine):
    """STORE-21: a process that was given another instance gets an error; a process that the daemon starts cannot write to its store."""
    world = World(engine, "instance")
    world.fill()
    world.create("child", "env > " + str(world.folder / "env"))
    wait_until("the command ran", lambda: (world.folder / "env").exists() and world.store.count("effect") == 0, 20)
    world.stop()
    sql = "SELECT hex(instance) FROM store" if engine == "sqlite" else "SELECT replace(instance::text, '-', '') FROM store"
    ours = world.store.run(sql)[0][0].lower()
    told = dict(line.split("=", 1) for line in (world.folder / "env").read_text().splitlines() if "=" in line)
    insist("OVERSEER_STORE" not in told, "a command is told where the store is")
    insist(told["OVERSEER_INSTANCE"] != ours, "a command is told the name of the store")
    before = world.store.count("record"), world.store.run("SELECT epoch FROM host")
    stray = Daemon(world.folder, world.store.uri, "stray", environment={"OVERSEER_INSTANCE": told["OVERSEER_INSTANCE"]})
    stray.start()
    insist(stray.process.wait(20) == 1, "a process of another instance was let in")
    insist("belongs to another" in stray.log.read_text(), stray.log.read_text())
    insist((world.store.count("record"), world.store.run("SELECT epoch FROM host")) == before, "it wrote something")
    own = Daemon(world.folder, world.store.uri, "own", environment={"OVERSEER_INSTANCE": ours})
    own.start()
    own.wait_joined()
    own.stop()
    fresh = store_make(engine, folder_make("safe-fresh"), "safe_fresh")  # a store that it makes itself is its own
    for _ in range(2):
        child = Daemon(world.folder, fresh.uri, "child", environment={"OVERSEER_INSTANCE": told["OVERSEER_INSTANCE"]})
        child.start()
        child.wait_joined()
        child.stop()
    insist(fresh.run(sql)[0][0].lower() == told["OVERSEER_INSTANCE"], "a new store did not take the name")


STORIES = {
    "sqlite": [(damaged_while_running, "STORE-09 STORE-10"), (odd_values, "STORE-09"), (newer, ""), (failed_migration, "STORE-05 TEST-01"),
               (unreadable, "STORE-05"), (accept_empty, "STORE-10"), (log_verified, ""), (instance, "STORE-21")],
    "postgres": [(damaged_rows, "STORE-10"), (class_xx, "STORE-10"), (newer, ""), (failed_migration, "STORE-05 TEST-01"), (log_verified, ""),
                 (instance, "STORE-21")],
}


def main():
    engine = sys.argv[1] if len(sys.argv) > 1 else "sqlite"
    only = sys.argv[2:]
    if engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    failed = 0
    for story, rows in STORIES[engine]:
        if only and story.__name__ not in only:
            continue
        since = time.monotonic()
        try:
            story(engine)
        except Broken as error:
            failed += 1
            print(f"BROKEN safe {engine} {story.__name__}: {error}", flush=True)
            continue
        print(f"ok safe {engine} {story.__name__}, {time.monotonic() - since:.1f} s", flush=True)
        passed("fault", f"safe {story.__name__} [{engine}]", rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
