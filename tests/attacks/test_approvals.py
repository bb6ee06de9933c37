"""Approvals follow what will be run: who wants to approve their own work, or to change what was approved."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test import Client

from evaluation.assistance.decisions import accept_proposal
from evaluation.assistance.proposals import ProposedChange
from evaluation.models import Proposal
from evaluation.rehearsals.extract import extract_row
from evaluation.rehearsals.lifecycle import start_rehearsal
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from studio.domain.task import ChecklistItem, Dependency
from studio.domain.web_pages import WebPage
from studio.drafts.authors import authors_of
from studio.drafts.load import load_episode, load_task
from studio.imports.importer import import_files
from studio.models import Notification, Role, Task, TaskState, User
from studio.personas.app_data import APP_DATA, AppData, AppText
from studio.personas.files import PROFILE, FileKind, Profile, delete_file, save_file, stored_file
from studio.personas.scripts import SCRIPTS, Scripts, ScriptText, create_script
from studio.personas.skills import SKILLS, Skills, SkillText
from studio.personas.tool_servers import ServerText, ToolServers
from studio.personas.web_pages import WEB_PAGES, WebPages
from studio.review.bulk import apply as apply_bulk
from studio.review.checklist import QUESTIONS
from studio.review.comments import add_comment
from studio.review.suggestions import apply as apply_suggestions
from studio.review.suggestions import apply_resolved
from studio.review.workflow import approve, request_changes
from studio.tasks.build_on import build_on
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.create import start_task
from studio.tasks.delete import delete_task, restore_task
from studio.tasks.save import restore_version, save_task
from studio.tasks.transitions import WorkflowError, submit
from tests.drafts import benchmark_files, save_order
from tests.evaluation.builders import endpoint, release_blockers
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db

SCRIPT = "def score(tools_history):\n    return {'a': int(bool(tools_history))}\n"
OTHER_SCRIPT = "def score(tools_history):\n    return {'a': 1}\n"
ROOT = Path(__file__).parents[2]


class Desk:
    """Two tasks, of which the second builds on the first; ``carrier`` wrote them, ``writer`` wants to approve."""

    def __init__(self) -> None:
        self.benchmark = BenchmarkFactory()
        self.carrier = member(self.benchmark, Role.AUTHOR, Role.OWNER)
        self.writer = member(self.benchmark, Role.AUTHOR, Role.REVIEWER, Role.OWNER)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.carrier)
        self.first = a_task(self.persona, "first", by=self.carrier, checklist=(), files_read=())
        self.task = a_task(self.persona, "bread", by=self.carrier)
        save_order(self.persona.pk, ["first", "bread"], by=self.carrier)
        self.edit(self.task, self.carrier, depends_on=(Dependency(task_id="first"),))

    def edit(self, task: Task, by: User, **fields: Any) -> None:
        save_task(task.pk, load_task(task).model_copy(update=fields), by=by)

    def approve(self) -> None:
        for task in (self.first, self.task):
            submit(task.pk, by=self.carrier)
            approve(task.pk, by=self.reviewer)

    def persona_edit(self, by: User, **fields: Any) -> None:
        spec = load_episode(self.persona, with_tasks=False).persona
        save_file(PROFILE, self.persona, "", spec.model_copy(update=fields), by=by)


@pytest.fixture(scope="module")
def shared_desk(module_db: None) -> Desk:
    return Desk()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    return fresh(shared_desk)


def fresh_task(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


def write_script(desk: Desk, source: str, by: User) -> None:
    """Of the persona's only script."""
    save_file(SCRIPTS, desk.persona, desk.persona.grader_scripts.get().path, ScriptText(source=source), by=by)


def write_skill(desk: Desk, name: str, by: User) -> None:
    save_file(SKILLS, desk.persona, "", SkillText(name=name, text=f"---\nname: {name}\n---\nRye."), by=by)


def copied(desk: Desk) -> Task:
    mine = a_task(desk.persona, "mine", by=desk.writer)
    [copy] = copy_tasks([mine], a_persona(desk.benchmark, "cook", by=desk.carrier), by=desk.carrier)
    return copy


def moved(desk: Desk) -> Task:
    mine = a_task(desk.persona, "mine", by=desk.writer)
    [there] = copy_tasks([mine], a_persona(desk.benchmark, "cook", by=desk.carrier), by=desk.carrier, moving=True)
    return there


def started(desk: Desk) -> Task:
    mine = a_task(desk.persona, "mine", by=desk.writer)
    return start_task(desk.persona, mine, task_id="rolls", request="Plan the rolls.", by=desk.carrier).task


