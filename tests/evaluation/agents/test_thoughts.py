"""What an agent's model thinks: it goes back to the model, is shown in the transcript, and reaches nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from evaluation.models import Session, Turn
from evaluation.sandbox import why_unavailable
from evaluation.tools.programs import nanobot_packages
from studio.local.paths import data_folder
from studio.models import Blob
from tests.evaluation.agents.test_kinds import run
from tests.evaluation.agents.test_kinds import stub_key as stub_key
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel, kind_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_key")]

MARK = "hm-so-the-user-hides-something"
FORMS: dict[str, dict[str, Any]] = {
    "reasoning_content": {"reasoning_content": MARK},
    "reasoning": {"reasoning": MARK, "reasoning_details": [{"type": "reasoning.text", "text": MARK, "signature": "s"}]},
    "thinking_blocks": {"thinking_blocks": [{"type": "thinking", "thinking": MARK, "signature": "s"}]},
    "inline": {"content": f"<think>{MARK}</think>\n"},
    "parts": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": MARK}]}]},
}
LINES = """
import json
line = json.loads(input())
said = {"reply": line["answer"]} if "answer" in line else {"ask": [{"role": "user", "content": line["message"]}]}
print(json.dumps(said))
"""
SOCKETS = """
import http.client, json, os, socket
line = json.loads(input())

def ask(messages):
    connection = http.client.HTTPConnection("studio")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.environ["STUDIO_MODEL_SOCKET"])
    connection.request("POST", "/v1/chat/completions", json.dumps({"model": "studio", "messages": messages}))
    return json.loads(connection.getresponse().read())["choices"][0]["message"]

messages = [{"role": "user", "content": line["message"]}]
messages.append(ask(messages))
open("log.json", "w").write(json.dumps(messages))
messages.append({"role": "user", "content": "And now?"})
print(json.dumps({"reply": ask(messages)["content"]}))
"""
KINDS: dict[str, dict[str, Any]] = {
    "react": {"kind": "react", "params": {"memory": "consolidated"}},
    "endpoint": {"kind": "endpoint"},
    "lines": {"kind": "command", "params": {"program": LINES}},
    "sockets": {"kind": "command", "params": {"program": SOCKETS, "connection": "sockets"}},
    "nanobot": {"kind": "nanobot"},
}


class Thinker:
    """Writes a file, spawns a helper, then answers; each time it thinks first."""

    def __init__(self, form: dict[str, Any]) -> None:
        self.form = form

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        results = sum(message["role"] == "tool" for message in body["messages"])
        names = {tool["function"]["name"] for tool in body.get("tools") or ()}
        if "save_memory" in names:
            return self.say("", "save_memory", history_entry="They talked.", memory_update="A note exists.")
        if results == 0 and "write_file" in names:
            return self.say("", "write_file", path="note.md", content="The note.")
        if results == 1 and "spawn" in names:
            return self.say("", "spawn", task="Look around.")
        return self.say("Here is the note.")

    def say(self, text: str, name: str = "", **arguments: str) -> dict[str, Any]:
        before = self.form.get("content", "")
        content = before + text if isinstance(before, str) else [*before, {"type": "text", "text": text}]
        message = {"role": "assistant", **self.form, "content": content}
        if name:
            function = {"name": name, "arguments": json.dumps(arguments)}
            message["tool_calls"] = [{"id": f"call-{name}", "type": "function", "function": function}]
        return message


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "kind", [*(name for name in KINDS if name != "nanobot"), pytest.param("nanobot", marks=pytest.mark.minutes)]
)
def test_thought_goes_back_to_its_model_and_reaches_nobody_else(
    stub: StubModel, kind: str, form: str, client: Client, monkeypatch: pytest.MonkeyPatch
):
    if kind == "nanobot":
        monkeypatch.setenv("STUDIO_DATA_DIR", str(data_folder().parent))
        if not nanobot_packages():
            pytest.skip("nanobot is not installed: make nanobot-agent")
    if kind in ("lines", "sockets", "nanobot") and (words := why_unavailable()):
        pytest.skip(words)
    stub.agent = Thinker(FORMS[form])

    pilot = run(stub, **KINDS[kind])

    assert pilot.state == "finished", Session.objects.values_list("reason", flat=True)
    assert {turn.reply for turn in Turn.objects.all()} == {"Here is the note."}
    assert all(MARK in str(turn.thoughts) for turn in Turn.objects.all())
    agents, others = [], []
    for body in stub.bodies:
        (agents if kind_of(body) == "agent" else others).append(json.dumps(body))
    assert others and not [body for body in others if MARK in body]
    if kind in ("react", "sockets", "nanobot"):
        assert MARK in agents[1]
    assert places() <= {"ModelCall.content", "Turn.agent_state", "Turn.thoughts"}
    client.force_login(person(pilot.benchmark, "viewer"))
    page = client.get(Session.objects.get().get_absolute_url()).content.decode()
    assert MARK in page and MARK not in page.split('class="call thoughts"')[0]
    turns = client.get(f"/api/sessions/{Session.objects.get().pk}/").json()["turns"]
    assert all(MARK in str(turn.pop("thoughts")) for turn in turns) and MARK not in str(turns)


def places() -> set[str]:
    """Columns of the database in which the thought stands, and files."""
    files = Blob.objects.read(list(Blob.objects.values_list("pk", flat=True))).values()
    found = {"a file" for content in files if MARK.encode() in content}
    for model in apps.get_models():
        if model._meta.app_label in ("studio", "annotations", "evaluation"):
            for row in model._default_manager.all():
                fields = {field.name: row.__dict__.get(field.attname) for field in model._meta.concrete_fields}
                found |= {f"{model.__name__}.{name}" for name, value in fields.items() if MARK in str(value)}
    return found
