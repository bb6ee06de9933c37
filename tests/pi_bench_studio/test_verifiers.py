"""Packs in verifiers, which cannot share an environment with the studio, nor with `pibench`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocol.given import GivenTurn
from evaluation.runner.command import main
from studio.domain.episode import Split
from studio.domain.task import ExactCheck
from studio.local.paths import CHECKOUT
from tests.evaluation.builders import rubric, rule, task
from tests.evaluation.runner.packs import write
from tests.evaluation.stub_model import StubModel, decisions, serving
from tests.wheels import build_wheel, environment

PROJECT = CHECKOUT / "deploy" / "verifiers"
HELD = "the berth of the second ferry"


def command_of(name: str) -> str:
    """As the project's README has it."""
    readme = (PROJECT / "README.md").read_text().replace("\\\n", " ")
    [found] = [line for line in readme.splitlines() if line.startswith(f"vf/bin/{name}")]
    return found


@pytest.fixture
def stub() -> Iterator[StubModel]:
    """Each request has one answer, which is as good as any."""

    def judge(body: dict[str, Any]) -> str:
        asked = "".join(str(message["content"]) for message in body["messages"])
        return decisions(body, lambda index: zlib.crc32(f"{asked}{index}".encode()) % 2 == 0)

    with serving(StubModel()) as model:
        model.satisfaction = model.follow_up = model.checklist = judge
        model.streams = True
        yield model


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_verifiers_validates_and_evaluates_a_pack_and_scores_it_as_pibench_does(
    stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    clerk = [task("a"), task("b", "a", checklist=(rubric("x", 2), rubric("y", 3))), task("c", checklist=(rubric("p"),))]
    held = task("h", initial_request=f"Book {HELD}.", checklist=(rubric("s"),))
    cook = [task("a", checklist=(rubric("w"), rubric("v")))]
    smith = [task("z", checklist=(rule("It says so.", ExactCheck(kind="reply_contains", text="forged")),))]
    rows = [{"persona": "clerk", "task": "b"}, {"persona": "clerk", "task": "c"}, {"persona": "smith", "task": "z"}]
    known = {"validated": rows, "not_validated": [{"persona": "cook", "task": "a", "why": "It has no solution."}]}
    pack = write(
        tmp_path / "bench-1.0.zip",
        {"clerk": [*clerk, held], "cook": cook, "smith": smith},
        splits={"h": Split.HELD_OUT},
        more={"validation": known},
        solutions={"c": GivenTurn("Done."), "z": GivenTurn("Cast.")},
    )
    wheel = build_wheel(tmp_path)
    (tmp_path / "pibench").symlink_to(environment(tmp_path, str(wheel)).parents[1])
    (tmp_path / "own").mkdir()
    (tmp_path / "vf").symlink_to(environment(tmp_path / "own", str(PROJECT), locked=False).parents[1])
    keys = {"MODEL_KEY": "sk-model", "OPENAI_API_KEY": "sk-judge", "HOME": str(tmp_path), "PATH": os.environ["PATH"]}

    def run(name: str, *more: str) -> str:
        named = {"URL": stub.base_url, "MODEL": "m", "openai:gpt-5.4-mini": f"openai:m@{stub.base_url}"}
        words = [named.get(word, word) for word in shlex.split(command_of(name))]
        done = subprocess.run([*words, *more], cwd=tmp_path, env=keys, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    checks = run("vf-validate").partition("{")
    told = json.loads(checks[1] + checks[2])["checks"]
    assert (told["gold"]["valid"], told["gold"]["invalid"], told["gold"]["unchecked"]) == (1, 1, 1)
    assert told["noop"]["valid"] == 3
    assert not stub.asked

    run("vf-eval")
    [found] = (tmp_path / "outputs").glob("*/traces.jsonl")
    rollouts = [json.loads(line) for line in found.read_text().splitlines()]
    traces = {row["task"]["data"]["persona"]: trace for row in rollouts for trace in row["traces"]}
    assert HELD not in found.read_text() and HELD not in json.dumps(stub.bodies)
    monkeypatch.setenv("STUB_API_KEY", "sk-own")
    model = f"openai:m@{stub.base_url}"
    seats = ("--model", model, "--user", model, "--judge", model, "--key-env", "STUB_API_KEY", "--split", "public")
    capsys.readouterr()
    assert main(["run", str(pack), *seats, "--out", str(tmp_path / "out"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]["strict"]
    assert 0 < scores["proc"]["mean"] < 1
    for persona, own in scores["personas"].items():
        trace = traces[persona]
        assert trace["rewards"]["proc"]["score"] == own["proc"]["mean"]
        assert trace["metrics"]["comp"] == own["comp"]["mean"]
        assert not trace["errors"]
