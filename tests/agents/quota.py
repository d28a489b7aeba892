#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks quota windows, marks and paid extra usage with the real Claude Code and the real Codex, and scripted headers.

quota.py [windows|mark|overage|codex|live|until] …

windows: what the program reports is shown, with its age, in account.list, `status` and /metrics; before that, `--quota` is refused.
mark: nothing begins while a window is at the mark; what waits begins within a minute of the reset. overage: at the first sign of paid
usage all runs of the account are frozen, also over a restart of the daemon; nothing more is requested until a person allows it.
codex: its windows, which codex-acp does not pass on, are read from the file of its session. live: one turn of each account, by
consent. until: a night is warned of a login that ends before it does.

Installs the programs if they are missing, and runs itself in `lonely`. Exit status 77: a program cannot be installed here.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from model import Model  # noqa: E402
from world import OVERSEER, Broken, Client, Daemon, Unreachable, wait_until  # noqa: E402

SKIPPED = 77
TOKEN = "sk-ant-oat01-" + "q" * 80
UNIFIED = "anthropic-ratelimit-unified-"
SLEEPS = " ;; ".join(["run sleep 0.3"] * 60)


def expect(holds, what):
    if not holds:
        raise Broken(what)


def head(five, resets, status="allowed", **more):
    """The headers of an answer to a subscriber: the five-hour window, and the one of seven days at 41 %."""
    rows = {"status": status, "reset": resets, "representative-claim": "five_hour", "5h-utilization": str(five), "5h-reset": resets,
            "7d-utilization": "0.41", "7d-reset": "+86400", **more}
    return "head " + json.dumps({UNIFIED + name: value for name, value in rows.items()})


def paid(resets):
    return head(1.0, resets, "rejected", **{"overage-status": "allowed", "overage-reset": "+86400", "overage-in-use": "true"})


def program(name):
    words = shlex.split(subprocess.run([str(HERE.parents[1] / "tools/agents"), "path", name], check=False, capture_output=True,
                                       text=True).stdout)
    if not words or not Path(words[0]).exists():
        print(f"skip: {name} is not installed")
        sys.exit(SKIPPED)
    return words


class Fixture:
    def __init__(self, folder, agent, account=None, environment=None):
        self.folder, self.repo = folder, folder / "repo"
        self.repo.mkdir()
        for words in (["init", "-q", "-b", "main"], ["config", "user.name", "somebody"], ["config", "user.email", "somebody@localhost"],
                      ["commit", "-q", "--allow-empty", "-m", "begin"], ["checkout", "-q", "--detach"]):
            subprocess.run(["git", "-C", str(self.repo), *words], check=True, capture_output=True)
        rows = {"[supervision]": {"enabled": True, "tick_every": "1s", "backoff.base": "1s", "backoff.max": "2s", "verify_by_person": False},
                "[people]": {"undo_for": "0s"}, "[repo]": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
                "[[agents]]": {"id": "coder", "account": "max", **agent}, "[[accounts]]": {"name": "max", **(account or {})}}
        config = folder / "overseer.toml"
        config.write_text("".join(f"{section}\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in row.items())
                                  for section, row in rows.items()))
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"],
                             environment={"OVERSEER_CONFIG": str(config), "HOME": str(folder), **(environment or {})})
        self.begin()
        self.state, self.count = folder / "overseerd.state", 0

    def begin(self):
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def ask(self, method, **params):
        try:
            return self.client.call(method, params)[1:]
        except Unreachable:  # the daemon closes idle connections
            self.client = Client(self.daemon.socket)
            return self.client.call(method, params)[1:]

    def do(self, method, **params):
        result, error = self.ask(method, **params)
        expect(error is None, f"{method}: {error}")
        return result

    def task(self, script, **more):
        self.count += 1
        goal = self.do("goal.create", title=f"task {self.count}", **more)["goalId"]
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": f"Task {self.count}. <<<{script}>>>"}])
        return goal

    def account(self):
        return self.do("account.list")["accounts"][0]

    def windows(self):
        return {row["window"]: row for row in self.account()["windows"]}

    def runs(self):
        return len(list(self.state.glob("runs/*/run.json")))

    def command(self, *words):
        return subprocess.run([str(OVERSEER), *words, "--socket", str(self.daemon.socket)], capture_output=True, text=True, check=False)

    def wait(self, what, question, within=60):
        try:
            return wait_until(what, lambda: self.daemon.alive() and question(), within, 0.2)
        except Broken as error:
            raise Broken(f"{error}: {json.dumps(self.account())} {self.command('status').stdout[:2000]} {self.daemon.log_tail()}") from None

    def close(self):
        for goal in self.do("goal.list")["goals"]:
            if goal["status"] not in ("completed", "cancelled"):
                self.client.call("goal.cancel", {"goal": goal["goalId"]})
        wait_until("every run has ended", lambda: not list(self.state.glob("runs/*/run.json")), 60, 0.2)
        self.daemon.stop(30)


