#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast an agent's output passes through the hold and the driver, compared with the same agent run directly.

  throughput.py [NAME …] [--pieces N] [--rounds N]

The scripted model sends N small pieces as fast as possible. The test measures the time from the model's first request to the end of the
turn, once with a client that only reads, and once as the daemon records it. Each round runs both; the order changes every round, so that
other load on the machine affects both. The test compares the two medians. It also prints how much processor time the Overseer programs used.
Exit status 1: the ratio is below 0.95; 77: none of the programs is installed.
"""
import argparse
import datetime
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
AGENTS = TOP / "tests/agents"
sys.path[:0] = [str(AGENTS), str(TOP / "tests/e2e")]
import acp  # noqa: E402
import agent_fixture as fixture  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME, argv_of, env_of, files_write  # noqa: E402

LEAST = 0.95
USED = []  # processor seconds of each round: Overseer's and the agent's
SKIPPED = 77


class Reader(acp.Client):
    """An ACP client that does not parse updates: the smallest possible cost of reading."""

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
    program = BY_NAME[fixture.AGENTS[name].row]
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


def seconds_used():
    """Processor seconds of all Overseer processes, and of the agent with all processes that it started."""
    ours = theirs = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (place / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        used = sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
        if name.startswith("overseer"):
            ours += used
        elif not name.startswith("python"):
            theirs += used
    return ours, theirs


def held(name, pieces, folder):
    with Model(log=str(folder / "model.log")) as model:
        with_daemon = fixture.Fixture(name, model, folder)
        try:
            goal = with_daemon.task(f"flood {pieces}")
            ended = with_daemon.wait_record(goal, rule="agent.turn-ended", within=120)[-1]
            USED.append(seconds_used())
            return datetime.datetime.fromisoformat(ended["at"].replace("Z", "+00:00")).timestamp() - asked_at(model)
        finally:
            with_daemon.close()


def measure(name, pieces, rounds):
    """Returns True if the agent is fast enough under the daemon."""
    seconds = {bare: [], held: []}
    USED.clear()
    for number in range(rounds):
        for way in (bare, held) if number % 2 == 0 else (held, bare):
            with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as folder:
                seconds[way].append(way(name, pieces, Path(folder)))
    through = statistics.median(seconds[held])
    ratio = statistics.median(seconds[bare]) / through
    rounds = " ".join(f"{one:.2f}/{two:.2f}" for one, two in zip(seconds[bare], seconds[held]))
    print(f"bench throughput-{name}: {pieces / through:.0f} pieces/s, ratio {ratio:.2f} of the agent run bare "
          f"(seconds bare/held in each round: {rounds})", flush=True)
    ours, theirs = (statistics.median(side) for side in zip(*USED))
    print(f"bench throughput-{name}-cpu: {ours:.2f} s, ratio {ours / theirs:.3f} of the agent's own", flush=True)
    return ratio >= LEAST


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--pieces", type=int, default=200000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        words = [str(AGENTS / "lonely"), f"OVERSEER_BUILD={os.environ.get('OVERSEER_BUILD', TOP / 'build')}", sys.executable, __file__, "--inside"]
        sys.exit(subprocess.run([*words, *sys.argv[1:]], check=False).returncode)
    names = [name for name in options.names or ["goose"] if run_of(BY_NAME[fixture.AGENTS[name].row])]
    if not names:
        print("skip: the program is not installed: tools/agents install goose")
        sys.exit(SKIPPED)
    sys.exit(0 if all([measure(name, options.pieces, options.rounds) for name in names]) else 1)


main()
