#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the daemon do when work is called done and its contract is not met: tell the agent, begin anew once, fail the work, or ask a person?

contract.py [--only NAME]: the daemon, real worktrees, an agent that is a program.
"""
import json
import os
import subprocess
import sys
import time

import proof
from care import PUT, REPORT, RIGHT, SLOPPY, fixture_make, main, words_of
from world import BUILD

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def nodes_with(**contract):
    return [{"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "make the report", "acceptanceCriteria": ["it is done"], **contract}]


def goal_with(fixture, steps, **contract):
    fixture.program.write_text(f"STEPS = {steps!r}\n" + SLOPPY)
    goal = fixture.do("goal.create", title="a report")["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=nodes_with(**contract))
    return goal


def task_of(fixture, goal):
    return fixture.do("plan.show", goal=goal)["phases"][0]["tasks"][0]


def assignment_of(fixture, goal):
    """The newest assignment of the goal, as assignment.show returns it."""
    found = fixture.do("assignment.list", goal=goal)["assignments"]
    return fixture.do("assignment.show", goal=goal, assignment=found[-1]["assignmentId"]) if found else None


def typed(fixture, *words):
    return subprocess.run([BUILD / "overseer", "--socket", str(fixture.daemon.socket), *words], capture_output=True, text=True, timeout=60,
                          check=True, env={"PATH": os.environ["PATH"], "HOME": str(fixture.folder), "LANG": "C.UTF-8"}).stdout


@check
def what_is_wanted_is_kept():
    """Each part of a contract has a default, the daemon refuses invalid values, and a run keeps the contract with which it began."""
    fixture = fixture_make("kept", verify={"command": ""})
    try:
        goal = fixture.do("goal.create", title="a report")["goalId"]
        for wrong, words in (({"onFailure": "explode"}, "onFailure"), ({"requireCompletionReport": "yes"}, "requireCompletionReport"),
                             ({"verificationTimeoutMs": -1}, "verificationTimeoutMs"), ({"validationCommand": "true"}, "validationCommand")):
            _, _, error = fixture.client.call("plan.apply", {"goal": goal, "nodes": nodes_with(artifacts=[REPORT], **wrong)})
            assert error and words in words_of(error), (wrong, error)
        fixture.program.write_text("import sys, time\nsys.stdin.read()\nprint('on it', flush=True)\ntime.sleep(600)\n")
        fixture.do("plan.apply", goal=goal, nodes=nodes_with(artifacts=[REPORT]))
        plain = task_of(fixture, goal)
        fixture.do("goal.cancel", goal=goal, reason="the next one is wanted")
        assert (plain["onFailure"], plain["requireCompletionReport"], plain["verificationTimeoutMs"]) == ("mend", False, 0), plain
        wanted = {"artifacts": [REPORT], "onFailure": "retry_once", "requireCompletionReport": True, "verificationTimeoutMs": 5000}
        other = fixture.do("goal.create", title="another report")["goalId"]
        fixture.do("plan.apply", goal=other, nodes=nodes_with(**wanted))
        fixture.wait("it has begun", lambda: (assignment_of(fixture, other) or {}).get("runId"))
        fixture.do("plan.apply", goal=other, version=1, nodes=nodes_with(artifacts=[{"path": "else"}]))
        run = assignment_of(fixture, other)
        assert run["verificationContract"] == wanted and run["verification"]["state"] == "pending", run
        assert run["retryOf"] in ("", None), run
        assert [one["path"] for one in task_of(fixture, other)["artifacts"]] == ["else"]
    finally:
        fixture.close()
    proof.passed("e2e", "contract.kept", "VERIFY-02 VERIFY-11")


@check
def what_failed_says_which():
    """One of two files is missing and onFailure is fail: the work has failed, and every view of it names the check that failed."""
    fixture = fixture_make("failed", verify={"command": ""})
    try:
        goal = goal_with(fixture, [], artifacts=[{"path": "made"}, REPORT], onFailure="fail")
        fixture.wait("it has failed", lambda: task_of(fixture, goal)["status"] == "blocked")
        task = task_of(fixture, goal)
        assert task["blockedReason"]["kind"] == "failure" and "out/report.json: the file does not exist" in task["blockedReason"]["text"], task
        made = task["verification"]
        assert made["state"] == made["status"] == "failed" and made["verifiedAt"], made
        assert [(one["type"], one["target"], one["passed"]) for one in made["checks"]] == [
            ("artifact", "made", True), ("artifact", "out/report.json", False)], made
        assert made["checks"][1]["reason"] == "the file does not exist" and not made["checks"][0]["reason"], made
        shown = typed(fixture, "plan", "show", goal)
        assert "checks" in shown and "failed" in shown, shown
        assert fixture.do("goal.show", goal=goal)["state"] == "needs you", fixture.do("goal.show", goal=goal)
        assert len(fixture.records(goal, "work.checked")) == 1 and not fixture.records(goal, "work.done")
        [told] = fixture.do("inbox.list")["items"]
        assert told["kind"] == "alert" and told["question"] == "T1 has failed", told
        fixture.program.write_text(f"STEPS = {[('', PUT.format(RIGHT))]!r}\n" + SLOPPY)
        fixture.do("work.retry", goal=goal, node="T1", reason="once more")
        fixture.wait("it is done", lambda: task_of(fixture, goal)["status"] == "done")
        assert not fixture.do("inbox.list")["items"], "what was failed is done"
        made = task_of(fixture, goal)["verification"]
        assert made["state"] == "passed" and all(one["passed"] for one in made["checks"]), made
        assert "passed" in typed(fixture, "plan", "show", goal)
    finally:
        fixture.close()
    proof.passed("e2e", "contract.failed", "VERIFY-14 VERIFY-16 VERIFY-20")


@check
def a_person_hears_of_it():
    """The same with onFailure = escalate: the daemon asks a person, and the answer to try again gives the work to an agent once more."""
    fixture = fixture_make("asked", verify={"command": ""}, people={"undo_for": "0s"})
    try:
        goal = goal_with(fixture, [], artifacts=[REPORT], onFailure="escalate")
        fixture.wait("somebody is asked", lambda: fixture.do("inbox.list")["items"])
        [one] = fixture.do("inbox.list")["items"]
        assert "out/report.json: the file does not exist" in json.dumps(one), one
        assert task_of(fixture, goal)["status"] == "blocked"
        fixture.program.write_text(f"STEPS = {[('', PUT.format(RIGHT))]!r}\n" + SLOPPY)
        fixture.do("question.answer", goal=goal, question=one["questionId"], answer="a")
        fixture.wait("it is done", lambda: task_of(fixture, goal)["status"] == "done")
    finally:
        fixture.close()
    proof.passed("e2e", "contract.asked", "VERIFY-17")


WAIT = "import time; print('on it', flush=True)\nwhile not os.path.exists(os.path.dirname(sys.argv[0]) + '/go'): time.sleep(0.1)\n"


@check
def once_more_and_no_more():
    """With retry_once the daemon begins the work anew once, as before and with the reason; it is still once if the daemon is killed meanwhile."""
    fixture = fixture_make("once", verify={"command": ""})
    try:
        goal = goal_with(fixture, [("This was tried before", WAIT + PUT.format("[]"))], artifacts=[REPORT],
                         onFailure="retry_once")
        fixture.wait("it works", lambda: (assignment_of(fixture, goal) or {}).get("startedWith"))
        first = assignment_of(fixture, goal)
        fixture.wait("it is begun anew", lambda: fixture.records(goal, "work.retried"))
        fixture.daemon.kill()
        fixture.begin()
        fixture.wait("it works again", lambda: assignment_of(fixture, goal)["runId"] != first["runId"])
        second = assignment_of(fixture, goal)
        assert second["assignmentId"] == first["assignmentId"] and second["retryOf"] == first["runId"] and second["retryAttemptedAt"], second
        assert second["startedWith"] == first["startedWith"] and second["verificationContract"] == first["verificationContract"], second
        words = second["lastInstructionText"]
        assert "out/report.json: the file does not exist" in words and "make the report" in words, words
        (fixture.program.parent / "go").touch()
        fixture.wait("it has failed", lambda: task_of(fixture, goal)["status"] == "blocked")
        time.sleep(2)
        assert len(fixture.records(goal, "work.retried")) == 1 and len(fixture.records(goal, "work.checked")) == 2
        assert "it has 2 bytes" in task_of(fixture, goal)["blockedReason"]["text"], task_of(fixture, goal)
    finally:
        fixture.close()
    proof.passed("e2e", "contract.once", "VERIFY-18 VERIFY-19 TEST-08")


@check
def what_was_asked_of_it_stands():
    """The plan changes to fail while a run works that began with mend: that run mends. The next run would fail."""
    fixture = fixture_make("stands", verify={"command": ""})
    try:
        goal = goal_with(fixture, [("It is not done yet", PUT.format(RIGHT)), ("", WAIT)], artifacts=[REPORT])
        fixture.wait("it works", lambda: (assignment_of(fixture, goal) or {}).get("runId"))
        time.sleep(1)
        fixture.do("plan.apply", goal=goal, version=1, nodes=nodes_with(artifacts=[REPORT], onFailure="fail"))
        (fixture.program.parent / "go").touch()
        fixture.wait("it is done", lambda: task_of(fixture, goal)["status"] == "done")
        assert [one["to"] for one in fixture.records(goal, "work.checked")] == ["failed", "passed"], fixture.records(goal, "work.checked")
    finally:
        fixture.close()
    proof.passed("e2e", "contract.stands", "VERIFY-11")


BIG = "open('out/report.json', 'w').write('[' + '{\"id\": 1, \"name\": \"a\"}, ' * 600000 + '{\"id\": 1, \"name\": \"a\"}]')"


@check
def too_slow_has_failed():
    """A check that is not finished in time has failed, with the usual consequence."""
    fixture = fixture_make("slow", verify={"command": ""})
    try:
        goal = goal_with(fixture, [("", BIG)], artifacts=[REPORT], onFailure="fail", verificationTimeoutMs=1)
        fixture.wait("it has failed", lambda: task_of(fixture, goal)["status"] == "blocked")
        [one] = task_of(fixture, goal)["verification"]["checks"]
        assert not one["passed"] and "time" in one["reason"], one
        goal = goal_with(fixture, [("", BIG)], artifacts=[REPORT], onFailure="fail")
        fixture.wait("with the usual time it is done", lambda: task_of(fixture, goal)["status"] == "done")
    finally:
        fixture.close()
    proof.passed("e2e", "contract.slow", "VERIFY-02 VERIFY-15 TEST-06")


@check
def a_report_that_is_required_is_wanted():
    """The daemon tells an agent that it has to report its completion; it keeps text that looks like a report, and does not accept it as one."""
    fixture = fixture_make("report", verify={"command": "", "rounds": 1})
    try:
        goal = goal_with(fixture, [], requireCompletionReport=True, onFailure="fail")
        fixture.wait("it has failed", lambda: task_of(fixture, goal)["status"] == "blocked")
        [one] = task_of(fixture, goal)["verification"]["checks"]
        assert one["type"] == "completion_report" and not one["passed"] and "report_completion" in one["reason"], one
    finally:
        fixture.close()
    proof.passed("e2e", "contract.report", "VERIFY-09")


if __name__ == "__main__":
    sys.exit(main("contract", CHECKS))
