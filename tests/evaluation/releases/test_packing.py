"""A release's files: made again from what it pins, checked by anybody, and compared with the release before."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from evaluation.models import Release
from evaluation.probes.solutions import write_solution
from evaluation.protocol.given import GivenTurn
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.packing import rebuild
from studio.domain.credits import Credits, FileOrigin
from studio.drafts.load import load_task
from studio.episodes.moves import Move, make_move
from studio.imports.export import persona_folders
from studio.models import Benchmark, Blob, Persona, Role, Task, TaskState
from studio.tasks.save import save_task
from tests.evaluation.builders import archive_of, benchmark_of, file, release_blockers, rubric, task
from tests.factories import member
from tests.local.processes import finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    assets = (file("fees.md", "The harbour fee is 12 crowns.\n"),)
    return benchmark_of(
        task("a", title="The fee", assets=assets, checklist=(rubric("It names the fee."),)),
        task("b", title="The letter", checklist=(rubric("The letter names the harbour fee."),)),
        task("c", title="The sign", checklist=(rubric("The sign is short."),)),
    )


def cut(benchmark: Benchmark, version: str = "1.0", **options: str) -> Release:
    return cut_release(
        benchmark, ReleaseOptions(version=version, accept="A test.", **options), by=None, signature="Ada"
    )


def files_of(release: Release) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def change(name: str, **fields: object) -> None:
    row = Task.objects.get(task_id=name)
    save_task(row.pk, load_task(row).model_copy(update=fields), by=None)


def test_pack_has_the_folders_of_an_export_beside_its_documents(benchmark: Benchmark):
    files = files_of(cut(benchmark))

    [(_, folder)] = persona_folders(benchmark)
    assert folder.items() <= files.items()
    flat = {f"flat/{name}.jsonl" for name in ("personas", "tasks", "intents", "criteria")}
    documents = {"README.md", "DATA_CARD.md", "STATISTICS.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"}
    signed = {"SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sshsig", "allowed_signers", "signing-key.pem"}
    assert files.keys() - folder.keys() == documents | flat | signed | {"croissant.json", "pack.json"}
    for name in (*flat, *documents - {"LICENSE"}, "croissant.json", "pack.json"):
        assert str(benchmark.canary).encode() in files[name], name
    for name in ("README.md", "croissant.json"):
        assert b"rules, grader scripts and reference solutions" in files[name], f"{name}: what flat files lack"


def test_unpacked_pack_is_checked_by_coreutils_and_a_flipped_byte_found(benchmark: Benchmark, tmp_path: Path):
    with zipfile.ZipFile(io.BytesIO(archive_of(cut(benchmark)))) as archive:
        archive.extractall(tmp_path)
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]

    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    card = tmp_path / "DATA_CARD.md"
    card.write_bytes(card.read_bytes().replace(b"Purpose", b"purpose", 1))
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 1


@pytest.mark.slow
def test_release_is_made_again_byte_for_byte_whatever_became_of_the_drafts(benchmark: Benchmark):
    Task.objects.filter(task_id="c").update(state=TaskState.RETIRED)
    first = cut(benchmark)
    change("a", initial_request="Something else.")
    second = cut(benchmark, "1.1")
    Benchmark.objects.update(name="Renamed", licence="MIT", contributors=["Nobody"])
    blobs = Blob.objects.count()

    for release in (first, second):
        release.refresh_from_db()
        assert rebuild(release).sha256 == release.sha256
        assert rebuild(release).changed == ()
    assert Blob.objects.count() == blobs


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Copies the test's database; gives the copy's address."""
    name, own = f"copied_{os.getpid()}", str(connection.settings_dict["NAME"])

    def copy() -> str:
        connection.close()
        with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {own}")
        return f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"

    yield copy
    with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_release_is_made_again_byte_for_byte_elsewhere_from_a_copy_of_the_database(
    benchmark: Benchmark, copied: Callable[[], str], tmp_path: Path
):
    persona = benchmark.personas.get()
    make_move(persona.pk, Move("split", ("c",), split="held_out"), by=member(benchmark, Role.OWNER))
    [note] = Blob.objects.store([b"Twelve crowns."])
    write_solution(Task.objects.get(task_id="a"), GivenTurn("Here.", files={"note.md": note}), by=None)
    release = cut(benchmark)
    held_out = release.held_out_pack
    assert held_out is not None

    words = ["manage.py", "release", "--benchmark", benchmark.slug, "--version", "1.0", "--rebuild", "--json"]
    elsewhere = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7", "DATABASE_URL": copied()}
    found = json.loads(finish(words, tmp_path, **elsewhere))

    assert (found["rebuilt"], found["held_out"]["rebuilt"]) == (release.sha256, held_out.sha256)


def test_command_says_which_files_are_not_made_again(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]):
    release = cut(benchmark)
    arguments = ["release", "--benchmark", benchmark.slug, "--rebuild", "--json"]
    call_command(*arguments, "--version", "1.0")
    same = json.loads(capsys.readouterr().out)
    other = Release.objects.create(
        benchmark=benchmark,
        version="2.0",
        manifest=release.manifest,
        sha256="0" * 64,
        size=1,
        sums_id=Blob.objects.store([b"0" * 64 + b"  README.md\n"])[0],
    )
    other.personas.create(revision=release.personas.get().revision)

    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--version", "2.0")

    changed = json.loads(capsys.readouterr().out)
    assert (same["same"], same["rebuilt"], same["changed"]) == (True, release.sha256, [])
    assert (ended.value.code, changed["same"]) == (1, False)
    assert "README.md" in changed["changed"]


