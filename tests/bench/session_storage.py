"""What a session keeps in the database, by table, and whether its calls are given back to the byte.

    .venv/bin/python -m tests.bench.session_storage FOLDER

FOLDER is one persona in the format of π-Bench; it runs with the scripted models. Then one session of 91 calls with
tool results of 10 kB runs with a stub. Everything is stored in a temporary database. Sizes are those of tables with
their indexes after ``VACUUM FULL``; the transcript's own size is the characters of messages, replies, arguments and
results.

Measured on 24 November 2026: law_trainee (80 sessions, 1,700 calls; the transcript itself 32 KiB a session): calls
24 KiB a session, of it contents 15; turns 12; everything 82, of it verdicts 21 and tool calls 14. In the session of
91 calls, contents of calls and states take 0.24 of the transcript.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TABLES = ("modelcall", "turn", "toolcall", "verdict", "judging", "snapshot", "session", "sessionintent")
CALLS, RESULT = 90, 10_000
RUNS = 4
"""An index takes 16 kB at least, which a single run of twenty sessions would count for much."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--columns", action="store_true", help="also what each column and each index takes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="session-storage-") as data:
        os.environ |= {
            "STUDIO_DATA_DIR": data,
            "DJANGO_SETTINGS_MODULE": "studio.settings",
            "STUB_API_KEY": "none",
            "STUDIO_MODEL_NETWORKS": "127.0.0.0/8",
        }
        from studio.local import shared_server
        from studio.local.services import ensure_database

        ensure_database(throwaway=True)
        os.environ["CELERY_BROKER_URL"] = "memory://"
        import django

        django.setup()
        try:
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            _measure("law_trainee with scripted models", _run_persona(options.folder))
            if options.columns:
                _list_columns()
            _measure("91 calls with results of 10 kB", _run_long())
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()


def _run_persona(folder: Path) -> Any:
    from evaluation.pilots.start import PilotOptions, start_pilot
    from studio.imports.importer import import_path
    from studio.models import Benchmark

    benchmark = Benchmark.objects.create(slug="storage", name="storage")
    import_path(benchmark, folder, by=None)
    chosen = PilotOptions(agent="scripted-helpful", runs=RUNS, protocol="release")
    return _work_through(start_pilot(benchmark, chosen, by=None))


