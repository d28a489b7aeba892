#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon applies settings as documented, and the whole fleet stops on request.

settings.py [--engine sqlite|postgres]: runs the real daemon and changes its settings file. Checks the recorded policies, stop and resume (on
two hosts with PostgreSQL), and what agents may not do.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
import traceback

import proof
from world import (Broken, Client, Daemon, OVERSEER, OVERSEERD, TOP, UnixConnection, folder_make, goal_text, store_make,
                   under_postgres, wait_until)

SYSTEM = bytes(15) + b"\1"
POLICY_CHANGED, STOPPED, RESUMED = 38, 39, 40
CHECKS = []


def check(rows):
    def add(function):
        CHECKS.append((function, rows))
        return function
    return add


class World:
    """A daemon with a settings file, and a second daemon if two hosts can share the store."""

    def __init__(self, engine):
        self.engine = engine
        self.folder = folder_make("settings")
        self.file = self.folder / "overseer.toml"
        self.write('[supervision]\ntick_every = "3m"\n')
        self.store = store_make(engine, self.folder, "settings")
        self.daemons = [self.daemon(n + 1) for n in range(1 if engine == "sqlite" else 2)]
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined()
        self.client = Client(self.daemons[0].socket)

    def daemon(self, host, *options):
        return Daemon(self.folder, self.store.uri, name=f"host{host}",
                      options=["--config", str(self.file), "--host", str(host), "--lease", "2", *options])

    def write(self, text):
        self.file.write_text(text)

    def ask(self, method, client=None, **params):
        _, result, error = (client or self.client).call(method, params)
        return result, error

    def do(self, method, **params):
        result, error = self.ask(method, **params)
        assert error is None, f"{method}: {error}"
        return result

    def value(self, name):
        rows = [row for row in self.do("config.show", name=name, origin=True)["settings"] if row["name"] == name]
        return rows[0]["value"], rows[0]["origin"], rows[0].get("line")

    def orders(self, kind=None):
        rows = self.store.read("record", f"goal_id = {self.store.id(SYSTEM)}")
        return [row for row in sorted(rows, key=lambda row: row["seq"]) if kind in (None, row["type"])]

    def policy_text(self, hash):
        where = f"goal_id = {self.store.id(SYSTEM)} AND hash = {self.store.bytes(hash)}"
        column = "body" if self.engine == "sqlite" else "encode(body, 'hex')"
        rows = self.store.run(f"SELECT {column} FROM text WHERE {where}")
        assert len(rows) == 1, rows
        return (rows[0][0] if self.engine == "sqlite" else bytes.fromhex(rows[0][0])).decode()

    def log(self):
        return self.daemons[0].log.read_text(errors="replace")

    def restart(self, daemon, hard=True):
        self.client.close()
        if hard:
            daemon.kill()
        else:
            daemon.stop()
        daemon.start()
        daemon.wait_joined()


@check("CONFIG-01 CONFIG-02 CONFIG-04")
def effective_settings(world):
    """config.show returns the effective settings and their origins over RPC."""
    shown = {row["name"]: row for row in world.do("config.show", origin=True)["settings"]}
    assert world.do("config.show")["file"] == str(world.file)
    expected = {"supervision.enabled": "false", "supervision.idle_after": '"15m"', "supervision.max_retries": "2",
                "supervision.min_resend_interval": '"5m"', "supervision.backoff.base": '"2m"',
                "supervision.backoff.max": '"30m"',
                "policy.allow_agents": '["main"]', "policy.allow_cross_agent": "false"}
    for name, value in expected.items():
        assert (shown[name]["value"], shown[name]["origin"]) == (value, "default"), shown[name]
    assert world.value("supervision.tick_every") == ('"3m"', "file", 2)
    assert world.value("fleet.lease")[:2] == ('"2s"', "flag")
    assert shown["storage.dir"]["value"] != '""'


