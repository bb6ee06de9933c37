"""Rows of pilots, rehearsals, releases and assistance."""

from evaluation.models.agents import Agent
from evaluation.models.assistance import AssistantModel, Proposal, ProposalDecision
from evaluation.models.batches import BatchedQuestion, JudgingBatch
from evaluation.models.calls import ModelCall
from evaluation.models.endpoint_tests import EndpointTest
from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.judgings import Judging, JudgingRound, ScoringChoice
from evaluation.models.opinions import OpinionRequest, SecondOpinion
from evaluation.models.pilots import BenchmarkBudget, Pilot, Run
from evaluation.models.probes import Probe, ReferenceSolution, Validation
from evaluation.models.rehearsals import Rehearsal
from evaluation.models.release_requests import ReleaseRequest
from evaluation.models.releases import (
    ElsewhereAcceptance,
    Erratum,
    HeldOutPack,
    Release,
    ReleaseException,
    ReleasePersona,
    ReleaseTask,
    SigningKey,
    Submission,
)
from evaluation.models.results import ResultsView
from evaluation.models.scripts import ScriptExample
from evaluation.models.sessions import MadeCall, Session, SessionIntent, Snapshot, ToolCall, Turn, TurnNote, TurnWords
from evaluation.models.verdicts import Verdict, VerdictCorrection
