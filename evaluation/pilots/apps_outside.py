"""The simulated apps of a persona as a server, for agents outside of the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluation.protocol.participants import InfrastructureError
from evaluation.tools.apps import AppDataError
from evaluation.tools.mcp.apps_server import (
    PATH,
    app_tool_names,
    build_server,
    http_app,
    serve_stdio,
    without_prefix,
)
from evaluation.workspaces.app_states import Moment, initial_apps, load_apps
from evaluation.workspaces.manifests import MissingContentError
from studio.domain.persona import PersonaSpec
from studio.models import Blob

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["PATH", "AppsUnreadableError", "http_app", "serve_stdio", "server_of"]


class AppsUnreadableError(Exception):
    """What the persona's apps hold cannot be read; the message says why."""


def server_of(persona: PersonaSpec, task_id: str = "", *, short_names: bool = False) -> Server[dict[str, Any]]:
    """Raises AppsUnreadableError."""
    try:
        apps = load_apps(initial_apps(persona), persona, Moment(task_id), Blob.objects.read)
        list(apps.open().problems())
    except (AppDataError, MissingContentError, InfrastructureError) as error:
        raise AppsUnreadableError(str(error)) from None
    names = app_tool_names(persona.tools)
    return build_server(without_prefix(names) if short_names else names, apps.open)
