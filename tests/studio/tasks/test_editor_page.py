"""The task editor's page."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.domain.task import Dependency, ExactCheck, HiddenIntent, Recovery, ToolEvidence, Trigger
from studio.drafts.load import load_episode, load_task
from studio.imports.importer import import_path
from studio.models import Role, Task, TaskState
from studio.personas.scripts import create_script
from studio.review.assignments import set_assignees
from studio.tasks.save import save_task
from studio.views.tasks import editor_context
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of, forms_of, joined

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_desk(module_db):
    return Desk()


@pytest.fixture
def desk(shared_desk):
    return fresh(shared_desk)


class Desk:
    """A task, and clients of its author and a reviewer."""

    def __init__(self):
        self.benchmark = BenchmarkFactory()
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author, tools=("write_file", "read_file"))
        self.task = a_task(self.persona, by=self.author)
        self.client, self.other = Client(), Client()
        self.client.force_login(self.author)
        self.other.force_login(self.reviewer)

    @property
    def url(self):
        return self.task.get_absolute_url()

    @property
    def spec(self):
        return load_task(Task.objects.get(pk=self.task.pk))

    def form(self):
        return form_of(self.client.get(self.url).content.decode(), "task").data()

    def step(self, action, *, by=None, **data):
        url = reverse("studio:workflow_step", args=[self.benchmark.slug, self.persona.user_id, self.task.pk, action])
        return (by or self.client).post(url, data, follow=True)

    @property
    def state(self):
        return Task.objects.get(pk=self.task.pk).state


def save_unchanged(client, task):
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task")
    client.post(task.get_absolute_url(), form.data())
    return Task.objects.get(pk=task.pk).version


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.minutes)])
def test_saving_an_unchanged_page_changes_nothing(pibench_data, every):
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    client = Client()
    client.force_login(owner)
    for name in ("law_trainee", "marketer"):
        import_path(benchmark, pibench_data / name, by=owner)

    versions = {task.task_id: save_unchanged(client, task) for task in Task.objects.order_by("pk")[::every]}

    assert set(versions.values()) == {1}
    for persona in benchmark.personas.all():
        url = reverse("studio:profile", args=[benchmark.slug, persona.user_id])
        client.post(url, form_of(client.get(url).content.decode(), "profile").data())
        persona.refresh_from_db()
        assert persona.version == 1


@pytest.mark.slow
def test_saving_an_unchanged_page_of_an_unusual_task_changes_nothing(desk):
    a_task(desk.persona, "setup", by=desk.author, checklist=(), files_read=())
    odd = a_task(
        desk.persona,
        "odd",
        by=desk.author,
        title="\n two\r\nlines \t",
        initial_request="\n\nfirst lines empty\r\n",
        trigger=Trigger(kind="webhook", payload={"b": [1, None], "a": "x", "list": ["one", "two"], "": {}}),
        intents=(
            HiddenIntent(
                uid="0b6c6a39-6c19-4a60-9a2a-5f4e1a5f0001",
                content="",
                recoverable_from=(Recovery(kind="file", ref="a", note="b"), Recovery(kind="question")),
            ),
        ),
        tool_evidence=(ToolEvidence(tool="write_file", call=("path",), result=("a.b", "c")),),
        depends_on=(Dependency(task_id="setup", carries_over=" it "),),
        metadata={"z": 1.5, "a": {"deep": ["x"]}, "text": "line\nline"},
        tools=("gone_tool", "write_file"),
        category="ZZ",
    )

    assert save_unchanged(desk.client, odd) == 1


@pytest.mark.slow
def test_every_field_can_be_edited(desk):
    setup = a_task(desk.persona, "setup", by=desk.author, checklist=(), files_read=())
    reorder = reverse("studio:board_move", args=[desk.benchmark.slug, desk.persona.user_id])
    desk.client.post(reorder, {"task": setup.pk, "does": "earlier"})
    data = desk.form()
    intent, item = data["intents"][0], data["checklist"][0]
    data |= {
        "title": ["Rolls"],
        "description": ["d"],
        "initial_request": ["Please\r\nbake."],
        "trigger": ["feed"],
        "payload": ["new1"],
        "payload.new1.name": ["entry"],
        "payload.new1.value": ["Flour is late"],
        "payload.new1.kind": ["text"],
        "intents": ["newA", intent],
        "intents.newA.content": ["Salt is short."],
        "intents.newA.scope": ["persistent"],
        "intents.newA.initial_status": ["provided"],
        "intents.newA.from": ["newF"],
        "intents.newA.from.newF.kind": ["session"],
        "intents.newA.from.newF.ref": ["setup"],
        "intents.newA.from.newF.note": ["said there"],
        "checklist": [item, "newB"],
        f"checklist.{item}.weight": ["2,5"],
        f"checklist.{item}.follows_from": [intent, "newA"],
        f"checklist.{item}.evidence": ["plan.md\r\n\r\nwrite_file.path"],
        "checklist.newB.criterion": ["The plan exists."],
        "checklist.newB.weight": [""],
        "checklist.newB.grader": ["rule"],
        "checklist.newB.rule_kind": ["tool_called"],
        "checklist.newB.rule_tool": ["write_file"],
        "checklist.newB.rule_arguments": ['{"path": "plan.md"}'],
        "depends_on": ["newD"],
        "depends_on.newD.task_id": ["setup"],
        "depends_on.newD.carries_over": ["the shelf"],
        "group": ["Saturday"],
        "files_read": ["plan.md\r\nnotes.md"],
        "tool_evidence": ["newE"],
        "tool_evidence.newE.tool": ["write_file"],
        "tool_evidence.newE.call": ["path\r\ncontent"],
        "tool_evidence.newE.result": [""],
        "tools": ["read_file"],
        "category": [""],
        "task_type": ["long_term"],
        "environment_id": ["env"],
        "reference_workflow": ["First the rye."],
        "expected_artifacts": ["plan.md"],
        "metadata": ["newM"],
        "metadata.newM.name": ["difficulty"],
        "metadata.newM.value": ["hard"],
        "metadata.newM.kind": ["text"],
        "note": ["A new plan."],
    }

    answer = desk.client.post(desk.url, data)

    assert answer.status_code == 302, answer.content.decode()
    spec = desk.spec
    assert (spec.title, spec.initial_request, spec.group) == ("Rolls", "Please\nbake.", "Saturday")
    assert spec.trigger == Trigger(kind="feed", payload={"entry": "Flour is late"})
    salt, rye = spec.intents
    assert (salt.content, salt.scope, salt.initial_status) == ("Salt is short.", "persistent", "provided")
    assert salt.recoverable_from == (Recovery(kind="session", ref="setup", note="said there"),)
    assert rye.uid == intent
    first, second = spec.checklist
    assert (first.uid, first.weight, first.evidence) == (item, 2.5, ("plan.md", "write_file.path"))
    assert first.follows_from == (salt.uid, rye.uid)
    assert second.rule == ExactCheck(kind="tool_called", tool="write_file", arguments={"path": "plan.md"})
    assert spec.depends_on == (Dependency(task_id="setup", carries_over="the shelf"),)
    assert spec.tool_evidence == (ToolEvidence(tool="write_file", call=("path", "content")),)
    assert (spec.files_read, spec.tools) == (("plan.md", "notes.md"), ("read_file",))
    assert spec.metadata == {"difficulty": "hard"}
    assert desk.task.revisions.get(number=2).note == "A new plan."


@pytest.mark.slow
def test_a_rule_on_an_app_record_is_written_without_code_and_shown_as_written(desk):
    data = desk.form()
    item = data["checklist"][0]
    written = {
        "grader": "rule",
        "rule_kind": "record_exists",
        "rule_record": "todoist.tasks",
        "rule_arguments": "title = Weekly plan\r\nis_completed = false\r\ndescription contains Friday",
    }

    desk.client.post(desk.url, data | {f"checklist.{item}.{name}": [value] for name, value in written.items()})
    assert desk.spec.checklist[0].rule == ExactCheck(
        kind="record_exists",
        app="todoist",
        table="tasks",
        arguments={"title": "Weekly plan", "is_completed": False},
        containing={"description": "Friday"},
    )
    shown = desk.form()
    assert shown[f"checklist.{item}.rule_arguments"] == [written["rule_arguments"]]
    assert shown[f"checklist.{item}.rule_record"] == ["todoist.tasks"]

    desk.client.post(desk.url, shown | {f"checklist.{item}.rule_kind": ["nothing_else_changed"]})
    assert desk.spec.checklist[0].rule == ExactCheck(kind="nothing_else_changed", app="todoist")

    wrong = {f"checklist.{item}.rule_arguments": ["tite = Weekly plan"]}
    answer = desk.client.post(desk.url, shown | wrong)
    assert "A task in Todoist has no “tite”. It has title, " in answer.content.decode()


@pytest.mark.slow
def test_long_checklist_renders_only_rule_fields_in_use(desk, monkeypatch):
    monkeypatch.setattr(editor_context, "BRIEF_ROWS_FROM", 0)
    data = desk.form()
    item = data["checklist"][0]
    assert f"checklist.{item}.rule_kind" not in data

    desk.client.post(desk.url, data | {f"checklist.{item}.grader": ["rule"]})

    assert desk.spec.checklist[0].rule == ExactCheck(kind="file_contains")
    data = desk.form()
    assert data[f"checklist.{item}.rule_kind"] == ["file_contains"]
    desk.client.post(desk.url, data | {f"checklist.{item}.grader": ["rubric"], f"checklist.{item}.rule_path": ["a.md"]})
    assert desk.spec.checklist[0].grader == "rubric"


@pytest.mark.slow
def test_invalid_input_is_reported_beside_its_field_and_preserved(desk):
    data = desk.form()
    item = data["checklist"][0]
    data |= {f"checklist.{item}.weight": ["heavy"], "title": ["My new title"], "task_id": [" "]}

    answer = desk.client.post(desk.url, data)

    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Enter a weight greater than 0." in html
    assert "Enter an id for the task" in html
    assert "My new title" in html
    assert 'value="heavy"' in html
    assert Task.objects.get(pk=desk.task.pk).version == 1


@pytest.mark.slow
def test_stale_save_shows_both_versions_and_loses_nothing(desk):
    own, other = desk.form(), Client()
    other.force_login(member(desk.benchmark, Role.AUTHOR))
    other.post(desk.url, desk.form() | {"title": ["Theirs"]})

    answer = desk.client.post(desk.url, own | {"title": ["Mine"]})

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else saved version 2" in html
    assert "<mark>Theirs</mark>" in html and "<mark>Mine</mark>" in html
    assert desk.spec.title == "Theirs"
    again = form_of(html, "task").data()
    again = form_of(desk.client.post(desk.url, again | {"mine": again["unresolved"]}).content.decode(), "task").data()
    desk.client.post(desk.url, again)
    assert desk.spec.title == "Mine"
    assert desk.task.revisions.count() == 3


@pytest.mark.slow
def test_own_version_saved_elsewhere_is_not_told_as_somebody_elses(desk):
    first = desk.form()
    desk.client.post(desk.url, first | {"title": ["Elsewhere"]})

    html = desk.client.post(desk.url, first | {"title": ["Here"]}).content.decode()

    assert "You saved another version elsewhere" in html and "Use the other" in html
    assert "Someone else" not in html and "Theirs" not in html and "You both" not in html


@pytest.mark.slow
def test_rows_can_be_edited_without_scripts_before_saving(desk):
    first = desk.form()
    more = form_of(desk.client.post(desk.url, first | {"do": ["intents:add"]}).content.decode(), "task").data()
    [old, new] = more["intents"]
    more[f"intents.{new}.content"] = ["Salt is short."]
    moved = desk.client.post(desk.url, more | {"do": [f"intents:up:{new}"]}).content.decode()
    assert form_of(moved, "task").data()["intents"] == [new, old]
    gone = desk.client.post(desk.url, form_of(moved, "task").data() | {"do": [f"intents:remove:{old}"]})
    form = form_of(gone.content.decode(), "task").data()
    assert form["intents"] == [new]
    assert Task.objects.get(pk=desk.task.pk).version == 1

    desk.client.post(desk.url, form)

    assert [intent.content for intent in desk.spec.intents] == ["Salt is short."]


@pytest.mark.slow
def test_files_are_uploaded_downloaded_replaced_and_removed(desk):
    upload = SimpleUploadedFile("orders.csv", b"rye,3\n")
    desk.client.post(desk.url, desk.form() | {"uploads": upload})
    file = reverse("studio:asset", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk, "orders.csv"])

    assert "rye,3" in desk.other.get(file).content.decode()
    download = desk.other.get(file + "?download")
    assert download.content == b"rye,3\n"
    assert download.headers["Content-Disposition"] == 'attachment; filename="orders.csv"'
    assert "sandbox" in download.headers["Content-Security-Policy"]
    data = desk.form()
    gone = desk.client.post(desk.url, data | {"do": [f"assets:remove:{data['assets'][0]}"]})
    assert [file.path for file in desk.spec.assets] == ["orders.csv"]
    desk.client.post(desk.url, form_of(gone.content.decode(), "task").data())
    assert desk.spec.assets == ()
    assert desk.other.get(file).status_code == 404


@pytest.mark.slow
def test_upload_survives_a_rejected_save(desk):
    data = desk.form()
    item = data["checklist"][0]
    refused = desk.client.post(
        desk.url,
        data | {f"checklist.{item}.weight": ["-1"], "uploads": SimpleUploadedFile("orders.csv", b"rye,3\n")},
    )
    again = form_of(refused.content.decode(), "task").data() | {f"checklist.{item}.weight": ["1"]}

    desk.client.post(desk.url, again)

    assert [file.path for file in desk.spec.assets] == ["orders.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["task.yaml", ".."])
def test_file_with_an_invalid_name_is_rejected(desk, name):
    upload = SimpleUploadedFile("x", b"x")
    upload._name = name  # as a hostile client sends it

    answer = desk.client.post(desk.url, desk.form() | {"uploads": upload})

    assert desk.spec.assets == ()
    assert answer.status_code in (302, 422)


def test_findings_are_shown_beside_their_field_with_the_text_marked(desk):
    spec = a_task_spec(initial_request="My password is 'hunter22'. Please bake.")
    save_task(desk.task.pk, spec, by=desk.author)
    desk.task.findings.all().delete()
    desk.task.findings.create(
        rule="r", severity="warning", field="initial_request", passage="hunter22", message="A secret.", fingerprint="f"
    )

    html = desk.client.get(desk.url).content.decode()

    assert '<mark class="warning" title="A secret.">hunter22</mark>' in joined(html)
    assert 'id="f-initial_request"' in html


def test_finding_underlined_in_the_text_is_not_repeated_below_it(desk):
    save_task(desk.task.pk, a_task_spec(initial_request="My password is 'hunter22'. Please bake."), by=desk.author)
    desk.task.findings.all().delete()
    for passage, fingerprint in (("hunter22", "f"), ("no longer there", "g"), ("", "h")):
        desk.task.findings.create(
            rule="r",
            severity="warning",
            field="initial_request",
            passage=passage,
            message=f"Finding {fingerprint}.",
            fingerprint=fingerprint,
        )

    html = joined(desk.client.get(desk.url).content.decode())
    beside = {panel[:1]: panel for panel in html.split('data-fingerprint="')[1:]}

    assert [name for name in "fgh" if name in beside] == ["f", "g", "h"]
    assert html.count('class="panel finding warning slim underlined"') == 1
    assert html.index('class="panel finding warning slim underlined"') < html.index("Finding f.", html.index("slim"))


@pytest.mark.slow
def test_task_goes_from_draft_to_approved_through_its_page(desk):
    desk.step("submit")
    assert desk.state == TaskState.IN_REVIEW
    assert desk.step("approve", by=desk.client).status_code == 403
    desk.step("request_changes", by=desk.other, text="Say which rye.", version="1")
    assert desk.state == TaskState.CHANGES_REQUESTED
    assert "Say which rye." in desk.client.get(desk.url).content.decode()
    desk.client.post(desk.url, desk.form() | {"title": ["Dark rye"]})
    desk.step("submit")
    refused = desk.step("approve", by=desk.other, version="1").content.decode()
    assert "It was saved while you were reading" in refused
    unticked = desk.step("approve", by=desk.other, version="2", text="Reads well.").content.decode()
    assert "Not answered “Yes”" in unticked and "Reads well." in unticked
    ticked = {f"answer.{name}": "yes" for name in ("realistic", "feasible", "correct", "well_scoped")}
    desk.step("approve", by=desk.other, version="2", **ticked)
    assert desk.state == TaskState.APPROVED
    desk.client.post(desk.url, desk.form() | {"title": ["Light rye"], "withdraw": ["1"]})
    assert desk.state == TaskState.DRAFT


def test_comments_return_a_fragment_to_htmx_and_a_page_otherwise(desk):
    url = reverse("studio:comment_add", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk])
    about = f"intents:{desk.spec.intents[0].uid}"

    part = desk.other.post(url, {"text": "Which rye?", "about": about}, headers={"HX-Request": "true"})
    whole = desk.other.post(url, {"text": "And the rolls?", "about": ""}, follow=True)

    assert "<html" not in part.content.decode()
    assert "Which rye?" in part.content.decode()
    assert (
        whole.content.decode().count("Which rye?") == 4
    )  # in the list, in the form that rewords it, beside the intent, and in the story
    assert desk.task.comments.count() == 2


@pytest.mark.slow
def test_versions_are_compared_word_by_word_and_restored(desk):
    desk.client.post(desk.url, desk.form() | {"title": ["Bread for Sunday"]})
    here = [desk.benchmark.slug, desk.persona.user_id, desk.task.pk]

    html = desk.client.get(reverse("studio:version", args=[*here, 2])).content.decode()
    assert "Bread for <del>Saturday</del><ins>Sunday</ins>" in joined(html)
    desk.client.post(reverse("studio:restore", args=[*here, 1]))

    assert desk.spec.title == "Bread for Saturday"
    assert desk.task.revisions.get(number=3).note == "Restored version 1."


def test_stale_save_of_a_profile_shows_both_versions(desk):
    url = reverse("studio:profile", args=[desk.benchmark.slug, desk.persona.user_id])
    data = form_of(desk.client.get(url).content.decode(), "profile").data()
    own = data | {
        "role_text": ["Bakes at night."],
        "long_term_goals": ["Sleep\r\nSell"],
        "tools": ["write_file"],
        "tools_more": ["write_file\r\n write_file \r\ngrep"],
        "preferences": ["newP"],
        "preferences.newP.name": ["bread"],
        "preferences.newP.value": ["dark"],
        "preferences.newP.kind": ["text"],
    }

    saved = desk.client.post(url, own)
    assert saved.status_code == 302, saved.content.decode()
    other = Client()
    other.force_login(member(desk.benchmark, Role.AUTHOR))
    late = other.post(url, data | {"role_text": ["Bakes by day."]})

    desk.persona.refresh_from_db()
    persona = load_episode(desk.persona).persona
    desk.persona.refresh_from_db()
    persona = load_episode(desk.persona).persona
    assert (persona.role_text, persona.long_term_goals) == ("Bakes at night.", ("Sleep", "Sell"))
    assert (persona.tools, persona.preferences) == (("write_file", "grep"), {"bread": "dark"})
    assert late.status_code == 409
    assert "Bakes by day." in late.content.decode()


def test_personas_and_tasks_are_created_on_their_pages(desk):
    new_persona = reverse("studio:persona_new", args=[desk.benchmark.slug])
    new_task = reverse("studio:task_new", args=[desk.benchmark.slug, "miller"])
    flour = {"task_id": "flour", "title": "Flour", "initial_request": "Mill."}

    desk.client.post(new_persona, {"user_id": "miller", "name": "Mia"})
    desk.client.post(new_task, flour)
    again = desk.client.post(new_task, flour)

    miller = desk.benchmark.personas.get(user_id="miller")
    assert [task.title for task in load_episode(miller).tasks] == ["Flour"]
    assert "Choose another id" in again.content.decode()


@pytest.mark.slow
def test_viewer_can_read_but_not_save(desk):
    viewer = Client()
    viewer.force_login(member(desk.benchmark, Role.VIEWER))

    page = viewer.get(desk.url)

    assert page.status_code == 200
    assert not [form for form in forms_of(page.content.decode()) if "step" in form.action]
    assert viewer.post(desk.url, desk.form()).status_code == 403


@pytest.mark.slow
def test_submitter_is_warned_if_nobody_else_can_review():
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.OWNER)
    task = a_task(a_persona(benchmark, by=author), by=author)
    client = Client()
    client.force_login(author)
    url = reverse("studio:workflow_step", args=[benchmark.slug, task.persona.user_id, task.pk, "submit"])

    assert "nobody else can review here yet" in client.post(url, follow=True).content.decode()
    Task.objects.update(state=TaskState.DRAFT)
    petra = member(benchmark, Role.REVIEWER)
    assert f"Submitted for review. {petra} will review it." in client.post(url, follow=True).content.decode()
    Task.objects.update(state=TaskState.DRAFT)
    quirin = member(benchmark, Role.REVIEWER)
    told = client.post(url, follow=True).content.decode()
    assert "Any of these will review it: " in told and str(quirin) in told
    Task.objects.update(state=TaskState.DRAFT)
    set_assignees(task.pk, by=author, writer=None, reviewers=[petra])
    assert f"Submitted for review. {petra} will review it." in client.post(url, follow=True).content.decode()


@pytest.mark.slow
def test_missing_grader_script_stays_selected(desk):
    script = create_script(desk.persona, "rye", "x = 1", by=desk.author)
    for named in ("scripts/rye.py", "./data/baker/scripts/rye.py", "elsewhere/none.py", ""):
        save_task(desk.task.pk, desk.spec.model_copy(update={"grader_script": named}), by=desk.author)
        form = desk.form()
        assert form["grader_script"] == [named]
        desk.client.post(desk.url, form)
        assert desk.spec.grader_script == named
    desk.client.post(desk.url, desk.form() | {"grader_script": [f"data/baker/{script.path}"]})
    assert desk.spec.grader_script == "data/baker/scripts/rye.py"
    assert "script not found" not in desk.client.get(desk.url).content.decode()


def test_picker_of_dependencies_says_what_can_be_built_on(desk):
    a_task(desk.persona, "flour", by=desk.author, title="Flour for the week", checklist=())
    last = a_task(desk.persona, "cakes", by=desk.author)
    a_task(desk.persona, "later", by=desk.author, title="Later", checklist=())

    page = joined(desk.client.get(last.get_absolute_url()).content.decode())
    free, scored = page[page.index("<optgroup") :].split("</optgroup>")[:2]

    assert "nothing scores them" in free
    assert 'value="flour"' in free
    assert "move it here first" in scored
    assert 'value="bread" disabled' in scored
    assert 'value="later"' not in free + scored
