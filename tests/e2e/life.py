#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how the daemon works with its service manager, its watchdog files, its log, and a store that becomes unavailable.

  life.py                       everything on SQLite
  life.py --engine postgres     the spool with a server that is stopped
"""
import argparse
import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import proof
from away import Outage
from world import OVERSEERD, OVERSEERD_SEAMS, Broken, Client, Daemon, Sqlite, Unreachable, folder_make, seam_arm, store_make, under_postgres, wait_until


def expect(holds, what):
    if not holds:
        raise Broken(what)


def state_of(daemon):
    return daemon.socket.with_suffix(".state")


def read_json(path):
    try:
        return json.loads(Path(path).read_text())
    except (FileNotFoundError, ValueError):
        return None


def call(daemon, method, **params):
    client = Client(daemon.socket, 30)
    try:
        return client.call(method, params)
    finally:
        client.close()


def lines_of(daemon):
    return [json.loads(line) for line in daemon.log.read_text().splitlines()]


# ---- files ----

def registration(folder):
    """WATCH-01: the registration exists before the first cycle, is valid, has a new id at each start, and is deleted at a clean end."""
    daemon = Daemon(folder, f"sqlite:{folder}/reg.db", "reg")
    names = set()
    for _ in range(2):
        daemon.start()
        daemon.wait_joined()
        entry = read_json(state_of(daemon) / "daemon.json")
        expect(entry and entry["pid"] == daemon.pid, f"the registration is {entry}")
        expect(abs(entry["start_time_unix"] - time.time()) < 20, f"it began at {entry['start_time_unix']}")
        expect(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", entry["instance_id"]),
               f"{entry['instance_id']} is no random UUID")
        expect("log_file" in entry, "the registration names no log")
        proof.passed("e2e", "life: the registration is there when the daemon can be asked", "WATCH-01.a")
        names.add(entry["instance_id"])
        beat = wait_until("there is a heartbeat", lambda: read_json(state_of(daemon) / "auto.heartbeat"), 8, bound=True)
        expect(beat["instance_id"] == entry["instance_id"], "the heartbeat is somebody else's")
        expect(os.stat(state_of(daemon) / "daemon.json").st_mode & 0o077 == 0, "others can read the registration")
        daemon.stop()
        expect(not (state_of(daemon) / "daemon.json").exists(), "the registration stays after the end")
    expect(len(names) == 2, "two starts have one name")
    proof.passed("e2e", "life: another UUID at each start", "WATCH-01.b")


class Silted:
    """A daemon whose log pipe is not read: every thread that writes a log line blocks, as on a disk that hangs."""

    def __init__(self, folder):
        self.daemon = Daemon(folder, f"sqlite:{folder}/silt.db", "silt")
        read, write = os.pipe()
        self.read = read
        self.daemon.process = subprocess.Popen(self.daemon.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=write)
        os.close(write)

    def fill(self):
        """Fills the log: the daemon logs a failed command with all its details."""
        for i in range(400):
            client = Client(self.daemon.socket, 0.5)
            try:
                client.call("goal.create", {"title": f"silt {i}", "command": "printf '%01000d' 7; false"})
            except Unreachable:
                return
            finally:
                client.close()


def heartbeat(folder):
    """WATCH-02, WATCH-03: the heartbeat continues while log writes block, and shows that the loops do not advance."""
    silted = Silted(folder)
    daemon = silted.daemon
    wait_until("it answers", lambda: daemon.health().get("joined"), 15)
    path = state_of(daemon) / "auto.heartbeat"
    first = wait_until("there is a heartbeat", lambda: read_json(path), 8, bound=True)
    later = wait_until("the heartbeat is written anew", lambda: (read_json(path) or first)["timestamp_unix"] >
                       first["timestamp_unix"] and read_json(path), 8, bound=True)
    expect(later["timestamp_unix"] - first["timestamp_unix"] <= 6, "it is written more than every five seconds")
    expect(later["cycle"] > first["cycle"] and later["io_cycle"] > first["io_cycle"], "the loops do not advance")
    for _ in range(20000):  # the file is complete at any moment
        expect(read_json(path), "half a heartbeat could be read")
    silted.fill()

    def hangs():
        beat = read_json(path)
        return beat and beat["timestamp_unix"] - min(beat["io_cycle_at_unix"], beat["cycle_at_unix"]) >= 8 and beat
    beat = wait_until("the heartbeat tells of a loop that hangs", hangs, 60, 0.2)
    again = wait_until("and it goes on", lambda: (read_json(path) or beat)["timestamp_unix"] > beat["timestamp_unix"] and
                       read_json(path), 8, bound=True)
    expect(again["io_cycle"] == beat["io_cycle"] or again["cycle"] == beat["cycle"], "nothing hangs, after all")
    os.close(silted.read)  # now log writes fail instead of blocking, and the daemon continues
    wait_until("it goes on by itself", lambda: daemon.health().get("joined"), 20)
    daemon.process.terminate()
    expect(daemon.process.wait(20) == 0, "it does not end cleanly")
    proof.passed("e2e", "life heartbeat beside a log that hangs", "WATCH-02 WATCH-03 STORE-17")


# ---- the service manager ----

class Manager:
    """Receives the notifications for a service manager."""

    def __init__(self, folder):
        self.path = Path(folder) / "notify.sock"
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.socket.settimeout(0.1)
        self.heard = []

    def hears(self, text):
        try:
            while True:
                self.heard.append(self.socket.recv(4096).decode())
        except TimeoutError:
            pass
        return any(text in message for message in self.heard)


def manager(folder):
    """G-26: the daemon reports ready when it answers requests, feeds the watchdog while its loops run, and reports stopping when it gets a signal to
    stop."""
    heard = Manager(folder)
    daemon = Daemon(folder, f"sqlite:{folder}/manager.db", "manager",
                    environment={"NOTIFY_SOCKET": str(heard.path), "WATCHDOG_USEC": "1000000"})
    daemon.start()
    wait_until("READY is said", lambda: heard.hears("READY=1"), 15)
    expect(daemon.health(), "it said READY before anybody could ask")
    heard.heard.clear()
    wait_until("the watchdog is fed", lambda: heard.hears("WATCHDOG=1"), 3, bound=True)
    goal = call(daemon, "goal.create", title="what is it told?", command="env | grep -c NOTIFY_SOCKET; true")[1]["goalId"]
    wait_until("the command has ended", lambda: call(daemon, "goal.show", goal=goal)[1]["state"] == "done", 15)
    expect("NOTIFY_SOCKET" not in json.dumps(call(daemon, "goal.show", goal=goal)[1]["effects"]), "a child was handed it")
    daemon.stop()
    expect(heard.hears("STOPPING=1"), "STOPPING is not said")


def activation(folder):
    """Socket activation: the daemon answers a client that connected before the daemon started."""
    path = Path(folder) / "activated.sock"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen(16)
    early = Client(path, 20)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(early.request("GET", "/healthz")))
    asking.start()
    script = f'exec 3<&{listening.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"'
    daemon = subprocess.Popen(["bash", "-c", script, "-", str(OVERSEERD), "--socket", str(path), "--store",
                               f"sqlite:{folder}/activated.db"], pass_fds=[listening.fileno()],
                              stderr=subprocess.DEVNULL)
    asking.join(20)
    expect(answers, "whoever called before the daemon was there is not answered")
    daemon.terminate()
    expect(daemon.wait(20) == 0, "it does not end cleanly")
    expect(path.exists(), "the daemon removed a socket that is not its own")
    listening.close()


# ---- logs ----

def logs(folder):
    """OBSERVE-01, OBSERVE-02, OBSERVE-09: JSON lines with level, component, ids and the incident flag."""
    daemon = Daemon(folder, f"sqlite:{folder}/logs.db", "logs")
    daemon.start()
    daemon.wait_joined()
    goal = call(daemon, "goal.create", title="fails", command="echo it is broken; exit 3")[1]["goalId"]
    wait_until("it has failed", lambda: call(daemon, "goal.show", goal=goal)[1]["state"] == "needs you", 15)
    status, result, error = call(daemon, "overseer.tick")
    expect(status == 200 and result["didWork"] in (True, False), f"tick answers {status} {result} {error}")
    status, result, error = call(daemon, "overseer.wake")
    expect(status == 200 and result["ok"], f"wake answers {status} {result} {error}")
    daemon.stop()
    lines = lines_of(daemon)
    for line in lines:
        expect(set(line) >= {"at", "level", "component", "text"}, f"{line} lacks something")
        expect(line["level"] in ("debug", "info", "warning", "error"), f"{line} has no level")
        expect(set(line) <= {"at", "level", "component", "text", "goal", "effect", "trace", "detail", "incident"},
               f"{line} has what is not declared")
    begins = [i for i, line in enumerate(lines) if line["text"] == "tick begins"]
    ends = [i for i, line in enumerate(lines) if line["text"].startswith("tick ends")]
    expect(begins and ends and begins[0] < ends[0], "the tick is not logged")
    chosen = [line for line in lines if line["text"] == "starts a command"]
    expect([line.get("goal") for line in chosen] == [goal], f"what was chosen is not logged: {chosen}")
    failures = [line for line in lines if line.get("incident")]
    expect(len(failures) == 1 and failures[0]["goal"] == goal and "status 3" in failures[0]["text"] and
           "it is broken" in failures[0]["detail"] and "exit 3" in failures[0]["detail"], f"the failure reads {failures}")
    proof.passed("e2e", "life logs", "OBSERVE-01 OBSERVE-02 OBSERVE-09 API-04")


def log_file(folder):
    """The daemon writes the log as text to a file, and opens the file again on SIGHUP after it was moved."""
    path = Path(folder) / "own.log"
    daemon = Daemon(folder, f"sqlite:{folder}/file.db", "file",
                    options=["--log-file", str(path), "--log-format", "text"])
    daemon.start()
    daemon.wait_joined()
    wait_until("the log has a line", lambda: " info    ledger_thread: joined the store" in path.read_text(), 5)
    expect(read_json(state_of(daemon) / "daemon.json")["log_file"] == str(path), "the registration names another log")
    path.rename(path.with_suffix(".1"))
    daemon.signal(signal.SIGHUP)
    wait_until("the log begins anew", path.exists, 5)
    daemon.stop()
    expect("stopped" in path.read_text(), "the rest is not in the new file")


# ---- the spool ----

def reports_of(daemon, goal):
    return call(daemon, "goal.show", goal=goal)[1]["reports"]


def spool(folder, engine):
    """The daemon accepts reports while the store is unavailable; they survive a kill -9, and each arrives once. The daemon sets aside an
    incomplete entry at the end of the spool."""
    store = store_make(engine, folder, "spool")
    daemon = Daemon(folder, store.uri, "spool")
    daemon.start()
    daemon.wait_joined()
    goal = call(daemon, "goal.create", title="reports")[1]["goalId"]
    call(daemon, "goal.report", goal=goal, text="before", key="again")
    spooled = 1
    with Outage(store):
        def away():
            health = daemon.health()
            return health and not health["ok"]
        if engine == "sqlite":  # the daemon notices only when it writes
            threading.Thread(target=lambda: quietly(daemon, "goal.pause", goal=goal), daemon=True).start()
        wait_until("the daemon notices", away, 40)
        for i in range(20):
            status, result, error = call(daemon, "goal.report", goal=goal, text=f"report {i}")
            expect(status == 202 and result.get("spooled") is True, f"report {i}: {status} {result} {error}")
            spooled += 1
        for text in ("other words", "other words", "before"):  # M1: only the store knows whether a key was used
            status, result, error = call(daemon, "goal.report", goal=goal, text=text, key="again")
            expect(status == 202, f"a key again: {status} {result} {error}")
        spooled += 1
        status, _, error = call(daemon, "goal.report", goal=goal)
        expect(error and error["data"]["code"] == "E_INVALID", "what is not valid is spooled")
        if engine == "postgres":
            daemon.kill()
            path = state_of(daemon) / "spool"
            whole = path.read_bytes()
            path.write_bytes(whole + whole[:-3])  # all entries a second time, the last one incomplete
            daemon.start()
            wait_until("it is there again", daemon.health, 15)
    daemon.wait_joined(within=40, also_well=True)
    wait_until("every report has arrived", lambda: reports_of(daemon, goal) >= spooled, 30)
    time.sleep(1.5)
    expect(reports_of(daemon, goal) == spooled, f"{reports_of(daemon, goal)} of {spooled} reports are there")
    status, _, error = call(daemon, "goal.report", goal=goal, text="third words", key="again")
    expect(error and error["data"]["code"] == "E_CONFLICT", f"a key that was used: {error}")
    wait_until("the spool is empty", lambda: (state_of(daemon) / "spool").stat().st_size == 0, 10)
    daemon.stop()
    if engine == "postgres":
        kept = list(state_of(daemon).glob("spool.kept.*"))
        expect(len(kept) == 1 and kept[0].read_bytes() in whole, f"the torn end is not kept: {kept}")
        expect(any(line.get("incident") and "the end of the spool is damaged" in line["text"] for line in lines_of(daemon)),
               "the torn end is not told")
    expect(not daemon.promises_broken(), f"{daemon.promises_broken()}")


def forwarded(folder):
    """A daemon acknowledges reports for a goal of another host while that host does not run. Two of them have one key and different bodies: both
    arrive, each once. Only the host of the goal can look up the key."""
    store = store_make("postgres", folder, "forwarded")
    owner, other = (Daemon(folder, store.uri, name, options=["--host", str(i)]) for i, name in ((1, "owner"), (2, "other")))
    for daemon in (owner, other):
        daemon.start()
        daemon.wait_joined()
    goal = call(owner, "goal.create", title="reports")[1]["goalId"]
    os.kill(owner.process.pid, signal.SIGSTOP)
    try:
        for text in ("some words", "other words", "other words"):
            status, result, error = call(other, "goal.report", goal=goal, text=text, key="again")
            expect(status == 202 and result.get("forwarded") is True, f"forwarded: {status} {result} {error}")
        waiting = int(store.run("SELECT count(*) FROM inbox")[0][0])
    finally:
        os.kill(owner.process.pid, signal.SIGCONT)
    expect(waiting == 2, f"{waiting} reports are forwarded, not 2")
    wait_until("what was forwarded is applied", lambda: int(store.run("SELECT count(*) FROM inbox")[0][0]) == 0, 30)
    expect(reports_of(owner, goal) == 2, f"{reports_of(owner, goal)} of 2 reports are there")
    for daemon in (owner, other):
        daemon.stop()
        expect(not daemon.promises_broken(), f"{daemon.promises_broken()}")


def beside(folder):
    """After a daemon was killed, a maintenance verb reads its store: the daemon does not treat that as damage at its next start."""
    store = Sqlite(folder)
    daemon = Daemon(folder, store.uri)
    for number, verb in enumerate((["export", folder / "document"], ["backup", folder / "copy"])):
        daemon.start()
        daemon.wait_joined()
        for _ in range(5):
            call(daemon, "goal.create", title="a goal")
        daemon.kill()
        done = subprocess.run([OVERSEERD, "--maintain", *verb, "--store", store.uri], capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0, f"{verb[0]}: {done.stderr}")
        daemon.start()
        daemon.wait_joined()
        expect(daemon.health()["ok"] and len(call(daemon, "goal.list")[1]["goals"]) == 5 * number + 5, f"{verb[0]}: {daemon.health()}")
        daemon.stop()


def elsewhere(folder):
    """L2: verbs that read a store report a missing store, and do not create one."""
    missing = folder / "missing.db"
    for verb in (["verify-log"], ["backup", folder / "copy"], ["retain"], ["export", folder / "document"], ["forget", "goal_1"]):
        done = subprocess.run([OVERSEERD, "--maintain", *verb, "--store", f"sqlite:{missing}"], capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 1 and f"there is no store at {missing}" in done.stderr, f"{verb[0]}: {done.returncode} {done.stdout} {done.stderr}")
        expect(not [*folder.iterdir()], f"{verb[0]} has made {[*folder.iterdir()]}")


def one_store(folder):
    """M8: a second daemon cannot open a store that is in use, under any name of the store, also after the lock file was removed."""
    first = Daemon(folder, f"sqlite:{folder}/store.db")
    first.start()
    first.wait_joined()
    call(first, "goal.create", title="a goal")
    (folder / "link.db").symlink_to(folder / "store.db")
    (folder / "again").symlink_to(folder)
    for name, words in (("link.db", "in use"), ("again/store.db", "in use"), ("store.db", "in use")):
        refused(folder, folder / name, words)
    (folder / "store.db.lock").unlink()
    for name in ("store.db", "link.db"):
        refused(folder, folder / name, "in use")
    os.link(folder / "store.db", folder / "hard.db")
    refused(folder, folder / "hard.db", "in use")
    proof.passed("e2e", "life: the lock of a daemon that lives holds, by any name of the store", "STORE-07.b")
    first.kill()
    for name in ("hard.db", "store.db"):
        refused(folder, folder / name, "hard link")
    (folder / "hard.db").unlink()
    second = Daemon(folder, f"sqlite:{folder}/link.db", "second")
    second.start()
    second.wait_joined()
    expect(len(call(second, "goal.list")[1]["goals"]) == 1, "a goal is missing")
    second.stop()
    proof.passed("e2e", "life: the lock of a daemon that was killed is taken over", "STORE-07.a")


def refused(folder, path, words):
    daemon = Daemon(folder, f"sqlite:{path}", "refused")
    try:
        daemon.start()
        daemon.wait_joined()
    except Broken:
        text = daemon.log.read_text() if hasattr(daemon, "log") else ""
        expect(words in text, f"{path}: {text[-400:]}")
        return
    daemon.kill()
    raise Broken(f"a second daemon began on {path}")


def checkpoints(folder):
    """If the daemon cannot open a store for checkpoints, it logs that once and tries again, so that the write-ahead log does not grow for ever."""
    seams = folder / "seams"
    seams.write_text("always checkpoint-open 1\n")
    daemon = Daemon(folder, f"sqlite:{folder}/store.db", program=OVERSEERD_SEAMS, environment={"OVERSEER_SEAM_FILE": str(seams)})
    daemon.start()
    daemon.wait_joined()
    for i in range(40):
        call(daemon, "goal.create", title=f"{i} " + "x" * 150)
    wait_until("it is said", lambda: "cannot be opened for checkpoints" in daemon.log.read_text(), 10)
    time.sleep(2.5)
    expect(daemon.log.read_text().count("cannot be opened for checkpoints") == 1, "it is said more than once")
    main_file, wal = folder / "store.db", folder / "store.db-wal"
    before = main_file.stat().st_size
    expect(wal.stat().st_size > 100000, f"the log has {wal.stat().st_size} bytes")
    seam_arm(seams, "")
    wait_until("the log is brought into the store", lambda: main_file.stat().st_size > before, 15)
    expect("can be opened for checkpoints again" in daemon.log.read_text(), "that it is open again is not said")
    daemon.stop()
    proof.passed("e2e", "life checkpoints", "")


def log_bounded(folder):
    """While a reader keeps a transaction open, the write-ahead log grows; after its end, the daemon truncates the log within seconds, while clients
    write."""
    most = 64 << 20
    daemon = Daemon(folder, f"sqlite:{folder}/store.db")
    daemon.start()
    daemon.wait_joined()
    wal = folder / "store.db-wal"
    reader = sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM goal").fetchone()
    ending, errors = threading.Event(), []

    def write(n):
        client = Client(daemon.socket, 30)
        goal = client.call("goal.create", {"title": f"goal {n}"})[1]["goalId"]
        while not ending.is_set():
            _, _, error = client.call("goal.report", {"goal": goal, "text": "x" * 1000})
            if error:
                errors.append(error)
                break
        client.close()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    try:
        wait_until("the log grows", lambda: wal.stat().st_size > most + (4 << 20) or errors, 60)
        reader.close()
        wait_until("the log is cut", lambda: wal.stat().st_size < most // 4 or errors, 15)
    finally:
        ending.set()
        for writer in writers:
            writer.join()
    expect(not errors, errors[:1])
    daemon.stop()
    proof.passed("e2e", "life log_bounded", "")


def examined(folder):
    """After a clean end the daemon examines the store while it works, also while clients write to the same goals all the time; after any other end it
    examines the store before it works."""
    store, said = folder / "store.db", "was examined, no damage found"
    daemon = Daemon(folder, f"sqlite:{store}")

    def begin(change=lambda: None):
        if daemon.process and daemon.process.poll() is None:
            daemon.stop()
        change()
        daemon.log.write_text("")
        daemon.start()
        daemon.wait_joined()
        return json.loads(Path(f"{store}.lock").read_text())

    lock = begin()
    expect("left" not in lock, "a store that is open is called left")
    goals = [call(daemon, "goal.create", title=f"goal {i}")[1]["goalId"] for i in range(1500)]
    begin()
    ending, errors = threading.Event(), []

    def write(n):
        client = Client(daemon.socket)
        for i in itertools.count():
            if ending.is_set():
                break
            _, _, error = client.call("goal.report", {"goal": goals[i % 20], "text": f"{n} {i}"})
            if error:
                errors.append(error)
                break
        client.close()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for writer in writers:
        writer.start()
    try:
        wait_until("the store is examined", lambda: said in daemon.log.read_text() or daemon.health().get("safeMode"), 30)
    finally:
        ending.set()
        for writer in writers:
            writer.join()
    expect(not errors and not daemon.health()["safeMode"], f"beside writers: {errors[:1]} {daemon.log_tail()}")
    begin(lambda: os.utime(store))  # the file was changed: the daemon examines it before it works, and not again
    time.sleep(1.6)
    expect(said not in daemon.log.read_text(), "a store that was changed is examined beside the work")
    daemon.kill()
    begin()
    time.sleep(1.6)
    expect(said not in daemon.log.read_text(), "a store whose daemon was killed is examined beside the work")
    begin()
    wait_until("after a clean end it is beside the work again", lambda: said in daemon.log.read_text(), 15)
    daemon.stop()
    proof.passed("e2e", "life examined", "")


def quietly(daemon, method, **params):
    try:
        call(daemon, method, **params)
    except Unreachable:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--only", help="one of the parts")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    parts = [registration, heartbeat, manager, activation, logs, log_file, beside, elsewhere, one_store, checkpoints, log_bounded, examined] if options.engine == "sqlite" else [forwarded]
    failed = 0
    for part in [*parts, lambda folder: spool(folder, options.engine)]:
        name = getattr(part, "__name__", "")
        name = "spool" if name == "<lambda>" else name
        if options.only and options.only != name:
            continue
        try:
            part(folder_make(f"life-{name}"))
            print(f"ok life {name} {options.engine}", flush=True)
        except Broken as error:
            failed += 1
            print(f"BROKEN life {name} {options.engine}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
