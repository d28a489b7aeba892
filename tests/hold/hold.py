#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a hold keeps its guarantees.
hold.py [--full | --brief] HOLD AGENT KILLS RECALL SEAMS VERSION_1 FREEZE [NAME …]: runs each test separately, in its own folder."""
import argparse
import errno
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import proof  # noqa: E402
from wire import *  # noqa: E402,F403

TIMEOUT_SCALE = float(os.environ.get("OVERSEER_TIMEOUT_SCALE", "1")) * 10


def soon(met, within=TIMEOUT_SCALE):
    """Waits for a condition that has to come true; returns whether it did."""
    end = time.monotonic() + within
    while not met():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def stat_of(pid):
    """(state, parent, start time), or None: there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1]), int(fields[19])


def gone(pid):
    found = stat_of(pid)
    return found is None or found[0] in "ZX"


def name_of(number):
    return hashlib.sha256(str(number).encode()).digest()[:16]


class World:
    """The fixture of one test. It ends the holds that the test started."""

    def __init__(self, options, place):
        self.hold, self.agent, self.kills, self.recall, self.seams, self.version_1, self.freeze = options.programs
        self.place, self.full = Path(place), options.full
        self.holds, self.count = [], 0
        self.sanitized = b"__asan_init" in Path(self.hold).read_bytes()

    def start(self, *argv, **how):
        self.count += 1
        hold = Hold(how.pop("program", self.hold), self.place / f"run{self.count}", *argv, **how)
        self.holds.append(hold)
        return hold

    def end(self):
        """Ends all holds, also those of a test that failed."""
        for hold in self.holds:
            pid = getattr(hold, "pid", None)
            if pid and not gone(pid) and f"{hold.folder}".encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGTERM)
        for hold in self.holds:
            if getattr(hold, "pid", None):
                soon(lambda: gone(hold.pid), 20)


# ---- starting ----

def begins_once(world):
    """A folder starts one run only: no second one beside its hold, and none after it."""
    hold = world.start("/bin/sh", "-c", "echo $WORD; pwd; umask; sleep 100", environment={"WORD": "only", "PATH": os.environ["PATH"]},
                       options=["--cwd", "/"])
    again = Hold(world.hold, hold.folder, "/bin/true", starts=False)
    assert again.code == 1 and "another hold uses this folder" in again.word, again.word
    visit = hold.visit(1, 0)
    visit.until(lambda: visit.data.count(b"\n") == 3)
    assert visit.data.split()[:2] == [b"only", b"/"], visit.data
    assert int(visit.data.split()[2], 8) == (mask := os.umask(0)), "the agent's mask is the starter's"
    os.umask(mask)
    environment = Path(f"/proc/{hold.agent}/environ").read_bytes()
    assert environment.count(b"=") == 2, environment
    fds = {os.readlink(f"/proc/{hold.agent}/fd/{fd}") for fd in os.listdir(f"/proc/{hold.agent}/fd")}
    assert all(name.startswith("pipe:") for name in fds) and len(fds) == 3, fds
    assert stat_of(hold.pid)[1] != os.getpid() and os.getsid(hold.pid) != os.getsid(0), "it left us"
    visit.stop(100)
    assert visit.collect() == 128 + signal.SIGTERM
    again = Hold(world.hold, hold.folder, "/bin/true", starts=False)
    assert again.code == 1 and "a run was already started in this folder" in again.word, again.word


def begins_with_an_error(world):
    """A start that fails says why and leaves nothing behind."""
    for argv, options, why in ((["/nowhere/x"], [], "cannot start the agent: No such file"),
                               (["/bin/true"], ["--cwd", "/nowhere"], "cannot enter --cwd"),
                               (["/etc"], [], "Permission denied")):
        hold = world.start(*argv, options=options, starts=False)
        assert hold.code == 1 and why in hold.word, hold.word
        assert not os.path.exists(hold.folder + "/hold.sock")
    run = subprocess.run([world.hold, "--cap", "1", "--dir", "x", "--", "true"], capture_output=True, text=True)
    assert run.returncode == 2 and "overseer-hold --dir" in run.stderr


# ---- access ----

