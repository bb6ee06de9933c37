"""Comments, their location in edited text, and suggestions."""

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
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
REQUEST = a_task_spec().initial_request


class Desk:
    def __init__(self):
        self.benchmark = BenchmarkFactory()
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)

    def comment(self, quoted_text="", *, nth=0, by=None, field="initial_request", **values):
        text = quotable_texts(self.spec.to_json()).get((field, values.get("item_uid", "")), "")
        start = -1
        for _ in range(nth + 1):
            start = text.index(quoted_text, start + 1) if quoted_text else 0
        chosen = quote_at(text, start, start + len(quoted_text)) if quoted_text else None
        values = {"text": "Look here.", "quoted": chosen, "field": field} | values
        return comments.add_comment(self.task.pk, by=by or self.reviewer, **values)

    def edit(self, **fields):
        return save_task(self.task.pk, self.spec.model_copy(update=fields), by=self.author)

    @property
    def spec(self):
        return load_task(Task.objects.get(pk=self.task.pk))

    @property
    def threads(self):
        return threads_of(self.task, quotable_texts(self.spec.to_json()))

    def url(self, name, *args):
        return reverse(f"studio:{name}", args=[self.benchmark.slug, self.persona.user_id, self.task.pk, *args])

    def post(self, name, *args, by, **data):
        client = Client()
        client.force_login(by)
        return client.post(self.url(name, *args), data, headers={"HX-Request": "true"})


@pytest.fixture(scope="module")
def shared_desk(module_db):
    return Desk()


@pytest.fixture
def desk(shared_desk):
    return fresh(shared_desk)


def test_comment_names_its_version_and_can_be_resolved_and_reopened(desk):
    comment = desk.comment()

    comments.resolve(comment, by=desk.author, resolved=True)
    comments.resolve(comment, by=desk.author, resolved=True)
    assert not desk.threads[0].open
    comments.resolve(comment, by=desk.reviewer, resolved=False)

    comment.refresh_from_db()
    assert (comment.revision.number, comment.field, comment.resolved_by) == (1, "initial_request", None)
    verbs = Event.objects.filter(verb__contains="a_remark").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["settled_a_remark", "opened_a_remark_again"]


def test_quotes_are_located_after_edits_elsewhere(desk):
    desk.comment("plan", nth=1)
    desk.edit(initial_request=f"Hello. {REQUEST}")

    [thread] = desk.threads

    start = desk.spec.initial_request.rindex("plan")
    assert (thread.location.span.start, thread.current_quote, thread.input_name) == (start, "plan", "initial_request")


def test_deleted_quote_is_shown_as_gone_with_its_old_text(desk):
    desk.comment("orders.csv")
    desk.edit(initial_request="Please make a plan.")

    [thread] = desk.threads

    assert (thread.gone, thread.root.quote, thread.root.revision.number) == (True, "orders.csv", 1)
    client = Client()
    client.force_login(desk.author)
    page = client.get(desk.task.get_absolute_url()).content.decode()
    assert "no longer exists" in page
    assert desk.url("version", 1) in page


def test_threads_follow_the_page_and_resolved_ones_come_last(desk):
    intent, item = desk.spec.intents[0].uid, desk.spec.checklist[0].uid
    resolved = desk.comment(field="title")
    desk.comment(field="checklist", item_uid=item)
    desk.comment("rye", field="intents", item_uid=intent)
    desk.comment(field="intents", item_uid=intent)
    desk.comment("Saturday")
    desk.comment(field="")
    comments.resolve(resolved, by=desk.author, resolved=True)

    names = [thread.target for thread in desk.threads]

    assert names == ["the task", "the initial request", "intent 1", "intent 1", "item 1", "the title"]
    assert [bool(thread.location.span) for thread in desk.threads] == [False, True, False, True, False, False]


def test_removed_row_keeps_its_thread(desk):
    desk.comment(field="intents", item_uid=desk.spec.intents[0].uid)
    desk.edit(intents=())

    assert (desk.threads[0].gone, desk.threads[0].target) == (True, "an intent that was removed")


@pytest.mark.slow
def test_reading_threads_takes_a_constant_number_of_queries(desk, django_assert_num_queries):
    texts = quotable_texts(desk.spec.to_json())
    desk.comment("plan")
    with django_assert_num_queries(2):
        threads_of(desk.task, texts)
    for number in range(20):
        desk.edit(title=f"Title {number}")
        comments.reply(desk.comment("plan"), by=desk.author, text="Yes.")

    with django_assert_num_queries(2):
        assert len(threads_of(desk.task, texts)) == 21


