# SPDX-License-Identifier: Apache-2.0
"""Checks that the store holds every acknowledged write exactly once and is consistent. It computes everything again from the rows."""
import hashlib
from collections import Counter, defaultdict

from load import derive
from world import goal_text, id_text

CREATED, REPORTED, COMPLETED, NEEDS_PERSON, QUARANTINED, DECIDED, CLAIMED, ENDED, UNCONFIRMED = range(1, 10)
TYPE_NAMES = ["none", "goal.created", "goal.reported", "goal.completed", "goal.needs_person", "goal.quarantined",
              "effect.decided", "effect.claimed", "effect.ended", "effect.unconfirmed"]
DESK_OPENED, RETURNED = 83, 98
READY, RUNNING, IN_DOUBT = range(3)
ACTIVE, DONE = 0, 2                                  # status of a goal
NEED_NOTHING, NEED_FAILED, NEED_UNCONFIRMED = range(3)
FACE_QUEUED, FACE_WORKING, FACE_NEEDS_YOU, FACE_DONE = range(4)
TIME_NEVER = 2**63 - 1
CHECK = 4                                            # bytes at the end of a stored body

HOT = {1: "status", 2: "need", 3: "created_at", 4: "updated_at", 5: "reports", 6: "effects_made", 7: "last_exit"}
EVIDENCE = {1: "rule", 2: "signal", 3: "source", 4: "actor", 5: "effect", 6: "host", 7: "fence", 8: "exit",
            9: "threshold", 10: "text"}
SIGNED = {"created_at", "updated_at", "last_exit", "exit", "threshold"}

