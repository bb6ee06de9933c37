"""The bytes of a release: its files from the revisions that it pins, and the archive from its files.

Every file is stored by its content, so what an interrupted release has made is there when it is made again, and a file
that has not changed is stored once for all releases.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from heapq import merge
from typing import IO, TypeVar

from django.db import transaction

from evaluation.feasibility.packed import solution_files
from evaluation.models import HeldOutPack, Release
from evaluation.models.releases import SignedArchive
from evaluation.protocol.given import GivenTurn
from evaluation.releases.documents.changelog import changelog_file
from evaluation.releases.documents.citation import citation_file
from evaluation.releases.documents.croissant import croissant_file
from evaluation.releases.documents.data_card import data_card_file
from evaluation.releases.documents.flat import flat_lines, flat_path, flat_rows
from evaluation.releases.documents.licence import licence_file
from evaluation.releases.documents.readme import readme_file
from evaluation.releases.documents.statistics import statistics_file
from evaluation.releases.pins import Pin, earlier_releases, held_out_manifests, parts_of, pins_of
from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.pack import (
    MANIFEST,
    SIGNATURE,
    SSH_SIGNATURE,
    SUMS,
    key_files,
    manifest_file,
    read_sums,
    splits_in,
    write_archive,
    write_sums,
)
from studio.domain.rule_scripts import rule_script_files
from studio.domain.task import TaskSpec
from studio.imports.export import episode_files
from studio.models import Blob

T = TypeVar("T")


@dataclass
class Progress:
    """For whoever looks from another thread."""

    step: str = ""
    done: int = 0
    of: int = 0

    def begin(self, step: str, of: int = 0) -> None:
        self.step, self.done, self.of = step, 0, of

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """The same, counted one after another."""
        for item in items:
            yield item
            self.done += 1


AT_ONCE = 8 << 20
"""Bytes of files that are read from the database together."""
IN_MEMORY = 16 << 20
"""Bytes of an archive from which on it is written to disk."""


@dataclass(frozen=True)
class Rebuilt:
    sha256: str
    changed: tuple[str, ...]
    """Paths of files that are not as released."""


def store_files(
    pins: Sequence[Pin], manifest: JsonDict, earlier: Sequence[JsonDict], progress: Progress
) -> dict[str, str]:
    """The sha256 of every file of the pack but its sums, by path. ``earlier``: manifests of the packs of its kind
    before, the newest first. In memory are the files of one persona, and one table."""
    hashes: dict[str, str] = {}
    splits = splits_in(manifest)
    shown: tuple[str, TaskSpec] | None = None
    described: dict[str, tuple[str, int]] = {}
    solved = {pin.persona: pin for pin in pins if pin.solutions}

    def canary_of(split: str) -> str:
        return str(manifest["splits"][split]["canary"])

    with ExitStack() as stack:
        tables: dict[str, IO[bytes]] = {}
        for persona, episode in progress.each(parts_of(pins, splits)):
            hashes |= _store(episode_files([episode]) | rule_script_files([episode]))
            if persona in solved:
                hashes |= _store_solutions(episode, solved[persona].load_solutions(), canary_of)
            for (name, split), rows in flat_rows(episode, splits[0]).items():
                path = flat_path(name, split, splits[0])
                if path not in tables:
                    tables[path] = stack.enter_context(tempfile.TemporaryFile())
                tables[path].write(flat_lines(rows, canary_of(split)))
            shown = shown or _example(episode, splits[0])
        for path, table in sorted(tables.items()):
            table.seek(0)
            if content := table.read():
                hashes |= _store({path: content})
                described[path] = hashes[path], len(content)
    return hashes | _store(
        {
            "README.md": readme_file(manifest, shown, list(described)),
            "DATA_CARD.md": data_card_file(manifest),
            "STATISTICS.md": statistics_file(manifest),
            "CHANGELOG.md": changelog_file(manifest, earlier),
            "CITATION.cff": citation_file(manifest),
            "LICENSE": licence_file(manifest),
            "croissant.json": croissant_file(manifest, described),
            **key_files(manifest),
            MANIFEST: manifest_file(manifest),
        }
    )


def store_sums(hashes: Mapping[str, str]) -> Blob:
    return Blob.objects.get(pk=Blob.objects.store([write_sums(hashes)])[0])


def write_files(pack: SignedArchive, into: IO[bytes]) -> None:
    """The archive."""
    listed = read_sums(bytes(pack.sums.content))
    signed = {SIGNATURE: bytes(pack.signature), SSH_SIGNATURE: pack.ssh_signature.encode()} if pack.key else {}
    write_archive(merge(contents_of({**listed, SUMS: pack.sums.pk}), sorted(signed.items())), into)


def open_archive(pack: SignedArchive) -> IO[bytes]:
    """For reading, from its start. The caller closes it."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    write_files(pack, file)
    file.seek(0)
    return file


