"""The commands that would publish a pack, with exactly what they would send. Nothing is sent."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import read_files, verified
from studio.domain.episode import Split
from studio.domain.pack import MANIFEST, splits_in
from studio.domain.phrases import count_of

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Publication:
    name: str
    """Of the release."""
    archive: Path
    sha256: str
    commands: Sequence[Sequence[str]]
    files: Sequence[tuple[str, int, str]]
    """That go to Hugging Face: path, bytes and sha256; none if nothing goes there."""
    to_github: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "commands": [shlex.join(words) for words in self.commands],
            "huggingface": [{"path": path, "bytes": size, "sha256": sha256} for path, size, sha256 in self.files],
            "github": [{"path": self.archive.name, "sha256": self.sha256}] if self.to_github else [],
        }


def publication(path: Path, huggingface: str, github: str) -> Publication:
    """``huggingface``, ``github``: repositories, ``OWNER/NAME``; empty: nothing goes there. Raises PibenchError."""
    if not (huggingface or github):
        raise PibenchError("Say where it would go.", "Add --huggingface OWNER/NAME, --github OWNER/NAME, or both.")
    for option, repository in (("--huggingface", huggingface), ("--github", github)):
        if repository and not _REPOSITORY.fullmatch(repository):
            raise PibenchError(f"{option} “{repository}” names no repository.", "Write OWNER/NAME.")
    if not path.is_file():
        raise PibenchError(f"{path} is no archive.", "Give the zip as it was released.")
    files, sha256 = read_files(path)
    if MANIFEST not in files:
        raise PibenchError(f"{path} is no release: it has no {MANIFEST}.")
    manifest = verified(path, files)
    if Split.PUBLIC not in splits_in(manifest):
        raise PibenchError(f"{path} has held-out tasks: do not publish it.", "Give the pack of the published tasks.")
    name, version, folder = f"{manifest['benchmark']['name']} {manifest['version']}", manifest["version"], path.stem
    if not _VERSION.fullmatch(version):
        raise PibenchError(f"{path} is not as releases are: “{version}” is no version.")
    commands = [["unzip", "-q", str(path), "-d", folder]]
    if huggingface:
        dataset = ["--repo-type", "dataset"]
        upload = ["hf", "upload", huggingface, folder, ".", *dataset, "--delete", "*", "--commit-message", name]
        commands += [upload, ["hf", "repos", "tag", "create", huggingface, version, *dataset]]
    if github:
        told = ["--title", name, "--notes-file", f"{folder}/CHANGELOG.md"]
        commands += [["gh", "release", "create", version, str(path), "--repo", github, *told]]
    sent = [(each, len(content), hashlib.sha256(content).hexdigest()) for each, content in sorted(files.items())]
    return Publication(name, path, sha256, commands, sent if huggingface else (), bool(github))


def told(found: Publication) -> Iterator[str]:
    """Lines for people."""
    yield f"{found.name}: nothing was sent. These commands would send it, with your own keys:"
    yield ""
    yield from (f"  {shlex.join(words)}" for words in found.commands)
    if found.files:
        size = sum(size for _, size, _ in found.files)
        yield ""
        yield f"To Hugging Face, {count_of(len(found.files), 'file')} of {size:,} bytes; what else is there is deleted:"
        yield from (f"  {sha256}  {size:>11,}  {path}" for path, size, sha256 in found.files)
    if found.to_github:
        yield ""
        yield "To GitHub, one file, and the text of its CHANGELOG.md:"
        yield f"  {found.sha256}  {found.archive.stat().st_size:>11,}  {found.archive.name}"
