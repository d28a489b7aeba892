#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A read that begins after an acknowledged write sees this write. reads.py [--engine sqlite|postgres] [--seconds N] [--stale]

Writers rename goals and note each version when the daemon acknowledges it. Readers note the newest acknowledged version and ask for the goal;
the daemon must show that version or a later one, with the title of that version. On PostgreSQL there are two hosts; the test writes to both
and reads from both. Half of the reads send If-None-Match: the daemon may answer 304 only if the answer with that tag is still correct.
--stale: a seam keeps cached answers after a commit; the test passes if it notices this."""
import argparse
import json
import random
import sys
import threading
import time

import proof
from world import OVERSEERD, OVERSEERD_SEAMS, Client, Daemon, UnixConnection, folder_make, seam_arm, store_make, under_postgres

GOALS, WRITERS, READERS = 6, 2, 4


class Goal:
    def __init__(self, number, name):
        self.number, self.id, self.acknowledged = number, name, 0
        self.titles = {}  # by version
        self.lock = threading.Lock()  # one writer at a time, so that each version has one title


class World:
    def __init__(self, options):
        folder = folder_make("reads")
        self.store = store_make(options.engine, folder, "reads")
        program, environment = OVERSEERD, {}
        if options.stale:
            program, environment = OVERSEERD_SEAMS, {"OVERSEER_SEAM_FILE": str(folder / "seams")}
            seam_arm(folder / "seams", "always cache-stale 1")
        hosts = 1 if options.engine == "sqlite" else 2
        self.daemons = [Daemon(folder, self.store.uri, f"host{n}", program, ["--host", str(n + 1)] if hosts > 1 else [], environment)
                        for n in range(hosts)]
        for daemon in self.daemons:
            daemon.start()
            daemon.wait_joined()
        client = Client(self.daemons[0].socket)
        self.goals = []
        for number in range(GOALS):
            client = Client(self.daemons[number % hosts].socket)
            _, made, error = client.call("goal.create", {"title": "goal 0"})
            assert not error, error
            goal = Goal(number, made["goalId"])
            goal.titles[made["version"]], goal.acknowledged = "goal 0", made["version"]
            self.goals.append(goal)
        self.until = time.monotonic() + options.seconds
        self.wrong, self.reads, self.same, self.writes = [], 0, 0, 0

    def going(self):
        return time.monotonic() < self.until and not self.wrong

    def write(self, number):
        """Writes to the host that owns the goal, because another host answers before the owner has applied the write."""
        chance = random.Random(number)
        clients = [Client(daemon.socket) for daemon in self.daemons]
        while self.going():
            goal = chance.choice(self.goals)
            with goal.lock:
                title = f"goal {chance.random()}"
                _, done, error = clients[goal.number % len(clients)].call("goal.update", {"goal": goal.id, "title": title})
                if error or "version" not in done:
                    self.wrong.append(f"a write failed: {error or done}")
                    return
                goal.titles[done["version"]] = title
                goal.acknowledged = done["version"]
                self.writes += 1
            time.sleep(chance.random() * 0.01)

    def read(self, number):
        chance = random.Random(100 + number)
        connections = [UnixConnection(daemon.socket, 30) for daemon in self.daemons]
        tags = {}  # {(host, goal): (tag, version of that answer)}
        while self.going():
            goal, host = chance.choice(self.goals), chance.randrange(len(connections))
            tag, version = tags.get((host, goal.id), (None, 0))
            headers = {"If-None-Match": tag} if tag and chance.random() < 0.5 else {}
            least = goal.acknowledged
            body = json.dumps({"jsonrpc": "2.0", "id": chance.choice([1, "a", 2.5]), "method": "goal.show", "params": {"goal": goal.id}})
            connections[host].request("POST", "/rpc", body, headers)
            answer = connections[host].getresponse()
            text = answer.read()
            self.reads += 1
            title = None
            if answer.status == 304:
                self.same += 1
            else:
                shown = json.loads(text)["result"]
                version, title = shown["version"], shown["title"]
                tags[host, goal.id] = answer.headers.get("ETag"), version
            if version < least:
                self.wrong.append(f"{goal.id}: version {least} was acknowledged, and {version} shown (status {answer.status})")
            elif title and goal.titles.get(version, title) != title:
                self.wrong.append(f"{goal.id}: version {version} is called {goal.titles[version]}, and shown as {title}")

    def run(self):
        threads = [threading.Thread(target=self.write, args=(n,)) for n in range(WRITERS)]
        threads += [threading.Thread(target=self.read, args=(n,)) for n in range(READERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for daemon in self.daemons:
            daemon.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--stale", action="store_true")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    world = World(options)
    world.run()
    name = f"reads on {options.engine}: {world.reads} reads ({world.same} unchanged) beside {world.writes} writes"
    if options.stale:
        print(f"{name}, answers not dropped: {world.wrong[:1] or 'NOT NOTICED'}")
        return 0 if world.wrong else 1
    enough = world.reads > 100 and world.writes > 20 and (options.engine != "sqlite" or world.same > 10)
    for line in world.wrong[:5] or ([] if enough else ["hardly anything was tried"]):
        print(line)
    good = enough and not world.wrong
    if good:
        proof.passed("reads", f"a_read_sees_what_was_acknowledged [{options.engine}]", "STORE-20")
    print(f"{name}; {'1 passed, 0 failed' if good else '0 passed, 1 failed'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