def hash_of(pack: SignedArchive) -> tuple[str, int]:
    """sha256 and size of the archive."""
    with tempfile.TemporaryFile() as file:
        write_files(pack, file)
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


def rebuild(pack: Release | HeldOutPack) -> Rebuilt:
    """Make its files again from what its release pins; its signatures are kept. Stores nothing."""
    release = pack.release if isinstance(pack, HeldOutPack) else pack
    before = list(earlier_releases(release))
    earlier = [each.manifest for each in before] if pack is release else held_out_manifests(before)
    with transaction.atomic():
        hashes = store_files(pins_of(release), pack.manifest, earlier, Progress())
        again = copy(pack)
        again.sums = store_sums(hashes)
        sha256, _ = hash_of(again)
        transaction.set_rollback(True)
    released = read_sums(bytes(pack.sums.content))
    changed = {path for path, _ in hashes.items() ^ released.items()}
    return Rebuilt(sha256, tuple(sorted(changed)))


def _store_solutions(
    episode: EpisodeSpec, solutions: Mapping[str, GivenTurn], canary_of: Callable[[str], str]
) -> dict[str, str]:
    """Of its tasks; the files of one are in memory."""
    hashes: dict[str, str] = {}
    for task in (*episode.tasks, *episode.unplaced):
        if turn := solutions.get(task.task_id):
            contents, canary = Blob.objects.read(list(turn.files.values())), canary_of(episode.split_of(task.task_id))
            hashes |= _store(solution_files(episode.persona.user_id, task.task_id, turn, contents, canary))
    return hashes


def _store(files: Mapping[str, bytes]) -> dict[str, str]:
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    there = set(Blob.objects.filter(pk__in=set(hashes.values())).values_list("pk", flat=True))
    Blob.objects.store([content for path, content in files.items() if hashes[path] not in there])
    return hashes


def contents_of(hashes: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Of stored files, by path; some at a time are in memory. ``hashes``: sha256 by path."""
    sizes = dict(Blob.objects.filter(pk__in=set(hashes.values())).values_list("pk", "size"))
    batch: list[str] = []
    held = 0
    for path in sorted(hashes):
        if batch and held + sizes[hashes[path]] > AT_ONCE:
            yield from _read(batch, hashes)
            batch, held = [], 0
        batch.append(path)
        held += sizes[hashes[path]]
    yield from _read(batch, hashes)


def _read(paths: Sequence[str], hashes: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    contents = Blob.objects.read([hashes[path] for path in paths])
    for path in paths:
        yield path, contents[hashes[path]]


def _example(episode: EpisodeSpec, split: Split) -> tuple[str, TaskSpec] | None:
    """The first task of the split that the user begins, that builds on no other and is scored."""
    for task in episode.tasks:
        begun_by_user = task.trigger.kind == "user_message" and not task.depends_on
        if episode.split_of(task.task_id) == split and begun_by_user and task.scored_items:
            return episode.persona.user_id, task
    return None