def fence_is_kept(world):
    """A client with a lower fence than the highest one seen changes nothing, also on an old connection and after the hold's death."""
    hold = world.start("/bin/cat")
    first = hold.visit(5, 0)
    assert first.hello[0] == DONE
    stranger = hold.visit()
    assert stranger.ask(STOP, struct.pack("<I", 0)) == (UNGREETED, 0)
    assert stranger.look()["fence"] == 5, "a look needs no fence"
    second = hold.visit(7)
    assert second.hello[0] == DONE
    for kind, body in ((ATTACH, bytes(8)), (ACK, bytes(8)), (WRITE, bytes(16) + b"x"), (SIGNAL, struct.pack("<I", 9)), (FREEZE, b""),
                       (THAW, b""), (FREEZE_FOR, struct.pack("<IQ", PAUSE, 0)), (THAW_FOR, struct.pack("<I", PAUSE)), (STOP, bytes(4)), (COLLECT, b""), (CLOSE, b"")):
        assert first.ask(kind, body) == (STALE, 7), kind
    assert hold.visit(6).hello == (STALE, 7)
    assert second.write(name_of(1), b"mine\n") == WRITTEN and second.attach(0)[0] == DONE
    second.until(lambda: second.data == b"mine\n")
    assert not first.data, "nothing for the one before"
    second.stop(1000)
    second.collect()


def strangers_stay_out(world):
    """Only the hold's own user can use the socket, even when others can reach its file."""
    hold = world.start("/bin/sleep", "100")
    place = Path(hold.folder) / "hold.sock"
    assert place.stat().st_mode & 0o777 == 0o600 and Path(hold.folder).stat().st_mode & 0o777 == 0o700
    if os.geteuid() == 0:
        os.chmod(world.place, 0o777)
        for part in [place, *place.parents][:3]:
            os.chmod(part, 0o777)
        code = f"import os,socket; os.setuid(65534); s=socket.socket(socket.AF_UNIX); s.connect({str(place)!r}); print(len(s.recv(9)))"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
        assert run.stdout.strip() == "0" or "reset" in run.stderr.lower(), (run.stdout, run.stderr)
    visit = hold.visit(1)
    for broken in (struct.pack("<IB", 0, 1), struct.pack("<IB", 1 << 30, 4), struct.pack("<IB", 1, 99), struct.pack("<IBI", 5, 1, 1),
                   struct.pack("<IB", 1, ANSWER)):
        other = hold.visit()
        other.socket.sendall(broken)
        assert other.take() is None, broken
    crowd = [hold.visit() for _ in range(6)]
    assert all(one.look() for one in crowd)
    more = [Visit(hold.folder, timeout=5) for _ in range(4)]
    assert sum(one.socket.recv(1) == b"" for one in more[1:]) == 3, "one too many is turned away"
    visit.stop(100)
    assert visit.collect() == 128 + signal.SIGTERM


# ---- output ----

def output_is_held_back(world):
    """At its cap the hold stops reading and reports that; it drops nothing, and acknowledged output frees its space."""
    total, cap = 5 << 20, 1 << 20
    hold = world.start(world.agent, "pour", str(total), str(world.place / "heard"), options=["--cap", str(cap)])
    visit = hold.visit(1)
    visit.flags(AT_CAP)
    status = visit.look()
    assert status["end"] == cap and status["acked"] == 0
    time.sleep(0.1)
    assert visit.look()["end"] == cap, "it does not read on"
    visit.attach(0)
    while len(visit.data) < total:
        before = len(visit.data)
        visit.until(lambda: len(visit.data) > before)
        visit.ack(len(visit.data))
        assert os.stat(hold.folder + "/out.log").st_blocks * 512 <= cap + (256 << 10), "acknowledged bytes take no room"
    assert visit.attach(0)[0] == RANGE, "and cannot be had again"
    assert visit.attach(total + 1)[0] == RANGE
    visit.ask(CLOSE)
    assert visit.collect() == 7 and os.stat(hold.folder + "/out.log").st_size == total


def disk_is_full(world):
    """The hold reports a full disk as trouble; when there is space again, no byte is missing."""
    if os.geteuid() != 0:
        return "not root: no disk to fill"
    disk = world.place / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=True)
    try:
        hold = Hold(world.hold, disk / "run", world.agent, "pour", str(3 << 20), str(world.place / "heard"))
        world.holds.append(hold)
        visit = hold.visit(1, 0)
        assert soon(lambda: visit.look()["trouble"] == errno.ENOSPC)
        refused = next(n for n in range(1000) if visit.write(name_of(n), b"word\n") == NOT)
        assert visit.wrote(name_of(refused)) in (NOT, UNKNOWN), "it cannot be remembered, so it is not written"
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert visit.write(name_of(refused), b"word\n") == WRITTEN == visit.write(name_of(2000), b"word\n"), "asked for again it is written"
        assert visit.write(name_of(refused), b"word\n") == ALREADY
        visit.until(lambda: len(visit.data) == 3 << 20)
        assert visit.look()["trouble"] == 0
        visit.ask(CLOSE)
        assert visit.collect() == 7
    finally:
        world.end()
        subprocess.run(["umount", "-l", str(disk)], check=True)


