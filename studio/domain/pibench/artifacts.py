"""Reads and writes expected artifacts, whose references are stored beside the tasks' folders so that they are never
staged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from studio.domain.archive import why_unsafe
from studio.domain.base import Content, FileRef
from studio.domain.pibench.encoding import Encoded
from studio.domain.pibench.nodes import PATH_LENGTH, Node, node_of
from studio.domain.task import ExpectedArtifact, TaskSpec

KEY = "expected_artifacts"
LISTED = Content(sha256="", size=0)
"""Stands for a reference of which the file is not read yet."""


def reference_folder(task_id: str) -> str:
    return f"references/{task_id}/"


def read_artifacts(block: Node) -> tuple[ExpectedArtifact, ...]:
    """The artifacts of a ``studio`` block, each path once; those with a reference have ``LISTED``."""
    artifacts: dict[str, ExpectedArtifact] = {}
    for name, node in _entries(block.sequence(KEY, f"studio.{KEY}")):
        if node.kind == "mapping":
            node.warn_unknown("path", "note", "reference", where=name)
        path = _path(node, name)
        if not path:
            if node.kind == "mapping":
                node.error(f"{name} names no file.", "Write “path: …”, or remove the entry.")
        elif path in artifacts:
            node.warn(f"{name} names “{path}” again; the first entry counts.", "Remove one of the two.")
        else:
            note = node.text("note", f"{name}.note")
            reference = LISTED if _has_reference(node, name, path) else None
            artifacts[path] = ExpectedArtifact(path=path, note=note, reference=reference)
    return tuple(artifacts.values())


def with_references(spec: TaskSpec, root: Node, files: Mapping[str, FileRef]) -> TaskSpec:
    """The listed references, taken from ``files`` by path; each missing one is an error."""
    block = root.get("studio")
    node = block.get(KEY) if block else None
    named = reversed([*_entries(node.items if node else ())])
    entries = {_path(node_of(entry.value), name): (name, entry) for name, entry in named}
    artifacts = []
    for artifact in spec.expected_artifacts:
        file = files.get(artifact.path)
        if artifact.reference and file:
            artifact = artifact.model_copy(update={"reference": Content(sha256=file.sha256, size=file.size)})
        elif artifact.reference:
            name, entry = entries[artifact.path]
            missing = f"there is no file “{reference_folder(spec.task_id)}{artifact.path}”"
            entry.error(f"{name} lists a reference, and {missing}.", "Add the file, or remove “reference: true”.")
            artifact = artifact.model_copy(update={"reference": None})
        artifacts.append(artifact)
    return spec.model_copy(update={"expected_artifacts": tuple(artifacts)})


def encode_artifacts(artifacts: tuple[ExpectedArtifact, ...]) -> list[Encoded]:
    return [
        {
            "path": artifact.path,
            **({"note": artifact.note} if artifact.note else {}),
            **({"reference": True} if artifact.reference else {}),
        }
        if artifact.note or artifact.reference
        else artifact.path
        for artifact in artifacts
    ]


def _entries(nodes: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    for position, node in enumerate(nodes, 1):
        yield f"studio.{KEY}[{position}]", node


def _path(node: Node, name: str) -> str:
    if node.kind == "mapping":
        return node.text("path", f"{name}.path", PATH_LENGTH).strip()
    return node.as_text(name, PATH_LENGTH).strip()


def _has_reference(node: Node, name: str, path: str) -> bool:
    reference = node.get("reference")
    value = reference.value if reference else None
    if reference and value not in (True, False, None):
        fix = "Write “reference: true”, or remove it."
        reference.error(f"{name}.reference is neither true nor false.", fix)
    elif value is True and (why := why_unsafe(path)):
        message = f"{name} lists a reference for “{path[:120]}”, which is not a valid file name. {why}"
        fix = "Write a path below the workspace, such as notes/plan.md, and put the file under that name."
        node.error(message, fix)
    return value is True
