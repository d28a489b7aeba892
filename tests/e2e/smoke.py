#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""This build of the daemon serves many clients at once and stops cleanly.

smoke.py DAEMON [STORE]: several threads send a few hundred writes, repeats, reads and wrong requests over the Unix socket, then the test sends
SIGTERM. Made for builds with sanitizers: the daemon must exit with 0 and report nothing.
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


class Interface(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("overseer", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.request("POST", "/rpc", body)
        answer = json.loads(self.getresponse().read())
        if "result" not in answer and error_of(answer) not in EXPECTED:
            raise AssertionError(f"{method} {params}: {answer}")
        return answer


EXPECTED = ("E_INVALID", "E_NOT_FOUND", "E_UNKNOWN_METHOD")


def error_of(answer):
    return answer.get("error", {}).get("data", {}).get("code")


def client(path, number, failures):
    try:
        interface = Interface(path)
        for i in range(25):
            key = f"{number}-{i}"
            wanted = {"title": f"goal {key}", "command": "echo done" if i % 3 == 0 else "true", "key": key}
            made, again = interface.call("goal.create", **wanted), interface.call("goal.create", **wanted)
            goal = made["result"]["goalId"]
            assert again["result"]["goalId"] == goal, again
            interface.call("goal.report", goal=goal, text="half", key="half")
            interface.call("goal.report", goal=goal, text="half", key="half")
            shown = interface.call("goal.show", goal=goal)["result"]
            assert shown["reports"] == 1 and shown["title"] == f"goal {key}", shown
        assert error_of(interface.call("goal.create")) == "E_INVALID"
        assert error_of(interface.call("goal.create", title="x" * 600)) == "E_INVALID"
        assert error_of(interface.call("goal.show", goal="goal_00000000000000000000000000")) == "E_NOT_FOUND"
        assert error_of(interface.call("goal.fly", goal="x")) == "E_UNKNOWN_METHOD"
        interface.close()
    except Exception as error:  # main() reports it: an exception in a thread would be lost
        failures.append(f"client {number}: {error!r}")


def wait_until_joined(path, daemon):
    for _ in range(600):
        assert daemon.poll() is None, "the daemon ended"
        try:
            interface = Interface(path)
            interface.request("GET", "/healthz")
            if json.loads(interface.getresponse().read())["joined"]:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("the daemon did not join its store")


def main():
    with tempfile.TemporaryDirectory(prefix="overseer-smoke.") as folder:
        path = os.path.join(folder, "socket")
        store = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:{folder}/store.db"
        log = open(os.path.join(folder, "log"), "w+")
        daemon = subprocess.Popen([sys.argv[1], "--store", store, "--socket", path], stderr=log)
        failures = []
        try:
            wait_until_joined(path, daemon)
            assert os.stat(path).st_mode & 0o777 == 0o600, "the socket is open to others"
            threads = [threading.Thread(target=client, args=(path, n, failures)) for n in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            daemon.send_signal(signal.SIGTERM)
            code = daemon.wait(timeout=60)
        finally:
            if daemon.poll() is None:
                daemon.kill()
        log.seek(0)
        text = log.read()
        if code != 0 or failures or "Sanitizer" in text or "error" in text:
            print("\n".join(failures), text, f"exit {code}", sep="\n")
            print("0 passed, 1 failed")
            return 1
    print(f"smoke {os.path.relpath(sys.argv[1])} on {store.split(':')[0]}: 600 requests, stopped cleanly")
    print("1 passed, 0 failed")
    return 0


sys.exit(main())
