#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a PostgreSQL of several nodes: a daemon finds the node that accepts writes, leaves a node that no longer accepts them, waits for no node
without limit, and logs what happened.

nodes.py [--only NAME]
"""
import argparse
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

import proof
from example_site import Site
from servers import Pooler, Server, run, url
from world import OVERSEER, TOP, Broken, Client, Daemon, Unreachable, folder_make, wait_until

TESTS = []
FULL = os.environ.get("OVERSEER_FULL")


def test(function):
    TESTS.append(function)
    return function


def goal_make(daemon, title="a goal", timeout=10):
    client = Client(daemon.socket, timeout)
    try:
        return client.call("goal.create", {"title": title})
    finally:
        client.close()


def pair_make(folder):
    primary = Server(folder, "one").create()
    standby = Server(folder, "two").copy_of(primary)
    wait_until("the standby streams", lambda: primary.standbys() == 1, 15)
    return primary, standby


@test
def standby_first_in_the_url():
    folder = folder_make("nodes-first")
    primary, standby = pair_make(folder)
    daemon = Daemon(folder, url(standby, primary), "host", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()
    status, _, error = goal_make(daemon)
    if status != 200:
        raise Broken(f"{status} {error}")
    daemon.stop()
    named = Daemon(folder, url(standby, primary, target_session_attrs="any"), "named", options=["--lease", "2"])
    named.start()
    wait_until("a URL that says any node gets the first one", lambda: "read-only" in named.log.read_text(), 15)
    named.kill()
    return "joined at the second"


@test
def node_that_takes_no_more_writes():
    """After a switchover (the old primary is read-only, the other node is promoted, no connection breaks) the daemon writes to the new primary."""
    folder = folder_make("nodes-readonly")
    primary, standby = pair_make(folder)
    daemon = Daemon(folder, url(primary, standby), "host", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()
    goal_make(daemon)
    wait_until("the standby has it", lambda: primary.ask("SELECT pg_current_wal_lsn() = replay_lsn FROM pg_stat_replication") == [["t"]], 10)
    primary.configure("default_transaction_read_only = on")
    primary.reload()
    standby.promote()
    begun = time.monotonic()
    wait_until("writes go to the other node", lambda: goal_make(daemon)[0] == 200, 20, 0.1)
    took = time.monotonic() - begun
    if standby.ask("SELECT count(*) FROM goal_view WHERE title = 'a goal'")[0][0] < "2":
        raise Broken("the goal is not at the new primary")
    daemon.stop()
    return f"after {took:.1f} s"


def acknowledged(daemon):
    try:
        return goal_make(daemon, "for the new one", 3)[0] == 200
    except Unreachable:
        return False


@test
def two_nodes_that_take_writes():
    """The old primary, first in the URL, waits for a standby that is now the new primary: it accepts everything and commits nothing. The daemons find
    the new primary."""
    folder = folder_make("nodes-two")
    primary, standby = pair_make(folder)
    daemons = [Daemon(folder, url(primary, standby), name, options=["--lease", "2"]) for name in ("stays", "comes")]
    daemons[0].start()
    daemons[0].wait_joined()
    goal_make(daemons[0])
    primary.configure("synchronous_standby_names = 'two'")
    primary.reload()
    wait_until("the primary waits for its standby", lambda: primary.ask("SELECT sync_state FROM pg_stat_replication") == [["sync"]], 10)
    standby.promote()
    begun = time.monotonic()
    wait_until("the daemon finds the new primary", lambda: acknowledged(daemons[0]), 20, 0.1, bound=True)
    took = time.monotonic() - begun
    daemons[1].start()
    daemons[1].wait_joined()
    wait_until("a daemon that starts finds it", lambda: acknowledged(daemons[1]), 5, 0.1)
    if standby.ask("SELECT count(*) FROM goal_view WHERE title = 'for the new one'")[0][0] < "2":
        raise Broken("the goals are not at the new primary")
    for daemon in daemons:
        daemon.stop()
    return f"after {took:.1f} s"


@test
def a_node_whose_lock_is_held():
    """The old primary answers, but all its tables stay locked. Another node accepts writes on a later timeline, and the daemon finds it."""
    folder = folder_make("nodes-locked")
    primary, standby = pair_make(folder)
    daemon = Daemon(folder, url(primary, standby), "host", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()
    goal_make(daemon)
    wait_until("the standby has it", lambda: primary.ask("SELECT pg_current_wal_lsn() = replay_lsn FROM pg_stat_replication") == [["t"]], 10)
    standby.promote()
    tables = ", ".join(name for [name] in primary.ask("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"))
    holder = primary.session(f"BEGIN; LOCK TABLE {tables}")
    wait_until("the lock is held", lambda: primary.ask("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted")[0][0] != "0", 10)
    begun = time.monotonic()
    wait_until("the daemon finds the new primary", lambda: acknowledged(daemon), 20, 0.1, bound=True)
    took = time.monotonic() - begun
    if standby.ask("SELECT count(*) FROM goal_view WHERE title = 'for the new one'")[0][0] < "1":
        raise Broken("the goal is not at the new primary")
    daemon.stop()
    holder.communicate()
    return f"after {took:.1f} s"


@test
def commits_that_wait_for_no_standby():
    """`status` and `doctor` warn if and only if a failover can lose commits. The role has no privileges on the server."""
    folder = folder_make("nodes-warns")
    primary = Server(folder, "one").create()
    primary.ask("CREATE ROLE plain LOGIN")
    primary.ask("CREATE DATABASE plain OWNER plain")
    store = url(primary, database="plain").replace("user=overseer", "user=plain")
    daemon = Daemon(folder, store, "host", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()

    def said(*words):
        done = subprocess.run([OVERSEER, "--socket", daemon.socket, *words, "--json"], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "HOME": str(folder), "OVERSEER_CONFIG": "/dev/null"})
        return json.loads(done.stdout)

    def warns(expected, when):
        status = said("status").get("storeWarning", "")
        [check] = [one for one in said("doctor")["checks"] if one["check"] == "replication"]
        if ("synchronous_standby_names" in status) != expected or (check["verdict"] == "look") != expected:
            raise Broken(f"{when}: {status!r}, {check}")
    warns(False, "one server")
    standby = Server(folder, "two").copy_of(primary)
    wait_until("the standby streams", lambda: primary.standbys() == 1, 15)
    warns(True, "a standby that no commit waits for")
    primary.configure("synchronous_standby_names = 'two'")
    primary.reload()
    warns(False, "a standby that commits wait for")
    daemon.stop()
    primary.configure("synchronous_standby_names = ''")
    primary.reload()
    standby.stop()
    daemon = Daemon(folder, store.replace(str(primary.folder), f"{primary.folder},{standby.folder}"), "two", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()
    warns(True, "two hosts in the URL, one of them away")
    daemon.stop()
    return "four cases"


def examples_of(path):
    """Returns the indented blocks of a document."""
    blocks, block = [], []
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith("    "):
            block.append(line[4:])
        elif block:
            blocks.append("\n".join(block))
            block = []
    return blocks


@test
def what_the_document_says():
    """The examples of docs/postgres.md work step by step as written; the test replaces only the names of the machines."""
    site = Site("nodes-document")
    os.chmod(site.folder, 0o755)
    nodes = {name: Server(site.folder, name) for name in ("db1", "db2", "db3")}
    for node in nodes.values():
        node.user = "postgres"
    first = nodes["db1"].create()
    access = first.data / "pg_hba.conf"  # the role needs its password
    run("sh", "-c", f"{{ echo 'local all overseer scram-sha-256'; cat '{access}'; }} > '{access}.new' && mv '{access}.new' '{access}'")
    first.reload()
    for name in ("db2", "db3"):
        nodes[name].copy_of(first)
    wait_until("the standbys stream", lambda: first.standbys() == 2, 15)
    password = site.folder / ".pgpass"
    commands, sections = [], []
    for example in examples_of(TOP / "docs" / "postgres.md"):
        placed = re.sub(r"\bdb[123]\b", lambda found: str(nodes[found.group()].folder), example)
        if example.startswith(("CREATE ", "ALTER ")):
            for statement in example.splitlines():
                first.ask(statement, "postgres")
        elif example.startswith("*:"):
            password.write_text(example + "\n")
            password.chmod(0o600)
        elif example.startswith("overseer "):
            commands.append(placed)
        elif example.startswith("[databases]\n"):
            sections.append(placed.partition("\n")[2])
        else:
            raise Broken(f"an example that is not tried: {example}")
    users = site.folder / "users"
    users.write_text('"overseer" "change-me"\n')
    pooler = Pooler(site.folder, "pool", first, databases="\n".join(sections), access=f"auth_type = scram-sha-256\nauth_file = {users}").start()
    pooled = [re.sub("host=[^&]*", f"host={pooler.folder}", command) for command in commands]
    for command in commands + pooled:
        site.well(command)
        site.well("overseer", "goal", "create", "as in the document")
        [check] = [one for one in site.json("overseer", "doctor")["checks"] if one["check"] == "replication"]
        if check["verdict"] != "good" or "failover" not in check["text"]:
            raise Broken(f"{command}: {check}")
        site.well("overseer", "down")
    made = first.ask("SELECT count(*) FROM goal_view WHERE title = 'as in the document'", "overseer")[0][0]
    if not commands or not sections or int(made) != len(commands + pooled):
        raise Broken(f"{len(commands)} commands, {len(sections)} sections, {made} goals")
    pooler.stop()
    for node in nodes.values():
        node.stop("immediate")
    return f"{made} daemons"


class Silent:
    """A server that accepts connections, serves `statements` statements of each session, and then sends nothing more."""

    def __init__(self, folder, name, target, statements):
        self.folder, self.target, self.statements, self.waited = folder / name, target, statements, []
        self.folder.mkdir()
        os.chmod(self.folder, 0o755)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / ".s.PGSQL.5432"))
        os.chmod(self.folder / ".s.PGSQL.5432", 0o777)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            here, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(here,), daemon=True).start()

    def serve(self, here):
        begun = time.monotonic()
        if self.statements is None:  # it does not even answer the first message
            while here.recv(65536):
                pass
            self.waited.append(time.monotonic() - begun)
            return
        there = socket.socket(socket.AF_UNIX)
        there.connect(str(self.target.folder / ".s.PGSQL.5432"))
        threading.Thread(target=self.back, args=(there, here), daemon=True).start()
        left, data, first = self.statements, b"", True
        while more := here.recv(65536):
            data += more
            while True:
                head = 4 if first else 5
                if len(data) < head:
                    break
                size = struct.unpack(">I", data[head - 4:head])[0] + head - 4
                if len(data) < size:
                    break
                kind = b"" if first else data[:1]
                first = False
                if kind in (b"Q", b"P"):
                    left -= 1
                if left >= 0:
                    there.sendall(data[:size])
                data = data[size:]
        there.close()

    @staticmethod
    def back(there, here):
        try:
            while data := there.recv(65536):
                here.sendall(data)
        except OSError:
            pass


@test
def silent_servers_are_given_up():
    """If a server stops answering after the Nth statement of a session, the daemon logs that in time, for every N."""
    folder = folder_make("nodes-silent")
    server = Server(folder, "one").create()
    daemon = Daemon(folder, url(server), "makes", options=["--lease", "2"])
    daemon.start()  # creates the tables
    daemon.wait_joined()
    daemon.stop()
    counts = [0, 1, 2, 3, 4] + ([20, 60] if FULL else [])  # a daemon reaches the later ones after several tries at its start
    daemons = []
    for count in counts:
        daemons.append(Daemon(folder, url(Silent(folder, f"silent{count}", server, count)), f"host{count}", options=["--lease", "2"]))
        daemons[-1].start()
    begun, late = time.monotonic(), []
    for count, daemon in zip(counts, daemons):
        try:
            wait_until(f"after {count} statements", lambda d=daemon: "answer" in d.log.read_text(), max(0.1, (90 if FULL else 45) - (time.monotonic() - begun)))
        except Broken as error:
            late.append(str(error))
    for daemon in daemons:
        daemon.process.kill()
    if late:
        raise Broken("; ".join(late))
    return f"{len(counts)} places"


@test
def connect_timeout_of_the_url():
    folder = folder_make("nodes-timeout")
    silent = Silent(folder, "silent", None, None)
    daemons = [Daemon(folder, url(silent, connect_timeout=6), "six", options=["--lease", "2"])]
    daemons[0].start()
    wait_until("the first try is over", lambda: silent.waited, 12, 0.05)
    daemons[0].process.kill()
    if not 5 <= silent.waited[0] <= 8:
        raise Broken(f"connect_timeout=6 was given up after {silent.waited[0]:.1f} s")
    return f"{silent.waited[0]:.1f} s"


@test
def reads_after_a_failover():
    """If all connections are lost while the daemon is idle, the daemon answers the first read after that."""
    folder = folder_make("nodes-reads")
    server = Server(folder, "one").create()
    daemon = Daemon(folder, url(server), "host", options=["--lease", "30"])
    daemon.start()
    daemon.wait_joined()
    status, made, error = goal_make(daemon)
    if status != 200:
        raise Broken(f"{status} {error}")
    client = Client(daemon.socket)
    for i in range(4):
        client.call("goal.list", {})
        server.stop("immediate")
        server.start()
        for method, params in (("goal.list", {}), ("goal.show", {"goal": made["goalId"]}), ("status.show", {})):
            status, _, error = client.call(method, params)
            if status != 200:
                raise Broken(f"restart {i + 1}, {method}: {status} {error}")
    client.close()
    daemon.stop()
    return "4 restarts, 12 reads"


@test
def depositions_say_what_happened():
    folder = folder_make("nodes-deposed")
    server = Server(folder, "one").create()
    daemons = [Daemon(folder, url(server), f"host{i}", options=["--host", str(i), "--lease", "2"]) for i in (1, 2)]
    for daemon in daemons:
        daemon.start()
        daemon.wait_joined()
    one = daemons[0]

    def told(text):
        wait_until(f"the log says: {text}", lambda: text in one.log.read_text(), 15)

    # 1. the daemon was stopped, and another host took over
    one.signal(signal.SIGSTOP)
    wait_until("it is taken over", lambda: server.ask("SELECT state FROM host WHERE host_id = 1") != [["0"]], 15, 0.1)
    one.signal(signal.SIGCONT)
    told("another host took over")
    one.wait_joined()
    # 2. another process joined under the daemon's number
    server.ask("UPDATE host SET epoch = epoch + 1, instance = instance + 1 WHERE host_id = 1")
    told("another process joined under the number of this host")
    one.wait_joined()
    # 3. the row of the store is older than what this host knows
    server.ask("UPDATE host SET epoch = 1, instance = 1 WHERE host_id = 1")
    told("was set back")
    one.wait_joined()
    count = one.log.read_text().count("another host took over")
    if count != 1:
        raise Broken(f"'another host took over' was said {count} times")
    for daemon in daemons:
        daemon.stop()
    return "three reasons"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = 0
    for function in TESTS:
        if options.only not in function.__name__:
            continue
        begun = time.monotonic()
        try:
            print(f"ok nodes: {function.__name__}: {function()} ({time.monotonic() - begun:.0f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED nodes: {function.__name__}: {error}", flush=True)
            if not isinstance(error, Broken):
                traceback.print_exc()
    if not failed and not options.only:
        proof.passed("e2e", "nodes", "STORE-04")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
