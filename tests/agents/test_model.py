#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the scripted model answers as its script says, in each vendor's form. Plain HTTP, no agent program."""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from model import Model  # noqa: E402
from script import ScriptError, ScriptFile, step_read  # noqa: E402

KEY = "key-that-nobody-may-see"
PATH_KEY = "another-key-in-the-path"
SHELL = {"type": "object", "properties": {"command": {"type": "string"}, "why": {"type": "string"}}, "required": ["command", "why"]}


# ---- one client for each interface: takes a request, returns (status, headers, what was said) ----

class Messages:
    path = "/v1/messages?beta=true"

    def body(self, history, tools):
        messages = []
        for role, what in history:
            if role == "user":
                messages.append({"role": "user", "content": [{"type": "text", "text": what}]})
            elif role == "said":
                messages.append({"role": "assistant", "content": [{"type": "text", "text": what}]})
            else:
                messages.append({"role": "assistant", "content": what["raw"]})
                messages.append({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": block["id"], "content": "<<<say never read>>>"}
                    for block in what["raw"] if block["type"] == "tool_use"]})
        return {"model": "m", "max_tokens": 9, "messages": messages,
                "tools": [{"name": name, "input_schema": SHELL} for name in tools]}

    def whole(self, got):
        usage = got["usage"]
        return {"raw": got["content"], "stop": got["stop_reason"],
                "text": "".join(block["text"] for block in got["content"] if block["type"] == "text"),
                "calls": [(block["name"], block["input"]) for block in got["content"] if block["type"] == "tool_use"],
                "usage": (usage["input_tokens"] + usage["cache_read_input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"])}

    def stream(self, events):
        blocks, message = [], events[0]["message"]
        assert events[0]["type"] == "message_start" and events[-1]["type"] == "message_stop", events
        for event in events[1:]:
            if event["type"] == "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"], json=""))
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                block = blocks[event["index"]]
                block["text"] = block.get("text", "") + delta.get("text", "")
                block["json"] += delta.get("partial_json", "")
            elif event["type"] == "message_delta":
                message.update(stop_reason=event["delta"]["stop_reason"], usage=event["usage"])
        for block in blocks:
            part = block.pop("json")
            if block["type"] == "tool_use":
                block["input"] = json.loads(part)
        return self.whole(dict(message, content=blocks))

    stops = ("end_turn", "tool_use", "max_tokens", "refusal")
    fails = staticmethod(lambda events: events[-1]["type"] == "error" and events[-1]["error"]["type"] == "overloaded_error")
    reset = staticmethod(lambda headers, body: int(headers["anthropic-ratelimit-unified-reset"]))
    error = staticmethod(lambda body: (body["type"], body["error"]["type"]) == ("error", "api_error"))


class Responses:
    path = "/v1/responses"

    def body(self, history, tools):
        items = []
        for role, what in history:
            if role == "user":
                items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": what}]})
            elif role == "said":
                items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": what}]})
            else:  # each call is followed by its output: they are still one answer
                for item in what["raw"]:
                    items.append(item)
                    if item["type"] == "function_call":
                        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": "<<<say never read>>>"})
        return {"model": "m", "input": items, "tools": [{"type": "function", "name": name, "parameters": SHELL} for name in tools]}

    def whole(self, got):
        usage = got["usage"]
        return {"raw": got["output"], "stop": (got["incomplete_details"] or {}).get("reason", got["status"]),
                "text": "".join(item["content"][0]["text"] for item in got["output"] if item["type"] == "message"),
                "calls": [(item["name"], json.loads(item["arguments"])) for item in got["output"] if item["type"] == "function_call"],
                "usage": (usage["input_tokens"], usage["output_tokens"], usage["input_tokens_details"]["cached_tokens"])}

    def stream(self, events):
        assert events[0]["type"] == "response.created", events[0]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        said = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        got = self.whole(events[-1]["response"])
        assert done == events[-1]["response"]["output"] and said == got["text"]
        return got

    stops = ("completed", "completed", "max_output_tokens", "content_filter")
    fails = staticmethod(lambda events: events[-1]["type"] == "response.failed")
    reset = staticmethod(lambda headers, body: body["error"]["resets_at"])
    error = staticmethod(lambda body: body["error"]["type"] == "server_error")


