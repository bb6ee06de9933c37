"""Drafts as tests read and arrange them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from studio.domain.arrangement import apply_arrangement, arrangement_of
from studio.drafts.load import load_episode
from studio.drafts.save_personas import save_personas
from studio.findings.refresh import refresh_findings
from studio.imports.export import persona_folders
from studio.models import Benchmark, Persona, User


def benchmark_files(benchmark: Benchmark) -> dict[str, bytes]:
    """The drafts of every persona: path → bytes."""
    return {path: content for _, files in persona_folders(benchmark) for path, content in files.items()}


def save_order(persona_id: int, order: Sequence[str], *, by: User | None) -> None:
    """Place these tasks; others stay as unplaced drafts."""
    with transaction.atomic():
        row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
        old = load_episode(row)
        new = apply_arrangement(old, replace(arrangement_of(old), order=tuple(order)))
        save_personas([(row, old, new)], by=by, verb="reordered")
        refresh_findings([row])
