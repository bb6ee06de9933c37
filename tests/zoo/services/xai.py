"""xAI's Grok: thoughts come only encrypted and only by the Responses API, where they should go back.

docs.x.ai/guides/reasoning (encrypted content, from grok-4.7 always); docs.x.ai/docs/guides/reasoning (penalties and
stop refused); neavo/LinguaGacha/issues/771 (2026-08-16: the error is a string);
docs.apiyi.com/en/api-capabilities/grok/ prompt-caching.md (2026-08-19, blocks of 128). Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.responses import ResponsesService
from tests.zoo.service import Body, Service

REFUSED = {"presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty", "stop": "stop"}


def check_grok(body: Body, model: str) -> None:
    for name, told in REFUSED.items():
        if body.get(name) is not None:
            raise Refused(400, f"Model {model} does not support parameter {told}.")


def grok_error(refused: Refused) -> Body:
    code = "Client specified an invalid argument" if refused.status == 400 else "The caller is not allowed to do so"
    return {"code": code, "error": refused.message}


class Xai(Service):
    name = "xai"
    model = "grok-4.7"
    dialect = "xai"
    field = ""
    keeps = ()
    least_cached = 128

    def check(self, body: Body) -> None:
        super().check(body)
        check_grok(body, self.model)

    def error(self, refused: Refused) -> Body:
        return grok_error(refused)


class XaiResponses(ResponsesService):
    name = "xai-responses"
    model = "grok-4.7"
    dialect = "xai"
    least_cached = 128
    always_encrypts = True

    def check(self, body: Body) -> None:
        super().check(body)
        check_grok(body, self.model)

    def error(self, refused: Refused) -> Body:
        return grok_error(refused)
