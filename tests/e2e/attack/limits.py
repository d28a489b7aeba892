#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that takes as much memory, as many processes and as much processor time as it can. Every attempt is limited."""
import json
import os
import signal
import subprocess
import sys
import time

PIECE = 8 << 20
EAT = """
import sys
most, got, kept = int(sys.argv[1]), 0, []
try:
    while got < most:
        kept.append(bytearray(b"x" * (8 << 20)))
        got += 8 << 20
        print(got, flush=True)
except MemoryError:
    print("refused", flush=True)
"""


def eat(most):
    """How many bytes a child process of the run could allocate, and how it ended."""
    done = subprocess.run([sys.executable, "-c", EAT, str(most)], capture_output=True, text=True, timeout=60)
    said = done.stdout.split()
    numbers = [int(word) for word in said if word.isdigit()]
    return {"bytes": max(numbers, default=0), "status": done.returncode, "refused": "refused" in said}


def fork(most):
    """How many processes the agent could start at once."""
    began = []
    try:
        for _ in range(most):
            pid = os.fork()
            if pid == 0:
                time.sleep(30)
                os._exit(0)
            began.append(pid)
    except OSError:
        pass
    for pid in began:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(began)


def burn(seconds):
    """The share of one processor that a busy loop gets."""
    wall, used = time.monotonic(), time.process_time()
    while time.monotonic() - wall < seconds:
        pass
    return (time.process_time() - used) / (time.monotonic() - wall)


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    if "Be quiet." in sys.stdin.read():
        time.sleep(600)
    if know.get("explode"):
        kept = []
        while len(kept) * PIECE < know["memory"] * 3:
            kept.append(bytearray(b"x" * PIECE))
        time.sleep(600)
    said = {"memory": eat(know["memory"] * 3), "processes": fork(know["processes"] * 3), "cpu": burn(2)}
    with open("answer.new", "w", encoding="utf-8") as file:
        json.dump(said, file)
    os.rename("answer.new", "answer.json")


main()
