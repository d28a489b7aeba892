#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests several repositories on one daemon: [repo] and [[repos]].

repositories.py [--only NAME]: the daemon, real git, agents that are programs (driver command). What landed is read from git alone.
"""
import json
import os
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager

from care import fixture_make, git, main, tree_of
from landing import AGENT, question_of
from world import BUILD

MOST = 64  # entries of [[repos]]
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def repository_make(folder, branch="main", **files):
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    git(folder, "config", "user.name", "agnes")
    git(folder, "config", "user.email", "agnes@localhost")
    for path, text in {"README": "begun\n", **files}.items():
        (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "begin")
    git(folder, "checkout", "-q", "--detach")
    return folder


def repos_add(fixture, reload=True, **entry):
    """Adds an entry of [[repos]] to the settings."""
    config = fixture.folder / "overseer.toml"
    config.write_text(config.read_text() + "\n[[repos]]\n" + "".join(f"{key.replace('__', '.')} = {json.dumps(value)}\n" for key, value in entry.items()))
    if reload:
        fixture.do("config.reload")


@contextmanager
def without_repos(fixture):
    """The settings have no entry of [[repos]] meanwhile."""
    config = fixture.folder / "overseer.toml"
    whole = config.read_text()
    config.write_text(whole[:whole.index("\n[[repos]]")])
    fixture.do("config.reload")
    yield
    config.write_text(whole)
    fixture.do("config.reload")


def fixture_two(name, act="echo made >made", go=True, **rows):
    """A fixture with [repo] and the repository core, whose branch is trunk; an agent runs `act` once the file go exists."""
    fixture = fixture_make(f"repositories-{name}", **{"landing": {"how": "rebase"}, **rows})
    git(fixture.repo, "checkout", "-q", "--detach")
    fixture.program.write_text(AGENT)
    (fixture.program.parent / "act").write_text(act)
    fixture.core = repository_make(fixture.folder / "core", "trunk", only_core="yes\n")
    repos_add(fixture, name="core", path=str(fixture.core), default_branch="trunk", verify__command="test -f only_core && test -f made",
              landing__how="squash")
    if go:
        agents_go(fixture)
    return fixture


def agents_go(fixture):
    (fixture.program.parent / "go").write_text("")


def goal_in(fixture, repo=None):
    params = {"title": f"a task for {repo or 'the first one'}", **({"repo": repo} if repo else {})}
    goal = fixture.do("goal.create", **params)["goalId"]
    fixture.do("plan.apply", goal=goal, nodes=[
        {"id": "P1", "tier": "phase", "name": "all of it", "acceptanceCriteria": ["it is done"]},
        {"id": "T1", "parentId": "P1", "tier": "task", "name": "make it", "acceptanceCriteria": ["it is done"], "objective": "Make it."}])
    return goal


def landed(fixture, *goals):
    for goal in goals:
        fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))


def overseer(fixture, *words, folder=None, fails=False):
    environment = {**os.environ, "OVERSEER_CONFIG": str(fixture.folder / "overseer.toml"), "HOME": str(fixture.folder)}
    done = subprocess.run([str(BUILD / "overseer"), "--socket", str(fixture.daemon.socket), *words], cwd=folder or fixture.folder, env=environment,
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (done.returncode != 0) == fails, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


@check
def each_lands_in_its_own():
    """Work in two repositories is checked by its own command and lands on its own branch; lists, status and inbox name the repository."""
    fixture = fixture_two("own")
    try:
        first, second = goal_in(fixture), goal_in(fixture, "core")
        landed(fixture, first, second)
        assert git(fixture.repo, "show", "main:made") == "made" and git(fixture.core, "show", "trunk:made") == "made"
        assert "only_core" not in git(fixture.repo, "ls-tree", "--name-only", "main")
        assert git(fixture.core, "rev-list", "--count", "trunk") == "2", "one commit by squash"
        shown = {goal["goalId"]: goal.get("repo") for goal in fixture.do("goal.list")["goals"]}
        assert shown == {first: "repo", second: "core"}, shown
        for goal, name in ((first, "repo"), (second, "core")):
            assert fixture.do("goal.show", goal=goal).get("repo") == name, fixture.do("goal.show", goal=goal)
            assert fixture.do("why.show", of=goal).get("repo") == name, fixture.do("why.show", of=goal)
        done = {goal["goalId"]: goal.get("repo") for goal in fixture.do("status.show")["done"]}
        assert done == shown, done
    finally:
        fixture.close()


@check
def a_name_that_is_missing_or_wrong():
    """A name that does not exist is refused, with those that do. Without [repo], one of several has to be named; none is for work that needs none."""
    fixture = fixture_two("names", go=False)
    try:
        _, _, error = fixture.client.call("goal.create", {"title": "x", "repo": "cor"})
        assert error["data"]["code"] == "E_INVALID" and "repo, core" in error["message"] + json.dumps(error), error
        config = fixture.folder / "overseer.toml"
        config.write_text(config.read_text().replace(f'path = "{fixture.repo}"\n', "", 1))
        repos_add(fixture, name="web", path=str(fixture.repo))
        _, _, error = fixture.client.call("goal.create", {"title": "x"})
        assert error["data"]["code"] == "E_INVALID" and "core, web" in json.dumps(error), error
        fixture.do("goal.create", title="needs none", repo="none")
        assert "repo" not in fixture.do("goal.list")["goals"][0]
    finally:
        fixture.close()


@check
def each_has_its_own_lane():
    """A lane that a person holds does not hold the other one."""
    fixture = fixture_two("lane", go=False)
    try:
        overseer(fixture, "lane", "hold", "--repo", "core", "--reason", "a release")
        first, second = goal_in(fixture), goal_in(fixture, "core")
        agents_go(fixture)
        landed(fixture, first)
        fixture.wait("it waits for the lane", lambda: fixture.do("lane.show", repo="core")["count"] == 1)
        time.sleep(2)
        assert not fixture.records(second, "work.landed") and fixture.do("lane.show")["held"] is False
        overseer(fixture, "lane", "release", "--repo", "core")
        landed(fixture, second)
    finally:
        fixture.close()


@check
def one_that_goes_away_while_it_lands():
    """A slot of the lane is returned to the lane that gave it, although the repository left the settings meanwhile: the next work lands at once."""
    fixture = fixture_two("slot", act="echo made >made; cat /proc/sys/kernel/random/uuid >its", go=False)
    try:
        go, began = fixture.folder / "push", fixture.folder / "pushed"
        hook = fixture.core / ".git/hooks/pre-receive"
        hook.write_text(f"#!/bin/sh\ntouch '{began}'\nwhile [ ! -e '{go}' ]; do sleep 0.1; done\n")
        hook.chmod(0o755)
        config = fixture.folder / "overseer.toml"
        config.write_text(config.read_text() + "landing.hooks = true\n")
        fixture.do("config.reload")
        goals = [goal_in(fixture, "core") for _ in range(2)]
        agents_go(fixture)
        fixture.wait("one is being pushed", began.exists)
        fixture.wait("the other waits", lambda: fixture.do("lane.show", repo="core")["count"] == 2)
        with without_repos(fixture):
            go.touch()
            fixture.wait("one has landed", lambda: any(fixture.records(goal, "work.landed") for goal in goals))
            time.sleep(1)
        fixture.wait("both have landed", lambda: all(fixture.records(goal, "work.landed") for goal in goals) or any(
            fixture.do("question.answer", question=asked["questionId"], goal=goal, answer="a") for goal in goals if (asked := question_of(fixture, goal))) and False)
        assert git(fixture.core, "rev-list", "--count", "trunk") == "3"
    finally:
        fixture.close()


@check
def init_adds_and_keeps():
    """U4: `init` in a second repository adds lines to the file and changes none; work that runs in the first one lands there."""
    fixture = fixture_make("repositories-init", landing={"how": "rebase"})
    try:
        git(fixture.repo, "checkout", "-q", "--detach")
        fixture.program.write_text(AGENT)
        (fixture.program.parent / "act").write_text("echo made >made")
        config = fixture.folder / "overseer.toml"
        before = config.read_text() + "# a line of mine"
        config.write_text(before)
        first = goal_in(fixture)
        fixture.wait("it has begun", lambda: tree_of(fixture, first))
        other = repository_make(fixture.folder / "other place", check__sh="exit 0\n")
        told = overseer(fixture, "init", "--yes", "--test-command", "test -f made", folder=other)
        after = config.read_text()
        assert after.startswith(before + "\n") and 'name = "other-place"' in after, after
        assert 'landing.author = "agnes <agnes@localhost>"' in after, after
        assert "Added to" in told and "reloaded" in told, told
        again = overseer(fixture, "init", "--yes", "--test-command", "true", folder=other, fails=True)
        assert "other-place" in again and config.read_text() == after, again
        nameless = repository_make(fixture.folder / "latin")
        subprocess.run([b"git", b"-C", os.fsencode(nameless), b"config", b"user.name", b"Ren\xe9"], check=True)
        overseer(fixture, "init", "--yes", "--test-command", "true", folder=nameless)
        assert config.read_text().count("landing.author") == 1, "a name that is no UTF-8 is left out"
        elsewhere = repository_make(fixture.folder / "elsewhere")
        told = overseer(fixture, "run", "x", folder=elsewhere, fails=True)
        assert "overseer init" in told and "--repo" in told, told
        told = overseer(fixture, "run", "make it", "--agent", "coder", folder=other)
        agents_go(fixture)
        goals = {goal["goalId"]: goal for goal in fixture.do("goal.list")["goals"]}
        [second] = [goal for goal in goals if goal != first]
        assert goals[second]["repo"] == "other-place" and goals[first]["repo"] == "repo", goals
        landed(fixture, first)
        assert git(fixture.repo, "show", "main:made") == "made"
    finally:
        fixture.close()


@check
def one_that_goes_away():
    """A repository that leaves the settings while work runs in it: nothing lands, nothing is lost, and the reason names it. Once it is back, the
    work lands."""
    fixture = fixture_two("away", go=False, verify={"command": "test -f made", "rounds": 0})
    try:
        goal = goal_in(fixture, "core")
        fixture.wait("it has begun", lambda: tree_of(fixture, goal))
        assert fixture.do("goal.show", goal=goal)["repo"] == "core"
        with without_repos(fixture):
            assert "repo" not in fixture.do("goal.show", goal=goal)
            agents_go(fixture)
            asked = fixture.wait("a person is asked", lambda: question_of(fixture, goal))
            assert str(fixture.core) in json.dumps(fixture.do("goal.show", goal=goal)), asked
            assert git(fixture.core, "rev-list", "--count", "trunk") == "1" and git(fixture.repo, "rev-list", "--count", "main") == "1"
            assert "made" in fixture.do("work.diff", goal=goal, worktree=True)["diff"]
        fixture.do("question.answer", question=asked["questionId"], goal=goal, answer="a")
        landed(fixture, goal)
        assert git(fixture.core, "show", "trunk:made") == "made"
    finally:
        fixture.close()


@check
def one_that_goes_away_before_it_lands():
    """Work that passed and was accepted is not done while its repository is not in the settings; it lands once the repository is back."""
    fixture = fixture_two("accepted", supervision={"verify_by_person": True}, people={"undo_for": "0s"})
    try:
        goal = goal_in(fixture, "core")
        asked = fixture.wait("it waits for a person", lambda: question_of(fixture, goal))
        with without_repos(fixture):
            fixture.do("question.approve", question=asked["questionId"], goal=goal)
            again = fixture.wait("it is asked what to do", lambda: (found := question_of(fixture, goal)) and found["questionId"] != asked["questionId"] and found)
            assert str(fixture.core) in json.dumps(fixture.do("goal.show", goal=goal)["records"]), again
            assert fixture.do("goal.show", goal=goal)["status"] == "active" and git(fixture.core, "rev-list", "--count", "trunk") == "1"
        fixture.do("question.answer", question=again["questionId"], goal=goal, answer="a")
        landed(fixture, goal)
        assert git(fixture.core, "show", "trunk:made") == "made"
    finally:
        fixture.close()


@check
def one_whose_path_is_another():
    """Work stays in the repository that it began in, also when its name stands for another path by now."""
    fixture = fixture_two("moved", go=False)
    try:
        goal = goal_in(fixture, "core")
        fixture.wait("it has begun", lambda: tree_of(fixture, goal))
        other = repository_make(fixture.folder / "other", "trunk", only_core="yes\n")
        config = fixture.folder / "overseer.toml"
        config.write_text(config.read_text().replace(f'"{fixture.core}"', f'"{other}"'))
        fixture.do("config.reload")
        agents_go(fixture)
        fixture.wait("a person is asked", lambda: question_of(fixture, goal))
        assert git(other, "rev-list", "--count", "trunk") == "1" and git(fixture.core, "rev-list", "--count", "trunk") == "1"
        assert "made" in fixture.do("work.diff", goal=goal, worktree=True)["diff"]
    finally:
        fixture.close()


@check
def a_cap_for_each():
    """caps.per_repository counts each repository by itself, also that of [repo]."""
    fixture = fixture_two("cap", act="echo made >made; cat /proc/sys/kernel/random/uuid >its", go=False)
    try:
        config = fixture.folder / "overseer.toml"
        config.write_text("[caps]\nper_repository = 1\n" + config.read_text())
        fixture.do("config.reload")
        goals = {repo: [goal_in(fixture, repo) for _ in range(2)] for repo in (None, "core")}
        fixture.wait("one of each has begun", lambda: all(any(tree_of(fixture, goal) for goal in ours) for ours in goals.values()))
        time.sleep(2)
        assert all(sum(tree_of(fixture, goal) is not None for goal in ours) == 1 for ours in goals.values())
        agents_go(fixture)
        landed(fixture, *goals[None], *goals["core"])
    finally:
        fixture.close()


@check
def init_beside_others():
    """Settings with [[repos]] only are added to as well; a name that means something else is not given; a link or a slash at the end of a path
    is still the same folder; settings that would be invalid are not written."""
    fixture = fixture_two("beside", go=False)
    try:
        config = fixture.folder / "overseer.toml"
        text = config.read_text().replace(f'path = "{fixture.repo}"\n', "", 1).replace(f'"{fixture.core}"', f'"{fixture.core}/"')
        config.write_text(text)
        told = overseer(fixture, "init", "--yes", "--test-command", "true", folder=fixture.core, fails=True)
        assert "named core" in told and config.read_text() == text, told
        none = repository_make(fixture.folder / "none")
        overseer(fixture, "init", "--yes", "--test-command", "true", folder=none)
        added = config.read_text()
        assert added.startswith(text) and 'name = "none-2"' in added, added[len(text):]
        (fixture.folder / "link").symlink_to(none)
        assert "none-2" in overseer(fixture, "init", "--yes", folder=fixture.folder / "link", fails=True)
        config.write_text(added + "[[repos]]\nname = 7\n")
        other = repository_make(fixture.folder / "another")
        overseer(fixture, "init", "--test-command", "true", folder=other, fails=True)
        assert config.read_text() == added + "[[repos]]\nname = 7\n" and not (fixture.folder / "overseer.toml.new").exists()
        full = added + "".join(f'[[repos]]\nname = "r{n}"\npath = "/r{n}"\n' for n in range(MOST - added.count("[[repos]]")))
        config.write_text(full)
        told = overseer(fixture, "init", "--yes", "--test-command", "true", folder=other, fails=True)
        assert str(MOST) in told and "Nothing was changed" in told and config.read_text() == full, told
        config.write_text(added)
    finally:
        fixture.close()


LOCK = """{"packages": {
  "node_modules/a": {"resolved": "https://npm.corp.example:8443/a.tgz", "funding": {"url": "https://elsewhere.example/a"}},
  "node_modules/b": {"resolved": "http://localhost:4873/b.tgz", "homepage": "https://elsewhere.example"},
  "node_modules/c": {"resolved": "https://user:word@registry.npmjs.org/c.tgz"}, "node_modules/d": {"resolved": "git+ssh://git@elsewhere.example/d.git"},
  "node_modules/e": {"resolved": "https://*.elsewhere.example/e.tgz"}, "node_modules/f": {"resolved": "http://169.254.169.254/f"}}}
