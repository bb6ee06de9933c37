"""Model of a TaskPack's manifest, for its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from studio.dev.pibench_documents import Closed, Sha256
from studio.domain.pack import PACK_VERSION


class PackBenchmark(Closed):
    slug: str
    name: str
    description: str


class PackTotals(Closed):
    personas: int
    tasks: int
    hidden_intents: int
    checklist_items: int = Field(description="Rubric and rule items of the checklists.")
    grader_checks: int = Field(0, description="Checks of the grader scripts, besides those items.")
    dependency_groups: int


class PackTask(Closed):
    persona: str
    task: str
    revision: int = Field(description="The version of the task that was released.")
    sha256: Sha256 = Field(description="Content hash of that version's TaskSpec.")
    approved_by: list[str] = Field(
        [], description="Who approved that version; nobody if it was released as an exception."
    )


class PackPilot(Closed):
    number: int
    agent: str
    user_model: str
    judge: str
    protocol: str = Field(default="release", description="What user and judges saw.")
    agent_loop: int = Field(default=1, description="Version of the agent's loop.")
    judging: dict[str, Any] | None = Field(
        default=None, description="What scored it: judge, prompts with their hashes, samples, credit rules."
    )
    runs: int
    scores: dict[str, Any] | None


class PackTruth(Closed):
    decisions: int = Field(description="Decisions that people have settled who knew the whole session.")
    disagreed: int = Field(description="Those that are wrong in truth.")


class PackAudits(Closed):
    decisions: int = Field(description="Decisions of real judges that people settled, given what judges were shown.")
    disagreed: int = Field(description="Those in which people disagreed with the judge.")
    not_enough_shown: int = Field(description="Decided questions for which judges were not shown enough.")
    in_truth: PackTruth


class PackEvidence(Closed):
    protocol: str = Field(default="release", description="Of all its pilots.")
    pilots: list[PackPilot]
    audits: PackAudits


class PackProblem(Closed):
    code: str
    message: str
    persona: str
    task: str


class PackException(Closed):
    """A problem that blocked the release and that a person accepted."""

    problem: PackProblem
    reason: str
    by: str


class PackDismissal(Closed):
    """An error of the checks that an owner dismissed as wrong."""

    persona: str
    task: str
    rule: str
    message: str
    reason: str
    by: str


class PackManifest(Closed):
    """pack.json, at the top of a TaskPack beside data/."""

    # Literal accepts a constant at run time only, and the version has one home
    pack_version: Literal[PACK_VERSION]  # type: ignore[valid-type]
    format: Literal["pi-bench-v2"]
    benchmark: PackBenchmark
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}$")]
    totals: PackTotals
    tasks: list[PackTask]
    evidence: PackEvidence
    exceptions: list[PackException]
    set_aside: list[PackDismissal]
    results: list[dict[str, Any]] = Field(
        default_factory=list,
        description="Saved views of results with their numbers when the release was made; absent if there are none.",
    )
    files: dict[str, Sha256] = Field(description="sha256 of every other file of the archive, by path.")
