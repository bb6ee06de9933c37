"""Output folders of the public π-Bench release become pilots, with their verdicts as they came, or nothing does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.models import ModelEndpoint, Pilot, Session, SessionIntent
from evaluation.pilots.outputs.importing import import_outputs
from evaluation.pilots.outputs.reading import OutputError
from evaluation.releases.evidence import real_sessions
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.factories import member

pytestmark = pytest.mark.django_db
WHEN = "20260512_101500"


@pytest.fixture
def benchmark() -> Benchmark:
    """b builds on a, which has nothing to score."""
    return benchmark_of(task("a"), task("b", "a", checklist=(rubric("x", 3.0), rubric("y"))))


def criteria(first: int, second: int) -> list[dict[str, Any]]:
    return [
        {"index": 1, "criterion": "x", "weight": 3.0, "score": "YES", "value": first, "weighted_value": 3.0 * first},
        {"index": 2, "criterion": "y", "weight": 1, "score": "NO", "value": second, "weighted_value": second},
    ]


def result(user: str, name: str, turns: list[dict[str, Any]], scored: list[list[int]] | None = None) -> dict[str, Any]:
    """As the release's result_writer writes it; ``scored``: the two criteria, turn by turn."""
    checklist = scored and {
        "criterion_scores": criteria(*(max(column) for column in zip(*scored, strict=True))),
        "turn_evaluations": [
            {"turn_index": at, "criterion_scores": criteria(*values), "llm_evaluation": {"prompt": "…"}}
            for at, values in enumerate(scored, start=1)
        ],
    }
    return {
        "user_id": user,
        "agent_id": "gpt-5.4",
        "generated_at": "2026-05-12T10:15:00",
        "overall_average_score": 0.75,
        "task": {
            "task_id": name,
            "title": "",
            "checklist": checklist,
            "proactiveness": {"task_id": name, "total_hidden_intent_count": 2, "intent_judge_turns": turns},
        },
    }


def turn(number: int, inferred: list[int], matched: list[int]) -> dict[str, Any]:
    return {"assistant_turn_index": number, "inferred_indexes": inferred, "matched_indexes": matched}


def write(folder: Path, model: str, user: str, name: str, content: dict[str, Any], when: str = WHEN) -> Path:
    path = folder / model / user / name / "eval" / "results" / f"{when}_result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def outputs(benchmark: Benchmark, tmp_path: Path) -> Path:
    """Two runs of one model: in the second, b is worse."""
    user = benchmark.personas.get().user_id
    for model, b_turns, scored in (
        ("gpt-5.4__run01", [turn(1, [1], []), turn(2, [], [2])], [[0, 0], [1, 0]]),
        ("gpt-5.4__run02", [turn(1, [], []), turn(2, [], [])], [[0, 0], [0, 1]]),
    ):
        write(tmp_path, model, user, "a", result(user, "a", [turn(1, [1, 2], [])]))
        write(tmp_path, model, user, "b", {"older": "and broken"}, when="20260511_101500")
        path = write(tmp_path, model, user, "b", result(user, "b", b_turns, scored))
        log = path.parents[1] / "trace_logs" / WHEN
        log.mkdir(parents=True)
        for at, said in enumerate(("Please write the note b.", "Mention the fee."), start=1):
            step = {"name": "write_file", "arguments": {"path": "b.md\0"}, "result": "ok\0"}
            (log / f"turn_{at}.json").write_text(
                json.dumps({"input": said, "output": f"Reply {at}.", "tool_steps": [step], "messages": []})
            )
    return tmp_path


def test_outputs_become_a_pilot_with_the_scores_of_the_release(benchmark: Benchmark, outputs: Path):
    (pilot,) = import_outputs(benchmark, outputs, by=None, judge="gpt-4.1")
    assert (pilot.agent_name, pilot.runs_wanted, pilot.state) == ("gpt-5.4 (imported)", 2, "finished")
    compat = pilot.scores["compat"]
    # run 1: Proc (2 + 2) / 4, Comp 3/4; run 2: Proc (0 + 2) / 4, Comp 1/4
    assert [(run["proc"], run["comp"]) for run in compat["runs"]] == [(1.0, 0.75), (0.5, 0.25)]
    assert pilot.scores["strict"]["proc"] == 0.75 and pilot.scores["strict"]["comp"] is None
    second = Session.objects.get(run__number=2, revision__task__task_id="b")
    assert list(SessionIntent.objects.filter(session=second).values_list("status", "turn")) == [
        ("provided", 1),
        ("provided", 2),
    ]
    first = Session.objects.get(run__number=1, revision__task__task_id="b")
    assert [row.reply for row in first.turns.all()] == ["Reply 1.", "Reply 2."]
    call = first.turns.get(number=1).tool_calls.get()
    assert (call.name, call.arguments, call.result) == ("write_file", {"path": "b.md"}, "ok")
    assert pilot.judge_name == "gpt-4.1"


