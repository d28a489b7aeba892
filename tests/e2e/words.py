#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon stores what agents report, explains it and replays it. Runs the real daemon with a pretend agent.

words.py [--engine sqlite|postgres] [--only WORD]
"""
import argparse
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import time
import traceback

import proof
from interfaces import AGENTS, Fixture, settle
from world import OVERSEER, STARTED, under_postgres, wait_until

SECRET = "ghp_" + hashlib.sha256(b"invented").hexdigest()[:36]
TWO = [{"id": "P1", "tier": "phase"}, {"id": "T1", "tier": "task", "parentId": "P1"}, {"id": "S1", "tier": "subtask", "parentId": "T1"},
       {"id": "S2", "tier": "subtask", "parentId": "T1"}, {"id": "T2", "tier": "task", "parentId": "P1"}]
NODES = [{**node, "name": node["id"], "objective": f"make {node['id']}", "acceptanceCriteria": ["it can be seen"]} for node in TWO]


def shows(fixture, what, rows):
    """Records that the preceding assertions prove these requirement clauses."""
    proof.passed("e2e", f"{what} [{fixture.store.engine}]", rows)


def begin(fixture, nodes=NODES, agents=AGENTS):
    """Creates a goal with three pieces of work and an agent for each."""
    goal = fixture.do("goal.create", title="tokens")["goalId"]
    settle(fixture, agents)
    fixture.do("plan.apply", goal=goal, nodes=nodes)
    wait_until("all of them were told", lambda: len([one for one in fixture.do("assignment.list", goal=goal)["assignments"]
                                                      if one["delivery"] == "accepted"]) == 3, 30)
    return goal


def assignment(fixture, goal, node):
    return next(one for one in fixture.do("assignment.list", goal=goal)["assignments"] if one["workNodeId"] == node)


def agent(fixture, goal, one=None):
    """Creates an agent token, bound to the assignment `one`; without it, bound only to the goal."""
    bound = {"assignment": one["assignmentId"]} if one else {}
    role = f"agent-{next(fixture.count)}"
    fixture.tokens[role] = fixture.do("token.create", role="run", actor=f"actor:agent:{role}", goal=goal, run=f"R_{role}", **bound)["token"]
    return role


def tool(fixture, role, name, **arguments):
    answer = fixture.mcp.send(role, "tools/call", {"name": name, "arguments": arguments}, fixture.mcp.session(role))[1]["result"]
    return answer["_meta"]["overseer/error"]["code"] if answer["isError"] else answer["structuredContent"]


def typed(fixture, *words):
    return subprocess.run([str(OVERSEER), *words, "--socket", str(fixture.daemon.socket)], capture_output=True, text=True, timeout=60, check=True,
                          stdin=subprocess.DEVNULL).stdout


def records(fixture, goal, kind):
    return [one for one in fixture.do("goal.show", goal=goal)["records"] if one["type"] == kind]


# ---- handoffs ----

def handoffs_stand_at_every_level(fixture):
    """CRYSTAL-01 to CRYSTAL-05: clients can add, show and list handoffs at every level of the plan."""
    goal = fixture.do("goal.create", title="handoffs")["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=NODES)
    said = {"summary": "tokens work", "currentState": "on a branch", "decisions": ["SHA-256: they are random"], "nextActions": ["mail", "tests", "docs"],
            "openQuestions": ["which relay?"], "knownBlockers": ["no password"], "filesTouched": ["a.c", "b.c"],
            "commandsRun": [f"curl -H 'Authorization: token {SECRET}' x"], "testsRun": ["make check: 412 passed"], "commits": ["3fa2"],
            "prs": ["PR 7"], "issues": ["issue 8"], "externalRefs": ["https://example.org/design"], "sessionKey": "agent:auto-1:1", "sessionId": "s-1"}
    for node in ("S1", "T1", "P1", None):
        fixture.do("handoff.add", goal=goal, **said, **({"node": node} if node else {}))
        kept = fixture.do("handoff.show", goal=goal)
        assert kept["workNodeId"] == (node or ""), kept
        for name, value in said.items():
            if name != "commandsRun":
                assert kept[name] == value, (name, kept[name])
        assert SECRET not in json.dumps(kept) and kept["commandsRun"][0].startswith("curl"), kept["commandsRun"]
    shows(fixture, "what a handoff says comes back", "CRYSTAL-02.a CRYSTAL-03.a")
    assert kept["nextActions"] == ["mail", "tests", "docs"], kept["nextActions"]
    shows(fixture, "next actions stay in order", "CRYSTAL-02.b")
    shows(fixture, "a token in a command is redacted", "CRYSTAL-03.b")
    listed = fixture.do("handoff.list", goal=goal)["handoffs"]
    assert [one["workNodeId"] for one in listed] == ["", "P1", "T1", "S1"], listed
    assert len(fixture.do("handoff.list", goal=goal, node="T1")["handoffs"]) == 1
    fixture.do("handoff.add", goal=goal, summary="x" * 20000)
    long = fixture.do("handoff.show", goal=goal)["summary"]
    assert len(long) <= 8192 and long.endswith("[cut]"), long[-20:]
    code, _ = fixture.interfaces[0].call(fixture.table["handoff.add"], {"goal": goal, "summary": "s", "node": "S9"})
    assert code == "E_NOT_FOUND", code


# ---- reports of an agent ----

def an_agent_says_how_it_goes(fixture):
    """UPDATE-03, UPDATE-05, UPDATE-09, UPDATE-10, UPDATE-11, CRYSTAL-07: an agent sends updates with the tool, for its own work only."""
    goal = begin(fixture)
    mine, other = assignment(fixture, goal, "S1"), assignment(fixture, goal, "S2")
    role = agent(fixture, goal, mine)
    assert "assignmentId" in fixture.do("token.list")["tokens"][-1]
    own = tool(fixture, role, "agent_status")
    assert own["assignmentId"] == mine["assignmentId"] and own["workNodeId"] == "S1" and own["runStatus"] == "running", own
    assert own["lastInstructionText"].startswith(f"Overseer gives you S1 of {goal}.") and "> make S1" in own["lastInstructionText"], own
    result = tool(fixture, role, "overseer_update", summary="half of it", next="the rest", commits=["3fa2", "77aa"], testsRun=["all: ok"])
    assert result["goalId"] == goal, result
    assert assignment(fixture, goal, "S1")["status"] == "active"
    kept = fixture.do("handoff.list", goal=goal, node="S1")["handoffs"]
    assert len(kept) == 1, kept
    shown = fixture.do("handoff.show", goal=goal, handoff=kept[0]["crystallizationId"])
    assert shown["commits"] == ["3fa2", "77aa"] and shown["testsRun"] == ["all: ok"] and shown["nextActions"] == ["the rest"], shown
    assert tool(fixture, role, "overseer_update", assignment=other["assignmentId"], status="done") == "E_UNAUTHORIZED"
    assert tool(fixture, role, "overseer_update", summary="s", sure=True) == "E_INVALID"
    assert tool(fixture, role, "overseer_update", summary="x" * 9000) == "E_INVALID"
    assert tool(fixture, role, "overseer_update") == "E_INVALID", "an update that says nothing"
    assert tool(fixture, role, "overseer_update", status="cancelled", summary="no such step")["goalId"] == goal
    assert records(fixture, goal, "update.refused"), "a status that is no legal step"
    assert assignment(fixture, goal, "S1")["status"] == "active"
    assert tool(fixture, role, "handoff_add", summary="where it stands", nextActions=["a", "b"])["goalId"] == goal
    assert fixture.do("handoff.show", goal=goal)["workNodeId"] == "S1"
    assert tool(fixture, role, "handoff_add", summary="another's", node="S2") == "E_UNAUTHORIZED"
    settle(fixture, "")


def an_update_of_nobody_is_held(fixture):
    """UPDATE-06: the daemon holds an update that does not name one of three open pieces of work."""
    goal = begin(fixture)
    role = agent(fixture, goal)
    before = fixture.do("assignment.list", goal=goal)["assignments"]
    assert tool(fixture, role, "overseer_update", status="done", summary="which?", commits=["1"])["goalId"] == goal
    assert len(records(fixture, goal, "update.held")) == 1
    assert [one["status"] for one in fixture.do("assignment.list", goal=goal)["assignments"]] == [one["status"] for one in before]
    assert tool(fixture, role, "agent_status", assignment=before[0]["assignmentId"]) == "E_UNAUTHORIZED"
    settle(fixture, "")


def a_completion_is_an_update(fixture):
    goal = begin(fixture)
    mine = assignment(fixture, goal, "T2")
    role = agent(fixture, goal, mine)
    assert tool(fixture, role, "report_completion", summary="all of it", commits=["3fa2"], testsRun=["all: ok"])["goalId"] == goal
    over = fixture.do("assignment.show", goal=goal, assignment=mine["assignmentId"])
    assert over["over"] and over["status"] == "done", over
    done = [one for one in records(fixture, goal, "work.done") if one["node"] == "T2"]
    assert len(done) == 1 and "unverified" in json.dumps(done), done
    task = [one for one in fixture.do("plan.show", goal=goal)["phases"][0]["tasks"] if one["id"] == "T2"][0]
    assert task["proof"] == "unverified" and task["landed"] is None, task
    fixture.do("work.done", goal=goal, node="S1", reason="I have seen it")
    fixture.do("work.cancel", goal=goal, node="S2", reason="not needed")
    wait_until("its agents are gone, and it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done", 30)
    assert fixture.do("goal.show", goal=goal)["proof"] == "unverified", "as much as the least of its parts"
    assert "is done, unverified" in typed(fixture, "goal", "show", goal)
    row = [one for one in fixture.do("status.show")["done"] if one["goalId"] == goal][0]
    assert row["proof"] == "unverified" and row["landed"] == "", row
    by_hand = fixture.do("goal.create", title="by hand")["goalId"]
    fixture.do("goal.complete", goal=by_hand, reason="it is there")
    assert [one["proof"] for one in fixture.do("status.show")["done"] if one["goalId"] == by_hand] == ["accepted"]
    assert "by you" in typed(fixture, "status")
    settle(fixture, "")


def a_report_of_the_end_is_kept(fixture):
    """REPORT-01, REPORT-06 to REPORT-08: assignment and plan tree show an agent's completion report; without a report they show null, not an error."""
    goal = begin(fixture)
    mine = assignment(fixture, goal, "T2")
    role = agent(fixture, goal, mine)
    said = {"status": "complete", "confidence": "medium", "summary": "tokens expire", "warnings": ["no test of the clock"],
            "artifacts": [{"path": "docs/token.md", "description": "how they expire"}, {"path": "token.c", "description": ""}]}
    assert tool(fixture, role, "report_completion", **{**said, "confidence": "certain"}) == "E_INVALID"
    assert tool(fixture, role, "report_completion", **{**said, "artifacts": [{"description": "of nothing"}]}) == "E_INVALID"
    shows(fixture, "words and artifacts that there are not are refused", "REPORT-01.a")
    assert tool(fixture, role, "report_completion", status="complete") == "E_INVALID", "a summary is wanted"
    shows(fixture, "a report without a summary is refused", "REPORT-01.b")
    assert fixture.do("assignment.show", goal=goal, assignment=mine["assignmentId"])["completionReport"] is None
    assert tool(fixture, role, "report_completion", **said)["goalId"] == goal
    kept = fixture.do("assignment.show", goal=goal, assignment=mine["assignmentId"])["completionReport"]
    assert all(kept[name] == value for name, value in said.items()) and kept["filesTouched"] == ["docs/token.md", "token.c"], kept
    assert "goalId" not in kept and "next" not in kept, kept
    tasks = {one["id"]: one for one in fixture.do("plan.show", goal=goal)["phases"][0]["tasks"]}
    assert (tasks["T2"]["completion"], tasks["T2"]["confidence"]) == ("complete", "medium"), tasks["T2"]
    assert (tasks["T1"]["completion"], tasks["T1"]["confidence"]) == (None, None), tasks["T1"]
    shown = typed(fixture, "plan", "show", goal)
    assert "complete, confidence medium" in shown, shown
    role = agent(fixture, goal, assignment(fixture, goal, "S1"))
    assert tool(fixture, role, "report_completion", summary="not yet", status="partial")["goalId"] == goal
    below = fixture.do("plan.show", goal=goal)["phases"][0]["tasks"][0]["subtasks"][0]
    assert below["completion"] == "partial" and below["confidence"] is None and below["status"] == "in_progress", below
    settle(fixture, "")


