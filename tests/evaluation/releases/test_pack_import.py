"""What a release says of itself when it is imported elsewhere."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.domain.pack import MANIFEST, UNLISTED, read_facts
from studio.imports.importer import import_archive
from studio.models import Benchmark, Import, Review, Task
from studio.review.workflow import approve
from studio.tasks.transitions import submit
from tests.evaluation.builders import archive_of
from tests.factories import a_persona, a_task, member
from tests.packs import write_pack


def text_of(page: bytes) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.decode()).split())


@pytest.fixture
def pack(db: None) -> bytes:
    """Release 1.0, with one task that Rosa approved and one that nobody did."""
    benchmark = Benchmark.objects.create(slug="there", name="Bakers")
    author, reviewer, manager = (member(benchmark, role) for role in ("author", "reviewer", "release_manager"))
    reviewer.display_name = "Rosa <b>Reviewer</b>"
    reviewer.save()
    persona = a_persona(benchmark, by=author)
    approved = a_task(persona, by=author)
    a_task(persona, "rolls", by=author, initial_request="Bake rolls for Monday and write rolls.md.")
    submit(approved.pk, by=author)
    approve(approved.pk, by=reviewer)
    return written_elsewhere(
        archive_of(cut_release(benchmark, ReleaseOptions(version="1.0", accept="A first look."), by=manager))
    )


def written_elsewhere(pack: bytes) -> bytes:
    """The pack as if another studio had made it: what was written here is never approved elsewhere."""
    with zipfile.ZipFile(io.BytesIO(pack)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files.pop(MANIFEST))
    del manifest["signed_by"]
    files = {path: content for path, content in files.items() if path not in UNLISTED}
    return write_pack(manifest, {path: content.replace(b"Saturday", b"Sunday") for path, content in files.items()})


def upload(pack: bytes, role: str) -> tuple[Client, Import, str]:
    benchmark = Benchmark.objects.create(slug="here", name="Here")
    client = Client()
    client.force_login(member(benchmark, role))
    member(benchmark, "owner")
    answer = client.post("/b/here/import/", {"archive": SimpleUploadedFile("there-1.0.zip", pack)})
    return client, Import.objects.get(benchmark=benchmark), text_of(client.get(answer.url).content)


def test_preview_shows_version_exceptions_and_approvers_before_anything_is_stored(pack: bytes):
    _, row, page = upload(pack, "owner")

    assert "Release 1.0 of Bakers" in page
    assert "1 of its 2 tasks was approved there, by Rosa &lt;b&gt;Reviewer&lt;/b&gt;" in page
    assert "is not approved: draft." in page and "“A first look.”" in page
    assert "Ask another owner to confirm that 1 task was approved elsewhere" in page
    assert "Nobody had approved it in that release." in page
    assert (row.state, Task.objects.filter(persona__benchmark__slug="here").count()) == ("previewed", 0)


@pytest.mark.slow
def test_approval_elsewhere_follows_from_the_release(pack: bytes):
    client, row, _ = upload(pack, "owner")
    second = Client()
    second.force_login(row.benchmark.memberships.exclude(user=row.by).get().user)

    client.post(f"/b/here/import/{row.pk}/decide/", {"publication_choice": "1", "published": "1"})
    second.post(f"/b/here/import/{row.pk}/publication/")

    [review] = Review.objects.filter(decision=Review.Decision.APPROVED_ELSEWHERE)
    assert review.revision.task.task_id == "bread"
    assert "in release 1.0 of Bakers by Rosa" in review.text


@pytest.mark.slow
@pytest.mark.parametrize(("role", "posted"), [("owner", {"publication_choice": "1"}), ("author", {})])
def test_nobody_is_asked_unless_an_owner_wants_it(pack: bytes, role: str, posted: dict[str, str]):
    client, row, page = upload(pack, role)

    client.post(f"/b/here/import/{row.pk}/decide/", posted)

    row.refresh_from_db()
    assert (row.state, row.publication) == ("done", "")
    assert ("Ask another owner" in page) == (role == "owner")


def test_malformed_facts_are_left_out():
    facts = read_facts({"version": 3, "tasks": [{"task": "a", "approved_by": "x"}, 7], "exceptions": {"a": 1}})

    assert (facts.version, facts.approvers, facts.exceptions) == ("", {}, ())


@pytest.mark.slow
def test_pack_of_the_version_before_is_imported(db: None):
    pack = (Path(__file__).parents[2] / "studio" / "domain" / "packs" / "version-1.zip").read_bytes()
    _, row, page = upload(pack, "owner")

    assert "Release 0.9 of Sample benchmark" in page and "by Rosa Reviewer" in page
    report = import_archive(row.benchmark, pack, by=row.by)
    assert (report.errors, Task.objects.filter(persona__benchmark=row.benchmark).count()) == ([], 1)