def edited(desk: Desk) -> Task:
    desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    desk.edit(desk.task, desk.carrier, title="Plan")
    return desk.task


def restored(desk: Desk) -> Task:
    desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    desk.edit(desk.task, desk.carrier, initial_request="Another request.")
    restore_version(fresh_task(desk.task), 3, by=desk.carrier)
    return desk.task


def restored_by_an_import(desk: Desk) -> Task:
    """What the writer wrote comes back with a file of then, after another text was approved."""
    desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    files = benchmark_files(desk.benchmark)
    replaced_and_approved(desk)
    assert import_files(desk.benchmark, files, by=desk.carrier).ok
    return desk.task


def restored_by_a_program(desk: Desk) -> Task:
    """That alone, one criterion, is the writer's."""
    item = ChecklistItem(uid=str(UUID(int=1)), criterion="The rye goes first.")
    desk.edit(desk.task, desk.writer, checklist=(*load_task(desk.task).checklist, item))
    written = load_task(desk.task)
    desk.edit(desk.task, desk.carrier, checklist=written.checklist[:-1])
    replaced_and_approved(desk)
    save_task(desk.task.pk, written, by=desk.carrier)
    return desk.task


def replaced_and_approved(desk: Desk) -> None:
    desk.edit(desk.task, desk.carrier, initial_request="Another request.")
    submit(desk.task.pk, by=desk.carrier)
    approve(desk.task.pk, by=desk.reviewer)


def built_on(desk: Desk) -> Task:
    """Items that the writer wrote in an earlier task move under the carrier's name."""
    desk.edit(desk.first, desk.writer, title="The writer's")
    later = a_task(desk.persona, "later", by=desk.carrier)
    save_order(desk.persona.pk, ["first", "bread", "later"], by=desk.carrier)
    build_on(later.pk, desk.first.pk, by=desk.carrier)
    return later


def imported(desk: Desk) -> Task:
    if load_task(desk.task).initial_request:
        desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    return imported_as_it_is(desk)


def imported_as_it_is(desk: Desk) -> Task:
    files = {
        path.replace("data/baker/", "data/cook/"): content.replace(b"baker", b"cook")
        for path, content in benchmark_files(desk.benchmark).items()
        if path.startswith("data/baker/")
    }
    assert import_files(desk.benchmark, files, by=desk.carrier).ok
    return Task.objects.get(persona__user_id="cook", task_id="bread")


def script_created(desk: Desk) -> Task:
    create_script(desk.persona, "grade", SCRIPT, by=desk.writer)
    desk.edit(desk.task, desk.carrier, grader_script="data/baker/scripts/grade.py")
    return desk.task


def script_changed(desk: Desk) -> Task:
    create_script(desk.persona, "grade", OTHER_SCRIPT, by=desk.carrier, task_id=desk.task.pk)
    write_script(desk, SCRIPT, desk.writer)
    return desk.task


def script_restored(desk: Desk) -> Task:
    """A script that the writer wrote comes back by the carrier."""
    create_script(desk.persona, "grade", SCRIPT, by=desk.writer, task_id=None)
    write_script(desk, OTHER_SCRIPT, desk.carrier)
    write_script(desk, SCRIPT, desk.carrier)
    desk.edit(desk.task, desk.carrier, grader_script="data/baker/scripts/grade.py")
    return desk.task


def script_brought(desk: Desk) -> Task:
    """A script that the writer wrote for one persona is entered for another by the carrier."""
    other = a_persona(desk.benchmark, "cook", by=desk.writer)
    create_script(other, "mine", SCRIPT, by=desk.writer)
    create_script(desk.persona, "grade", SCRIPT, by=desk.carrier, task_id=desk.task.pk)
    return desk.task


def skill_written(desk: Desk) -> Task:
    save_file(
        SKILLS,
        desk.persona,
        "",
        SkillText(name="baking", text="---\nname: baking\n---\nThe rye goes in first."),
        by=desk.writer,
    )
    return desk.task


def profile_written(desk: Desk) -> Task:
    desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    return desk.task


def persona_imported(desk: Desk) -> Task:
    """A profile that the writer wrote comes with another persona by the carrier."""
    desk.persona_edit(desk.writer, name="Ana", role_text="Ana bakes.", routines="The rye goes in first.")
    return imported_as_it_is(desk)


