#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A harmless agent: it waits for the file `go`, writes the script that its checks run, and reports done."""
import json
import os
import time


def main():
    while not os.path.exists(os.path.join(os.path.dirname(__file__), "go")):
        time.sleep(0.1)
    with open("check.sh", "w", encoding="utf-8") as file:
        file.write("exit 0\n")
    update = {"workNodeId": "T1", "status": "done", "summary": "did it all", "evidence": {"filesTouched": ["check.sh"]}}
    print("```json\n" + json.dumps({"overseerUpdate": update}) + "\n```")


main()
