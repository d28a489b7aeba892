# SPDX-License-Identifier: Apache-2.0
"""Earlier trees of this program: trees.txt lists them, and this module builds their programs from git into build/before/COMMIT."""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from world import TOP  # noqa: E402

PROGRAMS = ("overseerd", "overseer", "overseer-hold")
SKIPPED = 77


class NoHistory(Exception):
    """The commit is not in this clone, or this folder is not a git clone."""


def trees():
    """[(commit, description)]."""
    lines = (Path(__file__).parent / "trees.txt").read_text().splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip() and not line.startswith("#")]


def run(words, log, **more):
    with open(log, "ab") as out:
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=600, **more)


def source_take(commit, folder):
    """Extracts the files of a commit. safe.directory allows a checkout that belongs to another account."""
    git = ["git", "-c", f"safe.directory={TOP}", "-C", str(TOP)]
    there = subprocess.run([*git, "cat-file", "-e", f"{commit}^{{tree}}"], capture_output=True, check=False)
    if there.returncode:
        raise NoHistory(f"commit {commit[:12]} is not here (a shallow clone, or an archive without history)")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.Popen([*git, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "x", "-C", str(folder)], stdin=archive.stdout, check=True)
    archive.stdout.close()
    if archive.wait():
        raise NoHistory(f"git archive of {commit[:12]} fails")
    meson = folder / "meson.build"  # without its tests meson configures it in half the time
    meson.write_text("".join(line for line in meson.read_text().splitlines(True) if not line.startswith("subdir('tests")))


def compiler():
    """The compiler that compiles fastest, because the programs run only for seconds. CCACHE_DEPEND: a first build preprocesses each file only once."""
    words = ["ccache"] if shutil.which("ccache") else []
    return {"CC": " ".join([*words, "clang" if shutil.which("clang") else "cc"]), "CXX": " ".join([*words, "c++"]), "CCACHE_DEPEND": "1"}


def programs_build(commit):
    """Builds the three programs of a commit. Returns their folder and the seconds that the build took."""
    top = TOP / "build" / "before" / commit
    source, build, log = top / "source", top / "build", top / "log"
    since = time.monotonic()
    if not (top / "done").exists():
        source_take(commit, source)
        shutil.rmtree(build, ignore_errors=True)
        settings = ["-Dbuildtype=plain", "-Doptimization=0", "-Ddebug=false", "-Dwarning_level=0", "-Dwerror=false"]
        environment = {**os.environ, **compiler()}
        run(["meson", "setup", str(build), str(source), *settings], log, env=environment)
        run(["ninja", "-C", str(build), *PROGRAMS], log, env=environment)
        (top / "done").touch()
    return build, time.monotonic() - since
