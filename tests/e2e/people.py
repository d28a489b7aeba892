#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a message reaches a person through each external service in the format of that service, and that its outcome is reported correctly.

people.py [--only NAME] [--quick]: the channel port alone (tests/ports/say) against real servers on loopback that answer, refuse, request a
delay, hang, drop, redirect and send without end; payloads are compared with tests/fixtures/channels, which was written from each
service's public description. The tests of the daemon cover the whole path from a decision to a person.
"""
import argparse
import email.utils
import hashlib
import hmac
import http.server
import json
import os
import random
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
import urllib.parse
from pathlib import Path

import proof
from world import BUILD, OVERSEERD, TOP, Broken, Client, Daemon, folder_make

SAY = BUILD / "tests" / "ports" / "say"
FIXTURES = TOP / "tests" / "fixtures" / "channels"
CHECKS = []
NOTICE = json.loads((FIXTURES / "notice.json").read_text())["notice"]
ISSUE = (FIXTURES / "issue.md").read_text()
TOKENS = {"gitea": "gitea-secret", "github": "ghs_secret", "gitlab": "glpat-secret", "ntfy": "tk_secret",
          "pagerduty": "0123456789abcdef0123456789abcdef", "webhook": "whsec_a_secret_of_the_hook"}
FORGES = ("gitea", "github", "gitlab")
HOOKS = ("webhook", "slack", "discord", "pagerduty", "ntfy")
PATHS = {"webhook": "/hook", "slack": "/services/T0/B0/secret", "discord": "/api/webhooks/1/secret", "pagerduty": "/v2/enqueue"}


def check(rows):
    def add(function):
        CHECKS.append((function, rows))
        return function
    return add


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


# ---- scripted servers ----

class Server:
    """Records its requests. `script` says what it does with each request; it repeats the last entry."""

    def __init__(self, script, tls=None):
        self.script, self.seen, self.lock, self.sent = script, [], threading.Lock(), 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body,
                           "json": json.loads(body) if body else None}
                with outer.lock:
                    outer.seen.append(request)
                    step = outer.script if callable(outer.script) else \
                        outer.script[min(len(outer.seen), len(outer.script)) - 1]
                (step(self, request) if callable(step) else answer(self, **step))

            do_GET = do_POST = do_PATCH = do_PUT = handle_one

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass
        self.http = Quiet(("127.0.0.1", 0), Handler)
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        self.port = self.http.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


def answer(handler, status=200, headers=None, body=b""):
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    if status != 204:
        handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    if status != 204:
        handler.wfile.write(data)


def hang(handler, _):
    handler.connection.settimeout(30)
    try:
        handler.connection.recv(1)  # until the client gives up
    except OSError:
        pass
    handler.close_connection = True


def hang_up(handler, _):
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def drop_in_the_body(handler, _, status=201):
    handler.send_response(status)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"number": 7, "html_url": "https://')
    handler.wfile.flush()
    hang_up(handler, _)


def trickle(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def talk(handler, _, server=None, most=100 << 20):
    """Sends 100 MiB, or until the client closes the connection."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(most))
    handler.end_headers()
    chunk = b"x" * 65536
    while server.sent < most:
        handler.wfile.write(chunk)
        server.sent += len(chunk)


def many_headers(handler, _, server=None):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(200000):
        line = f"X-Header-{n}: {'y' * 1000}\r\n".encode()
        handler.wfile.write(line)
        server.sent += len(line)


# ---- the port ----

class World:
    def __init__(self, every=1):
        self.every = every  # without_memory lets every Nth allocation fail
        self.folder = folder_make("people")
        self.outcomes = []  # all output of the port, which a test searches for tokens
        for name, token in TOKENS.items():
            self.secret(f"{name}.token", token)

    def secret(self, name, text):
        path = self.folder / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path

    def settings(self, channels, **escalation):
        lines = ["[escalation]", f"desktop = {str(escalation.pop('desktop', False)).lower()}"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in escalation.items()]
        for channel in channels:
            lines += ["[[channels]]"] + [f"{name} = {json.dumps(value)}" for name, value in channel.items()]
        path = self.folder / "overseer.toml"
        path.write_text("\n".join(lines) + "\n")
        return path

    def run(self, channels, requests, stop_after=None, fail_at=None, environment=None, **escalation):
        """Returns the outcomes, each with the number of its request, and the longest time that the loop stood still. With fail_at, the
        outcomes before the process ended because it had no memory."""
        command = [str(SAY), str(self.settings(channels, **escalation))]
        command += ["--stop-after", str(stop_after)] if stop_after is not None else []
        command += ["--fail-at", str(fail_at)] if fail_at is not None else []
        lines = "".join(json.dumps({"channel": channel, "pull" if "head" in what else "notice": what}) + "\n"
                        for channel, what in requests)
        ended = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120,
                               env={**os.environ, **(environment or {})})
        if fail_at and ended.returncode == -signal.SIGABRT and ended.stderr == "overseer: out of memory\n":
            self.outcomes += [ended.stdout]
            return [json.loads(line) for line in ended.stdout.splitlines()], 0
        if ended.returncode != 0:
            raise Broken(f"say ended with {ended.returncode}: {ended.stderr[-2000:]}")
        said = [json.loads(line) for line in ended.stdout.splitlines()]
        self.outcomes += [ended.stdout, ended.stderr]
        assert not ended.stderr, ended.stderr
        self.allocations = said[-1]["allocations"]
        return said[:-1], said[-1]["lateness"]

    def say(self, channel, notice, **more):
        outcomes, _ = self.run([channel], [(channel["id"], notice)], **more)
        assert len(outcomes) == 1, outcomes
        return outcomes[0]


def notice(**changes):
    return {**NOTICE, **changes}


def channel_of(world, kind, url, **more):
    channel = {"id": kind, "kind": kind, "url": url + PATHS.get(kind, ""), "within": "3s"}
    if kind in FORGES:
        channel.update(repo="acme/app", token_path=str(world.folder / f"{kind}.token"))
    if kind in ("pagerduty", "ntfy"):
        channel.update(token_path=str(world.folder / f"{kind}.token"))
    if kind == "ntfy":
        channel.update(to="overseer")
    return {**channel, **more}


# ---- payloads ----

def leaves(value, path=""):
    yield path, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    if isinstance(value, list):
        for entry in value:
            yield from leaves(entry, f"{path}[]")


TYPES = {"string": str, "integer": int, "boolean": bool, "array": list}


