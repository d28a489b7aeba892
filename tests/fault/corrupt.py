#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the daemon does with a damaged store: it never crashes, never dispatches from it, and recovers what can be read.

  corrupt.py [--stores N] [--seed S] [--only CLASS] [--rot] [--verbose]

A real daemon fills a store with open effects in every state and is killed. The test damages copies of it in one way each.
Every command appends a line to a file, so a dispatch is visible from outside. For each copy the daemon starts; either it finds the
damage and goes into safe mode, or everything in the store still means the same as before. Then the store is rebuilt.

--rot: the disk changes a store after a clean end, and nothing tells the start (inode, size and times are as they were noted). The
start then examines only what the daemon would act on, and the daemon finds the damage beside its work, within seconds. Meanwhile it
may dispatch only what was ready, once. OVERSEER_BUILD names the folder with the programs; OVERSEER_KEEP=1 leaves the stores in place.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from world import OVERSEERD, TOP, Broken, Client, Daemon, Unreachable, folder_make, goal_text, wait_until  # noqa: E402

RUNNING, READY, DOUBTFUL, ENDED, PLAIN = 64, 12, 3, 24, 24  # numbers of goals; 64 is the most that run at once
ACT = 'echo "$OVERSEER_EFFECT" >> "$ACTS"'
STAY = ACT + '; echo $$ >> "$PIDS"; exec sleep 600'
BESIDE = ("", "-wal", "-shm", ".lock")
PAGE = 4096

# The columns that carry a row's meaning: they decide, are shown, or are covered by a hash. The others only count or hold times.
MEANING = {
    "goal": "goal_id owner seq head open aside hot",
    "goal_view": "goal_id status face priority percent created_at title",
    "effect": "goal_id n run_host state kind body",
    "record": "goal_id seq at type core policy hash body_hash body",
    "text": "goal_id hash body",
    "node": "goal_id n name body",
    "seen": "goal_id source",
    "inbox": "source goal_id body",
}


def record_types():
    """The numbers of the record types by name, from the header itself."""
    text = (TOP / "src/model/record.h").read_text()
    names = re.search(r"enum record_type \{(.*?)\}", text, re.S).group(1)
    names = re.findall(r"RECORD_\w+", re.sub(r"/\*.*?\*/", "", names))
    return {name: number for number, name in enumerate(names)}


TYPES = record_types()


# ---- a healthy store ----

