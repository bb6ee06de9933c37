from __future__ import annotations

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.transcripts.passages import find, markdown, plain


def marked(drawn: str) -> str:
    """The words inside marks, put together."""
    return unescape("".join(re.findall(r'<mark class="evidence"[^>]*>(.*?)</mark>', drawn, re.DOTALL)))


def test_a_quote_is_found_across_line_breaks_and_as_a_judge_sees_it():
    text = 'The fee\nis <b>70</b> "euros".'

    assert find(text, "fee is") == (4, 10)
    assert find(text, "&lt;b&gt;70&lt;/b&gt;") == (11, 20)
    assert find(text, '\\"euros\\".') == (21, 29)
    assert find(text, "dollars") is None
    assert find(text, "  ") is None


def test_marks_stand_in_markdown_without_breaking_it():
    drawn, found = markdown("1. **Send** the *papers*\n2. Wait", {"7": "**Send** the *papers*", "8": "papers Wait"})

    assert found == {"7", "8"}
    assert marked(drawn).split() == ["Send", "the", "papers", "Wait"]
    assert drawn.count("<li>") == drawn.count("</li>") == 2
    assert drawn.count('id="e7"') == drawn.count('id="e8"') == 1


def test_what_a_model_writes_cannot_become_markup_of_its_own():
    hostile = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) "
        '![p](https://tracker.example/p.png) <a href="https://a.example" onclick="alert(1)">a</a>'
    )

    for drawn in (markdown(hostile, {})[0], markdown(hostile, {"1": "onerror=alert(1)"})[0], plain(hostile, {})[0]):
        assert not re.search(r"<(script|img|iframe|svg)", drawn)
        assert not re.search(r"<[^>]+\son\w+=", drawn)
        assert 'href="javascript' not in drawn


def test_a_quote_that_stands_only_in_the_source_shows_the_text_as_it_was_written():
    drawn, found = markdown("See [the note](https://a.example/secret).", {"1": "https://a.example/secret"})

    assert found == {"1"}
    assert marked(drawn) == "https://a.example/secret"


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab <>&\"'\n*_`", max_size=60), data=st.data())
def test_marking_changes_no_character_of_the_text(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    drawn, _ = plain(text, {"1": text[start:end], "2": text[: end // 2]})

    assert unescape(re.sub(r"<[^>]*>", "", drawn)) == text
