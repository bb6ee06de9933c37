"""Servers that are not ours. They are started only on request:

    python -m venv DIR && DIR/bin/pip install 'litellm[proxy]'
    LITELLM=DIR/bin/litellm python -m pytest -m real_server tests/zoo

    python -m venv DIR && DIR/bin/pip install --only-binary :all: xllamacpp gguf
    LLAMA_PYTHON=DIR/bin/python python -m pytest -m real_server tests/zoo

runs llama.cpp's own server, which the wheel of xllamacpp has inside. Its model is made on the spot, with random weights
(``tests/zoo/tiny_model.py``): of what it says nothing is expected but that a grammar makes its verdicts valid.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluation.endpoints.tryout import YELLOW
from evaluation.llm import ContextTooLongError, Endpoint, ModelClient, RequestRejectedError
from evaluation.models import ModelEndpoint, Session, Verdict
from tests.evaluation.builders import benchmark_of, intents, pilot_of, rubric, task
from tests.evaluation.conftest import LOCAL
from tests.evaluation.llm.test_client import Notebook
from tests.evaluation.pilots.builders import work_through
from tests.zoo.server import playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import SEATS, leaks

START_SECONDS = 900
"""LiteLLM imports for ten seconds on a machine that has nothing else to do, and for minutes on one that has."""
MASTER_KEY = "sk-of-this-test-alone-0123456789abcdef"

pytestmark = [pytest.mark.real_server, pytest.mark.django_db, pytest.mark.timeout(1800)]


@pytest.fixture(autouse=True)
def settings_of_tests(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 2
    monkeypatch.setenv("LITELLM_API_KEY", MASTER_KEY)


@contextmanager
def running(command: Sequence[str | Path], ready: str, folder: Path, **environment: str) -> Iterator[None]:
    """A server, until it is no longer wanted; ``ready`` is the address that answers once it is up."""
    with (folder / "server.log").open("wb") as log:
        own = {"PATH": os.environ["PATH"], "HOME": str(folder)}  # not the studio's database
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env={**own, **environment})
        try:
            _wait(process, ready)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the server did not start: see server.log")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(variable: str) -> Path:
    named = os.environ.get(variable)
    if not named:
        pytest.skip(f"{variable} names no program: see the head of this file")
    return Path(named).absolute()


@contextmanager
def llama_cpp(folder: Path, context: int) -> Iterator[str]:
    """The address of llama.cpp's server with a tiny model that reads ``context`` tokens."""
    python, port = program("LLAMA_PYTHON"), free_port()
    here, address = Path(__file__).parent, f"http://127.0.0.1:{port}"
    subprocess.run([python, here / "tiny_model.py", "tiny.gguf"], check=True, cwd=folder)
    command = [python, here / "llama_server.py", "tiny.gguf", str(port), str(context)]
    with running(command, f"{address}/health", folder):
        yield address


def two_sessions(endpoints: dict[str, ModelEndpoint]) -> Any:
    told = {"intents": intents("The note says whose fee it is."), "checklist": (rubric("The note exists."),)}
    tasks = [task(name, initial_request=f"Please write the note {name}.", **told) for name in ("a", "b")]
    return work_through(pilot_of(benchmark_of(*tasks), **endpoints))


@pytest.mark.parametrize(
    ("name", "provider", "returns"),
    [("deepseek", "deepseek", True), ("openai-chat", "openai", True), ("mistral", "mistral", False)],
)
def test_a_pilot_runs_through_litellms_proxy(tmp_path: Path, name: str, provider: str, returns: bool):
    """``returns``: the proxy (1.108.7 was tried) gives thoughts back to the service; Mistral's it leaves out."""
    litellm, port = program("LITELLM"), free_port()
    with playing(SERVICES[name]()) as zoo:
        served = [
            {
                "model_name": seat,
                "litellm_params": {
                    "model": f"{provider}/{zoo.service.model}",
                    "api_base": zoo.url(seat),
                    "api_key": KEY,
                },
            }
            for seat in SEATS
        ]
        config = {"model_list": served, "litellm_settings": {"num_retries": 0, "telemetry": False}}
        (tmp_path / "config.yaml").write_text(json.dumps(config))
        command = [litellm, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
        ready = f"http://127.0.0.1:{port}/health/liveliness"
        with running(command, ready, tmp_path, LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MASTER_KEY=MASTER_KEY):
            endpoints = {
                option: ModelEndpoint.objects.create(
                    name=f"{seat} through litellm",
                    base_url=f"http://127.0.0.1:{port}/v1",
                    model=seat,
                    key_env="LITELLM_API_KEY",
                    dialect="litellm",
                )
                for seat, option in SEATS.items()
            }
            pilot = two_sessions(endpoints)

    sessions = list(Session.objects.values_list("state", "reason", "turn_count"))
    assert (pilot.state, sessions) == ("finished", [("finished", "", 2)] * 2)
    assert (zoo.service.lost == []) is returns
    assert leaks(zoo.service.log) == []


STEERED = {'"': 100, "{": 80, "]": 70, "}": 65, ",": 50, "1": 40}
"""What is added to a token's chance, so that noise inside a grammar ends: a list has one entry, about index 1, and
texts are empty. YES or NO is left to the model."""


def test_a_session_ends_on_llama_cpp_whose_grammar_makes_valid_verdicts(tmp_path: Path):
    with llama_cpp(tmp_path, context=131_072) as address:
        bias = [[token_of(address, text), added] for text, added in STEERED.items()]
        rows = {
            seat: ModelEndpoint.objects.create(
                name=f"llama.cpp as {seat}",
                base_url=f"{address}/v1",
                model="tiny.gguf",
                dialect="llamacpp",
                params={"max_tokens": 60} if seat == "agent" else {"max_tokens": 400, "logit_bias": bias},
                timeout_seconds=600,
                max_concurrency=1,
            )
            for seat in SEATS
        }
        pilot = two_sessions({option: rows[seat] for seat, option in SEATS.items()})

    assert pilot.state == "finished", list(Session.objects.values_list("state", "reason"))
    verdicts = Verdict.objects.exclude(grader="rule")
    assert set(verdicts.filter(kind="checklist").values_list("met", flat=True)) <= {True, False}
    assert verdicts.filter(kind="checklist").count() >= 4, "two sessions in two scoring modes"
    assert {facts.get("json") for facts in ModelEndpoint.objects.values_list("learned", flat=True)} == {None}


def test_what_llama_cpp_refuses_is_understood_and_not_sent_again(tmp_path: Path):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(YELLOW).decode()}"}}
    with llama_cpp(tmp_path, context=2_048) as address:
        model = ModelClient(
            Endpoint("llama.cpp", f"{address}/v1", "tiny.gguf", params={"max_tokens": 20}, policy=LOCAL),
            recorder=(notebook := Notebook()),
        )
        with pytest.raises(ContextTooLongError, match="longer than tiny"):
            model.complete([{"role": "user", "content": "the old mill " * 4_000}])
        with pytest.raises(RequestRejectedError, match="image input is not supported"):
            model.complete([{"role": "user", "content": [picture]}])
        answer = model.complete([{"role": "user", "content": "Ready?"}])

    assert [call.attempts for call in notebook.calls] == [1, 1, 1]
    assert (answer.ending, answer.tokens.completion) == ("cut", 20)


def token_of(address: str, text: str) -> int:
    """The number of the last token of ``text``."""
    body = json.dumps({"content": text, "add_special": False}).encode()
    request = urllib.request.Request(f"{address}/tokenize", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return int(json.load(answer)["tokens"][-1])
