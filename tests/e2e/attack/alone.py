#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent without a sandbox sends requests to the operator's socket: from its own process, from a process without its parents, and from
one with more ancestors than the daemon's search visits. The last process also connects to the socket of its own hold."""
import glob
import http.client
import json
import os
import socket
import sys
import time

GENERATIONS = 300  # more ancestors than the daemon's search visits


def ask(path):
    connection = http.client.HTTPConnection("overseer", timeout=5)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(path)
    connection.request("POST", "/rpc", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "goal.list", "params": {}}))
    response = connection.getresponse()
    return {"status": response.status, "said": response.read().decode()[:200]}


def ask_from_afar(path):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(0.5)  # by then its parent has exited
            with open("afar.json.new", "w", encoding="utf-8") as file:
                json.dump(ask(path), file)
            os.rename("afar.json.new", "afar.json")
        os._exit(0)
    os.wait()
    while not os.path.exists("afar.json"):
        time.sleep(0.05)
    with open("afar.json", encoding="utf-8") as file:
        return json.load(file)


def ask_hold(path):
    """A hold that refuses a client closes the connection."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(path)
            return {"status": 403 if client.recv(1) == b"" else 200, "said": path}
        except TimeoutError:
            return {"status": 200, "said": f"{path} waits for what it is asked"}
        except OSError as error:
            return {"status": 403, "said": str(error)}


def ask_from_below(know):
    """Sends the requests from the last of many nested child processes; each process waits for its child."""
    for _ in range(GENERATIONS):
        child = os.fork()
        if child:
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    said = [ask(know["socket"]), *map(ask_hold, glob.glob(know["state"] + "/runs/*/hold.sock"))]
    with open("below.json", "w", encoding="utf-8") as file:
        json.dump(said, file)
    os._exit(0)


def asked_from_below(know):
    child = os.fork()
    if child == 0:
        ask_from_below(know)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("there are not so many generations")
    with open("below.json", encoding="utf-8") as file:
        return json.load(file)


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    said = [ask(know["socket"]), ask_from_afar(know["socket"]), *asked_from_below(know)]
    with open("answer.json.new", "w", encoding="utf-8") as file:
        json.dump(said, file)
    os.rename("answer.json.new", "answer.json")


main()