def progress_is_shown_and_bounded(fixture):
    """PROGRESS-01, PROGRESS-03, PROGRESS-05, PROGRESS-06: the daemon accepts one progress report in thirty seconds, and shows the latest in the tree."""
    goal = begin(fixture)
    mine = assignment(fixture, goal, "T2")
    role = agent(fixture, goal, mine)
    for wrong in ({"percentComplete": 40}, {"phase": "x", "percentComplete": 101}, {"phase": "x", "percentComplete": -1},
                  {"phase": "x", "level": "L9"}, {"phase": "x", "metrics": {"deep": {"er": 1}}}, {"phase": "x" * 128}):
        assert tool(fixture, role, "report_progress", **wrong) == "E_INVALID", wrong
    said = {"phase": "converting", "percentComplete": 40, "level": "L1_plan_update", "metrics": {"files": 12, "rate": 1.5, "of": "thirty"}}
    assert tool(fixture, role, "report_progress", **said)["goalId"] == goal
    assert tool(fixture, role, "report_progress", phase="too soon") == "E_LIMITED"
    kept = records(fixture, goal, "agent.progress")
    assert len(kept) == 1 and kept[0]["to"] == "40 %" and kept[0]["node"] == "T2", kept
    assert kept[0]["text"] == "converting (files=12, rate=1.5, of=thirty)", kept
    latest = fixture.do("assignment.show", goal=goal, assignment=mine["assignmentId"])["latestProgress"]
    assert latest["phase"] == "converting" and latest["percentComplete"] == 40 and latest["updatedAt"], latest
    task = [one for one in fixture.do("plan.show", goal=goal)["phases"][0]["tasks"] if one["id"] == "T2"][0]
    assert task["latestProgress"] == latest, task
    shown = typed(fixture, "plan", "show", goal)
    assert "40%: converting" in shown, shown
    assert assignment(fixture, goal, "T2")["status"] == "active", "who says how far it is lives"
    assert tool(fixture, agent(fixture, goal), "report_progress", phase="of nobody's work") == "E_NOT_FOUND"
    settle(fixture, "")