class Chat:
    path = "/v1/chat/completions"

    def body(self, history, tools):
        messages = []
        for role, what in history:
            if role in ("user", "said"):
                messages.append({"role": "user" if role == "user" else "assistant", "content": what})
            else:
                messages.append(what["raw"])
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": "<<<say never read>>>"}
                             for call in what["raw"].get("tool_calls", [])]
        return {"model": "m", "messages": messages,
                "tools": [{"type": "function", "function": {"name": name, "parameters": SHELL}} for name in tools]}

    def whole(self, got):
        choice, usage = got["choices"][0], got["usage"]
        return {"raw": choice["message"], "stop": choice["finish_reason"], "text": choice["message"]["content"] or "",
                "calls": [(call["function"]["name"], json.loads(call["function"]["arguments"]))
                          for call in choice["message"].get("tool_calls", [])],
                "usage": (usage["prompt_tokens"], usage["completion_tokens"], usage["prompt_tokens_details"]["cached_tokens"])}

    def stream(self, events):
        assert events.pop() == "[DONE]"
        usage = events.pop()["usage"]
        deltas = [event["choices"][0]["delta"] for event in events]
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        assert [call.pop("index") for call in calls] == list(range(len(calls)))
        message = {"role": "assistant", "content": "".join(delta.get("content") or "" for delta in deltas), "tool_calls": calls}
        return self.whole({"usage": usage, "choices": [{"message": message, "finish_reason": events[-1]["choices"][0]["finish_reason"]}]})

    stops = ("stop", "tool_calls", "length", "content_filter")
    fails = staticmethod(lambda events: "scripted error 529" in events[-1]["error"]["message"])
    reset = staticmethod(lambda headers, body: time.time() + int(headers["x-ratelimit-reset-requests"].rstrip("s")))
    error = staticmethod(lambda body: body["error"]["type"] == "server_error")


class Gemini:
    path = "/v1beta/models/gemini-x:generateContent?key=" + PATH_KEY

    def body(self, history, tools):
        contents = []
        for role, what in history:
            if role in ("user", "said"):
                contents.append({"role": "user" if role == "user" else "model", "parts": [{"text": what}]})
            else:  # some clients send no ids back
                parts = [{key: {k: v for k, v in value.items() if k != "id"} if key == "functionCall" else value
                          for key, value in part.items()} for part in what["raw"]]
                contents.append({"role": "model", "parts": parts})
                contents.append({"role": "user", "parts": [
                    {"functionResponse": {"name": part["functionCall"]["name"], "response": {"output": "<<<say never read>>>"}}}
                    for part in parts if "functionCall" in part]})
        return {"contents": contents, "tools": [{"functionDeclarations": [{"name": name, "parametersJsonSchema": SHELL} for name in tools]}] if tools else []}

    def whole(self, got):
        candidate, usage = got["candidates"][0], got["usageMetadata"]
        parts = candidate["content"]["parts"]
        return {"raw": parts, "stop": candidate["finishReason"], "text": "".join(part.get("text", "") for part in parts),
                "calls": [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts if "functionCall" in part],
                "usage": (usage["promptTokenCount"], usage["candidatesTokenCount"], usage["cachedContentTokenCount"])}

    def stream(self, events):
        last = events[-1]
        last["candidates"][0]["content"]["parts"] = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
        return self.whole(last)

    stops = ("STOP", "STOP", "MAX_TOKENS", "SAFETY")
    fails = staticmethod(lambda events: events[-1]["error"]["code"] == 529)
    reset = staticmethod(lambda headers, body: time.time() + int(body["error"]["details"][1]["retryDelay"].rstrip("s")))
    error = staticmethod(lambda body: (body["error"]["code"], body["error"]["status"]) == (500, "INTERNAL"))


CLIENTS = [Messages(), Responses(), Chat(), Gemini()]


def post(model, path, body, timeout=20):
    connection = http.client.HTTPConnection(model.url[7:], timeout=timeout)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json", "x-api-key": KEY,
                                                        "authorization": f"Bearer {KEY}", "x-goog-api-key": KEY})
    answer = connection.getresponse()
    return answer, answer.read()


def events_of(data):
    found = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in found]


def ask(model, client, history, streamed, tools=("Bash", "x__tool"), whole=True):
    """(status, headers, what was said or the raw answer)."""
    body, path = client.body(history, tools), client.path
    if streamed:
        body["stream"] = True
        path = path.replace(":generateContent?", ":streamGenerateContent?alt=sse&")
    answer, data = post(model, path, body)
    headers = {name.lower(): value for name, value in answer.getheaders()}
    if not streamed or answer.status != 200:
        got = json.loads(data)
        return answer.status, headers, client.whole(got) if answer.status == 200 else got
    events = events_of(data)
    return answer.status, headers, client.stream(events) if whole else events


