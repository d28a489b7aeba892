# SPDX-License-Identifier: Apache-2.0
"""What has to hold for every agent program? One function for each scenario; what it returns is a remark for the table.

The first part is a task from its beginning to the branch, the second what goes wrong on the way, the third permission, the
fourth the driver's contract as the daemon sees it.
"""
import json
import os
import subprocess
import time

from house import NotForIt, expect, processes
from world import BUILD

SCENES = []  # (name, function, settings, requirement rows)
DONE = '{"status":"done","summary":"made it","filesTouched":["made.txt"]}'
REPORT = f"call *overseer_update {DONE} ;; say all done"
SILENT = ("opencode", "gemini", "goose", "qwen")  # about a limit of their account
TELLS_NOTHING = ("claude-tmux", "codex-tmux")  # of what it used


def scene(rows="", **settings):
    def add(function):
        SCENES.append((function.__name__, function, settings, rows))
        return function
    return add


def no_tools_of_ours(house):
    if house.gateway:
        raise NotForIt("a gateway's tools are those of all its sessions: it reports in words")


# ---- from the task to the branch ----

@scene("ASSIGN-06 TICK-08 VERIFY-22 AUTO-16 AUTO-20")
def file_report_land(house):
    """A task that writes a file, reports through MCP, is verified and landed."""
    goal = house.task(f"{house.agent.work} ;; {REPORT}")
    house.wait_done(goal)
    expect(house.landed() == "hello", "it is not on the branch")


@scene("REPORT-02", listen="127.0.0.1:0")
def mcp_over_http(house):
    """The same, with Overseer's tools over HTTP: no program of ours stands between."""
    no_tools_of_ours(house)
    goal = house.task(f"{house.agent.work} ;; think 3 && {REPORT}")
    house.wait_made()
    expect(not processes(f"mcp\0--socket\0{house.folder}"), "it reaches our tools through a program")
    house.wait_done(goal)
    expect(house.landed() == "hello", "it is not on the branch")


@scene("REPORT-06 REPORT-07 PROGRESS-01")
def progress_then_completion(house):
    """It says how far it is, and at the end that it is complete, with the two tools that are made for that."""
    no_tools_of_ours(house)
    progress = '{"phase":"forty of a hundred","percentComplete":40,"metrics":{"files":40,"of":"a hundred"}}'
    complete = '{"status":"complete","confidence":"high","summary":"made it","artifacts":[{"path":"made.txt","description":"it"}]}'
    goal = house.task(f"{house.agent.work} ;; call *report_progress {progress} ;; call *report_completion {complete} ;; say all done")
    house.wait_done(goal)
    said = [row for row in house.events(goal) if row["type"] == "agent.progress"]
    expect(said and said[0]["to"] == "40 %" and "forty of a hundred (files=40, of=a hundred)" == said[0]["text"], f"its progress is not on the record: {said}")
    node = house.do("plan.show", goal=goal)["phases"][0]["tasks"][0]
    expect((node["completion"], node["confidence"]) == ("complete", "high"), f"the tree does not show how it ended: {node}")
    report = house.do("assignment.show", goal=goal, assignment="A_0")["completionReport"]
    expect(report["artifacts"] == [{"path": "made.txt", "description": "it"}], f"its report is not kept: {report}")


# ---- what goes wrong ----

@scene("ASSIGN-12")
def daemon_killed(house):
    """The daemon is killed in mid-turn and started again: the run goes on, and nothing is said or done twice."""
    goal = house.task(f"{house.agent.work} ;; think 4 && {REPORT}")
    house.wait_made()
    house.restart()
    house.wait_done(goal)
    expect(house.landed() == "hello", "it is not on the branch")
    landings = len(house.found(goal, type="work.landed"))
    expect(landings == 1, f"it landed {landings} times")
    expect(house.told(goal, "task") == 1, f"it was told {house.told(goal, 'task')} times")


@scene("FAIL-05 RECOVER-09 TICK-08")
def agent_killed(house):
    """The agent dies in mid-turn: recognised as that, counted once, and gone on with in the same session."""
    goal = house.task(f"{house.agent.work} ;; think 8 && say late ;; {REPORT}")
    house.wait_made()
    house.agent_kill()
    stalled = house.wait_record(goal, type="assignment.stalled")[0]
    expect(stalled["rule"] in ("agent.exited", "agent.gone"), f"it is taken for {stalled['rule']}")
    house.wait_done(goal)
    deaths = [row for row in house.events(goal) if row["rule"] in ("agent.failed", "agent.exited", "agent.gone")]
    expect(len(deaths) == 1, f"one death was counted {len(deaths)} times")
    expect(len(house.runs()) == 2, f"there were {len(house.runs())} runs")
    expect(house.landed() == "hello", "it is not on the branch")
    sessions = {json.loads(file.read_text())["session"] for place in house.runs() for file in place.glob("run.*") if file.is_file()}
    expect(len(sessions) == 1, f"it went on in another session: {sessions}")


