#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that exits when the test creates a file, and on each start writes down its arguments, its prompt and its Overseer tools."""
import json
import os
import sys
import time

from mcp_ask import mcp_of_run, prompt_take


def keep(folder, name, value):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(path + ".new", path)


def plan(know, nodes):
    """Applies a plan with work for other agents, with the token of this run."""
    return mcp_of_run(know).ask("tools/call", name="plan_apply", arguments={"nodes": nodes, "version": 1})


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    out = know["out"]
    number = 1 + sum(name.startswith("start-") for name in os.listdir(out))
    said = {"arguments": sys.argv[1:], "tools": mcp_of_run(know).tools()}
    said["prompt"] = prompt_take()
    if number == 1:
        for name, nodes in know["plans"].items():
            keep(out, f"plan-{name}.json", plan(know, nodes))
    keep(out, f"start-{number}.json", said)
    while not os.path.exists(os.path.join(out, f"die-{number}")):
        time.sleep(0.1)
    sys.exit(1)


main()
