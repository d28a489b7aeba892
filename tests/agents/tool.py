#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server with one tool, `report`, on stdin and stdout: shows whether an agent program reaches a tool over MCP.

  tool.py FILE    each call is a line of JSON there; first the names of the environment, to see which keys arrive
"""
import json
import os
import sys

TOOL = {"name": "report", "description": "Tells how far the work is.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}


def result_of(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "overseer-tests", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "noted"}]}
    return {} if method == "ping" else None


def main():
    with open(sys.argv[1], "a", encoding="utf-8") as notes:
        def note(**facts):
            notes.write(json.dumps(facts) + "\n")
            notes.flush()
        note(environment=sorted(os.environ))
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message or "method" not in message:
                continue
            if message["method"] == "tools/call":
                note(called=message["params"]["name"], arguments=message["params"].get("arguments"))
            answer = {"jsonrpc": "2.0", "id": message["id"]}
            result = result_of(message["method"], message.get("params") or {})
            answer.update({"result": result} if result is not None else {"error": {"code": -32601, "message": "not known"}})
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
