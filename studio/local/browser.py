"""Debian's Chromium for the browser tests: found, or installed where root can do so unasked. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = ["chromium", "fonts-liberation"]


def find_chromium() -> str | None:
    """The path of the browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def main() -> int:
    """Succeeds also without a browser: the tests that need one then say that they are skipped."""
    if find_chromium() is None and not _install():
        print(
            "Browser tests are skipped: chromium is missing and cannot be installed from here; "
            "as root, `apt-get install chromium` brings it.",
            file=sys.stderr,
        )
    return 0


def _install() -> bool:
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not shutil.which("sudo")):
        return False
    if root and subprocess.run([*root, "true"], capture_output=True, check=False).returncode:
        return False
    print("Installing Debian's chromium for the browser tests.", flush=True)
    quietly = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*quietly, "update"], stdout=subprocess.DEVNULL, check=False)
    install = [*quietly, "install", "-y", "--no-install-recommends", *PACKAGES]
    subprocess.run(install, stdout=subprocess.DEVNULL, check=False)
    return find_chromium() is not None


if __name__ == "__main__":
    sys.exit(main())
