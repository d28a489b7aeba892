#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do questions reach a person, and does the person's answer take effect? An end-to-end test with the daemon and real servers on loopback.

asked.py [--only NAME] [--engine sqlite|postgres] [--kills N]: the daemon sends questions to web hooks and issue trackers that fail, hang, ask
for patience and lose their answers, while the test stops and kills the daemon. Each message arrives at least once under its own name, a
tracker shows each question once and in order, and nothing is lost. people.py tests each channel by itself.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time
import traceback

import proof
from people import Server, answer, hang, hang_up
from world import OVERSEER, Broken, Client, Daemon, folder_make, store_make, under_postgres, wait_until

CHECKS = []
OPTIONS = ["drop", "keep"]


def check(rows):
    def add(function):
        CHECKS.append((function, rows))
        return function
    return add


def expect(promise, text):
    if not promise:
        raise Broken(text)


class Forge:
    """A tracker that keeps issues and comments; `trouble` makes it fail before, or hang after, it has stored a request."""

    def __init__(self):
        self.issues, self.comments, self.trouble = [], [], None
        self.server = Server(self.step)

    def step(self, handler, request):
        path, body = request["path"].split("?")[0], request["json"]
        if path.endswith("/labels"):
            answer(handler, 200 if request["method"] == "GET" else 201, body=[])
            return
        if request["method"] == "GET":
            rows = [{"number": n + 1, "body": issue["body"], "html_url": f"{self.server.url}/issues/{n + 1}", "state": "open"}
                    for n, issue in enumerate(self.issues)]
            last = path.rsplit("/", 1)[1]
            if last.isdigit():
                answer(handler, body=rows[int(last) - 1])
                return
            found = rows if last == "issues" else [{"body": one["body"]} for one in self.comments]
            answer(handler, body=found if "page=1" in request["path"] or "page" not in request["path"] else [])
            return
        if request["method"] == "PATCH":  # closed
            answer(handler, body={"number": 1})
            return
        trouble = self.trouble
        if trouble == "before":
            answer(handler, 500)
            return
        into = self.comments if path.endswith("/comments") else self.issues
        into.append(body or {})
        if trouble == "after":
            hang(handler, request)
            return
        number = len(into)
        answer(handler, 201, body={"number": number, "id": number, "html_url": f"{self.server.url}/issues/{number}"})


