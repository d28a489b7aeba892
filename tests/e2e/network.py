#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests network = "model": a run reaches its model and the hosts of its repository's list, and nothing else.

network.py [--only NAME]: the daemon, real sandboxes, servers on this machine's loopback that note every connection, and an agent that
tries to get around the proxy. The servers are the judge: what the agent says about its attempts is only shown.
"""
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import proof
from care import fixture_make, main
from landing import landed
from pulls import git

CHECKS = []
COUNT = itertools.count()

# Tries everything, and writes what came of it into a file that lands with its work.
AGENT = r'''import base64, ctypes, json, os, re, socket, struct, sys, urllib.request
prompt = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", prompt).group(0)
P = json.loads(PORTS)
ALLOWED, SECRET, UDP, SIX = P["allowed"], P["secret"], P["udp"], P["six"]
PROXY = ("127.0.0.1", 3128)
here, told = os.getcwd(), {}


def tcp(address, family=socket.AF_INET, text=b"GET /direct HTTP/1.0\r\n\r\n"):
    with socket.socket(family) as it:
        it.settimeout(5)
        it.connect(address)
        it.sendall(text)
        return it.recv(200)


def proxied(head, then=b""):
    with socket.create_connection(PROXY, timeout=5) as it:
        it.sendall(head)
        answer = it.recv(400)
        if then and b" 200 " in answer.split(b"\r\n")[0]:
            it.sendall(then)
            answer += it.recv(400)
        return answer


def tunnel(target, then=b"GET /tunnel HTTP/1.0\r\n\r\n"):
    return proxied(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode(), then)


def udp(port):
    it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    it.settimeout(1)
    it.sendto(b"hello", ("127.0.0.1", port))
    return it.recv(100)


def abstract():
    it = socket.socket(socket.AF_UNIX)
    it.connect("\0" + P["abstract"])
    return it.recv(100)


def namespace():
    if ctypes.CDLL(None, use_errno=True).setns(os.open("/proc/1/ns/net", os.O_RDONLY), 0x40000000) != 0:
        raise OSError(ctypes.get_errno())
    return tcp(("127.0.0.1", SECRET))


def unix_direct():
    [folder] = {line.split()[4] for line in open("/proc/self/mountinfo") if line.split()[4].endswith("/net")}
    os.chdir(folder)
    it = socket.socket(socket.AF_UNIX)
    it.connect("sock")
    os.chdir(here)
    it.sendall(f"CONNECT 127.0.0.1:{SECRET} HTTP/1.1\r\n\r\n".encode())
    return it.recv(200)


def raw():
    it = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    it.sendto(b"x" * 40, ("127.0.0.1", SECRET))
    return b"sent"


ATTEMPTS = {
    "direct": lambda: tcp(("127.0.0.1", SECRET)),
    "other loopback address": lambda: tcp(("127.0.0.2", SECRET)),
    "direct, own address": lambda: tcp((P["own"], SECRET)),
    "IPv6": lambda: tcp(("::1", SIX), socket.AF_INET6),
    "UDP": lambda: udp(UDP),
    "DNS": lambda: socket.getaddrinfo("example.org", 443),
    "abstract socket": abstract,
    "raw socket": raw,
    "network namespace": namespace,
    "proxy socket": unix_direct,
    "CONNECT": lambda: tunnel(f"127.0.0.1:{SECRET}"),
    "CONNECT own address": lambda: tunnel(f"{P['own']}:{SECRET}"),
    "CONNECT name of the loopback": lambda: tunnel(f"localhost:{SECRET}"),
    "CONNECT listed name of the loopback": lambda: tunnel(f"localhost:{P['named']}"),
    "CONNECT IPv6": lambda: tunnel(f"[::1]:{SIX}"),
    "CONNECT mapped": lambda: tunnel(f"[::ffff:127.0.0.1]:{SECRET}"),
    "CONNECT decimal": lambda: tunnel(f"2130706433:{SECRET}"),
    "CONNECT hexadecimal": lambda: tunnel(f"0x7f.1:{SECRET}"),
    "CONNECT final dot": lambda: tunnel(f"127.0.0.1.:{SECRET}"),
    "CONNECT user": lambda: tunnel(f"127.0.0.1:{ALLOWED}@127.0.0.1:{SECRET}"),
    "CONNECT two lines": lambda: proxied(f"CONNECT 127.0.0.1:{ALLOWED}\nCONNECT 127.0.0.1:{SECRET} HTTP/1.1\r\n\r\n".encode(), b"GET /smuggled HTTP/1.0\r\n\r\n"),
    "GET": lambda: proxied(f"GET http://127.0.0.1:{SECRET}/ HTTP/1.1\r\nHost: 127.0.0.1:{SECRET}\r\n\r\n".encode()),
    "GET other host": lambda: proxied(f"GET http://127.0.0.1:{ALLOWED}/mismatch HTTP/1.1\r\nHost: 127.0.0.1:{SECRET}\r\n\r\n".encode()),
    "GET path only": lambda: proxied(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{SECRET}\r\n\r\n".encode()),
    "GET https": lambda: proxied(f"GET https://127.0.0.1:{ALLOWED}/ HTTP/1.1\r\n\r\n".encode()),
    "GET user": lambda: proxied(f"GET http://127.0.0.1:{ALLOWED}@127.0.0.1:{SECRET}/ HTTP/1.1\r\n\r\n".encode()),
}
WANTED = {
    "model, direct": lambda: tcp(("127.0.0.1", P["model"]), text=b"GET /model HTTP/1.0\r\n\r\n"),
    "model, by its proxy": lambda: urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"})).open(f"http://127.0.0.1:{P['model']}/urllib", timeout=5).read(),
    "listed, tunnel": lambda: tunnel(f"127.0.0.1:{ALLOWED}", b"GET /listed HTTP/1.0\r\n\r\n"),
    "listed, GET": lambda: proxied(f"GET http://127.0.0.1:{ALLOWED}/passed HTTP/1.1\r\nHost: x\r\n\r\n".encode()),
    "its own server": lambda: own_server(),
}


def own_server():
    it = socket.socket()
    it.bind(("127.0.0.1", 0))
    it.listen()
    with socket.create_connection(it.getsockname(), timeout=5):
        return b"reached"


for kind, list_ in (("attempt", ATTEMPTS), ("wanted", WANTED)):
    for name, do in list_.items():
        try:
            told[f"{kind}: {name}"] = repr(do())[:300]
        except Exception as error:
            told[f"{kind}: {name}"] = f"failed: {error}"
told["environment"] = os.environ.get("HTTPS_PROXY", "")
json.dump(told, open("told.json", "w"), indent=1)
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["told.json"]}}}) + "\n```")
'''


def check(function):
    CHECKS.append(function)
    return function


class Server:
    """Notes the first line of each connection, and answers."""

    def __init__(self, family=socket.AF_INET, address=("127.0.0.1", 0), datagrams=False):
        self.socket = socket.socket(family, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM)
        self.socket.bind(address)
        self.seen, self.datagrams = [], datagrams
        if not datagrams:
            self.socket.listen(64)
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def port(self):
        return self.socket.getsockname()[1]

    def serve(self):
        while True:
            try:
                if self.datagrams:
                    self.seen.append(self.socket.recv(2000).decode(errors="replace"))
                    continue
                client, _ = self.socket.accept()
                threading.Thread(target=self.one, args=(client,), daemon=True).start()
            except OSError:
                return

    def one(self, client):
        self.seen.append("")
        place = len(self.seen) - 1
        client.settimeout(10)
        try:
            text = client.recv(2000).decode(errors="replace")
            self.seen[place] = text
            client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nreached")
        except OSError:
            pass
        client.close()


def own_address():
    found = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    return next((one for one in found if "." in one and not one.startswith("127.")), "127.0.0.1")


class World:
    def __init__(self):
        own = own_address()
        self.model, self.allowed, self.named = Server(), Server(), Server()
        self.secret = Server(address=("0.0.0.0", 0))
        self.six = Server(socket.AF_INET6, ("::1", 0))
        self.udp = Server(datagrams=True)
        abstract = f"overseer-network-{os.getpid()}-{next(COUNT)}"
        self.abstract = Server(socket.AF_UNIX, "\0" + abstract)
        self.ports = {"model": self.model.port, "allowed": self.allowed.port, "named": self.named.port, "secret": self.secret.port,
                      "six": self.six.port, "udp": self.udp.port, "own": own, "abstract": abstract}

    def forbidden(self):
        return {name: getattr(self, name).seen for name in ("secret", "six", "udp", "abstract", "named") if getattr(self, name).seen}


def attack(world, name, network):
    fixture = fixture_make(f"network-{name}", landing={"how": "rebase"}, verify={"command": "true"},
                           repo={"hosts": [f"127.0.0.1:{world.ports['model']}", f"127.0.0.1:{world.ports['allowed']}", f"localhost:{world.ports['named']}"]},
                           agent={"network": network, "base_url": f"http://127.0.0.1:{world.ports['model']}/v1"})
    try:
        fixture.program.write_text(f"PORTS = {json.dumps(world.ports)!r}\n" + AGENT)
        git(fixture.repo, "checkout", "-q", "--detach")
        landed(fixture, fixture.goal())
        told = json.loads(git(fixture.repo, "show", "main:told.json"))
        denied = "".join(path.read_text() for path in fixture.folder.rglob("denied"))
        return told, denied
    finally:
        fixture.close()


@check
def nothing_gets_around_the_proxy():
    """26 attempts to reach what is not on the list: none arrives. What is on the list is reached, also by programs that know no proxy."""
    world = World()
    told, denied = attack(world, "model", "model")
    for what, came in told.items():
        print("   ", what, "-", came[:160])
    assert not world.forbidden(), world.forbidden()
    for name in ("model, direct", "model, by its proxy", "listed, tunnel", "listed, GET", "its own server"):
        assert "reached" in told[f"wanted: {name}"], (name, told[f"wanted: {name}"])
    assert any(text.startswith("GET /passed HTTP/1.1\r\nHost: 127.0.0.1:") for text in world.allowed.seen), world.allowed.seen
    mismatch = [text for text in world.allowed.seen if "/mismatch" in text]
    assert mismatch and f":{world.ports['secret']}" not in mismatch[0], "a Host header of another server was passed on"
    assert "denied: host 127.0.0.1" in told["attempt: CONNECT"] and "Go on without it" in told["attempt: CONNECT"], told["attempt: CONNECT"]
    assert "denied: host" in told["attempt: proxy socket"], told["attempt: proxy socket"]
    assert f"127.0.0.1 {world.ports['secret']}\n" in denied, denied
    proof.passed("e2e", "network.model", "")


@check
def the_attempts_would_arrive():
    """The same with network = all: the servers see them, so the test above can fail."""
    world = World()
    told, _ = attack(world, "all", "all")
    assert {"secret", "udp"} <= set(world.forbidden()), (world.forbidden(), told)


BEGIN = r'''import json, re, socket, sys, urllib.request
goal = re.search("goal_[0-9A-Z]{26}", sys.stdin.read()).group(0)
'''
DONE = r'''
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["got"]}}}) + "\n```")
'''
STREAMS = BEGIN + r'''
it = socket.create_connection(("127.0.0.1", 3128), timeout=30)
it.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % PORT)
it.recv(100)
it.sendall(b"begin\n")
got = b""
while chunk := it.recv(1000):
    got += chunk
open("got", "wb").write(got)
''' + DONE


def proxies(folder):
    """Returns the processes of proxies and forwarders below this folder: [(pid, kilobytes of its own memory)]."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            if b"overseer-hold" in words[0] and (b"--proxy" in words or b"--confine" in words) and str(folder).encode() in b" ".join(words):
                rollup = (path / "smaps_rollup").read_text()
                found.append((int(path.name), sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))))
        except (OSError, IndexError):
            continue
    return found


