#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests batches: tasks of a file that the daemon starts, a limited number at once and until a time, whatever happens to the terminal and to itself.

batches.py [--only NAME]: the daemon, the command line, real git, an agent that is a program (driver command). Who is at work is read from files that
the agents leave, what landed from git.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

from care import fixture_make, git, main
from world import OVERSEER, Unreachable

CHECKS = []
MOST = 2

# Each agent leaves a file while it is at work, and works until the file `go` or one with its own title exists.
AGENT = r'''import json, os, re, sys, time
prompt = sys.stdin.read()
folder = os.path.dirname(os.path.abspath(__file__))
goal = re.search("goal_[0-9A-Z]{26}", prompt).group(0)
node = re.search(r'"workNodeId": *"(T[0-9]+)"', prompt).group(1)
open("work-" + node, "w").close()
while not any(os.path.exists(os.path.join(folder, name)) for name in ("go", "go-" + node)): time.sleep(0.02)
os.rename("work-" + node, "made-" + node)
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": node, "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["made-" + node]}}}) + "\n```")
'''


def check(function):
    CHECKS.append(function)
    return function


def site(name, **rows):
    fixture = fixture_make(f"batches-{name}", **{"landing": {"how": "branch"}, "verify": {"command": "ls made-*"}, "caps": {"at_once": 20}, **rows})
    fixture.program.write_text(AGENT)
    return fixture


def agents(fixture):
    """The tasks whose agents are at work."""
    trees = fixture.daemon.socket.with_suffix(".state").glob("work/worktrees/*/tree/work-*")
    return sorted({path.name.partition("-")[2] for path in trees})


