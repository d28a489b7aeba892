# SPDX-License-Identifier: Apache-2.0
"""Checks that the candidate is the run's own change on top of the target, and nothing else.

Each case gets a fresh World of tests/git/run: a person's repository with `a` and `.gitignore` on main, which is not checked out."""
import os
from pathlib import Path

from common import git, must, write


# ---- people and agents ----

def person_commits(world, changes, message="of a person", remove=()):
    """Pushes a commit to main from a separate clone: what is there, with these files (text) replaced. Returns the commit."""
    site = world.place / "person-desk"
    if not site.exists():
        git(world.place, "clone", "-q", "-b", "main", str(world.source), str(site))
    git(site, "fetch", "-q", "origin")
    git(site, "checkout", "-q", "-B", "main", "origin/main")
    for name in remove:
        git(site, "rm", "-rq", name)
    for name, text in changes.items():
        write(site / name, text)
    git(site, "add", "-A")
    git(site, "commit", "-qm", message)
    git(site, "push", "-q", "origin", "main")
    return git(site, "rev-parse", "HEAD")


def agent_begins(world, name="r1"):
    world.done("clone", "main")
    base = world.base()
    return Path(world.done("tree", "g1", name, base)["path"]), base


def agent_commits(tree, changes, message="of the agent", remove=()):
    for name in remove:
        git(tree, "rm", "-rq", name)
    for name, text in changes.items():
        write(tree / name, text)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", message)
    return git(tree, "rev-parse", "HEAD")


def measured(world, base, name="r1"):
    return world.done("measure", "g1", name, base)["snapshot"]


def made(world, *args, **more):
    answer = world.candidate(*args, **more)
    must(answer["result"] == "done", answer)
    return answer


def clone_of(world):
    """The repository that contains the candidates."""
    clone = Path(world.done("clone", "main")["path"])
    private = world.state / "private" / clone.name
    return private if private.exists() else clone


def files_of(folder, commit):
    return dict(reversed(line.split("\t")[0].split()[2:] + [line.split("\t")[1]])
                for line in git(folder, "ls-tree", "-r", commit).splitlines())


def content(folder, commit, name):
    return git(folder, "show", f"{commit}:{name}")


def paths(answer, key="files"):
    return [row["path"] for row in answer[key]]


# ---- H2: what is checked is what lands ----

def case_exact(world):
    """The target moves between check and push: nothing lands until there is a candidate on top of it."""
    world.begin()
    tree, base = agent_begins(world)
    write(tree / "uses", "old()\n")
    snapshot = measured(world, base)
    first = made(world, snapshot, base=base)
    must(first["onto"] == base and paths(first) == ["uses"] and len(first["added"]) == 1, first)
    moved = person_commits(world, {"names": "new()\n"}, "old() has another name")
    answer = world.push(first, base=base)
    must(answer["result"] == "moved" and world.base() == moved, "what nobody checked does not land", answer)
    second = made(world, snapshot, base=base)
    must(second["onto"] == moved and second["commit"] != first["commit"], second)
    must(paths(second) == ["uses"], "seen against the target", second)
    landed = world.push(second, base=base)
    must(landed["result"] == "done" and landed["commit"] == second["commit"] == world.base(), "exactly that id", landed)
    must(git(world.source, "rev-parse", "main^") == moved, "linear")
    must(world.push(second, base=base)["was_there"] == 1, "nothing lands twice")
    must(made(world, snapshot, base=base)["commit"] == "", "the target has all of it")


