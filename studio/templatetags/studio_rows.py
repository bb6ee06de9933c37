"""Template tags for the fields and rows of editors. A long page calls them thousands of times, so they are quick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from django import template
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from studio.domain.anchors import ROW_TEXTS
from studio.templatetags.studio_ui import pretty_json, row_label
from studio.web.components import render_component

register = template.Library()

EMPTY = SafeString("")
INTENT_LABEL_LENGTH = 36


def cached(
    context: template.Context, name: str, purpose: str, compute: Callable[[Any], dict[Any, Any]]
) -> dict[Any, Any]:
    """``compute`` of the context variable ``name``, cached in the context beside the variable."""
    layer: dict[str, Any] = next((layer for layer in reversed(context.dicts) if name in layer), {})
    key = f"{name}, {purpose}"
    if key not in layer:
        layer[key] = compute(layer.get(name))
    value: dict[Any, Any] = layer[key]
    return value


def findings_at(context: template.Context, field: str, item: int | None) -> list[Any]:
    by_field = cached(
        context,
        "findings",
        "by field and row",
        lambda findings: _grouped(findings, lambda finding: (finding.field, finding.item)),
    )
    matches: list[Any] = by_field.get((field, item), [])
    return matches


def _open_threads(context: template.Context, purpose: str, key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    return cached(
        context, "threads", purpose, lambda threads: _grouped((row for row in threads or () if row.open), key)
    )


def _grouped(rows: Iterable[Any] | None, key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    by_key: dict[Any, list[Any]] = {}
    for row in rows or ():
        by_key.setdefault(key(row), []).append(row)
    return by_key


def _underlined(findings: Iterable[Any], text: str) -> list[tuple[int, Any]]:
    """Where the findings that are underlined begin; of two about the same text, the first."""
    found = []
    end = 0
    positions = ((text.find(finding.passage), finding) for finding in findings or () if finding.passage)
    for start, finding in sorted(positions, key=lambda pair: pair[0]):
        if start >= end:
            end = start + len(finding.passage)
            found.append((start, finding))
    return found


def _underlined_keys(context: template.Context) -> dict[Any, Any]:
    """Fingerprint and row of findings that a field before this point of the page underlines."""
    return cached(context, "findings", "underlined", lambda findings: {})


@register.simple_tag
def marked_pieces(text: str, findings: Any, threads: Any = ()) -> list[tuple[str, str, str]]:
    """CSS classes, title and text of each piece of ``text``, for ``marked_text.html``; unmarked text has no class."""
    spans: list[tuple[int, int, str, str]] = [
        (start, start + len(finding.passage), finding.severity, finding.message)
        for start, finding in _underlined(findings, text)
    ]
    for thread in threads or ():
        spans.append((thread.location.span.start, thread.location.span.end, "comment", str(thread.root.author)))
    borders = sorted({0, len(text), *(border for start, end, *_ in spans for border in (start, end))})
    pieces = []
    for start, end in pairwise(borders):
        over = [span for span in spans if span[0] <= start and end <= span[1]]
        css, title = " ".join(dict.fromkeys(span[2] for span in over)), "\n".join(span[3] for span in over)
        pieces.append((css, title, text[start:end]))
    return pieces


@register.simple_tag(takes_context=True)
def input_error(context: template.Context, *name: Any) -> SafeString:
    errors = getattr(context.get("form"), "errors", None)
    message = errors.get(".".join(str(part) for part in name)) if errors else ""
    return render_component("studio/components/input_error.html", context, message=message) if message else EMPTY


@register.simple_tag(takes_context=True)
def beside(context: template.Context, field: str, item: int | None = None, uid: str = "") -> SafeString:
    """Findings, open comments and conflicts of a field or row, shown beside it."""
    findings = findings_at(context, field, item)
    threads = []
    if item is None or uid:
        by_row = _open_threads(context, "by row", lambda thread: (thread.location.field, thread.location.row))
        threads = [thread for thread in by_row.get((field, str(uid or "")), ()) if not thread.gone]
    conflicts = _conflicts_at(context, (field, str(uid or "")))
    anchor = f"{field}-{item}" if item else field
    return render_component(
        "studio/components/beside.html",
        context,
        anchor=anchor,
        findings=findings,
        underlined=_underlined_keys(context),
        threads=threads,
        field_conflicts=conflicts,
    )


@register.filter
def by_message(findings: Iterable[Any]) -> list[list[Any]]:
    """Findings that say the same of several places of a task together, each group where its first one is. Dismissed
    ones are the same if their reasons are, too."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in findings or ():
        finding = getattr(row, "finding", row)
        said = [value_of(finding, name) for name in ("rule", "severity", "message", "fix", "task_id")]
        groups.setdefault((*said, getattr(row, "reason", ""), getattr(row, "by", None)), []).append(row)
    return list(groups.values())