def profile_restored(desk: Desk) -> Task:
    """What the writer wrote comes back by the carrier, after another profile was approved."""
    submit(desk.task.pk, by=desk.carrier)
    desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    desk.persona_edit(desk.carrier, routines="Keeps bees.")
    approve(desk.task.pk, by=desk.reviewer)
    desk.persona_edit(desk.carrier, routines="Bakes the rye first.")
    desk.edit(desk.task, desk.carrier, title="Once more", initial_request="Plan it again.")
    return desk.task


def tools_restored(desk: Desk) -> Task:
    submit(desk.task.pk, by=desk.carrier)
    desk.persona_edit(desk.writer, tools=("show_note",))
    desk.persona_edit(desk.carrier, tools=("show_note", "search_notes"))
    approve(desk.task.pk, by=desk.reviewer)
    desk.persona_edit(desk.carrier, tools=("show_note",))
    desk.edit(desk.task, desk.carrier, title="Once more", initial_request="Plan it again.")
    return desk.task


def app_data_written(desk: Desk) -> Task:
    save_file(APP_DATA, desk.persona, "clock", AppText(text='{"now": "2026-05-01T09:00"}'), by=desk.writer)
    return desk.task


def tools_bound(desk: Desk) -> Task:
    desk.persona_edit(desk.writer, tools=("show_note",))
    return desk.task


def web_page_written(desk: Desk) -> Task:
    save_file(WEB_PAGES, desk.persona, "", WebPage(address="https://rye.example.org", text="Rye."), by=desk.writer)
    return desk.task


def server_written(desk: Desk) -> Task:
    desk.persona_edit(desk.writer, files=(stored_file("mcp/sky.json", b"{}"),))
    return desk.task


def earlier_written(desk: Desk) -> Task:
    desk.edit(desk.first, desk.writer, initial_request="Note the prices first.")
    return desk.task


def earlier_restored(desk: Desk) -> Task:
    """Of a task before the one before it, after another text of it was approved."""
    between = a_task(desk.persona, "between", by=desk.carrier, checklist=(), files_read=())
    save_order(desk.persona.pk, ["first", "between", "bread"], by=desk.carrier)
    desk.edit(between, desk.carrier, depends_on=(Dependency(task_id="first"),))
    desk.edit(desk.task, desk.carrier, depends_on=(Dependency(task_id="between"),))
    desk.edit(desk.first, desk.writer, initial_request="Note the prices first.")
    written = fresh_task(desk.first).version
    desk.edit(desk.first, desk.carrier, initial_request="Note the hours.")
    submit(desk.first.pk, by=desk.carrier)
    approve(desk.first.pk, by=desk.reviewer)
    restore_version(fresh_task(desk.first), written, by=desk.carrier)
    return desk.task


def renamed(desk: Desk) -> Task:
    desk.edit(desk.task, desk.writer, task_id="loaves")
    return desk.task


def changed_in_bulk(desk: Desk) -> Task:
    desk.persona_edit(desk.carrier, tools=("show_note",))
    apply_bulk(desk.benchmark, {desk.task.pk: None}, "tools", "show_note", by=desk.writer)
    return desk.task


def put_by_a_program(desk: Desk) -> Task:
    client = Client()
    client.force_login(desk.writer)
    spec = load_task(desk.task).to_json() | {"initial_request": "Make the plan, please."}
    address = f"/api/benchmarks/{desk.benchmark.slug}/personas/baker/tasks/{desk.task.pk}/"
    data = {"spec": spec, "version": fresh_task(desk.task).version}
    assert client.put(address, data, content_type="application/json").status_code == 200
    return desk.task


def suggested(desk: Desk) -> Task:
    row = add_comment(desk.task.pk, by=desk.writer, field="initial_request", suggestion="Make the plan, please.")
    assert apply_suggestions(desk.task.pk, [row.pk], by=desk.carrier).revision
    return desk.task


def suggested_and_merged(desk: Desk) -> Task:
    row = add_comment(desk.task.pk, by=desk.writer, field="initial_request", suggestion="Make the plan, please.")
    version = fresh_task(desk.task).version
    apply_resolved(desk.task.pk, row.pk, "Make the plan, please.", by=desk.carrier, version=version)
    return desk.task


def proposal_accepted(desk: Desk) -> Task:
    """A model's, by the writer, who may edit it first."""
    accept_proposal(proposal(desk, by=desk.carrier).pk, by=desk.writer)
    return desk.task


def proposal_asked_for(desk: Desk) -> Task:
    """Of a model that may be the writer's own."""
    accept_proposal(proposal(desk, by=desk.writer).pk, by=desk.carrier)
    return desk.task


