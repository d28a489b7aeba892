#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that no message from an agent or to it is lost when a hold dies, settings change, or both sides send at the same time.

lost.py [--only NAME]: the daemon, real worktrees, an agent that is a program and speaks ACP.
"""
import os
import signal
import sqlite3
import subprocess
import sys
import time

import proof
from care import git, fixture_make, main, state_of, tree_of
from world import BUILD

CHECKS = []

# The agent waits for the file `go`, asks for permission if the file `ask` exists, and reports that its work is done.
AGENT = """import json, os, re, sys, time
def say(**what): print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)
def words(text): say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
def wait(name):
    while not os.path.exists(name): time.sleep(0.05)
SLOW = 0
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "initialize":
        time.sleep(SLOW)
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    elif method == "session/new":
        say(id=asked["id"], result={"sessionId": "s1"})
    elif method in ("session/load", "session/set_mode"):
        say(id=asked["id"], result={})
    elif method == "session/prompt":
        told = asked["params"]["prompt"][0]["text"]
        goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
        open("prompts", "a").write(told + "\\n=====\\n")
        words("on it")
        wait("go")
        if os.path.exists("ask") and not os.path.exists("asked"):
            open("asked", "w").close()
            say(id=77, method="session/request_permission", params={"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": "drop the table"},
                "options": [{"optionId": "y", "name": "yes", "kind": "allow_once"}, {"optionId": "n", "name": "no", "kind": "reject_once"}]})
            answer = json.loads(sys.stdin.readline())
            while answer.get("id") != 77:
                if answer.get("method") and "id" in answer:
                    say(id=answer["id"], error={"code": -32601, "message": "no"})
                answer = json.loads(sys.stdin.readline())
            open("answered", "w").write(json.dumps(answer))
        open("made", "w").write("x")
        words("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
              "evidence": {"filesTouched": ["made"]}}}) + "\\n```\\n")
        say(id=asked["id"], result={"stopReason": "end_turn"})
        open("told", "a").write("x")
    elif "id" in asked and method:
        say(id=asked["id"], error={"code": -32601, "message": "no"})
"""


def check(function):
    CHECKS.append(function)
    return function


def fixture_of(name, slow=0, **rows):
    fixture = fixture_make(name, agent={"driver": "acp", "kind": "goose", **rows.pop("agent", {})}, **rows)
    fixture.program.write_text(AGENT.replace("SLOW = 0", f"SLOW = {slow}"))
    return fixture


def prompts(fixture):
    """Returns all prompts that the agent received, from the branch that landed."""
    [branch] = git(fixture.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()
    return git(fixture.repo, "show", f"{branch}:prompts")


def holds(fixture):
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[0]) for line in found if "overseer-hold" in line and str(fixture.folder) in line and "--dir" in line]


@check
def what_a_dead_hold_kept_is_read():
    """If daemon and hold die, as in a reboot, after the agent has reported done, the restarted daemon reads that report and does not start the work
    again."""
    fixture = fixture_of("unread")
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
        tree = tree_of(fixture, goal)
        fixture.daemon.kill()
        (tree / "go").touch()
        fixture.wait("it has ended its turn", lambda: (tree / "told").exists())
        time.sleep(0.3)
        for pid in holds(fixture):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.3)
        fixture.begin()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 30)
        assert prompts(fixture).count("=====") == 1, prompts(fixture)
        assert [one["to"] for one in fixture.records(goal, "update.taken")] == ["done"], fixture.records(goal, "update.taken")
        assert sum(one["to"] == "spawn" for one in fixture.records(goal, "effect.ended")) == 1
        fixture.wait("nothing of its run is left open", lambda: not list(state_of(fixture).glob("runs/*/run.json")), 20)
    finally:
        fixture.close()


@check
def who_left_the_settings_is_stopped():
    """If the daemon dies before the agent's first message and the agent's row is removed from the settings, the restarted daemon stops the agent."""
    fixture = fixture_of("gone", slow=600)
    try:
        goal = fixture.goal()
        fixture.wait("its hold stands", lambda: holds(fixture))
        fixture.wait("its run is known", lambda: list(state_of(fixture).glob("runs/*/run.json")))
        fixture.daemon.kill()
        config = fixture.folder / "overseer.toml"
        before = config.read_text()
        config.write_text(before.split("[[agents]]")[0])
        fixture.begin()
        fixture.wait("it is stopped", lambda: not holds(fixture), 30)
        assert fixture.do("goal.show", goal=goal)["status"] == "active"
        fixture.daemon.kill()
        config.write_text(before)
        fixture.begin()
    finally:
        fixture.close()


@check
def a_yes_comes_before_other_words():
    """If an agent asks for permission while a message for it waits, the daemon sends the answer at once, and the message afterwards."""
    fixture = fixture_of("yes", agent={"asks": True}, defaults={"skip_permissions": False}, people={"undo_for": "0s"})
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
        tree = tree_of(fixture, goal)
        fixture.do("mail.send", goal=goal, to="A_0", kind="instruction", subject="Use tabs, please.")
        time.sleep(1)
        (tree / "ask").touch()
        (tree / "go").touch()
        fixture.wait("somebody is asked", lambda: fixture.do("inbox.list")["items"])
        [one] = fixture.do("inbox.list")["items"]
        assert "drop the table" in one["text"], one
        fixture.do("question.answer", goal=goal, question=one["questionId"], answer="a")
        fixture.wait("it has its yes", lambda: (tree / "answered").exists(), 10)
        assert '"y"' in (tree / "answered").read_text(), (tree / "answered").read_text()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 30)
        assert prompts(fixture).count("Use tabs, please.") == 1, prompts(fixture)
    finally:
        fixture.close()


def rows_with(fixture, words):
    """Returns the tables that contain these words."""
    store = sqlite3.connect(f"file:{fixture.folder}/store.db?mode=ro", uri=True)
    try:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name for name in tables for row in store.execute(f"SELECT * FROM {name}")
                if any(words in (cell if isinstance(cell, bytes) else str(cell).encode()) for cell in row)}
    finally:
        store.close()


@check
def progress_goes_with_its_run():
    """An agent's progress text is only in the log after its run has ended, and nowhere after the goal was forgotten."""
    fixture = fixture_of("progress")
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
        fixture.do("agent.progress", goal=goal, assignment="A_0", phase="converting-all-of-it", percentComplete=40)
        assert len(rows_with(fixture, b"converting-all-of-it")) > 1, rows_with(fixture, b"converting-all-of-it")
        (tree_of(fixture, goal) / "go").touch()
        fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
        assert rows_with(fixture, b"converting-all-of-it") == {"record"}, rows_with(fixture, b"converting-all-of-it")
        fixture.client.close()
        fixture.daemon.stop()
        subprocess.run([BUILD / "overseerd", "--maintain", "forget", goal, "--store", f"sqlite:{fixture.folder}/store.db"], check=True,
                       capture_output=True, timeout=60)
        assert not rows_with(fixture, b"converting-all-of-it"), rows_with(fixture, b"converting-all-of-it")
        fixture.begin()
    finally:
        fixture.close()
    proof.passed("e2e", "lost.progress", "PROGRESS-08")


if __name__ == "__main__":
    sys.exit(main("lost", CHECKS))