def errors_keep_the_newest(world):
    """stderr is bounded: the hold keeps the newest part, and its status says that there was more."""
    hold = world.start("/bin/sh", "-c", "i=0; while [ $i -lt 30000 ]; do echo \"line $i of many, long enough to fill a file\" >&2; i=$((i+1)); done; echo last >&2")
    visit = hold.visit(1)
    visit.flags(ENDED)
    assert visit.look()["flags"] & LOST_ERRORS
    assert visit.collect() == 0
    kept = (Path(hold.folder) / "err.log").read_text()
    assert kept.endswith("last\n") and kept.startswith("[earlier output")
    assert sum(p.stat().st_size for p in Path(hold.folder).glob("err.log*")) <= 1 << 20


def leaves_with_what_was_said(world):
    """The hold keeps the exit status until a client collects it, which requires that all output was read; a dead hold's folder still has it."""
    hold = world.start("/bin/sh", "-c", "echo said; exit 9")
    visit = hold.visit(1)
    visit.flags(ENDED)
    assert visit.ask(COLLECT) == (EARLY, 5)
    visit.close()
    visit = hold.visit(2, 0)
    visit.until(lambda: visit.end == 5)
    assert visit.data == b"said\n" and visit.collect() == 9
    assert soon(lambda: gone(hold.pid)) and not os.path.exists(hold.folder + "/hold.sock")


# ---- input ----

def writes_once(world):
    """The hold writes each id once, however often clients request it; input that the agent does not read yet waits, up to a cap."""
    hold = world.start("/bin/cat")
    visit = hold.visit(1, 0)
    for n in range(50):
        assert visit.write(name_of(n), f"{n}\n".encode()) == WRITTEN
        assert visit.write(name_of(n), b"never\n") == ALREADY and visit.wrote(name_of(n)) == ALREADY
    assert visit.wrote(name_of(99)) == UNKNOWN
    visit.until(lambda: visit.data.count(b"\n") == 50)
    assert visit.data == b"".join(b"%d\n" % n for n in range(50))
    visit.ask(CLOSE)
    assert visit.write(name_of(100), b"x") == NOT
    visit.collect()
    deaf = world.start(world.agent, "deaf")
    visit = deaf.visit(1)
    visit.send(WRITE, name_of(1) + bytes(1 << 20))
    assert soon(lambda: visit.wrote(name_of(1)) == QUEUED)
    again = deaf.visit(1)
    again.send(WRITE, name_of(1) + b"never")  # waits for the same outcome
    for n in range(2, 5):
        visit.send(WRITE, name_of(n) + bytes(1 << 20))
    assert visit.write(name_of(5), bytes(1 << 20)) == FULL
    visit.send(SIGNAL, struct.pack("<I", signal.SIGKILL))
    again.until(lambda: again.receipts.get(name_of(1)) == MAYBE)
    visit.until(lambda: visit.receipts.get(name_of(4)) == NOT)
    assert visit.wrote(name_of(1)) == MAYBE
    assert visit.collect() == 128 + 9


def record_of(kind, detail, name):
    """A record as the hold writes it: kind, detail, id, and a checksum over all of it."""
    bytes_ = struct.pack("<BB2xI16sQ", kind, detail, 0, name, 0)
    check = 2166136261
    for byte in bytes_:
        check = (check ^ byte) * 16777619 % (1 << 32)
    return bytes_ + struct.pack("<I4x", check)


def memory_is_bounded(world):
    """P7: after very many writes the hold forgets the older half. From then on it never calls an id that it does not find unwritten, alive or
    dead; it writes new ids once."""
    folder = world.place / "full"
    folder.mkdir(mode=0o700)
    begun, settled = 4, 5
    before = b"".join(record_of(kind, 0, name_of(n)) for n in range(8191) for kind in (begun, settled))
    (folder / "hold.state").write_bytes(before)
    hold = Hold(world.hold, folder, "/bin/cat")
    world.holds.append(hold)
    visit = hold.visit(7, 0)
    assert visit.wrote(name_of(3)) == ALREADY and visit.wrote(name_of("new")) == UNKNOWN
    for n in range(9000, 9003):
        assert visit.write(name_of(n), f"{n}\n".encode()) == WRITTEN
        assert visit.write(name_of(n), b"never\n") == ALREADY
    size = (folder / "hold.state").stat().st_size
    assert size < 9000 * 40, f"hold.state has {size} bytes"
    assert visit.wrote(name_of(3)) == MAYBE and visit.wrote(name_of("new")) == MAYBE
    assert visit.wrote(name_of(8190)) == ALREADY and visit.wrote(name_of(9000)) == ALREADY
    visit.until(lambda: visit.data.count(b"\n") == 3)
    assert visit.data == b"9000\n9001\n9002\n", visit.data
    os.kill(hold.pid, signal.SIGKILL)
    soon(lambda: gone(hold.pid))
    for name, word in ((3, "maybe"), (9001, "already")):
        told = subprocess.run([world.recall, str(folder), name_of(name).hex()], capture_output=True, text=True, check=True).stdout
        assert told == f"dead fence 7 {word}\n", told


