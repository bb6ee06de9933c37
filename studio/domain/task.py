"""A task of an episode as written by its author (paper, section 3.3; PIBENCH.md, section 1).

A ``TaskSpec`` is what checks read, pilots run and releases freeze. ``source`` fields hold the mapping a part was
imported from, so that exports preserve unknown keys, key order and odd types; nothing else reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from studio.domain.base import About, Content, FileRef, JsonDict, Spec, fields_of
from studio.domain.tool_names import bare_tool_name

TITLE_LENGTH = 300
"""Characters."""
Scope = Literal["session_local", "persistent"]
InitialStatus = Literal["not_provided", "provided"]
GraderKind = Literal["rubric", "rule"]
TriggerKind = Literal["user_message", "webhook", "heartbeat", "feed", "file_drop"]
RecoveryKind = Literal["profile", "session", "file", "tool", "memory", "question"]
RuleKind = Literal[
    "file_exists",
    "file_contains",
    "file_lacks",
    "reply_contains",
    "reply_lacks",
    "tool_called",
    "record_exists",
    "record_gone",
    "nothing_else_changed",
]


class Trigger(Spec):
    """What starts the session: the user's message, or an environment signal."""

    kind: TriggerKind = "user_message"
    payload: JsonDict = Field(default_factory=dict)
    """The signal's data (a webhook's body, a feed's entries, a dropped file's path); empty for a user's message."""


class Recovery(Spec):
    """A source from which an agent can recover an intent."""

    kind: RecoveryKind
    ref: str = ""
    """A task id, path or tool name; empty for a question or the profile."""
    note: str = ""


class HiddenIntent(Spec):
    """Something the user needs but does not say. Graded by 1-based position; ``uid`` survives reordering."""

    uid: str
    content: str
    scope: Scope = "session_local"
    initial_status: InitialStatus = "not_provided"
    recoverable_from: Annotated[tuple[Recovery, ...], About(identity="kind ref")] = ()
    source: JsonDict = Field(default_factory=dict)


class ExactCheck(Spec):
    """A check decided without a judge or a script: on a workspace file, the last reply, the tool calls or what they
    changed in simulated apps."""

    kind: RuleKind
    path: str = ""
    """Workspace path, for the file rules."""
    text: str = ""
    """What must (not) occur, ignoring case and runs of white space; numbers match as numbers (``find_text``)."""
    tool: str = ""
    """Tool name, for ``tool_called``."""
    arguments: JsonDict = Field(default_factory=dict)
    """Arguments the call must have, or fields the record must have, compared exactly; others are ignored."""
    containing: dict[str, str] = Field(default_factory=dict)
    """Arguments or fields in which a text must occur, ignoring case and runs of white space."""
    app: str = ""
    """Simulated app, for the rules on records; for ``nothing_else_changed`` empty: all apps."""
    table: str = ""
    """The app's table, for the rules on records."""


class ChecklistItem(Spec):
    """One requirement on the outcome."""

    uid: str
    criterion: str
    weight: float = 1.0
    grader: GraderKind = "rubric"
    rule: ExactCheck | None = None
    evidence: tuple[str, ...] = ()
    """Paths or tool fields that show it; empty: everything the task shows its judges."""
    follows_from: tuple[str, ...] = ()
    """``uid`` of the intents this item follows from."""
    source: JsonDict = Field(default_factory=dict)


class ToolEvidence(Spec):
    """Fields of a tool's calls and results shown to judges (``objectives.tools``)."""

    tool: str
    call: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    source: JsonDict = Field(default_factory=dict)


class Dependency(Spec):
    """An earlier task of the same episode that this one builds on."""

    task_id: str
    carries_over: str = ""
    """What the earlier session establishes and this one needs, as a sentence."""


