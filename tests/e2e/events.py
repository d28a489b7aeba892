#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every follower receive every event once and in order, however often it is cut off and reconnects?

    events.py small --engine sqlite|postgres        filters, places, what is gone, polling, roles, the questions of people
    events.py herd --engine ... --followers 1000 --seconds 60 --rate 50 [--daemons 2]
"""
import argparse
import json
import os
import random
import re
import resource
import selectors
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import proof
from world import TIMEOUT_SCALE, Broken, Client, Daemon, UnixConnection, Unreachable, folder_make, store_make, under_postgres, wait_until

EVENT = re.compile(rb"^id: (\S+)\nevent: (\S+)\n", re.M)
PLACE = re.compile(rb"^: still here\nid: (\S+)\n", re.M)
GONE = b"\nevent: gone\n"


def expect(truth, what):
    if not truth:
        raise Broken(what)


def order(place):
    era, tx, n = place.split(b".")
    return int(era), int(tx), int(n)


# ---- one follower: a raw socket, no thread ----

class Follower:
    def __init__(self, path, query=""):
        self.path, self.query = path, query
        self.seen, self.last, self.sock, self.buffer, self.gone = [], None, None, b"", 0
        self.ready, self.first = False, None
        self.raw, self.body = b"", False

    def open(self, path=None, header=True):
        """Connects, and resumes after the last event: by the header, or by a parameter of the query."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(20)
        self.sock.connect(str(path or self.path))
        query, extra = self.query, ""
        if self.last and header:
            extra = f"Last-Event-ID: {self.last.decode()}\r\n"
        elif self.last:
            query = (query + "&" if query else "") + f"after={self.last.decode()}"
        self.sock.sendall(f"GET /events?{query} HTTP/1.1\r\nHost: overseer\r\n{extra}\r\n".encode())
        self.sock.setblocking(False)
        self.buffer, self.ready = b"", False
        self.raw, self.body = b"", False

    def unchunked(self, data):
        """The content of the chunks: an event may begin in one chunk and end in the next."""
        self.raw += data
        out = b""
        if not self.body:
            head, sep, rest = self.raw.partition(b"\r\n\r\n")
            if not sep:
                return out
            if not head.startswith(b"HTTP/1.1 200"):
                raise Broken(f"not a stream: {head[:200]!r}")
            self.raw, self.body = rest, True
        while True:
            line, sep, rest = self.raw.partition(b"\r\n")
            if not sep:
                return out
            size = int(line or b"0", 16)
            if len(rest) < size + 2:
                return out
            out, self.raw = out + rest[:size], rest[size + 2:]

    def take(self, data):
        self.buffer += self.unchunked(data)
        end = self.buffer.rfind(b"\n\n")
        if end < 0:
            return
        whole, self.buffer = self.buffer[:end + 2], self.buffer[end + 2:]
        found = EVENT.findall(whole)
        for place, kind in found:
            if kind == b"gone":
                self.gone += 1
            else:
                self.seen.append(place)
        last = found[-1][0] if found else None
        if b": still here\nid: " in whole:
            self.ready = True
            self.first = self.first or PLACE.findall(whole)[0]
            place = PLACE.findall(whole)[-1]
            last = place if not last or order(place) > order(last) else last
        self.last = last or self.last

    def read(self):
        """Returns False if the stream was closed."""
        try:
            data = self.sock.recv(262144)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        if data:
            self.take(data)
        return bool(data)

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock = None

    def until(self, what, question, within=10):
        def look():
            expect(self.read(), "the stream ended by itself")
            return question()
        return wait_until(what, look, within)

    def text(self, seconds):
        """The bytes that arrive within this time."""
        end, out = time.monotonic() + seconds, b""
        while time.monotonic() < end:
            try:
                data = self.sock.recv(65536)
                if not data:
                    break
                out += data
            except BlockingIOError:
                time.sleep(0.02)
        return out


