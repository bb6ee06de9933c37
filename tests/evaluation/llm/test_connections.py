"""HTTP of the model client: kept connections, limits of time, and what servers do wrong."""

from __future__ import annotations

import gc
import json
import socket
import ssl
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluation.llm import (
    Endpoint,
    EndpointError,
    EndpointLimits,
    EndpointTimeoutError,
    Lane,
    ModelClient,
    Policy,
    RateLimitError,
    RetryPolicy,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from evaluation.llm.connections import CLIENTS, Watch, client_of
from evaluation.llm.slots import LocalSlots
from studio.domain import hosts
from tests.evaluation.conftest import LOCAL

HELLO = [{"role": "user", "content": "?"}]
BODY = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
Send = Callable[[bytes], None]
Play = Callable[[Send], None]
"""Answers one request."""


def whole(body: object, head: bytes = b"") -> Play:
    content = json.dumps(body).encode()
    start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%b\r\n" % (len(content), head)
    return lambda send: send(start + content)


def chunk(text: str) -> bytes:
    content = text.encode()
    return b"%x\r\n%b\r\n" % (len(content), content)


EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def event(**delta: Any) -> str:
    finish = delta.pop("finish_reason", None)
    return f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': finish}]}, ensure_ascii=False)}\n\n"


def events(*texts: str, ends: bytes = END) -> Play:
    def play(send: Send) -> None:
        send(EVENTS)
        for text in texts:
            send(chunk(text))
        send(ends)

    return play


class Server:
    """Gives its answers in turn, over as many connections as are made."""

    def __init__(self, answers: Sequence[Play], tls: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.connections = 0
        self.requests: list[bytes] = []
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        try:
            with self._tls.wrap_socket(line, server_side=True) if self._tls else line as connection:
                while request := _read_request(connection):
                    self.requests.append(request)
                    if not self.answers:
                        return
                    self.answers.pop(0)(connection.sendall)
        except (OSError, EOFError):
            pass  # whoever asked is gone

    def close(self) -> None:
        self._listener.close()


def _read_request(connection: socket.socket) -> bytes:
    """Empty once the other side has closed it."""
    read = b""
    while b"\r\n\r\n" not in read:
        if not (piece := connection.recv(65_536)):
            return b""
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def serving(*answers: Play, limits: EndpointLimits | None = None) -> Iterator[tuple[Server, Callable[[], str]]]:
    server = Server(answers)
    url = f"http://127.0.0.1:{server.port}/v1"
    endpoint = Endpoint("m", url, "m", limits=limits or EndpointLimits(10), policy=LOCAL)
    client = ModelClient(endpoint, retry_policy=RetryPolicy(attempts=1))
    try:
        yield server, lambda: client.complete(HELLO).text
    finally:
        server.close()


SAID = (event(content="o"), event(content="k", finish_reason="stop"))


@pytest.mark.parametrize(
    "answer", [whole(BODY), events(*SAID, "data: [DONE]\n\n"), events(*SAID)], ids=["whole", "streamed", "without DONE"]
)
def test_a_connection_serves_one_request_after_another(answer: Play):
    with serving(answer, answer, answer) as (server, ask):
        assert [ask(), ask(), ask()] == ["ok"] * 3
        assert server.connections == 1


def test_a_kept_connection_that_the_server_closed_is_not_used_again():
    def closing(send: Send) -> None:
        whole(BODY)(send)
        raise EOFError

    with serving(closing, whole(BODY)) as (server, ask):
        assert ask() == "ok"
        time.sleep(0.05)  # the end of a connection arrives by itself
        assert ask() == "ok"
        assert server.connections == 2


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x1c"])
def test_a_line_separator_inside_json_is_not_the_end_of_a_line(separator: str):
    text = f"one{separator}two"
    with serving(events(event(content=text, finish_reason="stop"))) as (_, ask):
        assert ask() == text


def test_comments_and_empty_choices_are_passed_over():
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}\n\n'
    with serving(events(": keep-alive\n\n", event(role="assistant"), ": processing\n\n", *SAID, usage)) as (_, ask):
        assert ask() == "ok"


@pytest.mark.parametrize(
    "answer",
    [
        events(event(content="half")),
        events(event(content="half"), ends=b""),
        lambda send: send(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"),
        lambda send: None,
    ],
    ids=["no finish", "cut", "cut body", "nothing"],
)
def test_an_answer_that_breaks_off_is_truncated(answer: Play):
    def cut(send: Send) -> None:
        answer(send)
        raise EOFError

    with serving(cut) as (_, ask), pytest.raises(TruncatedAnswerError):
        ask()


@pytest.mark.parametrize(
    "answer",
    [
        events("data: {nonsense\n\n"),
        events("data: [1]\n\n"),
        lambda send: send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnope"),
    ],
)
def test_an_answer_that_is_no_json_is_unreadable(answer: Play):
    with serving(answer) as (_, ask), pytest.raises(UnreadableAnswerError):
        ask()


@pytest.mark.slow
def test_an_answer_without_end_is_too_large():
    def endless(send: Send) -> None:
        send(EVENTS)
        while True:
            send(chunk(event(content="x" * 1_000_000)))

    with serving(endless) as (_, ask), pytest.raises(UnreadableAnswerError, match="more than 16 MB"):
        ask()


def stalling(*texts: str) -> Play:
    def play(send: Send) -> None:
        send(EVENTS)
        for text in texts:
            send(chunk(text))
        time.sleep(30)

    return play


@pytest.mark.parametrize(
    ("answer", "limits", "sentence"),
    [
        (stalling(), EndpointLimits(0.2, next_seconds=20), "did not answer within 0.2 seconds"),
        (stalling(event(content="I am")), EndpointLimits(20, next_seconds=0.2), "did not go on"),
        (stalling(event(reasoning_content="I am")), EndpointLimits(20, next_seconds=0.2), "did not go on"),
    ],
    ids=["before it begins", "in an answer", "in a thought"],
)
def test_a_stall_is_told_from_a_slow_thought(answer: Play, limits: EndpointLimits, sentence: str):
    started = time.monotonic()
    with serving(answer, limits=limits) as (_, ask), pytest.raises(EndpointTimeoutError, match=sentence):
        ask()

    assert time.monotonic() - started < 15


def test_slow_thoughts_are_waited_for_beyond_the_limit_for_the_next_piece():
    def slow(send: Send) -> None:
        send(EVENTS)
        send(chunk(event(role="assistant", content="")))
        time.sleep(0.5)
        for text in SAID:
            send(chunk(text))
        send(END)

    with serving(slow, slow, limits=EndpointLimits(20, next_seconds=0.2)) as (_, ask):
        assert [ask(), ask()] == ["ok", "ok"]


def test_an_answer_that_is_not_streamed_has_to_be_whole_within_the_timeout():
    def trickling(send: Send) -> None:
        send(EVENTS.replace(b"text/event-stream", b"application/json"))
        while True:
            send(chunk(" "))
            time.sleep(0.02)

    limits = EndpointLimits(0.3, whole_seconds=20)
    with serving(trickling, limits=limits) as (_, ask), pytest.raises(EndpointTimeoutError, match=r"within 0\.3 sec"):
        ask()


@pytest.mark.parametrize(("told", "held"), [("30", 30), ("", 1), ("99999", 600)])
def test_an_endpoint_that_limits_its_rate_is_left_alone_by_all_as_long_as_it_says(told: str, held: float):
    class Noted(LocalSlots):
        def hold(self, place: str, seconds: float) -> None:
            holds.append((place, seconds))

    holds: list[tuple[str, float]] = []
    head = f"Retry-After: {told}\r\n" if told else ""
    answer = f"HTTP/1.1 429 Too Many Requests\r\n{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    server = Server([lambda send: send(answer.encode())])
    endpoint = Endpoint("m", f"http://127.0.0.1:{server.port}/v1", "m", policy=LOCAL)

    with closing(server), pytest.raises(RateLimitError):
        ModelClient(endpoint, retry_policy=RetryPolicy(attempts=1), lane=Lane(Noted())).complete(HELLO)

    assert holds == [(endpoint.place, held)]


def test_keep_alive_does_not_keep_an_answer_from_its_limit():
    def waiting(send: Send) -> None:
        send(EVENTS)
        while True:
            send(chunk(": keep-alive\n\n"))
            time.sleep(0.02)

    limits = EndpointLimits(20, whole_seconds=0.3)
    with serving(waiting, limits=limits) as (_, ask), pytest.raises(EndpointTimeoutError):
        ask()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key"]
    name = ["-subj", "/CN=models.example", "-addext", "subjectAltName=DNS:models.example"]
    command = ["openssl", "req", "-x509", *key, "-out", folder / "crt", "-days", "2", *name]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(("name", "reached"), [("models.example", True), ("others.example", False)])
def test_the_checked_address_is_asked_under_the_name_of_its_certificate(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, name: str, reached: bool
):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "crt", certificate / "key")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "crt"))
    real = socket.getaddrinfo

    def look_up(host: str, *rest: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host.endswith(".example") else host, *rest, **more)

    monkeypatch.setattr(hosts.socket, "getaddrinfo", look_up)
    server = Server([whole(BODY)], context)
    # networks of its own, so that its pool is made with this certificate
    policy = Policy(networks=("127.0.0.1", name))
    endpoint = Endpoint("m", f"https://{name}:{server.port}/v1", "m", limits=EndpointLimits(10), policy=policy)
    client = ModelClient(endpoint, retry_policy=RetryPolicy(attempts=1))

    if reached:
        assert client.complete(HELLO).text == "ok"
        assert f"Host: {name}:{server.port}".lower() in server.requests[0].decode().lower()
    else:
        with pytest.raises(EndpointError, match="cannot be reached"):
            client.complete(HELLO)
    server.close()


def test_where_the_environment_names_a_proxy_requests_go_through_it(monkeypatch: pytest.MonkeyPatch):
    proxy = Server([whole(BODY)])
    for variable in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("FAR_API_KEY", "sk-far")
    far = ModelClient(Endpoint("far", "http://far.example/v1", "m", key_env="FAR_API_KEY"))

    assert far.complete(HELLO).text == "ok"

    proxy.close()
    asked = proxy.requests[0].decode()
    assert asked.startswith("POST http://far.example/v1/chat/completions HTTP/1.1")
    assert "authorization: bearer sk-far" in asked.lower()


@pytest.mark.slow
def test_clients_are_kept_for_a_while_and_not_forever():
    first = weakref.ref(client_of("http://127.0.0.1:9/v1", "the first key", LOCAL.networks))
    assert client_of("http://127.0.0.1:9/v1", "the first key", LOCAL.networks) is first()

    for number in range(CLIENTS):
        client_of("http://127.0.0.1:9/v1", f"key {number}", LOCAL.networks)
    gc.collect()

    assert first() is None


def test_slot_is_not_held_anew_for_an_answer_that_comes_at_once():
    held: list[str] = []

    Watch(60, lambda: held.append("again")).see(b"an answer")

    assert not held
