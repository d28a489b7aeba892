#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do bytes reach an agent exactly once, and does the daemon survive everything that an agent writes?

agent_bytes.py [--only NAME] [--full]: the real daemon and real holds. The agents are small programs that speak the protocol of a driver and
count what they receive. The test stops and kills the daemon at named places between a decision and its receipt, cuts its connection in the
middle of a frame, and fills the hold's queue.
"""
import json
import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import proof
from care import holds_of, fixture_make, main
from world import BUILD, OVERSEERD, OVERSEERD_SEAMS, seam_arm

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hold"))
import wire  # noqa: E402

CHECKS = []
FULL = "--full" in sys.argv  # every place with every driver, three times; otherwise each place with one driver
TIMES = 3 if FULL else 1


def check(function):
    CHECKS.append(function)
    return function


# ---- agents: an agent writes each line that it receives into `told` before it acts on it ----

BEGIN = """import json, os, sys
def say(**what): sys.stdout.buffer.write(json.dumps(what).encode().replace(b"CAFE", b"caf\\xe9") + b"\\n"); sys.stdout.flush()
def done():
    open("made", "w").write("made\\n")
    return "It is made.\\n```json\\n" + json.dumps({"overseerUpdate": {"status": "done", "summary": "made"}}) + "\\n```\\n"
told = open("told", "a")
for line in sys.stdin:
    if not line.strip(): continue
    told.write(line); told.flush(); os.fsync(told.fileno())
    got = json.loads(line)
"""

ACP = BEGIN.replace("json.dumps(what)", 'json.dumps({"jsonrpc": "2.0", **what})') + """
    method = got.get("method")
    if method == "initialize":
        say(id=got["id"], result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    elif method == "session/new":
        say(id=got["id"], result={"sessionId": "s1"})
    elif method == "session/prompt":
        prompt = got["id"]
        BEFORE
        say(id="ask-1", method="session/request_permission", params={"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": "rm WHAT"},
            "options": [{"optionId": "y", "kind": "allow_once", "name": "yes"}, {"optionId": "n", "kind": "reject_once", "name": "no"}]})
    elif method in ("session/set_mode", "session/load"):
        say(id=got["id"], result={})
    elif got.get("id") == "ask-1":
        say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": done()}}})
        say(id=prompt, result={"stopReason": "end_turn"})
    elif "id" in got and method:
        say(id=got["id"], error={"code": -32601, "message": "no"})
"""

CLAUDE = BEGIN + """
    kind = got.get("type")
    if kind == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": got["request_id"], "response": {}})
    elif kind == "user":
        say(type="command_lifecycle", command_uuid=got["uuid"], state="started")
        BEFORE
        say(type="control_request", request_id="ask-1", request={"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm WHAT"}})
    elif kind == "control_response" and got["response"]["request_id"] == "ask-1":
        say(type="assistant", message={"content": [{"type": "text", "text": done()}]})
        say(type="result", subtype="success", result="made")
