#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pooler between the daemon and its PostgreSQL: tests that session pooling works, and that the daemon refuses transaction pooling and a pool
that is too small with the reason, before it changes any setting for other clients.

pooler.py [--only NAME]
"""
import argparse
import subprocess
import sys
import time
import traceback

import proof
from servers import BIN, Pooler, Server, url
from world import Broken, Client, Daemon, folder_make, wait_until

# The settings that a session of the daemon changes: other clients of the pool must never see the changed values.
SET_BY_US = ("default_transaction_read_only", "enable_seqscan", "statement_timeout", "plan_cache_mode", "synchronous_commit", "lock_timeout")


def settings_of(pooler, sessions=8):
    """Returns the settings that other clients of the pool see. The clients use separate sessions at the same time, to cover every server connection
    of the pool."""
    ask = "SELECT string_agg(current_setting(name), ' ') FROM unnest(ARRAY[%s]) AS name" % ",".join(f"'{name}'" for name in SET_BY_US)
    asked = [subprocess.Popen([BIN / "psql", "-XqAt", "-h", pooler.folder, "-U", "overseer", "-d", "fleet", "-c",
                               f"BEGIN; {ask}; SELECT '' FROM pg_sleep(0.3); COMMIT"], stdout=subprocess.PIPE, text=True) for _ in range(sessions)]
    return {process.communicate(timeout=30)[0].strip() for process in asked}


def ends(daemon, within):
    """Waits until the daemon ends by itself; returns its log."""
    wait_until("the daemon ends", lambda: daemon.process.poll() is not None, within, 0.05)
    return daemon.log.read_text()


class World:
    def __init__(self, name, mode, size, more=""):
        self.folder = folder_make(f"pooler-{name}")
        self.server = Server(self.folder, "pg").create()
        self.pooler = Pooler(self.folder, "pool", self.server, mode, size, more).start()
        self.daemon = Daemon(self.folder, url(self.pooler), "host", options=["--lease", "2"])

    def end(self):
        self.pooler.stop()
        self.server.stop("immediate")


def goals_made(daemon, count=5):
    client = Client(daemon.socket)
    for i in range(count):
        status, _, error = client.call("goal.create", {"title": f"goal {i}"})
        if status != 200:
            raise Broken(f"goal.create: {status} {error}")
    status, listed, error = client.call("goal.list", {})
    client.close()
    if status != 200 or len(listed["goals"]) != count:
        raise Broken(f"goal.list: {status} {error} {listed}")


def session_pooling_works():
    world = World("session", "session", 20)
    world.daemon.start()
    world.daemon.wait_joined()
    goals_made(world.daemon)
    used, = world.server.ask("SELECT count(*) FROM pg_stat_activity WHERE datname = 'fleet' AND application_name LIKE 'overseer%'")
    world.pooler.stop()  # the pooler restarts, and the daemon continues
    world.pooler.start()
    wait_until("the daemon goes on", lambda: world.daemon.health().get("ok"), 15)
    goals_again = Client(world.daemon.socket).call("goal.create", {"title": "after the pooler was restarted"})
    if goals_again[0] != 200:
        raise Broken(f"after the pooler was restarted: {goals_again}")
    world.daemon.stop()
    world.end()
    return f"{used[0]} connections at rest"


def transaction_pooling_is_refused(more=""):
    world = World("transaction", "transaction", 20, more)
    plain = settings_of(world.pooler)
    world.daemon.start()
    text = ends(world.daemon, 15)
    if "transaction pooling" not in text or "pool_mode = session" not in text:
        raise Broken(f"it did not say why: {text[-600:]}")
    leaked = settings_of(world.pooler) - plain
    if leaked:
        raise Broken(f"settings of the daemon reached other clients: {leaked}, before: {plain}")
    world.end()
    return "refused, nothing was set"


def transaction_pooling_round_robin():
    return transaction_pooling_is_refused("server_round_robin = 1")


def small_pool_is_said():
    """If the pool has room for only one session, the daemon logs that, and it starts to work once there is room."""
    world = World("small", "session", 1)
    world.daemon.start()
    begun = time.monotonic()
    wait_until("the log says that the pool is full", lambda: "pool_size" in world.daemon.log.read_text(), 12, bound=True)
    said = time.monotonic() - begun
    world.daemon.alive()
    world.pooler.stop()
    world.pooler.config.write_text(world.pooler.config.read_text().replace("default_pool_size = 1\n", "default_pool_size = 20\n"))
    world.pooler.start()
    world.daemon.wait_joined()
    goals_made(world.daemon)
    world.daemon.stop()
    world.end()
    return f"in the log after {said:.1f} s"


def roles_change_behind_poolers():
    """A pooler reports the role that a server had at the pooler's first connection. The daemon finds the server that accepts writes now."""
    folder = folder_make("pooler-roles")
    primary = Server(folder, "one").create()
    standby = Server(folder, "two").copy_of(primary)
    wait_until("the standby streams", lambda: primary.standbys() == 1, 15)
    poolers = [Pooler(folder, f"pool{i}", server).start() for i, server in enumerate((primary, standby))]
    for pooler in poolers:
        settings_of(pooler, 2)  # both poolers have connected
    daemon = Daemon(folder, url(*poolers), "host", options=["--lease", "2"])
    daemon.start()
    daemon.wait_joined()
    goals_made(daemon)
    wait_until("the standby has it", lambda: primary.ask("SELECT pg_current_wal_lsn() = replay_lsn FROM pg_stat_replication") == [["t"]], 10)
    primary.configure("default_transaction_read_only = on")
    primary.reload()
    standby.promote()
    begun = time.monotonic()
    wait_until("writes go to the other node", lambda: Client(daemon.socket).call("goal.create", {"title": "after"})[0] == 200, 20, 0.2)
    took = time.monotonic() - begun
    daemon.stop()
    for pooler in poolers:
        pooler.stop()
    for server in (primary, standby):
        server.stop("immediate")
    return f"after {took:.1f} s"


TESTS = [roles_change_behind_poolers, session_pooling_works, transaction_pooling_is_refused, transaction_pooling_round_robin, small_pool_is_said]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = 0
    for test in TESTS:
        if options.only and options.only not in test.__name__:
            continue
        begun = time.monotonic()
        try:
            print(f"ok pooler: {test.__name__}: {test()} ({time.monotonic() - begun:.0f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED pooler: {test.__name__}: {error}", flush=True)
            if not isinstance(error, Broken):
                traceback.print_exc()
    if not failed and not options.only:
        proof.passed("pooler", "a pooler before PostgreSQL: session pooling works, the rest is refused", "STORE-04")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
