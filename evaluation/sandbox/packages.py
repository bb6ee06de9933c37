"""Python packages for agents' code: a locked environment of its own, built once by ``make agent-packages``.

It is a folder of packages for the Python inside the sandbox, which is bound there read-only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from evaluation.sandbox.interpreter import Interpreter, find_interpreter
from studio.local.paths import CHECKOUT, data_folder

LOCK = Path(__file__).with_name("requirements-agents.lock")
"""For every Python since 3.11 (``make lock``)."""
NANOBOT = Path(__file__).with_name("requirements-nanobot.lock")
FONTS = ".fonts"
BY_HAND = "" if (CHECKOUT / "Makefile").is_file() else f"{sys.executable} -m evaluation.sandbox.packages"
"""How whoever has no checkout installs them; the others have ``make``."""
COMMAND = BY_HAND or "make agent-packages"


def built_packages(lock: Path = LOCK) -> Path | None:
    """The folder of packages; None if it has not been built for this lock and this Python."""
    folder = packages_folder(lock)
    return folder if folder.is_dir() else None


def packages_folder(lock: Path = LOCK) -> Path:
    stamp = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    return data_folder() / "agent-packages" / f"{python_version(find_interpreter())}-{stamp}"


def why_no_packages() -> str:
    """Empty if they are there."""
    if built_packages():
        return ""
    return f"pandas, openpyxl, matplotlib and python-docx are not installed for agents: run {COMMAND}."


def build_packages(lock: Path = LOCK) -> Path:
    """Install the locked packages, checked by their hashes; what is there already stays. Raises
    subprocess.CalledProcessError."""
    target = packages_folder(lock)
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=target.parent))
    try:
        version = python_version(find_interpreter())
        chosen = ["--require-hashes", "--only-binary=:all:", "--python-version", version, "--implementation", "cp"]
        quiet = ["-q", "--disable-pip-version-check", "--no-compile"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *quiet, *chosen, "--target", str(draft), "-r", str(lock)],
            check=True,
        )
        _warm_up(draft, with_fonts=lock == LOCK)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _warm_up(folder: Path, *, with_fonts: bool) -> None:
    """What takes seconds at the first use and cannot be stored inside: byte code, and matplotlib's list of fonts."""
    program = _outside(find_interpreter())
    subprocess.run([program, "-I", "-m", "compileall", "-q", str(folder)], check=False)
    if not with_fonts:
        return
    (folder / FONTS).mkdir(parents=True)
    env = {"PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(folder / FONTS), "PYTHONPATH": str(folder)}
    subprocess.run([program, "-c", "import matplotlib.font_manager"], check=True, env=env, cwd="/")


@cache
def python_version(interpreter: Interpreter) -> str:
    """3.11, say."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([_outside(interpreter), "-I", "-c", code], check=True, capture_output=True, text=True)
    return asked.stdout.strip()


def _outside(interpreter: Interpreter) -> str:
    """The program's path on this machine, where it may lie in a copy."""
    if not interpreter.source:
        return interpreter.program
    return os.path.join(interpreter.source, os.path.relpath(interpreter.program, interpreter.target))


if __name__ == "__main__":
    if sys.argv[1:] == ["nanobot"]:
        print(f"nanobot: {build_packages(NANOBOT)}")
    else:
        print(f"Packages for agents' code: {build_packages()}")