"""

DRIVERS = {"acp": (ACP, {"driver": "acp", "kind": "goose"}), "claude": (CLAUDE, {"driver": "claude", "kind": "claude"})}


def answers_in(told):
    """How often the permission request was answered, in either protocol."""
    return sum(one.get("id") == "ask-1" or one.get("response", {}).get("request_id") == "ask-1" for one in map(json.loads, told.splitlines()))


class Bytes:
    """One fixture whose daemon can be stopped at a seam."""

    def __init__(self, driver, name, before="pass", what="-rf", seams=True):
        program, agent = DRIVERS[driver]
        self.fixture = fixture_make(f"bytes-{driver}-{name}", agent={**agent, "asks": True}, people={"undo_for": "0s"})
        self.fixture.program.write_text(program.replace("BEFORE", before).replace("WHAT", what))
        self.seam = self.fixture.folder / "seam"
        if seams:
            self.fixture.daemon.stop()
            place = self.fixture.folder / "bin"
            place.mkdir()
            for source, target in ((OVERSEERD_SEAMS, "overseerd"), (BUILD / "overseer-hold", "overseer-hold"), (BUILD / "overseer", "overseer")):
                shutil.copy(source, place / target)
            self.fixture.daemon.command[0] = str(place / "overseerd")
            self.fixture.daemon.environment["OVERSEER_SEAM_FILE"] = str(self.seam)
            self.fixture.begin()
        self.goal = self.fixture.goal()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.fixture.close()

    def state(self):
        return self.fixture.daemon.socket.with_suffix(".state")

    def told(self):
        found = list(self.state().glob("work/worktrees/*/tree/told"))
        return found[0].read_text() if found else ""

    def ask_waits(self, not_again=""):
        """Waits for a question whose id differs from `not_again`, and returns it."""
        return self.fixture.wait("a person is asked", lambda: [one for one in self.fixture.do("inbox.list")["items"]
                                                             if one["questionId"] != not_again])[0]

    def answer(self, answer="allow it once", not_again=""):
        question = self.ask_waits(not_again)
        self.fixture.do("question.answer", goal=self.goal, question=question["questionId"], answer=answer)

    def arm(self, line):
        seam_arm(self.seam, line)

    def killed_at_seam(self):
        self.fixture.wait("the daemon stands at the seam", self.fixture.daemon.is_stopped, 30)
        self.fixture.daemon.kill()
        self.arm("")
        self.fixture.begin()

    def answered_once(self, within=60):
        self.fixture.wait("the answer has arrived", lambda: answers_in(self.told()) > 0, within)
        self.fixture.wait("it has landed", lambda: self.fixture.records(self.goal, "work.landed"), within)
        time.sleep(1.5)  # a second answer would arrive within this time
        assert answers_in(self.told()) == 1, self.told()
        assert len(list(self.state().glob("runs/*"))) == 1, "another run was begun"
        accepted = self.fixture.records(self.goal, "dispatch.accepted")
        assert len(accepted) == 2, f"the task and the answer are known to have arrived, each once: {accepted}"
        assert not self.fixture.daemon.promises_broken(), self.fixture.daemon.promises_broken()


def at_once(one, names):
    """Runs `one` for each name in a daemon of its own, with --full for each driver; most of the time is waiting."""
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(one, driver, name) for n, name in enumerate(names)
                     for driver in (DRIVERS if FULL else [list(DRIVERS)[n % 2]])]:
            done.result()


# ---- from the daemon to an agent ----

PLACES = ("write-added", "write-durable", "write-sent", "write-receipt")


@check
def an_answer_outlives_the_daemon():
    """A4: an answer arrives once although the daemon is killed before the answer is durable, before it is sent, before its receipt, or before the
    receipt counts."""
    def one(driver, place):
        with Bytes(driver, place) as it:
            it.ask_waits()
            it.arm(f"stop {place} 1")
            it.answer()
            it.killed_at_seam()
            it.answered_once()
    at_once(one, PLACES * TIMES)
    proof.passed("e2e", "bytes.answer-outlives", "RECOVER-10")


@check
def an_answer_is_sent_again():
    """A4: if an answer cannot be sent, or the connection breaks in the middle of its frame, the same daemon sends it again."""
    def one(driver, seam):
        with Bytes(driver, seam) as it:
            it.ask_waits()
            pid = it.fixture.daemon.pid
            it.arm(f"fail {seam} 1")
            it.answer()
            it.answered_once()
            assert it.fixture.daemon.pid == pid
    at_once(one, ("write-refused", "held-half") * TIMES)
    proof.passed("e2e", "bytes.answer-sent-again", "RECOVER-10 ASSIGN-14.b")


def agent_pid(it):
    [run] = it.state().glob("runs/*")
    with_hold = wire.Visit(str(run))
    try:
        return run, with_hold.look()["agent_pid"]
    finally:
        with_hold.close()


def full_one(driver, name):
    with Bytes(driver, name, seams=False) as it:
        it.ask_waits()
        run, agent = agent_pid(it)
        tree = tree_of(agent)
        fence = json.loads((run / "run.json").read_text())["fence"]
        for pid in tree:
            os.kill(pid, signal.SIGSTOP)
        filler = wire.Visit(str(run), fence, version=1)
        for n in range(5):
            filler.send(wire.WRITE, bytes([n] * 16) + b"\n" * (1 << 20))
        filler.until(lambda: wire.FULL in filler.receipts.values())
        assert filler.look()["queued"] > 3 << 20
        it.answer()
        time.sleep(3)
        assert answers_in(it.told()) == 0
        for pid in tree:
            os.kill(pid, signal.SIGCONT)
        it.answered_once()
        filler.close()


@check
def an_answer_waits_for_a_full_hold():
    """A4: if the hold's queue is full (HOLD_FULL), the answer arrives once when there is room."""
    at_once(full_one, ["full"] * TIMES)
    proof.passed("e2e", "bytes.answer-full", "RECOVER-10")


