from __future__ import annotations

import pytest

from evaluation.rehearsals.extract import NOTE, ExtractError, extract_row
from studio.drafts.load import load_task
from studio.models import Revision
from studio.tasks.save import save_task
from tests.evaluation.rehearsals.builders import real, started

pytestmark = pytest.mark.django_db


def test_text_is_extracted_into_a_new_version(stub):
    row = started("agent", real(stub))
    author = row.person

    first = extract_row(row, "intent", "  Write the fee\nin euros. ", by=author)
    second = extract_row(row, "item", "The note is signed.", by=author)

    spec = load_task(row.session.revision.task)
    assert (first.position, spec.intents[3].content) == (4, "Write the fee in euros.")
    assert (second.position, spec.checklist[-1].criterion) == (1, "The note is signed.")
    newest = Revision.objects.filter(task=row.session.revision.task).order_by("-number").first()
    assert newest and (newest.number, newest.note, newest.created_by) == (second.version, NOTE, author)


def test_extraction_preserves_changes_by_others(stub):
    row = started("agent", real(stub))
    spec = load_task(row.session.revision.task)
    save_task(row.session.revision.task_id, spec.model_copy(update={"title": "By another"}), by=None)

    extract_row(row, "intent", "Write it in euros.", by=row.person)

    assert load_task(row.session.revision.task).title == "By another"


@pytest.mark.parametrize("text", ["", " \n", "Name  the fee.", "x" * 2001, "with\0 null"])
def test_invalid_text_is_not_extracted(stub, text):
    row = started("agent", real(stub))

    with pytest.raises(ExtractError):
        extract_row(row, "intent", text, by=row.person)

    assert len(load_task(row.session.revision.task).intents) == 3
