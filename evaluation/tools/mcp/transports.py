"""How servers are reached: streamable HTTP, and the standard streams of a command in the sandbox. Both with limits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
import httpx2
import mcp_types as types
from anyio.abc import Process
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from evaluation.sandbox import SandboxUnavailableError
from evaluation.sandbox.server import Prepared, prepare_server

MAX_MESSAGE = 4_000_000
"""Bytes of one message of a server."""
TICK = 0.5
"""Seconds between two looks at what a command uses."""
LAST_WORDS = 2_000
LAST_SECONDS = 2.0
"""That a command which has closed its output gets to say why."""
Streams = tuple[Any, Any]
"""To read and to write, of types that the SDK keeps to itself."""
TOO_LARGE = f"its answer had more than {MAX_MESSAGE // 1_000_000} MB"


class _Transport:
    """``excess`` says which limit ended it."""

    def __init__(self) -> None:
        self.excess = ""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Streams:
        async with AsyncExitStack() as stack:
            streams = await self._open(stack)
            self._stack = stack.pop_all()
            return streams

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def _open(self, stack: AsyncExitStack) -> Streams:
        raise NotImplementedError


class AddressTransport(_Transport):
    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        super().__init__()
        self._address = address
        self._headers = dict(headers)

    async def _open(self, stack: AsyncExitStack) -> Streams:
        client = httpx2.AsyncClient(
            headers=self._headers,
            timeout=httpx2.Timeout(30, read=300),
            transport=_LimitedHttp(self, httpx2.AsyncHTTPTransport()),
            trust_env=False,
        )
        await stack.enter_async_context(client)
        return await stack.enter_async_context(
            streamable_http_client(self._address, http_client=client, max_sse_event_size=MAX_MESSAGE)
        )


class _LimitedHttp(httpx2.AsyncBaseTransport):
    def __init__(self, owner: _Transport, inner: httpx2.AsyncBaseTransport) -> None:
        self._owner = owner
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):  # limited by event
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _LimitedStream(self._owner, response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, owner: _Transport, inner: httpx2.AsyncByteStream) -> None:
        self._owner = owner
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_MESSAGE:
                self._owner.excess = TOO_LARGE
                raise httpx2.ReadError(TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class CommandTransport(_Transport):
    def __init__(self, command: Sequence[str], files: Mapping[str, bytes], env: Mapping[str, str], folder: str) -> None:
        super().__init__()
        self._command, self._files, self._env = command, files, env
        self._folder = Path(folder) if folder else None
        self._heard = self._noise = ""
        self._status: int | None = None

    @property
    def last_words(self) -> str:
        """Why it is gone or not understood, as far as can be told."""
        if self._heard.strip():
            return self._heard.strip()
        if self._noise:
            return f"it printed “{self._noise}”, which is no message of the protocol"
        return "" if self._status is None else f"it ended with status {self._status} and said nothing"

    async def _open(self, stack: AsyncExitStack) -> Streams:
        try:
            prepared = stack.enter_context(
                prepare_server(self._command, files=self._files, env=self._env, programs=self._folder)
            )
        except SandboxUnavailableError as error:
            raise ConnectionError(str(error)) from None
        process = await anyio.open_process(
            prepared.chain.args,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=prepared.chain.env,
            cwd="/",
            pass_fds=prepared.chain.fds,
        )
        prepared.chain.close()
        stack.push_async_callback(_end, process)
        to_session, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        group = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(group.cancel_scope.cancel)
        for stream in (to_session, reading, writing, from_session):
            stack.callback(stream.close)

        silent = anyio.Event()

        async def read() -> None:
            assert process.stdout is not None
            pending = bytearray()
            async with to_session:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
                    while True:
                        first, *others = (await process.stdout.receive()).split(b"\n")
                        pending += first
                        if len(pending) > MAX_MESSAGE:
                            self.excess = TOO_LARGE
                            process.kill()
                            return
                        for rest in others:
                            if pending.strip():
                                await to_session.send(self._parsed(bytes(pending)))
                            pending = bytearray(rest)
                with anyio.move_on_after(LAST_SECONDS):
                    await silent.wait()
                    self._status = await process.wait()

        async def write() -> None:
            assert process.stdin is not None
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                async for sent in from_session:
                    text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(text.encode() + b"\n")
                return
            to_session.close()

        async def hear() -> None:
            assert process.stderr is not None
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
                while True:
                    heard = await process.stderr.receive()
                    self._heard = (self._heard + heard.decode("utf-8", "replace"))[-LAST_WORDS:]
            silent.set()

        for task in (read, write, hear):
            group.start_soon(task)
        group.start_soon(self._watch, process, prepared)
        return reading, writing

    def _parsed(self, line: bytes) -> SessionMessage | Exception:
        message = parse_message(line)
        if isinstance(message, Exception) and not self._noise:
            self._noise = line.decode("utf-8", "replace").strip()[:LAST_WORDS]
        return message

    async def _watch(self, process: Process, prepared: Prepared) -> None:
        ended = False
        while not ended:
            await anyio.sleep(TICK)
            ended = process.returncode is not None
            if excess := prepared.excess(process.pid):
                self.excess = excess
                with suppress(ProcessLookupError):
                    process.kill()
                return


async def _end(process: Process) -> None:
    """Everything inside goes with its first process."""
    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


def parse_message(line: bytes) -> SessionMessage | Exception:
    """Half characters, as some languages escape them, become question marks."""
    try:
        if b"\\u" in line:
            line = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError) as error:
        return error if isinstance(error, ValueError) else ValueError("nested too deeply")
