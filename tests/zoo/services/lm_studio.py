"""LM Studio: thoughts in the text unless set otherwise, string errors, a short context.

lmstudio-ai/lmstudio-bug-tracker/issues/988 (2025-09-07, /894: where thoughts stand), /189 and whiteguo233/OpenBiliClaw/
issues/12 (json_object is refused), /670 (a named tool is refused); tinyhumansai/openhuman/pull/3560 (2026-06-09, 400 on
overflow). Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call, Said
from tests.zoo.service import Body, Service, inline, plain_usage


class LmStudio(Service):
    name = "lm-studio"
    model = "qwen/qwen3.6-27b"
    dialect = "lmstudio"
    hosted = False
    field = ""
    keeps = ()
    roles = ("system", "user", "assistant", "tool")
    context = 65_536
    tells = frozenset()
    cache_block = 0

    def check(self, body: Body) -> None:
        super().check(body)
        if isinstance(body.get("tool_choice"), dict):
            raise Refused(400, "Invalid tool_choice type: 'object'. Supported string values: none, auto, required")

    def check_format(self, body: Body) -> None:
        if (body.get("response_format") or {}).get("type", "text") not in ("json_schema", "text"):
            raise Refused(400, "'response_format.type' must be 'json_schema' or 'text'")

    def message(self, said: Said, thought: str) -> Body:
        return super().message(said, thought) | {"content": inline(thought, said.text)}

    def call_id(self, call: Call, at: int) -> str:
        return f"{self._number * 1000 + at}"

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted)

    def error(self, refused: Refused) -> Body:
        return {"error": refused.message}

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"Trying to keep the first {tokens} tokens when context the overflows. However, the model is loaded with "
            f"context length of only {self.context} tokens, which is not enough. Try to load the model with a larger "
            "context length, or provide a shorter input",
        )
