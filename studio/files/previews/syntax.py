"""Syntax errors in JSON, YAML and CSV files."""

from __future__ import annotations

import json
from dataclasses import dataclass

import yaml

from studio.files.previews.sniff import NAMED, extension
from studio.files.previews.tables import read_table

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
