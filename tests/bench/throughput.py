#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast do an agent's words come through the hold and the driver, beside the same agent run bare?

  throughput.py [NAME …] [--pieces N] [--rounds N]

The scripted model sends N small pieces as fast as they go. Measured from the model's first request to the end of the turn: as
a client sees it that does nothing but read, and as the daemon records it. Both in turn, in one run; the best round of each
counts, since whatever else the machine does only makes it slower. Exit status 1: the ratio is under 0.95; 77: none of the programs is here.
"""
import argparse
import datetime
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
AGENTS = TOP / "tests/agents"
sys.path[:0] = [str(AGENTS), str(TOP / "tests/e2e")]
import acp  # noqa: E402
import house  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME, argv_of, env_of, files_write  # noqa: E402

LEAST = 0.95
SKIPPED = 77


class Reader(acp.Client):
    """Does not look into what is only an update: the least that a reader can do."""

    def read(self):
        for line in self.process.stdout:
            if b'"session/update"' not in line:
                self.lines.put(acp.json.loads(line))
        self.lines.put(acp.CLOSED)


def run_of(program):
    found = subprocess.run([str(TOP / "tools/agents"), "path", program.installed], capture_output=True, text=True, check=False)
    return shlex.split(found.stdout) if found.returncode == 0 else None


def asked_at(model):
    return next(line["at"] for line in model.log("asked") if line.get("why") == "prompt")


def bare(name, pieces, folder):
    program = BY_NAME[house.AGENTS[name].row]
    home, cwd = folder / "home", folder / "work"
    home.mkdir(parents=True)
    cwd.mkdir()
    with Model(log=str(folder / "model.log")) as model:
        values = {"url": model.url, "home": str(home), "cwd": str(cwd)}
        files_write(program, home, values)
        env = dict(os.environ, HOME=str(home), **env_of(program, values))
        client = Reader(argv_of(program, run_of(program), values), str(cwd), env, stderr=subprocess.DEVNULL)
        try:
            client.prompt(client.begin(str(cwd), program.mode), f"<<<flood {pieces}>>>")
            return time.time() - asked_at(model)
        finally:
            client.close()


def held(name, pieces, folder):
    with Model(log=str(folder / "model.log")) as model:
        with_daemon = house.House(name, model, folder)
        try:
            goal = with_daemon.task(f"flood {pieces}")
            ended = with_daemon.wait_record(goal, rule="agent.turn-ended", within=120)[-1]
            return datetime.datetime.fromisoformat(ended["at"].replace("Z", "+00:00")).timestamp() - asked_at(model)
        finally:
            with_daemon.close()


def measure(name, pieces, rounds):
    """True: it is fast enough."""
    alone, through = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as one, \
                tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as two:
            alone.append(bare(name, pieces, Path(one)))
            through.append(held(name, pieces, Path(two)))
    ratio = min(alone) / min(through)
    rounds = " ".join(f"{one:.2f}/{two:.2f}" for one, two in zip(alone, through))
    print(f"bench throughput-{name}: {pieces / min(through):.0f} pieces/s, ratio {ratio:.2f} of the agent run bare "
          f"(seconds bare/held in each round: {rounds})", flush=True)
    return ratio >= LEAST


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--pieces", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        words = [str(AGENTS / "lonely"), f"OVERSEER_BUILD={os.environ.get('OVERSEER_BUILD', TOP / 'build')}", sys.executable, __file__, "--inside"]
        sys.exit(subprocess.run([*words, *sys.argv[1:]], check=False).returncode)
    names = [name for name in options.names or ["goose"] if run_of(BY_NAME[house.AGENTS[name].row])]
    if not names:
        print("skip: the program is not installed: tools/agents install goose")
        sys.exit(SKIPPED)
    sys.exit(0 if all([measure(name, options.pieces, options.rounds) for name in names]) else 1)


main()
