"""Reports of grader scripts: made once by content, and findings that follow from them."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from evaluation.sandbox import SandboxUnavailableError, why_unavailable
from evaluation.trials import script_analysis
from evaluation.trials.analyses import analyse_missing, analyse_scripts
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Finding, GraderScript, Persona, ScriptReport
from studio.personas.create import create_persona
from studio.tasks.create import create_task
from tests.factories import BenchmarkFactory, stored

pytestmark = pytest.mark.django_db

FREE = b"def score(h):\n    return {'free': 1}\n"


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    if reason := why_unavailable():
        pytest.skip(reason)


@pytest.fixture
def persona() -> Persona:
    return persona_with(FREE)


def persona_with(content: bytes) -> Persona:
    script = stored("scripts/a.py", content)
    persona = create_persona(BenchmarkFactory(), PersonaSpec(user_id="Nurse", scripts=(script,)), by=None)
    create_task(persona, TaskSpec(task_id="a", grader_script="data/Nurse/scripts/a.py"), by=None)
    return persona


def rules() -> set[str]:
    return {rule for rule in Finding.objects.values_list("rule", flat=True) if rule.startswith("grader")}


@pytest.mark.slow
def test_report_updates_findings_and_keys(persona: Persona) -> None:
    assert rules() == set()

    analyse_scripts(GraderScript.objects.values_list("blob", flat=True))

    assert rules() == {"grader-key-always"}
    assert GraderScript.objects.get().keys == ["free"]


@pytest.mark.slow
def test_same_script_text_runs_once(persona: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_missing()
    monkeypatch.setattr(script_analysis, "run_grader", None)

    analyse_scripts(GraderScript.objects.values_list("blob", flat=True))
    analyse_missing()

    assert ScriptReport.objects.count() == 1


def test_broken_script_is_a_blocking_finding() -> None:
    persona_with(b"def score(h):\n    return h[0]\n")

    analyse_missing()

    finding = Finding.objects.get(rule="grader-no-keys")
    assert finding.severity == "error"
    assert "IndexError in line 2" in finding.message


def test_binary_script_is_reported_and_not_run_again() -> None:
    persona_with(b"\xff\xfe")

    analyse_missing()

    assert GraderScript.objects.get().problem == "The script is not UTF-8 text."
    assert ScriptReport.objects.count() == 1


def test_without_a_sandbox_there_is_no_report_and_no_finding(persona: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str) -> None:
        raise SandboxUnavailableError("No namespaces here.")

    monkeypatch.setattr("evaluation.trials.analyses.analyse_script", refuse)

    analyse_missing()

    assert ScriptReport.objects.count() == 0
    assert rules() == set()


@pytest.mark.slow
def test_command_runs_scripts_without_report(persona: Persona, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("check_tasks", benchmark=persona.benchmark.slug)

    assert "[grader-key-always]" in capsys.readouterr().out
