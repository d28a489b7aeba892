# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL servers for one test: a primary, its standbys, and poolers in front of them. All listen on sockets in the test's folder."""
import atexit
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from world import STARTED, Broken, wait_until

BIN = Path(max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)))
# setpriv replaces itself by the program, so a test kills the program and not a parent that waits for it.
AS_SERVER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] if os.getuid() == 0 else []

SETTINGS = """
listen_addresses = ''
unix_socket_permissions = 0777
max_connections = 100
shared_buffers = 16MB
wal_level = replica
hot_standby = on
max_wal_senders = 8
wal_keep_size = 256MB
wal_log_hints = on
autovacuum_naptime = 10s
log_min_messages = fatal
dynamic_shared_memory_type = mmap
"""


def run(*words, within=60, check=True):
    done = subprocess.run([*AS_SERVER, *map(str, words)], cwd="/", capture_output=True, text=True, timeout=within)
    if check and done.returncode:
        raise Broken(f"{words[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done


class Server:
    """One PostgreSQL server. Its folder is the host in a URL."""

    user = "overseer"  # the superuser of the server

    def __init__(self, folder, name):
        self.folder = Path(folder) / name
        self.folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        os.chmod(folder, 0o755)
        self.data = self.folder / "data"
        self.running = False
        atexit.register(self.stop, "immediate")

    def create(self, database="fleet"):
        run(BIN / "initdb", "-D", self.data, "-A", "trust", "-U", self.user, "--no-sync")
        self.configure(f"{SETTINGS}unix_socket_directories = '{self.folder}'\n")
        self.start()
        run(BIN / "createdb", "-h", self.folder, "-U", self.user, database)
        return self

    def copy_of(self, primary, delay=False):
        """Makes this server a streaming standby, asynchronous unless the primary waits for it."""
        run(BIN / "pg_basebackup", "-h", primary.folder, "-U", primary.user, "-D", self.data, "-R", "--no-sync", "-c", "fast")
        self.configure(f"unix_socket_directories = '{self.folder}'\nprimary_conninfo = 'host={primary.folder} user={primary.user}"
                       f" application_name={self.folder.name}'\n")
        self.start()
        return self

    def configure(self, text):
        path = self.data / "postgresql.auto.conf"
        before = path.read_text() if path.exists() else ""
        run("sh", "-c", f"cat > '{path}' <<'END'\n{before}\n{text}\nEND")

    def control(self, *words, check=True):
        return run(BIN / "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", *words, check=check).returncode == 0

    def start(self):
        self.control("start")
        self.running = True

    def stop(self, mode="fast"):
        if self.running:
            self.control("-m", mode, "stop", check=False)
        self.running = False

    def promote(self):
        self.control("promote")

    def reload(self):
        self.control("reload")

    def freeze(self, off=True):
        """Stops the server and all its processes with SIGSTOP, or continues them."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in [pid, *map(int, children)]:
            try:
                os.kill(one, signal.SIGSTOP if off else signal.SIGCONT)
            except ProcessLookupError:
                pass

    def ask(self, sql, database="fleet"):
        done = run(BIN / "psql", "-XqAtF\t", "-h", self.folder, "-U", self.user, "-d", database, "-v", "ON_ERROR_STOP=1", "-c", sql)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def session(self, sql, database="fleet"):
        """A psql that stays connected after its statements, and keeps its locks, until the test closes it."""
        words = [*AS_SERVER, BIN / "psql", "-Xq", "-h", self.folder, "-U", self.user, "-d", database, "-v", "ON_ERROR_STOP=1"]
        process = subprocess.Popen([str(word) for word in words], cwd="/", stdin=subprocess.PIPE, text=True)
        process.stdin.write(f"{sql};\n")
        process.stdin.flush()
        return process

    def standbys(self):
        return int(self.ask("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")[0][0])


def url(*places, database="fleet", **more):
    """A URL that names the given servers, poolers or folders in this order."""
    folders = ",".join(str(getattr(place, "folder", place)) for place in places)
    return f"postgresql:///{database}?host={folders}&user=overseer" + "".join(f"&{key}={value}" for key, value in more.items())


class Pooler:
    """A pgbouncer in front of one server. databases: the lines of the [databases] section; without it, all databases of the server."""

    def __init__(self, folder, name, server, mode="session", size=20, more="", databases=None, access="auth_type = any"):
        self.folder = Path(folder) / name
        self.folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.config = self.folder / "pgbouncer.ini"
        self.config.write_text(f"""[databases]
{databases or f"* = host={server.folder} user=overseer"}
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = {self.folder}
unix_socket_mode = 0777
{access}
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
admin_users = overseer
log_connections = 0
log_disconnections = 0
{more}
""")
        if os.getuid() == 0:
            shutil.chown(self.config, "postgres")
        self.process = None

    def start(self):
        with open(self.folder.parent / f"{self.folder.name}.log", "ab") as log:
            self.process = subprocess.Popen([*AS_SERVER, "/usr/sbin/pgbouncer", str(self.config)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd="/")
        STARTED.append(self.process)
        wait_until("the pooler listens", lambda: (self.folder / ".s.PGSQL.5432").exists(), 10)
        return self

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        STARTED.remove(self.process)


def since(start):
    return time.monotonic() - start
