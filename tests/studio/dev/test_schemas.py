"""The JSON Schemas in docs/ are what models say, and real documents satisfy them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.dev.schemas import FOLDER, schemas
from studio.domain.pibench import read_personas, write_persona
from studio.models import User
from tests.evaluation.builders import archive_of, benchmark_of, file, rubric, task

SAMPLE = Path(__file__).resolve().parents[3] / "fixtures" / "sample" / "data"


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_text()))


def complaints(name: str, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]


def schema_of(path: str) -> str | None:
    name = path.rpartition("/")[2]
    return name.removesuffix(".yaml") if name in ("task.yaml", "profile.yaml", "episode.yaml", "tools.yaml") else None


def test_stored_schemas_of_models_are_current() -> None:
    stored = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert schemas().items() <= stored.items(), "run `make docs`"


@pytest.mark.slow
def test_stored_schemas_are_json_schemas() -> None:
    for path in FOLDER.iterdir():
        Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_sample_documents_satisfy_their_schemas() -> None:
    checked = 0
    for path in SAMPLE.rglob("*.yaml"):
        if name := schema_of(path.as_posix()):
            assert complaints(name, yaml.safe_load(path.read_text())) == [], path
            checked += 1
    assert checked > 10


def test_real_documents_satisfy_their_schemas(pibench_data: Path) -> None:
    for path in pibench_data.rglob("*.yaml"):
        if name := schema_of(path.as_posix()):
            assert complaints(name, yaml.safe_load(path.read_text())) == [], path


@pytest.mark.slow
def test_written_documents_and_specs_satisfy_their_schemas() -> None:
    files = {path.relative_to(SAMPLE).as_posix(): path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file()}
    reading = read_personas(files)
    for episode in reading.episodes:
        assert complaints("episode-spec", episode.to_json()) == []
        bare = episode.model_copy(
            update={"tasks": tuple(one.model_copy(update={"source": {}}) for one in episode.tasks)}
        )
        for path, content in write_persona(bare, reading.contents).items():
            if name := schema_of(path):
                assert complaints(name, yaml.safe_load(content)) == [], path


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"schema_version": "v1"}, "$.schema_version"),
        ({"intent": {"initial_input": "Hello", "hidden_intent": []}}, "$.intent.hidden_intent"),
        ({"objectives": {"tools_checklist": []}}, "$.objectives"),
        ({"studio": {"intents": [{"position": 0}]}}, "$.studio"),
    ],
)
def test_schema_rejects_a_broken_task(change: dict[str, Any], where: str) -> None:
    path = SAMPLE / "radio_producer" / "tasks" / "radio_03_running_order" / "task.yaml"
    broken = {**yaml.safe_load(path.read_text()), **change}
    assert any(complaint.startswith(where) for complaint in complaints("task", broken))


@pytest.mark.django_db
def test_manifest_of_a_release_satisfies_its_schema() -> None:
    manager = User.objects.create_user("ruth", password="a long password")
    assets = (file("fees.md", "The harbour fee is 12 crowns.\n"),)
    benchmark = benchmark_of(
        task("a", title="The fee", assets=assets),
        task("b", "a", title="The letter", checklist=(rubric("The letter names the harbour fee."),)),
    )
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=manager)
    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as archive:
        manifest = json.loads(archive.read("pack.json"))
    assert manifest["exceptions"]
    assert complaints("pack", manifest) == []
