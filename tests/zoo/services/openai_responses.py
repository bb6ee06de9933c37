"""OpenAI, Responses API, GPT-5.4.

Sources as in tests/zoo/responses.py; effort none with a temperature: vercel/ai/issues/10932; BerriAI/litellm/pull/34569
(2026-07-24). Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.responses import ResponsesService
from tests.zoo.service import Body

EFFORTS = ("none", "low", "medium", "high", "xhigh")


class OpenAIResponses(ResponsesService):
    name = "openai-responses"
    model = "gpt-5.4"
    dialect = "openai"

    def check(self, body: Body) -> None:
        effort = (body.get("reasoning") or {}).get("effort")
        if effort not in (None, *EFFORTS):
            raise Refused(
                400,
                f"Unsupported value: '{effort}' is not supported with the '{self.model}' model. Supported values are: "
                f"{', '.join(map(repr, EFFORTS))}.",
                code="unsupported_value",
                param="reasoning.effort",
            )
        for name in ("temperature", "top_p"):
            if body.get(name) not in (None, 1) and effort != "none":
                raise Refused(
                    400,
                    f"Unsupported parameter: '{name}' is not supported with this model.",
                    code="unsupported_parameter",
                    param=name,
                )
        super().check(body)

    def does_think(self, body: Body) -> bool:
        return bool((body.get("reasoning") or {}).get("effort") != "none")
