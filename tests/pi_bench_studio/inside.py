"""Run by `test_inspect.py` in an environment that has Inspect and the wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

from evaluation.llm.completion import read_answer
from evaluation.runner.command import main
from evaluation.runner.errors import PibenchError
from pi_bench_studio.model import completion_of, messages_of, tool_of
from pi_bench_studio.task import pack
from tests.evaluation.stub_model import StubModel, decisions, serving

PACK = Path(os.environ["PACK"])
WRITTEN = {"path": "out.md", "content": "The fee is 30 crowns."}


TOO_LONG = "The conversation is too long."


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """A request as every service is sent it, whatever a client makes of it."""
    messages = []
    for message in body["messages"]:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        messages.append({"role": message["role"].replace("developer", "system"), "content": text})
    return {"messages": messages}


@pytest.fixture
def stub() -> Iterator[StubModel]:
    """Each request has one answer, which is as good as any."""

    def chance(body: dict[str, Any], index: int) -> bool:
        return zlib.crc32(f"{json.dumps(plain(body))}{index}".encode()) % 2 == 0

    def judge(body: dict[str, Any]) -> str:
        return decisions(plain(body), lambda index: chance(body, index))

    model = StubModel()
    call = {"id": "1", "type": "function", "function": {"name": "write_file", "arguments": json.dumps(WRITTEN)}}
    written = {"role": "assistant", "content": None, "tool_calls": [call]}
    model.agent = lambda body: written if len(body["messages"]) == 2 else "Done."
    model.satisfaction = model.follow_up = model.checklist = judge
    with serving(model):
        yield model


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, stub: StubModel, tmp_path: Path) -> None:
    monkeypatch.setenv("STUB_API_KEY", "sk-test")
    monkeypatch.setenv("STUB_BASE_URL", stub.base_url)
    monkeypatch.chdir(tmp_path)


def by_pibench(stub: StubModel, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    seats = [word for seat in ("--model", "--user", "--judge") for word in (seat, f"openai:m@{stub.base_url}")]
    assert main(["run", str(PACK), *seats, "--key-env", "STUB_API_KEY", "--out", "out", "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def mock(stub: StubModel) -> Model:
    """Answers as the stub, without HTTP."""

    def answer(messages: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        said = stub.answer({"messages": [{"role": each.role, "content": each.text} for each in messages]})
        if said == TOO_LONG:
            output = ModelOutput.from_content("m", "", stop_reason="model_length")
        elif isinstance(said, dict):
            output = ModelOutput.for_tool_call("m", "write_file", WRITTEN)
        else:
            output = ModelOutput.from_content("m", str(said))
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def by_inspect(stub: StubModel, **options: Any) -> EvalLog:
    model = mock(stub)
    roles = options.pop("model_roles", {"user": model, "judge": model})
    [log] = evaluate(
        "pi_bench_studio/pack",
        task_args={"path": str(PACK), **options.pop("task_args", {})},
        model=model,
        model_roles=roles,
        log_dir="logs",
        display="none",
        **options,
    )
    return log


def scores_of(log: EvalLog) -> dict[str, Any]:
    assert log.status == "success" and log.results is not None, log.error
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def sample_of(log: EvalLog, persona: str) -> EvalSample:
    assert log.samples is not None
    return next(sample for sample in log.samples if sample.id == persona)


def compare(log: EvalLog, report: dict[str, Any]) -> None:
    told = report["scores"]["strict"]
    assert scores_of(log) == {metric: pytest.approx(told[metric]["mean"], abs=1e-15) for metric in ("proc", "comp")}
    assert 0 < told["proc"]["mean"] < 1 and 0 < told["comp"]["mean"] < 1
    for name, scores in told["personas"].items():
        sample = sample_of(log, name)
        [score] = (sample.scores or {}).values()
        assert score.value == {metric: scores[metric]["mean"] for metric in ("proc", "comp")}
        assert log.results is not None
        for found in log.results.scores:
            mean = pytest.approx(scores[found.name]["mean"], abs=1e-15)
            assert found.metrics[f"grouped_{name}"].value == mean
        own = [each for each in report["sessions"] if each["persona"] == name and not each["setup"]]
        assert [
            (row["task"], row["proc"], row["comp"], row["turns"]) for row in (score.metadata or {})["sessions"]
        ] == [(each["task"], each["proc"], each["comp"]["strict"], each["turns"]) for each in own]


def test_scores_equal_those_of_pibench_run_for_the_same_answers(
    stub: StubModel, capsys: pytest.CaptureFixture[str]
) -> None:
    report = by_pibench(stub, capsys)
    asked = stub.asked.copy()
    stub.asked.clear()

    log = by_inspect(stub)

    compare(log, report)
    assert stub.asked == asked


def test_command_of_a_packs_readme_gives_the_same_scores_over_http(
    stub: StubModel, capsys: pytest.CaptureFixture[str]
) -> None:
    words = os.environ["COMMAND"].replace("openai/NAME", "openai-api/stub/m").split()
    command = [str(Path(sys.executable).with_name(words[0])), *words[1:], "--display", "none", "--log-dir", "logs"]
    subprocess.run(command, check=True)

    [info] = list_eval_logs("logs")
    compare(read_eval_log(info), by_pibench(stub, capsys))


def test_log_shows_conversations_calls_and_verdicts_by_session(stub: StubModel) -> None:
    log = by_inspect(stub)
    sample = sample_of(log, "clerk")

    spans = [event.name for event in sample.events if event.event == "span_begin" and event.type == "session"]
    told = {event.source: event.data for event in sample.events if event.event == "info"}
    assert spans == ["a", "b", "c"] == list(told)
    events = [event.event for each in log.samples or () for event in each.events]
    assert events.count("model") == sum(stub.asked.values())
    assert [message.role for message in sample.messages[:2]] == ["user", "assistant"]
    assert told["b"]["state"] == "finished"
    assert [row["criterion"] for row in told["b"]["checklist"]][:2] == ["x", "y"]
    assert {row["status"] for row in told["b"]["intents"]} <= {"completed", "inferred", "provided"}


def test_epochs_are_runs(stub: StubModel) -> None:
    log = by_inspect(stub, epochs=2)

    assert sorted((sample.id, sample.epoch) for sample in log.samples or ()) == [
        ("clerk", 1), ("clerk", 2), ("cook", 1), ("cook", 2),
    ]  # fmt: skip


def test_what_a_limit_cuts_off_counts_as_failed(stub: StubModel) -> None:
    whole, limited = by_inspect(stub), by_inspect(stub, token_limit=12 * 9)

    sample = sample_of(limited, "clerk")
    assert sample.limit is not None and sample.limit.type == "token"
    [score] = (sample.scores or {}).values()
    rows = {row["task"]: row for row in (score.metadata or {})["sessions"]}
    assert (rows["c"]["proc"], rows["c"]["comp"]) == (0, 0)
    assert scores_of(limited)["proc"] < scores_of(whole)["proc"]


def test_model_under_test_neither_plays_the_user_nor_judges_unless_told_so(stub: StubModel) -> None:
    log = by_inspect(stub, model_roles={"user": mock(stub)})

    assert log.status == "error" and "judge" in str(log.error and log.error.message)
    assert not stub.asked


def test_failing_service_is_no_failure_of_the_agent(stub: StubModel) -> None:
    stub.satisfaction = lambda body: 1 / 0

    log = by_inspect(stub, retry_on_error=0, fail_on_error=True)

    assert log.status == "error" and "division" in str(log.error and log.error.message)


def test_conversation_too_long_for_the_model_is_the_agents_failure(stub: StubModel) -> None:
    stub.agent = lambda body: TOO_LONG

    log = by_inspect(stub)

    assert scores_of(log) == {"proc": 0, "comp": 0}
    told = [event.data for event in sample_of(log, "cook").events if event.event == "info"]
    assert [(each["state"], each["reason"]) for each in told] == [
        ("failed", "The conversation grew longer than the model can read.")
    ]


def test_chosen_tasks_bring_what_they_build_on(stub: StubModel) -> None:
    log = by_inspect(stub, task_args={"tasks": "b", "persona": "clerk"})

    [sample] = log.samples or ()
    assert sample.metadata["tasks"] == ["a", "b"]


def test_tasks_of_several_personas_are_played_each_in_its_own_episode(stub: StubModel) -> None:
    log = by_inspect(stub, task_args={"tasks": "a,b"})

    assert log.status == "success", log.error
    assert {sample.id: sample.metadata["tasks"] for sample in log.samples or ()} == {"clerk": ["a", "b"], "cook": ["a"]}


@pytest.mark.parametrize("tasks", ["a,b", ["a", "b"]], ids=["words", "as Inspect's command line gives them"])
def test_several_tasks_are_chosen_with_commas_between(tasks: str | list[str]) -> None:
    planned = pack(str(PACK), persona="clerk", tasks=tasks)

    [sample] = planned.dataset
    assert (sample.metadata or {})["tasks"] == ["a", "b"]


def test_unknown_split_is_refused_in_a_sentence() -> None:
    with pytest.raises(PibenchError, match="“hidden” is no split"):
        pack(str(PACK), split="hidden")


def test_agent_that_keeps_its_own_conversation_is_refused(stub: StubModel) -> None:
    with pytest.raises(PibenchError, match="endpoint"):
        by_inspect(stub, task_args={"agent": "endpoint"})


def test_thoughts_come_back_to_the_model_as_they_came() -> None:
    thought = ContentReasoning(reasoning="Hm.", signature="sig-1")
    said = ChatMessageAssistant(
        content=[thought, ContentText(text="Yes.")], tool_calls=[ToolCall("7", "read_file", {"path": "a"})]
    )
    output = ModelOutput(model="m", choices=[{"message": said, "stop_reason": "tool_calls"}])

    answer = read_answer(completion_of(output))
    [again] = messages_of([{**answer.message, "tool_calls": [call.entry for call in answer.tool_calls]}])

    assert (answer.text, answer.thoughts, answer.finish_reason) == ("Yes.", "Hm.", "tool_calls")
    assert again.model_dump(exclude={"id"}) == said.model_dump(exclude={"id"})


def test_arguments_that_are_no_json_are_none_for_the_engine() -> None:
    call = ToolCall("7", "read_file", {}, parse_error="Error parsing {path")
    said = ChatMessageAssistant(content="", tool_calls=[call])
    output = ModelOutput(model="m", choices=[{"message": said, "stop_reason": "tool_calls"}])

    [requested] = read_answer(completion_of(output)).tool_calls
    assert not requested.is_valid


def test_references_in_a_tools_parameters_are_spelled_out() -> None:
    parameters = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}},
        "$defs": {"Row": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Row"}}}},
    }

    tool = tool_of({"name": "put", "description": "Puts.", "parameters": parameters})

    items = tool.parameters.properties["rows"].items
    assert items is not None and items.properties is not None
    assert items.properties["n"].type == "integer"
