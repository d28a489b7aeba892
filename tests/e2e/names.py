#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the names of goals and questions: T7 and Q7.3.

names.py [--only NAME]: the daemon on SQLite, and two daemons on one PostgreSQL.
"""
import json
import os
import sqlite3
import subprocess
import sys
import threading

from care import main
from world import BUILD, OVERSEERD, Client, Daemon, Postgres, UnixConnection, folder_make, under_postgres, wait_until

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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.daemon.stop()


def maintain(site, *words):
    done = subprocess.run([str(OVERSEERD), "--maintain", *words, "--store", site.store], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "OVERSEER_CONFIG": "/dev/null"})
    assert done.returncode == 0, (words, done.stdout, done.stderr)


def number(made):
    return int(made["name"].removeprefix("T"))


def at_once(site, count):
    """Creates that many goals from up to 16 clients at once."""
    made, left = [], iter(range(count))

    def ask():
        client = Client(site.daemon.socket)
        for _ in left:
            made.append(client.call("goal.create", {"title": "one of many"})[1])
        client.close()

    threads = [threading.Thread(target=ask) for _ in range(min(count, 16))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


@check
def several_terminals():
    """Forty goals from sixteen clients at once are T1 to T40, each once; after a kill the next one is T41."""
    with Site("terminals") as site:
        made = sorted(number(one) for one in at_once(site, 40))
        assert made == list(range(1, 41)), made
        site.daemon.kill()
        site.begin()
        assert site.goal()["name"] == "T41"
        site.daemon.stop()
        site.begin()
        assert site.goal()["name"] == "T42"
        listed = {goal["name"] for goal in site.do("goal.list", limit=100)["goals"]}
        assert listed == {f"T{n}" for n in range(1, 43)}, listed


@check
def a_repeated_request():
    """A request that is repeated with its key has the name that it had."""
    with Site("repeated") as site:
        first = site.do("goal.create", title="once", key="k1")
        assert site.goal()["name"] == "T2"
        assert site.do("goal.create", title="once", key="k1") == first and first["name"] == "T1", first
        assert site.goal()["name"] == "T3"


@check
def every_command_takes_them():
    """Where a command takes an id it takes T2, in either case; a number that no goal has is not found."""
    with Site("commands") as site:
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


@check
def questions_are_called_after_their_task():
    """Questions of two goals have two names; an answer by name reaches its question, and one for another goal none."""
    with Site("questions") as site:
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


@check
def a_run_names_its_own_goal():
    """A run may call its own goal by its name; any other name is refused alike, whether there is such a goal or not."""
    with Site("run") as site:
        for n in (1, 2):
            site.goal(f"task number {n}")
        token = site.do("token.create", role="run", goal="T1", run="r1", actor="coder")["token"]
        told = []
        for name in ("T1", "T2", "T99"):
            connection = UnixConnection(site.daemon.socket, 30)
            connection.request("POST", "/rpc", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "goal.show", "params": {"goal": name}}),
                               {"Authorization": f"Bearer {token}"})
            told.append(json.loads(connection.getresponse().read()))
            connection.close()
        assert told[0]["result"]["title"] == "task number 1", told[0]
        assert told[1] == told[2] and "only its own goal" in told[1]["error"]["message"], told[1:]


@check
def several_names_at_once():
    """A command with several names does the same to each, also when one of them fails; with --json it takes one."""
    with Site("several") as site:
        for n in (1, 2, 3):
            site.goal(f"task number {n}")
        told = site.overseer("goal", "pause", "T1", "T99", "t3", "--reason", "later", fails=True)
        assert "T99" in told and [site.do("goal.show", goal=f"T{n}")["status"] for n in (1, 2, 3)] == ["paused", "active", "paused"], told
        shown = site.overseer("goal", "show", "T1", "T2")
        assert shown.index("task number 1") < shown.index("task number 2"), shown
        for n in (1, 2):
            site.do("question.ask", goal=f"T{n}", title="Shall it?", options=["yes", "no"])
        site.overseer("answer", "Q1.0", "Q2.0", "a")
        assert [item.get("answer") for item in site.do("inbox.list")["items"]] in (["a", "a"], []), site.do("inbox.list")
        assert "one name" in site.overseer("goal", "show", "T1", "T2", "--json", fails=True)
        assert "Too many" in site.overseer("goal", "show", "T1", "S1.1", fails=True)
        made = site.overseer("goal", "create", "T7", "T8", fails=True)
        assert "Too many" in made and len(site.do("goal.list")["goals"]) == 3, made


def restores(site):
    given = set()

    def give(count):
        made = [number(one) for one in at_once(site, count)]
        assert len(set(made)) == count and not given & set(made), sorted(given & set(made))
        given.update(made)

    with site:
        give(3)
        maintain(site, "backup", str(site.folder / "backup"))
        give(20)
        for _ in range(2):
            site.daemon.stop()
            maintain(site, "restore", str(site.folder / "backup"), "--replace", "--lease", "3")
            site.begin()
            give(5)
        assert min(given - set(range(1, 24))) > 1000, sorted(given)
        give(1100)  # more than a restore leaves out
        site.daemon.stop()
        maintain(site, "restore", str(site.folder / "backup"), "--replace", "--lease", "3")
        site.begin()
        give(5)


@check
def a_restore_gives_no_name_again():
    """Names that were given after the backup are not given again after the restore, however often it is restored."""
    restores(Site("restore"))


@check
def a_restore_on_postgres_gives_no_name_again():
    """The same on PostgreSQL."""
    restores(Site("restore-postgres", Postgres("names-restore").uri, ["--lease", "3"]))


@check
def a_damaged_store_gives_no_name_again():
    """A store that is accepted as empty after damage, twice, begins above the names that the damaged one had given."""
    with Site("damaged") as site:
        path = site.folder / "store.db"
        names = [number(site.goal()) for _ in range(1100)]
        for _ in range(2):
            site.daemon.stop()
            whole = sqlite3.connect(path)
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            size, count = (whole.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_size", "page_count"))
            whole.close()
            with open(path, "r+b") as file:
                file.seek((count - 3) * size)
                file.write(bytes(range(256)) * (3 * size // 256))
            site.daemon.start()
            wait_until("it is in safe mode", lambda: site.daemon.health().get("ok") is False, 20)
            site.daemon.stop()
            maintain(site, "accept-empty")
            site.begin()
            made = number(site.goal())
            assert made > max(names), (made, max(names))
            names.append(made)


@check
def two_hosts_on_one_store():
    """Two hosts give numbers of their own; each name is found from either host."""
    server = Postgres("names")
    with (Site("host-1", server.uri, ["--host", "1", "--lease", "3"]) as one_site,
          Site("host-2", server.uri, ["--host", "2", "--lease", "3"]) as other_site):
        sites = one_site, other_site
        made = [sites[n % 2].goal(f"task {n}") for n in range(50)]
        assert len({one["name"] for one in made}) == 50, [one["name"] for one in made]
        for n, one in enumerate(made):
            shown = wait_until("it is found", lambda: sites[(n + 1) % 2].do("goal.show", goal=one["name"]), 10)
            assert shown["goalId"] == one["goalId"], (shown, one)


if __name__ == "__main__":
    under_postgres([os.path.abspath(__file__), *sys.argv[1:]])
    sys.exit(main("names", CHECKS))
