"""Models of π-Bench v2 documents with the studio's own blocks, for their JSON Schemas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from studio.domain.task import ExactCheck, GraderKind, Recovery, Scope, Trigger

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


class EpisodeTaskEntry(Open):
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
    tasks: list[EpisodeTaskEntry]
    studio: StudioEpisode | None = None


class ToolsMapping(Open):
    tool_names: list[str]
