"""Held-out tasks stand in a pack of their own; nothing of them in the published one."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.models import HeldOutPack, Release, ReleaseRequest, ResultsView, Session
from evaluation.probes.solutions import write_solution
from evaluation.protocol.given import GivenTurn
from evaluation.releases.blocker_kinds import Readiness, readiness_of
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from evaluation.releases.errata import ErratumOptions, publish_erratum
from evaluation.releases.packing import open_archive, rebuild
from evaluation.releases.requests import make_release
from evaluation.releases.site import site_zip
from evaluation.results.selection import PilotRule, save_view
from evaluation.runner.bundle import bundle_of
from evaluation.runner.command import main
from evaluation.runner.results import read_results
from evaluation.submissions.submit import submit
from studio.domain.base import FileRef
from studio.domain.credits import Credits, FileOrigin
from studio.domain.options import OptionsError
from studio.domain.pack import archive_name
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import Dependency, ExactCheck
from studio.drafts.load import load_episode, load_task
from studio.episodes.moves import Move, make_move
from studio.imports.importer import import_archive
from studio.models import Benchmark, Event, Finding, Role, Task, User
from studio.personas.app_data import save_apps
from studio.personas.files import stored_file
from studio.tasks.save import save_task
from tests.evaluation.builders import archive_of, benchmark_of, file, intents, pilot_of, rubric, rule, task
from tests.factories import BenchmarkFactory, member
from tests.studio.files.previews.samples import a_docx, a_pdf, a_pptx, an_xlsx

pytestmark = pytest.mark.django_db
MARK = "quokkasecret"
"""Stands in every text of the held-out tasks."""


def marked(path: str) -> FileRef:
    return file(path, f"# {MARK} {path}\nscore = lambda history: {{'one': 0}}\n")


@pytest.fixture
def benchmark() -> Benchmark:
    """Two public tasks, one for validation, and a held-out group of two with files, script, skill and app data."""
    persona = PersonaSpec(
        user_id="Harbour",
        name="Harbour master",
        tools=("gmail__send_email", "todoist__create_task"),
        skills=(
            Skill(name="fees", files=(file("SKILL.md", "# Fees\n"),)),
            Skill(name=MARK, files=(marked("SKILL.md"),)),
        ),
        scripts=(marked("scripts/held.py"),),
        files=(
            file("apps/clock.json", json.dumps({"now": "2026-03-02T09:00", "tasks": {"b": "2026-03-09T09:00"}})),
            file("apps/todoist.json", json.dumps({"projects": [{"name": MARK}]})),
            marked("notes.md"),
        ),
    )
    told = {"tools": ("gmail__send_email",), "skills": ("fees",)}
    secret = f"Only a held-out task says the {MARK} of the harbour."
    held = {
        "group": f"{MARK} group",
        "title": secret,
        "description": secret,
        "initial_request": secret,
        "intents": intents(secret),
        "category": MARK[:20],
    }
    a = task("a", title="The fee", assets=(file("fees.md", "The fee is 12 crowns.\n"),), **told)
    b = task("b", title="The letter", checklist=(rubric("The letter names the fee."),), **told)
    v = task("v", title="The sign", checklist=(rubric("The sign is short."),), **told)
    first = task(f"{MARK}_first", assets=(marked("log.md"),), checklist=(), skills=(MARK,), **held)
    second = task(
        f"{MARK}_second",
        checklist=(rubric(secret), rule(secret, ExactCheck(kind="record_exists", app="todoist", table="projects"))),
        grader_script="data/Harbour/scripts/held.py",
        tools=("todoist__create_task",),
        skills=(MARK,),
        depends_on=(Dependency(task_id=f"{MARK}_first", carries_over=secret),),
        reference_workflow=secret,
        **held,
    )
    found = benchmark_of(a, b, v, first, second, persona=persona)
    benchmark_of(
        task(f"{MARK}_alone", checklist=(rubric(secret),)), persona=PersonaSpec(user_id=f"{MARK}_persona"), into=found
    )
    found.set_credits(
        Credits(
            licence="CC-BY-4.0",
            contributors=["Noor, Aya"],
            file_origins=[
                FileOrigin(path=f"Harbour/tasks/{MARK}_first/log.md", source="", licence="CC0-1.0"),
                FileOrigin(path="Harbour/tasks/a/fees.md", source="https://example.org", licence="CC0-1.0"),
            ],
        )
    )
    found.save()
    owner = member(found, Role.OWNER)
    make_move(
        found.personas.get(user_id=f"{MARK}_persona").pk, Move("split", (f"{MARK}_alone",), split="held_out"), by=owner
    )
    row = found.personas.get(user_id="Harbour")
    make_move(row.pk, Move("split", (f"{MARK}_first", f"{MARK}_second"), split="held_out"), by=owner)
    make_move(row.pk, Move("split", ("v",), split="validation"), by=owner)
    return found


@pytest.fixture
def owner(benchmark: Benchmark) -> User:
    return benchmark.memberships.get(role=Role.OWNER).user


def cut(benchmark: Benchmark, version: str = "1.0", **options: str) -> Release:
    return cut_release(
        benchmark, ReleaseOptions(version=version, accept="A test.", told=2, **options), by=None, signature="Ada"
    )


def unpacked(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every file, archives among them unpacked too."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)
            if name.endswith(".zip"):
                yield from unpacked(archive.read(name))


def files_of(pack: Release | HeldOutPack) -> dict[str, bytes]:
    with open_archive(pack) as opened:
        return dict(unpacked(opened.read()))


def held_out(release: Release) -> HeldOutPack:
    pack = release.held_out_pack
    assert pack is not None
    return pack


@pytest.mark.slow
def test_nothing_of_held_out_tasks_stands_in_the_published_pack(benchmark: Benchmark, owner: User):
    waived = Task.objects.get(task_id=f"{MARK}_second")
    Finding.objects.filter(task=waived).delete()
    cut(benchmark, "0.9")
    text = f"{MARK} is wrong."
    publish_erratum(benchmark.releases.get(), ErratumOptions(text=text, tasks=[f"Harbour/{MARK}_second"]), by=owner)
    save_task(waived.pk, load_task(waived).model_copy(update={"initial_request": f"{MARK} as never before."}), by=owner)
    pilot_of(benchmark)
    for name, figure in (("Board", ""), ("Statuses", "statuses")):
        save_view(benchmark, name, by=None, pilots=[1], rule=PilotRule(), scoring="strict", figure=figure)
    ResultsView.objects.update(in_releases=True)
    release = cut(benchmark, changes="A new request.")

    public, held = files_of(release), files_of(held_out(release))
    telling = [path for path, content in public.items() if MARK in path or MARK.encode() in content.lower()]
    assert telling == []
    assert str(benchmark.held_out_canary).encode() not in b"".join(public.values())
    assert public["data/Harbour/apps/clock.json"] == held["data/Harbour/apps/clock.json"]
    assert f"data/Harbour/tasks/{MARK}_second/task.yaml" in held
    for path in ("scripts/held.py", f"skills/{MARK}/SKILL.md", "apps/todoist.json", "notes.md"):
        assert f"data/Harbour/{path}" in held
    for path in ("pack.json", "README.md", "CHANGELOG.md", "DATA_CARD.md", "flat/tasks.jsonl"):
        assert MARK.encode() in held[path]
    assert text.encode() in held["CHANGELOG.md"]
    site = dict(unpacked(site_zip(benchmark.releases.get(version="0.9"), [])))
    assert [path for path, content in site.items() if MARK.encode() in content.lower()] == []
    [board, figure] = json.loads(public["pack.json"])["results"]
    assert [row["task"] for row in board["pilots"][0]["tasks"]] == ["a", "b", "v"]
    assert list(board["leaderboard"][0]["personas"]) == ["Harbour"]
    assert "figure" not in figure


@pytest.mark.slow
def test_published_pack_names_the_held_out_one_by_its_hash(benchmark: Benchmark):
    release = cut(benchmark)
    pack = held_out(release)
    manifest = json.loads(files_of(release)["pack.json"])
    assert manifest["splits"] == {
        "public": {"tasks": 2, "canary": str(benchmark.canary)},
        "validation": {"tasks": 1, "canary": str(benchmark.validation_canary)},
        "held_out": {"tasks": 3, "file": pack.file_name, "sha256": pack.sha256},
    }
    assert manifest["totals"]["tasks"] == 3
    assert {row["task"]: row["split"] for row in manifest["tasks"]} == {"a": "public", "b": "public", "v": "validation"}
    assert pack.file_name == archive_name(pack.manifest) == f"{benchmark.slug}-1.0-held-out.zip"
    assert pack.manifest["splits"] == {"held_out": {"tasks": 3, "canary": str(benchmark.held_out_canary)}}
    assert pack.sha256 in files_of(release)["README.md"].decode()


@pytest.mark.slow
def test_canary_of_each_split_stands_with_its_tasks(benchmark: Benchmark):
    files = files_of(cut(benchmark))
    rows = {path: files[path].decode() for path in ("flat/tasks.jsonl", "flat/tasks-validation.jsonl")}
    assert str(benchmark.canary) in rows["flat/tasks.jsonl"]
    assert str(benchmark.validation_canary) not in rows["flat/tasks.jsonl"]
    assert str(benchmark.validation_canary) in rows["flat/tasks-validation.jsonl"]
    assert '"The sign"' in rows["flat/tasks-validation.jsonl"]
    assert '"The sign"' not in rows["flat/tasks.jsonl"]


@pytest.mark.slow
def test_both_packs_are_made_again_byte_for_byte_whatever_became_of_the_drafts(
    benchmark: Benchmark, owner: User, capsys: pytest.CaptureFixture[str]
):
    release = cut(benchmark)
    persona = benchmark.personas.get(user_id="Harbour")
    make_move(persona.pk, Move("split", (f"{MARK}_first", f"{MARK}_second"), split="public"), by=owner)
    row = persona.tasks.get(task_id="a")
    save_task(row.pk, load_task(row).model_copy(update={"title": "Another"}), by=owner)

    for pack in (release, held_out(release)):
        rebuilt = rebuild(pack)
        assert (rebuilt.sha256, rebuilt.changed) == (pack.sha256, ())
    call_command("release", benchmark=benchmark.slug, version="1.0", rebuild=True)
    said = capsys.readouterr().out
    assert release.sha256 in said
    assert held_out(release).sha256 in said


@pytest.mark.slow
def test_release_without_held_out_tasks_has_one_pack(benchmark: Benchmark, owner: User, client: Client):
    for persona in benchmark.personas.all():
        names = persona.tasks.filter(split="held_out").values_list("task_id", flat=True)
        make_move(persona.pk, Move("split", tuple(names), split="public"), by=owner)
    release = cut(benchmark)
    assert release.held_out_pack is None
    assert f"data/Harbour/tasks/{MARK}_second/task.yaml" in files_of(release)
    assert "held_out" not in release.manifest["splits"]
    client.force_login(owner)
    shown = client.get(release.get_absolute_url()).content.decode()
    assert '<th scope="row">validation</th>' in shown
    assert "<td>validation</td>" in shown
    assert "of the held-out pack" not in shown


@pytest.mark.slow
def test_both_packs_together_give_the_benchmark_again(benchmark: Benchmark):
    release = cut(benchmark)
    other = BenchmarkFactory()
    for pack in (release, held_out(release)):
        with open_archive(pack) as opened:
            assert not import_archive(other, opened.read(), by=None).errors

    assert other.personas.filter(user_id=f"{MARK}_persona").exists()
    before, after = (load_episode(each.personas.get(user_id="Harbour")) for each in (benchmark, other))
    assert after.splits == before.splits
    assert {task.task_id for task in after.tasks} == {task.task_id for task in before.tasks}
    for name in ("scripts", "skills", "files"):
        assert getattr(after.persona, name) == getattr(before.persona, name)


SECRET = f"Only a held-out task says the {MARK} of the harbour."


def spill(benchmark: Benchmark, secret: str = SECRET, **files: bytes) -> None:
    """A file of a public task says it; or ``files`` do, by type."""
    row = Task.objects.get(task_id="b")
    assets = tuple(stored_file(f"spill.{kind}", content) for kind, content in files.items())
    assets = assets or (file("spill.md", f"{secret}\n"),)
    save_task(row.pk, load_task(row).model_copy(update={"assets": assets}), by=None)
    benchmark.set_credits(benchmark.credits.model_copy(update={"file_origins": []}))
    benchmark.save()


def told_in(release: Release) -> list[str]:
    return [each["problem"]["message"] for each in release.exceptions if each["problem"]["code"] == "held-out-told"]


@pytest.mark.slow
def test_text_that_tells_of_a_held_out_task_blocks_the_release_until_it_is_accepted(benchmark: Benchmark):
    spill(benchmark)
    with pytest.raises(ReleaseBlockedError) as blocked:
        cut_release(benchmark, ReleaseOptions(version="1.0", accept=""), by=None, signature="Ada")
    [told] = [blocker for blocker in blocked.value.blockers if blocker.code == "held-out-told"]
    assert told.place == "data/Harbour/tasks/b/spill.md"
    with pytest.raises(ReleaseBlockedError) as blocked:  # a reason for these accepts none that was not shown
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada")
    assert [blocker.code for blocker in blocked.value.blockers].count("held-out-told") == 1
    release = cut(benchmark)
    assert "data/Harbour/tasks/b/spill.md" in told_in(release)[0]
    assert MARK not in json.dumps(release.manifest)


def zipped_in(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


def mailed(content: bytes) -> bytes:
    message = EmailMessage()
    message["Subject"] = "The letter"
    message.set_content("See the attached letter.")
    message.add_attachment(content, maintype="application", subtype="octet-stream", filename="letter.docx")
    return bytes(message)


@pytest.mark.slow
def test_documents_mail_and_archives_that_tell_of_a_held_out_task_block_the_release(benchmark: Benchmark):
    document = a_docx(SECRET)
    spill(
        benchmark,
        docx=document,
        xlsx=an_xlsx([["Fee", SECRET]]),
        pptx=a_pptx([SECRET]),
        pdf=a_pdf(SECRET),
        zip=zipped_in("inner.zip", zipped_in("letter.docx", document)),
        eml=mailed(document),
    )

    with pytest.raises(ReleaseBlockedError) as blocked:
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada")

    places = {blocker.place for blocker in blocked.value.blockers if blocker.code == "held-out-told"}
    kinds = ("docx", "xlsx", "pptx", "pdf", "zip", "eml")
    assert places >= {f"data/Harbour/tasks/b/spill.{kind}" for kind in kinds}


def test_event_of_a_release_tells_auditors_of_no_exceptions(benchmark: Benchmark):
    """Nor why: both say what judges decided, and auditors read events."""
    release = cut(benchmark)
    event = Event.objects.get(benchmark=benchmark, verb="released")
    assert release.exceptions and event.summary == f"Released version 1.0 with {release.tasks.count()} tasks."


@pytest.mark.slow
def test_readiness_tells_it_before_the_cut_with_the_way_to_where_it_stands(
    benchmark: Benchmark, owner: User, client: Client
):
    assert "held-out-told" not in {kind.code for kind in readiness_of(benchmark).kinds}
    spill(benchmark)
    client.force_login(owner)
    page = reverse("evaluation:release_new", args=[benchmark.slug])
    shown = client.get(page, {"kind": "held-out-told"}).content.decode()
    assert "data/Harbour/tasks/b/spill.md of the published pack tells of" in shown
    assert f'href="{Task.objects.get(task_id="b").get_absolute_url()}">Go to where it stands' in shown

    row = Task.objects.get(task_id="b")
    save_task(row.pk, load_task(row).model_copy(update={"assets": ()}), by=None)
    assert "held-out-told" not in {kind.code for kind in readiness_of(benchmark).kinds}


@pytest.mark.slow
def test_settings_that_tell_of_a_held_out_task_are_known_before_the_cut(benchmark: Benchmark, owner: User):
    secret = load_task(Task.objects.get(task_id=f"{MARK}_alone")).initial_request
    benchmark.description = f"As in this one: {secret}"
    benchmark.save()
    [kind] = [kind for kind in readiness_of(benchmark).kinds if kind.code == "held-out-told"]
    assert kind[:][0].place == "documents"


@pytest.mark.slow
def test_what_was_found_in_a_persona_is_not_looked_for_again_until_it_changes(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
):
    spill(benchmark)
    readiness_of(benchmark)
    monkeypatch.setattr("evaluation.releases.told.episode_files", None)
    assert "held-out-told" in {kind.code for kind in readiness_of(benchmark).kinds}
    row = Task.objects.get(task_id="b")
    save_task(row.pk, load_task(row).model_copy(update={"title": "Another letter"}), by=None)
    with pytest.raises(TypeError):
        readiness_of(benchmark)


@pytest.mark.slow
def test_solution_that_tells_of_a_held_out_task_is_named(benchmark: Benchmark):
    secret = "The dues of the ferry are paid on Sundays before noon."
    row = Task.objects.get(task_id=f"{MARK}_alone")
    save_task(row.pk, load_task(row).model_copy(update={"initial_request": secret}), by=None)
    write_solution(Task.objects.get(task_id="b", persona__user_id="Harbour"), GivenTurn(secret), by=None)
    assert "solutions/Harbour/b/solution.json of the published pack tells of" in told_in(cut(benchmark))[0]


@pytest.mark.slow
def test_sentence_without_spaces_that_tells_of_a_held_out_task_is_found(benchmark: Benchmark):
    secret = "请把港口费用写成一封信寄给船长"
    row = Task.objects.get(task_id=f"{MARK}_alone")
    save_task(row.pk, load_task(row).model_copy(update={"initial_request": secret}), by=None)
    spill(benchmark, secret)
    assert "data/Harbour/tasks/b/spill.md" in told_in(cut(benchmark))[0]


@pytest.mark.slow
def test_clock_that_names_a_held_out_task_by_a_short_id_is_told(benchmark: Benchmark, owner: User):
    make_move(benchmark.personas.get(user_id="Harbour").pk, Move("split", ("b",), split="held_out"), by=owner)
    [message] = [each for each in told_in(cut(benchmark)) if "apps/clock.json" in each]
    assert message == "data/Harbour/apps/clock.json of the published pack tells of “The letter”, which is held out."


@pytest.mark.slow
def test_clock_that_names_a_held_out_task_is_told(benchmark: Benchmark, owner: User):
    persona = benchmark.personas.get(user_id="Harbour")
    times = {"tasks": {f"{MARK}_second": "2026-03-09T09:00"}}
    save_apps(persona, {"clock": json.dumps(times)}, "", by=owner, base_version=persona.version)
    assert any("data/Harbour/apps/clock.json" in message for message in told_in(cut(benchmark)))


@pytest.mark.slow
def test_page_shows_what_tells_of_held_out_tasks_and_takes_a_reason(
    benchmark: Benchmark, owner: User, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evaluation.releases.cut.find_blockers", lambda *_: [])
    monkeypatch.setattr("evaluation.views.releases.readiness_of", lambda *_, **__: Readiness([], [], []))
    monkeypatch.setattr("evaluation.releases.cut.told_now", lambda _: [])
    spill(benchmark)
    with pytest.raises(OptionsError, match="Say who accepts"):
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test.", told=1), by=None)

    client.force_login(owner)
    page = reverse("evaluation:release_new", args=[benchmark.slug])
    assert 'name="accept"' not in client.get(page).content.decode()
    client.post(page, {"version": "1.0"})
    refused = ReleaseRequest.objects.get()
    make_release(refused.pk)
    shown = client.get(page).content.decode()
    assert "data/Harbour/tasks/b/spill.md of the published pack tells of" in shown
    assert 'name="accept"' in shown and '<input type="hidden" name="told" value="1">' in shown
    client.post(page, {"version": "1.0", "accept": "It is known.", "told": "1"})
    make_release(ReleaseRequest.objects.exclude(pk=refused.pk).get().pk)
    assert {each["by"] for each in benchmark.releases.get().exceptions} == {str(owner)}


@pytest.mark.slow
def test_erratum_is_of_held_out_tasks_or_of_published_ones(benchmark: Benchmark, owner: User):
    release = cut(benchmark)
    with pytest.raises(OptionsError, match="held out"):
        publish_erratum(release, ErratumOptions(text="Both.", tasks=["Harbour/a", f"Harbour/{MARK}_first"]), by=owner)


@pytest.mark.slow
def test_only_owners_fetch_the_held_out_pack(benchmark: Benchmark, owner: User, client: Client):
    release = cut(benchmark)
    page, fetch = (
        reverse("evaluation:release", args=[release.pk]),
        reverse("evaluation:release_held_out", args=[release.pk]),
    )
    for person, status in (
        (owner, 200),
        (member(benchmark, Role.RELEASE_MANAGER), 403),
        (member(BenchmarkFactory(), Role.OWNER), 404),
    ):
        client.force_login(person)
        assert client.get(fetch).status_code == status
        assert client.get(f"/api/releases/{release.pk}/held-out/").status_code == status
    client.force_login(owner)
    assert b"".join(client.get(fetch).streaming_content)[:2] == b"PK"
    shown = client.get(page).content.decode()
    assert held_out(release).sha256 in shown
    assert "for owners of the benchmark" not in shown


@pytest.mark.slow
def test_results_of_held_out_tasks_come_home_to_their_release(
    benchmark: Benchmark, owner: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    release = cut(benchmark)
    (tmp_path / "held.zip").write_bytes(archive_of(held_out(release)))
    words = ["run", str(tmp_path / "held.zip"), "--model", "scripted:helpful", "--persona", f"{MARK}_persona"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0

    submission = submit(bundle_of(read_results(tmp_path / "out")), by=owner, release=release).submission
    assert submission.release == release
    assert [session.revision.task.task_id for session in Session.objects.filter(run__pilot=submission.pilot)] == [
        f"{MARK}_alone"
    ]
