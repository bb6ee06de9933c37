"""Saving grader scripts makes versions of the persona and of the tasks they grade."""

from __future__ import annotations

import pytest

from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError
from studio.models import GraderScript, Persona, Task, TaskState, User
from studio.personas.create import create_persona
from studio.personas.files import delete_file, save_file
from studio.personas.scripts import (
    MAX_SCRIPT,
    SCRIPTS,
    ScriptText,
    create_script,
    script_versions,
    tasks_graded_by,
)
from studio.tasks.create import create_task
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, mark_approved, rewrite
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db

TEXT = "def score(h):\n    return {'a': 0}\n"


@pytest.fixture(scope="module")
def shared(module_db: None) -> tuple[User, Persona]:
    author = User.objects.create(username="ada")
    persona = create_persona(BenchmarkFactory(), PersonaSpec(user_id="Nurse"), by=author)
    for name in ("one", "two", "three"):
        create_task(persona, TaskSpec(task_id=name), by=author)
    return author, persona


@pytest.fixture
def author(shared: tuple[User, Persona]) -> User:
    return fresh(shared[0])


@pytest.fixture
def persona(shared: tuple[User, Persona]) -> Persona:
    return fresh(shared[1])


@pytest.fixture
def script(persona: Persona, author: User) -> GraderScript:
    """Grades the first two of three tasks."""
    made = create_script(persona, "shared", TEXT, by=author, task_id=Task.objects.get(task_id="one").pk)
    two = Task.objects.get(task_id="two")
    spec = load_task(two).model_copy(update={"grader_script": "scripts/shared.py"})
    save_task(two.pk, spec, by=author)
    return made


def versions() -> dict[str, int]:
    return dict(Task.objects.values_list("task_id", "version"))


def test_new_script_grades_the_task_it_was_created_for(persona: Persona, script: GraderScript) -> None:
    assert script.path == "scripts/shared.py"
    assert Task.objects.get(task_id="one").grader_path == "data/Nurse/scripts/shared.py"
    assert [task.task_id for task in tasks_graded_by(persona, script.path)] == ["one", "two"]


@pytest.mark.parametrize("state", [TaskState.APPROVED, TaskState.RELEASED])
def test_changed_script_outdates_the_approvals_of_its_tasks(script: GraderScript, author: User, state: str) -> None:
    mark_approved()
    Task.objects.update(state=state)
    before = versions()

    save_file(SCRIPTS, script.persona, script.path, ScriptText(source=TEXT.replace("'a'", "'b'")), by=author)

    assert {task.task_id: task.outdated for task in Task.objects.all()} == {"one": True, "two": True, "three": False}
    assert versions() == before


def test_unchanged_text_makes_no_version(script: GraderScript, author: User) -> None:
    mark_approved()

    save_file(SCRIPTS, script.persona, script.path, ScriptText(source=TEXT.replace("\n", "\r\n")), by=author)

    assert set(Task.objects.values_list("state", flat=True)) == {"approved"}
    assert len(script_versions(script)) == 1


def test_script_versions_name_their_predecessors(script: GraderScript, author: User) -> None:
    for text in ("b = 1\n", "c = 1\n"):
        save_file(SCRIPTS, script.persona, script.path, ScriptText(source=text), by=author)

    history = script_versions(script)

    assert [one.before for one in history] == [history[1].sha256, history[2].sha256, ""]
    assert history[2].sha256 == script.blob_id


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "a" * (MAX_SCRIPT + 1)])
def test_invalid_source_is_rejected(script: GraderScript, author: User, text: str) -> None:
    with pytest.raises(DraftError):
        save_file(SCRIPTS, script.persona, script.path, ScriptText(source=text), by=author)


@pytest.mark.parametrize("name", ["", "../up.py", "a/b.py", "ä.py", ".py", "SHARED.PY.py/", "Shared"])
def test_invalid_script_names_are_rejected(persona: Persona, script: GraderScript, author: User, name: str) -> None:
    with pytest.raises(DraftError):
        create_script(persona, name, TEXT, by=author)


def test_script_in_use_cannot_be_removed(script: GraderScript, author: User) -> None:
    with pytest.raises(DraftError, match="one"):
        delete_file(SCRIPTS, script.persona, script.path, by=author)

    rewrite(Task.objects.all(), grader_script="")
    delete_file(SCRIPTS, script.persona, script.path, by=author)

    assert not GraderScript.objects.exists()
