"""Reading a page of the web once, from a server on this machine that settings allow, or do not."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest
from django.utils import timezone

from studio.domain.web_pages import WebPage
from studio.files import web_recording
from studio.files.web_recording import RecordingError, record_page

FEES = "<html><head><meta charset=latin-1><title>Fees  2026</title></head><body><nav>Menu</nav><p>40 \xa3</p></body>"
Answer = tuple[int, dict[str, str], bytes]


class Site(BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, Answer]] = {
        "/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private\n"),
        "/fees": (200, {"Content-Type": "text/html"}, FEES.encode("latin-1")),
        "/old": (301, {"Location": "/fees#top"}, b""),
        "/round": (302, {"Location": "/round"}, b""),
        "/inside": (302, {"Location": "http://127.0.0.2:1/admin"}, b""),
        "/meta": (302, {"Location": "http://169.254.169.254/latest/meta-data/"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
        "/robbed": (302, {"Location": "/private/x"}, b""),
        "/private": (200, {"Content-Type": "text/html"}, b"<p>no"),
        "/plain": (
            200,
            {"Content-Type": "text/plain; charset=utf-8", "Content-Encoding": "gzip"},
            gzip.compress(b"Hi"),
        ),
        "/bomb": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(b"0" * 6_000_000)),
        "/large": (200, {"Content-Type": "text/plain"}, b"0" * 6_000_000),
        "/pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF"),
        "/empty": (200, {"Content-Type": "text/html"}, b"<script>1</script>"),
        "/gone": (410, {}, b""),
        "/halves": (200, {"Content-Type": "text/plain; charset=unicode_escape"}, b"a\\ud800\\0b"),
        "/names": (200, {"Content-Type": "text/plain; charset=punycode"}, b"-" + b"a" * 200_000),
    }

    def do_GET(self) -> None:
        status, headers, body = self.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # the reader had enough
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    settings.RECORDING_NETWORKS = ["127.0.0.1"]


def test_page_is_read_with_title_text_and_todays_date(site: str):
    page = record_page(f" {site}/old ")

    assert page == WebPage(f"{site}/fees", "Fees 2026", timezone.localdate().isoformat(), "40 £")
    assert record_page(f"{site}/plain").text == "Hi"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/private/x", "This site asks programs not to read the page."),
        ("/robbed", "This site asks programs not to read the page."),
        ("/round", "The address leads on and on."),
        ("/inside", "This address is inside an internal network."),
        ("/meta", "This address is inside an internal network."),
        ("/file", "Only addresses that begin with https:// or http:// can be read."),
        ("/bomb", "The page is larger than 5 MB."),
        ("/large", "The page is larger than 5 MB."),
        ("/pdf", "The address holds no page but a file (application/pdf)."),
        ("/empty", "The page holds no text without its scripts."),
        ("/gone", "The site answered with status 410."),
    ],
)
def test_author_is_told_why_a_page_is_not_read(site: str, path: str, message: str, settings: Any):
    with pytest.raises(RecordingError) as error:
        record_page(site + path)

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
    ],
)
def test_address_inside_a_network_is_not_connected(address: str, settings: Any):
    settings.RECORDING_NETWORKS = []

    with pytest.raises(RecordingError, match="inside an internal network"):
        record_page(address)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://example.org/", "Only addresses that begin with"),
        ("http://", "Only addresses that begin with"),
        ("http://a:b@example.org/", "Leave user name and password out"),
        ("http://example.org:22/", "Only the usual ports"),
        ("http://example.org:99999/", "This is not an address."),
        ("http://exa mple.org/", "holds a character that addresses do not have"),
        ("http://example.org/\r\nHost: x", "holds a character that addresses do not have"),
    ],
)
def test_what_is_no_web_address_is_refused_before_any_connection(address: str, message: str, settings: Any):
    settings.RECORDING_NETWORKS = []

    with pytest.raises(RecordingError, match=message):
        record_page(address)


@pytest.mark.parametrize(("path", "text"), [("/halves", "a?b"), ("/names", "-" + "a" * 200_000)])
def test_whatever_a_site_calls_its_encoding_its_text_can_be_stored_soon(site: str, path: str, text: str):
    assert record_page(site + path).text == text


def test_slow_site_times_out(site: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(web_recording, "SECONDS", 0.0)

    with pytest.raises(RecordingError, match="did not answer within"):
        record_page(f"{site}/fees")
