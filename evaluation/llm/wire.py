"""HTTP/1.1 on kept connections, for requests to models alone.

Of an openai client's processor time for a request, httpx2 with its pool and parser takes two thirds, for cookies,
redirects, authentication, proxies and hooks that such requests have none of. Most answers say how long they are, in a
head that comes in one piece; the others are read by ``http.client``, whose parser takes longer than all the rest.
"""

from __future__ import annotations

import http.client
import io
import os
import re
import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

import httpx2

Connect = Callable[[str, int, float | None], socket.socket]
"""Host, port and seconds. Raises OSError, or httpcore2.ConnectError."""
KEPT = 256
"""Connections to one place that are kept while unused."""
KEPT_SECONDS = 30.0
PORTS = {"http": 80, "https": 443}
CHUNK = 65_536
FIRST = 8_192
"""Bytes, room for which each call has while it waits."""
_OWN = (b"content-length", b"accept-encoding", b"connection", b"transfer-encoding")
"""Headers that say how a request is sent."""
_STATUS = re.compile(r"HTTP/1\.1 ([2-5]\d\d)(?: |$)")
_BODILESS = (204, 304)


def connect_anywhere(host: str, port: int, seconds: float | None) -> socket.socket:
    return socket.create_connection((host, port), seconds)


class Answer(Protocol):
    """What is read of a response; httpx2.Response is one."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]:
        """By name in lower case."""
        ...

    def iter_bytes(self) -> Iterator[bytes]: ...
    def close(self) -> None: ...


class Wire:
    """Sends one request again and again, each time with another body, and follows nothing.

    Raises httpx2.RequestError as httpx2's own client does.
    """

    def __init__(self, template: httpx2.Request, connect: Connect) -> None:
        """Raises httpx2.LocalProtocolError."""
        url = template.url
        if url.scheme not in PORTS:
            raise httpx2.UnsupportedProtocol(f"{url.scheme} is not HTTP.")
        self._secure = url.scheme == "https"
        self._host, self._port = url.host, url.port or PORTS[url.scheme]
        fields = [field for field in template.headers.raw if field[0].lower() not in _OWN]
        head = [b"%s %s HTTP/1.1" % (template.method.encode(), url.raw_path), *(b"%s: %s" % field for field in fields)]
        if any(b"\r" in line or b"\n" in line or b"\0" in line for line in head):
            raise httpx2.LocalProtocolError("A header holds a line break.")
        self._head = b"\r\n".join([*head, b"Accept-Encoding: gzip, deflate", b"Content-Length: "])
        self._connect = connect
        self._kept: deque[tuple[float, socket.socket]] = deque()
        self._tls: ssl.SSLContext | None = None

    def post(self, content: bytes, seconds: float) -> Answer:
        """The answer up to its body."""
        line = self._take() or self._open(seconds)
        try:
            if line.gettimeout() != seconds:
                line.settimeout(seconds)
            try:
                _send(line, b"%s%d\r\n\r\n%s" % (self._head, len(content), content))
            except TimeoutError:
                raise
            except OSError:
                pass  # it may have answered, and closed, before it read everything
            answer = _Answer(self, line, *_begin(line))
        except BaseException as error:
            line.close()
            raise _translated(error) from error
        return answer.decoded() if "content-encoding" in answer.headers else answer

    def close(self) -> None:
        while self._kept:
            self._kept.pop()[1].close()

    def keep(self, line: socket.socket) -> None:
        """For another request. The one used last is taken first."""
        self._kept.append((time.monotonic(), line))
        if len(self._kept) > KEPT:
            self._kept.popleft()[1].close()

    def _take(self) -> socket.socket | None:
        while True:
            try:
                kept_at, line = self._kept.pop()
            except IndexError:
                return None
            if time.monotonic() - kept_at < KEPT_SECONDS and not _has_something_to_read(line):
                return line
            line.close()  # the other end closed it, or will soon

    def _open(self, seconds: float) -> socket.socket:
        try:
            line = self._connect(self._host, self._port, seconds)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._secured(line) if self._secure else line
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except Exception as error:
            raise httpx2.ConnectError(str(error)) from error

    def _secured(self, line: socket.socket) -> socket.socket:
        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        try:
            return self._tls.wrap_socket(line, server_hostname=self._host)
        except BaseException:
            line.close()
            raise


class _Found(Protocol):
    """An answer up to its body; http.client.HTTPResponse is one."""

    status: int
    length: int | None
    """Of what is left to read; None if that is not known."""
    will_close: bool

    def read1(self, n: int, /) -> bytes: ...
    def close(self) -> None: ...


class _Sized:
    """An answer that said how long it is. ``begun`` is what came of it with its head."""

    def __init__(self, line: socket.socket, status: int, begun: bytes, length: int, *, will_close: bool) -> None:
        self.status = status
        self.will_close = will_close or len(begun) > length
        self._line = line
        self._begun = begun[:length]
        self.length: int | None = length - len(self._begun)

    def read1(self, n: int, /) -> bytes:
        piece, self._begun = self._begun, b""
        if not piece and self.length:
            piece = self._line.recv(min(n, self.length))
            self.length -= len(piece)
        return piece

    def close(self) -> None:
        pass


def _begin(line: socket.socket) -> tuple[_Found, Mapping[str, str]]:
    start = line.recv(FIRST)
    if read := _read_head(line, start):
        return read
    found = http.client.HTTPResponse(_Replaying(start, line), method="POST")  # type: ignore[arg-type]  # it needs no more
    found.begin()
    return found, {name.lower(): value for name, value in found.headers.raw_items()}


def _read_head(line: socket.socket, start: bytes) -> tuple[_Sized, Mapping[str, str]] | None:
    """None if that takes more than is done here."""
    head, end, begun = start.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    status = _STATUS.match(first)
    if not end or not status or int(status[1]) in _BODILESS:
        return None
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        name = name.lower()
        if not colon or not name or name.strip() != name or name in headers or "\n" in field or "\r" in field:
            return None
        headers[name] = value.strip()
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
        return None
    will_close = "close" in headers.get("connection", "").lower()
    return _Sized(line, int(status[1]), begun, int(length), will_close=will_close), headers


class _Replaying(io.RawIOBase):
    """A connection of which something was read already, for ``http.client``."""

    def __init__(self, start: bytes, line: socket.socket) -> None:
        self._start = start
        self._line = line

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._start:
            return self._line.recv_into(buffer)
        count = min(len(buffer), len(self._start))
        buffer[:count], self._start = self._start[:count], self._start[count:]
        return count


class _Answer:
    """Keeps the connection once it was read to its end, and closes it otherwise."""

    def __init__(self, wire: Wire, line: socket.socket, found: _Found, headers: Mapping[str, str]) -> None:
        self._wire = wire
        self._line = line
        self._found = found
        self._whole = self._closed = False
        self.status_code = found.status
        self.headers = headers

    def iter_bytes(self) -> Iterator[bytes]:
        try:
            while piece := self._found.read1(CHUNK):
                yield piece
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _translated(error) from error
        if self._found.length:
            raise httpx2.RemoteProtocolError("The answer ended before its length.")
        self._whole = True

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._found.close()
        if self._whole and not self._found.will_close:
            self._wire.keep(self._line)
        else:
            self._line.close()

    def decoded(self) -> Answer:
        return httpx2.Response(self.status_code, headers=dict(self.headers), stream=_Stream(self))


class _Stream(httpx2.SyncByteStream):
    def __init__(self, answer: _Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_bytes()

    def close(self) -> None:
        self._answer.close()


def _send(line: socket.socket, content: bytes) -> None:
    """Without first waiting, as the socket module does, until something can be sent: it nearly always can."""
    sent = 0
    if not isinstance(line, ssl.SSLSocket):
        with suppress(BlockingIOError):
            sent = os.write(line.fileno(), content)
    if sent < len(content):
        line.sendall(memoryview(content)[sent:])


def _translated(error: BaseException) -> BaseException:
    if isinstance(error, TimeoutError):
        return httpx2.ReadTimeout(str(error))
    if isinstance(error, (OSError, http.client.HTTPException, ValueError)):
        return httpx2.RemoteProtocolError(str(error))
    return error


def _has_something_to_read(line: socket.socket) -> bool:
    """Of a connection without a request: then it was closed."""
    try:
        poll = select.poll()
        poll.register(line, select.POLLIN)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True
