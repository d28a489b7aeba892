# SPDX-License-Identifier: Apache-2.0
"""The fixture of a scenario: one real daemon, one repository, one real agent program, and the scripted model."""
import json
import os
import shlex
import signal
import subprocess
import urllib.parse
import sys
import time
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e")]
import gateway  # noqa: E402
from programs import BY_NAME, KEY, env_of, files_write  # noqa: E402
from world import Broken, Client, Daemon, Unreachable, wait_until  # noqa: E402

# How each agent is configured in Overseer. row: its row of programs.py; work: the script that writes made.txt; asking: the same with a
# tool that needs permission, if the agent asks; made: the content of the file then; tool: the name of that tool; share: files of the
# operator's HOME; more: additional settings; env: environment variables.
Agent = namedtuple("Agent", "driver kind row work asking made tool share more env",
                   defaults=("write made.txt hello", "write made.txt hello", "hello", "", (), {}, {}))
SHELL = "run echo hello > made.txt"
ESCAPE = "ask echo hello > made.txt"
AGENTS = {
    "claude": Agent("claude", "claude", "claude", tool="Write"),
    "claude-acp": Agent("acp", "claude-agent-acp", "claude-acp", tool="Write"),
    "claude-tmux": Agent("tmux", "claude", "claude", tool="Write"),
    "codex-acp": Agent("acp", "codex-acp", "codex-acp", asking=ESCAPE, share=(".codex/config.toml",)),
    "codex-tmux": Agent("tmux", "codex", "codex", asking=ESCAPE, more={"model": "scripted"}, env={"OPENAI_API_KEY": KEY}),
    "opencode": Agent("acp", "opencode", "opencode-acp", tool="edit", share=(".config/opencode/opencode.json",)),
    # without a model setting it asks another model which one to use, and cannot parse the answer for 90 s
    "gemini": Agent("acp", "gemini", "gemini-acp", tool="write_file", share=(".gemini/settings.json",),
                    more={"model": "gemini-2.5-flash"}),
    "goose": Agent("acp", "goose", "goose-acp", tool="write"),
    "qwen": Agent("acp", "qwen", "qwen-acp", work=SHELL, asking=SHELL, tool="run_shell_command",
                  share=(".qwen/settings.json",)),  # its write tool requires absolute paths
    "openclaw": Agent("openclaw", "openclaw", "openclaw", asking="run cp README made.txt", made="begun", tool="exec", more=gateway.SETTINGS,
                      env=gateway.ENV),
}
SLOW = {"openclaw": 4}  # factor by which its timeouts are longer
QUIET = ["DISABLE_TELEMETRY", "DO_NOT_TRACK", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER",
         "DISABLE_ERROR_REPORTING"]


class NotForIt(Exception):
    """The scenario does not apply to this agent; the message says why."""


def expect(promise, text):
    if not promise:
        raise Broken(text)


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}).stdout.strip()


def toml(section, rows):
    return f"{section}\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in rows.items())


