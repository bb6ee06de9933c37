"""The page that says how to add an app, followed to the letter."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evaluation.tools.apps import World, describe
from evaluation.tools.apps.catalog import APPS

PAGE = Path(__file__).resolve().parents[4] / "docs" / "adding-an-app.md"


def test_app_of_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, text in re.findall(r"```\w+\n# (parking\.\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        with (tmp_path / name).open("a") as file:
            file.write(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "parking", raising=False)
    app = import_module("parking").app
    monkeypatch.setitem(APPS, "parking", app)
    world = World.from_data({"parking": app.example})
    login = world.call("parking__login", {"username": "ada@example.com", "password": "parking-of-ada"})
    token = {"access_token": login.response["access_token"]}

    bought = world.call("mcp_appworld_parking__buy_ticket", {"plate": "CD 456", **token})
    again = world.call("parking__buy_ticket", {"plate": "CD 456", **token})

    assert bought.document() == {
        "response": {"message": "The ticket was bought.", "ticket_id": 2, "ends_at": "2026-04-13T10:00:00"}
    }
    assert [describe(change) for change in bought.changes] == ["Parking: ticket “CD 456” added"]
    assert (again.ok, again.response["status"]) == (False, 409)
    assert len(world.call("parking__show_tickets", token).response) == 2
    assert list(world.problems()) == []
