#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that Overseer observes a session that a person started, and never touches it.

  adopted.py [--keep DIR]

The real Claude Code runs in a terminal of a real tmux server, as a person has it, with the scripted model. The real daemon has no
agent in its settings. Everything runs in a namespace with only loopback. Exit status 77: the program is not installed.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import proof  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME, KEY, env_of, files_write  # noqa: E402
from world import OVERSEER, Broken, Client, Daemon, wait_until  # noqa: E402

SKIPPED = 77
BUILD = Path(os.environ.get("OVERSEER_BUILD", TOP / "build"))
ROWS = "RECOVER-01 RECOVER-06"
SETTINGS = """[supervision]
enabled = {enabled}
tick_every = "1s"
idle_after = "12s"
turn_most = "5m"
[people]
undo_for = "0s"
"""


def expect(promise, text):
    if not promise:
        raise Broken(text)


class Site:
    """A person's machine: a HOME, a tmux server, and Claude Code in a pane; Overseer runs beside it."""

    def __init__(self, folder, model, run):
        self.model = model
        self.folder, self.home, self.work, self.run = folder, folder / "home", folder / "work", run
        for place in (self.home, self.work, folder / "tmux"):
            place.mkdir(mode=0o700)
        self.env = {**os.environ, **env_of(BY_NAME["claude"], {"url": model.url, "home": str(self.home), "cwd": str(self.work)}),
                    "HOME": str(self.home), "TMUX_TMPDIR": str(folder / "tmux"), "ENV": "", "PS1": "$ ",
                    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1"}
        (self.home / ".claude.json").write_text(json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.work): {"hasTrustDialogAccepted": True}}}))
        config = folder / "overseer.toml"
        config.write_text(SETTINGS.format(enabled="false"))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"],
                             environment={**self.env, "OVERSEER_CONFIG": str(config)})
        self.daemon.start()
        self.daemon.wait_joined()

    # ---- the person's terminal ----

    def tmux(self, *words, server="default"):
        return subprocess.run(["tmux", "-L", server, *words], check=True, capture_output=True, text=True, env=self.env,
                              cwd=self.work).stdout

    def open(self, server="default", within="{}"):
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "40", "sh", server=server)
        self.keys(within.format(f"{self.run} --permission-mode acceptEdits"), server=server)
        wait_until("Claude Code shows its prompt", lambda: "\u276f" in self.screen(server), 60, 0.3)

    def keys(self, text, server="default"):
        self.tmux("send-keys", "-l", text, server=server)
        time.sleep(0.5)
        self.tmux("send-keys", "Enter", server=server)

    def screen(self, server="default"):
        """Leaves out the line above the prompt box, where Claude Code shows changing tips."""
        lines = self.tmux("capture-pane", "-p", "-S", "-", server=server).splitlines()
        rule = next((at for at, line in enumerate(lines) if line.startswith("\u2500\u2500")), 0)
        return "\n".join(lines[:max(rule - 1, 0)] + lines[rule:])

    def transcripts(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in self.home.glob(".claude/projects/*/*.jsonl")}

    # ---- Overseer ----

    def overseer(self, *words, code=0):
        done = subprocess.run([str(OVERSEER), "--socket", str(self.daemon.socket), *words], capture_output=True, text=True,
                              env=self.env, cwd=self.work, check=False)
        expect(done.returncode == code, f"overseer {' '.join(words)}: {done.returncode} {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def show(self, *words):
        """Appends the command and its output to screens.txt, to show what a person sees."""
        with open(self.folder / "screens.txt", "a", encoding="utf-8") as file:
            file.write(f"$ overseer {' '.join(words)}\n{self.overseer(*words)}\n")

    def do(self, method, **params):
        client = Client(self.daemon.socket)
        _, result, error = client.call(method, params)
        client.close()
        expect(error is None, f"{method}: {error}")
        return result

    def listed(self):
        return {row["session"]: row for row in json.loads(self.overseer("adopt", "--json"))["sessions"]}

    def assignment(self, goal):
        found = self.do("assignment.list", goal=goal)["assignments"]
        return found[0] if found else {}

    def asked(self, goal, words):
        return [item for item in self.do("inbox.list")["items"] if item["goalId"] == goal and words in json.dumps(item)]

    def wait(self, what, question, within=60):
        return wait_until(what, lambda: self.daemon.alive() and question(), within, 0.2)

    def watchers(self):
        words = b"--lines"
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                argv = (place / "cmdline").read_bytes().split(b"\0")
                if words in argv and argv[0].endswith(b"/overseer"):
                    found.append(int(place.name))
            except OSError:
                pass
        return found

    def close(self):
        for server in ("default", "other"):
            subprocess.run(["tmux", "-L", server, "kill-server"], capture_output=True, env=self.env, check=False)
        self.daemon.stop()


# ---- scenarios ----

def in_a_pane(site):
    """Overseer lists and adopts a pane, sees it work, fall silent and wake up, reports its end, and types nothing into it."""
    site.open()
    session = site.wait("the pane is listed", lambda: site.listed().get("tmux:%0"))
    expect(session["program"] == "claude" and session["folder"] == str(site.work) and session["alive"], f"it is {session}")
    made = json.loads(site.overseer("adopt", "%0", "--title", "the parser", "--json"))
    goal, task = made["goalId"], made["task"]
    site.wait("it is watched", lambda: site.assignment(goal).get("agentId") == "tmux:%0" and site.watchers())
    expect("already" in site.overseer("adopt", "tmux:%0", code=4), "it is watched twice")
    site.keys("<<<say first words && run ls ;; think 3 && say working on it && run pwd ;; say finished>>>")
    site.wait("its words are read", lambda: "finished" in site.overseer("logs", task))
    site.wait("it is seen working", lambda: site.assignment(goal).get("status") == "active")
    logs = site.overseer("logs", task)
    expect("working on it" in logs and "Bash" in logs and "<<<" not in logs, f"the log says {logs}")
    written = site.transcripts()

    site.wait("its silence is told", lambda: site.asked(goal, "it is silent"), 90)
    screen = site.screen()
    why = site.overseer("why", task)
    for words in (["adopt"], ["status"], ["agents"], ["inbox"], ["why", task], ["logs", task]):
        site.show(*words)
    records = site.do("goal.show", goal=goal)["records"]
    skipped = [row for row in records if row["type"] == "ladder.skipped"]
    expect(len(skipped) == 4 and all(row["reason"] == "it is only watched" for row in skipped), f"skipped: {skipped}")
    expect("is only watched and gets no messages" in why and "message sent to its agent" not in why, f"why says {why}")
    site.daemon.kill()
    site.daemon.start()
    site.daemon.wait_joined()
    time.sleep(20)  # it stays silent for longer, across a restart of the daemon
    expect(site.screen() == screen, f"its screen has changed:\n{screen}\n----\n{site.screen()}")
    expect(site.transcripts() == written, "its transcript has changed")
    expect(len(site.watchers()) == 1, f"it is watched by {site.watchers()}")

    site.keys("<<<say awake again>>>")
    site.wait("nobody is asked any more", lambda: not site.asked(goal, "it is silent"))
    expect("awake again" in site.wait("it is heard", lambda: site.overseer("logs", task)), "its words are missing")
    site.keys("/exit")
    site.wait("its end is told", lambda: site.asked(goal, "it has ended"))
    sent = [row for row in site.do("goal.show", goal=goal)["records"] if row["type"] == "assignment.dispatched"]
    expect(len(sent) == 1, f"it was sent something: {sent}")
    site.wait("nobody watches any more", lambda: not site.watchers())
    expect(not site.listed().get("tmux:%0"), "what has ended is listed as a pane")
    question = site.asked(goal, "it has ended")[0]["questionId"]
    site.do("question.answer", goal=goal, question=question, answer="it is done")
    site.wait("a person has called it done", lambda: site.do("goal.show", goal=goal)["state"] == "done")


def by_its_session(site):
    """Overseer finds a session of Claude Code elsewhere by its files, sends it no byte, and leaves it unchanged when a person releases it."""
    typed = site.folder / "typed"  # every byte that its terminal ever received
    site.open(server="other", within=f"script -q -f -I {typed} -c '{{}}'")
    site.keys("<<<say here I am>>>", server="other")

    def there():
        return [row for name, row in site.listed().items() if name.startswith("claude:") and row["alive"]]
    session = site.wait("the session is listed", there)[0]
    expect(session["folder"] == str(site.work), f"it is {session}")
    made = json.loads(site.overseer("adopt", session["sessionId"][:8], "--json"))
    site.wait("it is watched", site.watchers)
    site.keys("<<<say more of it>>>", server="other")
    site.wait("its words are read", lambda: "more of it" in site.overseer("logs", made["task"]))
    written, bytes_typed = site.transcripts(), typed.read_bytes()
    expect(b"more of it" in bytes_typed, "what the person types is not recorded")
    refused = site.overseer("tell", made["task"], "stop that", code=4)
    site.wait("its silence is told", lambda: site.asked(made["goalId"], "it is silent"), 90)
    screen = site.screen("other")
    expect("only watched" in refused, f"telling it something says {refused}")
    site.overseer("adopt", "--release", made["task"])
    site.wait("nobody watches any more", lambda: not site.watchers())
    time.sleep(2)
    expect(Path(f"/proc/{session['pid']}").exists(), "it was ended")
    expect(site.screen("other") == screen and site.transcripts() == written, "it was touched")
    expect(typed.read_bytes() == bytes_typed, "something was typed into it")


def without_a_transcript(site):
    """Overseer knows only the screen of another program: Codex, in the pane where Claude Code was before."""
    path = subprocess.run([str(TOP / "tools/agents"), "path", "codex"], capture_output=True, text=True, check=False)
    if path.returncode != 0:
        return print("skip    codex is not installed: tools/agents install codex", flush=True)
    row, values = BY_NAME["codex"], {"url": site.model.url, "home": str(site.home), "cwd": str(site.work)}
    files_write(BY_NAME["codex-acp"], site.home, values)
    env = " ".join(f"{name}={value}" for name, value in env_of(row, values).items())
    site.keys(f"{env} {path.stdout.strip()} --disable daemon_auto_start -s read-only")
    site.wait("Codex shows its prompt", lambda: "\u203a" in site.screen(), 60)
    session = site.wait("the pane is listed", lambda: site.listed().get("tmux:%0"))
    expect(session["program"] == "codex" and session["folder"] == str(site.work), f"it is {session}")
    made = json.loads(site.overseer("adopt", "%0", "--json"))
    site.wait("it is watched", site.watchers)
    time.sleep(6)  # until Overseer has looked at its screen once
    site.keys("<<<think 2 && say hello from here>>>")
    site.wait("it is seen working", lambda: site.assignment(made["goalId"]).get("status") == "active")
    site.wait("its silence is told", lambda: site.asked(made["goalId"], "it is silent"), 90)
    screen = site.screen()
    time.sleep(8)
    expect(site.screen() == screen and "hello from here" in screen, f"its screen has changed:\n{screen}\n----\n{site.screen()}")
    site.overseer("adopt", "--release", made["task"])
    site.wait("nobody watches any more", lambda: not site.watchers())
    expect(Path(f"/proc/{session['pid']}").exists() and site.screen() == screen, "it was touched")
    return None


def what_is_not_there(site):
    """Error messages say what happened and what to do next."""
    said = site.overseer("adopt", "%77", code=3)
    expect("%77" in said and "overseer adopt" in said, f"it says {said}")
    ended = next(name for name, row in site.listed().items() if not row["alive"])
    said = site.overseer("adopt", ended, code=4)
    expect("has ended" in said and "--resume" in said, f"it says {said}")


def inside(keep):
    path = subprocess.run([str(TOP / "tools/agents"), "path", "claude"], capture_output=True, text=True, check=False)
    if path.returncode != 0 or not shutil.which("tmux"):
        print("skip    claude or tmux is not installed: tools/agents install claude")
        sys.exit(SKIPPED)
    folder = Path(tempfile.mkdtemp(prefix="a", dir=keep))
    failed = 0
    with Model(log=str(folder / "model.log")) as model:
        site = Site(folder, model, path.stdout.strip())
        for scene in (in_a_pane, by_its_session, without_a_transcript, what_is_not_there):
            begin = time.monotonic()
            try:
                scene(site)
                print(f"ok      {scene.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
                proof.passed("agents", f"adopted {scene.__name__}", ROWS)
            except Exception as error:  # reported; the next scenario still runs
                failed += 1
                print(f"failed  {scene.__name__}: {type(error).__name__} {error} ({folder})", flush=True)
        expect(not site.daemon.promises_broken(), f"its log says {site.daemon.promises_broken()}")
        site.close()
    if not failed and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.keep)
    words = [str(HERE / "lonely"), f"OVERSEER_BUILD={BUILD}", sys.executable, str(HERE / "adopted.py"), "--inside", *sys.argv[1:]]
    sys.exit(subprocess.run(words, check=False).returncode)


main()