def processes(word):
    """The pids of all processes whose command line or environment contains the word."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if any(word.encode() in (place / name).read_bytes() for name in ("cmdline", "environ")):
                found.append(int(place.name))
        except OSError:
            pass
    return found


class Fixture:
    """One daemon, one repository, one agent."""

    def __init__(self, name, model, folder, **settings):
        self.name, self.model, self.folder = name, model, folder
        self.agent = AGENTS[name]
        self.program = BY_NAME[self.agent.row]
        self.home, self.repo = folder / "home", folder / "repo"
        for place in (self.home, self.repo):
            place.mkdir(parents=True)
        self.values = {"url": model.url, "home": str(self.home), "cwd": str(self.repo)}
        files_write(self.program, self.home, self.values)
        self.repo_make()
        self.env = {**env_of(self.program, self.values), **self.agent.env}
        self.env.pop("CODEX_HOME", None)  # each run has its own
        config = folder / "overseer.toml"
        config.write_text(self.configuration(settings))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(config), "HOME": str(self.home), **self.env})
        self.gateway = gateway.Gateway(folder, model) if name == "openclaw" else None
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def repo_make(self):
        git(self.repo, "init", "-q", "-b", "main")
        git(self.repo, "config", "user.name", "somebody")
        git(self.repo, "config", "user.email", "somebody@localhost")
        (self.repo / "README").write_text("begun\n")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-q", "-m", "begin")
        git(self.repo, "checkout", "-q", "--detach")  # so that main is not checked out

    def configuration(self, settings):
        run = shlex.split(subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", self.program.installed], check=True,
                                         capture_output=True, text=True).stdout)
        sections = {
            "[supervision]": {"enabled": True, "tick_every": "1s", "idle_after": settings.get("idle_after", "60s"),
                              "min_resend_interval": "0s", "turn_most": settings.get("turn_most", "5m"), "max_retries": 5,
                              "backoff.base": "1s", "backoff.max": "5s", "verify_by_person": settings.get("person", False)},
            "[budget]": {"quota_guess": "20s"},
            "[people]": {"undo_for": "0s"},
            "[server]": {"listen": settings.get("listen", "")},
            "[repo]": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
            "[verify]": {"command": settings.get("verify", "test -s made.txt")},
            "[landing]": {"how": "rebase"}}
        tools = [self.agent.tool] if settings.get("by_name") else []
        sections["[[agents]]"] = {
            "id": "coder", "driver": self.agent.driver, "kind": self.agent.kind, "program": run[0], "args": run[1:],
            "keys": [*self.env, *QUIET], "base_url": self.model.url if self.agent.driver != "acp" else "", "tools": tools,
            **({"profile": "ask"} if settings.get("asks") else {}), "mcp_http": "listen" in settings, "share": list(self.agent.share),
            **self.agent.more}
        if settings.get("denied"):
            sections["[[agents]]"]["deny"] = [self.agent.tool]
        if self.agent.driver == "openclaw" and not settings.get("asks"):
            sections["[defaults]"] = {"skip_permissions": True}  # a gateway's agent is not in our sandbox
        network = settings.get("network") or os.environ.get("OVERSEER_AGENT_NETWORK")
        if network:
            sections["[[agents]]"]["network"] = network
            sections["[repo]"]["hosts"] = [urllib.parse.urlparse(self.model.url).netloc]
        sections["[[agents]]"] = sections.pop("[[agents]]")
        return "".join(toml(section, rows) for section, rows in sections.items())

    # ---- requests to the daemon ----

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:  # the daemon closes idle connections
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        expect(error is None, f"{method}: {error}")
        return result

    def script(self, script, goal=""):
        """The script in the form that this agent needs."""
        if not self.gateway:
            return script
        self.gateway.wait_ready()
        return gateway.in_words(script, goal)

    def task(self, script, text="Do the work."):
        goal = self.do("goal.create", title="a task for an agent")["goalId"]
        script = self.script(script, goal)
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": f"{text} <<<{script}>>>"}])
        return goal

    def events(self, goal):
        return self.do("goal.show", goal=goal)["records"]

    def state(self, goal):
        return self.do("goal.show", goal=goal)["state"]

    def assignment(self, goal):
        found = self.do("assignment.list", goal=goal)["assignments"]
        return found[0] if found else {}

    def questions(self):
        return self.do("inbox.list")["items"]

    def answer(self, goal, answer):
        question = self.wait("a person is asked", self.questions, 120)[0]
        self.do("question.answer", goal=goal, question=question["questionId"], answer=answer)
        return question

    # ---- waiting ----

    def wait(self, what, question, within=90):
        within *= SLOW.get(self.name, 1)

        def asked():
            self.daemon.alive()
            return question()
        return wait_until(what, asked, within, 0.1)

    def found(self, goal, **members):
        return [row for row in self.events(goal) if all(row.get(name) == value for name, value in members.items())]

    def wait_record(self, goal, within=90, **members):
        return self.wait(f"{members} is on the record", lambda: self.found(goal, **members), within)

    def wait_done(self, goal, within=150):
        self.wait("the goal is done", lambda: self.state(goal) == "done", within)

    def wait_made(self):
        self.wait("the file is there", self.made, 120)

    def made(self, name="made.txt"):
        return list(self.folder.glob(f"overseerd.state/work/worktrees/*/tree/{name}"))

    def landed(self, name="made.txt"):
        return git(self.repo, "show", f"main:{name}")

    def told(self, goal, words):
        """How often the agent was sent a message of that kind."""
        return len(self.found(goal, type="assignment.dispatched", text=words))

    # ---- actions on the daemon and the agent ----

    def restart(self):
        self.client.close()
        self.daemon.kill()
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def runs(self):
        return sorted(self.folder.glob("overseerd.state/runs/*"), key=lambda place: place.stat().st_mtime)

    def of_agents(self):
        """Processes of agents and their holds: their HOME or folder belongs to this fixture."""
        return processes(f"{self.folder}/overseerd.state/")

    def agent_kill(self):
        """Kills the process that the hold started, and every other process of that agent."""
        holds = processes(f"--dir\0{self.folder}") or processes(f"--dir {self.folder}")
        killed = 0
        for pid in self.of_agents():
            if pid in holds or pid == self.daemon.pid:
                continue
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except OSError:
                pass
        expect(killed and holds, "there was nobody to kill")

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

    def show(self):
        return "\n".join(json.dumps(self.do("goal.show", goal=one["goalId"]), indent=1) for one in self.do("goal.list")["goals"])
