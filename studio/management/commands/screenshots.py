"""`manage.py screenshots`: pictures of the README, or of every page."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.dev.pictures import Camera, Shot, chromium, own_studio
from studio.dev.tour import Tour
from studio.local.paths import CHECKOUT, LocalError

README = {"studio": "task", "board": "board", "session": "session", "judging": "judging"}
LARGEST_BYTES = 200_000


class Command(BaseCommand):
    help = (
        "Take screenshots of a temporary studio in which people write, review, pilot, audit and release. Writes the "
        "README pictures to docs/; with --all, also every page."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="every page, at two widths, light and dark")
        parser.add_argument("--out", type=Path, default=CHECKOUT / "docs" / "pictures", help="folder for --all")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        try:
            with own_studio() as address, chromium() as browser:
                tour = Tour(browser, address)
                shots = tour.take()
                camera = Camera(browser, address, {name: page.context for name, page in tour.pages.items()})
                paths = self.readme(camera, shots)
                if options["all"]:
                    paths += camera.take(shots, out)
        except LocalError as error:
            raise CommandError(str(error)) from None
        for path in paths:
            self.stdout.write(str(path))

    def readme(self, camera: Camera, shots: list[Shot]) -> list[Path]:
        chosen = {shot.name: shot for shot in shots}
        named = [dataclasses.replace(chosen[page], name=name) for name, page in README.items()]
        paths = camera.take(named, CHECKOUT / "docs", widths=[1280], schemes=["light"], whole=False, named=False)
        for path in paths:
            if path.stat().st_size > LARGEST_BYTES:
                raise CommandError(
                    f"{path} has {path.stat().st_size} bytes; pictures in docs/ stay below {LARGEST_BYTES}."
                )
        return paths
