"""Results for Every Eval Ever, held against its schemas."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Pilot, Session
from evaluation.results.benchmark_results import compute_results
from evaluation.results.eee import eee_zip
from evaluation.runner.command import main
from evaluation.runner.eee import Source, eee_files, evaluated
from evaluation.runner.results import read_results
from evaluation.runner.scores import score, scores_json
from evaluation.store.evidence import load_turns
from studio.domain.episode import Split
from studio.episodes.moves import Move, make_move
from studio.models import Role
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.runner.packs import write
from tests.evaluation.runner.test_same_as_pilots import answer_by_content
from tests.evaluation.stub_model import StubModel
from tests.factories import member

SCHEMAS = Path(__file__).parents[2] / "data" / "every_eval_ever"
pytestmark = pytest.mark.usefixtures("stub_key")


def validate(name: str, document: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft7Validator)


def check(files: dict[str, bytes]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Both files of one agent, as the schemas and their own links want them."""
    [aggregate] = [name for name in files if name.endswith(".json")]
    [samples] = [name for name in files if name.endswith("_samples.jsonl")]
    document = json.loads(files[aggregate])
    rows = [json.loads(line) for line in files[samples].splitlines()]
    validate("eval", document)
    for row in rows:
        validate("instance_level_eval", row)
    detailed = document["detailed_evaluation_results"]
    assert detailed["file_path"] == samples == aggregate.replace(".json", "_samples.jsonl")
    assert detailed["checksum"] == hashlib.sha256(files[samples]).hexdigest()
    assert detailed["total_rows"] == len(rows)
    results = {each["evaluation_result_id"]: each for each in document["evaluation_results"]}
    for row in rows:
        assert row["evaluation_id"] == document["evaluation_id"]
        assert row["model_id"] == document["model_info"]["id"]
        assert row["evaluation_name"] == results[row["evaluation_result_id"]]["evaluation_name"]
    return document, rows


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "release"])
def test_export_is_valid_and_has_the_scores_of_the_results(
    stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str
):
    answer_by_content(stub)
    tasks = [task("a"), task("b", "a", intents=intents("Sign."), checklist=(rubric("x", 2), rubric("y")))]
    pack = write(tmp_path / "pack.zip", {"clerk": [*tasks, task("c", checklist=(rubric("z"),))]})
    models = [word for seat in ("model", "user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY", "--protocol", protocol, "--runs", "2"]
    assert main(["run", str(pack), *models, *at, "--out", str(tmp_path / "results")]) == 0
    capsys.readouterr()

    words = ["export", str(tmp_path / "results"), "--format", "eee", "--organization", "Harbour Lab"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0

    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    files = {str(path.relative_to(tmp_path / "out")): path.read_bytes() for path in written}
    document, rows = check(files)
    told = scores_json(score(read_results(tmp_path / "results")))
    for result in document["evaluation_results"]:
        metric, _, mode = result["evaluation_result_id"].partition("-")
        expected = told["scores"][mode or "strict"][metric]
        assert result["score_details"]["score"] == expected["mean"]
        interval = result["score_details"].get("uncertainty", {}).get("confidence_interval", {})
        assert (interval.get("lower"), interval.get("upper")) == (expected["low"], expected["high"])
        assert result["metric_config"]["llm_scoring"]["input_prompt"] != "unknown"
    assert document["source_metadata"]["source_organization_name"] == "Harbour Lab"
    assert document["model_info"]["id"] == "unknown/stub-model"
    assert any("uncertainty" in result["score_details"] for result in document["evaluation_results"])
    sessions = {f"{row['persona']}/{row['task']}/run-{row['run']}": row for row in told["sessions"]}
    for row in rows:
        metric, _, mode = row["evaluation_result_id"].partition("-")
        own = sessions[row["sample_id"]]
        assert row["evaluation"]["score"] == (own["proc"] if metric == "proc" else own["comp"][mode or "strict"])
        assert row["evaluation"]["num_turns"] == own["turns"]
    assert [message["turn_idx"] for message in rows[0]["messages"]] == list(range(len(rows[0]["messages"])))
    assert {message["role"] for message in rows[0]["messages"]} == {"user", "assistant", "tool"}

    assert main([*words, "--out", str(tmp_path / "again")]) == 0
    assert {str(path.relative_to(tmp_path / "again")) for path in (tmp_path / "again").rglob("*.json*")} == files.keys()
    assert all((tmp_path / "again" / name).read_bytes() == content for name, content in files.items())


def test_of_tasks_that_are_not_public_only_scores_are_told(
    stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    answer_by_content(stub)
    tasks = [task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("y"),))]
    pack = write(tmp_path / "pack.zip", {"clerk": tasks}, splits={"b": Split.HELD_OUT})
    models = [word for seat in ("model", "user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY"]
    assert main(["run", str(pack), *models, *at, "--out", str(tmp_path / "results")]) == 0

    assert main(["export", str(tmp_path / "results"), "--out", str(tmp_path / "out")]) == 0

    [samples] = (tmp_path / "out").rglob("*_samples.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    assert {row["metadata"]["task"] for row in rows} == {"a"}


def test_session_that_followed_a_held_out_one_is_not_told(stub: StubModel, tmp_path: Path):
    answer_by_content(stub)
    tasks = [task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("y"),))]
    pack = write(tmp_path / "pack.zip", {"clerk": tasks}, splits={"a": Split.HELD_OUT})
    models = [word for seat in ("model", "user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY"]
    assert main(["run", str(pack), *models, *at, "--out", str(tmp_path / "results")]) == 0

    assert main(["export", str(tmp_path / "results"), "--out", str(tmp_path / "out")]) == 0

    assert list((tmp_path / "out").rglob("*_samples.jsonl")) == []


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(("held", "told"), [("b", {"a"}), ("a", set())])
def test_sessions_of_tasks_held_out_after_their_pilot_and_those_that_followed_are_not_told(held: str, told: set[str]):
    benchmark = benchmark_of(task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("y"),)))
    pilot = work_through(pilot_of(benchmark))
    move = Move("split", (held,), split="held_out")
    make_move(benchmark.personas.get().pk, move, by=member(benchmark, Role.OWNER))

    with eee_zip(compute_results(benchmark, [pilot])) as made, zipfile.ZipFile(made) as archive:
        samples = [archive.read(name).splitlines() for name in archive.namelist() if name.endswith("_samples.jsonl")]

    assert {json.loads(line)["metadata"]["task"] for lines in samples for line in lines} == told