@scene("VERIFY-22")
def lies_about_done(house):
    """It says done without having done it: caught by the checks, and told."""
    goal = house.task(f"run true ;; {REPORT}")  # Claude's terminal has no tools of ours in its first request
    checked = house.wait_record(goal, type="work.checked", within=120)[0]
    expect("unchanged" in json.dumps(checked), f"the check said {checked}")
    expect(house.state(goal) != "done", "it is called done")
    house.wait("it was told", lambda: house.told(goal, "failed"))


@scene("TICK-08")
def server_error(house):
    """HTTP 500 from the model is a failed turn, not a hang and not a success."""
    goal = house.task("error 500 final")
    row = house.wait("it is seen for what it is", lambda: [row for row in house.events(goal) if row["rule"] == "agent.failed"], 200)[-1]
    expect(house.state(goal) != "done", "it is called done")
    return f"after {seconds_between(house, goal, row)} s" if seconds_between(house, goal, row) > 30 else ""


def seconds_between(house, goal, row):
    first = house.found(goal, type="dispatch.accepted")[-1]
    stamp = [time.mktime(time.strptime(one["at"][:19], "%Y-%m-%dT%H:%M:%S")) for one in (first, row)]
    return int(stamp[1] - stamp[0])


@scene("ASSIGN-07")
def rate_limit(house):
    """The account rests until the model says it may be used again; then the work goes on."""
    if house.name in SILENT:
        goal = house.task(f"limit 8 && {house.agent.work} ;; {REPORT}")
        house.wait_done(goal)
        raise NotForIt("it sits a limit out without a word, and goes on")
    goal = house.task(f"limit 90 && {house.agent.work} ;; {REPORT}")
    house.wait("the limit is seen", lambda: house.assignment(goal).get("waitsFor") == "quota", 100)
    house.wait_done(goal, 300)


@scene("TICK-09", idle_after="5s", turn_most="10s")
def hangs(house):
    """The model says nothing for ever: the turn is stalled within its limit."""
    goal = house.task("hang")
    house.wait_record(goal, type="assignment.stalled", within=200)
    expect(house.state(goal) != "done", "it is called done")


@scene("RECOVER-01 RECOVER-02", idle_after="45s", turn_most="45s")
def hang_broken_off(house):
    """A turn that hangs is interrupted by the ladder's nudge; the nudge is heard, or, if it does not stop, it is started again."""
    goal = house.task(f"hang x1 && {house.agent.work} ;; {REPORT}")
    house.wait_done(goal, 200)
    expect(house.told(goal, "nudge") >= 1, "it was not nudged")
    words = json.dumps([row.get("text", "") for row in house.events(goal)])
    forgets, deaf = "it would forget" in words, "did not stop" in words
    expect(len(house.runs()) == (2 if deaf or forgets else 1), f"there were {len(house.runs())} runs")
    if forgets:
        return "broken off it would forget the task, so it is started again"
    return "it does not stop when it is told to, and is started again" if deaf else ""


@scene("RECOVER-01 RECOVER-02 RECOVER-09 TICK-09", idle_after="6s", turn_most="30s")
def stall_nudged(house):
    """It ends its turns without a word of use and sits there: nudged, and it goes on."""
    goal = house.task(f"say I shall see ;; say later ;; {house.agent.work} ;; {REPORT}")
    house.wait_record(goal, type="assignment.stalled", within=150)
    house.wait_done(goal, 150)
    expect(house.told(goal, "nudge") >= 1, "it was not nudged")
    expect(len(house.runs()) == 1, f"there were {len(house.runs())} runs")


# ---- permission ----

@scene("RECOVER-13 ASSIGN-07", asks=True)
def asks_a_person(house):
    """A tool that is not allowed is asked about; a person says yes, and it goes on."""
    goal = house.task(f"{house.agent.asking} ;; {REPORT}")
    house.wait("a person is asked", house.questions, 120)
    expect(not house.made(), "it did not wait for the answer")
    house.answer(goal, "allow it once")
    house.wait_done(goal)
    expect(house.landed() == house.agent.made, "it is not on the branch")


@scene("RECOVER-10 RECOVER-13", asks=True)
def answer_outlives_the_daemon(house):
    """A person says yes, and the daemon is killed while the answer is on its way: it arrives, and nobody is asked again."""
    for delay in (0.0, 0.02, 0.1):
        name = f"made{int(delay * 100)}.txt"
        goal = house.task(f"{house.agent.asking.replace('made.txt', name)} ;; say so")
        house.wait("a person is asked", house.questions, 120)
        house.answer(goal, "allow it once")
        time.sleep(delay)
        house.restart()
        house.wait("what was allowed is done", lambda name=name: house.made(name), 120)
        house.wait("its turn is over", lambda goal=goal: [row for row in house.events(goal) if row["rule"] == "agent.turn-ended"], 90)
        expect(len(house.found(goal, type="question.asked")) == 1, "a person was asked again")
        house.do("goal.cancel", goal=goal)


@scene("RECOVER-13", asks=True)
def person_refuses(house):
    """A person says no: it is not done, and the agent hears it."""
    goal = house.task(f"{house.agent.asking} ;; say then not")
    house.answer(goal, "do not allow it")
    house.wait("its turn is over", lambda: [row for row in house.events(goal) if row["rule"] in ("agent.turn-ended", "agent.failed")], 90)
    expect(not house.made(), "it did it all the same")


