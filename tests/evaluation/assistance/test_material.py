"""What a request shows the assistant model: what the agent and the author see."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.decisions import accept_proposal, dismiss_proposal
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.opinions import opinions_of, store_opinions
from evaluation.assistance.presentation import build_view
from evaluation.assistance.prompts import build_prompt
from evaluation.assistance.proposals import IntentChoice
from evaluation.assistance.task_material import load_material
from evaluation.models import AssistantModel
from studio.domain.app_data import path_of
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import leak_question
from studio.domain.persona import PersonaSpec
from studio.domain.task import Dependency, HiddenIntent, Recovery, TaskSpec, Trigger
from studio.drafts.load import load_task
from studio.models import Comment, Task
from studio.tasks.save import save_task
from tests.evaluation.assistance.builders import U1, U2, a_request, a_spec
from tests.evaluation.assistance.conftest import Authoring
from tests.evaluation.builders import benchmark_of, file
from tests.evaluation.factories import person
from tests.factories import stored
from tests.studio.files.previews.samples import a_docx, a_pdf

ORDERS = HiddenIntent(uid=U1, content="Rye is ordered on Mondays.", scope="persistent")
MAIL = "mcp_appworld_gmail__send_email"


def prompt_of(spec: TaskSpec, *earlier: TaskSpec, kind: str = "intents", **persona: object) -> str:
    person = PersonaSpec(user_id="baker", **{"name": "Berta Baker", "tools": ("write_file",), **persona})
    benchmark = benchmark_of(*earlier, spec, persona=person)
    task = Task.objects.get(persona__benchmark=benchmark, task_id=spec.task_id)
    request: ProposalRequest = a_request(kind)
    return build_prompt(request, load_material(task, load_task(task), request)).user


@pytest.mark.django_db
class TestMaterial:
    @pytest.mark.slow
    def test_word_and_pdf_files_are_shown_as_the_text_an_agent_reads(self):
        spec = a_spec(
            assets=(stored("rules.docx", a_docx("No rye on Sundays.")), stored("ovens.pdf", a_pdf("Oven two is cold.")))
        )

        prompt = prompt_of(spec)

        assert "No rye on Sundays." in prompt and "Oven two is cold." in prompt

    def test_files_of_tasks_it_builds_on_are_shown_after_its_own(self):
        earlier = a_spec(assets=(file("prices.csv", "rye,4"), file("notes.md", "Old."))).model_copy(
            update={"task_id": "flour"}
        )
        other = a_spec(assets=(file("else.md", "Nothing."),)).model_copy(update={"task_id": "else"})

        prompt = prompt_of(
            a_spec(assets=(file("notes.md", "New."),), depends_on=(Dependency(task_id="flour"),)), earlier, other
        )

        assert prompt.index("New.") < prompt.index("rye,4")
        assert "Old." not in prompt and "Nothing." not in prompt

    def test_an_event_is_shown_with_its_data(self):
        spec = a_spec(trigger=Trigger(kind="webhook", payload={"order": "90 rolls for the fair"}), initial_request="")

        assert '<event kind="webhook">' in prompt_of(spec) and "90 rolls for the fair" in prompt_of(spec)

    def test_earlier_tasks_are_shown_with_their_intents_and_what_is_carried_over(self):
        earlier = a_spec(initial_request="Order the flour.", intents=(ORDERS,)).model_copy(update={"task_id": "flour"})
        need = Dependency(task_id="flour", carries_over="How much flour there is.")

        prompt = prompt_of(a_spec(depends_on=(need,)), earlier)

        assert "Order the flour." in prompt and "How much flour there is." in prompt
        assert 'scope="persistent" found_in="">Rye is ordered on Mondays.</need>' in prompt

    def test_intents_are_shown_with_scope_and_sources_and_blanks_are_not(self):
        told = ORDERS.model_copy(update={"recoverable_from": (Recovery(kind="file", ref="notes.md"),)})
        blank = HiddenIntent(uid=U2, content="<insert what they never say>")

        prompt = prompt_of(a_spec(intents=(blank, told)))

        assert '<intent index="2" scope="persistent" found_in="file notes.md">Rye is ordered on Mondays.' in prompt
        assert "insert what they never say" not in prompt

    def test_the_persona_is_shown_with_name_facts_and_goals_and_the_task_with_its_description(self):
        person = {"attributes": {"age": 61}, "long_term_goals": ("Sell the shop.",)}

        prompt = prompt_of(a_spec(description="A test of order."), **person)

        assert all(text in prompt for text in ("Berta Baker", "age: 61", "Sell the shop.", "A test of order."))

    def test_tools_are_shown_with_what_they_take_and_apps_with_their_records(self):
        accounts = [{"username": "o@mill.example", "first_name": "Otto", "last_name": "Oven", "password": "rye-rye"}]
        files = (file(path_of("gmail"), json.dumps({"accounts": accounts})),)

        prompt = prompt_of(a_spec(), kind="checklist", tools=(MAIL,), files=files)

        assert f'<tool name="{MAIL}" takes="' in prompt and '<record table="gmail.' in prompt
        assert "o@mill.example" in prompt and "rye-rye" not in prompt

    def test_guidelines_are_told_for_what_is_proposed(self):
        assert "Leaves something unsaid" in prompt_of(a_spec(), kind="reword")
        assert "Leaves something unsaid" not in prompt_of(a_spec(), kind="leaks")

    def test_the_profile_is_no_source(self):
        assert '"profile"' not in prompt_of(a_spec())


def intent(content: str, **fields: str) -> dict[str, str]:
    return {
        "content": content,
        "scope": "session_local",
        "from": "question",
        "ref": "",
        "quote": "",
        "why": "",
    } | fields


def test_what_was_dismissed_is_told_and_not_proposed_again(authoring):
    authoring.model_answers(json.dumps({"intents": [intent("Salt is weighed twice.")]}))
    dismiss_proposal(authoring.request("intents").pk, by=authoring.author)

    again = authoring.request("intents")

    assert "<dismissed>\n<text>Salt is weighed twice.</text>" in authoring.stub.bodies[-1]["messages"][1]["content"]
    assert (again.state, again.rows) == ("ready", [])


def test_asking_for_another_answer_dismisses_what_the_last_one_still_offers(authoring):
    authoring.model_answers(json.dumps({"intents": [intent("Salt is weighed twice."), intent("Lids stay on.")]}))
    first = authoring.request("intents")
    accept_proposal(first.pk, by=authoring.author, rows=[0])

    authoring.request("intents", fresh=True)

    assert [(each.row, each.accepted) for each in first.decisions.all()] == [(0, True), (1, False)]
    assert (
        "<dismissed>\n<text>Lids stay on.</text>\n</dismissed>" in (authoring.stub.bodies[-1]["messages"][1]["content"])
    )


def test_blanks_are_no_intents_to_give_away(authoring):
    blank = authoring.spec.model_copy(update={"intents": (HiddenIntent(uid=U1, content="<insert a need>"),)})
    save_task(authoring.task.pk, blank, by=authoring.author)

    with pytest.raises(AssistanceError, match="Write the hidden intents first"):
        authoring.request("leaks")


def test_what_an_event_gives_away_can_be_asked(authoring):
    event = Trigger(kind="feed", payload={"entry": "The rye goes in first."})
    spec = authoring.spec.model_copy(update={"trigger": event, "initial_request": ""})
    save_task(authoring.task.pk, spec, by=authoring.author)
    leak = {"intent": 1, "degree": "wholly", "quote": "The rye goes in first.", "why": ""}
    authoring.model_answers(json.dumps({"given_away": [leak]}))

    assert [row["quote"] for row in authoring.request("leaks").rows] == ["The rye goes in first."]
    with pytest.raises(AssistanceError, match="Change it there"):
        authoring.request("reword")


def opinions_on(authoring, *degrees: str, quote: str = "") -> None:
    questions = [leak_question(each.content, authoring.spec) for each in authoring.spec.intents]
    opinions = {
        question.key: Opinion(degree=degree, quote=quote if degree != "none" else "")
        for question, degree in zip(questions, degrees, strict=True)
    }
    store_opinions(authoring.benchmark.pk, authoring.endpoint.pk, opinions)


def test_second_opinions_answer_what_the_request_gives_away(authoring):
    opinions_on(authoring, "none", "partly", quote="There are 40 loaves.")

    row = authoring.request("leaks", work=False)

    assert [(each["uid"], each["degree"], each["quote"]) for each in row.rows] == [
        (U2, "partly", "There are 40 loaves.")
    ]
    assert (row.state, authoring.stub.bodies) == ("ready", [])


def test_what_the_model_said_the_request_gives_away_is_a_second_opinion(authoring):
    leak = {"intent": 1, "degree": "partly", "quote": "The rye goes in first.", "why": ""}
    authoring.model_answers(json.dumps({"given_away": [leak]}))

    authoring.request("leaks")

    questions = [leak_question(each.content, authoring.spec) for each in authoring.spec.intents]
    said = opinions_of(authoring.benchmark.pk, authoring.endpoint.pk, questions)
    assert [said[question.key] for question in questions] == [
        Opinion(degree="partly", quote="The rye goes in first."),
        Opinion(degree="none"),
    ]


@pytest.mark.parametrize(
    ("rows", "degrees"),
    [
        ([{"intent": 1, "degree": "wholly", "quote": "Made up."}], ["wholly", "none"]),
        ([{"intent": 1, "degree": "wholly"}, {"intent": 17, "degree": "wholly"}], ["wholly", None]),
        ([{"intent": 1, "degree": "wholly"}, {"intent": 2, "degree": "fully"}], ["wholly", None]),
    ],
)
def test_an_answer_of_which_a_part_is_unread_says_nothing_of_intents_that_it_does_not_name(authoring, rows, degrees):
    authoring.model_answers(json.dumps({"given_away": [{"quote": "", "why": "", **row} for row in rows]}))

    accept_proposal(authoring.request("leaks").pk, by=authoring.author)

    questions = [leak_question(each.content, authoring.spec) for each in authoring.spec.intents]
    said = opinions_of(authoring.benchmark.pk, authoring.endpoint.pk, questions)
    assert [said[each.key].degree if each.key in said else None for each in questions] == degrees
    assert Comment.objects.get().text == "The request gives this away. (clever pointed to it.)"


def test_a_rewording_is_asked_to_hide_what_the_record_says_leaks(authoring):
    opinions_on(authoring, "none", "partly", quote="There are 40 loaves.")
    authoring.model_answers(json.dumps({"request": "Plan Saturday. 40 loaves.", "why": ""}))

    authoring.request("reword")

    shown = authoring.stub.bodies[-1]["messages"][1]["content"]
    assert '<given_away>\n<words intent="2">There are 40 loaves.</words>\n</given_away>' in shown


def with_earlier_task(authoring, **fields: object) -> Authoring:
    """An author whose model finds an intent in the task before."""
    earlier = a_spec(intents=(), **fields).model_copy(update={"task_id": "flour"})
    benchmark = benchmark_of(earlier, a_spec())
    found = intent("Flour is short.", **{"from": "session", "ref": "flour"})
    authoring.model_answers(json.dumps({"intents": [found]}))
    return replace(
        authoring,
        task=Task.objects.get(persona__benchmark=benchmark, task_id="bread"),
        author=person(benchmark, "author"),
        assistant=AssistantModel.objects.create(benchmark=benchmark, endpoint=authoring.endpoint),
    )


def test_accepting_a_source_in_an_earlier_task_builds_on_it(authoring):
    author = with_earlier_task(authoring, checklist=())

    accept_proposal(author.request("intents").pk, by=author.author)

    assert author.spec.depends_on == (Dependency(task_id="flour", carries_over="Flour is short."),)


def test_a_source_in_a_task_with_its_own_checklist_says_that_it_must_move_first(authoring):
    author = with_earlier_task(authoring)
    row = author.request("intents")

    accept_proposal(row.pk, by=author.author)

    assert "“flour” has its own checklist" in row.rows[0]["notes"][0]
    assert author.spec.depends_on == ()


def test_a_source_chosen_by_hand_has_its_own_notes_and_not_the_proposed_ones(authoring):
    author = with_earlier_task(authoring)
    row = author.request("intents")

    def notes(source: str) -> tuple[str, ...]:
        return build_view(row, choices={0: IntentChoice(source=source)}).rows[0].notes

    assert notes("question") == ()
    assert notes("session flour") == notes("") == tuple(row.rows[0]["notes"]) != ()


def test_scope_and_source_of_a_proposal_are_those_the_author_chose(authoring):
    authoring.model_answers(json.dumps({"intents": [intent("Salt is weighed twice.")]}))
    row = authoring.request("intents")

    with pytest.raises(AssistanceError, match="no such source"):
        accept_proposal(row.pk, by=authoring.author, choices={0: IntentChoice("", "file secret.md")})
    accept_proposal(row.pk, by=authoring.author, choices={0: IntentChoice("persistent", "file notes.md")})

    added = authoring.spec.intents[-1]
    assert (added.scope, added.recoverable_from) == ("persistent", (Recovery(kind="file", ref="notes.md"),))
