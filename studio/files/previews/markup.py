"""Markdown and untrusted HTML as safe HTML."""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt

MAX_MARKDOWN = 200_000
"""Characters; longer texts are shown as plain text."""
TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_markdown.disable("image")


def markdown(text: str) -> str:
    return clean(render_unsanitised(text))


def render_unsanitised(text: str) -> str:
    """Unsanitised HTML, only for extracting text."""
    return str(_markdown.render(text))


def clean(html: str) -> str:
    """Untrusted HTML reduced to structure, without anything that loads, runs or imitates the studio."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