def test_replies_notify_participants_and_comments_notify_the_author(desk):
    comment = desk.comment()
    comments.reply(comment, by=desk.author, text=f"@{desk.reviewer.username} I see.")
    answer = comments.reply(comment, by=desk.author, text="Done.")
    comments.reply(answer, by=desk.reviewer, text="Thanks.")

    def kinds(user):
        return [row.kind for row in reversed(inbox.inbox_of(user))]

    assert kinds(desk.author) == ["remarked", "answered"]
    assert kinds(desk.reviewer) == ["mentioned", "answered"]
    assert [each.text for each in desk.threads[0].replies][1:] == ["Done.", "Thanks."]


def test_an_answer_is_resolved_with_what_it_answers(desk):
    answer = comments.reply(desk.comment(), by=desk.author, text="Done.")

    comments.resolve(answer, by=desk.author)

    assert not desk.threads[0].open


def test_deleted_comment_is_answered_only_where_an_answer_is_left(desk):
    comment = desk.comment()
    answer = comments.reply(comment, by=desk.author, text="The dark one.")
    comments.retract(comment, by=desk.reviewer)
    comment.refresh_from_db()
    comments.reply(comment, by=desk.reviewer, text="Thanks.")

    for each in (answer, desk.task.comments.get(text="Thanks.")):
        comments.retract(each, by=each.author)
    with pytest.raises(WorkflowError, match="was deleted"):
        comments.reply(comment, by=desk.author, text="Still there?")


def test_a_comment_has_twenty_thousand_characters_at_most(desk):
    assert len(desk.comment(text="x" * 20_000).text) == 20_000


def test_only_the_author_can_edit_or_delete_a_comment(desk):
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


def test_author_of_an_applied_suggestion_becomes_an_author_of_the_version(desk):
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


def test_applied_suggestion_is_neither_edited_nor_deleted(desk):
    suggested = desk.comment("plan.md", suggestion="baking.md", text="Shorter.")
    suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    with pytest.raises(WorkflowError, match="Make a new one"):
        comments.edit_comment(suggested, by=desk.reviewer, text="Shorter.", suggestion="p.md")
    with pytest.raises(WorkflowError, match="stays in the history"):
        comments.retract(suggested, by=desk.reviewer)
    comments.edit_comment(suggested, by=desk.reviewer, text="Short.")

    suggested.refresh_from_db()
    assert (suggested.text, suggested.suggestion, suggested.deleted_at) == ("Short.", "baking.md", None)


def test_suggestion_that_a_person_decides_against_makes_nobody_an_author(desk):
    suggested = desk.comment("from orders.csv", suggestion="from the orders")
    desk.edit(initial_request="Make a plan.")

    saved = suggestions.apply_resolved(desk.task.pk, suggested.pk, "Make a plan.", by=desk.author, version=2)

    suggested.refresh_from_db()
    assert (saved.number, suggested.applied_in, suggested.applied_by) == (2, None, None)
    assert suggested.resolved_by == desk.author
    assert authors_of(saved) == {desk.author.pk}
    assert "answered" not in [row.kind for row in inbox.inbox_of(desk.reviewer)]


def test_a_comment_that_suggests_nothing_cannot_be_applied(desk):
    good, plain = desk.comment("plan.md", suggestion="baking.md"), desk.comment("plan.md")

    with pytest.raises(WorkflowError, match="no longer exists"):
        suggestions.apply(desk.task.pk, [good.pk, plain.pk], by=desk.author)

    assert desk.spec.initial_request == REQUEST


def test_suggestions_for_words_side_by_side_are_applied_together(desk):
    keys = [desk.comment("Please ", suggestion="").pk, desk.comment("make ", suggestion="Do ").pk]

    suggestions.apply(desk.task.pk, keys, by=desk.author)

    assert desk.spec.initial_request == REQUEST.replace("Please make ", "Do ")


def test_several_suggestions_are_applied_in_one_version(desk):
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


def test_suggestion_is_not_applied_twice(desk):
    suggested = desk.comment("plan.md", suggestion="plan.md plan.md")
    suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    with pytest.raises(WorkflowError, match="already been applied"):
        suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)

    assert desk.task.revisions.count() == 2


@pytest.mark.parametrize(("one", "other"), [("Saturday", "make Saturday's"), ("Please m", "make")])
def test_overlapping_suggestions_are_not_applied_together(desk, one, other):
    keys = [desk.comment(one, suggestion="Sunday").pk, desk.comment(other, suggestion="do a").pk]

    with pytest.raises(WorkflowError, match="change the same text"):
        suggestions.apply(desk.task.pk, keys, by=desk.author)

    assert desk.spec.initial_request == REQUEST


