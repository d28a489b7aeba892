#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many candidates one landing lane lands in an hour while ten candidates wait.

landings.py [--check SECONDS] [--wait N]: the daemon, real git, N agents that are programs. The test holds the lane until all N wait, then
releases it. The first candidate lands at once. The daemon rebuilds each later candidate on the tip that the one before it made, and checks it
again, one after the other. The test measures with a short check (default 2 s). The time of a landing without its check does not depend on
the check, so the test computes the printed figure for a check of 60 s.
"""
import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))

from landing import landed, place_make  # noqa: E402  pylint: disable=wrong-import-position

AIM = 60  # the printed figure is for a check of this many seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=float, default=2)
    parser.add_argument("--wait", type=int, default=10)
    options = parser.parse_args()
    fixture = place_make("bench", "echo $$ >$(basename $(dirname $PWD))", check_text=f"sleep {options.check}")
    try:
        fixture.do("lane.hold", reason="until all of them wait")
        goals = [fixture.goal() for _ in range(options.wait)]
        fixture.wait("all of them wait", lambda: fixture.do("lane.show")["count"] == options.wait, 300)
        fixture.do("lane.release")
        begin = time.monotonic()
        for goal in goals:
            landed(fixture, goal)
        seconds = time.monotonic() - begin
        checks = sum(len(fixture.records(goal, "work.checked")) for goal in goals) - options.wait
    finally:
        fixture.close()
    own = (seconds - checks * options.check) / options.wait
    hour = 3600 / (AIM * checks / options.wait + own)
    print(f"{options.wait} landings in {seconds:.1f} s with {checks} checks of {options.check:g} s again: {own:.2f} s each without them")
    print(f"bench landings-an-hour: {hour:.0f} an hour, ratio {hour / (3600 / AIM):.2f} of one check of {AIM} s after another")
    return 0


if __name__ == "__main__":
    sys.exit(main())