def terminal(world):
    """The agent gets a terminal of the requested size, and a client can resize it."""
    hold = world.start("/bin/sh", "-c", "trap 'stty size' WINCH; stty size; read a; tty; read b; echo over", options=["--pty", "80x24"])
    visit = hold.visit(1, 0)
    visit.until(lambda: b"24 80" in visit.data)
    assert visit.ask(RESIZE, struct.pack("<I", 132 << 16 | 43))[0] == DONE
    visit.write(name_of(1), b"one\n")
    visit.until(lambda: b"43 132" in visit.data and b"/dev/pts/" in visit.data)
    visit.write(name_of(2), b"two\n")
    assert visit.collect() == 0 and b"over" in visit.data
    pipes = world.start("/bin/sleep", "9").visit(1)
    assert pipes.ask(RESIZE, bytes(4)) == (NOBODY, 0)


# ---- the end ----

def brood_pids(file, count):
    assert soon(lambda: file.exists() and len(file.read_text().split()) == 2 * count)
    words = file.read_text().split()
    return {name: int(pid) for name, pid in zip(words[::2], words[1::2])}


def stop_ends_all(world):
    """A stop reaches every process below the hold: a child that ignores SIGTERM, and one that detached itself by forking twice."""
    for _ in range(20 if world.full else 3):
        file = world.place / f"brood{world.count}"
        hold = world.start(world.agent, "brood", str(file))
        pids = brood_pids(file, 6)
        bystander = subprocess.Popen(["/bin/sleep", "100"])
        visit = hold.visit(1)
        visit.stop(50)
        visit.flags(ENDED)
        assert all(gone(pid) for pid in pids.values()), pids
        assert bystander.poll() is None
        bystander.kill()
        bystander.wait()
        assert visit.collect() == 128 + signal.SIGTERM
    file = world.place / "bomb"
    hold = world.start(world.agent, "bomb", str(file))
    brood_pids(file, 1)
    visit = hold.visit(1)
    time.sleep(0.2)
    begun = time.monotonic()
    visit.stop(0)
    visit.flags(ENDED)
    assert time.monotonic() - begun < 2, "after three seconds they end by themselves: this was the hold"
    assert visit.collect() == 128 + signal.SIGKILL
    assert not left_of(world), "a child that escaped"


def left_of(world):
    """All processes that this test started, recognised by its folder in their arguments, except for the holds themselves."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if str(world.place).encode() in words and not words.startswith(world.hold.encode()):
                found.append(int(entry))
    return found


def only_when_told(world):
    """Processes that the agent started continue after the agent's own exit, until a client sends a stop."""
    file = world.place / "left"
    hold = world.start("/bin/sh", "-c", f"{world.agent} brood {file} & sleep 0.2; exit 4")
    pids = brood_pids(file, 6)
    visit = hold.visit(1)
    visit.flags(EXITED)
    assert not visit.status["flags"] & ENDED and visit.ask(COLLECT)[0] == EARLY
    time.sleep(0.2)
    assert not any(gone(pid) for pid in pids.values())
    visit.stop(0)
    assert visit.collect() == 4 and all(gone(pid) for pid in pids.values())


def dies_with_its_hold(world):
    """A hold that is killed takes its agent with it; its folder says what was written, and "maybe" where that cannot be known."""
    hold = world.start(world.agent, "deaf")
    visit = hold.visit(3)
    assert visit.write(name_of(1), b"whole") == WRITTEN
    visit.send(WRITE, name_of(2) + bytes(1 << 20))
    assert soon(lambda: visit.wrote(name_of(2)) == QUEUED)
    os.kill(hold.pid, signal.SIGKILL)
    assert soon(lambda: gone(hold.agent))
    again = Hold(world.hold, hold.folder, "/bin/true", starts=False)
    assert again.code == 1 and "was already started in this folder" in again.word
    for number, state in ((1, "already"), (2, "maybe"), (3, "unknown")):
        run = subprocess.run([world.recall, hold.folder, name_of(number).hex()],
                             capture_output=True, text=True, check=True)
        assert run.stdout.split() == ["dead", "fence", "3", state], run.stdout


def told_to_leave(world):
    """SIGTERM to a hold is a stop: every process below it ends, and its folder keeps the status."""
    file = world.place / "leave"
    hold = world.start("/bin/sh", "-c", f"trap '' TERM; {world.agent} brood {file} & wait; wait; wait")
    pids = brood_pids(file, 6)
    os.kill(hold.pid, signal.SIGTERM)
    assert soon(lambda: gone(hold.pid), 20) and all(gone(pid) for pid in pids.values())
    assert not os.path.exists(hold.folder + "/hold.sock")