def case_only_candidates(world):
    """Only candidates are pushed: no snapshot, no commit made for checking, none of another run, none that would drop commits."""
    world.begin()
    tree, base = agent_begins(world)
    write(tree / "b", "b\n")
    write(tree / "a", "changed\n")
    snapshot = measured(world, base)
    answer = world.push({"commit": snapshot, "onto": base}, base=base)
    must(answer["result"] == "refused" and "not a candidate" in answer["why"], answer)
    first = made(world, snapshot, base=base)
    checked = world.done("restore", "g1", "r1", base, first["commit"], first["onto"], "a")["commit"]
    must(world.push({"commit": checked, "onto": base}, base=base)["result"] == "refused", "only for checking")
    world.done("tree", "g1", "r2", base)
    must(world.push(first, name="r2", base=base)["result"] == "refused", "another run's")
    person_commits(world, {"p": "p\n"})
    moved = world.base()
    must(world.push({**first, "onto": moved}, base=base)["result"] == "refused" and world.base() == moved,
         "a commit that is not on top of the target would drop a person's")
    must(world.push({**first, "onto": "x"}, base=base)["result"] == "refused", "")


# ---- C2: what is shown is what lands ----

def case_shown(world):
    """The diff still shows a file that is deleted from the worktree after the check, and it shows each of several commits."""
    world.begin()
    tree, base = agent_begins(world)
    write(tree / "fix", "the fix\n")
    write(tree / "backdoor", "evil\n")
    first = made(world, measured(world, base), base=base)
    (tree / "backdoor").unlink()
    shown = world.done("candidate-diff", "g1", "r1", base, first["commit"], first["onto"], "100000")
    must(paths(shown) == ["backdoor", "fix"] and "+evil" in shown["text"] and shown["cut"] == 0, shown)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "the fix")
    agent_commits(tree, {"secret": "hunter2\n"}, "by mistake")
    agent_commits(tree, {}, "take it back", remove=["secret"])
    person_commits(world, {"p": "p\n"})
    second = made(world, measured(world, base), base=base, how="rebase")
    must([row.split(" ", 1)[1] for row in paths(second, "added")] == ["the fix", "by mistake", "take it back"], second)
    shown = world.done("candidate-diff", "g1", "r1", base, second["commit"], second["onto"], "100000")
    must(paths(shown) == ["fix"] and "+hunter2" in shown["text"] and "take it back" in shown["text"],
         "what comes and goes within it lands, and is shown", shown)
    must("+p" not in shown["text"], "what the target has already is not")
    cut = world.done("candidate-diff", "g1", "r1", base, second["commit"], second["onto"], "40")
    must(cut["cut"] == 1 and len(cut["text"]) <= 40, cut)
    must(world.verb("candidate-diff", "g1", "r1", base, base, base, "40")["result"] == "refused", "no candidate")


# ---- H3: no work of others is dropped ----

def conflicting(world):
    """A conflict: a person and the agent change the same line, and the person commits a fix in other files."""
    world.begin()
    person_commits(world, {"shared": "base\n", "beside": "1\n2\n3\n4\n5\n6\n7\n8\n"}, "begin")
    tree, base = agent_begins(world)
    agent_commits(tree, {"shared": "agent's line\n"})
    moved = person_commits(world, {"shared": "a person's important line\n", "security_fix": "FIXED\n",
                                   "beside": "1, fixed\n2\n3\n4\n5\n6\n7\n8\n"}, "a person's security fix")
    answer = world.candidate(measured(world, base), base=base)
    must(answer["result"] == "conflict" and paths(answer, "conflicts") == ["shared"] and answer["onto"] == moved, answer)
    must(len(answer["conflict"]) == 40 and answer["commit"] == "", answer)
    git(tree, "fetch", "-q", str(clone_of(world)), f"+refs/overseer/*:refs/theirs/*")
    return tree, base, moved, answer["conflict"]


def case_ours(world):
    """`git merge -s ours` resolves nothing: the candidate conflicts again, and the target keeps everything."""
    tree, base, moved, told = conflicting(world)
    git(tree, "merge", "-q", "-s", "ours", "-m", "merged", moved)
    for how in ("squash", "rebase", "branch"):
        again = world.candidate(measured(world, base), base=base, told=told, how=how)
        must(again["result"] == "conflict" and paths(again, "conflicts") == ["shared"], how, again)
    # The agent now resolves one file; what its merge dropped stays on the target all the same.
    agent_commits(tree, {"shared": "both lines\n"})
    landed = world.land(measured(world, base), base=base, told=told)
    must(landed["result"] == "done" and paths(landed["candidate"]) == ["shared"], landed)
    must(content(world.source, "main", "security_fix") == "FIXED" and content(world.source, "main", "shared") == "both lines", "")
    must(content(world.source, "main", "beside").startswith("1, fixed"), "")
    must(git(world.source, "rev-list", "--merges", "main") == "", "linear")


