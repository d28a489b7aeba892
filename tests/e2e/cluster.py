# SPDX-License-Identifier: Apache-2.0
"""Three PostgreSQL nodes under Patroni, with etcd, a pgbouncer at each node, and a relay in front of every port of a node.

All listen on loopback. The data is on a tmpfs, because etcd syncs each write. Run as a program, this file is the relay:

cluster.py LISTEN:TARGET …       reads "hold PORT", "pass PORT" and "drop PORT" from its standard input
"""
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

TTL, LOOP, RETRY = 10, 1, 3

# ---- the relay ----


class Relay:
    """Passes bytes on. A port that is held accepts connections and passes nothing, without an error."""

    def __init__(self, pairs):
        self.held, self.links, self.lock = {listen: threading.Event() for listen, _ in pairs}, {}, threading.Lock()
        for listen, target in pairs:
            self.held[listen].set()  # set: bytes pass
            self.links[listen] = set()
            listener = socket.create_server(("127.0.0.1", listen), backlog=128)
            threading.Thread(target=self.accept, args=(listener, listen, target), daemon=True).start()

    def accept(self, listener, listen, target):
        while True:
            here, _ = listener.accept()
            threading.Thread(target=self.open, args=(here, listen, target), daemon=True).start()

    def open(self, here, listen, target):
        self.held[listen].wait()
        try:
            there = socket.create_connection(("127.0.0.1", target), 5)
        except OSError:
            here.close()
            return
        for one in (here, there):
            one.settimeout(None)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.links[listen].add((here, there))
        for a, b in ((here, there), (there, here)):
            threading.Thread(target=self.copy, args=(a, b, listen, (here, there)), daemon=True).start()

    def copy(self, source, target, listen, link):
        try:
            while data := source.recv(65536):
                self.held[listen].wait()
                with self.lock:
                    if link not in self.links[listen]:
                        break  # the link was dropped while this thread waited
                target.sendall(data)
        except OSError:
            pass
        with self.lock:
            self.links[listen].discard(link)
        for one in link:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def drop(self, listen):
        with self.lock:
            links, self.links[listen] = self.links[listen], set()
        for link in links:
            for one in link:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def serve(self):
        for line in sys.stdin:
            verb, port = line.split()
            if verb == "drop":
                self.drop(int(port))
            elif verb == "hold":
                self.held[int(port)].clear()
            else:
                self.held[int(port)].set()
            print("done", flush=True)


if __name__ == "__main__":
    Relay([tuple(map(int, word.split(":"))) for word in sys.argv[1:]]).serve()
    sys.exit(0)

from servers import AS_SERVER, BIN  # noqa: E402
from world import STARTED, Broken, Postgres, ports_free, wait_until  # noqa: E402

SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's patroni has its modules for this one


def start(words, log, **more):
    with open(log, "ab") as file:
        process = subprocess.Popen([str(word) for word in words], stdin=more.pop("stdin", subprocess.DEVNULL), stdout=more.pop("stdout", file), stderr=file,
                                   cwd="/", **more)
    STARTED.append(process)
    return process


def end(process, number=signal.SIGKILL):
    if process and process.poll() is None:
        process.send_signal(number)
        process.wait(30)
    if process in STARTED:
        STARTED.remove(process)


