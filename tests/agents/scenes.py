# SPDX-License-Identifier: Apache-2.0
"""The scenarios that must hold for every agent program. One function for each; it returns a remark for the table.

The first part covers a task from its beginning to the branch, the second what goes wrong on the way, the third permission, the
fourth the driver's contract as the daemon sees it.
"""
import json
import os
import subprocess
import time

from agent_fixture import NotForIt, expect, processes
from world import BUILD

SCENES = []  # (name, function, settings, requirement rows)
DONE = '{"status":"done","summary":"made it","filesTouched":["made.txt"]}'
REPORT = f"call *overseer_update {DONE} ;; say all done"
SILENT = ("opencode", "gemini", "goose", "qwen")  # agents that do not report a limit of their account
TELLS_NOTHING = ("claude-tmux", "codex-tmux")  # agents that do not report their usage


def scene(rows="", **settings):
    def add(function):
        SCENES.append((function.__name__, function, settings, rows))
        return function
    return add


def no_tools_of_ours(fixture):
    if fixture.gateway:
        raise NotForIt("the tools of a gateway are shared by all its sessions: the agent reports in text")


# ---- from the task to the branch ----

@scene("ASSIGN-06 TICK-08 VERIFY-22 AUTO-16 AUTO-20")
def file_report_land(fixture):
    """The agent writes a file and reports through MCP; its work is verified and landed."""
    goal = fixture.task(f"{fixture.agent.work} ;; {REPORT}")
    fixture.wait_done(goal)
    expect(fixture.landed() == "hello", "it is not on the branch")


@scene("REPORT-02", listen="127.0.0.1:0")
def mcp_over_http(fixture):
    """The same, with Overseer's tools over HTTP: no program of Overseer's runs in between."""
    no_tools_of_ours(fixture)
    goal = fixture.task(f"{fixture.agent.work} ;; think 3 && {REPORT}")
    fixture.wait_made()
    expect(not processes(f"mcp\0--socket\0{fixture.folder}"), "it reaches our tools through a program")
    fixture.wait_done(goal)
    expect(fixture.landed() == "hello", "it is not on the branch")


@scene("REPORT-06 REPORT-07 PROGRESS-01")
def progress_then_completion(fixture):
    """The agent reports its progress and, at the end, its completion, with the two tools for that."""
    no_tools_of_ours(fixture)
    progress = '{"phase":"forty of a hundred","percentComplete":40,"metrics":{"files":40,"of":"a hundred"}}'
    complete = '{"status":"complete","confidence":"high","summary":"made it","artifacts":[{"path":"made.txt","description":"it"}]}'
    goal = fixture.task(f"{fixture.agent.work} ;; call *report_progress {progress} ;; call *report_completion {complete} ;; say all done")
    fixture.wait_done(goal)
    said = [row for row in fixture.events(goal) if row["type"] == "agent.progress"]
    expect(said and said[0]["to"] == "40 %" and "forty of a hundred (files=40, of=a hundred)" == said[0]["text"], f"its progress is not on the record: {said}")
    node = fixture.do("plan.show", goal=goal)["phases"][0]["tasks"][0]
    expect((node["completion"], node["confidence"]) == ("complete", "high"), f"the tree does not show how it ended: {node}")
    report = fixture.do("assignment.show", goal=goal, assignment="A_0")["completionReport"]
    expect(report["artifacts"] == [{"path": "made.txt", "description": "it"}], f"its report is not kept: {report}")


# ---- what goes wrong ----

@scene("ASSIGN-12")
def daemon_killed(fixture):
    """The daemon is killed in mid-turn and started again: the run continues, and nothing is sent or done twice."""
    goal = fixture.task(f"{fixture.agent.work} ;; think 4 && {REPORT}")
    fixture.wait_made()
    fixture.restart()
    fixture.wait_done(goal)
    expect(fixture.landed() == "hello", "it is not on the branch")
    landings = len(fixture.found(goal, type="work.landed"))
    expect(landings == 1, f"it landed {landings} times")
    expect(fixture.told(goal, "task") == 1, f"it was told {fixture.told(goal, 'task')} times")


@scene("FAIL-05 RECOVER-09 TICK-08")
def agent_killed(fixture):
    """The agent dies in mid-turn: the daemon recognises that, counts it once, and resumes the same session."""
    goal = fixture.task(f"{fixture.agent.work} ;; think 8 && say late ;; {REPORT}")
    fixture.wait_made()
    fixture.agent_kill()
    stalled = fixture.wait_record(goal, type="assignment.stalled")[0]
    expect(stalled["rule"] in ("agent.exited", "agent.gone"), f"it is taken for {stalled['rule']}")
    fixture.wait_done(goal)
    deaths = [row for row in fixture.events(goal) if row["rule"] in ("agent.failed", "agent.exited", "agent.gone")]
    expect(len(deaths) == 1, f"one death was counted {len(deaths)} times")
    expect(len(fixture.runs()) == 2, f"there were {len(fixture.runs())} runs")
    expect(fixture.landed() == "hello", "it is not on the branch")
    sessions = {json.loads(file.read_text())["session"] for place in fixture.runs() for file in place.glob("run.*") if file.is_file()}
    expect(len(sessions) == 1, f"it went on in another session: {sessions}")