def _run_long() -> Any:
    from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
    from tests.evaluation.stub_model import StubModel, serving

    words = [f"{word}{number}" for number in range(40) for word in ("harbour", "fee", "lease", "clause", "annex")]
    chance = random.Random(1)
    files = [
        file(f"part{n}.txt", " ".join(chance.choice(words) for _ in range(RESULT // 9))[:RESULT]) for n in range(CALLS)
    ]

    def agent(body: dict[str, Any]) -> Any:
        done = sum(message["role"] == "tool" for message in body["messages"])
        if done == CALLS:
            return "I have read everything."
        arguments = json.dumps({"path": f"part{done}.txt"})
        call = {"id": f"c{done}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    with serving(StubModel()) as stub:
        stub.agent = agent
        model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
        spec = task("long", intents=intents("It is read."), assets=tuple(files), checklist=(rubric("It is read."),))
        pilot = _work_through(pilot_of(benchmark_of(spec), agent=model, user_model=model, judge=model))
        _compare(pilot, stub.bodies)
    return pilot


def _work_through(pilot: Any) -> Any:
    from evaluation.models import Session
    from evaluation.pilots.session_work import work_on

    moved = True
    while moved:
        rows = Session.objects.filter(run__pilot=pilot, graded_compat_at=None).order_by("run", "position")
        moved = sum(work_on(pk) for pk in list(rows.values_list("pk", flat=True))) > 0
    return pilot


def _compare(pilot: Any, sent: list[dict[str, Any]]) -> None:
    """What is stored against what the stub received."""
    from evaluation.models import ModelCall

    stored = ModelCall.objects.filter(session__run__pilot=pilot).order_by("pk")
    pairs = [(_parts(call.request), _parts(body)) for call, body in zip(stored, sent, strict=True)]
    print(f"{len(pairs)} requests, {sum(ours == theirs for ours, theirs in pairs)} equal to the byte")


def _parts(request: Mapping[str, Any]) -> dict[str, str]:
    """The client sends fields in an order of its own; how an answer travels is not recorded."""
    return {n: json.dumps(value, sort_keys=True) for n, value in request.items() if not n.startswith("stream")}


def _measure(name: str, pilot: Any) -> None:
    from django.db import connection

    from evaluation.models import ModelCall, Session, ToolCall, Turn

    sessions = Session.objects.filter(run__pilot=pilot)
    of_pilot = {"session__run__pilot": pilot}
    texts = list(Turn.objects.filter(**of_pilot).values_list("user_message", "reply"))
    calls = list(ToolCall.objects.filter(turn__session__run__pilot=pilot).values_list("arguments", "result"))
    transcript = sum(len(message.encode()) + len(reply.encode()) for message, reply in texts) + sum(
        len(json.dumps(arguments, ensure_ascii=False).encode()) + len(result.encode()) for arguments, result in calls
    )
    print(f"\n{name}: {sessions.count()} sessions, {ModelCall.objects.filter(**of_pilot).count()} calls")
    print(f"  transcript itself {_kib(transcript, sessions.count())}")
    keys = list(sessions.values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL")
        sizes, indexes = {}, {}
        for table in TABLES:
            name = f"evaluation_{table}"
            cursor.execute("SELECT pg_total_relation_size(%s), pg_indexes_size(%s)", [name, name])
            sizes[table], indexes[table] = cursor.fetchone()
        cursor.execute("SELECT sum(length(content)) FROM evaluation_modelcall WHERE session_id = ANY(%s)", [keys])
        content = cursor.fetchone()[0]
        cursor.execute("SELECT sum(length(agent_state::text)) FROM evaluation_turn WHERE session_id = ANY(%s)", [keys])
        state = cursor.fetchone()[0]
    for table, size in sizes.items():
        of_these = _kib(indexes[table], Session.objects.count())
        print(f"  {table:14} {_kib(size, Session.objects.count())}, of it indexes {of_these}")
    print(f"  all            {_kib(sum(sizes.values()), Session.objects.count())}")
    print(f"  contents of calls {_kib(content, len(keys))}, agents' states {_kib(state, len(keys))}")
    print(f"  calls and states are {(content + state) / transcript:.2f} of the transcript")


def _list_columns() -> None:
    from django.apps import apps
    from django.db import connection

    from evaluation.models import Session

    sessions = Session.objects.count()
    with connection.cursor() as cursor:
        for table in TABLES:
            model = apps.get_model("evaluation", table)
            names = [field.column for field in model._meta.concrete_fields]
            sums = ", ".join(f'coalesce(sum(pg_column_size("{name}")), 0)' for name in names)
            cursor.execute(f"SELECT count(*), {sums} FROM evaluation_{table}")  # noqa: S608  # names are the model's
            rows, *sizes = cursor.fetchone()
            print(f"  {table}: {rows / sessions:.1f} rows a session")
            for name, size in sorted(zip(names, sizes, strict=True), key=lambda pair: -pair[1]):
                print(f"    {name:24} {_kib(int(size), sessions)}")
            cursor.execute(
                "SELECT indexrelname, pg_relation_size(indexrelid) FROM pg_stat_user_indexes WHERE relname = %s",
                [f"evaluation_{table}"],
            )
            for name, size in cursor.fetchall():
                print(f"    {name:40} {_kib(size, sessions)} (index)")
        cursor.execute(
            "SELECT purpose, base_id IS NULL, count(*), sum(length(content)) FROM evaluation_modelcall"
            " GROUP BY 1, 2 ORDER BY 1, 2"
        )
        for purpose, first, calls, size in cursor.fetchall():
            kind = f"{purpose}, first of its session" if first else purpose
            print(f"  contents of {kind:36} {calls / sessions:6.1f} calls {_kib(int(size), sessions)}")


def _kib(size: int, number: int) -> str:
    return f"{size / number / 1024:8.1f} KiB a session"


if __name__ == "__main__":
    main()
