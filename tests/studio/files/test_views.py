"""A task's files over HTTP."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_task
from studio.files.tokens import FileTokens
from studio.models import Blob, Role, Task
from studio.tasks.create import create_task
from tests.factories import BenchmarkFactory, a_persona, a_task_spec, member
from tests.shared_rows import fresh
from tests.studio.files.previews.samples import a_pdf, a_png
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db


class Desk(SimpleNamespace):
    def url(self, name: str = "task") -> str:
        return reverse(f"studio:{name}", args=[self.benchmark.slug, "baker", self.task.pk])

    def form(self, client: Client | None = None) -> dict[str, list[str]]:
        return form_of((client or self.client).get(self.url()).content.decode(), "task").data()

    def add(self, path: str, content: bytes, **more):
        return self.client.post(self.url("file_add"), {"path": path, "file": SimpleUploadedFile("f", content), **more})

    def row(self, path: str, content: bytes) -> dict[str, list[str]]:
        """The form fields of an added file."""
        html = f'<form id="row">{self.add(path, content).content.decode()}</form>'
        return form_of(html, "row").data()

    def joined(self, *rows: dict[str, list[str]]) -> dict[str, list[str]]:
        data = self.form()
        keys = [*data.get("assets", []), *(row["assets"][0] for row in rows)]
        for row in rows:
            data |= row
        return data | {"assets": keys}

    @property
    def files(self) -> dict[str, bytes]:
        assets = load_task(Task.objects.get(pk=self.task.pk)).assets
        contents = Blob.objects.read([file.sha256 for file in assets])
        return {file.path: contents[file.sha256] for file in assets}


@pytest.fixture(scope="module")
def shared_desk(module_db) -> Desk:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    task = create_task(persona, a_task_spec(), by=author)
    client = Client()
    client.force_login(author)
    return Desk(benchmark=benchmark, author=author, task=task, client=client)


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


@pytest.mark.slow
def test_added_file_survives_save_and_reload(desk):
    data = desk.joined(desk.row("notes/a.md", b"# Rye"), desk.row("b.csv", b"a,b\n1,2\n"))
    desk.client.post(desk.url("autosave"), data)

    again = desk.form()
    assert [again[f"assets.{key}.path"] for key in again["assets"]] == [["notes/a.md"], ["b.csv"]]
    desk.client.post(desk.url(), again)

    assert desk.files == {"notes/a.md": b"# Rye", "b.csv": b"a,b\n1,2\n"}


@pytest.mark.slow
def test_edited_file_preserves_its_line_ends(desk):
    desk.client.post(desk.url(), desk.joined(desk.row("a.csv", b"a\r\nb\r\n")))
    data = desk.form()
    [key] = data["assets"]
    edit = desk.client.get(
        desk.url("preview"), {"file": data[f"assets.{key}.stored"][0], "path": "a.csv", "part": "edit"}
    )
    assert 'data-form="crlf"' in edit.content.decode()

    changed = {f"assets.{key}.path": ["in/b.csv"], f"assets.{key}.text": ["a\r\nc\r\n"], f"assets.{key}.form": ["crlf"]}
    desk.client.post(desk.url(), data | changed)

    assert desk.files == {"in/b.csv": b"a\r\nc\r\n"}


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("../x", "leads out"),
        ("/etc/passwd", "not a path"),
        ("task.yaml", "belongs to the format"),
        (".result/a", "belongs to the format"),
        ("a\x01b", "cannot be displayed"),
        ("", "Give the file a name"),
        ("C:\\x", "not a path"),
    ],
)
def test_invalid_file_names_are_rejected_with_the_reason(desk, path, word):
    answer = desk.add(path, b"x")

    assert answer.status_code == 422
    assert word in answer.json()["problem"]


@pytest.mark.slow
def test_invalid_or_duplicate_name_is_reported_beside_its_row(desk):
    one, two = desk.row("a.md", b"1"), desk.row("b.md", b"2")
    two[f"assets.{two['assets'][0]}.path"] = ["A.md"]

    answer = desk.client.post(desk.url(), desk.joined(one, two))

    assert answer.status_code == 422
    assert "differs from “A.md” only in spelling" in answer.content.decode()
    form = form_of(answer.content.decode(), "task").data()
    form[f"assets.{two['assets'][0]}.path"] = ["c.md"]
    desk.client.post(desk.url(), form)
    assert desk.files == {"a.md": b"1", "c.md": b"2"}


def test_upload_limits_are_enforced(desk, settings):
    settings.UPLOAD_MAX_FILE_BYTES, settings.UPLOAD_MAX_TASK_FILES, settings.UPLOAD_MAX_TASK_BYTES = 10, 2, 15
    large = FileTokens(desk.benchmark.pk).seal(Blob.objects.store([b"x" * 9])[0], 9)

    assert "larger than" in desk.add("a.md", b"x" * 11).json()["problem"]
    assert "at most 2 files" in desk.add("a.md", b"x", stored=[large, large]).json()["problem"]
    assert "together are larger" in desk.add("a.md", b"x" * 8, stored=[large]).json()["problem"]
    assert desk.add("a.md", b"", stored=[large]).status_code == 200


@pytest.mark.slow
def test_forged_file_tokens_are_rejected(desk):
    secret = Blob.objects.store([b"someone else's"])[0]
    forged = {"assets": ["aX"], "assets.aX.path": ["x.md"], "assets.aX.stored": [f'["{secret}", 14]:forged']}

    answer = desk.client.post(desk.url(), desk.form() | forged)

    assert "was not fully uploaded" in answer.content.decode()
    assert desk.files == {}
    assert desk.client.get(desk.url("preview"), {"file": secret, "path": "x"}).status_code == 404


@pytest.mark.slow
def test_form_without_the_file_list_preserves_the_files(desk):
    desk.client.post(desk.url(), desk.joined(desk.row("a.md", b"1")))
    data = {name: values for name, values in desk.form().items() if not name.startswith("assets")}

    desk.client.post(desk.url(), data | {"title": ["Rolls"]})

    assert desk.files == {"a.md": b"1"}


def test_members_may_preview_and_authors_may_add_files(desk):
    stranger, viewer = Client(), Client()
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))
    viewer.force_login(member(desk.benchmark, Role.VIEWER))
    token = {"file": FileTokens(desk.benchmark.pk).seal(Blob.objects.store([b"rye"])[0], 3), "path": "a.md"}

    assert stranger.get(desk.url("preview"), token).status_code == 404
    assert "rye" in viewer.get(desk.url("preview"), token).content.decode()
    assert viewer.post(desk.url("file_add"), {"path": "a", "file": SimpleUploadedFile("a", b"a")}).status_code == 403
    assert stranger.post(desk.url("file_add"), {"path": "a"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "content", "media"),
    [
        ("a.png", a_png(), "image/png"),
        ("a.pdf", a_pdf("Rye"), "application/pdf"),
        ("a.svg", b"<svg xmlns='x'><script>alert(1)</script></svg>", "image/svg+xml"),
        ("a.png", b"<script>alert(1)</script>", None),
        ("a.html", b"<script>alert(1)</script>", None),
    ],
)
def test_inline_files_are_served_with_their_type_and_a_strict_policy(desk, path, content, media):
    token = {"file": FileTokens(desk.benchmark.pk).seal(Blob.objects.store([content])[0], len(content)), "path": path}

    answer = desk.client.get(desk.url("preview"), token | {"raw": ""})

    if media is None:
        assert answer.status_code == 404
        return
    assert answer.headers["Content-Type"] == media
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.slow
def test_conflicting_edits_of_a_file_are_resolved_by_choosing(desk):
    desk.client.post(desk.url(), desk.joined(desk.row("a.md", b"Rye.\n")))
    other = Client()
    other.force_login(member(desk.benchmark, Role.AUTHOR))
    own, theirs = desk.form(), desk.form(other)
    [key] = own["assets"]
    other.post(desk.url(), theirs | {f"assets.{key}.text": ["Their rye.\n"], f"assets.{key}.form": [""]})
    own |= {f"assets.{key}.text": ["My rye.\n"], f"assets.{key}.form": [""]}

    answer = desk.client.post(desk.url("autosave"), own).json()

    assert "<mark>Their</mark> rye." in answer["page"] and "<mark>My</mark> rye." in answer["page"]
    assert answer["page"].count("My rye.") == 1  # in the editor that is open
    refused = desk.client.post(desk.url(), own)
    assert refused.status_code == 409
    choice = form_of(refused.content.decode(), "task").data()
    taken = desk.client.post(desk.url(), choice | {"take": ["assets|a.md|content"]})
    desk.client.post(desk.url(), form_of(taken.content.decode(), "task").data())
    assert desk.files == {"a.md": b"Their rye.\n"}


@pytest.mark.slow
def test_page_shows_references_to_a_file_and_its_syntax_errors(desk):
    desk.client.post(desk.url(), desk.joined(desk.row("orders.csv", b"a,b\n1\n")))

    html = desk.client.get(desk.url()).content.decode()
    answer = desk.client.post(desk.url("file_syntax"), {"path": "a.json", "text": '{"a": 1,\r\n"b" 2}'}).json()

    assert 'data-goto="initial_request">the request</a>' in html
    assert answer["line"] == 2


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_the_number_of_files(desk, django_assert_max_num_queries):
    desk.client.post(desk.url(), desk.joined(desk.row("f.md", b"1")))
    with django_assert_max_num_queries(60) as one:
        desk.client.get(desk.url())
        queries = len(one)
    desk.client.post(desk.url(), desk.joined(*(desk.row(f"f{n}.md", b"%d" % n) for n in range(12))))

    with django_assert_max_num_queries(queries):
        desk.client.get(desk.url())
    assert len(desk.files) == 13
