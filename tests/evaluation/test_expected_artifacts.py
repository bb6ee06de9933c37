"""References are for people: nothing that runs a task, plays its user or judges it gets to see one."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from evaluation.models import ModelCall, Snapshot, Turn, Verdict
from evaluation.pilots.wait import wait_for_pilot
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.store.frozen import task_of
from evaluation.workspaces.manifests import stage_files
from studio.domain.base import Content
from studio.domain.pack import SUMS, read_sums
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, ExpectedArtifact, TaskSpec
from studio.imports.importer import import_archive
from studio.models import Benchmark, Blob, User
from tests.evaluation.builders import archive_of, benchmark_of, file, intents, pilot_of, rubric, rule, task
from tests.factories import mark_approved

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "ZEPHYR-4711: the harbour fee is twelve crowns, signed by the clerk."
NOTE = "QUIXOTE-0815, on one page."


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.pilots.wait.workers_answer", lambda: False)


def with_reference(**fields: object) -> TaskSpec:
    stored = file("letter.md", SECRET)
    reference = Content(sha256=stored.sha256, size=stored.size)
    artifacts = (ExpectedArtifact(path="letter.md", note=NOTE, reference=reference),)
    return task("a", expected_artifacts=artifacts, assets=(file("fees.md", "The fee is due on Friday."),), **fields)


LOOKING = """import os
def score(history):
    seen = [name for _, folders, names in os.walk("/") for name in (*folders, *names)] if history else []
    found = "letter.md" in seen or "references" in seen or "ZEPHYR" in str(history)
    return {"found": int(found), "run": int(bool(history))}
"""


def graded() -> Benchmark:
    persona = PersonaSpec(user_id="clerk", scripts=(file("scripts/looking.py", LOOKING),))
    return benchmark_of(
        with_reference(
            intents=intents("Name the harbour fee."),
            files_read=("letter.md",),
            reference_workflow=SECRET,
            grader_script="data/clerk/scripts/looking.py",
            checklist=(
                rubric("The letter names the harbour fee."),
                rule("The letter is there.", ExactCheck(kind="file_exists", path="letter.md")),
                rule("The fee is in it.", ExactCheck(kind="file_contains", path="letter.md", text="ZEPHYR")),
            ),
        ),
        persona=persona,
    )


def test_staging_includes_task_files_but_no_reference():
    spec = with_reference()

    assert set(stage_files({}, PersonaSpec(user_id="clerk"), spec)) == {"fees.md"}


@pytest.mark.slow
def test_no_participant_of_a_pilot_sees_the_reference():
    wait_for_pilot(pilot_of(graded()))

    calls = list(ModelCall.objects.all())
    assert {call.purpose for call in calls} >= {"agent", "satisfaction", "checklist_strict"}
    traffic = json.dumps([[call.request, call.response] for call in calls], ensure_ascii=False)
    traffic += json.dumps(list(Turn.objects.values_list("user_message", "reply", "next_message")), ensure_ascii=False)
    assert "harbour fee" in traffic
    assert "ZEPHYR" not in traffic and "QUIXOTE" not in traffic
    reference = Blob.objects.get(content=SECRET.encode()).sha256
    manifests = list(Snapshot.objects.values_list("manifest", flat=True))
    assert manifests and not any(reference in manifest.values() for manifest in manifests)
    rules = Verdict.objects.filter(grader="rule").select_related("judging__session__revision")
    assert {(row.subject(task_of(row.judging.session.revision_id)), row.met) for row in rules} >= {
        ("The fee is in it.", False),
        ("[tools] found", False),
        ("[tools] run", True),
    }


@pytest.mark.slow
def test_release_packs_and_hashes_references():
    benchmark = graded()
    mark_approved()
    manager = User.objects.create_user("ruth")

    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="For the test."), by=manager)

    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as archive:
        sums = read_sums(archive.read(SUMS))
        [path] = [name for name in archive.namelist() if "/references/" in name]
        assert archive.read(path).decode() == SECRET
    assert sums[path] == Blob.objects.get(content=SECRET.encode()).sha256
    elsewhere = Benchmark.objects.create(slug="elsewhere", name="Elsewhere")
    assert import_archive(elsewhere, archive_of(release), by=manager).errors == []
