#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the daemon prepare a new worktree before an agent begins there, remove what is over, limit what the operator's commands see, and check
what a node has to deliver?

care.py [--only NAME]: the daemon, real worktrees, an agent that is a program.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
import traceback

import proof
from pulls import Fixture, git
from world import Broken, Daemon, store_make, under_postgres

CHECKS = []
SECRET = "sk-operator-0123456789abcdef"


def check(function):
    CHECKS.append(function)
    return function


class NoForge:
    url = "http://127.0.0.1:9"


def fixture_make(name, environment=None, kind=Fixture, **rows):
    os.environ.update(environment or {})
    try:
        return kind(name, "gitea", NoForge, rows={**rows, "landing": {"how": "branch", "forge": "", "remote": "", **rows.get("landing", {})}})
    finally:
        for key in environment or {}:
            del os.environ[key]


def tree_of(fixture, goal):
    found = list(fixture.daemon.socket.with_suffix(".state").glob(f"work/worktrees/{goal.removeprefix('goal_')}-*/tree"))
    found = [tree for tree in found if tree.parent.suffix != ".new"]  # that one is still being made
    return found[0] if found else None


@check
def the_hook_and_the_ports():
    """The daemon runs set-up and then the hook, with path, worker and ports; the agent gets the same ports; the hook sees no key of the operator."""
    fixture = fixture_make("hook", {"OPERATOR_KEY": SECRET}, repo={
        "setup": "echo setup $OVERSEER_PORT $OVERSEER_PORTS >order",
        "on_worktree_ready": 'echo hook $OVERSEER_PORT >>order; echo "$OVERSEER_WORKTREE $OVERSEER_WORKER $OVERSEER_SESSION" >facts; env >environment',
        "ports": 10, "port_first": 23000}, verify={"command": "cat order facts environment; test -f made"})
    try:
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        [branch] = git(fixture.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()
        order, facts = (git(fixture.repo, "show", f"{branch}:{name}") for name in ("order", "facts"))
        seen = git(fixture.repo, "show", f"{branch}:environment")
        port = order.split()[1]
        assert order == f"setup {port} 10\nhook {port}" and 23000 <= int(port) < 33000, order
        path, worker, session = facts.split()
        assert path.endswith("/tree") and worker == "coder" and len(session) == 26, facts
        assert SECRET not in seen and "OPERATOR_KEY" not in seen, seen
    finally:
        fixture.close()


@check
def a_hook_that_fails_is_told():
    """No agent begins where set-up or hook failed; after the cause is mended, the next try runs all of it again."""
    for setting in ("setup", "on_worktree_ready"):
        fixture = fixture_make(f"fails-{setting}", repo={setting: "echo again >>/dev/null; test -f ../../../../../mended || { echo not yet; exit 3; }"
                                                     if setting == "setup" else "echo not yet; exit 3"},
                           **({"sandbox": {"mode": "off"}} if setting == "setup" else {}))  # the file that mends it is outside of the worktree
        try:
            goal = fixture.goal()
            fixture.wait("the failure is on the record", lambda: "ended with status 3" in json.dumps(fixture.do("goal.show", goal=goal)))
            shown = json.dumps(fixture.do("goal.show", goal=goal))
            assert f"repo.{setting} ended with status 3" in shown and "not yet" in shown, shown[:2000]
            assert not (tree_of(fixture, goal) / "made").exists(), "the agent has begun"
            if setting == "setup":
                (fixture.folder / "mended").touch()
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        finally:
            fixture.close()


# A part of this command leaves the command's process group.
SLOW = "echo begin >>{0}; setsid sh -c 'sleep 5; echo late >>{0}' & sleep 5; echo end >>{0}"


def log_of(fixture):
    """What SLOW has written, below the folder of a worktree."""
    found = [*state_of(fixture).glob("work/worktrees/*/log"), *state_of(fixture).glob("work/worktrees/*/tree/log")]
    return found[0].read_text().split() if found else []


@check
def a_stop_ends_the_set_up():
    """A goal is cancelled while its worktree is prepared: the stop ends when no process of the set-up runs any more."""
    for setting, place in (("setup", "log"), ("on_worktree_ready", "log")):
        fixture = fixture_make(f"stop-{setting}", repo={setting: SLOW.format(place)})
        try:
            goal = fixture.goal()
            fixture.wait("it runs", lambda: log_of(fixture))
            fixture.do("goal.cancel", goal=goal)
            fixture.wait("the stop is over", lambda: any(one["to"] == "stop" for one in fixture.records(goal, "effect.ended")), 4)
            time.sleep(5.5)
            assert log_of(fixture) == ["begin"], (setting, log_of(fixture))
        finally:
            fixture.close()


@check
def a_set_up_is_not_run_beside_another():
    """The daemon is killed while a worktree is prepared: the next daemon waits for what still runs, and then runs it again; the agent begins after
    that. A cancelled goal does not wait."""
    for setting, place in (("setup", "log"), ("on_worktree_ready", "log")):
        fixture = fixture_make(f"beside-{setting}", repo={setting: SLOW.format(place).replace(" & ", "; ")},
                           sandbox={"mode": "off"})  # bubblewrap ends with the daemon
        fixture.program.write_text("open('log' if __import__('os').path.exists('log') else 'log', 'a').write('agent\\n')\n"
                                 + fixture.program.read_text())
        try:
            goal = fixture.goal()
            fixture.wait("it runs", lambda: log_of(fixture))
            fixture.daemon.kill()
            fixture.begin()
            fixture.wait("it is done again", lambda: log_of(fixture).count("begin") == 2, 30)
            assert log_of(fixture) == ["begin", "late", "end", "begin"], (setting, log_of(fixture))
            if setting == "setup":
                fixture.daemon.kill()
                fixture.begin()
                time.sleep(1)
                fixture.do("goal.cancel", goal=goal)
                fixture.wait("the stop is over", lambda: any(one["to"] == "stop" for one in fixture.records(goal, "effect.ended")), 3)
                time.sleep(5.5)
                assert log_of(fixture)[4:] == [], log_of(fixture)
            else:
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
                assert log_of(fixture)[4:] == ["late", "end", "agent"], log_of(fixture)
        finally:
            fixture.close()


@check
def a_set_up_that_was_left_behind_has_its_time():
    """The daemon waits for a set-up that a killed daemon left running as long as the set-up may take, and no longer."""
    fixture = fixture_make("left-behind", verify={"within": "2s"},
                       sandbox={"mode": "off"},  # bubblewrap ends with the daemon
                       repo={"setup": "test -f log && exec echo again >>log; echo begin >>log; sleep 100; echo end >>log"})
    try:
        goal = fixture.goal()
        fixture.wait("it runs", lambda: log_of(fixture))
        fixture.daemon.kill()
        fixture.begin()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 20)
        assert log_of(fixture) == ["begin", "again"], log_of(fixture)
        assert "is still running; waiting for it" in (fixture.folder / "overseerd.log").read_text()
    finally:
        fixture.close()


