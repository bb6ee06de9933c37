"""Previews of uploaded files, including hostile ones."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.template.loader import render_to_string

from studio.files.previews import decode, is_media, preview, syntax_flaw
from studio.files.previews.preview import MAX_SHOWN
from studio.files.previews.texts import encode
from tests.studio.files.previews.samples import a_docx, a_pdf, a_png, an_xlsx


def test_table_rows_are_counted_and_broken_ones_marked():
    text = "name;price\n" + "".join(f"roll {n};{n}\n" for n in range(300)) + "rye;4;too much\n"

    seen = preview("prices.csv", text.encode())

    [table] = seen.tables
    assert (table.head, len(table.rows), table.count) == (("name", "price"), 200, 301)
    assert (table.separated_by, table.broken, table.first_broken) == ("semicolons", 1, 302)
    assert seen.flaw
    assert seen.flaw.line == 302


def test_multiline_values_are_one_row():
    [table] = preview("a.csv", b'name,note\nrye,"two\nlines"\nwheat,one\n').tables
    assert [(row.line, row.cells) for row in table.rows] == [(2, ("rye", "two\nlines")), (4, ("wheat", "one"))]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.json", '{"rye": 1,\n "salt": }', 2),
        ("a.jsonl", '{"a": 1}\n{"a": 2\n', 2),
        ("a.yaml", "rye: 1\nsalt: [1, 2\nflour: 3\n", 3),
        ("a.csv", 'a,b\n1,"2\n', 2),
        ("a.csv", "a,b\n1,2\n1,2,3\n", 3),
        ("a.md", "* not [closed", None),
        ("a.json", "", None),
    ],
)
def test_syntax_error_names_its_line(path, text, line):
    flaw = syntax_flaw(path, text)
    assert (flaw.line if flaw else None) == line


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("rye – salt\n".encode(), "rye – salt\n", "utf-8"),
        ("\ufeffrye\r\nsalt\r\n".encode(), "rye\nsalt\n", "utf-8-sig"),
        ("rye – salt".encode("utf-16"), "rye – salt", "utf-16"),
        ("Brötchen".encode("cp1252"), "Brötchen", "cp1252"),
    ],
)
def test_decoded_texts_are_encoded_as_they_were(content, text, encoding):
    read = decode(content)

    assert read
    assert (read.text, read.encoding) == (text, encoding)
    if encoding.startswith("utf-8"):
        assert encode(read.text, read.form) == content


@pytest.mark.parametrize("content", [b"\0\1\2rye", bytes(range(256)) * 40])
def test_binary_content_is_not_decoded(content):
    assert preview("notes.txt", content).kind == "nothing"


def test_markdown_can_neither_run_scripts_nor_load_content():
    links = "[x](javascript:alert(1)) ![p](https://x.example/p.png) <b onclick=x>b</b>"
    hostile = f"# Hi\n<script>alert(1)</script>\n{links}"

    html = preview("a.md", hostile.encode()).html

    assert "<h1>Hi</h1>" in html
    assert not any(bad in html for bad in ("<script", 'javascript:"', 'href="javascript', "<img", "<b onclick"))


def test_served_type_does_not_depend_on_the_name():
    assert is_media("innocent.png", b"<html><script>alert(1)</script>") == ""
    assert is_media("page.html", b"<html>") == ""
    assert is_media("page.html", a_png()) == "image/png"
    assert is_media("x.svg", b"<svg onload='alert(1)'/>") == "image/svg+xml"  # as an <img>, from a locked answer
    assert is_media("x.html", b"<svg onload='alert(1)'/>") == ""


def test_image_with_too_many_pixels_is_not_shown():
    assert preview("a.png", a_png(width=40_000, height=40_000)).kind == "nothing"
    assert "3 × 2" in preview("a.png", a_png(width=3, height=2)).summary


def test_yaml_is_shown_as_it_is_written():
    levels = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))

    bomb = preview("laughs.yaml", levels.encode())

    assert bomb.text == levels


def test_json_is_shown_indented_and_escaped():
    shown = preview("a.json", json.dumps({"<script>": ["<b>", 1, None, 10**30]}).encode())

    html = render_to_string("studio/files/parts/preview.html", {"preview": shown})

    assert (shown.kind, shown.cut) == ("text", False)
    assert shown.text.splitlines()[:3] == ["{", '  "<script>": [', '    "<b>",']
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert str(10**30) in html


def test_no_more_is_indented_of_deep_json_than_is_shown():
    deep = preview("a.json", ("[" * 800 + "[]," * 200_000 + "[]" + "]" * 800).encode())

    assert deep.cut
    assert len(deep.text) == MAX_SHOWN


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "9" * 10_000, "nan", "- " * 40_000])
@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.jsonl"])
def test_deeply_nested_and_endless_data_have_a_preview(path, text):
    assert preview(path, text.encode()).kind in ("text", "lines")


@pytest.mark.slow
def test_word_spreadsheet_pdf_and_mail_files_are_previewed():
    word = preview("a.docx", a_docx("Rye first <script>"))
    sheet = preview("a.xlsx", an_xlsx([["name", "price"], ["rye", "4"]]))
    pdf = preview("a.pdf", a_pdf("Rye first"))
    mail = preview("a.eml", b"From: a@x.example\nSubject: =?utf-8?q?R=C3=BCben?=\n\nRye first.\n")

    assert "Rye first &lt;script&gt;" in word.html
    assert word.note == ""
    assert (sheet.tables[0].head, sheet.tables[0].rows[0].cells) == (("name", "price"), ("rye", "4"))
    assert "Rye first" in pdf.text
    assert (mail.headers, mail.text) == ((("From", "a@x.example"), ("Subject", "Rüben")), "Rye first.\n")


@pytest.mark.slow
def test_zip_bombs_and_broken_documents_are_reported():
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w", force_zip64=True) as entry:
            for _ in range(600):
                entry.write(b"<" * (1 << 20))

    for path, content in (("a.docx", bomb.getvalue()), ("a.docx", b"PK\3\4nonsense"), ("a.xlsx", b"PK\3\4nonsense")):
        seen = preview(path, content)
        assert (seen.kind, "Cannot be shown" in seen.note) == ("nothing", True)
    broken = preview("a.pdf", b"%PDF-1.7\nnonsense")
    assert (broken.kind, "could not be extracted" in broken.note) == ("pdf", True)
