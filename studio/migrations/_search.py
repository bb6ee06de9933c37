"""Full-text search: generated columns, so that no way of saving can forget them.

The squashed migration creates them. Later changes belong in new migrations, not here.
"""

from django.db.migrations import RunSQL

LONGEST = 40_000
"""Characters of a field that are searched: a tsvector must stay below a megabyte, or the row could not be stored."""

SPLIT = "translate({}, '/_.-', '    ')"
"""Splits file names and ids into words."""


def weighted(column: str, weight: str, *, name: bool = False) -> str:
    text = f"left({column}, {LONGEST})"
    return f"setweight(to_tsvector('english', {SPLIT.format(text) if name else text}), '{weight}')"


SEARCHED = {
    "studio_benchmark": [weighted("slug", "A", name=True), weighted("name", "A"), weighted("description", "C")],
    "studio_persona": [
        weighted("user_id", "A", name=True),
        weighted("name", "A"),
        weighted("role_text", "B"),
        weighted("occupation", "B"),
        weighted("routines", "C"),
        weighted("working_style", "C"),
    ],
    "studio_task": [
        weighted("task_id", "A", name=True),
        weighted("title", "A"),
        weighted("initial_request", "B"),
        weighted("description", "C"),
        weighted("reference_workflow", "C"),
    ],
    "studio_hiddenintent": [weighted("content", "B")],
    "studio_checklistitem": [weighted("criterion", "B")],
    "studio_asset": [weighted("path", "A", name=True), weighted("description", "C")],
    "studio_expectedartifact": [weighted("path", "A", name=True), weighted("note", "C")],
    "studio_comment": [weighted("text", "B")],
}
NAMED = {
    "studio_benchmark": "(slug || ' ' || name)",
    "studio_persona": "(user_id || ' ' || name)",
    "studio_task": "(task_id || ' ' || title)",
    "studio_asset": "path",
    "studio_expectedartifact": "path",
}
"""Columns also searched by trigrams: parts of words and misspellings match."""



STATEMENTS = ["CREATE EXTENSION IF NOT EXISTS pg_trgm;"]
for table, parts in SEARCHED.items():
    STATEMENTS += [
        f"ALTER TABLE {table} ADD COLUMN search tsvector GENERATED ALWAYS AS ({' || '.join(parts)}) STORED;",
        f"CREATE INDEX {table}_search ON {table} USING gin (search);",
    ]
for table, label in NAMED.items():
    STATEMENTS.append(f"CREATE INDEX {table}_named ON {table} USING gin (({label}) gin_trgm_ops);")

SEARCH = RunSQL("\n".join(STATEMENTS))
