#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that work that passed becomes exactly one pull request, whatever the forge does, and that the outcome is reported correctly.

pulls.py [--only NAME]: first the port alone (tests/ports/say) against forges that store pull requests, real servers on loopback that answer,
refuse, request a delay, hang and close the connection; the requests are compared with tests/fixtures/channels/pull-*.json, written from each
service's public description. Then the whole path: the daemon, an agent that is a program, a bare repository of git, and a forge that fails.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import urllib.parse
from pathlib import Path

from people import FIXTURES, FORGES, TOKENS, Server, World, answer, as_described, channel_of, drop_in_the_body, fixture, hang, hang_up, leaves
from world import Broken, Client, Daemon, Unreachable, folder_make, wait_until

PULL = json.loads((FIXTURES / "pull.json").read_text())["pull"]
BODY = (FIXTURES / "pull.md").read_text()
ZERO = "\u200b"
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def pull(**changes):
    return {**PULL, **changes}


class Forge:
    """A forge that stores pull requests, at most one open for each branch, like all three services. `faults`: what happens to the next
    requests after the forge has carried them out; `before`: the same, but the forge does not carry them out."""

    def __init__(self, kind):
        self.kind, self.pulls, self.faults, self.before, self.looks, self.log = kind, [], [], [], [], []
        self.lock = threading.Lock()
        self.server = Server(self.handle)
        self.url = self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.server.__exit__(*rest)

    def shown(self, it):
        n, url = it["n"], f"https://x/{it['n']}"
        merged = "2026-11-15T10:00:00Z" if it["state"] == "merged" else None
        if self.kind == "gitlab":
            return {"iid": n, "state": {"open": "opened"}.get(it["state"], it["state"]), "description": it["body"], "web_url": url,
                    "source_branch": it["head"], "source_project_id": it.get("repo", 4), "target_project_id": 4, "merged_at": merged}
        shown = {"number": n, "state": "open" if it["state"] == "open" else "closed", "body": it["body"], "html_url": url,
                 "head": {"ref": it["head"], "repo": {"id": it.get("repo", 4)}}, "base": {"ref": "main", "repo": {"id": 4}},
                 "merged_at": merged}
        return {**shown, "merged": merged is not None} if self.kind == "gitea" else shown

    def wanted(self, it, query):
        if self.kind == "gitlab":
            return it["head"] == query["source_branch"]
        return self.kind == "gitea" or f"acme:{it['head']}" == query["head"] and it.get("repo", 4) == 4

    def handle(self, handler, request):
        path = urllib.parse.urlsplit(request["path"])
        query = dict(urllib.parse.parse_qsl(path.query))
        self.log.append(request)
        if request["method"] == "GET":
            if self.looks:
                return self.looks.pop(0)(handler, request)
            size, page = int(query.get("per_page") or query["limit"]), int(query["page"])
            found = [self.shown(it) for it in self.pulls[::-1] if self.wanted(it, query)]
            return answer(handler, 200, body=found[(page - 1) * size:page * size])
        if self.before:
            return self.before.pop(0)(handler, request)
        with self.lock:
            status, result = self.create(request["json"])
        if self.faults:
            return self.faults.pop(0)(handler, request)
        return answer(handler, status, body=result)

    def create(self, body):
        head = body["source_branch" if self.kind == "gitlab" else "head"]
        if any(it["head"] == head and it["state"] == "open" and it.get("repo", 4) == 4 for it in self.pulls):
            return (422, {"message": "Validation Failed", "errors": [{"message": f"A pull request already exists for acme:{head}."}]}) \
                if self.kind == "github" else (409, {"message": ["Another open merge request already exists for this source branch: !1"]})
        self.pulls.append({"n": len(self.pulls) + 1, "head": head, "title": body["title"], "state": "open",
                           "body": body["description" if self.kind == "gitlab" else "body"]})
        return 201, self.shown(self.pulls[-1])


# ---- the port alone ----