def as_described(fields, body):
    """Checks that the body has only fields that the service knows, and that each field has an allowed type and size."""
    for path, value in leaves(body):
        if isinstance(value, dict) or any(path.startswith(name) and row["type"] == "any" for name, row in fields.items()):
            continue
        row = fields.get(path)
        assert row, f"{path} is in no description"
        assert isinstance(value, TYPES[row["type"]]), (path, value)
        assert len(value) <= row["most"] if "most" in row else True, (path, len(value))
        assert len(value) >= row.get("least", 0) if "least" in row else True, (path, value)
        assert value in row["one_of"] if "one_of" in row else True, (path, value)
    there = {path for path, _ in leaves(body)}
    for path, row in fields.items():
        inside = "[]." in path or path.count(".") > 0
        assert not row.get("required") or inside or path in there, f"{path} is missing"


def compare(kind, seen):
    expected = fixture(kind)
    request = expected["request"]
    assert (seen["method"], seen["path"]) == (request["method"], request["path"]), (seen["method"], seen["path"])
    for name, value in request["headers"].items():
        assert seen["headers"].get(name) == value, (name, seen["headers"].get(name), value)
    body = json.loads(json.dumps(request["body"]).replace('"issue.md"', json.dumps(ISSUE)))
    if kind == "pagerduty":
        body["payload"]["custom_details"] = fixture("webhook")["request"]["body"]
    for path in sorted({path for path, _ in leaves(body)} | {path for path, _ in leaves(seen["json"])}):
        want, have = [v for p, v in leaves(body) if p == path], [v for p, v in leaves(seen["json"]) if p == path]
        if not any(isinstance(v, (dict, list)) for v in want + have):
            assert want == have, f"{path}: {have!r} instead of {want!r}"
    assert body == seen["json"], "the order or number of entries"
    if expected["fields"]:
        as_described(expected["fields"], seen["json"])
    assert seen["headers"]["User-Agent"].startswith("overseer/")


@check("ESCALATE-11")
def hooks_say_what_is_described(world):
    for kind in HOOKS:
        expected = fixture(kind)
        with Server([expected["answer"]]) as server:
            outcome = world.say(channel_of(world, kind, server.url), notice())
            assert outcome["said"] == "done", outcome
            assert outcome["reference"] == expected.get("reference", ""), outcome
            assert len(server.seen) == 1
            compare(kind, server.seen[0])


@check("ESCALATE-08 ESCALATE-09")
def trackers_get_an_issue(world):
    """A tracker gets the expected body and labels, and the outcome has the number and address of the new issue."""
    for kind in FORGES:
        expected = fixture(kind)
        labels = [{"id": 11, "name": "overseer"}, {"id": 12, "name": "bug"}]
        made = [{"status": 201, "body": {"id": 21 + n, "name": "…"}} for n in range(3)]
        script = [{"status": 200, "body": labels}, *made] if kind == "gitea" else []
        with Server([*script, expected["answer"]]) as server:
            to = "7" if kind == "gitlab" else "octocat"
            outcome = world.say(channel_of(world, kind, server.url, labels=["agents"], to=to), notice())
            assert outcome["said"] == "done", outcome
            assert (outcome["reference"], outcome["url"]) == (expected["reference"], expected["url"]), outcome
            compare(kind, server.seen[-1])
            if kind == "gitea":
                assert server.seen[0]["path"] == "/api/v1/repos/acme/app/labels?limit=50"
                assert [r["json"]["name"] for r in server.seen[1:4]] == ["critical", "automated", "agents"]
                assert all(re.fullmatch("#[0-9a-f]{6}", r["json"]["color"]) for r in server.seen[1:4])
            else:
                assert len(server.seen) == 1


@check("")
def pagerduty_resolves_what_it_opened(world):
    expected = fixture("pagerduty")
    with Server([expected["answer"]]) as server:
        channel = channel_of(world, "pagerduty", server.url)
        for kind in ("alert", "resolved"):
            assert world.say(channel, notice(kind=kind, id=NOTICE["id"][:-1] + "0"))["said"] == "done"
        assert server.seen[0]["json"]["dedup_key"] == server.seen[1]["json"]["dedup_key"]
        assert server.seen[1]["json"] == expected["resolve"]
        world.say(channel, notice(cause="another"))
        assert server.seen[2]["json"]["dedup_key"] != server.seen[0]["json"]["dedup_key"]


@check("")
def the_severest_is_the_severest_everywhere(world):
    want = {"pagerduty": ["info", "warning", "error", "critical"], "ntfy": [2, 3, 4, 5],
            "discord": [0x3498DB, 0xF1C40F, 0xE67E22, 0xE74C3C], "slack": ["info", "warning", "critical", "emergency"]}
    read = {"pagerduty": lambda b: b["payload"]["severity"], "ntfy": lambda b: b["priority"],
            "discord": lambda b: b["embeds"][0]["color"], "slack": lambda b: b["text"].split(":")[0]}
    for kind, values in want.items():
        with Server([{"status": 200}]) as server:
            requests = [(kind, notice(alarm=alarm, kind="alert", question="")) for alarm in ("info", "warning", "critical", "emergency")]
            for request in requests:
                world.run([channel_of(world, kind, server.url)], [request])
            assert [read[kind](r["json"]) for r in server.seen] == values, kind


@check("ESCALATE-11")
def webhooks_are_signed(world):
    """The signature of a webhook covers the time and the body; the same message has the same id each time."""
    with Server([{"status": 200}]) as server:
        channel = channel_of(world, "webhook", server.url, secret_path=str(world.folder / "webhook.token"))
        for _ in range(2):
            assert world.say(channel, notice())["said"] == "done"
        for seen in server.seen:
            at, signature = seen["headers"]["X-Overseer-Timestamp"], seen["headers"]["X-Overseer-Signature"]
            assert abs(int(at) - time.time()) < 60
            mac = hmac.new(TOKENS["webhook"].encode(), f"{at}.".encode() + seen["body"], hashlib.sha256).hexdigest()
            assert signature == f"sha256={mac}", signature
        assert server.seen[0]["headers"]["X-Overseer-Id"] == server.seen[1]["headers"]["X-Overseer-Id"] == NOTICE["id"]
        long_secret = "k" * 200  # longer than a hash block
        channel["secret_path"] = str(world.secret("long.secret", long_secret))
        world.say(channel, notice())
        seen = server.seen[-1]
        at = seen["headers"]["X-Overseer-Timestamp"]
        mac = hmac.new(long_secret.encode(), f"{at}.".encode() + seen["body"], hashlib.sha256).hexdigest()
        assert seen["headers"]["X-Overseer-Signature"] == f"sha256={mac}"


