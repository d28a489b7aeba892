# SPDX-License-Identifier: Apache-2.0
"""The dialects of the vendors' interfaces: each expresses the same requests and answers in one vendor's form.

A dialect reads a request (turns, tools) and makes an answer: start(), text(), call(), finish() return the events of a
stream as (name, data); whole() returns the same answer in one piece. Failures and limits have the vendor's own form, too.
"""
import datetime
import json
import os
import time

from script import Tool, Turn, call_id, call_step

NAMES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
         413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}
GOOGLE_NAMES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
                429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def nonce(prefix=""):
    return prefix + os.urandom(8).hex()


def text_of(content):
    """The text of a string, or of a list of parts with a text."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Dialect:
    """What all dialects have in common."""
    name = ""

    def __init__(self, body, model):
        self.body, self.model = body, model
        self.made = []       # blocks of the answer so far, in the vendor's form
        self.step = 0        # used in the ids of calls
        self.said = 0        # characters of the answer so far
        self.usage = None

    def tokens(self):
        """(in, out, cached): as scripted, else estimated by length."""
        return self.usage or (len(json.dumps(self.body)) // 4, max(1, self.said // 4), 0)

    def call_name(self, prefix):
        return prefix + call_id(self.step, nonce())


class Anthropic(Dialect):
    name = "messages"
    stops = {"end": "end_turn", "call": "tool_use", "cut": "max_tokens", "refuse": "refusal"}

    def turns(self):
        for message in self.body.get("messages", []):
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                steps = [call_step(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
                yield Turn("assistant", text_of(blocks), max((s for s in steps if s is not None), default=None))
                continue
            if any(block.get("type") == "tool_result" for block in blocks):
                yield Turn("tool", "", None)
            text = "\n".join(block["text"] for block in blocks if block.get("type") == "text")
            if text:
                yield Turn("user", text, None)

    def tools(self):
        return [Tool(tool.get("name", ""), "function", "", tool.get("input_schema") or {})
                for tool in self.body.get("tools") or []]

    def message(self, **more):
        tokens_in, _, cached = self.tokens()
        return {"id": nonce("msg_"), "type": "message", "role": "assistant", "model": self.model, "content": [],
                "stop_reason": None, "stop_sequence": None,
                "usage": {"input_tokens": tokens_in - cached, "cache_creation_input_tokens": 0,
                          "cache_read_input_tokens": cached, "output_tokens": 1}, **more}

    def event(self, kind, **data):
        return kind, {"type": kind, **data}

    def start(self):
        yield self.event("message_start", message=self.message())

    def block(self, shown, deltas, whole):
        index = len(self.made)
        self.made.append(whole)
        yield self.event("content_block_start", index=index, content_block=shown)
        for delta in deltas:
            yield self.event("content_block_delta", index=index, delta=delta)
        yield self.event("content_block_stop", index=index)

    def text(self, pieces):
        whole = {"type": "text", "text": ""}

        def deltas():
            for piece in pieces:
                whole["text"] += piece
                yield {"type": "text_delta", "text": piece}
        yield from self.block({"type": "text", "text": ""}, deltas(), whole)

    def call(self, name, values):
        whole = {"type": "tool_use", "id": self.call_name("toolu"), "name": name, "input": values}
        yield from self.block({**whole, "input": {}},
                              [{"type": "input_json_delta", "partial_json": json.dumps(values)}], whole)

    def usage_end(self):
        tokens_in, out, cached = self.tokens()
        return {"input_tokens": tokens_in - cached, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": cached, "output_tokens": out}

    def finish(self, stop):
        yield self.event("message_delta", delta={"stop_reason": self.stops[stop], "stop_sequence": None},
                         usage=self.usage_end())
        yield self.event("message_stop")

    def whole(self, stop):
        return self.message(content=self.made, stop_reason=self.stops[stop], usage=self.usage_end())

    def error(self, status, text):
        return {"type": "error", "error": {"type": NAMES.get(status, "api_error"), "message": text},
                "request_id": nonce("req_")}

    def broken(self, status, text):
        yield "error", self.error(status, text)

    def limit(self, seconds, until):
        headers = {"retry-after": str(seconds), "x-should-retry": "true"}
        for kind in ("requests", "tokens"):
            headers[f"anthropic-ratelimit-{kind}-limit"] = "50"
            headers[f"anthropic-ratelimit-{kind}-remaining"] = "0"
            headers[f"anthropic-ratelimit-{kind}-reset"] = rfc3339(until)
        headers.update({"anthropic-ratelimit-unified-status": "rejected",
                        "anthropic-ratelimit-unified-reset": str(until),
                        "anthropic-ratelimit-unified-representative-claim": "five_hour"})
        return headers, self.error(429, "This request would exceed your account's rate limit. Please try again later.")


class OpenAI(Dialect):
    """What Responses and Chat Completions share."""

    def error(self, status, text):
        kind = "server_error" if status >= 500 else NAMES.get(status, "invalid_request_error")
        return {"error": {"message": text, "type": kind, "param": None, "code": None}}

    def limit(self, seconds, until):
        headers = {"retry-after": str(seconds), "retry-after-ms": str(seconds * 1000)}
        for kind in ("requests", "tokens"):
            headers[f"x-ratelimit-limit-{kind}"] = "50"
            headers[f"x-ratelimit-remaining-{kind}"] = "0"
            headers[f"x-ratelimit-reset-{kind}"] = f"{seconds}s"
        return headers, {"error": {"message": f"Rate limit reached for {self.model}. Please try again in {seconds}s.",
                                   "type": "requests", "param": None, "code": "rate_limit_exceeded"}}


class Responses(OpenAI):
    name = "responses"
    calls = ("function_call", "custom_tool_call", "local_shell_call")

    def __init__(self, body, model):
        super().__init__(body, model)
        self.number, self.id = 0, nonce("resp_")

    def turns(self):
        given = self.body.get("input", [])
        items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
        for item in items:
            kind = item.get("type", "message")
            if kind in self.calls:
                yield Turn("assistant", "", call_step(item.get("call_id")))
            elif kind.endswith("_output"):
                yield Turn("tool", "", None)
            elif kind == "message":
                yield Turn({"assistant": "assistant", "user": "user"}.get(item.get("role"), "system"),
                           text_of(item.get("content")), None)

    def tools(self):
        found = []
        for tool in self.body.get("tools") or []:
            if tool.get("type") == "namespace":
                found += [Tool(f"{tool['name']}__{one['name']}", "function", tool["name"], one.get("parameters") or {})
                          for one in tool.get("tools") or []]
            else:
                kind = "custom" if tool.get("type") == "custom" else "function"
                found.append(Tool(tool.get("name") or tool.get("type"), kind, "", tool.get("parameters") or {}))
        return found

    def event(self, kind, **data):
        self.number += 1
        return kind, {"type": kind, "sequence_number": self.number - 1, **data}

    def response(self, status, **more):
        return {"id": self.id, "object": "response", "created_at": int(time.time()), "model": self.model,
                "status": status, "output": [], "parallel_tool_calls": True, "tools": [], "usage": None,
                "error": None, "incomplete_details": None, **more}

    def start(self):
        yield self.event("response.created", response=self.response("in_progress"))
        yield self.event("response.in_progress", response=self.response("in_progress"))

    def text(self, pieces):
        index, said = len(self.made), []
        item = {"type": "message", "role": "assistant", "id": nonce("msg_"), "status": "in_progress", "content": []}
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        yield self.event("response.output_item.added", output_index=index, item=item)
        yield self.event("response.content_part.added", part={"type": "output_text", "text": "", "annotations": []}, **at)
        for piece in pieces:
            said.append(piece)
            yield self.event("response.output_text.delta", delta=piece, **at)
        part = {"type": "output_text", "text": "".join(said), "annotations": []}
        whole = {**item, "status": "completed", "content": [part]}
        self.made.append(whole)
        yield self.event("response.output_text.done", text=part["text"], **at)
        yield self.event("response.content_part.done", part=part, **at)
        yield self.event("response.output_item.done", output_index=index, item=whole)

    def call_item(self, name, values):
        """A call of a tool in a namespace has both names; a custom tool gets its text unchanged."""
        tool = next((tool for tool in self.tools() if tool.name == name), None)
        head = {"id": nonce("fc_"), "call_id": self.call_name("call"), "status": "completed"}
        if tool and tool.kind == "custom":
            return {"type": "custom_tool_call", "name": name, "input": values.get("input", json.dumps(values)), **head}
        item = {"type": "function_call", "name": name, "arguments": json.dumps(values), **head}
        if tool and tool.namespace:
            item.update(name=name[len(tool.namespace) + 2:], namespace=tool.namespace)
        return item

    def call(self, name, values):
        index, item = len(self.made), self.call_item(name, values)
        self.made.append(item)
        content = "input" if item["type"] == "custom_tool_call" else "arguments"
        yield self.event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", content: ""})
        if content == "arguments":
            yield self.event("response.function_call_arguments.delta", item_id=item["id"], output_index=index, delta=item[content])
            yield self.event("response.function_call_arguments.done", item_id=item["id"], output_index=index, arguments=item[content])
        yield self.event("response.output_item.done", output_index=index, item=item)

    def whole(self, stop):
        tokens_in, out, cached = self.tokens()
        usage = {"input_tokens": tokens_in, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": out,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens_in + out}
        why = {"cut": "max_output_tokens", "refuse": "content_filter"}.get(stop)
        return self.response("incomplete" if why else "completed", output=self.made, usage=usage,
                             incomplete_details={"reason": why} if why else None)

    def finish(self, stop):
        whole = self.whole(stop)
        yield self.event(f"response.{whole['status']}", response=whole)

    def broken(self, status, text):
        error = {"code": "server_error" if status >= 500 else "rate_limit_exceeded", "message": text}
        yield self.event("response.failed", response=self.response("failed", error=error))

    def limit(self, seconds, until):
        """The limit of an account, in the form that Codex reads."""
        headers, _ = super().limit(seconds, until)
        headers.update({"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300",
                        "x-codex-primary-reset-at": str(until), "x-codex-primary-reset-after-seconds": str(seconds)})
        return headers, {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached",
                                   "plan_type": "plus", "resets_at": until, "resets_in_seconds": seconds}}


class Chat(OpenAI):
    name = "chat"
    stops = {"end": "stop", "call": "tool_calls", "cut": "length", "refuse": "content_filter"}

    def __init__(self, body, model):
        super().__init__(body, model)
        self.base = {"id": nonce("chatcmpl-"), "created": int(time.time()), "model": self.model}
        self.words, self.calls = [], []

    def turns(self):
        for message in self.body.get("messages", []):
            role = {"assistant": "assistant", "tool": "tool", "user": "user"}.get(message.get("role"), "system")
            steps = [call_step(call.get("id")) for call in message.get("tool_calls") or []]
            yield Turn(role, text_of(message.get("content")), max((s for s in steps if s is not None), default=None))

    def tools(self):
        return [Tool(tool["function"]["name"], "function", "", tool["function"].get("parameters") or {})
                for tool in self.body.get("tools") or [] if tool.get("function")]

    def chunk(self, delta, stop=None):
        return None, {**self.base, "object": "chat.completion.chunk",
                      "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}

    def start(self):
        yield self.chunk({"role": "assistant", "content": ""})

    def text(self, pieces):
        for piece in pieces:
            self.words.append(piece)
            yield self.chunk({"content": piece})

    def call(self, name, values):
        call = {"id": self.call_name("call"), "type": "function", "function": {"name": name, "arguments": json.dumps(values)}}
        self.calls.append(call)
        yield self.chunk({"tool_calls": [{"index": len(self.calls) - 1, **call}]})

    def counted(self):
        tokens_in, out, cached = self.tokens()
        return {"prompt_tokens": tokens_in, "completion_tokens": out, "total_tokens": tokens_in + out,
                "prompt_tokens_details": {"cached_tokens": cached}}

    def finish(self, stop):
        yield self.chunk({}, self.stops[stop])
        yield None, {**self.base, "object": "chat.completion.chunk", "choices": [], "usage": self.counted()}
        yield None, "[DONE]"

    def whole(self, stop):
        message = {"role": "assistant", "content": "".join(self.words) or None}
        if self.calls:
            message["tool_calls"] = self.calls
        return {**self.base, "object": "chat.completion", "usage": self.counted(),
                "choices": [{"index": 0, "message": message, "finish_reason": self.stops[stop]}]}

    def broken(self, status, text):
        yield None, self.error(status, text)


class Gemini(Dialect):
    name = "gemini"
    stops = {"end": "STOP", "call": "STOP", "cut": "MAX_TOKENS", "refuse": "SAFETY"}

    def turns(self):
        for content in self.body.get("contents", []):
            parts = content.get("parts") or []
            text = "\n".join(part.get("text") or "" for part in parts)
            if content.get("role") == "model":
                steps = [call_step((part.get("functionCall") or {}).get("id")) for part in parts]
                yield Turn("assistant", text, max((s for s in steps if s is not None), default=None))
                continue
            if any("functionResponse" in part for part in parts):
                yield Turn("tool", "", None)
            if text.strip():
                yield Turn("user", text, None)

    def tools(self):
        return [Tool(one["name"], "function", "", one.get("parametersJsonSchema") or one.get("parameters") or {})
                for tool in self.body.get("tools") or [] for one in tool.get("functionDeclarations") or []]

    def chunk(self, parts, **more):
        return None, {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **more}],
                      "modelVersion": self.model, "responseId": nonce("r")}

    def start(self):
        return iter(())

    def text(self, pieces):
        for piece in pieces:
            self.made.append({"text": piece})
            yield self.chunk([{"text": piece}])

    def call(self, name, values):
        part = {"functionCall": {"id": self.call_name("call"), "name": name, "args": values}}
        self.made.append(part)
        yield self.chunk([part])

    def counted(self, chunk):
        tokens_in, out, cached = self.tokens()
        chunk["usageMetadata"] = {"promptTokenCount": tokens_in, "candidatesTokenCount": out,
                                  "totalTokenCount": tokens_in + out, "cachedContentTokenCount": cached}
        return chunk

    def finish(self, stop):
        yield None, self.counted(self.chunk([{"text": ""}], finishReason=self.stops[stop])[1])

    def whole(self, stop):
        return self.counted(self.chunk(self.made, finishReason=self.stops[stop])[1])

    def error(self, status, text):
        return {"error": {"code": status, "message": text, "status": GOOGLE_NAMES.get(status, "UNKNOWN")}}

    def broken(self, status, text):
        yield None, self.error(status, text)

    def limit(self, seconds, until):
        body = self.error(429, f"You exceeded your current quota. Please retry in {seconds}s.")
        kind = "type.googleapis.com/google.rpc."
        body["error"]["details"] = [
            {"@type": kind + "QuotaFailure", "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
            {"@type": kind + "RetryInfo", "retryDelay": f"{seconds}s"}]
        return {"retry-after": str(seconds)}, body
