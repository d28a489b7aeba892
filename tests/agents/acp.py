# SPDX-License-Identifier: Apache-2.0
"""A minimal client of the Agent Client Protocol: one client, one session at a time."""
import json
import queue
import subprocess
import threading

VERSION = 1
CLOSED = object()


class Refused(Exception):
    """The agent answered with an error, another version, or not at all."""


class Client:
    """Talks to a process over its stdin and stdout. Answers a permission request with the first option of the kind in `answer`."""

    def __init__(self, argv, cwd, env=None, answer="allow_once", stderr=None):
        self.process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        self.lines, self.answer, self.next_id = queue.Queue(), answer, 0
        self.updates, self.asked = [], []  # notifications and permission requests
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(CLOSED)

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method, timeout=120, **params):
        self.next_id += 1
        self.send(id=self.next_id, method=method, params=params)
        while True:
            try:
                message = self.lines.get(timeout=timeout)
            except queue.Empty:
                raise Refused(f"{method}: no answer for {timeout} s") from None
            if message is CLOSED:
                raise Refused(f"{method}: the agent ended with {self.process.wait()}")
            if "method" in message:
                self.incoming(message)
            elif message.get("id") == self.next_id:
                if "error" in message:
                    raise Refused(f"{method}: {message['error']}")
                return message.get("result") or {}

    def incoming(self, message):
        if message["method"] == "session/request_permission":
            self.asked.append(message["params"])
            kinds = {option["kind"]: option["optionId"] for option in reversed(message["params"]["options"])}
            outcome = {"outcome": "selected", "optionId": kinds[self.answer]} if self.answer in kinds else {"outcome": "cancelled"}
            self.send(id=message["id"], result={"outcome": outcome})
        elif "id" in message:
            self.send(id=message["id"], error={"code": -32601, "message": "not known"})
        else:
            self.updates.append(message["params"])

    def begin(self, cwd, mode="", servers=()):
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        hello = self.call("initialize", protocolVersion=VERSION, clientCapabilities=nothing,
                          clientInfo={"name": "overseer-tests", "version": "1"})
        if hello.get("protocolVersion") != VERSION:
            raise Refused(f"it speaks version {hello.get('protocolVersion')}")
        session = self.call("session/new", cwd=cwd, mcpServers=list(servers))["sessionId"]
        if mode:
            self.call("session/set_mode", sessionId=session, modeId=mode)
        return session

    def prompt(self, session, text, timeout=120):
        return self.call("session/prompt", timeout, sessionId=session, prompt=[{"type": "text", "text": text}])

    def close(self):
        self.process.kill()
        self.process.wait()