@check
def the_proxy_outlives_the_daemon():
    """A stream of the model goes on while the daemon is killed and started again; afterwards no process of the proxy is left."""
    server = socket.create_server(("127.0.0.1", 0))
    fixture = fixture_make("network-stream", landing={"how": "rebase"}, verify={"command": "true"}, agent={"network": "model"},
                           repo={"hosts": [f"127.0.0.1:{server.getsockname()[1]}"]})
    try:
        fixture.program.write_text(f"PORT = {server.getsockname()[1]}\n" + STREAMS)
        git(fixture.repo, "checkout", "-q", "--detach")
        goal = fixture.goal()
        server.settimeout(30)
        client, _ = server.accept()
        assert client.recv(100) == b"begin\n"
        client.sendall(b"one\n")
        fixture.daemon.kill()
        client.sendall(b"two\n")
        there = proxies(fixture.folder)
        print("    processes of the proxy:", len(there), "with", max(size for _, size in there), "kB of their own at most")
        assert len(there) >= 3, there
        fixture.begin()
        client.sendall(b"three\n")
        client.close()
        landed(fixture, goal)
        assert git(fixture.repo, "show", "main:got") == "one\ntwo\nthree"
        fixture.wait("its processes have ended", lambda: not proxies(fixture.folder))
    finally:
        fixture.close()


