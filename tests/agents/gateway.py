# SPDX-License-Identifier: Apache-2.0
"""Runs an OpenClaw gateway for a test, and rewrites scripts so that an agent behind it reports in text instead of by a tool call.

A gateway is one program for all its sessions: the test starts it, as an operator would, and Overseer only connects to it. It takes
13 to 90 seconds to start and has 1.1 GB resident. Its MCP servers are the same for every session, so a run has no connection of its
own to Overseer's tools: such an agent reports in text, with the block that its instruction shows.
"""
import json
import os
import re
import shlex
import subprocess
import time
import urllib.request
from pathlib import Path

from programs import BY_NAME, KEY, env_of, files_write

HERE = Path(__file__).resolve().parent
URL = "ws://127.0.0.1:18789"
ENV = {"OPENCLAW_GATEWAY_TOKEN": KEY}  # the daemon gets it and passes it to the bridge
SETTINGS = {"program": "", "args": [], "base_url": URL, "keys": list(ENV)}
CALL = re.compile(r"call \*overseer_update (\{.*?\}) ;; (say [^;>]*)")
START_WITHIN = 180


def words_for(goal, node, said):
    """The block of an update: the arguments of the tool, with the evidence as a separate member."""
    update = dict(json.loads(said))
    evidence = {name: update.pop(name) for name in ("filesTouched", "testsRun", "commits") if name in update}
    about = {"goalId": goal, "workNodeId": node} if goal else {}
    block = {"overseerUpdate": {**about, **update, **({"evidence": evidence} if evidence else {})}}
    return f"block {json.dumps(block)}"


def in_words(script, goal, node="T1"):
    """The same script for an agent without Overseer's tools."""
    return CALL.sub(lambda found: f"{found.group(2)} && {words_for(goal, node, found.group(1))}", script)


class Gateway:
    """Starts the gateway, waits until it is ready, and stops it by its pid."""

    def __init__(self, folder, model):
        program = BY_NAME["openclaw"]
        self.home = folder / "gateway"
        workspace = self.home / "workspace"
        workspace.mkdir(parents=True)
        self.values = {"url": model.url, "home": str(self.home), "cwd": str(workspace)}
        files_write(program, self.home, self.values)
        config = self.home / ".openclaw/openclaw.json"
        told = json.loads(config.read_text(encoding="utf-8"))
        told.pop("mcp")
        config.write_text(json.dumps(told), encoding="utf-8")
        self.run = shlex.split(subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", "openclaw"], check=True,
                                              capture_output=True, text=True).stdout)
        self.env = {**os.environ, **env_of(program, self.values), "HOME": str(self.home)}
        self.start()

    def start(self):
        with open(self.home / "gateway.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*self.run, "gateway", "run", "--bind", "loopback", "--port", URL.rsplit(":", 1)[1]],
                                            env=self.env, cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_ready(self):
        end = time.monotonic() + START_WITHIN
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the gateway ended with {self.process.returncode}: {self.home}/gateway.log")
            try:
                with urllib.request.urlopen(f"http{URL[2:]}/readyz", timeout=5):
                    return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError(f"the gateway is not ready after {START_WITHIN} s: {self.home}/gateway.log")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
