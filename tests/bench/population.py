"""A benchmark of many tasks, made once and kept as a template database.

Four personas are imported with their checks; the others are copies of them that the database makes, with names, ids,
files and hashes of their own. The template is made anew when migrations or this module change.
"""

# ruff: noqa: S608

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SEEDS = "abcd"
"""One imported persona for each letter: ``persona_000a``. Copy 7 of it is ``persona_007a``."""
TASKS = 20
OFFSET = 1_000_000
"""Between the keys of a row and of its copies."""
SLUG, OWNER = "scale", "scale-owner"
STATES = ("draft", "draft", "draft", "in_review", "changes_requested")
WORDS = Path(__file__).resolve().parents[2] / "studio" / "domain" / "text" / "thesaurus.txt"


@contextmanager
def populated_database(personas: int) -> Iterator[None]:
    """The default connection leads to a copy of the template database with this many personas, dropped afterwards."""
    from django.db import connection

    home, template = connection.settings_dict["NAME"], f"scale_{personas}_{_fingerprint()}"
    copy = f"{template}_copy"
    if not _rows("SELECT 1 FROM pg_database WHERE datname = %s", [template]):
        _make_template(template, personas)
    try:
        _create(copy, template)
        _connect(copy)
        yield
    finally:
        _connect(home)
        _drop(copy)


