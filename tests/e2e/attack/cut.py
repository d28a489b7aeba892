#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent without network access tries to connect and to listen."""
import json
import os
import socket


def reach(address, port):
    try:
        with socket.create_connection((address, port), 2):
            return "connected"
    except OSError as error:
        return str(error)


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        port = json.load(file)["port"]
    said = {"loopback": reach("127.0.0.1", port), "outside": reach("192.0.2.1", 80)}
    with socket.socket() as server:  # it must not be able to listen either
        try:
            server.bind(("127.0.0.1", 0))
            said["listens"] = "connected"
        except OSError as error:
            said["listens"] = str(error)
    with open("answer.json.new", "w", encoding="utf-8") as file:
        json.dump(said, file)
    os.rename("answer.json.new", "answer.json")


main()
