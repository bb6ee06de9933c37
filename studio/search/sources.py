"""Searchable kinds of rows and the SQL that searches them. Statements consist of constants; user input is always a
parameter."""
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from studio.access import AnyUser
from studio.models import User

MAX_DESTINATIONS = 10
MIN_SIMILARITY = 0.45
"""Similarity (pg_trgm, 0 to 1) from which a misspelt name matches."""
Place = tuple[int, int | None]
"""``pk`` and ``item`` of a row."""
COLUMNS = "pk, benchmark_id, persona_id, task_id, state, item, rank, at"


@dataclass(frozen=True)
class SearchSource:
    """One searchable kind. ``select`` returns ``pk, benchmark_id, persona_id, task_id, state, item, rank, at`` of the
    rows in BENCHMARKS that match QUERY or PARTS; ``text`` is a scalar query for the text of the row ``page.item`` of
    ``page.pk``."""

    kind: str
    label: str
    select: str
    text: str
    address: Callable[[int], str] | None = None
    """The page of a row by key, whose ``text`` is its title; by default that of its task, persona or benchmark."""
    anchor: str = ""
    closed_to: Callable[[User], Collection[int]] | None = None
    """Keys of what this person must not find."""
    holder: str = ""
    """SQL: the key of what ``every`` row is a part of, by which ``closed_to`` and ``within`` speak of it; by default
    its own, and it is in nothing."""
    passages: Callable[[AnyUser, Collection[Place]], Mapping[Place, Sequence[str]]] | None = None
    """What the rows say, where PostgreSQL cannot read it. Called with those that the person is shown."""


QUERY = "websearch_to_tsquery('english', %(text)s)"
PARTS = "%(parts)s::text[]"
BENCHMARKS = "%(benchmarks)s::bigint[]"
"""These stand wherever they are used: of constants the planner knows how many rows match, while a common table
expression is one more table to join in every kind, and planning takes half the time of most searches."""
PERSON = "%(person)s::bigint"
"""Who searches; null for a caller that is no person."""


def matching(table: str, name: str) -> str:
    """Keys of the rows that match by text or by name, best as an array, so that they are found before their rows are
    read. One condition for each index: with OR, every row would be read.
    ``named``: whether ``parts`` can match at all, or every name would be read in
    vain. ``name``: an expression indexed by trigrams in ``migrations/search.sql``; ``part`` is one of ``parts``."""
    return f"""SELECT id FROM {table} WHERE search @@ {QUERY}
        UNION SELECT id FROM {table}
        WHERE %(named)s AND {name} ILIKE %(part)s AND {name} ILIKE ALL(%(parts)s::text[])"""


def _rows_of_task(kind: str, label: str, rows: str, vector: str, text: str, *, path: bool = False) -> SearchSource:
    """Rows of a list of the task's document. Tasks are found by the texts of all rows of the list, and by ``paths``;
    ``vector`` and ``text`` are of one row, ``value``."""
    found = f"SELECT id FROM studio_task WHERE search_{rows} @@ querytree({QUERY})::tsquery"
    match = f"{vector} @@ {QUERY}"
    if path:
        found += " UNION SELECT id FROM studio_task WHERE %(named)s AND paths ILIKE %(part)s"
        match = f"({match} OR {PATH} ILIKE ALL({PARTS}))"
    return SearchSource(
        kind,
        label,
        f"""SELECT t.id, p.benchmark_id, p.id, t.id, t.state, r.number::int, ts_rank({vector}, {QUERY}), t.updated_at
            FROM studio_task t
            JOIN studio_persona p ON p.id = t.persona_id,
            json_array_elements(t.spec -> '{rows}') WITH ORDINALITY r(value, number)
            WHERE p.benchmark_id = ANY({BENCHMARKS}) AND t.id = ANY(ARRAY({found})) AND {match}""",
        f"SELECT {text} FROM studio_task t, LATERAL (SELECT t.spec -> '{rows}' -> (page.item - 1)) r(value)"
        " WHERE t.id = page.pk",
        anchor="f-assets" if rows == "assets" else f"f-{rows}-{{item}}",
    )


