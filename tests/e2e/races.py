#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that moves its files while the daemon reads them gets nothing of the operator's data. (C1, H1)

races.py [--tries 5] [--only NAME,…] [--held bwrap,landlock] [--freeze on,off] [--unheld | --still]

Runs a real daemon as an ordinary user, real holds and sandboxes, and attack/race.py. Tries C1 (a folder that becomes a link) and H1 (a commondir)
`--tries` times in each setting, and every other trick at least once; --tries 200 is the full number. Then searches for the canaries in all
objects and refs of the daemon's clones, of the operator's repository and of the remote, in worktrees, logs, run folders, the store, and in the
daemon's answers. --unheld: the same with a defence disabled (seams of the test build); the test passes if it then finds the canary."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import proof
from world import OVERSEERD, OVERSEERD_SEAMS, Broken, Client, Daemon, folder_make, seam_arm, wait_until

HERE = Path(__file__).resolve().parent
UID = 65533
FILE, REPO = "CANARY-FILE-1f3a5c7e9b", "CANARY-REPO-2d4b6f8a0c"
NAMES = ["id_rsa", "token"]
TRICKS = [name for name in re.findall(r"^def trick_([a-z]+)", (HERE / "attack/race.py").read_text(), re.M) if name != "writer"]
MANY = ["folder", "commondir"]
AT_ONCE = 5


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), "-c", "safe.directory=*", *words], check=True, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/dev/null", "GIT_AUTHOR_NAME": "p", "GIT_AUTHOR_EMAIL": "p@l",
                               "GIT_COMMITTER_NAME": "p", "GIT_COMMITTER_EMAIL": "p@l"}).stdout.strip()


