#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a clean checkout is prepared before it is checked, that no candidate changes what a later check finds, and that a failure of
the target itself is not the agent's.

checks.py [--only NAME]: the daemon, real git, npm with a registry on loopback, pip with a wheel of the test, agents that are programs.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import tomllib
import zipfile
from pathlib import Path

import proof
from care import git, main
from landing import BUILD, files_of, landed, main_of, place_make, push

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Registry:
    """An npm registry with one package, which counts what is asked of it."""

    def __init__(self, text="module.exports = 42\n"):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as tar:
            for name, body in {"package.json": json.dumps({"name": "answer", "version": "1.0.0", "main": "index.js"}), "index.js": text}.items():
                info = tarfile.TarInfo("package/" + name)
                info.size = len(body)
                tar.addfile(info, io.BytesIO(body.encode()))
        self.bytes = data.getvalue()
        self.integrity = "sha512-" + base64.b64encode(hashlib.sha512(self.bytes).digest()).decode()
        self.asked = []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(registry.bytes)))
                self.end_headers()
                self.wfile.write(registry.bytes)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/answer/-/answer-1.0.0.tgz"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def files(self, **more):
        package = {"name": "app", "version": "1.0.0", "dependencies": {"answer": "1.0.0"}, **more}
        lock = {"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": {
            "": package, "node_modules/answer": {"version": "1.0.0", "resolved": self.url, "integrity": self.integrity}}}
        return {"package.json": json.dumps(package), "package-lock.json": json.dumps(lock), ".gitignore": "node_modules/\n.venv/\n",
                "check.js": "process.exit(require('answer') === 42 ? 0 : 3)\n"}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


NPM = "npm ci --no-audit --no-fund --loglevel=error"


def caches_of(fixture):
    folder = fixture.daemon.socket.with_suffix(".state") / "work" / "caches"
    return sorted(path for path in folder.glob("*") if path.suffix == "") if folder.exists() else []


def verdicts(fixture, goal):
    return fixture.records(goal, "work.checked")


def verdict_evidence(fixture, goal):
    return [event["evidence"] if "evidence" in event else event for event in verdicts(fixture, goal)]


@check
def npm_dependencies_are_there():
    """A check that needs node_modules passes in a clean checkout. The registry is asked once: for the target's commit; later checks find
    the package in the cache, also after it is gone from the registry."""
    registry = Registry()
    fixture = place_make("npm", "echo x >file-$(date +%N).txt; test ! -e node_modules", files=registry.files(),
                         verify={"setup": NPM, "command": "node check.js"})
    try:
        landed(fixture, fixture.goal())
        assert len(registry.asked) == 1, registry.asked
        [cache] = caches_of(fixture)
        before = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file() and path.name != "size"}
        assert any("_cacache" in str(path) for path in before), "npm left nothing in its HOME"
        registry.close()
        landed(fixture, fixture.goal(title="another"))
        assert caches_of(fixture) == [cache], "a landing without new dependencies has made another cache"
        assert before == {path: path.stat().st_mtime_ns for path in before}, "a check has changed the cache"
        left = list((fixture.daemon.socket.with_suffix(".state") / "work" / "checkouts").iterdir())
        assert not left, f"checks left {left}"
    finally:
        fixture.close()
    proof.passed("e2e", "checks.npm", "")


