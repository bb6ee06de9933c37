"""Packs in Inspect, which has an environment of its own: it is in no lock of ours."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from evaluation.releases.documents.readme import running
from studio.domain.task import ExactCheck
from studio.local.paths import CHECKOUT
from tests.evaluation.builders import intents, rubric, rule, task
from tests.evaluation.runner.packs import asset, write
from tests.wheels import build_wheel, environment

INSIDE = Path(__file__).with_name("inside.py")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_task_of_the_installed_wheel_passes_its_tests_inside(tmp_path: Path):
    contents: dict[str, bytes] = {}
    notes = asset("notes.md", "The fee is due.", contents)
    fee = rule("z", ExactCheck(kind="file_contains", path="out.md", text="30 crowns"))
    clerk = [
        task("a", assets=(notes,), files_read=("out.md",)),
        task(
            "b",
            "a",
            intents=intents("Name the fee.", "Sign it.", "Say when.", provided=(2,)),
            files_read=("out.md",),
            checklist=(rubric("x", 2), rubric("y", 3), fee),
        ),
        task("c", checklist=(rubric("p"), rubric("q", 7))),
    ]
    cook = [task("a", checklist=(rubric("w"), rubric("v")))]
    pack = write(tmp_path / "pack.zip", {"clerk": clerk, "cook": cook}, contents)
    python = environment(tmp_path, f"{build_wheel(tmp_path)}[inspect]", "pytest")
    tests = tmp_path / "tests"
    for name in ("__init__.py", "evaluation/__init__.py", "evaluation/stub_model.py"):
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_bytes((CHECKOUT / "tests" / name).read_bytes())

    [command] = [line for line in running(str(pack)).splitlines() if line.startswith("inspect eval")]
    told = {"PACK": str(pack), "COMMAND": command}

    argv = [str(python), "-m", "pytest", "--noconftest", "-c", os.devnull, "--import-mode", "importlib", str(INSIDE)]
    done = subprocess.run(
        [*argv, "--rootdir", str(tmp_path), "-q", "-p", "no:cacheprovider"],
        env={**told, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-20_000:]
