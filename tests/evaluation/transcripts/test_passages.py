from __future__ import annotations

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.transcripts.passages import find_quote, highlight, highlight_markdown


def marked(rendered: str) -> str:
    """The highlighted text, joined."""
    return unescape("".join(re.findall(r'<mark class="evidence"[^>]*>(.*?)</mark>', rendered, re.DOTALL)))


def test_quote_is_found_across_line_breaks_and_escaping():
    text = 'The fee\nis <b>70</b> "euros".'

    assert find_quote(text, "fee is") == (4, 10)
    assert find_quote(text, "&lt;b&gt;70&lt;/b&gt;") == (11, 20)
    assert find_quote(text, '\\"euros\\".') == (21, 29)
    assert find_quote(text, "dollars") is None
    assert find_quote(text, "  ") is None


def test_quote_that_joins_several_places_is_marked_at_each_and_linked_once():
    rendered, located = highlight("The fee is 30. It is paid by Ada.", {"7": "fee is 30 … by Ada"})

    assert (located, rendered.count("<mark"), rendered.count('id="e7"')) == ({"7"}, 2, 1)
    assert marked(rendered) == "fee is 30by Ada"


def test_highlighting_preserves_markdown():
    rendered, located = highlight_markdown(
        "1. **Send** the *papers*\n2. Wait", {"7": "**Send** the *papers*", "8": "papers Wait"}
    )

    assert located == {"7", "8"}
    assert marked(rendered).split() == ["Send", "the", "papers", "Wait"]
    assert rendered.count("<li>") == rendered.count("</li>") == 2
    assert rendered.count('id="e7"') == rendered.count('id="e8"') == 1


def test_model_output_cannot_inject_markup():
    hostile = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) "
        '![p](https://tracker.example/p.png) <a href="https://a.example" onclick="alert(1)">a</a>'
    )

    for rendered in (
        highlight_markdown(hostile, {})[0],
        highlight_markdown(hostile, {"1": "onerror=alert(1)"})[0],
        highlight(hostile, {})[0],
    ):
        assert not re.search(r"<(script|img|iframe|svg)", rendered)
        assert not re.search(r"<[^>]+\son\w+=", rendered)
        assert 'href="javascript' not in rendered


def test_quote_found_only_in_the_source_shows_plain_text():
    rendered, located = highlight_markdown(
        "See [the note](https://a.example/secret).", {"1": "https://a.example/secret"}
    )

    assert located == {"1"}
    assert marked(rendered) == "https://a.example/secret"


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab <>&\"'\n*_`", max_size=60), data=st.data())
def test_highlighting_changes_no_character(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    rendered, _ = highlight(text, {"1": text[start:end], "2": text[: end // 2]})

    assert unescape(re.sub(r"<[^>]*>", "", rendered)) == text
