"""`manage.py scripted_model`: serve the scripted model on a port."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.scripted.scenario import Scenario, ScenarioError, load_scenario
from evaluation.scripted.server import ScriptedServer


class Command(BaseCommand):
    help = (
        "Serve the scripted model over the OpenAI API until Ctrl-C. It is deterministic, and not evidence of anything."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default: %(default)s)")
        parser.add_argument("--scenario", type=Path, help="a JSON file that says what to answer exactly")
        parser.add_argument(
            "--latency-ms", type=float, default=0, help="how long each answer takes (default: %(default)s)"
        )

    def handle(
        self, *args: Any, host: str, port: int, scenario: Path | None, latency_ms: float, **options: Any
    ) -> None:
        if not 0 <= port <= 65535:
            raise CommandError(f"A port is a number from 0 to 65535, not {port}.", returncode=2)
        try:
            loaded = load_scenario(scenario) if scenario else Scenario()
            asyncio.run(self.serve(ScriptedServer(loaded, host=host, port=port, latency=latency_ms / 1000)))
        except ScenarioError as error:
            raise CommandError(str(error), returncode=2) from None
        except OSError as error:
            raise CommandError(
                f"The scripted model cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}."
            ) from None

    async def serve(self, server: ScriptedServer) -> None:
        serving = asyncio.ensure_future(server.serve(lambda: self.announce(server)))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, serving.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    def announce(self, server: ScriptedServer) -> None:
        self.stdout.write(f"The scripted model answers at {server.url}")
        self.stdout.flush()
