#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent program starts in its sandbox wherever it is installed, and the daemon explains a failed start.

starts.py [layouts|dies|doctor] …

layouts: starts programs from six install layouts below HOME, under bubblewrap with Landlock and under Landlock alone, as an ordinary user.
dies: a program exits at once; why, logs, status and inbox show its last output within 10 seconds.
doctor: `overseer doctor` starts each agent in its sandbox and reports what failed.
"""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import proof
from world import OVERSEER, Broken, Client, Daemon, Unreachable, folder_make, wait_until

NOBODY = 65534
SECRET = "operator-secret-0123456789"
STARTS_WITHIN = 60  # seconds for six programs at once
EXPLAINED_WITHIN = 10  # seconds


def check(holds, what):
    if not holds:
        raise Broken(what)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False, **more)
    check(done.returncode == 0, f"{words[0]} {words[1]}: {done.stdout[-300:]} {done.stderr[-600:]}")
    return done.stdout


# ---- six layouts ----

NODE_AGENT = """#!/usr/bin/env node
const fs = require('fs')
fs.readFileSync(0)
let secret = ''
try { secret = fs.readFileSync('/' + process.argv[2], 'utf8') } catch (error) { secret = error.code }
fs.writeFileSync('answer.json', JSON.stringify({ layout: process.argv[3], word: require('helper-package'), secret, by: process.execPath }))
"""
PYTHON_AGENT = """import json, sys
from agent_helper import WORD
def main():
    sys.stdin.read()
    try:
        secret = open('/' + sys.argv[1]).read()
    except OSError as error:
        secret = error.strerror
    json.dump({"layout": sys.argv[2], "word": WORD, "secret": secret, "by": sys.prefix}, open("answer.json", "w"))
main()
"""
SHELL_AGENT = """cat >/dev/null; secret=$(cat "/$0" 2>&1) && :
printf '{"layout": "%s", "word": "helped", "secret": "%s", "by": "sh"}' "$1" "$(printf %s "$secret" | tr -d '"' | tail -c 60)" >answer.json"""
# Works as Volta's shim does: finds the program by its own name in VOLTA_HOME or ~/.volta. No package registry has Volta itself.
VOLTA_SHIM = """#!/bin/sh
home=${VOLTA_HOME:-$HOME/.volta}
name=${0##*/}
[ -f "$home/tools/user/bins/$name.json" ] || { echo "Volta error: could not find executable \\"$name\\"" >&2; exit 126; }
PATH=$home/tools/image/node/20.0.0/bin:$PATH exec "$home/tools/image/packages/$name/bin/$name" "$@"
"""


