"""Small faults that could be planted in a file: each is one replacement of its text."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

OPERATORS = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"), ast.In: ("in", "not in"), ast.Is: ("is", "is not"), ast.NotIn: ("not in", "in"),
    ast.IsNot: ("is not", "is"), ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
}  # fmt: skip
DROPPED_CALLS = {"select_for_update", "filter", "exclude", "distinct", "strip", "lower"}
SAID = {"debug", "info", "warning", "error", "exception"}
"""Methods of loggers: what they say is no behaviour."""
WRITTEN = "title|text|name|reason|note|body|label|value|path|message|summary|quote|answer"
"""How names of what people and models write end; a number needs no escaping."""


@dataclass(frozen=True)
class Fault:
    """``start`` and ``end`` are offsets in the text of the file at ``path``."""

    path: str
    line: int
    start: int
    end: int
    new: str
    what: str

    def planted(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def faults_of(path: str, text: str) -> list[Fault]:
    """Every fault that this file could have, by where it stands."""
    find = {"py": _python, "sql": _sql, "js": _script, "html": _template}[path.rpartition(".")[2]]
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    found = {
        Fault(path, bisect_right(lines, start), start, end, new, what)
        for start, end, new, what in find(text)
        if text[start:end] != new
    }
    return sorted(found, key=lambda fault: (fault.start, fault.end, fault.new))


Spans = Iterator[tuple[int, int, str, str]]
"""Start, end, new text, and what was changed."""


def _python(text: str) -> Spans:
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    encoded = text.encode()

    def at(line: int, column: int) -> int:
        return len(encoded[: starts[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Spans:
        old, new = OPERATORS.get(type(operator), ("", ""))
        start, end = span(left)[1], span(right)[0]
        pattern = rf"\b{old}\b" if old.isalpha() else re.escape(old).replace(r"not\ in", r"not\s+in")
        if old and (match := re.search(pattern, text[start:end])):
            yield start + match.start(), start + match.end(), new, f"{old} → {new}"

    for node in _behaviour(ast.parse(text)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from between(node.left, node.comparators[0], node.ops[0])
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            yield from between(*node.values, node.op)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            start, end = span(node.test)
            yield start, end, f"not ({text[start:end]})", "condition negated"
        elif isinstance(node, ast.comprehension):
            for condition in node.ifs:
                start, end = span(condition)
                yield start, end, "True", "filter of a comprehension dropped"
        elif isinstance(node, ast.Constant):
            if type(node.value) is int:
                yield *span(node), str(node.value + 1), "number + 1"
            elif type(node.value) is bool:
                yield *span(node), str(not node.value), "flag flipped"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DROPPED_CALLS:
            yield span(node.func.value)[1], span(node)[1], "", f".{node.func.attr}() dropped"
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            yield *span(node), "pass", "statement dropped"


def _behaviour(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, without annotations, decorators, docstrings, texts with values in them, and what is logged."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"} or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_said(child):
                yield from _behaviour(child)


def _is_said(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return node.value.func.attr in SAID
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in {"__repr__", "__str__", "Meta"}


def _matches(text: str, rules: Iterable[tuple[str, str, str]]) -> Spans:
    for pattern, new, what in rules:
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield match.start(), match.end(), match.expand(new), what


def _sql(text: str) -> Spans:
    return _matches(_without(r"--.*", text), [
        (r"^\s+(AND|OR) .*$", "", "clause dropped"), (r"\bIF (?!NOT )(?=\w)", "IF NOT ", "condition negated"),
        (r" FOR UPDATE", "", "lock dropped"), (r"(?<![<>])<>", "=", "<> → ="), (r"\bOLD\.", "NEW.", "OLD → NEW"),
    ])  # fmt: skip


def _script(text: str) -> Spans:
    return _matches(_without(r"//.*|/\*[\s\S]*?\*/", text), [
        ("===", "!==", "=== → !=="), ("!==", "===", "!== → ==="), ("&&", "||", "&& → ||"), (r"\|\|", "&&", "|| → &&"),
        (r"\bif \((?=[^()]*\)(?! \())([^()]*)\)", r"if (!(\1))", "condition negated"),
        (r"^ +[\w.]+\([^()]*\);$", "", "statement dropped"), (r"(?<=[\w\]]) \+ (?=\d)", " - ", "+ → -"),
    ])  # fmt: skip


def _template(text: str) -> Spans:
    return _matches(_without(r"\{#.*?#\}", text), [
        (r"\{% if (?!not )([\w.]+) %\}", r"{% if not \1 %}", "condition negated"),
        (r"\{% if not ([\w.]+) %\}", r"{% if \1 %}", "condition negated"),
        (r"\{% csrf_token %\}", "", "token of a form dropped"),
        (rf"\{{\{{ ((?:\w+\.)*\w*(?:{WRITTEN})) \}}\}}", r"{{ \1|safe }}", "not escaped"),
        (r"\{% for (\w+) in ([\w.]+) %\}", r"{% for \1 in \2|slice:'1:' %}", "first of a list left out"),
    ])  # fmt: skip


def _without(comments: str, text: str) -> str:
    """Comments are blank, and everything else where it was."""
    return re.sub(comments, lambda match: re.sub(r"[^\n]", " ", match[0]), text)
