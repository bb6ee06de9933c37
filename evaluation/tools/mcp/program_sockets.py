"""Two sockets for a program in the sandbox: the session's tools over MCP, and its model over the OpenAI API.

The protocols run in a thread of their own; what is asked is answered in the caller's, which has the session's
connection to the database.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.tools.mcp.tool_server import build_tool_server

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from mcp_types import Tool as McpTool

TOOLS, MODEL = "/run/studio/tools.sock", "/run/studio/model.sock"
"""Where the program finds them."""
ENV = (("STUDIO_TOOLS_SOCKET", TOOLS), ("STUDIO_MODEL_SOCKET", MODEL))
MAX_MESSAGE = 4_000_000
"""Bytes of a message, or of a request."""
MAX_CONNECTIONS = 8
TICK = 0.05

Call = Callable[[str, dict[str, Any]], tuple[str, bool]]
"""A tool's name and arguments → its result, and whether it failed."""
Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""A request for a completion → the completion. Raises RefusedError."""


class RefusedError(Exception):
    """What the program is told of a request to the model that is not answered."""


class ProgramSockets:
    """Open while the program runs. ``attend`` answers it."""

    def __init__(self, tools: Sequence[McpTool], call: Call, ask: Ask) -> None:
        self._tools = tools
        self._answer: dict[str, Callable[..., Any]] = {"call": call, "ask": ask}
        self._asked: queue.SimpleQueue[tuple[Future[Any], str, tuple[Any, ...]]] = queue.SimpleQueue()
        self._opened = ExitStack()
        self._failure: BaseException | None = None
        self.stop = threading.Event()
        """Ends the program."""
        self._folder, self._secret = Path(), secrets.token_hex(16)

    @property
    def paths(self) -> tuple[tuple[Path, str], ...]:
        return (self._folder / f"{self._secret}-tools", TOOLS), (self._folder / f"{self._secret}-model", MODEL)

    def __enter__(self) -> ProgramSockets:
        from anyio.from_thread import start_blocking_portal

        with ExitStack() as stack:
            self._folder = Path(tempfile.mkdtemp(prefix="sockets-"))
            stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
            portal = stack.enter_context(start_blocking_portal())
            serving, _ = portal.start_task(self._serve)
            stack.callback(serving.cancel)
            for path, _ in self.paths:
                path.chmod(0o666)  # the program is nobody
            self._folder.chmod(0o711)  # others of this machine can neither list it nor guess the names
            self._opened = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        self._refuse_rest()
        self._opened.close()

    def attend(self, program: threading.Thread) -> None:
        """Until the program has ended. Raises what answering it raised, once it has been ended."""
        while program.is_alive() or not self._asked.empty():
            try:
                future, kind, given = self._asked.get(timeout=TICK)
            except queue.Empty:
                continue
            if self._failure is not None:
                future.set_exception(RefusedError("The session ends."))
                continue
            try:
                future.set_result(self._answer[kind](*given))
            except RefusedError as error:
                future.set_exception(error)
            except BaseException as error:
                self._failure = error
                self.stop.set()
                future.set_exception(RefusedError("The session ends."))
        if self._failure is not None:
            raise self._failure

    def _refuse_rest(self) -> None:
        while not self._asked.empty():
            self._asked.get()[0].set_exception(RefusedError("The session ends."))

    async def _pass_on(self, kind: str, *given: Any) -> Any:
        future: Future[Any] = Future()
        self._asked.put((future, kind, given))
        return await asyncio.wrap_future(future)

    async def _serve(self, *, task_status: Any) -> None:
        import anyio

        tools, model = [await anyio.create_unix_listener(path) for path, _ in self.paths]
        places = anyio.Semaphore(MAX_CONNECTIONS)

        def limited(serve: Callable[[SocketStream], Any]) -> Callable[[SocketStream], Any]:
            async def handle(stream: SocketStream) -> None:
                async with places, stream:
                    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError):
                        await serve(stream)

            return handle

        async with anyio.create_task_group() as group:
            group.start_soon(tools.serve, limited(self._serve_tools))
            group.start_soon(model.serve, limited(self._serve_model))
            task_status.started()

    async def _serve_tools(self, stream: SocketStream) -> None:
        """One connection: messages by line, as over standard streams."""
        import anyio
        from mcp.shared.message import SessionMessage

        from evaluation.tools.mcp.transports import parse_message

        async def call(context: Any, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
            try:
                text, failed = await self._pass_on("call", name, arguments)
            except RefusedError as error:
                return f"Error: {error}", True
            return text, failed

        server = build_tool_server("studio", self._tools, call)
        to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            pending = bytearray()
            async with to_server:
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    while len(pending) <= MAX_MESSAGE:
                        first, *others = (await stream.receive()).split(b"\n")
                        pending += first
                        for rest in others:
                            if pending.strip():
                                await to_server.send(parse_message(bytes(pending)))
                            pending = bytearray(rest)

        async def write() -> None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for sent in from_server:
                    text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await stream.send(text.encode() + b"\n")

        async with anyio.create_task_group() as group, reading, writing, from_server:
            group.start_soon(read)
            group.start_soon(write)
            await server.run(reading, writing, server.create_initialization_options())
            group.cancel_scope.cancel()

    async def _serve_model(self, stream: SocketStream) -> None:
        """One request of HTTP/1.1, answered and closed."""
        head, body = await _read_request(stream)
        path = head.split(b" ", 2)[1:2]
        if not path or not path[0].split(b"?")[0].endswith(b"/chat/completions"):
            return await stream.send(_response(404, _error("Here is only /v1/chat/completions.")))
        try:
            request = json.loads(body)
            if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
                raise ValueError
        except (ValueError, RecursionError):
            return await stream.send(_response(400, _error("This is no request for a completion.")))
        try:
            completion = await self._pass_on("ask", request)
        except RefusedError as error:
            return await stream.send(_response(400, _error(str(error))))
        if request.get("stream"):
            return await stream.send(_response(200, _events(completion), "text/event-stream"))
        return await stream.send(_response(200, json.dumps(completion)))


async def _read_request(stream: SocketStream) -> tuple[bytes, bytes]:
    received = bytearray()
    while b"\r\n\r\n" not in received and len(received) < 64_000:
        received += await stream.receive()
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    headers = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
    try:
        length = min(int(headers.get(b"content-length", b"0")), MAX_MESSAGE)
    except ValueError:
        length = 0
    whole = bytearray(body)
    while len(whole) < length:
        whole += await stream.receive()
    return head, bytes(whole)


def _response(status: int, text: str, kind: str = "application/json") -> bytes:
    content = text.encode("utf-8", "replace")
    head = f"HTTP/1.1 {status} .\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    return head.encode() + content


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error"}})


def _events(completion: dict[str, Any]) -> str:
    """The whole answer in one event, for clients that want a stream."""
    choice = completion["choices"][0]
    message = dict(choice["message"])
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    common = {"id": completion["id"], "object": "chat.completion.chunk", "created": 0, "model": completion["model"]}
    said = {**common, "choices": [{"index": 0, "delta": message, "finish_reason": choice["finish_reason"]}]}
    used = {**common, "choices": [], "usage": completion["usage"]}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in (said, used)) + "data: [DONE]\n\n"