PATH = "coalesce(r.value ->> 'path', r.value #>> ARRAY[]::text[])"
"""Of a file; an expected artifact may be its path alone."""
FILE = f"""(setweight(to_tsvector('english', translate({PATH}, '/_.-', '    ')), 'A')
    || setweight(to_tsvector('english', coalesce(r.value ->> '{{}}', '')), 'C'))"""
ROW = "setweight(to_tsvector('english', r.value ->> '{}'), 'B')"
TASK_NAME = "(t.task_id || ' ' || t.title)"
PERSONA_NAME = "(p.user_id || ' ' || p.name)"
BENCHMARK_NAME = "(b.slug || ' ' || b.name)"
NAMED = f"CASE WHEN {{}} ILIKE ALL({PARTS}) THEN 1 ELSE 0 END"

SOURCES: list[SearchSource] = [
    SearchSource(
        "benchmark",
        "Benchmarks",
        f"""SELECT b.id, b.id, NULL::bigint, NULL::bigint, '', NULL::int,
            1 + ts_rank(b.search, {QUERY}) + {NAMED.format(BENCHMARK_NAME)}, b.created_at
            FROM studio_benchmark b
            WHERE b.id = ANY({BENCHMARKS})
            AND (b.search @@ {QUERY} OR {BENCHMARK_NAME} ILIKE ALL({PARTS}))""",
        "SELECT concat_ws(' – ', b.slug, nullif(b.description, '')) FROM studio_benchmark b WHERE b.id = page.pk",
    ),
    SearchSource(
        "persona",
        "Personas",
        f"""SELECT p.id, p.benchmark_id, p.id, NULL::bigint, '', NULL::int,
            0.6 + ts_rank(p.search, {QUERY}) + {NAMED.format(PERSONA_NAME)}, p.updated_at
            FROM studio_persona p
            WHERE p.benchmark_id = ANY({BENCHMARKS})
            AND p.id = ANY(ARRAY({matching("studio_persona", "(user_id || ' ' || name)")}))""",
        """SELECT concat_ws(' – ', p.user_id, nullif(p.occupation, ''), nullif(p.spec ->> 'role_text', ''),
           nullif(p.spec ->> 'routines', ''), nullif(p.spec ->> 'working_style', ''))
           FROM studio_persona p WHERE p.id = page.pk""",
    ),
    SearchSource(
        "task",
        "Tasks",
        f"""SELECT t.id, p.benchmark_id, p.id, t.id, t.state, NULL::int,
            0.3 + ts_rank(t.search, {QUERY}) + {NAMED.format(TASK_NAME)}, t.updated_at
            FROM studio_task t
            JOIN studio_persona p ON p.id = t.persona_id
            WHERE p.benchmark_id = ANY({BENCHMARKS})
            AND t.id = ANY(ARRAY({matching("studio_task", "(task_id || ' ' || title)")}))""",
        """SELECT concat_ws(' – ', t.task_id, nullif(t.spec ->> 'initial_request', ''),
           nullif(t.spec ->> 'description', ''), nullif(t.spec ->> 'reference_workflow', ''))
           FROM studio_task t WHERE t.id = page.pk""",
    ),
    _rows_of_task("intent", "Hidden intents", "intents", ROW.format("content"), "r.value ->> 'content'"),
    _rows_of_task("criterion", "Checklist items", "checklist", ROW.format("criterion"), "r.value ->> 'criterion'"),
    _rows_of_task(
        "file", "Files", "assets", FILE.format("description"),
        f"concat_ws(' – ', {PATH}, nullif(r.value ->> 'description', ''))", path=True,
    ),
    _rows_of_task(
        "artifact", "Expected artifacts", "expected_artifacts", FILE.format("note"),
        f"concat_ws(' – ', {PATH}, nullif(r.value ->> 'note', ''))", path=True,
    ),
    SearchSource(
        "comment",
        "Comments",
        f"""SELECT r.id, p.benchmark_id, p.id, t.id, t.state, NULL::int, ts_rank(r.search, {QUERY}), r.created_at
            FROM studio_comment r JOIN studio_task t ON t.id = r.task_id
            JOIN studio_persona p ON p.id = t.persona_id
            WHERE p.benchmark_id = ANY({BENCHMARKS}) AND r.search @@ {QUERY}""",
        "SELECT r.text FROM studio_comment r WHERE r.id = page.pk",
        anchor="comments",
    ),
]  # fmt: skip