class ExpectedArtifact(Spec):
    """A file the session should leave in the workspace."""

    path: str
    note: str = ""
    """What it must be, as a sentence."""
    reference: Content | None = None
    """An example of a good result, for authors and the assistant model. Agents, simulated users and judges never see
    it."""

    @model_validator(mode="before")
    @classmethod
    def _accept_path(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _serialize_compactly(self, whole: SerializerFunctionWrapHandler) -> Any:
        """An artifact with only a path is stored as the path."""
        return whole(self) if self.note or self.reference else self.path


class TaskSpec(Spec):
    """A complete task. Text is preserved verbatim."""

    task_id: Annotated[str, About("the task's id", exported_only=True)]
    user_id: Annotated[str, About("the user's id", exported_only=True)] = ""
    environment_id: Annotated[str, About("the environment's id", exported_only=True)] = ""
    title: Annotated[str, About("the title", "about", prose=True, apart=True)] = ""
    description: Annotated[str, About("the description", "about", prose=True, apart=True)] = ""
    task_type: Annotated[str, About("the type", apart=True)] = ""
    category: Annotated[str, About("the category", apart=True)] = ""
    """Code in the benchmark's taxonomy (A–R of the paper's Table 5, or another)."""
    trigger: Annotated[Trigger, About("the trigger", "request")] = Trigger()
    initial_request: Annotated[str, About("the initial request", "request", page="the request", prose=True)] = ""
    intents: Annotated[
        tuple[HiddenIntent, ...],
        About("the hidden intents", "intents", row="intent", row_text="content", identity="uid", most=300),
    ] = ()
    checklist: Annotated[
        tuple[ChecklistItem, ...],
        About("the checklist", "checklist", row="item", row_text="criterion", identity="uid", most=500),
    ] = ()
    files_read: Annotated[
        tuple[str, ...], About("the files shown to judges", "seen", page="the files judges see", lines=True, most=500)
    ] = ()
    tool_evidence: Annotated[
        tuple[ToolEvidence, ...],
        About("the tool evidence", "seen", page="what judges see of tools", identity="tool", most=300),
    ] = ()
    grader_script: Annotated[str, About("the grader script", "script")] = ""
    """``tools_evaluation_path`` as written, e.g. ``data/<persona>/scripts/<name>.py``; empty: none."""
    depends_on: Annotated[
        tuple[Dependency, ...],
        About("the dependencies", "needs", page="what it builds on", row="dependency", identity="task_id", most=300),
    ] = ()
    """In the order written. The format stores them in ``episode.yaml``."""
    group: Annotated[str, About("the dependency group", "needs")] = ""
    """Name of the dependency group; empty: none."""
    assets: Annotated[tuple[FileRef, ...], About("the assets", "files", page="the files", identity="path")] = ()
    tools: Annotated[tuple[str, ...], About("the tools", "reach")] = ()
    """Those of the persona's tools this task uses; empty: all of them."""
    skills: Annotated[tuple[str, ...], About("the skills", "reach")] = ()
    """Likewise for skills."""
    reference_workflow: Annotated[str, About("the reference workflow", "workflow", prose=True, apart=True)] = ""
    expected_artifacts: Annotated[
        tuple[ExpectedArtifact, ...],
        About(
            "the expected artifacts",
            "workflow",
            page="the files it leaves behind",
            lines=True,
            identity="path",
            most=300,
        ),
    ] = ()
    metadata: Annotated[JsonDict, About("the metadata", exported_only=True)] = Field(default_factory=dict)
    source: Annotated[JsonDict, About("keys found only in the imported file", apart=True)] = Field(default_factory=dict)
    """``task.yaml`` as read, in its key order; empty for a task written in the studio."""

    @property
    def is_setup(self) -> bool:
        """Whether it has nothing to score, as prerequisites in a dependency group (PIBENCH.md, section 1)."""
        return not self.scored_items and not self.grader_script

    @property
    def expected_paths(self) -> tuple[str, ...]:
        return tuple(artifact.path for artifact in self.expected_artifacts)

    def with_renamed_need(self, before: str, after: str) -> TaskSpec:
        """As it builds on a task that has another id now."""
        needs = (
            need.model_copy(update={"task_id": after}) if need.task_id == before else need for need in self.depends_on
        )
        return self.model_copy(update={"depends_on": tuple(needs)})

    @property
    def tools_named(self) -> set[str]:
        """Without their prefix: as needed, as evidence for judges, in rules, as sources of intents."""
        names = [
            *self.tools,
            *(evidence.tool for evidence in self.tool_evidence),
            *(item.rule.tool for item in self.checklist if item.rule),
            *(
                source.ref.partition(".")[0]
                for intent in self.intents
                for source in intent.recoverable_from
                if source.kind == "tool"
            ),
        ]
        return {bare_tool_name(name) for name in names if name.strip()}

    @property
    def references(self) -> tuple[FileRef, ...]:
        return tuple(
            FileRef(path=artifact.path, sha256=artifact.reference.sha256, size=artifact.reference.size)
            for artifact in self.expected_artifacts
            if artifact.reference
        )

    @property
    def scored_items(self) -> tuple[ChecklistItem, ...]:
        return tuple(item for item in self.checklist if item.criterion.strip())

    def size_problems(self) -> Iterator[tuple[str, str, str]]:
        """Fields beyond a limit, each with what is wrong and how to fix it: then no page shows the task well and no
        check reads it in a bearable time."""
        if len(self.title) > TITLE_LENGTH:
            message = f"The title has {len(self.title):,} characters; the limit is {TITLE_LENGTH}."
            yield "title", message, "Shorten it; the description has room for more."
        for field, about in fields_of(TaskSpec).items():
            if about.most and (count := len(getattr(self, field))) > about.most:
                label = (about.page or about.label).removeprefix("the ")
                message = f"There are {count:,} rows in “{label}”; the limit is {about.most}."
                yield field, message, "Split it into several tasks."
