"""Mistakes found after a release: signed, shown with it, and told in every later pack."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from evaluation.llm.stored_keys import SECRET_VARIABLE
from evaluation.models import Erratum, Release
from evaluation.models.releases import ErratumEffect
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.errata import ErratumOptions, publish_erratum
from evaluation.releases.packing import rebuild
from studio.domain.options import OptionsError
from studio.domain.pack import ERRATUM_EFFECTS
from studio.models import Benchmark, Persona, User
from tests.evaluation.builders import archive_of, benchmark_of, rubric, task
from tests.evaluation.factories import person
from tests.packs import read_statement
from tests.studio.dev.test_schemas import complaints

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return benchmark_of(task("a", title="The fee", checklist=(rubric("It names the fee."),)))


@pytest.fixture
def manager(benchmark: Benchmark) -> User:
    return person(benchmark, "release_manager")


def cut(benchmark: Benchmark, version: str = "1.0") -> Release:
    return cut_release(benchmark, ReleaseOptions(version=version, accept="A test."), by=None, signature="Ada")


def task_of(benchmark: Benchmark) -> str:
    return f"{Persona.objects.get(benchmark=benchmark).user_id}/a"


def test_erratum_is_signed_about_the_archive(benchmark: Benchmark, manager: User):
    release = cut(benchmark)
    for text in ("The fee is 14 crowns.", "So is the form."):
        publish_erratum(release, ErratumOptions(text=text, tasks=[task_of(benchmark)]), by=manager)

    first, second = release.errata.all()
    said = read_statement(first.key.public, first.statement)
    assert (first.number, second.number) == (1, 2)
    assert said["subject"] == [{"name": release.file_name, "digest": {"sha256": release.sha256}}]
    assert said["predicate"] | {"published": ""} == {
        "benchmark": benchmark.slug,
        "version": "1.0",
        "number": 1,
        "published": "",
        "text": "The fee is 14 crowns.",
        "tasks": [task_of(benchmark)],
        "effect": "scores",
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Erratum.objects.update(text="Nothing.")


@pytest.mark.slow
def test_later_packs_tell_it_and_earlier_ones_stay_as_they_are(benchmark: Benchmark, manager: User):
    first = cut(benchmark)
    publish_erratum(first, ErratumOptions(text="The *fee* is 14 crowns."), by=manager)

    second = cut(benchmark, "1.1")

    with zipfile.ZipFile(io.BytesIO(archive_of(second))) as archive:
        readme, changelog = (archive.read(name).decode() for name in ("README.md", "CHANGELOG.md"))
        manifest = json.loads(archive.read("pack.json"))
    assert "In 1.0. Erratum 1 (" in readme and r"the release as a whole: The \*fee\* is 14 crowns." in readme
    assert changelog.index("Mistakes that were found later") > changelog.index("## 1.0")
    [said] = manifest["errata"]
    assert read_statement(said["key"], said["statement"])["predicate"]["text"] == "The *fee* is 14 crowns."
    assert complaints("pack", manifest) == []
    for release in Release.objects.all():
        assert rebuild(release).sha256 == release.sha256


def test_unknown_tasks_and_missing_secrets_are_refused(
    benchmark: Benchmark, manager: User, monkeypatch: pytest.MonkeyPatch
):
    release = cut(benchmark)

    with pytest.raises(OptionsError, match="has no task “clerk/z”"):
        publish_erratum(release, ErratumOptions(text="Wrong.", tasks=["clerk/z"]), by=manager)
    monkeypatch.delenv(SECRET_VARIABLE)
    with pytest.raises(OptionsError, match="cannot be signed"):
        publish_erratum(release, ErratumOptions(text="Wrong."), by=manager)
    assert not Erratum.objects.exists()


@pytest.mark.slow
def test_page_and_api_publish_and_list_errata(benchmark: Benchmark, manager: User, client: Client):
    release = cut(benchmark)
    client.force_login(manager)
    page, api = release.get_absolute_url(), f"/api/releases/{release.pk}/errata/"

    answer = client.post(page, {"text": "The fee is 14 crowns.", "tasks": f"{task_of(benchmark)}\n", "effect": "none"})
    created = client.post(api, {"text": "So is the form.", "effect": "rejudge"}, "application/json")
    wrong = client.post(page, {"text": "Wrong.", "tasks": "clerk/z", "effect": "none"}).content.decode()

    assert (answer.status_code, created.status_code, created.json()["number"]) == (302, 201, 2)
    assert "has no task “clerk/z”" in wrong
    shown = client.get(page).content.decode()
    assert "The fee is 14 crowns." in shown and "None: words only" in shown
    listed = client.get(f"/api/releases/{release.pk}/").json()["errata"]
    assert [(row["number"], row["tasks"]) for row in listed] == [(1, [task_of(benchmark)]), (2, [])]
    client.force_login(person(benchmark, "viewer"))
    assert client.post(page, {"text": "Mine.", "effect": "none"}).status_code == 403
    assert client.post(api, {"text": "Mine."}, "application/json").status_code == 403
    assert "Publish an erratum" not in client.get(page).content.decode()


def test_every_effect_is_told_in_documents():
    assert ERRATUM_EFFECTS.keys() == set(ErratumEffect.values)