def rpc(client, method, **params):
    status, result, error = client.call(method, params)
    if error:
        raise Broken(f"{method}: {status} {error}")
    return result


def refused(client, method, **params):
    _, _, error = client.call(method, params)
    return error["data"]["code"] if error else None


def everything(client, **params):
    """All events, page by page, as a polling client reads them."""
    out = []
    while True:
        page = rpc(client, "events.list", limit=500, **params)
        out += page["events"]
        params["after"] = page["next"]
        if not page["more"]:
            return out


def places(events):
    return [event["id"].encode() for event in events]


# ---- small ----

def stream_and_page_agree(daemon, client):
    listener = Follower(daemon.socket)
    listener.open()
    listener.until("it listens", lambda: listener.ready)
    before = listener.last
    goals = [rpc(client, "goal.create", title=f"goal {i}")["goalId"] for i in range(3)]
    for i in range(40):
        rpc(client, "goal.report", goal=goals[i % 3], text=f"step {i} of it\nwith a second line", traceId=f"trace-{i % 3}")
    listener.until("43 events", lambda: len(listener.seen) >= 43)
    expect(listener.seen == places(everything(client, after=before.decode())), "the stream is not what the list has")
    listener.close()
    expect(listener.seen == sorted(listener.seen, key=order), "not in order")
    events = everything(client, goal=goals[1])
    expect({event["goalId"] for event in events} == {goals[1]}, "events of another goal")
    expect([event["seq"] for event in events] == list(range(1, len(events) + 1)), "records of a goal are missing")
    expect({event.get("traceId") for event in events[1:]} == {"trace-1"}, "the trace is lost")
    for event in events:
        expect({"id", "at", "type", "goalId", "seq", "actor", "rule"} <= set(event), f"an event without {event}")
    return goals


def filters_hold(daemon, client, goals):
    kinds = [event["type"] for event in everything(client, type="goal.*")]
    expect(set(kinds) == {"goal.created", "goal.reported"}, f"types {set(kinds)}")
    expect({e["type"] for e in everything(client, type="goal.created,plan.*")} == {"goal.created"}, "a list of types")
    expect(everything(client, type="plan.*") == [], "there is no plan")
    expect(refused(client, "events.list", type="goal.nothing") == "E_INVALID", "a type that there is not")
    expect(refused(client, "events.list", after="x.y.z") == "E_INVALID", "a place that there is not")
    expect(refused(client, "events.list", since="long ago") == "E_INVALID", "a time that there is not")
    expect(len(everything(client, since="1h")) == len(everything(client)), "all of it happened within the hour")
    expect(everything(client, since="2999-01-01T00:00:00Z") == [], "nothing happens in the future")
    listener = Follower(daemon.socket, f"goal={goals[0][:16]}&type=goal.reported&after=0.1.0")
    listener.open()
    listener.until("it has caught up", lambda: listener.ready)
    wanted = places(everything(client, goal=goals[0], type="goal.reported"))
    expect(listener.seen == wanted and len(wanted) > 10, "the stream of one goal")
    rpc(client, "goal.report", goal=goals[1], text="not for it")
    rpc(client, "goal.report", goal=goals[0], text="for it")
    listener.until("one more", lambda: len(listener.seen) == len(wanted) + 1)
    listener.close()


def what_is_gone_is_said(daemon, client):
    listener = Follower(daemon.socket)
    listener.last = b"7.1.1"
    listener.open()
    listener.until("it is told", lambda: listener.gone == 1 and listener.ready)
    page = rpc(client, "events.list", after="7.1.1")
    expect(page["gone"] and not page["events"], "a place of another era")
    count = len(everything(client))
    rpc(client, "goal.create", title="after that")
    listener.until("it hears again", lambda: len(listener.seen) == 1)
    listener.close()
    expect(len(everything(client, after=page["next"])) == len(everything(client)) - count, "it goes on from there")


