"""Reads YAML from untrusted bytes into nodes with lines and columns."""

from __future__ import annotations

import re
from typing import Any

import yaml

from studio.domain.pibench.nodes import Node
from studio.domain.pibench.yaml_builder import MAX_CHARACTERS, NodeBuilder, YamlLimitError
from studio.domain.problems import Report

_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FIXES = [
    (r"cannot start any token|found character '\\t'", ("Indent with spaces instead of tabs, and put text that starts "
     "with a special character (@ ` % &) in quotes.")),
    ("mapping values are not allowed", "Put the text in quotes, or write it as a block (|): it holds “: ”."),
    ("could not find expected ':'", "Add the colon after the key, or indent the line under the text it belongs to."),
    ("expected <block end>", "Check the indentation here, and that the quotes above are closed."),
    ("expected <document start>", "Check the indentation of this line, and that the quotes above are closed."),
    ("expected ',' or", "Close the bracket, or put a comma between the entries."),
    ("unexpected end of stream", "Close the quote that was opened here."),
    ("undefined alias", "Put the text in quotes: a word that starts with * is read as a reference."),
    ("escape", "Write the character itself, or use single quotes: a backslash in double quotes starts an escape."),
]  # fmt: skip


def parse_yaml(data: bytes, report: Report) -> Node | None:
    """The document in ``data``; None if it cannot be read at all.

    Damaged documents are returned, too, so that errors in their other parts are also reported. Reads the parser's
    events instead of ``yaml.load``: nesting never becomes recursion, and expanded aliases are counted before they
    are expanded.
    """
    text = _decode(data, report)
    if text is None:
        return None
    if len(text) > MAX_CHARACTERS:
        report.error(
            f"The file has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.",
            "Move long texts into files of the task's folder.",
        )
        return None
    loader = yaml.SafeLoader if "\ufeff" in text else _FAST
    builder = NodeBuilder(report)
    try:
        builder.feed(yaml.parse(text, Loader=loader))
    except YamlLimitError:
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "not YAML"
        report.error(
            f"Not valid YAML: {what}.",
            next(
                (fix for pattern, fix in _FIXES if re.search(pattern, what)),
                "Check the quotes and the indentation around this line.",
            ),
            line=mark.line + 1 if mark else None,
            column=mark.column + 1 if mark else None,
        )
        return None
    except (yaml.YAMLError, RecursionError) as error:
        report.error(f"Not valid YAML: {error}.", "Check the quotes and the indentation.")
        return None
    if builder.root is None:
        report.error("The file is empty.", "Write the document, or leave the file out.", line=1, column=1)
    return builder.root


def _decode(data: bytes, report: Report) -> str | None:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        _error_after(report, before, f"Byte 0x{data[error.start]:02x} is not UTF-8.", "Save the file as UTF-8.")
        return None
    if match := _FORBIDDEN.search(text):
        _error_after(
            report,
            text[: match.start()],
            f"The character U+{ord(match[0]):04X} is not allowed in YAML.",
            "Remove it; it is invisible in most editors.",
        )
        return None
    return text


def _error_after(report: Report, before: str, message: str, fix: str) -> None:
    report.error(message, fix, line=before.count("\n") + 1, column=len(before) - (before.rfind("\n") + 1) + 1)
