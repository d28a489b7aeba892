#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A secret that a client sends in any request never reaches a byte on disk.

secrets.py [--engine sqlite|postgres] [--every N]: the test sends each example of tests/golden/secrets.txt through every kind of input
(goals, definitions, plans, work, reports, reasons, runs, tags, the output of commands, refused requests). It kills the daemon in the middle
and stops it at the end. Then it searches the raw bytes of everything on disk: database files, write-ahead logs, the daemon's log, an export,
a backup. To prove that the search works, the test also sends a canary that is not a secret through every input, and must find it.
"""
import argparse
import subprocess
import sys
from pathlib import Path

import proof
from world import OVERSEERD, TOP, Client, Daemon, folder_make, store_make, under_postgres

MARK = "¦"
CANARY = "canaryPlainWordThatStays"


def corpus(every):
    """[(shape, text, needle)]: the needle is the middle of the secret; the test must not find it on disk."""
    out = []
    lines = (TOP / "tests" / "golden" / "secrets.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("#") or MARK not in line:
            continue
        shape, text = line.split("\t", 1)
        text = text.replace("␤", "\n")
        left, right = text.split(MARK, 1)
        needle = (left[-8:] + right[:8]).strip()
        out.append((shape, left + right, needle))
    return out[::every]


class Paths:
    """Every kind of input. Each accepts any text."""

    def __init__(self, daemon, folder):
        self.client, self.folder, self.count = Client(daemon.socket), folder, 0

    def call(self, method, **params):
        """Sends a request. A refusal is fine: the daemon must then store nothing."""
        self.count += 1
        _, result, _ = self.client.call(method, params)
        return result or {}

    def fitting(self, text, caps):
        """Only fields that can hold the complete text, because the test never sends half a secret."""
        size = len(text.encode())
        return {name: value for name, (cap, value) in caps.items() if size <= cap}

    def definition(self, text):
        return self.fitting(text, {
            "problemStatement": (8000, text), "successCriteria": (1000, [text]), "nonGoals": (1000, [text]),
            "sourceSessionKey": (250, text), "originChannel": (250, text), "originTo": (250, text),
            "originThread": (250, text), "originAccount": (250, text), "owner": (250, text), "stakeholders": (250, [text]),
            "repoContextSnapshot": (8000, "x" * 4080 + " " + text), "constraints": (1000, [text]), "assumptions": (1000, [text]),
            "risks": (1000, [{"risk": text, "impact": text, "mitigation": text}])})

    def node(self, name, tier, text, parent=None):
        out = {"id": name, "tier": tier, "name": "a node", "acceptanceCriteria": ["one"], **self.fitting(text, {
            "name": (250, text), "objective": (8000, text), "expectedOutcome": (8000, text), "acceptanceCriteria": (1000, [text]),
            "definitionOfDone": (8000, text), "suggestedAgentId": (250, text), "suggestedAgentType": (250, text),
            "requiredTools": (250, [text]), "estimatedEffort": (60, text), "scopePaths": (250, [text]),
            "toolsAllow": (250, [text]), "toolsDeny": (250, [text])})}
        if parent:
            out["parentId"] = parent
        return out

    def go(self, text):
        short, reason = text, text if len(text.encode()) <= 500 else "too long for a reason"
        printed = self.folder / "printed"
        printed.write_text(text + "\n", encoding="utf-8")
        command = f"cat {printed}; cat {printed} >&2; exit 1"
        goal = self.call("goal.create", command=command, **{"title": "plain", **self.definition(text), **self.fitting(
            text, {"title": (500, text), "tags": (60, [text]), "traceId": (120, text)})})["goalId"]
        self.call("goal.create", title="with a command", command=f"echo {text}")
        self.call("goal.create", title="keyed", key=text)
        self.call("goal.update", goal=goal, **self.definition("new: " + text), **self.fitting(
            text, {"title": (500, text), "tags": (60, [text]), "reason": (500, text)}))
        self.call("goal.report", goal=goal, text=text)
        plan = [self.node("P1", "phase", text), self.node("T1", "task", text, "P1"), self.node("S1", "subtask", text, "T1")]
        self.call("plan.apply", goal=goal, nodes=plan, reason=reason)
        self.call("plan.apply", goal=goal, nodes=plan, reason=reason, version=1, mode="draft")
        self.call("plan.apply", goal=goal, nodes=[self.node(text, "phase", text)], reason=reason, version=1)
        self.call("plan.review", goal=goal, reason=reason)
        self.call("plan.reject", goal=goal, reason=reason)
        row = self.node("S2", "subtask", text, "T1")
        self.call("work.add", goal=goal, reason=reason, **row)
        self.call("work.start", goal=goal, node="S1", reason=reason)
        self.call("work.block", goal=goal, node="S1", by="credential", reason=reason)
        self.call("work.override", goal=goal, node="S1", status="queued", reason=reason)
        self.call("work.done", goal=goal, node="S1", reason=reason, evidence=text)
        self.call("work.start", goal=goal, node=text)
        self.call("run.update", goal=goal, runId="R_1", **self.fitting(
            text, {"sessionKey": (250, text), "agentId": (250, text), "status": (60, text)}))
        self.call("goal.release", goal=goal, reason=reason)
        self.call("goal.pause", goal=goal, reason=reason)
        self.call("goal.resume", goal=goal, reason=reason)
        self.call("goal.cancel", goal=goal, reason=reason)
        self.call("goal.list", search=short, tag=short)
        self.call("no.such.thing", text=text)


def kept_files(folder, store, engine):
    """All files that remain on disk."""
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != "printed"]
    if engine == "postgres":
        store.run("CHECKPOINT; SELECT pg_switch_wal()")
        files += [path for path in Path(store.data).rglob("*") if path.is_file()]
    return files


def maintain(store, verb, *words):
    done = subprocess.run([str(OVERSEERD), "--maintain", verb, *map(str, words), "--store", store.uri],
                          capture_output=True, timeout=120)
    assert done.returncode == 0, f"{verb}: {done.stderr.decode(errors='replace')[-500:]}"
    return done.stdout + done.stderr


def search(files, needles):
    """{needle: names of the files that contain it}."""
    found = {}
    for path in files:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        for needle in needles:
            if needle.encode() in data:
                found.setdefault(needle, []).append(path.name)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--every", type=int, default=1, help="each Nth example only")
    options = parser.parse_args()
    if options.engine == "postgres":
        under_postgres([sys.executable, *sys.argv])
    folder = folder_make("secrets")
    store = store_make(options.engine, folder, "secrets")
    custom = "zebra-[0-9]{8}"
    daemon = Daemon(folder, store.uri, options=["--lease", "2", "--redact", custom])
    daemon.start()
    daemon.wait_joined()
    examples = corpus(options.every) + [("custom", "the zebra-20261115 key", "zebra-20261115")]
    paths = Paths(daemon, folder)
    paths.go(f"{CANARY} goes everywhere")
    for number, (_, text, _) in enumerate(examples):
        paths.go(text)
        if number == len(examples) // 2:
            paths.client.close()
            daemon.kill()
            daemon.start()
            daemon.wait_joined()
    (folder / "output").write_bytes(maintain(store, "export", folder / "export.json"))
    maintain(store, "backup", folder / "backup.db")
    daemon.stop()
    (folder / "printed").unlink()
    files = kept_files(folder, store, options.engine)
    found = search(files, [needle for _, _, needle in examples])
    canary = search(files, [CANARY]).get(CANARY, [])
    shapes = {shape for shape, _, _ in examples}
    for shape, _, needle in examples:
        if needle in found:
            print(f"LEAKED {shape}: in {', '.join(found[needle][:4])}")
    wanted = {"export.json", "backup.db"}
    if not wanted <= set(canary) or len(canary) < 3:
        print(f"the canary should be in the store, the export and the backup; it is in {canary}")
        return 1
    print(f"secrets on {options.engine}: {len(shapes)} shapes, {len(examples)} examples, {paths.count} requests, "
          f"{len(files)} files searched, {len(found)} found")
    if not found:
        proof.passed("e2e", f"secrets [{options.engine}]", "STORE-14 GOAL-07 OBSERVE-10")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
