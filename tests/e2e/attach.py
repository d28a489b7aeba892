#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A person attaches to an agent's terminal: does the input arrive, and can the agent's tmux server make the person's client run a command?

attach.py: a real tmux server, bubblewrap, and a terminal of the test's own.
"""
import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

import proof
from world import BUILD

ATTACHED = BUILD / "tests" / "e2e" / "attached"


class Sitting:
    """A person at a terminal who is attached to that server."""

    def __init__(self, socket):
        self.socket, self.seen = socket, b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(ATTACHED, ["attached", shutil.which("bwrap"), shutil.which("tmux"), socket])

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True, check=False, timeout=20).stdout

    def see(self, wanted, within=10):
        end = time.monotonic() + within
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.terminal, 4096)
                except OSError:
                    break
            if wanted in self.seen:
                return True
        return wanted in self.seen


def main():
    if not shutil.which("bwrap") or not shutil.which("tmux"):
        print("skip: bubblewrap and tmux are wanted")
        return 0
    folder = tempfile.mkdtemp(prefix="overseer-attach-")
    socket, mark = f"{folder}/sock", f"{folder}/escaped"
    subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sh"], check=True, timeout=20)
    try:
        one = Sitting(socket)
        time.sleep(0.5)
        os.write(one.terminal, b"echo sum-$((40 + 2))\n")
        assert one.see(b"sum-42"), f"what is typed does not arrive: {one.seen[-300:]}"
        fcntl.ioctl(one.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        deadline = time.monotonic() + 10
        while "[100x30" not in one.tmux("list-clients") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "[100x30" in one.tmux("list-clients"), f"its size does not follow: {one.tmux('list-clients')}"
        one.tmux("detach-client", "-s", "0", "-E", f"touch {mark}; ls {os.path.expanduser('~')}; kill -9 -1; echo it-ran")
        assert one.see(b"ended with"), f"it does not end: {one.seen[-300:]}"
        assert not os.path.exists(mark), "a command of the agent's ran outside"
        assert "0:" in one.tmux("list-sessions"), "the agent's own session is gone"
    finally:
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, timeout=20)
        shutil.rmtree(folder, ignore_errors=True)
    print("ok attach: what is typed arrives, the size follows, and nothing of the agent's runs outside")
    proof.passed("e2e", "attach.boxed", "")
    return 0


sys.exit(main())
