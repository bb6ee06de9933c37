"""The scripted model over HTTP: POST …/chat/completions (streamed too), GET …/models, GET /stats, POST /reset."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from evaluation.scripted.answers import MODELS, ScriptedAnswer, UnknownModelError, answer_request, completion_of
from evaluation.scripted.faults import TRANSPORT_FAULTS, FaultsByName
from evaluation.scripted.scenario import Scenario

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 413: "Content Too Large"}

Headers = Mapping[str, str]
Response = tuple[int, Mapping[str, Any], dict[str, str]]
"""Status, JSON document, extra headers."""


def error_response(status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Response:
    return status, {"error": {"message": message, "type": "scripted", "code": code or None}}, headers or {}


def send_response(writer: asyncio.StreamWriter, response: Response) -> bool:
    status, document, headers = response
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    extra = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n{extra}\r\n".encode()
        + content
    )
    return True


def stream_response(writer: asyncio.StreamWriter, completion: Mapping[str, Any]) -> bool:
    kept = ("id", "created", "model", "system_fingerprint")
    base = {key: completion[key] for key in kept} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    text = choice["message"]["content"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + 40]} for start in range(0, len(text), 40)]
    deltas += [
        {"tool_calls": [{"index": index} | call]} for index, call in enumerate(choice["message"].get("tool_calls", ()))
    ]
    chunks: list[dict[str, Any]] = [
        base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append(base | {"choices": [], "usage": completion["usage"]})
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    writer.write(STREAM_HEAD + events.encode())
    return False


async def send_fault(
    answer: ScriptedAnswer, request: Mapping[str, Any], headers: Headers, writer: asyncio.StreamWriter
) -> bool | None:
    """Respond with the answer's fault. None if it does not apply to this request."""
    fault = answer.do
    response_format = request.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, Mapping) else None
    statuses: dict[str, Response] = {
        "429": error_response(
            429, "Too many requests.", "rate_limit_exceeded", {"Retry-After": f"{answer.retry_after:g}"}
        ),
        "500": error_response(500, "Something broke."),
        "503": error_response(503, "Overloaded."),
        "401": error_response(401, f"This key is wrong: {headers.get('authorization', '')}", "invalid_api_key"),
        "quota": error_response(429, "The quota is spent.", "insufficient_quota"),
        "context": error_response(400, "This model's maximum context length is exceeded.", "context_length_exceeded"),
    }
    if fault in statuses:
        return send_response(writer, statuses[fault])
    if fault in ("no-schema", "no-schema-500", "no-json"):
        if kind == "json_schema" or (kind and fault == "no-json"):
            status = 500 if fault == "no-schema-500" else 400
            return send_response(writer, error_response(status, f"response_format {kind} is not supported."))
        return None
    if fault == "error-200":
        return send_response(writer, (200, {"error": {"message": "The provider behind failed.", "code": 502}}, {}))
    if fault == "no-choices":
        return send_response(writer, (200, {"object": "chat.completion", "choices": []}, {}))
    if fault == "stall":
        await asyncio.sleep(answer.seconds)
    elif fault == "cut" and request.get("stream") is True:
        chunk = {"choices": [{"index": 0, "delta": {"content": "I have be"}, "finish_reason": None}]}
        writer.write(STREAM_HEAD + f"data: {json.dumps(chunk)}\n\n".encode())
        await writer.drain()
    elif fault == "cut":
        writer.write(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices": [{"mes'
        )
        await writer.drain()
    elif fault == "trickle":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)
    elif fault in ("malformed", "html"):
        text = b'{"choices": [{"message":' if fault == "malformed" else b"<!doctype html><title>Bad gateway</title>"
        content_type = b"application/json" if fault == "malformed" else b"text/html"
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (content_type, len(text), text)
        )
        return True
    return False


MAX_BODY = 64 * 1024 * 1024


