"""Archives, task files and uploads made to break their readers: a sentence each time, never a failure."""

from __future__ import annotations

import io
import os
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.models import Benchmark, Role, Task
from tests.factories import BenchmarkFactory, a_persona, a_task, member, rewrite, stored

pytestmark = [pytest.mark.minutes, pytest.mark.django_db]

SAMPLE = Path(__file__).resolve().parents[2] / "fixtures" / "sample" / "data" / "radio_producer"
LONGEST_SECONDS = 15


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory()


@pytest.fixture
def author(benchmark: Benchmark) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(member(benchmark, Role.OWNER))
    return client


def sample_files() -> dict[str, bytes]:
    return {
        f"radio_producer/{path.relative_to(SAMPLE).as_posix()}": path.read_bytes()
        for path in sorted(SAMPLE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def a_task_file() -> str:
    return next(name for name in sample_files() if "/tasks/" in name and name.endswith(".yaml"))


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_entry(name: str, content: bytes = b"x", mode: int = 0o644) -> bytes:
    """The sample, and an entry whose name may be anything."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, kept in sample_files().items():
            archive.writestr(path, kept)
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = name
        entry.external_attr = mode << 16
        archive.writestr(entry, content)
    return buffer.getvalue()


def twice_named() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("radio_producer/profile.yaml", "radio_producer/PROFILE.yaml", "radio_producer/profile.yaml"):
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, b"name: x")
    return buffer.getvalue()


def overlapping() -> bytes:
    """Every entry of the directory points at the same bytes (a bomb that needs no nesting)."""
    core = zlib.compress(b"\0" * 1_000_000, 9)[2:-4]
    check = zlib.crc32(b"\0" * 1_000_000)
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, check, len(core), 1_000_000, 1, 0) + b"a" + core
    directory = b""
    for number in range(2_000):
        name = f"radio_producer/{number}".encode()
        directory += struct.pack(
            "<IHHHHHHIIIHHHHHII",
            0x02014B50,
            20,
            20,
            0,
            8,
            0,
            0,
            check,
            len(core),
            1_000_000,
            len(name),
            0,
            0,
            0,
            0,
            0,
            0,
        )
        directory += name
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 2_000, 2_000, len(directory), len(local), 0)
    return local + directory + end


def damaged(seed: int) -> bytes:
    """The sample's archive with some bytes changed."""
    content = bytearray(zipped(sample_files()))
    chance = random.Random(seed)
    for _ in range(20):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no archive": lambda: b"GIF89a" + bytes(1000),
    "only an end": lambda: b"PK\x05\x06" + bytes(18),
    "cut off": lambda: zipped(sample_files())[:-200],
    "bomb": lambda: zipped({"radio_producer/zeros": bytes(200_000_000)}),
    "overlapping entries": overlapping,
    "zip in zip": lambda: zipped({"radio_producer/a.zip": zipped({"b.zip": zipped({"c": bytes(10_000_000)})})}),
    "30,000 entries": lambda: zipped({f"radio_producer/x/{number}": b"" for number in range(30_000)}),
    "deep folders": lambda: zipped({"radio_producer/" + "a/" * 2000 + "x": b"x"}),
    "out of the folder": lambda: with_entry("radio_producer/../../../etc/passwd"),
    "absolute": lambda: with_entry("/etc/cron.d/x"),
    "backslashes": lambda: with_entry("radio_producer\\..\\..\\x"),
    "drive": lambda: with_entry("C:/windows/x"),
    "link": lambda: with_entry("radio_producer/link", b"/etc/passwd", 0o120777),
    "device": lambda: with_entry("radio_producer/device", b"", 0o020666),
    "name of a device": lambda: with_entry("radio_producer/tasks/CON"),
    "trailing dot": lambda: with_entry("radio_producer/tasks/x."),
    "written backwards": lambda: with_entry("radio_producer/tasks/\u202etxt.exe"),
    "NUL": lambda: with_entry("radio_producer/tasks/a\0b"),
    "long name": lambda: with_entry("radio_producer/" + "n" * 60_000),
    "surrogate": lambda: with_entry("radio_producer/\ud800x".encode("utf-8", "surrogatepass").decode("latin-1")),
    "named twice": twice_named,
    **{f"damaged {seed}": lambda seed=seed: damaged(seed) for seed in range(12)},
}

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
TASK_FILES: dict[str, bytes] = {
    "billion laughs": LAUGHS.encode(),
    "itself": b"a: &a [*a]\n",
    "itself as key": b"&a {*a : 1}\n",
    "python object": b"a: !!python/object/apply:os.system ['id']\n",
    "binary": b"a: !!binary x\n",
    "deep list": b"[" * 20_000,
    "deep map": ("".join(" " * n + "a:\n" for n in range(3000))).encode(),
    "flow map": b"{a: " * 5000,
    "5,000 digits": b"title: " + b"9" * 5000 + b"\n",
    "octal of 5,000 digits": b"title: 0o" + b"7" * 5000 + b"\n",
    "base 60": b"title: " + b"59:" * 3000 + b"59\n",
    "huge float": b"title: 1e999999\nweight: .nan\n",
    "no date": b"title: 2026-13-45\n",
    "far date": b"title: 99999-01-01T99:99:99Z\n",
    "NUL": b"title: a\0b\n",
    "not UTF-8": b"title: \xff\xfe\xfa\n",
    "UTF-16": "title: x\n".encode("utf-16"),
    "UTF-32": "title: x\n".encode("utf-32"),
    "surrogate": b'title: "\\ud800"\n',
    "control characters": b'title: "\\x07\\x1b[31m"\n',
    "keys twice": b"title: a\ntitle: b\n",
    "list as key": b"? [a, b]\n: c\n",
    "merge of itself": b"a: &a\n  <<: *a\n",
    "two documents": b"title: a\n---\ntitle: b\n",
    "only a scalar": b"hello\n",
    "only a list": b"- a\n- b\n",
    "empty": b"",
    "tabs": b"\ttitle: a\n",
    "long line": b"title: '" + b"x" * 3_000_000 + b"'\n",
    "many intents": b"hidden_intents:\n" + b"".join(b"- content: intent %d\n" % n for n in range(5000)),
    "long anchors": b"".join(b"k%d: &a%d x\n" % (n, n) for n in range(20_000)),
    "unfinished quote": b"title: 'a\n",
    "directive": b"%YAML 9.9\n%TAG ! tag:x,2000:\n---\n!x a\n",
}


def rich_text(xml: bytes, name: str = "word/document.xml") -> bytes:
    types = b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    return zipped({"[Content_Types].xml": types, name: xml})


ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10 if n else b"&a;" * 10) for n in range(12))
    + b'<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&a11;&f;</x>'
)
FILES: dict[str, Callable[[], bytes]] = {
    "a.pdf": lambda: b"%PDF-1.7\n" + b"1 0 obj<</Type/Catalog/Pages 1 0 R>>endobj\n" * 2000,
    "loop.pdf": lambda: b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 9>>endobj\n"
    b"trailer<</Root 1 0 R/Prev 0>>\nstartxref\n0\n%%EOF",
    "entities.docx": lambda: rich_text(ENTITIES),
    "entities.xlsx": lambda: rich_text(ENTITIES, "xl/workbook.xml"),
    "bomb.docx": lambda: rich_text(b"<x>" + b" " * 150_000_000 + b"</x>"),
    "bomb.xlsx": lambda: rich_text(b"<x>" + b" " * 150_000_000 + b"</x>", "xl/worksheets/sheet1.xml"),
    "entities.svg": lambda: ENTITIES.replace(b"<x>", b"<svg>").replace(b"</x>", b"</svg>"),
    "script.svg": lambda: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>",
    "script.html": lambda: b"<script>alert(1)</script><img src=x onerror=alert(1)>",
    "script.md": lambda: b"[a](javascript:alert(1)) <script>alert(1)</script> ![x](data:text/html,x)",
    "deep.md": lambda: b"> " * 20_000 + b"x",
    "brackets.md": lambda: b"[" * 50_000,
    "stars.md": lambda: b"*a **b " * 20_000,
    "deep.json": lambda: b"[" * 200_000,
    "wide.json": lambda: b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(100_000)) + b"}",
    "digits.json": lambda: b"9" * 100_000,
    "wide.csv": lambda: b"," * 300_000,
    "long.csv": lambda: b"a,b\n" * 300_000,
    "quotes.csv": lambda: b'"' * 300_001,
    "nul.csv": lambda: b"a,\0b\n" * 1000,
    "deep.yaml": lambda: b"- " * 20_000 + b"x",
    "laughs.yaml": lambda: LAUGHS.encode(),
    "a.png": lambda: b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 2**31 - 1) + b"IHDR" + bytes(100),
    "a.jpg": lambda: b"\xff\xd8\xff\xe0" + bytes(1000),
    "a.eml": lambda: b"From: a\nContent-Type: multipart/mixed; boundary=x\n\n"
    + b"--x\nContent-Type: multipart/mixed; boundary=x\n\n" * 3000,
    "header.eml": lambda: b"Subject: =?utf-8?b?" + b"A" * 200_000 + b"?=\n\nx",
    "nested.ics": lambda: b"BEGIN:VCALENDAR\n" * 50_000,
    "lines.txt": lambda: b"\n" * 3_000_000,
    "line.txt": lambda: b"x" * 3_000_000,
    "surrogates.txt": lambda: b"\xed\xa0\x80" * 10_000,
    "python.py": lambda: b"(" * 50_000,
    "zip.zip": lambda: zipped({"a": b"a"}),
    "noise.bin": lambda: random.Random(1).randbytes(500_000),
}  # fmt: skip


