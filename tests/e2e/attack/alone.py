#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent without a sandbox calls at the door for people: by itself, and as a process that has left its parents."""
import http.client
import json
import os
import socket
import time


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
            time.sleep(0.5)  # its parent is gone by then
            with open("afar.json.new", "w", encoding="utf-8") as file:
                json.dump(ask(path), file)
            os.rename("afar.json.new", "afar.json")
        os._exit(0)
    os.wait()
    while not os.path.exists("afar.json"):
        time.sleep(0.05)
    with open("afar.json", encoding="utf-8") as file:
        return json.load(file)


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    said = [ask(know["socket"]), ask_from_afar(know["socket"])]
    with open("answer.json.new", "w", encoding="utf-8") as file:
        json.dump(said, file)
    os.rename("answer.json.new", "answer.json")


main()
