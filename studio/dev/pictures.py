"""Screenshots of every page of a temporary studio."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from studio.dev.browser import find_chromium
from studio.local.paths import CHECKOUT, LocalError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

OURS = ("STUDIO_", "DATABASE_URL", "CELERY_BROKER_URL", "SCRIPTED_MODEL_URL")
CHROMIUM = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM += ["--disable-component-update", "--disable-sync", "--force-color-profile=srgb"]
CHROMIUM += ["--renderer-process-limit=1"]  # of each context: or the first page of a site starts another process
WIDTHS = {1280: 800, 390: 844}
SCHEMES = ("light", "dark")
MAX_START_SECONDS = 150


@dataclass(frozen=True)
class Shot:
    """A screenshot to take: the page, and the account that sees it."""

    name: str
    url: str
    who: str = "owner"


@contextmanager
def own_studio() -> Iterator[str]:
    """Run a temporary studio with the sample benchmark; yields its address and deletes its data afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="studio-pictures-"))
    folder.chmod(0o755)  # the embedded database runs as another user when root starts the studio
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    log = (folder / "start.log").open("w+")
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run", "--port", "8400", "--stop-with-parent"],
        cwd=CHECKOUT,
        env={**inherited, "STUDIO_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1"},
        stdout=log,
        stderr=log,
    )
    try:
        deadline = time.monotonic() + MAX_START_SECONDS
        while not (folder / "running.json").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                raise LocalError(f"The studio to photograph did not start:\n{log.read()[-2000:]}")
            time.sleep(0.1)
        yield str(json.loads((folder / "running.json").read_text())["address"]).rstrip("/")
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, driven by Playwright. Raises LocalError if either is missing."""
    path = find_chromium()
    if path is None:
        raise LocalError("chromium is missing: as root, `apt-get install chromium` brings it.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise LocalError("Playwright is missing: `make setup` installs it.") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*CHROMIUM, *_sandbox_options()])
        yield browser
        browser.close()


def _sandbox_options() -> list[str]:
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def sign_in(browser: Browser, address: str, name: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": WIDTHS[1280]}).new_page()
    page.goto(f"{address}/login/")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(f"{name}-demo")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{address}/")
    return page


class Camera:
    def __init__(self, browser: Browser, address: str, signed_in: dict[str, BrowserContext]) -> None:
        self.browser = browser
        self.address = address
        self.states = {name: context.storage_state() for name, context in signed_in.items()}

    def take(
        self,
        shots: Sequence[Shot],
        folder: Path,
        *,
        widths: Sequence[int] = tuple(WIDTHS),
        schemes: Sequence[str] = SCHEMES,
        whole: bool = True,
        named: bool = True,
    ) -> list[Path]:
        """Write ``NAME-WIDTH-SCHEME.png``, or ``NAME.png`` unless ``named``; the full page, or the viewport unless
        ``whole``."""
        folder.mkdir(parents=True, exist_ok=True)
        pictures = []
        for width in widths:
            for scheme in schemes:
                for who in dict.fromkeys(shot.who for shot in shots):
                    context = self.browser.new_context(
                        viewport={"width": width, "height": WIDTHS[width]},
                        color_scheme="dark" if scheme == "dark" else "light",
                        reduced_motion="reduce",
                        storage_state=self.states.get(who),
                    )
                    page = context.new_page()
                    for shot in shots:
                        if shot.who != who:
                            continue
                        path = folder / (f"{shot.name}-{width}-{scheme}.png" if named else f"{shot.name}.png")
                        answer = page.goto(self.address + shot.url, wait_until="load")
                        if answer is None or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                            raise LocalError(f"The page {shot.name}, {shot.url}, failed.")
                        page.screenshot(path=path, full_page=whole)
                        pictures.append(path)
                    context.close()
        return pictures


def number_in(url: str) -> str:
    return str(re.findall(r"/(\d+)/", url)[-1])
