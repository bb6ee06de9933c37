"""Reads and writes expected artifacts, whose references are stored beside the tasks' folders so that they are never
staged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studio.domain.archive import why_unsafe
from studio.domain.base import Content, FileRef
from studio.domain.pibench import fields
from studio.domain.pibench.encoding import Encoded
from studio.domain.pibench.nodes import Node
from studio.domain.problems import Report
from studio.domain.task import ExpectedArtifact, TaskSpec

KEY = "expected_artifacts"
NAME = f"studio.{KEY}"
ENTRY_KEYS = ("path", "note", "reference")


def reference_folder(task_id: str) -> str:
    return f"references/{task_id}/"


def read_artifacts(block: Node, report: Report) -> tuple[ExpectedArtifact, ...]:
    """The artifacts of a ``studio`` block, each path once, still without references."""
    artifacts: dict[str, ExpectedArtifact] = {}
    for name, node in _entries(block, report):
        if node.kind == "mapping":
            fields.warn_unknown(node, ENTRY_KEYS, report, where=name)
        path = _path(node, name, report)
        if not path:
            if node.kind == "mapping":
                node.error(report, f"{name} names no file.", "Write “path: …”, or remove the entry.")
        elif path in artifacts:
            node.warn(report, f"{name} names “{path}” again; the first entry counts.", "Remove one of the two.")
        else:
            note = fields.text_at(node, "note", report, name=f"{name}.note") if node.kind == "mapping" else ""
            artifacts[path] = ExpectedArtifact(path=path, note=note)
            _check_reference(node, name, path, report)
    return tuple(artifacts.values())


def with_placeholder_references(spec: TaskSpec, block: Node) -> TaskSpec:
    """Marks each artifact for which the block lists a reference with an empty one."""
    return _set_references(spec, {path: Content(sha256="", size=0) for path in _referenced_entries(block)})


def with_references(spec: TaskSpec, block: Node, files: Mapping[str, FileRef], report: Report) -> TaskSpec:
    """Adds the references the block lists, taken from ``files`` by path; each missing one is an error."""
    contents = {}
    for path, (name, node) in _referenced_entries(block).items():
        if path in files:
            contents[path] = Content(sha256=files[path].sha256, size=files[path].size)
        else:
            node.error(
                report,
                f"{name} lists a reference, and there is no file “{reference_folder(spec.task_id)}{path}”.",
                "Add the file, or remove “reference: true”.",
            )
    return _set_references(spec, contents)


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


def _set_references(spec: TaskSpec, contents: Mapping[str, Content]) -> TaskSpec:
    artifacts = tuple(
        artifact.model_copy(update={"reference": contents.get(artifact.path)}) for artifact in spec.expected_artifacts
    )
    return spec.model_copy(update={"expected_artifacts": artifacts})


def _entries(block: Node, report: Report) -> Iterator[tuple[str, Node]]:
    for position, node in enumerate(fields.sequence_at(block, KEY, report, name=NAME), 1):
        yield f"{NAME}[{position}]", node


def _referenced_entries(block: Node) -> dict[str, tuple[str, Node]]:
    """Name and node of the entries that list a reference, by path; the first entry for a path counts."""
    entries: dict[str, tuple[str, Node]] = {}
    seen = set()
    for name, node in _entries(block, Report("")):
        path = _path(node, name, Report(""))
        if path and path not in seen and _has_reference(node):
            entries[path] = (name, node)
        seen.add(path)
    return entries


def _path(node: Node, name: str, report: Report) -> str:
    if node.kind == "mapping":
        return fields.text_at(node, "path", report, name=f"{name}.path", longest=fields.PATH_LENGTH).strip()
    return fields.node_text(node, name, report, longest=fields.PATH_LENGTH).strip()


def _has_reference(node: Node) -> bool:
    reference = node.get("reference") if node.kind == "mapping" else None
    return reference is not None and reference.value is True


def _check_reference(node: Node, name: str, path: str, report: Report) -> None:
    reference = node.get("reference") if node.kind == "mapping" else None
    if reference is not None and reference.value not in (True, False, None):
        reference.error(
            report, f"{name}.reference is neither true nor false.", "Write “reference: true”, or remove it."
        )
    elif _has_reference(node) and (why := why_unsafe(path)):
        node.error(
            report,
            f"{name} lists a reference for “{path[:120]}”, which is not a valid file name. {why}",
            "Write a path below the workspace, such as notes/plan.md, and put the file under that name.",
        )