@scene("RECOVER-13 ASSIGN-07", asks=True)
def asks_twice_at_once(house):
    """Two tools in one answer, both asked about: neither is lost, and each has an answer of its own."""
    other = house.agent.asking.replace("made.txt", "other.txt")
    goal = house.task(f"{house.agent.asking} && {other} ;; {REPORT}")
    for _ in range(2):
        question = house.answer(goal, "allow it once")
        house.wait("it is taken", lambda: question["questionId"] not in [one["questionId"] for one in house.questions()])
    house.wait_done(goal)
    expect(house.landed("other.txt") == house.agent.made, "the second is not on the branch")


@scene("SCOPE-01 SCOPE-02", asks=True, by_name=True)
def policy_allows(house):
    """A tool that the operator allows by name is used, and nobody is asked."""
    if not house.agent.tool:
        raise NotForIt("its tools have no names that could be allowed: its sandbox decides")
    goal = house.task(f"{house.agent.work} ;; {REPORT}")
    house.wait_done(goal)
    expect(not house.found(goal, type="question.asked"), "a person was asked")


# ---- the driver's contract ----

@scene("ASSIGN-12 TICK-05")
def receipt_and_tokens(house):
    """A dispatch has a receipt, its session a name, and what it used is counted."""
    goal = house.task(f"say so far && finish 1200 80 ;; {house.agent.work} ;; {REPORT}")  # most tell at the end of a turn
    house.wait_record(goal, type="dispatch.accepted", within=120)
    house.wait("its session is known", lambda: house.assignment(goal).get("sessionKey", "").startswith("agent:coder:"), 60)
    house.wait_done(goal)
    if house.name in TELLS_NOTHING:
        return "its terminal does not tell what it used"
    used = house.do("goal.show", goal=goal)
    expect(used["tokens"] > 0, "no tokens were counted")
    return "" if used["cost"] else "tokens, no cost"


@scene("TICK-08")
def stop_leaves_nothing(house):
    """Cancelled in mid-turn: the agent, and what it had started in the background, is gone."""
    mark = f"tail\0-n\0{70000 + int(time.time()) % 10000}"
    command = mark.replace("\0", " ") + " -f /dev/null"
    goal = house.task(f"run setsid {command} </dev/null >/dev/null 2>&1 & sleep 1; echo begun ;; think 90 && say late")
    house.wait("it has started something", lambda: processes(mark), 120)
    expect(house.of_agents(), "nothing of it is there")
    house.do("goal.cancel", goal=goal, reason="enough")
    house.wait("all of ours is gone", lambda: not set(house.of_agents()) - set(processes(mark)), 30)
    if house.gateway:
        raise NotForIt("its turn is stopped; what a gateway has started is the gateway's own")
    house.wait("what it started is gone", lambda: not processes(mark), 30)


# ---- by hand ----

@scene("", person=True)
def by_hand(house):
    """Typed by a person, from run to land: what it says is followed, it is told something, its changes are looked at, sent back, landed."""
    def typed(*words):
        done = subprocess.run([str(BUILD / "overseer"), *words, "--socket", str(house.daemon.socket)], cwd=house.repo, capture_output=True,
                              text=True, check=False, timeout=60, env={**os.environ, "HOME": str(house.home)})
        expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    script = house.script(f"{house.agent.work} ;; call *overseer_update {DONE} ;; say all of it is there")
    begun = json.loads(typed("run", f"Do the work.\n<<<{script}>>>", "--agent", "coder", "--json"))["tasks"][0]
    task, goal = begun["task"], begun["goalId"]
    house.wait("its words are there", lambda: "all of it is there" in typed("logs", task))
    house.wait("a person is asked", lambda: house.questions(), 90)
    expect("+hello" in typed("diff", task), "its change is not shown")
    expect("said" in typed("logs", task, "--json"), "its words are told")
    again = house.script(f"{house.agent.work.replace('hello', 'better')} ;; call *overseer_update {DONE} ;; say all done")
    typed("reject", task, f"It has to be better. <<<{again}>>>")
    house.wait("it was made better", lambda: "+better" in typed("diff", task))
    house.wait("a person is asked again", lambda: house.questions(), 90)
    typed("land", task)
    house.wait_done(goal)
    expect(house.landed() == "better", "it is not on the branch")


@scene("MAIL-02")
def told_by_hand(house):
    """What a person says reaches the agent, in its next turn, once."""
    goal = house.task(f"{house.agent.work} ;; say half of it is there")
    house.wait_record(goal, type="agent.seen")
    script = house.script(f"call *overseer_update {DONE} ;; say all done", goal)
    subprocess.run([str(BUILD / "overseer"), "tell", goal, f"Go on. <<<{script}>>>", "--socket", str(house.daemon.socket)], check=True,
                   timeout=60)
    house.wait_done(goal)
    expect(house.told(goal, "told") == 1, f"it was told {house.told(goal, 'told')} times")
