# SPDX-License-Identifier: Apache-2.0
"""A clean Debian 12 that a test enters: made by mmdebstrap, entered by pivot_root in namespaces of its own.

After a chroot an ordinary user cannot make a user namespace, so bubblewrap would not work. After pivot_root it does.
Needs root. Processes that are started inside end with it. There is no service manager inside.
"""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWIPC, NEWPID = 0x20000, 0x8000000, 0x20000000
MS_BIND, MS_REC, MS_PRIVATE, DETACH = 0x1000, 0x4000, 0x40000, 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
USER, UID = "ana", 1000
HOME = Path("/", "home", USER)


def kernel(name, *words):
    if getattr(LIBC, name)(*words) != 0:
        raise OSError(ctypes.get_errno(), f"{name}{words}: {os.strerror(ctypes.get_errno())}")


def mount(what, where, kind=None, flags=0):
    kernel("mount", what.encode(), where.encode(), kind and kind.encode(), flags, None)


# ---- made ----

def sources():
    """The host's own sources of Debian, so that the root comes from where the host's packages come from."""
    for place in ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"):
        if Path(place).exists() and "bookworm" in Path(place).read_text(encoding="utf-8"):
            return [place]
    return []


def apt_options():
    """The host's proxies and its rules about them, also for apt inside."""
    told = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    kept = re.findall(r'^(Acquire::(?:\S*Proxy\S*|Check-Valid-Until|Retries) ".+";)$', told, re.M)
    return [f"--aptopt={line}" for line in [*kept, 'Acquire::Languages "none";', 'Acquire::Retries "3";']]


def root_make(folder, packages):
    """A Debian 12 in a folder, with these packages besides the essential ones, and one ordinary user."""
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", "--skip=cleanup/apt", "--format=directory",
                    f"--include={','.join(packages)}", *apt_options(), "bookworm", str(folder), *sources()], check=True,
                   stdin=subprocess.DEVNULL)
    for name, line in (("passwd", f"{USER}:x:{UID}:{UID}:Ana:{HOME}:/bin/bash"), ("group", f"{USER}:x:{UID}:"),
                       ("shadow", f"{USER}:*:20000:0:99999:7:::")):
        with open(folder / "etc" / name, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    shutil.copytree(folder / "etc/skel", folder / HOME.relative_to("/"))
    for path in [folder / HOME.relative_to("/"), *(folder / HOME.relative_to("/")).rglob("*")]:
        os.chown(path, UID, UID)
    for name in ("resolv.conf", "hosts"):  # mmdebstrap removes the host's when it ends
        shutil.copy(Path("/etc") / name, folder / "etc" / name)


# ---- entered ----

def root_become(folder):
    """This process has the folder as its root from now on, and nothing else of the host's files."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    mount(str(folder), str(folder), flags=MS_BIND | MS_REC)
    mount("/dev", f"{folder}/dev", flags=MS_BIND | MS_REC)
    mount("proc", f"{folder}/proc", "proc")
    for place in ("tmp", "run"):
        mount("tmpfs", f"{folder}/{place}", "tmpfs")
    os.chmod(f"{folder}/tmp", 0o1777)
    os.chmod(f"{folder}/run", 0o755)
    os.chdir(folder)
    if LIBC.syscall(SYS_PIVOT_ROOT, b".", b".") != 0:  # the old root lies on the new one now, and goes
        raise OSError(ctypes.get_errno(), "pivot_root")
    kernel("umount2", b".", DETACH)
    os.chdir("/")


def first_process(folder, ready):
    """The first process of the namespaces: it does nothing but collect the processes that have lost their parent."""
    try:
        root_become(folder)
        os.write(ready, b"ready")
        os.close(ready)
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                signal.sigtimedwait({signal.SIGCHLD}, 1)
    except BaseException as trouble:  # this process must never return into the test
        os.write(2, f"clean_root: {trouble}\n".encode())
    os._exit(1)


class CleanRoot:
    def __init__(self, packages):
        self.folder = Path(tempfile.mkdtemp(prefix="overseer-root."))
        self.folder.chmod(0o755)
        self.outer = self.inner = None
        root_make(self.folder, packages)
        self.enter()

    def enter(self):
        """Starts the first process. A process between them takes the new namespaces, so that the test keeps its own."""
        said, say = os.pipe()
        self.outer = os.fork()
        if self.outer == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            kernel("unshare", NEWNS | NEWIPC | NEWPID)
            inner = os.fork()
            if inner == 0:
                first_process(self.folder, say)
            os.write(say, f"{inner:8}".encode())
            os.close(say)
            os.waitpid(inner, 0)
            os._exit(0)
        os.close(say)
        with os.fdopen(said, "rb") as file:  # both write once, in either order; then the end of the file
            text = file.read().decode()
        if "ready" not in text:
            raise OSError("the clean root cannot be entered")
        self.inner = int(text.replace("ready", ""))

    def words(self, user, words, folder):
        enter = ["nsenter", "--target", str(self.inner), "--mount", "--ipc", "--pid", "--root", f"--wdns={folder}"]
        home = HOME if user == USER else Path("/", "root")
        names = {"HOME": str(home), "USER": user, "LOGNAME": user, "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash",
                 "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        become = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--init-groups"] if user == USER else []
        return [*enter, "env", "-i", *(f"{name}={value}" for name, value in names.items()), *become, *words]

    def start(self, *words, user=USER, folder=None, **options):
        return subprocess.Popen(self.words(user, words, folder or (HOME if user == USER else "/")), **options)

    def run(self, *words, user=USER, folder=None, within=120):
        """(exit status, all output) of a command; one word is a line for bash."""
        words = list(words) if len(words) > 1 else ["bash", "-euc", words[0]]
        done = subprocess.run(self.words(user, words, folder or (HOME if user == USER else "/")), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=within)
        return done.returncode, done.stdout

    def path(self, inside):
        """Where a file of the root is for the test. tmp and run are file systems of their own, so their files are not there."""
        return self.folder / str(inside).lstrip("/")

    def close(self):
        if self.inner:
            os.kill(self.inner, signal.SIGKILL)  # with it, every process inside
            os.waitpid(self.outer, 0)
        shutil.rmtree(self.folder, ignore_errors=True)
