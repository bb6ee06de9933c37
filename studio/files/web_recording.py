"""Reading a page of the real web once, so that it can be stored with a persona. Only for benchmarks whose owner allows
it, and only from public addresses, redirects too."""

from __future__ import annotations

import codecs
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import httpcore2
from django.conf import settings
from django.utils import timezone

from studio.domain.hosts import CheckedBackend, InternalAddressError
from studio.domain.storable import storable
from studio.domain.web_pages import MAX_CHARACTERS, WebPage
from studio.files.web_text import text_of_html

SECONDS = 15.0
"""For everything: robots.txt, redirects and the page."""
MAX_BYTES = 5_000_000
MAX_ROBOTS = 500_000
MAX_REDIRECTS = 5
AGENT = "PiBenchStudio"
HEADERS = {
    "User-Agent": f"{AGENT}/1.0 (records single pages for benchmarks)",
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
HTML = ("text/html", "application/xhtml+xml")
_NOT_OF_PAGES = ("idna", "punycode")
"""Of names in addresses: decoding takes time that grows with the square."""
_REDIRECTS = (301, 302, 303, 307, 308)
_NOT_IN_URLS = re.compile(r"[^\x21-\x7e]|[\\<>\"{}^`|]")


class RecordingError(Exception):
    """The message tells the author why, and what to do instead."""


@dataclass(frozen=True)
class _Answer:
    address: str
    status: int
    headers: dict[str, str]
    body: bytes


def record_page(address: str) -> WebPage:
    """The page at ``address`` as it is today. Raises RecordingError."""
    deadline = time.monotonic() + SECONDS
    with httpcore2.ConnectionPool(network_backend=_TimedBackend(deadline), retries=0) as pool:
        asked: dict[str, RobotFileParser] = {}
        answer = _follow(pool, address.strip(), deadline, asked)
    if answer.status != 200:
        raise RecordingError(f"The site answered with status {answer.status}. Open the page and paste its text.")
    return _page_of(answer)


def _follow(
    pool: httpcore2.ConnectionPool, address: str, deadline: float, asked: dict[str, RobotFileParser]
) -> _Answer:
    for _ in range(MAX_REDIRECTS + 1):
        _require_web(address)
        _require_welcome(pool, address, deadline, asked)
        answer = _get(pool, address, deadline, MAX_BYTES)
        target = answer.headers.get("location", "")
        if answer.status not in _REDIRECTS or not target:
            return answer
        address = urljoin(address, target).partition("#")[0]
    raise RecordingError("The address leads on and on. Open it in a browser and use the address it ends at.")


def _require_web(address: str) -> None:
    """Raises RecordingError."""
    if _NOT_IN_URLS.search(address):
        raise RecordingError("This address holds a character that addresses do not have. Copy it from the browser.")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise RecordingError("This is not an address. Copy it from the browser.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise RecordingError("Only addresses that begin with https:// or http:// can be read.")
    if "@" in parts.netloc:
        raise RecordingError("Leave user name and password out of the address.")
    if port not in (None, 80, 443) and not settings.RECORDING_NETWORKS:
        raise RecordingError("Only the usual ports of web sites can be read. Open the page and paste its text.")


def _require_welcome(
    pool: httpcore2.ConnectionPool, address: str, deadline: float, asked: dict[str, RobotFileParser]
) -> None:
    """Raises RecordingError where the site asks programs to stay away. A site without robots.txt welcomes them."""
    parts = urlsplit(address)
    site = f"{parts.scheme}://{parts.netloc}"
    if site not in asked:
        rules = RobotFileParser()
        answer = _get(pool, f"{site}/robots.txt", deadline, MAX_ROBOTS)
        if answer.status in (401, 403):
            rules.parse(["User-agent: *", "Disallow: /"])
        elif answer.status == 200:
            rules.parse(answer.body.decode("utf-8", "replace").splitlines())
        else:
            rules.parse([])
        asked[site] = rules
    if not asked[site].can_fetch(AGENT, address):
        raise RecordingError("This site asks programs not to read the page. Open it in a browser and paste its text.")


def _get(pool: httpcore2.ConnectionPool, address: str, deadline: float, limit: int) -> _Answer:
    """Raises RecordingError."""
    left = max(deadline - time.monotonic(), 0.01)
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), left)
    try:
        with pool.stream("GET", address, headers=list(HEADERS.items()), extensions={"timeout": timeouts}) as response:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            body = b"".join(_limited(response.iter_stream(), headers, limit, deadline))
            return _Answer(address, response.status, headers, body)
    except InternalAddressError:
        _refuse("This address is inside an internal network. Paste the page’s text instead.")
    except httpcore2.TimeoutException:
        _refuse(f"The site did not answer within {SECONDS:g} seconds. Try again, or paste the page’s text.")
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, ValueError, zlib.error):
        _refuse("The site cannot be reached from here. Check the address, or paste the page’s text.")


def _refuse(message: str) -> NoReturn:
    raise RecordingError(message) from None


def _limited(chunks: Iterable[bytes], headers: dict[str, str], limit: int, deadline: float) -> Iterator[bytes]:
    """Unpacked, however much it unpacks to. Raises RecordingError."""
    packed = headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("identity", "gzip", "x-gzip", ""):
        raise RecordingError("The site sends the page in a form that cannot be read. Paste its text instead.")
    unpack = zlib.decompressobj(wbits=31) if packed.endswith("gzip") else None
    total = 0
    for chunk in chunks:
        if time.monotonic() > deadline:
            raise httpcore2.ReadTimeout
        data = unpack.decompress(chunk, limit - total + 1) if unpack else chunk
        total += len(data)
        if total > limit:
            raise RecordingError(f"The page is larger than {limit / 1e6:g} MB. Paste the part that matters.")
        yield data


def _page_of(answer: _Answer) -> WebPage:
    """Raises RecordingError."""
    kind, _, more = answer.headers.get("content-type", "text/html").partition(";")
    kind = kind.strip().lower()
    if kind not in HTML and not kind.startswith("text/"):
        raise RecordingError(f"The address holds no page but a file ({kind[:60]}). Open it and paste its text.")
    text = _decoded(answer.body, more, html=kind in HTML)
    title, text = text_of_html(text) if kind in HTML else ("", text.strip())
    if not text:
        raise RecordingError("The page holds no text without its scripts. Open it in a browser and paste its text.")
    today = timezone.localdate().isoformat()
    return WebPage(answer.address, title[:500] or answer.address, today, text[:MAX_CHARACTERS])


def _decoded(body: bytes, parameters: str, *, html: bool) -> str:
    """Whatever the site calls its encoding."""
    named = re.search(r"charset\s*=\s*[\"']?([\w-]+)", parameters, re.IGNORECASE)
    if named is None and html:
        head = body[:4096].decode("latin-1")
        named = re.search(r"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", head, re.IGNORECASE)
    try:
        encoding = codecs.lookup(named[1] if named else "utf-8").name
        text = body.decode("utf-8" if encoding in _NOT_OF_PAGES else encoding, "replace")
    except (LookupError, ValueError):
        text = body.decode("utf-8", "replace")
    return str(storable(text.replace("\0", "")))


class _TimedBackend(CheckedBackend):
    def __init__(self, deadline: float) -> None:
        super().__init__(settings.RECORDING_NETWORKS)
        self._deadline = deadline

    def connect_tcp(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _TimedStream(super().connect_tcp(*args, **options), self._deadline)


class _TimedStream(httpcore2.NetworkStream):
    """Every piece that arrives late counts towards one deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, self._left()), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return left