@pytest.mark.slow
def test_imported_pilots_are_labelled_in_results_and_are_no_evidence(
    benchmark: Benchmark, outputs: Path, client: Client
):
    (pilot,) = import_outputs(benchmark, outputs, by=None)
    client.force_login(member(benchmark, "author"))
    board = client.get(f"/benchmarks/{benchmark.slug}/results/?scoring=compat").content.decode()
    assert "gpt-5.4 (imported)" in board
    assert "never evidence" in client.get(pilot.get_absolute_url()).content.decode()
    session = Session.objects.get(run__number=1, revision__task__task_id="b")
    assert "Reply 2." in client.get(session.get_absolute_url()).content.decode()
    assert not real_sessions(benchmark).exists()
    assert not ModelEndpoint.objects.usable_in(benchmark).filter(model="gpt-5.4").exists()


def test_command_imports_once_and_says_what_came(benchmark: Benchmark, outputs: Path, capsys):
    call_command("import_results", "--benchmark", benchmark.slug, "--json", str(outputs))
    assert json.loads(capsys.readouterr().out)["pilots"] == [{"number": 1, "agent": "gpt-5.4 (imported)", "runs": 2}]
    with pytest.raises(SystemExit) as exit:
        call_command("import_results", "--benchmark", benchmark.slug, "--json", str(outputs))
    (problem,) = json.loads(capsys.readouterr().out)["errors"]
    assert exit.value.code == 1 and "already here: Pilot 1" in problem["message"]
    assert Pilot.objects.count() == 1


def broken(content: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    *way, last = path.split(".")
    place: Any = content
    for part in way:
        place = place[int(part) if part.isdigit() else part]
    place[int(last) if last.isdigit() else last] = value
    return content


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task.proactiveness.total_hidden_intent_count", 3),
        ("task.proactiveness.intent_judge_turns.0.inferred_indexes", [7]),
        ("task.proactiveness.intent_judge_turns.0.matched_indexes", ["1"]),
        ("task.proactiveness", None),
        ("task.checklist", None),
        ("task.checklist.criterion_scores.0.criterion", "z"),
        ("task.checklist.criterion_scores.0.weight", 1),
        ("task.checklist.criterion_scores.0.value", 2),
        ("task.checklist.turn_evaluations.0.criterion_scores", []),
        ("task.task_id", "../b"),
        ("user_id", "somebody"),
    ],
)
def test_what_does_not_fit_names_file_and_field_and_nothing_is_imported(
    benchmark: Benchmark, outputs: Path, field: str, value: object
):
    user = benchmark.personas.get().user_id
    content = result(user, "b", [turn(1, [1], [2])], [[1, 1]])
    path = write(outputs, "gpt-5.4__run02", user, "b", broken(content, field, value), when="20260513_000000")
    with pytest.raises(OutputError) as problem:
        import_outputs(benchmark, outputs, by=None)
    named = problem.value.field
    assert problem.value.file == str(path.relative_to(outputs)) and (named.startswith(field) or field in named)
    assert not Pilot.objects.exists() and not ModelEndpoint.objects.filter(model="gpt-5.4").exists()


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"user_id": NaN}', "\0"])
def test_hostile_files_are_refused_by_name(benchmark: Benchmark, outputs: Path, text: str):
    user = benchmark.personas.get().user_id
    path = outputs / "gpt-5.4__run01" / user / "a" / "eval" / "results" / f"{WHEN}_result.json"
    path.write_text(text)
    with pytest.raises(OutputError, match=f"{WHEN}_result.json"):
        import_outputs(benchmark, outputs, by=None)


def test_link_out_of_the_folder_is_refused(benchmark: Benchmark, outputs: Path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.json"
    secret.write_text("{}")
    user = benchmark.personas.get().user_id
    link = outputs / "gpt-5.4__run01" / user / "a" / "eval" / "results" / "20260601_000000_result.json"
    link.symlink_to(secret)
    with pytest.raises(OutputError, match="leads out of the folder"):
        import_outputs(benchmark, outputs, by=None)


def test_unknown_tasks_and_empty_folders_are_named(benchmark: Benchmark, tmp_path: Path):
    with pytest.raises(OutputError, match="no results are in it"):
        import_outputs(benchmark, tmp_path, by=None)
    user = benchmark.personas.get().user_id
    write(tmp_path, "m", user, "zzz", result(user, "zzz", [turn(1, [1], [])]))
    with pytest.raises(OutputError, match="has no task “zzz” here"):
        import_outputs(benchmark, tmp_path, by=None)
    write(tmp_path / "other", "m", "nobody", "a", result("nobody", "a", [turn(1, [1], [])]))
    with pytest.raises(OutputError, match="no persona “nobody”"):
        import_outputs(benchmark, tmp_path / "other" / "m", by=None)
