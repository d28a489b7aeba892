# SPDX-License-Identifier: Apache-2.0
"""What all cases of the git port use: a person's git, a function that writes files, and a check."""
import os
import subprocess

PERSON = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
          "GIT_AUTHOR_NAME": "Person", "GIT_AUTHOR_EMAIL": "person@localhost", "LC_ALL": "C",
          "GIT_COMMITTER_NAME": "Person", "GIT_COMMITTER_EMAIL": "person@localhost"}


def must(promise, *about):
    if not promise:
        raise AssertionError(" ".join(str(a) for a in about)[:4000])


def git(folder, *args, check=True, env=None):
    """Runs git as a person or an agent does."""
    run = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, errors="surrogateescape",
                         env={**PERSON, **(env or {})})
    must(not check or run.returncode == 0, "git", args, run.stderr)
    return run.stdout.strip()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
