# SPDX-License-Identifier: Apache-2.0
"""Records which requirement rows a passed test has proven, in the same file as tests/lib/proof.c."""
import os


def passed(runner, test, rows):
    """Call it only after everything in the test has held. rows: names separated by spaces; anything but a string raises an error, also when
    nothing is written."""
    names = rows.split()
    path = os.environ.get("OVERSEER_PROOFS")
    if not path:
        return
    with open(path, "a", encoding="utf-8") as file:
        for row in names:
            file.write(f"{row}\t{runner}\t{test}\n")
