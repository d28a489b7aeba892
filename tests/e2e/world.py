# SPDX-License-Identifier: Apache-2.0
"""The base of the end-to-end tests: real daemons, real databases, and clients of the socket."""
import atexit
import http.client
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OVERSEER_BUILD", TOP / "build"))
OVERSEERD = BUILD / "overseerd"
OVERSEERD_SEAMS = BUILD / "tests" / "e2e" / "overseerd-seams"
OVERSEER = BUILD / "overseer"

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Unreachable(Exception):
    """No answer arrived: the client does not know whether the daemon carried out the request."""


class Broken(Exception):
    """A promise of the daemon does not hold; the test cannot continue."""


# How much slower than the developers' machine this machine may be. A wait for an event lasts longer by this factor; that hides no fault. A
# promised time (`bound`) stays the same on every machine.
TIMEOUT_SCALE = float(os.environ.get("OVERSEER_TIMEOUT_SCALE", "1"))


def wait_until(what, question, within, every=0.02, bound=False):
    """Returns the first true answer, or raises Broken. bound: the time limit itself is the promise."""
    within *= 1 if bound else TIMEOUT_SCALE
    end = time.monotonic() + within
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() >= end:
            raise Broken(f"not within {within:g} s: {what}")
        time.sleep(every)


def id_text(raw):
    value, text = int.from_bytes(raw, "big"), ""
    for _ in range(26):
        text = DIGITS[value & 31] + text
        value >>= 5
    return text


def goal_text(raw):
    return "goal_" + id_text(raw)


# ---- the client ----

