#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no run can replace the person's own login: eight concurrent runs of the real Claude Code, each of which finds its token
expired in the middle of its turn.

login.py [bare|copies|token] …

The program's token address is compiled in (platform.claude.com), so its HTTPS goes through a proxy on loopback that has its own
certificate for that name: the program itself is not changed, and nothing leaves this machine. bare: without Overseer the program
does renew its token here and replaces its file; otherwise the other two would prove nothing. copies: eight runs of Overseer renew
nothing, and the person's file is the same file with the same bytes. token: the same with token_file; all eight runs do their work.

Installs the program if it is missing, and runs itself in `lonely`. Exit status 77: the program cannot be installed here.
"""
import hashlib
import http.client
import json
import os
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from model import Model  # noqa: E402
from world import OVERSEER, Broken, Client, Daemon, Unreachable, wait_until  # noqa: E402

RUNS = 8
SKIPPED = 77
HOSTS = ("platform.claude.com", "api.anthropic.com", "claude.ai", "console.anthropic.com", "mcp-proxy.anthropic.com")
OLD, NEW, LONG = "sk-ant-oat01-" + "o" * 80, "sk-ant-oat01-" + "n" * 80, "sk-ant-oat01-" + "l" * 80
REFRESH = "sk-ant-ort01-" + "r" * 80
QUIET = {name: "1" for name in ("DISABLE_TELEMETRY", "DO_NOT_TRACK", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER",
                                "DISABLE_ERROR_REPORTING", "IS_SANDBOX")}
HOUR_MS = 3600 * 1000


def expect(holds, what):
    if not holds:
        raise Broken(what)


# ---- the services on loopback ----

def certificates(folder):
    """Creates a certificate authority, and one certificate for all host names."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test authority",
            "-addext", "basicConstraints=critical,CA:TRUE")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={HOSTS[0]}")
    (folder / "names").write_text("subjectAltName=" + ",".join(f"DNS:{host}" for host in HOSTS) + "\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "leaf.pem", "-days", "2",
            "-extfile", "names")
    return folder / "ca.pem"


class Services:
    """A CONNECT proxy that answers itself: as the token endpoint, and as the model behind a check of the access token."""

    def __init__(self, folder, model):
        self.ca = certificates(folder)
        self.model, self.renewals, self.expired_seen, self.hosts = model, [], 0, set()
        self.good = {OLD, NEW, LONG}
        self.first = {}  # answered requests by token
        self.lock = threading.Lock()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "leaf.pem", folder / "leaf.key")
        services = self

        class Inner(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.send_header("request-id", "req_test")
                self.end_headers()
                self.wfile.write(data)

            def do_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.path.startswith("/v1/oauth/token"):
                    services.renew(self, body)
                elif self.path.split("?")[0].endswith("/messages"):
                    services.ask(self, body)
                elif self.path.endswith("/oauth/profile"):
                    self.answer(200, {"account": {"uuid": "00000000-0000-4000-8000-000000000001", "email": "person@localhost"},
                                      "organization": {"uuid": "00000000-0000-4000-8000-000000000002", "organization_type": "claude_max"}})
                else:
                    self.answer(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})
            do_GET = do_POST = do_any

            def log_message(self, *_):
                pass

        class Outer(BaseHTTPRequestHandler):
            def do_CONNECT(self):
                services.hosts.add(self.path)
                self.send_response(200)
                self.end_headers()
                try:
                    inner = services.context.wrap_socket(self.connection, server_side=True)
                    Inner(inner, self.client_address, self.server)
                    inner.close()
                except OSError:
                    pass
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Outer)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def renew(self, handler, body):
        said = json.loads(body or b"{}")
        with self.lock:
            self.renewals.append(said)
        if said.get("grant_type") != "refresh_token" or said.get("refresh_token") != REFRESH:
            handler.answer(400, {"error": "invalid_grant", "error_description": "Refresh token not found or invalid"})
            return
        handler.answer(200, {"token_type": "Bearer", "access_token": NEW, "refresh_token": REFRESH[:-1] + "2", "expires_in": 28800,
                             "scope": "user:inference user:profile", "account": {"uuid": "u", "email_address": "person@localhost"},
                             "organization": {"uuid": "o"}})

    def ask(self, handler, body):
        """The old token is valid only for the first answer of a turn: it expires while the agent works."""
        token = (handler.headers.get("authorization") or "").removeprefix("Bearer ")
        said = json.loads(body)
        in_mid_turn = any("tool_result" in json.dumps(message.get("content")) for message in said.get("messages", []))
        with self.lock:
            expired = token not in self.good or (token == OLD and in_mid_turn)
            self.expired_seen += expired
        if expired:
            handler.answer(401, {"type": "error", "error": {"type": "authentication_error", "message": "OAuth token has expired."}})
            return
        there = http.client.HTTPConnection(self.model.url.removeprefix("http://"), timeout=120)
        there.request("POST", handler.path, body, {"content-type": "application/json", "anthropic-version": "2023-06-01"})
        answer = there.getresponse()
        handler.send_response(answer.status)
        handler.send_header("content-type", answer.getheader("content-type") or "application/json")
        handler.send_header("connection", "close")
        handler.end_headers()
        while piece := answer.read1(65536):
            handler.wfile.write(piece)
            handler.wfile.flush()
        handler.close_connection = True

    def environment(self):
        return {"HTTPS_PROXY": self.url, "NODE_EXTRA_CA_CERTS": str(self.ca), **QUIET}


