"""From approved tasks to a pack, and back."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from html import unescape

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client

from annotations.intervals import Rate
from annotations.leases import next_packet
from evaluation.judging.script_versions import sessions_graded_by_older_scripts
from evaluation.models import ModelEndpoint, Release, ReleaseRequest, Session
from evaluation.pilots.session_work import work_on
from evaluation.protocol.versions import ProtocolName
from evaluation.releases.blocker_kinds import open_blockers, readiness_of
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from evaluation.releases.evidence import Evidence, without_pilots
from evaluation.releases.requests import make_release, request_release
from evaluation.releases.signing import replace_key
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode, load_task
from studio.imports.importer import import_archive
from studio.models import Benchmark, Event, Membership, Role, Task, TaskState, User
from studio.personas.files import save_file
from studio.personas.scripts import SCRIPTS, ScriptText, create_script
from studio.tasks.save import save_task
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.builders import archive_of, benchmark_of, endpoint, file, pilot_of, release_blockers, rubric, task
from tests.evaluation.stub_model import StubModel
from tests.factories import mark_approved
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager() -> User:
    return User.objects.create_user("ruth", password="a long password", display_name="Ruth")


@pytest.fixture(scope="module")
def shared_benchmark(module_db) -> Benchmark:
    """Two approved tasks, one building on the other, that the checks find no fault with."""
    assets = (file("fees.md", "The harbour fee is 12 crowns.\n"),)
    return approve(
        benchmark_of(
            task("a", title="The fee", assets=assets),
            task("b", "a", title="The letter", checklist=(rubric("The letter names the harbour fee."),)),
        )
    )


@pytest.fixture
def benchmark(shared_benchmark: Benchmark) -> Benchmark:
    return fresh(shared_benchmark)


def approve(benchmark: Benchmark) -> Benchmark:
    mark_approved(Task.objects.filter(persona__benchmark=benchmark))
    return benchmark


def codes(benchmark: Benchmark) -> list[str]:
    """Of the blockers by which a release is cut, which are those that the page counts and lists."""
    blockers = release_blockers(benchmark)
    assert open_blockers(benchmark) == blockers
    return [blocker.code for blocker in blockers]


def run_pilot(benchmark: Benchmark, agent: ModelEndpoint, judge: ModelEndpoint) -> None:
    pilot = pilot_of(benchmark, agent=agent, user_model=judge, judge=judge)
    for _ in range(2):
        for pk in Session.objects.filter(run__pilot=pilot).order_by("position").values_list("pk", flat=True):
            work_on(pk)


def served(url: str, *models: str) -> list[ModelEndpoint]:
    """Endpoints that nothing in the studio marks as scripted."""
    return [endpoint(f"served {name}", base_url=url, model=name, scripted=False) for name in models]


def audit(benchmark: Benchmark, answers: str = "judge") -> None:
    """Ten decisions of the newest pilot, each judged as the judge did, or the other way round, to both questions."""
    auditor = User.objects.create_user("ada", password="a long password")
    Membership.objects.create(benchmark=benchmark, user=auditor, role="auditor")
    campaign = open_audit(benchmark.pilots.first(), size=10, by=None, auditors=[auditor], second=100)
    while packet := next_packet(campaign, auditor):
        same = (judged(packet)["decision"] == "yes") == (answers == "judge")
        record_judgment(packet, auditor=auditor, answer="yes" if same else "no", number=1)


def test_blockers_are_listed_smallest_group_first(benchmark: Benchmark):
    row = Task.objects.get(task_id="b")
    save_task(row.pk, load_task(row).model_copy(update={"grader_script": "scripts/none.py"}), by=None)

    blockers = release_blockers(benchmark)

    assert [(kind.code, kind.number) for kind in readiness_of(benchmark).kinds] == list(
        Counter(codes(benchmark)).items()
    )
    assert [(blocker.code, blocker.task) for blocker in blockers] == [
        ("grader-missing", "b"),
        ("task-not-approved", "b"),
        ("too-few-audited", ""),
        ("truth-not-measured", ""),
        ("task-not-piloted", "a"),
        ("task-not-piloted", "b"),
    ]


def test_empty_benchmark_cannot_be_released(manager: User):
    empty = Benchmark.objects.create(slug="empty", name="Empty")

    with pytest.raises(ReleaseBlockedError) as blocked:
        cut_release(empty, ReleaseOptions(version="1.0", accept="why not"), by=manager)

    assert [blocker.code for blocker in blocked.value.blockers] == ["no-tasks"]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("12", "Say why pilot 12 is left out"),
        ("x why", "Write a pilot’s number"),
        ("3 why", "Pilot 3 is none of those"),
    ],
)
def test_only_a_cited_pilot_is_left_out_and_with_a_reason(lines: str, complaint: str):
    none = Rate(0, 0, None, None, None)
    cited = Evidence(ProtocolName.PAPER, frozenset(), frozenset(), {}, ({"number": 12, "agent": "a"},), (), *3 * [none])

    with pytest.raises(OptionsError, match=complaint):
        without_pilots(cited, lines, "Mia")

    assert without_pilots(cited, " \n12  Wrong key\n", "Mia").to_json()["left_out"] == [
        {"number": 12, "agent": "a", "reason": "Wrong key", "by": "Mia"}
    ]
    assert without_pilots(cited, "", "Mia") == cited and "left_out" not in cited.to_json()


@pytest.mark.slow
def test_only_real_models_are_evidence(benchmark: Benchmark, stub: StubModel, manager: User):
    run_pilot(benchmark, endpoint("scripted-helpful"), endpoint("scripted-judge"))
    assert codes(benchmark) == ["too-few-audited", "truth-not-measured", "task-not-piloted", "task-not-piloted"]

    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    assert codes(benchmark) == ["too-few-audited", "truth-not-measured"]

    Benchmark.objects.update(release_limits={"audited_decisions": 3})
    benchmark.refresh_from_db()
    audit(benchmark)
    assert codes(benchmark) == []
    release = cut_release(benchmark, ReleaseOptions(version="1.0"), by=manager)
    assert release.exceptions == []
    assert [pilot["agent"] for pilot in release.manifest["evidence"]["pilots"]] == ["agent"]
    assert release.manifest["evidence"]["audits"]["disagreed"] == 0

    number = release.manifest["evidence"]["pilots"][0]["number"]
    without = ReleaseOptions(version="1.1", leave_out=f"{number} The key of the judge was wrong.")
    evidence = cut_release(benchmark, without, by=manager).manifest["evidence"]
    left_out = {"number": number, "agent": "agent", "reason": "The key of the judge was wrong.", "by": str(manager)}
    assert (evidence["pilots"], evidence["left_out"]) == ([], [left_out])


@pytest.mark.slow
def test_pilots_that_a_release_would_cite_are_ticked_out_on_its_page_with_a_reason(
    benchmark: Benchmark, stub: StubModel, manager: User, client: Client
):
    run_pilot(benchmark, endpoint("scripted-helpful"), endpoint("scripted-judge"))
    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    number = benchmark.pilots.get(scripted=False).number
    Membership.objects.create(benchmark=benchmark, user=manager, role=Role.RELEASE_MANAGER)
    client.force_login(manager)
    page = f"/benchmarks/{benchmark.slug}/releases/"

    def boxes(html: str) -> list[str]:
        return re.findall(r'name="leave_out" value="(\d+)"', html)

    asked = {"version": "1.0", "accept": "A test.", "leave_out": str(number)}
    assert boxes(client.get(page).content.decode()) == [str(number)]
    refused = client.post(page, {**asked, f"why-{number}": " "}).content.decode()
    assert f"Say why pilot {number} is left out." in refused
    assert re.search(rf'value="{number}" checked', refused)
    client.post(page, {**asked, f"why-{number}": "The judge’s key was\nwrong."})
    request = ReleaseRequest.objects.get()
    assert request.options["leave_out"] == f"{number} The judge’s key was wrong."
    make_release(request.pk)
    [left_out] = Release.objects.get().manifest["evidence"]["left_out"]
    assert (left_out["number"], left_out["reason"]) == (number, "The judge’s key was wrong.")


def test_page_says_why_a_release_that_leaves_out_an_unknown_pilot_was_refused(
    benchmark: Benchmark, manager: User, client: Client
):
    Membership.objects.create(benchmark=benchmark, user=manager, role=Role.RELEASE_MANAGER)
    client.force_login(manager)
    request_release(benchmark, ReleaseOptions(version="1.0", accept="A test.", leave_out="5 Wrong key."), by=manager)
    make_release(ReleaseRequest.objects.get().pk)

    page = client.get(f"/benchmarks/{benchmark.slug}/releases/").content.decode()

    assert ReleaseRequest.objects.get().refused["message"] in unescape(page)


@pytest.mark.slow
def test_scripted_model_behind_any_address_is_recognised(benchmark: Benchmark, scripted):
    run_pilot(benchmark, *served(scripted.url, "scripted-asks", "scripted-judge"))

    assert benchmark.pilots.get().scripted is True
    assert codes(benchmark) == ["too-few-audited", "truth-not-measured", "task-not-piloted", "task-not-piloted"]


@pytest.mark.slow
def test_disagreement_with_judges_blocks_a_release(benchmark: Benchmark, stub: StubModel):
    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    Benchmark.objects.update(release_limits={"audited_decisions": 3})
    benchmark.refresh_from_db()

    audit(benchmark, answers="opposite")

    assert codes(benchmark) == ["judges-disagree", "judges-wrong-in-truth"]


@pytest.mark.slow
def test_too_little_shown_to_judges_blocks_a_release(benchmark: Benchmark, stub: StubModel):
    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    Benchmark.objects.update(release_limits={"audited_decisions": 0})
    benchmark.refresh_from_db()
    auditor = make_person(benchmark, "auditor")
    campaign = open_audit(benchmark.pilots.first(), size=10, strata="grader")
    packet = next(row for row in campaign.packets.all() if row.content["left_out"])

    record_judgment(packet, auditor=auditor, answer="not_shown")

    assert codes(benchmark) == ["evidence-not-shown"]


@pytest.mark.slow
def test_task_needs_a_new_pilot_after_an_edit_that_can_change_its_score(benchmark: Benchmark, stub: StubModel):
    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    row = Task.objects.get(task_id="a")
    save_task(row.pk, load_task(row).model_copy(update={"title": "The fee, again"}), by=None)
    approve(benchmark)
    assert [b.task for b in release_blockers(benchmark) if b.code == "task-not-piloted"] == []

    save_task(row.pk, load_task(row).model_copy(update={"initial_request": "What is the fee?"}), by=None)
    approve(benchmark)

    assert [b.task for b in release_blockers(benchmark) if b.code == "task-not-piloted"] == ["a", "b"]


@pytest.mark.slow
def test_changed_script_invalidates_pilots_of_its_tasks(benchmark: Benchmark, stub: StubModel, manager: User):
    persona = benchmark.personas.get()
    text = "def score(tools_history):\n    return {'called': int(bool(tools_history))}\n"
    script = create_script(persona, "fee", text, by=manager, task_id=Task.objects.get(task_id="a").pk)
    approve(benchmark)
    run_pilot(benchmark, *served(stub.base_url, "agent", "judge"))
    assert [b.task for b in release_blockers(benchmark) if b.code == "task-not-piloted"] == []

    save_file(
        SCRIPTS, script.persona, script.path, ScriptText(source=text.replace("called", "called_at_all")), by=manager
    )
    approve(benchmark)

    [blocker] = [b for b in release_blockers(benchmark) if b.code == "task-not-piloted"]
    assert blocker.task == "a" and "Since a real model ran “The fee”" in blocker.message
    pilot = benchmark.pilots.get()
    client = Client()
    Membership.objects.create(benchmark=benchmark, user=manager, role="owner")
    client.force_login(manager)
    session = Session.objects.get(revision__task__task_id="a")
    for page in (pilot, session):
        assert "graded by an older script" in client.get(page.get_absolute_url()).content.decode()
    assert [session.revision.task.task_id for session in sessions_graded_by_older_scripts(pilot)] == ["a"]
    save_file(SCRIPTS, script.persona, script.path, ScriptText(source=text), by=manager)
    assert [b.task for b in release_blockers(benchmark) if b.code == "task-not-piloted"] == []
    assert sessions_graded_by_older_scripts(pilot) == []


def test_accepted_exception_is_recorded_with_name_and_reason(benchmark: Benchmark, manager: User):
    with pytest.raises(ReleaseBlockedError):
        cut_release(benchmark, ReleaseOptions(version="1.0"), by=manager)
    with pytest.raises(ReleaseBlockedError):
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="   "), by=manager)

    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A preview for partners."), by=manager)

    assert {(e["by"], e["reason"]) for e in release.exceptions} == {("Ruth", "A preview for partners.")}
    assert len(release.exceptions) == 4
    assert manifest_of(release)["exceptions"] == release.exceptions
    assert set(Task.objects.values_list("state", flat=True)) == {"released"}
    assert Event.objects.filter(verb="released", actor=manager).count() == 1


def test_version_must_be_new_and_valid(benchmark: Benchmark, manager: User):
    cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)

    with pytest.raises(OptionsError, match=r"1\.0 already exists"):
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)
    for name in ("../1", "1 0"):
        with pytest.raises(OptionsError, match="not a valid release version"):
            cut_release(benchmark, ReleaseOptions(version=name, accept="x"), by=manager)


def test_same_tasks_give_the_same_pack(benchmark: Benchmark, manager: User):
    replace_key(benchmark, by=manager)
    with transaction.atomic():
        first = cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager).sha256
        transaction.set_rollback(True)

    assert cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager).sha256 == first


def test_release_is_immutable(benchmark: Benchmark, manager: User):
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)

    with pytest.raises(IntegrityError, match="frozen"), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(version="2.0")


def test_imported_pack_gives_the_same_tasks(benchmark: Benchmark, manager: User):
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)
    empty = Benchmark.objects.create(slug="other", name="Other")

    report = import_archive(empty, archive_of(release), by=manager)

    assert report.errors == []
    assert tasks_of(empty) == tasks_of(benchmark)


def test_retired_task_is_not_released(benchmark: Benchmark, manager: User):
    Task.objects.filter(task_id="b").update(state=TaskState.RETIRED)

    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)

    assert [entry["task"] for entry in release.manifest["tasks"]] == ["a"]
    assert not any("/b/" in path for path in names_in(release))


def test_unreadable_pack_is_never_released(manager: User):
    spec = task("a", title="A", intents=())
    benchmark = approve(benchmark_of(spec, persona=PersonaSpec(user_id="clerk")))

    with pytest.raises(ReleaseBlockedError) as blocked:
        cut_release(benchmark, ReleaseOptions(version="1.0", accept="x"), by=manager)

    assert "pack-unreadable" in {blocker.code for blocker in blocked.value.blockers}
    assert not Release.objects.exists()


def test_command_lists_blockers_and_writes_the_accepted_pack(benchmark: Benchmark, manager: User, tmp_path, capsys):
    arguments = ["release", "--benchmark", benchmark.slug, "--version", "1.0", "--json"]

    with pytest.raises(SystemExit) as ended:
        call_command(*arguments)
    blocked = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1
    assert (blocked["release"], blocked["sha256"], blocked["file"], blocked["tasks"]) == (None, None, None, 0)
    assert blocked["blocked_by"][0]["code"] == "too-few-audited"

    call_command(*arguments, "--accept", "A preview.", "--by", "ruth", "--out", str(tmp_path))
    cut = json.loads(capsys.readouterr().out)
    assert (cut["version"], cut["tasks"], cut["blocked_by"]) == ("1.0", 2, [])
    with zipfile.ZipFile(cut["file"]) as pack:
        assert "pack.json" in pack.namelist()

    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--accept", "Again.")
    assert ended.value.code == 2
    with pytest.raises(SystemExit) as ended:
        call_command("release", "--benchmark", "nothing", "--version", "1")
    assert ended.value.code == 2


def manifest_of(release: Release) -> dict:
    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as pack:
        return json.loads(pack.read("pack.json"))


def names_in(release: Release) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as pack:
        return pack.namelist()


def tasks_of(benchmark: Benchmark) -> list[TaskSpec]:
    """But for what they were read from; a file always names its persona, a draft need not."""
    return [
        spec.model_copy(
            update={
                "source": {},
                "user_id": persona.user_id,
                "intents": tuple(intent.model_copy(update={"source": {}}) for intent in spec.intents),
                "checklist": tuple(item.model_copy(update={"source": {}}) for item in spec.checklist),
            }
        )
        for persona in benchmark.personas.all()
        for spec in load_episode(persona).tasks
    ]