class Healthy:
    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "overseer.db"
        self.acts, self.pids = folder / "acts", folder / "pids"
        self.acts.touch()
        self.pids.touch()
        self.environment = {"ACTS": str(self.acts), "PIDS": str(self.pids)}
        self.daemon = Daemon(folder, f"sqlite:{self.path}", environment=self.environment)
        self.goals = {}
        try:
            self.fill()
        finally:
            self.end_sleepers()
        self.frozen = folder / "frozen"  # as the daemon left it; opening it would change it
        self.frozen.mkdir()
        for suffix in BESIDE:
            shutil.copy(f"{self.path}{suffix}", self.frozen)
        self.dump = dump(self.path, self.folder)
        self.lines = Counter(self.acts.read_text().split())
        self.ready = {effect_of(self.path, goal) for goal, kind in self.goals.items() if kind == "ready"}

    def create(self, client, kind, n, command=None):
        params = {"title": f"{kind} {n}", "key": f"{kind}-{n}", **({"command": command} if command else {})}
        status, result, error = client.call("goal.create", params)
        if error:
            raise Broken(f"goal.create: {status} {error}")
        self.goals[result["goalId"]] = kind
        return result["goalId"]

    def count(self, sql):
        connection = sqlite3.connect(self.path, timeout=10)
        try:
            return connection.execute(f"SELECT count(*) FROM {sql}").fetchone()[0]
        finally:
            connection.close()

    def fill(self):
        self.daemon.start()
        self.daemon.wait_joined()
        client = Client(self.daemon.socket)
        for n in range(ENDED):
            self.create(client, "ended", n, ACT)
        for n in range(PLAIN):
            goal = self.create(client, "plain", n)
            client.call("goal.report", {"goal": goal, "text": "half of it, " + "and more, " * 40, "key": f"r{n}"})
        for n in range(DOUBTFUL):
            self.create(client, "doubtful", n, STAY)
        wait_until("the commands run", lambda: self.count("effect WHERE state = 1") == DOUBTFUL
                   and len(self.pids.read_text().split()) == DOUBTFUL, 20)
        client.close()
        self.daemon.kill()
        self.daemon.start()
        self.daemon.wait_joined()
        wait_until("what was lost is in doubt", lambda: self.count("effect WHERE state = 2") == DOUBTFUL, 20)
        client = Client(self.daemon.socket)
        for n in range(RUNNING):
            self.create(client, "running", n, STAY)
        wait_until("all of them run", lambda: self.count("effect WHERE state = 1") == RUNNING
                   and len(self.pids.read_text().split()) == RUNNING + DOUBTFUL, 30)
        for n in range(READY):
            self.create(client, "ready", n, ACT)
        time.sleep(1.2)  # a checkpoint passes: part of the data is in the file
        for n in range(4):
            self.create(client, "plain", PLAIN + n)
        if self.count("effect WHERE state = 0") != READY:
            raise Broken("the ready effects did not stay ready")
        client.close()
        self.daemon.kill()

    def end_sleepers(self):
        for pid in self.pids.read_text().split():
            try:
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\x00600"):
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def build_left(self):
        """How this build signs a store at a clean end."""
        folder = self.folder / "clean"
        folder.mkdir()
        daemon = Daemon(folder, f"sqlite:{folder}/overseer.db")
        daemon.start()
        daemon.wait_joined()
        daemon.stop()
        return re.search(r'"left": "(\S+) ', (folder / "overseer.db.lock").read_text()).group(1)

    def copy_to(self, folder, whole):
        """Copies the store. whole: everything in the file, closed cleanly; else as the killed daemon left it."""
        for suffix in BESIDE:
            shutil.copy(f"{self.frozen / self.path.name}{suffix}", folder)
        shutil.copy(self.acts, folder / "acts")
        if whole:
            connection = sqlite3.connect(folder / "overseer.db")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            lock = folder / "overseer.db.lock"
            lock.write_text(lock.read_text().replace('"open": true', '"open": false'))


def effect_of(path, goal):
    sys.path.insert(0, str(TOP / "tests/e2e"))
    from verify import effect_id
    from world import id_text
    connection = sqlite3.connect(path)
    ids = [row[0] for row in connection.execute("SELECT goal_id FROM goal")]
    connection.close()
    return next(id_text(effect_id(raw, 0)) for raw in ids if goal_text(raw) == goal)


def dump(path, scratch):
    """table -> its rows, with the columns that carry meaning, read from a copy; None where it cannot be read."""
    look = scratch / "look"
    shutil.rmtree(look, ignore_errors=True)
    look.mkdir()
    for suffix in ("", "-wal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", look / f"db{suffix}")
    connection = sqlite3.connect(look / "db")
    try:
        return {table: sorted(map(repr, connection.execute(f"SELECT {', '.join(columns.split())} FROM {table}")))
                for table, columns in MEANING.items()}
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()