def runs_hear_of_their_goal(daemon, client, goals):
    token = rpc(client, "token.create", role="run", actor="actor:agent:coder-1", goal=goals[2], run="R_1")["token"]
    head = f"Authorization: Bearer {token}\r\n"

    def ask(query):
        listener = Follower(daemon.socket, query)
        listener.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.sock.connect(str(daemon.socket))
        listener.sock.sendall(f"GET /events?{query} HTTP/1.1\r\nHost: overseer\r\n{head}\r\n".encode())
        listener.sock.setblocking(False)
        text = listener.text(1)
        listener.close()
        return text
    own = [place.encode() for place in (event["id"] for event in everything(client, goal=goals[2]))]
    expect([place for place, _ in EVENT.findall(ask("after="))] == own, "a run hears of its own goal")
    expect(b" 403 " in ask(f"goal={goals[0]}").split(b"\r\n")[0], "a run asked for another goal")
    own_client = Client(daemon.socket)
    body = {"jsonrpc": "2.0", "id": 1, "method": "events.list", "params": {}}
    own_client.connection = UnixConnection(daemon.socket, 10)

    def listed(**params):
        own_client.connection.request("POST", "/rpc", json.dumps({**body, "params": params}),
                                      {"Authorization": f"Bearer {token}"})
        return json.loads(own_client.connection.getresponse().read())
    expect([event["id"].encode() for event in listed()["result"]["events"]] == own, "a run lists its own goal")
    expect(listed(goal=goals[0])["error"]["data"]["code"] == "E_UNAUTHORIZED", "a run listed another goal")


