"""Claude behind Anthropic's OpenAI-compatible endpoint: it thinks unseen, and ignores what it does not know.

platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk and docs.anthropic.com/ko/api/openai-sdk (ignored
fields, temperature up to 1, no caching, details always empty). Its own API's rules shine through: no prefilled answer,
no empty text (docs of the Messages API). Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call
from tests.zoo.service import Body, Service, plain_usage


class Anthropic(Service):
    name = "anthropic"
    model = "claude-opus-5"
    dialect = "anthropic"
    field = ""
    keeps = ()
    heeds_format = False
    tells = frozenset()
    cache_block = 0

    def check(self, body: Body) -> None:
        super().check(body)
        if (body.get("temperature") or 0) > 1:
            raise Refused(400, "temperature: Input should be less than or equal to 1", code="invalid_request_error")
        for at, message in enumerate(body["messages"]):
            if not message.get("content") and not message.get("tool_calls"):
                raise Refused(400, f"messages.{at}: text content blocks must be non-empty")
        if body["messages"][-1]["role"] == "assistant":
            raise Refused(
                400,
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            )

    def check_format(self, body: Body) -> None:
        """It ignores the parameter."""

    def call_id(self, call: Call, at: int) -> str:
        return f"toolu_{self._number:020d}{at}"

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted)

    def too_long(self, tokens: int) -> Refused:
        return Refused(400, f"prompt is too long: {tokens} tokens > {self.context} maximum")