def proposal(desk: Desk, *, by: User) -> Proposal:
    return Proposal.objects.create(
        task=desk.task,
        revision=desk.task.revisions.get(number=fresh_task(desk.task).version),
        kind="reword",
        field="initial_request",
        endpoint=endpoint("scripted-helpful"),
        request_hash="0" * 64,
        requested_by=by,
        state="ready",
        rows=[ProposedChange(field="initial_request", text="Make the plan, please.").model_dump(mode="json")],
    )


def taken_from_a_rehearsal(desk: Desk) -> Task:
    judge = endpoint("scripted-judge")
    row = start_rehearsal(fresh_task(desk.task), by=desk.writer, seat="agent", judge=judge)
    extract_row(row, "intent", "The rye goes in first.", by=desk.writer)
    return desk.task


def server_edited(desk: Desk) -> Task:
    text = ServerText(name="sky", command=("python", "-m", "sky"))
    save_file(ToolServers(text.server()), desk.persona, "", text, by=desk.writer)
    return desk.task


def deleted_and_restored(desk: Desk) -> Task:
    desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    delete_task(desk.task, by=desk.carrier)
    restored = restore_task(desk.benchmark, desk.task.pk, by=desk.carrier)
    save_order(desk.persona.pk, ["first", "bread"], by=desk.carrier)
    return restored


def skill_deleted(desk: Desk) -> Task:
    """Nobody's text is there afterwards, but what the agent reads is what the writer left."""
    for name in ("baking", "accounts"):
        write_skill(desk, name, desk.carrier)
    desk.approve()
    delete_file(SKILLS, desk.persona, "baking", by=desk.writer)
    desk.edit(desk.task, desk.carrier, initial_request="Plan it again.")
    return desk.task


WAYS = [
    *(copied, moved, started, edited, restored, built_on, imported, renamed, changed_in_bulk, put_by_a_program),
    *(suggested, suggested_and_merged, proposal_accepted, taken_from_a_rehearsal, server_edited, skill_deleted),
    *(script_created, script_changed, script_restored, script_brought, skill_written, profile_written),
    *(app_data_written, tools_bound, persona_imported, profile_restored, tools_restored),
    *(web_page_written, server_written, earlier_written, earlier_restored),
    *(restored_by_an_import, restored_by_a_program, proposal_asked_for, deleted_and_restored),
]
"""In which text of ``writer`` can come into what is run for a task."""


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_writer_approves_nothing_they_wrote_part_of_by_whatever_way_it_came(
    desk: Desk, way: Callable[[Desk], Task]
) -> None:
    task = fresh_task(way(desk))
    submit(task.pk, by=desk.carrier)

    with pytest.raises(WorkflowError, match="You wrote part of this version"):
        approve(task.pk, by=desk.writer)
    with pytest.raises(IntegrityError, match="wrote part of what they approve"), transaction.atomic():
        task.revisions.get(number=task.version).reviews.create(
            reviewer=desk.writer, decision="approved", content=task.content, parts=task.parts
        )
    approve(task.pk, by=desk.reviewer)

    assert fresh_task(task).state == TaskState.APPROVED


@pytest.mark.parametrize("wrote", ["a part of its persona", "the task"])
def test_one_of_two_approvals_is_not_the_writers_own(desk: Desk, wrote: str) -> None:
    """Somebody else's approval does not make it another's text."""
    type(desk.benchmark).objects.filter(pk=desk.benchmark.pk).update(approvals_needed=2)
    if wrote == "the task":
        desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    else:
        desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    submit(desk.task.pk, by=desk.carrier)
    approve(desk.task.pk, by=desk.reviewer)

    with pytest.raises(WorkflowError, match="You wrote part of this version"):
        approve(desk.task.pk, by=desk.writer)
    approve(desk.task.pk, by=member(desk.benchmark, Role.REVIEWER))

    assert fresh_task(desk.task).state == TaskState.APPROVED


def refused_once(desk: Desk) -> None:
    submit(desk.first.pk, by=desk.carrier)
    request_changes(desk.first.pk, by=desk.reviewer, text="Which flour?")


def approved_and_refused(desk: Desk) -> None:
    desk.approve()
    request_changes(desk.first.pk, by=desk.writer, text="Which flour?")


def approved_by_one_of_two_with_two_tasks(desk: Desk) -> None:
    type(desk.benchmark).objects.filter(pk=desk.benchmark.pk).update(approvals_needed=2)
    submit(desk.first.pk, by=desk.carrier)
    for task in (desk.first, desk.task):
        approve(task.pk, by=desk.reviewer)


