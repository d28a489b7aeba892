#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a backup one moment of the store, and does a restore bring back that moment?

  backup.py drill --engine sqlite|postgres --times N   a backup at a random moment under full load, put back, compared
  backup.py planted --engine sqlite|postgres           a copy without a snapshot: the comparison must find it
  backup.py effects --engine sqlite|postgres           what was carried out after the backup is not carried out again
  backup.py damage                                     a backup that is not what was written is not put back

To know the state of the store at that moment, triggers of the test log every change of every row, in order. The host row in the
backup (epoch, beat, batch) says how far the test has to follow that log. Then the test compares row by row.
"""
import argparse
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from killer import quiet
from load import Load
from verify import Findings
from world import (OVERSEERD, Broken, Client, Daemon, Postgres, Sqlite, Unreachable, folder_make, goal_text, id_text,
                   under_postgres, wait_until)

TABLES = ["store", "host", "goal", "goal_view", "goal_tag", "text", "effect", "inbox", "record", "milestone", "seen", "aside",
          "tally", "node", "assignment", "dispatch", "crystallization", "run"]
OWN = {("goal_view", "row"), ("store", "retaining"), ("store", "tx")}  # columns that only one engine has
SYSTEM = "X'" + "00" * 15 + "01'"


# ---- rows, in the same text form for both engines ----

class Shape:
    """The columns and the key of each table, read from a SQLite file of Overseer."""

    def __init__(self, path):
        db = sqlite3.connect(path)
        self.columns, self.keys = {}, {}
        for table in TABLES:
            info = db.execute(f"PRAGMA table_info({table})").fetchall()
            self.columns[table] = [row[1] for row in info if (table, row[1]) not in OWN]
            self.keys[table] = [row[1] for row in sorted(info, key=lambda r: r[5]) if row[5]]
        self.keys["goal_view"] = ["goal_id"]
        self.keys["record"] = ["goal_id", "seq"]
        self.keys["goal_tag"] = ["goal_id", "tag"]
        db.close()


def lite(columns, prefix=""):
    return " || '|' || ".join(f"quote({prefix}{column})" for column in columns)


class LiteRows:
    def __init__(self, shape, path):
        self.shape, self.path = shape, path

    def read(self, db, table):
        sql = f"SELECT {lite(self.shape.keys[table])}, {lite(self.shape.columns[table])} FROM {table}"
        return dict(db.execute(sql).fetchall())

    def all(self):
        db = sqlite3.connect(self.path)
        state = {table: self.read(db, table) for table in TABLES}
        db.close()
        return state

    def torn(self):
        """Reads each table in a transaction of its own, which no backup may do."""
        db = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        state = {}
        for table in TABLES:
            state[table] = self.read(db, table)
            time.sleep(0.01)
        db.close()
        return state

    def watch(self):
        db = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        db.execute("CREATE TABLE watched (id INTEGER PRIMARY KEY, t TEXT, gone INTEGER, k TEXT, v TEXT)")
        for table in TABLES:
            key, row = self.shape.keys[table], self.shape.columns[table]
            gone = f"INSERT INTO watched (t, gone, k, v) VALUES ('{table}', 1, {lite(key, 'old.')}, '');"
            put = f"INSERT INTO watched (t, gone, k, v) VALUES ('{table}', 0, {lite(key, 'new.')}, {lite(row, 'new.')});"
            for what, does in (("INSERT", put), ("UPDATE", gone + put), ("DELETE", gone)):
                db.execute(f"CREATE TRIGGER watch_{table}_{what} AFTER {what} ON {table} BEGIN {does} END")
        db.close()

    def unwatch(self):
        db = sqlite3.connect(self.path, isolation_level=None)
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'watch_%'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("DROP TABLE IF EXISTS watched")
        db.close()

    def changes(self):
        db = sqlite3.connect(self.path)
        rows = db.execute("SELECT t, gone, k, v FROM watched ORDER BY id").fetchall()
        db.close()
        return rows


class PgRows:
    def __init__(self, shape, store):
        self.shape, self.store = shape, store
        rows = store.run("SELECT table_name, column_name, data_type FROM information_schema.columns"
                         " WHERE table_schema = current_schema()")
        self.types = {(table, column): kind for table, column, kind in rows}

    def quote(self, table, columns, prefix=""):
        def one(column):
            name, kind = f"{prefix}{column}", self.types[(table, column)]
            if kind == "boolean":
                text = f"{name}::int::text"
            elif kind == "bytea":
                text = f"'X''' || upper(encode({name}, 'hex')) || ''''"
            elif kind == "uuid":
                text = f"'X''' || upper(encode(uuid_send({name}), 'hex')) || ''''"
            elif kind == "text":
                text = f"'''' || replace({name}, '''', '''''') || ''''"
            else:
                text = f"{name}::text"
            return f"coalesce({text}, 'NULL')"
        return " || '|' || ".join(one(column) for column in columns)

    def select(self, table):
        return f"SELECT {self.quote(table, self.shape.keys[table])}, {self.quote(table, self.shape.columns[table])} FROM {table}"

    def all(self):
        return {table: dict(self.store.run(self.select(table))) for table in TABLES}

    def torn(self):
        state = {}
        for table in TABLES:
            state[table] = dict(self.store.run(self.select(table)))
        return state

    def watch(self):
        sql = ["CREATE SCHEMA watch; CREATE TABLE watch.watched (id bigserial PRIMARY KEY, t text, gone int, k text, v text);"]
        for table in TABLES:
            key, row = self.shape.keys[table], self.shape.columns[table]
            put = (f"INSERT INTO watch.watched (t, gone, k, v) VALUES ('{table}', 0, {self.quote(table, key, 'NEW.')},"
                   f" {self.quote(table, row, 'NEW.')});")
            gone = f"INSERT INTO watch.watched (t, gone, k, v) VALUES ('{table}', 1, {self.quote(table, key, 'OLD.')}, '');"
            sql.append(f"CREATE FUNCTION watch.{table}() RETURNS trigger LANGUAGE plpgsql AS $w$ BEGIN"
                       f" IF TG_OP <> 'INSERT' THEN {gone} END IF; IF TG_OP <> 'DELETE' THEN {put} END IF;"
                       f" RETURN NULL; END $w$;"
                       f"CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW"
                       f" EXECUTE FUNCTION watch.{table}();")
        self.store.run("SET client_min_messages = warning;" + "".join(sql))

    def unwatch(self):
        pass  # the restored store is another database

    def changes(self):
        return [(t, int(gone), k, v) for t, gone, k, v in
                self.store.run("SELECT t, gone, k, v FROM watch.watched ORDER BY id")]


# ---- the comparison ----

def state_at(begin, changes, hosts):
    """The state when the host rows were equal to `hosts`: after the transaction that wrote them and before the next one. None: there was no such
    state."""
    state = {table: dict(rows) for table, rows in begin.items()}
    met = state["host"] == hosts
    for table, gone, key, row in changes:
        if table == "host" and met:
            return state
        if gone:
            state[table].pop(key, None)
        else:
            state[table][key] = row
        met = met or state["host"] == hosts
    return state if met else None


def difference(findings, kind, here, there, tables=TABLES, but=()):
    count = 0
    for table in tables:
        left, right = here[table], there[table]
        for key in left.keys() | right.keys():
            if left.get(key) != right.get(key) and (table, key) not in but:
                count += 1
                findings.add(kind, f"{table} {key}: {str(left.get(key))[:200]} / {str(right.get(key))[:200]}")
    return count


def without(shape, state, table, columns):
    """The rows of a table without some columns; works only for columns whose values contain no bar."""
    places = [shape.columns[table].index(column) for column in columns]
    return {key: "|".join(cell for i, cell in enumerate(row.split("|")) if i not in places)
            for key, row in state[table].items()}


# ---- writers ----

class TimedLoad(Load):
    def __init__(self, *words, **names):
        super().__init__(*words, **names)
        self.acks = []

    def settle(self, way, op, chance):
        super().settle(way, op, chance)
        self.acks.append(time.monotonic())

    def longest(self, begin, end):
        """The longest time without an acknowledged write."""
        times = [begin] + sorted(at for at in self.acks if begin < at < end) + [end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))


class Planner(threading.Thread):
    """Sends plans, moves and other changes, legal or not; a refused request must change nothing."""

    def __init__(self, socket, load, seed):
        super().__init__(daemon=True)
        self.client, self.load, self.chance = Client(socket, 30), load, random.Random(seed)
        self.ending, self.done, self.refused, self.problem = threading.Event(), Counter(), Counter(), None

    def node(self, name, parent, tier, after=None):
        words = {"id": name, "tier": tier, "name": f"do {name}", "acceptanceCriteria": [f"{name} is ‘done’ | seen"]}
        return {**words, **({"parentId": parent} if parent else {}), **({"dependsOn": [after]} if after else {})}

    def plan(self):
        nodes = []
        for p in range(1, 1 + self.chance.randint(1, 2)):
            nodes.append(self.node(f"P{p}", None, "phase"))
            for t in range(1, 1 + self.chance.randint(1, 3)):
                nodes.append(self.node(f"T{p}.{t}", f"P{p}", "task", f"T{p}.{t - 1}" if t > 1 else None))
        return nodes

    def ask(self):
        goal = goal_text(self.chance.choice(self.load.goals[-40:]))
        node = f"T{self.chance.randint(1, 2)}.{self.chance.randint(1, 3)}"
        return self.chance.choice([
            ("plan.apply", {"goal": goal, "nodes": self.plan()}), ("plan.apply", {"goal": goal, "nodes": self.plan()}),
            ("work.start", {"goal": goal, "node": node}), ("work.start", {"goal": goal, "node": node}),
            ("work.done", {"goal": goal, "node": node, "reason": "seen it"}),
            ("work.block", {"goal": goal, "node": node, "reason": "waits for a key", "by": "credential"}),
            ("goal.update", {"goal": goal, "title": f"a new name for {node}", "tags": [node, "x|y"], "priority": "high"}),
            ("goal.pause", {"goal": goal}), ("goal.resume", {"goal": goal}),
            ("goal.complete", {"goal": goal, "reason": "by my word"}), ("goal.archive", {"goal": goal})])

    def run(self):
        try:
            while not self.ending.is_set():
                if not self.load.goals:
                    time.sleep(0.02)
                    continue
                method, params = self.ask()
                _, result, error = self.client.call(method, params)
                (self.done if result else self.refused)[method if result else f"{method} {error['data']['code']}"] += 1
        except Unreachable as error:
            self.problem = str(error)

    def end(self):
        self.ending.set()
        self.join(30)
        if self.problem or not self.done["plan.apply"]:
            raise Broken(f"the planner: {self.problem}, {self.done}, {self.refused}")


# ---- one round ----

def maintain(*words, expect=0):
    done = subprocess.run([str(OVERSEERD), "--maintain", *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != expect:
        raise Broken(f"--maintain {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout


class Round:
    def __init__(self, engine, seed, name):
        self.engine, self.seed, self.chance, self.findings = engine, seed, random.Random(seed), Findings()
        self.folder = folder_make("backup")
        self.name = f"{name}_{os.getpid()}_{seed}"
        self.store = self.store_make("live")
        self.acts = self.folder / "acts"
        self.daemon = Daemon(self.folder, self.store.uri)
        self.daemon.start()
        self.daemon.wait_joined()
        self.daemon.stop()
        self.shape = self.shape_make()
        self.rows = self.rows_of(self.store)

    def shape_make(self):
        path = self.store.path if self.engine == "sqlite" else self.folder / "shape.db"
        if self.engine != "sqlite":
            maintain("backup", path, "--store", self.store.uri)
        return Shape(path)

    def store_make(self, name):
        if self.engine == "postgres":
            return Postgres(f"{self.name}_{name}")
        (self.folder / name).mkdir()
        return Sqlite(self.folder / name)

    def rows_of(self, store):
        return LiteRows(self.shape, store.path) if self.engine == "sqlite" else PgRows(self.shape, store)

    def work_begin(self):
        self.rows.watch()
        self.begin = self.rows.all()
        self.daemon.start()
        self.daemon.wait_joined()
        self.load = TimedLoad([self.daemon.socket], self.acts, self.seed, writers=12, rest=0.0005)
        self.planners = [Planner(self.daemon.socket, self.load, self.seed * 10 + i) for i in range(2)]
        self.load.start()
        for planner in self.planners:
            planner.start()

    def work_end(self):
        self.load.end()
        for planner in self.planners:
            planner.end()
        client = Client(self.daemon.socket)  # an effect of a paused goal does not end by itself
        for row in self.store.read("effect", "state < 2"):
            client.call("goal.resume", {"goal": goal_text(row["goal_id"])})
        client.close()
        quiet(self.daemon, self.store)
        self.daemon.stop()

    def compare(self, found, what):
        """Compares the copy with the state at the moment that its host rows name."""
        expected = state_at(self.begin, self.rows.changes(), found["host"])
        if expected is None:
            self.findings.add(what, "its host rows never stood in the store")
            return 1
        return difference(self.findings, what, found, expected)

    # ---- the drill ----

    def backup(self):
        self.file = self.folder / "backup.db"
        since = time.monotonic()
        time.sleep(0.5 + 2 * self.chance.random())
        before = [(op.goal, op.seq, op.key) for op in self.load.ops if op.acked and op.seq]
        begun = time.monotonic()
        maintain("backup", self.file, "--store", self.store.uri)
        ended = time.monotonic()
        sent = len(self.load.ops)
        time.sleep(0.3 + 0.7 * self.chance.random())
        self.work_end()
        later = [op.key for op in self.load.ops[sent:]]
        self.took, self.pause = ended - begun, self.load.longest(begun, ended)
        self.usual = self.load.longest(since, begun)
        return before, later

    def acknowledged(self, before, later):
        """Everything that was acknowledged before the backup is in it, and nothing that was sent after the backup is in it."""
        db = sqlite3.connect(self.file)
        seqs = dict(db.execute("SELECT goal_id, seq FROM goal").fetchall())
        for goal, seq, key in before:
            if seqs.get(goal, 0) < seq:
                self.findings.add("missing", f"{key} was acknowledged at {seq}, the backup has {seqs.get(goal)}")
        words = b"\0".join(row[0] or b"" for row in db.execute("SELECT body FROM record"))
        for key in later:
            if f"{key} says".encode() in words or f"a goal of {key} ".encode() in words:
                self.findings.add("too new", f"{key} was sent after the backup had ended")
        db.close()
        return len(before), len(later)

    def restore(self, found):
        fresh = self.store_make("fresh")
        maintain("restore", self.file, "--store", fresh.uri)
        rows = self.rows_of(fresh)
        state = rows.all()
        new = {key for key in state["record"] if key.startswith(f"{SYSTEM}|")} - set(found["record"])
        but = {("record", key) for key in new}
        difference(self.findings, "not as in the backup", state, found,
                   [table for table in TABLES if table not in ("store", "host", "record")], but)
        if len(new) != 1:
            self.findings.add("not as in the backup", "nothing says that it was put back")
        for table, columns in (("record", ["tx"]), ("store", ["era"]), ("host", ["epoch"])):
            left, right = without(self.shape, state, table, columns), without(self.shape, found, table, columns)
            difference(self.findings, "not as in the backup", {table: left}, {table: right}, [table], but)
        return fresh, rows

    def run_again(self, fresh, rows, found):
        """A daemon works on the restored store and carries out nothing a second time."""
        rows.unwatch()
        opened = {key for key, row in found["effect"].items()}
        daemon = Daemon(self.folder, fresh.uri, "again")
        daemon.start()
        daemon.wait_joined()
        quiet(daemon, fresh)
        client = Client(daemon.socket)
        _, result, error = client.call("goal.create", {"title": "after the restore"})
        client.close()
        if error:
            self.findings.add("does not go on", str(error))
        daemon.stop()
        self.acts_check()
        for row in fresh.read("effect"):
            if row["state"] != 2 and row["n"] < 1 << 16:  # new-era effects were decided since: the daemon reports a lost host to people
                self.findings.add("not unconfirmed", f"{goal_text(row['goal_id'])} {row['n']} is {row['state']}")
        for line in daemon.promises_broken():
            self.findings.add("broken promise", line)
        text = maintain("verify-log", "--store", fresh.uri)
        if "all chains intact" not in text:
            self.findings.add("broken chain", text)
        return len(opened)

    def acts_check(self):
        lines = Counter(line.split()[0] for line in self.acts.read_text().splitlines()) if self.acts.exists() else {}
        for effect, times in lines.items():
            if times > 1:
                self.findings.add("acted twice", f"{effect}: {times} times")

    def drill(self):
        self.work_begin()
        before, later = self.backup()
        maintain("backup", "--verify", self.file)
        found = LiteRows(self.shape, self.file).all()
        self.differences = self.compare(found, "differs")
        self.acknowledged(before, later)
        fresh, rows = self.restore(found)
        opened = self.run_again(fresh, rows, found)
        goals, records = len(found["goal"]), len(found["record"])
        print(f"    {self.engine} {self.seed}: {goals} goals, {records} records, {opened} open effects;"
              f" backup {self.took * 1000:.0f} ms, longest pause {self.pause * 1000:.1f} ms (before it {self.usual * 1000:.1f});"
              f" {len(before)} acknowledged before, {len(later)} sent after; {sum(self.findings.kinds.values())} differences", flush=True)
        return self


def drill(options):
    since, pauses, usual = time.monotonic(), [], []
    ok = True
    for i in range(options.times):
        it = Round(options.engine, options.seed + i, "drill").drill()
        pauses.append(it.pause)
        usual.append(it.usual)
        ok = ok and not it.findings
        for line in it.findings.lines:
            print("       ", line)
    print(f"{'ok' if ok else 'BROKEN'} backup drill {options.engine}: {options.times} backups under load put back, longest pause"
          f" {max(pauses) * 1000:.1f} ms of the ledger during a backup ({max(usual) * 1000:.1f} ms without one),"
          f" {time.monotonic() - since:.0f} s", flush=True)
    return ok


def planted(options):
    """Checks that the comparison can find a difference."""
    it = Round(options.engine, options.seed, "planted")
    it.work_begin()
    time.sleep(1.5)
    copies = [it.rows.torn() for _ in range(5)]
    it.work_end()
    changes = it.rows.changes()
    counts = []
    for copy in copies:
        expected = state_at(it.begin, changes, copy["host"])
        counts.append(difference(Findings(), "", copy, expected) if expected else 1)
    whole = difference(it.findings, "differs", it.rows.all(), state_at(it.begin, changes, it.rows.all()["host"]))
    ok = all(counts) and whole == 0
    print(f"{'ok' if ok else 'BROKEN'} backup planted {options.engine}: copies without a snapshot differ in {counts} rows;"
          f" the store itself in {whole}")
    return ok


# ---- effects that were carried out stay carried out ----

def effects(options):
    it = Round(options.engine, options.seed, "effects")
    it.daemon.start()
    it.daemon.wait_joined()
    client, goals, go = Client(it.daemon.socket), 240, it.folder / "go"
    for i in range(goals):  # the first of them run, the others are ready, until the backup is made
        command = f"until [ -e {go} ]; do sleep 0.1; done; printf '%s %s %s\\n' \"$OVERSEER_EFFECT\" x {i} >> {it.acts}"
        client.call("goal.create", {"title": f"act {i}", "command": command})
    file = it.folder / "backup.db"
    maintain("backup", file, "--store", it.store.uri)
    db = sqlite3.connect(file)
    states = Counter(row[0] for row in db.execute("SELECT state FROM effect"))
    db.close()
    go.touch()
    quiet(it.daemon, it.store, 120)
    client.close()
    it.daemon.stop()
    acted = len(it.acts.read_text().splitlines())
    if options.engine == "sqlite":  # in the place of the store, and then once more from the same backup
        text = maintain("restore", file, "--store", it.store.uri)
        text += maintain("restore", file, "--store", it.store.uri)
    else:
        refused = maintain("restore", file, "--store", it.store.uri, "--lease", "0.2", expect=1)
        if "--replace" not in refused:
            it.findings.add("wrong answer", refused)
        text = maintain("restore", file, "--store", it.store.uri, "--lease", "0.2", "--replace")
    it.daemon.start()
    it.daemon.wait_joined()
    quiet(it.daemon, it.store)
    time.sleep(1)
    it.daemon.stop()
    it.acts_check()
    after = len(it.acts.read_text().splitlines())
    open_now = Counter(row["state"] for row in it.store.read("effect"))
    faces = Counter(row["face"] for row in it.store.read("goal_view"))
    if not states[0] or not states[1]:
        it.findings.add("no case", f"the backup has {states}: no effect was ready, or none was running")
    if acted != goals or after != acted:
        it.findings.add("acted again", f"{acted} acts before, {after} after")
    if set(open_now) != {2} or open_now[2] != sum(states.values()) or faces[2] != open_now[2]:
        it.findings.add("not unconfirmed", f"{open_now}, faces {faces}")
    era = it.store.run("SELECT era FROM store")[0][0]
    if int(era) != (2 if options.engine == "sqlite" else 1):
        it.findings.add("wrong era", str(era))
    ok = not it.findings
    print(f"{'ok' if ok else 'BROKEN'} backup effects {options.engine}: {states[0]} ready and {states[1]} running in the backup, all"
          f" carried out since; after the restore {open_now[2]} unconfirmed, {after - acted} carried out again; era {era}")
    for line in it.findings.lines:
        print("   ", line, text)
    return ok


# ---- damage ----

def leaves_safe_mode(it, file):
    """C-05 and STORE-10: the daemon writes to a damaged store again after a backup has been restored in its place."""
    with open(it.store.path, "r+b") as store:
        store.seek(4096)
        store.write(os.urandom(4096 * 4))
    it.daemon.start()
    client = Client(it.daemon.socket)
    wait_until("the daemon says that it is in safe mode", lambda: "safe" in str(it.daemon.health()), 15)
    _, result, _ = client.call("goal.create", {"title": "in safe mode"})
    if result:
        it.findings.add("damage", "a store in safe mode was written to")
    client.close()
    it.daemon.stop()
    maintain("restore", file, "--store", it.store.uri)
    it.daemon.start()
    it.daemon.wait_joined(also_well=True)
    client = Client(it.daemon.socket)
    _, result, error = client.call("goal.create", {"title": "after it"})
    if not result:
        it.findings.add("damage", f"the restored store is not written to: {error}")
    client.close()
    it.daemon.stop()
    if it.store.count("goal") != 301:
        it.findings.add("damage", f"{it.store.count('goal')} goals after the restore, not 301")


def damage(options):
    it = Round("sqlite", options.seed, "damage")
    it.daemon.start()
    it.daemon.wait_joined()
    client = Client(it.daemon.socket)
    for i in range(300):
        client.call("goal.create", {"title": f"goal {i}"})
    client.close()
    file = it.folder / "backup.db"
    maintain("backup", file, "--store", it.store.uri)
    maintain("backup", file, "--store", it.store.uri, expect=1)
    maintain("backup", file, "--store", it.store.uri, "--force")
    maintain("restore", file, "--store", it.store.uri, expect=1)  # the store is in use
    it.daemon.stop()
    before = it.store.path.read_bytes()
    whole, found, harmless = file.read_bytes(), 0, 0
    rows = LiteRows(it.shape, file).all()
    for _ in range(options.times):
        broken = bytearray(whole)
        at = it.chance.randrange(len(broken))
        broken[at] ^= 1 << it.chance.randrange(8)
        file.write_bytes(broken)
        done = subprocess.run([str(OVERSEERD), "--maintain", "restore", str(file), "--store", it.store.uri],
                              capture_output=True, text=True, timeout=60)
        if done.returncode == 0:  # the flip is in slack that nothing reads: the restored rows equal the original ones
            harmless += 1
            if {t: r for t, r in LiteRows(it.shape, file).all().items()} != rows:
                it.findings.add("damage", f"a flip at {at} was put back")
            before = it.store.path.read_bytes()
        elif done.returncode == 1:
            found += 1
            if it.store.path.read_bytes() != before:
                it.findings.add("damage", f"the store was touched although the backup is damaged at {at}")
        else:
            it.findings.add("damage", f"a flip at {at}: exit {done.returncode} {done.stdout} {done.stderr[-300:]}")
    for size in (0, 100, 4096, len(whole) // 2):
        file.write_bytes(whole[:size])
        maintain("backup", "--verify", file, expect=3)
    file.write_bytes(whole)
    leaves_safe_mode(it, file)
    ok = not it.findings and found
    print(f"{'ok' if ok else 'BROKEN'} backup damage: {options.times} flips, {found} found and refused, {harmless} in slack;"
          f" a store in safe mode leaves it by a restore")
    for line in it.findings.lines:
        print("   ", line)
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["drill", "planted", "effects", "damage"])
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, str(Path(__file__).resolve()), *sys.argv[1:]])
    try:
        ok = globals()[options.what](options)
    except Broken as error:
        print(f"BROKEN backup {options.what}: {error}")
        ok = False
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
