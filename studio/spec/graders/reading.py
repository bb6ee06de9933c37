"""What a grader script looks at, read from its syntax: tools, arguments, and the words it searches for.

A reading may miss things, as a script may do anything; what it tells is there.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from studio.spec.graders.values import Names, OneOf, Value, assigned, flat, texts_in, value_of

LONGEST = 200_000
"""Characters of a script; more is no grader."""
MOST_STEPS = 100_000
"""Looks at parts of a script; those of people take some thousands."""
_TOOL = re.compile(r"(?:mcp_appworld_)?[a-z][a-z0-9_]*?__[a-z][a-z0-9_]*")
_PARSING_MODULES = {"csv", "re", "json", "html", "datetime", "xml", "math", "statistics", "ast", "string"}
_PARSING_CALLS = {"split", "splitlines", "partition", "rpartition", "len", "max", "min", "sum", "float"}
_LOOKING = {"startswith", "endswith", "find", "count", "index"}
_FRAME = {"tool_name", "call", "result", "name", "arguments"}


@dataclass(frozen=True)
class Demand:
    """Words a script searches for; one of them is enough."""

    any_of: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class ToolTest:
    """Tools that count alike at one place."""

    any_of: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class ScriptReading:
    """A script, read. With a ``problem``, nothing else is known."""

    problem: str = ""
    line: int | None = None
    """Where the problem is, 1-based."""
    words_at: str = ""
    """That line, verbatim."""
    scores: bool = False
    """Whether it defines ``score``."""
    tools: tuple[ToolTest, ...] = ()
    arguments: tuple[str, ...] = ()
    """Names it looks up in calls and results."""
    demands: tuple[Demand, ...] = ()
    words: tuple[str, ...] = ()
    """All its other texts."""
    numbers: tuple[int, ...] = ()
    exact: dict[str, tuple[str | int, ...]] = field(default_factory=dict)
    """Values an argument is compared with, by its name."""
    parses: bool = False
    """Whether it takes texts apart or counts, so that words alone may not earn its keys."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for test in self.tools for name in test.any_of))


@lru_cache(maxsize=500)
def read_script(source: str) -> ScriptReading:
    """Read a script. Never raises and runs nothing of it; remembered by content."""
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
        return ScriptReading(problem=f"{(exc.msg or 'invalid syntax')[:200]}", line=line, words_at=where)
    except (ValueError, RecursionError, MemoryError, OverflowError) as exc:
        return ScriptReading(problem=str(exc)[:200] or "it is nested too deeply")


def _read(tree: ast.Module) -> ScriptReading:
    reader = _Reader(tree)
    try:
        return reader.read()
    except (_TooMuch, RecursionError):
        return ScriptReading(scores=reader.defines_score(), parses=True)