class ScriptedServer:
    """A server in its own thread; also a context manager. Stopping it closes all connections."""

    def __init__(
        self, scenario: Scenario | None = None, *, host: str = "127.0.0.1", port: int = 0, latency: float = 0.0
    ) -> None:
        self.scenario = scenario or Scenario()
        self.latency = latency
        self.last_headers: Mapping[str, str] = {}
        """Headers of the latest request, for tests."""
        self._host, self._port = host, port
        self._faults = FaultsByName()
        self._counts: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}/v1"

    @property
    def stats(self) -> dict[str, int]:
        return dict(self._counts)

    def start(self) -> ScriptedServer:
        """Raises OSError if the port is taken."""
        ready = threading.Event()
        errors: list[OSError] = []

        def run() -> None:
            try:
                asyncio.run(self.serve(ready.set))
            except OSError as error_response:
                errors.append(error_response)
                ready.set()

        self._thread = threading.Thread(target=run, name="scripted-model", daemon=True)
        self._thread.start()
        ready.wait()
        if errors:
            raise errors[0]
        return self

    def stop(self) -> None:
        if self._loop and self._stop and self._thread and self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=10)

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error_response: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve in this event loop until ``stop`` or cancellation."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, self._host, self._port, backlog=512, limit=2**16)
        self._port = server.sockets[0].getsockname()[1]
        ready()
        try:
            await self._stop.wait()
        finally:
            server.close()
            for connection in self._connections:
                connection.cancel()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._serve_request(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, asyncio.CancelledError):
            pass  # either side closed the connection
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; returns whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        length = int(headers.get("content-length", 0))
        if not 0 <= length <= MAX_BODY:
            return send_response(writer, error_response(413, "The request is too large."))
        body = await reader.readexactly(length)
        route = (method, path.partition("?")[0].rstrip("/").rpartition("/")[2])
        if route == ("POST", "completions"):
            return await self._chat(body, headers, writer)
        if route == ("GET", "models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in MODELS]
            return send_response(writer, (200, {"object": "list", "data": models}, {}))
        if route == ("GET", "stats"):
            return send_response(writer, (200, self.stats, {}))
        if route == ("POST", "reset"):
            self.reset()
            return send_response(writer, (200, {}, {}))
        return send_response(writer, error_response(404, f"There is nothing at {path}."))

    def reset(self) -> None:
        in_flight = self._counts["in_flight"]
        self._counts.clear()
        self._counts["in_flight"] = in_flight
        self._faults.reset()

    async def _chat(self, body: bytes, headers: Headers, writer: asyncio.StreamWriter) -> bool:
        self.last_headers = headers
        counts = self._counts
        counts["requests"] += 1
        counts["in_flight"] += 1
        counts["max_in_flight"] = max(counts["max_in_flight"], counts["in_flight"])
        try:
            try:
                request = json.loads(body)
            except (ValueError, RecursionError):
                return send_response(writer, error_response(400, "The request is not JSON."))
            if not isinstance(request, dict):
                return send_response(writer, error_response(400, "The request is not an object."))
            try:
                answered = answer_request(request, self.scenario, self._faults)
            except UnknownModelError as unknown:
                return send_response(writer, error_response(404, f"There is no model {unknown}.", "model_not_found"))
            counts[answered.role] += 1
            if answered.do:
                counts[f"do {answered.do}"] += 1
            if self.latency:
                await asyncio.sleep(self.latency)
            if answered.do in TRANSPORT_FAULTS:
                keep_open = await send_fault(answered, request, headers, writer)
                if keep_open is not None:
                    return keep_open
            completion = completion_of(answered, request, len(body))
            if request.get("stream") is True:
                return stream_response(writer, completion)
            return send_response(writer, (200, completion, {}))
        finally:
            counts["in_flight"] -= 1


_shared: ScriptedServer | None = None
_shared_lock = threading.Lock()


def shared_address() -> str:
    """Of a server that this process starts once."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = ScriptedServer().start()
        return _shared.url