SYSTEM = bytes(15) + b"\1"  # this goal has the records of the store itself: policies, stops, restores


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def decode(data, names):
    """Decodes a body: a version byte, then tag and value of each field that is not zero."""
    out = {name: 0 for name in names.values()}
    out.update({name: b"" for name in out if name in ("rule", "source", "actor", "text")})
    at = 1
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        name = names.get(tag // 2)
        if tag & 1:
            value, at = data[at:at + value], at + value
        elif name in SIGNED:
            value = value >> 1 ^ -(value & 1)
        if name:
            out[name] = value
    return out


def seal(head, goal, row):
    """The hash of a record, as record_seal() computes it."""
    numbers = b"".join((row[name] & (2**64 - 1)).to_bytes(8, "little") for name in ("seq", "at", "type", "core"))
    return hashlib.sha256(head + goal + numbers + row["policy"] + hashlib.sha256(row["body"]).digest()).digest()


def effect_id(goal, n):
    return derive(b"effect", goal + n.to_bytes(4, "little"))


class Findings:
    def __init__(self):
        self.lines, self.kinds = [], Counter()

    def add(self, kind, text):
        self.kinds[kind] += 1
        if self.kinds[kind] <= 5:
            self.lines.append(f"{kind}: {text}")

    def __getitem__(self, kind):
        return self.kinds[kind]

    def __bool__(self):
        return bool(self.kinds)


class Replay:
    """The state of a goal, computed from its records alone."""

    def __init__(self):
        self.status, self.need, self.reports, self.made, self.last_exit = ACTIVE, NEED_NOTHING, 0, 0, 0
        self.open, self.claims, self.ended, self.doubts, self.returned = {}, {}, {}, Counter(), Counter()
        self.sources, self.writes, self.created, self.quarantined = [], [], None, False

    def apply(self, kind, seq, evidence):
        """Applies a record. Returns None, or an error text if the record may not follow here."""
        if kind in (CREATED, REPORTED):
            self.writes.append((evidence["source"], evidence["text"], seq))
        n = evidence["effect"] - 1
        if kind == CREATED:
            wrong, self.created = self.created is not None, evidence["source"]
        elif kind == REPORTED:
            wrong = False
            self.reports += 1
            self.sources.append(evidence["source"])
        elif kind == DECIDED:
            wrong = n != self.made
            self.made += 1
            self.open[n] = READY
        elif kind == CLAIMED:
            wrong = self.open.get(n) != READY
            self.open[n] = RUNNING
            self.claims[n] = (evidence["host"], evidence["fence"])
        elif kind == RETURNED:
            wrong = self.open.get(n) != RUNNING or self.claims[n][0] != evidence["host"]
            self.open[n] = READY
            self.returned[n] += 1
        elif kind == UNCONFIRMED:
            wrong = self.open.get(n) not in (RUNNING, IN_DOUBT) or self.doubts[n]
            self.open[n], self.need = IN_DOUBT, NEED_UNCONFIRMED
            self.doubts[n] += 1
        elif kind == ENDED:
            wrong = self.open.pop(n, READY) == READY
            self.ended[n] = self.last_exit = evidence["exit"]
        elif kind == COMPLETED:
            wrong = self.status != ACTIVE or bool(self.open) or self.last_exit != 0
            self.status, self.need = DONE, NEED_NOTHING
        elif kind == NEEDS_PERSON:
            wrong, self.need = not self.ended, NEED_FAILED
        elif kind == QUARANTINED:
            wrong, self.quarantined = False, True
        else:
            wrong = True
        return f"{TYPE_NAMES[kind] if kind < len(TYPE_NAMES) else kind} does not follow" if wrong else None

    def face(self):
        if self.quarantined or self.need != NEED_NOTHING:
            return FACE_NEEDS_YOU
        if self.status == DONE:
            return FACE_DONE
        return FACE_WORKING if RUNNING in self.open.values() else FACE_QUEUED


class Verification:
    """Reads the whole store while the daemon is stopped or idle."""

    def __init__(self, store, load, acts, skip=()):
        self.store, self.load, self.findings = store, load, Findings()
        self.skip = skip  # goals that a test has damaged: their chain is checked, their state is not
        self.goals = {row["goal_id"]: row for row in store.read("goal")}
        self.records = defaultdict(list)
        for row in store.read("record"):
            self.records[row["goal_id"]].append(row)
        # Goals of admission: only their chains are checked.
        self.sites = {goal for goal, rows in self.records.items() if any(row["type"] == DESK_OPENED for row in rows)}
        self.effects = defaultdict(dict)
        for row in store.read("effect"):
            self.effects[row["goal_id"]][row["n"]] = row
        views = store.read("goal_view")
        self.titles = {row["goal_id"]: row["title"] for row in views}
        self.faces = {row["goal_id"]: row["face"] for row in views}
        self.seen = {(row["goal_id"], row["source"]) for row in store.read("seen")}
        self.inbox = store.read("inbox")
        self.acts = acts.read_text().splitlines() if acts.exists() else []
        self.replays = {}

    def run(self):
        if self.store.sound() != "ok":
            self.findings.add("unsound", self.store.sound())
        for goal in self.goals:
            self.check_chain(goal)
        for goal in self.records.keys() - self.goals.keys() - {SYSTEM}:
            self.findings.add("half-applied", f"{goal_text(goal)} has records and no row")
        for table, rows in (("goal_view", self.faces), ("effect", self.effects)):
            for goal in rows.keys() - self.goals.keys():
                self.findings.add("half-applied", f"{goal_text(goal)} has a row in {table} and none in goal")
        for goal in self.goals.keys() - set(self.skip) - self.sites:
            self.check_state(goal)
        for row in self.inbox:
            self.findings.add("left over", f"inbox: {id_text(row['source'])} for {goal_text(row['goal_id'])}")
        self.check_acknowledged()
        self.check_acts()
        return self.findings

    # nothing half-applied

    def check_chain(self, goal):
        row, records = self.goals[goal], sorted(self.records[goal], key=lambda r: r["seq"])
        name = goal_text(goal)
        if [r["seq"] for r in records] != list(range(1, row["seq"] + 1)):
            self.findings.add("half-applied", f"{name} is at record {row['seq']}, its records are"
                              f" {[r['seq'] for r in records][:50]}")
        head, replay = bytes(32), Replay()
        for record in records:
            head = seal(head, goal, record)
            if head != record["hash"]:
                self.findings.add("broken chain", f"{name} at record {record['seq']}")
                break
            wrong = goal not in self.sites and replay.apply(record["type"], record["seq"], decode(record["body"], EVIDENCE))
            if wrong:
                self.findings.add("wrong order", f"{name} at record {record['seq']}: {wrong}")
        if head != row["head"]:
            self.findings.add("broken chain", f"{name}: its head is not that of its last record")
        self.replays[goal] = replay

    def check_state(self, goal):
        row, replay, name = self.goals[goal], self.replays[goal], goal_text(goal)
        hot = decode(row["hot"][:-CHECK], HOT)

        def equal(what, stored, told):
            if stored != told:
                self.findings.add("half-applied", f"{name}: {what} is {stored}, its records tell {told}")
        if row["version"] <= 0:
            self.findings.add("half-applied", f"{name} has version {row['version']}")
        if goal not in self.faces:
            self.findings.add("half-applied", f"{name} has no row in goal_view")
        equal("aside", bool(row["aside"]), replay.quarantined)
        equal("the view", self.faces.get(goal), replay.face())
        equal("its effects", {n: e["state"] for n, e in self.effects[goal].items()}, replay.open)
        for n, effect in self.effects[goal].items():
            if (effect["run_host"] != 0) != (n in replay.claims) or (effect["state"] == READY) == (n in replay.claims):
                self.findings.add("half-applied", f"{name}: effect {n} is in state {effect['state']} of host"
                                  f" {effect['run_host']}, claimed: {n in replay.claims}")
        equal("open", bool(row["open"]), replay.status == ACTIVE or bool(replay.open))
        if replay.quarantined:
            return  # the store keeps its bytes unchanged
        equal("status", hot["status"], replay.status)
        equal("need", hot["need"], replay.need)
        equal("the count of reports", hot["reports"], replay.reports)
        equal("the count of effects", hot["effects_made"], replay.made)
        equal("the last exit status", hot["last_exit"], replay.last_exit)
        deadlines = [e["until"] for e in self.effects[goal].values() if e["state"] == RUNNING]
        if row["due_at"] > min(deadlines, default=TIME_NEVER):
            self.findings.add("half-applied", f"{name} is due too late")

    # nothing lost, nothing doubled

    def check_acknowledged(self):
        """Compares the records with the acknowledged writes. A source identifies a write with a key; a text identifies a write without one."""
        told, wanted = Counter(), {(op.goal, op.source if op.keyed else op.text): op for op in self.load.ops}
        unnamed = {op.text for op in self.load.ops if not op.keyed}
        at = {}
        for goal, replay in self.replays.items():
            for source, text, seq in replay.writes:
                text = text.decode()
                place = goal, text if text in unnamed else source
                told[place] += 1
                at[place] = seq
            for source in replay.sources:
                if (goal, source) in wanted and (goal, source) not in self.seen:
                    self.findings.add("half-applied", f"{goal_text(goal)}: a report is not in seen")
        for place, op in wanted.items():
            if op.acked and not told[place]:
                self.findings.add("lost", f"{op.key} ({op.kind}) on {goal_text(op.goal)}, acknowledged at {op.seq}")
            if op.refused and told[place]:
                self.findings.add("doubled", f"{op.key} ({op.kind}) was refused with {op.refused}, and stands all the same")
            if told[place] > 1:
                self.findings.add("doubled", f"{op.key} ({op.kind}) on {goal_text(op.goal)}: {told[place]} times")
            if op.acked and op.seq and told[place] and not at[place] <= op.seq <= self.goals[op.goal]["seq"]:
                self.findings.add("lost", f"{op.key} stands at {at[place]}, was acknowledged at {op.seq},"
                                  f" the goal is at {self.goals[op.goal]['seq']}")
            if op.kind == "goal.create" and told[place] and self.titles.get(op.goal) != op.text:
                self.findings.add("half-applied", f"{op.key}: its title is {self.titles.get(op.goal)!r}")
        for place in told.keys() - wanted.keys():
            self.findings.add("from nowhere", f"{goal_text(place[0])}: nobody sent {place[1]!r}")

    # nothing done twice

    def check_acts(self):
        commands = [op for op in self.load.ops if op.kind == "goal.create" and op.command]
        by_effect = {id_text(effect_id(op.goal, 0)): op for op in commands}
        seen = Counter()
        for line in self.acts:
            words = line.split()
            op = by_effect.get(words[0]) if len(words) == 3 else None
            if not op or words[2] != op.key:
                self.findings.add("from nowhere", f"an act that nobody asked for: {line!r}")
                continue
            seen[words[0]] += 1
            claim = self.replays[op.goal].claims.get(0) if op.goal in self.replays else None
            if not claim:
                self.findings.add("acted unclaimed", line)
            elif str(claim[1]) != words[1]:
                self.findings.add("acted unclaimed", f"{line}: it was claimed under fence {claim[1]}")
        for effect, times in seen.items():
            if times > 1:
                self.findings.add("acted twice", f"{effect}: {times} times")
        self.stats = Counter(commands=0, ended=0, unconfirmed=0, silent=0)
        for effect, op in by_effect.items():
            if op.goal in self.goals:
                self.check_command(op, self.replays[op.goal], seen[effect])

    def check_command(self, op, replay, acted):
        name = f"{op.key} ({goal_text(op.goal)})"
        self.stats["commands"] += 1
        self.stats["returned"] += replay.returned[0]
        if replay.quarantined:
            return
        if 0 in replay.ended:
            self.stats["ended"] += 1
            if replay.ended[0] != 0:
                self.findings.add("wrong outcome", f"{name} ended with {replay.ended[0]}")
            elif not acted:
                self.findings.add("wrong outcome", f"{name} succeeded without having acted")
        elif replay.open.get(0) == IN_DOUBT:
            self.stats["unconfirmed"] += 1
            self.stats["silent"] += not acted
            if replay.need != NEED_UNCONFIRMED or self.faces.get(op.goal) != FACE_NEEDS_YOU:
                self.findings.add("stuck", f"{name} is unconfirmed, and nobody is asked")
        else:
            self.findings.add("stuck", f"{name}: its effect is in state {replay.open.get(0)}")

    def summary(self):
        found, stats, ops = self.findings, self.stats, self.load.ops
        creates = sum(op.acked for op in ops if op.kind == "goal.create")
        reports = sum(op.acked for op in ops if op.kind == "goal.report")
        share = 100 * stats["unconfirmed"] / max(1, stats["commands"])
        return (f"{creates} goals and {reports} reports acknowledged ({self.load.retries} retries, {self.load.repeats} repeats),"
                f" {found['lost']} lost, {found['doubled']} doubled, {found['half-applied']} half-applied,"
                f" {found['broken chain']} broken chains; {stats['commands']} commands: {stats['ended']} ended,"
                f" {stats['unconfirmed']} unconfirmed ({share:.1f} %, {stats['silent']} of them not acted on),"
                f" {stats['returned']} returned,"
                f" {found['acted twice']} acted on twice, {found['acted unclaimed']} unclaimed, {found['stuck']} stuck")