@scene("VERIFY-22")
def lies_about_done(fixture):
    """The agent reports done without having done the work: the checks find it, and the daemon reports it to the agent."""
    goal = fixture.task(f"run true ;; {REPORT}")  # Claude's terminal does not have Overseer's tools in its first request
    checked = fixture.wait_record(goal, type="work.checked", within=120)[0]
    expect("unchanged" in json.dumps(checked), f"the check said {checked}")
    expect(fixture.state(goal) != "done", "it is called done")
    fixture.wait("it was told", lambda: fixture.told(goal, "failed"))


@scene("TICK-08")
def server_error(fixture):
    """HTTP 500 from the model is a failed turn, not a hang and not a success."""
    goal = fixture.task("error 500 final")
    row = fixture.wait("it is seen for what it is", lambda: [row for row in fixture.events(goal) if row["rule"] == "agent.failed"], 200)[-1]
    expect(fixture.state(goal) != "done", "it is called done")
    return f"after {seconds_between(fixture, goal, row)} s" if seconds_between(fixture, goal, row) > 30 else ""


def seconds_between(fixture, goal, row):
    first = fixture.found(goal, type="dispatch.accepted")[-1]
    stamp = [time.mktime(time.strptime(one["at"][:19], "%Y-%m-%dT%H:%M:%S")) for one in (first, row)]
    return int(stamp[1] - stamp[0])


@scene("ASSIGN-07")
def rate_limit(fixture):
    """The account is not used until the time that the model names; then the work continues."""
    if fixture.name in SILENT:
        goal = fixture.task(f"limit 8 && {fixture.agent.work} ;; {REPORT}")
        fixture.wait_done(goal)
        raise NotForIt("it waits until the limit ends without reporting it, and continues")
    goal = fixture.task(f"limit 90 && {fixture.agent.work} ;; {REPORT}")
    fixture.wait("the limit is seen", lambda: fixture.assignment(goal).get("waitsFor") == "quota", 100)
    fixture.wait_done(goal, 300)


@scene("TICK-09", idle_after="5s", turn_most="10s")
def hangs(fixture):
    """The model never answers: the turn counts as stalled within its limit."""
    goal = fixture.task("hang")
    fixture.wait_record(goal, type="assignment.stalled", within=200)
    expect(fixture.state(goal) != "done", "it is called done")


@scene("RECOVER-01 RECOVER-02", idle_after="45s", turn_most="45s")
def hang_broken_off(fixture):
    """The ladder's nudge interrupts a turn that hangs; the agent receives the nudge or, if it does not stop, is started again."""
    goal = fixture.task(f"hang x1 && {fixture.agent.work} ;; {REPORT}")
    fixture.wait_done(goal, 200)
    expect(fixture.told(goal, "nudge") >= 1, "it was not nudged")
    words = json.dumps([row.get("text", "") for row in fixture.events(goal)])
    forgets, deaf = "would lose the message" in words, "did not stop" in words
    expect(len(fixture.runs()) == (2 if deaf or forgets else 1), f"there were {len(fixture.runs())} runs")
    if forgets:
        return "a cancelled turn would lose the task, so the agent is restarted"
    return "it does not stop when told to, and is restarted" if deaf else ""


@scene("RECOVER-01 RECOVER-02 RECOVER-09 TICK-09", idle_after="6s", turn_most="30s")
def stall_nudged(fixture):
    """The agent ends its turns without a useful word and stays idle: the daemon nudges it, and it continues."""
    goal = fixture.task(f"say I shall see ;; say later ;; {fixture.agent.work} ;; {REPORT}")
    fixture.wait_record(goal, type="assignment.stalled", within=150)
    fixture.wait_done(goal, 150)
    expect(fixture.told(goal, "nudge") >= 1, "it was not nudged")
    expect(len(fixture.runs()) == 1, f"there were {len(fixture.runs())} runs")


# ---- permission ----

@scene("RECOVER-13 ASSIGN-07", asks=True)
def asks_a_person(fixture):
    """The agent asks about a tool that is not allowed; a person says yes, and the agent continues."""
    goal = fixture.task(f"{fixture.agent.asking} ;; {REPORT}")
    fixture.wait("a person is asked", fixture.questions, 120)
    expect(not fixture.made(), "it did not wait for the answer")
    fixture.answer(goal, "allow it once")
    fixture.wait_done(goal)
    expect(fixture.landed() == fixture.agent.made, "it is not on the branch")


