import json

import pytest

from annotations.models import AuditCampaign
from evaluation.audits.campaigns import auditable_pilots, audits_of, summarize_audits
from evaluation.models import Pilot, Session, Snapshot, ToolCall, Turn
from studio.domain.options import OptionsError
from studio.domain.task import ToolEvidence
from studio.models import Blob
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, rubric, task
from tests.evaluation.factories import verdict

pytestmark = pytest.mark.django_db

QUOTE = "zebra quote that only the judge pointed to"
REASON = "walrus reason of the judge"


@pytest.fixture
def pilot() -> Pilot:
    """One session of two turns, with a file, tool calls and a verdict of every kind."""
    spec = task(
        "fee",
        checklist=(rubric("The note names the harbour fee."), rubric("The note is signed.")),
        files_read=("note.md",),
        tool_evidence=(ToolEvidence(tool="mail__send", call=("to",), result=("id",)),),
    )
    benchmark = benchmark_of(spec)
    pilot = pilot_of(benchmark, agent="scripted-helpful")
    session = Session.objects.get(run__pilot=pilot)
    for number in (1, 2):
        sha = Blob.objects.store([f"# Note of turn {number}".encode()])[0]
        snapshot = Snapshot.objects.create(run=session.run, manifest={"note.md": sha}, sha256=f"{number:064}")
        turn = Turn.objects.create(
            session=session,
            number=number,
            user_message=f"message {number}",
            reply=f"reply {number}, by scripted-helpful",
            snapshot=snapshot,
        )
        ToolCall.objects.create(
            turn=turn,
            position=1,
            name="mail__send",
            arguments={"to": ["ana@example.org"], "body": "private"},
            result=json.dumps({"id": number}),
        )
    intent = {"turn": 1, "index": 1, "label": "mention the fee", "grader": "judge"}
    strict = {"kind": "checklist", "scoring": "strict", "turn": 2, "grader": "rubric", "met": True}
    rows = [
        intent | {"kind": "satisfaction", "met": False},
        intent | {"kind": "follow_up", "met": True},
        strict | {"index": 1, "label": "names the fee"},
        strict | {"index": 1, "label": "names the fee", "scoring": "compat"},
        strict | {"index": 2, "label": "[tools] sent", "grader": "rule"},
        strict | {"index": 3, "label": "ungraded", "met": None},
    ]
    for row in rows:
        verdict(session, uid=None, quote=QUOTE, reason=REASON, **row)
    make_person(benchmark, "auditor")
    return pilot


def contents_of(campaign: AuditCampaign) -> dict[str, dict]:
    return {packet.kind: packet.content for packet in campaign.packets.all()}


def test_only_model_decisions_and_strict_checklists_are_audited(pilot):
    campaign = open_audit(pilot, by=None)

    assert sorted(campaign.packets.values_list("kind", flat=True)) == ["checklist", "follow_up", "satisfaction"]
    assert [row.decisions for row in auditable_pilots(pilot.benchmark)] == [3]
    assert list(audits_of(pilot)) == [campaign]


def test_packet_shows_exactly_what_the_judge_saw(pilot):
    contents = contents_of(open_audit(pilot, by=None))

    reply = {"role": "assistant", "label": "turn 1", "text": "reply 1, by ▮▮▮"}
    assert contents["follow_up"]["parts"] == [reply]
    assert contents["satisfaction"]["parts"] == [
        reply,
        {"role": "file", "label": "note.md", "text": "# Note of turn 1"},
    ]
    assert contents["checklist"]["parts"] == [
        {"role": "user", "label": "turn 1", "text": "message 1"},
        {"role": "user", "label": "turn 2", "text": "message 2"},
        {"role": "assistant", "label": "turn 2", "text": "reply 2, by ▮▮▮"},
        {"role": "tool", "label": "mail__send", "text": 'call to: ["ana@example.org"]\nresult id: 1'},
        {"role": "tool", "label": "mail__send", "text": 'call to: ["ana@example.org"]\nresult id: 2'},
        {"role": "file", "label": "note.md", "text": "# Note of turn 2"},
    ]
    assert (contents["checklist"]["subject"], len(contents["checklist"]["context"])) == ("names the fee", 2)


def test_judge_and_decision_are_sealed(pilot):
    campaign = open_audit(pilot, by=None)

    contents = json.dumps(list(contents_of(campaign).values()))
    assert not [secret for secret in (QUOTE, REASON, "scripted", "True", "true") if secret in contents]
    sealed = {packet.kind: packet.sealed for packet in campaign.packets.all()}
    told = {"quotes": QUOTE, "reasons": REASON, "thoughts": ""}
    said = {name: {"decision": text} for name, text in told.items()}
    assert sealed["satisfaction"] == said | {"shares": {}, "judge": "scripted-user"}
    assert sealed["checklist"]["judge"] == "scripted-judge"
    answers = {packet.kind: judged(packet)["decision"] for packet in campaign.packets.all()}
    assert (answers["satisfaction"], answers["follow_up"]) == ("no", "yes")


def test_same_seed_draws_the_same_sample(pilot):
    first, second = open_audit(pilot, size=2, by=None, seed=3), open_audit(pilot, size=2, by=None, seed=3)

    assert [p.source for p in first.packets.all()] == [p.source for p in second.packets.all()]
    assert first.packets.count() == 2


@pytest.mark.parametrize(
    ("options", "field"), [({"size": 0}, "size"), ({"size": 5_000}, "size"), ({"overlap": 2}, "people")]
)
def test_invalid_audit_is_rejected_at_its_field(pilot, options, field):
    with pytest.raises(OptionsError) as error:
        open_audit(pilot, by=None, **options)

    assert error.value.field == field


def test_pilot_without_decisions_cannot_be_audited():
    benchmark = benchmark_of(task("a"))
    make_person(benchmark, "auditor")

    with pytest.raises(OptionsError, match="Finish a pilot first"):
        open_audit(pilot_of(benchmark), by=None)


def test_only_audits_of_real_judges_are_evidence(pilot):
    practice = open_audit(pilot, by=None)
    real = {"base_url": "http://localhost:1/v1", "scripted": False}
    for part in ("agent", "user_model", "judge"):
        setattr(pilot, part, endpoint(f"real-{part}", **real))
    pilot.scripted = False
    pilot.save()
    audit = open_audit(pilot, by=None)
    person = make_person(pilot.benchmark, "auditor")
    for packet in [*practice.packets.all(), *audit.packets.all()]:
        record_judgment(packet, auditor=person, answer="yes", number=1)

    assert (practice.scripted, audit.scripted) == (True, False)
    summary = summarize_audits(pilot.benchmark, pilot.protocol, truth=False)
    assert (summary.packets, summary.total.rate.count, summary.total.rate.n) == (3, 1, 3)