class Held:
    """Another connection holds a lock that every write to the store needs."""

    def __init__(self, store):
        self.store = store

    def __enter__(self):
        self.connection = self.store.connect()
        if self.store.engine == "sqlite":
            self.connection.execute("BEGIN IMMEDIATE")
        else:
            self.connection.ask("BEGIN; LOCK TABLE goal IN EXCLUSIVE MODE")

    def __exit__(self, *_):
        self.connection.close()


def progress_never_waits(fixture):
    """PROGRESS-02: while the store hangs, an agent that reports progress continues at once; the ledger stores the report once when the store is back."""
    goal = begin(fixture)
    mine = [assignment(fixture, goal, node) for node in ("S1", "S2", "T2")]
    roles = [agent(fixture, goal, one) for one in mine]
    for role in roles:
        fixture.mcp.session(role)
    with Held(fixture.store):
        took, held = [], time.monotonic()
        for role in roles:
            begun = time.monotonic()
            said = tool(fixture, role, "report_progress", phase=f"of {role}")
            took.append(time.monotonic() - begun)
            assert not isinstance(said, str), (said, took)
            assert said["spooled"] and said["goalId"] == goal, said
        assert tool(fixture, roles[0], "report_progress", phase="too soon")["spooled"]
        while time.monotonic() < held + 10:  # the answers stay fast while the store hangs for longer
            time.sleep(0.5)
            begun = time.monotonic()
            assert tool(fixture, roles[0], "report_progress", phase="too soon")["spooled"]
            took.append(time.monotonic() - begun)
    assert statistics.median(took) < 0.1 and len(took) > 10, took
    wait_until("they are kept", lambda: len(records(fixture, goal, "agent.progress")) == 3, 30)
    time.sleep(1)
    assert sorted(one["text"] for one in records(fixture, goal, "agent.progress")) == sorted(f"of {role}" for role in roles)
    assert not list(fixture.folder.rglob("spool.refused")), "what came too soon is called lost"
    settle(fixture, "")


