# SPDX-License-Identifier: Apache-2.0
"""Tests that everything else continues if one goal cannot be decided or one row cannot be stored."""
import hashlib
import threading
import time

from away import Outage
from load import Op
from verify import Verification
from world import Broken, Client, Daemon, Unreachable, folder_make, goal_text, store_make, wait_until

GOALS = 60
NOT_AN_ENCODING = b"\x01\xff"
REFUSE = {  # rules by which the database refuses certain rows
    "postgres": ["ALTER TABLE goal_view ADD CONSTRAINT no_poison CHECK (title NOT LIKE '%POISON-T%')",
                 "ALTER TABLE record ADD CONSTRAINT no_poison CHECK (position('POISON-R'::bytea in body) = 0)"],
    "sqlite": ["CREATE TRIGGER no_poison_t BEFORE INSERT ON goal_view WHEN instr(NEW.title, 'POISON-T') > 0"
               " BEGIN SELECT RAISE(ABORT, 'no_poison'); END",
               "CREATE TRIGGER no_poison_r BEFORE INSERT ON record WHEN instr(NEW.body, CAST('POISON-R' AS BLOB)) > 0"
               " BEGIN SELECT RAISE(ABORT, 'no_poison'); END"],
}


def sealed(goal, n, body):
    """Seals the body of an effect as src/store/rows.c does: otherwise the row counts as damaged, not as impossible."""
    place = (1).to_bytes(4, "little") + n.to_bytes(4, "little")
    return body + hashlib.sha256(goal + place + body).digest()[:4]


class Ops:
    """The attributes of a load that Verification reads."""

    def __init__(self):
        self.ops, self.retries, self.repeats = [], 0, 0


class Hold:
    """Blocks the ledger at its next commit, so that the writes that arrive in this time become one batch."""

    def __init__(self, store):
        self.store = store

    def __enter__(self):
        if self.store.engine == "sqlite":
            self.outage = Outage(self.store)
            self.outage.__enter__()
        else:
            self.psql = self.store.connect()
            self.psql.ask("BEGIN; SELECT FROM host FOR UPDATE")

    def __exit__(self, *_):
        if self.store.engine == "sqlite":
            self.outage.__exit__()
        else:
            self.psql.ask("COMMIT")
            self.psql.close()


