"""JSON Schemas of a TaskPack's documents and of the API's values, in docs/schemas/.

``python -m studio.dev.schemas`` writes them. They describe well-formed documents; the importer accepts more: unknown
keys survive a round trip, and unexpected types are read with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.pack import PACK_VERSION
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, GraderKind, Recovery, Scope, TaskSpec, Trigger

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"

Text = Annotated[str, Field(max_length=200)]
Identifier = Annotated[str, Field(min_length=1, max_length=200)]
Position = Annotated[int, Field(ge=1, description="1-based; may be left out where every entry is listed in order.")]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Closed(BaseModel):
    """A mapping without other keys."""

    model_config = ConfigDict(extra="forbid")


class Open(BaseModel):
    """A mapping whose other keys are preserved and not used."""

    model_config = ConfigDict(extra="allow")


class TriggerEntry(Open):
    type: str = Field(
        default="user", description="user or user_query; or environmental_signal, environment, env: an event."
    )


class IntentEntry(Open):
    content: str = Field(min_length=1)
    status: Literal["not_provided", "provided"] = "not_provided"


class IntentMapping(Open):
    initial_input: str | dict[str, Any] = Field(description="Sent to the agent verbatim; an event may be an object.")
    hidden_intent: list[IntentEntry] = Field(min_length=1, description="An intent's identity is its 1-based position.")


class CriterionEntry(Open):
    criterion: str | None = Field(default="", description="An entry without a criterion is skipped.")
    weight: float = Field(default=1.0, gt=0)
    evaluation: Literal["llm"] = "llm"


class Objectives(Closed):
    checklist: list[CriterionEntry] | None = None
    files_read: list[str] | None = Field(default=None, description="Workspace paths whose text the judges are shown.")
    tools: list[dict[str, Any]] | None = Field(
        default=None, description="Each {<tool>: {call: [path, …], result: [path, …]}}; one tool per entry."
    )
    tools_evaluation_path: str | None = Field(
        default=None, pattern=r"\.py\s*$", description="A grader script, relative to the folder that holds data/."
    )


class StudioIntent(Closed):
    position: Position | None = None
    uid: str = ""
    scope: Scope = "session_local"
    recoverable_from: list[Recovery] = []


class StudioItem(Closed):
    position: Position | None = None
    uid: str = ""
    grader: GraderKind = "rubric"
    rule: ExactCheck | None = None
    evidence: list[str] = []
    follows_from: list[int | str] = Field(default=[], description="1-based positions, or uids, of intents.")


class ArtifactEntry(Closed):
    path: str
    note: str = ""
    reference: bool = Field(default=False, description="A reference lies at references/<task_id>/<path>.")


class StudioTask(Closed):
    """What π-Bench v2 has no field for."""

    category: Annotated[str, Field(max_length=20)] = ""
    group: Text = ""
    trigger: Trigger | None = None
    intents: list[StudioIntent] = []
    checklist: list[StudioItem] = []
    carries_over: dict[str, str] = Field(default={}, description="By the task_id of a dependency.")
    assets: dict[str, str] = Field(default={}, description="Descriptions of files, by path.")
    tools: list[str] = Field(default=[], description="Those of the persona's tools that this task needs; empty: all.")
    skills: list[str] = Field(default=[], description="Likewise for skills.")
    reference_workflow: str = ""
    expected_artifacts: list[str | ArtifactEntry] = []


class TaskDocument(Open):
    """data/<persona>/tasks/<task_id>/task.yaml"""

    schema_version: Literal["v2"]
    task_id: Identifier
    user_id: Identifier
    environment_id: Text = ""
    title: str = ""
    description: str = ""
    task_type: Text = Field(
        default="", description="long_term, short_term_independent or short_term_contextual; others occur."
    )
    trigger: TriggerEntry = TriggerEntry()
    intent: IntentMapping
    objectives: Objectives | None = None
    metadata: dict[str, Any] | None = None
    studio: StudioTask | None = None


class RoleMapping(Open):
    role_text: str


class StudioPersona(Closed):
    name: Text = ""
    occupation: str = ""
    routines: str = ""
    working_style: str = ""
    attributes: dict[str, Any] = {}


class ProfileDocument(Open):
    """data/<persona>/profile.yaml. Never shown to the agent."""

    schema_version: Literal["v2"]
    user_id: Identifier
    role: str | RoleMapping
    preferences: dict[str, Any] | None = None
    long_term_goals: list[Any] | None = None
    studio: StudioPersona | None = None


class EpisodeEntry(Open):
    task_id: Identifier
    depends_on: list[Identifier] | None = Field(default=None, description="Earlier entries; unique.")


class Runtime(Open):
    docker_image_id: str = ""


class StudioEpisode(Closed):
    groups: dict[str, str] = Field(default={}, description="What each dependency group carries over.")


class EpisodeDocument(Open):
    """data/<persona>/episode.yaml. The order of the list is the run order."""

    schema_version: Literal["v2"]
    episode_id: Text
    user_id: Identifier
    runtime: Runtime | None = None
    tasks: list[EpisodeEntry]
    studio: StudioEpisode | None = None


class ToolsMapping(Open):
    tool_names: list[str]


class PackBenchmark(Closed):
    slug: str
    name: str
    description: str


class PackTotals(Closed):
    personas: int
    tasks: int
    hidden_intents: int
    checklist_items: int
    dependency_groups: int


class PackTask(Closed):
    persona: str
    task: str
    revision: int = Field(description="The version of the task that was released.")
    sha256: Sha256 = Field(description="Content hash of that version's TaskSpec.")


class PackPilot(Closed):
    number: int
    agent: str
    user_model: str
    judge: str
    runs: int
    scores: dict[str, Any] | None


class PackAudits(Closed):
    decisions: int = Field(description="Decisions of real judges that people have settled.")
    disagreed: int = Field(description="Those where people hold the opposite.")


class PackEvidence(Closed):
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
    files: dict[str, Sha256] = Field(description="sha256 of every other file of the archive, by path.")


DOCUMENTS: Mapping[str, Any] = {
    "pack": PackManifest,
    "task": TaskDocument,
    "profile": ProfileDocument,
    "episode": EpisodeDocument,
    "tools": ToolsMapping | list[str],
    "task-spec": TaskSpec,
    "persona-spec": PersonaSpec,
    "episode-spec": EpisodeSpec,
    "finding": Finding,
}
"""By schema name."""


def schemas() -> dict[str, str]:
    return {f"{name}.schema.json": _text(name, kind) for name, kind in DOCUMENTS.items()}


def _text(name: str, kind: Any) -> str:
    schema = TypeAdapter(kind).json_schema()
    if whole := schema.get("$defs", {}).get("ExpectedArtifact"):  # its validator also takes the path alone
        schema["$defs"]["ExpectedArtifact"] = {"anyOf": [{"type": "string"}, whole]}
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json", **schema}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
