"""`make setup`: create the virtual environment with the locked dependencies; ``--run`` leaves out what only tests need.

Runs on the system's Python with the standard library alone. Concurrent runs wait for each other; a run that finds the
environment up to date ends at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
ENVIRONMENT = CHECKOUT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
ALL, TO_RUN = CHECKOUT / "requirements-dev.lock", CHECKOUT / "requirements.lock"  # ALL holds what is TO_RUN
DONE = ENVIRONMENT / "installed"  # the fingerprint of what is installed, written last


def main(*arguments: str) -> int:
    lock = TO_RUN if "--run" in arguments else ALL
    with open(__file__, "rb") as own:
        fcntl.flock(own, fcntl.LOCK_EX)
        if DONE.exists() and DONE.read_text() in {fingerprint(ALL), fingerprint(lock)} and works(PYTHON):
            return 0
        print("Setting up the virtual environment; this takes a minute the first time …", flush=True)
        started = time.monotonic()
        if not works(PYTHON) and not make_environment():
            return 1
        if not install(lock):
            print(f"The dependencies could not be installed from {lock.name}; see above.", file=sys.stderr)
            return 1
        DONE.write_text(fingerprint(lock))
        print(f"  Virtual environment … {time.monotonic() - started:.1f} s", flush=True)
    return 0


def fingerprint(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest() + f" {sys.version_info.major}.{sys.version_info.minor}\n"


def works(python: Path) -> bool:
    return python.exists() and quiet([str(python), "-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"])


def make_environment() -> bool:
    if not quiet([sys.executable, "-c", "import ensurepip"]) and not install_ensurepip():
        package = f"python3.{sys.version_info.minor}-venv"
        print(
            f"This Python cannot make virtual environments: run `apt-get install {package}` as root, then try again.",
            file=sys.stderr,
        )
        return False
    try:
        venv.create(ENVIRONMENT, clear=ENVIRONMENT.exists(), with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"Making {ENVIRONMENT} failed: {error}", file=sys.stderr)
        return False
    return True


def install_ensurepip() -> bool:
    """Only on Debian, as root or with sudo without a password."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not (shutil.which("sudo") and quiet([*root, "true"]))):
        return False
    print("Installing Debian's python3-venv.", flush=True)
    quietly = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*quietly, "update"], stdout=subprocess.DEVNULL, check=False)
    return quiet_output([*quietly, "install", "-y", "--no-install-recommends", "python3-venv"])


def install(lock: Path) -> bool:
    """With uv, which takes seconds, or with pip, which takes minutes, if uv is unavailable or fails."""
    pip = [str(PYTHON), "-m", "pip"]
    if run([*pip, "install", "--quiet", "--disable-pip-version-check", "uv"]):
        uv = [str(PYTHON), "-m", "uv", "--quiet", "pip", "install", "--python", str(PYTHON), "--require-hashes"]
        if run([*uv, "-r", str(lock)], env=uv_environment()):
            return True
        print("uv failed; trying pip.", flush=True)
    return run([*pip, "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(lock)])


def uv_environment() -> dict[str, str]:
    """uv does not read pip's configuration, where a mirror may be configured."""
    listed = subprocess.run([str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    configured = dict(line.split("=", 1) for line in listed.stdout.splitlines() if "=" in line)
    environment = dict(os.environ)
    for option, variable in [("index-url", "UV_DEFAULT_INDEX"), ("cert", "SSL_CERT_FILE")]:
        for key in (f":env:.{option}", f"global.{option}"):
            if key in configured:
                environment.setdefault(variable, configured[key].strip("'"))
    return environment


def run(argv: list[str], env: dict[str, str] | None = None) -> bool:
    return not subprocess.run(argv, env=env, check=False).returncode


def quiet_output(argv: list[str]) -> bool:
    return not subprocess.run(argv, stdout=subprocess.DEVNULL, check=False).returncode


def quiet(argv: list[str]) -> bool:
    return not subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
