"""Refuses private interfaces of other packages: names that begin with an underscore, imported, used or overridden."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator

import django

from studio.local.paths import CHECKOUT

PACKAGES = ("studio", "annotations", "evaluation")
DOCUMENTED = {
    *("_meta", "_default_manager"),  # Django's reference describes them
    *("_asdict", "_replace", "_fields"),  # of named tuples
    *("_exit", "_typeshed"),  # of the standard library
}


def main() -> int:
    sources = {
        str(path.relative_to(CHECKOUT)): ast.parse(path.read_text())
        for package in PACKAGES
        for path in sorted((CHECKOUT / package).rglob("*.py"))
    }
    own = {name for tree in sources.values() for name in _defined(tree)}
    found = [f"{path}:{line}: {name}" for path, tree in sources.items() for line, name in foreign_names(tree, own)]
    found += overridden_names()
    if found:
        print("These are private to other packages; do without them:", *found, sep="\n")
    return int(bool(found))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED | {"_"}


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def foreign_names(tree: ast.AST, own: set[str]) -> Iterator[tuple[int, str]]:
    """Lines and private names that are imported from other packages, or are names of nothing in ``own``. What a module
    does not define it uses on ``self`` alone."""
    here = set(_defined(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                used = [part for alias in names for part in alias.name.split(".")]
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] not in PACKAGES:
                used = [*module.split("."), *(alias.name for alias in names)]
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                used = [name] if name not in own | here else []
            case ast.Attribute(attr=name):
                used = [name] if name not in here else []
            case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]):
                used = [name] if name not in here else []
            case _:
                continue
        yield from ((node.lineno, name) for name in used if is_private(name))


def overridden_names() -> list[str]:
    """Methods of ours that replace a private one of another package's class."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    django.setup()
    found = set()
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(CHECKOUT / package)], f"{package}."):
            if not module.name.endswith(("__main__", ".wsgi")):
                importlib.import_module(module.name)
    for name, loaded in list(sys.modules.items()):
        if name.split(".")[0] in PACKAGES:
            for each in vars(loaded).values():
                if isinstance(each, type) and each.__module__ == name:
                    found |= {f"{name}.{each.__name__}.{member}" for member in overrides(each)}
    return sorted(found)


def overrides(each: type) -> Iterator[str]:
    written = [name for name, value in vars(each).items() if getattr(value, "__module__", "") == each.__module__]
    for base in each.__mro__[1:]:
        if base.__module__.split(".")[0] not in PACKAGES:
            yield from (name for name in written if is_private(name) and name in vars(base))


if __name__ == "__main__":
    sys.exit(main())
