"""The parts every page is made of: status chips, icons, fields, times, marked words. `/styleguide/` shows them."""

from __future__ import annotations

import datetime as dt
import json
import re
from functools import lru_cache
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString

from studio.activity.feed import DEEDS
from studio.domain.checks import RULES
from studio.models.statuses import STATUSES
from studio.review import checklist
from studio.review.checklist import POINTS, Point
from studio.web.components import render_component

register = template.Library()

MOST_MISSING = 40
"""Empty places drawn for sessions that are planned and not begun."""


@register.simple_tag
@lru_cache(maxsize=1000, typed=True)  # a page draws thousands of few kinds; what is safe HTML is a type of its own
def status(key: str | None, text: str = "", css: str = "") -> SafeString:
    """A status as colour and shape and word. ``key`` is one of ``models.statuses``; ``text`` replaces the word."""
    colour, shape, word = STATUSES.get(str(key), ("", "·", str(key or "none").replace("_", " ")))
    return render_component("studio/components/status.html", colour=colour, css=css, shape=shape, text=text or word)


@register.simple_tag
def session_cells(row: Any) -> SafeString:
    """The sessions of a persona (``reports.progress.Row``) as small links: shape, colour, and the words on hover."""
    cells = [(*STATUSES[cell.state][:2], cell) for cell in row.cells]
    return render_component(
        "studio/reports/parts/task_cells.html", cells=cells, missing=range(min(row.missing, MOST_MISSING))
    )


@register.simple_tag
def severity(key: str) -> SafeString:
    return status(key)


@register.simple_tag
@lru_cache(maxsize=1000, typed=True)  # a long page draws a thousand of few kinds
def icon(name: str, label: str = "") -> SafeString:
    """A drawing of ``static/icons.svg``; with a label it speaks, without it is decoration."""
    return render_component("studio/components/icon.html", name=name, label=label, drawings=static("icons.svg"))


@register.simple_tag
def crumb(text: Any, url: str = "") -> SafeString:
    """One step of the top line; the last has no address."""
    return render_component("studio/components/crumb.html", text=text, url=url)


@register.simple_tag
def ago(moment: dt.datetime | None) -> SafeString:
    """How long ago, with the exact moment on hover."""
    if moment is None:
        return render_component("studio/components/ago.html")
    local = timezone.localtime(moment)
    exactly = f"{date_format(local, 'j F Y, H:i:s')} {local.tzname() or ''}"
    return render_component(
        "studio/components/ago.html", moment=moment.isoformat(), exactly=exactly, text=_ago_words(moment)
    )


def _ago_words(moment: dt.datetime) -> str:
    seconds = int((timezone.now() - moment).total_seconds())
    if seconds < 45:
        return "just now"
    for unit, size, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86400, 14)):
        if seconds < size * most:
            return f"{max(1, round(seconds / size))} {unit} ago"
    return date_format(timezone.localtime(moment), "j M Y")


@register.inclusion_tag("studio/components/field.html")
def field(bound: Any) -> dict[str, Any]:
    """A form field with its label, help and errors beside it."""
    return {"field": bound, "multiple": getattr(bound.field.widget, "allow_multiple_selected", False)}


@register.simple_block_tag
def empty(content: SafeString, title: str) -> SafeString:
    """An empty place: what belongs here, an example, the first step."""
    return render_component("studio/components/empty.html", title=title, content=content)


TOLD_WHOLE = {
    "created", "imported", "piloted", "released", "audit_opened", "audit_closed", "audit_results_read",
    "template_changed", "template_deleted",
}  # fmt: skip
"""Verbs of events whose summary is a sentence that begins with what was done."""


@register.filter
def sentence(event: Any) -> str:
    """An event's summary as it goes on after the name of who did it; empty where verb and summary stand apart."""
    text = str(event.summary)
    if event.verb not in TOLD_WHOLE or getattr(event, "task", None) or not text[:1].isupper():
        return ""
    return text[:1].lower() + text[1:]


@register.filter
def deed(event: Any) -> str:
    """What an event's actor did, in the past tense, to go between their name and a subject or a colon."""
    return re.sub(r" it\b", "", DEEDS.get(event.verb, words(event.verb)))


@register.filter
def says_more(event: Any) -> bool:
    """Whether an event's summary adds to its verb."""
    return bool(event.summary) and event.summary.rstrip(".").lower() != words(event.verb)


@register.filter
def words(key: Any) -> str:
    """``changes_requested`` → ``changes requested``."""
    return str(key).replace("_", " ")


@register.simple_tag
def place_of(field: str, item: int | None, message: str) -> str:
    """The row a finding is about, where its message does not name it: “item 3”."""
    one = {"intents": "intent", "checklist": "item"}.get(field)
    name = f"{one} {item}" if one and item else ""
    return "" if name in message.lower() else name


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@register.filter
def get(mapping: Any, key: Any) -> Any:
    """``mapping|get:key`` where the key is a variable."""
    return mapping.get(key) if mapping else None


@register.simple_tag
def index(rows: Any, number: int, name: str) -> Any:
    """``name`` of the row at a 1-based place; empty if there is none."""
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
    """Whether an error of this rule may be set aside."""
    return rule in RULES and RULES[rule].judges_language


@register.simple_tag
def suggestions_of(threads: Any) -> list[Any]:
    """Those that wait for somebody to apply them."""
    return [one for one in threads or () if one.can_be_applied]


@register.simple_tag
def settled_of(threads: Any) -> list[Any]:
    return [one for one in threads or () if not one.open]


@register.simple_tag
def points_of(review: Any) -> list[tuple[str, Point]]:
    """The points of the list as a review went through it, with their labels; none if it did not."""
    return [(POINTS[key].label, point) for key, point in checklist.points_of(review.points).items()]


@register.simple_tag
def people_named(task: Any) -> dict[str, Any]:
    """Who is named for a task that came with its assignments."""
    rows = list(task.assignments.all())
    return {
        "writer": next((str(row.user) for row in rows if row.part == "writer"), ""),
        "reviewers": [str(row.user) for row in rows if row.part == "reviewer"],
    }
