"""llama.cpp's server with a template that wants user and assistant in turns.

ggml-org/llama.cpp tools/server/README.md (reasoning formats, timings, cached tokens) and pull/15780 with 400 since
(exceed_context_size_error); melagiri/code-insights/issues/271 (2026-04-04). Templates such as Gemma's raise where roles
do not alternate. Read on 24 November 2026.
"""

from __future__ import annotations

from itertools import pairwise

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.service import Body, Service


class LlamaCpp(Service):
    name = "llama.cpp"
    model = "gemma-4-12b-it-Q4_K_M.gguf"
    dialect = "llamacpp"
    hosted = False
    context = 65_536
    least_cached, cache_block = 1, 1

    def check(self, body: Body) -> None:
        super().check(body)
        spoken = [message["role"] for message in body["messages"] if message["role"] in ("user", "assistant")]
        for before, after in pairwise(spoken):
            if before == after == "user":
                raise Refused(
                    500,
                    "Value is not callable: Jinja Exception: Conversation roles must alternate user/assistant/user/"
                    "assistant/...",
                    kind="server_error",
                )

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        timings = {"cache_n": counted.cached, "prompt_n": counted.prompt - counted.cached}
        document = super().document(message, finish, counted) | {"system_fingerprint": "b9000-zoo"}
        return document | {"timings": timings | {"predicted_n": counted.completion}}

    def models(self) -> Body:
        models = super().models()
        models["data"][0]["meta"] = {"n_ctx": self.context, "n_ctx_train": 131_072}
        return models

    def error(self, refused: Refused) -> Body:
        return {"error": {"code": refused.status, "message": refused.message, "type": refused.kind} | refused.extra}

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"request ({tokens} tokens) exceeds the available context size ({self.context} tokens), try increasing it",
            kind="exceed_context_size_error",
            n_prompt_tokens=tokens,
            n_ctx=self.context,
        )