@check
def what_is_sent_is_what_is_described(world):
    for kind in FORGES:
        expected = fixture(f"pull-{kind}")
        with Server([{"status": 200, "body": []}, expected["answer"]]) as server:
            outcome = world.say(channel_of(world, kind, server.url), pull())
            assert outcome["said"] == "done", outcome
            assert (outcome["reference"], outcome["url"]) == (expected["reference"], expected["url"]), outcome
            look, made = server.seen
            assert (look["method"], look["path"]) == ("GET", expected["look"]), look["path"]
            want = expected["request"]
            assert (made["method"], made["path"]) == (want["method"], want["path"]), made["path"]
            for name, value in want["headers"].items():
                assert made["headers"].get(name) == value, (name, made["headers"].get(name))
            body = json.loads(json.dumps(want["body"]).replace('"pull.md"', json.dumps(BODY)))
            assert made["json"] == body, (made["json"], body)
            as_described(expected["fields"], made["json"])


@check
def a_lost_answer_makes_no_second_one(world):
    """If the forge made the pull request and the answer was lost, the next try finds it by its branch, and there is only one."""
    for kind in FORGES:
        for fault in (hang_up, hang, drop_in_the_body, lambda h, r: answer(h, 500), lambda h, r: answer(h, 201, body="[]")):
            with Forge(kind) as forge:
                channel = channel_of(world, kind, forge.url, within="1s")
                forge.faults = [fault]
                first = world.say(channel, pull())
                assert first["said"] == "unknown" and len(forge.pulls) == 1, (kind, first)
                second = world.say(channel, pull())
                assert second["said"] == "done" and len(forge.pulls) == 1, (kind, second)
                assert (second["reference"], second["url"]) == ("1", "https://x/1"), second


@check
def one_that_was_not_heard_is_asked_for_again(world):
    answers = [(lambda h, r: answer(h, 429, {"Retry-After": "7"}), "later"), (lambda h, r: answer(h, 503), "later"),
               (lambda h, r: answer(h, 500), "unknown"), (hang, "unknown"), (hang_up, "unknown"),
               (lambda h, r: answer(h, 401), "refused"), (lambda h, r: answer(h, 422, body={"message": "no commits"}), "refused")]
    for kind in FORGES:
        for fault, said in answers:
            with Forge(kind) as forge:
                channel = channel_of(world, kind, forge.url, within="1s")
                forge.before = [fault]
                first = world.say(channel, pull())
                assert first["said"] == said and not forge.pulls, (kind, said, first)
                assert said != "later" or not first["againAt"] or 5e6 < first["againAt"] - first["now"] < 9e6, first
                assert world.say(channel, pull())["said"] == "done" and len(forge.pulls) == 1


@check
def without_a_look_nothing_is_made(world):
    for kind in FORGES:
        for fault, said in ((lambda h, r: answer(h, 500), "later"), (hang, "later"), (lambda h, r: answer(h, 404), "refused"),
                            (lambda h, r: answer(h, 200, body={"a": 1}), "later"), (drop_in_the_body, "later")):
            with Forge(kind) as forge:
                forge.looks = [fault]
                outcome = world.say(channel_of(world, kind, forge.url, within="1s"), pull())
                assert outcome["said"] == said and not forge.pulls, (kind, outcome)


@check
def those_of_others_are_not_ours(world):
    """The port does not reuse a pull request of a fork's branch with the same name, of other branches (several pages), or of an older landing,
    closed or merged."""
    for kind in FORGES:
        with Forge(kind) as forge:
            forge.pulls = [{"n": n + 1, "head": f"other-{n}", "state": "open", "body": BODY} for n in range(45)]
            forge.pulls.append({"n": 46, "head": PULL["head"], "state": "open", "body": BODY, "repo": 9})
            forge.pulls.append({"n": 47, "head": PULL["head"], "state": "closed", "body": BODY.replace("3f", "4f")})
            forge.pulls.append({"n": 48, "head": PULL["head"], "state": "merged", "body": BODY.replace("3f", "5f")})
            outcome = world.say(channel_of(world, kind, forge.url), pull())
            assert outcome["said"] == "done" and outcome["reference"] == "49", (kind, outcome)