STEAL = "env >env-{0}; cat ../../../../../canary >stolen-{0} 2>/dev/null; touch ../../../../../dropped-{0} 2>/dev/null; true"


def only_landlock(folder):
    """A PATH on which bubblewrap cannot make namespaces."""
    folder.mkdir(exist_ok=True)
    (folder / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bwrap").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@check
def set_up_and_hook_are_held():
    """H4: set-up and hook run what agents have landed. With bubblewrap and with Landlock alone, they see no key and no file of the operator; with
    Landlock alone they have a TMPDIR. Without a sandbox they see the operator's files."""
    from pathlib import Path
    for mode in ("bwrap", "landlock", "unheld"):
        environment = {"OPERATOR_KEY": SECRET}
        if mode == "landlock":
            environment["PATH"] = only_landlock(Path(os.environ.get("TMPDIR", "/tmp")) / f"care-no-bwrap-{os.getpid()}")
        old = os.environ["PATH"]
        try:
            fixture = fixture_make(f"held-{mode}", environment, sandbox={"checks": mode != "unheld"},
                               repo={"setup": STEAL.format("setup"), "on_worktree_ready": STEAL.format("hook")},
                               verify={"command": "echo x >${TMPDIR:-/tmp}/probe-$$ && rm ${TMPDIR:-/tmp}/probe-$$ && test -f made"})
        finally:
            os.environ["PATH"] = old
        try:
            (fixture.folder / "canary").write_text("CANARY\n")
            goal = fixture.goal()
            fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
            tree = tree_of(fixture, goal)
            for name in ("setup", "hook"):
                assert SECRET not in (tree / f"env-{name}").read_text(), (mode, name)
                stolen, dropped = (tree / f"stolen-{name}").read_text(), (fixture.folder / f"dropped-{name}").exists()
                assert (stolen == "CANARY\n" and dropped) if mode == "unheld" else not (stolen or dropped), (mode, name, stolen, dropped)
            assert not [path for path in state_of(fixture).glob("work/worktrees/*/tree.*") if path.name != "tree.lock"], "what a sandbox left behind"
        finally:
            fixture.close()


@check
def checks_have_the_agents_network():
    """H5: a check runs what the agent wrote, so it has the network access of the agent, unless verify.network says otherwise."""
    import socket
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        call = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {server.getsockname()[1]}), 3)'"
        for network, wanted in ({}, False), ({"network": "all"}, True):
            fixture = fixture_make(f"network-{wanted}", agent={"network": "none"}, verify={"command": f"{call}; test -f made", **network})
            try:
                goal = fixture.goal()
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
            finally:
                fixture.close()
            try:
                server.accept()[0].close()
                came = True
            except TimeoutError:
                came = False
            assert came == wanted, (network, came)


@check
def a_check_that_cannot_be_held_is_none():
    """Landlock alone cannot take the network away: the daemon then calls nothing verified, and tells the reason."""
    from pathlib import Path
    old = os.environ["PATH"]
    try:
        fixture = fixture_make("unverified", {"PATH": only_landlock(Path(os.environ.get("TMPDIR", "/tmp")) / f"care-no-bwrap-{os.getpid()}")},
                           verify={"network": "none"})
    finally:
        os.environ["PATH"] = old
    try:
        goal = fixture.goal()
        fixture.wait("it is told", lambda: "needs bubblewrap" in json.dumps(fixture.do("goal.show", goal=goal)) + json.dumps(fixture.do("inbox.list")))
        assert not fixture.records(goal, "work.landed") and not fixture.records(goal, "work.done"), "it was called done"
    finally:
        fixture.close()


@check
def a_path_is_no_part_of_a_command():
    """L1: the name of the state folder is never run as a part of a command."""
    name = "it's; touch PWNED; $(touch PWNED2) \""
    fixture = fixture_make(name, repo={"setup": "echo s >order", "on_worktree_ready": "echo h >>order"}, verify={"command": "test -f made && test -f order"})
    try:
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        assert (tree_of(fixture, goal) / "order").read_text() == "s\nh\n"
        assert not [*fixture.folder.rglob("PWNED*")], "a path was run"
    finally:
        fixture.close()


