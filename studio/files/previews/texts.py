"""Text files: decoded and encoded, separated values as tables, and syntax errors in JSON, YAML and CSV."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import yaml

from studio.domain.storable import normalize_newlines
from studio.files.previews.sniff import NAMED, extension

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")
_MARKS = [(codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")]


@dataclass(frozen=True)
class Decoded:
    """A text with what is needed to encode it as it was."""

    text: str
    """With ``\\n`` between its lines."""
    encoding: str
    crlf: bool = False

    @property
    def guessed(self) -> bool:
        return self.encoding == "cp1252"

    @property
    def encoding_label(self) -> str:
        names = {
            "utf-8": "UTF-8",
            "utf-8-sig": "UTF-8 with a byte order mark",
            "utf-16": "UTF-16",
            "cp1252": "Windows-1252",
        }
        return names[self.encoding]

    @property
    def form(self) -> str:
        return " ".join(filter(None, ["crlf" if self.crlf else "", "mark" if self.encoding == "utf-8-sig" else ""]))


def decode(content: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _read(content, encoding)
    if (read := _read(content, "utf-8")) is not None:
        return read
    if len(_CONTROL.findall(content[:8192].decode("latin-1"))):
        return None
    return _read(content, "cp1252")


def encode(text: str, form: str) -> bytes:
    lines = normalize_newlines(text)
    if "crlf" in form.split():
        lines = lines.replace("\n", "\r\n")
    return lines.encode("utf-8-sig" if "mark" in form.split() else "utf-8", "replace")


def _read(content: bytes, encoding: str) -> Decoded | None:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    crlf = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    return Decoded(normalize_newlines(text), encoding, crlf)


ROWS = 200
COLUMNS = 60
CELL = 400
"""Characters of a cell that are shown."""
SAMPLE = 16_384
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class TableRow:
    line: int
    """1-based, of its start in the file."""
    cells: tuple[str, ...]
    broken: str = ""
    """Why it is broken, or empty."""


@dataclass(frozen=True)
class PreviewTable:
    head: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
    count: int = 0
    """Rows below the head, including those not shown."""
    broken: int = 0
    """Rows with too few or too many values."""
    first_broken: int = 0
    """Line of the first broken row."""
    name: str = ""
    """Of a spreadsheet's sheet."""
    separated_by: str = ""
    problem: str = field(default="")

    @property
    def more(self) -> int:
        return self.count - len(self.rows)


def read_table(text: str, *, tabs: bool = False) -> PreviewTable:
    """Read to the end, to count rows and find broken ones."""
    delimiter = "\t" if tabs else delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    head: tuple[str, ...] | None = None
    rows: list[TableRow] = []
    count = broken = first = 0
    problem = ""
    line = 1
    try:
        for values in reader:
            start, line = line, reader.line_num + 1
            if not values:
                continue
            if head is None:
                head = tuple(values)
                continue
            count += 1
            error = "" if len(values) == len(head) else f"{len(values)} values, but the header has {len(head)}"
            if error:
                broken += 1
                first = first or start
            if len(rows) < ROWS:
                rows.append(TableRow(start, cut(values), error))
    except csv.Error as error:
        problem = f"Line {max(reader.line_num, 1)} cannot be read: {error}."
    return PreviewTable(cut(head or ()), tuple(rows), count, broken, first, "", DELIMITERS[delimiter], problem)


def delimiter_of(text: str) -> str:
    lines = [line for line in text[:SAMPLE].split("\n")[:20] if line.strip()]

    def fits(delimiter: str) -> tuple[bool, int]:
        counts = [line.count(delimiter) for line in lines]
        maximum = max(counts, default=0)
        return (maximum > 0 and counts.count(maximum) * 2 > len(counts), maximum)

    return max(DELIMITERS, key=fits)


def cut(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value if len(value) <= CELL else f"{value[:CELL]}…" for value in list(values)[:COLUMNS])


MAX_YAML = 150_000
"""Characters; YAML parsers are slow."""
MAX_DEPTH = 100
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class SyntaxFlaw:
    line: int
    column: int
    message: str

    @property
    def description(self) -> str:
        position = f"Line {self.line}" + (f", column {self.column}" if self.column else "")
        return f"{position}: {self.message}"


def syntax_flaw(path: str, text: str) -> SyntaxFlaw | None:
    """The first syntax error for the type that the file's name says; None for other types and valid files."""
    kind = NAMED.get(extension(path), "")
    if not text.strip():
        return None
    if kind == "json":
        return json_flaw(text)
    if kind == "jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and (flaw := json_flaw(line)):
                return SyntaxFlaw(number, flaw.column, flaw.message)
    elif kind == "yaml":
        return yaml_flaw(text)
    elif kind == "table":
        table = read_table(text, tabs=extension(path) == "tsv")
        if table.problem:
            line, _, rest = table.problem.removeprefix("Line ").partition(" ")
            return SyntaxFlaw(int(line), 0, f"this {rest}")
        if table.broken:
            row = next((row for row in table.rows if row.broken), None)
            what = row.broken if row else "a different number of values than the header"
            return SyntaxFlaw(table.first_broken, 0, f"{what}.")
    return None


def json_flaw(text: str) -> SyntaxFlaw | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return SyntaxFlaw(error.lineno, error.colno, f"{error.msg[:1].lower()}{error.msg[1:]}.")
    except RecursionError:
        return SyntaxFlaw(1, 0, "this is nested too deeply to be read.")
    except ValueError:
        return SyntaxFlaw(1, 0, "a number here is too long to be read.")
    return None


def yaml_flaw(text: str) -> SyntaxFlaw | None:
    if len(text) > MAX_YAML:
        return None
    try:
        _parse_events(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = (error.problem or "this cannot be read").strip()
        return SyntaxFlaw(mark.line + 1 if mark else 1, mark.column + 1 if mark else 0, f"{what}.")
    except (yaml.YAMLError, ValueError) as error:
        return SyntaxFlaw(1, 0, f"{str(error).splitlines()[0]}.")
    return None


def _parse_events(text: str) -> None:
    """Parse without building values: the C builder recurses, and deep nesting would crash the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("this is nested too deeply to be read")