def rows_of(path, goal):
    """The rows that point look-ups find for one goal; None when any of them fails."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA writable_schema = ON")
        rows = {}
        for table in ("goal", "goal_view", "effect", "record"):
            rows[table] = sorted(map(repr, connection.execute(f"SELECT * FROM {table} WHERE goal_id = ?", (goal,))))
        return rows
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()


# ---- ways to damage a store ----

def patch(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def flip(path, at, rng, bit=None):
    data = Path(path).read_bytes()
    patch(path, at, bytes([data[at] ^ (1 << (rng.randrange(8) if bit is None else bit))]))
    return f"byte {at}"


def pages_of(path, names):
    """Offsets of the pages of these trees; `names` is an SQL list."""
    connection = sqlite3.connect(path)
    try:
        return [(row[0] - 1) * PAGE for row in connection.execute(f"SELECT pageno FROM dbstat WHERE name IN ({names})")]
    finally:
        connection.close()


def effect_cells(path):
    """(offset of the header, offset of the goal's id) of each row of the effect table: seven columns, the first an id."""
    data = Path(path).read_bytes()
    connection = sqlite3.connect(path)
    goals = [row[0] for row in connection.execute("SELECT goal_id FROM effect WHERE state = 1")]
    connection.close()
    cells = []
    for goal in goals:
        for match in re.finditer(re.escape(goal), data):
            for length in (8, 9):
                start = match.start() - length
                if data[start] == length and data[start + 1] == 44:
                    cells.append((start, match.start()))
    return cells


def damage_random(path, rng):
    return flip(path, rng.randrange(path.stat().st_size), rng)


def damage_state(path, rng):
    """A running effect becomes ready: the byte 9 stands for the number 1, 8 for 0."""
    start, _ = rng.choice(effect_cells(path))
    data = path.read_bytes()
    if data[start + 4] != 9:
        raise Broken(f"the state of an effect is not where it was: {data[start:start + 9]}")
    patch(path, start + 4, b"\x08")
    if data[start + 3] == 9 and rng.random() < 0.5:
        patch(path, start + 3, b"\x08")  # and no host has claimed it
    return "running becomes ready"


def damage_bytes_of(column, table):
    def damage(path, rng):
        connection = sqlite3.connect(path)
        values = [row[0] for row in connection.execute(f"SELECT {column} FROM {table}")]
        connection.close()
        data = path.read_bytes()
        places = [at for at in (data.find(value[:1200]) for value in values if len(value) > 12) if at >= 0]
        place = rng.choice(places)
        return flip(path, place + rng.randrange(12), rng)
    return damage


def damage_index(path, rng):
    pages = pages_of(path, "SELECT name FROM sqlite_schema WHERE type = 'index'")
    return flip(path, rng.choice(pages) + rng.randrange(PAGE), rng)


def damage_header(path, rng):
    return flip(path, rng.randrange(100), rng)


def damage_schema(path, rng):
    return flip(path, rng.choice(pages_of(path, "'sqlite_schema'")) + 100 + rng.randrange(PAGE - 100), rng)


def damage_truncate(path, rng):
    length = rng.randrange(path.stat().st_size)
    os.truncate(path, length)
    return f"to {length} bytes"


def damage_zero(path, rng):
    page = rng.randrange(path.stat().st_size // PAGE)
    patch(path, page * PAGE, bytes(PAGE))
    return f"page {page + 1}"


def damage_free(path, rng):
    """The free list begins elsewhere, or is longer."""
    patch(path, rng.choice((32, 36)), rng.randrange(1, 1 << 16).to_bytes(4, "big"))
    return "the free list"


def damage_wal_missing(path, rng):
    Path(f"{path}-wal").unlink()
    if rng.random() < 0.5:
        Path(f"{path}-shm").unlink()
    return "the log is gone"


def live_bytes(path):
    """The bytes of the log that were committed since its last restart. The rest of the file is old."""
    frames = int.from_bytes(Path(f"{path}-shm").read_bytes()[16:20], sys.byteorder)
    return 32 + frames * (PAGE + 24)


def damage_wal_truncated(path, rng):
    length = rng.randrange(live_bytes(path))
    os.truncate(f"{path}-wal", length)
    return f"the log ends at {length}"


def damage_wal_flip(path, rng):
    return flip(Path(f"{path}-wal"), rng.randrange(live_bytes(path)), rng) + " of the log"


def damage_wal_foreign(path, rng):
    other = path.with_name("other.db")
    connection = sqlite3.connect(other)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.executemany("INSERT INTO t VALUES (?)", [(os.urandom(900),) for _ in range(200)])
    connection.commit()
    shutil.copy(f"{other}-wal", f"{path}-wal")
    connection.close()
    other.unlink()
    return "the log of another database"


def damage_foreign(path, rng):
    kind = rng.choice(("jpeg", "empty", "sqlite", "folder", "text"))
    path.unlink()
    Path(f"{path}-wal").unlink(missing_ok=True)
    Path(f"{path}-shm").unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
        (path / "something").write_text("in it")
    elif kind == "sqlite":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE goal (something TEXT)")
        connection.execute("INSERT INTO goal VALUES ('else')")
        connection.commit()
        connection.close()
    else:
        path.write_bytes({"jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + os.urandom(20000), "empty": b"",
                          "text": b"# notes\n" * 500}[kind])
    return kind


def damage_gone(path, rng):
    path.unlink()
    return "the database is gone, its log is there"


# name -> (share of all stores, whether everything is in the file at first, the function that does the damage)
CLASSES = {
    "flip": (22, True, damage_random),
    "flip beside a log": (8, False, damage_random),
    "state": (6, True, damage_state),
    "hot": (5, True, damage_bytes_of("hot", "goal")),
    "body": (5, True, damage_bytes_of("body", "effect")),
    "record": (5, True, damage_bytes_of("body", "record")),
    "index": (8, True, damage_index),
    "header": (6, True, damage_header),
    "schema": (4, True, damage_schema),
    "free list": (2, True, damage_free),
    "truncated": (8, True, damage_truncate),
    "zeroed page": (7, True, damage_zero),
    "log missing": (3, False, damage_wal_missing),
    "log truncated": (4, False, damage_wal_truncated),
    "log flipped": (4, False, damage_wal_flip),
    "log foreign": (2, False, damage_wal_foreign),
    "another file": (5, True, damage_foreign),
    "file gone": (1, False, damage_gone),
}


# ---- one damaged store ----

class Violation(Exception):
    pass


class Case:
    def __init__(self, healthy, folder, name, number, options):
        self.healthy, self.folder, self.name, self.number = healthy, folder, name, number
        self.rng = random.Random(f"{options.seed} {name} {number}")
        self.path = folder / "overseer.db"
        _, whole, damage = CLASSES[name]
        healthy.copy_to(folder, whole)
        self.what = damage(self.path, self.rng)
        self.rot = options.rot and whole
        if self.rot:
            self.sign()
        self.lines_before = healthy.lines
        self.environment = {"ACTS": str(folder / "acts"), "PIDS": str(folder / "pids")}
        self.daemon = Daemon(folder, f"sqlite:{self.path}", environment=self.environment)

    def sign(self):
        """Signs the damaged file as if a clean end had left it."""
        it, lock = self.path.stat(), self.folder / "overseer.db.lock"
        times = " ".join(f"{ns // 10**9}.{ns % 10**9:09d}" for ns in (it.st_mtime_ns, it.st_ctime_ns))
        left = f'"left": "{self.healthy.left} {it.st_ino} {it.st_size} {times}"'
        lock.write_text(lock.read_text().replace("}", f", {left}}}"))

    def insist(self, holds, what):
        if not holds:
            raise Violation(what)

    def lines(self):
        return Counter((self.folder / "acts").read_text().split())

    def start(self):
        self.daemon.start()

        def settled():
            self.daemon.alive()
            health = self.daemon.health()
            return health if health and (health["safeMode"] or health["joined"]) else None
        return wait_until("the daemon says how it is", settled, 30)

    def stop(self):
        self.daemon.stop()
        self.insist(not self.daemon.promises_broken(), f"in the log: {self.daemon.promises_broken()[:1]}")

    def maintain(self, *words):
        return subprocess.run([str(OVERSEERD), "--maintain", *words, "--store", f"sqlite:{self.path}"],
                              capture_output=True, text=True, timeout=120, check=False)

    def run(self):
        """Returns "harmless", "repaired" or "empty"; raises Violation."""
        self.before = dump(self.path, self.folder) if self.path.is_file() else None
        health = self.start()
        if self.rot and not health["safeMode"]:
            health = self.examined()
        if self.rot and health["safeMode"] and not self.aside():
            self.set_aside_next()
        if not health["safeMode"]:
            self.harmless()
            return "harmless"
        self.safe_mode()
        self.stop()
        if self.number % 3 == 0:  # safe mode outlives the daemon
            self.insist(self.start()["safeMode"], "a second start left safe mode by itself")
            self.stop()
        self.insist(self.lines() == self.lines_before, "something was dispatched from a damaged store")
        return self.rebuild()

    # damage that the daemon finds beside its work

    def examined(self):
        def over():
            self.daemon.alive()
            health = self.daemon.health()
            sound = "was examined, no damage found" in self.daemon.log.read_text(errors="replace")
            return health if health and (health["safeMode"] or sound) else None
        return wait_until("the store is examined", over, 30)

    def set_aside_next(self):
        """The damage was found while the daemon ran: ready effects may have been dispatched, once; the next start sets the store aside."""
        self.late = True
        time.sleep(0.2)  # time for the last dispatches to show
        self.stop()
        self.lines_before = self.lines()
        added = self.lines_before - self.healthy.lines
        self.insist(set(added) <= self.healthy.ready and max(self.lines_before.values()) == 1, f"dispatched: {added}")
        self.insist(self.start()["safeMode"], "the next start left safe mode by itself")

    # damage that the daemon does not find: the store must work as if nothing had happened

    def harmless(self):
        def quiet():
            connection = sqlite3.connect(self.path, timeout=10)
            left = connection.execute("SELECT count(*) FROM effect WHERE state < 2").fetchone()[0]
            connection.close()
            return left == 0
        wait_until("every effect has ended or is unconfirmed", quiet, 30, 0.05)
        self.stop()
        if self.before != self.healthy.dump:
            tables = [t for t in MEANING if self.before is None or self.before[t] != self.healthy.dump[t]]
            first = tables[0]
            odd = [] if self.before is None else sorted(set(self.before[first]) ^ set(self.healthy.dump[first]))[:2]
            raise Violation(f"not found, though the store means something else now: {tables} {odd}")
        added = self.lines() - self.healthy.lines
        self.insist(not self.healthy.lines - self.lines(), "lines of earlier acts are gone")
        self.insist(added == Counter(self.healthy.ready), f"dispatched: {len(added)} effects, {len(self.healthy.ready)} were ready")
        examined = self.maintain("examine")
        self.insist(examined.returncode == 0, f"afterwards not sound: {examined.stdout}")

    # damage that the daemon finds: it changes nothing and reports the damage

    def call(self, method, **params):
        client = Client(self.daemon.socket, 10)
        try:
            return client.call(method, params)
        except Unreachable as error:
            raise Violation(f"{method} is not answered in safe mode: {error}") from error
        finally:
            client.close()

    def safe_mode(self):
        time.sleep(0.2)
        health = self.daemon.health()
        self.insist(not health["ok"] and "safe mode" in health["trouble"], f"health: {health}")
        goal = self.rng.choice(list(self.healthy.goals))
        for method, params in (("goal.create", {"title": "x", "command": ACT}), ("goal.report", {"goal": goal, "text": "x"}),
                               ("goal.pause", {"goal": goal})):
            status, _, error = self.call(method, **params)
            self.insist(error and error["data"]["code"] == "E_SAFE_MODE" and status == 503, f"{method}: {status} {error}")
            self.insist("--maintain rebuild" in error["message"] and "accept-empty" in error["message"], error["message"])
        for goal in self.rng.sample(list(self.healthy.goals), 5):
            status, result, error = self.call("goal.show", goal=goal)
            self.insist(result or error["data"]["code"] in ("E_NOT_FOUND", "E_STORE_AWAY"), f"goal.show: {status} {error}")
        self.call("goal.list")
        self.check_aside()

    def aside(self):
        found = sorted(p for p in self.folder.glob("overseer.db.corrupt-*") if not p.name.endswith(("-wal", "-shm")))
        return found[-1] if found else None

    def check_aside(self):
        aside = self.aside()
        self.insist(aside or self.name == "file gone", "nothing was set aside")
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        events = connection.execute("SELECT body FROM record WHERE type = ? AND goal_id = ?",
                                    (TYPES["RECORD_STORE_CORRUPT"], bytes(15) + b"\x01")).fetchall()
        mark = connection.execute("SELECT safe FROM store").fetchone()[0]
        connection.close()
        self.insist(len(events) == 1, f"{len(events)} events overseer.store.corrupt")
        self.insist(aside is None or str(aside).encode() in events[0][0], "the event does not say where the store is")
        self.insist(mark is not None, "the store is not marked")

    # the rebuild

    def rebuild(self):
        done = self.maintain("rebuild")
        if done.returncode == 1 and "No row of it can be read" in done.stdout:
            return self.accept_empty()
        self.insist(done.returncode in (0, 3), f"rebuild: {done.returncode} {done.stdout} {done.stderr}")
        lines = [json.loads(line) for path in self.folder.glob("overseer.db.lost-*.jsonl")
                 for line in path.read_text().splitlines()]
        lost = {line["goalId"]: line["lost"] for line in lines}
        examined = self.maintain("examine")
        self.insist(examined.returncode == 0, f"the rebuilt store is not sound: {examined.stdout}")
        verified = self.maintain("verify-log")
        self.insist(verified.returncode == 0 and "all chains intact" in verified.stdout, verified.stdout)
        kept = self.check_kept(lost)
        self.check_working(kept)
        return "repaired"

    def check_kept(self, lost):
        connection = sqlite3.connect(self.path)
        kept = {row[0] for row in connection.execute("SELECT goal_id FROM goal")}
        open_states = {row[0] for row in connection.execute("SELECT DISTINCT state FROM effect")}
        rebuilt = connection.execute("SELECT count(*) FROM record WHERE type = ?", (TYPES["RECORD_STORE_REBUILT"],)).fetchone()[0]
        connection.close()
        self.insist(open_states <= {2}, f"effects in state {open_states} after a rebuild")
        self.insist(rebuilt == 1, f"{rebuilt} events about the rebuild")
        aside = self.aside()
        healthy = {raw: rows_of(self.healthy.path, raw) for raw in
                   (row[0] for row in sqlite3.connect(self.healthy.path).execute("SELECT goal_id FROM goal"))}
        self.insist(not {goal_text(raw) for raw in kept} & set(lost), "a goal is kept and lost")
        for raw, rows in healthy.items():
            if raw in kept:
                continue
            found = rows_of(aside, raw) if aside and aside.is_file() else None
            self.insist(found != rows, f"{goal_text(raw)} could be read whole, and is not there any more: {lost.get(goal_text(raw))}")
            traces = found and any(found.values())
            self.insist(goal_text(raw) in lost or not traces, f"{goal_text(raw)} is gone and not listed")
        self.lost = len(healthy) - len(kept & set(healthy))
        return kept

    def check_working(self, kept):
        """The daemon is out of safe mode, has done nothing twice, and does new work."""
        health = self.start()
        self.insist(not health["safeMode"], f"still in safe mode after the rebuild: {health}")
        status, result, error = self.call("goal.create", title="afterwards", command=ACT)
        self.insist(result, f"goal.create after the rebuild: {status} {error}")
        for raw in self.rng.sample(sorted(kept), min(3, len(kept))):
            status, result, error = self.call("goal.show", goal=goal_text(raw))
            self.insist(result, f"goal.show after the rebuild: {status} {error}")
        wait_until("the new command is run", lambda: sum(self.lines().values()) > sum(self.lines_before.values()), 15)
        time.sleep(0.2)
        self.stop()
        added = self.lines() - self.lines_before
        self.insist(sum(added.values()) == 1 and max(self.lines().values()) == 1, f"dispatched after the rebuild: {added}")

    def accept_empty(self):
        done = self.maintain("accept-empty")
        self.insist(done.returncode == 0, f"accept-empty: {done.returncode} {done.stdout} {done.stderr}")
        self.lost = len(self.healthy.goals)
        self.check_working(set())
        return "empty"


# ---- all stores ----

def plan(options):
    """(class, number) of each store: every class by its share, and at least once when there are enough stores."""
    stores = options.stores
    names = [options.only] if options.only else [name for name in CLASSES if CLASSES[name][1] or not options.rot]
    shares = sum(CLASSES[name][0] for name in names)
    counts = {name: CLASSES[name][0] * stores // shares for name in names}
    for name in sorted(names, key=lambda n: (counts[n], -CLASSES[n][0])):
        if sum(counts.values()) >= stores:
            break
        counts[name] += 1
    while sum(counts.values()) < stores:
        counts[max(names, key=lambda n: CLASSES[n][0] / (counts[n] + 1))] += 1
    return [(name, number) for name in names for number in range(counts[name])]


def proven(rows, name):
    path = os.environ.get("OVERSEER_PROOFS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{row}\tfault\t{name}\n" for row in rows)


def case_run(healthy, top, name, number, options):
    folder = top / f"{name.replace(' ', '-')}-{number}"
    folder.mkdir()
    case = Case(healthy, folder, name, number, options)
    try:
        result, why = case.run(), ""
    except (Violation, Broken) as error:
        result, why = "violation", str(error)
        if case.daemon.process and case.daemon.process.poll() is None:
            case.daemon.kill()
    lost = getattr(case, "lost", 0)
    if why or options.verbose:
        print(f"    {name} {number} ({case.what}): {result}{f', {lost} lost' if lost else ''} {why}", flush=True)
    if not why and not os.environ.get("OVERSEER_KEEP"):
        shutil.rmtree(folder)
    return result, lost, getattr(case, "late", False)


def main():
    parser = argparse.ArgumentParser(prog="corrupt.py")
    parser.add_argument("--stores", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(CLASSES))
    parser.add_argument("--rot", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    top = folder_make("corrupt")
    (top / "healthy").mkdir()
    healthy = Healthy(top / "healthy")
    healthy.left = healthy.build_left()
    total, by_class, lost_by_class, late = Counter(), {}, Counter(), 0
    for name, number in plan(options):
        result, lost, was_late = case_run(healthy, top, name, number, options)
        total[result] += 1
        late += was_late
        by_class.setdefault(name, Counter())[result] += 1
        lost_by_class[name] += lost
    for name, results in by_class.items():
        said = ", ".join(f"{count} {result}" for result, count in sorted(results.items()))
        print(f"{'BROKEN' if results['violation'] else 'ok'} corrupt {name}: {sum(results.values())} stores, {said};"
              f" {lost_by_class[name]} of {sum(results.values()) * len(healthy.goals)} goals lost", flush=True)
    repaired = total["repaired"] + total["empty"]
    print(f"corrupt: {sum(total.values())} stores, {repaired} safe mode, {total['repaired']} repaired,"
          f" {total['harmless']} harmless, {total['violation']} violations{f', {late} found beside the work' if options.rot else ''}")
    if options.rot and not options.only and options.stores >= 12 and late == 0:
        print("corrupt: no damage was found beside the work: these stores show nothing")
        return 1
    if total["violation"] == 0 and not options.only and repaired > 0:
        proven(("STORE-05", "STORE-09", "STORE-10", "STORE-11", "FAIL-21"), "corrupt")
    return 1 if total["violation"] else 0


if __name__ == "__main__":
    sys.exit(main())
