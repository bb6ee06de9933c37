"""OpenAI, Chat Completions, the GPT-5 family: no thoughts come, and parameters are refused by name.

Error texts: eclipse-basyx/basyx-pdf-to-aas/issues/8, decolua/9router/issues/560 (2026-04-11), johny-b/llmcomp/issues/69
(GPT-5.4, 2026-04-20); tools with effort: pipecat/issues/4043 (GPT-5.4), webmcp-tools/issues/417 (GPT-5.6, 2026-09-03),
BerriAI/litellm/pull/34569 (GPT-5.6 refuses tools even without effort). Writes are billed from GPT-5.6 on:
developers.openai.com/api/docs/guides/prompt-caching. Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.service import Body, Service


class OpenAIChat(Service):
    name = "openai-chat"
    model = "gpt-5.4"
    dialect = "openai"
    field = ""
    keeps = ()
    unknown_refused = True

    def check(self, body: Body) -> None:
        super().check(body)
        effort = body.get("reasoning_effort")
        if body.get("max_tokens") is not None:
            raise Refused(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                code="unsupported_parameter",
                param="max_tokens",
            )
        for name in ("temperature", "top_p"):
            if body.get(name) not in (None, 1) and effort != "none":
                raise Refused(
                    400,
                    f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the default (1) "
                    "value is supported.",
                    code="unsupported_value",
                    param=name,
                )
        if effort == "minimal":
            raise Refused(
                400,
                "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values "
                "are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
                code="unsupported_value",
                param="reasoning_effort",
            )
        if body.get("tools"):
            self.check_effort_with_tools(effort)

    def check_effort_with_tools(self, effort: str | None) -> None:
        if effort not in (None, "none"):
            raise Refused(
                400,
                f"Function tools with reasoning_effort are not supported for {self.model} in /v1/chat/completions. "
                "Please use /v1/responses instead.",
                param="reasoning_effort",
            )

    def does_think(self, body: Body) -> bool:
        return body.get("reasoning_effort") != "none"

    def document(self, message: Body, finish: str, counted: Counted) -> Body:
        document = super().document(message, finish, counted)
        document["choices"][0]["message"] = {"refusal": None, "annotations": [], **message}
        return document | {"service_tier": "default", "system_fingerprint": None}


class NewerOpenAIChat(OpenAIChat):
    """Tools want an effort of none, said aloud; what enters the cache is billed and told."""

    name = "openai-chat-5.6"
    model = "gpt-5.6-terra"
    settings = {"effort": "none"}
    bills_writes = True
    tells = frozenset({"cached", "written", "reasoning"})

    def check_effort_with_tools(self, effort: str | None) -> None:
        if effort != "none":
            raise Refused(
                400,
                f"Function tools with reasoning_effort are not supported for {self.model} in /v1/chat/completions. To "
                "use function tools, use /v1/responses or set reasoning_effort to 'none'.",
                param="reasoning_effort",
            )

    def usage(self, counted: Counted) -> Body:
        usage = super().usage(counted) or {}
        details = usage["prompt_tokens_details"] | {"cache_write_tokens": counted.written}
        return usage | {"prompt_tokens_details": details}
