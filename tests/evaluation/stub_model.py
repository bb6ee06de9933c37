"""A model over HTTP that does as a test tells it, and counts what it is asked."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str | tuple[int, str] | dict[str, Any]]
"""From a request's body: the text to answer, a status with a body, a whole message, or a whole document."""

INDEX = re.compile(r'<(?:requirement|criterion) index="(\d+)">')
KINDS = {"satisfaction judge": "satisfaction", "follow-up judge": "follow_up", "checklist judge": "checklist"} | {
    "help an expert": "helper",
    "Answer in JSON, by number": "opinion",
    "has wishes that they have not said yet": "next_intent",
    "You play a person": "voice",
    "You check a message": "voice_check",
}


class StubModel:
    """``asked`` counts requests by kind; ``bodies`` keeps them. ``gate`` holds answers back while it is not set.
    ``streams``: whether it streams what is asked for as a stream."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.agent: Answer = lambda body: "Done."
        self.satisfaction: Answer = lambda body: decisions(body, lambda index: False)
        self.follow_up: Answer = lambda body: decisions(body, lambda index: False)
        self.checklist: Answer = lambda body: decisions(body, lambda index: True)
        self.voice: Answer = lambda body: said("As I would say it.") if is_listening(body) else "As I would say it."
        self.voice_check: Answer = lambda body: (
            '{"answers": true, "says_all": true, "holds_back": true, "adds_nothing": true, "reason": ""}'
        )
        self.next_intent: Answer = lambda body: json.dumps({"reason": "", "index": int(wishes(body)[-1])})
        self.helper: Answer = lambda body: "{}"
        self.opinion: Answer = lambda body: "{}"
        self.gate = threading.Event()
        self.gate.set()
        self.base_url = ""
        self.streams = False
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> str | tuple[int, str] | dict[str, Any]:
        kind = kind_of(body)
        with self._lock:
            self.asked[kind] += 1
            self.bodies.append(body)
        self.gate.wait(60)
        reply: Answer = getattr(self, kind)
        return reply(body)


def kind_of(body: dict[str, Any]) -> str:
    system = str(body["messages"][0].get("content"))
    return next((kind for words, kind in KINDS.items() if words in system), "agent")


def is_listening(body: dict[str, Any]) -> bool:
    """Whether the user of the protocol ``paper`` is asked for."""
    return "<missing_before>" in body["messages"][1]["content"]


def said(message: str, missing: str = "") -> str:
    return json.dumps({"message": message, "missing": missing})


def wishes(body: dict[str, Any]) -> list[str]:
    return re.findall(r'<wish index="(\d+)"', body["messages"][1]["content"])


def decisions(body: dict[str, Any], yes: Callable[[int], bool], quote: str = "") -> str:
    """A judge's whole answer to a request."""
    asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
    style = {"style": "Clarify"} if kind_of(body) == "follow_up" else {}
    entries = [
        {"index": int(index), "decision": "YES" if yes(int(index)) else "NO", "quote": quote, "reason": "So."} | style
        for index in INDEX.findall(asked)
    ]
    return json.dumps({"decisions": entries})


def streamed(document: dict[str, Any]) -> str:
    """The same answer in one piece of a stream."""
    choice = document["choices"][0]
    calls = [{"index": at, **call} for at, call in enumerate(choice["message"].get("tool_calls") or ())]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    head = {**document, "object": "chat.completion.chunk", "usage": None}
    ends = "tool_calls" if calls else choice["finish_reason"]
    pieces = [{"index": 0, "delta": delta, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": ends}]
    events = [{**head, "choices": [piece]} for piece in pieces]
    events.append({**head, "choices": [], "usage": document["usage"]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


@contextmanager
def serving(stub: StubModel) -> Iterator[StubModel]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = stub.answer(body)
            if isinstance(answer, tuple):
                status, text = answer
            else:
                message = answer if isinstance(answer, dict) else {"role": "assistant", "content": answer}
                document = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
                }
                status, text = 200, json.dumps(message if "choices" in message else document)
            kind = "application/json"
            if stub.streams and body.get("stream") and status == 200:
                kind, text = "text/event-stream", streamed(json.loads(text))
            content = text.encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # whoever asked is gone

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.gate.set()
        server.shutdown()
        server.server_close()
