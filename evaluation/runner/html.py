"""Results as one file for a browser: scores, and every transcript with its verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from evaluation.engine.store import Checkpoint
from evaluation.grading.credit import default_rules
from evaluation.grading.decided import Decided
from evaluation.metrics.sessions import METRICS
from evaluation.metrics.texts import percent
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.runner.elements import Html, el, estimates, exchange, page, scores_table, texts_table
from evaluation.runner.results import Results, SessionResult
from evaluation.runner.scores import TITLES, ScoredResults, score, score_tables

MET = {True: "met", False: "not met", None: "ungraded"}


def results_page(results: Results) -> str:
    scored = score(results)
    title = f"{results.run.pack.name} {results.run.pack.version} · {results.agent}"
    return page(
        title,
        el("h1", title),
        el("p", _about(results), class_="soft"),
        *(scores_table(table) for table in score_tables(scored)),
        el("h2", "Scores by persona, with 95 % intervals"),
        *(_figure(scored, mode) for mode in scored.modes),
        el("h2", "Sessions"),
        *(_session(results, session) for session in results.sessions),
    )


def _about(results: Results) -> str:
    run = results.run
    return f"Pack sha256 {run.pack.sha256}. pibench {run.pibench}, begun {run.started}."


def _figure(scored: ScoredResults, mode: ScoringMode) -> Html:
    agent = scored.agent(mode)
    rows = [
        (f"{TITLES[metric]} · {name}", scores[metric])
        for metric in METRICS
        for name, scores in (("all personas", agent.scores), *agent.personas.items())
    ]
    return estimates(rows)


def _session(results: Results, session: SessionResult) -> Html:
    comps = ", ".join(
        f"Comp {percent(session.result.comp[mode])}" + (f" ({mode})" if len(results.run.terms.modes) > 1 else "")
        for mode in results.run.terms.modes
        if session.result.comp[mode] is not None
    )
    facts = (session.state, f"{len(session.kept.turns)} turns", f"{session.spent.tokens:,} tokens", comps)
    parts = [
        el("summary", session.planned.name, " ", el("span", " · ".join(filter(None, facts)), class_="soft")),
        el("p", session.task.title),
        *([el("p", session.reason, class_="unmet")] if session.reason else []),
        _intents(session),
        *(_checklist(results, session, mode) for mode in results.run.terms.modes),
        el("h3", "Conversation"),
        *(_turn(checkpoint) for checkpoint in session.kept.turns),
    ]
    return el("details", *parts)


def _intents(session: SessionResult) -> Html:
    rows = [
        (intent.content, _mark(intent.status, intent.status in COVERED), str(intent.turn or ""))
        for intent in session.kept.intents(session.task)
    ]
    return texts_table("Hidden intents", ("intent", "how it ended", "turn"), rows)


def _mark(word: str, met: bool | None) -> Html:
    return el("span", word, class_="met" if met else "unmet")


def _checklist(results: Results, session: SessionResult, mode: ScoringMode) -> Html:
    by_item: dict[int, list[Decided]] = defaultdict(list)
    for each in sorted(session.kept.decided[mode].values(), key=lambda each: each.turn):
        by_item[each.index].append(each)
    rule = default_rules(results.run.terms.protocol)[mode]
    rows = []
    for index, decisions in sorted(by_item.items()):
        credit = rule.credit([[(each.turn, each.met) for each in decisions]])
        shown = next((each for each in decisions if each.turn == credit.turn), decisions[-1])
        why = " ".join(filter(None, (f"“{shown.quote}”" if shown.quote else "", shown.reason, shown.error)))
        rows.append((_criterion(session, index, shown), _mark(MET[credit.value], credit.value), why))
    suffix = f" ({mode})" if len(results.run.terms.modes) > 1 else ""
    return texts_table(f"Checklist{suffix}", ("criterion", "verdict", "evidence and reason"), rows)


def _criterion(session: SessionResult, index: int, decided: Decided) -> str:
    items = session.task.scored_items
    return items[index - 1].criterion if index <= len(items) else decided.label


def _turn(checkpoint: Checkpoint) -> Html:
    parts = [exchange(checkpoint.played)]
    if checkpoint.taken.reply.note:
        parts.append(el("p", checkpoint.taken.reply.note, class_="soft"))
    if checkpoint.decided:
        parts.append(el("details", el("summary", "judge on the open intents"), _on_intents(checkpoint.decided)))
    return Html("".join(parts))


def _on_intents(decided: Iterable[Decided]) -> Html:
    kinds: dict[str, str] = {"satisfaction": "met", "follow_up": "asked for"}
    rows = [
        (
            f"intent {each.index}: {kinds.get(each.kind, each.kind)}?",
            _mark("yes" if each.met else "no", each.met),
            f"{each.quote} {each.reason}",
        )
        for each in decided
    ]
    return texts_table("", ("question", "decision", "evidence and reason"), rows)
