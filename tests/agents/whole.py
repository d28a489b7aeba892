#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that Overseer drives each agent program from the task to the commit on the branch.

  whole.py [NAME …] [--only SCENARIO …] [--keep DIR] [--write]

The real daemon, the real program, a real repository and the scripted model run in a namespace with only loopback. Prints one line for
each agent and scenario: ok, failed (why), skip (not installed), or n/a (why). --write writes the newest result of every agent and
scenario to docs/agents.md; a scenario that was not run again keeps its last result. Exit status 77: none of the programs is installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import proof  # noqa: E402
from agent_fixture import AGENTS, Fixture, NotForIt  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME  # noqa: E402
from scenes import SCENES  # noqa: E402

SKIPPED = 77
BUILD = Path(os.environ.get("OVERSEER_BUILD", TOP / "build"))
RESULTS = BUILD / "agents.jsonl"
BEGIN, END = "<!-- written by tests/agents/whole.py -->", "<!-- end -->"


# ---- one scenario ----

def scene_play(name, title, function, settings, keep):
    """(outcome, remark, seconds)"""
    folder = Path(tempfile.mkdtemp(prefix="w", dir=keep))
    begin = time.monotonic()
    outcome, why = "ok", ""
    try:
        with Model(log=str(folder / "model.log")) as model:
            fixture = Fixture(name, model, folder, **settings)
            try:
                why = function(fixture) or ""
            finally:
                (folder / "goals.json").write_text(fixture.show())
                fixture.close()
    except NotForIt as error:
        outcome, why = "n/a", str(error)
    except Exception as error:  # reported; the next scenario still runs
        outcome, why = "failed", f"{type(error).__name__} {error} ({folder})"
    if outcome != "failed" and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome, why, time.monotonic() - begin


def version_of(program):
    rows = subprocess.run([str(TOP / "tools/agents"), "list"], capture_output=True, text=True, check=False).stdout.splitlines()
    return next((row.split()[1] for row in rows if row.split()[0] == program), "?")


def result_note(row):
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def agent_play(name, only, keep):
    """The number of scenarios that failed; None: the agent is not installed."""
    installed = BY_NAME[AGENTS[name].row].installed
    if subprocess.run([str(TOP / "tools/agents"), "path", installed], capture_output=True, check=False).returncode != 0:
        print(f"skip    {name:12} not installed: tools/agents install {installed}", flush=True)
        return None
    failed, version = 0, version_of(installed)
    for title, function, settings, rows in SCENES:
        if only and title not in only:
            continue
        outcome, why, seconds = scene_play(name, title, function, settings, keep)
        print(f"{outcome:7} {name:12} {title} ({seconds:.1f} s){': ' if why else ''}{why}", flush=True)
        result_note({"agent": name, "scene": title, "outcome": outcome, "why": why, "seconds": round(seconds), "version": version})
        failed += outcome == "failed"
        if outcome == "ok":
            proof.passed("agents", f"{title} {name}", rows)
    return failed


# ---- the table ----

def results_read():
    """The newest result of each agent and scenario."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["agent"], row["scene"]): row for row in rows}


def cell(row, notes):
    if not row:
        return "not run"
    why = row["why"].split(" (/")[0].replace("Broken ", "")
    words = {"ok": "pass", "failed": "**fail**", "n/a": "n/a"}[row["outcome"]]
    if not why:
        return words
    if why not in notes:
        notes.append(why)
    return f"{words} ({notes.index(why) + 1})"


def table_text(results):
    notes, names = [], list(AGENTS)
    versions = {row["agent"]: row["version"] for row in results.values()}
    lines = ["| scenario | " + " | ".join(names) + " |", "|---|" + "---|" * len(names),
             "| *version* | " + " | ".join(versions.get(name, "–") for name in names) + " |"]
    for title, _, _, _ in SCENES:
        cells = [cell(results.get((name, title)), notes) for name in names]
        lines.append(f"| `{title}` | " + " | ".join(cells) + " |")
    lines += ["", *(f"{at + 1}. {note}" for at, note in enumerate(notes)), "", "| scenario | what it shows |", "|---|---|"]
    lines += [f"| `{title}` | {function.__doc__.strip()} |" for title, function, _, _ in SCENES]
    return "\n".join(lines)


def table_write(path):
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    path.write_text(f"{before}{BEGIN}\n\n{table_text(results_read())}\n\n{END}{after}", encoding="utf-8")


def inside(options):
    played = [agent_play(name, options.only, options.keep) for name in options.names or AGENTS]
    if all(failed is None for failed in played):
        sys.exit(SKIPPED)
    sys.exit(1 if any(played) else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--only", action="append", default=[], choices=[title for title, *_ in SCENES])
    parser.add_argument("--keep")
    parser.add_argument("--write", action="store_true", help="docs/agents.md, with what was found")
    parser.add_argument("--table", action="store_true", help="only that, without a run")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options)
    code = 0
    if not options.table:
        words = [str(HERE / "lonely"), f"OVERSEER_BUILD={BUILD}", sys.executable, str(HERE / "whole.py"), "--inside", *sys.argv[1:]]
        code = subprocess.run(words, check=False).returncode
    if options.write or options.table:
        table_write(TOP / "docs/agents.md")
    sys.exit(code)


main()
