"""Results as one file for a browser: scores, and every transcript with its verdicts. No script, no request.

All that models, packs and services wrote is text: it is escaped where it enters, and what is a string is never markup.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluation.engine.store import Checkpoint
from evaluation.grading.credit import Credit, default_rules
from evaluation.grading.decided import Decided
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.sessions import METRICS
from evaluation.metrics.texts import percent
from evaluation.protocol.scoring import ScoringMode
from evaluation.runner.results import Results, SessionResult
from evaluation.runner.scores import TITLES, ScoredResults, score, score_tables
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


def results_page(results: Results) -> str:
    scored = score(results)
    title = f"{results.run['pack']['name']} {results.run['pack']['version']} · {results.agent}"
    body = Html("\n").join(
        [
            el("h1", title),
            el("p", _about(results), class_="soft"),
            *(_table(table) for table in score_tables(scored)),
            el("h2", "Scores by persona, with 95 % intervals"),
            *(_figure(scored, mode) for mode in scored.modes),
            el("h2", "Sessions"),
            *(_session(results, session) for session in results.sessions),
        ]
    )
    head, _, rest = PAGE.read_text("utf-8").partition("{title}")
    middle, _, foot = rest.partition("{body}")
    return f"{head}{_markup(title)}{middle}{body}{foot}"


def _about(results: Results) -> str:
    run = results.run
    return f"Pack sha256 {run['pack']['sha256']}. pibench {run['pibench']}, begun {run['started']}."


def _table(table: Table) -> Html:
    head = el("tr", *(el("th", column, scope="col") for column in table.columns))
    rows = [el("tr", *(el("td", cell) for cell in row)) for row in table.rows]
    whole = el("div", el("table", el("thead", head), el("tbody", *rows)), class_="wide")
    return Html("\n".join([el("h2", table.title), whole, el("p", table.note, class_="soft")]))


def _figure(scored: ScoredResults, mode: ScoringMode) -> Html:
    agent = scored.agent(mode)
    rows = [
        (f"{TITLES[metric]} · {name}", scores[metric])
        for metric in METRICS
        for name, scores in (("all personas", agent.scores), *agent.personas.items())
    ]
    height = 24 * len(rows) + 24
    grid = [
        f'<line class="grid" x1="{_x(at)}" x2="{_x(at)}" y1="4" y2="{height - 20}"/>'
        + el("text", f"{100 * at:.0f}", x=_x(at), y=str(height - 4), text_anchor="middle")
        for at in (0, 0.25, 0.5, 0.75, 1)
    ]
    lines = [_line(name, estimate, 24 * number + 16) for number, (name, estimate) in enumerate(rows)]
    told = ", ".join(f"{name} {percent(estimate.mean)}" for name, estimate in rows)
    return el("svg", *map(Html, grid), *lines, viewBox=f"0 0 720 {height}", role="img", aria_label=told)


def _x(share: float) -> str:
    return f"{240 + 460 * share:.1f}"


def _line(name: str, estimate: Estimate, y: int) -> Html:
    parts = [el("text", name[:36], x="0", y=str(y + 4))]
    if estimate.low is not None and estimate.high is not None:
        parts.append(Html(f'<line class="range" x1="{_x(estimate.low)}" x2="{_x(estimate.high)}" y1="{y}" y2="{y}"/>'))
    if estimate.mean is not None:
        parts.append(Html(f'<circle class="mean" cx="{_x(estimate.mean)}" cy="{y}" r="5"/>'))
    return Html("".join(parts))


def _session(results: Results, session: SessionResult) -> Html:
    comps = ", ".join(
        f"Comp {percent(session.result.comp[mode])}" + (f" ({mode})" if len(results.terms.modes) > 1 else "")
        for mode in results.terms.modes
        if session.result.comp[mode] is not None
    )
    facts = (session.state, f"{len(session.kept.turns)} turns", f"{session.spent.tokens:,} tokens", comps)
    parts = [
        el("summary", session.planned.name, " ", el("span", " · ".join(filter(None, facts)), class_="soft")),
        el("p", session.task.title),
        *([el("p", session.reason, class_="unmet")] if session.reason else []),
        _intents(session),
        *(_checklist(results, session, mode) for mode in results.terms.modes),
        el("h3", "Conversation"),
        *(_turn(checkpoint) for checkpoint in session.kept.turns),
    ]
    return el("details", *parts)


def _intents(session: SessionResult) -> Html:
    rows = [
        (intent.content, el("span", intent.status, class_=_colour(intent.status)), str(intent.turn or ""))
        for intent in session.kept.intents(session.task)
    ]
    return _rows("Hidden intents", ("intent", "how it ended", "turn"), rows)


def _colour(status: str) -> str:
    return "met" if status in ("completed", "inferred") else "unmet"


def _checklist(results: Results, session: SessionResult, mode: ScoringMode) -> Html:
    by_item: dict[int, list[Decided]] = defaultdict(list)
    for each in sorted(session.kept.decided[mode].values(), key=lambda each: each.turn):
        by_item[each.index].append(each)
    rule = default_rules(results.terms.protocol)[mode]
    rows = []
    for index, decisions in sorted(by_item.items()):
        credit = rule.credit([[(each.turn, each.met) for each in decisions]])
        shown = next((each for each in decisions if each.turn == credit.turn), decisions[-1])
        why = " ".join(filter(None, (f"“{shown.quote}”" if shown.quote else "", shown.reason, shown.error)))
        rows.append((_criterion(session, index, shown), _met(credit), why))
    suffix = f" ({mode})" if len(results.terms.modes) > 1 else ""
    return _rows(f"Checklist{suffix}", ("criterion", "verdict", "evidence and reason"), rows)


def _criterion(session: SessionResult, index: int, decided: Decided) -> str:
    items = session.task.scored_items
    return items[index - 1].criterion if index <= len(items) else decided.label


def _met(credit: Credit) -> Html:
    word = {True: "met", False: "not met", None: "ungraded"}[credit.value]
    return el("span", word, class_="met" if credit.value else "unmet")


def _rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    rows = list(rows)
    if not rows:
        return Html("")
    head = el("tr", *(el("th", column, scope="col") for column in columns))
    body = [el("tr", *(el("td", cell) for cell in row)) for row in rows]
    table = el("table", el("thead", head), el("tbody", *body), class_="text")
    return Html(el("h3", title) + el("div", table, class_="wide"))


def _turn(checkpoint: Checkpoint) -> Html:
    taken = checkpoint.taken
    parts = [
        el("div", f"Turn {taken.number}: user" if isinstance(taken.message, str) else "Event", class_="who"),
        el("div", text_of(taken.message), class_="said user"),
    ]
    for call in taken.reply.tool_calls:
        name = f"{call.name}{'' if call.ok else ' (error)'}"
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=1)
        shown = [el("summary", "tool call ", el("code", name)), el("div", arguments, class_="said")]
        parts.append(el("details", *shown, el("div", call.result, class_="said")))
    parts += [el("div", "agent", class_="who"), el("div", taken.reply.text or "(nothing)", class_="said agent")]
    if taken.reply.note:
        parts.append(el("p", taken.reply.note, class_="soft"))
    if checkpoint.decided:
        parts.append(el("details", el("summary", "judge on the open intents"), _on_intents(checkpoint.decided)))
    return Html("".join(parts))


def _on_intents(decided: Iterable[Decided]) -> Html:
    kinds: dict[str, str] = {"satisfaction": "met", "follow_up": "asked for"}
    rows = [
        (f"intent {each.index}: {kinds.get(each.kind, each.kind)}?", _yes(each.met), f"{each.quote} {each.reason}")
        for each in decided
    ]
    return _rows("", ("question", "decision", "evidence and reason"), rows)


def _yes(met: Any) -> Html:
    return el("span", "yes" if met else "no", class_="met" if met else "unmet")
