# SPDX-License-Identifier: Apache-2.0
"""MCP client with which an agent of these tests calls the tools of its run."""
import glob
import http.client
import json
import socket
import sys


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

    def greet(self):
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x", "version": "1"})
        return self

    def tools(self):
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]


def mcp_of_run(know):
    """A client with the token of the own run, the only token that the agent can see."""
    with open(glob.glob(f"{know['state']}/runs/*/token")[0], encoding="ascii") as file:
        return Mcp(know["door"], file.read()).greet()


def prompt_take():
    """Takes the prompt as Claude Code does: answers control requests, and echoes the user message as its receipt."""
    for line in sys.stdin:
        frame = json.loads(line)
        if frame["type"] == "control_request":
            print(json.dumps({"type": "control_response", "response": {"subtype": "success", "request_id": frame["request_id"],
                                                                       "response": {}}}), flush=True)
        elif frame["type"] == "user":
            print(json.dumps({**frame, "isReplay": True}), flush=True)
            return frame["message"]["content"]
    return None