class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("overseer", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """One keep-alive connection. Two threads must not use it at once."""

    def __init__(self, path, timeout=30):
        patience = TIMEOUT_SCALE if timeout >= 10 else 1  # a shorter timeout is the subject of the test
        self.path, self.timeout, self.connection = path, timeout * patience, None

    def request(self, method, url, body=None):
        try:
            if not self.connection:
                self.connection = UnixConnection(self.path, self.timeout)
            self.connection.request(method, url, body)
            response = self.connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Unreachable(f"{type(error).__name__}: {error}") from error

    def call(self, method, params):
        """(HTTP status, result or None, error or None)."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        status, answer = self.request("POST", "/rpc", body)
        return status, answer.get("result"), answer.get("error")

    def result_of(self, method, params, times=200):
        """Calls the method, and calls it again as long as the daemon refuses it with a transient error."""
        for _ in range(times):
            _, result, error = self.call(method, params)
            if result is not None:
                return result
            if error["data"]["class"] != "transient":
                raise Broken(f"{method}: {error}")
            time.sleep(0.05)
        raise Broken(f"{method} is never answered")

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


# ---- the daemon ----

# The daemon restarts agents that fail often at once.
SUPERVISION = """[supervision]
enabled = true
tick_every = "1s"
idle_after = "60s"
min_resend_interval = "0s"
verify_by_person = false
backoff.base = "1s"
backoff.max = "1s"
max_attempts = 100
max_restarts = 50
"""

# One program runs for each task, without a limit and without a sandbox. {script}: the program.
MANY_COMMANDS = """[escalation]
desktop = false
[caps]
at_once = 0
actions_per_minute = 100000
[sandbox]
mode = "off"
[[agents]]
id = "coder"
driver = "command"
program = "{script}"
"""

STARTED = []


def end_all():
    for process in STARTED:
        if process.poll() is None:
            process.kill()
            process.wait()


atexit.register(end_all)


class Daemon:
    def __init__(self, folder, store, name="overseerd", program=OVERSEERD, options=(), environment=None):
        self.socket = Path(folder) / f"{name}.sock"
        self.log = Path(folder) / f"{name}.log"
        self.command = [str(program), "--store", store, "--socket", str(self.socket), *options]
        self.environment = {**os.environ, "OVERSEER_CONFIG": "/dev/null", **(environment or {})}  # not the settings of the user who runs the tests
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment)
        STARTED.append(self.process)

    def health(self, timeout=2):
        client = Client(self.socket, timeout)
        try:
            return client.request("GET", "/healthz")[1]
        except Unreachable:
            return {}
        finally:
            client.close()

    def spooled(self):
        """Bytes of reports in the spool, which wait for the store."""
        spool = self.socket.with_suffix(".state") / "spool"
        return spool.stat().st_size if spool.exists() else 0

    def alive(self):
        if self.process.poll() is not None:
            raise Broken(f"the daemon ended by itself with {self.process.returncode}: {self.log_tail()}")
        return True

    def wait_joined(self, within=15, also_well=False):
        def joined():
            self.alive()
            health = self.health()
            return health.get("joined") and (health["ok"] or not also_well)
        return wait_until("the daemon has joined its store", joined, within, every=0.005)

    def kill(self):
        self.alive()
        self.process.kill()
        self.process.wait()
        STARTED.remove(self.process)

    def stop(self, within=15):
        """Stops the daemon with SIGTERM, as systemd does."""
        self.alive()
        self.process.terminate()
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"the daemon does not stop within {within} s") from error
        STARTED.remove(self.process)
        if code != 0:
            raise Broken(f"the daemon ended with {code} after SIGTERM: {self.log_tail()}")

    def signal(self, number):
        self.alive()
        os.kill(self.pid, number)

    def is_stopped(self):
        self.alive()
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    def log_tail(self, lines=5):
        return " / ".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def promises_broken(self):
        """Lines of the daemon's log that must never occur."""
        bad = ("an internal check failed", "Sanitizer", "runtime error", "out of memory")
        return [line for line in self.log.read_text(errors="replace").splitlines() if any(word in line for word in bad)]


# ---- databases ----

# Columns that the tests read: i integer, b bytes or an id, t text.
TABLES = {
    "host": "host_id:i epoch:i beat:i batch:i state:i",
    "goal": "goal_id:b owner:i fence:i version:i seq:i head:b due_at:i open:i aside:i hot:b",
    "goal_view": "goal_id:b face:i title:t",
    "effect": "goal_id:b n:i run_host:i state:i kind:i until:i",
    "record": "goal_id:b seq:i at:i type:i core:i policy:b hash:b body_hash:b body:b tx:i",
    "inbox": "source:b to_host:i goal_id:b",
    "seen": "goal_id:b source:b",
    "aside": "goal_id:b source:b why:t",
}
UUIDS = {"goal_id", "source"}


def columns_of(table):
    return [column.split(":") for column in TABLES[table].split()]


class Sqlite:
    engine = "sqlite"

    def __init__(self, folder):
        self.path = Path(folder) / "overseer.db"
        self.uri = f"sqlite:{self.path}"

    def connect(self):
        return sqlite3.connect(self.path, timeout=10, isolation_level=None, check_same_thread=False)

    def run(self, sql, *values):
        with self.connect() as connection:
            return connection.execute(sql, values).fetchall()

    def read(self, table, where="1 = 1"):
        columns = columns_of(table)
        connection = self.connect()
        rows = connection.execute(f"SELECT {', '.join(name for name, _ in columns)} FROM {table} WHERE {where}")
        names = [name for name, _ in columns]
        out = [dict(zip(names, row)) for row in rows]
        connection.close()
        return out

    def count(self, what):
        return int(self.run(f"SELECT count(*) FROM {what}")[0][0])

    def id(self, raw):
        return f"x'{raw.hex()}'"

    def bytes(self, raw):
        return f"x'{raw.hex()}'"

    def sound(self):
        return self.run("PRAGMA integrity_check")[0][0]


class Psql:
    """A psql that keeps running, so that a query does not start a process."""

    def __init__(self, database):
        self.process = subprocess.Popen(
            [os.environ["PGBIN"] + "/psql", "-XqAtF\t", "-P", "null=\\N", "-d", database], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        STARTED.append(self.process)

    def ask(self, sql):
        self.process.stdin.write(f"{sql};\n\\echo =end=\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == "=end=":
                return rows
            if line.startswith(("ERROR:", "FATAL:", "psql:")):
                raise Broken(f"psql: {line} for {sql[:200]}")
            rows.append(line.split("\t"))
        raise Broken("psql went away")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        STARTED.remove(self.process)


class Postgres:
    """A new database in the server that tests/lib/with-postgres started."""
    engine = "postgres"

    def __init__(self, name):
        self.name = name
        self.bin, self.data, self.host = os.environ["PGBIN"], os.environ["PGDATA"], os.environ["PGHOST"]
        self.uri = f"postgresql:///{name}?host={self.host}&user=overseer"
        self.as_server = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run([f"{self.bin}/createdb", name], check=True, timeout=60)

    def connect(self):
        return Psql(self.name)

    def run(self, sql):
        done = subprocess.run([f"{self.bin}/psql", "-XqAtF\t", "-P", "null=\\N", "-v", "ON_ERROR_STOP=1", "-d", self.name],
                              input=sql, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Broken(f"psql: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def read(self, table, where="true"):
        columns = columns_of(table)

        def shown(name, kind):
            if kind == "b":
                return f"encode({'uuid_send(' + name + ')' if name in UUIDS else name}, 'hex')"
            return f"{name}::int8" if kind == "i" and name not in ("open", "aside") else \
                f"{name}::int" if kind == "i" else f"encode(convert_to({name}, 'UTF8'), 'hex')"

        def value(text, kind):
            if text == "\\N":
                return None
            return int(text) if kind == "i" else bytes.fromhex(text) if kind == "b" else bytes.fromhex(text).decode()
        rows = self.run(f"SELECT {', '.join(shown(*column) for column in columns)} FROM {table} WHERE {where}")
        return [{name: value(text, kind) for (name, kind), text in zip(columns, row)} for row in rows]

    def count(self, what):
        return int(self.run(f"SELECT count(*) FROM {what}")[0][0])

    def id(self, raw):
        return f"'{raw.hex()}'::uuid"

    def bytes(self, raw):
        return f"'\\x{raw.hex()}'::bytea"

    def sound(self):
        return "ok"

    # the server itself

    def control(self, *words, within=60):
        done = subprocess.run([*self.as_server, f"{self.bin}/pg_ctl", "-D", self.data, "-w", *words], cwd="/",
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=within)
        return done.returncode == 0

    def server_stop(self, mode):
        if not self.control("-m", mode, "stop"):
            raise Broken(f"PostgreSQL does not stop ({mode})")

    def server_start(self):
        if not self.control("-l", str(Path(self.data).parent / "log"), "start"):
            raise Broken("PostgreSQL does not start again")


def folder_make(name):
    """Makes a folder under /tmp, because the path of a socket must be short."""
    folder = Path(tempfile.mkdtemp(prefix=f"overseer-{name}.", dir=os.environ.get("OVERSEER_FOLDERS", "/tmp")))
    if not os.environ.get("OVERSEER_KEEP"):
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def store_make(engine, folder, name="e2e"):
    return Sqlite(folder) if engine == "sqlite" else Postgres(f"{name}_{os.getpid()}")


def under_postgres(arguments):
    """Starts this program again under tests/lib/with-postgres, unless it already runs there."""
    if "OVERSEER_TEST_PG" in os.environ:
        return
    os.environ.setdefault("PG_SHARED_BUFFERS", "64MB")
    program = str(TOP / "tests" / "lib" / "with-postgres")
    os.execv(program, [program, *arguments])


def ports_free(count):
    """Distinct free TCP ports. They are below the kernel's ephemeral range, so the kernel gives them to no connection in the meantime."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = set()
    for port in random.sample(range(10000, first if first > 20000 else 60000), 1000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                ports.add(port)
            except OSError:
                continue
        if len(ports) == count:
            return sorted(ports)
    raise Broken(f"no {count} free TCP ports")


def port_free():
    return ports_free(1)[0]


def seam_arm(path, line):
    """Writes the seam file by rename, so that the daemon reads all of it or nothing."""
    new = Path(str(path) + ".new")
    new.write_text(line + "\n")
    new.rename(path)
