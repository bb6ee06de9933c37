"""A model behind the Chat Completions API, as most services play it. Each service says where it differs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.zoo.checks import Refused, check_functions, check_json_named, check_roles, check_strict, check_tool_results
from tests.zoo.counting import Counted, PrefixCache, Prices, tokens_in
from tests.zoo.script import Asked, Call, Said, say, text_of

KEY = "zoo-0123456789abcdef"
CREATED = 1_790_000_000
PLAIN = frozenset({"role", "content", "tool_calls", "name", "refusal", "tool_call_id"})
"""Fields of a message that every service knows."""
Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    body: bytes | Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    drops: bool = False
    """The connection is closed after it, without a word of it before."""


@dataclass(frozen=True)
class Entry:
    """One request, as the service saw it."""

    seat: str
    body: Body
    status: int
    said: Said | None = None
    thought: str = ""
    counted: Counted | None = None
    cost: Decimal = Decimal(0)
    refused: str = ""


class Service:
    name = ""
    model = ""
    api = "chat"
    paths: tuple[str, ...] = ("chat/completions",)
    hosted = True
    """Whether it wants the key."""
    dialect = ""
    """What a preset of the studio sets for it."""
    settings: Mapping[str, Any] = {}
    """Further fields of a model that whoever connects it has to set, by the service's own documentation."""
    thinks = True
    field = "reasoning_content"
    """Where it puts thoughts; empty for nowhere."""
    keeps: tuple[str, ...] = ("reasoning_content",)
    """Fields of its messages that must come back as they were, where tools were called."""
    keeps_turns = True
    """Whether also once the user has spoken again."""
    keeps_answers = False
    """Whether also those of answers in words."""
    roles: tuple[str, ...] = ("system", "developer", "user", "assistant", "tool")
    unknown_refused = False
    fields = frozenset(
        "model messages tools tool_choice parallel_tool_calls response_format stream stream_options temperature top_p "
        "n stop max_tokens max_completion_tokens reasoning_effort seed frequency_penalty presence_penalty logprobs "
        "top_logprobs user metadata store logit_bias service_tier verbosity prompt_cache_key".split()
    )
    """Of a request, where others are refused."""
    most_tools = 128
    heeds_format = True
    prices = Prices()
    context = 1_000_000
    """Tokens."""
    tells = frozenset({"cached", "reasoning"})
    """What its usage says besides input and output."""
    least_cached = 1024
    cache_block = 128
    bills_writes = False
    """What enters the cache has a price of its own."""
    cache_wants_marks = False
    """Nothing is cached, or billed as written, without ``cache_control``."""

    def __init__(self) -> None:
        self.log: list[Entry] = []
        self.lost: list[str] = []
        """What came back otherwise than it was sent."""
        self.foreign: list[str] = []
        """Fields of messages that it never sent."""
        self.faults: list[str] = []
        """Names of what goes wrong with the next requests, one each."""
        self._sent: dict[str, Body] = {}
        self._cache = PrefixCache()
        self._lock = threading.Lock()
        self._number = 0

    def post(self, seat: str, path: str, authorization: str, body: Body) -> Reply:
        with self._lock:
            self._number += 1
            try:
                if self.hosted and authorization != f"Bearer {KEY}":
                    raise Refused(401, "Incorrect API key provided.", code="invalid_api_key")
                if path not in self.paths:
                    raise Refused(404, f"Invalid URL (POST /v1/{path})")
                return self.answer(seat, body)
            except Refused as refused:
                self.log.append(Entry(seat, body, refused.status, refused=refused.message))
                return self.refusal(refused)

    def models(self) -> Body:
        return {
            "object": "list",
            "data": [{"id": self.model, "object": "model", "created": CREATED, "owned_by": "zoo"}],
        }

    # What differs from service to service

    def check(self, body: Body) -> None:
        """Raises Refused."""
        if body.get("model") != self.model:
            raise Refused(404, f"The model `{body.get('model')}` does not exist.", code="model_not_found")
        if self.unknown_refused and (unknown := sorted(body.keys() - self.fields)):
            raise self.unknown_field(unknown[0], body)
        check_roles(body.get("messages") or [], self.roles)
        check_tool_results(body["messages"])
        check_functions(functions_in(body), self.most_tools)
        self.check_format(body)

    def check_format(self, body: Body) -> None:
        form = body.get("response_format") or {}
        if form.get("type") == "json_schema" and form["json_schema"].get("strict"):
            name = f"response_format '{form['json_schema'].get('name')}'"
            check_strict(form["json_schema"]["schema"], name, "invalid_json_schema")
        elif form.get("type") == "json_object":
            check_json_named(body["messages"])

    def unknown_field(self, name: str, body: Body) -> Refused:
        return Refused(400, f"Unrecognized request argument supplied: {name}")

    def does_think(self, body: Body) -> bool:
        return self.thinks

    def thought(self, said: Said) -> str:
        return f'ZOO-THOUGHT-{self.name}-{self._number}: they “want”\n a "café" note; what next?'

    def message(self, said: Said, thought: str) -> Body:
        message: Body = {"role": "assistant", "content": said.text or None}
        if self.field and thought:
            message[self.field] = thought
        if said.refusal:
            message["refusal"] = said.refusal
        if said.calls:
            message["tool_calls"] = [self.call(call, at) for at, call in enumerate(said.calls)]
        return message

    def call(self, call: Call, at: int) -> Body:
        function = {"name": call.name, "arguments": call.arguments}
        return {"id": self.call_id(call, at), "type": "function", "function": function}

    def call_id(self, call: Call, at: int) -> str:
        return f"call_{self._number:012d}{at}"

    def usage(self, counted: Counted) -> Body | None:
        return {
            **plain_usage(counted),
            "prompt_tokens_details": {"cached_tokens": counted.cached},
            "completion_tokens_details": {"reasoning_tokens": counted.reasoning},
        }

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        return {
            "id": f"chatcmpl-{self._number}",
            "object": "chat.completion",
            "created": CREATED,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": self.usage(counted),
        }

    def error(self, refused: Refused) -> Any:
        told = {"message": refused.message, "type": refused.kind, "param": refused.param, "code": refused.code}
        return {"error": told | refused.extra}

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"This model's maximum context length is {self.context} tokens. However, your messages resulted in "
            f"{tokens} tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
            param="messages",
        )

    def read_messages(self, body: Body) -> list[Any]:
        """What of the messages the model reads."""
        return list(body["messages"])

    def fault(self, name: str, body: Body, asked: Asked) -> Reply | Said:
        """What it answers instead, or raises Refused."""
        raise LookupError(name)

    # How one request is answered

    def answer(self, seat: str, body: Body) -> Reply:
        self.check(body)
        self.compare(body["messages"])
        asked = self.asked(body)
        said: Reply | Said = self.fault(self.faults.pop(0), body, asked) if self.faults else say(asked)
        if isinstance(said, Reply):
            self.log.append(Entry(seat, body, said.status, refused="fault"))
            return said
        read = [json.dumps(body.get("tools") or []), *map(_read, self.read_messages(body))]
        marked = not self.cache_wants_marks or "cache_control" in json.dumps(body)
        thought = self.thought(said) if self.does_think(body) else ""
        message = self.message(said, thought)
        counted = self.count("\n".join(read), message, thought, marked=marked)
        finish = said.finish or ("tool_calls" if said.calls else "stop")
        self.log.append(Entry(seat, body, 200, said, thought, counted, self.cost(counted)))
        document = self.document(message, finish, counted)
        self.remember(document["choices"][0]["message"])
        return self.streamed(body, document) if body.get("stream") else Reply(json.dumps(document).encode())

    def asked(self, body: Body) -> Asked:
        form = body.get("response_format") or {}
        return Asked(
            [message | {"content": text_of(message.get("content"))} for message in body["messages"]],
            functions_in(body),
            body.get("tool_choice"),
            body.get("parallel_tool_calls", True),
            form.get("type", "").replace("text", "") if self.heeds_format else "",
            (form.get("json_schema") or {}).get("schema"),
        )

    def count(self, prompt: str, message: Body, thought: str, *, marked: bool = True) -> Counted:
        tokens = tokens_in(prompt)
        if tokens > self.context:
            raise self.too_long(tokens)
        shared = self._cache.shared(prompt) if marked and self.cache_block else 0
        cached = shared // self.cache_block * self.cache_block if shared and shared >= self.least_cached else 0
        written = tokens - cached if self.bills_writes and marked and tokens >= self.least_cached else 0
        reasoning = tokens_in(thought)
        seen = {name: message[name] for name in ("content", "tool_calls") if message.get(name)}
        return Counted(tokens, cached, written, tokens_in(json.dumps(seen)) + reasoning, reasoning)

    def cost(self, counted: Counted) -> Decimal:
        return self.prices.of(counted)

    def refusal(self, refused: Refused) -> Reply:
        return Reply(json.dumps(self.error(refused)).encode(), refused.status)

    # What must come back

    def essence(self, message: Body) -> Body:
        """A message without what a stream of it does not bring."""
        return message

    def remember(self, message: Body) -> None:
        self._sent[_identity(message)] = message

    def compare(self, messages: Sequence[Body]) -> None:
        spoken = [at for at, message in enumerate(messages) if message["role"] == "user"]
        for at, message in enumerate(messages):
            if message["role"] != "assistant" or (not self.keeps_turns and at < max(spoken, default=0)):
                continue
            message = self.essence(message)
            sent = self.essence(self._sent.get(_identity(message), {}))
            for name in self.keeps:
                wanted = name in sent and (sent.get("tool_calls") or self.keeps_answers)
                if wanted and message.get(name, "ABSENT") != sent[name]:
                    self.lost.append(f"{name}: {sent[name]!r} came back as {message.get(name, 'ABSENT')!r}")
            if sent.get("tool_calls") and message["tool_calls"] != sent["tool_calls"]:
                self.lost.append(f"tool_calls: {sent['tool_calls']!r} came back as {message['tool_calls']!r}")
            self.foreign += [name for name in message.keys() - PLAIN if name not in sent]

    # Streams

    def streamed(self, body: Body, document: Body) -> Reply:
        return Reply(self.events(body, document), content_type="text/event-stream")

    def events(self, body: Body, document: Body) -> Iterator[bytes]:
        for chunk in self.chunks(body, document):
            yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
        yield b"data: [DONE]\n\n"

    def chunks(self, body: Body, document: Body) -> Iterator[Body]:
        common = {**document, "object": "chat.completion.chunk"}
        usage = common.pop("usage", None)
        [choice] = document["choices"]
        for delta in self.deltas(choice["message"]):
            yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        last = {name: value for name, value in choice.items() if name != "message"}
        yield {**common, "choices": [{**last, "delta": {}}]}
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**common, "choices": [], "usage": usage}

    def deltas(self, message: Body) -> Iterator[Body]:
        yield {"role": "assistant", "content": ""}
        for name, value in message.items():
            if name not in ("role", "tool_calls") and value is not None:
                for piece in self.pieces(value):
                    yield {name: piece}
        for at, call in enumerate(message.get("tool_calls") or ()):
            arguments = call["function"]["arguments"]
            yield {"tool_calls": [{**call, "index": at, "function": {**call["function"], "arguments": ""}}]}
            for piece in pieces(arguments):
                yield {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}

    def pieces(self, value: Any) -> list[Any]:
        return pieces(value) if isinstance(value, str) else [value]


def plain_usage(counted: Counted) -> Body:
    return {
        "prompt_tokens": counted.prompt,
        "completion_tokens": counted.completion,
        "total_tokens": counted.prompt + counted.completion,
    }


def functions_in(body: Body) -> list[Body]:
    return [tool["function"] for tool in body.get("tools") or ()]


def pieces(text: str, size: int = 17) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def inline(thought: str, text: str) -> str:
    return f"<think>\n{thought}\n</think>\n\n{text}" if thought else text


def _read(message: Body) -> str:
    """As the model reads it: marks for the cache are none of its words."""
    content = message.get("content")
    if isinstance(content, list) and all("text" in part for part in content):
        message = message | {"content": "".join(part["text"] for part in content)}
    return json.dumps(message)


def _identity(message: Body) -> str:
    calls = message.get("tool_calls")
    return str(calls[0]["id"]) if calls else json.dumps(message.get("content"))
