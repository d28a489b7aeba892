#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a line that an agent writes. lines.py [--agents N] [--acp M] [--seconds S] [--sandbox MODE] [--check]

Runs a real daemon with N `command` agents and M ACP agents. A `command` agent is a script that writes one numbered line each second. An ACP
agent is Goose with the scripted model of tests/agents, in an isolated network; it streams four numbered pieces each second. The test reads
kernel counters of the daemon and of all holds: bytes written to the disk, processor seconds, and wake-ups of the holds. Then it kills the
daemon with SIGKILL and starts it again. It measures the time until the daemon follows every agent again, and checks that said.log, which
people read, has every line exactly once.

The counters of a process (/proc/PID/io) count a page of a file when it becomes dirty.
Prints a line for each figure; the baseline of a figure is its limit.
--check: exit status 1 if a figure exceeds its limit. Processor seconds are not checked, because other programs change them.
"""
import argparse
import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(TESTS / "agents")]
from model import Model  # noqa: E402
from programs import BY_NAME, env_of  # noqa: E402
from world import BUILD, Broken, Client, Daemon, folder_make, wait_until  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
BYTES_A_LINE, BYTES_AN_HOUR, MICROSECONDS, WAKE_UPS, FOLLOWED = 1024, 4 << 20, 100, 2, 3

# The script waits without starting a process each second. Its lines are about as long as the lines of a build.
AGENT = r"""#!/bin/bash
read -r told
mkfifo "$1/wait.$$" && exec 9<> "$1/wait.$$" && rm -f "$1/wait.$$"
n=0
while [ ! -e "$1/end" ]; do
    read -r -t 1 -u 9
    n=$((n + 1))
    echo "line $n of the agent $$: compiling the next file, nothing to see here"
done
"""

PIECES = 4  # pieces that a streaming agent writes each second; a piece has 8 characters, here a number and a space
STREAMS = "It streams."  # the model looks for this text in a prompt


def streaming_model(seconds):
    """A model whose answer lasts that many seconds. Every eighth piece ends a line."""
    words = "".join(f"n{number:06}" + (" " if number % 8 else "\n") for number in range(1, int(seconds * PIECES) + 1))
    model = Model()
    model.file.rules.append((re.compile(re.escape(STREAMS)), [f"drip {seconds} {words}"]))
    return model


def talker_settings(home, url):
    """Settings and environment of a real program that speaks ACP, with the model at url."""
    program = BY_NAME["goose-acp"]
    words = shlex.split(subprocess.run([str(TESTS.parent / "tools/agents"), "path", program.installed], check=True, capture_output=True, text=True).stdout)
    environment = env_of(program, {"url": url, "home": str(home), "cwd": str(home)})
    lines = ["[[agents]]", 'id = "talker"', 'driver = "acp"', 'kind = "goose"', f"program = {json.dumps(words[0])}", f"args = {json.dumps(words[1:])}",
             f"keys = {json.dumps([*environment])}"]
    return lines, environment


def settings_write(folder, sandbox, talker=()):
    script = folder / "agent.sh"
    script.write_text(AGENT)
    script.chmod(0o755)
    lines = ["[supervision]", "enabled = true", 'tick_every = "30s"', 'idle_after = "10m"', "verify_by_person = false", "[escalation]", "desktop = false", "[caps]", "actions_per_minute = 100000", "at_once = 0",
             "[policy]", 'allow_agents = ["*"]', "allow_cross_agent = true", "[sandbox]", f'mode = "{sandbox}"', "[[agents]]", 'id = "coder"', 'driver = "command"', f'program = "{script}"',
             f'args = ["{folder}"]', *talker]
    path = folder / "overseer.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def plan(agent):
    return [{"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"], "suggestedAgentId": agent,
             "objective": STREAMS if agent == "talker" else "the work"}]


def goal_make(client, number, agent):
    made = client.result_of("goal.create", {"title": f"goal {number}", "key": f"g{number}"})
    client.result_of("plan.apply", {"goal": made["goalId"], "nodes": plan(agent), "key": f"p{number}"})


def holds(state):
    """{run folder: pid of its hold} for all runs in the state folder."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "comm").read_text().strip() == "overseer-hold" and str(state) in os.readlink(place / "cwd"):
                found[os.readlink(place / "cwd")] = int(place.name)
        except OSError:
            continue
    return found


class Used:
    """What one process has used since it started."""

    def __init__(self, pid):
        io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
        self.bytes = int(io["write_bytes"])
        self.cpu = (int(stat[11]) + int(stat[12])) / TICKS
        self.wakes = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M).group(1))


def exact_cpu(pid):
    """Nanoseconds that all threads of the process ran."""
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return total


class Counters:
    def __init__(self, daemon, state):
        self.at = time.monotonic()
        self.holds = {place: Used(pid) for place, pid in holds(state).items()}
        self.hold_cpu = {place: exact_cpu(pid) for place, pid in holds(state).items()}
        self.daemon, self.daemon_cpu = Used(daemon.pid), exact_cpu(daemon.pid)
        self.lines = sum(lines_of(place) for place in self.holds)


def streams(place):
    with open(Path(place) / "out.log", "rb") as log:
        return log.read(1) == b"{"


def lines_of(place):
    """Number of lines that an agent has written so far: the last number in its output; for an ACP agent, the number of its messages."""
    with open(Path(place) / "out.log", "rb") as log:
        if log.read(1) == b"{":
            return log.read().count(b"\n")
        log.seek(max(0, os.fstat(log.fileno()).st_size - 400))
        numbers = re.findall(rb"line (\d+) of", log.read())
    return int(numbers[-1]) if numbers else 0


