"""SGLang with a reasoning parser: thoughts in `reasoning_content`, errors without an `error`.

docs/advanced_features/separate_reasoning.ipynb; entrypoints/openai/serving_base.py (the error's shape). Cached tokens
are told only with --enable-cache-report. Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.service import Body, Service, plain_usage


class SgLang(Service):
    name = "sglang"
    model = "zai-org/GLM-4.7"
    dialect = "sglang"
    hosted = False
    tells = frozenset({"reasoning"})
    cache_block = 0
    context = 131_072
    roles = ("system", "user", "assistant", "tool")

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"reasoning_tokens": counted.reasoning, "prompt_tokens_details": None}

    def error(self, refused: Refused) -> Body:
        kind = "BadRequestError" if refused.status == 400 else "NotFoundError"
        told = {"object": "error", "message": refused.message, "type": kind}
        return told | {"param": refused.param, "code": refused.status}

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"Input length ({tokens} tokens) exceeds the maximum allowed length ({self.context} tokens). Use a shorter "
            "input or enable --allow-auto-truncate.",
        )
