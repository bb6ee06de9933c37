"""Tracks which keys (``tool_name``, ``result``, arguments) a script's variables were looked up under."""

from __future__ import annotations

import ast
from collections.abc import Callable

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
