"""Releases: somebody who writes a task, a credit or an erratum wants a reader's browser, terminal or spreadsheet, an
error of the studio, or an exception accepted that nobody was shown."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.models import Erratum, Pilot, Release, ReleaseRequest
from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.access import ALLOWED
from studio.models import Benchmark, Role, User
from tests.evaluation.builders import archive_of, benchmark_of, rubric, task
from tests.evaluation.factories import person
from tests.factories import a_task
from tests.studio.page_forms import forms_of

pytestmark = pytest.mark.django_db

MARKUP = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>"
CURSOR = "\x1b[2J\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture
def benchmark() -> Benchmark:
    hostile = task("a", title=f"=1+1{MARKUP}", checklist=(rubric(f"{MARKUP} ](javascript:alert(1)) | ` `` \n# x"),))
    row = benchmark_of(hostile)
    credits = {"contributors": [MARKUP, "=HYPERLINK(1)", "Ada\u2028Lovelace"], "contact": "javascript:alert(1)"}
    row.name = f"Tea {MARKUP}"[:200]
    row.set_credits(row.credits.model_copy(update=credits))
    row.save()
    return row


@pytest.fixture
def owner(benchmark: Benchmark) -> User:
    return person(benchmark, *Role.values)


@pytest.fixture
def release(benchmark: Benchmark, owner: User) -> Release:
    return cut_release(benchmark, ReleaseOptions(version="1.0", accept=MARKUP, changes=f"- {MARKUP}"), by=owner)


def files_in(archive: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name).decode("utf-8", "replace") for name in opened.namelist()}


def site_of(release: Release, user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return files_in(client.get(f"/releases/{release.pk}/site/").content)


def test_markup_on_the_pages_of_a_site(release: Release, owner: User):
    pages = {name: text for name, text in site_of(release, owner).items() if name.endswith(".html")}

    assert len(pages) > 2 and any("alert(1)" in text for text in pages.values())
    for name, text in pages.items():
        lower = text.lower()
        assert "<script" not in lower and "<img" not in lower and 'href="javascript:' not in lower, name


def test_a_formula_in_what_a_release_and_its_site_tell(release: Release, owner: User):
    told = files_in(archive_of(release)) | site_of(release, owner)

    cells = [line for name, text in told.items() if name.endswith((".csv", ".tsv")) for line in text.splitlines()]
    assert not [line for line in cells if line.startswith("=") or ",=" in line or '"=' in line]


def published(client: Client, release: Release, text: str) -> int:
    data = json.dumps({"text": text})
    return client.post(f"/api/releases/{release.pk}/errata/", data, content_type="application/json").status_code


@pytest.mark.parametrize("text", ["\0", "a\0b", f"a{CURSOR}b", MARKUP, "\ud800"])
def test_an_erratum_that_does_something_where_it_is_read(release: Release, owner: User, text: str):
    client = Client(raise_request_exception=False)
    client.force_login(owner)

    assert published(client, release, text) in (201, 400)

    for erratum in Erratum.objects.all():
        assert "\0" not in erratum.text
    for path in (
        f"/releases/{release.pk}/",
        "/api/releases/",
        reverse("studio:benchmark_history", args=[release.benchmark.slug]),
    ):
        assert client.get(path).status_code == 200
    for name, shown in site_of(release, owner).items():
        if name.endswith((".html", ".md", ".txt")):
            assert not {"\0", "\x1b", "\x9b"} & set(shown) and "<script" not in shown.lower(), name


@pytest.mark.parametrize("role", [role for role in Role.values if role not in (Role.OWNER, Role.RELEASE_MANAGER)])
def test_to_publish_under_the_key_of_a_benchmark_without_the_right(release: Release, role: str):
    client = Client()
    client.force_login(person(release.benchmark, role))
    elsewhere = benchmark_of(task("b", title="Elsewhere"))
    stranger = Client()
    stranger.force_login(person(elsewhere, *Role.values))

    assert published(client, release, "It is wrong.") == 403
    assert published(stranger, release, "It is wrong.") == 404
    key = f"/benchmarks/{release.benchmark.slug}/releases/key/"
    assert (client.post(key).status_code, stranger.post(key).status_code) == (403, 404)
    assert not Erratum.objects.exists()


@pytest.mark.parametrize("role", [role for role in Role.values if role not in ALLOWED["pilot"]])
def test_to_try_a_task_on_a_model_at_somebody_elses_cost(benchmark: Benchmark, role: str):
    client = Client()
    client.force_login(person(benchmark, role))
    persona = benchmark.personas.get()
    address = f"/b/{benchmark.slug}/p/{persona.user_id}/tasks/{persona.tasks.get().pk}/try/"

    assert client.get(address).status_code == 200
    assert client.post(address).status_code == 403
    assert client.post(f"/benchmarks/{benchmark.slug}/validation/", {"persona": persona.user_id}).status_code == 403
    assert not Pilot.objects.exists()


def test_an_exception_under_the_name_of_somebody_who_was_shown_others(benchmark: Benchmark, owner: User):
    """An author changes what blocks a release while its manager reads the page."""
    client, page = Client(), reverse("evaluation:release_new", args=[benchmark.slug])
    client.force_login(owner)
    (form,) = [form for form in forms_of(client.get(page).content.decode()) if "accept" in form.data()]
    data = {name: values[0] for name, values in form.data().items()} | {"version": "1.0", "accept": "Known."}
    a_task(benchmark.personas.get(), "b", by=owner)

    refused = client.post(page, data).content.decode()
    again = client.post(page, {**data, "shown": client.get(page).context["shown"]})

    assert "What blocks the release has changed" in refused
    assert again.status_code == 302
    assert ReleaseRequest.objects.filter(benchmark=benchmark).count() == 1