@check
def checks_see_no_secret():
    """With and without a sandbox, checks see PATH, HOME, LANG, TERM and the name of the effect, and nothing else of the daemon's environment."""
    for mode in ("prefer", "off"):
        fixture = fixture_make(f"env-{mode}", {"OPERATOR_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET},
                           verify={"command": "env | cut -d= -f1 | sort | tr '\\n' ' '; env | grep -c sk-; test -f made"}, sandbox={"mode": mode})
        try:
            goal = fixture.goal()
            fixture.wait("it was checked", lambda: fixture.records(goal, "work.checked"))
            [record] = fixture.records(goal, "work.checked")
            names = set(record["text"].split())
            assert "0" in names, record
            assert names <= {"0", "HOME", "LANG", "OVERSEER_EFFECT", "PATH", "PWD", "OLDPWD", "SHLVL", "TERM", "_"}, names
        finally:
            fixture.close()


HALF = """import json, os, sys
def say(**what): print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif asked.get("method") == "session/new":
        say(id=asked["id"], result={"sessionId": "s1"})
    elif asked.get("method") == "session/prompt":
        say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "on it"}}})
        print('{"jsonrpc":', end="", flush=True)
        os.kill(os.getpid(), 9)
    elif asked.get("method") == "session/set_mode":
        say(id=asked["id"], result={})
    elif "id" in asked:
        say(id=asked["id"], error={"code": -32601, "message": "no"})
"""


@check
def half_a_line_is_the_end():
    """An agent that is killed in the middle of a line sends nothing more: the daemon ends its run and does not wait for the rest of the line."""
    fixture = fixture_make("half", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF)
    try:
        goal = fixture.goal()
        fixture.wait("its end is known", lambda: fixture.records(goal, "assignment.stalled"))
        fixture.wait("it is put away", lambda: any(one["to"] == "stop" for one in fixture.records(goal, "effect.ended")), 20)
    finally:
        fixture.close()


# The process that is left ignores SIGTERM and keeps the agent's output open.
LEAVES = """import os, signal, subprocess, sys
open("left", "w").write(str(subprocess.Popen(["sleep", "1000"], start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)).pid))
if {0}: print("it cannot be done", file=sys.stderr); os._exit({0})
"""


@check
def what_an_agent_leaves_running_does_not_keep_it():
    """An agent without a sandbox ends and leaves a process behind: the daemon knows the end within seconds, with the agent's own status and output,
    and no process is left."""
    for status in (0, 7):
        # idle_after passes between the end of the agent's process and the last of its output
        fixture = fixture_make(f"leaves-{status}", sandbox={"mode": "off"}, supervision={"idle_after": "2s"} if status else {})
        fixture.program.write_text(LEAVES.format(status) + fixture.program.read_text())
        try:
            goal = fixture.goal()
            if status:
                fixture.wait("its end is known", lambda: fixture.records(goal, "assignment.stalled"), 20)
                [stalled] = fixture.records(goal, "assignment.stalled")
                assert stalled["exit"] == 7 and "it cannot be done" in stalled["text"], stalled
            else:
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 20)
                left = (tree_of(fixture, goal) / "left").read_text()
                assert not os.path.exists(f"/proc/{left}"), "something still runs"
        finally:
            fixture.close()


def holds_of(fixture):
    """The hold processes of this fixture."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in found if "overseer-hold" in line and str(fixture.folder) in line]


@check
def who_cannot_be_driven_goes():
    """The daemon stops a program that starts and does not speak the protocol before it tries again: no process stays behind."""
    fixture = fixture_make("refuses", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace("session/set_mode", "session/set_nothing"))
    try:
        goal = fixture.goal()
        fixture.wait("it was tried three times", lambda: sum(one["to"] == "spawn" for one in fixture.records(goal, "effect.ended")) >= 3)
        fixture.do("goal.cancel", goal=goal)
        fixture.wait("nothing of it is left", lambda: not holds_of(fixture), 20)
    finally:
        fixture.close()


@check
def who_asks_for_too_much_is_no_danger():
    """A request whose id has two megabytes cannot be answered: the daemon breaks off the run, and survives."""
    fixture = fixture_make("much", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace('print(\'{"jsonrpc":\', end="", flush=True)', 'say(method="x", id="x" * (2 << 20))')
                             .replace("os.kill(os.getpid(), 9)", "import time; time.sleep(600)"))
    try:
        pid, goal = fixture.daemon.pid, fixture.goal()
        fixture.wait("it is seen to be broken", lambda: "answered at once" in json.dumps(fixture.do("goal.show", goal=goal)["records"]), 30)
        fixture.do("goal.cancel", goal=goal)
        fixture.wait("nothing of it is left", lambda: not holds_of(fixture), 20)
        assert fixture.daemon.pid == pid and fixture.do("status.show")["daemon"]["joined"], "the daemon is gone"
    finally:
        fixture.close()


@check
def as_many_args_as_a_setting_may_have():
    """An agent has 64 args and 64 keys: all of them reach the agent, and it does its work."""
    keys = {f"CARE_KEY_{n}": f"value {n}" for n in range(64)}
    fixture = fixture_make("args", keys, agent={"keys": list(keys)}, verify={"command": "cat args keys; test -f made"})
    config = fixture.folder / "overseer.toml"
    given = [str(fixture.program), *(f"word {n}" for n in range(63))]
    config.write_text(config.read_text().replace(f'args = ["{fixture.program}"]', "args = " + json.dumps(given)))
    fixture.program.write_text("import os, sys\nopen('args', 'w').write('\\n'.join(sys.argv))\n"
                             "open('keys', 'w').write('\\n'.join(os.environ.get(f'CARE_KEY_{n}', 'none') for n in range(64)))\n" + fixture.program.read_text())
    try:
        fixture.daemon.kill()
        fixture.begin()
        pid, goal = fixture.daemon.pid, fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        [branch] = git(fixture.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()
        assert git(fixture.repo, "show", f"{branch}:args").split("\n") == given
        assert git(fixture.repo, "show", f"{branch}:keys").split("\n") == list(keys.values())
        assert fixture.daemon.pid == pid, "the daemon is another one"
    finally:
        fixture.close()


@check
def what_runs_is_gone_on_with():
    """The settings of an agent are changed or removed while it works, and the daemon is killed: the run continues, and no second run begins."""
    fixture = fixture_make("settings", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace("os.kill(os.getpid(), 9)", "import time; time.sleep(600)"))
    try:
        goal, config = fixture.goal(), fixture.folder / "overseer.toml"
        before = config.read_text()
        fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
        first = holds_of(fixture)
        for text in (before.replace("/usr/bin/python3", "/nowhere/python"), before.split("[[agents]]")[0]):
            fixture.daemon.kill()
            config.write_text(text)
            fixture.begin()
            time.sleep(2.5)
            assert sorted(holds_of(fixture)) == sorted(first), holds_of(fixture)
        fixture.do("goal.cancel", goal=goal)
        fixture.wait("nothing of it is left", lambda: not holds_of(fixture), 20)
    finally:
        fixture.close()


@check
def what_another_build_left_is_begun_anew():
    """The daemon cannot read the driver's saved state any more: it stops the run, nothing of the run stays, and the work continues in a new run."""
    fixture = fixture_make("another", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace("os.kill(os.getpid(), 9)", "import time; time.sleep(600)").replace('"agentCapabilities": {}', '"agentCapabilities": {"loadSession": True}')
                             .replace('== "session/set_mode"', 'in ("session/set_mode", "session/load")'))
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: fixture.records(goal, "dispatch.accepted"))
        first = set(holds_of(fixture))
        fixture.daemon.kill()
        for path in state_of(fixture).glob("runs/*/drive.state"):
            path.write_bytes(b"of another build" * 20)
        fixture.begin()
        fixture.wait("it works again", lambda: len(fixture.records(goal, "dispatch.accepted")) == 2, 60)
        fixture.wait("the old one is gone", lambda: holds_of(fixture) and not first & set(holds_of(fixture)), 20)
        told = [line["what"] for line in fixture.do("why.show", of=goal, limit=100)["lines"]]
        assert any("started by another build" in line for line in told), f"why does not tell: {told}"
        fixture.do("goal.cancel", goal=goal)
        fixture.wait("nothing of it is left", lambda: not holds_of(fixture), 20)
    finally:
        fixture.close()


