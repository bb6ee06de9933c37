"""Checks and autosave while a task is edited, and merging of concurrent edits."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from studio.drafts import autosave
from studio.drafts.load import load_task
from studio.models import Autosave, DiscardedText, Role, Task
from studio.tasks.save import save_task
from studio.views.pages import task_page
from tests.factories import BenchmarkFactory, a_persona, a_task, mark_approved, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
LEAK = "The rye goes in before the rolls."


class Writer:
    """A user on a task's page, with the form as sent."""

    def __init__(self, task: Task, user):
        self.task, self.user, self.client = task, user, Client()
        self.client.force_login(user)
        self.form = form_of(self.client.get(task.get_absolute_url()).content.decode(), "task").data()

    def url(self, name):
        return reverse(f"studio:{name}", args=_args(self))

    def write(self, **fields):
        self.form |= {name: [value] for name, value in fields.items()}
        return self

    def autosave(self, **more):
        answer = self.client.post(self.url("autosave"), self.form | more).json()
        if "page" in answer:
            self.form = form_of(answer["page"], "task").data()
        if "elsewhere" not in answer:
            self.form |= {"base_version": [str(answer["version"])], "base_draft": [str(answer["draft"])]}
        return answer

    def check(self):
        return self.client.post(self.url("check"), self.form).json()


@pytest.fixture(scope="module")
def shared_desk(module_db):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("write_file",))
    task = a_task(persona, by=author)
    return Writer(task, author), Writer(task, member(benchmark, Role.AUTHOR))


@pytest.fixture
def desk(shared_desk):
    return fresh(shared_desk)


def _args(writer):
    persona = writer.task.persona
    return [persona.benchmark.slug, persona.user_id, writer.task.pk]


def stored(task):
    return load_task(Task.objects.get(pk=task.pk))


def test_unsaved_text_is_checked_and_not_stored(desk):
    ana, _ = desk

    answer = ana.write(initial_request=f"Make the plan. {LEAK}").check()

    assert answer["count"] > 0
    assert any(mark["passage"] in ana.form["initial_request"][0] for mark in answer["marks"])
    assert "already" in answer["findings"] or "request" in answer["findings"]
    assert stored(ana.task).initial_request != ana.form["initial_request"][0]
    assert ana.task.revisions.count() == 1


def test_marks_name_the_inputs_of_new_rows_after_an_empty_one(desk):
    ana, _ = desk
    ana.form["intents"] = [*ana.form["intents"], "new1", "new2"]
    ana.write(**{"intents.new1.content": "", "intents.new2.content": "Do it nicely!Ã©"})

    answer = ana.check()

    assert "intents.new2.content" in answer["findings"] + str(answer["marks"])
    assert "intents.new2.content" in answer["evidence"]


def test_unreadable_form_is_checked_as_far_as_possible(desk):
    ana, _ = desk
    key = ana.form["checklist"][0]

    assert ana.write(**{f"checklist.{key}.weight": "a lot"}).check()["count"] >= 0


def test_parts_that_are_folded_are_open_when_the_page_explains_an_error(desk):
    ana, _ = desk
    address = ana.task.get_absolute_url()
    folded = 'class="part" data-unfolds>'
    assert folded in ana.client.get(address).content.decode()

    key = ana.form["checklist"][0]
    page = ana.client.post(address, ana.form | {f"checklist.{key}.weight": ["a lot"]}).content.decode()

    assert "Not saved" in page and folded not in page


def test_autosaved_text_is_restored_without_making_a_version(desk):
    ana, _ = desk

    answer = ana.write(title="Rye for Saturday").autosave()

    assert (answer["version"], answer["problem"]) == (1, "")
    page = ana.client.get(ana.task.get_absolute_url()).content.decode()
    assert "Rye for Saturday" in page and "discard them" in page
    assert ana.task.revisions.count() == 1
    ana.client.post(ana.url("discard"))
    assert "Rye for Saturday" not in ana.client.get(ana.task.get_absolute_url()).content.decode()


def test_a_save_makes_one_version_of_all_autosaved_text(desk):
    ana, _ = desk
    for title in ("R", "Ry", "Rye"):
        ana.write(title=title).autosave()

    answer = ana.autosave(save_version=["1"])

    assert (answer["version"], answer["versioned"]) == (2, True)
    assert stored(ana.task).title == "Rye"
    assert autosave.autosaved_text(autosave.EditorKey(ana.task), ana.user) is None
    assert ana.autosave(save_version=["1"])["version"] == 2  # nothing differs