def claude(folder, model, account=None):
    words, token = program("claude"), folder / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    return Fixture(folder, {"kind": "claude", "driver": "claude", "program": words[0], "args": words[1:], "token_file": str(token),
                            "base_url": model.url}, account)


def seen(fixture, window, used):
    return fixture.windows().get(window, {}).get("used") == used


# ---- tests ----

def windows(folder):
    with Model() as model:
        fixture = claude(folder, model)
        try:
            _, error = fixture.ask("goal.create", title="too early", quota=80)
            expect(error and "account max" in json.dumps(error) and "doctor --live" in json.dumps(error), f"--quota was accepted: {error}")
            fixture.task(f"{head(0.62, '+7200')} && say half")
            fixture.wait("the windows are known", lambda: seen(fixture, "5h", 0.62) and seen(fixture, "7d", 0.41))
            row = fixture.windows()["5h"]
            expect(row["resetsAt"] and row["seenAt"] and row["status"] != "rejected", f"the window is {row}")
            expect(fixture.account()["logins"][0]["kind"] == "token", f"the login is {fixture.account()['logins']}")
            shown = fixture.command("status").stdout
            expect("QUOTA" in shown and "5h 62% until" in shown and "7d 41%" in shown, f"status says {shown}")
            shown = fixture.command("account", "list").stdout
            expect("62%" in shown and "token" in shown and TOKEN not in shown, f"account list says {shown}")
            fixture.do("goal.create", title="now it is known", quota=80)
            for wrong in ("0", "101", "80.5", "much"):
                said = fixture.command("run", "anything", "--quota", wrong)
                expect(said.returncode != 0 and "--quota" in said.stderr, f"--quota {wrong}: {said}")
        finally:
            fixture.close()
    print("ok: windows of Claude Code are shown, and a mark is refused before they are known", flush=True)


def mark(folder):
    with Model() as model:
        fixture = claude(folder, model, {"quota": 80})
        try:
            fixture.task(f"{head(0.85, '+25')} && say nearly ;; say done")
            fixture.wait("the window is known", lambda: seen(fixture, "5h", 0.85))
            resets = time.time() + 25
            runs = fixture.runs()
            second = fixture.task("say begun")
            fixture.wait("why says what it waits for", lambda: "85 % of its 5h window" in fixture.do("why.show", of=second)["waitsFor"])
            while time.time() < resets - 6:
                expect(fixture.runs() == runs, "it began above the mark")
                time.sleep(0.5)
            fixture.wait("it begins after the reset", lambda: fixture.runs() > runs, 66)
            expect(resets - 3 < time.time() < resets + 60, f"it began {time.time() - resets:.0f} s after the reset")
        finally:
            fixture.close()
    print("ok: nothing begins at the mark, and what waits begins after the reset", flush=True)


def overage(folder):
    with Model() as model:
        fixture = claude(folder, model)
        try:
            fixture.task(SLEEPS)
            fixture.wait("the first works", lambda: len(model.log("asked")) > 3)
            fixture.task(f"run sleep 0.3 ;; {paid('+600')} && run sleep 0.3 ;; {SLEEPS}")
            fixture.wait("it is asked about", lambda: fixture.account()["extraUsage"]["state"] == "asked")
            entries = [one for one in fixture.do("inbox.list")["items"] if "begins to cost extra" in json.dumps(one)]
            expect(len(entries) == 1, f"the inbox has {fixture.do('inbox.list')}")
            extra = fixture.account()["extraUsage"]
            expect(extra["inFlight"] == 2, f"two turns were open: {extra}")
            time.sleep(1)  # what was under way is answered
            before = len(model.log("asked"))
            time.sleep(4)
            expect(len(model.log("asked")) == before, "something was requested while it was frozen")
            fixture.wait("both wait", lambda: all(fixture.do("assignment.list", goal=goal["goalId"])["assignments"][0]["waitsFor"] == "overage"
                                                  for goal in fixture.do("goal.list")["goals"]))
            expect("EXTRA" in fixture.command("status").stdout, "status does not say it")
            fixture.task("say third")
            fixture.daemon.stop(30)
            fixture.begin()
            time.sleep(4)
            expect(len(model.log("asked")) == before, "something was requested after the restart")
            fixture.do("question.answer", question=entries[0]["questionId"], answer="2")
            fixture.wait("they go on", lambda: len(model.log("asked")) > before + 4)
            expect(fixture.account()["extraUsage"]["state"] == "allowed", f"it is {fixture.account()['extraUsage']}")
        finally:
            fixture.close()
    print("ok: at the first sign of paid usage every run of the account is frozen, until a person allows it", flush=True)


