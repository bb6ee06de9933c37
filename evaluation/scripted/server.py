"""The scripted model over HTTP: POST …/chat/completions (streamed too), GET …/models, GET /stats, POST /reset."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType

from evaluation.scripted.answers import MODELS, UnknownModelError, answer_request, completion_of
from evaluation.scripted.faults import TRANSPORT_FAULTS, FaultsByName
from evaluation.scripted.responses import Headers, error_response, send_fault, send_response, stream_response
from evaluation.scripted.scenario import Scenario

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
