"""`pibench run` against a model over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evaluation.engine.folder import FolderStore, read_session
from evaluation.runner.command import main
from evaluation.runner.results import held, read_results
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.runner.packs import asset, write
from tests.evaluation.stub_model import StubModel, decisions, kind_of

KEY = "sk-test-92b1c7"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    contents: dict[str, bytes] = {}
    notes = asset("notes.md", "The fee is due.", contents)
    clerk = [
        task("a", assets=(notes,)),
        task("b", "a", checklist=(rubric("x"), rubric("y", 3))),
        task("c", intents=intents("Name the fee."), checklist=(rubric("z"),)),
    ]
    return write(tmp_path / "pack.zip", {"clerk": clerk, "cook": [task("a", checklist=(rubric("w"),))]}, contents)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", KEY)


def command(pack: Path, stub: StubModel, out: Path, *more: str) -> list[str]:
    model = f"openai:m@{stub.base_url}"
    seats = ("--model", model, "--user", model, "--judge", model, "--key-env", "STUB_API_KEY")
    return ["run", str(pack), *seats, "--out", str(out), *more]


def outcomes(out: Path) -> dict[tuple[str, str, int], Any]:
    return {
        (row.persona, row.result.task_id, row.run[1]): (row.result, row.statuses, row.turns, row.tokens)
        for row in read_results(out).rows()
    }


def states(out: Path) -> Counter[str]:
    return Counter(session.state for session in read_results(out).sessions)


@pytest.mark.slow
@pytest.mark.usefixtures("key")
def test_run_plays_every_task_and_keeps_it_readable(pack: Path, stub: StubModel, tmp_path: Path):
    assert main(command(pack, stub, tmp_path / "out", "--runs", "2")) == 0

    assert states(tmp_path / "out") == {"finished": 8}
    folder = tmp_path / "out" / "sessions" / "1-clerk" / "run-2" / "002-b"
    lines = [json.loads(line) for line in (folder / "session.jsonl").read_text().splitlines()]
    assert [next(iter(line)) for line in lines] == ["turn", "turn", "turn", "end", "mode", "grades"]
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["pack"]["name"] == "Bench" and len(run["pack"]["sha256"]) == 64
    assert (run["protocol"], run["agent_loop"]) == ("paper", 2)
    assert run["models"]["judge"]["model"] == "m"


@pytest.mark.usefixtures("key")
def test_key_is_sent_and_stands_nowhere_in_the_results(pack: Path, stub: StubModel, tmp_path: Path):
    main(command(pack, stub, tmp_path / "out", "--persona", "cook"))

    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert len(files) > 5
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


@pytest.mark.usefixtures("key")
def test_a_model_that_costs_nothing_is_run(pack: Path, stub: StubModel, tmp_path: Path):
    model = f"openai:m@{stub.base_url}"

    assert main(command(pack, stub, tmp_path / "out", "--persona", "cook", "--price", f"{model}=0/0")) == 0

    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["models"]["agent"]["prices"] | {"input": "0", "output": "0"} == run["models"]["agent"]["prices"]


@pytest.mark.usefixtures("key")
def test_results_tell_what_answered_and_how_often_an_answer_was_none(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def answer(finish: str, **message: Any) -> dict[str, Any]:
        choice = {"index": 0, "message": {"role": "assistant", "content": ""} | message, "finish_reason": finish}
        who = {"model": "m-2026-11", "system_fingerprint": "fp_1", "provider": "Elsewhere"}
        return {"object": "chat.completion", **who, "choices": [choice], "usage": {}}

    unreadable = {"id": "c", "type": "function", "function": {"name": "write_file", "arguments": "{"}}
    answers = iter(
        [
            answer("tool_calls", tool_calls=[unreadable]),
            answer("stop", refusal="I will not."),
            answer("length", content="Half a"),
        ]
    )
    stub.agent = lambda body: next(answers, "Done.")
    main(command(pack, stub, tmp_path / "out", "--persona", "clerk", "--task", "c"))
    capsys.readouterr()

    main(["score", str(tmp_path / "out"), "--json"])

    told = json.loads(capsys.readouterr().out)["model"]
    counts = {name: told.pop(name) for name in ("cut", "refused", "filtered", "empty", "too_long", "invalid_calls")}
    assert counts == {"cut": 1, "refused": 1, "filtered": 0, "empty": 0, "too_long": 0, "invalid_calls": 1}
    assert "m-2026-11 · fp_1 · Elsewhere" in told["answered_by"]
    main(["score", str(tmp_path / "out")])
    assert "Answers of the agent’s model" in capsys.readouterr().out


@pytest.mark.usefixtures("key")
def test_thoughts_stand_with_their_turn_in_the_results_and_no_judge_or_score_has_them(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    stub.agent = lambda body: {"role": "assistant", "content": "Done.", "reasoning_content": "Mizzenmast."}
    main(command(pack, stub, tmp_path / "out", "--persona", "clerk", "--task", "c"))

    [folder] = {path.parent for path in (tmp_path / "out").rglob("session.jsonl")}
    thoughts = [thought.text for turn in read_session(folder).turns for thought in turn.taken.reply.thoughts]
    assert set(thoughts) == {"Mizzenmast."}
    others = [body for body in stub.bodies if kind_of(body) != "agent"]
    assert others and "Mizzenmast" not in str(others)
    capsys.readouterr()
    main(["score", str(tmp_path / "out"), "--json"])
    assert "Mizzenmast" not in capsys.readouterr().out


@pytest.mark.usefixtures("key")
def test_run_that_is_over_asks_nothing_more(pack: Path, stub: StubModel, tmp_path: Path):
    main(command(pack, stub, tmp_path / "out"))
    asked = stub.asked.total()

    assert main(command(pack, stub, tmp_path / "out")) == 0
    assert stub.asked.total() == asked


@pytest.mark.slow
@pytest.mark.usefixtures("key")
def test_spent_budget_stops_the_run_and_a_larger_one_goes_on_with_what_is_there(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    main(command(pack, stub, tmp_path / "whole"))
    whole = stub.asked.total()
    stub.asked.clear()

    assert main(command(pack, stub, tmp_path / "out", "--jobs", "1", "--budget", "calls=7")) == 1
    assert stub.asked.total() == 7
    assert "The run’s budget of 7 model calls is spent." in capsys.readouterr().err

    assert main(command(pack, stub, tmp_path / "out")) == 0
    assert stub.asked.total() == whole
    assert outcomes(tmp_path / "out") == outcomes(tmp_path / "whole")


@pytest.mark.usefixtures("key")
def test_budget_of_a_session_stops_each_by_itself(pack: Path, stub: StubModel, tmp_path: Path):
    assert main(command(pack, stub, tmp_path / "out", "--task", "a", "--session-budget", "calls=3")) == 1

    assert stub.asked.total() == 6
    assert all("session’s budget of 3 model calls" in why for why in read_results(tmp_path / "out").stopped.values())


@pytest.mark.slow
@pytest.mark.usefixtures("key")
def test_service_that_refuses_stops_its_sessions_and_not_the_others(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    answered = stub.checklist
    refuse = (401, '{"error": {"message": "no such key"}}')
    stub.checklist = lambda body: refuse if "write the note b" in json.dumps(body) else answered(body)

    assert main(command(pack, stub, tmp_path / "out")) == 1
    assert states(tmp_path / "out") == {"finished": 2, "stopped": 1, "unfinished": 1}
    said = capsys.readouterr().err
    assert "not finished: clerk · b · run 1:" in said
    assert "2 of 4 sessions are not finished" in said

    stub.checklist = answered
    assert main(command(pack, stub, tmp_path / "out")) == 0
    assert states(tmp_path / "out") == {"finished": 4}


@pytest.mark.usefixtures("key")
def test_results_of_another_run_are_not_gone_on_with(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    main(command(pack, stub, tmp_path / "out", "--persona", "cook"))

    assert main(command(pack, stub, tmp_path / "out", "--persona", "cook", "--limit", "turns=3", "--runs", "2")) == 2
    assert "results of another run: limits, runs, sessions differ" in capsys.readouterr().err


def test_second_run_in_the_same_folder_is_refused(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with held(tmp_path / "out"):
        assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(tmp_path / "out")]) == 2

    assert "Another pibench works in" in capsys.readouterr().err


def test_folder_of_something_else_is_left_alone(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "letter.txt").write_text("Dear Ada")

    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(tmp_path)]) == 2
    assert "holds something else already" in capsys.readouterr().err


@pytest.mark.usefixtures("key")
def test_user_remembers_what_they_said_in_earlier_sessions(pack: Path, stub: StubModel, tmp_path: Path):
    main(command(pack, stub, tmp_path / "out", "--persona", "clerk"))

    voiced = [json.dumps(body) for body in stub.bodies if kind_of(body) == "voice"]
    last = [body for body in voiced if "write the note c" in body]
    assert last and all("write the note a" in body for body in last)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("kind", ["no-op", "over-asker", "oracle"])
def test_every_kind_of_agent_can_be_run(stub: StubModel, tmp_path: Path, kind: str):
    told = task("a", reference_workflow="Read the notes.", checklist=(rubric("x"),))
    pack = write(tmp_path / "pack.zip", {"clerk": [told]})

    assert main(command(pack, stub, tmp_path / "out", "--agent", kind)) == 0
    assert read_results(tmp_path / "out").agent == f"openai:m@{stub.base_url} · {kind}"
    assert any("Read the notes." in json.dumps(body) for body in stub.bodies) == (kind == "oracle")


@pytest.mark.usefixtures("key")
def test_agent_that_must_be_told_the_workflow_is_refused_without_one(
    pack: Path, stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(command(pack, stub, tmp_path / "out", "--agent", "oracle")) == 2
    assert "“a” has no reference workflow" in capsys.readouterr().err


def test_tool_servers_need_leave_and_the_package_mcp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]})
    with zipfile.ZipFile(pack) as archive:
        archive.extractall(tmp_path / "clerk")
    server = {"address": "https://tools.example.org/mcp", "tools": [{"name": "look_up", "parameters": {}}]}
    for name in ("pack.json", "SHA256SUMS"):
        (tmp_path / "clerk" / name).unlink()
    folder = tmp_path / "clerk" / "data" / "clerk"
    (folder / "mcp").mkdir()
    (folder / "mcp" / "lexicon.json").write_text(json.dumps(server))
    words = ["run", str(folder), "--model", "scripted:helpful", "--dry-run"]

    assert main(words) == 0
    assert "no agent gets the tools of the server lexicon" in capsys.readouterr().err
    words += ["--allow-address", "tools.example.org"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(words) == 2
    assert "lexicon needs the package mcp, which is not installed" in capsys.readouterr().err


def test_threads_that_keep_the_same_content_do_not_disturb_each_other(tmp_path: Path):
    stores = [FolderStore(tmp_path / str(at), tmp_path / "files") for at in range(8)]
    contents = [os.urandom(20_000) for _ in range(40)]
    failed: list[BaseException] = []

    def keep(store: FolderStore) -> None:
        try:
            store.keep(contents)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=keep, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert len(stores[0].read(stores[1].keep(contents))) == 40
    for store in stores:
        store.close()


@pytest.mark.slow
@pytest.mark.usefixtures("key")
def test_interrupted_run_ends_at_once_and_says_how_to_go_on(pack: Path, stub: StubModel, tmp_path: Path):
    answered = stub.agent

    def interrupt(body: dict[str, Any]) -> Any:
        process.send_signal(signal.SIGINT)
        process.wait()
        return answered(body)

    stub.agent = interrupt
    argv = [sys.executable, "-m", "evaluation.runner.command", *command(pack, stub, tmp_path / "out", "--jobs", "1")]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    said = process.communicate()[1]

    assert process.returncode == 130
    assert "Stopped. The same command goes on from here." in said and "Traceback" not in said
    stub.agent = answered
    assert main(command(pack, stub, tmp_path / "out")) == 0


@pytest.mark.minutes
@pytest.mark.usefixtures("key")
def test_killed_ten_times_it_comes_to_the_same_and_pays_nothing_twice(pack: Path, stub: StubModel, tmp_path: Path):
    stub.follow_up = lambda body: decisions(body, lambda index: index == 1)
    assert main(command(pack, stub, tmp_path / "whole", "--runs", "3")) == 0
    whole = stub.asked.total()
    stub.asked.clear()
    answered, kills = stub.agent, 0
    process: subprocess.Popen[bytes] | None = None

    def kill_sometimes(body: dict[str, Any]) -> Any:
        nonlocal kills
        if kills < 10 and stub.asked["agent"] % 2 == 0 and process is not None and process.poll() is None:
            kills += 1
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        return answered(body)

    stub.agent = kill_sometimes
    argv = [sys.executable, "-m", "evaluation.runner.command"]
    endings = []
    while not endings or endings[-1] != 0:
        process = subprocess.Popen([*argv, *command(pack, stub, tmp_path / "out", "--runs", "3", "--jobs", "1")])
        endings.append(process.wait())
        assert len(endings) < 30

    assert endings == [-signal.SIGKILL] * 10 + [0]
    assert outcomes(tmp_path / "out") == outcomes(tmp_path / "whole")
    assert stub.asked.total() == whole + 10  # the request during which it was killed, each time
