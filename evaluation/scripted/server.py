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

from django.conf import settings

from evaluation.scripted.answers import MODELS, ScriptedAnswer, UnknownModelError, answer, completion_of
from evaluation.scripted.faults import WIRE, FaultsByName
from evaluation.scripted.scenario import Scenario

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
MAX_BODY = 64 * 1024 * 1024
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 413: "Content Too Large"}

Headers = Mapping[str, str]
Response = tuple[int, Mapping[str, Any], dict[str, str]]


class ScriptedServer:
    """A server in a thread of its own. As a context manager it stops at the end.

    Stopping closes every connection. ``stats`` counts since the start or the last ``reset``.
    """

    def __init__(
        self, scenario: Scenario | None = None, *, host: str = "127.0.0.1", port: int = 0, latency: float = 0.0
    ) -> None:
        self.scenario = scenario or Scenario()
        self.latency = latency
        self.last_headers: Mapping[str, str] = {}
        """Of the newest request: for tests that ask what was sent."""
        self._host, self._port = host, port
        self._faults = FaultsByName()
        self._counts: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """What an endpoint has as its base URL."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}/v1"

    @property
    def stats(self) -> dict[str, int]:
        return dict(self._counts)

    def start(self) -> ScriptedServer:
        """Raises OSError if the port is taken."""
        ready = threading.Event()
        problem: list[OSError] = []

        def run() -> None:
            try:
                asyncio.run(self.serve(ready.set))
            except OSError as error:
                problem.append(error)
                ready.set()

        self._thread = threading.Thread(target=run, name="scripted-model", daemon=True)
        self._thread.start()
        ready.wait()
        if problem:
            raise problem[0]
        return self

    def stop(self) -> None:
        """Safe to call twice."""
        if self._loop and self._stop and self._thread and self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=10)

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
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
            while await self._one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, asyncio.CancelledError):
            pass  # the client's end of it, or ours
        finally:
            self._connections.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether another may follow on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        length = int(headers.get("content-length", 0))
        if not 0 <= length <= MAX_BODY:
            return _send(writer, _error(413, "The request is too large."))
        body = await reader.readexactly(length)
        route = (method, path.partition("?")[0].rstrip("/").rpartition("/")[2])
        if route == ("POST", "completions"):
            return await self._chat(body, headers, writer)
        if route == ("GET", "models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in MODELS]
            return _send(writer, (200, {"object": "list", "data": models}, {}))
        if route == ("GET", "stats"):
            return _send(writer, (200, self.stats, {}))
        if route == ("POST", "reset"):
            self.reset()
            return _send(writer, (200, {}, {}))
        return _send(writer, _error(404, f"There is nothing at {path}."))

    def reset(self) -> None:
        """Forget counts and how often fault was done."""
        in_flight = self._counts["in_flight"]
        self._counts.clear()
        self._counts["in_flight"] = in_flight
        self._faults.forget()

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
                return _send(writer, _error(400, "The request is not JSON."))
            if not isinstance(request, dict):
                return _send(writer, _error(400, "The request is not an object."))
            try:
                answered = answer(request, self.scenario, self._faults)
            except UnknownModelError as unknown:
                return _send(writer, _error(404, f"There is no model {unknown}.", "model_not_found"))
            counts[answered.role] += 1
            if answered.do:
                counts[f"do {answered.do}"] += 1
            if self.latency:
                await asyncio.sleep(self.latency)
            if answered.do in WIRE:
                refused = await _misbehave(answered, request, headers, writer)
                if refused is not None:
                    return refused
            completion = completion_of(answered, request, len(body))
            if request.get("stream") is True:
                return _stream(writer, completion)
            return _send(writer, (200, completion, {}))
        finally:
            counts["in_flight"] -= 1


async def _misbehave(
    answered: ScriptedAnswer, request: Mapping[str, Any], headers: Headers, writer: asyncio.StreamWriter
) -> bool | None:
    """Do the fault; None: it does not concern this request, which is answered as usual."""
    do = answered.do
    kind = request.get("response_format")
    kind = kind.get("type") if isinstance(kind, Mapping) else None
    statuses: dict[str, Response] = {
        "429": _error(429, "Too many requests.", "rate_limit_exceeded", {"Retry-After": f"{answered.retry_after:g}"}),
        "500": _error(500, "Something broke."),
        "503": _error(503, "Overloaded."),
        "401": _error(401, f"This key is wrong: {headers.get('authorization', '')}", "invalid_api_key"),
        "quota": _error(429, "The quota is spent.", "insufficient_quota"),
        "context": _error(400, "This model's maximum context length is exceeded.", "context_length_exceeded"),
    }
    if do in statuses:
        return _send(writer, statuses[do])
    if do in ("no-schema", "no-json"):
        if kind == "json_schema" or (kind and do == "no-json"):
            return _send(writer, _error(400, f"response_format {kind} is not supported."))
        return None
    if do == "error-200":
        return _send(writer, (200, {"error": {"message": "The provider behind failed.", "code": 502}}, {}))
    if do == "no-choices":
        return _send(writer, (200, {"object": "chat.completion", "choices": []}, {}))
    if do == "stall":
        await asyncio.sleep(answered.seconds)
    elif do == "cut" and request.get("stream") is True:
        chunk = {"choices": [{"index": 0, "delta": {"content": "I have be"}, "finish_reason": None}]}
        writer.write(STREAM_HEAD + f"data: {json.dumps(chunk)}\n\n".encode())
        await writer.drain()
    elif do == "cut":
        writer.write(
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices": [{"mes'
        )
        await writer.drain()
    elif do == "trickle":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)
    elif do in ("malformed", "html"):
        text = b'{"choices": [{"message":' if do == "malformed" else b"<!doctype html><title>Bad gateway</title>"
        kind_of = b"application/json" if do == "malformed" else b"text/html"
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (kind_of, len(text), text)
        )
        return True
    return False


def _error(status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Response:
    return status, {"error": {"message": message, "type": "scripted", "code": code or None}}, headers or {}


def _send(writer: asyncio.StreamWriter, response: Response) -> bool:
    status, document, headers = response
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    extra = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n{extra}\r\n".encode()
        + content
    )
    return True


def _stream(writer: asyncio.StreamWriter, completion: Mapping[str, Any]) -> bool:
    """The completion as server-sent events: role, text in pieces, tool calls, usage."""
    base = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    text = choice["message"]["content"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + 40]} for start in range(0, len(text), 40)]
    deltas += [
        {"tool_calls": [{"index": place} | call]} for place, call in enumerate(choice["message"].get("tool_calls", ()))
    ]
    chunks: list[dict[str, Any]] = [
        base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append(base | {"choices": [], "usage": completion["usage"]})
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    writer.write(STREAM_HEAD + events.encode())
    return False


_own: ScriptedServer | None = None
_own_lock = threading.Lock()


def address() -> str:
    """Where the scripted model answers: as set, or at a server that this process starts for itself, once."""
    if settings.SCRIPTED_MODEL_URL:
        return str(settings.SCRIPTED_MODEL_URL)
    global _own
    with _own_lock:
        if _own is None:
            _own = ScriptedServer().start()
        return _own.url
