"""Files of personas that are made ready for sessions once, after they were saved."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import ReadyAppData, StoredWebPage
from evaluation.pilots.participants import open_world
from evaluation.pilots.preparation import prepare_missing
from evaluation.workspaces import app_states
from evaluation.workspaces.app_states import initial_apps, load_apps
from evaluation.workspaces.snapshots import MissingContentError
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import EXAMPLE
from studio.models import Blob
from tests.evaluation.builders import benchmark_of, task

pytestmark = pytest.mark.django_db
NOTES = {
    "accounts": [{"username": "ada@example.com", "password": "x"}],
    "notes": [{"owner": "ada@example.com", "title": "Oats"}],
}
FILES = {
    "apps/simple_note.json": json.dumps(NOTES, indent=1).encode(),
    "apps/gmail.json": b'{"emails": 7}',
    "apps/clock.json": b'{"now": "2027-03-01T09:00"}',
    "web/fees.md": EXAMPLE.encode(),
}


@pytest.fixture
def persona(monkeypatch: pytest.MonkeyPatch) -> PersonaSpec:
    monkeypatch.setattr(app_states, "_ready", {})
    shas = Blob.objects.store(list(FILES.values()))
    files = tuple(FileRef(path=path, sha256=sha, size=1) for path, sha in zip(FILES, shas, strict=True))
    persona = PersonaSpec(user_id="clerk", files=files)
    benchmark_of(task("a"), persona=persona)
    return persona


def test_files_are_made_ready_once_and_what_cannot_be_read_is_not_tried_again(persona: PersonaSpec):
    assert prepare_missing() == 3

    assert StoredWebPage.objects.get().address == "https://example.org/fees"
    assert sorted(ReadyAppData.objects.values_list("app", flat=True)) == ["gmail", "simple_note"]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert prepare_missing() == 0
    assert len(queries) == 2


def test_sessions_read_what_was_made_ready_and_know_the_app_by_its_data(persona: PersonaSpec):
    note = {app: sha for app, sha in initial_apps(persona).items() if app == "simple_note"}
    before = load_apps(note, persona, "a")
    prepare_missing()

    after = load_apps(note, persona, "a")

    assert after.hashes == before.hashes == note
    assert b"last_numbers" in after.contents["simple_note"]
    assert b"last_numbers" not in before.contents["simple_note"]
    world = open_world(after)
    assert [each.title for each in world.state("simple_note").tables["notes"]] == ["Oats"]
    assert after.store(world.snapshot()) == note, "nothing changed"


def test_what_is_known_to_be_ready_but_gone_is_read_as_it_was_written(persona: PersonaSpec):
    note = {app: sha for app, sha in initial_apps(persona).items() if app == "simple_note"}
    app_states._ready["simple_note", note["simple_note"]] = "0" * 64

    assert load_apps(note, persona, "a").contents["simple_note"] == FILES["apps/simple_note.json"]
    with pytest.raises(MissingContentError):
        load_apps({"gmail": "1" * 64}, persona, "a")