def who_is_slow_misses_nothing(daemon, client, count):
    """A follower reads nothing while more events happen than the daemon keeps in memory; others continue, and it gets all events afterwards."""
    slow, quick = Follower(daemon.socket), Follower(daemon.socket)
    for listener in (slow, quick):
        listener.open()
        listener.until("it listens", lambda listener=listener: listener.ready)
    goal = rpc(client, "goal.create", title="talkative")["goalId"]

    def write():
        own = Client(daemon.socket)
        for i in range(count // 8):
            rpc(own, "goal.report", goal=goal, text=f"{i} " + "word " * 40)
    writers = [threading.Thread(target=write, daemon=True) for _ in range(8)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        quick.read()
        time.sleep(0.005)
    wanted = count // 8 * 8 + 1
    quick.until("the quick one has all of it", lambda: len(quick.seen) >= wanted, 20)
    slow.until("the slow one has all of it", lambda: len(slow.seen) >= wanted, 30)
    log = places(everything(client, after=slow.first.decode()))
    expect(len(log) == wanted and slow.seen == log and quick.seen == log, "not what the log has")
    slow.close()
    quick.close()


def an_old_goal_is_followed(daemon, client, goal):
    """All events of the goal are much older than the events that the daemon keeps in memory."""
    listener = Follower(daemon.socket, f"goal={goal}&after=")
    listener.open()
    listener.until("it has caught up", lambda: listener.ready)
    expect(listener.seen == places(everything(client, goal=goal)), "the events of an old goal")
    used = cpu_of(daemon.pid)
    time.sleep(1)
    expect(cpu_of(daemon.pid) - used < 0.3, "who follows an old goal keeps the daemon busy")
    rpc(client, "goal.report", goal=goal, text="one more")
    listener.until("it hears of it", lambda: listener.seen == places(everything(client, goal=goal)))
    listener.close()


# ---- what people ask: status, inbox, why ----

def node(name, tier, parent=None, **more):
    return {"id": name, "tier": tier, "name": f"the {tier} {name}", "acceptanceCriteria": ["it can be seen"],
            **({"parentId": parent} if parent else {}), **more}


PLAN = [node("P1", "phase"), node("T1.1", "task", "P1"), node("S1.1.1", "subtask", "T1.1"),
        node("S1.1.2", "subtask", "T1.1", dependsOn=["S1.1.1"])]


def failing(client):
    goal = rpc(client, "goal.create", title="port to ESM", command="echo ERR_REQUIRE_ESM; exit 3")["goalId"]
    wait_until("its command has failed", lambda: rpc(client, "goal.show", goal=goal)["state"] == "needs you", 10)
    return goal


def a_failure_is_explained(client):
    goal = failing(client)
    rpc(client, "goal.report", goal=goal, text="all tests pass")
    why = rpc(client, "why", of=goal)
    expect(why["state"] == "needs you" and why["rule"] == "command.failed", f"why: {why['sentence']}")
    decided = [line for line in why["lines"] if line["record"] == why["record"]]
    expect(len(decided) == 1 and decided[0]["type"] == "goal.needs_person", "the record that decided is named")
    by_kind = {kind: [line["what"] for line in why["lines"] if line["kind"] == kind]
               for kind in ("measured", "acted", "decided", "said")}
    expect(by_kind["measured"] == ["command ended with 3: ERR_REQUIRE_ESM"], f"measured {by_kind}")
    expect(by_kind["said"] == ['"all tests pass"'], f"said {by_kind}")
    expect(by_kind["acted"] == ["command started on host 1"], f"acted {by_kind}")
    expect(why["waitsFor"] == "you" and why["nextTimer"] is None and len(why["policy"]) == 64 and why["core"] > 0, "the rest")
    expect(any("goal release" in line for line in why["do"]), "what can be done")
    expect(rpc(client, "why.show", of=goal[5:17])["goalId"] == goal, "by the beginning of its id")
    expect(refused(client, "why.show", of="nothing-is-called-this") == "E_NOT_FOUND", "a node that there is not")
    return goal


def a_node_is_explained(client):
    goal = rpc(client, "goal.create", title="with a plan")["goalId"]
    rpc(client, "plan.apply", goal=goal, nodes=PLAN)
    why = rpc(client, "why", of="S1.1.2")
    expect(why["goalId"] == goal and why["node"] == "S1.1.2" and why["status"] == "todo", f"{why}")
    expect(why["waitsFor"] == "S1.1.1", f"waits for {why['waitsFor']}")
    rpc(client, "work.block", node="S1.1.1", reason="needs a key", by="credential")
    why = rpc(client, "why", of="S1.1.1", goal=goal)
    expect(why["status"] == "blocked" and why["rule"] == "work.block", f"{why['sentence']}")
    expect(why["waitsFor"] == "credential: needs a key", why["waitsFor"])
    rpc(client, "plan.review", goal=goal, reason="too large")
    return goal


def the_past_is_long(client, goal):
    """The record that decided is older than the records that the daemon reads at once."""
    for i in range(230):
        rpc(client, "goal.report", goal=goal, text=f"still working {i}")
    why = rpc(client, "why", of=goal, limit=5)
    expect(why["rule"] == "command.failed" and len(why["lines"]) == 5, f"{why['sentence']}")
    expect(all(line["kind"] == "said" for line in why["lines"]), "the newest lines are reports")


def people_are_asked(client, failed, reviewed):
    inbox = rpc(client, "inbox")
    kinds = {item["goalId"]: item["kind"] for item in inbox["items"]}
    expect(kinds[failed] == "failed" and kinds[reviewed] == "review", f"{kinds}")
    since = [item["since"] for item in inbox["items"]]
    expect(since == sorted(since) and inbox["count"] == len(kinds) and not inbox["more"], "oldest first")
    item = next(item for item in inbox["items"] if item["goalId"] == failed)
    expect(item["command"].startswith("echo ERR") and "ERR_REQUIRE_ESM" in item["evidence"], f"{item}")
    expect(rpc(client, "inbox", limit=1)["more"], "one of several")
    done = rpc(client, "goal.create", title="quick", command="true")["goalId"]
    wait_until("it is done", lambda: rpc(client, "goal.show", goal=done)["state"] == "done", 10)
    status = rpc(client, "overseer.status")
    expect(status["tally"]["needs you"] == len(kinds) and status["tally"]["done"] == 1, f"{status['tally']}")
    expect([item["goalId"] for item in status["done"]] == [done], "what was done")
    expect([item["goalId"] for item in status["failed"]] == [failed], "what failed")
    expect(status["daemon"]["joined"] and status["daemon"]["epoch"] > 0 and not status["daemon"]["safeMode"], "the daemon")
    for item in inbox["items"]:
        for line in item["do"]:
            expect(line.startswith("overseer "), line)
    rpc(client, "goal.release", goal=failed, reason="seen")
    expect(failed not in {item["goalId"] for item in rpc(client, "inbox")["items"]}, "it is not asked again")
    why = rpc(client, "why", of=done)
    expect(why["state"] == "done" and why["rule"] == "command.succeeded", why["sentence"])


def the_database_comes_back(daemon, client, store):
    """A follower is not cut off while the database is down, and receives the events that come afterwards."""
    listener = Follower(daemon.socket)
    listener.open()
    listener.until("it listens", lambda: listener.ready)
    store.server_stop("immediate")
    time.sleep(1.5)
    expect(listener.read(), "the stream ended with the database")
    store.server_start()
    daemon.wait_joined(also_well=True)
    wait_until("a goal can be created again", lambda: client.call("goal.create", {"title": "back", "key": "back"})[1], 20)
    wait_until("the log can be read again", lambda: client.call("events.list", {"after": "now"})[1], 20)
    newest = places(everything(client, type="goal.created"))[-1]
    listener.until("it hears of it", lambda: newest in listener.seen, 20)
    expect(listener.gone == 0, "it was told that something is gone")
    listener.close()


def small(engine):
    folder = folder_make("events")
    store = store_make(engine, folder, "events")
    daemon = Daemon(folder, store.uri)
    daemon.start()
    daemon.wait_joined()
    client = Client(daemon.socket)
    goals = stream_and_page_agree(daemon, client)
    filters_hold(daemon, client, goals)
    what_is_gone_is_said(daemon, client)
    runs_hear_of_their_goal(daemon, client, goals)
    who_is_slow_misses_nothing(daemon, client, 8000)
    an_old_goal_is_followed(daemon, client, goals[0])
    failed = a_failure_is_explained(client)
    reviewed = a_node_is_explained(client)
    the_past_is_long(client, failed)
    people_are_asked(client, failed, reviewed)
    if engine == "postgres":
        the_database_comes_back(daemon, client, store)
    last = rpc(client, "events.list", after="now")["next"]
    listener = Follower(daemon.socket)
    listener.open()
    listener.until("it listens", lambda: listener.ready)
    daemon.stop()
    expect(not listener.read() or not listener.read(), "a stream outlives the daemon")
    daemon.start()
    daemon.wait_joined()
    client = Client(daemon.socket)
    rpc(client, "goal.create", title="after a restart")
    expect(len(everything(client, after=last)) == 1, "a place outlives the daemon")
    expect(not daemon.promises_broken(), f"{daemon.promises_broken()}")
    daemon.stop()
    proof.passed("events", f"small {engine}", "EVENT-08 API-01 API-11 POLICY-03")
    print(f"events small {engine}: streams, pages, places, filters, roles, why, inbox and status agree")


# ---- a herd ----

class Writers(threading.Thread):
    """Writes `rate` events a second, evenly, on each daemon in turn. On a machine that is slower than ours it may take longer (PATIENCE)."""

    def __init__(self, daemons, rate, seconds):
        super().__init__(daemon=True)
        self.daemons, self.rate, self.seconds, self.written, self.error = daemons, rate, seconds, 0, None

    def run(self):
        try:
            self.write()
        except Exception as error:  # the main thread raises it
            self.error = error

    def write(self):
        clients = [Client(daemon.socket) for daemon in self.daemons]
        goals = [rpc(client, "goal.create", title="herd")["goalId"] for client in clients]
        began = time.monotonic()
        end, least = began + self.seconds, 0.9 * self.rate * self.seconds
        while time.monotonic() < end or (self.written <= least and time.monotonic() < began + self.seconds * TIMEOUT_SCALE):
            at = self.written % len(clients)
            self.report(clients[at], goals[at])
            self.written += 1
            time.sleep(max(0, began + self.written / self.rate - time.monotonic()))

    def report(self, client, goal):
        """Repeats the report until it is stored, once."""
        while True:
            try:
                _, _, error = client.call("goal.report", {"goal": goal, "key": f"herd-{self.written}",
                                                          "text": f"report {self.written} of the herd, as agents write them"})
                if not error or error["data"]["class"] == "expected":
                    return expect(not error, f"{error}")
            except Unreachable:
                pass
            time.sleep(0.02)


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid):
    """Resident memory in MiB, now and at its maximum."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(lines["VmRSS"].split()[0]) / 1024, int(lines["VmHWM"].split()[0]) / 1024


class Herd:
    def __init__(self, daemons, count, chance):
        self.daemons, self.chance, self.ends, self.drops, self.away = daemons, chance, 0, 0, []
        self.selector = selectors.DefaultSelector()
        self.followers = [Follower(chance.choice(daemons).socket) for _ in range(count)]

    def open(self, follower):
        follower.open(self.chance.choice(self.daemons).socket, header=self.chance.random() < 0.5)
        self.selector.register(follower.sock, selectors.EVENT_READ, follower)

    def shut(self, follower):
        self.selector.unregister(follower.sock)
        follower.close()

    def look(self, wait):
        for key, _ in self.selector.select(wait):
            follower = key.data
            if follower.sock and not follower.read():
                self.ends += 1
                self.shut(follower)
                self.away.append(follower)
        for follower in [self.away.pop() for _ in range(len(self.away))]:
            try:
                self.open(follower)
            except OSError:  # no daemon listens: try again
                follower.close()
                self.away.append(follower)

    def drop_some(self, share):
        """Cuts off some followers, whatever they are doing."""
        for follower in self.chance.sample(self.followers, max(1, int(len(self.followers) * share))):
            if follower.last and follower.sock:
                self.shut(follower)
                self.drops += 1
                self.away.append(follower)


def herd_gather(herd):
    for follower in herd.followers:
        herd.open(follower)
        herd.look(0)
    end = time.monotonic() + 30
    while not all(follower.ready for follower in herd.followers):
        expect(time.monotonic() < end, "not everybody listens within 30 s")
        herd.look(0.1)


def herd_judge(herd, events):
    """Checks that each follower has seen exactly the log after its first place."""
    log = places(events)
    missed = repeated = 0
    for follower in herd.followers:
        wanted = [place for place in log if order(place) > order(follower.first)]
        if follower.seen != wanted:
            missed += len(set(wanted) - set(follower.seen))
            repeated += len(follower.seen) - len(set(follower.seen))
            expect(missed or repeated, f"the order differs: {len(follower.seen)} seen, {len(wanted)} wanted, "
                   f"extra {sorted(set(follower.seen) - set(wanted), key=order)[:5]}, began at {follower.first}, log"
                   f" {log[0]}..{log[-1]}, first {next((pair for pair in zip(follower.seen, wanted) if pair[0] != pair[1]), None)}")
    return missed, repeated, len(log)


def herd_is_bounded(crowd):
    """LIMIT_FOLLOWERS: the daemon tells one follower too many to come back later, and the others are not affected."""
    rpc(Client(crowd.daemons[0].socket), "goal.create", title="now it is noticed who has hung up")
    end = time.monotonic() + 1
    while time.monotonic() < end:
        crowd.look(0.05)
    while len(crowd.followers) < 1200:
        crowd.followers.append(Follower(crowd.daemons[0].socket))
        crowd.open(crowd.followers[-1])
    wait_until("1,200 listen", lambda: (crowd.look(0.05), all(follower.ready for follower in crowd.followers))[1], 20)
    late = Follower(crowd.daemons[0].socket)
    late.open()
    answer = late.text(0.5)
    late.close()
    expect(b"E_BUSY" in answer and b"HTTP/1.1 200" not in answer, f"one too many: {answer[:100]!r}")


def herd(arguments):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    chance = random.Random(arguments.seed)
    folder = folder_make("events")
    store = store_make(arguments.engine, folder, "events")
    daemons = [Daemon(folder, store.uri, name=f"d{i}", options=("--host", str(i)) if arguments.daemons > 1 else ())
               for i in range(1, arguments.daemons + 1)]
    for daemon in daemons:
        daemon.start()
        daemon.wait_joined()
    crowd = Herd(daemons, arguments.followers, chance)
    herd_gather(crowd)
    writers = Writers(daemons, arguments.rate, arguments.seconds)
    used, began = [0 if arguments.kills else cpu_of(daemon.pid) for daemon in daemons], time.monotonic()
    writers.start()
    drop_at, kills = began + 1, [began + arguments.seconds * (i + 1) / (arguments.kills + 1) for i in range(arguments.kills)]
    while writers.is_alive():
        crowd.look(0.05)
        if time.monotonic() >= drop_at:
            crowd.drop_some(arguments.drops)
            drop_at += 1
        if kills and time.monotonic() >= kills[0]:
            kills.pop(0)
            daemons[0].kill()
            daemons[0].start()
    if writers.error:
        raise writers.error
    took = time.monotonic() - began
    share = max((cpu_of(daemon.pid) - before) / took for daemon, before in zip(daemons, used))
    memory = max(memory_of(daemon.pid)[0] for daemon in daemons)
    events = everything(Client(daemons[0].socket))
    newest = order(places(events)[-1])
    wait_until("everybody has the newest", lambda: (crowd.look(0.05), all(
        follower.seen and order(follower.seen[-1]) >= newest for follower in crowd.followers))[1], 20)
    crowd.look(0.3)
    missed, repeated, count = herd_judge(crowd, events)
    if arguments.followers == 1000 and arguments.daemons == 1:
        herd_is_bounded(crowd)
    for daemon in daemons:
        expect(not daemon.promises_broken(), f"{daemon.promises_broken()}")
        daemon.stop()
    name = f"followers-{arguments.followers}{'' if arguments.engine == 'sqlite' else '-' + arguments.engine}"
    print(f"bench {name}: {count} events to {arguments.followers} followers at {writers.written / took:.0f}/s, {crowd.drops} drops,"
          f"{f' {arguments.kills} kills,' if arguments.kills else ''} {missed} missed, {repeated} repeated, {100 * share:.0f} % of a core, {memory:.0f} MiB"
          f"{f', {arguments.daemons} daemons' if arguments.daemons > 1 else ''}", flush=True)
    expect(missed == 0 and repeated == 0, "somebody missed something, or heard it twice")
    expect(share < arguments.most_cpu and memory < 100, "more than half a core, or 100 MiB")
    expect(writers.written > 0.9 * arguments.rate * arguments.seconds, f"only {writers.written} events were written")
    proof.passed("events", f"herd {arguments.engine}", "API-11")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("small", "herd"))
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--followers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--drops", type=float, default=0.02, help="share of followers cut off each second")
    parser.add_argument("--daemons", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0, help="of the first daemon, which is started again")
    parser.add_argument("--most-cpu", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    if arguments.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    try:
        if arguments.what == "small":
            small(arguments.engine)
        else:
            herd(arguments)
    except Broken as broken:
        print(f"events {arguments.what} {arguments.engine}: {broken} (seed {arguments.seed})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
