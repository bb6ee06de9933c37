"""What stands in the fields and rows of an editor. A long page has hundreds of them: each part is made in one piece."""

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
SHOWN = 36
"""Characters of an intent beside the box that ticks it."""


def once(context: template.Context, name: str, what: str, make: Callable[[Any], dict[Any, Any]]) -> dict[Any, Any]:
    """What ``make`` makes of that which the context calls ``name``: made once, and kept as long as that is there."""
    layer: dict[str, Any] = next((one for one in reversed(context.dicts) if name in one), {})
    kept = f"{name}, {what}"
    if kept not in layer:
        layer[kept] = make(layer.get(name))
    made: dict[Any, Any] = layer[kept]
    return made


def findings_at(context: template.Context, field: str, item: int | None) -> list[Any]:
    """The page's findings of a field, or of one 1-based row of it."""
    found = once(context, "findings", "by place", lambda all_: _sorted(all_, lambda one: (one.field, one.item)))
    of_field: list[Any] = found.get((field, item), [])
    return of_field


def _open_threads(context: template.Context, what: str, key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    return once(context, "threads", what, lambda all_: _sorted((one for one in all_ or () if one.open), key))


def _sorted(found: Iterable[Any] | None, key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    by_key: dict[Any, list[Any]] = {}
    for one in found or ():
        by_key.setdefault(key(one), []).append(one)
    return by_key


@register.simple_tag
def marked_pieces(text: str, findings: Any, threads: Any = ()) -> list[tuple[str, str, str]]:
    """CSS classes, title and text of each stretch of ``text``, for ``marked_text.html``; unmarked text has no class."""
    spans: list[tuple[int, int, str, str]] = []
    end = 0
    found = ((text.find(one.words), one) for one in findings or () if one.words)
    for start, finding in sorted(found, key=lambda pair: pair[0]):
        if start >= end:  # the first of two findings about the same words
            end = start + len(finding.words)
            spans.append((start, end, finding.severity, finding.message))
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
def input_error(context: template.Context, *place: Any) -> SafeString:
    """The sentence that stands beside an input, found by the parts of its name."""
    errors = getattr(context.get("sheet"), "errors", None)
    sentence = errors.get(".".join(str(part) for part in place)) if errors else ""
    return render_component("studio/components/input_error.html", context, sentence=sentence) if sentence else EMPTY


@register.simple_tag(takes_context=True)
def beside(context: template.Context, field: str, item: int | None = None, uid: str = "") -> SafeString:
    """Findings and open comments on a field, or of one row of it, where they stand."""
    found = findings_at(context, field, item)
    threads = []
    if item is None or uid:
        here = _open_threads(context, "by place", lambda thread: (thread.location.field, thread.location.row))
        threads = [one for one in here.get((field, str(uid or "")), ()) if not one.gone]
    both = _both(context, (field, str(uid or "")))
    anchor = f"{field}-{item}" if item else field
    return render_component(
        "studio/components/beside.html", context, anchor=anchor, findings=found, threads=threads, both=both
    )


@register.simple_tag
def finding_panel(finding: Any, slim: bool = False) -> SafeString:
    """What a check found, and how to mend it; ``slim`` where it stands beside the words that it is about."""

    def said(name: str) -> Any:
        return finding.get(name) if isinstance(finding, Mapping) else getattr(finding, name, None)

    return render_component(
        "studio/findings/parts/panel.html",
        slim=slim,
        location=row_label(said("field") or "", said("item"), said("message")),
        about="" if slim else said("words"),
        **{name: said(name) for name in ("severity", "fingerprint", "message", "mend")},
    )


@register.inclusion_tag("studio/conflicts/both.html", takes_context=True)
def both_versions(context: template.Context, field: str) -> dict[str, Any]:
    """Where two people changed this field: both versions, to choose from."""
    return {"both": _both(context, (field, ""))}


def _both(context: template.Context, here: tuple[str, str]) -> list[tuple[int, Any]]:
    return [(number, one) for number, one in enumerate(context.get("choices") or (), 1) if one["beside"] == here]


@register.simple_tag(takes_context=True)
def input_of(context: template.Context, finding: Any) -> str:
    """The name of the input that a finding is about, on the page as it was sent or as it is drawn."""
    if isinstance(finding, dict):
        return str(finding["input"])
    rows = getattr(context.get("sheet"), finding.field, ()) if finding.field in ROW_TEXTS else ()
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
    css: str = "",
    readonly: bool = False,
    label: str = "",
    placeholder: str = "",
    id: str = "",
) -> SafeString:
    """A text field that grows with its words and underlines those a finding or a comment is about."""
    found = [one for one in findings_at(context, field, item) if one.words]
    by_input = _open_threads(context, "by input", lambda thread: thread.input_name)
    threads = [thread for thread in by_input.get(name, ()) if thread.location.span]
    told = [{name: getattr(one, name) for name in ("words", "severity", "message")} for one in found]
    return render_component(
        "studio/components/area.html",
        context,
        name=name,
        css=css,
        found=pretty_json(told) if told else "",
        text=value,
        pieces=marked_pieces(value, found, threads) if found or threads else None,
        label=label,
        placeholder=placeholder,
        id=id,
        readonly=readonly,
    )


@register.simple_tag(takes_context=True)
def row_tools(context: template.Context, list: str, key: str) -> SafeString:
    """What moves a row of a list, and takes it out; in a brief row a script puts it in."""
    return render_component("studio/tasks/rows/tools.html", context, list=list, key=key, brief=context.get("brief"))


@register.simple_tag(takes_context=True)
def followed(context: template.Context, keys: Iterable[str]) -> str:
    """The numbers of the intents that an item follows from."""
    known = _intents(context)
    numbers = sorted(int(known[key][0]) for key in {*keys} if key in known)
    return "".join(f" {number}" for number in numbers) or " no intent"


@register.simple_tag(takes_context=True)
def links(context: template.Context, item: str, keys: Iterable[str] = ()) -> SafeString:
    """A box for each intent that an item can follow from."""
    ticked = {*keys}
    intents = [(key, *intent, key in ticked) for key, intent in _intents(context).items()]
    return render_component("studio/tasks/rows/intent_links.html", context, item=item, intents=intents)


@register.simple_tag
def folded(row: dict[str, Any] | None) -> str:
    """What a row says that nobody opened, as ``sheet_from`` reads it."""
    if not row:
        return ""
    keys = " ".join(row["follows_from"])
    return f"{keys}\n{row['evidence']}" if row["evidence"] else keys


def _intents(context: template.Context) -> dict[str, tuple[str, str, str]]:
    """Number, text and the beginning of the text of each intent of the page, by key."""
    return once(
        context,
        "sheet",
        "intents by key",
        lambda sheet: {
            row["key"]: (str(number), row["content"], Truncator(row["content"]).chars(SHOWN))
            for number, row in enumerate(sheet.intents if sheet else (), 1)
        },
    )
