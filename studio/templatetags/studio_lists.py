"""Rows of long lists as strings: a template takes ten times as long for each. ``escape`` is Python's own, which
Django's calls as well: wrapping each of a page's thousands of texts as safe takes three times as long."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import Any

from django import template
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from studio.domain.statistics import Figures
from studio.domain.text.clauses import sentences
from studio.models import Persona
from studio.models.listed_tasks import ListedTask
from studio.models.statuses import STATUSES
from studio.templatetags.studio_ui import icon, status

register = template.Library()

MAX_MISSING = 40
"""Empty cells shown for planned tasks that were not started."""


@register.simple_tag
def persona_options(personas: Iterable[tuple[str, str]], chosen: str = "") -> SafeString:
    """``personas``: their user ids and names."""
    return mark_safe(
        "".join(
            f'<option value="{escape(user_id)}"{" selected" if user_id == chosen else ""}>'
            f"{escape(name or user_id)}</option>"
            for user_id, name in personas
        )
    )


@register.simple_tag
def session_cells(row: Any) -> SafeString:
    cells = []
    for cell in row.cells:
        colour, shape, _ = STATUSES[cell.state]
        css = f"cell {colour}{' has-errors' if cell.errors else ''}"
        cells.append(
            f'<li><a class="{css}" href="{escape(cell.address)}" title="{escape(cell.label)}">'
            f'<span aria-hidden="true">{shape}</span></a></li>'
        )
    missing = min(row.missing, MAX_MISSING)
    return SafeString("".join(cells) + '<li aria-hidden="true"><span class="cell missing"></span></li>' * missing)


@register.simple_tag
def task_rows(tasks: Iterable[ListedTask], can_change: bool) -> SafeString:
    return mark_safe("\n".join(_task_row(task, can_change) for task in tasks))


def _task_row(task: ListedTask, can_change: bool) -> str:
    people = [task.writer[1] if task.writer else "–"]
    if task.reviewers:
        people.append(", ".join(name for _, name in task.reviewers))
    position = f"{task.position:02d} " if task.position else ""
    return (
        f"<tr>{_checkbox(task) if can_change else ''}"
        f'<th scope="row"><a href="{escape(_tasks_of(task.benchmark, task.persona))}{task.pk:d}/">'
        f"{position}{escape(_cut(task.name, 80))}</a><br>"
        f'<span class="quiet fine mono">{escape(task.task_id)}</span></th>'
        f'<td data-label="Persona">{escape(_cut(task.persona_name or task.persona, 40))}</td>'
        f'<td data-label="State">{status(task.state)}</td><td data-label="Category">{escape(task.category or "–")}</td>'
        f'<td data-label="Trigger"><span class="chip">{icon(task.trigger_kind)}{escape(task.trigger)}</span></td>'
        f'<td data-label="Author · reviewers">{escape(" · ".join(people))}</td>'
        f'<td class="number" data-label="Intents">{task.intents:d}</td>'
        f'<td class="number" data-label="Items">{task.items:d}</td>'
        f'<td class="number" data-label="Findings">{_findings(task.errors, task.warnings)}</td></tr>'
    )


@lru_cache(maxsize=1000)
def _tasks_of(slug: str, user_id: str) -> str:
    return reverse("studio:task", args=[slug, user_id, 0]).removesuffix("0/")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else truncatechars(text, length)


def _checkbox(task: ListedTask) -> str:
    value, label = f"{task.pk:d}:{task.version:d}", escape(task.name)
    return f'<td><input type="checkbox" name="task" value="{value}" aria-label="{label}"></td>'


def _findings(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return '<span class="good" title="no findings">✓</span>'
    shown = f'<span class="bad" title="errors">✕ {errors:d}</span> ' if errors else ""
    return shown + (f'<span class="warn" title="warnings">▲ {warnings:d}</span>' if warnings else "")


@register.simple_tag
def figures_rows(rows: Iterable[tuple[Persona, Figures]]) -> SafeString:
    """The personas of the paper's Table 2."""
    return mark_safe("\n".join(_figures_row(persona, figures) for persona, figures in rows))


def _figures_row(persona: Persona, figures: Figures) -> str:
    cells = "".join(
        f'<td class="number{css}">{number:d}</td>'
        for number, css in (
            (figures.tasks, ""),
            (figures.sessions, ""),
            (figures.intents, ""),
            (figures.local, " quiet"),
            (figures.persistent, " quiet"),
            (figures.rubric, ""),
            (figures.rule, ""),
            (figures.dependencies, ""),
            (figures.files, ""),
            (figures.tools, ""),
            (figures.skills, ""),
        )
    )
    head = f'<th scope="row"><a href="{escape(persona.get_absolute_url())}">{escape(str(persona))}</a></th>'
    return f"<tr>{head}{cells}</tr>"


@register.simple_tag
def gap_rows(gaps: Iterable[Any], persona: Persona | None = None) -> SafeString:
    """``ReportedGap``s of the persona's episode; without a persona, of the benchmark."""
    return mark_safe("\n".join(_gap_row(gap, persona) for gap in gaps))


def _gap_row(gap: Any, persona: Persona | None) -> str:
    if persona is None:
        chip, about = status("hint", "look"), ""
    else:
        chip, about = TO_WRITE if gap.unfinished else status("warning", "differs"), f"{persona}, "
    message, link = escape(gap.message), escape(gap.link_text)
    return (
        f'<li class="goes">{chip}<span class="grow">{message}<br> <span class="quiet fine">{escape(gap.fix)}</span>'
        f'</span><a class="small" href="{escape(gap.address)}" aria-label="{link}: {escape(about)}{message}">'
        f"{link}</a></li>"
    )


TO_WRITE = SafeString(
    '<span class="chip" title="may be closed by tasks still to be written">'
    '<span class="shape" aria-hidden="true">◌</span>to write</span>'
)


@register.filter
def sentence_ranges(text: str) -> str:
    """“0-34 35-80”: where its sentences are, in the units of JavaScript strings, for scripts that step through them."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it
    ranges, position, units = [], 0, 0
    for span in sentences(text):
        start = units + _units(text[position : span.start])
        position, units = span.end, start + _units(span.text)
        ranges.append(f"{start}-{units}")
    return " ".join(ranges)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
