"""Results that were played elsewhere, handed in over HTTP, on the page, and by attackers."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Pilot, Run, Session, Submission, Verdict
from evaluation.pilots.control import ControlError, control_pilot, possible_actions
from evaluation.pilots.judging_work import work_on
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, start_rejudging
from evaluation.protocol.scoring import ScoringMode
from evaluation.releases.evidence import real_sessions
from evaluation.results.benchmark_results import compute_results
from evaluation.runner.command import main
from evaluation.submissions.submit import submit, verify
from studio.domain.options import OptionsError
from studio.domain.pack import SUMS, write_archive, write_sums
from studio.models import Blob, Event, Role, User
from tests.evaluation.builders import endpoint
from tests.evaluation.stub_model import StubModel, serving
from tests.evaluation.submissions.played import Played
from tests.factories import member
from tests.shared_rows import fresh

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_key")]


@pytest.fixture(scope="module")
def shared_play(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with pytest.MonkeyPatch.context() as patch, serving(StubModel()) as stub:
        patch.setenv("STUB_API_KEY", "none")
        made = Played(stub, tmp_path_factory.mktemp("played"))
        assert made.bundle
        yield made


@pytest.fixture
def played(shared_play: Played) -> Played:
    made = copy.copy(shared_play)
    made.benchmark, made.person, made.release = map(fresh, (made.benchmark, made.person, made.release))
    return made


def rewritten(bundle: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """By somebody who keeps the hashes right."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != SUMS}
    change(files)
    files[SUMS] = write_sums({path: hashlib.sha256(content).hexdigest() for path, content in files.items()})
    buffer = io.BytesIO()
    write_archive(sorted(files.items()), buffer)
    return buffer.getvalue()


def session_of(files: dict[str, bytes], task: str = "b") -> str:
    return next(name for name in files if name.endswith(f"-{task}/session.jsonl"))


def lines_changed(bundle: bytes, change: Callable[[list[dict[str, Any]]], None], task: str = "b") -> bytes:
    def rewrite(files: dict[str, bytes]) -> None:
        name = session_of(files, task)
        lines = [json.loads(line) for line in files[name].splitlines()]
        change(lines)
        files[name] = "".join(json.dumps(line) + "\n" for line in lines).encode()

    return rewritten(bundle, rewrite)


@pytest.mark.slow
def test_transcript_is_kept_as_it_was_held(played: Played):
    pilot = submit(played.bundle, by=played.person).submission.pilot

    session = Session.objects.of(pilot).get(run__number=1, revision__task__task_id="b")
    [line, *_] = (played.results / "sessions").glob("*/run-1/*-b/session.jsonl")
    turns = [row["turn"] for row in map(json.loads, line.read_text().splitlines()) if "turn" in row]
    assert [turn.reply for turn in session.turns.all()] == [turn["taken"]["reply"]["text"] for turn in turns]
    assert [turn.snapshot.manifest for turn in session.turns.all()] == [turn["files"] for turn in turns]
    assert session.turns.first().tool_calls.count() == len(turns[0]["taken"]["reply"]["tool_calls"]) > 0
    quotes = Verdict.objects.filter(judging__session=session).count()
    assert quotes == sum(1 for _ in session.judgings.values("verdicts"))
    client = Client()
    client.force_login(played.person)
    assert client.get(session.get_absolute_url()).status_code == 200
    page = client.get(pilot.get_absolute_url()).content.decode()
    assert "submitted, not verified" in page
    assert "Nobody has verified them." in page


def test_submitted_results_are_never_evidence_for_a_release(played: Played):
    submit(played.bundle, by=played.person)

    assert not real_sessions(played.benchmark).exists()
    assert played.cut("1.1").manifest["evidence"]["pilots"] == []


@pytest.mark.slow
def test_whoever_may_release_answers_for_results_and_takes_it_back(played: Played):
    pilot = submit(played.bundle, by=played.person).submission.pilot
    client = Client()
    client.force_login(played.person)
    address = reverse("evaluation:pilot_verified", args=[pilot.pk])

    client.post(address, {"verified": "1"})
    [shown] = compute_results(played.benchmark, [Pilot.objects.get()]).board(ScoringMode.STRICT)
    assert shown.agent.endswith("submitted by rita, verified")
    assert "rita answers for them." in client.get(pilot.get_absolute_url()).content.decode()

    client.post(address, {"verified": "1"})  # says nothing new
    client.post(address, {"verified": "0"})
    verbs = Event.objects.filter(verb__startswith="results_").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["results_submitted", "results_verified", "results_verified"]
    [shown] = compute_results(played.benchmark, [Pilot.objects.get()]).board(ScoringMode.STRICT)
    assert shown.agent.endswith("submitted by rita, not verified")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
