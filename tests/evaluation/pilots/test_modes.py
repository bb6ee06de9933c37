"""Pilots in each mode: their chains, where these start, and what counts."""

from __future__ import annotations

import json
import zipfile

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.judging.judged import correct_verdict
from evaluation.models import Pilot, Run, Session, Snapshot, Verdict
from evaluation.pilots.matrix import saved_by_taking_over
from evaluation.pilots.queue import leasable
from evaluation.protocol.scoring import ScoringMode
from evaluation.releases.evidence import real_sessions
from evaluation.results.benchmark_results import choose_pilots, compute_results, rankable
from evaluation.results.eee import eee_zip
from evaluation.results.pilot_report import pilot_report
from evaluation.results.scores import read_scores
from evaluation.store.snapshots import apps_before, snapshot_before
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_task
from studio.episodes.moves import Move, make_move
from studio.models import Benchmark, Task
from studio.tasks.save import save_task
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.factories import person, resolve_intent, turn, verdict
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel

pytestmark = pytest.mark.django_db


def four_tasks() -> Benchmark:
    """d builds on a; b and c stand alone between them."""
    return benchmark_of(
        task("a"),
        task("b", checklist=(rubric("x"),)),
        task("c", checklist=(rubric("x"),)),
        task("d", "a", checklist=(rubric("x"),)),
    )


def chains(pilot: Pilot) -> list[tuple[int, str, str]]:
    rows = Run.objects.filter(pilot=pilot).order_by("number", "chain")
    return [
        (run.number, run.arm, "".join(row.revision.spec["task_id"] for row in run.sessions.order_by("position")))
        for run in rows
    ]


def end(pilot: Pilot, covered: int = 1, met: bool = True, alone: int = 1) -> Pilot:
    """As if it had run: each session left its task's name in the workspace."""
    files: dict[int, dict[str, bytes]] = {}
    now = timezone.now()
    for session in Session.objects.filter(run__pilot=pilot).order_by("run", "position"):
        name = session.revision.spec["task_id"]
        if session.run_id not in files:
            files[session.run_id] = dict.fromkeys(session.run.start.manifest, b"") if session.run.start else {}
        files[session.run_id] |= {f"{name}.txt": name.encode()}
        turn(session, 1, files=files[session.run_id])
        for mode in ("compat", "strict"):
            if session.revision.spec["checklist"]:
                verdict(session, scoring=mode, met=met)
        for index in (1, 2):
            known = alone if session.run.arm == "without" else covered
            resolve_intent(session, index, "completed" if index <= known else "provided", 1)
        Session.objects.filter(pk=session.pk).update(
            state="finished", ended_at=now, graded_strict_at=now, graded_compat_at=now, calls=5, cost="0.25"
        )
    Pilot.objects.filter(pk=pilot.pk).update(state="finished", finished_at=now)
    pilot.refresh_from_db()
    return pilot


def edit(benchmark: Benchmark, name: str) -> None:
    row = Task.objects.get(persona__benchmark=benchmark, task_id=name)
    save_task(row.pk, load_task(row).model_copy(update={"initial_request": "Anew, please."}), by=None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [(1, "", "abcd")]),
        ({"mode": "groups", "runs": 2}, [(k, "", group) for k in (1, 2) for group in ("ad", "b", "c")]),
        ({"mode": "task", "tasks": ["d"]}, [(1, "", "ad")]),
        ({"mode": "ablation"}, [(1, "with", "ad"), (1, "without", "d")]),
    ],
)
def test_each_mode_runs_its_chains(options, expected):
    pilot = pilot_of(four_tasks(), **options)

    assert chains(pilot) == expected
    assert pilot.mode == options.get("mode", "episode")


def test_chains_of_one_run_are_due_side_by_side():
    pilot = pilot_of(four_tasks(), mode="groups")
    names = leasable().values_list("revision__spec__task_id", flat=True)
    assert sorted(names) == ["a", "b", "c"]
    assert pilot.runs.count() == 3


