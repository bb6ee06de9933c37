"""Ollama: cuts a long conversation without a word, reads only `reasoning`, tells nothing of its cache.

ollama/ollama@fb30760 (2026-08-21): openai/openai.go, server/routes.go, docs/context-length.mdx. Read on 24 November
2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted, tokens_in
from tests.zoo.script import Call, Said
from tests.zoo.service import Body, Service, plain_usage


class Ollama(Service):
    name = "ollama"
    model = "qwen3.6:27b"
    dialect = "ollama"
    hosted = False
    field = "reasoning"
    keeps = ("reasoning",)
    roles = ("system", "user", "assistant", "tool")
    context = 32_768
    tells = frozenset()
    cache_block = 0

    def read_messages(self, body: Body) -> list[Body]:
        """The system message and as many of the latest as fit."""
        first, *rest = [
            {name: part for name, part in message.items() if name != "reasoning_content"}
            for message in body["messages"]
        ]
        room = self.context - tokens_in(json.dumps([body.get("tools") or [], first]))
        while len(rest) > 1 and tokens_in(json.dumps(rest)) > room:
            rest.pop(0)
        return [first, *rest]

    def count(self, prompt: str, message: Body, thought: str, *, marked: bool = True) -> Counted:
        return super().count(prompt[: self.context * 4], message, thought, marked=marked)

    def message(self, said: Said, thought: str) -> Body:
        message = super().message(said, thought)
        return message | {"content": message["content"] or ""}

    def call(self, call: Call, at: int) -> Body:
        return {"id": self.call_id(call, at), "index": at, **super().call(call, at)}

    def essence(self, message: Body) -> Body:
        calls = message.get("tool_calls")
        without = [{name: part for name, part in call.items() if name != "index"} for call in calls or ()]
        return message | {"tool_calls": without} if calls else message

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted)

    def error(self, refused: Refused) -> Body:
        return {"error": {"message": refused.message, "type": "api_error", "param": None, "code": None}}

    def deltas(self, message: Body) -> Iterator[Body]:
        """Calls come whole."""
        yield from super().deltas({name: value for name, value in message.items() if name != "tool_calls"})
        if calls := message.get("tool_calls"):
            yield {"role": "assistant", "content": "", "tool_calls": calls}
