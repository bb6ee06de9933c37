"""vLLM with Qwen: thoughts in `reasoning`, which is the only field it reads back; without a parser, in the text.

vllm-project/vllm/issues/38488 (2026-03-29, `reasoning_content` is dropped silently) and /27755 (the renaming);
docs/features/{reasoning_outputs,tool_calling}.md; entrypoints/chat_utils.py. Cached tokens are told only with
--enable-prompt-tokens-details. The template of these models wants one system message, at the start.
Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call, Said
from tests.zoo.service import Body, Service, inline, plain_usage


class Vllm(Service):
    name = "vllm"
    model = "Qwen/Qwen3.6-27B"
    dialect = "vllm"
    hosted = False
    field = "reasoning"
    keeps = ("reasoning",)
    tells = frozenset({"cached"})
    context = 262_144
    least_cached, cache_block = 16, 16
    roles = ("system", "developer", "user", "assistant", "tool")

    def check(self, body: Body) -> None:
        super().check(body)
        if any(message["role"] == "system" for message in body["messages"][1:]):
            raise Refused(400, "System message must be at the beginning.")

    def message(self, said: Said, thought: str) -> Body:
        rest = {"refusal": None, "annotations": None, "audio": None, "function_call": None, "tool_calls": []}
        return {**rest, **super().message(said, thought)}

    def call_id(self, call: Call, at: int) -> str:
        return f"chatcmpl-tool-{self._number:08x}{at}"

    def read_messages(self, body: Body) -> list[Body]:
        return [
            {name: part for name, part in message.items() if name != "reasoning_content"}
            for message in body["messages"]
        ]

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"prompt_tokens_details": {"cached_tokens": counted.cached}}

    def error(self, refused: Refused) -> Body:
        kind = "NotFoundError" if refused.status == 404 else "BadRequestError"
        return {"error": {"message": refused.message, "type": kind, "param": refused.param, "code": refused.status}}


class BareVllm(Vllm):
    """Started without a reasoning parser and without a report of its cache."""

    name = "vllm-bare"
    field = ""
    keeps = ("content",)
    tells = frozenset()
    cache_block = 0

    def message(self, said: Said, thought: str) -> Body:
        return super().message(said, thought) | {"content": inline(thought, said.text)}

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"prompt_tokens_details": None}