NUMBERS = HALF[:HALF.index("        print('{")] + """        for text in ("9999999 " * 4000, "\\nbefore\\n"):
            say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}})
        import time
        while not os.path.exists("go"): time.sleep(0.1)
        say(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "after\\n"}}})
        time.sleep(600)
""" + HALF[HALF.index('    elif asked.get("method") == "session/set_mode"'):]


@check
def words_of_numbers_are_no_offset():
    """After a restart the daemon reads the log of an agent that prints numbers from its middle: it still shows what the agent says afterwards."""
    fixture = fixture_make("numbers", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(NUMBERS)
    try:
        goal = fixture.goal()
        fixture.wait("it has said numbers", lambda: "before" in said_by(fixture))
        fixture.daemon.kill()
        fixture.begin()
        (tree_of(fixture, goal) / "go").touch()
        fixture.wait("what it says since is shown", lambda: "after" in said_by(fixture), 20)
    finally:
        fixture.close()


def said_by(fixture):
    return "".join(path.read_text() for path in state_of(fixture).glob("runs/*/said.log"))


@check
def many_begin_at_once():
    """Eight tasks of a new repository begin at the same moment: each gets a worktree at the first try."""
    fixture = fixture_make("many")
    try:
        goals = [fixture.goal() for _ in range(8)]
        fixture.wait("all of them were tried", lambda: all(fixture.records(goal, "dispatch.accepted") or fixture.records(goal, "assignment.stalled") for goal in goals), 90)
        failed = [record["text"] for goal in goals for record in fixture.records(goal, "assignment.stalled")]
        assert not failed, failed
    finally:
        fixture.close()


@check
def called_off_while_it_starts():
    """A goal is cancelled while the hold of its run is being started: nothing of the run stays."""
    fixture = fixture_make("early", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace("os.kill(os.getpid(), 9)", "import time; time.sleep(600)"))
    try:
        for wait in (0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2):
            goal = fixture.goal()
            fixture.wait("it is to begin", lambda: fixture.records(goal, "assignment.dispatched"))
            time.sleep(wait)
            fixture.do("goal.cancel", goal=goal)
            fixture.wait("its agent is let go", lambda: fixture.records(goal, "assignment.cancelled"))
        fixture.wait("nothing of them is left", lambda: not holds_of(fixture), 20)
    finally:
        fixture.close()


def state_of(fixture):
    return fixture.daemon.socket.with_suffix(".state")


def left_of(fixture, goal):
    """The names of the goal's folders that still exist."""
    name, state = goal.removeprefix("goal_"), state_of(fixture)
    runs = [path.parent.name for path in state.glob("runs/*/run.*") if name in path.read_text()]
    return [path.name for path in (*state.glob(f"work/worktrees/{name}*"), *state.glob(f"homes/{name}*"))] + runs


@check
def what_is_over_goes_away():
    """After repo.keep, worktree, home and logs are removed, and work that was in no commit is under the salvage ref."""
    fixture = fixture_make("keep", repo={"keep": "2s"})
    try:
        (state_of(fixture) / "homes/.gone-before/inner").mkdir(parents=True)  # the process that removed it was killed
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        fixture.wait("nothing is left", lambda: not left_of(fixture, goal))
        [clone] = state_of(fixture).glob("work/private/*")
        refs = git(clone, "for-each-ref", "--format=%(refname)", "refs/overseer").split()
        [saved] = [ref for ref in refs if ref.startswith("refs/overseer/salvage/")]
        assert git(clone, "show", f"{saved}:made") == "made"
        assert not [ref for ref in refs if ref.startswith(("refs/overseer/runs/", "refs/overseer/snapshots/"))], refs
        assert not list(state_of(fixture).glob("work/bases/*")) and not list(state_of(fixture).glob("*/.gone-*"))
    finally:
        fixture.close()


@check
def what_cannot_be_salvaged_is_kept():
    """A repository inside the worktree fits into no commit: the daemon moves the whole folder to kept/."""
    fixture = fixture_make("whole", repo={"keep": "2s"})
    try:
        fixture.program.write_text(fixture.program.read_text().replace("open(", "import subprocess\nsubprocess.run(['git', 'init', '-q', 'inner'])\n"
                                 "open('inner/only-here', 'w').write('x')\nopen(", 1))
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        fixture.wait("the worktree is gone", lambda: not tree_of(fixture, goal))
        assert list(state_of(fixture).glob("work/kept/**/only-here")), list(state_of(fixture).glob("work/kept/**"))
    finally:
        fixture.close()


@check
def every_stash_is_kept():
    """A ref holds only the newest stash: with two stashes the daemon keeps the whole folder."""
    fixture = fixture_make("stashes", repo={"keep": "2s"})
    try:
        fixture.program.write_text(fixture.program.read_text().replace("open(", """import subprocess
for text in ("first", "second"):
    open("README", "w").write(text)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "stash", "-q"], check=True)
open(""", 1))
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        fixture.wait("the worktree is gone", lambda: not tree_of(fixture, goal))
        [kept] = [path.parent for path in state_of(fixture).glob("work/kept/**/.git")]
        assert [git(kept, "show", f"stash@{{{n}}}:README") for n in (0, 1)] == ["second", "first"]
    finally:
        fixture.close()


@check
def a_hold_that_is_lost_costs_nothing():
    """Holds are killed one after the other: the daemon notices each loss, starts the agent again, and leaves no connection open."""
    fixture = fixture_make("lost", agent={"driver": "acp", "kind": "goose"})
    fixture.program.write_text(HALF.replace("os.kill(os.getpid(), 9)", "import time; time.sleep(600)").replace('"agentCapabilities": {}', '"agentCapabilities": {"loadSession": True}')
                             .replace('== "session/set_mode"', 'in ("session/set_mode", "session/load")'))

    def sockets():
        places = [os.path.join(f"/proc/{fixture.daemon.pid}/fd", name) for name in os.listdir(f"/proc/{fixture.daemon.pid}/fd")]
        return sum(os.path.exists(place) and os.readlink(place).startswith("socket:") for place in places)
    try:
        goal, before = fixture.goal(), None
        for n in range(2):
            fixture.wait("it works", lambda n=n: len(fixture.records(goal, "dispatch.accepted")) > n, 60)
            before = before or sockets()
            [pid] = [int(line.split()[0]) for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
                     .stdout.splitlines() if "overseer-hold" in line and str(fixture.folder) in line and "--dir" in line]
            os.kill(pid, signal.SIGKILL)
        fixture.wait("it works again", lambda: len(fixture.records(goal, "dispatch.accepted")) > 2, 60)
        fixture.wait("no more is open than before", lambda: sockets() <= before, 10)
    finally:
        fixture.close()


@check
def a_disk_that_is_short():
    """When the disk is short, nothing begins, and the record says why; the daemon removes what is over at once, whatever repo.keep says, and keeps
    what is not over."""
    fixture = fixture_make("short", repo={"keep": "30d"})
    try:
        done = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(done, "work.landed"))
        assert tree_of(fixture, done)
        fixture.client.close()
        fixture.daemon.stop()
        config = fixture.folder / "overseer.toml"
        config.write_text(config.read_text().replace("disk_least = 1\n", "disk_least = 100000000\n"))
        fixture.begin()
        goal = fixture.goal()
        fixture.wait("nothing begins", lambda: "work starts only with at least" in json.dumps(fixture.do("goal.show", goal=goal)))
        fixture.wait("what was over is gone", lambda: not left_of(fixture, done))
        assert not tree_of(fixture, goal)
        [clone] = state_of(fixture).glob("work/private/*")
        assert git(clone, "for-each-ref", "--format=%(refname)", "refs/overseer/salvage"), "it was not salvaged"
    finally:
        fixture.close()


