"""`manage.py mcp_apps`: the simulated apps of a persona as an MCP server, for agents outside of the studio."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from evaluation.protocol.participants import InfrastructureError
from evaluation.tools.apps import AppDataError
from evaluation.tools.mcp.apps_server import PATH, app_tool_names, build_server, http_app, serve_stdio, without_prefix
from evaluation.workspaces.app_states import Moment, initial_apps, load_apps
from evaluation.workspaces.manifests import MissingContentError
from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_episode
from studio.management.base import ReportCommand
from studio.models import Blob

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

TOKEN = "STUDIO_MCP_TOKEN"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Command(ReportCommand):
    help = (
        "Serve the simulated apps of a persona over the Model Context Protocol, until the client leaves or Ctrl-C. "
        "Every connection begins with the persona's data. Exit status 0, 1 if that data cannot be read, or 2 for a "
        "usage error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG", help="the benchmark's short name")
        parser.add_argument("--persona", required=True, metavar="P", help="by its user id")
        parser.add_argument("--task", default="", metavar="T", help="whose time the clock shows, if not the episode's")
        parser.add_argument(
            "--http",
            metavar="[HOST:]PORT",
            help=f"streamable HTTP at {PATH} instead of standard input and output; another host than this machine "
            f"needs a token in {TOKEN}",
        )
        parser.add_argument(
            "--short-names",
            action="store_true",
            help="gmail__send_email without mcp_appworld_, for clients that put the server's name before it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        (row,) = self.find_personas(options)
        persona = load_episode(row, with_tasks=False).persona
        try:
            server = _server_of(persona, options["task"], short_names=options["short_names"])
        except (AppDataError, MissingContentError, InfrastructureError) as error:
            self.stderr.write(self.style.ERROR(str(error)))
            sys.exit(1)
        if options["http"] is None:
            asyncio.run(serve_stdio(server))
            return
        host, _, port = options["http"].rpartition(":")
        host, token = host.strip("[]") or "127.0.0.1", os.environ.get(TOKEN, "")
        if not (port.isascii() and port.isdecimal() and int(port) < 65536):
            self.stop("This is no port.", "Write 8100 or 127.0.0.1:8100.")
        if host not in LOOPBACK and not token:
            self.stop(f"Anyone who reaches {host} could read the persona's data.", f"Set a token in {TOKEN}.")
        import uvicorn

        self.stderr.write(f"The apps answer at http://{host}:{port}{PATH}")
        uvicorn.run(http_app(server, host, token), host=host, port=int(port), log_level="warning")


def _server_of(persona: PersonaSpec, task_id: str, *, short_names: bool) -> Server[dict[str, Any]]:
    """Raises AppDataError, MissingContentError and InfrastructureError."""
    apps = load_apps(initial_apps(persona), persona, Moment(task_id), Blob.objects.read)
    list(apps.open().problems())
    names = app_tool_names(persona.tools)
    return build_server(without_prefix(names) if short_names else names, apps.open)
