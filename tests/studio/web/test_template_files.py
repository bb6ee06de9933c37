"""What holds for every template as it is written, also for what no test's page happens to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

FOLDER = Path(settings.BASE_DIR, "templates")
TEMPLATES = sorted(FOLDER.rglob("*.html"))
LONGEST = 120
FORM = re.compile(r"""<form\b(?:\{%.*?%\}|\{\{.*?\}\}|"[^"]*"|[^>"])*>""", re.DOTALL)
INCLUDED = re.compile(r"\{% include \"([^\"]+)\"")
UNESCAPED = re.compile(r"\|\s*safe(?:seq)?\b|\bautoescape\b")
CLEANED = {"instructions", "preview.html", "html"}
"""What `sanitised_html` is given: Markdown and documents after their cleaning, never what somebody typed."""


def written(path: Path) -> str:
    """Without comments, which nobody is sent."""
    return re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"))


def forms(text: str) -> Iterator[tuple[str, str]]:
    """The tag of each and what is in it."""
    for tag in FORM.finditer(text):
        yield tag[0], text[tag.end() :].partition("</form>")[0]


def carries_a_token(body: str) -> bool:
    return "{% csrf_token %}" in body or any(
        "{% csrf_token %}" in written(FOLDER / name) for name in INCLUDED.findall(body)
    )


def test_no_template_line_is_longer_than_120_characters():
    long = [
        f"{path.relative_to(settings.BASE_DIR)}:{number} has {len(line)}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]

    assert long == []


def test_every_form_that_posts_carries_its_token_and_no_other_form_tells_it():
    found = [(path, tag, carries_a_token(body)) for path in TEMPLATES for tag, body in forms(written(path))]

    assert [(str(path), tag) for path, tag, token in found if token != ('method="post"' in tag)] == []
    assert len(found) > 150


def test_what_pages_request_by_themselves_carries_the_token():
    assert """hx-headers='{"X-CSRFToken": "{{ csrf_token }}"}'""" in written(FOLDER / "base.html")


def test_no_template_takes_a_text_for_markup_but_what_was_cleaned():
    marked = {(path.name, found) for path in TEMPLATES for found in UNESCAPED.findall(written(path))}
    cleaned = {name for path in TEMPLATES for name in re.findall(r"\{% sanitised_html (\S+) %\}", written(path))}

    assert marked == set()
    assert cleaned == CLEANED
