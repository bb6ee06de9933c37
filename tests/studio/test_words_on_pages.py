"""Small tags and filters of every page: times, sizes, lists of names, and texts that are never taken for markup."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace as Row
from typing import Any

import pytest
from django.utils import timezone

from studio.templatetags import studio_ui as ui
from studio.templatetags.studio_rows import marked_pieces

HOSTILE = '<b onclick="x">&amp;</b>\''
SHOWN = "&lt;b onclick=&quot;x&quot;&gt;&amp;amp;&lt;/b&gt;&#x27;"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "just now"),
        (44, "just now"),
        (45, "1 min ago"),
        (150, "2 min ago"),
        (3599, "60 min ago"),
        (3600, "1 h ago"),
        (86_399, "24 h ago"),
        (86_400, "1 d ago"),
        (14 * 86_400 - 1, "14 d ago"),
    ],
)
def test_the_time_since_is_told_in_the_largest_unit_that_fits(seconds: int, text: str):
    assert f">{text}</time>" in ui.ago(timezone.now() - timedelta(seconds=seconds))


def test_two_weeks_ago_is_a_date_and_what_never_was_is_never():
    moment = timezone.now() - timedelta(days=14)

    assert f">{timezone.localtime(moment):%b %Y}</time>".removeprefix(">") in ui.ago(moment)
    assert f'datetime="{moment.isoformat()}"' in ui.ago(moment)
    assert "never" in ui.ago(None)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "0 bytes"),
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (1_500_000, "1.5 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_a_size_is_told_in_the_largest_unit_that_fits(size: int | None, text: str):
    assert ui.filesize(size) == text


@pytest.mark.parametrize(
    ("names", "text"), [(["tasks"], "tasks"), (["tasks", "reviews"], "tasks and reviews"), (list("abc"), "a, b and c")]
)
def test_names_are_listed_as_in_a_sentence(names: list[str], text: str):
    assert ui.in_words(names) == text


def event(verb: str, summary: str, **more: Any) -> Row:
    return Row(verb=verb, summary=summary, **more)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (event("released", "Released version 1.0."), "released version 1.0."),
        (event("released", "Released it.", task=1), ""),
        (event("released", "version 1.0"), ""),
        (event("edited", "Changed the title."), ""),
    ],
)
def test_the_summary_of_some_events_goes_on_from_the_name_of_who_did_it(row: Row, sentence: str):
    assert ui.sentence(row) == sentence


def test_what_somebody_did_is_told_without_its_object():
    assert ui.past_tense(event("submitted", "")) == "submitted for review"
    assert ui.past_tense(event("not_known", "")) == "not known"


@pytest.mark.parametrize(
    ("summary", "adds"), [("", False), ("Changes requested.", False), ("Changes requested by Ada.", True)]
)
def test_a_summary_that_repeats_the_verb_adds_nothing(summary: str, adds: bool):
    assert ui.adds_detail(event("changes_requested", summary)) is adds


@pytest.mark.parametrize(
    ("field", "item", "message", "label"),
    [
        ("intents", 3, "It is long.", "intent 3"),
        ("checklist", 2, "It is long.", "item 2"),
        ("checklist", 2, "Item 2 is long.", ""),
        ("checklist", None, "It is long.", ""),
        ("title", 1, "It is long.", ""),
    ],
)
def test_the_row_of_a_finding_is_named_unless_its_message_does(field: str, item: int | None, message: str, label: str):
    assert ui.row_label(field, item, message) == label


def test_a_row_is_found_by_its_number():
    rows = [{"name": "first"}, {"name": "second"}]

    assert [ui.index(rows, number, "name") for number in (-1, 0, 1, 2, 3)] == ["", "", "first", "second", ""]


@pytest.mark.parametrize(
    "html",
    [
        ui.status(HOSTILE),
        ui.status("draft", HOSTILE),
        ui.icon("home", HOSTILE),
        ui.crumb(HOSTILE),
        ui.crumb("here", HOSTILE),
    ],
)
def test_tags_show_what_they_are_given_as_text(html: str):
    assert "<b" not in html and SHOWN in html


def test_a_last_crumb_is_the_page_itself_and_the_others_lead_there():
    assert 'aria-current="page"' in ui.crumb("here") and "<a" not in ui.crumb("here")
    assert '<a href="/there/">there</a>' in ui.crumb("there", "/there/")


def test_a_status_has_its_own_label_or_the_one_it_is_given():
    assert "in review" in ui.status("in_review").lower()
    assert "waiting for Ada" in ui.status("in_review", "waiting for Ada")
    assert "not known yet" in ui.status("not_known_yet")
    assert "none" in ui.status(None)


def finding(passage: str, severity: str = "warning", message: str = "") -> Row:
    return Row(passage=passage, severity=severity, message=message or passage)


def thread(start: int, end: int) -> Row:
    return Row(location=Row(span=Row(start=start, end=end)), root=Row(author="Ada"))


def test_a_text_is_cut_where_findings_and_comments_begin_and_end():
    text = "Please make the plan."

    pieces = marked_pieces(text, [finding("make"), finding("the plan", "error")], [thread(7, 15)])

    assert pieces == [
        ("", "", "Please "),
        ("warning comment", "make\nAda", "make"),
        ("comment", "Ada", " "),
        ("error comment", "the plan\nAda", "the"),
        ("error", "the plan", " plan"),
        ("", "", "."),
    ]


def test_of_two_findings_about_the_same_words_the_first_is_underlined():
    assert marked_pieces("abc", [finding("bc"), finding("ab"), finding("gone"), finding("")]) == [
        ("warning", "ab", "ab"),
        ("", "", "c"),
    ]


def test_a_text_without_marks_is_one_piece():
    assert marked_pieces("abc", []) == [("", "", "abc")]