def test_suggestion_for_changed_text_is_left_to_a_person(desk):
    suggested = desk.comment("from orders.csv", suggestion="from the orders")
    desk.edit(initial_request=REQUEST.replace("from orders.csv", "out of orders.csv"))

    applied = suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author)
    conflict = suggestions.conflict_of(suggested)

    assert (applied.revision, applied.unresolved, desk.task.revisions.count()) == (None, [suggested], 2)
    assert (conflict.original, conflict.current) == (REQUEST, REQUEST.replace("from orders.csv", "out of orders.csv"))
    assert "from the orders" in conflict.suggested
    saved = suggestions.apply_resolved(desk.task.pk, suggested.pk, "Make the plan.", by=desk.author, version=2)
    assert (saved.number, desk.spec.initial_request) == (3, "Make the plan.")


def test_deciding_on_a_suggestion_keeps_what_others_changed_elsewhere_since(desk):
    suggested = desk.comment("from orders.csv", suggestion="from the orders")
    desk.edit(initial_request="Make a plan.")
    desk.edit(title="Bread for Sunday")

    suggestions.apply_resolved(desk.task.pk, suggested.pk, "Make the plan.", by=desk.author, version=2)

    assert (desk.spec.initial_request, desk.spec.title) == ("Make the plan.", "Bread for Sunday")


def test_deciding_on_an_outdated_version_shows_the_current_text(desk):
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


def test_suggestion_for_a_removed_row_is_not_applied(desk):
    suggested = desk.comment(
        "rye", field="intents", item_uid=desk.spec.intents[0].uid, suggestion="<script>alert(1)</script>"
    )
    desk.edit(intents=())

    assert suggestions.apply(desk.task.pk, [suggested.pk], by=desk.author).unresolved == [suggested]
    with pytest.raises(WorkflowError, match="no longer exists"):
        suggestions.apply_resolved(desk.task.pk, suggested.pk, "x", by=desk.author, version=2)
    client = Client()
    client.force_login(desk.author)
    for url in (desk.url("suggestion_conflict", suggested.pk), desk.task.get_absolute_url()):
        page = client.get(url).content.decode()
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_suggestions_can_replace_the_whole_text_or_delete_the_quote(desk):
    whole = desk.comment(field="description", suggestion="Orders become a plan.")
    without = desk.comment(" and save it as plan.md", suggestion="")

    suggestions.apply(desk.task.pk, [whole.pk, without.pk], by=desk.author)

    assert desk.spec.description == "Orders become a plan."
    assert desk.spec.initial_request == "Please make Saturday's baking plan from orders.csv."


def test_unsaved_text_survives_an_applied_suggestion(desk):
    suggested = desk.comment("plan.md", suggestion="baking.md")
    client = Client()
    client.force_login(desk.author)
    autosave(EditorKey(desk.task), desk.author, {"title": ["Typed and not saved"]}, base_version=1)

    client.post(desk.url("suggestions_apply"), {"comment": [suggested.pk]})

    assert desk.task.autosaves.get(user=desk.author).form_data == {"title": ["Typed and not saved"]}


@pytest.mark.parametrize(
    ("values", "message"),
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
def test_invalid_comments_are_rejected_with_a_message(desk, values, message):
    with pytest.raises(WorkflowError, match=message):
        comments.add_comment(desk.task.pk, by=desk.reviewer, **({"text": "Look."} | values))


def test_long_and_hostile_text_is_stored_and_escaped(desk):
    text = "<img src=x onerror=alert(1)> 🥖 @nobody @" + "x" * 9_900

    desk.post("comment_add", by=desk.reviewer, about="initial_request", text=text, words="plan.md", start="3")

    client = Client()
    client.force_login(desk.author)
    page = client.get(desk.task.get_absolute_url()).content.decode()
    assert Comment.objects.get().text == text
    assert "<img src=x" not in page and "&lt;img src=x" in page
    assert '<mark class="comment"' in page


def test_comments_need_the_right_role_in_the_same_benchmark(desk):
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


def test_commenting_on_unsaved_text_saves_a_version_first(desk):
    autosave(EditorKey(desk.task), desk.author, editor_form(desk, "A title nobody saved"), base_version=1)

    answer = desk.post(
        "comment_add", by=desk.author, about="title", text="Short enough?", words="nobody saved", start="8"
    )

    assert "Short enough?" in answer.content.decode()
    assert (desk.spec.title, Comment.objects.get().revision.number) == ("A title nobody saved", 2)


def editor_form(desk, title):
    from tests.studio.page_forms import form_of

    client = Client()
    client.force_login(desk.author)
    return form_of(client.get(desk.task.get_absolute_url()).content.decode(), "task").data(title=title)