@check("")
def policy_is_on_the_record(world):
    """Each host records a changed policy once, before its first decision, and does not record it again after a restart."""
    first = world.orders(POLICY_CHANGED)
    assert len(first) == len(world.daemons), first
    text = world.policy_text(first[0]["policy"])
    assert 'supervision.tick_every = "3m"\n' in text and "supervision.max_retries = 2\n" in text, text
    assert "fleet.lease" not in text
    goal = world.do("goal.create", title="decided under it")["goalId"]
    raw = [row for row in world.store.read("record") if goal_text(row["goal_id"]) == goal]
    assert raw and all(row["policy"] == first[0]["policy"] for row in raw)
    world.restart(world.daemons[0])
    time.sleep(0.5)
    assert len(world.orders(POLICY_CHANGED)) == len(first)


@check("CONFIG-14 CONFIG-13 TICK-27")
def reload_is_all_or_nothing(world):
    """G-28: a reload checks the whole file and then replaces the settings; settings that the daemon reads only at its start wait for a restart."""
    before = len(world.orders(POLICY_CHANGED))
    world.write('[supervision]\ntick_every = "4m"\nidle_aftr = "1m"\n')
    result, error = world.ask("config.reload")
    assert result is None and error["data"]["code"] == "E_INVALID", (result, error)
    assert f'{world.file}:3:1: unknown setting "idle_aftr"; did you mean "idle_after"?' in error["message"], error
    world.daemons[0].signal(signal.SIGHUP)
    wait_until("the log says so", lambda: world.log().count("the settings were not reloaded") >= 2, 5)
    assert world.value("supervision.tick_every")[0] == '"3m"'
    assert len(world.orders(POLICY_CHANGED)) == before
    world.write('[supervision]\ntick_every = "4m"\n[log]\nlevel = "debug"\n[retention]\nbodies = "9d"\n')
    changed = {row["name"]: row for row in world.do("config.reload")["changed"]}
    assert set(changed) == {"supervision.tick_every", "log.level", "retention.bodies"}, changed
    assert changed["supervision.tick_every"]["now"] and not changed["retention.bodies"]["now"]
    assert world.value("supervision.tick_every") == ('"4m"', "file", 2)
    assert world.value("retention.bodies")[:2] == ('"30d"', "default")
    wait_until("it is on the record", lambda: len(world.orders(POLICY_CHANGED)) == before + 1, 5)
    last = world.orders(POLICY_CHANGED)[-1]
    assert 'tick_every = "4m"' in world.policy_text(last["policy"])
    assert b"supervision.tick_every" in last["body"], last["body"]
    assert world.do("config.reload")["policy"] == last["policy"].hex()
    again = world.do("config.reload")["changed"]
    assert [row["name"] for row in again] == ["retention.bodies"], again
    goal = world.do("goal.create", title="decided under the new one")["goalId"]
    raw = [row for row in world.store.read("record") if goal_text(row["goal_id"]) == goal]
    assert all(row["policy"] == last["policy"] for row in raw)


@check("")
def one_reload_reads_once(world):
    """A reload reads the file once, before it is answered. What is written there afterwards, perhaps half, waits for the next reload."""
    read = "settings reloaded by"
    before = world.log().count(read)
    for _ in range(3):
        world.do("config.reload")
    time.sleep(1)
    assert world.log().count(read) == before + 3, world.log()[-2000:]


@check("")
def reload_by_signal(world):
    before = len(world.orders(POLICY_CHANGED))
    world.write('[supervision]\ntick_every = "5m"\n[plans]\napprove = true\n')
    world.daemons[0].signal(signal.SIGHUP)
    wait_until("it is on the record", lambda: len(world.orders(POLICY_CHANGED)) == before + 1, 5)
    assert world.value("plans.approve")[0] == "true"
    goal = world.do("goal.create", title="with a plan")["goalId"]
    world.write('[supervision]\ntick_every = "5m"\n')
    world.do("config.reload")
    wait_until("and back", lambda: len(world.orders(POLICY_CHANGED)) == before + 2, 5)
    assert goal
    for _ in range(20):  # a repeated reload neither loses nor leaks anything
        world.do("config.reload")
    assert len(world.orders(POLICY_CHANGED)) == before + 2


