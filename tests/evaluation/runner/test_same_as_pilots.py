"""The studio's pilots and `pibench run` are one engine: same requests, same sessions, same scores."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.metrics.leaderboard import leaderboard
from evaluation.metrics.sessions import score_sessions
from evaluation.models import Session
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.results.benchmark_results import compute_results
from evaluation.results.figures.catalogue import build_figure
from evaluation.results.loading import load_pilot
from evaluation.results.pilot_report import pilot_report
from evaluation.runner.command import main
from evaluation.runner.results import read_results
from studio.access.tokens import create_token
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, TaskSpec
from studio.models import Benchmark, Role, Task, User
from tests.evaluation.builders import archive_of, benchmark_of, endpoint, file, intents, pilot_of, rubric, rule, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel, decisions, kind_of
from tests.factories import mark_approved, member

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.fixture
def tasks() -> list[TaskSpec]:
    request = "Please write the note d. It must mention the harbour fee."
    return [
        task("a", assets=(file("notes.md", "The fee is due."),), files_read=("out.md",)),
        task(
            "b",
            "a",
            intents=intents("Name the fee.", "Sign it.", "Say when.", provided=(2,)),
            files_read=("out.md",),
            checklist=(
                rubric("x", 2),
                rubric("y", 3),
                rule("z", ExactCheck(kind="file_contains", path="out.md", text="30 crowns")),
            ),
        ),
        task("c", checklist=(rubric("p"), rubric("q", 7), rubric("r"))),
        task(
            "d",
            initial_request=request,
            intents=intents("It must mention the harbour fee.", "Sign it."),
            checklist=(rubric("s"),),
        ),
        task("e", "a", checklist=(rubric("t"), rubric("u", 2))),
    ]


def answer_by_content(stub: StubModel) -> None:
    """Each request has one answer, which is as good as any: also one that fails."""

    def chance(body: dict[str, Any], of: int, salt: object = "") -> bool:
        if "write the note d" in json.dumps(body) and kind_of(body) != "checklist":
            return False  # so that the user has to choose what to say
        return zlib.crc32(f"{json.dumps(body['messages'])}{salt}".encode()) % of == 0

    written = {"name": "write_file", "arguments": json.dumps({"path": "out.md", "content": "The fee is 30 crowns."})}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": written}]}
    stub.agent = lambda body: call if len(body["messages"]) == 2 else "Done."
    stub.satisfaction = lambda body: decisions(body, lambda index: chance(body, 3, index))
    stub.follow_up = lambda body: decisions(body, lambda index: chance(body, 2, index))
    stub.checklist = lambda body: decisions(body, lambda index: chance(body, 2, index))


def released(benchmark: Benchmark, path: Path) -> Path:
    mark_approved(Task.objects.filter(persona__benchmark=benchmark))
    by = User.objects.create_user("ruth", password="a long password")
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="For a test."), by=by)
    path.write_bytes(archive_of(release))
    return path


def sorted_requests(bodies: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(body, sort_keys=True) for body in bodies)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "release"])
def test_same_answers_give_the_same_requests_sessions_and_scores(
    stub: StubModel, tasks: list[TaskSpec], tmp_path: Path, protocol: str, capsys: pytest.CaptureFixture[str]
):
    answer_by_content(stub)
    benchmark = benchmark_of(*tasks)
    benchmark_of(task("a", checklist=(rubric("x"), rubric("y"))), persona=PersonaSpec(user_id="other"), into=benchmark)
    pack = released(benchmark, tmp_path / "pack.zip")
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    seats = {"agent": model, "user_model": model, "judge": model}
    pilot = work_through(pilot_of(benchmark, **seats, protocol=protocol, runs=2, accept_warnings=True))
    in_studio, stub.bodies = stub.bodies, []

    named = f"openai:{model.model}"
    status = main(
        [
            *("run", str(pack), "--model", named, "--user", named, "--judge", named, "--base-url", stub.base_url),
            *("--key-env", "STUB_API_KEY", "--protocol", protocol, "--runs", "2", "--json"),
            *("--out", str(tmp_path / "out")),
        ]
    )

    assert status == 0
    assert Session.objects.filter(state="finished").count() == 12
    assert sorted_requests(stub.bodies) == sorted_requests(in_studio)
    report = json.loads(capsys.readouterr().out)
    loaded, results = load_pilot(pilot), read_results(tmp_path / "out")
    studio_rows, own_rows = loaded.rows("stub"), results.rows()
    key = [(row.persona, row.run[1], row.result.task_id) for row in studio_rows]
    own = {(row.persona, row.run[1], row.result.task_id): row for row in own_rows}
    for row, place in zip(studio_rows, key, strict=True):
        mine = own[place]
        assert (mine.result, mine.statuses, mine.labels) == (row.result, row.statuses, row.labels)
        assert (mine.turns, mine.tokens, mine.unpriced) == (row.turns, row.tokens, row.unpriced)
    for mode in pilot.terms.modes:
        [theirs] = leaderboard(studio_rows, score_sessions(studio_rows), mode)
        shown = report["scores"][mode]
        for metric in ("proc", "comp"):
            assert shown[metric] == vars(theirs.scores[metric])
            assert 0 < shown[metric]["mean"] < 1
            assert {name: each[metric] for name, each in shown["personas"].items()} == {
                name: vars(scores[metric]) for name, scores in theirs.personas.items()
            }
        figure = build_figure(compute_results(benchmark, [pilot]), "in_every_run", mode)
        for kind, found in shown["reliability"].items():
            assert [(row["k"], row["share"], row["n"]) for row in found] == [
                (row["runs"], row[kind], row[f"n_{kind}"]) for row in figure.rows
            ]
    shown_by_pilot = [(each["proc"], each["comp"], each["intents"]) for each in pilot_report(pilot)["sessions"]]
    by_place = {(each["persona"], each["run"], each["task"]): each for each in report["sessions"]}
    for place, (proc, comp, stood) in zip(key, shown_by_pilot, strict=True):
        each = by_place[place]
        assert (each["proc"], [row["status"] for row in each["intents"]]) == (proc, [row["status"] for row in stood])
        assert each["setup"] or each["comp"] == comp


@pytest.mark.slow
def test_intents_that_the_request_says_reach_the_run_with_the_pack(
    stub: StubModel, tasks: list[TaskSpec], tmp_path: Path
):
    from evaluation.runner.packs import read_pack

    pilot = pilot_of(benchmark_of(*tasks))

    pack = read_pack(released(pilot.benchmark, tmp_path / "pack.zip"))

    [episode] = pack.episodes
    persona = episode.persona.user_id
    said = {each.task_id: pack.said_in_request(persona, each.task_id) for each in episode.tasks}
    assert said == {each.task_id: tuple(pilot.said_in_request(persona, each.task_id)) for each in episode.tasks}
    assert said["d"] == (1,)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_commands_of_a_packs_readme_run_as_written(
    stub: StubModel,
    tasks: list[TaskSpec],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    live_server: Any,
):
    """The one of Inspect: `tests/pi_bench_studio`. Those that verify with other programs: `test_signing.py`."""
    benchmark = benchmark_of(*tasks)
    _, token = create_token(member(benchmark, Role.RELEASE_MANAGER), name="home", scope="write", days=1)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("PIBENCH_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    pack = released(benchmark, tmp_path / "pack.zip")
    with zipfile.ZipFile(pack) as archive:
        readme = archive.read("README.md").decode()
    commands = [line.split()[1:] for line in readme.splitlines() if line.startswith("pibench ")]
    kinds = "show run score html compare leaks export site upload bundle verify validate"
    assert [words[0] for words in commands] == kinds.split()
    pack.rename(commands[0][1])
    stands_for = {"URL": stub.base_url, "STUDIO": live_server.url}

    for words in commands:
        said = [stands_for.get(word, word) for word in words]
        assert main(said) == 0, words
        if words[0] == "run":
            other = {"results": "other-results", "openai:NAME": "openai:OTHER"}
            assert main([other.get(word, word) for word in said]) == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"results.html", "exported", "site", "results.zip"}
    assert "Submitted as pilot" in capsys.readouterr().out
