"""Server time of results with much data: `python -m tests.bench.results` prints a table; exit 1 if an aim is missed.

Generated: 9 agents × 5 personas × 20 tasks × 3 runs, which is 2,700 sessions and some 40,000 verdicts. Times are
wall-clock milliseconds of one request in this process: ``kept`` as readers have it after a worker computed what the
pilots' end asked for; ``anew`` with nothing kept, as after a correction. Queries are counted for the first.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from itertools import product
from typing import Any

AGENTS, PERSONAS, TASKS, RUNS = 9, 5, 20, 3
AIMS = {"leaderboard": 100.0}
FIGURE_AIM = 300.0
LETTERS = "ABCDEFGHIJKLMNOPQR"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="results-") as data:
        os.environ["STUDIO_DATA_DIR"] = data
        os.environ["DJANGO_SETTINGS_MODULE"] = "studio.settings"
        from studio.local import shared_server
        from studio.local.services import ensure_database

        ensure_database(throwaway=True)
        os.environ["CELERY_BROKER_URL"] = "memory://"
        import django

        django.setup()
        try:
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            call_command("collectstatic", verbosity=0, interactive=False)
            populate("large")
            _measure("large")
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()


def populate(slug: str) -> None:
    """A benchmark with a finished pilot for each agent. Abilities and difficulties are drawn, with a fixed seed."""
    from django.db import transaction

    from evaluation.models import ModelEndpoint
    from evaluation.pilots.start import PilotOptions, start_pilot
    from studio.domain.persona import PersonaSpec
    from studio.models import Benchmark
    from studio.personas.create import create_persona
    from studio.tasks.create import create_task

    rng = random.Random(2605)
    with transaction.atomic():  # workers see it when it is over
        benchmark = Benchmark.objects.create(slug=slug, name="Large")
        for number in range(PERSONAS):
            row = create_persona(benchmark, PersonaSpec(user_id=f"persona_{number + 1}"), by=None)
            for at in range(TASKS):
                create_task(row, _task(number, at, rng), by=None)
        judge = ModelEndpoint.objects.create(name="large-judge", base_url="http://localhost:9/v1", model="judge")
        for number in range(AGENTS):
            agent = ModelEndpoint.objects.create(
                name=f"Model {LETTERS[number]}", base_url="http://localhost:9/v1", model=f"model-{number}"
            )
            parts = {"agent": agent.name, "user_model": judge.name, "judge": judge.name}
            pilot = start_pilot(benchmark, PilotOptions(**parts, runs=RUNS, protocol="release"), by=None)
            _finish(pilot, ability=rng.uniform(-0.9, 0.9), eagerness=rng.uniform(0.1, 0.6), rng=rng)


def _task(persona: int, at: int, rng: random.Random) -> Any:
    from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec

    last = at % 4 == 3  # tasks 4, 8, … end a dependency group
    setup = at % 4 == 0
    intents = tuple(
        HiddenIntent(uid=str(uuid.UUID(int=rng.getrandbits(128))), content=f"Wish {index} of task {at}.")
        for index in range(1, 5)
    )
    items = tuple(
        ChecklistItem(uid=str(uuid.UUID(int=rng.getrandbits(128))), criterion=f"Criterion {index} of task {at}.")
        for index in range(1, 8)
    )
    return TaskSpec(
        task_id=f"p{persona + 1}_{at + 1:03}",
        title=f"Task {at + 1}",
        initial_request=f"Please do task {at}.",
        category=LETTERS[(persona * 4 + at // 5) % len(LETTERS)],
        intents=intents,
        checklist=() if setup else items,
        depends_on=(Dependency(task_id=f"p{persona + 1}_{at - 2:03}"),) if last else (),
        metadata={"difficulty": ("easy", "medium", "hard")[at % 3]},
    )


def _finish(pilot: Any, *, ability: float, eagerness: float, rng: random.Random) -> None:
    from django.utils import timezone

    from evaluation.models import (
        Judging,
        JudgingRound,
        Pilot,
        Session,
        SessionIntent,
        Snapshot,
        ToolCall,
        Turn,
        Verdict,
    )

    now = timezone.now()
    first = JudgingRound.objects.get(pilot=pilot)
    sessions = list(Session.objects.filter(run__pilot=pilot).select_related("revision").order_by("pk"))
    snapshots = {
        run: Snapshot.objects.create(run_id=run, sha256=f"{run:064}") for run in {row.run_id for row in sessions}
    }
    judgings = {
        (row.pk, mode): Judging(
            session=row, round=first, scoring=mode, endpoint=pilot.judge, judge=first.judge, state="finished"
        )
        for row, mode in product(sessions, ("", "compat", "strict"))
    }
    Judging.objects.bulk_create(judgings.values(), batch_size=2000)
    intents, verdicts, turns, calls = [], [], [], []
    for session in sessions:
        spec = session.revision.spec
        hardness = random.Random(spec["task_id"])
        asked: dict[int, int] = {}
        turn = 1
        for index, intent in enumerate(spec["intents"], start=1):
            chance = _share(ability - hardness.gauss(0, 1))
            drawn = rng.random()
            status = "completed" if drawn < chance else "inferred" if drawn < chance + 0.12 else "provided"
            at = 1 if status == "completed" else turn
            asked[at] = asked.get(at, 0) + (status == "inferred")
            turn += status != "completed"
            intents.append(SessionIntent(session=session, index=index, uid=intent["uid"], status=status, turn=at))
            own = judgings[session.pk, ""]
            kinds = [("satisfaction", status == "completed")] + [("follow_up", True)] * (status == "inferred")
            verdicts += [_verdict(Verdict, own, kind, at, index, intent, met) for kind, met in kinds]
        for index, item in enumerate(spec["checklist"], start=1):
            met = rng.random() < _share(0.5 + ability / 2 - hardness.gauss(0, 1))
            for mode in ("compat", "strict"):
                verdicts.append(_verdict(Verdict, judgings[session.pk, mode], "checklist", turn, index, item, met))
        for number in range(1, turn + 1):
            questions = asked.get(number, 0) + (rng.random() < eagerness)
            turns.append(
                Turn(
                    session=session,
                    number=number,
                    user_message="Please go on.",
                    reply="Here it is. " + "Shall I go on? " * questions,
                    snapshot=snapshots[session.run_id],
                )
            )
        session.state, session.ended_at, session.turn_count = "finished", now, turn
        session.graded_strict_at = session.graded_compat_at = now
        session.agent_tokens, session.user_tokens, session.judge_tokens = 900 * turn, 200 * turn, 400 * turn
    SessionIntent.objects.bulk_create(intents, batch_size=2000)
    Verdict.objects.bulk_create(verdicts, batch_size=2000)
    made = Turn.objects.bulk_create(turns, batch_size=2000)
    calls = [ToolCall(turn=row, position=1, name="write_file", arguments={"path": "a.md"}) for row in made]
    ToolCall.objects.bulk_create(calls, batch_size=2000)
    fields = ["state", "ended_at", "turn_count", "graded_strict_at", "graded_compat_at"]
    fields += ["agent_tokens", "user_tokens", "judge_tokens"]
    Session.objects.bulk_update(sessions, fields, batch_size=500)
    Pilot.objects.filter(pk=pilot.pk).update(state="finished", finished_at=now)


def _verdict(kind_of_row: Any, judging: Any, kind: str, turn: int, index: int, part: Any, met: bool) -> Any:
    return kind_of_row(
        judging=judging,
        kind=kind,
        turn=turn,
        index=index,
        uid=part["uid"],
        label=part.get("content") or part.get("criterion", ""),
        grader="rubric" if kind == "checklist" else "judge",
        met=met,
        supported=True,
    )


def _share(value: float) -> float:
    return min(0.95, max(0.03, 0.5 + 0.3 * value))


def _measure(slug: str) -> None:
    from django.conf import settings
    from django.core.cache import caches
    from django.db import connection
    from django.test import Client

    from evaluation.models import Pilot, Session, Verdict
    from evaluation.results.pages import compute_ahead
    from evaluation.results.scores import refresh_scores
    from studio.models import Benchmark, Membership, User

    settings.ALLOWED_HOSTS = ["*"]
    person = User.objects.create_user("reader", password="a long password")
    benchmark = Benchmark.objects.get(slug=slug)
    Membership.objects.create(benchmark=benchmark, user=person, role="viewer")
    client = Client()
    client.force_login(person)
    began = time.perf_counter()
    refresh_scores(list(Pilot.objects.filter(benchmark=benchmark)))
    spent = time.perf_counter() - began
    print(f"{Session.objects.count()} sessions, {Verdict.objects.count()} verdicts")
    print(f"scores of all pilots after they ended, once: {1000 * spent:.0f} ms")
    began = time.perf_counter()
    compute_ahead(benchmark.pk)
    print(f"figures of all pilots after they ended, once: {1000 * (time.perf_counter() - began):.0f} ms")
    client.get(f"/b/{slug}/")  # templates and imports
    missed = 0
    for name, address, aim in _pages(slug):
        client.get(address)
        queries: list[str] = []

        def count(execute: Any, sql: str, params: Any, many: Any, context: Any, seen: list[str] = queries) -> Any:
            seen.append(sql)
            return execute(sql, params, many, context)

        kept = []
        for _ in range(3):
            queries.clear()
            with connection.execute_wrapper(count):
                kept.append(_milliseconds(client, address))
        median = statistics.median(kept)
        caches["results"].clear()
        anew = _milliseconds(client, address)
        missed += median > aim
        mark = "" if median <= aim else "  over the aim"
        print(f"{name:28} kept {median:5.0f} ms  anew {anew:5.0f} ms  {len(queries):3} queries  aim {aim:.0f}{mark}")
    raise SystemExit(1 if missed else 0)


def _pages(slug: str) -> Iterator[tuple[str, str, float]]:
    from evaluation.results.figures.catalogue import FIGURES

    page = f"/benchmarks/{slug}/results/"
    yield "leaderboard", page, AIMS["leaderboard"]
    for name in FIGURES:
        yield name, f"{page}charts/?figure={name}", FIGURE_AIM
    yield "sessions of an agent", f"{page}sessions/?agent=Model+A", FIGURE_AIM
    yield "comparison", f"{page}compare/?first=Model+A&second=Model+B", FIGURE_AIM


def _milliseconds(client: Any, address: str) -> float:
    began = time.perf_counter()
    assert client.get(address).status_code == 200, address
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
