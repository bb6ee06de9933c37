from __future__ import annotations

import io
import json
from collections.abc import Mapping

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.releases.candidate import missing_tools
from studio.domain import tool_servers
from studio.domain.persona import PersonaSpec
from studio.domain.task import ToolEvidence
from studio.domain.tool_servers import ServerText, ServerTool, ToolServer, ToolServerPolicy, path_of
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.models import Membership, Persona, Role, User
from studio.personas.files import PROFILE, delete_file, save_file, stored_file
from studio.personas.tool_servers import TOOL_SERVERS, ask_server, servers_of
from tests.evaluation.builders import benchmark_of, task
from tests.factories import UserFactory
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
WEATHER = ServerText(name="weather", address="https://tools.example.org/mcp")


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


def save_server(persona: Persona, text: ServerText, *, by: User, old_name: str = "") -> None:
    save_file(ask_server(spec_of(persona), old_name, text), persona, old_name, text, by=by)


def spec_of(persona: Persona) -> PersonaSpec:
    return load_episode(persona, with_tasks=False).persona


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
    save_server(persona, WEATHER.model_copy(update={"name": "sky"}), by=user, old_name="weather")
    assert spec_of(persona).tools[2:] == ("mcp_sky_forecast", "mcp_sky_warn")

    delete_file(TOOL_SERVERS, persona, "sky", by=user)

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
        (
            WEATHER.model_copy(update={"address": "https://example.com"}),
            "address",
            "“example.com” is not reached from here",
        ),
        (ServerText(name="run", command=("python3", "x.py")), "command", "Commands are not run here"),
        (WEATHER.model_copy(update={"name": "appworld"}), "name", "not appworld"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_nothing_saved(
    persona: Persona, server: ServerText, field: str, why: str
):
    with pytest.raises(DraftError, match=why) as refused:
        save_server(persona, server, by=UserFactory())

    assert refused.value.field == field
    assert spec_of(persona).files == ()


@pytest.mark.slow
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
    delete, sent = (
        reverse("studio:file_delete", args=[*place, "server"]) + "?name=weather",
        {"base_version": persona.version},
    )
    assert client.post(delete, sent).status_code == 403
    assert client.post(delete.replace("/delete/", "/keep/"), sent).status_code == 403
    client.force_login(owner)
    client.post(delete, sent)
    assert servers_of(spec_of(persona)) == []


def test_server_whose_file_cannot_be_read_is_written_anew_on_its_page(client: Client, persona: Persona):
    owner = UserFactory()
    Membership.objects.create(benchmark=persona.benchmark, user=owner, role=Role.OWNER)
    broken = spec_of(persona).model_copy(update={"files": (stored_file(path_of("weather"), b"{"),)})
    save_file(PROFILE, persona, "", broken, by=owner)
    client.force_login(owner)
    address = reverse("studio:tool_server", args=[persona.benchmark.slug, "clerk"]) + "?name=weather"

    form = form_of(client.get(address).content.decode(), "server").data()
    answer = client.post(address, form | {"address": WEATHER.address})

    assert form["name"] == ["weather"] and answer.status_code == 302
    (row,) = servers_of(spec_of(persona))
    assert (row.name, row.flaw) == ("weather", "") and row.server is not None and row.server.address == WEATHER.address


@pytest.mark.slow
def test_changes_of_two_owners_are_merged_or_shown_side_by_side(client: Client, persona: Persona):
    owner = UserFactory()
    Membership.objects.create(benchmark=persona.benchmark, user=owner, role=Role.OWNER)
    save_server(persona, WEATHER, by=owner)
    client.force_login(owner)
    address = reverse("studio:tool_server", args=[persona.benchmark.slug, "clerk"]) + "?name=weather"
    form = form_of(client.get(address).content.decode(), "server").data()
    save_server(persona, WEATHER.model_copy(update={"seconds": 20}), by=UserFactory(), old_name="weather")

    refused = client.post(address, form | {"seconds": "40"})
    merged = client.post(address, form | {"characters": "900"})

    assert (refused.status_code, merged.status_code) == (409, 302)
    (row,) = servers_of(spec_of(Persona.objects.get(pk=persona.pk)))
    assert row.server is not None and (row.server.seconds, row.server.characters) == (20, 900)
    page = refused.content.decode()
    assert "Use theirs" in page and form_of(page, "server").data()["seconds"] == ["40"]
