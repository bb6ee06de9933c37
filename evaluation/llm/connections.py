"""Connections of the openai client: only to allowed addresses, and with limits of time and size on an answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache
from ssl import SSLContext
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
import openai

from studio.domain.hosts import CheckedBackend, NoAddressError

MAX_ANSWER_BYTES = 16 * 1024 * 1024
CONNECT_SECONDS = 20.0
HOLD_EVERY = 5.0
KEPT, KEPT_SECONDS = 64, 30
"""Connections that are not in use, and how long."""
CLIENTS = 64
"""Kept at once, each with its key; those of the same networks share connections."""
LAST_EVENTS = (b"[DONE]", b"response.completed", b"response.incomplete")
LINGER_SECONDS = 1.0
_making = threading.Lock()


class AnswerTooLargeError(httpx2.TransportError):
    pass


@dataclass
class Watch:
    """Limits of one answer."""

    seconds: float
    """For the whole."""
    on_data: Callable[[], object] = lambda: None
    """Called now and then while it comes."""
    started: float = field(default_factory=time.monotonic)
    received: int = 0
    _told: float = field(default_factory=time.monotonic)

    def see(self, piece: bytes) -> None:
        """Raises httpx2.ReadTimeout and AnswerTooLargeError."""
        self.received += len(piece)
        now = time.monotonic()
        if self.received > MAX_ANSWER_BYTES:
            raise AnswerTooLargeError("too large")
        if now - self.started > self.seconds:
            raise httpx2.ReadTimeout("too slow")
        if now - self._told > HOLD_EVERY:
            self._told = now
            self.on_data()


_watch: ContextVar[Watch] = ContextVar("watch")


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def expect_soon(response: httpx2.Response, seconds: float) -> None:
    """Once an answer has begun, its next piece may take no longer."""
    _hurry(response.extensions, seconds)


def _hurry(extensions: Mapping[str, Any], seconds: float) -> None:
    stream = extensions.get("network_stream")
    if isinstance(stream, _Stream):
        stream.patience = seconds


def client_of(address: str, key: str, networks: tuple[str, ...] | None) -> openai.OpenAI:
    """``networks``: None for an address that needs no check, as the scripted model's. Raises openai.OpenAIError."""
    with _making:  # sessions that begin together would each make one, with a pool of its own
        return _client(address, key, networks, os.getpid())


@lru_cache(CLIENTS)
def _client(address: str, key: str, networks: tuple[str, ...] | None, _: int) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=address,
        api_key=key or "none",
        organization="",
        project="",
        max_retries=0,
        http_client=_http(networks, _proxy_of(address), os.getpid()),
    )


@cache
def _http(networks: tuple[str, ...] | None, proxy: str, _: int) -> httpx2.Client:
    """One pool of connections for all that share it. A proxy resolves names itself."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=KEPT, keepalive_expiry=KEPT_SECONDS)
    transport = _ThroughProxy(proxy=proxy, limits=limits) if proxy else _Direct(networks)
    return httpx2.Client(transport=transport, trust_env=False, follow_redirects=False)


def _proxy_of(address: str) -> str:
    parts = urlsplit(address)
    if parts.hostname in ("127.0.0.1", "localhost", "::1") or proxy_bypass(parts.netloc):
        return ""
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all") or ""


class _Answer(httpx2.SyncByteStream):
    """The openai client stops reading at the last event; the end of the body behind it is read too, or the connection
    could not be used again."""

    def __init__(self, stream: Iterable[bytes], extensions: Mapping[str, Any]) -> None:
        self._stream = stream
        self._pieces = iter(stream)
        self._extensions = extensions
        self._watch = _watch.get()
        self._ends = False

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            for piece in self._pieces:
                self._watch.see(piece)
                self._ends = self._ends or any(mark in piece for mark in LAST_EVENTS)
                yield piece

    def close(self) -> None:
        if self._ends:
            _hurry(self._extensions, LINGER_SECONDS)
            with suppress(httpx2.HTTPError):
                for _ in self:
                    pass
        if close := getattr(self._stream, "close", None):
            close()


class _ThroughProxy(httpx2.HTTPTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        assert isinstance(response.stream, Iterable)
        response.stream = _Answer(response.stream, response.extensions)
        return response


class _Direct(httpx2.BaseTransport):
    """httpcore2's pool, whose connections go to checked addresses under the host's name."""

    def __init__(self, networks: tuple[str, ...] | None) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            max_connections=None,
            max_keepalive_connections=KEPT,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=_Backend(networks),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        assert isinstance(request.stream, httpx2.SyncByteStream)
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        asked = httpcore2.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        with _as_httpx():
            answer = self._pool.handle_request(asked)
        assert isinstance(answer.stream, Iterable)
        stream = _Answer(answer.stream, answer.extensions)
        return httpx2.Response(answer.status, headers=answer.headers, stream=stream, extensions=answer.extensions)

    def close(self) -> None:
        self._pool.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.RemoteProtocolError(str(error)) from error


class _Backend(CheckedBackend):
    def connect_tcp(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _Stream(super().connect_tcp(*args, **options))


class _Stream(httpcore2.NetworkStream):
    """Waits less long once ``patience`` is set, until the next request."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner
        self.patience: float | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        given = [seconds for seconds in (timeout, self.patience) if seconds is not None]
        return self._inner.read(max_bytes, min(given, default=None))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.patience = None
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def no_address(error: BaseException) -> NoAddressError | None:
    """What it was raised for, if that is that the host has no address that is allowed."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, NoAddressError):
        cause = cause.__cause__ or cause.__context__
    return cause