class Fixture:
    def __init__(self, engine, channels, **people):
        self.folder = folder_make("asked")
        self.store = store_make(engine, self.folder, f"asked{random.getrandbits(32):08x}")
        lines = ["[escalation]", "desktop = false", "[people]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in people.items()]
        for channel in channels:
            lines += ["[[channels]]"] + [f"{name} = {json.dumps(value)}" for name, value in channel.items()]
        self.config = self.folder / "overseer.toml"
        self.config.write_text("\n".join(lines) + "\n")
        self.daemon = Daemon(self.folder, self.store.uri, options=["--lease", "2"],
                             environment={"OVERSEER_CONFIG": str(self.config)})
        self.start()

    def start(self):
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def restart(self, kill):
        (self.daemon.kill if kill else self.daemon.stop)()
        self.start()

    def token(self, name, text):
        path = self.folder / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return str(path)

    def do(self, method, **params):
        _, result, error = self.client.call(method, params)
        expect(not error, f"{method} {params}: {error}")
        return result

    def refused(self, method, **params):
        _, _, error = self.client.call(method, params)
        expect(error, f"{method} {params} was not refused")
        return error["data"]["code"]

    def ask(self, goal, title, **more):
        before = {one["questionId"] for one in self.items(goal)}
        self.do("question.ask", goal=goal, title=title, **{"options": OPTIONS, **more})
        return next(one["questionId"] for one in self.items(goal) if one["questionId"] not in before)

    def items(self, goal=None):
        return [item for item in self.do("inbox.list", limit=100)["items"]
                if "questionId" in item and goal in (None, item["goalId"])]

    def types(self, goal):
        return [event["type"] for event in self.do("events.list", goal=goal, limit=500)["events"]]

    def close(self):
        self.daemon.stop()
        expect(not self.daemon.promises_broken(), self.daemon.log_tail())


def hook(server, **more):
    return {"id": "hook", "kind": "webhook", "url": server.url + "/hook", "least": "info", **more}


def ids(server):
    return [request["headers"]["X-Overseer-Id"] for request in server.seen]


# ---- ESCALATE-07, G-23: channels that fail ----

@check("ESCALATE-07")
def a_hook_that_fails_hears_it_later(engine):
    script = [{"status": 500}, hang_up, {"status": 200}]
    with Server(script) as server, Server([{"status": 404}]) as other:
        fixture = Fixture(engine, [hook(server, within="2s"), {**hook(other), "id": "other"}])
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        question = fixture.ask(goal, "Drop the column?")
        wait_until("it was said", lambda: len(server.seen) == 3, 60)
        wait_until("and that is known", lambda: fixture.types(goal).count("question.said") == 1, 10)
        expect(len(set(ids(server))) == 1, "one message has one name, however often it is tried")
        payloads = [request["json"] for request in server.seen]
        expect(all(one["title"] == "Drop the column?" and one["question"]["id"] == question for one in payloads), payloads)
        said = fixture.do("question.show", question=question, goal=goal)["said"]
        expect([one["result"] for one in said if one["channel"] == "hook"][0] == "said", said)
        expect([one["result"] for one in said if one["channel"] == "other"] == ["refused"], said)
        expect(fixture.do("goal.show", goal=goal)["status"] == "active", "the work goes on")
        fixture.close()


@check("ESCALATE-07")
def a_service_that_asks_for_patience_gets_it(engine):
    with Server([{"status": 429, "headers": {"Retry-After": "8"}}, {"status": 200}]) as server:
        fixture = Fixture(engine, [hook(server)])
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        fixture.ask(goal, "Drop the column?")
        wait_until("it was tried", lambda: len(server.seen) == 1, 10)
        began = time.monotonic()
        wait_until("and again", lambda: len(server.seen) == 2, 30)
        expect(time.monotonic() - began > 6.5, f"too soon: {time.monotonic() - began:.1f} s")
        fixture.close()


@check("ESCALATE-07")
def a_hook_that_hangs_keeps_nobody_waiting(engine):
    with Server(hang) as stuck, Server([{"status": 200}]) as well:
        fixture = Fixture(engine, [hook(stuck, within="20s"), {**hook(well), "id": "well"}])
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        began = time.monotonic()
        fixture.ask(goal, "one?")
        fixture.ask(goal, "two?")
        wait_until("the other channel has both", lambda: len(well.seen) == 2, 5)
        titles = [request["json"]["title"] for request in well.seen]
        expect(titles == ["one?", "two?"], titles)
        done = fixture.do("goal.create", title="has a command", command="true")["goalId"]
        wait_until("work is done meanwhile", lambda: fixture.do("goal.show", goal=done)["status"] == "completed", 5)
        fixture.do("goal.complete", goal=goal, reason="seen")  # while messages are being sent
        expect(time.monotonic() - began < 15, "it waited for the hook")
        expect(fixture.items(goal) == [], "nobody is asked about what is over")
        fixture.close()


# ---- restarts ----

@check("ESCALATE-15 ESCALATE-12")
def a_tracker_shows_a_question_once_whatever_happens(engine, kills=3):
    forge = Forge()
    with forge.server:
        fixture = Fixture.__new__(Fixture)
        folder = folder_make("asked-token")
        token = folder / "token"
        token.write_text("secret\n")
        token.chmod(0o600)
        fixture.__init__(engine, [{"id": "forge", "kind": "gitea", "url": forge.server.url, "repo": "o/r", "least": "info",
                                 "token_path": str(token), "within": "3s"}], undo_for="1s")
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        asked = []
        for n in range(kills):
            forge.trouble = ("after", "before", None)[n % 3]
            issues = len(forge.issues)
            asked.append(fixture.ask(goal, f"question {n}?"))
            if forge.trouble == "after":  # the tracker has the issue, the daemon got no answer, and the daemon is killed
                wait_until("the issue is there", lambda: len(forge.issues) > issues, 20)
            fixture.daemon.kill()
            forge.trouble = None
            fixture.start()
            wait_until(f"question {n} is known to be said",
                       lambda: any(one["result"] == "said" for one in
                                   fixture.do("question.show", question=asked[-1], goal=goal)["said"]), 60)
        titles = [issue["title"] for issue in forge.issues]
        for n in range(kills):
            expect(sum(f"question {n}?" in title for title in titles) == 1, titles)
        shown = fixture.do("question.show", question=asked[0], goal=goal)["said"][0]
        expect(shown["channel"] == "forge" and shown["reference"] and "/issues/" in shown.get("url", ""), shown)
        before = len(forge.comments)
        fixture.do("question.answer", question=asked[0], goal=goal, answer="b")
        wait_until("the tracker hears that it is settled", lambda: len(forge.comments) > before, 30)
        expect(len(forge.issues) == kills, [issue["title"] for issue in forge.issues])
        fixture.close()


@check("ESCALATE-07")
def nothing_is_lost_over_restarts(engine, kills=6):
    """Ten questions each arrive under their own name although the hook fails now and then and the daemon is killed."""
    random.seed(7)
    moods = [lambda h, r: answer(h, 500), hang_up, lambda h, r: answer(h, 200), lambda h, r: answer(h, 200)]

    def step(handler, request):
        random.choice(moods)(handler, request)
    with Server(step) as server:
        fixture = Fixture(engine, [hook(server, within="2s")], messages_per_hour=1000)
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        for n in range(10):
            fixture.ask(goal, f"question {n}?", level="critical")
            if n % 2:
                fixture.restart(kill=n % 4 == 1)
        moods[:] = [lambda h, r: answer(h, 200)]
        wait_until("all are known to be said", lambda: fixture.types(goal).count("question.said") >= 10, 180)
        named = {}
        for request in server.seen:
            named.setdefault(request["json"]["title"], set()).add(request["headers"]["X-Overseer-Id"])
        expect(len(named) == 10 and all(len(one) == 1 for one in named.values()), named)
        expect(len(fixture.items(goal)) == 10, "and all wait in the inbox")
        fixture.close()


# ---- answers ----

@check("ESCALATE-14")
def answers_are_given_by_letter_number_and_words(engine):
    fixture = Fixture(engine, [], undo_for="2s")
    goal = fixture.do("goal.create", title="a goal")["goalId"]
    question = fixture.ask(goal, "Drop the column?", default="b", expires="8h")
    item = fixture.items(goal)[0]
    expect(item["options"] == OPTIONS and item["default"] == "b" and item["question"] == "Drop the column?", item)
    expect(fixture.refused("question.answer", question=question, answer="c") == "E_INVALID", "no such letter")
    expect(fixture.refused("question.approve", question=question) == "E_INVALID", "no yes or no")
    fixture.do("question.answer", question=question, answer="1")
    expect(fixture.refused("question.answer", question=question, answer="2") == "E_CONFLICT", "answered already")
    fixture.do("question.undo", question=question)
    fixture.restart(kill=True)
    fixture.do("question.answer", question=question, answer="KEEP", text="until the release")
    fixture.restart(kill=True)  # the answer still takes effect
    wait_until("it takes effect", lambda: "question.applied" in fixture.types(goal), 10)
    types = fixture.types(goal)
    expect(types.count("question.undone") == 1 and types.count("question.applied") == 1, types)
    events = fixture.do("events.list", goal=goal, type="question.answered")["events"]
    expect("keep: until the release" in json.dumps(events[-1]), events)
    expect(fixture.refused("question.undo", question=question, goal=goal) == "E_NOT_FOUND", "too late")
    fixture.close()


@check("ESCALATE-14")
def an_answer_is_undone_by_the_name_of_its_task(engine):
    fixture = Fixture(engine, [], undo_for="1h")
    goal = fixture.do("goal.create", title="a goal")["goalId"]
    task = fixture.do("goal.show", goal=goal)["name"]
    first = fixture.ask(goal, "Drop the column?")
    expect(fixture.refused("question.undo", question=task) == "E_NOT_FOUND", "nothing is answered")
    expect(fixture.refused("question.answer", question=task, answer="a") == "E_INVALID", "an answer names its question")
    fixture.do("question.answer", question=first, answer="a")
    fixture.do("question.undo", question=task)
    expect(fixture.items(goal)[0]["state"] == "open", fixture.items(goal))
    second = fixture.ask(goal, "Drop the table?")
    for question in (first, second):
        fixture.do("question.answer", question=question, answer="a")
    expect(fixture.refused("question.undo", question=task) == "E_INVALID", "two are answered")
    fixture.do("question.undo", question=second)
    fixture.do("question.undo", question=task, goal=goal)
    expect([item["state"] for item in fixture.items(goal)] == ["open", "open"], fixture.items(goal))
    fixture.close()


@check("ESCALATE-14")
def approvals_have_an_end_and_people(engine):
    fixture = Fixture(engine, [], undo_for="0s")
    goal = fixture.do("goal.create", title="a goal")["goalId"]
    ship = fixture.ask(goal, "Ship it?", kind="approve", options=[], who="anna")
    expect(fixture.refused("question.approve", question=ship) == "E_UNAUTHORIZED", "only anna may")
    token = fixture.do("token.create", role="overseer", actor="planner")["token"]
    done = subprocess.run([str(OVERSEER), "approve", ship, "--socket", str(fixture.daemon.socket), "--token", token, "--json"],
                          capture_output=True, text=True, timeout=30, env={**os.environ, "HOME": str(fixture.folder)})
    expect(done.returncode != 0, "no program approves for people")
    soon = fixture.ask(goal, "Now?", kind="approve", options=[], expires="2s")
    wait_until("it is refused by itself", lambda: soon not in {one["questionId"] for one in fixture.items(goal)}, 15)
    expired = fixture.do("events.list", goal=goal, type="question.expired")["events"]
    expect(len(expired) == 1, expired)
    fixture.close()


@check("ESCALATE-15")
def the_same_cause_is_asked_once(engine):
    with Server([{"status": 200}]) as server:
        fixture = Fixture(engine, [hook(server)], say_again="1m")
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        for _ in range(10):
            fixture.do("question.ask", goal=goal, title="Drop?", cause="schema", options=OPTIONS)
        wait_until("it was said", lambda: len(server.seen) == 1, 10)
        time.sleep(1)
        expect(len(server.seen) == 1 and len(fixture.items(goal)) == 1, f"said {len(server.seen)} times")
        question = fixture.items(goal)[0]["questionId"]
        fixture.do("question.ack", question=question)
        expect(fixture.items(goal)[0]["acknowledged"], "a person takes care of it")
        fixture.do("question.snooze", question=question, until="1h")
        expect("snoozedUntil" in fixture.items(goal)[0], "put off")
        fixture.close()


@check("ESCALATE-02 ESCALATE-03")
def the_level_follows_from_what_was_done(engine):
    with Server([{"status": 200}]) as server:
        fixture = Fixture(engine, [{**hook(server), "least": "emergency"}])
        goal = fixture.do("goal.create", title="a goal")["goalId"]
        for intervention, severity, level in (("log", "critical", "info"), ("warn", "high", "warning"), ("redirect", "high", "warning"),
                                              ("redirect", "critical", "critical"), ("pause", "high", "critical"), ("abort", "low", "emergency")):
            fixture.do("question.ask", goal=goal, title=f"{intervention} {severity}", kind="alert", intervention=intervention,
                     severity=severity, detection="loop.same-error")
            item = next(one for one in fixture.items(goal) if one["question"] == f"{intervention} {severity}")
            expect(item["level"] == level, item)
        wait_until("the abort was said", lambda: server.seen, 10)
        context = server.seen[0]["json"]["context"]
        expect(context["intervention"]["level"] == "abort" and context["detection"]["type"] == "loop.same-error", context)
        time.sleep(0.5)
        expect(len(server.seen) == 1, "only the emergency")
        fixture.close()


# ---- agents ask ----

AGENTS = """[supervision]
enabled = true
[[agents]]
id = "auto-1"
driver = "pretend"
behaviour = "silent"
"""
PLAN = [{"id": "P1", "tier": "phase", "name": "P1", "acceptanceCriteria": ["seen"]},
        {"id": "T1", "tier": "task", "parentId": "P1", "name": "T1", "acceptanceCriteria": ["seen"]}]


@check("REQUEST-01 REQUEST-03 REQUEST-05 REQUEST-06 ASSIGN-03")
def an_agent_asks_and_hears_the_answer(engine):
    fixture = Fixture(engine, [])
    fixture.config.write_text(fixture.config.read_text() + AGENTS)
    fixture.do("config.reload")
    origin = {"channel": "chat", "to": "room-7", "thread": "t-1", "account": "ops"}
    goal = fixture.do("goal.create", title="a goal", **{f"origin{name.title()}": text for name, text in origin.items()})["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=PLAN)

    def target():
        shown = fixture.do("assignment.show", goal=goal, assignment=name)
        return shown["agentId"], shown["sessionKey"], shown["deliveryContext"]

    def session():
        found = fixture.do("request.list", goal=goal)["sessions"]
        return found[0] if found else {}
    wait_until("an agent works", lambda: session().get("runStatus") == "running", 20)
    expect(session()["pendingRequestCount"] == 0 and "blockedReason" not in session(), session())
    name = session()["assignmentId"]
    expect(target()[0] == "auto-1" and target()[1].startswith("agent:auto-1:") and target()[2] is None, target())

    def ask(title):
        return fixture.client.call("request.send", {"goal": goal, "assignment": name, "title": title})[2]
    for n in range(3):
        expect(not ask(f"question {n}?"), n)
        if n == 1:
            fixture.restart(kill=True)
    expect(ask("question 3?")["data"]["code"] == "E_LIMITED", "three wait at most")
    expect(target()[2] == origin, target())
    expect(session()["runStatus"] == "blocked" and session()["pendingRequestCount"] == 3 and session()["blockedReason"], session())
    requests = fixture.do("request.list", goal=goal)["requests"]
    expect([one["title"] for one in requests] == [f"question {n}?" for n in range(3)], requests)
    for n, request in enumerate(requests):
        fixture.do("request.respond", goal=goal, question=request["questionId"], text=f"answer {n}")
        wait_until("the agent is told", lambda: f"answer {n}" in json.dumps(fixture.do("assignment.show", goal=goal, assignment=name)), 45)
    wait_until("it goes on", lambda: session()["runStatus"] == "running" and session()["pendingRequestCount"] == 0, 45)
    fixture.close()


# ---- mail ----

@check("MAIL-01 MAIL-02 MAIL-06")
def mail_outlives_the_daemon(engine):
    fixture = Fixture(engine, [])
    goal = fixture.do("goal.create", title="a goal")["goalId"]
    for n in range(3):
        fixture.do("mail.send", goal=goal, to="overseer", subject=f"m{n}", body="b", kind="alert", ack_required=True)
    expect(fixture.refused("mail.send", goal=goal, to="overseer", subject="x", sender="overseer") == "E_INVALID", "nobody says who they are")
    fixture.restart(kill=True)
    messages = fixture.do("mail.inbox", goal=goal)["messages"]
    expect([one["subject"] for one in messages] == ["m0", "m1", "m2"], messages)
    proof.passed("e2e", "asked: what was sent before a kill is read after it, in order", "MAIL-07.a")
    expect(all(one["kind"] == "alert" and one["ack_required"] and one["sender"].startswith("human:") for one in messages), messages)
    fixture.do("mail.ack", goal=goal, message=messages[0]["messageId"])
    fixture.restart(kill=True)
    expect([one["subject"] for one in fixture.do("mail.inbox", goal=goal)["messages"]] == ["m1", "m2"], "acknowledged is not delivered again")
    proof.passed("e2e", "asked: what was acknowledged is not delivered again", "MAIL-07.b")
    fixture.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    failed = passed = 0
    for function, rows in CHECKS:
        if options.only not in function.__name__:
            continue
        try:
            function(options.engine)
            proof.passed("e2e", f"asked: {function.__name__}", rows)
            passed += 1
        except (Exception, Broken):  # the other checks still run
            failed += 1
            print(f"FAILED {function.__name__}")
            traceback.print_exc(limit=4)
    print(f"asked {options.engine}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