@pytest.mark.slow
@pytest.mark.usefixtures("quick_retries", "stub_key")
def test_groups_share_no_workspace_and_tasks_of_a_group_do(stub: StubModel):
    def write(body: dict) -> str | dict:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return "Done."
        arguments = json.dumps({"path": f"{last['content']}.txt", "content": "x"})
        call = {"id": "1", "type": "function", "function": {"name": "write_file", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    stub.agent = write
    model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    told = {"intents": intents("x", provided=(1,))}
    made = benchmark_of(
        task("a", initial_request="a", **told), task("b", initial_request="b", **told),
        task("d", "a", initial_request="d", checklist=(rubric("x"),), **told),
    )  # fmt: skip
    pilot = work_through(pilot_of(made, agent=model, user_model=model, judge=model, mode="groups"))

    assert pilot.state == "finished"
    files = {
        session.revision.spec["task_id"]: sorted(session.turns.get().snapshot.manifest)
        for session in Session.objects.filter(run__pilot=pilot)
    }
    assert files == {"a": ["a.txt"], "b": ["b.txt"], "d": ["a.txt", "d.txt"]}


def test_sessions_without_earlier_ones_count_in_no_score_and_are_no_evidence():
    pilot = end(pilot_of(four_tasks(), mode="ablation"), alone=2)
    alone = Session.objects.get(run__pilot=pilot, run__arm="without")
    Pilot.objects.filter(pk=pilot.pk).update(scripted=False)
    pilot.refresh_from_db()

    scores = read_scores(pilot)
    assert scores is not None
    assert (scores["strict"]["n"], scores["strict"]["proc"]) == (1, 0.5)
    row = scores["ablation"]["strict"]["proc"]
    assert (row["with"], row["without"], row["difference"], row["n"]) == (0.5, 1.0, -0.5, 1)
    assert row["tasks"][0]["sessions_without"] == [alone.pk]
    assert alone.pk not in real_sessions(pilot.benchmark).values_list("pk", flat=True)
    assert len(compute_results(pilot.benchmark, [pilot]).scored) == 1


def test_a_leaderboard_never_mixes_modes():
    made = four_tasks()
    episode, groups = end(pilot_of(made)), end(pilot_of(made, mode="groups"), covered=2)

    assert choose_pilots(made, [episode, groups]) == [episode]
    both = compute_results(made, choose_pilots(made, [episode, groups], [1, 2]))
    assert [row.agent for row in both.board(ScoringMode.STRICT)] == ["scripted-helpful · groups", "scripted-helpful"]
    assert [row.agent for row in compute_results(made, choose_pilots(made, [groups])).board(ScoringMode.STRICT)] == [
        "scripted-helpful · groups"
    ]


class TestChanged:
    @pytest.mark.slow
    def test_only_what_an_edit_touches_runs_again_from_the_state_before_it(self):
        made = four_tasks()
        base = end(pilot_of(made, runs=2))
        edit(made, "d")
        pilot = pilot_of(made, mode="changed", base=base)

        assert chains(pilot) == [(1, "", "d"), (2, "", "d")]
        session = Session.objects.filter(run__pilot=pilot).first()
        found = snapshot_before(session)
        assert found.run.pilot == base
        assert sorted(found.manifest) == ["a.txt", "b.txt", "c.txt"]
        saved = saved_by_taking_over(pilot)
        assert (saved.sessions, saved.calls, saved.cost) == (6, 30, 1.5)

    @pytest.mark.slow
    def test_pilots_that_took_over_what_the_other_ran_again_are_ranked_together(self):
        made = four_tasks()
        base = end(pilot_of(made))
        edit(made, "b")
        first = end(pilot_of(made, mode="changed", base=base))
        edit(made, "c")
        second = end(pilot_of(made, mode="changed", base=base))
        assert chains(first) != chains(second)

        assert rankable([first, second]) == [first, second]

    @pytest.mark.slow
    @pytest.mark.parametrize("edited", ["c", "cd"])
    def test_what_starts_from_a_state_that_a_held_out_task_left_is_told_to_nobody(self, edited: str):
        made = four_tasks()
        base = end(pilot_of(made))
        held = Task.objects.get(persona__benchmark=made, task_id="b")
        make_move(held.persona_id, Move("split", (held.task_id,), split="held_out"), by=person(made, "owner"))
        for name in edited:
            edit(made, name)
        changed = end(pilot_of(made, mode="changed", base=base))

        with eee_zip(compute_results(made, [changed])) as exported, zipfile.ZipFile(exported) as archive:
            lines = [line for name in archive.namelist() for line in archive.read(name).splitlines()]
        told = {json.loads(line)["metadata"]["task"] for line in lines if b'"sample_id"' in line}
        assert told <= {"a"}

    def test_only_tasks_of_the_base_are_looked_at(self):
        made = four_tasks()
        base = end(pilot_of(made, tasks=["b", "c"]))
        edit(made, "c")
        edit(made, "d")
        pilot = pilot_of(made, mode="changed", base=base)

        assert chains(pilot) == [(1, "", "c")]
        assert pilot.taken_sessions.count() == 1

    def test_what_depends_on_the_edited_task_runs_again_too(self):
        made = four_tasks()
        base = end(pilot_of(made))
        edit(made, "a")
        pilot = pilot_of(made, mode="changed", base=base)

        assert chains(pilot) == [(1, "", "ad")]
        assert pilot.runs.get().start is None

    @pytest.mark.slow
    def test_scores_are_those_of_all_its_sessions_and_follow_corrections_of_those_taken_over(self):
        made = four_tasks()
        base = end(pilot_of(made), met=False)
        edit(made, "d")
        pilot = end(pilot_of(made, mode="changed", base=base))

        scores = read_scores(pilot)
        assert (scores["strict"]["n"], scores["strict"]["proc"]) == (3, 0.5)
        assert scores["strict"]["comp"] == 0.5  # d weighs as much as b and c together
        report = pilot_report(pilot)
        assert [(row["task"], row["taken_from"]) for row in report["sessions"]] == [
            ("a", 1), ("b", 1), ("c", 1), ("d", None),
        ]  # fmt: skip
        assert scores["cost"] == "0.250000"
        board = compute_results(made, [base, pilot]).board(ScoringMode.STRICT)
        assert {row.agent: row.scores["comp"].mean for row in board} == {
            "scripted-helpful": 0.0,
            "scripted-helpful · changed": 0.5,
        }

        session = Session.objects.get(run__pilot=base, revision__task__task_id="b")
        for row in Verdict.objects.filter(judging__session=session, kind="checklist"):
            correct_verdict(row, True, by=None)
        assert read_scores(Pilot.objects.get(pk=pilot.pk))["strict"]["comp"] == 0.75

    @pytest.mark.slow
    def test_a_pilot_of_changed_tasks_can_be_taken_over_in_turn(self):
        made = four_tasks()
        base = end(pilot_of(made))
        edit(made, "d")
        second = end(pilot_of(made, mode="changed", base=base))
        edit(made, "b")
        third = pilot_of(made, mode="changed", base=second)

        assert chains(third) == [(1, "", "b")]
        assert sorted(row.run.pilot.number for row in third.taken_sessions.all()) == [1, 1, 2]

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({}, "tasks"),
            ({"base": None}, "base"),
            ({"agent": "scripted-lazy", "edited": True}, "agent"),
            ({"state": "running", "edited": True}, "base"),
            ({"ablated": True, "edited": True}, "base"),
            ({"mode": "episode"}, "base"),
        ],
    )
    def test_it_says_why_it_cannot_start(self, change, field):
        made = four_tasks()
        base = end(pilot_of(made, mode="ablation" if change.get("ablated") else "episode"))
        if change.get("edited"):
            edit(made, "d")
        if state := change.get("state"):
            Pilot.objects.filter(pk=base.pk).update(state=state)
        options = {"mode": "changed", "base": base} | {
            key: value for key, value in change.items() if key in ("base", "mode")
        }
        if agent := change.get("agent"):
            options["agent"] = endpoint(agent)
        with pytest.raises(OptionsError) as error:
            pilot_of(made, **options)
        assert error.value.field == field

    @pytest.mark.slow
    def test_page_and_estimate_say_what_is_taken_over(self, client: Client):
        made = four_tasks()
        base = end(pilot_of(made))
        edit(made, "d")
        pilot = end(pilot_of(made, mode="changed", base=base))
        client.force_login(person(made, "owner"))

        page = client.get(pilot.get_absolute_url()).content.decode()
        assert "taken over from" in page
        assert "from pilot 1" in page
        edit(made, "c")
        asked = {"agent": base.agent.name, "runs": 1, "mode": "changed", "base": pilot.number}
        address = f"/benchmarks/{made.slug}/pilots/estimate/"
        assert "3 sessions taken over at no cost" in client.get(address, asked).content.decode()
        assert "exactly one task" in client.get(address, asked | {"mode": "task"}).content.decode()


def test_pages_of_an_ablation_show_its_pairs(client: Client):
    pilot = end(pilot_of(four_tasks(), mode="ablation"))
    client.force_login(person(pilot.benchmark, "owner"))

    page = client.get(pilot.get_absolute_url()).content.decode()
    assert "With and without earlier sessions" in page
    assert "without earlier sessions</span>" in page


def test_a_chain_starts_with_the_apps_of_its_snapshot():
    session = Session.objects.filter(run__pilot=pilot_of(four_tasks(), mode="groups")).first()
    session.run.start = Snapshot.objects.create(run=session.run, sha256="1" * 64, apps={"gmail": "0" * 64})

    persona = PersonaSpec(user_id="x", tools=("gmail__send_email",))
    assert apps_before(session, persona)["gmail"] == "0" * 64
