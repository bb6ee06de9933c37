"""The squashed migrations, and studios whose database was made by those that they replace."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from pytest_django import DjangoDbBlocker

HALFWAY = [
    ("studio", "0022_origin_authors"),
    ("annotations", "0006_seats"),
    ("evaluation", "0013_run_without_unused_time"),
]
MADE = {
    "columns": """SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attnotnull
                    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
                     AND NOT a.attisdropped""",
    "constraints": """SELECT conrelid::regclass || ' ' || contype::text || ' ' || count(*) FROM pg_constraint
                       WHERE connamespace = 'public'::regnamespace GROUP BY conrelid, contype""",
    "indexes": "SELECT tablename || ' ' || count(*) FROM pg_indexes WHERE schemaname = 'public' GROUP BY tablename",
    "triggers": "SELECT tgrelid::regclass || ' ' || tgname || ' ' || tgtype FROM pg_trigger WHERE NOT tgisinternal",
    "functions": """SELECT pg_get_functiondef(p.oid) FROM pg_proc p
                      LEFT JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
                     WHERE p.pronamespace = 'public'::regnamespace AND d.objid IS NULL""",
    "scripted models": "SELECT name || base_url || model || scripted FROM evaluation_modelendpoint",
}


@pytest.fixture
def other_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Generator[None]:
    """An empty one in the place of the tests' own."""
    usual = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        connection.close()
        with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute("DROP DATABASE IF EXISTS studio_upgraded")
            cursor.execute("CREATE DATABASE studio_upgraded")
        connection.settings_dict["NAME"] = "studio_upgraded"
        yield
        connection.close()
        connection.settings_dict["NAME"] = usual
        with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute("DROP DATABASE studio_upgraded")


def made() -> dict[str, list[str]]:
    found = {}
    with connection.cursor() as cursor:
        for kind, query in MADE.items():
            cursor.execute(query)
            found[kind] = sorted(re.sub(r"\s+", " ", row[0]) for row in cursor.fetchall())
    return found


@pytest.mark.slow
def test_a_database_halfway_through_the_replaced_migrations_becomes_equal_to_a_new_one(other_database: None) -> None:
    call_command("migrate", verbosity=0)
    new = made()
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate(HALFWAY)
    call_command("migrate", verbosity=0)
    upgraded = made()
    assert {kind: sorted(set(new[kind]) ^ set(upgraded[kind])) for kind in MADE} == {kind: [] for kind in MADE}