@pytest.mark.parametrize("reviewed", [refused_once, approved_by_one_of_two_with_two_tasks])
def test_what_a_task_takes_from_its_persona_is_the_writers_until_enough_others_approved_it(
    desk: Desk, reviewed: Callable[[Desk], None]
) -> None:
    desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    submit(desk.task.pk, by=desk.carrier)
    reviewed(desk)

    with pytest.raises(WorkflowError, match="You wrote part of this version"):
        approve(desk.task.pk, by=desk.writer)


def test_a_text_that_one_of_two_approved_is_still_its_writers(desk: Desk) -> None:
    type(desk.benchmark).objects.filter(pk=desk.benchmark.pk).update(approvals_needed=2)
    desk.edit(desk.task, desk.writer, initial_request="Make the plan, please.")
    submit(desk.task.pk, by=desk.carrier)
    approve(desk.task.pk, by=desk.reviewer)
    desk.edit(desk.task, desk.carrier, title="Plan")

    assert desk.writer.pk in authors_of(desk.task.revisions.latest("number"))


def test_writer_of_an_earlier_task_approves_a_later_one_once_others_approved_theirs(desk: Desk) -> None:
    earlier_written(desk)
    for task in (desk.first, desk.task):
        submit(task.pk, by=desk.carrier)
    with pytest.raises(WorkflowError, match="You wrote part of this version"):
        approve(desk.task.pk, by=desk.writer)

    approve(desk.first.pk, by=desk.reviewer)
    desk.edit(desk.first, desk.writer, title="Prices")  # nothing that scores
    approve(desk.task.pk, by=desk.writer)

    assert fresh_task(desk.task).state == TaskState.APPROVED


def test_writer_is_known_again_in_an_import_without_its_request(desk: Desk) -> None:
    desk.edit(desk.task, desk.writer, initial_request="")

    task = imported(desk)

    assert desk.writer.pk in authors_of(task.revisions.get())


SAVES = {
    *("save_task", "save_tasks", "save_locked", "save_personas", "save_rebased"),
    *("save_file", "delete_file", "apply_change", "create_script"),
}
OPERATIONS: dict[str, set[Callable[[Desk], Task]] | str] = {
    "studio/tasks/save.py: store": {suggested, proposal_accepted},
    "studio/tasks/save.py: save_task": {edited, earlier_written, restored_by_a_program},
    "studio/tasks/save.py: save_locked": {edited},
    "studio/tasks/save.py: restore_version": {restored, earlier_restored},
    "studio/tasks/save.py: _rename": {renamed},
    "studio/tasks/create.py: create_task": {started},
    "studio/tasks/copy_tasks.py: copy_tasks": {copied, moved},
    "studio/tasks/copy_tasks.py: _retire": {moved},
    "studio/tasks/build_on.py: build_on": {built_on},
    "studio/imports/store.py: run": {persona_imported},
    "studio/imports/store.py: _save_tasks": {imported, restored_by_an_import},
    "studio/personas/scripts.py: create_script": {script_created, script_brought},
    "studio/personas/files.py: store": {script_changed, skill_written},
    "studio/personas/files.py: save_file": {script_changed, skill_written},
    "studio/personas/files.py: delete_file": {skill_deleted},
    "studio/personas/files.py: apply_change": {script_changed, skill_deleted},
    "studio/personas/app_data.py: save_apps": {app_data_written},
    "studio/views/personas/files.py: delete": {skill_deleted},
    "studio/views/personas/scripts.py: create": {script_created},
    "studio/views/personas/scripts.py: restore": {script_restored},
    "studio/api/tasks.py: put": {put_by_a_program},
    "studio/review/bulk.py: _rewrite": {changed_in_bulk},
    "studio/review/suggestions.py: _save": {suggested, suggested_and_merged},
    "evaluation/assistance/decisions.py: accept_proposal": {proposal_accepted, proposal_asked_for},
    "evaluation/rehearsals/extract.py: extract_row": {taken_from_a_rehearsal},
    "studio/tasks/delete.py: delete_task": {deleted_and_restored},
    "studio/tasks/delete.py: restore_task": {deleted_and_restored},
    "studio/episodes/moves.py: _save": "moves tasks within an episode",
    "studio/personas/create.py: create_persona": "an empty persona",
    "evaluation/releases/sample.py: _leave_work": "the sample",
    "evaluation/releases/sample.py: _release_twice": "the sample",
}
"""Whatever saves what is run, by module and function, and the ways above that go through it, or why none does."""
KINDS: dict[type[FileKind[Any]], set[Callable[[Desk], Task]]] = {
    Profile: {profile_written, profile_restored, tools_bound, tools_restored},
    Scripts: {script_changed, script_restored},
    Skills: {skill_written, skill_deleted},
    AppData: {app_data_written},
    WebPages: {web_page_written},
    ToolServers: {server_edited},
}
"""What of a persona is saved by itself."""