@check
def what_goes_on_stays():
    """The daemon keeps everything of an assignment that is not over, however old it is; with repo.keep = 0s it keeps everything."""
    fixture = fixture_make("stays", repo={"keep": "1s"}, verify={"command": "test ! -f made"})
    forever = fixture_make("forever", repo={"keep": "0s"})
    try:
        goal, other = fixture.goal(), forever.goal()
        fixture.wait("it does not pass", lambda: fixture.records(goal, "work.checked"))
        forever.wait("it has landed", lambda: forever.records(other, "work.landed"))
        time.sleep(9)
        assert tree_of(fixture, goal) and (tree_of(fixture, goal) / "made").exists() and tree_of(forever, other)
    finally:
        fixture.close()
        forever.close()


# The agent does what the last message asks for, and says done each time.
SLOPPY = """import json, os, re, sys
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
open("made", "a").write("made\\n")
os.makedirs("out", exist_ok=True)
for words, does in STEPS:
    if words in told:
        exec(does)
        break
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""
PUT = "open('out/report.json', 'w').write({!r})"
REPORT = {"path": "out/report.json", "json": True, "minItems": 2, "requiredKeys": ["id", "name"], "minBytes": 10}
RIGHT = '[{"id": 1, "name": "a"}, {"id": 2, "n\\u0061me": "b"}]'


def words_of(error):
    return json.dumps(error).replace('\\"', '"')


def nodes_with(artifacts):
    return [{"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"], "artifacts": artifacts}]


def goal_with(fixture, artifacts, steps):
    fixture.program.write_text(f"STEPS = {steps!r}\n" + SLOPPY)
    goal = fixture.do("goal.create", title="a report")["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=nodes_with(artifacts))
    return goal


def verdicts(fixture, goal):
    """The verdicts of the checks, oldest first."""
    return [(one["to"], one.get("text", "").strip()) for one in sorted(fixture.records(goal, "work.checked"), key=lambda one: one["seq"])]


@check
def what_has_to_be_there_is_looked_for():
    """Without a command of the operator, an agent says done without the file: the daemon reports what is missing, and the work lands
    when all is right."""
    fixture = fixture_make("artifacts", verify={"command": "", "rounds": 9})
    try:
        goal = goal_with(fixture, [REPORT, {"path": "made"}], [
            ("the file does not exist", PUT.format("[]")),
            ("it has 2 bytes, but needs at least 10", PUT.format('{"id": 1, "name": "a"}')),
            ("not a list", PUT.format('[{"id": 1, "name": "a"}]')),
            ("it has 1 items, but needs at least 2", PUT.format('[{"id": 1, "name": "a"}, {"id": 2, "name"')),
            ("not valid JSON", PUT.format('[{"id": 1, "name": "a"}, {"id": 2}]')),
            ('item 1 (from 0) has no "name"', PUT.format(RIGHT))])
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 120)
        said = [("failed", f"out/report.json: {why}") for why in (
            "the file does not exist", "it has 2 bytes, but needs at least 10", "its JSON is not a list, but must be one",
            "it has 1 items, but needs at least 2", "it is not valid JSON: line 1, column 42: a colon is expected here",
            'item 1 (from 0) has no "name"')]
        assert verdicts(fixture, goal) == said + [("passed", "Every artifact exists and is valid.")], verdicts(fixture, goal)
        [branch] = git(fixture.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()
        assert git(fixture.repo, "show", f"{branch}:out/report.json") == RIGHT
        why = json.dumps(fixture.do("why.show", goal=goal, of="T1", limit=200))
        assert "checks: failed: out/report.json: the file does not exist" in why, why
        [phase] = fixture.do("plan.show", goal=goal)["phases"]
        assert phase["artifacts"] == [] and phase["tasks"][0]["artifacts"] == [
            REPORT, {"path": "made", "json": False, "minItems": 0, "requiredKeys": [], "minBytes": 0}], phase
        assert any(one.get("reason") == "verified" for one in fixture.records(goal, "work.done")), fixture.records(goal, "work.done")
        fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
        [row] = [one for one in fixture.do("status.show")["done"] if one["goalId"] == goal]
        assert row["proof"] == "landed" and branch in row["landed"], row
        assert phase["tasks"][0]["proof"] == "landed" and branch in phase["tasks"][0]["landed"], phase
        assert fixture.do("why.show", of=goal)["proof"] == "landed"
    finally:
        fixture.close()
    proof.passed("e2e", "care.artifacts", "TEST-06 VERIFY-01 VERIFY-03 VERIFY-04 VERIFY-05 VERIFY-06 VERIFY-07 VERIFY-08")


@check
def artifacts_and_then_the_command():
    """Artifacts and command both have to pass; the command does not run before the artifacts exist; a link out of the checkout is not a file."""
    fixture = fixture_make("both", verify={"command": "echo the command; test ! -e out/report.json || test -f extra", "rounds": 9})
    try:
        goal = goal_with(fixture, [{"path": "out/report.json"}], [
            ("the file does not exist", "os.symlink('/etc/passwd', 'out/report.json')"),
            ("symbolic link", "os.unlink('out/report.json'); " + PUT.format("x")), ("the command", "open('extra', 'w').close()")])
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"), 120)
        said = verdicts(fixture, goal)
        assert [to for to, _ in said] == ["failed", "failed", "failed", "passed"], said
        assert "the command" not in said[0][1] + said[1][1] and "symbolic link" in said[1][1], said
        assert "the command" in said[2][1] and "report.json" not in said[2][1], said
    finally:
        fixture.close()
    proof.passed("e2e", "care.both", "VERIFY-04")


@check
def a_contract_that_cannot_be_is_refused():
    """The daemon refuses commands, unknown names, places outside of the worktree and too many entries, says what to do, and stores none of it."""
    fixture = fixture_make("contracts")
    try:
        goal = fixture.do("goal.create", title="a report")["goalId"]
        for artifact, words in (({"path": "a", "validationCommand": "true"}, '"validationCommand" is not a field of "artifacts"'),
                                ({"path": "/etc/passwd"}, "absolute; give it relative to the top of the worktree"),
                                ({"path": "out/../../a"}, "give it relative to the top of the worktree"),
                                ({"path": "a", "minItems": 1}, 'add "json": true'), ({"json": True}, '"path" is missing'),
                                ({"path": "a" * 1025}, "1025 bytes"), ({"path": "a", "json": 7}, "true or false"),
                                ({"path": "a", "requiredKeys": ["k"] * 33, "json": True}, "too many entries"), ("a", "list of objects")):
            for method, given in (("plan.apply", {"nodes": nodes_with([artifact])}),
                                  ("work.add", {"tier": "phase", "name": "n", "acceptanceCriteria": ["c"], "artifacts": [artifact]})):
                _, _, error = fixture.client.call(method, {"goal": goal, **given})
                assert error and words in words_of(error), (method, artifact, error)
        _, _, error = fixture.client.call("plan.apply", {"goal": goal, "nodes": nodes_with([{"path": "a"}] * 33)})
        assert error and "too many entries" in json.dumps(error), error
        assert not fixture.records(goal, "plan.created")
    finally:
        fixture.close()
    proof.passed("e2e", "care.contracts", "VERIFY-03 VERIFY-21")


# The agent changes README. When a conflict is reported, it merges the named commit and keeps both changes.
MERGER = """import json, os, re, subprocess, sys, time
def git(*words):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]).returncode
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
other = re.search("git merge ([0-9a-f]{40})", told)
if other:
    git("commit", "-q", "-a", "-m", "What I have")
    assert git("merge", "-q", other.group(1)) == 1
    git("checkout", "-q", "--theirs", "--", "many")
    open("README", "w").write("theirs\\nours\\n")
    assert git("commit", "-q", "-a", "-m", "Merge") == 0
