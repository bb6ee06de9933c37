"""The wheel of this checkout, and environments that have it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from studio.dev.bootstrap import uv_environment
from studio.local.paths import CHECKOUT


def uv(*words: str) -> str:
    argv = [sys.executable, "-m", "uv", *words]
    done = subprocess.run(argv, env=uv_environment(), cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def build_wheel(folder: Path) -> Path:
    uv("build", "--quiet", "--wheel", "--out-dir", str(folder), ".")
    [found] = folder.glob("*.whl")
    return found


def environment(folder: Path, *wanted: str, locked: bool = True) -> Path:
    """The Python of a new one with these installed; what the lock names, in its versions if ``locked``."""
    python = folder / "env" / "bin" / "python"
    uv("venv", "--quiet", "--python", sys.executable, str(folder / "env"))
    named = (CHECKOUT / "requirements.lock").read_text().replace("\\\n", "") if locked else ""
    (folder / "versions").write_text("\n".join(line.split("--hash")[0] for line in named.splitlines()))
    uv("pip", "install", "--quiet", "--python", str(python), "--constraint", str(folder / "versions"), *wanted)
    return python