class World:
    def __init__(self, held, freeze, seams="", seconds=2.5):
        self.folder = folder_make(f"race-{held}")
        self.home, self.repo, self.remote, self.tool = (self.folder / name for name in ("home", "repo", "remote.git", "tool"))
        victim, private = self.home / ".ssh", self.home / "private"
        for place in (victim, private, self.repo, self.tool):
            place.mkdir(parents=True)
        for name in NAMES:
            (victim / name).write_text(f"{FILE} {name}\n")
        git(private, "init", "-q", "-b", "main")
        (private / "payroll").write_text(REPO + "\n")
        git(private, "add", "-A")
        git(private, "commit", "-qm", REPO)
        git(self.repo, "init", "-q", "-b", "main")
        (self.repo / "check.sh").write_text("exit 0\n")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-qm", "begin")
        git(self.repo, "checkout", "-q", "--detach")
        git(self.folder, "init", "-q", "--bare", str(self.remote))
        shutil.copy(HERE / "attack/race.py", self.tool)
        self.mark = self.home / "mark"
        (self.tool / "plan").write_text(json.dumps({"victim": str(victim), "private": str(private / ".git"), "names": NAMES, "seconds": seconds,
                                                    "commit": git(private, "rev-parse", "HEAD"), "mark": str(self.mark)}))
        self.daemon_make(held, freeze, seams)

    def daemon_make(self, held, freeze, seams):
        rows = {"supervision": {"enabled": True, "tick_every": "1s", "idle_after": "60s", "min_resend_interval": "0s", "backoff.base": "1s", "backoff.max": "5s"},
                "repo": {"path": str(self.repo), "default_branch": "main", "disk_least": 1}, "verify": {"command": "sh ./check.sh"},
                "landing": {"how": "branch", "remote": str(self.remote)}, "escalation": {"desktop": False},
                "sandbox": {"sees": [str(self.tool)], "freeze": freeze}}
        agent = {"id": "coder", "driver": "claude", "kind": "claude", "program": "/usr/bin/python3", "args": [str(self.tool / "race.py"), str(self.tool)]}
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items()) for name, row in rows.items())
        text += "[[agents]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in agent.items())
        (self.folder / "overseer.toml").write_text(text)
        environment = {"OVERSEER_CONFIG": str(self.folder / "overseer.toml"), "HOME": str(self.home)}
        if held == "landlock":  # bubblewrap is installed and cannot make namespaces
            (self.folder / "bin").mkdir()
            (self.folder / "bin/bwrap").write_text("#!/bin/sh\nexit 1\n")
            (self.folder / "bin/bwrap").chmod(0o755)
            environment["PATH"] = f"{self.folder}/bin:{os.environ['PATH']}"
        program = OVERSEERD
        if seams:
            program = OVERSEERD_SEAMS
            environment["OVERSEER_SEAM_FILE"] = str(self.folder / "seams")
            seam_arm(self.folder / "seams", seams)
            for name in ("overseer-hold", "overseer"):  # the daemon looks for them in its own folder
                if not (program.parent / name).exists():
                    (program.parent / name).symlink_to(OVERSEERD.parent / name)
        self.daemon = Daemon(self.folder, f"sqlite:{self.folder}/store.db", program=program, options=["--lease", "3"], environment=environment)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{UID}:{UID}", str(self.folder)], check=True)
            self.daemon.command = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", *self.daemon.command]
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)
        self.state = self.daemon.socket.with_suffix(".state")

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        if error is not None:
            raise Broken(f"{method}: {error}")
        return result

    def goal(self, trick):
        goal = self.do("goal.create", title=f"race:{trick}")["goalId"]
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all", "acceptanceCriteria": ["done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": f"race:{trick}", "acceptanceCriteria": ["done"], "objective": f"race:{trick}"}])
        return goal

    def checked(self, goal):
        return any(self.do("events.list", goal=goal, type=kind)["events"] for kind in ("work.checked", "work.landed", "question.asked", "assignment.stalled"))

    def race(self, tricks):
        """Runs all tricks, AT_ONCE at the same time. Returns the daemon's answers about them."""
        told, left, self.boxes = [], list(tricks), set()
        while left:
            goals = [(trick, self.goal(trick)) for trick in left[:AT_ONCE]]
            left = left[AT_ONCE:]
            for trick, goal in goals:
                wait_until(f"{trick} is checked", lambda: self.checked(goal), 60, 0.1)
                self.boxes |= {record["reason"] for record in self.do("events.list", goal=goal, type="dispatch.accepted")["events"]}
                told += [json.dumps(self.do("events.list", goal=goal)), json.dumps(self.do("goal.show", goal=goal)), json.dumps(self.diff(goal))]
            for _, goal in goals:
                self.client.call("goal.cancel", {"goal": goal, "reason": "over"})
        time.sleep(1.5)  # until the daemon has salvaged the cancelled work
        return told

    def diff(self, goal):
        _, result, error = self.client.call("work.diff", {"goal": goal, "node": "T1"})
        return result or error

    def close(self):
        self.client.close()
        self.daemon.stop()


def found(world, told):
    """Places where a canary is and must not be."""
    places = [f"answer {n}" for n, text in enumerate(told) if FILE in text or REPO in text]
    for clone in [*world.state.glob("work/repos/*"), *world.state.glob("work/private/*"), world.repo, world.remote]:
        objects = subprocess.run(["git", "-C", str(clone), "-c", "safe.directory=*", "cat-file", "--batch-all-objects", "--batch"], capture_output=True).stdout
        refs = git(clone, "for-each-ref", "--format=%(refname) %(subject)")
        for canary in (FILE, REPO):
            if canary.encode() in objects or canary in refs:
                places.append(f"{clone}: {canary}")
    for path in [*world.state.rglob("*"), *world.folder.glob("*.log"), *world.folder.glob("store.db*")]:
        if path.is_file() and not path.is_symlink() and path.stat().st_blocks * 512 < 64 << 20:
            with open(path, "rb") as file:
                text = file.read(64 << 20)
            places += [f"{path}: {canary}" for canary in (FILE, REPO) if canary.encode() in text]
    if world.mark.exists():
        places.append("a program of the agent's ran outside of its sandbox")
    return places


