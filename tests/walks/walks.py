#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the two walks of ARCHITECTURE.md: through which files a durable write and a line of an agent pass.

walks.py [--stacks] [--only write|line]: builds the daemon and overseer-hold with -finstrument-functions in build/walks, runs them in a
scratch folder, records every call while one `goal.report` comes through the Unix socket, and while one line of an agent (ACP, held by
overseer-hold) is read, decided and acknowledged. Ends with 1 if a walk is longer than its limit, or if ARCHITECTURE.md describes another.
--stacks also prints each moment with the functions on its call stack.

How it counts:

- Only files of src/ count. base/, model/ and sys/ are what every file is built on (encoding, arenas, clocks, the crash guard, the log): they
  are no steps of a walk, and are printed on a line of their own. A call through the crash guard is a call by the file that uses it.
- A walk is a list of moments (WALKS): the calls in which the message is read, changes its form, passes to another owner, thread or process,
  is decided, stored, released, or acknowledged. All of them must be in the recording, in this order. Every file that has a function on the
  call stack of a moment is on the **spine**, also one that only passes the message on. Two of the moments are checks, of the caller and of
  the decision: their file counts, in brackets.
- A function that libuv or libmicrohttpd calls is the first on its thread. Of functions that waited before the message came (main, the loop
  of a thread), only the innermost takes it, and counts.
- What is on the stack of no moment is a question that was asked and answered on the way: is the ledger in safe mode, what is stored of this
  goal. Such files are in the second number, **all files touched**: every file of which a thread of the walk called a function between the
  first moment and the last.
- A file is **entered** where it stands in the printed walk: when it is called from another file, and the walk was in another file before. A
  return is no entry, and two calls into a file with no other file between them are one. The walk also prints which files are called more often than that.

What other rules would give: with main() at the bottom of the stacks, the line of an agent has two files more (hold/main.c, daemon/main.c). With
the turn in which the ledger asks the store for the goal as a moment, it enters ledger/ledger.c and ledger/batch.c three times.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import time
from collections import Counter, namedtuple
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HERE = TOP / "build/walks"
TRACE = HERE / "trace"
os.environ["OVERSEER_BUILD"] = str(HERE / "tree")
sys.path.insert(0, str(TOP / "tests/e2e"))
from care import fixture_make  # noqa: E402
from world import TIMEOUT_SCALE, Broken, wait_until  # noqa: E402

HELPERS = ("base/", "model/", "sys/")
LIBRARY = "/"  # stands for functions in the headers of libraries
LOOPS = ("libuv", "libmicrohttpd")
ENTERED_MOST = 2
Walk = namedtuple("Walk", "name limit moments")
# under: a function that called it, directly or not; check: it asks a question that can end the walk
Moment = namedtuple("Moment", "what function file under check", defaults=(None, False))

THROUGH_THE_LEDGER = [
    Moment("a copy without secrets", "input_make", "ledger/input.c", "QUEUED"),
    Moment("queued", "queue_put", "engine/queue.c", "QUEUED"),
    Moment("taken by the ledger thread", "ledger_offer", "ledger/ledger.c"),
    Moment("decided by its rule", "RULE", "FILE"),
    Moment("checked for lost writes", "step_check", "core/step_check.c", check=True),
    Moment("written into the transaction", "sqlite_commit", "store/sqlite/sqlite_commit.c"),
    Moment("the commit stands", "commit_release", "ledger/batch.c"),
    Moment("its answer is released", "ledger_answer", "ledger/ledger_state.c", "commit_release"),
]


def through_the_ledger(queued, rule, file):
    names = {"QUEUED": queued, "RULE": rule, "FILE": file}
    return [moment._replace(function=names.get(moment.function, moment.function), file=names.get(moment.file, moment.file),
                            under=names.get(moment.under, moment.under)) for moment in THROUGH_THE_LEDGER]


