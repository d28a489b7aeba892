# SPDX-License-Identifier: Apache-2.0
"""What the programs `show` share: the programs in the build folder of their copy, and a daemon in their scratch folder."""
import os
import subprocess
import sys
from pathlib import Path

BUILD, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["OVERSEER_BUILD"] = str(BUILD)
os.environ["OVERSEER_FOLDERS"] = str(SCRATCH)
os.environ.setdefault("OVERSEER_TIMEOUT_SCALE", "6")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from world import OVERSEER, Broken, Client, Daemon, folder_make, store_make, under_postgres, wait_until  # noqa: E402

__all__ = ["BUILD", "OVERSEER", "SCRATCH", "Broken", "Client", "Place", "expect", "said", "under_postgres", "wait_until"]


def expect(promise, text):
    if not promise:
        raise Broken(text)


def said(*words, stdin=None):
    """What a program prints; it has to end well."""
    done = subprocess.run([str(word) for word in words], input=stdin, capture_output=True, text=True, timeout=120, check=False)
    expect(done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Place:
    """A daemon with a store and settings of its own."""

    def __init__(self, name, engine="sqlite", settings=""):
        self.folder = folder_make(name)
        self.store = store_make(engine, self.folder, f"recipe_{name}")
        config = self.folder / "overseer.toml"
        config.write_text(settings, encoding="utf-8")
        self.daemon = Daemon(self.folder, self.store.uri, environment={"OVERSEER_CONFIG": str(config), "HOME": str(self.folder)})
        self.daemon.start()
        self.daemon.wait_joined()
        self.client = Client(self.daemon.socket)

    def do(self, method, **params):
        return self.client.result_of(method, params)

    def close(self):
        self.client.close()
        self.daemon.stop()
        expect(not self.daemon.promises_broken(), self.daemon.log_tail())
