#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every example do what it says? The test executes the examples of the help texts, the manual pages and README as written.

The world they run in has the ids that they name (example_site.py). Where an example needs a preparation, such as a goal that is paused
before it is resumed, BEFORE names it. Each example runs in a fresh copy of that world.

  examples.py            all
  examples.py WORDS …    those that have these words in them
"""
import json
import re
import sys

import proof
from example_site import GOAL, Site
from world import TOP, Broken, wait_until

ID = GOAL[5:15]


def damaged(site):
    site.up()
    site.damage()
    site.down()


def proposed(site):
    """A plan of the overseer waits for a person's approval."""
    site.well("overseer up --config approve.toml")
    token = site.json("overseer", "token", "create", "--role", "overseer", "--actor", "planner")["token"]
    site.well("overseer", "plan", "apply", ID, "--nodes", "@plan.json", "--version", "1", more={"OVERSEER_TOKEN": token})


def staffed(site):
    """An agent works on the first task."""
    site.well("overseer up --config agents.toml")
    site.well("overseer", "goal", "report", ID, "who works on it?")
    wait_until("an agent was told", lambda: [one for one in site.json("overseer", "agents", ID)["assignments"]
                                             if one.get("delivery") == "accepted"], 20)


def seventh(site):
    """An agent works on T7, as `overseer run` creates it the seventh time, and its work waits for acceptance."""
    staffed(site)
    goal = site.json("overseer", "goal", "create", "the seventh", "--key", "seventh")["goalId"]
    nodes = [{"id": "P7", "tier": "phase", "name": "seventh", "acceptanceCriteria": ["its task is done"]},
             {"id": "T7", "tier": "task", "parentId": "P7", "name": "seventh", "acceptanceCriteria": ["make check passes"]}]
    site.well("overseer", "plan", "apply", goal, "--nodes", json.dumps(nodes))
    wait_until("an agent was told", lambda: [one for one in site.json("overseer", "agents", goal)["assignments"]
                                             if one.get("delivery") == "accepted"], 20)
    site.well("overseer", "question", "ask", goal, "Land it?", "--kind", "approve", "--node", "T7")


def nothing(site):
    """For examples that need the daemon to be down."""


def asked(*words):
    """Two questions of T7 wait, Q7.0 and Q7.1; `words` name what else has to happen before."""
    def before(site):
        site.up()
        while site.json("overseer", "goal", "create", "one before it")["name"] != "T6":
            pass
        for kind in ("alert", "approve" if "approve" in words else "decide"):
            options = ["--options", "drop", "--options", "keep"] if kind == "decide" else []
            site.well("overseer", "question", "ask", ID, f"{kind}: drop the column?", "--kind", kind, *options)
        if "answered" in words:
            site.well("overseer", "answer", "Q7.1", "a")
    return before


# The beginning of an example, and its preparation: commands, or a function that starts without a daemon.
BEFORE = {
    "overseer up": nothing, "overseerd": nothing, "overseer restore": nothing, "overseer import": nothing,
    "overseer verify-log": nothing, "overseer admin examine": nothing, "overseer admin retain": nothing,
    "overseer admin forget": nothing,
    "overseer doctor --rebuild": damaged, "overseer admin rebuild": damaged, "overseer admin accept-empty": damaged,
    "overseer assignment show": staffed, "overseer agent": staffed, "overseer desk release": staffed,
    "overseer handoff show": f'overseer handoff add {ID} "tokens work" --node S1.1.1',
    "overseer plan approve": proposed, "overseer plan reject": proposed,
    "overseer goal resume": f"overseer goal pause {ID}",
    "overseer goal reopen": f"overseer goal complete {ID} --reason done",
    "overseer goal archive": f"overseer goal complete {ID} --reason done",
    "overseer work unblock": "overseer work block S1.1.1 --reason waiting",
    "overseer work follow": "overseer work override S1.1.1 --status done --reason x",
    "overseer resume": "overseer stop --yes",
    "overseer logs": staffed, "overseer diff": staffed,
    "overseer backup": "rm -f overnight.db",
    "overseer init": "rm -f ~/config/overseer/overseer.toml",
    "overseer tell": seventh, "overseer attach": seventh, "overseer land": seventh,
    "overseer why T7": seventh, "overseer work log": staffed, "overseer work diff": staffed,
    "overseer question show": asked(), "overseer answer": asked(), "overseer approve": asked("approve"),
    "overseer reject": asked("approve"), "overseer ack": asked(), "overseer snooze": asked(), "overseer undo": asked("answered"),
    "overseer question withdraw": asked(), "overseer withdraw": asked(), "overseer cancel": seventh,
    "overseer batch": """overseer batch create tonight --tasks '[{"text": "fix the parser"}]'""",
    "overseer account add": "mkdir -p ~/config/overseer && cp agents.toml ~/config/overseer/overseer.toml",
}
# These do not end by themselves; the test ends them after a while.
ENDLESS = ("--follow", "--watch", "overseer attach", "overseer demo")
# Not executed here: they need another machine or a server.
ELSEWHERE = re.compile(r"postgresql://|https?://|systemctl|curl |ssh ")