def a_question_that_is_not_there_is_refused(fixture):
    """ESCALATE-13: every verb refuses a question that does not exist, and a question id that several goals have."""
    table, goals = fixture.table, [fixture.do("goal.create", title="asked")["goalId"] for _ in range(2)]
    for goal in goals:
        fixture.do("question.ask", goal=goal, title="Which?", options=["one", "two"])
    name = "Q" + fixture.do("inbox.list")["items"][-1]["questionId"].split(".")[1]  # without its task
    for verb, more in (("answer", {"answer": "a"}), ("approve", {}), ("reject", {"reason": "no"}), ("ack", {}), ("snooze", {"until": "1h"}),
                       ("undo", {}), ("withdraw", {})):
        for question, codes in (("Q99", {"E_NOT_FOUND"}), (name, {"E_INVALID"})):
            code, _ = fixture.interfaces[0].call(table[f"question.{verb}"], {"question": question, **more})
            assert code in codes, (verb, question, code)
    for goal in goals:
        fixture.do("goal.cancel", goal=goal, reason="tried")


# ---- assignments ----

def an_assignment_is_shown_and_survives(fixture):
    """ASSIGN-02, ASSIGN-08, ASSIGN-10: an assignment has the same text and hash after a restart of the daemon."""
    goal = begin(fixture)
    before = {one["workNodeId"]: fixture.do("assignment.show", goal=goal, assignment=one["assignmentId"])
              for one in fixture.do("assignment.list", goal=goal)["assignments"]}
    assert set(before) == {"S1", "S2", "T2"}, "a phase, or a task with subtasks, is nobody's work"
    assert len({one["instructionHash"] for one in before.values()}) == 3
    for one in before.values():
        assert one["goalId"] == goal and one["agentId"] == "auto-1" and one["sessionKey"].startswith("agent:auto-1:"), one
        assert one["createdAt"] and one["updatedAt"] and one["lastDispatchAt"] and len(one["lastInstructionText"]) <= 12288, one
        assert one["recoveryPolicy"] == "nudge" and one["retryCount"] == 0, one
    restart(fixture)
    for node, one in before.items():
        again = fixture.do("assignment.show", goal=goal, assignment=one["assignmentId"])
        for name in ("instructionHash", "lastInstructionText", "createdAt", "lastDispatchAt", "sessionKey", "agentId", "workNodeId"):
            assert again[name] == one[name], (node, name, again[name], one[name])
    shows(fixture, "the same text has the same hash after a restart", "ASSIGN-08.a")
    settle(fixture, "")
    prose = {name: "é" * 4000 for name in ("objective", "expectedOutcome", "definitionOfDone")}  # 24 KB
    goal = begin(fixture, [{**one, **prose} if one["id"] == "S1" else one for one in NODES])
    long = fixture.do("assignment.show", goal=goal, assignment=assignment(fixture, goal, "S1")["assignmentId"])["lastInstructionText"]
    assert 4096 < len(long.encode()) <= 12288 and "> […]\n" in long, len(long.encode())
    shows(fixture, "a long instruction is cut at its cap", "ASSIGN-08.b STORE-12")
    settle(fixture, "")