"""


@check
def init_lists_registries():
    """`init` lists the usual registries and those of the tools' settings; addresses in lock files are only shown; agents get network = model; what a person set is kept."""
    fixture = fixture_make("repositories-hosts")
    try:
        programs, home = fixture.folder / "programs", fixture.folder / "nobody"
        programs.mkdir(), home.mkdir()
        (programs / "claude").write_text("#!/bin/sh\n")
        (programs / "claude").chmod(0o755)
        web = repository_make(fixture.folder / "web", package_lock="")
        (web / "package-lock.json").write_text(LOCK)
        (web / ".npmrc").write_text("registry=http://localhost:4872/\n")
        os.mkfifo(web / "Gemfile.lock")  # nothing waits for it
        (web / "requirements.txt").write_text("--index-url https://pypi.corp.example/simple\n")
        file = home / "overseer.toml"

        def init():
            done = subprocess.run([str(BUILD / "overseer"), "init", "--yes", "--test-command", "true", "--file", str(file)], cwd=web, capture_output=True,
                                  text=True, timeout=60, env={**os.environ, "HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"})
            assert done.returncode == 0, done
            return tomllib.loads(file.read_text()), done.stdout

        written, told = init()
        wanted = ["registry.npmjs.org", "pypi.org", "files.pythonhosted.org", "pypi.corp.example"]
        assert written["repo"]["hosts"] == wanted and "elsewhere" not in file.read_text(), written["repo"]
        assert '# "127.0.0.1:4872", "npm.corp.example:8443", "127.0.0.1:4873", "169.254.169.254:80"\n' in file.read_text(), file.read_text()
        assert written["agents"][0]["id"] == "claude" and written["agents"][0]["network"] == "model", written["agents"]
        assert "npm.corp.example:8443" in told, told
        file.write_text(file.read_text().replace(json.dumps(wanted), '["mine.example"]').replace('\nnetwork = "model"', '\nnetwork = "none"\nprofile = "ask"'))
        written, _ = init()
        assert written["repo"]["hosts"] == ["mine.example"], file.read_text()
        assert [(one["id"], one["network"], one["profile"]) for one in written["agents"]] == [("claude", "none", "ask")], written["agents"]
        assert written["policy"]["allow_agents"] == ["claude"], written["policy"]
        core = repository_make(fixture.folder / "registry")
        (core / "Cargo.lock").write_text('[[package]]\nname = "a"\nsource = "sparse+https://crates.corp.example/index/"\n')
        overseer(fixture, "init", "--yes", "--test-command", "true", folder=core)
        [entry] = tomllib.loads((fixture.folder / "overseer.toml").read_text())["repos"]
        assert entry["hosts"] == ["index.crates.io", "static.crates.io"], entry
        assert "crates.corp.example" in (fixture.folder / "overseer.toml").read_text()
    finally:
        fixture.close()