def help_examples(site):
    for command in site.json("overseer", "help")["commands"]:
        for line in command["help"].splitlines():
            if line.startswith("Example: "):
                yield f"help {command['words']}", line[9:]


def unroff(line):
    line = re.sub(r"\\f[BIRP]", "", line)
    return line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def manual_examples():
    """Blocks between .nf and .fi that begin with one of the programs."""
    for page in sorted((TOP / "docs" / "man").iterdir()):
        block = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if line == ".nf":
                block = []
            elif line == ".fi" and block is not None:
                script = "\n".join(block)
                if re.match(r"\s*(overseer|overseerd|source|cat) ", script):
                    yield page.name, script
                block = None
            elif block is not None:
                block.append(unroff(line))


def readme_script():
    """All indented blocks of README and the tour that type our programs, in order in one shell, as a reader would type them."""
    text = "".join((TOP / page).read_text(encoding="utf-8") for page in ("README.md", "docs/tour.md"))
    blocks = ["\n".join(line[4:] for line in block.splitlines()).strip()
              for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)]
    return "\n".join(block for block in blocks
                     if re.search(r"^(overseerd?|curl) ", block, re.M) and "postgresql://" not in block)


def readme_tried(site):
    """Executes README from nothing, with a home of its own: ~/.local/state is where README says."""
    home = site.folder / "reader"
    home.mkdir()
    without = {"HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    code, out, err = site.run("bash", "-euc", "mkdir ~/project; cd ~/project\n" + readme_script(), more=without, within=120)
    site.run("overseer", "down", more=without)
    return f"README.md: exit {code}: {out[-400:]}{err.strip()[-400:]}" if code else None


def prepared(site, script):
    """Carries out the preparation that the example needs."""
    site.refresh()
    first = BEFORE.get(max((begin for begin in BEFORE if script.startswith(begin)), key=len, default=None))
    if callable(first):
        first(site)
        return
    site.up()
    if first:
        site.well(first)


def tried(site, where, script):
    try:
        prepared(site, script)
    except Broken as trouble:
        return f"{where}: {script}\n    before it: {trouble}"
    endless = any(word in script for word in ENDLESS)
    code, out, err = site.run(f"timeout 3 {script}" if endless else script, within=60)
    if code != (124 if endless else 0):
        return f"{where}: {script}\n    exit {code}: {(err or out).strip()[:400]}"
    return None


def main():
    site, failed, done = Site("examples"), [], {}
    try:
        site.furnish()
        found = [*help_examples(site), *manual_examples()]
        for where, script in found:
            wanted = all(word in f"{where} {script}" for word in sys.argv[1:])
            if not wanted or script in done or ELSEWHERE.search(script):
                continue
            done[script] = where
            trouble = tried(site, where, script)
            if trouble:
                failed.append(trouble)
                print(trouble, flush=True)
        trouble = None
        if all(word in "README.md" for word in sys.argv[1:]):
            done["README.md"] = "README.md"
            trouble = readme_tried(site)
        if trouble:
            failed.append(trouble)
            print(trouble)
    finally:
        site.close()
    print(f"examples: {len(done) - len(failed)} of {len(done)} examples do what they say ({len(found)} places and README)")
    if not failed and not sys.argv[1:]:
        proof.passed("examples", "as written", "CLI-02 CLI-03 CLI-04 CLI-11")
    print(f"{0 if failed else 1} passed, {1 if failed else 0} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
