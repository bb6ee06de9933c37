"""Databases of earlier versions are refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from studio.local.paths import LocalError
from studio.local.schema import migrate_if_needed
from tests.local.processes import start

NAME = f"made_before_{os.getpid()}"
RECORDS = """
CREATE TABLE django_migrations (id serial, app text, name text, applied timestamptz DEFAULT now());
INSERT INTO django_migrations (app, name) VALUES
  ('studio', '0001_squashed_0032_studio'), ('annotations', '0014_strata_of_single_decisions'),
  ('evaluation', '0039_sessions_refer_to_files');
"""
WAY_OUT = "To carry a benchmark over, run `manage.py pibench_export` with the version that made it"


@pytest.fixture
def made_before(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The address of a database with the records of migrations that are gone, in the place of the tests' own."""
    address, usual = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{NAME}", connection.settings_dict["NAME"]
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute(f"CREATE DATABASE {NAME}")
        with psycopg.connect(address) as database:
            database.execute(RECORDS)
        connection.close()
        connection.settings_dict["NAME"] = NAME
        yield address
        connection.close()
        connection.settings_dict["NAME"] = usual
        cursor.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def tables(address: str) -> list[str]:
    with psycopg.connect(address) as database:
        found = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return [name for (name,) in found.fetchall()]


def test_migrate_refuses_a_database_of_the_migrations_before_and_leaves_it_alone(made_before: str):
    with pytest.raises(CommandError, match=WAY_OUT):
        call_command("migrate", verbosity=0)

    assert tables(made_before) == ["django_migrations"]


def test_migrate_refuses_a_database_that_other_initial_migrations_made(made_before: str):
    with psycopg.connect(made_before) as database:
        database.execute("COMMENT ON TABLE django_migrations IS 'of other models'")

    with pytest.raises(CommandError, match=WAY_OUT):
        call_command("migrate", verbosity=0)


def test_commands_on_the_embedded_database_say_so_before_they_begin(
    made_before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(tmp_path))
    (tmp_path / "postgres").mkdir()

    with pytest.raises(LocalError, match=WAY_OUT):
        migrate_if_needed("pibench_export")


@pytest.mark.slow
def test_run_ends_with_the_way_out(made_before: str, tmp_path: Path):
    process = start(
        ["manage.py", "run", "--no-sample"], tmp_path, DATABASE_URL=made_before, CELERY_BROKER_URL="memory://"
    )
    output, _ = process.communicate(timeout=150)

    assert process.returncode == 1
    assert WAY_OUT in output
    assert "Traceback" not in output
    assert tables(made_before) == ["django_migrations"]
