"""HTTP of the model client: kept connections, and what servers do wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from evaluation.llm.wire import WireClient, connect_anywhere

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


@contextmanager
def serving(*answers: bytes) -> Iterator[tuple[Server, Callable[[], bytes]]]:
    server = Server(list(answers))
    client = WireClient(connect_anywhere)

    def ask() -> bytes:
        headers = {"Authorization": "Bearer key", "Host": "127.0.0.1"}
        request = client.build_request("POST", server.url, headers=list(headers.items()), content=b"{}", timeout=5)
        response = client.send(request, stream=True)
        try:
            return b"".join(response.iter_bytes())
        finally:
            response.close()

    try:
        yield server, ask
    finally:
        client.close()
        server.close()


@pytest.mark.parametrize("answer", [WHOLE, CHUNKED])
def test_a_connection_serves_one_request_after_another(answer: bytes):
    with serving(answer, answer, answer) as (server, ask):
        assert [ask(), ask(), ask()] == [b"ok"] * 3
        assert server.connections == 1
        assert server.requests[0].startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
        assert server.requests[0].endswith(b"\r\n\r\n{}")


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
    with serving(WHOLE) as (server, _):
        client = WireClient(connect_anywhere)
        request = client.build_request(
            "POST", server.url, headers=[("Authorization", "Bearer a\r\nHost: b")], content=b""
        )
        with pytest.raises(httpx2.LocalProtocolError):
            client.send(request)
        assert server.requests == []


def test_a_place_that_refuses_is_an_error_of_the_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client = WireClient(connect_anywhere)
    with pytest.raises(httpx2.ConnectError):
        client.send(client.build_request("POST", f"http://127.0.0.1:{port}/", content=b"{}"))
