#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that hostile clients of the TCP interface neither get access nor block other clients.

hostile.py [who|tls|metrics|flood|table] …: tokens, Host and Origin; TLS; the check of /metrics by promtool; and clients that
send nothing, send slowly, send too much or nest JSON too deep, while clients at the Unix socket and other clients of the
TCP interface continue to work. Speeds are ratios: calm and attacked windows alternate in the same run.
"""
import http.client
import json
import os
import re
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import proof
from world import TOP, Broken, Client, Daemon, folder_make, port_free, wait_until

HALF_OPEN = 10000
MIB = 1 << 20


def check(holds, what):
    if not holds:
        raise Broken(what)


class Net:
    """One keep-alive connection to the TCP interface."""

    def __init__(self, port, token=None, timeout=20, context=None):
        self.token = token
        make = http.client.HTTPSConnection if context else http.client.HTTPConnection
        self.connection = make("127.0.0.1", port, timeout=timeout, **({"context": context} if context else {}))

    def request(self, method, path, body=None, **headers):
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        self.connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        response = self.connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()

    def call(self, method, params=None, **headers):
        body = json.dumps({"jsonrpc": "2.0", "id": "x", "method": method, "params": params or {}})
        status, _, text = self.request("POST", "/rpc", body, **headers)
        return status, json.loads(text)

    def error(self, method, params=None, **headers):
        return self.call(method, params, **headers)[1].get("error", {}).get("data", {}).get("code")

    def close(self):
        self.connection.close()


class World:
    def __init__(self, folder, *options):
        self.port = port_free()
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db",
                             options=["--listen", f"127.0.0.1:{self.port}", *options])
        self.daemon.start()
        self.daemon.wait_joined()
        self.people = Client(self.daemon.socket)

    def ask(self, method, **params):
        status, result, error = self.people.call(method, params)
        check(not error, f"{method}: {error}")
        return result

    def token(self, **params):
        made = self.ask("token.create", **params)
        check(re.fullmatch(r"ovs_[A-Za-z0-9_-]{43}", made["token"]), made)
        return made

    def end(self):
        self.people.close()
        self.daemon.stop()
        check(not self.daemon.promises_broken(), self.daemon.promises_broken())


# ---- who ----

def tokens_authenticate(world):
    goal = world.ask("goal.create", title="one")["goalId"]
    other = world.ask("goal.create", title="another")["goalId"]
    check(Net(world.port).error("goal.list") == "E_UNAUTHENTICATED", "without a token")
    check(Net(world.port, "ovs_" + "x" * 43).error("goal.list") == "E_UNAUTHENTICATED", "a made-up token")
    check(Net(world.port).request("GET", "/healthz")[0] == 200, "/healthz is for everybody")
    check(Net(world.port).request("GET", "/readyz")[0] == 200, "/readyz is for everybody")
    status, headers, _ = Net(world.port).request("GET", "/metrics")
    check(status == 401 and headers["WWW-Authenticate"] == "Bearer", "/metrics is not")
    check(headers["Overseer-Api"] == "1", "every reply says its version")
    reader = Net(world.port, world.token(role="reader")["token"])
    check(len(reader.call("goal.list")[1]["result"]["goals"]) == 2, "a reader reads")
    check(reader.error("goal.create", {"title": "x"}) == "E_UNAUTHORIZED", "and does not write")
    check(reader.error("token.list") == "E_UNAUTHORIZED", "nor see tokens")
    human = Net(world.port, world.token(role="human", actor="human:ada")["token"])
    made = human.call("goal.create", {"title": "by ada"})[1]["result"]["goalId"]
    check("human:ada" in json.dumps(human.call("goal.show", {"goal": made})[1]), "who did it is on record")
    run = Net(world.port, world.token(role="run", actor="actor:agent:coder-1", goal=goal, run="R_1")["token"])
    check("result" in run.call("goal.report", {"text": "half done"})[1], "a run reports on its own goal")
    check(run.error("goal.report", {"goal": other, "text": "x"}) == "E_UNAUTHORIZED", "and on no other")
    check(run.error("goal.show", {"goal": other}) == "E_UNAUTHORIZED", "nor sees one")
    check(run.error("goal.create", {"title": "x"}) == "E_UNAUTHORIZED", "nor makes one")
    plan = [{"tier": "phase", "id": "P1", "name": "p", "acceptanceCriteria": ["it can be seen"]}]
    check(run.error("plan.apply", {"goal": goal, "nodes": plan}) == "E_UNAUTHORIZED", "nor plans")
    check(run.error("work.add", {"goal": goal, **plan[0]}) == "E_UNAUTHORIZED", "nor adds work")
    check(run.error("goal.update", {"goal": goal, "title": "x"}) == "E_UNAUTHORIZED", "nor changes its goal")
    for method in ("config.reload", "config.show", "fleet.stop", "token.create", "daemon.stop"):
        params = {"role": "human"} if method == "token.create" else {}
        check(run.error(method, params) == "E_UNAUTHORIZED", f"nor {method}")
    shown = json.dumps(world.ask("goal.show", goal=goal))
    check("actor:agent:coder-1" in shown, "what a run says is its own word")
    over_unix = world.people
    over_unix.connection.request("POST", "/rpc", json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "goal.list"}), {"Authorization": "Bearer ovs_" + "x" * 43})
    response = over_unix.connection.getresponse()
    response.read()
    check(response.status == 401, "a wrong token is refused on the Unix socket too")
    return "POLICY-04 POLICY-05 POLICY-09"


def tokens_die(world):
    short = world.token(role="reader", expires="1s")
    one = Net(world.port, short["token"])
    check(one.error("goal.list") is None, "it is taken while it lasts")
    time.sleep(1.2)
    check(one.error("goal.list") == "E_UNAUTHENTICATED", "and refused afterwards, on the same connection")
    gone = world.token(role="reader", note="gone")
    two = Net(world.port, gone["token"])
    check(two.error("goal.list") is None, "before it is revoked")
    world.ask("token.revoke", tokenId=gone["tokenId"])
    check(two.error("goal.list") == "E_UNAUTHENTICATED", "a revoked one is refused at once")
    old = world.token(role="reader", note="old")
    three = Net(world.port, old["token"])
    check(three.error("goal.list") is None, "before it is rotated")
    new = world.ask("token.rotate", tokenId=old["tokenId"])
    check(new["tokenId"] != old["tokenId"] and new["note"] == "old", "the same, under another name")
    check(three.error("goal.list") == "E_UNAUTHENTICATED", "the old one dies")
    check(Net(world.port, new["token"]).error("goal.list") is None, "the new one lives")
    for wrong in ({"role": "run"}, {"role": "nobody"}, {"role": "reader", "goal": "01JC7Q4T9ZJ5X0M2K8W3R6VYHN"},
                  {"role": "reader", "expires": "yesterday"}, {"role": "reader", "expires": "2001-01-01T00:00:00Z"}):
        check(world.people.call("token.create", wrong)[2]["data"]["code"] == "E_INVALID", wrong)
    kept = world.token(role="human", expires="never", note="kept")
    state = world.daemon.socket.with_suffix(".state")
    file = next(Path(state.parent).rglob("tokens"))
    check(os.stat(file).st_mode & 0o777 == 0o600, "the file is the owner's alone")
    shown = file.read_text() + world.daemon.log.read_text() + json.dumps(world.ask("token.list"))
    for token in (short, gone, old, new, kept):
        check(token["token"] not in shown, "no token is written down")
    check(kept["tokenId"] in shown and gone["tokenId"] not in json.dumps(world.ask("token.list")), "their names are")
    world.people.close()
    world.daemon.stop()
    world.daemon.start()
    world.daemon.wait_joined()
    check(Net(world.port, kept["token"]).error("goal.list") is None, "tokens outlive the daemon")
    check(Net(world.port, gone["token"]).error("goal.list") == "E_UNAUTHENTICATED", "what was revoked stays revoked")
    world.daemon.kill()
    file.write_text(file.read_text() + "this is no token\n")
    world.daemon.start()
    world.daemon.wait_joined()
    check(file.with_suffix(".damaged").exists() or Path(f"{file}.damaged").exists(), "a damaged file is set aside")
    return ""


def streams_end(world):
    """The daemon ends an event stream when the token that opened it is revoked."""
    made = world.token(role="reader")
    sock = socket.create_connection(("127.0.0.1", world.port), timeout=10)
    sock.sendall(f"GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {made['token']}\r\n\r\n".encode())
    heard = b""
    while b": still here" not in heard:
        heard += sock.recv(4096)
    world.ask("goal.create", title="it is heard of")
    while b"goal.created" not in heard:
        heard += sock.recv(4096)
    world.ask("token.revoke", tokenId=made["tokenId"])
    world.ask("goal.create", title="it is not heard of")
    rest = b""
    while not rest.endswith(b"0\r\n\r\n"):
        piece = sock.recv(4096)
        if not piece:
            break
        rest += piece
    check(b"goal.created" not in rest, "a revoked reader hears no more")
    return ""


def browsers_are_kept_out(world):
    token = world.token(role="reader")["token"]
    net = Net(world.port, token)
    for host, status in ((f"127.0.0.1:{world.port}", 200), (f"localhost:{world.port}", 200), ("localhost", 200),
                         ("evil.example", 403), (f"evil.example:{world.port}", 403), ("127.0.0.1.evil.example", 403),
                         ("overseer.test", 200)):
        check(Net(world.port, token).request("GET", "/metrics", Host=host)[0] == status, f"Host {host}")
        check(Net(world.port).request("GET", "/healthz", Host=host)[0] == status, f"/healthz, Host {host}")
    check(net.call("goal.list", Origin="https://evil.example")[0] == 403, "a foreign page")
    check(net.call("goal.list", Origin="null")[0] == 403, "a page without an origin")
    status, headers, _ = Net(world.port, token).request("GET", "/metrics", Origin="https://board.example")
    check(status == 200 and headers["Access-Control-Allow-Origin"] == "https://board.example", "a page that may")
    status, headers, _ = Net(world.port).request("OPTIONS", "/rpc", Origin="https://board.example")
    check(status == 204 and "Authorization" in headers["Access-Control-Allow-Headers"], "it may ask first")
    check(Net(world.port).request("OPTIONS", "/rpc", Origin="https://evil.example")[0] == 403, "others may not")
    return ""


def envelopes(world):
    net = Net(world.port, world.token(role="reader")["token"])

    def code(body, status):
        got, _, text = net.request("POST", "/rpc", body)
        answer = json.loads(text)
        check(got == status and answer["jsonrpc"] == "2.0", f"{body[:60]}: {got} {answer}")
        return answer["error"]["code"], answer["id"]

    check(code("{", 400) == (-32700, None), "no JSON")
    check(code('{"a":1,"a":2}', 400) == (-32700, None), "a key twice")
    check(code("[" * 10000 + "]" * 10000, 400) == (-32700, None), "too deep")
    check(code("[]", 400)[0] == -32600, "a batch")
    check(code('"x"', 400)[0] == -32600, "no object")
    check(code('{"jsonrpc":"2.0","method":"goal.list"}', 400) == (-32600, None), "a notification")
    check(code('{"jsonrpc":"1.0","id":7,"method":"goal.list"}', 400) == (-32600, 7), "another version")
    check(code('{"jsonrpc":"2.0","id":"a","method":7}', 400) == (-32600, "a"), "no method")
    check(code('{"jsonrpc":"2.0","id":{},"method":"goal.list"}', 400) == (-32600, None), "an id of another kind")
    check(code('{"jsonrpc":"2.0","id":1,"method":"goal.fly"}', 404) == (-32601, 1), "no such operation")
    check(code('{"jsonrpc":"2.0","id":1,"method":"goal.list","params":{"x":1}}', 400) == (-32602, 1), "no such parameter")
    check(code('{"jsonrpc":"2.0","id":1,"method":"goal.list","params":[1]}', 400) == (-32602, 1), "params as a list")
    got = net.call("overseer.api.describe")[1]["result"]
    check(got["api"] == "1" and any(o["name"] == "goal.create" and "human" in o["roles"] for o in got["operations"]),
          "the API describes itself")
    check(any(e["code"] == "E_CONFLICT" and e["class"] == "expected" for e in got["errors"]), "with every error")
    check(net.request("GET", "/rpc")[0] == 405 and net.request("GET", "/nothing")[0] == 404, "wrong method, wrong path")
    check(net.request("POST", "/rpc", "x" * (2 * MIB))[0] == 413, "two MiB")
    return ""


def table_of(described):
    """Returns the table of roles and operations in the format of docs/security.md."""
    roles = ("human", "overseer", "run", "reader")
    lines = ["| operation | " + " | ".join(roles) + " |", "|---|" + "---|" * len(roles)]
    for op in described["operations"]:
        lines.append(f"| `{op['name']}` | " + " | ".join("yes" if role in op["roles"] else "" for role in roles) + " |")
    return "\n".join(lines)


def manual_is_true(world):
    text = (TOP / "docs" / "security.md").read_text()
    written = text.split("<!-- roles -->\n")[1].split("\n<!-- /roles -->")[0]
    check(written == table_of(world.ask("api.describe")), "docs/security.md: its table is not that of the operations")
    return ""


def table(folder):
    world = World(folder)
    print(table_of(world.ask("api.describe")))
    world.end()


def who(folder):
    world = World(folder, "--set", "server.hosts=overseer.test", "--set", "server.origins=https://board.example")
    try:
        rows = [manual_is_true(world), browsers_are_kept_out(world), envelopes(world), tokens_authenticate(world), streams_end(world),
                tokens_die(world)]
        world.end()
    finally:
        print(world.daemon.log_tail(3) if sys.exc_info()[0] else "", end="")
    proof.passed("e2e", "hostile-who", " ".join(rows))
    print("hostile who: tokens, Host, Origin and envelopes hold")


# ---- metrics ----

def metrics(folder):
    world = World(folder)
    for i in range(3):
        world.ask("goal.create", title=f"goal {i}")
    world.people.call("goal.fly", {})
    world.people.call("goal.show", {"goal": "goal_00000000000000000000000000"})
    _, _, text = Net(world.port, world.token(role="reader")["token"]).request("GET", "/metrics")
    said = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    check(said.returncode == 0, f"promtool: {said.stderr.decode()}{said.stdout.decode()}")
    text = text.decode()
    for line in ('overseer_calls_total{operation="goal.create",outcome="ok"} 3', 'overseer_goals{state="queued"} 3',
                 'overseer_calls_total{operation="goal.show",outcome="expected"} 1', "overseer_joined 1", "overseer_followers 0",
                 'overseer_records_total{type="goal.created"} 3',
                 'overseer_connections{door="tcp"} 1', "overseer_tokens 1"):
        check(line in text.splitlines(), f"missing: {line}")
    world.end()
    print(f"hostile metrics: promtool takes all {text.count('# TYPE')} families")


# ---- TLS ----

def refuses_to_start(folder, *options):
    daemon = Daemon(folder, f"sqlite:{folder}/store.db", name="refuses", options=options)
    daemon.start()
    code = daemon.process.wait(15)
    check(code in (1, 2), f"{options}: it ended with {code}")
    return daemon.log_tail(2)


def tls(folder):
    cert, key = Path(folder) / "cert.pem", Path(folder) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    said = refuses_to_start(folder, "--listen", f"0.0.0.0:{port_free()}")
    check("server.tls_cert" in said and "insecure" in said, said)
    check("server.tls_key" in refuses_to_start(folder, "--listen", f"127.0.0.1:{port_free()}", "--set",
                                                f"server.tls_cert={cert}"), "half of it")
    check("not usable" in refuses_to_start(folder, "--listen", f"127.0.0.1:{port_free()}", "--set",
                                           f"server.tls_cert={key}", "--set", f"server.tls_key={cert}"), "mixed up")
    check("ADDRESS:PORT" in refuses_to_start(folder, "--listen", "7070"), "no address")
    world = World(folder, "--set", f"server.tls_cert={cert}", "--set", f"server.tls_key={key}")
    context = ssl.create_default_context(cafile=str(cert))
    token = world.token(role="reader")["token"]
    check(Net(world.port, token, context=context).call("goal.list")[0] == 200, "over TLS")
    try:
        Net(world.port, token, timeout=5).call("goal.list")
        raise Broken("it answered in the open")
    except (OSError, http.client.HTTPException):
        pass
    old = ssl.create_default_context(cafile=str(cert))
    warnings.simplefilter("ignore", DeprecationWarning)  # this test uses deprecated TLS versions
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        Net(world.port, token, timeout=5, context=old).call("goal.list")
        raise Broken("it speaks TLS 1.1")
    except (OSError, http.client.HTTPException, ValueError):
        pass
    world.end()
    print("hostile tls: encrypted beyond this machine, or not at all")


# ---- floods ----

class Worker(threading.Thread):
    """Counts the requests of one honest client."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask, self.count, self.ending, self.failed = ask, 0, False, None

    def run(self):
        while not self.ending:
            try:
                self.ask()
                self.count += 1
            except Exception as error:  # no caller can catch an exception of a thread
                self.failed = repr(error)
                return