def a_request_blocks_its_agent(fixture):
    """REQUEST-06, REQUEST-07: an open request blocks its agent until it is answered."""
    goal = begin(fixture)
    mine = assignment(fixture, goal, "S1")
    role = agent(fixture, goal, mine)
    seen = lambda: (lambda one: (one["runStatus"], one["pendingRequestCount"]))(assignment(fixture, goal, "S1"))
    assert seen() == ("running", 0), seen()
    asked = tool(fixture, role, "request_orchestrator", title="which relay?")
    assert isinstance(asked, dict), asked
    assert seen() == ("blocked", 1), seen()
    shows(fixture, "with an open request it is blocked", "REQUEST-07.a")
    waiting = fixture.do("request.list", goal=goal)["requests"]
    assert len(waiting) == 1, waiting
    fixture.do("request.respond", goal=goal, question=waiting[0]["questionId"], text="the staging one")
    wait_until("it goes on", lambda: seen() == ("running", 0), 45)
    shows(fixture, "with an answer it runs", "REQUEST-07.b")
    settle(fixture, "")


def restart(fixture):
    fixture.daemon.kill()
    STARTED[:] = [one for one in STARTED if one is not fixture.daemon.process]
    fixture.daemon.start()
    fixture.daemon.wait_joined()
    fixture.client.close()
    fixture.mcp.sessions.clear()