else:
    while not os.path.exists(os.path.dirname(sys.argv[0]) + "/go"):
        time.sleep(0.1)
    open("README", "w").write("ours\\n")
    for name in os.listdir(b"many"):
        open(b"many/" + name, "w").write("ours\\n")
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
      "evidence": {"filesTouched": ["README"]}}}) + "\\n```")
"""


@check
def a_conflict_is_brought_together():
    """The same lines change on the default branch before the work lands: the daemon sends the commit to the agent, the agent
    merges it, and the history stays linear."""
    fixture = fixture_make("conflict", verify={"command": "grep -q ours README"}, landing={"how": "rebase"})
    fixture.program.write_text(MERGER)
    many = [os.fsencode(fixture.repo) + b"/many/" + name for name in (b"caf\xe9", *(b"one of a great many files %d" % n for n in range(60)))]

    def many_write(text):
        for path in many:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    (fixture.repo / "many").mkdir()
    many_write("begun\n")
    git(fixture.repo, "add", "-A")
    git(fixture.repo, "commit", "-q", "-m", "many")
    git(fixture.repo, "checkout", "-q", "--detach")
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: tree_of(fixture, goal) and (tree_of(fixture, goal) / "README").exists())
        (fixture.repo / "README").write_text("theirs\n")
        many_write("theirs\n")
        git(fixture.repo, "commit", "-q", "-a", "-m", "meanwhile")
        theirs = git(fixture.repo, "rev-parse", "HEAD")
        git(fixture.repo, "push", "-q", ".", "HEAD:main")
        (fixture.program.parent / "go").touch()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        assert git(fixture.repo, "show", "main:README") == "theirs\nours", git(fixture.repo, "show", "main:README")
        assert git(fixture.repo, "rev-parse", "main^") == theirs and git(fixture.repo, "rev-list", "--merges", "main") == ""
        assert "Merge" not in git(fixture.repo, "log", "-1", "--format=%B", "main")
        [record] = [one for one in fixture.records(goal, "work.checked") if one["to"] == "conflict"]
        assert record["to"] == "conflict" and f"git merge {theirs}" in record["text"] and "in 62 files" in record["text"], record
        assert fixture.do("replay.run", goal=goal)["verdict"] == "same", "the record cannot be read again"
    finally:
        fixture.close()
    proof.passed("e2e", "care.conflict", "AUTO-21 FAIL-13")


@check
def last_words_are_told():
    """A program that dies says why on stderr: the record has that text without its secrets, and why shows it."""
    fixture = fixture_make("dies")
    fixture.program.write_text("import sys\nsys.stdin.read()\nsys.exit('a library is missing, and the key was sk-ant-" + "a1B2" * 24 + "')\n")
    try:
        goal = fixture.goal()
        fixture.wait("why tells it", lambda: "it exited with status 1: a library is missing" in json.dumps(fixture.do("why.show", of=goal, limit=100)), 20)
        assert "a1B2" not in json.dumps(fixture.do("events.list", goal=goal)), "the key is on the record"
        fixture.wait("status tells", lambda: ["a library is missing" in one["question"] for one in fixture.do("status.show")["needsYou"]] == [True], 20)
    finally:
        fixture.close()


# The agent knows only the prompt that it reads now.
FORGETFUL = """import json, re, sys
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
open("made", "w").write("made")
if "not done yet" in told and "Make it, @everyone." in told:
    open("second", "w").write(told)
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""


