"""Whatever is called, in whatever order, every app's data stays consistent and can be replayed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.tools.apps import World, differences
from evaluation.tools.apps.catalog import APPS

DATA = {name: app.example for name, app in APPS.items()}
WORDS = st.sampled_from(["a", "Tea", "errand", "Flat", ""])
PEOPLE = st.sampled_from(["ada@example.com", "noor@example.com", "li@example.com", "eve@example.com", "4155550101"])
PATHS = st.sampled_from(["~", "~/letters", "~/letters/landlord.txt", "~/a", "~/a/b", "/home/noor", "../x", "c"])
SPECIAL = {"due_time": "09:30", "time": "06:00", "due_date": "2026-05-01", "birthday": "1990-01-01"}


def login(world: World, app: str) -> str:
    me = DATA[app]["accounts"][0]
    arguments = {"username": me["username"], "password": me["password"]}
    return str(world.call(f"{app}__login", arguments).response["access_token"])


def values(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that an API may accept: few numbers and names, so that calls meet each other's records."""
    if name in SPECIAL:
        return st.just(SPECIAL[name])
    if "anyOf" in schema:
        return st.one_of(*(values(name, part) for part in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "integer":
        return st.integers(schema.get("minimum", 0), min(schema.get("maximum", 4), schema.get("minimum", 0) + 4))
    if kind == "number":
        return st.sampled_from([1.0, 2.5, 4.0, 10.01, 33.33])
    if kind == "array":
        return st.lists(values(name, schema.get("items", {})), max_size=3)
    if kind == "object":
        return st.dictionaries(PEOPLE, st.sampled_from([0.0, 5.0, 10.01, 20.0]), max_size=3)
    if kind == "boolean":
        return st.booleans()
    if kind == "null":
        return st.none()
    if "path" in name:
        return PATHS
    return PEOPLE if any(word in name for word in ("email", "paid_by", "phone_number", "assignee")) else WORDS


@st.composite
def calls(draw: st.DrawFn, app: str) -> list[tuple[str, dict[str, Any]]]:
    names = sorted(name for name, api in APPS[app].apis.items() if api.login and not name.endswith("__logout"))
    out = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=8)):
        schema = APPS[app].apis[name].arguments.model_json_schema()
        required = set(schema.get("required", ()))
        arguments = {
            field: draw(values(field, part))
            for field, part in schema["properties"].items()
            if field != "access_token" and (field in required or draw(st.booleans()))
        }
        out.append((name, arguments))
    return out


@pytest.mark.parametrize("app", sorted(APPS))
def test_any_sequence_of_calls_leaves_consistent_data_and_replays(app: str):
    @settings(max_examples=25, deadline=None)
    @given(calls(app))
    def play(sequence: list[tuple[str, dict[str, Any]]]) -> None:
        first, second = World.from_data({app: DATA[app]}), World.from_data({app: DATA[app]})
        token = login(first, app)
        assert login(second, app) == token
        for name, arguments in sequence:
            before = first.snapshot()
            result = first.call(name, {**arguments, "access_token": token})
            json.dumps(result.document())
            assert list(first.problems()) == [], (name, arguments)
            if not result.ok:
                assert first.snapshot() == before
            assert len(differences(before, first.snapshot())) == len(result.changes)
            restored = World(second.snapshot())  # a session taken up again after each call
            again = restored.call(name, {**arguments, "access_token": token})
            assert again == result
            second = restored
        assert first.snapshot() == second.snapshot()

    play()
