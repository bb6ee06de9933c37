import hashlib
import io
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.pack import (
    MANIFEST,
    PACK_VERSION,
    SUMS,
    DamagedPackError,
    UnsupportedPackError,
    check_pack,
    read_sums,
    write_sums,
)
from tests.packs import write_pack

paths = st.from_regex(r"data/[A-Za-z0-9_]{1,8}/[a-z]{1,8}\.(yaml|md)", fullmatch=True)
sha256s = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
VERSION_1 = Path(__file__).parent / "packs" / "version-1.zip"
contents = st.dictionaries(paths, st.binary(max_size=50), max_size=5)


def unpack(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        return {name: file.read(name) for name in file.namelist()}


@settings(max_examples=50)
@given(contents)
def test_pack_is_lossless_and_reproducible(files):
    archive = write_pack({"version": "1"}, files)

    assert archive == write_pack({"version": "1"}, dict(reversed(files.items())))
    unpacked = unpack(archive)
    assert check_pack(unpacked)["version"] == "1"
    assert read_sums(unpacked[SUMS]).keys() == files.keys() | {MANIFEST}
    assert {path: unpacked[path] for path in unpacked.keys() - {MANIFEST, SUMS}} == files


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.pop("data/p/a.md"), "data/p/a.md is missing"),
        (lambda files: files.update({"data/p/a.md": b"other"}), "data/p/a.md was changed"),
        (lambda files: files.update({"data/p/b.md": b""}), "data/p/b.md was added"),
    ],
)
def test_changed_file_is_rejected_by_name(change, message):
    files = unpack(write_pack({}, {"data/p/a.md": b"text"}))
    change(files)

    with pytest.raises(DamagedPackError, match=message):
        check_pack(files)


def test_sums_are_missing_or_damaged():
    files = unpack(write_pack({}, {"data/p/a.md": b"text"}))

    for damage, message in (
        (b"", "data/p/a.md was added"),
        (files[SUMS][:-1], "last line of SHA256SUMS is cut off"),
        (files[SUMS] * 2, "twice"),
        (b"nonsense\n", "Line 1"),
        (b"\xff\n", "not UTF-8"),
    ):
        with pytest.raises(DamagedPackError, match=message):
            check_pack({**files, SUMS: damage})
    del files[SUMS]
    with pytest.raises(DamagedPackError, match="no list of the pack’s files in SHA256SUMS"):
        check_pack(files)


@pytest.mark.slow
@given(st.dictionaries(st.text(min_size=1).filter(lambda name: "\0" not in name and _encodes(name)), sha256s))
def test_sums_are_read_as_they_were_written(hashes):
    assert read_sums(write_sums(hashes)) == hashes


def _encodes(name: str) -> bool:
    return name.isprintable() or name.encode("utf-8", "ignore").decode() == name


def test_sums_are_checked_by_coreutils(tmp_path: Path):
    names = ("a b.md", "back\\slash", "line\nbreak", "carriage\rreturn", "ünï.md", " leading", "z/in a folder")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    sums = write_sums({name: hashlib.sha256(name.encode()).hexdigest() for name in names})
    (tmp_path / SUMS).write_bytes(sums)

    def check() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["sha256sum", "--check", "--strict", SUMS], cwd=tmp_path, capture_output=True, check=False
        )

    assert (check().returncode, len(sums.splitlines())) == (0, len(names))
    (tmp_path / "a b.md").write_text("flipped")
    assert check().returncode == 1


def test_pack_of_version_1_is_read_as_the_present_one_would_write_it():
    files = unpack(VERSION_1.read_bytes())

    manifest = check_pack(files)

    assert json.loads(files[MANIFEST])["pack_version"] == 1
    assert (manifest["pack_version"], manifest["version"], "files" in manifest) == (PACK_VERSION, "0.9", False)
    for path in (MANIFEST, "data/radio_producer/profile.yaml"):
        with pytest.raises(DamagedPackError):
            check_pack(
                {**files, path: files[path].replace(b"radio", b"RADIO", 1)}
                if path != MANIFEST
                else {**files, path: files[path].replace(b'"data/', b'"DATA/', 1)}
            )


@pytest.mark.parametrize("files", [{}, {"pack.json": b'{"pack_version": 99}'}, {"pack.json": b"[]"}])
def test_unknown_format_or_version_is_rejected(files):
    with pytest.raises(UnsupportedPackError):
        check_pack(files)
