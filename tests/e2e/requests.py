#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon carries out every acknowledged request exactly once, also with disturbing clients.

requests.py [--engine sqlite|postgres] [--only NAME] [--requests N] [--seed N]: checks keys that an older build has seen, and generated requests.
The generator sends random keys, bodies and callers through RPC, MCP and the command line, while other clients send half a request, too much,
invalid JSON or nothing.
"""
import argparse
import json
import lzma
import os
import random
import socket
import subprocess
import sys
import traceback
from collections import Counter

import proof
from hostile import Net, check
from world import OVERSEER, TOP, Client, Daemon, folder_make, port_free, store_make, under_postgres

OLDER = TOP / "tests" / "golden" / "keys.1.db.xz"  # a store of a build whose keys contained neither caller nor body


def keys_of_an_older_build(_):
    """The daemon does not apply again what an older build has applied, and its answer names the same goal."""
    folder, port = folder_make("older"), port_free()
    (folder / "store.db").write_bytes(lzma.decompress(OLDER.read_bytes()))
    daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "2", "--listen", f"127.0.0.1:{port}"])
    daemon.start()
    daemon.wait_joined()
    client = Client(daemon.socket)

    def ask(method, **params):
        _, result, error = client.call(method, params)
        check(not error, f"{method}: {error}")
        return result
    goal = ask("goal.list")["goals"][0]["goalId"]
    records = len(ask("goal.show", goal=goal)["records"])
    for _ in range(2):
        check(ask("goal.create", title="made by an older build", key="older-1")["goalId"] == goal, "another goal")
        ask("goal.report", goal=goal, text="said to an older build", key="older-2")
        token = ask("token.create", role="run", actor="actor:agent:coder-1", goal=goal, run="R_1")["token"]
        check("result" in Net(port, token).call("goal.report", {"text": "said by a run", "key": "older-3"})[1], "a run's key")
    check(len(ask("goal.list")["goals"]) == 1, "the goal was made twice")
    check(len(ask("goal.show", goal=goal)["records"]) == records, "a report was applied twice")
    check(ask("goal.create", title="another", key="older-4")["goalId"] != goal, "a new key is a new goal")
    client.close()
    daemon.stop()
    return ""


# ---- a generator ----

class Fixture:
    """One daemon and its interfaces: RPC, MCP and the command line. Callers are the operator, `ann` and `bob` with tokens."""

    def __init__(self, engine, seed):
        self.folder, self.port = folder_make("requests"), port_free()
        self.store = store_make(engine, self.folder, "requests")
        self.daemon = Daemon(self.folder, self.store.uri, options=["--lease", "2", "--listen", f"127.0.0.1:{self.port}"])
        self.daemon.start()
        self.daemon.wait_joined()
        self.client, self.random = Client(self.daemon.socket), random.Random(seed)
        self.goals = [self.do("goal.create", title=f"goal {i}")["goalId"] for i in range(3)]
        self.tokens = {"ann": self.do("token.create", role="human", actor="human:ann")["token"],
                       "bob": self.do("token.create", role="overseer", actor="actor:bob")["token"]}
        self.nets = {name: Net(self.port, token) for name, token in self.tokens.items()}
        self.sessions = {}

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        check(not error, f"{method}: {error}")
        return result

    def rpc(self, caller, method, params):
        if caller == "me":
            _, result, error = self.client.call(method, params)
        else:
            answer = self.nets[caller].call(method, params)[1]
            result, error = answer.get("result"), answer.get("error")
        return error["data"]["code"] if error else None, result

    def mcp_post(self, caller, message, **headers):
        headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        return self.nets[caller].request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), **headers)

    def mcp(self, caller, method, params):
        if caller == "me":
            return self.rpc(caller, method, params)  # the operator's MCP is another program, see interfaces.py
        if caller not in self.sessions:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            _, headers, _ = self.mcp_post(caller, {"id": 1, "method": "initialize", "params": hello})
            self.sessions[caller] = {name.lower(): value for name, value in headers.items()}["mcp-session-id"]
        _, _, text = self.mcp_post(caller, {"id": 2, "method": "tools/call", "params": {"name": method.replace(".", "_"), "arguments": params}},
                                   Mcp_Session_Id=self.sessions[caller])
        answer = json.loads(text)["result"]
        if answer["isError"]:
            return answer["_meta"]["overseer/error"]["code"], {}
        return None, answer["structuredContent"]

    def cli(self, caller, method, params):
        if caller != "me":
            return self.rpc(caller, method, params)
        words = [params["goal"], params["text"]] if method == "goal.report" else [params["title"]]
        done = subprocess.run([str(OVERSEER), *method.split("."), *words, "--key", params["key"], "--socket", str(self.daemon.socket), "--json"],
                              capture_output=True, text=True, timeout=60, check=False)
        return ("E_CONFLICT" if done.returncode == 4 else f"exit {done.returncode}") if done.returncode else None, \
            json.loads(done.stdout) if done.returncode == 0 else {}


def disturbed(fixture, held):
    """A disturbing client sends half a request, one that is too large, one that is not JSON, or nothing."""
    kind = fixture.random.randrange(5)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(5)
    try:
        sock.connect(str(fixture.daemon.socket))
        if kind == 0:
            sock.sendall(b"POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Le")
        elif kind == 1:
            sock.sendall(b"POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n" + b"x" * 4096)
        elif kind == 2:
            sock.sendall(b"POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n[[[[[[[[[[[[")
        elif kind == 3:
            sock.sendall(b"POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{\"jsonrpc\"")
    except OSError:
        pass  # the daemon has closed the connection
    held.append(sock)
    if len(held) > 40:
        held.pop(fixture.random.randrange(len(held))).close()


def generated(options):
    """The daemon answers random requests through three interfaces correctly beside disturbing clients, and stores exactly the acknowledged
    ones."""
    fixture, held, known, counts = Fixture(options.engine, options.seed), [], {}, Counter()
    said = Counter()  # (goal, text) -> how often it was applied
    for _ in range(options.requests):
        dice = fixture.random
        if dice.random() < 0.25:
            disturbed(fixture, held)
            counts["disturbing"] += 1
            continue
        caller, key, text = dice.choice(("me", "ann", "bob")), f"k{dice.randrange(20)}", f"text {dice.randrange(3)}"
        method = dice.choice(("goal.report", "goal.report", "goal.create"))
        goal = dice.choice(fixture.goals)
        params = {"goal": goal, "text": text, "key": key} if method == "goal.report" else {"title": text, "key": key}
        way = dice.choices((fixture.rpc, fixture.mcp, fixture.cli), (10, 5, 1))[0]
        name = (caller, method, goal if method == "goal.report" else "", key)
        code, result = way(caller, method, params)
        first, answered = known.setdefault(name, (text, result))
        wanted = None if first == text else "E_CONFLICT"
        check(code == wanted, f"{way.__name__} of {caller}: {method} {params} was answered {code}, not {wanted}")
        counts["refused" if code else "repeated" if answered is not result else "applied"] += 1
        if not code and answered is result:
            said[goal if method == "goal.report" else result["goalId"], text] += method == "goal.report"
        elif not code:
            check(answered["goalId"] == result["goalId"], f"{name} was answered with another goal")
    for goal in fixture.goals:
        told, after = Counter(), None
        while True:
            page = fixture.do("events.list", goal=goal, type="goal.reported", limit=500, **({"after": after} if after else {}))
            for event in page["events"]:
                told[event["text"]] += 1
            after = page.get("next")
            if not page["events"]:
                break
        wanted = {text: count for (of, text), count in said.items() if of == goal}
        check(dict(told) == wanted, f"{goal}: acknowledged {wanted}, stored {dict(told)}")
    for sock in held:
        sock.close()
    fixture.client.close()
    fixture.daemon.stop()
    check(not fixture.daemon.promises_broken(), fixture.daemon.promises_broken())
    print(f"{options.requests} requests with seed {options.seed}: {dict(counts)}")
    return ""


CHECKS = (keys_of_an_older_build, generated)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--only", default="")
    parser.add_argument("--requests", type=int, default=1000 if os.environ.get("OVERSEER_FULL") else 250)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    passed = failed = 0
    for function in CHECKS:
        if options.only not in function.__name__:
            continue
        try:
            rows = function(options)
            passed += 1
            proof.passed("e2e", f"{function.__name__} [{options.engine}]", rows or "")
        except Exception:
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=4)
    print(f"requests, {options.engine}: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