@check
def a_command_hears_its_task_each_time():
    """A program that reads one prompt and ends does not know the task any more when its work does not pass: the daemon sends the task and the
    failure."""
    fixture = fixture_make("forgetful", verify={"command": "test ! -f made || test -f second"})
    fixture.program.write_text(FORGETFUL)
    try:
        goal = fixture.goal()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        assert [to for to, _ in verdicts(fixture, goal)] == ["failed", "passed"], verdicts(fixture, goal)
    finally:
        fixture.close()


def is_checking(fixture, goal):
    return any(one["waitsFor"] == "check" for one in fixture.do("assignment.list", goal=goal)["assignments"])


@check
def a_check_that_was_broken_off_is_made_again():
    """The daemon dies in the middle of the checks: afterwards it knows that it was checking, repeats the checks, and the work lands once."""
    fixture = fixture_make("again", verify={"command": "sleep 3; test -f made"})
    try:
        goal = fixture.goal()
        fixture.wait("it is being checked", lambda: is_checking(fixture, goal))
        time.sleep(0.5)
        fixture.daemon.kill()
        fixture.begin()
        assert is_checking(fixture, goal), fixture.do("assignment.list", goal=goal)
        assert not fixture.records(goal, "work.checked") and not fixture.records(goal, "work.done"), "called done without a check"
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        assert len(verdicts(fixture, goal)) == 1 and len(fixture.records(goal, "work.landed")) == 1, verdicts(fixture, goal)
        assert [one["node"] for one in fixture.records(goal, "work.done")].count("T1") == 1, fixture.records(goal, "work.done")
    finally:
        fixture.close()
    proof.passed("e2e", "care.again", "VERIFY-12 VERIFY-13 TEST-07")


