"""`manage.py play_sample`: some work in a new sample benchmark."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import ModelEndpoint
from evaluation.pilots.start import start_pilot
from evaluation.pilots.wait import wait_for_pilot
from evaluation.releases.sample import PERSONA, approve_tasks, audit_and_release, people_of
from studio.imports.sample import SLUG
from studio.models import Benchmark


class Command(BaseCommand):
    help = "Play reviews, a pilot by scripted models, an audit and releases in the sample benchmark, once."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = Benchmark.objects.filter(slug=SLUG).first()
        if benchmark is None:
            raise CommandError("There is no sample benchmark; load_sample creates it.")
        if benchmark.pilots.exists() or benchmark.releases.exists():
            raise CommandError("Somebody has worked in the sample benchmark already; nothing was changed.")
        approve_tasks(benchmark)
        agent, user_model, judge = (
            ModelEndpoint.objects.get(name=f"scripted-{name}") for name in ("helpful", "user", "judge")
        )
        pilot = start_pilot(
            benchmark,
            by=people_of(benchmark)["owner"],
            persona=PERSONA,
            agent=agent,
            user_model=user_model,
            judge=judge,
        )
        audit_and_release(benchmark, wait_for_pilot(pilot))