def test_who_may_start_no_pilots_may_submit_none(played: Played, role: str):
    with pytest.raises(PermissionDenied):
        submit(played.bundle, by=member(played.benchmark, role))

    assert not Pilot.objects.exists()


def test_only_submitted_pilots_can_be_verified(played: Played):
    pilot = submit(played.bundle, by=played.person).submission.pilot
    Submission.objects.all().delete()

    with pytest.raises(OptionsError, match="Pilot 1 was not submitted"):
        verify(Pilot.objects.get(pk=pilot.pk), by=played.person)


@pytest.mark.slow
def test_scores_written_into_the_file_are_not_read(played: Played):
    def boast(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "grades" in line:
                line["grades"]["strict"]["comp"] = 1.0
            if "turn" in line:
                for intent in line["turn"]["after"]["intents"]:
                    intent["status"] = "completed"
                line["turn"]["taken"]["resolved"] = dict.fromkeys(line["turn"]["taken"]["resolved"], "completed")

    honest = submit(played.bundle, by=played.person).submission.pilot
    boasted = submit(lines_changed(played.bundle, boast), by=played.person).submission.pilot

    assert boasted != honest
    assert boasted.scores["strict"] == honest.scores["strict"]


def test_criterion_that_was_left_out_is_refused_and_named(played: Played):
    def leave_out(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "verdicts" in line:
                line["verdicts"] = [each for each in line["verdicts"] if each["index"] != 2]

    with pytest.raises(OptionsError, match=r"session\.jsonl: criterion 2 of the task is not decided in strict\."):
        submit(lines_changed(played.bundle, leave_out), by=played.person)
    assert not Pilot.objects.exists()


def test_flipped_byte_is_refused_with_the_name_of_its_file(played: Played):
    bundle = bytearray(rewritten(played.bundle, lambda files: None))
    bundle[bundle.index(b"The fee is 30 crowns.")] ^= 1

    with pytest.raises(OptionsError, match=r"^files/[0-9a-f]{64}: This cannot be unpacked: .* Pack"):
        submit(bytes(bundle), by=played.person)


def test_changed_file_is_refused_by_its_hash(played: Played):
    with zipfile.ZipFile(io.BytesIO(played.bundle)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["run.json"] = files["run.json"].replace(b'"runs": 2', b'"runs": 3')
    buffer = io.BytesIO()
    write_archive(sorted(files.items()), buffer)

    with pytest.raises(OptionsError, match=r"run\.json: it was changed since the bundle was made\. Make the bundle"):
        submit(buffer.getvalue(), by=played.person)


def more_runs(bundle: bytes, times: int) -> bytes:
    """Each session so often, as further runs."""

    def repeat(files: dict[str, bytes]) -> None:
        run = json.loads(files["run.json"])
        run["runs"] *= times
        for planned in list(run["sessions"]):
            for at in range(1, times):
                number = planned["run"] + at * run["runs"] // times
                folder = planned["folder"].replace(f"run-{planned['run']}", f"run-{number}")
                run["sessions"].append({**planned, "run": number, "folder": folder})
                files[f"{folder}/session.jsonl"] = files[f"{planned['folder']}/session.jsonl"]
        files["run.json"] = json.dumps(run).encode()

    return rewritten(bundle, repeat)


def test_more_sessions_take_no_more_statements_than_their_runs(played: Played):
    taken, sessions = [], []
    for times in (1, 5):
        bundle = more_runs(played.bundle, times)
        with CaptureQueriesContext(connection) as queries:
            pilot = submit(bundle, by=played.person).submission.pilot
        taken.append(len(queries))
        sessions.append(Session.objects.filter(run__pilot=pilot).count())

    assert sessions == [8, 40]
    assert taken[1] - taken[0] <= Run.objects.count()


def test_same_results_compressed_otherwise_are_known(played: Played):
    first = submit(played.bundle, by=played.person)
    stored = rewritten(played.bundle, lambda files: None)
    assert len(stored) > len(played.bundle)

    assert submit(stored, by=played.person).submission == first.submission
    assert Pilot.objects.count() == 1


def test_bundle_that_is_too_large_says_what_to_do(played: Played, settings: Any):
    settings.UPLOAD_MAX_BYTES = 100

    with pytest.raises(OptionsError, match=r"the limit is 100\. Hand in less at once, such as one run"):
        submit(played.bundle, by=played.person)


def test_results_of_another_release_are_refused_with_its_name(played: Played):
    other = played.cut("1.1")

    with pytest.raises(OptionsError, match=r"are not of Bench 1\.1, but of Bench 1\.0: import them there"):
        submit(played.bundle, by=played.person, release=other)


def test_results_of_a_pack_that_is_no_release_here_are_refused(played: Played):
    stranger = User.objects.create_user("sam", password="a long password")

    with pytest.raises(OptionsError, match=r"whose pack .* is no release here"):
        submit(played.bundle, by=stranger)


@pytest.mark.slow
def test_unpacked_release_is_known_by_its_list_of_hashes(played: Played, tmp_path: Path):
    with zipfile.ZipFile(played.folder / "pack.zip") as archive:
        archive.extractall(tmp_path / "pack")
    words = ["run", str(tmp_path / "pack"), "--model", "scripted:helpful", "--out", str(tmp_path / "trial")]
    assert main(words) == 0
    assert main(["bundle", str(tmp_path / "trial"), "--out", str(tmp_path / "trial.zip")]) == 0

    pilot = submit((tmp_path / "trial.zip").read_bytes(), by=played.person).submission.pilot

    assert pilot.scripted


@pytest.mark.slow
def test_page_imports_a_bundle_and_says_what_is_wrong_with_another(played: Played):
    client = Client()
    client.force_login(played.person)
    address = reverse("evaluation:release_results", args=[played.release.pk])

    wrong = client.post(address, {"bundle": SimpleUploadedFile("b.zip", b"PK no zip")}).content.decode()
    done = client.post(address, {"bundle": SimpleUploadedFile("b.zip", played.bundle)}, follow=True)

    assert "This zip file is damaged." in wrong
    nothing = client.post(address, {"bundle": SimpleUploadedFile("b.zip", b"")}).content.decode()
    assert "This file is empty. Make the bundle again with “pibench bundle”." in nothing
    assert "Imported as pilot 1, not verified." in done.content.decode()
    again = client.post(address, {"bundle": SimpleUploadedFile("b.zip", played.bundle)}, follow=True)
    assert "These results are here already, as pilot 1." in again.content.decode()
    assert "submitted by rita, not verified" in client.get(address).content.decode()


def test_sessions_that_were_not_finished_count_in_nothing(played: Played):
    def stop(files: dict[str, bytes]) -> None:
        name = session_of(files, "c")
        files[name] = files[name].splitlines(keepends=True)[0]

    pilot = submit(rewritten(played.bundle, stop), by=played.person).submission.pilot

    stopped = Session.objects.of(pilot).get(run__number=1, revision__task__task_id="c")
    assert (stopped.ended_at, stopped.comp_strict, stopped.reason) == (
        None,
        None,
        "It was not finished when it was submitted.",
    )


@pytest.mark.slow
def test_submitted_pilot_offers_no_step_and_is_not_retried(played: Played):
    pilot = submit(played.bundle, by=played.person).submission.pilot

    assert possible_actions(pilot, stopped=2, failed=2) == frozenset()
    with pytest.raises(ControlError, match="was not played here"):
        control_pilot(pilot.pk, "retry", by=None, everything=True)


@pytest.mark.slow
def test_submitted_sessions_are_judged_again_like_others(played: Played):
    pilot = submit(played.bundle, by=played.person).submission.pilot
    at_stub = {"base_url": played.stub.base_url, "key_env": "STUB_API_KEY", "scripted": False}
    judge = endpoint("second", model="stub-model", **at_stub)

    again = start_rejudging(plan_rejudging(pilot, RejudgingOptions(judge=judge.name)), by=played.person)
    for judging in again.judgings.all():
        work_on(judging.pk)

    assert set(again.judgings.values_list("state", flat=True)) == {"finished"}
    decided = [
        set(each.judgings.values_list("session", "scoring", "verdicts__turn", "verdicts__index", "verdicts__met"))
        for each in pilot.rounds.all()
    ]
    assert decided[0] == decided[1]


def deep(lines: list[dict[str, Any]]) -> None:
    value: Any = 1
    for _ in range(900):
        value = [value]
    lines[0]["turn"]["taken"]["reply"]["tool_calls"][0]["arguments"] = {"a": value}


def traversing(lines: list[dict[str, Any]]) -> None:
    manifest = lines[0]["turn"]["files"]
    manifest["../../out"] = next(iter(manifest.values()))


def foreign(lines: list[dict[str, Any]]) -> None:
    [sha256] = Blob.objects.store([b"of another benchmark"])
    lines[0]["turn"]["files"]["mine.md"] = sha256


def twice(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["decided"] *= 2


def skipping(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["taken"]["number"] = 7


def unknown_intent(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["decided"][0]["index"] = 99


def unknown_event(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["taken"]["message"] = {"kind": "nonsense", "payload": {}, "note": ""}


def endless(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["seconds"] = "Infinity"


def unknown_ending(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if "end" in line)["end"]["ending"] = "won"


def no_text(lines: list[dict[str, Any]]) -> None:
    lines[0]["turn"]["taken"]["reply"]["text"] = {"no": "text"}


def huge_use(lines: list[dict[str, Any]]) -> None:
    lines[-1]["used"]["agent"]["tokens"] = 10**30


def countless_model_calls(lines: list[dict[str, Any]]) -> None:
    lines[-1]["used"]["agent"]["calls"] = 2**31 - 1  # six such purposes fit no column


def countless_tool_calls(lines: list[dict[str, Any]]) -> None:
    reply = lines[0]["turn"]["taken"]["reply"]
    reply["tool_calls"] = reply["tool_calls"][:1] * 1_001


def list_of_mode(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if "verdicts" in line)["mode"] = ["strict"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (deep, "line 1: it is nested more than 50 deep"),
        (traversing, "line 1: its file '../../out' cannot be kept"),
        (foreign, "line 1: the content of its file “mine.md” is not in the bundle"),
        (twice, "line 1: something is decided twice"),
        (skipping, "line 1: turn 7 cannot follow turn 0"),
        (unknown_intent, "line 1: the task has no intent 99"),
        (unknown_event, "line 1: it is no line of a session"),
        (endless, "line 1: its seconds or tokens are no such numbers"),
        (unknown_ending, "it ended as 'won', which is no ending"),
        (no_text, "line 1: it is no line of a session"),
        (huge_use, "it is no line of a session"),
        (countless_model_calls, "it is no line of a session"),
        (countless_tool_calls, "line 1: its tool calls are too many"),
        (list_of_mode, "it is no line of a session"),
    ],
)
def test_hostile_line_is_refused_with_its_place_and_stores_nothing(
    played: Played, change: Callable[[list[dict[str, Any]]], None], problem: str
):
    with pytest.raises(OptionsError) as refused:
        submit(lines_changed(played.bundle, change), by=played.person)

    assert problem in refused.value.message
    assert not Pilot.objects.exists()


def run_changed(**fields: Any) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files["run.json"] = json.dumps(json.loads(files["run.json"]) | fields).encode()

    return change


def doubled(files: dict[str, bytes]) -> None:
    run = json.loads(files["run.json"])
    run["sessions"] *= 2
    files["run.json"] = json.dumps(run).encode()


def unlisted(files: dict[str, bytes]) -> None:
    files["sessions/other/session.jsonl"] = b""


def misnamed(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("files/"))
    files[name] += b"!"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (run_changed(results_version=9), "run.json: results_version: Input should be 1"),
        (run_changed(protocol="own"), "run.json: protocol:"),
        (run_changed(agent_loop=99), "run.json: agent_loop: this studio knows loops up to 2. Update the studio."),
        (run_changed(runs=10**9), "run.json: runs:"),
        (run_changed(sessions=[]), "run.json: sessions:"),
        (run_changed(pack={"name": "x", "version": "1", "sha256": "no"}), "run.json: pack.sha256:"),
        (doubled, "stands there twice"),
        (unlisted, "sessions/other/session.jsonl: this belongs to no session"),
        (misnamed, ": its sha256 is "),
    ],
)
def test_hostile_bundle_is_refused_with_its_file(
    played: Played, change: Callable[[dict[str, bytes]], None], problem: str
):
    with pytest.raises(OptionsError) as refused:
        submit(rewritten(played.bundle, change), by=played.person)

    assert problem in refused.value.message
    assert not Pilot.objects.exists()
