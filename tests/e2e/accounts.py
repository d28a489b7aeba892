#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `account add` makes a login of Overseer's own, and leaves the person's files as they are.

accounts.py [stdin|terminal|refused] …

The program of the agent is a script here: what it would ask its provider is not ours to try.
"""
import os
import pty
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from world import OVERSEER, Broken  # noqa: E402

TOKEN = "sk-ant-oat01-" + "t" * 60
SETTINGS = """# mine
[supervision]
enabled = true   # yes

[[agents]]
id = "claude"    # the first
driver = "claude"

[[agents]]
id = "codex"

[[agents]]
id = "own"
kind = "claude"
account = "mine"
"""
PROGRAM = """#!/bin/sh
echo "$0 $* HOME=$HOME" >>"{log}"
mkdir -p "$HOME/.codex" && echo '{{}}' >"$HOME/.codex/auth.json"
"""


def expect(holds, what):
    if not holds:
        raise Broken(what)


class Person:
    def __init__(self, folder):
        self.folder, self.home, self.state = folder, folder / "home", folder / "state"
        self.settings, self.log, programs = folder / "overseer.toml", folder / "log", folder / "bin"
        for place in (self.home, programs):
            place.mkdir()
        self.settings.write_text(SETTINGS)
        for name in ("claude", "codex"):
            (programs / name).write_text(PROGRAM.format(log=self.log))
            (programs / name).chmod(0o755)
        self.environment = {**os.environ, "HOME": str(self.home), "XDG_STATE_HOME": str(self.state), "PATH": f"{programs}:/usr/bin:/bin"}

    def words(self, *words):
        return [str(OVERSEER), "account", "add", *words, "--file", str(self.settings)]

    def add(self, *words, given=""):
        return subprocess.run(self.words(*words), input=given, capture_output=True, text=True, check=False, env=self.environment)

    def at_terminal(self, *words, answers=()):
        """Types each answer when its prompt is shown."""
        child, terminal = pty.fork()
        if child == 0:
            os.environ.clear()
            os.environ.update(self.environment)
            os.execv(self.words()[0], self.words(*words))
        shown, until = "", time.monotonic() + 20
        waiting = list(answers)
        while time.monotonic() < until:
            try:
                shown += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                break
            if waiting and waiting[0][0] in shown:
                os.write(terminal, waiting.pop(0)[1].encode())
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown

    def kept(self, name):
        return self.state / "overseer/accounts" / name


def is_private(path, mode):
    expect(stat.S_IMODE(path.stat().st_mode) == mode, f"{path} has mode {oct(path.stat().st_mode)}")


def stdin(person):
    """A token on standard input: a file that only its owner can read, and two lines in the settings."""
    said = person.add("work", "--agent", "claude", "--token-stdin", "--yes", given=TOKEN + "\n")
    token = person.kept("work") / "token"
    expect(said.returncode == 0 and token.read_text() == TOKEN + "\n", f"it says {said}")
    expect(TOKEN not in said.stdout + said.stderr, "it shows the token")
    is_private(token, 0o600)
    is_private(token.parent, 0o700)
    line = 'id = "claude"    # the first\n'
    expect(person.settings.read_text() == SETTINGS.replace(line, f'{line}account = "work"\ntoken_file = "{token}"\n'),
           f"the settings are {person.settings.read_text()}")
    before = person.settings.read_text()
    again = person.add("work", "--agent", "claude", "--token-stdin", "--yes", given="x" * 30 + "\n")
    expect(again.returncode == 0 and person.settings.read_text() == before and token.read_text() == "x" * 30 + "\n", f"again: {again}")
    own = person.add("work", "--agent", "own", "--token-stdin", "--yes", given=TOKEN + "\n")
    expect("Change these lines yourself" in own.stdout and person.settings.read_text() == before, f"it rewrote what a person wrote: {own}")


def terminal(person):
    """The program's own command runs in a HOME of its own; Enter means yes; the token is not shown."""
    status, shown = person.at_terminal("work", "--agent", "claude", answers=(("Token", TOKEN + "\n"), ("Add the lines", "\n")))
    expect(status == 0 and TOKEN not in shown, f"{status}: {shown}")
    expect((person.kept("work") / "token").read_text() == TOKEN + "\n", "the token was not kept")
    expect(f"claude setup-token HOME={person.kept('work')}/home\n" in person.log.read_text(), f"it ran {person.log.read_text()}")
    status, shown = person.at_terminal("second", "--agent", "codex", answers=(("Add the lines", "n\n"),))
    expect(status == 0 and "Nothing was added" in shown and "login_home" not in person.settings.read_text(), f"{status}: {shown}")
    status, shown = person.at_terminal("second", "--agent", "codex", answers=(("Add the lines", "\n"),))
    home = person.kept("second") / "home"
    expect(status == 0 and f'login_home = "{home}"' in person.settings.read_text(), f"{status}: {shown}")
    is_private(home, 0o700)
    expect(f"codex login HOME={home}\n" in person.log.read_text(), f"it ran {person.log.read_text()}")
    expect(not list(person.home.rglob("*")), f"the person's HOME has {list(person.home.rglob('*'))}")


def refused(person):
    """What cannot be a token, a name or an agent is refused, and nothing is changed."""
    rows = (("work", "claude", "short\n", "no token"), ("work", "claude", "with a blank in it, 30 bytes\n", "no token"),
            ("work", "claude", TOKEN, "no token"), ("work", "claude", "", "no token"), ("../work", "claude", TOKEN + "\n", "name of an account"),
            ("work", "nobody", TOKEN + "\n", "No agent is called"))
    for name, agent, given, why in rows:
        said = person.add(name, "--agent", agent, "--token-stdin", "--yes", given=given)
        expect(said.returncode != 0 and why in said.stderr, f"{name} {agent} {given!r}: {said}")
    said = person.add("work", "--agent", "claude")
    expect(said.returncode != 0 and "terminal" in said.stderr, f"without a terminal: {said}")
    expect(person.settings.read_text() == SETTINGS, "the settings were changed")
    expect(not list(person.state.rglob("token*")), "a token was kept")


TESTS = {"stdin": stdin, "terminal": terminal, "refused": refused}


def main():
    failed = 0
    for name in sys.argv[1:] or TESTS:
        folder = Path(tempfile.mkdtemp(prefix=f"overseer-accounts-{name}.", dir="/tmp"))
        try:
            TESTS[name](Person(folder))
            print(f"ok: {TESTS[name].__doc__}", flush=True)
        except Broken as error:
            failed = 1
            print(f"failed: {name}: {error}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed)


main()
