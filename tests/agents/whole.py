#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does Overseer drive this agent program, from the task to the commit on the branch?

  whole.py [NAME …] [--only SCENARIO …] [--keep DIR]

The real daemon, the real program, a real repository, and the scripted model; all of it in a namespace with nothing but
loopback. One line for each agent and scenario: ok, failed (why), skip (not installed), or n/a (why).
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import gateway  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME, KEY, env_of, fill, files_write  # noqa: E402
from world import BUILD, Broken, Client, Daemon, Unreachable, wait_until  # noqa: E402

SKIPPED = 77

# How each is told to Overseer: driver, kind, row of programs.py.
AGENTS = {
    "claude": ("claude", "claude", "claude"),
    "claude-acp": ("acp", "claude-agent-acp", "claude-acp"),
    "codex-acp": ("acp", "codex-acp", "codex-acp"),
    "opencode": ("acp", "opencode", "opencode-acp"),
    "gemini": ("acp", "gemini", "gemini-acp"),
    "goose": ("acp", "goose", "goose-acp"),
    "qwen": ("acp", "qwen", "qwen-acp"),
    "openclaw": ("openclaw", "openclaw", "openclaw"),
}
SHARED = {"claude": [], "codex-acp": [".codex/config.toml"], "opencode": [".config/opencode/opencode.json"],
          "gemini": [".gemini/settings.json"], "qwen": [".qwen/settings.json"]}

SCENARIOS = []


def scenario(rows=""):
    def add(function):
        SCENARIOS.append((function.__name__, function, rows))
        return function
    return add


def expect(promise, text):
    if not promise:
        raise Broken(text)


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}).stdout.strip()