def setting_try(held, freeze, tricks):
    world = World(held, freeze == "on")
    try:
        told = world.race(tricks)
        if world.boxes != {{"bwrap": "bwrap+landlock", "landlock": "landlock"}[held]}:
            raise Broken(f"the runs were held by {world.boxes}, not by {held}")
    finally:
        world.close()
    places = found(world, told)
    if places:
        raise Broken(f"{held}, freeze {freeze}: a canary is in {places[:5]}")
    print(f"ok {held}, freeze {freeze}: {len(tricks)} tries, no canary", flush=True)


def states_of(world):
    """For each landed snapshot: the numbers in all its files, in the order in which the agent writes them."""
    states = []
    for ref in git(world.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split():
        texts = subprocess.run(["git", "-C", str(world.repo), "-c", "safe.directory=*", "grep", "-h", "-e", "^[0-9]", ref, "--", "s"], capture_output=True, text=True).stdout
        states.append([int(line) for line in texts.split()])
    return [state for state in states if state]


def is_one_state(numbers):
    """The agent writes the files one after another, round by round: the first files have this round's number, the others the previous one."""
    return all(a >= b for a, b in zip(numbers, numbers[1:])) and numbers[0] - numbers[-1] <= 1


def still_try():
    """A snapshot of an agent that keeps writing is one consistent state of its files with the freeze, and a mixture without it."""
    mixed = {}
    for freeze in (True, False):
        world = World("bwrap", freeze, seconds=6)
        try:
            world.race(["writer"] * 6)
        finally:
            world.close()
        states = states_of(world)
        if len(states) < 3:
            raise Broken(f"there are only {len(states)} snapshots")
        mixed[freeze] = sum(not is_one_state(state) for state in states)
        print(f"ok freeze {'on' if freeze else 'off'}: {mixed[freeze]} of {len(states)} snapshots are a mixture", flush=True)
    if mixed[True] or not mixed[False]:
        raise Broken(f"mixtures with and without the freeze: {mixed}")


def unheld_try():
    """With a defence disabled these tests find a canary, so they would notice a leak."""
    for seam, tricks in (("git-follow", ["folder", "file"]), ("git-unboxed", ["commondir", "gitfile", "gitlink", "alternates"])):
        for turn in range(6):
            world = World("bwrap", False, f"always {seam} 1")
            try:
                told = world.race(tricks)
            finally:
                world.close()
            places = found(world, told)
            if places:
                break
        if not places:
            raise Broken(f"without the layer ({seam}) no canary was found in {turn + 1} tries: this test would not notice")
        print(f"ok without the layer ({seam}) a canary is found at try {turn + 1}: {len(places)} places", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--only", default=",".join(TRICKS))
    parser.add_argument("--held", default="bwrap,landlock")
    parser.add_argument("--freeze", default="off,on")
    parser.add_argument("--unheld", action="store_true")
    parser.add_argument("--still", action="store_true", help="only: is what is measured one state?")
    options = parser.parse_args()
    if options.still:
        still_try()
        return 0
    full, wanted, turn = options.tries > 5, options.only.split(","), 0
    for held in options.held.split(","):
        for freeze in options.freeze.split(","):
            many = [trick for trick in MANY if trick in wanted]
            others = [trick for trick in TRICKS if trick in wanted and trick not in many]
            # A full run tries all other tricks in each setting; a short run tries each of them in one setting only.
            once = others if full or len(options.held.split(",")) * len(options.freeze.split(",")) == 1 else others[turn::4]
            setting_try(held, freeze, many * options.tries + once * (max(1, options.tries // 10) if full else 1))
            turn += 1
    if options.unheld or full:
        unheld_try()
        still_try()
    proof.passed("e2e", "races", "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
