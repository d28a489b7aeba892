#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that means no harm: it waits until it may, writes what its checks run, and says that it is done."""
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
