#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each agent program runs here by itself, against the scripted model, without a network.

  bare.py [NAME …]       the rows of programs.py; all without a NAME
  bare.py --keep DIR …   leaves HOME, work folder, output and the model's log there
  bare.py --script "error 500" --seconds 60 NAME …
                         that script instead of the file; says how it went, and judges nothing

The script makes each program write a file and, if its row configures an MCP server, call a tool over MCP. Prints one line for each
program: "ok", "skip" (not installed) or "failed", and why. Exit status: 0, 77 when some were skipped, 1 when one failed. Overseer
takes no part: its drivers are compared with these results.
"""
import argparse
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
sys.path.insert(0, str(HERE))
import acp  # noqa: E402
from model import Model  # noqa: E402
from programs import BY_NAME, PROGRAMS, argv_of, env_of, files_write, fill  # noqa: E402

TURN_S = 240
SHOWN = 160
SKIPPED = 77
WROTE = "written by an agent"


# ---- inside of the namespace ----

def one_turn(program, argv, cwd, env, prompt, out, seconds):
    """(None or the failure, other details worth printing)."""
    with open(out / "stdout", "wb") as said, open(out / "stderr", "wb") as complained:
        try:
            given = {"input": prompt.encode()} if program.speaks == "stdin" else {"stdin": subprocess.DEVNULL}
            run = subprocess.run(argv, cwd=cwd, env=env, stdout=said, stderr=complained, timeout=seconds, check=False, **given)
        except subprocess.TimeoutExpired:
            return f"not finished after {seconds} s", ""
    return (None if run.returncode == 0 else f"exit status {run.returncode}"), ""


def acp_turn(program, argv, cwd, env, prompt, out, seconds):
    with open(out / "stderr", "wb") as complained:
        client = acp.Client(argv, str(cwd), env, stderr=complained)
        try:
            server = {"name": "overseer", "command": sys.executable, "args": [str(HERE / "tool.py"), str(out / "tool")], "env": []}
            answer = client.prompt(client.begin(str(cwd), program.mode, [server]), prompt, seconds)
        except (acp.Refused, BrokenPipeError) as error:
            return str(error), ""
        finally:
            client.close()
            (out / "stdout").write_text("\n".join(json.dumps(one) for one in client.updates), encoding="utf-8")
    asked = f"asked {len(client.asked)} times for permission"
    return (None if answer.get("stopReason") == "end_turn" else f"ended with {answer}"), asked


def calls_noted(place):
    if not (place / "tool").exists():
        return []
    return [line for line in map(json.loads, (place / "tool").read_text(encoding="utf-8").splitlines()) if "called" in line]


def judge(program, model, made, place, why):
    """Judges by what the model and the tool saw and by the files on disk, not by what the program says."""
    if why:
        return why
    if program.tool and calls_noted(place) != [{"called": "report", "arguments": {"text": "half"}}]:
        return f"over MCP came {calls_noted(place)}"
    if not made.exists():
        return "no file was written"
    if made.read_text(encoding="utf-8").strip() != WROTE:
        return f"the file says {made.read_text(encoding='utf-8')!r}"
    steps = [line["step"] for line in model.log("asked") if line.get("why") == "prompt"]
    last = 2 if program.tool else 1
    return None if sorted(set(steps)) == list(range(last + 1)) else f"the model was asked for the steps {steps}"


def last_words(place):
    """The last lines of its stdout and stderr, for a person."""
    texts = [(place / name).read_text(encoding="utf-8", errors="replace").strip() for name in ("stdout", "stderr")]
    return " | ".join(text[-SHOWN:] for text in texts)


def tell(program, model, why, seconds, place):
    """Prints the outcome of a script that is not a task."""
    ends = [line.get("status", "gone") for line in model.log() if line["event"] in ("answered", "gone")]
    print(f"tried {program.name}: {why or 'ended well'} after {seconds:.1f} s; answers {ends}; {last_words(place)!r}")
    return 0


def script_of(program, made):
    tool = 'call *report {"text":"half"} ;; ' if program.tool else ""
    return tool + fill(program.task, {"made": str(made), "text": WROTE}) + " ;; say done"


def inside(program, run, place, script, seconds_at_most):
    home, cwd = Path(os.environ["HOME"]), place / "work"
    cwd.mkdir()
    subprocess.run(["git", "init", "-q", str(cwd)], check=True)
    made = cwd / "made.txt"
    prompt = f"<<<{script or script_of(program, made)}>>>"
    with Model(log=str(place / "model.jsonl")) as model:
        values = {"url": model.url, "home": str(home), "cwd": str(cwd), "prompt": prompt,
                  "python": sys.executable, "tool": str(HERE / "tool.py"), "notes": str(place / "tool")}
        files_write(program, home, values)
        env = dict(os.environ, **env_of(program, values))
        began = time.monotonic()
        turn = acp_turn if program.speaks == "acp" else one_turn
        why, told = turn(program, argv_of(program, run, values), cwd, env, prompt, place, seconds_at_most)
        seconds = time.monotonic() - began
        if script:
            return tell(program, model, why, seconds, place)
        why = judge(program, model, made, place, why)
        if why:
            print(f"failed {program.name}: {why}; {last_words(place)!r}")
            return 1
        print(f"ok {program.name}: {seconds:.1f} s, {len(model.log('asked'))} requests{told and ', '}{told}")
        return 0


# ---- outside of the namespace ----

def outside(program, place, given):
    found = subprocess.run([HERE.parent.parent / "tools/agents", "path", program.installed], capture_output=True, text=True, check=False)
    if found.returncode:
        print(f"skip {program.name}: {found.stderr.strip()}", flush=True)
        return SKIPPED
    place = place / program.name
    shutil.rmtree(place, ignore_errors=True)
    (place / "home").mkdir(parents=True)
    words = [HERE / "lonely", "--home", place / "home", sys.executable, __file__, "--inside", found.stdout.strip(),
             "--keep", place, "--script", given.script, "--seconds", given.seconds, program.name]
    return subprocess.run([str(word) for word in words], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--script", default="")
    parser.add_argument("--seconds", type=int, default=TURN_S)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in BY_NAME]
    if unknown:
        sys.exit(f"bare: no row for {' '.join(unknown)}; there are {' '.join(BY_NAME)}")
    chosen = [BY_NAME[name] for name in given.names] or PROGRAMS
    if given.inside:
        return inside(chosen[0], shlex.split(given.inside), given.keep, given.script, given.seconds)
    with tempfile.TemporaryDirectory(prefix="overseer-bare-") as new:
        place = given.keep.absolute() if given.keep else Path(new)
        statuses = [outside(program, place, given) for program in chosen]
    return next((status for status in statuses if status not in (0, SKIPPED)), max(statuses))


if __name__ == "__main__":
    sys.exit(main())
