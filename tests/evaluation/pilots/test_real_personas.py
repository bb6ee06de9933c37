"""Pilots of the published personas with an agent that logs into the apps, looks and acts.

The agent is scripted: it makes the calls of ``real_plays`` one by one and reads each answer before the next. What the
apps hold and the grader scripts are derived from the persona's files when a test runs.
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.engine.journal import MadeCall
from evaluation.models import Pilot, Session, ToolCall, Verdict
from evaluation.pilots.session_work import work_on
from evaluation.store.rows import RowMadeCalls
from studio.imports.importer import import_path
from studio.models import Benchmark
from tests.evaluation.builders import endpoint, intents, pilot_of, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.pilots.test_apps import persona, start, writes_a_note
from tests.evaluation.stub_model import StubModel, decisions
from tests.evaluation.tools.apps import rule_graders
from tests.evaluation.tools.apps.real_personas import app_data, checks_of, request_of
from tests.evaluation.tools.apps.real_plays import play

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


def write_folder(source: Path, target: Path, tasks: Collection[str]) -> Path:
    """The persona with those of its ``tasks``, data for its apps, and its grader scripts."""
    folder = target / source.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("rule_checks.json", "SKIPPED.txt"))
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    episode = yaml.safe_load((folder / "episode.yaml").read_text())
    episode["tasks"] = [entry for entry in episode["tasks"] if entry["task_id"] in tasks]
    (folder / "episode.yaml").write_text(yaml.safe_dump(episode))
    for path in (folder / "tasks").iterdir():
        if path.name not in tasks:
            shutil.rmtree(path)
    (folder / "apps").mkdir()
    for app, tables in app_data(source).items():
        (folder / "apps" / f"{app}.json").write_text(json.dumps(tables))
    (folder / "scripts").mkdir(exist_ok=True)
    for name in tasks:
        objectives = yaml.safe_load((source / "tasks" / name / "task.yaml").read_text()).get("objectives") or {}
        if script := objectives.get("tools_evaluation_path"):
            checks = json.dumps(checks_of(source)[name])
            graded = f"\n\nCHECKS = {checks}\n\n\ndef score(tools_history):\n    return grade(CHECKS, tools_history)\n"
            (folder / "scripts" / Path(script).name).write_text(inspect.getsource(rule_graders) + graded)
    return folder


class NextCall(Exception):
    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        super().__init__(name)
        self.name = name
        self.arguments = arguments


class Desk:
    """Goes through a play again with the answers so far, up to the first call that has none."""

    def __init__(self, data: dict[str, Any], answers: list[str]) -> None:
        self._data = data
        self._answers = iter(answers)
        self._tokens: dict[str, str] = {}

    def call(self, name: str, /, **arguments: Any) -> Any:
        app = name.partition("__")[0]
        if app not in self._tokens:
            me = self._data[app]["accounts"][0]
            login = {"username": me["username"], "password": me["password"]}
            self._tokens[app] = self._ask(f"{app}__login", login)["access_token"]
        return self._ask(name, {**arguments, "access_token": self._tokens[app]})

    def files(self, name: str, /, **arguments: Any) -> None:
        self._answer(name, arguments)

    def _ask(self, name: str, arguments: dict[str, Any]) -> Any:
        return json.loads(self._answer(name, arguments))["response"]

    def _answer(self, name: str, arguments: dict[str, Any]) -> str:
        answer = next(self._answers, None)
        if answer is None:
            raise NextCall(name, arguments)
        return answer


class AppUser:
    """The agent: answers a request of the stub model."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._tasks = {request_of(source, name).strip(): name for name in checks_of(source)}

    def __call__(self, body: dict[str, Any]) -> str | dict[str, Any]:
        told = [message for message in body["messages"] if message["role"] not in ("assistant", "tool")]
        opening = next((message for message in told if message["role"] == "user"), told[-1])  # an event is no user's
        asked = str(opening["content"]).strip()
        name = next((name for request, name in self._tasks.items() if request in asked), None)
        if name is None:
            return "Done."
        answers = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        try:
            play(Desk(app_data(self._source), answers), self._source, name)
        except NextCall as wanted:
            function = {"name": wanted.name, "arguments": json.dumps(wanted.arguments)}
            call = {"id": str(len(answers)), "type": "function", "function": function}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        return "It is all done."


