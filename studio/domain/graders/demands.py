"""The texts a script searches for and the tools it looks at, followed through helper functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from studio.domain.graders.values import Names, OneOf, Value, constant_names, flatten, texts_in, value_of
from studio.domain.tool_names import APP_PREFIX

MAX_STEPS = 100_000
"""Limit on visited nodes; hand-written scripts need a few thousand."""
TOOL = re.compile(rf"(?:{APP_PREFIX})?[a-z][a-z0-9_]*?__[a-z][a-z0-9_]*")
FRAME = {"tool_name", "call", "result", "name", "arguments"}
_SEARCH_METHODS = {"startswith", "endswith", "find", "count", "index"}


class TooComplexError(Exception):
    """Reading the script would take too long."""


@dataclass(frozen=True)
class Demand:
    """Texts a script searches for; one of them is enough."""

    any_of: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class ToolTest:
    """Alternative tools tested in one expression."""

    any_of: tuple[str, ...]
    line: int


class DemandCollector:
    """Collects demands and tool tests of a script; call ``read`` first."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.steps = 0
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.names: dict[str, Value] = constant_names(tree)
        self.subjects = Subjects(tree, self._step)
        self.demands: list[Demand] = []
        self.tools: list[ToolTest] = []
        self.exact: dict[str, dict[str | int, None]] = {}
        """Values an argument is compared with, by argument name."""
        self.roles: dict[tuple[str, str], str] = {}
        """By function and parameter: ``tool``, ``argument``, ``any``, ``all`` or ``word``."""

    def read(self) -> None:
        for _ in range(2):  # a helper may pass a parameter on to another helper
            for function in self.functions.values():
                self._learn_roles(function)
        self.tools.clear()
        self.exact.clear()
        self.demands = [demand for node in self.tree.body for demand in self._in(node, self.names)]

    def arguments(self) -> Iterator[str]:
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
                    for parameter, value in argument_pairs(self.functions[function], node):
                        if self.roles.get((function, parameter)) == "argument":
                            yield from texts_in(value_of(value, self.names))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooComplexError

    def _learn_roles(self, function: ast.FunctionDef) -> None:
        """Infer what a helper does with each parameter by passing marked values through it."""
        for argument in function.args.args:
            mark = f"\x00{argument.arg}"
            tools_before = list(self.tools)
            names: Names = {**self.names, argument.arg: (mark + "1", mark + "2")}
            demands = [d for node in function.body for d in self._in(node, names)]
            marked = [d for d in demands if any(word.startswith(mark) for word in d.any_of)]
            role = ""
            if any(word.startswith(mark) for test in self.tools for word in test.any_of):
                role = "tool"
            elif marked:
                role = "any" if any(len(d.any_of) > 1 for d in marked) else "all"
            elif argument.arg in {name for node in ast.walk(function) for name in _looked_up_by_name(node)}:
                role = "argument"
            self.tools[:] = tools_before
            if role:
                self.roles[function.name, argument.arg] = role

    def _in(self, node: ast.AST, names: Names) -> list[Demand]:
        """The demands of a statement or expression; tool tests are recorded as a side effect."""
        self._step()
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._in(operand, names)
                return []
            case ast.BoolOp(op=ast.Or(), values=values):
                demands = [demand for each in values for demand in self._in(each, names)]
                texts = tuple(dict.fromkeys(word for demand in demands for word in demand.any_of))
                return [Demand(texts, node.lineno)] if texts else []
            case ast.Compare():
                return [*self._in_comparison(node, names), *self._in_children(node, names)]
            case ast.Call():
                return self._in_call(node, names)
            case ast.For(target=ast.Name(id=name), iter=iterable):
                value = value_of(iterable, names)
                inner = {**names, name: OneOf(_elements(value))} if value is not None else names
                return [d for each in (*node.body, *node.orelse) for d in self._in(each, inner)] + self._in(
                    iterable, names
                )
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self._in_comprehension(node, names, every=False)
        return self._in_children(node, names)

    def _in_children(self, node: ast.AST, names: Names) -> list[Demand]:
        return [demand for child in ast.iter_child_nodes(node) for demand in self._in(child, names)]

    def _in_comprehension(
        self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, names: Names, *, every: bool
    ) -> list[Demand]:
        bindings = [dict(names)]
        for generator in node.generators:
            value = value_of(generator.iter, names) if len(bindings) == 1 else value_of(generator.iter, bindings[0])
            if not isinstance(generator.target, ast.Name) or value is None:
                continue
            elements = _elements(value)
            if every and not isinstance(value, OneOf):
                bindings = [{**binding, generator.target.id: element} for binding in bindings for element in elements][
                    :200
                ]
            else:
                bindings = [{**binding, generator.target.id: OneOf(elements)} for binding in bindings]
        tests = [node.elt, *(test for generator in node.generators for test in generator.ifs)]
        demands = [demand for binding in bindings for test in tests for demand in self._in(test, binding)]
        demands += [demand for generator in node.generators for demand in self._in(generator.iter, names)]
        if every:
            return demands
        texts = tuple(dict.fromkeys(word for demand in demands for word in demand.any_of))
        return [Demand(texts, node.lineno)] if texts else []

    def _in_comparison(self, node: ast.Compare, names: Names) -> list[Demand]:
        if len(node.ops) != 1:
            return []
        left, op, right = node.left, node.ops[0], node.comparators[0]
        for known, other in ((left, right), (right, left)):
            value = value_of(known, names)
            if value is None or (value_of(other, names) is not None):
                continue
            subject = self.subjects.of(other)
            is_substring = isinstance(op, ast.In | ast.NotIn) and known is left
            if "tool_name" in subject or any(TOOL.fullmatch(text) for text in texts_in(value)):
                if not is_substring:
                    self.tools.append(ToolTest(texts_in(value), node.lineno))
                return []
            if isinstance(op, ast.Eq | ast.In) and not is_substring:
                self._compare_exactly(subject, value)
            if subject & {"result"} or not isinstance(op, ast.Eq | ast.In):
                return []
            if is_substring and isinstance(other, ast.Name) and other.id in ("call", "args", "arguments", "params"):
                return []
            return [Demand(texts_in(value), node.lineno)]
        return []

    def _compare_exactly(self, subject: frozenset[str], value: Value) -> None:
        for name in sorted(subject - FRAME):
            self.exact.setdefault(name, {}).update(dict.fromkeys(flatten(value)))

    def _in_call(self, node: ast.Call, names: Names) -> list[Demand]:
        match node:
            case ast.Call(
                func=ast.Name(id="all" | "any" as which), args=[ast.GeneratorExp() | ast.ListComp() as comprehension]
            ):
                return self._in_comprehension(comprehension, names, every=which == "all")
            case ast.Call(func=ast.Attribute(value=text, attr=name), args=[first, *_]) if name in _SEARCH_METHODS:
                subject, value = self.subjects.of(text), value_of(first, names)
                inner_demands = self._in(text, names)
                if value is None or subject & {"result"}:
                    return inner_demands
                if "tool_name" in subject:
                    return inner_demands
                self._compare_exactly(subject, value)
                return [*inner_demands, Demand(texts_in(value), node.lineno)]
            case ast.Call(func=ast.Name(id=function)) if function in self.functions:
                demands = self._in_children(node, names)
                for parameter, argument in argument_pairs(self.functions[function], node):
                    value = value_of(argument, names)
                    if value is not None:
                        demands += self._demands_of_argument(
                            self.roles.get((function, parameter), ""), value, node.lineno
                        )
                return demands
        return self._in_children(node, names)

    def _demands_of_argument(self, role: str, value: Value, line: int) -> list[Demand]:
        match role:
            case "tool":
                self.tools.append(ToolTest(texts_in(value), line))
            case "any":
                return [Demand(texts_in(value), line)]
            case "all":
                parts = value if isinstance(value, tuple) else (value,)
                return [Demand(texts_in(part), line) for part in parts]
        return []


