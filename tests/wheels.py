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


def environment(folder: Path, *wanted: str) -> Path:
    """The Python of a new one with these installed; what the lock names, in its versions."""
    python = folder / "env" / "bin" / "python"
    uv("venv", "--quiet", "--python", sys.executable, str(folder / "env"))
    locked = (CHECKOUT / "requirements.lock").read_text().replace("\\\n", "")
    versions = [line.split("--hash")[0] for line in locked.splitlines()]
    (folder / "versions").write_text("\n".join(versions))
    uv("pip", "install", "--quiet", "--python", str(python), "--constraint", str(folder / "versions"), *wanted)
    return python
