"""Mistral: content is a list of blocks, ids have nine characters, and nothing unknown passes.

charmbracelet/crush/issues/1590 (2025-12-10) and BerriAI/litellm/issues/30835 (2026-06-19): 422 for reasoning_content;
editor-code-assistant/eca/issues/231 (2025-12-12): 422 for max_completion_tokens, with the body; nearai/ironclaw/
issues/1241 (2026-03-16): ids. Its text in `message` is an object. Whether stream_options pass is unverified; usage
comes in the last chunk anyway. Read on 24 November 2026.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call, Said
from tests.zoo.service import Body, Service, plain_usage

KNOWN = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "prefix"},
    "tool": {"role", "content", "tool_call_id", "name"},
}


class Mistral(Service):
    name = "mistral"
    model = "mistral-medium-3-5"
    dialect = "mistral"
    field = ""
    keeps = ("content",)
    keeps_answers = True
    roles = ("system", "user", "assistant", "tool")
    unknown_refused = True
    fields = frozenset(
        "model messages tools tool_choice parallel_tool_calls response_format stream stream_options temperature top_p "
        "n stop max_tokens random_seed frequency_penalty presence_penalty safe_prompt prediction prompt_mode "
        "reasoning_effort metadata".split()
    )
    tells = frozenset({"cached"})
    least_cached, cache_block = 256, 64

    def check(self, body: Body) -> None:
        messages = body.get("messages") or []
        for at, message in enumerate(messages):
            if unknown := sorted(message.keys() - KNOWN.get(message.get("role", ""), set(message))):
                raise self.forbidden(["body", "messages", at, message["role"], unknown[0]], message[unknown[0]])
            for call in message.get("tool_calls") or ():
                if not re.fullmatch("[a-zA-Z0-9]{9}", str(call.get("id"))):
                    raise Refused(
                        400,
                        f"Tool call id was {call.get('id')} but must be a-z, A-Z, 0-9, with a length of 9.",
                        code="3280",
                        kind="invalid_request_function_call",
                    )
        super().check(body)
        last = messages[-1]["role"]
        if last not in ("user", "tool"):
            raise Refused(
                400, f"Expected last role User or Tool (or Assistant with prefix True) for serving but got {last}"
            )
        for before, after in pairwise(messages):
            if before["role"] == "tool" and after["role"] == "user":
                raise Refused(400, "Unexpected role 'user' after role 'tool'", code="3230")

    def unknown_field(self, name: str, body: Body) -> Refused:
        return self.forbidden(["body", name], body[name])

    def forbidden(self, place: list[Any], given: Any) -> Refused:
        told = {"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted", "input": given}
        return Refused(422, "Extra inputs are not permitted", detail=[told])

    def error(self, refused: Refused) -> Body:
        message: Any = {"detail": refused.extra["detail"]} if "detail" in refused.extra else refused.message
        common = {"object": "error", "message": message, "type": refused.kind}
        return common | {"param": refused.param, "code": refused.code}

    def message(self, said: Said, thought: str) -> Body:
        blocks = [{"type": "thinking", "thinking": [{"type": "text", "text": thought}], "closed": True}]
        text = [{"type": "text", "text": said.text}] if said.text else []
        return super().message(said, thought) | {"content": [*blocks, *text]}

    def call_id(self, call: Call, at: int) -> str:
        return f"Zoo{self._number:05d}{at}"

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"prompt_tokens_details": {"cached_tokens": counted.cached}}

    def pieces(self, value: Any) -> list[Any]:
        """A thought as a list of blocks, then its text as a string."""
        if isinstance(value, str):
            return super().pieces(value)
        thinking, *text = value
        whole = thinking["thinking"][0]["text"]
        blocks = [
            [{"type": "thinking", "thinking": [{"type": "text", "text": part}]}]
            for part in (whole[: len(whole) // 2], whole[len(whole) // 2 :])
        ]
        return [*blocks, *(part["text"] for part in text)]

    def essence(self, message: Body) -> Body:
        """Its stream does not say that a thought is over."""
        if not isinstance(message.get("content"), list):
            return message
        blocks = [{name: part for name, part in block.items() if name != "closed"} for block in message["content"]]
        return message | {"content": blocks}

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"Prompt contains {tokens} tokens and 0 draft tokens, too large for model with {self.context} maximum "
            "context length",
            code="3051",
        )
