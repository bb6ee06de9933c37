"""Pilots and releases in the studio's search."""
# ruff: noqa: S608

from __future__ import annotations

from django.urls import reverse

from evaluation.audits.blindness import closed_pilots
from studio.search.sources import BENCHMARKS, PARTS, SearchSource, register

PILOT = "('pilot ' || r.number || ' ' || a.name)"
RELEASE = "('release ' || b.name || ' ' || b.slug || ' ' || r.version)"


def register_sources() -> None:
    register(
        SearchSource(
            "pilot",
            "Pilots",
            f"""SELECT r.id, r.benchmark_id, NULL::bigint, NULL::bigint, '', NULL::int, 0.5, r.created_at
                FROM evaluation_pilot r JOIN evaluation_modelendpoint a ON a.id = r.agent_id
                WHERE r.benchmark_id = ANY({BENCHMARKS}) AND {PILOT} ILIKE ALL({PARTS})""",
            """SELECT 'Pilot ' || r.number || ' · ' || a.name FROM evaluation_pilot r
               JOIN evaluation_modelendpoint a ON a.id = r.agent_id WHERE r.id = page.pk""",
            address=lambda pk: reverse("evaluation:pilot", args=[pk]),
            closed_to=closed_pilots,
        )
    )
    register(
        SearchSource(
            "release",
            "Releases",
            f"""SELECT r.id, r.benchmark_id, NULL::bigint, NULL::bigint, '', NULL::int, 0.5, r.created_at
                FROM evaluation_release r JOIN studio_benchmark b ON b.id = r.benchmark_id
                WHERE r.benchmark_id = ANY({BENCHMARKS}) AND {RELEASE} ILIKE ALL({PARTS})""",
            "SELECT 'Release ' || r.version FROM evaluation_release r WHERE r.id = page.pk",
            address=lambda pk: reverse("evaluation:release", args=[pk]),
        )
    )
