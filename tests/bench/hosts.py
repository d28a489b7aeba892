#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures several daemons on one PostgreSQL: the cost of forwarded reports, the cost of an idle host, and how much many hosts write.

  hosts.py [--hosts 2,4,8] [--count N] [--check [--least RATIO]]

One run measures for each number of hosts:
- reports that clients send to the host that owns the goals;
- reports that clients send to the other hosts, until the owner has applied the last one;
- reports to all hosts at once, each about its own goals, first with 64 connections in total, then with 64 connections for each host;
- an idle host for 30 s: its connections and its statements, as PostgreSQL counts them.
With two hosts the run also fills an inbox.
--check: fail if a figure misses its limit: forwarded RATIO (0.5) of local, 2 connections, 1.5 statements a second.
"""
import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/e2e")]
from world import BUILD, Broken, Client, Daemon, folder_make, store_make, under_postgres, wait_until  # noqa: E402

SENDER = BUILD / "tests/bench/bench-http"
CONNECTIONS, GOALS, IDLE, INBOX, UNCOUNTED = 64, 400, 30, 16384, 64
MISSED = []


def figure(name, value, unit, ratio=None, of=None):
    print(f"bench {name}: {value:g} {unit}" + (f", ratio {ratio:.2f} of {of}" if ratio is not None else ""), flush=True)


def limit(holds, text):
    if not holds:
        MISSED.append(text)
        print(f"missed: {text}", flush=True)


class Fleet:
    def __init__(self, count):
        self.folder = folder_make(f"hosts{count}")
        self.store = store_make("postgres", self.folder, f"hosts{count}")
        self.daemons = [Daemon(self.folder, self.store.uri, f"h{i + 1}", options=["--host", str(i + 1)]) for i in range(count)]
        for daemon in self.daemons:
            daemon.start()
        for daemon in self.daemons:
            daemon.wait_joined(60)
        self.ids = [self.goals_make(daemon) for daemon in self.daemons]

    def goals_make(self, daemon):
        client, ids = Client(daemon.socket), []
        for i in range(GOALS):
            status, result, error = client.call("goal.create", {"title": f"goal {i}"})
            if status != 200:
                raise Broken(f"{daemon.socket.stem}: {error}")
            ids.append(result["goalId"].removeprefix("goal_"))
        client.close()
        path = self.folder / f"{daemon.socket.stem}.ids"
        path.write_text("\n".join(ids) + "\n")
        return path

    def send(self, plan):
        """Runs all senders at once; plan: (daemon, ids, connections, count). Returns the seconds of the slowest and the number of refused reports."""
        runs = [subprocess.Popen([str(SENDER), "send", str(self.daemons[at].socket), str(ids), str(connections), str(count)],
                                 stdout=subprocess.PIPE, text=True) for at, ids, connections, count in plan]
        told = [(run.communicate(timeout=600)[0].split(), run.returncode) for run in runs]
        if any(code for _, code in told):
            raise Broken("a sender failed")
        return max(float(words[0]) for words, _ in told), sum(int(words[1]) for words, _ in told)

    def waiting(self):
        return int(self.store.run("SELECT count(*) FROM inbox")[0][0])

    def close(self):
        for daemon in self.daemons:
            daemon.process.terminate()
        for daemon in self.daemons:
            daemon.process.wait(60)


def seqs(fleet):
    return int(fleet.store.run("SELECT sum(seq) FROM goal")[0][0])


def forwarded_once(fleet, hosts, count):
    """(reports a second to the goals' own host, reports a second forwarded to it), one after the other. Every acknowledged report has to be on record."""
    local = count / fleet.send([(0, fleet.ids[0], CONNECTIONS, count)])[0]
    others = [(at, fleet.ids[0], max(1, CONNECTIONS // (hosts - 1)), count // (hosts - 1)) for at in range(1, hosts)]
    before, since = seqs(fleet), time.monotonic()
    _, refused = fleet.send(others)
    acknowledged = sum(one[3] for one in others) - refused
    wait_until("every forwarded report is applied", lambda: fleet.waiting() == 0, 120)
    rate = acknowledged / (time.monotonic() - since)
    applied = seqs(fleet) - before
    if applied != acknowledged:
        raise Broken(f"{acknowledged} reports were acknowledged, {applied} are on record")
    return local, rate


def local_and_forwarded(fleet, hosts, count, options):
    """The figure is the median of three rounds: on a busy machine the ratio of one round varies by half."""
    rounds = sorted((forwarded_once(fleet, hosts, count) for _ in range(3)), key=lambda one: one[1] / one[0])
    local, rate = rounds[1]
    figure(f"forwarded-{hosts}-hosts", round(rate), "reports/s", rate / local, "local ingest")
    if options.check:
        limit(rate / local >= options.least, f"forwarded reports with {hosts} hosts: {rate / local:.2f} of local ingest, wanted {options.least}")
    return local


def together(fleet, hosts, count, one):
    for each, name in ((CONNECTIONS // hosts, "shared"), (CONNECTIONS, "each")):
        seconds, _ = fleet.send([(at, fleet.ids[at], each, count // hosts) for at in range(hosts)])
        rate = count // hosts * hosts / seconds
        figure(f"hosts-{hosts}-{name}", round(rate), "reports/s", rate / one, "one host")


def idle(fleet, hosts, options):
    """Counts the statements that the idle daemons send, without the statement of this count itself, and the connections of the daemons."""
    count = ("SELECT (SELECT sum(calls) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database()),"
             " (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid())")
    fleet.store.run("CREATE EXTENSION pg_stat_statements")
    time.sleep(3)
    before = int(fleet.store.run(count)[0][0])
    time.sleep(IDLE)
    after, connections = map(int, fleet.store.run(count)[0])
    rate = (after - before - 1) / IDLE / hosts
    figure(f"idle-statements-{hosts}-hosts", round(rate, 2), "statements/s of a host")
    figure(f"idle-connections-{hosts}-hosts", connections / hosts, "connections of a host")
    if options.check:
        limit(rate <= 1.5, f"an idle host makes {rate:.2f} statements/s, wanted 1.5")
        limit(connections <= 2 * hosts, f"an idle host has {connections / hosts:.1f} connections, wanted 2")


def bounded(fleet):
    """Unreadable rows fill the inbox of the first host: the second host refuses reports for it, and accepts them after the rows are deleted."""
    fleet.store.run(f"INSERT INTO inbox SELECT gen_random_uuid(), 1, (SELECT goal_id FROM goal WHERE owner = 1 LIMIT 1), '\\x00'::bytea FROM generate_series(1, {INBOX})")
    _, refused = fleet.send([(1, fleet.ids[0], 8, 200)])
    if refused < 200 - UNCOUNTED:
        raise Broken(f"an inbox with {INBOX} rows took {200 - refused} of 200 more")
    _, refused = fleet.send([(1, fleet.ids[0], 8, 200)])
    if refused != 200:
        raise Broken(f"an inbox that was found full took {200 - refused} of 200 more")
    fleet.store.run("DELETE FROM inbox WHERE body = '\\x00'::bytea")
    _, refused = fleet.send([(1, fleet.ids[0], 8, 200)])
    if refused:
        raise Broken(f"{refused} of 200 were refused with room again")
    wait_until("they are applied", lambda: fleet.waiting() == 0, 30)
    print(f"ok hosts: a host with {INBOX} signals waiting is sent no more, and is sent them again when it has room", flush=True)


def main():
    os.environ.setdefault("PG_PRELOAD", "pg_stat_statements")
    under_postgres([os.path.abspath(__file__), *sys.argv[1:]])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default="2,4,8")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--least", type=float, default=0.5)
    options = parser.parse_args()
    for hosts in map(int, options.hosts.split(",")):
        fleet = Fleet(hosts)
        try:
            one = local_and_forwarded(fleet, hosts, options.count, options)
            together(fleet, hosts, options.count, one)
            idle(fleet, hosts, options)
            if hosts == 2:
                bounded(fleet)
        finally:
            fleet.close()
    print(f"hosts: {'missed: ' + '; '.join(MISSED) if MISSED else 'passed'}")
    return int(bool(MISSED))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        print(f"BROKEN hosts: {error}")
        sys.exit(1)
