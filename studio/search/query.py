"""Full-text search over everything the user may read.

PostgreSQL maintains the index (``migrations/search.sql``). Queries join the user's benchmarks, so results never
include others.
Higher layers add kinds with ``search.sources.register``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from studio import access
from studio.models import Benchmark, Persona, Task, TaskState, User
from studio.search.sources import DESTINATIONS_SQL, SNIPPETS_SQL, SOURCES, Place, search_sql

MAX_QUERY = 200
"""Characters; longer queries are cut."""
MIN_TERM = 2
"""Characters of a term that is searched for within names."""
PAGE = 30
RANKED = 500
"""Matches of a kind that are read and counted, the best first; more if later pages are asked for. A word with so many
matches tells little about which is meant."""
NOTHING = ["\ue002"]
"""A pattern that no name matches."""
OPEN, CLOSE = "\ue000", "\ue001"
"""Marks around matches until the text is escaped: private use characters, removed from the text itself."""


@dataclass(frozen=True)
class SearchHit:
    kind: str
    kind_label: str
    title: str
    location: str
    """Benchmark and persona, for people."""
    state: str
    url: str
    snippet: SafeString


@dataclass(frozen=True)
class SearchResults:
    hits: list[SearchHit]
    total: int
    """Of the chosen kind, or of all kinds."""
    counts: dict[str, int]
    """By kind, regardless of the chosen one."""
    query: str
    beyond: frozenset[str] = frozenset()
    """Kinds of which there are, or may be, more than are counted."""


def search(
    user: access.AnyUser,
    text: str,
    *,
    benchmark: str = "",
    kind: str = "",
    state: str = "",
    within: int = 0,
    page: int = 1,
) -> SearchResults:
    """Rows of the user's benchmarks that match ``text``: all terms in one row, quoted terms as a phrase, ``-term``
    excluded; or names that contain all terms. ``within``: only parts of this ``SearchSource.holder``. A constant number
    of queries."""
    query = clean_query(text)
    names = {row.pk: row for row in searched_benchmarks(user) if benchmark in ("", row.slug)}
    if not query or not names:
        return SearchResults([], 0, {}, query)
    filters = {"kind": kind, "state": state, "within": within}
    parameters = _parameters(query, list(names), filters, page=page, closed=_closed_to(user))
    parameters["person"] = user.pk
    rows = _rows(search_sql(), parameters)
    counts = dict(rows[0]["counts"] or {}) if rows else {}
    beyond = frozenset(name for name, number in counts.items() if number == parameters["ranked"])
    tasks, personas = _tasks().in_bulk(_keys(rows, "task_id")), _personas().in_bulk(_keys(rows, "persona_id"))
    snippets = _snippets(user, rows, parameters)
    hits = []
    by_kind = {source.kind: source for source in SOURCES}
    for row in rows:
        if row["pk"] is None:
            continue
        source = by_kind[row["kind"]]
        task, persona = tasks.get(row["task_id"]), personas.get(row["persona_id"])
        target: Any = task or persona or names[row["benchmark_id"]]
        location = [str(names[row["benchmark_id"]])] if task or persona or source.address else []
        if task and persona:
            location.append(str(persona))
        url = source.address(row["pk"]) if source.address else target.get_absolute_url()
        anchor = f"#{source.anchor.format(item=row['item'])}" if source.anchor else ""
        hits.append(
            SearchHit(
                kind=row["kind"],
                kind_label=source.label,
                title=_plain(row["text"]) if source.address else str(target),
                location=" › ".join(location),
                state=row["state"],
                url=url + anchor,
                snippet=mark_matches(
                    snippets.get((row["kind"], row["pk"], row["item"]), "") if source.address else row["snippet"] or ""
                ),
            )
        )
    total = counts.get(kind, 0) if kind in by_kind else sum(counts.values())
    return SearchResults(hits, total, counts, query, beyond)


def _snippets(
    user: access.AnyUser, rows: Sequence[dict[str, Any]], parameters: Mapping[str, Any]
) -> dict[tuple[str, int, int | None], str]:
    """By kind, key and item, of the kinds whose passages are read for the person."""
    passages: dict[tuple[str, int, int | None], Sequence[str]] = {}
    for source in SOURCES:
        places: list[Place] = [(row["pk"], row["item"]) for row in rows if row["kind"] == source.kind]
        if source.passages and places:
            passages |= {(source.kind, *place): texts for place, texts in source.passages(user, places).items()}
    keys = list(passages)
    texts = [(number, _plain(text)) for number, key in enumerate(keys) for text in passages[key]]
    if not texts:
        return {}
    asked = {"numbers": [number for number, _ in texts], "passages": [text for _, text in texts]}
    return {keys[row["number"]]: row["snippet"] for row in _rows(SNIPPETS_SQL, {**parameters, **asked})}


def searched_benchmarks(user: access.AnyUser) -> list[Benchmark]:
    return list(access.benchmarks_for(user))


_OF_PERSONA = ("name", "user_id", "benchmark__name", "benchmark__slug")


def _personas() -> QuerySet[Persona]:
    return Persona.objects.select_related("benchmark").only(*_OF_PERSONA)


def _tasks() -> QuerySet[Task]:
    names = (f"persona__{name}" for name in _OF_PERSONA)
    return Task.objects.select_related("persona__benchmark").only("task_id", "title", *names)


def _closed_to(user: access.AnyUser) -> list[tuple[str, int]]:
    if not isinstance(user, User):
        return []
    return [(source.kind, pk) for source in SOURCES if source.closed_to for pk in source.closed_to(user)]


def _parameters(
    text: str, benchmarks: list[int], filters: Mapping[str, Any], *, page: int, closed: Sequence[tuple[str, int]]
) -> dict[str, Any]:
    page = max(1, page)
    ranked = RANKED
    while ranked <= page * PAGE:
        ranked *= 2  # in steps, since the order of pages depends on it
    parts = term_patterns(text)
    return {
        "text": text,
        "parts": parts,
        "part": max(parts, key=len),
        "named": parts != NOTHING,
        "benchmarks": benchmarks,
        "closed_kinds": [kind for kind, _ in closed],
        "closed_keys": [pk for _, pk in closed],
        "kind": filters["kind"] if filters["kind"] in {source.kind for source in SOURCES} else "",
        "state": filters["state"] if filters["state"] in TaskState.values else "",
        "within": filters["within"],
        "ranked": ranked,
        "limit": PAGE,
        "offset": (page - 1) * PAGE,
        "marks": OPEN + CLOSE,
        "options": f"StartSel={OPEN}, StopSel={CLOSE}, MaxWords=32, MinWords=14, MaxFragments=2, "
        'FragmentDelimiter=" … "',
    }


@dataclass(frozen=True)
class Destination:
    """A page to open from the command palette."""

    kind: str
    label: str
    detail: str
    url: str


def find_destinations(user: access.AnyUser, text: str) -> list[Destination]:
    query = clean_query(text)
    benchmarks = {row.pk: row for row in searched_benchmarks(user)}
    if not query or not benchmarks:
        return []
    parameters = {
        "text": query,
        "start": f"{_escape_pattern(query)}%",
        "parts": term_patterns(query),
        "benchmarks": list(benchmarks),
    }
    rows = _rows(DESTINATIONS_SQL, parameters)
    personas = _personas().in_bulk([row["pk"] for row in rows if row["kind"] == "persona"])
    tasks = _tasks().in_bulk([row["pk"] for row in rows if row["kind"] == "task"])
    destinations = []
    for row in rows:
        if row["kind"] == "task":
            task = tasks[row["pk"]]
            detail = f"{task.persona.benchmark} › {task.persona} · {task.task_id.strip()}"
            destinations.append(Destination("Task", str(task), detail, task.get_absolute_url()))
        elif row["kind"] == "persona":
            persona = personas[row["pk"]]
            destinations.append(
                Destination("Persona", str(persona), str(persona.benchmark), persona.get_absolute_url())
            )
        else:
            benchmark = benchmarks[row["pk"]]
            destinations.append(Destination("Benchmark", str(benchmark), benchmark.slug, benchmark.get_absolute_url()))
    return destinations


def kinds() -> list[tuple[str, str]]:
    return [(source.kind, source.label) for source in SOURCES]


def clean_query(text: str) -> str:
    """Without NUL, which PostgreSQL does not accept, trimmed, and cut to the longest query."""
    return text.replace("\0", "").strip()[:MAX_QUERY]


def term_patterns(text: str) -> list[str]:
    """ILIKE patterns of the terms; one that matches nothing if a term is too short or excluded."""
    terms = text.split()
    if not terms or '"' in text or any(len(term) < MIN_TERM or term.startswith("-") for term in terms):
        return NOTHING
    return [f"%{_escape_pattern(term)}%" for term in terms]


def _escape_pattern(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def mark_matches(snippet: str) -> SafeString:
    pieces: list[SafeString] = []
    for number, piece in enumerate(re.split(f"{OPEN}(.*?){CLOSE}", snippet, flags=re.S)):
        plain = _plain(piece)
        pieces.append(format_html('<mark class="hit">{}</mark>', plain) if number % 2 else conditional_escape(plain))
    return mark_safe("".join(pieces))


def _plain(text: str | None) -> str:
    return (text or "").replace(OPEN, "").replace(CLOSE, "")


def _keys(rows: Iterable[dict[str, Any]], name: str) -> set[int]:
    return {row[name] for row in rows if row[name] is not None}


def _rows(sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        names: Sequence[str] = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
