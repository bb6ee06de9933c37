"""What the search for held-out texts reads within files."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

import pytest

from evaluation.releases.told import LIMITS, texts_within
from evaluation.tools.documents import read_document
from studio.files.previews.documents import extract

UNWRITABLE = b'From: "=?utf-8?q?a=0D=0Ab?= ' + b"word " * 30 + b'" <a@b.example>\n\nSecond.\n'
"""A message that the standard library cannot fold."""
MAIL = (
    b"From: a@b.example\nSubject: The letter\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n"
    b"--B\nContent-Type: text/plain\n\nFirst.\n"
    b"--B\nContent-Type: message/rfc822\nContent-Disposition: attachment\n\n" + UNWRITABLE + b"\n"
    b"--B\nContent-Type: text/plain\nContent-Disposition: attachment; filename=c.txt\n"
    b"Content-Transfer-Encoding: base64\n\nVGhpcmQu\n--B--\n"
)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def found_in(path: str, content: bytes) -> str:
    return "\n".join(texts_within(path, content))


@pytest.mark.parametrize("odd", ["/tmp/plan.txt", "../plan.txt", "A.TXT", "con.txt", "a.txt/b.txt"])
def test_member_with_an_odd_name_is_searched_and_so_are_the_others(odd: str) -> None:
    texts = found_in("a.zip", zipped(("a.txt", b"First."), (odd, b"Second."), ("z.txt", b"Third.")))

    assert all(said in texts for said in ("First.", "Second.", "Third."))


@pytest.mark.slow
def test_archive_of_many_files_is_searched() -> None:
    many = [(f"{number:05}.txt", b"First.") for number in range(9_000)]

    assert "First." in found_in("a.zip", zipped(*many))


def test_start_of_a_member_that_is_too_large_is_searched_and_so_are_the_others() -> None:
    large = b"Second." + bytes(LIMITS.file_bytes)

    texts = found_in("a.zip", zipped(("a.txt", b"First."), ("b.bin", large), ("z.txt", b"Third.")))

    assert all(said in texts for said in ("First.", "Second.", "Third."))
    assert len(texts) < LIMITS.file_bytes + 50_000


@pytest.mark.slow
def test_no_more_of_an_archive_is_unpacked_than_all_its_members_may_have() -> None:
    members = [(f"{number}.bin", bytes(LIMITS.file_bytes)) for number in range(5)]

    texts = list(texts_within("a.zip", zipped(*members)))

    assert sum(map(len, texts[1:])) <= LIMITS.unpacked_bytes + 1_000


def test_damaged_member_leaves_the_others_searched() -> None:
    stored = zipfile.ZipInfo("b.txt")
    archive = zipped(("a.txt", b"First."), (stored, b"Second."), ("z.txt", b"Third."))

    texts = found_in("a.zip", archive.replace(b"Second.", b"Sec0nd."))

    assert "First." in texts and "Third." in texts


def test_member_that_could_unpack_to_anything_at_once_is_left_out() -> None:
    odd = zipfile.ZipInfo("b.txt")
    odd.compress_type = zipfile.ZIP_BZIP2

    _, *texts = texts_within("a.zip", zipped(("a.txt", b"First."), (odd, b"Second."), ("z.txt", b"Third.")))

    assert [text.strip() for text in texts] == ["First.", "Third."]


def test_archive_of_more_files_than_memory_may_hold_is_not_opened() -> None:
    entries = zipfile.ZipInfo("a.bin")

    assert len(list(texts_within("a.zip", zipped((entries, b"PK\x01\x02" * (4 * LIMITS.files + 1)))))) == 1


@pytest.mark.slow
def test_mail_is_read_without_the_files_attached_to_it() -> None:
    message = EmailMessage()
    message.set_content("First.")
    message.add_attachment(b"Second.", maintype="application", subtype="octet-stream", filename="b.bin")

    assert extract("mail", bytes(message), whole=True)["attached"] == []
    assert "Second." in found_in("a.eml", bytes(message))


@pytest.mark.slow
def test_attached_message_that_cannot_be_folded_leaves_the_mail_and_its_other_files_readable() -> None:
    assert "First." in (read_document("a.eml", MAIL) or "")

    texts = list(texts_within("a.eml", MAIL))

    assert any("Third." in text for text in texts[1:])
    assert any("Second." in text for text in texts[1:])