@pytest.mark.slow
def test_task_is_run_again_if_more_changed_than_what_its_outcome_is_asked():
    benchmark = benchmark_of(task("a"), task("b", "a", checklist=(rubric("The letter names the fee."),)))
    cut(benchmark)
    change("a", initial_request="Please write another note.")
    change("b", checklist=(rubric("The letter names the harbour."),))

    classed = cut(benchmark, "1.1").manifest["changes"]["tasks"]

    persona = Persona.objects.get().user_id
    assert {name: found for name, found in classed.items() if found} == {"rerun": [f"{persona}/a", f"{persona}/b"]}


@pytest.mark.slow
def test_changelog_classes_tasks_by_what_it_means_for_scores(benchmark: Benchmark):
    persona = Persona.objects.get().user_id
    Task.objects.filter(task_id="c").update(state=TaskState.RETIRED)
    cut(benchmark)
    change("a", title="The fee, again")
    change("b", checklist=(rubric("The letter names the fee and the harbour."),))
    Task.objects.filter(task_id="c").update(state=TaskState.DRAFT)
    second = cut(benchmark, "1.1", changes="The letter is judged by more.")
    change("a", initial_request="Please write another note.")
    Task.objects.filter(task_id="c").update(state=TaskState.RETIRED)
    third = cut(benchmark, "1.2")

    def classed(release: Release) -> dict[str, list[str]]:
        tasks = release.manifest["changes"]["tasks"]
        return {name: [each.removeprefix(f"{persona}/") for each in found] for name, found in tasks.items() if found}

    assert classed(second) == {"added": ["c"], "rejudge": ["b"], "words": ["a"]}
    assert classed(third) == {"removed": ["c"], "rerun": ["a"]}
    text = files_of(third)["CHANGELOG.md"].decode()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## {version} ({third.manifest['released']})" for version in ("1.2", "1.1", "1.0")
    ]
    assert "The letter is judged by more." in text and "The first release." in text


@pytest.mark.slow
def test_page_and_api_compare_two_releases_and_say_what_that_means_for_scores(benchmark: Benchmark, client: Client):
    persona = Persona.objects.get().user_id
    cut(benchmark)
    change("a", title="The fee, again")
    second = cut(benchmark, "1.1")
    change("b", checklist=(rubric("The letter names the fee and the harbour."),))
    change("c", initial_request="Please write another note.")
    third = cut(benchmark, "1.2")
    client.force_login(member(benchmark, Role.VIEWER))
    page = client.get(third.get_absolute_url(), {"since": benchmark.releases.get(version="1.0").pk}).content.decode()
    for name in "abc":
        assert f"{persona}/{name}</li>" in page
    assert "Scores of the two are of different tasks: 1 task differs." in page
    assert "does, after judging earlier sessions of 1 of them again." in page

    told = client.get(f"/api/releases/{second.pk}/changes/", {"since": "1.0"}).json()
    assert told["tasks"]["words"] == [f"{persona}/a"]
    assert told["means"] == "Scores of the two can be compared as they are."
    assert client.get(f"/api/releases/{second.pk}/changes/", {"since": "1.2"}).status_code == 400


def test_unknown_licence_and_origin_block_a_release(benchmark: Benchmark):
    def codes() -> list[str]:
        found = {blocker.code for blocker in release_blockers(benchmark)}
        return sorted(code for code in found if "licence" in code or "elsewhere" in code or "contributors" in code)

    folder = f"{Persona.objects.get().user_id}/tasks/a/"
    assert codes() == []
    benchmark.set_credits(Credits())
    assert codes() == ["contributors-unknown", "licence-unknown"]
    known = Credits(licence="MIT", contributors=["Ada"])
    unknown = FileOrigin(path=f"{folder}fees.md", source="The harbour")
    benchmark.set_credits(known.model_copy(update={"file_origins": [unknown]}))
    assert codes() == ["file-licence-unknown"]
    gone = FileOrigin(path=f"{folder}other.md", source="The harbour", licence="CC0-1.0")
    benchmark.set_credits(known.model_copy(update={"file_origins": [gone]}))
    assert codes() == ["file-from-elsewhere-gone"]
    whole = FileOrigin(path=folder, source="The harbour", licence="CC0-1.0")
    benchmark.set_credits(known.model_copy(update={"file_origins": [whole]}))
    assert codes() == []


def test_documents_say_who_made_it_and_show_a_task(benchmark: Benchmark):
    files = files_of(cut(benchmark))

    readme, card = files["README.md"].decode(), files["DATA_CARD.md"].decode()
    assert "- Lovelace, Ada" in readme and "Please write the note a." in readme and "pibench run" in readme
    assert "Of 3 tasks, people who wrote none of them approved 0" in card
    assert "Not audited" in card and " for this task alone: “A test.”" in card
    rows = [json.loads(line) for line in files["flat/criteria.jsonl"].splitlines()]
    assert [(row["task"], row["position"], row["text"]) for row in rows][:1] == [("a", 1, "It names the fee.")]
