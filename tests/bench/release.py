"""A release of 10,000 tasks against one of 1,000: `python -m tests.bench.release` prints seconds and peak memory of the
process that cuts it, and the ratio of what the release itself takes.

An eighth of the personas are held out, so both packs are made. Every task is an exception: nothing is approved or
piloted, which is the longest manifest. Exit status 1 if the memory grows faster than MOST.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.population import SLUG, TASKS, populated_database

MOST = 4.0
"""How many times the memory of 1,000 tasks 10,000 may take."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--personas", type=int, nargs="*", default=[50, 500])
    parser.add_argument("--cut", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--profile", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    if arguments.cut:
        print(json.dumps(cut(arguments.profile)))
        return 0
    from tests.bench.scale import environment

    taken = []
    print(f"{'tasks':>8}{'readiness':>11}{'release':>9}{'before':>9}{'peak':>9}{'taken':>9}{'pack':>9}")
    for personas in arguments.personas:
        with populated_database(personas):
            hold_out()
            command = [sys.executable, "-m", "tests.bench.release", "--cut"]
            command += ["--profile", arguments.profile] if arguments.profile else []
            made = subprocess.run(command, env=environment(), check=True, stdout=subprocess.PIPE)
        found = json.loads(made.stdout)
        taken.append(found["peak"] - found["before"])
        print(
            f"{personas * TASKS:>8,}{found['readiness']:>9.1f} s{found['seconds']:>7.0f} s{found['before']:>6.0f} MB"
            f"{found['peak']:>6.0f} MB{taken[-1]:>6.0f} MB{found['pack'] / 1e6:>6.0f} MB",
            flush=True,
        )
    print(f"memory: {taken[-1] / taken[0]:.1f} times as much (at most {MOST:g})")
    return int(taken[-1] > MOST * taken[0])


def hold_out() -> None:
    """Every second copy of the last seed."""
    from studio.episodes.moves import Move, make_move
    from studio.models import Persona, User

    by = User.objects.order_by("pk").first()
    for persona in Persona.objects.filter(user_id__regex="[02468]d$"):
        names = tuple(persona.tasks.order_by("position").values_list("task_id", flat=True))
        make_move(persona.pk, Move("split", names, split="held_out"), by=by)


def cut(profile: str | None) -> dict[str, float]:
    from evaluation.releases.blocker_kinds import readiness_of
    from evaluation.releases.cut import ReleaseOptions, cut_release
    from studio.models import Benchmark
    from tests.bench.scale import peak_megabytes

    benchmark = Benchmark.objects.get(slug=SLUG)
    began = time.perf_counter()
    readiness_of(benchmark)
    readiness = time.perf_counter() - began
    before, began = peak_megabytes(), time.perf_counter()
    if profile:
        import cProfile

        profiler = cProfile.Profile()
        profiler.enable()
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A bench."), by=None, signature="Bench")
    seconds = time.perf_counter() - began
    if profile:
        profiler.disable()
        profiler.dump_stats(Path(profile))
    return {
        "readiness": readiness,
        "seconds": seconds,
        "before": before,
        "peak": peak_megabytes(),
        "pack": release.size,
    }


if __name__ == "__main__":
    sys.exit(main())
