"""Gemini behind its OpenAI-compatible endpoint: a signature on the first call of each step, errors in an array.

ai.google.dev/gemini-api/docs/thought-signatures; 0xsline/OpenChatCut/issues/6 (2026-07-23, the error as it comes);
crmne/ruby_llm/issues/591 (extra_content); langbot-app/LangBot/issues/1899; docs.apiyi.com/en/faq/
gemini-thought-signature-missing.md (2026-10-15, corrupted ones). Thoughts are billed as output and stand in the total,
not in completion_tokens: seen in gateways (router-for-me/CLIProxyAPI/issues/5733, 2026-09-11), for the endpoint itself
unverified. Unknown names are refused. Read on 24 November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.zoo.checks import Refused, turns
from tests.zoo.counting import Counted
from tests.zoo.script import Call
from tests.zoo.service import Body, Service


class Gemini(Service):
    name = "gemini"
    model = "gemini-3.6-flash"
    dialect = "gemini"
    field = ""
    keeps = ()
    roles = ("system", "user", "assistant", "tool", "developer")
    unknown_refused = True
    fields = frozenset(
        "model messages tools tool_choice parallel_tool_calls response_format stream stream_options temperature top_p "
        "n stop max_tokens max_completion_tokens reasoning_effort extra_body user".split()
    )
    cache_block = 1

    def check(self, body: Body) -> None:
        super().check(body)
        *_, turn = turns(body["messages"])
        for at, message in turn:
            for place, call in enumerate(message.get("tool_calls") or ()):
                signature = ((call.get("extra_content") or {}).get("google") or {}).get("thought_signature")
                sent = (
                    self._sent.get(message["tool_calls"][0]["id"], {}).get("tool_calls", [{}])[0].get("extra_content")
                )
                if place == 0 and not signature:
                    raise Refused(
                        400,
                        "Function call is missing a thought_signature in functionCall parts. This is required for "
                        "tools to work correctly, and missing thought_signature may lead to degraded model "
                        f"performance. Additional data, function call `default_api:{call['function']['name']}` , "
                        f"position {at}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
                        "more details.",
                    )
                if place == 0 and sent != call["extra_content"]:
                    raise Refused(400, "Corrupted thought signature.")

    def unknown_field(self, name: str, body: Body) -> Refused:
        return Refused(400, f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')

    def call(self, call: Call, at: int) -> Body:
        whole = super().call(call, at)
        if at:
            return whole
        signature = f"sig-ZOO-THOUGHT-{self.name}-{self._number}=="
        return {"extra_content": {"google": {"thought_signature": signature}}, **whole}

    def call_id(self, call: Call, at: int) -> str:
        return f"function-call-{self._number * 1009 + at}"

    def usage(self, counted: Counted) -> Body:
        return {
            "prompt_tokens": counted.prompt,
            "completion_tokens": counted.completion - counted.reasoning,
            "total_tokens": counted.prompt + counted.completion,
            "prompt_tokens_details": {"cached_tokens": counted.cached},
        }

    def error(self, refused: Refused) -> Any:
        status = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        named = status.get(refused.status, "INVALID_ARGUMENT")
        return [{"error": {"code": refused.status, "message": refused.message, "status": named}}]

    def too_long(self, tokens: int) -> Refused:
        return Refused(
            400,
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({self.context}).",
        )

    def deltas(self, message: Body) -> Iterator[Body]:
        """Calls come whole."""
        yield from super().deltas({name: value for name, value in message.items() if name != "tool_calls"})
        if calls := message.get("tool_calls"):
            yield {"role": "assistant", "tool_calls": [{"index": at, **call} for at, call in enumerate(calls)]}

    def read_messages(self, body: Body) -> list[Body]:
        return json.loads(json.dumps(body["messages"]).replace("extra_content", "signature"))