# ---- why, replay, what-if ----

def why_answers_from_the_log_alone(fixture):
    """EVENT-05: `why` explains an assignment and admission from the log."""
    goal = begin(fixture)
    mine = assignment(fixture, goal, "S1")
    fixture.do("agent.update", goal=goal, assignment=mine["assignmentId"], summary="half of it")
    why = fixture.do("why.show", of=mine["assignmentId"], goal=goal)
    assert why["assignment"] == mine["assignmentId"] and why["status"] == "active" and why["rule"] == "update.life", why
    kinds = {line["type"]: line["kind"] for line in why["lines"]}
    assert kinds["update.taken"] == "said" and kinds["assignment.dispatched"] == "acted", kinds
    assert all(line.get("assignment") == mine["assignmentId"] for line in why["lines"]), why["lines"]
    assert not any(line["type"].startswith("effect.") for line in why["lines"]), "what is inside is not told"
    site = fixture.do("why.show", of="desk")
    assert site["status"] == "open" and any(line["type"] == "permit.granted" for line in site["lines"]), site
    code, _ = fixture.interfaces[0].call(fixture.table["why.show"], {"of": "A_99", "goal": goal})
    assert code == "E_NOT_FOUND", code
    settle(fixture, "")


def four_questions_are_answered(fixture):
    """OBSERVE-05: the daemon shows why an assignment is stalled, what it last sent and whether the agent accepted it, when it may send again, and
    the agent's last activity."""
    goal = begin(fixture, agents=AGENTS.replace("enabled = true", 'enabled = true\nidle_after = "8s"\nturn_most = "8s"\nidle_in_tool = "8s"\ntick_every = "1s"'))
    mine = assignment(fixture, goal, "S1")["assignmentId"]
    fixture.do("agent.update", goal=goal, assignment=mine, summary="half of it", commits=["3fa2"])
    shown = lambda: fixture.do("assignment.show", goal=goal, assignment=mine)
    wait_until("it is nudged", lambda: shown()["retryCount"] >= 1 and shown()["delivery"] == "accepted", 45)
    one, why = shown(), fixture.do("why.show", of=mine, goal=goal, limit=200)
    lines = {line["type"]: line for line in why["lines"]}
    assert lines["assignment.stalled"]["rule"] == "agent.silent" and lines["assignment.stalled"]["what"], lines["assignment.stalled"]
    assert one["lastDispatchAt"] and one["delivery"] == "accepted" and "What changed" in one["lastInstructionText"], one
    assert one["backoffUntil"] > one["lastDispatchAt"], one
    assert one["lastObservedActivityAt"] < one["lastDispatchAt"] and lines["update.taken"]["kind"] == "said", one
    settle(fixture, "")


