#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests when an agent that asks for permission gets its answer at once, and when a person is asked.

permission.py [--only NAME]: the daemon, real worktrees, an agent that is a program and speaks ACP.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from care import main, tree_of
from landing import BUILD
from lost import fixture_of

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def site(name, agent=None, **rows):
    return fixture_of(f"permission-{name}", agent=agent or {}, defaults={"skip_permissions": False}, people={"undo_for": "0s"}, **rows)


def begun(fixture):
    goal = fixture.goal()
    fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
    return goal, tree_of(fixture, goal)


def ask(tree):
    (tree / "ask").touch()
    (tree / "go").touch()


def answered_at_once(fixture, goal, tree, answer):
    ask(tree)
    fixture.wait("it has an answer", lambda: (tree / "answered").exists(), 10)
    assert f'"{answer}"' in (tree / "answered").read_text(), (tree / "answered").read_text()
    fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 30)
    assert not fixture.records(goal, "question.asked"), "a person was asked"


def person_answers(fixture, goal, tree):
    ask(tree)
    fixture.wait("a person is asked", lambda: fixture.do("inbox.list")["items"])
    [one] = fixture.do("inbox.list")["items"]
    assert "drop the table" in one["text"] and not (tree / "answered").exists(), one
    fixture.do("question.answer", goal=goal, question=one["questionId"], answer="b")
    fixture.wait("it has an answer", lambda: (tree / "answered").exists(), 10)
    assert '"n"' in (tree / "answered").read_text(), (tree / "answered").read_text()


def doctor_says(fixture, check="sandbox"):
    """Returns what `overseer doctor` says about this."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(fixture.folder), "OVERSEER_SOCKET": str(fixture.daemon.socket),
           "OVERSEER_CONFIG": str(fixture.folder / "overseer.toml")}
    out = subprocess.run([str(BUILD / "overseer"), "doctor", "--json"], env=env, capture_output=True, text=True, timeout=60, check=False).stdout
    return next(row["text"] for row in json.loads(out)["checks"] if row["check"] == check)


@check
def nothing_is_asked_in_the_sandbox():
    """By default a tool is allowed at once, inside the sandbox; with a list of tools, a tool without a name is denied at once."""
    for name, agent, answer in (("free", {}, "y"), ("model", {"network": "model"}, "y"), ("deny", {"deny": ["Bash"]}, "n"), ("tools", {"tools": ["Read"]}, "n")):
        fixture = site(name, agent)
        try:
            goal, tree = begun(fixture)
            answered_at_once(fixture, goal, tree, answer)
            assert doctor_says(fixture).startswith("runs are sandboxed by bwrap"), doctor_says(fixture)
            assert doctor_says(fixture, "starts") == "each starts in its sandbox: coder", doctor_says(fixture, "starts")
        finally:
            fixture.close()


@check
def without_a_sandbox_a_person_is_asked():
    """Without bubblewrap (sandbox.mode = off, or not installed), or with profile = ask (asks = true in older files), a person answers."""
    with tempfile.TemporaryDirectory() as tools:
        for tool in ("git", "sh", "env", "python3"):
            os.symlink(shutil.which(tool), f"{tools}/{tool}")
        for name, agent, rows in (("none", {}, {"sandbox": {"mode": "off"}}), ("landlock", {}, {"environment": {"PATH": tools}}),
                                  ("ask", {"profile": "ask"}, {}), ("older", {"asks": True}, {})):
            fixture = site(name, agent, **rows)
            try:
                person_answers(fixture, *begun(fixture))
                assert ("sandbox.mode = off" in doctor_says(fixture)) == (name == "none"), doctor_says(fixture)
            finally:
                fixture.close()


@check
def a_sandbox_that_is_gone_is_noticed():
    """The settings lose their sandbox while a worktree is set up: an agent that was to start without asking does not start."""
    fixture = site("gone", repo={"setup": "while [ ! -e release ]; do sleep 0.05; done"}, sandbox={"mode": "prefer"})
    try:
        goal = fixture.goal()
        fixture.wait("its worktree is there", lambda: tree_of(fixture, goal))
        tree, config = tree_of(fixture, goal), fixture.folder / "overseer.toml"
        time.sleep(1)
        assert 'mode = "prefer"' in config.read_text(), config.read_text()
        config.write_text(config.read_text().replace('mode = "prefer"', 'mode = "off"'))
        fixture.do("config.reload")
        (tree / "release").touch()
        fixture.wait("it is said why", lambda: "has no sandbox now" in json.dumps(fixture.do("goal.show", goal=goal)), 30)
        assert not (tree / "prompts").exists(), "it was started"
    finally:
        fixture.close()


def restarted_with(fixture, old, new):
    config = fixture.folder / "overseer.toml"
    fixture.daemon.kill()
    text = config.read_text()
    assert old in text, text
    config.write_text(text.replace(old, new))
    fixture.begin()


@check
def a_run_keeps_its_profile():
    """A run that began with one profile keeps it when the settings change and the daemon is started again."""
    free, asks = 'profile = "sandboxed"', 'profile = "ask"'
    for name, begin, then in (("was-free", free, asks), ("was-asking", asks, free)):
        fixture = site(name, {"profile": begin.split('"')[1]})
        try:
            goal, tree = begun(fixture)
            restarted_with(fixture, begin, then)
            if begin == free:
                answered_at_once(fixture, goal, tree, "y")
            else:
                person_answers(fixture, goal, tree)
        finally:
            fixture.close()


if __name__ == "__main__":
    sys.exit(main("permission", CHECKS))