def case_resolved(world):
    """A conflict that the agent resolves by a merge, by a rebase, or by hand lands, together with what people did since."""
    for number, way in enumerate(("merge", "rebase", "hand")):
        here = type(world)(world.place / way)
        here.place.mkdir(parents=True)
        tree, base, moved, told = conflicting(here)
        if way == "hand":
            write(tree / "shared", "both lines\n")
        else:
            git(tree, way, moved, check=False)
            write(tree / "shared", "both lines\n")
            git(tree, "add", "-A")
            git(tree, "-c", "core.editor=true", way, "--continue")
        last = person_commits(here, {"later": "l\n"})
        landed = here.land(measured(here, base), base=base, told=told, how="rebase")
        must(landed["result"] == "done" and paths(landed["candidate"]) == ["shared"], way, landed)
        want = {**files_of(here.source, last), "shared": files_of(here.source, "main")["shared"]}
        must(files_of(here.source, "main") == want and content(here.source, "main", "shared") == "both lines", way)
        must(git(here.source, "rev-parse", "main^") == last, "one commit on top", way)
        must("security" not in git(here.source, "log", "-1", "--format=%B", "main"), "nor a message of others", way)


def case_told_only_of_conflicts(world):
    """The agent changes a file that was not reported as a conflict: a person's change of it is not undone."""
    tree, base, moved, told = conflicting(world)
    write(tree / "shared", "both lines\n")
    write(tree / "beside", "1\n2\n3\n4\n5\n6\n7\n8, by the agent\n")
    landed = world.land(measured(world, base), base=base, told=told)
    must(landed["result"] == "done", landed)
    must(content(world.source, "main", "beside") == "1, fixed\n2\n3\n4\n5\n6\n7\n8, by the agent", content(world.source, "main", "beside"))


def case_told_twice(world):
    """A second conflict counts from where the first one was resolved."""
    tree, base, moved, told = conflicting(world)
    write(tree / "shared", "both lines\n")
    again = person_commits(world, {"shared": "a person's other line\n"})
    second = world.candidate(measured(world, base), base=base, told=told)
    must(second["result"] == "conflict" and second["onto"] == again and second["conflict"] != told, second)
    unchanged = world.candidate(measured(world, base), base=base, told=second["conflict"])
    must(unchanged["result"] == "conflict", "said done again, nothing changed", unchanged)
    write(tree / "shared", "all lines\n")
    landed = world.land(measured(world, base), base=base, told=second["conflict"])
    must(landed["result"] == "done" and content(world.source, "main", "shared") == "all lines", landed)
    must(content(world.source, "main", "security_fix") == "FIXED", "")
    # Only a conflict of this run is accepted.
    snapshot = measured(world, base)
    world.done("tree", "g1", "r2", base)
    for name, told in (("r1", moved), ("r1", "0" * 40), ("r1", "x"), ("r2", second["conflict"])):
        answer = world.candidate(snapshot, base=base, told=told, name=name)
        must(answer["result"] == "refused" and "conflict" in answer["why"], answer)