def what_was_decided_is_decided_again(fixture):
    """TICK-28, G-29: a replay repeats the same decisions, also after a kill and under three policies; another policy gives the expected differences."""
    goal = begin(fixture)
    mine = assignment(fixture, goal, "S1")
    fixture.do("agent.update", goal=goal, assignment=mine["assignmentId"], status="done", summary="all", commits=["3fa2"])
    settle(fixture, AGENTS.replace("enabled = true", 'enabled = true\nmax_retries = 3'))
    fixture.do("agent.update", goal=goal, assignment=assignment(fixture, goal, "S2")["assignmentId"], status="done", summary="done, believe me")
    restart(fixture)
    fixture.do("work.retry", node="S2", goal=goal, reason="once more")
    settle(fixture, "")
    fixture.do("goal.pause", goal=goal)
    seq = fixture.do("goal.show", goal=goal)["seq"]
    again = fixture.do("replay.run", goal=goal)
    assert again["verdict"] == "same" and again["differences"] == [] and again["records"] >= seq, again
    assert fixture.do("why.show", of="desk")
    other = fixture.do("replay.compare", goal=goal, set=["supervision.verify_by_person=true"])
    assert other["verdict"] == "same" and other["differenceCount"] >= 1, other
    first = other["differences"][0]
    assert first["signal"] == "agent.update" and any(line["type"] == "work.done" for line in first["decided"]), first
    assert any(line["type"] == "question.asked" for line in first["instead"]), first
    same = fixture.do("replay.compare", goal=goal, set=["supervision.idle_after=15m"])
    assert same["differenceCount"] == 0, same
    for wrong in ("supervision.bogus=1", "log.level=info", "supervision.idle_after", "supervision.idle_after=soon"):
        code, _ = fixture.interfaces[0].call(fixture.table["replay.compare"], {"goal": goal, "set": [wrong]})
        assert code == "E_INVALID", (wrong, code)


CHECKS = [
    (handoffs_stand_at_every_level, "CRYSTAL-01 CRYSTAL-05"),
    (an_agent_says_how_it_goes, "UPDATE-03 UPDATE-05 UPDATE-09 UPDATE-10 UPDATE-11 CRYSTAL-07 REQUEST-06"),
    (an_update_of_nobody_is_held, "UPDATE-06"),
    (a_completion_is_an_update, ""),
    (a_report_of_the_end_is_kept, "REPORT-06 REPORT-07 REPORT-08 TEST-13"),
    (progress_is_shown_and_bounded, "PROGRESS-01 PROGRESS-03 PROGRESS-05 PROGRESS-06 TEST-14"),
    (progress_never_waits, "PROGRESS-02"),
    (a_question_that_is_not_there_is_refused, ""),
    (an_assignment_is_shown_and_survives, "ASSIGN-02 ASSIGN-10"),
    (a_request_blocks_its_agent, "REQUEST-06"),
    (why_answers_from_the_log_alone, "EVENT-05"),
    (four_questions_are_answered, "OBSERVE-05"),
    (what_was_decided_is_decided_again, "TICK-28"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    fixture, failed, passed = Fixture(options.engine), 0, 0
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        try:
            function(fixture)
            passed += 1
            proof.passed("e2e", f"{function.__name__} [{options.engine}]", rows)
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=3)
    fixture.daemon.stop()
    shutil.rmtree(fixture.folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
