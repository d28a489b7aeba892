#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the command line serve people and programs well? Every command against the real daemon.

  cli.py                all
  cli.py NAME …         just these tests
  cli.py --write        renew the golden screens (tests/golden/screen-*.txt), then look at them
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib

import proof
from example_site import FAILED, GOAL, Site
from world import BUILD, TOP, Broken, wait_until

ID = GOAL[5:15]
WRITE = "--write" in sys.argv


def expect(holds, what):
    if not holds:
        raise Broken(what)


def refused(site, code, *words, says="", more=None):
    """The command fails with this exit status, writes the error to standard error only, and with --json writes it as an object."""
    got, out, err = site.run(*words, more=more)
    expect(got == code, f"{words}: exit {got}, not {code}: {err or out}")
    expect(out == "", f"{words}: a refusal on standard output: {out}")
    expect(says in err, f"{words}: {err!r} does not say {says!r}")
    got, out, err = site.run(*words, "--json", more=more)
    error = json.loads(err)["error"]
    expect(got == code == error["exit"] and error["code"].startswith("E_") and error["message"] and out == "", f"{words} --json: {err}")
    return error


# ---- for programs ----

def test_json_everywhere(site):
    """Every command that answers prints one JSON document on standard output, and nothing else."""
    for words in (["status"], ["inbox"], ["why", ID], ["events"], ["goal", "list"], ["goal", "show", ID], ["goal", "tally"], ["plan", "show", ID],
                  ["plan", "history", ID], ["plan", "insights", ID], ["plan", "recommend", ID], ["token", "list"], ["config", "show"],
                  ["config", "check", "overseer.toml"], ["doctor"], ["admin", "health"], ["version"], ["help"], ["up"], ["api", "describe"],
                  ["goal", "report", ID, "half of it"], ["tick", "--now"], ["backup", "again.db"], ["export", "all.json"]):
        code, out, err = site.run("overseer", *words, "--json")
        expect(code == 0, f"{words}: exit {code}: {err}")
        expect(isinstance(json.loads(out), dict), f"{words}: {out[:200]}")


def test_exit_codes(site):
    refused(site, 2, "overseer", "goal", "create", says="TITLE is missing")
    refused(site, 2, "overseer", "goal", "list", "--limit", "many", says="number")
    refused(site, 3, "overseer", "goal", "show", "goal_00000000000000000000000009")
    refused(site, 4, "overseer", "work", "start", "S1.1.1", "--version", "9")
    refused(site, 7, "overseer", "status", "--socket", "/nowhere.sock", says="overseer up")
    refused(site, 2, "overseer", "plan", "apply", ID, "--nodes", "[{", says="line 1")
    refused(site, 2, "overseer", "plan", "apply", ID, "--nodes", "@nowhere.json", says="nowhere.json")
    meant = dict(re.findall(r"^  (\d)  (.+)$", site.well("overseer", "help", "--all"), re.M))
    known = {error["exit"] for error in site.json("overseer", "api", "describe")["errors"]}
    expect(known <= {int(number) for number in meant}, f"exit statuses {known} are not all told: {meant}")


def test_no_daemon(site):
    site.down()
    refused(site, 7, "overseer", "status", says="overseer up")
    refused(site, 7, "overseer", "events", "--follow", says="overseer up")
    site.up()


def test_data_and_chatter(site):
    made = site.well("overseer", "goal", "create", "one line")
    expect(re.fullmatch(r"goal_[0-9A-Z]{26}\n", made), f"create prints more than the id: {made}")
    code, out, err = site.run("overseer", "goal", "create", "twice", "--key", "twice")
    expect(err == "", f"hints without a terminal: {err}")
    expect(site.well("overseer", "goal", "create", "twice", "--key", "twice") == out, "one key, two goals")


def test_dry_run(site):
    before = site.json("overseer", "goal", "tally")
    shown = json.loads(site.well("overseer", "goal", "create", "not yet", "--tags", "a", "--tags=b", "--dry-run"))
    expect(shown["method"] == "goal.create" and shown["params"]["tags"] == ["a", "b"], shown)
    expect(site.json("overseer", "goal", "tally") == before, "a dry run created something")
    expect("--maintain restore" in site.well("overseer", "restore", "overnight.db", "--dry-run"), "what would be run")
    expect("overseerd" in site.well("overseer", "up", "--dry-run", "--socket", "/tmp/no.sock"), "what would be run")


def test_confirmation(site):
    made = site.well("overseer", "goal", "create", "to be cancelled").strip()
    refused(site, 2, "overseer", "goal", "cancel", made, says="--yes")
    code, shown = site.on_terminal("overseer", "goal", "cancel", made, answer="n\n")
    expect(code == 2 and "[y/N]" in shown, shown)
    expect(site.json("overseer", "goal", "show", made)["status"] == "active", "cancelled without a yes")
    code, shown = site.on_terminal("overseer", "goal", "cancel", made, answer="y\n")
    expect(code == 0 and site.json("overseer", "goal", "show", made)["status"] == "cancelled", shown)
    refused(site, 2, "overseer", "restore", "overnight.db", says="--yes")