@check
def checks_reach_the_list():
    """The operator's check of an agent with network = model reaches the hosts of the repository, and not the agent's model."""
    world = World()
    fixture = fixture_make("network-check", landing={"how": "rebase"}, repo={"hosts": [f"127.0.0.1:{world.ports['allowed']}"]},
                           agent={"network": "model", "base_url": f"http://127.0.0.1:{world.ports['model']}"},
                           verify={"command": f"curl -sf -p http://127.0.0.1:{world.ports['allowed']}/check --noproxy none &&"
                                              f" ! curl -sf -p http://127.0.0.1:{world.ports['model']}/ --noproxy none"})
    try:
        git(fixture.repo, "checkout", "-q", "--detach")
        landed(fixture, fixture.goal())
        assert any("/check" in text for text in world.allowed.seen) and not world.model.seen, (world.allowed.seen, world.model.seen)
        fixture.wait("its processes have ended", lambda: not proxies(fixture.folder))
    finally:
        fixture.close()


@check
def a_variable_names_the_model():
    """The host of a variable _BASE_URL that the agent gets is reached; a value that is no URL is refused, and the reason names the variable."""
    world = World()
    reached = f"http://127.0.0.1:{world.ports['model']}"
    fixture = fixture_make("network-variable", {"TEST_BASE_URL": reached + "/v1"}, landing={"how": "rebase"}, verify={"command": "test -s got"},
                           agent={"network": "model", "keys": ["TEST_BASE_URL"]})
    try:
        fixture.program.write_text(f"{BEGIN}open('got', 'w').write(str(urllib.request.urlopen('{reached}/').status))\n{DONE}")
        git(fixture.repo, "checkout", "-q", "--detach")
        landed(fixture, fixture.goal())
        assert world.model.seen, "it was not reached"
    finally:
        fixture.close()
    fixture = fixture_make("network-variable-wrong", {"TEST_BASE_URL": "gateway/v1"}, agent={"network": "model", "keys": ["TEST_BASE_URL"]})
    try:
        goal = fixture.goal()
        why = fixture.wait("it says why", lambda: [one for one in fixture.do("inbox.list")["items"] if one["goalId"] == goal])
        assert "TEST_BASE_URL is no URL" in json.dumps(why), why
    finally:
        fixture.close()


@check
def a_wrong_entry_is_said():
    """An entry that is no host: nothing starts, and the reason names it."""
    fixture = fixture_make("network-wrong", agent={"network": "model"}, repo={"hosts": ["https://registry.npmjs.org"]})
    try:
        goal = fixture.goal()
        why = fixture.wait("it says why", lambda: [one for one in fixture.do("inbox.list")["items"] if one["goalId"] == goal])
        assert "https://registry.npmjs.org" in json.dumps(why) and "repo.hosts" in json.dumps(why), why
    finally:
        fixture.close()


if __name__ == "__main__":
    sys.exit(main("network", CHECKS))
