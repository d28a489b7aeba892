# SPDX-License-Identifier: Apache-2.0
"""The protocol of a hold, implemented a second time from the text of docs/hold.md, so that the two check each other."""
import os
import socket
import struct
import subprocess

(HELLO, ATTACH, ACK, WRITE, WROTE, SIGNAL, FREEZE, THAW, LOOK, STOP, COLLECT, RESIZE, CLOSE, FREEZE_FOR,
 THAW_FOR, RENEW) = range(1, 17)
ANSWER, DATA, RECEIPT, STATUS, END = range(64, 69)
DONE, STALE, NOBODY, EARLY, RANGE, UNGREETED, FAILED = range(7)
WRITTEN, ALREADY, NOT, MAYBE, QUEUED, UNKNOWN, FULL = range(7)
RUNNING, EXITED, ENDED, FROZEN, ORPHANED, AT_CAP, STOPPING, PTY, INPUT_CLOSED, LOST_ERRORS, FROZEN_MEASURE, FROZEN_PAUSE, \
    FROZEN_DISK, FROZEN_OVERAGE = (1 << n for n in range(14))
MEASURE, PAUSE, ORPHAN, DISK, OVERAGE = 1, 2, 4, 8, 16
FIELDS = "flags pid agent_pid exit trouble queued started agent_started fence begin acked end cap".split()


class Hold:
    """A hold that the test started, or that runs in a folder."""

    def __init__(self, program, folder, *argv, options=(), environment=None, starts=True):
        self.folder = str(folder)
        self.word = ""
        if argv:
            run = subprocess.run([program, "--dir", self.folder, *options, "--", *argv], capture_output=True, text=True,
                                 env=environment, stdin=subprocess.DEVNULL, timeout=60)
            self.word, self.code = run.stdout.strip(), run.returncode
            if starts:
                assert self.code == 0 and self.word.startswith("hold "), (self.code, self.word, run.stderr)
                self.pid = int(self.word.split()[1])
                self.agent = int(self.word.split()[4])

    def visit(self, fence=None, attach=None, version=2):
        return Visit(self.folder, fence, attach, version=version)


class Visit:
    """One connection. It keeps what arrives unasked: data, the newest status, the end."""

    def __init__(self, folder, fence=None, attach=None, timeout=60, version=2):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        place = os.open(folder, os.O_PATH)
        try:
            self.socket.connect(f"/proc/self/fd/{place}/hold.sock")
        finally:
            os.close(place)
        self.buffer = bytearray()
        self.data, self.at, self.end, self.status, self.receipts = bytearray(), None, None, None, {}
        if fence is not None:
            self.hello = self.ask(HELLO, struct.pack("<QI", fence, version))
        if attach is not None:
            verdict, _ = self.attach(attach)
            assert verdict == DONE, verdict

    def close(self):
        self.socket.close()

    def send(self, kind, body=b""):
        self.socket.sendall(struct.pack("<IB", 1 + len(body), kind) + body)

    def take(self):
        """The next frame; None: the other side has closed the connection."""
        while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack_from("<I", self.buffer)[0]:
            got = self.socket.recv(1 << 16)
            if not got:
                return None
            self.buffer += got
        length = struct.unpack_from("<I", self.buffer)[0]
        kind, body = self.buffer[4], bytes(self.buffer[5:4 + length])
        del self.buffer[:4 + length]
        self.notice(kind, body)
        return kind, body

    def notice(self, kind, body):
        if kind == DATA:
            offset = struct.unpack_from("<Q", body)[0]
            if self.at is None:
                self.at = offset
            assert offset == self.at + len(self.data), "output in order"
            self.data += body[8:]
        elif kind == END:
            self.end = struct.unpack("<Q", body)[0]
        elif kind == STATUS:
            values = struct.unpack("<6I7Q16s", body)
            self.status = dict(zip(FIELDS, values), boot=values[-1])
        elif kind == RECEIPT:
            self.receipts[body[:16]] = body[16]

    def until(self, met):
        while not met():
            if self.take() is None:
                raise EOFError("the hold is gone")

    def ask(self, kind, body=b""):
        self.send(kind, body)
        while True:
            frame = self.take()
            if frame is None:
                return None
            if frame[0] == ANSWER and frame[1][0] == kind:
                return frame[1][1], struct.unpack_from("<Q", frame[1], 2)[0]

    def attach(self, offset):
        return self.ask(ATTACH, struct.pack("<Q", offset))

    def ack(self, offset):
        self.send(ACK, struct.pack("<Q", offset))

    def write(self, name, data):
        self.receipts.pop(name, None)
        self.send(WRITE, name + data)
        self.until(lambda: name in self.receipts)
        return self.receipts[name]

    def wrote(self, name):
        self.receipts.pop(name, None)
        self.send(WROTE, name)
        self.until(lambda: name in self.receipts)
        return self.receipts[name]

    def look(self):
        self.send(LOOK)
        self.wrote(bytes(16))  # the hold answers it after the look: a status that came unasked is older
        return self.status

    def freeze(self, reason, expires_ms=0):
        return self.ask(FREEZE_FOR, struct.pack("<IQ", reason, expires_ms))

    def thaw(self, reason):
        return self.ask(THAW_FOR, struct.pack("<I", reason))

    def renew(self, boot_ms):
        """Has no answer."""
        self.send(RENEW, struct.pack("<Q", boot_ms))

    def stop(self, grace_ms):
        return self.ask(STOP, struct.pack("<I", grace_ms))

    def flags(self, wanted):
        """Waits until the status has these flags."""
        self.look()
        self.until(lambda: self.status["flags"] & wanted == wanted)

    def collect(self):
        """Reads to the end and collects the exit status, which ends the hold. Returns the exit status."""
        self.look()
        if not self.status["flags"] & ENDED:
            self.until(lambda: self.status["flags"] & ENDED)
        self.ack(self.look()["end"])
        verdict, status = self.ask(COLLECT)
        assert verdict == DONE, verdict
        assert self.take() is None, "the hold ends when it was collected"
        return status
