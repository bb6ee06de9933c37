"""Static reading of a grader script: tools, arguments, texts it searches for, limits."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

from studio.domain.base import Spec
from studio.domain.graders.amounts import Amount, amounts
from studio.domain.graders.demands import FRAME, TOOL, Demand, DemandCollector, TooComplexError, ToolTest

ANALYSIS = 3
"""Version of the analysis. Reports with another version are discarded."""


class GraderReport(Spec):
    """Report on one script. Keys are in the script's order."""

    sha256: str
    keys: tuple[str, ...] | None = None
    """Keys returned by ``score([])``; None if it failed, see ``problem``."""
    problem: str = ""
    line: int | None = None
    """Line of the problem, if known."""
    tried: int = 0
    """Number of histories, including the empty one."""
    failed: str = ""
    """Error on one of the histories; empty if none failed."""
    always: tuple[str, ...] = ()
    """Earned on every history, including the empty one."""
    never: tuple[str, ...] = ()
    """Earned on no history."""
    by_draft: tuple[str, ...] = ()
    """Earned by a message that was only drafted."""
    by_anyone: tuple[str, ...] = ()
    """Earned even if every message went to a stranger."""


LONGEST = 200_000
"""Maximum characters of a script."""
_PARSING_MODULES = {"csv", "re", "json", "html", "datetime", "xml", "math", "statistics", "ast", "string"}
_PARSING_CALLS = {"split", "splitlines", "partition", "rpartition", "len", "max", "min", "sum", "float"}


@dataclass(frozen=True)
class ScriptReading:
    """With a ``problem``, nothing else is set."""

    problem: str = ""
    line: int | None = None
    """1-based line of the problem."""
    line_text: str = ""
    """That line, verbatim."""
    scores: bool = False
    """Whether it defines ``score``."""
    tools: tuple[ToolTest, ...] = ()
    arguments: tuple[str, ...] = ()
    """Names the script looks up in calls and results."""
    demands: tuple[Demand, ...] = ()
    texts: tuple[str, ...] = ()
    """All other text constants."""
    numbers: tuple[int, ...] = ()
    exact: dict[str, tuple[str | int, ...]] = field(default_factory=dict)
    """Values an argument is compared with, by argument name."""
    amounts: tuple[Amount, ...] = ()
    """Limits on numbers of words, lines and the like."""
    parses: bool = False
    """Whether it parses or counts, so that texts alone may not earn its keys."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for test in self.tools for name in test.any_of))


@lru_cache(128)
def read_script(source: str) -> ScriptReading:
    """Read a script without running it. Never raises. The reading can be incomplete, but what it reports is in the
    script."""
    if len(source) > LONGEST:
        return ScriptReading(problem=f"It has {len(source):,} characters; at most {LONGEST:,} are read.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(source, "grader.py", "exec", dont_inherit=True)
        return _read(tree)
    except SyntaxError as exc:
        lines = source.splitlines()
        line = exc.lineno if exc.lineno and exc.lineno <= len(lines) else None
        where = lines[line - 1].strip()[:200] if line else ""
        return ScriptReading(problem=f"{(exc.msg or 'invalid syntax')[:200]}", line=line, line_text=where)
    except (ValueError, RecursionError, MemoryError, OverflowError) as exc:
        return ScriptReading(problem=str(exc)[:200] or "it is nested too deeply")


def _read(tree: ast.Module) -> ScriptReading:
    try:
        reader = DemandCollector(tree)
        reader.read()
        return _build_reading(tree, reader)
    except (TooComplexError, RecursionError):
        return ScriptReading(scores=_defines_score(tree), parses=True)


def _build_reading(tree: ast.Module, reader: DemandCollector) -> ScriptReading:
    arguments = dict.fromkeys(reader.arguments())
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    named = {name for test in reader.tools for name in test.any_of}
    unmatched_tools = [c for c in constants if isinstance(c, str) and c not in named and TOOL.fullmatch(c)]
    docstrings = _docstrings(tree)
    texts = [
        c
        for c in constants
        if isinstance(c, str)
        and c.strip()
        and not (c in arguments or c in named or c in docstrings or c in FRAME or TOOL.fullmatch(c))
    ]
    numbers = [c for c in constants if type(c) is int and abs(c) > 1]
    tools = [*reader.tools, *(ToolTest((name,), _line(tree, name)) for name in dict.fromkeys(unmatched_tools))]
    return ScriptReading(
        scores=_defines_score(tree),
        tools=tuple(dict.fromkeys(tools)),
        arguments=tuple(name for name in arguments if name not in FRAME),
        demands=tuple(dict.fromkeys(demand for demand in reader.demands if demand.any_of)),
        texts=tuple(dict.fromkeys(texts)),
        numbers=tuple(dict.fromkeys(numbers)),
        exact={name: tuple(values) for name, values in reader.exact.items()},
        amounts=tuple(amounts(tree, reader.names)),
        parses=_parses(tree),
    )


def _defines_score(tree: ast.Module) -> bool:
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return "score" in functions | {name for node in tree.body for name in _bound(node)}


def _line(tree: ast.Module, text: str) -> int:
    return next(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == text)


def _parses(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(alias.name.split(".")[0] in _PARSING_MODULES for alias in names):
                return True
            case ast.ImportFrom(module=str() as module) if module.split(".")[0] in _PARSING_MODULES:
                return True
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _PARSING_CALLS:
                return True
            case ast.Compare(ops=ops) if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in ops):
                return True
    return False


def _bound(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return tuple(alias.asname or alias.name for alias in names)
    return ()


def _docstrings(tree: ast.Module) -> set[str]:
    texts = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as docstring)):
                texts.add(docstring)
    return texts