def test_repeatedly_autosaved_new_row_has_one_id(desk):
    ana, _ = desk
    ana.form["intents"] = [*ana.form["intents"], "new17"]
    ana.write(**{"intents.new17.content": "Salt"}).autosave(save_version=["1"])
    first = stored(ana.task).intents[-1].uid

    ana.write(**{"intents.new17.content": "Salt is short."}).autosave(save_version=["1"])

    assert [(one.uid, one.content) for one in stored(ana.task).intents[1:]] == [(first, "Salt is short.")]


def test_invalid_text_is_autosaved_unchanged(desk):
    ana, _ = desk
    key = ana.form["checklist"][0]

    answer = ana.write(**{f"checklist.{key}.weight": "a lot"}).autosave(save_version=["1"])

    assert "greater than 0" in answer["problem"]
    assert 'value="a lot"' in ana.client.get(ana.task.get_absolute_url()).content.decode()
    assert ana.task.revisions.count() == 1


def test_users_see_each_other_but_not_themselves(desk):
    ana, ben = desk

    assert ana.client.get(ana.url("autosave")).json()["others"] == []
    assert ben.client.get(ben.url("autosave")).json()["others"] == [str(ana.user)]
    assert ana.client.get(ana.url("autosave")).json()["others"] == [str(ben.user)]
    Autosave.objects.filter(user=ben.user).update(seen_at="2020-01-01T00:00Z")
    assert ana.client.get(ana.url("autosave")).json()["others"] == []


def test_edits_of_different_fields_are_merged_silently(desk):
    ana, ben = desk
    ana.write(title="Rye").autosave(save_version=["1"])

    answer = ben.write(description="By six.").autosave(save_version=["1"])

    assert (answer["version"], answer["versioned"]) == (3, True)
    assert (ben.form["title"], ben.form["description"]) == (["Rye"], ["By six."])
    assert (stored(ana.task).title, stored(ana.task).description) == ("Rye", "By six.")


def test_concurrent_save_of_another_user_appears_on_the_page(desk, monkeypatch):
    ana, ben = desk
    find = task_page.find

    def find_and_be_overtaken(*args, **names):
        row = find(*args, **names)
        monkeypatch.undo()
        ben.write(description="By six.").autosave(save_version=["1"])
        return row

    monkeypatch.setattr(task_page, "find", find_and_be_overtaken)

    answer = ana.write(title="Rye").autosave(save_version=["1"])

    assert (answer["version"], answer["versioned"]) == (3, True)
    assert (ana.form["title"], ana.form["description"]) == (["Rye"], ["By six."])


@pytest.mark.slow
def test_second_editor_of_a_field_resolves_the_conflict(desk):
    ana, ben = desk
    ana.write(title="Rye").autosave(save_version=["1"])

    answer = ben.write(title="Rolls").autosave(save_version=["1"])

    assert "versioned" not in answer
    assert "Use theirs" in answer["page"] and "Rye" in answer["page"]
    assert ben.form["unresolved"] == ['["title"]']
    assert ben.autosave(save_version=["1"])["version"] == 2  # no version before they chose
    taken = ben.client.post(ben.task.get_absolute_url(), ben.form | {"take": ['["title"]']}).content.decode()
    ben.form = form_of(taken, "task").data()
    assert ben.form["title"] == ["Rye"] and "unresolved" not in ben.form
    assert stored(ana.task).title == "Rye"


def test_own_value_can_be_chosen_in_a_conflict(desk):
    ana, ben = desk
    ana.write(title="Rye").autosave(save_version=["1"])
    ben.write(title="Rolls").autosave()
    del ben.form["unresolved"]  # what the page's button does

    assert ben.autosave(save_version=["1"])["version"] == 3
    assert stored(ana.task).title == "Rolls"


