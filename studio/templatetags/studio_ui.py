"""Components of every page: status chips, icons, fields, times. Shown at `/styleguide/`."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django import template
from django.forms import CheckboxSelectMultiple, Select
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from studio.access import with_article
from studio.access.invitations import sends_mail
from studio.activity.feed import ACTIONS
from studio.domain.checks import RULES
from studio.domain.storable import normalize_newlines
from studio.domain.text.clauses import sentences
from studio.models.statuses import STATUSES
from studio.review import checklist
from studio.review.checklist import QUESTIONS, ReviewAnswer
from studio.web.components import render_component
from studio.web.static_files import imported_modules

register = template.Library()
register.filter(with_article)
register.simple_tag(sends_mail)


@register.simple_tag
@lru_cache(maxsize=1000, typed=True)  # called thousands of times a page; typed: safe HTML is a str too
def status(key: str | None, text: str = "", css: str = "") -> SafeString:
    """A status chip. ``key``: see ``models.statuses``; ``text`` replaces its label."""
    colour, shape, label = STATUSES.get(str(key), ("", "·", str(key or "none").replace("_", " ")))
    return render_component("studio/components/status.html", colour=colour, css=css, shape=shape, text=text or label)


@register.simple_tag
def severity(key: str) -> SafeString:
    return status(key)


@register.simple_tag
@lru_cache(maxsize=1000, typed=True)  # called a thousand times on a long page
def icon(name: str, label: str = "") -> SafeString:
    """An icon of ``static/icons.svg``; without a label it is hidden from screen readers."""
    return render_component("studio/components/icon.html", name=name, label=label, drawings=static("icons.svg"))


@register.simple_tag
def module(name: str) -> SafeString:
    """A script that is a module. What it imports is fetched along with it instead of one after the other."""
    imported = [[static(other)] for other in imported_modules(name)]
    preload = format_html_join("", '<link rel="modulepreload" href="{}">', imported)
    return format_html('{}<script src="{}" type="module"></script>', preload, static(name))


@register.simple_tag
def crumb(text: Any, url: str = "") -> SafeString:
    return render_component("studio/components/crumb.html", text=text, url=url)


@register.simple_tag
def ago(moment: dt.datetime | None) -> SafeString:
    if moment is None:
        return render_component("studio/components/ago.html")
    local = timezone.localtime(moment)
    exactly = f"{date_format(local, 'j F Y, H:i:s')} {local.tzname() or ''}"
    return render_component(
        "studio/components/ago.html", moment=moment.isoformat(), exactly=exactly, text=_ago_text(moment)
    )


def _ago_text(moment: dt.datetime) -> str:
    seconds = int((timezone.now() - moment).total_seconds())
    if seconds < 45:
        return "just now"
    for unit, size, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86400, 14)):
        if seconds < size * most:
            return f"{max(1, round(seconds / size))} {unit} ago"
    return date_format(timezone.localtime(moment), "j M Y")


@register.inclusion_tag("studio/components/field.html")
def field(bound: Any) -> dict[str, Any]:
    """A field is labelled optional if leaving it empty is a choice: not a select, not a number that has a value. The
    page comes back at the first with an error."""
    widget = bound.field.widget
    if bound.errors:
        widget.attrs["autofocus"] = True
    return {
        "field": bound,
        "multiple": getattr(widget, "allow_multiple_selected", False),
        "optional": not bound.field.required
        and not getattr(bound.field, "one_of_several", False)
        and not isinstance(widget, (Select, CheckboxSelectMultiple))
        and bound.initial in (None, ""),
    }


@register.simple_block_tag
def empty(content: SafeString, title: str) -> SafeString:
    return render_component("studio/components/empty.html", title=title, content=content)


SUMMARY_IS_SENTENCE = {
    "created", "imported", "piloted", "released", "audit_opened", "audit_closed", "audit_results_read",
    "results_submitted", "results_verified",
    "audit_reopened", "verdicts_corrected", "signing_key_made", "erratum_published",
}  # fmt: skip
"""Verbs of events whose summary is a whole sentence."""


@register.filter
def sentence(event: Any) -> str:
    """The event's summary as it continues the actor's name; empty where verb and summary are shown separately."""
    text = str(event.summary)
    if event.verb not in SUMMARY_IS_SENTENCE or getattr(event, "task", None) or not text[:1].isupper():
        return ""
    return text[:1].lower() + text[1:]


@register.filter
def past_tense(event: Any) -> str:
    """What an event's actor did, between their name and a subject or a colon: ``submitted for review``."""
    return re.sub(r" it\b", "", ACTIONS.get(event.verb, spaced(event.verb)))


@register.filter
def adds_detail(event: Any) -> bool:
    return bool(event.summary) and event.summary.rstrip(".").lower() != spaced(event.verb)


@register.filter
def in_words(names: Sequence[Any]) -> str:
    """``tasks, reviews and comments``."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


@register.filter
def spaced(key: Any) -> str:
    """``changes_requested`` → ``changes requested``."""
    return str(key).replace("_", " ")


@register.simple_tag
def row_label(field: str, item: int | None, message: str) -> str:
    """The row a finding is about (``item 3``), unless its message already names it."""
    kind = {"intents": "intent", "checklist": "item"}.get(field)
    name = f"{kind} {item}" if kind and item else ""
    return "" if name in message.lower() else name


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def get(mapping: Any, key: Any) -> Any:
    return mapping.get(key) if mapping else None


@register.simple_tag
def index(rows: Any, number: int, name: str) -> Any:
    """``name`` of the row with a 1-based number; empty if there is none."""
    return rows[number - 1][name] if 0 < number <= len(rows) else ""


@register.filter
def filesize(size: int | None) -> str:
    value = float(size or 0)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return "1 byte" if size == 1 else f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


@register.filter
def judges_language(rule: str) -> bool:
    return rule in RULES and RULES[rule].judges_language


@register.simple_tag
def suggestions_of(threads: Any) -> list[Any]:
    return [thread for thread in threads or () if thread.can_be_applied]


@register.simple_tag
def resolved_of(threads: Any) -> list[Any]:
    return [thread for thread in threads or () if not thread.open]


@register.simple_tag
def review_answers(review: Any) -> list[tuple[str, ReviewAnswer]]:
    return [(QUESTIONS[key].label, answer) for key, answer in checklist.from_stored(review.answers).items()]


@register.filter
def sentence_ranges(text: str) -> str:
    """“0-34 35-80”: where its sentences are, in the units of JavaScript strings, for scripts that step through them."""
    text = normalize_newlines(text)  # as browsers read it
    ranges, position, units = [], 0, 0
    for span in sentences(text):
        start = units + _units(text[position : span.start])
        position, units = span.end, start + _units(span.text)
        ranges.append(f"{start}-{units}")
    return " ".join(ranges)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
