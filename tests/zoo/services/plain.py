"""A plain server that misbehaves as a test tells it: each name in ``faults`` spoils one answer.

What each shows was seen with real servers: streams without [DONE], U+2028 inside JSON, kept connections that were
closed, usage left out, pictures and JSON modes answered with 500, `<think>` with a draft before a judge's answer,
answers cut at their limit, refusals, quotas, rates, silence.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted, tokens_in
from tests.zoo.script import Asked, Said, say
from tests.zoo.service import Body, Reply, Service

THINKING_JUDGE = """\
<think>
ZOO-THOUGHT-plain-draft: a first draft.
```json
{draft}
```
</think>

```json
{answer}
```"""


class Plain(Service):
    name = "plain"
    model = "plain-1"
    hosted = False
    thinks = False
    keeps = ()

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        """Until it is set, slow and stalled answers wait; for a minute at most."""
        self.always: str = ""
        """A fault of every answer that it applies to."""

    def answer(self, seat: str, body: Body) -> Reply:
        if self.always and not self.faults:
            self.faults.append(self.always)
        return super().answer(seat, body)

    def fault(self, name: str, body: Body, asked: Asked) -> Reply | Said:
        said = say(asked)
        judged = asked.kind not in ("agent", "voice", "helper")
        if name in ("cut_text", "cut_judge"):
            return replace(said, text=said.text[: len(said.text) // 2], finish="length", calls=())
        if name == "cut_arguments":
            cut = tuple(replace(call, arguments=call.arguments[: len(call.arguments) // 2]) for call in said.calls)
            return replace(said, calls=cut, finish="length" if cut else "")
        if name == "fenced_draft":
            answer = replace(asked, form="json_object")
            draft = re.sub('"(YES|NO)"', lambda match: '"NO"' if match[1] == "YES" else '"YES"', say(answer).text)
            return Said(THINKING_JUDGE.format(draft=draft, answer=say(answer).text)) if judged else said
        if name == "only_a_thought":
            return said if judged else Said("<think>\nZOO-THOUGHT-plain-only: nothing to say.\n</think>")
        if name == "refusal":
            return Said(refusal="I can't help with that.")
        if name == "filtered":
            return Said(finish="content_filter")
        if name == "empty":
            return said if judged else Said()
        if name == "picture_500" and "image_url" in json.dumps(body["messages"]):
            raise Refused(500, "image input is not supported - hint: if this is unexpected, you may need the mmproj")
        if name == "schema_500" and body.get("response_format"):
            raise Refused(500, "1 validation error: response_format.type: Input should be 'text' or 'json_object'")
        if name == "quota":
            message = "You exceeded your current quota, please check your plan and billing details."
            raise Refused(429, message, code="insufficient_quota", kind="insufficient_quota")
        if name in REPLIES:
            return REPLIES[name]
        return self._shaped(name, body, said)

    def _shaped(self, name: str, body: Body, said: Said) -> Reply | Said:
        """Faults of the wire, in a whole answer."""
        if name not in ("no_done", "line_separator", "closed", "no_usage", "slow", "stalled", "no_index"):
            return said
        if name == "line_separator":
            said = replace(said, text=f"One\u2028two\u0085three. {said.text}", calls=())
        message = self.message(said, "")
        prompt = tokens_in(json.dumps(body))
        counted = Counted(prompt, 0, 0, tokens_in(json.dumps(message)), 0)
        document = self.document(message, "tool_calls" if said.calls else "stop", counted)
        if name == "no_usage":
            del document["usage"]
        if body.get("stream"):
            return Reply(self._spoiled(name, body, document), content_type="text/event-stream", drops=name == "closed")
        if name == "slow":
            return Reply(self._late(json.dumps(document).encode()))
        return Reply(json.dumps(document, ensure_ascii=False).encode(), drops=name == "closed")

    def _late(self, content: bytes) -> Iterator[bytes]:
        self.go_on.wait(60)
        yield content

    def _spoiled(self, name: str, body: Body, document: Body) -> Iterator[bytes]:
        if name == "slow":
            self.go_on.wait(60)
        for at, chunk in enumerate(self.chunks(body, document)):
            if name == "no_index":
                for choice in chunk["choices"]:
                    for call in choice["delta"].get("tool_calls", ()):
                        if "id" not in call:
                            del call["index"]
            if name == "no_usage":
                chunk.pop("usage", None)
            if name == "stalled" and at == 2:
                self.go_on.wait(60)
            yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
        if name != "no_done":
            yield b"data: [DONE]\n\n"


def _failing(status: int, message: str, **headers: str) -> Reply:
    return Reply(json.dumps({"error": {"message": message, "type": "error"}}).encode(), status, headers)


REPLIES = {
    "busy": _failing(429, "Rate limit reached.", **{"Retry-After": "1"}),
    "overloaded": _failing(529, "Overloaded"),
    "down": _failing(503, "The model is loading."),
    "detail": Reply(b'{"detail": "This field stands where others have an error."}', 400),
    "html": Reply(b"<html><h1>502 Bad Gateway</h1></html>", 502, content_type="text/html"),
    "no_choices": Reply(b'{"id": "1", "object": "chat.completion"}'),
    "not_json": Reply(b"Internal thoughts, not JSON"),
}