def wheel_make(path):
    with zipfile.ZipFile(path / "answer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("answer.py", "VALUE = 42\n")
        wheel.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
        wheel.writestr("answer-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("answer-1.0.dist-info/RECORD", "answer.py,,\nanswer-1.0.dist-info/METADATA,,\n"
                                                      "answer-1.0.dist-info/WHEEL,,\nanswer-1.0.dist-info/RECORD,,\n")


@check
def a_virtual_environment_is_there():
    """Setup makes a virtual environment in the checkout; the check imports what it installed. It works without a network."""
    fixture = place_make("venv", "echo x >made", files={".gitignore": ".venv/\n", "wheels/README": "wheels of the test\n"},
                         verify={"setup": "python3 -m venv .venv && .venv/bin/pip install -q --no-index --find-links wheels answer",
                                 "command": ".venv/bin/python -c 'import answer; assert answer.VALUE == 42'", "network": "none"})
    try:
        git(fixture.repo, "checkout", "-q", "main")
        wheel_make(fixture.repo / "wheels")
        git(fixture.repo, "add", "-A")
        git(fixture.repo, "commit", "-q", "-m", "wheel")
        git(fixture.repo, "checkout", "-q", "--detach")
        landed(fixture, fixture.goal())
    finally:
        fixture.close()
    proof.passed("e2e", "checks.venv", "")


POISON = r'''const fs = require('fs'), path = require('path')
function walk(at) { try { for (const name of fs.readdirSync(at)) { const it = path.join(at, name), about = fs.lstatSync(it)
  if (about.isDirectory()) walk(it)
  else try { fs.chmodSync(it, 0o666); fs.writeFileSync(it, 'poison') } catch {} } } catch {}
  try { fs.writeFileSync(path.join(at, 'POISON'), 'poison') } catch {} }
walk(process.env.HOME); if (process.env.OVERSEER_CHECK_CACHE) walk(process.env.OVERSEER_CHECK_CACHE)
'''


@check
def a_candidate_cannot_poison_the_cache():
    """The agent's change makes setup and check write into every cache that they can find. The cache stays as it was, and a later check, which
    has only the cache, passes."""
    registry = Registry()
    fixture = place_make("poison", f"if test ! -e ../poisoned; then cat >poison.js <<'END'\n{POISON}END\n"
                         "sed -i 's/\"version\"/\"scripts\": {\"postinstall\": \"node poison.js\"}, \"version\"/' package.json\n"
                         "echo 'require(\"./poison.js\")' >>more.js; else echo x >harmless; fi",
                         files={**registry.files(), "check.js": "try { require('./more.js') } catch {}\nprocess.exit(require('answer') === 42 ? 0 : 3)\n"},
                         landing={"how": "branch"}, verify={"setup": NPM + " && if test -e poison.js; then node poison.js; fi", "command": "node check.js", "rules": [], "protect": []})
    act = fixture.program.parent / "act"
    try:
        goal = fixture.goal()
        fixture.wait("it was checked", lambda: verdicts(fixture, goal))
        [cache] = caches_of(fixture)
        dirty = [path for path in cache.rglob("*") if path.name == "POISON" or (path.is_file() and path.name != "size" and path.read_bytes() == b"poison")]
        assert not dirty, f"a candidate changed the cache: {dirty[:3]}"
        assert fixture.client.call("goal.cancel", {"goal": goal, "reason": "seen"})[2] is None
        registry.close()
        act.write_text("echo x >harmless")
        assert "poison.js" not in files_of(fixture), files_of(fixture)
        landed(fixture, fixture.goal(title="a later one"))
    finally:
        fixture.close()
    proof.passed("e2e", "checks.poison", "")


def questions_of(fixture):
    return [item for item in fixture.do("inbox.list")["items"] if item.get("state") == "open"]


@check
def a_target_that_fails_is_not_the_agents_fault():
    """Main fails its own check. Two tasks wait with that reason, one question is asked for the repository, no round is counted and no
    agent is asked again, however long it takes. When main passes again, both land without a word of a person, and the question is gone."""
    fixture = place_make("target", "echo x >file-$(date +%N).txt", check_text="grep -q good state", files={"state": "bad"})
    try:
        goals = [fixture.goal(title=title) for title in ("one", "another")]
        for goal in goals:
            fixture.wait("it waits", lambda goal=goal: [event for event in fixture.records(goal, "assignment.waits") if "work.target-fails" in json.dumps(event)])
        bad = main_of(fixture)
        [question] = fixture.wait("a person is asked", lambda: questions_of(fixture))
        assert question["questionId"].startswith("Q-repo.") and "main fails its own check since " + bad[:12] in json.dumps(question), question
        [target] = fixture.do("status.show")["targets"]
        assert (target["repository"], target["commit"], target["passes"], target["since"]) == ("repo", bad, False, bad), target
        time.sleep(8)  # several ticks, in which it is tried again
        assert len(questions_of(fixture)) == 1, "it is asked more than once"
        for goal in goals:
            [assignment] = fixture.do("assignment.list", goal=goal)["assignments"]
            assert assignment["status"] != "blocked" and assignment["attempts"] == 1, assignment
            assert {event["to"] for event in verdict_evidence(fixture, goal)} == {"target fails"}, verdicts(fixture, goal)
        good = push(fixture, "mend", state="good\n")
        for goal in goals:
            landed(fixture, goal)
        assert not questions_of(fixture), "the question is still open"
        [target] = fixture.do("status.show")["targets"]
        assert target["passes"] and target["commit"] == main_of(fixture) != good, target
    finally:
        fixture.close()
    proof.passed("e2e", "checks.target", "")


@check
def what_the_agent_broke_is_sent_to_it():
    """The target passes, the candidate does not: the agent is told, and the rounds are counted as before."""
    fixture = place_make("agents", "test -e broken && rm -f broken || echo x >broken; echo x >made", check_text="test ! -e broken")
    try:
        goal = fixture.goal()
        landed(fixture, goal)
        found = [event["to"] for event in verdict_evidence(fixture, goal)]
        assert found == ["failed", "passed"], found
        assert not questions_of(fixture), questions_of(fixture)
    finally:
        fixture.close()
    proof.passed("e2e", "checks.agents", "")


@check
def a_change_that_mends_the_target_lands():
    """Main fails its own check, and the task is to mend it: that lands at once, and nobody is asked."""
    fixture = place_make("mends", "echo good >state", check_text="grep -q good state", files={"state": "bad"})
    try:
        goal = fixture.goal()
        landed(fixture, goal)
        assert [event["to"] for event in verdict_evidence(fixture, goal)] == ["passed"] and not questions_of(fixture), verdicts(fixture, goal)
    finally:
        fixture.close()
    proof.passed("e2e", "checks.mends", "")


@check
def a_setup_that_fails_everywhere_is_not_the_agents_fault():
    """Setup needs a program that this machine does not have: the work waits with that reason, and the agent is not asked again."""
    fixture = place_make("setup", "echo x >file-$(date +%N).txt", verify={"setup": "no-such-program-here ci", "command": "true"})
    try:
        goal = fixture.goal()
        found = fixture.wait("a person is asked", lambda: questions_of(fixture))
        assert len(found) == 1 and "main fails its own set-up (verify.setup)" in json.dumps(found), found
        assert {event["to"] for event in verdict_evidence(fixture, goal)} == {"target fails"}, verdicts(fixture, goal)
    finally:
        fixture.close()
    proof.passed("e2e", "checks.setup", "")


def init_in(files, *options, more=None):
    """Runs init in a repository with these files, as a person without settings; returns what it says and what it wrote."""
    with tempfile.TemporaryDirectory(prefix="overseer-init-") as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        for name in (".claude/CLAUDE.md", ".rustup/settings.toml", ".ssh/id_ed25519"):
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text("x")
        git(repo, "init", "-q", "-b", "main")
        for name, text in files.items():
            (repo / name).write_text(text)
        git(repo, "add", "-A")
        git(repo, "-c", "user.name=a", "-c", "user.email=a@a", "commit", "-q", "-m", "begin")
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", **(more or {})}
        done = subprocess.run([str(BUILD / "overseer"), "init", "--yes", "--folder", str(repo), *options], env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, tomllib.loads((Path(folder) / ".config" / "overseer" / "overseer.toml").read_text())


@check
def init_tries_what_it_writes_down():
    """init finds setup and test command, and tries both on main in the sandbox of checks: it says that main passes, that its setup fails, or
    that its command fails, with the failing lines. pytest is not proposed where it is not installed."""
    registry = Registry()
    try:
        files = registry.files(scripts={"test": "node check.js"})
        said, written = init_in(files)
        assert written["verify"]["setup"] == "npm ci" and written["verify"]["command"] == "npm test", written
        assert re.search(r"tried +main passes at [0-9a-f]{12}", said), said
        assert re.search(r"they find +~/.claude/CLAUDE.md, ~/.rustup \(without logins\)", said) and ".ssh" not in said, said
        said, _ = init_in({**files, "check.js": "console.log('one test is wrong'); process.exit(3)\n"})
        assert re.search(r"tried +main FAILS its own verify.command at [0-9a-f]{12}", said) and "one test is wrong" in said, said
        said, _ = init_in({**files, "package-lock.json": "{}"})
        assert "main FAILS its own verify.setup" in said, said
        said, _ = init_in(files, "--no-try")
        assert "tried" not in said and "FAILS" not in said, said
    finally:
        registry.close()
    with tempfile.TemporaryDirectory(prefix="overseer-programs-") as programs:
        for name in ("claude", "qwen"):
            (Path(programs) / name).write_text("#!/bin/sh\n")
            (Path(programs) / name).chmod(0o755)
        _, written = init_in({"README": ""}, "--test-command", "true", more={
            "PATH": f"{programs}:/usr/bin:/bin", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://model.example.org/",
            "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"})
        urls = {agent["id"]: (agent["keys"], agent["base_url"]) for agent in written["agents"]}
        assert urls == {"claude": (["ANTHROPIC_API_KEY"], "https://model.example.org"), "qwen": (["OPENAI_API_KEY"], "http://127.0.0.1:8080")}, urls
    said, written = init_in({"setup.py": "", "test_one.py": "import unittest\nclass One(unittest.TestCase):\n    def test(self): pass\n"})
    assert written["verify"]["command"] == "python3 -m unittest discover" and "main passes" in said, (said, written)
    proof.passed("e2e", "checks.init", "")


# Answers in the agent's own words; `act` beside it may change files first, which it should not.
ANSWERS = r'''import json, os, re, subprocess, sys
prompt = sys.stdin.read()
assert "An answer is wanted, not a change" in prompt, prompt
folder = os.path.dirname(os.path.abspath(__file__))
subprocess.run(["sh", "-e", os.path.join(folder, "act")], check=True)
starts = os.path.expanduser("~/starts")
open(starts, "a").write("x")
goal, node = re.search("goal_[0-9A-Z]{26}", prompt).group(0), re.search(r'"workNodeId": "([^"]+)"', prompt).group(1)
summary = "" if "EMPTY" in prompt and os.path.getsize(starts) == 1 else "It skips to the next line.\nSee parse.c:12. Its token is ghp_" + "a" * 36
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": node, "status": "done", "summary": summary}}) + "\n```")
'''


def answer_world(name, act):
    fixture = place_make(name, act, check_text="exit 1", supervision={"verify_by_person": True})
    fixture.program.write_text(ANSWERS)
    return fixture


def overseer(fixture, *words):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(fixture.folder), "OVERSEER_SOCKET": str(fixture.daemon.socket), "LANG": "C.UTF-8"}
    return subprocess.run([str(BUILD / "overseer"), *words], env=env, cwd=fixture.repo, capture_output=True, text=True, timeout=60)


@check
def an_answer_is_no_change():
    """A task that wants an answer is done, unverified, once its agent has given one, with secrets taken out. No check runs, no person is
    asked, nothing lands and no branch is made, also when the agent has changed files: those are kept."""
    fixture = answer_world("answer", "echo changed >parser.c")
    try:
        main_before = main_of(fixture)
        done = overseer(fixture, "run", "--answer", "how does the parser recover?", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        goal = json.loads(done.stdout)["tasks"][0]["goalId"]
        fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
        shown = overseer(fixture, "diff", goal).stdout
        assert "ANSWER, unverified" in shown and "It skips to the next line.\nSee parse.c:12." in shown and "a" * 36 not in shown, shown
        assert "ANSWER, unverified\nIt skips to the next line." in overseer(fixture, "goal", "show", goal).stdout
        result = fixture.do("work.diff", goal=goal)
        assert result["answer"].startswith("It skips") and result["files"] == 1 and not result["waits"], result
        assert fixture.do("goal.show", goal=goal)["proof"] == "unverified"
        assert not verdicts(fixture, goal) and not fixture.records(goal, "work.landed") and not questions_of(fixture)
        assert main_of(fixture) == main_before and not git(fixture.repo, "for-each-ref", "refs/heads/overseer"), "something has landed"
    finally:
        fixture.close()
    proof.passed("e2e", "checks.answer", "")


@check
def an_answer_without_words_is_none():
    """An agent that says done without an answer is asked for it once more; what it says then is the answer."""
    fixture = answer_world("empty", "true")
    try:
        goal = fixture.do("goal.create", title="EMPTY")["goalId"]
        fixture.do("plan.apply", goal=goal, nodes=[{"id": "P1", "tier": "phase", "name": "all", "acceptanceCriteria": ["x"]}, {
            "id": "T1", "parentId": "P1", "tier": "task", "name": "EMPTY", "objective": "EMPTY", "acceptanceCriteria": ["x"], "wants": "answer"}])
        refused = fixture.wait("its word is refused", lambda: fixture.records(goal, "update.refused"))
        assert "done needs the answer" in json.dumps(refused), refused
        fixture.wait("it is done", lambda: fixture.do("goal.show", goal=goal)["state"] == "done")
    finally:
        fixture.close()
    proof.passed("e2e", "checks.no-answer", "")


# Says what it can read: each file below both HOMEs, and the variables.
READS = r'''import json, os, re, sys
prompt = sys.stdin.read()
goal = re.search("goal_[0-9A-Z]{26}", prompt).group(0)
found = {}
for top in (OPERATOR, os.path.expanduser("~")):
    for place, folders, names in os.walk(top, followlinks=True):
        for name in names:
            path = os.path.join(place, name)
            try:
                found[os.path.join("HOME" if top == OPERATOR else "OWN", os.path.relpath(path, top))] = open(path, errors="replace").read(4000)
            except OSError:
                pass
found["environment"] = json.dumps(dict(os.environ))
tried = []
for path in TRIED:
    try:
        open(os.path.join(OPERATOR, path)).read()
        tried.append(path)
    except OSError:
        pass
try:
    open(os.path.join(OPERATOR, ".rustup/settings.toml"), "a").write("x")
    tried.append("wrote a toolchain")
except OSError:
    pass
json.dump([found, tried], open("found.json", "w"))
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["found.json"]}}}) + "\n```")
'''

CANARY = "canary-" + "7c1d9e"
SECRETS = {".ssh/id_ed25519": CANARY, ".aws/credentials": f"aws_secret_access_key = {CANARY}", ".npmrc": f"//registry.npmjs.org/:_authToken={CANARY}",
           ".git-credentials": f"https://me:{CANARY}@example.org", ".config/gh/hosts.yml": f"oauth_token: {CANARY}", ".netrc": f"password {CANARY}",
           ".docker/config.json": json.dumps({"auths": {"x": {"auth": CANARY}}}), ".kube/config": f"token: {CANARY}", ".pypirc": f"password = {CANARY}",
           ".cargo/credentials.toml": f'token = "{CANARY}"', ".gnupg/private-keys-v1.d/key": CANARY, ".config/gcloud/credentials.db": CANARY,
           ".claude/settings.json": json.dumps({"env": {"X": CANARY}}), ".claude/projects/other/session.jsonl": CANARY, ".bash_history": f"export X={CANARY}",
           ".nvm/versions/node/v20/etc/npmrc": f"_authToken={CANARY}"}


def person_make(home):
    """Gives a person a HOME with tools, and secrets in the usual places."""
    files = {**SECRETS, ".claude/CLAUDE.md": "Write plain English.\nMy token is ghp_" + "b" * 36 + "\n", ".claude/skills/release/SKILL.md": "How to release.",
             ".claude/commands/fix.md": "Fix it.", ".rustup/settings.toml": "version = 12", ".nvm/nvm.sh": "nvm() { :; }",
             ".claude.json": json.dumps({"oauthAccount": {"token": CANARY}, "userID": CANARY, "projects": {"/x": {"history": [CANARY]}}, "mcpServers": {
                 "files": {"type": "stdio", "command": "mcp-files", "args": ["--root", "."], "env": {"TOKEN": CANARY}},
                 "web": {"type": "http", "url": "https://mcp.example.org/", "headers": {"Authorization": "Bearer " + CANARY}}}})}
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


@check
def a_run_finds_tools_and_no_secret():
    """A run finds the person's instructions, skills and MCP servers in its HOME and a toolchain where it is, read-only. None of the secrets
    in the usual places can be read in a run or in a check; a check gets the variable that is named for it, and the run does not."""
    os.environ.update(CHECK_LOGIN="named-for-checks", MODEL_API_KEY="k", MODEL_BASE_URL="https://model.example.org", ELSE_BASE_URL="https://else.example.org")
    os.environ["OTHER_LOGIN"] = CANARY
    try:
        fixture = place_make("tools", "true", agent={"kind": "claude", "keys": ["MODEL_API_KEY"]},
                             verify={"command": "env >../seen; grep -rl '" + CANARY + "' \"$HOME\" && exit 3; env | grep -q '" + CANARY + "' && exit 4; "
                                     "test \"$CHECK_LOGIN\" = named-for-checks && test -e \"$HOME/.rustup/settings.toml\"".replace("env >../seen; ", ""),
                                     "keys": ["CHECK_LOGIN"]})
    finally:
        for name in ("CHECK_LOGIN", "OTHER_LOGIN", "MODEL_API_KEY", "MODEL_BASE_URL", "ELSE_BASE_URL"):
            del os.environ[name]
    fixture.program.write_text(READS.replace("OPERATOR", repr(str(fixture.folder))).replace("TRIED", repr(list(SECRETS))))
    person_make(fixture.folder)
    try:
        goal = fixture.goal()
        landed(fixture, goal)
        found, tried = json.loads(git(fixture.repo, "show", "main:found.json"))
        assert not tried, f"a run could read {tried}"
        leaks = sorted(path for path, text in found.items() if CANARY in text)
        assert not leaks, f"a run finds a secret in {leaks}"
        assert "named-for-checks" not in found["environment"], "a run has a variable of the checks"
        environment = json.loads(found["environment"])
        assert environment["MODEL_API_KEY"] == "k" and environment["MODEL_BASE_URL"] == "https://model.example.org", "a key without its address"
        assert "ELSE_BASE_URL" not in environment, environment
        own = {path.removeprefix("OWN/"): text for path, text in found.items() if path.startswith("OWN/")}
        assert own[".claude/CLAUDE.md"].startswith("Write plain English.") and "b" * 36 not in own[".claude/CLAUDE.md"], own[".claude/CLAUDE.md"]
        assert own[".claude/skills/release/SKILL.md"] == "How to release." and own[".claude/commands/fix.md"] == "Fix it.", sorted(own)
        servers = json.loads(own[".claude.json"])
        assert servers == {"mcpServers": {"files": {"type": "stdio", "command": "mcp-files", "args": ["--root", "."]},
                                          "web": {"type": "http", "url": "https://mcp.example.org/"}}}, servers
        assert found["HOME/.rustup/settings.toml"] == "version = 12" and "HOME/.nvm/nvm.sh" not in found, sorted(found)
        assert json.loads(found["environment"])["RUSTUP_HOME"] == str(fixture.folder / ".rustup"), found["environment"]
    finally:
        fixture.close()
    proof.passed("e2e", "checks.tools", "")


if __name__ == "__main__":
    sys.exit(main("checks.py", CHECKS))