def case_history(world):
    """A branch that the agent has rewritten, moved or cut off does not change what counts as the agent's own work."""
    world.begin()
    person_commits(world, {"x/1": "1\n", "x/2": "2\n", "y": "y\n"}, "begin")
    old = person_commits(world, {"y": "y, fixed\n"}, "fix")
    tree, base = agent_begins(world)
    must(old == base, "")
    moved = person_commits(world, {"x/1": "1, later\n", "z": "z\n"}, "later")
    write(tree / "own", "o\n")
    first = made(world, measured(world, base), base=base, how="rebase", message="m")
    want = files_of(clone_of(world), first["commit"])
    must(want == {**files_of(world.source, moved), "own": want["own"]}, want)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "mine")
    mine = git(tree, "rev-parse", "HEAD^{tree}")
    git(tree, "fetch", "-q", str(clone_of(world)), "+refs/overseer/*:refs/theirs/*")

    def head(*parents):
        commit = git(tree, "commit-tree", mine, "-m", "mine", *[word for p in parents for word in ("-p", p)])
        git(tree, "reset", "-q", "--hard", commit)
    # No parent; one from before its base; a merge base that is later than its files; both.
    for parents in ((), (git(tree, "rev-parse", f"{base}~1"),), (moved,), (base, moved), (moved, base)):
        head(*parents)
        for how in ("squash", "rebase", "fast-forward"):
            answer = made(world, measured(world, base), base=base, how=how, message="m")
            must(files_of(clone_of(world), answer["commit"]) == want, parents, how)
            must(paths(answer) == ["own"] and len(answer["added"]) == 1, parents, how, answer)


# ---- paths ----

def case_paths(world):
    """Renames by others are not followed; changes of kind and mode are; changes that exclude each other are a conflict."""
    world.begin()
    lines = "".join(f"{n}\n" for n in range(40))
    person_commits(world, {"d/f": lines, "d/g": "g\n" + lines, "e": "e\n", "gone": "g\n", "both": lines, "mode": "m\n", "t": "t\n"}, "begin")

    def clash(name, change, person, want, remove=(), how="squash"):
        tree, base = agent_begins(world, name)
        change(tree)
        person_commits(world, *person) if isinstance(person, tuple) else person()
        answer = world.candidate(measured(world, base, name), base=base, name=name, how=how)
        must((paths(answer, "conflicts") if answer["result"] == "conflict" else answer["result"]) == want, name, answer)
        return answer

    # A person renames a folder in which the agent creates a file: the file stays where the agent put it.
    answer = clash("rename", lambda tree: write(tree / "d/new", "n\n"),
                   lambda: person_commits(world, {"moved/f": lines, "moved/g": "g\n" + lines}, "rename", remove=["d"]), "done")
    must(paths(answer) == ["d/new"], answer)
    # A file that a person renames and the agent changes is a conflict, not a change of another path.
    clash("follow", lambda tree: write(tree / "moved/f", lines + "more\n"),
          lambda: person_commits(world, {"away": lines}, "rename", remove=["moved/f"]), ["moved/f"])
    clash("modify-delete", lambda tree: (tree / "gone").unlink(), ({"gone": "kept\n"},), ["gone"])
    clash("add-add", lambda tree: write(tree / "new", "agent\n"), ({"new": "person\n"},), ["new"])
    clash("same", lambda tree: write(tree / "same", "s\n"), ({"same": "s\n"},), "done")
    clash("file-folder", lambda tree: write(tree / "n", "file\n"), ({"n/x": "folder\n"},), ["n"])
    clash("folder-file", lambda tree: write(tree / "m/x", "folder\n"), ({"m": "file\n"},), ["m/x"])

    def into_folder(tree):
        (tree / "e").unlink()
        write(tree / "e/x", "x\n")
    must(paths(clash("into-folder", into_folder, ({"q": "q\n"},), "done")) == ["e", "e/x"], "")

    def into_link(tree):
        (tree / "t").unlink()
        os.symlink("both", tree / "t")
    clash("link", into_link, ({"t": "t\nmore\n"},), ["t"])
    answer = clash("lines", lambda tree: write(tree / "both", lines + "end\n"), ({"both": "begin\n" + lines},), "done")
    must(content(clone_of(world), answer["commit"], "both") == "begin\n" + lines + "end", "both changes")
    answer = clash("mode", lambda tree: (tree / "mode").chmod(0o755), ({"mode": "m\nmore\n"},), "done")
    must(git(clone_of(world), "ls-tree", answer["commit"], "mode").startswith("100755") and
         content(clone_of(world), answer["commit"], "mode") == "m\nmore", "mode of one, content of the other")
    odd = 'with "quotes"\tand\nlines'
    answer = clash("odd", lambda tree: write(tree / odd, "o\n"), ({"q": "more\n"},), "done")
    must(paths(answer) == [odd], answer)


