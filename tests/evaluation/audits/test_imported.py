"""Outputs of the public release are audited without having run here."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotations.figures import campaign_figures
from evaluation.pilots.outputs.importing import import_outputs
from studio.models import Benchmark
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.pilots import test_outputs

pytestmark = pytest.mark.django_db
benchmark, outputs = test_outputs.benchmark, test_outputs.outputs


@pytest.mark.slow
def test_imported_verdicts_on_statuses_and_items_are_audited_and_reported(benchmark: Benchmark, outputs: Path):
    (pilot,) = import_outputs(benchmark, outputs, by=None, judge="gpt-4.1")
    person = make_person(benchmark, "auditor")

    campaign = open_audit(pilot, by=None, unit="session", own_tasks=True)

    packets = list(campaign.packets.all())
    kinds = [row["kind"] for packet in packets for row in packet.content["questions"]]
    assert (kinds.count("checklist"), kinds.count("status")) == (4, 8)
    scored = [row for row in packets if len(row.content["questions"]) == 4]
    assert {judged(row)["item-1"] for row in scored} == {"yes", "no"}
    assert any(part["text"] == "Reply 2." for part in scored[0].content["parts"])
    assert scored[0].labels["judge"] == "gpt-4.1"
    for packet in packets:
        answers = judged(packet)
        record_judgment(packet, auditor=person, answer="answered", answers=answers, number=1)
    report = campaign_figures(campaign)
    assert (report["disagreement"]["all"]["n"], report["disagreement"]["all"]["count"]) == (12, 0)