@check("")
def policy_has_no_secrets(world):
    """STORE-14: the recorded policy does not contain the secret of a command."""
    secret = "ghp_" + "Zk3TqB7xW9mR2vL5nC8dF1gH4jK6pS0uY3aE"

    def newest():
        last = world.orders(POLICY_CHANGED)[-1]
        return last, world.policy_text(last["policy"])
    before = len(world.orders(POLICY_CHANGED))  # a record of the previous check may still arrive
    world.write(f'[supervision]\ntick_every = "5m"\n[verify]\ncommand = "TOKEN={secret} make check"\n')
    world.do("config.reload")
    wait_until("it is on the record", lambda: "make check" in newest()[1], 5)
    last, text = newest()
    made = [row for row in world.orders(POLICY_CHANGED)[before:] if "make check" in world.policy_text(row["policy"])]
    assert len(made) == 1, f"it is on the record {len(made)} times"
    assert "make check" in text and secret not in text and secret.encode() not in last["body"], text
    assert secret not in world.log()
    world.write('[supervision]\ntick_every = "5m"\n')
    world.do("config.reload")
    wait_until("and back", lambda: "make check" not in newest()[1], 5)


@check("")
def fleet_stops_and_resumes(world):
    """fleet.stop stops every host, also across restarts, and the ledger records it once."""
    mark = world.folder / "done"
    before = len(world.orders())
    world.do("fleet.stop", reason="looking at the bill")
    assert len(world.orders()) == before + 1
    world.do("fleet.stop")
    assert [row["type"] for row in world.orders()[before:]] == [STOPPED]
    time.sleep(1.5)  # the other hosts learn of it within an eighth of the lease and one poll
    clients = [Client(daemon.socket) for daemon in world.daemons]
    goals = []
    for number, client in enumerate(clients):
        result, error = world.ask("goal.create", client, title=f"at {number}", command=f"echo x >> {mark}")
        assert not error, error
        goals.append(result["goalId"])
    time.sleep(2)
    assert not mark.exists(), "something was begun"
    for daemon in world.daemons:
        world.restart(daemon)
    time.sleep(3)
    assert not mark.exists(), "something was begun after a restart"
    stopped = world.do("status.show")["daemon"]["stopped"]
    assert stopped is True, stopped
    world.do("fleet.resume", reason="it is paid")
    wait_until("all of it is done", lambda: mark.exists() and len(mark.read_text().splitlines()) == len(goals), 15)
    time.sleep(1)
    assert len(mark.read_text().splitlines()) == len(goals), "something was done twice"
    since = [row["type"] for row in world.orders()[before:] if row["type"] != POLICY_CHANGED]
    assert since == [STOPPED, RESUMED], since
    assert b"looking at the bill" in world.orders()[before]["body"]


