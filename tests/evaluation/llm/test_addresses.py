"""Model endpoints lie on the public Internet, or where settings say."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evaluation.llm import Budget, Endpoint, EndpointError, ModelClient, Policy, RetryPolicy
from evaluation.llm.errors import EndpointAddressError
from evaluation.llm.policy import url_problem
from studio.domain import hosts
from tests.evaluation.stub_model import StubModel, serving

INTERNAL = (
    "127.0.0.1",
    "10.0.0.7",
    "172.16.3.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
)


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Each look-up gives the next answer, the last one again and again."""
    asked: list[str] = []

    def look_up(host: str, port: Any, *rest: Any, **more: Any) -> list[Any]:
        answer = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port or 0))]

    monkeypatch.setattr(hosts.socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("address", INTERNAL)
def test_internal_address_is_not_allowed_by_itself_nor_by_name(address: str, monkeypatch) -> None:
    literal = f"[{address}]" if ":" in address else address

    assert "inside an internal network" in Policy().internal_problem(f"http://{literal}:8000/v1")
    resolve_to(monkeypatch, address)
    assert "inside an internal network" in Policy().internal_problem("https://models.example/v1")


def test_public_address_is_allowed(monkeypatch) -> None:
    resolve_to(monkeypatch, "93.184.216.34")

    assert Policy().internal_problem("https://models.example/v1") == ""


@pytest.mark.parametrize("entry", ["10.0.0.0/8", "10.0.0.7", "LLM.lan"])
def test_settings_allow_networks_and_names(entry: str, monkeypatch) -> None:
    resolve_to(monkeypatch, "10.0.0.7")

    assert Policy(networks=(entry,)).internal_problem("http://llm.lan/v1") == ""


def ask(url: str, *networks: str) -> str:
    endpoint = Endpoint(name="m", base_url=url, model="m", policy=Policy(networks=networks))
    client = ModelClient(endpoint, budget=Budget(), retry_policy=RetryPolicy(attempts=1))
    return client.complete([{"role": "user", "content": "?"}]).text


def test_name_that_resolves_elsewhere_when_called_reaches_nothing_internal(monkeypatch) -> None:
    with serving(StubModel()) as model:
        port = model.base_url.split(":")[2].split("/")[0]
        url = f"http://rebinding.example:{port}/v1"
        resolve_to(monkeypatch, "93.184.216.34", "127.0.0.1")

        assert Policy().internal_problem(url) == ""
        with pytest.raises(EndpointError, match="inside an internal network"):
            ask(url)

    assert sum(model.asked.values()) == 0


def test_only_named_network_is_reached(monkeypatch) -> None:
    with serving(StubModel()) as model:
        with pytest.raises(EndpointAddressError, match="inside an internal network") as refused:
            ask(model.base_url)
        assert refused.value.hopeless and not refused.value.retryable
        assert ask(model.base_url, "127.0.0.1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int) -> None:
    with serving(StubModel()) as elsewhere:
        location = ("Location", f"{elsewhere.base_url}/chat/completions")
        with redirecting(status, location) as url, pytest.raises(EndpointError, match="sends requests on"):
            ask(url, "127.0.0.1")

    assert sum(elsewhere.asked.values()) == 0


@contextmanager
def redirecting(status: int, location: tuple[str, str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header(*location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://models.example/v1\r\nHost: x", "line break"),
        ("https://models.example/ v1", "a space"),
        ("https://models.example\\@evil/v1", "other character"),
        ("https://models.example:99999/v1", "not a valid address"),
        ("https://[::1/v1", "not a valid address"),
        ("https:///v1", "names no host"),
        ("https://models.example/v1", ""),
    ],
)
def test_malformed_address_is_named(url: str, problem: str) -> None:
    assert problem in url_problem(url)
    assert bool(problem) == bool(url_problem(url))