class Poison:
    def __init__(self, options):
        self.folder = folder_make("poison")
        self.store = store_make(options.engine, self.folder, "poison")
        self.acts = self.folder / "acts"
        self.daemon = Daemon(self.folder, self.store.uri)
        self.load, self.aside = Ops(), {}

    def send(self, op):
        client = Client(self.daemon.socket, 30)
        try:
            status, result, error = client.call(op.kind, op.params())
        except Unreachable as trouble:
            raise Broken(f"{op.key} got no answer: {trouble}; {self.daemon.log_tail()}") from trouble
        finally:
            client.close()
        if not op.take(status, result, error):
            raise Broken(f"{op.key} was answered with {status} {error}")
        return op

    def new(self, *words, **named):
        op = Op(*words, **named)
        self.load.ops.append(op)
        return op

    def create(self, count, prefix):
        return [self.send(self.new("goal.create", f"{prefix}{i}", text=f"goal {prefix}{i}")) for i in range(count)]

    def report(self, goal, key, text="so far, so good"):
        return self.send(self.new("goal.report", key, goal=goal, text=text))

    def show(self, goal):
        client = Client(self.daemon.socket, 30)
        status, result, error = client.call("goal.show", {"goal": goal_text(goal)})
        client.close()
        if status != 200:
            raise Broken(f"goal.show of a goal that is set aside: {status} {error}")
        return result

    def expect_aside(self, goal, key, reason):
        """Checks that the daemon refuses a report on the goal with a reason, also later reports, and that the goal shows the reason."""
        first = self.report(goal, key)
        if first.acked or first.refused != "E_QUARANTINED" or reason not in first.why:
            raise Broken(f"a report on a goal that is {reason!r}: {first.refused or 'accepted'}: {first.why}")
        self.expect_shown(goal, key, reason)
        self.aside[goal] = reason

    def expect_shown(self, goal, key, reason):
        again = self.report(goal, f"{key}-again")
        if again.refused != "E_QUARANTINED" or "goal show" not in again.why:
            raise Broken(f"a second report on a goal that is set aside: {again.refused or 'accepted'}: {again.why}")
        shown = self.show(goal)
        told = [r for r in shown["records"] if r["type"] == "goal.quarantined"]
        if (reason not in shown.get("quarantined", "") or shown["state"] != "needs you" or not told
                or reason not in told[0]["text"]):
            raise Broken(f"goal.show does not say why a goal is set aside: {shown}")

    def expect_well(self, goals, key):
        for i, goal in enumerate(goals):
            if not self.report(goal, f"{key}{i}").acked:
                raise Broken(f"a goal beside the one that is set aside was refused: {self.load.ops[-1].why}")

    # a goal that cannot be decided

    def corrupt(self, goal, live):
        version = ", version = version + 1" if live else ""  # the daemon has the goal in memory: a new version makes it read the row again
        self.store.run(f"UPDATE goal SET hot = {self.store.bytes(NOT_AN_ENCODING)}{version}"
                       f" WHERE goal_id = {self.store.id(goal)}")

    def broken_goals(self, goals):
        asleep, awake, impossible, *well = [op.goal for op in goals]
        self.daemon.stop()
        self.daemon.start()
        self.daemon.wait_joined()
        self.corrupt(asleep, live=False)  # not in memory; before the start, the daemon would have found the damage and entered safe mode
        self.expect_aside(asleep, "asleep", "cannot be decoded")
        self.expect_well(well, "beside-asleep")
        self.report(awake, "warm")
        self.corrupt(awake, live=True)
        self.expect_aside(awake, "awake", "cannot be decoded")
        self.store.run(f"INSERT INTO effect VALUES ({self.store.id(impossible)}, 5, 0, 0, 1, 0, {self.store.bytes(sealed(impossible, 5, b'x'))})")
        self.store.run(f"UPDATE goal SET version = version + 1 WHERE goal_id = {self.store.id(impossible)}")
        self.expect_aside(impossible, "impossible", "goal_broken")
        self.expect_well(well, "beside-awake")

    # a row that the database refuses

    def batch(self, ops):
        """Sends all writes at once, while the ledger is blocked at another commit."""
        decoy = self.new("goal.create", f"decoy-{ops[0].key}", text="goes first")
        threads = [threading.Thread(target=self.send_kept, args=(op,)) for op in (decoy, *ops)]
        with Hold(self.store):
            threads[0].start()
            time.sleep(0.3)
            for thread in threads[1:]:
                thread.start()
            time.sleep(0.5)
        for thread in threads:
            thread.join(30)
        problems = [op.why for op in ops if not op.acked and not op.refused]
        if problems:
            raise Broken(f"{len(problems)} of a batch got no answer: {problems[0]}")

    def send_kept(self, op):
        try:
            self.send(op)
        except Broken as error:
            op.why = str(error)

    def expect_only(self, ops, bad, error):
        wrong = [(op.key, op.refused, op.why) for i, op in enumerate(ops) if op.acked == (i == bad)]
        if wrong or ops[bad].refused != error or "no_poison" not in ops[bad].why:
            raise Broken(f"the database refuses one of {len(ops)}, which got {ops[bad].refused} ({ops[bad].why});"
                         f" answered the wrong way: {wrong[:3]}")

    def refused_title(self):
        ops = [self.new("goal.create", f"batch{i}", text="POISON-T" if i == 17 else f"a goal of a batch, {i}")
               for i in range(GOALS)]
        self.batch(ops)
        self.expect_only(ops, 17, "E_REFUSED_BY_STORE")
        if self.store.count(f"goal WHERE goal_id = {self.store.id(ops[17].goal)}"):
            raise Broken("a goal was stored although its title was refused")
        self.load.ops.remove(ops[17])
        self.send(self.new("goal.create", "batch17", text="now with another title"))
        return [op.goal for op in ops if op.acked] + [ops[17].goal]

    def refused_record(self, goals):
        ops = [self.new("goal.report", f"said{i}", goal=goal, text="POISON-R" if i == 23 else f"said {i}")
               for i, goal in enumerate(goals)]
        self.batch(ops)
        self.expect_only(ops, 23, "E_QUARANTINED")
        self.expect_shown(goals[23], "refused", "no_poison")
        self.aside[goals[23]] = "no_poison"
        self.expect_well([goal for goal in goals if goal not in self.aside], "beside-refused")

    def command_runs(self, key):
        op = self.send(self.new("goal.create", key, text="runs a command", command=(
            f"printf '%s %s %s\\n' \"$OVERSEER_EFFECT\" \"$OVERSEER_FENCE\" {key} >> {self.acts}")))
        wait_until("a command runs beside the goals that are set aside",
                   lambda: self.show(op.goal)["status"] == "completed", 10)

    def run(self):
        self.daemon.start()
        self.daemon.wait_joined()
        self.broken_goals(self.create(12, "hot"))
        for statement in REFUSE[self.store.engine]:
            self.store.run(statement)
        goals = self.refused_title()
        self.refused_record(goals)
        self.command_runs("after")
        self.daemon.stop()
        self.daemon.start()
        self.daemon.wait_joined()
        for i, (goal, reason) in enumerate(self.aside.items()):
            self.expect_shown(goal, f"restarted{i}", reason)
        self.command_runs("restarted")
        self.daemon.alive()
        self.daemon.stop()
        verification = Verification(self.store, self.load, self.acts, skip=set(self.aside))
        findings = verification.run()
        stored_aside = {row["goal_id"] for row in self.store.read("goal") if row["aside"]}
        if stored_aside != set(self.aside):
            findings.add("half-applied", f"{len(stored_aside)} goals are set aside, {len(self.aside)} were answered so")
        for line in self.daemon.promises_broken():
            findings.add("broken promise", line)
        return verification, findings


def poison(options):
    since = time.monotonic()
    test = Poison(options)
    verification, findings = test.run()
    print(f"{'BROKEN' if findings else 'ok'} poison {options.engine}: {len(test.aside)} goals set aside, each says why and"
          f" stays so after a restart, 1 row refused among {GOALS}, {len(verification.goals) - len(test.aside)} goals beside"
          f" them are whole, {time.monotonic() - since:.0f} s", flush=True)
    for line in findings.lines:
        print("   ", line)
    return not findings
