# SPDX-License-Identifier: Apache-2.0
"""The write load during faults: clients that repeat unanswered writes with the same key, and a list of what was acknowledged."""
import hashlib
import json
import os
import random
import subprocess
import threading
import time

from world import OVERSEER, Broken, Client, Unreachable, goal_text

TRANSIENT = {"E_BUSY", "E_STORE_AWAY", "E_STOPPING", "E_CONFLICT", "E_NO_MEMORY"}
TIMEOUT_SCALE = 120  # seconds until a repeated write counts as lost
RECENT = 400    # number of newest goals that get reports


def derive(space, key):
    return hashlib.sha256(space + b"\0" + key).digest()[:16]


def key_derive(kind, key, goal, actor=None, run=b""):
    """Derives an id from the caller, the operation, the goal and the key. For goal.create this is the goal's id. The actor of the daemon's own user
    has no user number."""
    actor = actor or "human"
    of_both = derive(derive(actor.encode(), run), derive(kind.encode(), key.encode()))
    return derive(derive(b"key", goal), of_both)


def source_derive(key, params):
    body = {name: value for name, value in params.items() if name not in ("key", "goal", "traceId")}
    return derive(key, json.dumps(body, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode())


class Op:
    """One write that has to happen once, however often a client requests it."""
    __slots__ = ("kind", "key", "goal", "source", "text", "command", "keyed", "acked", "forwarded", "seq", "tries",
                 "refused", "why")

    def __init__(self, kind, key, goal=None, text="", command=None, keyed=True):
        self.kind, self.key, self.text, self.command, self.keyed = kind, key, text, command, keyed
        named = key_derive(kind, key, goal or bytes(16))
        self.goal = goal or named
        self.source = source_derive(named, self.params())
        self.acked = self.forwarded = False
        self.seq, self.tries, self.refused, self.why = 0, 0, None, ""

    def params(self):
        if self.kind == "goal.report":
            return {"goal": goal_text(self.goal), "text": self.text, **({"key": self.key} if self.keyed else {})}
        return {"title": self.text, "key": self.key, **({"command": self.command} if self.command else {})}

    def take(self, status, result, error):
        """Returns True if the write is acknowledged or refused."""
        if error:
            code = error["data"]["code"]
            self.why = error["message"]
            if code in TRANSIENT:
                return False
            self.refused = code
            return True
        if result["goalId"] != goal_text(self.goal):
            raise Broken(f"{self.key} was answered with {result['goalId']}, not with {goal_text(self.goal)}")
        self.acked = True
        if status == 202:
            self.forwarded = True
        else:
            self.seq = max(self.seq, result["seq"])
        return True


class Http:
    def __init__(self, sockets, timeout):
        self.clients = [Client(path, timeout) for path in sockets]
        self.at = 0

    def send(self, op):
        return self.clients[self.at].call(op.kind, op.params())

    def turn_away(self):
        self.at = (self.at + 1) % len(self.clients)

    def close(self):
        for client in self.clients:
            client.close()


class Cli:
    """Sends the same writes through the command line."""

    def __init__(self, sockets):
        self.sockets, self.at = sockets, 0

    def send(self, op):
        params = op.params()
        noun, verb = op.kind.split(".")
        words = [params["goal"], params["text"]] if verb == "report" else [params["title"]]
        flags = [word for name in ("key", "command") if name in params for word in (f"--{name}", params[name])]
        done = subprocess.run([str(OVERSEER), noun, verb, *words, *flags, "--socket", str(self.sockets[self.at]), "--json"],
                              capture_output=True, text=True, timeout=90)
        if done.returncode in (6, 7):
            raise Unreachable(done.stderr)
        if done.returncode:
            return 0, None, {"data": {"code": "E_CONFLICT" if done.returncode == 4 else f"exit {done.returncode}"},
                             "message": done.stderr.strip()}
        result = json.loads(done.stdout)
        return 202 if result.get("forwarded") or result.get("spooled") else 200, result, None

    def turn_away(self):
        self.at = (self.at + 1) % len(self.sockets)

    def close(self):
        pass


class Load:
    def __init__(self, sockets, acts, seed, writers=8, clis=0, timeout=30, rest=0.012, prefix="k"):
        self.sockets, self.acts, self.rest, self.prefix = sockets, acts, rest, prefix
        self.ops, self.goals, self.problems = [], [], []
        self.lock = threading.Lock()
        self.ending, self.resting = threading.Event(), threading.Event()
        self.at_rest, self.retries, self.repeats, self.acked = 0, 0, 0, 0
        self.ways = [Http(sockets, timeout) for _ in range(writers - clis)] + [Cli(sockets) for _ in range(clis)]
        self.threads = [threading.Thread(target=self.write, args=(way, i, seed * 1000 + i), daemon=True)
                        for i, way in enumerate(self.ways)]
        self.spread()

    def spread(self):
        for i, way in enumerate(self.ways):
            way.at = i % len(self.sockets)

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self, within=TIMEOUT_SCALE + 30):
        """Waits until all clients have finished their current write and ended."""
        self.ending.set()
        self.resting.clear()
        end = time.monotonic() + within
        for thread in self.threads:
            thread.join(max(0.1, end - time.monotonic()))
            if thread.is_alive():
                raise Broken("a client never got its last answer")
        for way in self.ways:
            way.close()
        self.check()

    def check(self):
        if self.problems:
            raise Broken(f"{len(self.problems)} clients gave up, the first: {self.problems[0]}")

    def rest_begin(self, within=20):
        self.resting.set()
        end = time.monotonic() + within
        while self.at_rest < len(self.threads):
            self.check()
            if time.monotonic() > end:
                raise Broken("the clients do not come to rest")
            time.sleep(0.01)

    def rest_end(self):
        self.spread()
        self.resting.clear()

    # one writer

    def write(self, way, number, seed):
        chance = random.Random(seed)
        count = 0
        try:
            while not self.ending.is_set():
                if self.resting.is_set():
                    self.take_rest()
                    continue
                count += 1
                op = self.next_op(chance, f"{self.prefix}{number}-{count}")
                self.settle(way, op, chance)
                if op.keyed and chance.random() < 0.05:  # a repeated request must have no effect
                    self.repeats += 1
                    self.settle(way, op, chance)
                time.sleep(chance.random() * 2 * self.rest)
        except Exception as error:  # every exception is a finding
            self.problems.append(f"{type(error).__name__}: {error}")

    def take_rest(self):
        with self.lock:
            self.at_rest += 1
        while self.resting.is_set() and not self.ending.is_set():
            time.sleep(0.005)
        with self.lock:
            self.at_rest -= 1

    def next_op(self, chance, key):
        with self.lock:
            goals = self.goals[-RECENT:]
        if not goals or chance.random() < 0.35:
            command = None
            if chance.random() < 1 / 3:
                slow = "sleep 0.03; " if chance.random() < 0.2 else ""
                command = (f"{slow}printf '%s %s %s\\n' \"$OVERSEER_EFFECT\" \"$OVERSEER_FENCE\" {key}"
                           f" >> {self.acts}")
            op = Op("goal.create", key, text=f"a goal of {key} – ½", command=command)
        else:
            op = Op("goal.report", key, goal=chance.choice(goals), text=f"{key} says: “so far, so good”",
                    keyed=chance.random() < 0.8)
        with self.lock:
            self.ops.append(op)
        return op

    def settle(self, way, op, chance):
        end = time.monotonic() + TIMEOUT_SCALE
        was_acked, before = op.acked, op.seq
        while True:
            op.tries += 1
            try:
                if op.take(*way.send(op)):
                    break
            except Unreachable as error:
                op.why = str(error)
            if not op.keyed:  # without a key the client does not repeat the write: it may be stored or not
                way.turn_away()
                return
            if time.monotonic() > end:
                raise Broken(f"{op.key} ({op.kind}) was not answered in {op.tries} tries: {op.why}")
            self.retries += 1
            way.turn_away()
            time.sleep(0.005 + chance.random() * 0.02)
        self.acked += 1
        if op.refused:
            raise Broken(f"{op.key} ({op.kind}) was refused: {op.refused}: {op.why}")
        if was_acked and op.seq < before:
            raise Broken(f"{op.key}: the goal went back from record {before} to {op.seq}")
        if op.kind == "goal.create" and not was_acked:
            with self.lock:
                self.goals.append(op.goal)
