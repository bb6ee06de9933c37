"""Accepting and dismissing proposals."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.management import call_command

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.decisions import ProposalOutdatedError, accept_proposal, dismiss_proposal
from evaluation.assistance.proposals import row_number
from evaluation.assistance.provenance import load_origins, scripted_texts, tasks_with_proposed_texts
from evaluation.assistance.task_material import PASTED
from evaluation.models import ProposalDecision
from evaluation.releases.blocker_kinds import readiness_of
from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.domain.task import ChecklistItem, TaskSpec
from studio.drafts.load import load_episode, load_task
from studio.imports.export import episode_files, persona_archive, task_archive
from studio.imports.importer import import_files
from studio.models import Comment, Finding, Membership, Persona, Role, Task, TaskState, Waiver
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.save import save_rebased, save_task
from tests.evaluation.assistance.builders import BUNDLE, I1, I2, U1, a_spec, split_into
from tests.evaluation.builders import archive_of, benchmark_of, release_blockers
from tests.evaluation.factories import person
from tests.factories import BenchmarkFactory, mark_approved

PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")
INTENTS = json.dumps(
    {
        "intents": [
            {"content": f"Need {n} is met by noon.", "scope": "session_local", "from": "question", "ref": "",
             "quote": "", "why": ""}
            for n in ("one", "two", "three")
        ]
    }
)  # fmt: skip


def criteria(authoring) -> list[str]:
    return [item.criterion for item in authoring.spec.checklist]


def contents(authoring) -> list[str]:
    return [intent.content for intent in authoring.spec.intents]


def test_accepted_split_is_a_new_version_with_its_origin(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()

    done = accept_proposal(row.pk, by=authoring.author, texts={1: "The plan gives each shift's start."})

    assert criteria(authoring) == [PARTS[0], "The plan gives each shift's start.", "The plan has 40 loaves."]
    assert (done.state, done.decided_by, done.result.number) == ("taken", authoring.author, 2)
    assert done.result.note == "A split of item 1, proposed by clever, edited before accepting"
    provenance = load_origins(authoring.task)
    new = authoring.spec.checklist[1].uid
    assert [(provenance["checklist", uid].edited, provenance["checklist", uid].by) for uid in (I1, new)] == [
        (False, str(authoring.author)),
        (True, str(authoring.author)),
    ]


def test_empty_part_of_a_split_is_dropped(authoring):
    authoring.model_answers(split_into(*PARTS, "The plan is nice."))
    row = authoring.request()

    accept_proposal(row.pk, by=authoring.author, texts={2: "  "})

    assert criteria(authoring)[:2] == list(PARTS) and len(criteria(authoring)) == 3
    assert list(ProposalDecision.objects.values_list("row", "accepted")) == [(0, True), (1, True), (2, False)]


def test_split_without_text_is_rejected(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()

    with pytest.raises(AssistanceError, match="is empty"):
        accept_proposal(row.pk, by=authoring.author, texts={0: "", 1: " "})
    assert criteria(authoring)[0] == BUNDLE


def test_rows_are_accepted_in_any_order_and_the_rest_dismissed(authoring):
    authoring.model_answers(INTENTS)
    row = authoring.request("intents")

    assert accept_proposal(row.pk, by=authoring.author, rows=[1]).state == "ready"
    accept_proposal(row.pk, by=authoring.author, rows=[0], texts={0: "Another need."})
    done = dismiss_proposal(row.pk, by=authoring.author)

    assert contents(authoring)[2:] == ["Need two is met by noon.", "Another need."]
    assert (done.state, done.result.number) == ("taken", 3)
    with pytest.raises(AssistanceError, match="already decided"):
        accept_proposal(row.pk, by=authoring.author, rows=[2])


def test_all_rows_are_accepted_in_one_version(authoring):
    authoring.model_answers(INTENTS)
    row = authoring.request("intents")

    accept_proposal(row.pk, by=authoring.author)

    assert len(contents(authoring)) == 5 and authoring.fresh.version == 2


def test_accepting_preserves_changes_by_others(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    other = person(authoring.benchmark, "author")
    spec = authoring.spec
    save_task(authoring.task.pk, spec.model_copy(update={"title": "Another title"}), by=other)

    accept_proposal(row.pk, by=authoring.author)

    assert authoring.spec.title == "Another title" and criteria(authoring)[:2] == list(PARTS)


def test_changed_text_is_overwritten_only_on_request(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    spec = authoring.spec
    edited = tuple(
        item.model_copy(update={"criterion": "Mine."}) if item.uid == I1 else item for item in spec.checklist
    )
    save_rebased(authoring.task.pk, spec.model_copy(update={"checklist": edited}), by=authoring.author, base_version=1)

    with pytest.raises(ProposalOutdatedError) as error:
        accept_proposal(row.pk, by=authoring.author)

    assert (error.value.current, error.value.proposed) == ("Mine.", PARTS[0])
    assert criteria(authoring)[0] == "Mine."
    accept_proposal(row.pk, by=authoring.author, over_changes=True)
    assert criteria(authoring)[:2] == list(PARTS)


def test_deleted_row_is_not_restored(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    save_task(
        authoring.task.pk,
        authoring.spec.model_copy(update={"checklist": authoring.spec.checklist[1:]}),
        by=authoring.author,
    )

    with pytest.raises(AssistanceError, match="no longer exists"):
        accept_proposal(row.pk, by=authoring.author)
    assert dismiss_proposal(row.pk, by=authoring.author).state == "dismissed"


def test_accepting_turns_an_approved_task_into_a_draft(authoring):
    authoring.model_answers(split_into(*PARTS))
    row = authoring.request()
    mark_approved()

    accept_proposal(row.pk, by=authoring.author)

    assert authoring.fresh.state == TaskState.DRAFT


def test_accepted_leak_becomes_a_comment(authoring):
    leak = {"intent": 1, "degree": "wholly", "quote": "The rye goes in first.", "why": "It says the order."}
    authoring.model_answers(json.dumps({"given_away": [leak]}))
    row = authoring.request("leaks")

    done = accept_proposal(row.pk, by=authoring.author)

    comment = Comment.objects.get()
    assert (comment.field, str(comment.item_uid), comment.author) == ("intents", U1, authoring.author)
    assert "“The rye goes in first.”" in comment.text and "clever" in comment.text
    assert done.state == "taken" and done.result is None and authoring.fresh.version == 1


def test_accepted_rule_keeps_the_criterion_text(authoring):
    authoring.model_answers(
        json.dumps({"exact": True, "kind": "file_contains", "path": "plan.md", "text": "40 loaves", "why": ""})
    )
    row = authoring.request("rule", uid=I2)

    accept_proposal(row.pk, by=authoring.author, texts={0: "something else"})

    item = authoring.spec.checklist[1]
    assert (item.criterion, item.rule.path, item.rule.text) == ("The plan has 40 loaves.", "plan.md", "40 loaves")


def test_that_no_rule_decides_a_criterion_settles_its_finding_with_the_reason(authoring):
    item = ChecklistItem(uid=I1, criterion="The plan names “rye” first.")
    save_task(authoring.task.pk, authoring.spec.model_copy(update={"checklist": (item,)}), by=authoring.author)
    authoring.model_answers(json.dumps({"exact": False, "why": "First is a matter of reading."}))
    row = authoring.request("rule")
    found = Finding.objects.get(task=authoring.task, rule="criterion-should-be-rule")

    done = accept_proposal(row.pk, by=authoring.author)

    waiver = Waiver.objects.get(task=authoring.task, fingerprint=found.fingerprint)
    assert waiver.reason == "clever: no exact rule decides this. First is a matter of reading."
    assert (done.state, done.result, authoring.spec.checklist[0].grader) == ("taken", None, "rubric")


def with_first(spec: TaskSpec, criterion: str) -> TaskSpec:
    first, *others = spec.checklist
    return spec.model_copy(update={"checklist": (first.model_copy(update={"criterion": criterion}), *others)})


def rewritten(authoring, criterion: str) -> TaskSpec:
    return with_first(authoring.spec, criterion)


def test_the_origin_of_a_row_follows_its_words(authoring):
    authoring.model_answers(split_into(*PARTS))
    accept_proposal(authoring.request().pk, by=authoring.author)
    told = []

    for text in (PARTS[0], "The plan names the baker and the driver.", "Rolls are never sold warm."):
        save_task(authoring.task.pk, rewritten(authoring, text), by=authoring.author)
        origin = load_origins(authoring.task).get(("checklist", I1))
        told.append((origin.model, origin.edited) if origin else None)

    assert told == [("clever (clever-1)", False), ("clever (clever-1)", True), None]


def test_a_copy_keeps_the_origins_of_its_rows(authoring):
    authoring.model_answers(split_into(*PARTS))
    accept_proposal(authoring.request().pk, by=authoring.author)

    [copy] = copy_tasks([authoring.task], authoring.task.persona, by=authoring.author)

    origins = load_origins(copy).values()
    assert [(origin.model, origin.version) for origin in origins] == [("clever (clever-1)", None)] * 2
    assert {origin.version for origin in load_origins(authoring.task).values()} == {2}


def elsewhere() -> Persona:
    """A persona of another benchmark."""
    return Persona.objects.get(benchmark=benchmark_of(a_spec()))


@pytest.mark.slow
def test_rows_of_other_benchmarks_have_no_origin_here_unless_copied(authoring):
    authoring.model_answers(split_into(*PARTS))
    accept_proposal(authoring.request().pk, by=authoring.author)
    [copy] = copy_tasks([authoring.task], elsewhere(), by=authoring.author)
    [of_copy] = copy_tasks([copy], elsewhere(), by=authoring.author)
    guessed = Task.objects.get(persona=elsewhere())
    save_task(guessed.pk, load_task(guessed).model_copy(update={"checklist": authoring.spec.checklist}), by=None)
    authoring.model_answers(split_into("The plan names the driver.", "The plan names the van."))
    accept_proposal(authoring.request(uid=I2).pk, by=authoring.author)
    save_task(copy.pk, load_task(copy).model_copy(update={"checklist": authoring.spec.checklist}), by=None)

    assert [len(load_origins(task)) for task in (copy, of_copy, guessed)] == [2, 2, 0]


@pytest.mark.slow
def test_a_scripted_models_text_is_found_in_a_copy_that_no_pilot_ran(scripted_authoring):
    authoring = scripted_authoring()
    accept_proposal(authoring.request().pk, by=authoring.author)
    copy_tasks([authoring.task], authoring.task.persona, by=authoring.author)
    copy_tasks([authoring.task], target := elsewhere(), by=authoring.author)

    for benchmark, number in ((authoring.benchmark, 2), (target.benchmark, 1)):
        found = {kind.code: kind.number for kind in readiness_of(benchmark).kinds}
        assert found["scripted-words"] == number


def test_an_import_of_its_own_export_keeps_the_origins_of_rows(authoring):
    authoring.model_answers(split_into(*PARTS))
    accept_proposal(authoring.request().pk, by=authoring.author)
    before = load_origins(authoring.task)
    edited = {
        path: content.replace(b"names the baker", b"names each baker")
        for path, content in episode_files([load_episode(authoring.task.persona)]).items()
    }

    import_files(authoring.benchmark, edited, by=authoring.author)

    after = load_origins(authoring.task)
    assert after.keys() == before.keys() and after["checklist", I1].edited


def unpacked(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        return {name: whole.read(name) for name in whole.namelist()}


def in_another_studio(files: dict[str, bytes]) -> Task:
    """The task of these files in a benchmark that knows nothing of where they come from."""
    benchmark = BenchmarkFactory()
    report = import_files(benchmark, files, by=None)
    assert not report.errors and not [each for each in report.warnings if "origins.json" in each.file]
    return Task.objects.get(persona__benchmark=benchmark)


def told(task: Task) -> dict[tuple[str, int], tuple[str, bool]]:
    """Model and whether people edited it, by field and number of the row."""
    spec = load_task(task)
    origins = load_origins(task).items()
    return {(field, row_number(spec, field, uid) or 0): (each.model, each.edited) for (field, uid), each in origins}


@pytest.mark.parametrize("way", ["persona", "task", "command", "pack"])
@pytest.mark.slow
def test_origins_of_texts_are_told_in_another_studio(authoring, client, tmp_path, way):
    authoring.model_answers(split_into(*PARTS), json.dumps({"request": "Plan Saturday.", "why": "Shorter."}))
    accept_proposal(authoring.request().pk, by=authoring.author)
    reworded = authoring.request("reword", field="initial_request")
    accept_proposal(reworded.pk, by=authoring.author)
    save_task(authoring.task.pk, rewritten(authoring, "The plan names the baker and the driver."), by=authoring.author)
    here = told(authoring.task)
    if way == "command":
        call_command("pibench_export", benchmark=authoring.benchmark.slug, out=tmp_path, stdout=io.StringIO())
        files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    elif way == "pack":
        mark_approved()
        options = ReleaseOptions(version="1.0", accept="A test.")
        files = unpacked(archive_of(cut_release(authoring.benchmark, options, by=None, signature="Ada")))
    else:
        files = unpacked(persona_archive(authoring.fresh.persona))

    task = in_another_studio(files)
    if way == "task":
        task = in_another_studio({path: content for path, content in files.items() if path != "origins.json"})
        assert told(task) == {}
        save_task(task.pk, load_task(task).model_copy(update={"checklist": ()}), by=authoring.author)
        import_files(task.persona.benchmark, unpacked(task_archive(authoring.fresh)), by=None)

    model = "clever (clever-1)"
    assert here == {
        ("checklist", 1): (model, True),
        ("checklist", 2): (model, False),
        ("initial_request", 0): (model, False),
    }
    assert told(task) == here
    Membership.objects.create(benchmark=task.persona.benchmark, user=authoring.author, role=Role.AUTHOR)
    client.force_login(authoring.author)
    assert "as its files told when they were imported" in client.get(task.get_absolute_url()).content.decode()
    save_task(task.pk, with_first(load_task(task), "Rolls are never sold warm."), by=authoring.author)
    assert told(task) == {place: origin for place, origin in here.items() if place != ("checklist", 1)}
    [copy] = copy_tasks([task], elsewhere(), by=authoring.author)
    assert told(copy) == told(task)
    assert task.pk in tasks_with_proposed_texts(task.persona.benchmark)
    assert copy.pk in tasks_with_proposed_texts(copy.persona.benchmark)


def test_the_request_of_a_copy_keeps_its_origin(authoring):
    authoring.model_answers(json.dumps({"request": "Plan Saturday.", "why": "Shorter."}))
    accept_proposal(authoring.request("reword", field="initial_request").pk, by=authoring.author)
    [copy] = copy_tasks([authoring.task], elsewhere(), by=authoring.author)
    [of_copy] = copy_tasks([copy], elsewhere(), by=authoring.author)
    own = load_task(copy).model_copy(update={"initial_request": "When does the rye go in?"})
    save_task(copy.pk, own, by=authoring.author)

    assert told(of_copy) == told(authoring.task) == {("initial_request", 0): ("clever (clever-1)", False)}
    assert told(copy) == {}
    assert of_copy.pk in tasks_with_proposed_texts(of_copy.persona.benchmark)


def test_an_accepted_rule_leaves_the_criterion_its_authors_own(authoring):
    rule = {"exact": True, "kind": "file_contains", "path": "plan.md", "text": "40 loaves", "why": ""}
    authoring.model_answers(json.dumps(rule))
    accept_proposal(authoring.request("rule", uid=I2).pk, by=authoring.author)

    assert load_origins(authoring.task) == {}


@pytest.mark.slow
def test_a_release_tells_which_texts_are_still_a_models(authoring):
    authoring.model_answers(split_into(*PARTS))
    accept_proposal(authoring.request().pk, by=authoring.author)
    save_task(authoring.task.pk, rewritten(authoring, "Rolls are never sold warm."), by=authoring.author)
    mark_approved()

    release = cut_release(
        authoring.benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada"
    )

    with zipfile.ZipFile(io.BytesIO(archive_of(release))) as archive:
        manifest = json.loads(archive.read("pack.json"))
        card = archive.read("DATA_CARD.md").decode()
    assert manifest["made"]["model_help"] == [
        {"model": "clever (clever-1)", "scripted": False, "texts": 1, "edited": 0}
    ]
    assert "clever (clever-1): 1 text, of which people edited 0" in card


def test_text_of_a_scripted_model_blocks_a_release_until_rewritten(scripted_authoring):
    authoring = scripted_authoring()
    row = authoring.request()
    accept_proposal(row.pk, by=authoring.author)

    assert [text.location for text in scripted_texts(authoring.benchmark, [authoring.task.pk])] == ["item 1", "item 2"]
    blockers = [blocker for blocker in release_blockers(authoring.benchmark) if blocker.code == "scripted-words"]
    assert [blocker.acceptable for blocker in blockers] == [True]
    assert "item 1, item 2" in blockers[0].message
    own = [item.model_copy(update={"criterion": f"Own words {n}."}) for n, item in enumerate(authoring.spec.checklist)]
    save_task(authoring.task.pk, authoring.spec.model_copy(update={"checklist": tuple(own)}), by=authoring.author)
    assert "scripted-words" not in {blocker.code for blocker in release_blockers(authoring.benchmark)}


@pytest.mark.parametrize("kind", ["reword", "intents", "split", "rule", "checklist", "translate", "leaks"])
def test_scripted_assistant_answers_every_kind(scripted_authoring, kind):
    row = scripted_authoring().request(kind, **({"reference": PASTED} if kind == "checklist" else {}))

    assert (row.state, row.problem, row.scripted) == ("ready", "", True)
    assert row.calls.count() == 1
    if kind not in ("rule", "checklist"):
        assert row.rows
        accept_proposal(row.pk, by=row.requested_by)
