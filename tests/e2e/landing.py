#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the daemon lands the commit that was checked and shown, when the target moves, the agent edits its own check, or the worktree
changes after the check.

landing.py [--only NAME]: the daemon, real git, agents that are programs (driver command). The tests read what landed from git alone.
"""
import json
import re
import subprocess
import sys
import time

import proof
from care import git, fixture_make, main, tree_of
from world import BUILD

CHECKS = []

# Runs the shell script in the file `act` beside it, once for each start. `$MERGE` is the commit that a conflict names.
AGENT = r'''import json, os, re, subprocess, sys
prompt = sys.stdin.read()
folder = os.path.dirname(os.path.abspath(__file__))
merge = re.search(r"git merge ([0-9a-f]{40})", prompt)
env = {**os.environ, "MERGE": merge[1] if merge else "", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a",
       "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a"}
goal = re.search("goal_[0-9A-Z]{26}", prompt).group(0)
script = os.path.join(folder, "act." + goal)
while not os.path.exists(os.path.join(folder, "go")): __import__("time").sleep(0.05)
subprocess.run(["sh", "-e", script if os.path.exists(script) else os.path.join(folder, "act")], check=True, env=env)
print("```json\n" + json.dumps({"overseerUpdate": {"goalId": goal, "workNodeId": "T1", "status": "done", "summary": "done",
      "evidence": {"filesTouched": ["x"]}}}) + "\n```")
'''


def check(function):
    CHECKS.append(function)
    return function


def place_make(name, act, check_text="exit 0", go=True, files=None, **rows):
    """Makes a fixture whose repository has check.sh, and whose agent runs `act`."""
    rows = {"landing": {"how": "rebase"}, "verify": {"command": "sh ./check.sh"}, **rows}
    fixture = fixture_make(f"landing-{name}", **rows)
    fixture.program.write_text(AGENT)
    (fixture.program.parent / "act").write_text(act)
    for path, text in {"check.sh": check_text + "\n", **(files or {})}.items():
        (fixture.repo / path).parent.mkdir(parents=True, exist_ok=True)
        (fixture.repo / path).write_text(text)
    git(fixture.repo, "add", "-A")
    git(fixture.repo, "commit", "-q", "-m", "files")
    git(fixture.repo, "checkout", "-q", "--detach")
    if go:
        (fixture.program.parent / "go").write_text("")
    return fixture


def push(fixture, message, **files):
    """A person commits to main."""
    git(fixture.repo, "checkout", "-q", "main")
    for path, text in files.items():
        (fixture.repo / path.replace("__", ".")).write_text(text)
    git(fixture.repo, "add", "-A")
    git(fixture.repo, "commit", "-q", "-m", message)
    git(fixture.repo, "checkout", "-q", "--detach")
    return git(fixture.repo, "rev-parse", "main")


def main_of(fixture):
    return git(fixture.repo, "rev-parse", "main")


def files_of(fixture, commit="main"):
    return git(fixture.repo, "ls-tree", "-r", "--name-only", commit).split()


def question_of(fixture, goal):
    """Returns the newest open question of a goal."""
    items = [item for item in fixture.do("inbox.list")["items"] if item.get("goalId") == goal and item.get("state") == "open"]
    return items[-1] if items else None


def approve(fixture, goal, question, **more):
    return fixture.client.call("question.approve", {"question": question["questionId"], "goal": goal, **more})[2]


def by_person(**more):
    return {"supervision": {"verify_by_person": True}, "people": {"undo_for": "0s"}, **more}


def asked(fixture, goal):
    return fixture.wait("a person is asked", lambda: question_of(fixture, goal))


def landed(fixture, goal):
    return fixture.wait("it has landed", lambda: fixture.records(goal, "work.landed"))[0]


@check
def what_is_shown_is_what_lands():
    """C2: a file that is deleted from the worktree after the check is in the diff, and it lands."""
    fixture = place_make("shown", "echo fix >fix.py; echo evil >backdoor.py; printf 'caf\\351\\n' >latin.txt", **by_person())
    try:
        goal = fixture.goal()
        question = asked(fixture, goal)
        tree = tree_of(fixture, goal)
        (tree / "backdoor.py").unlink()
        (tree / "later.py").write_text("later\n")
        shown = fixture.do("work.diff", goal=goal)
        assert shown["waits"] and shown["moved"], shown
        assert "backdoor.py" in shown["diff"] and "later.py" not in shown["diff"], shown["diff"]
        assert "+caf\ufffd" in shown["diff"], "a byte that is no UTF-8 hides the diff"  # M3
        assert shown["commit"] == question["commit"] and shown["base"] == question["onto"] == main_of(fixture), (shown, question)
        live = fixture.do("work.diff", goal=goal, worktree=True)
        assert not live["waits"] and "later.py" in live["diff"] and "backdoor.py" not in live["diff"], live["diff"]
        refused = approve(fixture, goal, question, commit="0" * 40)
        assert refused and refused["data"]["code"] == "E_CONFLICT" and "look at it again" in json.dumps(refused), refused
        assert approve(fixture, goal, question, commit=shown["commit"]) is None
        landed(fixture, goal)
        assert main_of(fixture) == shown["commit"], "another commit has landed than the one that was shown"
    finally:
        fixture.close()
    proof.passed("e2e", "landing.shown", "VERIFY-22")


@check
def a_branch_is_named_after_its_task():
    """A task's branch, its commit and its author are those that a person expects. A branch of that name that is not ours is left alone."""
    fixture = place_make("named", "echo fix >fix.py", landing={"how": "branch", "author": "Ana Diaz <ana@example.org>"})
    try:
        git(fixture.repo, "branch", "overseer/T2-fix-the-login-page", "main")  # of another store
        goals = [fixture.goal(title=title) for title in ("Fix the login page!", "Fix the login page!")]
        for goal in goals:
            landed(fixture, goal)
        names = git(fixture.repo, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/overseer").split()
        assert "T1-fix-the-login-page" in names and "T2-fix-the-login-page" in names and len(names) == 3, names
        [second] = set(names) - {"T1-fix-the-login-page", "T2-fix-the-login-page"}
        assert second.startswith("T2-fix-the-login-page-"), names
        assert git(fixture.repo, "rev-parse", "overseer/T2-fix-the-login-page") == main_of(fixture), "another store's branch was moved"
        for name, task in (("T1-fix-the-login-page", "T1"), (second, "T2")):
            told = git(fixture.repo, "log", "-1", "--format=%an <%ae>%n%B", f"overseer/{name}")
            assert told.splitlines() == ["Ana Diaz <ana@example.org>", "Fix the login page!", "", f"Overseer-Task: {task}",
                                         "Co-authored" + "-by: coder <coder@overseer.invalid>"], told
    finally:
        fixture.close()


@check
def what_is_admitted_has_a_name():
    """The list of admitted work shows names and titles, in JSON and on the screen."""
    fixture = place_make("admitted", "echo fix >fix.py", go=False)
    try:
        fixture.goal(title="Fix the login page")
        [one] = fixture.wait("it is admitted", lambda: fixture.do("desk.show")["running"])
        assert (one["name"], one["title"]) == ("T1", "Fix the login page"), one
        screen = subprocess.run([str(BUILD / "overseer"), "--socket", str(fixture.daemon.socket), "desk", "show"], capture_output=True, text=True)
        assert re.search(r"T1 +Fix the login page +coder", screen.stdout), screen
    finally:
        fixture.close()


@check
def work_that_lands_by_itself_names_no_tool():
    """AUTO-20, C-78: a squash onto the target has the task as its subject, and no line about an agent."""
    fixture = place_make("plain", "echo fix >fix.py; git add -A; git commit -qm 'of the agent'", landing={"how": "squash"})
    try:
        landed(fixture, fixture.goal(title="Fix the login page\n\nReviewed-by: Boss <b@x>"))
        told = git(fixture.repo, "log", "-1", "--format=%B", "main")
        assert told == "Fix the login page\n\nof the agent", told
    finally:
        fixture.close()
    fixture = place_make("unattributed", "echo fix >fix.py", landing={"how": "branch", "attribution": False})
    try:
        landed(fixture, fixture.goal(title="Fix the login page"))
        told = git(fixture.repo, "log", "-1", "--format=%an%n%B", "overseer/T1-fix-the-login-page")
        assert told == "Overseer\nFix the login page", told
    finally:
        fixture.close()
    proof.passed("e2e", "landing.plain", "AUTO-20")


@check
def bytes_that_are_no_text_hide_nothing():
    """M3: a Latin-1 byte in a file's name and text, in a commit's message and author, in the agent's output and in the check's output hides
    nothing."""
    act = r"""e=$(printf '\351'); echo "fix caf$e" >"caf$e.txt"; git add -A
git -c "user.name=Ren$e" -c user.email=r@example.org commit -q -m "caf$e is made"; echo more >>"caf$e.txt"; echo "said caf$e"; echo "erred caf$e" >&2"""
    fixture = place_make("latin", act, check_text=r"printf 'checked caf\351\n'; set -- caf*.txt; test ! -e $1",
                       **by_person(verify={"command": "sh ./check.sh", "rounds": 0}))
    try:
        goal = fixture.goal()
        question = fixture.wait("a person hears that it fails", lambda: question_of(fixture, goal))
        shown = fixture.do("goal.show", goal=goal)
        assert "checked caf?" in json.dumps(shown["records"]) and "checked caf?" in question["text"], (shown["records"], question)
        diff = fixture.do("work.diff", goal=goal, worktree=True)["diff"]
        assert "+fix caf\ufffd" in diff and ("caf\ufffd.txt" in diff or "caf\\351.txt" in diff), diff
        log = json.dumps(fixture.do("work.log", goal=goal), ensure_ascii=False)
        assert "said caf\ufffd" in log or "said caf?" in log, log
        for method, params in (("why.show", {"of": goal}), ("plan.show", {"goal": goal}), ("status.show", {}), ("inbox.list", {}), ("goal.list", {}),
                               ("events.list", {"goal": goal})):
            assert fixture.do(method, **params), method
    finally:
        fixture.close()
    proof.passed("e2e", "landing.latin", "VERIFY-22")


@check
def a_moved_target_is_checked_again():
    """H2: a change that passes alone and fails together with a change that others pushed does not land."""
    fixture = place_make("moved", "echo a >a", check_text="! { test -f a && test -f b; }", **by_person(verify={"command": "sh ./check.sh", "rounds": 0}))
    try:
        goal = fixture.goal()
        question = asked(fixture, goal)
        tip = push(fixture, "b", b="b\n")
        assert approve(fixture, goal, question, commit=question["commit"]) is None
        fixture.wait("the new candidate was checked", lambda: len(fixture.records(goal, "work.checked")) == 2)
        fixture.wait("a person hears that it fails", lambda: "does not pass" in json.dumps(question_of(fixture, goal) or {}))
        assert main_of(fixture) == tip and not fixture.records(goal, "work.landed"), "a commit landed that fails its check"
    finally:
        fixture.close()
    proof.passed("e2e", "landing.moved", "VERIFY-22 AUTO-20")


TEXT = "".join(f"line {n}\n" for n in range(20))


@check
def a_change_that_looks_the_same_is_not_shown_again():
    """If others pushed other files, the daemon checks the change that a person approved again on the new tip, and lands it."""
    fixture = place_make("same", "echo a >a", **by_person())
    try:
        goal = fixture.goal()
        first = asked(fixture, goal)
        tip = push(fixture, "b", b="b\n")
        assert approve(fixture, goal, first, commit=first["commit"]) is None
        landed(fixture, goal)
        assert len(fixture.records(goal, "work.checked")) == 2 and git(fixture.repo, "rev-parse", "main^") == tip
        assert files_of(fixture) == ["README", "a", "b", "check.sh"], files_of(fixture)
    finally:
        fixture.close()
    proof.passed("e2e", "landing.same", "VERIFY-22")


@check
def a_new_candidate_is_shown_again():
    """If others pushed to a file that the change touches, the approval does not land the new candidate: the daemon asks again."""
    fixture = place_make("again", "echo a >>text", files={"text": TEXT}, **by_person())
    try:
        goal = fixture.goal()
        first = asked(fixture, goal)
        tip = push(fixture, "b", text="b\n" + TEXT)
        assert approve(fixture, goal, first, commit=first["commit"]) is None
        second = fixture.wait("they are asked again", lambda: (q := question_of(fixture, goal)) and q["commit"] != first["commit"] and q)
        assert second["onto"] == tip and main_of(fixture) == tip, second
        refused = approve(fixture, goal, second, commit=first["commit"])
        assert refused and refused["data"]["code"] == "E_CONFLICT", refused
        assert approve(fixture, goal, second, commit=second["commit"]) is None
        landed(fixture, goal)
        assert main_of(fixture) == second["commit"], "another commit has landed"
        assert git(fixture.repo, "rev-parse", f"{second['commit']}^") == tip
    finally:
        fixture.close()
    proof.passed("e2e", "landing.again", "VERIFY-22")


@check
def an_ours_merge_removes_nothing():
    """H3: a conflict that the agent "resolves" with -s ours does not remove other people's files and lines."""
    act = 'if [ -n "$MERGE" ]; then git merge -q -s ours --no-edit $MERGE; else echo agent >shared.txt; git add -A; git commit -qm work; fi'
    fixture = place_make("ours", act, go=False, files={"shared.txt": "base\n"}, verify={"command": "sh ./check.sh", "rounds": 1})
    try:
        goal = fixture.goal()
        fixture.wait("it has a worktree", lambda: tree_of(fixture, goal))
        time.sleep(0.5)
        tip = push(fixture, "a person's fix", shared__txt="a person's line\n", fix__py="FIXED\n")
        (fixture.program.parent / "go").write_text("")
        fixture.wait("it is not resolved", lambda: len([r for r in fixture.records(goal, "work.checked") if r.get("to") == "conflict"]) >= 2)
        asked(fixture, goal)
        assert main_of(fixture) == tip and "fix.py" in files_of(fixture), "a person's work was removed"
    finally:
        fixture.close()
    proof.passed("e2e", "landing.ours", "AUTO-21")


@check
def a_resolved_conflict_lands():
    """A correct merge of the named commit lands together with the changes of others."""
    act = ('if [ -n "$MERGE" ]; then git merge -q --no-edit $MERGE || true; printf "a person\'s line\\nagent\\n" >shared.txt; git add -A; git commit -qm merged;'
           ' else echo agent >shared.txt; git add -A; git commit -qm work; fi')
    fixture = place_make("resolved", act, go=False, files={"shared.txt": "base\n"})
    try:
        goal = fixture.goal()
        fixture.wait("it has a worktree", lambda: tree_of(fixture, goal))
        time.sleep(0.5)
        tip = push(fixture, "a person's fix", shared__txt="a person's line\n", fix__py="FIXED\n")
        (fixture.program.parent / "go").write_text("")
        landed(fixture, goal)
        assert git(fixture.repo, "rev-parse", "main^") == tip, "history is not linear"
        assert git(fixture.repo, "show", "main:shared.txt") == "a person's line\nagent" and "fix.py" in files_of(fixture)
    finally:
        fixture.close()
    proof.passed("e2e", "landing.resolved", "AUTO-21")


@check
def an_agent_does_not_edit_its_judge():
    """M4: a change that edits the check script, or that passes only with edited tests, waits for a person; a change with new tests does not."""
    for name, act, command, words in (
            ("script", "echo exit 0 >check.sh; echo x >x", "sh ./check.sh", "check rules edited"),
            ("tests", "echo exit 0 >tests/one.sh; echo x >x", "sh ./run.sh", "tests edited"),
            ("deleted", "rm tests/one.sh; echo x >x", "sh ./run.sh", "tests edited")):
        fixture = place_make(f"judge-{name}", act, check_text="test ! -f x", verify={"command": command}, people={"undo_for": "0s"}, files={
            "tests/one.sh": "test ! -f x\n", "run.sh": "for t in tests/*.sh; do [ ! -f $t ] || sh $t || exit 1; done\n"})
        try:
            goal, tip = fixture.goal(), main_of(fixture)
            question = asked(fixture, goal)
            assert not fixture.records(goal, "work.landed") and main_of(fixture) == tip, f"{name}: it has landed by itself"
            assert words in json.dumps(fixture.do("plan.show", goal=goal)) + json.dumps(question), (name, question)
            assert approve(fixture, goal, question, commit=question["commit"]) is None
            landed(fixture, goal)
            assert main_of(fixture) == question["commit"]
        finally:
            fixture.close()
    fixture = place_make("judge-unguarded", "echo exit 0 >tests/one.sh; echo x >x", verify={"command": "sh ./run.sh", "protect": []}, files={
        "tests/one.sh": "test ! -f x\n", "run.sh": "for t in tests/*.sh; do [ ! -f $t ] || sh $t || exit 1; done\n"})
    try:
        landed(fixture, fixture.goal())  # without the protection the change passes with the edited test
    finally:
        fixture.close()
    for name, act in (("new", "mkdir -p tests; echo exit 0 >tests/two.sh; echo x >x"), ("harmless", "echo '# said better' >>tests/one.sh; echo y >y")):
        fixture = place_make(f"judge-{name}", act, verify={"command": "sh ./run.sh"}, files={
            "tests/one.sh": "exit 0\n", "run.sh": "for t in tests/*.sh; do [ ! -f $t ] || sh $t || exit 1; done\n"})
        try:
            landed(fixture, fixture.goal())
        finally:
            fixture.close()
    proof.passed("e2e", "landing.judge", "VERIFY-22")


@check
def a_check_that_changed_is_made_again():
    """The daemon checks a change again if the check command has changed since the verdict."""
    fixture = place_make("digest", "echo a >a", **by_person(verify={"command": "sh ./check.sh", "rounds": 0}))
    try:
        goal = fixture.goal()
        question = asked(fixture, goal)
        config = fixture.folder / "overseer.toml"
        config.write_text(config.read_text().replace('command = "sh ./check.sh"', 'command = "test ! -f a"'))
        fixture.do("config.reload")
        assert approve(fixture, goal, question, commit=question["commit"]) is None
        fixture.wait("it was checked again", lambda: len(fixture.records(goal, "work.checked")) == 2)
        time.sleep(0.5)
        assert not fixture.records(goal, "work.landed") and "a" not in files_of(fixture), "it landed on a verdict of another check"
    finally:
        fixture.close()
    proof.passed("e2e", "landing.digest", "VERIFY-22")


@check
def the_lane_is_held_and_goes_on():
    """Two changes that passed wait while a person holds the lane, also across a kill of the daemon; after the release both land one after the
    other, each checked on its tip."""
    fixture = place_make("lane", "echo $$ >$(basename $(dirname $PWD))", check_text="ls")
    try:
        fixture.do("lane.hold", reason="release freeze")
        goals = [fixture.goal(), fixture.goal()]
        fixture.wait("both wait", lambda: fixture.do("lane.show")["count"] == 2)
        fixture.daemon.kill()
        fixture.begin()
        shown = fixture.do("lane.show")
        assert sorted((one["name"], one["title"]) for one in shown["lane"]) == [("T1", "a task for an agent"), ("T2", "a task for an agent")], shown
        assert shown["held"] and shown["count"] == 2 and not any(entry["slot"] for entry in shown["lane"]), shown
        assert not any(fixture.records(goal, "work.landed") for goal in goals)
        fixture.do("lane.release")
        for goal in goals:
            landed(fixture, goal)
        assert len(git(fixture.repo, "rev-list", "--min-parents=2", "main").split()) == 0, "history is not linear"
        checked = sum(len(fixture.records(goal, "work.checked")) for goal in goals)
        assert checked == 3, f"{checked} checks: the second has to be checked again on the tip that the first made"
        assert fixture.do("lane.show")["count"] == 0
    finally:
        fixture.close()
    proof.passed("e2e", "landing.lane", "VERIFY-22 AUTO-20")


@check
def land_names_the_commit_that_diff_showed():
    """The command line remembers the commit that `diff` showed, and `land` lands no other commit."""
    fixture = place_make("cli", "echo a >>text", files={"text": TEXT}, **by_person())
    try:
        goal = fixture.goal()
        first = asked(fixture, goal)
        env = {"PATH": "/usr/bin:/bin", "HOME": str(fixture.folder), "OVERSEER_SOCKET": str(fixture.daemon.socket)}

        def cli(*words):
            return subprocess.run([str(BUILD / "overseer"), *words], env=env, capture_output=True, text=True, timeout=60)

        shown = cli("diff", goal)
        assert shown.returncode == 0 and "+a" in shown.stdout, shown
        push(fixture, "b", text="b\n" + TEXT)
        assert approve(fixture, goal, first, commit=first["commit"]) is None
        fixture.wait("another commit waits", lambda: (q := question_of(fixture, goal)) and q["commit"] != first["commit"])
        refused = cli("land", goal)
        assert refused.returncode != 0 and "look at it again" in refused.stderr + refused.stdout, refused
        assert cli("diff", goal).returncode == 0 and cli("land", goal).returncode == 0
        landed(fixture, goal)
    finally:
        fixture.close()
    proof.passed("e2e", "landing.cli", "VERIFY-22")


if __name__ == "__main__":
    sys.exit(main("landing", CHECKS))
