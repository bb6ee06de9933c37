"""A model behind OpenAI's Responses API, without stored state.

Read in openai/openai-python@e43b422 (2026-08-21, types and stream events), developers.openai.com/api/docs/guides/
reasoning, openai-agents-python/issues/919 (the 404 for what was not stored), cline/cline/issues/12242 (2026-07-12: a
call without its reasoning). November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.zoo.checks import Refused, check_functions, check_strict
from tests.zoo.counting import Counted
from tests.zoo.script import Asked, Said, say, text_of
from tests.zoo.service import CREATED, Body, Entry, Reply, Service, pieces

ENCRYPTED = "reasoning.encrypted_content"


class ResponsesService(Service):
    api = "responses"
    paths = ("responses",)
    keeps = ()
    tells = frozenset({"cached", "written", "reasoning"})
    always_encrypts = False
    unknown_refused = True
    fields = frozenset(
        "model input instructions tools tool_choice parallel_tool_calls max_output_tokens max_tool_calls reasoning "
        "text include store stream stream_options temperature top_p truncation metadata user service_tier "
        "prompt_cache_key safety_identifier previous_response_id top_logprobs background prompt_cache_retention".split()
    )

    def check(self, body: Body) -> None:
        if body.get("model") != self.model:
            message = f"The requested model '{body.get('model')}' does not exist."
            raise Refused(400, message, code="model_not_found", param="model")
        if unknown := sorted(body.keys() - self.fields):
            raise Refused(400, f"Unknown parameter: '{unknown[0]}'.", code="unknown_parameter", param=unknown[0])
        for at, tool in enumerate(body.get("tools") or ()):
            if "name" not in tool:
                raise Refused(
                    400,
                    f"Missing required parameter: 'tools[{at}].name'.",
                    code="missing_required_parameter",
                    param=f"tools[{at}].name",
                )
        check_functions(body.get("tools") or [], self.most_tools)
        form = (body.get("text") or {}).get("format") or {}
        if form.get("type") == "json_schema" and form.get("strict"):
            check_strict(form["schema"], f"response_format '{form.get('name')}'", "invalid_json_schema")
        self.check_items(items_in(body), stored=body.get("store", True))

    def check_items(self, items: list[Body], *, stored: bool) -> None:
        waiting: list[str] = []
        reasoning = ""
        for item in items:
            kind = item.get("type", "message")
            if kind == "function_call_output":
                if item["call_id"] not in waiting:
                    raise Refused(400, f"No tool call found for function call output with call_id {item['call_id']}.")
                waiting.remove(item["call_id"])
                continue
            if waiting and kind != "function_call":
                raise Refused(400, f"No tool output found for function call {waiting[0]}.", param="input")
            if reasoning and kind not in ("function_call", "message"):
                raise self.lonely(reasoning)
            if kind == "reasoning":
                self.check_reasoning(item, stored=stored)
                reasoning = item["id"]
                continue
            sent = self._sent.get(str(item.get("id")), {})
            if kind == "function_call":
                before = sent.get("after")
                if before and before != reasoning and not self._is_later_call(item, items):
                    raise Refused(
                        400,
                        f"Item '{item['id']}' of type 'function_call' was provided without its required 'reasoning' "
                        f"item: '{before}'.",
                        param="input",
                    )
                waiting.append(item["call_id"])
            reasoning = ""
        if reasoning:
            raise self.lonely(reasoning)
        if waiting:
            raise Refused(400, f"No tool output found for function call {waiting[0]}.", param="input")

    def _is_later_call(self, item: Body, items: list[Body]) -> bool:
        """Of calls made at once, whose reasoning stands before the first."""
        after = self._sent[item["id"]]["after"]
        ids = [each.get("id") for each in items]
        return after in ids and ids.index(after) < ids.index(item["id"])

    def lonely(self, item: str) -> Refused:
        return Refused(
            400,
            f"Item '{item}' of type 'reasoning' was provided without its required following item.",
            param="input",
        )

    def check_reasoning(self, item: Body, *, stored: bool) -> None:
        if stored:
            return
        if not item.get("encrypted_content"):
            raise Refused(
                404,
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. Try "
                "again with `store` set to true, or remove this item from your input.",
                param="input",
            )
        sent = self._sent.get(item["id"], {})
        if sent.get("encrypted_content") != item["encrypted_content"]:
            raise Refused(
                400,
                f"The encrypted content for item {item['id']} could not be verified.",
                code="invalid_encrypted_content",
            )

    # How one request is answered

    def answer(self, seat: str, body: Body) -> Reply:
        self.check(body)
        items = items_in(body)
        self.compare_items(items)
        messages = chat_of(items, body.get("instructions"))
        form = (body.get("text") or {}).get("format") or {}
        kind = form.get("type", "").replace("text", "")
        asked = Asked(
            messages,
            body.get("tools") or (),
            body.get("tool_choice"),
            body.get("parallel_tool_calls", True),
            kind,
            form.get("schema"),
        )
        said = self.fault(self.faults.pop(0), body, asked) if self.faults else say(asked)
        if isinstance(said, Reply):
            return said
        thought = self.thought(said) if self.does_think(body) else ""
        output = self.output(body, said, thought)
        counted = self.count(
            json.dumps([body.get("instructions"), body.get("tools") or []])[1:] + "\n".join(map(json.dumps, items)),
            {"content": said.text, "tool_calls": [call.arguments for call in said.calls]},
            thought,
        )
        document = self.response(body, said, output, counted)
        self.log.append(Entry(seat, body, 200, said, thought, counted, self.cost(counted)))
        if body.get("stream"):
            return Reply(self.response_events(document), content_type="text/event-stream")
        return Reply(json.dumps(document).encode())

    def output(self, body: Body, said: Said, thought: str) -> list[Body]:
        output: list[Body] = []
        if thought:
            item: Body = {"id": f"rs_{self._number:06d}", "type": "reasoning", "summary": self.summary(body, thought)}
            if ENCRYPTED in (body.get("include") or ()) or self.always_encrypts:
                item["encrypted_content"] = f"gAAAAA{thought.encode().hex()}"
            output.append(item)
        if said.text or not said.calls:
            part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
            if said.refusal:
                part = {"type": "refusal", "refusal": said.refusal}
            status = "incomplete" if said.finish else "completed"
            output.append(
                {
                    "id": f"msg_{self._number:06d}",
                    "type": "message",
                    "status": status,
                    "role": "assistant",
                    "content": [part],
                }
            )
        for at, call in enumerate(said.calls):
            output.append(
                {
                    "id": f"fc_{self._number:06d}{at}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": self.call_id(call, at),
                    "name": call.name,
                    "arguments": call.arguments,
                }
            )
        for item in output:
            needed = {"after": output[0]["id"]} if thought and item["type"] == "function_call" else {}
            self._sent[item["id"]] = self._sent[item.get("call_id", item["id"])] = item | needed
        return output

    def summary(self, body: Body, thought: str) -> list[Body]:
        wanted = (body.get("reasoning") or {}).get("summary")
        return [{"type": "summary_text", "text": f"**Summary**\n{thought}"}] if wanted else []

    def compare_items(self, items: list[Body]) -> None:
        present = {item.get("id") for item in items if item.get("type") == "reasoning"}
        for item in items:
            sent = dict(self._sent.get(str(item.get("call_id") or item.get("id")), {}))
            if item.get("type") == "function_call_output" or not sent:
                continue
            after = sent.pop("after", None)
            if after and after not in present:
                self.lost.append(f"the reasoning before the call {item['call_id']} did not come back")
            if changed := [name for name in item.keys() & sent.keys() if item[name] != sent[name]]:
                self.lost.append(f"{', '.join(changed)} of {sent!r} came back as {item!r}")

    def response(self, body: Body, said: Said, output: list[Body], counted: Counted) -> Body:
        return {
            "id": f"resp_{self._number:06d}",
            "object": "response",
            "created_at": CREATED,
            "status": "incomplete" if said.finish else "completed",
            "error": None,
            "incomplete_details": {"reason": REASONS[said.finish]} if said.finish else None,
            "instructions": body.get("instructions"),
            "model": self.model,
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools") or [],
            "temperature": 1.0,
            "top_p": 1.0,
            "store": body.get("store", True),
            "truncation": body.get("truncation", "disabled"),
            "reasoning": {"effort": (body.get("reasoning") or {}).get("effort"), "summary": None},
            "usage": self.usage(counted),
        }

    def usage(self, counted: Counted) -> Body:
        return {
            "input_tokens": counted.prompt,
            "input_tokens_details": {"cached_tokens": counted.cached, "cache_write_tokens": counted.written},
            "output_tokens": counted.completion,
            "output_tokens_details": {"reasoning_tokens": counted.reasoning},
            "total_tokens": counted.prompt + counted.completion,
        }

    # Its stream

    def response_events(self, document: Body) -> Iterator[bytes]:
        for number, event in enumerate(events_of(document)):
            told = json.dumps(event | {"sequence_number": number}, ensure_ascii=False)
            yield f"event: {event['type']}\ndata: {told}\n\n".encode()


REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


def events_of(document: Body) -> Iterator[Body]:
    opened = document | {"status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": opened}
    yield {"type": "response.in_progress", "response": opened}
    for at, item in enumerate(document["output"]):
        place = {"item_id": item["id"], "output_index": at}
        empty = item | {"status": "in_progress"}
        if item["type"] == "message":
            [part] = item["content"]
            kind = "refusal" if part["type"] == "refusal" else "output_text"
            name = "refusal" if kind == "refusal" else "text"
            yield {"type": "response.output_item.added", "output_index": at, "item": empty | {"content": []}}
            inside = place | {"content_index": 0}
            yield {"type": "response.content_part.added", **inside, "part": part | {name: ""}}
            for piece in pieces(part[name]):
                yield {"type": f"response.{kind}.delta", **inside, "delta": piece, "logprobs": []}
            yield {"type": f"response.{kind}.done", **inside, name: part[name], "logprobs": []}
            yield {"type": "response.content_part.done", **inside, "part": part}
        elif item["type"] == "function_call":
            yield {"type": "response.output_item.added", "output_index": at, "item": empty | {"arguments": ""}}
            for piece in pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
        else:
            early = {name: value for name, value in item.items() if name != "encrypted_content"}
            yield {"type": "response.output_item.added", "output_index": at, "item": early}
            for number, part in enumerate(item["summary"]):
                inside = place | {"summary_index": number}
                yield {"type": "response.reasoning_summary_part.added", **inside, "part": part | {"text": ""}}
                yield {"type": "response.reasoning_summary_text.delta", **inside, "delta": part["text"]}
                yield {"type": "response.reasoning_summary_text.done", **inside, "text": part["text"]}
                yield {"type": "response.reasoning_summary_part.done", **inside, "part": part}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    yield {"type": f"response.{document['status']}", "response": document}


def items_in(body: Body) -> list[Body]:
    given = body.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or [])


def chat_of(items: list[Body], instructions: Any) -> list[Body]:
    """The same conversation as chat messages, for the script."""
    messages: list[Body] = [{"role": "system", "content": instructions}] if instructions else []
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            messages.append({"role": item["role"], "content": text_of(item["content"])})
        elif kind == "function_call":
            call = {"id": item["call_id"], "function": {"name": item["name"], "arguments": item["arguments"]}}
            if messages and messages[-1]["role"] == "assistant":
                messages[-1].setdefault("tool_calls", []).append(call)
            else:
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
    return messages