@check
def one_that_is_there_is_used(world):
    for kind in FORGES:
        for state, said in (("open", "done"), ("merged", "done"), ("closed", "refused")):
            with Forge(kind) as forge:
                forge.pulls = [{"n": 1, "head": PULL["head"], "state": state, "body": BODY}]
                outcome = world.say(channel_of(world, kind, forge.url), pull())
                assert outcome["said"] == said and len(forge.pulls) == 1, (kind, state, outcome)
                assert outcome["url"] == "https://x/1"
                assert state != "closed" or "closed without being merged" in outcome["why"], outcome


@check
def the_faster_one_is_found(world):
    """If a person opens a pull request between the search and the creation, the forge reports that, and the port uses that one."""
    for kind in FORGES:
        with Forge(kind) as forge:
            def faster(handler, _):
                forge.pulls.append({"n": 1, "head": PULL["head"], "state": "open", "body": "by hand"})
                answer(handler, 200, body=[])
            forge.looks = [faster]
            outcome = world.say(channel_of(world, kind, forge.url), pull())
            assert outcome["said"] == "done" and outcome["reference"] == "1" and len(forge.pulls) == 1, (kind, outcome)


@check
def words_of_agents_stay_words(world):
    evil = "Draft: WIP: closes #12, fixes GH-13 and https://github.com/acme/app/issues/14 !15 @everyone [skip ci]\n/close\n/merge"
    for kind in FORGES:
        with Forge(kind) as forge:
            assert world.say(channel_of(world, kind, forge.url), pull(title=evil, text=evil, node="@all", goal="#3"))["said"] == "done"
            title, body = forge.pulls[0]["title"], forge.pulls[0]["body"]
            assert title.startswith("Overseer: ") and "\n" not in title and len(title.encode()) <= 255, title
            for text in (title, body):
                for sign in ("#12", "GH-13", "://", "!15", "@everyone", "@all", "#3"):
                    assert sign not in text, (sign, text)
            assert "[skip" not in title and "\n/close" not in body and "\n/merge" not in body, body
            long = world.say(channel_of(world, kind, forge.url), pull(head="b", title="ä" * 500, text="x\n" * 9000))
            assert long["said"] == "done" and len(forge.pulls[1]["title"].encode()) <= 255
            assert forge.pulls[1]["body"].endswith(f"<!-- overseer-landing {PULL['commit']} -->\n") and len(forge.pulls[1]["body"]) < 65535


@check
def without_memory(world):
    """Whichever allocation fails, the process ends, no token is in its output, and the next one leaves exactly one pull request."""
    for kind in FORGES:
        with Forge(kind) as forge:
            world.say(channel_of(world, kind, forge.url), pull())
            count = world.allocations
        for n in range(1, count + 1, 9):
            with Forge(kind) as forge:
                channel = channel_of(world, kind, forge.url)
                outcomes, _ = world.run([channel], [(kind, pull())], fail_at=n)
                assert not outcomes and len(forge.pulls) <= 1, (kind, n, outcomes)
                assert world.say(channel, pull())["said"] == "done" and len(forge.pulls) == 1, (kind, n)


@check
def tokens_are_in_no_text(world):
    assert not [token for token in TOKENS.values() if any(token in text for text in world.outcomes)]


# ---- the whole path ----

AGENT = """import json, re, sys
goal = re.search("goal_[0-9A-Z]{26}", sys.stdin.read()).group(0)
open("made", "w").write("made\\n")
print("Made it.\\n```json\\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "made it",
      "evidence": {"filesTouched": ["made"]}}}) + "\\n```")
"""


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}).stdout.strip()