@pytest.mark.django_db
@pytest.mark.slow
def test_many_sessions_are_exported_with_the_queries_of_one_and_in_the_order_of_their_turns() -> None:
    def played(names: str, runs: int) -> Pilot:
        tasks = [task(name, checklist=(rubric("x"),), intents=intents("y")) for name in names]
        return work_through(pilot_of(benchmark_of(*tasks), runs=runs))

    def exported(pilot: Pilot) -> tuple[int, list[dict[str, Any]]]:
        found = compute_results(pilot.benchmark, [pilot])
        with CaptureQueriesContext(connection) as queries, eee_zip(found) as made, zipfile.ZipFile(made) as archive:
            [name] = [name for name in archive.namelist() if name.endswith("_samples.jsonl")]
            return len(queries), [json.loads(line) for line in archive.read(name).splitlines()]

    one, many = played("a", 1), played("abcd", 3)
    (queries_of_one, _), (queries, rows) = exported(one), exported(many)
    assert queries == queries_of_one
    told = {row["sample_id"]: row["messages"] for row in rows}
    assert len(told) == 12
    for session in Session.objects.filter(run__pilot=many).select_related("run", "revision__task__persona"):
        name = f"{session.revision.task.persona.user_id}/{session.revision.task.task_id}/run-{session.run.number}"
        kept = [turn.reply for turn in load_turns(session)]
        assert [each["content"] for each in told[name] if each["role"] == "assistant" and each["content"]] == kept


@pytest.mark.parametrize("name", ["..", ".\u200b.", "\u200b.", "a/../../b", ".\u200b./.\u200b."])
def test_no_name_leads_out_of_the_folder(stub: StubModel, tmp_path: Path, name: str):
    answer_by_content(stub)
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a", checklist=(rubric("x"),))]})
    models = [word for seat in ("model", "user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY"]
    assert main(["run", str(pack), *models, *at, "--out", str(tmp_path / "results")]) == 0
    found = evaluated(read_results(tmp_path / "results"), Source())
    models_of = {role: {**model, "model": f"{name}/{name}"} for role, model in found.models.items()}

    paths = [path for path, content in eee_files(replace(found, benchmark=name, models=models_of))]

    assert {len(path.split("/")) for path in paths} == {5}
    assert not {"", ".", ".."} & {part for path in paths for part in path.split("/")}


def test_results_without_a_score_are_not_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]})
    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(tmp_path / "results")]) == 0

    assert main(["export", str(tmp_path / "results"), "--out", str(tmp_path / "out")]) == 2

    assert "There is no score to export." in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("quick_retries")
def test_results_page_exports_each_pilot_validly(stub: StubModel):
    answer_by_content(stub)
    benchmark = benchmark_of(task("a"), task("b", checklist=(rubric("x"), rubric("y"))))
    model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    seats = {"agent": model, "user_model": model, "judge": model}
    pilots = [work_through(pilot_of(benchmark, **seats, protocol="paper", accept_warnings=True)) for _ in range(2)]
    client = Client()
    client.force_login(member(benchmark, Role.AUTHOR))

    page = reverse("evaluation:results", args=[benchmark.slug])
    answer = client.get(f"{page}?format=eee")

    assert 'format=eee">Every Eval Ever</a>' in client.get(page).content.decode()
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    stems = {name.removesuffix(".json").removesuffix("_samples.jsonl") for name in files}
    assert len(stems) == len(pilots)
    for stem in stems:
        document, rows = check({name: content for name, content in files.items() if name.startswith(stem)})
        assert document["source_metadata"]["source_organization_name"] == "Bench"
        assert len(rows) == 2
