# SPDX-License-Identifier: Apache-2.0
"""The environment of one person: a home of its own, a repository, the programs in PATH, and the store that the examples refer to."""
import fcntl
import hashlib
import json
import os
import pty
import select
import shutil
import sqlite3
import struct
import subprocess
import termios
import time
from pathlib import Path

from world import BUILD, Broken, folder_make, wait_until

GOAL = "goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN"    # the goal that help texts and man pages name
CLOSED = "goal_01JB5D3X0M2K8W3R6VYHNC7Q4T"  # another goal, completed
FAILED = "39FCW6H04A"                       # the goal with the key "example": its command failed


def node(kind, name, text, **more):
    return {f"{kind}Id": name, "name": text, "acceptanceCriteria": ["make check passes"], **more}


PLAN = {"phases": [node("phase", "P1", "Mail", tasks=[
    node("task", "T1.1", "Tokens", subtasks=[node("subtask", "S1.1.1", "make them"), node("subtask", "S1.1.2", "use them")]),
    node("task", "T1.2", "Template", dependsOn=["T1.1"])])]}
WORLD = {"version": 1, "goals": {
    GOAL: {"goalId": GOAL, "title": "Let visitors reset their password", "createdAt": "2026-10-27T09:30:00Z",
           "updatedAt": "2026-10-27T09:30:00Z", "status": "active", "priority": "high", "plan": PLAN},
    CLOSED: {"goalId": CLOSED, "title": "Tidy the changelog", "createdAt": "2026-10-26T09:30:00Z",
             "updatedAt": "2026-10-26T10:30:00Z", "status": "completed"}}}
NODES = [{"id": "P1", "tier": "phase", "name": "Mail", "acceptanceCriteria": ["it arrives"]},
         {"id": "T1.1", "tier": "task", "parentId": "P1", "name": "Tokens", "acceptanceCriteria": ["they work once"]}]

AGENTS = """[supervision]
enabled = true
[[agents]]
id = "auto-1"
driver = "pretend"
behaviour = "silent"
"""

# A damaged index loses nothing: a rebuild can read every row.
INDEX_PAGE = ("SELECT pageno FROM dbstat WHERE pagetype = 'leaf' AND name IN (SELECT name FROM sqlite_master WHERE type = 'index')"
              " ORDER BY ncell DESC LIMIT 1")


class Site:
    """One person with at most one daemon."""

    def __init__(self, name="cli"):
        self.folder = folder_make(name)
        self.repository = self.folder / "repository"
        self.environment = {
            "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state"), "LANG": "C.UTF-8", "TZ": "UTC",
            "XDG_CONFIG_HOME": str(self.folder / "config"), "PATH": f"{BUILD}:{os.environ['PATH']}", "TERM": "xterm-256color"}
        if "ASAN_OPTIONS" in os.environ:
            self.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        self.state = self.folder / "state" / "overseer"
        self.repository.mkdir()
        (self.repository / ".git").mkdir()
        (self.repository / "Makefile").write_text("all:\ncheck:\n\ttrue\n")
        (self.repository / "plan.json").write_text(json.dumps(NODES))

    def run(self, *words, stdin="", more=None, within=60):
        """(exit status, standard output, standard error), without a terminal."""
        words = list(words) if len(words) != 1 else ["bash", "-c", words[0]]
        done = subprocess.run(words, cwd=self.repository, env={**self.environment, **(more or {})}, input=stdin,
                              capture_output=True, text=True, timeout=within)
        return done.returncode, done.stdout, done.stderr

    def well(self, *words, **more):
        code, out, err = self.run(*words, **more)
        if code != 0:
            raise Broken(f"{' '.join(words)}: exit {code}: {err or out}")
        return out

    def json(self, *words):
        return json.loads(self.well(*words, "--json"))

    def on_terminal(self, *words, answer=None, columns=80, lines=24, more=None, within=30, end=None):
        """(exit status, text on the terminal). `end`: a text after which Ctrl-C is pressed."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.repository)
            os.execvpe(words[0], list(words), {**self.environment, **(more or {})})
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        shown, until, asked = b"", time.monotonic() + within, False
        while time.monotonic() < until:
            ready, _, _ = select.select([master], [], [], 0.1)
            try:
                piece = os.read(master, 65536) if ready else None
            except OSError:
                break
            if piece == b"":
                break
            shown += piece or b""
            if answer is not None and not asked and (b"] " in shown or b"? " in shown):
                os.write(master, answer.encode())
                asked = True
            if end and end.encode() in shown:
                os.write(master, b"\x03")
                end = None
        else:
            os.kill(pid, 9)
        os.close(master)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode("utf-8", "replace").replace("\r\n", "\n")

    # the store that the examples refer to

    def furnish(self):
        document = self.folder / "world.json"
        document.write_text(json.dumps(WORLD))
        self.state.mkdir(parents=True, mode=0o700)
        self.well("overseerd", "--maintain", "import", str(document))
        self.up()
        self.well("overseer", "goal", "create", "run the nightly build", "--command", "false", "--key", "example")
        wait_until("its command has failed", lambda: self.json("overseer", "goal", "show", FAILED)["state"] == "needs you", 10)
        self.down()
        token = {"tokenId": "tok_0123456789abcdef", "role": "reader", "actor": "human:lead", "note": "dashboard",
                 "createdBy": "human:0", "createdAt": "2026-10-27T09:30:00.000000Z", "expiresAt": None,
                 "sha256": "0123456789abcdef" + hashlib.sha256(b"x").hexdigest()[16:]}
        (self.state / "tokens").write_text(json.dumps(token) + "\n")
        (self.state / "tokens").chmod(0o600)
        self.well("overseer", "backup", "overnight.db")
        (self.repository / "tasks.md").write_text("- [ ] do this\n- [x] done that\n")
        (self.repository / "tasks.json").write_text(json.dumps([{"text": "do this"}, {"text": "do that"}]))
        (self.repository / "overseer.toml").write_text('[supervision]\ntick_every = "2m"\n')
        (self.repository / "approve.toml").write_text("[plans]\napprove = true\n")
        (self.repository / "agents.toml").write_text(AGENTS)
        shutil.copytree(self.state, self.folder / "kept")
        shutil.copytree(self.repository, self.folder / "kept-repository")

    def refresh(self):
        """Restores the state after furnish()."""
        self.down()
        (self.folder / "config" / "overseer" / "overseer.toml").unlink(missing_ok=True)
        for now, kept in ((self.state, "kept"), (self.repository, "kept-repository")):
            shutil.rmtree(now)
            shutil.copytree(self.folder / kept, now)

    def up(self):
        self.well("overseer", "up")

    def down(self):
        self.well("overseer", "down")

    def damage(self):
        """Kills the daemon, overwrites a part of the store with zeros, and lets the next start find the damage."""
        os.kill(json.loads((self.state / "daemon.json").read_text())["pid"], 9)
        store = self.state / "overseer.db"
        wait_until("it is gone", lambda: self.run("overseer", "admin", "health")[0] == 7, 10)
        whole = sqlite3.connect(store)
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        place = whole.execute(INDEX_PAGE).fetchone()[0]
        size = whole.execute("PRAGMA page_size").fetchone()[0]
        whole.close()
        with open(store, "r+b") as file:
            file.seek((place - 1) * size + size // 2)
            file.write(bytes(size // 2))
        code, _, err = self.run("overseer", "up")
        if code != 8:
            raise Broken(f"a damaged store is no safe mode: exit {code}: {err}")

    def close(self):
        try:
            self.down()
        except Broken as trouble:
            print(trouble)
        if not os.environ.get("OVERSEER_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)