def file_make(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def npm_prefix(home, prefix, name):
    """npm's global layout: bin/NAME is a link to lib/node_modules/NAME/…; npm installs its dependencies with it."""
    source = home / "src" / name
    file_make(source / "cli" / "cli.js", NODE_AGENT, 0o755)
    file_make(source / "package.json", json.dumps({"name": name, "version": "1.0.0", "bin": {name: "cli/cli.js"},
                                                  "dependencies": {"helper-package": f"file:{home}/src/helper.tgz"}}))
    helper = home / "src" / "helper"
    if not helper.exists():
        file_make(helper / "index.js", "module.exports = 'helped'\n")
        file_make(helper / "package.json", json.dumps({"name": "helper-package", "version": "1.0.0", "main": "index.js"}))
        made = run("npm", "pack", "--silent", "--pack-destination", home / "src", cwd=helper).strip()
        (home / "src" / made).rename(home / "src" / "helper.tgz")
    packed = run("npm", "pack", "--silent", "--pack-destination", home / "src", cwd=source).strip()
    run("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", "-g", "--prefix", prefix, home / "src" / packed)
    check((prefix / "bin" / name).is_symlink(), f"npm made no link {prefix}/bin/{name}")
    return prefix / "bin" / name


def layout_native(home):
    """The layout of Claude Code's installer: ~/.local/bin/NAME is a link to a program whose file name is its version."""
    version = home / ".local/share/native/versions/2.1.0"
    version.parent.mkdir(parents=True)
    shutil.copy("/bin/dash", version)
    (home / ".local/bin").mkdir(parents=True, exist_ok=True)
    (home / ".local/bin/native").symlink_to(version)
    return home / ".local/bin/native", ["-c", SHELL_AGENT]


def layout_npm(home):
    shutil.copy("/usr/bin/node", file_make(home / ".local/opt/node/bin/node", "", 0o755))
    (home / ".local/bin/node").symlink_to(home / ".local/opt/node/bin/node")
    return npm_prefix(home, home / ".npm-global", "npm"), []


def layout_nvm(home):
    prefix = home / ".nvm/versions/node/v20.0.0"
    (prefix / "bin").mkdir(parents=True)
    os.link(home / ".local/opt/node/bin/node", prefix / "bin/node")
    return npm_prefix(home, prefix, "nvm"), []


def layout_volta(home):
    volta = home / ".volta"
    (volta / "tools/image/node/20.0.0/bin").mkdir(parents=True)
    os.link(home / ".local/opt/node/bin/node", volta / "tools/image/node/20.0.0/bin/node")
    npm_prefix(home, volta / "tools/image/packages/volta", "volta")
    file_make(volta / "tools/user/bins/volta.json", "{}")
    file_make(volta / "bin/volta-shim", VOLTA_SHIM, 0o755)
    (volta / "bin/volta").symlink_to("volta-shim")
    return volta / "bin/volta", []


def python_package(site):
    file_make(site / "agent_helper.py", "WORD = 'helped'\n")
    file_make(site / "agent_main.py", PYTHON_AGENT)


def layout_pipx(home):
    """A venv with the system's python; the first line of the script names the python of the venv."""
    venv = home / ".local/share/pipx/venvs/pipx"
    run("/usr/bin/python3", "-m", "venv", "--without-pip", venv)
    python_package(next(venv.glob("lib/python3*/site-packages")))
    file_make(venv / "bin/pipx", f"#!{venv}/bin/python\nimport agent_main\n", 0o755)
    (home / ".local/bin/pipx").symlink_to(venv / "bin/pipx")
    return home / ".local/bin/pipx", []


def layout_uv(home):
    """A venv with uv's own python below HOME; the script starts as a shell script, because the length of a #! line is limited."""
    python = home / ".local/share/uv/python/cpython-3.11-linux"
    real = Path("/usr/bin/python3").resolve()
    (python / "bin").mkdir(parents=True)
    shutil.copy(real, python / "bin")
    shutil.copytree(f"/usr/lib/{real.name}", python / "lib" / real.name, symlinks=True,
                    ignore=shutil.ignore_patterns("test", "__pycache__", "config-*", "idlelib", "lib2to3", "dist-packages"))
    venv = home / ".local/share/uv/tools/uv"
    run(python / "bin" / real.name, "-m", "venv", "--without-pip", venv)
    check((venv / "bin/python").resolve() == python / "bin" / real.name, f"the venv has another python: {(venv / 'bin/python').resolve()}")
    python_package(next(venv.glob("lib/python3*/site-packages")))
    file_make(venv / "bin/uv", f"#!/bin/sh\n'''exec' '{venv}/bin/python' \"$0\" \"$@\"\n' '''\nimport agent_main\n", 0o755)
    (home / ".local/bin/uv").symlink_to(venv / "bin/uv")
    return home / ".local/bin/uv", []


LAYOUTS = {"native": layout_native, "npm": layout_npm, "nvm": layout_nvm, "volta": layout_volta, "pipx": layout_pipx, "uv": layout_uv}


# ---- a daemon ----

def toml(value):
    return json.dumps(value, ensure_ascii=False)


class Fixture:
    """A daemon of an operator with a separate HOME, some agents, and a repository."""

    def __init__(self, folder, agents, path=None, operator=None, settings=None, environment=None):
        self.folder, self.repo, self.operator = folder, folder / "repo", operator or folder / "operator"
        self.operator.mkdir(exist_ok=True)
        self.repo.mkdir()
        for words in (["init", "-q", "-b", "main"], ["config", "user.name", "somebody"], ["config", "user.email", "somebody@localhost"],
                      ["commit", "-q", "--allow-empty", "-m", "begin"], ["checkout", "-q", "--detach"]):
            run("git", "-C", self.repo, *words)
        rows = {"supervision": {"enabled": True, "tick_every": "1s"}, "repo": {"path": str(self.repo), "default_branch": "main", "disk_least": 1},
                "verify": {"command": "true"}, "policy": {"allow_agents": ["*"], "allow_cross_agent": True}}
        for name, row in (settings or {}).items():
            rows.setdefault(name, {}).update(row)
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in row.items()) for name, row in rows.items())
        for agent in agents:
            text += "[[agents]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in agent.items())
        self.config = file_make(folder / "overseer.toml", text)
        self.environment = {"OVERSEER_CONFIG": str(self.config), "HOME": str(self.operator), **({"PATH": path} if path else {}),
                            **(environment or {})}
        self.daemon = Daemon(folder, f"sqlite:{folder}/store.db", options=["--lease", "3"], environment=self.environment)
        self.daemon.start()
        self.daemon.wait_joined()
        self.state = self.daemon.socket.with_suffix(".state")
        self.client = Client(self.daemon.socket)

    def do(self, method, **params):
        try:
            _, result, error = self.client.call(method, params)
        except Unreachable:  # the daemon closed the idle connection
            self.client = Client(self.daemon.socket)
            _, result, error = self.client.call(method, params)
        check(error is None, f"{method}: {error}")
        return result

    def task(self, agent, text="Begin."):
        goal = self.do("goal.create", title=f"a task for {agent}")["goalId"]
        self.do("plan.apply", goal=goal, nodes=[
            {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
            {"id": "T1", "parentId": "P1", "tier": "task", "name": "the work", "acceptanceCriteria": ["it is done"],
             "objective": text, "suggestedAgentId": agent}])
        return goal

    def answer(self, goal):
        for path in self.state.glob(f"work/worktrees/{goal.removeprefix('goal_')}-*/tree/answer.json"):
            try:
                return json.loads(path.read_text())
            except ValueError:
                return None
        return None

    def errors(self):
        return {path.parent.name: path.read_text(errors="replace")[-300:] for path in self.state.glob("runs/*/err.log") if path.stat().st_size}

    def cli(self, *words):
        done = subprocess.run([str(OVERSEER), *words, "--socket", str(self.daemon.socket)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **self.environment, "COLUMNS": "400"}, check=False)
        check(done.returncode >= 0, f"overseer {words} ended by signal {-done.returncode}")
        return done.stdout + done.stderr

    def close(self):
        for goal in self.do("goal.list")["goals"]:
            if goal["status"] not in ("completed", "cancelled"):
                self.client.call("goal.cancel", {"goal": goal["goalId"]})
        wait_until("every run has ended", lambda: not list(self.state.glob("runs/*/run.json")), 30, 0.2)
        self.daemon.stop(30)
        check(not self.daemon.promises_broken(), f"promises: {self.daemon.promises_broken()}")


def path_make(folder, home, bubblewrap):
    """A PATH with few programs, so that a program must find what it needs in its own layout."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ["git", "sh", "env", "cat", "tr", "tail", "dirname"] + (["bwrap"] if bubblewrap else []):
        (tools / name).symlink_to(shutil.which(name))
    return f"{home}/.local/bin:{tools}:{home}"  # HOME is in PATH: the sandbox shows its programs and hides the rest


def started(folder, home, programs, bubblewrap):
    kind = "bwrap+landlock" if bubblewrap else "landlock"
    secret = home / ".ssh/id_secret"
    # The sandbox shows a file whose absolute path is an argument, so the leading slash is left out.
    agents = [{"id": name, "driver": "command", "program": str(program), "args": [*args, str(secret)[1:], name]}
              for name, (program, args) in programs.items()]
    fixture = Fixture(folder, agents, path=path_make(folder, home, bubblewrap), operator=home)
    try:
        goals = {name: fixture.task(name) for name in programs}
        try:
            wait_until("all have answered", lambda: fixture.daemon.alive() and all(fixture.answer(goal) for goal in goals.values()),
                       STARTS_WITHIN, 0.2)
        except Broken:
            missing = [name for name, goal in goals.items() if not fixture.answer(goal)]
            raise Broken(f"{kind}: not started: {missing}; {fixture.errors()} {fixture.cli('inbox')}") from None
        for name, goal in goals.items():
            answer = fixture.answer(goal)
            check(answer["layout"] == name and answer["word"] == "helped", f"{kind}: {name} answered {answer}")
            check(SECRET not in answer["secret"], f"{kind}: {name} read the operator's secret")
            held = fixture.do("assignment.list", goal=goal)["assignments"]
            check(not held or held[0]["sandbox"] in ("", kind), f"{name} was held by {held}: {fixture.cli('why', goal)}")
        by = fixture.answer(goals["nvm"])["by"]
        check(not by.startswith("/usr"), f"{kind}: nvm's program was run by {by}")
    finally:
        fixture.close()
    print(f"ok: {len(programs)} layouts start under {kind}", flush=True)


def layouts(folder):
    home = folder / "home"
    file_make(home / ".ssh/id_secret", SECRET, 0o600)
    programs = {name: make(home) for name, make in LAYOUTS.items()}
    for bubblewrap in (True, False):
        place = folder / ("both" if bubblewrap else "alone")
        place.mkdir()
        started(place, home, programs, bubblewrap)


# ---- a program that exits at once ----

WORDS = "cannot open the model catalogue"
KEY = "sk-ant-api03-" + "A1b2C3d4" * 10
DIES = f"""#!/bin/sh
printf 'first line of many\n' >&2
printf '\033[31mfatal:\033[0m \007{WORDS}, key {KEY}\n' >&2
exit STATUS
"""
AT_WORK = "#!/bin/sh\ncat >/dev/null\necho begun\nsleep 1\n" + DIES.split("\n", 1)[1]
SCREENS = {"why": ["why"], "logs": ["logs"], "status": ["status"], "inbox": ["inbox"]}


def screens(fixture, goal):
    return {name: fixture.cli(*words, *([goal] if name in ("why", "logs") else [])) for name, words in SCREENS.items()}


def explained(fixture, goal, name, not_on=()):
    """All four screens show WORDS, and none contains a control character or the key. not_on: screens that must not show WORDS."""
    begin = time.monotonic()
    seen = {}
    while time.monotonic() - begin < EXPLAINED_WITHIN and not (seen and all(WORDS in text for text in seen.values())):
        time.sleep(0.2)
        seen = screens(fixture, goal)
        for screen in not_on:
            text = seen.pop(screen)
            check(WORDS not in text, f"{name}: `{screen}` says it: {text}")
    for screen, text in seen.items():
        check(WORDS in text, f"{name}: `{screen}` does not say it after {EXPLAINED_WITHIN} s: {text}")
        check(not any(ord(one) < 32 and one != "\n" or ord(one) == 127 for one in text), f"{name}: control characters in `{screen}`: {text!r}")
        check(KEY not in text and "A1b2C3d4A1b2" not in text, f"{name}: the key is in `{screen}`")
    print(f"ok: {name}: explained on {len(seen)} screens after {time.monotonic() - begin:.1f} s", flush=True)


def dies(folder):
    """The screens explain a program that exits at once, with the settings that an operator has after typing `overseer run`."""
    for kind, status, text in (("command", 3, DIES), ("acp", 1, DIES), ("claude", 1, DIES), ("acp", 0, DIES), ("tmux", 1, DIES), ("command", 4, AT_WORK)):
        name = f"{kind}-{status}"
        place = folder / name
        program = file_make(place / "broken", text.replace("STATUS", str(status)), 0o755)
        more = {"kind": {"acp": "goose", "tmux": "codex"}.get(kind, kind)}
        fixture = Fixture(place, [{"id": "broken", "driver": kind, "program": str(program), **more}], settings={"supervision": {"tick_every": "30s"}})
        try:
            # the daemon restarts an agent that died during its work, so there is no question in the inbox yet
            explained(fixture, fixture.task("broken"), name, not_on=["inbox"] if text is AT_WORK else [])
            check(KEY not in (fixture.state.parent / "store.db").read_bytes().decode("latin-1"), f"{name}: the key is in the store")
        finally:
            fixture.close()


# ---- doctor ----

def checks(fixture):
    out = fixture.cli("doctor", "--json")
    check(out.startswith("{"), f"doctor says {out!r}")
    return {row["check"]: row for row in json.loads(out)["checks"]}


def examined(folder, name, agents, operator):
    place = folder / name
    place.mkdir()
    fixture = Fixture(place, agents, path=path_make(place, operator, True), operator=operator)
    try:
        return checks(fixture)
    finally:
        fixture.close()


def doctor(folder):
    """`overseer doctor` starts each agent in its sandbox, with the daemon's program and PATH, and checks its login."""
    home = folder / "home"
    good = file_make(home / ".local/share/good/versions/1/good", "#!/bin/sh\necho good 1.2, $#\n", 0o755)
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/good").symlink_to(good)
    bad = file_make(home / ".local/bin/bad", DIES.replace("STATUS", "1"), 0o755)
    slow = file_make(home / ".local/bin/slow", "#!/bin/sh\necho touched >worked\n", 0o755)
    token = file_make(folder / "token", "sk-ant-oat01-0\n", 0o644)
    login = home / ".claude/.credentials.json"
    claude = {"id": "claude", "driver": "claude", "program": "good"}
    said = examined(folder, "well", [{"id": "goose", "driver": "acp", "program": "good"},
                                     {"id": "slow", "driver": "command", "program": str(slow)}], home)
    check(said["starts"]["verdict"] == "good" and "goose: good 1.2" in said["starts"]["text"], f"doctor says {said['starts']}")
    said = examined(folder, "ill", [{"id": "goose", "driver": "acp", "program": "good"}, {"id": "qwen", "driver": "acp", "program": str(bad)},
                                    {"id": "gone", "driver": "command", "program": str(home / "no-such-program")}], home)
    check(said["starts"]["verdict"] == "bad" and all(words in said["starts"]["text"] for words in (WORDS, "qwen: ", "gone: ")) and
          "good 1.2" not in said["starts"]["text"] and KEY not in json.dumps(said), f"doctor says {said['starts']}")
    now = int(time.time() * 1000)
    for name, text, more, verdict, words in (
            ("expired", json.dumps({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": now - 1000}}), {}, "bad", "has expired"),
            ("soon", json.dumps({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": now + 3600_000}}), {}, "look", "expires in"),
            ("unknown", "{}", {}, "look", "the format of"),
            ("open", "{}", {"token_file": str(token)}, "bad", "chmod 600")):
        file_make(login, text, 0o600)
        said = examined(folder, name, [{**claude, **more}], home)["logins"]
        check(said["verdict"] == verdict and words in said["text"], f"{name}: doctor says {said}")
    print("ok: doctor starts each agent in its sandbox, and says what becomes of its login", flush=True)
    proof.passed("e2e", "starts.doctor", "CLI-09")


TESTS = {"layouts": layouts, "dies": dies, "doctor": doctor}


def as_nobody():
    """Runs this test again as an ordinary user, because root may do more in a sandbox and would hide faults."""
    if os.geteuid() == 0:
        where = folder_make("starts")
        os.chown(where, NOBODY, NOBODY)
        done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "/usr/bin/python3", __file__, *sys.argv[1:]],
                              env={**os.environ, "HOME": str(where), "PYTHONDONTWRITEBYTECODE": "1",
                                   "OVERSEER_PROOFS": str(where / "proofs.txt"), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}, cwd="/", check=False)
        proofs = os.environ.get("OVERSEER_PROOFS")
        if proofs and (where / "proofs.txt").exists():  # the user nobody may not write to the original file
            with open(proofs, "a", encoding="utf-8") as file:
                file.write((where / "proofs.txt").read_text(encoding="utf-8"))
        sys.exit(done.returncode)


def main():
    as_nobody()
    failed = 0
    for name in sys.argv[1:] or TESTS:
        begin = time.monotonic()
        try:
            TESTS[name](folder_make(f"starts-{name}"))
        except Broken as error:
            failed = 1
            print(f"failed: {name}: {error}", flush=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    sys.exit(failed)


main()