@pytest.mark.slow
def test_saving_with_an_unresolved_conflict_is_rejected_and_loses_nothing(desk):
    ana, ben = desk
    ana.write(title="Rye").autosave(save_version=["1"])
    ben.write(title="Rolls", description="By six.").autosave()

    for _ in range(2):
        refused = ben.client.post(ben.task.get_absolute_url(), ben.form)
        assert refused.status_code == 409
        page = refused.content.decode()
        ben.form = form_of(page, "task").data()
        assert (ben.form["title"], ben.form["description"]) == (["Rolls"], ["By six."])
        assert page.count("Use theirs") == 1 and "Not saved." in page
        assert page.index("Use theirs") > page.index('name="title"')  # beside its field
    assert (stored(ana.task).title, ana.task.revisions.count()) == ("Rye", 2)
    chosen = ben.client.post(ben.task.get_absolute_url(), ben.form | {"mine": ben.form["unresolved"]})
    ben.form = form_of(chosen.content.decode(), "task").data()
    assert ben.client.post(ben.task.get_absolute_url(), ben.form).status_code == 302
    assert (stored(ana.task).title, stored(ana.task).description) == ("Rolls", "By six.")


@pytest.mark.slow
def test_submitting_with_an_unresolved_conflict_is_rejected(desk):
    ana, ben = desk
    ana.write(title="Rye").autosave(save_version=["1"])
    ben.write(title="Rolls").autosave()
    ben.autosave()  # on top of the version that the page shows now
    persona = ben.task.persona

    ben.client.post(
        reverse("studio:workflow_step", args=[persona.benchmark.slug, persona.user_id, ben.task.pk, "submit"])
    )

    task = Task.objects.get(pk=ben.task.pk)
    assert (task.title, task.state) == ("Rye", "draft")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "a|b", "|", '"]'])
def test_conflicts_in_entries_with_any_name_can_be_resolved(desk, name):
    ana, ben = desk
    spec = stored(ana.task)
    save_task(ana.task.pk, spec.model_copy(update={"metadata": {name: "a"}}), by=ana.user)
    ana, ben = Writer(Task.objects.get(pk=ana.task.pk), ana.user), Writer(Task.objects.get(pk=ana.task.pk), ben.user)
    ana.write(**{"metadata.k0.value": "Rye"}).autosave(save_version=["1"])
    ben.write(**{"metadata.k0.value": "Rolls"}).autosave()

    taken = ben.client.post(ben.task.get_absolute_url(), ben.form | {"take": ben.form["unresolved"]}).content.decode()

    ben.form = form_of(taken, "task").data()
    assert ben.form["metadata.k0.value"] == ["Rye"] and "unresolved" not in ben.form


@pytest.mark.slow
def test_own_version_from_another_window_is_not_overwritten(desk):
    ana, _ = desk
    other = Writer(ana.task, ana.user)
    other.write(title="Rye", description="By six.").autosave(save_version=["1"])

    answer = ana.write(title="Rolls").autosave(save_version=["1"], base_draft=["0"])

    assert "versioned" not in answer and "Use the other" in answer["page"]
    assert (ana.form["title"], ana.form["description"]) == (["Rolls"], ["By six."])
    assert stored(ana.task).title == "Rye"


def two_windows(desk) -> tuple[Writer, Writer]:
    ana, _ = desk
    return ana, Writer(ana.task, ana.user)