@scene("RECOVER-10 RECOVER-13", asks=True)
def answer_outlives_the_daemon(fixture):
    """A person says yes, and the daemon is killed while the answer is on its way: the answer arrives, and no person is asked again."""
    for delay in (0.0, 0.02, 0.1):
        name = f"made{int(delay * 100)}.txt"
        goal = fixture.task(f"{fixture.agent.asking.replace('made.txt', name)} ;; say so")
        fixture.wait("a person is asked", fixture.questions, 120)
        fixture.answer(goal, "allow it once")
        time.sleep(delay)
        fixture.restart()
        fixture.wait("what was allowed is done", lambda name=name: fixture.made(name), 120)
        fixture.wait("its turn is over", lambda goal=goal: [row for row in fixture.events(goal) if row["rule"] == "agent.turn-ended"], 90)
        expect(len(fixture.found(goal, type="question.asked")) == 1, "a person was asked again")
        fixture.do("goal.cancel", goal=goal)


@scene("RECOVER-13", asks=True)
def person_refuses(fixture):
    """A person says no: the agent gets the answer and does not use the tool."""
    goal = fixture.task(f"{fixture.agent.asking} ;; say then not")
    fixture.answer(goal, "do not allow it")
    fixture.wait("its turn is over", lambda: [row for row in fixture.events(goal) if row["rule"] in ("agent.turn-ended", "agent.failed")], 90)
    expect(not fixture.made(), "it did it all the same")


@scene("RECOVER-13 ASSIGN-07", asks=True)
def asks_twice_at_once(fixture):
    """One answer calls two tools that both need permission: neither request is lost, and each gets its own answer."""
    other = fixture.agent.asking.replace("made.txt", "other.txt")
    goal = fixture.task(f"{fixture.agent.asking} && {other} ;; {REPORT}")
    for _ in range(2):
        question = fixture.answer(goal, "allow it once")
        fixture.wait("it is taken", lambda: question["questionId"] not in [one["questionId"] for one in fixture.questions()])
    fixture.wait_done(goal)
    expect(fixture.landed("other.txt") == fixture.agent.made, "the second is not on the branch")


@scene("SCOPE-01 SCOPE-02", asks=True, by_name=True)
def policy_allows(fixture):
    """The agent uses a tool that the operator allows by name, and no person is asked."""
    if not fixture.agent.tool:
        raise NotForIt("its tools have no names that could be allowed: its sandbox decides")
    goal = fixture.task(f"{fixture.agent.work} ;; {REPORT}")
    fixture.wait_done(goal)
    expect(not fixture.found(goal, type="question.asked"), "a person was asked")


@scene("SCOPE-02", denied=True)
def policy_denies(fixture):
    """In the default profile, a tool that the operator denies by name is denied at once, and no person is asked."""
    if fixture.name != "goose":
        raise NotForIt("it enforces the list itself, or its tools have no names")
    goal = fixture.task(f"{fixture.agent.work} ;; say then not")
    fixture.wait("its turn is over", lambda: [row for row in fixture.events(goal) if row["rule"] in ("agent.turn-ended", "agent.failed")], 90)
    expect(not fixture.made(), "it did it all the same")
    expect(not fixture.found(goal, type="question.asked"), "a person was asked")


@scene("", network="model")
def twenty_tools(fixture):
    """Twenty tool calls (files, shell, git, a host that may be reached and one that may not) in the default profile with network = model: no person is asked."""
    if fixture.gateway:
        raise NotForIt("it works at its gateway, not in Overseer's sandbox")
    reach = "python3 -c \"import urllib.request as u; print(u.urlopen('{}', timeout=20).status)\" > {} 2>&1"
    host = fixture.model.url.rstrip("/")
    steps = [fixture.agent.work.replace("made.txt", f"made{n}.txt") for n in range(4)]
    steps += [f"run mkdir -p part{n} && echo {n} > part{n}/file.txt" for n in range(4)]
    steps += ["run git status --short > status.txt", "run git log --oneline >> status.txt", "run git add -A", "run git diff --cached --stat > stat.txt",
              "run cat README part0/file.txt > both.txt", "run chmod +x part1/file.txt", "run rm part3/file.txt", "run uname -a > uname.txt"]
    steps += ["run " + reach.format(host, "allowed.txt"), "run " + reach.format("https://denied.example/", "denied.txt")]
    goal = fixture.task(" ;; ".join([*steps, fixture.agent.work, REPORT]))
    fixture.wait_done(goal, 300)
    called = [line for line in fixture.do("work.log", goal=goal)["lines"] if line["kind"] == "tool"]
    expect(len(called) >= len(steps) + 1, f"it called {len(called)} tools")
    expect(not fixture.found(goal, type="question.asked"), "a person was asked")
    expect(fixture.landed("made3.txt") == "hello" and fixture.landed("part2/file.txt") == "2", "not all of it was done")
    expect("HTTP Error 404" in fixture.landed("allowed.txt"), f"its model: {fixture.landed('allowed.txt')}")  # it answers, and has no such page
    expect("403" in fixture.landed("denied.txt"), f"the other host: {fixture.landed('denied.txt')}")
    noted = [line for place in fixture.runs() for line in (place / "denied").read_text().splitlines()]
    expect("denied.example 443" in noted, f"denied: {noted}")


