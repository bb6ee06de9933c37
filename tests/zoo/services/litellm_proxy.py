"""LiteLLM's proxy before Claude, and before Gemini with the signature inside the call's id.

BerriAI/litellm docs/my-website/docs/reasoning_content.md (thinking_blocks, the 400 without them); BerriAI/litellm/pull/
18374 (`__thought__` in ids); litellm.vercel.app/docs/completion/prompt_caching (usage). Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call, Said
from tests.zoo.service import Body, Service


class LiteLlm(Service):
    name = "litellm"
    model = "claude-opus"
    dialect = "litellm"
    keeps = ("thinking_blocks",)
    least_cached, cache_block = 1024, 1
    tells = frozenset({"cached", "written", "reasoning"})
    bills_writes = True
    cache_wants_marks = True

    def check(self, body: Body) -> None:
        super().check(body)
        for at, message in enumerate(body["messages"]):
            if message.get("tool_calls") and not message.get("thinking_blocks"):
                raise Refused(
                    400,
                    'litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":'
                    f'"invalid_request_error","message":"messages.{at}.content.0.type: Expected `thinking` or '
                    "`redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` "
                    'message must start with a thinking block."}}. Received Model Group=claude-opus',
                    code="400",
                    kind="None",
                )

    def message(self, said: Said, thought: str) -> Body:
        block = {
            "type": "thinking",
            "thinking": thought,
            "signature": f"sig-ZOO-THOUGHT-{self.name}-{self._number}==",
        }
        kept = {"thinking_blocks": [block]}
        return super().message(said, thought) | kept | {"provider_specific_fields": kept}

    def call_id(self, call: Call, at: int) -> str:
        return f"toolu_{self._number:020d}{at}"

    def usage(self, counted: Counted) -> Body:
        usage = super().usage(counted) or {}
        return usage | {"cache_creation_input_tokens": counted.written, "cache_read_input_tokens": counted.cached}


class LiteLlmGemini(Service):
    """The signature travels in the id of the first call."""

    name = "litellm-gemini"
    model = "gemini-flash"
    dialect = "litellm"
    keeps = ()

    def check(self, body: Body) -> None:
        super().check(body)
        for message in body["messages"]:
            if message.get("tool_calls") and "__thought__" not in message["tool_calls"][0]["id"]:
                raise Refused(
                    400, "litellm.BadRequestError: VertexAIException - Function call is missing a thought_signature"
                )

    def call_id(self, call: Call, at: int) -> str:
        plain = f"call_{self._number:012d}{at}"
        return plain if at else f"{plain}__thought__sig-ZOO-THOUGHT-{self.name}-{self._number}=="
