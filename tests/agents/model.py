#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripted model that agent programs talk to in the tests.

  model.py [--port N] [--script FILE] [--log FILE] [--plain]

Speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini, on loopback only, and answers as the
script in the prompt says (script.py), else as the file says, else "OK.". Each request is two lines of the log: "asked"
when it arrives, "answered" or "gone" when it is over. The log never contains a key.

A request without tools is a side request of the agent (a title, a summary): the answer is "OK.", unless --plain.
Prints "model http://127.0.0.1:PORT" when it listens. In Python: `with Model() as model: model.url, model.log()`.
"""
import argparse
import json
import re
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from dialects import Anthropic, Chat, Gemini, Responses
from script import Part, Plan, ScriptError, ScriptFile, call_make, plan_make

PIECE = 24           # characters per piece of a text
GATHER = 16384       # bytes of a flood that are sent at once
LOOK_S = 0.1         # interval of the checks whether a client has gone
BODY_MAX = 64 << 20
TEXT_LOGGED = 400
HEADERS_LOGGED = ("user-agent", "anthropic-version", "anthropic-beta", "x-stainless-retry-count", "session_id", "originator")
SAYS, CALLS = ("say", "drip", "flood", "block"), ("call", "run", "ask", "write")

ROUTES = [  # (pattern of the path, dialect, whether it streams; None: the request says)
    (re.compile(r"/messages$"), Anthropic, None),
    (re.compile(r"/responses$"), Responses, None),
    (re.compile(r"/chat/completions$"), Chat, None),
    (re.compile(r":generateContent$"), Gemini, False),
    (re.compile(r":streamGenerateContent$"), Gemini, True),
]


class Gone(Exception):
    """The client went away."""


def pieces_of(text, size=PIECE):
    return [text[at:at + size] for at in range(0, len(text), size)] or [""]


def models_list(path):
    """One list for several vendors: their members have different names."""
    if "/v1beta" in path:
        return {"models": [{"name": "models/scripted", "supportedGenerationMethods": ["generateContent", "countTokens"]}]}
    row = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted", "created": 0,
           "created_at": "2026-01-01T00:00:00Z", "owned_by": "tests"}
    return {"object": "list", "data": [row], "has_more": False, "first_id": "scripted", "last_id": "scripted", "models": []}


class Answer:
    """The answer to one request, part by part. Sends nothing before the first part that has something to send."""

    def __init__(self, handler, dialect, plan, stream, listed):
        self.handler, self.dialect, self.plan = handler, dialect, plan
        self.stream, self.listed = stream and not listed, listed
        self.begun, self.stop, self.status = False, "end", 200
        self.headers = {}
        dialect.step = plan.step

    def begin(self):
        if not self.begun:
            self.begun = True
            if self.stream:
                self.handler.stream_begin(self.headers)
            self.send(self.dialect.start())

    def send(self, events, gather=0):
        """Makes the events even without a stream: the whole answer is built from them."""
        waiting = b""
        for name, data in events:
            if not self.stream:
                continue
            head = f"event: {name}\n" if name else ""
            waiting += f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
            if len(waiting) > gather:
                self.handler.stream_send(waiting)
                waiting = b""
        if waiting:
            self.handler.stream_send(waiting)

    # ---- the verbs; False: the answer is over ----

    def do_say(self, text):
        self.begin()
        self.dialect.said += len(text)
        self.send(self.dialect.text(pieces_of(text)))

    def do_block(self, value):
        self.do_say(f"It is as follows.\n```json\n{json.dumps(value)}\n```\n")

    def do_drip(self, seconds, text):
        self.begin()
        self.dialect.said += len(text)
        pieces = pieces_of(text, 8)

        def slowly():
            for piece in pieces:
                self.handler.wait(seconds / len(pieces))
                yield piece
        self.send(self.dialect.text(slowly()))

    def do_flood(self, count):
        self.begin()
        self.dialect.said += 4 * count
        self.send(self.dialect.text("tok%d " % (at % 10) for at in range(count)), GATHER)

    def do_call(self, part):
        name, arguments = call_make(part, self.dialect.tools())
        self.begin()
        self.stop = "call"
        self.dialect.said += len(json.dumps(arguments))
        self.send(self.dialect.call(name, arguments))

    def do_think(self, seconds):
        self.handler.wait(seconds)

    def do_error(self, status, times, final):
        if times is not None and self.handler.model.count(self.plan, "error") > times:
            return True
        text = f"scripted error {status}"
        return self.fail(status, text, self.dialect.error(status, text),
                         {**({"x-should-retry": "false"} if final else {}), **self.headers})

    def fail(self, status, text, body, headers):
        """Reports a failure: in a stream that has begun as an event, else as the reply."""
        self.status = status
        if self.begun and self.stream:
            self.send(self.dialect.broken(status, text))
            self.handler.stream_end()
        else:
            self.handler.reply(status, body, headers)
        return False

    def do_limit(self, seconds):
        left, until = self.handler.model.limited(self.plan, seconds)
        if left <= 0:
            return True
        headers, body = self.dialect.limit(left, until)
        return self.fail(429, body["error"]["message"], body, {**headers, **self.headers})

    def do_hang(self, times=None):
        if times is not None and self.handler.model.count(self.plan, "hang") > times:
            return True
        self.handler.wait(None)

    def do_drop(self):
        self.status = 0
        self.handler.reset()
        return False

    def do_cut(self):
        self.stop = "cut"

    def do_refuse(self):
        self.stop = "refuse"

    def do_finish(self, tokens_in, tokens_out, cached):
        self.dialect.usage = (tokens_in, tokens_out, cached or 0)

    def do_head(self, headers):
        for name, value in headers.items():
            self.headers[name] = str(round(time.time()) + int(value[1:])) if value.startswith("+") else value

    # ---- all parts ----

    def run(self):
        parts = self.plan.parts
        for part in sorted(parts, key=lambda part: part.verb not in ("head", "finish")):  # first: the start already reports them
            over = self.do_call(part) if part.verb in CALLS else getattr(self, f"do_{part.verb}")(*part.values)
            if over is False:
                return
        if not any(part.verb in SAYS + CALLS for part in parts):
            self.do_say("OK.")
        self.begin()
        if self.stream:
            self.send(self.dialect.finish(self.stop))
            self.handler.stream_end()
        else:
            whole = self.dialect.whole(self.stop)
            self.handler.reply(200, [whole] if self.listed else whole, self.headers)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0
    disable_nagle_algorithm = True

    @property
    def model(self):
        return self.server.model

    def log_message(self, *_):
        """The model's own log has it."""

    # ---- sending ----

    def reply(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", f"req_{self.number}")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream_begin(self, headers):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("request-id", f"req_{self.number}")
        self.send_header("transfer-encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def stream_send(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def stream_end(self):
        self.wfile.write(b"0\r\n\r\n")

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def wait(self, seconds):
        """Waits so many seconds; None: for ever. A client that closes its side has gone."""
        end = None if seconds is None else time.monotonic() + seconds
        while end is None or time.monotonic() < end:
            left = LOOK_S if end is None else max(0, min(LOOK_S, end - time.monotonic()))
            if self.model.closing:
                raise Gone
            if select.select([self.connection], [], [], left)[0]:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    raise Gone
                time.sleep(left)

    # ---- requests ----

    def body_read(self):
        if "chunked" in self.headers.get("transfer-encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(min(int(self.headers.get("content-length") or 0), BODY_MAX))

    def do_GET(self):
        self.serve()

    def do_HEAD(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def serve(self):
        self.number = self.model.next_number()
        began = time.monotonic()
        raw = self.body_read()
        facts = {"n": self.number, "method": self.command, "path": urlsplit(self.path).path, "bytes": len(raw),
                 "headers": {name: self.headers[name] for name in HEADERS_LOGGED if name in self.headers}}
        ended, why = {}, "answered"
        try:
            ended = self.route(facts, raw)
        except (Gone, BrokenPipeError, ConnectionResetError):
            why, self.close_connection = "gone", True
        self.model.note({"event": why, "n": self.number, "seconds": round(time.monotonic() - began, 3), **ended})

    def route(self, facts, raw):
        """Answers the request, and returns what to log at its end."""
        path = facts["path"]
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            return self.refuse(facts, 400, "not JSON")
        if self.command == "POST":
            for form, dialect, streams in ROUTES:
                if form.search(path):
                    streams = bool(body.get("stream")) if streams is None else streams
                    model = body.get("model") or path.split("/")[-1].split(":")[0]
                    return self.answer(facts, dialect(body, model), streams)
            if path.endswith("/count_tokens") or path.endswith(":countTokens"):
                return self.plain(facts, {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
        elif path.endswith("/models"):
            return self.plain(facts, models_list(path))
        return self.refuse(facts, 404, "no such path")

    def plain(self, facts, body):
        self.model.note({"event": "asked", **facts})
        self.reply(200, body)
        return {"status": 200}

    def refuse(self, facts, status, text):
        self.model.note({"event": "asked", **facts})
        self.reply(status, {"error": {"message": text, "code": status}})
        return {"status": status}

    def answer(self, facts, dialect, streams):
        turns, tools = list(dialect.turns()), dialect.tools()
        users = [turn.text for turn in turns if turn.role == "user"]
        facts.update(api=dialect.name, model=dialect.model, stream=streams, turns=len(turns),
                     tools=[tool.name for tool in tools], text=users[-1][-TEXT_LOGGED:] if users else "")
        try:
            plan = self.model.plan(turns, tools)
            facts.update(why=plan.why, step=plan.step, verbs=[part.verb for part in plan.parts])
            self.model.note({"event": "asked", **facts})
            events = parse_qs(urlsplit(self.path).query).get("alt") == ["sse"]  # without it, Gemini streams a list
            answer = Answer(self, dialect, plan, streams, streams and dialect.name == "gemini" and not events)
            answer.run()
            tokens = dialect.tokens()
            return {"status": answer.status, "tokens": tokens if answer.status == 200 else None}
        except ScriptError as error:
            self.model.note({"event": "broken script", "n": self.number, "error": str(error)})
            self.reply(400, dialect.error(400, f"script: {error}"))
            return {"status": 400}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        """Ignores a client that resets its connection; everything else is a fault of the model."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


class Model:
    """The server and its state."""

    def __init__(self, port=0, script="", log=None, plain=False):
        self.file, self.is_plain, self.closing = ScriptFile(script), plain, False
        self.lock, self.number, self.turn = threading.Lock(), 0, 0
        self.counts, self.limits, self.lines = {}, {}, []
        self.log_file = open(log, "a", encoding="utf-8") if log else None
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.model = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closing = True
        self.server.shutdown()
        self.server.server_close()
        if self.log_file:
            self.log_file.close()
            self.log_file = None

    def next_number(self):
        with self.lock:
            self.number += 1
            return self.number

    def note(self, facts):
        facts = {"at": round(time.time(), 3), **facts}
        with self.lock:
            self.lines.append(facts)
            if self.log_file:
                self.log_file.write(json.dumps(facts) + "\n")
                self.log_file.flush()

    def log(self, event=None):
        with self.lock:
            return [line for line in self.lines if event in (None, line["event"])]

    def take_turn(self):
        with self.lock:
            if self.turn >= len(self.file.in_turn):
                return None
            self.turn += 1
            return self.file.in_turn[self.turn - 1]

    def plan(self, turns, tools):
        if not tools and not self.is_plain:
            return Plan("side", 0, [Part("say", ["OK."])], "side")
        return plan_make(turns, self.file, self.take_turn)

    def count(self, plan, verb):
        with self.lock:
            key = (plan.key, plan.step, verb)
            self.counts[key] = self.counts.get(key, 0) + 1
            return self.counts[key]

    def limited(self, plan, seconds):
        """(whole seconds left, when it ends). The first request starts the limit."""
        with self.lock:
            until = self.limits.setdefault((plan.key, plan.step), time.time() + seconds)
        left = until - time.time()
        return (max(1, round(left)) if left > 0 else 0), round(until)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="file of steps: sections [match REGEX] and [in turn]")
    parser.add_argument("--log", help="requests as lines of JSON are appended here")
    parser.add_argument("--plain", action="store_true", help="requests without tools are scripted as well")
    given = parser.parse_args()
    text = open(given.script, encoding="utf-8").read() if given.script else ""
    with Model(given.port, text, given.log, given.plain) as model:
        print(f"model {model.url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
