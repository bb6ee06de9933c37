"""Collapsed rows on the page of a long task."""

from __future__ import annotations

import pytest
from django.test import Client

from studio.domain.task import ChecklistItem, ExactCheck, HiddenIntent
from studio.domain.uids import default_uid
from studio.drafts.load import load_task
from studio.models import Role, Task
from studio.views.tasks import editor_context
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.tasks.test_autosave import Writer, form_of

pytestmark = pytest.mark.django_db
INTENTS = tuple(HiddenIntent(uid=default_uid("b", "t", "i", at), content=f"Need {at}.") for at in range(3))
ITEMS = (
    ChecklistItem(
        uid=default_uid("b", "t", "k", 0),
        criterion="Rye is first.",
        follows_from=(INTENTS[0].uid, INTENTS[2].uid),
        evidence=("plan.md", 'a "quoted" line & more'),
    ),
    ChecklistItem(
        uid=default_uid("b", "t", "k", 1),
        criterion="Rolls are named.",
        grader="rule",
        rule=ExactCheck(kind="file_contains", path="plan.md", text="rolls"),
    ),
)


@pytest.fixture(scope="module")
def brief_rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(editor_context, "BRIEF_ROWS_FROM", 0)
        yield


@pytest.fixture(scope="module")
def shared_desk(module_db, brief_rows):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    task = a_task(a_persona(benchmark, by=author), by=author, intents=INTENTS, checklist=ITEMS)
    return Writer(task, author), Writer(task, member(benchmark, Role.AUTHOR))


@pytest.fixture
def desk(shared_desk):
    return fresh(shared_desk)


def stored(task):
    return load_task(Task.objects.get(pk=task.pk))


def name(item: int, field: str) -> str:
    return f"checklist.{ITEMS[item].uid}.{field}"


def open_row(writer: Writer, item: int, *, follows: list[str], evidence: str) -> None:
    """Expand a row like the page's script."""
    del writer.form[name(item, "brief")]
    writer.form[name(item, "follows_from")] = follows
    writer.form[name(item, "evidence")] = [evidence]


@pytest.mark.slow
def test_page_with_collapsed_rows_saves_the_same_task(desk):
    ana, _ = desk
    client = Client()
    client.force_login(ana.user)
    whole = form_of(client.get(f"{ana.task.get_absolute_url()}?whole=1").content.decode(), "task").data()
    before = stored(ana.task)

    assert name(0, "brief") in ana.form and name(0, "follows_from") not in ana.form
    assert name(0, "brief") not in whole and whole[name(0, "follows_from")] == [INTENTS[0].uid, INTENTS[2].uid]
    for form in (ana.form, whole):
        form.pop("base_draft")
        changed = form | {"save_version": "1", "initial_request": "More."}
        assert ana.client.post(ana.url("autosave"), changed).json()["versioned"]
        assert stored(ana.task).checklist == before.checklist
        form["base_version"] = [str(stored(ana.task) and Task.objects.get(pk=ana.task.pk).version)]


def test_page_without_scripts_links_to_the_full_form(desk):
    ana, _ = desk
    assert '<a href="?whole=1">' in ana.client.get(ana.task.get_absolute_url()).content.decode()


def test_expanded_row_shows_unsaved_values(desk):
    ana, _ = desk
    open_row(ana, 0, follows=[INTENTS[1].uid], evidence="report.md")
    assert ana.autosave(save_version="1")["versioned"]
    first = stored(ana.task).checklist[0]
    assert (first.follows_from, first.evidence) == ((INTENTS[1].uid,), ("report.md",))


def test_autosaved_links_are_restored_on_the_page(desk):
    ana, _ = desk
    open_row(ana, 0, follows=[INTENTS[1].uid], evidence="report.md")
    ana.autosave()
    again = Writer(ana.task, ana.user)
    assert again.form[name(0, "brief")] == [f"{INTENTS[1].uid}\r\nreport.md"]


@pytest.mark.slow
def test_links_added_by_another_user_appear_and_stay(desk):
    ana, ben = desk
    open_row(ben, 1, follows=[INTENTS[1].uid], evidence="")
    ben.autosave(save_version="1")

    ana.write(initial_request="Mine.").autosave()
    assert ana.form[name(1, "brief")] == [INTENTS[1].uid]
    ana.autosave(save_version="1")

    task = stored(ana.task)
    assert (task.initial_request, task.checklist[1].follows_from) == ("Mine.", (INTENTS[1].uid,))
    assert task.checklist[1].rule == ITEMS[1].rule


@pytest.mark.slow
def test_expanded_rows_stay_expanded_after_another_users_change(desk):
    ana, ben = desk
    open_row(ana, 0, follows=[INTENTS[0].uid, INTENTS[2].uid], evidence="\r\n".join(ITEMS[0].evidence))
    open_row(ben, 0, follows=[INTENTS[1].uid], evidence="report.md")
    ben.autosave(save_version="1")

    ana.autosave()
    assert name(0, "brief") not in ana.form
    assert ana.form[name(0, "follows_from")] == [INTENTS[1].uid]
    assert ana.form[name(0, "evidence")] == ["report.md"]


@pytest.mark.slow
def test_rule_with_collapsed_fields_is_preserved(desk):
    ana, ben = desk
    rule = {"rule_kind": "reply_contains", "rule_text": "rye", "rule_path": "", "rule_tool": "", "rule_arguments": ""}
    ben.write(**{name(0, "grader"): "rule"} | {name(0, key): value for key, value in rule.items()})
    ben.autosave(save_version="1")
    ana.autosave()
    for key in rule:
        ana.form.pop(name(0, key), None)
    ana.write(initial_request="Mine.").autosave(save_version="1")
    assert stored(ana.task).checklist[0].rule == ExactCheck(kind="reply_contains", text="rye")
