"""OpenRouter before Claude: thoughts twice, signed; cost and provider told; errors inside a 200.

openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details go back unmodified); openrouter.ai/docs/api/reference/
errors-and-debugging (after generation began the status is 200, and the error stands in the body or an event);
openrouter.ai/docs/prompt-caching (cached_tokens, cache_write_tokens; Claude needs
cache_control, in a part or, for all, at the top: openrouter.ai/docs/client-sdks/typescript/models/
anthropiccachecontroldirective). Read on 24 November
2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Asked, Call, Said
from tests.zoo.service import CREATED, Body, Reply, Service, pieces

FAILED = {"code": 502, "message": "Provider returned error", "metadata": {"provider_name": "Anthropic"}}


class OpenRouter(Service):
    name = "openrouter"
    model = "anthropic/claude-opus-5"
    dialect = "openrouter"
    field = "reasoning"
    keeps = ("reasoning_details",)
    keeps_answers = True
    tells = frozenset({"cached", "written", "reasoning"})
    bills_writes = True
    cache_wants_marks = True
    least_cached, cache_block = 512, 1

    def message(self, said: Said, thought: str) -> Body:
        message = super().message(said, thought)
        detail = {
            "type": "reasoning.text",
            "text": thought,
            "signature": f"sig-ZOO-THOUGHT-{self.name}-{self._number}==",
            "id": None,
            "format": "anthropic-claude-v1",
            "index": 0,
        }
        return message | {"refusal": None, "reasoning_details": [detail]}

    def call_id(self, call: Call, at: int) -> str:
        return f"toolu_{self._number:020d}{at}"

    def usage(self, counted: Counted) -> Body:
        usage = super().usage(counted) or {}
        details = {"cached_tokens": counted.cached, "cache_write_tokens": counted.written, "audio_tokens": 0}
        cost = float(self.cost(counted))
        return usage | {
            "cost": cost,
            "is_byok": False,
            "prompt_tokens_details": details,
            "cost_details": {"upstream_inference_cost": None},
        }

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        document = super().document(message, finish, counted) | {"provider": "Anthropic"}
        document["choices"][0] |= {"native_finish_reason": "end_turn", "logprobs": None}
        return document

    def error(self, refused: Refused) -> Body:
        return {"error": {"code": refused.status, "message": refused.message}, "user_id": "user_zoo"}

    def fault(self, name: str, body: Body, asked: Asked) -> Reply | Said:
        """``error_in_200``"""
        if not body.get("stream"):
            return Reply(json.dumps({"id": "gen-1", "error": FAILED, "user_id": "user_zoo"}).encode())
        common = {"id": "gen-1", "object": "chat.completion.chunk", "created": CREATED, "model": self.model}
        begun = {**common, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "I"}}]}
        ended = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        failed = {**common, "error": FAILED, "choices": [ended]}
        events = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in (begun, failed))
        return Reply([events, b"data: [DONE]\n\n"], content_type="text/event-stream")

    def events(self, body: Body, document: Body) -> Iterator[bytes]:
        yield b": OPENROUTER PROCESSING\n\n"
        yield from super().events(body, document)

    def pieces(self, value: Any) -> list[Any]:
        """Details come piece by piece, the signature last."""
        if not isinstance(value, list):
            return super().pieces(value)
        [detail] = value
        common = {name: detail[name] for name in ("type", "id", "format", "index")}
        return [
            *([common | {"text": part}] for part in pieces(detail["text"])),
            [common | {"signature": detail["signature"]}],
        ]