def operations() -> set[str]:
    found = set()
    for path in (path for room in ("studio", "evaluation", "annotations") for path in (ROOT / room).rglob("*.py")):
        here = path.relative_to(ROOT).as_posix()
        nodes = list(ast.walk(ast.parse(path.read_text())))
        known = {
            name.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("studio.")
            for name in node.names
        }
        known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef) and here.startswith("studio/")}
        for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
            called = {
                node.func.id
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            found |= {f"{here}: {function.name}"} if called & known & SAVES else set()
    return found


@pytest.mark.slow
def test_every_operation_that_saves_what_is_run_is_among_the_ways_above() -> None:
    assert sorted(operations() ^ OPERATIONS.keys()) == []
    assert set(FileKind.__subclasses__()) == KINDS.keys()
    ways = [row for row in (*OPERATIONS.values(), *KINDS.values()) if not isinstance(row, str)]
    assert set().union(*ways) <= set(WAYS)


VERSION_MADE = re.compile(
    r"(?<!\w)(?:Persona)?Revision(?:\.objects\.(?:create|bulk_create|get_or_create))?\(|revisions\.create\("
)


def test_nothing_else_makes_a_version() -> None:
    """Of a task or a persona: then it would be no operation that the test above knows."""
    made = {
        path.relative_to(ROOT).as_posix()
        for room in ("studio", "evaluation", "annotations")
        for path in (ROOT / room).rglob("*.py")
        if VERSION_MADE.search(path.read_text())
    }

    assert made == {"studio/drafts/save_tasks.py", "studio/drafts/save_personas.py", "studio/models/versions.py"}


def change_script(desk: Desk) -> None:
    write_script(desk, OTHER_SCRIPT, desk.carrier)


def swap_script_by_import(desk: Desk) -> None:
    """Imported without the script, then with another."""
    files = benchmark_files(desk.benchmark)
    path = next(path for path in files if path.endswith("scripts/grade.py"))
    import_files(desk.benchmark, {name: content for name, content in files.items() if name != path}, by=desk.carrier)
    import_files(desk.benchmark, files | {path: OTHER_SCRIPT.encode()}, by=desk.carrier)


CHANGES: dict[str, Callable[[Desk], None]] = {
    "the grader script": change_script,
    "the grader script, by two imports": swap_script_by_import,
    "a skill": lambda desk: (skill_written(desk), None)[1],
    "the profile": lambda desk: (profile_written(desk), None)[1],
    "app data": lambda desk: (app_data_written(desk), None)[1],
    "the tools": lambda desk: (tools_bound(desk), None)[1],
    "an earlier task": lambda desk: desk.edit(desk.first, desk.carrier, initial_request="Something else."),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("state", [TaskState.APPROVED, TaskState.RELEASED])
def test_what_is_changed_after_the_approval_outdates_it_and_blocks_the_release(
    desk: Desk, what: str, state: str
) -> None:
    create_script(desk.persona, "grade", SCRIPT, by=desk.carrier, task_id=desk.task.pk)
    desk.approve()
    Task.objects.filter(pk=desk.task.pk).update(state=state)
    assert not fresh_task(desk.task).outdated

    CHANGES[what](desk)

    assert fresh_task(desk.task).outdated
    outdated = {row.task for row in release_blockers(desk.benchmark) if row.code == "task-approval-outdated"}
    assert "bread" in outdated


def test_who_approved_is_told_once_that_their_approval_is_outdated(desk: Desk) -> None:
    desk.approve()

    desk.persona_edit(desk.carrier, routines="Keeps bees.")
    desk.persona_edit(desk.carrier, routines="Keeps goats.")

    told = Notification.objects.filter(kind=Notification.Kind.EDITED_AFTER_APPROVAL)
    assert [(row.user, row.actor, row.address) for row in told] == [
        (desk.reviewer, desk.carrier, f"{desk.persona.get_absolute_url()}approvals/")
    ]
    assert f"2 tasks of {desk.persona} depend" in told[0].text


def test_an_approval_holds_when_what_changes_no_score_changes(desk: Desk) -> None:
    write_skill(desk, "baking", desk.carrier)
    desk.edit(desk.task, desk.carrier, skills=("baking",))
    create_script(desk.persona, "unused", SCRIPT, by=desk.carrier)
    desk.approve()

    save_file(
        SKILLS, desk.persona, "", SkillText(name="accounts", text="---\nname: accounts\n---\nSums."), by=desk.carrier
    )
    write_script(desk, OTHER_SCRIPT, desk.carrier)
    delete_file(SCRIPTS, desk.persona, desk.persona.grader_scripts.get().path, by=desk.carrier)
    desk.edit(desk.first, desk.carrier, title="The first, renamed")

    assert not fresh_task(desk.task).outdated


@pytest.mark.parametrize("state", [TaskState.APPROVED, TaskState.DRAFT])
def test_raw_sql_approves_nothing_that_nobody_has_read(desk: Desk, state: str) -> None:
    desk.approve()
    desk.persona_edit(desk.carrier, routines="Bakes the rye first.")
    rows = Task.objects.filter(pk=desk.task.pk)

    def steal() -> None:
        rows.update(state=state)
        rows.update(state=TaskState.APPROVED, approved_content=F("content"))
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    with pytest.raises(IntegrityError, match="not approved by as many"), transaction.atomic():
        steal()


def test_an_approval_that_was_taken_back_counted_with_the_next_one(desk: Desk) -> None:
    type(desk.benchmark).objects.filter(pk=desk.benchmark.pk).update(approvals_needed=2)
    submit(desk.task.pk, by=desk.carrier)
    approve(desk.task.pk, by=desk.reviewer)
    request_changes(desk.task.pk, by=desk.reviewer, text="Which flour?")
    submit(desk.task.pk, by=desk.carrier)

    approve(desk.task.pk, by=member(desk.benchmark, Role.REVIEWER))

    assert fresh_task(desk.task).state == TaskState.IN_REVIEW


NEXT_VERSION = """
    INSERT INTO studio_revision (task_id, number, spec, sha256, pieces, note, created_by_id, created_at)
    SELECT task_id, number + 1, spec, sha256, pieces, note, created_by_id, created_at FROM studio_revision
     WHERE (task_id, number) = (SELECT id, version FROM studio_task WHERE id = {task})"""
RAW = {
    "the approval, after somebody else asked for changes": (
        approved_and_refused,
        ["UPDATE studio_task SET state = 'approved' WHERE id = {first}"],
    ),
    "the approval, without the review that asked for changes": (
        refused_once,
        ["DELETE FROM studio_review WHERE decision = 'changes_requested'"],
    ),
    "the approval of one version for the next": (
        Desk.approve,
        [NEXT_VERSION, "UPDATE studio_task SET version = version + 1 WHERE id = {task}"],
    ),
    "an approval of what the task is not": (
        Desk.approve,
        [
            """INSERT INTO studio_review (revision_id, reviewer_id, decision, content, parts, text, points, created_at)
               SELECT revision_id, {writer}, decision, repeat('0', 64), parts, text, points, created_at
                 FROM studio_review WHERE decision = 'approved' LIMIT 1"""
        ],
    ),
    "that a suggestion was theirs": (
        suggested,
        ["UPDATE studio_comment SET author_id = {carrier} WHERE applied_in_id IS NOT NULL"],
    ),
    "that a suggestion was applied": (suggested, ["UPDATE studio_comment SET applied_in_id = NULL"]),
    "that a copy was of their text": (copied, ["DELETE FROM studio_revision_origin_authors"]),
}
"""What to have by SQL alone, after what, by which statements."""


@pytest.mark.parametrize("wanted", RAW)
def test_raw_sql_gives_no_approval_and_takes_no_author_away(desk: Desk, wanted: str) -> None:
    before, statements = RAW[wanted]
    before(desk)
    names = {name: getattr(desk, name).pk for name in ("first", "task", "carrier", "writer")}

    def steal() -> None:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement.format(**names))
                assert cursor.rowcount
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    with pytest.raises(IntegrityError), transaction.atomic():
        steal()


def test_raw_sql_hides_no_change_from_the_release(desk: Desk) -> None:
    desk.approve()
    desk.persona_edit(desk.carrier, routines="Bakes the rye first.")
    Task.objects.update(content=F("approved_content"))

    with pytest.raises(ReleaseBlockedError) as blocked:
        cut_release(desk.benchmark, ReleaseOptions(version="1.0", accept=""), by=None, signature="Ada")

    assert "task-approval-outdated" in {blocker.code for blocker in blocked.value.blockers}


def test_raw_sql_approves_nothing_by_three_points_of_four(desk: Desk) -> None:
    type(desk.benchmark).objects.filter(pk=desk.benchmark.pk).update(review_by_list=True)
    submit(desk.task.pk, by=desk.carrier)
    task = fresh_task(desk.task)
    points = {key: {"so": True, "note": ""} for key in list(QUESTIONS)[:3]}

    with pytest.raises(IntegrityError, match="four points"), transaction.atomic():
        task.revisions.get(number=task.version).reviews.create(
            reviewer=desk.reviewer, decision="approved", content=task.content, parts=task.parts, answers=points
        )


def test_no_task_is_approved_from_the_beginning(desk: Desk) -> None:
    def insert() -> None:
        task = Task.objects.defer(None).get(pk=desk.task.pk)
        task.pk, task.position, task.task_id = None, None, "own"
        task.spec = {**task.spec, "task_id": "own"}
        task.state, task.approved_content = TaskState.APPROVED, task.content
        task.save(force_insert=True)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    with pytest.raises(IntegrityError, match="not approved by as many"), transaction.atomic():
        insert()


def test_approval_given_to_what_was_on_the_page_is_refused_if_the_persona_changed_meanwhile(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.carrier)
    read = fresh_task(desk.task)
    desk.persona_edit(desk.carrier, routines="Bakes the rye first.")

    with pytest.raises(WorkflowError, match="while you were reading"):
        approve(desk.task.pk, by=desk.reviewer, version=read.version, content=read.content)


def test_reviewer_reads_what_changed_and_approves_all_tasks_again_at_once(desk: Desk, client: Client) -> None:
    desk.approve()
    desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    page = f"{desk.persona.get_absolute_url()}approvals/"
    client.force_login(desk.writer)
    assert "You wrote part of this" in client.get(page).content.decode()
    client.force_login(desk.reviewer)

    text = client.get(page).content.decode()
    assert "Bakes" in text and "The profile" in text and "2 tasks" in text
    contents = [fresh_task(task).content for task in (desk.first, desk.task)]
    response = client.post(page, {"content": contents}, follow=True)

    assert "Every approval of a task" in response.content.decode()
    assert not any(fresh_task(task).outdated for task in (desk.first, desk.task))


def test_a_change_beyond_what_the_reviewer_is_shown(desk: Desk, client: Client) -> None:
    """After so many characters that the page compares no more of the file."""
    client.force_login(desk.reviewer)
    name = ""
    for last in ("Rye.", "Spelt."):
        text = SkillText(name="baking", text=f"---\nname: baking\n---\n{'Knead. ' * 40_000}{last}")
        save_file(SKILLS, desk.persona, name, text, by=desk.carrier)
        name = "baking"
        if last == "Rye.":
            desk.approve()

    page = client.get(f"{desk.persona.get_absolute_url()}approvals/").content.decode()

    assert "It changes in what is not shown here too" in page


def test_reviewer_reads_records_that_changed_in_an_app_and_neither_json_nor_hashes(desk: Desk, client: Client) -> None:
    people = [{"username": "ana@example.org", "password": "x"}]
    rye = {"note_id": 1, "title": "Rye", "content": "First.", "owner": "ana@example.org"}

    def write(*notes: dict[str, Any]) -> None:
        text = AppText(text=json.dumps({"accounts": people, "notes": notes}))
        save_file(APP_DATA, desk.persona, "simple_note", text, by=desk.carrier)

    write(rye)
    desk.approve()
    write({**rye, "content": "Last."}, {**rye, "note_id": 2, "title": "Spelt"})
    client.force_login(desk.reviewer)

    page = client.get(f"{desk.persona.get_absolute_url()}approvals/").content.decode()

    assert "The app data of Simple Note" in page and "Notes: 1 added, 1 changed" in page
    assert "<del\n  >First</del><ins>Last</ins>" in page and "title: Spelt" in page
    assert "{&quot;" not in page and "&quot;:" not in page and not re.search("[0-9a-f]{12}</", page)


def test_a_program_approves_what_it_read_and_nothing_newer(desk: Desk, client: Client) -> None:
    desk.approve()
    desk.persona_edit(desk.writer, routines="Bakes the rye first.")
    client.force_login(desk.reviewer)
    address = f"/api/benchmarks/{desk.benchmark.slug}/personas/baker/tasks/{desk.task.pk}/"

    def approve_as_read(read: dict[str, Any]) -> int:
        data = {"action": "approve", "content": read["content"]}
        return client.post(f"{address}steps/", data, content_type="application/json").status_code

    read = client.get(address).json()
    assert read["outdated"] == ["the profile"]
    desk.persona_edit(desk.writer, routines="Bakes the rye last.")
    assert approve_as_read(read) == 409

    assert approve_as_read(client.get(address).json()) == 200
    assert client.get(address).json()["outdated"] == []
