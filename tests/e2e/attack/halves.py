#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that prints a private key, a .netrc and a long line in two halves: it prints the second half when the file `restN` exists."""
import json
import os
import time

LINE = "some words\n"  # the daemon saves what it has read after 64 KiB: here that is the middle of a secret
HERE = os.path.dirname(__file__)


def main():
    with open(os.path.join(HERE, "printed"), encoding="utf-8") as file:
        halves = json.load(file)
    for i, (first, second) in enumerate(halves):
        print(LINE * (60000 // len(LINE)), end="", flush=True)
        time.sleep(1)
        print(LINE * (10000 // len(LINE)) + first, end="", flush=True)
        open(os.path.join(HERE, f"half{i}"), "w", encoding="utf-8").close()
        while not os.path.exists(os.path.join(HERE, f"rest{i}")):
            time.sleep(0.05)
        print(second, flush=True)
    with open("check.sh", "w", encoding="utf-8") as file:
        file.write("exit 0\n")
    update = {"workNodeId": "T1", "status": "done", "summary": "did it all", "evidence": {"filesTouched": ["check.sh"]}}
    print("```json\n" + json.dumps({"overseerUpdate": update}) + "\n```")


main()
