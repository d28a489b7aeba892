#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that was denied a tool asks for it over MCP: is it in the list, and can it be called? Again whenever it is told to."""
import glob
import http.client
import json
import os
import socket
import time


class Mcp:
    def __init__(self, path, token):
        self.path, self.token, self.session = path, token, None

    def ask(self, method, **params):
        connection = http.client.HTTPConnection("overseer", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), headers)
        response = connection.getresponse()
        self.session = response.getheader("Mcp-Session-Id") or self.session
        return json.loads(response.read())


def look(know):
    with open(glob.glob(f"{know['state']}/runs/*/token")[0], encoding="ascii") as file:
        mcp = Mcp(know["door"], file.read())
    mcp.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x", "version": "1"})
    said = {"tools": [tool["name"] for tool in mcp.ask("tools/list")["result"]["tools"]]}
    for name in ("report_progress", "goal_report", "agent_status"):
        said[name] = mcp.ask("tools/call", name=name, arguments={"text": "x"} if "report" in name else {})
    return said


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    for number in (1, 2):
        while number == 2 and not os.path.exists("again"):
            time.sleep(0.1)
        with open("answer.new", "w", encoding="utf-8") as file:
            json.dump(look(know), file)
        os.rename("answer.new", f"answer{number}.json")
    time.sleep(600)


main()
