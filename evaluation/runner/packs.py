"""A pack, or a folder of personas in the format of π-Bench, read into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from evaluation.runner.errors import PibenchError
from studio.domain.archive import Limits, check_names, unpack
from studio.domain.content import content_hash, parts_of_tasks
from studio.domain.episode import EpisodeSpec
from studio.domain.pack import MANIFEST, SUMS, DamagedPackError, UnsupportedPackError, check_pack
from studio.domain.pibench import read_personas
from studio.domain.problems import Problem
from studio.domain.task import TaskSpec

LIMITS = Limits(archive_bytes=4 << 30, file_bytes=256 << 20, unpacked_bytes=8 << 30, files=200_000)
"""People choose the packs that they run; these only keep a broken archive from filling the disk."""
SHOWN = 5
"""Problems that an error lists."""


class _Benchmark(BaseModel):
    name: str


class _Row(BaseModel):
    persona: str
    task: str
    said_in_request: tuple[int, ...] = ()


class _Validation(BaseModel):
    limits: dict[str, float] = {}


class _Manifest(BaseModel):
    """What is read of it here."""

    benchmark: _Benchmark
    version: str
    tasks: tuple[_Row, ...] = ()
    validation: _Validation = _Validation()


@dataclass(frozen=True)
class Pack:
    path: Path
    sha256: str
    """Of the archive; if it is a folder, of its list of sums or, without one, of all files."""
    manifest: Mapping[str, Any]
    """``pack.json``; empty for a folder of personas that is no pack."""
    episodes: Sequence[EpisodeSpec]
    contents: Mapping[str, bytes] = field(repr=False)
    """Of all files, by sha256."""

    @property
    def name(self) -> str:
        """Of the benchmark."""
        return str(self.manifest["benchmark"]["name"]) if self.manifest else self.path.name

    @property
    def version(self) -> str:
        return str(self.manifest.get("version", ""))

    def episode(self, persona: str) -> EpisodeSpec | None:
        return next((each for each in self.episodes if each.persona.user_id == persona), None)

    def task(self, task: str, persona: str = "") -> tuple[EpisodeSpec, TaskSpec]:
        """Raises PibenchError."""
        found = [
            (episode, spec)
            for episode in self.episodes
            if persona in ("", episode.persona.user_id) and (spec := episode.task(task)) is not None
        ]
        if not found:
            raise PibenchError(f"There is no task “{task}”.", f"`pibench show {self.path}` lists them.")
        if len(found) > 1:
            personas = ", ".join(episode.persona.user_id for episode, _ in found)
            raise PibenchError(f"Several personas have a task “{task}”: {personas}.", "Say which one with --persona.")
        return found[0]

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        """As far as it has them."""
        return {sha256: self.contents[sha256] for sha256 in sha256s if sha256 in self.contents}

    @cached_property
    def _rows(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Of the manifest, by persona and task."""
        return {(row["persona"], row["task"]): row for row in self.manifest.get("tasks", ())}

    def said_in_request(self, persona: str, task: str) -> tuple[int, ...]:
        """Positions of the intents that the request says in full."""
        return tuple(self._rows.get((persona, task), {}).get("said_in_request", ()))

    def solution_paths(self, persona: str, task: str) -> list[str]:
        """Of its reference solution in the pack: one, or none."""
        row = self._rows.get((persona, task), {})
        return [str(row["solution"])] if "solution" in row else []

    def contents_of_tasks(self, episode: EpisodeSpec) -> dict[str, str]:
        """``content_hash`` of each task."""
        documents = [task.model_dump(mode="json") for task in (*episode.tasks, *episode.unplaced)]
        return {name: content_hash(parts) for name, parts in parts_of_tasks(documents, episode.persona).items()}


def read_files(path: Path) -> tuple[dict[str, bytes], str]:
    """With the hash that names them. Raises PibenchError."""
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
        there = list(islice(found, LIMITS.files + 1))
        if len(there) > LIMITS.files or sum(file.stat().st_size for file in there) > LIMITS.unpacked_bytes:
            raise PibenchError(f"{path} is too large for a pack.", "Give the folder that a pack unpacks to.")
        files = {str(file.relative_to(path)): file.read_bytes() for file in sorted(there)}
        _refuse(path, check_names(files, LIMITS))
        if MANIFEST in files:
            return files, hashlib.sha256(files.get(SUMS, files[MANIFEST])).hexdigest()
        listed = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
        return files, hashlib.sha256(listed.encode()).hexdigest()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PibenchError(
            f"{path} cannot be read: {error.strerror}.", "Give the path of a pack: a zip, or the folder it unpacks to."
        ) from None
    unpacked = unpack(data, LIMITS)
    _refuse(path, unpacked.errors, "If it is a release, fetch it again from where its makers publish it.")
    return unpacked.files, hashlib.sha256(data).hexdigest()


def verified(path: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest, once every file is as it says. Raises PibenchError."""
    try:
        manifest = check_pack(files)
        _Manifest.model_validate(manifest)
    except (DamagedPackError, UnsupportedPackError) as error:
        raise PibenchError(f"{path} is not as it was released: {error}") from None
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise PibenchError(f"{path} is not as releases are: {MANIFEST} has another {place}.") from None
    return manifest


def read_pack(path: Path) -> Pack:
    """Its files are verified first. Raises PibenchError."""
    return pack_of(path, *read_files(path))


def pack_of(path: Path, files: Mapping[str, bytes], sha256: str) -> Pack:
    """Likewise, of files that were read."""
    manifest = verified(path, files) if MANIFEST in files else {}
    reading = read_personas(files, name=path.stem)
    _refuse(path, reading.errors)
    return Pack(path, sha256, manifest, reading.episodes, reading.contents)


def _refuse(path: Path, problems: Sequence[Problem], hint: str = "") -> None:
    if problems:
        lines = [f"  {problem}" for problem in problems[:SHOWN]]
        more = [f"  … and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise PibenchError("\n".join((f"{path} cannot be used.", *lines, *more)), hint)
