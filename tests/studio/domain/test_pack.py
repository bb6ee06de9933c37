import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.pack import DamagedPackError, UnsupportedPackError, check_pack, write_pack

paths = st.from_regex(r"data/[A-Za-z0-9_]{1,8}/[a-z]{1,8}\.(yaml|md)", fullmatch=True)
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
    unpacked.pop("pack.json")
    assert unpacked == files


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


@pytest.mark.parametrize("files", [{}, {"pack.json": b'{"pack_version": 99}'}, {"pack.json": b"[]"}])
def test_unknown_format_or_version_is_rejected(files):
    with pytest.raises(UnsupportedPackError):
        check_pack(files)
