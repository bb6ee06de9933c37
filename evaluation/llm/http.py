"""HTTP to model endpoints: one request at a time on pooled connections, a deadline for the whole answer.

On the standard library, because a worker's processor time goes into its model calls: see ``tests.bench.model_client``.
"""

from __future__ import annotations

import base64
import http.client
import os
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment

import certifi

from evaluation.llm.addresses import open_socket

IDLE_SECONDS = 30.0
"""Connections that nobody has used for longer are closed rather than used."""
CHUNK = 1 << 16


class BrokenOffError(Exception):
    """The connection ended before the answer did; ``answered`` once some of it had come."""

    def __init__(self, *, answered: bool) -> None:
        super().__init__()
        self.answered = answered


class TooLargeError(Exception):
    pass


class UnreachableError(Exception):
    """No connection; nothing was sent."""


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes


@dataclass(frozen=True)
class Place:
    """Where a connection goes: the service, or the proxy before it."""

    scheme: str
    host: str
    port: int
    guarded: bool
    proxy: str = ""


_idle: dict[Place, deque[tuple[http.client.HTTPConnection, float]]] = {}
_lock = threading.Lock()


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, guarded: bool, max_bytes: int
) -> Response:
    """``guarded``: connect only to addresses that settings allow. Raises TimeoutError, InternalAddressError,
    UnreachableError, BrokenOffError, TooLargeError.
    """
    deadline = time.monotonic() + seconds
    parts = urlsplit(url)
    place = _place(parts, guarded)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _take(place) or _connect(place, _left(deadline))
    done = False
    try:
        if place.proxy and place.scheme == "http":
            target, headers = url, {**headers, **_credentials(place.proxy)}
        response = _exchange(connection, target, body, headers, deadline, max_bytes)
        done = connection.sock is not None and response.headers.get("connection", "").lower() != "close"
        return response
    finally:
        if done:
            _give_back(place, connection)
        else:
            connection.close()


def _exchange(
    connection: http.client.HTTPConnection,
    target: str,
    body: bytes,
    headers: Mapping[str, str],
    deadline: float,
    max_bytes: int,
) -> Response:
    answered = False
    try:
        connection.sock.settimeout(_left(deadline))
        connection.request("POST", target, body, headers)
        response = connection.getresponse()
        answered = True
        content = bytearray()
        while chunk := response.read1(CHUNK):
            content += chunk
            if len(content) > max_bytes:
                raise TooLargeError
            if connection.sock is not None:
                connection.sock.settimeout(_left(deadline))
    except TimeoutError:
        raise
    except (http.client.HTTPException, OSError) as error:
        raise BrokenOffError(answered=answered) from error
    if response.length:  # read1 ends silently where the rest is missing
        raise BrokenOffError(answered=True)
    response.close()  # http.client takes the next request only then
    return Response(response.status, {name.lower(): value for name, value in response.getheaders()}, bytes(content))


def _connect(place: Place, seconds: float) -> http.client.HTTPConnection:
    """Connected, so that a failure here is known to have sent nothing."""
    proxy = urlsplit(place.proxy)
    tunnelled = bool(place.proxy) and place.scheme == "https"
    host, port = (proxy.hostname or "", proxy.port or 80) if place.proxy else (place.host, place.port)
    if place.scheme == "https":
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=seconds, context=_tls()
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
    if tunnelled:
        connection.set_tunnel(place.host, place.port, headers=_credentials(place.proxy))
    guarded = place.guarded and not place.proxy  # a proxy of the environment resolves names itself

    def create(address: tuple[str, int], timeout: float, *_: object) -> socket.socket:
        return open_socket(*address, timeout, guarded=guarded)

    connection._create_connection = create  # type: ignore[attr-defined]  # the hook that urllib3 had it made for
    try:
        connection.connect()
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise UnreachableError(str(error)) from error
    return connection


def _take(place: Place) -> http.client.HTTPConnection | None:
    """The idle connection used last, unless the service has closed it meanwhile."""
    while True:
        with _lock:
            waiting = _idle.get(place)
            if not waiting:
                return None
            connection, since = waiting.pop()
        if time.monotonic() - since < IDLE_SECONDS and not _is_readable(connection.sock):
            return connection
        connection.close()


def _give_back(place: Place, connection: http.client.HTTPConnection) -> None:
    with _lock:
        _idle.setdefault(place, deque(maxlen=256)).append((connection, time.monotonic()))


def _is_readable(sock: socket.socket) -> bool:
    """Nothing was asked, so what can be read is the end of the connection."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _place(parts: SplitResult, guarded: bool) -> Place:
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Place(parts.scheme, host, port, guarded, _proxy_of(parts.scheme, host, port))


def _proxy_of(scheme: str, host: str, port: int) -> str:
    if host in ("127.0.0.1", "localhost", "::1"):
        return ""
    proxies = getproxies_environment()
    proxy = proxies.get(scheme) or proxies.get("all") or ""
    if not proxy.startswith("http://") or proxy_bypass_environment(f"{host}:{port}", proxies):
        return ""
    return proxy


def _credentials(proxy: str) -> dict[str, str]:
    parts = urlsplit(proxy)
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


@cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _forget() -> None:
    """A forked child must not share its parent's connections."""
    _idle.clear()


os.register_at_fork(after_in_child=_forget)
