#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the names of goals and questions: T7 and Q7.3.

names.py [--only NAME]: the daemon on SQLite, and two daemons on one PostgreSQL.
"""
import json
import os
import subprocess
import sys
import threading

from care import main
from world import BUILD, OVERSEERD, Client, Daemon, Postgres, folder_make, under_postgres, wait_until

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Site:
    def __init__(self, name, store=None, options=()):
        self.folder = folder_make(f"names-{name}")
        self.store = store or f"sqlite:{self.folder}/store.db"
        self.daemon = Daemon(self.folder, self.store, options=options)
        self.begin()

    def begin(self):
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        assert error is None, (method, params, error)
        return result

    def refused(self, code, method, **params):
        _, _, error = self.client.call(method, params)
        assert error and code in json.dumps(error), (method, params, error)

    def goal(self, title="a task"):
        return self.do("goal.create", title=title)

    def overseer(self, *words, fails=False):
        done = subprocess.run([str(BUILD / "overseer"), "--socket", str(self.daemon.socket), *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "HOME": str(self.folder), "OVERSEER_CONFIG": "/dev/null"}, stdin=subprocess.DEVNULL)
        assert (done.returncode != 0) == fails, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def close(self):
        self.client.close()
        self.daemon.stop()


def number(made):
    return int(made["name"].removeprefix("T"))


@check
def several_terminals():
    """Forty goals from four clients at once are T1 to T40, each once; after a kill the next one is T41."""
    site = Site("terminals")
    try:
        names = []

        def ask():
            client = Client(site.daemon.socket)
            for _ in range(10):
                names.append(client.call("goal.create", {"title": "one of many"})[1]["name"])
            client.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(int(name[1:]) for name in names) == list(range(1, 41)), sorted(names)
        site.daemon.kill()
        site.begin()
        assert site.goal()["name"] == "T41"
        site.daemon.stop()
        site.begin()
        assert site.goal()["name"] == "T42"
        listed = {goal["name"] for goal in site.do("goal.list", limit=100)["goals"]}
        assert listed == {f"T{n}" for n in range(1, 43)}, listed
    finally:
        site.close()


@check
def a_repeated_request():
    """A request that is repeated with its key has the name that it had."""
    site = Site("repeated")
    try:
        first = site.do("goal.create", title="once", key="k1")
        assert site.goal()["name"] == "T2"
        assert site.do("goal.create", title="once", key="k1") == first and first["name"] == "T1", first
        assert site.goal()["name"] == "T3"
    finally:
        site.close()


@check
def every_command_takes_them():
    """Where a command takes an id it takes T2, in either case; a number that no goal has is not found."""
    site = Site("commands")
    try:
        made = [site.goal(f"task number {n}") for n in (1, 2)]
        for name in ("T2", "t2"):
            assert site.do("goal.show", goal=name)["goalId"] == made[1]["goalId"]
            why = site.do("why.show", of=name)
            assert why["goalId"] == made[1]["goalId"] and why["name"] == "T2", why
        assert "task number 2" in site.overseer("goal", "show", "T2")
        assert "T2" in site.overseer("why", "T2") and "T2" in site.overseer("goal", "list")
        site.overseer("goal", "pause", "T2", "--reason", "later")
        assert site.do("goal.show", goal="T2")["status"] == "paused" and site.do("goal.show", goal="T1")["status"] == "active"
        site.refused("E_NOT_FOUND", "goal.show", goal="T3")
        site.refused("E_NOT_FOUND", "why.show", of="T3")
        for wrong in ("T0", "T02", "T-1", "T1.1", "T99999999999999999999", "T1 "):
            site.refused("E_", "goal.show", goal=wrong)
        assert sorted(site.overseer("completion", "goals").split()) == ["T1", "T2"]
    finally:
        site.close()


@check
def questions_are_called_after_their_task():
    """Questions of two goals have two names; an answer by name reaches its question, and one for another goal none."""
    site = Site("questions")
    try:
        goals = [site.goal(f"task number {n}") for n in (1, 2)]
        for goal in goals:
            site.do("question.ask", goal=goal["goalId"], title="Shall it?", options=["yes", "no"])
        items = {item["goalId"]: item for item in site.do("inbox.list")["items"]}
        names = [items[goal["goalId"]]["questionId"] for goal in goals]
        assert names == ["Q1.0", "Q2.0"] and [items[goal["goalId"]]["name"] for goal in goals] == ["T1", "T2"], names
        assert any("Q2.0" in line and "--goal" not in line for line in items[goals[1]["goalId"]]["do"]), items
        assert "Q2.0" in site.overseer("inbox") and "Shall it?" in site.overseer("why", "Q2.0")
        site.refused("E_NOT_FOUND", "question.answer", question="Q1.0", goal="T2", answer="a")
        site.refused("E_NOT_FOUND", "question.answer", question="Q3.0", answer="a")
        site.refused("E_INVALID", "question.answer", question="Q0", answer="a")  # both have one
        site.overseer("answer", "Q2.0", "a")
        left = {item["questionId"]: item.get("answer") for item in site.do("inbox.list")["items"]}
        assert left.get("Q1.0", "missing") is None and left.get("Q2.0", "a") == "a", left
        site.do("question.answer", question="Q0", goal="T1", answer="a")
    finally:
        site.close()


@check
def a_restore_gives_no_name_again():
    """Names that were given after the backup are not given again after the restore, however often it is restored."""
    site = Site("restore")
    given = set()

    def give(count):
        for _ in range(count):
            made = number(site.goal())
            assert made not in given, made
            given.add(made)

    def maintain(*words):
        done = subprocess.run([str(OVERSEERD), "--maintain", *words, "--store", site.store], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "OVERSEER_CONFIG": "/dev/null"})
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    try:
        give(3)
        maintain("backup", str(site.folder / "backup"))
        give(20)
        for _ in range(2):
            site.daemon.stop()
            maintain("restore", str(site.folder / "backup"), "--replace")
            site.begin()
            give(5)
        assert min(given - set(range(1, 24))) > 1000, sorted(given)
    finally:
        site.close()


@check
def two_hosts_on_one_store():
    """Two hosts give numbers of their own; each name is found from either host."""
    server = Postgres("names")
    sites = [Site(f"host-{n}", server.uri, ["--host", str(n), "--lease", "3"]) for n in (1, 2)]
    try:
        made = [sites[n % 2].goal(f"task {n}") for n in range(50)]
        assert len({one["name"] for one in made}) == 50, [one["name"] for one in made]
        for n, one in enumerate(made):
            shown = wait_until("it is found", lambda: sites[(n + 1) % 2].do("goal.show", goal=one["name"]), 10)
            assert shown["goalId"] == one["goalId"], (shown, one)
    finally:
        for site in sites:
            site.close()


if __name__ == "__main__":
    under_postgres([os.path.abspath(__file__), *sys.argv[1:]])
    sys.exit(main("names", CHECKS))
