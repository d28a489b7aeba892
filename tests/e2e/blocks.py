#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a slow operation keep others waiting? A diff that waits for git, a remote that does not answer, many agents that begin.

blocks.py [--only NAME]: the daemon, real worktrees and locks, an agent that is a program, servers on loopback.
OVERSEER_FULL=1: 20 agents for each remote. The test runs in a mount namespace of its own, in which git trusts the test's certificate.
"""
import fcntl
import hashlib
import http.server
import json
import os
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import proof
from care import fixture_make, main, state_of, tree_of
from pulls import git
from world import MANY_COMMANDS, OVERSEER, Broken, Client, Daemon, folder_make, wait_until

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def check_in_full(function):
    """A check for make prove only: it would add half a minute to every daily run."""
    return check(function) if os.environ.get("OVERSEER_FULL") else function


def run_lock(fixture, goal):
    """The lock that every git operation on that goal's worktree takes."""
    name = tree_of(fixture, goal).parent.name
    slot = int.from_bytes(hashlib.sha256(name.encode()).digest()[:2], "big") % 1024
    return open(state_of(fixture) / f"work/locks/run-{slot:04}", "r+")


def timed(fixture, method, **params):
    client = Client(fixture.daemon.socket)
    begin = time.monotonic()
    _, result, error = client.call(method, params)
    client.close()
    return time.monotonic() - begin, result, error


@check
def a_diff_keeps_nobody_waiting():
    """While the diff of a worktree waits for a lock, the daemon answers everything else at once; the diff ends with a reason."""
    fixture = fixture_make("diff")
    try:
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        lock = run_lock(fixture, goal)
        fcntl.flock(lock, fcntl.LOCK_EX)
        diffs = []
        threads = [threading.Thread(target=lambda: diffs.append(timed(fixture, "work.diff", goal=goal))) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        for method, params in 5 * (("status.show", {}), ("goal.show", {"goal": goal}), ("goal.list", {}), ("goal.show", {"goal": goal[:20]})):
            waited = timed(fixture, method, **params)[0]
            assert waited < 1, f"{method} waited {waited:.1f} s behind a diff"
        other = fixture.goal()  # it is dispatched and lands while the diffs wait for the lock
        fixture.wait("another task has landed", lambda: fixture.records(other, "work.landed"), 12)
        assert len(diffs) < 8, "the diffs did not wait for the lock: nothing was shown"
        for thread in threads:
            thread.join(30)
        assert len(diffs) == 8 and all(error and error["data"]["code"] == "E_BUSY" for _, _, error in diffs), diffs
        assert any("another process is using" in error["message"] for _, _, error in diffs), diffs
        fcntl.flock(lock, fcntl.LOCK_UN)
        _, result, error = timed(fixture, "work.diff", goal=goal)
        assert error is None and "made" in result["diff"], (result, error)
    finally:
        fixture.close()
    proof.passed("e2e", "blocks.diff", "API-10")


# ---- a remote that does not answer ----

TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")
FULL = bool(os.environ.get("OVERSEER_FULL"))


def certificate_make(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)


def trusted():
    """Makes git trust the test's certificate, only in the mount namespace of this process."""
    folder = Path(tempfile.mkdtemp(prefix="overseer-blocks-"))
    certificate_make(folder)
    (folder / "all.pem").write_bytes((TRUSTED.read_bytes() if TRUSTED.exists() else b"") + (folder / "cert.pem").read_bytes())
    subprocess.run(["mount", "--bind", folder / "all.pem", TRUSTED], check=True)
    return folder


class Remote:
    """A server on loopback that accepts connections; `way` says what it does then."""

    def __init__(self, way, folder):
        self.way, self.folder, self.seen, self.kept = way, folder, [], []
        if way == "hangs":
            self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
            self.port = self.socket.getsockname()[1]
            threading.Thread(target=self.accept, daemon=True).start()
        elif way == "refuses":
            with socket.create_server(("127.0.0.1", 0)) as closed:
                self.port = closed.getsockname()[1]
        else:
            self.serve()
        self.url = f"https://127.0.0.1:{self.port}/app.git"

    def accept(self):
        while True:
            self.kept.append(self.socket.accept())
            self.seen.append("connection")

    def serve(self):
        remote = self
        subprocess.run(["git", "init", "-q", "--bare", self.folder / "app.git"], check=True)
        subprocess.run(["git", "-C", self.folder / "app.git", "config", "http.receivepack", "true"], check=True)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer(b"")

            def do_POST(self):
                if remote.way == "drops":
                    remote.seen.append(self.path)
                    self.rfile.read(4)  # the first bytes of the pack
                    self.connection.close()
                    return
                self.answer(self.rfile.read(int(self.headers["Content-Length"])))

            def answer(self, body):
                remote.seen.append(self.path)
                if remote.way == "asks":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="x"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                path, _, query = self.path.partition("?")
                done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, check=False, env={
                    **os.environ, "GIT_PROJECT_ROOT": str(remote.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "x",
                    "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")})
                head, _, rest = done.stdout.partition(b"\r\n\r\n")
                self.send_response(200)
                for line in head.decode().splitlines():
                    name, _, value = line.partition(": ")
                    if name != "Status":
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                self.wfile.write(rest)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder.parent / "cert.pem", self.folder.parent / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()