def speeds(workers, seconds):
    before = [worker.count for worker in workers]
    begin = time.monotonic()
    time.sleep(seconds)
    spent = time.monotonic() - begin
    for worker in workers:
        check(not worker.failed, f"an honest client failed: {worker.failed}")
    return [(worker.count - b) / spent for worker, b in zip(workers, before)]


ATTACKS = {}


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def plain(port):
    sock = socket.create_connection(("127.0.0.1", port), timeout=10)
    sock.setblocking(False)
    return sock


def gone(sock):
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@attack
def half_open(port, token, ending):
    """Opens ten thousand connections that send nothing. A connection that the daemon closes is opened again."""
    held, came = [], 0
    while came < HALF_OPEN or not ending():
        for _ in range(50):
            if came < HALF_OPEN:
                held.append(plain(port))
                came += 1
        if came >= HALF_OPEN:
            back = [i for i, sock in enumerate(held[:200]) if gone(sock)]
            for i in back[:20]:
                held[i].close()
                held[i] = plain(port)
        time.sleep(0.01)
    return f"{came} connections"


@attack
def slow_loris(port, token, ending):
    """Sends requests that never end, one byte at a time, on 200 connections."""
    held = []
    while not ending():
        held = [sock for sock in held if not gone(sock)]
        while len(held) < 200:
            sock = plain(port)
            sock.send(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nX-A")
            held.append(sock)
        for sock in held:
            try:
                sock.send(b"a")
            except OSError:
                pass
        time.sleep(0.2)
    return "200 at a time"


def upload(port, head, piece, most, ending):
    sock = socket.create_connection(("127.0.0.1", port), timeout=5)
    sent = 0
    try:
        sock.sendall(head)
        while sent < most and not ending():
            sock.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    sock.close()
    return sent


@attack
def big_bodies(port, token, ending):
    """Sends bodies of 100 MiB: without a token, with a token, and chunked without a length."""
    known = f"Authorization: Bearer {token}\r\n".encode()
    line = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\n"
    length = f"Content-Length: {100 * MIB}\r\n\r\n".encode()
    piece, chunk = b" " * 65536, b"10000\r\n" + b" " * 65536 + b"\r\n"
    times, most = 0, 0
    while not ending():
        most = max(most, upload(port, line + length, piece, 100 * MIB, ending),
                   upload(port, line + known + length, piece, 100 * MIB, ending),
                   upload(port, line + known + b"Transfer-Encoding: chunked\r\n\r\n", chunk, 100 * MIB, ending))
        times += 3
        time.sleep(0.05)
    check(most < 30 * MIB, f"{most / MIB:.0f} MiB of a body were read")
    return f"{times} bodies, at most {most / MIB:.1f} MiB of one was taken"


@attack
def deep_json(port, token, ending):
    """Sends JSON of ten thousand levels with a valid token."""
    net, times = Net(port, token), 0
    while not ending():
        status, _, text = net.request("POST", "/rpc", "[" * 10000)
        check(status == 400 and json.loads(text)["error"]["code"] == -32700, text)
        times += 1
        time.sleep(0.01)
    return f"{times} bodies"


class Attacker(threading.Thread):
    def __init__(self, name, port, token):
        super().__init__(daemon=True)
        self.name_, self.port, self.token, self.over, self.said, self.failed = name, port, token, False, "", None

    def run(self):
        try:
            self.said = ATTACKS[self.name_](self.port, self.token, lambda: self.over)
        except Exception as error:  # no caller can catch an exception of a thread
            self.failed = repr(error)


def memory(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def attacker_main(name, port, token):
    """Runs the attack in a separate process, so that it does not slow down the interpreter of the honest clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    attacker = Attacker(name, int(port), token)
    attacker.start()
    sys.stdin.read()
    attacker.over = True
    attacker.join(20)
    print(f"failed: {attacker.failed}" if attacker.failed else attacker.said)


def attacked(name, world, token, seconds):
    process = subprocess.Popen([sys.executable, __file__, "--attack", name, str(world.port), token],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    return process


def fresh_clients(world, token, seconds):
    """Counts the clients that connect and send a request during the attack, and how many of them get an answer."""
    end, came, served = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        came += 1
        try:
            net = Net(world.port, token, timeout=5)
            served += net.call("goal.list", {"limit": 1})[0] == 200
            net.close()
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.02)
    return came, served


def flood_measure(name, world, token, rounds=3, seconds=2.0):
    unix, net = Client(world.daemon.socket), Net(world.port, token)
    workers = [Worker(lambda: unix.call("goal.list", {"limit": 5})), Worker(lambda: net.call("goal.list", {"limit": 5}))]
    for worker in workers:
        worker.start()
    speeds(workers, 0.5)
    ratios, said, served, before, most = [], "", [0, 0], memory(world.daemon.pid), 0
    for _ in range(rounds):
        calm = speeds(workers, seconds)
        process = attacked(name, world, token, seconds)
        under = speeds(workers, seconds)
        came = fresh_clients(world, token, 1)
        served = [served[0] + came[0], served[1] + came[1]]
        most = max(most, memory(world.daemon.pid))
        said, _ = process.communicate(timeout=40)
        check(not said.startswith("failed") and process.returncode == 0, f"{name}: {said}")
        time.sleep(0.5)
        ratios.append([u / c for u, c in zip(under, calm)])
    for worker in workers:
        worker.ending = True
        worker.join(10)
    unix_ratio, net_ratio = (statistics.median(r[i] for r in ratios) for i in (0, 1))
    print(f"hostile {name}: unix {unix_ratio:.2f}, tcp {net_ratio:.2f} of calm; {served[1]} of {served[0]} new clients "
          f"served; {most - before:+.1f} MiB; {said.strip()}", flush=True)
    if os.environ.get("HOSTILE_SPEEDS") == "any":  # for a build with sanitizers
        return
    check(most - before < 24, f"{name}: it cost {most - before:.0f} MiB")
    check(unix_ratio > 0.75, f"{name}: the Unix door has {unix_ratio:.2f} of its speed")
    check(net_ratio > 0.5, f"{name}: the network's door has {net_ratio:.2f} of its speed")
    check(served[1] >= 0.9 * served[0], f"{name}: {served[1]} of {served[0]} new clients were served")


def flood_one(name, world, token):
    """Measures an attack again, at most twice, if it exceeds its bounds: other work on the same machine can cause that too."""
    for last in (False, False, True):
        try:
            flood_measure(name, world, token)
            return
        except Broken:
            if last:
                raise


def flood(folder, only=None):
    world = World(folder)
    for i in range(20):
        world.ask("goal.create", title=f"goal {i}")
    token = world.token(role="reader")["token"]
    for name in ATTACKS:
        if not only or name in only:
            flood_one(name, world, token)
    wait_until("the crowd has gone", lambda: world.ask("goal.tally") and quiet(world, token), 15)
    world.end()


def quiet(world, token):
    _, _, text = Net(world.port, token).request("GET", "/metrics")
    return 'overseer_strangers{door="tcp"} 0' in text.decode().splitlines()


PARTS = {"who": who, "metrics": metrics, "tls": tls, "flood": flood, "table": table}


def main():
    if sys.argv[1:2] == ["--attack"]:
        return attacker_main(*sys.argv[2:])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    only = [name for name in sys.argv[1:] if name in ATTACKS]
    parts = [part for part in sys.argv[1:] if part in PARTS] + (["flood"] if only else [])
    parts = parts or ["who", "metrics", "tls", "flood"]
    for part in parts:
        PARTS[part](folder_make(part), *([only] if part == "flood" else []))
    print(f"{len(parts)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