def value_of(finding: Any, name: str) -> Any:
    """Of a finding as the page sent it, or of a stored one."""
    return finding.get(name) if isinstance(finding, Mapping) else getattr(finding, name, None)


@register.simple_tag
def finding_panel(
    finding: Any, slim: bool = False, underlined: Mapping[Any, Any] | None = None, places: int = 1
) -> SafeString:
    """A finding and how to fix it; ``slim`` beside the text it is about. The finding may be a dict. If it is
    ``underlined``, it is seen in the text and in the list, and not in between where there is room for both. With
    several ``places`` it is said how many."""
    own = {name: value_of(finding, name) for name in ("severity", "fingerprint", "message", "fix", "item")}
    label = row_label(value_of(finding, "field") or "", own["item"], own["message"])
    return render_component(
        "studio/findings/parts/panel.html",
        slim=slim,
        underlined=(own["fingerprint"], own["item"]) in (underlined or {}),
        location=f"{places} places" if places > 1 else label,
        about="" if slim else value_of(finding, "passage"),
        **own,
    )


@register.inclusion_tag("studio/conflicts/both.html", takes_context=True)
def both_versions(context: template.Context, field: str) -> dict[str, Any]:
    return {"field_conflicts": _conflicts_at(context, (field, ""))}


def _conflicts_at(context: template.Context, row: tuple[str, str]) -> list[tuple[int, Any]]:
    numbered = enumerate(context.get("conflicts") or (), 1)
    return [(number, conflict) for number, conflict in numbered if conflict["beside"] == row]


@register.simple_tag(takes_context=True)
def input_of(context: template.Context, finding: Any) -> str:
    """The name of the input a finding is about; a finding is a dict when the page sent it."""
    if isinstance(finding, dict):
        return str(finding["input"])
    rows = getattr(context.get("form"), finding.field, ()) if finding.field in ROW_TEXTS else ()
    if not finding.item or finding.item > len(rows):
        return str(finding.field)
    return f"{finding.field}.{rows[finding.item - 1]['key']}.{ROW_TEXTS[finding.field]}"


@register.simple_tag(takes_context=True)
def area(
    context: template.Context,
    name: str,
    value: str,
    field: str = "",
    item: int | None = None,
    **look: str | bool,
) -> SafeString:
    """``look``: css, readonly, label, placeholder and id of the field."""
    findings = [finding for finding in findings_at(context, field, item) if finding.passage]
    by_input = _open_threads(context, "by input", lambda thread: thread.input_name)
    threads = [thread for thread in by_input.get(name, ()) if thread.location.span]
    names = ("passage", "severity", "message", "fingerprint")
    marks = [{name: getattr(finding, name) for name in names} for finding in findings]
    _underlined_keys(context).update({(each.fingerprint, each.item): each for _, each in _underlined(findings, value)})
    return render_component(
        "studio/components/area.html",
        context,
        name=name,
        marks=pretty_json(marks) if marks else "",
        text=value,
        pieces=marked_pieces(value, findings, threads) if findings or threads else None,
        **{"css": "", "readonly": False, "label": "", "placeholder": "", "id": ""} | look,
    )


@register.simple_tag(takes_context=True)
def row_tools(context: template.Context, list: str, key: str) -> SafeString:
    return render_component("studio/tasks/rows/tools.html", context, list=list, key=key, brief=context.get("brief"))


@register.simple_tag(takes_context=True)
def followed(context: template.Context, keys: Iterable[str]) -> str:
    intents = _intents(context)
    numbers = sorted(int(intents[key][0]) for key in {*keys} if key in intents)
    return "".join(f" {number}" for number in numbers) or " no intent"


@register.simple_tag(takes_context=True)
def links(context: template.Context, item: str, keys: Iterable[str] = ()) -> SafeString:
    ticked = {*keys}
    intents = [(key, *intent, key in ticked) for key, intent in _intents(context).items()]
    return render_component("studio/tasks/rows/intent_links.html", context, item=item, intents=intents)


@register.simple_tag
def brief_value(row: dict[str, Any] | None) -> str:
    """The ``brief`` input of a row that was never opened, as ``posted_task_form`` reads it."""
    if not row:
        return ""
    keys = " ".join(row["follows_from"])
    return f"{keys}\n{row['evidence']}" if row["evidence"] else keys


def _intents(context: template.Context) -> dict[str, tuple[str, str, str]]:
    return cached(
        context,
        "form",
        "intents by key",
        lambda form: {
            row["key"]: (str(number), row["content"], Truncator(row["content"]).chars(INTENT_LABEL_LENGTH))
            for number, row in enumerate(form.intents if form else (), 1)
        },
    )
