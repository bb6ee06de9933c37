"""What a script looks things up under: ``tool_name``, ``result``, the arguments of a call."""

from __future__ import annotations

import ast
from collections.abc import Callable

TOOL_NAME = frozenset({"tool_name"})


class Subjects:
    """By name, the words under which what it holds was looked up."""

    def __init__(self, tree: ast.Module, step: Callable[[], None]) -> None:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self._step = step
        self._namers = {function.name for function in functions if _tells_tool(function)}
        self._about: dict[str, frozenset[str]] = {}
        self._learn(tree)

    def of(self, node: ast.AST) -> frozenset[str]:
        """The words under which an expression's parts were looked up."""
        found: set[str] = set()
        for each in ast.walk(node):
            self._step()
            match each:
                case ast.Name(id=name):
                    found |= self._about.get(name, frozenset())
                case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str() as name), *_]):
                    found.add(name)
                case ast.Subscript(slice=ast.Constant(value=str() as name)):
                    found.add(name)
                case ast.Call(func=ast.Name(id=name)) if name in self._namers:
                    found.add("tool_name")
        return frozenset(found)

    def _learn(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=given):
                    self._add(name, given)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    for target, given in zip(targets, values, strict=False):
                        if isinstance(target, ast.Name):
                            self._add(target.id, given)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as given):
                    self._add(name, given)
                case ast.FunctionDef(args=arguments):
                    for argument in arguments.args:
                        if argument.arg in ("tool", "tool_name"):
                            self._about[argument.arg] = TOOL_NAME

    def _add(self, name: str, given: ast.AST) -> None:
        self._about[name] = self._about.get(name, frozenset()) | self.of(given)


def _tells_tool(function: ast.FunctionDef) -> bool:
    """Whether a helper does nothing but give the tool's name of a call."""
    steps = [step for step in function.body if not isinstance(step, ast.Expr)]
    if len(steps) != 1 or not isinstance(steps[0], ast.Return):
        return False
    parts = list(ast.walk(steps[0]))
    return any(isinstance(part, ast.Constant) and part.value == "tool_name" for part in parts) and not any(
        isinstance(part, ast.Compare | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) for part in parts
    )