def test_flags(site):
    """Flags work as --flag value and --flag=value, in kebab-case and camelCase, before and after the words; -- ends them."""
    made = site.well("overseer", "goal", "create", "--title=-- odd", "--problem-statement", "p", "--nonGoals", "n").strip()
    goal = json.loads(site.well("overseer", "--json", "goal", "show", made))
    expect(goal["title"] == "-- odd" and goal["problemStatement"] == "p" and goal["nonGoals"] == ["n"], goal)
    made = site.well("overseer", "goal", "create", "--", "--json").strip()
    expect(site.json("overseer", "goal", "show", made)["title"] == "--json", "-- does not end the flags")
    expect(site.json("overseer", "goal", "list", "--state", "needs-you")["goals"], "needs-you is not needs you")
    site.well("overseer", "status", "show")


def test_did_you_mean(site):
    for typed, meant in (("gaol list", "overseer goal"), ("goal lst", "overseer goal list"), ("stauts", "overseer status"),
                         ("goal list --stat x", "--stat"), ("goal list --priorty x", ""), ("goal create x --prioritty high", "--priority"),
                         ("goal list --state wroking", "working"), ("plan aply X", "overseer plan apply"), ("dcotor", "overseer doctor")):
        code, out, err = site.run("overseer", *typed.split())
        expect(code == 2 and out == "" and (meant in err), f"{typed}: {err}")
    code, out, err = site.run("overseer", "goal")
    expect(code == 2 and "goal create" in err, f"a noun alone: {err}")


def test_prefixes(site):
    expect(site.json("overseer", "goal", "show", ID[:6])["goalId"] == GOAL, "a beginning of the id")
    expect(site.json("overseer", "goal", "show", f"goal_{ID}")["goalId"] == GOAL, "with goal_ before it")
    refused(site, 2, "overseer", "goal", "show", "01J", says="goal")
    refused(site, 3, "overseer", "goal", "show", "01JZZZZZ")
    rows = site.well("overseer", "goal", "list").splitlines()[1:]
    for row in rows:
        site.well("overseer", "goal", "show", row.split()[0])


# ---- for people ----

def test_terminal(site):
    """The command line uses colour, width and hints only on a terminal."""
    plain = site.well("overseer", "goal", "list")
    expect("\033" not in plain, "colour without a terminal")
    site.well("overseer", "goal", "create", "a long title " + "that goes on " * 20)
    code, shown = site.on_terminal("overseer", "goal", "list", columns=60)
    lines = re.sub(r"\033\[[0-9;]*m", "", shown).splitlines()
    expect("\033[" in shown and "…" in shown, f"no colour, or not cut: {shown}")
    expect(all(len(line) <= 60 for line in lines), f"wider than the terminal: {max(lines, key=len)}")
    expect("that goes on that goes on that goes on" in site.well("overseer", "goal", "list"), "cut without a terminal")
    code, shown = site.on_terminal("overseer", "goal", "list", more={"NO_COLOR": "1"})
    expect("\033[" not in shown, "colour in spite of NO_COLOR")
    code, shown = site.on_terminal("overseer", "goal", "create", "hinted")
    expect("Next: overseer goal show" in shown, f"no hint: {shown}")


def test_hostile_titles(site):
    """Text that an agent wrote cannot control the terminal."""
    made = site.well("overseer", "goal", "create", "red \033[31m bell \a back \b over \u202e end").strip()
    for words in (["goal", "list"], ["goal", "show", made], ["status"], ["events"], ["why", made]):
        out = site.well("overseer", *words)
        expect(not re.search("[\033\a\b\u202e]", out), f"{words} passes it on")


def test_pager(site):
    pager = site.repository / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    expect("PAGED" not in site.well("overseer", "goal", "list", more={"PAGER": str(pager)}), "a pager without a terminal")
    code, shown = site.on_terminal("overseer", "goal", "list", more={"PAGER": str(pager)})
    expect("PAGED" in shown and "title" in shown, shown)


def test_watch(site):
    code, shown = site.on_terminal("overseer", "status", "--watch", end="DAEMON")
    expect(code in (-2, 130) and "\033[H" in shown, f"{code}: {shown[:200]}")
    refused(site, 2, "overseer", "goal", "create", "x", "--watch", says="--watch")


def test_init(site):
    for there, command in (("Makefile", "make check"), ("package.json", "npm test"), ("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."),
                           *([("pyproject.toml", "pytest")] if shutil.which("pytest") else []), ("meson.build", "meson"),
                           ("test_it.py", "python3 -m unittest discover")):
        place = site.folder / f"of-{there}"
        shutil.rmtree(place, ignore_errors=True)
        (place / ".git").mkdir(parents=True)
        settings = place / "settings" / "overseer.toml"
        (place / there).write_text({"Makefile": "check:\n\ttrue\n", "package.json": '{"scripts": {"test": "true"}}',
                                    "meson.build": "test('x', x)\n", "test_it.py": "import unittest\n"}.get(there, ""))
        refused(site, 2, "overseer", "init", "--folder", str(place), says=command)
        site.well("overseer", "init", "--yes", "--folder", str(place), "--file", str(settings))
        text = settings.read_text()
        expect(f'command = "{command}' in text and f'path = "{place}"' in text and 'how = "branch"' in text, f"{there}: {text}")
        site.well("overseer", "config", "check", str(settings))
        expect(not (place / ".overseer.toml").exists(), "a repository is nothing that settings are written into")
    refused(site, 4, "overseer", "init", "--test-command", "true", "--folder", str(place), "--file", str(settings), says="--yes")
    odd = 'sh -c "a \\\\ b"'
    site.well("overseer", "init", "--yes", "--test-command", odd, "--folder", str(place), "--file", str(settings))
    site.well("overseer", "config", "check", str(settings))
    expect("a \\\\" in settings.read_text() and (place / "settings/overseer.toml.before").exists(), "the old one is set aside")
    site.well("overseer", "init", "--yes", "--test-command", "true", "--folder", str(place), "--file", str(settings))
    expect((place / "settings/overseer.toml.before").read_text() != (place / "settings/overseer.toml.before-2").read_text(), "each old one is set aside")
    refused(site, 3, "overseer", "init", "--yes", "--folder", str(site.folder), says="git")
    settings.write_text(settings.read_text().replace('command = "true"', 'command = "my own check"') +
                        '\n[sandbox]\nsees = ["/opt/tools"]\n\n[[agents]] # mine\nid = "mine"\ndriver = "command"\nprogram = "/bin/cat"\n')
    site.well("overseer", "init", "--yes", "--folder", str(place), "--file", str(settings))
    text = settings.read_text()
    expect('command = "my own check"' in text and 'sees = ["/opt/tools"]' in text and text.count('id = "mine"') == 1 and '"mine"]' in text, text)
    site.well("overseer", "config", "check", str(settings))
    settings.unlink()
    code, shown = site.on_terminal("overseer", "init", "--file", str(settings), answer="make\ny\n")
    expect(code == 0 and "[make check]" in shown and "Write this to" in shown and 'command = "make"' in settings.read_text(), shown)