def register(source: SearchSource) -> None:
    SOURCES[:] = [other for other in SOURCES if other.kind != source.kind] + [source]


def search_sql() -> str:
    """The page's rows, each with all counts; a single row without a key if the page is beyond the last. Of each kind at
    most ``ranked`` rows are read, ranked and counted."""
    union = "\nUNION ALL\n".join(f"(SELECT * FROM ({_matches(source)}) one LIMIT %(ranked)s)" for source in SOURCES)
    texts = "\n".join(f"WHEN '{source.kind}' THEN ({source.text})" for source in SOURCES)
    return f"""
        WITH hits AS MATERIALIZED (
          {union}
        ), totals AS (
          SELECT json_object_agg(kind, n) AS counts FROM (SELECT kind, count(*) AS n FROM hits GROUP BY kind) c
        ), page AS (
          SELECT * FROM hits WHERE %(kind)s = '' OR kind = %(kind)s
          ORDER BY rank DESC, at DESC, kind, pk, item LIMIT %(limit)s OFFSET %(offset)s
        ), with_text AS (
          SELECT page.*, translate(left(CASE page.kind {texts} END, 20000), %(marks)s, '') AS text FROM page
        )
        SELECT with_text.*, totals.counts,
               ts_headline('english', with_text.text, {QUERY}, %(options)s) AS snippet
        FROM totals LEFT JOIN with_text ON true ORDER BY rank DESC, at DESC, kind, pk, item
    """


def _matches(source: SearchSource) -> str:
    closed = f"""AND NOT EXISTS (
            SELECT FROM unnest(%(closed_kinds)s::text[], %(closed_keys)s::bigint[]) closed (kind, pk)
            WHERE closed.kind = '{source.kind}' AND closed.pk = {source.holder or "every.pk"})"""
    within = f"(%(within)s = 0 OR {source.holder or 0} = %(within)s)"
    return f"""SELECT '{source.kind}' AS kind, every.* FROM ({source.select}) every({COLUMNS})
          WHERE (%(state)s = '' OR state = %(state)s) AND {within} {closed if source.closed_to else ""}"""


SNIPPETS_SQL = f"""
    SELECT DISTINCT ON (number) number, ts_headline('english', text, query, %(options)s) AS snippet
    FROM unnest(%(numbers)s::int[], %(passages)s::text[]) passage (number, text),
         CAST(replace({QUERY}::text, '&', '|') AS tsquery) query
    ORDER BY number, ts_rank(to_tsvector('english', text), query) DESC
"""
"""Of each row the passage with the most of the terms."""


DESTINATIONS_SQL = f"""
    WITH asked AS (
      SELECT %(text)s AS text, %(start)s AS start, %(parts)s::text[] AS parts, %(benchmarks)s::bigint[] AS benchmarks
    ),
    named AS (
      SELECT 'benchmark' AS kind, b.id AS pk, {BENCHMARK_NAME} AS name, b.name AS title, b.slug AS id, 3 AS weight
      FROM asked CROSS JOIN studio_benchmark b WHERE b.id = ANY(asked.benchmarks)
      UNION ALL
      SELECT 'persona', p.id, {PERSONA_NAME}, p.name, p.user_id, 2
      FROM asked CROSS JOIN studio_persona p WHERE p.benchmark_id = ANY(asked.benchmarks)
      UNION ALL
      SELECT 'task', t.id, {TASK_NAME} || ' ' || {PERSONA_NAME}, t.title, t.task_id, 1
      FROM asked CROSS JOIN studio_task t
      JOIN studio_persona p ON p.id = t.persona_id
      WHERE p.benchmark_id = ANY(asked.benchmarks)
    ), near AS (
      SELECT named.*, name ILIKE ALL(asked.parts) AS whole,
             title ILIKE asked.start OR id ILIKE asked.start AS starts,
             title ILIKE asked.parts[1] OR id ILIKE asked.parts[1] AS own,
             word_similarity(asked.text, name) AS near
      FROM named CROSS JOIN asked
    )
    SELECT kind, pk FROM near WHERE whole OR near >= {MIN_SIMILARITY}
    ORDER BY whole DESC, starts DESC, own DESC, near DESC, weight DESC, kind, pk LIMIT {MAX_DESTINATIONS}
"""
