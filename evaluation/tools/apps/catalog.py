"""Every simulated app, by name. A new app is one import and one line here."""

from __future__ import annotations

from typing import Any

from evaluation.tools.apps.amazon import app as amazon
from evaluation.tools.apps.file_system import app as file_system
from evaluation.tools.apps.framework import Api, App
from evaluation.tools.apps.gmail import app as gmail
from evaluation.tools.apps.phone import app as phone
from evaluation.tools.apps.simple_note import app as simple_note
from evaluation.tools.apps.splitwise import app as splitwise
from evaluation.tools.apps.spotify import app as spotify
from evaluation.tools.apps.todoist import app as todoist
from studio.domain.tool_names import bare_tool_name

APPS: dict[str, App[Any]] = {
    app.name: app for app in (amazon, file_system, gmail, phone, simple_note, splitwise, spotify, todoist)
}


def api_of(name: str) -> Api[Any] | None:
    bare = bare_tool_name(name)
    app = APPS.get(bare.partition("__")[0])
    return app.apis.get(bare) or app.aliases.get(bare) if app else None