def below(pid):
    """A process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid] + [one for child in children for one in below(int(child))]


class Etcd:
    def __init__(self, folder, ports):
        self.folder, self.process = folder, None
        self.port, self.peer = ports

    def start(self):
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer}"
        self.process = start([*AS_SERVER, "/usr/bin/etcd", "--data-dir", self.folder / "etcd", "--enable-v2=true", "--listen-client-urls", client,
                              "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                              "--initial-cluster", f"default={peer}", "--log-level", "error"], self.folder / "etcd.log")
        wait_until("etcd answers", self.answers, 20, 0.1)

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as answer:
                return json.load(answer)["health"] == "true"
        except (OSError, ValueError):
            return False

    def kill(self):
        end(self.process)


class Node:
    """A server, its patroni and its pgbouncer."""

    def __init__(self, cluster, number, ports):
        self.cluster, self.name = cluster, f"node{number}"
        self.folder = cluster.folder / self.name
        self.folder.mkdir()
        self.data = self.folder / "data"
        (self.postgres, self.rest, self.bouncer, self.for_clients, self.for_peers, self.for_rest, self.for_etcd, self.for_pool) = ports
        self.patroni = self.pool = None

    def relayed(self):
        return [(self.for_clients, self.postgres), (self.for_peers, self.postgres), (self.for_rest, self.rest), (self.for_pool, self.bouncer),
                (self.for_etcd, self.cluster.etcd.port)]

    def settings(self):
        dcs = {"ttl": TTL, "loop_wait": LOOP, "retry_timeout": RETRY, "maximum_lag_on_failover": 1 << 30, "synchronous_mode": self.cluster.synchronous,
               "postgresql": {"use_pg_rewind": True, "use_slots": False,
                              "parameters": {"max_connections": 100, "shared_buffers": "16MB", "wal_keep_size": "512MB", "max_wal_senders": 10,
                                             "wal_log_hints": "on", "autovacuum_naptime": "10s",
                                             "dynamic_shared_memory_type": "mmap"}}}
        account = {"username": "postgres", "password": "postgres"}
        return {"scope": "fleet", "name": self.name, "etcd": {"hosts": [f"127.0.0.1:{self.for_etcd}"], "use_proxies": True},
                "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.for_rest}"},
                "bootstrap": {"dcs": dcs, "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "no-sync"]},
                "postgresql": {"listen": f"127.0.0.1:{self.postgres}", "connect_address": f"127.0.0.1:{self.for_peers}", "data_dir": str(self.data),
                               "bin_dir": str(BIN), "basebackup": [{"checkpoint": "fast"}], "pgpass": str(self.folder / "pgpass"),
                               "authentication": {"superuser": account, "replication": account, "rewind": account},
                               "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                               "parameters": {"unix_socket_directories": str(self.folder)}}}

    def prepare(self):
        config = self.folder / "patroni.yml"
        config.write_text(json.dumps(self.settings(), indent=1))  # JSON is also YAML
        (self.folder / "pgbouncer.ini").write_text(f"""[databases]