def _make_template(name: str, personas: int) -> None:
    from django.core.management import call_command
    from django.db import connection

    home, unfinished = connection.settings_dict["NAME"], f"{name}_unfinished"
    try:
        _create(unfinished, "template1")
        _connect(unfinished)
        call_command("migrate", verbosity=0, interactive=False)
        import_seeds()
        copy_seeds(-(-personas // len(SEEDS)) - 1)
        _run("VACUUM ANALYZE")
        _connect(home)
        _run(f'ALTER DATABASE "{unfinished}" RENAME TO "{name}"')
    finally:
        _connect(home)
        _drop(unfinished)


def import_seeds() -> None:
    from studio import access
    from studio.drafts.load import load_task
    from studio.imports.importer import import_files
    from studio.imports.taxonomy import ensure_taxonomy
    from studio.models import Assignment, Membership, Role, Task, User

    owner = User.objects.create_user(OWNER)
    writer = User.objects.create_user("scale-writer")
    benchmark = access.create_benchmark(name="Ten thousand tasks", slug=SLUG, by=owner, taxonomy=ensure_taxonomy())
    Membership.objects.create(benchmark=benchmark, user=writer, role=Role.AUTHOR)
    assert benchmark.taxonomy
    import_files(benchmark, seed_files(), by=owner)
    codes = list(benchmark.taxonomy.categories.values_list("code", flat=True))
    for number, task in enumerate(Task.objects.order_by("pk")):
        task.set_spec(load_task(task).model_copy(update={"category": codes[number % len(codes)]}))
        task.state = STATES[number % 5]
        task.save()
        if number % 3 == 0:
            Assignment.objects.create(task=task, user=writer, part="writer", by=owner)


def seed_files() -> dict[str, bytes]:
    """A ``data/`` folder; tasks of about 3.5 KB with the words of the thesaurus."""
    chance = random.Random(20)
    words = sorted({word for line in WORDS.read_text().split("\n") for word in line.split() if word.isalpha()})
    files: dict[str, bytes] = {}

    def sentence(length: int = 24) -> str:
        return " ".join(chance.choices(words, k=length)).capitalize()

    for letter in SEEDS:
        user = f"persona_000{letter}"
        base = f"data/{user}"
        files[f"{base}/profile.yaml"] = f"schema_version: v2\nuser_id: {user}\nrole: {sentence()}\n".encode()
        files[f"{base}/tools.yaml"] = b"tool_names: [gmail__send_email, todoist__create_task, todoist__show_tasks]\n"
        files[f"{base}/skills/reports/SKILL.md"] = b"---\nname: reports\ndescription: Writes reports.\n---\n"
        entries = []
        for position in range(TASKS):
            task = f"{user}_task_{position:03}"
            needed = f"[{user}_task_{position - 1:03}]" if position % 3 == 1 else "[]"
            entries.append(f"- task_id: {task}\n  depends_on: {needed}\n")
            intents = "".join(f"    - content: {sentence()} number {number}\n" for number in range(5))
            items = "".join(f"    - criterion: {sentence()} number {number}\n" for number in range(8))
            objectives = "" if position % 3 == 0 else f"objectives:\n  checklist:\n{items}"
            files[f"{base}/tasks/{task}/task.yaml"] = (
                f"schema_version: v2\ntask_id: {task}\nuser_id: {user}\nenvironment_id: env_{user}\n"
                f"title: {sentence(5)} of {task}\ndescription: {sentence()}\ntask_type: long_term\n"
                f"trigger:\n  type: user\nintent:\n  initial_input: |\n    Please see to {task} today. {sentence()}.\n"
                f"  hidden_intent:\n{intents}{objectives}metadata:\n  difficulty: medium\n"
            ).encode()
            files[f"{base}/tasks/{task}/notes.md"] = f"# Notes of {task}\n{sentence(60)}\n".encode()
        files[f"{base}/episode.yaml"] = (
            f"schema_version: v2\nepisode_id: ep_{user}\nuser_id: {user}\ntasks:\n{''.join(entries)}".encode()
        )
    return files


def copy_seeds(copies: int) -> None:
    """Copy every row of the seeds in every table that leads to a persona."""
    from django.db import transaction

    from studio.models import Persona

    copied = _models_below(Persona)
    tables = {model._meta.db_table for model in copied}
    with transaction.atomic():
        for table in tables:
            _run(f"ALTER TABLE {table} DISABLE TRIGGER USER")  # what they filled is copied too
        _run(
            """CREATE TEMP TABLE file_copy ON COMMIT DROP AS
            SELECT sha256 AS old, copy, encode(sha256(content), 'hex') AS new, content FROM (
              SELECT b.sha256, copy, convert_to(replace(convert_from(b.content, 'UTF8'), 'persona_000',
                     'persona_' || lpad(copy::text, 3, '0')), 'UTF8') AS content
              FROM studio_blob b CROSS JOIN generate_series(1, %s) copy) copies""",
            [copies],
        )
        _run("CREATE INDEX ON file_copy (old, copy)")
        _run(
            """INSERT INTO studio_blob (sha256, size, content)
            SELECT DISTINCT ON (new) new, length(content), content FROM file_copy ON CONFLICT DO NOTHING"""
        )
        for model in copied:
            columns = {field.column: _copied_value(field, tables) for field in model._meta.local_concrete_fields}
            if model is Persona:
                columns["position"] = f"seed.position + copy * {len(SEEDS)}"
            if model.__name__ == "Revision":
                columns["sha256"] = "encode(sha256(convert_to(seed.sha256 || copy, 'UTF8')), 'hex')"
            names = ", ".join(f'"{name}"' for name in columns)
            _run(
                f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(columns.values())}"
                f" FROM {model._meta.db_table} seed CROSS JOIN generate_series(1, %s) copy",
                [copies],
            )
    for table in tables:
        _run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    for model in copied:
        if model._meta.pk.get_internal_type() == "BigAutoField":
            table = model._meta.db_table
            _run(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")


def _copied_value(field: Any, tables: set[str]) -> str:
    column, kind = f'seed."{field.column}"', field.get_internal_type()
    if field.is_relation and field.related_model._meta.db_table == "studio_blob":
        return f"coalesce((SELECT f.new FROM file_copy f WHERE f.old = {column} AND f.copy = copy.copy), {column})"
    if field.is_relation:
        return f"{column} + copy * {OFFSET}" if field.related_model._meta.db_table in tables else column
    if field.primary_key:
        return f"{column} + copy * {OFFSET}"
    if kind in ("CharField", "TextField", "JSONField", "OrderedJSONField", "ArrayField"):
        from django.db import connection

        renamed = f"replace({column}::text, 'persona_000', 'persona_' || lpad(copy::text, 3, '0'))"
        return f"{renamed}::{field.db_type(connection)}"
    return column


def _models_below(top: Any) -> list[Any]:
    """``top`` and every model with a foreign key to one of them, parents first, of tables that have rows."""
    from django.apps import apps

    found, before = [top], 0
    models = [model for model in apps.get_models(include_auto_created=True) if model._default_manager.exists()]
    while len(found) > before:
        before = len(found)
        found += [
            model
            for model in models
            if model not in found and any(f.related_model in found for f in model._meta.local_fields if f.is_relation)
        ]
    return found


def _fingerprint() -> str:
    from django.db.migrations.loader import MigrationLoader

    names = sorted(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    digest = hashlib.sha256(repr(names).encode())
    for path in sorted(WORDS.parents[3].glob("*/migrations/*.*")):
        digest.update(path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:10]


def _connect(name: str) -> None:
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = name


def _create(name: str, template: str) -> None:
    _drop(name)
    _run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')


def _drop(name: str) -> None:
    from django.db import DatabaseError

    try:
        _run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    except DatabaseError:  # the server's own vacuuming may not be ended by us, but gives way to a plain DROP
        _run(f'DROP DATABASE IF EXISTS "{name}"')


def _run(sql: str, parameters: list[Any] | None = None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def _rows(sql: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())