def each():
    for client in CLIENTS:
        for streamed in (False, True):
            yield client, streamed


# ---- tests ----

def test_a_script_is_followed_step_by_step():
    script = 'please <<<say first && call Bash {"command":"a && b"} && call x__tool {"n":1} ;; run ls "x" ;; say bye && finish 1200 80 1000>>> now'
    for client, streamed in each():
        with Model() as model:
            history = [("user", "older <<<say wrong>>>"), ("said", "wrong"), ("user", script)]
            _, _, got = ask(model, client, history, streamed)
            assert got["text"] == "first" and got["stop"] == client.stops[1], got
            assert got["calls"] == [("Bash", {"command": "a && b"}), ("x__tool", {"n": 1})], got
            history.append(("called", got))
            _, _, got = ask(model, client, history, streamed)
            assert got["calls"] == [("Bash", {"command": 'ls "x"', "why": "scripted"})], got
            history.append(("called", got))
            _, _, got = ask(model, client, history, streamed)
            assert (got["text"], got["stop"], got["usage"]) == ("bye", client.stops[0], (1200, 80, 1000)), got
            _, _, got = ask(model, client, history + [("said", "bye"), ("user", "go on")], streamed)
            assert got["text"] == "(nothing more)", got


def test_the_last_script_of_a_message_counts_and_foreign_marks_do_not():
    for client, streamed in each():
        with Model() as model:
            text = "<<<say one>>> [Request interrupted] <<<say two>>> <<<BEGIN_CONTEXT x>>>"
            assert ask(model, client, [("user", text)], streamed)[2]["text"] == "two"
            assert ask(model, client, [("user", "hello <<<BEGIN y>>>")], streamed)[2]["text"] == "OK."


def test_long_text_and_other_alphabets_arrive_whole():
    words = "é ü 漢字 \U0001f600 \"quoted\" \\ back\nnext line " * 40
    for client, streamed in each():
        with Model() as model:
            assert ask(model, client, [("user", f"<<<say {words}>>>")], streamed)[2]["text"] == words.strip()


def test_a_block_stands_in_lines_of_its_own():
    for client, streamed in each():
        with Model() as model:
            text = ask(model, client, [("user", '<<<block {"a": {"b": 1}}>>>')], streamed)[2]["text"]
            assert text.rstrip("\n").split("\n")[1:] == ["```json", '{"a": {"b": 1}}', "```"], text


def test_stops_for_other_reasons():
    for client, streamed in each():
        with Model() as model:
            assert ask(model, client, [("user", "<<<say half && cut>>>")], streamed)[2]["stop"] == client.stops[2]
            assert ask(model, client, [("user", "<<<say no && refuse>>>")], streamed)[2]["stop"] == client.stops[3]


def test_thinking_takes_its_time():
    for client, streamed in each():
        with Model() as model:
            began = time.monotonic()
            assert ask(model, client, [("user", "<<<think 0.4 && say done>>>")], streamed)[2]["text"] == "done"
            assert 0.4 <= time.monotonic() - began < 3


def test_an_error_is_the_vendors_and_may_pass():
    for client, streamed in each():
        with Model() as model:
            for _ in range(3):
                status, _, got = ask(model, client, [("user", "<<<error 500>>>")], streamed)
                assert status == 500 and client.error(got), got
            assert ask(model, client, [("user", "<<<error 500 final>>>")], streamed)[1]["x-should-retry"] == "false"
            prompt = [("user", "<<<error 500 x2 && say fine>>>")]
            assert [ask(model, client, prompt, streamed)[0] for _ in range(3)] == [500, 500, 200]


def test_an_error_in_the_middle_of_a_stream():
    for client in CLIENTS:
        with Model() as model:
            status, _, events = ask(model, client, [("user", "<<<say half && error 529>>>")], True, whole=False)
            assert status == 200 and client.fails(events), events