def case_restored(world):
    """For the check, judged files are as in the target; all others are not."""
    world.begin()
    person_commits(world, {"check": "strict\n", "tests/1": "1\n", "tests/2": "2\n", "tests-not": "n\n"}, "begin")
    tree, base = agent_begins(world)
    write(tree / "check", "true\n")
    write(tree / "tests/1", "weaker\n")
    (tree / "tests/2").unlink()
    write(tree / "tests/3", "3\n")
    write(tree / "tests-not", "changed\n")
    write(tree / "work", "w\n")
    first = made(world, measured(world, base), base=base)
    checked = world.done("restore", "g1", "r1", base, first["commit"], first["onto"], "check:tests:no-such")["commit"]
    clone = clone_of(world)
    now, before, lands = (files_of(clone, c) for c in (checked, first["onto"], first["commit"]))
    must(now == {**before, "tests-not": lands["tests-not"], "work": lands["work"]}, now)
    must(checked == world.done("restore", "g1", "r1", base, first["commit"], first["onto"], "check:tests", GIT_NOW=1800000000)["commit"], "")
    for same in ("", "no-such", "a"):
        must(world.done("restore", "g1", "r1", base, first["commit"], first["onto"], same)["commit"] == "", same)
    must(world.verb("restore", "g1", "r1", base, checked, first["onto"], "check")["result"] == "refused", "")


# ---- commits ----

def case_commits(world):
    """The agent's commits are replayed where they form a line from its base; otherwise there is one commit."""
    world.begin()
    tree, base = agent_begins(world)
    agent_commits(tree, {"1": "1\n"}, "first\n\nCo-authored" + "-by: Tool <t@t>")
    agent_commits(tree, {"2": "2\n"}, "second")
    write(tree / "3", "3\n")
    line = measured(world, base)
    same = made(world, line, base=base, how="fast-forward")
    must([row.split(" ", 1)[1] for row in paths(same, "added")] == ["first", "second", "Work of an agent"], same)
    moved = person_commits(world, {"p": "p\n"})
    for how in ("rebase", "fast-forward", "branch", "pull-request"):
        answer = made(world, line, base=base, how=how)
        must([row.split(" ", 1)[1] for row in paths(answer, "added")] == ["first", "second", "Work of an agent"], how, answer)
        must("Tool" not in git(clone_of(world), "log", "--format=%B", answer["commit"]), "AUTO-20")
    one = made(world, line, base=base, how="squash")
    must(len(one["added"]) == 1 and git(clone_of(world), "rev-parse", f"{one['commit']}^") == moved, one)
    body = git(clone_of(world), "log", "-1", "--format=%B", one["commit"])
    must("first" in body and "second" in body and "napshot" not in body, body)
    must(git(clone_of(world), "rev-parse", f"{one['commit']}^{{tree}}") == git(clone_of(world), "rev-parse", f"{answer['commit']}^{{tree}}"), "")
    # The same again, later, with a changed worktree: the same commits.
    write(tree / "4", "4\n")
    measured(world, base)
    for how, id in (("rebase", answer["commit"]), ("squash", one["commit"])):
        must(made(world, line, base=base, how=how, GIT_NOW=1800000000)["commit"] == id, "the same inputs make the same commit", how)
    # A commit in between conflicts with the target, though the whole change does not.
    person_commits(world, {"a": "one\ntwo, of a person\nthree\n"})
    tree, base = Path(world.done("tree", "g1", "r2", base)["path"]), base
    agent_commits(tree, {"a": "one\ntwo, of the agent\nthree\n", "w": "w\n"}, "there")
    agent_commits(tree, {"a": "one\ntwo\nthree\n"}, "and back")
    answer = made(world, measured(world, base, "r2"), base=base, how="rebase", name="r2")
    must(len(answer["added"]) == 1 and paths(answer) == ["w"], answer)
    # More commits than are replayed; names and dates that git does not accept.
    tree = Path(world.done("tree", "g1", "r3", base)["path"])
    head = base
    for number in range(257):
        head = git(tree, "commit-tree", f"{base}^{{tree}}", "-p", head, "-m", f"n{number}")
    git(tree, "reset", "-q", "--hard", head)
    agent_commits(tree, {"many": "m\n"}, "many")
    must(len(made(world, measured(world, base, "r3"), base=base, how="rebase", name="r3")["added"]) == 1, "too many")
    for number, (person, when) in enumerate((("<>", "1700000000 +0000"), ("., <x@y>", "1700000000 +0000"), ("A <a@a>", "99999999999 +0000"))):
        name = f"odd{number}"
        tree = Path(world.done("tree", "g1", name, base)["path"])
        write(tree / "odd", f"{number}\n")
        git(tree, "add", "-A")
        text = f"tree {git(tree, 'write-tree')}\nparent {base}\nauthor {person} {when}\ncommitter {person} {when}\n\nodd\n" + "x" * 150000 + "\n"
        write(tree / ".git/odd", text)
        git(tree, "reset", "-q", "--hard", git(tree, "hash-object", "-t", "commit", "--literally", "-w", ".git/odd"))
        answer = made(world, measured(world, base, name), base=base, how="rebase", name=name)
        must(len(answer["added"]) == 1 and paths(answer) == ["odd"], name, answer)