def pilot_persona(stub: StubModel, source: Path, target: Path, tasks: Collection[str]) -> Pilot:
    stub.agent = AppUser(source)
    stub.satisfaction = lambda body: decisions(body, lambda index: True)
    benchmark = Benchmark.objects.create(slug=source.name.replace("_", "-"), name=source.name)
    report = import_path(benchmark, write_folder(source, target, tasks), by=None)
    assert not report.errors, report.errors
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return work_through(pilot_of(benchmark, agent=model, user_model=model, judge=model))


def unmet(pilot: Pilot) -> list[str]:
    """Keys of scripts that are not met in strict scoring."""
    rows = Verdict.objects.filter(judging__session__run__pilot=pilot, judging__scoring="strict", grader="rule")
    met = set(rows.filter(met=True).values_list("judging__session", "index"))
    return [row.label for row in rows if (row.judging.session_id, row.index) not in met]


@pytest.mark.slow
def test_an_agent_that_uses_the_apps_earns_every_check_of_a_task(stub: StubModel, pibench_data: Path, tmp_path: Path):
    source = pibench_data / "law_trainee"
    pilot = pilot_persona(stub, source, tmp_path, ("law_trainee_task_012",))

    assert pilot.state == "finished"
    labels = Verdict.objects.filter(judging__scoring="strict", grader="rule").values_list("label", flat=True)
    assert set(labels) == {f"[tools] {key}" for key in checks_of(source)["law_trainee_task_012"]}
    assert unmet(pilot) == []
    assert not ToolCall.objects.filter(ok=False).exists()


@pytest.mark.minutes
@pytest.mark.parametrize("user", ["law_trainee", "marketer"])
def test_a_whole_real_persona_is_piloted_with_apps_and_every_referenced_check_is_earned(
    stub: StubModel, pibench_data: Path, tmp_path: Path, user: str
):
    source = pibench_data / user
    entries = yaml.safe_load((source / "episode.yaml").read_text())["tasks"]
    pilot = pilot_persona(stub, source, tmp_path, [entry["task_id"] for entry in entries])

    sessions = Session.objects.filter(run__pilot=pilot)
    assert (pilot.state, sessions.filter(state="finished").count()) == ("finished", 20)
    graded = sessions.filter(judgings__verdicts__grader="rule").values("pk").distinct().count()
    assert graded == {"law_trainee": 5, "marketer": 4}[user]
    assert unmet(pilot) == []


class Killed(BaseException):
    """As if the worker died: nothing catches it."""


@pytest.mark.slow
def test_a_worker_killed_amid_an_app_call_leaves_the_call_done_once(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    """It dies when the app has changed and the call is not in the journal yet."""
    stub.agent = writes_a_note
    pilot = start(stub, task("a", intents=intents("x")), persona=persona())
    session = Session.objects.get(run__pilot=pilot)
    put = RowMadeCalls.put

    def die(made: RowMadeCalls, call: MadeCall) -> None:
        if call.name == "simple_note__create_note":
            raise Killed
        put(made, call)

    with monkeypatch.context() as patch:
        patch.setattr(RowMadeCalls, "put", die)
        with pytest.raises(Killed):
            work_on(session.pk)
    Session.objects.filter(pk=session.pk).update(lease_until="2000-01-01T00:00Z")
    assert work_on(session.pk)

    listed = ToolCall.objects.get(name="simple_note__search_notes")
    assert [note["note_id"] for note in json.loads(listed.result)["response"]] == [1]
    assert ToolCall.objects.filter(name="simple_note__create_note").count() == 1
