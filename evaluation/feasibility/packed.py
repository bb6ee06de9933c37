"""Reference solutions in a pack: a folder of their own, which no agent, user or judge is given. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.protocol.given import GivenTurn
from evaluation.workspaces.manifests import safe_path
from studio.domain.archive import Limits, check_names
from studio.domain.pack import SOLUTIONS
from studio.domain.problems import Problem

DOCUMENT = "solution.json"


class UnreadableSolutionError(ValueError):
    """The message names the file."""


class _Call(BaseModel):
    name: str
    arguments: dict[str, Any]


class _Document(BaseModel):
    model_config = ConfigDict(strict=True)

    reply: str
    calls: tuple[_Call, ...]
    files: dict[str, str]


@dataclass(frozen=True)
class PackedSolutions:
    turns: Mapping[str, Mapping[str, GivenTurn]]
    """By persona and task."""
    contents: Mapping[str, bytes]
    """Of their files, by sha256."""


def document_path(persona: str, task: str) -> str:
    return f"{SOLUTIONS}/{persona}/{task}/{DOCUMENT}"


def solution_files(
    persona: str, task: str, turn: GivenTurn, contents: Mapping[str, bytes], canary: str
) -> dict[str, bytes]:
    """By path in the pack. ``contents``: of its files, by sha256."""
    document = {"canary": canary, "persona": persona, "task": task, **turn.to_json()}
    document["files"] = dict(sorted(turn.files.items()))
    files = {_file_path(persona, task, path): contents[sha256] for path, sha256 in turn.files.items()}
    return {document_path(persona, task): json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n", **files}


def name_problems(persona: str, task: str, turn: GivenTurn) -> list[Problem]:
    """Why a pack could not have its files: names that other systems confuse or do not take."""
    return check_names([_file_path(persona, task, path) for path in turn.files], Limits())


def read_solutions(files: Mapping[str, bytes]) -> PackedSolutions:
    """Of a pack's files. Raises UnreadableSolutionError."""
    turns: dict[str, dict[str, GivenTurn]] = {}
    contents: dict[str, bytes] = {}
    for path, content in files.items():
        parts = path.split("/")
        if parts[0] == SOLUTIONS and len(parts) == 4 and parts[3] == DOCUMENT:
            _, persona, task, _ = parts
            turn = _turn_of(path, content)
            for name, sha256 in turn.files.items():
                contents[sha256] = _content_of(path, files.get(_file_path(persona, task, name)), name, sha256)
            turns.setdefault(persona, {})[task] = turn
    return PackedSolutions(turns, contents)


def _turn_of(path: str, content: bytes) -> GivenTurn:
    try:
        return GivenTurn.from_json(_Document.model_validate_json(content).model_dump(mode="json"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise UnreadableSolutionError(f"{path} is not as solutions are: {place}: {first['msg']}.") from None


def _content_of(path: str, content: bytes | None, name: str, sha256: str) -> bytes:
    try:
        safe_path(name)
    except ValueError as error:
        raise UnreadableSolutionError(f"{path} is not as solutions are: {error}") from None
    if content is None or hashlib.sha256(content).hexdigest() != sha256:
        raise UnreadableSolutionError(f"{path} names the file {name}, which is not beside it as it says.")
    return content


def _file_path(persona: str, task: str, path: str) -> str:
    return f"{SOLUTIONS}/{persona}/{task}/files/{path}"