# ---- levels and contexts ----

def fake_program(world, name, text):
    folder = world.folder / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


NOTIFY = """#!/usr/bin/env python3
import json, os, sys
open(os.environ["FAKE_LOG"], "a").write(json.dumps(sys.argv[1:]) + "\\n")
"""


def notified(world):
    log = world.folder / "notify.log"
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def with_notify(world, text=NOTIFY):
    return {**fake_program(world, "notify-send", text), "FAKE_LOG": str(world.folder / "notify.log")}


@check("ESCALATE-01 ESCALATE-03")
def channels_per_level(world):
    """info and warning go to the desktop; critical also to the tracker; emergency also to the webhook. This test uses the older settings."""
    want = {"info": (1, 0, 0), "warning": (1, 0, 0), "critical": (1, 1, 0), "emergency": (1, 1, 1)}
    for alarm, calls in want.items():
        with Server([fixture("gitea")["answer"]]) as forge, Server([{"status": 200}]) as hook:
            older = {"desktop": True, "gitea_url": forge.url, "repo": "acme/app", "webhook_url": hook.url,
                     "gitea_token_path": str(world.folder / "gitea.token")}
            outcomes, _ = world.run([], [("*", notice(alarm=alarm))], environment=with_notify(world), **older)
            issues = [r for r in forge.seen if r["method"] == "POST" and r["path"].endswith("/issues")]
            assert (len(notified(world)), len(issues), len(hook.seen)) == calls, alarm
            assert len(outcomes) == sum(calls) and all(o["said"] == "done" for o in outcomes), outcomes


# ---- the desktop and commands ----

@check("ESCALATE-06")
def desktop_notes(world):
    urgency = {"info": "low", "warning": "normal", "critical": "critical", "emergency": "critical"}
    channel = {"id": "here", "kind": "desktop", "within": "3s"}
    for alarm, want in urgency.items():
        hostile = "--icon=x <b>bold</b> & $(reboot) `reboot` \\n \u202eevil"
        outcome = world.say(channel, notice(alarm=alarm, title="--help; reboot", text=hostile), environment=with_notify(world))
        assert outcome["said"] == "done", outcome
        (arguments,) = notified(world)
        assert arguments[:3] == ["--app-name=Overseer", f"--urgency={want}", "--"], arguments
        title, text = arguments[3:]
        assert alarm in title and title.endswith("--help; reboot"), title
        assert "--icon=x &lt;b&gt;bold&lt;/b&gt; &amp; $(reboot) `reboot` \\\\n evil" in text, text
        assert "goal_01JCRZ00000000000000000042" in text and "iteration: 12" in text, text


@check("")
def desktop_that_is_not_there(world):
    channel = {"id": "here", "kind": "desktop", "within": "500ms"}
    empty = world.folder / "empty"
    empty.mkdir(exist_ok=True)
    outcome = world.say(channel, notice(), environment={"PATH": str(empty)})
    assert outcome["said"] == "refused" and "the program was not found" in outcome["why"], outcome
    outcome = world.say(channel, notice(), environment=with_notify(world, "#!/bin/sh\necho no bus >&2\nexit 1\n"))
    assert outcome["said"] == "later" and "status 1: no bus" in outcome["why"], outcome
    begun = time.monotonic()
    outcome = world.say(channel, notice(), environment=with_notify(world, "#!/bin/sh\nsleep 60 & sleep 60\n"))
    assert outcome["said"] == "unknown" and time.monotonic() - begun < 10, outcome
    with_notify(world)


@check("")
def commands_of_the_operator(world):
    """A command of the operator, for mail and other services, gets the notice as JSON on standard input."""
    log = world.folder / "mail"
    channel = {"id": "mail", "kind": "command", "command": f"cat > {log}", "within": "3s"}
    assert world.say(channel, notice())["said"] == "done"
    assert json.loads(log.read_text()) == fixture("webhook")["request"]["body"]
    for line, said in (("exit 75", "later"), ("exit 1", "later"), ("exit 78", "refused"), ("no-such-program-here", "refused"),
                       ("kill -9 $$", "unknown"), ("cat > /dev/null; yes | head -c 5000000", "done")):
        outcome = world.say({**channel, "command": line}, notice(text="x" * 4000))
        assert outcome["said"] == said, (line, outcome)


# ---- outcomes ----

REFUSALS = [(400, "refused"), (401, "refused"), (403, "refused"), (404, "refused"), (410, "refused"), (422, "refused"),
            (408, "later"), (429, "later"), (503, "later"), (500, "unknown"), (502, "unknown"), (504, "unknown"),
            (200, "done"), (201, "done"), (202, "done"), (204, "done")]


@check("")
def answers_are_told_apart(world):
    for kind in ("webhook", "slack", "discord", "pagerduty", "ntfy", "github"):
        for status, said in REFUSALS:
            if kind == "github" and said == "done":
                continue
            with Server([{"status": status, "body": {"message": "because"}}]) as server:
                outcome = world.say(channel_of(world, kind, server.url), notice())
                assert outcome["said"] == said, (kind, status, outcome)
                assert len(server.seen) == 1, f"{kind} tried {len(server.seen)} times by itself"
                assert (str(status) in outcome["why"] and "because" in outcome["why"]) if said != "done" else not outcome["why"], outcome


@check("")
def services_ask_for_patience(world):
    """The port obeys Retry-After in seconds and as a date, and the rate limits of GitHub, GitLab and Discord, up to a week."""
    now = time.time()
    date = email.utils.formatdate(now + 90, usegmt=True)
    week = 7 * 86400
    cases = [("webhook", 429, {"Retry-After": "30"}, 30), ("webhook", 503, {"retry-after": "120"}, 120),
             ("webhook", 429, {"Retry-After": date}, 90), ("webhook", 429, {"Retry-After": "99999999"}, week),
             ("webhook", 429, {"Retry-After": "soon"}, None), ("webhook", 429, {"Retry-After": "-5"}, None),
             ("webhook", 429, {"Retry-After": "nan"}, None), ("webhook", 429, {"Retry-After": "1e300"}, None),
             ("webhook", 429, {}, None), ("slack", 429, {"Retry-After": "1"}, 1),
             ("discord", 429, {"X-RateLimit-Reset-After": "64.57", "Retry-After": "65"}, 65),
             ("github", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(now) + 600)}, 600),
             ("github", 403, {"Retry-After": "60"}, 60),
             ("gitlab", 429, {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(now) + 45)}, 45)]
    for kind, status, headers, wait in cases:
        with Server([{"status": status, "headers": headers}]) as server:
            outcome = world.say(channel_of(world, kind, server.url), notice())
            assert outcome["said"] == "later", (kind, headers, outcome)
            if wait is None:
                assert outcome["againAt"] == 0, outcome
            else:
                away = (outcome["againAt"] - outcome["now"]) / 1e6
                assert wait - 5 <= away <= wait + 1, (headers, away)
    with Server([{"status": 403, "headers": {"X-RateLimit-Remaining": "55", "X-RateLimit-Reset": str(int(now) + 600)}}]) as server:
        assert world.say(channel_of(world, "github", server.url), notice())["said"] == "refused"


def nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@check("")
def servers_that_fail(world):
    """The outcome is `later` if the server did not get the message, and `unknown` if it perhaps got it; each try ends within its time limit."""
    cases = [(hang, "unknown"), (hang_up, "unknown"), (trickle, "done"),
             (lambda h, r: drop_in_the_body(h, r), "done")]
    for script, said in cases:
        with Server([script]) as server:
            begun = time.monotonic()
            outcome = world.say(channel_of(world, "webhook", server.url, within="1s"), notice())
            took = time.monotonic() - begun
            assert outcome["said"] == said and took < 5, (said, outcome, took)
            assert len(server.seen) == 1
    for script in (hang, hang_up, lambda h, r: drop_in_the_body(h, r)):
        with Server([script]) as server:
            outcome = world.say(channel_of(world, "github", server.url, within="1s"), notice())
            assert outcome["said"] == "unknown" and outcome["why"], outcome
    for kind in (*HOOKS, *FORGES):
        outcome = world.say(channel_of(world, kind, nobody_listens()), notice())
        assert outcome["said"] == "later" and "cannot be reached" in outcome["why"], outcome
    outcome = world.say(channel_of(world, "webhook", "https://no-such-host.invalid", within="5s"), notice())
    assert outcome["said"] == "later", outcome
    quiet = socket.socket()  # accepts connections and never reads
    quiet.bind(("127.0.0.1", 0))
    quiet.listen(1)
    outcome = world.say(channel_of(world, "webhook", f"http://127.0.0.1:{quiet.getsockname()[1]}", within="500ms"), notice())
    assert outcome["said"] == "unknown", outcome
    quiet.close()


@check("")
def answers_without_end(world):
    """The port stops reading an answer of 100 MiB or with endless headers early, and does not use much memory for it."""
    for kind, said in (("webhook", "done"), ("github", "unknown")):
        server = Server(lambda h, r: talk(h, r, server))
        with server:
            outcome = world.say(channel_of(world, kind, server.url), notice())
            assert outcome["said"] == said, outcome
            time.sleep(0.2)
            assert server.sent < 16 << 20, f"{server.sent} bytes were taken"
    server = Server(lambda h, r: many_headers(h, r, server))
    with server:
        outcome = world.say(channel_of(world, "webhook", server.url), notice())
        assert outcome["said"] in ("done", "unknown") and server.sent < 32 << 20, (outcome, server.sent)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < 96 << 10, f"{most} KiB"


def nonsense(chance):
    """Returns an HTTP answer that is broken in some places."""
    status = chance.choice(["200 OK", "201 Created", "429 No", "500 x", "99", "-1", "", "\x00", "200" * 50])
    values = ["1", "-1", "", "9" * 400, "0x10", "nan", "inf", "Sun, 99 Nov 2026", "\xff\xfe", "1e308", "0.0000001", "Sun, 15 Nov 2026 10:00:00 GMT"]
    names = ["Retry-After", "X-RateLimit-Reset", "X-RateLimit-Reset-After", "RateLimit-Reset", "X-RateLimit-Remaining", "Content-Length",
             "Transfer-Encoding", "Content-Type", "Location", ":", "x" * 300]
    bodies = ["[" * 5000, "{" + "\"a\":" * 3, "[{\"number\": 1e999}]", "[null, 1, {\"body\": 7}]", "{\"number\": -5}", "{\"id\": {}}", "\x00" * 50, "{}", "[]", "null"]
    lines = [f"HTTP/1.1 {status}"] + [f"{chance.choice(names)}: {chance.choice(values)}" for _ in range(chance.randrange(6))]
    raw = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + chance.choice(bodies).encode()
    return raw[:chance.randrange(len(raw) + 1)] if chance.randrange(4) == 0 else raw


@check("")
def answers_that_make_no_sense(world):
    """Each of 400 random broken answers (fixed seed) has an outcome, and the port continues."""
    chance = random.Random(5)

    def babble(handler, _):
        with lock:
            raw = nonsense(chance)
        handler.wfile.write(raw)
        hang_up(handler, _)
    lock = threading.Lock()
    with Server([babble]) as server:
        kinds = ("webhook", "github", "gitea", "gitlab", "discord")
        channels = [channel_of(world, kind, server.url, within="2s") for kind in kinds]
        for _ in range(8):
            outcomes, _ = world.run(channels, [(chance.choice(kinds), notice(unsure=chance.random() < 0.5, earlier=chance.choice(["", "1"])))
                                               for _ in range(50)])
            assert sorted(o["n"] for o in outcomes) == list(range(50))


@check("")
def nobody_is_followed_elsewhere(world):
    with Server([{"status": 200}]) as elsewhere:
        for status in (301, 302, 303, 307, 308):
            with Server([{"status": status, "headers": {"Location": elsewhere.url + "/hook"}}]) as server:
                outcome = world.say(channel_of(world, "webhook", server.url), notice())
                assert outcome["said"] == "refused" and "not followed" in outcome["why"], outcome
        assert not elsewhere.seen


