#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `lonely` isolates a command, or does not run it, and what the installer prints without a registry."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONELY = HERE / "lonely"
AGENTS = HERE.parent.parent / "tools/agents"
REFUSED = 70
SKIPPED = 77


def run(*words, program=LONELY, **env):
    return subprocess.run([program, *words], env=dict(os.environ, **env), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False)


def fake_path(place, unshare):
    """A PATH with python3 and, if given, a fake unshare."""
    os.symlink(sys.executable, place / "python3")
    if unshare:
        (place / "unshare").write_text(f"#!/bin/sh\n{unshare}\n", encoding="utf-8")
        (place / "unshare").chmod(0o755)
    return str(place)


def test_there_is_nothing_but_loopback():
    got = run("sh", "-c", "ls /sys/class/net >/dev/null; cat /proc/net/dev /proc/net/route")
    names = [line.split(":")[0].strip() for line in got.stdout.splitlines() if ":" in line]
    assert names == ["lo"] and "00000000" not in got.stdout, got
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print('reached')"
    assert run("python3", "-c", code).stdout == "reached\n"


def test_the_environment_is_made_from_nothing():
    got = run("NAMED=yes", "env", SECRET_OF_MINE="x", OVERSEER_MINE="y", ANTHROPIC_API_KEY="z")
    env = dict(line.split("=", 1) for line in got.stdout.splitlines())
    assert "SECRET_OF_MINE" not in env and "ANTHROPIC_API_KEY" not in env, env
    assert (env["NAMED"], env["OVERSEER_MINE"], env["DISABLE_TELEMETRY"]) == ("yes", "y", "1"), env
    assert env["HOME"] != os.environ.get("HOME") and env["OVERSEER_AGENTS"], env
    assert not Path(env["HOME"]).exists(), "its HOME was left behind"


def test_a_home_of_the_callers_stays():
    with tempfile.TemporaryDirectory() as place:
        assert run("--home", place, "sh", "-c", "echo x > $HOME/kept").returncode == 0
        assert Path(place, "kept").read_text(encoding="utf-8") == "x\n"


def test_the_status_is_the_commands():
    assert run("sh", "-c", "exit 7").returncode == 7
    assert run("sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert run("/no/such/program").returncode == REFUSED


def test_what_is_left_running_ends_with_it():
    with tempfile.TemporaryDirectory() as place:
        beat = Path(place, "beat")
        loop = f"trap '' TERM; while :; do echo x >> {beat}; sleep 0.05; done"
        run("sh", "-c", f'(setsid sh -c "{loop}" &) ; sleep 0.5')
        size = beat.stat().st_size
        time.sleep(0.5)
        assert size > 0 and beat.stat().st_size == size, "it goes on"


def test_whoever_kills_it_ends_all_of_it():
    with tempfile.TemporaryDirectory() as place:
        beat = Path(place, "beat")
        words = [LONELY, "--home", place, "sh", "-c", f"while :; do echo x >> {beat}; sleep 0.05; done"]
        with subprocess.Popen(words) as process:
            while not beat.exists():
                time.sleep(0.05)
            process.kill()
        time.sleep(0.3)
        size = beat.stat().st_size
        time.sleep(0.5)
        assert beat.stat().st_size == size, "it goes on"


def test_it_fails_closed():
    """`lonely` does not run the command if unshare is missing, fails or does nothing."""
    for unshare in ("", "exit 1", 'while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"'):
        with tempfile.TemporaryDirectory() as place:
            touched = Path(place, "touched")
            path = fake_path(Path(place), unshare)
            got = run("PATH=/usr/bin:/bin", "touch", str(touched), PATH=path, TMPDIR=place)
            assert got.returncode == REFUSED and "not run" in got.stderr, (unshare, got)
            assert not touched.exists(), unshare
            assert not list(Path(place).glob("overseer-lonely-*")), "its HOME was left behind"


def test_the_installer_says_that_it_skips():
    """Without a network or without npm, the installer prints a line for each program and does not exit with success."""
    with tempfile.TemporaryDirectory() as place:
        got = run(str(AGENTS), "install", "goose", OVERSEER_AGENTS=place)
        assert got.returncode == SKIPPED and got.stdout.startswith("skip goose") and "out of reach" in got.stdout, got
        assert not os.listdir(place), "half an installation is left"
        got = run("path", "goose", program=AGENTS, OVERSEER_AGENTS=place)
        assert got.returncode == 1 and "tools/agents install goose" in got.stderr, got
        shutil.rmtree(place)
        os.mkdir(place)
        bare = Path(place, "bin")
        bare.mkdir()
        got = run("install", "goose", program=AGENTS, OVERSEER_AGENTS=place + "/cache", PATH=fake_path(bare, ""))
        assert got.returncode == SKIPPED and "npm is not installed" in got.stdout, got
        got = run("install", "nobody", program=AGENTS, OVERSEER_AGENTS=place)
        assert got.returncode == 1 and "no row for nobody" in got.stderr, got


def main():
    failed = 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        try:
            test()
            print(f"ok     {name[5:].replace('_', ' ')}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
