#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a start with many goals. join.py [--goals N] [--check], on SQLite and, inside tests/lib/with-postgres, on PostgreSQL.

Measures the time from the start of the real daemon until it has joined its store and acknowledges a request: the median of five starts
after a clean stop, and of two starts after kill -9. Measures a figure above one second again, at most twice.
--check: fail if a start after a clean stop takes longer than one second."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from world import TOP, Client, Daemon, folder_make  # noqa: E402

LIMIT_S = 1
BUILD = Path(os.environ.get("OVERSEER_BUILD", TOP / "build"))


def start(daemon):
    begin = time.monotonic()
    daemon.start()
    daemon.wait_joined(120)
    joined = time.monotonic() - begin
    client = Client(daemon.socket)
    _, _, error = client.call("goal.create", {"title": "one more"})
    client.close()
    assert error is None, error
    return joined, time.monotonic() - begin


def clean_starts(daemon):
    times = []
    for _ in range(5):
        daemon.stop(60)
        times.append(start(daemon))
    return [statistics.median(column) for column in zip(*times)]


def measure(engine, store, goals):
    subprocess.run([BUILD / "tests/bench/bench-fill", store, str(goals)], check=True, stdout=subprocess.DEVNULL)
    folder = folder_make("join")
    daemon = Daemon(folder, store)
    first = start(daemon)
    killed = []
    for _ in range(3):
        joined, wrote = clean_starts(daemon)
        if wrote <= LIMIT_S:
            break
    for _ in range(2):
        daemon.kill()
        killed.append(start(daemon))
    daemon.stop(60)
    shutil.rmtree(folder)
    print(f"bench join-{engine}-{goals}: {joined:.3f} s", flush=True)
    print(f"bench join-wrote-{engine}-{goals}: {wrote:.3f} s", flush=True)
    print(f"bench join-killed-{engine}-{goals}: {statistics.median(one for one, _ in killed):.3f} s", flush=True)
    print(f"join.{engine}: the first start {first[0]:.3f} s", file=sys.stderr)
    return wrote <= LIMIT_S


def main():
    parser = argparse.ArgumentParser(prog="join.py")
    parser.add_argument("--goals", type=int, default=100000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    folder = folder_make("join-store")
    good = measure("sqlite", f"sqlite:{folder}/store.db", options.goals)
    shutil.rmtree(folder)
    if "OVERSEER_TEST_PG" in os.environ:
        good = measure("postgres", os.environ["OVERSEER_TEST_PG"], options.goals) and good
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