WALKS = [
    Walk("A durable write, from the socket to the answer", 22, [
        Moment("the head has come", "http_request_handle", "http/http_dispatch.c"),
        Moment("the caller is known", "http_authenticate", "http/auth.c", check=True),
        Moment("the body has come", "body_add", "http/http_dispatch.c"),
        Moment("JSON-RPC is read", "rpc_read", "http/rpc.c"),
        Moment("the operation begins", "call_start", "engine/call.c"),
        Moment("the operation makes a signal", "signal", "ops/goal/goal_report.c"),
        *through_the_ledger("write_send", "rule_report", "core/report.c"),
        Moment("the call is answered", "call_written", "engine/call.c"),
        Moment("the connection is woken", "answer_came", "http/http_call.c"),
        Moment("the answer is printed", "rpc_answered", "http/rpc.c"),
        Moment("the bytes go to the socket", "response_send", "http/http_request.c")]),
    Walk("A line of an agent, from its hold to the acknowledgement", 26, [
        Moment("read from the agent", "output_read", "hold/output.c"),
        Moment("logged", "spill_write", "hold/output.c"),
        Moment("sent to the daemon", "client_fill", "hold/client.c"),
        Moment("a frame has come", "bytes_come", "drivers/hold_client.c"),
        Moment("it is for this run", "heard_data", "runs/run_drive.c"),
        Moment("the driver reads it", "acp_feed", "drivers/drive_acp.c"),
        Moment("a turn has ended", "turn_end", "drivers/drive_turn.c"),
        Moment("an update in its words", "update_signal", "runs/words/agent_words.c"),
        *through_the_ledger("words_offer", "rule_agent_update", "core/agent_update.c"),
        Moment("posted to the loop", "loop_answer_post", "runs/loop_post.c"),
        Moment("the run knows that it is kept", "kept_home", "runs/run_file.c"),
        Moment("drive.state is written", "saved_write", "runs/run_file.c"),
        Moment("the acknowledgement is sent", "held_ack", "drivers/hold_client.c"),
        Moment("it reaches the hold", "client_event", "hold/client.c"),
        Moment("acknowledged", "output_acked", "hold/output.c")]),
]

# ---- building and recording ----


def run(*words):
    done = subprocess.run([str(word) for word in words], cwd=TOP, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f"{words[0]}: {(done.stdout + done.stderr)[-3000:]}")


def build():
    tree, runtime = HERE / "tree", HERE / "trace.o"
    TRACE.mkdir(parents=True, exist_ok=True)
    run("cc", "-O2", "-g", "-c", f'-DTRACE_DIR="{TRACE}"', TOP / "tests/walks/trace.c", "-o", runtime)
    if not (tree / "build.ninja").exists():
        run("meson", "setup", tree, "-Dbuildtype=debug", "-Doptimization=0", "-Dc_args=-finstrument-functions",
            f"-Dc_link_args={runtime}", f"-Dcpp_link_args={runtime}")
    for program in ("overseerd", "overseer-hold"):
        (tree / program).unlink(missing_ok=True)  # linked again: it may have an older trace.o
    run("ninja", "-C", tree, "overseerd", "overseer-hold", "overseer")


class Recording:
    def __init__(self, number):
        self.number = number

    def switch(self, number):
        with open(TRACE / "on", "r+b") as on:  # never cut short: the programs have it mapped
            on.write(struct.pack("I", number))

    def __enter__(self):
        for old in TRACE.glob(f"{self.number}.*"):
            old.unlink()
        self.switch(self.number)
        return self

    def __exit__(self, *_):
        self.switch(0)


# ---- reading a recording ----

class Process:
    """A process of the recording, while it lives."""

    def __init__(self, pid):
        self.program = os.readlink(f"/proc/{pid}/exe")
        self.libraries = []  # [(from, to)] of the loops
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if any(name in line for name in LOOPS):
                self.libraries.append(tuple(int(part, 16) for part in line.split()[0].split("-")))

    def is_loop(self, address):
        return any(begin <= address < end for begin, end in self.libraries)


class Call:
    """One call. at: its time, 0 if it began before the recording; over: the call that made it; by_loop: a library of LOOPS called it."""

    def __init__(self, thread, address, at, over, by_loop):
        self.thread, self.address, self.at, self.over, self.by_loop = thread, address, at, over, by_loop
        self.function = self.file = None

    def stack(self):
        return [*(self.over.stack() if self.over else []), self]

    def walked(self):
        """The part of its stack that has to do with the message."""
        stack = self.stack()
        begin = max((i for i, one in enumerate(stack) if one.by_loop), default=0)
        waited = [i for i, one in enumerate(stack) if not one.at]
        return stack[max([begin, *waited[-1:]]):]


def thread_read(path, process):
    """The calls of one thread. Rows: time, kind (1 on the stack before, 2 call, 3 return), address of the function, of the call."""
    data = path.read_bytes()
    base, count, lost = struct.unpack_from("QQQ", data)
    if lost:
        raise Broken(f"{lost} calls had no room in the recording")
    calls, top = [], None
    for at, kind, address, site in struct.iter_unpack("QQQQ", data[24:24 + 32 * count]):
        if kind == 3:
            while top and top.address != address - base:  # left by longjmp
                top = top.over
            top = top.over if top else None
        else:
            top = Call(path.name, address - base, 0 if kind == 1 else at, top, process.is_loop(site))
            calls.append(top)
    return calls


