"""Checks and tests of the scripts in `static/js`."""

from __future__ import annotations

import hashlib
import shutil
import subprocess

from studio.local.paths import CHECKOUT

TOOLS = CHECKOUT / "node_modules"
LOCK = CHECKOUT / "package-lock.json"
MARK = TOOLS / ".installed"
OLDEST_NODE = 20
OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


class UnavailableError(Exception):
    """Node is missing or too old, or its tools cannot be downloaded."""


def checks() -> dict[str, list[str]]:
    """Install the tools and return the commands by name.

    Raises UnavailableError, or CalledProcessError if the installation fails for any reason but a missing network.
    """
    node = _node()
    _install()
    tests = sorted(str(path) for path in (CHECKOUT / "tests" / "js").glob("*.test.js"))
    return {
        "javascript": [node, str(TOOLS / "@biomejs" / "biome" / "bin" / "biome"), "check", "--error-on-warnings"],
        "javascript types": [node, str(TOOLS / "typescript" / "bin" / "tsc")],
        "javascript tests": [node, "--test", *tests],
    }


def _node() -> str:
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        raise UnavailableError(f"Node {OLDEST_NODE} or newer, with npm, is not installed")
    version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        raise UnavailableError(f"Node {version} is older than {OLDEST_NODE}")
    return node


def _install() -> None:
    fingerprint = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if MARK.exists() and MARK.read_text() == fingerprint:
        return
    done = subprocess.run(
        ["npm", "ci"], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode and any(word in done.stdout for word in OFFLINE):
        raise UnavailableError("the tools cannot be downloaded without a network")
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, "npm ci", done.stdout)
    MARK.write_text(fingerprint)
