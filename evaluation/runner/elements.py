"""What pages without a server are made of. No script, no request.

All that models, packs and services wrote is text: it is escaped where it enters, and what is a string is never markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from evaluation.grading.work import PlayedTurn
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.texts import percent
from evaluation.runner.tables import Table, plain
from studio.domain.opening_message import text_of

PAGE = Path(__file__).with_name("page.html")
MAX_TEXT = 40_000
"""Characters of one text; the rest is in the results' folder."""


class Html(str):
    """Markup, as opposed to text."""


def el(name: str, *children: str, **attributes: str) -> Html:
    """An element. Children that are not markup are text."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_clean(value))}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{''.join(map(_markup, children))}</{name}>")


def _markup(child: str) -> str:
    return child if isinstance(child, Html) else escape(_clean(child))


def _clean(text: str) -> str:
    """Without what could turn the text around it."""
    cut = text[:MAX_TEXT] + f"\n[cut: {len(text):,} characters]" if len(text) > MAX_TEXT else text
    return "\n".join(map(plain, cut.replace("\t", "    ").split("\n")))


def page(title: str, *parts: str) -> str:
    """A whole document."""
    head, _, rest = PAGE.read_text("utf-8").partition("{title}")
    middle, _, foot = rest.partition("{body}")
    body = "\n".join(map(_markup, parts))
    return f"{head}{_markup(title)}{middle}{body}{foot}"


def wide(name: str, table: str) -> Html:
    """What may be wider than a phone, and is moved by keys too."""
    return el("div", table, class_="wide", tabindex="0", role="region", aria_label=name)


def scores_table(table: Table) -> Html:
    whole = wide(table.title, _table(table.columns, table.rows, "numbers"))
    return Html("\n".join([el("h2", table.title), whole, el("p", table.note, class_="soft")]))


def texts_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """Nothing without rows."""
    rows = list(rows)
    if not rows:
        return Html("")
    return Html((el("h3", title) if title else "") + wide(title or columns[0], _table(columns, rows, "text")))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> Html:
    head = el("tr", *(el("th", column, scope="col") for column in columns))
    body = [el("tr", *(el("td", cell) for cell in row)) for row in rows]
    return el("table", el("thead", head), el("tbody", *body), class_=kind)


def estimates(rows: Sequence[tuple[str, Estimate]]) -> Html:
    """A figure: means between 0 and 1 with their intervals."""
    height = ROW * len(rows) + 20
    grid = [
        f'<line class="grid" x1="{_x(at)}" x2="{_x(at)}" y1="4" y2="{height - 18}"/>'
        + el("text", f"{100 * at:.0f}", x=_x(at), y=str(height - 4), text_anchor="middle")
        for at in (0, 0.25, 0.5, 0.75, 1)
    ]
    lines = [_line(name, estimate, ROW * number) for number, (name, estimate) in enumerate(rows)]
    told = ", ".join(f"{name} {percent(estimate.mean)}" for name, estimate in rows)
    return el("svg", *map(Html, grid), *lines, viewBox=f"0 0 400 {height}", role="img", aria_label=told)


ROW = 38
"""Height of a name with its line below."""


def _x(share: float) -> str:
    return f"{12 + 376 * share:.1f}"


def _line(name: str, estimate: Estimate, top: int) -> Html:
    y = top + 28
    parts = [el("text", name[:60], x="4", y=str(top + 14))]
    if estimate.low is not None and estimate.high is not None:
        parts.append(Html(f'<line class="range" x1="{_x(estimate.low)}" x2="{_x(estimate.high)}" y1="{y}" y2="{y}"/>'))
    if estimate.mean is not None:
        parts.append(Html(f'<circle class="mean" cx="{_x(estimate.mean)}" cy="{y}" r="5"/>'))
    return Html("".join(parts))


def exchange(turn: PlayedTurn) -> Html:
    """What was said and done in a turn."""
    parts = [
        el("div", f"Turn {turn.number}: user" if isinstance(turn.message, str) else "Event", class_="who"),
        el("div", text_of(turn.message), class_="said user"),
    ]
    for call in turn.calls:
        name = f"{call.name}{'' if call.ok else ' (error)'}"
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=1)
        shown = [el("summary", "tool call ", el("code", name)), el("div", arguments, class_="said")]
        parts.append(el("details", *shown, el("div", call.result, class_="said")))
    parts += [el("div", "agent", class_="who"), el("div", turn.reply or "(nothing)", class_="said agent")]
    return Html("".join(parts))
