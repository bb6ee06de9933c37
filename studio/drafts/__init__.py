"""Drafts as specs: rows are read into ``EpisodeSpec`` and ``TaskSpec``, and every save goes through here.

Pages, imports, checks and pilots share these functions, so that a save always means the same: rows
written, the next revision frozen, a line of history, fresh findings, and an approval taken back.
"""

from studio.drafts.creating import create_persona, create_task
from studio.drafts.findings import check_personas, refresh_findings, run_graders
from studio.drafts.loading import load_episode, load_episodes, load_task
from studio.drafts.personas import save_order, save_persona
from studio.drafts.refusing import DraftRefused, StaleDraft
from studio.drafts.saving import canonical, save_task

__all__ = [
    "DraftRefused",
    "StaleDraft",
    "canonical",
    "check_personas",
    "create_persona",
    "create_task",
    "load_episode",
    "load_episodes",
    "load_task",
    "refresh_findings",
    "run_graders",
    "save_order",
    "save_persona",
    "save_task",
]
