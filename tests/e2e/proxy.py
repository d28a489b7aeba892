#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the proxy of a run by itself: overseer-hold --proxy, its socket, and servers on loopback.

proxy.py [--only NAME]: closes, resets, slow and large transfers, freezes, denials, limits, names that lead to this machine.
"""
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from care import main
from network import own_address
from world import BUILD, folder_make, wait_until

CHECKS = []
HOLD = str(BUILD / "overseer-hold")
BIG = os.urandom(1 << 20) * 5


def check(function):
    CHECKS.append(function)
    return function


class Proxy:
    """A proxy that ends with `sleep`, or with another program. hosts: text of /etc/hosts for it."""

    def __init__(self, *allowed, hosts=None, program=("sleep", "1000")):
        self.folder = folder_make("proxy")
        (self.folder / "net").mkdir()
        (self.folder / "file").write_text(f"listen {self.folder}/net\ndenied {self.folder}/denied\n" + "".join(f"allow {one}\n" for one in allowed))
        words = [HOLD, "--proxy", str(self.folder / "file"), "--", *program]
        if hosts:
            (self.folder / "hosts").write_text(hosts)
            words = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", str(self.folder / "hosts"), "/etc/hosts", "--", *words]
        self.process = subprocess.Popen(words)
        wait_until("it listens", self.listens, 10)

    def listens(self):
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        wait_until("it has ended", lambda: not self.processes(), 10)

    def connect(self):
        it = socket.socket(socket.AF_UNIX)
        it.settimeout(30)
        it.connect(str(self.folder / "net/sock"))
        return it

    def tunnel(self, port, host="127.0.0.1"):
        it = self.connect()
        it.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
        return it, it.recv(500).decode()

    def processes(self):
        """Returns the pids of the proxy and of its connections."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder / "file").encode() in (path / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(path.name))
            except OSError:
                continue
        return found

    def ticks(self):
        total = 0
        for pid in self.processes():
            try:
                words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += int(words[11]) + int(words[12])
            except OSError:
                continue
        return total


def server(backlog=16):
    it = socket.create_server(("127.0.0.1", 0), backlog=backlog)
    it.settimeout(30)
    return it, it.getsockname()[1]


def read_all(it):
    got = b""
    while chunk := it.recv(1 << 16):
        got += chunk
    return got


def reset(it):
    it.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    it.close()


def is_idle(proxy, what):
    time.sleep(0.3)
    before = proxy.ticks()
    time.sleep(1.5)
    used = proxy.ticks() - before
    assert used <= 5, f"{what}: {used} ticks of 10 ms in 1.5 s"


@check
def nothing_is_busy():
    """A side that is gone, while the other is silent or slow, costs no processor time."""
    it, port = server()
    with Proxy(f"127.0.0.1:{port}") as proxy:
        client, _ = proxy.tunnel(port)
        peer, _ = it.accept()
        client.close()
        is_idle(proxy, "the client is gone, the server is silent")
        peer.close()
        client, _ = proxy.tunnel(port)
        peer, _ = it.accept()
        reset(peer)
        is_idle(proxy, "the server has reset, the client is silent")
        client.close()
        client, _ = proxy.tunnel(port)
        peer, _ = it.accept()
        client.setblocking(False)
        try:
            while client.send(BIG):
                pass
        except BlockingIOError:
            pass
        client.close()
        is_idle(proxy, "the client has sent much and is gone, the server reads nothing")
        peer.close()
        wait_until("its connections have ended", lambda: len(proxy.processes()) <= 2, 10)


@check
def a_denial_is_read():
    """The answer to a request with a large body arrives each time; the same for a server that answers early."""
    it, port = server()

    def refuse():
        while True:
            try:
                peer, _ = it.accept()
                peer.recv(1000)
                peer.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
                peer.shutdown(socket.SHUT_WR)
                time.sleep(0.05)
                peer.close()
            except OSError:
                return

    threading.Thread(target=refuse, daemon=True).start()
    with Proxy(f"127.0.0.1:{port}") as proxy:
        for target, want in ((f"http://other.test:{port}/", b" 403 "), (f"http://127.0.0.1:{port}/", b" 413 ")):
            for _ in range(10):
                client = proxy.connect()
                client.sendall(f"POST {target} HTTP/1.1\r\nContent-Length: {len(BIG)}\r\n\r\n".encode())
                try:
                    client.sendall(BIG)
                except OSError:
                    pass
                assert want in client.recv(500), target
                client.close()


