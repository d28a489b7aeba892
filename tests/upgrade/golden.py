#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""This tree's daemon takes over archived stores, state folders and exports with active tasks.

golden.py [--only NAME]: tests/golden/at-work.*.tar.xz contain what a killed daemon left, as after a reboot: a SQLite store, its state folder with
runs, the repository, and an export. The test unpacks each archive to the path where it was made and starts this tree's daemon on it. Every task
lands.
golden.py --write NAME: makes another archive with the programs of this tree. The archives are test input: never make an old one again.
"""
import argparse
import fcntl
import io
import json
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path

from at_work import (Holds, Site, all_is_told, all_land, begin_all, document_is_taken, expect, maintain, nothing_is_doubled, site_end,
                     site_make)

import proof
from world import BUILD, OVERSEERD, TOP, Broken, Daemon, store_make

GOLDEN = TOP / "tests" / "golden"
FOLDER = Path("/tmp/overseer-golden")  # the archives contain this path
MOST = 200 << 10
AGAIN = ("asks", "works")  # the agents of these tasks died in mid-turn


def folder_clear():
    """Empties the folder and locks it, because all runs of this test unpack to the same path."""
    lock = open(f"{FOLDER}.lock", "w", encoding="utf-8")  # noqa: SIM115: locked until the end
    fcntl.flock(lock, fcntl.LOCK_EX)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(mode=0o700)
    return lock


# ---- make an archive ----

class Made(Site):
    def folder_of(self, name):
        return FOLDER


def packed(member):
    """Removes the user and group of the machine that makes the archive."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def pack(path, facts):
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name in sorted(os.listdir(FOLDER)):
            if not name.endswith((".log", ".sock")):
                archive.add(FOLDER / name, name, filter=packed)
        text = json.dumps(facts).encode()
        member = tarfile.TarInfo("facts.json")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))


def make(name):
    path = GOLDEN / f"at-work.{name}.tar.xz"
    expect(not path.exists(), f"{path.name} is there: it is never made again")
    site = site_make("sqlite", BUILD, Made)
    holds = Holds(site.folder)
    shutil.rmtree(site.repo / ".git" / "hooks", ignore_errors=True)
    shutil.rmtree(site.remote)
    try:
        goals = begin_all(site)
        facts = {"goals": goals, "before": {at: (site.events(goal), site.why(goal)) for at, goal in goals.items()}}
        site.daemon.kill()
    finally:
        site_end(site, holds)
    maintain(OVERSEERD, site.store, "export", FOLDER / "export.json")
    pack(path, facts)
    expect(path.stat().st_size < MOST, f"{path.name} has {path.stat().st_size} bytes")
    return f"{path.name}: {path.stat().st_size >> 10} KiB"


# ---- take over ----

class Unpacked(Site):
    def __init__(self):
        self.folder, self.repo, self.agreed = FOLDER, FOLDER / "repo", {}
        self.program = FOLDER / "program" / "agent.py"
        self.store = store_make("sqlite", FOLDER)
        self.daemon = Daemon(FOLDER, self.store.uri, options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(FOLDER / "overseer.toml"), "HOME": str(FOLDER)})


def take_over(path):
    with tarfile.open(path) as archive:
        archive.extractall(FOLDER)
    facts = json.loads((FOLDER / "facts.json").read_text())
    goals, before = facts["goals"], {at: [[tuple(one) for one in list_] for list_ in both] for at, both in facts["before"].items()}
    document_is_taken(FOLDER, FOLDER / "export.json", "sqlite")
    site, holds = Unpacked(), Holds(FOLDER)
    try:
        holds.start()
        site.begin()
        all_land(site, goals)
        holds.end()
        nothing_is_doubled(site, goals, holds, AGAIN)
        all_is_told(site, goals, before)
        expect(not site.daemon.promises_broken(), site.daemon.promises_broken()[:1])
    finally:
        holds.end()
        site_end(site, holds)
    return f"{len(goals)} tasks landed, {len(AGAIN)} of them begun again"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--write")
    options = parser.parse_args()
    failed = False
    paths = [None] if options.write else sorted(GOLDEN.glob(f"at-work.{options.only}*.tar.xz"))
    for path in paths:
        lock, since = folder_clear(), time.monotonic()
        try:
            told = make(options.write) if options.write else f"{path.name}: {take_over(path)}"
            print(f"ok golden {told}, {time.monotonic() - since:.0f} s", flush=True)
        except Broken as error:
            failed = True
            print(f"BROKEN golden {path.name if path else options.write}: {error}", flush=True)
        finally:
            shutil.rmtree(FOLDER, ignore_errors=True)
            lock.close()
    if not paths:
        print("BROKEN golden: there is nothing to take over")
        return 1
    if not failed and not options.write and not options.only:
        proof.passed("upgrade", "golden", "STORE-04 STORE-18")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
