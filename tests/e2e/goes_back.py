#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL loses its last commits while daemons run commands: does a command ever run twice, does the daemon notice the loss before its next
act, and does it name what is missing? Protocol P13.

goes_back.py [--times N] [--planted PROGRAM]

Ways, in turn: the primary is lost and an asynchronous standby that receives nothing more is promoted (the URL names both); the data folder is
put back to an earlier copy; the first way with the daemon killed at the same time, so that only its state folder knows; and the first way with
its host frozen, so that another host takes over. --planted: a daemon without one of the defences; the test must find what that lets through.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

import proof
from servers import AS_SERVER, Server, url
from world import OVERSEERD, Broken, Client, Daemon, Unreachable, folder_make, wait_until

LEASE = 2
WAYS = ("promoted", "copied back", "promoted, daemon killed", "promoted, host frozen")


class Load(threading.Thread):
    """Creates goals with a command, one after another; each command logs that it runs, and takes a while."""

    COMMAND = "echo $OVERSEER_EFFECT {key} >> {acts}; sleep 0.3"

    def __init__(self, name, daemon, acts):
        super().__init__(daemon=True)
        self.name, self.daemon_, self.acts, self.made, self.ending = name, daemon, acts, [], threading.Event()

    def run(self):
        client, n = Client(self.daemon_.socket, 5), 0
        while not self.ending.is_set():
            key = f"{self.name}-{n}"
            command = self.COMMAND.format(key=key, acts=self.acts)
            try:
                status, result, _ = client.call("goal.create", {"title": key, "command": command, "key": key})
                if status == 200:
                    self.made.append((key, result["goalId"]))
                    n += 1
                    continue
            except Unreachable:
                pass
            time.sleep(0.1)  # the same key once more: a goal that was lost may be requested again
        client.close()


class World:
    def __init__(self, number, way, program):
        self.way = way
        self.folder = folder_make(f"back{number}")
        self.acts = self.folder / "acts.txt"
        self.acts.touch()
        self.primary = Server(self.folder, "one").create()
        hosts = [self.primary]
        self.standby = None
        if way.startswith("promoted"):
            self.standby = Server(self.folder, "two").copy_of(self.primary)
            wait_until("the standby streams", lambda: self.primary.standbys() == 1, 15)
            hosts.append(self.standby)
        self.daemons = [Daemon(self.folder, url(*hosts), f"host{i}", program, ["--host", str(i), "--lease", str(LEASE)]) for i in (1, 2)]
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined()
        self.loads = [Load(f"r{number}h{i}", daemon, self.acts) for i, daemon in enumerate(self.daemons, 1)]

    def asked(self):
        return self.acts.read_text().splitlines()

    def lose(self):
        """Puts the server back to its state of some moments ago."""
        if self.standby:
            # a promotion replays everything that was received, so the standby must receive nothing more
            self.standby.configure("primary_conninfo = 'host=/nowhere'")
            self.standby.reload()
            wait_until("nothing is streamed", lambda: self.primary.standbys() == 0, 10)
        else:
            self.primary.stop("fast")
            shutil.copytree(self.primary.data, self.folder / "copy", symlinks=True)
            subprocess.run(["chown", "-R", "postgres", str(self.folder / "copy")], check=os.getuid() == 0)
            self.primary.start()
        before = len(self.asked())
        wait_until("commands are run that will be lost", lambda: len(self.asked()) >= before + 4, 20, 0.01)
        self.strike()

    def strike(self):
        victim = self.daemons[0]
        self.stopped = time.monotonic()
        if "killed" in self.way:
            victim.kill()
        if "frozen" in self.way:
            victim.signal(signal.SIGSTOP)
        self.primary.stop("immediate")
        if self.standby:
            self.standby.promote()
        else:
            shutil.rmtree(self.primary.data)
            (self.folder / "copy").rename(self.primary.data)
            run = [*AS_SERVER, "chmod", "700", str(self.primary.data)]
            subprocess.run(run, check=True)
            self.primary.start()
        if "killed" in self.way:
            victim.start()
        if "frozen" in self.way:
            node = self.standby or self.primary
            wait_until("it is taken over", lambda: node.ask("SELECT state FROM host WHERE host_id = 1") != [["0"]], 20, 0.1)
            time.sleep(1)
            victim.signal(signal.SIGCONT)

    def judge(self, planted):
        node = self.standby or self.primary
        for daemon in self.daemons:
            daemon.wait_joined(30)
        time.sleep(1.5)
        for load in self.loads:
            load.ending.set()
            load.join(20)
        time.sleep(1)
        runs = Counter(self.asked())
        keys = Counter(line.split()[1] for line in self.asked())
        twice = [key for key, count in keys.items() if count > 1]
        broken = [line for daemon in self.daemons for line in daemon.promises_broken()]
        logs = "".join(daemon.log.read_text() for daemon in self.daemons)
        era = int(node.ask("SELECT era FROM store")[0][0])
        aside = int(node.ask("SELECT count(*) FROM aside")[0][0])
        known = {row[0].replace("-", "").upper() for row in node.ask("SELECT goal_id FROM goal")}
        named = re.findall(r"batches (\d+) to (\d+) of this host are missing, with the records of (\d+) effects", logs)
        problems = []
        if twice:
            problems.append(f"{len(twice)} commands were run twice: {twice[:5]}")
        if broken:
            problems.append(f"promises broken: {broken[:3]}")
        if era == 0:
            problems.append("no new era: the loss was not noticed")
        if aside:
            problems.append(f"{aside} goals were set aside")
        if not named and "frozen" not in self.way:
            problems.append("nothing says what is missing")
        if named and sum(int(count) for _, _, count in named) == 0 and "frozen" not in self.way:
            problems.append("no effect is named that was acted on")
        return problems, {"commands": len(runs), "batches": sum(int(b) - int(a) + 1 for a, b, _ in named), "effects": sum(int(c) for _, _, c in named),
                          "goals": len(known)}

    def end(self):
        for daemon in self.daemons:
            daemon.process.kill()
        self.primary.stop("immediate")
        if self.standby:
            self.standby.stop("immediate")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--planted", default=str(OVERSEERD))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    planted, failed, sums = options.planted != str(OVERSEERD), 0, Counter()
    ways = [way for way in WAYS if options.only in way]
    for number in range(options.times):
        way, begun = ways[number % len(ways)], time.monotonic()
        world = World(number, way, options.planted)
        try:
            for load in world.loads:
                load.start()
            wait_until("commands are run", lambda: len(world.asked()) >= 6, 20, 0.02)
            world.lose()
            problems, counted = world.judge(planted)
        except Exception as error:
            problems, counted = [f"{type(error).__name__}: {error}"], {}
            if not isinstance(error, Broken):
                traceback.print_exc()
        finally:
            world.end()
        sums.update(counted)
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok'} goes_back {number + 1}, {way}: {'; '.join(problems) or counted} ({time.monotonic() - begun:.0f} s)",
              flush=True)
    print(f"goes_back: {options.times - failed} of {options.times}, {sums['commands']} commands, none twice unless said above;"
          f" {sums['batches']} batches lost and named, {sums['effects']} effects named")
    if planted:
        return 0 if failed else 1
    if not failed and not options.only:
        proof.passed("e2e", "goes_back", "STORE-06")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
