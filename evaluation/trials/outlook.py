"""Can this be done? The tasks of a stored persona, replayed in what its apps hold."""

from __future__ import annotations

from evaluation.workspaces.prospects import Prospect, prospects
from studio.drafts.load import load_episode
from studio.models import Blob, Persona


def outlook(persona: Persona) -> list[Prospect]:
    """Of the placed tasks, in order."""
    return prospects(load_episode(persona), Blob.objects.read)
