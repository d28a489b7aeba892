# SPDX-License-Identifier: Apache-2.0
"""Checks with random histories that what lands is what was checked, and that no work is lost, whatever agents and people do concurrently.

A seed determines each history. Agents and people edit, rename, delete, revert, merge, rewrite branches and commit secrets; verbs are
killed and repeated. The judge knows nothing of candidates: it reads the operator's repository with plain git, and remembers what each
actor wrote. Each line of a file has a number that no other line ever has, so that the judge can follow it."""
import random
import re
import subprocess
from pathlib import Path

from candidate import clone_of
from common import PERSON, git, must, write

FILES = ["a", "d/f", "d/g", "e/f", "e/h/i", "lib/x", "lib/y", "lib/z"]
HOWS = ["squash"] * 4 + ["rebase"] * 3 + ["fast-forward"] * 2 + ["branch", "pull-request"]
LINE = re.compile(r"^#\d+ .*$", re.M)
SECRET = re.compile(r"CANARY-\d+")


# ---- the content of a branch, read with plain git ----

def tree_of(folder, commit):
    """Each path with the mode and the id of its content."""
    rows = git(folder, "ls-tree", "-r", "-z", commit).split("\0")
    return {row.split("\t", 1)[1]: row.split("\t")[0] for row in rows if row}


def texts_of(folder, commit):
    tree = tree_of(folder, commit)
    ask = "".join(f"{row.split()[2]}\n" for row in tree.values())
    run = subprocess.run(["git", "-C", str(folder), "cat-file", "--batch=%(objectsize)"], input=ask.encode(), capture_output=True, env=PERSON)
    left, found = run.stdout, {}
    for path in tree:
        size, left = left.split(b"\n", 1)
        found[path], left = left[:int(size)].decode(errors="replace"), left[int(size) + 1:]
    return found


def lines_in(texts):
    return {line for text in texts.values() for line in LINE.findall(text)}


def check(texts):
    """The operator's check: everything that a file needs exists. Two changes that pass separately may fail together."""
    return all(f"lib/{name}" in texts for text in texts.values() for name in re.findall(r"needs (\w)", text))


