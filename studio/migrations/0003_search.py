"""Full-text search: columns that PostgreSQL keeps in step by itself, so that no way of saving can forget them."""

from django.db import migrations

LONGEST = 40_000
"""Characters of a field that are searched: a tsvector must stay below a megabyte, or the row could not be stored."""

SPLIT = "translate({}, '/_.-', '    ')"
"""Names of files and ids, in words."""


def words(column: str, weight: str, *, name: bool = False) -> str:
    text = f"left({column}, {LONGEST})"
    return f"setweight(to_tsvector('english', {SPLIT.format(text) if name else text}), '{weight}')"


SEARCHED = {
    "studio_benchmark": [words("slug", "A", name=True), words("name", "A"), words("description", "C")],
    "studio_persona": [
        words("user_id", "A", name=True),
        words("name", "A"),
        words("role_text", "B"),
        words("occupation", "B"),
        words("routines", "C"),
        words("working_style", "C"),
    ],
    "studio_task": [
        words("task_id", "A", name=True),
        words("title", "A"),
        words("initial_request", "B"),
        words("description", "C"),
        words("reference_workflow", "C"),
    ],
    "studio_hiddenintent": [words("content", "B")],
    "studio_checklistitem": [words("criterion", "B")],
    "studio_asset": [words("path", "A", name=True), words("description", "C")],
    "studio_comment": [words("text", "B")],
}
NAMED = {
    "studio_benchmark": "(slug || ' ' || name)",
    "studio_persona": "(user_id || ' ' || name)",
    "studio_task": "(task_id || ' ' || title)",
    "studio_asset": "path",
}
"""What is also found by a part of a word, or misspelt."""


def _columns() -> migrations.RunSQL:
    do = ["CREATE EXTENSION IF NOT EXISTS pg_trgm;"]
    undo = []
    for table, parts in SEARCHED.items():
        do.append(f"ALTER TABLE {table} ADD COLUMN search tsvector GENERATED ALWAYS AS ({' || '.join(parts)}) STORED;")
        do.append(f"CREATE INDEX {table}_search ON {table} USING gin (search);")
        undo.append(f"ALTER TABLE {table} DROP COLUMN search;")
    for table, label in NAMED.items():
        do.append(f"CREATE INDEX {table}_named ON {table} USING gin (({label}) gin_trgm_ops);")
        undo.insert(0, f"DROP INDEX {table}_named;")
    return migrations.RunSQL("\n".join(do), "\n".join(undo))


class Migration(migrations.Migration):
    dependencies = [("studio", "0002_invariants")]

    operations = [_columns()]