@check
def a_check_that_takes_too_long_has_failed():
    """The daemon ends a check that takes longer than verify.within, and the check has failed: none of its processes continues, and the work is not
    done."""
    fixture = fixture_make("long", verify={"command": "test ! -f made || { echo begun; sleep 600; test -f made; }", "within": "2s", "rounds": 1})
    try:
        goal = fixture.goal()
        fixture.wait("it was checked", lambda: fixture.records(goal, "work.checked"), 30)
        assert verdicts(fixture, goal)[0][0] == "failed" and "begun" in verdicts(fixture, goal)[0][1], verdicts(fixture, goal)
        assert not fixture.records(goal, "work.done") and not fixture.records(goal, "work.landed")
        fixture.wait("nothing of it runs", lambda: "sleep 600; test -f made" not in subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout, 10)
    finally:
        fixture.close()
    proof.passed("e2e", "care.long", "VERIFY-15")


LISTENS = """import json, os, re, sys, time
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
heard = "Use tabs, please." in told
open("made", "a").write("with tabs" if heard and "Make it, @everyone." in told else "made ")
while not heard and not os.path.exists(os.path.dirname(sys.argv[0]) + "/go"):
    time.sleep(0.1)
print("On it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done" if heard else "in_progress",
      "summary": "on it", "next": "the rest", "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""


@check
def what_a_person_says_is_heard_by_the_next():
    """A program that ends after its prompt cannot receive a message while it runs: the next run gets the message together with the task."""
    fixture = fixture_make("listens")
    fixture.program.write_text(LISTENS)
    try:
        goal = fixture.goal()
        fixture.wait("it works", lambda: tree_of(fixture, goal) and (tree_of(fixture, goal) / "made").exists())
        fixture.do("mail.send", goal=goal, to="A_0", kind="instruction", subject="Use tabs, please.")
        (fixture.program.parent / "go").touch()
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
        [branch] = git(fixture.repo, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()
        assert git(fixture.repo, "show", f"{branch}:made") == "made with tabs", git(fixture.repo, "show", f"{branch}:made")
    finally:
        fixture.close()


class OnPostgres(Fixture):
    def daemon_make(self, environment):
        self.store = store_make("postgres", self.folder, "care")
        return Daemon(self.folder, self.store.uri, options=["--lease", "3"], environment=environment)


def stored_in(fixture):
    """The whole content of the store, as text."""
    if not isinstance(fixture, OnPostgres):
        return b"".join(path.read_bytes() for path in fixture.folder.glob("store.db*")).decode(errors="replace")
    tables = fixture.store.run("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
    rows = fixture.store.run("SET bytea_output = 'escape';" + "".join(f"SELECT t::text FROM {table} t;" for [table] in tables))
    return "\n".join("\t".join(row) for row in rows)


def transcript_is_not_stored(kind):
    fixture = fixture_make("talks", kind=kind)
    try:
        goals = []
        for chapters in (0, 3000):
            fixture.program.write_text(f"for n in range({chapters}): print(f'thinking about chapter {{n}} of it')\n" + TWICE)
            goals.append(goal := fixture.goal())
            fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
        kept = [len(json.dumps(fixture.do("handoff.show", goal=goal))) for goal in goals]
        assert "chapter 2999" in json.dumps(fixture.do("work.log", goal=goal, last=True)), "its log does not tell"
    finally:
        fixture.close()
    stored = stored_in(fixture)
    assert "made it" in stored and "about chapter" not in stored, "a transcript is in the store"
    assert abs(kept[0] - kept[1]) < 64, f"a handoff has {kept[0]} bytes after few words, {kept[1]} after many"


@check
def no_transcript_is_stored():
    """An agent prints much text: the store has its report and nothing else of it; the rest is in a file of the run."""
    for kind, engine in ((Fixture, "sqlite"), (OnPostgres, "postgres")):
        transcript_is_not_stored(kind)
        proof.passed("e2e", f"care.transcript [{engine}]", "STORE-13 CRYSTAL-04")


@check
def a_tool_that_is_hidden_is_named():
    """A check needs a tool that the sandbox hides: the daemon reports that to a person, and the agent is not blamed."""
    fixture = fixture_make("hidden", verify={"command": "no-such-tool --all", "rounds": 1})
    try:
        goal = fixture.goal()
        fixture.wait("a person is asked", lambda: fixture.do("inbox.list")["items"], 60)
        [item] = fixture.do("inbox.list")["items"]
        assert "sandbox.sees" in item["text"] and "no-such-tool" in item["text"], item
        assert {to for to, _ in verdicts(fixture, goal)} == {"target fails"}, verdicts(fixture, goal)  # it is missing there, too
    finally:
        fixture.close()


TWICE = """import json, re, sys
told = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", told).group(0)
open("made", "w").write("made")
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```\\n--- completion report ---\\nstatus: complete\\nsummary: made it\\n--- end of report ---")
"""


@check
def said_twice_is_checked_once():
    """The agent's block, its report in words and the end of its process all say that the work is done: the daemon checks once, lands once and records
    done once."""
    fixture = fixture_make("twice")
    fixture.program.write_text(TWICE)
    try:
        goal = fixture.goal()
        fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
        time.sleep(2)
        found = [len(fixture.records(goal, kind)) for kind in ("work.checked", "work.landed", "work.done")]
        assert found[:2] == [1, 1], found
    finally:
        fixture.close()
    proof.passed("e2e", "care.twice", "VERIFY-10 TEST-09")


def main(name, checks):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = passed = 0
    for function in checks:
        if options.only not in function.__name__:
            continue
        begin = time.monotonic()
        try:
            function()
            passed += 1
            print(f"ok {function.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        except (Exception, Broken):  # the other checks still run
            failed += 1
            print(f"FAILED {function.__name__}", flush=True)
            traceback.print_exc(limit=4)
    print(f"{name}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    under_postgres([sys.executable, *sys.argv])
    sys.exit(main("care", CHECKS))
