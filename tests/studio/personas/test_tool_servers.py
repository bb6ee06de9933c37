from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.releases.missing_tools import missing_tools
from studio.domain import tool_servers
from studio.domain.persona import PersonaSpec
from studio.domain.task import ToolEvidence
from studio.domain.tool_servers import ServerTool, ToolServer, ToolServerPolicy
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError
from studio.models import Membership, Persona, Role
from studio.personas.tool_servers import remove_server, save_server, servers_of
from tests.evaluation.builders import benchmark_of, task
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
WEATHER = ToolServer("weather", address="https://tools.example.org/mcp")


class Listed:
    """What the server has now."""

    def __init__(self) -> None:
        self.names = ["forecast", "warn"]

    def __call__(
        self, server: ToolServer, files: Mapping[str, bytes], policy: ToolServerPolicy
    ) -> tuple[ServerTool, ...]:
        return tuple(ServerTool(name, f"To {name}.", {"type": "object"}) for name in self.names)


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch, settings: object) -> Listed:
    settings.MCP_ADDRESSES = ["tools.example.org"]  # type: ignore[attr-defined]
    found = Listed()
    monkeypatch.setattr(tool_servers, "_lister", found)
    return found


@pytest.fixture
def persona() -> Persona:
    evidence = (ToolEvidence(tool="mcp_weather_forecast"),)
    spec = PersonaSpec(user_id="clerk", tools=("read_file", "gmail__login"))
    return benchmark_of(task("a", tool_evidence=evidence), persona=spec).personas.get()


def spec_of(persona: Persona) -> PersonaSpec:
    return load_episodes([persona], with_tasks=False)[persona.pk].persona


def offered(persona: Persona) -> tuple[list[str], list[str]]:
    out = io.StringIO()
    call_command("tools", "--benchmark", persona.benchmark.slug, "--persona", "clerk", "--json", stdout=out)
    document = json.loads(out.getvalue())
    return [name for name in document["offered"] if name.startswith("mcp_")], document["missing"]


def test_saving_binds_the_tools_that_the_server_lists_then(persona: Persona, listed: Listed):
    user = UserFactory()
    save_server(persona, WEATHER, by=user)
    assert spec_of(persona).tools == ("read_file", "gmail__login", "mcp_weather_forecast", "mcp_weather_warn")

    listed.names = ["forecast", "snow"]
    save_server(persona, WEATHER, by=user, old_name="weather")

    spec = spec_of(persona)
    assert spec.tools == ("read_file", "gmail__login", "mcp_weather_forecast", "mcp_weather_snow")
    (row,) = servers_of(spec)
    assert (row.name, row.flaw) == ("weather", "")
    assert row.server is not None and [tool.description for tool in row.server.tools] == ["To forecast.", "To snow."]


def test_renamed_server_takes_its_tools_along_and_a_removed_one_takes_them_away(persona: Persona):
    user = UserFactory()
    save_server(persona, WEATHER, by=user)
    save_server(persona, replace(WEATHER, name="sky"), by=user, old_name="weather")
    assert spec_of(persona).tools[2:] == ("mcp_sky_forecast", "mcp_sky_warn")

    remove_server(persona, "sky", by=user)

    spec = spec_of(persona)
    assert (spec.tools, spec.files) == (("read_file", "gmail__login"), ())


def test_tools_are_missing_where_settings_do_not_allow_the_server(persona: Persona, settings: object):
    tasks = {"before": missing_tools(persona.benchmark)}
    save_server(persona, WEATHER, by=UserFactory())
    assert offered(persona) == (["mcp_weather_forecast", "mcp_weather_warn"], [])
    assert list(tasks["before"].values()) == [("mcp_weather_forecast",)]
    assert missing_tools(persona.benchmark) == {}

    settings.MCP_ADDRESSES = []  # type: ignore[attr-defined]

    assert offered(persona) == ([], ["mcp_weather_forecast", "mcp_weather_warn"])
    assert list(missing_tools(persona.benchmark).values()) == [("mcp_weather_forecast",)]


@pytest.mark.parametrize(
    ("server", "field", "why"),
    [
        (replace(WEATHER, address="https://example.com"), "address", "“example.com” is not reached from here"),
        (ToolServer("run", command=("python3", "x.py")), "command", "Commands are not run here"),
        (replace(WEATHER, name="appworld"), "name", "not appworld"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_nothing_saved(
    persona: Persona, server: ToolServer, field: str, why: str
):
    with pytest.raises(DraftError, match=why) as refused:
        save_server(persona, server, by=UserFactory())

    assert refused.value.field == field
    assert spec_of(persona).files == ()


def test_owner_adds_a_server_on_its_page_and_others_only_see_it(client: Client, persona: Persona):
    owner, author = UserFactory(), UserFactory()
    Membership.objects.create(benchmark=persona.benchmark, user=owner, role=Role.OWNER)
    Membership.objects.create(benchmark=persona.benchmark, user=author, role=Role.AUTHOR)
    place = [persona.benchmark.slug, "clerk"]
    sent = {
        "name": "weather",
        "address": "https://tools.example.org/mcp",
        "seconds": "60",
        "characters": "900",
        "base_version": persona.version,
    }
    client.force_login(author)
    assert client.post(reverse("studio:tool_server", args=place), sent).status_code == 403
    client.force_login(owner)
    refused = client.post(reverse("studio:tool_server", args=place), sent | {"headers": "Authorization: Bearer abc"})
    assert "a secret never stands in the persona" in refused.content.decode()

    answer = client.post(reverse("studio:tool_server", args=place), sent, follow=True)

    told = " ".join(answer.content.decode().split())
    assert "weather has 2 tools." in told
    assert "To forecast." in told
    persona.refresh_from_db()
    client.force_login(author)
    shown = client.get(reverse("studio:tool_servers", args=place)).content.decode()
    assert "To forecast." in shown and "Change or ask again" not in shown
    client.force_login(owner)
    sent = {"server": "weather", "base_version": persona.version}
    client.post(reverse("studio:tool_server_remove", args=place), sent)
    assert servers_of(spec_of(persona)) == []
