"""``make mutants N=100 SEED=1``: plants faults one at a time, and tells which of them no test notices.

The faults are a seeded sample, equally many of each area of ``areas.toml``. Each is planted in a worktree of the last
commit, in ``var/mutants``, where the tests of its area, slow ones included, run until one fails: those named like its
file first, then those that import it. A fault that no test notices is one that nobody would have noticed: either a
test is missing or the line can go. An interrupted run goes on where it was. mutmut and cosmic-ray know neither SQL,
templates and scripts nor a sample, and copy or patch the modules that worker processes import, so this is our own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from studio.local.paths import CHECKOUT
from tests.mutants.faults import Fault, faults_of

AREAS = tomllib.loads(Path(__file__).with_name("areas.toml").read_text(encoding="utf-8"))
VAR = CHECKOUT / "var" / "mutants"
TREE = VAR / "tree"
MINUTES = 60
"""Each test has its own limit; this one is for what hangs outside of tests, which is noticed."""
NO_TESTS = 5
"""pytest's exit status where it found none."""


def candidates(area: Mapping[str, list[str]]) -> list[Fault]:
    paths = sorted({path for pattern in area["files"] for path in TREE.glob(pattern)})
    return [
        fault
        for path in paths
        for fault in faults_of(path.relative_to(TREE).as_posix(), path.read_text(encoding="utf-8"))
    ]


def tests_for(fault: Fault, area: Mapping[str, list[str]]) -> list[str]:
    """Nearest first; the area's folders after them, whose tests pytest runs once however often they are named."""
    stem = Path(fault.path).stem
    module = fault.path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    imported = re.compile(rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{name}\b")
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((TREE / "tests").rglob("test_*.py"))}
    named = [path for path in texts if path.stem == f"test_{stem}"]
    importing = [path for path, text in texts.items() if fault.path.endswith(".py") and imported.search(text)]
    near = [path.relative_to(TREE).as_posix() for path in dict.fromkeys(named + importing)]
    return [*near, *(path for path in area["tests"] if (TREE / path).exists())]


def notices(fault: Fault, tests: list[str]) -> bool:
    path = TREE / fault.path
    text = path.read_text(encoding="utf-8")
    path.write_text(fault.planted(text), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        command += ["-m", "not minutes and not real_server", *tests]
        status = subprocess.run(command, cwd=TREE, capture_output=True, timeout=MINUTES * 60, check=False).returncode
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text, encoding="utf-8")
    return status not in (0, NO_TESTS)


def key(fault: Fault, text: str) -> str:
    """Stays the same while its file does, so that a run goes on after other commits."""
    return sha256(f"{fault.path}\0{fault.planted(text)}".encode()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", choices=AREAS, action="append", help="only these areas")
    parser.add_argument("--list", action="store_true", help="print the faults, plant none")
    asked = parser.parse_args()
    VAR.mkdir(parents=True, exist_ok=True)
    git("worktree", "remove", "--force", str(TREE), check=False)
    git("worktree", "prune")
    git("worktree", "add", "--quiet", "--detach", str(TREE), "HEAD")
    os.nice(10)
    store = VAR / "noticed.json"
    noticed: dict[str, bool] = json.loads(store.read_text()) if store.exists() else {}
    areas = asked.area or list(AREAS)
    counts: Counter[tuple[str, bool]] = Counter()
    for place, name in enumerate(areas):
        share = asked.number // len(areas) + (place < asked.number % len(areas))
        possible = candidates(AREAS[name])
        for fault in random.Random(f"{asked.seed} {name}").sample(possible, min(share, len(possible))):
            text = (TREE / fault.path).read_text(encoding="utf-8")
            line = f"{name}: {fault.path}:{fault.line}: {fault.what}: {text[fault.start : fault.end]!r}"
            if asked.list:
                print(line)
                continue
            if (found := key(fault, text)) not in noticed:
                noticed[found] = notices(fault, tests_for(fault, AREAS[name]))
                store.write_text(json.dumps(noticed))
            counts[name, noticed[found]] += 1
            print(f"{'noticed' if noticed[found] else 'LIVES  '} {line}", flush=True)
    git("worktree", "remove", "--force", str(TREE))
    for name in areas if counts else []:
        print(f"{counts[name, True]:4} of {counts[name, True] + counts[name, False]:4} noticed: {name}")
    return 0


def git(*arguments: str, **options: Any) -> None:
    subprocess.run(["git", *arguments], cwd=CHECKOUT, **{"check": True, "capture_output": True, **options})


if __name__ == "__main__":
    sys.exit(main())