def case_secret(world):
    """A squash brings nothing into the operator's repository that its commit does not have: no other content, no snapshot, no conflict."""
    tree, base, moved, told = conflicting(world)
    agent_commits(tree, {"key": "canary-1\n"}, "by mistake")
    agent_commits(tree, {}, "take it back", remove=["key"])
    write(tree / "shared", "canary-2\n")
    measured(world, base)
    write(tree / "shared", "both lines\n")
    must(world.land(measured(world, base), base=base, told=told)["result"] == "done", "")
    seen = git(world.source, "cat-file", "--batch-all-objects", "--batch", "--unordered")
    must("both lines" in seen and "canary" not in seen and "by mistake" in seen, "the message stays, the content does not")


def case_forgotten(world):
    """The removal of a run deletes what was kept for it."""
    tree, base, moved, told = conflicting(world)
    write(tree / "shared", "both lines\n")
    snapshot = measured(world, base)
    first = made(world, snapshot, base=base, told=told)
    world.done("restore", "g1", "r1", base, first["commit"], first["onto"], "shared")
    clone = clone_of(world)
    kept = git(clone, "for-each-ref", "--format=%(refname)").splitlines()
    for kind, name in (("candidates", first["commit"]), ("conflicts", told), ("kept", snapshot)):
        must(any(ref.startswith(f"refs/overseer/{kind}/r1/{name}") for ref in kept), kind, kept)
    write(tree / "shared", "other lines\n")
    measured(world, base)
    git(clone, "-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
    must(world.done("candidate-diff", "g1", "r1", base, first["commit"], first["onto"], "9999")["files"], "gc keeps what was shown")
    must(made(world, snapshot, base=base, told=told)["commit"] == first["commit"], "and what it was made of")
    world.done("remove", "g1", "r1", base)
    kept = git(clone, "for-each-ref", "--format=%(refname)").splitlines()
    must(not [ref for ref in kept if "/r1" in ref and "/salvage/" not in ref], kept)
    must(not list((world.state / "tmp").glob("r1.[ie]n*")), "nor files")


def case_own_only(world):
    """A path outside of the run's own change is refused by name, even if the merge were wrong."""
    world.begin()
    tree, base = agent_begins(world)
    write(tree / "b", "b\n")
    snapshot = measured(world, base)
    answer = world.candidate(snapshot, base=base, GIT_PLANTED="stray path")
    must(answer["result"] == "refused" and "stray would change" in answer["why"], answer)
    must(made(world, snapshot, base=base)["result"] == "done", "")


def branches(folder):
    return {ref.removeprefix("refs/heads/overseer/") for ref in git(folder, "for-each-ref", "--format=%(refname)", "refs/heads/overseer").splitlines()}


def reviewed_is_kept(world, desk, tree, n, base, named):
    """A reviewer pushes a commit to the branch of run n, which then lands once more: it does not replace that commit."""
    write(desk / n, "of a reviewer\n")
    git(desk, "commit", "-qam", "of a reviewer")
    git(desk, "push", "-q", "origin", "HEAD")
    write(tree / n, "again\n")
    refused = world.land(measured(world, base, f"r{n}"), base=base, name=f"r{n}", **named)
    must(refused["result"] == "refused" and "did not put there" in refused["why"], "the commit of a reviewer is not left behind", refused)



def case_named(world):
    """A run's branch has the name of its task. A name that another run has put there is left alone, and a repeated landing is found."""
    world.begin()
    named = {"how": "branch", "GIT_BRANCH": "T1-fix-it"}
    tree, base = agent_begins(world)
    must(world.done("tree", "g1", "r0", base, GIT_BRANCH="T1-fix-it")["branch"] == "overseer/T1-fix-it", "in its worktree")
    write(tree / "1", "1\n")
    first = world.land(measured(world, base), base=base, **named)
    must(first["result"] == "done" and first["ref"] == "refs/heads/overseer/T1-fix-it", first)
    write(tree / "1", "better\n")
    better = world.land(measured(world, base), base=base, **named)
    must(better["ref"] == first["ref"] and branches(world.source) == {"T1-fix-it"}, "the same run replaces its own", better)

    tree = Path(world.done("tree", "g2", "r2", base)["path"])
    write(tree / "2", "2\n")
    made_second = made(world, measured(world, base, "r2"), base=base, name="r2", **named)
    second = world.push(made_second, base=base, name="r2", **named)
    must(second["result"] == "done" and second["ref"].startswith("refs/heads/overseer/T1-fix-it-"), second)
    must(git(world.source, "rev-parse", "overseer/T1-fix-it") == better["commit"], "the first one is left alone")
    both = branches(world.source)
    must(len(both) == 2, both)
    git(world.source, "branch", "-D", "overseer/T1-fix-it")  # the name is free again
    again = world.push(made_second, base=base, name="r2", **named)
    must(again["was_there"] == 1 and again["ref"] == second["ref"] and len(branches(world.source)) == 1, "it landed already", again)
    other = world.place / "other-host"
    world.done("clone", "main", state=other)
    seen = world.push(made_second, base=base, name="r2", state=other, **named)
    must(seen["result"] == "done" and seen["was_there"] == 1 and seen["ref"] == second["ref"], "a host without the candidate finds it", seen)
    write(tree / "2", "better\n")
    third = world.land(measured(world, base, "r2"), base=base, name="r2", **named)
    must(third["result"] == "done" and third["ref"] == second["ref"] and len(branches(world.source)) == 1, "a run stays with its name", third)

    # A person has the first name checked out, of another run; and another has added a commit to the second.
    git(world.source, "branch", "overseer/T1-fix-it", "main")
    git(world.source, "checkout", "-q", "overseer/T1-fix-it")
    tree = Path(world.done("tree", "g3", "r3", base)["path"])
    write(tree / "3", "3\n")
    beside = world.land(measured(world, base, "r3"), base=base, name="r3", **named)
    must(beside["result"] == "done" and beside["ref"] not in (first["ref"], second["ref"]), "a checkout of another branch is no obstacle", beside)
    git(world.source, "checkout", "-q", "main")
    desk = world.place / "reviewer"
    git(world.place, "clone", "-q", "-b", beside["ref"].removeprefix("refs/heads/"), str(world.source), str(desk))
    reviewed_is_kept(world, desk, tree, "3", base, named)

    # The same on the first name: the run has landed there, so it does not go to another name.
    mine = {"how": "branch", "GIT_BRANCH": "T2-other"}
    tree = Path(world.done("tree", "g4", "r4", base)["path"])
    write(tree / "4", "4\n")
    must(world.land(measured(world, base, "r4"), base=base, name="r4", **mine)["ref"] == "refs/heads/overseer/T2-other", "")
    git(desk, "fetch", "-q", "origin")
    git(desk, "checkout", "-q", "overseer/T2-other")
    reviewed_is_kept(world, desk, tree, "4", base, mine)


def case_identity(world):
    """Any name that git accepts is the author of an agent's commits, as it is."""
    world.begin()
    for number, name in enumerate(('CORP\\alice "A" #1', "O;x # y", "ends with \\", " spaced  ")):
        world.done("clone", "main")
        base = world.base()
        tree = Path(world.done("tree", "g1", f"r{number}", base, GIT_OWNER=name)["path"])
        must(git(tree, "config", "user.name") == name.strip(), name)
        must(git(tree, "config", "user.email") == "overseer@localhost", name)


def case_messages(world):
    """A commit that Overseer writes begins with the task and ends with its trailers; the agent's own commits stay as they are."""
    world.begin()
    tree, base = agent_begins(world)
    write(tree / "1", "1\n")
    told = {"GIT_SUBJECT": "Fix the login", "GIT_TRAILERS": "Overseer-Task: T1\nWith: coder\n"}

    def message(answer):
        return git(clone_of(world), "log", "-1", "--format=%B", answer["commit"])

    snapshot = measured(world, base)
    for how in ("squash", "branch"):
        must(message(made(world, snapshot, base=base, how=how, **told)) == "Fix the login\n\nOverseer-Task: T1\nWith: coder", how)
    must(message(made(world, snapshot, base=base)) == "Work of an agent", "without either")
    agent_commits(tree, {"2": "2\n"}, "second\n\nbecause")
    snapshot = measured(world, base)
    must(message(made(world, snapshot, base=base, **told)) == "Fix the login\n\nsecond\n\nbecause\n\nOverseer-Task: T1\nWith: coder", "squash")
    kept = made(world, snapshot, base=base, how="branch", **told)
    must(kept["commit"] == git(tree, "rev-parse", "HEAD") and message(kept) == "second\n\nbecause", "the agent's own commit")
    told["GIT_SUBJECT"] = "sec"
    must(message(made(world, snapshot, base=base, **told)).startswith("sec\n\nsecond\n\nbecause\n"), "a part of a word is another subject")
    told["GIT_SUBJECT"] = "second"
    must(message(made(world, snapshot, base=base, **told)).startswith("second\n\nbecause\n"), "said once")


def case_planted(world):
    """Each planted bug makes one of these cases fail."""
    for bug, case in (("any target", case_exact), ("any commit", case_only_candidates), ("base of history", case_ours), ("base of history", case_history),
                      ("every file is merged", case_told_only_of_conflicts), ("name unread", case_named), ("date of now", case_commits)):
        here = type(world)(world.place / bug.replace(" ", "-") / case.__name__)
        os.environ["GIT_PLANTED"] = bug
        try:
            case(here)
        except AssertionError:
            continue
        finally:
            del os.environ["GIT_PLANTED"]
        raise AssertionError(f"{case.__name__} does not notice: {bug}")


CASES = {"exact": (case_exact, ""), "only-candidates": (case_only_candidates, ""), "shown": (case_shown, ""), "ours": (case_ours, ""),
         "resolved": (case_resolved, "AUTO-21 FAIL-13"), "told-conflicts": (case_told_only_of_conflicts, ""), "told-twice": (case_told_twice, ""),
         "own-history": (case_history, ""), "paths": (case_paths, ""), "restored": (case_restored, ""), "commits": (case_commits, "AUTO-20"),
         "secret": (case_secret, ""), "own-only": (case_own_only, ""), "planted": (case_planted, ""), "forgotten": (case_forgotten, ""),
         "named": (case_named, ""), "messages": (case_messages, ""), "identity": (case_identity, "")}