def answered_in_time(act: Callable[[], Iterator[int]]) -> None:
    """Of processor time, which holds on a busy machine; the timeout of a test bounds what waits."""
    started = os.times()
    statuses = list(act())
    seconds = sum(os.times()[:4]) - sum(started[:4])

    assert all(status < 500 for status in statuses), statuses
    assert seconds < LONGEST_SECONDS


def import_on_the_page_and_by_the_api(client: Client, benchmark: Benchmark, archive: bytes) -> Iterator[int]:
    def sent() -> dict[str, SimpleUploadedFile]:
        return {"archive": SimpleUploadedFile("radio_producer.zip", archive)}

    start = reverse("studio:import_start", args=[benchmark.slug])
    response = client.post(start, sent())
    yield response.status_code
    if response.status_code == 302:
        yield client.get(response.headers["Location"]).status_code
        yield client.post(f"{response.headers['Location']}decide/").status_code
    yield client.post(reverse("studio:api_imports", args=[benchmark.slug]), sent()).status_code


@pytest.mark.parametrize("kind", ARCHIVES)
def test_hostile_archive_is_answered_with_a_sentence(kind: str, author: Client, benchmark: Benchmark):
    archive = ARCHIVES[kind]()

    answered_in_time(lambda: import_on_the_page_and_by_the_api(author, benchmark, archive))