# ---- freezing ----

def ticking(visit):
    """Whether the agent still writes output."""
    end = visit.look()["end"]
    time.sleep(0.15)
    return visit.look()["end"] > end


TICKS = "(while :; do echo child; sleep 0.01; done) & while :; do echo tick; sleep 0.01; done"


def freezes(world, options=()):
    """While frozen, no process below the hold writes a byte; after a thaw they continue from there."""
    hold = world.start("/bin/sh", "-c", TICKS, options=options)
    visit = hold.visit(1)
    assert soon(lambda: ticking(visit))
    for _ in range(3):
        assert visit.ask(FREEZE) == (DONE, 0)
        assert visit.look()["flags"] & FROZEN and not ticking(visit)
        assert visit.ask(THAW)[0] == DONE and ticking(visit)
    assert visit.ask(FREEZE) == (DONE, 0)
    visit.stop(2000)
    assert visit.collect() == 128 + signal.SIGTERM, "a stop reaches the frozen, and they may tidy up"


FROZEN_FLAGS = {MEASURE: FROZEN_MEASURE, PAUSE: FROZEN_PAUSE, DISK: FROZEN_DISK, ORPHAN: ORPHANED, OVERAGE: FROZEN_OVERAGE}


def frozen_for(visit):
    """The set of freeze reasons in the status."""
    flags = visit.look()["flags"]
    told = sum(reason for reason, flag in FROZEN_FLAGS.items() if flags & flag)
    assert bool(flags & FROZEN) == bool(told & ~ORPHAN), (flags, told)
    return told


def freezes_for_reasons(world, options=()):
    """The agent runs only while the set of reasons is empty, for random orders of freezing and thawing."""
    hold = world.start("/bin/sh", "-c", TICKS, options=options)
    visit, dice, reasons = hold.visit(1), random.Random(7), 0
    assert soon(lambda: ticking(visit))
    for step in range(200 if world.full else 40):
        reason = dice.choice([MEASURE, PAUSE, ORPHAN, DISK, OVERAGE])
        freeze = dice.random() < 0.4
        reasons = reasons | reason if freeze else reasons & ~reason
        assert (visit.freeze(reason, dice.choice([0, 300000])) if freeze else visit.thaw(reason)) == (DONE, 0)
        assert frozen_for(visit) == reasons
        assert soon(lambda: ticking(visit)) if reasons == 0 else not ticking(visit), (step, reasons)
    for bad in (0, 3, 32, 255):
        assert visit.freeze(bad) == (FAILED, errno.EINVAL) == visit.thaw(bad), bad
    assert frozen_for(visit) == reasons
    # A client of version 1 knows one reason: a pause.
    old = hold.visit(1, version=1)
    assert old.hello[0] == DONE and old.ask(FREEZE) == (DONE, 0)
    assert frozen_for(visit) & PAUSE and visit.freeze(DISK) == (DONE, 0)
    assert old.ask(THAW) == (DONE, 0) and frozen_for(visit) & (PAUSE | DISK) == DISK and not ticking(visit)
    visit.stop(2000)
    assert visit.collect() == 128 + signal.SIGTERM, "a stop reaches the frozen, and they may tidy up"


def measuring_freeze_expires(world):
    """An agent that a client froze to measure its tree resumes by itself when that client is gone. After a freeze for another reason it does not."""
    hold = world.start("/bin/sh", "-c", TICKS)
    look = hold.visit()
    assert soon(lambda: ticking(look))
    measurer = hold.visit(1)
    assert measurer.freeze(MEASURE, 700) == (DONE, 0)
    measurer.close()
    assert frozen_for(look) == MEASURE and not ticking(look)
    assert soon(lambda: frozen_for(look) == 0, 5) and ticking(look)
    second = hold.visit(1)
    assert second.freeze(MEASURE, 300) == (DONE, 0) and second.freeze(PAUSE) == (DONE, 0)
    assert soon(lambda: frozen_for(look) == PAUSE, 5), "the measurement's reason alone expires"
    assert not ticking(look)
    assert second.freeze(MEASURE, 300) == (DONE, 0) and second.freeze(MEASURE, 60000) == (DONE, 0)
    time.sleep(0.5)
    assert frozen_for(look) == MEASURE | PAUSE, "the newest time counts"
    assert second.thaw(MEASURE) == (DONE, 0) and second.thaw(PAUSE) == (DONE, 0) and ticking(look)
    second.stop(100)
    second.collect()


