#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many candidates does one landing lane land in an hour, when ten wait?

landings.py [--check SECONDS] [--wait N]: the daemon, real git, N agents that are programs. The lane is held until all N wait, then released. The
first lands at once; each next one is built on the tip that the one before it made, and checked again, one after the other. Printed for a check
of 60 s: what was measured with a shorter one (default 2 s) is the time of a landing without its check, which does not depend on the check.
"""
import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))

from landing import landed, place_make  # noqa: E402  pylint: disable=wrong-import-position

AIM = 60  # seconds of the check that the figure is for


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
