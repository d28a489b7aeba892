#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do goals and plans behave as promised, as the real daemon's interface and its database show them?

goals.py [--engine sqlite|postgres] [--quick]: each check names the requirement rows that it proves. The test kills the daemon and
starts it again in between, so that everything that it compares afterwards has been stored.
"""
import argparse
import concurrent.futures
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import traceback
from pathlib import Path

import proof
from world import OVERSEER, Broken, Client, Daemon, folder_make, store_make, under_postgres, wait_until

CHECKS = []


def check(rows):
    def add(function):
        CHECKS.append((function, rows))
        return function
    return add


class Shop:
    """One daemon on one store, and a client of it."""

    def __init__(self, engine, options=()):
        self.engine = engine
        self.folder = folder_make("goals")
        self.store = store_make(engine, self.folder, "goals")
        self.daemon = Daemon(self.folder, self.store.uri, options=["--lease", "2", *options])
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def again(self):
        """Kills the daemon with SIGKILL and starts it again."""
        self.client.close()
        self.daemon.kill()
        self.daemon.start()
        self.daemon.wait_joined()

    def ask(self, method, **params):
        """(result, error code)."""
        _, result, error = self.client.call(method, params)
        return result, error and error["data"]["code"]

    def do(self, method, **params):
        result, error = self.ask(method, **params)
        assert error is None, f"{method}: {error} {params}"
        return result

    def refused(self, code, method, **params):
        result, error = self.ask(method, **params)
        assert error == code, f"{method} {params}: wanted {code}, got {error or result}"

    def goal(self, title="a goal", **params):
        return self.do("goal.create", title=title, **params)["goalId"]

    def show(self, goal):
        return self.do("goal.show", goal=goal)

    def records(self, goal, kind=None):
        found = list(reversed(self.show(goal)["records"]))
        return [one for one in found if kind in (None, one["type"])]

    def nodes(self, goal):
        """The nodes by id, in the order of the plan."""
        out = {}

        def walk(nodes):
            for node in nodes:
                out[node["id"]] = node
                walk(node.get("tasks", []) + node.get("subtasks", []))
        walk(self.do("plan.show", goal=goal)["phases"])
        return out

    def shows(self, what, rows):
        """Records that the expectations so far have held and prove these clauses of rows."""
        proof.passed("e2e", f"{what} [{self.engine}]", rows)

    def statuses(self, goal):
        return {name: node["status"] for name, node in self.nodes(goal).items()}


def node(name, tier, parent=None, needs=(), **more):
    out = {"id": name, "tier": tier, "name": f"the {tier} {name}", "acceptanceCriteria": [f"{name} can be seen"], **more}
    if parent:
        out["parentId"] = parent
    if needs:
        out["dependsOn"] = list(needs)
    return out


SMALL = [node("P1", "phase"), node("T1.1", "task", "P1"), node("S1.1.1", "subtask", "T1.1"),
         node("S1.1.2", "subtask", "T1.1"), node("S1.1.3", "subtask", "T1.1"), node("S1.1.4", "subtask", "T1.1")]


# ---- goals ----

def goals_made(shop, count):
    """Creates, cancels and archives goals, one after the other."""
    client, made = Client(shop.daemon.socket), []
    for i in range(count):
        _, result, error = client.call("goal.create", {"title": f"goal {i}"})
        assert error is None, error
        made.append(result["goalId"])
        for method in ("goal.cancel", "goal.archive"):
            _, _, error = client.call(method, {"goal": made[-1]})
            assert error is None, error
    client.close()
    return made


@check("")
def ids_are_never_used_twice(shop, quick):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        made = sum(pool.map(lambda _: goals_made(shop, 125), range(8)), [])
    assert len(set(made)) == 1000, f"{len(made) - len(set(made))} ids were handed out again"
    shop.shows("1,000 goals, each archived before the next, have 1,000 ids", "GOAL-01.a")
    columns = "goal_id, owner, fence, version, seq, head, due_at, open, aside, hot"
    before = shop.store.count("goal")
    try:
        shop.store.run(f"INSERT INTO goal ({columns}) SELECT {columns} FROM goal LIMIT 1")
        raise AssertionError("a second row with an id that there is was stored")
    except (sqlite3.IntegrityError, Broken) as error:
        assert "unique" in str(error).lower(), error
    assert shop.store.count("goal") == before
    shop.shows("a second row with one id is refused", "GOAL-01.b")
    first = shop.goal("with a key", key="once")
    shop.do("goal.cancel", goal=first)
    assert shop.goal("with a key", key="once") == first, "the same key names the same goal, also when it is over"
    assert shop.show(first)["status"] == "cancelled"


DEFINITION = {
    "problemStatement": "reading is slow", "successCriteria": ["twice as fast", "same results"], "nonGoals": ["a new format"],
    "sourceSessionKey": "agent:main:1", "originChannel": "chat", "originTo": "room-7", "originThread": "t-1",
    "originAccount": "team", "owner": "ann", "stakeholders": ["bob", "eve"], "repoContextSnapshot": "main at 1a2b3c",
    "constraints": ["no new dependency"], "assumptions": ["one machine"],
    "risks": [{"risk": "slower writes", "impact": "late nights", "mitigation": "measure both"}]}


@check("GOAL-02 GOAL-05 STORE-01 STORE-02")
def what_was_said_about_a_goal_survives(shop, quick):
    goal = shop.goal("read faster", priority="urgent", tags=["io", "größer"], **DEFINITION)
    before = shop.show(goal)
    shop.again()
    after = shop.show(goal)
    assert before == after, (before, after)
    for name, value in {**DEFINITION, "title": "read faster", "priority": "urgent", "status": "active"}.items():
        assert after[name] == value, (name, after[name])
    assert sorted(after["tags"]) == ["größer", "io"]
    assert after["createdAt"] and after["updatedAt"]
    shop.shows("constraints, assumptions and risks come back", "GOAL-09.a")
    count = len(shop.do("goal.list")["goals"])
    shop.refused("E_INVALID", "goal.create", title="x", risks=[{"risk": "a", "impact": "b"}])
    assert len(shop.do("goal.list")["goals"]) == count
    shop.shows("a risk without a mitigation is refused", "GOAL-09.b")


@check("GOAL-03 GOAL-04")
def only_known_words_are_taken(shop, quick):
    for value in ("low", "normal", "high", "urgent"):
        assert shop.show(shop.goal(priority=value))["priority"] == value
    goal = shop.goal(priority="high")
    before = shop.show(goal)
    shop.refused("E_INVALID", "goal.create", title="x", priority="highest")
    shop.refused("E_INVALID", "goal.update", goal=goal, priority="2")
    shop.refused("E_INVALID", "goal.update", goal=goal, status="done")
    shop.refused("E_INVALID", "goal.list", status="done")
    assert shop.show(goal) == before
    for status in ("active", "paused", "completed", "cancelled", "archived"):
        shop.do("goal.list", status=status)


@check("")
def a_snapshot_is_cut_at_its_cap(shop, quick):
    text = shop.show(shop.goal(repoContextSnapshot="größer " * 2000))["repoContextSnapshot"]
    assert text.endswith("[cut]"), text[-20:]
    shop.shows("a long snapshot ends in a marker", "GOAL-08.a")
    assert 4000 < len(text.encode()) <= 4096, len(text.encode())
    shop.shows("a long snapshot is stored at its cap", "GOAL-08.b")


@check("EVENT-08")
def a_goal_is_changed_without_touching_the_store(shop, quick):
    goal = shop.goal("one")
    steps = [("goal.update", {"title": "two", "priority": "low"}, "goal.updated"), ("goal.pause", {}, "goal.paused"),
             ("goal.resume", {}, "goal.resumed"), ("goal.complete", {"reason": "by hand"}, "goal.completed"),
             ("goal.reopen", {"reason": "not yet"}, "goal.reopened"), ("goal.cancel", {}, "goal.cancelled"),
             ("goal.archive", {}, "goal.archived")]
    for method, params, kind in steps:
        before = len(shop.records(goal))
        shop.do(method, goal=goal, **params)
        new = shop.records(goal)[before:]
        assert [one["type"] for one in new] == [kind], new
        assert new[0]["actor"].startswith("human:") and new[0]["by"] == "human", new
    assert [one["type"] for one in shop.records(goal)] == ["goal.created", *(kind for _, _, kind in steps)]
    shop.shows("each change of a goal is one event", "GOAL-12.b")
    shown = shop.show(goal)
    assert shown["title"] == "two" and shown["priority"] == "low" and shown["status"] == "archived"
    shop.refused("E_CONFLICT", "goal.resume", goal=goal)
    shop.refused("E_INVALID", "goal.complete", goal=shop.goal())


# ---- plans ----

@check("PLAN-03 STORE-02")
def a_plan_survives_as_it_was_given(shop, quick):
    goal = shop.goal()
    rich = dict(objective="why", expectedOutcome="what", definitionOfDone="when", suggestedAgentId="claude",
                suggestedAgentType="coder", requiredTools=["git", "make"], estimatedEffort="2h", riskLevel="med",
                scopePaths=["src/**"], toolsAllow=["Read"], toolsDeny=["Bash"])
    plan = [node("P1", "phase", **rich), node("T1.1", "task", "P1", **rich), node("T1.2", "task", "P1", ["T1.1"]),
            node("S1.1.1", "subtask", "T1.1", **rich)]
    shop.do("plan.apply", goal=goal, nodes=plan)
    before = shop.do("plan.show", goal=goal)
    shop.again()
    assert shop.do("plan.show", goal=goal) == before
    nodes = shop.nodes(goal)
    for given in plan:
        for name in ("name", "objective", "expectedOutcome"):
            assert nodes[given["id"]][name] == given.get(name, ""), (given["id"], name)
    shop.shows("every node has a name, an objective and an expected outcome", "PLAN-02.a PLAN-02.b")
    for name, value in rich.items():
        assert nodes["S1.1.1"][name] == value, name
    shop.shows("the hints of a node come back", "PLAN-05.a")
    assert nodes["S1.1.1"]["subtaskId"] == "S1.1.1" and nodes["T1.1"]["taskId"] == "T1.1" and nodes["P1"]["phaseId"] == "P1"
    assert nodes["S1.1.1"]["parentId"] == "T1.1" and nodes["P1"]["parentId"] is None
    assert nodes["T1.2"]["dependsOn"] == ["T1.1"] and nodes["T1.1"]["blocks"] == ["T1.2"]
    shop.shows("blocks is the mirror of dependsOn", "PLAN-04.b")
    shop.refused("E_INVALID", "plan.apply", goal=goal, nodes=[node("P1", "phase", riskLevel="huge")], version=1)
    shop.shows("a risk level that there is not is refused", "PLAN-05.b")
    shop.refused("E_INVALID_PLAN", "plan.apply", goal=goal, version=1, nodes=[node("P1", "phase", needs=["P9"])])
    shop.shows("a node that waits for an unknown one is refused", "PLAN-04.a")
    bare = {"id": "P1", "tier": "phase", "name": "no criteria"}
    result, error = shop.ask("plan.apply", goal=goal, version=1, nodes=[bare])
    assert error in ("E_INVALID", "E_INVALID_PLAN"), error
    assert shop.do("plan.show", goal=goal) == before


@check("PLAN-06 PLAN-07 PLAN-10 PLAN-11 PLAN-16 EVENT-04")
def the_last_subtask_finishes_task_phase_and_goal(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    for i in (1, 2, 3, 4):
        name = f"S1.1.{i}"
        shop.do("work.start", node=name, goal=goal)
        started = shop.nodes(goal)[name]
        assert started["startedAt"] and started["endedAt"] is None and started["status"] == "in_progress"
        shop.do("work.done", node=name, goal=goal, reason="seen")
        done = shop.nodes(goal)[name]
        assert done["startedAt"] == started["startedAt"] and done["endedAt"], done
        assert shop.nodes(goal)["T1.1"]["percent"] == i * 25
        assert shop.show(goal)["percent"] == i * 25
    shop.again()
    shown = shop.show(goal)
    assert set(shop.statuses(goal).values()) == {"done"} and shown["status"] == "completed"
    shop.shows("the last subtask completes the goal", "PLAN-12.a")
    assert shown["endedAt"] and len(shop.records(goal, "goal.completed")) == 1
    shop.shows("a completed goal has an end and one event", "PLAN-12.b")
    moves = [one for one in shop.records(goal) if one["type"].startswith("work.")]
    at = {name: "todo" for name in shop.statuses(goal)}
    for one in moves:  # the records alone give every status
        assert at[one["node"]] == one["from"], one
        at[one["node"]] = one["to"]
    assert at == shop.statuses(goal)


@check("PLAN-08 PLAN-09")
def an_override_says_who_and_why(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    shop.refused("E_INVALID", "work.done", node="T1.1", goal=goal)
    assert shop.statuses(goal)["T1.1"] == "queued" and not shop.records(goal, "work.done")
    shop.shows("an override without a reason is refused", "PLAN-14.b")
    shop.refused("E_CONFLICT", "work.start", node="T1.1", goal=goal)
    shop.do("work.done", node="T1.1", goal=goal, reason="good enough")
    one = shop.records(goal, "work.done")[0]
    assert one["reason"] == "good enough" and one["actor"].startswith("human:") and one["by"] == "human" and one["override"]
    shop.shows("an override says who and why", "PLAN-14.a")
    assert shop.statuses(goal)["T1.1"] == "done" and shop.show(goal)["status"] == "completed"
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    shop.do("work.cancel", node="S1.1.1", goal=goal)
    for method in ("work.start", "work.block", "work.unblock"):
        shop.refused("E_CONFLICT", method, node="S1.1.1", goal=goal, reason="x")
    shop.refused("E_CONFLICT", "work.override", node="S1.1.1", goal=goal, status="queued", reason="please")


@check("PLAN-17 PLAN-25 STORE-06")
def versions_have_no_gap(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    plan_id = shop.do("plan.show", goal=goal)["planId"]
    won, lost = [], []

    def edit(number):
        client = Client(shop.daemon.socket)
        while True:
            _, seen, _ = client.call("plan.show", {"goal": goal})
            rows = SMALL + [node(f"S2.{number}", "subtask", "T1.1")] + \
                [node(name, "subtask", "T1.1") for name in sorted(names(seen)) if name.startswith("S2.") and name != f"S2.{number}"]
            _, _, error = client.call("plan.apply", {"goal": goal, "nodes": rows, "version": seen["version"]})
            if not error:
                won.append(number)
                return
            assert error["data"]["code"] == "E_CONFLICT", error
            lost.append(number)

    def names(plan):
        out = set()
        for phase in plan["phases"]:
            for task in phase["tasks"]:
                out |= {one["id"] for one in task["subtasks"]}
        return out
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(edit, range(50)))
    plan = shop.do("plan.show", goal=goal)
    versions = [one["version"] for one in shop.do("plan.history", goal=goal)["planRevisionHistory"]]
    assert versions == list(range(1, 52)), versions
    assert plan["version"] == 51 and plan["planId"] == plan_id
    shop.shows("51 versions have one plan id", "PLAN-18.b")
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", plan_id), plan_id
    shop.shows("the id of a plan is a ULID", "PLAN-18.a")
    assert len(names(plan)) == 54, "no edit overwrote another"


@check("PLAN-19 PLAN-20 PLAN-22 PLAN-32")
def plan_events_say_everything(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL, traceId="trace-7")
    shop.do("plan.apply", goal=goal, version=1, reason="smaller",
            nodes=[one for one in SMALL if one["id"] != "S1.1.4"][:-1] + [node("S1.1.3", "subtask", "T1.1", objective="new")])
    shop.do("plan.review", goal=goal, reason="is this right?")
    shop.do("plan.reject", goal=goal)
    for name in ("S1.1.1", "S1.1.2", "S1.1.3"):
        shop.do("work.done", node=name, goal=goal, reason="seen")
    history = shop.do("plan.history", goal=goal)["planRevisionHistory"]
    assert [one["type"] for one in history] == ["plan.created", "plan.updated", "plan.review_needed", "plan.rejected",
                                                "plan.updated"], history
    for one in history:
        assert one["epic_id"] == goal and len(one["plan_id"]) == 26 and one["version"] >= 1
        assert one["source"] in ("human", "overseer", "agent")
    assert [one["reasonCode"] for one in history] == ["initial_create", "human_edit", "review", "review", "task_completed"]
    assert history[0]["traceId"] == "trace-7"
    assert history[1]["text"] == "added: ; removed: S1.1.4; changed: S1.1.3", history[1]
    assert history[1]["reason"] == "smaller"


CODES = ["initial_create", "replan", "guard_violation", "spawn", "task_completed", "human_edit", "review", "approval",
         "dependency_cancelled"]


@check("")
def reasons_of_plans_are_codes(shop, quick):
    """The source of a plan version is one of three, and its reason is a code; the manual of the API names each code."""
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    for code in ("replan", "guard_violation"):
        version = shop.show(goal)["planVersion"]
        shop.do("plan.apply", goal=goal, version=version, why=code, reason="another look", nodes=SMALL + [node(f"S2.{version}", "subtask", "T1.1")])
    shop.refused("E_INVALID", "plan.apply", goal=goal, version=3, why="because", nodes=SMALL)
    history = shop.do("plan.history", goal=goal)["planRevisionHistory"]
    assert [(one["source"], one["reasonCode"]) for one in history] == [
        ("human", "initial_create"), ("human", "replan"), ("human", "guard_violation")], history
    shop.shows("a plan has one of the codes, and no other", "PLAN-21.a")
    manual = (Path(__file__).resolve().parents[2] / "docs/man/overseer-api.7").read_text(encoding="utf-8")
    assert f"choice: none, {', '.join(CODES)}; " in manual
    shop.shows("the manual of the API names every code", "PLAN-21.b")


@check("PLAN-24 PLAN-26")
def a_draft_changes_nothing_and_a_bad_plan_says_why(shop, quick):
    goal = shop.goal()
    draft = shop.do("plan.apply", goal=goal, nodes=SMALL, mode="draft")
    assert draft["wouldBeVersion"] == 1 and "S1.1.4" in draft["change"]
    assert shop.show(goal)["planVersion"] == 0 and len(shop.records(goal)) == 1
    shop.shows("a draft stores nothing", "PLAN-27.a")
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    before = shop.show(goal)
    assert before["planVersion"] == 1 and len(shop.records(goal, "plan.created")) == 1
    shop.shows("apply raises the version", "PLAN-27.b")
    bad = {
        "two of one id": SMALL + [node("P1", "phase")],
        "a task without a phase": [node("T1", "task", "P9")],
        "a subtask on a phase": [node("P1", "phase"), node("S1", "subtask", "P1")],
        "a phase below another": [node("P1", "phase"), node("P2", "phase", "P1")],
        "waits for itself": [node("P1", "phase", needs=["P1"])],
        "a circle": [node("P1", "phase", needs=["P2"]), node("P2", "phase", needs=["P1"])],
        "a circle over tiers": [node("P1", "phase"), node("T1", "task", "P1", needs=["P1"])],
        "no such node": [node("P1", "phase", needs=["P7"])],
        "an odd id": [node("P 1", "phase")],
        "too many phases": [node(f"P{i}", "phase") for i in range(33)],
        "another tier": [node("P1", "phase"), node("S1.1.1", "task", "P1")],
    }
    for why, nodes in bad.items():
        shop.refused("E_INVALID_PLAN", "plan.apply", goal=goal, nodes=nodes, version=1)
        shop.refused("E_INVALID_PLAN", "plan.apply", goal=goal, nodes=nodes, version=1, mode="draft")
        assert shop.show(goal) == before, why
    shop.refused("E_NOT_FOUND", "plan.apply", goal="goal_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", nodes=SMALL)
    shop.refused("E_NOT_FOUND", "plan.show", goal="goal_7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
    shop.refused("E_NOT_FOUND", "work.start", goal=goal, node="S9.9.9")


@check("PLAN-34")
def a_node_id_alone_is_enough_where_it_is_clear(shop, quick):
    one, two = shop.goal("one"), shop.goal("two")
    rows = [node("PX", "phase"), node("TX", "task", "PX")]
    shop.do("plan.apply", goal=one, nodes=rows)
    shop.do("work.start", node="TX")
    assert shop.statuses(one)["TX"] == "in_progress"
    shop.do("plan.apply", goal=two, nodes=rows)
    _, _, error = shop.client.call("work.block", {"node": "TX", "reason": "x"})
    assert error["data"]["code"] == "E_INVALID" and one in error["message"] and two in error["message"], error
    shop.do("work.block", node="TX", goal=one, reason="x")
    assert shop.statuses(one)["TX"] == "blocked" and shop.statuses(two)["TX"] == "queued"
    shop.refused("E_NOT_FOUND", "work.block", node="T9.9.9", reason="x")


@check("PLAN-35")
def a_join_waits_for_both_arms(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=[
        node("P1", "phase"), node("A", "task", "P1"), node("L", "task", "P1", ["A"]), node("R", "task", "P1", ["A"]),
        node("J", "task", "P1", ["L", "R"])])
    assert shop.statuses(goal) == {"P1": "queued", "A": "queued", "L": "todo", "R": "todo", "J": "todo"}
    shop.refused("E_CONFLICT", "work.start", node="J", goal=goal)
    shop.do("work.done", node="A", goal=goal, reason="x")
    assert shop.statuses(goal)["L"] == shop.statuses(goal)["R"] == "queued" and shop.statuses(goal)["J"] == "todo"
    shop.do("work.done", node="L", goal=goal, reason="x")
    assert shop.statuses(goal)["J"] == "todo"
    shop.do("work.done", node="R", goal=goal, reason="x")
    assert shop.statuses(goal)["J"] == "queued"
    shop.again()
    assert shop.statuses(goal)["J"] == "queued"


@check("PLAN-29")
def the_critical_path_is_known(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=[
        node("P1", "phase"), node("A", "task", "P1", estimatedEffort="1h"), node("B", "task", "P1", ["A"], estimatedEffort="5h"),
        node("C", "task", "P1", ["A"], estimatedEffort="30m"), node("D", "task", "P1", ["B", "C"], estimatedEffort="1h"),
        node("E", "task", "P1", estimatedEffort="10m")])
    found = shop.do("plan.insights", goal=goal)
    assert found["criticalPath"] == ["A", "B", "D"] and found["criticalMinutes"] == 420, found
    assert found["bottlenecks"][0] == {"node": "A", "waiting": 3} and sorted(found["parallel"]) == ["A", "E"]
    ranked = shop.do("plan.recommend", goal=goal)["next"]
    assert [one["node"] for one in ranked] == ["A", "E"] and ranked[0]["score"] > ranked[1]["score"], ranked


@check("STORE-15 PLAN-06")
def a_missing_credential_is_named_and_nothing_more(shop, quick):
    goal = shop.goal()
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    shop.do("work.block", node="S1.1.1", goal=goal, by="credential", reason="needs OPENAI_API_KEY, set it in .env")
    shop.again()
    assert shop.nodes(goal)["S1.1.1"]["blockedReason"] == {"kind": "credential", "text": "needs OPENAI_API_KEY, set it in .env"}


@check("STORE-22")
def a_run_is_changed_in_part_and_kept(shop, quick):
    goal = shop.goal()
    shop.do("run.update", goal=goal, runId="R_1", status="running", agentId="claude")
    shop.do("run.update", goal=goal, runId="R_1", verification="passed")
    shop.again()
    runs = shop.show(goal)["runs"]
    assert len(runs) == 1 and runs[0]["status"] == "running" and runs[0]["verification"] == "passed", runs
    assert runs[0]["agentId"] == "claude"


@check("EVENT-02")
def records_tell_what_why_and_when(shop, quick):
    goal = shop.goal("tell me")
    shop.do("plan.apply", goal=goal, nodes=SMALL)
    shop.do("work.done", node="S1.1.1", goal=goal, reason="seen")
    for one in shop.records(goal):
        assert one["at"] and "." in one["type"] and one["rule"] and one["signal"] and one["actor"], one
    done = shop.records(goal, "work.done")[0]
    assert done["node"] == "S1.1.1" and done["from"] == "queued" and done["to"] == "done" and done["rule"] == "work.override"
    shop.do("work.block", node="S1.1.2", goal=goal, reason="é" * 120)
    sizes = [len(row["body"]) for row in shop.store.read("record") if row["body"]]
    assert 240 < max(sizes) <= 2048, max(sizes)


@check("STORE-03.a")
def the_collections_are_tables(shop, quick):
    for table in ("goal", "node", "assignment", "crystallization", "dispatch", "record", "run"):
        shop.store.count(table)
    goal = shop.goal()
    assert re.fullmatch("goal_[0-7][0-9A-HJKMNP-TV-Z]{25}", goal), goal
    shop.do("handoff.add", goal=goal, summary="so far")
    assert shop.do("handoff.list", goal=goal)["handoffs"][0]["crystallizationId"].startswith("C_")


@check("TICK-19")
def what_runs_keeps_nobody_waiting(shop, quick):
    """The daemon holds no lock of the store while a command runs: the command hangs, and others write meanwhile."""
    path = shop.folder / "hangs"
    os.mkfifo(path)
    slow = shop.goal("hangs", command=f"cat {path}")
    wait_until("it hangs", lambda: shop.do("goal.show", goal=slow)["effects"][0]["state"] == "running", 10)
    longest = 0.0
    for i in range(20 if quick else 200):
        begin = time.monotonic()
        shop.goal(f"beside it {i}")
        longest = max(longest, time.monotonic() - begin)
    still = shop.do("goal.show", goal=slow)["effects"][0]["state"]
    with open(path, "w"):
        pass  # this ends the command
    assert still == "running", f"it was {still}: nothing was shown"
    assert longest < 1, f"a write took {longest:.2f} s beside a command that hangs"


# ---- lists ----

@check("STORE-20")
def lists_find_what_is_there(shop, quick):
    goals = [shop.goal(f"paint the {what}", tags=[what, "paint"]) for what in ("door", "wall", "größeres Tor")]
    shop.do("goal.pause", goal=goals[1])

    def ids(**params):
        return [one["goalId"] for one in shop.do("goal.list", **params)["goals"]]
    assert ids(tag="paint") == goals[::-1]
    assert ids(tag="paint", state="paused") == [goals[1]] and ids(tag="paint", status="paused") == [goals[1]]
    assert ids(search="door") == [goals[0]] and ids(search="paint wall") == [goals[1]]
    assert ids(search="GRÖSSERES tor") == [goals[2]] or ids(search="größeres tor") == [goals[2]]
    assert ids(search="nothing like it") == []
    page = shop.do("goal.list", tag="paint", limit=2)
    assert [one["goalId"] for one in page["goals"]] == goals[:0:-1]
    rest = shop.do("goal.list", tag="paint", limit=2, after=page["next"])
    assert [one["goalId"] for one in rest["goals"]] == goals[:1] and "next" not in rest
    shop.do("goal.update", goal=goals[0], title="varnish the gate", tags=["gate"])
    assert ids(search="door") == [] and ids(search="varnish") == [goals[0]] and goals[0] not in ids(tag="paint")
    tally = shop.do("goal.tally")
    assert tally["paused"] >= 1 and sum(tally.values()) == shop.store.count("goal"), tally


@check("STORE-20")
def what_ended_since_is_counted(shop, quick):
    """status finds goals by their end alone: one goal was created before 210 others and completed after all of them, another was renamed since."""
    first = shop.goal("created first, done last")
    others = [shop.goal(f"done before {n}") for n in range(210)]
    for goal in others:
        shop.do("goal.complete", goal=goal, reason="it is done")
    since = shop.do("status.show")["at"]
    shop.do("goal.complete", goal=first, reason="it is done")
    shop.do("goal.update", goal=others[3], title="done before, renamed since")
    for _ in range(2):
        status = shop.do("status.show", since=since)
        assert [one["goalId"] for one in status["done"]] == [first], status["done"]
        assert status["doneCount"] == 1 and status["done"][0]["proof"] == "accepted", status
        status = shop.do("status.show", limit=7)
        assert [one["goalId"] for one in status["done"]] == [first, *others[:203:-1]], status["done"]
        assert status["doneCount"] >= 211, status["doneCount"]
        shop.again()


@check("")
def what_asks_the_same_is_answered_together(shop, quick):
    """`--same` answers all questions that ask the same, and no others; with --dry-run it answers none."""
    def typed(*words, status=0):
        done = subprocess.run([OVERSEER, "--socket", shop.daemon.socket, *words, "--json"], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "HOME": str(shop.folder), "OVERSEER_CONFIG": "/dev/null"})
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout or done.stderr)

    def ask(title, options, **more):
        goal = shop.goal(f"for {title}")
        shop.do("question.ask", goal=goal, title=title, options=options, **more)
        return goal, f"Q{shop.show(goal)['name'][1:]}.0"

    def waits():
        return {one["goalId"] for one in shop.do("inbox.list", limit=100)["items"] if not one.get("answer")}

    alike = [ask("Use node 20?", ["yes", "no"]) for _ in range(4)]
    others = [ask("Use node 22?", ["yes", "no"]), ask("Use node 20?", ["yes", "no", "later"]), ask("Use node 20?", [], kind="alert")]
    shop.do("question.ask", goal=alike[0][0], title="Use node 20?", options=["yes", "no"], cause="again")
    alike.append((alike[0][0], alike[0][1][:-1] + "1"))  # two questions of one goal
    goal, question = alike[2]
    would = typed("answer", question, "a", "--goal", goal, "--same", "--dry-run")["settled"]
    assert {one["goalId"] for one in would} == {one for one, _ in alike} and waits() >= {one for one, _ in alike}, would
    settled = typed("answer", question, "a", "--goal", goal, "--same", "--key", "k1")["settled"]
    assert {(one["goalId"], one["questionId"]) for one in settled} == set(alike), settled
    assert not waits() & {one for one, _ in alike} and waits() >= {one for one, _ in others}, waits()
    assert typed("answer", question, "a", "--goal", goal, "--same", status=3)["error"]["code"] == "E_NOT_FOUND"

    failed = [shop.goal(f"fails {n}", command=f"exit {n + 1}") for n in range(3)]
    wait_until("they wait for a person", lambda: waits() >= set(failed), 20)
    settled = typed("goal", "release", failed[1], "--reason", "seen", "--same")["settled"]
    assert {one["goalId"] for one in settled} >= set(failed), settled
    assert not waits() & set(failed) and waits() >= {one for one, _ in others}, waits()


@check("CLI-12")
def what_waits_longest_is_found(shop, quick):
    """The inbox lists a question first that waits longer than 1,004 others, whether its goal was created before or after theirs."""
    options = ["yes", "no"]
    before = shop.do("inbox.list")["count"]

    def ask(goal):
        shop.do("question.ask", goal=goal, title="Shall it?", options=options)

    late = shop.goal("created first, asks last")
    goals = [shop.goal(f"asks {n}") for n in range(1003)]
    ask(goals[-1])  # created last, asks first
    longest = [shop.goal("created in the end, asks second"), goals[0]]
    for goal in longest:
        ask(goal)
    for goal in goals[1:-1]:
        ask(goal)
    ask(late)
    for _ in range(2):
        inbox = shop.do("inbox.list", limit=100)
        found = [one["goalId"] for one in inbox["items"] if one["goalId"] in {*goals, late, *longest}]
        assert found[:3] == [goals[-1], *longest], found[:3]
        assert inbox["count"] == before + 1005 and inbox["more"], inbox["count"]
        assert [one["goalId"] for one in shop.do("status.show", limit=3)["needsYou"]] == [one["goalId"] for one in inbox["items"][:3]]
        shop.again()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    shop, failed, passed = Shop(options.engine), 0, 0
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        name = f"{function.__name__} [{options.engine}]"
        try:
            function(shop, options.quick)
            proof.passed("e2e", name, rows)
            passed += 1
        except Exception:  # the other checks still run
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc(limit=4)
    shop.daemon.stop()
    broken = shop.daemon.promises_broken()
    if broken:
        failed += 1
        print("\n".join(broken[:5]))
    print(f"goals on {options.engine}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
