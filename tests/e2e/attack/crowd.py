#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that opens as many connections as it can at both sockets, sends one byte on each, and reconnects when the daemon closes one."""
import json
import os
import resource
import socket
import time

MOST = 1800
SECONDS = 16


def opened(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.setblocking(False)
    try:
        sock.connect(path)
        sock.send(b"P")
        return sock
    except OSError:
        sock.close()
        return None


def is_open(sock):
    try:
        return sock.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def note(name, value):
    with open(name + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(name + ".new", name)


def main():
    with open(os.path.join(os.path.dirname(__file__), "know.json"), encoding="utf-8") as file:
        know = json.load(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    held, tried = {know["door"]: [], know["socket"]: []}, 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for path, socks in held.items():
            for _ in range(min(300 if tried < 2 * MOST else 30, MOST - len(socks))):
                sock = opened(path)
                tried += 1
                if not sock:
                    break
                socks.append(sock)
            socks[:] = [sock for sock in socks if is_open(sock) or sock.close()]
        if tried > 2 * MOST:
            note("crowd.json", {"tried": tried})
        time.sleep(0.1)
    time.sleep(2)  # until the daemon has accepted or closed all of them
    for socks in held.values():
        socks[:] = [sock for sock in socks if is_open(sock)]
    note("crowded.json", {"tried": tried, "open": [len(socks) for socks in held.values()]})


main()
