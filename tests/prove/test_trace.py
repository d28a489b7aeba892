#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/trace reports which requirements are proven completely, which in part, and which ids do not exist."""
import subprocess
import sys
import tempfile
from pathlib import Path

TRACE = Path(__file__).resolve().parents[2] / "tools" / "trace"


def trace(proofs, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{row}\tunit\t{test}\n" for row, test in proofs))
        file.flush()
        done = subprocess.run([TRACE, "--file", file.name, *options], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines()


def proven(lines):
    return int(lines[-1].split("must ")[1].split("/")[0])


def main():
    whole = [("TICK-07", "t")]  # this requirement has three clauses
    parts = [(f"TICK-07.{clause}", "t") for clause in "abc"]

    code, lines = trace(whole, "TICK", "--weak")
    assert code == 0 and proven(lines) == 1, lines
    assert [line.split()[0] for line in lines if "TICK-07" in line] == ["TICK-07.a", "TICK-07.b", "TICK-07.c"], lines

    code, lines = trace(parts, "TICK", "--weak")
    assert code == 0 and proven(lines) == 1 and not any("TICK-07" in line for line in lines), lines

    code, lines = trace(parts[:2], "TICK", "--weak")
    assert code == 0 and proven(lines) == 0, lines
    assert [line.split()[0] for line in lines if "TICK-07" in line] == ["TICK-07.c"], lines

    code, lines = trace([("TICK-10", "t")], "TICK", "--weak")  # a requirement with one clause: its own id proves it
    assert code == 0 and proven(lines) == 1 and not any("TICK-10" in line for line in lines), lines

    for name in ("TICK-07.d", "TICK-99", "TICK-10.b"):
        code, lines = trace([(name, "t")])
        assert code == 1 and any(line.startswith(f"wrong: {name} ") for line in lines), lines

    one = [("STORE-10", "t [sqlite]")]  # a store requirement needs a proof on both engines
    assert proven(trace(one, "STORE")[1]) == 0
    assert proven(trace(one + [("STORE-10", "t [postgres]")], "STORE")[1]) == 1
    print("ok     trace: whole, in part, unknown, both engines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
