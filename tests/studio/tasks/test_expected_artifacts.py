"""Expected artifacts on the page, in versions, conflicts, copies, templates and exports."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.domain import task as spec
from studio.domain.base import Content
from studio.domain.diff import compare
from studio.drafts.load import load_task
from studio.files.tokens import FileTokens
from studio.imports.importer import import_files
from studio.models import Blob, Role, Task, User
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.create import create_task, start_task
from studio.tasks.save import save_task
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task_spec, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
LIST = "expected_artifacts"


class Desk(SimpleNamespace):
    def url(self, name: str = "task", *more: object) -> str:
        return reverse(f"studio:{name}", args=[self.benchmark.slug, "baker", self.task.pk, *more])

    def form(self, html: str = "") -> dict[str, list[str]]:
        return form_of(html or self.client.get(self.url()).content.decode(), "task").data()

    def save(self, data: dict[str, list[str]], **more: object):
        return self.client.post(self.url(), data | more)

    def with_row(self, path: str, note: str = "", content: bytes | None = None):
        """Add a row as a page without scripts does, fill it in, and save."""
        data = self.form(self.save(self.form(), do=f"{LIST}:add").content.decode())
        key = data[LIST][-1]
        more = {f"{LIST}.{key}.path": path, f"{LIST}.{key}.note": note}
        if content is not None:
            more[f"{LIST}.{key}.file"] = SimpleUploadedFile("good.md", content)
        return self.save(data, **more)

    @property
    def artifacts(self) -> list[tuple[str, str, bytes | None]]:
        artifacts = load_task(Task.objects.get(pk=self.task.pk)).expected_artifacts
        contents = Blob.objects.read([artifact.reference.sha256 for artifact in artifacts if artifact.reference])
        return [
            (artifact.path, artifact.note, contents[artifact.reference.sha256] if artifact.reference else None)
            for artifact in artifacts
        ]


@pytest.fixture(scope="module")
def shared_desk(module_db) -> Desk:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR, Role.OWNER)
    persona = a_persona(benchmark, by=author)
    task = create_task(persona, a_task_spec(), by=author)
    client = Client()
    client.force_login(author)
    return Desk(benchmark=benchmark, author=author, persona=persona, task=task, client=client)


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def artifact(path: str, content: bytes = b"", note: str = "") -> spec.ExpectedArtifact:
    reference = Content(sha256=Blob.objects.store([content])[0], size=len(content)) if content else None
    return spec.ExpectedArtifact(path=path, note=note, reference=reference)


def put(desk: Desk, *artifacts: spec.ExpectedArtifact, by: User | None = None) -> None:
    now = load_task(Task.objects.get(pk=desk.task.pk))
    save_task(desk.task.pk, now.model_copy(update={LIST: artifacts}), by=by or desk.author)


@pytest.mark.slow
def test_artifact_rows_and_references_are_edited_without_scripts(desk):
    desk.with_row("plan.md", "One page.", b"# Good")
    desk.with_row("log.csv", "One more line.")
    assert desk.artifacts == [("plan.md", "One page.", b"# Good"), ("log.csv", "One more line.", None)]

    data = desk.form()
    desk.save(desk.form(desk.save(data, do=f"{LIST}:down:{data[LIST][0]}").content.decode()))
    assert [path for path, *_ in desk.artifacts] == ["log.csv", "plan.md"]

    data = desk.form()
    desk.save(desk.form(desk.save(data, do=f"{LIST}:empty:{data[LIST][1]}").content.decode()))
    assert desk.artifacts[1] == ("plan.md", "One page.", None)

    data = desk.form()
    desk.save(desk.form(desk.save(data, do=f"{LIST}:remove:{data[LIST][0]}").content.decode()))
    assert desk.artifacts == [("plan.md", "One page.", None)]


@pytest.mark.slow
def test_upload_names_an_artifact_without_a_path(desk):
    desk.with_row("", "", b"x")

    assert desk.artifacts == [("good.md", "", b"x")]


@pytest.mark.slow
def test_reference_is_autosaved(desk):
    put(desk, artifact("plan.md"))
    key = desk.form()[LIST][0]
    sent = {"path": "plan.md", "file": SimpleUploadedFile("g.md", b"# Good"), "reference": key}
    html = desk.client.post(desk.url("file_add"), sent).content.decode()
    added = form_of(f'<form id="row">{html}</form>', "row").data()
    desk.client.post(desk.url("autosave"), desk.form() | added | {LIST: [key]})

    assert desk.artifacts == [("plan.md", "", None)]
    again = desk.form()
    assert again[f"{LIST}.{key}.stored"] == added[f"{LIST}.{key}.stored"]
    desk.save(again)
    assert desk.artifacts == [("plan.md", "", b"# Good")]


@pytest.mark.slow
def test_reference_text_is_edited_and_previewed(desk):
    put(desk, artifact("plan.md", b"# Good\r\n"))
    data = desk.form()
    [key] = data[LIST]
    asked = {"file": data[f"{LIST}.{key}.stored"][0], "path": "plan.md", "key": key, "list": LIST}
    assert b"Good" in desk.client.get(desk.url("preview"), asked | {"part": "seen"}).content
    assert (
        f'name="{LIST}.{key}.text"' in desk.client.get(desk.url("preview"), asked | {"part": "edit"}).content.decode()
    )

    desk.save(data | {f"{LIST}.{key}.text": ["# Better\r\n"], f"{LIST}.{key}.form": ["crlf"]})

    assert desk.artifacts == [("plan.md", "", b"# Better\r\n")]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "C:\\x", "task.yaml", "a\tb"])
def test_invalid_file_name_is_rejected_for_a_reference_but_allowed_as_text(desk, path):
    refused = desk.with_row(path, "", b"x")

    assert refused.status_code == 422
    assert path.split("\t")[0] in refused.content.decode()
    assert desk.artifacts == []
    desk.save(desk.form())  # the row as it was kept, without its file
    assert [one for one, *_ in desk.artifacts] == [path]


@pytest.mark.slow
def test_duplicate_path_is_reported_beside_its_row(desk):
    desk.with_row("plan.md")

    refused = desk.with_row("plan.md", "again")

    assert refused.status_code == 422
    assert "“plan.md” is already listed" in refused.content.decode()


@pytest.mark.slow
def test_workspace_files_and_references_share_their_limits(desk, settings):
    settings.UPLOAD_MAX_FILE_BYTES, settings.UPLOAD_MAX_TASK_FILES, settings.UPLOAD_MAX_TASK_BYTES = 10, 3, 15
    desk.with_row("plan.md", "", b"123456789")

    large = desk.with_row("b.md", "", b"x" * 11)
    together = desk.client.post(
        desk.url("file_add"),
        {
            "path": "c.md",
            "file": SimpleUploadedFile("c", b"1234567"),
            "stored": [FileTokens(desk.benchmark.pk).seal("0" * 64, 9)],
        },
    )

    assert (large.status_code, together.status_code) == (422, 422)
    assert "larger than" in large.content.decode()
    assert "files and references together" in together.json()["problem"]


@pytest.mark.slow
def test_forged_token_is_not_accepted_as_a_reference(desk):
    put(desk, artifact("plan.md"))
    data = desk.form()
    [key] = data[LIST]

    answer = desk.save(data | {f"{LIST}.{key}.stored": ["[1,2]:made-up"]})

    assert answer.status_code == 422
    assert "was not fully uploaded" in answer.content.decode()


def test_versions_compare_and_restore_notes_and_references(desk):
    put(desk, artifact("plan.md"), artifact("log.csv"))
    put(desk, artifact("plan.md", b"# Good", "One page."), artifact("log.csv"))
    specs = [spec.TaskSpec.model_validate(one.spec) for one in desk.task.revisions.order_by("number")]

    [change] = compare(specs[1], specs[2])
    answer = "".join(text for part in change.differences for kind, text in part.pieces if kind == "new")
    assert (change.label, "One page." in answer, "6 bytes" in answer) == ("Expected artifacts", True, True)
    assert "One page." in desk.client.get(desk.url("version", 3)).content.decode()

    put(desk)
    desk.client.post(desk.url("restore", 3))
    assert desk.artifacts == [("plan.md", "One page.", b"# Good"), ("log.csv", "", None)]


def test_path_without_note_is_stored_as_before(desk):
    put(desk, artifact("plan.md"))

    assert desk.task.revisions.first().spec[LIST] == ["plan.md"]


@pytest.mark.slow
def test_edits_of_note_and_reference_are_merged_and_conflicts_resolved(desk):
    put(desk, artifact("plan.md", b"# Old"))
    own = desk.form()
    [key] = own[LIST]
    put(desk, artifact("plan.md", b"# Theirs", "Theirs."), by=member(desk.benchmark, Role.AUTHOR))

    answer = desk.save(
        own | {f"{LIST}.{key}.stored": [FileTokens(desk.benchmark.pk).seal(Blob.objects.store([b"# Mine"])[0], 6)]}
    )

    assert answer.status_code == 409
    html = answer.content.decode()
    assert "<mark>Theirs</mark>" in html and "<mark>Mine</mark>" in html
    preserved = desk.form(html)
    assert preserved[f"{LIST}.{preserved[LIST][0]}.note"] == ["Theirs."]
    desk.save(desk.form(desk.save(preserved, take=json.dumps([LIST, "plan.md", "reference"])).content.decode()))
    assert desk.artifacts == [("plan.md", "Theirs.", b"# Theirs")]


def test_copies_and_exports_include_artifacts(desk):
    put(desk, artifact("notes/plan.md", b"# Good", "One page."), artifact("log.csv"))
    task = Task.objects.get(pk=desk.task.pk)
    wanted = load_task(task).expected_artifacts

    [copy] = copy_tasks([task], a_persona(desk.benchmark, "miller", by=desk.author), by=desk.author)
    started = start_task(desk.persona, task, task_id="rolls", by=desk.author).task
    files = benchmark_files(desk.benchmark)

    assert [load_task(one).expected_artifacts for one in (copy, started)] == [wanted, wanted]
    assert files["data/baker/references/bread/notes/plan.md"] == b"# Good"
    assert not any(path.startswith("data/baker/tasks/") and "plan" in path for path in files)
    elsewhere = BenchmarkFactory()
    assert import_files(elsewhere, files, by=desk.author).errors == []
    there = Task.objects.get(persona__benchmark=elsewhere, persona__user_id="baker", task_id="bread")
    assert load_task(there).expected_artifacts == wanted
    again = import_files(desk.benchmark, files, by=desk.author)
    assert (again.errors, again.created, [one for one in again.updated if one["task"]]) == ([], [], [])


def test_references_follow_a_renamed_task(desk):
    put(desk, artifact("plan.md", b"# Good"))
    now = load_task(Task.objects.get(pk=desk.task.pk))
    save_task(desk.task.pk, now.model_copy(update={"task_id": "loaves"}), by=desk.author)

    assert "data/baker/references/loaves/plan.md" in benchmark_files(desk.benchmark)


@pytest.mark.slow
def test_references_are_hidden_from_other_benchmarks(desk):
    put(desk, artifact("plan.md", b"# Good"))
    [key] = desk.form()[LIST]
    token = desk.form()[f"{LIST}.{key}.stored"][0]
    stranger = Client()
    stranger.force_login(member(BenchmarkFactory(), Role.AUTHOR))
    reviewer = Client()
    reviewer.force_login(member(desk.benchmark, Role.REVIEWER))

    assert stranger.get(desk.url("preview"), {"file": token, "path": "plan.md"}).status_code == 404
    assert reviewer.get(desk.url("preview"), {"file": token, "path": "plan.md"}).status_code == 200
    sent = {"path": "plan.md", "file": SimpleUploadedFile("g.md", b"x"), "reference": key}
    assert reviewer.post(desk.url("file_add"), sent).status_code == 403


def test_api_accepts_only_references_the_task_has_or_had(desk):
    put(desk, artifact("plan.md", b"# Good"))
    put(desk)
    address = f"/api/benchmarks/{desk.benchmark.slug}/personas/baker/tasks/{desk.task.pk}/"
    got = desk.client.get(address).json()
    for content, status in ((b"# Good", 200), (b"# Someone else's", 400)):
        reference = artifact("plan.md", content).reference
        wanted = got["spec"] | {LIST: [{"path": "plan.md", "reference": reference.to_json()}, "log.csv"]}
        version = Task.objects.get(pk=desk.task.pk).version
        sent = {"spec": wanted, "version": version, "note": ""}
        assert desk.client.put(address, sent, content_type="application/json").status_code == status
    assert desk.artifacts == [("plan.md", "", b"# Good"), ("log.csv", "", None)]
