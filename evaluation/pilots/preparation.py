"""Data of apps and web pages of personas made ready for sessions: by a worker's sweep, soon after they were saved, and
once for each content. What a session needs sooner, it reads itself."""

from __future__ import annotations

from django.db import transaction

from evaluation.agents import World
from evaluation.models import ReadyAppData, StoredWebPage
from evaluation.protocol.participants import InfrastructureError
from evaluation.workspaces.app_states import FORM
from evaluation.workspaces.web_corpus import store_pages
from studio.domain.app_data import CLOCK, path_of
from studio.models import Blob, PersonaFile

BATCH = 25
"""Files that are read at once."""


def prepare_missing() -> int:
    """How many files were made ready. Safe to run twice at once."""
    count = 0
    while done := _store_some_pages() + _complete_some_apps():
        count += done
    return count


def _store_some_pages() -> int:
    files = PersonaFile.objects.filter(path__regex=r"^web/[^/]+\.(md|txt)$")
    waiting = files.exclude(blob__in=StoredWebPage.objects.values("blob")).values_list("blob", flat=True)
    pages = list(waiting.order_by("blob").distinct()[:BATCH])
    store_pages(pages)
    return len(pages)


def _complete_some_apps() -> int:
    files = PersonaFile.objects.filter(path__regex=r"^apps/[^/]+\.json$").exclude(path=path_of(CLOCK))
    waiting = files.exclude(blob__in=ReadyAppData.objects.filter(form=FORM).values("seed"))
    seeds = dict(waiting.order_by("blob").values_list("blob", "path")[:BATCH])
    contents = Blob.objects.read(list(seeds)) if seeds else {}
    for sha, content in contents.items():
        app = seeds[sha].removeprefix("apps/").removesuffix(".json")
        with transaction.atomic():
            state = _completed(app, content)
            [ready] = [sha] if state is None else Blob.objects.store([state])
            row = ReadyAppData(app=app[:40], seed_id=sha, form=FORM, state_id=ready)
            ReadyAppData.objects.bulk_create([row], ignore_conflicts=True)
    return len(contents)


def _completed(app: str, content: bytes) -> bytes | None:
    """None if it cannot be read: the checks say so."""
    try:
        return World({app: content}).state(app).to_json()
    except InfrastructureError:
        return None