@check
def everything_arrives():
    """Large transfers in both directions, to a slow reader, and behind a half-close."""
    it, port = server()
    want = hashlib.sha256(BIG).digest()
    with Proxy(f"127.0.0.1:{port}") as proxy:
        client, _ = proxy.tunnel(port)
        peer, _ = it.accept()
        threading.Thread(target=lambda: (client.sendall(BIG), client.shutdown(socket.SHUT_WR))).start()
        time.sleep(1)  # a slow reader
        assert hashlib.sha256(read_all(peer)).digest() == want
        threading.Thread(target=lambda: (peer.sendall(BIG), peer.close())).start()
        time.sleep(1)
        assert hashlib.sha256(read_all(client)).digest() == want


@check
def a_freeze_breaks_nothing():
    """A connection that is being made, and one that is open, go on after SIGSTOP and SIGCONT."""
    it, port = server(backlog=0)
    with Proxy(f"127.0.0.1:{port}") as proxy:
        held = [socket.create_connection(("127.0.0.1", port))]  # the queue of the server is full
        client = proxy.connect()
        client.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        time.sleep(0.5)
        for one in (signal.SIGSTOP, signal.SIGCONT):
            for pid in proxy.processes():
                os.kill(pid, one)
            time.sleep(0.2)
        peers = [it.accept()[0]]
        peers.append(it.accept()[0])
        assert " 200 " in client.recv(200).decode()
        peers[-1].sendall(b"hello")
        assert client.recv(100) == b"hello"
        for one in held + peers:
            one.close()