def older_hold_is_frozen(world):
    """The daemon's client freezes a hold of this version, and one of version 1, which knows one freeze without a reason."""
    words = ["freeze=2=0", "freeze=8=0", "thaw=2", "freeze=1=60000", "thaw=8"]
    for program, expected in ((world.hold, ["0 0 2", "0 0 10", "0 0 8", "0 0 9", "0 0 1"]),
                              (world.version_1, ["0 0 2", "0 0 2", "0 0 2", "refused 0 2", "0 0 0"])):
        hold = world.start("/bin/sh", "-c", TICKS, program=program)
        look = hold.visit()
        assert soon(lambda: ticking(look))
        run = subprocess.run([world.freeze, hold.folder, "1", *words], capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        assert run.stdout.splitlines() == [f"{word} {line}" for word, line in zip(words, expected)], run.stdout
        assert ticking(look) == (program == world.version_1), "a measurement never freezes what cannot thaw by itself"
        first = subprocess.run([world.freeze, hold.folder, "1", "freeze=1=60000"], capture_output=True, text=True, timeout=60)
        assert first.stdout == ("freeze=1=60000 0 0 1\n" if program == world.hold else f"freeze=1=60000 {FAILED} {errno.ENOTSUP} 0\n"), first
        visit = hold.visit(1, version=1)
        visit.stop(100)
        visit.collect()


def freezes_by_cgroup(world):
    """The same with a cgroup that the starter gave to the hold; the folder of the cgroup is removed with the hold."""
    tops = [place for place in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(place + "/cgroup.procs")]
    if not tops or not os.access(tops[0], os.W_OK):
        return "no cgroup of version 2 that may be written"
    place = f"{tops[0]}/hold-test-{os.getpid()}"
    freezes(world, ["--cgroup", place])
    assert soon(lambda: not os.path.exists(place))
    freezes_for_reasons(world, ["--cgroup", place])
    assert soon(lambda: not os.path.exists(place))


def orphan_stands_still(world):
    """P10: the hold freezes the agent when no client with a fence has spoken for so long, and thaws it with the next hello. A look is no renewal."""
    hold = world.start("/bin/sh", "-c", TICKS, options=["--orphan-after", "1"])
    visit = hold.visit(1)
    for _ in range(8):
        time.sleep(0.2)
        visit.ack(0)
    assert not visit.look()["flags"] & ORPHANED, "it was spoken to"
    look = hold.visit()
    assert soon(lambda: look.look()["flags"] & ORPHANED, 5) and not ticking(look)
    assert hold.visit(1).hello[0] == DONE
    assert not look.look()["flags"] & ORPHANED and ticking(look)
    visit.stop(100)
    visit.collect()


def leaves_when_nobody_comes(world):
    """After everything has ended and no client connects, the hold exits and leaves its results in its folder. A connected client keeps it alive."""
    hold = world.start("/bin/sh", "-c", "cat >/dev/null; echo done", options=["--ended-after", "1"])
    visit = hold.visit(1, 0)
    assert visit.write(name_of(1), b"x\n") == WRITTEN and visit.ask(CLOSE)[0] == DONE
    visit.until(lambda: visit.data == b"done\n")
    time.sleep(2.5)
    assert not gone(hold.pid), "it exited although a client is connected"
    visit.close()
    assert soon(lambda: gone(hold.pid), 10), "it stays although nobody comes"
    assert Path(hold.folder, "out.log").read_bytes() == b"done\n" and not os.path.exists(hold.folder + "/hold.sock")
    run = subprocess.run([world.recall, hold.folder, name_of(1).hex()], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["dead", "fence", "1", "already"], run.stdout
    works = world.start("/bin/sh", "-c", "sleep 4", options=["--ended-after", "1"])
    time.sleep(2.5)
    assert not gone(works.pid), "it went although its agent works"


def orphan_is_renewed(world):
    """P10: with --orphan-at only a renewal keeps the agent running: no other message does, and neither a hello nor an expired renewal thaws it.
    A hold that starts too late freezes the agent from the beginning."""
    def boot_ms():
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000000
    hold = world.start("/bin/sh", "-c", TICKS, options=["--orphan-at", str(boot_ms() + 1500)])
    visit = hold.visit(1)
    for _ in range(10):
        visit.renew(boot_ms() + 1000)
        time.sleep(0.2)
    assert not visit.look()["flags"] & ORPHANED and ticking(visit), "it was renewed"
    for _ in range(10):
        visit.ack(0)
        time.sleep(0.2)
    assert visit.look()["flags"] & ORPHANED and not ticking(visit), "words renewed it"
    again = hold.visit(1)
    assert again.hello[0] == DONE
    again.renew(boot_ms() - 1)
    assert again.look()["flags"] & ORPHANED and not ticking(again), "it was thawed without a renewal"
    again.renew(boot_ms() + 60000)
    assert soon(lambda: not again.look()["flags"] & ORPHANED, 2) and ticking(again)
    again.stop(0)
    again.collect()
    late = world.start("/bin/sh", "-c", TICKS, options=["--orphan-at", str(boot_ms() - 1000)])
    look = late.visit(1)
    assert soon(lambda: look.look()["flags"] & ORPHANED, 2) and not ticking(look), "it started too late, and runs"
    look.stop(0)
    look.collect()


# ---- resource use ----

def status_number(pid, name):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def idle_costs_nothing(world):
    """An idle hold uses under 2 MiB, also after much data went through it, and does not wake up in 5 seconds."""
    hold = world.start(world.agent, "pour", str(20 << 20), str(world.place / "heard"))
    visit = hold.visit(1, 0)
    while len(visit.data) < 20 << 20:
        before = len(visit.data)
        visit.until(lambda: len(visit.data) > before)
        visit.ack(len(visit.data))
    visit.write(name_of(1), bytes(1 << 19) + b"\n")
    visit.look()
    time.sleep(0.3)
    switches = status_number(hold.pid, "voluntary_ctxt_switches")
    time.sleep(5)
    woken = status_number(hold.pid, "voluntary_ctxt_switches") - switches
    resident = status_number(hold.pid, "VmRSS")
    print(f"  hold: {resident} KiB resident, {woken} wake-ups in 5 s")
    assert woken == 0
    assert world.sanitized or resident < 2048, resident
    visit.ask(CLOSE)
    visit.collect()


def hundred_are_cheap(world):
    """A hundred held processes that write a line each second use under 5 % of a core."""
    if world.sanitized and not world.full:
        return "a figure of a plain build"
    holds = [world.start("/bin/sh", "-c", "while read x; do echo heard; done") for _ in range(100)]
    visits = [hold.visit(1, 0) for hold in holds]

    def used():
        return sum(int(Path(f"/proc/{hold.pid}/schedstat").read_text().split()[0]) for hold in holds) / 1e9

    before, begun = used(), time.monotonic()
    time.sleep(5)
    idle = (used() - before) / (time.monotonic() - begun)
    before, begun = used(), time.monotonic()
    for round_ in range(5):
        for number, visit in enumerate(visits):
            assert visit.write(name_of(1000 * round_ + number), b"x\n") == WRITTEN
            visit.ack(len(visit.data))
        time.sleep(max(0, begun + round_ + 1 - time.monotonic()))
    busy = (used() - before) / (time.monotonic() - begun)
    print(f"  hundred: {100 * idle:.2f} % of a core idle, {100 * busy:.2f} % with a line a second each")
    assert idle < 0.05 and (busy < 0.05 or world.sanitized)
    for visit in visits:
        visit.stop(0)
        visit.collect()


# ---- reused pids ----

def reused_pid_is_spared(world):
    """The hold does not touch a process that has the pid of an ended process of the hold."""
    if os.geteuid() != 0:
        return "not root: pids cannot be chosen"
    inside = [sys.executable, __file__, world.hold, world.agent, world.kills, world.recall, world.seams,
              world.version_1, world.freeze, "--inside",
              str(world.place / "inside")]
    run = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", *inside, *(["--full"] if world.full else [])],
                         capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    print("  " + run.stdout.strip())


def pid_take(pid):
    """Starts a process with exactly this pid; None: the pid is in use."""
    try:
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
    except OSError:
        return None
    found = subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    if found.pid == pid:
        return found
    found.kill()
    found.wait()
    return None


def untouched(decoy):
    """The decoy was neither ended nor stopped."""
    return decoy.poll() is None and stat_of(decoy.pid)[0] not in "TtZX"


def decoys_inside(world):
    """Runs in its own pid namespace: children of the agent die, decoys of the test take their pids, while the hold stops, freezes and
    signals. The hold may never touch a decoy."""
    rounds, met = 60 if world.full else 8, 0
    for turn in range(rounds):
        file = world.place / f"short{turn}"
        hold = world.start("/bin/sh", "-c", f"while :; do for i in 1 2 3 4 5 6 7 8; do sh -c 'echo $$ >>{file}' & done; wait; done")
        visit = hold.visit(1)
        assert soon(lambda: file.exists())
        decoys, over = {}, threading.Event()

        def lay():
            dice = random.Random(turn)
            while not over.is_set() and len(decoys) < 200:
                top = stat_of(hold.agent) and status_last_pid()
                for pid in range(max(2, (top or 50) - dice.randrange(1, 40)), top or 50):
                    if stat_of(pid) is None and pid not in decoys:
                        found = pid_take(pid)
                        if found:
                            decoys[pid] = found
                        break

        layer = threading.Thread(target=lay)
        layer.start()
        time.sleep(0.1)
        for _ in range(5):
            visit.ask(FREEZE)
            visit.ask(THAW)
        visit.stop(20)
        visit.flags(ENDED)
        over.set()
        layer.join()
        visit.collect()
        for pid, decoy in decoys.items():
            assert untouched(decoy), (pid, decoy.poll(), stat_of(pid))
            decoy.kill()
            decoy.wait()
        met += len(set(decoys) & {int(word) for word in file.read_text().split()})
    # The agent itself: a decoy takes its pid while the hold still keeps its status (the process that it left has its own group).
    hold = world.start("/bin/sh", "-c", "setsid sleep 1000 & sleep 0.2; exit 0")
    visit = hold.visit(1)
    visit.flags(EXITED)
    decoy = pid_take(hold.agent)
    assert decoy, "the pid of the agent is free"
    assert visit.ask(SIGNAL, struct.pack("<I", signal.SIGKILL)) == (NOBODY, 0)
    visit.stop(0)
    visit.flags(ENDED)
    assert untouched(decoy)
    decoy.kill()
    decoy.wait()
    visit.collect()
    for seam in ("tree-listed", "tree-pinned"):
        walk_meets_another(world, seam)
    print(f"decoys: {met + 3} with pids that had been ours, 0 harmed")


def walk_meets_another(world, seam):
    """In the middle of the walk over the processes, the child that was just listed, or pinned, ends, and another process gets its pid."""
    file, armed = world.place / f"{seam}.child", world.place / f"{seam}.armed"
    armed.write_text(f"stop {seam} 2\n")  # the first one is the agent itself
    hold = world.start(world.agent, "nurse", str(file), program=world.seams,
                       environment={**os.environ, "OVERSEER_SEAM_FILE": str(armed)})
    child = brood_pids(file, 1)["child"]
    visit = hold.visit(1)
    visit.send(STOP, struct.pack("<I", 60000))
    assert soon(lambda: stat_of(hold.pid)[0] == "T"), "it is stopped in its walk"
    os.kill(child, signal.SIGKILL)
    assert soon(lambda: stat_of(child) is None)
    decoy = pid_take(child)
    assert decoy, "the pid of the child is free"
    os.kill(hold.pid, signal.SIGCONT)
    visit.look()
    assert untouched(decoy), "it was signalled"
    visit.stop(0)
    visit.collect()
    assert untouched(decoy)
    decoy.kill()
    decoy.wait()


def status_last_pid():
    return int(Path("/proc/sys/kernel/ns_last_pid").read_text())


# ---- kills ----

def killed_at_any_byte(world):
    """Readers are killed at random bytes while the agent writes: every byte is seen once and in order, every word is sent once."""
    kills, size = ("10000", "100000000") if world.full else ("200", "5000000")
    for seed in ("1", "2"):
        run = subprocess.run([world.kills, world.hold, world.agent, str(world.place / f"killed{seed}"), kills, size, seed],
                             capture_output=True, text=True, timeout=3600)
        print("  " + run.stdout.strip().splitlines()[-1])
        assert run.returncode == 0, run.stderr


# ---- all tests ----

LONG = ("told_to_leave", "idle_costs_nothing", "hundred_are_cheap")  # they wait for seconds: not in every check
STORIES = {  # the requirement rows that each test proves
    begins_once: "", begins_with_an_error: "", fence_is_kept: "", strangers_stay_out: "", output_is_held_back: "", disk_is_full: "",
    errors_keep_the_newest: "", leaves_with_what_was_said: "", writes_once: "ASSIGN-14.b", memory_is_bounded: "", terminal: "", stop_ends_all: "",
    only_when_told: "", dies_with_its_hold: "", told_to_leave: "", freezes: "", freezes_for_reasons: "",
    measuring_freeze_expires: "", older_hold_is_frozen: "", freezes_by_cgroup: "", leaves_when_nobody_comes: "", orphan_stands_still: "", orphan_is_renewed: "",
    idle_costs_nothing: "", hundred_are_cheap: "", reused_pid_is_spared: "", killed_at_any_byte: "",
}


def story_run(story, options):
    with tempfile.TemporaryDirectory(prefix="hold-") as place:
        world = World(options, place)
        begun = time.monotonic()
        try:
            skipped = story(world)
        finally:
            world.end()
        if skipped:
            print(f"skip {story.__name__}: {skipped}")
            return
        print(f"ok   {story.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
        proof.passed("hold", story.__name__, STORIES[story])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs=7, metavar="PROGRAM", type=os.path.abspath)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--brief", action="store_true", help="without what only waits")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        os.mkdir(options.inside)
        decoys_inside(World(options, options.inside))
        return 0
    failed = 0
    chosen = [story for story in STORIES
              if (not options.names or story.__name__ in options.names) and not (options.brief and story.__name__ in LONG)]
    for story in chosen:
        try:
            story_run(story, options)
        except Exception as error:
            traceback.print_exc()
            print(f"FAILED {story.__name__}: {error}", flush=True)
            failed += 1
    print(f"hold: {len(chosen)} stories, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
