"""What benches of pages share: CPU time of the database, and templates without what tests add."""

from __future__ import annotations

from pathlib import Path


def render_as_in_production() -> None:
    """Removes the copies of contexts that tests keep, which make long pages slow."""
    from django.template.base import Template

    Template._render = lambda template, context: template.nodelist.render(context)  # type: ignore[method-assign]  # undoes Django's test instrumentation


def database_cpu_seconds() -> float:
    """CPU seconds of our connection's database process; 0 if the system does not report it."""
    from django.db import connection

    connection.ensure_connection()
    statistics = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return int(statistics.read_text().split()[0]) / 1e9 if statistics.exists() else 0.0
