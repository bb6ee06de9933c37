"""`manage.py play_sample`: some work in a new sample benchmark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from evaluation.pilots.start import PilotOptions, start_pilot
from evaluation.pilots.wait import play_here
from evaluation.releases.sample import PERSONA, approve_tasks, audit_and_release, people_of
from evaluation.trials.analyses import analyse_missing
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
        wanted = PilotOptions(agent="scripted-helpful", persona=PERSONA)
        pilot = start_pilot(benchmark, wanted, by=people_of(benchmark)["owner"])
        with ThreadPoolExecutor(1) as beside:  # releases wait for what they tell of grader scripts
            analysed = beside.submit(_analyse_scripts)
            play_here(pilot)
            analysed.result()
        audit_and_release(benchmark, pilot)


def _analyse_scripts() -> None:
    try:
        analyse_missing()
    finally:
        connection.close()