def objects_of(folder):
    return set(git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


# ---- actors ----

class Run:
    def __init__(self, name, base, tree, how):
        self.name, self.base, self.tree, self.how = name, base, tree, how
        self.told, self.told_of, self.told_files = "", "", set()
        self.wrote, self.removed, self.made, self.mixed = set(), set(), None, False


class History:
    def __init__(self, world, seed):
        self.world, self.chance, self.number = world, random.Random(seed), 0
        self.runs, self.people, self.landed, self.pushed, self.log = [], [], [], set(), []
        self.count = {"landings": 0, "people": 0, "conflicts": 0, "kills": 0, "moved": 0, "rejected": 0, "secrets": 0}

    def line(self, who):
        self.number += 1
        needs = f" needs {self.chance.choice('xyz')}" if self.chance.random() < 0.25 else ""
        return f"#{self.number} {who}{needs}"

    def begin(self):
        world = self.world.begin()
        self.site = world.place / "desk"
        git(world.place, "clone", "-q", "-b", "main", str(world.source), str(self.site))
        for name in FILES:
            write(self.site / name, "".join(self.line("begin").split(" needs")[0] + "\n" for _ in range(self.chance.randrange(4, 9))))
        self.person_push("begin")
        world.done("clone", "main", remote=True)

    # -- people --

    def person_push(self, message):
        git(self.site, "add", "-A")
        git(self.site, "commit", "-q", "--allow-empty", "-m", message)
        if not check(texts_of(self.site, "HEAD")):
            git(self.site, "reset", "-q", "--hard", "origin/main")
            return
        git(self.site, "push", "-q", "origin", "HEAD:main")
        self.people.append(git(self.site, "rev-parse", "HEAD"))
        self.count["people"] += 1

    def person_acts(self):
        git(self.site, "fetch", "-q", "origin", "main")
        git(self.site, "checkout", "-q", "-B", "main", "origin/main")
        what = self.chance.choice(["edit", "edit", "edit", "delete", "rename", "folder", "revert", "merge"])
        self.log.append(f"person {what}")
        if what == "revert" and self.people[1:]:
            back = self.chance.choice(self.people[1:])
            if subprocess.run(["git", "-C", str(self.site), "revert", "--no-edit", "--no-commit", *(["-m", "1"] if len(git(self.site, "rev-list", "--parents", "-1", back).split()) > 2 else []), back],
                              capture_output=True, env=PERSON).returncode:
                git(self.site, "reset", "-q", "--hard", "origin/main")
        elif what == "merge":
            git(self.site, "checkout", "-q", "-B", "side", "HEAD")
            self.edit(self.site, "person")
            git(self.site, "add", "-A")
            git(self.site, "commit", "-q", "--allow-empty", "-m", "side")
            git(self.site, "checkout", "-q", "main")
            git(self.site, "merge", "-q", "--no-ff", "-m", "merge", "side")
        else:
            self.edit(self.site, "person", what)
        self.person_push(what)

    # -- edits, by people and agents --

    def files(self, folder):
        return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts
                      and p.name != ".gitignore")

    def edit(self, folder, who, what="edit"):
        """Returns the paths that were written and the lines that are gone."""
        names, chance = self.files(folder), self.chance
        if what == "delete" and names:
            name = chance.choice(names)
            gone = set(LINE.findall((folder / name).read_text()))
            (folder / name).unlink()
            return {name}, gone
        if what == "rename" and names:
            name, to = chance.choice(names), chance.choice(["n1", "d/n2", "e/n3", "n4/n5"])
            if not (folder / to).exists() and not any((folder / p).is_file() for p in Path(to).parents if str(p) != "."):
                write(folder / to, (folder / name).read_text())
                (folder / name).unlink()
                return {name, to}, set()
        if what == "folder":
            old, new = chance.choice([("d", "d2"), ("e", "e2"), ("d2", "d"), ("e2", "e")])
            if (folder / old).is_dir() and not (folder / new).exists():
                moved = {name for name in names if name.startswith(old + "/")}
                (folder / old).rename(folder / new)
                return moved | {new + name[len(old):] for name in moved}, set()
        name = "a" if chance.random() < 0.3 else chance.choice(names) if names and chance.random() < 0.8 else chance.choice(FILES)
        if (folder / name).is_dir() or any((folder / p).is_file() for p in Path(name).parents if str(p) != "."):
            return set(), set()
        lines = (folder / name).read_text().splitlines() if (folder / name).exists() else []
        gone = set()
        for _ in range(chance.randrange(1, 3)):
            at, kind = chance.randrange(len(lines) + 1), chance.random()
            if kind < 0.3 and at < len(lines):
                gone |= set(LINE.findall(lines.pop(at)))
            if kind > 0.15:
                lines.insert(at, self.line(who))
        write(folder / name, "".join(line + "\n" for line in lines))
        return {name}, gone

    # -- agents --

    def verb(self, *args):
        """Runs a verb. Sometimes kills it, or one of its commands, at some step; then repeats it until it answers."""
        chance, answer = self.chance, None
        if chance.random() < 0.25:
            plan = {"GIT_DIE_AT": chance.randrange(1, 40)} if chance.random() < 0.5 else {"GIT_DIE_HARD": chance.randrange(1, 35), "GIT_DIE_AFTER": chance.choice([0, 500, 1500, 4000])}
            answer = self.world.verb(*args, remote=True, **plan)
            self.count["kills"] += answer is None
            if answer is None and args[0] == "land" and chance.random() < 0.3:
                self.person_acts_unlocked()
        for _ in range(4):
            if answer and answer["result"] != "locked":
                break
            for lock in [*self.world.source.glob(".git/**/*.lock"), *self.world.remote.glob("**/*.lock")]:
                lock.unlink()
            answer = self.world.verb(*args, remote=True)
        return answer

    def person_acts_unlocked(self):
        for lock in self.world.source.glob(".git/**/*.lock"):
            lock.unlink()
        self.person_acts()

    def run_begins(self):
        base, name = self.world.base(), f"r{len(self.runs)}"
        self.world.done("clone", "main", remote=True)
        tree = Path(self.world.done("tree", "g1", name, base, remote=True)["path"])
        self.runs.append(Run(name, base, tree, self.chance.choice(HOWS)))

    def agent_edits(self, run):
        what = self.chance.choice(["edit"] * 6 + ["delete", "rename", "folder"])
        wrote, gone = self.edit(run.tree, run.name, what)
        run.wrote |= wrote
        run.removed |= gone

    def agent_commits(self, run, message=None):
        git(run.tree, "add", "-A")
        git(run.tree, "commit", "-q", "--allow-empty", "-m", message or f"{run.name} {self.chance.random()}")

    def agent_merges(self, run, way):
        """Lines that a merge removes from the agent's worktree, because people removed them, count as removed by the run, too."""
        git(run.tree, "fetch", "-q", str(self.world.source), "main")
        target = run.told_of if run.told and self.chance.random() < 0.7 else git(run.tree, "rev-parse", "FETCH_HEAD")
        before, tree = lines_in(texts_of(run.tree, "HEAD")), tree_of(run.tree, "HEAD")
        if subprocess.run(["git", "-C", str(run.tree), "merge", "-q", "-m", "merged", *way, target], capture_output=True, env=PERSON).returncode:
            for name in set(git(run.tree, "diff", "--name-only", "--diff-filter=U").splitlines()):
                path = run.tree / name
                text = path.read_text() if path.is_file() else ""
                write(path, "".join(line + "\n" for line in dict.fromkeys(LINE.findall(text))) or self.line(run.name) + "\n") if not path.is_dir() else None
            for name in self.files(run.tree):  # files of a rename that the merge followed
                text = (run.tree / name).read_text()
                if "<<<<<<<" in text:
                    write(run.tree / name, "".join(line + "\n" for line in dict.fromkeys(LINE.findall(text))))
            git(run.tree, "add", "-A")
            git(run.tree, "commit", "-q", "--allow-empty", "-m", "merged")
        if way[:2] != ["-s", "ours"]:
            run.removed |= before - lines_in(texts_of(run.tree, "HEAD"))
            run.mixed = run.mixed or target != run.told_of or bool(way)
            theirs, after = tree_of(run.tree, target), tree_of(run.tree, "HEAD")
            run.wrote |= {p for p in {*tree, *theirs, *after} if after.get(p) not in (tree.get(p), theirs.get(p))}

    def agent_acts(self, run):
        chance = self.chance
        what = chance.choice(["edit"] * 5 + ["commit"] * 4 + ["secret", "ours", "merge", "rewrite", "orphan", "move", "elsewhere"])
        self.log.append(f"{run.name} {what}")
        if what in ("edit", "commit"):
            self.agent_edits(run)
        if what in ("commit", "ours", "merge", "rewrite", "orphan"):
            self.agent_commits(run)
        if what == "secret":
            self.number += 1
            write(run.tree / "key", f"CANARY-{self.number}\n")
            self.agent_commits(run, "by mistake")
            (run.tree / "key").unlink()
            self.agent_commits(run, "take it back")
            run.wrote.add("key")
            self.count["secrets"] += 1
        if what == "ours":
            self.agent_merges(run, ["-s", "ours"])
        if what == "merge":
            self.agent_merges(run, chance.choice([[], ["-X", "ours"], ["-X", "theirs"]]))
        if what == "rewrite":
            git(run.tree, "reset", "-q", "--soft", chance.choice([run.base, f"{run.base}~1", run.base]))
            self.agent_commits(run)
        if what == "orphan":
            git(run.tree, "reset", "-q", "--hard", git(run.tree, "commit-tree", "HEAD^{tree}", "-m", "from nowhere"))
        if what == "move":
            git(run.tree, "update-ref", "refs/overseer/base", "HEAD")
            git(run.tree, "branch", "-f", "main", "HEAD")
        if what == "elsewhere":
            self.agent_commits(run)
            git(run.tree, "checkout", "-q", "-B", "other")

    def agent_resolves(self, run):
        """Resolves each file of the conflict: with a person's lines and its own; or without looking; or not at all."""
        way = self.chance.choice(["both", "both", "both", "merge", "ours", "nothing", "careless"])
        self.log.append(f"{run.name} resolves: {way}")
        if way in ("merge", "ours"):
            self.agent_commits(run)
            self.agent_merges(run, [] if way == "merge" else ["-s", "ours"])
        if way in ("both", "careless"):
            theirs = texts_of(self.world.source, run.told_of)
            for name in sorted(run.told_files):
                path = run.tree / name
                if path.is_dir() or any((run.tree / p).is_file() for p in Path(name).parents if str(p) != "."):
                    continue
                mine = path.read_text() if path.exists() else ""
                lines = LINE.findall(mine) + (LINE.findall(theirs.get(name, "")) if way == "both" else [])
                write(path, "".join(line + "\n" for line in dict.fromkeys(lines)) + self.line(run.name) + "\n")
                run.wrote.add(name)

    # -- what the daemon does --

    def run_measures(self, run):
        run.snapshot = self.verb("measure", "g1", run.name, run.base)["snapshot"]
        args = ("candidate", "g1", run.name, run.base, run.snapshot, run.told, "main", run.how, "")
        answer = self.verb(*args)
        self.log.append(f"{run.name} candidate {run.how}: {answer['result']} {answer['commit'][:8]}")
        if answer["result"] == "conflict":
            self.count["conflicts"] += 1
            run.told, run.told_of = answer["conflict"], answer["onto"]
            run.told_files |= {row["path"] for row in answer["conflicts"]}
            must(run.told_files, answer)
            return self.agent_resolves(run)
        must(answer["result"] == "done", answer)
        again = self.world.verb(*args, remote=True, GIT_NOW=1800000000)
        if again["onto"] == answer["onto"]:
            must(again["commit"] == answer["commit"], "the same again is the same commit", again, answer)
        if not answer["commit"]:
            return self.run_over(run)
        if self.check(run, answer):
            run.made = answer
        else:
            self.count["rejected"] += 1
            self.agent_edits(run)
        return None

    def check(self, run, made):
        """Runs the check in a clean checkout of exactly that commit."""
        folder = Path(self.verb("checkout", f"v{run.name}", made["commit"])["path"])
        must(git(folder, "rev-parse", "HEAD") == made["commit"] and not git(folder, "status", "--porcelain"), "the checkout is that commit")
        return check({name: (folder / name).read_text() for name in self.files(folder)})

    def run_lands(self, run):
        made, world = run.made, self.world
        own = run.how in ("branch", "pull-request")
        where = world.remote if run.how == "pull-request" else world.source
        refs = self.refs()
        self.pushed.add((str(where), made["commit"]))
        answer = self.verb("land", "g1", run.name, run.base, made["commit"], made["onto"], "main", run.how)
        self.log.append(f"{run.name} land: {answer['result']} {answer['was_there']}")
        run.made = None
        if answer["result"] == "moved":
            self.count["moved"] += 1
            must(not own and made["commit"] not in git(world.source, "rev-list", "main"), "moved: nothing of it landed")
            return
        must(answer["result"] == "done" and answer["commit"] == made["commit"], answer)
        self.count["landings"] += 1
        self.judge(run, made, where, own, refs)
        self.run_over(run)

    def run_over(self, run):
        """Most runs end; some continue, on a branch of Overseer's."""
        if run.how not in ("branch", "pull-request") or self.chance.random() < 0.5:
            run.tree = None

    # ---- the judge ----

    def refs(self):
        rows = [f"{folder} {row}" for folder in (self.world.source, self.world.remote)
                for row in git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()]
        return {row.rsplit(" ", 1)[0]: row.rsplit(" ", 1)[1] for row in rows}

    def judge(self, run, made, where, own, refs):
        ref = f"refs/heads/overseer/g1/{run.name}" if own else "refs/heads/main"
        tip = git(where, "rev-parse", ref)
        onto = made["onto"]
        chain = git(where, "rev-list", "--first-parent", tip).split()
        must(made["commit"] == tip or (not own and made["commit"] in chain), "the id that was made and checked is on the branch")
        landed = git(where, "rev-list", "--parents", "--reverse", made["commit"], f"^{onto}").splitlines()
        must(landed and all(len(row.split()) == 2 for row in landed), "no merge among what it adds", landed)
        must(landed[0].split()[1] == onto and [row.split()[0] for row in landed[:-1]] == [row.split()[1] for row in landed[1:]], "a line on the target")
        must(len(landed) > 1 or not SECRET.search(git(where, "log", "-1", "-p", "--format=", made["commit"])), "a secret in a squash")
        must([row["path"].split()[0] for row in made["added"]] == [row.split()[0] for row in landed], "each commit was shown", made)
        changed = {p for p in git(where, "diff", "--no-renames", "--name-only", "-z", onto, made["commit"]).split("\0") if p}
        must({row["path"] for row in made["files"]} == changed, "each file was shown")
        self.judge_content(run, made, where, changed)
        now = self.refs()
        mine = f"{where} {ref}"
        must({k: v for k, v in now.items() if k != mine and not k.endswith(" refs/heads/main")} ==
             {k: v for k, v in refs.items() if k != mine and not k.endswith(" refs/heads/main")}, "no other branch moved")
        if not own:
            self.landed.append(made["commit"])
        self.judge_main()
        self.judge_store()

    def judge_content(self, run, made, where, changed):
        clone = clone_of(self.world)
        base, snapshot = tree_of(clone, run.base), tree_of(clone, run.snapshot)
        target, result = texts_of(where, made["onto"]), texts_of(where, made["commit"])
        must(check(result), "the check passes on the exact commit")
        outside = {p for p in changed if base.get(p) == snapshot.get(p) and p not in run.told_files}
        must(not outside, "a path that the run did not change", outside)
        if not run.mixed:
            must(changed <= run.wrote | run.told_files, "a path that the agent never wrote", changed - run.wrote - run.told_files)
        lost = lines_in(target) - lines_in(result) - run.removed
        excused = {line for name in run.told_files for line in LINE.findall(target.get(name, ""))}
        must(lost <= excused, "lines of others that the agent did not take out", lost - excused)
        mine = {line for line in lines_in(texts_of(clone, run.snapshot)) if f" {run.name}" in line}
        must(mine <= lines_in(result), "the agent's own lines", mine - lines_in(result))

    def judge_main(self):
        """Every commit that was on main stays an ancestor of it, once, and the check passes there."""
        world = self.world
        must(check(texts_of(world.source, "main")), "the check passes on main")
        history = git(world.source, "rev-list", "main").split()
        must(set(self.people) <= set(history) and set(self.landed) <= set(history), "nobody's commit is lost")
        must(len(self.landed) == len(set(self.landed)), "nothing landed twice")

    def judge_store(self):
        """Every object belongs to a commit that was pushed there, or was about to be when the push was killed."""
        for folder in (self.world.source, self.world.remote):
            tips = [commit for where, commit in self.pushed if where == str(folder)]
            there = objects_of(folder)
            tips = [commit for commit in tips if commit in there]
            known = git(folder, "rev-list", "--objects", "--no-object-names", "--all", "--reflog", *tips).split() if there else []
            extra = there - set(known)
            texts = [git(folder, "cat-file", "-p", name) for name in extra]
            must(not SECRET.search("\n".join(texts)), "a secret that no landed commit has")
            must(not extra, "an object that belongs to nothing that landed", extra, self.log)

    # ---- the whole history ----

    def step(self):
        chance, alive = self.chance, [run for run in self.runs if run.tree]
        if len(alive) < 3 and chance.random() < 0.35 or not alive:
            return self.run_begins()
        if chance.random() < 0.25:
            return self.person_acts()
        run = chance.choice(alive)
        if run.made:
            return self.run_lands(run)
        if run.wrote and chance.random() < 0.45:
            return self.run_measures(run)
        return self.agent_acts(run)

    def play(self, steps):
        self.begin()
        for _ in range(steps):
            self.step()
        self.judge_main()
        git(self.world.source, "fsck", "--full", "--strict")


def case_histories(world, count=1, seed=1, steps=36):
    total = {}
    for number in range(seed, seed + count):
        here = type(world)(world.place / f"s{number}")
        history = History(here, number)
        try:
            history.play(steps)
        except AssertionError as why:
            raise AssertionError(f"seed {number}: {why}\n  " + "\n  ".join(history.log[-40:])) from None
        for key, value in history.count.items():
            total[key] = total.get(key, 0) + value
        subprocess.run(["rm", "-rf", str(here.place)])
    if count >= 20:
        must(all(total.values()), "each of them has happened", total)
    return f"{count} histories: " + ", ".join(f"{value} {key}" for key, value in total.items())
