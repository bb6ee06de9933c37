"""HTTP/1.1 on kept connections, for requests to models alone.

Of an openai client's processor time for a request, httpx2 with its pool and parser takes two thirds, for cookies,
redirects, authentication, proxies and hooks that such requests have none of.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import httpx2

Connect = Callable[[str, int, float | None], socket.socket]
"""Host, port and seconds. Raises OSError, or httpcore2.ConnectError."""
Place = tuple[str, str, int]
KEPT = 256
"""Connections to one place that are kept while unused."""
KEPT_SECONDS = 30.0
PORTS = {"http": 80, "https": 443}
CHUNK = 65_536


def connect_anywhere(host: str, port: int, seconds: float | None) -> socket.socket:
    return socket.create_connection((host, port), seconds)


class WireClient(httpx2.Client):
    """Sends what it is given and follows nothing. Raises httpx2.RequestError as httpx2's own client does."""

    def __init__(self, connect: Connect) -> None:
        super().__init__(transport=_Unused(), trust_env=False)
        self._connect = connect
        self._kept: dict[Place, deque[tuple[float, socket.socket]]] = defaultdict(deque)
        self._tls: ssl.SSLContext | None = None

    def build_request(self, method: str, url: Any, **options: Any) -> httpx2.Request:
        timeout = options.get("timeout")
        seconds = timeout.as_dict() if isinstance(timeout, httpx2.Timeout) else httpx2.Timeout(timeout).as_dict()
        headers = [("Accept-Encoding", "gzip, deflate"), *(options.get("headers") or ())]
        content = options.get("content")
        return httpx2.Request(method, _url(str(url)), headers=headers, content=content, extensions={"timeout": seconds})

    def send(self, request: httpx2.Request, *, stream: bool = False, **_: Any) -> httpx2.Response:
        seconds = request.extensions["timeout"]
        place = _place(request.url)
        line = self._take(place) or self._open(place, request, seconds["connect"])
        try:
            answer = _exchange(line, request, seconds["read"])
        except BaseException:
            line.close()
            raise
        response = httpx2.Response(
            answer.status,
            headers=answer.getheaders(),
            stream=_Body(self, place, line, answer, request),
            request=request,
        )
        if not stream:
            response.read()
        return response

    def close(self) -> None:
        for lines in self._kept.values():
            while lines:
                lines.pop()[1].close()
        super().close()

    def keep(self, place: Place, line: socket.socket) -> None:
        """For another request. The one used last is taken first."""
        lines = self._kept[place]
        lines.append((time.monotonic(), line))
        if len(lines) > KEPT:
            lines.popleft()[1].close()

    def _take(self, place: Place) -> socket.socket | None:
        lines = self._kept[place]
        while True:
            try:
                kept_at, line = lines.pop()
            except IndexError:
                return None
            if time.monotonic() - kept_at < KEPT_SECONDS and not _has_something_to_read(line):
                return line
            line.close()  # the other end closed it, or will soon

    def _open(self, place: Place, request: httpx2.Request, seconds: float | None) -> socket.socket:
        scheme, host, port = place
        try:
            line = self._connect(host, port, seconds)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._secured(line, host) if scheme == "https" else line
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error), request=request) from error
        except Exception as error:
            raise httpx2.ConnectError(str(error), request=request) from error

    def _secured(self, line: socket.socket, host: str) -> socket.socket:
        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        try:
            return self._tls.wrap_socket(line, server_hostname=host)
        except BaseException:
            line.close()
            raise


class _Unused(httpx2.BaseTransport):
    """So that httpx2 makes none of its own."""


class _Body(httpx2.SyncByteStream):
    """Keeps the connection once it was read to its end, and closes it otherwise."""

    def __init__(
        self, client: WireClient, place: Place, line: socket.socket, answer: http.client.HTTPResponse, request: Any
    ) -> None:
        self._client = client
        self._place = place
        self._line = line
        self._answer = answer
        self._request = request
        self._whole = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            while piece := self._answer.read1(CHUNK):
                yield piece
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error), request=self._request) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise httpx2.RemoteProtocolError(str(error), request=self._request) from error
        if self._answer.length:
            raise httpx2.RemoteProtocolError("The answer ended before its length.", request=self._request)
        self._whole = True

    def close(self) -> None:
        self._answer.close()
        if self._whole and not self._answer.will_close:
            self._client.keep(self._place, self._line)
        else:
            self._line.close()
        self._whole = False


def _exchange(line: socket.socket, request: httpx2.Request, seconds: float | None) -> http.client.HTTPResponse:
    """The answer, read up to its body."""
    first = b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)
    head = [b"%s: %s" % field for field in request.headers.raw]
    if any(b"\r" in field or b"\n" in field or b"\0" in field for field in head):
        raise httpx2.LocalProtocolError("A header holds a line break.", request=request)
    line.settimeout(seconds)
    answer = http.client.HTTPResponse(line, method=request.method)
    try:
        try:
            line.sendall(b"\r\n".join([first, *head, b"", request.content]))
        except TimeoutError:
            raise
        except OSError:
            pass  # it may have answered, and closed, before it read everything
        answer.begin()
    except TimeoutError as error:
        raise httpx2.ReadTimeout(str(error), request=request) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise httpx2.RemoteProtocolError(str(error), request=request) from error
    return answer


def _has_something_to_read(line: socket.socket) -> bool:
    """Of a connection without a request: then it was closed."""
    try:
        poll = select.poll()
        poll.register(line, select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True


@lru_cache(maxsize=256)
def _url(text: str) -> httpx2.URL:
    return httpx2.URL(text)


@lru_cache(maxsize=256)
def _place(url: httpx2.URL) -> Place:
    return url.scheme, url.host, url.port or PORTS[url.scheme]
