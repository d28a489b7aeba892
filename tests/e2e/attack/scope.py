#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent without permission for a tool lists the tools over MCP and calls it; once at its start, and again when the file `again` exists."""
import json
import os
import time

from mcp_ask import mcp_of_run, prompt_take


def look(know):
    mcp = mcp_of_run(know)
    said = {"tools": mcp.tools()}
    for name in ("report_progress", "agent_progress", "agent_status"):
        said[name] = mcp.ask("tools/call", name=name, arguments={"phase": "x"} if "progress" in name else {})
    return said


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    prompt_take()
    for number in (1, 2):
        while number == 2 and not os.path.exists("again"):
            time.sleep(0.1)
        with open("answer.new", "w", encoding="utf-8") as file:
            json.dump(look(know), file)
        os.rename("answer.new", f"answer{number}.json")
    time.sleep(600)


main()
