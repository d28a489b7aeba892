# SPDX-License-Identifier: Apache-2.0
"""A daemon with active tasks, and checks of these tasks after another daemon takes over. before.py and golden.py use this module."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from care import fixture_make  # noqa: E402
from pulls import Fixture, git  # noqa: E402
from world import OVERSEER, OVERSEERD, Broken, Daemon, store_make  # noqa: E402

# An agent that speaks ACP. It waits until the file go.GOAL exists beside it; if ask.GOAL exists, it then asks for permission first.
AGENT = r'''import json, os, re, sys, time
here = os.path.dirname(os.path.abspath(__file__))
def say(**what): print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)
def words(text): say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
def permission():
    say(id=77, method="session/request_permission", params={"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": "drop the table"},
        "options": [{"optionId": "y", "name": "yes", "kind": "allow_once"}, {"optionId": "n", "name": "no", "kind": "reject_once"}]})
    while True:
        answer = json.loads(sys.stdin.readline())
        if answer.get("id") == 77: return json.dumps(answer)
        if answer.get("method") and "id" in answer: say(id=answer["id"], error={"code": -32601, "message": "no"})
def work(told):
    goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
    os.makedirs(goal, exist_ok=True)
    open(goal + "/prompts", "a").write(told + "\n=====\n")
    words("on it")
    while not os.path.exists(f"{here}/go.{goal}"): time.sleep(0.05)
    if os.path.exists(f"{here}/ask.{goal}"):
        open(goal + "/answers", "a").write(permission() + "\n")
    open(goal + "/made", "a").write("made\n")
    words("Made it.\n```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
          "evidence": {"filesTouched": ["made"]}}}) + "\n```\n")
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "initialize":
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    elif method == "session/new":
        say(id=asked["id"], result={"sessionId": "s1"})
    elif method in ("session/load", "session/set_mode"):
        say(id=asked["id"], result={})
    elif method == "session/prompt":
        work(asked["params"]["prompt"][0]["text"])
        say(id=asked["id"], result={"stopReason": "end_turn"})
    elif "id" in asked and method:
        say(id=asked["id"], error={"code": -32601, "message": "no"})
'''

# For each goal that the check finds, it waits as long as the file slow.GOAL exists.
CHECK = 'for g in goal_*; do while [ -e "{0}/slow.$g" ]; do sleep 0.1; done; test -f $g/made || exit 1; done'

EARLY = ("landed", "ready", "checks", "asks", "works")  # the step of each task when the test kills the earlier daemon


def expect(holds, text):
    if not holds:
        raise Broken(text)


class Site(Fixture):
    """A repository, settings and a daemon: first the earlier tree's daemon, then this tree's."""
    engine = earlier = store = None

    def daemon_make(self, environment):
        self.store = store_make(self.engine, self.folder, "before")
        return Daemon(self.folder, self.store.uri, program=self.earlier, options=["--lease", "3"], environment=environment)

    def here(self, name, goal):
        return self.program.parent / f"{name}.{goal}"

    def questions(self, goal):
        return [item for item in self.do("inbox.list")["items"] if item["goalId"] == goal and item["state"] == "open"]

    def approve(self, goal):
        """Approves the shown result if a question asks for an approval."""
        for item in self.questions(goal):
            if item["kind"] == "approve" and item["cause"].startswith("done."):
                named = {"commit": item["commit"]} if "commit" in item else {}
                if self.client.call("question.approve", {"goal": goal, "question": item["questionId"], **named})[2] is None:
                    self.agreed[goal] = item

    def permit(self, goal):
        """Grants the permissions that the agent of the goal asks for. Returns the number of granted permissions."""
        asked = [item for item in self.questions(goal) if "drop the table" in json.dumps(item)]
        for item in asked:
            self.do("question.answer", goal=goal, question=item["questionId"], answer="a")
        return len(asked)

    def landed(self, goal):
        return self.records(goal, "work.landed")

    def events(self, goal):
        return [(one["seq"], one["at"], one["type"]) for one in self.do("events.list", goal=goal, limit=1000)["events"]]

    def why(self, goal):
        return [(line["record"], line["at"], line["type"]) for line in self.do("why.show", of=goal, limit=100)["lines"]]


def site_make(engine, programs, base=Site):
    kind = type("Site", (base,), {"engine": engine, "earlier": programs / "overseerd"})
    site = fixture_make("before", kind=kind, agent={"driver": "acp", "kind": "goose", "asks": True},
                      defaults={"skip_permissions": False}, people={"undo_for": "0s"}, supervision={"verify_by_person": True},
                      verify={"command": "false"}, landing={"how": "rebase"})
    config = site.folder / "overseer.toml"
    config.write_text(config.read_text().replace('command = "false"', "command = " + json.dumps(CHECK.format(site.program.parent))))
    site.do("config.reload")
    site.program.write_text(AGENT)
    site.agreed = {}  # {goal: the question that was approved}
    git(site.repo, "checkout", "-q", "--detach")
    return site


class Holds(threading.Thread):
    """Looks for running holds all the time. Keeps for each goal all its runs and the largest number of runs at the same time."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.over = str(folder), threading.Event()
        self.runs, self.most = {}, {}

    def look(self):
        """[(process, goal, folder of the run)]."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words[0].endswith("overseer-hold") and words[1:2] == ["--dir"] and words[2].startswith(self.folder):
                tree = Path(words[words.index("--cwd") + 1])
                yield int(path.parent.name), "goal_" + tree.parent.name[:26], words[2]

    def run(self):
        while not self.over.wait(0.05):
            now = {}
            for _, goal, run in self.look():
                now.setdefault(goal, set()).add(run)
            for goal, runs in now.items():
                self.runs.setdefault(goal, set()).update(runs)
                self.most[goal] = max(self.most.get(goal, 0), len(runs))

    def pids(self):
        return [pid for pid, _, _ in self.look()]

    def end(self):
        self.over.set()
        self.join()


# ---- the earlier tree ----

def begin_all(site):
    """Brings one task after the other to its step of EARLY. Returns {step: goal}."""
    goals = {}
    for at in EARLY:
        goal = goals[at] = site.goal()
        if at == "asks":
            site.here("ask", goal).touch()
        if at == "checks":
            site.here("slow", goal).touch()
        if at != "works":
            site.here("go", goal).touch()
        site.wait(f"the agent of {at} works", lambda g=goal: site.records(g, "dispatch.accepted"))
        if at == "landed":
            site.wait("one has landed before", lambda g=goal: site.approve(g) or site.landed(g))
    site.wait("one waits for its landing", lambda: any(item["kind"] == "approve" for item in site.questions(goals["ready"])))
    site.wait("one waits for its check", lambda: any(one["to"] == "check" for one in site.records(goals["checks"], "assignment.waits")))
    site.wait("one has a question", lambda: "drop the table" in json.dumps(site.questions(goals["asks"])))
    time.sleep(1)  # until the check has begun and one tick has passed
    return goals


def maintain(program, store, *words):
    """Runs a maintenance verb. Returns its output."""
    done = subprocess.run([str(program), "--maintain", *map(str, words), "--store", store.uri], capture_output=True, text=True,
                          timeout=120, check=False)
    expect(done.returncode == 0, f"{Path(program).parent.name} --maintain {words[0]} ends with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


# ---- exports and backups of an earlier tree ----

def lost(first, second, path=""):
    """Lists the places where the second document lacks a value of the first. Additional members in the second document come from this tree."""
    if isinstance(first, dict) and isinstance(second, dict):
        return [line for key in first for line in lost(first[key], second.get(key), f"{path}.{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [line for n, (one, other) in enumerate(zip(first, second)) for line in lost(one, other, f"{path}[{n}]")]
    newer = path == ".overseer.store.version" and second > first  # this tree has newer tables
    return [] if first == second or newer else [f"{path}: {json.dumps(first)[:80]}, now {json.dumps(second)[:80]}"]


def document_is_taken(folder, document, engine):
    """This tree imports and verifies an export of an earlier tree, and exports it again without loss."""
    fresh, again = folder / f"import-{engine}", folder / "again.json"
    fresh.mkdir()
    store = store_make(engine, fresh, "import")
    maintain(OVERSEERD, store, "import", document, "--move")
    maintain(OVERSEERD, store, "verify-log")
    maintain(OVERSEERD, store, "examine")
    maintain(OVERSEERD, store, "export", again)
    found = lost(*(json.loads(path.read_text()) for path in (document, again)))
    expect(not found, f"export, import and export lose {len(found)} members: {found[:5]}")


def export_is_taken(site, programs, engine):
    """This tree accepts an export and a backup that the earlier tree makes."""
    document, backup = site.folder / "before.json", site.folder / "before.backup"
    maintain(programs / "overseerd", site.store, "export", document)
    maintain(programs / "overseerd", site.store, "backup", backup)
    maintain(OVERSEERD, site.store, "backup", "--verify", backup)
    document_is_taken(site.folder, document, engine)


# ---- this tree ----

def waiting(site, goals):
    """The reasons why the tasks that have not landed still wait."""
    return "; ".join(f"{at}: {site.do('why.show', of=goal)['sentence']}" for at, goal in goals.items() if not site.landed(goal))


def what_was_asked_is_answered(site, goals):
    """The operator can view the diff of the task that is ready, and answer the question that an agent asked before the takeover."""
    shown = site.do("work.diff", goal=goals["ready"])
    expect("+made" in shown["diff"], f"what waits to land cannot be looked at: {shown}")
    expect(site.permit(goals["asks"]) == 1, f"its question cannot be answered: {site.questions(goals['asks'])}")


def all_land(site, goals):
    """Every task lands after the operator approves the shown results."""
    site.here("slow", goals["checks"]).unlink()
    site.here("go", goals["works"]).touch()

    def over():
        waits = [goal for goal in goals.values() if not site.landed(goal)]
        for goal in waits:
            site.approve(goal)
            site.permit(goal)
        return not waits
    try:
        site.wait("every task has landed", over, 60)
    except Broken as error:
        raise Broken(f"{error}; {waiting(site, goals)}") from error


def nothing_is_doubled(site, goals, holds, again=()):
    """Every task landed once, from one run. again: tasks whose run was dead; the daemon starts these a second time."""
    commits = git(site.repo, "rev-list", "main").split()
    expect(len(commits) == 1 + len(goals), f"main has {len(commits)} commits, for {len(goals)} tasks and the first one")
    for at, goal in goals.items():
        def shown(name, goal=goal):
            return git(site.repo, "show", f"main:{goal}/{name}")
        runs = 2 if at in again else 1
        expect(len(site.landed(goal)) == 1, f"{at} landed {len(site.landed(goal))} times")
        expect(len(git(site.repo, "rev-list", "main", "--", f"{goal}/made").split()) == 1, f"{at} is in more than one commit")
        expect(holds.most.get(goal, 1) == 1, f"{at} had {holds.most.get(goal)} runs at once")
        expect(len(holds.runs.get(goal, {1})) <= 1, f"{at} was worked on by more than one run: {holds.runs.get(goal)}")
        spawns = [one for one in site.records(goal, "effect.ended") if one["to"] == "spawn"]
        expect(len(spawns) == runs, f"{at} was started {len(spawns)} times")
        expect(shown("prompts").count("=====") <= runs, f"{at} was told its task {shown('prompts').count('=====')} times")
        expect(shown("made") == "made", f"{at} was made more than once")
        expect(at == "landed" or "onto" in site.agreed[goal], f"{at}: a yes to what the earlier tree had checked counts for this one")
    answers = git(site.repo, "show", f"main:{goals['asks']}/answers").splitlines()
    expect(len(answers) == 1 and '"y"' in answers[0], f"the answer came as {answers}")


def all_is_told(site, goals, before):
    """Every record of the earlier daemon is still in the event log and in `why`, over RPC and in the command line."""
    for at, goal in goals.items():
        events, why = before[at]
        expect(site.events(goal)[:len(events)] == events, f"the log of {at} has changed")
        missing = [line for line in why if line not in site.why(goal)]
        expect(not missing, f"why does not show of {at}: {missing}")
        shown = subprocess.run([str(OVERSEER), "why", goal], capture_output=True, text=True, timeout=60, check=False,
                               env={**os.environ, "HOME": str(site.folder), "OVERSEER_SOCKET": str(site.daemon.socket)})
        expect(shown.returncode == 0 and "landed" in shown.stdout, f"overseer why: {shown.stdout}{shown.stderr}")


# ---- cleanup ----

def site_end(site, holds):
    """Stops the daemon and kills all holds, also after a failure."""
    try:
        if site.daemon.process.poll() is None:
            site.close()
    finally:
        for pid in holds.pids():
            os.kill(pid, signal.SIGKILL)