def tree_of(pid):
    """The process and all its descendants."""
    found = [pid]
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += tree_of(int(child))
    return found


DEAF = """for n in range(60000): say(id=f"deaf-{n}", method="x", type="control_request", request_id=f"deaf-{n}", request={"subtype": "other"})
        import time; time.sleep(600)"""


@check
def one_that_reads_nothing_is_broken_off():
    """A4: an agent sends requests and reads no answer: the answers that wait for it are bounded, the daemon tells people, and nothing of the run
    stays."""
    def one(driver, name):
        with Bytes(driver, name, before=DEAF, seams=False) as it:
            it.fixture.wait("people are told", lambda: "does not read its input" in json.dumps(it.fixture.do("why.show", of=it.goal, limit=100)))
            sizes = [path.stat().st_size for path in it.state().glob("runs/*/drive.state")]
            assert max(sizes) < 2 * 3 << 20, sizes  # the file has two slots
            it.fixture.do("goal.cancel", goal=it.goal)
            it.fixture.wait("nothing of it is left", lambda: not holds_of(it.fixture), 20)
            it.fixture.daemon.alive()
    at_once(one, ["deaf"])
    proof.passed("e2e", "bytes.deaf", "")


# ---- from an agent to the daemon ----

@check
def a_broken_promise_ends_the_run():
    """A5: a driver breaks a promise while it reads: the turn of that run fails, the daemon tells people why, the work continues in another run, and
    the daemon process stays the same."""
    def one(driver, name):
        with Bytes(driver, name) as it:
            first, pid = it.ask_waits()["questionId"], it.fixture.daemon.pid
            it.arm(f"fail {name} 1")
            it.answer()
            it.fixture.wait("the failure is on the record",
                          lambda: "its output could not be read" in json.dumps(it.fixture.do("why.show", of=it.goal, limit=100)))
            it.fixture.wait("another run has begun", lambda: len(list(it.state().glob("runs/*"))) == 2
                          and len(list(it.state().glob("runs/*/run.json"))) == 1)
            it.answer(not_again=first)
            it.fixture.wait("it has landed", lambda: it.fixture.records(it.goal, "work.landed"))
            assert it.fixture.daemon.pid == pid and it.fixture.daemon.alive()
    at_once(one, ["driver-call", "drive-json"])
    proof.passed("e2e", "bytes.broken-driver", "RECOVER-10")


BAD = r"""sys.stdout.buffer.write(b'{"type":"assistant","message":{"content":[{"type":"text","text":"caf\xe9 \xff\xfe"}]},"id":"x\xc3","method":"\xff"}\n'
        b'\xff\xfe\x00 no json at all\n{"method":"y","id":"\xed\xa0\x80"}\n{"id":"ask-0","type":"control_request","request_id":"\xff","request":{"subtype":"other"}}\n'); sys.stdout.flush()"""


@check
def bad_bytes_are_no_lack_of_memory():
    """A5: an agent writes invalid UTF-8 inside and outside of JSON: the daemon still puts the agent's request before a person, and survives."""
    def one(driver, name):
        with Bytes(driver, name, before=BAD, what="CAFE", seams=False) as it:
            pid = it.fixture.daemon.pid
            assert "rm caf\ufffd" in json.dumps(it.ask_waits(), ensure_ascii=False)
            it.answer()
            it.answered_once()
            assert it.fixture.daemon.pid == pid
    at_once(one, ["bad"])
    proof.passed("e2e", "bytes.bad-utf8", "RECOVER-10")


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--full"]
    sys.exit(main("agent_bytes", CHECKS))
