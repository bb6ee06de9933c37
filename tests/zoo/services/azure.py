"""Azure OpenAI: as OpenAI, with filters that refuse a prompt or end an answer.

learn.microsoft.com/azure/ai-foundry/openai (content filtering, prompt caching); developersdigest.tech/errors/api/
azure-openai. Read on 24 November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Asked, Said, say
from tests.zoo.service import Body
from tests.zoo.services.openai_chat import OpenAIChat

SAFE = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}
PROMPT = [{"prompt_index": 0, "content_filter_results": SAFE}]


class Azure(OpenAIChat):
    name = "azure"

    def fault(self, name: str, body: Body, asked: Asked) -> Said:
        """``prompt_filtered`` or ``answer_filtered``"""
        if name == "answer_filtered":
            return replace(say(asked), text="", calls=(), finish="content_filter")
        raise Refused(
            400,
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please "
            "modify your prompt and retry.",
            code="content_filter",
            kind="invalid_request_error",
            param="prompt",
            innererror={
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": SAFE | {"violence": {"filtered": True, "severity": "medium"}},
            },
        )

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        document = super().document(message, finish, counted) | {"prompt_filter_results": PROMPT}
        document["choices"][0]["content_filter_results"] = SAFE
        return document

    def chunks(self, body: Body, document: Body) -> Iterator[Body]:
        """The first has no choice at all."""
        first = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": PROMPT}
        yield first
        yield from super().chunks(body, document)