class _TooMuch(Exception):
    """The script is so entangled that reading it would take long: nothing more is told of it."""


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.steps = 0
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.namers = {name for name, function in self.functions.items() if _tells_tool(function)}
        self.names: dict[str, Value] = assigned(tree)
        self.about: dict[str, frozenset[str]] = {}
        """Names that hold something looked up, and under which words it was."""
        self.tools: list[ToolTest] = []
        self.exact: dict[str, dict[str | int, None]] = {}
        self.roles: dict[tuple[str, str], str] = {}
        """By function and parameter: ``tool``, ``argument``, ``any``, ``all`` or ``word``."""

    def read(self) -> ScriptReading:
        self._learn_subjects()
        for _ in range(2):  # a helper may hand on to a helper
            for function in self.functions.values():
                self._learn_roles(function)
        self.tools.clear()
        self.exact.clear()
        demands = [demand for node in self.tree.body for demand in self._in(node, self.names)]
        arguments = dict.fromkeys(self._arguments())
        constants = [n.value for n in ast.walk(self.tree) if isinstance(n, ast.Constant)]
        named = {name for test in self.tools for name in test.any_of}
        loose = [c for c in constants if isinstance(c, str) and c not in named and _TOOL.fullmatch(c)]
        told = _docstrings(self.tree)
        words = [
            c
            for c in constants
            if isinstance(c, str)
            and c.strip()
            and not (c in arguments or c in named or c in told or c in _FRAME or _TOOL.fullmatch(c))
        ]
        numbers = [c for c in constants if type(c) is int and abs(c) > 1]
        tools = [*self.tools, *(ToolTest((name,), self._line(name)) for name in dict.fromkeys(loose))]
        return ScriptReading(
            scores=self.defines_score(),
            tools=tuple(dict.fromkeys(tools)),
            arguments=tuple(name for name in arguments if name not in _FRAME),
            demands=tuple(dict.fromkeys(demand for demand in demands if demand.any_of)),
            words=tuple(dict.fromkeys(words)),
            numbers=tuple(dict.fromkeys(numbers)),
            exact={name: tuple(values) for name, values in self.exact.items()},
            parses=self._parses(),
        )

    def defines_score(self) -> bool:
        return "score" in self.functions or "score" in {name for node in self.tree.body for name in _bound(node)}

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise _TooMuch

    def _line(self, text: str) -> int:
        return next(n.lineno for n in ast.walk(self.tree) if isinstance(n, ast.Constant) and n.value == text)

    def _parses(self) -> bool:
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names) if any(one.name.split(".")[0] in _PARSING_MODULES for one in names):
                    return True
                case ast.ImportFrom(module=str() as module) if module.split(".")[0] in _PARSING_MODULES:
                    return True
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _PARSING_CALLS:
                    return True
                case ast.Compare(ops=ops) if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in ops):
                    return True
        return False

    def _arguments(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="get"), args=[first, *_]):
                    yield from texts_in(value_of(first, self.names))
                case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()):
                    yield name
                case ast.Compare(left=ast.Constant(value=str() as name), ops=[ast.In()], comparators=[ast.Name(id=of)]):
                    if of in ("call", "args", "arguments", "result", "params"):
                        yield name
                case ast.Call(func=ast.Name(id=function)) if function in self.functions:
                    for parameter, given in _handed(self.functions[function], node):
                        if self.roles.get((function, parameter)) == "argument":
                            yield from texts_in(value_of(given, self.names))

    def _subject(self, node: ast.AST) -> frozenset[str]:
        """The words under which an expression's parts were looked up: ``tool_name``, ``result``, an argument."""
        found: set[str] = set()
        for each in ast.walk(node):
            self._step()
            match each:
                case ast.Name(id=name):
                    found |= self.about.get(name, frozenset())
                case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]):
                    found.add(name)
                case ast.Subscript(slice=ast.Constant(value=str() as name)):
                    found.add(name)
                case ast.Call(func=ast.Name(id=name)) if name in self.namers:
                    found.add("tool_name")
        return frozenset(found)

    def _learn_subjects(self) -> None:
        for node in ast.walk(self.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=given):
                    self.about[name] = self.about.get(name, frozenset()) | self._subject(given)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    for target, given in zip(targets, values, strict=False):
                        if isinstance(target, ast.Name):
                            self.about[target.id] = self.about.get(target.id, frozenset()) | self._subject(given)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as given):
                    self.about[name] = self.about.get(name, frozenset()) | self._subject(given)
                case ast.FunctionDef(args=arguments):
                    for argument in arguments.args:
                        if argument.arg in ("tool", "tool_name"):
                            self.about[argument.arg] = frozenset({"tool_name"})

    def _learn_roles(self, function: ast.FunctionDef) -> None:
        """What a helper does with each of its parameters, told by how a marked value comes out of it."""
        for argument in function.args.args:
            mark = f"\x00{argument.arg}"
            before = list(self.tools)
            names: Names = {**self.names, argument.arg: (mark + "1", mark + "2")}
            demands = [d for node in function.body for d in self._in(node, names)]
            mine = [d for d in demands if any(word.startswith(mark) for word in d.any_of)]
            role = ""
            if any(word.startswith(mark) for test in self.tools for word in test.any_of):
                role = "tool"
            elif mine:
                role = "any" if any(len(d.any_of) > 1 for d in mine) else "all"
            elif argument.arg in {name for node in ast.walk(function) for name in _looked_up_by_name(node)}:
                role = "argument"
            self.tools[:] = before
            if role:
                self.roles[function.name, argument.arg] = role

    def _in(self, node: ast.AST, names: Names) -> list[Demand]:
        """The demands of a statement or expression, with what it says of tools noted."""
        self._step()
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._in(operand, names)
                return []
            case ast.BoolOp(op=ast.Or(), values=values):
                found = [demand for each in values for demand in self._in(each, names)]
                words = tuple(dict.fromkeys(word for demand in found for word in demand.any_of))
                return [Demand(words, node.lineno)] if words else []
            case ast.Compare():
                return [*self._compared(node, names), *self._below(node, names)]
            case ast.Call():
                return self._called(node, names)
            case ast.For(target=ast.Name(id=name), iter=run):
                given = value_of(run, names)
                inner = {**names, name: OneOf(_elements(given))} if given is not None else names
                return [d for each in (*node.body, *node.orelse) for d in self._in(each, inner)] + self._in(run, names)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self._run_through(node, names, every=False)
        return self._below(node, names)

    def _below(self, node: ast.AST, names: Names) -> list[Demand]:
        return [demand for child in ast.iter_child_nodes(node) for demand in self._in(child, names)]

    def _run_through(
        self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, names: Names, *, every: bool
    ) -> list[Demand]:
        """``any`` and ``all`` over constants; ``every`` of them counts for itself."""
        ways = [dict(names)]
        for step in node.generators:
            given = value_of(step.iter, names) if len(ways) == 1 else value_of(step.iter, ways[0])
            if not isinstance(step.target, ast.Name) or given is None:
                continue
            elements = _elements(given)
            if every and not isinstance(given, OneOf):
                ways = [{**way, step.target.id: each} for way in ways for each in elements][:200]
            else:
                ways = [{**way, step.target.id: OneOf(elements)} for way in ways]
        tests = [node.elt, *(test for step in node.generators for test in step.ifs)]
        found = [demand for way in ways for test in tests for demand in self._in(test, way)]
        found += [demand for step in node.generators for demand in self._in(step.iter, names)]
        if every:
            return found
        words = tuple(dict.fromkeys(word for demand in found for word in demand.any_of))
        return [Demand(words, node.lineno)] if words else []

    def _compared(self, node: ast.Compare, names: Names) -> list[Demand]:
        if len(node.ops) != 1:
            return []
        left, op, right = node.left, node.ops[0], node.comparators[0]
        for known, other in ((left, right), (right, left)):
            given = value_of(known, names)
            if given is None or (value_of(other, names) is not None):
                continue
            subject = self._subject(other)
            part = isinstance(op, ast.In | ast.NotIn) and known is left
            if "tool_name" in subject or any(_TOOL.fullmatch(text) for text in texts_in(given)):
                if not part:
                    self.tools.append(ToolTest(texts_in(given), node.lineno))
                return []
            if isinstance(op, ast.Eq | ast.In) and not part:
                self._compare_exactly(subject, given)
            if subject & {"result"} or not isinstance(op, ast.Eq | ast.In):
                return []
            if part and isinstance(other, ast.Name) and other.id in ("call", "args", "arguments", "params"):
                return []
            return [Demand(texts_in(given), node.lineno)]
        return []

    def _compare_exactly(self, subject: frozenset[str], given: Value) -> None:
        for name in sorted(subject - _FRAME):
            self.exact.setdefault(name, {}).update(dict.fromkeys(flat(given)))

    def _called(self, node: ast.Call, names: Names) -> list[Demand]:
        match node:
            case ast.Call(func=ast.Name(id="all" | "any" as which), args=[ast.GeneratorExp() | ast.ListComp() as run]):
                return self._run_through(run, names, every=which == "all")
            case ast.Call(func=ast.Attribute(value=text, attr=name), args=[first, *_]) if name in _LOOKING:
                subject, given = self._subject(text), value_of(first, names)
                below = self._in(text, names)
                if given is None or subject & {"result"}:
                    return below
                if "tool_name" in subject:
                    return below
                self._compare_exactly(subject, given)
                return [*below, Demand(texts_in(given), node.lineno)]
            case ast.Call(func=ast.Name(id=function)) if function in self.functions:
                found = self._below(node, names)
                for parameter, given_node in _handed(self.functions[function], node):
                    given = value_of(given_node, names)
                    if given is not None:
                        found += self._handed_on(self.roles.get((function, parameter), ""), given, node.lineno)
                return found
        return self._below(node, names)

    def _handed_on(self, role: str, given: Value, line: int) -> list[Demand]:
        match role:
            case "tool":
                self.tools.append(ToolTest(texts_in(given), line))
            case "any":
                return [Demand(texts_in(given), line)]
            case "all":
                parts = given if isinstance(given, tuple) else (given,)
                return [Demand(texts_in(part), line) for part in parts]
        return []


def _elements(given: Value) -> tuple[Value, ...]:
    match given:
        case tuple():
            return given
        case OneOf(values=values):
            return tuple(each for value in values for each in (value if isinstance(value, tuple) else (value,)))
    return (given,)


def _handed(function: ast.FunctionDef, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    parameters = [argument.arg for argument in function.args.args]
    yield from zip(parameters, call.args, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg in parameters)


def _looked_up_by_name(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Name(id=name), *_]):
            yield name
        case ast.Subscript(slice=ast.Name(id=name)):
            yield name


def _bound(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return tuple(one.asname or one.name for one in names)
    return ()


def _docstrings(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                found.add(text)
    return found


def _tells_tool(function: ast.FunctionDef) -> bool:
    """Whether a helper does nothing but give the tool's name of a call."""
    steps = [step for step in function.body if not isinstance(step, ast.Expr)]
    if len(steps) != 1 or not isinstance(steps[0], ast.Return):
        return False
    parts = list(ast.walk(steps[0]))
    return any(isinstance(part, ast.Constant) and part.value == "tool_name" for part in parts) and not any(
        isinstance(part, ast.Compare | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) for part in parts
    )