@pytest.mark.parametrize("kind", TASK_FILES)
def test_hostile_task_file_is_answered_with_a_sentence(kind: str, author: Client, benchmark: Benchmark):
    archive = zipped(sample_files() | {a_task_file(): TASK_FILES[kind]})

    answered_in_time(lambda: import_on_the_page_and_by_the_api(author, benchmark, archive))


@pytest.mark.parametrize("name", FILES)
def test_hostile_upload_is_shown_or_refused(name: str, author: Client, benchmark: Benchmark):
    task = a_task(a_persona(benchmark))
    content = FILES[name]()

    def look() -> Iterator[int]:
        place = [benchmark.slug, "baker", task.pk]
        upload = {"path": name, "file": SimpleUploadedFile(name, content)}
        yield author.post(reverse("studio:file_add", args=place), upload).status_code
        rewrite([task], assets=[stored(name, content)])
        address = reverse("studio:asset", args=[*place, name])
        for query in ("", "?part=seen", "?part=edit", "?raw", "?download"):
            response = author.get(address + query)
            yield response.status_code
            if query == "?raw" and response.status_code == 200:
                assert "sandbox" in response.headers["Content-Security-Policy"]
        yield author.get(Task.objects.get(pk=task.pk).get_absolute_url()).status_code

    answered_in_time(look)
