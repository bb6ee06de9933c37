"""A task: one session of an episode, as its author wrote it (paper, section 3.3; PIBENCH.md, section 1).

A ``TaskSpec`` is what checks read, pilots run and releases freeze. ``source`` fields keep the
mapping a part was imported from, so that a writer can give back unknown keys, key order and odd
types; they carry no meaning of their own.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from studio.domain.base import Content, FileRef, JsonDict, Spec

Scope = Literal["session_local", "persistent"]
InitialStatus = Literal["not_provided", "provided"]
GraderKind = Literal["rubric", "rule"]
TriggerKind = Literal["user_message", "webhook", "heartbeat", "feed", "file_drop"]
RecoveryKind = Literal["profile", "session", "file", "tool", "memory", "question"]
RuleKind = Literal["file_exists", "file_contains", "file_lacks", "reply_contains", "reply_lacks", "tool_called"]


class Trigger(Spec):
    """What opens the session: the user's message, or a signal of the environment."""

    kind: TriggerKind = "user_message"
    payload: JsonDict = Field(default_factory=dict)
    """The signal as data (a webhook's body, a feed's entries, a dropped file's path); empty for a user's message."""


class Recovery(Spec):
    """One place where an agent can find or elicit an intent."""

    kind: RecoveryKind
    ref: str = ""
    """Which one: a task id, a path, a tool name; empty for a question or the profile."""
    note: str = ""


class HiddenIntent(Spec):
    """Something the user needs and does not say. Graded by position (1-based); ``uid`` survives reordering."""

    uid: str
    content: str
    scope: Scope = "session_local"
    initial_status: InitialStatus = "not_provided"
    recoverable_from: tuple[Recovery, ...] = ()
    source: JsonDict = Field(default_factory=dict)


class ExactCheck(Spec):
    """An exact check that needs no code: on a workspace file, the last reply or the tool calls."""

    kind: RuleKind
    path: str = ""
    """Workspace path, for the file rules."""
    text: str = ""
    """What must (not) occur, compared without regard to case and runs of white space."""
    tool: str = ""
    """Tool name, for ``tool_called``."""
    arguments: JsonDict = Field(default_factory=dict)
    """Arguments the call must have, compared exactly; others are free."""


class ChecklistItem(Spec):
    """One requirement on the outcome."""

    uid: str
    criterion: str
    weight: float = 1.0
    grader: GraderKind = "rubric"
    rule: ExactCheck | None = None
    evidence: tuple[str, ...] = ()
    """Paths or tool fields that show it; empty: whatever the task shows its judges."""
    follows_from: tuple[str, ...] = ()
    """``uid`` of the intents this item follows from."""
    source: JsonDict = Field(default_factory=dict)


class ToolEvidence(Spec):
    """Fields of a tool's calls and results that judges may read (``objectives.tools``)."""

    tool: str
    call: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    source: JsonDict = Field(default_factory=dict)


class Dependency(Spec):
    """An earlier task of the same episode that this one builds on."""

    task_id: str
    carries_over: str = ""
    """What the earlier session establishes and this one needs, in a sentence."""


class ExpectedArtifact(Spec):
    """A file the session should leave in the workspace."""

    path: str
    note: str = ""
    """What it must be, in a sentence."""
    reference: Content | None = None
    """What a good result looks like: for people, and for help from a model. Neither agents, simulated users nor
    judges ever get it."""

    @model_validator(mode="before")
    @classmethod
    def _of_path(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _in_short(self, whole: SerializerFunctionWrapHandler) -> Any:
        """A path of which nothing more is said is stored as the path."""
        return whole(self) if self.note or self.reference else self.path


class TaskSpec(Spec):
    """One task in full. Text is kept to the character, also where it is odd."""

    task_id: str
    user_id: str = ""
    environment_id: str = ""
    title: str = ""
    description: str = ""
    task_type: str = ""
    category: str = ""
    """Code in the benchmark's taxonomy (A–R of the paper's Table 5, or another)."""
    trigger: Trigger = Trigger()
    initial_request: str = ""
    intents: tuple[HiddenIntent, ...] = ()
    checklist: tuple[ChecklistItem, ...] = ()
    files_read: tuple[str, ...] = ()
    tool_evidence: tuple[ToolEvidence, ...] = ()
    grader_script: str = ""
    """``tools_evaluation_path`` as written, e.g. ``data/<persona>/scripts/<name>.py``; empty: none."""
    depends_on: tuple[Dependency, ...] = ()
    """In the order written; kept in ``episode.yaml`` by the format, here with the task they belong to."""
    group: str = ""
    """Name of the dependency group, if the author gave one."""
    assets: tuple[FileRef, ...] = ()
    tools: tuple[str, ...] = ()
    """The tools this task needs of those the persona has; empty: all of them."""
    skills: tuple[str, ...] = ()
    """Likewise for skills."""
    reference_workflow: str = ""
    expected_artifacts: tuple[ExpectedArtifact, ...] = ()
    metadata: JsonDict = Field(default_factory=dict)
    source: JsonDict = Field(default_factory=dict)
    """The whole ``task.yaml`` as read, in its key order; empty for a task written here."""

    @property
    def is_setup(self) -> bool:
        """A prerequisite inside a dependency group: nothing to score (PIBENCH.md, section 1)."""
        return not self.scored_items and not self.grader_script

    @property
    def expected_paths(self) -> tuple[str, ...]:
        return tuple(artifact.path for artifact in self.expected_artifacts)

    @property
    def references(self) -> tuple[FileRef, ...]:
        """The reference files of the expected artifacts, each by the artifact's path."""
        return tuple(
            FileRef(path=one.path, sha256=one.reference.sha256, size=one.reference.size)
            for one in self.expected_artifacts
            if one.reference
        )

    @property
    def scored_items(self) -> tuple[ChecklistItem, ...]:
        """The items that are graded, in order: those with a criterion."""
        return tuple(item for item in self.checklist if item.criterion.strip())
