#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `overseer gateway` carry lines to a WebSocket and back, whatever the other side does?

The other side is a socket of this test: it answers the handshake, sends frames in pieces, hangs up, and sends nonsense. tests/agents
tests the bridge with a real gateway.
"""
import base64
import hashlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback

import proof
from world import Broken, OVERSEER, folder_make

TOKEN = "a-token-that-nobody-sees"
WITHIN = 10
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def expect(promise, text):
    if not promise:
        raise Broken(text)


class Side:
    """One connection, on the side of the server."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(WITHIN)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        self.head = head.decode()
        key = [line.split(": ")[1] for line in self.head.split("\r\n") if line.startswith("Sec-WebSocket-Key")][0]
        self.accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()

    def welcome(self):
        self.socket.sendall((f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Accept: {self.accept}\r\n\r\n").encode())
        return self

    def bytes(self, count):
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise Broken("it hung up")
            got += part
        return got

    def frame(self):
        """(kind, payload) of one frame; a client must send masked and unfragmented frames."""
        first, second = self.bytes(2)
        expect(first & 0x80 and second & 0x80, "a frame is not whole, or not masked")
        length = second & 127
        length = struct.unpack(">H", self.bytes(2))[0] if length == 126 else struct.unpack(">Q", self.bytes(8))[0] if length == 127 else length
        mask, data = self.bytes(4), self.bytes(length)
        return first & 15, bytes(byte ^ mask[i & 3] for i, byte in enumerate(data))

    def message(self):
        kind, payload = self.frame()
        expect(kind == 1, f"a frame of kind {kind}: {payload}")
        return json.loads(payload)

    def send(self, text, kind=1, last=True):
        data = text if isinstance(text, bytes) else text.encode()
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data)) if len(data) < 65536 else \
            b"\x7f" + struct.pack(">Q", len(data))
        self.socket.sendall(bytes([kind | (0x80 if last else 0)]) + size + data)


