"""MiniMax M2: thoughts stand in the answer's text, or apart with `reasoning_split`; failures come with status 200.

platform.minimax.io/docs/api-reference/text-openai-api (thoughts go back whole, in either form);
developersdigest.tech/reference/api-compatibility/minimax (`<think>` inside content); `base_resp`: skills.sh/terrylica/
cc-skills/minimax (2026-04, 200 with a status code instead of 4xx). Read on 24 November 2026.
"""

from __future__ import annotations

import json

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Said
from tests.zoo.service import Body, Reply, Service, inline, plain_usage


class MiniMax(Service):
    name = "minimax"
    model = "MiniMax-M2.7"
    dialect = "minimax"
    field = ""
    keeps = ("content",)
    keeps_answers = True
    heeds_format = False
    splits = False
    roles = ("system", "user", "assistant", "tool")
    tells = frozenset({"cached"})
    least_cached, cache_block = 512, 1

    def check(self, body: Body) -> None:
        self.splits = bool(body.get("reasoning_split"))
        super().check(body)

    def check_format(self, body: Body) -> None:
        """It ignores the parameter."""

    def message(self, said: Said, thought: str) -> Body:
        message = super().message(said, thought)
        if not self.splits:
            return message | {"content": inline(thought, said.text)}
        detail = {"type": "reasoning.text", "id": f"reasoning-text-{self._number}", "format": "MiniMax-response-v1"}
        return message | {"reasoning_details": [{**detail, "index": 0, "text": thought}]}

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"prompt_tokens_details": {"cached_tokens": counted.cached}}

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        return super().document(message, finish, counted) | {"base_resp": {"status_code": 0, "status_msg": ""}}

    def refusal(self, refused: Refused) -> Reply:
        code = {401: 1004, 402: 1008, 429: 1002}.get(refused.status, 2013)
        base = {"status_code": code, "status_msg": refused.message}
        return Reply(json.dumps({"id": "", "choices": None, "created": 0, "model": "", "base_resp": base}).encode())

    def too_long(self, tokens: int) -> Refused:
        return Refused(400, f"invalid params, context window exceeds limit ({tokens} > {self.context})")


class SplittingMiniMax(MiniMax):
    """As asked with ``reasoning_split``."""

    name = "minimax-split"
    settings = {"params": {"reasoning_split": True}}
    keeps = ("reasoning_details",)