# ---- the driver's contract ----

@scene("ASSIGN-12 TICK-05")
def receipt_and_tokens(fixture):
    """A dispatch has a receipt, its session has a name, and its usage is counted."""
    goal = fixture.task(f"say so far && finish 1200 80 ;; {fixture.agent.work} ;; {REPORT}")  # most report usage at the end of a turn
    fixture.wait_record(goal, type="dispatch.accepted", within=120)
    fixture.wait("its session is known", lambda: fixture.assignment(goal).get("sessionKey", "").startswith("agent:coder:"), 60)
    fixture.wait_done(goal)
    if fixture.name in TELLS_NOTHING:
        return "its terminal does not show token usage"
    used = fixture.do("goal.show", goal=goal)
    expect(used["tokens"] > 0, "no tokens were counted")
    return "" if used["cost"] else "tokens, no cost"


@scene("TICK-08")
def stop_leaves_nothing(fixture):
    """A goal is cancelled in mid-turn: the agent, and the processes that it started in the background, are gone."""
    mark = f"tail\0-n\0{70000 + int(time.time()) % 10000}"
    command = mark.replace("\0", " ") + " -f /dev/null"
    goal = fixture.task(f"run setsid {command} </dev/null >/dev/null 2>&1 & sleep 1; echo begun ;; think 90 && say late")
    fixture.wait("it has started something", lambda: processes(mark), 120)
    expect(fixture.of_agents(), "nothing of it is there")
    fixture.do("goal.cancel", goal=goal, reason="enough")
    fixture.wait("all of ours is gone", lambda: not set(fixture.of_agents()) - set(processes(mark)), 30)
    if fixture.gateway:
        raise NotForIt("its turn is stopped; processes that the gateway started belong to the gateway")
    fixture.wait("what it started is gone", lambda: not processes(mark), 30)


# ---- typed by a person ----

@scene("", person=True)
def by_hand(fixture):
    """A person types every command from run to land: reads the agent's output, looks at its changes, rejects them, and lands the new ones."""
    def typed(*words):
        done = subprocess.run([str(BUILD / "overseer"), *words, "--socket", str(fixture.daemon.socket)], cwd=fixture.repo, capture_output=True,
                              text=True, check=False, timeout=60, env={**os.environ, "HOME": str(fixture.home)})
        expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    script = fixture.script(f"{fixture.agent.work} ;; call *overseer_update {DONE} ;; say all of it is there")
    begun = json.loads(typed("run", f"Do the work.\n<<<{script}>>>", "--agent", "coder", "--json"))["tasks"][0]
    task, goal = begun["task"], begun["goalId"]
    fixture.wait("its words are there", lambda: "all of it is there" in typed("logs", task))
    fixture.wait("a person is asked", lambda: fixture.questions(), 90)
    expect("+hello" in typed("diff", task), "its change is not shown")
    expect("said" in typed("logs", task, "--json"), "its words are told")
    again = fixture.script(f"{fixture.agent.work.replace('hello', 'better')} ;; call *overseer_update {DONE} ;; say all done")
    typed("reject", task, f"It has to be better. <<<{again}>>>")
    fixture.wait("it was made better", lambda: "+better" in typed("diff", task))
    fixture.wait("a person is asked again", lambda: fixture.questions(), 90)
    expect("+better" in typed("diff", task), "the commit that waits is not shown")
    typed("land", task)
    fixture.wait_done(goal)
    expect(fixture.landed() == "better", "it is not on the branch")


@scene("MAIL-02")
def told_by_hand(fixture):
    """What a person tells the agent reaches it once, in its next turn."""
    goal = fixture.task(f"{fixture.agent.work} ;; say half of it is there")
    fixture.wait_record(goal, type="agent.seen")
    script = fixture.script(f"call *overseer_update {DONE} ;; say all done", goal)
    subprocess.run([str(BUILD / "overseer"), "tell", goal, f"Go on. <<<{script}>>>", "--socket", str(fixture.daemon.socket)], check=True,
                   timeout=60)
    fixture.wait_done(goal)
    expect(fixture.told(goal, "told") == 1, f"it was told {fixture.told(goal, 'told')} times")