def _elements(value: Value) -> tuple[Value, ...]:
    match value:
        case tuple():
            return value
        case OneOf(values=values):
            return tuple(each for value in values for each in (value if isinstance(value, tuple) else (value,)))
    return (value,)


def argument_pairs(function: ast.FunctionDef, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    parameters = [argument.arg for argument in function.args.args]
    yield from zip(parameters, call.args, strict=False)
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg in parameters)


def _looked_up_by_name(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Name(id=name), *_]):
            yield name
        case ast.Subscript(slice=ast.Name(id=name)):
            yield name


TOOL_NAME = frozenset({"tool_name"})


class Subjects:
    """Lookup keys by variable name."""

    def __init__(self, tree: ast.Module, step: Callable[[], None]) -> None:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self._step = step
        self._tool_name_helpers = {function.name for function in functions if _returns_tool_name(function)}
        self._subjects: dict[str, frozenset[str]] = {}
        self._learn(tree)

    def of(self, node: ast.AST) -> frozenset[str]:
        subjects: set[str] = set()
        for each in ast.walk(node):
            self._step()
            match each:
                case ast.Name(id=name):
                    subjects |= self._subjects.get(name, frozenset())
                case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]):
                    subjects.add(name)
                case ast.Subscript(slice=ast.Constant(value=str() as name)):
                    subjects.add(name)
                case ast.Call(func=ast.Name(id=name)) if name in self._tool_name_helpers:
                    subjects.add("tool_name")
        return frozenset(subjects)

    def _learn(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._add(name, value)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    for target, value in zip(targets, values, strict=False):
                        if isinstance(target, ast.Name):
                            self._add(target.id, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._add(name, value)
                case ast.FunctionDef(args=arguments):
                    for argument in arguments.args:
                        if argument.arg in ("tool", "tool_name"):
                            self._subjects[argument.arg] = TOOL_NAME

    def _add(self, name: str, value: ast.AST) -> None:
        self._subjects[name] = self._subjects.get(name, frozenset()) | self.of(value)


def _returns_tool_name(function: ast.FunctionDef) -> bool:
    steps = [step for step in function.body if not isinstance(step, ast.Expr)]
    if len(steps) != 1 or not isinstance(steps[0], ast.Return):
        return False
    parts = list(ast.walk(steps[0]))
    return any(isinstance(part, ast.Constant) and part.value == "tool_name" for part in parts) and not any(
        isinstance(part, ast.Compare | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) for part in parts
    )