def landed_after(fixture, count):
    """The seconds from creation to landing, for each of `count` tasks that are created at once."""
    begin = time.monotonic()
    open_goals, times = [fixture.goal() for _ in range(count)], []

    def look():
        for goal in list(open_goals):
            if fixture.records(goal, "work.landed"):
                open_goals.remove(goal)
                times.append(time.monotonic() - begin)
        return not open_goals
    fixture.wait("all have landed", look, 60 + 8 * count)
    return times


def status_text(fixture):
    return subprocess.run([OVERSEER, "--socket", fixture.daemon.socket, "status"], capture_output=True, text=True, check=True).stdout


@check
def a_remote_that_does_not_answer_blocks_nothing():
    """A remote hangs, refuses, asks for a password or drops the connection during a push: tasks are checked and land in the usual time, and status
    says what waits."""
    folder = trusted()
    ways = ["well", "hangs", "refuses", "asks", "drops"]
    remotes, fixtures, times = {}, {}, {}
    for way in ways:
        (folder / way).mkdir()
        remotes[way] = Remote(way, folder / way)
        fixtures[way] = fixture_make(f"remote-{way}", landing={"how": "branch", "remote": remotes[way].url})
    try:
        count = 20 if FULL else 3
        threads = [threading.Thread(target=lambda way=way: times.update({way: landed_after(fixtures[way], count)})) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
        usual = statistics.mean(times["well"])
        ratios = {way: statistics.mean(times[way]) / usual for way in ways}
        print(f"  usual {usual:.1f} s, ratios {({way: round(ratio, 2) for way, ratio in ratios.items()})}", flush=True)
        assert max(ratios.values()) <= 1.2, ratios
        assert all(remotes[way].seen for way in ("well", "hangs", "asks", "drops")), "nobody spoke to a remote"
        fixture = fixtures["hangs"]
        late = fixture.goal()  # while the push hangs
        fixture.wait("a late one lands", lambda: fixture.records(late, "work.landed"), 15)
        [waits] = fixture.do("status.show")["waits"]
        assert "push of salvaged work to 127.0.0.1" in waits["what"] and waits["running"] and waits["since"], waits
        assert "WAITS FOR" in (text := status_text(fixture)) and "push of salvaged work" in text, text
        for way in ("refuses", "asks", "drops"):  # the daemon tries these pushes again; the local ref exists
            [waits] = fixtures[way].wait("the reason is told", lambda way=way: fixtures[way].do("status.show")["waits"])
            assert "which failed" in waits["what"] and not waits["running"], (way, waits)
        for way in ways:
            [clone] = state_of(fixtures[way]).glob("work/private/*")
            fixtures[way].wait("all of it is in our clone", lambda clone=clone: len(
                git(clone, "for-each-ref", "refs/overseer/salvage").splitlines()) >= count)
        bare = folder / "well/app.git"
        fixtures["well"].wait("the remote has everything", lambda: len(git(bare, "for-each-ref", "refs/overseer/salvage").splitlines()) == count)
        assert not fixtures["well"].do("status.show")["waits"]
        begin = time.monotonic()
        fixtures["hangs"].client.close()
        fixtures["hangs"].daemon.stop()
        assert time.monotonic() - begin < 6, "a push that hangs keeps the daemon from stopping"
        del fixtures["hangs"]
    finally:
        for fixture in fixtures.values():
            fixture.close()


@check
def a_source_that_hangs_is_named():
    """A source that hangs keeps every run from beginning, and status says so; the daemon answers everything else, and stops when asked."""
    remote = Remote("hangs", None)
    fixture = fixture_make("source", repo={"path": remote.url})
    try:
        goal = fixture.goal()
        [waits] = fixture.wait("status says what it waits for", lambda: fixture.do("status.show")["waits"])
        assert waits["what"].startswith("fetch from 127.0.0.1") and waits["goalId"] == goal and waits["running"], waits
        command = fixture.do("goal.create", title="a command", command="true")["goalId"]
        fixture.wait("a command is run", lambda: fixture.do("goal.show", goal=command)["state"] == "done", 5)
        assert remote.seen
    finally:
        begin = time.monotonic()
        fixture.close()
        assert time.monotonic() - begin < 6, "a fetch that hangs keeps the daemon from stopping"


# ---- a disk that becomes full ----

# With "greedy" in its prompt, the agent writes until the disk is full, and continues; otherwise it only works.
GREEDY = """import json, re, sys, time
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
print("begins", flush=True)
if "greedy" in told:
    time.sleep(1)
    with open("big.bin", "wb", buffering=0) as file:
        for i in range(3000):
            try:
                file.write(b"x" * 500000)
            except OSError:
                time.sleep(0.05)
            if SLOW:
                time.sleep(0.02)
for i in range(120):
    open("beat", "w").write(str(i))
    time.sleep(0.5)
"""


def agent_of(fixture, goal):
    """The pid of the agent that works for the goal, and the letter of its process state (T: frozen)."""
    tree = tree_of(fixture, goal)
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if tree and Path(os.readlink(path)) == tree and b"agent.py" in (path.parent / "cmdline").read_bytes():
                return int(path.parent.name), (path.parent / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            pass
    return None


def task(fixture, words):
    goal = fixture.do("goal.create", title=words)["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=[
        {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
        {"id": "T1", "parentId": "P1", "tier": "task", "name": words, "acceptanceCriteria": ["it is done"], "objective": words}])
    return goal


def small_disk(megabytes):
    folder = Path(tempfile.mkdtemp(prefix="disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)
    return folder


def disk_fixture(name, disk, slow, **repo):
    os.environ["OVERSEER_FOLDERS"] = str(disk)
    try:
        fixture = fixture_make(name, repo={"disk_least": 40, **repo}, sandbox={"mode": "off"}, supervision={"idle_after": "10m"}, people={"undo_for": "1s"})
    finally:
        del os.environ["OVERSEER_FOLDERS"]
    fixture.program.write_text(GREEDY.replace("SLOW", str(slow)))
    return fixture


def free_of(disk):
    about = os.statvfs(disk)
    return about.f_bavail * about.f_frsize / 2**20


def acknowledged(fixture, name):
    """Creates a goal; returns its id if the daemon acknowledged it, otherwise None."""
    _, result, error = timed(fixture, "goal.create", title=name, key=name)
    return result["goalId"] if result else (print("  not taken:", error["message"][:80]), None)[1]


def the_disk_fills(slow, remove=None):
    """`remove` names the defence that is switched off; this function must then fail."""
    disk = small_disk(200)
    fixture = disk_fixture(f"disk-{slow}", disk, slow, **({"disk_least": 0} if remove == "brake" else {}))
    kept = []
    try:
        other, greedy = task(fixture, "only work"), task(fixture, "be greedy")
        fixture.wait("both work", lambda: agent_of(fixture, greedy) and agent_of(fixture, other), 30)
        kept.append(acknowledged(fixture, "before"))
        fixture.wait("the mark is passed", lambda: free_of(disk) < 40, 40)
        passed = time.monotonic()
        fixture.wait("it is frozen", lambda: (agent_of(fixture, greedy) or (0, "T"))[1] == "T", 5)
        frozen = time.monotonic() - passed
        left = free_of(disk)
        assert frozen < 5, f"frozen after {frozen:.1f} s"
        kept += [acknowledged(fixture, f"while it is full {i}") for i in range(3)]
        [question] = fixture.wait("the inbox says what to do", lambda: [
            item for item in fixture.do("inbox.list")["items"] if item.get("goalId") == greedy and "frozen" in item.get("question", "")], 10)
        text = json.dumps(question)
        assert "MiB" in text and "Free space" in text and str(state_of(fixture)) in text and "go on" in text, text
        assert agent_of(fixture, other)[1] != "T", "one that does not grow was frozen, too"
        waits = fixture.do("status.show")["waits"]
        assert any("frozen" in wait["what"] and wait.get("goalId") == greedy for wait in waits), waits
        print(f"  frozen {frozen:.1f} s after the mark was passed, {left:.0f} MiB free", flush=True)
        return disk, fixture, greedy, other, [goal for goal in kept if goal]
    except BaseException:
        fixture.client.close()
        fixture.daemon.kill()
        for goal in (greedy, other):
            if found := agent_of(fixture, goal):
                os.kill(found[0], 9)
        raise


def disk_end(fixture, disk, kept):
    """Checks that no acknowledged goal is lost."""
    there = {goal["goalId"] for goal in fixture.do("goal.list", limit=200)["goals"]}
    assert set(kept) <= there and len(kept) >= 4, (kept, there)
    fixture.close()
    subprocess.run(["umount", "-l", disk], check=False)


@check
def a_disk_that_is_filled_freezes_who_fills_it():
    """The daemon freezes an agent that fills the disk within 5 s of passing the mark; a stop takes effect within 5 s on the full disk; no
    acknowledged write is lost, and the inbox explains the freeze."""
    disk, fixture, greedy, other, kept = the_disk_fills(slow=False)
    begin = time.monotonic()
    subprocess.run([OVERSEER, "--socket", fixture.daemon.socket, "stop", "--reason", "the disk"], check=True, capture_output=True, timeout=20)
    stopped = time.monotonic() - begin
    assert stopped < 5 and fixture.do("status.show")["daemon"]["stopped"], stopped
    fixture.wait("the other stands still", lambda: (agent_of(fixture, other) or (0, "T"))[1] == "T", 5)
    subprocess.run([OVERSEER, "--socket", fixture.daemon.socket, "resume"], check=True, capture_output=True, timeout=20)
    begin = time.monotonic()
    fixture.do("goal.cancel", goal=greedy, reason="it fills the disk")
    fixture.wait("its process is gone", lambda: not agent_of(fixture, greedy), 5)
    print(f"  stop {stopped:.1f} s, cancel and gone {time.monotonic() - begin:.1f} s", flush=True)
    disk_end(fixture, disk, kept)
    proof.passed("e2e", "blocks.disk", "FAIL-17")


@check
def a_frozen_run_goes_on_by_an_answer():
    """A frozen run stays frozen over a restart of the daemon, and resumes where it was once there is room and a person says so."""
    disk, fixture, greedy, other, kept = the_disk_fills(slow=True)
    pid = agent_of(fixture, greedy)[0]
    fixture.client.close()
    fixture.daemon.kill()
    fixture.begin()
    time.sleep(3)
    assert agent_of(fixture, greedy) == (pid, "T"), "a restart let it go on"
    [question] = [item for item in fixture.do("inbox.list")["items"] if "frozen" in item.get("question", "")]
    (tree_of(fixture, greedy) / "big.bin").unlink()  # a person makes room; the file is freed with its last descriptor
    os.truncate(f"/proc/{pid}/fd/3", 0)
    fixture.do("question.answer", goal=greedy, question=question["questionId"], answer="1")
    fixture.wait("it goes on", lambda: agent_of(fixture, greedy) and agent_of(fixture, greedy) == (pid, "S"), 60)
    disk_end(fixture, disk, kept)


@check_in_full
def without_the_brake_it_fails():
    """The same check with the brake switched off (repo.disk_least = 0): no run is frozen."""
    try:
        the_disk_fills(slow=False, remove="brake")
    except Broken:
        return
    raise AssertionError("the test does not see that the brake is gone")


# ---- many agents ----

CROWD = "[supervision]\nenabled = true\n" + MANY_COMMANDS
CROWDED = 270  # more than the daemon could start at once when stops waited behind starts


def crowd_make(folder):
    script, config = folder / "agent.sh", folder / "overseer.toml"
    script.write_text("#!/bin/sh\ncat >/dev/null\nexec sleep 1000\n")
    script.chmod(0o755)
    config.write_text(CROWD.replace("{script}", str(script)))
    daemon = Daemon(folder, f"sqlite:{folder}/overseer.db", environment={"OVERSEER_CONFIG": str(config)})
    daemon.start()
    daemon.wait_joined()
    return daemon


def crowd_call(client, method, **params):
    _, result, error = client.call(method, params)
    if error:
        raise Broken(f"{method}: {error}")
    return result


def crowd_goal(client):
    goal = crowd_call(client, "goal.create", title="work without an end")["goalId"]
    crowd_call(client, "plan.apply", goal=goal, nodes=[
        {"id": "P1", "tier": "phase", "name": "P1", "acceptanceCriteria": ["seen"]},
        {"id": "T1", "tier": "task", "parentId": "P1", "name": "T1", "acceptanceCriteria": ["seen"], "suggestedAgentId": "coder"}])
    return goal


def agents_at_work(folder):
    """The goals whose agents are running."""
    found = set()
    for place in (folder / "overseerd.state" / "runs").glob("*/run.json"):
        run = json.loads(place.read_text())
        if Path(f"/proc/{run.get('agent', 0)}").exists() or (place.parent / "hold.sock").exists():
            found.add(run["goal"])
    return found


@check
def many_starts_keep_no_stop_waiting():
    """A command reports nothing until it ends, so its start takes two minutes. With hundreds of such starts, all agents begin, and the daemon stops
    one of them at once."""
    folder = folder_make("crowd")
    daemon = crowd_make(folder)
    client = Client(daemon.socket)
    goals = [crowd_goal(client) for _ in range(CROWDED)]
    try:
        wait_until("most agents work", lambda: len(agents_at_work(folder)) >= CROWDED - 20, 100, 0.5)
        first = goals[0]
        crowd_call(client, "goal.cancel", goal=first, reason="not wanted any more")
        wait_until("one is stopped", lambda: first.removeprefix("goal_") not in " ".join(agents_at_work(folder)), 20, 0.2)
        wait_until("every other agent works", lambda: len(agents_at_work(folder)) == CROWDED - 1, 60, 0.5)
    finally:
        for goal in goals[1:]:
            client.call("goal.cancel", {"goal": goal, "reason": "the test is over"})
        wait_until("all are stopped", lambda: not agents_at_work(folder), 300, 0.5)
        client.close()
        daemon.stop(60)


def in_namespace():
    """Restarts this program in a mount namespace of its own, so that its mounts are visible to no other process."""
    if os.environ.get("OVERSEER_NAMESPACE") != "1":
        os.environ["OVERSEER_NAMESPACE"] = "1"
        how = "-m" if os.getuid() == 0 else "-rm"
        os.execvp("unshare", ["unshare", how, "--propagation", "private", sys.executable, *sys.argv])


if __name__ == "__main__":
    in_namespace()
    sys.exit(main("blocks", CHECKS))