class Bridge:
    def __init__(self, *more, token=True, env=None):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(WITHIN)
        self.folder = folder_make("bridge")
        (self.folder / "token").write_text(TOKEN + "\n")
        port = self.server.getsockname()[1]
        words = [str(OVERSEER), "gateway", f"ws://127.0.0.1:{port}/path", *(["--token-file", str(self.folder / "token")] if token else []), *more]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.rest = b""

    def taken(self):
        return Side(self.server.accept()[0])

    def opened(self):
        side = self.taken().welcome()
        self.line("open")
        return side

    def say(self, **line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def line(self, event=None):
        end = time.monotonic() + WITHIN
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not part:
                raise Broken("there is no line")
            self.rest += part
        text, self.rest = self.rest.split(b"\n", 1)
        expect(TOKEN.encode() not in text, "the token is on the output")
        found = json.loads(text)
        expect(event is None or found.get("event") == event, f"not {event}: {text[:300]}")
        return found

    def over(self):
        return self.process.wait(WITHIN)

    def close(self):
        self.server.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@check
def handshake_and_token(bridge):
    """The bridge puts the token into `connect` and nowhere else."""
    side = bridge.taken()
    expect(side.head.startswith("GET /path HTTP/1.1\r\nHost: 127.0.0.1:") and TOKEN not in side.head, side.head)
    side.welcome()
    expect(bridge.line("open")["connection"] == 1, "not the first connection")
    bridge.say(type="req", id="1.1", method="connect", params={"caps": []})
    bridge.say(type="req", id="1.2", method="agent", params={"message": "x" * 70000})
    expect(side.message()["params"] == {"caps": [], "auth": {"token": TOKEN}}, "the token is not in connect")
    other = side.message()
    expect(len(other["params"]["message"]) == 70000 and TOKEN not in json.dumps(other), "the token is elsewhere too")


@check
def pieces_pings_and_space(bridge):
    """The bridge writes a message in pieces, with a ping between them, as one line, and also a message that contains line feeds."""
    side = bridge.opened()
    side.send('{"type":"event",\n', last=False)
    side.send("still there?", kind=9)
    side.send('"event":', kind=0, last=False)
    side.send('"one"}', kind=0)
    expect(side.frame() == (10, b"still there?"), "the ping was not answered")
    expect(bridge.line()["event"] == "one", "the pieces are not one")
    side.send('{"type":"event","event":"two","text":"' + "y" * 200000 + '"}')
    expect(len(bridge.line("two")["text"]) == 200000, "a long one is cut")


@check
def too_long_is_skipped(bridge):
    side = bridge.opened()
    side.send('{"type":"event","text":"', last=False)
    for _ in range(9):
        side.send(b"z" * (1 << 20), kind=0, last=False)
    side.send('"}', kind=0)
    side.send('{"type":"event","event":"behind it"}')
    expect(bridge.line("skipped")["bytes"] > 9 << 20, "it does not say how long it was")
    bridge.line("behind it")


@check
def what_is_wanted(bridge):
    """The bridge drops events of other sessions and other kinds, and drops messages in which the gateway claims to be the bridge."""
    side = bridge.opened()
    bridge.say(type="bridge", session="mine", events=["agent", "ask"])
    bridge.say(type="req", id="1.1", method="x", params={})
    side.message()
    for event, payload in (("agent", {"sessionKey": "other"}), ("tick", {}), ("ask", {"request": {"sessionKey": "other"}})):
        side.send(json.dumps({"type": "event", "event": event, "payload": payload}))
    side.send('{"type":"bridge","event":"lost"}')
    side.send("no JSON")
    side.send(json.dumps({"type": "event", "event": "agent", "payload": {"sessionKey": "mine"}}))
    side.send(json.dumps({"type": "event", "event": "ask", "payload": {"request": {"sessionKey": "mine"}}}))
    side.send(json.dumps({"type": "res", "id": "1.1", "ok": True}))
    bridge.line("agent")
    bridge.line("ask")
    expect(bridge.line()["type"] == "res", "an answer is missing")


@check
def lost_and_found(bridge):
    """The bridge reconnects by itself, says so, and drops requests that were meant for the previous connection."""
    side = bridge.opened()
    side.send(struct.pack(">H", 1013) + b"starting", kind=8)
    lost = bridge.line("lost")
    expect((lost["code"], lost["why"], lost["connection"]) == (1013, "starting", 1), f"{lost}")
    bridge.say(type="req", id="1.9", method="agent", params={})
    again = bridge.opened()
    bridge.say(type="req", id="1.10", method="agent", params={})
    bridge.say(type="req", id="2.1", method="connect", params={})
    expect(again.message()["id"] == "2.1", "what was meant for the first went to the second")
    again.socket.close()
    expect(bridge.line("lost")["code"] == 1006, "it was not noticed")
    bridge.opened()


@check
def no_gateway_then_one(bridge):
    """No listener, an answer that is nonsense, an answer with another key: the bridge reports each failure and tries again, later each time."""
    port = bridge.server.getsockname()[1]
    bridge.server.close()
    waits = [bridge.line("lost")["again_ms"] for _ in range(3)]
    expect(waits == sorted(waits) and waits[0] >= 250, f"it waits {waits}")
    bridge.server = socket.create_server(("127.0.0.1", port))
    bridge.server.settimeout(WITHIN)
    bridge.taken().socket.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
    expect("WebSocket" in bridge.line("lost")["why"], "a refusal is taken for a welcome")
    side = bridge.taken()
    side.accept = "AAAAAAAAAAAAAAAAAAAAAAAAAAA="
    side.welcome()
    bridge.line("lost")


@check
def nonsense_is_closed(bridge):
    side = bridge.opened()
    side.send("x", kind=3)
    expect(bridge.line("lost")["code"] == 1002, "nonsense is taken for a frame")
    kind, payload = side.frame()
    expect((kind, payload) == (8, struct.pack(">H", 1002)), f"it did not say why: {kind} {payload}")
    side = bridge.opened()
    side.send(b"\xff\xfe")
    expect(bridge.line("lost")["code"] == 1007, "what is no text is taken for one")


@check
def told_to_end(bridge):
    """On SIGTERM the bridge sends its last message, waits for the answer, and then closes."""
    side = bridge.opened()
    bridge.say(type="bridge", session="mine", events=[], last={"type": "req", "method": "sessions.abort", "params": {"key": "mine"}})
    bridge.say(type="req", id="1.1", method="x", params={})
    side.message()
    bridge.process.send_signal(signal.SIGTERM)
    last = side.message()
    expect(last["method"] == "sessions.abort" and last["params"] == {"key": "mine"}, f"{last}")
    side.send(json.dumps({"type": "res", "id": last["id"], "ok": True}))
    expect(side.frame() == (8, struct.pack(">H", 1000)), "it did not close")
    expect(bridge.over() == 0, "it failed")


@check
def input_ends(bridge):
    """When its driver is gone, the bridge also sends its last message; without an answer it does not wait for ever."""
    side = bridge.opened()
    bridge.say(type="bridge", session="mine", events=[], last={"type": "req", "method": "sessions.abort", "params": {}})
    bridge.process.stdin.close()
    expect(side.message()["method"] == "sessions.abort", "the last word is missing")
    expect(bridge.over() == 0, "it failed")


@check
def only_here(_):
    """Without TLS the bridge sends the token only to this machine."""
    for url in ("ws://192.0.2.1:1", "wss://127.0.0.1:1", "ws://localhost@192.0.2.1"):
        tried = subprocess.run([str(OVERSEER), "gateway", url], stdin=subprocess.DEVNULL, capture_output=True, timeout=WITHIN, check=False)
        expect(tried.returncode != 0 and tried.stdout == b"" and b"gateway" in tried.stderr, f"{url}: {tried}")
    tried = subprocess.run([str(OVERSEER), "gateway", "ws://127.0.0.1:1", "--token-file", "/nonexistent"], stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=WITHIN, check=False)
    expect(tried.returncode != 0 and b"token" in tried.stderr, f"{tried}")


def main():
    failed = 0
    for function in CHECKS:
        bridge = Bridge()
        try:
            function(bridge)
            proof.passed("e2e", f"bridge: {function.__name__}", "")
            print(f"ok      {function.__name__}", flush=True)
        except Exception:  # the other checks still run
            failed += 1
            print(f"FAILED  {function.__name__}", flush=True)
            traceback.print_exc()
        finally:
            bridge.close()
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