def said(place):
    path = Path(place) / "said.log"
    return [int(number) for number in re.findall(r" said line (\d+) of", path.read_text())] if path.exists() else []


def streamed(place):
    """The numbers of an ACP agent in said.log, which people read."""
    path = Path(place) / "said.log"
    return [int(number) for number in re.findall(r"\bn(\d{6})\b", path.read_text())] if path.exists() else []


def followed(places, since):
    """True if the daemon has written to said.log of each run after `since`."""
    return all((Path(place) / "said.log").stat().st_mtime > since for place in places)


def measure(daemon, state, agents, seconds):
    before = Counters(daemon, state)
    time.sleep(seconds)
    after = Counters(daemon, state)
    lines = after.lines - before.lines
    if lines < 0.5 * agents * seconds:
        raise Broken(f"{lines} lines in {seconds} s of {agents} agents: they do not write as they should")
    daemon_bytes = after.daemon.bytes - before.daemon.bytes
    hold_bytes = sum(after.holds[place].bytes - before.holds[place].bytes for place in after.holds)
    daemon_cpu = (after.daemon_cpu - before.daemon_cpu) / 1e3
    hold_cpu = sum(after.hold_cpu[place] - before.hold_cpu[place] for place in after.holds) / 1e3
    wakes = sum(after.holds[place].wakes - before.holds[place].wakes for place in after.holds)
    hours = agents * (after.at - before.at) / 3600
    print(f"lines: {lines} lines of {agents} agents in {after.at - before.at:.0f} s; of the daemon {daemon_bytes / lines:.0f} bytes and {daemon_cpu / lines:.0f} us "
          f"a line, of the holds {hold_bytes / lines:.0f} bytes and {hold_cpu / lines:.0f} us", flush=True)
    return [("lines-disk", (daemon_bytes + hold_bytes) / lines, "bytes a line", BYTES_A_LINE),
            ("lines-disk-hour", (daemon_bytes + hold_bytes) / hours, "bytes an agent-hour", BYTES_AN_HOUR),
            ("lines-cpu", (daemon_cpu + hold_cpu) / lines, "us a line", MICROSECONDS),
            ("lines-wakes", wakes / lines, "wake-ups of a hold a line", WAKE_UPS)]


def kill_and_follow(daemon, places):
    daemon.kill()
    begun = time.monotonic()
    since = time.time()
    daemon.start()
    daemon.wait_joined(30)
    wait_until("every agent is followed again", lambda: followed(places, since), 60, 0.02)
    return ("lines-followed", time.monotonic() - begun, "s until every agent is followed after kill -9", FOLLOWED)


def written(place):
    """The last number that an agent has written in complete lines."""
    if not streams(place):
        return lines_of(place)
    return max(0, *map(int, re.findall(r"n(\d{6})", (Path(place) / "out.log").read_text()))) - 2 * 8


def judge_every_line(places):
    for place in places:
        numbers = streamed(place) if streams(place) else said(place)
        if numbers != list(range(1, len(numbers) + 1)):
            wrong = next(i for i, number in enumerate(numbers) if number != i + 1)
            raise Broken(f"{place}: what people read has {numbers[max(0, wrong - 2):wrong + 3]} where {wrong + 1} belongs")
        if len(numbers) + 5 < written(place):
            raise Broken(f"{place}: people read {len(numbers)} lines of {written(place)}")


def all_write(state, count):
    found = holds(state)
    return len(found) == count and all(lines_of(place) > (20 if streams(place) else 2) for place in found)


def run(options, model):
    folder = folder_make("lines")
    talker, environment = talker_settings(folder, model.url) if model else ((), {})
    config = settings_write(folder, options.sandbox, talker)
    daemon = Daemon(folder, f"sqlite:{folder / 'overseer.db'}", environment={"OVERSEER_CONFIG": str(config), **environment})
    daemon.start()
    daemon.wait_joined()
    state = daemon.socket.with_suffix(".state")
    client = Client(daemon.socket)
    agents = options.agents + options.acp
    for number in range(agents):
        goal_make(client, number, "talker" if number < options.acp else "coder")
    try:
        wait_until("every agent writes", lambda: all_write(state, agents), 600, 1)
        places = list(holds(state))
        time.sleep(10)
        figures = measure(daemon, state, agents, options.seconds)
        for _ in range(options.kills):
            figures.append(kill_and_follow(daemon, places))
            time.sleep(3)
        judge_every_line(places)
    finally:
        (folder / "end").touch()
        time.sleep(3)
    figures_print(figures)
    daemon.stop(60)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--acp", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--sandbox", default="off")
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.acp and not options.inside:
        words = [str(TESTS / "agents" / "lonely"), f"OVERSEER_BUILD={BUILD}", sys.executable, os.path.abspath(__file__), "--inside", *sys.argv[1:]]
        os.execv(words[0], words)
    with streaming_model(options.seconds + 900) if options.acp else contextlib.nullcontext() as model:
        figures = run(options, model)
    return 1 if options.check and any(value > limit and name != "lines-cpu" for name, value, _, limit in figures) else 0


def figures_print(figures):
    for name, value, unit, limit in figures:
        print(f"bench {name}: {value:.2f} {unit}, ratio {value / limit:.2f} of a limit of {limit}")


if __name__ == "__main__":
    sys.exit(main())