# ---- the person ----

class Person:
    def __init__(self, home):
        self.home, self.file = home, home / ".claude/.credentials.json"
        self.file.parent.mkdir(parents=True)
        self.file.write_text(json.dumps({"claudeAiOauth": {
            "accessToken": OLD, "refreshToken": REFRESH, "expiresAt": int(time.time() * 1000) + 2 * HOUR_MS,
            "scopes": ["user:inference", "user:profile"], "subscriptionType": "max", "rateLimitTier": "default_claude_max_20x"},
            "mcpOAuth": {"other|1": {"serverName": "other", "accessToken": "a", "refreshToken": "mcp-refresh"}}}))
        self.file.chmod(0o600)
        self.before = self.state()

    def state(self):
        about = self.file.lstat()
        return about.st_ino, about.st_mode, about.st_mtime_ns, hashlib.sha256(self.file.read_bytes()).hexdigest()


def program():
    words = shlex.split(subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", "claude"], check=False, capture_output=True,
                                       text=True).stdout)
    if not words or not Path(words[0]).exists():
        print("skip: claude is not installed")
        sys.exit(SKIPPED)
    return words


SCRIPT = "run echo begun > first.txt ;; write {made} hello ;; say done"


# ---- tests ----

def bare(folder):
    """The program by itself renews its token in mid-turn at this endpoint, and replaces its file."""
    cwd = folder / "cwd"
    cwd.mkdir()
    with Model() as model:
        services, person = Services(folder, model), Person(folder / "home")
        done = subprocess.run([*program(), "-p", f"Work. <<<{SCRIPT.format(made=cwd / 'made.txt')}>>>", "--permission-mode", "bypassPermissions",
                               "--output-format", "stream-json", "--verbose"], capture_output=True, text=True, timeout=180, check=False,
                              cwd=cwd, stdin=subprocess.DEVNULL,
                              env={**os.environ, **services.environment(), "HOME": str(person.home), "XDG_CONFIG_HOME": str(person.home / ".config")})
        print("bare:", done.returncode, services.hosts, len(services.renewals), services.expired_seen, flush=True)
        expect([one.get("refresh_token") for one in services.renewals] == [REFRESH],
               f"it did not renew once: {services.renewals} {done.stdout[-800:]} {done.stderr[-800:]}")
        after = person.state()
        expect(after[3] != person.before[3] and NEW in person.file.read_text(), "it kept nothing of what it was given")
        how = "by rename" if after[0] != person.before[0] else "in place"
    print(f"ok: the program by itself renews in mid-turn, and replaces its login {how}", flush=True)


class Fixture:
    """One daemon of that person, for eight tasks."""

    def __init__(self, folder, services, person, **agent):
        self.folder, self.repo = folder, folder / "repo"
        self.repo.mkdir()
        for words in (["init", "-q", "-b", "main"], ["config", "user.name", "somebody"], ["config", "user.email", "somebody@localhost"],
                      ["commit", "-q", "--allow-empty", "-m", "begin"], ["checkout", "-q", "--detach"]):
            subprocess.run(["git", "-C", str(self.repo), *words], check=True, capture_output=True)
        words = program()
        rows = {"[supervision]": {"enabled": True, "tick_every": "1s", "backoff.base": "1s", "backoff.max": "2s", "max_restarts": 50,
                                  "min_resend_interval": "0s", "verify_by_person": False},
                "[caps]": {"actions_per_minute": 1000, "blast_share": 0}, "[people]": {"undo_for": "0s"},
                "[repo]": {"path": str(self.repo), "default_branch": "main", "disk_least": 1}, "[verify]": {"command": "test -s made.txt"},
                "[sandbox]": {"sees": [str(services.ca)]},
                "[[agents]]": {"id": "coder", "kind": "claude", "driver": "claude", "program": words[0], "args": words[1:], "asks": False,
                               "keys": list(services.environment()), **agent}}
        config = folder / "overseer.toml"
        config.write_text("".join(f"{section}\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in row.items())
                                  for section, row in rows.items()))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(config), "HOME": str(person.home), **services.environment()})
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)
        self.state = folder / "overseerd.state"

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:  # the daemon closes idle connections
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        expect(error is None, f"{method}: {error}")
        return result

    def task(self, number):
        goal = self.do("goal.create", title=f"task {number}")["goalId"]
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": f"Work. <<<{SCRIPT.format(made='made.txt')}>>>"}])
        return goal

    def made(self):
        return len(list(self.state.glob("work/worktrees/*/tree/made.txt")))

    def begun(self):
        return len(list(self.state.glob("work/worktrees/*/tree/first.txt")))

    def holds(self, secret):
        """The files of the state folder and of the store that contain these bytes."""
        places = [*self.state.rglob("*"), *self.folder.glob("store.db*")]
        return [str(path) for path in places if path.is_file() and not path.is_symlink() and secret.encode() in path.read_bytes()]

    def wait(self, what, question, within=150):
        try:
            return wait_until(what, lambda: self.daemon.alive() and question(), within, 0.2)
        except Broken as error:
            said = subprocess.run([str(OVERSEER), "status", "--socket", str(self.daemon.socket)], capture_output=True, text=True, check=False)
            raise Broken(f"{error}: {self.begun()} begun, {self.made()} made; {said.stdout[:3000]} {self.daemon.log_tail()}") from None

    def close(self):
        for goal in self.do("goal.list")["goals"]:
            if goal["status"] not in ("completed", "cancelled"):
                self.client.call("goal.cancel", {"goal": goal["goalId"]})
        wait_until("every run has ended", lambda: not list(self.state.glob("runs/*/run.json")), 60, 0.2)
        self.daemon.stop(30)