* = host=127.0.0.1 port={self.postgres} user=overseer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.bouncer}
unix_socket_dir =
auth_type = any
pool_mode = session
default_pool_size = 40
max_client_conn = 200
server_login_retry = 1
server_fast_close = 1
""")
        if os.getuid() == 0:
            for path in (self.folder, *self.folder.iterdir()):
                shutil.chown(path, "postgres")

    def start(self):
        self.patroni = start([*AS_SERVER, SYSTEM_PYTHON, "/usr/bin/patroni", self.folder / "patroni.yml"], self.folder.parent / f"{self.name}.log")
        self.pool_start()

    def pool_start(self):
        self.pool = start([*AS_SERVER, "/usr/sbin/pgbouncer", self.folder / "pgbouncer.ini"], self.folder.parent / f"{self.name}.pool.log")

    def pool_kill(self):
        end(self.pool)

    def server(self):
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError, ValueError):
            return 0

    def signal(self, number, pool=True):
        """Sends a signal to each process of the node; the server comes first, so that nothing answers for it."""
        pids = below(self.server()) if self.server() else []
        for process in (self.patroni, self.pool if pool else None):
            pids += below(process.pid) if process and process.poll() is None else []
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self.signal(signal.SIGKILL)
        end(self.patroni)
        end(self.pool)

    def kill_server(self):
        for pid in below(self.server()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def ask_rest(self, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest}{path}", json.dumps(body).encode() if body else None)
        try:
            with urllib.request.urlopen(request, timeout=3 if not body else 30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def ask(self, sql, database="postgres", user="postgres", within=5):
        try:
            done = subprocess.run([BIN / "psql", "-XqAtF\t", "-P", "null=\\N", "-h", "127.0.0.1", "-p", str(self.postgres), "-U", user, "-d", database, "-v", "ON_ERROR_STOP=1",
                                   "-c", sql], capture_output=True, text=True, timeout=within, check=False)
        except subprocess.TimeoutExpired:
            return None
        return [line.split("\t") for line in done.stdout.splitlines()] if done.returncode == 0 else None


class Cluster:
    def __init__(self, synchronous=True, count=3):
        self.synchronous, self.count = synchronous, count
        self.etcd = self.relay = None
        self.nodes, self.made_anew = [], []
        atexit.register(self.end)

    def prepare(self):
        self.folder = Path(tempfile.mkdtemp(prefix="overseer-patroni.", dir="/dev/shm" if shutil.disk_usage("/dev/shm").free > 2 << 30 else None))
        os.chmod(self.folder, 0o755)
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        if not os.environ.get("OVERSEER_KEEP"):
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        ports = ports_free(2 + 8 * self.count)
        self.etcd = Etcd(self.folder, ports[:2])
        self.nodes = [Node(self, i + 1, ports[2 + 8 * i:10 + 8 * i]) for i in range(self.count)]
        for node in self.nodes:
            node.prepare()

    def start(self, times=3):
        """Patroni gives up a disturbed bootstrap and leaves nothing to continue with: the test then begins anew, in another folder and on other
        ports."""
        for left in reversed(range(times)):
            self.prepare()
            try:
                return self.bootstrap()
            except Broken as error:
                print(f"    the cluster does not start: {error}\n{self.said(20)}", flush=True)
                self.end()
                if not left:
                    raise

    def bootstrap(self):
        self.etcd.start()
        pairs = [f"{listen}:{target}" for node in self.nodes for listen, target in node.relayed()]
        self.relay = start([sys.executable, __file__, *pairs], self.folder / "relay.log", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.nodes[0].start()
        wait_until("the first node is the primary", self.leads, 20, 0.2)
        for node in self.nodes[1:]:
            node.start()
        wait_until("the cluster is whole", self.whole, 45, 0.3)
        leader = self.leader()
        for sql in ("CREATE ROLE overseer LOGIN", "CREATE DATABASE fleet OWNER overseer"):
            if leader.ask(sql) is None:
                raise Broken(f"not done: {sql}")

    def leads(self):
        if self.nodes[0].patroni.poll() is not None:
            raise Broken("patroni of the first node has ended")
        return self.leader()

    def end(self):
        for node in self.nodes:
            node.signal(signal.SIGCONT)
            node.kill()
        if self.etcd:
            self.etcd.kill()
        end(self.relay)

    def tell_relay(self, verb, *ports):
        for port in ports:
            self.relay.stdin.write(f"{verb} {port}\n")
            self.relay.stdin.flush()
            self.relay.stdout.readline()

    def cut(self, node, off=True):
        """Cuts the node off: no client reaches it, and it does not reach etcd."""
        self.tell_relay("hold" if off else "pass", *(listen for listen, _ in node.relayed()))

    def url(self, pooled=False):
        ports = ",".join(str(node.for_pool if pooled else node.for_clients) for node in self.nodes)
        return f"postgresql:///fleet?host={','.join('127.0.0.1' for _ in self.nodes)}&port={ports}&user=overseer"

    def leader(self, besides=None):
        """The node that has the lock and accepts writes."""
        for node in self.nodes:
            if node is not besides and node.ask_rest("/primary")[0] == 200 and node.ask("SELECT pg_is_in_recovery()") == [["f"]]:
                return node
        return None

    def standbys(self):
        leader = self.leader()
        return [node for node in self.nodes if node is not leader]

    def synchronous_standby(self):
        return next((node for node in self.nodes if node.ask_rest("/sync")[0] == 200), None)

    def whole(self):
        leader = self.leader()
        if not leader or any(node.ask_rest("/replica")[0] != 200 for node in self.nodes if node is not leader):
            return False
        states = leader.ask("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn >= pg_current_wal_lsn() - 1000000::numeric")
        if states is None or len(states) != len(self.nodes) - 1:
            return False
        return not self.synchronous or (self.synchronous_standby() is not None and [["sync"]] == [one for one in states if one == ["sync"]])

    def wait_whole(self, what, within=90, patience=45):
        """Patroni sometimes lets an old primary follow without a rewind, and it never catches up: the test then reinitializes it, as an operator
        would."""
        try:
            return wait_until(what, self.whole, patience, 0.3)
        except Broken:
            leader = wait_until("there is a primary", self.leader, within, 0.3)
        follow = leader.ask("SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'")
        for node in self.nodes:
            if follow is not None and node is not leader and [node.name] not in follow:
                self.made_anew.append((node.name, node.ask_rest("/reinitialize", {"force": True})))
        return wait_until(what, self.whole, within, 0.3)

    def said(self, lines=6):
        """The last lines of each patroni log, to find a cause."""
        logs = [(node.name, self.folder / f"{node.name}.log") for node in self.nodes]
        return "\n".join(f"    {name}: {line}" for name, log in logs if log.exists()
                         for line in log.read_text(errors="replace").splitlines()[-lines:])


class ClusterStore(Postgres):
    """The store of the primary, which a verification reads."""

    def __init__(self, cluster):
        self.cluster, self.name = cluster, "fleet"

    def run(self, sql):
        leader = wait_until("there is a primary", self.cluster.leader, 30, 0.2)
        rows = leader.ask(sql, "fleet", "overseer", 300)
        if rows is None:
            raise Broken(f"not answered: {sql[:200]}")
        return rows