@check
def the_forwarder_is_no_child():
    """A program that waits for all its children ends, and has none but its own."""
    folder = folder_make("forwarder")
    it, port = server()
    (folder / "rules").write_text(f"landlock yes\nsees /\nwrites /dev\nforward 3128 {folder}/net\ntunnel 127.0.0.1 {port}\n")
    (folder / "net").mkdir()
    (folder / "file").write_text(f"listen {folder}/net\ndenied {folder}/denied\nallow 127.0.0.1:{port}\n")
    script = (f"import os, socket, sys\nos.fork() or os._exit(0)\ntry:\n while True: os.wait()\nexcept ChildProcessError: pass\n"
              f"print(socket.create_connection(('127.0.0.1', {port})).recv(10).decode())\n")
    run = subprocess.Popen([HOLD, "--proxy", str(folder / "file"), "--", "bwrap", "--unshare-user-try", "--unshare-pid", "--unshare-net", "--die-with-parent",
                            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", HOLD, "--confine", str(folder / "rules"), "--",
                            sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    peer, _ = it.accept()
    peer.sendall(b"first")  # the server speaks first, before the tunnel is reported
    peer.close()
    assert run.communicate(timeout=20)[0].strip() == "first" and run.returncode == 0


@check
def too_many_are_told():
    """More connections than allowed get an answer, and later ones are served again."""
    it, port = server(backlog=200)
    with Proxy(f"127.0.0.1:{port}") as proxy:
        idle = [proxy.connect() for _ in range(128)]
        wait_until("they are served", lambda: len(proxy.processes()) >= 129, 20)
        assert " 503 " in proxy.connect().recv(500).decode()
        for one in idle:
            one.close()
        wait_until("they have ended", lambda: len(proxy.processes()) <= 2, 20)
        assert " 200 " in proxy.tunnel(port)[1]


@check
def names_do_not_lead_here():
    """A listed name that leads to this machine is denied, whichever of its addresses it has; the address itself can be listed."""
    own = own_address()
    it = socket.create_server(("0.0.0.0", 0))
    port = it.getsockname()[1]
    names = {"loop.test": "127.0.0.1", "other.test": "127.0.0.2", "own.test": own, "zero.test": "0.0.0.0", "six.test": "::1", "mapped.test": "::ffff:127.0.0.1",
             "nat.test": "64:ff9b::7f00:1", "link.test": "169.254.169.254", "meta.test": "fd00:ec2::254", "meta2.test": "100.100.100.200", "to4.test": "2002:7f00:1::"}
    with Proxy(*[f"{name}:{port}" for name in names], f"{own}:{port}", hosts="".join(f"{address} {name}\n" for name, address in names.items())) as proxy:
        for name in names:
            answer = proxy.tunnel(port, name)[1]
            assert "its name leads to this machine" in answer, (name, answer)
        assert " 200 " in proxy.tunnel(port, own)[1]


# In a network namespace with a second one behind a cable: a machine that is not this one.
OTHER_MACHINE = r'''import os, socket, ssl, subprocess, sys, time
hold, folder = sys.argv[1:]
def sh(text): subprocess.run(text, shell=True, check=True)
other = subprocess.Popen(["unshare", "-n", "sleep", "60"])
time.sleep(0.3)
sh(f"ip link set lo up; ip link add v0 type veth peer name v1; ip link set v1 netns {other.pid}; ip addr add 10.99.0.1/24 dev v0; ip link set v0 up")
inside = f"nsenter -n -t {other.pid} "
sh(inside + "ip addr add 10.99.0.2/24 dev v1; " + inside + "ip link set v1 up; " + inside + "ip link set lo up")
open(f"{folder}/hosts", "w").write("10.99.0.2 site.test\n10.99.0.2 other.test\n")
sh(f"mount --bind {folder}/hosts /etc/hosts")
server = subprocess.Popen(inside.split() + [sys.executable, "-c", "import socket\nit = socket.create_server(('', 443))\nwhile True:\n c, _ = it.accept(); got = c.recv(3000); print(len(got), flush=True); c.sendall(b'seen'); c.close()"], stdout=subprocess.PIPE, text=True)
time.sleep(0.5)
proxy = subprocess.Popen([hold, "--proxy", f"{folder}/file", "--", "sleep", "60"])
time.sleep(0.5)

def hello(name):
    context, sent = ssl.create_default_context(), ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()

def tried(first, slowly=False):
    it = socket.socket(socket.AF_UNIX)
    it.settimeout(10)
    it.connect(f"{folder}/net/sock")
    it.sendall(b"CONNECT site.test:443 HTTP/1.1\r\n\r\n")
    told = it.recv(300)
    for n in range(0, len(first), 50 if slowly else len(first)):
        try:
            it.sendall(first[n:n + (50 if slowly else len(first))])
        except OSError:
            pass
        time.sleep(0.01 if slowly else 0)
    try:
        return told[:12] + b" " + it.recv(100)
    except OSError:
        return told[:12] + b" reset"

print("right", tried(hello("site.test")), tried(hello("SITE.test"), slowly=True))
print("other", tried(hello("other.test")), tried(hello("other.test"), slowly=True))
print("plain", tried(b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n"))
for one in (proxy, server, other):
    one.kill()
'''


@check
def the_name_in_tls_is_the_one_that_was_asked_for():
    """A tunnel to a listed host does not lead to another site at the same address."""
    folder = folder_make("proxy-tls")
    (folder / "net").mkdir()
    (folder / "file").write_text(f"listen {folder}/net\ndenied {folder}/denied\nallow site.test\n")
    (folder / "machine.py").write_text(OTHER_MACHINE)
    run = subprocess.run(["unshare", "-Urnm", sys.executable, str(folder / "machine.py"), HOLD, str(folder)], capture_output=True, text=True, timeout=60)
    told = dict(line.split(" ", 1) for line in run.stdout.splitlines())
    assert told["right"].count("200 b'seen'") + told["right"].count("200 seen") == 2, (told, run.stderr)
    assert "seen" not in told["other"] and "seen" not in told["plain"] and "200" in told["other"], told
    denied = (folder / "denied").read_text().splitlines()
    assert denied == ["other.test 443 by TLS", "other.test 443 by TLS", "site.test 443 by TLS"], denied


@check
def headers_are_passed_on_whole():
    """A head that cannot be passed on as it is is refused: nothing of it reaches the server."""
    it, port = server()
    it.settimeout(0.5)
    with Proxy(f"127.0.0.1:{port}") as proxy:
        for bad in ("A: b\r\nX: a\nb\r\nContent-Length: 5\r\n", "Host : evil\r\n", " folded: x\r\n", "no header\r\n", "A b: c\r\n"):
            client = proxy.connect()
            client.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n{bad}\r\nhello".encode())
            assert " 400 " in client.recv(300).decode(), bad
            try:
                it.accept()
                raise AssertionError(f"it reached the server: {bad}")
            except TimeoutError:
                pass


@check
def it_ends_with_its_program():
    """Nothing is left when the program ends, whatever its connections do."""
    it, port = server(backlog=64)
    with Proxy(f"127.0.0.1:{port}") as proxy:
        for _ in range(20):
            proxy.tunnel(port)
        proxy.process.kill()
        proxy.process.wait()
        wait_until("all have ended", lambda: not proxy.processes(), 5)


if __name__ == "__main__":
    sys.exit(main("proxy", CHECKS))