def branches(fixture):
    return git(fixture.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/overseer").split()


def go(fixture, *nodes):
    for name in [f"go-{node}" for node in nodes] or ["go"]:
        (fixture.program.parent / name).touch()


def tasks_write(fixture, *titles):
    path = fixture.folder / "tonight.md"
    path.write_text("".join(f"- [ ] {title}\n" for title in titles))
    return path


def typed(fixture, *words, status=0):
    done = subprocess.run([OVERSEER, *map(str, words), "--socket", str(fixture.daemon.socket)], cwd=fixture.repo, capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + (done.stderr if status else "")


def run(fixture, *words):
    return json.loads(typed(fixture, "run", "-f", fixture.folder / "tonight.md", *words, "--json"))


def shown(fixture):
    return fixture.do("batch.show", name="tonight")


def states(fixture):
    return {task["title"]: task["state"] for task in shown(fixture)["tasks"]}


def all_done(fixture, count):
    fixture.wait("all are done", lambda: list(states(fixture).values()).count("done") == count, 60)


def no_more(fixture, most, seconds):
    """Watches that at most `most` agents are at work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert len(agents(fixture)) <= most, agents(fixture)
        time.sleep(0.02)


@check
def a_batch_outlives_terminal_and_daemon():
    """The command returns at once, with the names of all tasks; the daemon is killed right after, and twice more: every task is done, once, and never are
    more than two at work."""
    fixture = site("outlives")
    try:
        titles = [f"task number {i}" for i in range(6)]
        tasks_write(fixture, *titles)
        begun = time.monotonic()
        made = run(fixture, "-j", MOST)
        assert time.monotonic() - begun < 10 and [task["title"] for task in made["tasks"]] == titles, made
        assert len({task["task"] for task in made["tasks"]}) == 6 and made["batch"] == "tonight", made
        fixture.daemon.kill()
        fixture.begin()
        fixture.wait("two are at work", lambda: len(agents(fixture)) == MOST)
        no_more(fixture, MOST, 1.5)
        fixture.daemon.kill()
        fixture.begin()
        first = agents(fixture)
        go(fixture, *first)
        fixture.wait("two others are at work", lambda: len(agents(fixture)) == MOST and agents(fixture) != first, 40)
        go(fixture)
        all_done(fixture, 6)
        landed = branches(fixture)
        assert len(landed) == 6 and all(f"overseer/{task['task']}-task-number" in " ".join(landed) for task in made["tasks"]), landed
    finally:
        fixture.close()


@check
def it_is_changed_while_it_works():
    """More at once, more tasks from the same file, held and released, one task cancelled."""
    fixture = site("changed")
    try:
        tasks_write(fixture, *"abcdef")
        run(fixture, "-j", 1)
        fixture.wait("one is at work", lambda: len(agents(fixture)) == 1)
        no_more(fixture, 1, 1)
        typed(fixture, "batch", "hold", "tonight")
        typed(fixture, "batch", "change", "tonight", "--jobs", 3)
        no_more(fixture, 1, 1.5)
        assert shown(fixture)["state"] == "held" and shown(fixture)["waiting"] == 5, shown(fixture)
        typed(fixture, "batch", "release", "tonight")
        fixture.wait("three are at work", lambda: len(agents(fixture)) == 3)
        no_more(fixture, 3, 1)
        tasks_write(fixture, *"abcdefgh")
        again = run(fixture)
        assert [task["title"] for task in again["tasks"]] == ["g", "h"] and again["known"] == 6, again
        assert shown(fixture)["jobs"] == 3 and len(shown(fixture)["tasks"]) == 8, shown(fixture)
        typed(fixture, "cancel", again["tasks"][0]["task"], "--reason", "not tonight", "--yes")
        go(fixture)
        fixture.wait("all others are done", lambda: sorted(states(fixture).values()) == ["cancelled"] + ["done"] * 7, 60)
        assert len(branches(fixture)) == 7
    finally:
        fixture.close()


@check
def nothing_starts_after_its_end():
    """At the end no further task starts, those at work finish, also after a death of their agent; a later end goes on with the rest."""
    fixture = site("until")
    try:
        tasks_write(fixture, *"abc")
        fixture.do("batch.create", name="tonight", jobs=1, until="4s", tasks=[{"text": text} for text in "abc"])
        fixture.wait("one is at work", lambda: len(agents(fixture)) == 1)
        [first] = agents(fixture)
        fixture.wait("its time is over", lambda: shown(fixture)["state"] == "ended", 20)
        go(fixture, first)
        fixture.wait("it is done", lambda: list(states(fixture).values()).count("done") == 1, 30)
        no_more(fixture, 0, 3)
        assert shown(fixture)["waiting"] == 2, shown(fixture)
        fixture.daemon.kill()
        fixture.begin()
        no_more(fixture, 0, 2)
        go(fixture)
        typed(fixture, "batch", "change", "tonight", "--until", "1h")
        all_done(fixture, 3)
    finally:
        fixture.close()


@check
def what_has_begun_is_started_again_after_the_end():
    """An agent dies after the end of its batch: its task had been started, so it is started again."""
    fixture = site("dies", supervision={"restart_window": "1h"})
    try:
        fixture.do("batch.create", name="tonight", until="3s", tasks=[{"text": "a"}])
        fixture.wait("it is at work", lambda: agents(fixture))
        fixture.wait("its time is over", lambda: shown(fixture)["state"] == "ended", 20)
        pids = subprocess.run(["pgrep", "-f", str(fixture.program)], capture_output=True, text=True, check=True).stdout.split()
        for pid in pids:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        go(fixture)
        all_done(fixture, 1)
    finally:
        fixture.close()


@check
def a_request_that_is_repeated_adds_nothing():
    """The daemon is killed while batches are handed over, at random moments; the same request with its key leaves each task once."""
    fixture = site("repeated", supervision={"enabled": False})
    try:
        for trial in range(8):
            params = {"name": f"night-{trial}", "key": f"key-{trial}", "tasks": [{"text": f"{trial}.{i}"} for i in range(30)]}
            sender = subprocess.Popen([OVERSEER, "batch", "create", params["name"], "--key", params["key"], "--tasks", json.dumps(params["tasks"]),
                                       "--socket", str(fixture.daemon.socket)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.08))
            fixture.daemon.kill()
            sender.wait(30)
            fixture.begin()
            for _ in range(2):
                made = repeated(fixture, params)
                assert len(made["tasks"]) == 30, made
            tasks = fixture.do("batch.show", name=params["name"])["tasks"]
            assert sorted(task["title"] for task in tasks) == sorted(f"{trial}.{i}" for i in range(30)), len(tasks)
            assert [task["name"] for task in made["tasks"]] == sorted((task["name"] for task in tasks), key=lambda name: int(name[1:])), made
    finally:
        fixture.close()


def repeated(fixture, params):
    for _ in range(50):
        try:
            return fixture.do("batch.create", **params)
        except Unreachable:
            time.sleep(0.1)
    raise AssertionError("no answer")


@check
def what_cannot_be_is_refused():
    """Odd names, no such batch, a time in the past for a file, jobs for a single task, a batch without tasks, a run that asks."""
    fixture = site("refused")
    try:
        for name in ("", "a b", "a;b", "x" * 58, "é"):
            assert "E_INVALID" in typed(fixture, "batch", "create", name, "--tasks", '[{"text": "a"}]', "--json", status=2), name
        for verb in ("hold", "release", "show"):
            typed(fixture, "batch", verb, "nothing", status=3)
        typed(fixture, "batch", "change", "nothing", "--jobs", "3", status=3)
        tasks_write(fixture, "a")
        assert "for a file" in subprocess.run([OVERSEER, "run", "one", "-j", "3", "--socket", str(fixture.daemon.socket)], capture_output=True, text=True,
                                              check=False).stderr
        assert fixture.do("batch.list")["batches"] == []
        run(fixture, "--until", "23:59")
        [listed] = fixture.do("batch.list")["batches"]
        assert listed["batch"] == "tonight" and listed["jobs"] == 0 and listed["until"], listed
    finally:
        fixture.close()


if __name__ == "__main__":
    sys.exit(main("batches", CHECKS))
