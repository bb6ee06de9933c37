"""`make check`: static checks, two at a time, reporting all problems."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from studio.dev import javascript
from studio.local.paths import CHECKOUT

BIN = Path(sys.executable).parent
CHECKS = {
    "types": [str(BIN / "mypy")],
    "linter": [str(BIN / "ruff"), "check", "--quiet"],
    "format": [str(BIN / "ruff"), "format", "--check", "--quiet"],
    "imports": [str(BIN / "lint-imports"), "--no-logo"],
    "private names": [sys.executable, "-m", "studio.dev.private_names"],
    "lines": [sys.executable, "-m", "studio.dev.lines"],
    "migrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    "schema": [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null"],
}


def main() -> int:
    checks, failed = dict(CHECKS), False
    try:
        checks |= javascript.checks()
    except javascript.UnavailableError as problem:
        print(f"check javascript: skipped, {problem}")
    except subprocess.CalledProcessError as problem:
        failed = True
        print(f"check javascript: FAILED ({problem})\n{problem.output}")
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(checks, pool.map(_run, checks.values()), strict=True))
    for name, (done, seconds) in results.items():
        print(f"check {name}: {'FAILED' if done.returncode else 'ok'} ({seconds:.0f} s)")
        if done.returncode:
            print(done.stdout)
    return int(failed or any(done.returncode for done, _ in results.values()))


def _run(argv: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    start = time.monotonic()
    done = subprocess.run(argv, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done, time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main())