def test_a_limit_says_when_it_ends_and_then_ends():
    for client, streamed in each():
        with Model() as model:
            prompt = [("user", "<<<limit 1 && say back>>>")]
            status, headers, got = ask(model, client, prompt, streamed)
            assert status == 429 and int(headers["retry-after"]) == 1, headers
            assert 0 <= client.reset(headers, got) - time.time() + 1 <= 4, got
            assert ask(model, client, prompt, streamed)[0] == 429
            deadline = time.monotonic() + 10
            while (answer := ask(model, client, prompt, streamed))[0] == 429 and time.monotonic() < deadline:
                time.sleep(0.1)
            assert answer[2]["text"] == "back" and time.monotonic() < deadline


def test_a_hang_lasts_until_the_client_goes():
    for client, streamed in each():
        with Model() as model:
            try:
                body = dict(client.body([("user", "<<<hang>>>")], ["Bash"]), stream=streamed)
                post(model, client.path, body, timeout=0.5)
                raise AssertionError("it answered")
            except TimeoutError:
                pass
            deadline = time.monotonic() + 5
            while not model.log("gone") and time.monotonic() < deadline:
                time.sleep(0.05)
            assert model.log("gone") and not model.log("answered"), model.log()


def test_a_drop_resets_the_connection():
    for client, streamed in each():
        for script in ("<<<drop>>>", "<<<say half && drop>>>"):
            with Model() as model:
                try:
                    ask(model, client, [("user", script)], streamed)
                    raise AssertionError("it answered")
                except (ConnectionResetError, http.client.RemoteDisconnected, http.client.IncompleteRead):
                    pass


def test_text_can_drip_and_flood():
    for client in CLIENTS:
        with Model() as model:
            began = time.monotonic()
            assert ask(model, client, [("user", "<<<drip 0.5 one two three four five>>>")], True)[2]["text"] == "one two three four five"
            assert time.monotonic() - began >= 0.5
            assert ask(model, client, [("user", "<<<flood 20000>>>")], True)[2]["text"].count("tok") == 20000