def test_init_finds_agents(site):
    """init turns programs in PATH into [[agents]], with the keys that are set; a forge means pull requests."""
    place, programs = site.folder / "with-remote", site.folder / "programs"
    place.mkdir()
    programs.mkdir()
    for name in ("claude", "codex", "goose"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    more = {"PATH": f"{BUILD}:{programs}:/usr/bin:/bin", "ANTHROPIC_API_KEY": "k"}
    site.well("git", "init", "-q", "-b", "trunk", str(place))
    site.well("git", "-C", str(place), "remote", "add", "origin", "git@forge.example:team/web.git")
    settings = place / ".git" / "overseer.toml"
    told = json.loads(site.well("overseer", "init", "--yes", "--json", "--folder", str(place), "--file", str(settings), more=more))
    text = settings.read_text()
    expect(told["agents"] == ["claude", "codex", "goose"] and told["landing"] == "pr", told)
    expect('driver = "tmux"' in text and 'keys = ["ANTHROPIC_API_KEY"]' in text and 'default_branch = "trunk"' in text, text)
    site.well("overseer", "config", "check", str(settings), more=more)


def judged_init(site, name, files, command="true"):
    """Runs init in a repository with these files; returns the repository, the settings file and what init reported."""
    place = site.folder / name
    site.well("git", "init", "-q", str(place))
    for path in files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("x\n")
    site.well("git", "-C", str(place), "add", "-A")
    settings = site.folder / f"{name}.toml"
    told = json.loads(site.well("overseer", "init", "--yes", "--json", "--test-command", command, "--folder", str(place), "--file", str(settings)))
    site.well("overseer", "config", "check", str(settings))
    return place, settings, told


def test_init_finds_judged_files(site):
    """init adds to the default what a repository has besides the usual tests and CI; it does not write what equals the default."""
    usual = ["tests/a.py", "src/test/AllTest.java", "lib/thing_test.go", ".github/workflows/ci.yml", "src/main.c", "Jenkinsfile"]
    _, settings, told = judged_init(site, "usual", usual)
    expect(told["protect"] == told["rules"] == [] and "protect" not in settings.read_text() and "rules" not in settings.read_text(), settings.read_text())
    place, settings, told = judged_init(site, "judged", [*usual, "app/conftest.py", "app/src/LoginTest.java", "e2e/login.ts", "e2e/logout.ts", ".eslintrc.json",
                                                         "package.json", ".travis.yml", ".ci/run", "docs/testing.md"])
    expect(set(told["protect"]) == {".eslintrc*", "*Test.java", "conftest.py", "e2e/", "package.json"}, told)
    expect(sorted(told["rules"]) == [".ci/", ".travis.yml"], told)
    found = tomllib.loads(settings.read_text())["verify"]
    for name, one in (("protect", "tests/"), ("rules", ".github/")):
        expect(one in found[name] and found[name][-len(told[name]):] == told[name] and len(set(found[name])) == len(found[name]), found)
    said = site.well("overseer", "init", "--yes", "--folder", str(place), "--file", str(settings))
    expect("conftest.py" not in said and tomllib.loads(settings.read_text())["verify"]["protect"] == found["protect"], f"what is set stands: {said}")
    settings.write_text(re.sub(r"(?m)^protect = .*$", 'protect = ["only/"]', re.sub(r"(?m)^rules = .*$", "rules = []", settings.read_text())))
    site.well("overseer", "init", "--yes", "--folder", str(place), "--file", str(settings))
    found = tomllib.loads(settings.read_text())["verify"]
    expect(found["protect"] == ["only/"] and found["rules"] == [] and found["command"] == "true", found)
    shutil.rmtree(place / ".git")
    (place / ".git").mkdir()
    dry = site.well("overseer", "init", "--dry-run", "--folder", str(place), "--file", str(site.folder / "none.toml"))
    expect("protect" not in dry, "git knows no file here")


def test_run_wants_a_set_up(site):
    """run begins nothing where no agent is declared, and its error says how to solve the problem."""
    refused(site, 2, "overseer", "run", says="The task is missing")
    refused(site, 2, "overseer", "run", "-f", "x.md", "--until", "25:00", "--dry-run", says="07:00")
    refused(site, 2, "overseer", "run", "x", "--until", "07:00", "--dry-run", says="for a file")
    refused(site, 4, "overseer", "run", "fix it", says="overseer init")
    (site.repository / "night.md").write_text("# tonight\n\n- [ ] fix the login\n  see issue 12\n- [x] done\n1. port it\ntext\n")
    shown = site.well("overseer", "run", "-f", "night.md", "-j", "2", "--dry-run")
    expect(shown == "fix the login\nsee issue 12\nport it\n", shown)
    shown = json.loads(site.well("overseer", "run", "-f", "night.md", "--dry-run", "--json"))
    expect(shown == {"dryRun": True, "would": [{"text": "fix the login\nsee issue 12"}, {"text": "port it"}]}, shown)


def test_dry_runs(site):
    """With --dry-run and --json, each command that would change something prints JSON, and changes nothing."""
    (site.repository / "dry.md").write_text("- [ ] one\n")
    place = site.folder / "dry-place"
    subprocess.run(["git", "init", "-q", "-b", "main", str(place)], check=True)
    settings = site.folder / "dry.toml"
    for words in (["up"], ["run", "one"], ["run", "-f", "dry.md"], ["backup", "dry.db"], ["stop"], ["goal", "create", "dry"], ["restore", "dry.db"],
                  ["export", "--file", "dry.json"], ["init", "--folder", str(place), "--file", str(settings)]):
        code, out, said = site.run("overseer", *words, "--dry-run", "--json")
        expect(code == 0 and isinstance(json.loads(out), dict), f"{words}: {code} {out} {said}")
    expect(not settings.exists() and not (site.repository / "dry.db").exists(), "something was written")
    expect("dry" not in site.well("overseer", "goal", "list"), "something was created")


PRETENDS = """[supervision]
enabled = true
verify_by_person = {person}
tick_every = "1s"
[people]
undo_for = "0s"
[policy]
allow_agents = ["*"]
[[agents]]
id = "steady"
driver = "pretend"
pace = 2000
stretches = 2
"""


def test_first_hour(site):
    """run, logs, tell, diff, reject and land work as typed, with an agent that only pretends."""
    settings = site.folder / "pretends.toml"
    settings.write_text(PRETENDS.format(person="true"))
    more = {"OVERSEER_CONFIG": str(settings), "XDG_STATE_HOME": str(site.folder / "hour")}
    try:
        refused(site, 3, "overseer", "run", "fix it", "--agent", "nobody", says="nobody", more=more)
        begun = json.loads(site.well("overseer", "run", "fix the parser", "--agent", "steady", "--json", more=more))
        task, goal = begun["tasks"][0]["task"], begun["tasks"][0]["goalId"]
        expect(task == "T1", begun)
        expect("steady" in site.well("overseer", "agents", more=more), "who works on it")
        refused(site, 4, "overseer", "land", task, says="wait for your yes", more=more)

        def asked():
            return json.loads(site.well("overseer", "inbox", "--json", more=more))["items"]
        wait_until("it waits for a yes", asked, 30)
        expect("no worktree" in site.well("overseer", "diff", task, more=more), "nothing is there to compare")
        expect("fix the parser" in site.well("overseer", "goal", "show", task, more=more), "a task stands for its goal")
        refused(site, 3, "overseer", "goal", "show", "T99", says="T99", more=more)
        expect("has no output yet" in site.well("overseer", "logs", task, more=more), "it has no words of its own")
        site.well("overseer", "reject", task, "the parser is wrong still", more=more)
        wait_until("it says done once more", asked, 30)
        shown = site.well("overseer", "why", task, more=more)
        expect("the parser is wrong still" in shown, shown)
        code, _, said = site.run("overseer", "land", goal[5:15], more=more)
        expect(code == 0 and "overseer undo Q" in said, said)
        wait_until("it is done", lambda: json.loads(site.well("overseer", "goal", "show", goal, "--json", more=more))["state"] == "done", 30)
        refused(site, 4, "overseer", "tell", task, "too late", says="No agent works", more=more)
        refused(site, 4, "overseer", "retry", goal, "--reason", "once more", says="is done: nothing was started", more=more)
        expect(json.loads(site.well("overseer", "goal", "show", goal, "--json", more=more))["state"] == "done", "a refused retry changes nothing")
        site.well("overseer", "retry", goal, "--reason", "once more", "--yes", more=more)
    finally:
        site.run("overseer", "down", more=more)


def test_run_many(site):
    """run hands a list over and returns; the daemon works through it with one task at once, in its order, and leaves out ticked entries. Given again, the list
    adds only what is new."""
    settings = site.folder / "many.toml"
    settings.write_text(PRETENDS.format(person="false"))
    (site.repository / "many.md").write_text("- [ ] first\n- [x] done before\n- [ ] second\n- [ ] third\n")
    more = {"OVERSEER_CONFIG": str(settings), "XDG_STATE_HOME": str(site.folder / "many")}
    try:
        shown = site.well("overseer", "run", "-f", "many.md", "-j", "1", more=more)
        lines = [line.split()[:2] for line in shown.splitlines()]
        expect(lines == [["T1", "first"], ["T2", "second"], ["T3", "third"], ["Batch", "many"]], shown)
        expect("stopped" not in shown and "1 at once" in shown and "close this terminal" in shown, shown)
        (site.repository / "many.md").write_text("- [ ] first\n- [ ] third\n- [ ] fourth\n")
        again = site.well("overseer", "run", "-f", "many.md", more=more)
        expect("T4    fourth" in again and "already in batch many" in again, again)

        def ended():
            tasks = json.loads(site.well("overseer", "batch", "show", "many", "--json", more=more))["tasks"]
            return all(task["state"] == "done" for task in tasks) and tasks
        tasks = wait_until("all are done", ended, 60)
        expect([task["title"] for task in tasks] == ["first", "second", "third", "fourth"], tasks)
        begun = [json.loads(site.well("overseer", "goal", "show", task["name"], "--json", more=more))["plan"]["phases"][0]["tasks"][0]["startedAt"]
                 for task in tasks[:3]]
        expect(begun == sorted(begun), begun)
        site.well("overseer", "stop", "--yes", more=more)
        expect("overseer resume" in site.well("overseer", "run", "fifth", more=more), "while all is stopped, run says so")
    finally:
        site.run("overseer", "down", more=more)


def test_demo(site):
    """In the demo one agent stalls, one loops, one lies and one dies; all tasks land within two minutes, and the demo leaves nothing behind."""
    temporary = site.folder / "temporary"
    temporary.mkdir()
    began = time.monotonic()
    told = json.loads(site.well("overseer", "demo", "--json", more={"TMPDIR": str(temporary)}, within=150))
    took = time.monotonic() - began
    by = {one["given"]: one for one in told["tasks"]}
    expect(told["done"] and all(one["done"] for one in told["tasks"]), told)
    expect(by["sleepy"]["nudges"] > 0 and by["dizzy"]["nudges"] > 0 and by["fibber"]["caught"] > 0 and by["frail"]["restarts"] > 0, told)
    expect(took < 120, f"{took:.0f} s are more than two minutes")
    expect(not list(temporary.iterdir()), "it left something behind")


def test_up_and_down(site):
    """up starts the daemon detached and with its flags, waits for it, and finds it by its registration."""
    first = json.loads(site.well("overseer", "up", "--json"))
    expect(first["already"] and first["pid"] > 0, first)
    site.down()
    expect("No daemon" in site.well("overseer", "down"), "twice down")
    second = json.loads(site.well("overseer", "up", "--listen", "127.0.0.1:0", "--json"))
    expect(second["pid"] != first["pid"] and not second["already"], second)
    session = open(f"/proc/{second['pid']}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[3]
    expect(int(session) == second["pid"], "it is not in a session of its own")
    settings = {row["name"]: row["value"] for row in site.json("overseer", "config", "show")["settings"]}
    expect("127.0.0.1:0" in str(settings.get("server.listen")), f"--listen was not handed on: {settings}")
    registered = json.loads((site.state / "daemon.json").read_text())
    wrong = dict(registered, start_ticks=registered["start_ticks"] - 1)
    (site.state / "daemon.json").write_text(json.dumps(wrong))
    refused(site, 4, "overseer", "down", says="registration")
    (site.state / "daemon.json").write_text(json.dumps(registered))
    site.down()
    code, out, err = site.run("overseer", "up", "--store", "sqlite:/nowhere/at/all.db")
    expect(code != 0 and "log" in err, f"{code}: {err}")
    site.up()


def test_goals_and_work(site):
    nobody = site.well("overseer", "goal", "create", "without a plan").strip()
    refused(site, 4, "overseer", "attach", nobody, says="No agent works on it yet")
    """CLI-02, CLI-03: each works and prints the id or state."""
    made = site.well("overseer", "goal", "create", "--title", "from a session", "--from-session", "agent:main:x").strip()
    expect(site.json("overseer", "goal", "show", made)["sourceSessionKey"] == "agent:main:x", "--from-session")
    site.well("overseer", "goal", "update", made, "--title", "renamed")
    expect(site.json("overseer", "goal", "show", made)["title"] == "renamed", "update")
    site.well("overseer", "goal", "pause", made)
    expect(site.json("overseer", "goal", "show", made)["status"] == "paused", "pause")
    site.well("overseer", "goal", "resume", made)
    expect(site.json("overseer", "goal", "show", made)["status"] == "active", "resume")
    proof.passed("cli", "a goal is created, updated, paused and resumed by commands", "GOAL-12.a")
    types = [event["type"] for event in site.json("overseer", "events", "--goal", made)["events"]]
    expect(sorted(types) == ["goal.created", "goal.paused", "goal.resumed", "goal.updated"], types)
    proof.passed("cli", "each of the four commands is one event", "GOAL-12.b")
    site.well("overseer", "work", "block", "S1.1.1", "--reason", "waits for a key", "--goal", ID)
    expect("waits for a key" in site.well("overseer", "plan", "show", ID), "the reason is not shown")
    site.well("overseer", "work", "unblock", "S1.1.1")
    site.well("overseer", "work", "done", "S1.1.1", "--goal", ID, "--reason", "seen")
    seen = [event["type"] for event in site.json("overseer", "events", "--goal", GOAL)["events"]]
    expect("work.blocked" in seen and "work.done" in seen, seen)


def test_plan(site):
    """CLI-11: show, draft, apply, approve, insights and recommend work as a round trip."""
    made = site.well("overseer", "goal", "create", "planned").strip()
    draft = site.json("overseer", "plan", "draft", made, "--nodes", "@plan.json")
    expect(draft["mode"] == "draft", draft)
    expect("phases" not in site.json("overseer", "plan", "show", made) or not site.json("overseer", "plan", "show", made)["phases"], "a draft was stored")
    site.well("overseer", "plan", "apply", made, "--nodes", (site.repository / "plan.json").read_text())
    expect("T1.1" in site.well("overseer", "plan", "show", made), "show")
    expect("T1.1" in site.well("overseer", "plan", "insights", made), "insights")
    expect("T1.1" in site.well("overseer", "plan", "recommend", made), "recommend")
    code, out, err = site.run("bash", "-c", f"overseer plan draft {made} --nodes @- --version 1 < plan.json")
    expect(code == 0, f"@-: {err}")


def test_tick(site):
    """CLI-04: a tick with nothing due succeeds and does no work."""
    wait_until("nothing is due", lambda: site.json("overseer", "tick", "--now") == {"ok": True, "didWork": False}, 10)
    first = site.json("overseer", "tick", "--now", "--reason", "the nightly look")
    expect(first == {"ok": True, "didWork": False}, first)
    log = "".join(path.read_text(errors="replace") for path in site.state.parent.rglob("*.log"))
    expect("tick begins: the nightly look" in log, "the reason is not in the log")
    proof.passed("cli", "with nothing due a tick is well and did nothing; its reason is kept", "TICK-02")
    site.well("overseer", "tick", "wake")


def test_events(site):
    """events --follow continues past a restart of the daemon: no event is missing, and none comes twice."""
    follow = subprocess.Popen(["overseer", "events", "--follow", "--json", "--type", "goal.created"], cwd=site.repository, env=site.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(json.loads(line)["text"] for line in follow.stdout), daemon=True)
    reader.start()
    try:
        time.sleep(1)
        site.well("overseer", "goal", "create", "before the restart")
        wait_until("the first is seen", lambda: "before the restart" in seen, 10)
        site.down()
        site.up()
        site.well("overseer", "goal", "create", "after it")
        wait_until("the second is seen", lambda: "after it" in seen, 15)
    finally:
        follow.terminate()
        follow.wait()
    expect(seen.count("before the restart") == 1 and seen.count("after it") == 1, seen)
    expect(all(event["type"].startswith("plan.") for event in site.json("overseer", "events", "--type", "plan.*")["events"]), "--type")
    expect(site.json("overseer", "events", "--since", "1h", "--goal", ID)["events"] is not None, "--since")


def test_stop_and_resume(site):
    expect("overseer resume" in site.well("overseer", "stop", "--yes"), "stop prints the line that resumes")
    expect("stopped" in site.well("overseer", "status"), "status says it")
    made = site.well("overseer", "goal", "create", "held", "--command", "true").strip()
    time.sleep(0.5)
    expect(site.json("overseer", "goal", "show", made)["state"] != "done", "a stopped fleet ran a command")
    site.well("overseer", "resume")
    wait_until("it goes on", lambda: site.json("overseer", "goal", "show", made)["state"] == "done", 10)


def test_store(site):
    """backup, verify, export, import, restore, verify-log and admin work."""
    site.well("overseer", "backup", "one.db")
    expect(site.run("overseer", "backup", "one.db")[0] == 1, "over a file that is there")
    site.well("overseer", "backup", "--verify", "one.db")
    document = json.loads(site.well("overseer", "export", "-"))
    expect(document["overseer"], "export to standard output")
    site.well("overseer", "import", "tasks.md", "--store", f"sqlite:{site.folder}/new.db")
    site.down()
    site.well("overseer", "verify-log", "--heads", "heads.txt")
    site.well("overseer", "verify-log", "--against", "heads.txt")
    site.well("overseer", "admin", "examine")
    site.well("overseer", "admin", "retain", "--yes")
    site.well("overseer", "restore", "one.db", "--yes", "--replace")
    report = json.loads(site.well("overseer", "admin", "examine", "--json"))
    expect(report["ok"] and report["report"], report)
    site.up()


def test_doctor(site):
    """CLI-09: doctor tells good from bad with its exit status, and --rebuild repairs the store."""
    found = {row["check"]: row["verdict"] for row in site.json("overseer", "doctor")["checks"]}
    expect(found["store"] == found["daemon"] == found["socket"] == found["settings"] == "good", found)
    os.chmod(site.state, 0o755)
    code, out, err = site.run("overseer", "doctor")
    expect(code == 1 and re.search(r"^bad +folder", out, re.M), out)
    os.chmod(site.state, 0o700)
    code, out, err = site.run("overseer", "doctor", more={"OVERSEER_CONFIG": str(site.repository / "broken.toml")})
    expect(code == 1 and re.search(r"^bad +settings", out, re.M), out)
    site.damage()
    code, out, err = site.run("overseer", "doctor")
    expect(code == 1 and "safe mode" in out and "--rebuild" in out, out)
    refused(site, 8, "overseer", "goal", "create", "in safe mode")
    site.down()
    expect(site.run("overseer", "doctor", "--rebuild")[0] == 2, "rebuilt without a yes")
    site.well("overseer", "doctor", "--rebuild", "--yes")
    site.up()
    expect(site.run("overseer", "doctor")[0] == 0, "not well after a rebuild")
    expect(site.json("overseer", "goal", "show", ID)["goalId"] == GOAL, "the goal is lost")


def test_why(site):
    """CLI-15: why says what the state is, since when, what it follows from, and what to do."""
    shown = site.well("overseer", "why", FAILED)
    for part in ("run the nightly build", "needs you since", "command.failed", "measured", "decided", "Next timer:", "Do:"):
        expect(part in shown, f"why does not say {part!r}: {shown}")


def test_status(site):
    """CLI-01, as far as it concerns goals."""
    shown = site.well("overseer", "status")
    for part in ("FAILED", "run the nightly build", "DAEMON ok"):
        expect(part in shown, f"status does not say {part!r}: {shown}")
    expect("run the nightly build" in site.well("overseer", "inbox"), "inbox")


def test_remote(site):
    """Commands work over TCP with a token from the flags or from the environment."""
    site.down()
    site.well("overseer", "up", "--listen", "127.0.0.1:17437")
    token = site.json("overseer", "token", "create", "--role", "reader", "--note", "test")["token"]
    at = ("--url", "http://127.0.0.1:17437")
    expect(json.loads(site.well("overseer", "goal", "list", *at, "--token", token, "--json"))["goals"], "by flags")
    site.well("overseer", "status", more={"OVERSEER_URL": at[1], "OVERSEER_TOKEN": token})
    expect(site.run("overseer", "goal", "create", "x", *at, "--token", token)[0] == 9, "a reader writes")
    expect(site.run("overseer", "goal", "list", *at)[0] == 9, "without a token")
    site.down()
    site.up()


def test_short_ids(site):
    """Short ids are as long as needed to distinguish the goals that are shown, and each names its goal."""
    alike = ["goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN", "goal_01JC7Q4T9ZJ5Y0M2K8W3R6VYHN"]
    row = {"createdAt": "2026-10-27T09:30:00Z", "status": "active"}
    document = {"version": 1, "goals": {name: {**row, "goalId": name, "title": name} for name in alike}}
    (site.repository / "alike.json").write_text(json.dumps(document))
    site.down()
    site.well("overseer", "import", "alike.json", "--store", f"sqlite:{site.folder}/alike.db")
    site.well("overseer", "up", "--store", f"sqlite:{site.folder}/alike.db")
    for line in site.well("overseer", "goal", "list").splitlines()[1:]:
        short, title = line.split()[0], line.split()[-1]
        expect(len(short) == 13 and site.json("overseer", "goal", "show", short)["goalId"] == title, line)
    refused(site, 2, "overseer", "goal", "show", ID, says="The id is ambiguous")
    site.down()


def test_progress(site):
    """backup shows its progress on a terminal, and only there."""
    place = site.folder / "slow"
    place.mkdir()
    shutil.copy(shutil.which("overseer", path=site.environment["PATH"]), place)
    (site.repository / "store").write_bytes(bytes(4000))
    (place / "overseerd").write_text("#!/bin/sh\nhead -c 1000 /dev/zero >$3.part\nsleep 1.5\nmv $3.part $3\necho backup: done\n")
    (place / "overseerd").chmod(0o755)
    words = (str(place / "overseer"), "backup", "slow.db", "--store", f"sqlite:{site.repository}/store")
    code, shown = site.on_terminal(*words)
    expect(code == 0 and re.search(r"backup … \d+s \[#+\.+\] 25%", shown) and "backup: done" in shown, shown)
    code, out, err = site.run(*words)
    expect((code, out, err) == (0, "backup: done\n", ""), f"{code} {out!r} {err!r}")


def test_manual(site):
    """The manual pages have no lint warnings, and each noun has a page."""
    pages = TOP / "docs" / "man"
    nouns = {command["words"].split()[0] for command in site.json("overseer", "help")["commands"] if " " in command["words"]}
    for page in [f"overseer-{noun}.1" for noun in nouns] + ["overseer.1", "overseer-events.7", "overseer-api.7", "overseer.toml.5", "overseerd.8"]:
        code, out, err = site.run("mandoc", "-T", "lint", "-W", "warning", str(pages / page))
        lines = [line for line in out.splitlines() if "missing date" not in line and "referenced manual" not in line]
        expect(not lines, f"{page}: {lines[:3]}")


class Forgetful(threading.Thread):
    """A daemon that receives the first request and does not answer it."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.heard = []
        self.interface = socket.socket(socket.AF_UNIX)
        self.interface.bind(str(path))
        self.interface.listen()
        self.start()

    def run(self):
        while True:
            visitor, _ = self.interface.accept()
            text = b""
            while b"\r\n\r\n" not in text or not text.endswith(b"}"):
                text += visitor.recv(65536)
            self.heard.append(json.loads(text.split(b"\r\n\r\n", 1)[1]))
            if len(self.heard) > 1:
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"goalId": GOAL, "version": 1}}).encode()
                visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            visitor.close()


def test_lost_answer(site):
    """The command line sends a write whose answer is lost again under the same key; it does not repeat a request without a key."""
    daemon = Forgetful(site.folder / "one.sock")
    expect(site.well("overseer", "goal", "create", "x", "--socket", f"{site.folder}/one.sock") == f"{GOAL}\n", "not sent again")
    keys = {request["params"]["key"] for request in daemon.heard}
    expect(len(daemon.heard) == 2 and len(keys) == 1, daemon.heard)
    daemon = Forgetful(site.folder / "two.sock")
    code, out, err = site.run("overseer", "token", "create", "--role", "reader", "--socket", f"{site.folder}/two.sock")
    expect(code == 7 and len(daemon.heard) == 1, f"{code}: {daemon.heard}")


def test_help(site):
    """U17: help shows the letters of flags, and an example of a command begins with that command."""
    text = site.well("overseer", "help", "run")
    expect("-f, --file FILE" in text and "-j, --jobs N" in text and "-f, --follow" in site.well("overseer", "help", "logs"), text)
    for command in site.json("overseer", "help")["commands"]:
        examples = [line for line in command["help"].splitlines() if line.startswith("Example: ")]
        own = [line for line in examples if f"overseer {command['words']}" in line]
        expect(own or not examples or command["words"] == "daemon stop", f"{command['words']}: {examples}")


# ---- shell completion ----

BASH = """source <(overseer completion bash)
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _overseer; echo "${COMPREPLY[*]}"; }
"""
ZSH = """autoload -Uz compinit; compinit -u -D; source <(overseer completion zsh)
compadd() { shift; print -r -- "$*"; }; _files() { print -r -- files; }
try() { words=("$@"); CURRENT=$#; _overseer; }
"""
OFFERED = ((["overseer", ""], "status"), (["overseer", "goal", ""], "create"), (["overseer", "goal", "list", "--"], "--state"),
           (["overseer", "goal", "list", "--state", ""], "needs-you"), (["overseer", "goal", "show", ""], ID),
           (["overseer", "completion", ""], "fish"))
# Of a goal with a name and a question; {0} is its number. A second name follows the first, a text does not.
NAMED = ((["overseer", "goal", "show", ""], "T{0}"), (["overseer", "logs", "T{0}", ""], "T{0}"), (["overseer", "answer", ""], "Q{0}.0"),
         (["overseer", "land", ""], "T{0}"), (["overseer", "land", "T{0}", ""], "Q{0}.0"))


def test_completion(site):
    """The real shells source the scripts and then offer the right words."""
    name = site.json("overseer", "goal", "create", "to be completed")["name"]
    site.well("overseer", "question", "ask", name, "Which?", "--kind", "alert")
    named = [([word.format(name[1:]) for word in words], meant.format(name[1:])) for words, meant in NAMED]
    for words, meant in (*OFFERED, *named):
        typed = " ".join(f"'{word}'" for word in words)
        out = site.well("bash", "-c", f"{BASH}try {typed}")
        expect(meant in out.split(), f"bash {words}: {out}")
        if shutil.which("zsh"):
            out = site.well("zsh", "-f", "-c", f"{ZSH}try {typed}")
            expect(meant in out.split(), f"zsh {words}: {out}")
        if shutil.which("fish"):
            out = site.well("fish", "-c", f"overseer completion fish | source; complete -C '{' '.join(words)}'")
            expect(meant in out.split(), f"fish {words}: {out}")
    expect("T" + name[1:] not in site.well("bash", "-c", f"{BASH}try overseer tell {name} ''").split(), "a name is offered where a text belongs")
    for shell in ("zsh", "fish"):
        if not shutil.which(shell):
            print(f"cli: {shell} is not installed: its completion was not tried")


# ---- golden screens ----

SCREENS = {"front": "overseer", "goal": "overseer goal list", "status": "overseer status --since 2026-01-01T00:00:00Z", "inbox": "overseer inbox",
           "why": f"overseer why {FAILED}", "plan": f"overseer plan show {ID}", "help": "overseer help goal create"}


def plain(shown):
    """The screen without what changes each time; the rest keeps its position."""
    shown = re.sub(r"\033\[[0-9;]*m", "", shown)
    shown = re.sub(r"\b\d\d:\d\d(:\d\d)?\b", lambda match: re.sub(r"\d", "0", match.group(0)), shown)
    shown = re.sub(r" +(\d+s|\d+m|\d+h\d\d|\d+d)(?=  )", lambda match: " age".rjust(len(match.group(0))), shown)
    return re.sub(r"(oldest|ok) (\d+s|\d+m|\d+h\d\d|\d+d)", r"\1 age", shown)


def test_screens(site):
    site.refresh()
    site.up()
    for columns, lines in ((80, 24), (200, 50)):
        for name, typed in SCREENS.items():
            code, shown = site.on_terminal("bash", "-c", typed, columns=columns, lines=lines)
            path = TOP / "tests" / "golden" / f"screen-{name}-{columns}.txt"
            if WRITE:
                path.write_text(plain(shown))
            expect(code == 0 and plain(shown) == path.read_text(), f"{path.name} looks different; see cli.py --write:\n{plain(shown)}")
            expect(name != "front" or shown.count("\n") < lines, "the front page does not fit on the screen")


PROVES = {"goals_and_work": "CLI-02 CLI-03", "plan": "CLI-11", "tick": "CLI-04", "doctor": "CLI-09"}


def main():
    names = [name[5:] for name in globals() if name.startswith("test_")]
    asked = [name for name in sys.argv[1:] if not name.startswith("-")] or names
    site, failed = Site("cli"), 0
    try:
        site.furnish()
        site.up()
        for name in asked:
            try:
                site.refresh()
                site.up()
                globals()[f"test_{name}"](site)
                proof.passed("cli", name, PROVES.get(name, ""))
            except (Broken, AssertionError, KeyError, ValueError, OSError, subprocess.SubprocessError) as trouble:
                failed += 1
                print(f"cli: {name}: {type(trouble).__name__} {trouble}", flush=True)
    finally:
        site.close()
    print(f"cli: {len(asked) - failed} of {len(asked)} tests of the command line hold")
    print(f"{0 if failed else 1} passed, {1 if failed else 0} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
