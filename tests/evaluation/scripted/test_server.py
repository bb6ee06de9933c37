from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from evaluation.llm import ModelClient
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompts import satisfaction_prompt
from evaluation.scripted.answers import MODELS
from evaluation.scripted.server import ScriptedServer

ODD_CALL = b'{"model": "scripted-asks", "messages": [{"role": "assistant", "tool_calls": 1}]}'
ROOT = Path(__file__).resolve().parents[3]


def request(url: str, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.fixture
def client(scripted: ScriptedServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=scripted.url, api_key="none", max_retries=0)


def test_models_are_listed(client: openai.OpenAI):
    assert [model.id for model in client.models.list()] == list(MODELS)


def test_streamed_answer_is_the_same(client: openai.OpenAI):
    asked: dict[str, Any] = {
        "model": "scripted-asks",
        "messages": [{"role": "user", "content": "Plan the supplier meeting."}],
    }
    whole = client.chat.completions.create(**asked)

    chunks = list(client.chat.completions.create(**asked, stream=True))

    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert len(chunks) > 4
    assert chunks[-1].usage is not None


def test_streamed_tool_calls_are_complete(client: openai.OpenAI):
    chunks = client.chat.completions.create(
        model="scripted-helpful",
        messages=[{"role": "user", "content": "Write a plan."}],
        tools=[{"type": "function", "function": {"name": "list_dir", "parameters": {}}}],
        stream=True,
    )

    calls = [call for chunk in chunks if chunk.choices for call in chunk.choices[0].delta.tool_calls or ()]

    assert [(call.function.name, call.function.arguments) for call in calls if call.function] == [
        ("list_dir", '{"path": "."}')
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/chat/completions", b"[]", 400),
        ("POST", "/v1/chat/completions", b'{"model": "gpt-0"}', 404),
        ("POST", "/v1/chat/completions", b'{"model": "scripted-helpful", "messages": [1, {}], "tools": [3]}', 200),
        ("POST", "/v1/chat/completions", ODD_CALL, 200),
        ("POST", "/v1/chat/completions", b'{"model": "scripted-judge"}', 200),
        ("GET", "/v1/engines", None, 404),
        ("GET", "/v1/chat/completions", None, 404),
    ],
)  # fmt: skip
def test_invalid_requests_get_an_error(
    scripted: ScriptedServer, method: str, path: str, body: bytes | None, status: int
):
    assert request(scripted.url, method, path, body)[0] == status


def test_counts_are_reset(scripted: ScriptedServer, client_for: Callable[..., ModelClient]):
    prompt = satisfaction_prompt("Hello.", {}, [OpenIntent(1, "Say hello.")])
    client_for("scripted-judge+misquote").complete(prompt.messages)
    client_for("scripted-silent").complete(prompt.messages)

    _, stats = request(scripted.url, "GET", "/stats")
    request(scripted.url, "POST", "/reset", b"")
    _, after = request(scripted.url, "GET", "/stats")

    assert {name: stats[name] for name in ("requests", "judge", "silent", "do misquote")} == {
        "requests": 2,
        "judge": 1,
        "silent": 1,
        "do misquote": 1,
    }
    assert "requests" not in after


@pytest.mark.parametrize("model", ["scripted-judge", "scripted-user"])
def test_judge_and_user_answer_in_the_requested_schema(client_for: Callable[..., ModelClient], model: str):
    schema = {"type": "object", "properties": {"verdict": {"enum": ["YES", "NO"]}, "reason": {"type": "string"}}}

    answer, _ = client_for(model).ask_json([{"role": "user", "content": "Is it so?"}], "verdict", schema, json.loads)

    assert answer == {"verdict": "NO", "reason": ""}


@pytest.mark.slow
def test_command_serves_a_scenario_until_stopped(tmp_path: Path):
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"rules": [{"reply": "As told."}]}))
    process = subprocess.Popen(
        [sys.executable, "manage.py", "scripted_model", "--scenario", str(scenario)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().rpartition(" ")[2].strip()
        status, answer = request(url, "POST", "/v1/chat/completions", b'{"model": "scripted-silent", "messages": []}')
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(20)

    assert (status, answer["choices"][0]["message"]["content"]) == (200, "As told.")
    assert code == 0


@pytest.mark.slow
def test_command_reports_an_invalid_scenario(tmp_path: Path):
    scenario = tmp_path / "scenario.json"
    scenario.write_text('{"rules": [{"do": "explode"}]}')

    done = subprocess.run(
        [sys.executable, "manage.py", "scripted_model", "--scenario", str(scenario)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert "Rule 1: there is no misbehaviour 'explode'" in done.stderr
