import pytest
from django.test import Client

from annotations.models import AuditCampaign
from evaluation.models import Pilot, Session, Snapshot, Turn
from tests.annotations.builders import make_person
from tests.evaluation.builders import benchmark_of, pilot_of, task
from tests.evaluation.factories import verdict

pytestmark = pytest.mark.django_db


def judged_pilot(decisions: int = 4) -> Pilot:
    pilot = pilot_of(benchmark_of(task("fee")))
    session = Session.objects.get(run__pilot=pilot)
    snapshot = Snapshot.objects.create(run=session.run, manifest={}, sha256="0" * 64)
    for number in range(1, decisions + 1):
        Turn.objects.create(session=session, number=number, user_message="m", reply="r", snapshot=snapshot)
        verdict(session, "follow_up", turn=number, label="the fee", met=bool(number % 2))
    return pilot


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
def test_owner_opens_an_audit_from_a_pilot():
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")
    client = signed_in(make_person(pilot.benchmark, "owner"))
    text = client.get("/audits/new/").content.decode()
    assert f"Pilot {pilot.number} · scripted-helpful, criteria judged by scripted-judge · 4 decisions, scripted" in text

    data = {"pilots": pilot.pk, "name": "", "size": 3, "people": 1, "seed": 5}
    response = client.post("/audits/new/", data)

    audit = AuditCampaign.objects.get()
    assert response.headers["Location"] == audit.get_absolute_url()
    assert (audit.name, audit.seed, audit.scripted, audit.packets.count()) == (
        f"Audit of pilot {pilot.number}",
        5,
        True,
        3,
    )


def test_a_share_of_single_decisions_is_asked_again_in_truth_unless_somebody_says_otherwise():
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")

    form = signed_in(make_person(pilot.benchmark, "owner")).get("/audits/new/").context["form"]

    assert 'value="25"' in str(form["second"])


@pytest.mark.slow
def test_plan_is_shown_in_numbers_before_anything_is_opened():
    pilot = judged_pilot()
    people = [make_person(pilot.benchmark, "auditor") for _ in range(3)]
    client = signed_in(make_person(pilot.benchmark, "owner"))
    assert 'value="3"' in str(client.get("/audits/new/").context["form"]["people"])

    data = {"pilots": pilot.pk, "size": 4, "people": 3, "seed": 5, "due": "2999-12-24", "instructions": "Be strict."}
    text = " ".join(client.post("/audits/new/", data | {"outline": "1"}).content.decode().split())

    assert "<b>4</b> decisions, <b>12</b> to judge in all: about 4 for each of 3 people." in text
    assert "± 25.9 points" in text
    assert not AuditCampaign.objects.exists()
    assert not people[0].notifications.exists()

    client.post("/audits/new/", data)
    audit = AuditCampaign.objects.get()
    assert (audit.overlap, audit.due.isoformat(), audit.instructions) == (3, "2999-12-24", "Be strict.")


def test_invalid_field_is_marked_and_input_preserved():
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")
    client = signed_in(make_person(pilot.benchmark, "release_manager"))

    data = {"pilots": pilot.pk, "name": "typed name", "size": 3, "people": 4, "seed": 5}
    text = client.post("/audits/new/", data).content.decode()

    assert "4 people must judge each decision, but only 1 person is assigned" in text
    assert "typed name" in text
    assert not AuditCampaign.objects.exists()


@pytest.mark.slow
def test_pilot_of_another_benchmark_cannot_be_selected():
    pilot, other = judged_pilot(), judged_pilot()
    make_person(pilot.benchmark, "auditor")
    client = signed_in(make_person(pilot.benchmark, "owner"))

    text = client.post("/audits/new/", {"pilots": other.pk, "size": 3, "people": 1, "seed": 5}).content.decode()

    assert "This pilot has nothing to audit" in text
    assert client.get(f"/audits/new/?benchmark={other.benchmark.slug}").status_code == 404


@pytest.mark.parametrize("query", ["", "?benchmark={}"])
def test_page_says_who_may_open_an_audit(query: str):
    pilot = judged_pilot()
    address = f"/audits/new/{query.format(pilot.benchmark.slug)}"

    answer = signed_in(make_person(pilot.benchmark, "auditor", "author")).get(address)

    assert (answer.status_code, "you need to be an owner or release manager" in answer.content.decode()) == (403, True)


@pytest.mark.slow
def test_benchmark_is_selected_first_if_there_are_several():
    first, second = judged_pilot().benchmark, judged_pilot().benchmark
    owner = make_person(first, "owner")
    second.memberships.create(user=owner, role="owner")
    client = signed_in(owner)

    assert f"?benchmark={second.slug}" in client.get("/audits/new/").content.decode()
    assert "No auditors yet" in client.get(f"/audits/new/?benchmark={second.slug}").content.decode()


def test_page_without_auditable_pilots_says_what_to_do():
    benchmark = benchmark_of(task("a"))
    client = signed_in(make_person(benchmark, "owner"))

    assert "No decisions to audit yet" in client.get("/audits/new/").content.decode()
