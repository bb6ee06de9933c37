"""Grading a session whose conversation is over."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.engine.plan import SessionPlan
from evaluation.engine.recording import Recording
from evaluation.engine.store import Store
from evaluation.grading.decided import Known
from evaluation.grading.evidence import evidence_of, load_script
from evaluation.grading.judges import ModelChecklistJudge
from evaluation.grading.session import Checklist, SessionGrade, decide_checklist, grade
from evaluation.grading.work import Conversation
from evaluation.protocol.scoring import ScoringMode
from evaluation.workspaces.manifests import Manifest


@dataclass(frozen=True)
class Played:
    """A conversation as it was held, for grading in one mode."""

    conversation: Conversation
    known: Known
    """What earlier work decided."""
    final_files: Manifest | None = None
    """In compat: those at the end of the episode."""


def grade_session(plan: SessionPlan, store: Store, mode: ScoringMode, played: Played) -> SessionGrade:
    """Decide what is not decided yet. compat requires that all conversations of the run are over. Raises
    InfrastructureError, and what the store raises."""
    script = load_script(plan.task, plan.persona, store.read)
    evidence = evidence_of(played.conversation, mode, store.read, played.final_files)
    checklist = Checklist(plan.task, script, evidence, mode, plan.terms.protocol)
    known = dict(played.known)
    judge = ModelChecklistJudge(Recording(plan, store).ask, plan.prompts, plan.terms.protocol) if plan.judge else None
    for decided in decide_checklist(checklist, judge, known):
        store.verdicts(mode, decided)
        known |= {each.place: each.met for each in decided}
    return grade(checklist, known)