def test_text_typed_in_two_windows_replaces_nothing_unasked(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave(window=["one"])

    answer = other.write(description="By six.").autosave(window=["other"], save_version=["1"])

    assert answer["elsewhere"] and one.task.revisions.count() == 1
    assert autosave.autosaved_text(autosave.EditorKey(one.task), one.user).form_data["title"] == ["Rye"]


def test_two_windows_without_a_name_are_two_windows(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave()

    answer = other.write(description="By six.").autosave()

    assert answer["elsewhere"]
    assert autosave.autosaved_text(autosave.EditorKey(one.task), one.user).form_data["title"] == ["Rye"]


def test_text_kept_instead_of_that_of_another_window_leaves_the_other_to_be_taken_back(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave(window=["one"])

    other.write(description="By six.").autosave(window=["other"], keep_mine=["1"], save_version=["1"])

    assert (stored(one.task).title, stored(one.task).description) == ("Bread for Saturday", "By six.")
    assert DiscardedText.objects.get(user=one.user).form_data["title"] == ["Rye"]


def test_a_window_whose_answer_was_lost_goes_on_without_a_question(desk):
    one, _ = desk
    known = one.form["base_draft"]
    one.write(title="Rye").autosave(window=["one"])

    answer = one.write(title="Rye bread").autosave(window=["one"], base_draft=known)

    assert "elsewhere" not in answer
    assert autosave.autosaved_text(autosave.EditorKey(one.task), one.user).form_data["title"] == ["Rye bread"]


@pytest.mark.slow
def test_text_of_a_window_survives_a_version_saved_in_another(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave()
    one.autosave(save_version=["1"])

    other.write(description="By six.").autosave(save_version=["1"])

    assert (stored(one.task).title, stored(one.task).description) == ("Rye", "By six.")


@pytest.mark.slow
def test_a_save_without_scripts_keeps_newer_text_of_another_window(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave()

    assert other.client.post(one.task.get_absolute_url(), other.write(description="By six.").form).status_code == 302

    assert stored(one.task).description == "By six."
    form = form_of(one.client.get(one.task.get_absolute_url()).content.decode(), "task").data()
    assert (form["title"], form["description"]) == (["Rye"], ["By six."])


@pytest.mark.slow
def test_a_window_can_look_at_the_newest_text_without_writing(desk):
    one, other = two_windows(desk)
    one.write(title="Rye").autosave()
    before = Autosave.objects.get(user=one.user).number

    other.autosave(peek=["1"])

    assert (other.form["title"], Autosave.objects.get(user=one.user).number) == (["Rye"], before)
    one.autosave(save_version=["1"])
    assert other.autosave(peek=["1"])["version"] == 2
    assert other.form["title"] == ["Rye"]


@pytest.mark.parametrize(("state", "says"), [("in_review", "withdraws"), ("approved", "ends the approval")])
def test_a_save_that_ends_a_review_or_an_approval_asks_first(desk, state, says):
    ana, _ = desk
    mark_approved()
    Task.objects.update(state=state)
    assert ana.write(title="Rye").autosave()["state"] == state

    said = ana.autosave(save_version=["1"])

    assert says in said["question"]
    assert (ana.task.revisions.count(), said["state"]) == (1, state)
    assert ana.autosave(save_version=["1"], withdraw=["1"])["state"] == "draft"
    assert stored(ana.task).title == "Rye"


def test_a_save_in_review_without_scripts_asks_first(desk):
    ana, _ = desk
    Task.objects.filter(pk=ana.task.pk).update(state="in_review")

    asked = ana.client.post(ana.task.get_absolute_url(), ana.write(title="Rye").form)

    assert asked.status_code == 409 and "withdraws it" in asked.content.decode()
    form = form_of(asked.content.decode(), "task").data()
    assert form["title"] == ["Rye"] and Task.objects.get(pk=ana.task.pk).state == "in_review"
    assert ana.client.post(ana.task.get_absolute_url(), form | {"withdraw": "1"}).status_code == 302
    assert Task.objects.get(pk=ana.task.pk).state == "draft"


@pytest.mark.slow
def test_text_sent_on_leaving_the_page_is_not_offered_again_once_saved(desk):
    ana, ben = desk
    left = dict(ana.write(title="Rye").form)
    ana.autosave(save_version=["1"])  # the page is gone, and this arrives
    ben.autosave()
    ben.write(title="Bread").autosave(save_version=["1"])  # in the knowledge of Ana's words

    ana.form = left
    answer = ana.autosave(render=["1"])

    assert answer["versioned"] and ana.form["title"] == ["Bread"] and "unresolved" not in ana.form
    assert autosave.autosaved_text(autosave.EditorKey(ana.task), ana.user) is None


def test_reverted_edit_leaves_nothing_unsaved(desk):
    ana, _ = desk
    title = ana.form["title"]
    ana.write(title="Rye").autosave()

    answer = ana.write(title=title[0]).autosave()

    assert answer["versioned"] and ana.task.revisions.count() == 1
    assert "discard them" not in ana.client.get(ana.task.get_absolute_url()).content.decode()


@pytest.mark.slow
def test_unreadable_text_is_rebased_once_it_can_be_read(desk):
    ana, ben = desk
    key = ana.form["checklist"][0]
    ben.write(title="Rolls").autosave(save_version=["1"])

    answer = ana.write(**{f"checklist.{key}.weight": "a lot"}).autosave()

    assert (answer["version"], "page" in answer) == (1, False)  # still on top of what it was on top of
    ana.write(**{f"checklist.{key}.weight": "2"}).autosave(save_version=["1"])
    assert (stored(ana.task).title, stored(ana.task).checklist[0].weight) == ("Rolls", 2)


def test_text_autosaved_on_an_old_version_is_restored_on_the_newest(desk):
    ana, ben = desk
    ana.write(description="By six.").autosave()
    ben.write(title="Rolls").autosave(save_version=["1"])

    form = form_of(ana.client.get(ana.task.get_absolute_url()).content.decode(), "task").data()

    assert (form["title"], form["description"], form["base_version"]) == (["Rolls"], ["By six."], ["2"])


def test_submitting_saves_autosaved_text(desk):
    ana, _ = desk
    ana.write(title="Rye").autosave()
    persona = ana.task.persona

    ana.client.post(
        reverse("studio:workflow_step", args=[persona.benchmark.slug, persona.user_id, ana.task.pk, "submit"])
    )

    task = Task.objects.get(pk=ana.task.pk)
    assert (task.title, task.version, task.state) == ("Rye", 2, "in_review")


def test_viewer_can_neither_check_nor_autosave(desk):
    ana, _ = desk
    viewer = Writer(ana.task, member(ana.task.persona.benchmark, Role.VIEWER))

    assert viewer.client.post(viewer.url("check"), ana.form).status_code == 403
    assert viewer.client.post(viewer.url("autosave"), ana.form).status_code == 403
    assert viewer.client.get(viewer.url("autosave")).status_code == 200
    stranger = Client()
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))
    assert stranger.post(viewer.url("autosave"), ana.form).status_code == 404


def test_guidelines_and_evidence_map_are_shown_beside_the_task(desk):
    ana, _ = desk
    page = ana.client.get(ana.task.get_absolute_url()).content.decode()

    assert "Sounds like the person" in page
    assert "no source" in page
    assert re.search(r"Test no intent[^<]*<a[^>]*>item\s+1</a>", page)


def test_autosave_loads_the_task_at_most_once(desk):
    ana, _ = desk
    ana.write(title="Rye").autosave()
    with CaptureQueriesContext(connection) as asked:
        ana.write(title="Rye bread").autosave()

    loads = [one for one in asked.captured_queries if '"studio_task"."spec"' in one["sql"]]
    assert len(loads) <= 1


@pytest.mark.slow
def test_words_that_lose_in_a_conflict_are_listed_with_the_versions_and_can_be_taken_back(desk):
    ana, ben = desk
    ben.write(title="Ben's words").autosave()
    ana.write(title="Ana's words").autosave(save_version="1")
    ben.autosave()
    ben.client.post(ben.task.get_absolute_url(), ben.form | {"take": ['["title"]']})

    assert "Restore" not in ana.client.get(ana.url("versions")).content.decode()
    address = reverse("studio:take_back", args=[*_args(ben), DiscardedText.objects.get().pk])
    assert f'action="{address}"' in ben.client.get(ben.url("versions")).content.decode()
    assert ana.client.post(address).status_code == 404
    ben.client.post(address)

    assert "Ben&#x27;s words" in ben.client.get(ben.task.get_absolute_url()).content.decode()


def test_discarded_text_can_be_taken_back_for_thirty_days(desk):
    ana, _ = desk
    ages = {"Yesterday": 1, "Weeks ago": autosave.KEPT_DAYS - 1, "Last season": autosave.KEPT_DAYS + 1}
    for title, days in ages.items():
        ana.write(title=title).autosave()
        ana.client.post(ana.url("discard"))
        row = DiscardedText.objects.latest("pk")
        row.discarded_at = timezone.now() - timedelta(days=days)
        row.save()

    listed = ana.client.get(ana.url("versions")).content.decode()
    assert listed.count("Restore") == 2

    ana.write(title="Today").autosave()
    ana.client.post(ana.url("discard"))

    kept = {row.form_data["title"][0] for row in DiscardedText.objects.all()}
    assert kept == {"Yesterday", "Weeks ago", "Today"}


def test_text_that_is_taken_back_takes_the_place_of_newer_text_which_is_kept(desk):
    ana, _ = desk
    ana.write(title="First").autosave()
    ana.client.post(ana.url("discard"))
    kept = DiscardedText.objects.get()
    ana.write(title="Second").autosave()

    ana.client.post(reverse("studio:take_back", args=[*_args(ana), kept.pk]))

    assert [row.form_data["title"] for row in DiscardedText.objects.all()] == [["Second"]]
    assert Autosave.objects.get(user=ana.user).form_data["title"] == ["First"]
