"""Errata: mistakes of a release that were found after it was cut, signed like it."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated

from django.utils import timezone
from pydantic import Field

from evaluation.models import Erratum, Release
from evaluation.models.releases import ErratumEffect
from evaluation.releases.signing import signer_of, why_unsigned
from studio.domain.base import JsonDict
from studio.domain.options import Options, OptionsError
from studio.domain.signing import sign_statement, statement_of
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry

ERRATUM_STATEMENT = "urn:pi-bench-studio:erratum:1"


class ErratumOptions(Options):
    text: str = Field(max_length=5_000, title="What is wrong")
    """For everybody who uses the release. It is signed, and never changes."""
    tasks: list[Annotated[str, Field(max_length=400)]] = Field(default=[], max_length=2_000, title="Tasks")
    """Each as “persona/task”. None: it is about the release as a whole."""
    effect: ErratumEffect = Field(default=ErratumEffect.SCORES, title="What it means for scores")


@atomic_with_retry
def publish_erratum(release: Release, options: ErratumOptions, *, by: User) -> Erratum:
    """Raises OptionsError."""
    benchmark = Benchmark.objects.select_for_update(no_key=True).get(pk=release.benchmark_id)
    held_out = release.held_out_pack
    held = names_of(held_out.manifest) if held_out else set()
    if unknown := [task for task in options.tasks if task not in names_of(release.manifest) | held]:
        raise OptionsError("tasks", f"Release {release.version} has no task “{unknown[0]}”. Write persona/task.")
    about = held_out if held_out and held & set(options.tasks) else release
    if about is held_out and not set(options.tasks) <= held:
        why = "Some of these tasks are held out, and some are published."
        raise OptionsError("tasks", f"{why} Publish one erratum of each: that of held-out tasks is told with them.")
    if problem := why_unsigned(benchmark):
        raise OptionsError("", f"The erratum cannot be signed. {problem}")
    signer = signer_of(benchmark, by=by)
    last = release.errata.order_by("-number").first()
    said: JsonDict = {
        "benchmark": benchmark.slug,
        "version": release.version,
        "number": last.number + 1 if last else 1,
        "published": timezone.now().astimezone(UTC).date().isoformat(),
        "text": options.text,
        "tasks": list(dict.fromkeys(options.tasks)),
        "effect": options.effect.value,
    }
    statement = statement_of(about.file_name, about.sha256, ERRATUM_STATEMENT, said)
    erratum = Erratum.objects.create(
        release=release,
        number=said["number"],
        text=said["text"],
        tasks=said["tasks"],
        effect=options.effect,
        published=said["published"],
        key=signer.key,
        statement=sign_statement(signer.private, statement),
        created_by=by,
    )
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="erratum_published",
        summary=f"Published erratum {erratum.number} of release {release.version}: {erratum.text[:200]}",
        data={"version": release.version, "number": erratum.number},
    )
    return erratum


def names_of(manifest: JsonDict) -> set[str]:
    """Its tasks, each as ``persona/task``."""
    return {f"{row['persona']}/{row['task']}" for row in manifest["tasks"]}


def errata_said(benchmark: Benchmark) -> list[JsonDict]:
    """Of all releases so far, as manifests say them: by release and number."""
    rows = Erratum.objects.filter(release__benchmark=benchmark).select_related("release", "key")
    return [
        {
            "version": row.release.version,
            "number": row.number,
            "published": row.published.isoformat(),
            "text": row.text,
            "tasks": row.tasks,
            "effect": row.effect,
            "key": row.key.public,
            "statement": row.statement,
        }
        for row in rows.order_by("release__pk", "number")
    ]
