"""A service over HTTP whose model holds everything a pilot needs, except what a test takes away."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
TEMPERATURES = {"Oslo": 7, "Rome": 24, "Lima": 19}


class Service:
    """``bend`` may change each answer (a whole chat completion) or replace it with a status and an error."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self.keys: list[str] = []
        self.listed: list[Body] | None = [{"id": "large", "object": "model"}]
        """None: there is no list of models."""
        self.bend: Callable[[Body, Body], Body | tuple[int, Body]] = lambda body, answer: answer
        self.gate = threading.Event()
        self.gate.set()
        self.base_url = ""
        self._seen: set[str] = set()

    def answer(self, body: Body) -> Body | tuple[int, Body]:
        self.bodies.append(body)
        self.gate.wait(60)
        schema = (body.get("response_format") or {}).get("type") == "json_schema"
        text, cities = say(body["messages"], tools=bool(body.get("tools")), schema=schema)
        message: Body = {"role": "assistant", "content": text}
        if cities:
            message["tool_calls"] = [_call(position, city) for position, city in enumerate(cities)]
        prompt = json.dumps(body["messages"])
        words = len(prompt.split())
        cached = words if any(prompt.startswith(earlier[:-2]) for earlier in self._seen) else 0
        self._seen.add(prompt)
        usage = {
            "prompt_tokens": words,
            "completion_tokens": 5,
            "total_tokens": words + 5,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "large-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if cities else "stop"}],
            "usage": usage,
        }
        return self.bend(body, answer)


def say(messages: Sequence[Body], *, tools: bool, schema: bool) -> tuple[str, list[str]]:
    """What a good model says in the exchange: words, and the cities whose temperature it looks up."""
    last = messages[-1]
    content = last.get("content")
    asked = str(content if isinstance(content, str) or not content else content[0]["text"])
    if tools:
        if last["role"] != "tool":
            return "", [city for city in TEMPERATURES if city in asked]
        told = [message for message in messages if message["role"] == "tool"]
        lima = any("Lima" in str(message.get("content")) for message in messages if message["role"] == "user")
        return ("19 °C." if lima else f"The sum is {sum(int(str(each['content'])[:2]) for each in told)}."), []
    if schema or "as JSON" in asked:
        return '{"decision": "YES", "reason": "So."}', []
    if "colour" in asked:
        return "Yellow.", []
    if "grind" in asked and len(asked) < 100:
        return "Corn.", []
    return ("Cobalt heron." if "password" in asked else "ready"), []


def _call(position: int, city: str) -> Body:
    function = {"name": "temperature", "arguments": json.dumps({"city": city})}
    return {"id": f"call{position}{city}", "type": "function", "function": function}


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            service.keys.append(self.headers.get("Authorization", ""))
            if service.listed is None:
                self._send(404, {"detail": "Not Found"})
            else:
                self._send(200, {"object": "list", "data": service.listed})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = service.answer(body)
            status, document = answer if isinstance(answer, tuple) else (200, answer)
            if status == 200 and body.get("stream"):
                self._stream(document, usage=bool((body.get("stream_options") or {}).get("include_usage")))
            else:
                self._send(status, document)

        def _stream(self, document: Body, *, usage: bool) -> None:
            [choice] = document["choices"]
            delta = {"index": 0, "delta": choice["message"], "finish_reason": None}
            end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
            common = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": document["model"]}
            chunks = [common | {"choices": [delta]}, common | {"choices": [end]}]
            if usage:
                chunks.append(common | {"choices": [], "usage": document.get("usage")})
            text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            self._send(200, text, "text/event-stream")

        def _send(self, status: int, document: Body | str, kind: str = "application/json") -> None:
            content = (document if isinstance(document, str) else json.dumps(document)).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.gate.set()
        server.shutdown()
        server.server_close()