def codex(folder):
    """Codex takes its limits from the headers of an answer."""
    words = program("codex-acp")
    codex_words = program("codex")
    limits = {"x-codex-primary-used-percent": "34", "x-codex-primary-window-minutes": "300", "x-codex-primary-reset-at": "+3600",
              "x-codex-secondary-used-percent": "20", "x-codex-secondary-window-minutes": "10080", "x-codex-secondary-reset-at": "+86400"}
    with Model() as model:
        (folder / ".codex").mkdir()
        (folder / ".codex/config.toml").write_text(
            'model = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\nwire_api = "responses"\n'
            f'base_url = "{model.url}/v1"\nenv_key = "OPENAI_API_KEY"\n')
        fixture = Fixture(folder, {"kind": "codex-acp", "driver": "acp", "program": words[0], "args": words[1:], "keys": ["OPENAI_API_KEY"],
                                   "share": [".codex/config.toml"]}, environment={"OPENAI_API_KEY": "sk-scripted", "CODEX_PATH": codex_words[0]})
        try:
            fixture.task(f"head {json.dumps(limits)} && say half")
            fixture.wait("the windows are known", lambda: seen(fixture, "5h", 0.34) and seen(fixture, "7d", 0.2))
        finally:
            fixture.close()
    print("ok: windows of Codex are read from the file of its session", flush=True)


def live(folder):
    """One turn of each account; with the reason if it fails; and not without consent."""
    with Model() as model:
        fixture = claude(folder, model)
        try:
            said = fixture.command("doctor", "--live")
            expect(said.returncode != 0 and "consent" in said.stderr and not model.log("asked"), f"it did not ask: {said}")
            said = fixture.command("doctor", "--live", "--yes")
            expect(said.returncode == 0 and "good" in said.stdout and "max" in said.stdout, f"it says {said}")
            asked = len(model.log("asked"))
            expect(asked > 0, "nothing was asked")
            fixture.wait("its run has ended", lambda: fixture.runs() == 0)
        finally:
            fixture.close()
    with Model(script="[match test of your login]\nerror 401 final") as model:
        (folder / "second").mkdir()
        fixture = claude(folder / "second", model)
        try:
            said = fixture.command("doctor", "--live", "--yes", "--json")
            row = json.loads(said.stdout)["accounts"][0]
            expect(said.returncode == 1 and not row["ok"] and "401" in row["text"], f"it says {said}")
        finally:
            fixture.close()
    print("ok: doctor --live has each account work for one turn, and says what failed", flush=True)


def until(folder):
    """A copied login that ends before --until is said; a token of Overseer's own is not."""
    with Model() as model:
        fixture = claude(folder, model)
        config, home = folder / "overseer.toml", folder / ".claude"
        try:
            home.mkdir()
            (home / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {
                "accessToken": "sk-ant-oat01-" + "c" * 80, "refreshToken": "r", "expiresAt": int(time.time() * 1000) + 5000,
                "scopes": ["user:inference"], "subscriptionType": "max"}}))
            at = time.strftime("%H:%M", time.localtime(time.time() + 7200))
            (folder / "tasks.md").write_text("- [ ] look around\n")
            words = ("run", "-f", str(folder / "tasks.md"), "--until", at, "--repo", "repo", "--batch", "first")
            said = fixture.command(*words)
            expect("ends at" not in said.stderr, f"a token was warned about: {said}")
            config.write_text("".join(line for line in config.read_text().splitlines(True) if not line.startswith("token_file")))
            fixture.do("config.reload")
            said = fixture.command(*words)
            expect("the login of agent coder ends at" in said.stderr and "account add" in said.stderr, f"it says {said}")
        finally:
            fixture.close()
    print("ok: a login that ends before --until is said", flush=True)


TESTS = {"windows": windows, "mark": mark, "overage": overage, "codex": codex, "live": live, "until": until}


def main():
    if os.environ.get("OVERSEER_LONELY") != "1":
        for name in ("claude", "codex", "codex-acp"):
            subprocess.run([str(HERE.parents[1] / "tools/agents"), "install", name], check=False, stdout=subprocess.DEVNULL)
        os.execv(sys.executable, [sys.executable, str(HERE / "lonely"), "OVERSEER_LONELY=1", sys.executable, __file__, *sys.argv[1:]])
    failed = 0
    for name in sys.argv[1:] or TESTS:
        begin, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix=f"overseer-quota-{name}.", dir="/tmp"))
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