class Fixture:
    def __init__(self, name, kind, forge, rows=None, **landing):
        self.folder = self.folder_of(name)
        self.repo, self.remote = self.folder / "repo", self.folder / "remote.git"
        self.program = self.folder / "program" / "agent.py"
        self.program.parent.mkdir()
        self.program.write_text(AGENT)
        (self.folder / "token").write_text(TOKENS[kind] + "\n")
        self.repo.mkdir()
        git(self.repo, "init", "-q", "-b", "main")
        git(self.repo, "config", "user.name", "somebody")
        git(self.repo, "config", "user.email", "somebody@localhost")
        (self.repo / "README").write_text("begun\n")
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-q", "-m", "begin")
        git(self.folder, "clone", "-q", "--bare", str(self.repo), str(self.remote))
        given, rows = rows or {}, {"supervision": {"enabled": True, "tick_every": "1s", "idle_after": "60s", "min_resend_interval": "0s",
                                "backoff.base": "1s", "backoff.max": "5s"},
                "repo": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
                "verify": {"command": "test -f made"}, "escalation": {"desktop": False}, "people": {}, "defaults": {},
                "landing": {"how": "pr", "forge": "forge", "remote": str(self.remote), **landing},
                "sandbox": {"sees": [str(self.program.parent)]}}
        rows = {name: {**row, **given.get(name, {})} for name, row in rows.items()}
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items()) for name, row in rows.items())
        channel = {"id": "forge", "kind": kind, "url": forge.url, "repo": "acme/app", "token_path": str(self.folder / "token"),
                   "within": "2s", "least": "emergency"}
        agent = {"id": "coder", "driver": "command", "program": "/usr/bin/python3", "args": [str(self.program)], **given.get("agent", {})}
        for name, row in (("channels", channel), ("agents", agent)):
            text += f"[[{name}]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
        config = self.folder / "overseer.toml"
        config.write_text(text)
        self.daemon = self.daemon_make({"OVERSEER_CONFIG": str(config), "HOME": str(self.folder)})
        self.begin()

    def folder_of(self, name):
        return folder_make(f"pulls-{name}")

    def daemon_make(self, environment):
        return Daemon(self.folder, f"sqlite:{self.folder}/store.db", options=["--lease", "3"], environment=environment)

    def begin(self):
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:
            self.daemon.alive()
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        assert error is None, f"{method}: {error}"
        return result

    def goal(self, title="a task for an agent"):
        goal = self.do("goal.create", title=title)["goalId"]
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "Closes #1: make it", "acceptanceCriteria": ["it is done"],
             "objective": "Make it, @everyone."}])
        return goal

    def records(self, goal, kind):
        return self.do("events.list", goal=goal, type=kind)["events"]

    def wait(self, what, question, within=60):
        return wait_until(what, question, within, 0.1)

    def branches(self):
        return git(self.remote, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").split()

    def close(self):
        for goal in self.do("goal.list")["goals"]:
            self.client.call("goal.cancel", {"goal": goal["goalId"], "reason": "the test is over"})
        time.sleep(0.5)
        self.client.close()
        self.daemon.stop()


def evidence(record):
    return json.dumps(record)


@check
def the_whole_way(world):
    """The daemon pushes the branch, opens the pull request, records it and shows it in `why` and `goal show`; the operator's refs do not change."""
    for kind in FORGES:
        with Forge(kind) as forge:
            fixture = Fixture(f"whole-{kind}", kind, forge)
            try:
                goal = fixture.goal()
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
                [landed] = fixture.records(goal, "work.landed")
                assert "https://x/1" in evidence(landed), landed
                assert len(forge.pulls) == 1 and len(fixture.branches()) == 1, forge.pulls
                made = forge.pulls[0]
                assert f"refs/heads/{made['head']}" == fixture.branches()[0], made
                assert git(fixture.remote, "show", f"{made['head']}:made") == "made"
                assert "Closes" in made["title"] and "#1" not in made["title"], made["title"]
                assert "@everyone" not in made["body"] and "test \\-f made" in made["body"].replace("-f", "\\-f"), made["body"]
                assert git(fixture.repo, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
                assert "https://x/1" in json.dumps(fixture.do("why.show", of=goal)), "why does not tell"
                fixture.wait("what it left is in the remote, too",
                           lambda: git(fixture.remote, "for-each-ref", "--format=%(refname)", "refs/overseer/salvage"))
                assert "https://x/1" in json.dumps(fixture.do("goal.show", goal=goal)), "goal show does not tell"
            finally:
                fixture.close()


@check
def a_forge_that_fails_for_a_while(world):
    """After a 500, a hang, a 429 and a lost answer, the daemon tries again with pauses, and there is one pull request."""
    faults = [lambda h, r: answer(h, 500), hang, lambda h, r: answer(h, 429, {"Retry-After": "1"})]
    with Forge("gitea") as forge:
        forge.before, forge.faults = faults, [hang_up]
        fixture = Fixture("fails", "gitea", forge)
        try:
            goal = fixture.goal()
            fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
            assert len(forge.pulls) == 1 and len(fixture.records(goal, "work.landed")) == 1, forge.pulls
            made = [r for r in forge.log if r["method"] == "POST"]
            assert len(made) == 4, len(made)  # the fifth try finds the pull request that the fourth has made
            assert not fixture.records(goal, "work.not_landed")
        finally:
            fixture.close()


@check
def pushed_is_not_landed(world):
    """If the forge refuses the pull request, the branch exists, the daemon records no landing, and it asks a person."""
    with Forge("github") as forge:
        forge.before = [lambda h, r: answer(h, 403, body={"message": "Resource not accessible by personal access token"})] * 20
        fixture = Fixture("refused", "github", forge)
        try:
            goal = fixture.goal()
            fixture.wait("it is not landed", lambda: fixture.records(goal, "work.not_landed"))
            assert not fixture.records(goal, "work.landed") and len(fixture.branches()) == 1 and not forge.pulls
            [record] = fixture.records(goal, "work.not_landed")
            assert "pushed" in evidence(record) and "403" in evidence(record), record
            fixture.wait("a person is asked", lambda: fixture.do("inbox.list")["items"])
            forge.before = []
            question = fixture.do("inbox.list")["items"][0]
            fixture.do("question.answer", goal=goal, question=question["questionId"], answer="try again")
            fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
            assert len(forge.pulls) == 1
        finally:
            fixture.close()


@check
def killed_between_push_and_opening(world):
    """If the daemon is killed while it waits for the forge, before or after the forge has made the pull request, the next daemon ends with one."""
    for moment in ("before", "faults"):
        with Forge("gitlab") as forge:
            arrived = threading.Event()

            def stuck(handler, request):
                arrived.set()
                hang(handler, request)
            setattr(forge, moment, [stuck])
            fixture = Fixture(f"killed-{moment}", "gitlab", forge)
            try:
                goal = fixture.goal()
                assert arrived.wait(60), "the forge was never asked"
                fixture.daemon.process.send_signal(signal.SIGKILL)
                fixture.daemon.process.wait()
                assert len(fixture.branches()) == 1 and len(forge.pulls) == (moment == "faults")
                fixture.begin()
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
                assert len(forge.pulls) == 1 and len(fixture.records(goal, "work.landed")) == 1, forge.pulls
            finally:
                fixture.close()


@check
def stopped_while_it_waits(world):
    """If the daemon is stopped between two tries or during a try, it records no failure, and the next daemon opens the pull request."""
    for name, fault in (("pause", lambda h, r: answer(h, 503)), ("try", hang)):
        with Forge("github") as forge:
            forge.before = [fault] * 50
            fixture = Fixture(f"stopped-{name}", "github", forge)
            try:
                goal = fixture.goal()
                fixture.wait("it was tried", lambda: [r for r in forge.log if r["method"] == "POST"])
                time.sleep(0.3)
                fixture.client.close()
                fixture.daemon.stop()
                forge.before = []
                fixture.begin()
                fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))
                assert len(forge.pulls) == 1 and not fixture.records(goal, "work.not_landed")
            finally:
                fixture.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    world, failed, passed = World(), 0, 0
    for function in CHECKS:
        if options.only not in function.__name__:
            continue
        begin = time.monotonic()
        try:
            function(world)
            passed += 1
            print(f"ok {function.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        except (Exception, Broken):  # the other tests still run
            failed += 1
            print(f"FAILED {function.__name__}", flush=True)
            traceback.print_exc(limit=4)
    print(f"pulls: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