def unchanged(services, person, fixture):
    expect(person.state() == person.before, f"the person's login was {person.before} and is {person.state()}")
    expect(not [one for one in services.renewals if one.get("refresh_token")], f"a run renewed the person's login: {services.renewals}")
    for secret in (REFRESH, "mcp-refresh"):
        expect(not fixture.holds(secret), f"a refresh token is in {fixture.holds(secret)}")


def copies(folder):
    """The runs renew nothing; after the person's own program has renewed the token, restarted runs have the new one."""
    with Model() as model:
        services, person = Services(folder, model), Person(folder / "home")
        fixture = Fixture(folder, services, person)
        try:
            for number in range(RUNS):
                fixture.task(number)
            fixture.wait("all have begun", lambda: fixture.begun() == RUNS)
            fixture.wait("all have found their token expired", lambda: services.expired_seen >= RUNS)
            time.sleep(3)  # time for anything else that they try
            unchanged(services, person, fixture)
            expect(fixture.made() == 0, f"{fixture.made()} went on with an expired token")
            renewed = json.loads(person.file.read_text())
            renewed["claudeAiOauth"].update(accessToken=NEW, expiresAt=int(time.time() * 1000) + 8 * HOUR_MS)
            new = person.file.with_suffix(".new")
            new.write_text(json.dumps(renewed))
            new.chmod(0o600)
            new.rename(person.file)
            person.before = person.state()
            fixture.wait("all have done their work with the new token", lambda: fixture.made() == RUNS)
            unchanged(services, person, fixture)
        finally:
            fixture.close()
    print(f"ok: {RUNS} runs whose token expires in mid-turn: nothing renewed, the person's file is the same", flush=True)


def token(folder):
    """A run with its own long-lived token has nothing of the person's login."""
    with Model() as model:
        services, person = Services(folder, model), Person(folder / "home")
        file = folder / "token"
        file.write_text(LONG + "\n")
        file.chmod(0o600)
        fixture = Fixture(folder, services, person, token_file=str(file))
        try:
            for number in range(RUNS):
                fixture.task(number)
            fixture.wait("all have done their work", lambda: fixture.made() == RUNS)
            unchanged(services, person, fixture)
            for secret in (OLD, LONG):
                expect(not fixture.holds(secret), f"a token is in {fixture.holds(secret)}")
            expect(services.expired_seen == 0, "a run used the person's token")
        finally:
            fixture.close()
    print(f"ok: {RUNS} runs with a token of their own do their work, and have nothing of the person's", flush=True)


TESTS = {"bare": bare, "copies": copies, "token": token}


def main():
    if os.environ.get("OVERSEER_LONELY") != "1":
        subprocess.run([str(HERE.parents[1] / "tools/agents"), "install", "claude"], check=False, stdout=subprocess.DEVNULL)
        os.execv(sys.executable, [sys.executable, str(HERE / "lonely"), "OVERSEER_LONELY=1", sys.executable, __file__, *sys.argv[1:]])
    program()
    failed = 0
    for name in sys.argv[1:] or TESTS:
        begin, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix=f"overseer-login-{name}.", dir="/tmp"))
        try:
            TESTS[name](folder)
        except Broken as error:
            failed = 1
            print(f"failed: {name}: {error}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    sys.exit(failed)


main()