@check
def init_again_in_the_first():
    """`init` in the repository of [repo] changes its settings and keeps the entries of [[repos]]."""
    fixture = fixture_two("again", go=False)
    try:
        config = fixture.folder / "overseer.toml"
        entry = config.read_text()[config.read_text().index("[[repos]]"):]
        overseer(fixture, "init", "--yes", "--test-command", "test -f other", folder=fixture.repo)
        assert entry.strip() in config.read_text() and "test -f other" in config.read_text(), config.read_text()
        overseer(fixture, "config", "check")
    finally:
        fixture.close()


@check
def settings_that_contradict():
    """Entries without a path or name, with an odd name, with a name or path of another one: each is refused with what to do."""
    fixture = fixture_make("repositories-settings")
    try:
        for *entries, says in (({"name": "a"}, "path"), ({"path": "/x"}, "name"), ({"name": "a/b", "path": "/x"}, "characters"),
                            ({"name": "none", "path": "/x"}, "no repository"), ({"name": "repo", "path": "/x"}, "same name"),
                            ({"name": "a", "path": str(fixture.repo)}, "repo.path"), ({"name": "a", "path": "/x", "landing.forge": "nothing"}, "forge"),
                            ({"name": "a", "path": "/x", "verify.colour": "red"}, "colour"),
                            ({"name": "a", "path": "/x", "ports": 10}, "ports"),
                            ({"name": "a", "path": "/x"}, {"name": "b", "path": "/x"}, "same path"),
                            ({"name": "a", "path": "/x"}, {"name": "a", "path": "/y"}, "two repos")):
            file = fixture.folder / "odd.toml"
            file.write_text((fixture.folder / "overseer.toml").read_text() + "".join(
                "\n[[repos]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items()) for entry in entries))
            done = subprocess.run([str(BUILD / "overseer"), "config", "check", str(file)], capture_output=True, text=True)
            assert done.returncode != 0 and says in done.stdout + done.stderr, (entries, done.stdout, done.stderr)
    finally:
        fixture.close()


if __name__ == "__main__":
    sys.exit(main("repositories", CHECKS))