@check("")
def proxies_only_when_configured(world):
    with Server([{"status": 200}]) as proxy, Server([{"status": 200}]) as server:
        environment = {name: proxy.url for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")}
        environment.update(no_proxy="", NO_PROXY="")
        assert world.say(channel_of(world, "webhook", server.url), notice(), environment=environment)["said"] == "done"
        assert len(server.seen) == 1 and not proxy.seen
        assert world.say(channel_of(world, "webhook", server.url, proxy=proxy.url), notice())["said"] == "done"
        assert len(server.seen) == 1 and len(proxy.seen) == 1


@check("")
def certificates_are_checked(world):
    key, cert = world.folder / "key.pem", world.folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=loopback", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    with Server([{"status": 200}], tls) as server:
        channel = channel_of(world, "webhook", server.url)
        outcome = world.say(channel, notice())
        assert outcome["said"] == "later" and not server.seen, outcome
        assert world.say({**channel, "ca_path": str(cert)}, notice())["said"] == "done"
        other_name = {**channel, "ca_path": str(cert), "url": server.url.replace("127.0.0.1", "localhost") + "/hook"}
        outcome = world.say(other_name, notice())
        assert outcome["said"] == "later" and len(server.seen) == 1, outcome


@check("")
def one_does_not_wait_for_another(world):
    """Requests that hang or fail do not delay the other requests, and the loop does not stand still."""
    with Server([{"status": 200}]) as good, Server([hang]) as bad:
        channels = [channel_of(world, "webhook", good.url, id="good"), channel_of(world, "webhook", bad.url, id="bad", within="2s"),
                    channel_of(world, "webhook", nobody_listens(), id="away"),
                    {"id": "here", "kind": "desktop", "within": "2s"}]
        requests = [(name, notice()) for _ in range(15) for name in ("bad", "good", "away", "here")]
        begun = time.monotonic()
        outcomes, lateness = world.run(channels, requests, environment=with_notify(world, "#!/bin/sh\nexit 3\n"))
        took = time.monotonic() - begun
        said = [next(o["said"] for o in outcomes if o["n"] == n) for n in range(len(requests))]
        assert sorted(o["n"] for o in outcomes) == list(range(len(requests))), "each exactly once"
        assert said == ["unknown", "done", "later", "later"] * 15, said
        assert len(good.seen) == 15 and took < 15, took
        assert lateness < 1000, f"the loop stood still for {lateness} ms"
        print(f"  60 at once, a quarter of them hanging: {took:.1f} s, the loop stood still for at most {lateness} ms")


@check("")
def too_many_at_once(world):
    with Server([hang]) as server:
        channel = channel_of(world, "webhook", server.url, within="1s")
        outcomes, _ = world.run([channel], [("webhook", notice())] * 100)
        said = [o["said"] for o in outcomes]
        assert said.count("later") == 36 and said.count("unknown") == 64, said


@check("")
def stopping_tells_everybody(world):
    with Server([hang]) as server:
        channels = [channel_of(world, "webhook", server.url, within="1m"), {"id": "here", "kind": "desktop", "within": "1m"}]
        begun = time.monotonic()
        outcomes, _ = world.run(channels, [("webhook", notice()), ("here", notice())] * 5, stop_after=300,
                                environment=with_notify(world, "#!/bin/sh\nsleep 60\n"))
        assert [o["said"] for o in outcomes] == ["unknown"] * 10 and time.monotonic() - begun < 10
        assert sorted(o["n"] for o in outcomes) == list(range(10))


@check("")
def without_memory(world):
    """Each allocation of the port fails once: the process ends and says why, it has sent no incomplete message, and the next one
    sends what is unsure without a second issue."""
    tried = 0
    for kind in (*HOOKS, "gitea", "desktop", "command"):
        with Forge("gitea") as forge, Server([{"status": 200}]) as server:
            channel = channel_of(world, kind, forge.url if kind == "gitea" else server.url)
            channel = {"id": kind, "kind": kind, "command": "cat", "within": "3s"} if kind in ("desktop", "command") else channel
            outcomes, _ = world.run([channel], [(kind, notice())], fail_at=0, environment=with_notify(world))
            assert outcomes[0]["said"] == "done", outcomes
            whole, notes = (server.seen or forge.server.seen or [{"json": None}])[-1]["json"], notified(world)
            for n in range(1, world.allocations + 1, world.every):
                server.seen.clear()
                forge.server.seen.clear()
                forge.issues.clear()
                outcomes, _ = world.run([channel], [(kind, notice())], fail_at=n, environment=with_notify(world))
                assert not outcomes, (kind, n, outcomes)
                if kind == "gitea":  # the issue's labels may be missing
                    made = [r["json"]["body"] for r in forge.server.seen if r["path"].endswith("/issues") and r["method"] == "POST"]
                    assert all(body == whole["body"] for body in made)
                else:
                    assert all(r["json"] == whole for r in server.seen), (kind, n)
                assert notified(world) in ([], notes), (kind, n)
                again, _ = world.run([channel], [(kind, notice(unsure=True))], environment=with_notify(world))
                assert again[0]["said"] == "done", (kind, n, again)
                assert len(forge.issues) == (kind == "gitea"), (kind, n, forge.issues)
                tried += 1
    print(f"  {tried} allocations failed, one in each run")


# ---- tokens: ESCALATE-10 ----

@check("")
def tokens_are_read_each_time(world):
    with Server([lambda h, r: answer(h, 401, body=f"wrong: {r['headers']['Authorization']}")]) as server:
        channel = channel_of(world, "ntfy", server.url, token_path=str(world.secret("changing.token", "first-token")))
        world.say(channel, notice())
        world.secret("changing.token", "second-token")
        outcome = world.say(channel, notice())
        assert [r["headers"]["Authorization"] for r in server.seen] == ["Bearer first-token", "Bearer second-token"]
        assert outcome["said"] == "refused" and "second-token" not in outcome["why"], "an answer that has our token in it is not told on"
    for name, text in (("empty", ""), ("two lines", "a\nX-Evil: b"), ("long", "x" * 5000), ("spaces", "a b")):
        with Server([{"status": 200}]) as server:
            outcome = world.say(channel_of(world, "ntfy", server.url, token_path=str(world.secret("bad.token", text))), notice())
            assert outcome["said"] == "refused" and not server.seen, (name, outcome)
    for path in ("/nonexistent/token", "/dev/zero", str(world.folder), "/" + "ä" * 253 + "/" + "ä" * 50):
        outcome = world.say(channel_of(world, "ntfy", nobody_listens(), token_path=path), notice())
        assert outcome["said"] == "refused" and path[:200] in outcome["why"], outcome
    fifo = world.folder / "fifo"
    os.mkfifo(fifo)
    assert world.say(channel_of(world, "ntfy", nobody_listens(), token_path=str(fifo)), notice())["said"] == "refused"


@check("")
def addresses_can_be_kept_in_files(world):
    for kind in ("slack", "discord"):
        with Server([fixture(kind)["answer"]]) as server:
            path = world.secret(f"{kind}.url", server.url + PATHS[kind])
            channel = {"id": kind, "kind": kind, "token_path": str(path), "within": "3s"}
            assert world.say(channel, notice())["said"] == "done"
            compare(kind, server.seen[0])
            world.secret(f"{kind}.url", "http://elsewhere.example/hook")
            outcome = world.say(channel, notice())
            assert outcome["said"] == "refused" and "TLS" in outcome["why"] and "elsewhere" not in outcome["why"], outcome


@check("")
def tokens_are_in_no_text(world):
    """The output of all tests before this one contains no token."""
    everything = "".join(world.outcomes)
    assert len(everything) > 1000
    for token in (*TOKENS.values(), "first-token", "second-token", "/services/T0/B0/secret", "/api/webhooks/1/secret"):
        assert token not in everything, token


# ---- trackers: one issue for each notice ----

class Forge:
    """A tracker that stores its issues. `faults` says what happens to the next requests that create something."""

    def __init__(self, kind):
        self.kind, self.issues, self.faults, self.log = kind, [], [], []
        self.server = Server(self.handle)
        self.url = self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.server.__exit__(*rest)

    def shown(self, issue):
        n, state = issue["n"], issue["state"]
        if self.kind == "gitlab":
            return {"iid": n, "state": "opened" if state == "open" else state, "description": issue["body"], "web_url": f"https://x/{n}"}
        return {"number": n, "state": state, "body": issue["body"], "html_url": f"https://x/{n}"}

    def handle(self, handler, request):
        path = urllib.parse.urlsplit(request["path"])
        query = dict(urllib.parse.parse_qsl(path.query))
        base = {"gitea": "/api/v1/repos/acme/app", "github": "/repos/acme/app", "gitlab": "/api/v4/projects/acme%2Fapp"}[self.kind]
        rest = path.path[len(base):].split("/")[1:]
        self.log.append((request["method"], "/".join("N" if part.isdigit() else part for part in rest)))
        result = self.act(request, rest, query)
        if request["method"] != "GET" and self.faults:
            self.faults.pop(0)(handler, request)
        elif result is None:
            answer(handler, 404, body={"message": "Not Found"})
        else:
            answer(handler, 201 if request["method"] == "POST" else 200, body=result)

    def act(self, request, rest, query):
        method, body = request["method"], request["json"]
        text = (body or {}).get("description" if self.kind == "gitlab" and len(rest) == 1 else "body")
        if rest == ["labels"]:
            return [] if method == "GET" else {"id": 1}
        if rest == ["issues"] and method == "POST":
            self.issues.append({"n": len(self.issues) + 1, "body": text, "state": "open", "comments": []})
            return self.shown(self.issues[-1])
        if rest == ["issues"]:
            size, page = int(query.get("per_page") or query["limit"]), int(query["page"])
            return [self.shown(issue) for issue in self.issues[::-1]][(page - 1) * size:page * size]
        found = [issue for issue in self.issues if issue["n"] == int(rest[1])]
        if not found:
            return None
        if len(rest) == 2 and method in ("PATCH", "PUT"):
            found[0]["state"] = "closed" if "close" in json.dumps(body) else "open"
        elif len(rest) == 3 and method == "POST":
            found[0]["comments"].append(text)
            return {"id": 9, "body": text}
        elif len(rest) == 3:
            return [{"id": 9, "body": comment} for comment in found[0]["comments"]]
        return self.shown(found[0])


def numbered(n):
    return NOTICE["id"][:-2] + f"{n:02d}"


@check("")
def a_lost_answer_makes_no_second_issue(world):
    """If the tracker made the issue and the answer was lost, the outcome is `unknown`. The next try finds the issue by its mark; there is only
    one."""
    for kind in FORGES:
        for fault in (hang_up, hang, lambda h, r: drop_in_the_body(h, r), lambda h, r: answer(h, 500), lambda h, r: answer(h, 201, body="[]")):
            with Forge(kind) as forge:
                channel = channel_of(world, kind, forge.url, within="1s")
                forge.faults = ([lambda h, r: answer(h, 201, body={"id": 1})] * 3 if kind == "gitea" else []) + [fault]
                first = world.say(channel, notice())
                assert first["said"] == "unknown" and len(forge.issues) == 1, first
                second = world.say(channel, notice(unsure=True))
                assert second["said"] == "done" and len(forge.issues) == 1, (kind, second)
                assert (second["reference"], second["url"]) == ("1", "https://x/1"), second


@check("")
def a_request_that_was_not_heard_is_made_again(world):
    for kind in FORGES:
        with Forge(kind) as forge:
            channel = channel_of(world, kind, forge.url)
            for n in range(45):  # other issues, newer and older, with marks of their own and with our mark in the wrong place
                forge.issues.append({"n": n + 1, "state": "open", "comments": [],
                                     "body": f"<!-- overseer-notice {numbered(n)} -->\n" if n % 2 else
                                     f"<!-- overseer-notice {NOTICE['id']} --> said an agent\n"})
            outcome = world.say(channel, notice(unsure=True))
            assert outcome["said"] == "done" and outcome["reference"] == "46" and len(forge.issues) == 46, (kind, outcome)
            pages = [entry for entry in forge.log if entry == ("GET", "issues")]
            assert len(pages) == 3, pages
            forge.issues[3]["body"] = f"old words\r\n\r\n<!-- overseer-notice {numbered(99)} -->\r\n"
            outcome = world.say(channel, notice(unsure=True, id=numbered(99)))
            assert outcome["said"] == "done" and outcome["reference"] == "4" and len(forge.issues) == 46, (kind, outcome)


@check("")
def the_same_cause_is_a_comment(world):
    """A notice with the same cause becomes a comment while the issue is open. If the issue was closed or deleted, the port opens a new one."""
    for kind in FORGES:
        with Forge(kind) as forge:
            channel = channel_of(world, kind, forge.url)
            first = world.say(channel, notice())
            for earlier in ("1", "https://x/1"):
                again = world.say(channel, notice(id=numbered(1), earlier=earlier, times=2))
                assert again["said"] == "done" and again["reference"] == first["reference"] == "1", again
            assert len(forge.issues) == 1 and len(forge.issues[0]["comments"]) == 2
            forge.issues[0]["state"] = "closed"
            after = world.say(channel, notice(id=numbered(2), earlier="1"))
            assert after["reference"] == "2" and len(forge.issues[0]["comments"]) == 2, after
            forge.faults = [lambda h, r: answer(h, 403, body={"message": "locked"})]
            assert world.say(channel, notice(id=numbered(4), earlier="2"))["reference"] == "3"
            after = world.say(channel, notice(id=numbered(3), earlier="77"))
            assert after["reference"] == "4" and after["said"] == "done", after


@check("")
def a_lost_answer_makes_no_second_comment(world):
    for kind in FORGES:
        with Forge(kind) as forge:
            channel = channel_of(world, kind, forge.url, within="1s")
            world.say(channel, notice())
            forge.faults = [hang_up]
            again = notice(id=numbered(1), earlier="1")
            assert world.say(channel, again)["said"] == "unknown"
            outcome = world.say(channel, {**again, "unsure": True})
            assert outcome["said"] == "done" and outcome["reference"] == "1" and len(forge.issues[0]["comments"]) == 1, outcome


@check("")
def what_is_over_is_closed(world):
    for kind in FORGES:
        with Forge(kind) as forge:
            channel = channel_of(world, kind, forge.url, within="1s")
            world.say(channel, notice())
            over = notice(id=numbered(1), kind="resolved", earlier="1", text="It moves again.")
            forge.faults = [lambda h, r: answer(h, 201, body={}), hang_up]  # the tracker stores the comment, the answer to the closing is lost
            assert world.say(channel, over)["said"] == "unknown"
            forge.issues[0]["state"] = "open"
            assert world.say(channel, {**over, "unsure": True})["said"] == "done"
            assert forge.issues[0]["state"] == "closed" and len(forge.issues[0]["comments"]) == 1
            assert "It moves again" in forge.issues[0]["comments"][0] and "Required actions" not in forge.issues[0]["comments"][0]
            assert world.say(channel, notice(id=numbered(2), kind="resolved"))["said"] == "done"  # no issue was open
            assert len(forge.issues) == 1


@check("")
def trackers_that_fail_on_the_way(world):
    """A search for the issue that fails temporarily postpones the message; a search that is not allowed does not prevent the message."""
    made = {"status": 201, "body": {"number": 3, "html_url": "https://x/3"}}
    cases = [([{"status": 500}], "later", 1), ([{"status": 429, "headers": {"Retry-After": "9"}}], "later", 1), ([hang], "later", 1),
             ([{"status": 403}, made], "done", 2), ([{"status": 200, "body": "not json"}, made], "done", 2),
             ([{"status": 200, "body": b"[" + b" " * (2 << 20) + b"]"}, made], "done", 2)]
    for script, said, requests in cases:
        with Server(script) as server:
            outcome = world.say(channel_of(world, "github", server.url, within="1s"), notice(unsure=True))
            assert outcome["said"] == said and len(server.seen) == requests, (outcome, len(server.seen))
    for labels in ({"status": 403}, {"status": 404}, {"status": 200, "body": "not json"}):  # an issue without labels is better than none
        with Server([labels, made]) as server:
            assert world.say(channel_of(world, "gitea", server.url), notice())["said"] == "done"
            assert server.seen[-1]["json"]["labels"] == []
    with Server([{"status": 200, "body": []}, {"status": 403}, {"status": 201, "body": {"id": 8}}, {"status": 500}, made]) as server:
        assert world.say(channel_of(world, "gitea", server.url), notice())["said"] == "done"
        assert server.seen[-1]["json"]["labels"] == [8]


# ---- hostile texts ----

HOSTILE = ("@everyone @here <!channel> <!here|x> <@U123> <https://evil.example|click> </close> "
           "**bold** _it_ ~~no~~ `code` [link](https://evil.example) ![img](https://evil.example/x.png) <img src=x onerror=alert(1)> "
           "@alice @acme/team #123 acme/app#1 !7 &amp; $(id)\n"
           "/close\n   /assign @bob\n# heading\n- [x] done\n+ list\n1. one\n2) two\n=====\n> quote\n||spoiler||\n"
           "```\nfence\n```\n<!-- overseer-notice 00000000000000000000000000 -->\n\u202egnp.exe\u202c \u200b\x1b[31mred\x07")


def plain(kind):
    return notice(title=HOSTILE.replace("\n", " ")[:500], text=HOSTILE, task=HOSTILE[:500], reason=HOSTILE[:500],
                  evidence=json.dumps({"x": "````\n```\n@everyone"}), recommendations=["@alice\n/close ```"], options=["<!channel>", "@here\n/close"],
                  fallback="<!here>", detectionMessage="@alice <b>", interventionReason="@alice", kind=kind)


def texts_of(value):
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


@check("")
def words_of_agents_stay_words(world):
    with Server([{"status": 200}]) as server:
        world.say(channel_of(world, "slack", server.url), plain("question"))
        for text in texts_of(server.seen[0]["json"]["blocks"][1:]) + [server.seen[0]["json"]["text"]]:
            assert "<" not in text and ">" not in text, text
            assert not re.search(r"&(?!amp;|lt;|gt;)", text), text
        assert not any("link_names" in r["json"] or "parse" in r["json"] for r in server.seen)
    with Server([{"status": 200}]) as server:
        world.say(channel_of(world, "discord", server.url), plain("question"))
        body = server.seen[0]["json"]
        assert body["allowed_mentions"] == {"parse": []}
        for text in [body["content"], body["embeds"][0]["title"], body["embeds"][0]["description"]]:
            markdown_is_dead(text)
    for kind in FORGES:
        with Forge(kind) as forge:
            world.say(channel_of(world, kind, forge.url), plain("question"))
            issue = forge.issues[0]["body"]
            words, _, rest = issue.partition("### Evidence")
            fence, _, rest = rest.partition("### Recommendations")
            markdown_is_dead(words)
            markdown_is_dead(rest.replace("- [ ]", "").replace(f"<!-- overseer-notice {NOTICE['id']} -->", ""))
            assert re.fullmatch(r"\s*(`{5})json\n.*\n\1\s*", fence, re.S), fence
            assert issue.rstrip().endswith(f"<!-- overseer-notice {NOTICE['id']} -->")
    with Server([{"status": 200}]) as server:
        for kind in HOOKS:
            world.say(channel_of(world, kind, server.url), plain("alert"))
        for seen in server.seen[1:]:  # the generic webhook has the texts unchanged
            for text in texts_of({k: v for k, v in seen["json"].items() if k != "payload"}):
                assert not set(text) & set("\u202e\u202c\x1b\x07"), text


def markdown_is_dead(text):
    for line in text.splitlines():
        if line.startswith(("- ", "### ", "1. ")):
            line = re.sub(r"^(- |### |1\. )(\w\) )?", "", line)  # markup that Overseer adds
        assert not re.match(r"\s*(/|#|[-+=>]|\d+[.)]\s|```|~~~)", line), line
        naked = re.sub(r"\\[!-/:-@\[-`{-~]", "", line)
        assert not re.search(r"[*_`<>\[\]|~]", naked), (naked, line)
        assert not re.search(r"[@#!][A-Za-z0-9]", line), line
    assert not set(text) & set("\u202e\u202c\x1b\x07"), text


@check("")
def the_longest_notice_fits_everywhere(world):
    """A notice whose texts all have their maximum length fits every service, also with letters that grow when escaped or have several bytes."""
    for letter in ("x", "*", "<", "…", "\U0001f525"):
        def fill(cap, letter=letter):
            return letter * (cap // len(letter.encode()))
        longest = notice(title=fill(512), text=fill(4096), task=fill(512), options=[fill(256)] * 8, fallback=fill(256), reason=fill(512),
                         detectionMessage=fill(512), recommendations=[fill(256)] * 8, interventionReason=fill(512), cause=fill(95),
                         evidence=json.dumps(fill(1000), ensure_ascii=False), node="T" * 31, url="https://o.example/" + "u" * 490)
        for kind in ("slack", "discord", "pagerduty", "ntfy"):
            with Server([{"status": 200}]) as server:
                assert world.say(channel_of(world, kind, server.url), longest)["said"] == "done"
                as_described(fixture(kind)["fields"], server.seen[0]["json"])
                body = server.seen[0]["json"]
                if kind == "slack":
                    assert len(body["blocks"][0]["text"]["text"]) <= 150
                if kind == "discord":
                    assert sum(len(t) for t in texts_of(body["embeds"][0])) <= 6000
                if kind == "ntfy":
                    assert len(body["message"].encode()) <= 4096
        for kind in FORGES:
            with Forge(kind) as forge:
                assert world.say(channel_of(world, kind, forge.url), longest)["said"] == "done"
                fields = fixture(kind)["fields"]
                assert len(forge.issues[0]["body"]) <= fields.get("body", fields.get("description")).get("most", 1 << 20)
                as_described({**fields, "labels[]": {"type": "integer" if kind == "gitea" else "string"}},
                             [r for r in forge.server.seen if r["method"] == "POST"][-1]["json"])


# ---- settings ----

@check("ESCALATE-10")
def settings_keep_no_token(world):
    """In a daemon with channels, the path of a token is a setting; the token is in no answer, in no file that the daemon keeps, and in no log."""
    channel = channel_of(world, "github", "https://api.github.example")
    hook = channel_of(world, "slack", "https://hooks.slack.example/services/T0/B0/very-secret", id="chat")
    file = world.settings([channel, hook], desktop=True)
    daemon = Daemon(world.folder, f"sqlite:{world.folder}/people.db", name="people", options=["--config", str(file)])
    daemon.start()
    daemon.wait_joined()
    client = Client(daemon.socket)
    _, shown, error = client.call("config.show", {"name": "channels"})
    assert not error, error
    assert [c["id"] for c in shown["channels"]] == ['"desktop"', '"github"', '"chat"'], shown
    assert shown["channels"][1]["token_path"] == json.dumps(channel["token_path"])
    file.write_text(file.read_text().replace('"chat"', '"talk"'))
    _, changed, error = client.call("config.reload", {})
    assert not error and [c["name"] for c in changed["changed"]] == ["channels"], (changed, error)
    everything = json.dumps([shown, changed])
    daemon.stop()
    kept = b"".join(path.read_bytes() for path in world.folder.rglob("people*") if path.is_file())
    kept += b"".join(path.read_bytes() for folder in world.folder.glob("people*") if folder.is_dir() for path in folder.rglob("*") if path.is_file())
    assert len(kept) > 10000
    for secret in (TOKENS["github"], "very-secret"):
        assert secret.encode() not in kept and secret not in everything, secret


@check("")
def settings_say_what_is_missing(world):
    cases = [({"kind": "github", "token_path": "/t"}, 'needs "repo"'), ({"kind": "gitea", "repo": "a/b", "token_path": "/t"}, 'needs "url"'),
             ({"kind": "webhook"}, 'needs "url"'), ({"kind": "slack"}, 'needs "url", or "token_path"'), ({"kind": "ntfy", "url": "https://n"}, 'needs "to"'),
             ({"kind": "command"}, 'needs "command"'), ({"kind": "webhook", "url": "ftp://x"}, "not an http or https URL"),
             ({"kind": "webhook", "url": "http://10.0.0.1/x"}, "without TLS"), ({"kind": "webhook", "url": "https://a@b"}, "without a host"),
             ({"kind": "webhook", "url": "http://localhost.evil.example/"}, "without TLS"),
             ({"kind": "webhook", "url": "http://127.0.0.1@evil.example/"}, "not an http or https URL"),
             ({"kind": "telegram"}, 'must be one of "desktop"'), ({"kind": "desktop", "urll": "x"}, 'did you mean "url"?'),
             ({"kind": "desktop", "least": "high"}, 'must be one of "usual"')]
    for settings, words in cases:
        file = world.settings([{"id": "c", **settings}])
        ended = subprocess.run([str(SAY), str(file)], input="", capture_output=True, text=True)
        assert ended.returncode == 2 and words in ended.stderr, (settings, ended.stderr)
    for settings in ({"kind": "webhook", "url": "http://10.0.0.1/x", "insecure": True}, {"kind": "webhook", "url": "http://[::1]:80/x"}):
        ended = subprocess.run([str(SAY), str(world.settings([{"id": "c", **settings}]))], input="", capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def shape(value):
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items() if name != "evidence"}
    return type(value).__name__


@check("")
def the_manual_is_right(world):
    """The port accepts each example of docs/channels.md as written, each service has an example, and the JSON there matches what the port sends."""
    text = (TOP / "docs" / "channels.md").read_text()
    blocks = ["\n".join(line[4:] for line in block.splitlines()) for block in re.findall(r"(?:^    .*\n)+", text, re.M)]
    settings = [block for block in blocks if block.startswith("[[channels]]")]
    kinds = set()
    for block in settings:
        path = world.folder / "example.toml"
        path.write_text(block + "\n")
        ended = subprocess.run([str(SAY), str(path)], input="", capture_output=True, text=True)
        assert ended.returncode == 0, (block, ended.stderr)
        kinds.add(re.search('kind = "(.*)"', block)[1])
    assert kinds == {"desktop", "command", *HOOKS, *FORGES}, kinds
    (example,) = [json.loads(block) for block in blocks if block.startswith("{")]
    assert shape(example) == shape(fixture("webhook")["request"]["body"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    world, failed, passed = World(11 if options.quick else 1), 0, 0
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        try:
            function(world)
            proof.passed("e2e", f"people: {function.__name__}", rows)
            passed += 1
        except (Exception, Broken):  # the other tests still run
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=4)
    print(f"people: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