def test_tools_are_found_by_what_they_do():
    offered = {"type": "object", "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}}
    with Model() as model:
        client = Messages()
        body = client.body([("user", "<<<write /x/y some text && call *report {} && call gone {}>>>")], ["Bash", "mcp__us__report"])
        body["tools"].append({"name": "Write", "input_schema": offered})
        got = client.whole(json.loads(post(model, client.path, body)[1]))
        assert got["calls"] == [("Write", {"file_path": "/x/y", "content": "some text\n"}), ("mcp__us__report", {}), ("gone", {})], got
        got = ask(model, client, [("user", "<<<write /x/y it's>>>")], False)[2]
        assert got["calls"][0][1]["command"] == "printf '%s\\n' 'it'\\''s' > /x/y", got
        got = ask(model, client, [("user", "<<<call *port {}>>>")], False, ["report"])
        assert got[0] == 400, "a part of a word is no name"


def test_tools_in_a_namespace_and_custom_ones():
    body = Responses().body([("user", '<<<call *report {"a":1} && call apply_patch {"input":"*** Begin"} && run ls && ask id>>>')], [])
    body["tools"] = [{"type": "custom", "name": "apply_patch"},
                     {"type": "namespace", "name": "mcp__us", "tools": [{"type": "function", "name": "report"}]},
                     {"type": "function", "name": "shell", "parameters": {"properties": {
                         "command": {"type": "array"}, "sandbox_permissions": {"type": "string"}}}}]
    with Model() as model:
        items = json.loads(post(model, "/v1/responses", body)[1])["output"]
    assert (items[0]["namespace"], items[0]["name"]) == ("mcp__us", "report"), items
    assert (items[1]["type"], items[1]["input"]) == ("custom_tool_call", "*** Begin"), items
    assert json.loads(items[2]["arguments"]) == {"command": ["bash", "-c", "ls"]}, items
    assert json.loads(items[3]["arguments"])["sandbox_permissions"] == "require_escalated", items


def test_side_requests_do_not_take_part():
    for client, streamed in each():
        prompt = [("user", "<<<error 500>>>")]
        with Model() as model:
            assert ask(model, client, prompt, streamed, tools=())[2]["text"] == "OK."
            assert model.log("asked")[0]["why"] == "side"
        with Model(plain=True) as model:
            assert ask(model, client, prompt, streamed, tools=())[0] == 500


FILE = """
# by what is asked
[match fix the (bug|fault)]
run make
say fixed

[in turn]
say one
error 503
"""


def test_a_file_is_followed_by_match_and_in_turn():
    for client, streamed in each():
        with Model(script=FILE) as model:
            history = [("user", "please fix the fault")]
            _, _, got = ask(model, client, history, streamed)
            assert got["calls"][0][1]["command"] == "make", got
            assert ask(model, client, history + [("called", got)], streamed)[2]["text"] == "fixed"
            assert ask(model, client, [("user", "other")], streamed)[2]["text"] == "one"
            assert ask(model, client, [("user", "other")], streamed)[0] == 503
            assert ask(model, client, [("user", "other")], streamed)[2]["text"] == "OK."
            assert ask(model, client, [("user", "fix the bug <<<say mine>>>")], streamed)[2]["text"] == "mine"


def test_a_broken_script_is_heard_of():
    for text in ("dance now", "call X {broken}", "think long", "error", "finish 1"):
        try:
            step_read(text)
            raise AssertionError(f"{text} was read")
        except ScriptError:
            pass
    try:
        ScriptFile("say x")
        raise AssertionError("a step without a section was read")
    except ScriptError:
        pass
    for client, streamed in each():
        with Model() as model:
            status, _, got = ask(model, client, [("user", "<<<call X {broken}>>>")], streamed)
            assert status == 400 and "script" in got["error"]["message"], got
            assert model.log("broken script")


def test_lists_and_counts():
    with Model() as model:
        for path, member in (("/v1/models", "data"), ("/v1beta/models", "models")):
            connection = http.client.HTTPConnection(model.url[7:])
            connection.request("GET", path)
            assert json.loads(connection.getresponse().read())[member], path
        assert json.loads(post(model, "/v1/messages/count_tokens?beta=true", {"messages": []})[1])["input_tokens"] >= 1
        assert json.loads(post(model, "/v1beta/models/g:countTokens", {"contents": []})[1])["totalTokens"] >= 1
        assert post(model, "/", {})[0].status == 404
        body = Gemini().body([("user", "<<<say a && say b>>>")], ["Bash"])
        got = json.loads(post(model, "/v1beta/models/g:streamGenerateContent", body)[1])
        assert Gemini().whole(got[0])["text"] == "ab", got


def test_no_key_is_logged_and_every_request_is():
    with tempfile.TemporaryDirectory() as place:
        log = os.path.join(place, "log")
        with Model(log=log) as model:
            for client, streamed in each():
                ask(model, client, [("user", "<<<say x && finish 7 3>>>")], streamed)
        text = Path(log).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert KEY not in text and PATH_KEY not in text
    assert sorted(line["n"] for line in lines) == sorted([*range(1, 9)] * 2), lines
    asked = [line for line in lines if line["event"] == "asked"]
    assert all(line["tools"] == ["Bash", "x__tool"] and line["verbs"] == ["say", "finish"] for line in asked), asked
    assert all(line["tokens"] == [7, 3, 0] for line in lines if line["event"] == "answered"), lines


def test_fifty_clients_at_once():
    wrong = []
    with Model() as model:
        def one(number):
            client, streamed = list(each())[number % 8]
            got = ask(model, client, [("user", f"<<<think 0.3 && say number {number}>>>")], streamed)[2]["text"]
            if got != f"number {number}":
                wrong.append((number, got))
        threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and time.monotonic() - began < 10, wrong


def test_as_a_program():
    program = Path(__file__).resolve().parent / "model.py"
    with tempfile.TemporaryDirectory() as place:
        script, log = Path(place, "script"), Path(place, "log")
        script.write_text("[in turn]\nsay from the file\n", encoding="utf-8")
        with subprocess.Popen([program, "--script", script, "--log", log, "--plain"], stdout=subprocess.PIPE, text=True) as run:
            try:
                url = run.stdout.readline().split()[1]
                model = type("Running", (), {"url": url})
                assert ask(model, Chat(), [("user", "hello")], True, tools=())[2]["text"] == "from the file"
                end = time.monotonic() + 10  # the model writes the second line after the answer
                while len(log.read_text(encoding="utf-8").splitlines()) < 2 and time.monotonic() < end:
                    time.sleep(0.05)
            finally:
                run.kill()
        assert len(log.read_text(encoding="utf-8").splitlines()) == 2


def main():
    failed = 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_") and all(word in name for word in sys.argv[1:])]
    for name, test in tests:
        began = time.monotonic()
        try:
            test()
            print(f"ok     {name[5:].replace('_', ' ')} ({time.monotonic() - began:.1f} s)")
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
