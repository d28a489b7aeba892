#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that prints every secret that it knows to stdout and to stderr, and reports done."""
import json
import os
import sys


def main():
    with open(os.path.join(os.path.dirname(__file__), "printed"), encoding="utf-8") as file:
        for text in json.load(file):
            print(f"I found {text} there", flush=True)
            print(f"warning: {text}", file=sys.stderr, flush=True)
            print("text " * 203 + text, flush=True)  # on both sides of the position where the daemon cuts a long line
    with open("check.sh", "w", encoding="utf-8") as file:
        file.write("exit 0\n")
    update = {"workNodeId": "T1", "status": "done", "summary": "did it all", "evidence": {"filesTouched": ["check.sh"]}}
    print("```json\n" + json.dumps({"overseerUpdate": update}) + "\n```")


main()
