"""Answers of the judge and of models are read through ``annotations.decided`` alone."""

import re
from pathlib import Path

import pytest

from annotations.models import Answer
from tests.annotations.builders import judged, make_campaign, record_judgment

pytestmark = pytest.mark.django_db

APPS = Path(__file__).parents[2]
READS = re.compile(r"Answer\.sealed\.(?!bulk_create)")


def test_the_judges_answer_is_in_no_query_but_the_sealed_one():
    campaign, (ana,) = make_campaign(size=1)
    packet = campaign.packets.get()
    assert (judged(packet), list(Answer.objects.all()), list(packet.answers.all())) == ({"decision": "yes"}, [], [])

    record_judgment(packet, auditor=ana, answer="no")

    assert [(row.by, row.value) for row in packet.answers.all()] == [("person", "no")]


def test_one_module_reads_sealed_answers():
    files = [path for app in ("annotations", "evaluation", "studio") for path in (APPS / app).rglob("*.py")]

    found = {path.relative_to(APPS).as_posix() for path in files if READS.search(path.read_text(encoding="utf-8"))}

    assert found == {"annotations/decided.py"}
