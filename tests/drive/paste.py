#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each prompt reaches a terminal program exactly once and unchanged.

  paste.py [--prompts N] [--load N] [--seed N] claude codex …

The tmux driver sends prompts of 1 to 100 lines to the real programs at the same time, while other processes load the
processor. The test reads what arrived from each program's own history: it contains every dispatch once and word for word, or
the driver reported that it does not know. Needs tests/drive/drive as OVERSEER_DRIVE; runs in tests/agents/lonely.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/agents"))
sys.path.insert(0, str(TOP / "tests/e2e"))
sys.dont_write_bytecode = True

AGENTS = {  # name: (the folder of its history, the name of its key)
    "claude": (".claude/projects", "ANTHROPIC_API_KEY"),
    "codex": (".codex/sessions", "OPENAI_API_KEY"),
}
WORDS = ["a", "line", "of", "words", "with", "'quotes'", '"double"', "$HOME", "`ticks`", "back\\slash", "é", "日本", "100%",
         "{braces}", "#hash", "~tilde", "semi;colon", "<tag>", "=", "\\n"]
KEY = "dummy-key-000000000000000000000000"


def prompt_make(dice, agent, n):
    lines = [" ".join(dice.choices(WORDS, k=dice.randint(1, 14))) for _ in range(dice.randint(1, 100))]
    return "\n".join([f"{agent} prompt {n}", *lines, f"<<<say ok {n}>>>"])


def history_texts(folder):
    """Each prompt that the program received, as its history has it."""
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("type") == "user" and isinstance(row["message"]["content"], str):
                yield row["message"]["content"]
            payload = row.get("payload", {})
            if row.get("type") == "response_item" and payload.get("type") == "message" and payload.get("role") == "user":
                for part in payload["content"]:
                    yield part.get("text", "")


def agent_start(name, url, place, prompts):
    home, tree = place / f"home-{name}", place / f"tree-{name}"
    home.mkdir()
    tree.mkdir()
    steps = place / f"steps-{name}"
    steps.write_text("".join(f"send {prompt}\0wait ended:60\0" for prompt in prompts), encoding="utf-8")
    argv = subprocess.run([TOP / "tools/agents", "path", name], check=True, capture_output=True, text=True).stdout.split()
    words = [os.environ["OVERSEER_DRIVE"], "tmux", "--quirk", name, "--program", argv[0], "--base-url", url, "--home", home,
             "--cwd", tree, "--env", f"{AGENTS[name][1]}={KEY}", "--run", str(place)]
    if name == "codex":
        words += ["--model", "scripted"]
    return subprocess.Popen([*words, "--", f"@{steps}"], stdout=subprocess.PIPE, text=True)


def agent_judge(name, place, prompts, said):
    """(exactly once, in doubt) and what is wrong."""
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    sent = [event["sent"] for event in events if "sent" in event]
    doubts = sum(event.get("event") == "delivered" for event in events)
    kept = list(history_texts(place / f"home-{name}" / AGENTS[name][0]))
    wrong, once = [], 0
    for dispatch, prompt in zip(sent, prompts):
        found = [text for text in kept if dispatch in text]
        exact = [text for text in found if text.strip() == f"{prompt}\n\n(overseer dispatch {dispatch})"]
        if len(found) == len(exact) == 1:
            once += 1
        elif found:
            wrong.append(f"{name}: {dispatch} {len(found)} times, {len(exact)} exact: {found[0][-120:]!r}")
    if len(sent) != len(prompts) or once + doubts < len(prompts):
        wrong.append(f"{name}: {len(prompts)} wanted, {len(sent)} sent, {once} once, {doubts} in doubt; "
                     f"{[event for event in events if 'failed' in event or event.get('event') == 'broken']}")
    return once, doubts, wrong


def main():
    import proof
    from model import Model
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompts", type=int, default=100)
    parser.add_argument("--load", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("agents", nargs="+", choices=sorted(AGENTS))
    wanted = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="paste-", dir=os.path.expanduser("~")))
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(wanted.load)]
    dice = random.Random(wanted.seed)
    prompts = {name: [prompt_make(dice, name, n) for n in range(wanted.prompts)] for name in wanted.agents}
    try:
        with Model() as model:
            running = {name: agent_start(name, model.url, place, prompts[name]) for name in wanted.agents}
            said = {name: process.communicate()[0] for name, process in running.items()}
    finally:
        for burner in burners:
            burner.kill()
    failed = 0
    for name in wanted.agents:
        once, doubts, wrong = agent_judge(name, place, prompts[name], said[name])
        failed += len(wrong)
        print(f"paste {name}: {wanted.prompts} prompts, {once} exactly once, {doubts} unconfirmed, {len(wrong)} wrong")
        print("\n".join(wrong[:5]), end="\n" if wrong else "")
    if not failed:
        proof.passed("drive", "each prompt once, into terminals", "")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
