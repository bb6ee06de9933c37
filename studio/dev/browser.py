"""System packages for browser tests, installed where root or sudo can do so. Standard library only."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

HEADLESS = "chromium-headless-shell"
"""Preferred: without windows, Chromium takes a third of the processor time for the same pages."""


def find_chromium() -> str | None:
    return shutil.which(HEADLESS) or shutil.which("chromium") or shutil.which("chromium-browser")


def missing_packages() -> list[str]:
    missing = [] if find_chromium() else ["chromium", "fonts-liberation"]
    return missing if _driver_starts() else [*missing, "libatomic1"]


def main() -> int:
    """Succeeds even without a browser; the tests that need one are then skipped."""
    if not shutil.which(HEADLESS):
        _install([HEADLESS, "fonts-liberation"])
    if missing := missing_packages():
        _install(missing)
    if missing := missing_packages():
        print(
            f"Browser tests are skipped: {', '.join(missing)} cannot be installed from here. "
            f"As root, `apt-get install {' '.join(missing)}` helps.",
            file=sys.stderr,
        )
    return 0


def bundled_node() -> Path | None:
    """Playwright's own Node, if it is installed."""
    spec = importlib.util.find_spec("playwright")
    places = spec.submodule_search_locations if spec else None
    node = Path(next(iter(places))) / "driver" / "node" if places else None
    return node if node and node.exists() else None


def _driver_starts() -> bool:
    """Whether Playwright's Node runs; it needs a library that a minimal Debian lacks."""
    node = bundled_node()
    return node is None or not subprocess.run([node, "--version"], capture_output=True, check=False).returncode


def _install(packages: list[str]) -> None:
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not shutil.which("sudo")):
        return
    if root and subprocess.run([*root, "true"], capture_output=True, check=False).returncode:
        return
    print(f"Installing {', '.join(packages)} for the browser tests.", flush=True)
    quietly = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*quietly, "update"], stdout=subprocess.DEVNULL, check=False)
    install = [*quietly, "install", "-y", "--no-install-recommends", *packages]
    subprocess.run(install, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    sys.exit(main())
