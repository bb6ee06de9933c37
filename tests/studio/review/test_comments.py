"""Talk about a task: where it stands, who may change it, and suggestions that become versions."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from studio.domain.anchors import Quote, quotable_texts, quote_at
from studio.drafts.authors import authors_of
from studio.drafts.autosave import EditorKey, autosave
from studio.drafts.load import load_task
from studio.models import Comment, Event, Role, Task
from studio.notifications import inbox
from studio.review import comments, suggestions, workflow
from studio.review.threads import threads_of
from studio.tasks.save import save_task
from studio.tasks.transitions import WorkflowError, submit
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member

pytestmark = pytest.mark.django_db
REQUEST = a_task_spec().initial_request


class Desk:
    def __init__(self):
        self.benchmark = BenchmarkFactory()
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)

    def comment(self, words="", *, nth=0, by=None, field="initial_request", **values):
        text = quotable_texts(self.spec.to_json()).get((field, values.get("item_uid", "")), "")
        start = -1
        for _ in range(nth + 1):
            start = text.index(words, start + 1) if words else 0
        chosen = quote_at(text, start, start + len(words)) if words else None
        values = {"text": "Look here.", "quoted": chosen, "field": field} | values
        return comments.add_comment(self.task.pk, by=by or self.reviewer, **values)

    def edit(self, **fields):
        return save_task(self.task.pk, self.spec.model_copy(update=fields), by=self.author)

    @property
    def spec(self):
        return load_task(Task.objects.select_related("group").get(pk=self.task.pk))

    @property
    def threads(self):
        return threads_of(self.task, quotable_texts(self.spec.to_json()))

    def url(self, name, *args):
        return reverse(f"studio:{name}", args=[self.benchmark.slug, self.persona.user_id, self.task.pk, *args])

    def post(self, name, *args, by, **data):
        client = Client()
        client.force_login(by)
        return client.post(self.url(name, *args), data, headers={"HX-Request": "true"})


@pytest.fixture
def desk():
    return Desk()


def test_a_remark_names_the_version_it_was_made_on_and_can_be_settled_and_opened(desk):
    comment = desk.comment()

    comments.resolve(comment, by=desk.author, resolved=True)
    comments.resolve(comment, by=desk.author, resolved=True)
    assert not desk.threads[0].open
    comments.resolve(comment, by=desk.reviewer, resolved=False)

    comment.refresh_from_db()
    assert (comment.revision.number, comment.field, comment.resolved_by) == (1, "initial_request", None)
    verbs = Event.objects.filter(verb__contains="a_remark").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["settled_a_remark", "opened_a_remark_again"]


def test_words_stand_where_they_were_chosen_also_after_edits_elsewhere(desk):
    desk.comment("plan", nth=1)
    desk.edit(initial_request=f"Hello. {REQUEST}")

    [thread] = desk.threads

    start = desk.spec.initial_request.rindex("plan")
    assert (thread.location.span.start, thread.current_quote, thread.input_name) == (start, "plan", "initial_request")


def test_words_that_are_gone_say_so_and_keep_the_old_ones(desk):
    desk.comment("orders.csv")
    desk.edit(initial_request="Please make a plan.")

    [thread] = desk.threads

    assert (thread.gone, thread.root.words, thread.root.revision.number) == (True, "orders.csv", 1)
    client = Client()
    client.force_login(desk.author)
    page = client.get(desk.task.get_absolute_url()).content.decode()
    assert "not there any more" in page
    assert desk.url("version", 1) in page


def test_the_talk_is_sorted_by_place_and_settled_ones_come_last(desk):
    intent, item = desk.spec.intents[0].uid, desk.spec.checklist[0].uid
    settled = desk.comment(field="title")
    desk.comment(field="checklist", item_uid=item)
    desk.comment("rye", field="intents", item_uid=intent)
    desk.comment(field="intents", item_uid=intent)
    desk.comment("Saturday")
    desk.comment(field="")
    comments.resolve(settled, by=desk.author, resolved=True)

    names = [thread.target for thread in desk.threads]

    assert names == ["the task", "the initial request", "intent 1", "intent 1", "item 1", "the title"]
    assert [bool(thread.location.span) for thread in desk.threads] == [False, True, False, True, False, False]


def test_a_row_that_is_removed_keeps_its_talk(desk):
    desk.comment(field="intents", item_uid=desk.spec.intents[0].uid)
    desk.edit(intents=())

    assert (desk.threads[0].gone, desk.threads[0].name) == (True, "an intent that was removed")


def test_reading_the_talk_costs_the_same_for_one_and_for_many(desk, django_assert_num_queries):
    texts = quotable_texts(desk.spec.to_json())
    desk.comment("plan")
    with django_assert_num_queries(2):
        threads_of(desk.task, texts)
    for number in range(20):
        desk.edit(title=f"Title {number}")
        comments.reply(desk.comment("plan"), by=desk.author, text="Yes.")

    with django_assert_num_queries(2):
        assert len(threads_of(desk.task, texts)) == 21


def test_answers_tell_those_who_talk_and_a_remark_who_writes(desk):
    comment = desk.comment()
    comments.reply(comment, by=desk.author, text=f"@{desk.reviewer.username} I see.")
    answer = comments.reply(comment, by=desk.author, text="Done.")
    comments.reply(answer, by=desk.reviewer, text="Thanks.")

    def kinds(user):
        return [row.kind for row in reversed(inbox.inbox_of(user))]

    assert kinds(desk.author) == ["remarked", "answered"]
    assert kinds(desk.reviewer) == ["mentioned", "answered"]
    assert [one.text for one in desk.threads[0].replies][1:] == ["Done.", "Thanks."]


def test_ones_own_words_are_changed_and_taken_back_by_nobody_else(desk):
    comment = desk.comment(text="Wich rye?")
    answer = comments.reply(comment, by=desk.author, text="The dark one.")

    with pytest.raises(WorkflowError, match="Only its author"):
        comments.edit_comment(comment, by=desk.author, text="Mine now")
    comments.edit_comment(comment, by=desk.reviewer, text=f"Which rye, @{desk.author.username}?")
    assert [row.kind for row in inbox.inbox_of(desk.author)].count("mentioned") == 1
    comments.retract(comment, by=desk.reviewer)
    with pytest.raises(WorkflowError, match="already"):
        comments.retract(comment, by=desk.reviewer)

    [thread] = desk.threads
    assert (thread.root.text, bool(thread.root.deleted_at), thread.replies) == ("", True, [answer])
    comments.retract(answer, by=desk.author)
    assert desk.threads == []


def test_a_suggestion_is_applied_at_a_click_and_its_author_is_an_author(desk):
    suggested = desk.comment("plan.md", suggestion="baking.md", text="")

    applied = suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    suggested.refresh_from_db()
    assert desk.spec.initial_request == REQUEST.replace("plan.md", "baking.md")
    assert (applied.revision.number, applied.revision.created_by) == (2, desk.author)
    assert applied.revision.note == f"Applied a suggestion by {desk.reviewer}."
    assert (suggested.applied_in, suggested.applied_by, suggested.resolved_by) == (
        applied.revision,
        desk.author,
        desk.author,
    )
    assert authors_of(applied.revision) == {desk.author.pk, desk.reviewer.pk}
    submit(desk.task.pk, by=desk.author)
    with pytest.raises(WorkflowError, match="You wrote part"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    with pytest.raises(IntegrityError), transaction.atomic():
        applied.revision.reviews.create(reviewer=desk.reviewer, decision="approved")


def test_several_are_applied_together_in_one_version(desk):
    keys = [
        desk.comment("Please", suggestion="Kindly").pk,
        desk.comment("plan.md", suggestion="a.md").pk,
        desk.comment("rye", field="intents", item_uid=desk.spec.intents[0].uid, suggestion="dark rye").pk,
        desk.comment(" and save it as ", suggestion=" as ").pk,
    ]

    applied = suggestions.apply(desk.task.pk, keys, by=desk.author)

    assert applied.revision.number == 2
    assert desk.spec.initial_request == "Kindly make Saturday's baking plan from orders.csv as a.md."
    assert desk.spec.intents[0].content == "The dark rye goes in before the rolls."


def test_a_second_click_applies_nothing_twice(desk):
    suggested = desk.comment("plan.md", suggestion="plan.md plan.md")
    suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    with pytest.raises(WorkflowError, match="already been applied"):
        suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    assert desk.task.revisions.count() == 2


def test_two_for_the_same_words_are_not_applied_over_each_other(desk):
    keys = [desk.comment("Saturday", suggestion="Sunday").pk, desk.comment("make Saturday's", suggestion="do a").pk]

    with pytest.raises(WorkflowError, match="same words"):
        suggestions.apply(desk.task.pk, keys, by=desk.author)

    assert desk.spec.initial_request == REQUEST


def test_words_that_changed_since_are_a_persons_choice_and_nothing_is_lost(desk):
    suggested = desk.comment("from orders.csv", suggestion="from the orders")
    desk.edit(initial_request=REQUEST.replace("from orders.csv", "out of orders.csv"))

    applied = suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)
    choice = suggestions.conflict_of(suggested)

    assert (applied.revision, applied.unresolved, desk.task.revisions.count()) == (None, [suggested], 2)
    assert (choice.was, choice.now) == (REQUEST, REQUEST.replace("from orders.csv", "out of orders.csv"))
    assert "from the orders" in choice.suggested
    saved = suggestions.apply_resolved(desk.task.pk, suggested.pk, "Make the plan.", by=desk.author, version=2)
    assert (saved.number, desk.spec.initial_request) == (3, "Make the plan.")


def test_a_choice_on_top_of_an_old_version_is_shown_what_came_since(desk):
    suggested = desk.comment("from orders.csv", suggestion="from the orders")
    desk.edit(initial_request="Make a plan.")
    desk.edit(initial_request="Make two plans.")

    with pytest.raises(suggestions.SuggestionOutdatedError):
        suggestions.apply_resolved(desk.task.pk, suggested.pk, "Make the plan.", by=desk.author, version=2)
    url = desk.url("suggestion_conflict", suggested.pk)
    client = Client()
    client.force_login(desk.author)
    answer = client.post(url, {"version": "2", "text": "Typed <b>by hand</b>."})

    assert (answer.status_code, desk.spec.initial_request) == (409, "Make two plans.")
    assert "Typed &lt;b&gt;by hand" in answer.content.decode()


def test_a_suggestion_for_a_row_that_is_gone_is_not_applied(desk):
    suggested = desk.comment(
        "rye", field="intents", item_uid=desk.spec.intents[0].uid, suggestion="<script>alert(1)</script>"
    )
    desk.edit(intents=())

    assert suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author).unresolved == [suggested]
    with pytest.raises(WorkflowError, match="not there any more"):
        suggestions.apply_resolved(desk.task.pk, suggested.pk, "x", by=desk.author, version=2)
    client = Client()
    client.force_login(desk.author)
    for url in (desk.url("suggestion_conflict", suggested.pk), desk.task.get_absolute_url()):
        page = client.get(url).content.decode()
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_suggestion_for_the_whole_text_and_one_that_takes_words_away(desk):
    whole = desk.comment(field="description", suggestion="Orders become a plan.")
    without = desk.comment(" and save it as plan.md", suggestion="")

    suggestions.apply(desk.task.pk, [whole.pk, without.pk], by=desk.author)

    assert desk.spec.description == "Orders become a plan."
    assert desk.spec.initial_request == "Please make Saturday's baking plan from orders.csv."


def test_words_typed_and_not_saved_survive_an_applied_suggestion(desk):
    suggested = desk.comment("plan.md", suggestion="baking.md")
    client = Client()
    client.force_login(desk.author)
    autosave(EditorKey(desk.task), desk.author, {"title": ["Typed and not saved"]}, base_version=1)

    client.post(desk.url("suggestions_apply"), {"comment": [suggested.pk]})

    assert desk.task.working_copies.get(user=desk.author).sheet == {"title": ["Typed and not saved"]}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"text": " \0 "}, "Write something"),
        ({"text": "x" * 20_001}, "20001 characters"),
        ({"field": "state"}, "no such field"),
        ({"field": "intents", "item_uid": "00000000-0000-0000-0000-000000000000"}, "not in the newest"),
        ({"field": "title", "item_uid": "00000000-0000-0000-0000-000000000000"}, "no such field"),
        ({"field": "trigger", "suggestion": "x"}, "Text can only be quoted"),
        ({"field": "initial_request", "quoted": Quote("never said")}, "does not contain this text"),
        ({"field": "title", "suggestion": "Bread for Saturday"}, "identical to the current text"),
    ],
)
def test_what_cannot_be_said_is_refused_in_words(desk, values, says):
    with pytest.raises(WorkflowError, match=says):
        comments.add_comment(desk.task.pk, by=desk.reviewer, **({"text": "Look."} | values))


def test_long_and_hostile_words_are_kept_and_shown_as_words(desk):
    text = "<img src=x onerror=alert(1)> 🥖 @nobody @" + "x" * 9_900

    desk.post("comment_add", by=desk.reviewer, about="initial_request", text=text, words="plan.md", start="3")

    client = Client()
    client.force_login(desk.author)
    page = client.get(desk.task.get_absolute_url()).content.decode()
    assert Comment.objects.get().text == text
    assert "<img src=x" not in page and "&lt;img src=x" in page
    assert '<mark class="comment"' in page


def test_remarks_of_another_benchmark_and_people_without_the_right_are_kept_out(desk):
    other = Desk()
    theirs = other.comment("plan.md", suggestion="x")
    viewer = member(desk.benchmark, Role.VIEWER)

    for name in ("comment_reply", "comment_edit", "comment_resolve", "suggestion_conflict"):
        assert desk.post(name, theirs.pk, by=desk.author, text="x").status_code == 404
    desk.post("suggestions_apply", by=desk.author, comment=str(theirs.pk))
    assert (
        desk.post(
            "suggestions_apply", by=desk.reviewer, comment=str(desk.comment("plan.md", suggestion="y").pk)
        ).status_code
        == 403
    )
    assert desk.post("comment_add", by=viewer, about="", text="x").status_code == 403
    assert other.spec.initial_request == REQUEST
    with pytest.raises(IntegrityError), transaction.atomic():
        Comment.objects.create(task=desk.task, author=desk.author, text="x", reply_to=theirs)


def test_words_that_are_typed_and_not_in_a_version_yet_get_one_first(desk):
    autosave(EditorKey(desk.task), desk.author, sheet(desk, "A title nobody saved"), base_version=1)

    answer = desk.post(
        "comment_add", by=desk.author, about="title", text="Short enough?", words="nobody saved", start="8"
    )

    assert "Short enough?" in answer.content.decode()
    assert (desk.spec.title, Comment.objects.get().revision.number) == ("A title nobody saved", 2)


def sheet(desk, title):
    from tests.studio.page_forms import form_of

    client = Client()
    client.force_login(desk.author)
    return form_of(client.get(desk.task.get_absolute_url()).content.decode(), "task").data(title=title)