class World:
    """One daemon, one repository, one agent."""

    def __init__(self, name, model, folder, **settings):
        self.name, self.model, self.folder = name, model, folder
        self.driver, self.kind, self.row = AGENTS[name]
        self.program = BY_NAME[self.row]
        self.home, self.repo = folder / "home", folder / "repo"
        for place in (self.home, self.repo):
            place.mkdir(parents=True)
        self.values = {"url": model.url, "home": str(self.home), "cwd": str(self.repo)}
        files_write(self.program, self.home, self.values)
        git(self.repo, "init", "-q", "-b", "main")
        git(self.repo, "config", "user.name", "somebody")
        git(self.repo, "config", "user.email", "somebody@localhost")
        (self.repo / "README").write_text("begun\n")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-q", "-m", "begin")
        git(self.repo, "checkout", "-q", "--detach")  # nobody stands on main
        self.gateway = gateway.Gateway(folder, model) if self.driver == "openclaw" else None
        self.config = folder / "overseer.toml"
        self.config.write_text(self.configuration(settings))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(self.config), "HOME": str(self.home),
                                          **env_of(self.program, self.values), **(gateway.ENV if self.gateway else {})})
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def configuration(self, settings):
        run = shlex.split(subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", self.program.installed], check=True,
                                         capture_output=True, text=True).stdout)
        extra = [word for word in self.program.argv.split()[1:]] if self.driver == "acp" else []
        keys = [*env_of(self.program, self.values), "DISABLE_TELEMETRY", "DO_NOT_TRACK",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING"]
        lines = {"supervision": {"enabled": True, "tick_every": "1s", "idle_after": settings.get("idle_after", "60s"),
                                 "min_resend_interval": "0s", "turn_most": settings.get("turn_most", "5m"),
                                 "backoff.base": "1s", "backoff.max": "5s", "verify_by_person": settings.get("person", False)},
                 "people": {"undo_for": "0s"},
                 "repo": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
                 "verify": {"command": settings.get("verify", "test -s made.txt")},
                 "landing": {"how": settings.get("landing", "rebase")},
                 "sandbox": {"writes": [str(self.home)]}}  # keys such as CODEX_HOME lead there
        text = ""
        for section, rows in lines.items():
            text += f"[{section}]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in rows.items())
        agent = {"id": "coder", "driver": self.driver, "kind": self.kind, "program": run[0], "args": run[1:], "keys": keys,
                 "base_url": self.model.url if self.driver == "claude" else "", "asks": settings.get("asks", False),
                 "share": SHARED.get(self.name, []), **settings.get("agent", {}), **(gateway.SETTINGS if self.gateway else {})}
        return text + "[[agents]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in agent.items())

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:  # a connection that nobody uses is closed
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        expect(error is None, f"{method}: {error}")
        return result

    def task(self, script, text="Do the work."):
        goal = self.do("goal.create", title="a task for an agent")["goalId"]
        if self.gateway:
            script = gateway.in_words(script, goal)
            self.gateway.wait_ready()
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": f"{text} <<<{script}>>>"}])
        return goal

    def events(self, goal):
        return self.do("goal.show", goal=goal)["records"]

    def state(self, goal):
        return self.do("goal.show", goal=goal)["state"]

    def wait(self, what, question, within=90):
        def asked():
            self.daemon.alive()
            return question()
        return wait_until(what, asked, within, 0.1)

    def wait_record(self, goal, name, within=90):
        return self.wait(f"{name} is on the record", lambda: [row for row in self.events(goal) if row["type"] == name], within)

    def wait_done(self, goal, within=120):
        self.wait("the goal is done", lambda: self.state(goal) == "done", within)

    def restart(self):
        self.client.close()
        self.daemon.kill()
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def landed(self, name="made.txt"):
        return git(self.repo, "show", f"main:{name}")

    def show(self, goal):
        return json.dumps(self.do("goal.show", goal=goal), indent=1)

    def told(self, goal, words):
        """How often it was sent words of that kind."""
        return sum(row["type"] == "assignment.dispatched" and row.get("text") == words for row in self.events(goal))

    def waits_for(self, goal):
        found = self.do("assignment.list", goal=goal)["assignments"]
        return found and found[0].get("waitsFor")

    def runs(self):
        return list(self.folder.glob("overseerd.state/runs/*"))

    def run_count(self):
        return len(self.runs())

    def agent_kill(self):
        """The process that the hold started, by the pid that it wrote down."""
        hold = [int(pid) for pid in subprocess.run(["pgrep", "-f", f"overseer-hold --dir {self.folder}"], capture_output=True,
                                                   text=True, check=False).stdout.split()]
        for pid in hold:
            for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split():
                os.kill(int(child), signal.SIGKILL)

    def asking(self):
        return "run cp README made.txt" if self.gateway else fill(self.program.task, {"made": "made.txt", "text": "hello"})

    def close(self):
        try:
            for goal in self.do("goal.list")["goals"]:
                self.client.call("goal.cancel", {"goal": goal["goalId"], "reason": "the test is over"})
            time.sleep(1)
        finally:
            self.client.close()
            self.daemon.stop()
            if self.gateway:
                self.gateway.stop()


DONE = '{"status":"done","summary":"made it","filesTouched":["made.txt"]}'


@scenario()
def file_report_land(world):
    """A task that writes a file, reports through MCP, is verified and landed."""
    goal = world.task(f"write made.txt hello ;; call *overseer_update {DONE} ;; say all done")
    world.wait_done(goal)
    expect(world.landed() == "hello", "it is not on the branch")


@scenario()
def forbidden(world):
    """It is asked to read the store and to write to the operator's repository: the sandbox says no, and the work goes on."""
    goal = world.task(f"run cat {world.folder}/store.db {world.config} >stolen.txt; echo x >{world.repo}/planted ;; "
                      f"write made.txt hello ;; call *overseer_update {DONE} ;; say all done")
    world.wait_done(goal)
    expect(not (world.repo / "planted").exists(), "it wrote to the operator's repository")
    expect(world.landed("stolen.txt") == "", "it read what is ours")
    expect(world.do("assignment.list", goal=goal)["assignments"][0].get("sandbox", "bwrap+landlock") == "bwrap+landlock", "it is not held")


@scenario()
def daemon_killed(world):
    """The daemon is killed in mid-turn and started again: the run goes on, and nothing is said or done twice."""
    goal = world.task(f"write made.txt hello ;; think 4 && call *overseer_update {DONE} ;; say all done")
    world.wait("the file is there", lambda: list(world.folder.glob("overseerd.state/work/worktrees/*/tree/made.txt")))
    world.restart()
    world.wait_done(goal)
    expect(world.landed() == "hello", "it is not on the branch")
    records = [row["type"] for row in world.events(goal)]
    expect(records.count("work.landed") == 1, f"it landed {records.count('work.landed')} times")
    expect(world.told(goal, "task") == 1, f"it was told {world.told(goal, 'task')} times")


@scenario()
def agent_killed(world):
    """The agent dies in mid-turn: it is started again and goes on."""
    goal = world.task(f"write made.txt hello ;; think 8 && say late ;; call *overseer_update {DONE} ;; say all done")
    world.wait("the file is there", lambda: list(world.folder.glob("overseerd.state/work/worktrees/*/tree/made.txt")))
    world.agent_kill()
    world.wait_record(goal, "assignment.stalled")
    world.wait_done(goal)
    expect(world.run_count() == 2, f"there were {world.run_count()} runs")
    expect(world.landed() == "hello", "it is not on the branch")


@scenario()
def lies_about_done(world):
    """It says done without having done it: caught by the checks, told, and mended."""
    goal = world.task(f"call *overseer_update {DONE} ;; say all done")
    world.wait_record(goal, "work.checked")
    checked = world.wait_record(goal, "work.checked")[0]
    expect("unchanged" in json.dumps(checked), f"the check said {checked}")
    expect(world.state(goal) != "done", "it is called done")
    world.wait("it was told", lambda: world.told(goal, "failed"))


@scenario()
def server_error(world):
    """HTTP 500 from the model is a failed turn, not a hang and not a success."""
    goal = world.task("error 500 final")
    row = world.wait("it is seen for what it is", lambda: [row for row in world.events(goal) if row["type"] in
                     ("agent.seen", "assignment.stalled") and "failed" in json.dumps(row)], 150)
    expect(row and world.state(goal) != "done", "it is called done")


@scenario()
def rate_limit(world):
    """The account rests until the model says it may be used again."""
    goal = world.task(f"limit 60 && write made.txt hello ;; call *overseer_update {DONE} ;; say all done")
    world.wait("the limit is seen", lambda: world.waits_for(goal) == "quota", 100)
    world.wait_done(goal, 240)


@scenario()
def hangs(world):
    """The model says nothing for ever: the turn is stalled within its limit."""
    goal = world.task("hang")
    world.wait_record(goal, "assignment.stalled", 200)
    expect(world.state(goal) != "done", "it is called done")


@scenario()
def asks_a_person(world):
    """A tool that is not allowed is asked about; a person says yes, and it goes on."""
    goal = world.task(f"{world.asking()} ;; call *overseer_update {DONE} ;; say all done")
    world.wait("a person is asked", lambda: world.do("inbox.list")["items"], 90)
    question = world.do("inbox.list")["items"][0]
    world.do("question.answer", goal=goal, question=question["questionId"], answer="allow it once")
    world.wait_done(goal)


@scenario()
def by_hand(world):
    """Typed by a person, from run to land: what it says is followed, it is told something, its changes are looked at, sent back, landed."""
    def typed(*words):
        done = subprocess.run([str(BUILD / "overseer"), *words, "--socket", str(world.daemon.socket)], cwd=world.repo, capture_output=True,
                              text=True, check=False, timeout=60, env={**os.environ, "HOME": str(world.home)})
        expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    script = f"write made.txt hello ;; call *overseer_update {DONE} ;; say all of it is there"
    begun = json.loads(typed("run", f"Do the work.\n<<<{script}>>>", "--agent", "coder", "--json"))["tasks"][0]
    task, goal = begun["task"], begun["goalId"]
    world.wait("its words are there", lambda: "all of it is there" in typed("logs", task))
    world.wait("a person is asked", lambda: world.do("inbox.list")["items"], 90)
    expect("+hello" in typed("diff", task), "its change is not shown")
    expect("said" in typed("logs", task, "--json"), "its words are told")
    again = f"<<<write made.txt better ;; call *overseer_update {DONE} ;; say all done>>>"
    typed("reject", task, f"It has to be better. {again}")
    world.wait("it was made better", lambda: "+better" in typed("diff", task))
    world.wait("a person is asked again", lambda: world.do("inbox.list")["items"], 90)
    typed("land", task)
    world.wait_done(goal)
    expect(world.landed() == "better", "it is not on the branch")


@scenario()
def told_by_hand(world):
    """What a person says reaches the agent, in its next turn, once."""
    goal = world.task("write made.txt hello ;; say half of it is there")
    world.wait_record(goal, "agent.seen")
    subprocess.run([str(BUILD / "overseer"), "tell", goal, f"Go on. <<<call *overseer_update {DONE} ;; say all done>>>", "--socket",
                    str(world.daemon.socket)], check=True, timeout=60)
    world.wait_done(goal)
    expect(world.told(goal, "told") == 1, f"it was told {world.told(goal, 'told')} times")


by_hand.settings = {"person": True}


@scenario()
def gateway_killed(world):
    """The gateway dies in mid-turn and is started again: the bridge comes back, what became of the run is found out, and it is done."""
    goal = world.task(f"write made.txt hello ;; think 10 && call *overseer_update {DONE} ;; say all done")
    world.wait("the file is there", lambda: list(world.folder.glob("overseerd.state/work/worktrees/*/tree/made.txt")), 180)
    world.gateway.kill()
    world.gateway.start()
    world.wait_done(goal, 400)
    expect(world.landed() == "hello", "it is not on the branch")


gateway_killed.only_for = ("openclaw",)
asks_a_person.settings = {"asks": True}
hangs.settings = {"idle_after": "5s", "turn_most": "10s"}


def whole(name, only, keep):
    program = BY_NAME[AGENTS[name][2]]
    found = subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", program.installed], capture_output=True, check=False)
    failed = 0
    for title, function, _ in SCENARIOS:
        if (only and title not in only) or name not in getattr(function, "only_for", AGENTS):
            continue
        if found.returncode != 0:
            print(f"skip    {name:12} {title}: not installed", flush=True)
            continue
        folder = Path(tempfile.mkdtemp(prefix=f"whole-{name}-", dir=keep))
        begin = time.monotonic()
        try:
            with Model(log=str(folder / "model.log")) as model:
                world = World(name, model, folder, **getattr(function, "settings", {}))
                try:
                    function(world)
                finally:
                    (folder / "goals.json").write_text("\n".join(world.show(one["goalId"]) for one in world.do("goal.list")["goals"]))
                    world.close()
            print(f"ok      {name:12} {title} ({time.monotonic() - begin:.1f} s)", flush=True)
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
        except Exception as error:  # told, and the next one is tried
            failed += 1
            print(f"failed  {name:12} {title} ({time.monotonic() - begin:.1f} s): {type(error).__name__} {error} ({folder})", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        words = [str(HERE / "lonely"), f"OVERSEER_BUILD={os.environ.get('OVERSEER_BUILD', HERE.parents[1] / 'build')}",
                 sys.executable, str(HERE / "whole.py"), "--inside", *sys.argv[1:]]
        sys.exit(subprocess.run(words, check=False).returncode)
    sys.exit(1 if sum(whole(name, options.only, options.keep) for name in options.names or AGENTS) else 0)


main()