def as_role(world, role, **params):
    token = world.do("token.create", role=role, **params)["token"]

    def ask(method, **given):
        connection = UnixConnection(world.daemons[0].socket, 10)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given})
        connection.request("POST", "/rpc", body, {"Authorization": f"Bearer {token}"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer.get("error", {}).get("data", {}).get("code")
    return ask


@check("POLICY-09 POLICY-04 POLICY-05")
def agents_may_not(world):
    """A run may report and ask; it may not change settings, commands, tokens or the plan of its goal."""
    goal = world.do("goal.create", title="of an agent")["goalId"]
    plan = [{"id": "P1", "tier": "phase", "name": "one", "acceptanceCriteria": ["it can be seen"]}]
    run = as_role(world, "run", goal=goal, run="r1", actor="actor:agent:coder-1")
    reader = as_role(world, "reader")
    for method, params in (("config.reload", {}), ("config.show", {}), ("fleet.stop", {}), ("fleet.resume", {}),
                           ("goal.create", {"title": "x", "command": "true"}),
                           ("goal.update", {"goal": goal, "title": "mine"}), ("token.create", {"role": "human"})):
        assert run(method, **params) == "E_UNAUTHORIZED", method
    applied = run("plan.apply", goal=goal, nodes=plan)
    assert applied == "E_UNAUTHORIZED", applied
    assert run("goal.report", goal=goal, text="half") is None
    assert run("plan.review", goal=goal, reason="this needs another look") is None
    for method, params in (("config.reload", {}), ("fleet.stop", {}), ("plan.apply", {"goal": goal, "nodes": plan})):
        assert reader(method, **params) == "E_UNAUTHORIZED", method
    assert reader("config.show") == "E_UNAUTHORIZED"  # the address of a store may contain a password
    overseer = as_role(world, "overseer")
    assert overseer("config.reload") == "E_UNAUTHORIZED"
    assert overseer("fleet.stop") is None and overseer("fleet.resume") is None


BOUNDS = """
[supervision]
enabled = true
[escalation]
desktop = false
[caps]
at_once = 2
[[agents]]
id = "coder"
team = "web"
driver = "pretend"
behaviour = "silent"
reserve = "$1.50"
[[budgets]]
scope = "team/web"
most = "$400"
window = "1d"
[[budgets]]
scope = "fleet"
most = "3 starts"
"""


def admission_of(world):
    shown = world.do("desk.show")
    return shown["runningCount"], shown["waitingCount"]


@check("")
def bounds_hold(world):
    """Admission starts as many agents as allowed and lets the others wait; reserved budget survives a crash, and a cancelled goal returns it."""
    world.write(BOUNDS)
    world.do("config.reload")
    goal = world.do("goal.create", title="four pieces of work")["goalId"]
    nodes = [{"id": "P1", "tier": "phase", "name": "one", "acceptanceCriteria": ["it can be seen"]}]
    nodes += [{"id": f"T{n}", "parentId": "P1", "tier": "task", "name": f"task {n}", "acceptanceCriteria": ["it works"]}
              for n in range(4)]
    world.do("plan.apply", goal=goal, nodes=nodes)
    wait_until("two of them work", lambda: admission_of(world) == (2, 2), 10)
    budgets = {row["scope"]: row for row in world.do("budget.show")["budgets"]}
    assert budgets["team/web"]["reserved"] == 3000000 and budgets["team/web"]["spent"] == 0, budgets
    assert budgets["fleet"]["spent"] == 2 and budgets["fleet"]["left"] == 1, budgets
    world.restart(world.daemons[0])
    wait_until("the desk is there again", lambda: admission_of(world) == (2, 2), 10)
    world.do("goal.cancel", goal=goal, reason="nobody wants it")
    wait_until("everything was given back", lambda: admission_of(world) == (0, 0), 10)
    budgets = {row["scope"]: row for row in world.do("budget.show")["budgets"]}
    assert budgets["team/web"]["reserved"] == 0 and budgets["fleet"]["spent"] == 2, budgets
    world.write('[supervision]\ntick_every = "5m"\n')
    world.do("config.reload")


@check("")
def flags_win(world):
    """A flag overrides the environment, and the environment overrides the file."""
    world.write('[supervision]\nmax_attempts = 4\nmax_restarts = 4\n[verify]\ncommand = "./file"\n')
    folder = folder_make("flags")
    store = f"sqlite:{folder}/flags.db"
    daemon = Daemon(folder, store, options=["--config", str(world.file), "--approve-plans", "--set", "verify.command=./flag",
                                            "--set", "supervision.max_attempts=5", "--set", "supervision.max_retries=7"],
                    environment={"OVERSEER_SUPERVISION_MAX_ATTEMPTS": "3", "OVERSEER_SUPERVISION_MAX_RESTARTS": "9"})
    daemon.start()
    daemon.wait_joined()
    client = Client(daemon.socket)
    shown = {row["name"]: (row["value"], row["origin"])
             for row in client.call("config.show", {"origin": True})[1]["settings"]}
    client.close()
    daemon.stop()
    assert shown["plans.approve"] == ("true", "flag")
    assert shown["verify.command"] == ('"./flag"', "flag")
    assert shown["supervision.max_attempts"] == ("5", "flag")
    assert shown["supervision.max_restarts"] == ("9", "environment")
    assert shown["supervision.max_retries"] == ("7", "flag")
    world.write('[supervision]\ntick_every = "5m"\n')


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30,
                          env={**os.environ, **environment})


@check("CONFIG-14")
def started_with_nonsense(world):
    """A daemon with wrong settings does not start, and reports every error with its file and line or its flag."""
    file = world.folder / "wrong.toml"
    file.write_text('[server]\nlisten = 7\n[supervison]\n')
    for words in (["--config", file], ["--config", world.folder / "none.toml"], ["--lease", "soon"],
                  ["--set", "server.lisen=x"], ["--act-within", "never"], ["--set", "auto.concurrency=3"], ["--redact", "[abc"]):
        done = run(OVERSEERD, "--store", f"sqlite:{world.folder}/no.db", "--socket", f"{world.folder}/no.sock", *words)
        assert done.returncode == 2, (words, done)
    done = run(OVERSEERD, "--config", file, "--lease", "soon")
    assert f'{file}:2:1: "server.listen" must be a quoted string' in done.stderr, done.stderr
    assert "unknown section [supervison]; did you mean [supervision]?" in done.stderr, done.stderr
    assert "--lease must be a duration" in done.stderr, done.stderr
    assert not (world.folder / "no.db").exists()


@check("CONFIG-14")
def checked_without_a_daemon(world):
    file = world.folder / "checked.toml"
    file.write_text('[supervision]\ntick_evry = "2m"\n')
    done = run(OVERSEER, "config", "check", file, OVERSEER_SOCKET="/nowhere.sock")
    assert done.returncode == 2 and done.stdout.strip() == \
        f'{file}:2:1: unknown setting "tick_evry"; did you mean "tick_every"?', done
    file.write_text('[supervision]\ntick_every = "2m"\n')
    assert run(OVERSEER, "config", "check", file).returncode == 0
    assert run(OVERSEER, "config", "check", TOP / "examples" / "overseer.toml").returncode == 0


@check("CONFIG-18 POLICY-10")
def manual_helps_to_choose(world):
    """The manual page overseer.toml.5 matches the table of settings and has the advice for choosing values."""
    made = run(OVERSEERD, "--man-settings")
    assert made.returncode == 0
    assert made.stdout == (TOP / "docs" / "man" / "overseer.toml.5").read_text(), "docs/man/overseer.toml.5 is old"
    text = " ".join(made.stdout.replace("\\fB", "").replace("\\fR", "").split())
    for words in ("errors are costly", "budget is small", "unattended", "in CI", "regulated work", "exploration",
                  "long tasks", "waste is tolerated", "person is watching", "quality may fluctuate",
                  "A broad list is a risk", "See CHOOSING", "See ALLOWING AGENTS"):
        assert words in text, words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    world, failed, passed = World(options.engine), 0, 0
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        name = f"{function.__name__} [{options.engine}]"
        try:
            function(world)
            proof.passed("e2e", name, rows)
            passed += 1
        except (Exception, Broken):  # run the other checks too
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc(limit=4)
    for daemon in world.daemons:
        daemon.stop()
        failed += bool(daemon.promises_broken())
    verify = run(OVERSEERD, "--maintain", "verify-log", "--store", world.store.uri)
    examine = run(OVERSEERD, "--maintain", "examine", "--store", world.store.uri)
    if verify.returncode or examine.returncode:
        failed += 1
        print(verify.stdout, verify.stderr, examine.stdout, examine.stderr)
    print(f"settings on {options.engine}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
