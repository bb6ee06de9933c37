from __future__ import annotations

import io
import stat
import zipfile

import pytest

from studio.domain.archive import Limits, check_names, unpack, why_unsafe

SMALL = Limits(archive_bytes=1 << 20, file_bytes=50_000, unpacked_bytes=100_000, files=10, ratio=50, depth=3)


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def special(mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("a/special")
    entry.create_system = 3
    entry.external_attr = (mode | 0o644) << 16
    return entry


def messages(data: bytes, limits: Limits = SMALL) -> str:
    unpacked = unpack(data, limits)
    assert not (unpacked.errors and unpacked.files)
    return "\n".join(f"{error.file}: {error.message}" for error in unpacked.errors)


def test_sound_archive_is_unpacked() -> None:
    data = packed(("a/", b""), ("a/b.txt", b"b"), ("a/é/c.bin", b"\x00"))

    unpacked = unpack(data, SMALL)

    assert (unpacked.errors, unpacked.files) == ([], {"a/b.txt": b"b", "a/é/c.bin": b"\x00"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../evil", "leads out of its folder"),
        ("a/../../evil", "leads out of its folder"),
        ("a//b", "leads out of its folder"),
        ("a/./b", "leads out of its folder"),
        ("/etc/passwd", "not a path inside the archive"),
        ("C:/windows", "not a path inside the archive"),
        ("a\\..\\b", "contains a backslash"),
        ("a/\x07b", "cannot be displayed"),
        ("a/b\x00.txt", "cannot be displayed"),
        ("a/" + "x" * 256, "longer than 255 bytes"),
        ("a/b/c/d/e", "more than 3 folders deep"),
        ("../evil/", "leads out of its folder"),
        ("c:evil.md", "not a path inside the archive"),
        ("a/CON", "stands for a device"),
        ("nul.txt", "stands for a device"),
        ("a/LPT1 .md/b", "stands for a device"),
        ("a/plan.md.", "ends in a dot or a space"),
        ("a /plan.md", "ends in a dot or a space"),
        ("invoice\u202efdp.exe", "U+202E, which can disguise it"),
        ("a/\u2066x\u2069", "U+2066"),
        ("a/plan\u200b.md", "U+200B"),
    ],
)
def test_unsafe_names_are_rejected(name: str, message: str) -> None:
    data = packed((name.replace("\x00", "%"), b"x")).replace(b"b%.txt", b"b\x00.txt")

    assert message in messages(data)


@pytest.mark.parametrize(
    ("mode", "message"),
    [(stat.S_IFLNK, "This is a link"), (stat.S_IFCHR, "neither a file nor a folder"), (stat.S_IFIFO, "neither a file")],
)
def test_links_and_devices_are_rejected(mode: int, message: str) -> None:
    assert message in messages(packed((special(mode), b"/etc/passwd")))


@pytest.mark.parametrize(
    "names",
    [
        ("a/b.txt", "a/B.txt"),
        ("A/b.txt", "a/c.txt"),
        ("caf\u00e9.txt", "cafe\u0301.txt"),
        ("a", "a/b.txt"),
        ("stra\u00dfe", "STRASSE"),
    ],
)
def test_names_that_collide_on_some_systems_are_rejected(names: tuple[str, ...]) -> None:
    assert messages(packed(*((name, b"x") for name in names)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_name_is_rejected() -> None:
    assert "appears twice" in messages(packed(("a", b"1"), ("a", b"2")))


def test_encrypted_entries_are_rejected() -> None:
    data = bytearray(packed(("a", b"x")))
    data[data.index(b"PK\x01\x02") + 8] |= 1

    assert "encrypted" in messages(bytes(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (packed(("a", b"x" * 60_000)), "larger than 50,000 bytes"),
        (packed(*((str(n), bytes(40_000)) for n in range(5))), "unpacks to more than"),
        (packed(*((str(n), b"x") for n in range(11))), "There are 11 files; the limit is 10"),
        (packed(*((str(n), b"") for n in range(60))), "There are 60 files; the limit is 10"),
        (packed(("a", b"x"), compression=zipfile.ZIP_BZIP2), "unsupported compression"),
        (bytes((1 << 20) + 1), "the limit is 1,048,576"),
        (b"PK not a zip", "This zip file is damaged"),
        (b"", "This zip file is damaged"),
    ],
    ids=["large file", "large whole", "many", "very many", "bzip2", "large archive", "no zip", "empty"],
)
def test_limits_are_enforced(data: bytes, message: str) -> None:
    assert message in messages(data)


def test_zip_bomb_is_stopped_by_its_output_size() -> None:
    limits = Limits(unpacked_bytes=1 << 30, file_bytes=1 << 30, ratio=100)

    assert "unpacks to more than" in messages(packed(("a", bytes(8 << 20))), limits)


def test_size_in_the_header_is_not_trusted() -> None:
    data = bytearray(packed(("a", bytes(60_000))))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (10).to_bytes(4, "little")

    unpacked = unpack(bytes(data), SMALL)

    assert unpacked.files == {} and unpacked.errors


def test_damaged_entry_is_reported() -> None:
    data = bytearray(packed(("a", b"hello hello hello"), compression=zipfile.ZIP_STORED))
    data[data.index(b"hello")] ^= 1

    assert "a: This cannot be unpacked" in messages(bytes(data))


def test_names_of_a_folder_obey_the_same_rules() -> None:
    assert [problem.file for problem in check_names(["a/b", "a/B", "../c"], SMALL)] == ["a/B", "../c"]


@pytest.mark.parametrize(
    "name", ["console.md", "a/nullable.txt", "…", ".gitignore", "a/را\u200cه.md", "lpt10", "a.b c.d"]
)
def test_names_that_only_look_alike_are_portable(name: str) -> None:
    assert why_unsafe(name) == ""
