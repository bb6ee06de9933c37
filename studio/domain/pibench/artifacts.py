"""What a task is to leave behind, in its ``studio`` block, and where the references lie: beside the tasks' folders,
which are what gets staged, and never inside of them."""

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
    """Below the persona's folder."""
    return f"references/{task_id}/"


def read_artifacts(block: Node, report: Report) -> tuple[ExpectedArtifact, ...]:
    """The expected artifacts of a ``studio`` block, each path once; their references wait for ``attach``."""
    found: dict[str, ExpectedArtifact] = {}
    for name, node in _entries(block, report):
        if node.kind == "mapping":
            fields.warn_unknown(node, ENTRY_KEYS, report, where=name)
        path = _path(node, name, report)
        if not path:
            if node.kind == "mapping":
                node.error(report, f"{name} names no file.", "Write “path: …”, or remove the entry.")
        elif path in found:
            node.warn(report, f"{name} names “{path}” again; the first entry counts.", "Remove one of the two.")
        else:
            note = fields.text_at(node, "note", report, name=f"{name}.note") if node.kind == "mapping" else ""
            found[path] = ExpectedArtifact(path=path, note=note)
            _check_reference(node, name, path, report)
    return tuple(found.values())


def with_placeholder_references(spec: TaskSpec, block: Node) -> TaskSpec:
    """The task with a mark, in place of a reference, on each artifact for which the block lists one."""
    return _with(spec, {path: Content(sha256="", size=0) for path in _listed(block)})


def with_references(spec: TaskSpec, block: Node, files: Mapping[str, FileRef], report: Report) -> TaskSpec:
    """The task with the references its block lists, out of ``files`` by path; an error for each that is not there."""
    contents = {}
    for path, (name, node) in _listed(block).items():
        if path in files:
            contents[path] = Content(sha256=files[path].sha256, size=files[path].size)
        else:
            node.error(
                report,
                f"{name} lists a reference, and there is no file “{reference_folder(spec.task_id)}{path}”.",
                "Add the file, or remove “reference: true”.",
            )
    return _with(spec, contents)


def encode_artifacts(artifacts: tuple[ExpectedArtifact, ...]) -> list[Encoded]:
    """How a block says them: a path of which nothing more is said is the path."""
    return [
        {
            "path": one.path,
            **({"note": one.note} if one.note else {}),
            **({"reference": True} if one.reference else {}),
        }
        if one.note or one.reference
        else one.path
        for one in artifacts
    ]


def _with(spec: TaskSpec, contents: Mapping[str, Content]) -> TaskSpec:
    artifacts = tuple(one.model_copy(update={"reference": contents.get(one.path)}) for one in spec.expected_artifacts)
    return spec.model_copy(update={"expected_artifacts": artifacts})


def _entries(block: Node, report: Report) -> Iterator[tuple[str, Node]]:
    for place, node in enumerate(fields.sequence_at(block, KEY, report, name=NAME), 1):
        yield f"{NAME}[{place}]", node


def _listed(block: Node) -> dict[str, tuple[str, Node]]:
    """Name and place of the entries that list a reference, by path; of two for one path the first counts."""
    found: dict[str, tuple[str, Node]] = {}
    seen = set()
    for name, node in _entries(block, Report("")):
        path = _path(node, name, Report(""))
        if path and path not in seen and _says_reference(node):
            found[path] = (name, node)
        seen.add(path)
    return found


def _path(node: Node, name: str, report: Report) -> str:
    if node.kind == "mapping":
        return fields.text_at(node, "path", report, name=f"{name}.path", longest=fields.PATH_LENGTH).strip()
    return fields.node_text(node, name, report, longest=fields.PATH_LENGTH).strip()


def _says_reference(node: Node) -> bool:
    said = node.get("reference") if node.kind == "mapping" else None
    return said is not None and said.value is True


def _check_reference(node: Node, name: str, path: str, report: Report) -> None:
    said = node.get("reference") if node.kind == "mapping" else None
    if said is not None and said.value not in (True, False, None):
        said.error(report, f"{name}.reference is neither true nor false.", "Write “reference: true”, or remove it.")
    elif _says_reference(node) and (why := why_unsafe(path)):
        node.error(
            report,
            f"{name} lists a reference for “{path[:120]}”, which is not a valid file name. {why}",
            "Write a path below the workspace, such as notes/plan.md, and put the file under that name.",
        )
