#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures one daemon that runs ten thousand agents. agents.py [--agents N] [--minutes M]

Runs a real daemon on SQLite with pretend agents in real time. Starts all agents first, then measures how late the daemon is, how much
processor and memory it uses, and how much it writes. Prints a line for each figure; the baseline of a figure is its limit."""
import argparse
import os
import pathlib
import sqlite3
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from world import Broken, Client, Daemon, folder_make, wait_until  # noqa: E402

BEHAVIOURS = {"works": 60, "slow": 15, "silent": 4, "dies": 3, "hangs": 3, "chatters": 3, "late": 3, "stops-short": 3, "wordy": 3, "loops": 3}
WRITERS = 8
TICKS = os.sysconf("SC_CLK_TCK")


def settings_write(folder, behaviours):
    lines = ["[policy]", "allow_cross_agent = true", 'allow_agents = ["*"]', "[supervision]", "enabled = true", 'tick_every = "2m"', 'idle_after = "10m"', "[caps]", "actions_per_minute = 100000", "at_once = 0"]
    for name in behaviours:
        lines += ["[[agents]]", f'id = "{name}"', 'driver = "pretend"', f'behaviour = "{name}"', f'role = "{name}"']
    path = folder / "overseer.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def plan_of(role):
    return [{"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "suggestedAgentType": role}]


class Writer(threading.Thread):
    """Creates every WRITERS-th goal with its plan."""

    def __init__(self, socket, number, count, roles):
        super().__init__(daemon=True)
        self.client, self.number, self.count, self.roles, self.error = Client(socket), number, count, roles, None

    def run(self):
        try:
            for i in range(self.number, self.count, WRITERS):
                made = self.client.result_of("goal.create", {"title": f"goal {i}", "key": f"g{i}"})
                self.client.result_of("plan.apply", {"goal": made["goalId"], "nodes": plan_of(self.roles[i % len(self.roles)]), "key": f"p{i}"})
        except Exception as error:  # main() raises it after join()
            self.error = error


def cpu_seconds(pid):
    parts = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / TICKS


def memory_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def metrics(client):
    client.close()
    values = {}
    import http.client
    from world import UnixConnection
    connection = UnixConnection(client.path, 30)
    connection.request("GET", "/metrics")
    for line in connection.getresponse().read().decode().splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            values[name] = float(value)
    connection.close()
    return values


def late_p99(before, after):
    """The smallest bucket bound that 99 % of the due times between the two metrics reads kept, and the number of due times."""
    bounds = [(float(name.split('"')[1].replace("+Inf", "inf")), after[name] - before.get(name, 0))
              for name in after if name.startswith("overseer_due_late_seconds_bucket")]
    total = max((count for _, count in bounds), default=0)
    within = [bound for bound, count in sorted(bounds) if count >= 0.99 * total]
    return (within[0] if within else float("inf")), total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=10000)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    folder = folder_make("agents")
    store = folder / "overseer.db"
    daemon = Daemon(folder, f"sqlite:{store}", environment={"OVERSEER_CONFIG": str(settings_write(folder, BEHAVIOURS))})
    daemon.start()
    daemon.wait_joined()
    roles = [name for name, share in BEHAVIOURS.items() for _ in range(share)]
    begun = time.monotonic()
    writers = [Writer(daemon.socket, i, options.agents, roles) for i in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        if writer.error:
            raise writer.error
    client = Client(daemon.socket)
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)
    count = lambda: database.execute("SELECT count(*) FROM charge").fetchone()[0]
    wait_until("all agents have begun", lambda: count() >= 0.95 * options.agents and
               client.call("status.show", {})[1] is not None and metrics(client)["overseer_ledger_waiting"] == 0, 600, 1)
    print(f"agents: {options.agents} goals created and begun in {time.monotonic() - begun:.0f} s", flush=True)
    time.sleep(20)
    before, cpu, since = metrics(client), cpu_seconds(daemon.pid), time.monotonic()
    records = database.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM record").fetchone()
    most = 0
    while time.monotonic() - since < options.minutes * 60:
        time.sleep(2)
        most = max(most, memory_mib(daemon.pid))
        daemon.alive()
    after, spent, seconds = metrics(client), cpu_seconds(daemon.pid) - cpu, time.monotonic() - since
    now = database.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM record").fetchone()
    p99, rung = late_p99(before, after)
    share = 100 * spent / seconds
    hours = options.agents * seconds / 3600
    print(f"bench agents-late-p99: {p99:g} s, ratio {p99 / 1:.2f} of a limit of 1 s ({rung:.0f} due times)")
    print(f"bench agents-cpu: {share:.1f} % of a core, ratio {share / 30:.2f} of a limit of 30 %")
    print(f"bench agents-memory: {most:.0f} MiB, ratio {most / 200:.2f} of a limit of 200 MiB")
    written, size = (now[0] - records[0]) / hours, (now[1] - records[1]) / max(1, now[0] - records[0])
    print(f"bench agents-records: {written:.2f} records an agent-hour, {size:.0f} bytes each; of a million agents "
          f"{written * size * 24e6 / 1e12:.3f} TB a day")
    if daemon.promises_broken():
        raise Broken(daemon.promises_broken()[0])
    daemon.stop(60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