def symbols_of(program, addresses):
    """{address: (function, file below src/)}"""
    asked = sorted(addresses)
    names = subprocess.run(["addr2line", "-f", "-e", program, *map(hex, asked)], capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for at, function, place in zip(asked, names[::2], names[1::2]):
        path = os.path.normpath(place.rsplit(":", 1)[0])
        if path.startswith("/usr/include/"):
            found[at] = function, LIBRARY
        elif "/src/" in path:
            found[at] = function, path.rsplit("/src/", 1)[-1]
        else:
            raise Broken(f"{hex(at)} of {program} is not in src/: {function} {place}")
    return found


def recording_read(number):
    """All calls of a recording in the order of time."""
    calls = []
    for pid in {path.name.split(".")[1] for path in TRACE.glob(f"{number}.*")}:
        if not Path(f"/proc/{pid}").exists():
            continue  # a child that ended
        process = Process(pid)
        of_pid = [call for path in TRACE.glob(f"{number}.{pid}.*") for call in thread_read(path, process)]
        names = symbols_of(process.program, {call.address for call in of_pid})
        for call in of_pid:
            call.function, call.file = names[call.address]
        calls += of_pid
    return sorted(calls, key=lambda call: call.at)


# ---- the walk ----

def is_helper(file):
    return file.startswith((*HELPERS, LIBRARY))


def moments_find(walk, calls):
    """[(moment, call)]: each the first call of its function after the moment before it."""
    found, place = [], 0
    for moment in walk.moments:
        for i in range(place, len(calls)):
            call = calls[i]
            if call.at and (call.function, call.file) == (moment.function, moment.file) and \
                    (not moment.under or any(one.function == moment.under for one in call.stack())):
                found.append((moment, call))
                place = i
                break
        else:
            raise Broken(f"not in the recording: {moment.what} ({moment.function} in {moment.file}, after {found[-1][0].what if found else 'the start'})")
    return found


class Spine:
    """visits: [[file, checks]], the walk as it is printed; calls: how often a file is called from another."""

    def __init__(self, found):
        self.visits, self.calls, before = [], Counter(), {}  # before: the stack of the last moment of each thread
        for moment, call in found:
            known = {id(one) for one in before.get(call.thread, [])}
            last = None
            for one in call.walked():
                if is_helper(one.file):
                    continue
                if id(one) not in known and one.file != last:
                    self.enter(one.file, moment.check and one is call)
                last = one.file
            before[call.thread] = call.walked()
        self.files = list(dict.fromkeys(file for visit in self.visits for file in (visit[0], *visit[1])))
        self.entered = Counter(visit[0] for visit in self.visits)

    def enter(self, file, check):
        self.calls[file] += 1
        if check:
            self.visits[-1][1].append(file)
        elif not self.visits or self.visits[-1][0] != file:
            self.visits.append([file, []])

    def text(self):
        return " → ".join(file + "".join(f" [{check}]" for check in checks) for file, checks in self.visits)


def passing(found, calls):
    """Functions on the spine that call one function of another file and do nothing else."""
    below = {}
    for call in calls:
        if call.over:
            below.setdefault(id(call.over), []).append(call)
    moments = [call for _, call in found]
    on = {id(one): one for call in moments for one in call.walked() if not is_helper(one.file) and one not in moments}
    only = [one for one in on.values() if len(below.get(id(one), [])) == 1 and below[id(one)][0].file != one.file]
    return list(dict.fromkeys(f"{one.function} ({one.file})" for one in only))


def counted(counter, least):
    return ", ".join(f"{file} {count}" for file, count in counter.most_common() if count >= least) or "none"


def walk_show(walk, spine, found, calls):
    """Prints the walk, and returns what is too long."""
    helpers = sorted({one.file for _, call in found for one in call.walked() if is_helper(one.file)})
    threads, first, last = {call.thread for _, call in found}, found[0][1].at, found[-1][1].at
    touched = {call.file for call in calls if call.thread in threads and first <= call.at <= last and call.file != LIBRARY} | set(spine.files)
    asked = sorted(file for file in touched if file not in spine.files and not is_helper(file))
    print(f"\n{walk.name}\n  {spine.text()}")
    print(f"  spine: {len(spine.files)} files; at most {walk.limit}")
    print(f"  entered more than once: {counted(spine.entered, 2)}; at most {ENTERED_MOST}")
    print(f"  called from other files more than {ENTERED_MOST} times: {counted(spine.calls, ENTERED_MOST + 1)}")
    print(f"  of base, model and sys on the same stacks ({len(helpers)}): {', '.join(helpers)}")
    print(f"  functions that only pass it on: {', '.join(passing(found, calls)) or 'none'}")
    print(f"  all files touched: {len(touched)}: spine {len(spine.files)}, base, model and sys {len([1 for file in touched if is_helper(file)])}, "
          f"only asked {len(asked)}: {', '.join(asked)}")
    return [f"{walk.name}: {len(spine.files)} files, at most {walk.limit}"] * (len(spine.files) > walk.limit) + \
        [f"{walk.name}: {file} is entered {n} times, at most {ENTERED_MOST}" for file, n in spine.entered.items() if n > ENTERED_MOST]


def page_names(walk):
    """The files that ARCHITECTURE.md names in the first sentence about a walk."""
    text = (TOP / "ARCHITECTURE.md").read_text()
    begin = text.index(f"**{walk.name.split(', ')[0]}**")
    return re.findall(r"`([a-z_/]+\.[ch])`", re.split(r"\.\s", text[begin:], maxsplit=1)[0])


def page_differs(walk, spine):
    """What ARCHITECTURE.md says otherwise. It names the files in order; those that it names for the first walk may be left out of the second."""
    named = page_names(walk)
    walked = iter([file for visit in spine.visits for file in (visit[0], *visit[1])])
    strange = [file for file in named if file not in walked]  # `in` consumes the iterator: they have to be in order
    missing = [file for file in spine.files if file not in named and file not in page_names(WALKS[0])]
    counts = re.search(r"(\d+) and (\d+) files", (TOP / "ARCHITECTURE.md").read_text()).groups()
    told = int(counts[WALKS.index(walk)])
    return [f"ARCHITECTURE.md: {walk.name}: {file} does not come there" for file in strange[:1]] + \
        [f"ARCHITECTURE.md: {walk.name}: {file} is missing" for file in missing] + \
        [f"ARCHITECTURE.md: {walk.name}: {len(spine.files)} files, not {told}"] * (told != len(spine.files))


def stacks_show(found):
    for moment, call in found:
        print(f"    {(call.at - found[0][1].at) / 1e6:8.3f} ms {call.thread} {moment.what}")
        print("        " + " > ".join(f"{one.function} ({one.file})" for one in call.walked()))


# ---- what is recorded ----

# Says the words before the recording, and the line that ends its turn when the file `go` appears.
AGENT = """import json, os, sys, time
def say(**what): print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)
for line in sys.stdin:
    got = json.loads(line)
    method = got.get("method")
    if method == "initialize":
        say(id=got["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        say(id=got["id"], result={"sessionId": "s1"})
    elif method == "session/prompt":
        block = {"overseerUpdate": {"status": "active", "summary": "half of it"}}
        say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "Half.\\n```json\\n" + json.dumps(block) + "\\n```\\n"}}})
        open("said", "w").close()
        while not os.path.exists("go"): time.sleep(0.05)
        say(id=got["id"], result={"stopReason": "end_turn"})
    elif method and "id" in got:
        say(id=got["id"], result={})
"""


def write_record(fixture):
    goal = fixture.do("goal.create", title="an ordinary goal")["goalId"]
    time.sleep(1 * TIMEOUT_SCALE)
    with Recording(1):
        fixture.do("goal.report", goal=goal, text="half of the files are converted")
        time.sleep(0.2 * TIMEOUT_SCALE)


def line_record(fixture):
    fixture.goal()
    state = fixture.daemon.socket.with_suffix(".state")
    tree = wait_until("the agent has its task", lambda: next(iter(state.glob("work/worktrees/*/tree/said")), None), 60).parent
    time.sleep(2.5 * TIMEOUT_SCALE)  # its words are read, its acceptance is decided
    with Recording(2):
        (tree / "go").touch()
        time.sleep(2 * TIMEOUT_SCALE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--only", choices=["write", "line"])
    options = parser.parse_args()
    build()
    for old in TRACE.iterdir():
        old.unlink()
    (TRACE / "on").write_bytes(bytes(4))
    fixture = fixture_make("walks", agent={"driver": "acp", "kind": "goose"}, sandbox={"mode": "off"})
    fixture.program.write_text(AGENT)
    wrong = []
    try:
        for number, (name, record) in enumerate((("write", write_record), ("line", line_record)), 1):
            if options.only in (None, name):
                record(fixture)
                calls = recording_read(number)
                found = moments_find(WALKS[number - 1], calls)
                spine = Spine(found)
                wrong += walk_show(WALKS[number - 1], spine, found, calls)
                wrong += page_differs(WALKS[number - 1], spine)
                if options.stacks:
                    stacks_show(found)
    finally:
        fixture.close()
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        sys.exit(str(error))
