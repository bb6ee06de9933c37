"""HTTP of the model client: kept connections, and what servers do wrong."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import httpx2
import pytest

from evaluation.llm import Endpoint, ModelClient
from evaluation.llm.wire import Wire, connect_anywhere

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Gives its answers in turn, over as many connections as are made."""

    def __init__(self, answers: list[bytes]) -> None:
        self.answers = answers
        self.connections = 0
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1/chat/completions"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._serve(line)

    def _serve(self, line: socket.socket) -> None:
        with line:
            while self.answers and (request := line.recv(65_536)):
                self.requests.append(request)
                answer = self.answers.pop(0)
                line.sendall(answer)
                if b"close" in answer or not answer.endswith((b"ok", b"0\r\n\r\n")):
                    return

    def close(self) -> None:
        self._listener.close()


def request(url: str, **headers: str) -> httpx2.Request:
    return httpx2.Request("POST", url, headers={"Authorization": "Bearer key", **headers}, content=b"another body")


@contextmanager
def serving(*answers: bytes) -> Iterator[tuple[Server, Callable[[], bytes]]]:
    server = Server(list(answers))
    wire = Wire(request(server.url), connect_anywhere)

    def ask() -> bytes:
        with closing(wire.post(b"{}", 5)) as answer:
            return b"".join(answer.iter_bytes())

    try:
        yield server, ask
    finally:
        wire.close()
        server.close()


@pytest.mark.parametrize("answer", [WHOLE, CHUNKED])
def test_a_connection_serves_one_request_after_another(answer: bytes):
    with serving(answer, answer, answer) as (server, ask):
        assert [ask(), ask(), ask()] == [b"ok"] * 3
        assert server.connections == 1
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
        assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
        assert head.lower().count(b"content-length: 2") == head.lower().count(b"content-length") == 1
        assert body == b"{}"


def test_a_compressed_answer_is_read():
    packed = gzip.compress(b"ok", mtime=0)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with serving(head + packed) as (_, ask):
        assert ask() == b"ok"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2",
        b"HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nContent-Length: 2",
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2",
        b"HTTP/1.1 200 OK\r\nX-Filler: %s\r\nContent-Length: 2" % (b"x" * 60_000),
    ],
)
def test_a_head_of_an_unusual_form_is_read(head: bytes):
    with serving(head + b"\r\n\r\nok") as (_, ask):
        assert ask() == b"ok"


def test_an_answer_that_says_no_length_ends_with_its_connection():
    with serving(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", WHOLE) as (server, ask):
        assert [ask(), ask()] == [b"ok", b"ok"]
        assert server.connections == 2


def test_what_comes_after_an_answer_is_not_taken_for_the_next_one():
    with serving(WHOLE + b"more, ok", WHOLE) as (server, ask):
        assert [ask(), ask()] == [b"ok", b"ok"]
        assert server.connections == 2


def test_a_request_larger_than_the_connection_takes_at_once_is_sent_whole():
    received = bytearray()

    def serve(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with line:
            while not received.endswith(b"end") and (piece := line.recv(65_536)):
                received.extend(piece)
            line.sendall(WHOLE)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        wire = Wire(request(f"http://127.0.0.1:{listener.getsockname()[1]}/"), connect_anywhere)
        with closing(wire.post(b"x" * 8_000_000 + b"end", 30)) as answer:
            assert b"".join(answer.iter_bytes()) == b"ok"
        wire.close()
    assert len(received.partition(b"\r\n\r\n")[2]) == 8_000_003


def test_headers_are_read_by_any_spelling():
    with serving(WHOLE.replace(b"200 OK\r\n", b"429 Slow\r\nRETRY-After: 7\r\n")) as (server, _):
        answer = Wire(request(server.url), connect_anywhere).post(b"{}", 5)

        assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
        answer.close()


def test_a_connection_that_the_server_closes_is_made_anew():
    with serving(CLOSING, WHOLE) as (server, ask):
        assert [ask(), ask()] == [b"ok", b"ok"]
        assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\nhalf",
    ],
)
def test_an_answer_that_breaks_off_or_is_no_http_is_an_error_of_the_protocol(answer: bytes):
    with serving(answer) as (_, ask), pytest.raises(httpx2.RemoteProtocolError):
        ask()


def test_a_line_break_in_a_header_is_not_sent():
    bad = request("http://127.0.0.1:1/", Authorization="Bearer a\r\nHost: b")
    with pytest.raises(httpx2.LocalProtocolError):
        Wire(bad, connect_anywhere)


def test_refused_connection_is_a_connection_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(httpx2.ConnectError):
        Wire(request(f"http://127.0.0.1:{port}/"), connect_anywhere).post(b"{}", 5)


def test_where_the_environment_names_a_proxy_requests_go_through_it(monkeypatch: pytest.MonkeyPatch):
    body = b'{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    proxy = Server([head % len(body) + body])
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1/chat/completions"))
    monkeypatch.setenv("FAR_API_KEY", "sk-far")
    far = ModelClient(Endpoint("far", "http://far.example/v1", "m", key_env="FAR_API_KEY"))

    assert far.complete([{"role": "user", "content": "?"}]).text == "ok"

    proxy.close()
    asked, *_, sent = proxy.requests[0].decode().split("\r\n")
    assert asked == "POST http://far.example/v1/chat/completions HTTP/1.1"
    assert "authorization: bearer sk-far" in proxy.requests[0].decode().lower()
    assert sent in ("", '{"model":"m","messages":[{"role":"user","content":"?"}]}')
