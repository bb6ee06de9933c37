"""What was decided, sent or published is never changed: the database refuses it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from studio.models import Event
from tests.factories import BenchmarkFactory

pytestmark = pytest.mark.django_db

FROZEN = """
annotations_adjudication annotations_answer annotations_judgment annotations_opening annotations_packet
evaluation_elsewhereacceptance evaluation_erratum evaluation_heldoutpack evaluation_judginground evaluation_modelcall
evaluation_release
evaluation_releaseexception
evaluation_releasepersona evaluation_releasetask evaluation_suggestiondecision evaluation_toolcall
evaluation_scoringchoice evaluation_sessionintent evaluation_signingkey evaluation_snapshot
evaluation_turn evaluation_turnwords evaluation_verdict evaluation_verdictcorrection
studio_blob studio_event studio_personarevision studio_review studio_revision studio_revision_origin_authors
"""
BEFORE_UPDATE_OF_A_ROW = 1 + 2 + 16
"""The bits of ``pg_trigger.tgtype``."""


def test_rows_of_each_frozen_table_are_guarded():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger"
            " WHERE tgfoid = 'refuse_update'::regproc AND tgenabled = 'O' AND tgtype = %s AND tgqual IS NULL",
            [BEFORE_UPDATE_OF_A_ROW],
        )
        guarded = {table for (table,) in cursor.fetchall()}

    assert guarded == set(FROZEN.split())


def test_change_of_a_frozen_row_is_refused_with_the_name_of_its_table():
    Event.objects.create(benchmark=BenchmarkFactory(), verb="created", summary="As it was")

    with (
        pytest.raises(IntegrityError, match="studio_event is frozen"),
        transaction.atomic(),
    ):
        Event.objects.update(summary="As somebody would like it")

    assert Event.objects.get().summary == "As it was"
